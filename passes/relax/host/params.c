// Parameters of a Relax function as those of a PrimFunc: tensors are buffers, numbers are variables, shapes
// are their sizes, tuples their fields, and all else is the pointer to a box.
#include "passes/relax/host/params.h"

#include "ir/build.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/host/objects.h"
#include "passes/relax/host/values.h"
#include "structinfo/make.h"

#include <stdio.h>
#include <string.h>

void tvms_host_add_param(tvms_host *h, tvms_node *param,
                         tvms_node *TVMS_NULLABLE buffer) {
  tvms_vec_push(tvms_host_memory(h), &h->params, param);
  tvms_vec_push(tvms_host_memory(h), &h->buffers, buffer);
}

void tvms_host_add_buffer_param(tvms_host *h, tvms_node *buffer) {
  tvms_sym name = tvms_as_buffer(buffer)->name;
  tvms_host_add_param(
      h, tvms_pointer_var_new(h->unit, name, (tvms_dtype){0}, 0, TVMS_NO_SPAN), buffer);
}

// A symbol that this place defines, or NULL.
static bool defines(tvms_host *h, const tvms_node *size) {
  return tvms_relax_is_symbol(size) && !tvms_node_map_get(&h->known, size);
}

static void learn(tvms_host *h, const tvms_node *type) {
  tvms_list dims;
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    for (uint32_t i = 0; i < fields.len; i++)
      learn(h, fields.items[i]);
  }
  bool sized =
      type->kind == TVMS_NODE_SINFO_TENSOR || type->kind == TVMS_NODE_SINFO_SHAPE;
  tvms_node *number =
      type->kind == TVMS_NODE_SINFO_PRIM ? tvms_as_sinfo_prim(type)->value : NULL;
  if (number) dims = (tvms_list){&number, 1};
  if (!number && !(sized && tvms_sinfo_dims(type, &dims))) return;
  for (uint32_t i = 0; i < dims.len; i++) {
    if (!defines(h, dims.items[i])) continue;
    tvms_node *size = tvms_var_like(h->unit, dims.items[i]);
    tvms_node_map_put(&h->known, dims.items[i], size);
    if (type->kind == TVMS_NODE_SINFO_TENSOR)
      tvms_prover_assume_dims(&h->prover, (tvms_list){&size, 1});
  }
}

// A parameter that is an object.
static tvms_host_value *object_param(tvms_host *h, const char *name) {
  tvms_strbuf_putc(&h->inputs, 'o');
  h->plain = false;
  tvms_node *param = tvms_host_number_var(h, name, TVMS_DTYPE(HANDLE, 64));
  tvms_host_add_param(h, param, NULL);
  return tvms_host_object_param(h, param);
}

static tvms_host_value *TVMS_NULLABLE function_param(tvms_host *h,
                                                     const tvms_node *type,
                                                     const char *name, tvms_span span) {
  char who[96];
  snprintf(who, sizeof who, "argument '%.64s': ", name);
  return tvms_host_unboxed(h, type, object_param(h, name), who, span);
}

static tvms_host_value *TVMS_NULLABLE tensor_param(tvms_host *h, const tvms_node *type,
                                                   const char *name, tvms_span span) {
  tvms_list dims, made;
  int64_t ndim = tvms_as_sinfo_tensor(type)->ndim;
  if (tvms_dtype_is_void(type->dtype) || ndim < 0) return object_param(h, name);
  tvms_strbuf_putc(&h->inputs, 't');
  if (tvms_sinfo_dims(type, &dims)) {
    if (!tvms_host_exprs(h, dims, span, &made)) return NULL;
  } else {
    tvms_node_vec sizes = {0};
    for (int64_t i = 0; i < ndim; i++) {
      char text[96];
      snprintf(text, sizeof text, "%.64s_%lld", name, (long long)i);
      tvms_vec_push(tvms_host_memory(h), &sizes,
                    tvms_host_number_var(h, text, TVMS_DTYPE(INT, 64)));
    }
    made = tvms_list_copy(h->unit, sizes.items, sizes.len);
    tvms_vec_fini(tvms_host_memory(h), &sizes);
  }
  tvms_node *buffer = tvms_host_buffer(h, name, type->dtype, made);
  tvms_host_add_buffer_param(h, buffer);
  tvms_host_value *value =
      tvms_host_tensor(h, name, type->dtype, made, tvms_as_buffer(buffer)->data);
  value->buffer = buffer;
  return value;
}

// A number: a symbol of the type itself, unless it is known otherwise; then it must be the same, and is known as that.
static tvms_node *number_param(tvms_host *h, tvms_node *TVMS_NULLABLE size,
                               const char *name, tvms_dtype dtype, tvms_span span) {
  tvms_node *known =
      size && tvms_relax_is_symbol(size) ? tvms_node_map_get(&h->known, size) : NULL;
  bool taken = !known || known->kind != TVMS_NODE_VAR;
  for (uint32_t i = 0; i < h->params.len && !taken; i++)
    taken = h->params.items[i] == known;
  tvms_node *param = taken ? tvms_host_number_var(h, name, dtype) : known;
  tvms_host_add_param(h, param, NULL);
  if (!taken || !size) return param;
  tvms_node *wanted = tvms_host_expr(h, size, span);
  if (!wanted) return param;
  tvms_host_assert(
      h, tvms_binary_new(h->unit, TVMS_NODE_EQ, param, wanted, TVMS_NO_SPAN),
      "ValueError", "a number that was passed is not the size that it stands for");
  return wanted;
}

static tvms_host_value *TVMS_NULLABLE shape_param(tvms_host *h, const tvms_node *type,
                                                  const char *name, tvms_span span) {
  int64_t ndim = tvms_as_sinfo_shape(type)->ndim;
  tvms_list dims = {NULL, 0};
  bool known = tvms_sinfo_dims(type, &dims);
  if (ndim < 0) return object_param(h, name);
  tvms_node_vec sizes = {0};
  for (int64_t i = 0; i < ndim; i++) {
    char text[96];
    snprintf(text, sizeof text, "%.64s_%lld", name, (long long)i);
    tvms_vec_push(
        tvms_host_memory(h), &sizes,
        number_param(h, known ? dims.items[i] : NULL, text, TVMS_DTYPE(INT, 64), span));
  }
  tvms_host_value *value = tvms_host_value_new(h, TVMS_HOST_SHAPE);
  value->dims = tvms_list_copy(h->unit, sizes.items, sizes.len);
  tvms_vec_fini(tvms_host_memory(h), &sizes);
  tvms_strbuf_printf(&h->inputs, "s%lld", (long long)ndim);
  h->plain = false;
  return value;
}

static tvms_host_value *TVMS_NULLABLE param_of(tvms_host *h, const tvms_node *type,
                                               const char *name, tvms_span span);

static tvms_host_value *TVMS_NULLABLE tuple_param(tvms_host *h, const tvms_node *type,
                                                  const char *name, tvms_span span) {
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  tvms_host_value *value = tvms_host_value_of(h, TVMS_HOST_TUPLE, fields.len);
  h->plain = false;
  tvms_strbuf_putc(&h->inputs, '(');
  for (uint32_t i = 0; i < fields.len && !h->failed; i++) {
    char text[96];
    snprintf(text, sizeof text, "%.64s_%u", name, i);
    value->fields[i] = param_of(h, fields.items[i], text, span);
  }
  tvms_strbuf_putc(&h->inputs, ')');
  return h->failed ? NULL : value;
}

static tvms_host_value *TVMS_NULLABLE param_of(tvms_host *h, const tvms_node *type,
                                               const char *name, tvms_span span) {
  switch ((int)type->kind) {
  case TVMS_NODE_SINFO_TENSOR: return tensor_param(h, type, name, span);
  case TVMS_NODE_SINFO_TUPLE: return tuple_param(h, type, name, span);
  case TVMS_NODE_SINFO_SHAPE: return shape_param(h, type, name, span);
  case TVMS_NODE_SINFO_PRIM: {
    tvms_strbuf_putc(&h->inputs, 'n');
    tvms_dtype dtype =
        tvms_dtype_is_void(type->dtype) ? TVMS_DTYPE(INT, 64) : type->dtype;
    return tvms_host_number(
        h, number_param(h, tvms_as_sinfo_prim(type)->value, name, dtype, span));
  }
  case TVMS_NODE_SINFO_OBJECT: return object_param(h, name);
  case TVMS_NODE_SINFO_FUNC: return function_param(h, type, name, span);
  default: return tvms_host_refuse(h, span, "a parameter has a type that no value has");
  }
}

// What callers know: the numbers and sizes of the arguments.
static void learn_told(tvms_host *h) {
  for (uint32_t i = 0; i < h->params.len; i++) {
    tvms_node *buffer = h->buffers.items[i], *param = h->params.items[i];
    if (!buffer) tvms_node_map_put(&h->told, param, param);
    for (uint32_t k = 0; buffer && k < tvms_as_buffer(buffer)->shape.len; k++) {
      tvms_node *size = tvms_as_buffer(buffer)->shape.items[k];
      tvms_node_map_put(&h->told, size, size);
    }
  }
}

void tvms_host_add_params(tvms_host *h) {
  tvms_list params = h->source->params;
  tvms_context *context = h->run->context;
  for (uint32_t i = 0; i < params.len; i++) {
    const tvms_node *param = params.items[i];
    if (!tvms_dtype_is_void(param->dtype) && defines(h, param))
      tvms_node_map_put(&h->known, param, tvms_var_like(h->unit, param));
    if (param->sinfo) learn(h, param->sinfo);
  }
  for (uint32_t i = 0; i < params.len && !h->failed; i++) {
    tvms_node *param = params.items[i];
    const char *name = tvms_symbol_text(context, tvms_as_var(param)->name);
    if (!tvms_dtype_is_void(param->dtype)) {
      tvms_strbuf_putc(&h->inputs, 'n');
      number_param(h, param, name, param->dtype, param->span);
    } else if (param->sinfo) {
      h->values[param->id] = param_of(h, param->sinfo, name, param->span);
    } else {
      tvms_host_refuse(h, param->span, "a parameter has no type");
    }
  }
  learn_told(h);
}
