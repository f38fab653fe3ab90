#!/usr/bin/env python3
"""What the documents that TVMScript's calls, Relax and unboxed values go back to ask for, as programs of our own: run, native and as C sees it."""
import os, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import npy
from cases import main, tvms

HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n@I.ir_module\nclass Module:\n"
STEPS = """    @T.prim_func(private=True, s_tir=True)
    def halve(A: T.Buffer((6, 8), "float32"), B: T.Buffer((6, 8), "float32")):
        for i, j in T.grid(6, 8):
            with T.sblock("halve"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(0.5)

    @T.prim_func(private=True, s_tir=True)
    def clamp(A: T.Buffer((6, 8), "float32"), B: T.Buffer((6, 8), "float32")):
        for i, j in T.grid(6, 8):
            with T.sblock("clamp"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.min(A[vi, vj], T.float32(0.25))

"""
# Each step a call of its own, with memory that is said; the same by call_tir; both steps by one function that calls them directly.
PACKED = HEAD + STEPS + """    @R.function
    def main(x: R.Tensor((6, 8), "float32")) -> R.Tensor((6, 8), "float32"):
        R.func_attr({"relax.force_pure": True})
        first: R.Tensor((6, 8), "float32") = R.builtin.alloc_tensor(R.shape([6, 8]), R.dtype("float32"), R.prim_value(0), R.str("global"))
        second: R.Tensor((6, 8), "float32") = R.builtin.alloc_tensor(R.shape([6, 8]), R.dtype("float32"), R.prim_value(0), R.str("global"))
        _: R.Tuple = Module.halve(x, first)
        _1: R.Tuple = Module.clamp(first, second)
        return second
"""
CALLS = HEAD + STEPS + """    @R.function
    def main(x: R.Tensor((6, 8), "float32")) -> R.Tensor((6, 8), "float32"):
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.halve, (x,), out_ty=R.Tensor((6, 8), "float32"))
            z = R.call_tir(cls.clamp, (y,), out_ty=R.Tensor((6, 8), "float32"))
            R.output(z)
        return z
"""
DIRECT = HEAD + """    @T.prim_func(private=True, s_tir=True)
    def halve(a: T.handle("float32"), b: T.handle("float32")):
        A = T.decl_buffer((6, 8), "float32", data=a)
        B = T.decl_buffer((6, 8), "float32", data=b)
        for i, j in T.grid(6, 8):
            B[i, j] = A[i, j] * T.float32(0.5)

    @T.prim_func(private=True, s_tir=True)
    def clamp(a: T.handle("float32"), b: T.handle("float32")):
        A = T.decl_buffer((6, 8), "float32", data=a)
        B = T.decl_buffer((6, 8), "float32", data=b)
        for i, j in T.grid(6, 8):
            B[i, j] = T.min(A[i, j], T.float32(0.25))

    @T.prim_func(s_tir=True)
    def main(x: T.Buffer((6, 8), "float32"), z: T.Buffer((6, 8), "float32")):
        y = T.alloc_buffer((6, 8), "float32")
        Module.halve(x.data, y.data)
        Module.clamp(y.data, z.data)
"""
# One operator is lowered by hand, the others stay what they are.
MIXED = HEAD + """    @T.prim_func(private=True, s_tir=True)
    def double(a: T.handle, b: T.handle):
        n = T.int64()
        A = T.match_buffer(a, (n, T.int64(4)))
        B = T.match_buffer(b, (n, T.int64(4)))
        for i, j in T.grid(n, T.int64(4)):
            with T.sblock("double"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + A[vi, vj]

    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), w: R.Tensor((4, 3), "float32")) -> R.Tensor(("n * 3",), "float32"):
        n = T.int64()
        cls = Module
        with R.dataflow():
            y = R.call_tir(cls.double, (x,), out_ty=R.Tensor((n, 4), "float32"))
            z = R.matmul(y, w)
            f = R.flatten(R.nn.relu(z))
            R.output(f)
        return f
"""
VALUES = HEAD + """    @R.function
    def main(i: T.int64, x: T.float64, b: T.bool, s: R.Shape(["n", "m"]), t: R.Tensor(("n",), "float32")):
        n = T.int64()
        m = T.int64()
        inner = (i, x, (b, s))
        outer = (inner, t, R.shape([m, n, n + m]))
        first = outer[0]
        return (first[1], first[0], first[2], outer[2], outer[1])
"""
STATES = ["", "LegalizeOps", "LegalizeOps,ToNonDataflow,RemovePurityChecking", "LegalizeOps,ToNonDataflow,RemovePurityChecking,CallTIRRewrite",
          "LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR", "default_build"]


class Founding(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.place.cleanup()

    def path(self, name, text=None):
        path = os.path.join(self.place.name, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        return path

    def good(self, *arguments, **more):
        p = tvms(*arguments, **more)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        return p.stdout.decode()

    def result(self, path, *arguments):
        """The line that says what the last result is, without its name."""
        return self.good("run", "--seed", "3", path, *arguments).strip().splitlines()[-1].partition(":")[2]

    def test_calls_in_three_forms(self):
        """Packed calls, call_tir and direct calls compute the same, interpreted and native; the passes lead from one to the other."""
        paths = [self.path(f"{i}.tvms", text) for i, text in enumerate((PACKED, CALLS, DIRECT))]
        wanted = self.result(paths[0])
        for path in paths:
            self.assertEqual(tvms("check", path).returncode, 0)
            for backend in ("interp", "llvm"):
                self.assertEqual(self.result(path, "--backend", backend), wanted)
        unpacked = self.path("unpacked.tvms", self.good("opt", "--passes", "call-packed,FuseAndUnpackContinuousTIRCalls", paths[1]))
        self.assertEqual(self.result(unpacked), wanted)

    def test_private_functions_have_no_symbol(self):
        library = self.path("direct.so")
        self.good("build", self.path("direct.tvms", DIRECT), "-o", library)
        symbols = subprocess.run(["nm", "--dynamic", "--defined-only", library], stdout=subprocess.PIPE, check=True).stdout.decode()
        self.assertIn("__tvm_ffi_main", symbols)
        self.assertNotIn("halve", symbols)

    def test_two_tensors_in_one_storage(self):
        text = PACKED.replace("first: R.Tensor((6, 8), \"float32\") = R.builtin.alloc_tensor(R.shape([6, 8]), R.dtype(\"float32\"), R.prim_value(0), R.str(\"global\"))",
                              "s = R.memory.alloc_storage(R.shape([192]), R.prim_value(0), R.str(\"global\"), R.dtype(\"uint8\"))\n"
                              "        spare = R.memory.alloc_storage(R.shape([192]), R.prim_value(0), R.str(\"global\"), R.dtype(\"uint8\"))\n"
                              "        first: R.Tensor((6, 8), \"float32\") = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([6, 8]), R.dtype(\"float32\"))")
        text = text.replace("second: R.Tensor((6, 8), \"float32\") = R.builtin.alloc_tensor(R.shape([6, 8]), R.dtype(\"float32\"), R.prim_value(0), R.str(\"global\"))",
                            "second: R.Tensor((6, 8), \"float32\") = R.memory.alloc_tensor(s, R.prim_value(0), R.shape([6, 8]), R.dtype(\"float32\"))")
        said = tvms("check", self.path("aliased.tvms", text)).stderr.decode()
        self.assertIn("'second' overwrites 'first', which is still in use", said)
        self.assertIn("'spare' is bound and never used", said)

    def test_each_state_of_lowering_runs(self):
        """Operators disappear step by step, one of them by hand; every state prints, checks and gives the same in both back ends."""
        path = self.path("mixed.tvms", MIXED)
        for rows in (1, 5):
            x, w = self.path("x.npy"), self.path("w.npy")
            npy.write(x, "<f4", (rows, 4), [float(i % 7 - 3) for i in range(4 * rows)])
            npy.write(w, "<f4", (4, 3), [float(i % 5 - 2) for i in range(12)])
            given, results = ["--in", f"x={x}", "--in", f"w={w}"], set()
            for i, passes in enumerate(STATES):
                state = self.path(f"state{i}.tvms", self.good("opt", "--passes", passes, path)) if passes else path
                self.good("check", state)
                self.assertEqual(self.good("print", state), self.good("print", "-", stdin=self.good("print", state)))
                for backend in ("interp", "llvm"):
                    results.add(self.good("run", "--backend", backend, state, *given))
            self.assertEqual(len(results), 1, results)

    def test_a_size_that_does_not_hold(self):
        x = self.path("x.npy")
        npy.write(x, "<f4", (2, 5), [0.0] * 10)
        p = tvms("run", self.path("mixed.tvms", MIXED), "--in", f"x={x}")
        self.assertIn("dimension 1 of 'x' is 5, but must be 4", p.stderr.decode())

    def test_values_keep_their_kind(self):
        """Numbers, bools and shapes go through tuples as what they are; all of them can be said on the command line."""
        given = [word for said in ("i=7", "x=2.5", "b=True", "s=(3, 4)") for word in ("--in", said)]
        said = self.good("run", self.path("values.tvms", VALUES), *given).splitlines()
        self.assertEqual([line.partition(": ")[2] for line in said[:-1]], ["2.5", "7", "True", "(3, 4)", "(4, 3, 7)"])

    def test_chains_have_no_calls_between(self):
        """add_one and subtract_one in turns: one native function, which allocates nothing but its result."""
        text = HEAD + """    @R.function
    def add_one(x: R.Tensor((), "int32")) -> R.Tensor((), "int32"):
        return R.add(x, R.const(1, "int32"))

    @R.function
    def subtract_one(x: R.Tensor((), "int32")) -> R.Tensor((), "int32"):
        return R.subtract(x, R.const(1, "int32"))

    @R.function
    def main(x: R.Tensor((), "int32")) -> R.Tensor((), "int32"):
        cls = Module
""" + "".join(f"        y{i}: R.Tensor((), \"int32\") = cls.{'subtract_one' if i % 2 else 'add_one'}({f'y{i - 1}' if i else 'x'})\n" for i in range(100)) + "        return y99\n"
        path, library = self.path("chain.tvms", text), self.path("chain.o")
        self.good("build", "--emit-headers", path, "-o", library)
        with open(self.path("serve.c"), "w", encoding="utf-8") as f:
            f.write("#include \"chain.h\"\n#include <stdio.h>\nint main(void) {\n  int32_t x = 5, y = 0;\n  chain_main_inputs in = {.x = &x};\n"
                    "  chain_main_results out = {.result = &y};\n  _Alignas(64) static char workspace[65536];\n"
                    "  if (chain_main_workspace(&in) > 65536 || chain_main(&in, &out, workspace)) return 1;\n  printf(\"%d\\n\", y);\n}\n")
        subprocess.run(["cc", "-std=c11", "-I", self.place.name, self.path("serve.c"), library, "-o", self.path("serve"), "-lm"], check=True)
        self.assertEqual(subprocess.run([self.path("serve")], stdout=subprocess.PIPE, check=True).stdout, b"5\n")

    def test_calls_are_counted(self):
        said = self.good("bench", "--profile", "functions", "--repeat", "1", self.path("calls.tvms", CALLS))
        for name in ("halve", "clamp", "main"):
            self.assertRegex(said, rf"\b{name}\b")


if __name__ == "__main__":
    main()
