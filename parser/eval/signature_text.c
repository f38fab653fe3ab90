// Signatures parsed: the parameters of a row or a method, from their text.
#include "parser/eval/signature_text.h"

#include "parser/eval/reader.h"
#include "support/check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  tvms_reader *reader;
  const char *at;
} scanner;

static void skip_spaces(scanner *scan) {
  while (*scan->at == ' ' || *scan->at == ',') {
    scan->at++;
  }
}

static tvms_sym scan_name(scanner *scan) {
  const char *begin = scan->at;
  while (isalnum((unsigned char)*scan->at) || *scan->at == '_') {
    scan->at++;
  }
  return tvms_symbol_intern(scan->reader->context, begin, (size_t)(scan->at - begin));
}

static tvms_eval_value scan_word(scanner *scan, const char *word,
                                 tvms_eval_value value) {
  scan->at += strlen(word);
  return value;
}

// A default: None, True, False, a number or a string in single quotes.
static tvms_eval_value scan_default(scanner *scan) {
  const char *at = scan->at;
  if (strncmp(at, "None", 4) == 0) return scan_word(scan, "None", TVMS_NOTHING);
  if (strncmp(at, "True", 4) == 0)
    return scan_word(scan, "True", tvms_eval_value_bool(true));
  if (strncmp(at, "False", 5) == 0) {
    return scan_word(scan, "False", tvms_eval_value_bool(false));
  }
  if (*at == '\'') {
    const char *end = strchr(at + 1, '\'');
    TVMS_CHECK(end);
    scan->at = end + 1;
    size_t len = (size_t)(end - at - 1);
    const char *text = tvms_arena_text(&scan->reader->kept, at + 1, len);
    return tvms_eval_value_text(text, (uint32_t)len);
  }
  char *end;
  long number = strtol(at, &end, 10);
  if (*end == '.') {
    double real = strtod(at, &end);
    scan->at = end;
    return tvms_eval_value_float(real);
  }
  TVMS_CHECK(end > at);
  scan->at = end;
  return tvms_eval_value_int(number);
}

static tvms_param scan_param(scanner *scan, bool after_star) {
  tvms_param param = {.kind = after_star ? TVMS_PARAM_KEYWORD_ONLY : TVMS_PARAM_PLAIN,
                      .required = true};
  if (scan->at[0] == '*') {
    param.kind = scan->at[1] == '*' ? TVMS_PARAM_KEYWORDS : TVMS_PARAM_REST;
    param.required = false;
    scan->at += param.kind == TVMS_PARAM_KEYWORDS ? 2 : 1;
  }
  param.name = scan_name(scan);
  if (*scan->at == '=') {
    scan->at++;
    param.required = false;
    param.value = scan_default(scan);
  }
  return param;
}

const tvms_signature *tvms_signature_parse(tvms_reader *reader, const char *text) {
  tvms_param params[TVMS_MAX_PARAMS];
  tvms_signature head = {.rest = -1, .keywords = -1};
  scanner scan = {reader, text};
  bool after_star = false;
  for (skip_spaces(&scan); *scan.at; skip_spaces(&scan)) {
    if (scan.at[0] == '*' && (scan.at[1] == ',' || scan.at[1] == '\0')) {
      after_star = true;
      scan.at++;
      continue;
    }
    TVMS_CHECK(head.count < TVMS_MAX_PARAMS);
    tvms_param param = scan_param(&scan, after_star);
    if (param.kind == TVMS_PARAM_REST) {
      head.rest = (int32_t)head.count;
      after_star = true;
    }
    if (param.kind == TVMS_PARAM_KEYWORDS) head.keywords = (int32_t)head.count;
    if (param.kind == TVMS_PARAM_PLAIN) head.plain++;
    params[head.count++] = param;
  }
  tvms_signature *signature = tvms_arena_alloc(
      &reader->kept, sizeof *signature + head.count * sizeof signature->params[0]);
  *signature = head;
  memcpy(signature->params, params, head.count * sizeof params[0]);
  return signature;
}

const tvms_signature *tvms_row_signature(tvms_reader *reader, const tvms_row *row) {
  if (!reader->signatures) {
    reader->signatures =
        tvms_arena_array(&reader->kept, const tvms_signature *, TVMS_ENTRIES);
  }
  const tvms_signature **slot = &reader->signatures[row->index];
  if (!*slot) *slot = tvms_signature_parse(reader, row->signature);
  return *slot;
}

const tvms_signature *tvms_signature_of_method(tvms_reader *reader, const char *text) {
  for (uint32_t i = 0; i < reader->methods.len; i++) {
    if (reader->methods.items[i].text == text)
      return reader->methods.items[i].signature;
  }
  tvms_known_signature known = {text, tvms_signature_parse(reader, text)};
  tvms_vec_push(&reader->context->memory, &reader->methods, known);
  return known.signature;
}
