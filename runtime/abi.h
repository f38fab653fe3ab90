// The binary interface of compiled programs: DLPack tensors and TVM's calling convention.
//
// Layouts are those of DLPack 1.0 and of tvm-ffi 0.1 and later (docs/native.md, "The
// calling convention"); programs that tvms compiles, stock TVM and tvm-ffi share them.
#ifndef TVMS_RUNTIME_ABI_H
#define TVMS_RUNTIME_ABI_H

#include "support/base.h"

#include <tvms/plugin.h>

_Static_assert(sizeof(tvms_dl_tensor) == 48, "DLTensor has 48 bytes");

enum { TVMS_OBJECT_HEAD = 24 };  // bytes before the content of an object

_Static_assert(sizeof(tvms_any_object) == TVMS_OBJECT_HEAD,
               "TVMFFIObject has 24 bytes");
_Static_assert(sizeof(tvms_any) == 16, "TVMFFIAny has 16 bytes");

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
