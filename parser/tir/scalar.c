// Variables, constants and casts: T.int32(…), T.bool, T.handle, T.Var, T.IntImm …
//
// The name of a data type is a constructor: of a number it makes a constant, of an
// expression a cast, and alone a variable without a name, which the assignment around it
// names. Constants must fit their type, as T.int8(300) does not.
#include "parser/tir/scalar.h"

#include "ir/fold.h"
#include "ir/fold_ops.h"
#include "parser/eval/convert.h"
#include "parser/eval/python.h"
#include "parser/tir/call.h"
#include "parser/tir/convert.h"
#include "parser/tir/handlers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- T.int32(…) -----------------------------------------------------------------------------

// T.float32("inf") and the like.
static bool number_of_text(tvms_eval_value text, double *value) {
  char buffer[32];
  if (text.len == 0 || text.len >= sizeof buffer) return false;
  memcpy(buffer, text.as.text, text.len);
  buffer[text.len] = '\0';
  char *end;
  *value = strtod(buffer, &end);
  return *end == '\0';
}

// A number past INT64_MAX. TVM takes none; what 0.27 prints of T.max_value("uint64") is read.
static tvms_node *TVMS_NULLABLE large_constant(tvms_reader *reader, tvms_dtype dtype,
                                               tvms_eval_value value, tvms_ref ref) {
  bool printed = tvms_release_has(reader->dialect, TVMS_FACT_large_numbers_are_literals)
                 && dtype.code == TVMS_UINT;
  if (!printed) {
    char text[TVMS_DTYPE_TEXT];
    tvms_reader_report(reader, constant_too_large, ref, (unsigned long long)value.as.i,
                       tvms_dtype_text(dtype, text));
    return NULL;
  }
  return tvms_build_uint(reader->unit, dtype, (uint64_t)value.as.i,
                         tvms_reader_span_of(reader, ref));
}

static tvms_node *constant_of(tvms_reader *reader, tvms_dtype dtype,
                              tvms_eval_value value, tvms_ref ref) {
  tvms_unit *unit = reader->unit;
  tvms_span span = tvms_reader_span_of(reader, ref);
  if (value.kind == TVMS_EVAL_FLOAT) {
    tvms_node *real = tvms_float_imm_new(unit, TVMS_DTYPE(FLOAT, 32), value.as.f, span);
    if (tvms_dtype_is_real(dtype)) {
      return tvms_build_float(unit, dtype, value.as.f, span);
    }
    return tvms_build_cast(unit, dtype, real, span);
  }
  if (value.flags & TVMS_EVAL_LARGE) {
    return large_constant(reader, dtype, value, ref);
  }
  bool integral = dtype.code == TVMS_INT || dtype.code == TVMS_UINT;
  if (integral && value.kind == TVMS_EVAL_INT) {
    return tvms_build_int(unit, dtype, value.as.i, span);
  }
  if (tvms_dtype_is_real(dtype)) {
    return tvms_build_float(unit, dtype, (double)value.as.i, span);
  }
  return tvms_build_cast(unit, dtype, tvms_eval_to_expr(reader, value, ref), span);
}

tvms_eval_value tvms_tir_dtype_call(tvms_reader *reader, tvms_dtype dtype,
                                    tvms_eval_value value, bool size_var,
                                    tvms_ref ref) {
  tvms_span span = tvms_reader_span_of(reader, ref);
  switch (value.kind) {
  case TVMS_EVAL_UNKNOWN:
    tvms_eval_assume_wanted(reader, value, TVMS_WANTED_NUMBER);
    reader->failed = true;
    return value;
  case TVMS_EVAL_NONE: {
    tvms_node *var = tvms_var_new(reader->unit, 0, dtype, span);
    if (size_var) var->flags |= TVMS_FLAG_SIZE_VAR;
    return tvms_eval_value_node(var);
  }
  case TVMS_EVAL_STR: {
    double number;
    if (number_of_text(value, &number)) {
      return tvms_eval_value_node(tvms_build_float(reader->unit, dtype, number, span));
    }
    tvms_eval_report_wrong_type(reader, ref, NULL,
                                "a number or \"inf\", \"-inf\", \"nan\"", value);
    return TVMS_UNKNOWN;
  }
  case TVMS_EVAL_INT:
  case TVMS_EVAL_BOOL:
  case TVMS_EVAL_FLOAT:
    return tvms_eval_value_node(constant_of(reader, dtype, value, ref));
  default: break;
  }
  tvms_node *node = tvms_eval_to_expr(reader, value, ref);
  if (!node) {
    return tvms_reader_failed(reader);
  }
  return tvms_eval_value_node(tvms_build_cast(reader->unit, dtype, node, span));
}

static bool wants_size_var(tvms_reader *reader, const tvms_call_args *call) {
  tvms_eval_value flag = tvms_args_get(reader, call, TVMS_SYM_is_size_var);
  return flag.kind == TVMS_EVAL_BOOL && flag.as.i;
}

tvms_eval_value tvms_call_bool(tvms_reader *reader, const tvms_call_args *call) {
  return tvms_tir_dtype_call(reader, TVMS_DTYPE(BOOL, 1), call->args[0],
                             wants_size_var(reader, call), call->ref);
}

tvms_eval_value tvms_call_void(tvms_reader *reader, const tvms_call_args *call) {
  if (call->args[0].kind == TVMS_EVAL_NONE) {
    return tvms_eval_value_node(tvms_var_new(reader->unit, 0, (tvms_dtype){0},
                                             tvms_reader_span_of(reader, call->ref)));
  }
  return tvms_tir_dtype_call(reader, (tvms_dtype){0}, call->args[0], false, call->ref);
}

// ---- Pointers -------------------------------------------------------------------------------

static tvms_node *tensor_map(tvms_reader *reader, tvms_ref ref) {
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_node *var = tvms_pointer_var_new(reader->unit, 0, (tvms_dtype){0}, 0, span);
  tvms_sinfo_tensor_map *type = tvms_node_make(reader->unit, SINFO_TENSOR_MAP, span);
  var->sinfo = &type->head;
  return var;
}

tvms_eval_value tvms_call_TensorMap(tvms_reader *reader, const tvms_call_args *call) {
  return tvms_eval_value_node(tensor_map(reader, call->ref));
}

static bool names_tensor_map(tvms_eval_value value) {
  return tvms_eval_value_is_exactly(value, "tensormap")
         || tvms_eval_value_is_exactly(value, "TensorMap")
         || tvms_eval_value_is_exactly(value, "CUtensorMap")
         || tvms_eval_value_is_exactly(value, "cuTensorMap");
}

// What a pointer points to. T.Ptr(T.float32), T.Ptr(T.void): if `named`, the name of the type
// is enough.
static bool read_pointee(tvms_reader *reader, const tvms_call_args *call, bool named,
                         tvms_dtype *element) {
  tvms_eval_value value = call->args[0];
  if (!named) return tvms_eval_to_dtype(reader, value, call->refs[0], element);
  if (value.kind == TVMS_EVAL_CALLABLE && value.as.row->name == TVMS_SYM_void) {
    *element = (tvms_dtype){0};
    return true;
  }
  return tvms_eval_to_named_dtype(reader, value, call->refs[0], element);
}

static tvms_eval_value pointer(tvms_reader *reader, const tvms_call_args *call,
                               bool named) {
  tvms_eval_value scope_value = tvms_args_get(reader, call, TVMS_SYM_storage_scope);
  tvms_dtype element = {0};
  tvms_sym scope = 0;
  bool typed = call->args[0].kind != TVMS_EVAL_NONE;
  if (typed && !read_pointee(reader, call, named, &element)) return TVMS_UNKNOWN;
  if (tvms_dtype_is_handle(element)
      && !tvms_release_has(reader->dialect, TVMS_FACT_buffers_hold_pointers)) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the element type of a pointer",
                                "a scalar or \"void\"", call->args[0]);
    return TVMS_UNKNOWN;
  }
  if (scope_value.kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader,
                                tvms_args_ref(reader, call, TVMS_SYM_storage_scope),
                                "the scope of a pointer", "a string", scope_value);
    return TVMS_UNKNOWN;
  }
  if (!tvms_eval_value_is_exactly(scope_value, "global")) {
    scope = tvms_symbol_intern(reader->context, scope_value.as.text, scope_value.len);
  }
  tvms_span span = tvms_reader_span_of(reader, call->ref);
  tvms_node *var = tvms_pointer_var_new(reader->unit, 0, element, scope, span);
  // A pointer to void is written T.handle("void"), an opaque handle T.handle.
  if (!var->sinfo && (scope || (typed && tvms_dtype_is_void(element)))) {
    var->sinfo = tvms_tir_pointer_type(reader, element, scope);
  }
  if (wants_size_var(reader, call)) var->flags |= TVMS_FLAG_SIZE_VAR;
  return tvms_eval_value_node(var);
}

tvms_eval_value tvms_call_handle(tvms_reader *reader, const tvms_call_args *call) {
  if (names_tensor_map(call->args[0])) {
    return tvms_eval_value_node(tensor_map(reader, call->ref));
  }
  return pointer(reader, call, false);
}

tvms_eval_value tvms_call_ptr(tvms_reader *reader, const tvms_call_args *call) {
  return pointer(reader, call, false);
}

tvms_eval_value tvms_call_Ptr(tvms_reader *reader, const tvms_call_args *call) {
  return pointer(reader, call, true);
}

// ---- Variables and immediates ---------------------------------------------------------------

// The one of `name` and `name_hint` that is given, in T.Var.
static tvms_eval_value var_name(tvms_reader *reader, const tvms_call_args *call) {
  tvms_eval_value hint = tvms_args_get(reader, call, TVMS_SYM_name_hint);
  if (call->args[0].kind == TVMS_EVAL_NONE) return hint;
  return hint.kind == TVMS_EVAL_NONE ? call->args[0] : TVMS_NOTHING;
}

// T.Var("n", "int32"): the type may also be a type object.
tvms_eval_value tvms_call_Var(tvms_reader *reader, const tvms_call_args *call) {
  tvms_span span = tvms_reader_span_of(reader, call->ref);
  tvms_eval_value name = var_name(reader, call), type = call->args[1];
  if (name.kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the name of a variable",
                                "a string", name);
    return TVMS_UNKNOWN;
  }
  tvms_sym sym = tvms_symbol_intern(reader->context, name.as.text, name.len);
  tvms_node *sinfo = tvms_eval_value_node_of(type, TVMS_NODE_SINFO_POINTER);
  if (sinfo) {
    tvms_node *var = tvms_var_new(reader->unit, sym, TVMS_DTYPE(HANDLE, 64), span);
    var->sinfo = sinfo;
    return tvms_eval_value_node(var);
  }
  tvms_dtype dtype;
  if (!tvms_eval_to_dtype(reader, type, call->refs[1], &dtype)) return TVMS_UNKNOWN;
  tvms_node *var =
      tvms_dtype_is_handle(dtype)
          ? tvms_pointer_var_new(reader->unit, sym, (tvms_dtype){0}, 0, span)
          : tvms_var_new(reader->unit, sym, dtype, span);
  if (call->row->name == TVMS_SYM_SizeVar) var->flags |= TVMS_FLAG_SIZE_VAR;
  return tvms_eval_value_node(var);
}

tvms_eval_value tvms_call_var(tvms_reader *reader, const tvms_call_args *call) {
  tvms_dtype dtype;
  if (!tvms_eval_to_dtype(reader, call->args[0], call->refs[0], &dtype))
    return TVMS_UNKNOWN;
  tvms_eval_value name = call->args[1];
  tvms_sym sym = name.kind == TVMS_EVAL_STR && name.len
                     ? tvms_symbol_intern(reader->context, name.as.text, name.len)
                     : 0;
  tvms_span span = tvms_reader_span_of(reader, call->ref);
  if (tvms_dtype_is_handle(dtype)) {
    return tvms_eval_value_node(
        tvms_pointer_var_new(reader->unit, sym, (tvms_dtype){0}, 0, span));
  }
  return tvms_eval_value_node(tvms_var_new(reader->unit, sym, dtype, span));
}

tvms_eval_value tvms_call_IntImm(tvms_reader *reader, const tvms_call_args *call) {
  tvms_dtype dtype;
  tvms_eval_value value = call->args[1];
  if (!tvms_eval_to_dtype(reader, call->args[0], call->refs[0], &dtype))
    return TVMS_UNKNOWN;
  bool integral =
      dtype.code == TVMS_INT || dtype.code == TVMS_UINT || tvms_dtype_is_bool(dtype);
  if (!integral || dtype.lanes != 1) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the dtype",
                                "a scalar integer dtype", call->args[0]);
    return TVMS_UNKNOWN;
  }
  if (value.flags & TVMS_EVAL_LARGE) {
    return tvms_eval_value_node(large_constant(reader, dtype, value, call->ref));
  }
  int64_t number;
  if (!tvms_eval_to_int(reader, value, call->refs[1], &number)) return TVMS_UNKNOWN;
  return tvms_eval_value_node(tvms_build_int(reader->unit, dtype, number,
                                             tvms_reader_span_of(reader, call->ref)));
}

tvms_eval_value tvms_call_FloatImm(tvms_reader *reader, const tvms_call_args *call) {
  tvms_dtype dtype;
  tvms_eval_value value = call->args[1];
  if (!tvms_eval_to_dtype(reader, call->args[0], call->refs[0], &dtype))
    return TVMS_UNKNOWN;
  if (!tvms_dtype_is_real(dtype) || dtype.lanes != 1) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the dtype",
                                "a scalar float dtype", call->args[0]);
    return TVMS_UNKNOWN;
  }
  double number = value.kind == TVMS_EVAL_FLOAT ? value.as.f : (double)value.as.i;
  bool sound = value.kind == TVMS_EVAL_FLOAT || value.kind == TVMS_EVAL_INT
               || value.kind == TVMS_EVAL_BOOL;
  if (!sound) {
    tvms_eval_report_wrong_type(reader, call->refs[1], NULL, "a number", value);
    return TVMS_UNKNOWN;
  }
  return tvms_eval_value_node(tvms_build_float(reader->unit, dtype, number,
                                               tvms_reader_span_of(reader, call->ref)));
}

tvms_eval_value tvms_call_StringImm(tvms_reader *reader, const tvms_call_args *call) {
  tvms_eval_value text = call->args[0];
  if (text.kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, call->refs[0], NULL, "a string", text);
    return TVMS_UNKNOWN;
  }
  return tvms_eval_value_node(tvms_string_imm_new(
      reader->unit, text.as.text, text.len, tvms_reader_span_of(reader, call->ref)));
}

tvms_eval_value tvms_call_limit_value(tvms_reader *reader, const tvms_call_args *call) {
  tvms_dtype dtype;
  if (call->args[0].kind == TVMS_EVAL_NODE) {
    tvms_eval_report_wrong_type(reader, call->refs[0],
                                "the argument of T.min_value or T.max_value", "a dtype",
                                call->args[0]);
    return TVMS_UNKNOWN;
  }
  if (!tvms_eval_to_dtype(reader, call->args[0], call->refs[0], &dtype))
    return TVMS_UNKNOWN;
  tvms_span span = tvms_reader_span_of(reader, call->ref);
  switch (call->row->name) {
  case TVMS_SYM_min_value:
    return tvms_eval_value_node(tvms_build_min_value(reader->unit, dtype, span));
  case TVMS_SYM_max_value:
    return tvms_eval_value_node(tvms_build_max_value(reader->unit, dtype, span));
  default: return tvms_eval_value_node(tvms_build_infinity(reader->unit, dtype, span));
  }
}

// ---- Annotations and evaluation-time values -------------------------------------------------

tvms_eval_value tvms_call_meta_var(tvms_reader *reader, const tvms_call_args *call) {
  tvms_eval_value *item = tvms_eval_keep_items(reader, call->args, 1);
  return tvms_eval_value_items(TVMS_EVAL_META, item, 1);
}

tvms_eval_value tvms_call_let_value(tvms_reader *reader, const tvms_call_args *call) {
  (void)reader;
  (void)call;
  return tvms_eval_value_items(TVMS_EVAL_LET, NULL, 0);
}

tvms_eval_value tvms_call_Optional(tvms_reader *reader, const tvms_call_args *call) {
  return tvms_eval_value_items(TVMS_EVAL_OPTIONAL,
                               tvms_eval_keep_items(reader, call->args, 1), 1);
}

// The value of a constexpr parameter comes from .specialize(), which only Python calls.
tvms_eval_value tvms_call_constexpr(tvms_reader *reader, const tvms_call_args *call) {
  if (!reader->lenient) tvms_reader_report(reader, needs_specialize, call->ref);
  return tvms_reader_failed(reader);
}

tvms_eval_value tvms_call_static_assert(tvms_reader *reader,
                                        const tvms_call_args *call) {
  bool known;
  bool truth = tvms_eval_value_truth(reader, call->args[0], &known);
  if (!known) {
    tvms_eval_report_wrong_type(reader, call->refs[0],
                                "the condition of T.static_assert", "a constant",
                                call->args[0]);
    return TVMS_UNKNOWN;
  }
  if (truth) return TVMS_NOTHING;
  tvms_eval_value message = call->args[1];
  bool text = message.kind == TVMS_EVAL_STR && message.len;
  tvms_reader_report(reader, static_assert_failed, call->ref, text ? ": " : "",
                     text ? (int)message.len : 0, text ? message.as.text : "");
  return tvms_reader_failed(reader);
}
