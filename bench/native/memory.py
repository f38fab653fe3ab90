#!/usr/bin/env python3
"""How much memory a model needs beside arguments and results: the workspace that `tvms build` plans, against the storages that stock TVM's StaticPlanBlockMemory makes.

    python3 bench/native/memory.py build-rel [--only PATTERN] [--out bench/native/results]

The models of models.py, whose weights tvms binds (what it makes of them beforehand is data of the library; TVM gets them as arguments), and programs with symbolic sizes at several sizes. TVM's passes are those of its default pipeline for processors. What TVM allocates
for each call beside the storages is the result.
"""
import argparse, os, re, subprocess, sys, tempfile

import models, schedules

SIZES = (1, 7, 64, 1000)


def symbolic(name, body, *weights):
    """A program of `n` rows of 64 elements."""
    tensors = "".join(f', w{i}: R.Tensor({shape}, "float32")' for i, shape in enumerate(weights))
    lines = "\n".join("            " + line for line in body.split("; "))
    return name, ("from tvm.script import ir as I, relax as R, tirx as T\n@I.ir_module\nclass Module:\n    @R.function\n"
                  f'    def main(x: R.Tensor(("n", 64), "float32"){tensors}):\n        n = T.int64()\n        with R.dataflow():\n{lines}\n'
                  "            R.output(y)\n        return y\n")


PROGRAMS = [
    symbolic("layers of n rows", "a = R.nn.relu(R.matmul(x, w0)); b = R.nn.relu(R.matmul(a, w1)); c = R.nn.gelu(R.matmul(b, w2)); y = R.matmul(c, w3)",
             (64, 256), (256, 128), (128, 256), (256, 16)),
    symbolic("attention of n rows", "q = R.matmul(x, w0); k = R.permute_dims(R.matmul(x, w1)); v = R.matmul(x, w2); s = R.nn.softmax(R.matmul(q, k)); y = R.matmul(R.matmul(s, v), w3)",
             (64, 64), (64, 64), (64, 64), (64, 64)),
]


def planned(text):
    """Functions from sizes to bytes, one for each storage of TVM's plan."""
    import tvm
    from tvm import relax
    from tvm.relax.backend.cpu_generic import pipeline
    from tvm.script import ir as I, relax as R, tirx as T
    target = tvm.target.Target("llvm")
    text = text[text.index("@I.ir_module"):]
    module = tvm.script.from_source(text, extra_vars={"I": I, "R": R, "T": T})
    with target:
        passes = pipeline.library_dispatch_passes(target) + pipeline.legalize_passes(target) + pipeline.dataflow_lower_passes(target) + [relax.transform.StaticPlanBlockMemory()]
        module = tvm.transform.Sequential(passes)(module)
    found = []

    def visit(call):
        if isinstance(call, relax.Call) and isinstance(call.op, tvm.ir.Op) and call.op.name == "relax.memory.alloc_storage":
            product = "1"
            for size in call.args[0].values:
                product += f" * ({re.sub(r'T[.]int64[(]([0-9]+)[)]', lambda m: m[1], str(size))})"
            found.append(product)

    relax.analysis.post_order_visit(module["main"], visit)
    return lambda n: sum(eval(storage, {"n": n}) for storage in found)


def workspace(tvms, text, weights, folder):
    """A function from sizes to bytes: the one of the header that tvms writes."""
    import numpy
    path = lambda name: os.path.join(folder, name)
    with open(path("m.tvms"), "w", encoding="utf-8") as f:
        f.write(text)
    numpy.savez(path("m.npz"), **weights)
    subprocess.run([tvms, "build", *(["--params", path("m.npz")] if weights else []), "--emit-headers", path("m.tvms"), "-o", path("m.o")], check=True)
    with open(path("m.c"), "w", encoding="utf-8") as f:
        has_n = 'n", 64' in text
        f.write('#include "m.h"\n#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {\n  m_main_inputs in = {0};\n  (void)argc;\n'
                f'  {"in.n = atoi(argv[1]);" if has_n else "(void)argv;"}\n  printf("%lld\\n", (long long)m_main_workspace(&in));\n  return 0;\n}}\n')
    subprocess.run(["cc", "-I", folder, path("m.c"), "-o", path("m")], check=True)
    return lambda n: int(subprocess.run([path("m"), str(n)], check=True, stdout=subprocess.PIPE, text=True).stdout)


def inside(tvms, pattern, out):
    import numpy
    lines = ["| model | n | TVM, KiB | tvms, KiB | ratio |", "| --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    programs = [(m.name, m.text(), m.weights, (0,)) for m in models.models()]
    for name, text in PROGRAMS:
        shapes = enumerate(re.findall(r"w\d+: R.Tensor\((\(.*?\))", text))
        weights = {f"w{i}": numpy.random.RandomState(i).uniform(-1, 1, eval(shape)).astype("f4") for i, shape in shapes}
        programs.append((name, text, weights, SIZES))
    with tempfile.TemporaryDirectory() as folder:
        for name, text, weights, sizes in programs:
            if not re.search(pattern, name):
                continue
            theirs, ours = planned(text), workspace(tvms, text, weights, folder)
            for n in sizes:
                a, b = theirs(n), ours(n)
                lines.append(f"| {name} | {n or ''} | {a / 1024:.1f} | {b / 1024:.1f} | {b / a if a else 1:.2f} |")
                print(lines[-1], flush=True)
    models.keep(lines, "memory", 1, out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="folder of a release build")
    parser.add_argument("--only", default="", metavar="PATTERN", help="only what has a name that it matches")
    parser.add_argument("--out", help="folder for memory.md")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        return inside(os.path.join(given.build, "tvms"), given.only, given.out)
    return subprocess.run([schedules.stock_python(), os.path.abspath(__file__), "--inside", *sys.argv[1:]]).returncode


if __name__ == "__main__":
    sys.exit(main())
