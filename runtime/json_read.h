// Reads JSON that lies in memory: a value is the part of the text where it stands, and is looked at where it is asked
// for. Nothing is allocated; who asks has had the whole text checked first.
#ifndef TVMS_RUNTIME_JSON_READ_H
#define TVMS_RUNTIME_JSON_READ_H

#include "runtime/abi.h"

// A value: from its first byte to behind its last.
typedef struct {
  const char *begin;
  const char *end;
} tvms_part;

typedef enum {
  TVMS_PART_NULL,
  TVMS_PART_BOOL,
  TVMS_PART_INT,   // of 64 bits
  TVMS_PART_REAL,  // any other number
  TVMS_PART_TEXT,
  TVMS_PART_LIST,
  TVMS_PART_OBJECT,
} tvms_part_kind;

// The one value that a text of `len` bytes is, with blanks around it; false if it is none, or has parts in parts more
// than 64 deep.
bool tvms_part_read(const char *text, uint64_t len, tvms_part *value);

// What a value is.
tvms_part_kind tvms_part_kind_of(tvms_part value);

// The value of a key of an object: the last one, as there may be several. False if there is none.
bool tvms_part_field(tvms_part object, const char *key, tvms_part *value);

// The item behind *item, the first one behind a zeroed one; false if there is none.
bool tvms_part_next(tvms_part list, tvms_part *item);

// A truth, or an integer.
int64_t tvms_part_integer(tvms_part value);

// Any number, or a truth.
double tvms_part_real(tvms_part value);

// Is a text this one, of ASCII?
bool tvms_part_is(tvms_part value, const char *text);

#endif
