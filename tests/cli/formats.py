#!/usr/bin/env python3
"""Findings as json, sarif and github: valid documents that say the same as the text."""
import json, os, re, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, tvms

# Two syntax errors; the second one behind characters of two and three bytes.
TEXT = 'x = (1, 2]\ny = 3\ns = "é→" ? 1\n'
LOCATED = re.compile(r"^([^:\n]+):(\d+):(\d+): (\w+)\[(\w+)\]: (.*)$", re.M)


class Formats(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "a:b,c%.tvms")
        with open(self.path, "w") as f:
            f.write(TEXT)

    def tearDown(self):
        self.folder.cleanup()

    def run_as(self, format_, *paths):
        p = tvms("fmt", "--check", "--format", format_, *(paths or [self.path]))
        self.assertEqual(p.returncode, 1)
        self.assertEqual(p.stderr, b"")
        return p.stdout.decode()

    def text_findings(self):
        p = tvms("fmt", "--check", self.path)
        findings = re.findall(r"^.*tvms:(\d+):(\d+): (\w+)\[(\w+)\]: (.*)$", p.stderr.decode(), re.M)
        self.assertGreaterEqual(len(findings), 2)
        return [(int(l), int(c), s, code, text) for l, c, s, code, text in findings]

    def test_columns_count_characters(self):
        self.assertIn((3, 10), [f[:2] for f in self.text_findings()])

    def test_json(self):
        document = json.loads(self.run_as("json"))
        self.assertEqual(document["version"], 1)
        rows = [(f["range"]["start"]["line"], f["range"]["start"]["column"], f["severity"], f["code"], f["message"])
                for f in document["findings"]]
        self.assertEqual(rows, self.text_findings())
        self.assertEqual(document["errors"], len(rows))
        for f in document["findings"]:
            begin, end = f["range"]["start"]["offset"], f["range"]["end"]["offset"]
            self.assertLessEqual(begin, end)
            line = TEXT.encode()[:begin].count(b"\n") + 1
            self.assertEqual(line, f["range"]["start"]["line"])
            self.assertEqual(f["file"], self.path)

    def test_json_of_several_files_is_one_document(self):
        document = json.loads(self.run_as("json", self.path, self.path))
        self.assertEqual(len(document["findings"]), 2 * len(self.text_findings()))

    def test_json_without_findings(self):
        p = tvms("fmt", "--check", "--format", "json", "-", stdin="x = 1\n")
        self.assertEqual(json.loads(p.stdout), {"version": 1, "findings": [], "errors": 0, "warnings": 0})

    def test_sarif(self):
        document = json.loads(self.run_as("sarif"))
        self.assertEqual(document["version"], "2.1.0")
        (run,) = document["runs"]
        self.assertEqual(run["tool"]["driver"]["name"], "tvms")
        rules = {rule["id"]: rule["fullDescription"]["text"] for rule in run["tool"]["driver"]["rules"]}
        rows = []
        for result in run["results"]:
            self.assertTrue(rules[result["ruleId"]])
            location = result["locations"][0]["physicalLocation"]
            self.assertEqual(location["artifactLocation"]["uri"], self.path)
            region = location["region"]
            rows.append((region["startLine"], region["startColumn"], result["level"], result["ruleId"], result["message"]["text"]))
        self.assertEqual(rows, self.text_findings())

    def test_github(self):
        lines = self.run_as("github").splitlines()
        findings = self.text_findings()
        self.assertEqual(len(lines), len(findings))
        escaped = self.path.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
        for line, (number, column, severity, code, text) in zip(lines, findings):
            self.assertTrue(line.startswith(f"::{severity} file={escaped},line={number},"), line)
            self.assertIn(f",col={column},", line)
            self.assertIn(f",title={code}::{text.replace('%', '%25')}", line)

    def test_quiet_leaves_errors(self):
        p = tvms("fmt", "--check", "-q", self.path)
        self.assertEqual(len(re.findall(r": error\[", p.stderr.decode())), len(self.text_findings()))


if __name__ == "__main__":
    main()
