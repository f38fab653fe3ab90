// The virtual machine: runs the code of an executable.
//
// A packed function of the table is a kernel of the library, if that has one of the name, or else
// one of the run time that tvms has (interp/packed.h). Faults are reported and unwind to tvms_vm_call, as in the interpreter.
#ifndef TVMS_VM_MACHINE_H
#define TVMS_VM_MACHINE_H

#include "interp/frame.h"
#include "vm/executable.h"

typedef struct tvms_vm_machine tvms_vm_machine;

// A function of the table as it was found; a value of the kind FUNCTION points to one.
typedef struct {
  const tvms_vm_function *function;
  tvms_safe_call TVMS_NULLABLE kernel;
  bool found;
} tvms_vm_entry;

// The caller fills in the first part.
struct tvms_vm_machine {
  const tvms_vm_executable *code;  // checked
  tvms_interp *
      interp;  // its context, heap and print; without a module; invoke is the machine's
  // A kernel by its name, ended by NUL, or NULL; the whole callback may be NULL.
  tvms_safe_call TVMS_NULLABLE (*TVMS_NULLABLE find)(void *state, const char *name);
  void *find_state;
  // Told before and after each call of an instruction, by its index in the code; may be NULL.
  void (*TVMS_NULLABLE observe)(void *state, int64_t instruction, bool begins);
  void *observe_state;
  // The machine's own.
  const struct tvms_vm_running *TVMS_NULLABLE running;  // the functions in progress
  tvms_interp_frame frame;  // for functions of the interpreter
  tvms_vm_entry *entries;   // by function
  tvms_value *constants;    // owned
};

// Calls a function of the table that has code, with borrowed arguments. On TVMS_OK the result is
// the caller's. TVMS_FOUND_ERRORS: a fault was reported. Must run on a deep stack.
TVMS_NODISCARD tvms_status tvms_vm_call(tvms_vm_machine *machine, int64_t function,
                                        const tvms_value *args, uint32_t count,
                                        tvms_value *result);

#endif
