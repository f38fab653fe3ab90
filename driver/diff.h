// Structural differences of two programs, located in both texts.
//
// Functions of modules correspond by name, definitions of a file by their order. Names of
// variables, comments and layout of the text make no difference; the name of a public function
// does, because it is the function's global_symbol, as in TVM, written down or not.
#ifndef TVMS_DRIVER_DIFF_H
#define TVMS_DRIVER_DIFF_H

#include "ir/module.h"
#include "support/strbuf.h"

typedef struct {
  const tvms_program *program;
  tvms_source *source;  // that it was read from
} tvms_diff_side;

typedef enum {
  TVMS_DIFF_CHANGED,  // one part of the two functions `label`
  TVMS_DIFF_MISSING,  // the function `label` is in one of the programs only
  TVMS_DIFF_COUNT,    // the programs have different numbers of definitions
} tvms_diff_kind;

// What one program has at a difference.
typedef struct {
  tvms_source *source;
  tvms_span span;                  // {0, 0}: no place is known
  const char *TVMS_NULLABLE text;  // one line; NULL: there is nothing
  uint32_t count;                  // COUNT: its definitions
} tvms_diff_part;

// The texts are valid during the visit.
typedef struct {
  tvms_diff_kind kind;
  const char *label;
  const char *what;  // CHANGED: the field
  tvms_diff_part left, right;
} tvms_diff;

typedef void tvms_diff_visit(void *self, const tvms_diff *difference);

// Shows each difference of two programs of one context to `visit`, with nodes in the words
// of `dialect`. Returns how many there are. Values that a text leaves out are not compared; a
// warning says how many.
uint32_t tvms_diff_programs(tvms_diff_side left, tvms_diff_side right,
                            tvms_dialect dialect, tvms_diff_visit *visit, void *self);

// A visit whose `self` is a tvms_strbuf: lines for people.
tvms_diff_visit tvms_diff_write_text;

// A visit whose `self` is a tvms_context: an error at the left place, or at the right one
// if only the right program has something.
tvms_diff_visit tvms_diff_report;

#endif
