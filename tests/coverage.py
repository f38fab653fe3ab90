#!/usr/bin/env python3
"""Which lines of the front end do the programs of corpus/ reach?

    coverage.py [--show FOLDER/FILE]... [--functions] [--goldens] [--at-least PERCENT]

Builds with gcov into build-coverage/, runs check, print and migrate to every release, fmt and infer on every program, and prints the share
of lines per folder. --show lists the lines of a file that nothing reached, --functions those of all files by function,
--goldens runs tests/golden too. Not part of the
suite: it tells where a program is missing.
"""
import argparse, collections, json, os, subprocess, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build-coverage")
FOLDERS = ("grammar", "parser", "printer", "structinfo")
os.environ.setdefault("TVMS_SOURCE", ROOT)
os.environ.setdefault("TVMS_PROGRAM", os.path.join(BUILD, "tvms"))


def build():
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        options = ["-Dbuildtype=debug", "-Dtests=false", "-Db_coverage=true"]
        subprocess.run(["meson", "setup", BUILD, ROOT, *options], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "--quiet", "-C", BUILD], check=True, stdout=subprocess.DEVNULL)
    for folder, _, names in os.walk(BUILD):
        for name in names:
            if name.endswith(".gcda"):
                os.remove(os.path.join(folder, name))


def run_programs(goldens):
    from cases import files_under, tvms, verbs
    from release_tables import written
    has = verbs()
    for path in files_under("corpus"):
        for verb in {"check", "fmt", "infer"} & has:
            tvms(verb, path)
        for release in written(ROOT):
            tvms("print", "--dialect", release, path)
            tvms("migrate", "--dialect", release, path)
    for path in files_under("corpus", suffix=".py"):
        for verb in ("check", "fmt", "print"):
            tvms(verb, path)
    if goldens:
        tvms("test", os.path.join(ROOT, "tests", "golden"))


def measure():
    """file -> line -> times, and (file, line) -> function, over all objects."""
    lines, functions = collections.defaultdict(collections.Counter), {}
    for folder, _, names in os.walk(BUILD):
        for name in sorted(n for n in names if n.endswith(".gcda")):
            p = subprocess.run(["gcov", "--json-format", "--stdout", os.path.join(folder, name)], cwd=BUILD,
                               capture_output=True, text=True)
            for document in filter(str.strip, p.stdout.splitlines()):
                for file in json.loads(document)["files"]:
                    path = os.path.relpath(os.path.normpath(os.path.join(BUILD, file["file"])), ROOT)
                    for line in file["lines"]:
                        lines[path][line["line_number"]] += line["count"]
                        functions[path, line["line_number"]] = line.get("function_name", "")
    return lines, functions


def list_functions(lines, functions):
    """The lines that nothing reached, most by function first."""
    missed = collections.defaultdict(list)
    for file, counts in lines.items():
        if file.startswith(tuple(f + "/" for f in FOLDERS)):
            for line, times in counts.items():
                if not times:
                    missed[file, functions[file, line]].append(line)
    for (file, function), numbers in sorted(missed.items(), key=lambda item: -len(item[1])):
        print(f"{len(numbers):>4} {file}: {function}: {' '.join(map(str, sorted(numbers)))}")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--show", action="append", default=[])
    arguments.add_argument("--functions", action="store_true")
    arguments.add_argument("--goldens", action="store_true")
    arguments.add_argument("--at-least", type=float, default=0)
    a = arguments.parse_args()
    build()
    run_programs(a.goldens)
    lines, functions = measure()
    good = True
    for folder in FOLDERS:
        files = {f: c for f, c in lines.items() if f.startswith(folder + "/") and not f.endswith(".h")}
        reached = sum(n > 0 for c in files.values() for n in c.values())
        every = sum(len(c) for c in files.values())
        share = 100 * reached / every if every else 0
        good &= share >= a.at_least
        print(f"{folder:<12} {reached:>6} of {every:>6} lines  {share:5.1f} %")
        for file in sorted(files, key=lambda f: sum(n == 0 for n in files[f].values()), reverse=True)[:8]:
            missed = sum(n == 0 for n in files[file].values())
            print(f"    {file:<36} {missed:>5} lines not reached")
    if a.functions:
        list_functions(lines, functions)
    for file in a.show:
        with open(os.path.join(ROOT, file), encoding="utf-8") as f:
            for number, text in enumerate(f, 1):
                if lines[file].get(number) == 0:
                    print(f"{file}:{number}: {text.rstrip()}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
