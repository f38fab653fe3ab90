"""Steps that come in groups, as people write them, and the steps that generate.py has not."""
from generate import Steps, number


class OddSteps(Steps):
    def any(self, without=()):
        """Most steps of a kernel that has intrinsics are for those."""
        if any(b.name == "D" and b.reads and b.reads[0][0] == "C" for b in self.blocks) and self.r.random() < 0.3:
            return "tensorize", self.tensorize()
        return super().any(without)

    WEIGHTS = Steps.WEIGHTS | dict(cache_index=3, cache_inplace=2, tensorize=2, tile=5, compute_tile=5, roll=3, chain=4, spread_reduction=3, padding=4, partition=3, staged=4, at_place=3, named=1, align=1, widened=2, consumers=3, sampled=2, located=2, exact=2, family=3)
    WEIGHTS["at"] = 6

    def named_loop(self, name, k):
        return f'sch.get_loops("{name}")[{k}]'

    def cache_index(self):
        return f'sch.cache_index("{self.block().name}", "{self.scope()}", {self.r.choice([0, 0, 1, 2])})'

    def names(self, regions):
        return [buffer for buffer, _ in regions]

    def pair(self, good=lambda a, b: True):
        """A block and one that reads what it writes, if there are such."""
        pairs = [(a, b) for a in self.blocks for b in self.blocks if a is not b and set(self.names(a.writes)) & set(self.names(b.reads)) and good(a, b)]
        return self.r.choice(pairs) if pairs and self.r.random() < 0.9 else (self.block(), self.looped())

    def cache_inplace(self):
        b = self.block(lambda b: set(self.names(b.reads)) & set(self.names(b.writes)))
        both = [k for k, name in enumerate(self.names(b.reads)) if name in self.names(b.writes)]
        return f'sch.cache_inplace("{b.name}", {self.r.choice(both or [0])}, "{self.scope()}")'

    def merge(self):
        """Nests of the same sizes."""
        pairs = [(a, b) for a in self.blocks for b in self.blocks if a is not b and a.loops and b.loops and a.loops[0] == b.loops[0]]
        if not pairs:
            return super().merge()
        a, b = self.r.choice(pairs)
        return f"sch.merge({self.loop(a, 0)}, {self.loop(b, 0)})"

    def epilogue(self):
        a, b = self.pair(lambda a, b: a.init and not b.init)
        return f'sch.fuse_reduction_epilogue("{a.name}", "{b.name}")'

    def tensorize(self):
        """The tile of an intrinsic, if the kernel has one; otherwise a description that is missing."""
        b = self.block(lambda b: len(b.loops) > 1)
        k, width = len(b.loops) - 1, self.r.choice([2, 4])
        if "R" in b.axes or self.r.random() < 0.3:
            lines = [f"sch.split({self.loop(b, k)}, [None, {width}])"]
            if b.init and self.r.random() < 0.8:
                lines.append(f'sch.decompose_reduction("{b.name}", {self.named_loop(b.name, k)})')
            name = b.name if len(lines) == 1 else f"{b.name}_update"
            return lines + [f'sch.tensorize({self.named_loop(name, k + 1)}, "dot")']
        return self.tile_of(b, k - 1, k, 2, width) + [f'sch.tensorize({self.loop(b, k + 1)}, "double")']

    def tile_of(self, b, first, second, p, q):
        """Two neighbouring loops split, and the inner parts made the innermost."""
        return [f"sch.split({self.loop(b, second)}, [None, {q}])", f"sch.split({self.loop(b, first)}, [None, {p}])", f"sch.reorder({self.loop(b, first + 2)}, {self.loop(b, first + 1)})"]

    def tile(self):
        b = self.block(lambda b: len(b.loops) > 1)
        k = self.r.randint(0, max(len(b.loops) - 2, 0))
        return self.tile_of(b, k, k + 1, self.r.choice([2, 3, 4, 8]), self.r.choice([2, 3, 4, 5]))

    def compute_tile(self):
        """A reader in tiles, and one that it reads from moved below them."""
        a, b = self.pair(lambda a, b: len(b.loops) > 1)
        return self.tile_of(b, 0, 1, self.r.choice([2, 3, 4]), self.r.choice([2, 3, 8])) + [f'sch.compute_at("{a.name}", {self.loop(b, self.r.choice([0, 1, 1]))})']

    def roll(self):
        """A reader in rows, and what it reads moved below them, going round in a buffer of its own size."""
        a, b = self.pair(lambda a, b: b.loops)
        lines = [f"sch.split({self.loop(b, 0)}, [None, {self.r.choice([2, 3, 4])}])"] if self.r.random() < 0.8 else []
        if len(b.loops) > 1 and lines and self.r.random() < 0.5:
            lines.append(f"sch.reorder({self.loop(b, 0)}, {self.loop(b, 2)}, {self.loop(b, 1)})")
        return lines + [f'sch.compute_at("{a.name}", {self.loop(b, 0)})', f'sch.rolling_buffer(sch.get_sblock("{a.name}"), 0)']

    def chain(self):
        """What a block writes kept apart, and written below one of its loops."""
        b = self.block(lambda b: b.loops and b.writes)
        buffer = b.writes[0][0] if b.writes else b.name
        copy = f"{buffer}_local"
        return [f'sch.cache_write("{b.name}", 0, "local")', f'sch.reverse_compute_at("{copy}", {self.loop(b)})']

    def staged(self):
        """What a block reads fetched below one of its loops."""
        b = self.block(lambda b: b.loops and b.reads)
        k = self.r.randrange(len(b.reads) or 1)
        buffer = b.reads[k][0] if b.reads else b.name
        return [f'sch.cache_read("{b.name}", {k}, "shared")', f'sch.compute_at("{buffer}_shared", {self.loop(b)})']

    def spread_reduction(self):
        """A reduction in parts, with a number of them that need not divide it."""
        b = self.block(lambda b: b.init and b.loops)
        k = len(b.loops) - 1
        lines = [f"sch.split({self.loop(b, k)}, {self.factors(b, k)})"]
        return lines + [f"sch.rfactor({self.loop(b, k + self.r.choice([0, 1]))}, {self.r.choice([0, 1, -1])})"]

    def at_place(self):
        a, b = self.pair(lambda a, b: a.loops and b.loops)
        way = self.r.choice(["compute_at", "reverse_compute_at"])
        moved, other = (a, b) if way == "compute_at" else (b, a)
        return f'sch.{way}("{moved.name}", {self.loop(other)}, {self.r.choice(["True", "False"])}, {self.r.choice([-1, -2, 0, 1])})'

    def padding(self):
        b = self.looped()
        if self.r.random() < 0.6:
            b = self.block(lambda b: b.guarded and b.loops and "R" not in b.axes)
            return f'sch.decompose_padding("{b.name}", {self.loop(b)})'
        return f'sch.pad_einsum("{b.name}", {[self.r.choice([1, 2, 4, 8]) for _ in b.axes]})'

    def named(self):
        """A buffer by its name."""
        b = self.block(lambda b: b.reads)
        buffer = self.r.choice(b.reads)[0] if b.reads else "A"
        return f'sch.cache_read("{b.name}", "{buffer}", "{self.scope()}")'

    def align(self):
        b = self.block(lambda b: b.writes)
        return f'sch.annotate(sch.get_sblock("{b.name}"), "pragma_x", 1)'

    def widened(self):
        """A buffer of the function with more bits: nothing that it holds is another value then."""
        b = self.block(lambda b: b.writes and b.writes[0][0] in self.integers)
        return f'sch.unsafe_set_dtype("{b.name}", 0, "int64")' if b.writes and b.writes[0][0] in self.integers else self.split()

    def consumers(self):
        """A copy that some of the readers use."""
        a, b = self.pair()
        way = self.r.choice(["read", "write"])
        found = self.names(b.reads) if way == "read" else self.names(a.writes)
        k = self.r.randrange(len(found)) if found else 0
        return f'sch.cache_{way}("{(b if way == "read" else a).name}", {k}, "{self.scope()}", ["{b.name}"])'

    def sampled(self):
        """Tiles that a search decided."""
        b, k, tiles = self.divided()
        return f"sch.split({self.loop(b, k)}, sch.sample_perfect_tile({self.loop(b, k)}, 2, 64, decision={tiles}))"

    def exact(self):
        """Tiles that need no condition, and get none."""
        b, k, tiles = self.divided()
        return f"sch.split({self.loop(b, k)}, {tiles}, disable_predication={'True' if number(b.loops[k][0]) else 'False'})" if b.loops else self.split()

    def divided(self):
        """A block, a loop of it, and two factors of the loop's extent."""
        b = self.block(lambda b: any(number(size) for size, _ in b.loops))
        known = [k for k, (size, _) in enumerate(b.loops) if number(size)]
        if not known:
            return b, 0, [1, 1]
        k = self.r.choice(known)
        size = number(b.loops[k][0])
        first = self.r.choice([d for d in range(1, size + 1) if size % d == 0])
        return b, k, [first, size // first]

    def located(self):
        """A place that a search decided; -1 is where it is, -2 inside of its readers."""
        name = self.block().name
        way = self.r.choice(["compute_at", "reverse_compute_at"])
        return f'sch.{way}("{name}", sch.sample_compute_location("{name}", decision={self.r.choice([-2, -1, 0, 0, 1, 2])}))'

    def family(self):
        """Blocks by what they are to others."""
        a, b = self.pair(lambda a, b: b.loops)
        return self.r.choice([
            f'sch.compute_inline(sch.get_producers("{b.name}")[0])',
            f'sch.reverse_compute_inline(sch.get_consumers("{a.name}")[0])',
            f'sch.compute_at(sch.get_producers("{b.name}")[0], {self.loop(b)})',
            f'sch.reverse_compute_at(sch.get_consumers("{a.name}")[0], {self.loop(a)})',
        ])
