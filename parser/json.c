// JSON text as values of the evaluation.
#include "parser/json.h"

#include <string.h>

enum { DEEPEST = 16 };

typedef struct {
  tvms_reader *reader;
  const char *at;
  const char *end;
  bool bad;
} json;

static tvms_eval_value value_in(json *j, int depth);

static void skip_space(json *j) {
  while (j->at < j->end && strchr(" \t\r\n", *j->at)) {
    j->at++;
  }
}

static bool take(json *j, char c) {
  skip_space(j);
  if (j->at >= j->end || *j->at != c) return false;
  j->at++;
  return true;
}

static char unescaped(char c) {
  switch (c) {
  case 'n': return '\n';
  case 't': return '\t';
  case 'r': return '\r';
  case 'b': return '\b';
  case 'f': return '\f';
  default: return c;
  }
}

static tvms_eval_value malformed(json *j) {
  j->bad = true;
  return TVMS_NOTHING;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// The closing quote of the text at `at`, or NULL. Texts may be the weights of a model: what has no
// escapes is searched by memchr.
static const char *TVMS_NULLABLE closing_quote(const char *at, const char *end) {
  const char *quote = NULL;
  while (at < end) {
    if (!quote || quote < at) quote = memchr(at, '"', (size_t)(end - at));
    const char *slash = quote ? memchr(at, '\\', (size_t)(quote - at)) : NULL;
    if (!slash) return quote;
    at = slash + 2;
  }
  return NULL;
}

// What the escape behind a backslash stands for, or -1; \u escapes beyond ASCII do not occur.
static int escape_in(json *j, const char *close) {
  char c = *j->at++;
  if (c != 'u') return (uint8_t)unescaped(c);
  int code = 0;
  for (int i = 0; i < 4 && j->at < close; i++) {
    int digit = hex_digit(*j->at++);
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code > 0x7f ? -1 : code;
}

// The text after the opening quote.
static tvms_eval_value string_in(json *j) {
  const char *close = closing_quote(j->at, j->end);
  if (!close) return malformed(j);
  char *text = tvms_arena_alloc(&j->reader->kept, (size_t)(close - j->at) + 1);
  size_t len = 0;
  while (j->at < close) {
    const char *slash = memchr(j->at, '\\', (size_t)(close - j->at));
    size_t plain = (size_t)((slash ? slash : close) - j->at);
    memcpy(text + len, j->at, plain);
    len += plain;
    j->at += plain;
    if (!slash) break;
    j->at++;
    int code = escape_in(j, close);
    if (code < 0) return malformed(j);
    text[len++] = (char)code;
  }
  text[len] = '\0';
  j->at = close + 1;
  return tvms_eval_value_text(text, (uint32_t)len);
}

// Items of a list or, as pairs, of an object; the opening bracket is taken.
static tvms_eval_value items_in(json *j, bool pairs, int depth) {
  tvms_eval_value_vec items = {0};
  tvms_memory *memory = &j->reader->context->memory;
  char close = pairs ? '}' : ']';
  bool more = !take(j, close);
  while (more && !j->bad) {
    tvms_vec_push(memory, &items, value_in(j, depth + 1));
    if (pairs) {
      if (!take(j, ':')) j->bad = true;
      tvms_vec_push(memory, &items, value_in(j, depth + 1));
    }
    more = take(j, ',');
    if (!more && !take(j, close)) j->bad = true;
  }
  tvms_eval_value *kept =
      tvms_arena_array(&j->reader->kept, tvms_eval_value, items.len);
  if (items.len) memcpy(kept, items.items, items.len * sizeof *kept);
  tvms_eval_value list =
      tvms_eval_value_items(pairs ? TVMS_EVAL_DICT : TVMS_EVAL_LIST, kept, items.len);
  tvms_vec_fini(memory, &items);
  return list;
}

// Numbers that are not integers mean nothing here.
static tvms_eval_value number_in(json *j) {
  bool negative = take(j, '-');
  const char *from = j->at;
  uint64_t value = 0;
  while (j->at < j->end && *j->at >= '0' && *j->at <= '9') {
    value = value * 10 + (uint64_t)(*j->at++ - '0');
  }
  if (j->at == from) return malformed(j);
  while (j->at < j->end && strchr("0123456789.eE+-", *j->at)) {
    j->at++;
  }
  return tvms_eval_value_int(negative ? -(int64_t)value : (int64_t)value);
}

static tvms_eval_value value_in(json *j, int depth) {
  if (depth > DEEPEST) return malformed(j);
  if (take(j, '{')) return items_in(j, true, depth);
  if (take(j, '[')) return items_in(j, false, depth);
  if (take(j, '"')) return string_in(j);
  size_t left = (size_t)(j->end - j->at);
  const char *const words[] = {"null", "true", "false"};
  for (int i = 0; i < 3; i++) {
    size_t len = strlen(words[i]);
    if (left < len || memcmp(j->at, words[i], len) != 0) continue;
    j->at += len;
    return i ? tvms_eval_value_bool(i == 1) : TVMS_NOTHING;
  }
  return number_in(j);
}

tvms_eval_value tvms_parser_read_json(tvms_reader *reader, tvms_eval_value text) {
  json j = {.reader = reader, .at = text.as.text, .end = text.as.text + text.len};
  tvms_eval_value root = value_in(&j, 0);
  return j.bad ? TVMS_UNKNOWN : root;
}
