// What the files of arith/ share: facts, the two simplifiers, comparison.
#ifndef TVMS_ARITH_INTERNAL_H
#define TVMS_ARITH_INTERNAL_H

#include "arith/analyzer.h"
#include "ir/fold.h"
#include "ir/node_map.h"
#include "support/vec.h"

// What is known of one variable.
typedef struct {
  const tvms_node *var;
  bool has_bound, has_modular;
  tvms_bound bound;
  tvms_modular modular;
  tvms_node *TVMS_NULLABLE value;  // simplified; replaces the variable
  // Domain for symbolic sets: [set_min, set_max]; NULL: none.
  tvms_node *TVMS_NULLABLE set_min;
  tvms_node *TVMS_NULLABLE set_max;
} tvms_var_facts;

// An expression with a constant bound that holds in the open scopes.
typedef struct {
  const tvms_node *expr;
  tvms_bound bound;
} tvms_bound_fact;

// What a variable's modular set was before a scope.
typedef struct {
  tvms_var_facts *facts;
  bool had;
  tvms_modular old;
} tvms_modular_undo;

// left OP right + offset; a side that is a constant is NULL, and its value in the offset.
// `<` and `>` of integers are entered as `<=` and `>=`.
typedef struct {
  const tvms_node *TVMS_NULLABLE left, *TVMS_NULLABLE right;
  int64_t offset;
  uint8_t result;  // tvms_compare: EQ, NE, LE or GE
} tvms_inequality;

// Possible results of a comparison as a set of bits.
typedef enum {
  TVMS_INCONSISTENT = 0,
  TVMS_IS_EQ = 1,
  TVMS_IS_LT = 2,
  TVMS_IS_LE = 3,
  TVMS_IS_GT = 4,
  TVMS_IS_GE = 5,
  TVMS_IS_NE = 6,
  TVMS_UNKNOWN = 7,
} tvms_compare;

typedef struct {
  tvms_analyzer *analyzer;
  bool canonical;  // sums and splits in normal form
  int again;       // nesting of rules whose result is simplified again
  const tvms_node *TVMS_NULLABLE
      product;  // the last one, in normal form, no constant in it
} tvms_simplifier;

struct tvms_analyzer {
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_node_map vars;  // VAR -> tvms_var_facts
  TVMS_VEC(tvms_bound_fact) bounds;
  TVMS_VEC(tvms_modular_undo) moduli;
  TVMS_VEC(tvms_node *) literals;
  TVMS_VEC(tvms_bound_fact) sets;
  TVMS_VEC(tvms_inequality) facts;
  tvms_simplifier rewriter;
  tvms_simplifier normalizer;
  uint32_t extensions;  // what tvms_analyzer_extend switched on
  uint32_t nesting;     // of questions that ask further questions
  uint64_t effort;      // since the outermost one; see tvms_analyzer_out_of_budget
  uint64_t most_effort;
};

// Proofs inside rules may ask for more proofs, and each looks at whole expressions: after
// this much effort an expression is taken as it is, so that hostile input ends. A node that
// a walk looks at counts 1, one that rules are tried on more.
enum { TVMS_RULES_EFFORT = 8, TVMS_MOST_EFFORT = 4 * 1000 * 1000 };
enum { TVMS_MOST_SPENT = 100 * 1000 * 1000 };  // on one function

static inline bool tvms_analyzer_out_of_budget(const tvms_analyzer *analyzer) {
  return analyzer->effort > analyzer->most_effort
         || analyzer->unit->effort > TVMS_MOST_SPENT;
}

// A question from outside, or a further one of the same; ended by tvms_analyzer_end_query.
static inline void tvms_analyzer_begin_query(tvms_analyzer *analyzer) {
  if (analyzer->nesting++ == 0) analyzer->effort = 0;
}
static inline void tvms_analyzer_end_query(tvms_analyzer *analyzer) {
  if (--analyzer->nesting == 0) analyzer->unit->effort += analyzer->effort;
}

// Facts of a variable, or NULL; made when missing.
tvms_var_facts *TVMS_NULLABLE tvms_analyzer_find_facts(const tvms_analyzer *analyzer,
                                                       const tvms_node *var);

// The same, made empty where there are none. They live as long as the unit.
tvms_var_facts *tvms_analyzer_get_or_create_facts(tvms_analyzer *analyzer,
                                                  const tvms_node *var);

// ---- Small arithmetic ----

// Greatest common divisor of the absolute values; 0 counts as the other one.
int64_t tvms_arith_gcd(int64_t a, int64_t b);

// The quotient rounded towards negative infinity, Python's `//`; `b` is not 0. The
// one overflow, INT64_MIN / -1, wraps.
int64_t tvms_arith_floor_div(int64_t a, int64_t b);

// The remainder of tvms_arith_floor_div, Python's `%`: it has the sign of `b`, which
// is not 0.
int64_t tvms_arith_floor_mod(int64_t a, int64_t b);

// `a + b`, `a * b` … of C, wrapping.
static inline int64_t tvms_arith_wrap_add(int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t tvms_arith_wrap_sub(int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a - (uint64_t)b);
}
static inline int64_t tvms_arith_wrap_mul(int64_t a, int64_t b) {
  return (int64_t)((uint64_t)a * (uint64_t)b);
}

// ---- Building inside the simplifiers: constants fold, nothing is reported ----

// `a kind b` as a node, folded where ir/fold.c knows the result. Operands have one
// dtype; nothing is reported.
tvms_node *tvms_arith_fold_binary(tvms_unit *unit, tvms_node_kind kind, tvms_node *a,
                                  tvms_node *b);
// A constant of an integer dtype; a broadcast for vectors.
tvms_node *tvms_arith_number(tvms_unit *unit, tvms_dtype dtype, int64_t value);

// A constant of a dtype of truth values; a broadcast for vectors.
tvms_node *tvms_arith_truth(tvms_unit *unit, tvms_dtype dtype, bool value);

// ---- Constraints ----

// The parts of a conjunction that hold each on their own.
void tvms_arith_each_conjunct(tvms_node *condition,
                              void (*use)(void *self, tvms_node *part), void *self);

// Notes each part of the conjunction as a condition that holds as it is written:
// rewriting replaces it by true, and its negation by false.
void tvms_analyzer_enter_literals(tvms_analyzer *analyzer, tvms_node *condition);

// ---- Comparison ----

// True if T.vscale() occurs in the expression: then bounds are known only for the
// vscales that the target may have.
bool tvms_analyzer_mentions_vscale(tvms_analyzer *analyzer, tvms_node *node);

#endif
