#!/usr/bin/env python3
"""Inputs of the text bench: TVMScript of any size, always the same for the same size.

    generate.py BYTES [--release 0.22|0.27] [--only tir|relax] [--seed N] > FILE

Whole definitions are repeated in the mix that TVMScript in the wild has: two thirds PrimFuncs (elementwise, broadcast, reduction,
matrix product, padded window, several blocks; one in three scheduled for threads, lowered, with strides and branches, device
code, mutable scalars and jumps, tiles with layouts and PTX, or computed while reading), one
third Relax functions (operators, networks with attributes, tuples, branches, match_cast, call_tir), some of them in modules with
both. Names and sizes change from definition to definition, so nothing is cached by accident. 36 to 39 bytes a line.
With --only, all definitions are of one kind.
"""
import argparse, random, sys

WORDS = """data weight bias gamma beta mean var lhs rhs input output hidden state query key value gate norm scale shift
attn logits probs embed proj conv pool pad dense relu gelu tanh exp sum max cast compute reshape transpose concat split"""


class Writer:
    def __init__(self, seed, release):
        self.random = random.Random(seed)
        self.words = WORDS.split()
        self.classic = release == "0.22"
        self.block = "T.block" if self.classic else "T.sblock"
        self.prim = "@T.prim_func(private=True)" if self.classic else "@T.prim_func(private=True, s_tir=True)"
        self.out = "out_sinfo" if self.classic else "out_ty"

    def word(self):
        return self.random.choice(self.words)

    def size(self):
        return self.random.choice((1, 4, 8, 10, 16, 32, 64, 77, 128, 256, 768, 784, 1024, 2048, 4096))

    def pick(self, *choices):
        return self.random.choice(choices)

    def name(self, number):
        return f"{self.word()}_{self.word()}{number}"

    def elementwise(self, name):
        n, m, d = self.size(), self.size(), self.pick("float32", "float16")
        a, b, block = self.word().upper(), "T_" + self.word(), "T_" + self.word()
        call = self.pick("T.exp({})", "T.tanh({})", "T.max({}, T.%s(0.0))" % d, "{} * T.%s(0.5)" % d, "T.sqrt({} + T.%s(1e-05))" % d)
        return f"""{self.prim}
def {name}(
    {a}: T.Buffer((T.int64({n}), T.int64({m})), "{d}"),
    {b}: T.Buffer((T.int64({n}), T.int64({m})), "{d}"),
):
    T.func_attr({{"op_pattern": 0, "tir.noalias": True}})
    for ax0, ax1 in T.grid(T.int64({n}), T.int64({m})):
        with {self.block}("{block}"):
            v_ax0, v_ax1 = T.axis.remap("SS", [ax0, ax1])
            T.reads({a}[v_ax0, v_ax1])
            T.writes({b}[v_ax0, v_ax1])
            {b}[v_ax0, v_ax1] = {call.format(f"{a}[v_ax0, v_ax1]")}
"""

    def broadcast(self, name):
        n, m, w = self.size(), self.size(), self.word()
        return f"""{self.prim}
def {name}(
    x: T.Buffer(({n}, {m}), "float32"),
    {w}: T.Buffer(({m},), "float32"),
    y: T.Buffer(({n}, {m}), "float32"),
):
    # one row at a time
    for i in range({n}):
        for j in {self.pick("T.serial", "T.parallel", "T.vectorized")}({m}):
            with {self.block}("{w}_add"):
                vi = T.axis.spatial({n}, i)
                vj = T.axis.spatial({m}, j)
                T.reads(x[vi, vj], {w}[vj])
                T.writes(y[vi, vj])
                y[vi, vj] = x[vi, vj] {self.pick("+", "*", "-")} {w}[vj]
"""

    def reduction(self, name):
        n, m = self.size(), self.size()
        return f"""{self.prim}
def {name}(a: T.handle, b: T.handle):
    n = T.int64()
    A = T.match_buffer(a, (n, {m}), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in T.serial(n):
        for k in T.serial({m}):
            with {self.block}("{self.word()}"):
                vi, vk = T.axis.remap("SR", [i, k])
                T.reads(A[vi, vk])
                T.writes(B[vi])
                with T.init():
                    B[vi] = T.float32(0.0)
                B[vi] = B[vi] + A[vi, vk] * T.float32({self.pick("1.0", "0.25", "3.5")})
"""

    def matmul(self, name):
        n, m, k = self.size(), self.size(), self.size()
        return f"""{self.prim}
def {name}(
    A: T.Buffer(({n}, {k}), "float32"),
    B: T.Buffer(({k}, {m}), "float32"),
    C: T.Buffer(({n}, {m}), "float32"),
):
    for i, j, k in T.grid({n}, {m}, {k}):
        with {self.block}("matmul"):
            v_i, v_j, v_k = T.axis.remap("SSR", [i, j, k])
            T.reads(A[v_i, v_k], B[v_k, v_j])
            T.writes(C[v_i, v_j])
            with T.init():
                C[v_i, v_j] = T.float32(0.0)
            C[v_i, v_j] = C[v_i, v_j] + A[v_i, v_k] * B[v_k, v_j]
"""

    def window(self, name):
        n, pad = self.size() + 4, self.pick(1, 2)
        alloc = "T.alloc_buffer" if self.classic else "T.sblock_alloc_buffer"
        return f"""{self.prim}
def {name}(
    data: T.Buffer(({n},), "float32"),
    out: T.Buffer(({n},), "float32"),
):
    padded = {alloc}(({n + 2 * pad},))
    for i in range({n + 2 * pad}):
        with {self.block}("pad"):
            vi = T.axis.spatial({n + 2 * pad}, i)
            T.reads(data[vi - {pad}])
            T.writes(padded[vi])
            padded[vi] = T.if_then_else({pad} <= vi and vi < {n + pad}, data[vi - {pad}], T.float32(0.0))
    for i, w in T.grid({n}, {2 * pad + 1}):
        with {self.block}("window"):
            vi, vw = T.axis.remap("SR", [i, w])
            T.reads(padded[vi + vw])
            T.writes(out[vi])
            with T.init():
                out[vi] = T.float32(-3.4028234663852886e+38)
            out[vi] = T.max(out[vi], padded[vi + vw])
"""

    def operators(self, name):
        k, m, o = self.size(), self.size(), self.size()
        lines = [f"""@R.function(private=True)
def {name}(
    x: R.Tensor(("n", {k}), dtype="float32"),
    w: R.Tensor(({k}, {m}), dtype="float32"),
) -> R.Tensor(("n", {m}), dtype="float32"):
    n = T.int64()
    with R.dataflow():
        lv: R.Tensor((n, {m}), dtype="float32") = R.matmul(x, w)
"""]
        last = "lv"
        for i in range(1, self.random.randint(3, 8)):
            op = self.pick("R.nn.relu({})", "R.exp({})", "R.add({0}, {0})", "R.multiply({}, lv)", "R.tanh({})", "R.nn.silu({})")
            type_ = f': R.Tensor((n, {m}), dtype="float32")' if self.random.random() < 0.25 else ""
            lines.append(f"        lv{i}{type_} = {op.format(last)}\n")
            last = f"lv{i}"
        lines.append(f"        gv = R.nn.softmax({last}, axis=-1)\n")
        lines.append("        R.output(gv)\n    return gv\n")
        return "".join(lines)

    def threads(self, name):
        n, t = self.pick(64, 128, 1024, 4096), self.pick(32, 64, 128)
        return f"""{self.prim}
def {name}(A: T.Buffer(({n},), "float32"), B: T.Buffer(({n},), "float32")):
    T.func_attr({{"tir.is_scheduled": True}})
    A_shared = T.sblock_alloc_buffer(({n},), scope="shared")
    for bx in T.thread_binding({(n + t - 1) // t}, thread="blockIdx.x"):
        for tx in T.thread_binding({t}, thread="threadIdx.x"):
            with T.sblock("A_shared"):
                v = T.axis.spatial({n}, bx * {t} + tx)
                T.where(bx * {t} + tx < {n})
                T.reads(A[v])
                T.writes(A_shared[v])
                T.sblock_attr({{"buffer_dim_align": [[0, 0, 32, {self.pick(0, 8)}]]}})
                A_shared[v] = A[v]
        for ty, v4 in T.grid({t // 4}, 4):
            with T.sblock("B"):
                v = T.axis.spatial({n}, bx * {t} + ty * 4 + v4)
                T.where(bx * {t} + ty * 4 + v4 < {n})
                T.reads(A_shared[v])
                T.writes(B[v])
                B[v] = T.Select(A_shared[v] > T.float32(0.0), A_shared[v], T.float32({self.pick("0.1", "0.01")}))
"""

    def lowered(self, name):
        n, k = self.pick(16, 64, 256), self.pick(4, 8)
        return f"""@T.prim_func(private=True)
def {name}(A: T.Buffer(({n * k},), "float32"), B: T.Buffer(({n * k},), "float16"), n: T.int32):
    T.func_attr({{"target": T.target({{"keys": ["cpu"], "kind": "llvm", "tag": ""}})}})
    assert n <= {n}, "too many rows"
    acc = T.alloc_buffer(({k},), scope="local")
    for i in T.parallel(n):
        for j in T.unroll({k}):
            acc[j] = T.float32(0.0)
        for j in range({k}):
            off: T.let[T.int32] = i * {k} + j
            if off % {self.pick(2, 3)} == 0 and i < {n - 1}:
                acc[j] = acc[j] + A[off] * T.Cast("float32", j)
            else:
                acc[j] = T.max(acc[j], T.call_extern("float32", "fabsf", A[off]))
        B[T.Ramp(i * {k}, 1, {k})] = T.Cast("float16x{k}", acc[T.Ramp(0, 1, {k})])
    T.evaluate(T.call_packed("{self.word()}.done", n))
"""

    def strided(self, name):
        m = self.pick(8, 16, 32)
        return f"""{self.prim}
def {name}(a: T.handle, b: T.handle, flag: T.int32):
    n, s0 = T.int32(), T.int32()
    A = T.match_buffer(a, (n, {m}), "int32", strides=(s0, 1), offset_factor=1)
    B = T.match_buffer(b, (n, {m}), "int32")
    for i0 in range((n + {m - 1}) // {m}):
        for i1, j in T.grid({m}, {m}):
            with T.sblock("{self.word()}"):
                T.where(i0 * {m} + i1 < n)
                vi = T.axis.spatial(n, i0 * {m} + i1)
                vj = T.axis.opaque({m}, j)
                if flag > 0 or vj == 0:
                    B[vi, vj] = T.bitwise_and(A[vi, vj], {self.pick(1, 255)}) << 1
                else:
                    B[vi, vj] = T.truncmod(A[vi, vj] - vi, {m}) + T.min(vj, flag)
"""

    def kernel(self, name):
        n, t = self.pick(256, 1024, 4096), self.pick(64, 128, 256)
        return f"""@T.prim_func(private=True)
def {name}(A: T.Buffer(({n},), "float32"), B: T.Buffer(({n // t},), "float32")):
    T.func_attr({{"calling_conv": 2, "tir.noalias": True}})
    bx = T.launch_thread("blockIdx.x", {n // t})
    tx = T.launch_thread("threadIdx.x", {t})
    red = T.alloc_buffer(({t},), scope="shared")
    tile = T.decl_buffer(({t // 4}, 4), data=red.data, scope="shared")
    red[tx] = T.if_then_else(bx * {t} + tx < {n}, A[bx * {t} + tx], T.float32(0.0))
    T.tvm_storage_sync("shared")
    step: T.int32 = {t // 2}
    while step > 0:
        if tx < step:
            red[tx] = red[tx] + red[tx + step]
        T.tvm_storage_sync("shared")
        step = T.shift_right(step, 1)
    with T.attr(0, "pragma_{self.pick("import_c", "debug")}", "{self.word()}"):
        if tx == 0:
            B[bx] = tile[0, 0] * T.rsqrt(T.Cast("float32", {t}) + T.float32({self.pick("1e-05", "1e-06")}))
"""

    def control(self, name):
        m = self.pick(8, 16, 64)
        return f"""@T.prim_func(private=True)
def {name}(A: T.Buffer(({m},), "int32"), n: T.int32) -> T.int32:
    best: T.int32 = T.min_value("int32")
    for i in T.serial({m}, annotations={{"{self.word()}": {self.pick(1, 2)}}}):
        x: T.let[T.int32] = T.bitwise_xor(A[i], {self.pick(3, 7)})
        if x < 0:
            continue
        if x == n:
            break
        best = T.max(best, T.Select(x % 2 == 0, x, T.truncdiv(x, 3)))
    lo: T.let[T.int32x4] = T.Shuffle([A[T.Ramp(0, 1, 4)]], [3, 2, 1, 0])
    A[T.Ramp(0, 1, 4)] = lo + T.Broadcast(best, 4)
    assert best != n, ("ValueError", ["{self.word()} ", "not found"])
    return best
"""

    def tile(self, name):
        n, k = self.pick(64, 128), self.pick(16, 32)
        return f"""@T.prim_func(private=True)
def {name}(A: T.Buffer(({n}, {k}), "float16"), B: T.Buffer(({n}, {k}), "float16")):
    T.device_entry()
    bx = T.cta_id([{self.pick(8, 16)}])
    tx = T.thread_id([{n}])
    smem = T.alloc_shared(({n}, {k}), "float16", layout=T.TileLayout(T.S[({n}, {k}) : ({k}, 1)]))
    frag = T.alloc_local(({k},), "float16")
    row = frag.view({k // 2}, 2)
    for i in T.unroll({k}):
        smem[tx, i] = A[tx, i] + T.float16(bx)
        frag[i] = smem[tx, i]
    T.cuda.cta_sync()
    T.ptx["cp.async.wait_all"]()
    for i, j in T.grid({k // 2}, 2):
        B[tx, i * 2 + j] = row[i, j] * T.float16({self.pick("0.5", "2.0")})
"""

    def meta(self, name):
        n, word = self.pick(8, 16), self.word()
        return f"""@T.prim_func(private=True)
def {name}(A: T.Buffer(({n}, 4), "float32"), B: T.Buffer(({n}, 4), "float32")):
    @T.inline
    def {word}(i, j, scale):
        B[i, j] = A[i, j] * T.float32(scale) if j > 0 else A[i, j]

    sizes = T.meta_var([{n} // k for k in range(1, 3)])
    for i in range(sizes[0]):
        for j in T.vectorized(4):
            {word}(i, j, {self.pick("0.5", "1.5")})
    T.evaluate(T.call_extern("int32", "{word}", A.data, T.address_of(B[0, 0]), *sizes))
"""

    def network(self, name):
        c, o, h = self.pick(3, 16, 32), self.pick(16, 64), self.pick(28, 56)
        half = o // 2
        return f"""@R.function(private=True)
def {name}(
    x: R.Tensor((1, {c}, {h}, {h}), dtype="float32"),
    w: R.Tensor(({o}, {c}, 3, 3), dtype="float32"),
    b: R.Tensor((1, {o}, 1, 1), dtype="float32"),
    c: R.Tensor((), dtype="bool"),
) -> R.Tensor((1, {o * h * h}), dtype="float32"):
    with R.dataflow():
        lv = R.nn.conv2d(x, w, strides=[1, 1], padding=[1, 1, 1, 1])
        lv1 = R.add(lv, b)
        lv2 = R.split(lv1, indices_or_sections=2, axis=1)
        lv3: R.Tensor((1, {half}, {h}, {h}), dtype="float32") = lv2[0]
        lv4 = R.multiply(lv2[1], R.const({self.pick("0.5", "1.5")}, "float32"))
        gv = R.concat((lv3, lv4), axis=1)
        R.output(gv)
    if c:
        y = R.nn.gelu(gv)
    else:
        y = R.clip(gv, min=0, max={self.pick(1, 6)})
    z = R.reshape(y, R.shape([1, {o * h * h}]))
    return z
"""

    def dynamic(self, name):
        m, key = self.pick(64, 128), self.word()
        return f"""@R.function(private=True)
def {name}(
    x: R.Tensor(("b", "n", {m}), dtype="float16"),
    ids: R.Tensor(dtype="int64", ndim=1),
) -> R.Tuple(R.Tensor(dtype="float16", ndim=3), R.Shape(ndim=3)):
    b, n, k = T.int64(), T.int64(), T.int64()
    ids_1: R.Tensor((k,), dtype="int64") = R.match_cast(ids, R.Tensor((k,), dtype="int64"))
    lv = R.take(x, ids_1, axis=1)
    lv1 = R.permute_dims(lv, axes=[0, 2, 1])
    lv2 = R.matmul(x, lv1, out_dtype="float32")
    lv3 = R.nn.softmax(lv2, axis=-1)
    lv4 = R.astype(lv3, dtype="float16")
    lv5 = R.call_dps_packed("{key}", (lv4, x), out_{self.out[4:]}=R.Tensor((b, n, {m}), dtype="float16"))
    s: R.Shape([b, n, k]) = R.shape([b, n, k])
    return (lv5, s)
"""

    def module(self, number):
        kinds = (self.elementwise, self.broadcast, self.reduction, self.matmul)
        parts = [self.random.choice(kinds)(f"{self.word()}{i}") for i in range(self.random.randint(1, 3))]
        parts.append(self.operators("main").replace("(private=True)", ""))
        body = "\n".join(parts)
        lines = ["    " + line if line.strip() else line for line in body.splitlines(keepends=True)]
        return f"@I.ir_module\nclass Module{number}:\n" + "".join(lines)

    def definition(self, number, only=None):
        tir = [self.elementwise] * 4 + [self.broadcast] * 2 + [self.reduction] * 2 + [self.matmul] * 2 + [self.window] * 2
        relax = [self.operators] * 4
        if not self.classic:
            tir += [self.threads, self.lowered, self.strided, self.kernel, self.control, self.tile, self.meta]
            relax += [self.network, self.dynamic]
        if only:
            return self.random.choice(tir if only == "tir" else relax)(self.name(number))
        kinds = tir + relax
        if self.random.random() < 0.2:
            return self.module(number)
        return self.random.choice(kinds)(self.name(number))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("bytes", type=int)
    arguments.add_argument("--release", default="0.27", choices=("0.22", "0.27"))
    arguments.add_argument("--only", choices=("tir", "relax"))
    arguments.add_argument("--seed", type=int, default=1)
    a = arguments.parse_args()
    writer = Writer(a.seed, a.release)
    tir = "tir" if a.release == "0.22" else "tirx"
    written = sys.stdout.write(f"from tvm.script import ir as I\nfrom tvm.script import {tir} as T\nfrom tvm.script import relax as R\n\n")
    number = 0
    while written < a.bytes:
        written += sys.stdout.write(writer.definition(number, a.only) + "\n")
        number += 1


main()
