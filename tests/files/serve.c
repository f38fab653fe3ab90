// Calls the function of corpus/mlp_ops.tvms: mlp.h and mlp.o are what
// `tvms build --emit-headers corpus/mlp_ops.tvms -o mlp.o` writes.
#include "mlp.h"

#include <stdio.h>
#include <stdlib.h>

static void tell(const char *kind, const char *text) {
  fprintf(stderr, "%s: %s\n", kind, text);
}

// Memory for `count` floats, all of them `value`.
static float *filled(int64_t count, float value) {
  float *memory = aligned_alloc(64, ((size_t)count * sizeof(float) + 63) / 64 * 64);
  for (int64_t i = 0; memory && i < count; i++)
    memory[i] = value;
  return memory;
}

int main(void) {
  __TVMFFIErrorSetRaisedFromCStr = tell;
  int64_t n = 3;
  mlp_relax_mlp_inputs in = {
      .data = filled(n * 784, 1.0f),
      .w0 = filled(784 * 128, 0.5f),
      .b0 = filled(128, -390.0f),
      .w1 = filled(128 * 10, 0.25f),
      .b1 = filled(10, 1.0f),
      .n = n,
  };
  int64_t size = mlp_relax_mlp_result_size(&in);
  mlp_relax_mlp_results out = {.result = filled(size, 0.0f)};
  size_t bytes = (size_t)mlp_relax_mlp_workspace(&in);
  void *workspace = aligned_alloc(64, bytes ? bytes : 64);
  if (mlp_relax_mlp(&in, &out, workspace)) return 1;
  printf("%lld numbers, the first is %g\n", (long long)size, out.result[0]);
  return 0;
}
