// What holds where in a PrimFunc, told to an analyzer while a rewriter goes through it.
//
//   tvms_scopes scopes;
//   tvms_scopes_init(&scopes, unit);
//   rewriter.watch = &scopes.watch;      // hooks ask scopes.analyzer
//   ...
//   tvms_scopes_fini(&scopes);
//
// For the rest of the function: the range of a loop variable, a thread and (up to 0.26) a
// block variable; the value of a variable that is bound to an expression without effects; that no
// dimension of a parameter is negative. Inside a branch: its condition or the negation of
// it, T.likely taken off; inside a loop: that its extent is positive; behind an assertion:
// what it asserts. TVM: IRMutatorWithAnalyzer.
#ifndef TVMS_ARITH_SCOPES_H
#define TVMS_ARITH_SCOPES_H

#include "arith/analyzer.h"
#include "ir/rewrite.h"

typedef struct {
  tvms_rewrite_watch watch;
  tvms_unit *unit;
  tvms_analyzer *analyzer;
  // How many conditions are open around the node at hand; that of T.if_then_else counts.
  uint32_t conditions;
  // Options. A loop is also two conditions, min <= var and var < min + extent: what
  // TVM's StmtSimplify adds.
  bool loop_conditions;
  // What variables are bound to is for the pass to tell the analyzer.
  bool ignores_bindings;
  // Of the watch itself: what is to be closed.
  TVMS_VEC(tvms_scope_mark) marks;
} tvms_scopes;

// Prepares `scopes`, in the caller's storage, with an analyzer of its own, whose results
// lie in `unit`; `fini` frees them.
void tvms_scopes_init(tvms_scopes *scopes, tvms_unit *unit);

// May this condition of a statement hold no more behind the first store, since it reads memory?
// From 0.27 on nothing is concluded from such a one; before, false for any. TVM:
// IRMutatorWithAnalyzer.
bool tvms_scopes_may_change(tvms_scopes *scopes, tvms_node *condition);

// What remains of an `if`, a T.if_then_else or a T.Select with a constant condition: the case
// that it takes. Any other node as it is. For leave hooks. TVM: IRMutatorWithAnalyzer.
tvms_node *tvms_scopes_choose(tvms_rewriter *r, tvms_node *node);

// Sets tvms_scopes_choose as the leave hook of these kinds.
void tvms_scopes_choose_all(tvms_rewriter *r);

// A store or a load with the predicate that it had: TVM's mutators do not look into it, where
// it is no argument of a call. Any other node as it is. For leave hooks.
tvms_node *tvms_scopes_keep_predicate(tvms_rewriter *r, tvms_node *node);

// Frees the analyzer and closes what is open.
void tvms_scopes_fini(tvms_scopes *scopes);

#endif
