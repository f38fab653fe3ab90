#!/usr/bin/env python3
"""Configuration: where it is found, what it means, and what is said of a wrong one (docs/configuration.md)."""
import os, subprocess, sys, tempfile, tomllib, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import TVMS, main

PROGRAM = os.path.abspath(TVMS)
# Fits in 100 columns and not in 60.
LONG = "x = function(argument_of_it, 'another argument', third_argument_of_it, fourth)\n"
WIDE = LONG.replace("'", '"')
NARROW = 'x = function(\n    argument_of_it, "another argument", third_argument_of_it, fourth\n)\n'

# Texts that are TOML and texts that are not; Python's own reader judges both.
TOML = [
    "a = 1\nb = 0x_1\n", "a = 0xdead_beef\n", "a = 1_000\n", "a = 1__0\n", "a = _1\n", "a = 1_\n", "a = 01\n", "a = +0\n",
    "a = 0o17\nb = 0b11\n", "a = 1.5e3\n", "a = 1.\n", "a = .5\n", "a = -inf\nb = +nan\n", "a = 1e+06\n", "a = true\n", "a = True\n",
    'a = "x\\ty\\u00e9\\U0001F600"\n', 'a = "\\q"\n', 'a = "x\n"\n', "a = 'c:\\x'\n", 'a = """\none\n\\\n   two"""\n', 'a = """""x"""""\n',
    "a = '''it's'''\n", 'a = "\\ud800"\n', "a = [1, 2, # c\n 3,\n]\n", "a = [1 2]\n", "a = [,]\n", "a = {x = 1, y.z = 2}\n", "a = {x = 1,\n}\n",
    "a = {}\nb = [{}, []]\n", "a = {x = 1}\na.y = 2\n", "a = {x = 1}\n[a.b]\n", "a = 1\na = 2\n", "a.b = 1\na.c = 2\n", "a = 1\na.b = 2\n",
    "[a]\nb = 1\n[a]\n", "[a.b]\n[a]\nx = 1\n", "[a]\nb.c = 1\n[a.b]\n", "[[a]]\nx = 1\n[[a]]\nx = 2\n[a.b]\ny = 1\n", "[a]\n[[a]]\n", "[[a]]\n[a]\n",
    "a = []\n[[a]]\n", "[ a . 'b c' ]\n", "[a\n", "[a]x\n", "a = 1 b = 2\n", "= 1\n", "a\n", "a =\n", "a = x\n", "'a b' = 1\n\"c\" = 2\n", '"""a""" = 1\n',
    "d = 1979-05-27\nt = 07:32:00\n", "d = 1979-05-27T07:32:00Z\n", "d = 1979-05-27 07:32:00.999-07:00\n", "d = 1979-05-27 # day\n", "a = 1 # c\n# d\n\n",
    "a = 1\r\nb = 2\r\n", "\ta = 1\n", "a = '\x01'\n", "# \x01\n", "a.b.c = [ {d = 'e'} ]\n", "[a.b.c]\n[a.b.d]\n", "a.b = 1\n[a]\nc = 1\n", "a = [[1], ['x']]",
    "1 = 2\n-a_ = 3\n", "a b = 1\n", "[]\n", "[a]]\n", "[[a]\n", "a = '''x", "\ufeffa = 1\n",
]


class Folder(unittest.TestCase):
    def setUp(self):
        held = tempfile.TemporaryDirectory()
        self.addCleanup(held.cleanup)
        self.folder = os.path.realpath(held.name)

    def put(self, path, text):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", newline="") as f:
            f.write(text)

    def run_here(self, *arguments, stdin=b""):
        p = subprocess.run([PROGRAM, *arguments], input=stdin, capture_output=True, timeout=120, cwd=self.folder)
        return p.returncode, p.stdout.decode(), p.stderr.decode()

    def formats(self, wanted, *arguments, path="x.tvms"):
        status, out, said = self.run_here("fmt", *arguments, path)
        self.assertEqual((status, out, said), (0, wanted, ""))


class Found(Folder):
    def setUp(self):
        super().setUp()
        self.put("x.tvms", LONG)
        self.put("a/b/x.tvms", LONG)

    def test_default_is_88_columns(self):
        self.formats(WIDE)

    def test_own_table_of_pyproject(self):
        self.put("pyproject.toml", "[tool.tvms]\nline-length = 70\n")
        self.formats(NARROW)
        self.formats(NARROW, path="a/b/x.tvms")

    def test_own_file_and_quotes(self):
        self.put("a/tvms.toml", 'line-length = 100\nquote-style = "single"\n')
        self.formats(LONG, path="a/b/x.tvms")
        self.put("a/tvms.toml", 'quote-style = "preserve"\n')
        self.put("a/b/x.tvms", "f('a', \"b\")\n")
        self.formats("f('a', \"b\")\n", path="a/b/x.tvms")

    def test_ruff_in_each_of_its_files(self):
        for name, text in [("ruff.toml", ""), (".ruff.toml", ""), ("pyproject.toml", "[tool.ruff]\n")]:
            with self.subTest(name=name):
                self.put(name, text + "line-length = 70\n")
                self.formats(NARROW)
                os.remove(os.path.join(self.folder, name))

    def test_quotes_and_commas_of_ruff(self):
        self.put("pyproject.toml", '[tool.ruff.format]\nquote-style = "single"\nskip-magic-trailing-comma = true\n')
        self.put("x.tvms", 'f(\n    "a",\n)\n')
        self.formats("f('a')\n")

    def test_a_configuration_that_ruff_extends(self):
        self.put("a/ruff.toml", 'extend = "../base.toml"\n[format]\nquote-style = "single"\n')
        self.put("base.toml", "line-length = 70\n")
        self.formats(NARROW.replace('"', "'"), path="a/b/x.tvms")

    def test_a_circle_of_extensions_ends(self):
        self.put("ruff.toml", 'extend = "ruff.toml"\nline-length = 70\n')
        self.formats(NARROW)

    def test_black(self):
        self.put("pyproject.toml", "[tool.black]\nline-length = 70\nskip-string-normalization = true\n")
        self.formats(NARROW.replace('"', "'"))

    def test_own_before_ruff_before_black_before_editors(self):
        self.put(".editorconfig", "root = true\n[*]\nmax_line_length = 70\n")
        self.formats(NARROW)
        self.put("pyproject.toml", "[tool.black]\nline-length = 100\n")
        self.formats(WIDE)
        self.put("pyproject.toml", "[tool.black]\nline-length = 100\n[tool.ruff]\nline-length = 70\n")
        self.formats(NARROW)
        self.put("pyproject.toml", "[tool.tvms]\nline-length = 100\n[tool.ruff]\nline-length = 70\n")
        self.formats(WIDE)

    def test_what_own_table_leaves_out_is_that_of_ruff(self):
        self.put("pyproject.toml", '[tool.ruff]\nline-length = 70\n[tool.tvms]\nquote-style = "single"\n')
        self.formats(NARROW.replace('"', "'"))

    def test_the_nearest_holds(self):
        self.put("pyproject.toml", "[tool.tvms]\nline-length = 70\n")
        self.put("a/tvms.toml", "line-length = 100\n")
        self.formats(WIDE, path="a/b/x.tvms")
        self.formats(NARROW)

    def test_editors(self):
        self.put(".editorconfig", "[*]\nmax_line_length = 70\n[*.{py,pyi}]\nmax_line_length = off\n; c\n[a/**/*.tvms]\nmax_line_length=100\n")
        self.formats(NARROW)
        self.formats(WIDE, path="a/b/x.tvms")

    def test_command_line_holds_over_all(self):
        self.put("pyproject.toml", "[tool.tvms]\nline-length = 70\n")
        self.formats(WIDE, "--line-length", "100")
        self.formats(WIDE, "--config", "line-length=100")
        self.formats(WIDE, "--isolated")
        self.put("other/some.toml", "line-length = 100\n")
        self.formats(WIDE, "--config", "other/some.toml")
        self.formats(LONG, "--config", "other/some.toml", "--config", "quote-style='single'")

    def test_name_of_standard_input(self):
        self.put("a/tvms.toml", "line-length = 70\n")
        text = b"from tvm.script import tir as T\nq=1\n@T.prim_func\ndef f():\n    T.evaluate( 0 )\n"
        status, out, _ = self.run_here("fmt", "--stdin-filename", "a/b/x.py", "-", stdin=text)
        self.assertEqual((status, out), (0, text.decode().replace("( 0 )", "(0)")))
        status, out, _ = self.run_here("fmt", "--stdin-filename", "a/b/y.tvms", "-", stdin=LONG.encode())
        self.assertEqual((status, out), (0, NARROW))

    def test_release(self):
        text = "@I.ir_module\nclass Module:\n    @R.function\n    def f(x: R.Tensor((2,), \"float32\")):\n        return x\n"
        self.put("x.tvms", text)
        for release in ("0.22", "0.25"):
            self.put("tvms.toml", f'release = "{release}"\n')
            self.assertIn(f"read as {release}", self.run_here("check", "-v", "x.tvms")[2])


class Excluded(Folder):
    def left(self, *arguments):
        status, _, said = self.run_here("fmt", "--check", *arguments)
        return sorted(line.split(": ")[1] for line in said.splitlines() if line.endswith("not formatted"))

    def setUp(self):
        super().setUp()
        for path in ("x.tvms", "old/x.tvms", "a/old/b/x.tvms", "a/gen_1.tvms"):
            self.put(path, "x=1\n")

    def test_names_and_paths_of_folders_found(self):
        for pattern, left in [
            ("old", ["./a/gen_1.tvms", "./x.tvms"]),
            ("./old/", ["./a/gen_1.tvms", "./a/old/b/x.tvms", "./x.tvms"]),
            ("a/**/x.tvms", ["./a/gen_1.tvms", "./old/x.tvms", "./x.tvms"]),
            ("gen_[0-9].{py,tvms}", ["./a/old/b/x.tvms", "./old/x.tvms", "./x.tvms"]),
            ("**", []),
        ]:
            with self.subTest(pattern=pattern):
                self.put("tvms.toml", f"exclude = ['{pattern}']\n")
                if pattern == "./old/":
                    left = [p for p in left if not p.startswith("./old/")]
                self.assertEqual(self.left("."), left)

    def test_what_is_named_is_taken_unless_forced(self):
        self.put("tvms.toml", "exclude = ['old']\n")
        self.assertEqual(self.left("old/x.tvms"), ["old/x.tvms"])
        self.assertEqual(self.left("--force-exclude", "old/x.tvms", "x.tvms"), ["x.tvms"])

    def test_what_ruff_leaves_out_is_not_formatted(self):
        self.put("ruff.toml", "exclude = ['old']\nextend-exclude = ['gen_*']\n")
        self.assertEqual(self.left("."), ["./x.tvms"])


class Formatting(Folder):
    TEXT = "@T.prim_func\ndef f( ):\n    g( 1 )\n    h( [1,\n        2] )\n    k( 3 )\n"

    def lines(self, lines, name="x.tvms", head=""):
        self.put(name, head + self.TEXT)
        status, out, said = self.run_here("fmt", "--lines", lines, name)
        self.assertEqual((status, said), (0, ""))
        self.assertTrue(out.startswith(head))
        return out[len(head) :]

    def test_lines(self):
        self.assertEqual(self.lines("3:3"), self.TEXT.replace("g( 1 )", "g(1)"))
        self.assertEqual(self.lines("2:3"), self.TEXT.replace("g( 1 )", "g(1)").replace("f( )", "f()"))
        for lines in ("4:4", "5:5", "4:5"):
            self.assertEqual(self.lines(lines), self.TEXT.replace("h( [1,\n        2] )", "h([1, 2])"))
        self.assertEqual(self.lines("1:1"), self.TEXT)
        self.assertEqual(self.lines("1:4000000000"), "@T.prim_func\ndef f():\n    g(1)\n    h([1, 2])\n    k(3)\n")

    def test_lines_of_a_python_file(self):
        head = "from tvm.script import tirx as T\nx=1\ntry: pass\nexcept E: pass\n"
        self.assertEqual(self.lines("7:7", "x.py", head), self.TEXT.replace("g( 1 )", "g(1)"))
        self.assertEqual(self.lines("2:2", "x.py", head), self.TEXT)

    def test_lines_widen_until_the_text_says_the_same(self):
        """A body that is indented anew is so as a whole."""
        self.put("x.tvms", "if a:\n  b( )\n  c( )\nd( )\n")
        status, out, said = self.run_here("fmt", "--lines", "2:2", "x.tvms")
        self.assertEqual((status, out.startswith("if a:\n    b()\n    c()\n"), said), (0, True, ""))

    def test_lines_that_are_none(self):
        self.put("x.tvms", self.TEXT)
        for lines in ("", "3", "3:", ":3", "4:3", "0:1", "1:2:3", "a:b", "-1:2", "1:99999999999999999999"):
            with self.subTest(lines=lines):
                status, _, said = self.run_here("fmt", "--lines", lines, "x.tvms")
                self.assertEqual((status, "option '--lines' takes FIRST:LAST" in said), (2, True))
        self.assertIn("goes with one file", self.run_here("fmt", "--check", "--lines", "1:2", "x.tvms", "x.tvms")[2])

    def test_summary(self):
        self.put("a.tvms", "x=1\n")
        self.put("b.tvms", "x = 1\n")
        self.put("c.tvms", "x = 2\n")
        self.put("d.tvms", "x = (\n")
        said = self.run_here("fmt", "--check", ".")[2]
        last = "tvms: 1 file would be reformatted, 2 files already formatted, 1 file not formatted because of errors\n"
        self.assertTrue(said.endswith(last), said)
        self.assertEqual(self.run_here("fmt", "-i", "a.tvms", "b.tvms")[2], "tvms: 1 file reformatted, 1 file left unchanged\n")
        self.assertEqual(self.run_here("fmt", "-i", "-q", "a.tvms")[2], "")

    def test_fixed_and_formatted_in_one_call(self):
        text = "@T.prim_func(private=True)\ndef f(A: T.Buffer((4,), 'float32')) -> None:\n    for i in range( 4 ):\n        A[i] = T.float32( 1 )\n"
        self.put("x.tvms", text)
        status, out, said = self.run_here("check", "--fix", "--fmt", "x.tvms")
        self.assertEqual((status, out), (0, ""), said)
        with open(os.path.join(self.folder, "x.tvms")) as f:
            self.assertIn('def f(A: T.Buffer((4,), "float32")) -> None:\n    for i in range(4):\n        A[i] = T.float32(1)\n', f.read())
        self.put("y.tvms", "x = (\n")
        self.assertEqual(self.run_here("check", "--fix", "--fmt", "y.tvms")[2].count("error["), 1)
        self.assertEqual(self.run_here("check", "--fmt", "y.tvms")[0], 2)


class Wrong(Folder):
    def said(self, text, wanted, status=2, verb="fmt", name="tvms.toml"):
        self.put("x.tvms", "x=1\n")
        self.put(name, text)
        got, out, said = self.run_here(verb, "x.tvms")
        self.assertEqual(got, status, said)
        self.assertIn(wanted, said)
        self.assertEqual(said.count("error["), int(status == 2), said)
        self.assertEqual(out, "" if status == 2 else "x = 1\n")

    def test_syntax(self):
        self.said("line-length = \n", "tvms.toml:1:15: error[E1014]: expected a value")

    def test_key_with_a_near_name(self):
        self.said("[lint]\nselects = []\n", "tvms.toml:2:1: warning[W1015]: unknown key 'selects' in the configuration of tvms", status=0)
        self.said("line_length = 3\n", "line-length", status=0)

    def test_values(self):
        for text, where, said in [
            ("line-length = 0", "1:15", "'line-length' must be a number of columns from 1 to 320"),
            ("line-length = '3'", "1:15", "'line-length' must be a number of columns from 1 to 320"),
            ("quote-style = 'both'", "1:15", "'quote-style' must be \"double\", \"single\" or \"preserve\""),
            ("release = '9.9'", "1:11", "'release' must be a release of TVM, such as \"0.25\""),
            ("lint = 3", "1:8", "'lint' must be a table"),
            ("lint.select = 'W11'", "1:15", "'select' must be a list of codes"),
            ("lint.ignore = [3]", "1:15", "'ignore' must be a list of codes"),
            ("lint.severity = {W11 = 'bad'}", "1:17", "'severity' must be a table of codes"),
            ("lint.per-file-ignores = {'*.py' = 'W11'}", "1:25", "'per-file-ignores' must be a table of patterns"),
            ("exclude = 'x'", "1:11", "'exclude' must be a list of patterns"),
        ]:
            with self.subTest(text=text):
                self.said(text + "\n", f"tvms.toml:{where}: error[E1016]: {said}")

    def test_once_for_many_files(self):
        self.put("y.tvms", "y=1\n")
        self.put("tvms.toml", "line-length = 0\n")
        status, out, said = self.run_here("fmt", "--check", ".")
        self.assertEqual((status, out, said.count("E1016")), (2, "", 1))

    def test_of_the_command_line(self):
        status, _, said = self.run_here("fmt", "--config", "quote-style='x'", "-")
        self.assertEqual(status, 2)
        self.assertIn("--config:1:13: error[E1016]", said)
        status, _, said = self.run_here("fmt", "--config", "nowhere.toml", "-")
        self.assertEqual((status, "is no file and no KEY=VALUE" in said), (2, True))

    def test_what_cannot_be_followed_of_ruff_is_said_to_the_formatter(self):
        self.put("ruff.toml", "indent-width = 2\n[format]\nindent-style = 'tab'\npreview = true\n")
        self.put("x.tvms", "x = 1\n")
        self.assertEqual(self.run_here("fmt", "x.tvms")[2].count("warning[W1017]"), 3)
        self.assertEqual(self.run_here("check", "x.tvms")[2], "")

    def test_what_others_have_wrong_is_theirs(self):
        self.said("line-length = 'x'\n", "", status=0, name="ruff.toml")

    def test_toml_is_what_python_takes_for_it(self):
        for text in TOML:
            with self.subTest(text=text):
                try:
                    tomllib.loads(text.removeprefix("\ufeff"))
                    right = True
                except tomllib.TOMLDecodeError:
                    right = False
                self.put("ruff.toml", text)
                self.put("x.tvms", "x = 1\n")
                status, _, said = self.run_here("fmt", "x.tvms")
                self.assertEqual((status, said.count("E1014")), (0, 0) if right else (2, 1), said)

    def test_deep_nesting(self):
        for text in ("a = " + "[" * 100000, "a" + ".a" * 100000 + " = 1\n", "[a" + ".a" * 100000 + "]\n"):
            self.put("ruff.toml", text)
            status, _, said = self.run_here("fmt", "x.tvms")
            self.assertIn("E1014", said)
            self.assertEqual(status, 2)


if __name__ == "__main__":
    main()
