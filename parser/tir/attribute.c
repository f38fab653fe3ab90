// Attributes of nodes: `A.data`, `A.shape`, `x.dtype`, `r.extent` …
//
// Layouts have their own in parser/tile/, and so have the methods of buffers that make
// views.
#include "parser/tir/attribute.h"

#include "arith/analyzer.h"
#include "arith/layout.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "parser/eval/attribute.h"
#include "parser/eval/operator.h"
#include "parser/tir/access.h"
#include "parser/tir/call.h"

#include <string.h>

static tvms_eval_value list_value(tvms_reader *reader, tvms_list list) {
  tvms_eval_value *items = tvms_arena_array(&reader->values, tvms_eval_value, list.len);
  for (uint32_t i = 0; i < list.len; i++) {
    items[i] = tvms_eval_value_node(list.items[i]);
  }
  return tvms_eval_value_items(TVMS_EVAL_TUPLE, items, list.len);
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
  if (tvms_tir_of(reader) && tvms_tir_of(reader)->s_tir) return TVMS_NOTHING;
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

bool tvms_tir_has_attribute(const tvms_reader *reader, tvms_node_kind of,
                            tvms_sym name) {
  for (size_t i = 0; i < sizeof dated / sizeof dated[0]; i++) {
    if (dated[i].of != of || dated[i].name != name) continue;
    tvms_dialect rows = tvms_release_rows(reader->dialect);
    return rows >= dated[i].since && rows <= dated[i].until;
  }
  return true;
}

static tvms_eval_value whole(tvms_node *buffer) {
  tvms_eval_value value = tvms_eval_value_node(buffer);
  value.flags = TVMS_TIR_VALUE_WHOLE;
  return value;
}

#define BUFFER_METHODS(METHOD)                                                         \
  METHOD(scope)                                                                        \
  METHOD(access_ptr)                                                                   \
  METHOD(vload)                                                                        \
  METHOD(vstore)                                                                       \
  METHOD(offset_of)                                                                    \
  METHOD(elem_offset_of)                                                               \
  METHOD(byte_offset_of)                                                               \
  METHOD(ptr_to)                                                                       \
  METHOD(with_dtype)                                                                   \
  METHOD(with_data)                                                                    \
  METHOD(with_allocated_addr)                                                          \
  METHOD(is_scalar)                                                                    \
  METHOD(get_flattened_buffer)

// What is suggested for a misspelt one.
static const tvms_sym of_buffers[] = {TVMS_SYM_data,           TVMS_SYM_shape,
                                      TVMS_SYM_strides,        TVMS_SYM_elem_offset,
                                      TVMS_SYM_dtype,          TVMS_SYM_name,
                                      TVMS_SYM_data_alignment, TVMS_SYM_offset_factor,
#define METHOD(name) TVMS_SYM_##name,
                                      BUFFER_METHODS(METHOD)
#undef METHOD
};

static tvms_eval_value buffer_attribute(tvms_reader *reader, tvms_node *node,
                                        tvms_sym name, tvms_ref ref) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  if (!tvms_tir_has_attribute(reader, TVMS_NODE_BUFFER, name)) {
    return tvms_eval_report_no_attribute(reader, tvms_eval_value_node(node), name, ref);
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
#define METHOD(name) case TVMS_SYM_##name:
    BUFFER_METHODS(METHOD)
#undef METHOD
    return tvms_eval_bound_method(reader, tvms_eval_value_node(node), name);
  case TVMS_SYM_buffer:
  case TVMS_SYM_source:
    // A scalar is read as its only element, and that names its buffer.
    if (tvms_tir_is_scalar_buffer(reader, node)) return whole(node);
    break;
  default: break;
  }
  return tvms_eval_report_no_attribute_of(reader, tvms_eval_value_node(node), name, ref,
                                          of_buffers,
                                          sizeof of_buffers / sizeof of_buffers[0]);
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
  bool has = tvms_tir_has_attribute(reader, TVMS_NODE_VAR, name);
  if (has && node->kind == TVMS_NODE_BUFFER_LOAD) {
    tvms_eval_value value = load_attribute(reader, node, name);
    if (tvms_eval_value_is_known(value)) return value;
  }
  switch (has ? name : 0) {
  case TVMS_SYM_dtype: return tvms_eval_value_dtype(node->dtype);
  case TVMS_SYM_ty: return type_value(reader, node);
  case TVMS_SYM_astype:
  case TVMS_SYM_equal:
    return tvms_eval_bound_method(reader, tvms_eval_value_node(node), name);
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
      return tvms_eval_attribute(reader, tvms_eval_value_node(buffer), name, ref);
    }
  }
  tvms_eval_value field;
  bool own = node->kind != TVMS_NODE_BUFFER_LOAD && node->kind != TVMS_NODE_VAR;
  if (own && field_of(reader, node, name, &field)) return field;
  return tvms_eval_report_no_attribute(reader, tvms_eval_value_node(node), name, ref);
}

tvms_eval_value tvms_tir_node_attribute(tvms_reader *reader, tvms_node *node,
                                        tvms_sym name, tvms_ref ref) {
  // TVM keeps no places of text.
  if (name == TVMS_SYM_span) return TVMS_NOTHING;
  switch (node->kind) {
  case TVMS_NODE_BUFFER: return buffer_attribute(reader, node, name, ref);
  case TVMS_NODE_BUFFER_REGION:
    if (!tvms_tir_has_attribute(reader, node->kind, name)) break;
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
  default:
    if (tvms_node_class_of(node) == TVMS_CLASS_EXPR) {
      return expr_attribute(reader, node, name, ref);
    }
  }
  return tvms_eval_report_no_attribute(reader, tvms_eval_value_node(node), name, ref);
}
