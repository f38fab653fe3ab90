#!/usr/bin/env python3
"""Generated loops that are tiled by hand, with tails: ScheduleCPU changes no result.

    cpu_tails.py [--count N] [--seed N]

Stores and sums whose axes are made of one to three loops, in many orders, with bounds by T.min, loops that begin where a tile begins, `if` and T.where,
in many words; conditions that are about something else, places at which several steps store. `opt --check-semantics` runs each before and after the pass on the same whole numbers in the interpreter.
"""
import sys

from generated import TARGETS, judge_many, run, schedule

HEAD = "from tvm.script import ir as I, tirx as T\n\n@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    def main("


class Axis:
    """`length` steps as digits: tiles of sizes[0], tiles of those of sizes[1], …"""

    def __init__(self, r, name, length):
        self.name, self.length = name, length
        self.sizes = sorted(r.sample([2, 3, 4, 6, 8, 16], r.choice([0, 1, 1, 2])), reverse=True)
        if len(self.sizes) == 2 and self.sizes[0] % self.sizes[1]:
            self.sizes = self.sizes[:1]
        outer = [length, *self.sizes]
        self.loops, self.conditions = [], []  # (variable, begin, extent)
        terms = []
        for at, size in enumerate([*self.sizes, 1]):
            var, steps = f"{name}{at}", -(-outer[at] // size)
            before = " + ".join(terms)
            terms.append(var if size == 1 else f"{var} * {size}")
            self.loops.append((var, "0", str(steps)))
        self.number = " + ".join(terms)
        before = " + ".join(terms[:-1])
        exact = length % (self.sizes[0] if self.sizes else 1) == 0
        kind = r.choice(["if", "min", "begin"]) if self.sizes else "if"
        if not self.sizes or exact and r.random() < 0.5:
            return
        last = self.sizes[-1]
        if kind == "if":
            self.conditions = [r.choice([f"{self.number} < {length}", f"{length} > {self.number}", f"{self.number} <= {length - 1}", f"{terms[-1]} < {length} - ({before})"])]
        elif kind == "min":
            self.loops[-1] = (self.loops[-1][0], "0", r.choice([f"T.min({last}, {length} - ({before}))", f"T.min({length} - ({before}), {last})"]))
        else:
            var = f"{name}9"
            self.loops[-1] = (var, before, f"T.min({before} + {last}, {length})")
            self.number = var


def program(r):
    sizes = {n: r.choice([1, 5, 7, 13, 16, 24, 33]) for n in "ijk"}
    axes = [Axis(r, n, sizes[n]) for n in "ijk"[:r.choice([1, 2, 3, 3])]]
    i, j, k = ([a.number for a in axes] + ["0", "0"])[:3]
    dtype = r.choice(["float32", "float32", "int32"])
    place = r.choice([f"C[{i}, {j}]"] * 4 + [f"C[{i}, 0]", f"C[0, {j}]"])
    a, b = f"A[{i}, {k}]", f"B[{k}, {j}]"
    value = r.choice([f"{place} + {a} * {b}"] * 4 + [f"{a} * {b}", f"{place} + {a}", f"T.max({place}, {b})", f"{a} + C[{i}, {j}]", f"{b} + T.{dtype}(1)"])
    loops = [(axis, n) for axis in axes for n in range(len(axis.loops))]
    order = r.random()
    if order < 0.4:  # digit by digit
        loops.sort(key=lambda p: p[1])
    elif order < 0.6:  # any order that keeps what bounds depend on
        r.shuffle(loops)
        loops.sort(key=lambda p: p[1] == len(p[0].loops) - 1)
    conditions = [c for axis in axes for c in axis.conditions]
    if r.random() < 0.1:
        conditions.append(r.choice([f"{i} < 3", f"{i} != 2", f"{axes[0].loops[0][0]} > 0", f"{i} + {j} < 9"]))
    lines = [HEAD + f'A: T.Buffer(({sizes["i"]}, {sizes["k"]}), "{dtype}"), B: T.Buffer(({sizes["k"]}, {sizes["j"]}), "{dtype}"), C: T.Buffer(({sizes["i"]}, {sizes["j"]}), "{dtype}")):',
             '        T.func_attr({"tirx.noalias": True})']
    if r.random() < 0.5:
        lines += [f"        for i, j in T.grid({sizes['i']}, {sizes['j']}):", f"            C[i, j] = T.{dtype}(0)"]
    pad = "        "
    for axis, n in loops:
        var, begin, extent = axis.loops[n]
        lines.append(f"{pad}for {var} in range({extent if begin == '0' else f'{begin}, {extent}'}):")
        pad += "    "
    rectangular = all("T.min" not in e for axis in axes for _, _, e in axis.loops)
    if rectangular and len(axes) == 3 and place == f"C[{i}, {j}]" and r.random() < 0.7:
        lines.append(f'{pad}with T.sblock("product"):')
        names = [f"v{n}" for n in "ijk"]
        lines += [f"{pad}    {v} = T.axis.{kind}({sizes[n]}, {axis.number})" for v, n, axis, kind in zip(names, "ijk", axes, ("spatial", "spatial", "reduce"))]
        if conditions:
            lines.append(f"{pad}    T.where({' and '.join(conditions)})")
        if r.random() < 0.7:
            lines += [f"{pad}    with T.init():", f"{pad}        C[vi, vj] = T.{dtype}(0)"]
        return "\n".join([*lines, f"{pad}    C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]"]) + "\n"
    if conditions:
        lines.append(f"{pad}if {' and '.join(conditions)}:")
        pad += "    "
    return "\n".join([*lines, f"{pad}{place} = {value}"]) + "\n"


def judge(r, folder):
    text, target, reorder = program(r), r.choice(TARGETS), r.random() < 0.5
    wrong, _, after, statistics = schedule(folder, text, target, reorder, "--check-semantics")
    if not wrong:
        q = run("check", after)
        wrong = q.stderr.strip() if q.returncode else ""
    return text, f"{target}, {reorder=}", wrong, "contractions tiled" in statistics or "groups of rows" in statistics


if __name__ == "__main__":
    sys.exit(judge_many(__doc__, 160, judge, "scheduled", 0.5))
