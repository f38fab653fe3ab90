#!/usr/bin/env python3
"""Mistakes in the Python around definitions, made by the hundred: one error each, where CPython sees it, at the token.

    seeded.py [--files N] [--each N] [--seed N] [--show KIND] [--all] FILE...

A file is sound Python; it gets a definition of TVMScript. break_one.py breaks one thing in the rest of it. What ast.parse (or the compiler behind it) still takes is no mistake. Without FILE, files of
tests/ are taken. The suite fails below the bars.
"""
import argparse, collections, json, os, random, re, sys, tempfile, warnings

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from break_one import mistakes
from cases import source, tvms

warnings.simplefilter("ignore")
DEFINITION = """from tvm.script import tirx as T


@T.prim_func
def scale(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        B[i] = A[i] * T.float32(2)


"""
BARS = {"one": 98, "line": 90, "token": 85}


def refused(text):
    """The line that CPython names, or None if it takes the text."""
    try:
        compile(text, "text", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error.lineno or 1
    except ValueError:
        return None
    return None


def place(text, first):
    """The text with the definition at its begin or its end, and by how much the text moved."""
    if first and "__future__" not in text:
        return DEFINITION + text, len(DEFINITION)
    return text + "\n\n" + DEFINITION.rstrip() + "\n", 0


def errors_by_file(folder):
    found = collections.defaultdict(list)
    out = tvms("check", "--format", "json", folder).stdout
    for finding in json.loads(out)["findings"]:
        if finding["severity"] == "error":
            found[os.path.basename(finding["file"])].append(finding)
    return found


def make(options, rng):
    cases = []
    for name in options.names:
        with open(name, encoding="utf-8", errors="replace") as file:
            text = file.read()
        # What is wrong in definitions is for tests/cli/mistakes.py.
        if re.search(r"^\s*@[TRI]\.", text, re.M) or "\t" in text or "\r" in text or len(text) > 60000 or refused(text) is not None:
            continue
        for kind, changed, places in mistakes(text, rng, options.each):
            whole, moved = place(changed, rng.random() < 0.5)
            line = refused(whole)
            if line is not None:
                cases.append((kind, whole, [len(whole[: p + moved].encode()) for p in places], line, name))
    return cases


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=12)
    parser.add_argument("--each", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show")
    parser.add_argument("--all", action="store_true", help="a file's numbers by kind")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    if not options.names:
        for root, _, files in sorted(os.walk(source("tests"))):
            options.names += [os.path.join(root, f) for f in sorted(files) if f.endswith(".py")]
    options.names = rng.sample(options.names, min(options.files, len(options.names)))
    cases = make(options, rng)
    counts = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as folder:
        for i, case in enumerate(cases):
            with open(os.path.join(folder, f"m{i}.py"), "w", encoding="utf-8") as file:
                file.write(case[1])
        found = errors_by_file(folder)
        for i, (kind, text, places, line, name) in enumerate(cases):
            errors = found[f"m{i}.py"]
            got = {"one": len(errors) == 1}
            first = errors[0]["range"]["start"] if errors else {"line": 0, "offset": -1}
            got["line"] = first["line"] == line
            got["token"] = first["offset"] in places
            counts[kind]["all"] += 1
            for what, right in got.items():
                counts[kind][what] += right
            if options.show and kind == options.show and not all(got.values()):
                print(f"--- {kind} {got} CPython: line {line} of {os.path.basename(name)}")
                print("\n".join(f"{n}: {l}" for n, l in enumerate(text.split("\n"), 1) if abs(n - line) < 4))
                for e in errors:
                    print("   ", e["range"]["start"]["line"], e["range"]["start"]["column"], e["message"])
    total = collections.Counter()
    for kind, count in sorted(counts.items()):
        total.update(count)
        if options.all:
            print(f"{kind:16}", *(f"{what} {count[what]}/{count['all']}" for what in BARS))
    failed = 0
    for what, bar in BARS.items():
        rate = 100 * total[what] / max(total["all"], 1)
        print(f"{what}: {total[what]} of {total['all']}, {rate:.1f} % (bar {bar} %)")
        failed += rate < bar
    print(f"{len(counts)} kinds of mistakes")
    print(f"{len(BARS) - failed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
