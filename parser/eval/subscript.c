// `object[index]` of constants.
#include "parser/eval/subscript.h"

#include "parser/eval/convert.h"
#include "parser/eval/iterate.h"
#include "parser/eval/ops.h"
#include "parser/eval/python.h"
#include "parser/eval/reader.h"
#include "parser/eval/repr.h"

#include <string.h>

static bool index_in(tvms_reader *reader, tvms_eval_value index, uint32_t len,
                     tvms_ref ref, uint32_t *at) {
  int64_t i;
  if (!tvms_eval_to_int(reader, index, ref, &i)) return false;
  if (i < 0) i += len;
  if (i < 0 || i >= (int64_t)len) {
    tvms_eval_report_index(reader, ref, len);
    return false;
  }
  *at = (uint32_t)i;
  return true;
}

// A bound of a slice, or what stands for a missing one; within `limits`.
static bool bound_of(tvms_reader *reader, tvms_eval_value bound, int64_t missing,
                     const int64_t limits[2], uint32_t len, tvms_ref ref, int64_t *at) {
  *at = missing;
  if (bound.kind == TVMS_EVAL_NONE) return true;
  if (!tvms_eval_to_int(reader, bound, ref, at)) return false;
  if (*at < 0) *at += len;
  if (*at < limits[0]) *at = limits[0];
  if (*at > limits[1]) *at = limits[1];
  return true;
}

// A slice of a sequence, with Python's rules for missing and negative bounds.
static tvms_eval_value slice_of(tvms_reader *reader, tvms_eval_value object,
                                tvms_eval_value slice, tvms_ref ref) {
  int64_t step = 1, start, stop;
  const tvms_eval_value *parts = slice.as.items;
  if (parts[2].kind != TVMS_EVAL_NONE
      && !tvms_eval_to_int(reader, parts[2], ref, &step)) {
    return TVMS_UNKNOWN;
  }
  if (step == 0) {
    tvms_reader_report(reader, evaluated_division_by_zero, ref);
    return TVMS_UNKNOWN;
  }
  bool back = step < 0;
  int64_t limits[2] = {back ? -1 : 0, (int64_t)object.len - back};
  if (!bound_of(reader, parts[0], limits[back], limits, object.len, ref, &start)
      || !bound_of(reader, parts[1], limits[!back], limits, object.len, ref, &stop)) {
    return TVMS_UNKNOWN;
  }
  int64_t most = (int64_t)object.len + 1;  // a longer step is as good
  if (step > most || step < -most) step = step > 0 ? most : -most;
  bool text = object.kind == TVMS_EVAL_STR;
  char *letters = text ? tvms_arena_alloc(&reader->values, object.len + 1u) : NULL;
  tvms_eval_value *items =
      text ? NULL : tvms_arena_array(&reader->values, tvms_eval_value, object.len);
  uint32_t len = 0;
  for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
    if (text)
      letters[len++] = object.as.text[i];
    else
      items[len++] = object.as.items[i];
  }
  return text ? tvms_eval_value_text(letters, len)
              : tvms_eval_value_items((tvms_eval_kind)object.kind, items, len);
}

static bool is_ascii(tvms_eval_value text) {
  for (uint32_t i = 0; i < text.len; i++) {
    if (text.as.text[i] & 0x80) return false;
  }
  return true;
}

// `"SR" [i, k]`: a text in front of a list.
static bool is_two(tvms_reader *reader, tvms_ref ref) {
  const tvms_surf node = *tvms_reader_at(reader, ref);
  if (node.kind != TVMS_SURF_SUBSCRIPT
      || !tvms_surface_is_string(reader->surface, node.a)
      || tvms_reader_at(reader, node.b)->kind != TVMS_SURF_TUPLE)
    return false;
  tvms_diags *diags = &reader->context->diags;
  uint32_t end = tvms_reader_at(reader, node.a)->end;
  uint32_t at = end;
  while (reader->surface->source->text[at] != '[') {
    at++;
  }
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_syntax, (tvms_span){at, at + 1}, "'['", "");
  tvms_diag_remark(diags, diag, "missing comma?");
  tvms_diag_fix(diags, diag, (tvms_span){end, end}, false, ",");
  return true;
}

// Items of a text are characters, which take several bytes past ASCII.
static tvms_eval_value text_subscript(tvms_reader *reader, tvms_eval_value text,
                                      tvms_eval_value index, tvms_ref ref) {
  tvms_eval_items items;
  if (!tvms_eval_iterate(reader, text, ref, &items)) return TVMS_UNKNOWN;
  tvms_eval_value part = tvms_eval_sequence_subscript(
      reader, tvms_eval_value_items(TVMS_EVAL_LIST, items.items, items.len), index,
      ref);
  if (part.kind != TVMS_EVAL_LIST) return part;
  char *whole = tvms_arena_alloc(&reader->values, (size_t)text.len + 1);
  uint32_t len = 0;
  for (uint32_t i = 0; i < part.len; i++) {
    tvms_eval_value character = part.as.items[i];
    memcpy(whole + len, character.as.text, character.len);
    len += character.len;
  }
  return tvms_eval_value_text(whole, len);
}

tvms_eval_value tvms_eval_sequence_subscript(tvms_reader *reader,
                                             tvms_eval_value object,
                                             tvms_eval_value index, tvms_ref ref) {
  if (object.kind == TVMS_EVAL_STR && is_two(reader, ref)) return TVMS_UNKNOWN;
  if (object.kind == TVMS_EVAL_STR && !is_ascii(object)) {
    return text_subscript(reader, object, index, ref);
  }
  if (index.kind == TVMS_EVAL_SLICE) return slice_of(reader, object, index, ref);
  uint32_t at;
  if (!index_in(reader, index, object.len, ref, &at)) return TVMS_UNKNOWN;
  if (object.kind == TVMS_EVAL_STR) {
    return tvms_eval_value_text(
        tvms_arena_text(&reader->values, object.as.text + at, 1), 1);
  }
  return tvms_eval_mention(reader, object.as.items[at], ref);
}

// Only Python knows what it equals.
static bool is_opaque(tvms_eval_value value) {
  return value.kind == TVMS_EVAL_UNKNOWN || value.kind == TVMS_EVAL_PYTHON;
}

bool tvms_eval_dict_find(const tvms_reader *reader, tvms_eval_value dict,
                         tvms_eval_value key, tvms_eval_value *found) {
  *found = TVMS_UNKNOWN;
  bool sure = !is_opaque(key);
  for (uint32_t i = 0; i < dict.len && sure; i += 2) {
    if (tvms_eval_values_equal(reader, dict.as.items[i], key)) {
      *found = dict.as.items[i + 1];
      return true;
    }
    sure = !is_opaque(dict.as.items[i]);
  }
  return !sure;
}

// What the nearest key of the dict is, if it is a string.
static void suggest_key(tvms_reader *reader, tvms_eval_value dict, tvms_eval_value key,
                        tvms_ref ref, tvms_diag *diag) {
  enum { MOST = 64 };
  const char *names[MOST];
  uint32_t count = 0;
  if (key.kind != TVMS_EVAL_STR) return;
  for (uint32_t i = 0; i < dict.len && count < MOST; i += 2) {
    tvms_eval_value own = dict.as.items[i];
    if (own.kind == TVMS_EVAL_STR) names[count++] = own.as.text;
  }
  const char *near = tvms_diag_nearest_name(key.as.text, names, count);
  if (!near) return;
  tvms_diags *diags = &reader->context->diags;
  tvms_diag_remark(diags, diag, "did you mean \"%s\"?", near);
  if (tvms_reader_at(reader, ref)->kind == TVMS_SURF_STRING)
    tvms_diag_fix(diags, diag, tvms_reader_span_of(reader, ref), false, "\"%s\"", near);
}

tvms_eval_value tvms_eval_dict_subscript(tvms_reader *reader, tvms_eval_value dict,
                                         tvms_eval_value key, tvms_ref ref) {
  tvms_eval_value found;
  if (tvms_eval_dict_find(reader, dict, key, &found)) return found;
  uint32_t len;
  const char *text = tvms_eval_str(reader, key, ref, &len);
  if (!text) return TVMS_UNKNOWN;
  const tvms_surf *node = tvms_reader_at(reader, ref);
  if (node->kind == TVMS_SURF_SUBSCRIPT) ref = node->b;
  tvms_diag *diag = tvms_diag_report(&reader->context->diags, TVMS_D_no_such_key,
                                     tvms_reader_span_of(reader, ref), text);
  suggest_key(reader, dict, key, ref, diag);
  return TVMS_UNKNOWN;
}

tvms_eval_value tvms_eval_range_subscript(tvms_reader *reader, tvms_eval_value range,
                                          tvms_eval_value index, tvms_ref ref) {
  tvms_eval_items items;
  if (!tvms_eval_iterate(reader, range, ref, &items)) return TVMS_UNKNOWN;
  tvms_eval_value list = tvms_eval_value_items(TVMS_EVAL_LIST, items.items, items.len);
  return tvms_eval_sequence_subscript(reader, list, index, ref);
}

tvms_eval_value tvms_eval_meta_subscript(tvms_reader *reader, tvms_eval_value meta,
                                         tvms_eval_value index, tvms_ref ref) {
  return tvms_eval_subscript(reader, meta.as.items[0], index, ref);
}

tvms_eval_value tvms_eval_method_subscript(tvms_reader *reader, tvms_eval_value method,
                                           tvms_eval_value index, tvms_ref ref) {
  const tvms_eval_value_ops *ops =
      tvms_eval_ops_of(reader, *method.as.method->receiver);
  return ops->subscript_method ? ops->subscript_method(reader, method, index, ref)
                               : tvms_eval_report_no_subscript(reader, method, ref);
}

tvms_eval_value tvms_eval_report_no_subscript(tvms_reader *reader,
                                              tvms_eval_value object, tvms_ref ref) {
  // `f[x)`: the bracket is what is wrong, which was reported.
  if (tvms_reader_was_misread(reader, tvms_reader_span_of(reader, ref)))
    return tvms_reader_failed(reader);
  tvms_diag *diag =
      tvms_reader_report(reader, no_subscript, ref, tvms_eval_describe(reader, object));
  if (object.kind == TVMS_EVAL_CALLABLE || object.kind == TVMS_EVAL_BUILTIN)
    tvms_diag_remark(&reader->context->diags, diag, "it is called, with '(' and ')'");
  const tvms_surf *of = tvms_reader_at(reader, tvms_reader_at(reader, ref)->a);
  if (of->kind == TVMS_SURF_ATTRIBUTE && of->b == TVMS_SYM_data) {
    uint32_t end = tvms_reader_span_of(reader, of->a).end;
    tvms_diag_remark(&reader->context->diags, diag,
                     "an element is taken of the buffer itself: leave '.data' out");
    tvms_diag_fix(&reader->context->diags, diag, (tvms_span){end, of->end}, false, "%s",
                  "");
  }
  const tvms_node *load = tvms_eval_value_node_of(object, TVMS_NODE_BUFFER_LOAD);
  if (load && tvms_as_buffer_load(load)->buffer->kind == TVMS_NODE_BUFFER) {
    const tvms_buffer *buffer = tvms_as_buffer(tvms_as_buffer_load(load)->buffer);
    tvms_diag_remark(&reader->context->diags, diag, "buffer '%s' has rank %u",
                     tvms_symbol_text(reader->context, buffer->name),
                     buffer->shape.len);
  }
  return tvms_reader_failed(reader);
}

tvms_eval_value tvms_eval_subscript(tvms_reader *reader, tvms_eval_value object,
                                    tvms_eval_value index, tvms_ref ref) {
  if (!tvms_eval_value_is_known(index)) return index;
  const tvms_eval_value_ops *ops = tvms_eval_ops_of(reader, object);
  return ops->subscript ? ops->subscript(reader, object, index, ref)
                        : tvms_eval_report_no_subscript(reader, object, ref);
}
