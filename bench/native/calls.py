#!/usr/bin/env python3
"""What a call of a kernel takes in a chain of calls, the kernel included.

    python3 bench/native/calls.py build-rel [--out bench/native/results]

The program computes subtract_one(add_one(x)) 10, 100 and 1000 times, each a `R.call_tir` of a PrimFunc, on tensors of 1 and of 64 elements. With -O0 each stays a call, with -O2 calls are fused as any others. A call is how much more the longer of two
chains takes, for each call more; the library is called from C, through its checked entry. Least of the rounds.
"""
import argparse, os, subprocess, tempfile

from models import keep

LENGTHS, ELEMENTS, LEVELS = (10, 100, 1000), (1, 64), (0, 2)

DRIVER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
typedef struct { int32_t kind; uint32_t zero; void *value; } any;
typedef struct { void *data; int32_t device[2], ndim; uint8_t code, bits; uint16_t lanes; int64_t *shape, *strides; uint64_t offset; } tensor;
typedef struct { uint64_t references; int32_t kind; uint32_t zero; void (*deleter)(void *, int); tensor tensor; } object;
typedef int call(void *, const any *, int32_t, any *);
enum { ROUNDS = 3000 };
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
int main(int argc, char **argv) {
  (void)argc;
  static float data[64] = {3};
  int64_t shape = atoi(argv[1]);
  tensor x = {data, {1, 0}, 1, 2, 32, 1, &shape, 0, 0};
  any arg = {7, 0, &x};
  for (int library = 2; argv[library]; library++) {
    void *opened = dlopen(argv[library], RTLD_NOW);
    call *function = opened ? (call *)dlsym(opened, "__tvm_ffi_main") : 0;
    double least = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
      any result;
      double t = now();
      if (!function || function(0, &arg, 1, &result)) return 1;
      t = now() - t;
      if (t < least) least = t;
      object *made = result.value;
      if (((float *)made->tensor.data)[0] != 3) return 2;
      if (!(uint32_t)--made->references) made->deleter(made, 3);
    }
    printf("%f ", least);
  }
  return 0;
}
"""


def kernel(name, operator, elements):
    return f"""
    @T.prim_func(private=True, s_tir=True)
    def {name}(A: T.Buffer(({elements},), "float32"), B: T.Buffer(({elements},), "float32")):
        T.func_attr({{"tirx.noalias": True}})
        for i in range({elements}):
            with T.sblock("{name}"):
                v = T.axis.spatial({elements}, i)
                B[v] = A[v] {operator} T.float32(1)
"""


def program(length, elements):
    type_ = f'R.Tensor(({elements},), "float32")'
    lines, last = [], "x"
    for i in range(length):
        for name in ("add_one", "subtract_one"):
            lines.append(f"        {name}_{i} = R.call_tir(cls.{name}, ({last},), out_sinfo={type_})")
            last = f"{name}_{i}"
    return ("from tvm.script import ir as I, relax as R, tirx as T\n\n@I.ir_module\nclass Module:" + kernel("add_one", "+", elements) + kernel("subtract_one", "-", elements)
            + f"\n    @R.function\n    def main(x: {type_}):\n        cls = Module\n" + "\n".join(lines) + f"\n        return {last}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--out")
    options = parser.parse_args()
    tvms = os.path.abspath(os.path.join(options.build, "tvms"))
    lines = ["# Calls of kernels", "", "| elements | build | 10 pairs, ns | 100 pairs, ns | 1000 pairs, ns | a call, 10 to 100, ns | a call, 100 to 1000, ns |", "| --- | --- | --- | --- | --- | --- | --- |"]
    with tempfile.TemporaryDirectory() as folder:
        file = lambda name: os.path.join(folder, name)
        with open(file("drive.c"), "w", encoding="utf-8") as f:
            f.write(DRIVER)
        subprocess.run(["cc", "-O2", file("drive.c"), "-o", file("drive"), "-ldl"], check=True)
        for elements in ELEMENTS:
            for level in LEVELS:
                libraries = []
                for length in LENGTHS:
                    with open(file("model.tvms"), "w", encoding="utf-8") as f:
                        f.write(program(length, elements))
                    libraries.append(file(f"model{length}_{elements}_{level}.so"))
                    subprocess.run([tvms, "build", f"-O{level}", file("model.tvms"), "-o", libraries[-1]], check=True)
                said = subprocess.run([file("drive"), str(elements), *libraries], check=True, stdout=subprocess.PIPE, text=True).stdout
                few, many, most = map(float, said.split())
                lines.append(f"| {elements} | -O{level} | {few:.0f} | {many:.0f} | {most:.0f} | {(many - few) / 180:.2f} | {(most - many) / 1800:.2f} |")
    print("\n".join(lines))
    keep(lines, "calls", 1, options.out)


if __name__ == "__main__":
    main()
