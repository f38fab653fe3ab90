// Allocation up to 0.24: T.allocate, T.allocate_const, T.realize and their kind, which hold
// for what follows them.
#include "ir/fold.h"
#include "parser/eval/convert.h"
#include "parser/tir/access.h"
#include "parser/tir/convert.h"
#include "parser/tir/frame.h"
#include "parser/tir/handlers.h"
#include "parser/tir/simple.h"
#include "support/strbuf.h"

#include <math.h>

static tvms_sym scope_symbol(tvms_reader *reader, tvms_eval_value scope) {
  bool global = scope.kind != TVMS_EVAL_STR || scope.len == 0
                || (scope.len == 6 && memcmp(scope.as.text, "global", 6) == 0);
  return global ? 0 : tvms_symbol_intern(reader->context, scope.as.text, scope.len);
}

static tvms_node *buffer_pointer(tvms_reader *reader, tvms_dtype dtype, tvms_sym scope,
                                 tvms_ref ref) {
  return tvms_pointer_var_new(reader->unit, 0, dtype, scope,
                              tvms_reader_span_of(reader, ref));
}

tvms_eval_value tvms_call_allocate(tvms_reader *reader, const tvms_call_args *call) {
  tvms_unit *unit = reader->unit;
  tvms_allocate *stmt =
      tvms_node_make(unit, ALLOCATE, tvms_reader_span_of(reader, call->ref));
  tvms_eval_value condition = call->args[3];
  if (!tvms_eval_value_is_sequence(call->args[0])) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the extents", "a list",
                                call->args[0]);
    return TVMS_UNKNOWN;
  }
  bool no_scope = call->args[2].kind == TVMS_EVAL_NONE;
  if (!no_scope && call->args[2].kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, call->refs[2], "a scope", "a string",
                                call->args[2]);
    return TVMS_UNKNOWN;
  }
  if (!tvms_eval_to_exprs(reader, call->args[0], call->refs[0], &stmt->extents)
      || !tvms_eval_to_dtype(reader, call->args[1], call->refs[1], &stmt->element)
      || !tvms_eval_to_map(reader, call->args[4], call->refs[4], &stmt->annotations)) {
    return tvms_reader_failed(reader);
  }
  stmt->condition = condition.kind == TVMS_EVAL_NONE
                        ? tvms_bool_imm_new(unit, true, TVMS_NO_SPAN)
                        : tvms_eval_to_expr(reader, condition, call->refs[3]);
  if (!stmt->condition) return tvms_reader_failed(reader);
  if (!tvms_dtype_is_bool(stmt->condition->dtype)) {
    tvms_eval_report_wrong_type(reader, call->refs[3], "the condition", "a boolean",
                                condition);
    return TVMS_UNKNOWN;
  }
  // TVM keeps an empty scope, which is the global one.
  bool empty = !no_scope && call->args[2].len == 0;
  tvms_sym scope = empty ? tvms_symbol_intern(reader->context, "", 0)
                         : scope_symbol(reader, call->args[2]);
  stmt->var = buffer_pointer(reader, stmt->element, scope, call->ref);
  return tvms_frame_binder(reader, &stmt->head, tvms_eval_value_node(stmt->var),
                           call->ref);
}

// The bits of a float16, rounded to nearest even; subnormals included.
static uint16_t half_of(double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  double size = fabs(value);
  if (isnan(value)) return 0x7E00;
  if (size >= 65520) return sign | 0x7C00;
  int exponent;
  frexp(size, &exponent);
  if (size == 0 || exponent < -13)
    exponent = -13;  // below that the step stays the same
  double steps = nearbyint(ldexp(size, 11 - exponent));
  uint32_t bits = (uint32_t)steps + (uint32_t)((exponent + 13) * 1024);
  return (uint16_t)(sign | bits);
}

// Writes the constants of a nested list as elements of `dtype`, little-endian.
static bool put_data(tvms_reader *reader, tvms_eval_value value, tvms_dtype dtype,
                     tvms_ref ref, tvms_strbuf *out) {
  if (tvms_eval_value_is_sequence(value)) {
    for (uint32_t i = 0; i < value.len; i++) {
      if (!put_data(reader, value.as.items[i], dtype, ref, out)) return false;
    }
    return true;
  }
  if (value.kind == TVMS_EVAL_STR && tvms_dtype_is_real(dtype)) {
    value = tvms_eval_special_float(value);
  }
  double real = value.kind == TVMS_EVAL_FLOAT ? value.as.f : (double)value.as.i;
  bool number = value.kind == TVMS_EVAL_FLOAT || value.kind == TVMS_EVAL_INT
                || value.kind == TVMS_EVAL_BOOL;
  if (!number) {
    tvms_eval_report_wrong_type(reader, ref, "an element", "a number", value);
    return false;
  }
  if (dtype.code == TVMS_FLOAT && dtype.bits == 32) {
    float narrow = (float)real;
    tvms_strbuf_add(out, (const char *)&narrow, sizeof narrow);
  } else if (dtype.code == TVMS_FLOAT && dtype.bits == 64) {
    tvms_strbuf_add(out, (const char *)&real, sizeof real);
  } else if (!tvms_dtype_is_real(dtype)) {
    bool fits = fabs(real) < 0x1p63;
    int64_t whole = value.kind != TVMS_EVAL_FLOAT ? value.as.i
                    : fits                        ? (int64_t)real
                                                  : INT64_MIN;
    tvms_strbuf_add(out, (const char *)&whole, (dtype.bits + 7u) / 8u);
  } else if (dtype.code == TVMS_FLOAT && dtype.bits == 16) {
    uint16_t half = half_of(real);
    tvms_strbuf_add(out, (const char *)&half, sizeof half);
  } else {
    tvms_eval_report_wrong_type(reader, ref, "the dtype of a constant",
                                "an int or float type", tvms_eval_value_dtype(dtype));
    return false;
  }
  return true;
}

tvms_eval_value tvms_call_allocate_const(tvms_reader *reader,
                                         const tvms_call_args *call) {
  tvms_unit *unit = reader->unit;
  tvms_allocate_const *stmt =
      tvms_node_make(unit, ALLOCATE_CONST, tvms_reader_span_of(reader, call->ref));
  if (!tvms_eval_to_dtype(reader, call->args[1], call->refs[1], &stmt->element)
      || !tvms_eval_to_exprs(reader, call->args[2], call->refs[2], &stmt->extents)
      || !tvms_eval_to_map(reader, call->args[3], call->refs[3], &stmt->annotations)) {
    return tvms_reader_failed(reader);
  }
  tvms_strbuf data;
  tvms_strbuf_init(&data, &reader->context->memory);
  bool sound = put_data(reader, call->args[0], stmt->element, call->refs[0], &data);
  if (sound) stmt->data = tvms_bytes_copy(unit, data.text, data.len);
  tvms_strbuf_fini(&data);
  if (!sound) return tvms_reader_failed(reader);
  stmt->var = buffer_pointer(reader, stmt->element, 0, call->ref);
  return tvms_frame_binder(reader, &stmt->head, tvms_eval_value_node(stmt->var),
                           call->ref);
}

tvms_eval_value tvms_call_realize(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *region = tvms_tir_to_region(reader, call->args[0],
                                         "the argument of T.realize", call->refs[0]);
  tvms_node *condition =
      region ? tvms_eval_to_expr(reader, call->args[2], call->refs[2]) : NULL;
  if (!condition || call->args[1].kind != TVMS_EVAL_STR)
    return tvms_reader_failed(reader);
  const tvms_buffer_region *fields = tvms_as_buffer_region(region);
  tvms_span span = tvms_reader_span_of(reader, call->ref);
  tvms_buffer_realize *stmt = tvms_node_make(reader->unit, BUFFER_REALIZE, span);
  stmt->buffer = fields->buffer;
  stmt->bounds = fields->region;
  stmt->condition = condition;
  tvms_node *scope =
      tvms_string_imm_new(reader->unit, call->args[1].as.text, call->args[1].len, span);
  tvms_frame *frame = tvms_frame_new(reader, TVMS_FRAME_BINDERS, call->ref);
  frame->as.binder.stmt =
      tvms_tir_attr_new(reader, fields->buffer, "realize_scope", 13, scope, call->ref);
  frame->as.binder.more = tvms_arena_array(&reader->values, tvms_node *, 1);
  frame->as.binder.more[0] = &stmt->head;
  frame->as.binder.count = 1;
  frame->as.binder.scoped = true;
  return tvms_frame_value(frame);
}
