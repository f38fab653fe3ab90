// From values to nodes, texts and numbers; and what a value is called in messages.
#include "parser/eval/convert.h"

#include "ir/meant.h"
#include "ir/object.h"
#include "parser/eval/meant_value.h"
#include "parser/eval/ops.h"
#include "parser/eval/python.h"
#include "parser/eval/scope.h"
#include "parser/eval/signature.h"
#include "support/diag_ids.h"
#include "support/trial.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

const char *tvms_eval_describe(tvms_reader *reader, tvms_eval_value value) {
  const tvms_eval_value_ops *ops = tvms_eval_ops_of(reader, value);
  return ops->describe ? ops->describe(reader, value)
                       : reader->tables->kinds[value.kind].text;
}

// The parameter whose argument stands at `ref`, or NULL.
static const tvms_param *TVMS_NULLABLE param_at(const tvms_reader *reader,
                                                tvms_ref ref) {
  const tvms_signature *signature = reader->call ? reader->call->signature : NULL;
  if (!signature) return NULL;
  for (uint32_t i = 0; i < signature->count; i++) {
    const tvms_param *param = &signature->params[i];
    bool single =
        param->kind == TVMS_PARAM_PLAIN || param->kind == TVMS_PARAM_KEYWORD_ONLY;
    if (single && reader->call->refs[i] == ref && reader->call->given >> i & 1)
      return param;
  }
  return NULL;
}

// Is what stands there computed, so that its result or an operand may be meant?
static bool has_parts(tvms_surf_kind kind) {
  return kind == TVMS_SURF_CALL || kind == TVMS_SURF_SUBSCRIPT
         || kind == TVMS_SURF_BINARY || kind == TVMS_SURF_UNARY
         || kind == TVMS_SURF_BOOL || kind == TVMS_SURF_COMPARE
         || kind == TVMS_SURF_IF_EXP;
}

// Names what stands at `ref`: the argument that it is, or else its text if that is short.
// Where `ref` is a whole call or assignment, the value is a part of it.
static void name_value(tvms_reader *reader, tvms_ref ref, char *name, size_t size) {
  enum { LONGEST = 40 };
  const tvms_param *param = param_at(reader, ref);
  tvms_surf_kind kind = (tvms_surf_kind)tvms_reader_at(reader, ref)->kind;
  tvms_span span = tvms_reader_span_of(reader, ref);
  const char *text = reader->surface->source->text + span.begin;
  size_t len = span.end - span.begin;
  if (param) {
    snprintf(name, size, "argument '%s'",
             tvms_symbol_text(reader->context, param->name));
  } else if (reader->call && reader->call->ref == ref) {
    snprintf(name, size, "an argument of %s", tvms_row_text(reader, reader->call->row));
  } else if (kind == TVMS_SURF_ASSIGN || kind == TVMS_SURF_AUG_ASSIGN) {
    snprintf(name, size, "a value that is assigned");
  } else if (len && len <= LONGEST && !memchr(text, '\n', len)) {
    snprintf(name, size, has_parts(kind) ? "a value in '%.*s'" : "'%.*s'", (int)len,
             text);
  } else {
    snprintf(name, size, "a value here");
  }
}

// False if it is unknown or has an unknown item: what is wrong with it was reported.
static bool is_known_throughout(tvms_eval_value value) {
  if (value.kind == TVMS_EVAL_TUPLE || value.kind == TVMS_EVAL_LIST) {
    for (uint32_t i = 0; i < value.len; i++) {
      if (!tvms_eval_value_is_known(value.as.items[i])) return false;
    }
  }
  return tvms_eval_value_is_known(value);
}

// The binding of this very list, or NULL.
static const tvms_binding *TVMS_NULLABLE binding_of_items(const tvms_reader *reader,
                                                          tvms_eval_value list) {
  for (uint32_t i = reader->scopes.len; i-- > 1;) {
    for (tvms_binding *b = reader->scopes.items[i].newest; b; b = b->next) {
      if (b->value.kind == list.kind && b->value.as.items == list.as.items) return b;
    }
  }
  return NULL;
}

// `for i in T.grid(n, m)` binds all variables to one name, which is a mistake where a single one
// is wanted; it is reported at the loop.
static bool is_whole_grid(tvms_reader *reader, tvms_ref ref, tvms_eval_value value) {
  bool list = value.kind == TVMS_EVAL_TUPLE || value.kind == TVMS_EVAL_LIST;
  if (!list || value.len < 2) return false;
  const tvms_binding *binding = binding_of_items(reader, value);
  const char *text = reader->surface->source->text;
  if (!binding || binding->span.begin < 4
      || memcmp(text + binding->span.begin - 4, "for ", 4) != 0) {
    return false;
  }
  tvms_diags *diags = &reader->context->diags;
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_cannot_unpack, binding->span, 1u, "",
                                     value.len, "s");
  tvms_diag_remark(diags, diag, "the loop gives %u variables, 'for' has 1 name",
                   value.len);
  tvms_span wanted = tvms_reader_span_of(reader, ref);
  tvms_diag_note(diags, diag, wanted, "one variable is wanted here");
  // The names that are missing were not bound, which is not said of each.
  tvms_diags_forget(diags, TVMS_D_undefined_name,
                    (tvms_span){binding->span.end, wanted.end});
  reader->short_of_names = reader->unit;
  return true;
}

// Whether finding `id` was reported of the name that stands at `ref`, a constant of Python's, where it
// is mentioned before.
static bool is_said_of_name(const tvms_reader *reader, tvms_diag_id id, tvms_ref ref) {
  if (tvms_reader_at(reader, ref)->kind != TVMS_SURF_NAME) return false;
  const tvms_diags *diags = &reader->context->diags;
  const char *text = reader->surface->source->text;
  tvms_span span = tvms_reader_span_of(reader, ref);
  uint32_t len = span.end - span.begin;
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    if (diag->id == id && diag->source == diags->source
        && diag->span.end - diag->span.begin == len
        && memcmp(text + diag->span.begin, text + span.begin, len) == 0)
      return true;
  }
  return false;
}

void tvms_eval_report_wrong_type(tvms_reader *reader, tvms_ref ref,
                                 const char *TVMS_NULLABLE what, const char *expected,
                                 tvms_eval_value value) {
  (void)tvms_eval_report_type(reader, ref, what, expected, value);
}

bool tvms_eval_item_before_has(const tvms_reader *reader, tvms_diag_id id,
                               tvms_ref ref) {
  const tvms_diags *diags = &reader->context->diags;
  const tvms_diag *last = diags->last;
  uint32_t begin = tvms_reader_span_of(reader, ref).begin;
  if (!last || last->id != id || last->source != diags->source
      || last->span.end >= begin)
    return false;
  const char *text = reader->surface->source->text;
  for (uint32_t i = last->span.end; i < begin; i++) {
    if (text[i] != ' ' && text[i] != ',' && text[i] != '\n') return false;
  }
  return true;
}

// Two arguments that stand in each other's place are one mistake.
static bool is_swapped(const tvms_reader *reader, tvms_ref ref) {
  return tvms_eval_item_before_has(reader, TVMS_D_wrong_type, ref);
}

void tvms_eval_note_element(tvms_reader *reader, tvms_diag *diag,
                            const tvms_node *node) {
  const tvms_buffer *buffer = tvms_as_buffer(node);
  char indices[40] = "";
  for (uint32_t i = 0; i < buffer->shape.len && i < 6; i++)
    strcat(indices, i ? ", ..." : "...");
  tvms_diag_remark(&reader->context->diags, diag, "an element is %s[%s]",
                   tvms_symbol_text(reader->context, buffer->name), indices);
}

// The name of what gives a value when it is called.
static bool is_uncalled(tvms_eval_value value) {
  return value.kind == TVMS_EVAL_CALLABLE || value.kind == TVMS_EVAL_DTYPE_NAME;
}

// What stands in the place of another argument: a text where the data type is the other one, a
// tensor behind what the operator does with it, a type for a value.
static bool explain_order(tvms_reader *reader, tvms_diag *diag, tvms_ref ref,
                          const char *expected, tvms_eval_value value) {
  tvms_diags *diags = &reader->context->diags;
  const tvms_node *node = value.kind == TVMS_EVAL_NODE ? value.as.node : NULL;
  const tvms_node *type = node ? node->sinfo : NULL;
  const tvms_param *param = param_at(reader, ref);
  if (type && type->kind == TVMS_NODE_SINFO_TENSOR
      && (strstr(expected, "an int") || strstr(expected, "integers")
          || strcmp(expected, "a data type") == 0)) {
    tvms_diag_remark(diags, diag, "tensors stand in front of what is done with them");
    return true;
  }
  if (node && param && strcmp(expected, "a data type") == 0) {
    uint32_t place = (uint32_t)(param - reader->call->signature->params) + 1;
    tvms_diag_remark(diags, diag, "the data type is argument %u of %s", place,
                     tvms_row_text(reader, reader->call->row));
    return true;
  }
  if (!node || tvms_node_class_of(node) != TVMS_CLASS_SINFO) return false;
  if (strcmp(expected, "a value of Relax") == 0)
    tvms_diag_remark(diags, diag,
                     "this is a type; the type of a tuple is R.Tuple(...)");
  else if (node->kind == TVMS_NODE_SINFO_SHAPE)
    tvms_diag_remark(diags, diag, "a shape that is a value is R.shape([...])");
  return true;
}

// What to write instead of a value of a wrong type.
static void explain_type(tvms_reader *reader, tvms_diag *diag, tvms_ref ref,
                         const char *expected, tvms_eval_value value) {
  tvms_diags *diags = &reader->context->diags;
  tvms_span span = tvms_reader_span_of(reader, ref);
  if (tvms_reader_at(reader, ref)->kind == TVMS_SURF_SUBSCRIPT
      && strcmp(expected, "a data type or T.handle") == 0) {
    // `T.let[int]`
    ref = tvms_reader_at(reader, ref)->b;
    span = tvms_reader_span_of(reader, ref);
  }
  bool named = tvms_reader_at(reader, ref)->kind == TVMS_SURF_NAME;
  const char *word =
      named ? tvms_symbol_text(reader->context, tvms_reader_at(reader, ref)->a) : "";
  const char *dtype = tvms_meant_find(TVMS_MEANT_DTYPE, word);
  if (!dtype && strcmp(word, "bool") == 0) dtype = word;
  const tvms_node *buffer = tvms_eval_value_node_of(value, TVMS_NODE_BUFFER);
  if (buffer
      && (strstr(expected, "an expression") || strstr(expected, "a number")
          || strstr(expected, "a boolean"))) {
    tvms_eval_note_element(reader, diag, buffer);
  } else if (dtype && strcmp(expected, "a data type") == 0) {
    tvms_diag_remark(diags, diag, "a data type is a string: \"%s\"", dtype);
    tvms_diag_fix(diags, diag, span, false, "\"%s\"", dtype);
  } else if (dtype && strncmp(expected, "a data type or", 14) == 0) {
    tvms_diag_remark(diags, diag, "did you mean 'T.%s'?", dtype);
    tvms_diag_fix(diags, diag, span, false, "T.%s", dtype);
  } else if (strcmp(expected, "a type") == 0) {
    const char *other = value.kind == TVMS_EVAL_TUPLE || value.kind == TVMS_EVAL_LIST
                            ? "a tensor of this shape"
                        : dtype ? "a tensor of this data type"
                                : "a tensor";
    tvms_diag_remark(diags, diag, "%s is R.Tensor(shape, dtype)", other);
  } else if (explain_order(reader, diag, ref, expected, value)) {
    return;
  } else if (is_uncalled(value) && !dtype
             && (named || tvms_reader_at(reader, ref)->kind == TVMS_SURF_ATTRIBUTE)) {
    int len = (int)(span.end - span.begin);
    tvms_diag_remark(diags, diag, "call it: %.*s(...)", len,
                     reader->surface->source->text + span.begin);
  } else if (value.kind == TVMS_EVAL_INT
             && strncmp(expected, "a tuple or list", 15) == 0
             && strstr(expected, "dimensions")) {
    int len = (int)(span.end - span.begin);
    const char *text = reader->surface->source->text + span.begin;
    tvms_diag_remark(diags, diag, "write (%.*s,)", len, text);
  } else {
    tvms_eval_explain_value(reader, diag, ref, expected, value);
  }
}

// Whether a constant of Python was reported to be of a wrong type where it is mentioned before.
static bool is_constant_again(const tvms_reader *reader, tvms_ref ref,
                              tvms_eval_value value) {
  bool constant = value.kind == TVMS_EVAL_FLOAT || value.kind == TVMS_EVAL_STR
                  || value.kind == TVMS_EVAL_NONE || value.kind == TVMS_EVAL_CALLABLE;
  return constant && is_said_of_name(reader, TVMS_D_wrong_type, ref);
}

// Whether another part of what stands at `ref` was just reported.
static bool is_same_place(const tvms_reader *reader, tvms_ref ref) {
  const tvms_diag *last = reader->context->diags.last;
  tvms_span span = tvms_reader_span_of(reader, ref);
  return last && last->id == TVMS_D_wrong_type
         && last->source == reader->context->diags.source
         && last->span.begin == span.begin && last->span.end == span.end;
}

tvms_diag *tvms_eval_report_type(tvms_reader *reader, tvms_ref ref,
                                 const char *TVMS_NULLABLE what, const char *expected,
                                 tvms_eval_value value) {
  reader->failed = true;
  bool text = strcmp(expected, "a string") == 0;
  tvms_eval_assume_wanted(reader, value, text ? TVMS_WANTED_TEXT : TVMS_WANTED_NUMBER);
  if (!is_known_throughout(value)) return NULL;
  if (is_whole_grid(reader, ref, value) || is_swapped(reader, ref)) return NULL;
  char name[80];
  if (!what) {
    name_value(reader, ref, name, sizeof name);
    what = name;
  }
  const char *got = tvms_eval_describe(reader, value);
  if (is_constant_again(reader, ref, value) || is_same_place(reader, ref)) return NULL;
  tvms_diag *diag = tvms_reader_report(reader, wrong_type, ref, what, expected, got);
  if (!tvms_trial_is_muted(&reader->context->diags))
    explain_type(reader, diag, ref, expected, value);
  return diag;
}

void tvms_eval_suggest_call(tvms_reader *reader, tvms_diag *diag, tvms_ref ref) {
  tvms_span span = tvms_reader_span_of(reader, ref);
  tvms_diags *diags = &reader->context->diags;
  tvms_diag_remark(diags, diag, "call it");
  tvms_diag_fix(diags, diag, (tvms_span){span.end, span.end}, true, "()");
}

void tvms_eval_report_index(tvms_reader *reader, tvms_ref ref, uint32_t count) {
  tvms_reader_report(reader, index_out_of_range, ref, count == 1 ? "is" : "are", count,
                     tvms_diag_plural(count));
}

tvms_eval_value *tvms_eval_keep_items(tvms_reader *reader, const tvms_eval_value *items,
                                      uint32_t len) {
  tvms_eval_value *copy = tvms_arena_array(&reader->values, tvms_eval_value, len);
  if (len) memcpy(copy, items, len * sizeof *items);
  return copy;
}

// ---- Attribute values -----------------------------------------------------------------------

static tvms_node *object_of_items(tvms_reader *reader, tvms_eval_value value,
                                  tvms_ref ref) {
  tvms_node **items = tvms_arena_array(&reader->unit->arena, tvms_node *, value.len);
  for (uint32_t i = 0; i < value.len; i++) {
    items[i] = tvms_eval_to_object(reader, value.as.items[i], ref);
    if (!items[i]) return NULL;
  }
  return tvms_object_array_new(reader->unit, items, value.len,
                               tvms_reader_span_of(reader, ref));
}

static tvms_node *object_of_dict(tvms_reader *reader, tvms_eval_value dict,
                                 tvms_ref ref) {
  uint32_t count = dict.len / 2;
  tvms_node **keys = tvms_arena_array(&reader->unit->arena, tvms_node *, count);
  tvms_node **values = tvms_arena_array(&reader->unit->arena, tvms_node *, count);
  for (uint32_t i = 0; i < count; i++) {
    keys[i] = tvms_eval_to_object(reader, dict.as.items[2 * i], ref);
    values[i] = tvms_eval_to_object(reader, dict.as.items[2 * i + 1], ref);
    if (!keys[i] || !values[i]) return NULL;
  }
  return tvms_object_map_new(reader->unit, keys, values, count,
                             tvms_reader_span_of(reader, ref));
}

tvms_node *tvms_eval_to_object(tvms_reader *reader, tvms_eval_value value,
                               tvms_ref ref) {
  tvms_unit *unit = reader->unit;
  tvms_span span = tvms_reader_span_of(reader, ref);
  switch (value.kind) {
  case TVMS_EVAL_NONE: return tvms_object_none_new(unit, span);
  case TVMS_EVAL_BOOL: return tvms_object_bool_new(unit, value.as.i != 0, span);
  case TVMS_EVAL_INT: return tvms_object_int_new(unit, value.as.i, span);
  case TVMS_EVAL_FLOAT: return tvms_object_float_new(unit, value.as.f, span);
  case TVMS_EVAL_STR: return tvms_object_str_new(unit, value.as.text, value.len, span);
  case TVMS_EVAL_DTYPE: return tvms_object_dtype_new(unit, value.as.dtype, span);
  case TVMS_EVAL_TUPLE:
  case TVMS_EVAL_LIST: return object_of_items(reader, value, ref);
  case TVMS_EVAL_DICT: return object_of_dict(reader, value, ref);
  case TVMS_EVAL_NODE: return value.as.node;
  case TVMS_EVAL_META: return tvms_eval_to_object(reader, value.as.items[0], ref);
  default:
    tvms_eval_report_wrong_type(reader, ref, "an attribute", "a value", value);
    return NULL;
  }
}

bool tvms_eval_to_map(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                      tvms_node **map) {
  *map = NULL;
  if (value.kind == TVMS_EVAL_NONE) return true;
  if (value.kind != TVMS_EVAL_DICT) {
    tvms_eval_report_wrong_type(reader, ref, NULL, "a dict", value);
    return false;
  }
  for (uint32_t i = 0; i < value.len; i += 2) {
    tvms_eval_value key = value.as.items[i];
    if (key.kind == TVMS_EVAL_STR || !tvms_eval_value_is_known(key)) continue;
    tvms_eval_report_wrong_type(reader, ref, "a key", "a string", key);
    return false;
  }
  *map = object_of_dict(reader, value, ref);
  return *map != NULL;
}

// ---- Plain data -----------------------------------------------------------------------------

static bool parse_short_dtype(tvms_eval_value text, tvms_dtype *dtype) {
  static const struct {
    const char *brief, *full;
  } words[] = {{"bf", "bfloat"}, {"f", "float"}, {"i", "int"}, {"u", "uint"}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    size_t len = strlen(words[i].brief);
    if (text.len <= len || memcmp(text.as.text, words[i].brief, len) != 0) continue;
    if (!isdigit((unsigned char)text.as.text[len])) continue;
    char full[32];
    int count = snprintf(full, sizeof full, "%s%.*s", words[i].full,
                         (int)(text.len - len), text.as.text + len);
    return (size_t)count < sizeof full && tvms_dtype_parse(full, (size_t)count, dtype);
  }
  return false;
}

// Text as the release has it: truth is an unsigned integer of one bit up to 0.24, with vectors
// of the name "uint1x4"; "f16x2" is short for "float16x2" from 0.26 on.
static bool parse_dtype(const tvms_reader *reader, tvms_eval_value text,
                        tvms_dtype *dtype) {
  if (!tvms_dtype_parse(text.as.text, text.len, dtype)) {
    return tvms_release_has(reader->dialect, TVMS_FACT_dtypes_have_short_names)
           && parse_short_dtype(text, dtype);
  }
  // From 0.26 on a pointer has no width.
  if (tvms_dtype_is_handle(*dtype)) {
    return tvms_release_has(reader->dialect, TVMS_FACT_pointers_have_widths)
           || text.len == strlen("handle");
  }
  if (!tvms_release_has(reader->dialect, TVMS_FACT_bools_are_uint1)) return true;
  if (tvms_dtype_is_bool(*dtype)) return text.len == strlen("bool");
  if (dtype->code == TVMS_UINT && dtype->bits == 1) {
    *dtype = tvms_dtype_with_lanes(TVMS_DTYPE(BOOL, 1), dtype->lanes);
  }
  return true;
}

static void report_dtype(tvms_reader *reader, tvms_eval_value value, tvms_ref ref) {
  static const char *const names[] = {
      "float16", "float32", "float64", "bfloat16", "int8",   "int16",  "int32",
      "int64",   "uint8",   "uint16",  "uint32",   "uint64", "handle", "bool"};
  reader->failed = true;
  if (is_said_of_name(reader, TVMS_D_bad_dtype, ref)) return;
  tvms_diag *diag =
      tvms_reader_report(reader, bad_dtype, ref, (int)value.len, value.as.text);
  const char *meant = tvms_meant_find(TVMS_MEANT_DTYPE, value.as.text);
  if (!meant) {
    uint32_t count = sizeof names / sizeof names[0];
    meant = tvms_diag_nearest_name(value.as.text, names, count);
  }
  if (!meant) return;
  tvms_diags *diags = &reader->context->diags;
  tvms_diag_remark(diags, diag, "did you mean '%s'?", meant);
  if (tvms_reader_at(reader, ref)->kind == TVMS_SURF_STRING) {
    tvms_diag_fix(diags, diag, tvms_reader_span_of(reader, ref), false, "\"%s\"",
                  meant);
  }
}

bool tvms_eval_to_dtype(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                        tvms_dtype *dtype) {
  tvms_eval_value constant = tvms_eval_constant_of(reader, value);
  if (constant.kind == TVMS_EVAL_DTYPE) {
    *dtype = constant.as.dtype;
    return true;
  }
  if (value.kind != TVMS_EVAL_STR) {
    tvms_eval_assume_wanted(reader, value, TVMS_WANTED_DTYPE);
    tvms_eval_report_wrong_type(reader, ref, NULL, "a data type", value);
    return false;
  }
  if (parse_dtype(reader, value, dtype)) return true;
  // Python has registered it.
  static const char custom[] = "custom[";
  bool registered = value.len > sizeof custom - 1
                    && memcmp(value.as.text, custom, sizeof custom - 1) == 0;
  if (registered && reader->lenient)
    (void)tvms_reader_of_python(reader, ref);
  else
    report_dtype(reader, value, ref);
  return false;
}

bool tvms_eval_to_named_dtype(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                              tvms_dtype *dtype) {
  if (value.kind == TVMS_EVAL_DTYPE_NAME) {
    *dtype = value.as.dtype;
    return true;
  }
  tvms_sym name = value.kind == TVMS_EVAL_CALLABLE ? value.as.row->name : 0;
  if (name == TVMS_SYM_bool || name == TVMS_SYM_boolean) {
    *dtype = TVMS_DTYPE(BOOL, 1);
    return true;
  }
  if (name == TVMS_SYM_handle) {
    *dtype = TVMS_DTYPE(HANDLE, 64);
    return true;
  }
  return tvms_eval_to_dtype(reader, value, ref, dtype);
}

tvms_eval_value tvms_eval_special_float(tvms_eval_value text) {
  bool minus = text.len > 0 && text.as.text[0] == '-';
  const char *word = text.as.text + minus;
  if (text.len - minus != 3) return text;
  double sign = minus ? -1 : 1;
  if (memcmp(word, "inf", 3) == 0) return tvms_eval_value_float(sign * __builtin_inf());
  return memcmp(word, "nan", 3) == 0 ? tvms_eval_value_float(__builtin_nan("")) : text;
}

bool tvms_eval_to_int(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                      int64_t *result) {
  if (value.kind == TVMS_EVAL_INT || value.kind == TVMS_EVAL_BOOL) {
    *result = value.as.i;
    return true;
  }
  tvms_eval_report_wrong_type(reader, ref, NULL, "an int", value);
  return false;
}

bool tvms_eval_to_text(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                       tvms_bytes *text) {
  if (value.kind == TVMS_EVAL_STR) {
    *text = tvms_bytes_copy(reader->unit, value.as.text, value.len);
    return true;
  }
  tvms_eval_report_wrong_type(reader, ref, NULL, "a string", value);
  return false;
}

bool tvms_eval_to_flag(tvms_reader *reader, tvms_eval_value value, tvms_ref ref,
                       bool *flag) {
  if (value.kind == TVMS_EVAL_BOOL || value.kind == TVMS_EVAL_INT) {
    *flag = value.as.i != 0;
    return true;
  }
  tvms_eval_report_wrong_type(reader, ref, NULL, "a bool", value);
  return false;
}

bool tvms_eval_value_is_exactly(tvms_eval_value value, const char *text) {
  return value.kind == TVMS_EVAL_STR && value.len == strlen(text)
         && memcmp(value.as.text, text, value.len) == 0;
}
