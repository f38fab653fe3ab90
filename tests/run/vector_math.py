#!/usr/bin/env python3
"""What VectorMath writes: the interpreter and native code, contracted or not, give the same bits, and errors are at most 2
units in the last place. Where T.fma is an instruction, contracted native code does what VectorMath writes.

For each function: special values, random floats (any bits) and floats around 1, as scalars and as vectors; float16 and
bfloat16 are float32's results, rounded once. The reference is Python's math in float64, for functions of float64 decimal numbers of 40 digits.
All 2^32 floats: bench/math.
"""
import ctypes, decimal, math, os, platform, random, re, struct, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import npy
from cases import main, tvms
from library_calls import call

DOUBLES = "exp exp2 exp10 log log2 log10 log1p tanh sigmoid sin cos tan sinh cosh asinh acosh atanh asin acos atan".split()
UNARY = "exp exp2 exp10 log log2 log10 log1p tanh sigmoid erf sin cos tan sinh cosh asinh acosh atanh asin acos atan rsqrt".split()
COUNT = 4096
INF, NAN = math.inf, math.nan
SPECIAL = [0.0, -0.0, INF, -INF, NAN, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1.5, 2.0**-149, -2.0**-149, 2.0**-126, 2.0**-127, -2.0**-130, 2.0**127, -2.0**127,
           3.4028234663852886e38, -3.4028234663852886e38, 88.7, 88.73, -87.4, -103.9, -104.0, 127.9, 128.0, -149.0, -150.1, 38.5, 38.6, -44.8, -45.2, 9.0, 0.625, 0.9999999403953552,
           1.0000001192092896, 16777215.0, 16777216.0, 33554432.0, 1e10, 1e30]
HEAD = "from tvm.script import ir as I, tirx as T\n\n@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n"
SCALAR = HEAD + """    def main({buffers}):
        for i in range({count}):
            B[i] = T.{name}({arguments})
"""
VECTOR = HEAD + """    def main({buffers}):
        for i in range({count} // 16):
            B[T.Ramp(i * 16, 1, 16)] = T.{name}({arguments})
"""
SMALL = HEAD + """    def main({buffers}):
        for i in range({count}):
            B[i] = T.Cast("float32", T.{name}({arguments}))
"""
# A power of two times what is near 1, or what only looks like it: processors may make it in one step (backend/core/scaled.h).
# Numbers stand in all lanes.
SCALED = HEAD + """    def main(A: T.Buffer(({count},), "float32"), B: T.Buffer(({count},), "float32")):
        for i in range({count} // 16):
            x: T.let[T.float32x16] = A[T.Ramp(i * 16, 1, 16)]
            y: T.let[T.float32x16] = T.min(T.float32({most}), T.max(T.float32({least}), x))
            t: T.let[T.float32x16] = T.fma(y, T.float32(1.4426950216293335), T.float32({rounder}))
            n: T.let[T.float32x16] = t - T.float32(12582912.0)
            r: T.let[T.float32x16] = T.fma(n, T.float32({step}), y)
            small: T.let[T.boolx16] = {asked} < T.float32({limit})
            B[T.Ramp(i * 16, 1, 16)] = {factor} * T.reinterpret("float32x16", (T.reinterpret("int32x16", t) << T.int32(23)) + T.Select(small, T.int32({more}), T.int32(1056964608))) * T.Select(small, T.float32({last}), T.float32(2.0))
"""
USUAL = dict(least=-104.0, most=89.0, rounder=12582912.0, step=-0.6931471824645996, asked="y", limit=0.0, factor="T.fma(T.fma(r, T.float32(0.5), T.float32(1.0)), r, T.float32(1.0))", more=191 << 23, last=2.0**-64)
CHANGES = [{}, dict(least=-300.0), dict(most=120.0), dict(rounder=12582913.0), dict(step=-0.5), dict(asked="x"), dict(limit=-9.0), dict(factor="T.fma(r, T.float32(1e-12), T.float32(1e-12))"),
           dict(factor="T.fma(r, T.float32(1.0), T.float32(0.25))"), dict(factor="T.float32(1.5)"), dict(factor="T.fma(x, x, T.float32(1.0))"), dict(more=190 << 23), dict(last=2.0**-63), dict(factor="T.fma(r, T.float32(-1.0), T.float32(-1.0))")]


def has_fma():
    if platform.machine() == "aarch64":
        return True
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return re.search(r"^flags\b.*\bfma\b", f.read(), re.M) is not None


# Which text is run, and how; all of them the same.
WAYS = [("lowered.tvms", "interp"), ("lowered.tvms", "llvm"), ("lowered.tvms", "llvm", "--fp", "contract")] + [("plain.tvms", "llvm", "--fp", "contract")] * has_fma()


def single(x):
    """The float32 next to x."""
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(INF, x)


def as_half(x):
    try:
        return struct.unpack("e", struct.pack("e", x))[0]
    except OverflowError:
        return math.copysign(INF, x)


def as_brain(x):
    if x != x:
        return x
    bits = struct.unpack("I", struct.pack("f", x))[0]
    bits = bits + 0x7FFF + (bits >> 16 & 1) & 0xFFFF0000
    return struct.unpack("f", struct.pack("I", bits))[0]


def bits_of(x):
    return None if x != x else struct.pack("f", x)


def units(got, want):
    """The distance in units in the last place of float32; infinity counts as 2^128."""
    if want != want or got != got:
        return 0 if want != want and got != got else INF
    if got == want:
        return 0 if math.copysign(1, got) == math.copysign(1, want) else INF
    top = 2.0**128
    got, want = max(-top, min(top, got)), max(-top, min(top, want))
    exponent = max(min(math.frexp(want)[1], 128), -125)
    return abs(got - want) / math.ldexp(1, exponent - 24)


def log_of(x, function):
    return function(x) if x > 0 else -INF if x == 0 else NAN


def power(x, y):
    try:
        return math.pow(x, y)
    except OverflowError:
        return -INF if x < 0 and y % 2 == 1 else INF
    except ValueError:
        if x != 0:
            return NAN
        return math.copysign(INF, x) if y % 2 == 1 else INF


def finite(x, function):
    return function(x) if math.isfinite(x) else NAN


REFERENCE = {
    "exp": lambda x: power(math.e, x) if abs(x) > 700 else math.exp(x), "exp2": lambda x: power(2.0, x), "exp10": lambda x: power(10.0, x),
    "log": lambda x: log_of(x, math.log), "log2": lambda x: log_of(x, math.log2), "log10": lambda x: log_of(x, math.log10),
    "tanh": math.tanh, "sigmoid": lambda x: 1 / (1 + math.exp(-x)) if x > -700 or x != x else 0.0, "erf": math.erf,
    "asin": lambda x: math.asin(x) if abs(x) <= 1 else NAN, "acos": lambda x: math.acos(x) if abs(x) <= 1 else NAN, "atan": math.atan,
    "sin": lambda x: finite(x, math.sin), "cos": lambda x: finite(x, math.cos),
    "rsqrt": lambda x: NAN if x < 0 or x != x else math.copysign(INF, x) if x == 0 else 1 / math.sqrt(x),
    "tan": lambda x: finite(x, math.tan), "log1p": lambda x: math.log1p(x) if x > -1 or x != x else -INF if x == -1 else NAN,
    "sinh": lambda x: math.sinh(x) if abs(x) < 700 or x != x else math.copysign(INF, x), "cosh": lambda x: math.cosh(x) if abs(x) < 700 or x != x else INF,
    "asinh": math.asinh, "acosh": lambda x: math.acosh(x) if x >= 1 else NAN,
    "atanh": lambda x: math.atanh(x) if abs(x) < 1 else math.copysign(INF, x) if abs(x) == 1 else NAN,
    "pow": power, "atan2": math.atan2, "fmod": lambda x, y: math.fmod(x, y) if math.isfinite(x) and y != 0 else NAN,
}


def arc_tangent(x):
    """Of a decimal number, by halves until it is small."""
    halves = 0
    while abs(x) > decimal.Decimal("0.01"):
        x, halves = x / (1 + (1 + x * x).sqrt()), halves + 1
    return sum((-1) ** k * x ** (2 * k + 1) / (2 * k + 1) for k in range(20)) * 2**halves


def arc_sine(x):
    return arc_tangent(x / (1 - x * x).sqrt()) if abs(x) < 1 else x * 2 * arc_tangent(decimal.Decimal(1))


def area_sine(x):
    return (abs(x) + (x * x + 1).sqrt()).ln().copy_sign(x)


def turn(x):
    """A decimal number below 2^40 as so many quarters of a turn and what is left."""
    quarter = 2 * arc_tangent(decimal.Decimal(1))
    count = (x / quarter).to_integral_value()
    return int(count) % 4, x - count * quarter


def sine_of(quadrant, rest):
    first, sign = quadrant % 2, -1 if quadrant % 4 > 1 else 1
    return sign * sum((-1) ** k * rest ** (2 * k + 1 - first) / math.factorial(2 * k + 1 - first) for k in range(30))


def sine(x, more=0):
    quadrant, rest = turn(x)
    return sine_of(quadrant + more, rest)


EXACT = {
    "sin": sine, "cos": lambda x: sine(x, 1), "tan": lambda x: sine(x) / sine(x, 1),    "exp": lambda x: x.exp(), "exp2": lambda x: 2**x, "exp10": lambda x: 10**x, "log": lambda x: x.ln(), "log2": lambda x: x.ln() / decimal.Decimal(2).ln(), "log10": lambda x: x.log10(),
    "log1p": lambda x: (1 + x).ln(), "sigmoid": lambda x: 1 / (1 + (-x).exp()), "tanh": lambda x: ((2 * x).exp() - 1) / ((2 * x).exp() + 1), "sinh": lambda x: (x.exp() - (-x).exp()) / 2,
    "cosh": lambda x: (x.exp() + (-x).exp()) / 2, "asinh": area_sine, "acosh": lambda x: (x + (x * x - 1).sqrt()).ln(), "atanh": lambda x: ((1 + x) / (1 - x)).ln() / 2,
    "asin": arc_sine, "acos": lambda x: 2 * arc_tangent(decimal.Decimal(1)) - arc_sine(x), "atan": arc_tangent,
    "pow": lambda x, y: x**y,
    "atan2": lambda y, x: arc_tangent(y / x) + ((-4 if y.is_signed() else 4) * arc_tangent(decimal.Decimal(1)) if x < 0 else 0) if x else y.copy_sign(1) / abs(y) * 2 * arc_tangent(decimal.Decimal(1)).copy_sign(y),
}
# Near 0 as their argument is.
STRAIGHT = {"sin", "tan", "log1p", "tanh", "sinh", "asinh", "atanh", "asin", "atan"}


def exact(name, *x):
    """A function of float64 as a decimal number; None where an argument, or the result, is none."""
    if not all(map(math.isfinite, x)):
        return None
    if name in ("sin", "cos", "tan") and abs(x[0]) >= 2.0**40:  # C's own function
        return decimal.Decimal(REFERENCE[name](x[0]))
    if name in STRAIGHT and abs(x[0]) < 2.0**-60:
        return decimal.Decimal(x[0])
    if name in ("exp", "tanh", "sigmoid", "sinh", "cosh", "exp2", "exp10"):
        x = [max(-2000.0, min(2000.0, x[0]))]  # beyond, results are as there
    with decimal.localcontext(prec=80, Emax=10**6, Emin=-10**6):
        try:
            value = EXACT[name](*map(decimal.Decimal, x))
            return value if value.is_finite() else None
        except decimal.DecimalException:
            return None


def units_of_double(name, *row):
    """How many units in the last place of float64 the result, the last of the row, is away."""
    *x, got = row
    exactly = exact(name, *x)
    if not exactly or got != got:
        want = REFERENCE[name](*x)
        return 0 if got != got and want != want or got == want and math.copysign(1, got) == math.copysign(1, want) else INF
    if math.isinf(got):
        return 0 if exactly.copy_sign(decimal.Decimal(got)) == exactly and abs(exactly) > decimal.Decimal(2)**1024 * (1 - decimal.Decimal(2)**-54) else INF
    exponent = max(math.frexp(float(exactly))[1], -1021)
    return float(abs(decimal.Decimal(got) - exactly) / decimal.Decimal(2) ** (exponent - 53))


def double_samples(stream):
    values = SPECIAL + [5e-324, -5e-324, 2.0**-1022, 2.0**-1023, 1.7e308, -1.7e308, 709.78, 709.79, 710.5, -708.4, -745.1, -745.2, 19.06, 19.07, 0.17, 0.35, 1 - 2.0**-53, 1 + 2.0**-52, 2.0**0.5, 0.5**0.5]
    while len(values) < COUNT // 4:
        values.append(struct.unpack("d", struct.pack("Q", stream.getrandbits(64)))[0])
    while len(values) < COUNT // 2:  # near quarters of turns, and around where reductions end
        values.append(math.floor(2.0 ** stream.uniform(0, 41)) * math.pi / 2 * stream.choice((1, -1)))
    while len(values) < COUNT:
        values.append(math.copysign(2.0 ** stream.uniform(-8, 10), stream.uniform(-1, 1)))
    return values


def double_pairs(stream):
    """Special values with each other, powers that are no limits, neighbours of axes and diagonals, any bits."""
    pairs = [(x, y) for x in SPECIAL for y in SPECIAL]
    any_bits = double_samples(stream)
    while len(pairs) < COUNT:
        x = stream.choice(any_bits)
        if stream.random() < 0.5 and math.isfinite(x) and abs(x) not in (0, 1):
            pairs.append((abs(x), stream.uniform(-1080, 1030) / math.log2(abs(x))))
        else:
            pairs.append((x, stream.choice((x, float(stream.randint(-40, 40)), stream.choice(any_bits)))))
    return map(list, zip(*pairs[:COUNT]))


def samples(stream):
    values = [single(x) for x in SPECIAL]
    while len(values) < COUNT // 2:
        values.append(struct.unpack("f", struct.pack("I", stream.getrandbits(32)))[0])
    while len(values) < COUNT:
        values.append(single(math.copysign(2.0 ** stream.uniform(-6, 7), stream.uniform(-1, 1))))
    return values


class VectorMath(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = place.name

    def file(self, name):
        return os.path.join(self.place, name)

    def compute(self, form, name, argument, *columns, kind="float32"):
        """Results of the lowered program, of which both back ends give the same."""
        letters = "AC"[:len(columns)]
        buffers = ", ".join(f'{b}: T.Buffer(({COUNT},), "{kind}")' for b in letters + "B")
        bits = bits_of if kind == "float32" else lambda x: None if x != x else struct.pack("d", x)
        text = form.format(count=COUNT, name=name, buffers=buffers, arguments=", ".join(argument.format(b) for b in letters))
        p = tvms("opt", "--passes", "VectorMath", "-", stdin=text)
        self.assertEqual(p.returncode, 0, p.stderr)
        if kind == "float64" and name in ("sin", "cos", "tan"):  # what the reduction does not reach
            self.assertEqual(re.findall(rf".*T\.{name}\(".encode(), re.sub(rb".*T\.if_then_else\(.*", b"", p.stdout)), [])
        else:
            self.assertNotIn(f"T.{name}(".encode(), p.stdout)
        with open(self.file("lowered.tvms"), "wb") as f:
            f.write(p.stdout)
        given = []
        for letter, column in zip(letters, columns):
            npy.write(self.file(letter + ".npy"), "<f4" if kind == "float32" else "<f8", (COUNT,), column)
            given += ["--in", f"{letter}={self.file(letter + '.npy')}"]
        with open(self.file("plain.tvms"), "w", encoding="utf-8") as f:
            f.write(text)
        results = []
        for file, *options in WAYS:
            p = tvms("run", self.file(file), "--backend", *options, "--out", self.file("out"), *given, timeout=300)
            self.assertEqual(p.returncode, 0, p.stderr)
            results.append(npy.read(self.file("out/result.npy"))[2])
        for at, row in enumerate(zip(*results)):
            self.assertEqual(len(set(map(bits, row))), 1, (name, [c[at] for c in columns], row))
        return results[0]

    def judge(self, name, results, *columns):
        for row in zip(results, *columns):
            want = REFERENCE[name](*row[1:])
            self.assertLessEqual(units(row[0], want), 2, (name, *row, want))

    def test_functions_of_one_argument(self):
        for name in UNARY:
            with self.subTest(name=name):
                x = samples(random.Random(name))
                scalars = self.compute(SCALAR, name, "{}[i]", x)
                self.judge(name, scalars, x)
                vectors = self.compute(VECTOR, name, "{}[T.Ramp(i * 16, 1, 16)]", x)
                self.assertEqual(list(map(bits_of, vectors)), list(map(bits_of, scalars)))

    def test_functions_of_doubles(self):
        for name in DOUBLES:
            with self.subTest(name=name):
                x = double_samples(random.Random(name))
                scalars = self.compute(SCALAR, name, "{}[i]", x, kind="float64")
                errors = [(units_of_double(name, *row), *row) for row in zip(x, scalars)]
                self.assertLessEqual(max(errors)[0], 2, (name, max(errors)))
                vectors = self.compute(VECTOR, name, "{}[T.Ramp(i * 16, 1, 16)]", x, kind="float64")
                self.assertEqual([struct.pack("d", v) for v in vectors if v == v], [struct.pack("d", v) for v in scalars if v == v])

    def test_doubles_of_two_arguments(self):
        for name in ("pow", "atan2"):
            with self.subTest(name=name):
                x, y = double_pairs(random.Random(name))
                scalars = self.compute(SCALAR, name, "{}[i]", x, y, kind="float64")
                errors = [(units_of_double(name, *row), *row) for row in zip(x, y, scalars)]
                self.assertLessEqual(max(errors)[0], 2, (name, max(errors)))
                vectors = self.compute(VECTOR, name, "{}[T.Ramp(i * 16, 1, 16)]", x, y, kind="float64")
                self.assertEqual([struct.pack("d", v) for v in vectors if v == v], [struct.pack("d", v) for v in scalars if v == v])

    def test_products_by_powers_of_two(self):
        x = samples(random.Random("scaled"))
        npy.write(self.file("A.npy"), "<f4", (COUNT,), x)
        for change in CHANGES:
            with self.subTest(**change), open(self.file("scaled.tvms"), "w", encoding="utf-8") as f:
                f.write(re.sub(r"T\.(float|int)32\(([-+.e\d]+)\)", r"T.Broadcast(\g<0>, 16)", SCALED.format(count=COUNT, **{**USUAL, **change})))
                f.flush()
                results = []
                for back_end in ("interp", "llvm"):
                    p = tvms("run", f.name, "--backend", back_end, "--out", self.file("out"), "--in", f"A={self.file('A.npy')}")
                    self.assertEqual(p.returncode, 0, p.stderr)
                    results.append(npy.read(self.file("out/result.npy"))[2])
                results.append(self.from_c(f.name, x))
                for at, row in enumerate(zip(*results)):
                    self.assertEqual(len(set(map(bits_of, row))), 1, (x[at], row))

    def from_c(self, program, x):
        """What the program gives as C text."""
        source, library = self.file("scaled.c"), self.file(f"scaled{len(os.listdir(self.place))}.so")
        p = tvms("build", program, "-o", source)
        self.assertEqual(p.returncode, 0, p.stderr)
        subprocess.run(["cc", "-O2", "-march=native", "-shared", "-fPIC", source, "-o", library, "-lm"], check=True)
        given, result = (bytearray(struct.pack(f"{COUNT}f", *values)) for values in (x, [0.0] * COUNT))
        self.assertEqual(call(ctypes.CDLL(library), [("<f4", (COUNT,), given), ("<f4", (COUNT,), result)], "main"), 0)
        return struct.unpack(f"{COUNT}f", result)

    def test_power(self):
        stream = random.Random("pow")
        pairs = [(single(x), single(y)) for x in SPECIAL for y in SPECIAL]
        while len(pairs) < COUNT:
            x = 2.0 ** stream.uniform(-40, 40) if stream.random() < 0.5 else stream.uniform(0.5, 2)
            y = stream.uniform(-150, 150) / max(1, abs(math.log2(x)))
            pairs.append((single(x), single(y)) if stream.random() < 0.8 else (single(-x), float(round(y))))
        x, y = map(list, zip(*pairs[:COUNT]))
        results = self.compute(SCALAR, "pow", "{}[i]", x, y)
        self.judge("pow", results, x, y)
        vectors = self.compute(VECTOR, "pow", "{}[T.Ramp(i * 16, 1, 16)]", x, y)
        self.assertEqual(list(map(bits_of, vectors)), list(map(bits_of, results)))

    def pairs(self, stream):
        """Special values with each other, neighbours of axes and diagonals, any bits."""
        pairs = [(single(x), single(y)) for x in SPECIAL for y in SPECIAL]
        any_bits = samples(stream)
        while len(pairs) < COUNT:
            x = stream.choice(any_bits)
            y = single(x * stream.choice((1, -1, 3, 1 / 3, 1 + 2.0**-23, 2.0**-60, 2.0**stream.randint(-250, 250)))) if math.isfinite(x) and stream.random() < 0.3 else stream.choice(any_bits)
            pairs.append((x, y))
        return map(list, zip(*pairs[:COUNT]))

    def test_angle_of_two(self):
        y, x = self.pairs(random.Random("atan2"))
        results = self.compute(SCALAR, "atan2", "{}[i]", y, x)
        self.judge("atan2", results, y, x)
        vectors = self.compute(VECTOR, "atan2", "{}[T.Ramp(i * 16, 1, 16)]", y, x)
        self.assertEqual(list(map(bits_of, vectors)), list(map(bits_of, results)))

    def test_remainders_are_exact(self):
        x, y = self.pairs(random.Random("fmod"))
        want = [bits_of(REFERENCE["fmod"](*pair)) for pair in zip(x, y)]
        for form, index in ((SCALAR, "i"), (VECTOR, "T.Ramp(i * 16, 1, 16)")):
            for name in ("fmod", "truncmod"):
                with self.subTest(name=name, index=index):
                    self.assertEqual(list(map(bits_of, self.compute(form, name, f"{{}}[{index}]", x, y))), want)

    def test_fma_is_rounded_once(self):
        # One step below the middle between two floats; float64 would round it to the middle, and that to the even one.
        a, c = 1 + 2.0**-23, 2.0**-24 * (1 - 2.0**-23)
        text = SCALAR.format(count=1, name="fma", buffers='A: T.Buffer((1,), "float32"), C: T.Buffer((1,), "float32"), B: T.Buffer((1,), "float32")', arguments="A[i], C[i], A[i]")
        for letter, value in (("A", a), ("C", c)):
            npy.write(self.file(letter + ".npy"), "<f4", (1,), [value])
        for backend in ("interp", "llvm"):
            with self.subTest(backend=backend):
                p = tvms("run", "-", "--backend", backend, "--out", self.file("out"), "--in", "A=" + self.file("A.npy"), "--in", "C=" + self.file("C.npy"), stdin=text)
                self.assertEqual(p.returncode, 0, p.stderr)
                self.assertEqual(npy.read(self.file("out/result.npy"))[2], [a])

    def test_small_types_are_rounded_once(self):
        for name in UNARY:
            for kind, rounded in (("float16", as_half), ("bfloat16", as_brain)):
                with self.subTest(name=name, kind=kind):
                    x = [rounded(v) for v in samples(random.Random(kind + name))]
                    wide = self.compute(SCALAR, name, "{}[i]", x)
                    got = self.compute(SMALL, name, f'T.Cast("{kind}", {{}}[i])', x)
                    self.assertEqual(list(map(bits_of, got)), [bits_of(rounded(v)) for v in wide])


if __name__ == "__main__":
    main()
