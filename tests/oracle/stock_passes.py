#!/usr/bin/env python3
"""Golden files that run passes of stock TVM: `tvms test --opt-with 'python3 -m tvms.stock'`.

The golden files of tvms's own passes are judged, each with passes of the same names in TVM 0.27; the expectation is the same. One that
expects something else must fail.
"""
import os, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import main, source, tvms
from stock import python_of

RELEASE = "0.27"
# Of both languages; options of each kind; a sequence; a pipeline.
FILES = ("adjust-matmul-order", "annotate-entry-func", "attach-global-symbol", "bundle-model-params-scalars", "call-tir-rewrite-functions",
         "canonicalize-bindings", "common-subexpr-elim", "compact-buffer-outside", "convert-layout", "convert-ssa")


class StockPasses(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.python = python_of(RELEASE)

    def judge(self, path, *options):
        environment = dict(os.environ, PYTHONPATH=source("python"))
        return tvms("test", "--timeout", "300", "--opt-with", f"{self.python} -m tvms.stock", *options, path, timeout=600, env=environment)

    def test_golden_files(self):
        for name in FILES:
            with self.subTest(file=name):
                p = self.judge(source("tests", "golden", "passes", name + ".tvms"))
                self.assertEqual(p.returncode, 0, p.stdout + p.stderr)

    def test_another_expectation_fails(self):
        with open(source("tests", "golden", "passes", "convert-ssa.tvms"), encoding="utf-8") as f:
            text = f.read()
        head, mark, expected = text.partition("# EXPECT:\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "wrong.tvms")
            with open(path, "w", encoding="utf-8") as f:
                f.write(head + mark + expected.replace("1", "2", 1))
            self.assertEqual(self.judge(path).returncode, 1)

    def test_unknown_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "unknown.tvms")
            with open(path, "w", encoding="utf-8") as f:
                f.write("# RUN: opt --passes NoSuchPass\n# WHY: it says so\nfrom tvm.script import relax as R\n\n@R.function\n"
                        "def main(x: R.Tensor((2,), \"float32\")):\n    return x\n# EXPECT:\n")
            p = self.judge(path)
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"neither a pass nor a pipeline 'NoSuchPass'", p.stdout + p.stderr)


if __name__ == "__main__":
    main()
