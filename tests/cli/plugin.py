#!/usr/bin/env python3
"""Functions of plug-ins (run --plugin): reached from interpreted code, native code and the virtual machine; and functions of the module that are called by name."""
import ctypes, os, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import main, source, tvms
from library import Any, Tensor

HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
SAID = ["-1.79275, 1.85116, 0.859942, 1.96866", "7", "2, 7", "2, 7", "0.304833, 2.73411, 2.07329, 2.81244"]
BAD = """
#include <tvms/plugin.h>
static int fails(void *self, const tvms_any *args, int32_t count, tvms_any *result) {
  (void)self, (void)args, (void)count, (void)result;
  return -1;
}
static int odd(void *self, const tvms_any *args, int32_t count, tvms_any *result) {
  (void)self, (void)args, (void)count;
  result->type_index = TVMS_ANY_POINTER;
  return 0;
}
int tvms_plugin_open(tvms_plugin *plugin) {
  if (plugin->version != TVMS_PLUGIN_VERSION) return -1;
  plugin->define(plugin, "my.fails", fails, 0);
  plugin->define(plugin, "my.odd", odd, 0);
  plugin->define(plugin, "my.odd", fails, 0);
  plugin->define(plugin, "my.odd", odd, 0);
#ifdef REFUSES
  plugin->raise(plugin, "ValueError", "not today");
  return -1;
#endif
  return 0;
}
"""
# As tvm-ffi: global functions by their names, and errors that begin with a kind and a text.
FFI = """
#include <tvms/plugin.h>
#include <string.h>
typedef struct { const char *data; size_t size; } bytes;
static struct { tvms_any_object head; bytes kind, text; } error = {{1, 67, 0, 0}, {"IndexError", 10}, {"too large", 9}};
int TVMFFIFunctionGetGlobal(const bytes *name, void **function) {
  *function = name->size == 8 && !memcmp(name->data, "their.up", 8) ? &error : 0;
  return 0;
}
int TVMFFIFunctionCall(void *function, const tvms_any *args, int32_t count, tvms_any *result) {
  (void)function, (void)count;
  if (args[0].v.i > 9) return -1;
  *result = args[0];
  result->v.i++;
  return 0;
}
void TVMFFIErrorMoveFromRaised(void **raised) { *raised = &error; }
"""


class Plugins(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.place.cleanup)
        cls.plugin = cls.compile("plugin", source("tests", "files", "plugin.c"))

    @classmethod
    def path(cls, name):
        return os.path.join(cls.place.name, name)

    @classmethod
    def compile(cls, name, text, *options):
        if not os.path.exists(text):
            with open(cls.path(name + ".c"), "w", encoding="utf-8") as f:
                f.write(text)
            text = cls.path(name + ".c")
        library = cls.path(name + ".so")
        subprocess.run(["cc", "-shared", "-fPIC", "-Wall", "-Werror", *options, f"-I{source('include')}", text, "-o", library], check=True)
        return library

    def said(self, *arguments, stdin=""):
        p = tvms("run", *arguments, stdin=stdin)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        return p.stdout.decode()

    def refused(self, text, *arguments, stdin=""):
        p = tvms("run", *arguments, stdin=stdin)
        self.assertNotEqual(p.returncode, 0, p.stdout)
        self.assertIn(text, p.stderr.decode())

    def test_interpreter_and_native_code_reach_them(self):
        program = source("tests", "files", "plugin.tvms")
        for arguments in ([program], [program, "--backend", "llvm"]):
            lines = self.said(*arguments, "--plugin", self.plugin, "--in", "k=2").splitlines()
            self.assertEqual(len(lines), len(SAID))
            for line, values in zip(lines, SAID):
                self.assertTrue(line.endswith(values) or line.endswith(f"[{values}]"), line)
        self.refused("E0913", program)

    def test_the_virtual_machine_reaches_them(self):
        text = HEAD + """    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32"), s: R.Shape([2, 7])):
        y = R.call_dps_packed("my.scale", (x, R.prim_value(3)), R.Tensor((4,), "float32"))
        u = R.call_pure_packed("my.sizes", (y, s), ty_args=(R.Tensor((2,), "float32"),))
        return (y, u)
"""
        machine = self.path("relax.vm")
        p = tvms("build", "-", "--dialect", "0.27", "-o", machine, stdin=text)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        self.assertEqual(self.said(machine, "--plugin", self.plugin), self.said("-", "--plugin", self.plugin, stdin=text))
        self.refused("E0964", machine)

    def test_kernels_of_a_library_reach_them(self):
        text = HEAD + """    @T.prim_func(s_tir=True)
    def kernel(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,))
        B = T.match_buffer(b, (n,))
        T.call_packed("my.scale", A, T.float64(2), B)
        for i in range(n):
            with T.sblock("more"):
                vi = T.axis.spatial(n, i)
                B[vi] = B[vi] + T.Cast("float32", T.call_packed("my.add", T.int32(1), T.Cast("int32", vi)))

    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        y = R.call_tir(cls.kernel, (x,), R.Tensor((4,), "float32"))
        return y
"""
        wanted = self.said("-", "--plugin", self.plugin, stdin=text)
        self.assertIn("[-0.195167, 3.23411, 3.57329, 5.31244]", wanted)
        for options in ([], ["-O0"]):
            library = self.path("kernels.so")
            p = tvms("build", "--vm", *options, "-", "-o", library, stdin=text)
            self.assertEqual(p.returncode, 0, p.stderr.decode())
            self.assertEqual(self.said(library, "--plugin", self.plugin), wanted)
            self.refused("ValueError: there is no packed function 'my.scale'", library)
        fails = self.compile("bad", BAD)
        p = tvms("build", "--vm", "-", "-o", library, stdin=text.replace("my.scale", "my.fails"))
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        self.refused("RuntimeError: it failed", library, "--plugin", fails)

    def test_a_tuple_comes_back(self):
        text = HEAD + """    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32")):
        n, m = T.int64(), T.int64()
        t = R.call_packed("my.same", ((x, x), R.shape([n, 7])), ty_args=(R.Tuple(R.Tuple(R.Tensor((n,), "float32"), R.Tensor((n,), "float32")), R.Shape(ndim=2)),))
        u = t[0]
        y = R.add(u[1], u[0])
        s = R.match_cast(t[1], R.Shape([n, m]))
        return (y, R.shape([m, n]))
"""
        wanted = self.said("-", "--plugin", self.plugin, stdin=text)
        self.assertIn("result.1: (7, 16)", wanted)
        self.assertEqual(self.said("-", "--backend", "llvm", "--plugin", self.plugin, stdin=text), wanted)
        # Each state of what becomes native code is a program, too.
        for passes in ("LegalizeOps", "default_build"):
            state = tvms("opt", "--passes", passes, "-", stdin=text).stdout.decode()
            self.assertEqual(self.said("-", "--entry", "main", "--plugin", self.plugin, stdin=state), wanted)
        state = tvms("opt", "--passes", "host", "-", stdin=text).stdout.decode()
        said = self.said("-", "--entry", "main", "--plugin", self.plugin, stdin=state)
        self.assertEqual(said.splitlines()[0], wanted.splitlines()[0])
        self.assertTrue(said.splitlines()[1].endswith("[7, 16]"), said)

    def test_errors(self):
        bad = self.compile("bad", BAD)
        call = HEAD + '    @R.function(pure=False)\n    def main(k: R.Prim("int64")):\n        y = R.call_packed("NAME", k, ty_args=(R.Prim("int64"),))\n        return y\n'
        self.refused("error[E0930]: RuntimeError: it failed", "-", "--plugin", bad, stdin=call.replace("NAME", "my.fails"))
        self.refused("what it returns is not a value of Relax", "-", "--plugin", bad, stdin=call.replace("NAME", "my.odd"))
        self.refused("error[E0930]: TypeError: my.scale takes two tensors and a number", "-", "--plugin", self.plugin, stdin=call.replace("NAME", "my.scale"))
        self.refused("error[E0913]", "-", "--plugin", bad, stdin=call.replace("NAME", "my.none"))
        self.refused("ValueError: not today", "-", "--plugin", self.compile("refuses", BAD, "-DREFUSES"), stdin=call)
        self.refused("error[E0913]", "-", "--plugin", self.compile("empty", "int nothing;\n"), stdin=call)
        self.refused("cannot be used", "-", "--plugin", self.path("none.so"), stdin=call)
        kernel = HEAD + '    @T.prim_func(s_tir=True)\n    def main(A: T.Buffer((2,), "float32")):\n        T.evaluate(T.call_packed("my.fails", A.data))\n        A[0] = T.float32(1)\n'
        for backend in ("interp", "llvm"):
            self.refused("error[E0930]: RuntimeError: it failed", "-", "--backend", backend, "--plugin", bad, stdin=kernel)

    def test_global_functions_of_tvm_ffi(self):
        ffi = self.compile("ffi", FFI)
        text = HEAD + '    @R.function(pure=False)\n    def main(k: R.Prim("int64")):\n        y = R.call_packed("their.up", k, ty_args=(R.Prim("int64"),))\n        return y\n'
        self.assertEqual(self.said("-", "--plugin", ffi, "--in", "k=4", stdin=text), "result: 5\n")
        self.refused("error[E0930]: IndexError: too large", "-", "--plugin", ffi, "--in", "k=40", stdin=text)
        self.refused("error[E0913]", "-", "--plugin", ffi, stdin=text.replace("their.up", "their.no"))

    def test_passes_are_compared_where_they_are_called(self):
        text = HEAD + """    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        with R.dataflow():
            y = R.exp(x)
            R.output(y)
        z = R.call_dps_packed("my.scale", (y, R.prim_value(3)), R.Tensor((4,), "float32"))
        return z
"""
        with open(self.path("called.tvms"), "w", encoding="utf-8") as f:
            f.write(text)
        with open(self.path("other.tvms"), "w", encoding="utf-8") as f:
            f.write(text.replace("R.exp", "R.tanh"))
        passes = ["opt", "--passes", "zero", "--check-semantics"]
        for where in (self.path("called.tvms"), "-"):
            p = tvms(*passes, where, stdin=text)
            self.assertIn("N0893]: 'main' is not compared: there is no function 'my.scale' to call", p.stderr.decode())
            p = tvms(*passes, "--plugin", self.plugin, where, stdin=text)
            self.assertEqual((p.returncode, p.stderr.decode()), (0, ""))
        p = tvms("diff", "--values", "--plugin", self.plugin, self.path("called.tvms"), self.path("called.tvms"))
        self.assertEqual((p.returncode, p.stderr.decode()), (0, ""))
        p = tvms("diff", "--values", "--plugin", self.plugin, self.path("called.tvms"), self.path("other.tvms"))
        self.assertEqual(p.returncode, 1)
        self.assertIn("E0891", p.stderr.decode())
        p = tvms(*passes, "--plugin", self.path("none.so"), "-", stdin=text)
        self.assertEqual(p.returncode, 2)
        self.assertIn("cannot be used", p.stderr.decode())

    def test_functions_of_the_module_by_name(self):
        text = HEAD + """    @T.prim_func(s_tir=True)
    def more(a: T.handle, f: T.float32, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n,))
        B = T.match_buffer(b, (n,))
        for i in range(n):
            with T.sblock("more"):
                vi = T.axis.spatial(n, i)
                B[vi] = A[vi] + f

    @T.prim_func(private=True)
    def twice(x: T.float32) -> T.float32:
        return x * T.float32(2)

    @T.prim_func
    def main(A: T.Buffer((3,), "float32"), B: T.Buffer((3,), "float32"), C: T.Buffer((3,), "float32")):
        T.evaluate(T.call_packed("more", A, T.float32(1), B))
        T.evaluate(T.call_cpacked("more", B, T.float32(1), C))
        C[0] = T.call_extern("float32", "twice", C[0])
"""
        wanted = self.said("-", stdin=text)
        self.assertIn("result.1: float32[3]", wanted)
        self.assertEqual(self.said("-", "--backend", "llvm", stdin=text), wanted)
        # In a library nobody is asked for them, and those that are private have no name outside.
        p = tvms("build", "-", "-o", self.path("own.so"), stdin=text.replace("def more", "def less").replace('"more"', '"less"').replace("s_tir=True", "private=True, s_tir=True", 1))
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        three = [ctypes.c_float * 3 for _ in range(3)]
        a, b, c = three[0](1, 2, 3), three[1](), three[2]()
        shape = (ctypes.c_int64 * 1)(3)
        tensors = [Tensor(ctypes.addressof(data), (1, 0), 1, 2, 32, 1, shape, None, 0) for data in (a, b, c)]
        args = (Any * 3)(*[Any(7, 0, ctypes.addressof(tensor)) for tensor in tensors])
        library = ctypes.CDLL(self.path("own.so"))
        self.assertEqual(library["__tvm_ffi_main"](None, args, 3, ctypes.byref(Any())), 0)
        self.assertEqual((list(b), list(c)), ([2, 3, 4], [6, 4, 5]))
        self.assertFalse(hasattr(library, "__tvm_ffi_less"))


if __name__ == "__main__":
    main()
