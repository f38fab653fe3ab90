// Declaring buffers: T.Buffer, T.match_buffer, T.alloc_buffer, T.decl_buffer, scalars.
#include "parser/tir/buffer.h"

#include "arith/analyzer.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "parser/calls.h"
#include "parser/eval/convert.h"
#include "parser/eval/internal.h"
#include "parser/eval/iterate.h"
#include "parser/eval/operator.h"
#include "parser/tile/layout.h"
#include "parser/tir/access.h"
#include "parser/tir/convert.h"
#include "parser/tir/frame.h"
#include "parser/tir/function.h"
#include "parser/tir/stmt.h"

#include <string.h>

enum { DEFAULT_ALIGN = 64 };

// ---- Making a buffer ------------------------------------------------------------------------

// Dtype of the indices; TVM is built with 64-bit ones where no dimension says otherwise.
static tvms_dtype index_dtype(const tvms_buffer_form *form) {
  return form->shape.len ? form->shape.items[0]->dtype : TVMS_DTYPE(INT, 64);
}

// What the pointer of a buffer points to; up to 0.23 booleans are stored as int8.
static tvms_dtype stored_dtype(const tvms_reader *reader, tvms_dtype dtype) {
  bool byte = tvms_dtype_is_bool(dtype) && reader->dialect <= TVMS_DIALECT_22;
  return byte ? (tvms_dtype){TVMS_INT, 8, dtype.lanes} : dtype;
}

static tvms_sym pointer_scope(const tvms_node *pointer) {
  bool typed = pointer->sinfo && pointer->sinfo->kind == TVMS_NODE_SINFO_POINTER;
  return typed ? tvms_as_sinfo_pointer(pointer->sinfo)->scope : 0;
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
  if (!buffer->data || reader->dialect >= TVMS_DIALECT_26) {
    tvms_sym scope = form->data ? pointer_scope(form->data) : form->scope;
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

// In a signature a string is a dimension, from 0.26 on.
static bool is_quoted_dim(const tvms_reader *reader, tvms_eval_value dim,
                          tvms_ref ref) {
  return dim.kind == TVMS_EVAL_STR && reader->tir && reader->tir->in_signature && ref
         && tvms_surface_is_string(reader->surface, ref)
         && reader->dialect >= TVMS_DIALECT_26;
}

// Since 0.26 no part of a buffer but its data is a pointer. Reports one.
static bool is_number(tvms_reader *reader, const tvms_node *part, const char *what,
                      tvms_ref ref) {
  if (!tvms_dtype_is_handle(part->dtype) || reader->dialect < TVMS_DIALECT_26)
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
  if (!node || (real && reader->dialect >= TVMS_DIALECT_25)) {
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

static bool is_pointer(const tvms_node *node) {
  return (node->sinfo && node->sinfo->kind == TVMS_NODE_SINFO_POINTER)
         || tvms_dtype_is_handle(node->dtype);
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
  if (is_pointer(form->data) && !typed && reader->dialect <= TVMS_DIALECT_25) {
    tvms_reader_report(reader, untyped_pointer, ref, tvms_eval_describe(reader, data));
    return false;
  }
  bool text = form->data->kind == TVMS_NODE_STRING_IMM;
  if (is_pointer(form->data) && !text) return true;
  tvms_eval_report_wrong_type(reader, ref, "the data of a buffer", "a pointer", data);
  return false;
}

static bool read_scope(tvms_reader *reader, const tvms_call_args *call,
                       tvms_sym *scope) {
  tvms_eval_value value = tvms_args_get(reader, call, TVMS_SYM_scope);
  tvms_ref ref = tvms_args_ref(reader, call, TVMS_SYM_scope);
  if (value.kind == TVMS_EVAL_NONE) return true;
  if (value.kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, ref, "a scope", "a str", value);
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
  return declared && reader->dialect >= TVMS_DIALECT_26
             ? tvms_eval_to_named_dtype(reader, value, ref, dtype)
             : tvms_eval_to_dtype(reader, value, ref, dtype);
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
      && reader->dialect >= TVMS_DIALECT_26) {
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
          && tvms_tile_layout_argument(reader, call, form)
          && read_address(reader, call, form);
  if (!sound) reader->failed = true;
  return sound;
}

// ---- T.Buffer, T.match_buffer ---------------------------------------------------------------

static tvms_eval_value made(tvms_reader *reader, const tvms_call_args *call,
                            tvms_node **buffer) {
  tvms_buffer_form form = {0};
  if (!tvms_tir_buffer_form_of(reader, call, &form)) return TVMS_UNKNOWN;
  *buffer = tvms_tir_buffer_make(reader, &form, call->ref);
  return tvms_eval_value_node(*buffer);
}

// `T.Buffer(pointer, shape, dtype)`: a declaration, in another order.
static bool is_declaration(tvms_reader *reader, const tvms_call_args *call) {
  const tvms_node *var = tvms_eval_value_node_of(call->args[0], TVMS_NODE_VAR);
  if (!var || var->dtype.code != TVMS_HANDLE
      || !tvms_eval_value_is_sequence(call->args[1])) {
    return false;
  }
  tvms_ref ref = call->ref;
  tvms_diag *diag = tvms_reader_report(reader, buffer_of_pointer, ref);
  const char *text = reader->surface->source->text;
  tvms_span shape = tvms_reader_span_of(reader, call->refs[1]);
  tvms_span data = tvms_reader_span_of(reader, call->refs[0]);
  tvms_span dtype = tvms_reader_span_of(reader, call->refs[2]);
  bool typed = call->args[2].kind == TVMS_EVAL_STR;
  tvms_diag_fix(&reader->context->diags, diag, tvms_reader_span_of(reader, ref), false,
                "T.decl_buffer(%.*s, %.*s, data=%.*s)", (int)(shape.end - shape.begin),
                text + shape.begin, typed ? (int)(dtype.end - dtype.begin) : 9,
                typed ? text + dtype.begin : "\"float32\"",
                (int)(data.end - data.begin), text + data.begin);
  reader->failed = true;
  return true;
}

tvms_eval_value tvms_call_Buffer(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *buffer;
  if (is_declaration(reader, call)) return TVMS_UNKNOWN;
  return made(reader, call, &buffer);
}

static bool bind_to_param(tvms_reader *reader, const tvms_call_args *call,
                          const tvms_node *var, tvms_node *buffer) {
  if (!tvms_frame_top(reader, TVMS_FRAME_FUNC, "T.match_buffer of a parameter",
                      call->ref))
    return false;
  if (reader->dialect >= TVMS_DIALECT_26 && !is_pointer(var)) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "what T.match_buffer matches",
                                "a pointer", call->args[0]);
    return false;
  }
  for (uint32_t i = 0; i < reader->tir->params.len; i++) {
    if (reader->tir->params.items[i] != var) continue;
    reader->tir->buffers.items[i] = buffer;
    return true;
  }
  tvms_reader_report(reader, not_a_parameter, call->refs[0],
                     tvms_symbol_text(reader->context, tvms_as_var(var)->name));
  return false;
}

static tvms_node *one_like(tvms_reader *reader, const tvms_node *node) {
  return tvms_int_imm_new(reader->unit, tvms_dtype_with_lanes(node->dtype, 1), 1,
                          TVMS_NO_SPAN);
}

// Why a buffer cannot show a region, or NULL.
static const char *mismatch_of(tvms_reader *reader, const tvms_node *region,
                               const tvms_buffer *buffer) {
  const tvms_buffer *source = tvms_as_buffer(tvms_as_buffer_region(region)->buffer);
  tvms_list ranges = tvms_as_buffer_region(region)->region;
  if (pointer_scope(buffer->data) != pointer_scope(source->data)) {
    return "they lie in different scopes";
  }
  if (!tvms_dtype_same(buffer->element, source->element)) return "the dtypes differ";
  if (source->align % buffer->align != 0) return "its alignment is stricter";
  if (buffer->buffer_type || source->buffer_type) return "it broadcasts";
  if (ranges.len < buffer->shape.len) return "it has more dimensions";
  uint32_t first = ranges.len - buffer->shape.len;
  for (uint32_t i = 0; i < ranges.len; i++) {
    tvms_node *extent = tvms_as_range(ranges.items[i])->extent;
    tvms_node *dim =
        i < first ? one_like(reader, extent) : buffer->shape.items[i - first];
    if (i >= first && dim->kind == TVMS_NODE_VAR) continue;
    if (!tvms_arith_prove_equal(reader->unit, extent, dim)) return "the shapes differ";
  }
  return NULL;
}

static bool match_region(tvms_reader *reader, const tvms_call_args *call,
                         tvms_node *region, tvms_node *buffer) {
  tvms_frame *frame =
      tvms_frame_top(reader, TVMS_FRAME_BLOCK, "T.match_buffer", call->ref);
  if (!frame) return false;
  const char *mismatch = mismatch_of(reader, region, tvms_as_buffer(buffer));
  if (mismatch) {
    const tvms_node *source = tvms_as_buffer_region(region)->buffer;
    tvms_reader_report(
        reader, bad_match, call->ref,
        tvms_symbol_text(reader->context,
                         tvms_as_buffer((tvms_node *)(uintptr_t)source)->name),
        mismatch);
    return false;
  }
  tvms_match_buffer_region *match = tvms_node_make(
      reader->unit, MATCH_BUFFER_REGION, tvms_reader_span_of(reader, call->ref));
  match->source = region;
  match->buffer = buffer;
  tvms_vec_push(&reader->context->memory, &frame->as.block.match_buffers, &match->head);
  return true;
}

// Without a shape, the buffer is what the region shows.
static tvms_eval_value *shape_of_region(tvms_reader *reader, const tvms_node *region,
                                        uint32_t *len) {
  tvms_list ranges = tvms_as_buffer_region(region)->region;
  tvms_eval_value *shape =
      tvms_arena_array(&reader->values, tvms_eval_value, ranges.len);
  for (uint32_t i = 0; i < ranges.len; i++) {
    shape[i] = tvms_eval_value_node(tvms_as_range(ranges.items[i])->extent);
  }
  *len = ranges.len;
  return shape;
}

tvms_eval_value tvms_call_match_buffer(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_eval_value param = call->args[0];
  tvms_eval_value args[TVMS_MAX_PARAMS];
  tvms_call_args bound = *call;
  if (!reader->tir) {
    tvms_reader_report(reader, outside_function, call->ref, "T.match_buffer");
    return TVMS_UNKNOWN;
  }
  if (!tvms_eval_value_is_known(param)) {
    reader->failed = true;
    return param;
  }
  const tvms_signature *signature = tvms_row_signature(reader, call->row);
  memcpy(args, call->args, signature->count * sizeof *args);
  bound.args = args;
  if (args[1].kind == TVMS_EVAL_NONE) {
    const tvms_node *region = tvms_eval_value_node_of(param, TVMS_NODE_BUFFER_REGION);
    if (!region) {
      tvms_reader_report(reader, match_without_shape, call->ref);
      return tvms_reader_failed(reader);
    }
    uint32_t len;
    tvms_eval_value *shape = shape_of_region(reader, region, &len);
    args[1] = tvms_eval_value_items(TVMS_EVAL_LIST, shape, len);
    args[2] = tvms_eval_value_dtype(
        tvms_as_buffer(tvms_as_buffer_region(region)->buffer)->element);
  }
  tvms_node *buffer;
  tvms_eval_value result = made(reader, &bound, &buffer);
  if (!tvms_eval_value_is_known(result)) return result;
  tvms_node *var = tvms_eval_value_node_of(param, TVMS_NODE_VAR);
  bool sound;
  if (var) {
    sound = bind_to_param(reader, call, var, buffer);
  } else {
    tvms_node *region =
        tvms_tir_to_region(reader, param, "what T.match_buffer matches", call->refs[0]);
    sound = region && match_region(reader, call, region, buffer);
  }
  if (!sound) reader->failed = true;
  return result;
}

// ---- Allocation -----------------------------------------------------------------------------

// Annotations of an allocation hold values of TIR: 1 is an int32.
static tvms_node *typed_annotations(tvms_reader *reader, tvms_eval_value value,
                                    tvms_ref ref, bool *sound) {
  *sound = true;
  if (value.kind == TVMS_EVAL_NONE) return NULL;
  if (value.kind == TVMS_EVAL_DICT) {
    tvms_eval_value *items = tvms_eval_keep_items(reader, value.as.items, value.len);
    for (uint32_t i = 1; i < value.len; i += 2) {
      bool scalar = items[i].kind == TVMS_EVAL_BOOL || items[i].kind == TVMS_EVAL_INT
                    || items[i].kind == TVMS_EVAL_FLOAT;
      if (scalar)
        items[i] = tvms_eval_value_node(tvms_eval_to_expr(reader, items[i], ref));
    }
    value = tvms_eval_value_items(TVMS_EVAL_DICT, items, value.len);
  }
  tvms_node *map;
  *sound = tvms_eval_to_map(reader, value, ref, &map);
  return map;
}

void tvms_tir_emit_alloc(tvms_reader *reader, tvms_node *buffer, tvms_node *annotations,
                         tvms_ref ref) {
  tvms_alloc_buffer *stmt =
      tvms_node_make(reader->unit, ALLOC_BUFFER, tvms_reader_span_of(reader, ref));
  stmt->buffer = buffer;
  stmt->annotations = annotations;
  tvms_frame_emit(reader, &stmt->head);
}

static bool inside_function(tvms_reader *reader, const tvms_call_args *call) {
  if (reader->tir) return true;
  tvms_reader_report(reader, outside_function, call->ref,
                     tvms_row_text(reader, call->row));
  reader->failed = true;
  return false;
}

// A buffer of the enclosing block, or of the function when there is none.
static bool alloc_in_block(tvms_reader *reader, const tvms_call_args *call,
                           tvms_node *buffer) {
  tvms_memory *memory = &reader->context->memory;
  tvms_frame *block = tvms_frame_find(reader, TVMS_FRAME_BLOCK);
  if (block) {
    tvms_vec_push(memory, &block->as.block.alloc_buffers, buffer);
    return true;
  }
  bool anywhere = reader->dialect >= TVMS_DIALECT_24;
  if (!anywhere
      && !tvms_frame_top(reader, TVMS_FRAME_FUNC, "T.alloc_buffer", call->ref)) {
    return false;
  }
  tvms_vec_push(memory, &reader->tir->root_allocs, buffer);
  return true;
}

tvms_eval_value tvms_call_sblock_alloc_buffer(tvms_reader *reader,
                                              const tvms_call_args *call) {
  tvms_node *buffer;
  if (!inside_function(reader, call)) return TVMS_UNKNOWN;
  if (!reader->tir->s_tir) {
    tvms_reader_report(reader, needs_s_tir, call->ref,
                       tvms_row_text(reader, call->row));
    return tvms_reader_failed(reader);
  }
  tvms_eval_value result = made(reader, call, &buffer);
  if (!tvms_eval_value_is_known(result)) return result;
  return alloc_in_block(reader, call, buffer) ? result : TVMS_UNKNOWN;
}

static tvms_eval_value allocate(tvms_reader *reader, const tvms_call_args *call,
                                tvms_sym scope) {
  tvms_buffer_form form = {0};
  bool sound;
  if (!inside_function(reader, call)) return TVMS_UNKNOWN;
  tvms_node *annotations = typed_annotations(
      reader, tvms_args_get(reader, call, TVMS_SYM_annotations), call->ref, &sound);
  if (!sound || !tvms_tir_buffer_form_of(reader, call, &form)) return TVMS_UNKNOWN;
  if (scope) form.scope = scope;
  tvms_node *buffer = tvms_tir_buffer_make(reader, &form, call->ref);
  tvms_tir_emit_alloc(reader, buffer, annotations, call->ref);
  return tvms_eval_value_node(buffer);
}

tvms_eval_value tvms_call_alloc_buffer(tvms_reader *reader,
                                       const tvms_call_args *call) {
  if (reader->dialect >= TVMS_DIALECT_24) return allocate(reader, call, 0);
  tvms_node *buffer;
  if (!inside_function(reader, call)) return TVMS_UNKNOWN;
  tvms_eval_value result = made(reader, call, &buffer);
  if (!tvms_eval_value_is_known(result)) return result;
  return alloc_in_block(reader, call, buffer) ? result : TVMS_UNKNOWN;
}

// T.alloc_shared, T.alloc_local and so on: the default of `scope` says which.
tvms_eval_value tvms_call_alloc_scoped(tvms_reader *reader,
                                       const tvms_call_args *call) {
  return allocate(reader, call, 0);
}

// ---- Declaration ----------------------------------------------------------------------------

static tvms_node *decl_stmt(tvms_reader *reader, tvms_node *buffer,
                            tvms_node *TVMS_NULLABLE data, tvms_ref ref) {
  tvms_decl_buffer *stmt =
      tvms_node_make(reader->unit, DECL_BUFFER, tvms_reader_span_of(reader, ref));
  stmt->buffer = buffer;
  if (reader->dialect >= TVMS_DIALECT_26) stmt->source = data;
  return &stmt->head;
}

void tvms_tir_emit_decl(tvms_reader *reader, tvms_node *buffer, tvms_node *data,
                        tvms_ref ref) {
  tvms_frame_emit(reader, decl_stmt(reader, buffer, data, ref));
}

// Up to 0.23 a declaration without data allocates: two statements that hold for the rest.
static tvms_eval_value allocate_and_declare(tvms_reader *reader, tvms_node *buffer,
                                            tvms_ref ref) {
  tvms_span span = tvms_reader_span_of(reader, ref);
  const tvms_buffer *fields = tvms_as_buffer(buffer);
  tvms_allocate *stmt = tvms_node_make(reader->unit, ALLOCATE, span);
  stmt->extents = fields->shape;
  stmt->condition = tvms_bool_imm_new(reader->unit, true, span);
  stmt->var = fields->data;
  stmt->element = fields->element;
  tvms_frame *frame = tvms_frame_new(reader, TVMS_FRAME_BINDERS, ref);
  frame->as.binder.stmt = &stmt->head;
  frame->as.binder.more = tvms_arena_array(&reader->values, tvms_node *, 1);
  frame->as.binder.more[0] = decl_stmt(reader, buffer, NULL, ref);
  frame->as.binder.count = 1;
  frame->as.binder.scoped = true;
  frame->result = tvms_eval_value_node(buffer);
  return tvms_frame_value(frame);
}

// Tensor memory is addressed by number, which is its data.
static bool check_tmem(tvms_reader *reader, const tvms_buffer_form *form,
                       tvms_ref ref) {
  if (form->scope == TVMS_SYM_tmem) {
    if (!form->data && form->allocated_addr.len) return true;
    tvms_reader_report(reader, tmem_address, ref);
    return false;
  }
  bool plain =
      form->scope == 0 || form->scope == TVMS_SYM_shared
      || form->scope == TVMS_SYM_local
      || strcmp(tvms_symbol_text(reader->context, form->scope), "shared.dyn") == 0;
  if (!plain || !form->allocated_addr.len) return true;
  tvms_reader_report(reader, no_address_in_scope, ref);
  return false;
}

tvms_eval_value tvms_call_decl_buffer(tvms_reader *reader, const tvms_call_args *call) {
  tvms_buffer_form form = {0};
  if (!inside_function(reader, call)) return TVMS_UNKNOWN;
  if (!tvms_tir_buffer_form_of(reader, call, &form)
      || (reader->dialect >= TVMS_DIALECT_25
          && !check_tmem(reader, &form, call->ref))) {
    return tvms_reader_failed(reader);
  }
  tvms_node *buffer = tvms_tir_buffer_make(reader, &form, call->ref);
  tvms_eval_value result = tvms_eval_value_node(buffer);
  if (reader->dialect <= TVMS_DIALECT_22) {
    if (!form.data) return allocate_and_declare(reader, buffer, call->ref);
    tvms_node *stmt = decl_stmt(reader, buffer, form.data, call->ref);
    return tvms_frame_binder(reader, stmt, result, call->ref);
  }
  if (form.data || form.scope == TVMS_SYM_tmem)
    tvms_frame_emit(reader, decl_stmt(reader, buffer, form.data, call->ref));
  else
    tvms_tir_emit_alloc(reader, buffer, NULL, call->ref);
  return result;
}

// ---- Scalars --------------------------------------------------------------------------------

static tvms_eval_value scalar_of(tvms_reader *reader, tvms_node *buffer, tvms_ref ref) {
  tvms_node *zero =
      tvms_int_imm_new(reader->unit, TVMS_DTYPE(INT, 32), 0, TVMS_NO_SPAN);
  tvms_eval_value value = tvms_eval_value_node(tvms_buffer_load_new(
      reader->unit, buffer, &zero, 1, NULL, tvms_reader_span_of(reader, ref)));
  value.flags = TVMS_EVAL_SCALAR;
  return value;
}

static void scalar_form(tvms_reader *reader, tvms_dtype dtype, tvms_sym scope,
                        tvms_buffer_form *form) {
  tvms_node *one = tvms_int_imm_new(reader->unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  form->shape = tvms_list_copy(reader->unit, &one, 1);
  form->dtype = dtype;
  form->scope = scope;
  form->align = -1;
  // In an s_tir function, which has no layouts, that of a scalar stands out.
  if (reader->tir && reader->tir->s_tir) {
    form->layout = tvms_tile_row_major(reader, form->shape);
  }
}

tvms_eval_value tvms_tir_scalar_new(tvms_reader *reader, tvms_dtype dtype,
                                    tvms_sym scope, tvms_ref ref) {
  tvms_buffer_form form = {0};
  scalar_form(reader, dtype, scope, &form);
  tvms_node *buffer = tvms_tir_buffer_make(reader, &form, ref);
  tvms_tir_emit_alloc(reader, buffer, NULL, ref);
  return scalar_of(reader, buffer, ref);
}

tvms_eval_value tvms_call_alloc_scalar(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_dtype dtype;
  tvms_sym scope = 0;
  if (!inside_function(reader, call)
      || !tvms_eval_to_dtype(reader, call->args[0], call->refs[0], &dtype)
      || !read_scope(reader, call, &scope)) {
    return tvms_reader_failed(reader);
  }
  if (call->row->name == TVMS_SYM_local_scalar) scope = TVMS_SYM_local;
  if (call->row->name == TVMS_SYM_shared_scalar) scope = TVMS_SYM_shared;
  return tvms_tir_scalar_new(reader, dtype, scope, call->ref);
}

tvms_eval_value tvms_call_decl_scalar(tvms_reader *reader, const tvms_call_args *call) {
  tvms_buffer_form form = {0};
  tvms_dtype dtype;
  if (!inside_function(reader, call)
      || !read_element(reader, call, call->args[0], call->refs[0], &dtype)) {
    return tvms_reader_failed(reader);
  }
  scalar_form(reader, dtype, 0, &form);
  if (!read_data(reader, call, &form) || !read_scope(reader, call, &form.scope)
      || !read_offset(reader, call, dtype, &form.elem_offset)) {
    return tvms_reader_failed(reader);
  }
  tvms_node *buffer = tvms_tir_buffer_make(reader, &form, call->ref);
  if (form.data)
    tvms_frame_emit(reader, decl_stmt(reader, buffer, form.data, call->ref));
  else
    tvms_tir_emit_alloc(reader, buffer, NULL, call->ref);
  return scalar_of(reader, buffer, call->ref);
}
