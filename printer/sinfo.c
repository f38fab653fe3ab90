// StructInfo and the types of TIR variables.
//
// A dimension is written by where its type stands. In a signature (`quotes`) one that mentions a
// variable of the signature is quoted, "n + 1", because nothing has defined n for Python yet; only
// a type variable of 0.27 stands there by its name. Everywhere else it is an expression.
#include "printer/sinfo.h"

#include "printer/buffer.h"
#include "printer/expr.h"
#include "printer/metadata.h"
#include "printer/object.h"
#include "printer/plan.h"
#include "printer/state.h"
#include "printer/text.h"

void tvms_print_pointer_type(tvms_printer *p, const tvms_node *type, bool as_value) {
  if (type && type->kind == TVMS_NODE_SINFO_TENSOR_MAP) {
    tvms_print_t(p, !tvms_release_has(p->dialect, TVMS_FACT_tensor_maps_are_types)
                        ? "handle(\"tensormap\")"
                        : "TensorMap()");
    return;
  }
  tvms_print_t(p, "handle");
  if (!type || type->kind != TVMS_NODE_SINFO_POINTER) {
    if (as_value) PUT(p, "()");
    return;
  }
  tvms_sym sym = tvms_as_sinfo_pointer(type)->scope;
  const char *scope = sym ? tvms_symbol_text(p->context, sym) : "global";
  bool opaque = tvms_dtype_is_void(type->dtype)
                && tvms_release_has(p->dialect, TVMS_FACT_opaque_pointers_are_bare);
  if (opaque && strcmp(scope, "global") == 0) {
    if (as_value) PUT(p, "()");
    return;
  }
  if (opaque) {
    PUT(p, "(storage_scope=");
  } else {
    PUT(p, "(");
    tvms_print_quoted_dtype(p, type->dtype);
    if (!*scope) {
      PUT(p, ")");
      return;
    }
    PUT(p, ", ");
  }
  tvms_print_quoted(p, scope, strlen(scope));
  PUT(p, ")");
}

static bool is_not_signature(void *self, const tvms_node *var) {
  return !tvms_print_name_of(self, var)->signature;
}

void tvms_print_shape_dim(tvms_printer *p, const tvms_node *dim) {
  size_t from = p->out->len;
  tvms_print_any(p, dim);
  if (!p->quotes || tvms_print_each_var(p, dim, is_not_signature, p)) return;
  bool bare = dim->kind == TVMS_NODE_VAR && tvms_print_name_of(p, dim)->type_var;
  if (!bare) tvms_print_quote_since(p, from);
}

static void print_dims(tvms_printer *p, tvms_list dims) {
  for (uint32_t i = 0; i < dims.len; i++) {
    if (i) PUT(p, ", ");
    tvms_print_shape_dim(p, dims.items[i]);
  }
}

static void print_shape_tuple(tvms_printer *p, const tvms_node *shape) {
  if (shape->kind != TVMS_NODE_SHAPE_EXPR) {
    tvms_print_any(p, shape);
    return;
  }
  tvms_list dims = tvms_as_shape_expr(shape)->values;
  PUT(p, "(");
  print_dims(p, dims);
  tvms_print_put(p, dims.len == 1 ? ",)" : ")");
}

static void print_tensor(tvms_printer *p, const tvms_node *sinfo) {
  const tvms_sinfo_tensor *tensor = tvms_as_sinfo_tensor(sinfo);
  bool known_dtype = !tvms_dtype_is_void(sinfo->dtype);
  bool known_ndim = !tensor->shape && tensor->ndim >= 0;
  tvms_print_r(p, "Tensor");
  if (!tensor->shape && !known_dtype && !known_ndim && !tensor->vdevice) return;
  bool first = true;
  PUT(p, "(");
  if (tensor->shape) {
    tvms_print_comma(p, &first);
    print_shape_tuple(p, tensor->shape);
  }
  if (known_dtype) {
    tvms_print_comma(p, &first);
    PUT(p, "dtype=");
    tvms_print_quoted_dtype(p, sinfo->dtype);
  }
  if (known_ndim) {
    tvms_print_comma(p, &first);
    PUT(p, "ndim=");
    tvms_print_int(p, tensor->ndim);
  }
  if (tensor->vdevice) {
    tvms_print_comma(p, &first);
    PUT(p, "vdevice=");
    tvms_print_vdevice_name(p, tensor->vdevice);
  }
  PUT(p, ")");
}

static void print_dtensor(tvms_printer *p, const tvms_node *sinfo) {
  const tvms_sinfo_dtensor *dtensor = tvms_as_sinfo_dtensor(sinfo);
  const tvms_sinfo_tensor *tensor = tvms_as_sinfo_tensor(dtensor->tensor);
  bool keywords = !tensor->shape;
  bool first = true;
  tvms_print_r(p, "DTensor(");
  if (tensor->shape) {
    tvms_print_comma(p, &first);
    print_shape_tuple(p, tensor->shape);
  }
  if (!tvms_dtype_is_void(dtensor->tensor->dtype)) {
    tvms_print_comma(p, &first);
    if (keywords) PUT(p, "dtype=");
    tvms_print_quoted_dtype(p, dtensor->tensor->dtype);
  } else {
    keywords = true;
  }
  tvms_print_comma(p, &first);
  if (keywords) PUT(p, "device_mesh=");
  tvms_print_object(p, dtensor->mesh);
  tvms_print_comma(p, &first);
  if (keywords) PUT(p, "placement=");
  tvms_print_quoted(p, dtensor->placement.text, dtensor->placement.len);
  if (!tensor->shape && tensor->ndim >= 0) {
    PUT(p, ", ndim=");
    tvms_print_int(p, tensor->ndim);
  }
  PUT(p, ")");
}

static void print_func(tvms_printer *p, const tvms_node *sinfo) {
  const tvms_sinfo_func *func = tvms_as_sinfo_func(sinfo);
  bool pure = sinfo->flags & TVMS_FLAG_PURE;
  tvms_print_r(p, "Callable");
  if (sinfo->flags & TVMS_FLAG_KNOWN) {
    PUT(p, "((");
    tvms_print_list(p, func->params);
    tvms_print_put(p, func->params.len == 1 ? ",), " : "), ");
    tvms_print_sinfo(p, func->ret);
    tvms_print_put(p, pure ? ", True)" : ", False)");
    return;
  }
  bool returns = func->ret && func->ret->kind != TVMS_NODE_SINFO_OBJECT;
  if (returns) {
    PUT(p, "(ret=");
    tvms_print_sinfo(p, func->ret);
  }
  if (pure) tvms_print_put(p, returns ? ", purity=True" : "(purity=True");
  if (returns || pure) PUT(p, ")");
}

static void print_prim(tvms_printer *p, const tvms_node *sinfo) {
  const tvms_sinfo_prim *prim = tvms_as_sinfo_prim(sinfo);
  if (tvms_release_has(p->dialect, TVMS_FACT_scalars_are_tir)) {
    tvms_print_t(p, "");
    tvms_print_dtype(p, sinfo->dtype);
    return;
  }
  tvms_print_r(p, "Prim(");
  if (prim->value) {
    PUT(p, "value=");
    tvms_print_shape_dim(p, prim->value);
  } else {
    tvms_print_quoted_dtype(p, sinfo->dtype);
  }
  PUT(p, ")");
}

static void print_shape(tvms_printer *p, const tvms_node *sinfo) {
  const tvms_sinfo_shape *shape = tvms_as_sinfo_shape(sinfo);
  if (sinfo->flags & TVMS_FLAG_KNOWN) {
    tvms_print_r(p, "Shape([");
    print_dims(p, shape->values);
    PUT(p, "])");
    return;
  }
  tvms_print_r(p, "Shape(ndim=");
  tvms_print_int(p, shape->ndim);
  PUT(p, ")");
}

static void print_tuple(tvms_printer *p, const tvms_node *sinfo) {
  tvms_list fields = tvms_as_sinfo_tuple(sinfo)->fields;
  bool tir = p->token == PRINT_TIR;
  if (tir && fields.len == 0) {
    PUT(p, "None");
    return;
  }
  if (tir)
    tvms_print_t(p, "Tuple");
  else
    tvms_print_r(p, "Tuple");
  if (fields.len == 0) return;
  PUT(p, "(");
  tvms_print_list(p, fields);
  PUT(p, ")");
}

static void print_object_type(tvms_printer *p, const tvms_node *sinfo) {
  bool text = sinfo->kind == TVMS_NODE_SINFO_OBJECT && sinfo->flags & TVMS_FLAG_STRING;
  if (text && tvms_release_has(p->dialect, TVMS_FACT_texts_have_a_type))
    tvms_print_i(p, "StringType()");
  else
    tvms_print_r(p, tvms_release_has(p->dialect, TVMS_FACT_objects_are_called_any)
                        ? "Any"
                        : "Object");
}

// TVM has no text for the type of a buffer, and crashes on its metadata; what is kept is
// written as it is read.
static void print_buffer_type(tvms_printer *p, const tvms_node *sinfo) {
  if (!tvms_release_has(p->dialect, TVMS_FACT_buffers_are_variables)) {
    tvms_print_cannot(p, sinfo, "the type of a buffer");
  } else if (p->metadata) {
    tvms_print_buffer_type(p, tvms_as_sinfo_buffer(sinfo)->buffer);
  } else {
    tvms_print_metadata_ref(p, sinfo);
  }
}

void tvms_print_sinfo(tvms_printer *p, const tvms_node *sinfo) {
  switch (sinfo->kind) {
  case TVMS_NODE_SINFO_TENSOR: print_tensor(p, sinfo); return;
  case TVMS_NODE_SINFO_SHAPE: print_shape(p, sinfo); return;
  case TVMS_NODE_SINFO_PRIM:
    if (p->token == PRINT_TIR) {
      tvms_print_t(p, "");
      tvms_print_dtype(p, sinfo->dtype);
    } else {
      print_prim(p, sinfo);
    }
    return;
  case TVMS_NODE_SINFO_TUPLE: print_tuple(p, sinfo); return;
  case TVMS_NODE_SINFO_FUNC: print_func(p, sinfo); return;
  case TVMS_NODE_SINFO_DTENSOR: print_dtensor(p, sinfo); return;
  case TVMS_NODE_SINFO_BUFFER: print_buffer_type(p, sinfo); return;
  case TVMS_NODE_SINFO_PACKED: tvms_print_r(p, "PackedFunc"); return;
  case TVMS_NODE_SINFO_POINTER:
  case TVMS_NODE_SINFO_TENSOR_MAP: tvms_print_pointer_type(p, sinfo, false); return;
  default: print_object_type(p, sinfo); return;
  }
}
