"""Models of a project: settings, helper functions, a class that builds modules."""
import math
from dataclasses import dataclass

import numpy as np
import tvm
from tvm.script import ir as I, relax as R, tirx as T

TILE = 16
DTYPES = {"half": "float16", "full": "float32"}
SIZES = [64, 128]


@dataclass
class Settings:
    heads: int = 8
    width: int = 64


class Limits:
    LOWEST = -65504.0
    WARP = 32


def padded(length, multiple=TILE):
    return ((length + multiple - 1) // multiple) * multiple


def make_softmax(rows: int, cols: int, dtype: str = "float32"):
    wide = padded(cols)
    lowest = Limits.LOWEST

    @T.prim_func(private=True, s_tir=True)
    def softmax(x: T.Buffer((rows, cols), dtype), y: T.Buffer((rows, cols), dtype)):
        T.func_attr({"op_pattern": 4})
        biggest = T.sblock_alloc_buffer((rows,), dtype)
        total = T.sblock_alloc_buffer((rows,), dtype)
        for i, k in T.grid(rows, wide):
            with T.sblock("biggest"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.where(k < cols)
                with T.init():
                    biggest[vi] = T.Cast(dtype, lowest)
                biggest[vi] = T.max(biggest[vi], x[vi, vk])
        for i, k in T.grid(rows, cols):
            with T.sblock("total"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    total[vi] = T.Cast(dtype, 0)
                total[vi] = total[vi] + T.exp(x[vi, vk] - biggest[vi])
        for i, j in T.grid(rows, cols):
            with T.sblock("divide"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.exp(x[vi, vj] - biggest[vi]) / total[vi]

    return softmax


kernels = [make_softmax(size, size // 2) for size in SIZES]
special = make_softmax(7, 30, dtype=DTYPES["half"])


class Builder:
    def __init__(self, width=64):
        self.width = width

    def build(self):
        @I.ir_module
        class Attention:
            @T.prim_func(private=True)
            def scale(x: T.Buffer((4, TILE, TILE), "float32"), y: T.Buffer((4, TILE, TILE), "float32")):
                for h, i, j in T.grid(4, TILE, TILE):
                    y[h, i, j] = x[h, i, j] * T.float32(1 / math.sqrt(TILE))

            @R.function
            def main(q: R.Tensor((4, TILE, 64), "float32"), k: R.Tensor((4, TILE, 64), "float32"), v: R.Tensor((4, TILE, 64), "float32")) -> R.Tensor((4, TILE, 64), "float32"):
                cls = Attention
                with R.dataflow():
                    flipped = R.permute_dims(k, axes=[0, 2, 1])
                    raw = R.matmul(q, flipped)
                    scores = R.call_tir(cls.scale, (raw,), out_ty=R.Tensor((4, TILE, TILE), "float32"))
                    weights = R.nn.softmax(scores, axis=-1)
                    mixed = R.matmul(weights, v)
                    R.output(mixed)
                return mixed

        return Attention
