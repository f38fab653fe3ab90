#!/usr/bin/env python3
"""How long a library takes before its first kernel runs: loading it, the first call, and later calls.

    python3 bench/native/first_kernel.py build-rel [--processes 20] [--out bench/native/results]

The function takes what a decoder of 32 layers takes, a token and 9 tensors a layer, and runs one kernel of 8 elements, so a call is what comes before the first kernel, and making the result. Least and median of the processes; the later calls of a process
count with their least. What dlopen, dlsym and a call take anyhow is measured with a library that has one empty function, in processes of their own between the others; "above" is how much more
loading and first call take together, least by least. The last line is for the function for C (--emit-headers), which checks and makes nothing.
"""
import argparse, os, statistics, subprocess, tempfile

from models import keep

LAYERS, TENSORS = 32, 9

DRIVER = """
#define _GNU_SOURCE
#include "model.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
enum { COUNT = %(count)d, ROUNDS = 2000 };
typedef struct { int32_t kind; uint32_t zero; void *value; } any;
typedef struct { void *data; int32_t device[2], ndim; uint8_t code, bits; uint16_t lanes; int64_t *shape, *strides; uint64_t offset; } tensor;
typedef int call(void *, const any *, int32_t, any *);
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}
static void drop(any result) {
  void *object = result.value;
  void (*deleter)(void *, int) = *(void (**)(void *, int))((char *)object + 16);
  deleter(object, 3);
}
int main(int argc, char **argv) {
  static float data[8];
  static int64_t shape[1] = {8};
  static tensor tensors[COUNT];
  static any args[COUNT];
  for (int i = 0; i < COUNT; i++) {
    tensors[i] = (tensor){data, {1, 0}, 1, 2, 32, 1, shape, 0, 0};
    args[i] = (any){7, 0, &tensors[i]};
  }
  double begin = now();
  void *library = dlopen(argv[1], RTLD_NOW);
  call *function = library ? (call *)dlsym(library, "__tvm_ffi_main") : 0;
  double loaded = now();
  any result;
  if (!function || function(0, args, COUNT, &result)) return 1;
  double first = now() - loaded, least = 1e9;
  if (argc > 2) {
    printf("%%f %%f\\n", loaded - begin, first);
    return 0;
  }
  drop(result);
  for (int i = 0; i < ROUNDS; i++) {
    double t = now();
    if (function(0, args, COUNT, &result)) return 1;
    t = now() - t;
    drop(result);
    if (t < least) least = t;
  }
  model_main_inputs in;
  for (size_t i = 0; i < sizeof in / sizeof(void *); i++)
    memcpy((char *)&in + i * sizeof(void *), &(void *){data}, sizeof(void *));
  float out[8];
  model_main_results results = {out};
  void *workspace = aligned_alloc(64, ((size_t)model_main_workspace(&in) + 64) / 64 * 64);
  double plain = 1e9;
  for (int i = 0; i < ROUNDS; i++) {
    double t = now();
    if (model_main(&in, &results, workspace)) return 1;
    t = now() - t;
    if (t < plain) plain = t;
  }
  printf("%%f %%f %%f %%f\\n", loaded - begin, first, least, plain);
  return 0;
}
"""


def program():
    weights = [f"w{i}" for i in range(LAYERS * TENSORS)]
    params = ", ".join(f'{w}: R.Tensor((8,), "float32")' for w in ["x"] + weights)
    return ("from tvm.script import ir as I, relax as R\n\n@I.ir_module\nclass Module:\n    @R.function\n"
            f"    def main({params}) -> R.Tensor((8,), \"float32\"):\n        with R.dataflow():\n            y = R.add(x, w0)\n            R.output(y)\n        return y\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--processes", type=int, default=20)
    parser.add_argument("--out")
    options = parser.parse_args()
    tvms = os.path.abspath(os.path.join(options.build, "tvms"))
    with tempfile.TemporaryDirectory() as folder:
        file = lambda name: os.path.join(folder, name)
        with open(file("model.tvms"), "w", encoding="utf-8") as f:
            f.write(program())
        with open(file("drive.c"), "w", encoding="utf-8") as f:
            f.write(DRIVER % {"count": 1 + LAYERS * TENSORS})
        for output in ("model.so", "model.o"):
            subprocess.run([tvms, "build", file("model.tvms"), "--emit-headers", "-o", file(output)], check=True)
        subprocess.run(["cc", "-O2", "-I", folder, file("drive.c"), file("model.o"), "-o", file("drive"), "-lm", "-ldl"], check=True)
        with open(file("empty.c"), "w", encoding="utf-8") as f:
            f.write("int __tvm_ffi_main(void *self, const void *args, int count, void *result) { return 0; }\n")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-nostdlib", file("empty.c"), "-o", file("empty.so")], check=True)
        runs, empty = [], []
        for _ in range(options.processes):
            for made, arguments in ((runs, ["model.so"]), (empty, ["empty.so", "empty"])):
                said = subprocess.run([file("drive"), file(arguments[0])] + arguments[1:], check=True, stdout=subprocess.PIPE, text=True).stdout
                made.append([float(word) for word in said.split()])
    lines = ["# Before the first kernel", "", f"{1 + LAYERS * TENSORS} tensors; microseconds of CPU time, of {options.processes} processes.", "",
             "| what | least | median |", "| --- | --- | --- |"]
    for i, name in enumerate(("loading the library", "first call", "later call", "later call from C")):
        values = [run[i] for run in runs]
        lines.append(f"| {name} | {min(values):.2f} | {statistics.median(values):.2f} |")
    both, floor = ([run[0] + run[1] for run in made] for made in (runs, empty))
    for name, values in (("loading and first call", both), ("the same of an empty library", floor)):
        lines.append(f"| {name} | {min(values):.2f} | {statistics.median(values):.2f} |")
    lines.append(f"| above | {min(both) - min(floor):.2f} | {statistics.median(both) - statistics.median(floor):.2f} |")
    print("\n".join(lines))
    keep(lines, "first_kernel", 1, options.out)


if __name__ == "__main__":
    main()
