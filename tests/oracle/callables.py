#!/usr/bin/env python3
"""Functions in Python, registered in stock tvm-ffi, that libraries of `tvms build` call: native code and code of the virtual machine.

Tensors, numbers, texts and shapes arrive as they are, results come back, and what Python raises reaches the caller.
"""
import math, os, random, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import main, tvms
from stock import Stock

RELEASE = "0.27"
HEAD = """from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
"""
PRIM_FUNC = """    @T.prim_func
    def marked(A: T.Buffer((4,), "float32"), B: T.Buffer((4,), "float32")):
        T.func_attr({"global_symbol": "marked"})
        for i in range(4):
            B[i] = A[i] * T.float32(2.0)
        T.evaluate(T.call_packed("mine.note", B.data, 4, T.float32(0.5), "a text"))

"""
BOTH = """    @R.function
    def into(x: R.Tensor((2, "n"), "float32")) -> R.Tensor((2, "n"), "float32"):
        n = T.int64()
        y = R.call_dps_packed("mine.add_into", (x, x), out_ty=R.Tensor((2, n), "float32"))
        z = R.call_dps_packed("mine.add_into", (y, x), out_ty=R.Tensor((2, n), "float32"))
        return z

    @R.function(pure=False)
    def noted(x: R.Tensor((2, "n"), "float32"), k: R.Prim("int64")) -> R.Tensor((2, "n"), "float32"):
        n = T.int64()
        y: R.Tuple = R.call_packed("mine.seen", x, R.str("a text"), R.prim_value(7), R.prim_value(0.5), ty_args=(R.Tuple(),))
        return x

    @R.function(pure=False)
    def fails(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y: R.Tuple = R.call_packed("mine.fails", x, ty_args=(R.Tuple(),))
        return x

"""
MADE = """    @R.function
    def scaled(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y = R.call_pure_packed("mine.scaled", x, R.prim_value(3), ty_args=(R.Tensor((2, 3), "float32"),))
        z = R.add(y, x)
        return z

    @R.function
    def count(x: R.Tensor((2, "n"), "float32")) -> R.Prim("int64"):
        n = T.int64()
        z: R.Prim("int64") = R.call_pure_packed("mine.count", x, ty_args=(R.Prim("int64"),))
        return z

    @R.function(pure=False)
    def shaped(x: R.Tensor((1,), "float32"), s: R.Shape(["k", "m"])) -> R.Tensor((1,), "float32"):
        k = T.int64()
        m = T.int64()
        y: R.Tuple = R.call_packed("mine.seen", x, s, R.prim_value(k + m), ty_args=(R.Tuple(),))
        return x

"""
MISSING = """    @R.function(pure=False)
    def missing(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y: R.Tuple = R.call_packed("mine.nowhere", x, ty_args=(R.Tuple(),))
        return x
"""
STATE = """    @R.function(pure=False)
    def grown(x: R.Tensor((2, 3), "float32")) -> R.Tensor((6, 3), "float32"):
        c: R.Object = R.call_packed("vm.builtin.attention_kv_cache_create", x, R.shape([2, 3]), R.prim_value(-1), ty_args=(R.Object,))
        d: R.Object = R.call_packed("vm.builtin.attention_kv_cache_append", c, x, ty_args=(R.Object,))
        e: R.Object = R.call_packed("vm.builtin.attention_kv_cache_append", d, x, ty_args=(R.Object,))
        v: R.Tensor((6, 3), "float32") = R.call_packed("vm.builtin.attention_kv_cache_view", e, R.shape([6, 3]), ty_args=(R.Tensor((6, 3), "float32"),))
        w = R.add(v, v)
        f: R.Object = R.call_packed("vm.builtin.attention_kv_cache_update", e, w, ty_args=(R.Object,))
        u: R.Tensor((6, 3), "float32") = R.call_packed("vm.builtin.attention_kv_cache_view", f, R.shape([6, 3]), ty_args=(R.Tensor((6, 3), "float32"),))
        return R.add(u, w)

    @R.function(pure=False)
    def window(x: R.Tensor((2, 3), "float32"), y: R.Tensor((1, 3), "float32")) -> R.Tensor((4, 3), "float32"):
        c: R.Object = R.call_packed("vm.builtin.attention_kv_cache_create", x, R.shape([8, 3]), R.prim_value(2), ty_args=(R.Object,))
        d: R.Object = R.call_packed("vm.builtin.attention_kv_cache_window_override_with_sinks", c, x, R.prim_value(4), R.prim_value(1), ty_args=(R.Object,))
        e: R.Object = R.call_packed("vm.builtin.attention_kv_cache_window_override_with_sinks", d, y, R.prim_value(4), R.prim_value(1), ty_args=(R.Object,))
        v: R.Tensor((4, 3), "float32") = R.call_packed("vm.builtin.attention_kv_cache_view", e, R.shape([4, 3]), ty_args=(R.Tensor((4, 3), "float32"),))
        return R.add(v, v)

    @R.function
    def distinct(x: R.Tensor((2, "n"), "float32")) -> R.Tensor("float32", ndim=1):
        m = T.int64()
        u = R.unique(x, sorted=True, axis=None)
        v = R.match_cast(u, R.Tensor((m,), "float32"))
        return R.add(v, v)

    @R.function
    def places(x: R.Tensor((2, "n"), "float32")) -> R.Tensor("int64", ndim=2):
        m = T.int64()
        u = R.nonzero(x)
        v = R.match_cast(u, R.Tensor((2, m), "int64"))
        return R.add(v, v)

    @R.function
    def cut(x: R.Tensor((2, 3), "float32"), b: R.Tensor((2,), "int64"), e: R.Tensor((2,), "int64"), s: R.Tensor((2,), "int64")) -> R.Tensor("float32", ndim=2):
        y = R.dynamic_strided_slice(x, b, e, s)
        return y

"""
SAMPLE = """    @R.function(pure=False)
    def likely(p: R.Tensor((1, "n"), "float32"), q: R.Prim("float64"), u: R.Prim("float64")) -> R.Prim("int64"):
        i: R.Prim("int64") = R.call_packed("vm.builtin.sample_top_p_from_prob", p, R.prim_value(q), R.prim_value(u), ty_args=(R.Prim("int64"),))
        return i

    @R.function(pure=False)
    def scored(p: R.Tensor((1, "n"), "float32"), t: R.Prim("float64"), q: R.Prim("float64"), u: R.Prim("float64")) -> R.Prim("int64"):
        i: R.Prim("int64") = R.call_packed("vm.builtin.sample_top_p_from_logits", p, R.prim_value(t), R.prim_value(q), R.prim_value(u), ty_args=(R.Prim("int64"),))
        return i

    @R.function(pure=False)
    def rows(p: R.Tensor((2, 3), "float32"), u: R.Tensor((2, 1), "float32")) -> R.Tensor((2, 1), "int64"):
        i: R.Tensor((2, 1), "int64") = R.call_packed("vm.builtin.multinomial_from_uniform", p, u, ty_args=(R.Tensor((2, 1), "int64"),))
        return i

    @R.function(pure=False)
    def penalties(x: R.Tensor((1, 6), "float32"), w: R.Tensor((3,), "int32")) -> R.Tensor((1, 6), "float32"):
        y = R.add(x, x)
        _: R.Tuple = R.call_packed("vm.builtin.apply_repetition_penalty", y, w, R.prim_value(T.float64(1.5)), ty_args=(R.Tuple(),))
        _1: R.Tuple = R.call_packed("vm.builtin.apply_presence_and_frequency_penalty", y, w, w, R.prim_value(T.float64(0.25)), R.prim_value(T.float64(0.5)), ty_args=(R.Tuple(),))
        z = R.add(y, x)
        return z

    @R.function(pure=False)
    def softmax(x: R.Tensor((1, 6), "float32")) -> R.Tensor((1, 6), "float32"):
        y = R.add(x, x)
        _: R.Tuple = R.call_packed("vm.builtin.apply_softmax_with_temperature", y, R.prim_value(T.float64(0.7)), ty_args=(R.Tuple(),))
        z = R.add(y, y)
        return z

"""
FUNCTIONS = """    @R.function(private=True)
    def negated(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y = R.negative(x)
        return y

    @R.function
    def make(x: R.Tensor((2, 3), "float32"), c: R.Prim("bool")) -> R.Callable((R.Tensor((2, 3), "float32"),), R.Tensor((2, 3), "float32"), True):
        cls = Module
        @R.function
        def inner(y: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
            z = R.add(y, x)
            return z
        if c:
            f = inner
        else:
            f = cls.negated
        return f

    @R.function
    def use(f: R.Callable((R.Tensor((2, 3), "float32"),), R.Tensor((2, 3), "float32"), True), x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        y = f(x)
        z = R.match_cast(y, R.Tensor((2, 3), "float32"))
        w = f(z)
        v = R.match_cast(w, R.Tensor((2, 3), "float32"))
        u = R.add(v, x)
        return u

"""
EXTERNAL = """    @R.function(pure=False)
    def apply(f: R.Callable, x: R.Tensor((2, 3), "float32")) -> R.Object:
        y = f(x)
        return y

    @R.function(pure=False)
    def external(x: R.Tensor((2, 3), "float32"), c: R.Prim("bool")) -> R.Object:
        cls = Module
        f = R.ExternFunc("mine.thrice")
        t = (x, f)
        g = t[1]
        w = g(x)
        y = R.match_cast(w, R.Tensor((2, 3), "float32"))
        if c:
            h = f
        else:
            h = R.ExternFunc("mine.count")
        z = cls.apply(h, y)
        return z

    @R.function(pure=False)
    def name(x: R.Tensor((2, 3), "float32")) -> R.Object:
        f = R.ExternFunc("mine.count")
        return f

"""
X = ["tensor", [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]]


class Callables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stock = Stock(RELEASE, "ask_callables.py", seconds=120)
        cls.place = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.stock.stop()
        cls.place.cleanup()

    def call(self, text, *calls, machine=False):
        library = os.path.join(self.place.name, f"{self.id().split('.')[-1]}{machine:d}.so")
        p = tvms("build", *(["--vm"] if machine else []), "-", "-o", library, stdin=HEAD + text)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        said = self.stock.ask(job="call", path=library, machine=machine, calls=calls)
        self.assertIn("answers", said, said)
        return said["answers"]

    def both(self, machine):
        into, noted, fails = self.call(BOTH, ["into", X], ["noted", X, ["number", 4]], ["fails", X], machine=machine)
        self.assertEqual(into["result"], [[0.0, 3.0, 6.0], [9.0, 12.0, 15.0]])
        self.assertEqual((noted["result"], noted["seen"]), (X[1], [[X[1], "a text", 7, 0.5]]))
        self.assertEqual((fails["error"], fails["text"]), ("ValueError", "not on a day like this"))

    def test_native_code(self):
        self.both(False)

    def test_machine(self):
        self.both(True)

    def made(self, machine):
        scaled, count, shaped = self.call(MADE, ["scaled", X], ["count", X], ["shaped", ["tensor", [1.0]], ["shape", [4, 5]]], machine=machine)
        self.assertEqual(scaled["result"], [[0.0, 4.0, 8.0], [12.0, 16.0, 20.0]])
        self.assertEqual(count["result"], 6)
        self.assertEqual(shaped["seen"], [[[1.0], [4, 5], 9]])

    def test_results_in_native_code(self):
        self.made(False)

    def test_results_in_the_machine(self):
        self.made(True)

    def test_state_and_sizes(self):
        calls = [["grown", X], ["window", X, ["tensor", [[7.0, 8.0, 9.0]]]], ["distinct", ["tensor", [[3.0, 1.0, 3.0, -2.0], [1.0, 0.0, 0.5, 3.0]]]],
                 ["places", ["tensor", [[0.0, 1.0], [2.0, 0.0]]]], ["cut", X, ["int64", [0, 1]], ["int64", [2, 3]], ["int64", [1, 2]]]]
        mine, stock = (self.call(STATE, *calls, machine=machine) for machine in (False, True))
        for call, a, b in zip(calls, mine, stock):
            with self.subTest(call=call[0]):
                self.assertIn("result", b)
                self.assertEqual(a["result"], b["result"])

    def test_sampling(self):
        generator = random.Random(0)
        scores = [[generator.uniform(-3, 3) for _ in range(300)]]
        raw = [math.exp(s) for s in scores[0]]
        likely = [[r / sum(raw) for r in raw]]
        calls = [["likely", ["tensor", likely], ["real", q], ["real", u]] for q in (0.1, 0.6, 1.0) for u in (0.0, 0.3, 0.77, 0.999)]
        calls += [["scored", ["tensor", scores], ["real", t], ["real", q], ["real", u]] for t in (0.0, 0.5, 2.0) for q in (0.2, 0.95) for u in (0.1, 0.6, 0.99)]
        calls += [["rows", ["tensor", [[0.25, 0.5, 0.25], [0.5, 0.25, 0.25]]], ["tensor", [[u], [1 - u]]]] for u in (0.0, 0.25, 0.6, 1.0)]
        calls += [["penalties", ["tensor", [[1.0, -2.0, 0.5, 3.0, -0.5, 0.0]]], ["int32", [1, 3, 1]]]]
        soft = ["softmax", ["tensor", [[1.0, -2.0, 0.5, 3.0, -0.5, 0.0]]]]
        mine, stock = (self.call(SAMPLE, *calls, soft, machine=machine) for machine in (False, True))
        for call, a, b in zip(calls, mine, stock):
            with self.subTest(call=call[0], arguments=call[2:]):
                self.assertIn("result", b)
                self.assertEqual(a.get("result"), b["result"])
        for a, b in zip(mine[-1]["result"][0], stock[-1]["result"][0]):
            self.assertAlmostEqual(a, b, delta=1e-6)

    def test_prim_func(self):
        marked, = self.call(PRIM_FUNC, ["marked", ["tensor", [0, 1, 2, 3]], ["tensor", [0, 0, 0, 0]]])
        self.assertEqual((marked["last"], marked["seen"]), ([0.0, 2.0, 4.0, 6.0], [[4, 0.5, "a text"]]))

    def test_functions_are_values(self):
        """Functions of Python as arguments, and results that Python calls: the same as TVM's machine."""
        calls = [["use", ["function", "thrice"], X], ["use", ["made", ["make", X, ["truth", True]]], X], ["use", ["made", ["make", X, ["truth", False]]], X],
                 ["call", ["made", ["make", X, ["truth", True]]], X], ["use", ["function", "fails"], X], ["use", ["function", "number"], X], ["use", ["number", 3], X]]
        mine, stock = (self.call(FUNCTIONS, *calls, machine=machine) for machine in (False, True))
        x = [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
        wanted = [[[f * v for v in row] for row in x] for f in (10, 4, 2, 2)]
        self.assertEqual([a["result"] for a in mine[:4]], wanted)
        self.assertEqual([a["result"] for a in stock[:3]], wanted[:3])  # Python cannot call a closure of TVM's machine
        for answers in mine, stock:
            self.assertEqual([a["error"] for a in answers[4:]], ["ValueError", "TypeError", "TypeError"])
            self.assertEqual(answers[4]["text"], "not on a day like this")

    def test_functions_of_others_are_values(self):
        """R.ExternFunc: bound, in a tuple, chosen, passed on, called and given back."""
        calls = [["external", X, ["truth", True]], ["external", X, ["truth", False]], ["call", ["made", ["name", X]], X]]
        for machine in (False, True):
            answers = self.call(EXTERNAL, *calls, machine=machine)
            with self.subTest(machine=machine):
                self.assertEqual([a.get("result") for a in answers], [[[0.0, 9.0, 18.0], [27.0, 36.0, 45.0]], 6, 6])

    def test_missing(self):
        missing, = self.call(MISSING, ["missing", X])
        self.assertIn("mine.nowhere", missing["text"])


if __name__ == "__main__":
    main()
