#!/usr/bin/env python3
"""What a call with a large result takes, whose memory the library keeps when the result has been dropped; and onnxruntime, whose arena keeps it as well.

    python3 bench/native/large_results.py build-rel [--before TVMS] [--out bench/native/results]

relu of 256 KiB to 64 MiB of floats. The caller drops each result at once, or holds it until it has the next one. Least of up to 200 calls, and the page faults of the last one; one thread. `--before` is another tvms, to compare with, such as one from before memory was kept. onnxruntime and onnx
are imported if there are such.
"""
import argparse, os, subprocess, tempfile, time

from models import keep

TEXT = """from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        return R.nn.relu(x)
"""

DRIVER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
typedef struct { int32_t kind; uint32_t zero; void *value; } any;
typedef struct { void *data; int32_t device[2], ndim; uint8_t code, bits; uint16_t lanes; int64_t *shape, *strides; uint64_t offset; } tensor;
typedef struct { uint64_t references; int32_t kind; uint32_t zero; void (*deleter)(void *, int); } object;
typedef int call(void *, const any *, int32_t, any *);
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}
static long faults(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}
int main(int argc, char **argv) {
  (void)argc;
  int64_t count = atol(argv[2]), holds = atol(argv[3]);
  float *data = aligned_alloc(64, (size_t)count * 4);
  for (int64_t i = 0; i < count; i++) data[i] = (float)(i & 7);
  tensor t = {data, {1, 0}, 1, 2, 32, 1, &count, NULL, 0};
  any arg = {7, 0, &t}, result;
  void *library = dlopen(argv[1], RTLD_NOW);
  call *function = library ? (call *)dlsym(library, "__tvm_ffi_main") : NULL;
  object *held = NULL;
  double least = 1e18;
  long last = 0;
  for (int i = 0; i < (count > 1 << 22 ? 30 : 200); i++) {
    long before = faults();
    double begin = now();
    if (!function || function(NULL, &arg, 1, &result)) return 1;
    object *gone = holds ? held : result.value;
    held = result.value;
    if (gone) gone->deleter(gone, 3);
    double took = now() - begin;
    last = faults() - before;
    if (took < least) least = took;
  }
  printf("%f %ld\n", least, last);
  return 0;
}
"""


def onnx_times(counts):
    try:
        import numpy, onnx, onnxruntime
        from onnx import TensorProto, helper
    except ImportError:
        return {}
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"])
    model = helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [value("x")], [value("y")]), opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    times = {}
    for count in counts:
        x = onnxruntime.OrtValue.ortvalue_from_numpy(numpy.arange(count, dtype="float32") % 8)
        for holds in (0, 1):
            least, held = 1e18, None
            for _ in range(30 if count > 1 << 22 else 200):
                begin = time.perf_counter()
                y = session.run_with_ort_values(["y"], {"x": x})
                held = y if holds else None
                del y
                least = min(least, time.perf_counter() - begin)
            times[count, holds] = least * 1e6
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--before")
    parser.add_argument("--out")
    options = parser.parse_args()
    programs = [("tvms", os.path.join(options.build, "tvms"))] + ([("before", options.before)] if options.before else [])
    counts = [1 << power for power in (16, 18, 20, 22, 24)]
    times = onnx_times(counts)
    head = [f"{name}, us | faults" for name, _ in programs]
    lines = ["# Large results", "", "Least of up to 200 calls, one thread.", "", f"| KiB | the caller | {' | '.join(head)} | onnxruntime, us |", "| --- " * (3 + 2 * len(programs)) + "|"]
    with tempfile.TemporaryDirectory() as folder:
        file = lambda name: os.path.join(folder, name)
        with open(file("drive.c"), "w", encoding="utf-8") as f:
            f.write(DRIVER)
        subprocess.run(["cc", "-O2", file("drive.c"), "-o", file("drive"), "-ldl"], check=True)
        for name, tvms in programs:
            subprocess.run([os.path.abspath(tvms), "build", "-", "-o", file(name + ".so")], input=TEXT, check=True, text=True)
        for count in counts:
            for holds in (0, 1):
                row = [str(count * 4 >> 10), "holds it" if holds else "drops it"]
                for name, _ in programs:
                    said = subprocess.run([file("drive"), file(name + ".so"), str(count), str(holds)], check=True, stdout=subprocess.PIPE, text=True,
                                          env={**os.environ, "TVMS_NUM_THREADS": "1"}).stdout.split()
                    row += [f"{float(said[0]):.1f}", said[1]]
                lines.append("| " + " | ".join(row + [f"{times[count, holds]:.1f}" if times else "–"]) + " |")
    print("\n".join(lines))
    keep(lines, "large_results", 1, options.out)


if __name__ == "__main__":
    main()
