"""Quantised linear layers, one per group size."""
import functools
from typing import Tuple

import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

GROUP = 32
STORAGE = "uint32"
MODEL_DTYPE = "float16"


class Layout:
    transposed = False
    bits = 4
    pack = 8


def groups_of(width, group=GROUP):
    return (width + group - 1) // group


def make_dequantize(rows, cols, group=GROUP, dtype=MODEL_DTYPE):
    pack = 32 // Layout.bits
    groups = groups_of(cols, group)

    @T.prim_func(private=True, s_tir=True)
    def dequantize(packed: T.Buffer((rows, cols // pack), STORAGE), scale: T.Buffer((rows, groups), dtype), out: T.Buffer((rows, cols), dtype)):
        T.func_attr({"tirx.noalias": True})
        for i, j in T.grid(rows, cols):
            with T.sblock("dequantize"):
                v_i, v_j = T.axis.remap("SS", [i, j])
                T.reads(packed[v_i, v_j // pack], scale[v_i, v_j // group])
                T.writes(out[v_i, v_j])
                out[v_i, v_j] = (T.Cast(dtype, T.bitwise_and(T.shift_right(packed[v_i, v_j // pack], T.Cast(STORAGE, v_j % pack * 4)), T.uint32(15))) - T.Cast(dtype, 7)) * scale[v_i, v_j // group]

    return dequantize


small = make_dequantize(64, 128)
large = make_dequantize(256, 512, group=64)


def make_module(batch: int, width: int = 128):
    @I.ir_module
    class Linear:
        @T.prim_func(private=True)
        def bias_add(x: T.Buffer((batch, width), MODEL_DTYPE), bias: T.Buffer((width,), MODEL_DTYPE), out: T.Buffer((batch, width), MODEL_DTYPE)):
            for i, j in T.grid(batch, width):
                out[i, j] = x[i, j] + bias[j]

        @R.function
        def forward(x: R.Tensor((batch, width), MODEL_DTYPE), w: R.Tensor((width, width), MODEL_DTYPE), bias: R.Tensor((width,), MODEL_DTYPE)):
            cls = Linear
            with R.dataflow():
                product = R.matmul(x, w)
                biased = R.call_tir(cls.bias_add, (product, bias), out_ty=R.Tensor((batch, width), MODEL_DTYPE))
                clipped = R.clip(biased, min=-10, max=10)
                R.output(clipped)
            return clipped

    return Linear


linear_1 = make_module(1)
linear_8 = make_module(8, width=256)
