// Values of options that are more than a word: lists and maps in Python's notation.
#ifndef TVMS_PASSES_LITERAL_H
#define TVMS_PASSES_LITERAL_H

#include "support/context.h"

typedef enum {
  TVMS_LITERAL_TEXT,  // 'a', "a", or a word that is nothing else
  TVMS_LITERAL_INT,
  TVMS_LITERAL_LIST,  // [a, b], (a, b)
  TVMS_LITERAL_MAP,   // {'a': b}: keys and values in turn
  TVMS_LITERAL_NONE,
} tvms_literal_kind;

typedef struct tvms_literal tvms_literal;

struct tvms_literal {
  tvms_literal_kind kind;
  const char *text;           // TEXT: without quotes; INT: as written
  int64_t number;             // INT
  const tvms_literal *items;  // LIST, MAP: one after the other
  uint32_t len;               // number of items; of a map twice its pairs
};

// Reads one value: 'text', word, 12, None, [a, 'b'], (a, b), {'a': b}. NULL if the text is
// not one value. The result lies in `arena`, texts with the names of the context.
const tvms_literal *TVMS_NULLABLE tvms_pass_literal_read(tvms_context *context,
                                                         tvms_arena *arena,
                                                         const char *text);

// The value under a key of a map, or NULL.
const tvms_literal *TVMS_NULLABLE tvms_pass_literal_get(const tvms_literal *map,
                                                        const char *key);

// A list of texts: a literal list, or words with ';' between them; an empty text is an
// empty list. NULL if it is neither.
const tvms_literal *TVMS_NULLABLE tvms_pass_literal_read_texts(tvms_context *context,
                                                               tvms_arena *arena,
                                                               const char *text);

#endif
