#!/usr/bin/env python3
"""`build -o x.c`: the text compiles without a warning and computes the bits that the interpreter computes."""
import ctypes, itertools, math, mmap, os, platform, random, re, struct, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import npy
from cases import main, source, tvms
from library_calls import CODES, KINDS, call, listen

HEAD = "from tvm.script import tirx as T\n\n"
NATIVE = ("-march=native",)
FLAGS = ["-O2", "-std=c11", "-Wall", "-Werror", "-shared", "-fPIC"]


def elementwise(expression, *dtypes, n=64):
    """A function of tensors of `n` elements; the last one is written."""
    names = "ABCDE"[:len(dtypes)]
    params = ", ".join(f'{x}: T.Buffer(({n},), "{d}")' for x, d in zip(names, dtypes))
    return HEAD + f"@T.prim_func\ndef f({params}):\n    for i in range({n}):\n        {names[-1]}[i] = {expression}\n"


def module(programs):
    """One program of several functions `f`, each under its name."""
    text = "from tvm.script import ir as I, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
    for name, program in programs.items():
        lines = program.removeprefix(HEAD).replace("def f(", f"def {name}(").splitlines()
        text += "".join(f"    {line}\n" for line in lines) + "\n"
    return text


def vectors(expression, dtype, lanes=8):
    return HEAD + (f'@T.prim_func\ndef f(A: T.Buffer((64,), "{dtype}"), B: T.Buffer((64,), "{dtype}"), C: T.Buffer((64,), "{dtype}")):\n'
                   f"    for i in range({64 // lanes}):\n        for j in T.vectorized({lanes}):\n"
                   f"            C[i * {lanes} + j] = {expression}\n")


def many_vectors(expressions, dtype, lanes):
    """Row r of the last tensor is what expression r is; `x` and `y` in it are elements of the others at hand."""
    rows = len(expressions)
    head = f'A: T.Buffer((64,), "{dtype}"), B: T.Buffer((64,), "{dtype}"), C: T.Buffer(({rows}, 64), "{dtype}")'
    text = HEAD + f"@T.prim_func\ndef f({head}):\n    for i in range({64 // lanes}):\n"
    for row, expression in enumerate(expressions):
        for name, tensor in (("x", "A"), ("y", "B")):
            expression = re.sub(rf"\b{name}\b", f"{tensor}[i * {lanes} + j]", expression)
        text += f"        for j in T.vectorized({lanes}):\n            C[{row}, i * {lanes} + j] = {expression}\n"
    return text


INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
MATMUL = HEAD + """@T.prim_func
def f(A: T.Buffer((24, 40), "float32"), B: T.Buffer((40, 16), "float32"), C: T.Buffer((24, 16), "float32")):
    Y = T.alloc_buffer((24, 16))
    for i, j, k in T.grid(24, 16, 40):
        if k == 0:
            Y[i, j] = T.float32(0)
        Y[i, j] = Y[i, j] + A[i, k] * B[k, j]
    for i, j in T.grid(24, 16):
        C[i, j] = T.max(Y[i, j], T.float32(0.5))
"""
LEAVING = HEAD + """@T.prim_func
def f(A: T.Buffer((8, 64), "int32"), B: T.Buffer((8, 64), "int32")):
    for i in range(8):
        Y = T.alloc_buffer((1000,), "int32")
        for j in range(64):
            Y[j] = A[i, j] * 3
            if j > i * 8:
                T.evaluate(T.break_loop())
            B[i, j] = Y[j]
        for j in range(i * 8 + 1, 64):
            B[i, j] = 0 - j
"""


# Vectors over lines of seven elements: one lane lies before the first line or behind the last one.
EDGES = HEAD + """@T.prim_func
def f(A: T.Buffer((28,), "DTYPE"), B: T.Buffer((28,), "DTYPE")):
    S = T.alloc_buffer((8,), "DTYPE", scope="local")
    for i in range(4):
        for j in T.vectorized(8):
            S[j] = T.if_then_else(1 <= j, A[i * 7 + j - 1], T.DTYPE(0))
        for j in T.vectorized(8):
            S[j] = S[j] + T.if_then_else(j < 7, A[i * 7 + j], T.DTYPE(0))
        for j in T.vectorized(8):
            if j < 7:
                B[i * 7 + j] = S[j]
"""
# Both elements of pairs, of which a line of 14 has seven; and of five of these.
SOME_PAIRS = HEAD + """@T.prim_func
def f(A: T.Buffer((56,), "DTYPE"), B: T.Buffer((64,), "DTYPE")):
    S = T.alloc_buffer((8,), "DTYPE", scope="local")
    for i in range(4):
        for k in range(2):
            for j in T.vectorized(8):
                S[j] = T.if_then_else(KEPT, A[i * 14 + j * 2], T.DTYPE(0)) + T.DTYPE(1)
            for j in T.vectorized(8):
                S[j] = S[j] * T.if_then_else(KEPT, A[i * 14 + j * 2 + 1], T.DTYPE(0))
            for j in T.vectorized(8):
                B[i * 16 + k * 8 + j] = S[j]
"""
# Steps of two, the first of which is before the lines.
EDGES_OF_PAIRS = HEAD + """@T.prim_func
def f(A: T.Buffer((32,), "DTYPE"), B: T.Buffer((32,), "DTYPE")):
    for i in range(4):
        for j in T.vectorized(8):
            if j < 7:
                B[i * 8 + j] = T.if_then_else(1 <= j and j <= 4, A[i * 8 + j * 2 - 1], T.DTYPE(5))
        B[i * 8 + 7] = T.DTYPE(3)
"""


# Windows along a line in steps of two, the last of which ends with it.
WINDOWS = HEAD + """@T.prim_func
def f(A: T.Buffer((33,), "DTYPE"), B: T.Buffer((16,), "DTYPE")):
    S = T.alloc_buffer((16,), "DTYPE", scope="local")
    for j in T.vectorized(16):
        S[j] = A[j * 2]
    for k in T.unroll(2):
        for j in T.vectorized(16):
            S[j] = S[j] + A[j * 2 + k + 1]
    for j in T.vectorized(16):
        B[j] = S[j]
"""


def apart(size, at_end):
    """Memory with a page that nobody may touch before or behind it."""
    page = mmap.PAGESIZE
    pages = mmap.mmap(-1, 3 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    for closed in (0, 2):
        assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(start + closed * page), page, 0) == 0
    at = 2 * page - size if at_end else page
    return memoryview(pages)[at:at + size]


# Memory that is variables: whole vectors and single elements at constant places. The second one is read otherwise, and stays memory.
WRITTEN_OUT = HEAD + """@T.prim_func
def f(A: T.Buffer((64,), "int32"), B: T.Buffer((96,), "int32")):
    Y = T.alloc_buffer((16,), "int32")
    Z = T.alloc_buffer((16,), "int32")
    S = T.alloc_buffer((2,), "int32")
    for i in T.unroll(2):
        S[i] = 0
        for j in T.vectorized(8):
            Y[i * 8 + j] = 0
            Z[i * 8 + j] = 1
    for k in T.unroll(4):
        for i in T.unroll(2):
            S[i] = S[i] + A[k * 16 + i]
            for j in T.vectorized(8):
                Y[i * 8 + j] = Y[i * 8 + j] + A[k * 16 + i * 8 + j]
                Z[i * 8 + j] = Z[i * 8 + j] * A[k * 16 + i * 8 + j]
    for i in T.unroll(2):
        for j in T.vectorized(8):
            B[i * 8 + j] = Y[i * 8 + j] + S[1 - i]
    for i in range(16):
        B[16 + i] = Z[15 - i]
    for i in range(64):
        B[32 + i] = A[i]
"""


GATHERED = HEAD + """@T.prim_func
def f(A: T.Buffer((64,), "DTYPE"), B: T.Buffer((64,), "INDEX"), C: T.Buffer((64,), "DTYPE")):
    for i in range(64 // LANES):
        C[T.Ramp(i * LANES, 1, LANES)] = A.vload([B[T.Ramp(i * LANES, 1, LANES)]], predicate=(T.Broadcast(T.INDEX(0), LANES) <= B[T.Ramp(i * LANES, 1, LANES)]) & (B[T.Ramp(i * LANES, 1, LANES)] < T.Broadcast(T.INDEX(64), LANES)))
"""
HALVES = HEAD + """@T.prim_func
def f(A: T.Buffer((128,), "DTYPE"), B: T.Buffer((8,), "DTYPE")):
    S = T.alloc_buffer((16,), "DTYPE")
    for i in range(4):
        for j in T.vectorized(16):
            S[j] = A[i * 32 + j]
        for j in T.vectorized(16):
            S[j] = T.max(S[j], A[i * 32 + 16 + j])
        for j in T.vectorized(8):
            S[j] = S[j] + S[8 + j]
        for j in T.vectorized(4):
            S[j] = S[j] + S[4 + j]
        for j in T.vectorized(2):
            S[j] = S[j] + S[2 + j]
        if A[i] < B[i]:
            S[0] = S[0] + S[1]
        B[i * 2] = S[0]
        B[i * 2 + 1] = S[1]
"""


def source_of_processor():
    if platform.machine() == "aarch64":
        return "fma"
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return f.read()


class Text(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.random = random.Random(11)

    def file(self, name):
        return os.path.join(self.place.name, name)

    def build(self, program, *more, flags=()):
        p = tvms("build", "-", "-o", self.file("x.c"), *more, stdin=program)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        c = subprocess.run(["cc", *FLAGS, *flags, self.file("x.c"), "-o", self.file("x.so"), "-Wl,-z,defs", "-lm"], capture_output=True)
        self.assertEqual(c.returncode, 0, c.stderr.decode())
        # The loader knows a file by its name: each has its own.
        self.made = getattr(self, "made", 0) + 1
        os.rename(self.file("x.so"), self.file(f"x{self.made}.so"))
        return ctypes.CDLL(self.file(f"x{self.made}.so"))

    def by_llvm(self, program):
        self.made = getattr(self, "made", 0) + 1
        p = tvms("build", "-", "-o", self.file(f"y{self.made}.so"), stdin=program)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        return ctypes.CDLL(self.file(f"y{self.made}.so"))

    def text(self):
        with open(self.file("x.c"), encoding="utf-8") as f:
            return f.read()

    def data(self, kind, count):
        if kind == "|b1":
            return [self.random.random() < 0.5 for _ in range(count)]
        code, bits = CODES[kind]
        if code == 2:
            some = [0.0, -0.0, 1.0, -1.5, 300.5, -70000.0 if bits > 16 else -600.0]
            return [self.random.choice(some) if self.random.random() < 0.2 else self.random.uniform(-4, 4) for _ in range(count)]
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if code == 0 else (0, (1 << bits) - 1)
        return [self.random.choice([low or 1, high, 1]) if self.random.random() < 0.2 else self.random.randint(max(low, -9), min(high, 9)) or 1
                for _ in range(count)]

    def agree(self, program, *tensors, flags=()):
        """The last tensor is what the program writes: in C, with the same bits as in the interpreter."""
        self.agree_in(self.build(program, "--fp", "strict", flags=flags), program, "f", tensors)

    def agree_all(self, programs, tensors, flags=(), **told):
        """Programs of the same tensors by what they are called in messages, compiled together."""
        together = module({f"f{at}": program for at, program in enumerate(programs.values())})
        library = self.build(together, "--fp", "strict", flags=flags)
        for at, what in enumerate(programs):
            with self.subTest(what=what, flags=flags, **told):
                self.agree_in(library, together, f"f{at}", tensors)

    def agree_in(self, library, program, function, tensors):
        given, memory = [], []
        for i, (kind, shape) in enumerate(tensors):
            count = 1
            for n in shape:
                count *= n
            path = self.file(f"{i}.npy")
            npy.write(path, kind, shape, self.data(kind, count))
            with open(path, "rb") as f:
                memory.append((kind, shape, bytearray(f.read()[-count * CODES[kind][1] // 8:])))
            given += ["--in", f"{'ABCDE'[i]}={path}"]
        p = tvms("run", "-", "--entry", function, "--out", self.place.name, *given, stdin=program)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        with open(self.file("result.npy"), "rb") as f:
            wanted = f.read()[-len(memory[-1][2]):]
        self.assertEqual(call(library, memory, function), 0)
        self.assertEqual(bytes(memory[-1][2]), wanted)

    def test_integers(self):
        for dtype in INTEGERS:
            expressions = ("A[i] * B[i] - A[i] + B[i]", "T.min(A[i], B[i]) + T.max(A[i], B[i])",
                           "T.floordiv(A[i], B[i]) + T.floormod(A[i], B[i])", "T.truncdiv(A[i], B[i]) + T.truncmod(A[i], B[i])",
                           f'T.floordiv(A[i], T.{dtype}(7)) - T.floormod(A[i], T.{dtype}(7))',
                           f'T.Select(A[i] < B[i], A[i], T.{dtype}(3))', "A[i] & B[i] ^ (A[i] | ~B[i])",
                           f'T.Cast("{dtype}", A[i] < B[i]) * B[i] - A[i] * T.Cast("{dtype}", B[i] < A[i])')
            self.agree_all({e: elementwise(e, dtype, dtype, dtype) for e in expressions}, [(KINDS[dtype], (64,))] * 3, dtype=dtype)

    def test_lanes_that_are_left_out(self):
        """Also as instructions of the processor, if it has them; nothing outside of the memory is touched."""
        with open("/proc/cpuinfo") as f:
            known = f.read()
        ways = [()] + [(f"-m{way}",) for way in ("avx", "avx512vl") if way in known]
        for dtype in ("float32", "float64", "int32", "int8", "float16"):
            kind = KINDS[dtype]
            for flags in ways:
                with self.subTest(dtype=dtype, flags=flags):
                    first = self.build(EDGES.replace("DTYPE", dtype), flags=flags)
                    second = self.build(EDGES_OF_PAIRS.replace("DTYPE", dtype), flags=flags)
                    code = {"float32": "f", "float64": "d", "int32": "i", "int8": "b", "float16": "e"}[dtype]
                    for at_end in (False, True):
                        lines = [[self.random.randint(-50, 50) for _ in range(7)] for _ in range(4)]
                        self.touch(first, kind, code, at_end, sum(lines, []), [x for row in lines for x in
                                   [row[0]] + [a + b for a, b in zip(row, row[1:])]])
                        lines = [[self.random.randint(-50, 50) for _ in range(8)] for _ in range(4)]
                        self.touch(second, kind, code, at_end, sum(lines, []), [x for row in lines for x in [5, *row[1::2], 5, 5, 3]])

    def touch(self, library, kind, code, at_end, given, wanted):
        memory = [(kind, (len(values),), apart(struct.calcsize(code) * len(values), at_end)) for values in (given, wanted)]
        memory[0][2][:] = struct.pack(f"{len(given)}{code}", *given)
        self.assertEqual(call(library, memory), 0)
        self.assertEqual(list(struct.unpack(f"{len(wanted)}{code}", memory[1][2])), wanted)

    def test_two_lanes(self):
        """Are half of a register: nothing outside of the memory is touched."""
        for dtype, code in (("float32", "f"), ("int32", "i"), ("float16", "e"), ("int16", "h"), ("uint8", "B"), ("float64", "d"), ("bool", "?")):
            for flags in ((), NATIVE):
                with self.subTest(dtype=dtype, flags=flags):
                    moved = "not A[i * 3 + 1 - j]" if dtype == "bool" else f"A[i * 3 + 1 - j] + T.{dtype}(1)"
                    library = self.build(HEAD + f'''@T.prim_func
def f(A: T.Buffer((14,), "{dtype}"), B: T.Buffer((14,), "{dtype}")):
    for i in range(5):
        for j in T.vectorized(2):
            B[i * 3 + j] = {moved}
    for i in range(4):
        B[i * 3 + 2] = A[i * 3 + 2]
''', flags=flags)
                    for at_end in (False, True):
                        given = [self.random.randint(0, 1 if dtype == "bool" else 40) for _ in range(14)]
                        change = (lambda x: 1 - x) if dtype == "bool" else (lambda x: x + 1)
                        self.touch(library, KINDS[dtype], code, at_end, given, [given[k] if k % 3 == 2 else change(given[k + (1, -1)[k % 3]]) for k in range(14)])

    def test_classes_that_comparisons_ask_for(self):
        """Whether floats are finite or infinite is one comparison of their bits."""
        for dtype in ("float32", "float64", "float16"):
            top = f'T.{dtype}("inf")'
            asked = {f"(T.fabs(A[j]) != {top} or T.isnan(A[j])) and not T.isnan(A[j])": 1, f"T.fabs(A[j]) == {top} and not T.isnan(A[j])": 1,
                     f"T.fabs(A[j]) != {top} and not T.isnan(B[j])": 3}
            code = {"float32": "f", "float64": "d", "float16": "e"}[dtype]
            some = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.5, 6e4, -1.0]
            finite, infinite = [int(math.isfinite(x)) for x in some], [int(math.isinf(x)) for x in some]
            for (text, comparisons), wanted in zip(asked.items(), (finite, infinite, [int(not math.isinf(x)) for x in some])):
                for lanes in (1, 8):
                    with self.subTest(dtype=dtype, text=text, lanes=lanes):
                        loop = "for j in T.vectorized(8)" if lanes > 1 else "for j in range(8)"
                        library = self.build(HEAD + f'''@T.prim_func
def f(A: T.Buffer((8,), "{dtype}"), B: T.Buffer((8,), "{dtype}"), C: T.Buffer((8,), "bool")):
    {loop}:
        C[j] = {text}
''')
                        memory = [(KINDS[dtype], (8,), bytearray(struct.pack(f"8{code}", *x))) for x in (some, [1.0] * 8)] + [("|b1", (8,), bytearray(8))]
                        self.assertEqual(call(library, memory), 0)
                        self.assertEqual(list(memory[2][2]), wanted)
                        if lanes > 1 and dtype != "float16":
                            self.assertEqual(len(re.findall(r"q\d+_\d+ = .* (?:==|!=|<) ", self.text())), 1 if comparisons == 1 else 2)

    def test_pairs_that_are_left_out(self):
        """Are read by whole vectors where both elements of each are wanted; nothing outside of the memory is touched."""
        for dtype, code in (("float32", "f"), ("int32", "i"), ("float64", "d")):
            for kept, lanes in (("j < 7", range(7)), ("1 <= j and j < 6", range(1, 6)), ("1 <= j and j < 7", range(1, 7))):
                for flags in ((), NATIVE):
                    with self.subTest(dtype=dtype, kept=kept, flags=flags):
                        library = self.build(SOME_PAIRS.replace("DTYPE", dtype).replace("KEPT", kept), flags=flags)
                        for at_end in (False, True):
                            given = [self.random.randint(-40, 40) for _ in range(56)]
                            line = lambda i: [(given[i * 14 + j * 2] + 1) * given[i * 14 + j * 2 + 1] if j in lanes else 0 for j in range(8)]
                            self.touch(library, KINDS[dtype], code, at_end, given, sum((line(i) * 2 for i in range(4)), []))
                        if dtype == "float32" and kept == "j < 7":
                            self.assertEqual(len(re.findall(r"= \*\(f32x8m \*\).*p0", self.text())), 2)

    def test_products_of_fixed_point(self):
        """The product of two numbers of 31 bits behind the point, shifted to either side and rounded."""
        expressions = [f"T.q_multiply_shift(A[i], B[i], 31, {more})" for more in ("-2", "0", "5", "B[i] % 7 - 3")]
        self.agree_all({e: elementwise(e, "int32", "int32", "int32") for e in expressions}, [(KINDS["int32"], (64,))] * 3)

    def test_truths(self):
        expressions = [f'T.Cast("int32", (A[i] < B[i]) {sign} (A[i] < T.int32(3)))' for sign in "+-*"]
        self.agree_all({e: elementwise(e, "int32", "int32", "int32") for e in expressions}, [(KINDS["int32"], (64,))] * 3)

    def test_reals(self):
        for dtype in ("float16", "float32", "float64"):
            expressions = ("A[i] * B[i] + A[i]", "A[i] / B[i] - A[i]", "T.min(A[i], B[i]) + T.max(B[i], A[i])",
                           "T.floor(A[i]) - T.round(B[i]) + T.sqrt(T.abs(A[i]))",
                           'T.ldexp(A[i], T.Cast("int64", B[i] * B[i] * B[i]) * T.int64(30)) + T.nextafter(A[i], B[i])',
                           f'T.if_then_else(A[i] < B[i] and B[i] > T.{dtype}(0), A[i] / B[i], A[i])')
            self.agree_all({e: elementwise(e, dtype, dtype, dtype) for e in expressions}, [(KINDS[dtype], (64,))] * 3, dtype=dtype)
        # For float32 the interpreter rounds what libm gives for double, and compiled code asks libm for float32.
        expressions = ("T.exp(A[i]) + T.tanh(B[i])", "T.sigmoid(B[i]) * T.log(T.abs(A[i]))", "T.rsqrt(T.abs(A[i]) + T.pow(B[i], A[i]))")
        self.agree_all({e: elementwise(e, *["float64"] * 3) for e in expressions}, [("<f8", (64,))] * 3)

    def test_conversions(self):
        kinds = list(KINDS)
        for source_kind in kinds:
            program = module({"to_" + to: elementwise(f'T.Cast("{to}", A[i])', source_kind, to) for to in kinds})
            library = self.build(program, "--fp", "strict")
            for to in kinds:
                with self.subTest(source=source_kind, to=to):
                    self.agree_in(library, program, "to_" + to, [(KINDS[source_kind], (64,)), (KINDS[to], (64,))])

    def test_vectors(self):
        for dtype in ("float32", "float64", "float16", "int32", "uint8"):
            expressions = ("A[i * 8 + j] * B[i * 8 + j] + A[i * 8 + j]", "A[63 - i * 8 - j] - B[i]", "T.Select(A[i * 8 + j] < B[j], B[j], A[i])")
            self.agree_all({e: vectors(e, dtype) for e in expressions}, [(KINDS[dtype], (64,))] * 3, dtype=dtype)

    def test_operators_on_vectors(self):
        """Masks of every width, joined and chosen by; integers that wrap around; conversions; elements that lie apart."""
        for dtype in (*INTEGERS, "float16", "float32", "float64"):
            both = (f"T.Select(x < y and y > T.{dtype}(0), x - y, y)", f"T.Select(not (x <= y) or x == T.{dtype}(1), x, T.{dtype}(3))",
                    f"T.min(x, y) + T.max(x, T.{dtype}(2))", f'T.Cast("{dtype}", T.Cast("int32", x < y)) + y', f'T.Cast("{dtype}", T.Cast("float64", y)) * x',
                    f'T.Select(T.Cast("int8", x) < T.int8(1), x, y)', f'T.Select(T.Cast("float64", x) < T.float64(0.5) and x < y, y, x)',
                    f'T.Cast("{dtype}", T.Cast("int64", y) + T.int64(3))', f'T.Cast("{dtype}", T.Cast("float32", x) + T.Cast("float32", y))',
                    "A[j * 2 + i] - y", "A[(j * 3 + i) % 64] + x", "B[j] + A[i]", "T.Select(A[i] < B[i] or A[i] == B[i + 1], x, y)")
            large = {"float16": "6e4", "float32": "3e38"}.get(dtype, "1e308")
            own = ("x & y ^ (x | ~y)", f"T.shift_left(x, y & T.{dtype}(7)) + T.shift_right(x, T.{dtype}(2))", "x * y - x", "x // y - y % x",
                   f"T.truncdiv(x, y) + T.truncmod(y, T.{dtype}(7)) - x // T.{dtype}(5)") if dtype in INTEGERS else (
                "T.floor(x) - T.sqrt(T.abs(y))", "x * y + x / y", "T.round(x) * T.trunc(y)", "T.ceil(x) - T.nearbyint(y)", "T.floor(x / y) - T.trunc(y / x)",
                f"T.Select(T.isnan((x - x) / y) or T.isinf(y * T.{dtype}({large}) * y), x, T.Select(T.isfinite(x * T.{dtype}({large}) * x), y, x - y))")
            for lanes in (2, 3, 4, 8, 16, 32):
                with self.subTest(dtype=dtype, lanes=lanes):
                    expressions = [e for e in (*both, *own) if lanes < 32 or "% 64" not in e]
                    tensors = (KINDS[dtype], (64,)), (KINDS[dtype], (64,)), (KINDS[dtype], (len(expressions), 64))
                    self.agree(many_vectors(expressions, dtype, lanes), *tensors)
                    if lanes in (2, 4, 8, 16):
                        self.agree(many_vectors(expressions, dtype, lanes), *tensors, flags=NATIVE)

    def test_vectors_of_truths(self):
        for lanes in (2, 4, 8, 16, 64):
            with self.subTest(lanes=lanes):
                expressions = ("not x", "x and not y", "x or y", "not (x or y) and (x == y)")
                for flags in ((), NATIVE):
                    self.agree(many_vectors(expressions, "bool", lanes), *[("|b1", (64,))] * 2, ("|b1", (len(expressions), 64)), flags=flags)

    def test_lanes_that_are_gathered(self):
        """Where a condition leaves out some; by comparisons of another width, or of one number."""
        for dtype, index, flags in itertools.product(("float32", "float64", "int32", "int64"), ("int32", "int64"), ((), NATIVE)):
            programs = {lanes: GATHERED.replace("DTYPE", dtype).replace("INDEX", index).replace("LANES", str(lanes)) for lanes in (4, 8, 16)}
            self.agree_all(programs, [(KINDS[dtype], (64,)), (KINDS[index], (64,)), (KINDS[dtype], (64,))], flags=flags, dtype=dtype, index=index)

    def test_sums_by_halves(self):
        """Memory of which parts are read and stored is variables."""
        for dtype in ("float32", "float64", "int64", "float16"):
            for flags in ((), NATIVE):
                with self.subTest(dtype=dtype, flags=flags):
                    self.agree(HALVES.replace("DTYPE", dtype), (KINDS[dtype], (128,)), (KINDS[dtype], (8,)), flags=flags)
                    self.assertNotIn("_Alignas(64) u8 m", self.text())

    def test_contraction_is_what_the_text_says(self):
        """The library and C text round the same sums once."""
        if "fma" not in source_of_processor():
            self.skipTest("no fused multiply-add")
        for expression in ("x * y - x", "x - x * y", "x * y + y * y", "x * y - y * y", "x * y - T.floor(x * y) * y", "(x * y + x) * y - x * y"):
            for lanes in (1, 8):
                with self.subTest(expression=expression, lanes=lanes):
                    program = many_vectors([expression], "float32", lanes) if lanes > 1 else elementwise(re.sub(r"\by\b", "B[i]", re.sub(r"\bx\b", "A[i]", expression)), *["float32"] * 3)
                    results = []
                    for library in (self.build(program, flags=NATIVE), self.by_llvm(program)):
                        stream = random.Random(expression)
                        memory = [("<f4", (64,), bytearray(struct.pack("64f", *(stream.uniform(-4, 4) for _ in range(64))))) for _ in range(3)]
                        if lanes > 1:
                            memory[2] = ("<f4", (1, 64), memory[2][2])
                        self.assertEqual(call(library, memory), 0)
                        results.append(bytes(memory[2][2]))
                    self.assertEqual(*results)

    def test_numbers(self):
        """What is computed of numbers alone is numbers in the text, rounded as processors round it."""
        for dtype in ("float32", "float64"):
            number = f'(T.Cast("{dtype}", j) * T.{dtype}(0.3))'
            expression = f'x * ({number} - T.floor({number} + T.{dtype}(0.1)) * T.Cast("{dtype}", j + 3)) + T.max(T.{dtype}(1) / (T.{dtype}(0.7) - {number}), T.{dtype}(-3.3)) * y'
            program, kinds = many_vectors([expression], dtype, 8), [(KINDS[dtype], (64,))] * 2 + [(KINDS[dtype], (1, 64))]
            for flags in ((), NATIVE):
                self.agree(program, *kinds, flags=flags)
                self.assertRegex(self.text(), r"= \{-?0x[0-9a-f.p+-]+f?, ")
                self.assertNotRegex(self.text(), r"= (floorf?|GREATER)_")
            if "fma" in source_of_processor():
                results = []
                for library in (self.build(program, flags=NATIVE), self.by_llvm(program)):
                    stream, code = random.Random(1), CODES[kinds[0][0]][1] // 8
                    memory = [(kind, shape, bytearray(struct.pack("64" + " fd"[code // 4], *(stream.uniform(-4, 4) for _ in range(64))))) for kind, shape in kinds]
                    self.assertEqual(call(library, memory), 0)
                    results.append(bytes(memory[2][2]))
                self.assertEqual(*results)

    def test_vectors_that_are_picked(self):
        """From whole vectors, which windows beside each other share; nothing outside of the memory is touched."""
        for dtype, code in (("float32", "f"), ("float64", "d"), ("float16", "e"), ("int32", "i"), ("int8", "b")):
            given = [self.random.randint(-40, 40) for _ in range(33)]
            with self.subTest(dtype=dtype):
                library = self.build(WINDOWS.replace("DTYPE", dtype))
                for at_end in (False, True):
                    self.touch(library, KINDS[dtype], code, at_end, given, [sum(given[2 * j:2 * j + 3]) for j in range(16)])
            for place, count, wanted in (("j * 3", 46, lambda j: 3 * j), ("15 - j", 16, lambda j: 15 - j), ("j // 2 + 1", 9, lambda j: j // 2 + 1), ("j * 8", 121, lambda j: 8 * j)):
                with self.subTest(dtype=dtype, place=place):
                    given = [self.random.randint(-40, 40) for _ in range(count)]
                    library = self.build(HEAD + f'@T.prim_func\ndef f(A: T.Buffer(({count},), "{dtype}"), B: T.Buffer((16,), "{dtype}")):\n'
                                         f"    for j in T.vectorized(16):\n        B[j] = A[{place}]\n")
                    for at_end in (False, True):
                        self.touch(library, KINDS[dtype], code, at_end, given, [given[wanted(j)] for j in range(16)])
        self.build(WINDOWS.replace("DTYPE", "float32"))
        self.assertEqual(len(set(re.findall(r"= (\*\(f32x16m \*\).*p0.*);", self.text()))), 4)

    def test_reals_out_of_range(self):
        """As integers they are the nearest end of the range, and NaN is 0: of vectors as of numbers."""
        some = [math.nan, math.inf, -math.inf, 0.5, -0.5, 1e30, -1e30, 127.5, -128.5, 255.9, 65535.5, 2147483520.0, 2147483648.0, -2147483648.0, 4294967296.0, 1.75]
        for source_kind, code in (("float32", "f"), ("float64", "d")):
            for to in INTEGERS:
                with self.subTest(source=source_kind, to=to):
                    library = self.build(HEAD + f'@T.prim_func\ndef f(A: T.Buffer((16,), "{source_kind}"), B: T.Buffer((16,), "{to}")):\n'
                                         f'    for j in T.vectorized(16):\n        B[j] = T.Cast("{to}", A[j])\n')
                    self.assertNotIn(")to_", self.text().split("body_f")[-1])
                    bits, low = int(to.lstrip("uint")), 0 if to[0] == "u" else -(1 << int(to.lstrip("uint")) - 1)
                    given = struct.unpack(f"16{code}", struct.pack(f"16{code}", *some))
                    wanted = [0 if x != x else min(max(low, -(1 << 70) if x == -math.inf else 1 << 70 if x == math.inf else int(x)), low + (1 << bits) - 1) for x in given]
                    memory = [(KINDS[source_kind], (16,), bytearray(struct.pack(f"16{code}", *some))), (KINDS[to], (16,), bytearray(16 * bits // 8))]
                    self.assertEqual(call(library, memory), 0)
                    letter = {8: "b", 16: "h", 32: "i", 64: "q"}[bits]
                    self.assertEqual(list(struct.unpack("16" + (letter if to[0] == "i" else letter.upper()), memory[1][2])), wanted)

    def test_reals_that_are_clamped(self):
        """Are integers without more ado where the text shows that the type has them: NaN, too, is one of the ends then."""
        some = [math.nan, math.inf, -math.inf, 0.5, -0.5, 1e30, -1e30, 99.5, -99.5, 255.9, 300.5, -70.25, 1.75, -3.5, 127.5, -128.5]
        for least, most, shown in (("-128", "127", True), ("-100", "100", True), ("-129", "127", False), ("-128", "128", False)):
            for text in (f"T.max(T.min(A[j], T.float32({most})), T.float32({least}))", f"T.min(T.max(A[j], T.float32({least})), T.float32({most}))"):
                with self.subTest(text=text):
                    library = self.build(HEAD + '@T.prim_func\ndef f(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "int8")):\n'
                                         f'    for j in T.vectorized(16):\n        B[j] = T.Cast("int8", {text})\n')
                    memory = [("<f4", (16,), bytearray(struct.pack("16f", *some))), ("|i1", (16,), bytearray(16))]
                    self.assertEqual(call(library, memory), 0)
                    end = most if "T.max(T.min" in text else least
                    clamped = [max(float(least), min(float(most), float(end) if x != x else x)) for x in some]
                    self.assertEqual(list(struct.unpack("16b", memory[1][2])), [min(127, max(-128, int(x))) for x in clamped])
                    self.assertEqual(self.text().count("= GREATER_f32x16("), 1 if shown else 2)

    def test_reals_within_bounds(self):
        """Are integers without more ado where loops bound them, and the nearest end of the range where these do not."""
        for steps, text, fits in ((32, "T.Cast(\"float32\", i) * T.float32(4)", True), (64, "T.Cast(\"float32\", i) * T.float32(4)", False),
                                  (64, "T.floor(T.fma(T.Cast(\"float32\", i), T.float32(2), T.float32(-70.5)))", True), (64, "T.Cast(\"float32\", i - 200)", False),
                                  (64, "T.max(T.Cast(\"float32\", i) * T.float32(-3), T.float32(-100))", True), (64, "A[i] + T.Cast(\"float32\", i)", False)):
            for vector in (False, True):
                with self.subTest(text=text, steps=steps, vector=vector):
                    loop = f"for i0 in range({steps // 16}):\n        for i1 in T.vectorized(16):\n            " if vector else f"for i in range({steps}):\n        "
                    program = HEAD + (f'@T.prim_func\ndef f(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "int8")):\n    {loop}'
                                      + f'B[i] = T.Cast("int8", {text})\n'.replace("i)", "i0 * 16 + i1)" if vector else "i)").replace("[i]", "[i0 * 16 + i1]" if vector else "[i]")
                                      .replace("i - ", "i0 * 16 + i1 - " if vector else "i - "))
                    library = self.build(program, "--fp", "strict")
                    given = [self.random.uniform(-300, 300) for _ in range(64)]
                    memory = [("<f4", (64,), bytearray(struct.pack("64f", *given))), ("|i1", (64,), bytearray(64))]
                    self.assertEqual(call(library, memory), 0)
                    given = struct.unpack("64f", struct.pack("64f", *given))
                    values = {"* T.float32(4)": lambda i: i * 4, "T.fma": lambda i: math.floor(i * 2 - 70.5), "i - 200": lambda i: i - 200, "T.max": lambda i: max(-3 * i, -100),
                              "A[i]": lambda i: struct.unpack("f", struct.pack("f", given[i] + i))[0]}
                    value = next(v for part, v in values.items() if part in text)
                    self.assertEqual(list(struct.unpack("64b", memory[1][2]))[:steps], [min(127, max(-128, int(value(i)))) for i in range(steps)])
                    body = self.text().split("int body_f(")[-1]
                    self.assertEqual("to_i8(" not in body and "LESSER" not in body, fits)

    def test_reals_of_integers_that_wrap(self):
        """2**63 is no int64: what is bounded by it may have wrapped around."""
        program = HEAD + ('@T.prim_func\ndef f(B: T.Buffer((4,), "uint32")):\n    for i in range(4):\n'
                          '        B[i] = T.Cast("uint32", T.Cast("float32", (T.Cast("int64", i) + T.int64(4611686018427387904)) * T.int64(2)) * T.float32(1e-10))\n')
        library, memory = self.build(program, "-O0", "--fp", "strict"), bytearray(b"\1" * 16)
        self.assertEqual(call(library, [("<u4", (4,), memory)]), 0)
        self.assertEqual(memory, bytearray(16))
        self.assertNotIn("= (u32)v", self.text().split("int body_f(")[-1])

    def test_places_that_are_loaded(self):
        """Steps that store there are written out in rounds, in their order."""
        for steps in (24, 21, 23):
            program = HEAD + f"""@T.prim_func
def f(A: T.Buffer((24,), "int32"), B: T.Buffer((24,), "int32"), C: T.Buffer((24,), "int32")):
    for i in range(24):
        C[i] = A[i]
    for i in range({steps}):
        C[T.max(T.min(B[i], 3), 0)] = C[T.max(T.min(B[i], 3), 0)] * 3 + A[i]
"""
            with self.subTest(steps=steps):
                self.agree(program, *[("<i4", (24,))] * 3)
                self.assertEqual(self.text().count("UNROLL for"), 1)
                self.assertEqual(len(re.findall(r"UNROLL for \(i32 l\d+ = 0; l\d+ < (?:8|7);", self.text())), 0 if steps == 23 else 1)

    def test_short_loops(self):
        """Are unrolled by GCC: those of several steps and few numbers."""
        scan = HEAD + """@T.prim_func
def f(A: T.Buffer((64,), "int32"), B: T.Buffer((65,), "int32")):
    B[0] = 0
    for i in range(STEPS):
        B[i + 1] = VALUE
"""
        for steps, value, unrolled in ((64, "B[i] + A[i]", True), (8, "B[i] + A[i]", False), (64, "T.if_then_else(A[i] < 3, A[i], B[i])", False)):
            self.agree(scan.replace("STEPS", str(steps)).replace("VALUE", value), ("<i4", (64,)), ("<i4", (65,)))
            self.assertEqual("UNROLL for" in self.text(), unrolled)

    def test_windows_that_are_folded(self):
        """GCC is told not to keep vectors of memory for the next turn: where two variables fold the same one as it is."""
        program = HEAD + """@T.prim_func
def f(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in range(4):
        sums = T.alloc_buffer((16,), "float32", scope="local")
        for t in T.unroll(2):
            for j in T.vectorized(8):
                sums[t * 8 + j] = T.float32(0)
        for k in T.unroll(3):
            for t in T.unroll(2):
                for j in T.vectorized(8):
                    sums[t * 8 + j] = VALUE
        for t in T.unroll(2):
            for j in T.vectorized(8):
                B[i * 16 + t * 8 + j] = sums[t * 8 + j]
"""
        window = "A[i * 8 + (k + t) * 2 + j]"
        for value, told in ((f"T.max(sums[t * 8 + j], {window})", True), (f"sums[t * 8 + j] + {window}", True), (f"sums[t * 8 + j] + {window} * A[i * 8 + j]", False),
                            ("T.max(sums[t * 8 + j], A[i * 8 + (k * 2 + t) * 4 + j])", False), ("T.max(sums[t * 8 + j], sums[t * 8 + j])", False)):
            with self.subTest(value=value):
                self.agree(program.replace("VALUE", value), ("<f4", (64,)), ("<f4", (64,)))
                self.assertEqual("UNCARRIED\nstatic" in self.text(), told)

    def test_vectors_wider_than_registers(self):
        """Are computed in parts of registers, from what is a whole vector or a variable as well; all parts before one is stored."""
        expressions = ("T.Cast(\"float32\", T.Cast(\"float64\", x) * T.Cast(\"float64\", y))", "T.Select(T.Cast(\"int64\", j) * T.int64(2) < T.Cast(\"int64\", y), x, y)",
                       "T.Select(T.Cast(\"float64\", x) < T.float64(0.5), T.Cast(\"float32\", i * 16 + j), T.exp(T.float32(0)) + x)", "C[1, i * 16 + j] + T.Cast(\"float32\", T.Cast(\"float64\", x))",
                       "T.Cast(\"float32\", T.Cast(\"float64\", x / y) * T.Cast(\"float64\", T.Select(x < y, x + y, y)))")
        self.agree(many_vectors(expressions, "float32", 16), *[("<f4", (64,))] * 2, ("<f4", (5, 64)))
        self.assertNotRegex(self.text(), r"const (i64|f64)x16 ")
        # Parts are as long as a register of this machine.
        if b"vectors    512 bits" in tvms("explain", "--target", "host").stdout:
            self.assertRegex(self.text(), r"const f32x16 v\d+ = v\d+ / v\d+;")
        else:
            self.assertNotRegex(self.text(), r"const f32x16 ")

    def test_halves_are_moved_as_they_are(self):
        """Also NaN: nothing is converted."""
        library = self.build(vectors("A[i * 16 + 15 - j]", "float16", 16))
        given = [self.random.randint(0, 65535) for _ in range(64)]
        memory = [("<f2", (64,), bytearray(struct.pack("64H", *given))) for _ in range(3)]
        self.assertEqual(call(library, memory), 0)
        self.assertEqual(list(struct.unpack("64H", memory[2][2])), [given[i // 16 * 16 + 15 - i % 16] for i in range(64)])

    def test_programs(self):
        self.agree(MATMUL, ("<f4", (24, 40)), ("<f4", (40, 16)), ("<f4", (24, 16)))
        self.agree(LEAVING, ("<i4", (8, 64)), ("<i4", (8, 64)))

    def test_memory_that_is_variables(self):
        self.agree(WRITTEN_OUT, ("<i4", (64,)), ("<i4", (96,)))
        with open(self.file("x.c"), encoding="utf-8") as f:
            text = f.read()
        self.assertRegex(text, r"i32x8 r\d+_0, r\d+_1;")
        self.assertRegex(text, r"i32 r\d+_0, r\d+_1;")
        self.assertIn("_Alignas(64) u8 m", text)

    def test_errors(self):
        """Raised through the variable that whoever loads the library fills in, in the words of the other forms."""
        library = self.build(elementwise("A[i] // B[i]", "int32", "int32", "int32"))
        said = []
        one, zero, short = (("<i4", (n,), bytearray(struct.pack("<i", v) * n)) for n, v in ((64, 1), (64, 0), (63, 1)))
        self.assertEqual(call(library, [one, zero, one]), -1)
        self.assertEqual(said, [])
        listen(library, said)
        self.assertEqual(call(library, [one, zero, one]), -1)
        self.assertEqual(said.pop(), ("ZeroDivisionError", "division by zero"))
        self.assertEqual(call(library, [one, short, one]), -1)
        self.assertEqual(said.pop(), ("ValueError", "Invalid B.shape[0] on argument #1 when calling:\n"
                                      "  `f(A: Tensor([64], int32), B: Tensor([64], int32), C: Tensor([64], int32))`,\n  expected 64"))
        self.assertEqual(call(library, [one, one]), -1)
        self.assertEqual(said.pop()[0], "TypeError")
        self.assertEqual(call(library, [one, one, one]), 0)
        self.assertEqual(said, [])
        if platform.machine() == "x86_64":
            c = subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-m32", "-fsyntax-only", self.file("x.c")], capture_output=True)
            self.assertEqual(c.returncode, 0, c.stderr.decode())

    def test_a_product_is_contracted_if_that_is_asked_for(self):
        program = elementwise("A[i] * B[i] + A[i]", "float32", "float32", "float32")
        for mode, there in (("contract", True), ("strict", False)):
            self.build(program, "--fp", mode)
            with open(self.file("x.c"), encoding="utf-8") as f:
                self.assertEqual("= mul_add_f32" in f.read(), there)

    def test_memory_that_is_apart(self):
        """Where the text says so of all buffers, also of pointers that buffers are declared over."""
        program = HEAD + """@T.prim_func
def copy(a: T.handle("float32"), b: T.handle("float32")):
    ATTRS
    A = T.decl_buffer((64,), data=a)
    B = T.decl_buffer((64,), data=b)
    for i in range(64):
        B[i] = A[i] + T.float32(1)
"""
        for said, restrict in (("True", "restrict "), ("False", "")):
            self.build(program.replace("ATTRS", f'T.func_attr({{"tirx.noalias": {said}}})'))
            self.assertIn(f"ptr {restrict}p0, ptr {restrict}p1) {{", self.text())

    def test_wider_integers_in_vectors_with_lanes_to_spare(self):
        """Instructions are those of the vector that holds them: five lanes are in one of eight."""
        for dtype in ("int8", "uint8"):
            program = HEAD + f"""@T.prim_func
def f(A: T.Buffer((17, 3), "{dtype}"), B: T.Buffer((3, 5), "{dtype}"), C: T.Buffer((17, 5), "int32")):
    T.func_attr({{"tirx.noalias": True}})
    for i, j in T.grid(17, 5):
        C[i, j] = 0
    for i, j, k in T.grid(17, 5, 3):
        C[i, j] = C[i, j] + T.Cast("int32", A[i, k]) * T.Cast("int32", B[k, j])
"""
            kind = KINDS[dtype]
            for flags in ((), NATIVE):
                with self.subTest(dtype=dtype, flags=flags):
                    self.agree(program, (kind, (17, 3)), (kind, (3, 5)), ("<i4", (17, 5)), flags=flags)

    def test_vectors_that_go_past_the_caches(self):
        """Where the compiler and the processor have stores for it, and the place is one for them."""
        for lanes, dtype in ((4, "float32"), (8, "float32"), (16, "float32"), (8, "int32"), (32, "int8")):
            program = HEAD + f"""@T.prim_func
def f(A: T.Buffer((640,), "{dtype}"), B: T.Buffer((640,), "{dtype}")):
    for i in T.serial({640 // lanes}, annotations={{"nontemporal": 1}}):
        for j in T.vectorized({lanes}):
            B[i * {lanes} + j] = A[i * {lanes} + j] + A[i * {lanes} + j]
"""
            for flags in ((), NATIVE):
                with self.subTest(lanes=lanes, dtype=dtype, flags=flags):
                    self.agree(program, (KINDS[dtype], (640,)), (KINDS[dtype], (640,)), flags=flags)
                    self.assertIn("STORE_PAST_", self.text())
                    self.assertIn("__atomic_thread_fence", self.text())

    def test_a_target_says_how_loops_are_scheduled(self):
        """Vectors are as long as its registers; the text is for every machine, and computes the same."""
        a, b = (bytearray(struct.pack(f"<{n}f", *(i % 7 - 3 for i in range(n)))) for n in (24 * 40, 40 * 16))
        results = []
        for target, vectors in (("aarch64-linux-gnu", "f32x4"), ("x86_64-linux-gnu,haswell", "f32x8"), ('{"kind": "llvm", "mcpu": "znver4"}', "f32x16")):
            library, c = self.build(MATMUL, "--target", target), bytearray(24 * 16 * 4)
            self.assertIn(f"const {vectors} ", self.text())
            self.assertEqual(call(library, [("<f4", (24, 40), a), ("<f4", (40, 16), b), ("<f4", (24, 16), c)]), 0)
            results.append(bytes(c))
        self.assertEqual(len(set(results)), 1)

    def test_what_is_refused(self):
        for output, target, text in (("x.vm", "aarch64-linux-gnu", "which is for every machine"),
                                     ("x.c", "cuda", "C text cannot be scheduled for 'cuda'"),
                                     ("x.c", "aarch46", "did you mean 'aarch64-linux-gnu'?")):
            p = tvms("build", "-", "-o", self.file(output), "--target", target, stdin=MATMUL)
            self.assertEqual(p.returncode, 2, p.stderr.decode())
            self.assertIn(text, p.stderr.decode())

    def test_the_same_text_each_time(self):
        texts = []
        for _ in range(2):
            self.build(MATMUL)
            with open(self.file("x.c"), encoding="utf-8") as f:
                texts.append(f.read())
        self.assertEqual(*texts)


if __name__ == "__main__":
    main()
