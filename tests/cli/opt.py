#!/usr/bin/env python3
"""opt around its passes: what is shown between them, times, reproducers, pipelines in files, where results go."""
import json, os, re, sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import Scratch, main, source, tvms

GOOD = source("corpus", "mlp_module.tvms")
UNROLLED = """from tvm.script import tirx as T

@T.prim_func
def main(a: T.Buffer((4,), "float32"), n: T.int32):
    for i in T.unroll(n):
        a[i] = T.float32(1)
"""
TWO_LOOPS = """from tvm.script import ir as I, tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def plain(A: T.Buffer((4,), "float32")):
        for i in range(4):
            A[i] = T.float32(1)

    @T.prim_func(s_tir=True)
    def unrolled(A: T.Buffer((4,), "float32"), B: T.Buffer((1,), "int32")):
        for i in T.unroll(2):
            A[i] = T.float32(1)
"""
SCALED = """from tvm.script import ir as I, tirx as T

@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(a: T.handle, n: T.int32, b: T.handle, s: T.float32):
        m = T.int32()
        A = T.match_buffer(a, (n, m), "float32")
        B = T.match_buffer(b, (n, m * 2), "float16")
        for i, j in T.grid(n, m):
            B[i, j * 2] = T.Cast("float16", A[i, j] * s)
            B[i, j * 2 + 1] = T.Cast("float16", A[i, j])
"""


class Passes(Scratch):
    def test_stop_after_and_print_changed_and_timing(self):
        p = tvms("opt", "--passes", "LowerInitBlock,ConvertBlocksToOpaque", "--stop-after", "1", "--print-changed", "--timing", GOOD)
        self.assertEqual(p.returncode, 0)
        said = p.stderr.decode()
        self.assertIn("# after LowerInitBlock\n", said)
        self.assertNotIn("# after ConvertBlocksToOpaque", said)
        self.assertRegex(said, r"\A(.*\n)*# after LowerInitBlock\n(.*\n)* +[\d.]+ ms 100.0 %  all\n( .*\n)*\Z")

    def test_timing_is_a_tree(self):
        p = tvms("opt", "--passes", "lower,RemoveNoOp", "--timing", "--verify-each", GOOD)
        rows = [re.fullmatch(r" *([\d.]+) ms +([\d.]+) %  ( *)(\w[\w-]*)", line) for line in p.stderr.decode().splitlines()]
        self.assertEqual([(len(r.group(3)) // 2, r.group(4)) for r in rows],
                         [(0, "all"), (1, "reading"), (1, "passes"), (2, "lower"), (3, "lower-blocks"), (4, "LowerInitBlock"),
                          (4, "ConvertBlocksToOpaque"), (4, "LowerMatchBuffer"), (4, "LowerOpaqueBlock"), (3, "FlattenBuffer"), (3, "UnrollLoop"),
                          (3, "StmtSimplify"), (3, "RemoveNoOp"), (2, "RemoveNoOp"), (1, "verification"), (1, "printing")])
        self.assertAlmostEqual(sum(float(r.group(1)) for r in rows if len(r.group(3)) == 2), float(rows[0].group(1)), delta=0.01)

    def test_timing_names_passes_that_a_pass_runs(self):
        p = tvms("opt", "--passes", "RemoveAssume", "--timing", GOOD)
        self.assertRegex(p.stderr.decode(), r"%      RemoveAssume\n.*%        RemoveNoOp\n")

    def test_timing_in_a_document(self):
        for form, results in (("json", lambda d: d["results"]), ("sarif", lambda d: d["runs"][0]["properties"]["results"])):
            with self.subTest(form=form):
                p = tvms("opt", "--passes", "lower-blocks", "--timing", "--format", form, GOOD)
                self.assertEqual((p.returncode, p.stderr), (0, b""))
                tree = [r["timing"] for r in results(json.loads(p.stdout)) if "timing" in r][0]
                self.assertEqual([part["name"] for part in tree["parts"]], ["reading", "passes", "verification", "printing"])
                self.assertEqual(tree["parts"][1]["parts"][0]["name"], "lower-blocks")

    def test_reproducer_is_a_file_that_opt_reads(self):
        p = tvms("opt", "--passes", "LowerInitBlock,LowerOpaqueBlock", "--reproducer", self.path, GOOD)
        self.assertEqual((p.returncode, p.stdout), (1, b""))
        self.assertTrue(self.text().startswith("# RUN: opt --dialect 0.22 --passes 'LowerOpaqueBlock'\n"), self.text()[:200])
        self.assertNotIn("T.init()", self.text())
        self.assertEqual(tvms("check", self.path).returncode, 0)
        again = tvms("opt", self.path)
        self.assertEqual(again.returncode, 1)
        self.assertIn(b"error[E0805]", again.stderr)
        self.assertEqual(tvms("opt", "--stop-after", "0", self.path).returncode, 0)

    def test_reproducer_runs_as_it_was_run(self):
        p = tvms("opt", "--from", "0.22", "--dialect", "0.25", "--verify-each", "--passes", "LowerInitBlock,LowerOpaqueBlock", "--reproducer",
                 self.path, GOOD)
        self.assertEqual(p.returncode, 1, p.stderr)
        self.assertTrue(self.text().startswith("# RUN: opt --from 0.22 --dialect 0.25 --verify-each --passes 'LowerOpaqueBlock'\n"),
                        self.text()[:200])
        self.assertIn(b"error[E0805]", tvms("opt", self.path).stderr)

    def test_reproducer_is_there_when_a_pass_does_not_come_back(self):
        for n in range(100, 100000, 50):
            p = tvms("opt", "--passes", "LowerInitBlock,StmtSimplify", "--reproducer", self.path, "--fail-allocation", str(n), GOOD)
            if p.returncode == 0 or os.path.exists(self.path):
                break
        self.assertEqual(p.returncode, 3)
        self.assertEqual(tvms("opt", self.path).stdout, tvms("opt", "--passes", "LowerInitBlock,StmtSimplify", GOOD).stdout)

    def test_reproducer_goes_if_nothing_failed(self):
        p = tvms("opt", "--passes", "LowerInitBlock", "--reproducer", self.path, GOOD)
        self.assertEqual((p.returncode, p.stderr), (0, b""))
        self.assertFalse(os.path.exists(self.path))

    def test_options_of_the_first_line_can_be_wrong(self):
        for line, says in (("opt --pases lower", "its first line: unknown option '--pases'; did you mean '--passes'?"),
                           ("opt --passes lower other.tvms", "its first line names files")):
            with open(self.path, "w", encoding="utf-8") as f:
                f.write(f"# RUN: {line}\n")
            p = tvms("opt", self.path)
            self.assertEqual((p.returncode, p.stdout, p.stderr.decode()), (2, b"", f"tvms: {self.path}: {says}\n"))

    def test_output_goes_into_a_file(self):
        p = tvms("opt", "--passes", "LowerInitBlock", "-o", self.path, GOOD)
        self.assertEqual((p.returncode, p.stdout, p.stderr), (0, b"", b""))
        self.assertEqual(self.text().encode(), tvms("opt", "--passes", "LowerInitBlock", GOOD).stdout)
        for option in ("--output", "--reproducer"):
            p = tvms("opt", "--passes", "LowerInitBlock", option, self.path, GOOD, GOOD)
            self.assertEqual(p.returncode, 2)
            self.assertIn(f"option '{option}' takes exactly one file".encode(), p.stderr)

    def test_reproducer_of_the_first_pass_holds_what_was_read(self):
        p = tvms("opt", "--passes", "LowerOpaqueBlock", "--reproducer", self.path, GOOD)
        self.assertEqual(p.returncode, 1)
        self.assertIn("T.init()", self.text())

    def test_reproducer_names_the_passes_of_a_pipeline_that_were_still_to_come(self):
        unrolled = os.path.join(self.folder.name, "unrolled.tvms")
        with open(unrolled, "w", encoding="utf-8") as f:
            f.write(UNROLLED)
        p = tvms("opt", "--passes", "lower,LegalizeOps", "--reproducer", self.path, unrolled)
        self.assertEqual(p.returncode, 1, p.stderr)
        self.assertTrue(self.text().startswith("# RUN: opt --dialect 0.27 --passes 'UnrollLoop,StmtSimplify,RemoveNoOp,LegalizeOps'\n"),
                        self.text()[:200])

    def pipeline(self, text):
        path = os.path.join(self.folder.name, "my.passes")
        with open(path, "wb") as f:
            f.write(text)
        return path, tvms("opt", "--passes", "@" + path, GOOD)

    def test_pipeline_in_a_file(self):
        wanted = tvms("opt", "--passes", "LowerInitBlock,UnrollLoop{auto_max_step=4},lower", GOOD).stdout
        for text in (b"LowerInitBlock, UnrollLoop{auto_max_step=4}\nlower", b"# first\n\n  LowerInitBlock # and\nUnrollLoop{ # why\n auto_max_step=4}\n,lower,\n# end",
                     b"LowerInitBlock\r\nUnrollLoop{auto_max_step=4}\r\nlower\r\n"):
            with self.subTest(text=text):
                p = self.pipeline(text)[1]
                self.assertEqual((p.returncode, p.stderr, p.stdout), (0, b"", wanted))

    def test_errors_of_a_pipeline_stand_in_its_file(self):
        for text, says in ((b"# x\nLowerInitBlock\n  UnrolLoop\n", b":3:3: error[E0801]: unknown pass or pipeline 'UnrolLoop'"),
                           (b"LowerInitBlock UnrollLoop\n", b":1:16: error[E0802]: expected ',' or a new line in the pipeline"),
                           (b"SkipAssert\0lower\n", b":1:11: error[E0802]: expected ',' or a new line in the pipeline"),
                           (b"lower\nUnrollLoop{\n  auto_max_step=many }", b":3:17: error[E0804]: the value of option 'auto_max_step' must be an integer")):
            with self.subTest(text=text):
                path, p = self.pipeline(text)
                self.assertEqual((p.returncode, p.stdout), (1, b""))
                self.assertTrue(p.stderr.startswith(path.encode() + says), p.stderr)

    def test_pipeline_of_no_file(self):
        p = tvms("opt", "--passes", "@/nowhere", GOOD)
        self.assertEqual((p.returncode, p.stdout, p.stderr), (2, b"", b"tvms: /nowhere: No such file or directory\n"))

    def test_print_changed_shows_what_a_pass_changed(self):
        p = tvms("opt", "--passes", "LowerInitBlock,LowerInitBlock", "--print-changed", GOOD)
        said = p.stderr.decode()
        self.assertTrue(said.startswith("# after LowerInitBlock\n--- before\n+++ after\n@@ "), said)
        changed = [line for line in said.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
        self.assertTrue(changed[0].startswith("-") and "T.init()" in changed[0], changed)
        self.assertTrue(any(line.startswith("+") and "if " in line for line in changed), changed)
        self.assertTrue(said.endswith("# after LowerInitBlock: nothing changed\n"), said)

    def test_print_before_and_after_show_the_module(self):
        p = tvms("opt", "--passes", "LowerInitBlock,ConvertBlocksToOpaque", "--print-after", "lower-init-block",
                 "--print-before", "ConvertBlocksToOpaque", GOOD)
        before, between = p.stderr.decode().split("# before ConvertBlocksToOpaque\n")
        self.assertEqual(before, "# after LowerInitBlock\n" + between)
        self.assertNotIn("T.init()", between)

    def test_print_around_no_pass(self):
        for option in ("--print-before", "--print-after"):
            for name, says in (("LowerInit", "there is no pass 'LowerInit'; did you mean 'LowerInitBlock'?"),
                               ("lower,LowerInitBlock", "there is no pass 'lower'"),
                               ("lower-init-blok", "there is no pass 'lower-init-blok'; did you mean 'lower-init-block'?"),
                               ("ThreadSync", "tvms does not have TVM's pass ThreadSync (all releases)")):
                p = tvms("opt", "--passes", "LowerInitBlock", option, name, GOOD)
                self.assertEqual((p.returncode, p.stdout), (2, b""))
                self.assertEqual(f"tvms: option '{option}': {says}\n", p.stderr.decode())

    def test_print_around_several_passes(self):
        p = tvms("opt", "--passes", "LowerInitBlock,ConvertBlocksToOpaque,StmtSimplify", "--print-after", "lower-init-block,StmtSimplify",
                 "--print-before", "LowerInitBlock", "--print-before", "StmtSimplify", GOOD)
        wanted = ["before LowerInitBlock", "after LowerInitBlock", "before StmtSimplify", "after StmtSimplify"]
        self.assertEqual(re.findall(r"^# ((?:before|after) .*)$", p.stderr.decode(), re.M), wanted)
        p = tvms("opt", "--passes", "LowerInitBlock,StmtSimplify", "--print-after", "all", GOOD)
        self.assertEqual(re.findall(r"^# (after .*)$", p.stderr.decode(), re.M), [wanted[1], wanted[3]])

    def test_print_around_a_pass_that_does_not_run(self):
        p = tvms("opt", "--passes", "LowerInitBlock", "--print-after", "StmtSimplify", GOOD)
        self.assertEqual((p.returncode, p.stderr), (0, b"tvms: option '--print-after': StmtSimplify is not in the pipeline\n"))

    def test_print_only_some_functions(self):
        path = os.path.join(self.folder.name, "two.tvms")
        with open(path, "w", encoding="utf-8") as f:
            f.write(TWO_LOOPS)
        p = tvms("opt", "--passes", "UnrollLoop,StmtSimplify", "--print-changed", "--print-after", "UnrollLoop", "--print-only", "plain", path)
        said = p.stderr.decode()
        self.assertTrue(said.endswith("# after UnrollLoop: nothing changed\n# after StmtSimplify: nothing changed\n"), said)
        self.assertIn("def plain", said)
        self.assertNotIn("def unrolled", said)
        p = tvms("opt", "--passes", "UnrollLoop", "--print-changed", "--print-only", "plain,unrolled", path)
        self.assertIn("-        for i in T.unroll(2):\n", p.stderr.decode())

    def test_nothing_is_shown_of_what_a_failed_pass_left(self):
        path = os.path.join(self.folder.name, "vectors.tvms")
        with open(path, "w", encoding="utf-8") as f:
            f.write(TWO_LOOPS.replace("T.unroll(2)", "T.vectorized(B[0])"))
        p = tvms("opt", "-q", "--passes", "VectorizeLoop", "--print-changed", "--print-after", "all", path)
        self.assertEqual(p.returncode, 1)
        self.assertTrue(p.stderr.decode().startswith("# VectorizeLoop failed\n" + path), p.stderr)

    def test_what_is_packed_runs_as_what_it_was_made_of(self):
        def run(path, release):
            p = tvms("run", "--dialect", release, "--in", "n=3", "--in", "s=2", path)
            self.assertEqual((p.returncode, p.stderr), (0, b""))
            return p.stdout

        for release in ("0.22", "0.25", "0.26", "0.27"):
            plain = os.path.join(self.folder.name, "plain.tvms")
            with open(plain, "w", encoding="utf-8") as f:
                f.write(SCALED if release != "0.22" else SCALED.replace("tirx as T", "tir as T").replace("(s_tir=True)", ""))
            wanted = run(plain, release)
            middle = ["FlattenBuffer,MakePackedAPI", "MakePackedAPI,LowerTVMBuiltin,LowerIntrin", "MakePackedAPI,StmtSimplify,SkipAssert"]
            for passes in middle + (["s_tir,finalize-host"] if release != "0.22" else []):
                with self.subTest(release=release, passes=passes):
                    p = tvms("opt", "--dialect", release, "--passes", "BindTarget," + passes, "-o", self.path, plain)
                    self.assertEqual(p.returncode, 0, p.stderr)
                    self.assertEqual(run(self.path, release), wanted)


if __name__ == "__main__":
    main()
