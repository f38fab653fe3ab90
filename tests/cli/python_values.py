#!/usr/bin/env python3
"""What is known of values in Python files: constants, calls, attributes, results of functions, and what only Python knows."""
import os, sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, memory_of, tvms
from python_parts import HEAD, SCRIPT, PythonTests


class PythonValues(PythonTests):
    def test_constants_of_python_are_known(self):
        text = HEAD + """
def test():
    M = N * 2
    if numpy:
        M = 3
    K = 2 * N
    @T.prim_func
    def f(A: T.Buffer((K,), "float32"), B: T.Buffer((M,), "float32")):
        A[0] = B[0]
"""
        p = tvms("print", "--dialect", "0.27", self.file(text))
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertEqual(p.stdout, b"")  # M is what only Python knows
        self.assertIn(b"warning[W0428]: 'f' is left out", p.stderr)
        relax = HEAD + "\n@R.function\ndef f(x: R.Tensor((4,), \"float32\")):\n    return R.add(x, elsewhere)\n"
        p = tvms("print", self.file(relax))
        self.assertEqual((p.returncode, p.stdout, p.stderr.count(b"W0428")), (0, b"", 1), p.stderr)
        p = tvms("print", "--dialect", "0.27", self.file(text.replace("    if numpy:\n        M = 3\n", "")))
        self.assertIn(b'def f(A: T.Buffer((32,), "float32"), B: T.Buffer((32,), "float32")):', p.stdout)

    MADE = HEAD + """
import pytest

def half(n, by=2):
    'pure'
    if n > 4:
        return n // by
    return n

def make(n, dtype="float32", *, wide=False):
    m, k = half(n), n
    k += 1
    if wide:
        k *= 2
    @T.prim_func
    def main(A: T.Buffer((m, k), dtype)):
        for i in range(k):
            A[0, i] = T.cast(i, dtype)
    return main

"""

    def made(self, text):
        """What is printed of a file, and how `check` ends."""
        path = self.file(text)
        p, c = tvms("print", path), tvms("check", path)
        return p.stdout.decode(), c.stderr.decode()

    def test_a_definition_is_read_for_the_calls_of_the_function_around_it(self):
        for call, shape in (("make(16)", '(8, 17), "float32"'), ("make(16, 'int32', wide=True)", '(8, 34), "int32"'),
                            ("make(*(4,))", '(4, 5), "float32"'), ("from elsewhere import unknown\nmake(unknown)\nmake(6)", '(3, 7), "float32"'),
                            ("for n in (8, 4):\n    make(n)", '(4, 9), "float32"'),
                            ("def test():\n    with what:\n        make(2)", '(2, 3), "float32"'),
                            ("def inner(n):\n    return make(n)\n\ndef test():\n    inner(9)", '(4, 10), "float32"'),
                            ("@pytest.mark.parametrize('n, d', [(12, 'int8'), (4, 'int32')])\ndef test(n, d):\n    make(n, d)", '(6, 13), "int8"'),
                            ("@pytest.mark.parametrize(('n',), [pytest.param(12, marks=what)])\ndef test(n):\n    make(n)", '(6, 13), "float32"'),
                            ("if N > 16:\n    make(2)\nelse:\n    make(3)", '(3, 4), "float32"'),
                            ("class Cases:\n    def test(self):\n        if N == 16:\n            pytest.skip('no')\n        make(2)\n"
                             "    def test_more(self):\n        make(1)", '(1, 2), "float32"')):
            with self.subTest(call=call):
                shown, said = self.made(self.MADE + call + "\n")
                self.assertEqual((shown.count(f"A: T.Buffer({shape})"), said), (1, "tvms: 1 definition read\n"), shown + said)

    def test_what_no_call_tells_is_unknown(self):
        for call in ("", "make(unknown)", "make()", "what.make(4)", "def other(n):\n    return make(n)",
                     "sizes = [4]\nsizes.append(8)\nmake(sizes)", "for n in range(100):\n    make(n)",
                     "for n in (4, 8):\n    if what:\n        break\n    make(n)", "def loop(n):\n    loop(n)\n    make(n)\nloop(X)"):
            with self.subTest(call=call):
                shown, said = self.made(self.MADE + call + "\n")
                self.assertNotIn("T.Buffer", shown)
                self.assertIn("'main' is checked for any m, k\n", said)
                self.assertTrue(said.endswith("tvms: 1 definition read, 1 for any values\n"), said)

    def test_attributes_of_classes_are_known(self):
        text = HEAD + """
class Config:
    block = 4

    class Inner:
        size = 2 * 8

def make(n):
    m = n // Config.block
    @T.prim_func
    def f(A: T.Buffer((m, Config.Inner.size), "float32")):
        A[0, 0] = T.float32(0)

make(16)
"""
        p = tvms("print", "--dialect", "0.27", self.file(text))
        self.assertIn(b'def f(A: T.Buffer((4, 16), "float32")):', p.stdout, p.stderr)
        for change in (("class Config:", "from elsewhere import Base\n\nclass Config(Base):"), ("class Config:", "from elsewhere import enum\n\n@enum\nclass Config:"),
                       ("make(16)", "Config.block = 8\nmake(16)"), ("    block = 4", "    block = what")):
            with self.subTest(change=change):
                p = tvms("check", self.file(text.replace(*change)))
                self.assertEqual(p.returncode, 0, p.stderr)
                self.assertRegex(p.stderr, b"1 definition read, 1 (in part|for any values)")

    def test_attributes_of_objects(self):
        text = HEAD + """
def make(n, most, dtype):
    @T.prim_func
    def f(A: T.Buffer((n, 4), dtype)):
        for i in range(n if most is None else most):
            A[i, 0] = T.cast(n, dtype)
    return f

from elsewhere import Base, register

@register
class Kernels(Base):
    def __init__(self, target, width=16, table=None):
        super().__init__(target)
        self.table = table
        self.width = width
        self.rows = self.width * 2
        self.most = self.table.get("most") if self.table else None

    def build(self):
        return make(self.rows, self.most, "float16")
"""
        p = tvms("print", "--dialect", "0.27", self.file(text))
        self.assertIn(b'def f(A: T.Buffer((32, 4), "float16")):', p.stdout, p.stderr)
        for change in (("    def build", "    def other(self):\n        self.rows = 3\n\n    def build"), ("def make", "from elsewhere import kernels\nkernels.rows = 8\n\ndef make"),
                       ("self.rows = self", "if target:\n            self.rows = self"), ("self.rows = self.width * 2", "self.rows = what()")):
            with self.subTest(change=change):
                p = tvms("check", self.file(text.replace(*change)))
                self.assertEqual(p.returncode, 0, p.stderr)
                self.assertRegex(p.stderr, b"1 definition read, 1 (in part|for any values)")

    def test_what_is_wrong_for_any_value(self):
        text = HEAD + """
def make(n, dtype):
    @T.prim_func(s_tir=True)
    def f(A: T.Buffer((n,), dtype), B: T.Buffer((n,), dtype), at: T.Buffer((n,), "int32")):
        for i in range(n):
            with T.sblock("b"):
                vi = T.axis.spatial(n, i)
                k: T.int32 = at[vi]
                B[vi] = A[k]
    return f
"""
        p = tvms("check", self.file(text))
        self.assertIn(b":18:17: error[E0604]: buffer 'k' is used here, but nothing declares it in this scope\n", p.stderr)
        self.assertEqual((p.returncode, p.stderr.count(b"error"), p.stderr.count(b"N0445")), (1, 1, 1), p.stderr)
        # With a condition that Python may decide nothing is certain.
        for old, new in (("                B[vi]", "                if n > 1:\n                    B[vi]"), ("A[k]", "A[k] if n > 1 else A[0]")):
            with self.subTest(new=new):
                p = tvms("check", self.file(text.replace(old, new)))
                self.assertEqual((p.returncode, p.stderr.count(b"N0429")), (0, 1), p.stderr)

    def test_rules_hold_for_variables(self):
        text = HEAD + """
def make(n, kind="float32"):
    @T.prim_func
    def f(A: T.Buffer((n,), "float32")):
        for i in range(n):
            A[i + n] = T.float32(0)
    return f
"""
        p = tvms("check", self.file(text))
        self.assertIn(b"warning[W1150]: the index n is out of bounds: dimension 0 of 'A' has n elements", p.stderr)
        # Of a data type that is tried they do not.
        p = tvms("check", self.file(text.replace('"float32")):', "what)):").replace("(n, kind", "(n, what, kind").replace("T.float32(0)", "T.cast(0, what)")))
        self.assertEqual((p.stderr.count(b"W1150"), p.stderr.count(b"N0445")), (0, 1), p.stderr)

    def test_results_of_math_with_assumptions(self):
        text = HEAD + """
import math

def make(n):
    @T.prim_func
    def f(A: T.Buffer((T.int64(n), 4), "float32")):
        for i in range(math.ceil(n)):
            A[i, 0] = A[i, 1] * T.float32(math.sqrt(n))
    return f
"""
        p = tvms("check", self.file(text))
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertIn(b"1 definition read, 1 for any values", p.stderr)

    def test_misspelt_names_of_python(self):
        text = HEAD + """
import math

class Config:
    block = 4

@T.prim_func(private=True)
def f(A: T.Buffer((Config.block, 4), "float32")):
    A[0, 0] = T.float32(math.sqrt(16))
"""
        p = tvms("check", self.file(text))
        self.assertEqual((p.returncode, b"1 definition read" in p.stderr), (0, True), p.stderr)
        for change, said in (
            (("Config.block,", "Config.blok,"), b"E0203]: the class has no attribute 'blok'"),
            (("math.sqrt", "math.sqr"), b"E0203]: a name of Python has no attribute 'sqr'"),
            (("math.sqrt(16)", "math.sqrt(SIXTEEN)"), b"E0201]: name 'SIXTEEN' is not defined"),
            (("private=True", "private=true"), b"E0201]: name 'true' is not defined"),
            (("@T.prim_func", "@T.primfunc"), b"E0404]"),
            (("@T.prim_func", "@T.kernel"), b"E0404]"),
            (("@T.prim_func", "@t.prim_func"), b"E0201]: name 't' is not defined"),
        ):
            with self.subTest(change=change):
                p = tvms("check", self.file(text.replace(*change)))
                self.assertEqual((p.returncode, p.stderr.count(b"error[")), (1, 1), p.stderr)
                self.assertIn(said, p.stderr)
        for fine in (("@T.prim_func", "@T.something"), ("import math", "import math\nConfig.blok = 4"), ("@T.prim_func", "t = T\n@t.prim_func")):
            with self.subTest(fine=fine):
                p = tvms("check", self.file(text.replace(*fine).replace("(Config.block,", "(Config.blok," if "blok" in fine[1] else "(Config.block,")))
                self.assertEqual(p.returncode, 0, p.stderr)

    def test_numbers_of_math_and_numpy(self):
        text = HEAD + """
import math, numpy as np
from math import ceil, pi

@T.prim_func
def f(A: T.Buffer((ceil(7 / 2), math.floor(-2.5) + 8, int(math.log2(8)), math.prod([2, 3]), np.prod((4, 5))), "float32")):
    A[0, 0, 0, 0, 0] = T.float32(math.pi) + T.float32(math.sqrt(N))
"""
        p = tvms("print", self.file(text))
        self.assertEqual((p.returncode, p.stdout.count(b"(4, 5, 3, 6, 20)"), p.stderr), (0, 1, b""))
        for unknown in ("math.sqrt(-1)", "math.log(8, 2)", "math.ceil(X)", "np.prod([2.5])", "math.gamma(1)", 'f"{1:0999999999}"'):
            p = tvms("check", self.file(text.replace("math.sqrt(N)", f"len([{unknown}])").replace("from math", f"Y = {unknown}\nfrom math").replace("prod([2, 3])", "prod([2, Y])")), timeout=20)
            self.assertEqual((p.returncode, p.stderr.count(b"error")), (0, 0), p.stderr)

    def test_uses_say_what_a_value_must_be(self):
        text = HEAD + """
def make(n, dtype, kinds, shape, helper):
    rows, (cols, _) = what(n), kinds
    sizes = [rows, 2 * n]

    def scaled(x, i):
        return x[i, 0] if n == 1 else x[i, kinds[1]]

    @T.prim_func(s_tir=True)
    def f(a: T.handle, B: T.Buffer((rows, cols), dtype)):
        C = T.match_buffer(a, (n, 4), kinds[0])
        for i in range(n // 2):
            with T.sblock(f"b{n}"):
                vi = T.axis.spatial(n // 2, i)
                C[vi, 0] = scaled(B, vi) + T.cast(sizes[0], dtype)
    return f
"""
        p = tvms("check", "--verify-each", self.file(text))
        self.assertEqual((p.returncode, p.stderr.count(b"note[N0445]")), (0, 1), p.stderr)
        self.assertIn(b"'f' is checked for any rows, cols, dtype, n, kinds[0], sizes[0], kinds[1]\n", p.stderr)
        self.assertTrue(p.stderr.endswith(b"tvms: 1 definition read, 1 for any values\n"), p.stderr)
        # A data type that is wrong in every place but one.
        p = tvms("check", self.file(text.replace("scaled(B, vi) +", "T.shift_left(C[vi, 0], C[vi, 1]) +")))
        self.assertIn(b'N0444', p.stderr)
        self.assertIn(b'any rows, cols, n, sizes[0]; dtype = "float32"; kinds[0] = "int32"\n', p.stderr)
        self.assertTrue(p.stderr.endswith(b"tvms: 1 definition read, 1 with assumptions\n"), p.stderr)
        # What is wrong for any value is said.
        p = tvms("check", self.file(text.replace("scaled(B, vi)", "C[vi]")))
        self.assertEqual((p.returncode, p.stderr.count(b"error"), p.stderr.count(b"error[E0341]"), p.stderr.count(b"note[N0429]")), (1, 1, 1, 0), p.stderr)
        # With another mistake it may be another program; so may it be where nothing says what a value is.
        for old, new in (("kinds[1]]", "helper(i)]"), ("(n, 4), kinds[0]", "shape, kinds[0]"),
                         ("scaled(B, vi)", "helper"), ("range(n // 2)", "helper(n)"), ("T.sblock(f\"b{n}\")", "helper.block()")):
            with self.subTest(new=new):
                changed = text.replace(old, new)
                p = tvms("check", self.file(changed))
                known = new in ("helper", "shape, kinds[0]")
                self.assertEqual((p.returncode, p.stderr.count(b"note[N0429]"), p.stderr.count(b"error")), (0, not known, 0), p.stderr)
        # What is unpacked has some number of items; what Python's ** and / give is a number.
        items = HEAD + """
def make(shape, dtype, n, bits):
    @T.prim_func
    def f(a: T.handle):
        A = T.match_buffer(a, (n, *shape), dtype)
        for i, s in T.grid(n, len(shape)):
            for t in T.grid(*shape):
                T.buffer_store(A, T.cast(2 ** bits + s, dtype), [i, *t])
    return f
"""
        p = tvms("check", "--verify-each", self.file(items))
        self.assertIn(b"'f' is checked for any n, shape of 2 or more items, dtype, bits, 2 ** bits\n", p.stderr)
        p = tvms("check", self.file(items.replace("[i, *t]", "[i, t[0], t[1]]")))
        self.assertIn(b"'f' is checked with assumptions: any n, bits, 2 ** bits; 2 items of shape; dtype = \"float32\"\n", p.stderr)
        # A text that nothing else says anything of.
        p = tvms("check", self.file(HEAD + "def make(where, n):\n    @T.prim_func\n    def f(A: T.Buffer((n,), 'int8', scope=where)):\n        T.evaluate(A[0])\n    return f\n"))
        self.assertIn(b"'f' is checked for any n, where\n", p.stderr)
        # Other verbs have nothing to show of it, and --strict wants to know what was assumed.
        self.assertEqual(tvms("print", self.file(text)).stdout, b"")
        p = tvms("check", "--strict", self.file(text))
        self.assertEqual((p.returncode, p.stderr.count(b"note[N0445]")), (0, 1), p.stderr)
        p = tvms("check", "--strict", self.file(text.replace("scaled(B, vi) +", "T.shift_left(C[vi, 0], C[vi, 1]) +")))
        self.assertEqual((p.returncode, p.stderr.count(b"error[E0443]")), (1, 1), p.stderr)

    def test_a_mistake_is_said_once_whichever_call_shows_it(self):
        wrong = self.MADE.replace("A[0, i]", "A[0]")
        for call in ("make(4)", "make(4)\nmake(5)\nmake(6)"):
            p = tvms("check", self.file(wrong + call + "\n"))
            self.assertEqual((p.returncode, p.stderr.count(b"error[")), (1, 1), p.stderr)
        # Shown by the second call alone.
        p = tvms("check", self.file(self.MADE + "make(4)\nmake(4, 'floaty')\n"))
        self.assertEqual((p.returncode, p.stderr.count(b"error[E0217]")), (1, 1), p.stderr)

    def test_values_of_the_file_that_are_expressions_belong_to_each_function(self):
        text = HEAD + """
C = T.int32(3) + T.int32(4)
PAIR = (T.int64(8), 2)

def make(n, step):
    @T.prim_func
    def f(A: T.Buffer((C, PAIR[0], n), "int32")):
        for i in range(C):
            A[i, 0, 0] = C + step * i
    return f

make(T.int32(5), PAIR[1])
"""
        p = tvms("print", "--verify-each", self.file(text))
        self.assertEqual((p.returncode, p.stdout.count(b'A: T.Buffer((7, T.int64(8), 5), "int32")')), (0, 1), p.stderr)

    def test_branches_that_no_call_reaches_are_read_all_the_same(self):
        p = tvms("check", self.file(HEAD + "if N == 3:\n    @T.prim_func\n    def f(A: T.Buffer((4,), 'int32')):\n        A[0] = zero\n"))
        self.assertEqual((p.returncode, p.stderr.count(b"error[E0201]")), (1, 1), p.stderr)

    def test_functions_that_call_themselves_end(self):
        p = tvms("check", self.file(self.MADE + "def up(n):\n    make(n)\n    up(n + 1)\n\nup(3)\n"), timeout=60)
        self.assertEqual((p.returncode, p.stderr), (0, b"tvms: 1 definition read\n"))
        p = tvms("check", self.file(HEAD + "def up(n):\n    return up(n + 1) + up(n + 2)\n\nM = up(0)\n" + SCRIPT.replace("N", "M")), timeout=60)
        self.assertEqual((p.returncode, p.stderr.count(b"N0445")), (0, 1), p.stderr)

    def test_dimensions_that_are_text_in_a_constant(self):
        p = tvms("print", self.file(HEAD + """
SHAPE = tuple(f"d{i}" for i in range(2))
@R.function
def main(x: R.Tensor(SHAPE, "float32")) -> R.Tensor(("d0",), "float32"):
    y = R.sum(x, axis=[1])
    return y
"""))
        self.assertEqual((p.returncode, p.stdout.count(b'x: R.Tensor((d0, d1), dtype="float32")')), (0, 1), p.stderr)

    def test_names_that_nothing_binds_are_mistakes(self):
        text = HEAD + """
length = 4

def test(size):
    @T.prim_func
    def f(A: T.Buffer((lenght,), "float32"), B: T.Buffer((size,), "float32")):
        A[0] = later + T.float32(local)
        A[nothing] = T.float32(len(str(divmod)))

    @T.jit
    def g(A: T.Buffer((M,), "float32"), *, M: T.constexpr):
        if M > 4:
            b = 1
        A[b] = T.float32(0)
    later = 1

def other():
    local = 1
    global everywhere
    everywhere = 1

class Kept:
    @T.prim_func
    def f(A: T.Buffer((everywhere,), "float32")):
        A[Kept, other, caught, case, walrus] = T.float32(0)

try:
    (walrus := 1)
except ImportError as caught:
    pass
match length:
    case [1, *case]:
        pass
"""
        p = tvms("check", self.file(text))
        said = [line.split("error", 1)[1] for line in p.stderr.decode().splitlines() if ": error" in line]
        self.assertEqual(said, ["[E0201]: name 'lenght' is not defined", "[E0201]: name 'local' is not defined",
                                "[E0201]: name 'nothing' is not defined"], p.stderr)
        self.assertIn(b"did you mean 'length'?", p.stderr)
        for what in ("from somewhere import *\n", "exec(what)\n", "globals()[what] = 1\n"):
            with self.subTest(what=what):
                p = tvms("check", "-q", self.file(text + what))
                self.assertEqual((p.returncode, p.stderr), (0, b""))

    LARGE = (("join", '"\\n".join(f"{i} a 0.5 1" for i in range(1, 110001))'),
             ("list", "[[j for j in range(1000)] for i in range(10000)]"),
             ("repetition", "[0] * (1 << 24)"),
             ("a list in a list in a list", "[1]" + "; X = [X, X]" * 60),
             ("a tuple of an unknown", "(what(),)" + "; X = (X, X, *X)[:3]" * 60))

    def assert_silent_and_small(self, text, megabytes, least):
        status, said, memory = memory_of("check", "-q", self.file(text))
        self.assertEqual((status, said), (0, ""))
        self.assertLess(memory - least, megabytes)

    def test_constants_that_no_definition_asks_for_cost_nothing(self):
        least = memory_of("check", self.file(HEAD))[2]
        for what, value in self.LARGE:
            for place, head in (("a module", f"X = {value}\n"), ("a function", f"def g():\n    X = {value}\n    Y = [X, X]\n")):
                with self.subTest(what=what, place=place):
                    self.assert_silent_and_small(HEAD + head + SCRIPT, 32, least)
                    self.assert_silent_and_small(HEAD + head, 32, least)

    def test_constants_that_are_too_large_are_unknown(self):
        least = memory_of("check", self.file(HEAD))[2]
        for what, value in self.LARGE:
            with self.subTest(what=what):
                # And what else the definition asks for is known.
                wrong = SCRIPT + "    A[len(X)] = T.float32(0)\n    A[0, N] = T.float32(0)\n"
                self.assert_silent_and_small(HEAD + f"X = {value}\n" + wrong.replace("    A[0, N] = T.float32(0)\n", ""), 90, least)
                p = tvms("check", self.file(HEAD + f"X = {value}\n" + wrong))
                self.assertEqual((p.returncode, p.stderr.count(b"error"), p.stderr.count(b"E0341")), (1, 1, 1), p.stderr)

    def test_the_parts_of_a_tuple_are_bound_anew(self):
        text = HEAD + "M = 16\nM, *rest = what()\n\n@T.prim_func\ndef f(A: T.Buffer((M,), \"float32\")):\n    A[0] = T.float32(0)\n"
        p = tvms("print", "--dialect", "0.27", self.file(text))
        self.assertEqual((p.returncode, p.stdout), (0, b""), p.stderr)

    def test_what_only_python_knows_is_no_mistake(self):
        text = """
from elsewhere import weight, op, Kind
from tvm.relax.testing.elsewhere import Code
from tvm.script import relax as R, tirx as T

def test(te_func, vec):
    n = 4

    @R.function
    def emitted(x: R.Tensor((4,), "float32")):
        nonlocal n
        y = R.emit_te(te_func, x)
        return y

    @R.function
    def annotated(x: R.Tensor((4,), "float32"), c: R.Tensor((), "bool")):
        with R.dataflow():
            y: R.Tensor((4,), "float32") = R.add(x, R.const(weight))
            z: R.Tensor((4,), "float32") = op(x)
            R.output(y, z)
        if c:
            v: R.Tensor((4,), "float32") = op(y)
        else:
            v = R.add(y, z)
        return R.add(y, R.zeros((7,), "float32"))  # this is one

    @R.function(pure=False)
    def constants(x: R.Tensor((4,), "float32")):
        _ = R.call_packed("f", x, Code.EQUAL, R.prim_value(Code.LESS), ty_args=R.Tuple)
        w = R.add(x, weight) + weight
        return w[op]

    @T.prim_func
    def pooled(A: T.Buffer((4,), "float32")):
        pool = T.SMEMPool()
        B = pool.alloc((4,), "float32")
        T.cuda.ldg(A.data, "float32", vec=vec, dst=(B.ptr_to([0]), A.ptr_to([0])))
        A[0] = B[weight + 1] + T.call_kernel(op, [1], A.data)
        A[1, 0] = 1.0  # and this
"""
        p = tvms("check", self.file(text))
        said = p.stderr.decode()
        self.assertEqual(said.count("error["), 2, said)
        self.assertIn(":25:22: error[E0510]", said)
        self.assertIn(":39:9: error[E0341]", said)


if __name__ == "__main__":
    main()
