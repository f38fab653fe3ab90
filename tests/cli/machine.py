#!/usr/bin/env python3
"""Code for TVM's virtual machine: executables, libraries with one inside, running them, and files that are broken."""
import json, os, struct, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import npy
from cases import main, source, tvms

MODEL = """
from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 3), "float32")):
        n = T.int64()
        y = R.matmul(x, w)
        return R.add(y, R.const(1.0, "float32"))

    @R.function
    def pick(c: R.Tensor((), "bool"), x: R.Tensor((2, 2), "float32")) -> R.Tuple(R.Tensor((2, 2), "float32"), R.Shape([2, 2])):
        cls = Module
        if c:
            y: R.Tensor((2, 2), "float32") = R.exp(x)
        else:
            y: R.Tensor((2, 2), "float32") = cls.half(x)
        s: R.Shape([2, 2]) = R.shape_of(y)
        return (y, s)

    @R.function
    def half(x: R.Tensor((2, 2), "float32")) -> R.Tensor((2, 2), "float32"):
        y: R.Tensor((2, 2), "float32") = R.multiply(x, R.const(0.5, "float32"))
        return y

    @R.function
    def untyped(x: R.Object):
        return x
"""
ERRORS = """
from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def divide(A: T.Buffer((4,), "int32"), B: T.Buffer((4,), "int32"), C: T.Buffer((4,), "int32")):
        for i in range(4):
            with T.sblock("divide"):
                vi = T.axis.spatial(4, i)
                C[vi] = T.truncdiv(A[vi], B[vi])

    @R.function
    def quotient(a: R.Tensor((4,), "int32"), b: R.Tensor((4,), "int32")) -> R.Tensor((4,), "int32"):
        cls = Module
        c = R.call_tir(cls.divide, (a, b), out_ty=R.Tensor((4,), "int32"))
        return c

    @R.function
    def large(a: R.Tensor(("n",), "float32")) -> R.Tensor(("n", "n"), "float32"):
        n = T.int64()
        b = R.broadcast_to(a, R.shape([n, n]))
        return b
"""

# What begins the table of lines behind the code.
PLACES = struct.pack("<Q", 0x736563616C70736D)

SORT = """
from tvm.script import relax as R

@R.function
def main(x: R.Tensor((7,), "float32")):
    return R.sort(x, axis=0)
"""


CACHE = """
from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function(pure=False)
    def grow(x: R.Tensor((1, 2), "float32"), y: R.Tensor((3, 2), "float32")):
        c = R.call_packed("vm.builtin.attention_kv_cache_create", x, R.shape([2, 2]), R.prim_value(-1), ty_args=(R.Object,))
        d = R.call_packed("vm.builtin.attention_kv_cache_append", c, y, ty_args=(R.Object,))
        return R.call_packed("vm.builtin.attention_kv_cache_view", d, R.shape([4, 2]), ty_args=(R.Tensor((4, 2), "float32"),))

    @R.function(pure=False)
    def pop(x: R.Tensor((1, 2), "float32"), y: R.Tensor((3, 2), "float32")):
        c = R.call_packed("vm.builtin.attention_kv_cache_create", x, R.shape([2, 2]), R.prim_value(-1), ty_args=(R.Object,))
        d = R.call_packed("vm.builtin.attention_kv_cache_append", c, y, ty_args=(R.Object,))
        p = R.call_packed("vm.builtin.attention_kv_cache_array_popn", (d,), R.prim_value(2), ty_args=(R.Object,))
        return R.call_packed("vm.builtin.attention_kv_cache_view", d, ty_args=(R.Tensor(ndim=2, dtype="float32"),))

    @R.function(pure=False)
    def window(x: R.Tensor((1, 2), "float32"), y: R.Tensor((3, 2), "float32")):
        c = R.call_packed("vm.builtin.attention_kv_cache_create", x, R.shape([4, 2]), R.prim_value(1), ty_args=(R.Object,))
        d = R.call_packed("vm.builtin.attention_kv_cache_window_override_with_sinks", c, y, R.prim_value(4), R.prim_value(1), ty_args=(R.Object,))
        e = R.call_packed("vm.builtin.attention_kv_cache_window_override_with_sinks", d, x, R.prim_value(4), R.prim_value(1), ty_args=(R.Object,))
        return R.call_packed("vm.builtin.attention_kv_cache_view", e, ty_args=(R.Tensor(ndim=2, dtype="float32"),))

    @R.function(pure=False)
    def wrong(x: R.Tensor((1, 2), "float32"), y: R.Tensor((3, 2), "float32")):
        return R.call_packed("vm.builtin.attention_kv_cache_append", x, y, ty_args=(R.Object,))
"""


class Machine(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.model = self.file("model.tvms", MODEL.encode())
        self.executable, self.shared = self.path("model.vm"), self.path("model.so")

    def path(self, name):
        return os.path.join(self.place.name, name)

    def file(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content)
        return self.path(name)

    def good(self, *arguments):
        p = tvms(*arguments)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        return p.stdout.decode()

    def refused(self, code, *arguments, status=1):
        p = tvms(*arguments)
        self.assertEqual(p.returncode, status, p.stdout)
        self.assertIn(f"error[{code}]" if code else "tvms: ", p.stderr.decode())
        self.assertEqual(p.stdout, b"")
        return p.stderr.decode()

    def build(self):
        self.good("build", "--vm", "-O0", self.model, "-o", self.shared)
        return self.shared

    def test_bytes_say_what_the_text_says(self):
        for release, magic in (("0.22", 0xD225DE2F4214151D), ("0.25", 0xD225DE2F4214151E), ("0.27", 0xD225DE2F4214151E)):
            with self.subTest(release=release):
                text = self.good("dump", "--dialect", release, self.model)
                self.good("build", "--dialect", release, self.model, "-o", self.executable)
                with open(self.executable, "rb") as f:
                    self.assertEqual(struct.unpack("<Q", f.read(8))[0], magic)
                self.assertEqual(self.good("dump", self.executable), text)
                self.assertIn("@main:\n", text)

    def test_a_library_has_the_executable_inside(self):
        self.assertEqual(self.good("dump", self.build()), self.good("dump", self.model))

    def test_a_library_gives_what_the_program_gives(self):
        self.build()
        for arguments in (["--entry", "main"], ["--entry", "main", "--seed", "7"], ["--entry", "pick"], ["--entry", "pick", "--seed", "1"],
                          ["--entry", "half"]):
            with self.subTest(arguments=arguments):
                self.assertEqual(self.good("run", self.shared, *arguments), self.good("run", self.model, *arguments))

    def test_inputs(self):
        self.build()
        x = self.path("x.npy")
        npy.write(x, "<f4", (2, 4), [float(i) for i in range(8)])
        self.good("run", self.shared, "--in", f"x={x}", "--out", self.path("out"))
        self.assertEqual(npy.read(self.path("out/result.npy"))[1], (2, 3))
        self.refused("E0935", "run", self.shared, "--in", f"y={x}")
        self.refused("E0917", "run", self.shared, "--in", f"w={x}")
        self.refused("E0935", "run", self.shared, "--entry", "half", "--in", f"x={self.model}")
        self.refused("E0936", "run", self.shared, "--entry", "untyped")
        self.refused("E0933", "run", self.shared, "--entry", "other")
        self.refused("E0935", "run", self.shared, "--in", "x=/nonexistent/x.npy", status=2)

    def test_errors_say_where(self):
        self.build()
        x = self.path("x.npy")
        npy.write(x, "<f4", (2, 3), [0.0] * 6)
        said = self.refused("E0917", "run", self.shared, "--in", f"x={x}")
        self.assertIn("dimension 1 of 'x' is 3, but must be 4", said)
        self.assertRegex(said, "in the call of 'vm.builtin.match_shape', instruction [0-9]+ of 'main'")
        self.assertNotIn("|", said)  # a library has no lines
        npy.write(x, "<f8", (2, 4), [0.0] * 8)
        said = self.refused("E0935", "run", self.shared, "--in", f"x={x}")
        self.assertIn("its data type is float64, but that of the parameter is float32", said)
        model = self.file("errors.tvms", ERRORS.encode())
        self.good("build", "--vm", "-O0", model, "-o", self.shared)
        npy.write(x, "<i4", (4,), [0] * 4)
        said = self.refused("E0930", "run", self.shared, "--entry", "quotient", "--in", f"b={x}")
        self.assertRegex(said, "ZeroDivisionError: division by zero\n *= in the call of 'divide', instruction [0-9]+ of 'quotient'")
        npy.write(x, "<f4", (1000000,), [0.0] * 1000000)
        said = self.refused("E0922", "run", self.shared, "--entry", "large", "--in", f"a={x}")
        self.assertRegex(said, "a tensor uint8.4000000000000. cannot be made\n *= in the call of 'vm.builtin.alloc_storage'")
        self.assertIn("a tensor float32[1000000, 1000000] cannot be made", self.refused("E0922", "run", model, "--entry", "large", "--in", f"a={x}"))

    def test_an_executable_alone_has_no_kernels(self):
        self.good("build", self.model, "-o", self.executable)
        self.assertIn("'shape_func'", self.refused("E0964", "run", self.executable))

    def test_an_executable_runs_what_needs_no_kernel(self):
        model = self.file("shape.tvms", b"""
from tvm.script import relax as R, tirx as T
@R.function
def main(x: R.Tensor(("n", 3), "float32")):
    n = T.int64()
    return (x, R.shape([3, n]))
""")
        self.good("build", model, "-o", self.executable)
        self.assertEqual(self.good("run", self.executable), self.good("run", model))

    def test_functions_of_the_run_time_are_called(self):
        model = self.file("sort.tvms", SORT.encode())
        self.good("build", "--vm", model, "-o", self.shared)
        self.assertEqual(self.good("run", self.shared), self.good("run", model))

    def test_cache_of_attention(self):
        model = self.file("cache.tvms", CACHE.encode())
        self.good("build", model, "-o", self.executable)
        x, y = self.path("x.npy"), self.path("y.npy")
        npy.write(x, "<f4", (1, 2), [1.0, 2.0])
        npy.write(y, "<f4", (3, 2), [3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
        given = ["--in", f"x={x}", "--in", f"y={y}", "--out", self.path("out")]
        # Rows of x and y; without the last two; a window of four with one row that stays.
        for entry, rows in (("grow", [1, 2, 3, 4, 5, 6, 7, 8]), ("pop", [1, 2, 3, 4]), ("window", [1, 2, 1, 2, 5, 6, 7, 8])):
            with self.subTest(entry=entry):
                self.good("run", self.executable, "--entry", entry, *given)
                self.assertEqual([float(v) for v in npy.read(self.path("out/result.npy"))[2]], rows)
        self.refused("E0916", "run", self.executable, "--entry", "wrong", *given)

    def test_profile_and_trace(self):
        self.build()
        table = self.good("run", "--profile", "instructions", self.shared)
        self.assertIn("main:0  vm.builtin.alloc_shape_heap", table)
        self.assertIn("  matmul\n", table)
        trace = self.path("trace.json")
        self.good("run", "--profile", "trace", "-o", trace, "--entry", "pick", self.shared)
        with open(trace, encoding="utf-8") as f:
            events = json.load(f)["traceEvents"]
        self.assertTrue(all(e["ph"] == "X" and e["ts"] >= 0 and e["dur"] >= 0 for e in events))
        self.assertIn("vm.builtin.read_if_cond", {e["name"] for e in events})
        self.refused("", "run", "--profile", "instructions", self.model, status=2)
        self.refused("", "run", "--profile", "html", "-o", trace, self.shared, status=2)

    def test_broken_executables(self):
        self.good("build", self.model, "-o", self.executable)
        with open(self.executable, "rb") as f:
            content = f.read()
        for length in list(range(8, 200, 7)) + list(range(200, len(content), 97)):
            self.refused("E0962", "dump", self.file("cut.vm", content[:length]))
        self.good("build", source("corpus", "relax", "constants.tvms"), "-o", self.executable)
        with open(self.executable, "rb") as f:
            content = f.read()
        for what, old, new in (("version", b"0.14", b"0.99"), ("tensor", struct.pack("<Q", 0xDD5E40F096B4A13F), bytes(8))):
            with self.subTest(what=what):
                self.assertTrue(old in content)
                self.refused("E0962", "dump", self.file("broken.vm", content.replace(old, new, 1)))

    def test_broken_lines(self):
        self.good("build", self.model, "-o", self.executable)
        with open(self.executable, "rb") as f:
            content = f.read()
        begin = content.index(PLACES)
        self.refused("E0962", "dump", self.file("broken.vm", content[:begin + 30]))
        swapped = content[:begin + 16] + content[begin + 32:begin + 48] + content[begin + 16:begin + 32] + content[begin + 48:]
        self.refused("E0963", "dump", self.file("broken.vm", swapped))
        # TVM writes no lines, and what others put behind the code is not looked at.
        whole = self.good("dump", self.executable)
        for tail in (b"", b"others'", bytes(8) + b"others'"):
            self.assertEqual(self.good("dump", self.file("short.vm", content[:begin] + tail)), whole)

    def test_lines_and_callers(self):
        calls = "".join(f"""
    @R.function
    def f{i}(x: R.Tensor((4,), "int32"), y: R.Tensor(("m",), "int32")) -> R.Tensor((4,), "int32"):
        cls = Module
        m = T.int64()
        z = cls.{f"f{i - 1}" if i else "innermost"}(x, y)
        return z
""" for i in range(8))
        text = ERRORS + """
    @R.function
    def innermost(x: R.Tensor((4,), "int32"), y: R.Tensor(("m",), "int32")) -> R.Tensor((4,), "int32"):
        cls = Module
        m = T.int64()
        c = R.call_tir(cls.divide, (x, x), out_ty=R.Tensor((4,), "int32"))
        d = R.concat((c, y), axis=0)
        e = R.match_cast(d, R.Tensor((8,), "int32"))
        f = R.strided_slice(e, axes=[0], begin=[0], end=[4])
        return f
""" + calls
        model, x, y = self.file("callers.tvms", text.encode()), self.path("x.npy"), self.path("y.npy")
        self.good("build", "--vm", "-O0", model, "-o", self.shared)
        line = {name: text[:text.index(what)].count("\n") + 1 for name, what in (("divide", "c = R.call_tir(cls.divide, (x"), ("cast", "e = R.match"), ("f0", "z = cls.innermost"), ("f1", "z = cls.f0"))}
        npy.write(x, "<i4", (4,), [0] * 4)
        npy.write(y, "<i4", (3,), [0] * 3)
        said = self.refused("E0930", "run", self.shared, "--entry", "f1", "--in", f"x={x}", "--in", f"y={y}")
        self.assertRegex(said, rf"in the call of 'divide', instruction [0-9]+ of 'innermost' \(line {line['divide']}\), called by 'f0' \(line {line['f0']}\), called by 'f1' \(line {line['f1']}\)\n")
        npy.write(x, "<i4", (4,), [1] * 4)
        said = self.refused("E0917", "run", self.shared, "--entry", "f7", "--in", f"x={x}", "--in", f"y={y}")
        self.assertIn("dimension 0 of 'e' is 7, but must be 8", said)
        self.assertRegex(said, rf"in the call of 'vm.builtin.match_shape', instruction [0-9]+ of 'innermost' \(line {line['cast']}\), called by 'f0' .*, called by 'f5' \(line [0-9]+\), and so on\n")

    def test_broken_code(self):
        self.good("build", self.model, "-o", self.executable)
        with open(self.executable, "rb") as f:
            content = f.read()
        end = content.index(PLACES) - 8  # a register that is returned
        for value in (1 << 40, -1, (1 << 63) - 1):
            broken = content[:end] + struct.pack("<q", value) + content[end + 8:]
            self.refused("E0963", "dump", self.file("broken.vm", broken))
            self.refused("E0963", "run", self.path("broken.vm"))

    def test_libraries_without_an_executable(self):
        self.good("build", source("corpus", "mlp_module.tvms"), "-o", self.shared, "--primfuncs-only")
        self.refused("E0962", "dump", self.shared)
        self.refused("E0962", "run", self.shared)

    def test_what_has_no_code(self):
        self.refused("E0961", "dump", source("corpus", "native", "arguments.tvms"))
        self.refused("E0961", "build", source("corpus", "native", "arguments.tvms"), "-o", self.executable)
        model = self.file("foreign.tvms", b"""
from tvm.script import relax as R
@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.wrap_param(x)
""")
        self.refused("E0960", "dump", model)
        model = self.file("rank.tvms", b"""
from tvm.script import relax as R
@R.function
def main(x: R.Tensor((4,), "float32"), y: R.Tensor(dtype="float32")):
    return R.add(x, y)
""")
        p = tvms("build", "--vm", model, "-o", self.path("rank.so"))
        self.assertIn(":5:12: error[E0960]: the virtual machine has no code for operator 'relax.add': the rank of argument 2 is not known", p.stderr.decode())

    def test_usage(self):
        self.refused("", "build", "--vm", self.model, "-o", self.path("x.c"), status=2)
        self.refused("", "dump", status=2)
        self.refused("", "dump", self.path("missing.vm"), status=2)


if __name__ == "__main__":
    main()
