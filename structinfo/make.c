// Building StructInfo.
#include "ir/build.h"
#include "structinfo/sinfo.h"

#include <inttypes.h>
#include <stdio.h>

tvms_node *tvms_object_type(tvms_unit *unit) {
  return &tvms_make(unit, SINFO_OBJECT, TVMS_NO_SPAN)->head;
}

tvms_node *tvms_prim_type(tvms_unit *unit, tvms_dtype dtype,
                          tvms_node *TVMS_NULLABLE value) {
  tvms_struct_SINFO_PRIM *prim = tvms_make(unit, SINFO_PRIM, TVMS_NO_SPAN);
  prim->head.dtype = dtype;
  prim->value = value;
  return &prim->head;
}

tvms_node *tvms_dim_const(tvms_unit *unit, int64_t value) {
  return tvms_int_imm_new(unit, TVMS_DTYPE(INT, 64), value, TVMS_NO_SPAN);
}

// Copies dimensions; constants of another type become int64.
static tvms_list copy_dims(tvms_unit *unit, tvms_node *const *values, uint32_t count) {
  tvms_list list = tvms_list_copy(unit, values, count);
  for (uint32_t i = 0; i < count; i++) {
    tvms_node *dim = list.items[i];
    if (dim->kind == TVMS_NODE_INT_IMM && dim->dtype.bits != 64) {
      list.items[i] = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 64),
                                       tvms_as_int_imm(dim)->value, dim->span);
    }
  }
  return list;
}

static tvms_node *shape_of_list(tvms_unit *unit, tvms_list values) {
  tvms_struct_SINFO_SHAPE *shape = tvms_make(unit, SINFO_SHAPE, TVMS_NO_SPAN);
  shape->head.flags = TVMS_FLAG_KNOWN;
  shape->values = values;
  shape->ndim = values.len;
  return &shape->head;
}

tvms_node *tvms_shape_type(tvms_unit *unit, tvms_node *const *values, uint32_t count) {
  return shape_of_list(unit, copy_dims(unit, values, count));
}

tvms_node *tvms_shape_type_ndim(tvms_unit *unit, int64_t ndim) {
  tvms_struct_SINFO_SHAPE *shape = tvms_make(unit, SINFO_SHAPE, TVMS_NO_SPAN);
  shape->ndim = ndim;
  return &shape->head;
}

tvms_node *tvms_shape_value(tvms_unit *unit, tvms_node *const *values, uint32_t count,
                            tvms_span span) {
  tvms_struct_SHAPE_EXPR *shape = tvms_make(unit, SHAPE_EXPR, span);
  shape->values = copy_dims(unit, values, count);
  shape->head.sinfo = shape_of_list(unit, shape->values);
  return &shape->head;
}

tvms_node *tvms_tensor_type(tvms_unit *unit, tvms_node *shape, tvms_dtype dtype,
                            tvms_node *TVMS_NULLABLE vdevice) {
  tvms_struct_SINFO_TENSOR *tensor = tvms_make(unit, SINFO_TENSOR, TVMS_NO_SPAN);
  tensor->head.dtype = dtype;
  tensor->shape = shape;
  tensor->vdevice = vdevice;
  tensor->ndim = TVMS_UNKNOWN_NDIM;
  const tvms_node *type = shape->sinfo;
  if (type && type->kind == TVMS_NODE_SINFO_SHAPE) {
    tensor->ndim = tvms_as_sinfo_shape(type)->ndim;
  }
  return &tensor->head;
}

tvms_node *tvms_tensor_type_ndim(tvms_unit *unit, int64_t ndim, tvms_dtype dtype,
                                 tvms_node *TVMS_NULLABLE vdevice) {
  tvms_struct_SINFO_TENSOR *tensor = tvms_make(unit, SINFO_TENSOR, TVMS_NO_SPAN);
  tensor->head.dtype = dtype;
  tensor->vdevice = vdevice;
  tensor->ndim = ndim;
  return &tensor->head;
}

tvms_node *tvms_tuple_type(tvms_unit *unit, tvms_node *const *fields, uint32_t count) {
  tvms_struct_SINFO_TUPLE *tuple = tvms_make(unit, SINFO_TUPLE, TVMS_NO_SPAN);
  tuple->fields = tvms_list_copy(unit, fields, count);
  return &tuple->head;
}

tvms_node *tvms_func_type(tvms_unit *unit, tvms_node *const *params, uint32_t count,
                          tvms_node *ret, bool pure) {
  tvms_struct_SINFO_FUNC *func = tvms_make(unit, SINFO_FUNC, TVMS_NO_SPAN);
  func->head.flags = (uint8_t)(TVMS_FLAG_KNOWN | (pure ? TVMS_FLAG_PURE : 0));
  func->params = tvms_list_copy(unit, params, count);
  func->ret = ret;
  return &func->head;
}

tvms_node *tvms_opaque_type(tvms_unit *unit, tvms_node *ret, bool pure) {
  tvms_struct_SINFO_FUNC *func = tvms_make(unit, SINFO_FUNC, TVMS_NO_SPAN);
  func->head.flags = pure ? TVMS_FLAG_PURE : 0;
  func->ret = ret;
  return &func->head;
}

bool tvms_tensor_dims(const tvms_node *tensor, tvms_list *values) {
  const tvms_node *shape = tvms_as_sinfo_tensor(tensor)->shape;
  if (!shape || shape->kind != TVMS_NODE_SHAPE_EXPR) return false;
  *values = tvms_as_shape_expr(shape)->values;
  return true;
}

bool tvms_sinfo_dims(const tvms_node *sinfo, tvms_list *values) {
  if (sinfo->kind == TVMS_NODE_SINFO_TENSOR) {
    if (tvms_tensor_dims(sinfo, values)) return true;
    const tvms_node *shape = tvms_as_sinfo_tensor(sinfo)->shape;
    return shape && shape->sinfo && tvms_sinfo_dims(shape->sinfo, values);
  }
  if (sinfo->kind != TVMS_NODE_SINFO_SHAPE || !(sinfo->flags & TVMS_FLAG_KNOWN)) {
    return false;
  }
  *values = tvms_as_sinfo_shape(sinfo)->values;
  return true;
}

tvms_node *tvms_sinfo_of(tvms_unit *unit, tvms_node *value) {
  if (value->sinfo) return value->sinfo;
  if (!tvms_dtype_is_void(value->dtype)) {
    return tvms_prim_type(unit, value->dtype, value);
  }
  return tvms_object_type(unit);
}

bool tvms_dim_int(const tvms_node *dim, int64_t *value) {
  if (dim->kind != TVMS_NODE_INT_IMM) return false;
  *value = tvms_as_int_imm(dim)->value;
  return true;
}

const char *tvms_describe(tvms_context *context, const tvms_node *TVMS_NULLABLE node) {
  if (!node) return "nothing";
  if (node->kind == TVMS_NODE_INT_IMM) {
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRId64, tvms_as_int_imm(node)->value);
    return tvms_arena_text(&context->arena, text, (size_t)len);
  }
  if (context->describe) return context->describe(context, node);
  return tvms_schema_of((tvms_node_kind)node->kind)->name;
}
