"""Kernels with blocks, made for several shapes and types."""
from functools import partial

import tvm
from tvm.script import ir as I
from tvm.script import tirx as T

TILE = 16
CONFIG = {"block": 64, "thread": 32, "dtype": "float16"}


def cdiv(a, b):
    return (a + b - 1) // b


def matmul(m, n, k, in_dtype=CONFIG["dtype"], acc_dtype="float32"):
    @T.prim_func(s_tir=True)
    def kernel(a: T.handle, b: T.handle, c: T.handle):
        T.func_attr({"global_symbol": "matmul", "tirx.noalias": True})
        A = T.match_buffer(a, [m, k], in_dtype)
        B = T.match_buffer(b, [k, n], in_dtype)
        C = T.match_buffer(c, [m, n], acc_dtype)
        for io, jo in T.grid(cdiv(m, TILE), cdiv(n, TILE)):
            for ii, ji, kk in T.grid(TILE, TILE, k):
                with T.sblock("update"):
                    T.where(io * TILE + ii < m and jo * TILE + ji < n)
                    vi = T.axis.spatial(m, io * TILE + ii)
                    vj = T.axis.spatial(n, jo * TILE + ji)
                    vk = T.axis.reduce(k, kk)
                    with T.init():
                        C[vi, vj] = T.Cast(acc_dtype, 0)
                    C[vi, vj] += T.Cast(acc_dtype, A[vi, vk]) * T.Cast(acc_dtype, B[vk, vj])

    return kernel


def padded_copy(length, pad, dtype="int32"):
    total = length + 2 * pad

    @T.prim_func(private=True, s_tir=True)
    def copy(src: T.Buffer((length,), dtype), dst: T.Buffer((total,), dtype)):
        for i in T.serial(total, annotations={"pragma_unroll": 1}):
            with T.sblock("pad"):
                vi = T.axis.spatial(total, i)
                T.reads(src[vi - pad])
                T.writes(dst[vi])
                T.sblock_attr({"script_parsing_detect_access": 3})
                dst[vi] = T.if_then_else(pad <= vi and vi < length + pad, src[vi - pad], T.Cast(dtype, 0))

    return copy


@I.ir_module(s_tir=True)
class Reduction:
    @T.prim_func(s_tir=True)
    def row_max(x: T.Buffer((32, 128), "float32"), y: T.Buffer((32,), "float32")):
        T.func_attr({"tirx.noalias": True})
        partial_max = T.sblock_alloc_buffer((32, 4), "float32", scope="local")
        for i in T.thread_binding(32, thread="threadIdx.x"):
            for jo, ji in T.grid(4, 32):
                with T.sblock("partial"):
                    vi, vo, vk = T.axis.remap("SSR", [i, jo, ji])
                    with T.init():
                        partial_max[vi, vo] = T.min_value("float32")
                    partial_max[vi, vo] = T.max(partial_max[vi, vo], x[vi, vo * 32 + vk])
            for jo in range(4):
                with T.sblock("final"):
                    vi, vo = T.axis.remap("SR", [i, jo])
                    with T.init():
                        y[vi] = T.min_value("float32")
                    y[vi] = T.max(y[vi], partial_max[vi, vo])

    @T.prim_func(s_tir=True)
    def histogram(data: T.Buffer((1024,), "uint8"), bins: T.Buffer((256,), "int32")):
        for b in range(256):
            bins[b] = 0
        for i in range(1024):
            slot: T.let[T.int32] = T.Cast("int32", data[i])
            bins[slot] = bins[slot] + 1

    @T.prim_func(s_tir=True)
    def select(flags: T.Buffer((64,), "bool"), lhs: T.Buffer((64,), "int64"), rhs: T.Buffer((64,), "int64"), out: T.Buffer((64,), "int64"), n: T.int32):
        for i in T.vectorized(64):
            if i < n and flags[i]:
                out[i] = T.Select(flags[i], lhs[i], rhs[i])
            else:
                out[i] = T.int64(0)
        limit: T.int32 = n
        while limit > 0:
            limit = limit - 1
            out[limit] = T.bitwise_and(out[limit], T.int64(255))


make_half = partial(matmul, in_dtype="float16")
KERNELS = [matmul(64, 64, 64), matmul(100, 60, 32, "int8", acc_dtype="int32"), padded_copy(30, 1), make_half(32, 32, 32)]
