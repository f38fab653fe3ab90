#!/usr/bin/env python3
"""Whole models against stock TVM's own build: time of a run, and CPU time of `tvms build` and of `relax.build`.

    python3 bench/native/stock.py build-rel [--only PATTERN] [--out bench/native/results]

The models are those of models.py that have a bar. Stock TVM is 0.27; its target is the machine's own processor, its pipeline the default one, which schedules nothing;
its weights are bound before the clock starts. One thread, CPU time, in turns; the least of several. The results are compared.
"""
import os, re, subprocess, sys, tempfile, time

import models, schedules

# How many times as fast as stock TVM's default build, at least.
FASTER = {"MLP, batch 1": 18, "MLP, batch 128": 50, "transformer block": 120, "ResNet-18": 50, "ResNet-50": 40}
BUILDS = 2


def stock_built(model):
    """The model in stock TVM's VM, and the seconds of CPU that `relax.build` took: the least of several."""
    import tvm
    from tvm import relax
    text = model.text().split("\n", 1)[1]  # what it imports is given to the reader
    module = tvm.script.from_source(text, extra_vars={"I": tvm.script.ir, "R": tvm.script.relax})
    module = relax.transform.BindParams("main", {name: tvm.runtime.tensor(value) for name, value in model.weights.items()})(module)
    target = tvm.target.Target({"kind": "llvm", "mcpu": tvm.get_global_func("target.llvm_get_system_cpu")()})
    least = float("inf")
    for _ in range(BUILDS):
        begin = time.process_time()
        executable = relax.build(module, target=target)
        least = min(least, time.process_time() - begin)
    return relax.VirtualMachine(executable, tvm.cpu()), least


def measure(tvms, model, folder):
    import numpy, tvm, tvm_ffi
    builds = [models.built(tvms, model, folder) for _ in range(BUILDS)]
    library, (machine, relax_seconds) = tvm_ffi.load_module(builds[0][0]), stock_built(model)
    x = schedules.aligned(model.random.random(model.input, "f4") - 0.5)
    given, theirs = tvm_ffi.from_dlpack(x), tvm.runtime.tensor(x)
    ours, expected = numpy.from_dlpack(library["main"](given)), machine["main"](theirs).numpy()
    error = float(numpy.abs(ours - expected).max() / numpy.abs(expected).max())
    return schedules.least_times({"tvms": lambda: library["main"](given), "TVM": lambda: machine["main"](theirs)}), error, min(s for _, s in builds), relax_seconds


def inside(tvms, pattern, threads, out):
    lines = ["| model | tvms, ms | TVM, ms | times as fast | bar | error | `tvms build`, s | `relax.build`, s | ratio |", "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        for model in models.models():
            if model.name not in FASTER or not re.search(pattern, model.name):
                continue
            times, error, ours, theirs = measure(tvms, model, folder)
            lines.append(f"| {model.name} | {times['tvms'] * 1e3:.3f} | {times['TVM'] * 1e3:.2f} | {times['TVM'] / times['tvms']:.0f} | {FASTER[model.name]} | {error:.1e} "
                         f"| {ours:.2f} | {theirs:.2f} | {ours / theirs:.2f} |")
            print(lines[-1], flush=True)
            if error > 1e-5:
                sys.exit(f"{model.name}: wrong by {error}")
    models.keep(lines, "stock", threads, out)


if __name__ == "__main__":
    models.command(__file__, __doc__, "stock", inside, schedules.stock_python)
