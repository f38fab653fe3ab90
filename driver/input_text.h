// What the text of an input says, and the files that it names: "3", "1.5", "True", "(2, 3)", "x.npy",
// and tuples of such, "(x.npy, (3, True))".
#ifndef TVMS_DRIVER_INPUT_TEXT_H
#define TVMS_DRIVER_INPUT_TEXT_H

#include "runtime/npy.h"
#include "runtime/value.h"
#include "support/context.h"

// Who reads the files that inputs name. NULL: it said so itself.
typedef struct {
  const tvms_source *TVMS_NULLABLE (*read)(void *state, const char *path);
  void *state;
} tvms_input_files;

// The parts of a text in parentheses, without the blanks around them, ended and in the arena. NULL: it
// is none, or its parentheses do not match.
const char **TVMS_NULLABLE tvms_inputs_parts(tvms_arena *arena, const char *text,
                                             uint32_t *count);

// A number of this type. False: the text is something else.
bool tvms_inputs_number(tvms_dl_type type, const char *text, tvms_value *value);

// A shape, "(2, 3)", "(4,)" or "()", of sizes that are not negative. False: the text is something else.
bool tvms_inputs_shape(tvms_arena *arena, tvms_heap *heap, const char *text,
                       tvms_value *value);

// The content of the .npy file at `path` as a tensor of this type (lanes 0: of its own). Returns NULL, or
// what is wrong with it, which lives as long as the context.
const char *TVMS_NULLABLE tvms_inputs_array(tvms_context *context, tvms_heap *heap,
                                            tvms_input_files files, const char *path,
                                            tvms_dl_type type, tvms_value *value);

// A tensor without dimensions with a number that fits its type.
tvms_value tvms_inputs_scalar_tensor(tvms_heap *heap, tvms_dl_type type,
                                     tvms_value number);

// A tuple of `count` fields, which are NONE, and a text for each of them. Returns NULL, or why the text says
// none, which lives as long as the context.
const char *TVMS_NULLABLE tvms_inputs_tuple(tvms_context *context, tvms_heap *heap,
                                            const char *text, uint32_t count,
                                            const char ***parts, tvms_value *value);

// A number that an array of one element holds; other values stay as they are.
tvms_value tvms_inputs_unbox(tvms_value value);

// A number as a value of its type.
tvms_value tvms_inputs_of_scalar(tvms_dl_type type, tvms_scalar number);

// The next field that a place names: of ".1.0" the number 1, and *place moves to ".0". -1: it names none.
int64_t tvms_inputs_next_field(const char **place);

// The length of a name without what stands behind its last dot: of "x.1.0" 3. 0: there is no dot.
size_t tvms_inputs_shorter(const char *name, size_t len);

#endif
