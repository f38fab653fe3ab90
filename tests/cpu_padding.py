#!/usr/bin/env python3
"""Generated convolutions as one nest of loops, with the padding said by conditions inside: ScheduleCPU changes no result.

    cpu_padding.py [--count N] [--seed N]

One or two axes of an image, channels first or last, strides, dilation, images that are read in part; T.if_then_else, T.Select and `if`
around a factor, the product or the store, conditions in many words and orders, also some that are about no index of the image; plain loops in any order of the sum and blocks, what the sum begins with inside,
in front or in the result. `opt --check-semantics` runs each before and after the pass on the same whole numbers in the interpreter.
"""
import sys

from generated import TARGETS, judge_many, run, schedule

HEAD = "from tvm.script import ir as I, tirx as T\n\n@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    def main("


class Axis:
    """An axis of the image: `out` windows of `size` steps over `length` elements from `-pad` on."""

    def __init__(self, r, name):
        self.out, self.window = f"o{name}", f"w{name}"
        self.length, self.size = r.choice([4, 7, 9]), r.choice([1, 2, 3, 3])
        self.stride, self.dilation, self.pad = r.choice([1, 1, 2]), r.choice([1, 1, 2]), r.choice([0, 1, 1, 2])
        self.count = max(1, (self.length + 2 * self.pad - self.dilation * (self.size - 1) - 1) // self.stride + 1)
        times = lambda v, n: v if n == 1 else f"{v} * {n}"
        self.sum = f"{times(self.out, self.stride)} + {times(self.window, self.dilation)}"
        self.index = f"{self.sum} - {self.pad}" if self.pad else self.sum
        self.low, self.high = 0, self.length  # what counts of the image
        if r.random() < 0.15:
            self.low, self.high = 1, self.length - 1

    def conditions(self, r):
        below, above = self.low + self.pad, self.high + self.pad
        low = r.choice([f"{below} <= {self.sum}", f"{self.sum} >= {below}", f"{self.low} <= {self.index}", f"{below - 1} < {self.sum}", f"{self.index} > {self.low - 1}"])
        high = r.choice([f"{self.sum} < {above}", f"{above} > {self.sum}", f"{self.index} < {self.high}", f"{self.sum} <= {above - 1}", f"{self.index} - {self.high} < 0"])
        return [low, high]


def negated(condition):
    for sign, other in ((" <= ", " > "), (" >= ", " < "), (" < ", " >= "), (" > ", " <= ")):
        if sign in condition:
            return condition.replace(sign, other)


def program(r):
    axes = [Axis(r, n) for n in ("y", "x")[:r.choice([1, 2, 2])]]
    channels, filters, dtype = r.choice([1, 3, 5]), r.choice([1, 4, 8, 17]), r.choice(["float32", "float32", "int32"])
    first = r.random() < 0.5
    place = lambda channel, spots: ", ".join([channel, *spots] if first else [*spots, channel])
    shape = lambda n, sizes: f"({place(str(n), map(str, sizes))}{'' if axes else ','})"
    image, result = f"X[{place('c', [a.index for a in axes])}]", f"Y[{place('f', [a.out for a in axes])}]"
    windows = [a.window for a in axes]
    order = ["f", "c", *windows] if first else [*windows, "c", "f"]
    sizes = {"f": filters, "c": channels} | {a.window: a.size for a in axes} | {a.out: a.count for a in axes}
    weight = f"W[{', '.join(order)}]"
    zero = f"T.{dtype}(0)"
    conditions = [c for a in axes for c in a.conditions(r)]
    if r.random() < 0.1:
        conditions.append(r.choice([f"{axes[0].out} + c < 5", f"{axes[0].out} < 3", f"{axes[0].index} != 2"]))
    r.shuffle(conditions)
    both = " and ".join(conditions)
    def chosen(value):
        inverted = r.random() < 0.2 and not any("!=" in c for c in conditions)
        where, parts = (" or ".join(map(negated, conditions)), (zero, value)) if inverted else (both, (value, zero))
        return f"{r.choice(['T.if_then_else', 'T.if_then_else', 'T.Select'])}({where}, {parts[0]}, {parts[1]})"
    product = lambda x: f"{x} * {weight}" if r.random() < 0.5 else f"{weight} * {x}"
    guard = r.choice(["factor", "factor", "product", "if", "if"])
    term = product(chosen(image)) if guard == "factor" else chosen(product(image)) if guard == "product" else product(image)
    outer = [*["f"] * first, *[a.out for a in axes], *["f"] * (not first)]
    inner = ["c", *windows] if r.random() < 0.5 else [*windows, "c"]
    begin = r.choice([zero, zero, zero, "B[f]", None])
    lines = [HEAD + f'X: T.Buffer({shape(channels, [a.length for a in axes])}, "{dtype}"), W: T.Buffer(({", ".join(str(sizes[n]) for n in order)}), "{dtype}"), '
             f'B: T.Buffer(({filters},), "{dtype}"), Y: T.Buffer({shape(filters, [a.count for a in axes])}, "{dtype}")):', '        T.func_attr({"tirx.noalias": True})']
    update = f"{result} = {result} + {term}"
    if guard != "if" and r.random() < 0.5:
        every = outer + inner
        lines += [f"        for {', '.join('l' + n for n in every)} in T.grid({', '.join(str(sizes[n]) for n in every)}):", '            with T.sblock("convolution"):',
                  f'                {", ".join(every)} = T.axis.remap("{"S" * len(outer)}{"R" * len(inner)}", [{", ".join("l" + n for n in every)}])']
        if begin:
            lines += ["                with T.init():", f"                    {result} = {begin}"]
        return "\n".join([*lines, f"                {update}"]) + "\n"
    pad = "        "
    for n in outer:
        lines.append(f"{pad}for {n} in range({sizes[n]}):")
        pad += "    "
    if begin:
        lines.append(f"{pad}{result} = {begin}")
    for n in inner:
        lines.append(f"{pad}for {n} in range({sizes[n]}):")
        pad += "    "
    if guard == "if":
        parts = [both] if r.random() < 0.6 else [" and ".join(conditions[:1]), " and ".join(conditions[1:])]
        for part in filter(None, parts):
            lines.append(f"{pad}if {part}:")
            pad += "    "
    return "\n".join([*lines, f"{pad}{update}"]) + "\n"


def judge(r, folder):
    text, target, reorder = program(r), r.choice(TARGETS), r.random() < 0.6
    wrong, _, after, statistics = schedule(folder, text, target, reorder, "--check-semantics")
    if not wrong:
        q = run("check", after)
        wrong = q.stderr.strip() if q.returncode else ""
    return text, f"{target}, {reorder=}", wrong, "contractions tiled" in statistics


if __name__ == "__main__":
    sys.exit(judge_many(__doc__, 120, judge, "tiled", 0.4))
