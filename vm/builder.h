// Making an executable: functions in the order in which they are first named, constants once
// each, and registers in the order in which they are first written.
#ifndef TVMS_VM_BUILDER_H
#define TVMS_VM_BUILDER_H

#include "vm/executable.h"

typedef struct {
  tvms_vm_executable *executable;
  // Hash tables: one more than the index of a constant or of a function, 0: free. The sizes are
  // powers of two.
  uint32_t *constants;
  uint32_t constant_room;
  uint32_t *functions;
  uint32_t function_room;
  int64_t line;  // of the text, of the instructions that are appended next; 0: none
} tvms_vm_builder;

// A builder of an empty executable.
void tvms_vm_builder_init(tvms_vm_builder *builder, tvms_vm_executable *executable);

// Frees the tables; the executable stays.
void tvms_vm_builder_fini(tvms_vm_builder *builder);

// The argument word of a constant: that of an equal one, if there is one. Its texts and data
// are borrowed.
int64_t tvms_vm_builder_constant(tvms_vm_builder *builder,
                                 const tvms_vm_constant *constant);

// The argument word of a number: an immediate, unless it is too large.
int64_t tvms_vm_builder_number(tvms_vm_builder *builder, int64_t value);

// The index of the function of this name, which is added to the table if it is not there yet.
// The name is borrowed.
int64_t tvms_vm_builder_declare(tvms_vm_builder *builder, tvms_bytes name,
                                tvms_vm_function_kind kind);

// Appends a call of a function of the table; returns the index of the instruction, as the others do.
int64_t tvms_vm_builder_call(tvms_vm_builder *builder, int64_t function,
                             const int64_t *arguments, uint32_t count, int64_t result);

// Gives a name to the value that a check, one of the last instructions, is a match_cast of. Must be called in the order of
// instructions; the name is borrowed.
void tvms_vm_builder_name(tvms_vm_builder *builder, int64_t instruction,
                          tvms_bytes name);

// Appends a return.
int64_t tvms_vm_builder_ret(tvms_vm_builder *builder, int64_t result);

// Appends a jump.
int64_t tvms_vm_builder_goto(tvms_vm_builder *builder, int64_t offset);

// Appends a jump that is taken if the condition is zero.
int64_t tvms_vm_builder_if(tvms_vm_builder *builder, int64_t condition, int64_t offset);

// Numbers the registers of a finished function anew, in the order in which they are first
// written, and counts them. `count` registers were used.
void tvms_vm_builder_number_registers(tvms_vm_builder *builder,
                                      tvms_vm_function *function, uint32_t count);

#endif
