// Buffers made from another one without a statement: A.get_flattened_buffer(),
// A.with_dtype(…), A.with_data(…), A.with_allocated_addr(…).
#include "parser/tir/copy.h"

#include "arith/layout.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "parser/eval/convert.h"
#include "parser/tir/convert.h"
#include "parser/tir/stmt.h"

// A buffer like `buffer`. Up to 0.25 it shares the data; from then on a buffer is a
// variable of its own.
static tvms_buffer *copied(tvms_reader *reader, const tvms_buffer *buffer,
                           tvms_ref ref) {
  tvms_buffer *copy =
      tvms_node_make(reader->unit, BUFFER, tvms_reader_span_of(reader, ref));
  tvms_node head = copy->head;
  *copy = *buffer;
  copy->head = head;
  if (!tvms_release_has(reader->dialect, TVMS_FACT_buffers_are_variables)) return copy;
  copy->data = tvms_var_like(reader->unit, buffer->data);
  copy->head.spare |= TVMS_SPARE_OWN_DATA;
  return copy;
}

static tvms_node *times(tvms_reader *reader, tvms_node *TVMS_NULLABLE a, tvms_node *b,
                        tvms_ref ref) {
  if (!a) return NULL;
  return tvms_build_binary(reader->unit, TVMS_NODE_MUL, a, b,
                           tvms_reader_span_of(reader, ref));
}

// The extents of the flat buffer: one, and one for each axis separator. False after a
// report.
static bool flat_shape(tvms_reader *reader, const tvms_buffer *buffer, tvms_ref ref,
                       tvms_list *shape) {
  uint32_t count = buffer->axis_separators.len + 1, at = 0;
  *shape =
      (tvms_list){tvms_arena_array(&reader->unit->arena, tvms_node *, count), count};
  for (uint32_t i = 0; i < count; i++) {
    shape->items[i] = tvms_build_literal_int(reader->unit, 1, TVMS_NO_SPAN);
  }
  for (uint32_t i = 0; i < buffer->shape.len; i++) {
    int64_t next;
    bool separated = at + 1 < count
                     && tvms_object_as_int(buffer->axis_separators.items[at], &next)
                     && next == (int64_t)i;
    bool starts = i == 0 || separated;
    at += separated;
    if (buffer->strides.len && (!starts || i >= buffer->strides.len)) continue;
    shape->items[at] =
        times(reader, buffer->strides.len ? buffer->strides.items[i] : shape->items[at],
              buffer->shape.items[i], ref);
    if (!shape->items[at]) return false;
  }
  return true;
}

static tvms_eval_value flattened(tvms_reader *reader, tvms_node *node, tvms_ref call) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  tvms_list shape;
  if (!flat_shape(reader, buffer, call, &shape)) return tvms_reader_failed(reader);
  if (shape.len == buffer->shape.len && !buffer->strides.len) {
    return tvms_eval_value_node(node);
  }
  tvms_buffer *copy = copied(reader, buffer, call);
  copy->shape = shape;
  copy->strides = (tvms_list){0};
  copy->layout = NULL;
  if (tvms_release_has(reader->dialect, TVMS_FACT_buffers_have_layouts)
      && tvms_tir_of(reader) && tvms_tir_of(reader)->s_tir) {
    copy->layout = tvms_layout_row_major(reader->unit, shape);
  }
  copy->axis_separators =
      tvms_list_copy(reader->unit, copy->axis_separators.items, shape.len - 1);
  for (uint32_t i = 0; i + 1 < shape.len; i++) {
    copy->axis_separators.items[i] =
        tvms_int_imm_new(reader->unit, TVMS_DTYPE(INT, 32), i + 1, TVMS_NO_SPAN);
  }
  return tvms_eval_value_node(&copy->head);
}

static tvms_eval_value with_dtype(tvms_reader *reader, const tvms_buffer *buffer,
                                  tvms_eval_value value, tvms_ref call) {
  tvms_dtype dtype;
  if (!tvms_eval_to_dtype(reader, value, call, &dtype))
    return tvms_reader_failed(reader);
  tvms_buffer *copy = copied(reader, buffer, call);
  copy->element = dtype;
  // The pointer of a buffer that is a variable of its own follows the element.
  bool typed = copy->data != buffer->data && buffer->data->sinfo
               && buffer->data->sinfo->kind == TVMS_NODE_SINFO_POINTER;
  if (typed) {
    copy->data = tvms_pointer_var_new(reader->unit, 0, dtype,
                                      tvms_as_sinfo_pointer(buffer->data->sinfo)->scope,
                                      TVMS_NO_SPAN);
  }
  return tvms_eval_value_node(&copy->head);
}

static tvms_eval_value with_data(tvms_reader *reader, const tvms_buffer *buffer,
                                 tvms_eval_value value, tvms_ref call) {
  tvms_node *data = tvms_eval_value_node_of(value, TVMS_NODE_VAR);
  if (!data || !tvms_dtype_is_handle(data->dtype)) {
    tvms_eval_report_wrong_type(reader, call, "data", "a pointer", value);
    return tvms_reader_failed(reader);
  }
  tvms_buffer *copy = copied(reader, buffer, call);
  copy->data = data;
  return tvms_eval_value_node(&copy->head);
}

tvms_eval_value tvms_tir_copy_method(tvms_reader *reader, tvms_node *node,
                                     tvms_sym name, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  const char *signature = name == TVMS_SYM_get_flattened_buffer ? ""
                          : name == TVMS_SYM_with_dtype         ? "dtype"
                          : name == TVMS_SYM_with_data          ? "data"
                                                                : "allocated_addr";
  if (!tvms_signature_bind_method(
          reader, signature, tvms_symbol_text(reader->context, name), call, args)) {
    return tvms_reader_failed(reader);
  }
  const tvms_buffer *buffer = tvms_as_buffer(node);
  switch (name) {
  case TVMS_SYM_get_flattened_buffer: return flattened(reader, node, call);
  case TVMS_SYM_with_dtype: return with_dtype(reader, buffer, args[0], call);
  case TVMS_SYM_with_data: return with_data(reader, buffer, args[0], call);
  default: break;
  }
  tvms_list address;
  if (!tvms_eval_to_exprs(reader, args[0], call, &address))
    return tvms_reader_failed(reader);
  tvms_buffer *copy = copied(reader, buffer, call);
  copy->allocated_addr = address;
  return tvms_eval_value_node(&copy->head);
}
