#!/usr/bin/env python3
"""Objects in libraries: caches that callers keep between calls, from C and through the convention of tvm-ffi, and what packed functions give."""
import ctypes, os, re, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import npy
from allocations import COUNTER
from cases import main, source, tvms
from library import Any, C_AND_CPP, HEAD, LibraryTests, Object, RT, line_of

CACHE = HEAD + """
    @R.function(private=True, pure=False)
    def append(c: R.Any, x: R.Tensor((1, 2), "float32")) -> R.Any:
        d: R.Any = R.call_packed("vm.builtin.attention_kv_cache_append", c, x, ty_args=(R.Any,))
        return d

    @R.function(pure=False)
    def create(x: R.Tensor((1, 2), "float32")) -> R.Tuple(R.Any, R.Any):
        c = R.call_packed("vm.builtin.attention_kv_cache_create", x, R.shape([2, 2]), R.prim_value(0), ty_args=(R.Any,))
        return (c, R.null_value())

    @R.function(pure=False)
    def step(x: R.Tensor((1, 2), "float32"), s: R.Shape(["total"]), t: R.Tuple(R.Any, R.Any), b: R.Prim("bool")) -> R.Tuple(R.Tensor((2,), "float32"), R.Tuple(R.Any, R.Any)):
        total = T.int64()
        cls = Module
        c: R.Any = t[0]
        if b:
            d: R.Any = cls.append(c, x)
            e: R.Any = d
        else:
            e: R.Any = c
        v = R.call_packed("vm.builtin.attention_kv_cache_view", e, R.shape([total, 2]), ty_args=(R.Tensor((total, 2), "float32"),))
        y = R.sum(v, axis=[0])
        return (y, (e, t[1]))

    @R.function(pure=False)
    def window(x: R.Tensor((1, 2), "float32"), c: R.Any) -> R.Tensor("float32", ndim=2):
        m = T.int64()
        d = R.call_packed("vm.builtin.attention_kv_cache_window_override", c, x, R.prim_value(3), ty_args=(R.Any,))
        v = R.call_packed("vm.builtin.attention_kv_cache_view", d, ty_args=(R.Tensor("float32", ndim=2),))
        w = R.match_cast(v, R.Tensor((m, 2), "float32"))
        return R.add(w, w)

    @R.function(pure=False)
    def clear(c: R.Any, k: R.Prim("int64")) -> R.Tensor("float32", ndim=2):
        n = R.call_packed("vm.builtin.attention_kv_cache_array_popn", (c,), k, ty_args=(R.Any,))
        v = R.call_packed("vm.builtin.attention_kv_cache_view", c, ty_args=(R.Tensor("float32", ndim=2),))
        n2 = R.call_packed("vm.builtin.attention_kv_cache_array_clear", (c,), ty_args=(R.Any,))
        return v
"""

SERVE = r"""
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
long count_calls(void);
static void tell(const char *kind, const char *text) { printf("%s: %s\n", kind, text); }
int main(void) {
  __TVMFFIErrorSetRaisedFromCStr = tell;
  tvms_object cache = {0}, none = {0}, rows = {0};
  _Alignas(64) float x[2] = {0, 0}, y[2] = {0};
  model_create_inputs first = {.x = x};
  model_create_results made = {.result_0 = &cache, .result_1 = &none};
  if (model_create(&first, &made, 0)) return 1;
  model_step_inputs in = {.x = x, .b = 1};
  model_step_results out = {.result_0 = y, .result_1 = &cache, .result_2 = &none};
  void *workspace = aligned_alloc(64, (size_t)(model_step_workspace(&in) + 127) / 64 * 64);
  long before = 0;
  for (int i = 0; i < 100; i++) {
    // The cache has grown to 128 rows by then.
    if (i == 70) before = count_calls();
    x[0] = 1, x[1] = (float)i;
    in.total = i + 1;
    in.t_0 = cache;
    if (model_step(&in, &out, workspace)) return 1;
  }
  long calls = count_calls() - before;
  printf("%g %g, %ld calls of the allocator\n", (double)y[0], (double)y[1], calls);
  model_clear_inputs end = {.c = cache, .k = 98};
  model_clear_results left = {.result = &rows};
  if (model_clear(&end, &left, 0)) return 1;
  const float *row = tvms_object_data(&rows);
  printf("%d: %d x %d, %g %g\n", tvms_object_rank(&rows), (int)tvms_object_size(&rows, 0), (int)tvms_object_size(&rows, 1), (double)row[0], (double)row[3]);
  end.k = 1;
  printf("%d\n", model_clear(&end, &left, 0));
  tvms_object_drop(&cache);
  tvms_object_drop(&none);
  tvms_object_drop(&rows);
  return 0;
}
"""


class Objects(LibraryTests):
    def test_a_cache_is_kept_between_calls(self):
        def row(*values):
            return "f", [1, 2], list(values)

        for f in self.build(CACHE):
            cache, none = f("create", row(0, 0))
            self.assertEqual((cache.kind, none), (64, None))
            for i in range(9):
                y, again = f("step", row(1, i), [i + 1], (cache, none), True)
                self.assertEqual(y, ("f", [2], [i + 1, i * (i + 1) / 2]))
                self.assertEqual(again[0].value, cache.value)
            self.assertEqual(Object.from_address(cache.value).references & 0xFFFFFFFF, 10)
            self.assertEqual(f("step", row(9, 9), [9], (cache, none), False)[0], ("f", [2], [9, 36]))
            self.assertIn("vm.builtin.attention_kv_cache_view: the shape of what is filled is expected", f("step", row(1, 1), [3], (cache, none), False))
            self.assertIn("vm.builtin.attention_kv_cache_append: a cache is expected", f("step", row(1, 1), [3], (None, none), True))
            self.assertIn("expected Array", f("step", row(1, 1), [3], cache, True))
            # An argument is the caller's, whatever happens.
            self.assertEqual(Object.from_address(cache.value).references & 0xFFFFFFFF, 11)
            self.assertEqual(f("clear", cache, 7), ("f", [2, 2], [1, 0, 1, 1]))
            for i in range(5):
                form, shape, values = f("window", row(i, 1), cache)
                self.assertEqual((form, shape), ("f", [min(i + 1, 3), 2]))
            self.assertEqual(values, [6, 2, 8, 2, 4, 2])

    def test_c_keeps_a_cache_and_allocates_nothing(self):
        serve, counter = self.file("serve.c", SERVE), self.file("counter.c", COUNTER)
        for suffix in (".o", ".a", ".c"):
            with self.subTest(suffix=suffix):
                output = self.file("model" + suffix)
                p = tvms("build", "-", "-o", output, "--emit-headers", stdin=CACHE)
                self.assertEqual(p.returncode, 0, p.stderr.decode())
                for driver in C_AND_CPP:
                    subprocess.run([*driver, "-fsyntax-only", "-Wall", "-Wextra", "-pedantic", "-Werror", self.file("model.h")], check=True)
                subprocess.run(["cc", "-O1", "-std=c11", "-Wall", "-Werror", serve, counter, output, RT, "-o", self.file("serve"), "-lm", "-ldl"], check=True)
                said = subprocess.run([self.file("serve")], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
                self.assertEqual(said, ["100 4950, 0 calls of the allocator", "2: 2 x 2, 1 1", "ValueError: vm.builtin.attention_kv_cache_array_popn: no more rows than are filled are expected", f"  in 'clear' (line {line_of(CACHE, 'array_popn')})", "-1"])

    def test_states_of_recurrent_layers(self):
        """The golden file as native code: what it gives in TVM's machine."""
        with open(source("tests", "golden", "run", "rnn-state.tvms"), encoding="utf-8") as f:
            text = f.read().split("# EXPECT:")[0]
        wanted = (("f", [1, 2], [0.5, 0.25]), ("f", [1, 2], [1.5, 10.25]), ("f", [2, 2], [2.5, 20.25, 0.5, 0.25]), ("f", [2, 2], [3.5, 30.25, 1.5, 10.25]), ("f", [2], [4.5, 40.25]))
        for f in self.build(text):
            self.assertEqual(f("main"), wanted)
        wrong = text.replace("R.prim_value(2), R.prim_value(2), ty_args", "R.prim_value(2), R.prim_value(3), ty_args")
        for f in self.build(wrong, "wrong"):
            self.assertRegex(f("main"), r"^ValueError: .*The sequence only has 2 available history .*\n  in 'main' \(line 55\)$")

    def test_lowered_text_runs_in_both_back_ends(self):
        """Functions with lists of objects are interpreted, and kernels that they call by pointers are native code."""
        text = HEAD + """
    @R.function(private=True, pure=False)
    def step(c: R.Any, x: R.Tensor((1, 3), "float32")) -> R.Any:
        y = R.add(x, x)
        d: R.Any = R.call_packed("vm.builtin.attention_kv_cache_append", c, y, ty_args=(R.Any,))
        return d

    @R.function(pure=False)
    def main(x: R.Tensor((1, 3), "float32")) -> R.Tensor("float32", ndim=2):
        m = T.int64()
        cls = Module
        c = R.call_packed("vm.builtin.attention_kv_cache_create", x, R.shape([4, 3]), R.prim_value(0), ty_args=(R.Any,))
        d: R.Any = cls.step(c, x)
        e: R.Any = cls.step(d, x)
        v = R.call_packed("vm.builtin.attention_kv_cache_view", e, ty_args=(R.Tensor("float32", ndim=2),))
        w = R.match_cast(v, R.Tensor((m, 3), "float32"))
        return R.multiply(w, w)
"""
        given = self.file("x.npy")
        npy.write(given, "<f4", [1, 3], [1, 2, 3])
        lowered = tvms("opt", "--passes", "host", "-", stdin=text).stdout.decode()
        self.assertIn("anylist_setitem_call_packed", lowered)
        for program, backend in ((text, "interp"), (text, "llvm"), (lowered, "interp"), (lowered, "llvm")):
            p = tvms("run", "-", "--entry", "main", "--backend", backend, "--in", f"x={given}", stdin=program)
            self.assertEqual(p.returncode, 0, p.stderr.decode())
            self.assertIn("[4, 16, 36, 4, 16, 36]", p.stdout.decode())

    def test_errors_say_where(self):
        """The same sizes, functions and lines as in the interpreter, and in the virtual machine without lines."""
        text = HEAD + """
    @T.prim_func(private=True, s_tir=True)
    def divide(A: T.Buffer((2,), "int32"), B: T.Buffer((2,), "int32"), C: T.Buffer((2,), "int32")):
        for i in range(2):
            with T.sblock("divide"):
                vi = T.axis.spatial(2, i)
                C[vi] = A[vi] // B[vi]

    @R.function(private=True)
    def inner(x: R.Tensor(("n",), "int32"), y: R.Tensor((2,), "int32")) -> R.Tensor((2,), "int32"):
        n = T.int64()
        cls = Module
        z = R.match_cast(x, R.Tensor((2,), "int32"))
        q = R.call_tir(cls.divide, (z, y), R.Tensor((2,), "int32"))
        return q

    @R.function
    def main(x: R.Tensor(("n",), "int32"), y: R.Tensor((2,), "int32")) -> R.Tensor((2,), "int32"):
        n = T.int64()
        cls = Module
        a = cls.inner(x, y)
        return a
"""
        cast, call, outer = (line_of(text, what) for what in ("z = R.match_cast", "q = R.call_tir", "a = cls.inner"))
        for f in self.build(text):
            self.assertEqual(f("main", ("i", [2], [6, 8]), ("i", [2], [3, 2])), ("i", [2], [2, 4]))
            self.assertEqual(f("main", ("i", [3], [6, 8, 9]), ("i", [2], [3, 2])), f"ValueError: match_cast: dimension 0 of 'z' is 3, but must be 2\n  in 'inner' (line {cast}), called by 'main' (line {outer})")
            self.assertRegex(f("main", ("i", [2], [6, 8]), ("i", [2], [3, 0])), rf"^ZeroDivisionError: division by zero\n  in 'divide\d?', called by 'inner' \(line {call}\), called by 'main' \(line {outer}\)$")
        library, file = self.file("machine.so"), self.file("x.npy")
        self.assertEqual(tvms("build", "--vm", "-", "-o", library, stdin=text).returncode, 0)
        npy.write(file, "<i4", [3], [1, 1, 1])
        for program in ("-", library):
            said = tvms("run", program, "--in", f"x={file}", stdin=text).stderr.decode()
            place = f" (line {cast})" if program == library else ""
            self.assertIn("dimension 0 of 'z' is 3, but must be 2\n", said)
            self.assertIn(f"'inner'{place}, called by 'main' (line {outer})", said)
        npy.write(file, "<i4", [2], [1, 1])
        npy.write(self.file("y.npy"), "<i4", [2], [1, 0])
        for end in ("interp", "llvm"):
            said = tvms("run", "-", "--backend", end, "--in", f"x={file}", "--in", f"y={self.file('y.npy')}", stdin=text).stderr.decode()
            self.assertIn(f"in 'divide', called by 'inner' (line {call}), called by 'main' (line {outer})", said)

    def test_errors_name_all_that_called(self):
        """Six callers at most, of a kernel, of a check, and of a function of the run time; native code and the interpreter say the same."""
        text = HEAD + """
    @T.prim_func(private=True, s_tir=True)
    def divide(A: T.Buffer((2,), "int32"), B: T.Buffer((2,), "int32"), C: T.Buffer((2,), "int32")):
        for i in range(2):
            C[i] = A[i] // B[i]

    @R.function(private=True, pure=False)
    def leaf(x: R.Tensor(("n",), "int32"), y: R.Tensor((2,), "int32")) -> R.Tensor((2,), "int32"):
        n = T.int64()
        cls = Module
        z = R.match_cast(x, R.Tensor((2,), "int32"))
        q = R.call_tir(cls.divide, (z, y), R.Tensor((2,), "int32"))
        c: R.Any = R.call_packed("vm.builtin.attention_kv_cache_create", q, R.shape([2, 2]), R.prim_value(0), ty_args=(R.Any,))
        return q

    @R.function(private=True, pure=False)
    def again(x: R.Tensor(("n",), "int32"), y: R.Tensor((2,), "int32"), k: R.Tensor((), "int32")) -> R.Tensor((2,), "int32"):
        n = T.int64()
        cls = Module
        more = R.greater(k, R.const(0, "int32"))
        if more:
            less = R.subtract(k, R.const(1, "int32"))
            r = cls.again(x, y, less)
        else:
            r = cls.leaf(x, y)
        return r

    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "int32"), y: R.Tensor((2,), "int32"), k: R.Tensor((), "int32")) -> R.Tensor((2,), "int32"):
        n = T.int64()
        cls = Module
        a = cls.again(x, y, k)
        return a
"""
        at = {what: f"(line {line_of(text, what)})" for what in ("z = ", "q = ", "c: ", "r = cls.again", "r = cls.leaf", "a = ")}
        leaf, again, first = f"called by 'again' {at['r = cls.leaf']}", f", called by 'again' {at['r = cls.again']}", f", called by 'main' {at['a = ']}"
        for x, y, begin in (([6, 8], [3, 0], f"in 'divide', called by 'leaf' {at['q = ']}, "), ([6, 8, 9], [3, 2], f"in 'leaf' {at['z = ']}, "), ([6, 8], [3, 2], f"in 'leaf' {at['c: ']}, ")):
            names = begin.count("'")  // 2
            chains = {k: begin + leaf + again * k + first for k in (0, 2)}
            chains[50] = begin + leaf + again * (6 - names) + ", and so on"
            for f in self.build(text):
                for k, chain in chains.items():
                    self.assertEqual(f("main", ("i", [len(x)], x), ("i", [2], y), ("i", [], [k])).split("\n  ")[1], chain)
            files = self.file("x.npy"), self.file("y.npy")
            npy.write(files[0], "<i4", [len(x)], x)
            npy.write(files[1], "<i4", [2], y)
            for k, chain in chains.items():
                p = tvms("run", "-", "--in", f"x={files[0]}", "--in", f"y={files[1]}", "--in", f"k={k}", stdin=text)
                begins = re.sub(r"^in 'leaf' \(line [0-9]+\)", "in 'leaf'", chain)
                self.assertIn(f"= {begins}\n", p.stderr.decode())

    def test_kernels_get_numbers_of_packed_functions(self):
        text = HEAD + """
    @T.prim_func(private=True, s_tir=True)
    def kernel(A: T.Buffer((4,), "int32")):
        A[0] = T.call_packed("test.give", T.int32(3))
        A[1] = T.call_packed("test.give", T.int32(9), T.int64(7))
        A[2] = T.call_packed("test.give", T.int32(9), T.float64(-7.9))
        A[3] = T.call_packed("test.give", T.int32(9), A)

    @R.function(pure=False)
    def main() -> R.Tensor((4,), "int32"):
        cls = Module
        return R.call_tir(cls.kernel, R.tuple(), R.Tensor((4,), "int32"))
"""
        for f in self.build(text):
            table = Registry(f)
            self.assertEqual(f("main"), ("i", [4], [2, 7, -7, 0]))
            del table

    def test_packed_functions_give_values(self):
        text = HEAD + """
    @R.function(pure=False)
    def main(x: R.Tensor(("n",), "float32"), c: R.Tensor("float32", ndim=1)) -> R.Tuple(R.Tensor("float32", ndim=1), R.Shape(ndim=2), R.Prim("int64"), R.Prim("float32"), R.Any):
        n = T.int64()
        m = T.int64()
        a: R.Tensor("float32", ndim=1) = R.call_packed("test.give", R.prim_value(0), x, ty_args=(R.Tensor("float32", ndim=1),))
        b = R.match_cast(a, R.Tensor((m,), "float32"))
        d = R.add(b, b)
        e = R.add(d, R.const(1.0, "float32"))
        s: R.Shape(ndim=2) = R.call_packed("test.give", R.prim_value(1), R.shape([n, 7]), ty_args=(R.Shape(ndim=2),))
        i: R.Prim("int64") = R.call_packed("test.give", R.prim_value(2), R.prim_value(n), ty_args=(R.Prim("int64"),))
        f: R.Prim("float32") = R.call_packed("test.give", R.prim_value(3), ty_args=(R.Prim("float32"),))
        _: R.Any = R.call_packed("test.give", R.prim_value(4), (x, R.prim_value(5)), ty_args=(R.Any,))
        t: R.Tuple(R.Any, R.Prim("int64")) = R.call_packed("test.give", R.prim_value(4), (x, R.prim_value(5)), ty_args=(R.Tuple(R.Any, R.Prim("int64")),))
        return (e, s, R.prim_value(i + 1), f, t)
"""
        for f in self.build(text):
            table = Registry(f)
            e, s, i, real, t = f("main", ("f", [3], [1, 2, 3]), ("f", [2], [0, 0]))
            self.assertEqual((e, s, i, real), (("f", [2], [3, 5]), [3, 7], 4, 2.5))
            self.assertEqual(t, (("f", [3], [1, 2, 3]), 5))
            table.wrong = True
            self.assertIn("TypeError: result of 'test.give': a tensor of 1 dimensions and float32 is expected", f("main", ("f", [3], [1, 2, 3]), ("f", [2], [0, 0])))

    def test_sizes_follow_from_data(self):
        text = HEAD + """
    @R.function
    def unique(x: R.Tensor(("n",), "float32")) -> R.Tensor("float32", ndim=1):
        m = T.int64()
        u = R.unique(x, sorted=True, axis=None)
        v = R.match_cast(u, R.Tensor((m,), "float32"))
        w = R.add(v, v)
        return R.subtract(w, v)

    @R.function
    def all(x: R.Tensor(("n", 2), "int32")) -> R.Tuple(R.Tensor("int32", ndim=2), R.Tensor("int64", ndim=1), R.Tensor("int64", ndim=1), R.Tensor("int64", ndim=1)):
        u = R.unique(x, sorted=False, return_index=True, return_inverse=True, return_counts=True, axis=0)
        return (u[0], u[1], u[2], u[3])

    @R.function
    def nonzero(x: R.Tensor(("n", 3), "float32")) -> R.Tensor("int64", ndim=2):
        m = T.int64()
        u = R.nonzero(x)
        v = R.match_cast(u, R.Tensor((2, m), "int64"))
        return R.add(v, v)

    @R.function
    def slice(x: R.Tensor((8, 9), "float32"), b: R.Tensor((2,), "int64"), e: R.Tensor((2,), "int64"), s: R.Tensor((2,), "int64")) -> R.Tensor("float32", ndim=2):
        y = R.dynamic_strided_slice(x, b, e, s)
        return y

    @R.function(private=True)
    def shaped(x: R.Tensor(("k",), "float32"), s: R.Tensor((2,), "int64")) -> R.Tensor("float32", ndim=2):
        a, b = T.int64(), T.int64()
        t = R.tensor_to_shape(s)
        u = R.match_cast(t, R.Shape([a, b]))
        y = R.broadcast_to(R.sum(x), R.shape([a, b]))
        return y

    @R.function
    def chosen(x: R.Tensor((12,), "float32"), s: R.Tensor((2,), "int64"), c: R.Tensor((), "bool")) -> R.Tensor("float32", ndim=2):
        a, b = T.int64(), T.int64()
        cls = Module
        if c:
            y: R.Tensor("float32", ndim=2) = cls.shaped(x, s)
            z: R.Tensor("float32", ndim=2) = y
        else:
            w = R.reshape(x, R.shape([4, 3]))
            z: R.Tensor("float32", ndim=2) = w
        v = R.match_cast(z, R.Tensor((a, b), "float32"))
        return R.multiply(v, R.const(2.0, "float32"))

    @R.function
    def any(x: R.Tensor("float32"), c: R.Prim("bool")) -> R.Tensor("float32"):
        n = T.int64()
        if c:
            y: R.Tensor((n,), "float32") = R.match_cast(x, R.Tensor((n,), "float32"))
            w = R.add(y, y)
            z: R.Tensor("float32") = w
        else:
            z: R.Tensor("float32") = x
        return z
"""
        nan, big = float("nan"), float("inf")
        cases = [
            ("unique", [("f", [9], [3, -0.0, 1, 0, big, 1, -big, 3, -2])]),
            ("unique", [("f", [4], [nan, 1, nan, -1])]),
            ("unique", [("f", [0], [])]),
            ("all", [("i", [6, 2], [3, 1, -2, 5, 3, 1, -2, 4, -2, 5, 3, 1])]),
            ("nonzero", [("f", [3, 3], [0, 1, -0.0, nan, 0, 2, 0, 0, -1])]),
            ("slice", [("f", [8, 9], list(range(72))), ("q", [2], [1, 2]), ("q", [2], [7, 9]), ("q", [2], [2, 3])]),
            ("chosen", [("f", [12], list(range(12))), ("q", [2], [2, 3]), ("?", [], [True])]),
            ("chosen", [("f", [12], list(range(12))), ("q", [2], [2, 3]), ("?", [], [False])]),
        ]
        program = self.file("program.tvms", text)
        for f in self.build(text):
            for entry, inputs in cases:
                with self.subTest(entry=entry, inputs=inputs):
                    self.assertEqual(repr(f(entry, *inputs)), repr(self.interpreted(program, text, entry, inputs)))
            self.assertEqual(f("any", ("f", [2], [1, 2]), True), ("f", [2], [2, 4]))
            self.assertEqual(f("any", ("f", [1, 2], [1, 2]), False), ("f", [1, 2], [1, 2]))
            self.assertIn("match_cast: 'y': a tensor of 1 dimensions and float32 is expected, not a tensor of 2 dimensions and float32\n  in 'any'", f("any", ("f", [1, 2], [1, 2]), True))
            self.assertIn("out of memory", f("chosen", ("f", [12], [0] * 12), ("q", [2], [1 << 40, 1 << 40]), ("?", [], [True])))

    def test_recursive_functions_give_what_grows(self):
        text = HEAD + """
    @R.function(private=True)
    def grow(x: R.Tensor(("n",), "float32"), k: R.Prim("int64")) -> R.Tensor("float32", ndim=1):
        n = T.int64()
        cls = Module
        if R.prim_value(k > 0):
            y = R.concat((x, x), axis=0)
            z: R.Tensor("float32", ndim=1) = cls.grow(y, R.prim_value(k - 1))
            r: R.Tensor("float32", ndim=1) = z
        else:
            r: R.Tensor("float32", ndim=1) = x
        return r

    @R.function
    def main(x: R.Tensor(("n",), "float32"), k: R.Prim("int64")) -> R.Tensor("float32", ndim=1):
        m = T.int64()
        cls = Module
        y: R.Tensor("float32", ndim=1) = cls.grow(x, k)
        z = R.match_cast(y, R.Tensor((m,), "float32"))
        return R.add(z, z)
"""
        for f in self.build(text):
            for k in range(4):
                self.assertEqual(f("main", ("f", [2], [1, 2]), k), ("f", [2 << k], [2, 4] * (1 << k)))

    def test_fields_of_tuples_from_elsewhere(self):
        # They are lent by the tuple, which stays; what goes out of the function has references of its own.
        text = HEAD + """
    @R.function(pure=False)
    def main(x: R.Any, c: R.Prim("bool")) -> R.Tuple(R.Any, R.Any, R.Any, R.Any):
        t = R.call_packed("vm.builtin.copy", x, ty_args=(R.Tuple(R.Any, R.Tuple(R.Any, R.Any), R.Any),))
        a = t[0]
        p = t[1]
        b = p[1]
        d = t[2]
        u = R.call_packed("vm.builtin.make_tuple", a, b, d, a, ty_args=(R.Tuple(R.Any, R.Any, R.Any, R.Any),))
        e = u[3]
        if c:
            f = u[1]
        else:
            f = t[2]
        return (e, b, d, f)
"""
        shape, other = [3, 4], [7]
        for f in self.build(text):
            for first, second, third in ((shape, other, 5), (2.5, shape, other), (True, 3, None), (other, ("f", [2], [1.0, 2.0]), ())):
                kept = []
                values = [v if isinstance(v, tuple) and v else f.argument(v, kept) for v in (first, second, third)]
                counted = [(o, o[0]) for o in kept if isinstance(o, ctypes.Array) and o._type_ is ctypes.c_int64 and o[0] >> 32]
                for c in (True, False):
                    self.assertEqual(f("main", (values[0], (0, values[1]), values[2]), c), (first, second, third, second if c else third))
                self.assertEqual([o[0] for o, _ in counted], [count for _, count in counted])
            for wrong in ((1, (2, 3)), (1, 2, 3), (1, (2,), 3), 5, [1, 2, 3]):
                self.assertIn("a tuple that has such a field", f("main", wrong, True))

    def test_bench_interprets_what_has_objects(self):
        p = tvms("bench", "-", "--entry", "create", "--repeat", "2", stdin=CACHE)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        self.assertIn(b"create: median", p.stdout)


class Registry:
    """Stands for the run time that loads a library: 'test.give', whose first argument says what it gives."""

    FIND = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p))
    CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Any), ctypes.c_int32, ctypes.POINTER(Any))

    def __init__(self, library):
        self.wrong, self.kept, self.loaded = False, [], library
        self.find, self.call = self.FIND(self.found), self.CALL(self.called)
        for slot, function in (("__TVMFFIEnvModLookupFromImports", self.find), ("__TVMFFIFunctionCall", self.call)):
            ctypes.c_void_p.in_dll(library.handle, slot).value = ctypes.cast(function, ctypes.c_void_p).value

    def found(self, _, name, to):
        to[0] = 1
        return 0 if name == b"test.give" else -1

    def object(self, value):
        """An object that nobody frees."""
        kept = []
        any_ = self.loaded.argument(value, kept)
        if any_.kind == 7:
            tensor = ctypes.create_string_buffer(24 + 48)
            ctypes.memmove(ctypes.addressof(tensor) + 24, any_.value, 48)
            (ctypes.c_int64 * 3).from_buffer(tensor)[:] = [(1 << 32) + 1, 70, 0]
            kept.append(tensor)
            any_ = Any(70, 0, ctypes.addressof(tensor))
        if any_.kind >= 64:
            Object.from_address(any_.value).references += 1
        self.kept.append(kept)
        return any_

    def called(self, _, args, count, result):
        what = args[0].value
        if what == 0:
            given = self.object(3.5 if self.wrong else ("f", [2], [1, 2]))
        elif what == 3:
            given = self.object(2.5)
        else:
            given = Any(args[1].kind, 0, args[1].value)
            if given.kind >= 64:
                Object.from_address(given.value).references += 1
        result[0] = given
        return 0


if __name__ == "__main__":
    main()
