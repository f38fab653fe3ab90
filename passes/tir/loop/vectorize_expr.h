// One loop over vectors: the expressions of its body, all steps at once.
#ifndef TVMS_PASSES_TIR_LOOP_VECTORIZE_EXPR_H
#define TVMS_PASSES_TIR_LOOP_VECTORIZE_EXPR_H

#include "arith/analyzer.h"
#include "ir/rewrite.h"
#include "passes/manager.h"

// What the machine can do with vectors.
typedef struct {
  bool variable_length;  // vectors whose length is known when the program runs
  bool riscv;            // those of RISC-V
  bool masked;           // accesses may be predicated
} tvms_vector_machine;

// A loop that is being vectorized; it is the `self` of its rewriter. Numbers of lanes are
// those of tvms_dtype: negative for multiples of vscale.
typedef struct {
  const tvms_pass_run *run;
  tvms_unit *unit;
  tvms_analyzer *analyzer;  // without facts, as in TVM
  const tvms_for *loop;
  tvms_node *ramp;  // what the loop's variable is
  tvms_vector_machine machine;
  tvms_node_map vectors;  // variables of T.bind that became vectors -> the new ones
  // The statement at hand cannot be a vector statement; why stands in `reason`.
  bool scalarize;
  const char *TVMS_NULLABLE reason;
  bool failed;  // reported
} tvms_vectorizer;

// Sets the hooks of all kinds of expressions. One that takes part in no vector stays as it is;
// one that cannot be a vector sets `scalarize`.
void tvms_vectorize_set_hooks(tvms_rewriter *rewriter);

// `value` with `lanes` lanes. NULL after a report: it is another vector.
tvms_node *TVMS_NULLABLE tvms_vectorize_broadcast(tvms_vectorizer *vectorizer,
                                                  tvms_node *value, int lanes);

// Sets `scalarize` and the reason.
void tvms_vectorize_scalarize(tvms_vectorizer *vectorizer, const char *reason);

// Reports that the loop cannot be vectorized, once.
void tvms_vectorize_fail(tvms_vectorizer *vectorizer, const tvms_node *at,
                         const char *why);

#endif
