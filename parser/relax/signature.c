// Signatures of operators: the column of ops.def, parsed once per operator and reading.
//
// What the dialect being read does not have is left out: attributes by the releases in
// attrs.def, tir_vars from 0.26 on. Types of results are called sinfo_args and out_sinfo
// up to 0.25.
#include "parser/relax/signature.h"

#include "parser/relax/state.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const struct {
  const char *text;
  tvms_arg_kind kind;
} kinds[] = {
    {"shape2", TVMS_ARG_SHAPE2}, {"shape3", TVMS_ARG_SHAPE3},
    {"shape", TVMS_ARG_SHAPE},   {"size", TVMS_ARG_SIZE},
    {"prim", TVMS_ARG_PRIM},     {"tuple", TVMS_ARG_TUPLE},
    {"args", TVMS_ARG_ARGS},     {"str", TVMS_ARG_STR},
    {"dtype", TVMS_ARG_DTYPE},   {"expr", TVMS_ARG_EXPR},
    {"func", TVMS_ARG_FUNC},     {"extern", TVMS_ARG_EXTERN},
};

typedef struct {
  tvms_reader *reader;
  const char *at;
} scanner;

static void skip(scanner *scan) {
  while (*scan->at == ' ' || *scan->at == ',') {
    scan->at++;
  }
}

static size_t word_length(const char *text) {
  size_t len = 0;
  while (isalnum((unsigned char)text[len]) || text[len] == '_') {
    len++;
  }
  return len;
}

static tvms_arg_kind scan_kind(scanner *scan) {
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    size_t len = strlen(kinds[i].text);
    if (strncmp(scan->at, kinds[i].text, len) != 0) continue;
    scan->at += len;
    return kinds[i].kind;
  }
  TVMS_UNREACHABLE("a kind of argument");
  return TVMS_ARG_VALUE;
}

static tvms_eval_value scan_default(scanner *scan);

static tvms_eval_value scan_tuple(scanner *scan) {
  enum { MOST = 8 };
  tvms_eval_value items[MOST];
  uint32_t count = 0;
  for (scan->at++; *scan->at != ')'; skip(scan)) {
    TVMS_CHECK(count < MOST);
    items[count++] = scan_default(scan);
  }
  scan->at++;
  // Signatures outlive the values of one function.
  tvms_eval_value *kept =
      tvms_arena_array(&scan->reader->kept, tvms_eval_value, count + 1);
  memcpy(kept, items, count * sizeof *items);
  return tvms_eval_value_items(TVMS_EVAL_TUPLE, kept, count);
}

static tvms_eval_value scan_default(scanner *scan) {
  const char *at = scan->at;
  if (*at == '(') return scan_tuple(scan);
  if (*at == '"') {
    const char *end = strchr(at + 1, '"');
    TVMS_CHECK(end);
    scan->at = end + 1;
    size_t len = (size_t)(end - at - 1);
    const char *text = tvms_arena_text(&scan->reader->kept, at + 1, len);
    return tvms_eval_value_text(text, (uint32_t)len);
  }
  size_t len = word_length(at);
  bool word = isalpha((unsigned char)*at);
  if (word) {
    scan->at += len;
    if (strncmp(at, "None", len) == 0) return TVMS_NOTHING;
    return tvms_eval_value_bool(strncmp(at, "True", len) == 0);
  }
  char *end;
  long number = strtol(at, &end, 10);
  bool real = *end == '.' || *end == 'e';
  double value = real ? strtod(at, &end) : 0;
  TVMS_CHECK(end > at);
  scan->at = end;
  return real ? tvms_eval_value_float(value) : tvms_eval_value_int(number);
}

static bool text_is(const char *text, size_t len, const char *word) {
  return strlen(word) == len && memcmp(text, word, len) == 0;
}

// The name of a parameter in the dialect being read.
static tvms_sym scan_name(scanner *scan, bool *type, bool *drop) {
  const char *text = scan->at;
  size_t len = word_length(text);
  scan->at += len;
  bool old = !tvms_release_has(scan->reader->dialect, TVMS_FACT_types_are_called_ty);
  bool out = text_is(text, len, "out_ty"), args = text_is(text, len, "ty_args");
  *type = out || args;
  *drop = !old && text_is(text, len, "tir_vars");
  tvms_context *context = scan->reader->context;
  if (out && old) return tvms_symbol_intern(context, "out_sinfo", 9);
  if (args && old) return tvms_symbol_intern(context, "sinfo_args", 10);
  return tvms_symbol_intern(context, text, len);
}

// Parses one parameter. Returns false if the dialect does not have it.
static bool scan_param(scanner *scan, tvms_opcode op, bool keyword_only,
                       tvms_param *param, uint8_t *kind, int8_t *place) {
  *param = (tvms_param){.required = true};
  *kind = TVMS_ARG_VALUE;
  if (*scan->at == '*') {
    param->kind = TVMS_PARAM_REST;
    param->required = false;
    scan->at++;
  } else if (keyword_only) {
    param->kind = TVMS_PARAM_KEYWORD_ONLY;
  }
  bool type, drop;
  const char *name = scan->at;
  size_t len = word_length(name);
  param->name = scan_name(scan, &type, &drop);
  if (type) *kind = TVMS_ARG_TYPE;
  if (*scan->at == ':') {
    scan->at++;
    skip(scan);
    *kind = (uint8_t)scan_kind(scan);
  }
  if (*scan->at == '=') {
    scan->at++;
    param->required = false;
    param->value = scan_default(scan);
  }
  const tvms_attr_schema *schema = tvms_op_schema(op);
  *place = (int8_t)tvms_attr_find(schema, name, len);
  if (*place >= 0) drop = !tvms_attr_in(&schema->rows[*place], scan->reader->dialect);
  return !drop;
}

// Whether the prototype gives the type of the result in two parts.
static bool is_prototype_call(const tvms_reader *reader,
                              const tvms_op_signature *signature, uint32_t count) {
  bool typed = false;  // by more than ty_args, which stands last
  for (uint32_t i = 0; i + 1 < count; i++) {
    typed = typed || signature->kinds[i] == TVMS_ARG_TYPE;
  }
  return typed && tvms_release_has(reader->dialect, TVMS_FACT_is_prototype)
         && count < TVMS_MAX_PARAMS;
}

static const tvms_op_signature *parse(tvms_reader *reader, tvms_opcode op) {
  tvms_arena *arena = &reader->kept;
  tvms_op_signature *result = tvms_arena_new(arena, tvms_op_signature);
  tvms_param params[TVMS_MAX_PARAMS];
  tvms_signature head = {.rest = -1, .keywords = -1};
  scanner scan = {reader, tvms_op_of(op)->signature};
  bool keyword_only = false, has_type_args = false;
  for (skip(&scan); *scan.at; skip(&scan)) {
    if (scan.at[0] == '*' && (scan.at[1] == ',' || scan.at[1] == '\0')) {
      keyword_only = true;
      scan.at++;
      continue;
    }
    TVMS_CHECK(head.count < TVMS_MAX_PARAMS);
    uint32_t i = head.count;
    if (!scan_param(&scan, op, keyword_only, &params[i], &result->kinds[i],
                    &result->places[i])) {
      continue;
    }
    has_type_args = has_type_args || params[i].name == TVMS_SYM_ty_args
                    || params[i].name == TVMS_SYM_sinfo_args;
    if (params[i].kind == TVMS_PARAM_REST) {
      head.rest = (int32_t)i;
      keyword_only = true;
    } else if (params[i].kind == TVMS_PARAM_PLAIN) {
      head.plain++;
    }
    head.count++;
  }
  if (!has_type_args && head.count < TVMS_MAX_PARAMS) {
    // TVM prints the types of any call; after CallTIRRewrite alloc_tensor has one.
    bool old = !tvms_release_has(reader->dialect, TVMS_FACT_types_are_called_ty);
    tvms_sym name = old ? TVMS_SYM_sinfo_args : TVMS_SYM_ty_args;
    params[head.count] =
        (tvms_param){name, TVMS_PARAM_KEYWORD_ONLY, false, TVMS_NOTHING};
    result->kinds[head.count] = TVMS_ARG_TYPE;
    result->places[head.count++] = -1;
  }
  if (is_prototype_call(reader, result, head.count)) {
    // `R.call_tir(f, args, shape, dtype="float32")`; see prototype.c.
    params[head.count] =
        (tvms_param){TVMS_SYM_dtype, TVMS_PARAM_KEYWORD_ONLY, false, TVMS_NOTHING};
    result->kinds[head.count] = TVMS_ARG_OTHER;
    result->places[head.count++] = -1;
  }
  tvms_signature *signature =
      tvms_arena_alloc(arena, sizeof head + head.count * sizeof *params);
  *signature = head;
  memcpy(signature->params, params, head.count * sizeof *params);
  result->signature = signature;
  return result;
}

const tvms_op_signature *tvms_relax_op_signature(tvms_reader *reader, tvms_opcode op) {
  const tvms_op_signature **signatures = reader->made[TVMS_RELAX_ROOM];
  if (!signatures) {
    signatures =
        tvms_arena_array(&reader->kept, const tvms_op_signature *, TVMS_OP_COUNT + 1);
    reader->made[TVMS_RELAX_ROOM] = (void *)signatures;
  }
  if (!signatures[op]) signatures[op] = parse(reader, op);
  return signatures[op];
}
