"""Kernels, made from a number: PrimFuncs of one to four blocks."""
import re

HEAD = "@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n"
SIZES = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 16, 17, 20, 24]


# ---- Kernels ----


class Named(int):
    """A size that is not known: its name where it is written, and what runs take for it in arithmetic."""

    def __new__(cls, name):
        made = super().__new__(cls, 16)
        made.name = name
        return made

    def __repr__(self):
        return self.name

    __str__ = __repr__

    def __format__(self, spec):
        return self.name


SYMBOLIC = SIZES + [Named("n"), Named("m")] * 4
chosen_from = SIZES


def sizes():
    return chosen_from


class Text:
    """Lines of a PrimFunc."""

    def __init__(self, parameters):
        quoted = lambda s: "(" + ", ".join(f'"{e}"' if isinstance(e, Named) else str(e) for e in s) + ("," if len(s) == 1 else "") + ")"
        self.lines = ["    def main(" + ", ".join(f"{n}: T.Buffer({quoted(s)}, \"{d}\")" for n, s, d in parameters) + "):"]
        self.lines += [f"        {name} = T.int32()" for name in sorted({e.name for _, s, _ in parameters for e in s if isinstance(e, Named)})]
        self.names = 0

    def local(self, name, shape, dtype):
        self.lines.append(f"        {name} = T.sblock_alloc_buffer({tuple(shape)!r}, \"{dtype}\")")

    def block(self, name, sizes, kinds, body, init=None, where=None, depth=2, starts=None):
        """A nest of loops around a block; `body` has the axes as v0, v1 …"""
        loops = [f"{'ijklmnop'[k]}" for k in range(len(sizes))]
        pad = "    " * depth
        starts = starts or [0] * len(sizes)
        if any(starts):
            for loop, size, start in zip(loops, sizes, starts):
                self.lines.append(f"{pad}for {loop} in range({start}, {start + size}):")
                pad += "    "
        else:
            self.lines.append(f"{pad}for {', '.join(loops)} in T.grid({', '.join(map(str, sizes))}):" if len(sizes) > 1 else f"{pad}for {loops[0]} in range({sizes[0]}):")
            pad += "    "
        self.lines.append(f"{pad}with T.sblock(\"{name}\"):")
        pad += "    "
        for k, (size, kind) in enumerate(zip(sizes, kinds)):
            start = starts[k]
            value = loops[k] if not start else f"{loops[k]} - {start}"
            self.lines.append(f"{pad}v{k} = T.axis.{'spatial' if kind == 'S' else 'reduce'}({size}, {value})")
        if where:
            self.lines.append(f"{pad}T.where({where})")
        if init:
            self.lines += [f"{pad}with T.init():"] + [pad + "    " + line for line in init]
        self.lines += [pad + line for line in body]

    def __str__(self):
        return HEAD + "\n".join(self.lines) + "\n"


def axes(n, first=0):
    return [f"v{k}" for k in range(first, first + n)]


def index(*parts):
    return "[" + ", ".join(parts) + "]"


def elementwise(r):
    """A chain of stages, each of which reads the one before at other places."""
    rank = r.randint(1, 3)
    shape = [r.choice(sizes()) for _ in range(rank)]
    dtype = r.choice(["int32", "int32", "int64", "float32"])
    stages = r.randint(1, 4)
    out = f"B{stages - 1}"
    text = Text([("A", shape, dtype), (out, shape, dtype)])
    for k in range(stages - 1):
        text.local(f"B{k}", shape, dtype)
    source = "A"
    for k in range(stages):
        places = []
        for d, size in enumerate(shape):
            same = f"v{d}"
            places.append(r.choice([same, same, same, f"{size - 1} - {same}", f"({same} + {r.randint(1, 5)}) % {size}", f"{same} // {r.randint(1, 3)}", str(r.randrange(size))]))
        value = f"{source}{index(*places)}"
        constant = f"T.{dtype}({r.randint(1, 9)})"
        value = r.choice([f"{value} + {constant}", f"{value} * {constant}", f"T.max({value}, {constant})", f"{value} - {constant}", f"T.if_then_else(v0 < {r.randint(1, shape[0])}, {value}, {constant})"])
        if r.random() < 0.3:
            value += f" + A{index(*axes(rank))}"
        text.block(f"B{k}", shape, "S" * rank, [f"B{k}{index(*axes(rank))} = {value}"], starts=[r.choice([0, 0, 1, 3]) for _ in shape] if r.random() < 0.1 else None)
        source = f"B{k}"
    return text


def contraction(r):
    """Products of rows, perhaps in batches, of transposed matrices, with an epilogue."""
    m, n, k, batch = (r.choice(sizes()) for _ in range(4))
    batched, left, right = r.random() < 0.3, r.random() < 0.4, r.random() < 0.5
    b = [batch] if batched else []
    o = len(b)
    i, j, q = f"v{o}", f"v{o + 1}", f"v{o + 2}"
    a_shape = b + ([k, m] if left else [m, k])
    b_shape = b + ([n, k] if right else [k, n])
    epilogue = r.random() < 0.6
    parameters = [("A", a_shape, "int32"), ("B", b_shape, "int32"), ("D" if epilogue else "C", b + [m, n], "int32")]
    if epilogue:
        parameters.insert(2, ("bias", [n], "int32"))
    text = Text(parameters)
    if epilogue:
        text.local("C", b + [m, n], "int32")
    head = axes(o)
    at = index(*head, i, j)
    load_a = "A" + index(*head, *([q, i] if left else [i, q]))
    load_b = "B" + index(*head, *([j, q] if right else [q, j]))
    text.block("C", b + [m, n, k], "S" * o + "SSR", [f"C{at} = C{at} + {load_a} * {load_b}"], init=[f"C{at} = 0"])
    if epilogue:
        last = r.choice([f"C{at} + bias[{j}]", f"T.max(C{at} + bias[{j}], 0)", f"C{at} * 3"])
        text.block("D", b + [m, n], "S" * (o + 2), [f"D{at} = {last}"])
    return text


def convolution(r):
    """A window over a padded image."""
    size, channels, filters, window = r.choice(sizes()[3:]), r.choice([1, 2, 3, 4, 8]), r.choice([1, 2, 4, 6, 8]), r.choice([1, 2, 3])
    stride, pad, depthwise = r.choice([1, 1, 2]), r.choice([0, 1, 2]), r.random() < 0.3
    wide = size + 2 * pad
    if wide < window:
        pad, wide = window, size + 2 * window
    out = (wide - window) // stride + 1
    groups = channels if depthwise else filters
    text = Text([("X", [channels, size, size], "int32"), ("W", [channels, window, window] if depthwise else [filters, channels, window, window], "int32"), ("Y", [groups, out, out], "int32")])
    source = "X"
    if pad:
        text.local("P", [channels, wide, wide], "int32")
        inside = f"v1 >= {pad} and v1 < {pad + size} and v2 >= {pad} and v2 < {pad + size}"
        text.block("P", [channels, wide, wide], "SSS", [f"P[v0, v1, v2] = T.if_then_else({inside}, X[v0, v1 - {pad}, v2 - {pad}], 0)"])
        source = "P"
    step = f" * {stride}" if stride > 1 else ""
    if depthwise:
        text.block("Y", [channels, out, out, window, window], "SSSRR", [f"Y[v0, v1, v2] = Y[v0, v1, v2] + {source}[v0, v1{step} + v3, v2{step} + v4] * W[v0, v3, v4]"], init=["Y[v0, v1, v2] = 0"])
    else:
        text.block("Y", [filters, out, out, channels, window, window], "SSSRRR", [f"Y[v0, v1, v2] = Y[v0, v1, v2] + {source}[v3, v1{step} + v4, v2{step} + v5] * W[v0, v3, v4, v5]"], init=["Y[v0, v1, v2] = 0"])
    return text


def rows(r):
    """Sums and extremes of rows, and what is done with them."""
    n, k = r.choice(sizes()), r.choice(sizes()[1:])
    text = Text([("A", [n, k], "int32"), ("C", [n, k], "int32")])
    text.local("M", [n], "int32")
    text.local("S", [n], "int32")
    text.block("M", [n, k], "SR", ["M[v0] = T.max(M[v0], A[v0, v1])"], init=["M[v0] = T.min_value(\"int32\")"])
    text.block("S", [n, k], "SR", ["S[v0] = S[v0] + A[v0, v1]"], init=["S[v0] = 0"])
    text.block("C", [n, k], "SS", ["C[v0, v1] = A[v0, v1] * 5 - M[v0] + S[v0]"])
    return text


def pools(r):
    """Two windows, one after the other."""
    size, first, second = r.choice([10, 12, 15, 16, 20]), r.choice([2, 3]), r.choice([2, 3])
    one = size - first + 1
    two = one - second + 1
    text = Text([("A", [size, size], "int32"), ("C", [two, two], "int32")])
    text.local("B", [one, one], "int32")
    text.block("B", [one, one, first], "SSR", ["B[v0, v1] = T.max(B[v0, v1], A[v0 + v2, v1])"], init=["B[v0, v1] = T.min_value(\"int32\")"])
    text.block("C", [two, two, second], "SSR", ["C[v0, v1] = T.max(C[v0, v1], B[v0 + v2, v1])"], init=["C[v0, v1] = T.min_value(\"int32\")"])
    return text


def windows(r):
    """Stages without reduction that read neighbours."""
    size, reach = r.choice([9, 12, 14, 16]), r.choice([1, 2])
    inner = size - 2 * reach
    text = Text([("A", [size, size], "int32"), ("C", [inner, size], "int32")])
    text.local("B", [size, size], "int32")
    text.block("B", [size, size], "SS", ["B[v0, v1] = A[v0, v1] * 2 + 1"])
    text.block("C", [inner, size], "SS", [f"C[v0, v1] = B[v0, v1] + B[v0 + {reach}, v1] - B[v0 + {2 * reach}, v1]"])
    return text


def flattened(r):
    """Axes bound to quotients and remainders of loops, and blocks that do not always run. Sizes are known: TVM does not take one that is not for positive, and a remainder by it may be anything."""
    a, b = r.choice(SIZES[2:]), r.choice(SIZES[2:])
    more = r.randint(0, 5)
    text = Text([("A", [a, b], "int32"), ("C", [a, b], "int32")])
    pad = "        "
    text.lines += [f"{pad}for f in range({a * b + more}):", f"{pad}    with T.sblock(\"C\"):", f"{pad}        v0 = T.axis.spatial({a}, f // {b})", f"{pad}        v1 = T.axis.spatial({b}, f % {b})"]
    if more:
        text.lines.append(f"{pad}        T.where(f < {a * b})")
    text.lines.append(f"{pad}        C[v0, v1] = A[v0, v1] + v0 * 3 + v1")
    return text


def transposed(r):
    """Copies in another order, through a buffer in between."""
    a, b, c = (r.choice(sizes()) for _ in range(3))
    text = Text([("A", [a, b, c], "int32"), ("C", [c, a, b], "int32")])
    text.local("B", [b, a, c], "int32")
    text.block("B", [b, a, c], "SSS", ["B[v0, v1, v2] = A[v1, v0, v2]"])
    text.block("C", [c, a, b], "SSS", ["C[v0, v1, v2] = B[v2, v1, v0] + 1"])
    return text


def normalized(r):
    """Rows less their greatest, and what is made of them and their sums."""
    n, k = r.choice(sizes()), r.choice(sizes()[1:])
    text = Text([("A", [n, k], "int32"), ("C", [n, k], "int32")])
    text.local("M", [n], "int32")
    text.local("E", [n, k], "int32")
    text.local("S", [n], "int32")
    text.block("M", [n, k], "SR", ["M[v0] = T.max(M[v0], A[v0, v1])"], init=["M[v0] = T.min_value(\"int32\")"])
    text.block("E", [n, k], "SS", ["E[v0, v1] = (A[v0, v1] - M[v0]) * 2"])
    text.block("S", [n, k], "SR", ["S[v0] = S[v0] + E[v0, v1]"], init=["S[v0] = 0"])
    text.block("C", [n, k], "SS", ["C[v0, v1] = E[v0, v1] * 7 - S[v0]"])
    return text


def places(r):
    """Where the greatest of a row is, and what it is: one block with two results."""
    n, k = r.choice(sizes()), r.choice(sizes()[1:])
    text = Text([("A", [n, k], "int32"), ("P", [n], "int32"), ("M", [n], "int32")])
    at = r.choice(["v1", f"{k - 1} - v1"])
    value = f"A[v0, {at}] * 32 + v1"  # no two are the same: which of them counts would depend on the order
    body = [f"p: T.let[T.int32] = T.Select(M[v0] >= {value}, P[v0], v1)", f"m: T.let[T.int32] = T.Select(M[v0] >= {value}, M[v0], {value})", "P[v0] = p", "M[v0] = m"]
    text.block("P", [n, k], "SR", body, init=["P[v0] = -1", "M[v0] = T.min_value(\"int32\")"])
    return text


def gathered(r):
    """Rows that another buffer names."""
    n, m, k = r.choice(sizes()), r.choice(sizes()), r.choice(sizes())
    text = Text([("A", [m, k], "int32"), ("I", [n], "int32"), ("C", [n, k], "int32")])
    text.local("B", [n, k], "int32")
    text.block("B", [n, k], "SS", [f"B[v0, v1] = A[T.min(T.max(I[v0], 0), {m - 1}), v1]"])
    text.block("C", [n, k], "SS", [r.choice(["C[v0, v1] = B[v0, v1] * 3", f"C[v0, v1] = B[v0, {k - 1} - v1] + I[v0]"])])
    return text


def strided(r):
    """Copies that take every second element, or leave places between, and a reader of them."""
    n, step, begin = r.choice(sizes()[1:]), r.choice([2, 3]), r.choice([0, 1])
    wide = n * step + begin
    text = Text([("A", [wide, 4], "int32"), ("C", [n, 4], "int32")])
    text.local("B", [n, 4], "int32")
    text.block("B", [n, 4], "SS", [f"B[v0, v1] = A[v0 * {step} + {begin}, v1]"])
    text.block("C", [n, 4], "SS", [f"C[v0, v1] = B[v0, v1] + B[{n - 1} - v0, 3 - v1]"])
    return text


def quantized(r):
    """Products of bytes, summed in more bits, and clipped."""
    m, n, k = (r.choice(sizes()) for _ in range(3))
    text = Text([("A", [m, k], "int8"), ("B", [n, k], "int8"), ("D", [m, n], "int8")])
    text.local("C", [m, n], "int32")
    text.block("C", [m, n, k], "SSR", ["C[v0, v1] = C[v0, v1] + T.Cast(\"int32\", A[v0, v2]) * T.Cast(\"int32\", B[v1, v2])"], init=["C[v0, v1] = 0"])
    text.block("D", [m, n], "SS", ["D[v0, v1] = T.Cast(\"int8\", T.max(T.min(C[v0, v1] // 16, 127), -128))"])
    return text


def depthwise(r):
    """A window of each channel, channels last."""
    size, channels, window, stride = r.choice([5, 6, 8, 9, 12]), r.choice([1, 2, 4, 8]), r.choice([2, 3]), r.choice([1, 2])
    out = (size - window) // stride + 1
    text = Text([("X", [size, size, channels], "int32"), ("W", [window, window, channels], "int32"), ("D", [out, out, channels], "int32")])
    text.local("Y", [out, out, channels], "int32")
    text.block("Y", [out, out, channels, window, window], "SSSRR", [f"Y[v0, v1, v2] = Y[v0, v1, v2] + X[v0 * {stride} + v3, v1 * {stride} + v4, v2] * W[v3, v4, v2]"], init=["Y[v0, v1, v2] = 0"])
    text.block("D", [out, out, channels], "SSS", ["D[v0, v1, v2] = T.max(Y[v0, v1, v2], 0)"])
    return text


def chained(r):
    """Two products, one of which is the other's operand."""
    m, n, k, q = (r.choice(sizes()[:9]) for _ in range(4))
    text = Text([("A", [m, k], "int32"), ("B", [k, n], "int32"), ("W", [n, q], "int32"), ("D", [m, q], "int32")])
    text.local("C", [m, n], "int32")
    text.block("C", [m, n, k], "SSR", ["C[v0, v1] = C[v0, v1] + A[v0, v2] * B[v2, v1]"], init=["C[v0, v1] = 0"])
    text.block("D", [m, q, n], "SSR", ["D[v0, v1] = D[v0, v1] + C[v0, v2] * W[v2, v1]"], init=["D[v0, v1] = 0"])
    return text


KERNELS = [elementwise, elementwise, contraction, contraction, convolution, rows, pools, windows, flattened, transposed]


MORE_KERNELS = [normalized, places, gathered, strided, quantized, depthwise, chained]


def choose_sizes(symbolic):
    """From now on sizes may be symbolic, or not."""
    global chosen_from
    chosen_from = SYMBOLIC if symbolic else SIZES
