// What a shared library has inside, looked up in its file: nothing of it is run.
#ifndef TVMS_VM_LIBRARY_H
#define TVMS_VM_LIBRARY_H

#include "support/base.h"

// Is this the content of a 64-bit little-endian ELF file?
bool tvms_vm_is_library(const char *file, size_t size);

// The content of an exported variable: where it begins in the file, and in `*room` how many
// bytes can be read from there. NULL if the file exports none of this name or is not sound.
const char *TVMS_NULLABLE tvms_vm_library_variable(const char *file, size_t size,
                                                   const char *name, size_t *room);

#endif
