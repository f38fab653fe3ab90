"""Decoding with pages, and what a server calls."""
import math

import tvm
from tvm import relax, tir
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tir as T

PAGE = 16
GROUPS = 4
SCALE = 1.0 / math.sqrt(64)


def log2_of(value):
    return math.log(value) / math.log(2)


def copy_page(page_size, heads, dim, dtype, name="copy_single_page"):
    threads = 256

    @T.prim_func
    def copy(var_pages: T.handle, src: T.int64, dst: T.int64, length: T.int64):
        T.func_attr({"global_symbol": name})
        num_pages = T.int32()
        pages = T.match_buffer(var_pages, (num_pages, 2, heads, page_size, dim), dtype)
        for b in T.thread_binding((length * heads * dim + threads - 1) // threads, thread="blockIdx.x"):
            for t in T.thread_binding(threads, thread="threadIdx.x"):
                with T.block("copy"):
                    T.where(b * threads + t < length * heads * dim)
                    vh = T.axis.spatial(heads, T.Cast("int32", (b * threads + t) // (dim * length)))
                    vp = T.axis.spatial(length, (b * threads + t) % (dim * length) // dim)
                    vd = T.axis.spatial(dim, T.Cast("int32", (b * threads + t) % dim))
                    pages[dst, 0, vh, vp, vd] = pages[src, 0, vh, vp, vd]
                    pages[dst, 1, vh, vp, vd] = pages[src, 1, vh, vp, vd]

    return copy


def attend(heads, dim, dtype):
    group = heads // GROUPS

    @T.prim_func(private=True)
    def scores(q: T.Buffer((heads, dim), dtype), var_k: T.handle, var_s: T.handle):
        n = T.int64()
        k = T.match_buffer(var_k, (n, GROUPS, dim), dtype)
        s = T.match_buffer(var_s, (heads, n), "float32")
        for h, i, d in T.grid(heads, n, dim):
            with T.block("dot"):
                vh, vi, vd = T.axis.remap("SSR", [h, i, d])
                T.reads(q[vh, vd], k[vi, vh // group, vd])
                T.writes(s[vh, vi])
                with T.init():
                    s[vh, vi] = T.float32(0)
                s[vh, vi] = s[vh, vi] + T.Cast("float32", q[vh, vd] * k[vi, vh // group, vd]) * T.float32(SCALE)

    return scores


COPY = copy_page(PAGE, 8, 64, "float16")
ATTEND = attend(8, 64, dtype="float16")


@I.ir_module
class Server:
    @T.prim_func(private=True)
    def argmax(x: T.Buffer((1, 512), "float32"), out: T.Buffer((1,), "int32")):
        best = T.alloc_buffer((1,), "float32")
        best[0] = T.float32(-1e9)
        out[0] = 0
        for j in range(512):
            if x[0, j] > best[0]:
                best[0] = x[0, j]
                out[0] = j

    @R.function
    def decode(token: R.Tensor((1,), "int32"), table: R.Tensor((512, 64), "float32"), head: R.Tensor((64, 512), "float32"), past: R.Tensor(("m", 64), "float32")) -> R.Tuple(R.Tensor((1,), "int32"), R.Tensor(("m + 1", 64), "float32")):
        cls = Server
        with R.dataflow():
            x = R.take(table, token, axis=0)
            cache = R.concat((past, x), axis=0)
            mixed = R.mean(cache, axis=0, keepdims=True)
            hidden = R.nn.gelu(R.add(mixed, x))
            logits = R.matmul(hidden, head)
            chosen = R.call_tir(cls.argmax, (logits,), out_sinfo=R.Tensor((1,), "int32"))
            R.output(chosen, cache)
        return (chosen, cache)

    @R.function
    def embed(tokens: R.Tensor(("n",), "int32"), table: R.Tensor((512, 64), "float32")) -> R.Tensor((1, "n", 64), "float32"):
        n = T.int64()
        with R.dataflow():
            rows = R.take(table, tokens, axis=0)
            shaped = R.reshape(rows, R.shape([1, n, 64]))
            R.output(shaped)
        return shaped

    @R.function(pure=False)
    def log(x: R.Tensor((4,), "float32"), level: R.Prim("int64")):
        R.func_attr({"relax.rewrite": True})
        if_empty = R.const(0, "int32")
        _ = R.call_packed("server.log", x, level, sinfo_args=(R.Tuple(),))
        result = R.tuple(x, if_empty)
        return result


def compile_server(target):
    target = tvm.target.Target(target)
    with target:
        mod = relax.transform.LegalizeOps()(Server)
    return mod
