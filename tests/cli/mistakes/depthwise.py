# Depthwise convolution and a reduction, written for two releases of our kernels.
import functools
import math
from tvm.script import ir as I, relax as R
from tvm.script import tirx as T

CHANNELS, SIZE = 16, 28
KERNEL = 3
PAD = KERNEL // 2
TILE = 4
DTYPE = "float32"


def padded(size, pad=PAD):
    return size + 2 * pad


def tiles(size, tile):
    return (size + tile - 1) // tile


def make_depthwise(channels, size):
    blocks = tiles(size, TILE)

    @T.prim_func(s_tir=True)
    def depthwise(data: T.Buffer((channels, padded(size), padded(size)), DTYPE), weight: T.Buffer((channels, KERNEL, KERNEL), DTYPE), out: T.Buffer((channels, size, size), DTYPE)):
        for c in T.thread_binding(channels, thread="blockIdx.x"):
            for yo, xo in T.grid(blocks, blocks):
                for yi, xi, ry, rx in T.grid(TILE, TILE, KERNEL, KERNEL):
                    with T.sblock("conv"):
                        vc = T.axis.spatial(channels, c)
                        vy = T.axis.spatial(size, yo * TILE + yi)
                        vx = T.axis.spatial(size, xo * TILE + xi)
                        vry, vrx = T.axis.remap("RR", [ry, rx])
                        T.where(yo * TILE + yi < size and xo * TILE + xi < size)
                        T.reads(data[vc, vy + vry, vx + vrx], weight[vc, vry, vrx])
                        T.writes(out[vc, vy, vx])
                        with T.init():
                            out[vc, vy, vx] = T.float32(0)
                        out[vc, vy, vx] += data[vc, vy + vry, vx + vrx] * weight[vc, vry, vrx]

    return depthwise


depthwise = make_depthwise(CHANNELS, SIZE)


@I.ir_module
class Pipeline:
    I.module_attrs({"owner": "vision"})

    @T.prim_func(private=True)
    def border(image: T.Buffer((CHANNELS, SIZE, SIZE), DTYPE), framed: T.Buffer((CHANNELS, SIZE + 2 * PAD, SIZE + 2 * PAD), DTYPE)):
        T.func_attr({"tirx.noalias": True})
        for c, y, x in T.grid(CHANNELS, padded(SIZE), padded(SIZE)):
            inside: T.let[T.bool] = PAD <= y and y < SIZE + PAD and PAD <= x and x < SIZE + PAD
            framed[c, y, x] = T.if_then_else(inside, image[c, y - PAD, x - PAD], T.float32(0))

    @T.prim_func(private=True)
    def statistics(values: T.Buffer((CHANNELS, SIZE * SIZE), DTYPE), mean: T.Buffer((CHANNELS,), DTYPE), biggest: T.Buffer((CHANNELS,), "int32")):
        best = T.alloc_buffer((1,), DTYPE, scope="local")
        for c in T.parallel(CHANNELS):
            best[0] = T.min_value(DTYPE)
            mean[c] = T.float32(0)
            biggest[c] = -1
            for i in T.serial(SIZE * SIZE):
                mean[c] = mean[c] + values[c, i]
                if values[c, i] > best[0]:
                    best[0] = values[c, i]
                    biggest[c] = i
            mean[c] = mean[c] / T.float32(SIZE * SIZE)

    @R.function
    def main(image: R.Tensor((CHANNELS, SIZE, SIZE), DTYPE), shift: R.Tensor((CHANNELS, 1), DTYPE)) -> R.Tuple(R.Tensor((CHANNELS,), DTYPE), R.Tensor((CHANNELS,), "int32")):
        cls = Pipeline
        with R.dataflow():
            framed = R.call_tir(cls.border, (image,), out_ty=R.Tensor((CHANNELS, padded(SIZE), padded(SIZE)), DTYPE))
            inner = R.strided_slice(framed, axes=[1, 2], begin=[1, 1], end=[SIZE + 1, SIZE + 1])
            flat = R.reshape(inner, (CHANNELS, SIZE * SIZE))
            centred = R.subtract(flat, shift)
            both = R.call_tir(cls.statistics, (centred,), out_ty=[R.Tensor((CHANNELS,), DTYPE), R.Tensor((CHANNELS,), "int32")])
            R.output(both)
        return both
