"""A mixture of experts: routing kernels and the layer around them."""
from dataclasses import dataclass

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

NUM_EXPERTS = 8
TOP_K = 2
HIDDEN = 128
INTER = 256


@dataclass
class Routing:
    experts: int = NUM_EXPERTS
    scale: float = 1.0

    def rows(self, tokens):
        return tokens * self.experts

    def describe(self):
        return f"{self.rows(1)} rows, scale {self.scale}"


def clamp(value, low=0, high=None):
    if high is not None and value > high:
        return high
    return max(value, low)


def make_gate(num_experts, dtype="float32", block=64):
    threads = clamp(num_experts, low=32, high=block)
    names = {"bx": "blockIdx.x", "tx": "threadIdx.x"}

    @T.prim_func(private=True, s_tir=True)
    def gate(var_logits: T.handle, var_gate: T.handle):
        T.func_attr({"tirx.noalias": True})
        tokens = T.int64()
        logits = T.match_buffer(var_logits, (tokens, num_experts), dtype)
        out = T.match_buffer(var_gate, (tokens, num_experts), dtype)
        top = T.sblock_alloc_buffer((tokens,), dtype, scope="global")
        for t in T.thread_binding(tokens, thread=names["bx"]):
            for e in T.serial(num_experts):
                with T.sblock("max"):
                    vt, ve = T.axis.remap("SR", [t, e])
                    T.reads(logits[vt, ve])
                    T.writes(top[vt])
                    with T.init():
                        top[vt] = T.min_value(dtype)
                    top[vt] = T.max(top[vt], logits[vt, ve])
            for e in T.thread_binding(threads, thread=names["tx"]):
                with T.sblock("exp"):
                    T.where(e < num_experts)
                    vt = T.axis.spatial(tokens, t)
                    ve = T.axis.spatial(num_experts, e)
                    out[vt, ve] = T.exp(logits[vt, ve] - top[vt])

    return gate


gate_8 = make_gate(NUM_EXPERTS)
gate_64 = make_gate(64, dtype="float16", block=128)


@I.ir_module(s_tir=True)
class Experts:
    @T.prim_func(private=True, s_tir=True)
    def scatter(src: T.Buffer((64, HIDDEN), "float16"), index: T.Buffer((64,), "int32"), dst: T.Buffer((128, HIDDEN), "float16")):
        for i, j in T.grid(64, HIDDEN):
            with T.sblock("scatter"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(src[vi, vj], index[vi])
                T.writes(dst[index[vi], vj])
                dst[index[vi], vj] = src[vi, vj]

    @T.prim_func(private=True)
    def count(expert: T.Buffer((64,), "int32"), counts: T.Buffer((NUM_EXPERTS,), "int32"), start: T.int32, stop: T.int32):
        for e in range(NUM_EXPERTS):
            counts[e] = 0
        for i in range(64):
            if start <= expert[i] and expert[i] < stop:
                counts[expert[i]] += 1
        position: T.int32 = 0
        while position < NUM_EXPERTS:
            if counts[position] > 64:
                counts[position] = 64
            position += 1

    @R.function(private=True)
    def expert(x: R.Tensor((128, HIDDEN), "float16"), w1: R.Tensor((HIDDEN, 2 * INTER), "float16"), w2: R.Tensor((INTER, HIDDEN), "float16")) -> R.Tensor((128, HIDDEN), "float16"):
        with R.dataflow():
            both = R.matmul(x, w1)
            halves = R.split(both, indices_or_sections=2, axis=-1)
            gated = R.multiply(R.nn.silu(halves[0]), halves[1])
            y = R.matmul(gated, w2, out_dtype="float16")
            R.output(y)
        return y

    @R.function
    def main(x: R.Tensor((64, HIDDEN), "float16"), router: R.Tensor((HIDDEN, NUM_EXPERTS), "float16"), index: R.Tensor((64,), "int32"), w1: R.Tensor((HIDDEN, 2 * INTER), "float16"), w2: R.Tensor((INTER, HIDDEN), "float16")):
        R.func_attr({"num_input": 3})
        cls = Experts
        with R.dataflow():
            scores = R.nn.softmax(R.astype(R.matmul(x, router), "float32"), axis=-1)
            top = R.topk(scores, k=TOP_K, axis=-1, ret_type="both", largest=True, dtype="int32")
            values = top[0]
            chosen = top[1]
            wide = R.call_tir(cls.scatter, (x, index), out_ty=R.Tensor((128, HIDDEN), "float16"))
            hidden = cls.expert(wide, w1, w2)
            norm = R.sum(values, axis=[1], keepdims=True)
            weights = R.divide(values, norm)
            kept = R.strided_slice(hidden, axes=[0], begin=[0], end=[64])
            spread = R.reshape(kept, (64, 1, HIDDEN))
            pooled = R.squeeze(spread, axis=[1])
            R.output(pooled, weights, chosen)
        return (pooled, weights, chosen)

    @R.function
    def check(x: R.Tensor(("tokens", HIDDEN), "float16")) -> R.Tensor(("tokens",), "int64"):
        tokens = T.int64()
        with R.dataflow():
            zeros = R.zeros(R.shape([tokens, HIDDEN]), "float16")
            larger = R.greater(x, zeros)
            counted = R.sum(R.astype(larger, "int64"), axis=1)
            exact = R.match_cast(counted, R.Tensor((tokens,), "int64"))
            picked = R.where(R.greater(exact, R.const(4, "int64")), exact, R.const(4, "int64"))
            R.output(picked)
        return picked


def lower(mod=Experts, passes=("LegalizeOps", "FuseOps")):
    for name in passes:
        mod = getattr(relax.transform, name)()(mod)
    routing = Routing(experts=4)
    assert routing.rows(2) == 8
    return mod, routing.describe()


def test_lower():
    mod, text = lower(passes=("LegalizeOps",))
    assert "main" in [var.name_hint for var in mod.get_global_vars()]
    assert text
