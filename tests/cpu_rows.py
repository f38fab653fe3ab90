#!/usr/bin/env python3
"""Generated programs without contractions: ScheduleCPU changes no result.

    cpu_rows.py [--count N] [--seed N]

Reductions along rows with element-wise stages between them, sums along columns, windows, copies that transpose, pad, join, cut
and gather, elements at places that are loaded, all of small and odd sizes, known and unknown (of either dtype), as blocks and as plain loops, for machines with vectors of 16, 32 and
64 bytes. The interpreter runs each before and after the pass on the same inputs, whole numbers, and symbolic sizes of all kinds; what
comes out must be well-formed, and check as a text again. Results must be the same to the last bit, but with `reorder` where sums
of floats are not exact.
"""
import math, os, re, struct, sys

from generated import TARGETS, judge_many, run, schedule

HEAD = "from tvm.script import ir as I, tirx as T\n\n@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n"
SIZES = [1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 33, 40, 67, 130]
UNARY = {"float": ["T.exp({x} * T.{d}(0.125))", "T.tanh({x})", "{x} * {x}", "T.max({x}, T.{d}(0))", "T.rsqrt({x} * {x} + T.{d}(1))", "{x} * T.{d}(2) - T.{d}(1)", "T.erf({x})"],
         "int": ["{x} * {x}", "{x} + 3", "T.max({x}, 2)", "T.min({x}, 5) - 1"]}
FOLDS = {"sum": ("T.{d}(0)", "{r} + {t}"), "max": ('T.min_value("{d}")', "T.max({r}, {t})"), "min": ('T.max_value("{d}")', "T.min({r}, {t})")}


class Program:
    """A PrimFunc in the making: buffers, and stages as blocks or as plain loops."""

    def __init__(self, r, noalias=True):
        self.r, self.params, self.inner, self.body, self.symbols = r, [], [], [], []
        self.noalias, self.blocks = noalias, r.random() < 0.7
        self.widths = [32, 64]  # of symbols
        self.sums = [[]]  # extents of the axes that each reduction takes

    def size(self, most=200):
        n = self.r.choice([s for s in SIZES if s <= most])
        if self.r.random() < 0.15:
            self.symbols.append(f"n{len(self.symbols)}")
            return self.symbols[-1]
        return n

    def param(self, name, shape, dtype):
        self.params.append((name, shape, dtype))

    def buffer(self, name, shape, dtype):
        self.inner.append((name, shape, dtype))

    def stage(self, name, axes, lines):
        """`axes`: name, extent, S or R; lines use the names. The first line may be an initial store."""
        self.sums.append([extent for _, extent, kind in axes if kind == "R"])
        grid = ", ".join(a for a, _, _ in axes), ", ".join(str(e) for _, e, _ in axes)
        out = [f"        for {grid[0]} in T.grid({grid[1]}):" if len(axes) > 1 else f"        for {axes[0][0]} in range({axes[0][1]}):"] if axes else []
        init, last = (lines[0], lines[1]) if len(lines) == 2 else (None, lines[0])
        if not self.blocks:
            if init:
                spatial = [a for a in axes if a[2] == "S"]
                keep = self.body
                self.body = keep
                self.stage(name + "_init", spatial, [init]) if spatial else self.body.append("        " + init)
            self.body += out + [("            " if axes else "        ") + last]
            return
        out += [f'            with T.sblock("{name}"):']
        if len(axes) > 1:
            out.append(f'                {", ".join("v" + a for a, _, _ in axes)} = T.axis.remap("{"".join(k for _, _, k in axes)}", [{grid[0]}])')
        else:
            out.append(f'                v{axes[0][0]} = T.axis.{"spatial" if axes[0][2] == "S" else "reduce"}({axes[0][1]}, {axes[0][0]})')
        rename = lambda line: " ".join(line.split(" "))
        if init:
            out += ["                with T.init():", "                    " + self.bound(init, axes)]
        self.body += out + ["                " + self.bound(last, axes)]

    def tuple(self, name, axes, places, inits, values, d):
        """A block that stores several values, each computed before all stores."""
        swap = self.r.random() < 0.5
        order = list(zip(places, inits, values, [f"w{i}" for i in range(len(places))]))
        self.stage(name, axes, [self.MARK, self.MARK])
        lines = [line for line in self.body if self.MARK not in line][:-1]
        space = "                "
        lines.append(space + "with T.init():")
        lines += [space + "    " + self.bound(f"{place} = {init}", axes) for place, init, _, _ in order]
        lines += [space + self.bound(f"{w}: T.let[T.{'int32' if place[0] == 'A' else d}] = {value}", axes) for place, _, value, w in order]
        self.body = lines + [space + self.bound(f"{place} = {w}", axes) for place, _, _, w in (order[::-1] if swap else order)]

    MARK = "MARK"

    def bound(self, line, axes):
        for a, _, _ in axes:
            line = re.sub(rf"\b{a}\b", "v" + a, line)
        return line

    def text(self):
        show = lambda shape: "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
        heads = ", ".join(f"{n.lower()}_: T.handle" for n, _, _ in self.params)
        lines = [f"    def main({heads}):"]
        if self.noalias:
            lines.append('        T.func_attr({"tirx.noalias": True})')
        lines += [f"        {s} = T.int{self.r.choice(self.widths)}()" for s in self.symbols]
        lines += [f'        {n} = T.match_buffer({n.lower()}_, {show(s)}, "{d}")' for n, s, d in self.params]
        lines += [f'        {n} = T.sblock_alloc_buffer({show(s)}, "{d}")' for n, s, d in self.inner]
        return HEAD + "\n".join(lines + self.body) + "\n"


def rows(r):
    """Maps and folds that use one another's results along rows."""
    p = Program(r)
    p.blocks = True
    d = r.choice(["float32", "float32", "float32", "float64", "int32", "float16"])
    kind = "int" if d == "int32" else "float"
    outer = [p.size(8) for _ in range(r.choice([0, 1, 1, 2]))]
    line = [p.size() for _ in range(r.choice([1, 1, 2]))]
    o, l = [f"a{i}" for i in range(len(outer))], [f"k{i}" for i in range(len(line))]
    at = lambda names: ", ".join(names) if names else "0"
    p.param("X", outer + line, d)
    p.param("W", line, d)
    elements, folds = [f"X[{at(o + l)}]", f"W[{at(l)}]"], []
    axes = lambda names, extents, k: list(zip(names, extents, k * len(names)))
    steps = r.randint(1, 5)
    for i in range(steps):
        last = i == steps - 1
        use = r.choice(elements)
        if folds and r.random() < 0.6:
            use = f"({use} - {r.choice(folds)})"
        value = r.choice(UNARY[kind]).format(x=use, d=d) if r.random() < 0.6 else f"{use} + {r.choice(elements)}"
        choice = r.choice(["map", "fold", "fold", "scalar"] if folds else ["map", "fold"])
        name = f"Y{i}" if last or r.random() < 0.2 else f"t{i}"
        shape = {"map": outer + line, "fold": outer or [1], "scalar": outer or [1]}[choice]
        (p.param if name[0] == "Y" else p.buffer)(name, shape, d)
        if choice == "map":
            p.stage(f"map{i}", axes(o, outer, "S") + axes(l, line, "S"), [f"{name}[{at(o + l)}] = {value}"])
            elements.append(f"{name}[{at(o + l)}]")
        elif choice == "fold":
            init, step = FOLDS[r.choice(list(FOLDS))]
            place = f"{name}[{at(o)}]"
            p.stage(f"fold{i}", axes(o, outer, "S") + axes(l, line, "R"), [f"{place} = {init.format(d=d)}", f"{place} = {step.format(r=place, t=value, d=d)}"])
            folds.append(place)
        else:
            place = f"{name}[{at(o)}]"
            if o:
                p.stage(f"scalar{i}", axes(o, outer, "S"), [f"{place} = {r.choice(UNARY[kind]).format(x=r.choice(folds), d=d)}"])
            else:
                p.stage(f"scalar{i}", [("z", 1, "S")], [f"{name}[z] = {r.choice(folds)} + {d and 'T.' + d + '(1)'}"])
            folds.append(place)
    return p


def tuples(r):
    """Two sums at once, with elements that use those of their group, and searches for the greatest or least."""
    p = Program(r)
    p.blocks = True
    d = r.choice(["float32", "float32", "float16", "int32"])
    groups, size, n = p.size(8), r.choice([1, 2, 4]), p.size()
    if r.random() < 0.5:
        init = [f"T.{d}({r.choice([0, 0, 1])})"] * 2
        p.param("X", [f"{groups} * {size}", n], d)
        p.param("Y", [f"{groups} * {size}", n], d)
        (p.buffer if isinstance(groups, int) else p.param)("S", [groups], d)
        p.buffer("Q", [groups], d)
        x = f"X[g * {size} + h, k]"
        p.tuple("sums", [("g", groups, "S"), ("h", size, "R"), ("k", n, "R")], ["S[g]", "Q[g]"], init, [f"S[g] + {x}", r.choice(["Q[g] + {x} * {x}", "T.max(Q[g], {x})"]).format(x=x)], d)
        p.stage("norm", [("i", f"{groups} * {size}", "S"), ("j", n, "S")], [f"Y[i, j] = X[i, j] * S[i // {size}] - Q[i // {size}]"])
        return p
    inner = p.size(20) if r.random() < 0.4 else None
    p.widths = [32]  # places are stored as such
    p.param("X", [groups, n] + ([inner] if inner else []), d)
    shape, at, x = ([groups, inner], "i, j", "X[i, k, j]") if inner else ([groups], "i", "X[i, k]")
    p.param("A", shape, "int32")
    p.param("M", shape, d)
    greatest, late = r.random() < 0.5, r.choice(["{m} {s}= {x}", "{m} {s} {x}", "{m} {s} {x} or {m} == {x} and {a} < k", "{m} {s} {x} or {m} == {x} and {a} > k"])
    m, a, sign = f"M[{at}]", f"A[{at}]", ">" if greatest else "<"
    begin = f"T.{d}({r.choice([-4, 0, 4])})" if r.random() < 0.5 else f'T.{"min" if greatest else "max"}_value("{d}")'
    axes = [("i", groups, "S")] + ([("j", inner, "S")] if inner else []) + [("k", n, "R")]
    p.tuple("search", axes, [a, m], [r.choice(["-1", "-1", "0"]), begin],
            [f"T.Select({late.format(m=m, a=a, x=x, s=sign)}, {a}, k)", f"T.Select({m} {sign} {x}, {m}, {x})"], d)
    return p


def columns(r):
    """Sums along an axis that is not the last one, with what follows them."""
    p = Program(r)
    d = r.choice(["float32", "int32", "float64"])
    a, b, c = p.size(5), p.size(9), p.size(70)
    p.param("X", [a, b, c], d)
    p.param("Y", [a, c], d)
    p.buffer("S", [a, c], d)
    init, step = FOLDS[r.choice(list(FOLDS))]
    p.stage("column", [("i", a, "S"), ("j", c, "S"), ("k", b, "R")],
            [f"S[i, j] = {init.format(d=d)}", f"S[i, j] = {step.format(r='S[i, j]', t='X[i, k, j]', d=d)}"])
    p.stage("after", [("i", a, "S"), ("j", c, "S")], ["Y[i, j] = S[i, j] + S[i, j]"])
    return p


def window(r):
    """Pooling and depthwise convolutions, channels first or last, padded or not."""
    p = Program(r)
    p.blocks = True
    first, stride, size, pad = r.random() < 0.5, r.choice([1, 1, 2, 3]), r.choice([1, 2, 3, 5]), r.choice([0, 0, 1, 2])
    c, h, w = p.size(20), r.choice([5, 8, 9]), r.choice([5, 7, 16, 23, 37, 70])
    depthwise = r.random() < 0.5
    shape = lambda h, w: [1, c, h, w] if first else [1, h, w, c]
    at = lambda y, x: f"n, f, {y}, {x}" if first else f"n, {y}, {x}, f"
    p.param("X", shape(h, w), "float32")
    if depthwise:
        p.param("W", [c, size, size] if first else [size, size, c], "float32")
    oh, ow = (h + 2 * pad - size) // stride + 1, (w + 2 * pad - size) // stride + 1
    p.param("Y", shape(oh, ow), "float32")
    init, step = FOLDS["sum" if depthwise else r.choice(list(FOLDS))]
    border = r.choice([init.format(d="float32"), "T.float32(0)"])
    source = "X"
    order = lambda y, x: [("n", 1, "S"), ("f", c, "S"), ("y", y, "S"), ("x", x, "S")] if first else [("n", 1, "S"), ("y", y, "S"), ("x", x, "S"), ("f", c, "S")]
    if pad:
        source = "P"
        p.buffer("P", shape(h + 2 * pad, w + 2 * pad), "float32")
        inside = f"{pad} <= y and y < {h + pad} and {pad} <= x and x < {w + pad}"
        p.stage("pad", order(h + 2 * pad, w + 2 * pad), [f"P[{at('y', 'x')}] = T.if_then_else({inside}, X[{at(f'y - {pad}', f'x - {pad}')}], {border})"])
    s = f" * {stride}" if stride > 1 else ""
    x = f"{source}[{at(f'y{s} + p', f'x{s} + q')}]"
    term = f"{x} * W[{'f, p, q' if first else 'p, q, f'}]" if depthwise else x
    y = f"Y[{at('y', 'x')}]"
    p.stage("window", order(oh, ow) + [("p", size, "R"), ("q", size, "R")], [f"{y} = {init.format(d='float32')}", f"{y} = {step.format(r=y, t=term, d='float32')}"])
    return p


def samples(r):
    """Elements at places that are computed from what is loaded, the same for all channels, and weights of them."""
    p = Program(r)
    p.blocks = True
    c, h, w, k = p.size(8), r.choice([1, 3, 5]), p.size(70), r.choice([1, 1, 2])
    p.param("X", [c, 17], "float32")
    p.param("G", [h, w], "float32")
    p.param("Y", [c, h, w], "float32")
    step = f" + T.Cast(\"float32\", q) * T.float32({r.choice([0.5, 2])})" if k > 1 else ""
    spot = f"(G[y, x] * T.float32({r.choice([2, 3.5])}) + T.float32({r.choice([-0.5, 4])}){step})"
    floor = f"T.floor({spot})"
    at = lambda more: f'(T.Cast("int32", {floor}) + {more})' if more else f'T.Cast("int32", {floor})'
    share = f"({spot} - {floor})"
    terms = []
    for more in range(r.choice([1, 2])):
        value = f"X[c, {at(more)}]"
        if r.random() < 0.5:
            value = f"{share} * {value}"
        inside = f"0 <= {at(more)} and {at(more)} < 17"
        border = r.choice(["T.float32(0)", "T.float32(2)", "X[c, 0]"])
        terms.append(r.choice([f"T.if_then_else({inside}, {value}, {border})", f"T.if_then_else(17 <= {at(more)} or {at(more)} < 0, {border}, {value})"]) + f" * {share}")
    axes = [("c", c, "S"), ("y", h, "S"), ("x", w, "S")]
    if k == 1:
        p.stage("sample", axes, [f"Y[c, y, x] = {' + '.join(terms)}"])
    else:
        p.stage("sample", axes + [("q", k, "R")], ["Y[c, y, x] = T.float32(0)", f"Y[c, y, x] = Y[c, y, x] + ({' + '.join(terms)})"])
    return p


def movement(r):
    """Copies to other places."""
    p = Program(r)
    d = r.choice(["float32", "float32", "int8", "float64", "float16"])
    n, m, k = p.size(40), p.size(70), p.size(20)
    kind = r.choice(["transpose", "permute", "pad", "join", "cut", "gather", "flat", "cast", "inplace"])
    axes = lambda *extents: [(x, e, "S") for x, e in zip("ijk", extents)]
    if kind == "transpose":
        p.param("X", [n, m], d)
        p.param("Y", [m, n], d)
        p.stage("turn", axes(m, n), ["Y[i, j] = X[j, i]"])
    elif kind == "permute":
        p.param("X", [n, k, m], d)
        shape, source = r.choice([([k, n, m], "j, i, k"), ([m, k, n], "k, j, i"), ([m, n, k], "j, k, i")])
        p.param("Y", shape, d)
        p.stage("turn", axes(*shape), [f"Y[i, j, k] = X[{source}]"])
    elif kind == "pad":
        a, b = r.choice([0, 1, 3]), r.choice([0, 2, 5])
        p.param("X", [n, m], d)
        p.param("Y", [n, f"{m} + {a + b}"], d)
        p.stage("pad", axes(n, f"{m} + {a + b}"), [f"Y[i, j] = T.if_then_else({a} <= j and j < {m} + {a}, X[i, j - {a}], T.{d}(0))"])
    elif kind == "join":
        p.param("X", [n, m], d)
        p.param("Z", [n, k], d)
        p.param("Y", [n, f"{m} + {k}"], d)
        p.stage("join", axes(n, f"{m} + {k}"), [f"Y[i, j] = T.if_then_else(j >= {m}, Z[i, j - {m}], X[i, j])"])
    elif kind == "cut":
        a, s = r.choice([0, 1, 2]), r.choice([1, 1, 2, 3])
        p.param("X", [n, f"{m} * {s} + {a}"], d)
        p.param("Y", [n, m], d)
        p.stage("cut", axes(n, m), [f"Y[i, j] = X[i, j * {s} + {a}]"])
    elif kind == "gather":
        p.param("X", [8, m], d)
        p.param("P", [n], "int32")
        p.param("Y", [n, m], d)
        p.stage("gather", axes(n, m), ["Y[i, j] = X[P[i], j]"])
    elif kind == "flat":
        n, m = (x if isinstance(x, int) else 6 for x in (n, m))
        p.param("X", [n * m], d)
        p.param("Y", [m, n], d)
        p.stage("flat", axes(m, n), [f"Y[i, j] = X[(i * {n} + j) % {n * m}]"])
    elif kind == "cast":
        p.param("X", [n, m], d)
        p.param("Y", [n, m], "float32")
        p.stage("cast", axes(n, m), ['Y[i, j] = T.Cast("float32", X[i, j])' if d != "float32" else "Y[i, j] = X[i, j]"])
    else:
        p.param("Y", [n, m], d)
        p.stage("inplace", axes(n, m), [f"Y[i, j] = Y[i, j] * T.{d}(2)"])
        p.stage("again", axes(n, m), [f"Y[i, j] = Y[i, j] + T.{d}(1)"])
    return p


FORMATS = {"float32": ("<f4", "f"), "float64": ("<f8", "d"), "float16": ("<f2", "e"), "int32": ("<i4", "i"), "int8": ("|i1", "b")}


def write_array(path, shape, dtype, values):
    kind, code = FORMATS[dtype]
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},)}}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}{code}", *values))


def read_array(path):
    with open(path, "rb") as f:
        data = f.read()
    size = struct.unpack("<H", data[8:10])[0]
    code = {kind: code for kind, code in FORMATS.values()}[eval(data[10:10 + size])["descr"]]
    return struct.unpack(f"<{(len(data) - 10 - size) // struct.calcsize(code)}{code}", data[10 + size:])


def inputs(r, program, folder):
    """Arguments that give every parameter of a program whole numbers."""
    sizes = {name: r.choice(SIZES) for name in program.symbols}
    arguments = []
    program.terms = max(math.prod(eval(str(extent), dict(sizes)) for extent in sum) for sum in program.sums)
    for name, shape, dtype in program.params:
        shape = [eval(str(extent), dict(sizes)) for extent in shape]
        count = 1
        for extent in shape:
            count *= extent
        low = 0 if name == "P" else -4
        write_array(os.path.join(folder, name + ".npy"), shape, dtype, [r.randint(low, 4) for _ in range(count)])
        arguments += ["--in", f"{name}={folder}/{name}.npy"]
    return arguments


def results(folder, path, arguments, name):
    out = os.path.join(folder, name)
    os.makedirs(out, exist_ok=True)
    for old in os.listdir(out):
        os.unlink(os.path.join(out, old))
    p = run("run", *arguments, "--out", out, path)
    if p.returncode:
        raise ValueError(p.stderr)
    return {f: read_array(os.path.join(out, f)) for f in sorted(os.listdir(out))}


def tolerance(program):
    """Of results of another order of sums. Halves have 11 bits, and each addition may round once."""
    halves = any(dtype == "float16" for _, _, dtype in program.params)
    return max(2e-2, program.terms * 2 ** -11) if halves else 2e-2


def same(a, b, exact, most_error):
    if a == b or len(a) != len(b):
        return a == b
    if exact:
        return all(x == y or x != x and y != y for x, y in zip(a, b))
    most = max((abs(x) for x in a if x == x and abs(x) != float("inf")), default=0)
    return all(x == y or x != x and y != y or abs(x - y) <= most_error * most for x, y in zip(a, b))


def judge(r, folder):
    program = r.choice([rows, rows, rows, columns, window, movement, movement, tuples, samples])(r)
    target, reorder = r.choice(TARGETS), r.random() < 0.5
    wrong, before, after, statistics = schedule(folder, program.text(), target, reorder)
    if not wrong:
        q = run("check", after)
        wrong = q.stderr.strip() if q.returncode else differing(r, folder, program, before, after, not reorder)
    return program.text(), f"{target}, {reorder=}", wrong, "groups of rows" in statistics


def differing(r, folder, program, before, after, exact):
    """Runs both files on the same inputs. Returns what is wrong."""
    arguments = inputs(r, program, folder)
    try:
        was, now = results(folder, before, arguments, "was"), results(folder, after, arguments, "now")
    except ValueError as failure:
        return str(failure)
    wrong = [name for name in was if not same(was[name], now[name], exact, tolerance(program))]
    return f"{wrong} differ" if wrong else ""


if __name__ == "__main__":
    sys.exit(judge_many(__doc__, 160, judge, "scheduled", 0.8))
