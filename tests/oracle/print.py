#!/usr/bin/env python3
"""Stock TVM prints every program of corpus/, and `tvms print` must write the same text.

    print.py [--release R]... [FILE]...

For each program and each release that is written:
  - TVM of that release reads the program: `print --from R --dialect R` is its text.
  - it does not (the program is spelled for another release): what `print --dialect R`
    writes must be read by TVM and printed as the same text.
  - `print --dialect R` says with a located error that R cannot say it: nothing to compare.
Programs that `check` rejects must be rejected by every release. A file with several definitions is one program each,
because TVM reads one at a time.

known.tsv lists what does not agree, "FILE<TAB>RELEASE<TAB>why": a defect of that TVM, or, with "tvms:" in front, one of
ours that is still open. It counts neither way, is shown, and an entry that agrees is said to be superfluous.
"""
import argparse, difflib, os, re, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import files_under, source, tvms
from stock import RELEASES, Stock, judge_releases

LOCATED = re.compile(r"^[^\n]*?:\d+:\d+: error\[", re.M)


def known():
    rows = {}
    path = source("tests", "oracle", "known.tsv")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                if line.strip() and not line.startswith("#"):
                    file, release, why = line.rstrip("\n").split("\t")
                    rows[file, release] = why
    return rows


def difference(stock, ours):
    rows = difflib.unified_diff(stock.splitlines(), ours.splitlines(), "stock TVM", "tvms", n=1, lineterm="")
    return "\n".join(list(rows)[:30])


def printed(text, *options):
    p = tvms("print", "--no-metadata", *options, "-", stdin=text)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def definitions_of(text):
    """The text above the first definition with each definition."""
    lines = text.splitlines(keepends=True)
    starts = [i for i, line in enumerate(lines) if line.startswith("@") and not (i and lines[i - 1].startswith("@"))]
    if len(starts) < 2:
        return [text]
    head = "".join(lines[: starts[0]])
    return [head + "".join(lines[a:b]) for a, b in zip(starts, starts[1:] + [len(lines)])]


def compare(stock, release, text):
    """Returns what is wrong, "" if nothing, None if there is nothing to compare."""
    answer = stock.ask(text=text)
    if tvms("check", "--quiet", "--from", release, "-", stdin=text).returncode == 1 == tvms("check", "--quiet", "-", stdin=text).returncode:
        return "" if "print" not in answer else "check rejects what TVM accepts"
    if "print" in answer:
        status, ours, said = printed(text, "--from", release, "--dialect", release)
        if status:
            return f"exit {status}: {said[:600]}"
        wanted = answer["print"].rstrip("\n") + "\n"
        return "" if ours == wanted else difference(wanted, ours)
    status, ours, said = printed(text, "--dialect", release)
    if status == 1 and LOCATED.search(said):
        return None
    if status:
        return f"exit {status}: {said[:600]}"
    again = stock.ask(text=ours)
    if "print" not in again:
        return f"TVM does not read our text: {again}\nnor the program: {answer}\n{ours[:1500]}"
    wanted = again["print"].rstrip("\n") + "\n"
    return "" if ours == wanted else difference(wanted, ours)


def judge_release(release, files, excused):
    stock = Stock(release)
    passed = failed = unsaid = 0
    lines = []
    for path in files:
        name = os.path.relpath(path, source())
        with open(path, encoding="utf-8") as f:
            verdicts = [compare(stock, release, text) for text in definitions_of(f.read())]
        wrong = next((v for v in verdicts if v), None if None in verdicts else "")
        excuse = excused.get((name, release))
        if wrong is None:
            unsaid += 1
        elif excuse:
            lines.append(f"known: {release} {name}: {excuse}" if wrong else f"superfluous in known.tsv: {release} {name}")
        elif wrong:
            failed += 1
            lines.append(f"--- {release} {name}\n{wrong}")
        else:
            passed += 1
    stock.stop()
    lines.append(f"{release}: {passed} as stock TVM has it, {failed} not, {unsaid} that this release cannot say")
    return passed, failed, "\n".join(lines)


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--release", action="append")
    arguments.add_argument("files", nargs="*")
    a = arguments.parse_args()
    files = a.files or list(files_under("corpus"))
    excused = known()
    return judge_releases(lambda r: judge_release(r, files, excused), a.release or RELEASES)


if __name__ == "__main__":
    sys.exit(main())
