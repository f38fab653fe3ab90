#!/usr/bin/env python3
"""Floats of 8 bits in the interpreter, in native code and in C text: conversions, and sums that are rounded to them.

What a code stands for is computed here from the definition of its kind, and the code nearest to a number is looked up among all of them. Inputs
are values of float16, floats of any bits, and what is in the middle between two codes.
"""
import bisect, ctypes, math, os, random, struct, subprocess, sys, unittest
from fractions import Fraction

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import npy
from cases import InFolder, main, tvms
from library_calls import call

# Bits of exponent and of fraction, bias, and what codes at the end mean: infinity and NaN, NaN only, or NaN in the place of -0.
KINDS = {"e3m4": (3, 4, 3, "ieee"), "e4m3": (4, 3, 7, "ieee"), "e4m3b11fnuz": (4, 3, 11, "fnuz"), "e4m3fn": (4, 3, 7, "fn"), "e4m3fnuz": (4, 3, 8, "fnuz"),
         "e5m2": (5, 2, 15, "ieee"), "e5m2fnuz": (5, 2, 16, "fnuz")}
TEXT = """from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def f(A: T.Buffer(({n},), "float32"), B: T.Buffer(({n},), "uint8"), C: T.Buffer(({n},), "float32"), D: T.Buffer(({n},), "float32")):
    K = T.alloc_buffer(({n},), "{kind}")
    for i in range({n}):
        K[i] = T.Cast("{kind}", A[i])
    for i in range({n} // 16):
        for j in {loop}(16):
            B[i * 16 + j] = T.reinterpret("uint8", K[i * 16 + j])
    for i in range({n} // 16):
        for j in {loop}(16):
            C[i * 16 + j] = T.Cast("float32", K[i * 16 + j])
    for i in range({n} // 16):
        for j in {loop}(16):
            D[i * 16 + j] = T.Cast("float32", K[i * 16 + j] + K[{n} - 1 - i * 16 - j])
"""


def single(x):
    try:
        return struct.unpack("<f", struct.pack("<f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


class Kind:
    def __init__(self, exponent, fraction, bias, style):
        self.style = style
        self.end = {"ieee": (2**exponent - 1) << fraction, "fn": 0x7F, "fnuz": 0x80}[style]
        self.values = [self.magnitude(code, fraction, bias) for code in range(self.end)]
        self.beyond = self.magnitude(self.end, fraction, bias)  # what the first code that is no number would be

    @staticmethod
    def magnitude(code, fraction, bias):
        exponent, rest = code >> fraction, code & ((1 << fraction) - 1)
        return (rest + (1 << fraction if exponent else 0)) * Fraction(2) ** (max(exponent, 1) - bias - fraction)

    def middles(self):
        return [sign * float(a + b) / 2 for a, b in zip(self.values, self.values[1:] + [self.beyond]) for sign in (1, -1)]

    def value(self, code):
        rest, negative = code & 0x7F, code >> 7
        if self.style == "fnuz" and code == 0x80:
            return math.nan
        value = float(self.values[rest]) if rest < self.end else math.inf if self.style == "ieee" and rest == self.end else math.nan
        return -value if negative else value

    def code(self, x):
        """The nearest one, of two the even one; None for NaN, of which there are several."""
        if math.isnan(x):
            return None
        wanted = Fraction(abs(x)) if math.isfinite(x) else self.beyond
        ends = self.values + [self.beyond]
        above = min(bisect.bisect_left(ends, wanted), self.end)
        below = max(above - 1, 0)
        near = [wanted - ends[below], ends[above] - wanted]
        code = above if near[1] < near[0] or (near[0] == near[1] and above % 2 == 0) else below
        if code == self.end and self.style != "ieee":
            return None
        return code | (0x80 if math.copysign(1, x) < 0 and (code or self.style != "fnuz") else 0)


class Powers:
    """float8_e8m0fnu: of two neighbours that are as near the larger one is taken."""

    def middles(self):
        return [2.0**i * 1.5 for i in range(-127, 128)]

    def value(self, code):
        return math.nan if code == 0xFF else 2.0 ** (code - 127)

    def code(self, x):
        if math.isnan(x) or math.isinf(x) or x < 0:
            return None
        part, exponent = math.frexp(x)
        code = (exponent - 1 if part < 0.75 else exponent) + 127 if x else 0
        return None if code > 254 else max(code, 0)


def same(a, b):
    return (math.isnan(a) and math.isnan(b)) or struct.pack("<f", a) == struct.pack("<f", b)


class Float8(InFolder):
    def judge(self, kind, x, results, what):
        codes, values, sums = results
        back = [kind.value(c) for c in codes]
        for i, (c, v, s) in enumerate(zip(codes, values, sums)):
            wanted = kind.code(x[i])
            good = math.isnan(back[i]) if wanted is None else c == wanted
            self.assertTrue(good, f"{what}: {x[i]!r} is {c:#x}, not {wanted}")
            self.assertTrue(same(v, back[i]), f"{what}: {c:#x} is {v!r}")
            total = kind.code(single(back[i] + back[-1 - i]))
            wanted = math.nan if total is None else kind.value(total)
            self.assertTrue(same(s, wanted), f"{what}: {back[i]!r} + {back[-1 - i]!r} is {s!r}, not {wanted!r}")

    def interpreted(self, text, x):
        npy.write(self.file("A.npy"), "<f4", (len(x),), x)
        p = tvms("run", "-", "--out", self.file("out"), "--in", "A=" + self.file("A.npy"), stdin=text)
        self.assertEqual(p.returncode, 0, p.stderr)
        return [npy.read(self.file(f"out/result.{i}.npy"))[2] for i in range(3)]

    def called(self, path, x):
        n = len(x)
        memory = [bytearray(struct.pack(f"<{n}f", *x)), bytearray(n), bytearray(4 * n), bytearray(4 * n)]
        self.assertEqual(call(ctypes.CDLL(path), [(k, (n,), m) for k, m in zip(("<f4", "|u1", "<f4", "<f4"), memory)]), 0)
        return list(memory[1]), *(struct.unpack(f"<{n}f", m) for m in memory[2:])

    def one(self, name, kind):
        stream = random.Random(name)
        x = [struct.unpack("<e", struct.pack("<H", i))[0] for i in range(0, 65536, 17)]
        x += [struct.unpack("<f", struct.pack("<I", stream.getrandbits(32)))[0] for _ in range(1000)]
        x += [single(y) for i in range(-150, 129, 3) for y in (2.0**i * 1.5, -(2.0**i), 2.0**i * 1.4999)]
        x += kind.middles()
        x += [0.0] * (-len(x) % 16)
        for loop in ("range", "T.vectorized"):
            text = TEXT.format(n=len(x), kind="float8_" + name, loop=loop)
            if loop == "range":
                self.judge(kind, x, self.interpreted(text, x), name + " interpreted")
            stem = self.file(name + loop)
            for output in (stem + ".so", stem + ".c"):
                p = tvms("build", "-", "-o", output, stdin=text)
                self.assertEqual(p.returncode, 0, p.stderr)
            subprocess.run(["cc", "-O1", "-std=c11", "-shared", "-fPIC", stem + ".c", "-o", stem + "_c.so", "-lm"], check=True)
            self.judge(kind, x, self.called(stem + ".so", x), f"{name} {loop} native")
            self.judge(kind, x, self.called(stem + "_c.so", x), f"{name} {loop} C")

    def test_kinds(self):
        for name, parts in KINDS.items():
            with self.subTest(name=name):
                self.one(name, Kind(*parts))

    def test_powers_of_two(self):
        self.one("e8m0fnu", Powers())


if __name__ == "__main__":
    main()
