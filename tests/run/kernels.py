#!/usr/bin/env python3
"""Generated kernels with marked loops, built as libraries with `--fp strict`: the bits are the interpreter's.

    kernels.py [SEED [COUNT]]

A kernel has up to three stages over tensors of 12 x 24: expressions of elements, also of those at places that are loaded, sums along rows or columns, products of matrices, in blocks, which ScheduleCPU takes
up, or in loops that are split and marked parallel, vectorized or unrolled. Functions of C are left out: the interpreter computes those of float32 in double precision.
"""
import ctypes, os, random, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import npy
from cases import main, tvms
from library_calls import CODES, KINDS, call

ROWS, COLUMNS, PER_MODULE = 12, 24, 25
DTYPES = ("float32", "float32", "float32", "float64", "float16", "int32", "int8", "uint8", "int64")
HEAD = "from tvm.script import ir as I, tirx as T\n\n@I.ir_module\nclass Module:\n"


class Kernel:
    def __init__(self, name, random):
        self.random, self.name = random, name
        self.dtype = random.choice(DTYPES)
        self.real = self.dtype.startswith("float")
        self.blocks = random.random() < 0.5
        self.lines = []
        self.written = ["A", "B"]

    def constant(self):
        return f"T.{self.dtype}({self.random.choice([1, 2, 3] if not self.real else [0.5, 1.25, 3])})"

    def element(self, depth, i, j):
        """An expression of elements at (i, j)."""
        if depth == 0 or self.random.random() < 0.15:
            if self.random.random() < 0.2:
                return self.constant()
            return f"{self.random.choice(self.written)}[{i}, {j}]"
        if self.random.random() < 0.12:
            return self.sample(depth, i, j)
        x, y = (self.element(depth - 1, i, j) for _ in range(2))
        kind = self.random.randrange(8 if self.real else 7)
        return [f"({x} + {y})", f"({x} - {y})", f"({x} * {y})", f"({x} * {y} + {self.element(depth - 1, i, j)})", f"T.max({x}, {y})", f"T.min({x}, {y})",
                f"T.Select({x} < {y}, {y}, {self.constant()})", f"({x} / ({y} * {y} + {self.constant()}))"][kind]

    def sample(self, depth, i, j):
        """An element from a place that is loaded, of each row or the same for all, and may be outside."""
        source, place = (self.random.choice(self.written) for _ in range(2))
        place = f'T.Cast("int32", {place}[{self.random.choice([i, 0])}, {j}] * {self.constant()} + {self.constant()})'
        value = f"{source}[{i}, {place}]"
        if self.random.random() < 0.5:
            value += f" * {self.random.choice(self.written)}[{i}, {j}]"
        return f"T.if_then_else(0 <= {place} and {place} < {COLUMNS}, {value}, {self.element(depth - 1, i, j)})"

    def loops(self, extents):
        """Heads of loops over (i, j): some split, some marked. Gives what stands for i and j."""
        self.indent, index = 2, []
        marks = ["range", "range", "T.parallel", "T.vectorized"]
        for at, extent in enumerate(extents):
            var = "ij"[at]
            parts = self.random.choice([(extent,), *((extent // n, n) for n in (4, 8) if extent % n == 0)])
            names = [f"{var}{n}" if len(parts) > 1 else var for n in range(len(parts))]
            for n, part in zip(names, parts):
                last = at == len(extents) - 1 and n == names[-1]
                mark = self.random.choice((marks if last else marks[:3]) + ["T.unroll"] * (part <= 8))
                self.add(f"for {n} in {mark}({part}):")
                self.indent += 1
            index.append(names[0] if len(parts) == 1 else f"{names[0]} * {parts[1]} + {names[1]}")
        return index

    def add(self, line):
        self.lines.append("    " * self.indent + line)

    def block(self, kinds, extents):
        self.indent = 2
        names = "ijk"[:len(extents)]
        self.add(f"for {', '.join(names)} in T.grid({', '.join(map(str, extents))}):")
        self.indent += 1
        self.add(f'with T.sblock("b{len(self.lines)}"):')
        self.indent += 1
        self.add(f'{", ".join("v" + n for n in names)} = T.axis.remap("{kinds}", [{", ".join(names)}])')

    def stage(self, out):
        kind = self.random.choice(["elements", "elements", "sum", "product"])
        if kind == "elements":
            if self.blocks:
                self.block("SS", (ROWS, COLUMNS))
                i, j = "vi", "vj"
            else:
                i, j = self.loops((ROWS, COLUMNS))
            self.add(f"{out}[{i}, {j}] = {self.element(2, i, j)}")
            return
        zero, source, other = f"T.{self.dtype}(0)", *self.random.sample(self.written * 2, 2)
        added = f"{source}[vi, vk]" if kind == "sum" else f"{source}[vi, vk] * {other}[vk % {ROWS}, vj]"
        if self.blocks:
            self.block("SSR", (ROWS, COLUMNS, COLUMNS))
            self.add("with T.init():")
            self.add(f"    {out}[vi, vj] = {zero}")
            self.add(f"{out}[vi, vj] = {out}[vi, vj] + {added}")
            return
        order = self.loops((ROWS, COLUMNS))
        self.add(f"{out}[{order[0]}, {order[1]}] = {zero}")
        i, j = self.loops((ROWS, COLUMNS))
        self.add(f"for k in range({COLUMNS}):")
        at = added.replace("vi", i).replace("vj", j).replace("vk", "k")
        self.add(f"    {out}[{i}, {j}] = {out}[{i}, {j}] + {at}")

    def text(self):
        stages = self.random.randint(1, 3)
        for n in range(stages):
            out = "C" if n == stages - 1 else f"Y{n}"
            self.stage(out)
            self.written.append(out)
        params = ", ".join(f'{x}: T.Buffer(({ROWS}, {COLUMNS}), "{self.dtype}")' for x in "ABC")
        between = [f'        Y{n} = T.alloc_buffer(({ROWS}, {COLUMNS}), "{self.dtype}")' for n in range(stages - 1)]
        apart = ['        T.func_attr({"tirx.noalias": True})'] * self.random.randint(0, 1)
        return "\n".join([f"    @T.prim_func({'s_tir=True' if self.blocks else ''})", f"    def {self.name}({params}):", *apart, *between, *self.lines]) + "\n"


class Kernels(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        stream = random.Random(7)
        self.bytes = {}
        for kind in set(KINDS[d] for d in DTYPES):
            for name in "AB":
                count, path = ROWS * COLUMNS, self.file(f"{name}{kind[1:]}.npy")
                real = CODES[kind][0] == 2
                npy.write(path, kind, (ROWS, COLUMNS), [stream.uniform(-2, 2) if real else stream.randint(0, 9) for _ in range(count)])
                with open(path, "rb") as f:
                    self.bytes[kind, name] = f.read()[-count * CODES[kind][1] // 8:]

    def file(self, name):
        return os.path.join(self.place.name, name)

    def compare(self, path, library, kernel):
        kind = KINDS[kernel.dtype]
        given = [x for name in "AB" for x in ("--in", f"{name}={self.file(name + kind[1:])}.npy")]
        p = tvms("run", path, "--entry", kernel.name, "--out", self.place.name, *given)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        tensors = [(kind, (ROWS, COLUMNS), bytearray(self.bytes[kind, name])) for name in "AB"]
        tensors.append((kind, (ROWS, COLUMNS), bytearray(len(self.bytes[kind, "A"]))))
        with open(self.file("result.npy"), "rb") as f:
            wanted = f.read()[-len(tensors[2][2]):]
        self.assertEqual(call(library, tensors, kernel.name), 0)
        self.assertEqual(bytes(tensors[2][2]), wanted)

    def test_kernels(self):
        seed, count = (int(x) for x in (ARGUMENTS + ["1", "1000"][len(ARGUMENTS):])[:2])
        stream = random.Random(seed)
        for begin in range(0, count, PER_MODULE):
            kernels = [Kernel(f"f{begin + n}", stream) for n in range(min(PER_MODULE, count - begin))]
            texts = [kernel.text() for kernel in kernels]
            path, library = self.file(f"m{begin}.tvms"), self.file(f"m{begin}.so")
            with open(path, "w", encoding="utf-8") as f:
                f.write(HEAD + "\n".join(texts))
            p = tvms("build", path, "-o", library, "--fp", "strict", timeout=600)
            self.assertEqual(p.returncode, 0, p.stderr.decode())
            library = ctypes.CDLL(library)
            for kernel, text in zip(kernels, texts):
                with self.subTest(seed=seed, kernel=kernel.name, text=text):
                    self.compare(path, library, kernel)


if __name__ == "__main__":
    ARGUMENTS = sys.argv[1:]
    del sys.argv[1:]
    main()
