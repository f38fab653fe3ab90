#!/usr/bin/env python3
"""What it takes to get a field of a tuple that a library does not make itself.

    python3 bench/native/tuples.py build-rel [--rounds 3000] [--out bench/native/results]

Two programs call the same functions with as many arguments. One gets a field of each tuple and passes it again and again, the other one gets all fields. How much more the second takes, for each field more, is an access: with the checks that
the tuple is one and has so many fields, and with what has to be done for the field when the function ends. Least of the rounds, which the two take in turn; a cycle is a third of the time of one of many products (of x86-64), each of which waits for the one before. Fields are
objects, which have references, or numbers.
"""
import argparse, os, subprocess, tempfile

from models import keep

DRIVER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
typedef struct { int32_t kind; uint32_t zero; void *value; } any;
typedef struct { uint64_t references; int32_t kind; uint32_t zero; void (*deleter)(void *, int); } object;
typedef struct { object head; any *first; int64_t count, room; void *deleter; any items[]; } array;
typedef int call(void *, const any *, int32_t, any *);
static void none(void *object, int flags) { (void)object, (void)flags; }
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
// Products take three cycles; sums may take none.
static double cycle(void) {
  enum { COUNT = 100000, LATENCY = 3 };
  double least = 1e18;
  for (int round = 0; round < 50; round++) {
    double t = now();
    uint64_t product = 3;
    for (int i = 0; i < COUNT; i++)
      __asm__ volatile("imul %0, %0" : "+r"(product));
    t = now() - t;
    if (t < least) least = t;
  }
  return least / COUNT / LATENCY;
}
int main(int argc, char **argv) {
  (void)argc;
  int size = atoi(argv[1]), objects = atoi(argv[2]), rounds = atoi(argv[3]);
  const object head = {(1ull << 32) + 1, objects ? 64 : 71, 0, none};
  array *tuple = calloc(1, sizeof *tuple + (size_t)size * sizeof(any));
  tuple->head = head, tuple->head.kind = 71;
  tuple->first = tuple->items, tuple->count = tuple->room = size;
  // One object for all fields: who takes the fields counts references in either program, and should not wait for memory in one.
  object *field = calloc(1, 128);
  *field = head;
  for (int i = 0; i < size; i++)
    tuple->items[i] = objects ? (any){64, 0, field} : (any){1, 0, (void *)5};
  any arg = {71, 0, tuple};
  call *function[2];
  for (int i = 0; i < 2; i++) {
    void *library = dlopen(argv[4 + i], RTLD_NOW);
    if (!library) return 1;
    function[i] = (call *)dlsym(library, "__tvm_ffi_main");
  }
  double least[2] = {1e18, 1e18};
  for (int round = 0; round < rounds; round++)
    for (int i = 0; i < 2; i++) {
      any result;
      double t = now();
      if (function[i](0, &arg, 1, &result)) return 1;
      t = now() - t;
      if (t < least[i]) least[i] = t;
      object *o = result.value;
      if (!(uint32_t)--o->references) o->deleter(o, 3);
    }
  printf("%f %f %f\n", least[0], least[1], cycle());
  return 0;
}
"""


def program(size, tuples, every):
    """Gets fields of `tuples` tuples: one of each, or all."""
    lines = []
    for i in range(tuples):
        lines.append(f'        t{i} = R.call_packed("vm.builtin.copy", x, ty_args=(R.Tuple({", ".join(["R.Any"] * size)}),))')
        lines += [f"        a{i}_{k} = t{i}[{k}]" for k in range(size if every else 1)]
        args = ", ".join(f"a{i}_{k if every else 0}" for k in range(size))
        lines.append(f'        u{i} = R.call_packed("vm.builtin.make_tuple", {args}, ty_args=(R.Any,))')
    return ("from tvm.script import ir as I, relax as R\n\n@I.ir_module\nclass Module:\n    @R.function(pure=False)\n    def main(x: R.Any):\n"
            + "\n".join(lines) + f"\n        return u{tuples - 1}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--out")
    options = parser.parse_args()
    tvms = os.path.abspath(os.path.join(options.build, "tvms"))
    lines = ["# Fields of tuples", "", f"Nanoseconds and cycles of one access, of {options.rounds} rounds.", "", "| fields of the tuple | what they are | ns | cycles |", "| --- | --- | --- | --- |"]
    with tempfile.TemporaryDirectory() as folder:
        file = lambda name: os.path.join(folder, name)
        with open(file("drive.c"), "w", encoding="utf-8") as f:
            f.write(DRIVER)
        subprocess.run(["cc", "-O2", file("drive.c"), "-o", file("drive"), "-ldl"], check=True)
        for size, tuples in ((2, 200), (16, 50), (1000, 1)):
            for every in (0, 1):
                with open(file("model.tvms"), "w", encoding="utf-8") as f:
                    f.write(program(size, tuples, every))
                subprocess.run([tvms, "build", file("model.tvms"), "-o", file(f"model{every}.so")], check=True)
            for objects in (1, 0):
                run = [file("drive"), str(size), str(objects), str(options.rounds), file("model0.so"), file("model1.so")]
                one, all_, cycle = map(float, subprocess.run(run, check=True, stdout=subprocess.PIPE, text=True).stdout.split())
                ns = (all_ - one) / (tuples * (size - 1))
                lines.append(f"| {size} | {'objects' if objects else 'numbers'} | {ns:.2f} | {ns / cycle:.1f} |")
    print("\n".join(lines))
    keep(lines, "tuples", 1, options.out)


if __name__ == "__main__":
    main()
