#!/usr/bin/env python3
"""Generated nests of loops around several statements: ScheduleCPU changes no result.

    cpu_loops.py [--count N] [--seed N]

Plain loops as programs have them that nobody scheduled: stores and sums side by side in loops, with temporary elements that every step
overwrites or that carry something over, neighbours of elements that another statement stores, loops that begin behind 0, variables, branches, flat places whose rows overlap or not, and blocks whose
axes are made of several loops. `opt --check-semantics` runs each before and after the pass on the same whole numbers in the interpreter; what
comes out must check as a text again.
"""
import sys

from generated import TARGETS, judge_many, run, schedule

HEAD = "from tvm.script import ir as I, tirx as T\n\n@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n    def main("


class Nest:
    """Statements in loops, as lines of text."""

    def __init__(self, r):
        self.r, self.lines, self.names = r, [], 0
        self.dtype = r.choice(["int32", "int32", "float32"])
        # Square buffers have room for neighbours, flat ones for rows that are too short as well.
        self.square = [f"S{k}" for k in range(r.randint(2, 3))]
        self.flat = ["F0", "F1"]
        # Allocated here: an element, a row, a square. Those that hold nothing yet serve for sums alone, which store first.
        self.own = {"t": (1,), "u": (6,), "v": (8, 8)}
        self.filled = [name for name in self.own if r.random() < 0.5]

    def place(self, buffer, loops):
        r = self.r
        names = [name for name, _ in loops]
        if buffer in self.flat:
            if not names or r.random() < 0.1:
                return f"{buffer}[{r.randint(0, 9)}]"
            outer, inner = names[0], names[-1] if len(names) > 1 else str(r.randint(0, 2))
            stride = r.choice([loops[-1][1], loops[-1][1], 8, 4])
            return f"{buffer}[{outer} * {stride} + {inner}{r.choice(['', '', '', ' + 1'])}]"
        if buffer == "t":
            return "t[0]"
        if buffer == "u":
            return f"u[{r.choice(names[-2:] + ['0'])}]"
        pick = lambda d: (names[d] if d < len(names) and r.random() < 0.8 else r.choice(names + ["0"])) + (r.choice(["", "", "", "", " + 1", " + 2"]) if r.random() < 0.5 else "")
        return f"{buffer}[{pick(0)}, {pick(1)}]"

    def load(self, loops):
        return self.place(self.r.choice(self.square + self.square + self.flat + self.filled), loops)

    def store(self, pad, loops, buffer=None):
        r = self.r
        place = self.place(buffer or r.choice(self.square + self.flat + self.filled), loops)
        constant = f"T.{self.dtype}({r.randint(-2, 3)})"
        value = r.choice([constant, constant, f"{self.load(loops)} + {constant}", f"{place} + {self.load(loops)} * {self.load(loops)}", f"{place} + {self.load(loops)}",
                          f"T.max({place}, {self.load(loops)})", f"{self.load(loops)} * {self.load(loops)}", f"{self.load(loops)} - {self.load(loops)}"])
        self.lines.append(f"{pad}{place} = {value}")

    def bound(self, pad, loops):
        """What a variable holds, used behind a store that may overwrite what was loaded."""
        self.names += 1
        name = f"x{self.names}"
        self.lines.append(f"{pad}{name}: T.let[T.{self.dtype}] = {self.load(loops)} + {self.load(loops)}")
        if self.r.random() < 0.4:
            self.store(pad, loops)
        self.lines.append(f"{pad}{self.place(self.r.choice(self.square + self.filled), loops)} = {name} * {name} - {self.load(loops)}")

    def branch(self, pad, loops):
        """One store or another, or a sum that some steps add to."""
        r = self.r
        names = [name for name, _ in loops]
        condition = r.choice([f"{r.choice(names)} < {r.randint(1, 3)}", f"{names[0]} + {names[-1]} >= 2", f"1 <= {names[-1]} and {names[0]} < 3", f"{names[-1]} == 0", f"{self.load(loops)} > T.{self.dtype}(0)"])
        place = self.place(r.choice(self.square + self.flat + self.filled), loops)
        other = place if r.random() < 0.8 else self.place(r.choice(self.square), loops)
        self.lines.append(f"{pad}if {condition}:")
        if r.random() < 0.5:
            self.lines.append(f"{pad}    {place} = {place} + {self.load(loops)} * {self.load(loops)}")
            return
        self.lines += [f"{pad}    {place} = {self.load(loops)}", f"{pad}else:", f"{pad}    {other} = {self.load(loops)} + T.{self.dtype}(1)"]

    def sum(self, pad, loops):
        """What begins somewhere, is added up in loops of its own, and is used."""
        r = self.r
        where = self.place(r.choice(["t", "t", "u", "v"] + self.square), loops)
        self.lines.append(f"{pad}{where} = T.{self.dtype}({r.choice([0, 0, 1])})")
        name, size = self.loop()
        if r.random() < 0.2:  # it begins in the first step of its loop
            begin = self.lines.pop()
            self.lines += [f"{pad}for {name} in range({size}):", f"{pad}    if {name} == {r.choice([0, 0, 0, 1])}:", "        " + begin]
        else:
            self.lines.append(f"{pad}for {name} in range({size}):")
        inner = loops + [(name, size)]
        self.lines.append(f"{pad}    {where} = {where} + {self.load(inner)} * {self.load(inner)}")
        if r.random() < 0.7:
            self.lines.append(f"{pad}{self.place(r.choice(self.square), loops)} = {where} + {self.load(loops)}")

    def loop(self):
        self.names += 1
        return f"i{self.names}", self.r.choice([1, 2, 3, 5, 6])

    def body(self, pad, loops, depth):
        r = self.r
        for _ in range(r.choice([1, 2, 2, 3])):
            kind = r.random()
            if kind < 0.45 and depth < 3:
                name, size = self.loop()
                begin = r.choice(["", "", "", "1, ", "2, "]) if size > 2 else ""
                self.lines.append(f"{pad}for {name} in range({begin}{size}):")
                self.body(pad + "    ", loops + [(name, size)], depth + 1)
            elif kind < 0.65 and loops:
                self.sum(pad, loops)
            elif kind < 0.73:
                self.bound(pad, loops)
            elif kind < 0.83:
                self.branch(pad, loops)
            else:
                self.store(pad, loops)

    def tiled(self):
        """A block with axes made of loops in any order."""
        r = self.r
        axes = [(r.choice([1, 2, 3]), r.choice([1, 2])) for _ in range(3)]
        digits = [(f"a{k}", axes[k][0]) for k in range(3)] + [(f"b{k}", axes[k][1]) for k in range(3)]
        if r.random() < 0.5:
            r.shuffle(digits)
        if r.random() < 0.8:
            values = [f"a{k} * {axes[k][1]} + b{k}" for k in range(3)]
        else:  # the other way round, which is the same number of steps
            values = [f"b{k} * {axes[k][0]} + a{k}" for k in range(3)]
        sizes = [a * b for a, b in axes]
        self.lines.append(f"        for {', '.join(d for d, _ in digits)} in T.grid({', '.join(str(s) for _, s in digits)}):")
        self.lines += ['            with T.sblock("product"):'] + [f"                v{k} = T.axis.{kind}({sizes[k]}, {values[k]})" for k, kind in enumerate(("spatial", "spatial", "reduce"))]
        if r.random() < 0.6:
            self.lines += ["                with T.init():", f"                    S0[v0, v1] = {r.choice([f'T.{self.dtype}(0)', 'S1[0, v1]'])}"]
        self.lines.append("                S0[v0, v1] = S0[v0, v1] + S1[v0, v2] * F0[v2 * 8 + v1]")

    def text(self):
        parameters = [f'{b}: T.Buffer((9, 9), "{self.dtype}")' for b in self.square] + [f'{b}: T.Buffer((80,), "{self.dtype}")' for b in self.flat]
        lines = [HEAD + ", ".join(parameters) + "):", '        T.func_attr({"tirx.noalias": True})']
        lines += [f'        {name} = T.sblock_alloc_buffer({shape!r}, "{self.dtype}")' for name, shape in self.own.items()]
        for name in self.filled:
            shape = self.own[name]
            axes = "ij"[:len(shape)]
            head = f"for i, j in T.grid({shape[0]}, {shape[-1]})" if len(shape) > 1 else f"for i in range({shape[0]})"
            lines += [f"        {head}:", f"            {name}[{', '.join(axes)}] = T.{self.dtype}({self.r.randint(-1, 2)})"]
        return "\n".join(lines + self.lines) + "\n"


def program(r):
    nest = Nest(r)
    for _ in range(r.choice([1, 1, 2])):
        if r.random() < 0.2:
            nest.tiled()
        else:
            name, size = nest.loop()
            nest.lines.append(f"        for {name} in range({size}):")
            nest.body("            ", [(name, size)], 1)
    return nest.text()


def judge(r, folder):
    text, target, reorder = program(r), r.choice(TARGETS), r.random() < 0.5
    wrong, _, after, statistics = schedule(folder, text, target, reorder, "--check-semantics")
    if not wrong:
        q = run("check", after)
        wrong = q.stderr.strip() if q.returncode else ""
    return text, f"{target}, {reorder=}", wrong, "straightened loops" in statistics


if __name__ == "__main__":
    sys.exit(judge_many(__doc__, 160, judge, "straightened", 0.15))
