// How a PrimFunc relates the elements of its results to those of its arguments.
#ifndef TVMS_PASSES_OP_PATTERN_H
#define TVMS_PASSES_OP_PATTERN_H

#include "ir/node.h"

// The numbers stand in programs, as attribute op_pattern.
typedef enum {
  TVMS_PATTERN_ELEMENTWISE = 0,
  TVMS_PATTERN_BROADCAST = 1,
  TVMS_PATTERN_INJECTIVE = 2,
  TVMS_PATTERN_REDUCTION = 3,
  TVMS_PATTERN_OUT_FUSABLE = 4,  // matrix product, convolution: what follows may join
  TVMS_PATTERN_OPAQUE = 8,
} tvms_op_pattern;

// Judges a PRIM_FUNC by its blocks, as TVM of that release does.
tvms_op_pattern tvms_op_pattern_of(tvms_context *context, tvms_dialect dialect,
                                   const tvms_node *function);

#endif
