#!/usr/bin/env python3
"""C text against the library: the same plain text by `tvms build -o x.c` and `cc -O2 -march=native`, and by `tvms build -o x.so`.

    python3 bench/native/c_text.py build-rel [--only PATTERN] [--out bench/native/results]

The products of products.py that need nothing prepared, and the kernels of rows.py. Both are called in one process, in turns; one thread, CPU time, the least of several.
Their results have the same bits, or the kernel is marked: a contracted sum may be another where LLVM uses masks and C text does not.
"""
import os, re, subprocess, tempfile

import models, products, rows, schedules


def lowered(tvms, kernel):
    """The PrimFunc that a kernel of rows.py is, as `main`."""
    p = subprocess.run([tvms, "opt", "--passes", rows.PIPELINE, "-"], input=kernel.text(), capture_output=True, text=True, check=True)
    text = p.stdout[:p.stdout.index("    @R.function")].replace("private=True, ", "")
    return re.sub(r"def \w+\(", "def main(", text, count=1)


def cases(tvms):
    """Name, text, shapes of the tensors; the last one is written."""
    import numpy
    for name in products.SHAPES:
        if "s" not in name:
            shape = products.Shape(name)
            yield name, shape.text(), list(shape.shapes())
    for kernel in rows.kernels():
        values = [numpy.ones(shape, "f4") for shape in kernel.shapes.values()]
        yield kernel.name, lowered(tvms, kernel), [*kernel.shapes.values(), numpy.asarray(kernel.numpy(*values)).shape]


def measure(tvms, text, shapes, folder, name):
    """CPU seconds of both, whether their results have the same bits, and seconds of the C compiler."""
    import numpy, resource, tvm_ffi
    functions = {"library": schedules.built(tvms, text, folder, name)[0]}
    source, library = os.path.join(folder, name + ".c"), os.path.join(folder, name + "_c.so")
    subprocess.run([tvms, "build", "-", "-o", source], input=text, text=True, check=True)
    used = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    begin = used()
    subprocess.run(["cc", "-O2", "-march=native", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
    seconds = used() - begin
    functions["C"] = tvm_ffi.load_module(library)["main"]
    random = numpy.random.default_rng(0)
    given = [tvm_ffi.from_dlpack(schedules.aligned(random.random(s, "f4") - 0.5)) for s in shapes[:-1]]
    results = {way: schedules.aligned(numpy.full(shapes[-1], numpy.nan, "f4")) for way in functions}
    written = {way: tvm_ffi.from_dlpack(value) for way, value in results.items()}
    times = schedules.least_times({way: lambda f=f, y=written[way]: f(*given, y) for way, f in functions.items()})
    error = float(numpy.abs(results["C"] - results["library"]).max() / numpy.abs(results["library"]).max())
    assert error < 1e-5, f"{name}: they differ by {error}"
    return times, numpy.array_equal(*results.values()), seconds


def inside(tvms, pattern, threads, out):
    lines = ["| kernel | library, us | C, us | C / library | same bits | C compiler, s of CPU |", "| --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, text, shapes) in enumerate(cases(tvms)):
            if not re.search(pattern, name):
                continue
            times, same, seconds = measure(tvms, text, shapes, folder, f"k{number}")
            lines.append(f"| {name} | {times['library'] * 1e6:.1f} | {times['C'] * 1e6:.1f} | {times['C'] / times['library']:.2f} | {'yes' if same else 'no'} | {seconds:.1f} |")
            print(lines[-1], flush=True)
    models.keep(lines, "c_text", threads, out)


if __name__ == "__main__":
    models.command(__file__, __doc__, "c_text", inside)
