"""Tests of a pass, as TVM keeps them."""
import numpy as np
import pytest

import tvm
import tvm.testing
from tvm import relax
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T


def _check(mod_before, mod_expected):
    after = relax.transform.CanonicalizeBindings()(mod_before)
    assert len(after.functions) == len(mod_expected.functions)


def test_add_exp():
    @I.ir_module(s_tir=True)
    class Before:
        @T.prim_func(private=True, s_tir=True)
        def add(x: T.Buffer((T.int64(10), T.int64(20)), "float32"), one: T.Buffer((), "float32"), out: T.Buffer((T.int64(10), T.int64(20)), "float32")):
            T.func_attr({"op_pattern": 0, "tirx.noalias": True})
            for i0, i1 in T.grid(T.int64(10), T.int64(20)):
                with T.sblock("T_add"):
                    ax0, ax1 = T.axis.remap("SS", [i0, i1])
                    T.reads(x[ax0, ax1], one[()])
                    T.writes(out[ax0, ax1])
                    out[ax0, ax1] = x[ax0, ax1] + one[()]

        @T.prim_func(private=True, s_tir=True)
        def exp(x: T.Buffer((T.int64(10), T.int64(20)), "float32"), out: T.Buffer((T.int64(10), T.int64(20)), "float32")):
            for i0, i1 in T.grid(T.int64(10), T.int64(20)):
                with T.sblock("compute"):
                    v0 = T.axis.spatial(T.int64(10), i0)
                    v1 = T.axis.spatial(T.int64(20), i1)
                    out[v0, v1] = T.exp(x[v0, v1])

        @R.function
        def main(x: R.Tensor((10, 20), dtype="float32"), p0: R.Tensor((), dtype="float32")) -> R.Tensor((10, 20), dtype="float32"):
            cls = Before
            with R.dataflow():
                lv = R.call_tir(cls.add, (x, p0), out_ty=R.Tensor((10, 20), dtype="float32"))
                lv1 = R.call_tir(cls.exp, (lv,), out_ty=R.Tensor((10, 20), dtype="float32"))
                gv = R.nn.relu(lv1)
                R.output(gv)
            return gv

    @I.ir_module(s_tir=True)
    class Expected:
        @R.function
        def fused(x: R.Tensor((10, 20), dtype="float32"), p0: R.Tensor((), dtype="float32")) -> R.Tensor((10, 20), dtype="float32"):
            R.func_attr({"Primitive": True})
            with R.dataflow():
                lv = R.add(x, p0)
                gv = R.exp(lv)
                R.output(gv)
            return gv

        @R.function
        def main(x: R.Tensor((10, 20), dtype="float32"), p0: R.Tensor((), dtype="float32")) -> R.Tensor((10, 20), dtype="float32"):
            cls = Expected
            with R.dataflow():
                gv: R.Tensor((10, 20), dtype="float32") = cls.fused(x, p0)
                R.output(gv)
            return gv

    _check(Before, Before)


def test_symbolic_reshape():
    @R.function
    def before(x: R.Tensor(("batch", "n"), "float32"), y: R.Tensor((4, "n"), "float32")):
        batch = T.int64()
        n = T.int64()
        with R.dataflow():
            flat = R.reshape(x, (batch * n,))
            wide = R.broadcast_to(R.expand_dims(flat, axis=[0]), (4, batch * n))
            parts = R.concat([wide, y], axis=1)
            R.output(parts, flat)
        return parts, flat

    assert before.attrs is not None


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_conditional(dtype="float32"):
    width = 16

    @I.ir_module(s_tir=True)
    class Cond:
        @R.function
        def main(flag: R.Tensor((), "bool"), x: R.Tensor((8, 16), dtype), w: R.Tensor((16, 16), dtype)):
            if flag:
                y = R.matmul(x, w)
                z = R.nn.gelu(y)
            else:
                z = R.nn.leakyrelu(x, 0.1)
            return z

        @R.function(private=True)
        def pooled(data: R.Tensor((1, 3, 32, 32), dtype), weight: R.Tensor((8, 3, 3, 3), dtype)):
            with R.dataflow():
                conv = R.nn.conv2d(data, weight, strides=[1, 1], padding=[1, 1, 1, 1], data_layout="NCHW", out_dtype=dtype)
                pool = R.nn.max_pool2d(conv, pool_size=[2, 2], strides=[2, 2], padding=[0, 0])
                mean = R.mean(pool, axis=[2, 3], keepdims=False)
                ones = R.full(R.shape([1, width // 2]), R.const(1, dtype), dtype=dtype)
                total = R.sum(R.multiply(mean, ones), axis=-1)
                R.output(total)
            return total

    assert len(Cond.functions) == 2
