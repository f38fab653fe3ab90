// Statements on vectors that are wider than registers, in parts.
//
// A vector of bytes or of float32 may be computed from one of int64 or float64, and then takes several registers. LLVM
// divides such vectors itself. GCC compares, converts and chooses among them lane by lane.
//
//   B[T.Ramp(i * 16, 1, 16)] = T.Select(T.Ramp(i * 16, 1, 16) < n, a, b)         int64 of 16 lanes
//
//   v = T.Select(T.Ramp(i * 16, 1, 8) < n, a, b)                                 8 of them
//   w = T.Select(T.Ramp(i * 16 + 8, 1, 8) < n, a, b)
//   B[T.Ramp(i * 16, 1, 8)] = v
//   B[T.Ramp(i * 16 + 8, 1, 8)] = w
//
// All parts are computed before one is stored. What cannot be divided is taken as a whole, and a part is picked from it.
//
// What is gathered where conditions hold is loaded in parts wherever it stands, and these are joined: an instruction takes
// the places and the truths that one register holds. So is what of wide integers is converted to a vector that a register
// holds: what is computed of that stays one.
#include "backend/c/wide.h"

#include "backend/c/expr.h"
#include "backend/c/picked.h"
#include "backend/c/sums.h"
#include "backend/c/vector.h"
#include "ir/build.h"
#include "ir/rewrite.h"
#include "ir/tir_op.h"
#include "ir/walk.h"

enum { MOST_PARTS = 8, MOST_LANES = 64 };

// A variable that is known in parts.
typedef struct {
  const tvms_node *var;
  tvms_node *parts[MOST_PARTS];
  uint32_t count;
} parted;

typedef struct {
  tvms_unit *unit;
  const tvms_prim_func *function;
  uint32_t bytes;
  TVMS_VEC(parted) known;
} splitter;

// Lanes first … first + count - 1 of vectors, which are part number `part` of `parts`.
typedef struct {
  splitter *s;
  int first, count;
  uint32_t part, parts;
} slice;

static const parted *TVMS_NULLABLE parts_of(const splitter *s, const tvms_node *var) {
  for (uint32_t i = s->known.len; i > 0; i--)
    if (s->known.items[i - 1].var == var) return &s->known.items[i - 1];
  return NULL;
}

// ---- How many ----

typedef struct {
  const splitter *s;
  int lanes;
  uint32_t parts;
} count_parts;

// Indices along lines, and those of which each lane is known from one place on, are places: none is computed.
static bool is_place(const tvms_node *node) {
  tvms_lanes lanes;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return false;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (load->indices.len != 1) return false;
  const tvms_node *index = load->indices.items[0];
  if (index->kind == TVMS_NODE_RAMP) return true;
  return !load->predicate && tvms_lanes_read(index, &lanes)
         && tvms_c_is_picked(tvms_as_buffer(load->buffer)->element, &lanes);
}

// Reals of integers that are known are numbers of the text.
static bool is_written(const tvms_node *node) {
  tvms_lanes lanes;
  return node->kind == TVMS_NODE_CAST && tvms_c_are_numbers(tvms_as_cast(node), &lanes);
}

static tvms_walk_step count_node(void *self, tvms_node *node, tvms_field_role role) {
  count_parts *c = self;
  (void)role;
  int lanes = node->dtype.lanes, bits = node->dtype.bits;
  bool real = tvms_dtype_is_real(node->dtype);
  if (lanes == c->lanes) {
    int each = real && bits < 32 ? 4 : bits < 8 ? 1 : bits / 8;
    const parted *known = node->kind == TVMS_NODE_VAR ? parts_of(c->s, node) : NULL;
    uint32_t parts = known ? known->count : 1;
    while ((uint32_t)(lanes * each) / parts > c->s->bytes)
      parts *= 2;
    if (parts > c->parts) c->parts = parts;
  }
  return is_place(node) || is_written(node) || node->kind == TVMS_NODE_BUFFER
             ? TVMS_WALK_SKIP
             : TVMS_WALK_ON;
}

static uint32_t parts_needed(splitter *s, tvms_node *value) {
  int lanes = value->dtype.lanes;
  count_parts c = {s, lanes, 1};
  if (lanes < 4 || lanes > MOST_LANES || lanes & (lanes - 1)) return 1;
  tvms_visitor visitor = {.self = &c, .enter = count_node};
  tvms_walk(&s->unit->context->memory, value, &visitor);
  return c.parts <= MOST_PARTS && (int)c.parts <= lanes / 2 ? c.parts : 1;
}

// ---- Parts of values ----

static tvms_node *take(const slice *p, tvms_node *node);

// So many lanes from number `first` on of some vectors.
static tvms_node *lanes_from(tvms_unit *unit, tvms_node *const *vectors, uint32_t count,
                             int first, int lanes) {
  tvms_node *indices[MOST_LANES];
  for (int i = 0; i < lanes; i++)
    indices[i] =
        tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), first + i, vectors[0]->span);
  tvms_shuffle *made = tvms_node_make(unit, SHUFFLE, vectors[0]->span);
  made->head.dtype = tvms_dtype_with_lanes(vectors[0]->dtype, lanes);
  made->vectors = tvms_list_copy(unit, vectors, count);
  made->indices = tvms_list_copy(unit, indices, (uint32_t)lanes);
  return &made->head;
}

// Picked from the whole.
static tvms_node *pick(const slice *p, tvms_node *node) {
  return lanes_from(p->s->unit, &node, 1, p->first, p->count);
}

static tvms_node *take_ramp(const slice *p, tvms_node *node) {
  const tvms_ramp *ramp = tvms_as_ramp(node);
  tvms_unit *unit = p->s->unit;
  tvms_node *first = tvms_int_imm_new(unit, ramp->base->dtype, p->first, node->span);
  if (!tvms_node_is_int(ramp->stride, 1))
    first = tvms_binary_new(unit, TVMS_NODE_MUL, first, ramp->stride, node->span);
  tvms_node *base = tvms_binary_new(unit, TVMS_NODE_ADD, ramp->base, first, node->span);
  return tvms_ramp_new(unit, base, ramp->stride, p->count, node->span);
}

static tvms_node *take_var(const slice *p, tvms_node *node) {
  const parted *known = parts_of(p->s, node);
  return known && known->count == p->parts ? known->parts[p->part] : pick(p, node);
}

static tvms_list take_list(const slice *p, tvms_list list) {
  tvms_list made = tvms_list_copy(p->s->unit, list.items, list.len);
  for (uint32_t i = 0; i < list.len; i++)
    made.items[i] = take(p, list.items[i]);
  return made;
}

// Of functions that are computed lane by lane.
static tvms_node *take_call(const slice *p, tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  tvms_tir_opcode opcode = tvms_call_opcode(node);
  bool plain = opcode && tvms_tir_op_row_of(opcode)->effect == TVMS_EFFECT_PURE;
  bool any = false;
  for (uint32_t i = 0; plain && i < call->args.len; i++) {
    int lanes = call->args.items[i]->dtype.lanes;
    plain = lanes == 1 || lanes == node->dtype.lanes;
    any |= lanes > 1;
  }
  if (!plain || !any) return pick(p, node);
  tvms_list args = take_list(p, call->args);
  return tvms_call_new(p->s->unit, tvms_dtype_with_lanes(node->dtype, p->count),
                       call->callee, args.items, args.len, node->span);
}

// What is in variables of C is picked from these (registers.h).
static bool may_be_register(const splitter *s, const tvms_node *buffer,
                            tvms_list indices) {
  int64_t number;
  if (indices.len != 1 || indices.items[0]->kind != TVMS_NODE_RAMP) return false;
  for (uint32_t i = 0; i < s->function->buffers.len; i++)
    if (s->function->buffers.items[i] == buffer) return false;
  return tvms_c_number(tvms_as_ramp(indices.items[0])->base, &number);
}

static tvms_node *take_load(const slice *p, tvms_node *node) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (may_be_register(p->s, load->buffer, load->indices)) return pick(p, node);
  tvms_list indices = take_list(p, load->indices);
  tvms_node *predicate = load->predicate ? take(p, load->predicate) : NULL;
  return tvms_buffer_load_new(p->s->unit, load->buffer, indices.items, indices.len,
                              predicate, node->span);
}

static tvms_node *take_let(const slice *p, tvms_node *node) {
  const tvms_let *let = tvms_as_let(node);
  if (let->var->dtype.lanes == 1)
    return tvms_let_new(p->s->unit, let->var, let->value, take(p, let->body),
                        node->span);
  return pick(p, node);
}

// What is computed in one register is computed there: a part is picked from that.
static tvms_node *take_cast(const slice *p, tvms_node *node) {
  tvms_node *value = tvms_as_cast(node)->value;
  bool computed = tvms_node_is_binary(value) || value->kind == TVMS_NODE_CAST
                  || value->kind == TVMS_NODE_CALL || value->kind == TVMS_NODE_SELECT;
  bool whole =
      computed && !tvms_dtype_is_bool(value->dtype) && parts_needed(p->s, value) == 1;
  return tvms_cast_new(p->s->unit, tvms_dtype_with_lanes(node->dtype, p->count),
                       whole ? pick(p, value) : take(p, value), node->span);
}

// Of parts that were joined here one is one again.
static tvms_node *take_shuffle(const slice *p, tvms_node *node) {
  const tvms_shuffle *source = tvms_as_shuffle(node);
  bool joins = source->vectors.len == p->parts && source->indices.len > 1;
  for (uint32_t i = 0; joins && i < p->parts; i++)
    joins = source->vectors.items[i]->dtype.lanes == p->count;
  for (uint32_t i = 0; joins && i < source->indices.len; i++)
    joins = tvms_node_is_int(source->indices.items[i], i);
  return joins ? source->vectors.items[p->part] : pick(p, node);
}

// What one register holds is compared there: a part of the truths is picked for nothing.
static bool is_compared_whole(splitter *s, tvms_node *node) {
  return tvms_node_is_binary(node) && tvms_dtype_is_bool(node->dtype)
         && !tvms_dtype_is_bool(tvms_as_binary(node)->a->dtype)
         && parts_needed(s, tvms_as_binary(node)->a) == 1
         && parts_needed(s, tvms_as_binary(node)->b) == 1;
}

// The lanes of a vector; a scalar is itself.
static tvms_node *take(const slice *p, tvms_node *node) {
  tvms_unit *unit = p->s->unit;
  if (node->dtype.lanes == 1) return node;
  if (is_compared_whole(p->s, node)) return pick(p, node);
  if (tvms_node_is_binary(node))
    return tvms_binary_new(unit, (tvms_node_kind)node->kind,
                           take(p, tvms_as_binary(node)->a),
                           take(p, tvms_as_binary(node)->b), node->span);
  switch ((int)node->kind) {
  case TVMS_NODE_RAMP: return take_ramp(p, node);
  case TVMS_NODE_BROADCAST:
    return tvms_broadcast_new(unit, tvms_as_broadcast(node)->value, p->count,
                              node->span);
  case TVMS_NODE_VAR: return take_var(p, node);
  case TVMS_NODE_CAST: return take_cast(p, node);
  case TVMS_NODE_NOT:
    return tvms_not_new(unit, take(p, tvms_as_not(node)->a), node->span);
  case TVMS_NODE_SELECT: {
    const tvms_select *choice = tvms_as_select(node);
    return tvms_select_new(unit, take(p, choice->condition),
                           take(p, choice->true_value), take(p, choice->false_value),
                           node->span);
  }
  case TVMS_NODE_CALL: return take_call(p, node);
  case TVMS_NODE_BUFFER_LOAD: return take_load(p, node);
  case TVMS_NODE_LET: return take_let(p, node);
  case TVMS_NODE_SHUFFLE: return take_shuffle(p, node);
  default: return pick(p, node);
  }
}

// ---- What is joined again ----

static tvms_node *joined(splitter *s, tvms_node *node, uint32_t count,
                         tvms_node *part_of(const slice *, tvms_node *)) {
  tvms_node *parts[MOST_PARTS];
  int lanes = node->dtype.lanes / (int)count;
  for (uint32_t i = 0; i < count; i++) {
    slice p = {s, (int)i * lanes, lanes, i, count};
    parts[i] = part_of(&p, node);
  }
  return lanes_from(s->unit, parts, count, 0, node->dtype.lanes);
}

static tvms_node *split_load(tvms_rewriter *r, tvms_node *node) {
  splitter *s = r->self;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (!load->predicate || load->indices.len != 1
      || load->indices.items[0]->kind == TVMS_NODE_RAMP)
    return node;
  uint32_t count = parts_needed(s, load->indices.items[0]);
  return count > 1 ? joined(s, node, count, take_load) : node;
}

// 0 < T.Cast("int64", truth) asks for the truth: nothing is converted.
static tvms_node *ask_truth(tvms_rewriter *r, tvms_node *node) {
  (void)r;
  const tvms_node *truth = tvms_c_truth_of(node);
  return truth ? (tvms_node *)truth : node;
}

static tvms_node *split_cast(tvms_rewriter *r, tvms_node *node) {
  splitter *s = r->self;
  const tvms_node *value = tvms_as_cast(node)->value;
  bool fits = (uint32_t)(node->dtype.lanes * tvms_c_bits_in_register(node->dtype) / 8)
              <= s->bytes;
  bool whole = tvms_node_is_binary(value) && !tvms_dtype_is_real(value->dtype);
  uint32_t count = fits && whole && !is_written(node)
                       ? parts_needed(s, tvms_as_cast(node)->value)
                       : 1;
  return count == 2 ? joined(s, node, count, take_cast) : node;
}

// ---- Statements ----

// Binds each part of a value in front of the statement at hand.
static void bind_parts(tvms_rewriter *r, tvms_node *value, uint32_t count,
                       parted *made) {
  splitter *s = r->self;
  int lanes = value->dtype.lanes / (int)count;
  made->count = count;
  for (uint32_t i = 0; i < count; i++) {
    slice p = {s, (int)i * lanes, lanes, i, count};
    tvms_node *part = take(&p, value);
    tvms_sym name = tvms_symbol_intern(s->unit->context, "part", 4);
    made->parts[i] = tvms_var_new(s->unit, name, part->dtype, value->span);
    tvms_bind *bind = tvms_node_make(s->unit, BIND, value->span);
    bind->value = part;
    bind->var = made->parts[i];
    tvms_rewrite_emit(r, &bind->head);
  }
}

// The whole stays for what cannot be divided; else nobody uses it.
static tvms_node *split_bind(tvms_rewriter *r, tvms_node *node) {
  splitter *s = r->self;
  const tvms_bind *bind = tvms_as_bind(node);
  uint32_t count = parts_needed(s, bind->value);
  if (count == 1) return node;
  parted made = {.var = bind->var};
  bind_parts(r, bind->value, count, &made);
  tvms_vec_push(&s->unit->context->memory, &s->known, made);
  return node;
}

static tvms_node *split_store(tvms_rewriter *r, tvms_node *node) {
  splitter *s = r->self;
  const tvms_store *store = tvms_as_store(node);
  uint32_t count = parts_needed(s, store->value), last = store->indices.len;
  bool line =
      count > 1 && last && store->indices.items[last - 1]->kind == TVMS_NODE_RAMP;
  if (!line || may_be_register(s, store->buffer, store->indices)) return node;
  parted made = {0};
  bind_parts(r, store->value, count, &made);
  int lanes = store->value->dtype.lanes / (int)count;
  tvms_node *part = node;
  for (uint32_t i = 0; i < count; i++) {
    slice p = {s, (int)i * lanes, lanes, i, count};
    if (i) tvms_rewrite_emit(r, part);
    part = tvms_node_copy(s->unit, node);
    tvms_store *copy = (tvms_store *)part;
    copy->value = made.parts[i];
    copy->indices = take_list(&p, store->indices);
    if (store->predicate) copy->predicate = take(&p, store->predicate);
  }
  return part;
}

tvms_node *tvms_c_split_wide(const tvms_member *member, uint32_t bytes) {
  const tvms_prim_func *function = tvms_as_prim_func(member->function);
  tvms_unit *unit = member->unit;
  splitter s = {.unit = unit, .function = function, .bytes = bytes};
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &s);
  r.leave[TVMS_NODE_BUFFER_LOAD] = split_load;
  r.leave[TVMS_NODE_LT] = ask_truth;
  r.leave[TVMS_NODE_CAST] = split_cast;
  r.leave[TVMS_NODE_BIND] = split_bind;
  r.leave[TVMS_NODE_STORE] = split_store;
  tvms_node *body = tvms_rewrite(&r, function->body);
  tvms_rewriter_fini(&r);
  tvms_vec_fini(&unit->context->memory, &s.known);
  return body;
}
