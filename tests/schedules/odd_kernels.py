"""Kernels of rarer forms: places that leave gaps, run backwards or along a diagonal, conditions, initial values apart, several writers and readers of one
buffer, blocks in blocks, bodies of several statements, and data types of all kinds. As those of kernels.py, they are made from a number."""
from kernels import Text, sizes

PAD = "    "


def put(text, loops, name, bindings, body, init=None, where=None, depth=2, more=()):
    """A block in loops as they are written; a binding is (kind, domain, value), axis k of them is vk. `more` stands in front of the body."""
    for k, loop in enumerate(loops):
        text.lines.append(PAD * (depth + k) + loop + ":")
    pad = PAD * (depth + len(loops))
    text.lines.append(f'{pad}with T.sblock("{name}"):')
    pad += PAD
    kinds = {"S": "spatial", "R": "reduce", "O": "opaque"}
    for k, (kind, domain, value) in enumerate(bindings):
        text.lines.append(f"{pad}v{k} = T.axis.{kinds[kind]}({domain}, {value})")
    if where:
        text.lines.append(f"{pad}T.where({where})")
    text.lines += [pad + line for line in more]
    if init:
        text.lines += [f"{pad}with T.init():"] + [pad + PAD + line for line in init]
    text.lines += [pad + line for line in body]


def loop(name, size):
    return f"for {name} in range({size})"


def diagonal(r):
    """A diagonal, forwards and backwards."""
    n = r.choice(sizes())
    text = Text([("A", [n, n], "int32"), ("C", [n, n], "int32")])
    text.local("B", [n], "int32")
    text.block("B", [n], "S", [f"B[v0] = {r.choice(['A[v0, v0]', f'A[v0, {n} - 1 - v0]', f'A[{n} - 1 - v0, {n} - 1 - v0] * 2'])}"])
    text.block("C", [n, n], "SS", [f"C[v0, v1] = {r.choice(['B[v0] + B[v1]', f'B[{n} - 1 - v0] * 3 + v1', f'B[v1] - A[v1, v0]'])}"])
    return text


def scattered(r):
    """Elements put into every second or third place of another value, and a reader of all."""
    n, step, begin = r.choice(sizes()[1:]), r.choice([1, 2, 3]), r.choice([0, 1, 2])
    known = not hasattr(n, "name")
    wide = n * step + begin if known else f"{n} * {step} + {begin}"
    top = wide if known else n
    text = Text([("A", [n, 5], "int32"), ("C", [top, 5], "int32")])
    text.lines.append(f'        B = T.sblock_alloc_buffer(({wide}, 5), "int32")')
    text.block("Z", [wide, 5], "SS", [f"B[v0, v1] = {r.choice(['0', '7'])}"])
    place = r.choice([f"v0 * {step} + {begin}", f"({n} - 1 - v0) * {step} + {begin}"])
    text.block("B", [n, 5], "SS", [f"B[{place}, v1] = A[v0, v1] + 1"])
    text.block("C", [top, 5], "SS", ["C[v0, v1] = B[v0, v1] * 2"])
    return text


def init_apart(r):
    """A product whose zeros are a block of their own, with or without an epilogue."""
    m, n, k = (r.choice(sizes()) for _ in range(3))
    last = r.random() < 0.5
    text = Text([("A", [m, k], "int32"), ("B", [k, n], "int32"), ("D" if last else "C", [m, n], "int32")])
    if last:
        text.local("C", [m, n], "int32")
    if r.random() < 0.5:
        text.block("Z", [m, n], "SS", ["C[v0, v1] = 0"])
        text.block("C", [m, n, k], "SSR", ["C[v0, v1] = C[v0, v1] + A[v0, v2] * B[v2, v1]"])
    else:
        text.lines.append(f"        for i in range({m}):")
        put(text, [loop("j", n)], "Z", [("S", m, "i"), ("S", n, "j")], ["C[v0, v1] = 0"], depth=3)
        order = r.choice([("j", "k"), ("k", "j")])
        put(text, [loop(x, {"j": n, "k": k}[x]) for x in order], "C", [("S", m, "i"), ("S", n, "j"), ("R", k, "k")], ["C[v0, v1] = C[v0, v1] + A[v0, v2] * B[v2, v1]"], depth=3)
    if last:
        text.block("D", [m, n], "SS", ["D[v0, v1] = T.max(C[v0, v1], 0) + v0"])
    return text


def triangle(r):
    """Steps that are done under a condition of two axes."""
    n = r.choice(sizes())
    if r.random() < 0.5:
        text = Text([("A", [n, n], "int32"), ("C", [n], "int32")])
        put(text, [loop("i", n), loop("k", n)], "C", [("S", n, "i"), ("R", n, "k")], ["C[v0] = C[v0] + A[v0, v1]"], init=["C[v0] = 0"], where="k <= i")
        return text
    text = Text([("A", [n, n], "int32"), ("C", [n, n], "int32")])
    text.local("B", [n, n], "int32")
    text.block("Z", [n, n], "SS", ["B[v0, v1] = -1"])
    put(text, [loop("i", n), loop("j", n)], "B", [("S", n, "i"), ("S", n, "j")], ["B[v0, v1] = A[v1, v0]"], where=r.choice(["j <= i", "i < j", "(i + j) % 2 == 0"]))
    text.block("C", [n, n], "SS", ["C[v0, v1] = B[v0, v1] * 3"])
    return text


def readers(r):
    """One buffer, and several that read it."""
    a, b = r.choice(sizes()), r.choice(sizes())
    dtype = r.choice(["int32", "int64", "float32"])
    count = r.randint(2, 3)
    text = Text([("A", [a, b], dtype)] + [(f"C{k}", [a, b], dtype) for k in range(count)])
    text.local("B", [a, b], dtype)
    text.block("B", [a, b], "SS", [f"B[v0, v1] = A[v0, v1] * T.{dtype}(2)"])
    for k in range(count):
        place = r.choice(["v0, v1", f"{a} - 1 - v0, v1", f"v0, (v1 + 1) % {b}", "v0, v1 // 2", "0, v1"])
        text.block(f"C{k}", [a, b], "SS", [f"C{k}[v0, v1] = B[{place}] + T.{dtype}({k})"])
    return text


def in_place(r):
    """A buffer that is changed where it is."""
    a, b = r.choice(sizes()), r.choice(sizes())
    text = Text([("A", [a, b], "int32"), ("C", [a, b], "int32")])
    text.local("B", [a, b], "int32")
    text.block("B", [a, b], "SS", ["B[v0, v1] = A[v0, v1] + 1"])
    text.block("B2", [a, b], "SS", ["B[v0, v1] = B[v0, v1] * 2"])
    text.block("C", [a, b], "SS", [r.choice(["C[v0, v1] = C[v0, v1] + B[v0, v1]", "C[v0, v1] = B[v0, v1] - A[v0, v1]"])])
    return text


def tiled(r):
    """Loops that are split from the start, with what they do too much held back."""
    m, k = r.choice([5, 7, 10, 12, 13, 17]), r.choice([3, 6, 7, 8, 11])
    p, q = r.choice([2, 3, 4, 8]), r.choice([2, 3, 4])
    parts = lambda size, by: (size + by - 1) // by
    text = Text([("A", [m, k], "int32"), ("C", [m], "int32")])
    text.local("B", [m], "int32")
    where = [f"i0 * {p} + i1 < {m}"] * bool(m % p) + [f"k0 * {q} + k1 < {k}"] * bool(k % q)
    names = [("i0", parts(m, p)), ("i1", p), ("k0", parts(k, q)), ("k1", q)]
    if r.random() < 0.4:
        names[1], names[2] = names[2], names[1]
    put(text, [loop(*x) for x in names], "B", [("S", m, f"i0 * {p} + i1"), ("R", k, f"k0 * {q} + k1")], ["B[v0] = B[v0] + A[v0, v1]"], init=["B[v0] = 0"], where=" and ".join(where) or None)
    put(text, [loop("i0", parts(m, p)), loop("i1", p)], "C", [("S", m, f"i0 * {p} + i1")], ["C[v0] = B[v0] * 2 + v0"], where=f"i0 * {p} + i1 < {m}" if m % p else None)
    return text


def resized(r):
    """Places that are computed: quotients of products, as where images are scaled."""
    size, up, down = r.choice([4, 6, 9, 12]), r.choice([1, 2, 3]), r.choice([1, 2, 3])
    out = size * up // down
    text = Text([("A", [size, size], "int32"), ("C", [out, out], "int32")])
    text.local("B", [out, out], "int32")
    place = r.choice([f"v0 * {down} // {up}, v1 * {down} // {up}", f"T.min(v0 * {down} // {up} + 1, {size - 1}), v1 * {down} // {up}"])
    text.block("B", [out, out], "SS", [f"B[v0, v1] = A[{place}] + A[v0 * {down} // {up}, v1 * {down} // {up}]"])
    text.block("C", [out, out], "SS", ["C[v0, v1] = B[v0, v1] * 2"])
    return text


def padded(r):
    """Borders of any width and value, and a window with gaps over them."""
    n, before, behind, reach, dilation = r.choice(sizes()), r.choice([0, 1, 2, 3]), r.choice([0, 1, 2]), r.choice([1, 2, 3]), r.choice([1, 2])
    known = not hasattr(n, "name")
    wide = n + before + behind if known else f"{n} + {before + behind}"
    if not known or wide <= (reach - 1) * dilation:
        reach = 1
    out = wide - (reach - 1) * dilation if known else n
    text = Text([("A", [n, 3], "int32"), ("C", [out, 3], "int32")])
    text.lines.append(f'        P = T.sblock_alloc_buffer(({wide}, 3), "int32")')
    inside = f"{before} <= v0 and v0 < {n} + {before}"
    text.block("P", [wide, 3], "SS", [f"P[v0, v1] = T.if_then_else({inside}, A[v0 - {before}, v1]{r.choice(['', '', ' * 2'])}, {r.choice([0, 0, 5, -3])})"])
    fold, start = r.choice([("{c} + {p}", "0"), ("T.max({c}, {p})", 'T.min_value("int32")')])
    text.block("C", [out, 3, reach], "SSR", ["C[v0, v1] = " + fold.format(c="C[v0, v1]", p=f"P[v0 + v2 * {dilation}, v1]")], init=[f"C[v0, v1] = {start}"])
    return text


def spread(r):
    """A convolution backwards: only some steps meet an element."""
    n, window, step = r.choice([2, 3, 5, 7]), r.choice([2, 3]), r.choice([2, 3])
    out = (n - 1) * step + window
    text = Text([("X", [n], "int32"), ("W", [window], "int32"), ("Y", [out], "int32")])
    inside = f"v0 - v1 >= 0 and (v0 - v1) % {step} == 0 and (v0 - v1) // {step} < {n}"
    text.block("Y", [out, window], "SR", [f"Y[v0] = Y[v0] + T.if_then_else({inside}, X[(v0 - v1) // {step}], 0) * W[v1]"], init=["Y[v0] = 0"])
    return text


def nested(r):
    """Blocks of tiles, with blocks of elements in them."""
    a, b, p, q = r.choice([1, 2, 3, 5]), r.choice([1, 2, 4]), r.choice([2, 3, 4]), r.choice([2, 4, 8])
    text = Text([("A", [a * p, b * q], "int32"), ("C", [a * p, b * q], "int32")])
    text.local("B", [a * p, b * q], "int32")
    text.block("B", [a * p, b * q], "SS", ["B[v0, v1] = A[v0, v1] + 3"])
    text.lines += [f"        for i, j in T.grid({a}, {b}):", '            with T.sblock("O"):', f'                w0, w1 = T.axis.remap("SS", [i, j])']
    region = f"w0 * {p} : w0 * {p} + {p}, w1 * {q} : w1 * {q} + {q}"
    text.lines += [f"                T.reads(B[{region}])", f"                T.writes(C[{region}])"]
    put(text, [loop("x", p), loop("y", q)], "I", [("S", p, "x"), ("S", q, "y")], [f"C[w0 * {p} + v0, w1 * {q} + v1] = B[w0 * {p} + v0, w1 * {q} + v1] * 2"], depth=4)
    return text


def bodies(r):
    """Blocks of several statements: loops, conditions and two buffers."""
    n, k = r.choice(sizes()), r.choice([2, 3, 4])
    text = Text([("A", [n, k], "int32"), ("C", [n], "int32"), ("D", [n], "int32")])
    text.local("B", [n], "int32")
    text.block("B", [n], "S", ["B[v0] = 0", f"for q in range({k}):", f"{PAD}B[v0] = B[v0] + A[v0, q]"])
    text.block("C", [n], "S", r.choice([["C[v0] = B[v0]", "D[v0] = B[v0] * 2"], ["if v0 % 2 == 0:", f"{PAD}C[v0] = B[v0]", "else:", f"{PAD}C[v0] = 7", "D[v0] = B[v0] - 1"]]))
    return text


def written_kinds(r):
    """Loops that are vectors, parallel or annotated already, one of a single step, and axes that do not begin at 0."""
    a, b = r.choice([2, 4, 6, 7, 12]), r.choice([2, 4, 8])
    text = Text([("A", [a + 3, b], "int32"), ("C", [a + 3, b], "int32")])
    text.local("B", [a + 3, b], "int32")
    kind = r.choice(["T.parallel({})", "T.serial({})", 'T.serial({}, annotations={{"k": 1}})', "T.unroll({})"]).format(a + 3)
    inner = r.choice(["T.vectorized({})", "T.serial({})"]).format(b)
    put(text, [f"for i in {kind}", f"for j in {inner}"], "B", [("S", a + 3, "i"), ("S", b, "j")], ["B[v0, v1] = A[v0, v1] + 1"])
    text.block("Z", [a + 3, b], "SS", ["C[v0, v1] = 0"])
    put(text, [loop("u", 1), f"for i in range(2, {a + 2})", loop("j", b)], "C", [("S", f"({2}, {a + 2})", "i"), ("S", b, "j"), ("S", 1, "u")], ["C[v0 + v2, v1] = B[v0 - 1, v1] * 2 + v0"])
    return text


def wide_indices(r):
    """Loops and places of 64 bits, and masks."""
    a, b = r.choice([3, 5, 8, 12]), r.choice([2, 4, 7])
    text = Text([("A", [a, b], "int32"), ("C", [a, b], "int32")])
    text.lines.append(f'        M = T.sblock_alloc_buffer((T.int64({a}), T.int64({b})), "bool")')
    text.lines[0] = f'    def main(A: T.Buffer((T.int64({a}), T.int64({b})), "int32"), C: T.Buffer((T.int64({a}), T.int64({b})), "int32")):'
    domain = lambda n: f"T.int64({n})"
    loops = [loop("i", domain(a)), loop("j", domain(b))]
    put(text, loops, "M", [("S", domain(a), "i"), ("S", domain(b), "j")], ["M[v0, v1] = A[v0, v1] > 3"])
    place = r.choice(["v0, v1", f"T.int64({a - 1}) - v0, v1", f"v0, (v1 + T.int64(1)) % T.int64({b})"])
    put(text, loops, "C", [("S", domain(a), "i"), ("S", domain(b), "j")], [f"C[v0, v1] = T.Select(M[{place}], A[v0, v1], 2)"])
    return text


def small_types(r):
    """Bytes with and without a sign."""
    a, b = r.choice(sizes()), r.choice(sizes())
    dtype = r.choice(["uint8", "int8", "uint32", "int16"])
    text = Text([("A", [a, b], dtype), ("C", [a], dtype)])
    text.local("B", [a, b], dtype)
    text.block("B", [a, b], "SS", [f"B[v0, v1] = A[v0, {b} - 1 - v1] + T.{dtype}(3)"])
    fold = r.choice([f"C[v0] + B[v0, v1]", "T.max(C[v0], B[v0, v1])", "T.min(C[v0], B[v0, v1])"])
    start = f"T.{dtype}(0)" if "+" in fold else f'T.{"min" if "max" in fold else "max"}_value("{dtype}")'
    text.block("C", [a, b], "SR", [f"C[v0] = {fold}"], init=[f"C[v0] = {start}"])
    return text


def reduced_first(r):
    """The reduced loop outermost; three operands, or rows that another buffer names."""
    m, n, k = (r.choice(sizes()) for _ in range(3))
    if r.random() < 0.5:
        text = Text([("A", [m, k], "int32"), ("B", [k, n], "int32"), ("D", [k], "int32"), ("C", [m, n], "int32")])
        put(text, [loop("k", k), loop("i", m), loop("j", n)], "C", [("S", m, "i"), ("S", n, "j"), ("R", k, "k")], ["C[v0, v1] = C[v0, v1] + A[v0, v2] * B[v2, v1] * D[v2]"], init=["C[v0, v1] = 0"])
        return text
    text = Text([("A", [m, n], "int32"), ("I", [k], "int32"), ("C", [n], "int32")])
    put(text, [loop("k", k), loop("j", n)], "C", [("S", n, "j"), ("R", k, "k")], [f"C[v0] = C[v0] + A[T.min(T.max(I[v1], 0), {m} - 1), v0]"], init=["C[v0] = 0"])
    return text


def shared_loops(r):
    """Two stages in one loop, the second of which sums what the first one made."""
    n, k = r.choice(sizes()), r.choice(sizes())
    text = Text([("A", [n, k], "int32"), ("C", [n], "int32")])
    text.local("B", [n, k], "int32")
    text.lines.append(f"        for i in range({n}):")
    put(text, [loop("j", k)], "B", [("S", n, "i"), ("S", k, "j")], ["B[v0, v1] = A[v0, v1] * 3"], depth=3)
    put(text, [loop("j", k)], "C", [("S", n, "i"), ("R", k, "j")], [f"C[v0] = C[v0] + B[v0, {k} - 1 - v1]"], init=["C[v0] = 0"], depth=3)
    return text


def stacked(r):
    """Windows over windows, of rows or of both directions, for which stages may be kept a few rows at a time."""
    size, first, second, both = r.choice([9, 10, 12, 14]), r.choice([2, 3]), r.choice([2, 3]), r.random() < 0.4
    one, two = size - first + 1, size - first - second + 2
    across = lambda n, w: n - w + 1 if both else n
    wide, wider = across(size, first), across(across(size, first), second)
    text = Text([("A", [size, size], "int32"), ("C", [two, wider], "int32")])
    text.local("Z", [size, size], "int32")
    text.local("B", [one, wide], "int32")
    text.block("Z", [size, size], "SS", ["Z[v0, v1] = A[v0, v1] * 3"])
    column = "v1 + v3" if both else "v1"
    for name, source, shape, window in (("B", "Z", [one, wide], first), ("C", "B", [two, wider], second)):
        reduced = [window] * (2 if both else 1)
        text.block(name, shape + reduced, "SS" + "R" * len(reduced), [f"{name}[v0, v1] = {name}[v0, v1] + {source}[v0 + v2, {column}]"], init=[f"{name}[v0, v1] = 0"])
    return text


def sometimes(r):
    """Elements that are stored where a value or a place asks for it, over what was there."""
    n, k = r.choice(sizes()), r.choice([2, 3, 5])
    text = Text([("A", [n, k], "int32"), ("C", [n, k], "int32")])
    text.local("B", [n, k], "int32")
    text.block("Z", [n, k], "SS", ["B[v0, v1] = 9"])
    text.block("B", [n, k], "SS", [f"if {r.choice(['A[v0, v1] > 2', 'v0 % 2 == 0', 'v1 < 2'])}:", f"{PAD}B[v0, v1] = A[v0, v1]"])
    text.block("C", [n, k], "SS", ["C[v0, v1] = B[v0, v1] + 1"])
    return text


def biased(r):
    """A product with what follows it: a bias, a limit from below or from both sides."""
    m, n, k = (r.choice(sizes()) for _ in range(3))
    text = Text([("A", [m, k], "int32"), ("B", [k, n], "int32"), ("E", [m, n], "int32"), ("D", [m, n], "int32")])
    text.local("C", [m, n], "int32")
    text.block("C", [m, n, k], "SSR", ["C[v0, v1] = C[v0, v1] + A[v0, v2] * B[v2, v1]"], init=["C[v0, v1] = 0"])
    text.block("D", [m, n], "SS", ["D[v0, v1] = " + r.choice(["C[v0, v1] + E[v0, v1]", "E[v0, v1] + C[v0, v1]", "T.max(C[v0, v1] + E[v0, v1], 0)", "T.max(C[v0, v1], 0)", "T.min(T.max(C[v0, v1], -5), 60)", "C[v0, v1] * 2 + E[v0, v1]"])])
    return text


def running(r):
    """Sums of all elements up to one."""
    n, k = r.choice([2, 3, 5, 8, 12]), r.choice([1, 3, 4])
    text = Text([("A", [n, k], "int32"), ("C", [n, k], "int32")])
    text.block("Z", [k], "S", ["C[0, v0] = A[0, v0]"])
    put(text, [loop("j", k), loop("i", n - 1)], "C", [("S", k, "j"), ("O", f"(1, {n})", "i + 1")], ["C[v1, v0] = C[v1 - 1, v0] + A[v1, v0]"])
    return text


DOT = '''
    @T.prim_func(private=True, s_tir=True)
    def dot_desc(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, ({n},), "int32", offset_factor=1)
        B = T.match_buffer(b, ({n},), "int32", offset_factor=1)
        C = T.match_buffer(c, (1,), "int32", offset_factor=1)
        with T.sblock("root"):
            T.reads(C[0], A[0:{n}], B[0:{n}])
            T.writes(C[0])
            for i in range({n}):
                with T.sblock("dot"):
                    vi = T.axis.reduce({n}, i)
                    C[0] = C[0] + A[vi] * B[vi]

    @T.prim_func(private=True, s_tir=True)
    def dot_impl(a: T.handle, b: T.handle, c: T.handle):
        A = T.match_buffer(a, ({n},), "int32", offset_factor=1)
        B = T.match_buffer(b, ({n},), "int32", offset_factor=1)
        C = T.match_buffer(c, (1,), "int32", offset_factor=1)
        with T.sblock("root"):
            T.reads(C[0], A[0:{n}], B[0:{n}])
            T.writes(C[0])
            C[0] = C[0] + {sum}

    @T.prim_func(private=True, s_tir=True)
    def double_desc(a: T.handle, c: T.handle):
        A = T.match_buffer(a, (2, {n}), "int32", offset_factor=1)
        C = T.match_buffer(c, (2, {n}), "int32", offset_factor=1)
        with T.sblock("root"):
            T.reads(A[0:2, 0:{n}])
            T.writes(C[0:2, 0:{n}])
            for i, j in T.grid(2, {n}):
                with T.sblock("double"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = A[vi, vj] * 2

    @T.prim_func(private=True, s_tir=True)
    def double_impl(a: T.handle, c: T.handle):
        A = T.match_buffer(a, (2, {n}), "int32", offset_factor=1)
        C = T.match_buffer(c, (2, {n}), "int32", offset_factor=1)
        with T.sblock("root"):
            T.reads(A[0:2, 0:{n}])
            T.writes(C[0:2, 0:{n}])
            for i in range(2):
                for j in T.vectorized({n}):
                    C[i, j] = A[i, j] * 2
'''


def with_intrinsics(r):
    """A product of rows and a stage behind it, for both of which there are other implementations: dot and double."""
    m, n, k, width = r.choice([2, 4, 6, 7]), r.choice([4, 8, 12]), r.choice([4, 8, 10, 16]), r.choice([2, 4])
    text = Text([("A", [m, k], "int32"), ("B", [n, k], "int32"), ("D", [m, n], "int32")])
    text.local("C", [m, n], "int32")
    if r.random() < 0.5:
        text.block("Z", [m, n], "SS", ["C[v0, v1] = 0"])
        text.block("C", [m, n, k], "SSR", ["C[v0, v1] = C[v0, v1] + A[v0, v2] * B[v1, v2]"])
    else:
        text.block("C", [m, n, k], "SSR", ["C[v0, v1] = C[v0, v1] + A[v0, v2] * B[v1, v2]"], init=["C[v0, v1] = 0"])
    text.block("D", [m, n], "SS", ["D[v0, v1] = C[v0, v1] * 2"])
    return str(text) + DOT.replace("{n}", str(width)).replace("{sum}", " + ".join(f"A[{q}] * B[{q}]" for q in range(width)))


ODD_KERNELS = [diagonal, scattered, init_apart, triangle, readers, in_place, tiled, resized, padded, spread, nested, bodies, written_kinds, wide_indices, small_types, reduced_first, shared_loops, stacked, stacked, sometimes, biased, running, with_intrinsics, with_intrinsics]
