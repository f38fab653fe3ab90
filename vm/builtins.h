// vm.builtin.* that belong to the machine: memory, tuples, closures and branches. Checks and
// shapes are the interpreter's (interp/machine.h).
#ifndef TVMS_VM_BUILTINS_H
#define TVMS_VM_BUILTINS_H

#include "vm/machine.h"

// The function of this name, or NULL.
tvms_vm_builtin *TVMS_NULLABLE tvms_vm_builtin_find(tvms_bytes name);

#endif
