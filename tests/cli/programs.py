#!/usr/bin/env python3
"""check, check --fix, diff and opt on the founding programs: what people do with them."""
import json, os, pathlib, re, shutil, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import Scratch, main, source, tvms

GOOD = source("corpus", "mlp_module.tvms")
PUBLISHED = source("corpus", "mlp_module_as_published.tvms")


class Founding(unittest.TestCase):
    """founding.tsv: every mistake of the documents' programs is found in one run, at its place, and nothing else is."""

    def test_every_mistake_is_found(self):
        with open(source("tests", "cli", "founding.tsv")) as f:
            rows = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
        for name in sorted({row[0] for row in rows}):
            with self.subTest(program=name):
                p = tvms("check", "--format", "json", source("corpus", name + ".tvms"))
                self.assertEqual((p.returncode, p.stderr), (1, b""))
                found = [(f["range"]["start"]["line"], f["range"]["start"]["column"], f["code"])
                         for f in json.loads(p.stdout)["findings"]]
                self.assertEqual(found, [(int(line), int(column), code) for program, line, column, code, _ in rows
                                         if program == name])


    def test_a_mended_statement_has_its_other_mistakes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = shutil.copy(source("corpus", "bulk_as_published.tvms"), folder)
            tvms("check", "--fix", "--unsafe-fixes", path)
            said = tvms("check", "--format", "concise", path).stdout.decode()
        for line in (24, 68):
            for column, code in ((16, "E0205"), (42, "E0216")):
                self.assertIn(f":{line}:{column}: error[{code}]", said)


class Check(Scratch):
    def test_published_module_has_exactly_two_errors(self):
        p = tvms("check", "--format", "json", PUBLISHED)
        self.assertEqual((p.returncode, p.stderr), (1, b""))
        found = json.loads(p.stdout)["findings"]
        rows = [(f["severity"], f["range"]["start"]["line"], f["message"]) for f in found]
        self.assertEqual(rows, [("error", 44, "name 'lv0' is not defined"), ("error", 45, "name 'b' is not defined")])
        for f, old, new in zip(found, ("lv0", "b"), ("lv", "n")):
            with open(PUBLISHED, "rb") as file:
                data = file.read()
            span = f["range"]
            self.assertEqual(data[span["start"]["offset"]:span["end"]["offset"]].decode(), old)
            self.assertEqual(len(f["notes"]), 1)
            self.assertEqual([fix["text"] for fix in f["fixes"]], [new])

    def test_fix_makes_a_module_that_checks(self):
        shutil.copy(PUBLISHED, self.path)
        p = tvms("check", "--fix", self.path)
        self.assertEqual((p.returncode, p.stdout, p.stderr), (0, b"", b""))
        with open(GOOD) as f:
            self.assertEqual(self.text(), f.read())

    def test_diff_shows_the_fix_and_leaves_the_file(self):
        shutil.copy(PUBLISHED, self.path)
        p = tvms("check", "--diff", self.path)
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"+            lv1 = R.call_tir(cls.relu, (lv,),", p.stdout)
        with open(PUBLISHED) as f:
            self.assertEqual(self.text(), f.read())

    def test_fix_reports_what_it_cannot_mend(self):
        with open(PUBLISHED) as f:
            text = f.read().replace("R.output(lv2)", "R.output(nowhere)")
        with open(self.path, "w") as f:
            f.write(text)
        p = tvms("check", "--fix", self.path)
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"'nowhere'", p.stderr)
        self.assertNotIn(b"'lv0'", p.stderr)
        self.assertIn("(lv,)", self.text())

    def test_standard_input_cannot_be_mended(self):
        self.assertEqual(tvms("check", "--fix", "-", stdin="x = 1\n").returncode, 2)

    def test_folder_means_its_files(self):
        os.mkdir(os.path.join(self.folder.name, "inner"))
        for name in ("a.tvms", "inner/b.tvms"):
            shutil.copy(PUBLISHED, os.path.join(self.folder.name, name))
        with open(os.path.join(self.folder.name, "c.txt"), "w") as f:
            f.write("no program (\n")
        document = json.loads(tvms("check", "--format", "json", self.folder.name).stdout)
        self.assertEqual(document["errors"], 4)
        self.assertEqual(len({f["file"] for f in document["findings"]}), 2)

    def test_unknown_release(self):
        p = tvms("check", "--from", "0.99", GOOD)
        self.assertEqual(p.returncode, 2)
        self.assertIn(b"there is no release '0.99'; there are 0.22, 0.25, 0.26, 0.27\n", p.stderr)

    def test_releases_are_named_as_builds_name_themselves_too(self):
        for name in "0.22.0", "0.25.0.post1", "0.26.0", "0.27.0.post1":
            self.assertEqual(tvms("print", "--dialect", name, GOOD).returncode, 0, name)

    def test_release_that_is_never_written(self):
        self.assertEqual(tvms("print", "--dialect", "0.24", GOOD).returncode, 2)

    def test_nothing_is_printed_after_an_error(self):
        p = tvms("print", PUBLISHED)
        self.assertEqual((p.returncode, p.stdout), (1, b""))

    def test_verbose_says_what_was_read(self):
        self.assertIn(b"read as 0.22", tvms("check", "-v", GOOD).stderr)


class Diff(Scratch):
    def test_same_program(self):
        p = tvms("diff", GOOD, GOOD)
        self.assertEqual((p.returncode, p.stdout), (0, b""))

    def test_names_and_layout_make_no_difference(self):
        with open(GOOD) as f:
            text = f.read()
        with open(self.path, "w") as f:
            f.write("# another comment\n" + text.replace("lv1", "hidden").replace("v_k", "v_reduced"))
        p = tvms("diff", GOOD, self.path)
        self.assertEqual((p.returncode, p.stdout), (0, b""))

    def test_names_of_blocks_make_no_difference(self):
        with open(GOOD) as f:
            text = f.read()
        with open(self.path, "w") as f:
            f.write(text.replace('T.block("Y")', 'T.block("other")'))
        self.assertNotEqual(text, open(self.path).read())
        p = tvms("diff", GOOD, self.path)
        self.assertEqual((p.returncode, p.stdout), (0, b""))

    def test_differences_are_located_in_both(self):
        with open(GOOD) as f:
            text = f.read()
        with open(self.path, "w") as f:
            f.write(text.replace("T.max(X[v_i, v_j], T.float32(0.0))", "T.min(X[v_i, v_j], T.float32(0.0))"))
        p = tvms("diff", GOOD, self.path)
        self.assertEqual(p.returncode, 1)
        said = p.stdout.decode()
        self.assertIn("relu: kind differs\n", said)
        self.assertIn(f"  - {GOOD}:30:31: T.max(", said)
        self.assertIn(f"  + {self.path}:30:31: T.min(", said)

    def test_blocks_of_relax_are_told_by_what_they_hold(self):
        head = 'from tvm.script import relax as R\n@R.function\ndef main(x: R.Tensor((4,), "float32")):\n'
        with open(self.path, "w") as f:
            f.write(head + "    y = R.exp(x)\n    return y\n")
        p = tvms("diff", "-", self.path, stdin=head + "    with R.dataflow():\n        y = R.exp(x)\n        R.output(y)\n    return y\n")
        self.assertEqual(p.returncode, 1)
        self.assertEqual(p.stdout.decode(), f"main: the kind of a block differs\n  - <stdin>:5:9: 1 binding in a dataflow block\n  + {self.path}:4:5: 1 binding outside of dataflow blocks\n")

    def test_missing_function(self):
        with open(GOOD) as f:
            text = f.read()
        with open(self.path, "w") as f:
            f.write(text.replace("def relu", "def gelu").replace("cls.relu", "cls.gelu"))
        p = tvms("diff", GOOD, self.path)
        self.assertEqual(p.returncode, 1)
        line = text[: text.index("def relu")].count("\n") + 1
        self.assertIn(f"relu is only in {GOOD}\n  - {GOOD}:{line}:9: relu\n", p.stdout.decode())
        self.assertIn(f"gelu is only in {self.path}\n  + {self.path}:{line}:9: gelu\n", p.stdout.decode())

    def test_what_the_text_does_not_say_is_at_the_name(self):
        one = 'from tvm.script import relax as R\n\n@R.function\ndef main(x: R.Tensor((4,), "float32")):\n    y = R.add(x, x)\n    return y\n'
        with open(self.path, "w") as f:
            f.write(one.replace("return y", "return (y, y)"))
        p = tvms("diff", "-", self.path, stdin=one)
        self.assertIn('main: kind differs\n  - <stdin>:4:5: R.Tensor((4,), dtype="float32")\n', p.stdout.decode())
        self.assertEqual(re.findall(r"^  [-+] (?!.*?:\d+:\d+: ).*$", p.stdout.decode(), re.M), [])

    TIR = """# from tvm.script import tirx as T

@T.prim_func
def f(A: T.Buffer((4,), "float32")):
    T.func_attr({SYMBOL"tirx.noalias": True})
    A[0] = A[1] + T.float32(1)
"""
    RELAX = """# from tvm.script import relax as R

@R.function
def f(x: R.Tensor((4,), "float32")):
    R.func_attr({SYMBOL})
    return R.add(x, x)
"""

    def test_a_symbol_is_the_same_written_down_or_not(self):
        canonical = os.path.join(self.folder.name, "canonical.tvms")
        for text in (self.TIR, self.RELAX):
            for symbol in ("other", "f"):
                with self.subTest(text=text, symbol=symbol):
                    with open(self.path, "w") as f:
                        f.write(text.replace("SYMBOL", f'"global_symbol": "{symbol}", '))
                    with open(canonical, "wb") as f:
                        f.write(tvms("print", self.path).stdout)
                    p = tvms("diff", self.path, canonical)
                    self.assertEqual((p.returncode, p.stdout, p.stderr), (0, b"", b""))

    def test_another_symbol_is_a_difference(self):
        other = os.path.join(self.folder.name, "other.tvms")
        for text in (self.TIR, self.RELAX):
            for place, meant in (("4:5", text.replace("def f", "def other").replace("SYMBOL", "")),
                                 ("5:17", text.replace("SYMBOL", '"global_symbol": "other", '))):
                with self.subTest(text=text, place=place):
                    with open(self.path, "w") as f:
                        f.write(text.replace("SYMBOL", ""))
                    with open(other, "w") as f:
                        f.write(meant)
                    p = tvms("diff", self.path, other)
                    said = f"f: global_symbol differs\n  - {self.path}:4:5: f\n  + {other}:{place}: other\n"
                    self.assertEqual((p.returncode, p.stdout.decode()), (1, said))
    CONSTANT = (
        "from tvm.script import ir as I, relax as R\n@I.ir_module\nclass Module:\n    @R.function\n"
        '    def main(x: R.Tensor((3,), "float32")) -> R.Tensor((3,), "float32"):\n'
        "        lv: R.Tensor((3,), 'float32') = R.const([1, 2, 4], 'float32')\n"
        "        return R.add(x, lv)\n"
    )

    PACKED = (
        "from tvm.script import ir as I, tir as T\n@I.ir_module\nclass Module:\n    @T.prim_func\n"
        '    def scale(A: T.Buffer((4,), "float32"), k: T.float32, B: T.Buffer((4,), "float32")):\n'
        '        T.func_attr({"target": T.target({"kind": "llvm", "host": {"kind": "llvm"}})})\n'
        "        for i in range(4):\n            B[i] = A[i] * k\n"
    )

    def test_packed_functions_are_called_with_the_inputs_of_those_before(self):
        release = ("--from", "0.22", "--dialect", "0.22")
        lowered = tvms("opt", *release, "--passes", "MakePackedAPI", "-", stdin=self.PACKED.encode()).stdout
        with open(self.path, "w") as f:
            f.write(self.PACKED)
        changes = [(b"", b"", 0, b""), (b"] * k", b"] + k", 1, b"E0891"), (b"return 0", b"return -1", 1, b"it returned an error code"),
                   (b"num_args == 3", b"num_args == 2", 1, b"num_args should be 3"),
                   (b"args, 1, 14", b"args, 3, 14", 1, b"field 14 of element 3 lies outside of the memory")]
        for old, new, status, said in changes:
            with self.subTest(new=new):
                self.assertIn(old, lowered)
                p = tvms("diff", "--values", "--from", "0.22", self.path, "-", stdin=lowered.replace(old, new) if old else lowered)
                self.assertEqual((p.returncode, p.stdout), (status, b""))
                self.assertIn(said, p.stderr)
                self.assertNotIn(b"not compared", p.stderr)

    def test_values_that_are_left_out_are_not_compared(self):
        whole = tvms("print", "-", stdin=self.CONSTANT.encode()).stdout
        part = tvms("print", "--no-metadata", "-", stdin=self.CONSTANT.encode()).stdout
        self.assertIn(b"load_json", whole)
        self.assertIn(b"# Metadata omitted.", part)
        other = whole.replace(b"R.add", b"R.multiply")
        with open(self.path, "wb") as f:
            f.write(part)
        p = tvms("diff", "-", self.path, stdin=whole)
        self.assertEqual((p.returncode, p.stdout), (0, b""))
        self.assertIn(b"warning[W0441]: 1 value is not compared", p.stderr)
        self.assertEqual(p.stderr.count(b"warning["), 1)
        p = tvms("diff", self.path, "-", stdin=other)
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"value of 'opcode' differs", p.stdout)
        lines = [line for line in self.CONSTANT.splitlines(True) if "R.const" not in line]
        scalar = "".join(lines).replace("x, lv", "x, R.const(1, 'float32')")
        unknown = scalar.replace("R.const(1, 'float32')", 'metadata["ir.GenericConst"][0]')
        with open(self.path, "w") as f:
            f.write(unknown)
        p = tvms("diff", self.path, "-", stdin=scalar.encode())
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"value differs", p.stdout)
        with open(self.path, "wb") as f:
            f.write(part)
        p = tvms("diff", "-", self.path, stdin=part.replace(b"(3,)", b"(4,)"))
        self.assertEqual(p.returncode, 1)

    def test_a_reference_to_no_known_class_is_an_error(self):
        text = self.CONSTANT.replace("R.const([1, 2, 4], 'float32')", 'metadata["ir.Span"][0]')
        p = tvms("diff", "-", GOOD, stdin=text.encode())
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"error[E0233]", p.stderr)
        p = tvms("diff", "-", GOOD, stdin=text.replace("[0]", "['a']").encode())
        self.assertEqual(p.returncode, 1)

    def test_standard_input_is_one_file(self):
        self.assertEqual(tvms("diff", "-", "-").returncode, 2)
        self.assertEqual(tvms("diff", "-", GOOD, stdin=pathlib.Path(GOOD).read_bytes()).returncode, 0)

    def test_one_file_is_not_enough(self):
        self.assertEqual(tvms("diff", GOOD).returncode, 2)


TWO = """# from tvm.script import ir as I
# from tvm.script import relax as R
# from tvm.script import tirx as T

@I.ir_module
class A:
    @T.prim_func
    def k(X: T.Buffer((4,), "float32")):
        X[0] = T.float32(0)

    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x

@I.ir_module
class B:
    @T.prim_func
    def k(X: T.Buffer((8,), "float32")):
        X[0] = T.float32(0)

    @R.function
    def main(x: R.Tensor((8,), "float32")) -> R.Tensor((8,), "float32"):
        return x

@R.function
def lone(x: R.Tensor((9,), "float32")) -> R.Tensor((9,), "float32"):
    return x
"""


class Definitions(Scratch):
    """Files with several definitions: all of them, or the one that --definition names."""

    def setUp(self):
        super().setUp()
        with open(self.path, "w") as f:
            f.write(TWO)

    def lengths(self, *arguments):
        p = tvms(*arguments, self.path)
        self.assertEqual(p.returncode, 0, p.stderr)
        return re.findall(r"def \w+\(x: R.Tensor\(\((\d),\)", p.stdout.decode())

    def test_all_are_printed_or_one(self):
        for verb in (["print"], ["opt", "--passes", "RemoveNoOp"]):
            self.assertEqual(self.lengths(*verb), ["4", "8", "9"])
            self.assertEqual(self.lengths(*verb, "--definition", "B"), ["8"])
            self.assertEqual(self.lengths(*verb, "--definition", "lone"), ["9"])

    def test_of_one_name_the_last_is_meant(self):
        with open(self.path, "w") as f:
            f.write(TWO.replace("class A", "class B"))
        self.assertEqual(self.lengths("print", "--definition", "B"), ["8"])

    def test_infer_says_whose_a_function_is(self):
        said = [line for line in tvms("infer", self.path).stdout.decode().split("\n") if line.startswith("function")]
        self.assertEqual(said, ["function A.main", "function B.main", "function lone"])
        functions = json.loads(tvms("infer", "--format", "json", self.path).stdout)["results"][0]["functions"]
        self.assertEqual([(f["name"], f.get("module")) for f in functions], [("main", "A"), ("main", "B"), ("lone", None)])
        self.assertEqual(tvms("infer", "--definition", "A", self.path).stdout.decode().split("\n")[0], "function main")

    def test_check_verifies_the_one_that_is_asked_for(self):
        with open(self.path, "w") as f:
            f.write(TWO.replace("(8,), \"float32\")):\n        X[0] = ", "(8,), \"float32\")):\n        i = T.int32()\n        X[i] = "))
        self.assertEqual([tvms("check", *arguments, self.path).returncode for arguments in
                          ([], ["--definition", "B"], ["--definition", "A"])], [1, 1, 0])

    def test_diff_compares_the_one_that_is_asked_for(self):
        other = os.path.join(self.folder.name, "other.tvms")
        with open(other, "w") as f:
            f.write(TWO[:TWO.index("@R.function\ndef lone")].replace("X[0]", "X[1]", 1))
        self.assertIn(b"has 3 definitions", tvms("diff", self.path, other).stdout)
        self.assertEqual(tvms("diff", "--definition", "A", self.path, other).returncode, 1)
        p = tvms("diff", "--definition", "B", self.path, other)
        self.assertEqual((p.returncode, p.stdout, p.stderr), (0, b"", b""))
        self.assertIn(b"error[E1012]: there is no definition 'lone'", tvms("diff", "--definition", "lone", self.path, other).stderr)

    def test_run_says_that_there_are_several_and_takes_the_one_that_is_asked_for(self):
        p = tvms("run", self.path)
        self.assertEqual((p.returncode, p.stdout[:18]), (0, b"result: float32[4]"))
        self.assertIn(f"{self.path}:12:9: warning[W1013]: 2 definitions have a function 'main'; the first of them is taken", p.stderr.decode())
        self.assertIn(f"{self.path}:22:9: note: another one", p.stderr.decode())
        self.assertIn("= --definition NAME takes that of another", p.stderr.decode())
        for definition, entry, length in (("A", None, 4), ("B", None, 8), ("B", "k", 8), ("lone", None, 9)):
            with self.subTest(definition=definition, entry=entry):
                p = tvms("run", "--definition", definition, *(["--entry", entry] if entry else []), self.path)
                self.assertEqual((p.returncode, p.stdout[:18].decode(), p.stderr), (0, f"result: float32[{length}]", b""))

    def test_a_library_has_one_function_of_a_name(self):
        output = os.path.join(self.folder.name, "k.s")
        p = tvms("build", "--primfuncs-only", "-o", output, self.path)
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"= --definition NAME builds one definition", p.stderr)
        p = tvms("build", "--primfuncs-only", "-o", output, "--definition", "B", self.path)
        self.assertEqual((p.returncode, p.stderr), (0, b""))

    def test_a_name_that_nothing_has(self):
        for wanted, said in (("lonee", "did you mean 'lone'?"), ("nothing", "there is 'A'")):
            for verb in ("check", "print", "infer", "run"):
                with self.subTest(verb=verb, wanted=wanted):
                    p = tvms(verb, "--definition", wanted, self.path)
                    self.assertEqual((p.returncode, p.stdout), (1, b""))
                    self.assertIn(f"error[E1012]: there is no definition '{wanted}' in this file", p.stderr.decode())
                    self.assertIn(said, p.stderr.decode())


class Releases(Scratch):
    """Printed text is of the newest release whose printer would write it so, though later ones read it, too."""

    HEADER = "# from tvm.script import relax as R\n# from tvm.script import tirx as T\n\n"
    PROGRAMS = {
        "dims": """
@R.function
def f(x: R.Tensor(("n", 4), "float32")):
    n = T.int64()
    y = R.reshape(x, R.shape([4, n]))
    return y
""",
        "buffers": """
@T.prim_func
def f(a: T.handle, b: T.handle):
    n = T.int64()
    m = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (m,), "float32")
    A[0] = B[0]
""",
        "scalars": """
@R.function
def f(x: R.Tensor((4,), "float32"), s: R.Object):
    y = R.strided_slice(x, [0], [1], [3])
    return y
""",
        "dtypes": """
@R.function
def f(x: R.Tensor((4, 4), "float32"), y: R.Tensor((4, 4), "float32")):
    return R.matmul(x, y)
""",
    }
    # The release that each is read as when 0.25, 0.26 and 0.27 have printed it.
    READ = {"dims": ("0.26", "0.26", "0.27"), "buffers": ("0.25", "0.26", "0.27"),
            "scalars": ("0.25", "0.27", "0.27"), "dtypes": ("0.25", "0.27", "0.27")}

    def written(self, text):
        with open(self.path, "w") as f:
            f.write(text)
        return self.path

    def read_as(self, text):
        return re.search(r"read as (\S+)", tvms("check", "-v", self.written(text)).stderr.decode()).group(1)

    def test_printed_text_prints_the_same(self):
        for name, text in self.PROGRAMS.items():
            for release, read in zip(("0.25", "0.26", "0.27"), self.READ[name]):
                with self.subTest(name=name, release=release):
                    printed = tvms("print", "--dialect", release, self.written(self.HEADER + text)).stdout.decode()
                    self.assertEqual(self.read_as(printed), read)
                    self.assertEqual(tvms("print", self.written(printed)).stdout.decode(), printed)

    def test_text_that_was_not_printed_is_of_the_newest(self):
        text = self.PROGRAMS["dims"]
        self.assertEqual(self.read_as(self.HEADER + text), "0.26")
        self.assertEqual(self.read_as(text), "0.27")
        self.assertEqual(self.read_as(self.HEADER + text.replace("R.reshape(x,", "R.reshape(\n        x,")), "0.27")
        # What another release must have is stronger, and so is what is asked for.
        self.assertEqual(self.read_as(self.HEADER + text.replace("y = R.reshape", "y: R.Any = R.reshape").replace("int64()", "int64()\n    R.Object")), "0.26")
        p = tvms("check", "-v", "--dialect", "0.27", self.written(self.HEADER + text))
        self.assertIn(b"read as 0.27", p.stderr)

    def test_a_declared_dimension_of_another_function_shows_nothing(self):
        text = """
@T.prim_func
def f(A: T.Buffer(("n",), "float32")):
    n = T.int32()
    A[0] = T.float32(0)

@R.function
def g(x: R.Tensor(ndim=1, dtype="float32")):
    n = T.int64()
    y = R.match_cast(x, R.Tensor((n,), "float32"))
    return y
"""
        self.assertEqual(self.read_as(self.HEADER + text), "0.27")


class Opt(Scratch):
    LOWERINGS = """@I.ir_module
class Mine:
    @T.prim_func(private=True, s_tir=True)
    def clipped(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        T.func_attr({"tvms.lowers": "OPERATOR"})
        for i in range(4):
            with T.sblock("clipped"):
                v = T.axis.spatial(4, i)
                y[v] = T.min(x[v], T.float32(1))
"""
    CALLS = """@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.exp(x)
"""

    def lower_with(self, operator):
        lowerings = os.path.join(self.folder.name, "mine.tvms")
        with open(lowerings, "w") as f:
            f.write(self.LOWERINGS.replace("OPERATOR", operator))
        with open(self.path, "w") as f:
            f.write(self.CALLS)
        return tvms("opt", "--passes", f"LegalizeOps{{with={lowerings}}}", self.path)

    def test_lowerings_of_a_file_are_taken(self):
        p = self.lower_with("relax.exp")
        self.assertEqual((p.returncode, p.stderr), (0, b""))
        self.assertIn(b"R.call_tir(cls.clipped, (x,)", p.stdout)
        self.assertNotIn(b"tvms.lowers", p.stdout)

    def test_errors_in_lowerings_stand_in_their_file(self):
        p = self.lower_with("relax.expp")
        self.assertEqual(p.returncode, 1)
        self.assertRegex(p.stderr.decode(), r"mine\.tvms:4:9: error\[E0814\]")
        self.assertNotIn(b"a.tvms:", p.stderr)

    def test_lowerings_that_cannot_be_read_are_located(self):
        p = self.lower_with('relax.exp", 3: (')
        self.assertEqual(p.returncode, 1)
        self.assertRegex(p.stderr.decode(), r"mine\.tvms:\d+:\d+: error\[E")

    def test_list_names_every_pass(self):
        p = tvms("opt", "--list")
        self.assertEqual(p.returncode, 0)
        self.assertIn(b"LegalizeOps (legalize-ops)  [all releases]\n", p.stdout)
        self.assertIn(b"StmtSimplify (stmt-simplify)  [since 0.25]\n", p.stdout)
        self.assertIn(b"VMBuiltinLower (vm-builtin-lower)  [up to 0.22]\n", p.stdout)

    def test_page_of_a_pass(self):
        p = tvms("opt", "--list", "FuseOps", "to-non-dataflow")
        self.assertEqual(p.returncode, 0)
        pages = p.stdout.decode().split("ToNonDataflow (to-non-dataflow)  [all releases]\n")
        self.assertEqual(len(pages), 2)
        for part in ("    Before: lv = ", "    After:  gv = ", "TVM: relax.transform.FuseOps.", "- max_depth=256  integer: "):
            self.assertIn("\n" + part, pages[0])
        self.assertIn("\n- makes a module without dataflow blocks\n", pages[1])
        self.assertEqual(tvms("explain", "fuse-ops").stdout.decode() + "\n", pages[0])
        self.assertIn(b"TilePrimitiveDispatch  TIR  [since 0.25]  missing\n", tvms("explain", "TilePrimitiveDispatch").stdout)

    def test_page_of_no_pass(self):
        p = tvms("opt", "--list", "FuseOp")
        self.assertEqual((p.returncode, p.stdout, p.stderr), (2, b"", b"tvms: there is no pass 'FuseOp'; did you mean 'FuseOps'?\n"))

    def test_list_of_what_is_missing(self):
        p = tvms("opt", "--list", "--missing")
        self.assertEqual(p.returncode, 0)
        rows = p.stdout.decode().splitlines()
        self.assertIn("LowerVtcmAlloc  TIR  [all releases]  missing", rows)
        self.assertIn("BindShape  Relax  [up to 0.22]  missing", rows)
        self.assertIn(f"\n{len(rows)} passes of TVM are missing", tvms("opt", "--list").stdout.decode())
        self.assertEqual(tvms("opt", "--missing", GOOD).returncode, 2)

    def test_both_spellings(self):
        texts = {tvms("opt", "--passes", name, GOOD).stdout for name in ("LowerInitBlock", "lower-init-block")}
        self.assertEqual(len(texts), 1)
        self.assertIn(b"if v_k == T.int64(0):", texts.pop().replace(b"if v_k == 0:", b"if v_k == T.int64(0):"))

    def test_unknown_pass(self):
        p = tvms("opt", "--passes", "LegalizeOp", GOOD)
        self.assertEqual((p.returncode, p.stdout), (1, b""))
        self.assertIn(b"LegalizeOps", p.stderr)

    def test_no_pipeline(self):
        self.assertEqual(tvms("opt", GOOD).returncode, 2)


if __name__ == "__main__":
    main()
