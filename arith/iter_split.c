// Quotients and remainders are splits of an iterator, if the divisor divides its extent; else the
// iterator is padded until it does. All divisors of a source must fit one padding, so the first
// round collects them and the second pads.
#include "arith/iter_split.h"

#include "arith/internal.h"
#include "ir/walk.h"

static const tvms_iter_value nothing = {0};

static tvms_iter_value expression(tvms_node *node) {
  return (tvms_iter_value){node, NULL};
}

static tvms_iter_value iterators(const tvms_iter_sum *sum) {
  return (tvms_iter_value){NULL, sum};
}

static const tvms_iter_sum *as_sum(tvms_iter_mapper *m, tvms_iter_value value) {
  return value.sum ? value.sum : tvms_iter_sum_new(m, NULL, 0, value.expr);
}

static tvms_node *build(tvms_iter_mapper *m, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_iter_build(m, kind, a, b);
}

static tvms_node *simplify(tvms_iter_mapper *m, tvms_node *node) {
  return tvms_analyzer_simplify(m->analyzer, node);
}

static tvms_iter_value fail(tvms_iter_mapper *m) {
  m->failed = true;
  return nothing;
}

// ---- Padding ----

static tvms_iter_padding *TVMS_NULLABLE find_padding(const tvms_iter_mapper *m,
                                                     const tvms_iter_mark *mark) {
  for (uint32_t i = 0; i < m->paddings.len; i++) {
    if (tvms_iter_mark_same(m->paddings.items[i].mark, mark))
      return &m->paddings.items[i];
  }
  return NULL;
}

// symbol * constant
static tvms_node *take_constant(tvms_iter_mapper *m, tvms_node *node,
                                int64_t *constant) {
  *constant = 1;
  if (node->kind == TVMS_NODE_INT_IMM) {
    *constant = tvms_as_int_imm(node)->value;
    return tvms_iter_number(m, node, 1);
  }
  if (node->kind != TVMS_NODE_MUL) return node;
  const tvms_binary *product = tvms_as_binary(node);
  if (product->b->kind == TVMS_NODE_INT_IMM) {
    *constant = tvms_as_int_imm(product->b)->value;
    return product->a;
  }
  if (product->a->kind != TVMS_NODE_INT_IMM) return node;
  *constant = tvms_as_int_imm(product->a)->value;
  return product->b;
}

static bool is_multiple(tvms_iter_mapper *m, tvms_node *a, tvms_node *b) {
  tvms_node *rest = build(m, TVMS_NODE_FLOOR_MOD, a, b);
  return tvms_analyzer_can_prove_equal(m->analyzer, rest, tvms_iter_number(m, rest, 0));
}

// A common multiple of both; of constants the least.
static tvms_node *common_multiple(tvms_iter_mapper *m, tvms_node *a, tvms_node *b) {
  int64_t of_a, of_b;
  tvms_node *rest_a = take_constant(m, a, &of_a), *rest_b = take_constant(m, b, &of_b);
  int64_t gcd = tvms_arith_gcd(of_a, of_b);
  int64_t lcm = gcd ? tvms_arith_wrap_mul(of_a / gcd, of_b) : 0;
  tvms_node *constant = tvms_iter_number(m, a, lcm < 0 ? -lcm : lcm);
  tvms_node *rest = rest_a;
  if (!tvms_analyzer_can_prove_equal(m->analyzer, rest_a, rest_b)
      && !is_multiple(m, rest_a, rest_b)) {
    rest = is_multiple(m, rest_b, rest_a) ? rest_b
                                          : build(m, TVMS_NODE_MUL, rest_a, rest_b);
  }
  return build(m, TVMS_NODE_MUL, rest, constant);
}

// What is missing behind `edge` to a multiple of the divisor.
static tvms_node *gap_behind(tvms_iter_mapper *m, tvms_node *edge, tvms_node *divisor) {
  if (tvms_iter_divides(m, edge, divisor)) return tvms_iter_number(m, edge, 0);
  tvms_node *minus = build(m, TVMS_NODE_SUB, tvms_iter_number(m, edge, 0), edge);
  return build(m, TVMS_NODE_FLOOR_MOD, minus, divisor);
}

static tvms_iter_split collect_padding(tvms_iter_mapper *m, tvms_iter_split split,
                                       tvms_node *divisor, tvms_node **left,
                                       tvms_node *right) {
  tvms_iter_padding *padding = find_padding(m, split.source);
  if (!padding) {
    tvms_iter_padding made = {split.source, tvms_iter_number(m, divisor, 1),
                              tvms_iter_number(m, divisor, 0), NULL};
    tvms_vec_push(m->memory, &m->paddings, made);
    padding = &m->paddings.items[m->paddings.len - 1];
  }
  tvms_node *whole = build(m, TVMS_NODE_MUL, divisor, split.lower_factor);
  padding->factor = common_multiple(m, padding->factor, whole);
  if (tvms_node_is_int(*left, 0) && tvms_node_is_int(right, 0)) return split;
  m->needs_padding = true;
  tvms_node *of_mark = build(m, TVMS_NODE_MUL, *left, split.lower_factor);
  padding->left = build(m, TVMS_NODE_MAX, padding->left, of_mark);
  tvms_node *extent = build(m, TVMS_NODE_ADD, *left, split.extent);
  split.extent = simplify(m, build(m, TVMS_NODE_ADD, extent, right));
  return split;
}

// A remainder that is below, or not below, where the elements begin or end.
static tvms_node *is_added(tvms_iter_mapper *m, tvms_node *source, tvms_node *factor,
                           tvms_node *edge, tvms_node_kind side) {
  tvms_node *at = build(m, TVMS_NODE_FLOOR_DIV, source, factor);
  tvms_node *edge_at = build(m, TVMS_NODE_FLOOR_DIV, edge, factor);
  tvms_node *rest = build(m, TVMS_NODE_FLOOR_MOD, source, factor);
  tvms_node *edge_rest = build(m, TVMS_NODE_FLOOR_MOD, edge, factor);
  if (side == TVMS_NODE_LT) {
    edge_at = tvms_iter_number(m, edge, 0);
    edge_rest = edge;
  }
  return build(m, TVMS_NODE_AND, build(m, TVMS_NODE_EQ, at, edge_at),
               build(m, side, rest, edge_rest));
}

// Adds to the condition of the mapper where the padded source stands on no element. TVM:
// IterMapRewriter::padding_predicate.
static void add_condition(tvms_iter_mapper *m, const tvms_iter_padding *padding,
                          tvms_node *edge, tvms_node *right) {
  tvms_node *source = tvms_iter_sum_write(m, padding->padded->sum);
  tvms_node *zero = tvms_iter_number(m, edge, 0);
  tvms_node *before = build(m, TVMS_NODE_NE, padding->left, zero);
  tvms_node *behind = build(m, TVMS_NODE_NE, right, zero);
  before = build(m, TVMS_NODE_AND, before,
                 is_added(m, source, padding->factor, padding->left, TVMS_NODE_LT));
  behind = build(m, TVMS_NODE_AND, behind,
                 is_added(m, source, padding->factor, edge, TVMS_NODE_GE));
  tvms_node *added = build(m, TVMS_NODE_OR, before, behind);
  m->padding = m->padding ? build(m, TVMS_NODE_OR, m->padding, added) : added;
}

// The padded source, made where it is met first.
static void pad_source(tvms_iter_mapper *m, tvms_iter_padding *padding) {
  if (padding->padded) return;
  tvms_iter_mark *mark = padding->mark;
  tvms_node *edge = build(m, TVMS_NODE_ADD, mark->extent, padding->left);
  tvms_node *right = gap_behind(m, edge, padding->factor);
  tvms_iter_mark *padded = tvms_arena_new(&m->unit->arena, tvms_iter_mark);
  *padded = (tvms_iter_mark){0};
  tvms_iter_split whole =
      tvms_iter_split_of(m, mark, tvms_iter_number(m, mark->extent, 1));
  padded->sum = tvms_iter_sum_new(m, &whole, 1, padding->left);
  padded->extent = simplify(m, build(m, TVMS_NODE_ADD, edge, right));
  padding->padded = padded;
  if (m->inverts) add_condition(m, padding, edge, right);
}

// A split whose source is not padded begins where its source does; TVM does not ask, and loses the base of a remainder.
static tvms_iter_split keep_source(tvms_iter_mapper *m, tvms_iter_split split,
                                   const tvms_node *left) {
  if (!tvms_node_is_int(left, 0)) m->failed = true;
  return split;
}

// The split with a source that the divisor divides; *left gets what is added in front of it.
static tvms_iter_split pad(tvms_iter_mapper *m, tvms_iter_split split, tvms_node *base,
                           tvms_node *divisor, tvms_node **left) {
  *left = simplify(m, build(m, TVMS_NODE_FLOOR_MOD, base, divisor));
  tvms_node *edge = build(m, TVMS_NODE_ADD, *left, split.extent);
  tvms_node *right = simplify(m, gap_behind(m, edge, divisor));
  if (m->collects) return collect_padding(m, split, divisor, left, right);
  tvms_iter_padding *padding = find_padding(m, split.source);
  if (!padding) return keep_source(m, split, *left);
  if (tvms_node_is_int(padding->left, 0)
      && tvms_iter_divides(m, padding->mark->extent, padding->factor))
    return keep_source(m, split, *left);
  // The greatest that is added in front for any index must begin the same step here; TVM does not ask, and moves the other indices.
  *left = build(m, TVMS_NODE_FLOOR_DIV, padding->left, split.lower_factor);
  tvms_node *moved = simplify(m, build(m, TVMS_NODE_SUB, base, *left));
  m->failed = !tvms_iter_divides(m, padding->left, split.lower_factor)
              || !is_multiple(m, moved, divisor);
  if (m->failed) return split;
  pad_source(m, padding);
  split.source = padding->padded;
  split.extent =
      build(m, TVMS_NODE_FLOOR_DIV, padding->padded->extent, split.lower_factor);
  return split;
}

// ---- Quotients and remainders ----

static tvms_iter_value one(tvms_iter_mapper *m, tvms_iter_split split,
                           tvms_node *base) {
  return iterators(tvms_iter_sum_new(m, &split, 1, base));
}

static tvms_node *zero_like(tvms_iter_mapper *m, const tvms_node *like) {
  return tvms_iter_number(m, like, 0);
}

static tvms_node *ceil_div(tvms_iter_mapper *m, tvms_node *a, tvms_node *b) {
  tvms_node *made = tvms_build_ceil_div(m->unit, a, b, TVMS_NO_SPAN);
  return made ? simplify(m, made) : a;
}

// A padded split divided.
static tvms_iter_split divided(tvms_iter_mapper *m, tvms_iter_split padded,
                               tvms_node *divisor) {
  tvms_iter_split made = {.source = padded.source, .scale = padded.scale};
  if (tvms_iter_divides(m, padded.extent, divisor)) {
    made.lower_factor = build(m, TVMS_NODE_MUL, padded.lower_factor, divisor);
    made.extent = simplify(m, build(m, TVMS_NODE_FLOOR_DIV, padded.extent, divisor));
    return made;
  }
  made.lower_factor = divisor;
  made.extent = ceil_div(m, padded.extent, divisor);
  if (tvms_node_is_int(padded.lower_factor, 1)
      && tvms_analyzer_can_prove_equal(m->analyzer, padded.extent,
                                       padded.source->extent))
    return made;
  tvms_iter_mark *mark = tvms_arena_new(&m->unit->arena, tvms_iter_mark);
  tvms_iter_split *part = tvms_arena_new(&m->unit->arena, tvms_iter_split);
  *part = padded;
  *mark = (tvms_iter_mark){.split = part, .extent = padded.extent};
  made.source = mark;
  made.scale = tvms_iter_number(m, divisor, 1);
  return made;
}

// Can a scale be taken out of what is divided? TVM does so with negative ones, too, and then pads on the wrong side.
static bool is_part(tvms_iter_mapper *m, tvms_node *scale, tvms_node *base,
                    tvms_node *divisor) {
  bool negative = scale->kind == TVMS_NODE_INT_IMM && tvms_as_int_imm(scale)->value < 0;
  return !negative && tvms_iter_divides(m, divisor, scale)
         && tvms_iter_divides(m, base, scale);
}

// (split + base) // divisor
static tvms_iter_value quotient(tvms_iter_mapper *m, tvms_iter_split split,
                                tvms_node *base, tvms_node *divisor) {
  if (tvms_node_is_int(divisor, 1)) return one(m, split, base);
  if (!tvms_node_is_int(split.scale, 1)) {
    bool whole = tvms_iter_divides(m, split.scale, divisor);
    if (whole && tvms_iter_divides(m, base, divisor)) {
      split.scale = build(m, TVMS_NODE_FLOOR_DIV, split.scale, divisor);
      return one(m, split, build(m, TVMS_NODE_FLOOR_DIV, base, divisor));
    }
    if (!is_part(m, split.scale, base, divisor)) return fail(m);
    base = build(m, TVMS_NODE_FLOOR_DIV, base, split.scale);
    divisor = build(m, TVMS_NODE_FLOOR_DIV, divisor, split.scale);
    split.scale = tvms_iter_number(m, divisor, 1);
  }
  tvms_node *left;
  tvms_iter_split padded = pad(m, split, base, divisor, &left);
  if (m->failed) return nothing;
  tvms_iter_split made = divided(m, padded, divisor);
  tvms_node *rest = build(m, TVMS_NODE_SUB, base, left);
  rest = build(m, TVMS_NODE_FLOOR_DIV, rest, divisor);
  return one(m, made, tvms_analyzer_simplify_steps(m->analyzer, rest, 6));
}

// (split + base) % divisor
static tvms_iter_value remainder_of(tvms_iter_mapper *m, tvms_iter_split split,
                                    tvms_node *base, tvms_node *divisor) {
  if (tvms_node_is_int(divisor, 1)) return expression(zero_like(m, divisor));
  if (!tvms_node_is_int(split.scale, 1)) {
    if (tvms_iter_divides(m, split.scale, divisor)
        && tvms_iter_divides(m, base, divisor))
      return expression(zero_like(m, divisor));
    if (!is_part(m, split.scale, base, divisor)) return fail(m);
    divisor = build(m, TVMS_NODE_FLOOR_DIV, divisor, split.scale);
    base = build(m, TVMS_NODE_FLOOR_DIV, base, split.scale);
  }
  tvms_node *left;
  tvms_iter_split padded = pad(m, split, base, divisor, &left);
  if (m->failed) return nothing;
  padded.extent = divisor;
  return one(m, padded, zero_like(m, divisor));
}

// ---- Expressions ----

static tvms_walk_step find_var(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const tvms_iter_mapper *m = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  bool found = node->kind == TVMS_NODE_VAR && tvms_node_map_get(&m->vars, node);
  return found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// What is made of no iterator stays; with one in it it is none.
static tvms_iter_value other(tvms_iter_mapper *m, tvms_node *node) {
  tvms_visitor visitor = {.self = m, .enter = find_var};
  return tvms_walk(m->memory, node, &visitor) ? expression(node) : fail(m);
}

static tvms_iter_value scaled(tvms_iter_mapper *m, const tvms_iter_sum *sum,
                              tvms_node *factor) {
  tvms_iter_sum *made = tvms_iter_sum_new(m, sum->args, sum->len, sum->base);
  for (uint32_t i = 0; i < made->len; i++)
    made->args[i].scale = build(m, TVMS_NODE_MUL, made->args[i].scale, factor);
  made->base = build(m, TVMS_NODE_MUL, made->base, factor);
  return iterators(made);
}

static tvms_iter_value divide(tvms_iter_mapper *m, const tvms_node *node,
                              tvms_iter_value a, tvms_iter_value b) {
  if (b.sum) return fail(m);
  const tvms_iter_sum *sum = a.sum;
  // Without a part TVM takes the expression as it is.
  if (sum->len == 0) return expression((tvms_node *)(uintptr_t)node);
  if (sum->len > 1) sum = tvms_iter_sum_fuse(m, sum, true);
  if (!sum || sum->len != 1) return fail(m);
  return node->kind == TVMS_NODE_FLOOR_DIV
             ? quotient(m, sum->args[0], sum->base, b.expr)
             : remainder_of(m, sum->args[0], sum->base, b.expr);
}

static tvms_iter_value operation(tvms_iter_mapper *m, tvms_node *node) {
  const tvms_binary *op = tvms_as_binary(node);
  tvms_iter_value a = tvms_iter_value_of(m, op->a);
  tvms_iter_value b = m->failed ? nothing : tvms_iter_value_of(m, op->b);
  if (m->failed) return nothing;
  tvms_node_kind kind = (tvms_node_kind)node->kind;
  if (!a.sum && !b.sum) {
    bool same = a.expr == op->a && b.expr == op->b;
    tvms_node *made = build(m, kind, a.expr, b.expr);
    bool folded = made->kind != kind || tvms_as_binary(made)->a != a.expr
                  || tvms_as_binary(made)->b != b.expr;
    return expression(same && !folded ? node : made);
  }
  switch ((int)kind) {
  case TVMS_NODE_ADD:
  case TVMS_NODE_SUB:
    return iterators(
        tvms_iter_sum_add(m, as_sum(m, a), as_sum(m, b), kind == TVMS_NODE_SUB));
  case TVMS_NODE_MUL:
    if (a.sum && b.sum) return fail(m);
    return a.sum ? scaled(m, a.sum, b.expr) : scaled(m, b.sum, a.expr);
  default: return a.sum ? divide(m, node, a, b) : fail(m);
  }
}

tvms_iter_value tvms_iter_value_of(tvms_iter_mapper *m, tvms_node *expr) {
  if (expr->kind == TVMS_NODE_VAR) {
    const void *sum = tvms_node_map_get(&m->vars, expr);
    return sum ? iterators(sum) : expression(expr);
  }
  bool affine = expr->kind == TVMS_NODE_ADD || expr->kind == TVMS_NODE_SUB
                || expr->kind == TVMS_NODE_MUL || expr->kind == TVMS_NODE_FLOOR_DIV
                || expr->kind == TVMS_NODE_FLOOR_MOD;
  if (!affine || !tvms_dtype_is_index(expr->dtype)) return other(m, expr);
  if (!tvms_memory_enter(m->memory)) tvms_memory_unwind(m->memory, TVMS_OVER_LIMIT);
  tvms_iter_value value = operation(m, expr);
  tvms_memory_leave(m->memory);
  return value;
}

const tvms_iter_sum *tvms_iter_sum_of(tvms_iter_mapper *m, tvms_node *expr) {
  tvms_iter_value value = tvms_iter_value_of(m, expr);
  const tvms_iter_sum *sum =
      m->failed ? tvms_iter_sum_new(m, NULL, 0, expr) : as_sum(m, value);
  if (sum->len == 0) return sum;
  const tvms_iter_sum *fused = tvms_iter_sum_fuse(m, sum, true);
  if (!fused) m->failed = true;
  return fused ? fused : sum;
}
