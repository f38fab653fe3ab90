#!/usr/bin/env python3
"""Lint faults: each program of faults.txt has one, and tvms finds it; nothing else is found in it by default."""
import json, os, re, sys, tempfile, unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from cases import main, tvms

HEADER = {"I": "from tvm.script import ir as I\n", "R": "from tvm.script import relax as R\n", "T": "from tvm.script import tirx as T\n"}
FEWEST, SHARE = 60, 0.9


def programs():
    with open(os.path.join(HERE, "faults.txt"), encoding="utf-8") as f:
        parts = re.split(r"^=== ", f.read(), flags=re.M)[1:]
    for part in parts:
        head, _, body = part.partition("\n")
        code, rule, what = re.fullmatch(r"(\w+|---) (?:\[(\w+)\] )?(.*)", head).groups()
        names = sorted(HEADER) if code == "W1111" else [n for n in HEADER if re.search(rf"\b{n}\.", body)]
        yield code, rule, what, "".join(HEADER[n] for n in names) + "\n\n" + body


def found(rule, text):
    said = tvms("check", "--format", "json", "--select", f"DEFAULT,{rule}" if rule else "DEFAULT", "-", stdin=text).stdout
    return [finding["code"] for finding in json.loads(said)["findings"]]


class Faults(unittest.TestCase):
    def test_there_are_many_and_most_are_found(self):
        codes = [code for code, *_ in programs()]
        self.assertGreaterEqual(len(codes), FEWEST)
        self.assertGreaterEqual(len(codes) - codes.count("---"), SHARE * len(codes))

    def test_each(self):
        for code, rule, what, text in programs():
            with self.subTest(what=what, code=code):
                seen = set(found(rule, text))
                self.assertEqual(seen & {code} if code != "---" else seen, {code} if code != "---" else set(), text)
                self.assertEqual([c for c in seen if c[0] == "E"], [], text)


if __name__ == "__main__":
    main()
