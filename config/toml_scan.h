// Keys and single values of TOML: what stands between brackets, dots and line ends.
#ifndef TVMS_CONFIG_TOML_SCAN_H
#define TVMS_CONFIG_TOML_SCAN_H

#include "config/toml.h"
#include "support/strbuf.h"

// A text on its way. Behind its end stand NULs, which are no characters of TOML.
typedef struct {
  tvms_context *context;
  const char *text;
  uint32_t at, size;
  uint32_t depth;  // of brackets
  bool failed;
} tvms_toml_reader;

// Reports the first mistake, at `begin` up to where the reader is. Returns false.
bool tvms_toml_fail(tvms_toml_reader *r, uint32_t begin, const char *what);

// Skips blanks and tabs.
void tvms_toml_skip_blanks(tvms_toml_reader *r);

// Skips blanks, line ends and comments. False if a comment is wrong.
bool tvms_toml_skip_lines(tvms_toml_reader *r);

// Reads the end of a line, perhaps with a comment. False if something else stands there.
bool tvms_toml_end_line(tvms_toml_reader *r);

// Reads a part of a key, which is bare or a string of one line. NULL if it is wrong.
const char *TVMS_NULLABLE tvms_toml_scan_key(tvms_toml_reader *r);

// Reads a string, a number, a truth value or a date. False if it is wrong.
bool tvms_toml_scan_value(tvms_toml_reader *r, tvms_toml *value);

#endif
