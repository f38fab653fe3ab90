#!/usr/bin/env python3
"""What verbs give and find in the formats of driver/report_formats.def: one valid document that says the same as the text."""
import json, os, re, sys, tempfile, unittest
import xml.etree.ElementTree as xml
from urllib.parse import unquote

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, source, tvms, verbs

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

    def remarks(self):
        """The notes of each finding that have no place: formats with one message for a finding have them in lines of their own."""
        return [[note["message"] for note in f["notes"] if "range" not in note] for f in json.loads(self.run_as("json"))["findings"]]

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
        self.assertEqual(json.loads(p.stdout), {"version": 1, "results": [], "findings": [], "errors": 0, "warnings": 0})

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
            self.assertEqual(unquote(location["artifactLocation"]["uri"]), self.path)
            region = location["region"]
            rows.append((region["startLine"], region["startColumn"], result["level"], result["ruleId"], result["message"]["text"]))
        self.assertTrue(any(self.remarks()))
        self.assertEqual(rows, [(*f[:4], "\n".join([f[4], *remarks])) for f, remarks in zip(self.text_findings(), self.remarks())])

    def test_github(self):
        lines = self.run_as("github").splitlines()
        findings = self.text_findings()
        self.assertEqual(len(lines), len(findings))
        escaped = self.path.replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
        for line, (number, column, severity, code, text) in zip(lines, findings):
            self.assertTrue(line.startswith(f"::{severity} file={escaped},line={number},"), line)
            self.assertIn(f",col={column},", line)
            self.assertIn(f",title={code}::{text.replace('%', '%25')}", line)

    def test_concise(self):
        lines = [f"{self.path}:{line}:{column}: {severity}[{code}]: {text}" for line, column, severity, code, text in self.text_findings()]
        self.assertEqual(self.run_as("concise").splitlines(), lines)

    def test_json_lines(self):
        *lines, end = [json.loads(line) for line in self.run_as("json-lines").splitlines()]
        document = json.loads(self.run_as("json"))
        self.assertEqual(lines, [{"finding": finding} for finding in document["findings"]])
        self.assertEqual(end, {"end": {"version": 1, "errors": document["errors"], "warnings": 0, "status": 1}})

    def test_gitlab(self):
        document = json.loads(self.run_as("gitlab", self.path, self.path))
        rows = [(f["location"]["positions"]["begin"]["line"], f["location"]["positions"]["begin"]["column"], "error", f["check_name"], f["description"]) for f in document]
        self.assertEqual(rows, 2 * self.text_findings())
        prints = [f["fingerprint"] for f in document]
        self.assertEqual(len(set(prints)), len(prints))
        with open(self.path, "w") as f:
            f.write("\n\n" + TEXT)
        self.assertEqual([f["fingerprint"] for f in json.loads(self.run_as("gitlab", self.path, self.path))], prints, "a line that moves keeps its findings")

    def test_junit(self):
        (case,) = xml.fromstring(self.run_as("junit")).iter("testcase")
        self.assertEqual(case.get("name"), self.path)
        lines = zip(self.run_as("concise").splitlines(), self.remarks())
        self.assertEqual(case.find("failure").text, "".join(text + "\n" for line, remarks in lines for text in (line, *remarks)))
        p = tvms("check", "--format", "junit", "-", stdin=b'x = "\x01 <&> \xff" $\n')
        self.assertEqual(p.returncode, 1)
        xml.fromstring(p.stdout)

    def test_quiet_leaves_errors(self):
        p = tvms("fmt", "--check", "-q", self.path)
        self.assertEqual(len(re.findall(r": error\[", p.stderr.decode())), len(self.text_findings()))


MLP = source("corpus", "mlp_module.tvms")
UNFORMATTED = "from tvm.script import tirx as T\n\n\n@T.prim_func\ndef f(A: T.Buffer((4,), 'float32')):\n    A[0]  =  T.float32(1)\n"
FORMATTED = UNFORMATTED.replace("'", '"').replace("  =  ", " = ")
GOLDEN = "# RUN: print --dialect 0.27\n# WHY: a test of formats\n" + FORMATTED + "# EXPECT:\n"
FORMATS = re.findall(r'^FORMAT\(\w+, *\w+, *"([\w-]+)"', open(source("driver", "report_formats.def")).read(), re.M)
# RFC 3986: a path that is a relative or an absolute reference.
URI = re.compile(r"(?:[A-Za-z0-9\-._~!$&'()*+,;=@/]|%[0-9A-F]{2})+")
REGION = {"startLine", "startColumn", "endLine", "endColumn"}


def check_sarif(test, document):
    """The shape that SARIF 2.1.0 asks for, as far as it is used."""
    test.assertEqual((set(document), document["version"]), ({"$schema", "version", "runs"}, "2.1.0"))
    (run,) = document["runs"]
    test.assertEqual(set(run), {"tool", "invocations", "columnKind", "results", "properties"})
    driver = run["tool"]["driver"]
    test.assertEqual(set(driver), {"name", "version", "rules"})
    ids = [rule["id"] for rule in driver["rules"]]
    test.assertEqual(sorted(set(ids)), ids)
    test.assertEqual(set(ids), {result["ruleId"] for result in run["results"]}, "the rules that are used, and no others")
    (invocation,) = run["invocations"]
    test.assertIs(type(invocation["executionSuccessful"]), bool)
    for said in run["results"] + invocation["toolExecutionNotifications"]:
        test.assertIn(said["level"], ("error", "warning", "note"))
        test.assertTrue(said["message"]["text"])
        for location in said.get("locations", []) + said.get("relatedLocations", []):
            physical = location["physicalLocation"]
            test.assertTrue(URI.fullmatch(physical["artifactLocation"]["uri"]), physical)
            region = physical.get("region")
            if region:
                test.assertEqual(set(region), REGION)
                test.assertLessEqual((region["startLine"], region["startColumn"]), (region["endLine"], region["endColumn"]))
    return run


SEVERITIES = {"critical", "major", "minor", "info"}


def check_gitlab(test, document):
    """What the documentation of GitLab's Code Quality asks for."""
    for finding in document:
        test.assertEqual(set(finding), {"description", "check_name", "fingerprint", "severity", "location"})
        test.assertIn(finding["severity"], SEVERITIES)
        test.assertGreater(finding["location"]["positions"]["begin"]["line"], 0)
        test.assertFalse(finding["location"]["path"].startswith("./"))
    test.assertEqual(len({f["fingerprint"] for f in document}), len(document))
    return [f for f in document if f["severity"] in ("critical", "major")]


def check_junit(test, text):
    """The counts and the elements that readers of JUnit rely on; returns the cases that are not well."""
    root = xml.fromstring(text)
    test.assertEqual((root.tag, [child.tag for child in root]), ("testsuites", ["testsuite"]))
    suite = root[0]
    cases = list(suite)
    failures = [case for case in cases if case.find("failure") is not None]
    errors = [case for case in cases if case.find("error") is not None]
    test.assertEqual([suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")],
                     [str(len(cases)), str(len(failures)), str(len(errors)), "0"])
    for case in cases:
        test.assertEqual((case.tag, case.get("classname")), ("testcase", "tvms"))
        test.assertTrue(case.get("name"))
        test.assertLessEqual({child.tag for child in case}, {"failure", "error", "system-out", "system-err"})
        test.assertEqual(len({child.tag for child in case}), len(case))
    return failures + errors


def check_json_lines(test, text):
    lines = [json.loads(line) for line in text.splitlines()]
    test.assertTrue(all(len(line) == 1 and set(line) <= {"result", "finding"} for line in lines[:-1]), lines)
    document = {"version": 1, "results": [line["result"] for line in lines if "result" in line], "findings": [line["finding"] for line in lines if "finding" in line]}
    end = lines[-1]["end"]
    return check_json(test, dict(document, errors=end["errors"], warnings=end["warnings"])), end["status"]


def check_json(test, document):
    test.assertEqual(list(document), ["version", "results", "findings", "errors", "warnings"])
    severities = [finding["severity"] for finding in document["findings"]]
    test.assertEqual((severities.count("error"), severities.count("warning")), (document["errors"], document["warnings"]))
    for finding in document["findings"]:
        test.assertLessEqual({"code", "name", "severity", "message", "notes", "fixes"}, set(finding))
    return document


class EveryVerb(unittest.TestCase):
    """Results and findings of each verb, separated."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = place.name
        self.good = self.file("good file.tvms", FORMATTED)
        self.ugly = self.file("ugly%.tvms", UNFORMATTED)
        self.other = self.file("other.tvms", FORMATTED.replace("float32(1)", "float32(2)") + FORMATTED.replace("def f", "\n\ndef g"))
        self.wrong = self.file("wrong.tvms", FORMATTED.replace("A[0]", "B[0]"))
        self.holds = self.file("holds.tvms", GOLDEN + tvms("print", "--dialect", "0.27", self.good).stdout.decode())
        self.fails = self.file("fails.tvms", GOLDEN + "# something else\n")

    def file(self, name, text=""):
        path = os.path.join(self.place, name)
        if text:
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        return path

    def calls(self):
        """verb -> lists of (exit status, arguments)"""
        nowhere, scratch = self.file("nowhere"), self.file("scratch.tvms", UNFORMATTED)
        return {
            "check": [(0, [self.good]), (1, [self.wrong]), (2, [nowhere, self.good]), (2, ["--from", "9.9", self.good]), (0, ["--fix", scratch])],
            "print": [(0, [self.good, MLP]), (1, [self.good, self.wrong]), (2, [nowhere, self.good])],
            "fmt": [(0, [self.good]), (1, ["--check", self.ugly, self.good]), (0, ["--diff", self.ugly]), (0, ["-i", scratch]), (2, [self.good, self.ugly])],
            "migrate": [(0, ["--dialect", "0.22", self.good]), (1, ["--dialect", "0.22", "--check", self.good]), (2, [self.good])],
            "infer": [(0, [MLP, self.good]), (1, [self.wrong])],
            "opt": [(0, ["--passes", "LegalizeOps", MLP]), (0, ["--list"]), (1, ["--passes", "Nothing", MLP])],
            "reduce": [(0, ["--command", "false", self.good]), (1, ["--command", "true", self.good]), (2, [self.good])],
            "diff": [(0, [self.good, self.good]), (1, [self.good, self.other]), (2, [self.good, nowhere]), (2, [self.good])],
            "build": [(0, [self.good, "-o", self.file("x.o")]), (1, [self.wrong, "-o", self.file("x.o")]), (2, [self.good, "-o", self.file("x.exe")])],
            "dump": [(0, [MLP]), (1, [self.wrong]), (2, [nowhere])],
            "run": [(0, [MLP]), (1, [MLP, "--entry", "nothing"]), (2, [nowhere])],
            "bench": [(0, [MLP, "--repeat", "1", "--profile", "functions", "--backend", "interp"])],
            "test": [(0, [self.holds]), (1, [self.holds, self.fails]), (1, [nowhere])],
            "explain": [(0, ["E0201", "T.grid"]), (2, ["E9999"])],
        }

    def test_every_verb_writes_one_document(self):
        calls = self.calls()
        self.assertEqual(set(calls), verbs())
        for verb, arguments in ((v, a) for v in calls for a in calls[v]):
            for format_ in FORMATS:
                self.calls()  # what is changed in place is unformatted again
                status, words = arguments
                with self.subTest(verb=verb, words=words, format=format_):
                    p = tvms(verb, "--format", format_, *words)
                    self.assertEqual(p.returncode, status, p.stderr)
                    if format_ == "github":
                        errors = [line for line in p.stdout.decode().splitlines() if line.startswith("::error ")]
                    elif format_ == "concise":
                        errors = re.findall(r"^.+: error\[E\d{4}\]: .+$", p.stdout.decode(), re.M)
                    elif format_ == "json-lines":
                        document, ended = check_json_lines(self, p.stdout.decode())
                        self.assertEqual(ended, status)
                        errors = [f for f in document["findings"] if f["severity"] == "error"]
                    elif format_ == "gitlab":
                        errors = check_gitlab(self, json.loads(p.stdout))
                    elif format_ == "junit":
                        errors = check_junit(self, p.stdout.decode())
                    elif format_ == "json":
                        errors = [f for f in check_json(self, json.loads(p.stdout))["findings"] if f["severity"] == "error"]
                    else:
                        run = check_sarif(self, json.loads(p.stdout))
                        self.assertEqual(run["invocations"][0]["exitCode"], status)
                        errors = run["results"] + run["invocations"][0]["toolExecutionNotifications"]
                    self.assertEqual(bool(errors), status != 0, "who reads the document knows whether something is wrong")

    def findings(self, *words):
        document = check_json(self, json.loads(tvms(*words, "--format", "json").stdout))
        return document["results"], document["findings"]

    def test_texts_are_results(self):
        for words in (["print", self.good, MLP], ["opt", "--passes", "LegalizeOps", MLP], ["fmt", self.ugly], ["fmt", "--diff", self.ugly],
                      ["migrate", "--dialect", "0.22", self.good], ["run", MLP], ["explain", "E0201"], ["opt", "--list"]):
            with self.subTest(words=words):
                results, findings = self.findings(*words)
                self.assertEqual("".join(r["text"] for r in results), tvms(*words).stdout.decode())
                files = [word for word in words if word in (self.good, self.ugly, MLP)]
                self.assertEqual([r.get("file") for r in results], files or [None])
                self.assertEqual(findings, [])

    def test_texts_in_other_documents(self):
        """JUnit has them as output of the file's case, JSON lines as lines, and concise in front."""
        text = tvms("print", self.good, MLP).stdout.decode()
        cases = xml.fromstring(tvms("print", self.good, MLP, "--format", "junit").stdout).iter("testcase")
        self.assertEqual([(c.get("name"), c.find("failure")) for c in cases], [(self.good, None), (MLP, None)])
        cases = xml.fromstring(tvms("print", self.good, MLP, "--format", "junit").stdout).iter("testcase")
        self.assertEqual("".join(c.find("system-out").text for c in cases), text)
        document, _ = check_json_lines(self, tvms("print", self.good, MLP, "--format", "json-lines").stdout.decode())
        self.assertEqual("".join(r["text"] for r in document["results"]), text)
        self.assertEqual(tvms("print", self.good, MLP, "--format", "concise").stdout.decode(), text)

    def test_results_beside_findings(self):
        results, findings = self.findings("print", self.good, self.wrong)
        self.assertEqual([r["file"] for r in results], [self.good])
        self.assertEqual([f["file"] for f in findings], [self.wrong])

    def test_types_are_results(self):
        (result,), _ = self.findings("infer", MLP)
        self.assertEqual(result["file"], MLP)
        self.assertEqual(result["functions"][0]["name"], "main")

    def test_differences_are_findings(self):
        _, findings = self.findings("diff", self.good, self.other)
        changed = [f for f in findings if f["code"] == "E1009"]
        self.assertEqual([(f["file"], f["range"]["start"]["line"], f["message"]) for f in changed], [(self.good, 6, "f: value of 'value' differs")])
        self.assertEqual([(n["file"], n["range"]["start"]["line"], n["message"]) for n in changed[0]["notes"]],
                         [(self.good, 6, "T.float32(1.0)"), (self.other, 6, "T.float32(2.0)")])
        self.assertEqual([f["message"] for f in findings if f["code"] == "E1011"], [f"{self.good} has 1 definitions, {self.other} has 2"])
        module = 'from tvm.script import ir as I, tirx as T\n\n@I.ir_module\nclass Module:\n    @T.prim_func\n    def f(a: T.int32):\n        T.evaluate(a)\n'
        one = self.file("one.tvms", module)
        two = self.file("two.tvms", module + "\n    @T.prim_func\n    def g(a: T.int32):\n        T.evaluate(a)\n")
        _, (finding,) = self.findings("diff", one, two)
        self.assertEqual((finding["code"], finding["file"], finding["range"]["start"]["line"]), ("E1010", two, 10))
        self.assertEqual(finding["message"], f"g is only in {two}")

    def test_files_that_would_change_are_findings(self):
        for words, done in ((["fmt"], "formatted"), (["migrate", "--dialect", "0.22"], "migrated")):
            _, findings = self.findings(*words, "--check", self.good, self.ugly)
            with self.subTest(words=words):
                wanted = [self.ugly] if words == ["fmt"] else [self.good, self.ugly]
                self.assertEqual([(f["file"], f["code"], f["message"]) for f in findings], [(path, "E1102", f"the file is not {done}") for path in wanted])
        _, (finding,) = self.findings("fmt", "--check", self.ugly)
        self.assertEqual(finding["range"]["start"]["line"], 5)

    def test_golden_files(self):
        results, (finding,) = self.findings("test", self.holds, self.fails)
        self.assertTrue(all(r.pop("microseconds") > 0 for r in results))
        self.assertEqual(results, [{"file": self.holds, "passed": True}, {"file": self.fails, "passed": False}])
        self.assertEqual((finding["file"], finding["code"]), (self.fails, "E1008"))
        self.assertIn("something else", finding["notes"][0]["message"])

    def test_what_cannot_be_done_is_a_finding(self):
        nowhere = self.file("nowhere")
        _, (finding,) = self.findings("check", nowhere, self.good)
        self.assertEqual((finding["file"], finding["code"], finding["message"]), (nowhere, "E1007", "No such file or directory"))
        self.assertNotIn("range", finding)
        _, (finding,) = self.findings("check", self.good, "--from", "9.9")
        self.assertEqual(finding["message"], "option '--from': there is no release '9.9'; there are 0.22, 0.25, 0.26, 0.27")
        self.assertNotIn("file", finding)
        _, (finding,) = self.findings("check", MLP, "--fail-allocation", "9")
        self.assertEqual((finding["file"], finding["code"]), (MLP, "E1007"))
        p = tvms("check", nowhere, "--format", "github")
        self.assertEqual(p.stdout.decode(), f"::error file={nowhere},title=E1007::No such file or directory\n")

    def test_sarif_of_odd_names_and_of_remarks(self):
        """Blanks, percent signs and <stdin> are no URI; a remark without a place stands in the message."""
        p = tvms("check", "--format", "sarif", "-", stdin="from tvm.script import tirx as T\nx = T.gird(1)\n")
        run = check_sarif(self, json.loads(p.stdout))
        self.assertEqual([r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for r in run["results"]], ["%3Cstdin%3E"])
        p = tvms("diff", "--format", "sarif", self.good, self.other)
        uris = {l["physicalLocation"]["artifactLocation"]["uri"] for r in check_sarif(self, json.loads(p.stdout))["results"] for l in r["relatedLocations"]}
        self.assertIn(self.place + "/good%20file.tvms", uris)
        p = tvms("opt", "--passes", "legalise-ops", "--format", "sarif", MLP)
        (result,) = check_sarif(self, json.loads(p.stdout))["results"]
        self.assertEqual(result["message"]["text"],
                         "unknown pass or pipeline 'legalise-ops'\ndid you mean 'legalize-ops'?")


if __name__ == "__main__":
    main()
