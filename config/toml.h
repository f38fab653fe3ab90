// TOML 1.0 as a tree of values that know their place.
//
// The configuration of projects is written in it, and most of what stands in such a file
// belongs to other tools: all of the language is read, and nothing of it interpreted. Dates
// are values without a meaning. Debian has no reader of it for C.
#ifndef TVMS_CONFIG_TOML_H
#define TVMS_CONFIG_TOML_H

#include "support/context.h"

typedef enum {
  TVMS_TOML_TABLE,
  TVMS_TOML_ARRAY,
  TVMS_TOML_STRING,
  TVMS_TOML_INTEGER,
  TVMS_TOML_FLOAT,
  TVMS_TOML_BOOL,
  TVMS_TOML_DATE,
} tvms_toml_kind;

// A value, and its name if it stands in a table.
typedef struct tvms_toml {
  tvms_toml_kind kind;
  tvms_span span;  // of the value; of a table that headers make, of its name
  const char *TVMS_NULLABLE key;  // in a table; ended by NUL
  tvms_span key_span;
  const char *TVMS_NULLABLE text;         // of a STRING; ended by NUL
  int64_t integer;                        // of an INTEGER or a BOOL
  struct tvms_toml *TVMS_NULLABLE first;  // of a TABLE or an ARRAY, in order
  struct tvms_toml *TVMS_NULLABLE last;
  struct tvms_toml *TVMS_NULLABLE next;
  uint8_t made;  // how a table came to be; of the reader
} tvms_toml;

// Reads a text. Returns its table, in the context's arena, or NULL if it is not TOML, which
// is reported at the first mistake.
const tvms_toml *TVMS_NULLABLE tvms_toml_read(tvms_context *context,
                                              tvms_source *source);

// The value of a key, or NULL; also if there is no table.
const tvms_toml *TVMS_NULLABLE tvms_toml_get(const tvms_toml *TVMS_NULLABLE table,
                                             const char *key);

#endif
