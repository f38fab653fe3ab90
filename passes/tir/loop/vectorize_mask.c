// Conditions of vectorized loops as masks of accesses: ramp < limit becomes the predicate of
// every load and store under it, if the ramp has steps of one, in which T.get_active_lane_mask counts. For native code
// other conditions are masks, too, as they stand.
#include "passes/tir/loop/vectorize_mask.h"

#include "ir/equal.h"
#include "ir/fold_ops.h"
#include "ir/tir_op.h"
#include "ir/walk.h"

typedef struct {
  tvms_vectorizer *vectorizer;
  const tvms_ramp *ramp;  // left side of the condition
  tvms_node *limit;
  uint32_t seen, masked;  // accesses
} masking;

// The predicate of an access with these indices, or NULL if the condition is not about its
// lanes.
static tvms_node *TVMS_NULLABLE mask_of(masking *m, tvms_list indices,
                                        tvms_node *TVMS_NULLABLE given) {
  m->seen++;
  if (indices.len == 0 || indices.items[0]->kind != TVMS_NODE_RAMP) return NULL;
  const tvms_ramp *place = tvms_as_ramp(indices.items[0]);
  bool offsets = m->vectorizer->machine.riscv;
  if (!tvms_node_same_expr(place->stride, m->ramp->stride)) return NULL;
  if (place->head.dtype.lanes != m->ramp->head.dtype.lanes) return NULL;
  if (!offsets && !tvms_node_same_expr(place->base, m->ramp->base)) return NULL;
  m->masked++;
  tvms_unit *unit = m->vectorizer->unit;
  tvms_dtype dtype =
      tvms_dtype_with_lanes(TVMS_DTYPE(UINT, 1), place->head.dtype.lanes);
  tvms_node *args[] = {m->ramp->base, m->limit};
  tvms_node *mask = tvms_call_new_of(unit, dtype, TVMS_TIR_get_active_lane_mask, args,
                                     2, TVMS_NO_SPAN);
  if (!given || !offsets) return mask;
  return tvms_bitwise_new(unit, TVMS_TIR_bitwise_and, given, mask, TVMS_NO_SPAN);
}

static tvms_node *leave_load(tvms_rewriter *r, tvms_node *node) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  tvms_node *mask = mask_of(r->self, load->indices, load->predicate);
  if (!mask) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_buffer_load(copy)->predicate = mask;
  return copy;
}

static tvms_node *leave_store(tvms_rewriter *r, tvms_node *node) {
  const tvms_store *store = tvms_as_store(node);
  tvms_node *mask = mask_of(r->self, store->indices, store->predicate);
  if (!mask) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_store(copy)->predicate = mask;
  return copy;
}

tvms_node *tvms_vectorize_mask(tvms_vectorizer *vectorizer, tvms_node *node,
                               tvms_node *condition) {
  if (condition->kind != TVMS_NODE_LT) return NULL;
  const tvms_binary *less = tvms_as_binary(condition);
  if (less->a->kind != TVMS_NODE_RAMP || less->b->kind != TVMS_NODE_BROADCAST
      || !tvms_node_is_int(tvms_as_ramp(less->a)->stride, 1))
    return NULL;
  masking m = {.vectorizer = vectorizer,
               .ramp = tvms_as_ramp(less->a),
               .limit = tvms_as_broadcast(less->b)->value};
  tvms_rewriter r;
  tvms_rewriter_init(&r, vectorizer->unit, &m);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  r.leave[TVMS_NODE_BUFFER_LOAD] = leave_load;
  r.leave[TVMS_NODE_STORE] = leave_store;
  tvms_node *made = tvms_rewrite(&r, node);
  tvms_rewriter_fini(&r);
  return m.seen > 0 && m.seen == m.masked ? made : NULL;
}

// ---- Conditions as they stand ----

static bool is_vector(const tvms_node *node) {
  return node->dtype.lanes > 1;
}

// Is only the last index a vector, of as many lanes as the condition has?
static bool moves_with(tvms_list indices, const tvms_node *condition) {
  for (uint32_t i = 0; i + 1 < indices.len; i++) {
    if (!tvms_dtype_is_scalar(indices.items[i]->dtype)) return false;
  }
  return indices.len
         && indices.items[indices.len - 1]->dtype.lanes == condition->dtype.lanes;
}

static tvms_node *both(tvms_unit *unit, tvms_node *TVMS_NULLABLE given,
                       tvms_node *condition) {
  if (!given) return condition;
  return tvms_bitwise_new(unit, TVMS_TIR_bitwise_and, given, condition, TVMS_NO_SPAN);
}

static bool is_wide_ramp(const tvms_node *node) {
  enum { WIDE = 64 };
  return node->kind == TVMS_NODE_RAMP && tvms_dtype_is_int(node->dtype)
         && node->dtype.bits == WIDE && tvms_node_is_int(tvms_as_ramp(node)->stride, 1)
         && tvms_dtype_is_scalar(tvms_as_ramp(node)->base->dtype);
}

// T.Ramp(0, 1, lanes), or what is compared with it: x - base, as lanes of 32 bits. What is less than each lane, or more, is as good as -1,
// or the number of lanes.
static tvms_node *narrow_side(tvms_unit *unit, tvms_node *x, const tvms_ramp *ramp) {
  tvms_dtype narrow = TVMS_DTYPE(INT, 32), wide = ramp->base->dtype;
  int64_t lanes = ramp->head.dtype.lanes;
  tvms_node *count = tvms_int_imm_new(unit, narrow, lanes, TVMS_NO_SPAN);
  if (x == &ramp->head) {
    tvms_node *zero = tvms_int_imm_new(unit, narrow, 0, TVMS_NO_SPAN);
    tvms_node *one = tvms_int_imm_new(unit, narrow, 1, TVMS_NO_SPAN);
    return tvms_build_ramp(unit, zero, one, count, x->span);
  }
  tvms_node *most = tvms_int_imm_new(unit, wide, lanes, TVMS_NO_SPAN);
  tvms_node *least = tvms_int_imm_new(unit, wide, -1, TVMS_NO_SPAN);
  tvms_node *at = tvms_build_binary(unit, TVMS_NODE_SUB, tvms_as_broadcast(x)->value,
                                    ramp->base, TVMS_NO_SPAN);
  at = tvms_build_binary(unit, TVMS_NODE_MIN, at, most, TVMS_NO_SPAN);
  at = tvms_build_binary(unit, TVMS_NODE_MAX, at, least, TVMS_NO_SPAN);
  at = tvms_build_cast(unit, narrow, at, TVMS_NO_SPAN);
  return tvms_build_broadcast(unit, at, count, x->span);
}

// A ramp of 64 bits compared with one value: half as many bits of lanes, or fewer, decide that.
static tvms_node *narrowed(tvms_unit *unit, tvms_node *condition) {
  bool compares = condition->kind >= TVMS_NODE_LT && condition->kind <= TVMS_NODE_GE;
  if (!compares) return condition;
  const tvms_binary *sides = tvms_as_binary(condition);
  bool first = is_wide_ramp(sides->a);
  tvms_node *ramp = first ? sides->a : sides->b, *other = first ? sides->b : sides->a;
  if (!is_wide_ramp(ramp) || other->kind != TVMS_NODE_BROADCAST) return condition;
  return tvms_build_binary(unit, (tvms_node_kind)condition->kind,
                           narrow_side(unit, sides->a, tvms_as_ramp(ramp)),
                           narrow_side(unit, sides->b, tvms_as_ramp(ramp)),
                           condition->span);
}

// Vectors are combined by bits, as texts say it.
static tvms_node *by_bits(tvms_unit *unit, tvms_node *condition) {
  bool is_and = condition->kind == TVMS_NODE_AND;
  if (!is_and && condition->kind != TVMS_NODE_OR) return narrowed(unit, condition);
  const tvms_binary *parts = tvms_as_binary(condition);
  return tvms_bitwise_new(unit, is_and ? TVMS_TIR_bitwise_and : TVMS_TIR_bitwise_or,
                          by_bits(unit, parts->a), by_bits(unit, parts->b),
                          TVMS_NO_SPAN);
}

static tvms_node *masked_load(tvms_unit *unit, tvms_node *load, tvms_node *condition) {
  tvms_node *copy = tvms_node_copy(unit, load);
  tvms_buffer_load *made = tvms_as_buffer_load(copy);
  made->predicate = both(unit, made->predicate, condition);
  return copy;
}

static bool is_zero(const tvms_node *node) {
  if (node->kind == TVMS_NODE_FLOAT_IMM) {
    double value = tvms_as_float_imm(node)->value;
    return value == 0 && !__builtin_signbit(value);
  }
  return tvms_node_is_int(node, 0);
}

static bool is_quotient(const tvms_node *node) {
  return node->kind == TVMS_NODE_DIV || node->kind == TVMS_NODE_MOD
         || node->kind == TVMS_NODE_FLOOR_DIV || node->kind == TVMS_NODE_FLOOR_MOD;
}

static tvms_walk_step stop_at_quotient(void *self, tvms_node *node,
                                       tvms_field_role role) {
  (void)self, (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (!is_quotient(node) || tvms_dtype_is_real(node->dtype)) return TVMS_WALK_ON;
  const tvms_node *divisor = tvms_node_in_lanes(tvms_as_binary(node)->b);
  bool is_safe = tvms_node_is_int_imm(divisor) && !tvms_node_is_int(divisor, 0)
                 && !tvms_node_is_int(divisor, -1);
  return is_safe ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

// Can it be computed for lanes that are left out, too?
static bool cannot_fail(tvms_memory *memory, tvms_node *node, tvms_effect most) {
  tvms_visitor visitor = {.enter = stop_at_quotient};
  return tvms_arith_effect_of(memory, node) <= most
         && tvms_walk(memory, node, &visitor);
}

static bool never_fails(tvms_memory *memory, tvms_node *node) {
  return cannot_fail(memory, node, TVMS_EFFECT_PURE);
}

// Combined by bits, the right side is computed where the left one decides, too.
static bool sides_never_fail(tvms_memory *memory, const tvms_node *condition) {
  if (condition->kind != TVMS_NODE_AND && condition->kind != TVMS_NODE_OR) return true;
  const tvms_binary *parts = tvms_as_binary(condition);
  return sides_never_fail(memory, parts->a) && never_fails(memory, parts->b);
}

// ramp < limit, both constant, which holds in the first lane.
static bool holds_first(const tvms_node *condition) {
  if (condition->kind != TVMS_NODE_LT) return false;
  const tvms_binary *less = tvms_as_binary(condition);
  const tvms_node *limit = tvms_node_in_lanes(less->b);
  if (less->a->kind != TVMS_NODE_RAMP || !tvms_node_is_int_imm(limit)) return false;
  const tvms_node *first = tvms_as_ramp(less->a)->base;
  return tvms_node_is_int_imm(first)
         && tvms_as_int_imm(first)->value < tvms_as_int_imm(limit)->value;
}

typedef struct {
  tvms_node *condition;
  bool fails;  // some lane may fail that is left out
} covering;

static tvms_node *cover_load(tvms_rewriter *r, tvms_node *node) {
  covering *c = r->self;
  if (!is_vector(node)) return node;
  if (moves_with(tvms_as_buffer_load(node)->indices, c->condition))
    return masked_load(r->unit, node, c->condition);
  c->fails = true;
  return node;
}

static tvms_node *note_quotient(tvms_rewriter *r, tvms_node *node) {
  covering *c = r->self;
  c->fails |= is_vector(node) && !tvms_dtype_is_real(node->dtype);
  return node;
}

typedef struct {
  const tvms_buffer_load *load;
  bool found;
} same_place;

static tvms_walk_step find_same_place(void *self, tvms_node *node,
                                      tvms_field_role role) {
  same_place *s = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  s->found |= !load->predicate && tvms_node_same_exprs(load->indices, s->load->indices)
              && tvms_node_same_exprs(tvms_as_buffer(load->buffer)->shape,
                                      tvms_as_buffer(s->load->buffer)->shape);
  return s->found ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// What the condition loads from a buffer of the same shape in all lanes, may be loaded there. Otherwise it may hold in
// no lane, and what is the same for all of them is not loaded either.
static tvms_node *cover_every_load(tvms_rewriter *r, tvms_node *node) {
  covering *c = r->self;
  same_place s = {tvms_as_buffer_load(node), false};
  tvms_visitor visitor = {.self = &s, .enter = find_same_place};
  tvms_walk(&r->unit->context->memory, c->condition, &visitor);
  if (s.found) return node;
  c->fails |= !is_vector(node);
  return cover_load(r, node);
}

// A side of a choice with its condition as the mask of all its loads, those that find places included, and as a
// vector. NULL: it may fail in a lane that is left out.
static tvms_node *TVMS_NULLABLE cover(tvms_vectorizer *vectorizer, tvms_node *value,
                                      tvms_node *condition) {
  tvms_unit *unit = vectorizer->unit;
  covering c = {condition, false};
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &c);
  r.roles = TVMS_IN(USE);
  r.leave[TVMS_NODE_BUFFER_LOAD] = cover_every_load;
  tvms_node *made = tvms_rewrite(&r, value);
  tvms_rewriter_fini(&r);
  bool fine = !c.fails && cannot_fail(&unit->context->memory, value, TVMS_EFFECT_READ);
  return fine ? tvms_vectorize_broadcast(vectorizer, made, condition->dtype.lanes)
              : NULL;
}

tvms_node *TVMS_NULLABLE tvms_vectorize_mask_choice(tvms_vectorizer *vectorizer,
                                                    tvms_call *choice) {
  tvms_node *condition = choice->args.items[0];
  const tvms_node *otherwise = tvms_node_in_lanes(choice->args.items[2]);
  tvms_unit *unit = vectorizer->unit;
  if (!is_vector(condition) || !sides_never_fail(&unit->context->memory, condition))
    return NULL;
  condition = by_bits(unit, condition);
  tvms_node *yes = cover(vectorizer, choice->args.items[1], condition);
  if (!yes || (yes->kind == TVMS_NODE_BUFFER_LOAD && is_zero(otherwise))) return yes;
  tvms_node *opposite = tvms_not_new(unit, condition, TVMS_NO_SPAN);
  tvms_node *no = cover(vectorizer, choice->args.items[2], opposite);
  return no ? tvms_select_new(unit, condition, yes, no, choice->head.span) : NULL;
}

tvms_node *TVMS_NULLABLE tvms_vectorize_mask_store(tvms_vectorizer *vectorizer,
                                                   tvms_node *node,
                                                   tvms_node *condition) {
  if (node->kind != TVMS_NODE_STORE || !holds_first(condition)
      || !moves_with(tvms_as_store(node)->indices, condition))
    return NULL;
  covering c = {condition, false};
  tvms_rewriter r;
  tvms_rewriter_init(&r, vectorizer->unit, &c);
  r.roles = TVMS_IN(USE);
  r.leave[TVMS_NODE_BUFFER_LOAD] = cover_load;
  static const tvms_node_kind quotients[] = {TVMS_NODE_DIV, TVMS_NODE_MOD,
                                             TVMS_NODE_FLOOR_DIV, TVMS_NODE_FLOOR_MOD};
  for (size_t i = 0; i < sizeof quotients / sizeof quotients[0]; i++)
    r.leave[quotients[i]] = note_quotient;
  tvms_node *copy = tvms_node_copy(vectorizer->unit, tvms_rewrite(&r, node));
  tvms_rewriter_fini(&r);
  if (c.fails) return NULL;
  tvms_store *store = tvms_as_store(copy);
  store->predicate = both(vectorizer->unit, store->predicate, condition);
  return copy;
}
