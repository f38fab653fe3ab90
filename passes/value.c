// Values of options of passes: 'true', '8', 'float16', ['a', 'b'], {'a': 'b'}.
#include "passes/value.h"

#include "passes/tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// A text may stand in quotes: {target='x86_64-linux-gnu,znver4'}.
static bool is_quoted(const char *text, size_t len) {
  return len >= 2 && (text[0] == '\'' || text[0] == '"') && text[len - 1] == text[0];
}

static bool read_bool(tvms_pass_value *value) {
  static const struct {
    const char *word;
    bool meant;
  } words[] = {{"true", true},   {"True", true},   {"1", true},
               {"false", false}, {"False", false}, {"0", false}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strcmp(value->text, words[i].word) != 0) continue;
    value->number = words[i].meant;
    value->text = words[i].meant ? "true" : "false";
    return true;
  }
  return false;
}

// The word of a choice, as its row has it; the initial value is always allowed.
static bool read_choice(tvms_context *context, const tvms_pass_option *option,
                        tvms_pass_value *value) {
  if (strcmp(value->text, option->initial) == 0) return true;
  for (const char *word = option->words; *word;) {
    size_t len = strcspn(word, "|");
    if (strlen(value->text) == len && strncasecmp(value->text, word, len) == 0) {
      value->text = tvms_symbol_text(context, tvms_symbol_intern(context, word, len));
      return true;
    }
    word += len + (word[len] == '|');
  }
  return false;
}

static bool read_int(tvms_pass_value *value) {
  char *end;
  errno = 0;
  value->number = strtoll(value->text, &end, 10);
  return *value->text && *end == '\0' && errno == 0;
}

bool tvms_pass_value_read(tvms_context *context, tvms_arena *arena,
                          const tvms_pass_option *option, const char *text, size_t len,
                          tvms_pass_value *value) {
  if (option->type == TVMS_OPTION_TEXT && is_quoted(text, len)) {
    text++;
    len -= 2;
  }
  value->text = tvms_symbol_text(context, tvms_symbol_intern(context, text, len));
  tvms_dtype dtype;
  switch (option->type) {
  case TVMS_OPTION_TEXT: return !option->words || read_choice(context, option, value);
  case TVMS_OPTION_BOOL: return read_bool(value);
  case TVMS_OPTION_INT: return read_int(value);
  case TVMS_OPTION_DTYPE:
    return tvms_dtype_parse(value->text, len, &dtype) && !tvms_dtype_is_void(dtype);
  case TVMS_OPTION_LIST:
    value->literal = tvms_pass_literal_read_texts(context, arena, value->text);
    return value->literal != NULL;
  case TVMS_OPTION_MAP:
    value->literal = tvms_pass_literal_read(context, arena, value->text);
    return value->literal && value->literal->kind == TVMS_LITERAL_MAP;
  }
  return false;
}
