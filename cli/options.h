// The command line as a struct; options.def has the rows.
#ifndef TVMS_CLI_OPTIONS_H
#define TVMS_CLI_OPTIONS_H

#include "support/strbuf.h"

typedef enum {
  TVMS_VERB_NONE,
#define VERB(name, arguments, summary) TVMS_VERB_##name,
#include "cli/options.def"
} tvms_verb;

typedef struct {
  const char **items;
  uint32_t len;
  uint32_t cap;
} tvms_texts;

#define TVMS_FIELD_FLAG     bool
#define TVMS_FIELD_TEXT     const char *TVMS_NULLABLE
#define TVMS_FIELD_OPTIONAL const char *TVMS_NULLABLE
#define TVMS_FIELD_CHOICE   const char *TVMS_NULLABLE
#define TVMS_FIELD_NUMBER   uint64_t
#define TVMS_FIELD_COUNT    uint64_t
#define TVMS_FIELD_LIST     tvms_texts

typedef struct {
  tvms_verb verb;
  tvms_texts paths;  // arguments that are not options, in order; "-" among them
#define OPTION(field, name, letter, kind, value, verbs, summary)                       \
  TVMS_FIELD_##kind field;
#include "cli/options.def"
} tvms_options;

// Reads the arguments. Returns false if they are wrong; `complaint` then says why, one
// line without its end. Texts are borrowed from `argv`; the lists belong to `memory`.
TVMS_NODISCARD bool tvms_options_parse(tvms_options *options, tvms_memory *memory,
                                       int argc, char **argv, tvms_strbuf *complaint);

// Appends the help of the program (TVMS_VERB_NONE) or of one verb.
void tvms_options_help(tvms_strbuf *out, tvms_verb verb);

// The word of the command line; "" for TVMS_VERB_NONE.
const char *tvms_options_verb_name(tvms_verb verb);

// Appends each word of `text`, split at white space; a word that begins with a single or a double
// quote ends at the next one. The words are NUL-ended in place.
void tvms_options_split_words(tvms_texts *words, tvms_memory *memory, char *text);

#endif
