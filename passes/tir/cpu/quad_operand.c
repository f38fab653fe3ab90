// Words of four bytes of an operand.
#include "passes/tir/cpu/quad_operand.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

enum { HALF = 128, BYTE = 8, WORD = 32 };

static const tvms_dtype int32 = {TVMS_INT, WORD, 1};

// ---- Reading ----

static bool is_int(const tvms_node *node, uint32_t bits) {
  return node->dtype.code == TVMS_INT && node->dtype.bits >= bits
         && node->dtype.lanes == 1;
}

bool tvms_cpu_quad_read(const tvms_node *node, tvms_quad_operand *found) {
  enum { MOST_ZERO = 1 << 14 };  // with a byte it fits in 16 bits
  *found = (tvms_quad_operand){0};
  while (node->kind != TVMS_NODE_BUFFER_LOAD) {
    if (!is_int(node, 2 * BYTE)) return false;
    if (node->kind == TVMS_NODE_CAST) {
      node = tvms_as_cast(node)->value;
      continue;
    }
    if (node->kind != TVMS_NODE_SUB || found->zero) return false;
    const tvms_binary *difference = tvms_as_binary(node);
    if (!tvms_node_is_int_imm(difference->b)) return false;
    found->zero = tvms_as_int_imm(difference->b)->value;
    if (found->zero < -MOST_ZERO || found->zero > MOST_ZERO) return false;
    node = difference->a;
  }
  found->load = tvms_as_buffer_load(node);
  bool number = node->dtype.code == TVMS_INT || node->dtype.code == TVMS_UINT;
  return number && node->dtype.bits == BYTE && node->dtype.lanes == 1
         && !found->load->predicate;
}

static bool has_sign(const tvms_quad_operand *o) {
  return o->load->head.dtype.code == TVMS_INT;
}

bool tvms_cpu_quad_counts_from_zero(const tvms_quad_operand *o) {
  return has_sign(o) == o->shifted;
}

static int64_t shift_of(const tvms_quad_operand *o) {
  if (!o->shifted) return 0;
  return has_sign(o) ? HALF : -HALF;
}

int64_t tvms_cpu_quad_offset(const tvms_quad_operand *o) {
  return o->zero + shift_of(o);
}

uint32_t tvms_cpu_quad_dimension(tvms_unit *unit, const tvms_quad_operand *o,
                                 const tvms_stage_axis *axis) {
  const tvms_buffer *buffer = tvms_as_buffer(o->load->buffer);
  tvms_list indices = o->load->indices;
  uint32_t found = indices.len;
  if (buffer->strides.len || buffer->shape.len != indices.len) return found;
  for (uint32_t i = 0; i < indices.len; i++) {
    bool whole = indices.items[i] == axis->var
                 && tvms_node_same_expr(buffer->shape.items[i], axis->extent);
    bool other =
        !whole
        && tvms_walk_contains(&unit->context->memory, indices.items[i], axis->var);
    if (other || (whole && found < indices.len)) return indices.len;
    if (whole) found = i;
  }
  return found;
}

// ---- Words ----

static tvms_node *build(tvms_unit *unit, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(tvms_unit *unit, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(unit, like->dtype, value, TVMS_NO_SPAN);
}

static tvms_node *bits(tvms_unit *unit, tvms_tir_opcode op, tvms_node *a,
                       tvms_node *b) {
  tvms_node *args[] = {a, b};
  return tvms_call_new_of(unit, a->dtype, op, args, 2, TVMS_NO_SPAN);
}

// A byte of the word as a number of 32 bits; `high`: what stands above it is of no account.
static tvms_node *byte_at(tvms_unit *unit, const tvms_quad_operand *o,
                          const tvms_stage_axis *axis, tvms_node *step, bool high) {
  tvms_node_map at;
  tvms_node_map_init(&at, &unit->context->memory);
  tvms_node_map_put(&at, axis->var, step);
  tvms_node *load = (tvms_node *)(uintptr_t)&o->load->head;
  tvms_node *byte =
      tvms_cast_new(unit, int32, tvms_substitute(unit, load, &at), TVMS_NO_SPAN);
  tvms_node_map_fini(&at);
  if (o->shifted)
    byte = build(unit, TVMS_NODE_ADD, byte, number(unit, byte, shift_of(o)));
  bool negative = !tvms_cpu_quad_counts_from_zero(o);
  if (negative && !high)
    byte = bits(unit, TVMS_TIR_bitwise_and, byte, number(unit, byte, 255));
  return byte;
}

// All bits one if step < extent, else 0, without a condition: it is the same for all lanes.
static tvms_node *mask_of(tvms_unit *unit, tvms_node *step, tvms_node *extent) {
  tvms_node *behind = build(unit, TVMS_NODE_SUB, step, extent);
  behind = tvms_build_cast(unit, int32, behind, TVMS_NO_SPAN);
  return bits(unit, TVMS_TIR_shift_right, behind, number(unit, behind, WORD - 1));
}

tvms_node *tvms_cpu_quad_word(tvms_unit *unit, const tvms_quad_operand *o,
                              const tvms_stage_axis *axis, tvms_node *quad) {
  int64_t rest = tvms_cpu_number(axis->extent) % TVMS_QUAD;
  tvms_node *first = build(unit, TVMS_NODE_MUL, quad, number(unit, quad, TVMS_QUAD));
  tvms_node *last = build(unit, TVMS_NODE_SUB, axis->extent, number(unit, quad, 1));
  tvms_node *word = NULL;
  for (int64_t i = 0; i < TVMS_QUAD; i++) {
    tvms_node *step = build(unit, TVMS_NODE_ADD, first, number(unit, quad, i));
    bool behind = rest > 0 && i >= rest;
    tvms_node *inside = behind ? build(unit, TVMS_NODE_MIN, step, last) : step;
    tvms_node *byte = byte_at(unit, o, axis, inside, i + 1 == TVMS_QUAD);
    if (behind)
      byte = bits(unit, TVMS_TIR_bitwise_and, byte, mask_of(unit, step, axis->extent));
    if (i) byte = bits(unit, TVMS_TIR_shift_left, byte, number(unit, byte, BYTE * i));
    word = word ? bits(unit, TVMS_TIR_bitwise_or, word, byte) : byte;
  }
  return word;
}

tvms_node *tvms_cpu_quad_copy(tvms_unit *unit, const tvms_quad_operand *o,
                              const tvms_node *nest, uint32_t dimension,
                              tvms_node **words) {
  const tvms_buffer *buffer = tvms_as_buffer(o->load->buffer);
  tvms_stage stage = {.nest = (tvms_node *)(uintptr_t)nest,
                      .name = "words",
                      .count = buffer->shape.len};
  tvms_node *places[TVMS_MOST_STAGE_AXES], *shape[TVMS_MOST_STAGE_AXES];
  tvms_quad_operand whole = *o;
  tvms_stage_axis axis = {.extent = buffer->shape.items[dimension]};
  for (uint32_t i = 0; i < stage.count; i++) {
    shape[i] = buffer->shape.items[i];
    if (i == dimension)
      shape[i] = number(unit, shape[i],
                        (tvms_cpu_number(shape[i]) + TVMS_QUAD - 1) / TVMS_QUAD);
    places[i] = tvms_cpu_variable(unit, "i", shape[i]);
    stage.axes[i] = (tvms_stage_axis){.var = places[i], .extent = shape[i]};
  }
  *words = tvms_cpu_buffer(unit, "words", int32, "global", shape, stage.count);
  tvms_list at = tvms_list_copy(unit, places, stage.count);
  tvms_node *quad = places[dimension];
  axis.var = places[dimension] = tvms_cpu_variable(unit, "k", quad);
  whole.load = tvms_as_buffer_load(tvms_buffer_load_new(
      unit, o->load->buffer, places, stage.count, NULL, TVMS_NO_SPAN));
  tvms_node *word = tvms_cpu_quad_word(unit, &whole, &axis, quad);
  return tvms_stage_write(unit, &stage, stage.name,
                          tvms_cpu_store(unit, *words, at, word), NULL);
}

// ---- Products ----

tvms_node *tvms_cpu_quad_product(tvms_unit *unit, tvms_node *u, tvms_node *s) {
  tvms_node *args[] = {u, s};
  return tvms_call_new_of(unit, int32, TVMS_TIR_dp4a, args, 2, TVMS_NO_SPAN);
}

tvms_node *const *TVMS_NULLABLE tvms_cpu_quad_factors(const tvms_node *node) {
  if (node->kind != TVMS_NODE_CALL || tvms_call_opcode(node) != TVMS_TIR_dp4a)
    return NULL;
  tvms_list args = tvms_as_call(node)->args;
  return args.len == 2 && tvms_dtype_same(args.items[0]->dtype, int32) ? args.items
                                                                       : NULL;
}

static tvms_node *write_out(tvms_rewriter *r, tvms_node *node) {
  tvms_node *const *words = tvms_cpu_quad_factors(node);
  return words ? tvms_build_quad(r->unit, words[0], words[1]) : node;
}

tvms_node *tvms_cpu_quads_write_out(tvms_unit *unit, tvms_node *body) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, NULL);
  r.leave[TVMS_NODE_CALL] = write_out;
  body = tvms_rewrite(&r, body);
  tvms_rewriter_fini(&r);
  return body;
}
