// `object.name`, and the methods of text, lists and dicts.
#include "parser/eval/attribute.h"

#include "ir/meant.h"
#include "parser/eval/budget.h"
#include "parser/eval/call.h"
#include "parser/eval/convert.h"
#include "parser/eval/iterate.h"
#include "parser/eval/ops.h"
#include "parser/eval/python.h"
#include "parser/eval/repr.h"
#include "parser/eval/subscript.h"
#include "support/diag_ids.h"

#include <ctype.h>
#include <string.h>

// Of `object.name`, or of a call of it, the name.
static tvms_span name_span(tvms_reader *reader, tvms_sym name, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  if (node->kind == TVMS_SURF_CALL) ref = node->a;
  tvms_span span = tvms_reader_span_of(reader, ref);
  uint32_t len = tvms_interner_name(&reader->context->names, name)->len;
  bool named = tvms_reader_at(reader, ref)->kind == TVMS_SURF_ATTRIBUTE
               && tvms_reader_at(reader, ref)->b == name;
  return named ? (tvms_span){span.end - len, span.end} : span;
}

tvms_diag *tvms_eval_report_attribute(tvms_reader *reader, tvms_eval_value object,
                                      tvms_sym name, tvms_ref ref) {
  reader->failed = true;
  return tvms_diag_report(
      &reader->context->diags, TVMS_D_unknown_attribute, name_span(reader, name, ref),
      tvms_eval_describe(reader, object), tvms_symbol_text(reader->context, name));
}

tvms_eval_value tvms_eval_report_no_attribute(tvms_reader *reader,
                                              tvms_eval_value object, tvms_sym name,
                                              tvms_ref ref) {
  tvms_eval_report_attribute(reader, object, name, ref);
  return TVMS_UNKNOWN;
}

tvms_eval_value tvms_eval_report_no_attribute_of(tvms_reader *reader,
                                                 tvms_eval_value object, tvms_sym name,
                                                 tvms_ref ref, const tvms_sym *known,
                                                 uint32_t count) {
  enum { MOST = 32 };
  tvms_context *context = reader->context;
  tvms_diag *diag = tvms_eval_report_attribute(reader, object, name, ref);
  const char *names[MOST];
  TVMS_CHECK(count <= MOST);
  for (uint32_t i = 0; i < count; i++) {
    names[i] = tvms_symbol_text(context, known[i]);
  }
  const char *text = tvms_symbol_text(context, name);
  const char *near = tvms_meant_find(TVMS_MEANT_BUFFER, text);
  if (!near) near = tvms_diag_nearest_name(text, names, count);
  if (!near) return TVMS_UNKNOWN;
  tvms_diag_remark(&context->diags, diag, "did you mean '%s'?", near);
  tvms_diag_fix(&context->diags, diag, name_span(reader, name, ref), false, "%s", near);
  return TVMS_UNKNOWN;
}

tvms_eval_value tvms_eval_bound_method(tvms_reader *reader, tvms_eval_value receiver,
                                       tvms_sym name) {
  tvms_method *method = tvms_arena_new(&reader->values, tvms_method);
  method->receiver = tvms_arena_new(&reader->values, tvms_eval_value);
  *method->receiver = receiver;
  method->name = name;
  return (tvms_eval_value){.kind = TVMS_EVAL_METHOD, .as.method = method};
}

tvms_eval_value tvms_eval_attribute(tvms_reader *reader, tvms_eval_value object,
                                    tvms_sym name, tvms_ref ref) {
  if (!tvms_eval_value_is_known(object)) return object;
  const tvms_eval_value_ops *ops = tvms_eval_ops_of(reader, object);
  return ops->attribute ? ops->attribute(reader, object, name, ref)
                        : tvms_eval_report_no_attribute(reader, object, name, ref);
}

tvms_eval_value tvms_eval_call_method(tvms_reader *reader, tvms_eval_value callee,
                                      tvms_ref call) {
  tvms_eval_value receiver = *callee.as.method->receiver;
  tvms_sym name = callee.as.method->name;
  const tvms_eval_value_ops *ops = tvms_eval_ops_of(reader, receiver);
  return ops->method ? ops->method(reader, receiver, name, call)
                     : tvms_eval_report_no_attribute(reader, receiver, name, call);
}

// ---- Attributes that are not methods ---------------------------------------------------------

tvms_eval_value tvms_eval_slice_attribute(tvms_reader *reader, tvms_eval_value slice,
                                          tvms_sym name, tvms_ref ref) {
  switch (name) {
  case TVMS_SYM_start: return slice.as.items[0];
  case TVMS_SYM_stop: return slice.as.items[1];
  case TVMS_SYM_step: return slice.as.items[2];
  default: return tvms_eval_report_no_attribute(reader, slice, name, ref);
  }
}

bool tvms_eval_dtype_part(tvms_eval_value object, tvms_sym name,
                          tvms_eval_value *value) {
  switch (name) {
  case TVMS_SYM_bits: *value = tvms_eval_value_int(object.as.dtype.bits); return true;
  case TVMS_SYM_lanes: *value = tvms_eval_value_int(object.as.dtype.lanes); return true;
  case TVMS_SYM_dtype: *value = tvms_eval_value_dtype(object.as.dtype); return true;
  default: return false;
  }
}

tvms_eval_value tvms_eval_dtype_attribute(tvms_reader *reader, tvms_eval_value dtype,
                                          tvms_sym name, tvms_ref ref) {
  (void)ref;
  tvms_eval_value value;
  if (tvms_eval_dtype_part(dtype, name, &value)) return value;
  return tvms_eval_bound_method(reader, dtype, name);
}

tvms_eval_value tvms_eval_meta_attribute(tvms_reader *reader, tvms_eval_value meta,
                                         tvms_sym name, tvms_ref ref) {
  tvms_eval_value inner = meta.as.items[0];
  return name == TVMS_SYM_value ? inner : tvms_eval_attribute(reader, inner, name, ref);
}

// ---- Methods of text ------------------------------------------------------------------------

static tvms_eval_value map_text(tvms_reader *reader, tvms_eval_value text,
                                int (*map)(int), tvms_ref ref) {
  for (uint32_t i = 0; i < text.len; i++) {
    if (!(text.as.text[i] & 0x80)) continue;
    tvms_reader_report(reader, unsupported, ref, "the case of letters past ASCII");
    return TVMS_UNKNOWN;
  }
  char *copy = tvms_arena_text(&reader->values, text.as.text, text.len);
  for (uint32_t i = 0; i < text.len; i++) {
    copy[i] = (char)map((unsigned char)copy[i]);
  }
  return tvms_eval_value_text(copy, text.len);
}

// The text of the buffer as a value; the buffer is closed.
static tvms_eval_value take_text(tvms_reader *reader, tvms_strbuf *buffer) {
  const char *text = tvms_arena_text(&reader->values, buffer->text, buffer->len);
  tvms_eval_value value = tvms_eval_value_text(text, (uint32_t)buffer->len);
  tvms_strbuf_fini(buffer);
  return value;
}

// True if every item is text and the whole, joined by `separator`, may be made.
static bool can_join(tvms_reader *reader, tvms_eval_value separator,
                     tvms_eval_items parts, tvms_ref ref) {
  uint64_t size = 1;
  for (uint32_t i = 0; i < parts.len; i++) {
    if (parts.items[i].kind != TVMS_EVAL_STR) {
      tvms_eval_report_wrong_type(reader, ref, "each item of join()", "a string",
                                  parts.items[i]);
      return false;
    }
    size += (i ? separator.len : 0) + (uint64_t)parts.items[i].len;
  }
  return tvms_eval_may_take(reader, size, ref);
}

static tvms_eval_value text_join(tvms_reader *reader, tvms_eval_value separator,
                                 tvms_eval_value parts, tvms_ref ref) {
  tvms_eval_items items;
  if (!tvms_eval_iterate(reader, parts, ref, &items)) return TVMS_UNKNOWN;
  if (!can_join(reader, separator, items, ref)) return TVMS_UNKNOWN;
  tvms_strbuf all;
  tvms_strbuf_init(&all, &reader->context->memory);
  for (uint32_t i = 0; i < items.len; i++) {
    if (i) tvms_strbuf_add(&all, separator.as.text, separator.len);
    tvms_strbuf_add(&all, items.items[i].as.text, items.items[i].len);
  }
  return take_text(reader, &all);
}

static tvms_eval_value text_split(tvms_reader *reader, tvms_eval_value text,
                                  tvms_eval_value separator, tvms_ref ref) {
  uint64_t most = ((uint64_t)text.len + 1) * sizeof(tvms_eval_value);
  if (!tvms_eval_may_take(reader, most, ref)) return TVMS_UNKNOWN;
  tvms_eval_value_vec parts = {0};
  tvms_memory *memory = &reader->context->memory;
  // Each part gets its NUL where the separator begins.
  char *copy = tvms_arena_text(&reader->values, text.as.text, text.len);
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
    copy[at] = '\0';
    if (!words || at > begin) {
      tvms_vec_push(memory, &parts, tvms_eval_value_text(copy + begin, at - begin));
    }
    begin = at + width;
    at = begin - 1;
  }
  tvms_eval_value *items = tvms_eval_keep_items(reader, parts.items, parts.len);
  tvms_eval_value result = tvms_eval_value_items(TVMS_EVAL_LIST, items, parts.len);
  tvms_vec_fini(memory, &parts);
  return result;
}

static bool has_affix(tvms_eval_value text, tvms_eval_value part, bool at_end) {
  if (part.len > text.len) return false;
  uint32_t at = at_end ? text.len - part.len : 0;
  return part.len == 0 || memcmp(text.as.text + at, part.as.text, part.len) == 0;
}

// `part` is a text, or a tuple of several, one of which is enough.
static tvms_eval_value ends_or_begins(tvms_reader *reader, tvms_eval_value text,
                                      tvms_eval_value part, bool at_end, tvms_ref ref) {
  tvms_eval_items parts = {&part, 1};
  if (part.kind == TVMS_EVAL_TUPLE) parts = tvms_eval_items_of(&part);
  bool found = false;
  for (uint32_t i = 0; i < parts.len; i++) {
    if (parts.items[i].kind != TVMS_EVAL_STR) {
      tvms_eval_report_wrong_type(reader, ref,
                                  at_end ? "the argument of endswith()"
                                         : "the argument of startswith()",
                                  "a string", parts.items[i]);
      return TVMS_UNKNOWN;
    }
    found = found || has_affix(text, parts.items[i], at_end);
  }
  return tvms_eval_value_bool(found);
}

static tvms_eval_value text_replace(tvms_reader *reader, tvms_eval_value text,
                                    tvms_eval_value old, tvms_eval_value new,
                                    tvms_ref ref) {
  if (old.kind != TVMS_EVAL_STR || new.kind != TVMS_EVAL_STR) {
    tvms_eval_value wrong = old.kind != TVMS_EVAL_STR ? old : new;
    tvms_eval_report_wrong_type(reader, ref, "an argument of replace()", "a string",
                                wrong);
    return TVMS_UNKNOWN;
  }
  if (old.len == 0) return text;
  tvms_eval_value parts = text_split(reader, text, old, ref);
  if (!tvms_eval_value_is_known(parts)) return parts;
  return text_join(reader, new, parts, ref);
}

// The argument that the field at `at`, behind its '{', stands for: the next one, or the one
// whose number it has. NULL after a report; *end is behind its '}'.
static const tvms_eval_value *field_of(tvms_reader *reader, tvms_eval_value text,
                                       tvms_eval_value args, uint32_t at,
                                       uint32_t *next, uint32_t *end, tvms_ref ref) {
  const char *close = memchr(text.as.text + at, '}', text.len - at);
  uint32_t len = close ? (uint32_t)(close - (text.as.text + at)) : text.len - at;
  uint32_t number = 0;
  bool plain = close && len < 9;
  for (uint32_t i = 0; i < len && plain; i++) {
    plain = isdigit((unsigned char)text.as.text[at + i]);
    number = number * 10 + (uint32_t)(text.as.text[at + i] - '0');
  }
  if (!plain) {
    tvms_reader_report(reader, bad_format, ref, (int)len, text.as.text + at);
    return NULL;
  }
  if (!len) number = (*next)++;
  *end = at + len + 1;
  if (number < args.len) return &args.as.items[number];
  tvms_eval_report_index(reader, ref, args.len);
  return NULL;
}

// Puts `text` with its fields `{}` and `{0}` filled in. False: that is reported, or it gets
// too long.
static bool put_filled(tvms_reader *reader, tvms_strbuf *out, tvms_eval_value text,
                       tvms_eval_value args, tvms_ref ref) {
  uint32_t next = 0;
  for (uint32_t at = 0; at < text.len;) {
    char c = text.as.text[at++];
    bool doubled = at < text.len && text.as.text[at] == c;
    if (c != '{' || doubled) {
      at += (c == '{' || c == '}') && doubled;
      tvms_strbuf_putc(out, c);
      continue;
    }
    uint32_t len;
    const tvms_eval_value *value = field_of(reader, text, args, at, &next, &at, ref);
    const char *piece = value ? tvms_eval_str(reader, *value, ref, &len) : NULL;
    if (!piece) return false;
    tvms_strbuf_add(out, piece, len);
    if (!tvms_eval_may_take(reader, out->len, ref)) return false;
  }
  return tvms_eval_may_take(reader, out->len + 1, ref);
}

static tvms_eval_value text_format(tvms_reader *reader, tvms_eval_value text,
                                   tvms_eval_value args, tvms_ref ref) {
  tvms_strbuf out;
  tvms_strbuf_init(&out, &reader->context->memory);
  if (put_filled(reader, &out, text, args, ref)) return take_text(reader, &out);
  tvms_strbuf_fini(&out);
  return TVMS_UNKNOWN;
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

tvms_eval_value tvms_eval_text_attribute(tvms_reader *reader, tvms_eval_value text,
                                         tvms_sym name, tvms_ref ref) {
  switch (name) {
  case TVMS_SYM_upper:
  case TVMS_SYM_lower:
  case TVMS_SYM_join:
  case TVMS_SYM_split:
  case TVMS_SYM_replace:
  case TVMS_SYM_format:
  case TVMS_SYM_startswith:
  case TVMS_SYM_endswith: return tvms_eval_bound_method(reader, text, name);
  default: return tvms_eval_report_no_attribute(reader, text, name, ref);
  }
}

tvms_eval_value tvms_eval_text_method(tvms_reader *reader, tvms_eval_value text,
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
  case TVMS_SYM_upper: return map_text(reader, text, toupper, call);
  case TVMS_SYM_lower: return map_text(reader, text, tolower, call);
  case TVMS_SYM_join: return text_join(reader, text, args[0], call);
  case TVMS_SYM_split: return text_split(reader, text, args[0], call);
  case TVMS_SYM_replace: return text_replace(reader, text, args[0], args[1], call);
  case TVMS_SYM_format: return text_format(reader, text, args[0], call);
  case TVMS_SYM_startswith: return ends_or_begins(reader, text, args[0], false, call);
  case TVMS_SYM_endswith: return ends_or_begins(reader, text, args[0], true, call);
  default: return tvms_eval_report_no_attribute(reader, text, name, call);
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

tvms_eval_value tvms_eval_dict_attribute(tvms_reader *reader, tvms_eval_value dict,
                                         tvms_sym name, tvms_ref ref) {
  bool has = name == TVMS_SYM_get || name == TVMS_SYM_items || name == TVMS_SYM_keys
             || name == TVMS_SYM_values;
  return has ? tvms_eval_bound_method(reader, dict, name)
             : tvms_eval_report_no_attribute(reader, dict, name, ref);
}

tvms_eval_value tvms_eval_dict_method(tvms_reader *reader, tvms_eval_value dict,
                                      tvms_sym name, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  const char *what = tvms_symbol_text(reader->context, name);
  if (name == TVMS_SYM_get) {
    if (!tvms_signature_bind_method(reader, "key, default=None", what, call, args)) {
      return TVMS_UNKNOWN;
    }
    tvms_eval_value found;
    return tvms_eval_dict_find(reader, dict, args[0], &found) ? found : args[1];
  }
  return dict_parts(reader, dict, name);
}

tvms_eval_value tvms_eval_list_attribute(tvms_reader *reader, tvms_eval_value list,
                                         tvms_sym name, tvms_ref ref) {
  bool has = name == TVMS_SYM_index || name == TVMS_SYM_count;
  return has ? tvms_eval_bound_method(reader, list, name)
             : tvms_eval_report_no_attribute(reader, list, name, ref);
}

tvms_eval_value tvms_eval_list_method(tvms_reader *reader, tvms_eval_value list,
                                      tvms_sym name, tvms_ref call) {
  tvms_eval_value args[TVMS_MAX_PARAMS];
  if (!tvms_signature_bind_method(
          reader, "value", tvms_symbol_text(reader->context, name), call, args)) {
    return TVMS_UNKNOWN;
  }
  int64_t count = 0;
  for (uint32_t i = 0; i < list.len; i++) {
    if (!tvms_eval_values_equal(reader, list.as.items[i], args[0])) continue;
    if (name == TVMS_SYM_index) return tvms_eval_value_int(i);
    count++;
  }
  if (name == TVMS_SYM_index) {
    tvms_reader_report(reader, no_such_item, call, tvms_eval_describe(reader, list));
    return TVMS_UNKNOWN;
  }
  return tvms_eval_value_int(count);
}
