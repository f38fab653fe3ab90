#!/usr/bin/env python3
"""Generated windows over images whose sizes are not known when they are compiled: what ScheduleCPU makes of them computes the right numbers.

    cpu_images.py [--count N] [--seed N]

Sums with weights, over the channels or for each, and the greatest of windows, with padding in front, strides and dilation; images, rows, columns or all of it are symbols. What is made runs with several sizes, most of
them small: once in the interpreter, which checks every index, and as a library for this machine. What must come out is counted here.
"""
import array, ctypes, itertools, math, os, sys

import npy
from generated import TARGETS, judge_many, run, schedule
from library_calls import call

CALLS, RUNS = 5, 2
BEFORE = 0.5  # what a result holds
LOWEST = -340282346638528859811704183484516925440.0


class Axis:
    def __init__(self, r, name, longest):
        self.name, self.longest = name, longest
        self.size, self.stride, self.dilation = r.choice([1, 2, 3, 3, 3, 5]), r.choice([1, 1, 1, 2, 2, 3]), r.choice([1, 1, 1, 2])
        self.low, self.high = r.choice([0, 1, 1, 2]), r.choice([0, 1, 1, 2])
        self.known = None if r.random() < 0.7 else r.randint(9, 20)
        self.reach = self.dilation * (self.size - 1) + 1

    def count(self, length):
        return (length + self.low + self.high - self.reach) // self.stride + 1

    def extent(self):
        return f"T.int64({self.known})" if self.known else self.name

    def padded(self):
        return f"T.int64({self.known + self.low + self.high})" if self.known else f"{self.name} + T.int64({self.low + self.high})"

    def windows(self):
        if self.known:
            return f"T.int64({self.count(self.known)})"
        inside = f"{self.name} + T.int64({self.low + self.high - self.reach})"
        return f"({inside}) // T.int64({self.stride}) + T.int64(1)"

    def length(self, r):
        least = max(1, self.reach - self.low - self.high)
        return self.known or r.choice([r.randint(least, least + 6), r.randint(least, self.longest)])


class Image:
    def __init__(self, r):
        self.y, self.x = Axis(r, "h", 24), Axis(r, "w", 70)
        self.channels, self.images = r.choice([1, 2, 3]), r.choice([None, 1, 2])
        self.greatest, self.stage = r.random() < 0.4, r.random() < 0.3
        self.adds = not self.stage and r.random() < 0.2  # to what is there
        # Of sums over the channels: filters.
        self.filters = None if self.greatest or r.random() < 0.5 else r.choice([8, 9, 14])
        if self.filters:
            self.x.longest = 40
        # Columns at which the stage changes: none, or more than a line is cut at.
        self.changes = r.sample(range(1, 12), r.choice([0, 8]))

    def text(self):
        c, b = f"T.int64({self.channels})", "b" if self.images is None else f"T.int64({self.images})"
        y, x = self.y, self.x
        symbols = [n for n, known in (("b", self.images), ("h", y.known), ("w", x.known)) if known is None]
        outside = f"T.float32({LOWEST})" if self.greatest else "T.float32(0)"
        o, weight = (f"T.int64({self.filters})", "K[vo, vc, vp, vq]") if self.filters else (c, "K[vc, vp, vq]")
        weights = f"{o}, {c}" if self.filters else c
        grid, axis = f"{b}, {o}, {y.windows()}, {x.windows()}", "o" if self.filters else "c"
        result = "S" if self.stage or self.adds else "Y"
        sums = f"{result}[vn, v{axis}, vi, vj]"
        element = f"P[vn, vc, vi * {y.stride} + vp * {y.dilation}, vj * {x.stride} + vq * {x.dilation}]"
        value = f"T.max({sums}, {element})" if self.greatest else f"{sums} + {element} * {weight}"
        lines = ["from tvm.script import ir as I, tirx as T", "", "@I.ir_module", "class Module:", "    @T.prim_func(s_tir=True)", "    def f(x: T.handle, k: T.handle, y: T.handle):",
                 '        T.func_attr({"tirx.noalias": True})', *(f"        {s} = T.int64()" for s in symbols), f"        X = T.match_buffer(x, ({b}, {c}, {y.extent()}, {x.extent()}))",
                 f"        K = T.match_buffer(k, ({weights}, T.int64({y.size}), T.int64({x.size})))", f"        Y = T.match_buffer(y, ({grid}))",
                 f"        P = T.sblock_alloc_buffer(({b}, {c}, {y.padded()}, {x.padded()}))", *([f"        S = T.sblock_alloc_buffer(({grid}))"] if result == "S" else []),
                 f"        for n, c, i, j in T.grid({b}, {c}, {y.padded()}, {x.padded()}):", '            with T.sblock("padded"):', '                vn, vc, vi, vj = T.axis.remap("SSSS", [n, c, i, j])',
                 f"                P[vn, vc, vi, vj] = T.if_then_else({y.low} <= vi and vi < {y.extent()} + {y.low} and {x.low} <= vj and vj < {x.extent()} + {x.low}, X[vn, vc, vi - {y.low}, vj - {x.low}], {outside})",
                 *self.windows(grid), "                with T.init():", f"                    {sums} = {outside}", f"                {sums} = {value}"]
        if self.stage:
            lines += [f"        for n, c, i, j in T.grid({grid}):", '            with T.sblock("stage"):', '                vn, vc, vi, vj = T.axis.remap("SSSS", [n, c, i, j])',
                      "                Y[vn, vc, vi, vj] = T.max(S[vn, vc, vi, vj], T.float32(-5))" + "".join(f" + T.if_then_else(vj >= {c}, T.float32(1), T.float32(0))" for c in self.changes)]
        if self.adds:
            lines += [f"        for n, c, i, j in T.grid({grid}):", '            with T.sblock("added"):', '                vn, vc, vi, vj = T.axis.remap("SSSS", [n, c, i, j])',
                      "                Y[vn, vc, vi, vj] = Y[vn, vc, vi, vj] + S[vn, vc, vi, vj]"]
        return "\n".join(lines) + "\n"

    def windows(self, grid):
        names, kinds, sizes = ("ncijpq", "SSSSRR", "") if not self.filters else ("noijcpq", "SSSSRRR", f"T.int64({self.channels}), ")
        return [f"        for {', '.join(names)} in T.grid({grid}, {sizes}T.int64({self.y.size}), T.int64({self.x.size})):", '            with T.sblock("windows"):',
                f"                {', '.join('v' + n for n in names)} = T.axis.remap(\"{kinds}\", [{', '.join(names)}])"]

    # A call's image and weights with their shapes, and what should come out.
    def tensors(self, r):
        y, x = self.y, self.x
        b, h, w = self.images or r.choice([1, 2]), y.length(r), x.length(r)
        pixels = [r.randint(-8, 8) for _ in range(b * self.channels * h * w)]
        shape = (*([self.filters] if self.filters else []), self.channels, y.size, x.size)
        weights = [r.randint(-4, 4) for _ in range(math.prod(shape))]
        counts = (b, self.filters or self.channels, y.count(h), x.count(w))
        expected = []
        for n, c, i, j in itertools.product(*map(range, counts)):
            total = LOWEST if self.greatest else 0
            for d, p, q in itertools.product(range(self.channels) if self.filters else [c], range(y.size), range(x.size)):
                row, column = i * y.stride + p * y.dilation - y.low, j * x.stride + q * x.dilation - x.low
                if not (0 <= row < h and 0 <= column < w):
                    continue
                pixel = pixels[((n * self.channels + d) * h + row) * w + column]
                first = c * self.channels + d if self.filters else d
                total = max(total, pixel) if self.greatest else total + pixel * weights[(first * y.size + p) * x.size + q]
            total += BEFORE * self.adds
            expected.append(max(total, -5) + sum(j >= change for change in self.changes) if self.stage else total)
        return ((b, self.channels, h, w), pixels), (shape, weights), (counts, expected)


def floats(values):
    return bytearray(array.array("f", values).tobytes())


def run_checked(folder, path, image, weights, result):
    """What the interpreter makes of a call; "": it is right."""
    npy.write(os.path.join(folder, "x.npy"), "<f4", *image)
    npy.write(os.path.join(folder, "k.npy"), "<f4", *weights)
    npy.write(os.path.join(folder, "y.npy"), "<f4", result[0], [BEFORE] * len(result[1]))
    inputs = [a for name in "XKY" for a in ("--in", f"{name}={os.path.join(folder, name.lower())}.npy")]
    p = run("run", path, "--entry", "f", *inputs, "--out", folder)
    if p.returncode:
        return p.stderr.strip()
    given = [os.path.join(folder, n) for n in sorted(os.listdir(folder)) if n.startswith("result")]
    results = [npy.read(n)[2] for n in given]
    return "" if list(map(float, result[1])) in results else f"wrong in the interpreter for {image[0]}"


number = itertools.count()


def judge(r, folder):
    made = Image(r)
    text, target, reorder = made.text(), r.choice(TARGETS[:2]), r.random() < 0.7
    how = f"{target}{', reordered' if reorder else ''}"
    wrong, _, after, _ = schedule(folder, text, target, reorder)
    for _ in range(0 if wrong else RUNS):
        wrong = wrong or run_checked(folder, after, *made.tensors(r))
    if wrong:
        return text, how, wrong, False
    path = os.path.join(folder, f"{next(number)}.tvms")
    with open(path, "w") as f:
        f.write(text)
    p = run("build", path, "-o", path + ".so")
    if p.returncode:
        return text, "build", p.stderr.strip(), False
    library = ctypes.CDLL(path + ".so")
    for _ in range(CALLS):
        image, weights, result = made.tensors(r)
        memory = floats([BEFORE] * len(result[1]))
        tensors = [("<f4", image[0], floats(image[1])), ("<f4", weights[0], floats(weights[1])), ("<f4", result[0], memory)]
        if call(library, tensors) or memory != floats(result[1]):
            return text, "build", f"wrong for {image[0]}", True
    return text, how, "", True


if __name__ == "__main__":
    sys.exit(judge_many(__doc__, 80, judge))
