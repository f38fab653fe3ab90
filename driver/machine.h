// Programs for TVM's virtual machine.
#ifndef TVMS_DRIVER_MACHINE_H
#define TVMS_DRIVER_MACHINE_H

#include "driver/runnable.h"
#include "ir/module.h"
#include "support/source.h"
#include "vm/executable.h"

// Lowers a program in place and makes the executable of its Relax functions: without `code` as TVM's
// relax.build does, else as the level of `library` says, with PrimFuncs for that code. Returns the
// lowered module, joined of all of the program's, which has the PrimFuncs that the executable calls
// and the constants that it borrows (tvms_copy_destroy frees both). `library` also says which weights
// are put in; it may be NULL if `code` is. NULL after a report.
tvms_module *TVMS_NULLABLE tvms_machine_compile(
    tvms_program *program, const tvms_library_options *TVMS_NULLABLE library,
    const tvms_native_options *TVMS_NULLABLE code, tvms_vm_executable *executable);

// Is the file an executable of the machine or a library, and not text?
bool tvms_machine_is_code(const tvms_source *source);

// Is it a library?
bool tvms_machine_is_library(const tvms_source *source);

// Reads the executable that a file is, or that a library has inside, and checks it; it borrows from
// the source. Nothing of the file is run. Findings of the context are about the file as a whole from
// here on. False after a report.
TVMS_NODISCARD bool tvms_machine_read(tvms_context *context, const tvms_source *source,
                                      tvms_vm_executable *executable);

// The function with code to run: `entry`, or if that is NULL `main` or the only one. -1 after a
// report.
int64_t tvms_machine_entry(tvms_context *context, const tvms_vm_executable *executable,
                           const char *TVMS_NULLABLE entry);

#endif
