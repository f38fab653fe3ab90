#!/usr/bin/env python3
"""Products of matrices from naive text, against the OpenBLAS that NumPy brings, with the processor type that serves it best.

    python3 bench/native/products.py build-rel [--only SHAPE...] [--out bench/native/results]

The text is three loops around one block, in some order, with operands as they are or transposed; `tvms build` does the rest. One thread, CPU time, the
least of several turns; both are called in one process, in turns. Results are compared with NumPy's.

A shape is MxNxK, with `ta` or `tb` behind it for a transposed operand and the order of the loops: 512x512x512, 512x512x512tb, 256x256x256kij.
"""
import argparse, math, os, re, subprocess, sys, tempfile

import schedules

SHAPES = ["64x64x64", "100x100x100", "127x129x131", "128x128x128", "256x256x256", "512x512x512", "513x513x513", "777x777x777", "1000x1000x1000",
          "1024x1024x1024", "2048x2048x2048", "256x256x256jki", "256x256x256kij", "512x512x512ta", "512x512x512tb", "128x512x512", "128x2048x512",
          "128x512x2048", "16x4096x4096", "1x4096x4096"]
PROCESSORS = ["", "Haswell", "Zen", "SkylakeX", "Cooperlake"]
TEXT = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer({a}, "float32"), B: T.Buffer({b}, "float32"), C: T.Buffer(({m}, {n}), "float32")):
        T.func_attr({{"tirx.noalias": True}})
        for {loops} in T.grid({extents}):
            with T.sblock("product"):
                {variables} = T.axis.remap("{kinds}", [{loops}])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[{at_a}] * B[{at_b}]
"""


class Shape:
    def __init__(self, text):
        sizes, turned, order = re.fullmatch(r"(\d+x\d+x\d+)(ta|tb)?([ijk]{3})?", text).groups()
        self.m, self.n, self.k = map(int, sizes.split("x"))
        self.turned, self.order = turned, order or "ijk"

    def text(self):
        extents = {"i": self.m, "j": self.n, "k": self.k}
        a, b = ((self.m, self.k), "vi, vk"), ((self.k, self.n), "vk, vj")
        if self.turned == "ta":
            a = (self.k, self.m), "vk, vi"
        if self.turned == "tb":
            b = (self.n, self.k), "vj, vk"
        return TEXT.format(a=a[0], b=b[0], m=self.m, n=self.n, at_a=a[1], at_b=b[1], loops=", ".join(self.order),
                           extents=", ".join(str(extents[x]) for x in self.order), variables=", ".join("v" + x for x in self.order),
                           kinds="".join("R" if x == "k" else "S" for x in self.order))

    def inputs(self):
        """What the text is given, and the same as NumPy multiplies it."""
        import numpy
        random = numpy.random.default_rng(self.m)
        a, b = (schedules.aligned(random.random(s, "f4") - 0.5) for s in ((self.m, self.k), (self.k, self.n)))
        given = [schedules.aligned(a.T) if self.turned == "ta" else a, schedules.aligned(b.T) if self.turned == "tb" else b]
        return given, [given[0].T if self.turned == "ta" else a, given[1].T if self.turned == "tb" else b]


def measure(tvms, name, folder):
    import numpy, tvm_ffi
    shape = Shape(name)
    function, seconds = schedules.built(tvms, shape.text(), folder, name)
    given, multiplied = shape.inputs()
    ours, theirs = (schedules.aligned(numpy.full((shape.m, shape.n), numpy.nan, "f4")) for _ in range(2))
    tensors = [tvm_ffi.from_dlpack(x) for x in (*given, ours)]
    times = schedules.least_times({"tvms": lambda: function(*tensors), "OpenBLAS": lambda: numpy.dot(*multiplied, out=theirs)})
    error = float(numpy.abs(ours - theirs).max() / numpy.abs(theirs).max())
    assert error < 1e-5, f"{name}: wrong by {error}"
    return {peer: 2e-9 * shape.m * shape.n * shape.k / t for peer, t in times.items()}, seconds


def inside(tvms, names, out):
    lines = [f"OpenBLAS as {os.environ.get('OPENBLAS_CORETYPE', 'it finds itself')}.", "",
             "| shape | tvms, GFLOP/s | OpenBLAS | ratio | build, ms of CPU |", "| --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    logs = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            speed, seconds = measure(tvms, name, folder)
            ratio = speed["tvms"] / speed["OpenBLAS"]
            logs.append(math.log(ratio))
            lines.append(f"| {name} | {speed['tvms']:.0f} | {speed['OpenBLAS']:.0f} | {ratio:.2f} | {seconds * 1e3:.0f} |")
            print(lines[-1], flush=True)
    lines.append(f"| geometric mean | | | {math.exp(sum(logs) / len(logs)):.2f} | |")
    print(lines[-1])
    if out:
        os.makedirs(out, exist_ok=True)
        with open(os.path.join(out, "products.md"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")


def best_processor(python, environment):
    """The processor type as which OpenBLAS is fastest here; it takes some for others that it does not know."""
    code = ("import numpy, time; a = numpy.ones((512, 512), 'f4'); t = []\n"
            "for _ in range(30): b = time.process_time(); a @ a; t.append(time.process_time() - b)\nprint(min(t))")
    speeds = {}
    for name in PROCESSORS:
        p = subprocess.run([python, "-c", code], env=environment | ({"OPENBLAS_CORETYPE": name} if name else {}), capture_output=True, text=True)
        if p.returncode == 0:
            speeds[name] = float(p.stdout)
    return min(speeds, key=speeds.get)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="folder of a release build")
    parser.add_argument("--only", nargs="+", default=SHAPES, metavar="SHAPE")
    parser.add_argument("--out", help="folder for products.md")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        inside(os.path.join(given.build, "tvms"), given.only, given.out)
        return
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    environment |= {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TVMS_NUM_THREADS")}
    python = schedules.stock_python()
    processor = best_processor(python, environment)
    if processor:
        environment["OPENBLAS_CORETYPE"] = processor
    sys.exit(subprocess.run([python, os.path.abspath(__file__), "--inside", *sys.argv[1:]], env=environment).returncode)


if __name__ == "__main__":
    main()
