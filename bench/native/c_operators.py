#!/usr/bin/env python3
"""C text against the library on the operators of operators.py: the same functions by `tvms build -o x.c` and `cc -O2 -march=native`, and by `tvms build -o x.so`.

    python3 bench/native/c_operators.py build-rel [--only PATTERN] [--out bench/native/results]

Both are called in one process, in turns; one thread, CPU time, the least of several. Rows whose results have other bits are marked; a contracted sum may have.
"""
import os, re, subprocess, tempfile

import models, operators, schedules


def in_c(tvms, text, folder, name):
    """The function by way of C text."""
    import tvm_ffi
    source, library = os.path.join(folder, name + ".c"), os.path.join(folder, name + "_c.so")
    subprocess.run([tvms, "build", "-", "-o", source], input=text, text=True, check=True)
    subprocess.run(["cc", "-O2", "-march=native", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
    return tvm_ffi.load_module(library)["main"]


def measure(tvms, operator, folder, name):
    """Seconds of both, and the share of the bytes of their results that differ."""
    import numpy
    function = {"library": schedules.built(tvms, operator.whole(), folder, name)[0], "C": in_c(tvms, operator.whole(), folder, name)}
    given, _ = operators.arguments(operator)
    results = {way: numpy.concatenate([numpy.atleast_1d(r).view("u1").ravel() for r in operators.results(operator, f(*given))]) for way, f in function.items()}
    times = schedules.least_times({way: lambda f=f: f(*given) for way, f in function.items()})
    return times, float((results["library"] != results["C"]).mean())


def inside(tvms, pattern, threads, out):
    lines = ["| operator | library, us | C, us | C / library | bytes that differ |", "| --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    schedules.BUDGET = 0.2
    with tempfile.TemporaryDirectory() as folder:
        for number, operator in enumerate(operators.operators()):
            if not re.search(pattern, operator.name):
                continue
            try:
                times, other = measure(tvms, operator, folder, f"operator{number}")
            except Exception as e:
                print(f"| {operator.name} | {str(e)[:200]!r} |", flush=True)
                continue
            lines.append(f"| {operator.name} | {times['library'] * 1e6:.1f} | {times['C'] * 1e6:.1f} | {times['C'] / times['library']:.2f} | {f'{other:.1e}' if other else ''} |")
            print(lines[-1], flush=True)
    models.keep(lines, "c_operators", threads, out)


if __name__ == "__main__":
    models.command(__file__, __doc__, "c_operators", inside)
