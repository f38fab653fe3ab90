// Expressions of TIR as S-expressions, for unit tests: "(+ x (* 4 y))".
//
// Atoms: 12 (int32), 12L (int64), 1.5 (float32), true, false; a variable is an identifier
// whose first letter gives the dtype: l int64, b bool, f float32, u uint8, h float16, any
// other int32. Heads: + - * / % // %% min max == != < <= > >= and or not select
// if_then_else likely cast:DTYPE broadcast:LANES (ramp base stride lanes).
// Equal names are the same variable within one `sexpr`.
#ifndef TVMS_TESTS_UNIT_SEXPR_H
#define TVMS_TESTS_UNIT_SEXPR_H

#include "ir/build.h"
#include "support/strbuf.h"

typedef struct {
  tvms_unit *unit;
  struct {
    tvms_sym name;
    tvms_node *var;
  } vars[64];
  uint32_t count;
} sexpr;

// The variable with this name, made on first use.
tvms_node *sexpr_var(sexpr *reader, const char *name);

// Reads one expression with the raw constructors; a malformed text fails the test.
tvms_node *sexpr_read(sexpr *reader, const char *text);

// Writes an expression in the same notation. The text lives in the unit.
const char *sexpr_text(tvms_unit *unit, const tvms_node *node);

#endif
