"""Steps that come in groups, as people write them, and the steps that generate.py has not."""
from generate import Steps


class OddSteps(Steps):
    WEIGHTS = Steps.WEIGHTS | dict(cache_index=3, cache_inplace=2, tensorize=2, tile=5, compute_tile=5, roll=3, chain=4, spread_reduction=3, padding=4, partition=3, staged=4, at_place=3, named=1, align=1)
    WEIGHTS["at"] = 6

    def named_loop(self, name, k):
        return f'sch.get_loops("{name}")[{k}]'

    def cache_index(self):
        return f'sch.cache_index("{self.block().name}", "{self.scope()}", {self.r.choice([0, 0, 1, 2])})'

    def cache_inplace(self):
        b = self.block(lambda b: b.reads)
        return f'sch.cache_inplace("{b.name}", {self.r.randrange(len(b.reads) or 1)}, "{self.scope()}")'

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
        b = self.block(lambda b: len(b.loops) > 1)
        return self.tile() if not self.blocks else self.tile_of(b, 0, 1, self.r.choice([2, 3, 4]), self.r.choice([2, 3, 8])) + [f'sch.compute_at("{self.block().name}", {self.loop(b, self.r.choice([0, 1, 1]))})']

    def roll(self):
        """As compute_tile, in rows; what moved goes round in a buffer of its own size."""
        b, other = self.block(lambda b: b.loops), self.block()
        return [f"sch.split({self.loop(b, 0)}, [None, {self.r.choice([2, 3, 4])}])", f'sch.compute_at("{other.name}", {self.loop(b, 0)})', f'sch.rolling_buffer(sch.get_sblock("{other.name}"), 0)']

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
        a, b = self.block(), self.looped()
        return f'sch.{self.r.choice(["compute_at", "reverse_compute_at"])}("{a.name}", {self.loop(b)}, {self.r.choice(["True", "False"])}, {self.r.choice([-1, -2, 0, 1])})'

    def padding(self):
        b = self.looped()
        if self.r.random() < 0.6:
            pads = [x for x in self.blocks if x.name in ("P", "Y") and x.loops] or [b]
            return f'sch.decompose_padding("{pads[0].name}", {self.loop(pads[0])})'
        return f'sch.pad_einsum("{b.name}", {[self.r.choice([1, 2, 4, 8]) for _ in b.axes]})'

    def named(self):
        """A buffer by its name."""
        b = self.block(lambda b: b.reads)
        buffer = self.r.choice(b.reads)[0] if b.reads else "A"
        return f'sch.cache_read("{b.name}", "{buffer}", "{self.scope()}")'

    def align(self):
        b = self.block(lambda b: b.writes)
        return f'sch.annotate(sch.get_sblock("{b.name}"), "pragma_x", 1)'
