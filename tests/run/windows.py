#!/usr/bin/env python3
"""Generated windows as native code: they give what a plain computation gives, and touch no memory outside of their tensors.

    windows.py [COUNT [FIRST]]      COUNT programs, from the number FIRST on

Depthwise convolutions and pools of images of small and odd sizes, with padding, strides and dilations, and something added behind them. All numbers
are small integers, so that sums are exact in any order. Tensors end where a page ends that may be touched, and then begin where one begins.
Beside them, vectors of what windows are made of: loads in steps, and loads some lanes of which are left out.
"""
import ctypes, mmap, os, random, struct, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import main, tvms
import library_calls as calls
import npy

COUNT, FIRST = 60, 0
if __name__ == "__main__" and len(sys.argv) > 1 and sys.argv[1].isdigit():
    COUNT, FIRST = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    del sys.argv[1:]

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class Walled:
    """Memory between two pages that nobody may touch, at the end of what is between them or at its beginning."""

    def __init__(self, data, at_end):
        page = mmap.PAGESIZE
        inner = -(-len(data) // page) * page
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self.base = LIBC.mmap(None, inner + 2 * page, 0, flags, -1, 0)
        assert LIBC.mprotect(self.base + page, inner, mmap.PROT_READ | mmap.PROT_WRITE) == 0
        begin = self.base + page + (inner - len(data) if at_end else 0)
        self.memory = (ctypes.c_char * len(data)).from_address(begin)
        self.memory.raw = data

    def floats(self):
        return struct.unpack(f"{len(self.memory) // 4}f", self.memory.raw)


class Window:
    def __init__(self, seed):
        r = random.Random(seed)
        self.kind = r.choice(["sum", "sum", "max"])
        self.c, self.h, self.w = r.choice([1, 3, 5]), r.choice([4, 5, 7, 9, 14]), r.choice([3, 4, 5, 6, 7, 8, 9, 11, 13, 14, 15, 16, 17, 19, 28, 29, 37])
        self.size, self.stride, self.dilation = r.choice([2, 3, 3, 3, 5]), r.choice([1, 1, 2, 2, 3]), r.choice([1, 1, 1, 2])
        self.before, self.behind = r.choice([0, 1, 1, 2]), r.choice([0, 1, 1, 2])
        self.added = r.random() < 0.3
        out = lambda n: (n + self.before + self.behind - self.dilation * (self.size - 1) - 1) // self.stride + 1
        self.rows, self.columns = out(self.h), out(self.w)
        numbers = lambda n: [float(r.randint(-4, 4)) for _ in range(n)]
        self.image, self.weights = numbers(self.c * self.h * self.w), numbers(self.c * self.size**2)
        self.more = numbers(self.c * max(self.rows, 0) * max(self.columns, 0))

    def text(self):
        c, h, w, k, s, d = self.c, self.h, self.w, self.size, self.stride, self.dilation
        first = "T.float32(0)" if self.kind == "sum" else "T.float32(-3.4028234663852886e+38)"
        high, wide = h + self.before + self.behind, w + self.before + self.behind
        shape = f"({c}, {self.rows}, {self.columns})"
        term = f"P[vc, vy * {s} + vp * {d}, vx * {s} + vq * {d}]"
        value = f"S[vc, vy, vx] + {term} * W[vc, vp, vq]" if self.kind == "sum" else f"T.max(S[vc, vy, vx], {term})"
        return f"""from tvm.script import ir as I, tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(X: T.Buffer(({c}, {h}, {w}), "float32"), W: T.Buffer(({c}, {k}, {k}), "float32"), R: T.Buffer({shape}, "float32"), Y: T.Buffer({shape}, "float32")):
        T.func_attr({{"tirx.noalias": True}})
        P = T.sblock_alloc_buffer(({c}, {high}, {wide}))
        S = T.sblock_alloc_buffer({shape})
        for c, i, j in T.grid({c}, {high}, {wide}):
            with T.sblock("P"):
                vc, vi, vj = T.axis.remap("SSS", [c, i, j])
                P[vc, vi, vj] = T.if_then_else({self.before} <= vi and vi < {h + self.before} and {self.before} <= vj and vj < {w + self.before}, X[vc, vi - {self.before}, vj - {self.before}], {first})
        for c, y, x, p, q in T.grid({c}, {self.rows}, {self.columns}, {k}, {k}):
            with T.sblock("S"):
                vc, vy, vx, vp, vq = T.axis.remap("SSSRR", [c, y, x, p, q])
                with T.init():
                    S[vc, vy, vx] = {first}
                S[vc, vy, vx] = {value}
        for c, y, x in T.grid({c}, {self.rows}, {self.columns}):
            with T.sblock("Y"):
                vc, vy, vx = T.axis.remap("SSS", [c, y, x])
                Y[vc, vy, vx] = T.max(S[vc, vy, vx]{" + R[vc, vy, vx]" if self.added else ""}, T.float32(-3))
"""

    def expected(self):
        result = []
        for c in range(self.c):
            for y in range(self.rows):
                for x in range(self.columns):
                    value = 0.0 if self.kind == "sum" else -3.4028234663852886e38
                    for p in range(self.size):
                        for q in range(self.size):
                            i, j = (at * self.stride + step * self.dilation - self.before for at, step in ((y, p), (x, q)))
                            if not (0 <= i < self.h and 0 <= j < self.w):
                                continue
                            element = self.image[(c * self.h + i) * self.w + j]
                            value = value + element * self.weights[(c * self.size + p) * self.size + q] if self.kind == "sum" else max(value, element)
                    result.append(max(value + (self.more[len(result)] if self.added else 0), -3.0))
        return result


class Windows(unittest.TestCase):
    def one(self, window, *options):
        with tempfile.TemporaryDirectory() as folder:
            source, built = os.path.join(folder, "w.tvms"), os.path.join(folder, "w.so")
            with open(source, "w", encoding="utf-8") as f:
                f.write(window.text())
            p = tvms("build", source, "-o", built, *options)
            self.assertEqual(p.returncode, 0, p.stderr.decode()[:2000])
            library = ctypes.CDLL(built)
        expected = window.expected()
        for at_end in (True, False):
            arrays = [window.image, window.weights, window.more, [float("nan")] * len(expected)]
            walled = [Walled(struct.pack(f"{len(a)}f", *a), at_end) for a in arrays]
            image = (window.c, window.rows, window.columns)
            shapes = [(window.c, window.h, window.w), (window.c, window.size, window.size), image, image]
            self.assertEqual(calls.call(library, [("<f4", s, w.memory) for s, w in zip(shapes, walled)]), 0)
            self.assertEqual(list(walled[-1].floats()), expected)

    def test_windows(self):
        for seed in range(FIRST, FIRST + COUNT):
            window = Window(seed)
            if window.rows < 1 or window.columns < 1:
                continue
            for mode in ("contract", "strict"):
                with self.subTest(window=seed, mode=mode):
                    self.one(window, "--fp", mode)


HEAD = """from tvm.script import ir as I, tirx as T

@I.ir_module
class Module:
    @T.prim_func
"""


class Lanes(unittest.TestCase):
    """Vectors whose lanes lie apart, or some of which are left out: as native code of walled memory and in the interpreter."""

    def both(self, text, kinds, arrays, expected):
        """`text` is a function f(A, P, R) whose result R has as many elements as `expected`."""
        with tempfile.TemporaryDirectory() as folder:
            place = lambda name: os.path.join(folder, name)
            with open(place("f.tvms"), "w", encoding="utf-8") as f:
                f.write(HEAD + text)
            given = []
            for name, kind, values in zip("AP", kinds, arrays):
                npy.write(place(name + ".npy"), kind, (len(values),), values)
                given += ["--in", f"{name}={place(name + '.npy')}"]
            p = tvms("run", place("f.tvms"), "--entry", "f", "--out", folder, *given)
            self.assertEqual(p.returncode, 0, p.stderr.decode()[:2000])
            results = [npy.read(place(name))[2] for name in sorted(os.listdir(folder)) if name.startswith("result")]
            self.assertEqual(results[-1], expected)
            p = tvms("build", place("f.tvms"), "-o", place("f.so"))
            self.assertEqual(p.returncode, 0, p.stderr.decode()[:2000])
            library = ctypes.CDLL(place("f.so"))
        for at_end in (True, False):
            data = [struct.pack(f"{len(a)}{k[1]}", *a) for k, a in zip(kinds, arrays)]
            walled = [Walled(d, at_end) for d in data + [bytes(4 * len(expected))]]
            shapes = [(len(a),) for a in arrays] + [(len(expected),)]
            self.assertEqual(calls.call(library, list(zip([*kinds, "<f4"], shapes, (w.memory for w in walled)))), 0)
            self.assertEqual(list(walled[-1].floats()), expected)

    def test_a_store_between_two_loads_is_seen(self):
        line = [float(n) for n in range(1, 9)]
        for store, first in (("A[0] = P[0]", 50.0), ("A[T.Ramp(0, 1, 2)] = T.Broadcast(P[0], 2)", 50.0), ("if P[0] > T.float32(0):\n            A[0] = P[0]", 50.0),
                             ("for i in T.vectorized(4):\n            if i < 3:\n                A[i] = P[0]", 50.0), ("T.evaluate(P[0])", 1.0)):
            with self.subTest(store=store):
                third = 50.0 if "i < 3" in store else 3.0
                self.both(f"""    def f(A: T.Buffer((8,), "float32"), P: T.Buffer((1,), "float32"), R: T.Buffer((12,), "float32")):
        for j in T.vectorized(4):
            R[j] = T.if_then_else(j < 3, A[j * 2], T.float32(0))
        {store}
        for j in T.vectorized(4):
            R[4 + j] = T.if_then_else(j < 3, A[j * 2], T.float32(0))
        for j in T.vectorized(4):
            R[8 + j] = T.if_then_else(j < 3, A[j * 2 + 1], T.float32(0))
""", ["<f4", "<f4"], [line, [50.0]], [1.0, 3.0, 5.0, 0.0, first, third, 5.0, 0.0, 50.0 if "T.Ramp" in store or third == 50.0 else 2.0, 4.0, 6.0, 0.0])

    def test_places_of_lanes_that_are_left_out_are_not_computed(self):
        line, five = [float(n) for n in range(16)], [3, 15, 0, 7, 1]
        taken = [line[n] for n in five]
        for value, expected in (("j < 5, A[P[j]]", taken + [0.0] * 3), ("j < 5, A[P[j] // 2 + 1]", [line[n // 2 + 1] for n in five] + [0.0] * 3),
                                ("j < 5, A[12 // (5 - j)]", [2.0, 3.0, 4.0, 6.0, 12.0, 0.0, 0.0, 0.0]),
                                ("j < 5 and P[j] > 1, A[j]", [0.0, 1.0, 0.0, 3.0, 0.0, 0.0, 0.0, 0.0]),
                                ("j < 5, A[j // 2 + j % 2]", [0.0, 1.0, 1.0, 2.0, 2.0, 0.0, 0.0, 0.0])):
            with self.subTest(value=value):
                self.both(f"""    def f(A: T.Buffer((16,), "float32"), P: T.Buffer((5,), "int32"), R: T.Buffer((8,), "float32")):
        for j in T.vectorized(8):
            R[j] = T.if_then_else({value}, T.float32(0))
""", ["<f4", "<i4"], [line, five], expected)

    def test_nothing_is_read_behind_the_last_lane(self):
        """Vectors of any length in steps of any length, from the first element or a later one to the last one."""
        for lanes, step, first in [(lanes, step, first) for lanes in (2, 3, 4, 5, 8) for step in range(2, 9) for first in (0, 3)]:
            with self.subTest(lanes=lanes, step=step, first=first):
                line = [float(n) for n in range(first + (lanes - 1) * step + 1)]
                self.both(f"""    def f(A: T.Buffer(({len(line)},), "float32"), P: T.Buffer((1,), "float32"), R: T.Buffer(({lanes},), "float32")):
        for j in T.vectorized({lanes}):
            R[j] = A[j * {step} + {first}] + P[0]
""", ["<f4", "<f4"], [line, [1.0]], [n + 1 for n in line[first::step]])


if __name__ == "__main__":
    main()
