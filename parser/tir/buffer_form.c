// What all declarations of a buffer share: their parameters, read from a bound call, and
// the node that is made of them.
#include "parser/tir/buffer_form.h"

#include "arith/layout.h"
#include "arith/layout_trainium.h"
#include "ir/object.h"
#include "parser/eval/convert.h"
#include "parser/eval/iterate.h"
#include "parser/eval/operator.h"
#include "parser/tir/call.h"
#include "parser/tir/convert.h"
#include "parser/tir/signature.h"
#include "parser/tir/stmt.h"

#include <string.h>

enum { DEFAULT_ALIGN = 64 };

// ---- Making a buffer ------------------------------------------------------------------------

// Dtype of the indices; TVM is built with 64-bit ones where no dimension says otherwise.
static tvms_dtype index_dtype(const tvms_buffer_form *form) {
  return form->shape.len ? form->shape.items[0]->dtype : TVMS_DTYPE(INT, 64);
}

// What the pointer of a buffer points to; up to 0.25 booleans are stored as int8.
static tvms_dtype stored_dtype(const tvms_reader *reader, tvms_dtype dtype) {
  bool byte = tvms_dtype_is_bool(dtype)
              && tvms_release_has(reader->dialect, TVMS_FACT_bools_are_stored_as_int8);
  return byte ? (tvms_dtype){TVMS_INT, 8, dtype.lanes} : dtype;
}

tvms_node *tvms_tir_buffer_make(tvms_reader *reader, const tvms_buffer_form *form,
                                tvms_ref ref) {
  tvms_unit *unit = reader->unit;
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_buffer *buffer = tvms_node_make(unit, BUFFER, span);
  tvms_dtype index = index_dtype(form);
  buffer->element = form->dtype;
  buffer->shape = form->shape;
  buffer->strides = form->strides;
  buffer->data = form->data;
  // From 0.26 on a buffer over other data has a pointer of its own, in the same scope.
  if (!buffer->data
      || tvms_release_has(reader->dialect, TVMS_FACT_buffers_are_variables)) {
    tvms_sym scope = form->data ? tvms_tir_pointer_scope(form->data) : form->scope;
    buffer->data =
        tvms_pointer_var_new(unit, 0, stored_dtype(reader, form->dtype), scope, span);
    buffer->head.spare |= TVMS_SPARE_OWN_DATA;
  }
  buffer->elem_offset = form->elem_offset;
  if (!buffer->elem_offset && form->offset_factor) {
    tvms_sym name = tvms_symbol_intern(reader->context, "elem_offset", 11);
    tvms_dtype dtype = form->shape.len ? index : TVMS_DTYPE(INT, 32);
    buffer->elem_offset = tvms_var_new(unit, name, dtype, span);
  }
  if (!buffer->elem_offset) {
    buffer->elem_offset = tvms_int_imm_new(unit, index, 0, TVMS_NO_SPAN);
  }
  buffer->align = form->align > 0 ? form->align : DEFAULT_ALIGN;
  buffer->offset_factor = form->offset_factor ? form->offset_factor : 1;
  buffer->buffer_type = form->auto_broadcast;
  buffer->axis_separators = form->axis_separators;
  buffer->layout = form->layout;
  buffer->allocated_addr = form->allocated_addr;
  if (form->auto_broadcast && !buffer->strides.len) {
    tvms_node **strides = tvms_arena_array(&unit->arena, tvms_node *, form->shape.len);
    for (uint32_t i = 0; i < form->shape.len; i++) {
      tvms_sym name = tvms_symbol_intern(reader->context, "stride", 6);
      strides[i] = tvms_var_new(unit, name, form->shape.items[i]->dtype, span);
    }
    buffer->strides = (tvms_list){strides, form->shape.len};
  }
  return &buffer->head;
}

// ---- Reading the form -----------------------------------------------------------------------

// The first element of a tuple or list as written, or 0.
static tvms_ref first_item(const tvms_reader *reader, tvms_ref sequence) {
  const tvms_surf *node = tvms_reader_at(reader, sequence);
  bool written = node->kind == TVMS_SURF_TUPLE || node->kind == TVMS_SURF_LIST;
  return written ? node->a : 0;
}

// In a signature a string is a dimension, from 0.26 on; not in a file whose annotations Python
// evaluates before TVM sees them.
static bool is_quoted_dim(const tvms_reader *reader, tvms_eval_value dim,
                          tvms_ref ref) {
  if (reader->lenient && !reader->postponed) return false;
  return dim.kind == TVMS_EVAL_STR && tvms_tir_of(reader)
         && tvms_tir_of(reader)->part != TVMS_TIR_IN_BODY && ref
         && tvms_surface_is_string(reader->surface, ref)
         && tvms_release_has(reader->dialect, TVMS_FACT_signatures_define_dims);
}

// Since 0.26 no part of a buffer but its data is a pointer. Reports one.
static bool is_number(tvms_reader *reader, const tvms_node *part, const char *what,
                      tvms_ref ref) {
  if (!tvms_dtype_is_handle(part->dtype)
      || tvms_release_has(reader->dialect, TVMS_FACT_pointers_are_numbers))
    return true;
  tvms_eval_report_wrong_type(reader, ref, what, "a number",
                              tvms_eval_value_node((tvms_node *)(uintptr_t)part));
  return false;
}

static tvms_node *dim_of(tvms_reader *reader, tvms_eval_value dim, tvms_ref ref) {
  if (is_quoted_dim(reader, dim, ref))
    return tvms_eval_to_expr(reader, tvms_tir_quoted_dim(reader, ref), ref);
  bool is_index = dim.kind == TVMS_EVAL_INT || dim.kind == TVMS_EVAL_NODE
                  || dim.kind == TVMS_EVAL_BOOL;
  tvms_node *node = is_index ? tvms_eval_to_expr(reader, dim, ref) : NULL;
  if (is_index && !node) return NULL;
  if (node && !is_number(reader, node, "a dimension", ref)) return NULL;
  bool real = node && tvms_dtype_is_real(node->dtype);
  if (!node || (real && tvms_release_has(reader->dialect, TVMS_FACT_dims_are_whole))) {
    tvms_eval_report_wrong_type(reader, ref, "a dimension", "an int or an expression",
                                dim);
    return NULL;
  }
  return node;
}

static bool read_shape(tvms_reader *reader, tvms_eval_value shape, tvms_ref ref,
                       tvms_list *list) {
  tvms_eval_items items = {&shape, 1};
  bool quoted = is_quoted_dim(reader, shape, ref);
  bool single = quoted || shape.kind == TVMS_EVAL_INT || shape.kind == TVMS_EVAL_BOOL
                || (shape.kind == TVMS_EVAL_NODE
                    && tvms_node_class_of(shape.as.node) == TVMS_CLASS_EXPR);
  if (shape.kind == TVMS_EVAL_STR && !quoted) {
    tvms_eval_report_wrong_type(reader, ref, "a shape", "a tuple or list", shape);
    return false;
  }
  if (!single && !tvms_eval_iterate(reader, shape, ref, &items)) return false;
  list->items = tvms_arena_array(&reader->unit->arena, tvms_node *, items.len);
  list->len = items.len;
  bool sound = true;
  tvms_ref item = single ? 0 : first_item(reader, ref);
  for (uint32_t i = 0; i < items.len; i++) {
    list->items[i] = dim_of(reader, items.items[i], item ? item : ref);
    sound = sound && list->items[i];
    if (item) item = tvms_reader_at(reader, item)->next;
  }
  // Up to 0.25 the first dimension gives the type of indices.
  bool pointer = sound && list->len && tvms_dtype_is_handle(list->items[0]->dtype);
  if (pointer)
    tvms_eval_report_wrong_type(reader, ref, "a dimension", "a number",
                                tvms_eval_value_node(list->items[0]));
  return sound && !pointer;
}

// A string names a fresh variable.
static bool read_strides(tvms_reader *reader, tvms_eval_value strides, tvms_ref ref,
                         tvms_dtype named, tvms_list *list) {
  if (strides.kind == TVMS_EVAL_NONE) return true;
  tvms_eval_items items;
  if (!tvms_eval_iterate(reader, strides, ref, &items)) return false;
  list->items = tvms_arena_array(&reader->unit->arena, tvms_node *, items.len);
  list->len = items.len;
  bool sound = true;
  for (uint32_t i = 0; i < items.len; i++) {
    tvms_eval_value item = items.items[i];
    if (item.kind == TVMS_EVAL_STR) {
      tvms_sym name = tvms_symbol_intern(reader->context, item.as.text, item.len);
      list->items[i] =
          tvms_var_new(reader->unit, name, named, tvms_reader_span_of(reader, ref));
    } else {
      list->items[i] = tvms_eval_to_expr(reader, item, ref);
    }
    sound =
        sound && list->items[i] && is_number(reader, list->items[i], "a stride", ref);
  }
  return sound;
}

// elem_offset, or byte_offset in elements.
static bool read_offset(tvms_reader *reader, const tvms_call_args *call,
                        tvms_dtype dtype, tvms_node **offset) {
  tvms_eval_value elements = tvms_args_get(reader, call, TVMS_SYM_elem_offset);
  tvms_eval_value bytes = tvms_args_get(reader, call, TVMS_SYM_byte_offset);
  tvms_ref ref = tvms_args_ref(reader, call, TVMS_SYM_elem_offset);
  if (bytes.kind != TVMS_EVAL_NONE && elements.kind != TVMS_EVAL_NONE) {
    tvms_reader_report(reader, two_offsets, call->ref);
    return false;
  }
  if (bytes.kind != TVMS_EVAL_NONE) {
    ref = tvms_args_ref(reader, call, TVMS_SYM_byte_offset);
    tvms_eval_value bits =
        tvms_eval_binary(reader, TVMS_OP_MUL, bytes, tvms_eval_value_int(8), ref);
    elements = tvms_eval_binary(reader, TVMS_OP_FLOOR_DIV, bits,
                                tvms_eval_value_int(dtype.bits), ref);
  }
  if (elements.kind == TVMS_EVAL_NONE) return true;
  *offset = tvms_eval_to_expr(reader, elements, ref);
  return *offset && is_number(reader, *offset, "an offset", ref);
}

static bool read_data(tvms_reader *reader, const tvms_call_args *call,
                      tvms_buffer_form *form) {
  tvms_eval_value data = tvms_args_get(reader, call, TVMS_SYM_data);
  if (data.kind == TVMS_EVAL_NONE) return true;
  tvms_ref ref = tvms_args_ref(reader, call, TVMS_SYM_data);
  form->data = tvms_eval_to_expr(reader, data, ref);
  if (!form->data) return false;
  bool typed = form->data->kind == TVMS_NODE_VAR && form->data->sinfo
               && form->data->sinfo->kind == TVMS_NODE_SINFO_POINTER;
  if (tvms_tir_is_pointer(form->data) && !typed
      && !tvms_release_has(reader->dialect, TVMS_FACT_expressions_have_types)) {
    tvms_reader_report(reader, untyped_pointer, ref, tvms_eval_describe(reader, data));
    return false;
  }
  bool text = form->data->kind == TVMS_NODE_STRING_IMM;
  if (tvms_tir_is_pointer(form->data) && !text) return true;
  tvms_eval_report_wrong_type(reader, ref, "the data of a buffer", "a pointer", data);
  return false;
}

static bool read_scope(tvms_reader *reader, const tvms_call_args *call,
                       tvms_sym *scope) {
  tvms_eval_value value = tvms_args_get(reader, call, TVMS_SYM_scope);
  tvms_ref ref = tvms_args_ref(reader, call, TVMS_SYM_scope);
  if (value.kind == TVMS_EVAL_NONE) return true;
  if (value.kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, ref, "a scope", "a string", value);
    return false;
  }
  bool global =
      value.len == 0 || (value.len == 6 && !memcmp(value.as.text, "global", 6));
  *scope = global ? 0 : tvms_symbol_intern(reader->context, value.as.text, value.len);
  return true;
}

static bool read_number(tvms_reader *reader, const tvms_call_args *call, tvms_sym name,
                        int64_t *number) {
  tvms_eval_value value = tvms_args_get(reader, call, name);
  if (value.kind == TVMS_EVAL_NONE) return true;
  return tvms_eval_to_int(reader, value, tvms_args_ref(reader, call, name), number);
}

static bool read_buffer_type(tvms_reader *reader, const tvms_call_args *call,
                             tvms_buffer_form *form) {
  tvms_eval_value type = tvms_args_get(reader, call, TVMS_SYM_buffer_type);
  if (type.kind == TVMS_EVAL_NONE || (type.kind == TVMS_EVAL_STR && type.len == 0)) {
    return true;
  }
  form->auto_broadcast = type.kind == TVMS_EVAL_STR && type.len == 4
                         && memcmp(type.as.text, "auto", 4) == 0;
  bool is_default = type.kind == TVMS_EVAL_STR && type.len == 7
                    && memcmp(type.as.text, "default", 7) == 0;
  if (form->auto_broadcast || is_default) return true;
  tvms_reader_report(reader, bad_buffer_type,
                     tvms_args_ref(reader, call, TVMS_SYM_buffer_type));
  return false;
}

static bool read_separators(tvms_reader *reader, const tvms_call_args *call,
                            tvms_buffer_form *form) {
  tvms_eval_value value = tvms_args_get(reader, call, TVMS_SYM_axis_separators);
  if (value.kind == TVMS_EVAL_NONE) return true;
  if (!tvms_eval_to_exprs(reader, value, call->ref, &form->axis_separators))
    return false;
  int64_t last = 0;
  for (uint32_t i = 0; i < form->axis_separators.len; i++) {
    const tvms_node *separator = form->axis_separators.items[i];
    bool fits = separator->kind == TVMS_NODE_INT_IMM;
    int64_t dim = fits ? tvms_as_int_imm(separator)->value : -1;
    if (fits && dim >= last && dim <= form->shape.len) {
      last = dim;
      continue;
    }
    tvms_reader_report(reader, bad_separators,
                       tvms_args_ref(reader, call, TVMS_SYM_axis_separators),
                       form->shape.len);
    return false;
  }
  return true;
}

static bool read_address(tvms_reader *reader, const tvms_call_args *call,
                         tvms_buffer_form *form) {
  tvms_eval_value value = tvms_args_get(reader, call, TVMS_SYM_allocated_addr);
  if (value.kind == TVMS_EVAL_NONE) return true;
  return tvms_eval_to_exprs(reader, value, call->ref, &form->allocated_addr);
}

// What is declared over a pointer may say T.float32 for its element, from 0.26 on.
static bool read_element(tvms_reader *reader, const tvms_call_args *call,
                         tvms_eval_value value, tvms_ref ref, tvms_dtype *dtype) {
  bool declared = call->row->name == TVMS_SYM_decl_buffer
                  || call->row->name == TVMS_SYM_decl_scalar;
  return declared
                 && tvms_release_has(reader->dialect, TVMS_FACT_declarations_take_types)
             ? tvms_eval_to_named_dtype(reader, value, ref, dtype)
             : tvms_eval_to_dtype(reader, value, ref, dtype);
}

// The parameter `layout`.
static bool read_layout(tvms_reader *reader, const tvms_call_args *call,
                        tvms_buffer_form *form) {
  tvms_eval_value layout = tvms_args_get(reader, call, TVMS_SYM_layout);
  tvms_ref ref = tvms_args_ref(reader, call, TVMS_SYM_layout);
  bool s_tir = tvms_release_has(reader->dialect, TVMS_FACT_prim_funcs_are_s_tir)
               || (tvms_tir_of(reader) && tvms_tir_of(reader)->s_tir);
  if (layout.kind == TVMS_EVAL_NONE) {
    if (!s_tir && tvms_args_given(reader, call, TVMS_SYM_layout)) {
      form->layout =
          tvms_object_none_new(reader->unit, tvms_reader_span_of(reader, ref));
    }
    return true;
  }
  if (layout.kind == TVMS_EVAL_STR) {
    const char *scope = tvms_symbol_text(reader->context, form->scope);
    bool trainium = strcmp(scope, "trn.sbuf") == 0 || strcmp(scope, "trn.psum") == 0;
    bool is_default = layout.len == 7 && memcmp(layout.as.text, "default", 7) == 0;
    if (trainium && !is_default) {
      form->layout = tvms_layout_trainium(reader->unit, layout.as.text, form->shape,
                                          strcmp(scope, "trn.psum") == 0);
      if (form->layout) return true;
      tvms_eval_report_wrong_type(reader, ref, "the layout of a buffer of Trainium",
                                  "a letter P or F for each dimension that fits",
                                  layout);
      return false;
    }
    if (trainium && !s_tir) {
      form->layout =
          tvms_object_none_new(reader->unit, tvms_reader_span_of(reader, ref));
    }
    return true;
  }
  if (tvms_eval_value_node_of(layout, TVMS_NODE_TILE_LAYOUT)
      || tvms_eval_value_node_of(layout, TVMS_NODE_COMPOSE_LAYOUT)) {
    form->layout = layout.as.node;
    return true;
  }
  tvms_eval_report_wrong_type(reader, ref, "a layout", "T.TileLayout(…) or None",
                              layout);
  return false;
}

bool tvms_tir_buffer_form_of(tvms_reader *reader, const tvms_call_args *call,
                             tvms_buffer_form *form) {
  tvms_eval_value shape = tvms_args_get(reader, call, TVMS_SYM_shape);
  tvms_eval_value dtype = tvms_args_get(reader, call, TVMS_SYM_dtype);
  tvms_ref shape_ref = tvms_args_ref(reader, call, TVMS_SYM_shape);
  tvms_ref dtype_ref = tvms_args_ref(reader, call, TVMS_SYM_dtype);
  bool sound = read_shape(reader, shape, shape_ref, &form->shape);
  sound = read_element(reader, call, dtype, dtype_ref, &form->dtype) && sound;
  if (sound && tvms_dtype_is_handle(form->dtype)
      && !tvms_release_has(reader->dialect, TVMS_FACT_buffers_hold_pointers)) {
    tvms_eval_report_wrong_type(reader, dtype_ref, "an element", "a number", dtype);
    sound = false;
  }
  if (!sound) {
    reader->failed = true;
    return false;
  }
  bool matches = call->row->name == TVMS_SYM_match_buffer;
  tvms_dtype named = matches ? index_dtype(form) : TVMS_DTYPE(INT, 32);
  sound = read_data(reader, call, form)
          && read_strides(reader, tvms_args_get(reader, call, TVMS_SYM_strides),
                          call->ref, named, &form->strides)
          && read_offset(reader, call, form->dtype, &form->elem_offset)
          && read_scope(reader, call, &form->scope)
          && read_number(reader, call, TVMS_SYM_align, &form->align)
          && read_number(reader, call, TVMS_SYM_offset_factor, &form->offset_factor)
          && read_buffer_type(reader, call, form) && read_separators(reader, call, form)
          && read_layout(reader, call, form) && read_address(reader, call, form);
  if (!sound) reader->failed = true;
  return sound;
}

// ---- Scalars --------------------------------------------------------------------------------

void tvms_tir_scalar_form(tvms_reader *reader, tvms_dtype dtype, tvms_sym scope,
                          tvms_buffer_form *form) {
  tvms_node *one = tvms_int_imm_new(reader->unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  form->shape = tvms_list_copy(reader->unit, &one, 1);
  form->dtype = dtype;
  form->scope = scope;
  form->align = -1;
  // In an s_tir function, which has no layouts, that of a scalar stands out.
  if (tvms_tir_of(reader) && tvms_tir_of(reader)->s_tir) {
    form->layout = tvms_layout_row_major(reader->unit, form->shape);
  }
}

bool tvms_tir_scalar_form_of(tvms_reader *reader, const tvms_call_args *call,
                             tvms_buffer_form *form) {
  tvms_dtype dtype;
  if (!read_element(reader, call, call->args[0], call->refs[0], &dtype)) return false;
  tvms_tir_scalar_form(reader, dtype, 0, form);
  return read_data(reader, call, form) && read_scope(reader, call, &form->scope)
         && read_offset(reader, call, dtype, &form->elem_offset);
}
