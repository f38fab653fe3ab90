// Loops and branches: T.serial … T.grid, T.While, T.If.
//
// A loop has one dtype for its variable, bounds and step. Which one it is differs
// between releases: before 0.27 that of the start with as many bits as the wider bound
// (For of src/tirx/ir/stmt.cc), from 0.27 on the wider of the bounds, unsigned if one of
// them is. Everything that counts, T.grid included, becomes nested frames of one loop
// each.
#include "parser/tir/loop.h"

#include "arith/analyzer.h"
#include "ir/fold.h"
#include "ir/object.h"
#include "parser/eval/convert.h"
#include "parser/tir/convert.h"
#include "parser/tir/frame.h"
#include "parser/tir/handlers.h"

tvms_node *tvms_tir_simplified(tvms_reader *reader, tvms_node *node) {
  if (node->kind == TVMS_NODE_INT_IMM || node->kind == TVMS_NODE_VAR) return node;
  return tvms_arith_simplify(reader->unit, node);
}

// ---- Bounds ---------------------------------------------------------------------------------

static uint8_t bits_of(const tvms_node *bound) {
  return bound->dtype.code == TVMS_BOOL ? 8 : bound->dtype.bits;
}

// Dtype of a loop variable of 0.27: the wider of the bounds, unsigned if one of them is.
static tvms_dtype common_dtype(const tvms_node *start, const tvms_node *stop) {
  bool is_unsigned = start->dtype.code == TVMS_UINT || stop->dtype.code == TVMS_UINT;
  uint8_t bits = bits_of(start) > bits_of(stop) ? bits_of(start) : bits_of(stop);
  return (tvms_dtype){is_unsigned ? TVMS_UINT : TVMS_INT, bits, 1};
}

static tvms_node *bound_as(tvms_reader *reader, tvms_node *bound, tvms_dtype dtype) {
  if (tvms_dtype_same(bound->dtype, dtype)) return bound;
  if (bound->kind == TVMS_NODE_INT_IMM) {
    return tvms_build_int(reader->unit, dtype, tvms_as_int_imm(bound)->value,
                          bound->span);
  }
  return tvms_cast_new(reader->unit, dtype, bound, bound->span);
}

// dtype="uint32" of 0.27; false after a report.
static bool explicit_dtype(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                           tvms_dtype *dtype) {
  if (value.kind == TVMS_EVAL_NONE) return true;
  if (!tvms_eval_to_dtype(reader, value, ref, dtype)) return false;
  bool sound = dtype->bits == 32 && dtype->lanes == 1
               && (dtype->code == TVMS_INT || dtype->code == TVMS_UINT);
  if (!sound) tvms_reader_report(reader, bad_index_dtype, ref);
  return sound;
}

static tvms_frame *loop_frame(tvms_reader *reader, uint32_t count, tvms_for_kind kind,
                              tvms_ref ref) {
  tvms_frame *frame = tvms_frame_new(reader, TVMS_FRAME_FOR, ref);
  tvms_node **parts = tvms_arena_array(&reader->values, tvms_node *, 4 * count);
  frame->as.loop.vars = parts;
  frame->as.loop.mins = parts + count;
  frame->as.loop.extents = parts + 2 * count;
  frame->as.loop.steps = parts + 3 * count;
  frame->as.loop.count = count;
  frame->as.loop.kind = kind;
  return frame;
}

// Up to 0.24 a bool is an unsigned integer of one bit.
static bool is_index(const tvms_reader *reader, const tvms_node *node) {
  bool truth = tvms_release_has(reader->dialect, TVMS_FACT_bools_are_uint1)
               && tvms_dtype_is_bool(node->dtype);
  bool whole = node->dtype.code == TVMS_INT || node->dtype.code == TVMS_UINT;
  return (whole || truth) && node->dtype.lanes == 1;
}

static bool wrong_bound(tvms_reader *reader, const tvms_node *node, tvms_ref ref) {
  char buffer[TVMS_DTYPE_TEXT];
  tvms_reader_report(reader, bad_loop_bound, ref, tvms_dtype_text(node->dtype, buffer));
  return false;
}

// A bound is an integer; from 0.27 on other scalars are converted, but what stands for
// the extent alone needs a zero of its type, which floats do not have.
static bool check_bound(tvms_reader *reader, const tvms_node *node, bool alone,
                        tvms_ref ref) {
  if (!node) return false;
  if (is_index(reader, node)) return true;
  bool converts = tvms_release_has(reader->dialect, TVMS_FACT_loops_convert_bounds)
                  && node->dtype.lanes == 1 && !tvms_dtype_is_void(node->dtype)
                  && !tvms_dtype_is_handle(node->dtype);
  if (converts && (!alone || tvms_dtype_is_bool(node->dtype))) return true;
  return wrong_bound(reader, node, ref);
}

// A bound as a node; True counts as 1.
static tvms_node *bound_of(tvms_reader *reader, tvms_eval_value value, tvms_ref ref) {
  if (value.kind == TVMS_EVAL_BOOL) value = tvms_eval_value_int(value.as.i);
  if (value.kind == TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, ref, "a loop bound", "an integer", value);
    return NULL;
  }
  return tvms_eval_to_expr(reader, value, ref);
}

// The step of a loop; NULL without a report if there is none.
static bool read_step(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                      tvms_node **step) {
  *step = NULL;
  if (value.kind == TVMS_EVAL_NONE) return true;
  *step = tvms_eval_to_expr(reader, value, ref);
  if (!*step) return false;
  if ((*step)->kind == TVMS_NODE_STRING_IMM) {
    tvms_eval_report_wrong_type(reader, ref, "a step", "a number", value);
    return false;
  }
  return tvms_release_has(reader->dialect, TVMS_FACT_loops_convert_bounds)
         || is_index(reader, *step) || wrong_bound(reader, *step, ref);
}

// Before 0.27, what is narrower than the loop variable becomes like it only if it is a
// constant (For of src/tirx/ir/stmt.cc).
static tvms_node *promoted(tvms_reader *reader, tvms_node *node, tvms_dtype dtype) {
  bool narrower = node->kind == TVMS_NODE_INT_IMM && node->dtype.bits < dtype.bits;
  return narrower ? tvms_int_imm_new(reader->unit, dtype, tvms_as_int_imm(node)->value,
                                     node->span)
                  : node;
}

// Finds the dtype of the loop variable, which the bounds and the step must have. False,
// after a report, if they have not.
static bool agree_on_dtype(tvms_reader *reader, tvms_node **start, tvms_node **extent,
                           tvms_node **step, tvms_dtype *dtype, tvms_ref ref) {
  char a[TVMS_DTYPE_TEXT], b[TVMS_DTYPE_TEXT];
  *dtype = tvms_dtype_with_lanes((*start)->dtype, 1);
  if ((*extent)->dtype.bits > dtype->bits) dtype->bits = (*extent)->dtype.bits;
  // Both are cast where their bits differ, constants always.
  bool starts =
      (*start)->kind == TVMS_NODE_INT_IMM || tvms_dtype_same((*start)->dtype, *dtype);
  bool counts = (*extent)->kind == TVMS_NODE_INT_IMM
                || (*extent)->dtype.bits != dtype->bits
                || (*extent)->dtype.code == dtype->code;
  if (!starts || !counts) {
    tvms_reader_report(reader, loop_bounds_differ, ref,
                       tvms_dtype_text((*start)->dtype, a),
                       tvms_dtype_text(starts ? (*extent)->dtype : *dtype, b));
    return false;
  }
  *start = bound_as(reader, *start, *dtype);
  *extent = bound_as(reader, *extent, *dtype);
  if (!*start || !*extent) return false;
  if (!*step) return true;
  *step = promoted(reader, *step, *dtype);
  if (tvms_dtype_same((*step)->dtype, *dtype)) return true;
  tvms_reader_report(reader, loop_step_differs, ref, tvms_dtype_text(*dtype, a),
                     tvms_dtype_text((*step)->dtype, b));
  return false;
}

// One loop from `start` to `stop`; both are nodes of index dtype.
static tvms_frame *make_loop(tvms_reader *reader, tvms_node *start, tvms_node *stop,
                             tvms_node *step, tvms_dtype dtype, tvms_for_kind kind,
                             tvms_ref ref) {
  tvms_unit *unit = reader->unit;
  tvms_span span = tvms_reader_span_of(reader, ref);
  bool converts = tvms_release_has(reader->dialect, TVMS_FACT_loops_convert_bounds)
                  && kind != TVMS_FOR_THREAD_BINDING;
  if (converts) {
    if (tvms_dtype_is_void(dtype)) dtype = common_dtype(start, stop);
    start = bound_as(reader, start, dtype);
    stop = bound_as(reader, stop, dtype);
    if (step) step = bound_as(reader, step, dtype);
    if (!start || !stop) return NULL;
  }
  tvms_node *extent = tvms_build_binary(unit, TVMS_NODE_SUB, stop, start, span);
  if (!extent) return NULL;
  extent = tvms_tir_simplified(reader, extent);
  bool agree = converts || agree_on_dtype(reader, &start, &extent, &step, &dtype, ref);
  if (!agree) return NULL;
  tvms_frame *frame = loop_frame(reader, 1, kind, ref);
  tvms_sym name = TVMS_SYM_v;
  frame->as.loop.vars[0] = tvms_var_new(unit, name, dtype, span);
  frame->as.loop.mins[0] = start;
  frame->as.loop.extents[0] = extent;
  frame->as.loop.steps[0] = step;
  frame->as.loop.single = true;
  return frame;
}

static tvms_node *zero_like(tvms_reader *reader, const tvms_node *node) {
  return tvms_int_imm_new(reader->unit, tvms_dtype_with_lanes(node->dtype, 1), 0,
                          TVMS_NO_SPAN);
}

// Reads start and stop, with their places; one bound alone is the stop.
static bool read_bounds(tvms_reader *reader, const tvms_eval_value bounds[2],
                        const tvms_ref refs[2], tvms_node **start, tvms_node **stop) {
  bool one = bounds[1].kind == TVMS_EVAL_NONE;
  bool alone = one && bounds[0].kind == TVMS_EVAL_NODE;
  *start = bound_of(reader, bounds[0], refs[0]);
  *stop = one ? *start : bound_of(reader, bounds[1], refs[1]);
  if (!check_bound(reader, *start, alone, refs[0])
      || !check_bound(reader, *stop, alone, one ? refs[0] : refs[1])) {
    reader->failed = true;
    return false;
  }
  if (one) *start = zero_like(reader, *stop);
  return true;
}

// ---- Rows -----------------------------------------------------------------------------------

// `unroll=` of T.serial is a pair of annotations.
static bool add_unroll(tvms_reader *reader, const tvms_call_args *call,
                       tvms_node **annotations) {
  tvms_eval_value unroll = tvms_args_get(reader, call, TVMS_SYM_unroll);
  if (unroll.kind == TVMS_EVAL_NONE) return true;
  tvms_ref ref = tvms_args_ref(reader, call, TVMS_SYM_unroll);
  tvms_span span = tvms_reader_span_of(reader, ref);
  bool is_bool = unroll.kind == TVMS_EVAL_BOOL;
  if (!is_bool && (unroll.kind != TVMS_EVAL_INT || unroll.as.i <= 0)) {
    tvms_eval_report_wrong_type(reader, ref, "unroll", "a bool or a positive int",
                                unroll);
    return false;
  }
  bool off = is_bool && !unroll.as.i;
  bool number =
      !is_bool && tvms_release_has(reader->dialect, TVMS_FACT_unroll_takes_number);
  tvms_node *value = number ? tvms_object_int_new(reader->unit, unroll.as.i, span)
                            : tvms_object_bool_new(reader->unit, true, span);
  *annotations = tvms_object_map_with(reader->unit, *annotations,
                                      off ? "disable_unroll" : "pragma_unroll", value);
  return true;
}

static tvms_for_kind kind_named(tvms_sym name) {
  switch (name) {
  case TVMS_SYM_parallel: return TVMS_FOR_PARALLEL;
  case TVMS_SYM_vectorized: return TVMS_FOR_VECTORIZED;
  case TVMS_SYM_unroll: return TVMS_FOR_UNROLLED;
  default: return TVMS_FOR_SERIAL;
  }
}

static tvms_eval_value frame_or_unknown(tvms_reader *reader, tvms_frame *frame) {
  if (frame) return tvms_frame_value(frame);
  return tvms_reader_failed(reader);
}

tvms_eval_value tvms_call_loop(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *start, *stop, *annotations, *step;
  tvms_dtype dtype = {0};
  tvms_eval_value step_value = tvms_args_get(reader, call, TVMS_SYM_step);
  if (!read_bounds(reader, call->args, call->refs, &start, &stop)
      || !tvms_eval_to_map(reader, tvms_args_get(reader, call, TVMS_SYM_annotations),
                           call->ref, &annotations)
      || !explicit_dtype(reader, tvms_args_get(reader, call, TVMS_SYM_dtype), call->ref,
                         &dtype)
      || !add_unroll(reader, call, &annotations)) {
    return tvms_reader_failed(reader);
  }
  if (!read_step(reader, step_value, call->ref, &step)) {
    return tvms_reader_failed(reader);
  }
  tvms_frame *frame = make_loop(reader, start, stop, step, dtype,
                                kind_named(call->row->name), call->ref);
  if (frame) frame->as.loop.annotations = annotations;
  return frame_or_unknown(reader, frame);
}

tvms_eval_value tvms_tir_range_loop(tvms_reader *reader, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  const char *signature =
      "start, stop=None, step=None, *, annotations=None, unroll=None, dtype=None";
  if (!tvms_release_has(reader->dialect, TVMS_FACT_range_has_step_third)) {
    signature = "start, stop=None, *, annotations=None, step=None";
  }
  if (!tvms_signature_bind_method(reader, signature, "range()", call, args))
    return TVMS_UNKNOWN;
  bool old = !tvms_release_has(reader->dialect, TVMS_FACT_range_has_step_third);
  tvms_node *start, *stop, *annotations, *step;
  if (!read_bounds(reader, args, (tvms_ref[]){call, call}, &start, &stop)
      || !tvms_eval_to_map(reader, args[old ? 2 : 3], call, &annotations)) {
    return TVMS_UNKNOWN;
  }
  tvms_eval_value step_value = args[old ? 3 : 2];
  if (!read_step(reader, step_value, call, &step)) {
    return tvms_reader_failed(reader);
  }
  tvms_frame *frame =
      make_loop(reader, start, stop, step, (tvms_dtype){0}, TVMS_FOR_SERIAL, call);
  if (frame) frame->as.loop.annotations = annotations;
  return frame_or_unknown(reader, frame);
}

tvms_eval_value tvms_call_thread_binding(tvms_reader *reader,
                                         const tvms_call_args *call) {
  tvms_eval_value bounds[] = {call->args[0], call->args[1]}, thread = call->args[2];
  if (thread.kind == TVMS_EVAL_NONE) {
    thread = bounds[1];
    bounds[1] = TVMS_NOTHING;
  }
  if (thread.kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, call->ref, "the thread of T.thread_binding",
                                "a string", thread);
    return TVMS_UNKNOWN;
  }
  tvms_node *start, *stop, *annotations;
  if (!read_bounds(reader, bounds, call->refs, &start, &stop)
      || !tvms_eval_to_map(reader, tvms_args_get(reader, call, TVMS_SYM_annotations),
                           call->ref, &annotations)) {
    return TVMS_UNKNOWN;
  }
  if (!is_index(reader, stop)) {
    wrong_bound(reader, stop, call->refs[0]);
    return tvms_reader_failed(reader);
  }
  tvms_frame *frame = make_loop(reader, start, stop, NULL, (tvms_dtype){0},
                                TVMS_FOR_THREAD_BINDING, call->ref);
  if (frame) {
    frame->as.loop.annotations = annotations;
    frame->as.loop.thread =
        tvms_symbol_intern(reader->context, thread.as.text, thread.len);
  }
  return frame_or_unknown(reader, frame);
}

// One dimension of a grid: an extent, or (from 0.25 on) a tuple (start, extent).
static bool grid_dim(tvms_reader *reader, tvms_frame *frame, uint32_t i,
                     tvms_eval_value value, tvms_dtype dtype, tvms_ref ref) {
  tvms_node *min = NULL, *extent;
  if (value.kind == TVMS_EVAL_TUPLE && value.len == 2
      && tvms_release_has(reader->dialect, TVMS_FACT_grids_take_ranges)) {
    min = bound_of(reader, value.as.items[0], ref);
    if (!check_bound(reader, min, false, ref)) return false;
    value = value.as.items[1];
  }
  extent = bound_of(reader, value, ref);
  if (!check_bound(reader, extent, !min, ref)) return false;
  if (tvms_dtype_is_void(dtype)) dtype = min ? min->dtype : extent->dtype;
  if (tvms_release_has(reader->dialect, TVMS_FACT_loops_convert_bounds)) {
    extent = bound_as(reader, extent, dtype);
    if (min) min = bound_as(reader, min, dtype);
  }
  frame->as.loop.vars[i] =
      tvms_var_new(reader->unit, TVMS_SYM_v, dtype, tvms_reader_span_of(reader, ref));
  frame->as.loop.extents[i] = extent;
  frame->as.loop.mins[i] =
      min ? min : tvms_int_imm_new(reader->unit, dtype, 0, TVMS_NO_SPAN);
  return true;
}

tvms_eval_value tvms_call_grid(tvms_reader *reader, const tvms_call_args *call) {
  tvms_eval_value extents = call->args[0];
  tvms_dtype dtype = {0};
  if (!explicit_dtype(reader, tvms_args_get(reader, call, TVMS_SYM_dtype), call->ref,
                      &dtype)) {
    return TVMS_UNKNOWN;
  }
  if (extents.len == 0) {
    tvms_eval_report_missing_argument(reader, call->ref, "T.grid", "extents");
    return tvms_reader_failed(reader);
  }
  tvms_frame *frame = loop_frame(reader, extents.len, TVMS_FOR_SERIAL, call->ref);
  bool sound = true;
  for (uint32_t i = 0; i < extents.len; i++) {
    sound = grid_dim(reader, frame, i, extents.as.items[i], dtype, call->ref) && sound;
  }
  return frame_or_unknown(reader, sound ? frame : NULL);
}

// ---- Branches -------------------------------------------------------------------------------

bool tvms_tir_check_while(tvms_reader *reader, const tvms_node *condition,
                          tvms_ref ref) {
  if (condition->dtype.lanes != 1) {
    char text[TVMS_DTYPE_TEXT];
    tvms_reader_report(reader, vector_condition, ref,
                       tvms_dtype_text(condition->dtype, text));
    return false;
  }
  bool trivial = condition->kind == TVMS_NODE_INT_IMM;
  if (!trivial
      || tvms_release_has(reader->dialect, TVMS_FACT_constant_whiles_are_allowed))
    return true;
  tvms_reader_report(reader, trivial_while, ref);
  return false;
}

static tvms_eval_value branch(tvms_reader *reader, const tvms_call_args *call,
                              tvms_frame_kind kind) {
  tvms_frame *frame = tvms_frame_new(reader, kind, call->ref);
  if (kind == TVMS_FRAME_IF || kind == TVMS_FRAME_WHILE) {
    frame->as.branch.condition =
        tvms_eval_to_expr(reader, call->args[0], call->refs[0]);
    if (!frame->as.branch.condition
        || (kind == TVMS_FRAME_WHILE
            && !tvms_tir_check_while(reader, frame->as.branch.condition, call->ref))) {
      return tvms_reader_failed(reader);
    }
  }
  return tvms_frame_value(frame);
}

tvms_eval_value tvms_call_While(tvms_reader *reader, const tvms_call_args *call) {
  return branch(reader, call, TVMS_FRAME_WHILE);
}

tvms_eval_value tvms_call_If(tvms_reader *reader, const tvms_call_args *call) {
  return branch(reader, call, TVMS_FRAME_IF);
}

tvms_eval_value tvms_call_Then(tvms_reader *reader, const tvms_call_args *call) {
  return branch(reader, call, TVMS_FRAME_THEN);
}

tvms_eval_value tvms_call_Else(tvms_reader *reader, const tvms_call_args *call) {
  return branch(reader, call, TVMS_FRAME_ELSE);
}
