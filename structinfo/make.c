// Building StructInfo.
//
// A type that mentions no variable exists once per context (structinfo/intern.h): two such types
// are equal if they are one node, and they outlive the function that they were made for. So every
// constructor puts its node together on the stack and asks for the one that is known; only a type
// with variables is copied into the unit, with lists of its own. Constant dimensions are int64
// whatever type they had in the text, so that (T.int32(4),) and (4,) are one shape.
#include "structinfo/make.h"

#include "ir/build.h"
#include "structinfo/intern.h"
#include "structinfo/sinfo.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// A type without lists: the interned one, or a copy in the unit.
static tvms_node *made(tvms_unit *unit, const tvms_node *type) {
  tvms_node *known = tvms_types_intern(unit->context, type);
  if (known) return known;
  tvms_node *node = tvms_node_new(unit, (tvms_node_kind)type->kind, TVMS_NO_SPAN);
  uint32_t id = node->id;
  memcpy(node, type, tvms_node_schema_of((tvms_node_kind)type->kind)->size);
  node->id = id;
  node->span = TVMS_NO_SPAN;
  return node;
}

tvms_node *tvms_sinfo_object_new(tvms_unit *unit) {
  tvms_sinfo_object object = {.head = {.kind = TVMS_NODE_SINFO_OBJECT}};
  return made(unit, &object.head);
}

tvms_node *tvms_sinfo_string_new(tvms_unit *unit) {
  tvms_sinfo_object object = {.head = {.kind = TVMS_NODE_SINFO_OBJECT}};
  if (tvms_release_has(unit->dialect, TVMS_FACT_texts_have_a_type))
    object.head.flags = TVMS_FLAG_STRING;
  return made(unit, &object.head);
}

tvms_node *tvms_sinfo_prim_new(tvms_unit *unit, tvms_dtype dtype,
                               tvms_node *TVMS_NULLABLE value) {
  tvms_sinfo_prim prim = {.head = {.kind = TVMS_NODE_SINFO_PRIM, .dtype = dtype},
                          .value = value};
  return made(unit, &prim.head);
}

tvms_node *tvms_sinfo_dim_new(tvms_unit *unit, int64_t value) {
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
  tvms_sinfo_shape shape = {
      .head = {.kind = TVMS_NODE_SINFO_SHAPE, .flags = TVMS_FLAG_KNOWN},
      .values = values,
      .ndim = values.len};
  return made(unit, &shape.head);
}

tvms_node *tvms_sinfo_shape_new(tvms_unit *unit, tvms_node *const *values,
                                uint32_t count) {
  return shape_of_list(unit, copy_dims(unit, values, count));
}

tvms_node *tvms_sinfo_shape_new_ndim(tvms_unit *unit, int64_t ndim) {
  tvms_sinfo_shape shape = {.head = {.kind = TVMS_NODE_SINFO_SHAPE}, .ndim = ndim};
  return made(unit, &shape.head);
}

tvms_node *tvms_sinfo_shape_value_new(tvms_unit *unit, tvms_node *const *values,
                                      uint32_t count, tvms_span span) {
  tvms_struct_SHAPE_EXPR *shape = tvms_node_make(unit, SHAPE_EXPR, span);
  shape->values = copy_dims(unit, values, count);
  shape->head.sinfo = shape_of_list(unit, shape->values);
  return &shape->head;
}

tvms_node *tvms_sinfo_tensor_new(tvms_unit *unit, tvms_node *shape, tvms_dtype dtype,
                                 tvms_node *TVMS_NULLABLE vdevice) {
  tvms_sinfo_tensor tensor = {.head = {.kind = TVMS_NODE_SINFO_TENSOR, .dtype = dtype},
                              .shape = shape,
                              .vdevice = vdevice,
                              .ndim = TVMS_UNKNOWN_NDIM};
  const tvms_node *type = shape->sinfo;
  if (type && type->kind == TVMS_NODE_SINFO_SHAPE) {
    tensor.ndim = tvms_as_sinfo_shape(type)->ndim;
  }
  return made(unit, &tensor.head);
}

tvms_node *tvms_sinfo_tensor_new_ndim(tvms_unit *unit, int64_t ndim, tvms_dtype dtype,
                                      tvms_node *TVMS_NULLABLE vdevice) {
  tvms_sinfo_tensor tensor = {.head = {.kind = TVMS_NODE_SINFO_TENSOR, .dtype = dtype},
                              .vdevice = vdevice,
                              .ndim = ndim};
  return made(unit, &tensor.head);
}

tvms_node *tvms_sinfo_tuple_new(tvms_unit *unit, tvms_node *const *fields,
                                uint32_t count) {
  tvms_sinfo_tuple tuple = {.head = {.kind = TVMS_NODE_SINFO_TUPLE},
                            .fields = {(tvms_node **)(uintptr_t)fields, count}};
  tvms_node *node = made(unit, &tuple.head);
  if (!tvms_types_is_interned(node)) {
    tvms_as_sinfo_tuple(node)->fields = tvms_list_copy(unit, fields, count);
  }
  return node;
}

tvms_node *tvms_sinfo_func_new(tvms_unit *unit, tvms_node *const *params,
                               uint32_t count, tvms_node *ret, bool pure) {
  tvms_sinfo_func func = {
      .head = {.kind = TVMS_NODE_SINFO_FUNC,
               .flags = (uint8_t)(TVMS_FLAG_KNOWN | (pure ? TVMS_FLAG_PURE : 0))},
      .params = {(tvms_node **)(uintptr_t)params, count},
      .ret = ret};
  tvms_node *node = made(unit, &func.head);
  if (!tvms_types_is_interned(node)) {
    tvms_as_sinfo_func(node)->params = tvms_list_copy(unit, params, count);
  }
  return node;
}

tvms_node *tvms_sinfo_func_new_of_vars(tvms_unit *unit, tvms_list params,
                                       tvms_node *ret, bool pure) {
  tvms_list types = tvms_list_copy(unit, params.items, params.len);
  for (uint32_t i = 0; i < types.len; i++)
    types.items[i] = types.items[i]->sinfo;
  return tvms_sinfo_func_new(unit, types.items, types.len, ret, pure);
}

tvms_node *tvms_sinfo_func_new_opaque(tvms_unit *unit, tvms_node *ret, bool pure) {
  return tvms_sinfo_func_new_derived(unit, ret, pure, (tvms_bytes){NULL, 0});
}

tvms_node *tvms_sinfo_func_new_derived(tvms_unit *unit, tvms_node *ret, bool pure,
                                       tvms_bytes derive) {
  tvms_sinfo_func func = {
      .head = {.kind = TVMS_NODE_SINFO_FUNC, .flags = pure ? TVMS_FLAG_PURE : 0},
      .ret = ret,
      .derive = derive};
  tvms_node *node = made(unit, &func.head);
  if (!tvms_types_is_interned(node) && derive.len) {
    tvms_as_sinfo_func(node)->derive = tvms_bytes_copy(unit, derive.text, derive.len);
  }
  return node;
}

bool tvms_sinfo_tensor_dims(const tvms_node *tensor, tvms_list *values) {
  const tvms_node *shape = tvms_as_sinfo_tensor(tensor)->shape;
  if (!shape || shape->kind != TVMS_NODE_SHAPE_EXPR) return false;
  *values = tvms_as_shape_expr(shape)->values;
  return true;
}

bool tvms_sinfo_dims(const tvms_node *sinfo, tvms_list *values) {
  if (sinfo->kind == TVMS_NODE_SINFO_TENSOR) {
    if (tvms_sinfo_tensor_dims(sinfo, values)) return true;
    const tvms_node *shape = tvms_as_sinfo_tensor(sinfo)->shape;
    return shape && shape->sinfo && tvms_sinfo_dims(shape->sinfo, values);
  }
  if (sinfo->kind != TVMS_NODE_SINFO_SHAPE || !(sinfo->flags & TVMS_FLAG_KNOWN)) {
    return false;
  }
  *values = tvms_as_sinfo_shape(sinfo)->values;
  return true;
}

bool tvms_sinfo_is_nested_tensor(const tvms_node *sinfo) {
  if (!sinfo || sinfo->kind != TVMS_NODE_SINFO_TUPLE)
    return tvms_sinfo_is_tensor(sinfo);
  tvms_list fields = tvms_as_sinfo_tuple(sinfo)->fields;
  for (uint32_t i = 0; i < fields.len; i++)
    if (!tvms_sinfo_is_nested_tensor(fields.items[i])) return false;
  return true;
}

tvms_node *tvms_sinfo_of(tvms_unit *unit, tvms_node *value) {
  if (value->sinfo) return value->sinfo;
  if (!tvms_dtype_is_void(value->dtype)) {
    return tvms_sinfo_prim_new(unit, value->dtype, value);
  }
  return tvms_sinfo_object_new(unit);
}

bool tvms_sinfo_dim_int(const tvms_node *dim, int64_t *value) {
  if (dim->kind != TVMS_NODE_INT_IMM) return false;
  *value = tvms_as_int_imm(dim)->value;
  return true;
}

const char *tvms_sinfo_describe(const tvms_unit *unit,
                                const tvms_node *TVMS_NULLABLE node) {
  tvms_context *context = unit->context;
  if (!node) return "nothing";
  if (node->kind == TVMS_NODE_INT_IMM) {
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRId64, tvms_as_int_imm(node)->value);
    return tvms_arena_text(&context->arena, text, (size_t)len);
  }
  if (context->describe) return context->describe(unit, node);
  return tvms_node_schema_of((tvms_node_kind)node->kind)->name;
}
