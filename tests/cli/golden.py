#!/usr/bin/env python3
"""The golden runner itself: no file may pass without an expectation that can fail."""
import os, re, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, tvms, verbs

WHOLE = "# RUN: fmt\n# WHY: self-test\nx = 1\n# EXPECT:\nx = 1\n"


class Judge:
    def judge(self, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "case.tvms")
            with open(path, "w") as f:
                f.write(text)
            p = tvms("test", *options, path)
            with open(path) as f:
                return p.returncode, p.stdout.decode(), f.read()

class Directives(Judge, unittest.TestCase):
    def rejected(self, text, said):
        status, out, _ = self.judge(text)
        self.assertEqual(status, 1, out)
        self.assertIn(said, out)
        self.assertTrue(out.endswith("0 passed, 1 failed\n"), out)

    def test_misspelt_expect(self):
        for wrong in ("EXPCT", "Expect", "expect", "EXPECTS", "EXPEC"):
            self.rejected(f"# RUN: fmt\n# WHY: x\nx\n# {wrong}:\nx\n", f"error[E1001]: unknown directive '{wrong}'")

    def test_misspelt_run(self):
        self.rejected("# RUNN: fmt\n# WHY: x\nx\n# EXPECT:\nx\n", "did you mean '# RUN:'?")

    def test_misspelt_annotation(self):
        self.rejected("# RUN: fmt\n# WHY: x\nx  # eror: y\n# EXPECT:\n", "unknown directive 'eror'")

    def test_annotations_in_other_words(self):
        for wrong in ("Error", "ERROR", "errors", "err", "warn", "Warning", "expect", "expected"):
            self.rejected(f"# RUN: fmt\n# WHY: x\nx  # {wrong}: y\n# EXPECT:\nx\n", f"error[E1001]: unknown directive '{wrong}'")
        for right in ("# error : y", "#error: y", "#  error [E0201]: y"):
            self.rejected(f"# RUN: fmt\n# WHY: x\nx  {right}\n# EXPECT:\nx\n", ":3: not reported: y")

    def test_text_behind_a_section(self):
        self.rejected("# RUN: fmt\n# WHY: x\nx\n# EXPECT: x\n", "error[E1001]: unknown directive 'x'")

    def test_unknown_shouting_word(self):
        self.rejected("# RUN: fmt\n# WHY: x\n# NONSENSE: x\nx\n# EXPECT:\nx\n", "unknown directive 'NONSENSE'")

    def test_no_run(self):
        self.rejected("# WHY: x\nx\n# EXPECT:\nx\n", "error[E1005]: the file has no '# RUN:'")

    def test_no_why(self):
        self.rejected("# RUN: fmt\nx\n# EXPECT:\nx\n", "the file has no '# WHY:'")

    def test_empty_why(self):
        self.rejected("# RUN: fmt\n# WHY:\nx\n# EXPECT:\nx\n", "the file has no '# WHY:'")

    def test_no_expectation(self):
        self.rejected("# RUN: fmt\n# WHY: x\nx\n", "the file has no '# EXPECT:'")

    def test_unknown_verb(self):
        self.rejected("# RUN: rm -rf\n# WHY: x\nx\n# EXPECT:\nx\n", "error[E1002]: RUN names a verb")

    def test_run_below_the_program(self):
        self.rejected("# RUN: fmt\n# WHY: x\nx\n# RUN: fmt\n# EXPECT:\nx\n", "error[E1004]: '# RUN:' belongs in the header")

    def test_counts_of_runs_and_expectations(self):
        self.rejected("# RUN: fmt\n# WHY: x\nx\n# EXPECT:\nx\n# EXPECT:\nx\n", "error[E1006]: 2 EXPECT sections for 1 RUN lines")

    def test_status_that_is_none(self):
        self.rejected("# RUN: fmt\n# STATUS: 7\n# WHY: x\nx\n# EXPECT:\nx\n", "error[E1003]: STATUS must be 0 or 1")

    def test_no_file_is_no_success(self):
        with tempfile.TemporaryDirectory() as folder:
            p = tvms("test", folder)
        self.assertEqual(p.returncode, 1)
        self.assertEqual(p.stdout, b"0 passed, 0 failed\n")


@unittest.skipUnless("fmt" in verbs(), "this build has no fmt")
class Formatting(Judge, unittest.TestCase):
    def test_right_expectation(self):
        status, out, _ = self.judge(WHOLE)
        self.assertEqual((status, out), (0, "1 passed, 0 failed\n"))

    def test_wrong_expectation_shows_the_difference(self):
        status, out, text = self.judge(WHOLE.replace("x = 1\n# E", "x = 2\n# E"))
        self.assertEqual(status, 1)
        self.assertIn("-x = 1\n+x = 2\n", out)

    def test_bless_rewrites_the_expectation_only(self):
        wrong = WHOLE.replace("x = 1\n# E", "x =   2\n# E")
        status, out, text = self.judge(wrong, "--bless")
        self.assertEqual((status, text), (0, wrong.replace("EXPECT:\nx = 1", "EXPECT:\nx = 2")), out)

    def test_bless_refuses_after_an_error(self):
        broken = WHOLE.replace("x = 1\n# E", "x = (\n# E")
        status, out, text = self.judge(broken, "--bless")
        self.assertEqual((status, text), (1, broken))
        self.assertIn("not blessed", out)

    def test_error_that_is_not_reported(self):
        status, out, _ = self.judge("# RUN: fmt\n# WHY: x\nx = 1  # error: bad\n")
        self.assertEqual(status, 1)
        self.assertIn("case.tvms:3: not reported: bad", out)

    def test_error_that_nobody_expects(self):
        status, out, _ = self.judge("# RUN: fmt\n# WHY: x\nx = (\n# EXPECT:\n")
        self.assertEqual(status, 1)
        self.assertIn("nothing expects this finding", out)


MODULE = """from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((2, 3), "float32")) -> R.Tensor((2, 3), "float32"):
        a = R.add(x, x)
        b = R.multiply(a, a)
        return b
"""


class Checks(Judge, unittest.TestCase):
    """Lines CHECK against what print writes: a is bound in line 8 of the output, b in line 9."""

    def checks(self, *lines, run="print --dialect 0.27"):
        status, out, _ = self.judge(f"# RUN: {run}\n# WHY: x\n" + MODULE + "".join(f"# {line}\n" for line in lines))
        return status, out

    def test_what_holds(self):
        for lines in (["CHECK: R.add"], ["CHECK: R.add", "CHECK: R.multiply"], ["CHECK: R.add", "CHECK-NEXT: R.multiply", "CHECK-NEXT: return"],
                      ["CHECK-NOT: R.subtract"], ["CHECK-NOT: R.multiply", "CHECK: R.add"], ["CHECK: R.multiply", "CHECK-NOT: R.add"],
                      ["CHECK: [[v]]: R.Tensor[[*]] = R.add(x, x)", "CHECK-NEXT: = R.multiply([[v]], [[v]])"],
                      ["CHECK:   = \t R.add(x,   x)  "], ["CHECK: return [[v]]", "CHECK-NOT: return"], ["CHECK: def [[f]]([[x]]:", "CHECK: R.add([[x]], [[x]])"]):
            with self.subTest(lines=lines):
                self.assertEqual(self.checks(*lines), (0, "1 passed, 0 failed\n"))

    def test_what_does_not_hold(self):
        for said, lines in (("no line that follows has: R.subtract", ["CHECK: R.subtract"]), ("no line that follows has: R.add", ["CHECK: R.multiply", "CHECK: R.add"]),
                            ("the next line is another one than: return", ["CHECK: R.add", "CHECK-NEXT: return"]), ("line 8 of the output", ["CHECK-NOT: R.add"]),
                            ("must not be there: R.add", ["CHECK-NOT: R.add", "CHECK: R.multiply"]), ("must not be there: return", ["CHECK: R.add", "CHECK-NOT: return"]),
                            ("no line that follows has: R.add([[a]], [[a]]) [[a]]", ["CHECK: R.add([[a]], [[a]]) [[a]]"]),
                            ("another one than: R.multiply([[x]], [[x]])", ["CHECK: R.add([[x]], [[x]])", "CHECK-NEXT: R.multiply([[x]], [[x]])"]),
                            ("no line that follows has: R.ad([[*]]", ["CHECK: R.ad([[*]]"]), ("no line that follows has: [[x]]dd", ["CHECK: def main", "CHECK: [[x]]dd(x, x)"])):
            with self.subTest(lines=lines):
                status, out = self.checks(*lines)
                self.assertEqual(status, 1)
                self.assertIn(said, out)

    def test_misspelt(self):
        for said, lines in (("error[E1001]: unknown directive 'CHECK-NXT'", ["CHECK: R.add", "CHECK-NXT: x"]), ("error[E1001]: unknown directive 'CHEK'", ["CHEK: R.add", "CHECK: x"]),
                            ("error[E1040]: '# CHECK:' finds nothing", ["CHECK:"]), ("error[E1040]: '# CHECK-NEXT:' finds nothing", ["CHECK-NEXT: x"])):
            with self.subTest(lines=lines):
                status, out = self.checks(*lines)
                self.assertEqual(status, 1)
                self.assertIn(said, out)
        status, out, _ = self.judge("# RUN: print\n# WHY: x\n" + MODULE + "# CHECK: R.add\nx = 1\n")
        self.assertIn("error[E1042]", out)

    def test_bless_leaves_them(self):
        text = "# RUN: print --dialect 0.27\n# WHY: x\n" + MODULE + "# CHECK: R.add\n# a remark\n# EXPECT:\nx\n"
        status, out, blessed = self.judge(text, "--bless")
        self.assertEqual(status, 0, out)
        self.assertTrue(blessed.startswith(text[:-2] + "# from tvm.script import"), blessed)
        wrong = text.replace("R.add\n# a", "R.subtract\n# a")
        self.assertEqual(self.judge(wrong, "--bless")[::2], (1, wrong))


class Programs(Judge, unittest.TestCase):
    HEAD = "# RUN: print --dialect 0.27\n# WHY: x\n"

    def test_several(self):
        two = "# PROGRAM: one\n" + MODULE + "# CHECK: R.add\n# PROGRAM: two\n" + MODULE + "# CHECK: R.%s\n"
        self.assertEqual(self.judge(self.HEAD + two % "multiply")[:2], (0, "1 passed, 0 failed\n"))
        status, out, _ = self.judge(self.HEAD + two % "divide")
        self.assertEqual(status, 1)
        self.assertIn("case.tvms:24: no line that follows has: R.divide", out)
        self.assertIn("program 'two' does not hold", out)
        self.assertNotIn("'one'", out)

    def test_own_header_and_lines_of_findings(self):
        text = self.HEAD + "# PROGRAM: one\n" + MODULE + "# CHECK: R.add\n# PROGRAM: two\n# RUN: check\n" + MODULE.replace("add(x, x)", "add(x, w)  # error: name 'w' is not defined")
        self.assertEqual(self.judge(text)[:2], (0, "1 passed, 0 failed\n"))
        self.assertIn("case.tvms:22: nothing expects this finding", self.judge(text.replace("  # error: name 'w' is not defined", "") + "# CHECK-NOT: x\n")[1])

    def test_bless(self):
        text = self.HEAD + "\n# PROGRAM: one\n" + MODULE + "# EXPECT:\n# PROGRAM: two\n" + MODULE.replace("R.add", "R.divide") + "# EXPECT:\nx\n"
        status, out, blessed = self.judge(text, "--bless")
        self.assertEqual(status, 0, out)
        self.assertEqual([line for line in blessed.splitlines() if line.startswith(("# PROGRAM", "# EXPECT"))], ["# PROGRAM: one", "# EXPECT:", "# PROGRAM: two", "# EXPECT:"])
        self.assertEqual(self.judge(blessed)[:2], (0, "1 passed, 0 failed\n"))

    def test_wrong(self):
        for code, text in (("E1043", self.HEAD + "# PROGRAM: a\nx = 1\n# CHECK: x\n# PROGRAM: a\nx = 1\n# CHECK: x\n"), ("E1043", self.HEAD + "# PROGRAM:\nx = 1\n# CHECK: x\n"),
                           ("E1044", self.HEAD + "x = 1\n# PROGRAM: a\nx = 1\n# CHECK: x\n"), ("E1005", self.HEAD + "# PROGRAM: a\nx = 1\n"), ("E1005", "# PROGRAM: a\n# RUN: print\nx = 1\n# CHECK: x\n")):
            with self.subTest(text=text):
                status, out, _ = self.judge(text)
                self.assertEqual(status, 1)
                self.assertIn(f"error[{code}]", out)


class Values(Judge, unittest.TestCase):
    HEAD = "# RUN: opt --passes LegalizeOps --dialect 0.27\n# WHY: x\n# VALUES:%s\n"

    def test_what_keeps_them(self):
        for tolerance in ("", " 0", " 1e-6"):
            self.assertEqual(self.judge(self.HEAD % tolerance + MODULE)[:2], (0, "1 passed, 0 failed\n"))

    def test_what_changes_them(self):
        with tempfile.TemporaryDirectory() as folder:
            command = os.path.join(folder, "wrong-pass")
            with open(command, "w") as f:
                f.write("#!/bin/sh\nexec sed 's/R.multiply(a, a)/R.add(a, a)/'\n")
            os.chmod(command, 0o755)
            status, out, _ = self.judge(self.HEAD % "" + MODULE, "--opt-with", command)
            self.assertEqual(status, 1)
            self.assertIn("the values are not the same:\n", out)
            self.assertIn("error[E0891]: 'main' computes something else", out)
            with open(command, "w") as f:
                f.write("#!/bin/sh\nexec sed 's/R.multiply(a, a)/R.multiply(a, R.add(a, R.const(0.00001, \"float32\")))/'\n")
            self.assertEqual(self.judge(self.HEAD % " 1e-3" + MODULE, "--opt-with", command)[0], 0)
            self.assertEqual(self.judge(self.HEAD % " 1e-7" + MODULE, "--opt-with", command)[0], 1)

    def test_what_cannot_be_compared_does_not_hold(self):
        status, out, _ = self.judge(self.HEAD % "" + MODULE.replace("R.multiply(a, a)", 'R.call_dps_packed("unknown", (a,), out_ty=R.Tensor((2, 3), "float32"))'))
        self.assertEqual(status, 1)
        self.assertIn("is not compared", out)

    def test_wrong(self):
        for tolerance in (" x", " -1", " nan"):
            self.assertIn("error[E1041]", self.judge(self.HEAD % tolerance + MODULE)[1])
        self.assertIn("error[E1041]", self.judge((self.HEAD % "").replace("opt --passes LegalizeOps", "print") + MODULE)[1])


class Other(Judge, unittest.TestCase):
    """--opt-with: somebody else's passes."""

    def test_command(self):
        with tempfile.TemporaryDirectory() as folder:
            command = os.path.join(folder, "other pass")
            with open(command, "w") as f:
                f.write('#!/bin/sh\n[ "$*" = "word --passes Mine{a=1} --dialect 0.27" ] || { echo "called with $*" >&2; exit 1; }\nexec sed s/R.add/R.subtract/\n')
            os.chmod(command, 0o755)
            text = "# RUN: opt --passes 'Mine{a=1}' --dialect 0.27\n# WHY: x\n" + MODULE + "# CHECK: R.subtract\n"
            self.assertEqual(self.judge(text, "--opt-with", f"'{command}' word")[:2], (0, "1 passed, 0 failed\n"))
            status, out, _ = self.judge(text, "--opt-with", f"'{command}'")
            self.assertEqual(status, 1)
            self.assertIn("called with --passes Mine{a=1} --dialect 0.27", out)
            status, out, _ = self.judge(text, "--opt-with", "/no/such/command")
            self.assertEqual(status, 1)
            self.assertIn("No such file", out)
        self.assertEqual(self.judge(text, "--opt-with", " ")[0], 2)


class Habits(unittest.TestCase):
    """--filter, times, and what --bless says."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = place.name
        for name, text in (("good", WHOLE), ("old", WHOLE.replace("x = 1\n# E", "x =  2\n# E")), ("older", WHOLE.replace("x = 1\n# E", "x =  3\n# E"))):
            with open(self.path(name), "w") as f:
                f.write(text)

    def path(self, name):
        return os.path.join(self.place, name + ".tvms")

    def read(self, name):
        with open(self.path(name)) as f:
            return f.read()

    def test(self, *options, stdin=b""):
        p = tvms("test", *options, self.place, stdin=stdin)
        return p.returncode, p.stdout.decode()

    def test_filter(self):
        self.assertEqual(self.test("--filter", "good"), (0, "1 passed, 0 failed\n"))
        self.assertTrue(self.test("--filter", "old")[1].endswith("0 passed, 2 failed\n"))
        self.assertEqual(self.test("--filter", "nothing")[0], 1)

    def test_times(self):
        _, out = self.test("-v", "--filter", "good")
        self.assertRegex(out, r"^ok    +\d+\.\d{3} s  .*good\.tvms\n")
        p = tvms("test", "--format", "junit", self.place)
        self.assertEqual(len(re.findall(r'<testcase classname="tvms" name="[^"]*" time="\d+\.\d{3}">', p.stdout.decode())), 3)
        self.assertIn('tests="3" failures="2" errors="0"', p.stdout.decode())

    def test_bless_shows_and_counts(self):
        status, out = self.test("--bless")
        self.assertEqual(status, 0)
        self.assertTrue(out.endswith("1 passed, 0 failed, 2 blessed\n"), out)
        self.assertIn("-x = 1\n+x = 2\n", out)
        self.assertEqual(self.test("--bless"), (0, "3 passed, 0 failed, 0 blessed\n"))

    def test_interactive(self):
        status, out = self.test("--bless", "--interactive", stdin=b"what\nn\ny\n")
        self.assertEqual(status, 1)
        self.assertTrue(out.endswith("1 passed, 1 failed, 1 blessed\n"), out)
        self.assertEqual(out.count("write it?"), 3)
        self.assertIn("-x = 1\n+x = 3\n", out)
        self.assertIn("EXPECT:\nx = 1", self.read("old"))
        self.assertIn("EXPECT:\nx = 3", self.read("older"))

    def test_interactive_all_and_the_end(self):
        self.assertTrue(self.test("--bless", "--interactive")[1].endswith("1 passed, 2 failed, 0 blessed\n"))
        self.assertTrue(self.test("--bless", "--interactive", stdin=b"q\n")[1].endswith("1 passed, 2 failed, 0 blessed\n"))
        self.assertTrue(self.test("--bless", "--interactive", stdin=b"a\n")[1].endswith("1 passed, 0 failed, 2 blessed\n"))
        self.assertEqual(self.test("--interactive")[0], 2)


if __name__ == "__main__":
    main()
