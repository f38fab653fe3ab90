// The tables of passes, their options and named pipelines, and how names are spelled.
//
// A pass is found by TVM's name or by the kebab spelling that is made from it; the table does
// not have both, so they cannot disagree.
#include "passes/tables.h"

#include "passes/functions.h"
#include "passes/properties.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// The column `requires` names properties without their prefix.
enum {
  NONE = TVMS_NO_PROPERTY,
#define PROPERTY(NAME, holds, text, passes) NAME = TVMS_PROPERTY_##NAME,
#include "passes/properties.def"
};

static const tvms_pass passes[] = {
#define PASS(Name, function, requires, since, until, summary)                          \
  {                                                                                    \
      #Name,                                                                           \
      tvms_pass_##function,                                                            \
      (requires),                                                                      \
      TVMS_DIALECT_##since,                                                            \
      TVMS_DIALECT_##until,                                                            \
      summary},
#define OPTION(Name, option, type, initial, summary)
#include "passes/passes.def"
};

static const tvms_pass_option options[] = {
#define PASS(Name, function, requires, since, until, summary)
#define OPTION(Name, option, type, initial, summary)                                   \
  {#Name, #option, TVMS_OPTION_##type, initial, summary, NULL},
#define CHOICE(Name, option, words, initial, summary)                                  \
  {#Name, #option, TVMS_OPTION_TEXT, initial, summary, words},
#include "passes/passes.def"
    {0},  // so that the table may be empty
};

static const tvms_pipeline_row pipelines[] = {
#define PIPELINE(name, passes, summary) {name, passes, summary},
#include "passes/pipelines.def"
};

#define LANGUAGE_RELAX "Relax"
#define LANGUAGE_TIR   "TIR"

static const tvms_missing_pass missing[] = {
#define MISSING(Name, since, until, LANGUAGE)                                          \
  {#Name, TVMS_DIALECT_##since, TVMS_DIALECT_##until, LANGUAGE_##LANGUAGE},
#include "passes/missing.def"
};

const tvms_pass *tvms_pass_rows(uint32_t *count) {
  *count = sizeof passes / sizeof passes[0];
  return passes;
}

const tvms_pass_option *tvms_pass_option_rows(uint32_t *count) {
  *count = sizeof options / sizeof options[0] - 1;
  return options;
}

static const struct {
  const char *word;
  const char *wants;
} option_types[] = {
    [TVMS_OPTION_BOOL] = {"boolean", "true or false"},
    [TVMS_OPTION_INT] = {"integer", "an integer"},
    [TVMS_OPTION_TEXT] = {"string", "a string"},
    [TVMS_OPTION_DTYPE] = {"data type", "a data type"},
    [TVMS_OPTION_LIST] = {"list", "a list: ['a', 'b'] or a;b"},
    [TVMS_OPTION_MAP] = {"map", "a map: {'a': 'b'}"},
};

const char *tvms_pass_option_word(tvms_option_type type) {
  return option_types[type].word;
}

const char *tvms_pass_option_wants(const tvms_pass_option *option,
                                   char text[TVMS_WANTS_SIZE]) {
  if (!option->words) return option_types[option->type].wants;
  size_t used = 0;
  const char *between = "";
  for (const char *word = option->words; *word;) {
    size_t len = strcspn(word, "|");
    const char *rest = word + len + (word[len] == '|');
    used += (size_t)snprintf(text + used, TVMS_WANTS_SIZE - used, "%s%.*s", between,
                             (int)len, word);
    TVMS_CHECK(used < TVMS_WANTS_SIZE);
    between = strchr(rest, '|') ? ", " : " or ";
    word = rest;
  }
  return text;
}

const tvms_pipeline_row *tvms_pipeline_rows(uint32_t *count) {
  *count = sizeof pipelines / sizeof pipelines[0];
  return pipelines;
}

const tvms_missing_pass *tvms_pass_missing_rows(uint32_t *count) {
  *count = sizeof missing / sizeof missing[0];
  return missing;
}

void tvms_pass_releases(tvms_dialect since, tvms_dialect until,
                        char text[TVMS_RELEASES_SIZE]) {
  bool first = since <= tvms_release_written(TVMS_DIALECT_OLDEST);
  const char *from = tvms_dialect_text(since), *to = tvms_dialect_text(until);
  if (until == TVMS_DIALECT_ever)
    snprintf(text, TVMS_RELEASES_SIZE, first ? "all releases" : "since %s", from);
  else if (first)
    snprintf(text, TVMS_RELEASES_SIZE, "up to %s", to);
  else
    snprintf(text, TVMS_RELEASES_SIZE, since == until ? "%s" : "%s to %s", from, to);
}

// A word begins at a capital behind a small letter, and at any that a small letter
// follows: Fuse-TIR, Call-TIR-Rewrite, To-Conv2D, BF16-Compute.
static bool word_begins(const char *name, size_t i) {
  if (i == 0 || !isupper((unsigned char)name[i])) return false;
  if (islower((unsigned char)name[i - 1])) return true;
  return islower((unsigned char)name[i + 1]);
}

void tvms_pass_kebab(const char *name, char kebab[TVMS_KEBAB_SIZE]) {
  size_t len = 0;
  for (size_t i = 0; name[i] && len + 2 < TVMS_KEBAB_SIZE; i++) {
    if (word_begins(name, i)) kebab[len++] = '-';
    kebab[len++] = (char)tolower((unsigned char)name[i]);
  }
  kebab[len] = '\0';
}

static bool same(const char *name, const char *text, size_t len) {
  return strlen(name) == len && memcmp(name, text, len) == 0;
}

static bool is_called(const char *pass, const char *text, size_t len) {
  // Both names begin with the same letter.
  if (!len || tolower((unsigned char)pass[0]) != tolower((unsigned char)text[0]))
    return false;
  if (same(pass, text, len)) return true;
  char kebab[TVMS_KEBAB_SIZE];
  tvms_pass_kebab(pass, kebab);
  return same(kebab, text, len);
}

const tvms_pass *tvms_pass_find(const char *name, size_t len) {
  for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
    if (is_called(passes[i].name, name, len)) return &passes[i];
  }
  return NULL;
}

const tvms_missing_pass *tvms_pass_find_missing(const char *name, size_t len) {
  for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
    if (is_called(missing[i].name, name, len)) return &missing[i];
  }
  return NULL;
}

const tvms_pipeline_row *tvms_pass_find_pipeline(const char *name, size_t len) {
  for (size_t i = 0; i < sizeof pipelines / sizeof pipelines[0]; i++) {
    if (same(pipelines[i].name, name, len)) return &pipelines[i];
  }
  return NULL;
}
