// Code for the virtual machine from lowered Relax functions.
#ifndef TVMS_VM_CODEGEN_H
#define TVMS_VM_CODEGEN_H

#include "ir/module.h"
#include "vm/executable.h"

// Makes the executable of all Relax functions of a module that went through TVM's pipeline for
// the machine (default_build of passes/pipelines.def): functions, registers and constants have the numbers that TVM
// gives them. PrimFuncs and other functions that are called become packed functions of the
// table. Values of constants are borrowed from the module. False after a report: something has
// no code, or its value is left out of the text.
TVMS_NODISCARD bool tvms_vm_codegen(const tvms_module *module,
                                    tvms_vm_executable *executable);

#endif
