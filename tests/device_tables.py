#!/usr/bin/env python3
"""tools/gen_device.py: every slip in a table of devices ends the build, with its place and a reason."""
import os, subprocess, sys, tempfile, unittest

from cases import main, source

NAMES = ("releases", "tir_ops", "calls", "targets", "target_options", "ptx", "wrappers", "changed")
# Small tables without a slip.
GOOD = {
    "releases": 'RELEASE(25, WRITTEN, "0.25", "", "")\nRELEASE(26, WRITTEN, "0.26", "", "")\n',
    "tir_ops": 'TIR_OP(ld, "ld", TIRX, NONE, READ, -1, FROM(25, "ld"))\nTIR_OP(st, "st", TIRX, NONE, READ, -1, FROM(25, "st"))\n',
    "calls": 'CALL(T, f, "a, *, b=None", 25, 25, f)\nALSO(T, f, "a", 26, ever, f)\n',
    "targets": 'TARGET("cpu", 25, ever, "kind=cpu;keys=[a,b];width=8;fast=true;feature.x=1")\n'
               'TARGET("x/y", 26, ever, "kind=cpu;keys=[];name=z")\n',
    "target_options": 'TARGET_OPTION("keys", LIST, 25, "*")\nTARGET_OPTION("width", INT, 25, "cpu")\n'
                      'TARGET_OPTION("fast", BOOL, 25, "cpu")\nTARGET_OPTION("name", STR, 26, "cpu")\n',
    "ptx": """PTX_TYPE("u32", "uint32 int32")
PTX_TYPE("f32", "float32")
PTX_MAP("many", "vec",
    "v2=2 "
    "v4=4")
PTX_RULE("ld", "vec=v4:type=u32 space=a::b&vec=-:type=f32")
PTX(ld, "ld", "space=global|a::b? vec=v2|v4? type=u32|f32", "d>~[many]:=type addr@+ n#1|-2 p* keep[?vec]:u32", "ld")
""",
    "wrappers": """WRAPPER("ptx.ld", "a, b=1, *rest, space=None", 25, ever, ld, "=a", "-a", "a b? #rest b:'x' *rest %space 16")
TOGETHER(ld, "space=a::b", "!b [rest] rest#2")
CHOICE(ld, "b", "1|2")
""",
    "changed": 'TIR_CHANGED(ld, "a, &b, 0", st, "b, u:a, \\"x\\", True")\n',
}
# A table, what of it is replaced by what, and what is said: at the place of "^", or where it says.
BAD = (
    # Rows
    ("ptx", 'PTX_TYPE("f32"', '^PTX_TYPO("f32"', "unknown row 'PTX_TYPO'"),
    ("ptx", 'PTX_TYPE("f32", "float32")', '^PTX_TYPE("f32", "float32", "x")', "PTX_TYPE takes 2 arguments, not 3"),
    ("ptx", '"float32")\n', '"float32"\n^', "',' or ')' is missing"),
    ("ptx", '"float32")', '"float^\\32")', "'\\3' is not an escape of tables"),
    ("ptx", '"float32")', '^)', "an argument is missing"),
    # Types, maps and rules
    ("ptx", "float32", "^float33", "'float33' is not a data type"),
    ("ptx", "uint32 int32", "uint32 ^ int32", "a blank too many"),
    ("ptx", 'TYPE("f32"', 'TYPE("^u32"', "a second row 'u32'"),
    ("ptx", "v4=4", "^v4", "'=' is missing"),
    ("ptx", "v4=4", "^v4,u32=4", "choices of 2 modifiers, not of 1"),
    ("ptx", "v4=4", "v4=^u32", "numbers and types in one map"),
    ("ptx", '"v2=2 "\n    "v4=4"', '"v2=^2"\n    "v4=4"', "unknown type '2v4=4'"),
    ("ptx", "v4=4", "v8=^4", "modifier 'vec' of operator 'ld' has no choice 'v8'"),
    ("ptx", "vec=v4:type=u32", "^vec=v4", "':' and what must hold are missing"),
    ("ptx", "vec=v4:type", "vex=v4:type", "7:113: rule 'ld' asks for modifier 'vex', which the form has not"),
    ("ptx", "vec=v4:type=u32", "vec=v4:^type=u64", "modifier 'type' of operator 'ld' has no choice 'u64'"),
    ("ptx", ':u32", "ld")', ':u32", "")', "6:11: 'ld' is used by no form"),
    ("ptx", "[many]", "[4]", "3:10: 'many' is used by no form"),
    # Forms
    ("ptx", "PTX(ld", "PTX(^ldd", "unknown operator 'ldd'"),
    ("ptx", '", "ld")', '", "^load")', "unknown rule 'load'"),
    ("ptx", "vec=v2|v4?", "vec=v2|^v2?", "choice 'v2' stands twice"),
    ("ptx", "vec=v2|v4?", "^space=v2|v4?", "a second modifier 'space'"),
    ("ptx", "vec=v2|v4?", "^vec", "'vec' is not name=choice|choice"),
    ("ptx", "vec=v2|v4?", "vec=^v2|-", "'-' is not a choice; '?' says that it may be left out"),
    ("ptx", "d>~[many]:=type", "d>~[^much]:=type", "unknown map 'much'"),
    ("ptx", "d>~[many]:=type", "d>~[many]:=^kind", "the form has no modifier 'kind'"),
    ("ptx", "d>~[many]:=type", "d>~[many]:^=vec", "modifier 'vec' has choice 'v2', which is not a type"),
    ("ptx", "d>~[many]:=type", "d>~[many]:^u64", "unknown type 'u64'"),
    ("ptx", "d>~[many]:=type", "d>~[many]:%^many", "map 'many' has numbers, not types"),
    ("ptx", "d>~[many]:=type", "^d>~[many:=type", "'d>~[many:=type' is not an operand"),
    ("ptx", "addr@+", "addr^~@+", "only a register can be sunk"),
    ("ptx", "addr@+", "addr^>@+", "only a register is written"),
    ("ptx", "n#1|-2", "n#1|^two", "'two' is not a number"),
    ("ptx", "keep[?vec]", "keep[^?type]", "modifier 'type' is always given"),
    ("ptx", "d>~[many]:=type", "^keep>~[many]:=type", "two operands have one name"),
    # Wrappers
    ("wrappers", ', ld, "=a"', ', ^lt, "=a"', "unknown operator 'lt'"),
    ("wrappers", "25, ever", "^24, ever", "there is no release '24'"),
    ("wrappers", "25, ever", "26, ^25", "it ends before it begins"),
    ("wrappers", "b=1, *rest", "b=1, ^c, *rest", "a required parameter behind one with a default"),
    ("wrappers", "b=1, *rest", "^b=x, *rest", "'b=x' is not a parameter"),
    ("wrappers", "b=1, *rest", "^a=1, *rest", "a second parameter 'a'"),
    ("wrappers", '"=a"', '"=^b"', "no item 'b' tells the data type"),
    ("wrappers", '"=a"', '"=^c"', "the signature has no parameter 'c'"),
    ("wrappers", '"=a"', '"=a/^b"', "'/' belongs to '@' only"),
    ("wrappers", '"=a"', '"^int33"', "'int33' is not a data type"),
    ("wrappers", '"-a"', '"^a"', "'a' must begin with '-', '+' or '*'"),
    ("wrappers", "#rest", "#^last", "the signature has no parameter 'last'"),
    ("wrappers", "b:'x'", "b:^'x", "''x' is not a text"),
    ("wrappers", "%space", "^%speed", "unknown item '%speed'"),
    ("wrappers", "%space", "^%lanes", "'%lanes' needs parameter 'disable_output_lane' or 'cta_group'"),
    ("wrappers", "!b [rest]", "!b ^[rest", "'[rest' is not a term"),
    ("wrappers", "!b [rest]", "^!c [rest]", "no row of operator 'ld' has a parameter 'c'"),
    ("wrappers", "rest#2", "rest#^n", "'n' is not a digit"),
    ("wrappers", '"1|2"', '"^1|1"', "a choice stands twice"),
    ("wrappers", '(ld, "b"', '(ld, "^c"', "no row of operator 'ld' has a parameter 'c'"),
    ("wrappers", "TOGETHER", 'WRAPPER("^ptx.ld", "", 26, ever, ld, "", "", "")\nTOGETHER',
     "two rows of 'ptx.ld' hold for one release"),
    # Changed calls
    ("changed", "st, ", "^stt, ", "unknown operator 'stt'"),
    ("changed", '"b, u:a', '"^b, u:c', "'c' is not an argument of the older call"),
    ("changed", '"b, u:a', '"^b, b', "'a' stands 0 times, not once"),
    ("changed", "u:a", "^u:a-", "'u:a-' is not an item"),
    # Targets and callables, which are checked only
    ("targets", "kind=cpu;keys=[a,b]", "^keys=[a,b]", "the first value is not 'kind=…'"),
    ("targets", "kind=cpu;keys=[a,b]", "kind=^gpu;keys=[a,b]", "there is no target 'gpu'"),
    ("targets", "width=8", "^depth=8", "target 'cpu' has no option 'depth'"),
    ("targets", "width=8", "width=^eight", "option 'width' is not INT"),
    ("targets", "fast=true", "fast=^1", "option 'fast' is not BOOL"),
    ("targets", "fast=true", "^fast", "'=' is missing"),
    ("targets", "keys=[a,b]", "keys=^a", "option 'keys' is not LIST"),
    ("targets", "26, ever", "^24, ever", "there is no release '24'"),
    ("targets", '"x/y", 26, ever, "kind=cpu;keys=[];name', '"x/y", 25, ever, "kind=cpu;keys=[];^name', "target 'cpu' has no option 'name'"),
    ("target_options", "BOOL", "^TRUTH", "'TRUTH' is not one of INT, BOOL, STR, LIST, ANY"),
    ("target_options", 'INT, 25, "cpu"', 'INT, 25, "^gpu"', "there is no target 'gpu'"),
    ("calls", "*, b=None", "*, ^b=none", "'b=none' is not a parameter"),
    ("calls", 'ALSO(T, f, "a", 26', '^ALSO(T, f, "a", 25', "two rows of 'T.f' hold for one release"),
    ("calls", "ALSO(T, f", "^ALSO(T, g", "ALSO must follow the other rows of 'T.g'"),
    ("calls", "ALSO(T, f", "^CALL(T, f", "a second first row of 'T.f'"),
)


class Tables(unittest.TestCase):
    def run_on(self, tables, folder):
        paths = [os.path.join(folder, name + ".def") for name in NAMES]
        for path, name in zip(paths, NAMES):
            with open(path, "w", encoding="utf-8") as f:
                f.write(tables[name])
        made = [os.path.join(folder, name + ".c") for name in ("ptx", "wrappers", "changed")]
        command = [sys.executable, source("tools", "gen_device.py"), *paths, *made]
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return p, [path for path in made if os.path.exists(path)]

    def test_good_tables_are_compiled(self):
        with tempfile.TemporaryDirectory() as folder:
            p, made = self.run_on(GOOD, folder)
            self.assertEqual((p.returncode, p.stderr), (0, ""))
            self.assertEqual(len(made), 3)

    def test_what_is_wrong_is_said_with_its_place(self):
        for name, good, bad, said in BAD:
            with self.subTest(table=name, text=bad), tempfile.TemporaryDirectory() as folder:
                self.assertEqual(GOOD[name].count(good), 1, good)
                text = GOOD[name].replace(good, bad)
                before, mark, behind = text.partition("^")
                if mark:
                    said = "%d:%d: %s" % (before.count("\n") + 1, len(before) - before.rfind("\n"), said)
                p, made = self.run_on({**GOOD, name: before + behind}, folder)
                self.assertEqual(p.returncode, 1)
                self.assertEqual(made, [])
                self.assertEqual(p.stderr, "%s.def:%s\n" % (os.path.join(folder, name), said))

    def test_all_of_it_is_said_at_once(self):
        tables = dict(GOOD, ptx=GOOD["ptx"].replace("float32", "float33"), changed=GOOD["changed"].replace("u:a", "u:c"))
        with tempfile.TemporaryDirectory() as folder:
            p, _ = self.run_on(tables, folder)
            self.assertIn("'float33' is not a data type", p.stderr)
            self.assertIn("'c' is not an argument of the older call", p.stderr)


if __name__ == "__main__":
    main()
