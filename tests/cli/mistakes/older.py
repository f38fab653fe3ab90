# Kernels for the classic release.
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tir as T

BLOCK = 64


def transpose_of(rows, cols):
    @T.prim_func(private=True)
    def transpose(a: T.Buffer((rows, cols), "float32"), b: T.Buffer((cols, rows), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        for i, j in T.grid(cols, rows):
            with T.block("transpose"):
                vi, vj = T.axis.remap("SS", [i, j])
                T.reads(a[vj, vi])
                T.writes(b[vi, vj])
                b[vi, vj] = a[vj, vi]

    return transpose


@I.ir_module
class Legacy:
    @T.prim_func
    def dense(x: T.Buffer((8, 64), "float32"), w: T.Buffer((16, 64), "float32"), y: T.Buffer((8, 16), "float32")):
        T.func_attr({"tir.noalias": T.bool(True)})
        acc = T.alloc_buffer((8, 16))
        for i, j, k in T.grid(8, 16, 64):
            with T.block("dense"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    acc[vi, vj] = T.float32(0)
                acc[vi, vj] = acc[vi, vj] + x[vi, vk] * w[vj, vk]
        for i, j in T.grid(8, 16):
            with T.block("out"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.tanh(acc[vi, vj])

    @R.function
    def main(x: R.Tensor((8, 64), dtype="float32"), w: R.Tensor((16, 64), dtype="float32")) -> R.Tensor((8, 16), dtype="float32"):
        with R.dataflow():
            d = R.call_tir(Legacy.dense, (x, w), out_sinfo=R.Tensor((8, 16), dtype="float32"))
            e = R.nn.dropout(d, rate=0.5)
            f = e[0]
            g: R.Tensor((8, 16), dtype="float32") = R.sigmoid(f)
            R.output(g)
        return g


def build():
    sch = tvm.tir.Schedule(Legacy)
    block = sch.get_block("dense", func_name="dense")
    i, j, k = sch.get_loops(block)
    sch.reorder(k, i, j)
    return sch.mod
