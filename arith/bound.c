// Constant bounds of integer expressions: all values lie in [min, max].
//
// The bound of a node follows from those of its parts by interval arithmetic in which
// INT64_MAX and -INT64_MAX are infinities and overflow becomes one; then it is narrowed by
// every open condition about that same expression. A divisor is taken not to be 0. Results
// are TVM's, which are not always the tightest: they decide which rule applies, and so what
// is printed. TVM: src/arith/const_int_bound.cc.
#include "arith/bound.h"

#include "arith/internal.h"
#include "arith/modular.h"
#include "ir/equal.h"

#include <math.h>

static tvms_bound bound_of(tvms_analyzer *a, const tvms_node *node);

static int64_t min64(int64_t a, int64_t b) {
  return a < b ? a : b;
}
static int64_t max64(int64_t a, int64_t b) {
  return a > b ? a : b;
}

// ---- Arithmetic that knows infinities ----

static bool is_inf(int64_t value) {
  return value == TVMS_POS_INF || value == TVMS_NEG_INF;
}

static int64_t negate(int64_t a) {
  return a == INT64_MIN ? TVMS_POS_INF : -a;
}

static int64_t inf_add(int64_t a, int64_t b) {
  if (is_inf(a)) return a;
  if (is_inf(b)) return b;
  int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? TVMS_POS_INF : TVMS_NEG_INF;
}

static int64_t inf_mul(int64_t a, int64_t b) {
  int64_t product;
  if (!__builtin_mul_overflow(a, b, &product) && product != INT64_MIN) return product;
  return (a > 0) == (b > 0) ? TVMS_POS_INF : TVMS_NEG_INF;
}

static int64_t inf_trunc_div(int64_t a, int64_t b) {
  if (is_inf(a)) return b > 0 ? a : -a;
  return b == -1 ? negate(a) : a / b;
}

static int64_t inf_floor_div(int64_t a, int64_t b) {
  if (is_inf(a)) return b > 0 ? a : -a;
  return tvms_arith_floor_div(a, b);
}

static int64_t inf_shift_left(int64_t a, int64_t b) {
  if (is_inf(a)) return a;
  int used = a ? 64 - __builtin_clzll((unsigned long long)(a < 0 ? negate(a) : a)) : 0;
  return b < 64 - used ? (int64_t)((uint64_t)a << b) : TVMS_POS_INF;
}

static int64_t inf_shift_right(int64_t a, int64_t b) {
  if (is_inf(a)) return a;
  return b >= 0 && b < 64 ? a >> b : a < 0 ? -1 : 0;
}

static tvms_bound make_bound(int64_t min, int64_t max) {
  tvms_bound bound = {min, max};
  if (bound.min == TVMS_POS_INF) bound.min--;
  if (bound.max == TVMS_NEG_INF) bound.max++;
  return bound;
}

static tvms_bound join(tvms_bound a, tvms_bound b) {
  return (tvms_bound){min64(a.min, b.min), max64(a.max, b.max)};
}

static tvms_bound meet(tvms_bound a, tvms_bound b) {
  return (tvms_bound){max64(a.min, b.min), min64(a.max, b.max)};
}

static tvms_bound everything(tvms_dtype dtype) {
  bool whole = dtype.code == TVMS_INT || dtype.code == TVMS_UINT;
  if (dtype.code == TVMS_BOOL) return (tvms_bound){0, 1};
  if (!whole) return (tvms_bound){TVMS_NEG_INF, TVMS_POS_INF};
  int bits = dtype.bits - (dtype.code == TVMS_INT);
  int64_t top = bits >= 63 ? TVMS_POS_INF : ((int64_t)1 << bits) - 1;
  if (dtype.code == TVMS_UINT) return (tvms_bound){0, top};
  return (tvms_bound){bits >= 63 ? TVMS_NEG_INF : -top - 1, top};
}

// ---- Operators ----

// The hull of an operator that is monotonic in each operand.
static tvms_bound corners(tvms_bound a, tvms_bound b, int64_t (*op)(int64_t, int64_t)) {
  int64_t v1 = op(a.min, b.min), v2 = op(a.max, b.max);
  int64_t v3 = op(a.min, b.max), v4 = op(a.max, b.min);
  return (tvms_bound){min64(min64(v1, v2), min64(v3, v4)),
                      max64(max64(v1, v2), max64(v3, v4))};
}

// A divisor is never 0 in a valid program: a range from 0 begins at 1.
static tvms_bound divisor(tvms_bound b) {
  if (b.min == 0) {
    b.min = 1;
    b.max = max64(b.max, 1);
  }
  return b;
}

static tvms_bound divide(tvms_bound a, tvms_bound b, tvms_dtype dtype,
                         int64_t (*op)(int64_t, int64_t)) {
  b = divisor(b);
  if (b.min > 0 || b.max < 0) return corners(a, b, op);
  tvms_bound negative = b.min < 0 ? make_bound(b.min, -1) : everything(dtype);
  tvms_bound positive = b.max > 0 ? make_bound(1, b.max) : everything(dtype);
  // The whole range contains 0; its ends are not.
  if (negative.max == 0 || positive.min == 0) return everything(dtype);
  return join(corners(a, negative, op), corners(a, positive, op));
}

// What a known remainder of the dividend says about a remainder by a constant:
// non-negative results are base + k * gcd. Returns false if it says nothing.
// Releases before 0.26 do not take the base down below the divisor, and get ranges that end in front of where they begin: 10 * n + 12
// by 32 from 12 to 10, which makes (10 * n + 12) % 32 // 8 a 0.
static bool floor_mod_by_modular(tvms_analyzer *analyzer, const tvms_node *dividend,
                                 int64_t modulus, tvms_bound *result) {
  tvms_modular set = tvms_analyzer_modular_set(analyzer, dividend);
  int64_t step = tvms_arith_gcd(set.coeff, modulus);
  if (step <= 1) return false;
  const tvms_unit *unit = analyzer->unit;
  bool classic = !tvms_release_has(unit->dialect, TVMS_FACT_floormod_bounds_are_tight)
                 && !unit->context->lowers;
  int64_t base = tvms_arith_floor_mod(set.base, classic ? modulus : step);
  int64_t top = modulus - step + base;
  if (classic && top >= modulus) top -= modulus;
  *result = make_bound(base, top);
  return true;
}

static tvms_bound bound_floor_mod(tvms_analyzer *analyzer, const tvms_binary *op) {
  tvms_bound a = bound_of(analyzer, op->a), b = divisor(bound_of(analyzer, op->b));
  if (b.min <= 0) {
    tvms_bound range =
        make_bound(min64(0, inf_add(b.min, 1)), max64(0, inf_add(b.max, -1)));
    return meet(range, everything(op->head.dtype));
  }
  int64_t cap = inf_add(b.max, -1);
  tvms_bound plain = make_bound(0, a.min >= 0 ? min64(a.max, cap) : cap);
  if (a.min >= 0 && a.max < b.min) plain = a;
  tvms_bound tight;
  if (b.min != b.max || !floor_mod_by_modular(analyzer, op->a, b.min, &tight)) {
    return plain;
  }
  // Releases before 0.26 forgot what the dividend's own range says.
  return !tvms_release_has(analyzer->unit->dialect, TVMS_FACT_floormod_bounds_are_tight)
             ? tight
             : meet(plain, tight);
}

static tvms_bound trunc_mod_plain(tvms_bound a, tvms_bound b, int64_t cap) {
  if (a.min >= 0) return a.max < b.min ? a : make_bound(0, min64(a.max, cap));
  if (a.max < 0 && a.min > -b.min) return a;
  return make_bound(max64(a.min, -cap), min64(max64(a.max, 0), cap));
}

static tvms_bound bound_trunc_mod(tvms_analyzer *analyzer, const tvms_binary *op) {
  tvms_bound a = bound_of(analyzer, op->a), b = divisor(bound_of(analyzer, op->b));
  if (b.min <= 0) return everything(op->head.dtype);
  tvms_bound plain = trunc_mod_plain(a, b, inf_add(b.max, -1));
  tvms_bound tight;
  if (b.min != b.max || a.min < 0
      || !floor_mod_by_modular(analyzer, op->a, b.min, &tight)) {
    return plain;
  }
  return meet(plain, tight);
}

static tvms_bound bound_bits_and(tvms_bound a, tvms_bound b, tvms_dtype dtype) {
  if (a.min >= 0 && b.min >= 0) return make_bound(0, min64(a.max, b.max));
  if (b.min >= 0) return make_bound(0, b.max);
  if (a.min >= 0) return make_bound(0, a.max);
  return everything(dtype);
}

static tvms_bound bound_call(tvms_analyzer *analyzer, const tvms_node *node) {
  tvms_list args = tvms_as_call(node)->args;
  tvms_tir_opcode op = tvms_arith_opcode(node);
  bool known = op == TVMS_TIR_shift_left || op == TVMS_TIR_shift_right
               || op == TVMS_TIR_bitwise_and;
  if (!known || args.len != 2) return everything(node->dtype);
  tvms_bound a = bound_of(analyzer, args.items[0]);
  tvms_bound b = bound_of(analyzer, args.items[1]);
  if (op == TVMS_TIR_bitwise_and) return bound_bits_and(a, b, node->dtype);
  if (op == TVMS_TIR_shift_right) return corners(a, b, inf_shift_right);
  if (a.min < 0 || b.min < 0) return everything(node->dtype);
  return corners(a, b, inf_shift_left);
}

static tvms_bound bound_var(const tvms_analyzer *analyzer, const tvms_node *node) {
  const tvms_var_facts *facts = tvms_analyzer_find_facts(analyzer, node);
  if (facts && facts->has_bound) return facts->bound;
  if (node->flags & TVMS_FLAG_SIZE_VAR) return (tvms_bound){0, TVMS_POS_INF};
  return everything(node->dtype);
}

// int(ceil(log2(n))), which computed extents contain.
static const tvms_node *TVMS_NULLABLE ceil_log2_arg(const tvms_node *value) {
  if (tvms_arith_opcode(value) != TVMS_TIR_ceil) return NULL;
  const tvms_node *inner = tvms_as_call(value)->args.items[0];
  if (tvms_arith_opcode(inner) != TVMS_TIR_log2) return NULL;
  return tvms_as_call(inner)->args.items[0];
}

static tvms_bound bound_cast(tvms_analyzer *analyzer, const tvms_node *node) {
  const tvms_node *value = tvms_as_cast(node)->value;
  const tvms_node *log2_arg =
      tvms_dtype_is_int(node->dtype) ? ceil_log2_arg(value) : NULL;
  if (!log2_arg) return meet(bound_of(analyzer, value), everything(node->dtype));
  if (log2_arg->kind == TVMS_NODE_FLOAT_IMM) {
    int64_t bits = (int64_t)ceil(log2(tvms_as_float_imm(log2_arg)->value));
    return make_bound(bits, bits);
  }
  tvms_bound arg = bound_of(analyzer, log2_arg);
  if (arg.min < 1) return everything(node->dtype);
  tvms_bound logs = make_bound((int64_t)ceil(log2((double)arg.min)),
                               (int64_t)ceil(log2((double)arg.max)));
  return meet(logs, everything(node->dtype));
}

static tvms_bound bound_ramp(tvms_analyzer *analyzer, const tvms_node *node) {
  const tvms_ramp *ramp = tvms_as_ramp(node);
  tvms_bound base = bound_of(analyzer, ramp->base);
  if (node->dtype.lanes < 0) return everything(node->dtype);
  tvms_bound stride = bound_of(analyzer, ramp->stride);
  tvms_bound steps = {node->dtype.lanes - 1, node->dtype.lanes - 1};
  tvms_bound reach = corners(stride, steps, inf_mul);
  tvms_bound last = {inf_add(base.min, reach.min), inf_add(base.max, reach.max)};
  return join(base, last);
}

static tvms_bound bound_binary(tvms_analyzer *analyzer, const tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  if (node->kind == TVMS_NODE_FLOOR_MOD) return bound_floor_mod(analyzer, op);
  if (node->kind == TVMS_NODE_MOD) return bound_trunc_mod(analyzer, op);
  if (node->kind >= TVMS_NODE_EQ) return everything(node->dtype);
  tvms_bound a = bound_of(analyzer, op->a), b = bound_of(analyzer, op->b);
  switch ((int)node->kind) {
  case TVMS_NODE_ADD: return (tvms_bound){inf_add(a.min, b.min), inf_add(a.max, b.max)};
  case TVMS_NODE_SUB:
    return (tvms_bound){inf_add(a.min, negate(b.max)), inf_add(a.max, negate(b.min))};
  case TVMS_NODE_MUL: return corners(a, b, inf_mul);
  case TVMS_NODE_DIV: return divide(a, b, node->dtype, inf_trunc_div);
  case TVMS_NODE_FLOOR_DIV: return divide(a, b, node->dtype, inf_floor_div);
  case TVMS_NODE_MIN: return (tvms_bound){min64(a.min, b.min), min64(a.max, b.max)};
  default: return (tvms_bound){max64(a.min, b.min), max64(a.max, b.max)};
  }
}

static tvms_bound bound_let(tvms_analyzer *analyzer, const tvms_node *node) {
  const tvms_let *let = tvms_as_let(node);
  tvms_var_facts *facts = tvms_analyzer_get_or_create_facts(analyzer, let->var);
  if (facts->has_bound) return bound_of(analyzer, let->body);
  facts->bound = bound_of(analyzer, let->value);
  facts->has_bound = true;
  tvms_bound result = bound_of(analyzer, let->body);
  facts->has_bound = false;
  return result;
}

static tvms_bound bound_plain(tvms_analyzer *analyzer, const tvms_node *node) {
  if (tvms_node_is_binary(node)) return bound_binary(analyzer, node);
  switch ((int)node->kind) {
  case TVMS_NODE_INT_IMM: {
    int64_t value = tvms_as_int_imm(node)->value;
    return make_bound(value, value);
  }
  case TVMS_NODE_VAR: return bound_var(analyzer, node);
  case TVMS_NODE_CAST: return bound_cast(analyzer, node);
  case TVMS_NODE_CALL: return bound_call(analyzer, node);
  case TVMS_NODE_RAMP: return bound_ramp(analyzer, node);
  case TVMS_NODE_BROADCAST: return bound_of(analyzer, tvms_as_broadcast(node)->value);
  case TVMS_NODE_LET: return bound_let(analyzer, node);
  case TVMS_NODE_SELECT: {
    const tvms_select *select = tvms_as_select(node);
    return join(bound_of(analyzer, select->true_value),
                bound_of(analyzer, select->false_value));
  }
  default: return everything(node->dtype);
  }
}

static tvms_bound bound_of(tvms_analyzer *analyzer, const tvms_node *node) {
  analyzer->effort++;
  if (tvms_analyzer_out_of_budget(analyzer)) return everything(node->dtype);
  if (!tvms_memory_enter(analyzer->memory))
    tvms_memory_unwind(analyzer->memory, TVMS_OVER_LIMIT);
  tvms_bound bound = bound_plain(analyzer, node);
  for (uint32_t i = 0; i < analyzer->bounds.len; i++) {
    const tvms_bound_fact *fact = &analyzer->bounds.items[i];
    if (tvms_node_same_expr(fact->expr, node)) bound = meet(bound, fact->bound);
  }
  tvms_memory_leave(analyzer->memory);
  return bound;
}

tvms_bound tvms_analyzer_const_int_bound(tvms_analyzer *analyzer,
                                         const tvms_node *expr) {
  tvms_analyzer_begin_query(analyzer);
  tvms_bound bound = bound_of(analyzer, expr);
  tvms_analyzer_end_query(analyzer);
  return bound;
}

// ---- Constraints ----

static void add_bound(tvms_analyzer *analyzer, const tvms_node *expr, int64_t min,
                      int64_t max) {
  if (expr->kind == TVMS_NODE_INT_IMM) return;
  tvms_bound_fact fact = {expr, make_bound(min, max)};
  tvms_vec_push(analyzer->memory, &analyzer->bounds, fact);
}

static bool int_value(const tvms_node *node, int64_t *value) {
  if (node->kind != TVMS_NODE_INT_IMM) return false;
  *value = tvms_as_int_imm(node)->value;
  return true;
}

static void add_comparison(void *self, tvms_node *part) {
  tvms_analyzer *analyzer = self;
  if (part->kind < TVMS_NODE_EQ || part->kind > TVMS_NODE_GE) return;
  const tvms_binary *op = tvms_as_binary(part);
  int64_t c;
  bool right = int_value(op->b, &c);
  if (!right && !int_value(op->a, &c)) return;
  const tvms_node *expr = right ? op->a : op->b;
  int kind = part->kind;
  // Read as `expr OP c`.
  if (!right && kind >= TVMS_NODE_LT) {
    static const uint8_t flipped[] = {TVMS_NODE_GT, TVMS_NODE_GE, TVMS_NODE_LT,
                                      TVMS_NODE_LE};
    kind = flipped[kind - TVMS_NODE_LT];
  }
  if (kind == TVMS_NODE_EQ) add_bound(analyzer, expr, c, c);
  if (kind == TVMS_NODE_GE) add_bound(analyzer, expr, c, TVMS_POS_INF);
  if (kind == TVMS_NODE_GT) add_bound(analyzer, expr, inf_add(c, 1), TVMS_POS_INF);
  if (kind == TVMS_NODE_LE) add_bound(analyzer, expr, TVMS_NEG_INF, c);
  if (kind == TVMS_NODE_LT) add_bound(analyzer, expr, TVMS_NEG_INF, inf_add(c, -1));
}

void tvms_analyzer_enter_bounds(tvms_analyzer *analyzer, tvms_node *condition) {
  tvms_arith_each_conjunct(condition, add_comparison, analyzer);
}
