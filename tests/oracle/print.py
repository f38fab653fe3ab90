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
import argparse, os, re, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import files_under, source, tvms
from stock import RELEASES, definitions_of, difference, judge_releases

LOCATED = re.compile(r"^[^\n]*?:\d+:\d+: error\[", re.M)


def shows_metadata(release, text):
    """Programs with a metadata section are compared with it. The stock TVM of 0.22 writes that of 0.21."""
    return "metadata = " in text and release != "0.22"


def printed(text, *options, metadata=False):
    p = tvms("print", *([] if metadata else ["--no-metadata"]), *options, "-", stdin=text)
    return p.returncode, p.stdout.decode(), p.stderr.decode()


def rejected(release, text):
    """Whether it is an error for the release and for all."""
    return all(tvms("check", "--quiet", *options, "-", stdin=text).returncode == 1 for options in (("--from", release), ()))


def compare_printed(ours, wanted):
    wanted = wanted.rstrip("\n") + "\n"
    return "" if ours == wanted else difference(wanted, ours)


def compare(stock, release, text):
    """Returns what is wrong, "" if nothing, None if there is nothing to compare."""
    metadata = shows_metadata(release, text)
    answer = stock.ask(text=text, metadata=metadata)
    if "print" in answer:
        status, ours, said = printed(text, "--from", release, "--dialect", release, metadata=metadata)
        return f"exit {status}, which TVM accepts: {said[:600]}" if status else compare_printed(ours, answer["print"])
    status, ours, said = printed(text, "--dialect", release, metadata="metadata = " in text)
    if status == 1 and LOCATED.search(said):
        return "" if rejected(release, text) else None
    if status:
        return f"exit {status}: {said[:600]}"
    again = stock.ask(text=ours, metadata=metadata)
    if "print" not in again:
        return f"TVM does not read our text: {again}\nnor the program: {answer}\n{ours[:1500]}"
    return compare_printed(ours, again["print"])


def judge_program(stock, release, path):
    with open(path, encoding="utf-8") as f:
        verdicts = [compare(stock, release, text) for text in definitions_of(f.read())]
    return next((v for v in verdicts if v), None if None in verdicts else "")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--release", action="append")
    arguments.add_argument("files", nargs="*")
    a = arguments.parse_args()
    files = a.files or list(files_under("corpus"))
    cases = [(os.path.relpath(path, source()), path) for path in files]
    return judge_releases(lambda release: cases, judge_program, a.release or RELEASES)


if __name__ == "__main__":
    sys.exit(main())
