// Methods of buffers and expressions: `A.vload(…)`, `A.access_ptr("r")`, `x.astype(…)`.
#include "parser/tir/method.h"

#include "arith/analyzer.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "parser/eval/attribute.h"
#include "parser/eval/convert.h"
#include "parser/eval/operator.h"
#include "parser/tir/access.h"
#include "parser/tir/call.h"
#include "parser/tir/convert.h"
#include "parser/tir/copy.h"
#include "parser/tir/intrinsic.h"

#include <string.h>

static tvms_eval_value text_value(tvms_reader *reader, tvms_sym name) {
  const tvms_name *text = tvms_interner_name(&reader->context->names, name);
  return tvms_eval_value_text(text->text, text->len);
}

// ---- Buffers --------------------------------------------------------------------------------

static bool access_mask(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                        int64_t *mask) {
  if (value.kind != TVMS_EVAL_STR) return tvms_eval_to_int(reader, value, ref, mask);
  *mask = 0;
  for (uint32_t i = 0; i < value.len; i++) {
    if (value.as.text[i] != 'r' && value.as.text[i] != 'w') {
      tvms_reader_report(reader, bad_access_mask, ref);
      return false;
    }
    *mask |= value.as.text[i] == 'r' ? 1 : 2;
  }
  return true;
}

// The number of elements: shape multiplied up from the front, as TVM folds it.
static tvms_node *element_count(tvms_reader *reader, const tvms_buffer *buffer,
                                tvms_span span) {
  tvms_unit *unit = reader->unit;
  if (buffer->shape.len == 0) {
    return tvms_int_imm_new(unit, TVMS_DTYPE(INT, 64), 1, TVMS_NO_SPAN);
  }
  if (buffer->strides.len == buffer->shape.len) {
    return tvms_build_binary(unit, TVMS_NODE_MUL, buffer->strides.items[0],
                             buffer->shape.items[0], span);
  }
  tvms_node *total = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  for (uint32_t i = 0; total && i < buffer->shape.len; i++) {
    total = tvms_build_binary(unit, TVMS_NODE_MUL, total, buffer->shape.items[i], span);
  }
  return total;
}

static tvms_eval_value access_ptr(tvms_reader *reader, tvms_node *node, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  const char *signature =
      "access_mask, ptr_type='handle', content_lanes=1, offset=0, extent=None";
  int64_t mask, lanes;
  if (!tvms_signature_bind_method(reader, signature, "access_ptr", call, args)
      || !access_mask(reader, args[0], call, &mask)
      || !tvms_eval_to_int(reader, args[2], call, &lanes)) {
    return tvms_reader_failed(reader);
  }
  const tvms_buffer *buffer = tvms_as_buffer(node);
  tvms_unit *unit = reader->unit;
  tvms_span span = tvms_reader_span_of(reader, call);
  tvms_node *offset = tvms_eval_to_expr(reader, args[3], call);
  tvms_node *count = offset ? element_count(reader, buffer, span) : NULL;
  if (!count) return tvms_reader_failed(reader);
  tvms_node *extent = buffer->shape.len
                          ? tvms_build_binary(unit, TVMS_NODE_SUB, count, offset, span)
                          : count;
  tvms_node *start =
      tvms_build_binary(unit, TVMS_NODE_ADD, buffer->elem_offset, offset, span);
  tvms_dtype element = buffer->element;
  if (lanes > 1 && extent && start) {
    tvms_dtype index = buffer->elem_offset->dtype;
    tvms_node *width = tvms_int_imm_new(unit, index, lanes, TVMS_NO_SPAN);
    element.lanes = (int16_t)lanes;
    extent = tvms_build_binary(unit, TVMS_NODE_DIV, extent, width, span);
    start = tvms_build_binary(unit, TVMS_NODE_DIV, buffer->elem_offset, width, span);
  }
  if (args[4].kind != TVMS_EVAL_NONE) extent = tvms_eval_to_expr(reader, args[4], call);
  if (!extent || !start) return tvms_reader_failed(reader);
  tvms_node *type =
      tvms_call_new_of(unit, element, TVMS_TIR_type_annotation, NULL, 0, span);
  tvms_node *parts[] = {
      type, buffer->data, start, extent,
      tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), mask, TVMS_NO_SPAN)};
  tvms_node *result = tvms_call_new_of(unit, TVMS_DTYPE(HANDLE, 64),
                                       TVMS_TIR_tvm_access_ptr, parts, 5, span);
  return tvms_eval_value_node(result);
}

static bool read_begin(tvms_reader *reader, tvms_eval_value begin, tvms_ref call,
                       tvms_list *indices) {
  return tvms_eval_to_exprs(reader, begin, call, indices);
}

// A vector access: the last index becomes a ramp if the element is narrower.
static bool widen_last(tvms_reader *reader, const tvms_buffer *buffer, tvms_dtype dtype,
                       tvms_list indices, tvms_ref call) {
  if (indices.len == 0 || dtype.lanes <= 1) return true;
  int factor = dtype.lanes / buffer->element.lanes;
  tvms_node **last = &indices.items[indices.len - 1];
  if (factor <= 1 || (*last)->dtype.lanes != 1) return true;
  tvms_node *one = tvms_int_imm_new(reader->unit, (*last)->dtype, 1, TVMS_NO_SPAN);
  *last = tvms_ramp_new(reader->unit, *last, one, factor,
                        tvms_reader_span_of(reader, call));
  return true;
}

// Up to 0.26 these methods take a mask.
static bool is_masked(const tvms_reader *reader) {
  return !tvms_release_has(reader->dialect, TVMS_FACT_masked_access_is_intrinsic);
}

static tvms_eval_value vload(tvms_reader *reader, tvms_node *node, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  const tvms_buffer *buffer = tvms_as_buffer(node);
  tvms_list indices;
  tvms_dtype dtype = buffer->element;
  tvms_node *predicate = NULL;
  args[2] = TVMS_NOTHING;
  if (!tvms_signature_bind_method(
          reader,
          is_masked(reader) ? "begin, dtype=None, predicate=None" : "begin, dtype=None",
          "vload", call, args)
      || !read_begin(reader, args[0], call, &indices)) {
    return tvms_reader_failed(reader);
  }
  if (args[1].kind != TVMS_EVAL_NONE
      && !tvms_eval_to_dtype(reader, args[1], call, &dtype)) {
    return tvms_reader_failed(reader);
  }
  if (args[2].kind != TVMS_EVAL_NONE
      && !(predicate = tvms_eval_to_expr(reader, args[2], call))) {
    return tvms_reader_failed(reader);
  }
  bool fits = tvms_dtype_same(tvms_dtype_with_lanes(dtype, 1),
                              tvms_dtype_with_lanes(buffer->element, 1))
              && buffer->element.lanes && dtype.lanes % buffer->element.lanes == 0;
  if (!fits) {
    char a[TVMS_DTYPE_TEXT], b[TVMS_DTYPE_TEXT];
    tvms_reader_report(reader, load_dtype, call, tvms_dtype_text(dtype, a),
                       tvms_dtype_text(buffer->element, b));
    return tvms_reader_failed(reader);
  }
  if (!widen_last(reader, buffer, dtype, indices, call))
    return tvms_reader_failed(reader);
  return tvms_eval_value_node(
      tvms_tir_load(reader, node, indices.items, indices.len, predicate, call));
}

static tvms_eval_value vstore(tvms_reader *reader, tvms_node *node, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_list indices;
  tvms_node *predicate = NULL;
  args[2] = TVMS_NOTHING;
  if (!tvms_signature_bind_method(
          reader, is_masked(reader) ? "begin, value, predicate=None" : "begin, value",
          "vstore", call, args)
      || !read_begin(reader, args[0], call, &indices)) {
    return tvms_reader_failed(reader);
  }
  tvms_node *value = tvms_eval_to_expr(reader, args[1], call);
  if (!value) return tvms_reader_failed(reader);
  tvms_dtype scalar = tvms_dtype_with_lanes(value->dtype, 1);
  if (!tvms_dtype_same(scalar,
                       tvms_dtype_with_lanes(tvms_as_buffer(node)->element, 1))) {
    tvms_eval_report_wrong_type(reader, call, "the stored value",
                                "a value of the buffer's dtype", args[1]);
    return tvms_reader_failed(reader);
  }
  if (args[2].kind != TVMS_EVAL_NONE
      && !(predicate = tvms_eval_to_expr(reader, args[2], call))) {
    return tvms_reader_failed(reader);
  }
  if (!widen_last(reader, tvms_as_buffer(node), value->dtype, indices, call)) {
    return tvms_reader_failed(reader);
  }
  tvms_eval_value *items =
      tvms_arena_array(&reader->values, tvms_eval_value, indices.len);
  for (uint32_t i = 0; i < indices.len; i++) {
    items[i] = tvms_eval_value_node(indices.items[i]);
  }
  tvms_tir_store_into(reader, node,
                      tvms_eval_value_items(TVMS_EVAL_TUPLE, items, indices.len),
                      tvms_eval_value_node(value), predicate, call);
  return TVMS_NOTHING;
}

static tvms_eval_value ptr_to(tvms_reader *reader, tvms_node *node, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_list indices;
  if (!tvms_signature_bind_method(reader, "indices", "ptr_to", call, args)
      || !tvms_eval_to_exprs(reader, args[0], call, &indices)) {
    return tvms_reader_failed(reader);
  }
  tvms_node *load = tvms_tir_load(reader, node, indices.items, indices.len, NULL, call);
  return load ? tvms_tir_address_of(reader, tvms_eval_value_node(load), call)
              : tvms_reader_failed(reader);
}

// The offset of an element in the flat buffer, simplified.
static tvms_node *offset_of(tvms_reader *reader, const tvms_buffer *buffer,
                            tvms_list indices, tvms_span span) {
  tvms_unit *unit = reader->unit;
  tvms_node *total = tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
  for (uint32_t i = 0; total && i < indices.len; i++) {
    tvms_node *index = indices.items[i];
    if (buffer->strides.len) {
      if (i >= buffer->strides.len) break;
      index =
          tvms_build_binary(unit, TVMS_NODE_MUL, index, buffer->strides.items[i], span);
    } else {
      total =
          tvms_build_binary(unit, TVMS_NODE_MUL, total, buffer->shape.items[i], span);
    }
    if (!index || !total) return NULL;
    total = tvms_build_binary(unit, TVMS_NODE_ADD, total, index, span);
  }
  if (total && !tvms_node_is_int(buffer->elem_offset, 0)) {
    total = tvms_build_binary(unit, TVMS_NODE_ADD, total, buffer->elem_offset, span);
  }
  return total ? tvms_arith_simplify(unit, total) : NULL;
}

// The same, as the layout of the buffer has it: known once that is lowered.
static tvms_node *layout_offset(tvms_reader *reader, tvms_node *buffer,
                                tvms_list indices, bool inner, tvms_ref call) {
  tvms_span span = tvms_reader_span_of(reader, call);
  tvms_node *element =
      tvms_tir_load(reader, buffer, indices.items, indices.len, NULL, call);
  if (!element) return NULL;
  tvms_node *offset = tvms_call_new_of(reader->unit, TVMS_DTYPE(INT, 32),
                                       TVMS_TIR_buffer_offset, &element, 1, span);
  if (inner) return offset;
  return tvms_build_binary(reader->unit, TVMS_NODE_ADD,
                           tvms_as_buffer(buffer)->elem_offset, offset, span);
}

static tvms_eval_value offset_method(tvms_reader *reader, tvms_node *node,
                                     tvms_sym name, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_list indices;
  const tvms_buffer *buffer = tvms_as_buffer(node);
  if (!tvms_signature_bind_method(reader, "indices, inner=True", "offset_of", call,
                                  args)
      || !tvms_eval_to_exprs(reader, args[0], call, &indices)) {
    return tvms_reader_failed(reader);
  }
  if (indices.len != buffer->shape.len) {
    tvms_reader_report(reader, wrong_rank, call,
                       tvms_symbol_text(reader->context, buffer->name),
                       buffer->shape.len, indices.len);
    return tvms_reader_failed(reader);
  }
  bool inner = !(args[1].kind == TVMS_EVAL_BOOL && !args[1].as.i);
  tvms_node *offset =
      name == TVMS_SYM_offset_of
          ? offset_of(reader, buffer, indices, tvms_reader_span_of(reader, call))
          : layout_offset(reader, node, indices, inner, call);
  if (!offset) return tvms_reader_failed(reader);
  tvms_eval_value value = tvms_eval_value_node(offset);
  if (name == TVMS_SYM_offset_of) {
    return tvms_eval_value_items(TVMS_EVAL_LIST,
                                 tvms_eval_keep_items(reader, &value, 1), 1);
  }
  if (name == TVMS_SYM_elem_offset_of) return value;
  value = tvms_eval_binary(reader, TVMS_OP_MUL, value,
                           tvms_eval_value_int(buffer->element.bits), call);
  return tvms_eval_binary(reader, TVMS_OP_FLOOR_DIV, value, tvms_eval_value_int(8),
                          call);
}

static tvms_eval_value buffer_method(tvms_reader *reader, tvms_node *node,
                                     tvms_sym name, tvms_ref call) {
  switch (name) {
  case TVMS_SYM_scope: {
    tvms_sym scope = tvms_tir_pointer_scope(tvms_as_buffer(node)->data);
    return scope ? text_value(reader, scope) : tvms_eval_value_text("global", 6);
  }
  case TVMS_SYM_access_ptr: return access_ptr(reader, node, call);
  case TVMS_SYM_vload: return vload(reader, node, call);
  case TVMS_SYM_vstore: return vstore(reader, node, call);
  case TVMS_SYM_ptr_to: return ptr_to(reader, node, call);
  case TVMS_SYM_offset_of:
  case TVMS_SYM_elem_offset_of:
  case TVMS_SYM_byte_offset_of: return offset_method(reader, node, name, call);
  case TVMS_SYM_is_scalar: {
    tvms_list shape = tvms_as_buffer(node)->shape;
    return tvms_eval_value_bool(shape.len == 1 && tvms_node_is_int(shape.items[0], 1));
  }
  case TVMS_SYM_get_flattened_buffer:
  case TVMS_SYM_with_dtype:
  case TVMS_SYM_with_data:
  case TVMS_SYM_with_allocated_addr:
    return tvms_tir_copy_method(reader, node, name, call);
  default:
    return tvms_eval_report_no_attribute(reader, tvms_eval_value_node(node), name,
                                         call);
  }
}

// `x.astype("float32")`, `x.equal(y)`.
static tvms_eval_value expr_method(tvms_reader *reader, tvms_node *node, tvms_sym name,
                                   tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_span span = tvms_reader_span_of(reader, call);
  if (!tvms_signature_bind_method(
          reader, "value", tvms_symbol_text(reader->context, name), call, args)) {
    return tvms_reader_failed(reader);
  }
  if (name == TVMS_SYM_astype) {
    tvms_dtype dtype;
    if (!tvms_eval_to_dtype(reader, args[0], call, &dtype))
      return tvms_reader_failed(reader);
    return tvms_eval_value_node(tvms_build_cast(reader->unit, dtype, node, span));
  }
  tvms_node *other = tvms_eval_to_expr(reader, args[0], call);
  if (!other) return tvms_reader_failed(reader);
  return tvms_eval_value_node(
      tvms_build_binary(reader->unit, TVMS_NODE_EQ, node, other, span));
}

tvms_eval_value tvms_tir_call_node_method(tvms_reader *reader, tvms_node *node,
                                          tvms_sym name, tvms_ref call) {
  if (node->kind == TVMS_NODE_BUFFER) return buffer_method(reader, node, name, call);
  return expr_method(reader, node, name, call);
}
