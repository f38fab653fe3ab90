// Leaves that become values: where an argument was a leaf and is a call now, the call gets a
// name in front of the binding at hand, or at the end of the sequence whose result it is.
//
//   R.call_packed("f", n + 1)     gv: T.int64 = cls.compute(n)
//                                 R.call_packed("f", gv)
//
// A pass makes a binder the first member of its state, as `self` of its rewriter, and
// installs the hooks. Values are made and named in the order of TVM's ExprMutator: that of
// the condition of an If is made before its branches and named after them.
#ifndef TVMS_PASSES_RELAX_BINDER_H
#define TVMS_PASSES_RELAX_BINDER_H

#include "passes/functions.h"
#include "passes/relax/emit.h"

// The value that takes the place of an expression, which is one of the function and no type; a
// variable, if it has bound that itself. NULL: it stays, and what is below is looked at.
typedef tvms_node *TVMS_NULLABLE tvms_relax_compute(tvms_rewriter *rewriter,
                                                    tvms_node *node);

// Told of every binding that is finished. What it returns takes the place of the binding; NULL
// if it has emitted the binding, and others behind it, itself.
typedef tvms_node *TVMS_NULLABLE tvms_relax_bound(tvms_rewriter *rewriter,
                                                  tvms_node *binding);

typedef struct {
  tvms_relax_emitter emitter;
  tvms_relax_compute *compute;
  tvms_relax_bound *TVMS_NULLABLE bound;
  const tvms_module *module;
  // Bindings for the end of the sequence whose body is being rewritten; NULL: elsewhere.
  tvms_node_vec *TVMS_NULLABLE tail;
} tvms_relax_binder;

// Prepares a binder in the caller's storage; `fini` frees what it holds. Names are drawn for all
// functions of a module: tvms_relax_binder_enter goes on with the next one.
void tvms_relax_binder_init(tvms_relax_binder *binder, tvms_pass_run *run,
                            tvms_relax_compute *compute);

// Goes on with a function whose nodes lie in `unit`.
void tvms_relax_binder_enter(tvms_relax_binder *binder, tvms_unit *unit);

// Frees what the binder holds; nodes stay with the unit.
void tvms_relax_binder_fini(tvms_relax_binder *binder);

// Installs enter hooks for expressions and VAR_BINDING and a leave hook for CALL, whose type
// follows from its arguments, and those of passes/relax/retype.h.
void tvms_relax_binder_install(tvms_rewriter *rewriter);

// Binds `value` where the rewriter is, and returns its variable.
tvms_node *tvms_relax_binder_bind(tvms_rewriter *rewriter, tvms_node *value,
                                  const char *name);

// Binds `value` by a match_cast to `type` where the rewriter is, and returns the variable.
tvms_node *tvms_relax_binder_cast(tvms_rewriter *rewriter, tvms_node *value,
                                  tvms_node *type, const char *name);

// Puts a finished binding where the rewriter is.
void tvms_relax_binder_put(tvms_rewriter *rewriter, tvms_node *binding);

// A statement of Relax: a call that returns nothing, bound to `_`.
void tvms_relax_binder_do(tvms_rewriter *rewriter, tvms_node *call);

// The blocks of a sequence with plain bindings in front of them and behind them. Neighbours
// that are no dataflow blocks become one.
tvms_list tvms_relax_binder_surround(tvms_unit *unit, const tvms_node_vec *first,
                                     tvms_list blocks, const tvms_node_vec *last);

#endif
