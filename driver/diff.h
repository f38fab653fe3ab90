// Structural differences of two programs, located in both texts.
//
// Functions correspond by name, modules by their order. Names of variables, comments and
// layout of the text make no difference.
#ifndef TVMS_DRIVER_DIFF_H
#define TVMS_DRIVER_DIFF_H

#include "ir/module.h"
#include "support/strbuf.h"

typedef struct {
  const tvms_program *program;
  tvms_source *source;  // that it was read from
} tvms_diff_side;

// Appends each difference of two programs of one context, with nodes in the words of
// `dialect`. Returns how many there are.
uint32_t tvms_diff_programs(tvms_diff_side left, tvms_diff_side right,
                            tvms_dialect dialect, tvms_strbuf *out);

#endif
