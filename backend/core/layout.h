// Where the fields of structures are that compiled programs share with their callers, on
// machines with pointers of 64 and of 32 bits.
#ifndef TVMS_BACKEND_CORE_LAYOUT_H
#define TVMS_BACKEND_CORE_LAYOUT_H

#include "support/base.h"

typedef enum {
  TVMS_LAYOUT_NONE,
#define FIELD(name, structure, field, wide, narrow) TVMS_LAYOUT_##name,
#include "backend/core/layout.def"
  TVMS_LAYOUT_COUNT
} tvms_layout_field;

// The bytes between the begin of the structure and the field, where pointers have 8 or 4 bytes.
// `field` is not TVMS_LAYOUT_NONE.
int64_t tvms_layout_offset(tvms_layout_field field, uint32_t pointer_bytes);

// The field of a tensor that holds what is `offset` bytes from its begin where pointers have 64 bits;
// `rest` gets how far into the field that is.
tvms_layout_field tvms_layout_in_tensor(int64_t offset, int64_t *rest);

// "TENSOR_SHAPE"
const char *tvms_layout_name(tvms_layout_field field);

// The structure as C text has it.
const char *tvms_layout_structure(tvms_layout_field field);

// The field as C text has it.
const char *tvms_layout_field_name(tvms_layout_field field);

#endif
