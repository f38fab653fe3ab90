"""Layers of a project."""
from functools import partial

import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

WIDTHS = {"small": 32, "large": 64}
CHANNELS = 16
ACTIVATION = "relu"


def half(n):
    return n // 2


@T.inline
def clamp(value, low, high):
    T.evaluate(T.max(T.min(value, high), low))


def pooling(height, width, kind="max"):
    out_h, out_w = half(height), half(width)
    start = T.float32(-1000) if kind == "max" else T.float32(0)

    @T.prim_func(private=True, s_tir=True)
    def pool(data: T.Buffer((CHANNELS, height, width), "float32"), out: T.Buffer((CHANNELS, out_h, out_w), "float32")):
        for c, y, x, dy, dx in T.grid(CHANNELS, out_h, out_w, 2, 2):
            with T.sblock("pool"):
                vc, vy, vx, vdy, vdx = T.axis.remap("SSSRR", [c, y, x, dy, dx])
                with T.init():
                    out[vc, vy, vx] = start
                out[vc, vy, vx] = T.max(out[vc, vy, vx], data[vc, vy * 2 + vdy, vx * 2 + vdx])

    return pool


small_pool = pooling(WIDTHS["small"], WIDTHS["small"])
large_pool = partial(pooling, 64)(width=64, kind="sum")


def make_bias(channels=CHANNELS, dtype="float16"):
    @T.prim_func
    def bias(data: T.Buffer((channels, 8), dtype), shift: T.Buffer((channels,), dtype), out: T.Buffer((channels, 8), dtype)):
        for c in T.parallel(channels):
            for i in T.vectorized(8):
                out[c, i] = data[c, i] + shift[c]

    return bias


bias_16 = make_bias()


@I.ir_module
class Net:
    @T.prim_func(private=True)
    def square(x: T.Buffer((CHANNELS, 8), "float32"), y: T.Buffer((CHANNELS, 8), "float32")):
        for c, i in T.grid(CHANNELS, 8):
            y[c, i] = x[c, i] * x[c, i]

    @R.function
    def forward(x: R.Tensor((CHANNELS, 8), "float32"), scale: R.Tensor((CHANNELS, 1), "float32")):
        cls = Net
        with R.dataflow():
            squared = R.call_tir(cls.square, (x,), out_ty=R.Tensor((CHANNELS, 8), "float32"))
            scaled = R.multiply(squared, scale)
            mean = R.mean(scaled, axis=[1], keepdims=True)
            centred = R.subtract(scaled, mean)
            root = R.sqrt(R.abs(centred))
            R.output(root)
        return root
