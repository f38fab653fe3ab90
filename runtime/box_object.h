// What functions of runtime/boxes.def are made of: arguments, errors, and objects of tvm-ffi.
#ifndef TVMS_RUNTIME_BOX_OBJECT_H
#define TVMS_RUNTIME_BOX_OBJECT_H

#include "runtime/box.h"

// A tensor. Its sizes and strides follow, and its elements if `owner` is NULL.
typedef struct {
  tvms_any_object head;
  tvms_dl_tensor tensor;
  tvms_any_object *TVMS_NULLABLE owner;  // of the elements; it holds a reference
  int64_t sizes[];
} tvms_box_tensor;

enum { TVMS_BOX_LEAVES = 1, TVMS_BOX_FREES = 2 };

// One call in progress. After the first error nothing more is raised.
typedef struct {
  tvms_box_raiser *TVMS_NULLABLE raise;
  const char *name;  // of the function
  const tvms_any *args;
  int32_t count;
  bool failed;
} tvms_box_args;

// The call of a function with this name.
tvms_box_args tvms_box_open(void *raise, const char *name, const tvms_any *args,
                            int32_t count);

// Tells of an error, of the first one.
void tvms_box_tell(tvms_box_args *a, const char *kind, const char *text);

// Raises a text; -1.
int32_t tvms_box_fail(tvms_box_args *a, const char *kind, const char *text);

// Raises that something is expected; -1.
int32_t tvms_box_refuse(tvms_box_args *a, const char *expected);

// Raises a TypeError that something is expected of whom the last argument, a text, says, and what is given instead,
// if `given`; -1.
int32_t tvms_box_mismatch(tvms_box_args *a, const char *expected,
                          const tvms_any *TVMS_NULLABLE given);

// Raises that there is no memory; -1.
int32_t tvms_box_no_memory(tvms_box_args *a);

// The integer that is argument `i`; raises if it is none.
int64_t tvms_box_number(tvms_box_args *a, int32_t i);

// The tensor that is argument `i`, in the memory of this machine and without gaps; NULL after an error.
const tvms_dl_tensor *TVMS_NULLABLE tvms_box_tensor_at(tvms_box_args *a, int32_t i);

// Where the elements of a tensor begin.
char *tvms_box_data(const tvms_dl_tensor *tensor);

// The sizes of a shape that is argument `i`, and how many there are; NULL after an error.
const int64_t *TVMS_NULLABLE tvms_box_sizes_at(tvms_box_args *a, int32_t i,
                                               int64_t *count);

// The data type that a text names, as "float32" or "int8x4"; false if it names none.
bool tvms_box_dtype(const char *text, tvms_dl_type *type);

// The name of a data type, in so many bytes at most; "?" if it has none here.
void tvms_box_dtype_text(tvms_dl_type type, char *text, size_t room);

// The text that is argument `i`; NULL if it is none.
const char *TVMS_NULLABLE tvms_box_text(const tvms_box_args *a, int32_t i);

// The bytes of a text, lent or an object, and how many there are; NULL if the value is none.
const char *TVMS_NULLABLE tvms_box_text_bytes(const tvms_any *value, uint64_t *len);

// Bytes of the elements; false if there cannot be so many, or a size is negative.
bool tvms_box_bytes(tvms_dl_type type, const int64_t *sizes, int32_t ndim,
                    uint64_t *bytes);

// A new tensor with one reference, whose elements nobody has written, or which are `owner`'s, from
// `data` on; it gets a reference of the owner. NULL after an error.
tvms_box_tensor *TVMS_NULLABLE tvms_box_tensor_new(tvms_box_args *a, tvms_dl_type type,
                                                   int32_t ndim, const int64_t *sizes,
                                                   tvms_any_object *TVMS_NULLABLE owner,
                                                   char *TVMS_NULLABLE data);

// One reference more.
void tvms_box_keep(tvms_any_object *object);

// One reference less.
void tvms_box_release(tvms_any_object *object);

// The items of an array; NULL if the value is none.
const tvms_any *TVMS_NULLABLE tvms_box_items(tvms_any value, int64_t *count);

// A new object of this kind with one reference; nobody has written what is behind its head. `deleter` is called
// with TVMS_BOX_LEAVES when the last reference has gone, and with TVMS_BOX_FREES when it is to be freed. NULL:
// there is no memory.
void *TVMS_NULLABLE tvms_box_object_new(size_t bytes, int32_t kind,
                                        void (*deleter)(void *object, int flags));

// A text of less than 8 bytes that a tuple holds; false if the value is none.
bool tvms_box_small_text(tvms_any value, char text[8]);

// Puts a reference of a value, or a copy of a tensor or text that is lent, into *result. Returns 0, or -1 after an error.
int32_t tvms_box_copy_of(tvms_box_args *a, tvms_any value, tvms_any *result);

// Makes *result an object; it gets the caller's reference.
int32_t tvms_box_give(tvms_any *result, int32_t kind, void *object);

#endif
