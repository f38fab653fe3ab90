#!/usr/bin/env python3
"""A run of a compiled Relax function allocates nothing: calls of the allocator are counted, in programs that are linked with it."""
import os, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import npy
from cases import InFolder, main, tvms
from library import HEAD, RT

# Counts what takes memory and what gives it back, in all of the process.
COUNTER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>
static atomic_long calls;
long count_calls(void) { return calls; }
#define NEXT(name) static __typeof__(&name) next; if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name); calls++
void *malloc(size_t size) { NEXT(malloc); return next(size); }
void *realloc(void *old, size_t size) { NEXT(realloc); return next(old, size); }
void *aligned_alloc(size_t align, size_t size) { NEXT(aligned_alloc); return next(align, size); }
int posix_memalign(void **to, size_t align, size_t size) { NEXT(posix_memalign); return next(to, align, size); }
void free(void *old) { NEXT(free); next(old); }
void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) { NEXT(mmap); return next(at, size, protection, flags, file, offset); }
int munmap(void *at, size_t size) { NEXT(munmap); return next(at, size); }
"""
COUNTER = COUNTER.replace("#include <sys/types.h>", "#include <sys/types.h>\nint posix_memalign(void **, size_t, size_t);\n#include <stdlib.h>\n#include <sys/mman.h>")

# Runs the function WARM + 4 times, says what the last four allocated and how large the workspace is,
# and writes the result.
DRIVER = """
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
long count_calls(void);
static float *numbers(const char *path, long count) {
  float *made = aligned_alloc(64, (size_t)(count * 4 + 64) / 64 * 64);
  FILE *file = fopen(path, "rb");
  fseek(file, -count * 4, SEEK_END);
  if (fread(made, 4, (size_t)count, file) != (size_t)count) abort();
  fclose(file);
  return made;
}
int main(void) {
  model_main_inputs in = {%(inputs)s};
  long count = %(count)d;
  float *result = aligned_alloc(64, (size_t)(count * 4 + 64) / 64 * 64);
  model_main_results out = {result};
  void *workspace = aligned_alloc(64, ((size_t)model_main_workspace(&in) + 64) / 64 * 64);
  long before = 0, after;
  for (int i = 0; i < %(warm)d + 4; i++) {
    if (i == %(warm)d) before = count_calls();
    if (model_main(&in, &out, workspace)) return 1;
  }
  after = count_calls();
  printf("%%ld %%ld\\n", after - before, (long)model_main_workspace(&in));
  FILE *file = fopen("result.bin", "wb");
  fwrite(result, 4, (size_t)count, file);
  return fclose(file);
}
"""

PERCEPTRON = HEAD + """
    @R.function
    def main(x: R.Tensor(("n", 300), "float32"), w: R.Tensor((200, 300), "float32"), b: R.Tensor((200,), "float32"), v: R.Tensor((10, 200), "float32")) -> R.Tensor(("n", 10), "float32"):
        with R.dataflow():
            h = R.nn.relu(R.add(R.matmul(x, R.permute_dims(w)), b))
            y = R.matmul(h, R.permute_dims(v))
            R.output(y)
        return y
"""

STRAIGHT = HEAD + """
    @R.function
    def main(x: R.Tensor(("n", 60), "float32"), w: R.Tensor((60, 40), "float32"), b: R.Tensor((40,), "float32"), v: R.Tensor((40, 10), "float32")) -> R.Tensor(("n", 10), "float32"):
        with R.dataflow():
            h = R.nn.relu(R.add(R.matmul(x, w), b))
            y = R.matmul(h, v)
            R.output(y)
        return y
"""

BLOCK = HEAD + """
    @R.function
    def main(x: R.Tensor((96, 128), "float32"), q: R.Tensor((128, 128), "float32"), k: R.Tensor((128, 128), "float32"), v: R.Tensor((128, 128), "float32"), w: R.Tensor((384, 128), "float32"), u: R.Tensor((384, 128), "float32"), g: R.Tensor((128,), "float32"), b: R.Tensor((128,), "float32")) -> R.Tensor((96, 128), "float32"):
        with R.dataflow():
            n = R.nn.layer_norm(x, g, b, axes=[-1])
            qs = R.permute_dims(R.reshape(R.matmul(n, q), R.shape([96, 4, 32])), axes=[1, 0, 2])
            ks = R.permute_dims(R.reshape(R.matmul(n, k), R.shape([96, 4, 32])), axes=[1, 2, 0])
            vs = R.permute_dims(R.reshape(R.matmul(n, v), R.shape([96, 4, 32])), axes=[1, 0, 2])
            p = R.nn.softmax(R.matmul(qs, ks), axis=-1)
            a = R.add(x, R.reshape(R.permute_dims(R.matmul(p, vs), axes=[1, 0, 2]), R.shape([96, 128])))
            h = R.nn.gelu(R.matmul(a, R.permute_dims(w)))
            y = R.add(a, R.matmul(h, u))
            R.output(y)
        return y
"""

IMAGES = HEAD + """
    @R.function
    def main(x: R.Tensor((1, 16, 60, 60), "float32"), w: R.Tensor((32, 16, 3, 3), "float32"), d: R.Tensor((32, 1, 3, 3), "float32"), v: R.Tensor((48, 32, 3, 3), "float32"), u: R.Tensor((10, 48), "float32")) -> R.Tensor((1, 10), "float32"):
        with R.dataflow():
            a = R.nn.relu(R.nn.conv2d(x, w, padding=(1, 1)))
            b = R.nn.max_pool2d(a, (3, 3), (2, 2), (1, 1))
            c = R.add(b, R.nn.conv2d(b, d, padding=(1, 1), groups=32))
            e = R.nn.relu(R.nn.conv2d(c, v, strides=(2, 2), padding=(1, 1)))
            y = R.matmul(R.mean(e, axis=[2, 3]), R.permute_dims(u))
            R.output(y)
        return y
"""

# A function that calls itself has memory of its own in each call.
AGAIN = HEAD + """
    @R.function(private=True)
    def again(x: R.Tensor((80, 80), "float32"), k: R.Prim("int64")) -> R.Tensor((80, 80), "float32"):
        cls = Module
        if R.prim_value(k > 0):
            y = R.nn.softmax(R.matmul(x, R.permute_dims(x)))
            z: R.Tensor((80, 80), "float32") = cls.again(y, R.prim_value(k - 1))
            r = R.add(z, y)
        else:
            r = x
        return r

    @R.function
    def main(x: R.Tensor((80, 80), "float32")) -> R.Tensor((80, 80), "float32"):
        cls = Module
        y: R.Tensor((80, 80), "float32") = cls.again(x, R.prim_value(3))
        return y
"""


# Calls a library from threads, each of which holds one result while it gets the next, and looks whether it stays what it was. Says what
# four further calls allocate, how many blocks are left when all results have been dropped, and how many when the library has gone.
RESULTS = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
long count_calls(void), count_blocks(void);
typedef struct { int32_t kind; uint32_t zero; void *value; } any;
typedef struct { void *data; int32_t device[2], ndim; uint8_t code, bits; uint16_t lanes; int64_t *shape, *strides; uint64_t offset; } tensor;
typedef struct { uint64_t references; int32_t kind; uint32_t zero; void (*deleter)(void *, int); tensor content; } object;
static int (*function)(void *, const any *, int32_t, any *);
static object *get(int64_t rows, float value) {
  int64_t shape[2] = {rows, 1024};
  float *data = aligned_alloc(64, (size_t)rows * 4096);
  for (int64_t i = 0; i < rows * 1024; i++) data[i] = value;
  tensor t = {data, {1, 0}, 2, 2, 32, 1, shape, NULL, 0};
  any arg = {7, 0, &t}, result;
  if (function(NULL, &arg, 1, &result)) abort();
  free(data);
  return result.value;
}
static void drop(object *o, int64_t rows, float value) {
  float *data = o->content.data;
  if (o->content.shape[0] != rows) abort();
  for (int64_t i = 0; i < rows * 1024; i++)
    if (data[i] != value + value) abort();
  o->deleter(o, 3);
}
static void *work(void *self) {
  int64_t rows = 0;
  object *held = NULL;
  float value = 0;
  for (int i = 0; i < 200; i++) {
    int64_t next = 1 + (i * 37 + *(int *)self * 11) % 150;
    object *o = get(next, (float)i);
    if (held) drop(held, rows, value);
    held = o, rows = next, value = (float)i;
  }
  drop(held, rows, value);
  return NULL;
}
int main(int argc, char **argv) {
  enum { THREADS = 4 };
  (void)argc;
  pthread_t threads[THREADS];
  int numbers[THREADS];
  long blocks = count_blocks();
  void *library = dlopen(argv[1], RTLD_NOW);
  long loaded = count_blocks();
  function = (int (*)(void *, const any *, int32_t, any *))dlsym(library, "__tvm_ffi_main");
  for (int i = 0; i < THREADS; i++) {
    numbers[i] = i;
    if (pthread_create(&threads[i], NULL, work, &numbers[i])) return 1;
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  object *first = get(100, 1), *second = get(100, 2);
  drop(first, 100, 1), drop(second, 100, 2);
  long before = count_calls();
  for (int i = 0; i < 4; i++) drop(get(100, 3), 100, 3);
  // Those of the argument are the program's.
  printf("%ld ", count_calls() - before - 8);
  printf("%ld ", count_blocks() - loaded);
  dlclose(library);
  printf("%d\n", count_blocks() <= loaded);
  return blocks < 0;
}
"""

class Allocations(InFolder):
    def test_large_results_are_kept(self):
        text = HEAD + """
    @R.function
    def main(x: R.Tensor(("n", 1024), "float32")):
        return R.add(x, x)
"""
        counter = COUNTER.replace("static atomic_long calls;", "static atomic_long calls, blocks;").replace("long count_calls", "long count_blocks(void) { return blocks; }\nlong count_calls")
        counter = counter.replace("NEXT(aligned_alloc); return next(align, size);", "NEXT(aligned_alloc); blocks += size >= LARGE; return next(align, size);")
        counter = counter.replace("NEXT(free); next(old);", "NEXT(free); blocks -= malloc_usable_size(old) >= LARGE; next(old);")
        counter = counter.replace("#include <dlfcn.h>", "#include <dlfcn.h>\n#include <malloc.h>\nenum { LARGE = 128 << 10 };")
        driver, counter, library = self.file("results.c", RESULTS), self.file("counter.c", counter), self.file("model.so")
        subprocess.run(["cc", "-O1", "-std=gnu11", "-rdynamic", driver, counter, "-o", self.file("results"), "-ldl", "-pthread"], check=True)
        p = tvms("build", "-", "-o", library, stdin=text)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        said = subprocess.run([self.file("results"), library], check=True, stdout=subprocess.PIPE, text=True, timeout=300).stdout.split()
        self.assertEqual(said[0], "0")
        # Two of 128 to 256 KiB, two up to 512 KiB and two up to a MiB, at most.
        self.assertLessEqual(int(said[1]), 6)
        self.assertGreater(int(said[1]), 0)
        self.assertEqual(said[2], "1")

    def check(self, text, shapes, result, sizes="", warm=2):
        """The function allocates nothing once it has run `warm` times, and computes what the interpreter does."""
        given, fields = [], []
        for name, shape in shapes.items():
            count = 1
            for size in shape:
                count *= size
            values = [((i * 7 + len(name) + shape[0]) % 23 - 11) / 64 for i in range(count)]
            npy.write(self.file(name + ".npy"), "<f4", shape, values)
            given += ["--in", f"{name}={self.file(name + '.npy')}"]
            fields.append(f'.{name} = numbers("{self.file(name + ".npy")}", {count})')
        p = tvms("run", "-", "--out", self.file("out"), *given, stdin=text)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        right = npy.read(os.path.join(self.file("out"), "result.npy"))
        self.file("count.c", COUNTER)
        self.file("drive.c", DRIVER % {"inputs": ", ".join(fields) + sizes, "count": result, "warm": warm})
        for suffix, library, flags in ((".o", [], []), (".o", [RT, "-pthread"], []), (".c", [], ["-march=native"])):
            for level in ("-O1", "-O2"):
                with self.subTest(suffix=suffix, library=bool(library), level=level):
                    output = self.file("model" + suffix)
                    p = tvms("build", "-", "-o", output, level, "--emit-headers", stdin=text)
                    self.assertEqual(p.returncode, 0, p.stderr.decode())
                    subprocess.run(["cc", "-O1", *flags, "-I", self.folder, self.file("drive.c"), self.file("count.c"), output, *library, "-o", self.file("drive"), "-lm", "-ldl"], check=True)
                    said = subprocess.run([self.file("drive")], check=True, cwd=self.folder, stdout=subprocess.PIPE, env={**os.environ, "TVMS_NUM_THREADS": "2"}, timeout=120).stdout.split()
                    self.assertEqual(int(said[0]), 0)
                    with open(self.file("result.bin"), "rb") as f:
                        made = f.read()
                    self.assertIsNone(npy.differ(("<f4", right[1], list(memoryview(made).cast("f"))), right, 1e-5))
        return int(said[1])

    def test_perceptron(self):
        shapes = {"x": (7, 300), "w": (200, 300), "b": (200,), "v": (10, 200)}
        # Where vectors are shorter than a line of the caches, what turned weights are copied to is kept from the first run on.
        wide = b"vectors    512 bits" in tvms("explain", "--target", "host").stdout
        self.check(PERCEPTRON, shapes, 70, ", .n = 7", warm=0 if wide else 2)

    def test_a_perceptron_that_copies_nothing(self):
        shapes = {"x": (7, 60), "w": (60, 40), "b": (40,), "v": (40, 10)}
        # Nothing is kept either: all memory is the caller's, from the first run on.
        self.check(STRAIGHT, shapes, 70, ", .n = 7", warm=0)

    def test_transformer_block(self):
        shapes = {"x": (96, 128), "q": (128, 128), "k": (128, 128), "v": (128, 128), "w": (384, 128), "u": (384, 128), "g": (128,), "b": (128,)}
        self.check(BLOCK, shapes, 96 * 128)

    def test_images(self):
        self.check(IMAGES, {"x": (1, 16, 60, 60), "w": (32, 16, 3, 3), "d": (32, 1, 3, 3), "v": (48, 32, 3, 3), "u": (10, 48)}, 10)

    def test_functions_that_call_themselves(self):
        self.check(AGAIN, {"x": (80, 80)}, 6400)


if __name__ == "__main__":
    main()
