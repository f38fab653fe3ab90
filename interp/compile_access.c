// Code of loads and stores.
//
// An access computes its indices, checks each against the shape and the element against the
// memory, and moves the bits. One that is a stream (interp/compile_stream.c) begins with the
// instruction for that, which passes by the others where the stream is good.
#include "interp/compile_access.h"

#include "interp/compile_expr.h"
#include "interp/compile_stream.h"
#include "ir/build.h"

typedef tvms_interp_maker maker;

typedef tvms_interp_access access;

access tvms_interp_access_of(const tvms_node *node) {
  bool loads = node->kind == TVMS_NODE_BUFFER_LOAD;
  const tvms_node *buffer =
      loads ? tvms_as_buffer_load(node)->buffer : tvms_as_store(node)->buffer;
  tvms_list indices =
      loads ? tvms_as_buffer_load(node)->indices : tvms_as_store(node)->indices;
  return (access){node, tvms_as_buffer(buffer), indices};
}

// ---- Addresses ----

void tvms_interp_make_use(maker *m, const access *x) {
  if (m->facts[x->buffer->head.id].definite) return;
  uint32_t at =
      tvms_interp_make_tree(m, TVMS_CODE_USE, &x->buffer->head, m->depth, 0, 0);
  m->notes.items[at].node = x->node;
}

static const tvms_interp_opcode address_ops[] = {TVMS_CODE_AT_0, TVMS_CODE_AT_1,
                                                 TVMS_CODE_AT_2, TVMS_CODE_AT_3};

// The slot of the element's address. An index is checked before the next one is computed
// if that may end in a fault of its own.
static uint32_t make_checked_address(maker *m, const access *x) {
  uint32_t slot = tvms_interp_new_temporary(m), used = m->used, ndim = x->indices.len;
  uint32_t buffer = x->buffer->head.id, few[8], careful = 0;
  uint32_t *slots =
      ndim <= 8 ? few : tvms_arena_array(&m->context->scratch, uint32_t, ndim);
  for (uint32_t i = 0; i < ndim; i++)
    if (!tvms_interp_is_without_effects(m, x->indices.items[i])) careful = i;
  for (uint32_t i = 0; i < ndim; i++) {
    slots[i] = tvms_interp_make_value(m, x->indices.items[i]);
    if (i < careful)
      tvms_interp_emit_n(m, TVMS_CODE_CHECK, x->node, i, 0, buffer, slots[i]);
  }
  uint32_t b = ndim == 1 ? slots[0] : tvms_interp_new_list(m, slots, ndim);
  tvms_interp_opcode op = ndim < 4 ? address_ops[ndim] : TVMS_CODE_AT_N;
  tvms_interp_emit(m, op, x->node, slot, buffer, b);
  m->used = used;
  return slot;
}

// The same, of a stream if it is one.
static uint32_t make_address(maker *m, const access *x) {
  uint32_t stream = tvms_interp_stream_of(m, x);
  if (!stream) return make_checked_address(m, x);
  uint32_t slot = tvms_interp_new_temporary(m), used = m->used;
  uint32_t at =
      tvms_interp_emit(m, TVMS_CODE_AT_STREAM, x->node, slot, stream, m->around->var);
  uint32_t address = make_checked_address(m, x);
  tvms_interp_emit(m, TVMS_CODE_MOVE, x->node, slot, address, 0);
  tvms_interp_pass_by(m, at);
  m->used = used;
  return slot;
}

// ---- Loads and stores ----

typedef struct {
  tvms_interp_opcode load, load_from, store, store_to;
} moves;

#define MOVES(LOAD, STORE)                                                             \
  {                                                                                    \
    TVMS_CODE_LOAD_##LOAD, TVMS_CODE_LOAD_FROM_##LOAD, TVMS_CODE_STORE_##STORE,        \
        TVMS_CODE_STORE_TO_##STORE                                                     \
  }

// The instructions for elements of a kind; for small floats only the address is of a stream.
static moves moves_of(tvms_dl_type type) {
  static const moves of_int[] = {MOVES(I8, I8), MOVES(I16, I16), MOVES(I32, I32),
                                 MOVES(I64, I64)};
  static const moves of_uint[] = {MOVES(U8, I8), MOVES(U16, I16), MOVES(U32, I32),
                                  MOVES(I64, I64)};
  static const moves of_f32 = MOVES(F32, F32), of_f64 = MOVES(F64, F64);
  static const moves of_bool = MOVES(BOOL, I8), of_rest = {.load = TVMS_CODE_LOAD,
                                                           .load_from = TVMS_CODE_LOAD,
                                                           .store = TVMS_CODE_STORE,
                                                           .store_to = TVMS_CODE_STORE};
  uint32_t size = type.bits == 8 ? 0 : type.bits == 16 ? 1 : type.bits == 32 ? 2 : 3;
  if (type.code == TVMS_DL_INT) return of_int[size];
  if (type.code == TVMS_DL_UINT) return of_uint[size];
  if (type.code == TVMS_DL_HANDLE) return of_int[3];
  if (type.code == TVMS_DL_BOOL) return of_bool;
  if (type.code == TVMS_DL_FLOAT && type.bits == 32) return of_f32;
  return type.code == TVMS_DL_FLOAT && type.bits == 64 ? of_f64 : of_rest;
}

// As many indices as dimensions, and a value of the type of the buffer, whose elements are no
// vectors.
static bool is_plain(const access *x, tvms_dtype value) {
  tvms_dl_type element = tvms_interp_dl_type_of(x->buffer->element);
  tvms_dl_type type = tvms_interp_dl_type_of(value);
  bool plain = x->indices.len == x->buffer->shape.len && element.lanes == 1
               && tvms_dl_element_size(element) > 0 && type.lanes >= 1
               && type.code == element.code && type.bits == element.bits;
  for (uint32_t i = 0; i < x->indices.len; i++) {
    tvms_dtype index = x->indices.items[i]->dtype;
    plain &= index.lanes >= 1 && !tvms_dtype_is_real(index);
  }
  return plain;
}

static uint32_t type_operand(tvms_dl_type type) {
  return (uint32_t)type.code << 8 | type.bits;
}

uint32_t tvms_interp_make_load(maker *m, const tvms_node *node) {
  access x = tvms_interp_access_of(node);
  uint32_t slot = tvms_interp_new_temporary(m), used = m->used;
  tvms_dl_type type = tvms_interp_dl_type_of(x.buffer->element);
  if (tvms_as_buffer_load(node)->predicate || !is_plain(&x, node->dtype)) {
    tvms_interp_make_tree(m, TVMS_CODE_EVAL, node, m->depth - 1, slot, 0);
    if (tvms_interp_is_f32(node->dtype))
      tvms_interp_emit(m, TVMS_CODE_NARROW, node, slot, slot, 0);
    return slot;
  }
  moves move = moves_of(type);
  uint32_t stream = move.load_from != move.load ? tvms_interp_stream_of(m, &x) : 0,
           at = 0;
  if (stream)
    at = tvms_interp_emit(m, move.load_from, node, slot, stream, m->around->var);
  tvms_interp_make_use(m, &x);
  uint32_t address = stream ? make_checked_address(m, &x) : make_address(m, &x);
  tvms_interp_emit_n(m, move.load, node, type_operand(type), slot, address, 0);
  if (stream) tvms_interp_pass_by(m, at);
  m->used = used;
  return slot;
}

// The stream of a load of float32; 0 if the expression is none.
static uint32_t stream_of_load(maker *m, const tvms_node *node) {
  if (node->kind != TVMS_NODE_BUFFER_LOAD || !tvms_interp_is_f32(node->dtype)) return 0;
  access x = tvms_interp_access_of(node);
  bool plain = !tvms_as_buffer_load(node)->predicate && is_plain(&x, node->dtype);
  return plain ? tvms_interp_stream_of(m, &x) : 0;
}

// x[…] = x[…] + y[…] * z[…], where all are streams: one instruction, which passes by the others.
static bool make_multiply_add(maker *m, const tvms_store *store, uint32_t *at) {
  const tvms_node *sum = store->value;
  if (sum->kind != TVMS_NODE_ADD || sum->dtype.lanes != 1 || !m->around) return false;
  const tvms_node *product = tvms_as_binary(sum)->b;
  if (product->kind != TVMS_NODE_MUL) return false;
  access x = tvms_interp_access_of(&store->head);
  const tvms_node *loads[] = {tvms_as_binary(sum)->a, tvms_as_binary(product)->a,
                              tvms_as_binary(product)->b};
  for (uint32_t i = 0; i < 3; i++) {
    if (loads[i]->kind != TVMS_NODE_BUFFER_LOAD || !tvms_interp_is_f32(loads[i]->dtype))
      return false;
  }
  uint32_t slots[4] = {tvms_interp_stream_of(m, &x)};
  for (uint32_t i = 0; i < 3 && slots[i]; i++)
    slots[i + 1] = stream_of_load(m, loads[i]);
  if (!slots[0] || !slots[1] || !slots[2] || !slots[3]) return false;
  uint32_t list = tvms_interp_new_list(m, slots, 4);
  *at = tvms_interp_emit(m, TVMS_CODE_MULTIPLY_ADD, &store->head, 0, list,
                         m->around->var);
  return true;
}

// All lanes are computed before the first is written.
static bool make_vector_store(maker *m, const tvms_store *store, const access *x) {
  enum { MOST = 16 };
  uint32_t values[MOST], addresses[MOST], used = m->used;
  uint32_t lanes = (uint32_t)store->value->dtype.lanes;
  tvms_dl_type type = tvms_interp_dl_type_of(x->buffer->element);
  if (lanes > MOST) return false;
  tvms_interp_make_use(m, x);
  for (uint32_t i = 0; i < lanes; i++) {
    m->lane = i;
    values[i] = tvms_interp_make_value(m, store->value);
    addresses[i] = make_address(m, x);
  }
  m->lane = 0;
  for (uint32_t i = 0; i < lanes; i++) {
    tvms_interp_emit_n(m, moves_of(type).store, &store->head, type_operand(type), 0,
                       addresses[i], values[i]);
  }
  m->used = used;
  return true;
}

bool tvms_interp_make_store(maker *m, const tvms_node *node) {
  const tvms_store *store = tvms_as_store(node);
  access x = tvms_interp_access_of(node);
  if (store->predicate || !is_plain(&x, store->value->dtype)) return false;
  if (store->value->dtype.lanes > 1) return make_vector_store(m, store, &x);
  uint32_t used = m->used, all = 0, at = 0;
  tvms_dl_type type = tvms_interp_dl_type_of(x.buffer->element);
  moves move = moves_of(type);
  bool fused = make_multiply_add(m, store, &all);
  tvms_interp_make_use(m, &x);
  uint32_t value = tvms_interp_make_value(m, store->value);
  uint32_t stream = move.store_to != move.store ? tvms_interp_stream_of(m, &x) : 0;
  if (stream)
    at = tvms_interp_emit(m, move.store_to, node, m->around->var, stream, value);
  uint32_t address = stream ? make_checked_address(m, &x) : make_address(m, &x);
  tvms_interp_emit_n(m, move.store, node, type_operand(type), 0, address, value);
  if (stream) tvms_interp_pass_by(m, at);
  if (fused) tvms_interp_pass_by(m, all);
  m->used = used;
  return true;
}
