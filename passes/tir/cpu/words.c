// Vectors of words as floats of their bytes.
#include "passes/tir/cpu/words.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/walk.h"
#include "passes/tir/cpu/places.h"

bool tvms_cpu_words_gain(const tvms_target *target) {
  enum { LEAST_BITS = 256 };
  return tvms_target_is_of(target, "x86_64") && target->vector_bits >= LEAST_BITS;
}

const tvms_buffer_load *TVMS_NULLABLE tvms_cpu_byte_of(const tvms_node *node) {
  if (node->kind != TVMS_NODE_CAST || node->dtype.code != TVMS_FLOAT
      || node->dtype.bits != 32)
    return NULL;
  const tvms_node *value = tvms_as_cast(node)->value;
  if (value->kind != TVMS_NODE_BUFFER_LOAD || value->dtype.bits != 8) return NULL;
  bool is_number = value->dtype.code == TVMS_INT || value->dtype.code == TVMS_UINT;
  return is_number ? tvms_as_buffer_load(value) : NULL;
}

bool tvms_cpu_goes_along(tvms_unit *unit, tvms_list indices, const tvms_node *line) {
  int64_t step;
  if (indices.len == 0) return false;
  for (uint32_t i = 0; i + 1 < indices.len; i++) {
    if (tvms_walk_contains(&unit->context->memory, indices.items[i], line))
      return false;
  }
  return tvms_cpu_index_step(unit, indices.items[indices.len - 1], line, &step)
         && step == 1;
}

tvms_node *tvms_cpu_for_words(tvms_unit *unit, const tvms_buffer_load *bytes,
                              tvms_node *value) {
  const double highest = 1.0 / (1 << 24);
  if (bytes->head.dtype.code != TVMS_INT) return value;
  return tvms_build_binary(unit, TVMS_NODE_MUL, value,
                           tvms_build_float(unit, value->dtype, highest, TVMS_NO_SPAN),
                           TVMS_NO_SPAN);
}

tvms_node *tvms_cpu_vector_at(tvms_unit *unit, tvms_node *begin, int64_t lanes) {
  tvms_node *one = tvms_int_imm_new(unit, begin->dtype, 1, TVMS_NO_SPAN);
  return tvms_ramp_new(unit, begin, one, (int)lanes, TVMS_NO_SPAN);
}

static tvms_node *all_lanes(tvms_unit *unit, tvms_node *value, int lanes) {
  value = tvms_build_cast(unit, TVMS_DTYPE(INT, 32), value, TVMS_NO_SPAN);
  return tvms_broadcast_new(unit, value, lanes, TVMS_NO_SPAN);
}

// Bits by which words are shifted: up so that the byte is the highest, or down so that it is the lowest.
static tvms_node *shift_of(tvms_unit *unit, tvms_node *byte, bool up) {
  tvms_node *bits = tvms_build_binary(
      unit, TVMS_NODE_MUL, byte, tvms_int_imm_new(unit, byte->dtype, 8, TVMS_NO_SPAN),
      TVMS_NO_SPAN);
  if (!up) return bits;
  return tvms_build_binary(unit, TVMS_NODE_SUB,
                           tvms_int_imm_new(unit, byte->dtype, 24, TVMS_NO_SPAN), bits,
                           TVMS_NO_SPAN);
}

tvms_node *tvms_cpu_floats_of_words(tvms_unit *unit, const tvms_buffer_load *first,
                                    tvms_node *byte, int lanes) {
  tvms_dtype words = tvms_dtype_with_lanes(TVMS_DTYPE(INT, 32), lanes);
  bool sign = first->head.dtype.code == TVMS_INT;
  tvms_list at = tvms_list_copy(unit, first->indices.items, first->indices.len);
  at.items[at.len - 1] =
      tvms_cpu_vector_at(unit, at.items[at.len - 1], TVMS_CPU_WORD * lanes);
  tvms_node *loaded =
      tvms_buffer_load_new(unit, first->buffer, at.items, at.len, NULL, TVMS_NO_SPAN);
  tvms_node *shifted[] = {
      tvms_call_new_of(unit, words, TVMS_TIR_reinterpret, &loaded, 1, TVMS_NO_SPAN),
      all_lanes(unit, shift_of(unit, byte, sign), lanes)};
  tvms_tir_opcode direction = sign ? TVMS_TIR_shift_left : TVMS_TIR_shift_right;
  tvms_node *mask = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), sign ? -(1 << 24) : 255,
                                     TVMS_NO_SPAN);
  tvms_node *both[] = {
      tvms_call_new_of(unit, words, direction, shifted, 2, TVMS_NO_SPAN),
      all_lanes(unit, mask, lanes)};
  tvms_node *kept =
      tvms_call_new_of(unit, words, TVMS_TIR_bitwise_and, both, 2, TVMS_NO_SPAN);
  return tvms_cast_new(unit, tvms_dtype_with_lanes(TVMS_DTYPE(FLOAT, 32), lanes), kept,
                       TVMS_NO_SPAN);
}
