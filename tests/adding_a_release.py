#!/usr/bin/env python3
"""docs/adding-a-release.md, tried on 0.25: the release is taken out of a copy of the sources by script; then the page is
followed. The program of its first step prints the release, while golden files of the other releases pass; behind the last one it is back.

The first step is applied to the letter. Of the later ones the page says in which files a release differs; what 0.25 has
there is what was taken out, and nothing may be missing at the end. The golden files of verbs that run programs are left
out: they need code generation, and no release.
"""
import os, re, sys, tempfile, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import files_under, main, source
from pages import apply, build, copy_sources, run, steps
from release_tables import Forgetting, written

RELEASE, IDENT = "0.25", "25"
STOCK = "tests/oracle/stock-tvm"
RUNS = re.compile(r"^# RUN: (run|build|time)\b", re.M)
# R.Prim(value=…) marks a text as 0.25 or older. Without 0.25 that is 0.24, which is written as 0.26.
NEEDS_IT = {"tests/golden/relax/bool-type-classic.tvms"}


def goldens():
    """(path, whether it speaks of the release)"""
    for path in files_under("tests/golden"):
        name = os.path.relpath(path, source())
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if not RUNS.search(text) and not name.startswith("tests/golden/run/"):
            yield name, RELEASE in text or name in NEEDS_IT


class AddingARelease(unittest.TestCase):
    def test_page(self):
        plan = steps("adding-a-release.md")
        with tempfile.TemporaryDirectory() as scratch:
            folder = copy_sources(scratch)
            forgetting = Forgetting(folder, IDENT)
            forgetting.run()
            forgetting.edit(STOCK, lambda text: re.sub(rf"^  {re.escape(RELEASE)}\).*\n", "", text, flags=re.M))
            self.assertNotIn(RELEASE, written(folder))
            self.follow(folder, plan, forgetting.changed)
            self.is_back(folder)

    def follow(self, folder, plan, before):
        apply(folder, plan[0])
        build(self, folder)
        status, said = self.print(folder)
        self.assertEqual(status, 0, said)
        self.passes(folder, [name for name, speaks in goldens() if not speaks])
        missing = dict(before)
        for step in plan[1:]:
            for path in step.paths:
                with self.subTest(step=step.number, file=path):
                    self.assertIn(path, missing, "the release has nothing there")
                    with open(os.path.join(folder, path), "w", encoding="utf-8") as f:
                        f.write(missing.pop(path))
        self.assertEqual(sorted(missing), [], "files of the release that the page does not name")

    def is_back(self, folder):
        self.assertIn(RELEASE, written(folder))
        build(self, folder)
        self.passes(folder, [name for name, _ in goldens()])

    def print(self, folder):
        return run("build/tvms", "print", "--dialect", RELEASE, "corpus/mlp_module.tvms", folder=folder)

    def passes(self, folder, names):
        self.assertGreater(len(names), 400)
        status, said = run("build/tvms", "test", *names, folder=folder)
        self.assertEqual(status, 0, said[-4000:])


if __name__ == "__main__":
    main()
