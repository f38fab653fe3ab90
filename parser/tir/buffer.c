// Declaring buffers: T.Buffer, T.match_buffer, T.alloc_buffer, T.decl_buffer, scalars.
//
// The arguments of all of these are read into one form (parser/tir/buffer_form.h); what
// differs is what happens to the buffer: a parameter gets it, a region is shown as it,
// the enclosing block or the function allocates it, or it is declared over a pointer.
#include "parser/tir/buffer.h"

#include "arith/analyzer.h"
#include "arith/layout.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "parser/eval/convert.h"
#include "parser/tir/access.h"
#include "parser/tir/buffer_form.h"
#include "parser/tir/call.h"
#include "parser/tir/convert.h"
#include "parser/tir/frame.h"
#include "parser/tir/handlers.h"

#include <string.h>

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
  tvms_eval_value result = made(reader, call, &buffer);
  if (tvms_eval_value_is_known(result)) buffer->spare |= TVMS_SPARE_DECLARED;
  return result;
}

static bool bind_to_param(tvms_reader *reader, const tvms_call_args *call,
                          const tvms_node *var, tvms_node *buffer) {
  if (!tvms_frame_top(reader, TVMS_FRAME_FUNC, "T.match_buffer of a parameter",
                      call->ref))
    return false;
  if (tvms_release_has(reader->dialect, TVMS_FACT_only_pointers_are_matched)
      && !tvms_tir_is_pointer(var)) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the argument of T.match_buffer",
                                "a pointer", call->args[0]);
    return false;
  }
  for (uint32_t i = 0; i < tvms_tir_of(reader)->params.len; i++) {
    if (tvms_tir_of(reader)->params.items[i] != var) continue;
    tvms_tir_of(reader)->buffers.items[i] = buffer;
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
  if (tvms_tir_pointer_scope(buffer->data) != tvms_tir_pointer_scope(source->data)) {
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
  if (!tvms_tir_of(reader)) {
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
    tvms_node *region = tvms_tir_to_region(
        reader, param, "the argument of T.match_buffer", call->refs[0]);
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
  if (tvms_tir_of(reader)) return true;
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
  bool anywhere =
      tvms_release_has(reader->dialect, TVMS_FACT_alloc_buffer_is_a_statement);
  if (!anywhere
      && !tvms_frame_top(reader, TVMS_FRAME_FUNC, "T.alloc_buffer", call->ref)) {
    return false;
  }
  tvms_vec_push(memory, &tvms_tir_of(reader)->root_allocs, buffer);
  return true;
}

tvms_eval_value tvms_call_sblock_alloc_buffer(tvms_reader *reader,
                                              const tvms_call_args *call) {
  tvms_node *buffer;
  if (!inside_function(reader, call)) return TVMS_UNKNOWN;
  if (!tvms_tir_of(reader)->s_tir) {
    tvms_diag *diag = tvms_reader_report(reader, needs_s_tir, call->ref,
                                         tvms_row_text(reader, call->row));
    tvms_diag_remark(&reader->context->diags, diag, "write @T.prim_func(s_tir=True)");
    tvms_tir_of(reader)->s_tir = true;  // is said once of a function
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
  if (tvms_release_has(reader->dialect, TVMS_FACT_alloc_buffer_is_a_statement))
    return allocate(reader, call, 0);
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
  if (tvms_release_has(reader->dialect, TVMS_FACT_buffers_are_variables))
    stmt->source = data;
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
      || (tvms_release_has(reader->dialect, TVMS_FACT_tile_programs_exist)
          && !check_tmem(reader, &form, call->ref))) {
    return tvms_reader_failed(reader);
  }
  tvms_node *buffer = tvms_tir_buffer_make(reader, &form, call->ref);
  tvms_eval_value result = tvms_eval_value_node(buffer);
  if (tvms_release_has(reader->dialect, TVMS_FACT_definitions_hold_bodies)) {
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
  value.flags = TVMS_TIR_VALUE_SCALAR;
  return value;
}

tvms_eval_value tvms_tir_scalar_new(tvms_reader *reader, tvms_dtype dtype,
                                    tvms_sym scope, tvms_ref ref) {
  tvms_buffer_form form = {0};
  tvms_tir_scalar_form(reader, dtype, scope, &form);
  tvms_node *buffer = tvms_tir_buffer_make(reader, &form, ref);
  tvms_tir_emit_alloc(reader, buffer, NULL, ref);
  return scalar_of(reader, buffer, ref);
}

tvms_eval_value tvms_call_alloc_scalar(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_buffer_form form = {0};
  if (!inside_function(reader, call) || !tvms_tir_scalar_form_of(reader, call, &form)) {
    return tvms_reader_failed(reader);
  }
  if (call->row->name == TVMS_SYM_local_scalar) form.scope = TVMS_SYM_local;
  if (call->row->name == TVMS_SYM_shared_scalar) form.scope = TVMS_SYM_shared;
  return tvms_tir_scalar_new(reader, form.dtype, form.scope, call->ref);
}

tvms_eval_value tvms_call_decl_scalar(tvms_reader *reader, const tvms_call_args *call) {
  tvms_buffer_form form = {0};
  if (!inside_function(reader, call) || !tvms_tir_scalar_form_of(reader, call, &form)) {
    return tvms_reader_failed(reader);
  }
  tvms_node *buffer = tvms_tir_buffer_make(reader, &form, call->ref);
  if (form.data)
    tvms_frame_emit(reader, decl_stmt(reader, buffer, form.data, call->ref));
  else
    tvms_tir_emit_alloc(reader, buffer, NULL, call->ref);
  return scalar_of(reader, buffer, call->ref);
}
