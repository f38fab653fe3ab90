#!/usr/bin/env python3
"""Products of matrices from naive text, against OpenBLAS, oneDNN and libxsmm.

    python3 bench/native/products.py build-rel [--only SHAPE...] [--out bench/native/results]

The text is loops around one block, in some order, with operands as they are or transposed; `tvms build` does the rest. OpenBLAS is NumPy's, as the processor
type that serves it best here; oneDNN and libxsmm are Debian's. One thread, CPU time, the least of several turns; all are called in one process, in turns.
Results are compared with NumPy's. The peak is that of multiply-adds in registers, measured in the same run.

A shape is MxNxK, with `BATCH*` in front of it, and behind it `ta` or `tb` for a transposed operand, `c` for a constant second operand, which tvms and oneDNN
lay out beforehand (ScheduleCPU, SplitLayoutRewritePreproc), `s` for a number of rows that is not known beforehand, the order of the loops, and `apart` where loops of their own begin the sums, or `plain` for loops without a
block, in which each sum is begun, added up and done with: 512x512x512, 512x512x512tb, 8*128x128x64tb, 16x4096x4096c, 256x256x256kij, 256x256x256plain.
"""
import argparse, ctypes, math, os, re, subprocess, sys, tempfile

import peers, schedules

SHAPES = ["64x64x64", "100x100x100", "127x129x131", "128x128x128", "256x256x256", "512x512x512", "513x513x513", "777x777x777", "1000x1000x1000",
          "1024x1024x1024", "2048x2048x2048", "256x256x256jki", "256x256x256kij", "512x512x512ta", "512x512x512tb", "256x256x256s", "777x777x777s", "256x256x256apart",
          "512x512x512apart", "256x256x256plain", "512x512x512plain"]
PACKED = ["128x512x512c", "128x2048x512c", "128x512x2048c", "8*128x128x64tb", "8*128x64x128", "16*64x64x64", "16x4096x4096c", "128x4096x4096c"]
PROCESSORS = ["", "Haswell", "Zen", "SkylakeX", "Cooperlake"]
TEXT = """
from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @T.prim_func({private}s_tir=True)
    def main({head}):
        T.func_attr({{"tirx.noalias": True{free}}})
{match}{body}"""
BODIES = {
    None: """
        for {loops} in T.grid({extents}):
            with T.sblock("product"):
                {variables} = T.axis.remap("{kinds}", [{loops}])
                with T.init():
                    C[{at_c}] = T.float32(0)
                C[{at_c}] = C[{at_c}] + A[{at_a}] * B[{at_b}]
""",
    "apart": """
        for i, j in T.grid({m}, {n}):
            with T.sblock("begin"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[{at_c}] = T.float32(0)
        for {loops} in T.grid({extents}):
            with T.sblock("product"):
                {variables} = T.axis.remap("{kinds}", [{loops}])
                C[{at_c}] = C[{at_c}] + A[{at_a}] * B[{at_b}]
""",
    "plain": """
        for vi, vj in T.grid({m}, {n}):
            C[{at_c}] = T.float32(0)
            for vk in range({k}):
                C[{at_c}] = C[{at_c}] + A[{at_a}] * B[{at_b}]
""",
}
CALL = """
    @R.function
    def whole(a: R.Tensor({a}, "float32"), b: R.Tensor({b}, "float32")):
        with R.dataflow():
            c = R.call_tir(Module.main, (a, b), out_ty=R.Tensor({c}, "float32"))
            R.output(c)
        return c
"""


class Shape:
    def __init__(self, text):
        batch, sizes, turned, constant, symbolic, order, self.body = re.fullmatch(r"(?:(\d+)\*)?(\d+x\d+x\d+)(ta|tb)?(c)?(s)?([ijk]{3})?(apart|plain)?", text).groups()
        self.batch = int(batch or 1)
        self.m, self.n, self.k = map(int, sizes.split("x"))
        self.turned, self.constant, self.symbolic, self.order = turned, bool(constant), bool(symbolic), ("b" if batch else "") + (order or "ijk")

    def flops(self):
        return 2 * self.batch * self.m * self.n * self.k

    def shapes(self):
        """Of the operands as the text has them, and of the result."""
        with_batch = lambda *s: (self.batch, *s) if "b" in self.order else s
        a, b = with_batch(self.m, self.k), with_batch(self.k, self.n)
        turn = lambda s: (*s[:-2], s[-1], s[-2])
        return turn(a) if self.turned == "ta" else a, turn(b) if self.turned == "tb" else b, with_batch(self.m, self.n)

    def text(self):
        extents = {"b": self.batch, "i": "m" if self.symbolic else self.m, "j": self.n, "k": self.k}
        a, b, c = self.shapes()
        at = lambda axes, turned=False: ", ".join("v" + x for x in ("b" if "b" in self.order else "") + (axes[::-1] if turned else axes))
        head = f'A: T.Buffer({a}, "float32"), B: T.Buffer({b}, "float32"), C: T.Buffer({c}, "float32")'
        match = ""
        if self.symbolic:
            head = f'a: T.handle, B: T.Buffer({b}, "float32"), c: T.handle'
            match = f'        m = T.int32()\n        A = T.match_buffer(a, (m, {self.k}), "float32")\n        C = T.match_buffer(c, (m, {self.n}), "float32")\n'
        body = BODIES[self.body].format(loops=", ".join(self.order), extents=", ".join(str(extents[x]) for x in self.order), variables=", ".join("v" + x for x in self.order),
                                        kinds="".join("R" if x == "k" else "S" for x in self.order), at_c=at("ij"), at_a=at("ik", self.turned == "ta"),
                                        at_b=at("kj", self.turned == "tb"), m=extents["i"], n=self.n, k=self.k)
        text = TEXT.format(private="private=True, " if self.constant else "", free=', "layout_free_buffers": [1]' if self.constant else "", head=head, match=match, body=body[1:])
        return text + (CALL.format(a=a, b=b, c=c) if self.constant else "")

    def inputs(self):
        """What the text is given, and the same as NumPy multiplies it."""
        import numpy
        random = numpy.random.default_rng(self.m)
        given = [schedules.aligned(random.random(s, "f4") - 0.5) for s in self.shapes()[:2]]
        turned = [given[0].swapaxes(-1, -2) if self.turned == "ta" else given[0], given[1].swapaxes(-1, -2) if self.turned == "tb" else given[1]]
        return given, turned

    def result(self):
        import numpy
        return schedules.aligned(numpy.full(self.shapes()[2], numpy.nan, "f4"))


def built(tvms, shape, folder, name):
    """The function, what prepares its second operand (or None), and seconds of CPU."""
    import tvm_ffi
    text = shape.text()
    if not shape.constant:
        return schedules.built(tvms, text, folder, name), None
    p = subprocess.run([tvms, "opt", "--passes", "ScheduleCPU{target=host,reorder=true},SplitLayoutRewritePreproc", "-"], input=text, capture_output=True, text=True)
    if p.returncode:
        sys.exit(p.stderr)
    text = p.stdout[:p.stdout.index("    @R.function")].replace("private=True, ", "")
    function, seconds = schedules.built(tvms, text.replace("def main_prepacked(", "def main("), folder, name)
    library = tvm_ffi.load_module(os.path.join(folder, name + ".so"))
    packed, kind = re.search(r'packed: T\.Buffer\(\(([\d, ]+)\)(?:, "(\w+)")?', text).groups()
    return (function, seconds), (library["main_weight_prepack"], tuple(map(int, packed.split(","))), kind or "float32")


def peer_calls(library, shape, given, multiplied, results):
    """The peers that can do it, by name."""
    import numpy
    a, b = multiplied
    calls = {"OpenBLAS": lambda: numpy.matmul(a, b, out=results["OpenBLAS"])}
    number, y = ctypes.c_long, peers.pointer
    # oneDNN is given the operands in the order of the text.
    work = library.peer_product(*map(number, (shape.batch, shape.m, shape.n, shape.k)), int(shape.turned == "ta"), int(shape.turned == "tb"),
                                int(shape.constant), y(given[0]), y(given[1]), y(results["oneDNN"]))
    if work:
        work = ctypes.c_void_p(work)
        calls["oneDNN"] = lambda: library.peer_run(work)
    small = max(shape.m, shape.n, shape.k) <= 256 and not shape.turned and shape.batch == 1
    code = small and library.peer_generated(*map(number, (shape.m, shape.n, shape.k)))
    if code:
        arguments = (ctypes.c_void_p(code), y(given[0]), y(given[1]), y(results["libxsmm"]))
        calls["libxsmm"] = lambda: library.peer_run_generated(*arguments)
    return calls


def measure(tvms, library, name, folder):
    import numpy, tvm_ffi
    shape = Shape(name)
    (function, seconds), preparer = built(tvms, shape, folder, name.replace("*", "_"))
    given, multiplied = shape.inputs()
    results = {peer: shape.result() for peer in ("tvms", "OpenBLAS", "oneDNN", "libxsmm")}
    second = given[1]
    if preparer:
        second = schedules.aligned(numpy.zeros(*preparer[1:]))
        preparer[0](tvm_ffi.from_dlpack(given[1]), tvm_ffi.from_dlpack(second))
    tensors = [tvm_ffi.from_dlpack(x) for x in (given[0], second, results["tvms"])]
    calls = {"tvms": lambda: function(*tensors)} | peer_calls(library, shape, given, multiplied, results)
    times = schedules.least_times(calls)
    for peer in calls:
        error = float(numpy.abs(results[peer] - results["OpenBLAS"]).max() / numpy.abs(results["OpenBLAS"]).max())
        assert error < 1e-5, f"{name}: {peer} is wrong by {error}"
    return {peer: 1e-9 * shape.flops() / t for peer, t in times.items()}, seconds


def table(tvms, library, names, peak, folder, lines):
    lines += ["| shape | tvms, GFLOP/s | of the peak | OpenBLAS | oneDNN | libxsmm | of the best | build, ms of CPU |", "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines[-2:]))
    logs = []
    for name in names:
        speed, seconds = measure(tvms, library, name, folder)
        ratio = speed["tvms"] / max(v for peer, v in speed.items() if peer != "tvms")
        logs.append(math.log(ratio))
        others = " | ".join(f"{speed[p]:.0f}" if p in speed else "" for p in ("OpenBLAS", "oneDNN", "libxsmm"))
        lines.append(f"| {name} | {speed['tvms']:.0f} | {speed['tvms'] / peak:.2f} | {others} | {ratio:.2f} | {seconds * 1e3:.0f} |")
        print(lines[-1], flush=True)
    lines += [f"| geometric mean, least | | | | | | {math.exp(sum(logs) / len(logs)):.2f}, {math.exp(min(logs)):.2f} | |", ""]
    print("\n".join(lines[-2:]))


def inside(tvms, names, out):
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        library = peers.load(folder)
        peak = library.peer_peak()
        lines += [f"OpenBLAS as {os.environ.get('OPENBLAS_CORETYPE', 'it finds itself')}. Peak {peak:.0f} GFLOP/s.", ""]
        print("\n".join(lines))
        for group in ([names] if names else [SHAPES, PACKED]):
            table(tvms, library, group, peak, folder, lines)
    keep(lines, "products", out)


def keep(lines, name, out):
    """Writes tables to a file of the folder `out`, if there is one."""
    if out:
        os.makedirs(out, exist_ok=True)
        with open(os.path.join(out, name + ".md"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines).rstrip() + "\n")


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


def environment_of(python):
    """One thread, and OpenBLAS as it is fastest."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    environment |= {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TVMS_NUM_THREADS")}
    processor = best_processor(python, environment)
    if processor:
        environment["OPENBLAS_CORETYPE"] = processor
    return environment


def command(script, description, name, inside):
    """The command line of a bench of products: `inside` measures the shapes that are asked for in a Python with stock TVM."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("build", help="folder of a release build")
    parser.add_argument("--only", nargs="+", metavar="SHAPE")
    parser.add_argument("--out", help=f"folder for {name}.md")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        inside(os.path.join(given.build, "tvms"), given.only, given.out)
        return
    python = schedules.stock_python()
    sys.exit(subprocess.run([python, os.path.abspath(script), "--inside", *sys.argv[1:]], env=environment_of(python)).returncode)


if __name__ == "__main__":
    command(__file__, __doc__, "products", inside)
