// A comparison is solved for a variable by moving everything else to the other side.
//
// With i * 4 + j < n and j over [0, 3] the sides are relaxed first, so that what holds holds
// for every j: i * 4 + 3 <= n - 1. Then each operator on the way to the variable is undone:
// i <= (n - 4) // 4. A factor turns the comparison if it is negative; one whose sign is not
// known ends the search, and so does any operator but + - * //.
// TVM: src/arith/bound_deducer.cc.
#include "arith/deduce_bound.h"

#include "arith/internal.h"
#include "ir/walk.h"

typedef enum { AT_LEAST, AT_MOST, EQUAL } relation;

typedef struct {
  tvms_unit *unit;
  tvms_analyzer *analyzer;
  const tvms_domains *hint;
  tvms_node *var;
  tvms_node *side;    // what is left on the side of the variable
  tvms_node *result;  // the other side
  relation relation;  // side RELATION result
} deduction;

static const tvms_int_set nothing = {.empty = true};

// Operands of different dtypes are brought together, as everywhere.
static tvms_node *build(deduction *d, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(d->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *plus(deduction *d, tvms_node *a, int64_t value) {
  tvms_node_kind kind = value < 0 ? TVMS_NODE_SUB : TVMS_NODE_ADD;
  tvms_node *number = tvms_arith_number(d->unit, a->dtype, value < 0 ? -value : value);
  return build(d, kind, a, number);
}

static tvms_node *negative(deduction *d, tvms_node *a) {
  return build(d, TVMS_NODE_SUB, tvms_arith_number(d->unit, a->dtype, 0), a);
}

static void turn(deduction *d) {
  if (d->relation != EQUAL) d->relation = d->relation == AT_LEAST ? AT_MOST : AT_LEAST;
}

typedef struct {
  const tvms_node *var;
  uint32_t count;
} use_count;

static tvms_walk_step count_use(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  use_count *uses = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  uses->count += node == uses->var;
  return TVMS_WALK_ON;
}

static uint32_t count_uses(deduction *d, tvms_node *node) {
  use_count uses = {.var = d->var};
  tvms_visitor visitor = {.self = &uses, .enter = count_use};
  tvms_walk(&d->unit->context->memory, node, &visitor);
  return uses.count;
}

// ---- The comparison as side RELATION result ----

static bool read_condition(deduction *d, const tvms_node *condition) {
  const tvms_binary *op = tvms_as_binary(condition);
  bool left = count_uses(d, op->a) > 0;
  d->side = left ? op->a : op->b;
  d->result = left ? op->b : op->a;
  switch ((int)condition->kind) {
  case TVMS_NODE_EQ: d->relation = EQUAL; return true;
  case TVMS_NODE_LT:
  case TVMS_NODE_LE: d->relation = left ? AT_MOST : AT_LEAST; break;
  case TVMS_NODE_GT:
  case TVMS_NODE_GE: d->relation = left ? AT_LEAST : AT_MOST; break;
  default: return false;
  }
  bool strict = condition->kind == TVMS_NODE_LT || condition->kind == TVMS_NODE_GT;
  if (strict) d->result = plus(d, d->result, d->relation == AT_LEAST ? 1 : -1);
  return true;
}

static bool is_one_value(deduction *d, tvms_int_set set) {
  return set.min && set.max
         && tvms_analyzer_can_prove(d->analyzer,
                                    build(d, TVMS_NODE_EQ, set.min, set.max));
}

// Both sides at their worst over the domains.
static bool relax_sides(deduction *d, const tvms_domains *relax) {
  tvms_int_set a = tvms_int_set_of_expr(relax, d->side);
  tvms_int_set b = tvms_int_set_of_expr(relax, d->result);
  if (a.empty || b.empty) return false;
  if (d->relation == EQUAL && (!is_one_value(d, a) || !is_one_value(d, b)))
    return false;
  bool least = d->relation == AT_LEAST;
  tvms_node *side = least ? a.min : a.max, *result = least ? b.max : b.min;
  if (!side || !result) return false;
  d->side = side;
  d->result = result;
  return true;
}

// ---- Undoing operators ----

// The sign of a factor or divisor: 1, -1, or 0 if it is not known.
static int sign_of(deduction *d, tvms_node *node) {
  if (tvms_dtype_is_uint(node->dtype)) return 1;
  tvms_int_set set = tvms_int_set_of_expr(d->hint, node);
  tvms_node *min = set.min ? tvms_arith_simplify(d->unit, set.min) : NULL;
  tvms_node *max = set.max ? tvms_arith_simplify(d->unit, set.max) : NULL;
  if (min && tvms_node_is_int_imm(min) && tvms_as_int_imm(min)->value > 0) return 1;
  if (max && tvms_node_is_int_imm(max) && tvms_as_int_imm(max)->value < 0) return -1;
  return 0;
}

static bool undo_product(deduction *d, tvms_node *factor) {
  int sign = sign_of(d, factor);
  if (sign == 0) return false;
  if (sign < 0) turn(d);
  tvms_node *rest = build(d, TVMS_NODE_FLOOR_MOD, d->result, factor);
  tvms_node *zero = tvms_arith_number(d->unit, rest->dtype, 0);
  bool divides =
      tvms_analyzer_can_prove(d->analyzer, build(d, TVMS_NODE_EQ, rest, zero));
  d->result = build(d, TVMS_NODE_FLOOR_DIV, d->result, factor);
  if (divides) return true;
  // The quotient is rounded down, which is too low for a lower bound.
  if (d->relation == AT_LEAST) d->result = plus(d, d->result, 1);
  return d->relation != EQUAL;
}

static bool undo_quotient(deduction *d, tvms_node *divisor) {
  int sign = sign_of(d, divisor);
  if (sign == 0 || d->relation == EQUAL) return false;
  if (sign < 0) {
    turn(d);
    divisor = negative(d, divisor);
    d->result = negative(d, d->result);
  }
  d->result = build(d, TVMS_NODE_MUL, d->result, divisor);
  if (d->relation == AT_MOST)
    d->result = plus(d, build(d, TVMS_NODE_ADD, d->result, divisor), -1);
  if (sign < 0) d->result = plus(d, build(d, TVMS_NODE_SUB, d->result, divisor), 1);
  return true;
}

// Takes the outermost operator off the side.
static bool undo(deduction *d) {
  if (!tvms_node_is_binary(d->side)) return false;
  const tvms_binary *op = tvms_as_binary(d->side);
  bool left = count_uses(d, op->a) > 0;
  tvms_node *other = left ? op->b : op->a;
  tvms_node_kind kind = (tvms_node_kind)d->side->kind;
  d->side = left ? op->a : op->b;
  switch ((int)kind) {
  case TVMS_NODE_ADD:
    d->result = build(d, TVMS_NODE_SUB, d->result, other);
    return true;
  case TVMS_NODE_SUB:
    d->result = build(d, left ? TVMS_NODE_ADD : TVMS_NODE_SUB, d->result, other);
    if (left) return true;
    d->result = negative(d, d->result);
    turn(d);
    return true;
  case TVMS_NODE_MUL: return undo_product(d, other);
  case TVMS_NODE_FLOOR_DIV: return left && undo_quotient(d, other);
  default: return false;
  }
}

static bool deduce(deduction *d, const tvms_domains *relax, tvms_node *condition) {
  bool compares = condition->kind >= TVMS_NODE_EQ && condition->kind <= TVMS_NODE_GE;
  if (!compares || count_uses(d, condition) != 1) return false;
  if (!read_condition(d, condition) || !relax_sides(d, relax)) return false;
  if (count_uses(d, d->side) == 0) return false;
  while (d->side != d->var) {
    if (!undo(d)) return false;
  }
  d->result = tvms_analyzer_simplify(d->analyzer, d->result);
  return true;
}

tvms_int_set tvms_domains_deduce_bound(const tvms_domains *hint,
                                       const tvms_domains *relax, tvms_node *var,
                                       tvms_node *condition) {
  deduction d = {.unit = hint->unit, .hint = hint, .var = var};
  d.analyzer = tvms_analyzer_new(d.unit);
  tvms_int_set set = nothing;
  if (deduce(&d, relax, condition)) {
    set = (tvms_int_set){.min = d.relation == AT_MOST ? NULL : d.result,
                         .max = d.relation == AT_LEAST ? NULL : d.result};
  }
  tvms_analyzer_free(d.analyzer);
  return set;
}
