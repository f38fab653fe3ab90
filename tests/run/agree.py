#!/usr/bin/env python3
"""One program, several ways to run it: the results are the same.

  - the founding programs, for sizes 1, 7 and 64: interpreter and native code; operators and
    PrimFuncs with the same weights
  - every program of corpus/ and tests/golden/run: each function that both ways can run on
    random inputs gives the same
"""
import os, random, re, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import npy
from cases import files_under, main, source, tvms

CLOSE = 1e-5
OPERATORS = """
from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(
        x: R.Tensor(("n", 784), "float32"),
        w0: R.Tensor((784, 256), "float32"),
        b0: R.Tensor((256,), "float32"),
        w1: R.Tensor((256, 10), "float32"),
        b1: R.Tensor((10,), "float32"),
    ) -> R.Tensor(("n", 10), "float32"):
        with R.dataflow():
            lv = R.matmul(x, w0)
            lv1 = R.add(lv, b0)
            lv2 = R.nn.relu(lv1)
            lv3 = R.matmul(lv2, w1)
            lv4 = R.add(lv3, b1)
            R.output(lv4)
        return lv4
"""
# Passes that must not change what a program computes.
PIPELINES = ("LegalizeOps", "lower-blocks")
# Passes that make calls cheaper; each changes some program of corpus/calls.
CALL_PASSES = ("ExpandTupleArguments", "RemoveUnusedParameters", "RemoveUnusedOutputs", "InlinePrivateFunctions", "FuseAndUnpackContinuousTIRCalls",
               "StaticPlanBlockMemory", "LegalizeOps,ToNonDataflow,RemovePurityChecking,CallTIRRewrite,FuseAndUnpackContinuousTIRCalls")
# indirect: a parameter is called I, which the printer keeps for the namespace, so its random
# input is another. loops: LowerOpaqueBlock puts the pragma of a loop in front of it, as TVM
# does, where the loop's variable is not defined.
LEFT_OUT = {"indirect", "loops"}
WEIGHTS = {"w0": (784, 256), "b0": (256,), "w1": (256, 10), "b1": (10,)}
PUBLIC = re.compile(r"^\s*@R\.function(?:\(pure=False\))?\n\s*def (\w+)\(", re.M)
DEF = re.compile(r"^\s*def (\w+)\(", re.M)


def run(path, folder, *options):
    """Exit status, findings and results by name."""
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    p = tvms("run", path, "--out", folder, *options, timeout=300)
    files = sorted(os.listdir(folder))
    return p.returncode, p.stderr.decode(), {name: npy.read(os.path.join(folder, name)) for name in files}


def random_file(path, shape, seed):
    stream = random.Random(seed)
    count = 1
    for n in shape:
        count *= n
    npy.write(path, "<f4", shape, [stream.uniform(-1, 1) for _ in range(count)])


class Agree(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.out = os.path.join(self.place.name, "out")
        os.mkdir(self.out)

    def file(self, name):
        return os.path.join(self.place.name, name)

    def compare(self, a, b, relative=0.0):
        self.assertEqual(a[0], 0, a[1])
        self.assertEqual(b[0], 0, b[1])
        self.assertTrue(a[2] and a[2].keys() == b[2].keys(), (a[2].keys(), b[2].keys()))
        for name in a[2]:
            said = npy.differ(a[2][name], b[2][name], relative)
            self.assertIsNone(said, f"{name}: {said}")

    def test_forms_and_back_ends_of_the_mlp(self):
        operators = self.file("operators.tvms")
        with open(operators, "w", encoding="utf-8") as f:
            f.write(OPERATORS)
        inputs = []
        for i, (name, shape) in enumerate(WEIGHTS.items()):
            random_file(self.file(name + ".npy"), shape, i)
            inputs += ["--in", f"{name}={self.file(name + '.npy')}"]
        for n in (1, 7, 64):
            random_file(self.file("x.npy"), (n, 784), 100 + n)
            given = inputs + ["--in", f"x={self.file('x.npy')}"]
            module = source("corpus", "mlp_module.tvms")
            base = run(module, self.out, *given, "--backend", "llvm")
            with self.subTest(n=n, what="shape"):
                self.assertEqual(base[0], 0, base[1])
                self.assertEqual(base[2]["result.npy"][1], (n, 10))
            with self.subTest(n=n, what="PrimFuncs, interpreter"):
                self.compare(run(module, self.out, *given, "--backend", "interp"), base, CLOSE)
            for backend in ("llvm", "interp"):
                with self.subTest(n=n, what="operators, " + backend):
                    self.compare(run(operators, self.out, *given, "--backend", backend), base, CLOSE)

    def test_random_inputs_decide_on_seed_and_name(self):
        path = source("corpus", "mlp_module.tvms")
        first = run(path, self.out, "--seed", "1", "--backend", "llvm")
        again = run(path, self.out, "--seed", "1", "--backend", "llvm")
        other = run(path, self.out, "--seed", "2", "--backend", "llvm")
        self.compare(first, again)
        self.assertNotEqual(first[2], other[2])

    def test_vectors_of_int64_by_numbers(self):
        stream = random.Random("int64")
        divisors = [3, 5, 7, 10, 641, 1000000007, 2**31 - 1, 2**32 + 1, 2**62 + 1, 2**63 - 1, 6, 12] + [stream.getrandbits(stream.randint(3, 62)) | 5 for _ in range(20)]
        values = [0, 1, -1, 2**63 - 1, -2**63, -2**63 + 1, 2**62, 2**32, -2**32]
        for by in divisors[:12]:
            values += [by, -by, by - 1, 1 - by, max(-2**63, -by - 1)]
        values += [stream.getrandbits(64) - 2**63 >> stream.randint(0, 60) for _ in range(512 - len(values))]
        lines = "".join(f"""        Q[{at} * 512 + i * 8:{at} * 512 + i * 8 + 8] = T.floordiv(A[T.Ramp(i * 8, 1, 8)], T.Broadcast(T.int64({by}), 8))
        R[{at} * 512 + i * 8:{at} * 512 + i * 8 + 8] = T.floormod(A[T.Ramp(i * 8, 1, 8)], T.Broadcast(T.int64({by}), 8))
""" for at, by in enumerate(divisors))
        total = 512 * len(divisors)
        text = f"""from tvm.script import tirx as T
@T.prim_func
def main(A: T.Buffer((512,), "int64"), Q: T.Buffer(({total},), "int64"), R: T.Buffer(({total},), "int64")):
    for i in range(64):
{lines}"""
        npy.write(self.file("a.npy"), "<i8", (512,), values)
        for options in (), ("--backend", "llvm"):
            p = tvms("run", "-", "--in", "A=" + self.file("a.npy"), "--out", self.file("out"), *options, stdin=text)
            self.assertEqual(p.returncode, 0, p.stderr)
            for at, compute in enumerate((lambda x, y: x // y, lambda x, y: x % y)):
                got = npy.read(self.file(f"out/result.{at}.npy"))[2]
                self.assertEqual(list(got), [compute(x, y) for y in divisors for x in values])

    def test_programs_of_the_corpus(self):
        compared = 0
        for path in files_under("corpus", "tests/golden/run"):
            with open(path, encoding="utf-8") as f:
                names = dict.fromkeys(DEF.findall(f.read()))
            for name in names:
                options = ("--entry", name, "--seed", "5")
                slow = run(path, self.out, *options, "--backend", "interp")
                fast = run(path, self.out, *options, "--backend", "llvm")
                with self.subTest(path=path, name=name):
                    self.assertIn(slow[0], (0, 1), slow[1])
                    self.assertIn(fast[0], (0, 1), fast[1])
                    if slow[0] == 0 and fast[0] == 0 and slow[2]:
                        self.compare(slow, fast, CLOSE)
                        compared += 1
        self.assertGreater(compared, 20)

    def test_passes_keep_what_calls_compute(self):
        for pipeline in CALL_PASSES:
            changed = compared = 0
            for path in files_under("corpus/calls"):
                with open(path, encoding="utf-8") as f:
                    names = PUBLIC.findall(f.read())
                p = tvms("opt", "--passes", pipeline, path)
                self.assertEqual(p.returncode, 0, p.stderr.decode())
                changed += p.stdout != tvms("print", path).stdout
                after = self.file("after.tvms")
                with open(after, "wb") as f:
                    f.write(p.stdout)
                for name in names:
                    for backend in ("interp", "llvm"):
                        options = ("--entry", name, "--seed", "3", "--backend", backend)
                        first = run(path, self.out, *options)
                        if first[0] or not first[2]:
                            continue
                        with self.subTest(path=path, name=name, passes=pipeline, backend=backend):
                            self.compare(run(after, self.out, *options), first, CLOSE)
                            compared += 1
            self.assertGreater(changed, 0, pipeline)
            self.assertGreater(compared, 3, pipeline)

    def test_passes_keep_what_a_program_computes(self):
        compared = 0
        for path in files_under("corpus/relax", "corpus/native", "corpus/current"):
            with open(path, encoding="utf-8") as f:
                names = set(DEF.findall(f.read()))
            for pipeline in PIPELINES:
                p = tvms("opt", "--passes", pipeline, path)
                if p.returncode or not p.stdout:
                    continue
                after = self.file("after.tvms")
                with open(after, "wb") as f:
                    f.write(p.stdout)
                for name in sorted(names - LEFT_OUT):
                    options = ("--entry", name, "--seed", "3")
                    first = run(path, self.out, *options, "--backend", "llvm")
                    if first[0] or not first[2]:
                        continue
                    with self.subTest(path=path, name=name, passes=pipeline):
                        self.compare(run(after, self.out, *options, "--backend", "llvm"), first, CLOSE)
                        compared += 1
        self.assertGreater(compared, 20)


if __name__ == "__main__":
    main()
