import math

from tvm.script import ir as I, relax as R, tirx as T

ROWS, COLS = 64, 32
SHAPE = (ROWS, COLS)
SETTINGS = {"threads": 16, "dtype": "float32"}


def ceildiv(a, b):
    return (a + b - 1) // b


class Config:
    block = 8


def make_copy(rows, cols, dtype="float32"):
    blocks = ceildiv(cols, Config.block)

    @T.prim_func
    def copy(src: T.Buffer((rows, cols), dtype), dst: T.Buffer((rows, cols), dtype)):
        for i in T.serial(rows):
            for jo, ji in T.grid(blocks, Config.block):
                if jo * Config.block + ji < cols:
                    dst[i, jo * Config.block + ji] = src[i, jo * Config.block + ji]

    return copy


copy = make_copy(ROWS, 30)


@I.ir_module
class Module:
    @T.prim_func(private=True)
    def scale(A: T.Buffer(SHAPE, SETTINGS["dtype"]), B: T.Buffer(SHAPE, SETTINGS["dtype"])):
        factor = T.float32(math.sqrt(COLS))
        for i, j in T.grid(*SHAPE):
            B[i, j] = A[i, j] * factor

    @R.function
    def main(x: R.Tensor(SHAPE, "float32"), y: R.Tensor((COLS,), "float32")):
        cls = Module
        with R.dataflow():
            scaled = R.call_tir(cls.scale, (x,), out_ty=R.Tensor(SHAPE, "float32"))
            added = R.add(scaled, y)
            R.output(added)
        return added
