"""Kernels of models, made from a number: reductions over two axes and more, strided, dilated and padded windows, groups, packed layouts, rests of tiles under
conditions, diamonds of stages, parts of buffers. As those of kernels.py; the steps for them are those of odd_steps.py."""
from kernels import SIZES, Text, sizes
from odd_kernels import loop, put


def known(r, *, least=1, most=24):
    """A size that is known."""
    return r.choice([size for size in SIZES if least <= size <= most])


def fused_sum(r):
    """A sum over two axes that one loop runs through, perhaps beyond their end."""
    n, a, b, more = r.choice(sizes()), known(r, most=8), known(r, most=8), r.choice([0, 0, 1, 3])
    text = Text([("A", [n, a, b], "int32"), ("C", [n], "int32")])
    fold, start = r.choice([("C[v0] + A[v0, v1, v2]", "0"), ("T.max(C[v0], A[v0, v1, v2])", 'T.min_value("int32")'), ("C[v0] + A[v0, v1, v2] * A[v0, v1, v2]", "0")])
    where = f"f < {a * b}" if more else None
    put(text, [loop("i", n), loop("f", a * b + more)], "C", [("S", n, "i"), ("R", a, f"f // {b}"), ("R", b, f"f % {b}")], [f"C[v0] = {fold}"], init=[f"C[v0] = {start}"], where=where)
    return text


def rests(r):
    """Stages in tiles that do not divide their size; the second one reads neighbours of the first."""
    n, p, q = r.choice(sizes()), r.choice([2, 3, 4, 5]), r.choice([2, 3, 8])
    text = Text([("A", [n], "int32"), ("C", [n], "int32")])
    text.local("B", [n], "int32")
    tiles = lambda tile: f"({n} + {tile - 1}) // {tile}"
    put(text, [loop("i", tiles(p)), loop("x", p)], "B", [("S", n, f"i * {p} + x")], ["B[v0] = A[v0] * 2 + v0"], where=f"i * {p} + x < {n}")
    place = r.choice(["v0", f"{n} - 1 - v0", "T.max(v0 - 1, 0)", f"T.min(v0 + 1, {n} - 1)"])
    put(text, [loop("i", tiles(q)), loop("x", q)], "C", [("S", n, f"i * {q} + x")], [f"C[v0] = B[{place}] + B[v0]"], where=f"i * {q} + x < {n}")
    return text


def pooled(r):
    """Greatest elements or sums of windows with steps and borders, in both directions, and what follows."""
    size, window, step, border = known(r, least=5, most=13), r.choice([2, 3]), r.choice([1, 2, 3]), r.choice([0, 1])
    channels, out = r.choice([1, 2, 3]), (size + 2 * border - window) // step + 1
    text = Text([("X", [channels, size, size], "int32"), ("D", [channels, out, out], "int32")])
    text.local("Y", [channels, out, out], "int32")
    row, column = f"v1 * {step} + v3 - {border}", f"v2 * {step} + v4 - {border}"
    inside = f"{row} >= 0 and {row} < {size} and {column} >= 0 and {column} < {size}"
    value = f"X[v0, {row}, {column}]"
    outside, fold, start = r.choice([("0", "Y[v0, v1, v2] + {}", "0"), ('T.min_value("int32")', "T.max(Y[v0, v1, v2], {})", 'T.min_value("int32")')])
    value = f"T.if_then_else({inside}, {value}, {outside})" if border else value
    text.block("Y", [channels, out, out, window, window], "SSSRR", [f"Y[v0, v1, v2] = {fold.format(value)}"], init=[f"Y[v0, v1, v2] = {start}"])
    text.block("D", [channels, out, out], "SSS", [r.choice(["D[v0, v1, v2] = Y[v0, v1, v2] // 4", f"D[v0, v1, v2] = Y[v0, {out - 1} - v1, v2] + v2"])])
    return text


def grouped(r):
    """A convolution in groups, with steps, gaps and borders, and a bias."""
    size, window, step, gap, border = known(r, least=5, most=10), r.choice([1, 2, 3]), r.choice([1, 2]), r.choice([1, 2]), r.choice([0, 1, 2])
    groups, inner, outer = r.choice([1, 2]), r.choice([1, 2, 3]), r.choice([1, 2, 4])
    wide = size + 2 * border
    if wide <= (window - 1) * gap:
        window = 1
    out = (wide - (window - 1) * gap - 1) // step + 1
    filters = groups * outer
    text = Text([("X", [groups * inner, size, size], "int32"), ("W", [filters, inner, window, window], "int32"), ("bias", [filters], "int32"), ("D", [filters, out, out], "int32")])
    text.local("P", [groups * inner, wide, wide], "int32")
    text.local("Y", [filters, out, out], "int32")
    inside = f"{border} <= v1 and v1 < {size + border} and {border} <= v2 and v2 < {size + border}"
    text.block("P", [groups * inner, wide, wide], "SSS", [f"P[v0, v1, v2] = T.if_then_else({inside}, X[v0, v1 - {border}, v2 - {border}], 0)"])
    place = f"v0 // {outer} * {inner} + v3, v1 * {step} + v4 * {gap}, v2 * {step} + v5 * {gap}"
    text.block("Y", [filters, out, out, inner, window, window], "SSSRRR", [f"Y[v0, v1, v2] = Y[v0, v1, v2] + P[{place}] * W[v0, v3, v4, v5]"], init=["Y[v0, v1, v2] = 0"])
    text.block("D", [filters, out, out], "SSS", ["D[v0, v1, v2] = T.max(Y[v0, v1, v2] + bias[v0], 0)"])
    return text


def planes(r):
    """Sums and squares of planes in one go, and the planes less their mean."""
    c, h, w = r.choice([1, 2, 3]), r.choice(sizes()), known(r)
    text = Text([("A", [c, h, w], "int32"), ("D", [c, h, w], "int32")])
    text.local("S", [c], "int32")
    text.local("Q", [c], "int32")
    text.block("S", [c, h, w], "SRR", ["S[v0] = S[v0] + A[v0, v1, v2]"], init=["S[v0] = 0"])
    text.block("Q", [c, h, w], "SRR", ["Q[v0] = Q[v0] + A[v0, v1, v2] * A[v0, v1, v2]"], init=["Q[v0] = 0"])
    text.block("D", [c, h, w], "SSS", ["D[v0, v1, v2] = A[v0, v1, v2] * 16 - S[v0] + Q[v0]"])
    return text


def diamond(r):
    """A stage that two others read, which a fourth one joins; the first may be given out, too."""
    n, m, out = r.choice(sizes()), r.choice(sizes()), r.random() < 0.3
    text = Text([("A", [n, m], "int32")] + ([("B", [n, m], "int32")] if out else []) + [("E", [n, m], "int32")])
    for name in ["C", "D"] if out else ["B", "C", "D"]:
        text.local(name, [n, m], "int32")
    text.block("B", [n, m], "SS", ["B[v0, v1] = A[v0, v1] * 3"])
    text.block("C", [n, m], "SS", [r.choice(["C[v0, v1] = B[v0, v1] + 1", f"C[v0, v1] = B[{n} - 1 - v0, v1]"])])
    text.block("D", [n, m], "SS", [r.choice(["D[v0, v1] = T.max(B[v0, v1], 5)", f"D[v0, v1] = B[v0, {m} - 1 - v1]"])])
    text.block("E", [n, m], "SS", ["E[v0, v1] = C[v0, v1] - D[v0, v1] * 2"])
    return text


def packed(r):
    """A product with one operand packed into tiles before, and its result unpacked behind."""
    m, k, tiles, width = known(r, most=8), known(r, most=12), r.choice([1, 2, 3]), r.choice([2, 4, 8])
    n = tiles * width - r.choice([0, 0, 1])
    text = Text([("A", [m, k], "int32"), ("B", [k, n], "int32"), ("D", [m, n], "int32")])
    text.local("P", [tiles, k, width], "int32")
    text.local("C", [tiles, m, width], "int32")
    place = f"v0 * {width} + v2"
    value = f"B[v1, {place}]"
    value = value if n == tiles * width else f"T.if_then_else({place} < {n}, {value}, 0)"
    text.block("P", [tiles, k, width], "SSS", [f"P[v0, v1, v2] = {value}"])
    text.block("C", [tiles, m, width, k], "SSSR", ["C[v0, v1, v2] = C[v0, v1, v2] + A[v1, v3] * P[v0, v3, v2]"], init=["C[v0, v1, v2] = 0"])
    text.block("D", [m, n], "SS", [f"D[v0, v1] = C[v1 // {width}, v0, v1 % {width}]"])
    return text


def pieces(r):
    """A buffer that two blocks write a part of each, as where tensors are joined."""
    a, b, m = known(r), known(r), r.choice(sizes())
    text = Text([("X", [a, m], "int32"), ("Y", [b, m], "int32"), ("C", [a + b, m], "int32")])
    text.local("B", [a + b, m], "int32")
    text.block("B0", [a, m], "SS", ["B[v0, v1] = X[v0, v1]"])
    text.block("B1", [b, m], "SS", [f"B[v0 + {a}, v1] = Y[v0, v1] + 1"])
    text.block("C", [a + b, m], "SS", ["C[v0, v1] = B[v0, v1] * 2"])
    return text


def asked(r):
    """Whether any or all elements of rows are greater than a number."""
    n, k = r.choice(sizes()), r.choice(sizes())
    text = Text([("A", [n, k], "int32"), ("C", [n], "int32")])
    text.local("B", [n], "bool")
    word, start = r.choice([("T.Or", "T.bool(False)"), ("T.And", "T.bool(True)")])
    text.block("B", [n, k], "SR", [f"B[v0] = {word}(B[v0], A[v0, v1] > {r.randint(0, 4)})"], init=[f"B[v0] = {start}"])
    text.block("C", [n], "S", ["C[v0] = T.Select(B[v0], v0, -1)"])
    return text


def viewed(r):
    """Rows that a block sees as buffers of their own."""
    n, m = known(r), known(r)
    text = Text([("A", [n, m], "int32"), ("C", [n, m], "int32")])
    text.local("B", [n, m], "int32")
    text.block("B", [n, m], "SS", ["B[v0, v1] = A[v0, v1] + v1"])
    body = [f"source = T.match_buffer(B[v0, 0:{m}], ({m},), \"int32\", offset_factor=1)", f"target = T.match_buffer(C[v0, 0:{m}], ({m},), \"int32\", offset_factor=1)", f"for q in range({m}):", f"    target[q] = source[{m - 1} - q] * 2"]
    put(text, [loop("i", n)], "C", [("S", n, "i")], body, more=[f"T.reads(B[v0, 0:{m}])", f"T.writes(C[v0, 0:{m}])"])
    return text


def attended(r):
    """Scores of pairs of rows, their greatest, and a weighted sum of other rows: heads, two products and two reductions."""
    h, n, m, d = r.choice([1, 2]), known(r, most=6), r.choice(sizes()[:6]), known(r, most=6)
    text = Text([("Q", [h, n, d], "int32"), ("K", [h, m, d], "int32"), ("V", [h, m, d], "int32"), ("O", [h, n, d], "int32")])
    text.local("S", [h, n, m], "int32")
    text.local("M", [h, n], "int32")
    text.local("P", [h, n, m], "int32")
    text.block("S", [h, n, m, d], "SSSR", ["S[v0, v1, v2] = S[v0, v1, v2] + Q[v0, v1, v3] * K[v0, v2, v3]"], init=["S[v0, v1, v2] = 0"])
    text.block("M", [h, n, m], "SSR", ["M[v0, v1] = T.max(M[v0, v1], S[v0, v1, v2])"], init=['M[v0, v1] = T.min_value("int32")'])
    text.block("P", [h, n, m], "SSS", ["P[v0, v1, v2] = S[v0, v1, v2] - M[v0, v1]"])
    text.block("O", [h, n, d, m], "SSSR", ["O[v0, v1, v2] = O[v0, v1, v2] + P[v0, v1, v3] * V[v0, v3, v2]"], init=["O[v0, v1, v2] = 0"])
    return text


def best_of_planes(r):
    """Where the greatest element of a plane is, counted over two axes."""
    c, h, w = r.choice([1, 2, 4]), known(r, most=8), known(r, most=8)
    text = Text([("A", [c, h, w], "int32"), ("P", [c], "int32"), ("M", [c], "int32")])
    at = f"v1 * {w} + v2"
    value = f"A[v0, v1, v2] * 1024 + {at}"  # no two are the same: which of them counts would depend on the order
    body = [f"p: T.let[T.int32] = T.Select(M[v0] >= {value}, P[v0], {at})", f"m: T.let[T.int32] = T.Select(M[v0] >= {value}, M[v0], {value})", "P[v0] = p", "M[v0] = m"]
    text.block("P", [c, h, w], "SRR", body, init=["P[v0] = -1", 'M[v0] = T.min_value("int32")'])
    return text


SHAPED_KERNELS = [fused_sum, rests, rests, pooled, grouped, planes, diamond, packed, pieces, asked, viewed, attended, best_of_planes]
