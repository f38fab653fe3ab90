// Arguments of a call: given ones, and random ones for the rest.
//
// Symbolic sizes come from the inputs that are given; one that no input decides is
// TVMS_FREE_SIZE. Random inputs depend on the seed and the parameter's name only
// (runtime/random.h); fields of a tuple are named "x.0", "x.1".
#ifndef TVMS_DRIVER_INPUTS_H
#define TVMS_DRIVER_INPUTS_H

#include "driver/input_text.h"
#include "interp/interp.h"

enum { TVMS_FREE_SIZE = 16 };

// Arguments in the making.
typedef struct {
  tvms_context *context;
  const tvms_member *entry;  // the function to call
  tvms_heap *heap;           // owns the values
  tvms_value *values;        // one per parameter; NONE: not given
  uint64_t seed;
  tvms_input_files files;
  tvms_arena arena;  // what the making needs
  int64_t *sizes;    // by id of a variable
  bool *known;
} tvms_inputs;

// Starts with no value given; `values` has room for all parameters and is the caller's.
void tvms_inputs_init(tvms_inputs *inputs, tvms_context *context,
                      const tvms_member *entry, tvms_heap *heap, tvms_value *values);

// Ends the making; the values stay.
void tvms_inputs_fini(tvms_inputs *inputs);

// The parameter with this name, or -1.
int64_t tvms_inputs_find(const tvms_inputs *inputs, const char *name, size_t len);

// Gives one parameter, or the field of it that a place ("", ".1", ".1.0") names, what a text says: a
// number ("3", "1.5", "True") where a number or a tensor without dimensions is wanted, a shape ("(2, 3)"),
// a tuple of such texts, or else the name of an .npy file; a number may be an array of one element.
// What does not fit is reported.
void tvms_inputs_give(tvms_inputs *inputs, uint32_t index, const char *place,
                      const char *text);

// Reports that an input is no good, or that there is no such parameter.
void tvms_inputs_refuse(const tvms_inputs *inputs, const char *name, const char *why);

// Reports that the entry has no parameter of this name.
void tvms_inputs_unknown(const tvms_inputs *inputs, const char *name, size_t len);

// Makes a random value for each parameter that has none. False if that is not possible or
// something was reported before; then arguments are incomplete.
TVMS_NODISCARD bool tvms_inputs_fill(tvms_inputs *inputs);

// Number of parameters of a PrimFunc or a Relax function, and the name of one: that of its
// buffer, where it has one.
uint32_t tvms_inputs_param_count(const tvms_member *entry);

// The name of parameter `index`, which exists; it lives as long as the context.
const char *tvms_inputs_param_name(const tvms_context *context,
                                   const tvms_member *entry, uint32_t index);

// True if a parameter is a result that is an object of what was a Relax function: its value is a STATE of one
// item, which a call fills in.
bool tvms_inputs_param_is_object(const tvms_member *entry, uint32_t index);

#endif
