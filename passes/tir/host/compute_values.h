// Expressions of a family of floats, computed in a wider dtype.
#ifndef TVMS_PASSES_TIR_HOST_COMPUTE_VALUES_H
#define TVMS_PASSES_TIR_HOST_COMPUTE_VALUES_H

#include "ir/rewrite.h"
#include "passes/tir/host/float_conversion.h"

typedef struct {
  tvms_unit *unit;
  tvms_host_float_family family;
  tvms_dtype promoted;  // a scalar
  // Conversions are casts, and what the text itself rounds to the family stays rounded. Else they are written with
  // integers, and a value that is rounded and converted back is the value itself, as in TVM.
  bool casts;
} tvms_host_values;

// Sets the leave hooks of expressions. `r->self` points to a struct that begins with tvms_host_values. An
// operator with operands of the family takes and gives values of the wider dtype; a load is of the dtype that
// its buffer has by now. Statements are for the caller.
void tvms_host_values_install(tvms_rewriter *r);

#endif
