// Words that releases spell differently, looked up in both directions.
//
// A row of dialect.def divides the releases at `since`: a word is converted if the two releases
// lie on different sides of it. One step is made: a word that was renamed twice would need
// more, and there is none so far.
#include "ir/respell.h"

#include <string.h>

static const struct {
  tvms_spelling where;
  const char *older;
  const char *newer;
  tvms_dialect since;
} rows[] = {
#define SPELLING(where, older, newer, since)                                           \
  {TVMS_SPELLING_##where, older, newer, TVMS_DIALECT_##since},
#include "ir/dialect.def"
};

const char *tvms_spelling_convert(tvms_spelling where, const char *text, size_t len,
                                  tvms_dialect from, tvms_dialect to, size_t *matched) {
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    bool was_newer = from >= rows[i].since;
    if (rows[i].where != where || was_newer == (to >= rows[i].since)) continue;
    const char *word = was_newer ? rows[i].newer : rows[i].older;
    size_t word_len = strlen(word);
    bool fits = where == TVMS_SPELLING_KEY ? len >= word_len : len == word_len;
    if (!fits || memcmp(text, word, word_len) != 0) continue;
    *matched = word_len;
    return was_newer ? rows[i].older : rows[i].newer;
  }
  return NULL;
}

static const struct {
  tvms_spelling where;
  const char *name;
  const char *text;
} never[] = {
#define SPELLING(where, older, newer, since)
#define NEVER(where, name, text) {TVMS_SPELLING_##where, name, text},
#include "ir/dialect.def"
};

const char *tvms_spelling_never(tvms_spelling where, const char *text) {
  for (size_t i = 0; i < sizeof never / sizeof never[0]; i++) {
    if (never[i].where == where && strcmp(never[i].name, text) == 0) {
      return never[i].text;
    }
  }
  return NULL;
}
