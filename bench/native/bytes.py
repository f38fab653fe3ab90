#!/usr/bin/env python3
"""Products of matrices of bytes, with sums of 32 bits, from naive text, against oneDNN.

    python3 bench/native/bytes.py build-rel [--only SHAPE...] [--out bench/native/results]

The text is three loops around one block; `tvms build` does the rest. One thread, CPU time, the least of several turns; both are called in one process, in
turns. Results are compared with NumPy's, bit by bit. The peak is that of vpdpbusd in registers, measured in the same run.

A shape is MxNxK and the kinds of both operands, `u` for uint8 and `s` for int8, and behind it `tb` for a transposed second operand, `c` for a constant one, which
both lay out beforehand, and `d` for a number of rows that is not known beforehand: 512x512x512us, 256x256x256sstbc, 777x777x777uud.
"""
import ctypes, math, re, tempfile

import peers, products, schedules

SHAPES = [f"{n}x{n}x{n}{kinds}{how}" for kinds, how in (("us", "c"), ("ss", "c"), ("us", ""), ("ss", ""), ("us", "tb"), ("ss", "tb")) for n in (64, 256, 512, 1024)]
OTHERS = ["777x777x777usc", "777x777x777ssc", "777x777x777ssd", "127x129x131us", "128x768x768ssc", "128x3072x768ssc", "128x768x3072ssc", "512x512x512uuc", "1x512x512usc", "1x4096x4096ssc", "4x4096x4096usc", "512x3x512us"]
TYPES = {"u": "uint8", "s": "int8"}
TEXT = """
from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @T.prim_func({private}s_tir=True)
    def main({head}):
        T.func_attr({{"tirx.noalias": True{free}}})
{match}        for i, j, k in T.grid({m}, {n}, {k}):
            with T.sblock("product"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] = C[vi, vj] + T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[{at}])
"""
CALL = """
    @R.function
    def whole(a: R.Tensor(({m}, {k}), "{a}"), b: R.Tensor({b_shape}, "{b}")):
        with R.dataflow():
            c = R.call_tir(Module.main, (a, b), out_ty=R.Tensor(({m}, {n}), "int32"))
            R.output(c)
        return c
"""


class Shape:
    def __init__(self, text):
        self.m, self.n, self.k, kinds, turned, constant, symbolic = re.fullmatch(r"(\d+)x(\d+)x(\d+)([us]{2})(tb)?(c)?(d)?", text).groups()
        self.m, self.n, self.k = int(self.m), int(self.n), int(self.k)
        self.a, self.b = (TYPES[kind] for kind in kinds)
        self.turned, self.constant, self.symbolic = bool(turned), bool(constant), bool(symbolic)

    def text(self):
        b_shape = (self.n, self.k) if self.turned else (self.k, self.n)
        head = f'A: T.Buffer(({self.m}, {self.k}), "{self.a}"), B: T.Buffer({b_shape}, "{self.b}"), C: T.Buffer(({self.m}, {self.n}), "int32")'
        match = ""
        if self.symbolic:
            head = f'a: T.handle, B: T.Buffer({b_shape}, "{self.b}"), c: T.handle'
            match = (f'        m = T.int32()\n        A = T.match_buffer(a, (m, {self.k}), "{self.a}")\n'
                     f'        C = T.match_buffer(c, (m, {self.n}), "int32")\n')
        text = TEXT.format(private="private=True, " if self.constant else "", free=', "layout_free_buffers": [1]' if self.constant else "", head=head, match=match,
                           m="m" if self.symbolic else self.m, n=self.n, k=self.k, at="vj, vk" if self.turned else "vk, vj")
        call = CALL.format(m=self.m, n=self.n, k=self.k, a=self.a, b=self.b, b_shape=b_shape)
        return text + (call if self.constant else "")

    def inputs(self):
        import numpy
        random = numpy.random.default_rng(self.m)
        def bytes_of(kind, shape):
            low = 0 if kind == "uint8" else -128
            return schedules.aligned(random.integers(low, low + 256, shape).astype(kind))
        return bytes_of(self.a, (self.m, self.k)), bytes_of(self.b, (self.n, self.k) if self.turned else (self.k, self.n))


def measure(tvms, library, name, folder):
    import numpy, tvm_ffi
    shape = Shape(name)
    (function, seconds), preparer = products.built(tvms, shape, folder, name)
    a, b = shape.inputs()
    results = {peer: schedules.aligned(numpy.full((shape.m, shape.n), -1, "i4")) for peer in ("tvms", "oneDNN")}
    second = b
    if preparer:
        second = schedules.aligned(numpy.zeros(*preparer[1:]))
        preparer[0](tvm_ffi.from_dlpack(b), tvm_ffi.from_dlpack(second))
    tensors = [tvm_ffi.from_dlpack(x) for x in (a, second, results["tvms"])]
    calls = {"tvms": lambda: function(*tensors)}
    number = ctypes.c_long
    work = library.peer_product_of_bytes(*map(number, (shape.m, shape.n, shape.k)), int(shape.a == "int8"), int(shape.b == "int8"), int(shape.turned),
                                         int(shape.constant), peers.pointer(a), peers.pointer(b), peers.pointer(results["oneDNN"]))
    if work:
        work = ctypes.c_void_p(work)
        calls["oneDNN"] = lambda: library.peer_run(work)
    times = schedules.least_times(calls)
    right = a.astype("i4") @ (b.T if shape.turned else b).astype("i4")
    for peer in calls:
        assert (results[peer] == right).all(), f"{name}: {peer} is wrong at {(results[peer] != right).sum()} of {right.size}"
    return {peer: 2e-9 * shape.m * shape.n * shape.k / t for peer, t in times.items()}, seconds


def table(tvms, library, names, peak, folder, lines):
    lines += ["| shape | tvms, Gop/s | of the peak | oneDNN | of oneDNN | build, ms of CPU |", "| --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines[-2:]))
    logs = []
    for name in names:
        speed, seconds = measure(tvms, library, name, folder)
        ratio = speed["tvms"] / speed["oneDNN"] if "oneDNN" in speed else None
        logs += [math.log(ratio)] if ratio else []
        peer = f"{speed['oneDNN']:.0f} | {ratio:.2f}" if ratio else " | "
        lines.append(f"| {name} | {speed['tvms']:.0f} | {speed['tvms'] / peak:.2f} | {peer} | {seconds * 1e3:.0f} |")
        print(lines[-1], flush=True)
    if logs:
        lines.append(f"| geometric mean, least | | | | {math.exp(sum(logs) / len(logs)):.2f}, {math.exp(min(logs)):.2f} | |")
        print(lines[-1])
    lines.append("")


def inside(tvms, names, out):
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        library = peers.load(folder)
        peak = library.peer_peak_of_bytes()
        lines += [f"Peak {peak:.0f} Gop/s.", ""]
        print("\n".join(lines))
        for group in ([names] if names else [SHAPES, OTHERS]):
            table(tvms, library, group, peak, folder, lines)
    products.keep(lines, "bytes", out)


if __name__ == "__main__":
    products.command(__file__, __doc__, "bytes", inside)
