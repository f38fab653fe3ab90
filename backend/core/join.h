// Object files as one.
#ifndef TVMS_BACKEND_CORE_JOIN_H
#define TVMS_BACKEND_CORE_JOIN_H

#include "support/arena.h"
#include "support/strbuf.h"

typedef struct {
  const char *bytes;
  size_t size;
} tvms_object_file;

// Read-only data that objects refer to by name. It is copied once, to where it ends up.
typedef struct {
  const char *name;
  const char *bytes;
  size_t size;
} tvms_object_data;

// Alignment of data.
enum { TVMS_OBJECT_DATA_ALIGN = 64 };

// Adds to `out` one object of all that is in these ones and of data. Symbols of one name are the same
// symbol, unless they are local; what is defined hidden is local in the result. Works in `arena`. False,
// and nothing added, if a file is no 64-bit little-endian object of ELF, or has parts that only some
// compilers make (groups).
TVMS_NODISCARD bool tvms_join_objects(tvms_arena *arena,
                                      const tvms_object_file *objects, uint32_t count,
                                      const tvms_object_data *data, uint32_t data_count,
                                      tvms_strbuf *out);

#endif
