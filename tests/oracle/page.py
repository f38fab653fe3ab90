#!/usr/bin/env python3
"""docs/models.md, followed from top to bottom with stock TVM 0.27: Python and commands in one folder, in the order of the page.

Blocks of `python` run by a Python with TVM, each in a process of its own; blocks of `console tvm` as commands that must succeed and
write nothing that the page does not show; a block of `c` is the file serve.c.
"""
import os, re, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import TVMS, source
from docs import as_pattern, commands
from stock import python_of

BLOCK = re.compile(r"^```(python|console tvm|c)\n(.*?)^```$", re.M | re.S)
RELEASE = "0.27"


def run(command, folder, expected):
    environment = dict(os.environ, PATH=folder + ":" + os.environ["PATH"], NO_COLOR="1", TVM_NUM_THREADS="1")
    p = subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    said = p.stdout.decode()
    if p.returncode or (expected is not None and not as_pattern(expected).match(said)):
        return f"exit {p.returncode}: {said[-2000:]}"
    return ""


def steps(kind, text, python):
    """(command, what it must write or None) of a block."""
    if kind == "python":
        yield [python, "-c", text], None
    for command, expected in commands(text) if kind == "console tvm" else ():
        yield ["sh", "-c", command], expected


def main():
    python, passed, failed = python_of(RELEASE), 0, 0
    with open(source("docs", "models.md"), encoding="utf-8") as f:
        blocks = BLOCK.findall(f.read())
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.abspath(TVMS), os.path.join(folder, "tvms"))
        for kind, text in blocks:
            if kind == "c":
                with open(os.path.join(folder, "serve.c"), "w", encoding="utf-8") as f:
                    f.write(text)
            for command, expected in steps(kind, text, python):
                wrong = run(command, folder, expected)
                if wrong:
                    print(f"FAILED: {command[-1]}\n{wrong}")
                passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed")
    return failed != 0 or passed < 8


if __name__ == "__main__":
    sys.exit(main())
