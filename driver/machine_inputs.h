// Arguments of a function of the virtual machine: given ones, and random ones for the rest.
//
// Code has no types, but checks its arguments first: check_tensor_info says how many dimensions of
// which elements a tensor has, match_shape which sizes. Random inputs are those of
// driver/inputs.h.
#ifndef TVMS_DRIVER_MACHINE_INPUTS_H
#define TVMS_DRIVER_MACHINE_INPUTS_H

#include "driver/input_text.h"
#include "vm/executable.h"

typedef struct {
  tvms_context *context;
  const tvms_vm_executable *executable;
  const tvms_vm_function *function;
  tvms_heap *heap;
  tvms_value *values;  // one per parameter; NONE: not given
  uint64_t seed;
  tvms_input_files files;
} tvms_machine_inputs;

// The parameter with this name, or -1.
int64_t tvms_machine_inputs_find(const tvms_machine_inputs *inputs, const char *name,
                                 size_t len);

// Gives one parameter, or the field of it that a place ("", ".1", ".1.0") names, what a text says, as
// tvms_inputs_give does; of what kind it is, the checks of the code tell. What does not fit is reported.
void tvms_machine_inputs_give(tvms_machine_inputs *inputs, uint32_t index,
                              const char *place, const char *text);

// Reports that the input of this name is no good.
void tvms_machine_inputs_refuse(const tvms_machine_inputs *inputs, const char *name,
                                const char *why);

// Makes a random value for each parameter that has none. False if the code does not say what it
// takes, or something was reported before.
TVMS_NODISCARD bool tvms_machine_inputs_fill(tvms_machine_inputs *inputs);

#endif
