#!/usr/bin/env python3
"""Inputs of the text bench: TVMScript of any size, always the same for the same size.

    generate.py BYTES [--release 0.22|0.27] > FILE

Whole definitions are repeated in the mix that TVMScript in the wild has: two thirds PrimFuncs (elementwise, broadcast, reduction,
matrix product, padded window, several blocks), one third Relax functions (operators, call_tir), some of them in modules with
both. Names and sizes change from definition to definition, so nothing is cached by accident. 36 to 39 bytes a line.
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

    def module(self, number):
        kinds = (self.elementwise, self.broadcast, self.reduction, self.matmul)
        parts = [self.random.choice(kinds)(f"{self.word()}{i}") for i in range(self.random.randint(1, 3))]
        parts.append(self.operators("main").replace("(private=True)", ""))
        body = "\n".join(parts)
        lines = ["    " + line if line.strip() else line for line in body.splitlines(keepends=True)]
        return f"@I.ir_module\nclass Module{number}:\n" + "".join(lines)

    def definition(self, number):
        kinds = [self.elementwise] * 4 + [self.broadcast] * 2 + [self.reduction] * 2 + [self.matmul] * 2 + [self.window] * 2
        kinds += [self.operators] * 4
        if self.random.random() < 0.2:
            return self.module(number)
        return self.random.choice(kinds)(self.name(number))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("bytes", type=int)
    arguments.add_argument("--release", default="0.27", choices=("0.22", "0.27"))
    a = arguments.parse_args()
    writer = Writer(1, a.release)
    tir = "tir" if a.release == "0.22" else "tirx"
    written = sys.stdout.write(f"from tvm.script import ir as I\nfrom tvm.script import {tir} as T\nfrom tvm.script import relax as R\n\n")
    number = 0
    while written < a.bytes:
        written += sys.stdout.write(writer.definition(number) + "\n")
        number += 1


main()
