import sys

import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


class BaseBeforeAfter:
    def transform(self):
        return tvm.relax.transform.FoldConstant()

    def check(self, before, after):
        result = self.transform()(before)
        assert result is not None
        return result, after


class TestFold(BaseBeforeAfter):
    def test_add(self):
        @I.ir_module
        class Before:
            @R.function
            def main(x: R.Tensor((4, 4), "float32")):
                with R.dataflow():
                    two = R.add(R.const(1.0, "float32"), R.const(1.0, "float32"))
                    y = R.multiply(x, two)
                    R.output(y)
                return y

        self.check(Before, Before)

    def test_tuple(self):
        @R.function
        def func(t: R.Tuple(R.Tensor((2, 3), "float32"), R.Tensor((3,), "float32")), s: R.Shape(["n"])) -> R.Tensor(("n", 3), "float32"):
            n = T.int64()
            a = t[0]
            b = t[1]
            c = R.add(a, b)
            d = R.sum(c, axis=0, keepdims=True)
            e = R.broadcast_to(d, R.shape([n, 3]))
            return e

        assert func is not None


def test_vectorize():
    @T.prim_func
    def before(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in T.vectorized(16):
            B[i] = A[i] * T.float32(2)

    @T.prim_func
    def expected(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        B[T.Ramp(0, 1, 16)] = A[T.Ramp(0, 1, 16)] * T.Broadcast(T.float32(2), 16)

    assert before is not expected


def test_storage():
    @T.prim_func(private=True)
    def func(n: T.int32, data: T.handle("float32"), flag: T.bool):
        buf = T.decl_buffer((64,), "float32", data=data)
        scratch = T.alloc_buffer((64,), "float32", scope="global")
        tx = T.launch_thread("threadIdx.x", 64)
        if flag:
            scratch[tx] = T.exp(buf[tx])
            T.evaluate(T.tvm_storage_sync("shared"))
            buf[tx] = scratch[tx]
        else:
            buf[tx] = T.Cast("float32", n + tx)
        assert n > 0, "n must be positive"

    assert func is not None


def test_lower():
    N = 8

    @I.ir_module(s_tir=True)
    class Module:
        @T.prim_func(private=True, s_tir=True)
        def transpose(x: T.Buffer((T.int64(8), T.int64(4)), "float32"), y: T.Buffer((T.int64(4), T.int64(8)), "float32")):
            for ax0, ax1 in T.grid(T.int64(4), T.int64(8)):
                with T.sblock("T_transpose"):
                    v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
                    T.reads(x[v_ax1, v_ax0])
                    T.writes(y[v_ax0, v_ax1])
                    y[v_ax0, v_ax1] = x[v_ax1, v_ax0]

        @R.function
        def main(x: R.Tensor((8, 4), "float32"), w: R.Tensor((8, 8), "float32")) -> R.Tensor((4, 8), "float32"):
            cls = Module
            with R.dataflow():
                lv = R.call_tir(cls.transpose, (x,), out_ty=R.Tensor((4, 8), "float32"))
                lv1 = R.matmul(lv, w)
                lv2 = R.nn.relu(lv1)
                gv = R.call_dps_packed("my.scale", (lv2, R.prim_value(N)), out_ty=R.Tensor((4, 8), "float32"))
                R.output(gv)
            return gv

        @R.function
        def loop(i: R.Tensor((), "int32"), x: R.Tensor((4, 8), "float32")) -> R.Tensor((4, 8), "float32"):
            cls = Module
            cond = R.less(i, R.const(10, "int32"))
            if cond:
                i_next = R.add(i, R.const(1, "int32"))
                x_next = R.multiply(x, R.const(0.5, "float32"))
                out: R.Tensor((4, 8), "float32") = cls.loop(i_next, x_next)
            else:
                out: R.Tensor((4, 8), "float32") = x
            return out

    mod = tvm.relax.transform.LegalizeOps()(Module)
    assert "transpose" in [var.name_hint for var in mod.functions]
