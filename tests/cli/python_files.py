#!/usr/bin/env python3
"""Python files: TVMScript stands in them anywhere, and the rest is none of tvms's business."""
import ast, os, resource, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import files_under, main, memory_of, tvms

HEAD = """import os , sys
from somewhere import elsewhere , what , X
from tvm.script import ir as I, relax as R, tirx as T

try:
    import numpy
except ImportError:
    numpy = None

N   =  16
"""

# What stands around is laid out badly on purpose, and is Python that TVMScript has not.
BAD = HEAD + """
class  Cases :
    async def nothing( self ) : raise ValueError( 'x' )

    def test( self , M ) :
        K = M   # unknown here
        @T.prim_func
        def before(A: T.Buffer((N,),"float32"), B: T.Buffer((K,),"float32")) :
            for i in range(N) :
                A[i]=B[i]+ elsewhere   # ours
        match N :
            case 16 :
                @I.ir_module
                class Module :
                    @R.function
                    def main(x: R.Tensor((4,),"float32")) :
                        y = R.add(x,  x)
                        return y
        return before ,  Module
"""

GOOD = HEAD + """
class  Cases :
    async def nothing( self ) : raise ValueError( 'x' )

    def test( self , M ) :
        K = M   # unknown here
        @T.prim_func
        def before(A: T.Buffer((N,), "float32"), B: T.Buffer((K,), "float32")):
            for i in range(N):
                A[i] = B[i] + elsewhere  # ours
        match N :
            case 16 :
                @I.ir_module
                class Module:
                    @R.function
                    def main(x: R.Tensor((4,), "float32")):
                        y = R.add(x, x)
                        return y
        return before ,  Module
"""


def trees(text):
    """Python's own tree of a file."""
    return ast.dump(ast.parse(text))


class PythonFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, text, name="a.py"):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as f:
            f.write(text.encode())
        return path

    def test_definitions_are_formatted_and_nothing_else(self):
        p = tvms("fmt", self.file(BAD))
        self.assertEqual((p.stdout.decode(), p.stderr, p.returncode), (GOOD, b"", 0))
        self.assertEqual(tvms("fmt", "--check", self.file(GOOD)).returncode, 0)

    def test_line_ends_stay(self):
        p = tvms("fmt", self.file(BAD.replace("\n", "\r\n")))
        self.assertEqual(p.stdout.decode(), GOOD.replace("\n", "\r\n"))

    def test_a_file_that_ends_in_a_definition_without_a_line_end(self):
        p = tvms("fmt", self.file(HEAD + "\n@T.prim_func\ndef f(a : T.int32) :\n    T.evaluate( a )"))
        self.assertEqual(p.stdout.decode(), HEAD + "\n@T.prim_func\ndef f(a: T.int32):\n    T.evaluate(a)")

    def test_what_is_kept_as_it_is(self):
        for what, text in (("fmt: off", "# fmt: off\n@T.prim_func\ndef f(a : T.int32) :\n    T.evaluate( a )\n# fmt: on\n"),
                           ("tabs", "if N:\n\t@T.prim_func\n\tdef f(a : T.int32) :\n\t\tT.evaluate( a )\n"),
                           ("other functions", "@tf.function\ndef f(a : int) :\n    g( a )\n")):
            with self.subTest(what=what):
                p = tvms("fmt", self.file(HEAD + text))
                self.assertEqual((p.stdout.decode(), p.returncode), (HEAD + text, 0))

    def test_a_comment_that_keeps_text_holds_in_its_block(self):
        bad, good = "@T.prim_func\ndef f(a : T.int32) :\n    T.evaluate( a )\n", "@T.prim_func\ndef f(a: T.int32):\n    T.evaluate(a)\n"
        inner, laid = bad.replace("@", "    @").replace("\n", "\n    ").rstrip(" "), good.replace("@", "    @").replace("\n", "\n    ").rstrip(" ")
        for what, text, result in (("to its end", "def g():\n    # fmt: off\n" + inner + "\n" + inner + "\n\n" + bad, "def g():\n    # fmt: off\n" + inner + "\n" + inner + "\n\n" + good),
                                   ("and blocks in it", "# fmt: off\ndef g():\n    # fmt: on\n" + inner + "\n\n" + bad, None),
                                   ("up to the other one", "def g():\n    # fmt: off\n" + inner + "    # fmt: on\n" + inner, "def g():\n    # fmt: off\n" + inner + "    # fmt: on\n" + laid)):
            with self.subTest(what=what):
                p = tvms("fmt", self.file(HEAD + text))
                self.assertEqual((p.stdout.decode(), p.returncode), (HEAD + (result or text), 0))

    def test_kernels_of_other_packages_are_laid_out_and_not_read(self):
        head = "import elsewhere.language as T\n\n\n"
        bad = head + "@T.prim_func\ndef f(a : T.Tensor((4,), 'f8')) :\n    T.copy( a )\n\n\n@T.macro\ndef g( a ):\n    return  a\n\n\n@T.jit\ndef h( a ):\n    return  a\n"
        good = head + '@T.prim_func\ndef f(a: T.Tensor((4,), "f8")):\n    T.copy(a)\n\n\n@T.macro\ndef g(a):\n    return a\n\n\n@T.jit\ndef h( a ):\n    return  a\n'
        p = tvms("fmt", self.file(bad))
        self.assertEqual((p.stdout.decode(), p.stderr, p.returncode), (good, b"", 0))
        p = tvms("check", self.file(bad))
        self.assertEqual((p.stderr, p.returncode), (b"tvms: no TVMScript found in 1 file\n", 0))
        # What is not understood stays.
        unknown = bad.replace("    T.copy( a )", "    try:\n        T.copy( a )\n    finally:\n        pass")
        p = tvms("fmt", self.file(unknown))
        self.assertEqual((p.stdout.decode().count("T.copy( a )"), p.stdout.decode().count("def g(a):"), p.stderr, p.returncode), (1, 1, b"", 0))

    def test_mistakes_in_definitions_are_found_and_no_others(self):
        p = tvms("check", "-q", self.file(BAD))
        self.assertEqual((p.returncode, p.stderr), (0, b""))
        text = BAD.replace("A[i]=B[i]+ elsewhere", "A[i, i]=T.float32(0)").replace("R.add(x,  x)", "R.ad(x,  x)")
        p = tvms("check", self.file(text))
        self.assertEqual(p.returncode, 1)
        said = p.stderr.decode()
        self.assertIn(":20:17: error[E0341]", said)
        self.assertIn(":27:31: error[E0202]: unknown 'R.ad'", said)
        self.assertEqual(said.count("error"), 2, said)

    def test_a_syntax_error_in_a_definition(self):
        path = self.file(BAD.replace("R.add(x,  x)", "R.add(x,  )x"))
        for verb in ("check", "fmt"):
            with self.subTest(verb=verb):
                p = tvms(verb, path)
                self.assertEqual((p.returncode, p.stdout), (1, b""))
                self.assertEqual(p.stderr.decode().count("error"), 1, p.stderr)

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

    def test_definitions_that_are_not_read_whole_are_named(self):
        text = HEAD + """
def factory(M, te_func):
    @T.prim_func
    def shape(A: T.Buffer((M,), "float32")):
        A[M(0)] = T.float32(0)

    @I.ir_module
    class Module:
        @T.prim_func
        def call(A: T.Buffer((N,), "float32")):
            A[0] = numpy.float32(1)

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            return R.emit_te(te_func, x)

        @R.function
        def whole(x: R.Tensor((4,), "float32")):
            return x

    return shape, Module
"""
        path = self.file(text)
        for verb, label, said in (("check", "note[N0429]", "checked in part"), ("print", "warning[W0428]", "left out"),
                                  ("infer", "warning[W0428]", "left out"), ("opt", "warning[W0428]", "left out")):
            with self.subTest(verb=verb):
                p = tvms(verb, *(["--passes", "RemoveNoOp"] if verb == "opt" else []), path)
                heads = [f"{path}:{place}: {label}: '{name}' is {said}: only Python knows '{what}'"
                         for place, name, what in (("14:9", "shape", "M"), ("20:13", "call", "numpy.float32"), ("24:13", "main", "te_func"))]
                notes = [f"{path}:{place}: note: only Python knows what this is" for place in ("14:28", "21:20", "25:30")]
                lines = [line for line in p.stderr.decode().split("\n") if line.startswith(path)]
                self.assertEqual((p.returncode, lines), (0, [line for pair in zip(heads, notes) for line in pair]))
        self.assertEqual(tvms("check", "--werror", path).returncode, 0)
        self.assertEqual(tvms("print", "--werror", path).returncode, 1)
        # A definition with a mistake is not named as well, and the others are all the same.
        p = tvms("check", self.file(text.replace("A[0] = numpy.float32(1)", "A[0, 1] = T.float32(1)")))
        self.assertEqual((p.returncode, p.stderr.count(b"error["), p.stderr.count(b"N0429")), (1, 1, 2), p.stderr)

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

    def test_modules_of_older_releases(self):
        for module in ("tvm._ffi", "tvm.ir_pass", "tvm.relay"):
            found = tvms("check", self.file(f"import {module}\n" + GOOD))
            self.assertNotIn(b"E0425", found.stderr, module)
        self.assertIn(b"E0425", tvms("check", self.file("import tvm.relaxx\n" + GOOD)).stderr)

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

    def test_print_is_for_who_reads_the_text(self):
        text = HEAD + """
WIDE = list(map(int, "48"))
TWICE = tuple(map(lambda a, b: a * b, WIDE, [2, 3]))

@T.prim_func
def f(A: T.Buffer((WIDE[0], TWICE[1]), "float32")):
    for i in range(4):
        print("i is", i, what, sep="")
        A[i, 0] = T.float32(1)
"""
        p = tvms("print", self.file(text))
        self.assertEqual((p.returncode, p.stdout.count(b"A: T.Buffer((4, 24)"), p.stdout.count(b"print")), (0, 1, 0), p.stderr)
        p = tvms("check", self.file(text.replace("i, what", "j")))
        self.assertEqual((p.returncode, p.stderr.count(b"error[E0201]: name 'j'")), (1, 1), p.stderr)
        # What Python computes and tvms does not is unknown, without an error.
        p = tvms("check", self.file(text.replace("map(int,", "map(elsewhere,")))
        self.assertEqual((p.returncode, p.stderr.count(b"error")), (0, 0), p.stderr)

    def test_packages_of_operators_have_modules(self):
        p = tvms("print", self.file(HEAD + "@R.function\ndef f(x: R.Tensor((4, 4), 'float32')):\n    y = R.nn.nn.softmax(x)\n    return y\n"))
        self.assertEqual((p.returncode, p.stdout.count(b"R.nn.softmax(x, axis=-1)")), (0, 1), p.stderr)

    def test_other_packages_have_scripts_of_their_own(self):
        theirs = "@S.prim_func\ndef f(a: S.ptr('f32')):\n    return a[0]\n"
        for line in ("from tvm.compass.dsl import script as S", "from .. import script as S", "import other.script as S", "from mytvm.script import tir as S"):
            p = tvms("check", self.file(line + "\n" + theirs))
            self.assertEqual((p.returncode, p.stderr), (0, b"tvms: no TVMScript found in 1 file\n"), line)
        ours = "@S.prim_func\ndef f(A: S.Buffer((4,), 'float32')):\n    A[0] = S.float32(1)\n"
        for line in ("from tvm.script import tirx as S", "from other.tvm.script import tirx as S", "from ..script import tirx as S", "from tvm.tirx import script as S"):
            p = tvms("check", self.file(line + "\n" + ours))
            self.assertEqual((p.returncode, p.stderr), (0, b"tvms: 1 definition read\n"), line)

    def test_packages_of_other_names_are_not_tvm(self):
        for line in ("import {}", "from {}.script import tirx as X"):
            for name in ("mvt", "vtm", "mtv", "vmt", "tmv", "tvmm", "ttvm", "tvvm", "TVM"):
                text, nearly = line.format(name) + "\n" + GOOD, name[0] in "tT"
                path = self.file(text)
                p = tvms("check", path)
                self.assertEqual((p.returncode, p.stderr.count(b"E0425")), (nearly, nearly), (name, p.stderr))
                # Another package may have the name: only who is asked changes it.
                tvms("check", "--fix", path)
                with open(path) as f:
                    self.assertEqual(f.read().splitlines()[0], line.format(name))

    def test_decorators_of_a_name_that_the_file_binds(self):
        theirs = "\n\n@prim_func\ndef f(a, b=[], *c):\n    try:\n        return a + b[0]\n    finally:\n        load(a)\n"
        for binds in (
            "prim_func = load()",
            "prim_func, other = load()",
            "*prim_func, other = load()",
            "[a, (b, prim_func)] = load()",
            "prim_func: object = load()",
            "(prim_func := load())",
            "import x as prim_func",
            "for prim_func in load():\n    pass",
            "with load() as prim_func:\n    pass",
            "try:\n    load()\nexcept ValueError as prim_func:\n    pass",
            "match load():\n    case prim_func:\n        pass",
            "def make():\n    global prim_func\n    prim_func = load()",
        ):
            p = tvms("check", self.file("from elsewhere import load\n" + binds + theirs))
            self.assertEqual((p.returncode, p.stderr), (0, b"tvms: no TVMScript found in 1 file\n"), binds)
        for mentions in ("load(prim_func)", "try:\n    load()\nexcept load.prim_func.Error:\n    pass"):
            p = tvms("check", self.file("from elsewhere import load\n" + mentions + theirs))
            self.assertIn(b"1 definition read", p.stderr, mentions)

    def test_data_types_that_python_registers(self):
        p = tvms("check", self.file(HEAD + "@T.prim_func\ndef f(A: T.Buffer((4,), 'custom[mine]32')):\n    T.evaluate(0)\n"))
        self.assertEqual((p.returncode, p.stderr.count(b"note[N0429]")), (0, 1), p.stderr)

    def test_devices_of_older_releases_are_a_mark(self):
        text = "from tvm.script import relax as R\n@R.function\ndef f(x: R.Tensor((4,), 'float32')):\n    y = R.hint_on_device(x, R.device(dev_type=1, dev_id=0))\n    return y\n"
        p = tvms("check", "-v", self.file(text))
        self.assertEqual((p.returncode, p.stderr.count(b"error")), (0, 0), p.stderr)

    def test_other_names_of_what_is_imported(self):
        text = """
from tvm.runtime import convert
from tvm.tirx.expr import IntImm
from tvm.script import tirx as T
lift = convert
pf = T.prim_func

def make(dtype):
    zero = IntImm("int32", 0).astype(dtype)
    @pf(s_tir=True)
    def f(A: T.Buffer((16,), dtype)):
        A[lift(4)] = zero
    return f

make("float16")
"""
        p = tvms("print", "--verify-each", self.file(text))
        self.assertEqual((p.returncode, p.stdout.count(b"A[4] = T.float16(0.0)")), (0, 1), p.stderr)
        p = tvms("check", self.file("from tvm.script import tirx as T\npf = T.prim_func\n@pf\ndef f(A: T.Buffer((4,), 'float32')):\n    A[0] = B\n"))
        self.assertEqual((p.returncode, p.stderr.count(b"error[E0201]")), (1, 1), p.stderr)

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
        p = tvms("check", self.file(HEAD + "def up(n):\n    return up(n + 1) + up(n + 2)\n\nM = up(0)\n" + self.SCRIPT.replace("N", "M")), timeout=60)
        self.assertEqual((p.returncode, p.stderr.count(b"N0445")), (0, 1), p.stderr)

    def test_time_grows_with_the_file(self):
        def seconds(text):
            path, before = self.file(text), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            tvms("check", "--format", "concise", path, timeout=300)
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

        for line, few in (
            ("print(CONFIG[key{}])\n", 10000),
            ("@prim_func\ndef f{0}():\n    pass\n@ir_module\nclass A{0}:\n    pass\n", 3000),
        ):
            times = [seconds("".join(line.format(i) for i in range(few * n)) + "prim_func = None\nir_module = None\n" + GOOD) for n in (1, 5)]
            self.assertLess(times[1], 12 * times[0] + 0.5, line)

    def test_dimensions_that_are_text_in_a_constant(self):
        p = tvms("print", self.file(HEAD + """
SHAPE = tuple(f"d{i}" for i in range(2))
@R.function
def main(x: R.Tensor(SHAPE, "float32")) -> R.Tensor(("d0",), "float32"):
    y = R.sum(x, axis=[1])
    return y
"""))
        self.assertEqual((p.returncode, p.stdout.count(b'x: R.Tensor((d0, d1), dtype="float32")')), (0, 1), p.stderr)

    def test_definitions_are_counted_and_strict_wants_them_whole(self):
        part = HEAD + self.SCRIPT + self.SCRIPT.replace("N", "X")
        p = tvms("check", self.file(part))
        self.assertEqual((p.returncode, p.stderr.count(b"N0445")), (0, 1), p.stderr)
        self.assertTrue(p.stderr.endswith(b"tvms: 2 definitions read, 1 for any values\n"), p.stderr)
        self.assertEqual(tvms("check", "--strict", self.file(part)).returncode, 0)
        part = HEAD + self.SCRIPT + self.SCRIPT.replace("(N,)", "(*X,)")
        p = tvms("check", self.file(part))
        self.assertEqual((p.returncode, p.stderr.count(b"N0429")), (0, 1), p.stderr)
        self.assertTrue(p.stderr.endswith(b"tvms: 2 definitions read, 1 in part\n"), p.stderr)
        p = tvms("check", "--strict", self.file(part))
        self.assertEqual((p.returncode, p.stderr.count(b"error[E0443]: 'f' cannot be checked whole: only Python knows 'X'")), (1, 1), p.stderr)
        p = tvms("check", "--strict", self.file(HEAD + self.SCRIPT))
        self.assertEqual((p.returncode, p.stderr), (0, b"tvms: 1 definition read\n"))
        p = tvms("check", self.file("x = 1\n"))
        self.assertEqual((p.returncode, p.stderr), (0, b"tvms: no TVMScript found in 1 file\n"))
        with tempfile.TemporaryDirectory() as folder:
            for verb in [["check"], ["fmt", "--check"], ["print"], ["infer"]]:
                p = tvms(*verb, folder)
                self.assertEqual((p.returncode, p.stderr), (0, b"tvms: no TVMScript found in 0 files\n"), verb)

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

    def test_decorators_by_whatever_name_they_were_imported(self):
        body = """
def f(A: T.Buffer((4,), "float32")):
    A[0] = nothing
"""
        t = "from tvm.script import tirx as T\n"
        for head in (t + "@T.prim_func", "import tvm.script\n" + t + "@tvm.script.tirx.prim_func", "import tvm as t\n" + t + "@t.script.tirx.prim_func",
                     "from tvm import script as S\n" + t + "@S.tirx.prim_func", t + "from tvm.script.tirx import prim_func as kernel\n@kernel",
                     t + "from tvm.script.tirx import prim_func\n@prim_func(s_tir=True)", "from tvm.tirx import script as T\n@T.prim_func",
                     "try:\n    from tvm.script import tirx as T\nexcept ImportError:\n    T = None\n@T.prim_func",
                     "try:\n    from tvm.script import tirx as T\nexcept ImportError:\n    from tvm.script import tir as T\n@T.prim_func"):
            with self.subTest(head=head):
                p = tvms("check", "--format", "concise", self.file(head + body))
                said = [line.split(": ", 1)[1] for line in p.stdout.decode().splitlines()]
                self.assertEqual(said, ["error[E0201]: name 'nothing' is not defined"], p.stderr)

    def test_findings_of_other_texts_stay(self):
        p = tvms("opt", "--passes", "LegalizeOp", self.file(GOOD))
        self.assertEqual((p.returncode, p.stdout), (1, b""))
        self.assertIn(b"error[E0801]", p.stderr)

    def test_the_name_is_told_that_a_definition_waits_for(self):
        for call, name in (("T.call_kernel('k', [1], A.data)", "T.call_kernel"), ("A[0] = helper(A[0])", "helper"), ("A[0] = what.it.does(1)", "what.it.does")):
            text = HEAD + "def helper(x):\n    print(x)\n    return x\n\n@T.prim_func\ndef f(A: T.Buffer((4,), \"float32\")):\n    " + call + "\n"
            with self.subTest(call=call):
                p = tvms("check", self.file(text))
                self.assertEqual(p.returncode, 0, p.stderr)
                self.assertIn(b"note[N0429]: 'f' is checked in part: only Python knows '%s'" % name.encode(), p.stderr)

    def test_one_empty_line_stands_between_definitions(self):
        unread = "\n@T.prim_func\ndef unread(A: T.Buffer((X,), \"float32\")):\n    A[0] = T.float32(0)\n"
        known = "\n@T.prim_func\ndef f(A: T.Buffer((4,), \"float32\")):\n    A[0] = T.float32(0)\n"
        def module(*functions):
            return "\n@I.ir_module\nclass Module:" + "".join(functions).replace("\n", "\n    ").rstrip(" ")
        text = HEAD + "".join([unread, known, unread, unread, module(unread), module(unread, known), known, unread])
        printed = ('# from tvm.script import ir as I\n# from tvm.script import tirx as T\n# from tvm.tirx.layout import Axis\n\n'
                   '@T.prim_func\ndef f(A: T.Buffer((4,), "float32")):\n    A[0] = T.float32(0.0)\n\n'
                   '@I.ir_module\nclass Module:\n    @T.prim_func\n    def f(A: T.Buffer((4,), "float32")):\n        A[0] = T.float32(0.0)\n\n'
                   '@T.prim_func\ndef f(A: T.Buffer((4,), "float32")):\n    A[0] = T.float32(0.0)\n')
        p = tvms("print", "--dialect", "0.27", self.file(text))
        self.assertEqual((p.returncode, p.stdout.decode(), p.stderr.count(b"W0428")), (0, printed, 6))
        again = tvms("print", self.file(printed))
        self.assertEqual((again.returncode, again.stdout.decode(), again.stderr), (0, printed, b""))
        p = tvms("print", self.file(HEAD + unread))
        self.assertEqual((p.returncode, p.stdout), (0, b""))

    def test_a_metadata_section_is_found(self):
        """Printed text is the same program as a .py file: its constants, and the release that its section names."""
        text = HEAD + """
@R.function
def few(x: R.Tensor((4,), "float32")):
    return R.add(x, R.const([1, 2, 3, 4], "float32"))

@I.ir_module
class Module:
    @R.function
    def many(x: R.Tensor((4, 4), "float32")) -> R.Tensor((4, 4), "float32"):
        return R.add(x, R.const([[1], [2], [3], [4]], "float32"))
"""
        for release in ("0.22", "0.25", "0.26", "0.27"):
            with self.subTest(release=release):
                printed = tvms("print", "--dialect", release, self.file(text)).stdout.decode()
                self.assertIn("tvm.ir.load_json", printed)
                p = tvms("print", "-v", self.file(printed))
                self.assertEqual((p.returncode, p.stdout.decode()), (0, printed), p.stderr)
                self.assertEqual(p.stderr.decode(), f"tvms: {self.folder}/a.py: read as {release}\n")

    def test_a_large_metadata_section_leaves_room_for_constants(self):
        data = "A" * 28000000
        text = tvms("print", "--dialect", "0.27", self.file(HEAD + """
@R.function
def f(x: R.Tensor(("n", 4), "float32")):
    y = R.const([[1, 2, 3, 4]], "float32")
    return R.add(x, y)
""")).stdout.decode()
        self.assertIn('n = TypeVar("n")', text)
        # A text of the section that nothing uses, larger than constants of Python may be.
        large = text.replace('\\"metadata\\": {', f'\\"other\\": \\"{data}\\",\n  \\"metadata\\": {{', 1)
        self.assertGreater(len(large), len(data))
        p = tvms("print", self.file(large))
        self.assertEqual((p.returncode, p.stdout.decode() == text, p.stderr), (0, True, b""))

    SCRIPT = "\n@T.prim_func\ndef f(A: T.Buffer((N,), \"float32\")):\n    A[0] = T.float32(0)\n"
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
                    self.assert_silent_and_small(HEAD + head + self.SCRIPT, 32, least)
                    self.assert_silent_and_small(HEAD + head, 32, least)

    def test_constants_that_are_too_large_are_unknown(self):
        least = memory_of("check", self.file(HEAD))[2]
        for what, value in self.LARGE:
            with self.subTest(what=what):
                # And what else the definition asks for is known.
                wrong = self.SCRIPT + "    A[len(X)] = T.float32(0)\n    A[0, N] = T.float32(0)\n"
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

    def test_each_definition_may_have_a_release_of_its_own(self):
        new = "\n@R.function\ndef new(x: R.Any) -> R.Any:\n    return x\n"
        old = "\n@R.function\ndef old(x: R.Tensor((4,), \"float32\")):\n    return R.call_pure_packed(\"f\", x, sinfo_args=R.Tensor((2,), \"float32\"))\n"
        both = old.replace("def old(x: R.Tensor((4,), \"float32\"))", "def both(x: R.Any)")
        head = "from tvm.script import relax as R\n"
        p = tvms("check", "-q", self.file(head + new + old))
        self.assertEqual((p.returncode, p.stderr), (0, b""))
        p = tvms("check", self.file(head + new + old + both + old.replace("old", "last") + new))
        self.assertEqual((p.returncode, p.stderr.count(b"error[E0402]"), p.stderr.count(b"error[")), (1, 1, 1), p.stderr)
        self.assertIn(b":13:39: error[E0402]", p.stderr)

    def test_names_of_other_packages_mark_no_release(self):
        text = """
import elsewhere.language as T
from tvm.script import relax as R

@T.prim_func
def theirs(A: T.Tensor((4,), "float32")):
    T.realize(A, "")

def helper(T):
    T.realize(1)

@R.function
def ours(x: R.Any) -> R.Any:
    return x
"""
        p = tvms("check", self.file(text))
        self.assertEqual((p.returncode, p.stderr), (0, b"tvms: 1 definition read\n"))
        p = tvms("check", self.file(text.replace("elsewhere.language", "tvm.script.tir")))
        self.assertEqual((p.returncode, p.stderr.count(b"error["), p.stderr.count(b"unknown 'T.Tensor'")), (1, 1, 1), p.stderr)

    def test_folders_hold_python_files_for_check_and_fmt(self):
        self.file(BAD), self.file("x=1\n", "b.tvms"), self.file("not TVMScript ( \n", "c.txt")
        p = tvms("fmt", "--check", self.folder)
        self.assertEqual(p.returncode, 1)
        self.assertEqual([line.rsplit("/", 1)[-1] for line in p.stderr.decode().splitlines()], ["a.py: not formatted", "b.tvms: not formatted", "tvms: 2 files would be reformatted"])
        self.assertEqual(tvms("check", self.folder).returncode, 0)
        self.assertEqual(tvms("print", self.folder).stdout, b"")


class Corpus(unittest.TestCase):
    def test_python_stays_what_it_was(self):
        for path in files_under("corpus", suffix=".py"):
            with self.subTest(path=path), tempfile.TemporaryDirectory() as folder:
                again = os.path.join(folder, "again.py")
                p = tvms("fmt", path)
                self.assertEqual((p.returncode, p.stderr), (0, b""))
                with open(again, "wb") as f:
                    f.write(p.stdout)
                with open(path, "rb") as f:
                    self.assertEqual(trees(f.read()), trees(p.stdout))
                self.assertEqual(tvms("fmt", "--check", again).returncode, 0)
                before, after = tvms("print", path), tvms("print", again)
                self.assertEqual((before.returncode, before.stdout), (0, after.stdout))


if __name__ == "__main__":
    main()
