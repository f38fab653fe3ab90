// Values of options that are more than a word: lists and maps in Python's notation.
//
// The notation is that of Python's repr(), so that what a script would pass to TVM's pass
// can be written into the text of a pipeline as it is.
#include "passes/literal.h"

#include "support/vec.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_NESTED_LITERALS = 16 };

typedef struct {
  tvms_context *context;
  tvms_arena *arena;
  const char *at;
  uint32_t depth;
} scanner;

typedef TVMS_VEC(tvms_literal) literal_vec;

static bool read_value(scanner *s, tvms_literal *value);

static void skip_blanks(scanner *s) {
  while (isspace((unsigned char)*s->at))
    s->at++;
}

static bool accept(scanner *s, char c) {
  skip_blanks(s);
  if (*s->at != c) return false;
  s->at++;
  return true;
}

// Passes put texts into nodes, which outlive the pipeline.
static const char *keep_text(const scanner *s, const char *text, size_t len) {
  return tvms_symbol_text(s->context, tvms_symbol_intern(s->context, text, len));
}

// What stands between two quotes; there are no escapes.
static bool read_quoted(scanner *s, tvms_literal *value) {
  char quote = *s->at++;
  const char *end = strchr(s->at, quote);
  if (!end) return false;
  size_t len = (size_t)(end - s->at);
  value->kind = TVMS_LITERAL_TEXT;
  value->text = keep_text(s, s->at, len);
  s->at = end + 1;
  return true;
}

static bool read_word(scanner *s, tvms_literal *value) {
  const char *begin = s->at;
  while (*s->at && !isspace((unsigned char)*s->at) && !strchr(",:;()[]{}'\"", *s->at))
    s->at++;
  size_t len = (size_t)(s->at - begin);
  if (len == 0) return false;
  value->text = keep_text(s, begin, len);
  char *end;
  value->number = strtoll(value->text, &end, 10);
  value->kind = *end == '\0' ? TVMS_LITERAL_INT : TVMS_LITERAL_TEXT;
  if (strcmp(value->text, "None") == 0) value->kind = TVMS_LITERAL_NONE;
  return true;
}

static void keep_items(scanner *s, literal_vec *items, tvms_literal *value) {
  tvms_literal *copy = tvms_arena_array(s->arena, tvms_literal, items->len + 1);
  if (items->len) memcpy(copy, items->items, items->len * sizeof *copy);
  value->items = copy;
  value->len = items->len;
  tvms_vec_fini(&s->context->memory, items);
}

// The items up to the bracket that closes; those of a map come in pairs.
static bool read_items(scanner *s, char close, tvms_literal *value) {
  literal_vec items = {0};
  bool fine = true, closed = accept(s, close);
  while (fine && !closed) {
    tvms_literal item;
    fine = read_value(s, &item);
    tvms_vec_push(&s->context->memory, &items, item);
    if (fine && value->kind == TVMS_LITERAL_MAP) {
      fine = accept(s, ':') && read_value(s, &item);
      tvms_vec_push(&s->context->memory, &items, item);
    }
    bool more = fine && accept(s, ',');
    closed = fine && accept(s, close);
    fine = closed || more;
  }
  keep_items(s, &items, value);
  return fine;
}

static bool read_brackets(scanner *s, tvms_literal *value) {
  char open = *s->at++;
  value->kind = open == '{' ? TVMS_LITERAL_MAP : TVMS_LITERAL_LIST;
  if (s->depth == MOST_NESTED_LITERALS) return false;
  s->depth++;
  bool fine = read_items(s, open == '{' ? '}' : open == '[' ? ']' : ')', value);
  s->depth--;
  return fine;
}

static bool read_value(scanner *s, tvms_literal *value) {
  skip_blanks(s);
  *value = (tvms_literal){0};
  if (*s->at == '\'' || *s->at == '"') return read_quoted(s, value);
  if (*s->at == '[' || *s->at == '(' || *s->at == '{') return read_brackets(s, value);
  return read_word(s, value);
}

const tvms_literal *tvms_pass_literal_read(tvms_context *context, tvms_arena *arena,
                                           const char *text) {
  scanner s = {.context = context, .arena = arena, .at = text};
  tvms_literal *value = tvms_arena_new(arena, tvms_literal);
  if (!read_value(&s, value)) return NULL;
  skip_blanks(&s);
  return *s.at == '\0' ? value : NULL;
}

const tvms_literal *tvms_pass_literal_get(const tvms_literal *map, const char *key) {
  if (map->kind != TVMS_LITERAL_MAP) return NULL;
  for (uint32_t i = 0; i < map->len; i += 2) {
    const tvms_literal *name = &map->items[i];
    if (name->text && strcmp(name->text, key) == 0) return &map->items[i + 1];
  }
  return NULL;
}

// Words with ';' between them.
static bool read_words(scanner *s, tvms_literal *list) {
  literal_vec items = {0};
  bool fine = true;
  skip_blanks(s);
  while (fine && *s->at) {
    tvms_literal item = {0};
    skip_blanks(s);
    fine = read_word(s, &item);
    item.kind = TVMS_LITERAL_TEXT;
    if (fine) tvms_vec_push(&s->context->memory, &items, item);
    skip_blanks(s);
    if (fine && *s->at && !accept(s, ';')) fine = false;
  }
  list->kind = TVMS_LITERAL_LIST;
  keep_items(s, &items, list);
  return fine;
}

static bool all_texts(const tvms_literal *list) {
  for (uint32_t i = 0; i < list->len; i++)
    if (list->items[i].kind != TVMS_LITERAL_TEXT) return false;
  return true;
}

const tvms_literal *tvms_pass_literal_read_texts(tvms_context *context,
                                                 tvms_arena *arena, const char *text) {
  const tvms_literal *value = tvms_pass_literal_read(context, arena, text);
  if (value && value->kind == TVMS_LITERAL_LIST) return all_texts(value) ? value : NULL;
  tvms_literal *list = tvms_arena_new(arena, tvms_literal);
  scanner s = {.context = context, .arena = arena, .at = text};
  return read_words(&s, list) ? list : NULL;
}
