#!/usr/bin/env python3
"""tvms migrate: what it does with files, and Python files whose definitions it reads."""
import os, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, tvms

OLD = '''# from tvm.script import tir as T

@T.prim_func
def f(A: T.Buffer((4,), "float32")):
    half = T.float32(0.5)  # a value
    A[0] = half
'''
NEW = '''# from tvm.script import tirx as T

@T.prim_func(s_tir=True)
def f(A: T.Buffer((4,), "float32")):
    half: T.let = T.float32(0.5)  # a value
    A[0] = half
'''
CONSTANT = '''# from tvm.script import tir as T

@T.prim_func
def f():
    p = T.allocate_const([1.0], "float32", [1])
    T.evaluate(p)
'''
PYTHON = '''"""A file of Python."""
from tvm import tir
from tvm.script import tir as S

SIZE = 4


@S.prim_func
def f(A: S.Buffer((SIZE,), "float32")):
    x: S.int32 = 1  # one
    A[x] = S.float32(0)


def make(n):
    @S.prim_func
    def inner(A: S.Buffer((n,), "float32")):
        with S.block("B"):
            A[0] = S.float32(0)

    return inner, tir.call_extern
'''
MIGRATED = '''"""A file of Python."""
from tvm import tirx as tir
from tvm.script import tirx as S

SIZE = 4


@S.prim_func(s_tir=True)
def f(A: S.Buffer((SIZE,), "float32")):
    x: S.let[S.int32] = 1  # one
    A[x] = S.float32(0)


def make(n):
    @S.prim_func(s_tir=True)
    def inner(A: S.Buffer((n,), "float32")):
        with S.sblock("B"):
            A[0] = S.float32(0)

    return inner, tir.call_extern
'''


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def text(self, path):
        with open(path, encoding="utf-8") as f:
            return f.read()

    def migrate(self, *arguments):
        p = tvms("migrate", "--dialect", "0.26", *arguments)
        return p.returncode, p.stdout.decode(), p.stderr.decode()

    def test_to_standard_output(self):
        path = self.write("a.tvms", OLD)
        self.assertEqual(self.migrate(path), (0, NEW, ""))
        self.assertEqual(self.text(path), OLD)

    def test_in_place(self):
        path = self.write("a.tvms", OLD)
        self.assertEqual(self.migrate("-i", "-v", path)[:2], (0, ""))
        self.assertEqual(self.text(path), NEW)
        self.assertEqual(self.migrate("-i", path), (0, "", ""))
        self.assertEqual(self.text(path), NEW)

    def test_check_says_which_files_would_change(self):
        old, new = self.write("a.tvms", OLD), self.write("b.tvms", NEW)
        self.assertEqual(self.migrate("--check", old, new), (1, "", f"tvms: {old}: not migrated\n"))
        self.assertEqual(self.migrate("--check", "-q", self.folder.name), (1, "", ""))
        self.assertEqual(self.migrate("--check", new), (0, "", ""))
        self.assertEqual(self.text(old), OLD)

    def test_diff(self):
        status, out, _ = self.migrate("--diff", self.write("a.tvms", OLD))
        self.assertEqual(status, 0)
        self.assertIn("-    half = T.float32(0.5)  # a value\n+    half: T.let = T.float32(0.5)  # a value\n", out)

    def test_several_files_need_a_place(self):
        status, out, said = self.migrate(self.write("a.tvms", OLD), self.write("b.tvms", OLD))
        self.assertEqual((status, out), (2, ""))
        self.assertIn("several files need --in-place, --check or --diff", said)

    def test_standard_input_has_no_place(self):
        self.assertIn("standard input cannot be migrated in place", self.migrate("-i", "-")[2])

    def test_what_cannot_be_said_leaves_the_file_alone(self):
        path = self.write("a.tvms", CONSTANT)
        status, out, said = self.migrate("-i", path)
        self.assertEqual((status, out), (1, ""))
        self.assertIn("a.tvms:5:9: error[E0420]: TVM 0.26 cannot express this: T.allocate_const", said)
        self.assertEqual(self.text(path), CONSTANT)

    def test_python(self):
        status, out, said = self.migrate("--from", "0.22", self.write("a.py", PYTHON))
        self.assertEqual((status, out), (0, MIGRATED))
        self.assertIn("a.py:16:9: warning[W0427]: 'inner' is used in Python code", said)

    def test_python_is_never_written_anew(self):
        path = self.write("a.py", CONSTANT)
        status, out, said = self.migrate("-i", "--from", "0.22", path)
        self.assertEqual((status, out), (1, ""))
        self.assertIn("a.py:5:9: error[E0420]: TVM 0.26 cannot express this: T.allocate_const", said)
        self.assertEqual(self.text(path), CONSTANT)


if __name__ == "__main__":
    main()
