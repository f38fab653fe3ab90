// Modular sets: every value of an expression is coeff * k + base.
//
// Of i * 8 + 3 all values are 3 modulo 8, whatever i is: this tells that a division has no
// remainder where bounds cannot. coeff 0 is the constant base, coeff 1 says nothing. Bases
// are kept in [0, coeff). A condition such as x % 4 == 0 narrows the set of x inside its
// scope, and leaving the scope restores it. TVM: src/arith/modular_set.cc.
#include "arith/modular.h"

#include "arith/internal.h"
static tvms_modular set_of(tvms_analyzer *a, const tvms_node *node);

static const tvms_modular anything = {1, 0};

// Bases are kept in [0, coeff).
static tvms_modular make_set(int64_t coeff, int64_t base) {
  if (coeff < 0) coeff = coeff == INT64_MIN ? 1 : -coeff;
  if (coeff != 0) base = tvms_arith_floor_mod(base, coeff);
  return (tvms_modular){coeff, base};
}

static tvms_modular join(tvms_modular a, tvms_modular b) {
  int64_t coeff = tvms_arith_gcd(a.coeff, b.coeff);
  if (coeff == 0) return a.base == b.base ? a : anything;
  int64_t base_a = a.base % coeff, base_b = b.base % coeff;
  if (base_a == base_b) return make_set(coeff, base_a);
  return make_set(tvms_arith_gcd(tvms_arith_gcd(base_a, base_b), coeff), base_a);
}

// g = gcd(a, b) = a * x + b * y.
static int64_t extended_gcd(int64_t a, int64_t b, int64_t *x, int64_t *y) {
  int64_t s = 0, old_s = 1, r = b, old_r = a >= 0 ? a : -a;
  while (r != 0) {
    int64_t quotient = old_r / r, next;
    next = old_r - quotient * r;
    old_r = r;
    r = next;
    next = old_s - quotient * s;
    old_s = s;
    s = next;
  }
  *x = a >= 0 ? old_s : -old_s;
  *y = b != 0 ? (old_r - *x * a) / b : 1;
  return old_r;
}

static tvms_modular intersect(tvms_modular a, tvms_modular b) {
  int64_t x, y, gcd = extended_gcd(a.coeff, b.coeff, &x, &y);
  int64_t distance = b.base - a.base;
  if (gcd == 0 || distance % gcd != 0) return (tvms_modular){0, 1};
  int64_t k = tvms_arith_wrap_mul(distance / gcd, x);
  int64_t coeff = tvms_arith_wrap_mul(a.coeff / gcd, b.coeff);
  return make_set(coeff, tvms_arith_wrap_add(tvms_arith_wrap_mul(k, a.coeff), a.base));
}

static tvms_modular divide(tvms_analyzer *analyzer, tvms_node *dividend, int64_t by,
                           bool round_down) {
  tvms_modular a = set_of(analyzer, dividend);
  if (by == 0 || a.coeff % by != 0) return anything;
  if (a.base == 0) return make_set(a.coeff / by, 0);
  bool clear = a.base > 0 && by > 0
               && (round_down || tvms_analyzer_can_prove_ge(analyzer, dividend, 0));
  return clear ? make_set(a.coeff / by, a.base / by) : anything;
}

static tvms_modular remain(tvms_analyzer *analyzer, tvms_node *dividend, int64_t by,
                           bool round_down) {
  tvms_modular a = set_of(analyzer, dividend);
  int64_t coeff = tvms_arith_gcd(a.coeff, by);
  if (by == 0 || coeff == 0) return anything;
  bool clear =
      a.base % coeff == 0
      || (a.base > 0
          && (round_down || tvms_analyzer_can_prove_ge(analyzer, dividend, 0)));
  return clear ? make_set(coeff, a.base % coeff) : anything;
}

static tvms_modular set_of_product(tvms_modular a, tvms_modular b) {
  int64_t both = tvms_arith_wrap_mul(a.coeff, b.coeff);
  int64_t left = tvms_arith_wrap_mul(a.coeff, b.base);
  int64_t right = tvms_arith_wrap_mul(a.base, b.coeff);
  return make_set(tvms_arith_gcd(both, tvms_arith_gcd(left, right)),
                  tvms_arith_wrap_mul(a.base, b.base));
}

static tvms_modular set_of_binary(tvms_analyzer *analyzer, const tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  if (node->kind >= TVMS_NODE_EQ) return anything;
  tvms_modular b = set_of(analyzer, op->b);
  bool round_down =
      node->kind == TVMS_NODE_FLOOR_DIV || node->kind == TVMS_NODE_FLOOR_MOD;
  switch ((int)node->kind) {
  case TVMS_NODE_DIV:
  case TVMS_NODE_FLOOR_DIV:
    return b.coeff ? anything : divide(analyzer, op->a, b.base, round_down);
  case TVMS_NODE_MOD:
  case TVMS_NODE_FLOOR_MOD:
    return b.coeff ? anything : remain(analyzer, op->a, b.base, round_down);
  default: break;
  }
  tvms_modular a = set_of(analyzer, op->a);
  int64_t coeff = tvms_arith_gcd(a.coeff, b.coeff);
  switch ((int)node->kind) {
  case TVMS_NODE_ADD: return make_set(coeff, tvms_arith_wrap_add(a.base, b.base));
  case TVMS_NODE_SUB: return make_set(coeff, tvms_arith_wrap_sub(a.base, b.base));
  case TVMS_NODE_MUL: return set_of_product(a, b);
  default: return join(a, b);
  }
}

static tvms_modular set_of_call(tvms_analyzer *analyzer, const tvms_node *node) {
  tvms_tir_opcode op = tvms_arith_opcode(node);
  if (op != TVMS_TIR_shift_right && op != TVMS_TIR_bitwise_and) return anything;
  tvms_list args = tvms_as_call(node)->args;
  if (args.len != 2) return anything;
  tvms_modular b = set_of(analyzer, args.items[1]);
  if (b.coeff != 0 || b.base < 0) return anything;
  if (op == TVMS_TIR_shift_right) {
    if (b.base > 62) return anything;
    return divide(analyzer, args.items[0], (int64_t)1 << b.base, true);
  }
  bool mask = b.base < INT64_MAX && (b.base & (b.base + 1)) == 0;
  return mask ? remain(analyzer, args.items[0], b.base + 1, true) : anything;
}

static tvms_modular set_of_let(tvms_analyzer *analyzer, const tvms_node *node) {
  const tvms_let *let = tvms_as_let(node);
  tvms_var_facts *facts = tvms_analyzer_get_or_create_facts(analyzer, let->var);
  if (facts->has_modular) return set_of(analyzer, let->body);
  facts->modular = set_of(analyzer, let->value);
  facts->has_modular = true;
  tvms_modular result = set_of(analyzer, let->body);
  facts->has_modular = false;
  return result;
}

static tvms_modular set_of_inner(tvms_analyzer *analyzer, const tvms_node *node) {
  if (tvms_node_is_binary(node)) return set_of_binary(analyzer, node);
  switch ((int)node->kind) {
  case TVMS_NODE_INT_IMM: return (tvms_modular){0, tvms_as_int_imm(node)->value};
  case TVMS_NODE_CAST: return set_of(analyzer, tvms_as_cast(node)->value);
  case TVMS_NODE_CALL: return set_of_call(analyzer, node);
  case TVMS_NODE_LET: return set_of_let(analyzer, node);
  case TVMS_NODE_SELECT:
    return join(set_of(analyzer, tvms_as_select(node)->true_value),
                set_of(analyzer, tvms_as_select(node)->false_value));
  case TVMS_NODE_VAR: {
    const tvms_var_facts *facts = tvms_analyzer_find_facts(analyzer, node);
    return facts && facts->has_modular ? facts->modular : anything;
  }
  default: return anything;
  }
}

static tvms_modular set_of(tvms_analyzer *analyzer, const tvms_node *node) {
  analyzer->effort++;
  if (tvms_analyzer_out_of_budget(analyzer)) return anything;
  if (!tvms_memory_enter(analyzer->memory))
    tvms_memory_unwind(analyzer->memory, TVMS_OVER_LIMIT);
  tvms_modular set = set_of_inner(analyzer, node);
  tvms_memory_leave(analyzer->memory);
  return set;
}

tvms_modular tvms_analyzer_modular_set(tvms_analyzer *analyzer, const tvms_node *expr) {
  tvms_analyzer_begin_query(analyzer);
  tvms_modular set = set_of(analyzer, expr);
  tvms_analyzer_end_query(analyzer);
  return set;
}

// ---- Constraints ----

static void narrow(tvms_analyzer *analyzer, const tvms_node *var, tvms_modular set) {
  tvms_var_facts *facts = tvms_analyzer_get_or_create_facts(analyzer, var);
  tvms_modular old = facts->has_modular ? facts->modular : anything;
  tvms_modular_undo undo = {facts, facts->has_modular, facts->modular};
  tvms_vec_push(analyzer->memory, &analyzer->moduli, undo);
  facts->has_modular = true;
  facts->modular = intersect(old, set);
}

static bool is_var(const tvms_node *node) {
  return node->kind == TVMS_NODE_VAR;
}

void tvms_analyzer_enter_modular(tvms_analyzer *analyzer, const tvms_node *condition) {
  if (condition->kind != TVMS_NODE_EQ) return;
  const tvms_binary *op = tvms_as_binary(condition);
  const tvms_node *a = op->a, *b = op->b;
  bool mod = a->kind == TVMS_NODE_MOD || a->kind == TVMS_NODE_FLOOR_MOD;
  if (mod && b->kind == TVMS_NODE_INT_IMM) {
    const tvms_binary *rest = tvms_as_binary(a);
    if (!is_var(rest->a) || rest->b->kind != TVMS_NODE_INT_IMM) return;
    int64_t coeff = tvms_as_int_imm(rest->b)->value;
    narrow(analyzer, rest->a, make_set(coeff, tvms_as_int_imm(b)->value));
  } else if (is_var(a) && b->kind == TVMS_NODE_INT_IMM) {
    narrow(analyzer, a, make_set(1, tvms_as_int_imm(b)->value));
  } else if (is_var(b) && a->kind == TVMS_NODE_INT_IMM) {
    narrow(analyzer, b, make_set(1, tvms_as_int_imm(a)->value));
  }
}
