#!/usr/bin/env python3
"""opt --remarks and --statistics: what passes say of their work, in every format."""
import json, os, re, sys, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, tvms

HEAD = "from tvm.script import ir as I\nfrom tvm.script import relax as R\nfrom tvm.script import tirx as T\n"
# Remarks stand behind the lines: CODE kind: text.
FUSED = """
@R.function
def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 8), "float32")):
    with R.dataflow():
        a = R.matmul(x, w)                    # N0882 passed: this call joins 1 other
        b = R.nn.relu(a)                      # N0882 passed: this call joins 1 other
        c = R.sum(b, axis=[1])                # N0881 missed: this call joins no other: what uses its value is not simple enough for the kind of operator it is
        d = R.permute_dims(c, axes=[0])       # N0881 missed: this call joins no other: its value leaves the dataflow block
        R.output(b, d)
    return (b, d)
"""
ALONE = """
@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def one(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        T.func_attr({"op_pattern": 8})
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                y[v] = x[v]

    @T.prim_func(private=True, s_tir=True)
    def two(x: T.Buffer((4,), "float32"), y: T.Buffer((4,), "float32")):
        T.func_attr({"op_pattern": 0})
        for i in range(4):
            with T.sblock("b"):
                v = T.axis.spatial(4, i)
                y[v] = x[v] + T.float32(1)

    @R.function
    def main(x: R.Tensor((4,), "float32")):
        cls = Module
        with R.dataflow():
            a = R.call_tir(cls.one, (x,), out_ty=R.Tensor((4,), "float32"))  # N0881 missed: this call joins no other: its PrimFunc has no op_pattern, or an opaque one
            b = R.call_tir(cls.two, (a,), out_ty=R.Tensor((4,), "float32"))  # N0881 missed: this call joins no other: the calls that use its value do not come together in one
            c = R.call_tir(cls.one, (b,), out_ty=R.Tensor((4,), "float32"))  # N0881 missed: this call joins no other: its PrimFunc has no op_pattern, or an opaque one
            d = R.call_tir(cls.one, (b,), out_ty=R.Tensor((4,), "float32"))  # N0881 missed: this call joins no other: its PrimFunc has no op_pattern, or an opaque one
            R.output(c, d)
        return (c, d)
"""
DEEP = FUSED.replace("N0882 passed: this call joins 1 other", "N0881 missed: this call joins no other: the group would have more than max_depth bindings", 1).replace(
    "N0882 passed: this call joins 1 other", "N0881 missed: this call joins no other: its value leaves the dataflow block").replace(
    "what uses its value is not simple enough for the kind of operator it is", "the group would have more than max_depth bindings")
LOOPS = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), n: T.int32):
    for i in T.vectorized(4):                 # N0884 passed: this loop becomes vectors of 4 lanes
        A[i] = 1.0
        T.evaluate(T.call_extern("int32", "f", i))  # N0883 missed: this statement is done step by step: it calls what takes no vectors
        if i < n:                             # N0883 missed: this statement is done step by step: its condition depends on the loop
            A[i] = 2.0
        for j in range(i):                    # N0883 missed: this statement is done step by step: the steps of an inner loop depend on the loop
            A[j] = 3.0
        A[i] = T.if_then_else(i > n, A[i], B[i])  # N0883 missed: this statement is done step by step: the condition of T.if_then_else depends on the loop
"""
UNROLLED = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((64,), "float32"), n: T.int32):
    for i in T.unroll(1):                     # N0886 passed: this loop is written out: 1 step
        A[i] = 1.0
    for i in range(4):                        # N0886 passed: this loop is written out: 4 steps
        A[i] = 1.0
    for i in range(9):                        # N0885 missed: this loop is not written out: it has more steps than auto_max_step or auto_max_extent allow
        A[i] = 1.0
    for i in range(2):                        # N0885 missed: this loop is not written out: a loop inside of it stays
        for j in range(n):                    # N0885 missed: this loop is not written out: the number of its steps is not known
            A[i + j] = 1.0
    for i in range(2):                        # N0885 missed: this loop is not written out: auto_max_depth loops inside of it are
        for j in range(1):                    # N0886 passed: this loop is written out: 1 step
            A[i + j] = 1.0
"""
PLANNED = """
@R.function                                   # N0887 analysis: storage of 256 bytes in 2 pieces holds 3 tensors of 384 bytes
def main(x: R.Tensor((4, 8), "float32")):
    a = R.exp(x)
    b = R.tanh(a)
    c = R.sqrt(b)                             # N0889 passed: this tensor takes the storage of one that is not needed any more
    d = R.abs(c)                              # N0888 missed: this tensor gets storage of its own: it is a result
    return d
"""
# A part is partitioned in turn; a loop has one remark all the same.
CUT = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((1024,), "float32"), n: T.int32, m: T.int32):
    for i in range(n):                        # N0956 passed: this loop becomes 2 parts
        for j in range(n):                    # N0956 passed: this loop becomes 2 parts
            if T.likely(i < m):
                A[i] = 1.0
            if T.likely(j < m):
                A[j] = 1.0
    for i in range(64):                       # N0957 missed: this loop is not cut: its bounds are constant, and partition_const_loop is off
        if T.likely(i < m):
            A[i] = 1.0
    for i in range(n):                        # N0957 missed: this loop is not cut: no condition on it stands in T.likely, and no hint names it
        A[i] = T.if_then_else(i < m, T.float32(1), T.float32(2))
"""
SHARED = """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((64,), "float32"), n: T.int32):
    B = T.alloc_buffer((64,), "float32")      # N0954 missed: 'B' gets memory of its own: merge_static_smem leaves that to another pass
    C = T.alloc_buffer((64,), "float32")      # N0955 passed: 'C' is removed, since nothing touches it
    for i in range(64):
        B[i] = A[i]
    for i in range(64):
        A[i] = B[63 - i]
"""
LEFT = """
@R.function
def main(x: R.Tensor((4, 8), "float32"), y: R.Tensor(ndim=2, dtype="float32")):
    a = R.add(x, x)                           # N0890 missed: add stays as it is: skip_ops names it
    b = R.exp(y)                              # N0890 missed: exp stays as it is: shapes or data types of its operands are not known
    c = R.sort(a)                             # N0890 missed: sort stays as it is: nothing says how to compute it with PrimFuncs
    d = R.abs(a)
    return (b, c, d)
"""
CASES = (
    ("FuseOps", "LegalizeOps,AnnotateTIROpPattern,FuseOps", FUSED),
    ("FuseOps", "FuseOps", ALONE),
    ("FuseOps", "LegalizeOps,AnnotateTIROpPattern,FuseOps{max_depth=1}", DEEP),
    ("VectorizeLoop", "VectorizeLoop", LOOPS),
    ("unroll-loop", "UnrollLoop{auto_max_step=4,auto_max_depth=0}", UNROLLED),
    ("StaticPlanBlockMemory", "LegalizeOps,dataflow-lower,StaticPlanBlockMemory", PLANNED),
    ("LoopPartition", "LoopPartition", CUT),
    ("storage-rewrite", "StorageRewrite{merge_static_smem=true}", SHARED),
    ("LegalizeOps", "LegalizeOps{skip_ops=relax.add}", LEFT),
)


def wanted(text):
    return sorted((i, m.group(1), m.group(2), m.group(3)) for i, line in enumerate(text.splitlines(), 1)
                  for m in [re.search(r"# (N\d{4}) (\w+): (.*)", line)] if m)


def said(text, *options):
    p = tvms("opt", *options, "--format", "json", "-", stdin=text)
    document = json.loads(p.stdout)
    return p, document, sorted((f["range"]["start"]["line"], f["code"], f["kind"], f["message"]) for f in document["findings"])


class Remarks(unittest.TestCase):
    maxDiff = None

    def test_remarks(self):
        for name, pipeline, text in CASES:
            with self.subTest(pipeline=pipeline):
                p, document, found = said(HEAD + text, "--passes", pipeline, "--remarks=" + name)
                self.assertEqual(p.returncode, 0, p.stdout)
                self.assertEqual(found, wanted(HEAD + text))

    def test_remarks_of_all_passes(self):
        _, document, found = said(HEAD + FUSED, "--passes", "zero,dataflow-lower,finalize", "--remarks")
        self.assertEqual({f["pass"] for f in document["findings"]}, {"FuseOps", "FuseTIR", "StaticPlanBlockMemory"})

    def test_nothing_is_said_unasked(self):
        self.assertEqual(tvms("opt", "--passes", "zero", "-", stdin=HEAD + FUSED).stderr, b"")

    def test_remarks_change_nothing(self):
        self.assertEqual(*(tvms("opt", "--passes", "default", *o, "-", stdin=HEAD + FUSED).stdout for o in ([], ["--remarks", "--statistics"])))

    def test_remarks_in_other_formats(self):
        options = ["opt", "--passes", "LegalizeOps,AnnotateTIROpPattern,FuseOps", "--remarks=FuseOps"]
        text = tvms(*options, "-", stdin=HEAD + FUSED).stderr.decode()
        self.assertIn(": note[N0882]: this call joins 1 other\n", text)
        self.assertIn("\n       = FuseOps: missed\n", text)
        log = json.loads(tvms(*options, "--format", "sarif", "-", stdin=HEAD + FUSED).stdout)
        self.assertEqual([r["properties"]["kind"] for r in log["runs"][0]["results"]], ["passed", "passed", "missed", "missed"])
        self.assertIn("::this call joins 1 other%0AFuseOps: passed\n", tvms(*options, "--format", "github", "-", stdin=HEAD + FUSED).stdout.decode())

    def test_remarks_of_no_pass(self):
        p = tvms("opt", "--passes", "zero", "--remarks=Foo", "-", stdin=HEAD + FUSED)
        self.assertEqual((p.returncode, p.stdout), (2, b""))
        self.assertIn(b"option '--remarks': there is no pass 'Foo'", p.stderr)


class Statistics(unittest.TestCase):
    NUMBERS = {
        ("LegalizeOps{skip_ops=relax.add}", LEFT): {"operators lowered": 1, "operators left": 3},
        ("LegalizeOps,AnnotateTIROpPattern,FuseOps", FUSED): {"groups": 1, "calls in groups": 2, "calls alone": 2},
        ("VectorizeLoop", LOOPS): {"loops vectorized": 1, "statements done step by step": 4},
        ("UnrollLoop{auto_max_step=4,auto_max_depth=0}", UNROLLED): {"loops written out": 3, "steps written out": 6, "loops that stay": 4},
        ("LegalizeOps,dataflow-lower,StaticPlanBlockMemory", PLANNED): {"tensors": 3, "bytes of tensors": 384, "storages": 2, "bytes of storage": 256, "tensors not planned": 1},
        ("FuseAndUnpackContinuousTIRCalls", ALONE): {"runs": 1, "calls in runs": 4},
        ("DeadCodeElimination", FUSED.replace("        R.output(b, d)\n    return (b, d)", "        R.output(b)\n    return b") + "@R.function(private=True)\ndef unused():\n    return R.tuple()\n"):
            {"bindings removed": 2, "functions removed": 1},
        ("CommonSubexprElim", """
@T.prim_func(s_tir=True)
def main(A: T.Buffer((64,), "int32"), n: T.int32):
    A[0] = n * 4 + 3
    A[1] = n * 4 + 3
    A[2] = n * 4 + 3
"""): {"values bound": 1, "uses of them": 3},
    }

    def test_numbers(self):
        for (pipeline, text), numbers in self.NUMBERS.items():
            with self.subTest(pipeline=pipeline):
                name = re.search(r"(\w+)(\{[^}]*\})?$", pipeline).group(1)
                document = said(HEAD + text, "--passes", pipeline, "--statistics")[1]
                rows = [r["statistics"] for r in document["results"] if "statistics" in r][0]
                self.assertEqual({r["name"]: r["value"] for r in rows if r["pass"] == name}, numbers)

    def test_numbers_in_text(self):
        p = tvms("opt", "--passes", "LegalizeOps", "--statistics", "-", stdin=HEAD + LEFT)
        self.assertEqual(p.stderr, b"           2  LegalizeOps: operators lowered\n           2  LegalizeOps: operators left\n")


if __name__ == "__main__":
    main()
