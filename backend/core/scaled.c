// Recognising products by powers of two.
#include "backend/core/scaled.h"

#include "ir/build.h"
#include "ir/tir_op.h"
#include "ir/walk.h"

#include <math.h>

enum {
  DEEPEST = 24,  // of a polynomial
  NEAR = 20,     // p is between 2^-20 and 2^20
};

// ---- Variables ----

static tvms_walk_step see_binding(void *self, tvms_node *node, tvms_field_role role) {
  const tvms_node **bindings = self;
  (void)role;
  if (node->kind == TVMS_NODE_BIND)
    bindings[tvms_as_bind(node)->var->id] = tvms_as_bind(node)->value;
  return TVMS_WALK_ON;
}

const tvms_node *const *tvms_scaled_bindings(tvms_context *context, tvms_node *body,
                                             uint32_t ids) {
  const tvms_node **bindings =
      tvms_arena_array(&context->scratch, const tvms_node *, ids);
  tvms_visitor visitor = {.self = bindings, .enter = see_binding};
  tvms_walk(&context->memory, body, &visitor);
  return bindings;
}

// What is known of the product at hand.
typedef struct {
  const tvms_node *const *bindings;
  int mantissa, bias;      // of its type
  const tvms_node *y, *t;  // variables
  double least_y, most_y, step, rounder;
  double least_n, most_n;
  bool has_rest;  // the factor depends on y
} reader;

static const tvms_node *value_of(const reader *r, const tvms_node *node) {
  const tvms_node *value = node->kind == TVMS_NODE_VAR ? r->bindings[node->id] : NULL;
  return value ? value : node;
}

// ---- Nodes ----

// The arguments of a call of an operator, or NULL.
static tvms_node *const *TVMS_NULLABLE args_of(const tvms_node *node,
                                               tvms_tir_opcode opcode, uint32_t count) {
  if (tvms_call_opcode(node) != opcode) return NULL;
  tvms_list args = tvms_as_call(node)->args;
  return args.len == count ? args.items : NULL;
}

static const tvms_binary *TVMS_NULLABLE binary_of(const tvms_node *node,
                                                  tvms_node_kind kind) {
  return node->kind == kind ? tvms_as_binary(node) : NULL;
}

// ---- The factors ----

// 2^-less of a small number and of others, in an exponent.
typedef struct {
  const tvms_node *condition;
  int64_t small, other;
} shifts;

static bool read_power(reader *r, const tvms_node *node, shifts *made) {
  tvms_node *const *bits = args_of(value_of(r, node), TVMS_TIR_reinterpret, 1);
  const tvms_binary *sum = bits ? binary_of(bits[0], TVMS_NODE_ADD) : NULL;
  if (!sum || sum->b->kind != TVMS_NODE_SELECT) return false;
  tvms_node *const *shift = args_of(sum->a, TVMS_TIR_shift_left, 2);
  tvms_node *const *of = shift ? args_of(shift[0], TVMS_TIR_reinterpret, 1) : NULL;
  int64_t places;
  if (!of || of[0]->kind != TVMS_NODE_VAR || !tvms_node_int_in_lanes(shift[1], &places)
      || places != r->mantissa || shift[0]->dtype.bits != of[0]->dtype.bits)
    return false;
  const tvms_select *more = tvms_as_select(sum->b);
  if (!tvms_node_int_in_lanes(more->true_value, &made->small)
      || !tvms_node_int_in_lanes(more->false_value, &made->other))
    return false;
  int64_t unit = (int64_t)1 << places;
  if (made->small % unit || made->other % unit) return false;
  made->condition = more->condition;
  made->small = made->small / unit - r->bias;
  made->other = made->other / unit - r->bias;
  r->t = of[0];
  return true;
}

static bool read_last(const tvms_node *node, const shifts *power) {
  const tvms_select *last = tvms_as_select(node);
  double small, other;
  return last->condition == power->condition
         && tvms_node_float_in_lanes(last->true_value, &small)
         && tvms_node_float_in_lanes(last->false_value, &other)
         && small == ldexp(1, (int)-power->small)
         && other == ldexp(1, (int)-power->other);
}

// ---- The number of steps ----

// y < 0 of a variable y between two numbers.
static bool read_small(reader *r, const tvms_node *condition) {
  const tvms_binary *less = binary_of(value_of(r, condition), TVMS_NODE_LT);
  double zero;
  if (!less || less->a->kind != TVMS_NODE_VAR
      || !tvms_node_float_in_lanes(less->b, &zero) || zero != 0)
    return false;
  r->y = less->a;
  const tvms_node *outer = value_of(r, r->y);
  bool high = outer->kind == TVMS_NODE_MIN;
  if (!high && outer->kind != TVMS_NODE_MAX) return false;
  const tvms_binary *last = tvms_as_binary(outer);
  tvms_node_kind other = high ? TVMS_NODE_MAX : TVMS_NODE_MIN;
  double ends[2];
  const tvms_binary *first = binary_of(last->b, other);
  bool known = first ? tvms_node_float_in_lanes(last->a, &ends[high])
                     : tvms_node_float_in_lanes(last->b, &ends[high]);
  if (!first) first = binary_of(last->a, other);
  known = known && first
          && (tvms_node_float_in_lanes(first->a, &ends[!high])
              || tvms_node_float_in_lanes(first->b, &ends[!high]));
  if (!known || !(ends[0] < 0) || !(ends[1] > 0)) return false;
  r->least_y = ends[0];
  r->most_y = ends[1];
  return true;
}

// t = y * step + 1.5 * 2^mantissa, rounded once: the number of steps that is nearest to y.
static bool read_steps(reader *r) {
  tvms_node *const *args = args_of(value_of(r, r->t), TVMS_TIR_fma, 3);
  if (!args || args[0] != r->y || !tvms_node_float_in_lanes(args[1], &r->step)
      || !tvms_node_float_in_lanes(args[2], &r->rounder))
    return false;
  r->least_n = floor(r->least_y * r->step - 0.5);
  r->most_n = ceil(r->most_y * r->step + 0.5);
  return r->step > 0 && r->rounder == ldexp(1.5, r->mantissa)
         && fmax(-r->least_n, r->most_n) < ldexp(1, r->mantissa - 2);
}

// ---- The factor ----

typedef struct {
  double least, most;
} interval;

static interval wider(interval i) {
  double slack = ldexp(fmax(fabs(i.least), fabs(i.most)), -20);
  return (interval){i.least - slack, i.most + slack};
}

static interval times(interval a, interval b) {
  double ends[] = {a.least * b.least, a.least * b.most, a.most * b.least,
                   a.most * b.most};
  return (interval){fmin(fmin(ends[0], ends[1]), fmin(ends[2], ends[3])),
                    fmax(fmax(ends[0], ends[1]), fmax(ends[2], ends[3]))};
}

static bool is_number_of_steps(const reader *r, const tvms_node *node) {
  const tvms_binary *less = binary_of(value_of(r, node), TVMS_NODE_SUB);
  double rounder;
  return less && less->a == r->t && tvms_node_float_in_lanes(less->b, &rounder)
         && rounder == r->rounder;
}

// y + n * `by`, in any number of steps?
static bool read_rest(const reader *r, const tvms_node *node, double *by,
                      uint32_t depth) {
  double each;
  if (node == r->y) return true;
  node = value_of(r, node);
  if (depth == DEEPEST) return false;
  const tvms_binary *less = binary_of(node, TVMS_NODE_SUB);
  if (less && is_number_of_steps(r, less->b)) {
    *by -= 1;
    return read_rest(r, less->a, by, depth + 1);
  }
  tvms_node *const *args = args_of(node, TVMS_TIR_fma, 3);
  if (!args || !is_number_of_steps(r, args[0])
      || !tvms_node_float_in_lanes(args[1], &each))
    return false;
  *by += each;
  return read_rest(r, args[2], by, depth + 1);
}

// What y has more than n steps, of which it is at most half of one, but for what `by` is off.
static bool bound_rest(reader *r, const tvms_node *node, interval *made) {
  double by = 0;
  if (!read_rest(r, node, &by, 0)) return false;
  double off = fabs(1 / r->step + by) * fmax(-r->least_n, r->most_n);
  double most = 0.5 / r->step + off;
  *made = wider((interval){-most, most});
  r->has_rest = true;
  return true;
}

static bool bound(reader *r, const tvms_node *node, interval *made, uint32_t depth) {
  double number;
  if (tvms_node_float_in_lanes(node, &number)) {
    *made = (interval){number, number};
    return true;
  }
  if (bound_rest(r, node, made)) return true;
  node = value_of(r, node);
  interval parts[3];
  tvms_node *const *args = args_of(node, TVMS_TIR_fma, 3);
  const tvms_binary *product = binary_of(node, TVMS_NODE_MUL);
  if (depth == DEEPEST || (!args && !product)) return false;
  for (uint32_t i = 0; i < (args ? 3 : 2); i++) {
    const tvms_node *part = args ? args[i] : i ? product->b : product->a;
    if (!bound(r, part, &parts[i], depth + 1)) return false;
  }
  interval all = times(parts[0], parts[1]);
  if (args) all = (interval){all.least + parts[2].least, all.most + parts[2].most};
  *made = wider(all);
  return true;
}

// ---- Both ----

// Is no factor, and nothing in between, out of the range in which floats have all digits, but where the whole is, too?
static bool is_exact(const reader *r, const shifts *power, const interval *p) {
  double least = r->least_n + (double)power->small,
         most = r->most_n + (double)power->other;
  bool near = p->least >= ldexp(1, -NEAR) && p->most <= ldexp(1, NEAR);
  bool small = least - NEAR > -r->bias && power->small + NEAR < r->bias;
  bool other = power->other <= 0 && power->other - NEAR > -r->bias;
  // One power more is infinite, and so is what it is a factor of.
  bool high = most <= r->bias || (most == r->bias + 1 && p->least >= 0.5);
  return near && small && other && high;
}

bool tvms_scaled_read(const tvms_node *const *bindings, const tvms_node *node,
                      tvms_scaled *made) {
  tvms_dtype dtype = node->dtype;
  const tvms_binary *outer = binary_of(node, TVMS_NODE_MUL);
  const tvms_binary *inner = outer ? binary_of(outer->a, TVMS_NODE_MUL) : NULL;
  if (!inner || outer->b->kind != TVMS_NODE_SELECT || dtype.code != TVMS_FLOAT
      || dtype.bits < 32)
    return false;
  bool wide = dtype.bits == 64;
  reader r = {
      .bindings = bindings, .mantissa = wide ? 52 : 23, .bias = wide ? 1023 : 127};
  shifts power;
  interval p;
  if (!read_power(&r, inner->b, &power) || !read_last(outer->b, &power)
      || !read_small(&r, power.condition) || !read_steps(&r)
      || !bound(&r, inner->a, &p, 0) || !r.has_rest || !is_exact(&r, &power, &p))
    return false;
  *made = (tvms_scaled){inner->a, r.t, r.rounder};
  return true;
}
