// Values of expressions in one iteration of a path, their bounds over all iterations, and
// the loops that they depend on.
//
// Arithmetic is that of the IR: values that their type cannot hold are unknown, and so is all
// that needs memory. `and`, `or`, T.Select and T.if_then_else are decided by what decides
// them, whatever the rest is.
#include "lint/body_eval.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold_const.h"
#include "ir/walk.h"

typedef tvms_lint_value value;
typedef tvms_lint_range range;

static const range everything = {INT64_MIN, INT64_MAX};

static const tvms_lint_definition *TVMS_NULLABLE find(const tvms_lint_path *path,
                                                      const tvms_node *var) {
  if (var->id >= path->places.len) return NULL;
  uint32_t place = path->places.items[var->id];
  if (place == 0 || place > path->definitions.len) return NULL;
  const tvms_lint_definition *found = &path->definitions.items[place - 1];
  return found->var == var ? found : NULL;
}

// ---- Loops ----

// Loads may stand in the indices of loads, and each index is looked at for itself: of a large one the rest is not.
enum { MOST_NODES = 256 };

typedef struct {
  const tvms_lint_path *path;
  uint64_t loops;
  uint32_t seen;  // nodes
} collection;

static tvms_walk_step collect(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  collection *c = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  const tvms_lint_definition *found =
      node->kind == TVMS_NODE_VAR ? find(c->path, node) : NULL;
  if (found) c->loops |= found->loops;
  if (++c->seen < MOST_NODES) return TVMS_WALK_ON;
  c->loops = UINT64_MAX;
  return TVMS_WALK_STOP;
}

uint64_t tvms_lint_path_loops_of(const tvms_lint_path *path, const tvms_node *expr) {
  uint64_t loops = 0;
  // Sums and comparisons lean to the left.
  for (; tvms_node_is_binary(expr); expr = tvms_as_binary(expr)->a) {
    const tvms_node *b = tvms_as_binary(expr)->b;
    if (b->kind == TVMS_NODE_INT_IMM) continue;
    if (!tvms_memory_enter(path->memory))
      tvms_memory_unwind(path->memory, TVMS_OVER_LIMIT);
    loops |= tvms_lint_path_loops_of(path, b);
    tvms_memory_leave(path->memory);
  }
  if (expr->kind == TVMS_NODE_INT_IMM) return loops;
  if (expr->kind == TVMS_NODE_VAR) {
    const tvms_lint_definition *found = find(path, expr);
    return found ? loops | found->loops : loops;
  }
  collection c = {.path = path, .loops = loops};
  tvms_visitor visitor = {.self = &c, .enter = collect};
  (void)tvms_walk(path->memory, (tvms_node *)(uintptr_t)expr, &visitor);
  return c.loops;
}

static tvms_walk_step find_remainder(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)role;
  collection *c = self;
  const tvms_lint_path *path = c->path;
  if (node->kind == TVMS_NODE_FLOOR_MOD || node->kind == TVMS_NODE_MOD)
    return TVMS_WALK_STOP;
  if (++c->seen == MOST_NODES) return TVMS_WALK_STOP;
  if (node->kind != TVMS_NODE_VAR) return TVMS_WALK_ON;
  const tvms_lint_definition *found = find(path, node);
  return found && found->jagged ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_lint_path_is_jagged(const tvms_lint_path *path, const tvms_node *expr) {
  collection c = {.path = path};
  tvms_visitor visitor = {.self = &c, .enter = find_remainder};
  return !tvms_walk(path->memory, (tvms_node *)(uintptr_t)expr, &visitor);
}

// ---- Bounds ----

static bool is_infinite(int64_t end) {
  return end == INT64_MIN || end == INT64_MAX;
}

static range sum(range a, range b, bool minus) {
  if (minus) {
    int64_t min = is_infinite(b.max) ? INT64_MIN : -b.max;
    b.max = is_infinite(b.min) ? INT64_MAX : -b.min;
    b.min = min;
  }
  range r = everything;
  bool open = is_infinite(a.min) || is_infinite(b.min);
  if (open || __builtin_add_overflow(a.min, b.min, &r.min)) r.min = INT64_MIN;
  open = is_infinite(a.max) || is_infinite(b.max);
  if (open || __builtin_add_overflow(a.max, b.max, &r.max)) r.max = INT64_MAX;
  return r;
}

static range product(range a, range b) {
  bool open = is_infinite(a.min) || is_infinite(a.max);
  if (open || b.min != b.max) return everything;
  int64_t x, y;
  if (__builtin_mul_overflow(a.min, b.min, &x)) return everything;
  if (__builtin_mul_overflow(a.max, b.min, &y)) return everything;
  return x < y ? (range){x, y} : (range){y, x};
}

static range quotient(range a, range b, bool floors) {
  if (b.min != b.max || b.min < 1 || (!floors && a.min < 0)) return everything;
  if (!is_infinite(a.min)) a.min = tvms_fold_int_floor_div(a.min, b.min);
  if (!is_infinite(a.max)) a.max = tvms_fold_int_floor_div(a.max, b.min);
  return a;
}

static range remainder_of(range a, range b, bool floors) {
  if (b.min != b.max || b.min < 1 || (!floors && a.min < 0)) return everything;
  int64_t size = b.min;
  bool closed = !is_infinite(a.min) && !is_infinite(a.max);
  if (closed
      && tvms_fold_int_floor_div(a.min, size) == tvms_fold_int_floor_div(a.max, size))
    return (range){tvms_fold_int_floor_mod(a.min, size),
                   tvms_fold_int_floor_mod(a.max, size)};
  return (range){0, size - 1};
}

static range hull(range a, range b) {
  return (range){a.min < b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
}

static range range_of_binary(const tvms_lint_path *path, const tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  if (node->kind >= TVMS_NODE_EQ) return (range){0, 1};
  range a = tvms_lint_path_range(path, op->a), b = tvms_lint_path_range(path, op->b);
  switch ((int)node->kind) {
  case TVMS_NODE_ADD: return sum(a, b, false);
  case TVMS_NODE_SUB: return sum(a, b, true);
  case TVMS_NODE_MUL: return a.min == a.max ? product(b, a) : product(a, b);
  case TVMS_NODE_DIV:
  case TVMS_NODE_FLOOR_DIV: return quotient(a, b, node->kind == TVMS_NODE_FLOOR_DIV);
  case TVMS_NODE_MOD:
  case TVMS_NODE_FLOOR_MOD:
    return remainder_of(a, b, node->kind == TVMS_NODE_FLOOR_MOD);
  case TVMS_NODE_MIN:
    return (range){a.min < b.min ? a.min : b.min, a.max < b.max ? a.max : b.max};
  default: return (range){a.min > b.min ? a.min : b.min, a.max > b.max ? a.max : b.max};
  }
}

static range range_of_ramp(const tvms_lint_path *path, const tvms_node *node) {
  const tvms_ramp *ramp = tvms_as_ramp(node);
  if (node->dtype.lanes < 1) return everything;
  range last = {node->dtype.lanes - 1, node->dtype.lanes - 1};
  range base = tvms_lint_path_range(path, ramp->base);
  range reach = product(last, tvms_lint_path_range(path, ramp->stride));
  return hull(base, sum(base, reach, false));
}

static range range_of_call(const tvms_lint_path *path, const tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  switch ((int)tvms_call_opcode(node)) {
  case TVMS_TIR_likely: return tvms_lint_path_range(path, call->args.items[0]);
  case TVMS_TIR_if_then_else:
    if (call->args.len != 3) return everything;
    return hull(tvms_lint_path_range(path, call->args.items[1]),
                tvms_lint_path_range(path, call->args.items[2]));
  case TVMS_TIR_bitwise_and: {
    range b = tvms_lint_path_range(path, call->args.items[1]);
    return b.min == b.max && b.min >= 0 ? (range){0, b.min} : everything;
  }
  default: return everything;
  }
}

static range range_inner(const tvms_lint_path *path, const tvms_node *node) {
  if (tvms_node_is_binary(node)) return range_of_binary(path, node);
  switch ((int)node->kind) {
  case TVMS_NODE_INT_IMM: {
    int64_t number = tvms_as_int_imm(node)->value;
    return node->flags & TVMS_FLAG_LARGE ? everything : (range){number, number};
  }
  case TVMS_NODE_VAR: {
    const tvms_lint_definition *found = find(path, node);
    return found ? found->range : everything;
  }
  case TVMS_NODE_CAST: {
    const tvms_node *inner = tvms_as_cast(node)->value;
    bool wide = tvms_dtype_is_int(node->dtype)
                && (tvms_dtype_is_int(inner->dtype) || tvms_dtype_is_bool(inner->dtype))
                && node->dtype.bits >= inner->dtype.bits;
    return wide ? tvms_lint_path_range(path, inner) : everything;
  }
  case TVMS_NODE_RAMP: return range_of_ramp(path, node);
  case TVMS_NODE_BROADCAST:
    return tvms_lint_path_range(path, tvms_as_broadcast(node)->value);
  case TVMS_NODE_SELECT:
    return hull(tvms_lint_path_range(path, tvms_as_select(node)->true_value),
                tvms_lint_path_range(path, tvms_as_select(node)->false_value));
  case TVMS_NODE_CALL: return range_of_call(path, node);
  default: return everything;
  }
}

tvms_lint_range tvms_lint_path_range(const tvms_lint_path *path,
                                     const tvms_node *expr) {
  if (!tvms_memory_enter(path->memory))
    tvms_memory_unwind(path->memory, TVMS_OVER_LIMIT);
  range result = range_inner(path, expr);
  tvms_memory_leave(path->memory);
  return result;
}

bool tvms_lint_path_is_below(const tvms_lint_path *path, const tvms_node *expr,
                             const tvms_node *extent) {
  if (expr->kind != TVMS_NODE_VAR) return false;
  const tvms_lint_definition *found = find(path, expr);
  if (!found || !found->extent) return false;
  return found->extent == extent || tvms_node_same_expr(found->extent, extent);
}

// Does the condition say that `expr` is less than `end`?
static bool says_below(const tvms_lint_path *path, const tvms_node *condition,
                       const tvms_node *expr, int64_t end) {
  if (condition->kind == TVMS_NODE_AND) {
    const tvms_binary *both = tvms_as_binary(condition);
    return says_below(path, both->a, expr, end) || says_below(path, both->b, expr, end);
  }
  if (condition->kind != TVMS_NODE_LT) return false;
  const tvms_binary *less = tvms_as_binary(condition);
  return tvms_lint_path_range(path, less->b).max <= end
         && tvms_node_same_expr(less->a, expr);
}

bool tvms_lint_path_is_guarded(const tvms_lint_path *path, const tvms_node *expr,
                               int64_t end) {
  for (uint32_t i = path->conditions.len; i-- > 0;) {
    const tvms_lint_condition *condition = &path->conditions.items[i];
    if (condition->kind == TVMS_LINT_HOLDS
        && says_below(path, condition->expr, expr, end))
      return true;
  }
  return false;
}

// ---- Values ----

static value truth(bool is) {
  return tvms_lint_constant(is);
}

// `difference` compared with 0.
static value compare(tvms_node_kind kind, const value *difference) {
  bool less = tvms_lint_at_most(difference, -1);
  bool most = tvms_lint_at_most(difference, 0);
  bool greater = tvms_lint_at_least(difference, 1);
  bool least = tvms_lint_at_least(difference, 0);
  value zero = tvms_lint_constant(0);
  bool same = tvms_lint_same(difference, &zero);
  bool yes = false, no = false;
  switch ((int)kind) {
  case TVMS_NODE_LT: yes = less, no = least; break;
  case TVMS_NODE_LE: yes = most, no = greater; break;
  case TVMS_NODE_GT: yes = greater, no = most; break;
  case TVMS_NODE_GE: yes = least, no = less; break;
  case TVMS_NODE_EQ: yes = same, no = less || greater; break;
  default: yes = less || greater, no = same; break;
  }
  return yes || no ? truth(yes) : tvms_lint_unknown();
}

// A sum of symbols divided by a constant that divides all factors.
static value divide(const value *a, int64_t by, bool quotient_wanted) {
  value whole = *a;
  for (uint32_t i = 0; i < whole.count; i++) {
    if (whole.terms[i].factor % by != 0) return tvms_lint_unknown();
    whole.terms[i].factor /= by;
  }
  if (!quotient_wanted)
    return tvms_lint_constant(tvms_fold_int_floor_mod(a->constant, by));
  whole.constant = tvms_fold_int_floor_div(a->constant, by);
  return whole;
}

static value arithmetic(tvms_node_kind kind, const value *a, const value *b) {
  if (!a->known || !b->known) return tvms_lint_unknown();
  switch ((int)kind) {
  case TVMS_NODE_ADD: return tvms_lint_add(*a, *b, 1);
  case TVMS_NODE_SUB: return tvms_lint_add(*a, *b, -1);
  case TVMS_NODE_MUL:
    if (a->count == 0) return tvms_lint_scale(*b, a->constant);
    if (b->count == 0) return tvms_lint_scale(*a, b->constant);
    return tvms_lint_unknown();
  case TVMS_NODE_DIV:
  case TVMS_NODE_MOD:
    if (!tvms_lint_at_least(a, 0)) return tvms_lint_unknown();
    // fall through
  case TVMS_NODE_FLOOR_DIV:
  case TVMS_NODE_FLOOR_MOD:
    if (b->count || b->constant < 1) return tvms_lint_unknown();
    return divide(a, b->constant, kind == TVMS_NODE_DIV || kind == TVMS_NODE_FLOOR_DIV);
  default: {
    value difference = tvms_lint_add(*a, *b, -1);
    bool least = tvms_lint_at_least(&difference, 0);
    if (!least && !tvms_lint_at_most(&difference, 0)) return tvms_lint_unknown();
    return least == (kind == TVMS_NODE_MAX) ? *a : *b;
  }
  }
}

static value fitting(tvms_dtype dtype, value v) {
  if (!tvms_lint_is_constant(&v)) return v;
  dtype.lanes = 1;
  return tvms_fold_int_fits(dtype, v.constant) ? v : tvms_lint_unknown();
}

// Is it `wanted` for certain?
static bool is_truth(const value *v, bool wanted) {
  return tvms_lint_is_constant(v) && (v->constant != 0) == wanted;
}

static value value_of_binary(tvms_lint_path *path, const tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  tvms_node_kind kind = (tvms_node_kind)node->kind;
  if (kind < TVMS_NODE_AND
      && (tvms_dtype_is_real(op->a->dtype) || tvms_dtype_is_real(op->b->dtype)))
    return tvms_lint_unknown();
  value a = tvms_lint_path_value(path, op->a), b = tvms_lint_path_value(path, op->b);
  if (kind == TVMS_NODE_AND || kind == TVMS_NODE_OR) {
    bool deciding = kind == TVMS_NODE_OR;
    if (is_truth(&a, deciding) || is_truth(&b, deciding)) return truth(deciding);
    bool both = is_truth(&a, !deciding) && is_truth(&b, !deciding);
    return both ? truth(!deciding) : tvms_lint_unknown();
  }
  if (kind >= TVMS_NODE_EQ) {
    value difference = tvms_lint_add(a, b, -1);
    return difference.known ? compare(kind, &difference) : difference;
  }
  return fitting(node->dtype, arithmetic(kind, &a, &b));
}

static value chosen(tvms_lint_path *path, const tvms_node *condition,
                    const tvms_node *yes, const tvms_node *no) {
  value which = tvms_lint_path_value(path, condition);
  if (!tvms_lint_is_constant(&which)) return tvms_lint_unknown();
  return tvms_lint_path_value(path, which.constant ? yes : no);
}

static value bits_of(tvms_tir_opcode opcode, int64_t a, int64_t b) {
  bool shifts = opcode == TVMS_TIR_shift_left || opcode == TVMS_TIR_shift_right;
  if (a < 0 || b < 0 || (shifts && b > 31)) return tvms_lint_unknown();
  switch ((int)opcode) {
  case TVMS_TIR_bitwise_and: return tvms_lint_constant(a & b);
  case TVMS_TIR_bitwise_or: return tvms_lint_constant(a | b);
  case TVMS_TIR_bitwise_xor: return tvms_lint_constant(a ^ b);
  case TVMS_TIR_shift_right: return tvms_lint_constant(a >> b);
  default: return tvms_lint_scale(tvms_lint_constant(a), (int64_t)1 << b);
  }
}

static value value_of_call(tvms_lint_path *path, const tvms_node *node) {
  const tvms_list args = tvms_as_call(node)->args;
  tvms_tir_opcode opcode = tvms_call_opcode(node);
  switch ((int)opcode) {
  case TVMS_TIR_likely: return tvms_lint_path_value(path, args.items[0]);
  case TVMS_TIR_if_then_else:
    if (args.len != 3) return tvms_lint_unknown();
    return chosen(path, args.items[0], args.items[1], args.items[2]);
  case TVMS_TIR_bitwise_and:
  case TVMS_TIR_bitwise_or:
  case TVMS_TIR_bitwise_xor:
  case TVMS_TIR_shift_left:
  case TVMS_TIR_shift_right: {
    if (args.len != 2) return tvms_lint_unknown();
    value a = tvms_lint_path_value(path, args.items[0]);
    value b = tvms_lint_path_value(path, args.items[1]);
    if (!tvms_lint_is_constant(&a) || !tvms_lint_is_constant(&b))
      return tvms_lint_unknown();
    return fitting(node->dtype, bits_of(opcode, a.constant, b.constant));
  }
  default: return tvms_lint_unknown();
  }
}

static value value_of_loop(tvms_lint_path *path, const tvms_lint_loop *loop) {
  value first =
      loop->min ? tvms_lint_path_value(path, loop->min) : tvms_lint_constant(0);
  value step =
      loop->step ? tvms_lint_path_value(path, loop->step) : tvms_lint_constant(1);
  if (!tvms_lint_is_constant(&step) || step.constant < 1) return tvms_lint_unknown();
  value steps = tvms_lint_constant(loop->steps);
  if (loop->from_end) {
    value rest = tvms_lint_add(tvms_lint_path_value(path, loop->extent),
                               tvms_lint_constant(1), -1);
    if (step.constant > 1) {
      if (!tvms_lint_is_constant(&rest)) return tvms_lint_unknown();
      rest = tvms_lint_constant(rest.constant / step.constant);
    }
    steps = tvms_lint_add(rest, steps, -1);
  }
  return tvms_lint_add(first, steps, step.constant);
}

// What a variable is costs one evaluation for each choice of iterations.
static value value_of_var(tvms_lint_path *path, const tvms_node *var) {
  const tvms_lint_definition *found = find(path, var);
  if (!found) {
    bool positive = var->id < path->positive.len && path->positive.items[var->id] != 0;
    return tvms_lint_symbol(var, positive);
  }
  if (tvms_lint_path_is_fresh(path, found->epoch, found->loops)) return found->value;
  value result = found->expr ? tvms_lint_path_value(path, found->expr)
                             : value_of_loop(path, &path->loops.items[found->loop]);
  tvms_lint_definition *definition =
      &path->definitions.items[found - path->definitions.items];
  definition->epoch = path->epoch;
  definition->value = result;
  return result;
}

static value value_of_cast(tvms_lint_path *path, const tvms_node *node) {
  const tvms_node *inner = tvms_as_cast(node)->value;
  bool integers = !tvms_dtype_is_real(inner->dtype) && !tvms_dtype_is_real(node->dtype);
  if (!integers) return tvms_lint_unknown();
  return fitting(node->dtype, tvms_lint_path_value(path, inner));
}

static value value_inner(tvms_lint_path *path, const tvms_node *node) {
  if (tvms_node_is_binary(node)) return value_of_binary(path, node);
  switch ((int)node->kind) {
  case TVMS_NODE_INT_IMM:
    if (node->flags & TVMS_FLAG_LARGE) return tvms_lint_unknown();
    return tvms_lint_constant(tvms_as_int_imm(node)->value);
  case TVMS_NODE_VAR: return value_of_var(path, node);
  case TVMS_NODE_CAST: return value_of_cast(path, node);
  case TVMS_NODE_NOT: {
    value a = tvms_lint_path_value(path, tvms_as_not(node)->a);
    return tvms_lint_is_constant(&a) ? truth(a.constant == 0) : tvms_lint_unknown();
  }
  case TVMS_NODE_SELECT: {
    const tvms_select *select = tvms_as_select(node);
    return chosen(path, select->condition, select->true_value, select->false_value);
  }
  case TVMS_NODE_CALL: return value_of_call(path, node);
  case TVMS_NODE_BROADCAST:
    return tvms_lint_path_value(path, tvms_as_broadcast(node)->value);
  case TVMS_NODE_RAMP: {
    const tvms_ramp *ramp = tvms_as_ramp(node);
    if (node->dtype.lanes < 1) return tvms_lint_unknown();
    value base = tvms_lint_path_value(path, ramp->base);
    if (!path->last_lane) return base;
    return tvms_lint_add(base, tvms_lint_path_value(path, ramp->stride),
                         node->dtype.lanes - 1);
  }
  default: return tvms_lint_unknown();
  }
}

tvms_lint_value tvms_lint_path_value(tvms_lint_path *path, const tvms_node *expr) {
  if (expr->kind == TVMS_NODE_INT_IMM) return value_inner(path, expr);
  if (!tvms_memory_enter(path->memory))
    tvms_memory_unwind(path->memory, TVMS_OVER_LIMIT);
  value result = value_inner(path, expr);
  tvms_memory_leave(path->memory);
  return result;
}
