#!/usr/bin/env python3
"""Whole pipelines over whole programs: `tvms opt` must write what stock TVM writes.

    pipelines.py [--release R]... [--passes PIPELINE] [FILE]...

Each PrimFunc goes through TVM's pipeline for PrimFuncs to the functions that a compiler of the host gets:
BindTarget,s_tir,finalize-host. A program that TVM of the release does not read, or refuses on the way, says nothing here.
Other passes are compared in the same way, one by one: `pipelines.py --passes FlattenBuffer`. known.tsv lists what cannot
agree, as for print.py, with the pipeline in front of the file.
"""
import argparse, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import files_under, source, tvms
from golden import steps_of
from stock import definitions_of, difference, judge_releases

RELEASES = ["0.26", "0.27"]
PASSES = "BindTarget,s_tir,finalize-host"


def as_module(text):
    """Canonical text of one function as that of a module that has it."""
    head, _, function = text.partition("\n\n")
    if "@I.ir_module" in function:
        return text
    lines = ["@I.ir_module", "class Module:"] + ["    " + line if line else "" for line in function.splitlines()]
    return "from tvm.script import ir as I\n" + head + "\n\n" + "\n".join(lines) + "\n"


def compare(stock, release, text, passes):
    """Returns what is wrong, "" if nothing, None if there is nothing to compare."""
    p = tvms("print", "--dialect", release, "-", stdin=text)
    if p.returncode or b"prim_func" not in p.stdout:
        return None
    text = as_module(p.stdout.decode())
    answer = stock.ask(text=text, passes=steps_of(passes))
    if "print" not in answer or "prim_func" not in answer["print"]:
        return None
    p = tvms("opt", "--no-metadata", "--from", release, "--dialect", release, "--passes", passes, "-", stdin=text)
    if p.returncode:
        return f"exit {p.returncode}: {p.stderr.decode()[:600]}"
    ours, wanted = p.stdout.decode().rstrip("\n"), answer["print"].rstrip("\n")
    return "" if ours == wanted else difference(wanted, ours)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--release", action="append")
    arguments.add_argument("--passes", default=PASSES)
    arguments.add_argument("files", nargs="*")
    a = arguments.parse_args()

    def judge(stock, release, path):
        with open(path, encoding="utf-8") as f:
            verdicts = [compare(stock, release, text, a.passes) for text in definitions_of(f.read())]
        return next((v for v in verdicts if v), None if None in verdicts else "")

    cases = [(f"{a.passes} {os.path.relpath(path, source())}", path) for path in a.files or files_under("corpus")]
    return judge_releases(lambda release: cases, judge, a.release or RELEASES)


if __name__ == "__main__":
    sys.exit(main())
