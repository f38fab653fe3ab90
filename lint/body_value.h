// Values of integer expressions at one point of an iteration space: a constant, or a constant
// plus a few symbols times constants (2 * n - 1). What is not of that form is unknown.
#ifndef TVMS_LINT_BODY_VALUE_H
#define TVMS_LINT_BODY_VALUE_H

#include "ir/node.h"
#include "support/strbuf.h"

enum { TVMS_LINT_MOST_TERMS = 2 };

// A symbol times a factor, which is not 0.
typedef struct {
  const tvms_node *symbol;
  int64_t factor;
  bool positive;  // the symbol is at least 1: a dimension of a parameter
} tvms_lint_term;

// Terms are in order of the ids of their symbols.
typedef struct {
  bool known;
  uint8_t count;
  int64_t constant;
  tvms_lint_term terms[TVMS_LINT_MOST_TERMS];
} tvms_lint_value;

// The unknown value.
static inline tvms_lint_value tvms_lint_unknown(void) {
  return (tvms_lint_value){.known = false};
}

// A constant.
static inline tvms_lint_value tvms_lint_constant(int64_t value) {
  return (tvms_lint_value){.known = true, .constant = value};
}

// One symbol.
tvms_lint_value tvms_lint_symbol(const tvms_node *symbol, bool positive);

// a + factor * b; unknown if it overflows or has too many symbols.
tvms_lint_value tvms_lint_add(tvms_lint_value a, tvms_lint_value b, int64_t factor);

// value * factor.
tvms_lint_value tvms_lint_scale(tvms_lint_value value, int64_t factor);

// Whether it is a known constant.
static inline bool tvms_lint_is_constant(const tvms_lint_value *value) {
  return value->known && value->count == 0;
}

// Whether it is at least `bound` for all sizes that the symbols may have. False says nothing.
bool tvms_lint_at_least(const tvms_lint_value *value, int64_t bound);

// Whether it is at most `bound`, likewise.
bool tvms_lint_at_most(const tvms_lint_value *value, int64_t bound);

// Whether both are known and equal for all sizes.
bool tvms_lint_same(const tvms_lint_value *a, const tvms_lint_value *b);

// Appends "2 * n - 1".
void tvms_lint_value_text(const tvms_context *context, const tvms_lint_value *value,
                          tvms_strbuf *out);

#endif
