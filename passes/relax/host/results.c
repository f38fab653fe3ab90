// Results of a Relax function as parameters of a PrimFunc: buffers that it writes, and boxes that it sets.
#include "passes/relax/host/results.h"

#include "ir/build.h"
#include "passes/relax/host/leaves.h"
#include "passes/relax/host/objects.h"
#include "passes/relax/host/params.h"
#include "passes/relax/host/values.h"
#include "structinfo/make.h"

#include <stdio.h>
#include <string.h>

// A result that is an object: the pointer to an item of a list of the caller.
static tvms_node *object_result(tvms_host *h, uint32_t at, bool single) {
  char name[32];
  snprintf(name, sizeof name, single ? "result" : "result_%u", at);
  return tvms_host_number_var(h, name, TVMS_DTYPE(HANDLE, 64));
}

// Does nothing tell where a result of this type would be written?
static bool is_object_type(const tvms_node *type) {
  if (type->kind == TVMS_NODE_SINFO_TENSOR) return tvms_dtype_is_void(type->dtype);
  if (type->kind == TVMS_NODE_SINFO_SHAPE) return tvms_as_sinfo_shape(type)->ndim < 0;
  return type->kind == TVMS_NODE_SINFO_OBJECT || type->kind == TVMS_NODE_SINFO_FUNC;
}

// A buffer for a leaf of the result, NULL for an object. Its sizes are those of the value, which is not
// there yet.
static tvms_node *TVMS_NULLABLE result_param(tvms_host *h, const tvms_node *type,
                                             uint32_t at, bool single,
                                             tvms_strbuf *pattern) {
  char name[32];
  snprintf(name, sizeof name, single ? "result" : "result_%u", at);
  tvms_span span = h->source->head.span;
  tvms_list dims = {NULL, 0};
  tvms_dtype dtype = type->dtype;
  if (is_object_type(type)) {
    tvms_strbuf_putc(pattern, 'o');
    tvms_host_add_param(h, object_result(h, at, single), NULL);
    return NULL;
  }
  switch ((int)type->kind) {
  case TVMS_NODE_SINFO_TENSOR: tvms_strbuf_putc(pattern, 't'); break;
  case TVMS_NODE_SINFO_PRIM:
    tvms_strbuf_putc(pattern, 'n');
    if (tvms_dtype_is_void(dtype)) dtype = TVMS_DTYPE(INT, 64);
    break;
  case TVMS_NODE_SINFO_SHAPE: {
    int64_t ndim = tvms_as_sinfo_shape(type)->ndim;
    tvms_strbuf_printf(pattern, "s%lld", (long long)ndim);
    tvms_node *count = tvms_host_int(h, ndim);
    dims = tvms_list_copy(h->unit, &count, 1);
    dtype = TVMS_DTYPE(INT, 64);
    break;
  }
  default: return tvms_host_refuse(h, span, "a result has a type that no value has");
  }
  tvms_node *buffer = tvms_host_buffer(h, name, dtype, dims);
  tvms_host_add_buffer_param(h, buffer);
  return buffer;
}

void tvms_host_result_params(tvms_host *h, const tvms_node *type, bool single,
                             tvms_node_vec *results, tvms_strbuf *pattern) {
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    tvms_strbuf_putc(pattern, '(');
    for (uint32_t i = 0; i < fields.len && !h->failed; i++)
      tvms_host_result_params(h, fields.items[i], false, results, pattern);
    tvms_strbuf_putc(pattern, ')');
    return;
  }
  tvms_node *buffer = result_param(h, type, results->len, single, pattern);
  tvms_vec_push(tvms_host_memory(h), results, buffer);
}

const tvms_node *TVMS_NULLABLE tvms_host_result_type(const tvms_host *h) {
  const tvms_node *value = tvms_as_seq_expr(h->source->body)->body;
  return value->sinfo ? value->sinfo : h->source->ret;
}

// Result `at`, a tensor, is an object: callers cannot know its sizes.
static void make_object(tvms_host *h, uint32_t at, tvms_node_vec *results,
                        tvms_strbuf *pattern) {
  uint32_t letter = 0;
  for (uint32_t left = at + 1; left; letter++)
    left -= strchr("tnso", pattern->text[letter]) != NULL;
  pattern->text[letter - 1] = 'o';
  h->params.items[h->input_count + at] = object_result(h, at, results->len == 1);
  h->buffers.items[h->input_count + at] = NULL;
  results->items[at] = NULL;
}

void tvms_host_size_results(tvms_host *h, tvms_node_vec *results,
                            tvms_strbuf *pattern) {
  const tvms_node *ret = h->source->ret;
  for (uint32_t i = 0; i < results->len && !h->failed; i++) {
    if (!results->items[i]) continue;
    tvms_buffer *buffer = tvms_as_buffer(results->items[i]);
    bool typed = ret && i < tvms_host_leaves(ret);
    const tvms_node *type = typed ? tvms_host_leaf_type(ret, i) : NULL;
    if (type && type->kind != TVMS_NODE_SINFO_TENSOR) continue;
    tvms_list dims;
    if (!type || !tvms_sinfo_dims(type, &dims) || !tvms_host_knows(h, dims))
      make_object(h, i, results, pattern);
    else
      tvms_host_exprs(h, dims, h->source->head.span, &buffer->shape);
  }
}

// Do callers not know what memory a leaf of the result needs?
static bool is_made_late(tvms_host *h, const tvms_host_value *leaf) {
  if (leaf->kind == TVMS_HOST_TENSOR) return tvms_host_is_late(h, leaf->dims);
  return leaf->kind == TVMS_HOST_OBJECT;
}

// Result `at` is set to a leaf, if it is an object.
static bool deliver_object(tvms_host *h, uint32_t at, tvms_host_value *leaf,
                           const tvms_node_vec *results) {
  if (results->items[at]) return false;
  tvms_node *param = h->params.items[h->input_count + at];
  tvms_host_deliver(h, leaf, tvms_host_object_param(h, param));
  return true;
}

void tvms_host_deliver_results(tvms_host *h, tvms_host_value *value, bool single,
                               tvms_node_vec *results, tvms_strbuf *pattern) {
  for (uint32_t i = 0; i < results->len && !h->failed; i++) {
    // An object may be a tuple.
    bool whole = single && !results->items[i];
    tvms_host_value *leaf = whole ? value : tvms_host_leaf(value, i);
    if (leaf && results->items[i] && is_made_late(h, leaf))
      make_object(h, i, results, pattern);
    if (leaf && deliver_object(h, i, leaf, results)) continue;
    tvms_buffer *buffer = leaf ? tvms_as_buffer(results->items[i]) : NULL;
    if (!leaf || leaf->kind == TVMS_HOST_NOTHING || leaf->kind == TVMS_HOST_STORAGE
        || leaf->kind == TVMS_HOST_TEXT || leaf->kind == TVMS_HOST_FUNCTION
        || leaf->kind == TVMS_HOST_CHOICE) {
      tvms_host_refuse(h, h->source->head.span,
                       "a result is not a value of native code");
      return;
    }
    if (leaf->kind == TVMS_HOST_TENSOR && !buffer->shape.len)
      buffer->shape = leaf->dims;
    if (leaf->kind == TVMS_HOST_TENSOR && buffer->shape.len
        && buffer->shape.items[0]->dtype.bits == 64)
      buffer->elem_offset = tvms_host_int(h, 0);
    tvms_host_value to = {.kind = TVMS_HOST_TENSOR,
                          .dtype = buffer->element,
                          .dims = buffer->shape,
                          .data = buffer->data,
                          .buffer = results->items[i]};
    tvms_host_deliver(h, leaf, &to);
  }
}
