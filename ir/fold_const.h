// Constant folding of two operands with equal dtypes; shared by ir/fold*.c only.
#ifndef TVMS_IR_FOLD_CONST_H
#define TVMS_IR_FOLD_CONST_H

#include "ir/build.h"
#include "ir/fold.h"

typedef enum {
  TVMS_FOLD_NONE,         // nothing folds
  TVMS_FOLD_DONE,         // result is set
  TVMS_FOLD_ZERO,         // division by constant zero
  TVMS_FOLD_OUT_OF_RANGE  // the value does not fit: value is set
} tvms_fold_status;

typedef struct {
  tvms_fold_status status;
  tvms_node *result;
  int64_t value;
} tvms_folded;

// What a binary operator makes of two operands of equal dtype, by the rules of TVM's
// src/arith/const_fold.h; says why nothing comes of it and reports nothing.
tvms_folded tvms_fold_binary_constants(tvms_unit *unit, tvms_node_kind kind,
                                       tvms_node *a, tvms_node *b, tvms_span span);

// Does `value` fit an integer constant of this dtype?
bool tvms_fold_int_fits(tvms_dtype dtype, int64_t value);

// Floor division and modulo of Python; the divisor is not 0.
int64_t tvms_fold_int_floor_div(int64_t a, int64_t b);

// The remainder of that division: it has the sign of the divisor.
int64_t tvms_fold_int_floor_mod(int64_t a, int64_t b);

// Constant folding alone, of operands of equal dtype: the folded node, or NULL if
// nothing folds. Never reports: what TVM would reject does not fold.
tvms_node *TVMS_NULLABLE tvms_build_try_fold(tvms_unit *unit, tvms_node_kind kind,
                                             tvms_node *a, tvms_node *b);

#endif
