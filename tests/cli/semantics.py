#!/usr/bin/env python3
"""opt --check-semantics: operators are computed by their definition, and LegalizeOps, the host's calling convention and
removed stores are compared with what was there before."""
import os, re, sys, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, source, tvms

HEAD = "from tvm.script import ir as I\nfrom tvm.script import relax as R\nfrom tvm.script import tirx as T\n"


def read(*path):
    with open(os.path.join(source(), *path), encoding="utf-8") as f:
        return f.read()


def defined():
    """The operators of interp/operators.def: their names, and whether integers have a column."""
    names = dict(re.findall(r'^OP\((\w+), "([^"]+)"', read("ir", "ops.def"), re.M))
    rows = re.findall(r"^(MAP2?|PAIR|OWN)\((\w+), (.*)\)$", read("interp", "operators.def"), re.M)
    return [(names[ident], kind in ("MAP2", "PAIR") and not body.endswith(", 0"), body.startswith("0,")) for kind, ident, body in rows]


def check(text, *options):
    return tvms("opt", *options, "--check-semantics", "-", stdin=text, timeout=120)


class Definitions(unittest.TestCase):
    maxDiff = None

    def agree(self, text, *options):
        """Some function is compared, and none differs."""
        p = check(text, "--passes", "LegalizeOps", *options)
        said = p.stderr.decode()
        self.assertEqual(p.returncode, 0, said)
        functions = re.findall(r"^@R\.function", text, re.M)
        left = [line for line in said.splitlines() if "is not compared" in line]
        self.assertLess(len(left), len(functions), said)

    def test_every_definition(self):
        self.assertGreater(len(defined()), 80)
        for name, _, whole_only in defined():
            text = read("tests", "golden", "ops", name.replace(".", "-") + ".tvms").split("# EXPECT:")[0]
            with self.subTest(operator=name):
                self.agree(text.replace("float32", "int32") if whole_only else text, "--from", "0.26")

    def test_integers(self):
        for name, whole, _ in defined():
            if not whole or name == "astype":
                continue
            text = HEAD + f"@R.function\ndef main(x: R.Tensor((3, 4), \"int32\"), y: R.Tensor((4,), \"int32\")):\n    return R.{name}(%s)\n"
            pair = "x1" in re.search(rf'^OP\(\w+, "{re.escape(name)}", [^"]*"([^"]*)"', read("ir", "ops.def"), re.M).group(1)
            if name in ("logical_not", "logical_and", "logical_or"):  # TVM lowers them for bools only
                text = text.replace("int32", "bool")
            with self.subTest(operator=name):
                self.agree(text % (("x, y" if '"bool"' in text else "x, R.add(R.multiply(y, y), R.const(1, \"int32\"))") if pair else "x"))

    def test_release(self):
        text = HEAD.replace("tirx", "tir") + '@R.function\ndef main(x: R.Tensor((3, 4), "float16")):\n    return R.nn.softmax(R.sum(R.exp(x), axis=[1]))\n'
        self.agree(text, "--from", "0.22")

    def test_a_wrong_lowering(self):
        for number, status in (("0.5", 0), ("0.25", 1)):
            text = HEAD + f'''@I.ir_module
class Mine:
    @T.prim_func(private=True, s_tir=True)
    def silu(x: T.Buffer((4, 8), "float32"), y: T.Buffer((4, 8), "float32")):
        T.func_attr({{"tvms.lowers": "relax.nn.silu"}})
        for i, j in T.grid(4, 8):
            with T.sblock("silu"):
                v, w = T.axis.remap("SS", [i, j])
                y[v, w] = x[v, w] * (T.tanh(x[v, w] * T.float32(0.5)) + T.float32(1)) * T.float32({number})

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "float32")):
        return R.nn.silu(x)
'''
            p = check(text, "--passes", "LegalizeOps{with=Mine}")
            self.assertEqual(p.returncode, status, p.stderr)
            self.assertEqual(b"E0891" in p.stderr and b"'main' computes something else behind LegalizeOps: result[" in p.stderr, status == 1, p.stderr)


class Undefined(unittest.TestCase):
    TEXT = HEAD + '''@T.prim_func(s_tir=True)
def main(A: T.Buffer((16,), "%s"), B: T.Buffer((16,), "int32")):
    for i in range(16):
        A[i] = T.undef()
    for i in range(8):
        A[i] = T.%s(3)
    for i in range(16):
        v: T.let = T.undef()
        B[i] = v + i
'''

    def test_what_is_undefined_is_not_compared(self):
        for dtype in ("int32", "float32", "int8"):
            p = check(self.TEXT % (dtype, dtype), "--passes", "RemoveStoreUndef")
            self.assertEqual((p.returncode, p.stderr), (0, b""))

    def test_what_is_defined_is(self):
        # The first pass leaves everything as it is but for the loop that is cut off.
        p = check(self.TEXT % ("int32", "int32") + "    for i in range(16):\n        if B[0] == 5:\n            A[i] = 4\n", "--passes", "RemoveStoreUndef")
        self.assertEqual(p.returncode, 0, p.stderr)


if __name__ == "__main__":
    main()
