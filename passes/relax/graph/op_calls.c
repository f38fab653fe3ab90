// Calls of operators that passes over graphs make, with their attributes.
#include "passes/relax/graph/op_calls.h"

#include "ir/object.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <string.h>

static tvms_node *int_object(tvms_relax_mutator *m, int64_t value) {
  return tvms_object_int_new(m->unit, value, TVMS_NO_SPAN);
}

tvms_node *tvms_relax_op_ints(tvms_unit *unit, const int64_t *values, uint32_t count) {
  tvms_node **items = tvms_arena_array(&unit->arena, tvms_node *, count + 1);
  for (uint32_t i = 0; i < count; i++)
    items[i] = tvms_object_int_new(unit, values[i], TVMS_NO_SPAN);
  return tvms_object_array_new(unit, items, count, TVMS_NO_SPAN);
}

tvms_node *tvms_relax_op_unary(tvms_relax_mutator *m, tvms_opcode opcode,
                               tvms_node *x) {
  return tvms_relax_op(m, opcode, &x, 1);
}

tvms_node *tvms_relax_op_binary(tvms_relax_mutator *m, tvms_opcode opcode, tvms_node *a,
                                tvms_node *b) {
  tvms_node *args[] = {a, b};
  return tvms_relax_op(m, opcode, args, 2);
}

tvms_node *tvms_relax_op_matmul(tvms_relax_mutator *m, tvms_node *a, tvms_node *b,
                                tvms_dtype dtype) {
  tvms_node *args[] = {a, b}, *attr = NULL;
  if (!tvms_dtype_is_void(dtype))
    attr = tvms_object_dtype_new(m->unit, dtype, TVMS_NO_SPAN);
  return tvms_relax_op_with(m, TVMS_R_matmul, args, 2, &attr);
}

tvms_node *tvms_relax_op_permute(tvms_relax_mutator *m, tvms_node *x,
                                 const int64_t *axes, uint32_t count) {
  tvms_node *attr = axes ? tvms_relax_op_ints(m->unit, axes, count) : NULL;
  return tvms_relax_op_with(m, TVMS_R_permute_dims, &x, 1, &attr);
}

// Where the axis `i` of a transpose comes from.
static int64_t transposed_axis(int64_t ndim, int64_t i) {
  return i + 2 < ndim ? i : 2 * ndim - 3 - i;
}

bool tvms_relax_op_is_transpose(const tvms_node *value) {
  if (tvms_op_called(value) != TVMS_R_permute_dims) return false;
  const tvms_call *call = tvms_as_call(value);
  const tvms_node *type = call->args.items[0]->sinfo;
  int64_t ndim = tvms_sinfo_is_tensor(type) ? tvms_as_sinfo_tensor(type)->ndim : -1;
  if (ndim < 2) return false;
  if (!tvms_attr(call, TVMS_ATTR_opt_axes_axes)) return ndim == 2;
  tvms_list axes = tvms_attr_list(call, TVMS_ATTR_opt_axes_axes);
  for (uint32_t i = 0; i < axes.len; i++)
    if (tvms_attr_item_int(axes.items[i]) != transposed_axis(ndim, i)) return false;
  return axes.len == ndim;
}

tvms_node *tvms_relax_op_transpose(tvms_relax_mutator *m, tvms_node *x, uint32_t ndim) {
  int64_t *axes = tvms_arena_array(&m->unit->arena, int64_t, ndim);
  for (uint32_t i = 0; i < ndim; i++)
    axes[i] = transposed_axis(ndim, i);
  return tvms_relax_op_permute(m, x, axes, ndim);
}

tvms_node *tvms_relax_op_concat(tvms_relax_mutator *m, tvms_node *const *tensors,
                                uint32_t count, int64_t axis) {
  tvms_node *tuple = tvms_relax_make_tuple(m, tensors, count);
  tvms_node *attr = int_object(m, axis);
  return tvms_relax_op_with(m, TVMS_R_concat, &tuple, 1, &attr);
}

tvms_node *tvms_relax_op_split(tvms_relax_mutator *m, tvms_node *x,
                               const int64_t *places, uint32_t count, int64_t axis) {
  tvms_node *attrs[TVMS_ATTR_split_COUNT] = {
      [TVMS_ATTR_split_indices_or_sections] =
          tvms_relax_op_ints(m->unit, places, count),
      [TVMS_ATTR_split_axis] = int_object(m, axis),
  };
  return tvms_relax_op_with(m, TVMS_R_split, &x, 1, attrs);
}

tvms_node *tvms_relax_op_expand_dims(tvms_relax_mutator *m, tvms_node *x,
                                     const int64_t *axes, uint32_t count) {
  tvms_node *attr = tvms_relax_op_ints(m->unit, axes, count);
  return tvms_relax_op_with(m, TVMS_R_expand_dims, &x, 1, &attr);
}

tvms_node *tvms_relax_op_reshape(tvms_relax_mutator *m, tvms_node *x,
                                 tvms_node *const *dims, uint32_t count) {
  tvms_node *args[] = {x,
                       tvms_sinfo_shape_value_new(m->unit, dims, count, TVMS_NO_SPAN)};
  return tvms_relax_op(m, TVMS_R_reshape, args, 2);
}

tvms_node *tvms_relax_op_take(tvms_relax_mutator *m, tvms_node *x, tvms_node *indices,
                              int64_t axis, const char *mode) {
  tvms_node *args[] = {x, indices};
  tvms_node *attrs[TVMS_ATTR_take_COUNT] = {
      [TVMS_ATTR_take_axis] = int_object(m, axis),
      [TVMS_ATTR_take_mode] =
          tvms_object_str_new(m->unit, mode, strlen(mode), TVMS_NO_SPAN),
  };
  return tvms_relax_op_with(m, TVMS_R_take, args, 2, attrs);
}

tvms_node *tvms_relax_op_reduce(tvms_relax_mutator *m, tvms_opcode opcode, tvms_node *x,
                                const int64_t *axes, uint32_t count, bool keepdims) {
  tvms_node *attrs[TVMS_ATTR_reduction_COUNT] = {
      [TVMS_ATTR_reduction_axis] = tvms_relax_op_ints(m->unit, axes, count),
      [TVMS_ATTR_reduction_keepdims] =
          tvms_object_bool_new(m->unit, keepdims, TVMS_NO_SPAN),
  };
  return tvms_relax_op_with(m, opcode, &x, 1, attrs);
}

// The bits of a float16 next to `value`, ties to even.
static uint16_t half_bits(double value) {
  float single = (float)value;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  uint32_t sign = bits >> 16 & 0x8000u, mantissa = bits & 0x7fffffu;
  int32_t exponent = (int32_t)(bits >> 23 & 0xffu) - 112;
  if (exponent >= 31) return (uint16_t)(sign | 0x7c00u);
  if (exponent < -10) return (uint16_t)sign;
  uint32_t shift = 13;
  if (exponent <= 0) {
    mantissa |= 0x800000u;
    shift += (uint32_t)(1 - exponent);
    exponent = 0;
  }
  uint32_t half = 1u << (shift - 1), rest = mantissa & ((1u << shift) - 1);
  uint32_t rounded = ((uint32_t)exponent << 10) + (mantissa >> shift);
  rounded += rest > half || (rest == half && rounded & 1);
  return (uint16_t)(sign | rounded);
}

tvms_node *tvms_relax_op_scalar(tvms_relax_mutator *m, double value, tvms_dtype dtype) {
  char bytes[8] = {0};
  size_t size = (dtype.bits + 7u) / 8u;
  if (dtype.code == TVMS_FLOAT && dtype.bits == 64) {
    memcpy(bytes, &value, sizeof value);
  } else if (dtype.code == TVMS_FLOAT && dtype.bits == 16) {
    uint16_t half = half_bits(value);
    memcpy(bytes, &half, sizeof half);
  } else if (dtype.code == TVMS_FLOAT || dtype.code == TVMS_BFLOAT) {
    float single = (float)value;
    memcpy(bytes, (const char *)&single + (dtype.code == TVMS_BFLOAT ? 2 : 0), size);
  } else {
    int64_t integer = (int64_t)value;
    memcpy(bytes, &integer, size);
  }
  tvms_constant *constant = tvms_node_make(m->unit, CONSTANT, TVMS_NO_SPAN);
  constant->element = dtype;
  constant->data = tvms_bytes_copy(m->unit, bytes, size);
  tvms_node *shape = tvms_sinfo_shape_value_new(m->unit, NULL, 0, TVMS_NO_SPAN);
  constant->head.sinfo = tvms_sinfo_tensor_new(m->unit, shape, dtype, NULL);
  return &constant->head;
}

bool tvms_relax_op_norm_uses_given(const tvms_relax_mutator *m, const tvms_call *norm) {
  bool training = tvms_attr_bool(norm, TVMS_ATTR_batch_norm_training);
  return training
         != tvms_release_has(m->unit->dialect,
                             TVMS_FACT_training_uses_fresh_statistics);
}
