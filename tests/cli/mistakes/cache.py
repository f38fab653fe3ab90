"""Kernels around a cache of keys and values, as a compiler of language models writes them."""
from typing import Any, Dict

import tvm
from tvm import tir
from tvm.script import tir as T

LAYERS = 4
PAGE_SIZE = 16
MAX_THREADS = {"cuda": 1024, "metal": 256}


def get_max_threads(target: str) -> int:
    if target not in MAX_THREADS:
        raise ValueError("unknown target " + target)
    return MAX_THREADS[target]


def transpose_append(num_kv_heads, head_dim, dtype, page_size: int = PAGE_SIZE):
    @T.prim_func
    def append(var_pages: T.handle, var_k_data: T.handle, var_v_data: T.handle, var_position_map: T.handle):
        T.func_attr({"tir.noalias": T.bool(True)})
        num_pages = T.int64()
        ntoken = T.int64()
        offset = T.int32()
        pages = T.match_buffer(var_pages, (num_pages, 2, num_kv_heads, page_size, head_dim), dtype)
        k_data = T.match_buffer(var_k_data, (ntoken, num_kv_heads, head_dim), dtype)
        v_data = T.match_buffer(var_v_data, (ntoken, num_kv_heads, head_dim), dtype)
        position_map = T.match_buffer(var_position_map, (ntoken,), "int32", elem_offset=offset)
        for global_pos, h, f in T.grid(ntoken, num_kv_heads, head_dim):
            if position_map[global_pos] != T.int32(-1):
                with T.block("k_append"):
                    vgpos, vh, vf = T.axis.remap("SSS", [global_pos, h, f])
                    T.reads(position_map[vgpos], k_data[vgpos, vh, vf])
                    T.writes(pages[position_map[vgpos] // page_size, 0, vh, position_map[vgpos] % page_size, vf])
                    position: T.int32 = position_map[vgpos]
                    pages[T.floordiv(position, page_size), 0, vh, T.floormod(position, page_size), vf] = k_data[vgpos, vh, vf]
                with T.block("v_append"):
                    vgpos, vh, vf = T.axis.remap("SSS", [global_pos, h, f])
                    pages[T.floordiv(position_map[vgpos], page_size), 1, vh, T.floormod(position_map[vgpos], page_size), vf] = v_data[vgpos, vh, vf]

    return append


def merge_state(num_heads, head_dim, v_dtype, target="cuda"):
    bdx = head_dim // 4
    bdy = get_max_threads(target) // bdx

    @T.prim_func
    def merge(v: T.handle, s: T.handle, v_other: T.handle, s_other: T.handle):
        N = T.int32(is_size_var=True)
        H = T.int32(is_size_var=True)
        D = T.int32(is_size_var=True)
        V = T.match_buffer(v, (N, H, D), v_dtype)
        S = T.match_buffer(s, (N, H), "float32")
        V_other = T.match_buffer(v_other, (N, H, D), v_dtype)
        S_other = T.match_buffer(s_other, (N, H), "float32")
        for bx in T.thread_binding(N, thread="blockIdx.x"):
            for ty in T.thread_binding(bdy, thread="threadIdx.y"):
                for tx in T.thread_binding(bdx, thread="threadIdx.x"):
                    with T.block("merge"):
                        s_val = T.alloc_buffer((1,), "float32", scope="local")
                        s_max = T.alloc_buffer((1,), "float32", scope="local")
                        s_val[0] = S[bx, ty]
                        s_max[0] = T.max(s_val[0], S_other[bx, ty])
                        s_val[0] = T.exp2(s_val[0] - s_max[0])
                        for vec in T.serial(4):
                            V[bx, ty, tx * 4 + vec] = V[bx, ty, tx * 4 + vec] * T.Cast(v_dtype, s_val[0]) + V_other[bx, ty, tx * 4 + vec]
                        if tx == 0:
                            S[bx, ty] = T.log2(s_val[0]) + s_max[0]

    return merge


def rope(head_dim, rotary_dim, dtype, theta=10000.0):
    @T.macro
    def _angle(out, position, index):
        out[0] = T.Cast("float32", position) / T.pow(T.float32(theta), T.Cast("float32", index) / T.float32(rotary_dim))

    @T.prim_func(private=True)
    def fused_rope(var_q: T.handle, var_out: T.handle, start: T.int64):
        seq_len = T.int64()
        q = T.match_buffer(var_q, (seq_len, head_dim), dtype)
        out = T.match_buffer(var_out, (seq_len, head_dim), dtype)
        freq = T.alloc_buffer((1,), "float32")
        for s, d in T.grid(seq_len, head_dim):
            with T.block("rope"):
                vs = T.axis.spatial(seq_len, s)
                vd = T.axis.spatial(head_dim, d)
                _angle(freq, start + vs, vd)
                out[vs, vd] = T.if_then_else(
                    vd < rotary_dim,
                    q[vs, vd] * T.Cast(dtype, T.cos(freq[0])),
                    q[vs, vd],
                )

    return fused_rope


KERNELS = {
    "append": transpose_append(8, 64, "float16"),
    "merge": merge_state(8, 64, "float16"),
    "rope": rope(64, 32, "float16", theta=5e5),
}
