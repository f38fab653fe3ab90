"""Pooling and normalisation kernels, made for the sizes of a network."""
import functools

import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

WINDOW = 2
LANES = 8
EPSILON = 1e-6


def make_average(height, width, channels, dtype="float32"):
    rows = height // WINDOW
    area = WINDOW * WINDOW

    @T.prim_func(private=True, s_tir=True)
    def average(src: T.Buffer((height, width, channels), dtype), dst: T.Buffer((rows, width // WINDOW, channels), dtype)):
        T.func_attr({"tirx.noalias": True})
        total = T.sblock_alloc_buffer((rows, width // WINDOW, channels), dtype)
        for i, j, c, di, dj in T.grid(rows, width // WINDOW, channels, WINDOW, WINDOW):
            with T.sblock("window"):
                vi, vj, vc, vdi, vdj = T.axis.remap("SSSRR", [i, j, c, di, dj])
                T.reads(src[vi * WINDOW + vdi, vj * WINDOW + vdj, vc])
                T.writes(total[vi, vj, vc])
                with T.init():
                    total[vi, vj, vc] = T.Cast(dtype, 0)
                total[vi, vj, vc] = total[vi, vj, vc] + src[vi * WINDOW + vdi, vj * WINDOW + vdj, vc]
        for i, j, c in T.grid(rows, width // WINDOW, channels):
            with T.sblock("divide"):
                vi, vj, vc = T.axis.remap("SSS", [i, j, c])
                dst[vi, vj, vc] = total[vi, vj, vc] / T.Cast(dtype, area)

    return average


def make_count(length, limit):
    @T.prim_func(s_tir=True)
    def count(values: T.Buffer((length,), "int32"), found: T.Buffer((1,), "int32")):
        T.func_attr({"global_symbol": "count"})
        found[0] = 0
        for i in range(length):
            inside: T.bool = values[i] < limit
            if inside:
                found[0] = found[0] + 1
            else:
                found[0] = found[0]

    return count


@functools.lru_cache(maxsize=None)
def make_scale(length: int):
    @T.prim_func(private=True, s_tir=True)
    def scale(var_x: T.handle, factor: T.float32, var_y: T.handle):
        batch = T.int64()
        x = T.match_buffer(var_x, (batch, length), "float32")
        y = T.match_buffer(var_y, (batch, length), "float32")
        for b, k in T.grid(batch, length):
            with T.sblock("scale"):
                vb, vk = T.axis.remap("SS", [b, k])
                y[vb, vk] = x[vb, vk] * factor + T.sqrt(T.float32(EPSILON))

    return scale


@I.ir_module
class Norm:
    @T.prim_func(private=True, s_tir=True)
    def square_sum(x: T.Buffer((T.int64(24), T.int64(64)), "float32"), out: T.Buffer((T.int64(24),), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(T.int64(24)):
            for k in T.serial(T.int64(64)):
                with T.sblock("sum"):
                    vi = T.axis.spatial(T.int64(24), i)
                    vk = T.axis.reduce(T.int64(64), k)
                    with T.init():
                        out[vi] = T.float32(0)
                    out[vi] = out[vi] + x[vi, vk] * x[vi, vk]

    @R.function
    def rms(x: R.Tensor((24, 64), dtype="float32"), weight: R.Tensor((64,), dtype="float32")) -> R.Tensor((24, 64), dtype="float32"):
        cls = Norm
        with R.dataflow():
            total = R.call_tir(cls.square_sum, (x,), out_ty=R.Tensor((24,), dtype="float32"))
            mean = R.multiply(total, R.const(1.0 / 64, "float32"))
            inverse = R.rsqrt(R.add(mean, R.const(EPSILON, "float32")))
            column: R.Tensor((24, 1), dtype="float32") = R.reshape(inverse, R.shape([24, 1]))
            scaled = R.multiply(R.multiply(x, column), weight)
            R.output(scaled)
        return scaled

    @R.function
    def gated(x: R.Tensor(("rows", 64), "float32"), gate: R.Tensor(("rows", 64), "float32")) -> R.Tuple(R.Tensor(("rows", 32), "float32"), R.Tensor(("rows", 32), "float32")):
        rows = T.int64()
        with R.dataflow():
            both = R.multiply(R.nn.silu(gate), x)
            parts = R.split(both, indices_or_sections=2, axis=1)
            low: R.Tensor((rows, 32), "float32") = parts[0]
            high = parts[1]
            R.output(low, high)
        return (low, high)


def reference(values: np.ndarray) -> np.ndarray:
    return values / np.sqrt((values**2).mean(axis=-1, keepdims=True) + EPSILON)


def test_shapes():
    func = make_average(8, 8, 4)
    assert len(func.params) == 2
    assert isinstance(Norm["rms"], relax.Function)
    assert isinstance(make_count(16, 3), tvm.tirx.PrimFunc)
