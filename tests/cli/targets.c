// Calls the function `f` of an object that `tvms build` made for another machine.
//
//   targets CODE:BITS:ROWSxCOLUMNS:FILE...
//
// Tensors are read from files; the last one is written back.
#include "targets.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int32_t kind;
  uint32_t padding;
  union {
    void *pointer;
    int64_t word;
  };
} any;

int __tvm_ffi_f(void *self, const any *args, int32_t count, any *result);

enum { MOST = 8 };

int main(int argc, char **argv) {
  static tensor tensors[MOST];
  static int64_t shapes[MOST][2];
  static any args[MOST], result;
  size_t bytes = 0;
  char file[4096];
  for (int i = 0; i + 1 < argc && i < MOST; i++) {
    int code, bits, rows, columns;
    if (sscanf(argv[i + 1], "%d:%d:%dx%d:%4095s", &code, &bits, &rows, &columns, file)
        != 5)
      return 2;
    shapes[i][0] = rows, shapes[i][1] = columns;
    bytes = (size_t)rows * (size_t)columns * (size_t)(bits / 8);
    tensors[i] = (tensor){.data = malloc(bytes),
                          .device_type = 1,
                          .ndim = 2,
                          .code = (uint8_t)code,
                          .bits = (uint8_t)bits,
                          .lanes = 1,
                          .shape = shapes[i]};
    args[i] = (any){7, 0, {&tensors[i]}};
    FILE *in = fopen(file, "rb");
    if (!in || fread(tensors[i].data, 1, bytes, in) != bytes) return 2;
    fclose(in);
  }
  if (__tvm_ffi_f(NULL, args, argc - 1, &result)) return 1;
  FILE *out = fopen(file, "wb");
  return !out || fwrite(tensors[argc - 2].data, 1, bytes, out) != bytes || fclose(out)
             ? 2
             : 0;
}
