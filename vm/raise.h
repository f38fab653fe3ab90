// What compiled libraries that were loaded find of tvm-ffi here: how to raise an error, and how to
// call packed functions of the run time.
#ifndef TVMS_VM_RAISE_H
#define TVMS_VM_RAISE_H

#include "runtime/abi.h"

typedef struct {
  const char *kind;  // "ValueError"
  const char *text;
} tvms_vm_raised;

// What this thread has raised last; the texts are valid until it raises again.
void tvms_vm_take_raised(tvms_vm_raised *raised);

// Raises, as TVMFFIErrorSetRaisedFromCStr does.
void tvms_vm_raise(const char *kind, const char *text);

// Libraries of stock TVM refer to this one by its name; the program exports it to them.
__attribute__((visibility("default"))) void
TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int32_t count);

// Fills a variable that a library has for a function of the run time, if this one is known here:
// `name` is that of the variable. `host` (vm/packed.h) is who answers the library, as its own handle.
void tvms_vm_fill_slot(const char *name, void **slot, void *host);

// Names of the variables that tvms_vm_fill_slot knows; the last one is NULL.
extern const char *const tvms_vm_slots[];

#endif
