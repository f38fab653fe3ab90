#!/usr/bin/env python3
"""Functions of C (T.call_extern): called by the interpreter, by native code in memory, and by libraries, C text and the virtual machine that are linked with them."""
import ctypes, os, struct, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import npy
from cases import InFolder, main, source, tvms
from library import Any, Tensor

PROGRAM = source("tests", "files", "functions.tvms")
X = [i / 8 for i in range(8)]
WANTED = [X, [2 * x + 0.5 for x in X], [-56, 4000000010, 0, 1, 4, 3, 4, 0],
          [sum(2 * x + 0.5 for x in X), sum((i + 1) * v for i, v in enumerate([1, 2, 3, 4, 5, 6, -7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18]))]]
HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
LOOPS = HEAD + """    @T.prim_func(s_tir=True)
    def kernel(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in T.vectorized(4):
            with T.sblock("twice"):
                vi = T.axis.spatial(4, i)
                B[vi] = T.call_pure_extern("float32", "twice", A[vi])
        for i in T.parallel(2):
            T.evaluate(T.call_extern("void", "fill", T.address_of(B[4 + i * 2]), 2))

    @R.function
    def main(x: R.Tensor((8,), "float32")):
        cls = Module
        y = R.call_tir(cls.kernel, (x,), R.Tensor((8,), "float32"))
        return y
"""
SOURCE = """
float twice(float x) { return 2 * x; }
void fill(float *p, int n) { for (int i = 0; i < n; i++) p[i] = (float)(i + 7); }
"""
HALF = HEAD + """    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
        for i in range(2):
            B[i] = T.Cast("float32", T.call_extern("float16", "third", T.Cast("float16", A[i])))
        for i in range(2):
            x: T.let[T.float16] = T.Cast("float16", A[i + 2])
            B[i + 2] = T.Cast("float32", T.call_extern("float16", "ends", x, 1, x, x, x, x, x, x, x, x, x + T.float16(1)))
        for i in range(4):
            B[i + 4] = T.Cast("float32", T.call_extern("bfloat16", "wide_third", T.Cast("bfloat16", A[i + 4])))
"""
HALVES = """
typedef _Float16 half;
half third(half x) { return (half)((float)x / 3); }
half ends(half a, int one, half b, half c, half d, half e, half f, half g, half h, half i, half j) { return a + (half)2 * j + (half)(one - 1) * (b + c + d + e + f + g + h + i); }
float wide_third(float x) { return x / 3; }
"""
FILLED = [2 * x for x in X[:4]] + [7, 8, 7, 8]


def bfloat16(x):
    """The nearest one, to even."""
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    bits += 0x7FFF + (bits >> 16 & 1)
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0]


def call(path, name, types, inputs):
    """Calls a function of a library with tensors of one dimension; all of them as lists."""
    data = [(kind[0] * len(values))(*values) for kind, values in zip(types, inputs)]
    shapes = [(ctypes.c_int64 * 1)(len(values)) for values in inputs]
    tensors = [Tensor(ctypes.addressof(d), (1, 0), 1, code, 8 * ctypes.sizeof(kind), 1, s, None, 0) for d, s, (kind, code) in zip(data, shapes, types)]
    args = (Any * len(data))(*[Any(7, 0, ctypes.addressof(t)) for t in tensors])
    assert ctypes.CDLL(path)["__tvm_ffi_" + name](None, args, len(data), ctypes.byref(Any())) == 0
    return [list(d) for d in data]


class Functions(InFolder):
    def cc(self, *arguments):
        subprocess.run(["cc", "-Wall", "-Werror", *arguments], check=True, cwd=self.folder)

    def functions(self, text=None):
        """The functions as an object, an archive and a library."""
        given = self.file("given.c", text) if text else source("tests", "files", "functions.c")
        self.cc("-fPIC", "-c", given, "-o", "given.o")
        self.cc("-shared", "given.o", "-o", "given.so")
        subprocess.run(["ar", "rcs", "given.a", "given.o"], check=True, cwd=self.folder)
        return [self.file(name) for name in ("given.o", "given.a", "given.so")]

    def build(self, *arguments, stdin=""):
        p = tvms("build", *arguments, stdin=stdin)
        self.assertEqual((p.returncode, p.stderr.decode()), (0, ""))

    def refused(self, *arguments, stdin=""):
        p = tvms(*arguments, stdin=stdin)
        self.assertNotEqual(p.returncode, 0)
        return p.stderr.decode()

    def check(self, results):
        for got, wanted in zip(results, WANTED, strict=True):
            self.assertEqual(len(got), len(wanted))
            for a, b in zip(got, wanted):
                self.assertAlmostEqual(a, b, 5)

    def test_run(self):
        library = self.functions()[2]
        npy.write(self.file("x.npy"), "<f4", [8], X)
        for backend in ("interp", "llvm"):
            p = tvms("run", PROGRAM, "--backend", backend, "--plugin", library, "--in", "A=" + self.file("x.npy"), "--out", self.folder)
            self.assertEqual((p.returncode, p.stderr.decode()), (0, ""))
            self.check([npy.read(self.file(f"result.{i}.npy"))[2] for i in range(4)])

    def test_libraries(self):
        types = [(ctypes.c_float, 2), (ctypes.c_float, 2), (ctypes.c_int64, 0), (ctypes.c_double, 2)]
        inputs = [X, [0] * 8, [0] * 8, [0] * 2]
        for i, given in enumerate(self.functions()):
            built = self.file(f"built{i}.so")
            self.build(PROGRAM, "--link", given, "-o", built)
            self.check(call(built, "main", types, inputs))
        # An object file and C text name the functions, and whoever links them brings these.
        self.build(PROGRAM, "-o", self.file("own.o"))
        self.cc("-shared", "own.o", "given.o", "-lm", "-o", "own.so")
        self.check(call(self.file("own.so"), "main", types, inputs))
        self.build(PROGRAM, "-o", self.file("text.c"))
        self.cc("-shared", "-fPIC", "-O2", "text.c", "given.o", "-lm", "-o", "text.so")
        self.check(call(self.file("text.so"), "main", types, inputs))

    def test_loops_and_the_virtual_machine(self):
        given = self.functions(SOURCE)
        npy.write(self.file("x.npy"), "<f4", [8], X)
        asked = ["--in", "x=" + self.file("x.npy"), "--out", self.folder]
        self.build("--vm", "-", "--link", given[0], "-o", self.file("machine.so"), stdin=LOOPS)
        runs = [["-", "--entry", "main", "--plugin", given[2], "--backend", backend] for backend in ("interp", "llvm")] + [[self.file("machine.so")]]
        for arguments in runs:
            p = tvms("run", *arguments, *asked, stdin=LOOPS)
            self.assertEqual((p.returncode, p.stderr.decode()), (0, ""))
            self.assertEqual(npy.read(self.file("result.npy"))[2], FILLED)

    def test_what_is_missing_is_said_where_it_is_called(self):
        said = self.refused("run", PROGRAM)
        self.assertIn("functions.tvms:6:30: error[E0913]: there is no function 'axpy' to call", said)
        said = self.refused("build", PROGRAM, "-o", self.file("x.so"))
        for place in ("6:30: error[E0913]: there is no function 'axpy'", "14:16: error[E0913]: there is no function 'tick'", "17:28: error[E0913]: there is no function 'ticks'"):
            self.assertIn(place, said)
        self.assertEqual(said.count("E0913"), 10)
        self.assertFalse(os.path.exists(self.file("x.so")))
        # What one file has is not missing.
        given = self.functions(SOURCE)[0]
        p = tvms("build", "-", "--link", given, "-o", self.file("x.so"), stdin=LOOPS.replace('"fill"', '"feel"'))
        self.assertEqual((p.returncode, p.stderr.decode().count("E0913")), (1, 1))
        self.assertIn("there is no function 'feel'", p.stderr.decode())
        # What the linker says of other files is handed on.
        said = self.refused("build", "-", "--link", given, "--link", self.file("none.o"), "-o", self.file("x.so"), stdin=LOOPS)
        self.assertIn("'cc' failed", said)
        self.assertIn("none.o", said)
        self.assertIn("--link goes with .so", self.refused("build", "-", "--link", given, "-o", self.file("x.o"), stdin=LOOPS))

    def test_floats_of_16_bits(self):
        """A float16 is a _Float16 of C, in registers and behind them, a bfloat16 a float: what stock TVM's code passes and takes."""
        given = self.functions(HALVES)
        npy.write(self.file("x.npy"), "<f4", [8], X)
        thirds = [struct.unpack("<e", struct.pack("<e", x / 3))[0] for x in X]
        wanted = thirds[:2] + [near + 2 * (near + 1) for near in (struct.unpack("<e", struct.pack("<e", x))[0] for x in X[2:4])] + [bfloat16(x / 3) for x in X[4:]]
        for backend in ("interp", "llvm"):
            p = tvms("run", "-", "--backend", backend, "--plugin", given[2], "--in", "A=" + self.file("x.npy"), "--out", self.folder, stdin=HALF)
            self.assertEqual((p.returncode, p.stderr.decode()), (0, ""))
            self.assertEqual(npy.read(self.file("result.npy"))[2], wanted)
        self.build("-", "--link", given[0], "-o", self.file("own.so"), stdin=HALF)
        self.build("-", "-o", self.file("text.c"), stdin=HALF)
        self.cc("-shared", "-fPIC", "-O2", "text.c", "given.o", "-lm", "-o", "text.so")
        for library in ("own.so", "text.so"):
            self.assertEqual(call(self.file(library), "main", [(ctypes.c_float, 2)] * 2, [X, [0] * 8])[1], wanted)

    def test_types_that_c_does_not_have(self):
        self.functions(SOURCE)
        text = LOOPS.replace('"float32", "twice", A[vi]', '"float32", "twice", T.Cast("float8_e4m3fn", A[vi])')
        for arguments in (["run", "-", "--entry", "main", "--plugin", self.file("given.so")], ["build", "-", "-o", self.file("x.o")], ["build", "-", "-o", self.file("x.c")]):
            self.assertIn("error[E0945]: a function of C such as 'twice' cannot take or give a value of float8_e4m3fn", self.refused(*arguments, stdin=text))


if __name__ == "__main__":
    main()
