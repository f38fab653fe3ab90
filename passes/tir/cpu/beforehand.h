// Constant operands that are laid out for the tiles beforehand.
#ifndef TVMS_PASSES_TIR_CPU_BEFOREHAND_H
#define TVMS_PASSES_TIR_CPU_BEFOREHAND_H

#include "passes/tir/cpu/tile.h"

typedef struct {
  tvms_stage stage;   // the contraction, reading what was laid out
  tvms_node *buffer;  // that the root block is to allocate
  tvms_node
      *preparer;  // the statement that fills it, marked for SplitLayoutRewritePreproc
  tvms_node *TVMS_NULLABLE
      adder;  // another one, which puts what the columns add up to behind them
} tvms_beforehand;

// Does the contraction read a parameter that `layout_free_buffers` of the function lists, along its
// columns and sums only, and nobody else? Then a copy takes its place, in which the columns of a strip
// lie side by side: [strip][step of the sum][column]. What adds up the operand in the statement in front (quads.h), if there is
// one, is done beforehand, too, and stands behind the last step; `*before` takes it from there then.
TVMS_NODISCARD bool
tvms_cpu_lay_out_beforehand(tvms_unit *unit, const tvms_prim_func *function,
                            const tvms_contraction *contraction, const tvms_tile *tile,
                            tvms_node *TVMS_NULLABLE *before, tvms_beforehand *made);

#endif
