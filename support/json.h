// Writes JSON: values in the order of the calls, commas and indentation by itself.
#ifndef TVMS_SUPPORT_JSON_H
#define TVMS_SUPPORT_JSON_H

#include "support/strbuf.h"

// Nothing here fails but by allocation. The caller balances open and close.
typedef struct {
  tvms_strbuf *out;
  uint32_t depth;
  bool filled;   // the innermost object or array has a member
  bool keyed;    // a key was written, its value follows
  bool compact;  // all on one line; may be set after init
} tvms_json;

// Appends to `out`, which outlives the writer.
void tvms_json_init(tvms_json *json, tvms_strbuf *out);

// Begins an object, '{', or an array, '['.
void tvms_json_open(tvms_json *json, char bracket);

// Ends the innermost one with its '}' or ']'.
void tvms_json_close(tvms_json *json, char bracket);

// A key of the innermost object; its value comes next.
void tvms_json_key(tvms_json *json, const char *key);

// A string of `len` bytes; what is not UTF-8 is replaced by U+FFFD.
void tvms_json_string(tvms_json *json, const char *text, size_t len);

// A number.
void tvms_json_int(tvms_json *json, int64_t value);

// true or false.
void tvms_json_bool(tvms_json *json, bool value);

// A value that is JSON already; its lines are indented to where it stands.
void tvms_json_value(tvms_json *json, const char *text, size_t len);

static inline void tvms_json_text(tvms_json *json, const char *text) {
  tvms_json_string(json, text, strlen(text));
}

// Key and value in one.
static inline void tvms_json_put_text(tvms_json *json, const char *key,
                                      const char *text) {
  tvms_json_key(json, key);
  tvms_json_text(json, text);
}
static inline void tvms_json_put_int(tvms_json *json, const char *key, int64_t value) {
  tvms_json_key(json, key);
  tvms_json_int(json, value);
}
static inline void tvms_json_put_bool(tvms_json *json, const char *key, bool value) {
  tvms_json_key(json, key);
  tvms_json_bool(json, value);
}

#endif
