#!/usr/bin/env python3
"""Python files: TVMScript stands in them anywhere, and the rest is none of tvms's business."""
import ast, os, resource, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import files_under, main, tvms
from python_parts import HEAD, SCRIPT, PythonTests

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

class PythonFiles(PythonTests):
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

    def test_a_body_that_is_missing(self):
        """It is missed behind the definition, and formatting says no more of it than check."""
        for behind in ("    ", "    # a comment\n", "\nx = 1\n", "\n# a comment\n\nx = 1\n"):
            path = self.file(HEAD + "\n@I.ir_module\nclass Module:\n" + behind)
            for verb in ("check", "fmt"):
                with self.subTest(verb=verb, behind=behind):
                    p = tvms(verb, path)
                    self.assertEqual((p.returncode, p.stdout), (1, b""), p.stderr)
                    self.assertEqual(p.stderr.decode().count("error"), 1, p.stderr)
                    self.assertIn(b"error[E0115]: expected an indented block after 'class Module'", p.stderr)

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

    def test_modules_of_older_releases(self):
        for module in ("tvm._ffi", "tvm.ir_pass", "tvm.relay"):
            found = tvms("check", self.file(f"import {module}\n" + GOOD))
            self.assertNotIn(b"E0425", found.stderr, module)
        self.assertIn(b"E0425", tvms("check", self.file("import tvm.relaxx\n" + GOOD)).stderr)

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

    def test_definitions_are_counted_and_strict_wants_them_whole(self):
        part = HEAD + SCRIPT + SCRIPT.replace("N", "X")
        p = tvms("check", self.file(part))
        self.assertEqual((p.returncode, p.stderr.count(b"N0445")), (0, 1), p.stderr)
        self.assertTrue(p.stderr.endswith(b"tvms: 2 definitions read, 1 for any values\n"), p.stderr)
        self.assertEqual(tvms("check", "--strict", self.file(part)).returncode, 0)
        part = HEAD + SCRIPT + SCRIPT.replace("(N,)", "(*X,)")
        p = tvms("check", self.file(part))
        self.assertEqual((p.returncode, p.stderr.count(b"N0429")), (0, 1), p.stderr)
        self.assertTrue(p.stderr.endswith(b"tvms: 2 definitions read, 1 in part\n"), p.stderr)
        p = tvms("check", "--strict", self.file(part))
        self.assertEqual((p.returncode, p.stderr.count(b"error[E0443]: 'f' cannot be checked whole: only Python knows 'X'")), (1, 1), p.stderr)
        p = tvms("check", "--strict", self.file(HEAD + SCRIPT))
        self.assertEqual((p.returncode, p.stderr), (0, b"tvms: 1 definition read\n"))
        p = tvms("check", self.file("x = 1\n"))
        self.assertEqual((p.returncode, p.stderr), (0, b"tvms: no TVMScript found in 1 file\n"))
        with tempfile.TemporaryDirectory() as folder:
            for verb in [["check"], ["fmt", "--check"], ["print"], ["infer"]]:
                p = tvms(*verb, folder)
                self.assertEqual((p.returncode, p.stderr), (0, b"tvms: no TVMScript found in 0 files\n"), verb)

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
