// Names of releases and what stands in their rows.
#include "ir/dialect.h"

#include <stdio.h>
#include <string.h>

#define READ    false
#define WRITTEN true
static const tvms_release_row rows[] = {
#define RELEASE(ident, use, name, others, version)                                     \
  [TVMS_DIALECT_##ident] = {name, others, version, use},
#include "ir/releases.def"
};
#undef READ
#undef WRITTEN

const tvms_release_row *tvms_release_row_of(tvms_dialect release) {
  return &rows[release];
}

static bool has_word(const char *words, const char *word, size_t len) {
  while (*words) {
    size_t next = strcspn(words, " ");
    if (next == len && memcmp(words, word, len) == 0) return true;
    words += next + (words[next] == ' ');
  }
  return false;
}

tvms_dialect tvms_dialect_parse(const char *text) {
  size_t len = strlen(text);
  for (unsigned i = 0; i < TVMS_DIALECT_NONE; i++) {
    bool named = strcmp(rows[i].name, text) == 0 || has_word(rows[i].others, text, len)
                 || (len && strcmp(rows[i].version, text) == 0);
    if (named) return (tvms_dialect)i;
  }
  return TVMS_DIALECT_NONE;
}

const char *tvms_dialect_text(tvms_dialect dialect) {
  return dialect < TVMS_DIALECT_NONE ? rows[dialect].name : "none";
}

const char *tvms_release_names(char buffer[TVMS_RELEASES_TEXT]) {
  int size = 0;
  for (unsigned i = 0; i < TVMS_DIALECT_NONE && size < TVMS_RELEASES_TEXT; i++) {
    if (!rows[i].written) continue;
    size += snprintf(buffer + size, (size_t)(TVMS_RELEASES_TEXT - size), "%s%s",
                     size ? ", " : "", rows[i].name);
  }
  return buffer;
}

tvms_dialect tvms_release_written(tvms_dialect dialect) {
  while (dialect < TVMS_DIALECT_NONE && !rows[dialect].written)
    dialect = (tvms_dialect)(dialect + 1);
  return dialect;
}
