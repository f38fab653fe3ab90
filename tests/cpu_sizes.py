#!/usr/bin/env python3
"""Generated products whose sizes are not known when they are compiled: what `build` makes of them computes the right numbers.

    cpu_sizes.py [--count N] [--seed N]

Rows, columns and the sum are numbers or symbols; columns are one axis or the lines of an image; operands lie along or across, in batches or not, and a stage may follow. Each library, for this machine or any of its kind, is called with
several sizes. Elements repeat along each axis, so that what a sum must be is counted by residues, without the product.
"""
import array, ctypes, itertools, os, platform, sys

from generated import judge_many, run
from library_calls import KINDS, call

SIZES = {"b": (1, 2, 3), "m": (1, 2, 3, 5, 7, 8, 9, 13, 17, 31, 64), "n": (1, 3, 4, 7, 8, 15, 17, 33, 64, 70, 100, 129),
         "k": (1, 3, 16, 31, 100, 300, 520, 600, 800, 1037, 1500, 2048), "h": (0, 1, 2, 3, 7, 9), "w": (0, 1, 2, 3, 5, 8, 9, 14, 16, 30)}
KNOWN = {"b": 0.4, "m": 0.5, "n": 0.3, "k": 0.5, "h": 0.3, "w": 0.3}  # how often
CALLS = 6
CODES = {"float32": "f", "float64": "d", "int32": "i"}


def a_value(b, i, x):
    return (i + 2 * x + b) % 5 - 2


def b_value(b, x, j):
    return (x + j + b) % 3 + j % 7 - 3


class Product:
    def __init__(self, r):
        self.columns = "hw" if r.random() < 0.35 else "n"
        self.axes = ("b" if r.random() < 0.3 else "") + "m" + self.columns + "k"
        self.known = {a: r.choice(SIZES[a]) for a in self.axes if r.random() < KNOWN[a]}
        self.a = "".join(r.sample("mk", 2)) if r.random() < 0.3 else "mk"
        self.b = r.choice(["kn", "kn", "nk"]).replace("n", self.columns)
        self.c = "m" + self.columns
        self.dtype = r.choice(["float32", "float32", "float32", "float64", "int32"])
        self.stage = r.choice(["", "", "sum - three", "T.max(sum, three)", "sum * sum"] + ["sum + column"] * (self.columns == "hw"))
        self.batch = "b" if "b" in self.axes else ""

    def extent(self, axis):
        return str(self.known.get(axis, axis))

    def text(self):
        shape = lambda axes: "(" + "".join(self.extent(a) + ", " for a in self.batch + axes) + ")"
        place = lambda name, axes: f"{name}[{', '.join('v' + a for a in self.batch + axes)}]"
        lines = ["from tvm.script import ir as I, tirx as T", "", "@I.ir_module", "class Module:", "    @T.prim_func(s_tir=True)", "    def f(a: T.handle, b_: T.handle, c: T.handle):",
                 '        T.func_attr({"tirx.noalias": True})', *(f"        {a} = T.int32()" for a in self.axes if a not in self.known)]
        lines += [f'        {name} = T.match_buffer({handle}, {shape(axes)}, "{self.dtype}")' for name, handle, axes in (("A", "a", self.a), ("B", "b_", self.b), ("C", "c", self.c))]
        result = "S" if self.stage else "C"
        if self.stage:
            lines.append(f'        S = T.sblock_alloc_buffer({shape(self.c)}, "{self.dtype}")')
        spatial = self.batch + self.c
        loops = lambda axes: f"        for {', '.join(a + '0' for a in axes)} in T.grid({', '.join(map(self.extent, axes))}):"
        remap = lambda axes, kinds: f"                {', '.join('v' + a for a in axes)} = T.axis.remap(\"{kinds}\", [{', '.join(a + '0' for a in axes)}])"
        sums = place(result, self.c)
        lines += [loops(spatial + "k"), '            with T.sblock("product"):', remap(spatial + "k", "S" * len(spatial) + "R"), "                with T.init():",
                  f"                    {sums} = T.{self.dtype}(0)", f"                {sums} = {sums} + {place('A', self.a)} * {place('B', self.b)}"]
        if self.stage:
            value = self.stage.replace("three", f"T.{self.dtype}(3)").replace("column", f'T.Cast("{self.dtype}", vw)').replace("sum", sums)
            lines += [loops(spatial), '            with T.sblock("stage"):', remap(spatial, "S" * len(spatial)), f"                {place('C', self.c)} = {value}"]
        return "\n".join(lines) + "\n"

    def after(self, value):
        return {"sum - three": value - 3, "T.max(sum, three)": max(value, 3), "sum * sum": value * value}.get(self.stage, value)

    # The number of a column.
    def column(self, at, size):
        return at["n"] if self.columns == "n" else at["h"] * size["w"] + at["w"]

    # What a call with these sizes should give, and its tensors; the last one is the result.
    def tensors(self, size):
        code = CODES[self.dtype]

        def filled(axes, value):
            axes = self.batch + axes
            items = [value(dict(zip(axes, at))) for at in itertools.product(*(range(size[a]) for a in axes))]
            return KINDS[self.dtype], tuple(size[a] for a in axes), bytearray(array.array(code, items).tobytes())

        turns = 15  # of the sum's elements
        counts = [len(range(x, size["k"], turns)) for x in range(turns)]
        cells = {(b, i, j): self.after(sum(count * a_value(b, i, x) * b_value(b, x, j) for x, count in enumerate(counts))) for b in range(15) for i in range(5) for j in range(21)}
        a = filled(self.a, lambda at: a_value(at.get("b", 0), at["m"], at["k"]))
        b = filled(self.b, lambda at: b_value(at.get("b", 0), at["k"], self.column(at, size)))
        more = lambda at: at["w"] if self.stage == "sum + column" else 0
        kind, shape, expected = filled(self.c, lambda at: cells[at.get("b", 0) % 15, at["m"] % 5, self.column(at, size) % 21] + more(at))
        return [a, b, (kind, shape, bytearray(b"\x55" * len(expected)))], expected


number = itertools.count()


def judge(r, folder):
    made = Product(r)
    text, target = made.text(), r.choice(["host", platform.machine() + "-linux-gnu"])
    path = os.path.join(folder, f"{next(number)}.tvms")
    with open(path, "w") as f:
        f.write(text)
    p = run("build", path, "-o", path + ".so", "--target", target)
    if p.returncode:
        return text, target, p.stderr.strip(), False
    library = ctypes.CDLL(path + ".so")
    for _ in range(CALLS):
        size = {a: made.known.get(a, r.choice(SIZES[a])) for a in made.axes}
        tensors, expected = made.tensors(size)
        if call(library, tensors) or tensors[-1][2] != expected:
            return text, target, f"wrong for {size}", True
    return text, target, "", True


if __name__ == "__main__":
    sys.exit(judge_many(__doc__, 80, judge))
