#!/usr/bin/env python3
"""Sums of float16 and bfloat16: with WidenSums errors fall, and never grow.

Each program is run by the interpreter as it is, behind WidenSums, and behind WidenSums and ScheduleCPU, on the same inputs. A twin of it computes the same with float64 from
the same halves; what each result differs from that by is its error. Behind WidenSums no error is larger than half a unit in the last place, but for what
float32 rounds, and neither the largest nor the mean error is larger than that of the text. Sums of integers and of float32 are the same text behind the pass.
"""
import math, os, struct, sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import npy
from cases import InFolder, main, tvms

FUSED = "LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR"
TARGETS = ["x86_64-linux-gnu,skylake-avx512", "x86_64-linux-gnu,haswell", "aarch64-linux-gnu"]
HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n@I.ir_module\nclass Module:\n"

# name: parameters and the value. HALF is what is computed in.
OPERATORS = {
    "matmul": ("x 9 200, w 200 33", "R.matmul(x, w)"),
    "matmul bias relu": ("x 9 200, w 200 33, b 33", "R.nn.relu(R.add(R.matmul(x, w), b))"),
    "matmul gelu residual": ("x 9 64, w 64 64, r 9 64", "R.add(R.nn.gelu(R.matmul(x, w)), r)"),
    "matmul transposed": ("x 9 200, w 33 200", "R.matmul(x, R.permute_dims(w))"),
    "matmul batched": ("x 2 5 100, w 2 100 17", "R.matmul(x, w)"),
    "matmul symbolic": ("x n 100, w 100 17", "R.matmul(x, w)"),
    "vector": ("x 1 300, w 300 40", "R.matmul(x, w)"),
    "vector transposed": ("x 1 300, w 40 300", "R.matmul(x, R.permute_dims(w))"),
    "conv2d": ("x 1 8 9 9, w 6 8 3 3", "R.nn.conv2d(x, w, padding=1)"),
    "conv2d bias relu": ("x 1 8 9 9, w 6 8 3 3, b 1 6 1 1", "R.nn.relu(R.add(R.nn.conv2d(x, w, strides=2), b))"),
    "conv2d depthwise": ("x 1 8 11 11, w 8 1 5 5", "R.nn.conv2d(x, w, padding=2, groups=8)"),
    "conv1d": ("x 1 8 40, w 6 8 5", "R.nn.conv1d(x, w, padding=2)"),
    "softmax": ("x 5 300", "R.nn.softmax(x, axis=-1)"),
    "log_softmax": ("x 5 300", "R.nn.log_softmax(x, axis=-1)"),
    "layer_norm": ("x 5 300, g 300, b 300", "R.nn.layer_norm(x, g, b, axes=[-1])"),
    "rms_norm": ("x 5 300, g 300", "R.nn.rms_norm(x, g, axes=[-1])"),
    "sum": ("x 5 700", "R.sum(x, axis=1)"),
    "sum of columns": ("x 700 20", "R.sum(x, axis=0)"),
    "mean": ("x 5 700", "R.mean(x, axis=1)"),
    "variance": ("x 5 700", "R.variance(x, axis=1)"),
    "product": ("x 5 12", "R.prod(R.add(x, R.const(1.5, HALF)), axis=1)"),
    "average pool": ("x 1 4 12 12", "R.nn.avg_pool2d(x, pool_size=[4, 4], strides=2)"),
    "attention": ("q 1 20 2 16, k 1 20 2 16, v 1 20 2 16", "R.nn.attention(q, k, v)"),
}


def module(expression, given, dtype, computed):
    """The operator in `computed`, from parameters of `dtype`."""
    names = [p.split() for p in given.split(", ")]
    shape = lambda sizes: ", ".join(f'"{s}"' if s.isalpha() else s for s in sizes) + ","
    parameters = ", ".join(f'{name}: R.Tensor(({shape(sizes)}), "{dtype}")' for name, *sizes in names)
    lines = ["    @R.function", f"    def main({parameters}):", "        with R.dataflow():"]
    if computed != dtype:
        lines += [f'            {name} = R.astype({name}, "{computed}")' for name, *_ in names]
    # An operator for each binding.
    lines += [f"            y = {expression.replace('HALF', repr(computed))}", "            R.output(y)", "        return y"]
    return HEAD + "\n".join(lines) + "\n"


# What is no sum is rounded once more: the residual is added by a function of its own, and TVM's layer norm takes its sums in float32 already.
ROUNDED_TWICE = {"matmul gelu residual", "layer_norm"}

# 4 bits in a word for eight weights, a scale for each 32: what decoders of 4 bits compute.
DECODED = HEAD + """    @T.prim_func(s_tir=True)
    def main(x: T.Buffer((1, 128), "PLAIN"), q: T.Buffer((24, 16), "uint32"), s: T.Buffer((24, 4), "PLAIN"), y: T.Buffer((1, 24), "HALF")):
        T.func_attr({"tirx.noalias": True})
        W = T.sblock_alloc_buffer((24, 128), "HALF")
        for i, k in T.grid(24, 128):
            with T.sblock("decode"):
                vi, vk = T.axis.remap("SS", [i, k])
                W[vi, vk] = (T.Cast("HALF", T.bitwise_and(T.shift_right(q[vi, vk // 8], T.Cast("uint32", vk % 8 * 4)), T.uint32(15))) - T.HALF(7)) * T.Cast("HALF", s[vi, vk // 32])
        for o, i, k in T.grid(1, 24, 128):
            with T.sblock("product"):
                vo, vi, vk = T.axis.remap("SSR", [o, i, k])
                with T.init():
                    y[vo, vi] = T.HALF(0)
                y[vo, vi] = y[vo, vi] + T.Cast("HALF", x[vo, vk]) * W[vi, vk]
"""

# Loops without blocks, with the sum begun in front of them.
PLAIN = HEAD + """    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((9, 150), "PLAIN"), B: T.Buffer((150, 20), "PLAIN"), C: T.Buffer((9, 20), "HALF")):
        for i, j in T.grid(9, 20):
            C[i, j] = T.HALF(0.25)
            for k in range(150):
                C[i, j] = C[i, j] + T.Cast("HALF", A[i, k]) * T.Cast("HALF", B[k, j])
            C[i, j] = T.max(C[i, j], T.HALF(0))
"""


def programs(dtype):
    """name, the program, and its twin of float64"""
    for name, (given, expression) in OPERATORS.items():
        yield name, module(expression, given, dtype, dtype), module(expression, given, dtype, "float64")
    for name, text in (("decoded", DECODED), ("plain loops", PLAIN)):
        yield name, text.replace("HALF", dtype).replace("PLAIN", dtype), text.replace("HALF", "float64").replace("PLAIN", dtype)


def numbers(path):
    kind, _, values = npy.read(path)
    if kind not in npy.CODES:  # bfloat16 is the upper half of a float32
        values = [struct.unpack("<f", bytes([0, 0, low, high]))[0] for low, high in zip(values[::2], values[1::2])]
    return values


def unit(value, digits, least):
    """The distance of halves at a value."""
    return 2.0 ** (max(math.frexp(abs(value))[1], least) - digits)


class Sums(InFolder):
    def opt(self, path, passes):
        p = tvms("opt", "--passes", passes, "--verify-each", path)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        return p.stdout.decode()

    def run_it(self, path, *more):
        out = self.file("out")
        p = tvms("run", "--out", out, *more, path, timeout=300)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        result = os.path.join(out, "result.npy")
        return numbers(result if os.path.exists(result) else os.path.join(out, "result.0.npy"))

    def judge(self, name, text, twin, dtype, target):
        digits, least = (11, -13) if dtype == "float16" else (8, -125)
        exact = self.run_it(self.file("twin.tvms", twin))
        text = self.file("text.tvms", text)
        fused = self.file("fused.tvms", self.opt(text, FUSED))
        wide = self.file("wide.tvms", self.opt(fused, "WidenSums"))
        scheduled = self.file("scheduled.tvms", self.opt(wide, f"ScheduleCPU{{target='{target}',reorder=true}}"))
        errors = lambda path, *more: [abs(a - b) for a, b in zip(self.run_it(path, *more), exact)]
        before = errors(fused)
        # What float32 loses of sums whose terms cancel each other out.
        lost = 1e-5 * max(map(abs, exact))
        for path, more in ((wide, ()), (scheduled, ()), (wide, ("--backend", "llvm", "--fp", "contract"))):
            after = errors(path, *more)
            self.assertEqual(len(after), len(exact))
            for a, e in zip(after, exact):
                allowed = 0.501 * unit(e, digits, least) if name not in ROUNDED_TWICE else unit(max(map(abs, exact)), digits, least)
                self.assertLessEqual(a, allowed + lost, (path, e))
            self.assertLessEqual(max(after), max(before) + lost)
            self.assertLessEqual(sum(after), sum(before) * 1.001 + lost * len(after))
        with open(wide) as f:
            self.assertEqual(self.opt(wide, "WidenSums"), f.read(), "the pass has more to do behind itself")

    def test_errors_fall(self):
        for dtype in ("float16", "bfloat16"):
            for i, (name, text, twin) in enumerate(programs(dtype)):
                with self.subTest(name=name, dtype=dtype):
                    self.judge(name, text, twin, dtype, TARGETS[i % len(TARGETS)])

    def test_other_sums_stay(self):
        """Integers, float32 and float64, and halves that are not added up, are the same text."""
        for dtype in ("float32", "float64"):
            for name, (given, expression) in OPERATORS.items():
                text = self.opt(self.file("text.tvms", module(expression, given, dtype, dtype)), FUSED)
                self.assertEqual(self.opt(self.file("fused.tvms", text), "WidenSums"), text, (name, dtype))
        for given, expression in (("x 9 40, w 40 8", 'R.matmul(x, w, out_dtype="int32")'), ("x 9 40", "R.sum(x, axis=1)"), ("x 9 40", "R.max(x, axis=1)")):
            text = self.opt(self.file("text.tvms", module(expression, given, "int8", "int8")), FUSED)
            self.assertEqual(self.opt(self.file("fused.tvms", text), "WidenSums"), text, expression)
        for given, expression in (("x 9 40, y 9 40", "R.multiply(R.add(x, y), y)"), ("x 9 40", "R.max(x, axis=1)"), ("x 9 40", "R.cumsum(x, axis=1)")):
            text = self.opt(self.file("text.tvms", module(expression, given, "float16", "float16")), FUSED)
            if "cumsum" not in expression:
                self.assertEqual(self.opt(self.file("fused.tvms", text), "WidenSums"), text, expression)


if __name__ == "__main__":
    main()
