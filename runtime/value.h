// Values of a running program: numbers in place, everything larger counted.
//
// Tensors are large and short-lived, so they are freed when their last user is gone and not
// at the end of the run: each has a count, and whoever gets a value that it owns drops it.
// A fault unwinds past all these drops. So every object is also in the list of its heap,
// and closing the heap frees what is left: a run that was broken off leaks nothing.
//
//   tvms_value x = tvms_value_of_tensor(tvms_tensor_new(&heap, type, 1, shape));  count 1
//   tuple->items[0] = tvms_value_keep(x);                                         count 2
//   tvms_value_drop(x);                                                           count 1
//   tvms_heap_fini(&heap);                                                        gone
#ifndef TVMS_RUNTIME_VALUE_H
#define TVMS_RUNTIME_VALUE_H

#include "runtime/number.h"
#include "support/memory.h"

typedef enum {
  TVMS_VALUE_NONE,
  TVMS_VALUE_INT,
  TVMS_VALUE_FLOAT,
  TVMS_VALUE_BOOL,
  TVMS_VALUE_STR,       // borrowed text
  TVMS_VALUE_TYPE,      // an element type
  TVMS_VALUE_FUNCTION,  // borrowed, of the program that runs
  TVMS_VALUE_SHAPE,     // counted, as all that follow
  TVMS_VALUE_TENSOR,
  TVMS_VALUE_TUPLE,    // of values, as all that follow
  TVMS_VALUE_CLOSURE,  // a function, and arguments that go behind those of a call
  TVMS_VALUE_STATE,  // the name of a kind of state, and what belongs to it; it changes in place
} tvms_value_kind;

typedef struct tvms_object tvms_object;

// The objects of one run.
typedef struct {
  tvms_memory *memory;
  tvms_object *newest;
  // Most bytes of one tensor; beyond it tvms_tensor_new returns NULL.
  uint64_t largest;
  uint64_t made;   // bytes of all tensors that were ever made
  uint64_t alive;  // of those that there are
} tvms_heap;

// Head of everything that is counted.
struct tvms_object {
  tvms_heap *heap;
  tvms_object *newer;
  tvms_object *older;
  uint32_t count;
  uint8_t kind;  // tvms_value_kind
};

// A compact tensor on the CPU, or several dimensions of a shape without data.
typedef struct {
  tvms_object head;
  tvms_dl_tensor view;  // strides NULL, byte_offset 0
  uint64_t bytes;
  tvms_object *TVMS_NULLABLE base;  // whose memory it lies in; NULL: its own
  int64_t shape[];
} tvms_tensor;

typedef struct tvms_items tvms_items;

// One value; whether it is owned or borrowed is said where it is passed.
typedef struct {
  uint8_t kind;  // tvms_value_kind
  union {
    int64_t i;  // INT, BOOL
    double f;
    const char *text;
    tvms_dl_type type;
    const void *function;
    tvms_object *object;
    tvms_tensor *tensor;  // TENSOR, and SHAPE: only view.ndim and shape count
    tvms_items *tuple;    // TUPLE, CLOSURE and STATE
  };
} tvms_value;

struct tvms_items {
  tvms_object head;
  uint32_t len;
  tvms_value items[];
};

enum { TVMS_TENSOR_ALIGNMENT = 64 };

// An empty heap that takes its objects from `memory`. The largest tensor has 1 TiB.
void tvms_heap_init(tvms_heap *heap, tvms_memory *memory);

// Frees all objects, whatever their counts.
void tvms_heap_fini(tvms_heap *heap);

// A tensor whose bytes are all 0xFF (NaN in every float kind), with a count of one; NULL
// if its size overflows, is negative, or is over heap->largest.
tvms_tensor *TVMS_NULLABLE tvms_tensor_new(tvms_heap *heap, tvms_dl_type type,
                                           int32_t ndim, const int64_t *shape);

// A tensor that lies in the memory of another one, from a byte on, with a count of one; it keeps
// the other one. NULL if the memory ends too early, or as tvms_tensor_new.
tvms_tensor *TVMS_NULLABLE tvms_tensor_within(tvms_tensor *base, uint64_t offset,
                                              tvms_dl_type type, int32_t ndim,
                                              const int64_t *shape);

// A tensor over bytes that belong to somebody else, who keeps them longer, with a count of one. NULL if the sizes
// do not come to `size` bytes.
tvms_tensor *TVMS_NULLABLE tvms_tensor_over(tvms_heap *heap, tvms_dl_type type,
                                            int32_t ndim, const int64_t *shape,
                                            void *bytes, uint64_t size);

// Bytes of a compact tensor. False if they do not fit.
bool tvms_tensor_measure(tvms_dl_type type, int32_t ndim, const int64_t *shape,
                         uint64_t *bytes);

// A shape with a count of one.
tvms_tensor *tvms_shape_new(tvms_heap *heap, int32_t ndim, const int64_t *shape);

// A tuple of NONE with a count of one.
tvms_items *tvms_tuple_new(tvms_heap *heap, uint32_t len);

// A closure or a state, as tvms_tuple_new makes a tuple.
tvms_items *tvms_items_new(tvms_heap *heap, tvms_value_kind kind, uint32_t len);

// Number of elements (lanes counted once).
int64_t tvms_tensor_len(const tvms_tensor *tensor);

// The element at a flat place, row by row; of a vector its first lane.
tvms_scalar tvms_tensor_get(const tvms_tensor *tensor, int64_t at);

// Writes the element at a flat place, of a vector its first lane; the value must fit.
void tvms_tensor_set(tvms_tensor *tensor, int64_t at, tvms_scalar value);

// One user more; returns the value. Values that are not counted pass through.
tvms_value tvms_value_keep(tvms_value value);

// One user less; the last one frees the object, and the items of a tuple lose one user.
void tvms_value_drop(tvms_value value);

// A tensor as a value; whoever owned its count owns that of the value.
static inline tvms_value tvms_value_of_tensor(tvms_tensor *tensor) {
  return (tvms_value){.kind = TVMS_VALUE_TENSOR, .tensor = tensor};
}

#endif
