#!/usr/bin/env python3
"""Relax functions in libraries: called through the convention of tvm-ffi, what they return is what the interpreter computes."""
import ctypes, math, os, struct, sys, zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import npy
from cases import main, tvms
from library import Any, HEAD, Library, LibraryTests, Tensor


class NativeMain(LibraryTests):
    def test_tensors(self):
        text = HEAD + """
    @R.function
    def main(x: R.Tensor(("n", 2), "float32"), w: R.Tensor((2, 3), "float32")) -> R.Tensor(("n", 3), "float32"):
        with R.dataflow():
            y = R.nn.relu(R.matmul(x, w))
            z = R.add(y, y)
            u = R.exp(z)
            v = R.subtract(u, z)
            R.output(v)
        return v
"""
        for f in self.build(text):
            for n in (1, 3, 0, 40, 2):
                form, shape, values = f("main", ("f", [n, 2], [0.0] * (2 * n)), ("f", [2, 3], [1.0] * 6))
                self.assertEqual((form, shape, values), ("f", [n, 3], [1.0] * (3 * n)))
            self.assertIn("Mismatched x.dtype on argument #0 when calling:\n  `main(x: Tensor([n, 2], float32), w: Tensor([2, 3], float32))`,\n  expected float32",
                          f("main", ("d", [1, 2], [0.0] * 2), ("f", [2, 3], [1.0] * 6)))
            self.assertIn("TypeError: Expected 2 arguments when calling", f("main"))
            # Also with strides that fit the size that is wrong.
            self.assertIn("ValueError: Invalid x.shape[1] on argument #0", f("main", ("f", [2, 3], [0.0] * 6), ("f", [2, 3], [1.0] * 6)))

    def test_many_weights(self):
        # Tensors of fixed sizes are checked by a loop where there are many of them, and each is as well checked as one alone.
        shapes = [(2, 3), (3,), (1, 3), (), (2, 1, 3)]
        types = [f"R.Tensor({shapes[i % 5]}, \"float32\")" for i in range(20)]
        params = ", ".join(f"w{i}: {type}" for i, type in enumerate(types))
        text = HEAD + f"""
    @R.function
    def main(x: R.Tensor(("n", 3), "float32"), {params}, t: R.Tuple({", ".join(types)})):
        n = T.int64()
        a = R.add(x, w16)
        b = t[2]
        c = R.add(a, b)
        d = t[18]
        return R.add(c, d)
"""
        def change(**fields):
            def apply(tensor):
                for name, value in fields.items():
                    setattr(tensor, name, value)
            return apply
        many = (ctypes.c_int64 * 3)(8, 8, 8)
        one, other = (ctypes.c_int64 * 2)(3, 1), (ctypes.c_int64 * 2)(99, 1)
        wrong = [(0, change(ndim=1), "ValueError: Mismatched {}.ndim on argument #{}"), (1, change(bits=64), "TypeError: Mismatched {}.dtype on argument #{}"),
                 (0, change(code=0), "TypeError: Mismatched {}.dtype on argument #{}"), (2, change(device=(2, 0)), "ValueError: Mismatched {}.device_type on argument #{}"),
                 (3, change(device=(1, 1)), "ValueError: Mismatched {}.device_id on argument #{}"), (3, change(offset=4), "ValueError: Invalid {}.byte_offset on argument #{}"),
                 (0, change(data=None), "ValueError: {} data pointer is NULL on argument #{}"), (0, lambda t: setattr(t, "data", t.data + 2), "ValueError: Misaligned Tensor data on argument #{1}"),
                 (0, change(shape=many), "ValueError: Invalid {}.shape[0] on argument #{}"), (4, lambda t: t.shape.__setitem__(2, 4), "ValueError: Invalid {}.shape[2] on argument #{}"),
                 (0, change(strides=many), "ValueError: Mismatched {}.strides on argument #{}"), (4, lambda t: t.shape.__setitem__(0, 3), "ValueError: Invalid {}.shape[0] on argument #{}"),
                 (0, change(strides=one), None), (2, change(strides=other), None), (3, change(), None)]
        for f in self.build(text):
            kept = []
            fill = lambda shape: ("f", list(shape), [1.0] * math.prod(shape))
            weights = [f.argument(fill(shapes[i % 5]), kept) for i in range(40)]
            call = lambda values: f("main", fill((2, 3)), *values[:20], tuple(values[20:]))
            for at in (0, 5, 15, 20, 35):
                for place, apply, text in wrong:
                    i, own = at + place, []
                    changed = f.argument(fill(shapes[i % 5]), own)
                    apply(own[-1])
                    got = call(weights[:i] + [changed] + weights[i + 1:])
                    if text:
                        name, argument = (f"w{i}", i + 1) if i < 20 else (f"t_{i - 20}", 21)
                        self.assertIn(text.format(name, argument), got)
                    else:
                        self.assertEqual(got, fill((2, 3))[:2] + ([4.0] * 6,))
                for value in (Any(), Any(1, 0, 5), Any(7, 0, 0), Any(4, 0, 0)):
                    self.assertIn(f"TypeError: Mismatched type on argument #{min(at + 1, 21)}", call(weights[:at] + [value] + weights[at + 1:]))

    def test_tuples_shapes_and_numbers(self):
        text = HEAD + """
    @R.function
    def main(t: R.Tuple(R.Tensor(("n",), "float32"), R.Tuple(R.Prim("int64"), R.Prim("float64"))), s: R.Shape(["n", "m"]), b: R.Prim("bool")):
        n, m = T.int64(), T.int64()
        u = t[1]
        x = t[0]
        y = R.add(x, x)
        return ((y, x), R.shape([m, n, n * m]), u[0], (u[1], b), ())
"""
        for f in self.build(text):
            x = ("f", [2], [1.0, 2.0])
            self.assertEqual(f("main", (x, (7, 2.5)), [2, 3], True), ((("f", [2], [2.0, 4.0]), x), [3, 2, 6], 7, (2.5, True), ()))
            self.assertEqual(f("main", (x, (7, 2)), [2, 3], False)[3], (2.0, False))
            self.assertIn("Mismatched length of the Array on argument #0", f("main", (x,), [2, 3], True))
            self.assertIn("Mismatched type on argument #2 when calling:\n  `main(Tuple(t_0: Tensor([n], float32), Tuple(t_1_0: int64, t_1_1: float64)), Shape([n, m]), b: bool)`,\n  expected boolean",
                          f("main", (x, (7, 2.5)), [2, 3], 0.5))
            self.assertIn("Mismatched length of the Shape", f("main", (x, (7, 2.5)), [2], True))
            self.assertIn("TypeError: Mismatched type on argument #0", f("main", 1, [2, 3], True))
            self.assertIn("ValueError", f("main", (x, (7, 2.5)), [3, 3], True))

    def test_shapes_that_are_values(self):
        text = HEAD + """
    @R.function
    def main(x: R.Tensor((1, 6), "float32"), s: R.Shape(ndim=2)):
        y = R.broadcast_to(x, s)
        return y

    @R.function
    def turned(x: R.Tensor("float32", ndim=2), b: R.Tuple(R.Prim("int64"), R.Shape(ndim=2))):
        y = R.reshape(x, b[1])
        z = R.add(y, R.ones(b[1], "float32"))
        return z
"""
        text += """
    @R.function
    def named(x: R.Tensor(("k", 6), "float32"), s: R.Shape(["n", "m"])):
        n, m = T.int64(), T.int64()
        y = R.reshape(x, R.shape([n, m]))
        return y
"""
        six = [float(i) for i in range(6)]
        for f in self.build(text):
            self.assertEqual(f("named", ("f", [1, 6], six), [3, 2]), ("f", [3, 2], six))
            self.assertIn("match_cast: dimension 0 of", f("named", ("f", [1, 6], six), [300, 300]))
            self.assertEqual(f("main", ("f", [1, 6], six), [3, 6]), ("f", [3, 6], six * 3))
            self.assertEqual(f("main", ("f", [1, 6], six), [0, 6]), ("f", [0, 6], []))
            for wrong in ([3, 7], [3, 1], [3, 5]):
                self.assertIn("match_cast: dimension 0 of", f("main", ("f", [1, 6], six), wrong))
            self.assertIn("Mismatched length of the Shape on argument #1", f("main", ("f", [1, 6], six), [6]))
            self.assertEqual(f("turned", ("f", [1, 6], six), (1, [3, 2])), ("f", [3, 2], [x + 1 for x in six]))
            self.assertIn("match_cast: dimension 0 of", f("turned", ("f", [1, 6], six), (1, [3, 3])))
            self.assertIn("negative", f("turned", ("f", [1, 6], six), (1, [-3, -2])))

    def test_views(self):
        text = HEAD + """
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), s: R.Shape(["k", "at"])):
        n, k, at = T.int64(), T.int64(), T.int64()
        y = R.memory.view(x, R.shape([k, 2]), R.dtype("float32"), R.prim_value(at))
        z = R.add(y, R.const(0.5, "float32"))
        return z

    @R.function
    def bits(x: R.Tensor((4,), "float32")):
        y = R.memory.view(x, dtype="int32")
        z = R.call_pure_packed("runtime.TVMTensorCreateView", y, R.shape([2]), R.dtype("int32"), R.prim_value(4), ty_args=(R.Tensor((2,), "int32"),))
        return (y, z)
"""
        x = ("f", [3, 4], [float(i) for i in range(12)])
        pattern = list(struct.unpack("4i", struct.pack("4f", 0.0, 1.0, -2.0, 3.5)))
        for f in self.build(text):
            self.assertEqual(f("main", x, [2, 16]), ("f", [2, 2], [4.5, 5.5, 6.5, 7.5]))
            self.assertEqual(f("main", x, [6, 0]), ("f", [6, 2], [i + 0.5 for i in range(12)]))
            self.assertIn("ValueError: view: the tensor has too few bytes", f("main", x, [6, 4]))
            self.assertIn("ValueError: view: the offset is negative", f("main", x, [1, -4]))
            self.assertEqual(f("bits", ("f", [4], [0.0, 1.0, -2.0, 3.5])), (("i", [4], pattern), ("i", [2], pattern[1:3])))

    def test_places_by_truths(self):
        text = HEAD + """
    @T.prim_func(private=True, s_tir=True)
    def pick(A: T.Buffer((17,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(2):
            B[T.Ramp(i * 8, 1, 8)] = A[T.Broadcast(i * 8, 8) + T.Cast("int32x8", T.Ramp(0, 1, 8) < T.Broadcast(4, 8))]

    @R.function
    def main(x: R.Tensor((17,), "float32")):
        cls = Module
        y = R.call_tir(cls.pick, (x,), out_ty=R.Tensor((16,), "float32"))
        return y
"""
        x = [float(i) for i in range(17)]
        for f in self.build(text):
            self.assertEqual(f("main", ("f", [17], x)), ("f", [16], [x[8 * i + (j < 4)] for i in range(2) for j in range(8)]))

    def test_scans_of_unknown_sizes(self):
        text = HEAD + """
    @R.function
    def main(x: R.Tensor(dtype="float32", ndim=2)):
        y = R.cumsum(x, axis=0)
        z = R.cumprod(y, axis=1)
        n = R.size(z)
        return (z, n)

    @R.function
    def part(x: R.Tensor(dtype="float32", ndim=2)):
        y = R.strided_slice(x, axes=[0], begin=[0], end=[2])
        z = R.cumsum(y, axis=1)
        return z

    @R.function
    def named(x: R.Tensor(("n", "m"), dtype="float32")):
        y = R.strided_slice(x, axes=[1], begin=[1], end=[3])
        z = R.cumsum(y, axis=0)
        return z
"""
        for f in self.build(text):
            for rows in (0, 1, 3):
                x = [float(i) for i in range(2 * rows)]
                self.assertEqual(f("part", ("f", [rows, 2], x)), ("f", [min(rows, 2), 2], [v for i in range(min(rows, 2)) for v in (x[2 * i], x[2 * i] + x[2 * i + 1])]))
                self.assertEqual(f("named", ("f", [rows, 2], x)), ("f", [rows, 1], [sum(x[1:2 * i + 2:2]) for i in range(rows)]))
            self.assertEqual(f("main", ("f", [2, 2], [1.0, 2.0, 3.0, 5.0])), (("f", [2, 2], [1.0, 2.0, 4.0, 28.0]), ("q", [], [4])))

    def test_branches_and_recursion(self):
        text = HEAD + """
    @R.function(private=True)
    def power(x: R.Tensor(("n",), "float32"), k: R.Prim("int64")) -> R.Tensor(("n",), "float32"):
        n = T.int64()
        cls = Module
        if R.prim_value(k > 0):
            y = R.add(x, x)
            z: R.Tensor((n,), "float32") = cls.power(y, R.prim_value(k - 1))
            r = z
        else:
            r = x
        return r

    @R.function
    def main(x: R.Tensor("float32", ndim=1), k: R.Prim("int64"), c: R.Tensor((), "bool")) -> R.Tensor("float32", ndim=1):
        n = T.int64()
        cls = Module
        y = R.match_cast(x, R.Tensor((n,), "float32"))
        if c:
            z = cls.power(y, k)
            w = R.add(z, y)
        else:
            w = R.multiply(y, y)
        return w
"""
        for f in self.build(text):
            x = ("f", [2], [1.0, 3.0])
            for k in (0, 1, 10):
                self.assertEqual(f("main", x, k, ("?", [], [True])), ("f", [2], [1.0 + 2 ** k, 3 * 2 ** k + 3.0]))
            self.assertEqual(f("main", x, 5, ("?", [], [False])), ("f", [2], [1.0, 9.0]))

    def test_functions_that_call_each_other(self):
        text = HEAD + """
    @R.function
    def main(x: R.Tensor(("n",), "float32"), k: R.Prim("int64")):
        cls = Module
        r = cls.even(x, k)
        return r

    @R.function(private=True)
    def even(x: R.Tensor(("n",), "float32"), k: R.Prim("int64")) -> R.Tuple(R.Tensor(("n",), "float32"), R.Prim("int64"), R.Any):
        n = T.int64()
        cls = Module
        if R.prim_value(k > 0):
            r = cls.odd(R.add(x, x), R.prim_value(k - 1))
        else:
            r = (x, R.prim_value(k), R.str("even"))
        return r

    @R.function(private=True)
    def odd(x: R.Tensor(("n",), "float32"), k: R.Prim("int64")) -> R.Tuple(R.Tensor(("n",), "float32"), R.Prim("int64"), R.Any):
        n = T.int64()
        cls = Module
        if R.prim_value(k > 0):
            r = cls.even(R.add(x, R.const(1, "float32")), R.prim_value(k - 1))
        else:
            r = (x, R.prim_value(k + 100), R.str("this is odd"))
        return r
"""
        for f in self.build(text):
            self.assertEqual(f("main", ("f", [2], [1.0, 2.0]), 4), (("f", [2], [7.0, 11.0]), 0, "even"))
            self.assertEqual(f("main", ("f", [2], [1.0, 2.0]), 3), (("f", [2], [6.0, 10.0]), 100, "this is odd"))

    def test_what_a_later_function_gives_is_known_by_its_body(self):
        text = HEAD + """
    @R.function
    def main(x: R.Tensor(("n", 2), "float32")):
        n = T.int64()
        cls = Module
        a = cls.turned(x)
        b = R.match_cast(a, R.Tensor((2, n), "float32"))
        c = R.add(b, b)
        d = cls.both(x)
        return (c, d)

    @R.function(private=True)
    def turned(x: R.Tensor(("n", 2), "float32")):
        y = R.permute_dims(x)
        return y

    @R.function(private=True)
    def both(x: R.Tensor(("n", 2), "float32")):
        n = T.int64()
        return (R.negative(x), R.prim_value(n))
"""
        for f in self.build(text):
            said = f("main", ("f", [1, 2], [1.0, 2.0]))
            self.assertEqual(said, (("f", [2, 1], [2.0, 4.0]), (("f", [1, 2], [-1.0, -2.0]), 1)))

    def test_closures_and_functions_of_the_run_time(self):
        text = HEAD + """
    @R.function(private=True)
    def twice(x: R.Tensor(("i",), "float32")) -> R.Tensor(("i",), "float32"):
        y = R.add(x, x)
        return y

    @R.function
    def main(x: R.Tensor(("n",), "float32"), y: R.Tensor(("n",), "float32")):
        n = T.int64()
        cls = Module
        @R.function
        def outer(a: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
            @R.function
            def inner(b: R.Tensor((n,), "float32")) -> R.Tensor((n,), "float32"):
                c = R.multiply(b, a)
                d = R.add(c, y)
                return d
            e = inner(a)
            f = inner(e)
            return f
        g = outer(x)
        h = cls.twice
        i = h(g)
        r = R.call_pure_packed("vm.builtin.reshape", i, R.shape([1, n]), ty_args=(R.Tensor((1, n), "float32"),))
        t = R.call_pure_packed("vm.builtin.make_tuple", r, g, ty_args=(R.Tuple(R.Tensor((1, n), "float32"), R.Tensor((n,), "float32")),))
        u = t[0]
        s = R.call_pure_packed("vm.builtin.shape_of", u, ty_args=(R.Shape([1, n]),))
        return (u, s)
"""
        for f in self.build(text):  # x * x + y is 5 and 10, times x and y more 11 and 31
            said = f("main", ("f", [2], [2.0, 3.0]), ("f", [2], [1.0, 1.0]))
            self.assertEqual(said, (("f", [1, 2], [22.0, 62.0]), [1, 2]))

    def test_constants(self):
        text = HEAD + """
    @R.function
    def main(x: R.Tensor((2,), "float32")):
        y = R.add(x, R.const([1.0, 2.0], "float32"))
        return (y, R.const(3, "int64"))
"""
        for f in self.build(text):
            self.assertEqual(f("main", ("f", [2], [1.0, 1.0])), (("f", [2], [2.0, 3.0]), ("q", [], [3])))

    def test_what_is_written_over_is_new_in_each_run(self):
        """What a call writes over is no constant, and no other value that is computed alike; what a packed function returns may be what it got."""
        text = HEAD + """
    @T.prim_func(private=True, s_tir=True)
    def grown(A: T.Buffer((2,), "float32"), x: T.Buffer((2,), "float32")):
        for i in range(2):
            with T.sblock("grown"):
                vi = T.axis.spatial(2, i)
                A[vi] = A[vi] + x[vi]

    @R.function
    def main(x: R.Tensor((2,), "float32")):
        cls = Module
        z = R.zeros(R.shape([2]), "float32")
        y = R.zeros(R.shape([2]), "float32")
        a = R.call_tir_inplace(cls.grown, (z, x), [0], R.Tensor((2,), "float32"))
        b = R.call_tir_inplace(cls.grown, (a, x), [0], R.Tensor((2,), "float32"))
        with R.dataflow():
            k = R.add(R.const([1.0, 2.0], "float32"), R.const(1, "float32"))
            c = R.call_tir_inplace(cls.grown, (k, x), [0], R.Tensor((2,), "float32"))
            R.output(c)
        return (y, b, c)

    @R.function
    def returned(x: R.Tensor((2,), "float32")):
        a = R.add(x, x)
        b = R.call_pure_packed("vm.builtin.copy", a, ty_args=(R.Tensor((2,), "float32"),))
        c = R.sum(R.multiply(x, x))
        d = R.sum(R.add(x, c))
        return (R.add(b, x), d)
"""
        for level in ("-O0", "-O1", "-O2", "-O3"):
            for f in self.build(text, options=(level,)):
                for _ in range(2):
                    self.assertEqual(f("main", ("f", [2], [1.0, 3.0])), (("f", [2], [0.0, 0.0]), ("f", [2], [2.0, 6.0]), ("f", [2], [3.0, 6.0])))
                    self.assertEqual(f("returned", ("f", [2], [1.0, 3.0])), (("f", [2], [3.0, 9.0]), ("f", [], [24.0])))

    def test_a_size_that_several_shapes_have_is_one(self):
        text = HEAD + """
    @R.function(private=True)
    def half(t: R.Tuple(R.Tensor(("i",), "float32"), R.Shape(["j"]))) -> R.Tensor(("i",), "float32"):
        x = t[0]
        y = R.multiply(x, R.const(0.5, "float32"))
        return y

    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), t: R.Shape(["n", "q"]), s: R.Shape(["n", "p"])):
        n, p, q = T.int64(), T.int64(), T.int64()
        cls = Module
        a, b = T.int64(), T.int64()
        u = R.match_cast(s, R.Shape([a, b]))
        v = R.ones(R.shape([a + b]), "float32")
        w = cls.half((v, R.shape([a])))
        return (w, R.shape([a + 1, q]))
"""
        for f in self.build(text):
            self.assertEqual(f("main", ("f", [1, 4], [0.0] * 4), [1, 7], [1, 2]), (("f", [3], [0.5] * 3), [2, 7]))
            self.assertIn("ValueError", f("main", ("f", [1, 4], [0.0] * 4), [1, 7], [3, 2]))

    def test_sums_along_an_axis(self):
        """TVM's PrimFunc takes a tensor that begins anywhere."""
        text = HEAD + """
    @R.function
    def main(x: R.Tensor((2, "n"), "float32")) -> R.Tensor((2, "n"), "float32"):
        with R.dataflow():
            y = R.add(x, x)
            z = R.cumsum(y, axis=1)
            R.output(z)
        return z
"""
        for f in self.build(text):
            self.assertEqual(f("main", ("f", [2, 3], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), ("f", [2, 3], [2.0, 6.0, 12.0, 8.0, 18.0, 30.0]))

    def test_weights_become_data(self):
        text = HEAD + """
    @R.function
    def main(x: R.Tensor(("n", 2), "float32"), w: R.Tensor((3, 2), "float32"), b: R.Tensor((3,), "float32")) -> R.Tensor(("n", 3), "float32"):
        with R.dataflow():
            y = R.add(R.matmul(x, R.permute_dims(w)), b)
            z = R.add(y, b)
            R.output(z)
        return z
"""
        with zipfile.ZipFile(self.file("weights.npz"), "w") as f:
            for name, shape, values in (("w", (3, 2), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), ("b", (3,), [0.5, 0.25, 0.125]), ("more", (1,), [0.0])):
                npy.write(self.file("a.npy"), "<f4", shape, values)
                f.write(self.file("a.npy"), name + ".npy")
        for f in self.build(text, options=("--fp", "strict", "--params", self.file("weights.npz"))):
            self.assertEqual(f("main", ("f", [1, 2], [1.0, 1.0])), ("f", [1, 3], [4.0, 7.5, 11.25]))
        # What depends on weights only is computed when it is built, and a weight is there once.
        p = tvms("opt", "--passes", f"BindParams{{params='{self.file('weights.npz')}'}},host", "--dialect", "0.22", "-", stdin=text)
        self.assertEqual(p.stdout.count(b"allocate_const"), 2, p.stdout.decode() + p.stderr.decode())
        self.assertNotIn(b"transpose", p.stdout)
        p = tvms("build", "-", "-o", self.file("x.so"), "--params", self.file("weights.npz"), stdin=text.replace("w:", "v:").replace("(w)", "(v)").replace("b:", "c:").replace(", b)", ", c)"))
        self.assertEqual(p.returncode, 1)
        self.assertIn("no tensor has the name of a parameter", p.stderr.decode())
        self.assertEqual(tvms("build", "-", "-o", self.file("x.so"), "--entry", "main", stdin=text).returncode, 2)

    def test_what_becomes_of_weights_is_told(self):
        text = HEAD + """
    @R.function
    def main(x: R.Tensor((2,), "float32"), w: R.Tensor((2,), "float32"), b: R.Tensor((2,), "bfloat16")) -> R.Tensor((2,), "float32"):
        with R.dataflow():
            d = R.add(w, R.astype(b, "float32"))
            y = R.add(x, d)
            R.output(y)
        return y
"""
        with zipfile.ZipFile(self.file("weights.npz"), "w") as f:
            for name, form, values in (("w", "<f4", [1.0, 2.0]), ("other", "<f4", [0.0]), ("b", "<u2", [0x3F80, 0x4000])):
                npy.write(self.file(name + ".npy"), form, (len(values),), values)
                with open(self.file(name + ".npy"), "rb") as content:
                    f.writestr(name + ".npy", content.read().replace(b"'<u2'", b"'|V2'"))
        p = tvms("build", "--explain", "--params", self.file("weights.npz"), "-", "-o", self.file("told.so"), stdin=text)
        said = p.stderr.decode()
        self.assertEqual(p.returncode, 0, said)
        for what in ("note[N0965]: parameter 'w' becomes data", "parameter 'b' becomes data: R.Tensor((2,), dtype=\"bfloat16\")", "note[N0966]: no parameter is called 'other'",
                     "note[N0967]: this is computed beforehand: R.Tensor((2,), dtype=\"float32\")"):
            self.assertIn(what, said)
        self.assertEqual(Library(self.file("told.so"))("main", ("f", [2], [10.0, 20.0])), ("f", [2], [12.0, 24.0]))

    def test_prim_funcs_with_pointers_and_numbers(self):
        """A PrimFunc may take pointers, which are those of the elements here, and give a number; a data type is a value."""
        text = HEAD + """
    @T.prim_func(private=True, s_tir=True)
    def twice(n: T.int64) -> T.int64:
        return n * T.int64(2)

    @T.prim_func(private=True, s_tir=True)
    def add(p: T.handle("float32"), q: T.handle, B: T.Buffer((4,), "float32")):
        A = T.decl_buffer((4,), "float32", data=p)
        for i in range(4):
            B[i] = A[i] + T.float32(1)

    @R.function
    def main(x: R.Tensor((4,), "float32"), s: R.Shape(["n"])):
        n = T.int64()
        cls = Module
        y = R.call_tir(cls.add, (x, x), out_ty=R.Tensor((4,), "float32"))
        m: R.Prim("int64") = cls.twice(R.prim_value(n))
        k: R.Prim("int64") = cls.twice(m)
        return (y, k, R.dtype("float32"), R.dtype("int8"))
"""
        for library in self.build(text):
            self.assertEqual(library("main", ("f", [4], [1, 2, 3, 4]), [5]), (("f", [4], [2, 3, 4, 5]), 20, 2 + (32 << 8) + (1 << 16), (8 << 8) + (1 << 16)))

    def test_levels_compute_the_same(self):
        text = HEAD + """
    @R.function
    def main(x: R.Tensor((1, 3, 12, 12), "float32"), w: R.Tensor((8, 3, 3, 3), "float32"), g: R.Tensor((8,), "float32"), b: R.Tensor((8,), "float32"), m: R.Tensor((8,), "float32"), v: R.Tensor((8,), "float32"), d: R.Tensor((8, 1, 3, 3), "float32"), u: R.Tensor((5, 8), "float32")) -> R.Tensor((1, 5), "float32"):
        with R.dataflow():
            a = R.nn.conv2d(x, w, padding=(1, 1))
            n = R.nn.batch_norm(a, g, b, m, v, axis=1, training=False)
            c = R.clip(n[0], 0, 6)
            e = R.nn.conv2d(c, d, padding=(1, 1), groups=8)
            f = R.nn.max_pool2d(R.add(e, c), (2, 2), (2, 2))
            h = R.reshape(R.mean(f, axis=[2, 3]), R.shape([1, 8]))
            y = R.matmul(h, R.permute_dims(u))
            R.output(y)
        return y
"""
        shapes = {"w": (8, 3, 3, 3), "g": (8,), "b": (8,), "m": (8,), "v": (8,), "d": (8, 1, 3, 3), "u": (5, 8)}
        given = []
        with zipfile.ZipFile(self.file("weights.npz"), "w") as f:
            for name, shape in shapes.items():
                values = [((i * 7 + len(name + str(shape))) % 11) / 8 + 0.125 for i in range(math.prod(shape))]
                npy.write(self.file(name + ".npy"), "<f4", shape, values)
                f.write(self.file(name + ".npy"), name + ".npy")
                given += ["--in", f"{name}={self.file(name + '.npy')}"]
        image = [(i * 5 % 17) / 16 - 0.5 for i in range(3 * 12 * 12)]
        npy.write(self.file("x.npy"), "<f4", (1, 3, 12, 12), image)
        p = tvms("run", "-", "--out", self.file("out"), "--in", f"x={self.file('x.npy')}", *given, stdin=text)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        right = npy.read(os.path.join(self.file("out"), "result.npy"))
        for level in ("-O0", "-O1", "-O2", "-O3"):
            for f in self.build(text, "model" + level, options=(level, "-g", "--params", self.file("weights.npz"))):
                form, shape, values = f("main", ("f", [1, 3, 12, 12], image))
                self.assertIsNone(npy.differ(("<f4", tuple(shape), values), right, 1e-5), level)
        # From -O2 on nothing moves or scales weights when it runs, and images have channels last.
        passes = f"BindParams{{params='{self.file('weights.npz')}'}},kernels,ScheduleCPU{{target=host}},weights"
        p = tvms("opt", "--no-metadata", "--passes", passes, "-", stdin=text)
        calls = [line.split("cls.")[1].split(",")[0] for line in p.stdout.decode().splitlines() if "call_tir(" in line]
        self.assertFalse([name for name in calls if "sqrt" in name or "divide" in name or "rsqrt" in name], calls)
        self.assertEqual(sum("transpose" in name for name in calls), 1, calls)
        self.assertEqual(tvms("build", "-O4", "-", "-o", self.file("x.so"), stdin=text).returncode, 2)

    def test_norms_in_training_use_the_statistics_of_the_batch(self):
        """The given ones are only moved; nothing is folded into a convolution in front."""
        text = HEAD + """
    @R.function
    def main(x: R.Tensor((2, 1, 1, 2), "float32")):
        with R.dataflow():
            c = R.nn.conv2d(x, R.const([[[[2.0]]]], "float32"))
            n = R.nn.batch_norm(c, R.const([3.0], "float32"), R.const([1.0], "float32"), R.const([10.0], "float32"), R.const([-20.0], "float32"), axis=1, epsilon=0.25, momentum=0.5)
            z = (n[0], n[1], n[2])
            R.output(z)
        return z
"""
        x = [1.0, 3.0, 5.0, 9.0]
        mean = sum(2 * v for v in x) / 4
        variance = sum((2 * v - mean) ** 2 for v in x) / 4
        right = [(2 * v - mean) / math.sqrt(variance + 0.25) * 3 + 1 for v in x]
        for level in ("-O0", "-O1", "-O2", "-O3"):
            for f in self.build(text, "training" + level, options=(level,)):
                y, moved_mean, moved_variance = f("main", ("f", [2, 1, 1, 2], x))
                for got, wanted in zip((*y[2], *moved_mean[2], *moved_variance[2]), (*right, (10 + mean) / 2, (variance - 20) / 2)):
                    self.assertAlmostEqual(got, wanted, 4, level)

    def test_local_functions_at_each_level(self):
        text = HEAD + """
    @R.function
    def main(x: R.Tensor(("n",), "float32")):
        with R.dataflow():
            @R.function
            def twice(y: R.Tensor(("m",), "float32")) -> R.Tensor(("m",), "float32"):
                z = R.add(y, y)
                return z

            a = twice(x)
            b = R.negative(a)
            R.output(b)
        return b
"""
        for level in ("-O0", "-O1", "-O2", "-O3"):
            for f in self.build(text, "local" + level, options=(level,)):
                self.assertEqual(f("main", ("f", [2], [1.0, 3.0])), ("f", [2], [-2.0, -6.0]), level)


if __name__ == "__main__":
    main()
