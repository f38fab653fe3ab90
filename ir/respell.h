// Words that another release spells differently: ir/dialect.def and ir/tir_ops.def.
#ifndef TVMS_IR_RESPELL_H
#define TVMS_IR_RESPELL_H

#include "ir/dialect.h"

typedef enum {
  TVMS_SPELLING_MODULE,
  TVMS_SPELLING_T,
  TVMS_SPELLING_R,
  TVMS_SPELLING_KEYWORD,
  TVMS_SPELLING_KEY,  // `text` is what a string begins with
} tvms_spelling;

// How `to` spells what `from` spells as the `len` bytes at `text`; NULL if it is the same.
// For KEY the result replaces only the beginning, `*matched` bytes of it.
const char *TVMS_NULLABLE tvms_spelling_convert(tvms_spelling where, const char *text,
                                                size_t len, tvms_dialect from,
                                                tvms_dialect to, size_t *matched);

// What to write instead of a name that no release has, or NULL.
const char *TVMS_NULLABLE tvms_spelling_never(tvms_spelling where, const char *text);

#endif
