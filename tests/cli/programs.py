#!/usr/bin/env python3
"""check, check --fix, diff and opt on the founding programs: what people do with them."""
import json, os, pathlib, shutil, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, source, tvms

GOOD = source("corpus", "mlp_module.tvms")
PUBLISHED = source("corpus", "mlp_module_as_published.tvms")
UNROLLED = """from tvm.script import tirx as T

@T.prim_func
def main(a: T.Buffer((4,), "float32"), n: T.int32):
    for i in T.unroll(n):
        a[i] = T.float32(1)
"""


class Scratch(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "a.tvms")

    def tearDown(self):
        self.folder.cleanup()

    def text(self):
        with open(self.path) as f:
            return f.read()


class Founding(unittest.TestCase):
    """founding.tsv: every mistake of the documents' programs is found in one run, at its place, and nothing else is."""

    def test_every_mistake_is_found(self):
        with open(source("tests", "cli", "founding.tsv")) as f:
            rows = [line.rstrip("\n").split("\t") for line in f if not line.startswith("#")]
        for name in sorted({row[0] for row in rows}):
            with self.subTest(program=name):
                p = tvms("check", "--format", "json", source("corpus", name + ".tvms"))
                self.assertEqual((p.returncode, p.stderr), (1, b""))
                found = [(f["range"]["start"]["line"], f["range"]["start"]["column"], f["code"])
                         for f in json.loads(p.stdout)["findings"]]
                self.assertEqual(found, [(int(line), int(column), code) for program, line, column, code, _ in rows
                                         if program == name])


class Check(Scratch):
    def test_published_module_has_exactly_two_errors(self):
        p = tvms("check", "--format", "json", PUBLISHED)
        self.assertEqual((p.returncode, p.stderr), (1, b""))
        found = json.loads(p.stdout)["findings"]
        rows = [(f["severity"], f["range"]["start"]["line"], f["message"]) for f in found]
        self.assertEqual(rows, [("error", 44, "name 'lv0' is not defined"), ("error", 45, "name 'b' is not defined")])
        for f, old, new in zip(found, ("lv0", "b"), ("lv", "n")):
            with open(PUBLISHED, "rb") as file:
                data = file.read()
            span = f["range"]
            self.assertEqual(data[span["start"]["offset"]:span["end"]["offset"]].decode(), old)
            self.assertEqual(len(f["notes"]), 1)
            self.assertEqual([fix["text"] for fix in f["fixes"]], [new])

    def test_fix_makes_a_module_that_checks(self):
        shutil.copy(PUBLISHED, self.path)
        p = tvms("check", "--fix", self.path)
        self.assertEqual((p.returncode, p.stdout, p.stderr), (0, b"", b""))
        with open(GOOD) as f:
            self.assertEqual(self.text(), f.read())

    def test_diff_shows_the_fix_and_leaves_the_file(self):
        shutil.copy(PUBLISHED, self.path)
        p = tvms("check", "--diff", self.path)
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"+            lv1 = R.call_tir(cls.relu, (lv,),", p.stdout)
        with open(PUBLISHED) as f:
            self.assertEqual(self.text(), f.read())

    def test_fix_reports_what_it_cannot_mend(self):
        with open(PUBLISHED) as f:
            text = f.read().replace("R.output(lv2)", "R.output(nowhere)")
        with open(self.path, "w") as f:
            f.write(text)
        p = tvms("check", "--fix", self.path)
        self.assertEqual(p.returncode, 1)
        self.assertIn(b"'nowhere'", p.stderr)
        self.assertNotIn(b"'lv0'", p.stderr)
        self.assertIn("(lv,)", self.text())

    def test_standard_input_cannot_be_mended(self):
        self.assertEqual(tvms("check", "--fix", "-", stdin="x = 1\n").returncode, 2)

    def test_folder_means_its_files(self):
        os.mkdir(os.path.join(self.folder.name, "inner"))
        for name in ("a.tvms", "inner/b.tvms"):
            shutil.copy(PUBLISHED, os.path.join(self.folder.name, name))
        with open(os.path.join(self.folder.name, "c.txt"), "w") as f:
            f.write("no program (\n")
        document = json.loads(tvms("check", "--format", "json", self.folder.name).stdout)
        self.assertEqual(document["errors"], 4)
        self.assertEqual(len({f["file"] for f in document["findings"]}), 2)

    def test_unknown_release(self):
        p = tvms("check", "--from", "0.99", GOOD)
        self.assertEqual(p.returncode, 2)
        self.assertIn(b"there is no release '0.99'", p.stderr)

    def test_release_that_is_never_written(self):
        self.assertEqual(tvms("print", "--dialect", "0.24", GOOD).returncode, 2)

    def test_nothing_is_printed_after_an_error(self):
        p = tvms("print", PUBLISHED)
        self.assertEqual((p.returncode, p.stdout), (1, b""))

    def test_verbose_says_what_was_read(self):
        self.assertIn(b"read as 0.22", tvms("check", "-v", GOOD).stderr)


class Diff(Scratch):
    def test_same_program(self):
        p = tvms("diff", GOOD, GOOD)
        self.assertEqual((p.returncode, p.stdout), (0, b""))

    def test_names_and_layout_make_no_difference(self):
        with open(GOOD) as f:
            text = f.read()
        with open(self.path, "w") as f:
            f.write("# another comment\n" + text.replace("lv1", "hidden").replace("v_k", "v_reduced"))
        p = tvms("diff", GOOD, self.path)
        self.assertEqual((p.returncode, p.stdout), (0, b""))

    def test_names_of_blocks_make_no_difference(self):
        with open(GOOD) as f:
            text = f.read()
        with open(self.path, "w") as f:
            f.write(text.replace('T.block("Y")', 'T.block("other")'))
        self.assertNotEqual(text, open(self.path).read())
        p = tvms("diff", GOOD, self.path)
        self.assertEqual((p.returncode, p.stdout), (0, b""))

    def test_differences_are_located_in_both(self):
        with open(GOOD) as f:
            text = f.read()
        with open(self.path, "w") as f:
            f.write(text.replace("T.max(X[v_i, v_j], T.float32(0.0))", "T.min(X[v_i, v_j], T.float32(0.0))"))
        p = tvms("diff", GOOD, self.path)
        self.assertEqual(p.returncode, 1)
        said = p.stdout.decode()
        self.assertIn("relu: kind differs\n", said)
        self.assertIn(f"  - {GOOD}:30:31: T.max(", said)
        self.assertIn(f"  + {self.path}:30:31: T.min(", said)

    def test_missing_function(self):
        with open(GOOD) as f:
            text = f.read()
        with open(self.path, "w") as f:
            f.write(text.replace("def relu", "def gelu").replace("cls.relu", "cls.gelu"))
        p = tvms("diff", GOOD, self.path)
        self.assertEqual(p.returncode, 1)
        self.assertIn(f"relu is only in {GOOD}\n", p.stdout.decode())

    def test_standard_input_is_one_file(self):
        self.assertEqual(tvms("diff", "-", "-").returncode, 2)
        self.assertEqual(tvms("diff", "-", GOOD, stdin=pathlib.Path(GOOD).read_bytes()).returncode, 0)

    def test_one_file_is_not_enough(self):
        self.assertEqual(tvms("diff", GOOD).returncode, 2)


class Opt(Scratch):
    def test_list_names_every_pass(self):
        p = tvms("opt", "--list")
        self.assertEqual(p.returncode, 0)
        self.assertIn(b"LegalizeOps (legalize-ops)\n", p.stdout)
        self.assertIn(b"StmtSimplify (stmt-simplify)  [since 0.25]\n", p.stdout)

    def test_both_spellings(self):
        texts = {tvms("opt", "--passes", name, GOOD).stdout for name in ("LowerInitBlock", "lower-init-block")}
        self.assertEqual(len(texts), 1)
        self.assertIn(b"if v_k == T.int64(0):", texts.pop().replace(b"if v_k == 0:", b"if v_k == T.int64(0):"))

    def test_unknown_pass(self):
        p = tvms("opt", "--passes", "LegalizeOp", GOOD)
        self.assertEqual((p.returncode, p.stdout), (1, b""))
        self.assertIn(b"LegalizeOps", p.stderr)

    def test_no_pipeline(self):
        self.assertEqual(tvms("opt", GOOD).returncode, 2)

    def test_stop_after_and_print_changed_and_timing(self):
        p = tvms("opt", "--passes", "LowerInitBlock,ConvertBlocksToOpaque", "--stop-after", "1", "--print-changed", "--timing", GOOD)
        self.assertEqual(p.returncode, 0)
        said = p.stderr.decode()
        self.assertIn("# after LowerInitBlock\n", said)
        self.assertNotIn("# after ConvertBlocksToOpaque", said)
        self.assertIn(" ms          all passes\n", said)

    def test_reproducer_is_a_file_that_opt_reads(self):
        p = tvms("opt", "--passes", "LowerInitBlock,LowerOpaqueBlock", "--reproducer", self.path, GOOD)
        self.assertEqual((p.returncode, p.stdout), (1, b""))
        self.assertTrue(self.text().startswith("# RUN: opt --passes 'LowerOpaqueBlock'\n"), self.text()[:200])
        self.assertNotIn("T.init()", self.text())
        self.assertEqual(tvms("check", self.path).returncode, 0)

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
        self.assertTrue(self.text().startswith("# RUN: opt --passes 'UnrollLoop,StmtSimplify,RemoveNoOp,LegalizeOps'\n"),
                        self.text()[:200])

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


if __name__ == "__main__":
    main()
