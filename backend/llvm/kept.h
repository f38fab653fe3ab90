// Memory that a library keeps between calls: for the workspace of one call, for what functions
// allocate that nobody plans, and for large results.
#ifndef TVMS_BACKEND_LLVM_KEPT_H
#define TVMS_BACKEND_LLVM_KEPT_H

#include "backend/llvm/emit.h"

typedef enum {
  TVMS_KEPT_WORKSPACE,
  TVMS_KEPT_SCRATCH,
  TVMS_KEPT_RESULTS,
  TVMS_KEPT_LISTS
} tvms_kept;

// Bytes of results that are kept when they have been dropped: those that the C library may give back to the system, which
// then has to clear each page for the next call, and no more than a library should sit on.
enum {
  TVMS_KEPT_LEAST = 1 << 17,
  TVMS_KEPT_MOST = (1 << 26) + 4096,  // 64 MiB of elements
};

// Code that takes kept memory that is free and large enough, or makes some; it gives null if there
// is no memory.
LLVMValueRef tvms_emit_take(emitter *e, tvms_kept kind, LLVMValueRef bytes);

// Code that lets the library keep memory for others.
void tvms_emit_give(emitter *e, tvms_kept kind, LLVMValueRef memory);

// The same for a result, of TVMS_KEPT_LEAST to TVMS_KEPT_MOST bytes.
LLVMValueRef tvms_emit_take_result(emitter *e, LLVMValueRef bytes);

// Code that lets the library keep memory of such a result.
void tvms_emit_give_result(emitter *e, LLVMValueRef memory);

// Has the memory freed when the library is unloaded; of code in memory by tvms_kept_free. Behind all other code of
// the module.
void tvms_emit_kept_end(emitter *e);

// Where a variable of code in memory is; NULL: it has none of that name.
typedef void *TVMS_NULLABLE tvms_kept_find(void *self, const char *name);

// Frees what code in memory keeps, which nothing runs any more.
void tvms_kept_free(tvms_kept_find *find, void *self);

#endif
