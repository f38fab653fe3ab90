#!/usr/bin/env python3
"""Pages of passes: every pass has one with its parts in order, and a head comment that lacks one ends the build."""
import os, re, subprocess, sys, tempfile, unittest

from cases import main, source, tvms

PAGE = re.compile(r"""(\w+)\ \([\w-]+\)\ \ \[[\w. ]+\]\n   # the name
    \n[^\n\s][^\n]*(?:\n[^\n\s][^\n]*)*\n              # what it does
    \n(?:    [^\n]*\n|\n(?=    ))+                     # before and after
    \n(?:[^\n\s][^\n]*\n|\n(?!TVM))+                  # what else
    \nTVM(?::|\ has)[^\n]*\n(?:[^\n\s-][^\n]*\n)*       # TVM's counterpart
    (?:\n(?:-\ [^\n]+\n)+)?                          # what it needs, and options
    """, re.X)
ROWS = "PASS(A, do, NONE, 22, ever,\n     \"summary\")\n"
HEAD = """// A: what it does.
//
// Before: x   After: y
//
// What not.
// TVM: relax.transform.A.
"""
BODY = "void tvms_pass_do(tvms_pass_run *run) {\n"
# What of the head is replaced by what, and what is said.
BAD = (
    ("A: what", "what", "the head begins with the names of its passes, ':' and what they do"),
    ("A: what", "B, C: what", "the head does not name A"),
    ("Before: x", "Earlier: x", "the head has no 'Before'"),
    ("After: y", "Later: y", "the head has no 'After'"),
    ("TVM: ", "It is ", "the head has no 'TVM:' or 'TVM has no such pass'"),
    ("Before: x   After: y", "After: y\n// Before: x", "'Before', 'After' and 'TVM:' stand in this order"),
    ("// What not.\n", "", "nothing stands between the example and 'TVM:': what else it does, and what not"),
    ("relax.transform.A.", "relax.transform.A.\n//\n// More.", "'TVM:' is the last part of the head"),
)


class Pages(unittest.TestCase):
    def test_every_pass_has_a_page(self):
        with open(source("passes", "passes.def"), encoding="utf-8") as f:
            names = re.findall(r"^PASS\((\w+),", f.read(), re.M)
        for name in names:
            with self.subTest(name=name):
                p = tvms("opt", "--list", name)
                page = PAGE.fullmatch(p.stdout.decode())
                self.assertTrue(page and page.group(1) == name, p.stdout.decode())
                example = p.stdout.decode().split("\n\n    ", 1)[1]
                self.assertLess(example.index("Before"), example.index("After"))


class Heads(unittest.TestCase):
    def make(self, head, body=BODY):
        """What the generator makes of a head, and what it says."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("passes.def", "a.c", "out.c")]
            for path, text in zip(paths, (ROWS, head + body)):
                with open(path, "w", encoding="utf-8") as f:
                    f.write(text)
            p = subprocess.run([sys.executable, source("tools", "gen_passes.py"), *paths], capture_output=True, text=True)
            made = open(paths[2], encoding="utf-8").read() if os.path.exists(paths[2]) else ""
            return made, p.stderr.replace(folder + os.sep, "")

    def test_good_head(self):
        made, said = self.make(HEAD)
        self.assertEqual(said, "")
        self.assertIn('{"A",\n     "what it does.",\n     "Before: x   After: y",\n     "What not.",\n     "TVM: relax.transform.A."},', made)

    def test_bad_heads(self):
        for old, new, says in BAD:
            with self.subTest(says=says):
                self.assertIn(old, HEAD)
                made, said = self.make(HEAD.replace(old, new))
                self.assertEqual((made, said), ("", f"gen_passes.py: a.c:1: {says}\n"))

    def test_pass_without_function(self):
        made, said = self.make(HEAD, "")
        self.assertEqual((made, said), ("", "gen_passes.py: passes.def: no file defines tvms_pass_do, the function of A\n"))


if __name__ == "__main__":
    main()
