"""Kernels of several sizes, made by functions."""
import functools

import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

HEADS = 4
HEAD_DIM = 32
DTYPE = "float16"


def rotary(seq, dim=HEAD_DIM, theta=10000.0):
    half = dim // 2

    @T.prim_func(private=True)
    def kernel(x: T.Buffer((seq, dim), DTYPE), out: T.Buffer((seq, dim), DTYPE)):
        for i in T.parallel(seq):
            for j in range(half):
                angle = T.Cast("float32", i) / T.pow(T.float32(theta), T.Cast("float32", j) / T.float32(half))
                cos = T.cos(angle)
                sin = T.sin(angle)
                low = T.Cast("float32", x[i, j])
                high = T.Cast("float32", x[i, j + half])
                out[i, j] = T.Cast(DTYPE, low * cos - high * sin)
                out[i, j + half] = T.Cast(DTYPE, low * sin + high * cos)

    return kernel


rotary_16 = rotary(16)


@I.ir_module
class Cache:
    @T.prim_func(private=True)
    def append(cache: T.Buffer((128, HEADS, HEAD_DIM), DTYPE), fresh: T.Buffer((HEADS, HEAD_DIM), DTYPE), at: T.int32, out: T.Buffer((128, HEADS, HEAD_DIM), DTYPE)):
        for p, h, d in T.grid(128, HEADS, HEAD_DIM):
            if p == at:
                out[p, h, d] = fresh[h, d]
            else:
                out[p, h, d] = cache[p, h, d]

    @T.prim_func(private=True, s_tir=True)
    def norm(var_x: T.handle, var_y: T.handle):
        seq = T.int64()
        x = T.match_buffer(var_x, (seq, HEAD_DIM), DTYPE)
        y = T.match_buffer(var_y, (seq,), DTYPE)
        for i, k in T.grid(seq, HEAD_DIM):
            with T.sblock("sum"):
                v_i = T.axis.spatial(seq, i)
                v_k = T.axis.reduce(HEAD_DIM, k)
                with T.init():
                    y[v_i] = T.float16(0)
                y[v_i] = y[v_i] + x[v_i, v_k] * x[v_i, v_k]

    @R.function
    def step(x: R.Tensor(("seq", HEAD_DIM), DTYPE), state: R.Tuple(R.Tensor((HEADS, 8), "float32"), R.Tensor((HEADS, 8), "float32")), stop: R.Tensor((), "bool")):
        seq = T.int64()
        cls = Cache
        with R.dataflow():
            sums = R.call_tir(cls.norm, (x,), out_ty=R.Tensor((seq,), DTYPE))
            wide = R.expand_dims(sums, axis=1)
            scaled = R.divide(x, wide)
            first = state[0]
            second = state[1]
            both = R.concat([first, second], axis=1)
            R.output(scaled, both)
        if stop:
            result = R.negative(both)
        else:
            result = R.nn.silu(both)
        shaped = R.match_cast(result, R.Tensor((HEADS, 16), "float32"))
        return (scaled, shaped)
