// Words of the user to levels of diagnostics.
//
// Codes are matched by their begin, as other linters do: "W11" is every lint, "W111" ten of
// them. The letter may be left out, and letters count in no case.
#include "lint/levels.h"

#include "lint/rules.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

tvms_lint_levels tvms_lint_levels_new(tvms_memory *memory) {
  tvms_lint_levels levels = {tvms_memory_alloc(memory, tvms_diag_row_count())};
  for (uint32_t i = 0; i < tvms_lint_rule_count(); i++) {
    const tvms_lint_rule *rule = tvms_lint_rule_at(i);
    if (!rule->on) levels.of[rule->id] = TVMS_LEVEL_OFF;
  }
  return levels;
}

static bool begins_with(const char *text, const char *word, size_t len) {
  return strncasecmp(text, word, len) == 0;
}

static bool is_word(const char *text, const char *word, size_t len) {
  return strlen(text) == len && strncasecmp(text, word, len) == 0;
}

// Whether the word means row `id`; of groups only lints are members. What is an error by
// itself stays one.
static bool means(tvms_diag_id id, const char *word, size_t len) {
  const tvms_diag_row *row = tvms_diag_row_of(id);
  if (row->severity == TVMS_SEVERITY_ERROR) return false;
  const tvms_lint_rule *rule = tvms_lint_rule_of(id);
  if (is_word("ALL", word, len)) return rule;
  if (is_word("DEFAULT", word, len)) return rule && rule->on;
  bool digits = isdigit((unsigned char)word[0]);
  return begins_with(row->label + digits, word, len) || is_word(row->name, word, len);
}

typedef struct {
  tvms_lint_levels *levels;
  tvms_diag_level level;
} change;

static void set_level(const change *what, tvms_diag_id id) {
  uint8_t *level = &what->levels->of[id];
  if (what->level == TVMS_LEVEL_DEFAULT) {
    if (tvms_lint_rule_of(id)) *level = TVMS_LEVEL_DEFAULT;
  } else if (what->level == TVMS_LEVEL_OFF || *level != TVMS_LEVEL_OFF) {
    *level = (uint8_t)what->level;
  }
}

static bool apply_word(const change *what, const char *word, size_t len) {
  bool found = false;
  for (uint32_t i = 0; len && i < tvms_diag_row_count(); i++) {
    if (!means((tvms_diag_id)i, word, len)) continue;
    found = true;
    set_level(what, (tvms_diag_id)i);
  }
  return found;
}

// The words of `text` up to `end`, separated by commas and blanks.
static bool apply_words(const change *what, const char *text, const char *end,
                        tvms_strbuf *wrong) {
  for (const char *at = text; at < end;) {
    size_t len = strcspn(at, ", =");
    if (len && !apply_word(what, at, len)) {
      tvms_strbuf_add(wrong, at, len);
      return false;
    }
    at += len + 1;
  }
  return true;
}

void tvms_lint_levels_clear(tvms_lint_levels *levels) {
  for (uint32_t i = 0; i < tvms_lint_rule_count(); i++) {
    levels->of[tvms_lint_rule_at(i)->id] = TVMS_LEVEL_OFF;
  }
}

bool tvms_lint_levels_select(tvms_lint_levels *levels, const char *words,
                             tvms_strbuf *wrong) {
  change what = {levels, TVMS_LEVEL_DEFAULT};
  return apply_words(&what, words, words + strlen(words), wrong);
}

bool tvms_lint_levels_ignore(tvms_lint_levels *levels, const char *words,
                             tvms_strbuf *wrong) {
  change what = {levels, TVMS_LEVEL_OFF};
  return apply_words(&what, words, words + strlen(words), wrong);
}

bool tvms_lint_levels_set(tvms_lint_levels *levels, const char *setting,
                          tvms_strbuf *wrong) {
  static const char *const names[] = {
      [TVMS_LEVEL_ERROR] = "error",
      [TVMS_LEVEL_WARNING] = "warning",
      [TVMS_LEVEL_NOTE] = "note",
  };
  const char *equals = strchr(setting, '=');
  for (uint8_t level = TVMS_LEVEL_ERROR; equals && level <= TVMS_LEVEL_NOTE; level++) {
    if (strcmp(names[level], equals + 1) != 0) continue;
    change what = {levels, (tvms_diag_level)level};
    return apply_words(&what, setting, equals, wrong);
  }
  tvms_strbuf_puts(wrong, setting);
  return false;
}
