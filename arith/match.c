// The matcher of rewrite rules: patterns, results and conditions as prefix code.
//
// tools/gen_rules.py turns arith/rewrite.rules into bytes: a node kind followed by the code of
// its operands, a variable, a constant (arith/rules.h lists the codes). Matching walks code
// and node together, and a variable that comes a second time must stand for an equal
// expression. Nothing is built before a rule matches and its condition holds, so the many
// rules that do not apply cost little.
#include "arith/match.h"

#include "arith/compare.h"
#include "arith/rewrite.h"
#include "arith/rules.h"
#include "ir/equal.h"

enum { VARIABLES = 8, INTEGERS = 3 };

typedef struct {
  tvms_simplifier *s;
  tvms_unit *unit;
  tvms_node *subject;  // the node that is being rewritten
  tvms_node *vars[VARIABLES];
  tvms_node *ints[INTEGERS];
  tvms_node *real;
} match;

// Operands that patterns speak of, in their order; returns how many.
static int operands_of(const tvms_node *node, tvms_node *out[3]) {
  if (tvms_node_is_binary(node)) {
    out[0] = tvms_as_binary(node)->a;
    out[1] = tvms_as_binary(node)->b;
    return 2;
  }
  switch ((int)node->kind) {
  case TVMS_NODE_NOT: out[0] = tvms_as_not(node)->a; return 1;
  case TVMS_NODE_BROADCAST:
    out[0] = tvms_as_broadcast(node)->value;
    out[1] = tvms_as_broadcast(node)->lanes;
    return 2;
  case TVMS_NODE_RAMP:
    out[0] = tvms_as_ramp(node)->base;
    out[1] = tvms_as_ramp(node)->stride;
    out[2] = tvms_as_ramp(node)->lanes;
    return 3;
  case TVMS_NODE_SELECT:
    out[0] = tvms_as_select(node)->condition;
    out[1] = tvms_as_select(node)->true_value;
    out[2] = tvms_as_select(node)->false_value;
    return 3;
  default: return 0;
  }
}

// ---- Matching ----

static bool match_int(tvms_node **place, tvms_node *node) {
  if (node->kind != TVMS_NODE_INT_IMM) return false;
  if (!*place) *place = node;
  return tvms_as_int_imm(*place)->value == tvms_as_int_imm(node)->value;
}

static bool match_code(match *m, const uint8_t **at, tvms_node *node) {
  uint8_t code = *(*at)++;
  if (code >= R_VAR && code < R_VAR + VARIABLES) {
    tvms_node **place = &m->vars[code - R_VAR];
    if (!*place) *place = node;
    return tvms_node_same_expr(*place, node);
  }
  if (code >= R_INT && code < R_INT + INTEGERS) {
    return match_int(&m->ints[code - R_INT], node);
  }
  if (code == R_FLOAT) {
    m->real = node;
    return node->kind == TVMS_NODE_FLOAT_IMM;
  }
  if (code == R_LITERAL) return tvms_node_is_int(node, (int8_t) * (*at)++);
  if (node->kind != code) return false;
  tvms_node *operands[3];
  int count = operands_of(node, operands);
  for (int i = 0; i < count; i++) {
    if (!match_code(m, at, operands[i])) return false;
  }
  return true;
}

// ---- Building ----

static tvms_node *build(match *m, const uint8_t **at,
                        const tvms_node *TVMS_NULLABLE like);

static const uint8_t *skip(const uint8_t *at) {
  uint8_t code = *at++;
  if (code == R_LITERAL) return at + 1;
  if (code == R_LIKE) return at + 2;
  if (code >= R_VAR) return at;
  int count = code == TVMS_NODE_NOT                                ? 1
              : code == TVMS_NODE_RAMP || code == TVMS_NODE_SELECT ? 3
                                                                   : 2;
  for (int i = 0; i < count; i++)
    at = skip(at);
  return at;
}

// Two operands, of which one may be a number that takes the dtype of the other.
static tvms_node *build_binary(match *m, const uint8_t **at, tvms_node_kind kind) {
  tvms_node *a = NULL, *b;
  if (**at == R_LITERAL) {
    const uint8_t *second = skip(*at);
    b = build(m, &second, NULL);
    a = build(m, at, b);
    *at = second;
  } else {
    a = build(m, at, NULL);
    b = build(m, at, a);
  }
  return tvms_arith_fold_binary(m->unit, kind, a, b);
}

static tvms_node *build_vector(match *m, const uint8_t **at, tvms_node_kind kind) {
  tvms_node *first = build(m, at, NULL);
  tvms_node *stride = kind == TVMS_NODE_RAMP ? build(m, at, first) : NULL;
  build(m, at, NULL);  // the lanes are those of the subject
  int lanes = m->subject->dtype.lanes;
  if (!stride) return tvms_broadcast_new(m->unit, first, lanes, TVMS_NO_SPAN);
  return tvms_ramp_new(m->unit, first, stride, lanes, TVMS_NO_SPAN);
}

static tvms_node *build_not(match *m, tvms_node *a) {
  if (a->kind != TVMS_NODE_INT_IMM) return tvms_not_new(m->unit, a, TVMS_NO_SPAN);
  return tvms_arith_truth(m->unit, a->dtype, !tvms_node_is_true(a));
}

static tvms_node *build_select(match *m, const uint8_t **at) {
  tvms_node *condition = build(m, at, NULL);
  tvms_node *true_value = build(m, at, NULL);
  tvms_node *false_value = build(m, at, true_value);
  return tvms_select_new(m->unit, condition, true_value, false_value, TVMS_NO_SPAN);
}

static tvms_node *build(match *m, const uint8_t **at,
                        const tvms_node *TVMS_NULLABLE like) {
  uint8_t code = *(*at)++;
  if (code >= R_VAR && code < R_VAR + VARIABLES) return m->vars[code - R_VAR];
  if (code >= R_INT && code < R_INT + INTEGERS) return m->ints[code - R_INT];
  switch (code) {
  case R_FLOAT: return m->real;
  case R_LITERAL: {
    tvms_dtype dtype = like ? like->dtype : TVMS_DTYPE(INT, 32);
    return tvms_arith_number(m->unit, dtype, (int8_t) * (*at)++);
  }
  case R_LIKE: {
    tvms_dtype dtype = m->vars[*(*at)++]->dtype;
    return tvms_arith_number(m->unit, dtype, *(*at)++);
  }
  case R_TRUE: return tvms_arith_truth(m->unit, m->subject->dtype, true);
  case R_FALSE: return tvms_arith_truth(m->unit, m->subject->dtype, false);
  case TVMS_NODE_NOT: return build_not(m, build(m, at, NULL));
  case TVMS_NODE_SELECT: return build_select(m, at);
  case TVMS_NODE_RAMP:
  case TVMS_NODE_BROADCAST: return build_vector(m, at, (tvms_node_kind)code);
  default: return build_binary(m, at, (tvms_node_kind)code);
  }
}

// ---- Conditions ----

static int64_t judge(match *m, const uint8_t **at);

static int64_t compute(uint8_t code, int64_t a, int64_t b) {
  switch (code) {
  case C_ADD: return tvms_arith_wrap_add(a, b);
  case C_SUB: return tvms_arith_wrap_sub(a, b);
  case C_MUL: return tvms_arith_wrap_mul(a, b);
  // A rule that would divide by zero does not apply: no remainder is equal to this.
  case C_DIV: return b ? tvms_arith_floor_div(a, b) : INT64_MIN;
  case C_MOD: return b ? tvms_arith_floor_mod(a, b) : INT64_MIN;
  case C_BITS: return a & b;
  case C_EQ: return a == b;
  case C_NE: return a != b;
  case C_LT: return a < b;
  case C_LE: return a <= b;
  case C_GT: return a > b;
  default: return a >= b;
  }
}

static const uint8_t *skip_condition(const uint8_t *at) {
  uint8_t code = *at++;
  if (code == C_NUMBER || code == C_INT) return at + 1;
  if (code == C_FLOAT) return at;
  if (code >= C_PURE) return skip(at);
  at = code >= C_PROVE_GE ? skip(at) : skip_condition(at);
  return skip_condition(at);
}

// Both sides of `and` and `or` are evaluated only as far as needed: proofs are expensive.
static int64_t judge_logical(match *m, const uint8_t **at, bool conjunction) {
  bool first = judge(m, at) != 0;
  if (first == conjunction) return judge(m, at) != 0;
  *at = skip_condition(*at);
  return first;
}

static int64_t judge_proof(match *m, const uint8_t **at, uint8_t code) {
  tvms_node *expr = build(m, at, NULL);
  int64_t bound = judge(m, at);
  tvms_analyzer *analyzer = m->s->analyzer;
  if (code == C_PROVE_GE) return tvms_analyzer_can_prove_ge(analyzer, expr, bound);
  if (code == C_PROVE_LT) return tvms_analyzer_can_prove_lt(analyzer, expr, bound);
  return tvms_simplifier_compare_to(m->s, expr, bound) == TVMS_IS_EQ;
}

static int64_t judge(match *m, const uint8_t **at) {
  uint8_t code = *(*at)++;
  tvms_analyzer *analyzer = m->s->analyzer;
  switch (code) {
  case C_NUMBER: return (int8_t) * (*at)++;
  case C_INT: return tvms_as_int_imm(m->ints[*(*at)++])->value;
  case C_FLOAT: return tvms_as_float_imm(m->real)->value != 0;
  case C_AND: return judge_logical(m, at, true);
  case C_OR: return judge_logical(m, at, false);
  case C_PROVE_GE:
  case C_PROVE_LT:
  case C_PROVE_EQ: return judge_proof(m, at, code);
  case C_PURE:
    return tvms_arith_effect_of(analyzer->memory, build(m, at, NULL))
           <= TVMS_EFFECT_READ;
  case C_VSCALE: return tvms_analyzer_mentions_vscale(analyzer, build(m, at, NULL));
  case C_PROVES: return tvms_analyzer_can_prove(analyzer, build(m, at, NULL));
  default: break;
  }
  int64_t a = judge(m, at);
  int64_t b = judge(m, at);
  return compute(code, a, b);
}

// ---- Rules ----

static bool guard_holds(uint8_t guard, const tvms_node *node) {
  // Comparisons are judged by what they compare.
  bool comparison = node->kind >= TVMS_NODE_EQ && node->kind <= TVMS_NODE_GE;
  tvms_dtype dtype = comparison ? tvms_as_binary(node)->a->dtype : node->dtype;
  switch (guard) {
  case GUARD_VECTOR: return dtype.lanes != 1;
  case GUARD_INDEX: return tvms_dtype_is_index(dtype);
  case GUARD_OTHER: return !tvms_dtype_is_index(dtype);
  case GUARD_UNSIGNED:
    return dtype.code == TVMS_UINT && dtype.lanes == 1 && dtype.bits >= 32;
  default: return true;
  }
}

static bool exists_in(const tvms_rewrite_rule *rule, uint8_t dialect) {
  if (rule->where == SINCE) return dialect >= rule->release;
  if (rule->where == BEFORE) return dialect < rule->release;
  if (rule->where == ONLY_IN) return dialect == rule->release;
  return rule->where != NOT_IN || dialect != rule->release;
}

static tvms_node *TVMS_NULLABLE apply(tvms_simplifier *s, const tvms_rewrite_rule *rule,
                                      tvms_node *node) {
  match m = {.s = s, .unit = s->analyzer->unit, .subject = node};
  const uint8_t *at = tvms_rule_code + rule->pattern;
  if (!match_code(&m, &at, node)) return NULL;
  at = tvms_rule_code + rule->condition;
  if (rule->condition && !judge(&m, &at)) return NULL;
  at = tvms_rule_code + rule->result;
  tvms_node *result = build(&m, &at, NULL);
  return rule->again ? tvms_simplifier_revisit(s, result) : result;
}

static bool fits(uint8_t wanted, uint8_t kind) {
  return wanted == R_NOTHING || wanted == kind;
}

tvms_node *tvms_simplifier_apply_rules(tvms_simplifier *s, tvms_node *node) {
  const tvms_rules *rules = &tvms_rules_of[node->kind];
  uint8_t dialect = (uint8_t)s->analyzer->unit->dialect;
  if (tvms_analyzer_out_of_budget(s->analyzer)) return node;
  tvms_node *operands[3];
  int count = operands_of(node, operands);
  if (count == 0) return node;
  uint8_t first = operands[0]->kind, second = count > 1 ? operands[1]->kind : R_NOTHING;
  for (const tvms_rewrite_rule *rule = rules->begin; rule != rules->end; rule++) {
    if (!fits(rule->operands[0], first) || !fits(rule->operands[1], second)) continue;
    if (!exists_in(rule, dialect) || !guard_holds(rule->guard, node)) continue;
    tvms_node *result = rule->function ? rule->function(s, node) : apply(s, rule, node);
    if (result) return result;
  }
  return node;
}
