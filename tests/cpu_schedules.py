#!/usr/bin/env python3
"""Generated contractions: ScheduleCPU changes no result.

    cpu_schedules.py [--count N] [--seed N]

Matrix products with loops in any order, operands transposed, batches, known and unknown numbers of
rows and columns (of either dtype), stages behind them, weights that are made floats and such whose layout is free, and convolutions in two layouts, all of small and odd sizes, for machines
with vectors of 16, 32 and 64 bytes. `opt --check-semantics` runs each before and after the pass on
the same inputs in the interpreter; what comes out must be well-formed, and check as a text again.
"""
import functools, sys

from generated import TARGETS, judge_many, run, schedule

HEAD = "from tvm.script import ir as I, tirx as T\n\n@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n"
EPILOGUES = {
    "bias": "{x} + D[vj]",
    "relu": "T.max({x}, T.{dtype}(0))",
    "square": "{x} * {x} + {x}",
    "scale": "{x} * T.{dtype}(2)",
    "update": "{out} + {x}",
    # What the product gave is read again, and what was computed behind it without it.
    "gate": "{x} * {first}",
    "rate": "{x} + R[vj]",
}


def block(name, axes, extents, kinds, body):
    lines = [f"        for {', '.join(axes)} in T.grid({', '.join(str(e) for e in extents)}):", f'            with T.sblock("{name}"):']
    variables = ", ".join("v" + a for a in axes)
    lines.append(f'                {variables} = T.axis.remap("{kinds}", [{", ".join(axes)}])')
    return lines + ["                " + line for line in body]


def product(r, sizes=None):
    """A matrix product with what follows it."""
    m, n, k = sizes or (r.choice([1, 2, 3, 4, 5, 7, 8, 10, 13, 16, 17, 20, 31, 32, 33, 40]) for _ in range(3))
    dtype = r.choice(["float32", "float32", "float64", "int32"])
    batch = [r.choice([2, 3])] if r.random() < 0.4 else []
    rows = "m" if r.random() < 0.25 and not sizes else m
    n = "n" if r.random() < 0.2 and not sizes else n
    epilogues = r.choice([(), ("bias",), ("bias", "relu"), ("square",), ("bias", "square", "scale"), ("update",), ("bias", "update"), ("scale", "gate"), ("bias", "square", "gate"), ("rate",), ("rate", "scale", "gate")])
    a_turned, b_turned = r.random() < 0.3, r.random() < 0.3
    shape = lambda x, y: "(" + ", ".join(map(str, batch + [x, y])) + ")"
    a_shape = shape(k, rows) if a_turned else shape(rows, k)
    b_shape = shape(n, k) if b_turned else shape(k, n)
    # Weights that become floats where they are read, and such that may be laid out beforehand.
    small = dtype == "float32" and r.random() < 0.3
    free = ', "layout_free_buffers": [1]' if not sizes and n != "n" and r.random() < 0.3 else ""
    operand, kind = ("Q", "int8") if small else ("B", dtype)
    weights, bias = f'{operand}: T.Buffer({b_shape}, "{kind}")', f'D: T.Buffer(({n},), "{dtype}")'
    if n == "n":
        weights, bias = f"{operand.lower()}: T.handle", "d: T.handle"
    lines = [f'    def main(a: T.handle, {weights}, {bias}, c: T.handle):',
             f'        T.func_attr({{"tirx.noalias": True{free}}})'] + [f"        {x} = T.int{r.choice([32, 64])}()" for x in ("m", "n") if x in (rows, n)]
    lines += [f'        A = T.match_buffer(a, {a_shape}, "{dtype}")', f'        C = T.match_buffer(c, {shape(rows, n)}, "{dtype}")']
    if n == "n":
        lines += [f'        {operand} = T.match_buffer({operand.lower()}, {b_shape}, "{kind}")', f'        D = T.match_buffer(d, (n,), "{dtype}")']
    buffers = [f"t{i}" for i in range(len(epilogues))] + ["C"]
    lines += [f'        {b} = T.sblock_alloc_buffer({shape(rows, n)}, "{dtype}")' for b in buffers[:-1]]
    if "rate" in epilogues:
        lines.append(f'        R = T.sblock_alloc_buffer(({n},), "{dtype}")')
    if small:
        axes = (["b"] if batch else []) + (["j", "k"] if b_turned else ["k", "j"])
        extents = batch + ([n, k] if b_turned else [k, n])
        place = ", ".join("v" + x for x in axes)
        lines.append(f"        B = T.sblock_alloc_buffer({b_shape})")
        lines += block("weights", axes, extents, "S" * len(axes), [f'B[{place}] = T.Cast("float32", Q[{place}]) * D[vj]'])
    order = (["b"] if batch else []) + r.sample("ijk", 3)
    extent = {"b": batch[0] if batch else 1, "i": rows, "j": n, "k": k}
    at = lambda *axes: ", ".join((["vb"] if batch else []) + ["v" + x for x in axes])
    out = f"{buffers[0]}[{at('i', 'j')}]"
    a = f"A[{at('k', 'i') if a_turned else at('i', 'k')}]"
    b = f"B[{at('j', 'k') if b_turned else at('k', 'j')}]"
    lines += block("product", order, [extent[x] for x in order], "".join("R" if x == "k" else "S" for x in order),
                   ["with T.init():", f"    {out} = T.{dtype}(0)", f"{out} = {out} + {a} * {b}"])
    spatial = [x for x in ("b", "i", "j") if x != "b" or batch]
    if "rate" in epilogues:
        lines += block("rates", ["j"], [n], "S", ["R[vj] = D[vj] * D[vj]"])
    for i, name in enumerate(epilogues):
        x = f"{buffers[i]}[{at('i', 'j')}]"
        value = EPILOGUES[name].format(x=x, dtype=dtype, first=out, out=f"{buffers[i + 1]}[{at('i', 'j')}]")
        lines += block(f"after{i}", spatial, [extent[x] for x in spatial], "S" * len(spatial), [f"{buffers[i + 1]}[{at('i', 'j')}] = {value}"])
    return HEAD + "\n".join(lines) + "\n"


def convolution(r):
    """A convolution, channels last or first, of an image that is padded beforehand or not."""
    size, channels, filters, window, stride = r.choice([5, 8, 9]), r.choice([1, 3, 8]), r.choice([1, 4, 16, 20]), r.choice([1, 3]), r.choice([1, 2])
    pad, first, wide = r.choice([0, 1]), r.random() < 0.5, r.choice([5, 8, 17])
    high, padded = (size + 2 * pad, wide + 2 * pad), pad > 0
    copied = padded or r.random() < 0.5
    out = [(x - window) // stride + 1 for x in high]
    image = lambda h, w, c: f"(1, {c}, {h}, {w})" if first else f"(1, {h}, {w}, {c})"
    weights = f"({filters}, {channels}, {window}, {window})" if first else f"({window}, {window}, {channels}, {filters})"
    lines = [f'    def main(X: T.Buffer({image(size, wide, channels)}, "float32"), W: T.Buffer({weights}, "float32"), Y: T.Buffer({image(*out, filters)}, "float32")):',
             '        T.func_attr({"tirx.noalias": True})']
    if copied:
        lines.append(f"        P = T.sblock_alloc_buffer({image(*high, channels)})")
        extents = [1, channels, *high] if first else [1, *high, channels]
        axes = ["n", "c", "h", "w"] if first else ["n", "h", "w", "c"]
        inside = f"{pad} <= vh and vh < {size + pad} and {pad} <= vw and vw < {wide + pad}"
        source = f"vn, vc, vh - {pad}, vw - {pad}" if first else f"vn, vh - {pad}, vw - {pad}, vc"
        lines += block("pad", axes, extents, "SSSS", [f"P[{', '.join('v' + a for a in axes)}] = " + (f"T.if_then_else({inside}, X[{source}], T.float32(0))" if padded else f"X[{source}]")])
    step = f" * {stride}" if stride > 1 else ""
    h, w = f"vh{step} + vp", f"vw{step} + vq"
    x = ("P" if copied else "X") + (f"[vn, vc, {h}, {w}]" if first else f"[vn, {h}, {w}, vc]")
    y = "Y[vn, vf, vh, vw]" if first else "Y[vn, vh, vw, vf]"
    weight = "W[vf, vc, vp, vq]" if first else "W[vp, vq, vc, vf]"
    axes = ["n", "f", "h", "w", "c", "p", "q"] if first else ["n", "h", "w", "f", "p", "q", "c"]
    extent = {"n": 1, "f": filters, "h": out[0], "w": out[1], "c": channels, "p": window, "q": window}
    lines += block("convolution", axes, [extent[a] for a in axes], "SSSSRRR", ["with T.init():", f"    {y} = T.float32(0)", f"{y} = {y} + {x} * {weight}"])
    return HEAD + "\n".join(lines) + "\n"


# Beyond a second cache sums are taken in blocks.
LARGE = [(1, 1030, 1100), (9, 1030, 1100), (30, 1030, 1100)]


def judge(large, r, folder):
    """Sums that may be rounded otherwise are compared by their values."""
    sizes = next(large, None)
    text = product(r, sizes) if sizes or r.random() < 0.75 else convolution(r)
    target, reorder = r.choice(TARGETS), r.random() < 0.4
    wrong, before, after, statistics = schedule(folder, text, target, reorder, *([] if reorder else ["--check-semantics"]))
    if not wrong:
        q = run("diff", "--values", "--tolerance", "1e-4", before, after) if reorder else run("check", after)
        wrong = q.stdout.strip() + q.stderr.strip() if q.returncode else ""
    return text, f"{target}, {reorder=}", wrong, "contractions tiled" in statistics or "groups of rows" in statistics


if __name__ == "__main__":
    sys.exit(judge_many(__doc__, 120, functools.partial(judge, iter(LARGE)), "tiled", 0.9))
