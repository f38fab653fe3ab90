// Bytes to executables (vm/format.h).
#ifndef TVMS_VM_READ_H
#define TVMS_VM_READ_H

#include "vm/executable.h"

// Why bytes are not an executable. The texts of `what` are constants.
typedef struct {
  uint64_t at;
  const char *what;
} tvms_vm_bytes_error;

// Do these bytes begin as an executable of any release does?
bool tvms_vm_is_executable(const char *bytes, size_t size);

// Reads an executable into an empty one. Texts and data are borrowed from `bytes`, shapes are in `arena`.
// False, and where and why in `error`, if something is not as it must be; nothing is checked
// that tvms_vm_executable_check does.
TVMS_NODISCARD bool tvms_vm_read(const char *bytes, size_t size, tvms_arena *arena,
                                 tvms_vm_executable *executable,
                                 tvms_vm_bytes_error *error);

// Finds the executable in a bundle, of which `size` bytes can be read. NULL, and where and why in
// `error`, if there is none.
const char *TVMS_NULLABLE tvms_vm_find_in_bundle(const char *bundle, size_t size,
                                                 size_t *executable_size,
                                                 tvms_vm_bytes_error *error);

#endif
