// Executables to bytes, alone and as a library has them inside.
#ifndef TVMS_VM_WRITE_H
#define TVMS_VM_WRITE_H

#include "support/strbuf.h"
#include "vm/executable.h"

// Appends an executable as a release writes it.
void tvms_vm_write(const tvms_vm_executable *executable, tvms_dialect dialect,
                   tvms_strbuf *out);

// Appends a bundle of an executable that imports the library.
void tvms_vm_write_bundle(const tvms_vm_executable *executable, tvms_dialect dialect,
                          tvms_strbuf *out);

#endif
