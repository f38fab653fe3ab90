#!/usr/bin/env python3
"""docs/adding-an-op.md, followed to the letter: its edits are applied to a copy of the sources, the copy is built
(without optimisation, in half a minute), and the golden files that the page adds must pass."""
import os, re, sys, tempfile, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import main, source
from pages import apply, build, copy_sources, run, steps


class AddingAnOp(unittest.TestCase):
    def test_page(self):
        edits, rows = steps("adding-an-op.md"), steps("adding-an-op.md", "An operator of each element")
        for part, most in ((edits, 7), (rows, 3)):
            self.assertLessEqual(len(part), most)
            self.assertEqual(len({path for step in part for path in step.paths}), len(part), "each edit is in a file of its own")
        edits += rows
        paths = [path for step in edits for path in step.paths]
        with tempfile.TemporaryDirectory() as scratch:
            folder = copy_sources(scratch)
            for step in edits:
                apply(folder, step)
            self.assertNotIn("warning:", build(self, folder))
            goldens = [path for path in paths if path.startswith("tests/golden/")]
            self.assertTrue(goldens)
            status, said = run("build/tvms", "test", *goldens, folder=folder)
            self.assertEqual(status, 0, said)
            self.infer(folder, goldens[0])

    def infer(self, folder, program):
        with open(source("docs", "adding-an-op.md"), encoding="utf-8") as f:
            promised = re.search(r"`tvms infer` of the first program then says `([^`]+)`", f.read()).group(1)
        status, said = run("build/tvms", "infer", program, folder=folder)
        self.assertEqual(status, 0, said)
        self.assertIn(promised, said)


if __name__ == "__main__":
    main()
