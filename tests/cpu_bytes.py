#!/usr/bin/env python3
"""Generated contractions of bytes: what ScheduleCPU makes of them for processors with VNNI, and libraries, have the bits of the text.

    cpu_bytes.py [--count N] [--seed N]

Products of matrices, batched ones, with operands turned, with a number of rows that is not known, and convolutions with channels first or last; operands of int8 and uint8,
with and without a zero that is taken away, sums that four does not divide, constants laid out beforehand, stages behind. Bytes of all values. The interpreter runs the text and what the
pass makes of it, and a library of the text is called.
"""
import ctypes, os, sys

import npy
from generated import judge_many, run, schedule
from library_calls import CODES, KINDS, call

HEAD = "from tvm.script import ir as I, tirx as T\n\n@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    def main("
TARGETS = ["x86_64-linux-gnu,znver4", "x86_64-linux-gnu,alderlake"]
SIZES = [1, 3, 4, 5, 7, 8, 13, 16, 17, 24, 33, 64, 70]


class Program:
    """The text, and the tensors that it is given: name, dtype, shape."""

    def __init__(self, r):
        self.a, self.b = (r.choice(["int8", "uint8"]) for _ in range(2))
        self.zeros = [r.choice(["", "", " - 128", " - 3", " - (-7)"]) for _ in range(2)]
        self.free = r.random() < 0.4
        self.symbolic = False
        r.choice([self.product, self.product, self.convolution])(r)

    def factor(self, which, load):
        dtype, zero = (self.a, self.b)[which], self.zeros[which].replace("(-7)", "T.int32(-7)")
        cast = f'T.Cast("int32", {load})'
        return f"({cast}{zero})" if zero else cast

    def write(self, r, sizes, order, result, out, a, b, rest=""):
        """Loops over `order` around the sum; `sizes` has their extents, and those of the tensors."""
        shapes = {"A": self.shape_a, "B": self.shape_b, "C": out}
        kinds = "".join("S" if v in result else "R" for v in order)
        dtypes = {"A": self.a, "B": self.b, "C": "int32"}
        more = r.choice(["", "", "float", "bytes"])
        last, to = ("D", "C") if more else ("C", "C")
        dtypes["C"] = {"": "int32", "float": "float32", "bytes": "int8"}[more]
        at = ", ".join("v" + v for v in result)
        free = ', "layout_free_buffers": [1]' if self.free and not self.symbolic else ""
        lines = []
        if self.symbolic:
            head = f'a: T.handle, B: T.Buffer({shapes["B"]}, "{self.b}"), c: T.handle):'
            matches = [f'        m = T.{self.symbolic}()'] + [f'        {n} = T.match_buffer({n.lower()}, ({", ".join("m" if s is None else str(s) for s in shapes[n])},), "{dtypes[n]}")' for n in "AC"]
        else:
            head, matches = ", ".join(f'{n}: T.Buffer({shapes[n]}, "{dtypes[n]}")' for n in "ABC") + "):", []
        lines = [HEAD + head, f'        T.func_attr({{"tirx.noalias": True{free}}})', *matches]
        text = lambda shape: "(" + ", ".join("m" if s is None else str(s) for s in shape) + ",)"
        if more:
            lines.append(f'        D = T.sblock_alloc_buffer({text(out)}, "int32")')
        lines += [line for line in [rest] if line]
        product = f"{self.factor(0, a)} * {self.factor(1, b)}" if r.random() < 0.5 else f"{self.factor(1, b)} * {self.factor(0, a)}"
        extents = ", ".join("m" if sizes[v] is None else str(sizes[v]) for v in order)
        lines += [f"        for {', '.join(order)} in T.grid({extents}):", '            with T.sblock("sum"):',
                  f'                {", ".join("v" + v for v in order)} = T.axis.remap("{kinds}", [{", ".join(order)}])',
                  "                with T.init():", f"                    {last}[{at}] = 0", f"                {last}[{at}] = {last}[{at}] + {product}"]
        if more:
            spatial = [v for v in order if v in result]
            value = {"float": f'T.Cast("float32", D[{at}]) * T.float32(0.25)', "bytes": f'T.Cast("int8", T.max(T.min(T.shift_right(D[{at}], 7), 127), -128))'}[more]
            lines += [f"        for {', '.join(spatial)} in T.grid({', '.join('m' if sizes[v] is None else str(sizes[v]) for v in spatial)}):", '            with T.sblock("end"):',
                      f'                {", ".join("v" + v for v in spatial)} = T.axis.remap("{"S" * len(spatial)}", [{", ".join(spatial)}])', f"                C[{at}] = {value}"]
        self.text = "\n".join(lines) + "\n"
        known = lambda shape: tuple(self.rows if s is None else s for s in shape)
        self.tensors = [(n, dtypes[n], known(shapes[n])) for n in "ABC"]

    def product(self, r):
        m, n, k = r.choice(SIZES), r.choice(SIZES[3:] + [96, 130]), r.choice(SIZES)
        batch, self.rows = r.choice([0, 0, 0, 2, 3]), m
        self.symbolic = r.choice(["", "", "", "int32", "int64"]) if not batch else ""
        sizes = {"b": batch, "i": None if self.symbolic else m, "j": n, "k": k}
        turn_a, turn_b = r.random() < 0.2, r.random() < 0.4
        first = "b" if batch else ""
        axes_a, axes_b = first + ("ki" if turn_a else "ik"), r.choice([first, first, ""]) + ("jk" if turn_b else "kj")
        shape = lambda axes: tuple(sizes[v] for v in axes)
        self.shape_a, self.shape_b = shape(axes_a), shape(axes_b)
        order = list(first + "ijk")
        if r.random() < 0.4:
            r.shuffle(order)
        at = lambda axes: ", ".join("v" + v for v in axes)
        self.write(r, sizes, order, first + "ij", shape(first + "ij"), f"A[{at(axes_a)}]", f"B[{at(axes_b)}]")

    def convolution(self, r):
        c, f, h, w, window, stride = r.choice([3, 4, 6, 8, 16]), r.choice([1, 5, 8, 16, 20]), r.choice([5, 8, 9]), r.choice([6, 9, 18]), r.choice([1, 3]), r.choice([1, 1, 2])
        out_h, out_w = (h - window) // stride + 1, (w - window) // stride + 1
        sizes = {"f": f, "y": out_h, "x": out_w, "c": c, "p": window, "q": window}
        times = "" if stride == 1 else f" * {stride}"
        y, x = f"vy{times} + vp", f"vx{times} + vq"
        if r.random() < 0.5:
            self.shape_a, self.shape_b, result = (c, h, w), (f, c, window, window), "fyx"
            a, b, order = f"A[vc, {y}, {x}]", "B[vf, vc, vp, vq]", "fyxcpq"
        else:
            self.shape_a, self.shape_b, result = (h, w, c), (window, window, c, f), "yxf"
            a, b, order = f"A[{y}, {x}, vc]", "B[vp, vq, vc, vf]", "yxfpqc"
        self.write(r, sizes, list(order), result, tuple(sizes[v] for v in result), a, b)


def count_of(shape):
    n = 1
    for size in shape:
        n *= size
    return n


def raw(path, kind, shape):
    with open(path, "rb") as f:
        return f.read()[-count_of(shape) * CODES[kind][1] // 8:]


def judge(r, folder):
    program, target, reorder = Program(r), r.choice(TARGETS), r.random() < 0.5
    how = f"{target}, {reorder=}"
    wrong, before, after, statistics = schedule(folder, program.text, target, reorder)
    did = "sums of bytes" in statistics
    if wrong:
        return program.text, how, wrong, did
    given, data = [], []
    for name, dtype, shape in program.tensors[:2]:
        path, low = os.path.join(folder, name + ".npy"), -128 if dtype == "int8" else 0
        npy.write(path, KINDS[dtype], shape, [r.choice([low, low + 255, 0, r.randint(low, low + 255)]) for _ in range(count_of(shape))])
        given += ["--in", f"{name}={path}"]
        data.append((KINDS[dtype], shape, bytearray(raw(path, KINDS[dtype], shape))))
    name, dtype, shape = program.tensors[2]
    results = []
    for text in (before, after):
        p = run("run", text, "--out", folder, *given)
        if p.returncode:
            return program.text, how, p.stderr, did
        results.append(raw(os.path.join(folder, "result.npy"), KINDS[dtype], shape))
    if results[0] != results[1]:
        return program.text, how, "the pass changes the result", did
    library = os.path.join(folder, f"l{abs(hash(program.text))}.so")
    p = run("build", before, "-o", library)
    if p.returncode:
        return program.text, how, p.stderr, did
    data.append((KINDS[dtype], shape, bytearray(len(results[0]))))
    failed = call(ctypes.CDLL(library), data, "main")
    os.remove(library)
    return program.text, how, "the library gives another result" if failed or bytes(data[2][2]) != results[0] else "", did


if __name__ == "__main__":
    sys.exit(judge_many(__doc__, 120, judge, "taken four steps at a time", 0.5))
