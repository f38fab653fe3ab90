// The binary interface of compiled programs: DLPack tensors and TVM's calling convention.
//
// Layouts are those of DLPack 1.0 and of tvm-ffi 0.1 and later (docs/native.md, "The
// calling convention"); programs that tvms compiles, stock TVM and tvm-ffi share them.
#ifndef TVMS_RUNTIME_ABI_H
#define TVMS_RUNTIME_ABI_H

#include "support/base.h"

#include <tvms/run.h>

_Static_assert(sizeof(tvms_dl_tensor) == 48, "DLTensor has 48 bytes");

// What a tvms_any holds.
enum {
  TVMS_ANY_NONE = 0,
  TVMS_ANY_INT = 1,
  TVMS_ANY_BOOL = 2,
  TVMS_ANY_FLOAT = 3,
  TVMS_ANY_POINTER = 4,
  TVMS_ANY_DL_TENSOR = 7,  // a borrowed tvms_dl_tensor *
  TVMS_ANY_TEXT = 8,       // a borrowed const char *
  TVMS_ANY_OBJECT = 64,    // the first kind that is an object with a reference count
  TVMS_ANY_SHAPE = 69,     // an object: {int64_t *sizes, size_t count} after its head
  TVMS_ANY_TENSOR = 70,    // an object: a tvms_dl_tensor after its head
  TVMS_ANY_ARRAY = 71,  // an object: {tvms_any *items, int64_t count, …} after its head
};

enum { TVMS_OBJECT_HEAD = 24 };  // bytes before the content of an object

// One argument or result.
typedef struct {
  int32_t type_index;
  uint32_t padding;  // zero
  union {
    int64_t i;
    double f;
    void *p;
  } v;
} tvms_any;

_Static_assert(sizeof(tvms_any) == 16, "TVMFFIAny has 16 bytes");

// What a compiled program exports per function. Arguments are borrowed. Returns 0, or -1
// after it has raised an error through a tvms_raise.
typedef int (*tvms_safe_call)(void *self, const tvms_any *args, int32_t count,
                              tvms_any *result);

// How a compiled program raises: a kind ("ValueError") and a text, both copied.
typedef void (*tvms_raise)(const char *kind, const char *text);

// Names of a compiled program's symbols: TVMS_SAFE_CALL_PREFIX "main" and so on, and the
// variable that holds its tvms_raise.
#define TVMS_SAFE_CALL_PREFIX "__tvm_ffi_"
#define TVMS_RAISE_SLOT       "__TVMFFIErrorSetRaisedFromCStr"

// Further variables that whoever loads it fills in: how a packed function is found from the
// library's own handle, and called.
#define TVMS_LIBRARY_SLOT "__tvm_ffi__library_ctx"
#define TVMS_FIND_SLOT    "__TVMFFIEnvModLookupFromImports"
#define TVMS_CALL_SLOT    "__TVMFFIFunctionCall"

#endif
