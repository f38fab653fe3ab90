#!/usr/bin/env python3
"""CPU time of `tvms fmt --check`, proof included, against `ruff format --check --no-cache`.

    speed.py [--tvms PROGRAM] [--ruff PROGRAM] [--times N] PROJECT...

PROJECT is a work tree with its configuration of ruff. For each project, the least of N runs of both in turns, in user and system time of
the process with all its threads:

  tree         the project's `.py` files
  definitions  its definitions, those of a file in one file, as they stand there
  disturbed    the same with line breaks, quotes, spaces, parentheses and trailing commas changed at random, as agree.py changes them

Without --ruff, ruff is installed as agree.py does. Nothing of the projects is part of this repository.
"""
import argparse, ast, os, random, resource, subprocess, sys, tempfile, warnings

import agree


def seconds(arguments, folder):
    """CPU time of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(options, name, folder):
    tvms, ruff = [], []
    for _ in range(options.times):
        tvms.append(seconds([options.tvms, "fmt", "--check", "."], folder))
        ruff.append(seconds([options.ruff, "format", "--check", "--no-cache", "."], folder))
    print(f"  {name:12} tvms {min(tvms):.3f} s, ruff {min(ruff):.3f} s: {min(tvms) / min(ruff):.2f}", flush=True)


def definitions_of(path):
    """The definitions of a file, each as a file of its own."""
    try:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        found = [agree.cut_out(text, node) for node in agree.definitions(ast.parse(text))]
    except (SyntaxError, ValueError):
        return
    for one in found:
        try:
            ast.parse(one)
            yield one
        except SyntaxError:
            pass


def disturbed(text, rng):
    return text if agree.run_skips(text) else agree.disturbed(text, rng) or text


def write_definitions(project, plain, changed):
    rng = random.Random(1)
    for folder in (plain, changed):
        os.makedirs(folder)
        agree.write(os.path.join(folder, "ruff.toml"), agree.settings_of(project))
    for i, path in enumerate(agree.python_files(project)):
        found = list(definitions_of(os.path.join(project, path)))
        if found:
            agree.write(os.path.join(plain, f"f{i:05}.py"), "\n\n".join(found))
            agree.write(os.path.join(changed, f"f{i:05}.py"), "\n\n".join(disturbed(one, rng) for one in found))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tvms", default="build-rel/tvms")
    parser.add_argument("--ruff")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--keep", help="leave the definitions in this new folder")
    parser.add_argument("projects", nargs="+")
    options = parser.parse_args()
    options.tvms = os.path.abspath(options.tvms)
    options.ruff = os.path.abspath(options.ruff) if options.ruff else agree.install_ruff()
    warnings.simplefilter("ignore")
    for project in options.projects:
        name = os.path.basename(os.path.abspath(project))
        print(name, flush=True)
        compare(options, "tree", project)
        with tempfile.TemporaryDirectory() as scratch:
            folder = os.path.join(options.keep or scratch, name)
            write_definitions(project, os.path.join(folder, "plain"), os.path.join(folder, "disturbed"))
            compare(options, "definitions", os.path.join(folder, "plain"))
            compare(options, "disturbed", os.path.join(folder, "disturbed"))


if __name__ == "__main__":
    sys.exit(main())
