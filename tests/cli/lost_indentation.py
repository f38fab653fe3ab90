#!/usr/bin/env python3
"""Text whose indentation is lost: one finding, and edits that put it back, or a word where they are in doubt."""
import os, re, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, source, tvms

PROGRAMS = source("tests", "cli", "mistakes")
LOST = re.compile(r"error\[E0128\]: the indentation of lines \d+ to \d+ is lost")
# Loops of which only the writer knows where they end.
IN_DOUBT = {"loops": 19, "porting": 19, "printed": 17, "saxpy": 28, "tiled": 22, "loads": 10, "stencil": 37, "convolution": 20, "reduce": 15, "sort": 11, "losses": 20, "scans": 14,
            "stacked": 39}
# Lines within brackets may stand anywhere.
WITHIN_BRACKETS = {"signatures"}


def program(name):
    with open(os.path.join(PROGRAMS, name + ".tvms"), encoding="utf-8") as file:
        return file.read()


def lost(text):
    return re.sub(r"^[ \t]+", "", text, flags=re.M)


def findings(text):
    return tvms("check", "-", stdin=text).stderr.decode()


def formatted(text):
    return tvms("fmt", "-", stdin=text).stdout.decode()


class Indentation(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()

    def tearDown(self):
        self.folder.cleanup()

    def mended(self, text, name="a.tvms", *options):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        tvms("check", "--fix", *(options or ("--unsafe-fixes",)), path)
        with open(path, encoding="utf-8") as file:
            return file.read()

    def test_listings(self):
        for name in sorted(n[:-5] for n in os.listdir(PROGRAMS) if n.endswith(".tvms")):
            with self.subTest(program=name):
                text = program(name)
                said = findings(lost(text))
                self.assertEqual(len(re.findall(r"error\[", said)), 1, said)
                self.assertRegex(said, LOST)
                doubt = re.search(r"line (\d+) may stand further out as well", said)
                self.assertEqual(doubt and int(doubt.group(1)), IN_DOUBT.get(name), said)
                if name in WITHIN_BRACKETS:
                    self.assertEqual(formatted(self.mended(lost(text))), formatted(text))
                elif name not in IN_DOUBT:
                    self.assertEqual(self.mended(lost(text)), text)
                    self.assertEqual(self.mended(lost(text), "a.py"), text)

    def test_only_unsafe_fixes_are_asked_for(self):
        text = lost(program("gemm"))
        self.assertEqual(self.mended(text, "a.tvms", "--exit-zero"), text)

    def test_what_is_in_order_around_it_stays(self):
        text = program("gpu") + "\n\n" + program("symbolic").split("\n\n\n", 1)[1]
        half = program("gpu") + "\n\n" + lost(program("symbolic").split("\n\n\n", 1)[1])
        head = "from tvm.script import ir as I, relax as R, tirx as T\n"
        text, half = (t.replace("from tvm.script import tirx as T\n", head, 1) for t in (text, half))
        self.assertEqual(len(re.findall(r"error\[", findings(half))), 1)
        self.assertEqual(self.mended(half), text)
        half = head + lost(program("symbolic").split("\n\n\n", 1)[1]) + "\n\n" + program("gpu").split("\n\n\n", 1)[1]
        self.assertEqual(len(re.findall(r"error\[", findings(half))), 1, findings(half))

    def test_continued_lines(self):
        text = program("vision").replace("(image, kernel, ", "(\n            image,  # the data\n            kernel,\n            ")
        flat = lost(text)
        again = self.mended(flat)
        self.assertEqual(lost(again), flat)
        self.assertEqual(findings(again), "")
        self.assertIn("\n    image,  # the data\n    kernel,\n    strides", again)

    def test_functions_in_functions(self):
        text = """from tvm.script import ir as I, relax as R


@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        @R.function
        def inner(y: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
            z = R.exp(y)
            return z

        gv = inner(x)
        return gv

    @R.function
    def other(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x
"""
        self.assertEqual(self.mended(lost(text)), text)

    def test_one_block(self):
        text = "from tvm.script import tirx as T\n\n@T.prim_func\ndef main(A: T.Buffer((16,), \"float32\")):\n    for i in range(16):\n    A[i] = T.float32(i)\n"
        said = findings(text)
        self.assertEqual(len(re.findall(r"error\[", said)), 1, said)
        self.assertIn("E0115", said)
        self.assertIn("suggestion: insert '    '", said)
        self.assertEqual(findings(self.mended(text)), "")


if __name__ == "__main__":
    main()
