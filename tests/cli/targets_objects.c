// Calls `main(x, w)` of a program that `tvms build` made for another machine, and reads the objects that it
// gives as tvm-ffi lays them out there: a tuple of a tensor of 4 x 6 and of the shape (2, 3). Writes the tensor.
//
//   targets_objects X W RESULT
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
  uint64_t references;
  int32_t kind;
  uint32_t padding;
  union {
    void (*deleter)(void *self, int flags);
    int64_t align;
  };
} object;

typedef struct {
  int32_t kind;
  uint32_t padding;
  union {
    object *object;
    void *pointer;
    int64_t word;
  };
} any;

typedef struct {
  object head;
  any *items;
  int64_t size, capacity;
  void (*deleter)(void *items);
} array;

typedef struct {
  object head;
  int64_t *sizes;
  size_t count;
} shape;

typedef struct {
  object head;
  tensor tensor;
} tensor_object;

int __tvm_ffi_main(void *self, const any *args, int32_t count, any *result);

static void read_file(const char *name, void *to, size_t bytes) {
  FILE *in = fopen(name, "rb");
  if (!in || fread(to, 1, bytes, in) != bytes) exit(2);
  fclose(in);
}

static void check(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "%s\n", what);
  exit(3);
}

int main(int argc, char **argv) {
  static float x[4 * 8], w[8 * 6];
  int64_t x_shape[] = {4, 8}, w_shape[] = {8, 6};
  check(argc == 4, "three files");
  read_file(argv[1], x, sizeof x);
  read_file(argv[2], w, sizeof w);
  tensor tensors[] = {{.data = x,
                       .device_type = 1,
                       .ndim = 2,
                       .code = 2,
                       .bits = 32,
                       .lanes = 1,
                       .shape = x_shape},
                      {.data = w,
                       .device_type = 1,
                       .ndim = 2,
                       .code = 2,
                       .bits = 32,
                       .lanes = 1,
                       .shape = w_shape}};
  any args[] = {{.kind = 7}, {.kind = 7}}, result = {.kind = 0};
  args[0].pointer = &tensors[0], args[1].pointer = &tensors[1];
  check(__tvm_ffi_main(NULL, args, 2, &result) == 0, "the call failed");
  check(result.kind == 71, "not a tuple");
  check(result.word == (int64_t)(uintptr_t)result.pointer,
        "the rest of the word is not 0");
  array *tuple = (array *)result.object;
  check(tuple->size == 2 && tuple->items[0].kind == 70 && tuple->items[1].kind == 69,
        "other items");
  shape *sizes = (shape *)tuple->items[1].object;
  check(sizes->count == 2 && sizes->sizes[0] == 2 && sizes->sizes[1] == 3,
        "another shape");
  tensor *made = &((tensor_object *)tuple->items[0].object)->tensor;
  check(made->ndim == 2 && made->shape[0] == 4 && made->shape[1] == 6,
        "another tensor");
  check(made->strides[0] == 6 && made->strides[1] == 1 && made->offset == 0,
        "other strides");
  check(made->device_type == 1 && made->code == 2 && made->bits == 32, "another type");
  FILE *out = fopen(argv[3], "wb");
  check(out && fwrite(made->data, 4, 24, out) == 24 && fclose(out) == 0, "not written");
  check(tuple->head.references == ((uint64_t)1 << 32) + 1, "references");
  tuple->head.deleter(tuple, 3);
  w_shape[0] = 7;
  check(__tvm_ffi_main(NULL, args, 2, &result) != 0, "a wrong size is taken");
  return 0;
}
