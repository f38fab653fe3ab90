"""Kernels and schedules of them, made from a number: the same for the same number, on any machine.

A kernel is a PrimFunc of one to four blocks with int32 buffers, so that results are exact whatever the order. A schedule is a list of
lines as people write them (docs/schedules.md); each names its blocks and loops anew, so that it stands alone. Which blocks and loops there
are is read from the module as the lines before have made it; `ask` gives that text, or None where the line is refused.
"""
import random, re

from kernels import KERNELS, MORE_KERNELS, choose_sizes
from odd_kernels import ODD_KERNELS
from shaped_kernels import SHAPED_KERNELS


# Kernels by the names of their sets, and the sets whose schedules have steps in groups.
SETS = {"plain": KERNELS, "wide": MORE_KERNELS + KERNELS, "odd": ODD_KERNELS, "shaped": SHAPED_KERNELS}
GROUPED = {"odd", "shaped"}


def kernel(r, kernels="plain", symbolic=False):
    choose_sizes(symbolic)
    return str(r.choice(SETS[kernels])(r))


# ---- What a module has ----


class Block:
    """A block: its name, the loops around it in its scope as (extent, kind), its axes, the buffers that it reads and writes, and whether it chooses values by a
    condition."""

    def __init__(self, name, loops, depth):
        self.name, self.loops, self.depth = name, loops, depth
        self.axes, self.reads, self.writes, self.init, self.children, self.guarded = "", [], [], False, 0, False


def buffers_of(line):
    inner = line[line.index("(") + 1 : line.rindex(")")]
    return re.findall(r"(?:^|, )([A-Za-z_]\w*)(\[(?:[^\[\]]|\[[^\]]*\])*\])", inner)


def main_of(text):
    """The function that is scheduled."""
    return next(part for part in text.split("    @T.prim_func") if " def main(" in part)


def blocks_of(text):
    """The blocks of a printed function, by name; names that several have are left out."""
    found, stack = [], []
    for line in text.split("\n"):
        if not line.strip() or line.strip().startswith("#"):
            continue
        depth = len(line) - len(line.lstrip())
        while stack and stack[-1][0] >= depth:
            stack.pop()
        line = line.strip()
        grid = re.match(r"for ([\w, ]+) in T\.grid\((.*)\):", line)
        single = re.match(r"for (\w+) in (range|T\.\w+)\((.*)\):", line)
        inner = stack[-1][2] if stack and stack[-1][1] == "block" else None
        if grid:
            stack.append((depth, "loops", [(n.strip(), "serial") for n in grid[2].split(",")]))
        elif single:
            stack.append((depth, "loops", [(single[3].split(",")[-1 if single[2] == "range" else 0].strip(), single[2])]))
        elif line.startswith("with T.sblock("):
            loops = []
            for entry in reversed(stack):
                if entry[1] == "block":
                    entry[2].children += 1
                    break
                if entry[1] == "loops":
                    loops = entry[2] + loops
            block = Block(re.search(r'"(.*)"', line)[1], loops, len(stack))
            found.append(block)
            stack.append((depth, "block", block))
        elif line.startswith("with T.init"):
            stack.append((depth, "init", None))
            if inner:
                inner.init = True
        elif inner and "T.axis.remap(" in line:
            inner.axes += re.search(r'remap\("(\w+)"', line)[1]
        elif inner and "= T.axis." in line:
            inner.axes += {"s": "S", "r": "R"}.get(re.search(r"T\.axis\.(\w)", line)[1], "O")
        elif inner and line.startswith("T.reads("):
            inner.reads = buffers_of(line)
        elif inner and line.startswith("T.writes("):
            inner.writes = buffers_of(line)
        elif inner and "T.if_then_else(" in line:
            inner.guarded = True
    names = [b.name for b in found]
    return [b for b in found if names.count(b.name) == 1]


# ---- Steps ----


def number(text):
    return int(text) if re.fullmatch(r"\d+", text) else None


class Steps:
    """Lines that may be done with a module, right or not quite."""

    def __init__(self, r, blocks, text, private=False):
        self.r, self.blocks, self.private = r, blocks, private
        self.parameters = re.findall(r"(\w+): T\.Buffer", text)
        self.integers = re.findall(r'(\w+) = T\.sblock_alloc_buffer\(.*"int32"', text)

    def block(self, good=None):
        fits = [b for b in self.blocks if not good or good(b)] if self.r.random() < 0.9 else self.blocks
        return self.r.choice(fits or self.blocks)

    def loop(self, b, which=None):
        last = len(b.loops) - 1
        k = which if which is not None else self.r.randint(0, max(last, 0))
        return f'sch.get_loops("{b.name}")[{k}]'

    def scope(self):
        return self.r.choice(["global", "local", "shared", "shared", "local", "shared.dyn", "warp"])

    def looped(self):
        return self.block(lambda b: b.loops)

    def factors(self, b, k):
        size = number(b.loops[k][0]) if b.loops else None
        r = self.r
        way = r.random()
        if way < 0.5 or not size:
            return r.choice(["[None, {0}]", "[{0}, None]", "[None, {0}, {1}]", "[{0}, None, {1}]"]).format(r.choice([1, 2, 3, 4, 5, 8, 16]), r.choice([1, 2, 3, 4]))
        divisors = [d for d in range(1, size + 1) if size % d == 0]
        d = r.choice(divisors)
        return f"[{d}, {size // d}]" if way < 0.9 else f"[{d}, {size // d + r.choice([-1, 1])}]"

    def split(self):
        b = self.looped()
        k = self.r.randint(0, max(len(b.loops) - 1, 0))
        extra = self.r.choice(["", "", "", ", preserve_unit_iters=False", ", preserve_unit_iters=True"])
        return f"sch.split({self.loop(b, k)}, {self.factors(b, k)}{extra})"

    def fuse(self):
        b = self.block(lambda b: len(b.loops) > 1)
        k = self.r.randint(0, max(len(b.loops) - 2, 0))
        n = self.r.choice([2, 2, 2, 3])
        extra = self.r.choice(["", "", ", preserve_unit_iters=False"])
        return f'sch.fuse(*[{", ".join(self.loop(b, k + i) for i in range(n))}]{extra})'

    def reorder(self):
        b = self.block(lambda b: len(b.loops) > 1)
        order = list(range(len(b.loops)))
        self.r.shuffle(order)
        order = order[: self.r.randint(2, max(len(order), 2))] or [0, 1]
        return f'sch.reorder({", ".join(self.loop(b, k) for k in order)})'

    def merge(self):
        return f"sch.merge({self.loop(self.block(lambda b: b.loops), 0)}, {self.loop(self.block(lambda b: b.loops), 0)})"

    def kind(self):
        b = self.looped()
        what = self.r.choice(["parallel", "vectorize", "unroll", "bind", "bind"])
        k = len(b.loops) - 1 if what == "vectorize" and self.r.random() < 0.8 else None
        thread = f', "{self.r.choice(["blockIdx.x", "blockIdx.y", "threadIdx.x", "threadIdx.y", "vthread.x"])}"' if what == "bind" else ""
        return f"sch.{what}({self.loop(b, k)}{thread})"

    def unit(self):
        b = self.looped()
        return f"sch.add_unit_loop({self.loop(b)})" if self.r.random() < 0.5 else f'sch.add_unit_loop(sch.get_sblock("{b.name}"))'

    def order_axes(self):
        b = self.block()
        order = list(range(len(b.axes)))
        self.r.shuffle(order)
        return f'sch.reorder_block_iter_var(sch.get_sblock("{b.name}"), {order})'

    def cache(self):
        b = self.block()
        read = self.r.random() < 0.5
        n = len(b.reads if read else b.writes)
        k = self.r.randrange(n) if n and self.r.random() < 0.95 else self.r.randint(0, 2)
        return f'sch.cache_{"read" if read else "write"}("{b.name}", {k}, "{self.scope()}")'

    def reindex(self):
        b = self.block()
        way = self.r.choice(["read", "write"])
        n = len(b.reads if way == "read" else b.writes)
        k = self.r.randrange(n) if n else 0
        if self.r.random() < 0.6:
            return f'sch.reindex("{b.name}", ("{way}", {k}))'
        return f'sch.reindex_cache_{way}("{b.name}", {k}, "{self.scope()}", {self.map(len(b.axes))})'

    def map(self, n):
        r = self.r
        names = "abcdefgh"[:n]
        order = list(names)
        if r.random() < 0.5:
            r.shuffle(order)
        out = []
        for name in order:
            q = r.choice([2, 3, 4, 5, 8])
            out += r.choice([[name], [name], [name], [f"{name} // {q}", f"{name} % {q}"]])
        if r.random() < 0.2 and len(out) > 1:
            out[0:2] = [f"{out[0]} * {r.choice([2, 4, 8, 16])} + {out[1]}"]
        if r.random() < 0.1 and len(out) > 1:
            out.pop(r.randrange(len(out)))
        if r.random() < 0.3:
            r.shuffle(out)
        return f"lambda {', '.join(names)}: ({', '.join(out)},)"

    def at(self):
        a, b = self.block(), self.looped()
        extra = self.r.choice(["", "", ", preserve_unit_loops=True", ", index=0"])
        return f'sch.{self.r.choice(["compute_at", "compute_at", "reverse_compute_at"])}("{a.name}", {self.loop(b)}{extra})'

    def inline(self):
        return f'sch.{self.r.choice(["compute_inline", "reverse_compute_inline"])}("{self.block().name}")'

    def epilogue(self):
        return f'sch.fuse_reduction_epilogue("{self.block(lambda b: b.init).name}", "{self.block(lambda b: not b.init).name}")'

    def reduction(self):
        b = self.block(lambda b: b.init and b.loops)
        if self.r.random() < 0.6:
            return f'sch.decompose_reduction("{b.name}", {self.loop(b)})'
        return f"sch.rfactor({self.loop(b)}, {self.r.choice([0, 0, 1, 2, -1])})"

    def blockize(self):
        b = self.looped()
        extra = self.r.choice(["", "", ", preserve_unit_iters=False"])
        if self.r.random() < 0.15:
            return f'sch.blockize([sch.get_sblock("{b.name}"), sch.get_sblock("{self.block().name}")]{extra})'
        return f"sch.blockize({self.loop(b)}{extra})"

    def storage(self):
        b = self.block(lambda b: b.writes)
        return self.r.choice([f'sch.storage_align("{b.name}", 0, {self.r.choice([0, -1, -2, 1])}, {self.r.choice([8, 16, 32])}, {self.r.choice([0, 1, 8])})', f'sch.set_scope("{b.name}", 0, "{self.scope()}")'])

    def rank(self, way, b):
        found = b.reads if way == "read" else b.writes
        return (0, found[0][1].count(",") + 1) if found else (0, 2)

    def layout(self):
        b = self.block()
        way = self.r.choice(["read", "write"])
        k, rank = self.rank(way, b)
        found = b.reads if way == "read" else b.writes
        if self.private and found and found[k][0] in self.parameters:
            return self.split()
        pad = self.r.choice(["", "", ", pad_value=0", f", pad_value=lambda *q: {self.r.randint(1, 9)}"])
        return f'sch.transform_layout("{b.name}", ("{way}", {k}), {self.map(rank)}{pad})'

    def block_layout(self):
        b = self.block(lambda b: b.loops)
        return f'sch.transform_block_layout("{b.name}", {self.map(len(b.axes))})'

    def padding(self):
        b = self.looped()
        if self.r.random() < 0.5:
            return f'sch.decompose_padding("{b.name}", {self.loop(b)})'
        return f'sch.pad_einsum("{b.name}", {[self.r.choice([1, 2, 4, 8]) for _ in b.axes]})'

    def rolling(self):
        return f'sch.rolling_buffer(sch.get_sblock("{self.block().name}"), 0)'

    def partition(self):
        b = self.looped()
        k = self.r.randint(0, max(len(b.loops) - 1, 0))
        return f"sch.loop_partition({self.loop(b, k)}, {self.r.choice(['[2, None]', '[None, 3]', '[1, 2, None]', '[4]', '[2, 3]'])})"

    def copy_at(self):
        b = self.looped()
        way = self.r.choice(["read", "write"])
        n = len(b.reads if way == "read" else b.writes)
        return f'sch.{way}_at({self.loop(b)}, sch.get_sblock("{b.name}"), {self.r.randrange(n) if n else 0}, "{self.scope()}")'

    def note(self):
        b = self.looped()
        value = self.r.choice(["1", '"x"', "[1, 2]", "0.5"])
        return f'sch.annotate({self.loop(b)}, "k{self.r.randint(0, 2)}", {value})' if self.r.random() < 0.5 else f'sch.annotate(sch.get_sblock("{b.name}"), "k{self.r.randint(0, 2)}", {value})'

    def unnote(self):
        return f'sch.unannotate(sch.get_sblock("{self.block().name}"), "k{self.r.randint(0, 2)}")'

    WEIGHTS = dict(split=10, fuse=5, reorder=6, kind=5, cache=8, at=10, inline=5, reduction=6, blockize=3, layout=4, block_layout=2, reindex=4, padding=2, rolling=2, partition=1, copy_at=2, note=1, unnote=1, unit=1, order_axes=1, epilogue=2, storage=2, merge=1)

    def any(self, without=()):
        names = [n for n in self.WEIGHTS if n not in without]
        name = self.r.choices(names, [self.WEIGHTS[n] for n in names])[0]
        return name, getattr(self, name)()


# ---- Schedules ----


def make(seed, ask, length=7, without=(), private=False, kernels="plain", symbolic=False):
    """(kernel, [(line, done), …]): lines that were done or, where `done` is false, refused. `ask(kernel, lines)` gives the module behind the lines, or None.

    With `private`, no parameter gets another layout; `kernels` are a set of SETS, and with `symbolic` there are sizes that are not known."""
    from odd_steps import OddSteps  # which builds on this file

    r = random.Random(seed)
    program = kernel(r, kernels, symbolic)
    lines, done = [], []
    text = ask(program, [])
    if text is None:
        return program, None
    for _ in range(r.randint(2, length)):
        for _ in range(4):
            text = main_of(text)
            blocks = [b for b in blocks_of(text) if b.name != "root"]
            if not blocks:
                return program, lines
            _, wanted = (OddSteps if kernels in GROUPED else Steps)(r, blocks, text, private).any(without)
            made = None
            for line in wanted if isinstance(wanted, list) else [wanted]:
                made = ask(program, done + [line])
                lines.append((line, made is not None))
                if made is None:
                    break
                done.append(line)
                text = made
            if made is not None:
                break
    return program, lines
