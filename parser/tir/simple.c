// Statements that hold for what follows them: attributes and lets; what is said of the
// function; and the small ones that stand alone.
#include "parser/tir/simple.h"

#include "ir/build.h"
#include "ir/object.h"
#include "ir/omitted.h"
#include "parser/eval/convert.h"
#include "parser/eval/reader.h"
#include "parser/eval/repr.h"
#include "parser/tir/access.h"
#include "parser/tir/convert.h"
#include "parser/tir/define.h"
#include "parser/tir/frame.h"
#include "parser/tir/handlers.h"
#include "parser/tir/let.h"
#include "parser/tir/signature.h"
#include "parser/tir/stmt.h"

#include <string.h>

bool tvms_tir_inside_function(tvms_reader *reader, const tvms_call_args *call) {
  if (tvms_tir_of(reader)) return true;
  tvms_reader_report(reader, outside_function, call->ref,
                     tvms_row_text(reader, call->row));
  reader->failed = true;
  return false;
}

// ---- Function level -------------------------------------------------------------------------

static bool merge_attrs(tvms_reader *reader, const tvms_node *map, tvms_ref ref) {
  const tvms_object_map *fields = tvms_as_object_map(map);
  tvms_tir_state *tir = tvms_tir_of(reader);
  for (uint32_t i = 0; i < fields->keys.len; i++) {
    const char *key = tvms_object_as_text(fields->keys.items[i]);
    if (!key) continue;
    if (strcmp(key, "global_symbol") == 0 && tir->is_private) {
      tvms_reader_report(reader, private_symbol, ref);
      return false;
    }
    if (tvms_object_map_get(tir->attrs, key)) {
      tvms_reader_report(reader, repeated_attribute, ref, key);
      return false;
    }
  }
  tir->attrs = tvms_object_map_join(reader->unit, tir->attrs, map);
  return true;
}

tvms_eval_value tvms_call_func_attr(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *map;
  if (!tvms_tir_inside_function(reader, call)
      || !tvms_frame_top(reader, TVMS_FRAME_FUNC, "T.func_attr", call->ref)
      || !tvms_eval_to_map(reader, call->args[0], call->refs[0], &map)
      || (map && !merge_attrs(reader, map, call->ref))) {
    return tvms_reader_failed(reader);
  }
  return TVMS_NOTHING;
}

tvms_eval_value tvms_call_builder_only(tvms_reader *reader,
                                       const tvms_call_args *call) {
  if (!reader->lenient)
    tvms_reader_report(reader, builder_only, call->ref,
                       tvms_row_text(reader, call->row));
  return tvms_reader_of_python(reader, tvms_reader_callee(reader, call->ref));
}

// ---- Evaluate, return, jumps ----------------------------------------------------------------

tvms_eval_value tvms_call_evaluate(tvms_reader *reader, const tvms_call_args *call) {
  tvms_eval_value value = call->args[0];
  tvms_node *node = tvms_eval_to_expr(reader, value, call->refs[0]);
  if (!tvms_tir_inside_function(reader, call)) return TVMS_UNKNOWN;
  if (!node) return tvms_reader_failed(reader);
  tvms_frame_emit(reader, tvms_evaluate_new(reader->unit, node,
                                            tvms_reader_span_of(reader, call->ref)));
  return TVMS_NOTHING;
}

tvms_eval_value tvms_call_ret(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *value = tvms_eval_to_expr(reader, call->args[0], call->refs[0]);
  if (!value) return tvms_reader_failed(reader);
  return tvms_eval_value_node(tvms_call_new_of(reader->unit, value->dtype, TVMS_TIR_ret,
                                               &value, 1,
                                               tvms_reader_span_of(reader, call->ref)));
}

tvms_eval_value tvms_call_Return(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *value = tvms_tir_to_returned(reader, call->args[0], call->refs[0]);
  if (!value || !tvms_tir_inside_function(reader, call))
    return tvms_reader_failed(reader);
  tvms_tir_emit_return(reader, value, call->ref);
  return TVMS_NOTHING;
}

tvms_eval_value tvms_call_buffer_store(tvms_reader *reader,
                                       const tvms_call_args *call) {
  tvms_node *buffer = tvms_eval_value_node_of(call->args[0], TVMS_NODE_BUFFER);
  if (!tvms_tir_inside_function(reader, call)) return TVMS_UNKNOWN;
  if (!buffer) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the target of a store",
                                "a buffer", call->args[0]);
    return tvms_reader_failed(reader);
  }
  tvms_eval_value predicate = tvms_args_get(reader, call, TVMS_SYM_predicate);
  tvms_node *guard = NULL;
  if (predicate.kind != TVMS_EVAL_NONE) {
    guard = tvms_eval_to_expr(reader, predicate, call->ref);
    if (!guard) return tvms_reader_failed(reader);
  }
  tvms_tir_store_into(reader, buffer, call->args[2], call->args[1], guard, call->ref);
  return TVMS_NOTHING;
}

// ---- Assertions -----------------------------------------------------------------------------

static bool read_parts(tvms_reader *reader, tvms_eval_value message, tvms_ref ref,
                       tvms_list *parts) {
  tvms_eval_items items = tvms_eval_items_of(&message);
  parts->items = tvms_arena_array(&reader->unit->arena, tvms_node *, items.len);
  parts->len = items.len;
  for (uint32_t i = 0; i < items.len; i++) {
    uint32_t len;
    tvms_eval_value item = items.items[i];
    tvms_span span = tvms_reader_span_of(reader, ref);
    const tvms_node *given = tvms_eval_value_node_of(item, TVMS_NODE_STRING_IMM);
    if (given) {
      // TVM makes each part anew: parts never share an entry of the metadata.
      tvms_bytes bytes = tvms_as_string_imm(given)->value;
      parts->items[i] = tvms_string_imm_new(reader->unit, bytes.text, bytes.len, span);
      tvms_as_string_imm(parts->items[i])->omitted = tvms_node_omitted(given);
      continue;
    }
    // The parts of a list are written as Python writes them.
    bool text_only =
        tvms_release_has(reader->dialect, TVMS_FACT_assert_messages_are_texts)
        && !tvms_eval_value_is_sequence(message);
    if (text_only && item.kind != TVMS_EVAL_STR) {
      tvms_eval_report_wrong_type(reader, ref, "the message", "a string", item);
      return false;
    }
    const char *text = tvms_eval_str(reader, item, ref, &len);
    if (!text) return false;
    parts->items[i] = tvms_string_imm_new(reader->unit, text, len, span);
  }
  return true;
}

// `("ValueError", ["part", …])`.
static bool split_message(tvms_reader *reader, tvms_eval_value *message,
                          tvms_eval_value *kind, tvms_ref ref) {
  if (message->kind != TVMS_EVAL_TUPLE) return true;
  bool sound = message->len == 2 && message->as.items[0].kind == TVMS_EVAL_STR;
  if (!sound) {
    tvms_reader_report(reader, bad_assert_message, ref);
    return false;
  }
  *kind = message->as.items[0];
  *message = message->as.items[1];
  return true;
}

tvms_eval_value tvms_tir_assert_frame(tvms_reader *reader, tvms_eval_value condition,
                                      tvms_eval_value message, tvms_eval_value kind,
                                      tvms_ref ref) {
  tvms_unit *unit = reader->unit;
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_node *test = tvms_eval_to_expr(reader, condition, ref);
  if (!test || !tvms_eval_value_is_known(message)) return tvms_reader_failed(reader);
  if (!tvms_dtype_is_bool(test->dtype)) {
    tvms_eval_report_wrong_type(reader, ref, "the asserted condition", "a boolean",
                                condition);
    return TVMS_UNKNOWN;
  }
  if (tvms_release_has(reader->dialect, TVMS_FACT_asserts_have_kinds)
      && !split_message(reader, &message, &kind, ref)) {
    return tvms_reader_failed(reader);
  }
  bool text = message.kind == TVMS_EVAL_STR
              || tvms_eval_value_node_of(message, TVMS_NODE_STRING_IMM);
  if (!text && !tvms_release_has(reader->dialect, TVMS_FACT_asserts_have_kinds)) {
    tvms_eval_report_wrong_type(reader, ref, "the message", "a string", message);
    return TVMS_UNKNOWN;
  }
  tvms_assert *stmt = tvms_node_make(unit, ASSERT, span);
  stmt->condition = test;
  stmt->error_kind = kind.kind == TVMS_EVAL_STR
                         ? tvms_bytes_copy(unit, kind.as.text, kind.len)
                         : tvms_bytes_copy(unit, "RuntimeError", 12);
  if (!read_parts(reader, message, ref, &stmt->message))
    return tvms_reader_failed(reader);
  return tvms_frame_binder(reader, &stmt->head, TVMS_NOTHING, ref);
}

tvms_eval_value tvms_call_Assert(tvms_reader *reader, const tvms_call_args *call) {
  return tvms_tir_assert_frame(reader, call->args[0], call->args[1],
                               tvms_args_get(reader, call, TVMS_SYM_error_kind),
                               call->ref);
}

// ---- Lets -----------------------------------------------------------------------------------

// The variable of a let: given, of a given type, or of the type of the value.
static tvms_node *let_var(tvms_reader *reader, tvms_eval_value var,
                          tvms_eval_value type, const tvms_node *value, tvms_ref ref) {
  tvms_node *given = tvms_eval_value_node_of(var, TVMS_NODE_VAR);
  if (given) return given;
  if (type.kind != TVMS_EVAL_NONE) {
    tvms_eval_value made = tvms_tir_call_annotation(reader, type, ref);
    tvms_node *node = tvms_eval_value_node_of(made, TVMS_NODE_VAR);
    if (node) return node;
    tvms_eval_report_wrong_type(reader, ref, "the type of a variable", "a data type",
                                type);
    return NULL;
  }
  tvms_node *fresh = tvms_var_new(reader->unit, TVMS_SYM_v, value->dtype,
                                  tvms_reader_span_of(reader, ref));
  if (tvms_release_has(reader->dialect, TVMS_FACT_lets_keep_types))
    fresh->sinfo = value->sinfo;
  return fresh;
}

static tvms_eval_value let_frame(tvms_reader *reader, const tvms_call_args *call,
                                 tvms_node *var, tvms_node *value) {
  if (!tvms_tir_check_let(reader, var, value, call->ref)) return TVMS_UNKNOWN;
  tvms_struct_BIND *bind =
      tvms_node_make(reader->unit, BIND, tvms_reader_span_of(reader, call->ref));
  bind->var = var;
  bind->value = value;
  return tvms_frame_binder(reader, &bind->head, tvms_eval_value_node(var), call->ref);
}

tvms_eval_value tvms_call_LetStmt(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *value = tvms_eval_to_expr(reader, call->args[0], call->refs[0]);
  if (!value) return tvms_reader_failed(reader);
  tvms_node *var = let_var(reader, tvms_args_get(reader, call, TVMS_SYM_var),
                           call->args[1], value, call->ref);
  return var ? let_frame(reader, call, var, value) : TVMS_UNKNOWN;
}

// T.bind: the statement is emitted at once and the variable is the value.
tvms_eval_value tvms_call_bind(tvms_reader *reader, const tvms_call_args *call) {
  if (!tvms_tir_inside_function(reader, call)) return TVMS_UNKNOWN;
  tvms_node *value = tvms_eval_to_expr(reader, call->args[0], call->refs[0]);
  if (!value) return tvms_reader_failed(reader);
  tvms_node *var = let_var(reader, tvms_args_get(reader, call, TVMS_SYM_var),
                           call->args[1], value, call->ref);
  if (!var) return TVMS_UNKNOWN;
  tvms_tir_enter_let(reader, var, value, call->ref);
  return tvms_eval_value_node(var);
}

static tvms_eval_value let_expression(tvms_reader *reader, tvms_node *var,
                                      tvms_eval_value value, tvms_eval_value body,
                                      const tvms_call_args *call) {
  tvms_node *bound = tvms_eval_to_expr(reader, value, call->ref);
  tvms_node *inside = bound ? tvms_eval_to_expr(reader, body, call->ref) : NULL;
  if (!inside || !tvms_tir_check_let(reader, var, bound, call->ref))
    return tvms_reader_failed(reader);
  return tvms_eval_value_node(tvms_let_new(reader->unit, var, bound, inside,
                                           tvms_reader_span_of(reader, call->ref)));
}

// T.let(v, value, body) up to 0.24; without a body it is a statement.
tvms_eval_value tvms_call_let(tvms_reader *reader, const tvms_call_args *call) {
  tvms_node *var = tvms_eval_value_node_of(call->args[0], TVMS_NODE_VAR);
  if (!var) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the variable of T.let",
                                "a variable", call->args[0]);
    return TVMS_UNKNOWN;
  }
  if (call->args[2].kind != TVMS_EVAL_NONE) {
    return let_expression(reader, var, call->args[1], call->args[2], call);
  }
  tvms_node *value = tvms_eval_to_expr(reader, call->args[1], call->refs[1]);
  return value ? let_frame(reader, call, var, value) : tvms_reader_failed(reader);
}

tvms_eval_value tvms_call_Let(tvms_reader *reader, const tvms_call_args *call) {
  tvms_eval_value where = call->args[1];
  bool one = where.kind == TVMS_EVAL_DICT && where.len == 2;
  tvms_node *var =
      one ? tvms_eval_value_node_of(where.as.items[0], TVMS_NODE_VAR) : NULL;
  if (!var) {
    tvms_eval_report_wrong_type(reader, call->refs[1], "'where'",
                                "a dict with one variable and its value", where);
    return TVMS_UNKNOWN;
  }
  return let_expression(reader, var, where.as.items[1], call->args[0], call);
}

// ---- Attributes -----------------------------------------------------------------------------

tvms_node *tvms_tir_attr_new(tvms_reader *reader, tvms_node *node, const char *key,
                             uint32_t key_len, tvms_node *value, tvms_ref ref) {
  tvms_attr_stmt *stmt =
      tvms_node_make(reader->unit, ATTR_STMT, tvms_reader_span_of(reader, ref));
  stmt->node = node;
  stmt->key = tvms_bytes_copy(reader->unit, key, key_len);
  stmt->value = value;
  return &stmt->head;
}

// What an attribute stands at: up to 0.24 numbers become values of TIR.
static tvms_node *attr_node(tvms_reader *reader, tvms_eval_value value, tvms_ref ref) {
  bool scalar = value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_FLOAT
                || value.kind == TVMS_EVAL_BOOL;
  if (value.kind == TVMS_EVAL_NONE
      && tvms_release_has(reader->dialect, TVMS_FACT_attrs_stand_at_objects)) {
    tvms_eval_report_wrong_type(reader, ref, "the node of T.attr", "an object", value);
    return NULL;
  }
  bool typed =
      scalar && !tvms_release_has(reader->dialect, TVMS_FACT_attrs_stand_at_objects);
  return typed ? tvms_eval_to_expr(reader, value, ref)
               : tvms_eval_to_object(reader, value, ref);
}

// The number 0 as TVM keeps it here: a plain number from 0.25 on.
static tvms_node *zero_node(tvms_reader *reader) {
  return tvms_object_int_new(reader->unit, 0, TVMS_NO_SPAN);
}

// The value of an attribute: a release takes no pointer there.
static tvms_node *attr_value(tvms_reader *reader, tvms_eval_value given, tvms_ref ref) {
  // From 0.27 on a buffer is a variable, too.
  tvms_node *buffer = tvms_eval_value_node_of(given, TVMS_NODE_BUFFER);
  if (buffer && tvms_release_has(reader->dialect, TVMS_FACT_attrs_take_buffers))
    return buffer;
  tvms_node *value = tvms_eval_to_expr(reader, given, ref);
  bool pointer = value && tvms_dtype_is_handle(value->dtype)
                 && value->kind != TVMS_NODE_STRING_IMM;
  if (!pointer || !tvms_release_has(reader->dialect, TVMS_FACT_attrs_refuse_pointers))
    return value;
  tvms_eval_report_wrong_type(reader, ref, "the value of an attribute",
                              "a number or a string", tvms_eval_value_node(value));
  return NULL;
}

// T.attr({"key": value, …}): one statement a key, at the number 0.
static tvms_eval_value attr_dict(tvms_reader *reader, tvms_eval_value dict,
                                 tvms_ref ref) {
  uint32_t count = dict.len / 2;
  if (!count) return TVMS_NOTHING;
  tvms_node **stmts = tvms_arena_array(&reader->values, tvms_node *, count);
  for (uint32_t i = 0; i < count; i++) {
    tvms_eval_value key = dict.as.items[2 * i];
    tvms_node *value = attr_value(reader, dict.as.items[2 * i + 1], ref);
    if (!value) return tvms_reader_failed(reader);
    if (key.kind != TVMS_EVAL_STR) {
      tvms_eval_report_wrong_type(reader, ref, "a key", "a string", key);
      return TVMS_UNKNOWN;
    }
    stmts[i] =
        tvms_tir_attr_new(reader, zero_node(reader), key.as.text, key.len, value, ref);
  }
  tvms_frame *frame = tvms_frame_new(reader, TVMS_FRAME_BINDERS, ref);
  frame->as.binder.stmt = stmts[0];
  frame->as.binder.more = stmts + 1;
  frame->as.binder.count = count - 1;
  frame->as.binder.scoped = true;
  return tvms_frame_value(frame);
}

tvms_eval_value tvms_call_attr(tvms_reader *reader, const tvms_call_args *call) {
  tvms_eval_value key = call->args[1];
  bool dict = call->args[0].kind == TVMS_EVAL_DICT;
  if (dict
      && (key.kind == TVMS_EVAL_NONE
          || tvms_release_has(reader->dialect, TVMS_FACT_attrs_take_dicts))) {
    return attr_dict(reader, call->args[0], call->refs[0]);
  }
  if (key.kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, call->refs[1], "the key of T.attr", "a string",
                                key);
    return TVMS_UNKNOWN;
  }
  tvms_node *node = attr_node(reader, call->args[0], call->refs[0]);
  tvms_node *value = node ? attr_value(reader, call->args[2], call->refs[2]) : NULL;
  if (!value) return tvms_reader_failed(reader);
  if (key.len > 7 && memcmp(key.as.text, "pragma_", 7) == 0)
    tvms_tir_name_in_pragma(reader, node);
  tvms_node *stmt =
      tvms_tir_attr_new(reader, node, key.as.text, key.len, value, call->ref);
  return tvms_frame_binder(reader, stmt, TVMS_NOTHING, call->ref);
}

tvms_eval_value tvms_call_hint(tvms_reader *reader, const tvms_call_args *call) {
  tvms_eval_value message = call->args[0], attrs = call->args[1];
  uint32_t count = attrs.len / 2, len = 0;
  if (message.kind != TVMS_EVAL_STR) {
    tvms_eval_report_wrong_type(reader, call->refs[0], "the message", "a string",
                                message);
    return tvms_reader_failed(reader);
  }
  // In the order of the program, in which they are printed.
  tvms_object_map *keys =
      tvms_node_make(reader->unit, OBJECT_MAP, tvms_reader_span_of(reader, call->ref));
  keys->keys.items = tvms_arena_array(&reader->unit->arena, tvms_node *, count + 1);
  keys->values.items = tvms_arena_array(&reader->unit->arena, tvms_node *, count + 1);
  if (message.len) {
    keys->keys.items[len] =
        tvms_object_str_new(reader->unit, "message", 7, TVMS_NO_SPAN);
    keys->values.items[len++] =
        tvms_object_str_new(reader->unit, message.as.text, message.len,
                            tvms_reader_span_of(reader, call->refs[0]));
  }
  for (uint32_t i = 0; i < count; i++, len++) {
    keys->keys.items[len] =
        tvms_eval_to_object(reader, attrs.as.items[2 * i], call->ref);
    keys->values.items[len] =
        tvms_eval_to_object(reader, attrs.as.items[2 * i + 1], call->ref);
    if (!keys->keys.items[len] || !keys->values.items[len])
      return tvms_reader_failed(reader);
  }
  keys->keys.len = keys->values.len = len;
  tvms_node *map = &keys->head;
  tvms_node *one = tvms_int_imm_new(reader->unit, TVMS_DTYPE(INT, 32), 1, TVMS_NO_SPAN);
  tvms_node *stmt = tvms_tir_attr_new(reader, map, "tirx_hint", 9, one, call->ref);
  return tvms_frame_binder(reader, stmt, TVMS_NOTHING, call->ref);
}

tvms_eval_value tvms_call_device_entry(tvms_reader *reader,
                                       const tvms_call_args *call) {
  if (!tvms_tir_inside_function(reader, call)) return TVMS_UNKNOWN;
  tvms_node *yes = tvms_bool_imm_new(reader->unit, true, TVMS_NO_SPAN);
  tvms_node *stmt = tvms_tir_attr_new(reader, zero_node(reader), "tirx.device_entry",
                                      17, yes, call->ref);
  tvms_eval_value frame = tvms_frame_binder(reader, stmt, TVMS_NOTHING, call->ref);
  tvms_frame_enter(reader, tvms_frame_of(frame), true);
  return TVMS_NOTHING;
}
