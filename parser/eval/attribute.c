// `object.name`, and the methods of text, lists and dicts.
#include "parser/eval/attribute.h"

#include "parser/eval/call.h"
#include "parser/eval/comprehension.h"
#include "parser/eval/convert.h"
#include "parser/eval/internal.h"
#include "parser/eval/python.h"
#include "parser/eval/string.h"
#include "parser/eval/subscript.h"
#include "parser/python.h"
#include "parser/relax/convert.h"
#include "parser/relax/object.h"
#include "parser/tile/layout.h"
#include "parser/tile/layout_method.h"
#include "parser/tir/attribute.h"
#include "parser/tir/intrinsic.h"
#include "parser/tir/names.h"

#include <ctype.h>
#include <string.h>

static tvms_eval_value no_attribute(tvms_reader *reader, tvms_eval_value object,
                                    tvms_sym name, tvms_ref ref) {
  tvms_reader_report(reader, unknown_attribute, ref, tvms_eval_describe(reader, object),
                     tvms_symbol_text(reader->context, name));
  return tvms_reader_failed(reader);
}

// Whether text, a list, a tuple or a dict has the method.
static bool has_method(tvms_eval_value object, tvms_sym name) {
  switch ((int)object.kind) {
  case TVMS_EVAL_STR:
    return name == TVMS_SYM_upper || name == TVMS_SYM_lower || name == TVMS_SYM_join
           || name == TVMS_SYM_split || name == TVMS_SYM_replace
           || name == TVMS_SYM_format || name == TVMS_SYM_startswith
           || name == TVMS_SYM_endswith;
  case TVMS_EVAL_DICT:
    return name == TVMS_SYM_get || name == TVMS_SYM_items || name == TVMS_SYM_keys
           || name == TVMS_SYM_values;
  case TVMS_EVAL_LIST:
  case TVMS_EVAL_TUPLE: return name == TVMS_SYM_index || name == TVMS_SYM_count;
  case TVMS_EVAL_SET: return false;
  default: return true;
  }
}

static tvms_eval_value bound_method(tvms_reader *reader, tvms_eval_value object,
                                    tvms_sym name, tvms_ref ref) {
  if (!has_method(object, name)) return no_attribute(reader, object, name, ref);
  tvms_method *method = tvms_arena_new(&reader->values, tvms_method);
  tvms_eval_value *receiver = tvms_arena_new(&reader->values, tvms_eval_value);
  *receiver = object;
  *method = (tvms_method){receiver, name};
  return (tvms_eval_value){.kind = TVMS_EVAL_METHOD, .as.method = method};
}

// A function of the module: cls.f, Module.f.
static tvms_eval_value module_attribute(tvms_reader *reader, tvms_eval_value object,
                                        tvms_sym name, tvms_ref ref) {
  tvms_span span = tvms_reader_span_of(reader, ref);
  const tvms_member *member = tvms_module_find(reader->module, name);
  if (member) {
    tvms_global_var *node = tvms_node_make(reader->unit, GLOBAL_VAR, span);
    node->name = name;
    return tvms_eval_value_node(&node->head);
  }
  (void)object;
  tvms_diags *diags = &reader->context->diags;
  const char *text = tvms_symbol_text(reader->context, name);
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_no_member, span, text);
  TVMS_VEC(const char *) names = {0};
  uint32_t count = reader->module->member_count;
  if (!tvms_diags_may_compare_names(diags, count)) count = 0;
  for (uint32_t i = 0; i < count; i++) {
    tvms_vec_push(&reader->context->memory, &names,
                  tvms_symbol_text(reader->context, reader->module->members[i].name));
  }
  const char *near = tvms_diag_nearest_name(text, names.items, names.len);
  tvms_vec_fini(&reader->context->memory, &names);
  uint32_t len = tvms_interner_name(&reader->context->names, name)->len;
  if (near) {
    tvms_diag_remark(diags, diag, "did you mean '%s'?", near);
    tvms_diag_fix(diags, diag, (tvms_span){span.end - len, span.end}, false, "%s",
                  near);
  }
  return tvms_reader_failed(reader);
}

static tvms_eval_value slice_attribute(tvms_reader *reader, tvms_eval_value object,
                                       tvms_sym name, tvms_ref ref) {
  if (name == TVMS_SYM_start) return object.as.items[0];
  if (name == TVMS_SYM_stop) return object.as.items[1];
  if (name == TVMS_SYM_step) return object.as.items[2];
  return no_attribute(reader, object, name, ref);
}

// T.float32.dtype and the like stay data types; `A.dtype.bits` is a number.
static tvms_eval_value dtype_attribute(tvms_reader *reader, tvms_eval_value object,
                                       tvms_sym name, tvms_ref ref) {
  if (name == TVMS_SYM_bits) return tvms_eval_value_int(object.as.dtype.bits);
  if (name == TVMS_SYM_lanes) return tvms_eval_value_int(object.as.dtype.lanes);
  if (name == TVMS_SYM_dtype) return tvms_eval_value_dtype(object.as.dtype);
  if (object.kind == TVMS_EVAL_DTYPE) return bound_method(reader, object, name, ref);
  return no_attribute(reader, object, name, ref);
}

static tvms_eval_value axis_attribute(tvms_reader *reader, tvms_eval_value object,
                                      tvms_sym name, tvms_ref ref) {
  const tvms_name *text = tvms_interner_name(&reader->context->names, object.as.sym);
  switch (name) {
  case TVMS_SYM_name: return tvms_eval_value_text(text->text, text->len);
  case TVMS_SYM_is_thread:
  case TVMS_SYM_is_memory:
  case TVMS_SYM_get_scope:
  case TVMS_SYM_get_subscope: return bound_method(reader, object, name, ref);
  default: return no_attribute(reader, object, name, ref);
  }
}

tvms_eval_value tvms_eval_attribute(tvms_reader *reader, tvms_eval_value object,
                                    tvms_sym name, tvms_ref ref) {
  tvms_eval_value part;
  switch (object.kind) {
  case TVMS_EVAL_UNKNOWN: return object;
  case TVMS_EVAL_NAMESPACE:
    // TVM prints axes that only Axis.get knows in the same way.
    if (object.as.i == TVMS_NS_Axis
        && (tvms_layout_axis_known(name)
            || (name != TVMS_SYM_get && tvms_reader_has_printed_header(reader)))) {
      return (tvms_eval_value){.kind = TVMS_EVAL_AXIS, .as.sym = name};
    }
    return tvms_namespace_attribute(reader, (tvms_namespace)object.as.i, name, ref);
  case TVMS_EVAL_OPERATOR: return tvms_spelled_attribute(reader, object, name, ref);
  case TVMS_EVAL_RELAX: return tvms_relax_attribute(reader, object, name, ref);
  case TVMS_EVAL_PYTHON: return tvms_python_attribute(reader, object, name, ref);
  case TVMS_EVAL_NODE:
    if (tvms_relax_is_expr(object.as.node)) {
      return tvms_relax_attribute(reader, object, name, ref);
    }
    if (tvms_relax_type_attribute(reader, object.as.node, name, &part)) return part;
    return tvms_tir_node_attribute(reader, object.as.node, name, ref);
  case TVMS_EVAL_MODULE: return module_attribute(reader, object, name, ref);
  case TVMS_EVAL_META:
    if (name == TVMS_SYM_value) return object.as.items[0];
    return tvms_eval_attribute(reader, object.as.items[0], name, ref);
  case TVMS_EVAL_AXIS: return axis_attribute(reader, object, name, ref);
  case TVMS_EVAL_CALLABLE:
    if (object.as.row->handler == tvms_call_TileLayout) {
      return tvms_namespace_attribute(reader, TVMS_NS_TileLayout, name, ref);
    }
    return no_attribute(reader, object, name, ref);
  case TVMS_EVAL_SLICE: return slice_attribute(reader, object, name, ref);
  case TVMS_EVAL_DTYPE:
  case TVMS_EVAL_DTYPE_NAME: return dtype_attribute(reader, object, name, ref);
  case TVMS_EVAL_STR:
  case TVMS_EVAL_LIST:
  case TVMS_EVAL_TUPLE:
  case TVMS_EVAL_SET:
  case TVMS_EVAL_DICT: return bound_method(reader, object, name, ref);
  default: return no_attribute(reader, object, name, ref);
  }
}

// ---- Methods of text ------------------------------------------------------------------------

static tvms_eval_value map_text(tvms_reader *reader, tvms_eval_value text,
                                int (*map)(int)) {
  char *copy = tvms_arena_text(&reader->values, text.as.text, text.len);
  for (uint32_t i = 0; i < text.len; i++) {
    copy[i] = (char)map((unsigned char)copy[i]);
  }
  return tvms_eval_value_text(copy, text.len);
}

static tvms_eval_value text_join(tvms_reader *reader, tvms_eval_value separator,
                                 tvms_eval_value parts, tvms_ref ref) {
  tvms_eval_items items;
  if (!tvms_eval_iterate(reader, parts, ref, &items)) return TVMS_UNKNOWN;
  tvms_eval_value result = tvms_eval_value_text("", 0);
  for (uint32_t i = 0; i < items.len; i++) {
    if (items.items[i].kind != TVMS_EVAL_STR) {
      tvms_eval_report_wrong_type(reader, ref, "what join() takes", "a str",
                                  items.items[i]);
      return TVMS_UNKNOWN;
    }
    if (i) result = tvms_python_binary(reader, TVMS_OP_ADD, result, separator, ref);
    result = tvms_python_binary(reader, TVMS_OP_ADD, result, items.items[i], ref);
  }
  return result;
}

static tvms_eval_value text_split(tvms_reader *reader, tvms_eval_value text,
                                  tvms_eval_value separator) {
  tvms_eval_value_vec parts = {0};
  tvms_memory *memory = &reader->context->memory;
  uint32_t begin = 0;
  bool words = separator.kind != TVMS_EVAL_STR || separator.len == 0;
  for (uint32_t at = 0; at <= text.len; at++) {
    uint32_t width = words ? 1 : separator.len;
    bool cut = at == text.len;
    if (!cut && words) cut = text.as.text[at] == ' ';
    if (!cut && !words && at + width <= text.len) {
      cut = memcmp(text.as.text + at, separator.as.text, width) == 0;
    }
    if (!cut) continue;
    if (!words || at > begin) {
      tvms_vec_push(memory, &parts,
                    tvms_eval_value_text(text.as.text + begin, at - begin));
    }
    begin = at + width;
    at = begin - 1;
  }
  tvms_eval_value *items = tvms_eval_keep_items(reader, parts.items, parts.len);
  tvms_eval_value result = tvms_eval_value_items(TVMS_EVAL_LIST, items, parts.len);
  tvms_vec_fini(memory, &parts);
  return result;
}

static bool ends_or_begins(tvms_eval_value text, tvms_eval_value part, bool at_end) {
  if (part.kind != TVMS_EVAL_STR || part.len > text.len) return false;
  uint32_t at = at_end ? text.len - part.len : 0;
  return part.len == 0 || memcmp(text.as.text + at, part.as.text, part.len) == 0;
}

static tvms_eval_value text_replace(tvms_reader *reader, tvms_eval_value text,
                                    tvms_eval_value old, tvms_eval_value new,
                                    tvms_ref ref) {
  if (old.kind != TVMS_EVAL_STR || new.kind != TVMS_EVAL_STR) {
    tvms_eval_value wrong = old.kind != TVMS_EVAL_STR ? old : new;
    tvms_eval_report_wrong_type(reader, ref, "what replace() takes", "a str", wrong);
    return TVMS_UNKNOWN;
  }
  if (old.len == 0) return text;
  tvms_eval_value parts = text_split(reader, text, old);
  return text_join(reader, new, parts, ref);
}

static tvms_eval_value text_format(tvms_reader *reader, tvms_eval_value text,
                                   tvms_eval_value args, tvms_ref ref) {
  tvms_eval_value result = tvms_eval_value_text("", 0);
  uint32_t begin = 0, next = 0;
  for (uint32_t at = 0; at + 1 < text.len; at++) {
    if (text.as.text[at] != '{' || text.as.text[at + 1] != '}') continue;
    if (next >= args.len) break;
    uint32_t len;
    const char *piece = tvms_eval_str(reader, args.as.items[next++], ref, &len);
    if (!piece) return TVMS_UNKNOWN;
    tvms_eval_value before = tvms_eval_value_text(text.as.text + begin, at - begin);
    result = tvms_python_binary(reader, TVMS_OP_ADD, result, before, ref);
    result = tvms_python_binary(reader, TVMS_OP_ADD, result,
                                tvms_eval_value_text(piece, len), ref);
    begin = at + 2;
  }
  tvms_eval_value tail = tvms_eval_value_text(text.as.text + begin, text.len - begin);
  return tvms_python_binary(reader, TVMS_OP_ADD, result, tail, ref);
}

// What a method of text takes. format() reads its arguments itself.
static const char *text_signature(tvms_sym name) {
  switch (name) {
  case TVMS_SYM_format: return "*args";
  case TVMS_SYM_join: return "iterable";
  case TVMS_SYM_split: return "sep=None, maxsplit=None";
  case TVMS_SYM_replace: return "old, new, count=None";
  case TVMS_SYM_startswith:
  case TVMS_SYM_endswith: return "part";
  default: return "";
  }
}

static tvms_eval_value text_method(tvms_reader *reader, tvms_eval_value text,
                                   tvms_sym name, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  const char *what = tvms_symbol_text(reader->context, name);
  if (!tvms_signature_bind_method(reader, text_signature(name), what, call, args)) {
    return TVMS_UNKNOWN;
  }
  bool limited = (name == TVMS_SYM_split && args[1].kind != TVMS_EVAL_NONE)
                 || (name == TVMS_SYM_replace && args[2].kind != TVMS_EVAL_NONE);
  if (limited) {
    tvms_reader_report(reader, unsupported, call, "a limit of split() or replace()");
    return TVMS_UNKNOWN;
  }
  switch (name) {
  case TVMS_SYM_upper: return map_text(reader, text, toupper);
  case TVMS_SYM_lower: return map_text(reader, text, tolower);
  case TVMS_SYM_join: return text_join(reader, text, args[0], call);
  case TVMS_SYM_split: return text_split(reader, text, args[0]);
  case TVMS_SYM_replace: return text_replace(reader, text, args[0], args[1], call);
  case TVMS_SYM_format: return text_format(reader, text, args[0], call);
  case TVMS_SYM_startswith:
    return tvms_eval_value_bool(ends_or_begins(text, args[0], false));
  case TVMS_SYM_endswith:
    return tvms_eval_value_bool(ends_or_begins(text, args[0], true));
  default: return no_attribute(reader, text, name, call);
  }
}

// ---- Methods of lists and dicts -------------------------------------------------------------

static tvms_eval_value dict_parts(tvms_reader *reader, tvms_eval_value dict,
                                  tvms_sym name) {
  uint32_t count = dict.len / 2;
  tvms_eval_value *items = tvms_arena_array(&reader->values, tvms_eval_value, count);
  for (uint32_t i = 0; i < count; i++) {
    const tvms_eval_value *pair = dict.as.items + 2 * i;
    if (name == TVMS_SYM_items)
      items[i] = tvms_eval_value_items(TVMS_EVAL_TUPLE,
                                       tvms_eval_keep_items(reader, pair, 2), 2);
    else
      items[i] = pair[name == TVMS_SYM_values];
  }
  return tvms_eval_value_items(TVMS_EVAL_LIST, items, count);
}

static tvms_eval_value dict_method(tvms_reader *reader, tvms_eval_value dict,
                                   tvms_sym name, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  const char *what = tvms_symbol_text(reader->context, name);
  if (name == TVMS_SYM_get) {
    if (!tvms_signature_bind_method(reader, "key, default=None", what, call, args)) {
      return TVMS_UNKNOWN;
    }
    tvms_eval_value found;
    return tvms_eval_dict_find(dict, args[0], &found) ? found : args[1];
  }
  if (name != TVMS_SYM_items && name != TVMS_SYM_keys && name != TVMS_SYM_values) {
    return no_attribute(reader, dict, name, call);
  }
  return dict_parts(reader, dict, name);
}

static tvms_eval_value list_method(tvms_reader *reader, tvms_eval_value list,
                                   tvms_sym name, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  if (name != TVMS_SYM_index && name != TVMS_SYM_count) {
    return no_attribute(reader, list, name, call);
  }
  if (!tvms_signature_bind_method(
          reader, "value", tvms_symbol_text(reader->context, name), call, args)) {
    return TVMS_UNKNOWN;
  }
  int64_t count = 0;
  for (uint32_t i = 0; i < list.len; i++) {
    if (!tvms_eval_values_equal(list.as.items[i], args[0])) continue;
    if (name == TVMS_SYM_index) return tvms_eval_value_int(i);
    count++;
  }
  return tvms_eval_value_int(count);
}

tvms_eval_value tvms_eval_call_method(tvms_reader *reader, tvms_eval_value callee,
                                      tvms_ref call) {
  tvms_eval_value receiver = *callee.as.method->receiver;
  tvms_sym name = callee.as.method->name;
  switch (receiver.kind) {
  case TVMS_EVAL_STR: return text_method(reader, receiver, name, call);
  case TVMS_EVAL_DICT: return dict_method(reader, receiver, name, call);
  case TVMS_EVAL_TUPLE:
  case TVMS_EVAL_LIST: return list_method(reader, receiver, name, call);
  case TVMS_EVAL_AXIS:
    return tvms_tile_axis_method(reader, receiver.as.sym, name, call);
  case TVMS_EVAL_NODE:
    return tvms_tir_call_node_method(reader, receiver.as.node, name, call);
  default: return no_attribute(reader, receiver, name, call);
  }
}
