// Blocks: their axes, regions, predicate, annotations.
//
// A block is built from the calls in its body: each T.axis, T.reads, T.where or T.init
// adds to the frame, may be given once, and must stand directly in it. Regions that are
// not written are found when the function is complete (structinfo/complete.h).
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/object.h"
#include "parser/eval/convert.h"
#include "parser/eval/iterate.h"
#include "parser/eval/reader.h"
#include "parser/tir/access.h"
#include "parser/tir/convert.h"
#include "parser/tir/frame.h"
#include "parser/tir/handlers.h"
#include "parser/tir/loop.h"
#include "parser/tir/object.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

tvms_eval_value tvms_call_block(tvms_reader *reader, const tvms_call_args *call) {
  tvms_frame *frame = tvms_frame_new(reader, TVMS_FRAME_BLOCK, call->ref);
  tvms_eval_value name = call->args[0];
  if (name.kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the name of a block",
                                "a string", name);
    return TVMS_UNKNOWN;
  }
  frame->as.block.name = name.as.text;
  frame->as.block.name_len = name.len;
  if (!tvms_eval_to_flag(reader, call->args[1], call->refs[1],
                         &frame->as.block.no_realize)) {
    return TVMS_UNKNOWN;
  }
  // A macro expanded again gives its blocks other names (0.25 on).
  const tvms_tir_expansion *macro =
      tvms_tir_of(reader) ? tvms_tir_of(reader)->expansion : NULL;
  uint32_t calls = macro ? macro->calls : 0;
  if (calls && name.len
      && tvms_release_has(reader->dialect, TVMS_FACT_macros_rename_blocks)) {
    char *text = tvms_arena_alloc(&reader->values, name.len + 12);
    memcpy(text, name.as.text, name.len);
    int len = sprintf(text + name.len, "_%u", calls);
    frame->as.block.name = text;
    frame->as.block.name_len = name.len + (uint32_t)len;
  }
  return tvms_frame_value(frame);
}

tvms_eval_value tvms_call_init(tvms_reader *reader, const tvms_call_args *call) {
  return tvms_frame_value(tvms_frame_new(reader, TVMS_FRAME_INIT, call->ref));
}

static tvms_frame *block_at_top(tvms_reader *reader, const tvms_call_args *call) {
  if (!tvms_tir_of(reader)) {
    tvms_reader_report(reader, outside_function, call->ref,
                       tvms_row_text(reader, call->row));
    return NULL;
  }
  return tvms_frame_top(reader, TVMS_FRAME_BLOCK, tvms_row_text(reader, call->row),
                        call->ref);
}

static tvms_eval_value repeated(tvms_reader *reader, const tvms_call_args *call) {
  tvms_reader_report(reader, repeated_part, tvms_reader_callee(reader, call->ref),
                     tvms_row_text(reader, call->row));
  return tvms_reader_failed(reader);
}

tvms_eval_value tvms_call_where(tvms_reader *reader, const tvms_call_args *call) {
  tvms_frame *frame = block_at_top(reader, call);
  if (!frame) return TVMS_UNKNOWN;
  tvms_eval_value value = call->args[0];
  if (frame->as.block.predicate) return repeated(reader, call);
  bool is_int = value.kind == TVMS_EVAL_INT && (value.as.i == 0 || value.as.i == 1);
  if (is_int) value = tvms_eval_value_bool(value.as.i);
  tvms_node *predicate = tvms_eval_to_expr(reader, value, call->refs[0]);
  if (!predicate) {
    return tvms_reader_failed(reader);
  }
  if (!tvms_dtype_is_bool(predicate->dtype)) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "a predicate", "a boolean",
                                value);
    return TVMS_UNKNOWN;
  }
  frame->as.block.predicate = predicate;
  return TVMS_NOTHING;
}

// ---- Regions --------------------------------------------------------------------------------

static bool to_regions(tvms_reader *reader, const tvms_call_args *call,
                       const char *what, tvms_list *list) {
  tvms_eval_value items = call->args[0];
  tvms_ref first = tvms_reader_at(reader, call->ref)->b;
  bool wrapped = items.len == 1 && tvms_eval_value_is_sequence(items.as.items[0]);
  if (wrapped) items = items.as.items[0];
  *list = (tvms_list){tvms_arena_array(&reader->unit->arena, tvms_node *, items.len),
                      items.len};
  tvms_ref ref = wrapped ? 0 : first;
  bool sound = true;
  for (uint32_t i = 0; i < items.len; i++) {
    list->items[i] =
        tvms_tir_to_region(reader, items.as.items[i], what, ref ? ref : call->ref);
    sound = sound && list->items[i];
    if (ref) ref = tvms_reader_at(reader, ref)->next;
  }
  if (!sound) reader->failed = true;
  return sound;
}

tvms_eval_value tvms_call_regions(tvms_reader *reader, const tvms_call_args *call) {
  tvms_frame *frame = block_at_top(reader, call);
  bool reads = call->row->name == TVMS_SYM_reads;
  tvms_list list;
  if (!frame) return TVMS_UNKNOWN;
  if (reads ? frame->as.block.has_reads : frame->as.block.has_writes) {
    return repeated(reader, call);
  }
  if (!to_regions(reader, call,
                  reads ? "each argument of T.reads" : "each argument of T.writes",
                  &list)) {
    return TVMS_UNKNOWN;
  }
  if (reads) {
    frame->as.block.reads = list;
    frame->as.block.has_reads = true;
  } else {
    frame->as.block.writes = list;
    frame->as.block.has_writes = true;
  }
  return TVMS_NOTHING;
}

// ---- Annotations ----------------------------------------------------------------------------

// The union of two maps; a key in both must have equal values, or maps to merge. NULL
// after a report.
static tvms_node *merge_maps(tvms_reader *reader, tvms_node *old, tvms_node *new,
                             tvms_ref ref) {
  const tvms_object_map *added = tvms_as_object_map(new);
  uint32_t count = added->keys.len;
  tvms_node **values = tvms_arena_array(&reader->unit->arena, tvms_node *, count);
  for (uint32_t i = 0; i < count; i++) {
    const char *key = tvms_object_as_text(added->keys.items[i]);
    tvms_node *value = added->values.items[i];
    tvms_node *before = key ? tvms_object_map_get(old, key) : NULL;
    if (before && before->kind == TVMS_NODE_OBJECT_MAP
        && value->kind == TVMS_NODE_OBJECT_MAP) {
      value = merge_maps(reader, before, value, ref);
      if (!value) return NULL;
    } else if (before && !tvms_node_equal(reader->context, before, value)) {
      tvms_reader_report(reader, annotation_differs, ref, key);
      return NULL;
    }
    values[i] = value;
  }
  tvms_node *merged =
      tvms_object_map_new(reader->unit, added->keys.items, values, count, new->span);
  return tvms_object_map_join(reader->unit, old, merged);
}

tvms_eval_value tvms_call_block_attr(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *map;
  tvms_frame *frame =
      tvms_tir_of(reader) ? tvms_frame_find(reader, TVMS_FRAME_BLOCK) : NULL;
  if (!frame || tvms_release_has(reader->dialect, TVMS_FACT_block_attrs_stand_at_top))
    frame = block_at_top(reader, call);
  if (!frame || !tvms_eval_to_map(reader, call->args[0], call->refs[0], &map)) {
    return tvms_reader_failed(reader);
  }
  if (!map) return TVMS_NOTHING;
  if (frame->as.block.annotations) {
    map = merge_maps(reader, frame->as.block.annotations, map, call->ref);
    if (!map) {
      return tvms_reader_failed(reader);
    }
  }
  frame->as.block.annotations = map;
  return TVMS_NOTHING;
}

// ---- Axes -----------------------------------------------------------------------------------

static tvms_iter_type type_named(tvms_sym name) {
  switch (name) {
  case TVMS_SYM_reduce:
  case TVMS_SYM_R: return TVMS_ITER_COMM_REDUCE;
  case TVMS_SYM_scan: return TVMS_ITER_ORDERED;
  case TVMS_SYM_opaque: return TVMS_ITER_OPAQUE;
  default: return TVMS_ITER_DATA_PAR;
  }
}

static tvms_node *push_axis(tvms_reader *reader, tvms_frame *frame, tvms_node *min,
                            tvms_node *extent, tvms_dtype dtype, tvms_iter_type type,
                            tvms_node *binding, tvms_ref ref) {
  tvms_unit *unit = reader->unit;
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_iter_var *iter_var = tvms_node_make(unit, ITER_VAR, span);
  iter_var->dom = tvms_range_new(unit, min, extent, span);
  iter_var->var = tvms_var_new(unit, 0, dtype, span);
  iter_var->iter_type = type;
  iter_var->head.dtype = dtype;
  tvms_memory *memory = &reader->context->memory;
  tvms_vec_push(memory, &frame->as.block.iter_vars, &iter_var->head);
  if (binding) tvms_vec_push(memory, &frame->as.block.iter_values, binding);
  return iter_var->var;
}

// The domain: an extent, a tuple (min, max) or T.Range.
static bool read_domain(tvms_reader *reader, tvms_eval_value dom, tvms_ref ref,
                        tvms_node **min, tvms_node **extent) {
  tvms_unit *unit = reader->unit;
  const tvms_node *range = tvms_eval_value_node_of(dom, TVMS_NODE_RANGE);
  if (range) {
    *min = tvms_as_range(range)->min;
    *extent = tvms_as_range(range)->extent;
    return true;
  }
  if (!tvms_eval_value_is_sequence(dom)) {
    *extent = tvms_eval_to_expr(reader, dom, ref);
    if (!*extent) return false;
    *min = tvms_int_imm_new(unit, tvms_dtype_with_lanes((*extent)->dtype, 1), 0,
                            TVMS_NO_SPAN);
    return true;
  }
  if (dom.len != 2) {
    tvms_eval_report_wrong_type(reader, ref, "a domain", "a tuple (begin, end)", dom);
    return false;
  }
  tvms_node *max = tvms_eval_to_expr(reader, dom.as.items[1], ref);
  *min = max ? tvms_eval_to_expr(reader, dom.as.items[0], ref) : NULL;
  if (!*min) return false;
  tvms_node *difference =
      tvms_tir_extent_between(reader, *min, max, tvms_reader_span_of(reader, ref));
  if (!difference) return false;
  *extent = tvms_tir_simplified(reader, difference);
  if ((*extent)->kind == TVMS_NODE_INT_IMM) return true;
  *extent = difference;  // Range(begin, end) does not simplify
  return true;
}

tvms_eval_value tvms_call_axis(tvms_reader *reader, const tvms_call_args *call) {
  tvms_frame *frame = block_at_top(reader, call);
  tvms_dtype dtype;
  tvms_node *min, *extent, *binding = NULL;
  if (!frame || !tvms_eval_to_dtype(reader, call->args[2], call->refs[2], &dtype)
      || !read_domain(reader, call->args[0], call->refs[0], &min, &extent)) {
    return tvms_reader_failed(reader);
  }
  bool bound = call->args[1].kind != TVMS_EVAL_NONE;
  if (bound) {
    binding = tvms_eval_to_expr(reader, call->args[1], call->refs[1]);
    if (!binding) {
      return tvms_reader_failed(reader);
    }
  } else if (!frame->as.block.no_realize) {
    tvms_eval_report_missing_argument(
        reader, call->ref, tvms_symbol_text(reader->context, call->row->name),
        "binding");
    return tvms_reader_failed(reader);
  }
  if (min->dtype.bits > dtype.bits) dtype.bits = min->dtype.bits;
  if (extent->dtype.bits > dtype.bits) dtype.bits = extent->dtype.bits;
  if (!tvms_dtype_same(dtype, extent->dtype)) {
    char a[TVMS_DTYPE_TEXT], b[TVMS_DTYPE_TEXT];
    tvms_reader_report(reader, axis_dtype, call->refs[0], tvms_dtype_text(dtype, a),
                       tvms_dtype_text(extent->dtype, b));
    return tvms_reader_failed(reader);
  }
  return tvms_eval_value_node(push_axis(reader, frame, min, extent, dtype,
                                        type_named(call->row->name), binding,
                                        call->ref));
}

// The domain of a loop variable, of the innermost loop that has it.
static bool loop_domain(tvms_reader *reader, const tvms_node *var, tvms_node **min,
                        tvms_node **extent) {
  for (uint32_t i = tvms_tir_of(reader)->frames.len; i > 0; i--) {
    const tvms_frame *frame = tvms_tir_of(reader)->frames.items[i - 1];
    if (frame->kind != TVMS_FRAME_FOR) continue;
    for (uint32_t k = 0; k < frame->as.loop.count; k++) {
      if (frame->as.loop.vars[k] != var) continue;
      *min = frame->as.loop.mins[k];
      *extent = frame->as.loop.extents[k];
      return true;
    }
  }
  return false;
}

// `"sr"`: kinds are written large.
static void explain_kinds(tvms_reader *reader, tvms_diag *diag, tvms_eval_value kinds) {
  char large[64];
  if (kinds.kind != TVMS_EVAL_STR || kinds.len >= sizeof large) return;
  for (uint32_t i = 0; i < kinds.len; i++) {
    large[i] = (char)toupper((unsigned char)kinds.as.text[i]);
    if (large[i] != 'S' && large[i] != 'R') return;
  }
  large[kinds.len] = '\0';
  tvms_diag_remark(&reader->context->diags, diag, "did you mean \"%s\"?", large);
  tvms_diag_fix(&reader->context->diags, diag, diag->span, false, "\"%s\"", large);
}

static tvms_node *remap_one(tvms_reader *reader, tvms_frame *frame, char kind,
                            tvms_eval_value binding, const tvms_call_args *call) {
  tvms_ref ref = call->ref;
  tvms_node *var = tvms_eval_value_node_of(binding, TVMS_NODE_VAR);
  tvms_node *min, *extent;
  if (!var) {
    tvms_eval_report_wrong_type(reader, call->refs[1], "each binding of T.axis.remap",
                                "a loop variable", binding);
    return NULL;
  }
  if (!loop_domain(reader, var, &min, &extent)) {
    tvms_reader_report(reader, not_a_loop_var, ref,
                       tvms_symbol_text(reader->context, tvms_as_var(var)->name));
    return NULL;
  }
  if (kind != 'S' && kind != 'R') {
    uint32_t place = tvms_reader_span_of(reader, call->refs[0]).begin;
    if (!tvms_reader_was_misread(reader, (tvms_span){place, place}))
      explain_kinds(reader,
                    tvms_reader_report(reader, unknown_axis_kind, call->refs[0], kind),
                    call->args[0]);
    return NULL;
  }
  tvms_iter_type type = kind == 'S' ? TVMS_ITER_DATA_PAR : TVMS_ITER_COMM_REDUCE;
  return push_axis(reader, frame, min, extent, var->dtype, type, var, ref);
}

tvms_eval_value tvms_call_remap(tvms_reader *reader, const tvms_call_args *call) {
  tvms_frame *frame = block_at_top(reader, call);
  tvms_eval_value kinds = call->args[0];
  tvms_eval_items bindings;
  if (!frame || !tvms_eval_iterate(reader, call->args[1], call->refs[1], &bindings)) {
    return tvms_reader_failed(reader);
  }
  if (kinds.kind != TVMS_EVAL_STR || kinds.len != bindings.len) {
    if (kinds.kind != TVMS_EVAL_STR) {
      tvms_eval_report_wrong_type(reader, call->refs[0], "the kinds of axes",
                                  "a string such as \"SSR\"", kinds);
      return tvms_reader_failed(reader);
    }
    tvms_reader_report(reader, remap_count, call->refs[0], (int)kinds.len,
                       kinds.as.text, kinds.len, tvms_diag_plural(kinds.len),
                       bindings.len, tvms_diag_plural(bindings.len),
                       bindings.len == 1 ? "follows" : "follow");
    return tvms_reader_failed(reader);
  }
  tvms_eval_value *vars =
      tvms_arena_array(&reader->values, tvms_eval_value, bindings.len);
  bool sound = true;
  for (uint32_t i = 0; i < bindings.len; i++) {
    tvms_node *var =
        remap_one(reader, frame, kinds.as.text[i], bindings.items[i], call);
    vars[i] = tvms_eval_value_node(var);
    sound = sound && var;
  }
  if (!sound) reader->failed = true;
  if (bindings.len == 1) return vars[0];
  tvms_eval_value list = tvms_eval_value_items(TVMS_EVAL_LIST, vars, bindings.len);
  list.flags |= TVMS_TIR_VALUE_ARRAY;
  return list;
}
