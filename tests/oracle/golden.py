#!/usr/bin/env python3
"""What the golden files of print, check and opt expect is what stock TVM does.

    golden.py [FILE]...

  - print: TVM of the release reads the program and prints what stands behind `# EXPECT:`.
  - check: a program with a line that expects an error is rejected by TVM, too.
  - opt: TVM runs its passes of the same names and prints what stands behind `# EXPECT:`, if it takes the options
    that are given by the same names.
Only files whose `# RUN:` lines name one release, or none and are read as one, are judged. known.tsv lists the files that
cannot agree, with the reason, as for print.py.
"""
import os, re, shlex, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import files_under, source
from stock import RELEASES, definitions_of, difference, judge_releases

sys.path.insert(0, source("python"))
from tvms.stock import ARGUMENTS, split_at, texts_of

SECTION = re.compile(r"^# (EXPECT|FINDINGS|STATUS)\b", re.M)
ERROR = re.compile(r"# error(\[\w+\])?: ")


class Case:
    """One program of a golden file: its verb, its release, its text and what it expects."""

    def __init__(self, name, text):
        self.name = name
        runs = re.findall(r"^# RUN: (.*)$", text, re.M)
        self.words = shlex.split(runs[0]) if len(runs) == 1 else []
        end = SECTION.search(text)
        self.program = text[: end.start()] if end else text
        found = re.search(r"^# EXPECT:\n(.*?)(?=^# (?:FINDINGS|STATUS)|\Z)", text, re.M | re.S)
        self.expected = found.group(1) if found else None
        self.rejected = bool(ERROR.search(self.program))
        self.release = self.option("--dialect") or ("0.27" if self.verb == "opt" else None)

    @property
    def verb(self):
        return self.words[0] if self.words else ""

    def option(self, name):
        return self.words[self.words.index(name) + 1] if name in self.words else None

    def is_judged(self):
        allowed = {"print": {"--dialect"}, "check": {"--dialect"}, "opt": {"--dialect", "--passes", "--remarks"}}.get(self.verb)
        if allowed is None or self.release not in RELEASES or {w.split("=")[0] for w in self.words if w.startswith("-")} - allowed:
            return False
        if self.verb == "opt":
            if self.rejected or "@R.rewriter" in self.program:  # TVM takes patterns from Python
                return False
            options = [option for _, texts in steps_of(self.option("--passes")) for option in texts]
            return set(options) <= ARGUMENTS and bool(self.expected)
        return self.rejected if self.verb == "check" else bool(self.expected) and not self.rejected

    def judge(self, stock):
        """What is wrong, "" if nothing."""
        more = {"passes": steps_of(self.option("--passes"))} if self.verb == "opt" else {}
        for step in more.get("passes", ()):
            if step[0] == "ApplyTrace":
                step[1]["steps"] = "".join(re.findall(r"^# (.*\n)", self.program.partition("# SCHEDULE:\n")[2].partition("\n@")[0] + "\n", re.M))
        if (self.expected or "").startswith("metadata = "):
            more["metadata"] = True
        answers = [stock.ask(text=text, **more) for text in definitions_of(self.program)]
        if self.verb == "check":
            return "TVM accepts it" if all("print" in answer for answer in answers) else ""
        for answer in answers:
            if "print" not in answer:
                return f"TVM does not do this: {answer}"
        wanted, expected = [answer["print"].rstrip("\n") for answer in answers], self.expected.rstrip("\n")
        if len(wanted) > 1:  # they share a header: compare what stands below
            wanted, expected = [body(text) for text in wanted], body(expected)
        wanted = "\n\n".join(wanted)
        return "" if wanted == expected else difference(wanted, expected)


def steps_of(pipeline):
    """[name, {option: text}] of each pass."""
    return [list(texts_of(part)) for part in split_at(pipeline, ",")]


def body(text):
    return text.split("\n\n", 1)[1]


def cases_of(path):
    """The programs of a file; what stands in front of the first holds for all."""
    name = os.path.relpath(path, source())
    with open(path, encoding="utf-8") as f:
        head, *programs = re.split(r"^# PROGRAM: (.*)\n", f.read(), flags=re.M)
    if not programs:
        return [Case(name, head)]
    return [Case(f"{name}: {title}", head + text) for title, text in zip(programs[::2], programs[1::2])]


def main():
    cases = [case for path in sys.argv[1:] or files_under(os.path.join("tests", "golden")) for case in cases_of(path)]
    judged = [c for c in cases if c.is_judged()]
    return judge_releases(lambda r: [(c.name, c) for c in judged if c.release == r], lambda stock, r, c: c.judge(stock), RELEASES)


if __name__ == "__main__":
    sys.exit(main())
