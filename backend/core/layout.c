// Where the fields of structures are that compiled programs share with their callers.
#include "backend/core/layout.h"

#include "runtime/abi.h"
#include "runtime/parallel.h"

static const struct {
  const char *name, *structure, *field;
  int64_t wide, narrow;
} fields[TVMS_LAYOUT_COUNT] = {
#define FIELD(name, structure, field, wide, narrow)                                    \
  [TVMS_LAYOUT_##name] = {#name, #structure, #field, wide, narrow},
#include "backend/core/layout.def"
};

// tvms itself is for machines with pointers of 64 bits, and its own structures are the same.
enum {
#define FIELD(name, structure, field, wide, narrow) WIDE_##name = (wide),
#include "backend/core/layout.def"
};
_Static_assert(WIDE_TENSOR_DEVICE_ID == offsetof(tvms_dl_tensor, device.id), "");
_Static_assert(WIDE_TENSOR_DTYPE == offsetof(tvms_dl_tensor, dtype), "");
_Static_assert(WIDE_TENSOR_STRIDES == offsetof(tvms_dl_tensor, strides), "");
_Static_assert(WIDE_TENSOR_BYTE_OFFSET == offsetof(tvms_dl_tensor, byte_offset), "");
_Static_assert(WIDE_TENSOR_END == sizeof(tvms_dl_tensor), "");
_Static_assert(WIDE_GROUP_TASKS == offsetof(tvms_parallel_env, tasks), "");

int64_t tvms_layout_offset(tvms_layout_field field, uint32_t pointer_bytes) {
  return pointer_bytes == 8 ? fields[field].wide : fields[field].narrow;
}

tvms_layout_field tvms_layout_in_tensor(int64_t offset, int64_t *rest) {
  tvms_layout_field field = TVMS_LAYOUT_TENSOR_END;
  while (fields[field].wide > offset)
    field--;
  *rest = offset - fields[field].wide;
  return field;
}

const char *tvms_layout_name(tvms_layout_field field) {
  return fields[field].name;
}

const char *tvms_layout_structure(tvms_layout_field field) {
  return fields[field].structure;
}

const char *tvms_layout_field_name(tvms_layout_field field) {
  return fields[field].field;
}
