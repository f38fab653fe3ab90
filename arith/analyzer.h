// Reasoning about integer expressions: simplification, bounds, divisibility, proofs.
//
// What simplification returns is printed (loop extents, regions, deduced shapes), so it
// gives TVM's text, not only TVM's value: the same two simplifiers in the same order with
// the same rules (arith/rewrite.rules). unit->dialect decides where releases differ.
//
// An analyzer knows facts: what variables are bound to, and the constraints of the scopes
// that are open. Results are nodes of its unit. Everything an analyzer holds belongs to
// the context's memory; tvms_analyzer_free gives it back early.
#ifndef TVMS_ARITH_ANALYZER_H
#define TVMS_ARITH_ANALYZER_H

#include "ir/build.h"

typedef struct tvms_analyzer tvms_analyzer;

// An analyzer that knows nothing yet. It lives in the context's memory until
// tvms_analyzer_free; never NULL.
tvms_analyzer *tvms_analyzer_new(tvms_unit *unit);

// Lets questions take longer before an expression is taken as it is: for expressions that
// were made here and are large, not for what a text brings.
void tvms_analyzer_be_patient(tvms_analyzer *analyzer);

// Gives back what the analyzer holds; nodes that it returned stay with the unit. NULL
// is allowed.
void tvms_analyzer_free(tvms_analyzer *TVMS_NULLABLE analyzer);

// What rewriting may do beyond what it does by itself; it costs time. TVM:
// RewriteSimplifier::Extension.
enum {
  TVMS_PROVE_TRANSITIVELY = 1,     // a < b and b < c prove a < c
  TVMS_CONVERT_TO_AND_OF_ORS = 2,  // conditions become a conjunction of disjunctions
  TVMS_CONSTRAIN_BRANCHES = 4,     // each side of `and` and `or` helps with the other
};

// Switches extensions on, and all others off.
void tvms_analyzer_extend(tvms_analyzer *analyzer, uint32_t extensions);

// ---- Facts ----

// `var` is `value` / is one of [min, min + extent). A later fact replaces an earlier one.
void tvms_analyzer_bind(tvms_analyzer *analyzer, const tvms_node *var,
                        tvms_node *value);

// The same for a range: `var` is one of [min, min + extent). TVM: Analyzer::Bind with
// a Range.
void tvms_analyzer_bind_range(tvms_analyzer *analyzer, const tvms_node *var,
                              tvms_node *min, tvms_node *extent);

// Marks the variable in `value` (variable * constant + constant) so that `value` is not
// negative: what a buffer's shape says about its symbols.
void tvms_analyzer_mark_nonnegative(tvms_analyzer *analyzer, tvms_node *value);

// Opens a scope in which `condition` holds; close scopes in reverse order with the mark
// that opening returned.
typedef struct {
  uint32_t bounds, moduli, literals, sets, facts;
} tvms_scope_mark;

// Opens a scope in which `condition` holds, and returns the mark to close it with.
// TVM: ConstraintContext.
tvms_scope_mark tvms_analyzer_enter(tvms_analyzer *analyzer, tvms_node *condition);

// The same for a condition that decides whether a statement runs: i // 8 == 2 also says
// where i lies, if it says so in this release. TVM: EnterConstraintFacts.
tvms_scope_mark tvms_analyzer_enter_fact(tvms_analyzer *analyzer, tvms_node *condition);

// The mark of what is known now: what is entered from here on may be left with it at once.
tvms_scope_mark tvms_analyzer_mark(const tvms_analyzer *analyzer);

// Closes the scope that returned `mark`, and forgets what was learnt in it.
void tvms_analyzer_leave(tvms_analyzer *analyzer, tvms_scope_mark mark);

// ---- Questions ----

// TVM's Analyzer.simplify: canonical form once, then rewriting and canonical form in turn,
// `steps` times (TVM's default is 2).
tvms_node *tvms_analyzer_simplify(tvms_analyzer *analyzer, tvms_node *expr);

// The same with the number of rounds given.
tvms_node *tvms_analyzer_simplify_steps(tvms_analyzer *analyzer, tvms_node *expr,
                                        int steps);

// TVM's RewriteSimplifier alone: the rules of arith/rewrite.rules, once through.
tvms_node *tvms_analyzer_rewrite_simplify(tvms_analyzer *analyzer, tvms_node *expr);

// TVM's CanonicalSimplifier alone: sums of splits in normal form.
tvms_node *tvms_analyzer_canonical_simplify(tvms_analyzer *analyzer, tvms_node *expr);

// True if `condition` simplifies to true here. False says nothing: it may hold all
// the same.
bool tvms_analyzer_can_prove(tvms_analyzer *analyzer, tvms_node *condition);

// True if the difference of two integers simplifies to 0, or they are the same
// expression.
bool tvms_analyzer_can_prove_equal(tvms_analyzer *analyzer, tvms_node *a, tvms_node *b);

// True if `expr >= bound` is known, by constant bounds first. TVM:
// CanProveGreaterEqual.
bool tvms_analyzer_can_prove_ge(tvms_analyzer *analyzer, tvms_node *expr,
                                int64_t bound);

// True if `expr < bound` is known, by constant bounds first. TVM: CanProveLess.
bool tvms_analyzer_can_prove_lt(tvms_analyzer *analyzer, tvms_node *expr,
                                int64_t bound);

// All values lie in [min, max]; INT64_MAX and -INT64_MAX stand for infinities.
typedef struct {
  int64_t min;
  int64_t max;
} tvms_bound;

#define TVMS_POS_INF INT64_MAX
#define TVMS_NEG_INF (-INT64_MAX)

// All values are coeff * k + base; coeff 0: the constant base.
typedef struct {
  int64_t coeff;
  int64_t base;
} tvms_modular;

// One-off forms for callers without facts of their own.
tvms_node *tvms_arith_simplify(tvms_unit *unit, tvms_node *expr);

// tvms_analyzer_can_prove_equal without facts.
bool tvms_arith_prove_equal(tvms_unit *unit, tvms_node *a, tvms_node *b);

// The operator of TIR that `node` calls, if the call has as many arguments as the operator
// takes; else TVMS_TIR_NONE. T.call_intrin of anything is a program, and rules look at the
// arguments.
tvms_tir_opcode tvms_arith_opcode(const tvms_node *node);

// The strongest effect of an expression (tvms_effect): what may be dropped or repeated.
tvms_effect tvms_arith_effect_of(tvms_memory *memory, tvms_node *expr);

#endif
