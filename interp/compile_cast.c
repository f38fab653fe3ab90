// Code of conversions between kinds of numbers.
#include "interp/compile_cast.h"

#include "interp/compile_expr.h"
#include "ir/build.h"

typedef tvms_interp_maker maker;

bool tvms_interp_cast_is_plain(const tvms_node *node) {
  tvms_dtype from = tvms_as_cast(node)->value->dtype, to = node->dtype;
  return !tvms_dtype_is_handle(from) && !tvms_dtype_is_handle(to)
         && from.lanes == to.lanes;
}

// Do all values of `from` fit `to`?
static bool widens(tvms_dtype from, tvms_dtype to) {
  if (tvms_dtype_is_bool(from)) return true;
  if (tvms_dtype_is_bool(to)) return false;
  if (from.code == to.code) return from.bits <= to.bits;
  return tvms_dtype_is_uint(from) && from.bits < to.bits;
}

// From integers to reals.
static void make_real_of(maker *m, const tvms_node *node, tvms_dtype from,
                         uint32_t slot, uint32_t a) {
  tvms_dtype to = node->dtype;
  bool plain = !(tvms_dtype_is_uint(from) && from.bits == 64);
  if (plain && tvms_interp_is_f32(to)) {
    tvms_interp_emit(m, TVMS_CODE_I64_TO_F32, node, slot, a, 0);
  } else if (plain && to.code == TVMS_FLOAT && to.bits == 64) {
    tvms_interp_emit(m, TVMS_CODE_I64_TO_F64, node, slot, a, 0);
  } else {
    tvms_interp_emit(m, TVMS_CODE_CONVERT, node, slot, a, 0);
    if (tvms_interp_is_f32(to))
      tvms_interp_emit(m, TVMS_CODE_NARROW, node, slot, slot, 0);
  }
}

uint32_t tvms_interp_make_cast(maker *m, const tvms_node *node) {
  const tvms_node *value = tvms_as_cast(node)->value;
  tvms_dtype from = value->dtype, to = node->dtype;
  uint32_t slot = tvms_interp_new_temporary(m), used = m->used;
  uint32_t a = tvms_interp_make_value(m, value);
  m->used = used;
  bool from_real = tvms_dtype_is_real(from), to_real = tvms_dtype_is_real(to);
  if (!from_real && !to_real && widens(from, to)) {
    tvms_interp_emit(m, TVMS_CODE_MOVE, node, slot, a, 0);
  } else if (!from_real && !to_real) {
    tvms_interp_emit(m, TVMS_CODE_MOVE, node, slot, a, 0);
    tvms_interp_make_fit(m, node, slot);
  } else if (!from_real) {
    make_real_of(m, node, from, slot, a);
  } else if (tvms_interp_is_f32(from) && tvms_interp_is_f32(to)) {
    tvms_interp_emit(m, TVMS_CODE_MOVE, node, slot, a, 0);
  } else {
    bool f32 = tvms_interp_is_f32(from);
    if (f32) tvms_interp_emit(m, TVMS_CODE_WIDEN, node, slot, a, 0);
    tvms_interp_emit(m, TVMS_CODE_CONVERT, node, slot, f32 ? slot : a, 0);
    if (tvms_interp_is_f32(to))
      tvms_interp_emit(m, TVMS_CODE_NARROW, node, slot, slot, 0);
  }
  return slot;
}
