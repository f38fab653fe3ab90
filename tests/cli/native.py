#!/usr/bin/env python3
"""The verbs run, build and bench: inputs, outputs, and what happens when something is missing."""
import ctypes, math, os, platform, re, shutil, struct, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import npy
from cases import TVMS, main, source, tvms
from library_calls import call

PROGRAM = """
from tvm.script import tirx as T

@T.prim_func
def scale(a: T.handle, b: T.handle, factor: T.float32):
    n = T.int64()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        B[i] = A[i] * factor
"""
# 'first' has three operators that are not lowered (two have no description, one an unknown shape), and calls that
# need no PrimFunc.
MODEL = """
from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def first(x: R.Tensor((2, 8, 4, 16), "float32"), y: R.Tensor(ndim=2, dtype="float32")):
        a1 = R.wrap_param(x)
        a2 = R.memory.view(a1)
        u = R.nn.relu(y)
        s = R.shape_of(x)
        b = R.call_dps_packed("elsewhere", (x,), out_ty=R.Tensor((2, 8, 4, 16), "float32"))
        c = R.nn.relu(b)
        return (a2, c, u, s)

    @R.function
    def second(x: R.Tensor((4,), "float32")):
        return R.add(x, x)
"""
MLP = source("corpus", "mlp_module.tvms")


def places_of(process):
    """(line, column, code) of each finding."""
    found = re.findall(r"^[^:\n]+:(\d+):(\d+): \w+\[(\w+)\]", process.stderr.decode(), re.M)
    return [(int(line), int(column), code) for line, column, code in found]


def function_texts(module):
    """(name, head, body) of each function of LLVM's text, without numbers of attributes and of texts."""
    for head, name, body in re.findall(r"^(define [^\n]*?@([\w.]+)\([^\n]*)\n(.*?)^}$", module, re.M | re.S):
        yield name, re.sub(r" #\d+", "", head), re.sub(r"@text[.\d]*| #\d+|!\d+", "", body)


class Native(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.program = self.file("scale.tvms")
        with open(self.program, "w", encoding="utf-8") as f:
            f.write(PROGRAM)

    def file(self, name):
        return os.path.join(self.place.name, name)

    def ended(self, process, status, *texts):
        said = process.stderr.decode()
        self.assertEqual(process.returncode, status, said)
        for text in texts:
            self.assertIn(text, said)

    def test_inputs_and_results_are_files(self):
        npy.write(self.file("a.npy"), "<f4", (3,), [1.0, -2.0, 0.5])
        npy.write(self.file("f.npy"), "<f4", (), [4.0])
        for backend in ("interp", "llvm"):
            out = self.file(backend)
            p = tvms("run", self.program, "--in", f"A={self.file('a.npy')}", "--in", f"factor={self.file('f.npy')}",
                     "--backend", backend, "--out", out)
            self.ended(p, 0)
            self.assertEqual(p.stdout, b"result: float32[3]  min -8  max 4  mean -0.666667  [4, -8, 2]\n")
            self.assertEqual(npy.read(os.path.join(out, "result.npy")), ("<f4", (3,), [4.0, -8.0, 2.0]))

    def test_a_bad_input_is_refused(self):
        npy.write(self.file("wide.npy"), "<f8", (3,), [1.0, 2.0, 3.0])
        with open(self.file("text.npy"), "w", encoding="utf-8") as f:
            f.write("this is not an array")
        for name, why in (("wide", "its data type is float64, but that of the parameter is float32"), ("text", "not a .npy file")):
            with self.subTest(name=name):
                p = tvms("run", self.program, "--in", f"A={self.file(name + '.npy')}")
                self.ended(p, 1, "error[E0935]: input 'A'", why)
        p = tvms("run", self.program, "--in", "A=" + self.file("nowhere.npy"))
        self.ended(p, 2, "No such file")
        for verb in ("run", "bench"):
            self.ended(tvms(verb, self.program, "--in", "A"), 2, "option '--in' takes NAME=FILE.npy, not 'A'")
        p = tvms("run", self.program, "--in", "a=3")
        self.ended(p, 1, "error[E0934]", "it takes A")

    def test_sizes_that_do_not_agree_name_both(self):
        for name, size in (("a", 3), ("b", 4)):
            npy.write(self.file(name + ".npy"), "<f4", (size,), [1.0] * size)
        given = ["--in", f"A={self.file('a.npy')}", "--in", f"B={self.file('b.npy')}"]
        self.ended(tvms("run", self.program, *given), 1, "error[E0917]", "dimension 0 of 'B' is 4, but must be 3")
        p = tvms("run", self.program, *given, "--backend", "llvm")
        self.ended(p, 1, "error[E0930]: ValueError: Mismatched B.shape[0]", "the value is 4, the limit 3")

    def test_what_cannot_be_made_up_must_be_given(self):
        program = "from tvm.script import relax as R\n\n@R.function\ndef main(x: R.Object):\n    return x\n"
        self.ended(tvms("run", "-", "--from", "0.22", stdin=program), 1, "error[E0936]: parameter 'x'")

    def test_loops_of_prim_funcs_are_explained(self):
        text = """from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def main(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, 16))
    B = T.match_buffer(b, (n, 16))
    for i, j in T.grid(n, 16):
        with T.sblock("twice"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] + A[vi, vj]
"""
        for level, codes in (("-O0", []), ("-O1", [(8, 5, "N0898")]), ("-O2", [(8, 5, "N0898")])):
            with self.subTest(level=level):
                p = tvms("build", "--explain", level, "-", "-o", self.file("twice.o"), stdin=text)
                self.ended(p, 0)
                self.assertEqual(places_of(p), codes)

    def test_every_form_is_written(self):
        marks = {".o": b"\x7fELF", ".so": b"\x7fELF", ".s": b"__tvm_ffi_scale", ".ll": b"define"}
        for suffix, mark in marks.items():
            with self.subTest(suffix=suffix):
                output = self.file("scale" + suffix)
                self.ended(tvms("build", self.program, "-o", output), 0)
                with open(output, "rb") as f:
                    self.assertIn(mark, f.read())
        left = [name for name in os.listdir(self.place.name) if not name.startswith("scale.")]
        self.assertEqual(left, [])

    def lines_of(self, library):
        """Lines of the program that a library has code of, as binutils reads them."""
        said = subprocess.run(["objdump", "--dwarf=decodedline", library], check=True, capture_output=True, text=True).stdout
        return {int(line) for line in re.findall(r"^scale\.tvms +(\d+) +0x", said, re.M)}

    def test_code_has_the_lines_of_the_program(self):
        # Line 4 of PROGRAM begins the function, 9 is its loop, 10 the store.
        library = self.file("scale.so")
        self.assertEqual(tvms("build", "-g", "scale.tvms", "-o", library, cwd=self.place.name).returncode, 0)
        self.assertLessEqual({4, 9, 10}, self.lines_of(library))
        self.assertEqual(tvms("build", "scale.tvms", "-o", library, cwd=self.place.name).returncode, 0)
        self.assertEqual(self.lines_of(library), set())
        text = self.file("scale.c")
        self.assertEqual(tvms("build", "-g", "scale.tvms", "-o", text, cwd=self.place.name).returncode, 0)
        with open(text, encoding="utf-8") as f:
            marked = re.findall(r'^#line (\d+) "([^"]*)"\n(.*)$', f.read(), re.M)
        self.assertTrue(any(line == "9" and file == "scale.tvms" and "for (" in what for line, file, what in marked))
        self.assertTrue(any(line == "10" and "* p2" in what for line, file, what in marked))

    def test_vectors_of_halves_are_compared_as_floats(self):
        """x86 compares no vectors of halves: LLVM would take them lane by lane, in twenty times the time."""
        program = """from tvm.script import tirx as T

@T.prim_func
def main(A: T.Buffer((64,), "float16"), B: T.Buffer((64,), "float16"), C: T.Buffer((64,), "bool")):
    for i in range(64):
        B[i] = T.max(A[i], T.float16(0))
    for i in range(64):
        C[i] = A[i] < T.float16(0.5)
"""
        self.ended(tvms("build", "-", "--target", "x86_64-linux-gnu,skylake-avx512", "-o", self.file("x.ll"), stdin=program), 0)
        with open(self.file("x.ll"), encoding="utf-8") as f:
            text = f.read()
        self.assertRegex(text, r"fcmp \w+ <\d+ x float>")
        self.assertNotRegex(text, r"fcmp \w+ <\d+ x half>")

    def test_lanes_that_are_known_to_lie_near_are_loaded_together(self):
        """What repeats, goes backwards, goes round or follows a formula is picked from whole vectors."""
        program = """from tvm.script import tirx as T

@T.prim_func
def main(X: T.Buffer((64,), "float32"), Y: T.Buffer((5, 32), "float32")):
    for j in range(2):
        for i in T.vectorized(16):
            Y[0, j * 16 + i] = X[j * 8 + i // 2]
        for i in T.vectorized(16):
            Y[1, j * 16 + i] = X[63 - (j * 16 + i)]
        for i in T.vectorized(16):
            Y[2, j * 16 + i] = X[i % 5 + 3 + j]
        for i in T.vectorized(16):
            Y[3, j * 16 + i] = X[T.max(T.min(T.Cast("int32", T.floor((T.Cast("float32", i) + T.float32(0.5)) * T.float32(1.7) - T.float32(0.5))), 20), 1)]
        for i in T.vectorized(16):
            Y[4, j * 16 + i] = X[T.truncmod(i - 8, 3) - T.truncdiv(i - 8, 3) + T.Cast("int32", T.ceil(T.Cast("float32", i) / T.float32(2))) - (i - 8) // 3 - (i - 8) % 3 + 5]
"""
        for backend in (("interp",), ("llvm",), ("llvm", "--fp", "contract")):
            p = tvms("run", "-", "--backend", *backend, "--out", self.file("out-" + "-".join(backend).replace("--", "")), stdin=program)
            self.ended(p, 0)
        results = []
        for name in sorted(os.listdir(self.place.name)):
            if name.startswith("out-"):
                with open(self.file(name + "/result.npy"), "rb") as f:
                    results.append(f.read())
        self.assertEqual(len(results), 3)
        self.assertEqual(len(set(results)), 1)
        self.ended(tvms("build", "-", "-o", self.file("x.ll"), stdin=program), 0)
        with open(self.file("x.ll"), encoding="utf-8") as f:
            text = f.read()
        self.assertRegex(text, r"shufflevector <8 x float> %\w+, <8 x float> poison, <16 x i32> <i32 0, i32 0, i32 1, i32 1")
        self.assertNotIn("insertelement <16 x float>", text)

    def test_a_long_function_costs_no_other_its_optimisation(self):
        """Of a function with more than 20,000 instructions LLVM optimises next to nothing, or it would take hours."""
        lines = [f"    B[{i}] = A[{i * 7 % 4000}] * T.float32(0.5) + B[{i * 3 % 4000}]\n" for i in range(4000)]
        long = '\n@T.prim_func\ndef long(A: T.Buffer((4000,), "float32"), B: T.Buffer((4000,), "float32")):\n' + "".join(lines)
        texts = []
        for program in (PROGRAM, PROGRAM + long, PROGRAM + long.replace("def long", "def other") + long):
            p = tvms("build", "-", "-o", self.file("x.ll"), stdin=program)
            self.ended(p, 0)
            with open(self.file("x.ll"), encoding="utf-8") as f:
                texts.append(f.read())
        alone, with_long, with_two = ({f[0]: f for f in function_texts(text)} for text in texts)
        self.assertEqual(set(alone), {"__tvm_ffi_scale", "scale.body", "tvms.raise", "tvms.refuse"})
        self.assertEqual(set(with_long), {*alone, "__tvm_ffi_long", "long.body"})
        self.assertEqual(set(with_two), {*with_long, "__tvm_ffi_other", "other.body"})
        self.assertRegex(alone["scale.body"][2], r"fmul <\d+ x float>")
        for others in (with_long, with_two):
            self.assertTrue(others["scale.body"] == alone["scale.body"], "the text of scale is another one")
            self.assertIn("internal", others["long.body"][1])
            self.assertEqual(others["long.body"][2].count("call float @llvm.fmuladd.f32("), 4000)

    def test_a_library_with_a_long_function_runs(self):
        lines = "".join(f"    B[{i}] = A[{4999 - i}] + T.float32({i})\n" for i in range(5000))
        program = 'from tvm.script import tirx as T\n\n@T.prim_func\ndef main(A: T.Buffer((5000,), "float32"), ' \
                  'B: T.Buffer((5000,), "float32")):\n' + lines
        results = [tvms("run", "-", "--backend", backend, stdin=program).stdout for backend in ("interp", "llvm")]
        self.assertTrue(results[0].startswith(b"result: float32[5000]"), results)
        self.assertEqual(results[0], results[1])

    def test_a_long_function_calls_vectors_and_loops(self):
        """Long functions, loops over elements and vector code wait in three modules, which are joined again."""
        lines = "".join(f"        B[{i}] = A[{4999 - i}] + T.float32({i})\n" for i in range(5000))
        callee = """
    @T.prim_func(private=True)
    def {0}(p: T.handle("float32", "global")):
        P = T.decl_buffer((5000,), data=p)
        for i in {1}:
            {2}
"""
        program = ("from tvm.script import ir as I, tirx as T\n\n@I.ir_module\nclass Module:\n    @T.prim_func\n"
                   '    def main(A: T.Buffer((5000,), "float32"), B: T.Buffer((5000,), "float32")):\n        Module.vectors(A.data)\n'
                   + lines + "        Module.elements(B.data)\n"
                   + callee.format("vectors", "range(625)", "for k in T.vectorized(8):\n                P[i * 8 + k] = P[i * 8 + k] * T.float32(0.5)")
                   + callee.format("elements", "range(1, 5000)", "P[i] = P[i] + P[i - 1]"))
        results = [tvms("run", "-", "--backend", backend, stdin=program) for backend in ("interp", "llvm")]
        self.ended(results[0], 0)
        self.assertEqual(results[0].stdout, results[1].stdout)
        self.ended(tvms("build", "-", "-o", self.file("long.so"), stdin=program), 0)

    def test_names_of_any_length(self):
        names = ["f" * 600 + tail for tail in ("a", "b")]
        buffer = "B" * 600
        program = "from tvm.script import tirx as T\n" + "".join(
            f'\n\n@T.prim_func\ndef {name}({buffer}: T.Buffer((2,), "int32")):\n    {buffer}[0] = {buffer}[1] + {i}\n'
            for i, name in enumerate(names))
        p = tvms("build", "-", "-o", self.file("x.s"), stdin=program)
        self.ended(p, 0)
        with open(self.file("x.s"), encoding="utf-8") as f:
            text = f.read()
        for name in names:
            self.assertTrue(f"\n__tvm_ffi_{name}:\n" in text, "the symbol of a long name is cut")
            for said in (f"Mismatched {buffer}.ndim on argument #0 when calling:\\n  `\\001`,\\n  expected 1", f'"{name}({buffer}: Tensor([2], int32))'):
                self.assertTrue(said in text, "a message is cut")
            ran = [tvms("run", "-", "--entry", name, "--backend", backend, stdin=program) for backend in ("interp", "llvm")]
            self.ended(ran[1], 0)
            self.assertEqual(ran[0].stdout, ran[1].stdout)

    def test_what_is_clamped_is_converted_as_it_is(self):
        # Numbers between two constants need no look at the ends of the integer type; of NaN the clamp makes one of the constants.
        line = "        for i in T.vectorized(16):\n            {}[i] = T.Cast({!r}, {})\n"
        lines = [line.format("B", "int8", 'T.max(T.min(A[i], T.float32(127)), T.float32(-128))'), line.format("C", "uint8", 'T.min(T.max(A[i], T.float32(3)), T.float32(255))')]
        program = ('from tvm.script import ir as I, tirx as T\n@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n'
                   '    def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "int8"), C: T.Buffer((16,), "uint8")):\n' + "".join(lines))
        p = tvms("build", "-", "-o", self.file("x.s"), "--primfuncs-only", "--target", "x86_64-linux-gnu,skylake-avx512", stdin=program)
        self.ended(p, 0)
        with open(self.file("x.s"), encoding="utf-8") as f:
            self.assertNotIn("vcmp", f.read())
        values = [math.nan, math.inf, -math.inf, 127.0, 127.5, 128.0, -128.0, -128.9, -129.0, 0.9, -0.9, 254.6, 255.0, 255.5, 3e9, -3e9]
        npy.write(self.file("A.npy"), "<f4", (16,), values)
        results = []
        for backend in ("interp", "llvm"):
            p = tvms("run", "-", "--backend", backend, "--in", "A=" + self.file("A.npy"), "--out", self.file("out"), stdin=program)
            self.ended(p, 0)
            results.append([npy.read(self.file(f"out/result.{i}.npy"))[2] for i in range(2)])
        self.assertEqual(results[0], results[1])
        self.assertEqual(results[0][0][:4], [127, 127, -128, 127])

    def test_what_a_choice_leaves_out_is_loaded(self):
        # A masked load makes no page present whose lanes are all left out, and is slow as long as it is not.
        body = """    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((64,), "float32"), Z: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        for i in T.vectorized(16):
            B[i] = T.Select(T.isnan(A[i]), Z[i], A[i])
"""
        program = "from tvm.script import ir as I, tirx as T\n@I.ir_module\nclass Module:\n" + body
        p = tvms("build", "-", "-o", self.file("x.s"), "--target", "x86_64-linux-gnu,skylake-avx512", stdin=program)
        self.assertEqual((p.returncode, p.stderr), (0, b""))
        with open(self.file("x.s"), encoding="utf-8") as f:
            code = f.read()
        self.assertIn("vcmpunordps", code)
        self.assertNotRegex(code, r"\(%r[^)]*\), %[xyz]mm[0-9]+ \{%k")

    def test_registers_on_the_stack_are_aligned(self):
        # Where the stack begins is chance: across two lines of the cache a register comes back late.
        program = """from tvm.script import ir as I, relax as R
@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((1, 64, 28, 28), "float32"), w: R.Tensor((64, 32, 6, 6), "float32")):
        with R.dataflow():
            y = R.nn.conv2d_transpose(x, w, strides=3, padding=1)
            R.output(y)
        return y
"""
        p = tvms("build", "-", "-o", self.file("x.s"), "--target", "x86_64-linux-gnu,skylake-avx512", stdin=program)
        self.assertEqual((p.returncode, p.stderr), (0, b""))
        with open(self.file("x.s"), encoding="utf-8") as f:
            code = f.read()
        lines = [len(re.findall(rf"vmov{way}p[sd]\s+[0-9x]*\(%rsp\), %zmm", code)) for way in "au"]
        self.assertGreater(lines[0], 2 * lines[1])

    def test_vectors_go_past_the_caches_if_the_schedule_says_so(self):
        """Where they are at multiples of their size; and other threads see them afterwards."""
        program = """from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def f(A: T.Buffer((1000,), "float32"), B: T.Buffer((1000,), "float32")):
    for i in T.parallel(5, annotations={"nontemporal": 1}):
        for j in range(25):
            for lane in T.vectorized(8):
                B[i * 200 + j * 8 + lane] = A[i * 200 + j * 8 + lane] * T.float32(3)
"""
        for said, there in ((program, True), (program.replace(', annotations={"nontemporal": 1}', ""), False)):
            self.ended(tvms("build", "-", "-o", self.file("x.s"), "--target", "x86_64-linux-gnu,haswell", stdin=said), 0)
            with open(self.file("x.s"), encoding="utf-8") as f:
                code = f.read()
            self.assertEqual("vmovntps" in code, there)
            self.assertEqual("mfence" in code or "lock\t" in code or "lock " in code, there)
        self.ended(tvms("build", "-", "-o", self.file("past.so"), stdin=program), 0)
        library = ctypes.CDLL(self.file("past.so"))
        values = struct.pack("<1000f", *(i % 17 - 8 for i in range(1000)))
        wanted = struct.pack("<1000f", *(3 * (i % 17 - 8) for i in range(1000)))
        for _ in range(8):  # memory begins where it happens to
            result = bytearray(4000)
            self.assertEqual(call(library, [("<f4", (1000,), bytearray(values)), ("<f4", (1000,), result)]), 0)
            self.assertEqual(bytes(result), wanted)

    def test_signatures_say_types_as_tvm_does(self):
        """What TVM 0.27 says of a call without arguments; pointers with their types."""
        class Any(ctypes.Structure):
            _fields_ = [("kind", ctypes.c_int32), ("zero", ctypes.c_uint32), ("value", ctypes.c_uint64)]

        program = """from tvm.script import ir as I, tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(p: T.handle, n: T.int64, x: T.float32, b: T.bool, q: T.handle("float32"), C: T.Buffer((4,), "int64")):
        C[0] = n
"""
        raised = []
        catch = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p)(lambda kind, text: raised.append((kind.decode(), text.decode())))
        for output in ("signature.c", "signature.so"):
            self.ended(tvms("build", "-", "-o", self.file(output), stdin=program), 0)
        subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-w", self.file("signature.c"), "-o", self.file("signature_c.so"), "-lm"], check=True)
        for library in ("signature.so", "signature_c.so"):
            loaded = ctypes.CDLL(self.file(library))
            ctypes.c_void_p.in_dll(loaded, "__TVMFFIErrorSetRaisedFromCStr").value = ctypes.cast(catch, ctypes.c_void_p).value
            self.assertEqual(loaded["__tvm_ffi_main"](None, (Any * 1)(), 1, ctypes.byref(Any())), -1)
            self.assertEqual(raised.pop(), ("TypeError", "Expected 6 arguments when calling:\n"
                                            '  `main(p: T.handle, n: int64, x: float32, b: bool, q: T.handle("float32", "global"), C: Tensor([4], int64))`'))

    def test_functions_of_a_thousand_tensors(self):
        """Every check of an argument says the whole signature, which stands in a library once."""
        class Any(ctypes.Structure):
            _fields_ = [("kind", ctypes.c_int32), ("zero", ctypes.c_uint32), ("value", ctypes.c_uint64)]

        tensor, count, raised = 'R.Tensor((4,), "float32")', 1000, []
        params = [f"w{i}: {tensor}" for i in range(count)]
        heads = {"params": (", ".join(params), "w7"), "tuple": (f"w: R.Tuple({', '.join([tensor] * count)})", "w[7]")}
        signatures = {"params": ", ".join(f"w{i}: Tensor([4], float32)" for i in range(count)),
                      "tuple": "Tuple(" + ", ".join(f"w_{i}: Tensor([4], float32)" for i in range(count)) + ")"}
        catch = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p)(lambda kind, text: raised.append((kind.decode(), text.decode())))
        for name, (head, value) in heads.items():
            program = f"from tvm.script import ir as I, relax as R\n\n@I.ir_module\nclass Module:\n    @R.function\n    def main({head}):\n        return R.add({value}, {value})\n"
            for output in (name + ".c", name + ".so", name + ".vm"):
                self.ended(tvms("build", "-", "-o", self.file(output), stdin=program), 0)
                self.assertLess(os.path.getsize(self.file(output)), 8 << 20)
            subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-w", self.file(name + ".c"), "-o", self.file(name + "_c.so"), "-lm"], check=True)
            for library in (name + ".so", name + "_c.so"):
                loaded = ctypes.CDLL(self.file(library))
                ctypes.c_void_p.in_dll(loaded, "__TVMFFIErrorSetRaisedFromCStr").value = ctypes.cast(catch, ctypes.c_void_p).value
                self.assertEqual(loaded["__tvm_ffi_main"](None, (Any * 1)(), 3, ctypes.byref(Any())), -1)
                self.assertEqual(raised.pop(), ("TypeError", f"Expected {count if name == 'params' else 1} arguments when calling:\n  `main({signatures[name]})`"))

    def test_vectors_of_any_length(self):
        program = """
from tvm.script import tirx as T

@T.prim_func
def main(A: T.Buffer((512,), "bfloat16"), B: T.Buffer((512,), "bfloat16"), C: T.Buffer((512,), "bool"), D: T.Buffer((512,), "int32")):
    B[T.Ramp(0, 1, 512)] = A[T.Ramp(0, 1, 512)] * A[T.Ramp(0, 1, 512)]
    C[T.Ramp(0, 1, 512)] = A[T.Ramp(0, 1, 512)] < B[T.Ramp(0, 1, 512)]
    D[T.Ramp(0, 1, 512)] = D[T.Ramp(0, 1, 512)] // T.Broadcast(-3, 512)
"""
        ran = [tvms("run", "-", "--backend", backend, stdin=program) for backend in ("interp", "llvm")]
        self.ended(ran[1], 0)
        self.assertEqual(ran[0].stdout, ran[1].stdout)
        self.ended(tvms("build", "-", "-o", self.file("x.o"), stdin=program), 0)

    def test_a_library_has_no_undefined_strong_symbol(self):
        """One with parallel loops, as the MLP has, asks the C library for threads, and nobody else for anything."""
        for program, name, parallel in ((MLP, "linear", True), (self.program, "scale", False)):
            output = self.file(name + ".so")
            self.ended(tvms("build", program, "-o", output, "--primfuncs-only"), 0)
            said = subprocess.run(["nm", "-D", output], stdout=subprocess.PIPE, check=True, text=True).stdout
            kinds = {line.split()[-1]: line.split()[-2] for line in said.splitlines()}
            self.assertEqual(kinds.get("__tvm_ffi_" + name), "T")
            self.assertEqual([name for name, kind in kinds.items() if kind == "U" and not (parallel and "@GLIBC_" in name)], [])

    def test_what_build_cannot_do(self):
        for output, text in (("scale.exe", "suffix"), ("nowhere/scale.o", "No such file")):
            with self.subTest(output=output):
                self.ended(tvms("build", self.program, "-o", self.file(output)), 2, text)
        self.ended(tvms("build", self.program), 2, "use -o")
        p = tvms("build", self.program, "-o", self.file("x.so"), "--target", "aarch64-linux-gnu")
        self.ended(p, 2, "architecture only")
        p = tvms("build", self.program, "-o", self.file("x.s"), "--target", "aarch64-linux-gnu,cortex-a72")
        self.ended(p, 0)

    def test_tensors_of_less_than_eight_bits(self):
        """Native code refuses them with a place; code for the virtual machine passes them on, as TVM's does."""
        text = MODEL.split("@I.ir_module")[0] + """@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((6,), "KIND"), y: R.Tensor((4,), "float32")):
        return RESULT
"""
        for kind in ("int4", "uint4", "float4_e2m1fn", "float6_e2m3fn"):
            with self.subTest(kind=kind):
                wide, passed = (text.replace("KIND", kind).replace("RESULT", result) for result in ('R.astype(x, "float32")', "(x, R.add(y, y))"))
                p = tvms("build", "-", "-o", self.file("x.so"), stdin=wide)
                self.ended(p, 1, f"{kind} cannot be compiled to native code")
                self.assertEqual(places_of(p), [(8, 16, "E0931")])
                self.ended(tvms("build", "-", "--vm", "-o", self.file("x.so"), stdin=passed), 0)

    def test_a_target_that_is_not_known_is_misuse(self):
        """LLVM would go on with a warning, or end the process where a processor has no 64-bit mode."""
        for target, text in (
            ("no-such-machine", "unknown machine 'no-such-machine'; there is 'x86_64', 'aarch64', 'riscv64', 'riscv32', 'arm'"),
            ("x86-64-linux", "unknown machine 'x86-64-linux'; did you mean 'x86_64'?"),
            ("i686-linux-gnu", "'i686-linux-gnu' is not a machine that native code can be made for"),
            ("aarch64_be-linux-gnu", "'aarch64_be-linux-gnu' is not a machine that native code can be made for"),
            ("x86_64-linux-gnu,pentiumX", "unknown processor 'pentiumX' of x86_64; there is 'penryn'"),
            ("x86_64-linux-gnu,skylack", "unknown processor 'skylack' of x86_64; did you mean 'skylake'?"),
            ("x86_64-linux-gnu,i686", "processor 'i686' has no 64-bit mode"),
            ("x86_64-linux-gnu,cortex-a72", "unknown processor 'cortex-a72' of x86_64; there is "
             "'core-avx-i', 'core-avx2', 'core2', 'core_2_duo_sse4_1', 'core_2_duo_ssse3'"),
            ("x86_64-linux-gnu,,+avx3", "unknown feature 'avx3' of x86_64; did you mean 'avx'?"),
            ("x86_64-linux-gnu,znver4,+avx2,sse4a", "feature 'sse4a' must begin with '+' or '-'"),
            ("x86_64-linux-gnu,,-sse2", "feature 'sse2' cannot be turned off"),
            ("x86_64", "unknown target 'x86_64'; did you mean 'x86_64-linux-gnu'?"),
            ("x86-64", "unknown target 'x86-64'; did you mean 'x86_64-linux-gnu'?"),
            ("arm64", "unknown target 'arm64'; did you mean 'aarch64-linux-gnu'?"),
            ("aarch46", "unknown target 'aarch46'; did you mean 'aarch64-linux-gnu'?"),
            ("skylake-avx512", "unknown target 'skylake-avx512'; did you mean 'x86_64-linux-gnu,skylake-avx512'?"),
            ("riscv64", "unknown target 'riscv64'; did you mean 'riscv64-linux-gnu'?"),
            ("arm", "unknown target 'arm'; did you mean 'armv7-linux-gnueabihf'?"),
            ("llvm -mcpu=znver4", "unknown target 'llvm -mcpu=znver4'; options of a kind are given as in "
             '\'{"kind": "llvm", "mcpu": "znver4"}\''),
            ('{"kind": "llvm", "mcpuu": "znver4"}', "a target of kind 'llvm' has no key 'mcpuu'; did you mean 'mcpu'?"),
            ('{"kind": "cuda", "host": {"kind": "llvm", "mcp": ""}}', "a target of kind 'llvm' has no key 'mcp'; did you mean 'mcpu'?"),
            ('{"kind": "llvm", "mcpu": 4}', "'mcpu' of a target must be a string"),
            ('{"kind": "llvm", "mattr": "+avx2"}', "'mattr' of a target must be a list of strings"),
            ('{"kind": "llvmm"}', "unknown kind 'llvmm' of a target; did you mean 'llvm'?"),
            ('{"mcpu": "znver4"}', 'the target says no "kind", such as "llvm"'),
            ('{"kind": "llvm", "mcpu": "skylack"}', "unknown processor 'skylack' of x86_64; did you mean 'skylake'?"),
            ('{"kind": "llvm"', "the target is no JSON: expected ',' or '}' at character 16 of '{\"kind\": \"llvm\"'"),
            ('{"kind": "llvm",}', "the target is no JSON: expected a key, such as \"kind\" at character 17 of '{\"kind\": \"llvm\",}'"),
            ('{"num-cores": 1.5}', "the target is no JSON: expected a whole number of 64 bits at character 15 of '{\"num-cores\": 1.5}'"),
            ('{"kind": "llvm"} x', "the target is no JSON: expected nothing behind the object at character 18 of '{\"kind\": \"llvm\"} x'"),
        ):
            with self.subTest(target=target):
                output = self.file("x.s")
                p = tvms("build", self.program, "-o", output, "--target", target)
                self.ended(p, 2)
                self.assertEqual(p.stderr.decode(), f"tvms: option '--target': {text}\n")
                self.assertFalse(os.path.exists(output))
                explained = tvms("explain", "--target", target)
                self.assertEqual((explained.returncode, explained.stdout, explained.stderr), (2, b"", p.stderr))

    def test_a_kind_that_no_native_code_is_made_for_is_explained(self):
        for kind in ("cuda", "hexagon", "nvidia/nvidia-a100"):
            with self.subTest(kind=kind):
                p = tvms("build", self.program, "-o", self.file("x.s"), "--target", kind)
                self.ended(p, 2)
                why = p.stderr.decode().removeprefix("tvms: option '--target': ")
                explained = tvms("explain", "--target", kind)
                self.ended(explained, 0)
                self.assertTrue(explained.stdout.decode().endswith(f"\nnot for build: {why}"), explained.stdout)

    def test_one_tensor_for_two_parameters(self):
        """Who does not say that parameters are apart may work in place: no element is computed twice."""
        path = self.file("in_place.tvms")
        with open(path, "w") as f:
            f.write("from tvm.script import ir as I, tirx as T\n\n@I.ir_module\nclass Module:\n    @T.prim_func\n"
                    '    def f(A: T.Buffer((67,), "float32"), B: T.Buffer((67,), "float32"), C: T.Buffer((67,), "float32")):\n'
                    "        for i in range(67):\n            B[i] = A[i] + T.float32(1)\n"
                    "        for i in range(67):\n            C[i] = B[i] * T.float32(2)\n"
                    "    @T.prim_func\n    def g(b: T.handle, r: T.handle, c: T.handle):\n        n = T.int64()\n"
                    '        B = T.match_buffer(b, (9, n), "float32")\n        R = T.match_buffer(r, (9, n), "float32")\n        C = T.match_buffer(c, (9, n), "float32")\n'
                    "        Y = T.alloc_buffer((9, n))\n        for i, j in T.grid(9, n):\n            Y[i, j] = T.float32(0)\n"
                    "        for i, j, k in T.grid(9, n, 9):\n            Y[i, j] = Y[i, j] + B[i, k] * B[k, j]\n"
                    "        for i, j in T.grid(9, n):\n            C[i, j] = R[i, j] + Y[i, j]\n")
        for suffix in (".so", ".c"):
            output = self.file("in_place" + suffix)
            self.ended(tvms("build", path, "-o", output), 0)
            if suffix == ".c":
                subprocess.run(["cc", "-O2", "-w", "-shared", "-fPIC", output, "-o", self.file("in_place_c.so"), "-lm"], check=True)
                output = self.file("in_place_c.so")
            memory = bytearray(struct.pack("<67f", *range(67)))
            self.assertEqual(call(ctypes.CDLL(output), [("<f4", (67,), memory)] * 3), 0)
            self.assertEqual(struct.unpack("<67f", memory), tuple(2.0 * (i + 1) for i in range(67)))
            ones, sums = (bytearray(struct.pack("<270f", *([x] * 270))) for x in (1, 3))
            self.assertEqual(call(ctypes.CDLL(output), [("<f4", (9, 30), ones), ("<f4", (9, 30), sums), ("<f4", (9, 30), sums)], "g"), 0)
            self.assertEqual(struct.unpack("<270f", sums), (12.0,) * 270)

    def test_rows_of_any_number(self):
        """Go through an operand that no near cache holds, each number of few rows in its own way, others by tiles; what follows the sums is done once. Through a small one, tiles are on threads."""
        for k, n in ((1300, 1100), (300, 64)):
            self.rows_of_any_number(k, n)

    def rows_of_any_number(self, k, n):
        text = f"""from tvm.script import ir as I, tirx as T
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(a: T.handle, B: T.Buffer(({k}, {n}), "float32"), d: T.handle):
        T.func_attr({{"tirx.noalias": True}})
        m = T.int32()
        A = T.match_buffer(a, (m, {k}))
        D = T.match_buffer(d, (m, {n}))
        C = T.sblock_alloc_buffer((m, {n}))
        for i, j, k in T.grid(m, {n}, {k}):
            with T.sblock("product"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
        for i, j in T.grid(m, {n}):
            with T.sblock("less"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = C[vi, vj] - T.float32(7)
"""
        b = bytearray(struct.pack(f"{k * n}f", *[x % 3 + y % 5 for x in range(k) for y in range(n)]))
        line = [sum(x % 3 for x in range(k)) + k * (y % 5) for y in range(n)]
        for target in ("host", platform.machine() + "-linux-gnu"):
            library = self.file(f"{k}{target[-4:]}.so")
            self.ended(tvms("build", "-", "-o", library, "--target", target, stdin=text.encode()), 0)
            for m in (*range(10), 13, 17, 23, 40):
                with self.subTest(target=target, k=k, rows=m):
                    a, d = bytearray(struct.pack(f"{m * k}f", *[i + 1 for i in range(m) for _ in range(k)])), bytearray(4 * m * n)
                    self.assertEqual(call(ctypes.CDLL(library), [("<f4", (m, k), a), ("<f4", (k, n), b), ("<f4", (m, n), d)]), 0)
                    self.assertEqual(list(struct.unpack(f"{m * n}f", d)), [(i + 1) * x - 7 for i in range(m) for x in line])

    def test_columns_of_any_number(self):
        """Those that whole strips leave over share columns with the strip before them, also where sums are taken in blocks; rows may be of any number, too."""
        k = 600
        for rows, declared in (("8", ""), ("m", "        m = T.int32()\n")):
            text = f"""from tvm.script import ir as I, tirx as T
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def f(a: T.handle, b: T.handle, c: T.handle):
        T.func_attr({{"tirx.noalias": True}})
{declared}        n = T.int32()
        A = T.match_buffer(a, ({rows}, {k}))
        B = T.match_buffer(b, ({k}, n))
        C = T.match_buffer(c, ({rows}, n))
        for i, j, k in T.grid({rows}, n, {k}):
            with T.sblock("product"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""
            for target in ("host", platform.machine() + "-linux-gnu"):
                library = self.file(rows + target[-4:] + ".so")
                self.ended(tvms("build", "-", "-o", library, "--target", target, stdin=text.encode()), 0)
                for m in (8,) if rows == "8" else (1, 3, 8, 9, 13, 31):
                    for n in (1, 3, 7, 17, 33, 100, 129):
                        with self.subTest(target=target, rows=rows, m=m, n=n):
                            a = bytearray(struct.pack(f"{m * k}f", *[i + x % 3 for i in range(m) for x in range(k)]))
                            b = bytearray(struct.pack(f"{k * n}f", *[x % 2 + y % 5 for x in range(k) for y in range(n)]))
                            c = bytearray(4 * m * n)
                            self.assertEqual(call(ctypes.CDLL(library), [("<f4", (m, k), a), ("<f4", (k, n), b), ("<f4", (m, n), c)]), 0)
                            cell = [[sum((i + x % 3) * (x % 2 + y) for x in range(k)) for y in range(5)] for i in range(m)]
                            self.assertEqual(list(struct.unpack(f"{m * n}f", c)), [cell[i][y % 5] for i in range(m) for y in range(n)])

    def test_a_target_in_json(self):
        """It says the same as the words of LLVM, and what these do not say: cores, and the width of vectors."""
        for target, words in (('{"kind": "llvm", "mcpu": "znver4"}', "x86_64-linux-gnu,znver4"),
                              ('{"kind": "llvm", "mtriple": "aarch64-linux-gnu", "mcpu": "neoverse-n1"}', "aarch64-linux-gnu,neoverse-n1"),
                              ('{"kind": "llvm", "mtriple": "x86_64-linux-gnu", "mattr": ["+avx2", "+fma"]}', "x86_64-linux-gnu,,+avx2,+fma")):
            with self.subTest(target=target):
                said = [tvms("explain", "--target", t).stdout for t in (target, words)]
                self.assertEqual(said[0], said[1])
                for t, name in ((target, "a.s"), (words, "b.s")):
                    self.ended(tvms("build", self.program, "--primfuncs-only", "-o", self.file(name), "--target", t), 0)
                self.assertEqual(*(open(self.file(name)).read() for name in ("a.s", "b.s")))
        product = self.file("product.tvms")
        with open(product, "w") as f:
            f.write("from tvm.script import tirx as T\n\n@T.prim_func\n"
                    'def main(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):\n'
                    "    for i, j in T.grid(64, 64):\n        C[i, j] = T.float32(0)\n"
                    "    for i, j, k in T.grid(64, 64, 64):\n        C[i, j] = C[i, j] + A[i, k] * B[k, j]\n")
        for more, text in (("", "vectors of 16"), (', "vector-width": 256', "vectors of 8")):
            target = '{"kind": "llvm", "mcpu": "znver4", "num-cores": 2' + more + "}"
            p = tvms("build", product, "--explain", "-o", self.file("c.s"), "--target", target)
            self.ended(p, 0, text)
        p = tvms("build", product, "--explain", "-o", self.file("c.s"), "--target", "x86_64-linux-gnu,,+avx2")
        self.ended(p, 0, "vectors of 8")
        target = '{"kind": "hexagon", "mtriple": "hexagon", "mcpu": "hexagonv68"}'
        self.ended(tvms("build", self.program, "--primfuncs-only", "-o", self.file("d.s"), "--target", target), 0)

    def test_a_target_that_is_known(self):
        for target, mark in (("x86_64-linux-gnu,znver4,-avx512f,+avx2", b"ymm"), ("x86_64-linux-gnu,,", b"xmm"),
                             ("arm64-apple-darwin,apple-m1", b"___tvm_ffi_scale"), ("x86_64-linux-gnu,,+avx", b"vmulps")):
            with self.subTest(target=target):
                output = self.file("x.s")
                self.ended(tvms("build", self.program, "-o", output, "--target", target), 0)
                with open(output, "rb") as f:
                    self.assertTrue(mark in f.read(), mark)

    def test_nothing_to_compile(self):
        for text in ("", "# nothing\n"):
            with self.subTest(text=text):
                p = tvms("build", "-", "-o", self.file("none.so"), stdin=text)
                self.ended(p, 1, "error[E0937]: there is no PrimFunc to compile")
                self.assertFalse(os.path.exists(self.file("none.so")))
        self.ended(tvms("run", "-", "--entry", "f", stdin=""), 1, "error[E0933]: there is no function 'f' to run")

    def test_numbers_and_shapes_on_the_command_line(self):
        text = MODEL[:MODEL.index("    @R.function")] + """    @R.function
    def main(k: R.Prim("int64"), f: R.Prim("float32"), b: R.Prim("bool"), s: R.Shape(["n", 2]), x: R.Tensor(("n",), "float32")):
        return (k, f, b, s, R.shape_of(x))
"""
        p = tvms("run", "-", "--in", "k=-3", "--in", "f=1.5", "--in", "b=True", "--in", "s=(5, 2)", stdin=text)
        self.ended(p, 0)
        self.assertEqual([line.split(": ")[1] for line in p.stdout.decode().splitlines()], ["-3", "1.5", "True", "(5, 2)", "(5,)"])
        for given in ("k=1.5", "k=", "b=1", "s=(5", "s=5", "x=3", "s=(-1, 2)"):
            self.ended(tvms("run", "-", "--in", given, stdin=text), 2, "error[E0935]: input")
        self.ended(tvms("run", "-", "--in", "s=(5, 3)", stdin=text), 1)

    def test_tuples_on_the_command_line(self):
        text = MODEL[:MODEL.index("    @R.function")] + """    @R.function
    def main(t: R.Tuple(R.Tensor((2, "n"), "float32"), R.Tuple(R.Prim("int64"), R.Prim("float64"), R.Tensor((), "bool")), R.Shape(["n", "m"])), k: R.Prim("int64")):
        x = t[0]
        u = t[1]
        a = u[0]
        b = u[1]
        c = u[2]
        s = t[2]
        y = R.add(x, x)
        return (y, a, b, c, s, k)
"""
        npy.write(self.file("x.npy"), "<f4", (2, 3), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        source, library = self.file("tuples.tvms"), self.file("tuples.so")
        with open(source, "w", encoding="utf-8") as f:
            f.write(text)
        self.ended(tvms("build", "--vm", source, "-o", library), 0)
        x = self.file("x.npy")
        whole = ["--in", f"t=({x}, (5, 2.5, True), (3, 7))", "--in", "k=-4"]
        fields = ["--in", f"t.0={x}", "--in", "t.1.0=5", "--in", "t.1=(5, 2.5, True)", "--in", "t.2=(3,7)", "--in", "k=-4"]
        for what in (source, library):
            for given in (whole, fields):
                p = tvms("run", what, *given)
                self.ended(p, 0)
                said = [line.split(": ")[1] for line in p.stdout.decode().splitlines()]
                self.assertEqual(said, ["float32[2, 3]  min 2  max 12  mean 7  [2, 4, 6, 8, 10, 12]", "5", "2.5", "bool[]  min 1  max 1  mean 1  [1]", "(3, 7)", "-4"])
            # What is not given is random, and of the sizes that are known.
            p = tvms("run", what, "--in", "t.2=(6, 1)")
            self.ended(p, 0)
            self.assertIn("result.0: float32[2, 6]", p.stdout.decode())
            for given in ("t=3", "t=(1, 2)", "t=(1, 2, 3", "t.3=1", "t.x=1", "k.0=1", f"t=({x}, (5, 2.5), (3, 7))", f"t.1.1={x}"):
                p = tvms("run", what, "--in", given)
                self.assertIn(p.returncode, (1, 2))
                self.assertIn("error[E0935]: input '" + given[0], p.stderr.decode())
            self.ended(tvms("run", what, "--in", "t.0=/nonexistent/x.npy"), 2, "error[E0935]: input 't.0'")

    def test_bench_gives_code_the_workspace_that_it_takes(self):
        # The weights of the product are packed in memory that the text of its PrimFunc does not have.
        product = "from tvm.script import relax as R\n@R.function\ndef main(x: R.Tensor((%s, 784), 'float32'), w: R.Tensor((784, 256), 'float32')):\n    return R.matmul(x, w)\n"
        for path, text in ((MLP, ""), ("-", product % "64"), ("-", product % "'n'")):
            p = tvms("bench", "--repeat", "1", path, stdin=text)
            self.ended(p, 0)
            self.assertIn(b", 1 calls and 0 bytes of tensors each)", p.stdout)

    def test_bench_compiles_relax_functions(self):
        able = MODEL[:MODEL.index("    @R.function")] + MODEL[MODEL.rindex("    @R.function"):]
        p = tvms("bench", "-", "--entry", "second", "--repeat", "3", stdin=able)
        self.ended(p, 0)
        self.assertIn(b", 1 calls and ", p.stdout)
        for text, options in ((MODEL, []), (able, ["--profile", "functions"]), (able, ["--backend", "interp"])):
            p = tvms("bench", "-", "--entry", "second", "--repeat", "3", *options, stdin=text)
            self.assertIn(b", 2 calls and ", p.stdout)

    def test_what_build_leaves_out_is_named(self):
        output = self.file("model.so")
        p = tvms("build", "-", "-o", output, stdin=MODEL)
        self.ended(p, 1)
        self.assertEqual(places_of(p), [(8, 14, "E0944")])
        self.assertIn("'first' cannot become native code: no PrimFunc computes 'R.wrap_param'", p.stderr.decode())
        self.assertFalse(os.path.exists(output))
        p = tvms("build", "-", "-o", output, "--primfuncs-only", stdin=MODEL)
        self.ended(p, 0)
        self.assertEqual(places_of(p), [(8, 14, "W0940"), (10, 13, "W0940")])
        self.assertIn("no PrimFunc computes 'R.wrap_param'", p.stderr.decode())
        self.assertTrue(os.path.exists(output))
        module = "from tvm.script import ir as I, tirx as T\n\n@I.ir_module\nclass Module:\n    @I.pyfunc\n    def host(self):\n        pass\n\n    @T.prim_func\n    def f(A: T.Buffer((4,), \"float32\")):\n        A[0] = T.float32(1)\n"
        self.ended(tvms("build", "-", "-o", output, stdin=module), 1, "<stdin>:6:9: error[E0939]: 'host' is not compiled: it is not a PrimFunc")
        self.ended(tvms("build", "-", "-o", output, "--primfuncs-only", stdin=module), 0)

    def test_operators_that_cannot_be_lowered_are_named_beside_nothing_to_compile(self):
        text = MODEL.replace("R.nn.relu(b)", "b").replace("R.add(x, x)", "x")
        p = tvms("build", "-", "-o", self.file("model.so"), "--primfuncs-only", stdin=text)
        self.ended(p, 1, "error[E0937]: there is no PrimFunc to compile", "no PrimFunc computes 'R.wrap_param'")

    def test_functions_of_one_library_have_different_names(self):
        p = tvms("build", "-", "-o", self.file("two.so"), stdin=PROGRAM + PROGRAM)
        self.ended(p, 1, "<stdin>:15:5: error[E0938]: a library cannot have two functions 'scale'",
                   "<stdin>:5:5: note: the first definition is here")

    def test_numbers_of_at_least_one(self):
        self.ended(tvms("bench", MLP, "--repeat", "0"), 2, "'--repeat' takes a number of at least 1, not '0'")
        self.ended(tvms("check", MLP, "--memory", "0"), 2, "'--memory' takes a number of at least 1, not '0'")
        self.ended(tvms("check", MLP, "--memory", "9" * 20), 2, "takes a number up to 2**63 - 1")
        self.ended(tvms("check", MLP, "--memory", str(2**44)), 0)

    def test_without_a_compiler_there_is_no_library(self):
        p = tvms("build", self.program, "-o", self.file("x.so"), env={"PATH": self.place.name})
        self.ended(p, 2, "'cc' was not found")
        self.assertFalse(os.path.exists(self.file("x.so")))

    def test_without_the_plugin_there_is_no_native_code(self):
        alone = self.file("tvms")
        for name in ("tvms", "tvms-native"):  # the second one only where the first is static
            program = os.path.join(os.path.dirname(TVMS), name)
            if os.path.exists(program):
                shutil.copy(program, self.file(name))
        for arguments in (["run", MLP, "--backend", "llvm"], ["build", MLP, "-o", self.file("x.o")], ["bench", MLP]):
            with self.subTest(verb=arguments[0]):
                p = subprocess.run([alone, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.ended(p, 2, "no native code: libtvms-llvm.so is not beside the program")
        p = subprocess.run([alone, "run", self.program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.ended(p, 0)

    def test_bench_reports_each_function(self):
        p = tvms("bench", MLP, "--repeat", "3", "--profile", "functions")
        self.ended(p, 0)
        lines = p.stdout.decode().splitlines()
        self.assertIn("(3 runs, 4 calls and ", lines[0])
        self.assertEqual([line.split()[:2] for line in lines[1:]], [["linear", "2"], ["relu", "1"], ["main", "1"]])

    def test_memory_is_limited(self):
        npy.write(self.file("a.npy"), "<f4", (500000,), [0.0] * 500000)
        p = tvms("run", self.program, "--in", f"A={self.file('a.npy')}", "--memory", "1")
        self.ended(p, 3)


if __name__ == "__main__":
    main()
