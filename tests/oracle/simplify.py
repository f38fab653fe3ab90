#!/usr/bin/env python3
"""What stock TVM's simplifier makes of random expressions of ours.

    ORACLE_PYTHON simplify.py COUNT SEED > cases.txt

Each line is `before => after` in the notation of tests/unit/sexpr.h. Variables: x, y, z any
int32; i in [0, 16), j in [0, 32), k in [0, 128); l, m any int64. `x` lines come first by
seed, so that a recorded file can be made again.
"""
import random
import sys

import tvm

try:
    from tvm import tirx as tir
except ImportError:
    from tvm import tir
try:  # from 0.27 on
    import tvm.ir.prim.expr as nodes
    from tvm import sym as arith
except ImportError:
    from tvm import arith

    nodes = tir

NAMES = {
    "Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%", "FloorDiv": "//", "FloorMod": "%%", "Min": "min",
    "Max": "max", "EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "And": "and", "Or": "or",
}
KINDS = {text: getattr(nodes, name) for name, text in NAMES.items()}
VARS32 = {name: tir.Var(name, "int32") for name in ("x", "y", "z", "i", "j", "k")}
VARS64 = {name: tir.Var(name, "int64") for name in ("l", "l2")}
RANGES = {"i": 16, "j": 32, "k": 128}
CONSTANTS = (0, 1, 2, 2, 3, 4, 4, 5, 7, 8, 16, 32, 64, -1, -2, -3, -4, -8)


def dtype_of(node):
    value = getattr(node, "dtype", None)
    return str(value if value is not None else node.ty.dtype)


def text(node):
    kind = type(node).__name__
    if kind in NAMES:
        return f"({NAMES[kind]} {text(node.a)} {text(node.b)})"
    if kind in ("Var", "SizeVar", "PrimVar"):
        return node.name
    if kind == "IntImm":
        dtype = dtype_of(node)
        if dtype == "bool":
            return "true" if node.value else "false"
        return str(node.value) + ("L" if dtype == "int64" else "")
    if kind == "Not":
        return f"(not {text(node.a)})"
    if kind == "Select":
        return f"(select {text(node.condition)} {text(node.true_value)} {text(node.false_value)})"
    if kind == "Cast":
        return f"(cast:{dtype_of(node)} {text(node.value)})"
    if kind == "Call" and node.op.name.endswith("if_then_else"):
        return "(if_then_else " + " ".join(text(a) for a in node.args) + ")"
    raise ValueError(kind)


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def leaf(self, bits):
        if self.random.random() < 0.4:
            return nodes.IntImm(f"int{bits}", self.random.choice(CONSTANTS))
        return self.random.choice(list((VARS32 if bits == 32 else VARS64).values()))

    def positive(self, bits):
        return nodes.IntImm(f"int{bits}", self.random.choice([c for c in CONSTANTS if c > 0]))

    def integer(self, depth, bits):
        if depth == 0 or self.random.random() < 0.1:
            return self.leaf(bits)
        pick = self.random.random()
        if pick < 0.60:
            kind = self.random.choice(["+", "+", "+", "-", "-", "*", "*", "min", "max"])
            b = self.positive(bits) if kind == "*" and self.random.random() < 0.8 else self.integer(depth - 1, bits)
            return KINDS[kind](self.integer(depth - 1, bits), b)
        if pick < 0.90:
            kind = self.random.choice(["//", "//", "%%", "%%", "/", "%"])
            constant = self.random.random() < 0.9
            b = self.positive(bits) if constant else self.random.choice([VARS32["x"]] if bits == 32 else [VARS64["l"]])
            return KINDS[kind](self.integer(depth - 1, bits), b)
        if pick < 0.94:
            return nodes.Select(self.boolean(depth - 1, bits), self.integer(depth - 1, bits), self.integer(depth - 1, bits))
        if pick < 0.97 and bits == 64:
            return nodes.Cast("int64", self.integer(depth - 1, 32))
        return self.leaf(bits)

    def boolean(self, depth, bits):
        pick = self.random.random()
        if depth <= 1 or pick < 0.6:
            kind = self.random.choice(["==", "!=", "<", "<=", ">", ">="])
            return KINDS[kind](self.integer(max(depth - 1, 0), bits), self.integer(max(depth - 1, 0), bits))
        if pick < 0.9:
            return KINDS[self.random.choice(["and", "or"])](self.boolean(depth - 1, bits), self.boolean(depth - 1, bits))
        return nodes.Not(self.boolean(depth - 1, bits))


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    for number in range(count):
        maker = Maker(seed * 1000003 + number)
        bits = 64 if maker.random.random() < 0.15 else 32
        depth = maker.random.choice([2, 2, 3, 3, 4])
        expr = maker.boolean(depth, bits) if maker.random.random() < 0.35 else maker.integer(depth, bits)
        analyzer = arith.Analyzer()
        for name, extent in RANGES.items():
            analyzer.bind(VARS32[name], tvm.ir.Range(0, extent))
        try:
            print(f"{text(expr)} => {text(analyzer.simplify(expr))}", flush=True)
        except Exception:  # division by zero and such: TVM rejects it
            continue


if __name__ == "__main__":
    main()
