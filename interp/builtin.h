// Functions of TVM's run time, by the table interp/builtins.def: what they are called with, and how they look at it.
#ifndef TVMS_INTERP_BUILTIN_H
#define TVMS_INTERP_BUILTIN_H

#include "interp/frame.h"

// One call in progress.
typedef struct {
  tvms_interp_frame *frame;
  const tvms_value *args;  // borrowed
  uint32_t count;
  tvms_span span;
} tvms_builtin;

// The result is the caller's.
typedef tvms_value tvms_builtin_function(const tvms_builtin *b);

#define BUILTIN(name, function) tvms_builtin_function tvms_interp_builtin_##function;
#include "interp/builtins.def"

// The function of this name, or NULL.
tvms_builtin_function *TVMS_NULLABLE tvms_interp_builtin_find(tvms_bytes name);

// ---- Arguments ----

// The fault of an argument that is not what is expected.
TVMS_NORETURN void tvms_interp_builtin_refuse(const tvms_builtin *b,
                                              const char *expected);

// An argument; a fault if there are too few.
tvms_value tvms_interp_builtin_at(const tvms_builtin *b, uint32_t i);

// An argument that is an integer; a fault if it is not.
int64_t tvms_interp_builtin_number(const tvms_builtin *b, uint32_t i);

// An argument that is a number, as a real one; a fault if it is not.
double tvms_interp_builtin_real(const tvms_builtin *b, uint32_t i);

// An argument that is a tensor, borrowed; a fault if it is not.
tvms_tensor *tvms_interp_builtin_tensor(const tvms_builtin *b, uint32_t i);

// An argument that is a shape, borrowed; a fault if it is not.
const tvms_tensor *tvms_interp_builtin_shape(const tvms_builtin *b, uint32_t i);

// An argument that is a data type whose elements have addresses; a fault if it is not.
tvms_dl_type tvms_interp_builtin_type(const tvms_builtin *b, uint32_t i);

// An argument that is a tuple, closure or state, borrowed; a fault if it is not.
tvms_items *tvms_interp_builtin_items(const tvms_builtin *b, uint32_t i,
                                      tvms_value_kind kind, const char *expected);

// ---- Results ----

// A tensor in the memory of another one, from a byte on, as a value; a fault if it is not inside.
tvms_value tvms_interp_builtin_view(const tvms_builtin *b, tvms_tensor *base,
                                    int64_t offset, tvms_dl_type type, int32_t ndim,
                                    const int64_t *shape);

// A new tensor with a count of one; a fault if it cannot be made.
tvms_tensor *tvms_interp_builtin_new_tensor(const tvms_builtin *b, tvms_dl_type type,
                                            int32_t ndim, const int64_t *shape);

// Memory until the call ends.
#define tvms_builtin_scratch(b, type, count)                                           \
  tvms_arena_array(&(b)->frame->context->scratch, type, (count))

// Calls a value that is a function or a closure, with borrowed arguments; the result is the caller's.
tvms_value tvms_interp_invoke(tvms_interp_frame *f, tvms_value callee,
                              const tvms_value *args, uint32_t count, tvms_span span);

#endif
