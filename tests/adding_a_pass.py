#!/usr/bin/env python3
"""docs/adding-a-pass.md, followed to the letter: its edits are applied to a copy of the sources, the copy is built
(without optimisation, in half a minute), and the golden file that the page adds must pass."""
import os, re, sys, tempfile, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import main, source
from pages import apply, build, copy_sources, run, steps


class AddingAPass(unittest.TestCase):
    def test_page(self):
        edits = steps("adding-a-pass.md")
        paths = [path for step in edits for path in step.paths]
        self.assertEqual(len(set(paths)), len(edits), "each edit is in a file of its own")
        goldens = [path for path in paths if path.startswith("tests/golden/")]
        self.assertTrue(goldens)
        with tempfile.TemporaryDirectory() as scratch:
            folder = copy_sources(scratch)
            for step in edits:
                apply(folder, step)
            self.assertNotIn("warning:", build(self, folder))
            status, said = run("build/tvms", "test", *goldens, folder=folder)
            self.assertEqual(status, 0, said)
            self.lists(folder)

    def lists(self, folder):
        """What the page promises of `tvms opt --list`, at the row's own name."""
        with open(source("docs", "adding-a-pass.md"), encoding="utf-8") as f:
            page = f.read()
        promised = re.search(r"`tvms opt --list` then says `([^`]+)`", page).group(1)
        name = re.search(r"^   PASS\((\w+),", page, re.M).group(1)
        status, said = run("build/tvms", "opt", "--list", folder=folder)
        self.assertEqual(status, 0, said)
        self.assertRegex(said, rf"(?m)^{name} \(.*\n    {re.escape(promised)}$")


if __name__ == "__main__":
    main()
