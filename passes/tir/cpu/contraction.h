// Contractions: sums of products over two operands, by what moves along which axis.
//
//   C[i, j] += A[i, k] * B[k, j]     j is the column: the result is stored along it, and B moves
//                                    with it. i is the row: A moves with it and B does not, so
//                                    one element of B serves many rows. k is summed over.
//
// Nothing is known by name or by the order of loops: matrix products in any order, batched ones,
// with operands transposed, convolutions and what einsum makes are one family.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_H

#include "passes/tir/cpu/stage.h"

typedef enum {
  TVMS_AXIS_BATCH,  // the moving operand depends on it: a contraction of its own for each step
  TVMS_AXIS_OUTER,   // another one of those that only the resting operand depends on
  TVMS_AXIS_ROW,     // the one of these that is tiled
  TVMS_AXIS_COLUMN,  // the axis of vectors
  TVMS_AXIS_SUM,
} tvms_axis_role;

typedef struct {
  tvms_stage stage;
  tvms_node *init;  // a constant
  tvms_node *term;  // what each step adds
  tvms_axis_role roles[TVMS_MOST_STAGE_AXES];
  uint32_t column;
  uint32_t row;  // TVMS_MOST_STAGE_AXES: there is none
  // The only load that moves with the column; NULL: there are several.
  tvms_node *TVMS_NULLABLE moving;
  tvms_node *TVMS_NULLABLE
      resting;  // the first load that moves with the row; NULL: none
  bool
      contiguous;  // every load that moves with the column takes one element after the other
} tvms_contraction;

// Is the stage a contraction? Returns NULL, or why not: a sentence's end.
const char *TVMS_NULLABLE tvms_contraction_find(tvms_unit *unit,
                                                const tvms_stage *stage,
                                                tvms_contraction *found);

#endif
