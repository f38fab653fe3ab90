// Types as they are written: R.Tensor, R.Shape, R.Tuple, R.Callable …, and the symbolic
// variables that they define in a signature.
#include "parser/relax/types.h"

#include "ir/clone.h"
#include "ir/object.h"
#include "parser/eval/convert.h"
#include "parser/eval/expr.h"
#include "parser/eval/origin.h"
#include "parser/eval/signature.h"
#include "parser/relax/convert.h"
#include "parser/relax/handlers.h"
#include "structinfo/make.h"
#include "structinfo/placement.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// ---- From values to types ----

tvms_node *TVMS_NULLABLE tvms_relax_to_type(tvms_reader *reader, tvms_eval_value value,
                                            tvms_ref ref) {
  // `R.Tensor` as an annotation means `R.Tensor()`.
  if (value.kind == TVMS_EVAL_CALLABLE) {
    value = tvms_row_call_with(reader, value.as.row, NULL, 0, ref);
  }
  switch ((int)value.kind) {
  case TVMS_EVAL_UNKNOWN: reader->failed = true; return NULL;
  case TVMS_EVAL_NONE: return tvms_sinfo_tuple_new(reader->unit, NULL, 0);
  case TVMS_EVAL_DTYPE_NAME:
  case TVMS_EVAL_DTYPE: return tvms_sinfo_prim_new(reader->unit, value.as.dtype, NULL);
  case TVMS_EVAL_NODE:
    if (tvms_node_class_of(value.as.node) == TVMS_CLASS_SINFO) return value.as.node;
    if (value.as.node->kind == TVMS_NODE_VAR && !value.as.node->sinfo) {
      return tvms_sinfo_prim_new(reader->unit, value.as.node->dtype, NULL);
    }
    break;
  default: break;
  }
  tvms_eval_report_wrong_type(reader, ref, NULL, "a type", value);
  reader->failed = true;
  return NULL;
}

tvms_node *TVMS_NULLABLE tvms_relax_annotation(tvms_reader *reader, tvms_ref ref) {
  return tvms_relax_to_type(reader, tvms_eval(reader, ref), ref);
}

// ---- Virtual devices ----

static bool target_kind_is(const tvms_node *target, const char *kind, size_t len) {
  const tvms_node *config = tvms_as_object_target(target)->config;
  if (config->kind == TVMS_NODE_OBJECT_MAP)
    config = tvms_object_map_get(config, "kind");
  const char *text = config ? tvms_object_as_text(config) : NULL;
  size_t end = text ? strcspn(text, " ") : 0;
  return text && end == len && memcmp(text, kind, len) == 0;
}

static tvms_list vdevices_of(const tvms_module *TVMS_NULLABLE module) {
  const tvms_node *infos = module ? module->global_infos : NULL;
  const tvms_node *list = infos ? tvms_object_map_get(infos, "vdevice") : NULL;
  if (!list || list->kind != TVMS_NODE_OBJECT_ARRAY) return (tvms_list){NULL, 0};
  return tvms_as_object_array(list)->items;
}

// "cuda", "cuda:1", "vdevice:3": the n-th device of a kind, or of the whole list.
static tvms_node *TVMS_NULLABLE vdevice_named(tvms_reader *reader,
                                              tvms_eval_value value, tvms_ref ref) {
  tvms_list devices = vdevices_of(reader->module);
  char text[128];
  if (value.len >= sizeof text) return NULL;
  memcpy(text, value.as.text, value.len);
  text[value.len] = '\0';
  size_t kind = strcspn(text, ":");
  long wanted = text[kind] == ':' ? strtol(text + kind + 1, NULL, 10) : 0;
  bool absolute = kind == 7 && memcmp(text, "vdevice", 7) == 0;
  for (uint32_t i = 0; i < devices.len; i++) {
    const tvms_object_vdevice *device = tvms_as_object_vdevice(devices.items[i]);
    if (!absolute && !target_kind_is(device->target, text, kind)) continue;
    if (wanted-- == 0) return devices.items[i];
  }
  tvms_reader_report(reader, unknown_vdevice, ref, text);
  reader->failed = true;
  return NULL;
}

// The device or mesh that a value is: the module's or the function's own. What the file
// defines outside of both dies when the file is read.
tvms_node *TVMS_NULLABLE tvms_relax_place(tvms_reader *reader, tvms_eval_value value,
                                          tvms_node_kind kind) {
  tvms_node *node = tvms_eval_value_node_of(value, kind);
  if (!node || tvms_arena_owns(&reader->unit->arena, node)) return node;
  return tvms_clone(reader->unit, node, NULL);
}

// A virtual device from text or an object. False after a report.
bool tvms_relax_to_vdevice(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                           tvms_node **vdevice) {
  *vdevice = NULL;
  if (value.kind == TVMS_EVAL_NONE) return true;
  if (value.kind == TVMS_EVAL_STR) {
    *vdevice = vdevice_named(reader, value, ref);
    return *vdevice;
  }
  *vdevice = tvms_relax_place(reader, value, TVMS_NODE_OBJECT_VDEVICE);
  if (*vdevice) return true;
  tvms_eval_report_wrong_type(reader, ref, "vdevice", "a virtual device or its name",
                              value);
  return false;
}

// ---- Handlers of calls.def ----

// `void` and None are unknown element types.
static bool optional_dtype(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                           tvms_dtype *dtype) {
  *dtype = (tvms_dtype){0};
  return value.kind == TVMS_EVAL_NONE || tvms_eval_to_dtype(reader, value, ref, dtype);
}

static tvms_eval_value failed_type(tvms_reader *reader) {
  return tvms_reader_failed(reader);
}

enum { TENSOR_SHAPE, TENSOR_DTYPE, TENSOR_VDEVICE, TENSOR_NDIM };

static tvms_node *TVMS_NULLABLE tensor_type(tvms_reader *reader, tvms_eval_value shape,
                                            tvms_ref ref, int64_t ndim,
                                            tvms_dtype dtype,
                                            tvms_node *TVMS_NULLABLE vdevice) {
  if (ndim < TVMS_UNKNOWN_NDIM
      || (ndim != TVMS_UNKNOWN_NDIM && shape.kind != TVMS_EVAL_NONE)) {
    tvms_reader_report(reader, tensor_ndim, ref);
    return NULL;
  }
  if (shape.kind == TVMS_EVAL_NONE) {
    return tvms_sinfo_tensor_new_ndim(reader->unit, ndim, dtype, vdevice);
  }
  tvms_node *value = tvms_relax_to_shape(reader, shape, ref);
  if (!value) return NULL;
  const tvms_node *type = value->sinfo;
  if (!type || type->kind != TVMS_NODE_SINFO_SHAPE) {
    tvms_eval_report_wrong_type(reader, ref, "the shape of a tensor", "a shape", shape);
    return NULL;
  }
  return tvms_sinfo_tensor_new(reader->unit, value, dtype, vdevice);
}

tvms_eval_value tvms_call_relax_tensor(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_eval_value shape = call->args[TENSOR_SHAPE], element = call->args[TENSOR_DTYPE];
  tvms_ref element_ref = call->refs[TENSOR_DTYPE];
  if (shape.kind == TVMS_EVAL_STR && element.kind == TVMS_EVAL_NONE) {
    element = shape;
    element_ref = call->refs[TENSOR_SHAPE];
    shape = TVMS_NOTHING;
  }
  tvms_dtype dtype;
  int64_t ndim;
  tvms_node *vdevice;
  bool known = shape.kind != TVMS_EVAL_UNKNOWN;
  if (!optional_dtype(reader, element, element_ref, &dtype)
      || !tvms_eval_to_int(reader, call->args[TENSOR_NDIM], call->refs[TENSOR_NDIM],
                           &ndim)
      || !tvms_relax_to_vdevice(reader, call->args[TENSOR_VDEVICE],
                                call->refs[TENSOR_VDEVICE], &vdevice)
      || !known) {
    return failed_type(reader);
  }
  tvms_ref shape_ref =
      ndim == TVMS_UNKNOWN_NDIM ? call->refs[TENSOR_SHAPE] : call->refs[TENSOR_NDIM];
  tvms_node *type = tensor_type(reader, shape, shape_ref, ndim, dtype, vdevice);
  return type ? tvms_eval_value_node(type) : failed_type(reader);
}

tvms_eval_value tvms_call_relax_shape_type(tvms_reader *reader,
                                           const tvms_call_args *call) {
  int64_t ndim;
  if (!tvms_eval_to_int(reader, call->args[1], call->refs[1], &ndim)) {
    return failed_type(reader);
  }
  if (call->args[0].kind == TVMS_EVAL_NONE) {
    return tvms_eval_value_node(tvms_sinfo_shape_new_ndim(reader->unit, ndim));
  }
  tvms_node *shape = tvms_relax_to_shape(reader, call->args[0], call->refs[0]);
  if (shape && shape->kind != TVMS_NODE_SHAPE_EXPR) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the dimensions of R.Shape",
                                "a tuple or list", call->args[0]);
    return failed_type(reader);
  }
  if (!shape) return failed_type(reader);
  // An empty list says nothing, as in TVM; but TVM prints shapes of rank 0 so.
  bool says_nothing = tvms_as_shape_expr(shape)->values.len == 0
                      && !tvms_reader_has_printed_header(reader);
  if (says_nothing) {
    return tvms_eval_value_node(tvms_sinfo_shape_new_ndim(reader->unit, ndim));
  }
  return tvms_eval_value_node(shape->sinfo);
}

tvms_eval_value tvms_call_relax_prim_type(tvms_reader *reader,
                                          const tvms_call_args *call) {
  tvms_dtype dtype = {0};
  if (!optional_dtype(reader, call->args[0], call->refs[0], &dtype)) {
    return failed_type(reader);
  }
  tvms_node *value = NULL;
  const tvms_signature *signature = tvms_row_signature(reader, call->row);
  if (signature->count > 1 && call->args[1].kind != TVMS_EVAL_NONE) {
    tvms_eval_value given = call->args[1];
    if (given.kind == TVMS_EVAL_BOOL) {  // 1 for TVM, which prints bools so
      given = tvms_reader_has_printed_header(reader) ? tvms_eval_value_node(
                  tvms_bool_imm_new(reader->unit, given.as.i,
                                    tvms_reader_span_of(reader, call->refs[1])))
                                                     : tvms_eval_value_int(given.as.i);
    }
    value = tvms_relax_to_scalar(reader, given, call->refs[1], "the value of R.Prim",
                                 "a scalar");
    if (!value) return failed_type(reader);
    dtype = value->dtype;
  }
  if (tvms_dtype_is_void(dtype)) {
    tvms_eval_report_missing_argument(reader, call->ref, "R.Prim", "dtype");
    return failed_type(reader);
  }
  return tvms_eval_value_node(tvms_sinfo_prim_new(reader->unit, dtype, value));
}

tvms_eval_value tvms_call_relax_object(tvms_reader *reader,
                                       const tvms_call_args *call) {
  (void)call;
  return tvms_eval_value_node(tvms_sinfo_object_new(reader->unit));
}

tvms_eval_value tvms_call_string_type(tvms_reader *reader, const tvms_call_args *call) {
  (void)call;
  return tvms_eval_value_node(tvms_sinfo_string_new(reader->unit));
}

bool tvms_relax_to_types(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                         tvms_list *types) {
  tvms_eval_items items = tvms_eval_items_of(&value);
  tvms_node **nodes = tvms_arena_array(&reader->values, tvms_node *, items.len + 1);
  bool known = true;
  for (uint32_t i = 0; i < items.len; i++) {
    nodes[i] = tvms_relax_to_type(reader, items.items[i], ref);
    known = known && nodes[i];
  }
  *types = tvms_list_copy(reader->unit, nodes, items.len);
  return known;
}

tvms_eval_value tvms_call_relax_tuple_type(tvms_reader *reader,
                                           const tvms_call_args *call) {
  tvms_eval_value fields = call->args[0];
  if (fields.len == 1 && tvms_eval_value_is_sequence(fields.as.items[0])) {
    fields = fields.as.items[0];
  }
  tvms_list types;
  if (!tvms_relax_to_types(reader, fields, call->ref, &types))
    return failed_type(reader);
  return tvms_eval_value_node(
      tvms_sinfo_tuple_new(reader->unit, types.items, types.len));
}

enum { CALLABLE_PARAMS, CALLABLE_RET, CALLABLE_PURITY, CALLABLE_DERIVE };

tvms_eval_value tvms_call_relax_callable(tvms_reader *reader,
                                         const tvms_call_args *call) {
  tvms_unit *unit = reader->unit;
  bool given = call->args[CALLABLE_PARAMS].kind != TVMS_EVAL_NONE, pure = given;
  tvms_node *ret = tvms_sinfo_object_new(unit);
  tvms_eval_value result = call->args[CALLABLE_RET];
  if (result.kind != TVMS_EVAL_NONE) {
    ret = tvms_relax_to_type(reader, result, call->refs[CALLABLE_RET]);
  }
  bool known = ret;
  if (call->args[CALLABLE_PURITY].kind != TVMS_EVAL_NONE) {
    known = tvms_eval_to_flag(reader, call->args[CALLABLE_PURITY],
                              call->refs[CALLABLE_PURITY], &pure)
            && known;
  }
  if (!known) return failed_type(reader);
  if (!given) {
    tvms_eval_value derive = call->args[CALLABLE_DERIVE];
    tvms_bytes name = {NULL, 0};
    if (derive.kind == TVMS_EVAL_STR) name = (tvms_bytes){derive.as.text, derive.len};
    return tvms_eval_value_node(tvms_sinfo_func_new_derived(unit, ret, pure, name));
  }
  tvms_list types;
  if (!tvms_relax_to_types(reader, call->args[CALLABLE_PARAMS],
                           call->refs[CALLABLE_PARAMS], &types)) {
    return failed_type(reader);
  }
  return tvms_eval_value_node(
      tvms_sinfo_func_new(unit, types.items, types.len, ret, pure));
}

// ---- Distributed tensors ----

tvms_node *TVMS_NULLABLE tvms_relax_mesh(tvms_reader *reader, tvms_eval_value value) {
  const char *open = memchr(value.as.text, '[', value.len);
  const tvms_node *infos = reader->module ? reader->module->global_infos : NULL;
  if (!open || !infos) return NULL;
  char key[64];
  size_t len = (size_t)(open - value.as.text);
  if (len >= sizeof key) return NULL;
  memcpy(key, value.as.text, len);
  key[len] = '\0';
  long at = strtol(open + 1, NULL, 10);
  const tvms_node *list = tvms_object_map_get(infos, key);
  if (!list || list->kind != TVMS_NODE_OBJECT_ARRAY) return NULL;
  tvms_list items = tvms_as_object_array(list)->items;
  bool mesh =
      at >= 0 && at < items.len && items.items[at]->kind == TVMS_NODE_OBJECT_MESH;
  return mesh ? items.items[at] : NULL;
}

enum { DTENSOR_SHAPE, DTENSOR_DTYPE, DTENSOR_MESH, DTENSOR_PLACEMENT, DTENSOR_NDIM };

tvms_eval_value tvms_call_relax_dtensor(tvms_reader *reader,
                                        const tvms_call_args *call) {
  tvms_dtype dtype;
  int64_t ndim;
  tvms_bytes placement;
  if (!optional_dtype(reader, call->args[DTENSOR_DTYPE], call->refs[DTENSOR_DTYPE],
                      &dtype)
      || !tvms_eval_to_int(reader, call->args[DTENSOR_NDIM], call->refs[DTENSOR_NDIM],
                           &ndim)
      || !tvms_eval_to_text(reader, call->args[DTENSOR_PLACEMENT],
                            call->refs[DTENSOR_PLACEMENT], &placement)
      || call->args[DTENSOR_SHAPE].kind == TVMS_EVAL_UNKNOWN) {
    return failed_type(reader);
  }
  tvms_node *tensor = tensor_type(reader, call->args[DTENSOR_SHAPE],
                                  call->refs[DTENSOR_SHAPE], ndim, dtype, NULL);
  tvms_eval_value where = call->args[DTENSOR_MESH];
  tvms_node *mesh = tvms_relax_place(reader, where, TVMS_NODE_OBJECT_MESH);
  if (where.kind == TVMS_EVAL_STR) mesh = tvms_relax_mesh(reader, where);
  if (tensor && !mesh) {
    tvms_reader_report(reader, unknown_mesh, call->refs[DTENSOR_MESH]);
  }
  if (!tensor || !mesh) return failed_type(reader);
  tvms_placement placed;
  const char *why = "it is not of the form S[0], R";
  if (tvms_placement_parse(placement, &placed)) {
    why = tvms_placement_misfit(&placed, mesh, tvms_as_sinfo_tensor(tensor)->ndim);
  }
  if (why) {
    tvms_reader_report(reader, bad_placement, call->refs[DTENSOR_PLACEMENT],
                       (int)placement.len, placement.text, why);
    return failed_type(reader);
  }
  tvms_sinfo_dtensor *type = tvms_node_make(reader->unit, SINFO_DTENSOR,
                                            tvms_reader_span_of(reader, call->ref));
  type->tensor = tensor;
  type->mesh = mesh;
  type->placement = tvms_placement_text(reader->unit, &placed);
  return tvms_eval_value_node(&type->head);
}
