// Attributes and methods of nodes: `A.data`, `A.shape`, `x.dtype`, `A.vload(…)` …
#include "parser/tir/attribute.h"

#include "arith/analyzer.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "parser/eval/call.h"
#include "parser/eval/convert.h"
#include "parser/eval/operator.h"
#include "parser/tile/layout_method.h"
#include "parser/tile/view.h"
#include "parser/tir/access.h"
#include "parser/tir/call.h"
#include "parser/tir/convert.h"
#include "parser/tir/copy.h"
#include "parser/tir/intrinsic.h"

#include <string.h>

static tvms_eval_value no_attribute(tvms_reader *reader, tvms_node *node, tvms_sym name,
                                    tvms_ref ref) {
  tvms_reader_report(reader, unknown_attribute, ref,
                     tvms_eval_describe(reader, tvms_eval_value_node(node)),
                     tvms_symbol_text(reader->context, name));
  return tvms_reader_failed(reader);
}

static tvms_eval_value list_value(tvms_reader *reader, tvms_list list) {
  tvms_eval_value *items = tvms_arena_array(&reader->values, tvms_eval_value, list.len);
  for (uint32_t i = 0; i < list.len; i++) {
    items[i] = tvms_eval_value_node(list.items[i]);
  }
  return tvms_eval_value_items(TVMS_EVAL_TUPLE, items, list.len);
}

static tvms_eval_value method_of(tvms_reader *reader, tvms_node *node, tvms_sym name) {
  tvms_method *method = tvms_arena_new(&reader->values, tvms_method);
  method->receiver = tvms_arena_new(&reader->values, tvms_eval_value);
  *method->receiver = tvms_eval_value_node(node);
  method->name = name;
  return (tvms_eval_value){.kind = TVMS_EVAL_METHOD, .as.method = method};
}

static tvms_eval_value text_value(tvms_reader *reader, tvms_sym name) {
  const tvms_name *text = tvms_interner_name(&reader->context->names, name);
  return tvms_eval_value_text(text->text, text->len);
}

// ---- Buffers --------------------------------------------------------------------------------

static tvms_eval_value layout_of(tvms_reader *reader, const tvms_buffer *buffer) {
  bool none = buffer->layout && buffer->layout->kind == TVMS_NODE_OBJECT_NONE;
  if (none) return TVMS_NOTHING;
  if (buffer->layout) return tvms_eval_value_node(buffer->layout);
  if (reader->tir && reader->tir->s_tir) return TVMS_NOTHING;
  return tvms_eval_value_node(tvms_layout_row_major(reader->unit, buffer->shape));
}

// Attributes that not every release has.
static const struct {
  tvms_node_kind of;  // BUFFER, BUFFER_REGION, or VAR for any value
  tvms_sym name;
  tvms_dialect since, until;
} dated[] = {
#define SPELLING(where, older, newer, since)
#define ATTRIBUTE(of, name, since, until)                                              \
  {TVMS_NODE_##of, TVMS_SYM_##name, TVMS_DIALECT_##since, TVMS_DIALECT_##until},
#include "ir/dialect.def"
};

static bool has_attribute(const tvms_reader *reader, tvms_node_kind of, tvms_sym name) {
  for (size_t i = 0; i < sizeof dated / sizeof dated[0]; i++) {
    if (dated[i].of != of || dated[i].name != name) continue;
    tvms_dialect rows = tvms_release_rows(reader->dialect);
    return rows >= dated[i].since && rows <= dated[i].until;
  }
  return true;
}

static tvms_eval_value whole(tvms_node *buffer) {
  tvms_eval_value value = tvms_eval_value_node(buffer);
  value.flags = TVMS_EVAL_WHOLE;
  return value;
}

static tvms_eval_value buffer_attribute(tvms_reader *reader, tvms_node *node,
                                        tvms_sym name, tvms_ref ref) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  if (!has_attribute(reader, TVMS_NODE_BUFFER, name)) {
    return no_attribute(reader, node, name, ref);
  }
  switch (name) {
  case TVMS_SYM_data: return tvms_eval_value_node(buffer->data);
  case TVMS_SYM_shape: return list_value(reader, buffer->shape);
  case TVMS_SYM_strides: return list_value(reader, buffer->strides);
  case TVMS_SYM_elem_offset: return tvms_eval_value_node(buffer->elem_offset);
  case TVMS_SYM_dtype: return tvms_eval_value_dtype(buffer->element);
  case TVMS_SYM_name: return text_value(reader, buffer->name);
  case TVMS_SYM_data_alignment: return tvms_eval_value_int(buffer->align);
  case TVMS_SYM_offset_factor: return tvms_eval_value_int(buffer->offset_factor);
  case TVMS_SYM_layout: return layout_of(reader, buffer);
  case TVMS_SYM_allocated_addr: return list_value(reader, buffer->allocated_addr);
  case TVMS_SYM_axis_separators: return list_value(reader, buffer->axis_separators);
  case TVMS_SYM_ty: return tvms_eval_value_node(node);
  case TVMS_SYM_byte_offset: {
    tvms_eval_value bits =
        tvms_eval_binary(reader, TVMS_OP_MUL, tvms_eval_value_node(buffer->elem_offset),
                         tvms_eval_value_int(buffer->element.bits), ref);
    return tvms_eval_binary(reader, TVMS_OP_FLOOR_DIV, bits, tvms_eval_value_int(8),
                            ref);
  }
  case TVMS_SYM_scope:
  case TVMS_SYM_access_ptr:
  case TVMS_SYM_vload:
  case TVMS_SYM_vstore:
  case TVMS_SYM_offset_of:
  case TVMS_SYM_elem_offset_of:
  case TVMS_SYM_byte_offset_of:
  case TVMS_SYM_ptr_to:
  case TVMS_SYM_view:
  case TVMS_SYM_local:
  case TVMS_SYM_permute:
  case TVMS_SYM_rearrange:
  case TVMS_SYM_sub:
  case TVMS_SYM_tile:
  case TVMS_SYM_chunk:
  case TVMS_SYM_with_dtype:
  case TVMS_SYM_with_data:
  case TVMS_SYM_with_allocated_addr:
  case TVMS_SYM_is_scalar:
  case TVMS_SYM_get_flattened_buffer: return method_of(reader, node, name);
  case TVMS_SYM_buffer:
  case TVMS_SYM_source:
    // A scalar is read as its only element, and that names its buffer.
    if (tvms_tir_is_scalar_buffer(reader, node)) return whole(node);
    break;
  default: break;
  }
  return no_attribute(reader, node, name, ref);
}

// ---- Other nodes ----------------------------------------------------------------------------

// The type of a value, as a type.
static tvms_eval_value type_value(tvms_reader *reader, tvms_node *node) {
  if (node->sinfo) return tvms_eval_value_node(node->sinfo);
  if (tvms_dtype_is_handle(node->dtype)) {
    return tvms_eval_value_node(tvms_tir_pointer_type(reader, (tvms_dtype){0}, 0));
  }
  tvms_sinfo_prim *type = tvms_node_make(reader->unit, SINFO_PRIM, TVMS_NO_SPAN);
  type->head.dtype = node->dtype;
  return tvms_eval_value_node(&type->head);
}

static tvms_eval_value load_attribute(tvms_reader *reader, tvms_node *node,
                                      tvms_sym name) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (name == TVMS_SYM_buffer || name == TVMS_SYM_source) return whole(load->buffer);
  if (name == TVMS_SYM_indices) return list_value(reader, load->indices);
  return TVMS_UNKNOWN;
}

// A field of the node by its name in TVM, which is ours but for the callee. False: it has
// none of that name.
static bool field_of(tvms_reader *reader, tvms_node *node, tvms_sym name,
                     tvms_eval_value *value) {
  const char *text =
      name == TVMS_SYM_op ? "callee" : tvms_symbol_text(reader->context, name);
  if (name == TVMS_SYM_attrs) return false;  // those of Relax
  const tvms_node_schema *schema = tvms_node_schema_of((tvms_node_kind)node->kind);
  for (uint32_t i = 0; i < schema->field_count; i++) {
    const tvms_field *field = &schema->fields[i];
    const void *at = (const char *)node + field->offset;
    if (strcmp(field->name, text) != 0) continue;
    if (field->type == TVMS_TYPE_NODE) {
      tvms_node *child = *(tvms_node *const *)at;
      *value = child ? tvms_eval_value_node(child) : TVMS_NOTHING;
      return true;
    }
    if (field->type == TVMS_TYPE_LIST) {
      *value = list_value(reader, *(const tvms_list *)at);
      return true;
    }
    if (field->type != TVMS_TYPE_TEXT) return false;
    const tvms_bytes *bytes = at;
    *value = tvms_eval_value_text(bytes->text, (uint32_t)bytes->len);
    return true;
  }
  return false;
}

static tvms_eval_value expr_attribute(tvms_reader *reader, tvms_node *node,
                                      tvms_sym name, tvms_ref ref) {
  bool has = has_attribute(reader, TVMS_NODE_VAR, name);
  if (has && node->kind == TVMS_NODE_BUFFER_LOAD) {
    tvms_eval_value value = load_attribute(reader, node, name);
    if (tvms_eval_value_is_known(value)) return value;
  }
  switch (has ? name : 0) {
  case TVMS_SYM_dtype: return tvms_eval_value_dtype(node->dtype);
  case TVMS_SYM_ty: return type_value(reader, node);
  case TVMS_SYM_astype:
  case TVMS_SYM_equal: return method_of(reader, node, name);
  case TVMS_SYM_name:
    if (node->kind != TVMS_NODE_VAR) break;
    return text_value(reader, tvms_as_var(node)->name);
  case TVMS_SYM_value:
    if (node->kind == TVMS_NODE_INT_IMM) {
      return tvms_eval_value_int(tvms_as_int_imm(node)->value);
    }
    if (node->kind == TVMS_NODE_FLOAT_IMM) {
      return tvms_eval_value_float(tvms_as_float_imm(node)->value);
    }
    break;
  case TVMS_SYM_a:
  case TVMS_SYM_b:
    if (!tvms_node_is_binary(node)) break;
    return tvms_eval_value_node(name == TVMS_SYM_a ? tvms_as_binary(node)->a
                                                   : tvms_as_binary(node)->b);
  default: break;
  }
  if (node->kind == TVMS_NODE_BUFFER_LOAD) {
    tvms_node *buffer = tvms_as_buffer_load(node)->buffer;
    if (tvms_tir_is_scalar_buffer(reader, buffer)) {
      return buffer_attribute(reader, buffer, name, ref);
    }
  }
  tvms_eval_value field;
  bool own = node->kind != TVMS_NODE_BUFFER_LOAD && node->kind != TVMS_NODE_VAR;
  if (own && field_of(reader, node, name, &field)) return field;
  return no_attribute(reader, node, name, ref);
}

tvms_eval_value tvms_tir_node_attribute(tvms_reader *reader, tvms_node *node,
                                        tvms_sym name, tvms_ref ref) {
  tvms_eval_value part;
  bool layout =
      node->kind == TVMS_NODE_TILE_LAYOUT || node->kind == TVMS_NODE_COMPOSE_LAYOUT;
  // TVM keeps no places of text.
  if (name == TVMS_SYM_span && !layout) return TVMS_NOTHING;
  switch (node->kind) {
  case TVMS_NODE_BUFFER: return buffer_attribute(reader, node, name, ref);
  case TVMS_NODE_BUFFER_REGION:
    if (!has_attribute(reader, node->kind, name)) break;
    if (name == TVMS_SYM_buffer || name == TVMS_SYM_source) {
      return tvms_eval_value_node(tvms_as_buffer_region(node)->buffer);
    }
    if (name == TVMS_SYM_region) {
      return list_value(reader, tvms_as_buffer_region(node)->region);
    }
    break;
  case TVMS_NODE_RANGE:
    if (name == TVMS_SYM_min) return tvms_eval_value_node(tvms_as_range(node)->min);
    if (name == TVMS_SYM_extent)
      return tvms_eval_value_node(tvms_as_range(node)->extent);
    break;
  case TVMS_NODE_ITER_VAR:
    if (name == TVMS_SYM_var) return tvms_eval_value_node(tvms_as_iter_var(node)->var);
    if (name == TVMS_SYM_dom) return tvms_eval_value_node(tvms_as_iter_var(node)->dom);
    break;
  case TVMS_NODE_SINFO_PRIM:
  case TVMS_NODE_SINFO_POINTER:
    if (name == TVMS_SYM_dtype) return tvms_eval_value_dtype(node->dtype);
    break;
  case TVMS_NODE_TILE_LAYOUT:
  case TVMS_NODE_COMPOSE_LAYOUT:
    if (tvms_tile_layout_has_method(node, name)) return method_of(reader, node, name);
    if (tvms_tile_layout_attribute(reader, node, name, &part)) return part;
    break;
  case TVMS_NODE_LAYOUT_ITER:
    if (tvms_tile_layout_attribute(reader, node, name, &part)) return part;
    break;
  default:
    if (tvms_node_class_of(node) == TVMS_CLASS_EXPR) {
      return expr_attribute(reader, node, name, ref);
    }
  }
  return no_attribute(reader, node, name, ref);
}

// ---- Methods of buffers ---------------------------------------------------------------------

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
    tvms_eval_report_wrong_type(reader, call, "what is stored",
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
  default: return tvms_view_method(reader, node, name, call);
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
  if (node->kind == TVMS_NODE_TILE_LAYOUT || node->kind == TVMS_NODE_COMPOSE_LAYOUT) {
    return tvms_tile_layout_method(reader, node, name, call);
  }
  return expr_method(reader, node, name, call);
}
