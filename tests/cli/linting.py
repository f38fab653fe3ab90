#!/usr/bin/env python3
"""Options of check that choose rules, count findings, leave them out and mend them."""
import json, os, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, tvms

FILE = '''"""A text."""
from tvm.script import ir as I
from tvm.script import relax as R, tirx as T


@I.ir_module
class M:
    @R.function(pure=False)
    def main(x: R.Tensor((4,), "float32")):
        y = R.add(x, x)  # noqa: E501
        z = R.add(
            x,
            x,
        )
        w = R.add(x, x) # type: ignore
        q = R.add(x, \\
            x)
        u = R.print(x, format="""
a b"""); v = R.add(x,
                   x)
        return x
'''
MISSPELT = """from tvm.script import relax as R


@R.function
def main(x: R.Tensor((4,), "float32")):
    return R.multipy(x, x)
"""
COMMENTS = {10: ", W1112", 11: "  # noqa: W1112", 15: "  # noqa: W1112", 17: "  # noqa: W1112", 19: "  # noqa: W1112"}


class Linting(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.path = self.write("tests/a.py", FILE)

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8", newline="") as f:
            f.write(text)
        return path

    def text(self, path):
        with open(path, encoding="utf-8", newline="") as f:
            return f.read()

    def check(self, *arguments):
        done = tvms("check", *arguments, cwd=self.folder)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def codes(self, *arguments):
        _, said, _ = self.check("--format", "json", *arguments)
        return [finding["code"] for finding in json.loads(said)["findings"]]

    def test_statistics(self):
        status, said, more = self.check("--statistics", self.path)
        self.assertEqual((status, said), (0, "     5  W1112  [ ]  unused_binding\n"))
        self.assertNotIn("W1112", more)
        _, said, _ = self.check("--statistics", "--format", "json", self.path, self.path)
        document = json.loads(said)
        self.assertEqual(document["results"], [{"statistics": [
            {"code": "W1112", "name": "unused_binding", "count": 10, "fixable": 0}]}])
        self.assertEqual(len(document["findings"]), 10)

    def test_statistics_say_what_is_mended(self):
        path = self.write("b.tvms", "from tvm.script import ir as I  # noqa: W1112\n")
        self.assertEqual(self.check("--statistics", path)[1],
                         "     1  W1111  [*]  unused_import\n")
        path = self.write("c.tvms", MISSPELT)
        self.assertIn("E0202  [ ]", self.check("--statistics", path)[1])

    def test_exit_zero(self):
        severity = ("--severity", "W1112=error")
        self.assertEqual(self.check(*severity, self.path)[0], 1)
        self.assertEqual(self.check(*severity, "--exit-zero", self.path)[0], 0)
        self.assertEqual(self.check("--exit-zero", os.path.join(self.folder, "missing.py"))[0], 2)

    def test_per_file_ignores(self):
        for pattern, found in (("*.py", 0), ("a.py", 0), ("tests", 0), ("tests/*", 0), ("test/*", 5), ("**/a.py", 0), ("b.py", 5)):
            with self.subTest(pattern=pattern):
                self.assertEqual(len(self.codes("--per-file-ignores", f"{pattern}:W1112,race", self.path)), found)
        for wrong in ("a.py", "a.py:W9999", "b.py:unused"):
            with self.subTest(wrong=wrong):
                status, _, said = self.check("--per-file-ignores", wrong, self.path)
                self.assertEqual(status, 2)
                self.assertIn("option '--per-file-ignores'", said)

    def test_configuration(self):
        for text, found in (('ignore = ["W1112"]', 0), ('select = ["W1110"]', 0), ("select = []", 0), ('select = ["unused_binding"]', 5),
                            ('per-file-ignores = {"tests/*" = ["W111"]}', 0), ('per-file-ignores = {"b.py" = ["W1112"]}', 5)):
            with self.subTest(text=text):
                self.write("tvms.toml", f"[lint]\n{text}\n")
                self.assertEqual(len(self.codes(self.path)), found)
        self.write("tvms.toml", '[lint]\nselect = ["W1110"]\nignore = ["W1112"]\nseverity = {W1112 = "error"}\n')
        self.assertEqual(len(self.codes("--select", "W1112", "--ignore", "W1150", self.path)), 5)
        self.assertEqual(self.check("--select", "W1112", "--ignore", "W1150", self.path)[0], 1)
        self.assertEqual(self.check("--select", "W1112", "--ignore", "W1150", "--severity", "W1112=note", self.path)[0], 0)

    def test_wrong_configuration(self):
        for text in ('select = ["W1110", "W9999"]', 'ignore = ["E0201"]', 'severity = {W9999 = "error"}', 'per-file-ignores = {"b.py" = ["W9999"]}'):
            with self.subTest(text=text):
                self.write("tvms.toml", f"[lint]\n{text}\n")
                status, _, said = self.check(self.path, self.path)
                self.assertEqual(status, 2)
                self.assertEqual(said.count("error[E1016]"), 1)
                self.assertIn("tvms.toml:2:", said)

    def test_selection(self):
        self.assertEqual(self.codes("--select", "W1110", self.path), [])
        self.assertEqual(self.codes("--select", "unused_binding", self.path), ["W1112"] * 5)
        self.assertEqual(self.codes("--select", "ALL", "--ignore", "W111,W1136", self.path), [])
        self.assertEqual(self.codes("--select", "W1110,race", "--select", "1112", self.path), ["W1112"] * 5)

    def test_findings_get_comments(self):
        status, _, said = self.check("--add-noqa", self.path)
        self.assertEqual((status, said), (0, "tvms: 5 findings suppressed\n"))
        lines = FILE.splitlines(keepends=True)
        for line, comment in COMMENTS.items():
            lines[line - 1] = lines[line - 1].rstrip("\n") + comment + "\n"
        self.assertEqual(self.text(self.path), "".join(lines))
        self.assertEqual(self.codes(self.path), [])
        self.assertEqual(self.check("--add-noqa", self.path)[2], "tvms: 0 findings suppressed\n")

    def test_errors_get_comments(self):
        text = "from tvm.script import tirx as T\r\n\r\n\r\n@T.prim_func(s_tir=True)\r\ndef f(A: T.Buffer((4,), \"float32\")):\r\n    A[0] = b + c\r\n"
        path = self.write("d.tvms", text)
        status, _, said = self.check("--add-noqa", path)
        self.assertEqual((status, said), (0, "tvms: 1 finding suppressed\n"))
        self.assertEqual(self.text(path), text.replace("b + c", "b + c  # noqa: E0201"))
        # Syntax is not a matter of opinion.
        path = self.write("e.tvms", "x = (\n")
        status, _, said = self.check("--add-noqa", path)
        self.assertEqual(status, 1)
        self.assertEqual(self.text(path), "x = (\n")

    def test_a_code_of_other_linters(self):
        text = "from tvm.script import tirx as T\n\n\n@T.prim_func(s_tir=True)\ndef f(A: T.Buffer((4,), \"float32\")):\n    A[0] = T.float32(0)\n\n\ndef g():\n    return b\n"
        self.assertEqual(self.codes(self.write("a.py", text)), ["E0201"])
        self.assertEqual(self.codes(self.write("a.py", text.replace("return b", "return b  # noqa: F821"))), [])
        # What ruff and flake8 do not say of a file, on a line of its own; other codes are none of ours.
        for comment, said in (("ruff: noqa: F821", []), ("flake8: noqa", []), ("ruff: noqa: E501", ["E0201"])):
            self.assertEqual(self.codes(self.write("a.py", f"# {comment}\n{text}")), said, comment)
        self.assertEqual(self.codes(self.write("a.py", text.replace("return b", "return b  # noqa: F841"))), ["E0201"])

    def test_explain_has_examples(self):
        said = tvms("explain", "W1133").stdout.decode()
        self.assertIn("\nThe rule runs on request only: --select.\n", said)
        wrong, right = said.split("\nFound:\n\n")[1].split("\nRight:\n\n")
        for text, found in ((wrong, True), (right, False)):
            program = "".join(line[4:] if line.strip() else line for line in text.splitlines(keepends=True))
            said = tvms("check", "--select", "W1133", "-", stdin=program).stderr
            self.assertEqual(b"W1133" in said.replace(b"# warning[W1133]", b""), found)
        self.assertNotIn(b"Found:", tvms("explain", "E0201").stdout)

    def test_unsafe_fixes(self):
        path = self.write("f.tvms", MISSPELT)
        self.assertEqual(self.check("--fix", path)[0], 1)
        self.assertEqual(self.text(path), MISSPELT)
        self.assertEqual(self.check("--unsafe-fixes", path)[0], 2)
        self.assertIn("+    return R.multiply(x, x)\n", self.check("--diff", "--unsafe-fixes", path)[1])
        self.assertEqual(self.check("--diff", path)[1], "")
        self.assertEqual(self.check("--fix", "--unsafe-fixes", path)[0], 0)
        self.assertEqual(self.text(path), MISSPELT.replace("multipy", "multiply"))

    def test_fix_mends_comments(self):
        before = "from tvm.script import tirx as T  # noqa: W1112, W1111 later\n"
        path = self.write("g.tvms", before + "from tvm.script import ir as I  # tvms: ignore[W1112]  # type: ignore\n# tvms: noqa: W1150\nI = 1\nx = I  # noqa: W1150 why\n")
        # Nothing was run in a file without a definition.
        self.check("--fix", "--ignore", "W1111", path)
        self.assertIn("W1150 why", self.text(path))
        path = self.write("h.tvms", self.text(path) + "\n\n@T.prim_func(s_tir=True)\ndef f():\n    T.evaluate(0)\n")
        self.check("--fix", path)
        self.assertEqual(self.text(path).splitlines()[:4],
                         ["from tvm.script import tirx as T  # later", "from tvm.script import ir as I  # type: ignore",
                          "I = 1", "x = I  # why"])


if __name__ == "__main__":
    main()
