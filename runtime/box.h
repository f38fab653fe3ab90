// Objects for native code: values in boxes of tvm-ffi's layout, with counts of references, and the
// functions of TVM's run time that make and take them (runtime/boxes.def).
//
// The files behind this need nothing but libc: they stand in libtvms_rt.a, which libraries that have
// objects are linked with, and who links such an object file or C text. A box is a tvms_any; who has one
// whose kind is TVMS_ANY_OBJECT or greater has a reference, and gives it back by tvms_box_drop.
#ifndef TVMS_RUNTIME_BOX_H
#define TVMS_RUNTIME_BOX_H

#include "runtime/abi.h"

// Who is told of errors: `self` is the raiser, or NULL where that is gone. The kind is a constant.
typedef void (*tvms_box_raise)(void *self, const char *kind, const char *text);

// It lives as long as a call.
typedef struct {
  tvms_box_raise raise;
} tvms_box_raiser;

// A function, of TVM's safe-call type: `raise` is a tvms_box_raiser, or NULL: nobody is told. Arguments are borrowed,
// the result is the caller's. Returns 0, or -1 after it has raised.
typedef int32_t tvms_box_function(void *raise, const tvms_any *args, int32_t count,
                                  tvms_any *result);

#define BOX(name, function) tvms_box_function tvms_box_##function;
#include "runtime/boxes.def"
#undef BOX

// The function of this name, or NULL.
tvms_box_function *TVMS_NULLABLE tvms_box_find(const char *name);

// In the padding of a box of an object: somebody else has the reference. Code keeps such boxes to itself
// (backend/core/borrow.h).
enum { TVMS_BOX_BORROWED = 1 };

// Empties boxes: what they hold loses a reference, and all are none.
void tvms_box_drop(tvms_any *boxes, int64_t count);

// Puts what a call gave into a box, which is emptied first. `value` is moved.
void tvms_box_put(tvms_any *box, const tvms_any *value);

// Calls a function, and puts its result into a box unless it fails.
int32_t tvms_box_call(tvms_box_function *function, void *raise, const tvms_any *args,
                      int32_t count, tvms_any *box);

// Puts field `at` of the tuple in a box into another box: without a reference of its own into an empty one, or as
// vm.builtin.tuple_getitem does where the field must be copied. Returns 0, or -1 after it has raised.
int32_t tvms_box_lend_field(void *raise, const tvms_any *tuple, int64_t at,
                            tvms_any *box);

#endif
