#!/usr/bin/env python3
"""The tables against the tests: a diagnostic that no test provokes, a verb that none runs, a
golden or corpus file that is not fit to be one, a test script that no suite runs."""
import ast, json, os, re, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import TVMS, files_under, main, source, tvms, verbs
from release_tables import releases

# Scripts of tests/ that are started otherwise than as a suite.
HELPERS = {
    "run.py": "runs the suites",
    "coverage.py": "reports on a build of its own",
    "fuzz/run.py": "suites of builds with -Dfuzz=true",
    "oracle/ask.py": "run by a Python with stock TVM",
    "oracle/ask_callables.py": "run by a Python with stock TVM",
    "oracle/ask_models.py": "run by a Python with stock TVM",
    "oracle/ask_native.py": "run by a Python with stock TVM",
    "oracle/ask_networks.py": "run by a Python with stock TVM",
    "oracle/ask_operators.py": "run by a Python with stock TVM",
    "oracle/ask_paged.py": "run by a Python with stock TVM",
    "oracle/ask_vm.py": "run by a Python with stock TVM",
    "oracle/ask_generated.py": "run by a Python with stock TVM",
    "oracle/simplify.py": "records cases of a unit test",
}

DIAG = re.compile(r'^DIAG\((\w+),\s*(\d{4}),\s*(ERROR|WARNING|NOTE),\s*((?:"(?:[^"\\]|\\.)*"\s*)+),', re.M)


def text_of(*parts):
    with open(source(*parts), encoding="utf-8") as f:
        return f.read()


def diagnostics():
    """name, code with letter, pattern of its message; a message that is all argument matches nothing"""
    for name, code, severity, literals in DIAG.findall(text_of("support", "diag.def")):
        message = "".join(ast.literal_eval(s) for s in re.findall(r'"(?:[^"\\]|\\.)*"', literals))
        pieces = re.split(r"%(?:\d\$)?[-0-9.*]*(?:ll|l|z)?[a-zA-Z%]", message)
        own = any(re.search(r"\w", p) for p in pieces)
        pattern = ".*".join(re.escape(p) for p in pieces) if own else "(?!)"
        yield name, severity[0] + code, re.compile(pattern + r"\Z", re.S)


def expected_by_goldens():
    """Texts behind '# error:' and the like, and codes of FINDINGS."""
    texts, codes = set(), set()
    for path in files_under("tests/golden"):
        whole = text_of(path)
        codes.update(re.findall(r"(?:error|warning|note)\[([EWN]\d{4})\]", whole))
        for line in whole.splitlines():
            texts.update(p.strip() for p in re.split(r"#\s*(?:error|warning|note):", line)[1:])
    return texts, codes


def other_tests():
    found = []
    for folder in ("tests/unit", "tests/cli", "tests/oracle"):
        for suffix in (".c", ".py"):
            found += [text_of(path) for path in files_under(folder, suffix=suffix)]
    return "\n".join(found)


# Where code may name a release: what is expanded from the table of releases.
RELEASE_FILES = {"ir/dialect.h", "ir/dialect.c"}
# How often other files do. The number only goes down: what differs between releases is a FACT of ir/releases.def, or a
# row of a table.
RELEASE_BUDGET = 0


def production():
    """Files of C that are not tests, tools or measurements."""
    for suffix in (".c", ".h", ".re", ".y"):
        for path in files_under(".", suffix=suffix):
            name = os.path.relpath(path, source())
            if not name.startswith(("tests", "tools", "bench", "build", ".")):
                yield name


class Tables(unittest.TestCase):
    def test_code_asks_for_facts(self):
        named = re.compile(r"\bTVMS_DIALECT_(?:%s)\b" % "|".join(ident for ident, _, _ in releases(source())))
        # Releases in an order, or counted on, are named without a name.
        ordered = re.compile(r"\bdialect\b\s*(?:[<>]=?\s*[\w>.-]*\bdialect\b|[-+]\s*\d)")
        found = [f"{name}: {m}" for name in production() if name not in RELEASE_FILES
                 for m in named.findall(text_of(name)) + ordered.findall(text_of(name))]
        self.assertLessEqual(len(found), RELEASE_BUDGET, "ask for a fact of ir/releases.def: " + ", ".join(found))

    def test_facts_are_asked(self):
        code = "\n".join(text_of(name) for name in production())
        for fact in re.findall(r"^FACT\((\w+),", text_of("ir", "releases.def"), re.M):
            with self.subTest(fact=fact):
                self.assertRegex(code, rf"TVMS_FACT_(SINCE\()?{fact}\b")

    def test_every_diagnostic_is_provoked(self):
        texts, codes = expected_by_goldens()
        elsewhere = other_tests()
        for name, code, message in diagnostics():
            with self.subTest(code=code, name=name):
                seen = (code in codes or f"TVMS_D_{name}" in elsewhere or code in elsewhere
                        or any(message.match(t) or (t.endswith("...") and message.match(t[:-3])) for t in texts))
                self.assertTrue(seen, f"no test provokes {code} ({name})")

    def test_every_operator_has_a_golden(self):
        for name in re.findall(r'^OP\(\w+, "([\w.]+)"', text_of("ir", "ops.def"), re.M):
            with self.subTest(operator=name):
                self.assertTrue(os.path.exists(source("tests", "golden", "ops", name.replace(".", "-") + ".tvms")))

    def test_no_pass_is_missing_that_is_there(self):
        there = re.findall(r"^PASS\((\w+),", text_of("passes", "passes.def"), re.M)
        missing = re.findall(r"^MISSING\((\w+),", text_of("passes", "missing.def"), re.M)
        self.assertEqual(sorted(set(there) & set(missing)), [], "take these rows out of passes/missing.def")
        self.assertEqual(sorted(name for name in set(missing) if missing.count(name) > 1), [], "rows of passes/missing.def")

    def test_every_format_is_an_option(self):
        words = re.findall(r'^FORMAT\(\w+, *\w+, *"([\w-]+)"', text_of("driver", "report_formats.def"), re.M)
        (choice,) = re.findall(r'^OPTION\(format,.*?CHOICE, "([^"]*)"', text_of("cli", "options.def"), re.M)
        self.assertEqual(choice.split("|"), ["text", *words])

    def test_codes_are_unique(self):
        codes = [code[1:] for _, code, _ in diagnostics()]
        self.assertEqual(sorted(c for c in set(codes) if codes.count(c) > 1), [])

    def test_every_verb_is_run(self):
        elsewhere = other_tests()
        runs = {m for path in files_under("tests/golden") for m in re.findall(r"^# RUN: (\w+)", text_of(path), re.M)}
        for verb in verbs():
            with self.subTest(verb=verb):
                self.assertTrue(verb in runs or f'"{verb}"' in elsewhere)

    def test_every_diagnostic_is_documented(self):
        for _, code, _ in diagnostics():
            with self.subTest(code=code):
                self.assertEqual(tvms("explain", code).returncode, 0)

    def test_every_rule_has_a_line(self):
        page = text_of("docs", "linting.md")
        codes = {name: code for name, code, _ in diagnostics()}
        for name, on in re.findall(r"^RULE\((\w+), (\w+),", text_of("lint", "rules.def"), re.M):
            with self.subTest(rule=name):
                self.assertIn(f"| {codes[name]} | `{name}` | {on.lower()} |", page, "a row of docs/linting.md")

    def test_goldens_are_python(self):
        for path in files_under("tests/golden"):
            with self.subTest(path=path):
                whole = text_of(path)
                # Type parameters are beyond a Python before 3.12.
                newer = re.search(r"^\s*(def|class) \w+\[", whole, re.M) and sys.version_info < (3, 12)
                if "# error" not in whole and "# FINDINGS" not in whole and not newer:
                    ast.parse(whole)

def build_information(name):
    """What meson knows of the build that the program under test stands in."""
    with open(os.path.join(os.path.dirname(TVMS), "meson-info", name), encoding="utf-8") as f:
        return json.load(f)


class Suites(unittest.TestCase):
    def setUp(self):
        options = {o["name"]: o["value"] for o in build_information("intro-buildoptions.json")}
        if not options["llvm"]:
            self.skipTest("a build without LLVM lacks the suites of native code")
        self.commands = [word for test in build_information("intro-tests.json") for word in test["cmd"]]

    def test_every_script_is_a_suite(self):
        started = {os.path.realpath(word) for word in self.commands}
        for path in files_under("tests", suffix=".py"):
            name = os.path.relpath(path, source("tests"))
            if "if __name__ ==" not in text_of(path) or name in HELPERS:
                continue
            with self.subTest(script=name):
                self.assertTrue(os.path.realpath(path) in started, f"{name} is in no suite of tests/meson.build")

    def test_every_measurement_is_documented(self):
        page = text_of("bench", "README.md")
        for path in files_under("bench", suffix=".py"):
            name = os.path.relpath(path, source())
            if "if __name__ ==" in text_of(path):
                with self.subTest(script=name):
                    self.assertIn(name, page, f"{name} is in no suite, and bench/README.md does not say what it measures")

    def test_every_unit_test_is_a_suite(self):
        started = {os.path.basename(word) for word in self.commands}
        for path in files_under("tests/unit", suffix=".c"):
            name = os.path.basename(path)[: -len(".c")]
            if name.startswith("test_"):
                with self.subTest(program=name):
                    self.assertTrue(name in started, f"{name}.c is not listed in tests/unit/meson.build")

    def test_a_folder_without_tests_is_told_from_one_whose_tests_fail(self):
        with tempfile.TemporaryDirectory() as folder:
            for options, text in ((None, "is not a build folder"), ([{"name": "tests", "value": False}], "-Dtests=true")):
                if options:
                    os.mkdir(os.path.join(folder, "meson-info"))
                    with open(os.path.join(folder, "meson-info", "intro-buildoptions.json"), "w", encoding="utf-8") as f:
                        json.dump(options, f)
                with self.subTest(text=text):
                    p = subprocess.run([sys.executable, source("tests", "run.py"), folder], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
                    self.assertEqual(p.returncode, 1)
                    self.assertIn(text, p.stdout)
                    self.assertTrue(p.stdout.endswith("0 passed, 1 failed\n"), p.stdout)

    def test_helpers_exist(self):
        for name in HELPERS:
            with self.subTest(script=name):
                self.assertTrue(os.path.exists(source("tests", name)))


if __name__ == "__main__":
    main()
