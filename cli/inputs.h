// Arguments of the function that `run` and `bench` call: from files, or random.
//
// Symbolic sizes come from the inputs that are given; one that no input decides is
// TVMS_FREE_SIZE. Random inputs depend on the seed and the parameter's name only
// (runtime/random.h); fields of a tuple are named "x.0", "x.1".
#ifndef TVMS_CLI_INPUTS_H
#define TVMS_CLI_INPUTS_H

#include "cli/native.h"

enum { TVMS_FREE_SIZE = 16 };

// Makes one value per parameter, owned by the heap. False after a report.
TVMS_NODISCARD bool tvms_inputs_make(tvms_run *run, const tvms_member *entry,
                                     tvms_heap *heap, tvms_value *values);

// Number of parameters of a PrimFunc or a Relax function, and the name of one: that of its
// buffer, where it has one.
uint32_t tvms_inputs_param_count(const tvms_member *entry);
const char *tvms_inputs_param_name(const tvms_context *context,
                                   const tvms_member *entry, uint32_t index);

// True if a PrimFunc writes to the buffer of this parameter: then it is a result.
bool tvms_inputs_param_is_written(tvms_context *context, const tvms_member *entry,
                                  uint32_t index);

#endif
