// Rewriting statements with an analyzer that knows the loops and conditions around them.
#ifndef TVMS_PASSES_TIR_SCOPED_H
#define TVMS_PASSES_TIR_SCOPED_H

#include "arith/analyzer.h"
#include "ir/fold.h"
#include "passes/tir/stmts.h"

typedef struct {
  tvms_rewriter rewriter;  // self is this struct
  tvms_analyzer *analyzer;
  tvms_unit *unit;
  tvms_node_map buffers;  // of the pass: old buffer → new one
  uint32_t conditions;    // open ones around what is being rewritten
  void *self;             // of the pass
} tvms_scoped;

// Installs the hooks of the pass in scoped->rewriter. Those for FOR, IF_THEN_ELSE and
// BLOCK_REALIZE are taken: the scopes open and close there. A pass may set leave of them.
typedef void (*tvms_scoped_setup)(tvms_scoped *scoped);

// Called for each function before and after its body is rewritten; may be NULL. `end`
// returns the body to use.
typedef struct {
  tvms_scoped_setup setup;
  void (*TVMS_NULLABLE begin)(tvms_scoped *scoped, tvms_prim_func *function);
  tvms_node *(*TVMS_NULLABLE end)(tvms_scoped *scoped, tvms_prim_func *function,
                                  tvms_node *body);
} tvms_scoped_pass;

// Rewrites the body of every PrimFunc.
void tvms_rewrite_scoped(tvms_pass_run *run, const tvms_scoped_pass *pass);

#endif
