#!/usr/bin/env python3
"""The golden runner itself: no file may pass without an expectation that can fail."""
import os, sys, tempfile, unittest

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


if __name__ == "__main__":
    main()
