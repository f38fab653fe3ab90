#!/usr/bin/env python3
"""Relax functions in libraries for C: what a header declares, archives, memory of the caller, and what a library names."""
import os, re, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from cases import main, tvms
from library import C_AND_CPP, HEAD, LibraryTests


class NativeC(LibraryTests):
    def test_functions_for_c(self):
        text = HEAD + """
    @R.function
    def main(t: R.Tuple(R.Tensor(("n",), "float32"), R.Prim("float32")), s: R.Shape(["n", "m", "n"]), b: R.Prim("bool"), int: R.Tensor((2,), "int8")) -> R.Tuple(R.Tensor(("n",), "float32"), R.Prim("bool"), R.Shape(["m", "n"]), R.Tensor((2,), "int8")):
        n, m = T.int64(), T.int64()
        x = t[0]
        y = R.exp(R.multiply(x, x))
        z = R.multiply(y, R.add(y, x))
        return (z, b, R.shape([m, n]), R.add(int, int))

    @R.function
    def none() -> R.Tensor((2,), "float32"):
        return R.const([1.0, 2.0], "float32")

    @R.function
    def first(x: R.Tensor(("n",), "float32"), s: R.Shape(["k"])) -> R.Tensor(ndim=1, dtype="float32"):
        n, k = T.int64(), T.int64()
        y = R.strided_slice(x, (-1,), (0,), (k,), (1,), assume_inbound=False)
        return y

    @R.function(private=True)
    def hidden(x: R.Tensor((2,), "float32")) -> R.Tensor((2,), "float32"):
        return x
"""
        program = """
#include "a-model.h"
#include <stdio.h>
#include <stdlib.h>
static void tell(const char *kind, const char *text) { printf("%s: %s\\n", kind, text); }
int main(void) {
  __TVMFFIErrorSetRaisedFromCStr = tell;
  float x[3] = {0, 0, 0}, y[3] = {0}, c[2];
  int8_t e[2] = {1, 2}, d[2];
  uint8_t b;
  int64_t s[2];
  a_model_main_inputs in = {.t_0 = x, .t_1 = 2, .n = 3, .m = 7, .s_2 = 3, .b = 1, .int_1 = e};
  a_model_main_results out = {y, &b, s, d};
  void *memory = aligned_alloc(64, a_model_main_workspace(&in) + 64);
  int32_t status = a_model_main(&in, &out, memory);
  printf("%d: %g %d %d %d %d %d\\n", status, y[2], b, (int)s[0], (int)s[1], d[0], d[1]);
  printf("%d %d\\n", (int)a_model_main_result_0_size(&in), (int)a_model_main_result_2_size(&in));
  a_model_none_inputs nothing = {0};
  a_model_none_results two = {c};
  status = a_model_none(&nothing, &two, 0);
  printf("%d: %g %g\\n", status, c[0], c[1]);
  float three[3] = {5, 6, 7};
  a_model_first_inputs some = {.x = three, .n = 3};
  a_model_first_results part = {y};
  for (some.k = -4; some.k < 5; some.k += 3) {
    y[1] = 0;
    status = a_model_first(&some, &part, 0);
    printf("%d: %d %g\\n", status, (int)a_model_first_result_size(&some), y[1]);
  }
  in.s_2 = 4;
  printf("%d\\n", a_model_main(&in, &out, memory));
  return 0;
}
"""
        with open(self.file("serve.c"), "w", encoding="utf-8") as f:
            f.write(program)
        for suffix in (".o", ".a", ".c"):
            with self.subTest(suffix=suffix):
                output = self.file("a-model" + suffix)
                p = tvms("build", "-", "-o", output, "--emit-headers", stdin=text)
                self.assertEqual(p.returncode, 0, p.stderr.decode())
                with open(self.file("a-model.h"), encoding="utf-8") as f:
                    self.assertNotIn("hidden", f.read())
                for driver in C_AND_CPP:
                    subprocess.run([*driver, "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", self.file("a-model.h")], check=True)
                subprocess.run(["cc", "-O1", "-std=c11", "-Wall", "-Werror", self.file("serve.c"), output, "-o", self.file("serve"), "-lm"], check=True)
                said = subprocess.run([self.file("serve")], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
                self.assertEqual(said[:6], ["0: 1 1 7 3 2 4", "3 2", "0: 1 2", "0: 0 0", "0: 2 6", "0: 2 6"])
                self.assertEqual(said[-1], "-1")
                self.assertIn("ValueError", said[6])

    def test_functions_make_room_for_what_belongs_to_others(self):
        text = HEAD
        names = ["f", "f_inputs", "f_results", "f_workspace", "f_within", "f_within_1", "f_result_size"]
        for i, name in enumerate(names):
            text += f"""
    @R.function
    def {name}(new: R.Tensor((1,), "float32")) -> R.Tensor((1,), "float32"):
        y = R.add(new, R.const({i}.0, "float32"))
        return y
"""
        own = ["f", "f_inputs_1", "f_results_1", "f_workspace_1", "f_within_2", "f_within_1", "f_result_size_1"]
        calls = "".join(f"""
  {{
    model_{name}_inputs in = {{.new_1 = x}};
    model_{name}_results out = {{y}};
    if (model_{name}_within(&in, &out, 0, 0)) return 1;
    printf("%g ", y[0]);
  }}""" for name in own)
        with open(self.file("serve.c"), "w", encoding="utf-8") as f:
            f.write(f"#include \"model.h\"\n#include \"model.h\"\nint main(void) {{\n  float x[1] = {{10}}, y[1];{calls}\n  return 0;\n}}\n")
        for suffix in (".o", ".c"):
            output = self.file("model" + suffix)
            p = tvms("build", "-", "-o", output, "--emit-headers", stdin=text)
            self.assertEqual(p.returncode, 0, p.stderr.decode())
            for driver in C_AND_CPP:
                subprocess.run([*driver, "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", self.file("model.h")], check=True)
            subprocess.run(["cc", "-O1", "-std=c11", "-Wall", "-Werror", self.file("serve.c"), output, "-o", self.file("serve"), "-lm"], check=True)
            said = subprocess.run([self.file("serve")], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
            self.assertEqual(said, [str(10 + i) for i in range(len(names))])

    LAYERS = HEAD + """
    @R.function
    def main(x: R.Tensor((8, 64), "float32"), v: R.Tensor((64, 32), "float32")) -> R.Tensor((8, 32), "float32"):
        with R.dataflow():
            y = R.add(x, R.multiply(R.const(2, "float32"), R.const(3, "float32")))
            z = R.matmul(y, v)
            u = R.nn.relu(z)
            R.output(u)
        return u
"""

    def place_of(self, text, what):
        return next(i for i, line in enumerate(text.splitlines(), 1) if what in line)

    def test_operators_have_lines(self):
        """-g: what a pass made of an operator has its line, at every level; gdb stops there."""
        with open(self.file("lines.tvms"), "w", encoding="utf-8") as f:
            f.write(self.LAYERS)
        product = self.place_of(self.LAYERS, "R.matmul")
        for level in ("-O0", "-O1", "-O2", "-O3"):
            with self.subTest(level=level):
                library = self.file("lines.so")
                self.assertEqual(tvms("build", "-g", level, self.file("lines.tvms"), "-o", library).returncode, 0)
                said = subprocess.run(["objdump", "--dwarf=decodedline", library], check=True, capture_output=True, text=True).stdout
                lines = {int(line) for line in re.findall(r"^\S*lines\.tvms +(\d+) +0x", said, re.M)}
                self.assertLessEqual({product}, lines, lines)
                self.assertLessEqual(lines - {0}, set(range(product - 4, product + 4)))  # 0: code of no line

    FILLED = HEAD + """
    @T.prim_func
    def fill(y: T.Buffer((4096,), "float32")):
        for i in T.parallel(4096):
            y[i] = T.float32(i)

    @R.function
    def main(x: R.Tensor((4096,), "float32")) -> R.Tensor((4096,), "float32"):
        y = R.call_tir(Module.fill, (), out_sinfo=R.Tensor((4096,), "float32"))
        return R.{op}(x, y)
"""

    def test_an_archive_with_the_run_time(self):
        """--static: threads come with the archive; a program links nothing else."""
        text = self.FILLED.format(op="add")
        output = self.file("model.a")
        p = tvms("build", "-", "-o", output, "--static", "--emit-headers", stdin=text)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        names = subprocess.run(["nm", "--defined-only", output], check=True, capture_output=True, text=True).stdout
        self.assertIn("model_main", names)
        self.assertIn(" T tvms_parallel_launch", names)
        with open(self.file("serve.c"), "w", encoding="utf-8") as f:
            f.write("""#include "model.h"
#include <stdio.h>
int main(void) {
  static float x[4096] = {1}, y[4096];
  model_main_inputs in = {.x = x};
  model_main_results out = {.result = y};
  static _Alignas(64) char workspace[1 << 20];
  int failed = model_main(&in, &out, workspace);
  printf("%d %g %g\\n", failed, y[0], y[4095]);
  return 0;
}
""")
        subprocess.run(["cc", "-std=c11", self.file("serve.c"), output, "-o", self.file("serve"), "-lm", "-pthread"], check=True)
        said = subprocess.run([self.file("serve")], check=True, capture_output=True, text=True).stdout
        self.assertEqual(said, "0 1 4095\n")
        names = subprocess.run(["nm", self.file("serve")], check=True, capture_output=True, text=True).stdout
        self.assertRegex(names, r"[Tt] tvms_parallel_launch", "loops run on threads")
        self.assertEqual(tvms("build", "-", "-o", self.file("x.so"), "--static", stdin=text).returncode, 2)

    def test_two_models_in_one_program(self):
        """Their functions may have the same names, and what a library has for whoever loads it is there once."""
        with open(self.file("both.c"), "w", encoding="utf-8") as f:
            f.write("""#include "a.h"
#include "b.h"
#include <stdio.h>
int main(void) {
  static float x[4096] = {1, 2}, y[4096], z[4096];
  a_main_inputs in = {.x = x};
  a_main_results out = {.result = y};
  b_main_inputs second = {.x = y};
  b_main_results last = {.result = z};
  static _Alignas(64) char workspace[1 << 20];
  int failed = a_main(&in, &out, workspace) | b_main(&second, &last, workspace);
  printf("%d %g %g\\n", failed, z[1], z[2]);
  return 0;
}
""")
        for form in ("o", "a", "c"):
            with self.subTest(form=form):
                codes = []
                for model, op in (("a", "add"), ("b", "multiply")):
                    codes.append(self.file(f"{model}.{form}"))
                    p = tvms("build", "-", "-o", codes[-1], "--emit-headers", stdin=self.FILLED.format(op=op))
                    self.assertEqual(p.returncode, 0, p.stderr.decode())
                p = subprocess.run(["cc", "-std=c11", self.file("both.c"), *codes, "-o", self.file("both"), "-lm"], capture_output=True, text=True)
                self.assertEqual(p.returncode, 0, p.stderr)
                said = subprocess.run([self.file("both")], check=True, capture_output=True, text=True).stdout
                self.assertEqual(said, "0 3 4\n")

    SIZED = HEAD + """
    @R.function
    def square(s: R.Shape(["n"])) -> R.Tensor(("n", "n"), "float32"):
        n = T.int64()
        y = R.ones(R.shape([n, n]), "float32")
        return y

    @R.function
    def two(s: R.Shape(["n", "k"])) -> R.Tensor((1,), "float32"):
        n, k = T.int64(), T.int64()
        y = R.cumsum(R.ones(R.shape([n]), "float32"), axis=0)
        z = R.cumsum(R.ones(R.shape([k]), "float32"), axis=0)
        w = R.add(R.max(y), R.max(z))
        v = R.reshape(w, R.shape([1]))
        return v
"""

    def test_a_library_names_others_only_if_it_needs_them(self):
        for op, expected in (("R.add(x, x)", []), ("R.sin(x)", ["libm.so.6"])):
            text = HEAD + f"""
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        y = {op}
        return y
"""
            library = self.file("model.so")
            for more in ([], ["--emit-headers"]):
                with self.subTest(op=op, more=more):
                    p = tvms("build", "-", "--fp", "strict", "-o", library, *more, stdin=text)
                    self.assertEqual(p.returncode, 0, p.stderr.decode())
                    said = subprocess.run(["readelf", "-d", library], check=True, stdout=subprocess.PIPE, text=True).stdout
                    named = re.findall(r"NEEDED.*\[(.*)\]", said)
                    self.assertEqual([name for name in named if name != "libc.so.6"] if expected else named, expected)

    def test_sizes_of_no_memory(self):
        """Numbers that make sizes wrap around, or negative, are errors: nothing is written past what there is."""
        for f in self.build(self.SIZED, options=("--fp", "strict", "-O0")):
            self.assertEqual(f("square", [2]), ("f", [2, 2], [1, 1, 1, 1]))
            self.assertEqual(f("two", [2, 3]), ("f", [1], [5]))
            for n in (1 << 31, (1 << 31) + 1, 1 << 32, 1 << 62, (1 << 63) - 1):
                self.assertIn("MemoryError: out of memory", f("square", [n]))
            self.assertIn("ValueError: a size of a result is negative", f("square", [-1]))
            self.assertIn("MemoryError: out of memory", f("two", [1 << 62, 3]))
            self.assertIn("MemoryError: out of memory", f("two", [1 << 62, -(1 << 62)]))
            self.assertIn("ValueError: the size of a tensor is negative", f("two", [1000, -100000]))

    def test_c_passes_memory_with_its_size(self):
        program = """
#include "model.h"
#include <stdlib.h>
#include <string.h>
static void tell(const char *kind, const char *text) { printf("%s: %s\\n", kind, text); }
int main(void) {
  __TVMFFIErrorSetRaisedFromCStr = tell;
  float y[1] = {0};
  model_two_inputs in = {.n = 100, .k = 50};
  model_two_results out = {y};
  int64_t bytes = model_two_workspace(&in);
  unsigned char *memory = aligned_alloc(64, (size_t)bytes + 64);
  memset(memory, 7, (size_t)bytes + 64);
  int32_t status = model_two_within(&in, &out, memory, bytes);
  printf("%d %d\\n", status, (int)y[0]);
  int64_t other = 0;
  for (int i = 0; i < 64; i++) other += memory[bytes + i] != 7;
  memset(memory, 7, (size_t)bytes + 64);
  in.n = 101;
  printf("%d\\n", model_two_within(&in, &out, memory, bytes - 64));
  printf("%d\\n", model_two_within(&in, &out, 0, 1 << 20));
  in.n = (int64_t)1 << 61;
  printf("%d\\n", model_two_within(&in, &out, memory, bytes));
  in.n = 1;
  printf("%d\\n", model_two_within(&in, &out, memory + 4, bytes));
  for (int64_t i = 0; i < bytes + 64; i++) other += memory[i] != 7;
  printf("%d bytes were written that must not be\\n", (int)other);
  free(memory);
  return 0;
}
"""
        with open(self.file("serve.c"), "w", encoding="utf-8") as f:
            f.write(program)
        for suffix in (".o", ".c"):
            with self.subTest(suffix=suffix):
                output = self.file("model" + suffix)
                p = tvms("build", "-", "-O0", "-o", output, "--emit-headers", stdin=self.SIZED)
                self.assertEqual(p.returncode, 0, p.stderr.decode())
                for driver in C_AND_CPP:
                    subprocess.run([*driver, "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", self.file("model.h")], check=True)
                subprocess.run(["cc", "-O1", "-std=c11", "-Wall", "-Werror", self.file("serve.c"), output, "-o", self.file("serve"), "-lm"], check=True)
                said = subprocess.run([self.file("serve")], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
                self.assertEqual(said[0], "0 150")
                for i, text in ((1, "bytes is needed, and there are"), (3, "bytes is needed, and there are 0"), (5, f"a workspace of {1 << 62} bytes is needed"), (7, "the workspace is not at a multiple of 64")):
                    self.assertIn(text, said[i])
                    self.assertEqual(said[i + 1], "-1")
                self.assertEqual(said[9], "0 bytes were written that must not be")


if __name__ == "__main__":
    main()
