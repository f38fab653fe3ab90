"""Tiled kernels for GPUs, one per shape, and what chooses among them."""
from typing import List, Optional, Tuple

import tvm
from tvm.script import ir as I
from tvm.script import tirx as T

WARP = 32
VEC = 4
SHARED_LIMIT = 48 * 1024


class Tiles:
    m = 64
    n = 64
    k = 16


def check_fits(tile_m: int, tile_n: int, tile_k: int, bits: int = 16) -> int:
    used = (tile_m + tile_n) * tile_k * bits // 8
    assert used <= SHARED_LIMIT, "tiles do not fit"
    return used


def gemm(m: int, n: int, k: int, dtype: str = "float16", out_dtype: Optional[str] = None):
    out_dtype = out_dtype or "float32"
    grid_m, grid_n = m // Tiles.m, n // Tiles.n
    check_fits(Tiles.m, Tiles.n, Tiles.k)

    @T.prim_func(s_tir=True)
    def main(A: T.Buffer((m, k), dtype), B: T.Buffer((n, k), dtype), C: T.Buffer((m, n), out_dtype)):
        T.func_attr({"tirx.noalias": True, "tirx.is_scheduled": True})
        for by in T.thread_binding(grid_m, thread="blockIdx.y"):
            for bx in T.thread_binding(grid_n, thread="blockIdx.x"):
                with T.sblock("tile"):
                    vby, vbx = T.axis.remap("SS", [by, bx])
                    A_shared = T.sblock_alloc_buffer((Tiles.m, Tiles.k), dtype, scope="shared")
                    B_shared = T.sblock_alloc_buffer((Tiles.n, Tiles.k), dtype, scope="shared")
                    acc = T.sblock_alloc_buffer((Tiles.m, Tiles.n), "float32", scope="local")
                    for i, j in T.grid(Tiles.m, Tiles.n):
                        with T.sblock("zero"):
                            vi, vj = T.axis.remap("SS", [i, j])
                            acc[vi, vj] = T.float32(0.0)
                    for ko in T.serial(k // Tiles.k):
                        for i, kk in T.grid(Tiles.m, Tiles.k):
                            with T.sblock("load_a"):
                                vi, vk, vko = T.axis.remap("SSS", [i, kk, ko])
                                A_shared[vi, vk] = A[vby * Tiles.m + vi, vko * Tiles.k + vk]
                        for j, kk in T.grid(Tiles.n, Tiles.k):
                            with T.sblock("load_b"):
                                vj, vk, vko = T.axis.remap("SSS", [j, kk, ko])
                                B_shared[vj, vk] = B[vbx * Tiles.n + vj, vko * Tiles.k + vk]
                        for i, j, kk in T.grid(Tiles.m, Tiles.n, Tiles.k):
                            with T.sblock("mma"):
                                vi, vj, vk = T.axis.remap("SSR", [i, j, kk])
                                acc[vi, vj] = acc[vi, vj] + T.Cast("float32", A_shared[vi, vk]) * T.Cast("float32", B_shared[vj, vk])
                    for i, j in T.grid(Tiles.m, Tiles.n):
                        with T.sblock("store"):
                            vi, vj = T.axis.remap("SS", [i, j])
                            C[vby * Tiles.m + vi, vbx * Tiles.n + vj] = T.Cast(out_dtype, acc[vi, vj])

    return main


def dequantize(rows: int, cols: int, group: int = 32):
    assert cols % group == 0
    storage = cols // 8

    @T.prim_func(private=True)
    def dequant(packed: T.Buffer((rows, storage), "uint32"), scale: T.Buffer((rows, cols // group), "float16"), out: T.Buffer((rows, cols), "float16")):
        for i in T.parallel(rows):
            for j in T.serial(cols):
                word: T.let[T.uint32] = T.shift_right(packed[i, j // 8], T.Cast("uint32", j % 8 * 4))
                nibble = T.bitwise_and(word, T.uint32(15))
                out[i, j] = (T.Cast("float16", nibble) - T.float16(7)) * scale[i, j // group]

    return dequant


@T.prim_func
def prefix_sum(x: T.Buffer((1024,), "int32"), y: T.Buffer((1024,), "int32")):
    T.func_attr({"target": T.target("llvm")})
    total = T.alloc_buffer((1,), "int32")
    total[0] = 0
    for i in T.serial(1024):
        total[0] = total[0] + x[i]
        y[i] = total[0]


@T.prim_func
def top_two(var_x: T.handle, var_value: T.handle, var_index: T.handle):
    n = T.int32()
    x = T.match_buffer(var_x, (n, 32), "float32")
    value = T.match_buffer(var_value, (n, 2), "float32")
    index = T.match_buffer(var_index, (n, 2), "int32")
    best = T.alloc_buffer((2,), "float32", scope="local")
    where = T.alloc_buffer((2,), "int32", scope="local")
    for row in T.parallel(n):
        best[0] = T.min_value("float32")
        best[1] = T.min_value("float32")
        where[0] = -1
        where[1] = -1
        for e in range(32):
            if x[row, e] > best[0]:
                best[1] = best[0]
                where[1] = where[0]
                best[0] = x[row, e]
                where[0] = e
            elif x[row, e] > best[1] and not x[row, e] != x[row, e]:
                best[1] = x[row, e]
                where[1] = e
        for slot in T.unroll(2):
            value[row, slot] = T.Select(where[slot] >= 0, best[slot], T.float32(0))
            index[row, slot] = where[slot]


def choose(shapes: List[Tuple[int, int, int]]):
    kernels = {}
    for m, n, k in shapes:
        kernels[(m, n, k)] = gemm(m, n, k)
    return kernels


GEMMS = choose([(128, 128, 64), (64, 256, 32)])
DEQUANT = dequantize(16, 64)
