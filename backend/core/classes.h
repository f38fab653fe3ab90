// What kind of float a value is, asked by comparisons.
#ifndef TVMS_BACKEND_CORE_CLASSES_H
#define TVMS_BACKEND_CORE_CLASSES_H

#include "ir/node.h"
#include "ir/tir_op.h"

// Asks a T.And, as TVM writes it for want of an operator, whether `*x` is finite or infinite? Then which of T.isfinite
// and T.isinf asks the same; else 0.
//
//   (T.fabs(x) != T.float32("inf") or T.isnan(x)) and not T.isnan(x)
//   T.fabs(x) == T.float32("inf") and not T.isnan(x)
tvms_tir_opcode tvms_class_asked(const tvms_node *node, const tvms_node **x);

#endif
