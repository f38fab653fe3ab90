// Using buffers: indices, regions, loads, stores.
//
// What an index makes of a buffer: scalars an element, slices a region, and in an
// operand or a store the ramp of a vector. Every access is checked against the rank here
// and nowhere else; only the last index may be a vector. The value of a store takes the
// dtype of its place, which TVM does where it makes the statement
// (python/tvm/tirx/script/builder/ir.py, buffer_store).
#include "parser/tir/access.h"

#include "ir/fold.h"
#include "ir/fold_ops.h"
#include "parser/eval/convert.h"
#include "parser/eval/iterate.h"
#include "parser/eval/operator.h"
#include "parser/eval/origin.h"
#include "parser/eval/reader.h"
#include "parser/eval/signature.h"
#include "parser/eval/subscript.h"
#include "parser/tir/convert.h"
#include "parser/tir/frame.h"
#include "parser/tir/indices.h"
#include "parser/tir/loop.h"
#include "parser/tir/names.h"
#include "parser/tir/region.h"

#include <stdio.h>
#include <string.h>

// ---- Loads and regions ----------------------------------------------------------------------

// `A[i][j]`: the indices belong into one bracket.
static void explain_chain(tvms_reader *reader, tvms_diag *diag) {
  const char *text = reader->surface->source->text;
  tvms_span span = diag->span;
  bool chain =
      span.end > span.begin && text[span.end - 1] == ']' && text[span.end] == '[';
  if (!chain) return;
  int len = (int)strcspn(text + span.end + 1, "]\r\n");
  tvms_diag_remark(&reader->context->diags, diag, "write %.*s, %.*s]",
                   (int)(span.end - 1 - span.begin), text + span.begin, len,
                   text + span.end + 1);
}

// Whether the same was said of this buffer: where it is always indexed so, its declaration is as
// likely wrong.
static bool is_rank_said(const tvms_reader *reader, const tvms_node *buffer,
                         uint32_t count) {
  char text[160];
  const tvms_diags *diags = &reader->context->diags;
  const tvms_buffer *fields = tvms_as_buffer(buffer);
  int len = snprintf(text, sizeof text, tvms_diag_row_of(TVMS_D_wrong_rank)->format,
                     tvms_symbol_text(reader->context, fields->name), fields->shape.len,
                     count);
  if (len < 0 || (size_t)len >= sizeof text) return false;
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    bool same = diag->id == TVMS_D_wrong_rank && diag->source == diags->source
                && diag->span.begin >= buffer->span.begin && buffer->span.end;
    if (same && strcmp(diag->text, text) == 0) return true;
  }
  return false;
}

static bool check_rank(tvms_reader *reader, const tvms_node *buffer, uint32_t count,
                       tvms_ref ref) {
  const tvms_buffer *fields = tvms_as_buffer(buffer);
  if (fields->shape.len == count) return true;
  reader->failed = true;
  if (is_rank_said(reader, buffer, count)
      || tvms_reader_was_misread(reader, tvms_reader_span_of(reader, ref)))
    return false;
  tvms_diag *diag = tvms_reader_report(
      reader, wrong_rank, tvms_tir_indexed_at(reader, ref),
      tvms_symbol_text(reader->context, fields->name), fields->shape.len, count);
  if (buffer->span.end) {
    tvms_diag_note(&reader->context->diags, diag, buffer->span, "declared here");
  }
  explain_chain(reader, diag);
  return false;
}

// Only the last index may be a vector; classic releases look at stores alone.
static bool check_indices(tvms_reader *reader, tvms_node *const *indices,
                          uint32_t count, bool store, tvms_ref ref) {
  bool strict =
      store || tvms_release_has(reader->dialect, TVMS_FACT_only_last_index_is_vector);
  for (uint32_t i = 0; i < count; i++) {
    tvms_dtype dtype = indices[i]->dtype;
    bool pointer =
        tvms_dtype_is_handle(dtype)
        && !tvms_release_has(reader->dialect, TVMS_FACT_pointers_are_numbers);
    bool value = !tvms_dtype_is_void(dtype) && !pointer;
    bool vector = dtype.lanes != 1 && i + 1 < count && strict;
    if (value && !vector) continue;
    char buffer[TVMS_DTYPE_TEXT];
    tvms_diag *diag =
        tvms_reader_report(reader, bad_index, tvms_tir_index_at(reader, ref, i),
                           tvms_dtype_text(dtype, buffer));
    if (indices[i]->kind == TVMS_NODE_STRING_IMM)
      tvms_diag_remark(&reader->context->diags, diag, "an index is an integer");
    reader->failed = true;
    return false;
  }
  return true;
}

static bool is_scalable(tvms_dtype dtype) {
  return dtype.lanes < 0;
}

// A mask has a truth value for each lane of the access, whose dtype is `access`.
static bool check_mask(tvms_reader *reader, const tvms_node *mask, tvms_dtype access,
                       tvms_ref ref) {
  if (!mask) return true;
  tvms_dtype dtype = mask->dtype;
  char a[TVMS_DTYPE_TEXT], b[TVMS_DTYPE_TEXT];
  if (dtype.lanes != access.lanes) {
    tvms_reader_report(reader, mask_lanes, ref, tvms_dtype_text(dtype, a),
                       tvms_dtype_text(access, b));
    reader->failed = true;
    return false;
  }
  if (dtype.code == TVMS_BOOL || (dtype.code == TVMS_UINT && dtype.bits == 1)) {
    return true;
  }
  tvms_reader_report(reader, wants_bool, ref, "predicate", tvms_dtype_text(dtype, a));
  reader->failed = true;
  return false;
}

tvms_node *tvms_tir_load(tvms_reader *reader, tvms_node *buffer,
                         tvms_node *const *indices, uint32_t count,
                         tvms_node *predicate, tvms_ref ref) {
  if (!check_rank(reader, buffer, count, ref)
      || !check_indices(reader, indices, count, false, ref)
      || !check_mask(reader, predicate,
                     tvms_buffer_access_dtype(buffer, indices, count), ref)) {
    return NULL;
  }
  return tvms_buffer_load_new(reader->unit, buffer, indices, count, predicate,
                              tvms_reader_span_of(reader, ref));
}

tvms_node *tvms_tir_one_like(tvms_reader *reader, const tvms_node *node) {
  return tvms_int_imm_new(reader->unit, tvms_dtype_with_lanes(node->dtype, 1), 1,
                          TVMS_NO_SPAN);
}

static tvms_node *range_of_index(tvms_reader *reader, tvms_node *index) {
  return tvms_range_new(reader->unit, index, tvms_tir_one_like(reader, index),
                        index->span);
}

// Where a dimension begins that subscripts leave open: at a plain 0, from 0.27 on at a 0
// of the type of its extent.
static tvms_node *open_start(tvms_reader *reader, const tvms_node *extent) {
  bool typed = tvms_release_has(reader->dialect, TVMS_FACT_open_slices_are_typed);
  tvms_dtype dtype = typed ? extent->dtype : TVMS_DTYPE(INT, 32);
  return tvms_int_imm_new(reader->unit, dtype, 0, TVMS_NO_SPAN);
}

// Lower and upper bound of a slice in dimension `dim`.
static bool slice_bounds(tvms_reader *reader, const tvms_buffer *buffer, uint32_t dim,
                         tvms_eval_value slice, tvms_ref ref, tvms_eval_value *start,
                         tvms_eval_value *stop) {
  *start = slice.as.items[0];
  *stop = slice.as.items[1];
  bool open = start->kind == TVMS_EVAL_NONE || stop->kind == TVMS_EVAL_NONE;
  if (open && dim >= buffer->shape.len)
    return check_rank(reader, &buffer->head, dim + 1, ref);
  if (start->kind == TVMS_EVAL_NONE)
    *start = tvms_eval_value_node(open_start(reader, buffer->shape.items[dim]));
  if (stop->kind == TVMS_EVAL_NONE) {
    *stop = tvms_eval_value_node(buffer->shape.items[dim]);
  }
  return true;
}

static tvms_node *range_of_slice(tvms_reader *reader, const tvms_buffer *buffer,
                                 uint32_t dim, tvms_eval_value slice, tvms_ref ref) {
  tvms_eval_value start, stop;
  if (!slice_bounds(reader, buffer, dim, slice, ref, &start, &stop)) return NULL;
  tvms_eval_value extent = tvms_eval_binary(reader, TVMS_OP_SUB, stop, start, ref);
  tvms_node *min = tvms_eval_to_expr(reader, start, ref);
  tvms_node *size = min ? tvms_eval_to_expr(reader, extent, ref) : NULL;
  if (!size) return NULL;
  return tvms_range_new(reader->unit, min, tvms_tir_simplified(reader, size),
                        tvms_reader_span_of(reader, ref));
}

// A slice as an index: a ramp, or a scalar for one lane. TVM takes a multiple of
// T.vscale() lanes in stores only, although it prints loads so, too.
static tvms_node *ramp_of_slice(tvms_reader *reader, const tvms_buffer *buffer,
                                uint32_t dim, tvms_eval_value slice, tvms_ref ref) {
  tvms_eval_value start, stop, step = slice.as.items[2];
  if (!slice_bounds(reader, buffer, dim, slice, ref, &start, &stop)) return NULL;
  if (step.kind == TVMS_EVAL_NONE) step = tvms_eval_value_int(1);
  tvms_eval_value base = start;
  if (start.kind == TVMS_EVAL_NODE && step.kind == TVMS_EVAL_INT) {
    step = tvms_eval_value_node(tvms_build_int(reader->unit, start.as.node->dtype,
                                               step.as.i,
                                               tvms_reader_span_of(reader, ref)));
  }
  tvms_eval_value size = tvms_eval_binary(reader, TVMS_OP_SUB, stop, start, ref);
  size = tvms_eval_binary(reader, TVMS_OP_ADD, size, step, ref);
  size = tvms_eval_binary(reader, TVMS_OP_SUB, size, tvms_eval_value_int(1), ref);
  size = tvms_eval_binary(reader, TVMS_OP_FLOOR_DIV, size, step, ref);
  tvms_node *lanes = tvms_eval_to_expr(reader, size, ref);
  tvms_node *min = lanes ? tvms_eval_to_expr(reader, base, ref) : NULL;
  if (!min) return NULL;
  lanes = tvms_tir_simplified(reader, lanes);
  if (tvms_node_is_int(lanes, 1)) return min;
  tvms_node *stride = tvms_eval_to_expr(reader, step, ref);
  if (!stride) return NULL;
  return tvms_build_ramp(reader->unit, min, stride, lanes,
                         tvms_reader_span_of(reader, ref));
}

static bool is_slice(tvms_eval_value value) {
  return value.kind == TVMS_EVAL_SLICE;
}

// Whether any index is a slice with a step that counts.
static bool has_step(const tvms_reader *reader, tvms_eval_items items) {
  for (uint32_t i = 0; i < items.len; i++) {
    if (!is_slice(items.items[i])) continue;
    tvms_eval_value step = items.items[i].as.items[2];
    bool one = step.kind == TVMS_EVAL_INT && step.as.i == 1;
    if (step.kind == TVMS_EVAL_NONE) continue;
    if (tvms_release_has(reader->dialect, TVMS_FACT_unit_steps_make_vectors) || !one)
      return true;
  }
  return false;
}

// An element of a region begins a range of one: never at a pointer, and since 0.26 at an
// integer only, a number aside.
static bool check_element(tvms_reader *reader, const tvms_node *index, tvms_ref ref) {
  tvms_dtype dtype = index->dtype;
  bool number = index->kind == TVMS_NODE_FLOAT_IMM
                && tvms_release_has(reader->dialect, TVMS_FACT_regions_begin_at_floats);
  bool integer = (tvms_dtype_is_int(dtype) || tvms_dtype_is_uint(dtype)
                  || tvms_dtype_is_bool(dtype))
                 && dtype.lanes == 1;
  bool sound = tvms_release_has(reader->dialect, TVMS_FACT_regions_begin_anywhere)
                   ? !tvms_dtype_is_handle(dtype)
                   : integer || number;
  if (sound) return true;
  char buffer[TVMS_DTYPE_TEXT];
  tvms_reader_report(reader, bad_index, ref, tvms_dtype_text(dtype, buffer));
  reader->failed = true;
  return false;
}

static tvms_eval_value make_region(tvms_reader *reader, tvms_node *buffer,
                                   tvms_eval_items items, tvms_ref ref) {
  const tvms_buffer *fields = tvms_as_buffer(buffer);
  bool complete = tvms_release_has(reader->dialect, TVMS_FACT_regions_may_be_partial);
  if (!complete && items.len && !check_rank(reader, buffer, items.len, ref)) {
    return TVMS_UNKNOWN;
  }
  uint32_t rank = items.len > fields->shape.len ? items.len : fields->shape.len;
  if (items.len > fields->shape.len && !check_rank(reader, buffer, items.len, ref)) {
    return TVMS_UNKNOWN;
  }
  tvms_node **ranges = tvms_arena_array(&reader->unit->arena, tvms_node *, rank);
  bool sound = true;
  for (uint32_t i = 0; i < rank; i++) {
    if (i >= items.len) {
      tvms_node *zero = items.len ? open_start(reader, fields->shape.items[i])
                                  : tvms_int_imm_new(reader->unit, TVMS_DTYPE(INT, 32),
                                                     0, TVMS_NO_SPAN);
      ranges[i] =
          tvms_range_new(reader->unit, zero, fields->shape.items[i], TVMS_NO_SPAN);
    } else if (is_slice(items.items[i])) {
      ranges[i] = range_of_slice(reader, fields, i, items.items[i], ref);
    } else {
      tvms_node *index = tvms_eval_to_expr(reader, items.items[i], ref);
      bool one = index && check_element(reader, index, ref);
      ranges[i] = one ? range_of_index(reader, index) : NULL;
    }
    sound = sound && ranges[i];
  }
  if (!sound) {
    return tvms_reader_failed(reader);
  }
  return tvms_eval_value_node(tvms_buffer_region_new(reader->unit, buffer, ranges, rank,
                                                     tvms_reader_span_of(reader, ref)));
}

enum { USUAL_RANK = 8 };

// Indices as nodes, slices as ramps. False after a report.
static bool to_indices(tvms_reader *reader, const tvms_buffer *buffer,
                       tvms_eval_items items, tvms_ref ref, tvms_node **indices) {
  tvms_ref at = tvms_tir_first_index(reader, ref);
  for (uint32_t i = 0; i < items.len; i++) {
    tvms_eval_value item = items.items[i];
    tvms_ref here = at ? at : ref;
    indices[i] = is_slice(item) ? ramp_of_slice(reader, buffer, i, item, here)
                                : tvms_eval_to_expr(reader, item, here);
    if (at) at = tvms_reader_at(reader, at)->next;
    if (!indices[i]) {
      reader->failed = true;
      return false;
    }
  }
  return true;
}

tvms_eval_value tvms_tir_buffer_subscript(tvms_reader *reader, tvms_node *buffer,
                                          tvms_eval_value index, tvms_ref ref) {
  tvms_eval_items items = tvms_eval_items_of(&index);
  const tvms_buffer *fields = tvms_as_buffer(buffer);
  bool sliced = false;
  for (uint32_t i = 0; i < items.len; i++) {
    sliced = sliced || is_slice(items.items[i]);
    tvms_eval_assume_wanted(reader, items.items[i], TVMS_WANTED_NUMBER);
    if (tvms_eval_value_is_known(items.items[i])) continue;
    return tvms_reader_failed(reader);
  }
  bool partial = items.len < fields->shape.len
                 && tvms_release_has(reader->dialect, TVMS_FACT_regions_may_be_partial);
  if ((sliced && !has_step(reader, items)) || partial) {
    return make_region(reader, buffer, items, ref);
  }
  tvms_node *few[USUAL_RANK];
  tvms_node **indices = items.len <= USUAL_RANK
                            ? few
                            : tvms_arena_array(&reader->values, tvms_node *, items.len);
  if (!to_indices(reader, fields, items, ref, indices)) return TVMS_UNKNOWN;
  return tvms_eval_value_node(
      tvms_tir_load(reader, buffer, indices, items.len, NULL, ref));
}

bool tvms_tir_is_one_element(const tvms_node *node) {
  if (node->kind != TVMS_NODE_BUFFER) return false;
  tvms_list shape = tvms_as_buffer(node)->shape;
  return shape.len == 1 && tvms_node_is_int(shape.items[0], 1);
}

bool tvms_tir_is_scalar_buffer(const tvms_reader *reader, const tvms_node *node) {
  return tvms_release_has(reader->dialect, TVMS_FACT_assignments_make_scalars)
         && tvms_tir_is_one_element(node);
}

tvms_node *tvms_tir_whole_region(tvms_reader *reader, tvms_node *buffer, tvms_ref ref) {
  return make_region(reader, buffer, (tvms_eval_items){NULL, 0}, ref).as.node;
}

tvms_node *tvms_tir_region_load(tvms_reader *reader, tvms_node *region, tvms_ref ref) {
  if (!tvms_release_has(reader->dialect, TVMS_FACT_slices_are_vectors)) {
    tvms_tir_report_region(reader, region, ref);
    reader->failed = true;
    return NULL;
  }
  const tvms_buffer_region *fields = tvms_as_buffer_region(region);
  uint32_t count = fields->region.len;
  tvms_node **indices = tvms_arena_array(&reader->values, tvms_node *, count);
  for (uint32_t i = 0; i < count; i++) {
    const tvms_range *range = tvms_as_range(fields->region.items[i]);
    if (tvms_node_is_int(range->extent, 1)) {
      indices[i] = range->min;
      continue;
    }
    indices[i] =
        tvms_build_ramp(reader->unit, range->min, tvms_tir_one_like(reader, range->min),
                        range->extent, tvms_reader_span_of(reader, ref));
    if (!indices[i]) return NULL;
  }
  return tvms_tir_load(reader, fields->buffer, indices, count, NULL, ref);
}

tvms_node *tvms_tir_to_region(tvms_reader *reader, tvms_eval_value value,
                              const char *what, tvms_ref ref) {
  tvms_node *region = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER_REGION);
  if (region) return region;
  const tvms_node *load = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER_LOAD);
  if (!load) {
    tvms_eval_report_wrong_type(reader, ref, what, "a region of a buffer", value);
    return NULL;
  }
  const tvms_buffer_load *fields = tvms_as_buffer_load(load);
  tvms_node *few[USUAL_RANK];
  uint32_t count = fields->indices.len;
  for (uint32_t i = 0; i < count; i++) {
    tvms_dtype dtype = fields->indices.items[i]->dtype;
    if (dtype.lanes == 1 && !tvms_dtype_is_real(dtype)) continue;
    char text[TVMS_DTYPE_TEXT];
    tvms_reader_report(reader, bad_index, ref, tvms_dtype_text(dtype, text));
    reader->failed = true;
    return NULL;
  }
  tvms_node **ranges =
      count <= USUAL_RANK ? few : tvms_arena_array(&reader->values, tvms_node *, count);
  for (uint32_t i = 0; i < count; i++) {
    ranges[i] = range_of_index(reader, fields->indices.items[i]);
  }
  return tvms_buffer_region_new(reader->unit, fields->buffer, ranges, count,
                                tvms_reader_span_of(reader, ref));
}

// ---- Stores ---------------------------------------------------------------------------------

// The value as the dtype of the place it is stored into.
static tvms_node *stored_value(tvms_reader *reader, tvms_node *value, tvms_dtype place,
                               tvms_ref ref) {
  if (tvms_dtype_same(value->dtype, place)) return value;
  if (value->dtype.lanes != place.lanes || tvms_dtype_is_void(value->dtype)) {
    char a[TVMS_DTYPE_TEXT], b[TVMS_DTYPE_TEXT];
    tvms_reader_report(reader, store_lanes, tvms_tir_indexed_at(reader, ref),
                       tvms_dtype_text(value->dtype, a), tvms_dtype_text(place, b));
    return NULL;
  }
  bool loses = (place.code == TVMS_INT || place.code == TVMS_UINT)
               && (value->dtype.code == TVMS_FLOAT || value->dtype.code == TVMS_BFLOAT);
  if (loses) {
    char a[TVMS_DTYPE_TEXT], b[TVMS_DTYPE_TEXT];
    tvms_reader_report(reader, store_loses, ref, tvms_dtype_text(value->dtype, a),
                       tvms_dtype_text(place, b));
  }
  return tvms_build_cast(reader->unit, place, value, tvms_reader_span_of(reader, ref));
}

static void emit_store(tvms_reader *reader, tvms_node *buffer,
                       tvms_node *const *indices, uint32_t count, tvms_node *value,
                       tvms_node *predicate, tvms_ref ref) {
  tvms_dtype place = tvms_buffer_access_dtype(buffer, indices, count);
  if (is_scalable(tvms_as_buffer(buffer)->element) && count
      && is_scalable(indices[count - 1]->dtype)) {
    tvms_reader_report(reader, scalable_twice, ref);
    reader->failed = true;
    return;
  }
  tvms_node *stored = stored_value(reader, value, place, ref);
  if (!stored) {
    reader->failed = true;
    return;
  }
  if (!check_mask(reader, predicate, stored->dtype, ref)) return;
  tvms_tir_store_stmt(reader, buffer, indices, count, stored, predicate, ref);
}

void tvms_tir_store_stmt(tvms_reader *reader, tvms_node *buffer,
                         tvms_node *const *indices, uint32_t count, tvms_node *value,
                         tvms_node *predicate, tvms_ref ref) {
  tvms_struct_STORE *stmt =
      tvms_node_make(reader->unit, STORE, tvms_reader_span_of(reader, ref));
  stmt->buffer = buffer;
  stmt->value = value;
  stmt->indices = tvms_list_copy(reader->unit, indices, count);
  stmt->predicate = predicate;
  tvms_frame_emit(reader, &stmt->head);
}

// Where the value stands that a statement stores; the statement, if it has several.
static tvms_ref assigned_at(const tvms_reader *reader, tvms_ref stmt) {
  const tvms_surf *node = tvms_reader_at(reader, stmt);
  if (node->kind == TVMS_SURF_ANN_ASSIGN && node->c) return node->c;
  if (node->kind != TVMS_SURF_ASSIGN) return stmt;
  uint16_t target = tvms_reader_at(reader, node->a)->kind;
  return target == TVMS_SURF_TUPLE || target == TVMS_SURF_LIST ? stmt : node->b;
}

void tvms_tir_store_into(tvms_reader *reader, tvms_node *buffer, tvms_eval_value index,
                         tvms_eval_value value, tvms_node *predicate, tvms_ref ref) {
  tvms_eval_items items = tvms_eval_items_of(&index);
  const tvms_buffer *fields = tvms_as_buffer(buffer);
  tvms_node *few[USUAL_RANK];
  tvms_node **indices = items.len <= USUAL_RANK
                            ? few
                            : tvms_arena_array(&reader->values, tvms_node *, items.len);
  bool known = tvms_eval_value_is_known(value);
  if (value.kind == TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, assigned_at(reader, ref),
                                "what is stored into a buffer", "a number", value);
    return;
  }
  tvms_eval_assume_wanted(reader, value, TVMS_WANTED_NUMBER);
  for (uint32_t i = 0; i < items.len; i++) {
    tvms_eval_assume_wanted(reader, items.items[i], TVMS_WANTED_NUMBER);
    known = known && tvms_eval_value_is_known(items.items[i]);
  }
  if (!known) {
    reader->failed = true;
    return;
  }
  for (uint32_t i = 0; i < items.len; i++) {
    bool open = is_slice(items.items[i])
                && (items.items[i].as.items[0].kind == TVMS_EVAL_NONE
                    || items.items[i].as.items[1].kind == TVMS_EVAL_NONE);
    if (!open) continue;
    tvms_reader_report(reader, open_slice_store, ref);
    reader->failed = true;
    return;
  }
  if (!to_indices(reader, fields, items, ref, indices)
      || !check_rank(reader, buffer, items.len, ref)
      || !check_indices(reader, indices, items.len, true, ref)) {
    return;
  }
  tvms_node *node = tvms_eval_to_expr(reader, value, assigned_at(reader, ref));
  if (!node) {
    reader->failed = true;
    return;
  }
  emit_store(reader, buffer, indices, items.len, node, predicate, ref);
}

// ---- Subscripts of other things -------------------------------------------------------------

// T.Buffer[(16,), "float32"] and T.Ptr["float32"]: what the prototype wrote.
static tvms_eval_value call_by_subscript(tvms_reader *reader, tvms_eval_value object,
                                         tvms_eval_value index, tvms_ref ref) {
  const tvms_row *row = object.as.row;
  if (row->name != TVMS_SYM_Buffer && row->name != TVMS_SYM_Ptr) {
    return tvms_eval_report_no_subscript(reader, object, ref);
  }
  bool two = index.kind == TVMS_EVAL_TUPLE && index.len >= 2
             && (index.as.items[1].kind == TVMS_EVAL_STR || row->name == TVMS_SYM_Ptr);
  return two ? tvms_row_call_with(reader, row, index.as.items, 2, ref)
             : tvms_row_call_with(reader, row, &index, 1, ref);
}

tvms_eval_value tvms_tir_subscript(tvms_reader *reader, tvms_eval_value object,
                                   tvms_eval_value index, tvms_ref ref) {
  if (object.kind == TVMS_EVAL_CALLABLE)
    return call_by_subscript(reader, object, index, ref);
  if (object.as.node->kind == TVMS_NODE_BUFFER) {
    return tvms_tir_buffer_subscript(reader, object.as.node, index, ref);
  }
  // TVM prints the value of a scalar with an index in places, and cannot read it.
  bool scalar =
      object.as.node->kind == TVMS_NODE_BUFFER_LOAD
      && tvms_tir_is_scalar_buffer(reader, tvms_as_buffer_load(object.as.node)->buffer);
  if (scalar && index.kind == TVMS_EVAL_INT && index.as.i == 0
      && tvms_reader_is_printed(reader)) {
    return object;
  }
  bool region = object.as.node->kind == TVMS_NODE_BUFFER_REGION;
  if (region && tvms_release_has(reader->dialect, TVMS_FACT_regions_take_subscripts)) {
    return tvms_tir_region_subscript(reader, object.as.node, index, ref);
  }
  if (object.as.node->kind == TVMS_NODE_OBJECT_ARRAY) {
    tvms_eval_items items;
    if (!tvms_eval_iterate(reader, object, ref, &items)) return TVMS_UNKNOWN;
    return tvms_eval_subscript(
        reader, tvms_eval_value_items(TVMS_EVAL_LIST, items.items, items.len), index,
        ref);
  }
  return tvms_eval_report_no_subscript(reader, object, ref);
}
