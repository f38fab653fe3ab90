#!/usr/bin/env python3
"""docs/adding-an-op.md, followed to the letter: its edits are applied to a copy of the sources, the copy is built
(without optimisation, in half a minute), and the golden files that the page adds must pass.

An edit is a numbered item that begins with the file in bold: **`path`**. What follows up to the ':' says where the
first block of the item goes: "below the line `…`" (which stands in the file once), "at the end" or "a new file".
"""
import os, re, shutil, subprocess, sys, tempfile, textwrap, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import main, source

PAGE = source("docs", "adding-an-op.md")
ITEM = re.compile(r"^(\d+)\. \*\*`([^`]+)`\*\*([^:]*):(.*?)(?=^\d+\. |^`tvms infer`|\Z)", re.M | re.S)
BLOCK = re.compile(r"^   ```\w*\n(.*?)^   ```$", re.M | re.S)


def skipped(folder, names):
    """Build folders, whatever they are called, and what begins with a dot."""
    return {n for n in names if n.startswith(".") or os.path.isdir(os.path.join(folder, n, "meson-private"))}


def edits():
    """(file, where, text) of each item, in order."""
    with open(PAGE, encoding="utf-8") as f:
        page = f.read()
    found = []
    for number, path, where, rest in ITEM.findall(page):
        block = BLOCK.search(rest)
        if not block:
            raise AssertionError(f"edit {number} of the page has no block")
        found.append((path, " ".join(where.split()), textwrap.dedent(block.group(1))))
    return found


def place(text, where, path, new):
    if "below the line" in where:
        anchor = re.search(r"below the line `([^`]+)`", where).group(1) + "\n"
        if text.count("\n" + anchor) != 1:
            raise AssertionError(f"{path} has the line {anchor!r} {text.count(anchor)} times")
        at = text.index("\n" + anchor) + 1 + len(anchor)
        return text[:at] + "\n" + new + text[at:]
    if "at the end" in where:
        return text + "\n" + new
    raise AssertionError(f"{path}: the page does not say where, but {where!r}")


def apply(folder, path, where, new):
    full = os.path.join(folder, path)
    if "a new file" in where:
        if os.path.exists(full):
            raise AssertionError(f"{path} exists already")
        text = new
    else:
        with open(full, encoding="utf-8") as f:
            text = place(f.read(), where, path, new)
    with open(full, "w", encoding="utf-8") as f:
        f.write(text)


def run(*command, folder):
    p = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    return p.returncode, p.stdout.decode(errors="replace")


class AddingAnOp(unittest.TestCase):
    def test_page(self):
        steps = edits()
        self.assertTrue(5 <= len(steps) <= 6, f"{len(steps)} edits")
        self.assertEqual(len({path for path, _, _ in steps}), len(steps), "each edit is in a file of its own")
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(scratch, "tvms")
            shutil.copytree(source(), folder, symlinks=True, ignore=skipped)
            for step in steps:
                apply(folder, *step)
            self.build(folder)
            goldens = [path for path, _, _ in steps if path.startswith("tests/golden/")]
            self.assertTrue(goldens)
            status, said = run("build/tvms", "test", *goldens, folder=folder)
            self.assertEqual(status, 0, said)
            self.infer(folder, goldens[0])

    def build(self, folder):
        options = ["--buildtype=plain", "-Dtests=false", "-Dllvm=false", "-Dfuzz=false"]
        status, said = run("meson", "setup", "build", *options, folder=folder)
        self.assertEqual(status, 0, said)
        status, said = run("ninja", "-j2", "-C", "build", "tvms", folder=folder)
        self.assertEqual(status, 0, said[-4000:])
        self.assertNotIn("warning:", said)

    def infer(self, folder, program):
        with open(PAGE, encoding="utf-8") as f:
            promised = re.search(r"`tvms infer` of the first program then says `([^`]+)`", f.read()).group(1)
        status, said = run("build/tvms", "infer", program, folder=folder)
        self.assertEqual(status, 0, said)
        self.assertIn(promised, said)


if __name__ == "__main__":
    main()
