#!/usr/bin/env python3
"""Functions as values in libraries: chosen, given back, passed on and called, and held in branches."""
import os, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from allocations import COUNTER
from cases import main, tvms
from library import C_AND_CPP, HEAD, LibraryTests, RT, line_of

LATE = HEAD + """
    @R.function(private=True)
    def doubled(x: R.Tensor(("n",), "float32")) -> R.Tensor("float32", ndim=1):
        n, m = T.int64(), T.int64()
        u = R.unique(x, sorted=True, axis=None)
        v = R.match_cast(u, R.Tensor((m,), "float32"))
        w = R.add(v, v)
        return w

    @R.function(private=True)
    def same(x: R.Tensor(("n",), "float32")) -> R.Tensor("float32", ndim=1):
        n = T.int64()
        return x

    @R.function
    def given(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")) -> R.Tensor("float32", ndim=1):
        n, m = T.int64(), T.int64()
        cls = Module
        if c:
            f = cls.doubled
        else:
            f = cls.same
        y: R.Tensor("float32", ndim=1) = f(x)
        z = R.match_cast(y, R.Tensor((m,), "float32"))
        w = R.add(z, z)
        return w

    @R.function
    def held(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")) -> R.Tensor("float32", ndim=1):
        n, m = T.int64(), T.int64()
        cls = Module
        if c:
            p = T.int64()
            a = R.unique(x, sorted=True, axis=None)
            b = R.match_cast(a, R.Tensor((p,), "float32"))
            d = R.multiply(b, b)

            @R.function
            def inner(y: R.Tensor(("q",), "float32")) -> R.Tensor("float32", ndim=1):
                q = T.int64()
                z = R.sum(y)
                w = R.add(d, z)
                return w

            f = inner
        else:
            f = cls.doubled
        y: R.Tensor("float32", ndim=1) = f(x)
        z = R.match_cast(y, R.Tensor((m,), "float32"))
        w = R.add(z, z)
        return w

    @R.function
    def merged(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")) -> R.Tensor("float32", ndim=1):
        n, p = T.int64(), T.int64()
        a = R.unique(x, sorted=True, axis=None)
        b = R.match_cast(a, R.Tensor((p,), "float32"))
        if c:
            e: R.Tensor((p,), "float32") = R.multiply(b, b)
        else:
            d = R.negative(b)
            e: R.Tensor((p,), "float32") = R.multiply(d, b)
        w = R.add(e, b)
        return w

    @R.function
    def nested(x: R.Tensor(("n",), "float32"), c: R.Tensor((), "bool")) -> R.Tensor("float32", ndim=1):
        n, m = T.int64(), T.int64()
        if R.prim_value(n > 2):
            if c:
                p = T.int64()
                a = R.unique(x, sorted=True, axis=None)
                b = R.match_cast(a, R.Tensor((p,), "float32"))
                f = R.multiply(b, b)
            else:
                f = x
            g = f
        else:
            g = R.concat((x, x), axis=0)
        z = R.match_cast(g, R.Tensor((m,), "float32"))
        w = R.add(z, z)
        return w
"""

VECTOR = 'R.Tensor(("n",), "float32")'

CALLABLE = f'R.Callable(({VECTOR},), {VECTOR}, True)'

FUNCTIONS = HEAD + f"""
    @R.function
    def scaled(x: {VECTOR}) -> {CALLABLE}:
        n = T.int64()
        @R.function
        def scale(y: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            z = R.multiply(y, x)
            return z
        return scale

    @R.function
    def apply(f: {CALLABLE}, x: {VECTOR}) -> {VECTOR}:
        n = T.int64()
        y: R.Tensor((n,), "float32") = f(x)
        z: R.Tensor((n,), "float32") = f(y)
        return z

    @R.function
    def twice(f: {CALLABLE}) -> {CALLABLE}:
        cls = Module
        @R.function
        def both(x: {VECTOR}) -> {VECTOR}:
            n = T.int64()
            y: R.Tensor((n,), "float32") = cls.apply(f, x)
            return y
        return both

    @R.function(private=True)
    def square(x: {VECTOR}) -> {VECTOR}:
        n = T.int64()
        y = R.multiply(x, x)
        return y

    @R.function
    def choose(f: {CALLABLE}, x: {VECTOR}, c: R.Prim("bool")) -> {VECTOR}:
        n = T.int64()
        cls = Module
        if c:
            g = f
        else:
            g = cls.square
        y: R.Tensor((n,), "float32") = g(x)
        return y

    @R.function
    def pair(f: {CALLABLE}) -> R.Tuple({CALLABLE}, R.Prim("int64")):
        return (f, R.prim_value(7))

    @R.function
    def all(t: R.Tuple({CALLABLE}, R.Tuple({CALLABLE}, R.Prim("int64"))), x: {VECTOR}) -> {VECTOR}:
        n = T.int64()
        f = t[0]
        u = t[1]
        g = u[0]
        y: R.Tensor((n,), "float32") = f(x)
        z: R.Tensor((n,), "float32") = g(y)
        k = R.full(R.shape([n]), R.const(2.0, "float32"), "float32")
        w = R.add(z, k)
        return w
"""

CALL = r"""
#include "model.h"
#include <stdio.h>
static int calls;
static void tell(const char *kind, const char *text) { printf("%s: %s\n", kind, text); }
static int32_t same(void *self, const tvms_object *arguments, int32_t count, tvms_object *result) {
  (void)count;
  ++*(int *)((tvms_function_content *)self)->state;
  *result = tvms_object_keep(&arguments[0]);
  return 0;
}
int main(void) {
  __TVMFFIErrorSetRaisedFromCStr = tell;
  _Alignas(64) float x[2] = {2, 3}, y[2] = {1, 2}, z[2];
  tvms_object scale = {0}, twice = {0}, kept = {0};
  model_scaled_inputs first = {.x = x, .n = 2};
  model_scaled_results made = {.result = &scale};
  if (model_scaled(&first, &made, 0)) return 1;
  model_apply_inputs in = {.f = scale, .x = y, .n = 2};
  model_apply_results out = {.result = z};
  if (model_apply(&in, &out, 0)) return 1;
  printf("%g %g\n", (double)z[0], (double)z[1]);
  // A function of C, and what the library makes of it.
  tvms_function_content content;
  in.f = tvms_object_of_function(&content, same, &calls);
  model_twice_inputs around = {.f = in.f};
  model_twice_results given = {.result = &twice};
  if (model_twice(&around, &given, 0)) return 1;
  in.x = x;
  if (model_apply(&in, &out, 0)) return 1;
  // A tensor as an argument: an object of another call.
  struct { void *data; int32_t device[2], rank; uint8_t type[4]; const int64_t *sizes, *strides; uint64_t offset; } lent = {y, {1, 0}, 1, {2, 32, 1, 0}, (const int64_t[]){2}, 0, 0};
  tvms_object argument = {7, 0, (int64_t)(intptr_t)&lent};
  if (tvms_object_call(&scale, &argument, 1, &kept)) return 1;
  const float *row = tvms_object_data(&kept);
  calls += row[0] == 2 && row[1] == 6;
  printf("%g %g\n", (double)row[0], (double)row[1] - 2);
  in.f = argument;
  printf("%d\n", model_apply(&in, &out, 0));
  tvms_object_drop(&kept);
  tvms_object_drop(&twice);
  tvms_object_drop(&scale);
  printf("%d calls, %d objects left\n", calls, (int)(content.references & 0xffffffff) - 1);
  return 0;
}
"""


class FunctionValues(LibraryTests):
    def test_functions_are_chosen(self):
        text = HEAD + """
    @R.function(private=True)
    def twice(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return R.add(x, x)

    @R.function(private=True)
    def square(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return R.multiply(x, x)

    @R.function
    def main(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool"), k: R.Tensor((), "int64")) -> R.Tuple(R.Tensor((4,), "float32"), R.Tensor((4,), "float32")):
        cls = Module
        y = R.exp(x)
        d = R.greater(k, R.const(3, "int64"))
        if c:
            z = R.multiply(y, y)
            w = R.add(z, x)
            @R.function
            def inner(a: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
                b: R.Tensor((4,), "float32") = R.add(a, w)
                return R.add(b, y)
            f: R.Callable((R.Tensor((4,), "float32"),), R.Tensor((4,), "float32")) = inner
        else:
            if d:
                g: R.Callable((R.Tensor((4,), "float32"),), R.Tensor((4,), "float32")) = cls.twice
            else:
                g: R.Callable((R.Tensor((4,), "float32"),), R.Tensor((4,), "float32")) = cls.square
            f: R.Callable((R.Tensor((4,), "float32"),), R.Tensor((4,), "float32")) = g
        r: R.Tensor((4,), "float32") = f(x)
        s: R.Tensor((4,), "float32") = f(r)
        t = R.add(s, r)
        return (t, s)
"""
        program = self.file("program.tvms", text)
        for f in self.build(text):
            for c, k in ((True, 1), (False, 4), (False, 2)):
                inputs = [("f", [4], [0.5, -1, 2, 0.25]), ("?", [], [c]), ("q", [], [k])]
                self.assertEqual(f("main", *inputs), self.interpreted(program, text, "main", inputs))

    def test_branches_hold_and_give_what_has_no_size_yet(self):
        cases = [(entry, [("f", [5], [2, 2, -3, 0.5, 2]), ("?", [], [c])]) for entry in ("given", "held", "merged", "nested") for c in (True, False)]
        program = self.file("program.tvms", LATE)
        for f in self.build(LATE):
            for entry, inputs in cases:
                with self.subTest(entry=entry, inputs=inputs):
                    self.assertEqual(f(entry, *inputs), self.interpreted(program, LATE, entry, inputs))
            self.assertEqual(f("given", *cases[0][1]), ("f", [3], [-12, 2, 8]))
            self.assertEqual(f("held", *cases[0][1]), ("f", [3], [25, 7.5, 15]))

    def test_functions_are_values(self):
        def vector(*values):
            return "f", [len(values)], list(values)

        for f in self.build(FUNCTIONS):
            scale = f("scaled", vector(2, 3))
            self.assertEqual(scale.kind, 68)
            self.assertEqual(f("apply", scale, vector(1, 2)), vector(4, 18))
            # A closure around a closure, and a function without captured values.
            again = f("twice", scale)
            self.assertEqual(f("apply", again, vector(1, 2)), vector(16, 162))
            self.assertEqual(f("choose", scale, vector(3, 4), True), vector(6, 12))
            self.assertEqual(f("choose", scale, vector(3, 4), False), vector(9, 16))
            pair = f("pair", scale)
            self.assertEqual((pair[0].kind, pair[1]), (68, 7))
            self.assertEqual(f("apply", pair[0], vector(1, 1)), vector(4, 9))
            self.assertEqual(f("all", (scale, (again, 2)), vector(1, 1)), vector(2 * 4 + 2, 3 * 9 + 2))
            for wrong in (3, vector(1, 2), None):
                self.assertIn("TypeError: argument 'f': a function is expected", f("apply", wrong, vector(1, 2)))
            # What is called looks at its arguments itself.
            self.assertIn("Mismatched", f("apply", scale, vector(1, 2, 3)))

    def test_c_has_functions_as_objects(self):
        call, counter = self.file("call.c", CALL), self.file("counter.c", COUNTER)
        for suffix in (".o", ".c"):
            with self.subTest(suffix=suffix):
                output = self.file("model" + suffix)
                p = tvms("build", "-", "-o", output, "--emit-headers", stdin=FUNCTIONS)
                self.assertEqual(p.returncode, 0, p.stderr.decode())
                for driver in C_AND_CPP:
                    subprocess.run([*driver, "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", self.file("model.h")], check=True)
                subprocess.run(["cc", "-O1", "-g", "-std=c11", "-Wall", "-Werror", call, counter, output, RT, "-o", self.file("call"), "-lm", "-ldl"], check=True)
                said = subprocess.run([self.file("call")], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
                self.assertEqual(said, ["4 18", "2 4", "TypeError: argument 'f': a function is expected", f"  in 'apply' (line {line_of(FUNCTIONS, 'def apply') - 1})", "-1", "3 calls, 0 objects left"])


if __name__ == "__main__":
    main()
