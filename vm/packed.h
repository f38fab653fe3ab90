// Packed functions that a compiled library calls when it is loaded here: those of the run time, and those of plug-ins.
#ifndef TVMS_VM_PACKED_H
#define TVMS_VM_PACKED_H

#include "interp/foreign.h"
#include "support/vec.h"

// A function as a library was given it.
typedef struct tvms_vm_packed tvms_vm_packed;

// What a library's own handle (TVMS_LIBRARY_SLOT) points to: who answers it. The caller fills in the first part.
typedef struct {
  tvms_memory *memory;
  const tvms_foreign *TVMS_NULLABLE foreign;  // of plug-ins; stays the caller's
  TVMS_VEC(tvms_vm_packed *) found;           // by the names that were asked for
} tvms_vm_host;

// Frees what was found, of which the library must not call any more.
void tvms_vm_host_fini(tvms_vm_host *host);

// As TVMFFIEnvModLookupFromImports: the function of a name, which is the host's. `library` is a tvms_vm_host.
int tvms_vm_find_packed(void *library, const char *name, void **handle);

// As TVMFFIFunctionCall, of a function that tvms_vm_find_packed gave. The result is the caller's.
int tvms_vm_call_packed(void *handle, const tvms_any *args, int32_t count,
                        tvms_any *result);

#endif
