"""Fused layers of a small language model."""
from typing import List, Optional

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

HIDDEN = 96
FFN = 4 * HIDDEN
CONFIG = {"heads": 6, "dtype": "float16"}
SHAPES: List[int] = [8, HIDDEN]


def gelu_mul(rows, columns, dtype):
    half = columns // 2

    @T.prim_func(private=True, s_tir=True)
    def fused(gate_up: T.Buffer((rows, columns), dtype), out: T.Buffer((rows, half), dtype)):
        T.func_attr({"op_pattern": 4, "tirx.noalias": True})
        for i, j in T.grid(rows, half):
            with T.sblock("fused"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(gate_up[vi, vj], gate_up[vi, vj + half])
                T.writes(out[vi, vj])
                left: T.float32 = T.Cast("float32", gate_up[vi, vj])
                right: T.float32 = T.Cast("float32", gate_up[vi, vj + half])
                out[vi, vj] = T.Cast(dtype, left * T.sigmoid(left) * right)

    return fused


def row_max(rows, columns):
    @T.prim_func(private=True, s_tir=True)
    def kernel(var_x: T.handle, out: T.Buffer((rows,), "float32")) -> None:
        T.func_attr({"tirx.noalias": True})
        x = T.match_buffer(var_x, (rows, columns), "float32", offset_factor=1)
        for i in T.parallel(rows):
            for k in T.serial(columns):
                with T.sblock("max"):
                    vi = T.axis.spatial(rows, i)
                    vk = T.axis.reduce(columns, k)
                    with T.init():
                        out[vi] = T.float32(-1e30)
                    out[vi] = T.max(out[vi], x[vi, vk])

    return kernel


def make_block(batch: int, dtype: str):
    @I.ir_module
    class Block:
        @T.prim_func(private=True, s_tir=True)
        def residual(a: T.Buffer((T.int64(8), T.int64(96)), "float16"), b: T.Buffer((T.int64(8), T.int64(96)), "float16"), c: T.Buffer((T.int64(8), T.int64(96)), "float16")):
            for i, j in T.grid(T.int64(8), T.int64(96)):
                with T.sblock("add"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    c[vi, vj] = a[vi, vj] + b[vi, vj]

        @R.function
        def mlp(x: R.Tensor((batch, 96), dtype), up: R.Tensor((96, 384), dtype), down: R.Tensor((384, 96), dtype)) -> R.Tensor((batch, 96), dtype):
            with R.dataflow():
                wide = R.matmul(x, up)
                act = R.nn.gelu(wide)
                narrow = R.matmul(act, down)
                out = R.add(x, narrow)
                R.output(out)
            return out

    return Block


@I.ir_module
class Layer:
    I.module_attrs({"version": 2})

    @T.prim_func(private=True, s_tir=True)
    def scores(q: T.Buffer((T.int64(6), T.int64(8), T.int64(16)), "float32"), k: T.Buffer((T.int64(6), T.int64(8), T.int64(16)), "float32"), s: T.Buffer((T.int64(6), T.int64(8), T.int64(8)), "float32")):
        T.func_attr({"tirx.noalias": True})
        for h, i, j, d in T.grid(T.int64(6), T.int64(8), T.int64(8), T.int64(16)):
            with T.sblock("scores"):
                vh, vi, vj, vd = T.axis.remap("SSSR", [h, i, j, d])
                with T.init():
                    s[vh, vi, vj] = T.float32(0)
                s[vh, vi, vj] = s[vh, vi, vj] + q[vh, vi, vd] * k[vh, vj, vd] * T.float32(0.25)

    @R.function
    def attend(x: R.Tensor((8, 96), "float32"), wq: R.Tensor((96, 96), "float32"), wk: R.Tensor((96, 96), "float32"), wv: R.Tensor((96, 96), "float32")) -> R.Tensor((8, 96), "float32"):
        cls = Layer
        with R.dataflow():
            q = R.permute_dims(R.reshape(R.matmul(x, wq), (8, 6, 16)), axes=[1, 0, 2])
            k = R.permute_dims(R.reshape(R.matmul(x, wk), (8, 6, 16)), axes=[1, 0, 2])
            v = R.permute_dims(R.reshape(R.matmul(x, wv), (8, 6, 16)), axes=[1, 0, 2])
            s = R.call_tir(cls.scores, (q, k), out_ty=R.Tensor((6, 8, 8), "float32"))
            p = R.nn.softmax(s, axis=-1)
            o = R.matmul(p, v)
            merged: R.Tensor((8, 96), "float32") = R.reshape(R.permute_dims(o, axes=[1, 0, 2]), R.shape([8, 96]))
            R.output(merged)
        return merged

    @R.function
    def choose(logits: R.Tensor(("b", 50), "float32"), flag: R.Tensor((), "bool")) -> R.Tensor(("b", 1), "int64"):
        b = T.int64()
        shifted = R.subtract(logits, R.max(logits, axis=[1], keepdims=True))
        if flag:
            picked = R.argmax(shifted, axis=1, keepdims=True)
        else:
            picked = R.argmin(shifted, axis=1, keepdims=True)
        token: R.Tensor((b, 1), "int64") = picked
        return token

    @R.function
    def parts(x: R.Tensor((4, 12), "float32")) -> R.Tuple(R.Tensor((4, 4), "float32"), R.Tensor((4, 8), "float32")):
        with R.dataflow():
            pair = R.split(x, indices_or_sections=[4], axis=1)
            first = pair[0]
            second: R.Tensor((4, 8), "float32") = pair[1]
            R.output(first, second)
        return (first, second)


def run(mod: tvm.IRModule, inputs: Optional[List[np.ndarray]] = None):
    names = [gv.name_hint for gv in mod.get_global_vars()]
    values = inputs or [np.zeros(SHAPES, CONFIG["dtype"])]
    return dict(zip(names, values))


def test_fused():
    func = gelu_mul(8, FFN, "float16")
    assert isinstance(func, tvm.tirx.PrimFunc)
    assert len(run(Layer)) == 1
    assert isinstance(Layer["attend"], relax.Function)
