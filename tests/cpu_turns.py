#!/usr/bin/env python3
"""Generated loops whose steps take turns: ScheduleCPU changes no result.

    cpu_turns.py [--count N] [--seed N]

Stores that take turns along a line, with and without gaps, in any order, that load what others store or not; sums that only some steps count in (transposed convolutions), as conditions and
as operands that are spread and padded; products whose columns lie apart, in blocks or as parts of complex numbers; loops that go as often as memory says; lines that are made of the line
before; neighbouring stores to one buffer that overlap or not; variables that are assigned. `opt --check-semantics` runs each before and after the pass on the same whole numbers in the
interpreter; what comes out must check as a text again.
"""
import sys

from generated import TARGETS, judge_many, run, schedule

HEAD = "from tvm.script import ir as I, tirx as T\n\n@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    def main("


def function(parameters, lines):
    text = ", ".join(f'{n}: T.Buffer(({", ".join(map(str, s))}{"," * (len(s) == 1)}), "{d}")' for n, (d, *s) in parameters.items())
    return HEAD + text + '):\n        T.func_attr({"tirx.noalias": True})\n' + "".join(f"        {line}\n" for line in lines)


def in_turns(r):
    turns, outer, steps = r.choice([2, 2, 3, 4]), r.choice([1, 3]), r.choice([3, 8, 16, 17, 37])
    dtype = r.choice(["float32", "float32", "int32", "int64", "uint8", "float16"])
    first, deep = r.choice([0, 0, 1]), r.random() < 0.4
    place = lambda k: f"Y[i, d, {k}]" if deep else f"Y[i, d * {turns} + {k + first}]"
    load = lambda: r.choice([f"X[i, d * {turns} + {r.randint(0, turns)}]", "W[d]", f"X[i, d + {r.randint(0, 2)}]", "X[0, 1]"])
    order = r.sample(range(turns), turns) if r.random() < 0.5 else list(range(turns))
    if r.random() < 0.15:
        order = order[1:]
    lines = [f"for i, d in T.grid({outer}, {steps}):"]
    if r.random() < 0.3:
        lines.append(f"    x = {load()}")
        values = lambda: r.choice([f"x * {load()}", f"{load()} + x"])
    else:
        values = lambda: r.choice([f"{load()} * {load()} + {load()}", f"{load()} + {load()}", f"T.{dtype}(2)"])
    lines += [f"    {place(k)} = {values()}" for k in order]
    if r.random() < 0.15:
        lines[-1] += f" + {place(r.randrange(turns))}"
    width = (outer, steps, turns) if deep else (outer, steps * turns + first)
    return function({"X": (dtype, outer, steps * turns + turns + 2), "W": (dtype, steps), "Y": (dtype, *width)}, lines)


def residues(r):
    step, taps, size = r.choice([2, 2, 3]), r.choice([1, 2, 3, 4]), r.choice([3, 5, 9])
    pad, channels, columns = r.choice([0, 0, 1, 2]), r.choice([1, 3]), r.choice([4, 16, 20])
    whole = (size - 1) * step + taps - 2 * min(pad, taps - 1)
    pad = min(pad, taps - 1)
    index = f"x + {pad} - b" if pad else "x - b"
    condition = f"({index}) % {step} == {r.choice([0, 0, 0, 1])} and {index} >= 0 and {index} < {size * step}"
    last = r.random() < 0.5
    y, load, weight = ("Y[x, o]", f"X[({index}) // {step}, c]", "W[b, c, o]") if last else ("Y[o, x]", f"X[c, ({index}) // {step}]", "W[c, o, b]")
    lines = [f"for o, x in T.grid({columns}, {whole}):", f"    {y} = T.float32({r.choice([0, 0, 2])})", f"    for c, b in T.grid({channels}, {taps}):"]
    kind = r.randrange(3)
    if kind == 0:
        lines += [f"        if {condition}:", f"            {y} = {y} + {load} * {weight}"]
    elif kind == 1:
        lines.append(f"        {y} = {y} + T.if_then_else({condition}, {load}, T.float32(0)) * {weight}")
    else:  # spread and padded beforehand
        before, spread = taps - 1 - pad, (size - 1) * step + 1
        at = (lambda i: f"[{i}, c]") if last else (lambda i: f"[c, {i}]")
        shape = (lambda n: f"({n}, {channels})") if last else (lambda n: f"({channels}, {n})")
        lines = [f'D = T.alloc_buffer({shape(spread)}, "float32")', f'P = T.alloc_buffer({shape(whole + taps - 1)}, "float32")', f"for c, x in T.grid({channels}, {spread}):",
                 f"    D{at('x')} = T.if_then_else(x % {step} == 0, X{at(f'x // {step}')}, T.float32(0))", f"for c, x in T.grid({channels}, {whole + taps - 1}):",
                 f"    P{at('x')} = T.if_then_else({before} <= x and x < {before + spread}, D{at(f'x - {before}')}, T.float32(0))"] + lines
        lines.append(f"        {y} = {y} + P{at('x + b')} * {weight.replace('b', f'{taps - 1} - b')}")
    shapes = {"X": (size, channels), "W": (taps, channels, columns), "Y": (whole, columns)} if last else {"X": (channels, size), "W": (channels, columns, taps), "Y": (columns, whole)}
    return function({n: ("float32", *s) for n, s in shapes.items()}, lines)


def columns_apart(r):
    rows, steps, width = r.choice([3, 8, 10]), r.choice([2, 8, 9]), r.choice([4, 8, 17])
    if r.random() < 0.5:
        block = r.choice([2, 4])
        y = r.choice(["Y[o, i, p]", "Y[i, p, o]", "Y[p, i, o]"])
        shape = {"Y[o, i, p]": (width, rows, block), "Y[i, p, o]": (rows, block, width), "Y[p, i, o]": (block, rows, width)}[y]
        lines = [f"for o, i, p in T.grid({width}, {rows}, {block}):", f"    {y} = T.float32(0)", f"    for k in range({steps}):", f"        {y} = {y} + A[i, k] * B[o, k, p]"]
        return function({"A": ("float32", rows, steps), "B": ("float32", width, steps, block), "Y": ("float32", *shape)}, lines)
    sign = r.choice(["-", "+"])
    lines = [f"for i, j in T.grid({rows}, {width}):", "    Y[i, j, 0] = T.float32(0)", f"    Y[i, j, 1] = T.float32({r.choice([0, 1])})", f"    for k in range({steps}):",
             f"        Y[i, j, 0] = Y[i, j, 0] + A[i, k, 0] * B[k, j, 0] {sign} A[i, k, 1] * B[k, j, 1]", f"        Y[i, j, 1] = Y[i, j, 1] {sign} A[i, k, 0] * B[k, j, 1] + A[i, k, 1] * B[k, j, 0]"]
    return function({"A": ("float32", rows, steps, 2), "B": ("float32", steps, width, 2), "Y": ("float32", rows, width, 2)}, lines)


def counted(r):
    lists, width = r.choice([1, 4]), r.choice([3, 16, 20])
    bounds, load = r.choice([("P[b + 1] - P[b]", "X[P[b] + l, d]"), ("P[b], P[b + 1]", "X[l, d]"), ("P[b]", "X[l, d]"), ("P[b]", "X[P[b + 1] + l, d]")])
    value = r.choice([f"Y[b, d] + {load}", f"T.max(Y[b, d], {load})", f"Y[b, d] + {load} * X[0, d]"])
    lines = [f"for b, d in T.grid({lists}, {width}):", "    Y[b, d] = T.float32(1)", f"    for l in range({bounds}):", f"        Y[b, d] = {value}"]
    if r.random() < 0.5:
        lines = [f"for b in range({lists}):", f"    for d in range({width}):", "        Y[b, d] = T.float32(1)", f"    for l in range({bounds}):", f"        for d in range({width}):", f"            Y[b, d] = {value}"]
    if r.random() < 0.15:  # memory that changes
        lines.append("    P[b] = P[b] // 2")
    return function({"X": ("float32", 16, width), "P": ("int32", lists + 1), "Y": ("float32", lists, width)}, lines)


def steps(r):
    count, width = r.choice([1, 4]), r.choice([4, 16, 20])
    begin, ahead = r.choice(["T.float32(0)", "X[t, j]"]), r.choice([1, 1, 1, 0])
    value = r.choice(["H[t, k] * U[k, j]", "H[t, k] + U[k, j]", "X[t, k] * U[k, j] + H[t, k]"])
    lines = [f"for t in range({count}):", f"    for j in range({width}):", '        s = T.alloc_buffer((1,), "float32")' if r.random() < 0.5 else "        s: T.float32 = T.float32(0)"]
    s = "s[0]" if "alloc" in lines[-1] else "s"
    lines += [f"        {s} = {begin}", f"        for k in range({width}):", f"            {s} = T.min({s} + {value}, T.float32(9))" if r.random() < 0.3 else f"            {s} = {s} + {value}",
              f"        H[t + {ahead}, j] = T.min(T.max({s}, T.float32(-3)), T.float32(3))"]
    if r.random() < 0.5:  # added up where it is stored
        h, fold = f"H[t + {ahead}, j]", r.choice(["{0} + {1}", "T.max({0}, {1})", "T.min({0}, {1})"])
        lines = lines[:2] + [f"        {h} = {begin}", f"        for k in range({width}):", f"            {h} = {fold.format(h, value)}", f"        {h} = T.min({h}, T.float32(3))"]
        if r.random() < 0.5:
            lines[3:5] = [f"    for k, j in T.grid({width}, {width}):", f"        {fold.format(h, value).join([h + ' = ', ''])}"]
            lines[5:] = [f"    for j in range({width}):", lines[-1]]
    return function({"X": ("float32", count, width), "U": ("float32", width, width), "H": ("float32", count + 1, width)}, lines)


def side_by_side(r):
    size, apart = r.choice([4, 16, 33]), r.choice([0, 1, 2])
    far = r.choice([size, size, size - 1, 1])
    lines = [f"for i, k in T.grid(2, {size}):", "    Y[i, k] = X[i, k] + W[k]", f"    Y[i, k + {far}] = X[i, k + {apart}] * W[k]", "    Z[i, k] = X[i, k] - W[k]" if r.random() < 0.5 else f"    Z[i, k] = {r.choice(['Y[i, k]', 'X[i, k]'])} * W[k]"]
    if r.random() < 0.3:
        lines = [line for k in range(1, 4) for line in (lines[0], lines[k])]
    return function({"X": ("float32", 2, size + 2), "W": ("float32", size), "Y": ("float32", 2, 2 * size), "Z": ("float32", 2, size)}, lines)


KINDS = (in_turns, in_turns, residues, residues, columns_apart, counted, steps, side_by_side)


def judge(r, folder):
    text, target, reorder = r.choice(KINDS)(r), r.choice(TARGETS), r.random() < 0.7
    wrong, _, after, statistics = schedule(folder, text, target, reorder, "--check-semantics")
    if not wrong:
        q = run("check", after)
        wrong = q.stderr.strip() if q.returncode else ""
    return text, f"{target}, {reorder=}", wrong, "stages zipped" in statistics or "contractions tiled" in statistics


if __name__ == "__main__":
    sys.exit(judge_many(__doc__, 160, judge, "zipped or tiled", 0.2))
