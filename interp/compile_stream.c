// Streams: accesses whose elements are known ahead of a loop.
//
// Where every index is affine in the variables of the loops around, with constant factors,
//
//   index(i, j, …) ≡ first + a * (i - i0) + b * (j - j0) + …    modulo 2 to the bits of its type
//
// its least and greatest value over all iterations are at corners of the space of the loops.
// If both are, exactly, inside of the dimension, then so are all between; nothing wraps, and the
// check in each iteration would say the same. What is checked so once, ahead of the outermost
// loop for which it can be known, is an address that moves by a constant with each loop:
//
//   ahead of i:  origin[i], step[i], step[j], … = …         STREAM
//   ahead of j:  origin[j] = origin[i] + i * step[i]        DERIVE
//   access:      origin[j] + j * step[j]                    LOAD_FROM …
//
// If a corner is outside, the innermost loop tries for itself each time it begins, and if that
// fails too its accesses go the way with the checks, which finds the fault in the iteration
// where it occurs. Nothing in the loops can change what was found out: all other variables of
// the indices, the extents of inner loops, and the buffer are bound once, before the outermost.
#include "interp/compile_stream.h"

#include "interp/compile_expr.h"
#include "ir/build.h"

typedef tvms_interp_maker maker;
typedef tvms_interp_access access;
typedef tvms_interp_around around;

enum { LEVELS = 8, DIMENSIONS = 8 };

// ---- What indices are ----

// The loops that an expression is looked at from, the innermost first.
typedef struct {
  maker *m;
  uint32_t count;
  const around *loops[LEVELS];
  uint32_t budget;  // nodes that may still be looked at
  uint32_t lane;
} view;

typedef struct {
  bool pure;  // see tvms_interp_is_without_effects
  bool
      affine;  // in the variables of the loops, all others being bound before the outermost
  int64_t slope[LEVELS];  // by loop
} trait;

static const trait not_pure = {false, false, {0}};
static const trait constant = {true, true, {0}};

static bool varies(const trait *t) {
  for (uint32_t i = 0; i < LEVELS; i++)
    if (t->slope[i]) return true;
  return false;
}

static trait trait_of(view *v, const tvms_node *node);

static trait trait_of_variable(view *v, const tvms_node *node) {
  const tvms_interp_fact *fact = &v->m->facts[node->id];
  trait t = constant;
  if (!fact->definite || fact->sites != 1 || node->dtype.lanes > 1) return not_pure;
  for (uint32_t i = 0; i < v->count; i++) {
    if (node->id != v->loops[i]->var) continue;
    t.slope[i] = 1;
    return t;
  }
  if (v->count && fact->since <= v->loops[v->count - 1]->begin) return t;
  if (v->count && fact->means && !fact->counts) return trait_of(v, fact->means);
  t.affine = false;
  return t;
}

// Adds `factor` times b to a.
static trait trait_of_sum(const trait *a, const trait *b, int64_t factor) {
  trait t = *a;
  t.affine = a->affine && b->affine;
  for (uint32_t i = 0; t.affine && i < LEVELS; i++) {
    int64_t more;
    t.affine = !__builtin_mul_overflow(b->slope[i], factor, &more)
               && !__builtin_add_overflow(t.slope[i], more, &t.slope[i]);
  }
  return t;
}

static trait trait_of_product(const tvms_binary *binary, const trait *a,
                              const trait *b) {
  bool first = varies(a);
  if (!first && !varies(b)) return trait_of_sum(a, b, 1);
  const tvms_node *factor = first ? binary->b : binary->a;
  trait t = constant;
  if (factor->kind == TVMS_NODE_INT_IMM)
    return trait_of_sum(&t, first ? a : b, tvms_as_int_imm(factor)->value);
  t.affine = false;
  return t;
}

static trait trait_of_binary(view *v, const tvms_node *node) {
  const tvms_binary *binary = tvms_as_binary(node);
  trait a = trait_of(v, binary->a), b = trait_of(v, binary->b);
  bool same = tvms_dtype_same(binary->a->dtype, binary->b->dtype);
  if (!a.pure || !b.pure || !same) return not_pure;
  switch ((int)node->kind) {
  case TVMS_NODE_ADD: return trait_of_sum(&a, &b, 1);
  case TVMS_NODE_SUB: return trait_of_sum(&a, &b, -1);
  case TVMS_NODE_MUL: return trait_of_product(binary, &a, &b);
  case TVMS_NODE_FLOOR_DIV:
  case TVMS_NODE_FLOOR_MOD: {
    bool plain =
        binary->b->kind == TVMS_NODE_INT_IMM && tvms_as_int_imm(binary->b)->value > 0;
    if (!plain) return not_pure;
    break;
  }
  case TVMS_NODE_MIN:
  case TVMS_NODE_MAX: break;
  default: return not_pure;
  }
  trait t = constant;
  t.affine = a.affine && b.affine && !varies(&a) && !varies(&b);
  return t;
}

static bool is_integer(tvms_dtype type) {
  return type.lanes >= 1 && (type.code == TVMS_INT || type.code == TVMS_UINT)
         && type.bits >= 8;
}

static uint32_t lanes_of(const tvms_node *node) {
  return node->dtype.lanes > 1 ? (uint32_t)node->dtype.lanes : 1;
}

static trait trait_of_vector(view *v, const tvms_node *node) {
  uint32_t lane = v->lane;
  trait t = not_pure;
  if (node->kind == TVMS_NODE_BROADCAST) {
    const tvms_node *value = tvms_as_broadcast(node)->value;
    v->lane = lane % lanes_of(value);
    t = trait_of(v, value);
  } else if (node->kind == TVMS_NODE_RAMP) {
    const tvms_ramp *ramp = tvms_as_ramp(node);
    uint32_t inner = lanes_of(ramp->base);
    v->lane = lane % inner;
    trait base = trait_of(v, ramp->base), stride = trait_of(v, ramp->stride);
    t = trait_of_sum(&base, &stride, lane / inner);
    t.pure = base.pure && stride.pure;
    t.affine = t.affine && tvms_dtype_same(ramp->base->dtype, ramp->stride->dtype);
  }
  v->lane = lane;
  return t;
}

static trait trait_of(view *v, const tvms_node *node) {
  if (v->budget == 0 || !is_integer(node->dtype)) return not_pure;
  v->budget--;
  if (node->kind == TVMS_NODE_INT_IMM) return constant;
  bool vector = node->kind == TVMS_NODE_RAMP || node->kind == TVMS_NODE_BROADCAST;
  if (vector) return trait_of_vector(v, node);
  if (node->kind == TVMS_NODE_VAR) return trait_of_variable(v, node);
  if (node->kind == TVMS_NODE_CAST) {
    const tvms_node *value = tvms_as_cast(node)->value;
    trait t = trait_of(v, value);
    // A wider type does not wrap where the narrower one does.
    t.affine = t.affine && (!varies(&t) || node->dtype.bits <= value->dtype.bits);
    return t;
  }
  return tvms_node_is_binary(node) ? trait_of_binary(v, node) : not_pure;
}

static trait look_at(view *v, const tvms_node *node) {
  v->budget = 32;
  return trait_of(v, node);
}

static view view_of(maker *m) {
  view v = {.m = m, .lane = m->lane};
  if (m->around) v.loops[v.count++] = m->around;
  return v;
}

bool tvms_interp_is_without_effects(maker *m, const tvms_node *node) {
  view v = view_of(m);
  return look_at(&v, node).pure;
}

bool tvms_interp_hoist(maker *m, const tvms_node *var) {
  tvms_interp_fact *fact = &m->facts[var->id];
  if (!m->around || !m->around->streams || fact->means->kind == TVMS_NODE_VAR)
    return false;
  view v = view_of(m);
  trait t = look_at(&v, fact->means);
  if (!t.affine || varies(&t)) return false;
  tvms_vec_push(m->memory, &m->around->hoisted, var->id);
  tvms_vec_push(m->memory, &m->around->meanings, fact->means);
  tvms_interp_make_definite(m, var->id, false);
  fact->since = m->around->begin;
  return true;
}

// ---- How far out a stream is known ----

// Is the view of the buffer the same in all iterations of the loop?
static bool view_is_fixed(const maker *m, const tvms_buffer *buffer,
                          const around *loop) {
  const tvms_interp_fact *fact = &m->facts[buffer->head.id];
  if (fact->sites == 1) return fact->definite && fact->since <= loop->begin;
  if (fact->sites > 1 || buffer->data->kind != TVMS_NODE_VAR) return false;
  // Nothing defines it: it is made of its data where it is used.
  const tvms_interp_fact *data = &m->facts[buffer->data->id];
  bool fixed = data->sites == 1 && data->definite && data->since <= loop->begin;
  if (buffer->elem_offset) fixed &= buffer->elem_offset->kind == TVMS_NODE_INT_IMM;
  for (uint32_t i = 0; i < buffer->shape.len; i++)
    fixed &= buffer->shape.items[i]->kind == TVMS_NODE_INT_IMM;
  for (uint32_t i = 0; i < buffer->strides.len; i++)
    fixed &= buffer->strides.items[i]->kind == TVMS_NODE_INT_IMM;
  return fixed;
}

// Is the stream known from these loops? Then `traits` are those of its indices.
static bool is_known(view *v, const access *x, trait *traits) {
  const around *outermost = v->loops[v->count - 1];
  if (!outermost->streams || !view_is_fixed(v->m, x->buffer, outermost)) return false;
  for (uint32_t i = 0; i < x->indices.len; i++) {
    const tvms_node *index = x->indices.items[i];
    traits[i] = look_at(v, index);
    if (!traits[i].affine || index->dtype.bits < 32) return false;
  }
  for (uint32_t i = 0; i + 1 < v->count; i++) {
    trait extent = look_at(v, v->loops[i]->extent);
    if (!extent.affine || varies(&extent)) return false;
  }
  return true;
}

// Looks from as many loops as it is known from, which is returned.
static uint32_t look_out(view *v, const access *x, trait *traits) {
  trait more[DIMENSIONS];
  v->count = 0;
  for (const around *at = v->m->around; at && v->count < LEVELS; at = at->outer) {
    // A loop in between begins at a constant and goes on by one.
    if (v->count && !v->loops[v->count - 1]->plain) break;
    v->loops[v->count++] = at;
    if (!is_known(v, x, more)) {
      v->count--;
      break;
    }
    for (uint32_t i = 0; i < x->indices.len; i++)
      traits[i] = more[i];
  }
  return v->count;
}

// ---- Streams ----

static bool same_index(const tvms_node *a, const tvms_node *b) {
  if (a == b) return true;
  if (a->kind != b->kind || !tvms_dtype_same(a->dtype, b->dtype)) return false;
  if (a->kind == TVMS_NODE_INT_IMM)
    return tvms_as_int_imm(a)->value == tvms_as_int_imm(b)->value;
  return tvms_node_is_binary(a)
         && same_index(tvms_as_binary(a)->a, tvms_as_binary(b)->a)
         && same_index(tvms_as_binary(a)->b, tvms_as_binary(b)->b);
}

// The slot of an open stream of the innermost loop for the same elements; 0 for none.
static uint32_t find_stream(const maker *m, const access *x) {
  enum { NEWEST = 8 };
  uint32_t len = m->around->opened.len;
  for (uint32_t i = len; i > 0 && len - i < NEWEST; i--) {
    uint32_t number = m->around->opened.items[i - 1];
    access y = tvms_interp_access_of(m->accesses.items[number]);
    bool same = x->buffer == y.buffer && m->streams.items[number].levels == 1
                && m->lanes.items[number] == m->lane;
    for (uint32_t at = 0; same && at < x->indices.len; at++)
      same = same_index(x->indices.items[at], y.indices.items[at]);
    if (same) return m->streams.items[number].slot;
  }
  return 0;
}

// Adds a stream that is opened ahead of the outermost of the first `levels` loops.
static void add_stream(view *v, const access *x, const trait *traits, uint32_t slot,
                       uint32_t outer, uint32_t levels) {
  maker *m = v->m;
  uint32_t ndim = x->indices.len, number = m->streams.len;
  around *loop = m->around;
  tvms_interp_stream s = {.buffer = x->buffer->head.id,
                          .slot = slot,
                          .outer = outer,
                          .ndim = ndim,
                          .levels = levels};
  s.index = tvms_arena_array(m->arena, uint32_t, ndim);
  s.narrow = tvms_arena_array(m->arena, bool, ndim);
  s.level = tvms_arena_array(m->arena, tvms_interp_level, levels);
  for (uint32_t i = 0; i < ndim; i++)
    s.narrow[i] = x->indices.items[i]->dtype.bits == 32;
  for (uint32_t k = 0; k < levels; k++) {
    tvms_interp_level *level = &s.level[k];
    level->var = v->loops[k]->var;
    level->loop = v->loops[k]->loop;
    level->narrow = v->loops[k]->narrow;
    level->min = v->loops[k]->min;
    level->bound = v->loops[k]->extent;
    level->slope = tvms_arena_array(m->arena, int64_t, ndim);
    for (uint32_t i = 0; i < ndim; i++)
      level->slope[i] = traits[i].slope[k];
    if (k) loop = loop->outer;
  }
  tvms_vec_push(m->memory, &m->streams, s);
  tvms_vec_push(m->memory, &m->accesses, x->node);
  tvms_vec_push(m->memory, &m->lanes, m->lane);
  tvms_vec_push(m->memory, &loop->opened, number);
}

// Slots of a stream of the innermost loop, next to its state as long as there are some.
static uint32_t new_pair(maker *m) {
  around *loop = m->around;
  if (loop->pairs == TVMS_LOOP_PAIRS) return tvms_interp_new_slots(m, 2);
  return loop->loop + TVMS_LOOP_STREAMS + 2 * loop->pairs++;
}

uint32_t tvms_interp_stream_of(maker *m, const access *x) {
  trait traits[DIMENSIONS] = {0};
  if (!m->around || m->ahead || x->indices.len > DIMENSIONS) return 0;
  view v = view_of(m);
  uint32_t levels = look_out(&v, x, traits);
  if (!levels) return 0;
  uint32_t known = find_stream(m, x);
  if (known) return known;
  uint32_t slot = new_pair(m), outer = 0;
  if (levels > 1) outer = tvms_interp_new_slots(m, 2 * (levels - 1));
  add_stream(&v, x, traits, slot, outer, 1);
  if (levels == 1) return slot;
  add_stream(&v, x, traits, slot, outer, levels);
  around *loop = m->around->outer;
  for (uint32_t k = 1; k + 1 < levels; k++, loop = loop->outer)
    tvms_vec_push(m->memory, &loop->passed, outer + 2 * (k - 1));
  return slot;
}

// ---- Ahead of the loop ----

// The origin of a stream in the innermost loop from that in the loop around it.
static uint32_t make_derive(maker *m, uint32_t slot, uint32_t outer) {
  return tvms_interp_emit(m, TVMS_CODE_DERIVE, NULL, slot, outer,
                          m->around->outer->var);
}

static void make_stream(maker *m, uint32_t number) {
  tvms_interp_stream s = m->streams.items[number];
  access x = tvms_interp_access_of(m->accesses.items[number]);
  uint32_t used = m->used, at = 0;
  bool derived = s.outer && s.levels == 1;
  if (derived) at = make_derive(m, s.slot, s.outer);
  tvms_interp_make_use(m, &x);
  m->lane = m->lanes.items[number];
  for (uint32_t i = 0; i < s.ndim; i++)
    s.index[i] = tvms_interp_make_value(m, x.indices.items[i]);
  m->lane = 0;
  for (uint32_t k = 0; k + 1 < s.levels; k++)
    s.level[k].extent = tvms_interp_make_value(m, s.level[k].bound);
  tvms_interp_emit(m, TVMS_CODE_STREAM, x.node, 0, number, 0);
  if (derived) tvms_interp_pass_by(m, at);
  m->used = used;
}

bool tvms_interp_make_ahead(maker *m) {
  around *loop = m->around;
  m->ahead = true;
  for (uint32_t i = 0; i < loop->hoisted.len; i++)
    tvms_interp_make_value_in(m, loop->meanings.items[i], loop->hoisted.items[i]);
  for (uint32_t i = 0; i < loop->passed.len; i++)
    make_derive(m, loop->passed.items[i], loop->passed.items[i] + 2);
  for (uint32_t i = 0; i < loop->opened.len; i++)
    make_stream(m, loop->opened.items[i]);
  m->ahead = false;
  return loop->hoisted.len + loop->passed.len + loop->opened.len > 0;
}
