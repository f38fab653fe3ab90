#!/usr/bin/env python3
"""Ordinary mistakes: one finding each, at the token that is wrong, with what would mend it.

mistakes/rows.tsv has one row per mistake, with tabs between its columns:

  name, program (mistakes/<program>.tvms or, if it ends in .py, mistakes/<program>), text of the program, what stands there by mistake, hint, place, open

The text stands once in the program. Marks «» are around the tokens that are wrong, in the mistake or, if that is not where it shows, in the place, a text of the changed
program; empty marks are a point. The hint is a text that message, notes or fixes must have, `fix` if what is offered must make a program without errors, or `-`. What is not right
yet is in the last column: `count` (one error), `place`, `hint`. The suite fails if a row is not as its last column says; --update writes that column, --show NAME... what is said.
"""
import json, os, re, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, source, tvms

FOLDER = source("tests", "cli", "mistakes")
TABLE = os.path.join(FOLDER, "rows.tsv")
BARS = {"count": 97, "place": 80, "hint": 75}


class Row:
    def __init__(self, line, programs):
        columns = line.split("\t") + [""] * 2
        self.name, self.program, text, mistake, self.hint, place, self.open = columns[:7]
        text, mistake, place = (c.replace("\\n", "\n").replace("\\t", "\t") for c in (text, mistake, place))
        if programs[self.program].count(text) != 1:
            raise ValueError(f"{self.name}: the text is not once in {self.program}: {text!r}")
        self.marked = programs[self.program].replace(text, mistake)
        if place:
            if self.marked.count(re.sub("[«»]", "", place)) != 1:
                raise ValueError(f"{self.name}: the place is not once in the program: {place!r}")
            self.marked = self.marked.replace(re.sub("[«»]", "", place), place)
        self.wants_place = "«" in self.marked
        if self.marked.count("«") != 1 or self.marked.count("»") != 1:
            raise ValueError(f"{self.name}: one pair of marks is needed")
        self.text = re.sub("[«»]", "", self.marked)
        self.begin = len(self.marked[: self.marked.index("«")].encode())
        self.end = len(self.marked[: self.marked.index("»")].replace("«", "").encode())


def findings(text, program):
    """What check reports of the text."""
    name = program if program.endswith(".py") else "-"
    return json.loads(tvms("check", "--format", "json", "--stdin-filename", name, "-", stdin=text).stdout)["findings"]


TOGETHER = 64  # texts that one run of the program reads
KNOWN = {}  # errors of texts that were read together


def look_at(texts):
    """Reads many (text, program); what a run that fails does not know is asked for by itself later."""
    texts = list(dict.fromkeys((text, program.endswith(".py")) for text, program in texts))
    for at in range(0, len(texts), TOGETHER):
        with tempfile.TemporaryDirectory() as folder:
            names = {}
            for i, (text, python) in enumerate(texts[at:at + TOGETHER]):
                name = f"{i}.py" if python else f"{i}.tvms"
                names[name] = text, python
                with open(os.path.join(folder, name), "w", encoding="utf-8", newline="") as file:
                    file.write(text)
            p = tvms("check", "--format", "json", *(os.path.join(folder, name) for name in names))
            if p.returncode > 1:
                continue
            KNOWN.update({key: [] for key in names.values()})
            for finding in json.loads(p.stdout)["findings"]:
                if finding["severity"] == "error":
                    KNOWN[names[os.path.basename(finding["file"])]].append(finding)


def errors_of(text, program):
    known = KNOWN.get((text, program.endswith(".py")))
    return [f for f in findings(text, program) if f["severity"] == "error"] if known is None else known


def mended(text, fixes):
    """The text after the fixes."""
    data = text.encode()
    for fix in sorted(fixes, key=lambda f: -f["range"]["start"]["offset"]):
        data = data[: fix["range"]["start"]["offset"]] + fix["text"].encode() + data[fix["range"]["end"]["offset"] :]
    return data.decode()


def judge(row):
    """The set of what is not right, and the errors."""
    errors = errors_of(row.text, row.program)
    wrong = set() if len(errors) == 1 else {"count"}
    if not errors:
        return wrong | {"place"} | ({"hint"} if row.hint != "-" else set()), errors
    first = errors[0]
    begin, end = first["range"]["start"]["offset"], first["range"]["end"]["offset"]
    if begin != row.begin or end > max(row.end, row.begin + 1):
        wrong.add("place")
    said = [first["message"]] + [n["message"] for n in first["notes"]] + [f["text"] for f in first["fixes"]]
    if row.hint == "fix":
        if not first["fixes"] or errors_of(mended(row.text, first["fixes"]), row.program):
            wrong.add("hint")
    elif row.hint != "-" and not any(row.hint in text for text in said):
        wrong.add("hint")
    return wrong, errors


def read_table():
    programs = {}
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith((".tvms", ".py")):
            with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
                programs[name.removesuffix(".tvms")] = file.read()
    with open(TABLE, encoding="utf-8") as file:
        rows = [Row(line.rstrip("\n"), programs) for line in file if line.strip() and not line.startswith("#")]
    return programs, rows


def rates(rows, verdicts):
    """Of each bar: rows that are right, rows that count."""
    of = {bar: [r for r in rows if bar != "hint" or r.hint != "-"] for bar in BARS}
    return {bar: (sum(bar not in verdicts[r.name] for r in of[bar]), len(of[bar])) for bar in BARS}


class Mistakes(unittest.TestCase):
    def test_programs_have_no_errors(self):
        programs, _ = read_table()
        for name, text in programs.items():
            with self.subTest(program=name):
                self.assertEqual(errors_of(text, name), [])

    def test_rows_are_as_the_table_says(self):
        _, rows = read_table()
        self.assertEqual(len({r.name for r in rows}), len(rows), "two rows have one name")
        self.assertGreaterEqual(len(rows), 300)
        verdicts = {}
        look_at((row.text, row.program) for row in rows)
        fixed = [(row, errors_of(row.text, row.program)[:1]) for row in rows if row.hint == "fix"]
        look_at((mended(row.text, errors[0]["fixes"]), row.program) for row, errors in fixed if errors and errors[0]["fixes"])
        for row in rows:
            verdicts[row.name], errors = judge(row)
            with self.subTest(row=row.name):
                said = "\n".join(f"{e['range']['start']['line']}:{e['range']['start']['column']}: {e['message']}" for e in errors)
                self.assertEqual(verdicts[row.name], set(row.open.split()), said)
        for bar, (right, count) in rates(rows, verdicts).items():
            print(f"{bar}: {right} of {count} rows, {100 * right / count:.1f} % (bar {BARS[bar]} %)")
            self.assertGreaterEqual(100 * right / count, BARS[bar], bar)


def update():
    """Writes the last column anew."""
    _, rows = read_table()
    verdicts = {row.name: judge(row)[0] for row in rows}
    with open(TABLE, encoding="utf-8") as file:
        lines = file.read().splitlines()
    with open(TABLE, "w", encoding="utf-8") as file:
        for line in lines:
            columns = line.split("\t")
            if line.strip() and not line.startswith("#"):
                columns = (columns + [""] * 2)[:6] + [" ".join(sorted(verdicts[columns[0]]))]
            file.write("\t".join(columns).rstrip() + "\n")
    for bar, (right, count) in rates(rows, verdicts).items():
        print(f"{bar}: {right} of {count}, {100 * right / count:.1f} %")


def show(names):
    """What is said of the rows with these names, or of those that are not right."""
    for row in read_table()[1]:
        wrong, errors = judge(row)
        if row.name in names or (not names and wrong):
            line = row.marked[: row.marked.index("«")].count("\n")
            print(f"== {row.name} [{' '.join(sorted(wrong))}] wants {row.hint}: {line + 1}: {row.marked.splitlines()[line].strip()}")
            for e in errors:
                print(f"   {e['code']} {e['range']['start']['line']}:{e['range']['start']['column']}: {e['message']}")
                for n in e["notes"]:
                    print(f"      note: {n['message']}")
                for f in e["fixes"]:
                    print(f"      fix: {f['text']!r} at {f['range']['start']['line']}:{f['range']['start']['column']}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--update"]:
        update()
    elif sys.argv[1:2] == ["--show"]:
        show(sys.argv[2:])
    else:
        main()
