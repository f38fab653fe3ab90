"""PrimFuncs, made from a number: the same for the same number, on any machine.

A program is a module with one PrimFunc in the spelling of 0.27: blocks with split, shuffled and reduced axes, or plain loops; loops that
begin elsewhere than at 0, of every kind, with annotations; conditions of loop variables and of memory; places with quotients and remainders;
match_buffer, symbolic sizes, 32 and 64 bit indices, all dtypes that a CPU's pipeline has a pass for. Places are kept inside the buffers.
"""
import random

HEAD = "@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n"
DTYPES = ["float32"] * 6 + ["float16", "float64", "int32", "int64", "int8", "uint8", "bfloat16"]
FLOAT_CALLS = ["exp", "sqrt", "tanh", "sigmoid", "abs", "floor"]
LOOPS = ["range"] * 5 + ["T.serial", "T.parallel", "T.unroll", "T.vectorized"]


class Program:
    """One PrimFunc. `buffers` are shapes and dtypes by name, `loops` the variables in scope with their extents (each from 0 on)."""

    def __init__(self, number):
        self.random = random.Random(number)
        self.lines, self.names, self.buffers, self.loops = [], 0, {}, []
        self.wide = self.random.random() < 0.35
        self.symbolic = self.random.random() < 0.3
        self.has_blocks = self.random.random() < 0.6

    # ---- Texts ----

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def new(self, kind="i"):
        self.names += 1
        return f"{kind}{self.names}"

    def number(self, value):
        """A number as an index."""
        return f"T.int64({value})" if self.wide else str(value)

    def constant(self, value, dtype):
        return f"T.bool({value != 0})" if dtype == "bool" else f"T.{dtype}({value}.0)" if "float" in dtype else f"T.{dtype}({value})"

    def extent_text(self, extent):
        return extent if isinstance(extent, str) else self.number(extent)

    def tuple_text(self, shape):
        return "(" + "".join(self.extent_text(size) + ", " for size in shape) + ")"

    def extent(self):
        return "n" if self.symbolic and self.random.random() < 0.3 else self.random.choice([1, 2, 3, 4, 5, 7, 8, 8, 16, 16, 17, 32])

    def shape(self, ranks):
        return [self.extent() for _ in range(self.random.choice(ranks))]

    # ---- Expressions ----

    def place(self, size):
        """An index from 0 to below a size."""
        kind, fits = self.random.random(), [v for v, extent in self.loops if extent == size or (isinstance(size, int) and isinstance(extent, int) and extent <= size)]
        if kind < 0.6 and fits:
            return self.random.choice(fits)
        known = [loop for loop in self.loops if isinstance(loop[1], int)]
        if isinstance(size, str):
            return self.number(0)
        if not known or kind > 0.92:
            return self.number(self.random.randrange(size))
        v, extent = self.random.choice(known)
        if kind < 0.72:
            return f"({v} + {self.number(self.random.randint(0, 3))}) % {self.number(size)}"
        if kind < 0.78:
            return f"{v} // {self.number(max(1, -(-extent // size)))}"
        if kind < 0.84:
            return f"({v} * {self.number(self.random.randint(1, 4))} + {self.random.choice(known)[0]}) % {self.number(size)}"
        if kind < 0.88 and extent <= size:
            return f"{self.number(extent - 1)} - {v}"
        return f"T.min({v}, {self.number(size - 1)})"

    def load(self):
        name = self.random.choice(list(self.buffers))
        shape, dtype = self.buffers[name]
        return f"{name}[{', '.join(self.place(size) for size in shape)}]", dtype

    def value(self, dtype, depth=2):
        kind = self.random.random()
        if depth == 0 or kind < 0.3:
            text, has = self.load()
            return text if has == dtype else f'T.Cast("{dtype}", {text})'
        if kind < 0.4:
            return self.constant(self.random.randint(0, 3), dtype)
        if kind < 0.5 and self.loops:
            v = self.random.choice(self.loops)[0]
            return v if dtype == ("int64" if self.wide else "int32") else f'T.Cast("{dtype}", {v})'
        if kind < 0.64:
            name = "T.if_then_else" if kind < 0.58 else "T.Select"
            return f"{name}({self.condition()}, {self.value(dtype, depth - 1)}, {self.value(dtype, depth - 1)})"
        if "float" in dtype and kind < 0.74:
            return f"T.{self.random.choice(FLOAT_CALLS)}({self.value(dtype, depth - 1)})"
        if kind < 0.8:
            return f"T.{self.random.choice(['max', 'min'])}({self.value(dtype, depth - 1)}, {self.value(dtype, depth - 1)})"
        return f"({self.value(dtype, depth - 1)} {self.random.choice('+-*')} {self.value(dtype, depth - 1)})"

    def comparison(self):
        kind = self.random.random()
        if not self.loops or kind < 0.15:
            text, dtype = self.load()
            return f"{self.constant(1, dtype)} < {text}"
        (v, extent), (w, _) = self.random.choice(self.loops), self.random.choice(self.loops)
        bound = self.number(self.random.randint(0, extent if isinstance(extent, int) else 8))
        if kind < 0.65:
            return f"{v} {self.random.choice(['<', '<=', '>=', '>', '==', '!='])} {bound}"
        if kind < 0.75:
            return f"{v} % {self.number(self.random.randint(2, 4))} == {self.number(0)}"
        if kind < 0.9:
            return f"{v} * {self.number(self.random.randint(1, 8))} + {w} < {self.number(self.random.randint(1, 60))}"
        return f"{v} {self.random.choice(['<', '<=', '!='])} {w}"

    def condition(self):
        kind = self.random.random()
        if kind < 0.65:
            return self.comparison()
        if kind > 0.95:
            return f"not ({self.comparison()})"
        return f"{self.comparison()} {'and' if kind < 0.85 else 'or'} {self.comparison()}"

    # ---- Statements ----

    def store(self, depth, names=None):
        name = self.random.choice(names or self.outputs)
        shape, dtype = self.buffers[name]
        target = f"{name}[{', '.join(self.place(size) for size in shape)}]"
        value = f"{target} + {self.value(dtype, 1)}" if self.random.random() < 0.25 else self.value(dtype)
        self.put(depth, f"{target} = {value}")

    def axes(self, shape):
        """Loops for a block, its axes (kind, extent, value), and the condition of split ones."""
        loops, axes, where = [], [], []
        for size in shape:
            kind = self.random.random()
            if isinstance(size, int) and size >= 4 and kind < 0.3:
                inner, (x, y) = self.random.choice([2, 3, 4]), (self.new(), self.new())
                loops += [(x, -(-size // inner)), (y, inner)]
                axes.append(("spatial", size, f"{x} * {self.number(inner)} + {y}"))
                if size % inner:
                    where.append(f"{axes[-1][2]} < {self.number(size)}")
            elif kind < 0.36:
                axes.append(("spatial", size, self.place(size)))
            else:
                loops.append((self.new(), size))
                axes.append(("spatial", size, loops[-1][0]))
        if self.random.random() < 0.3:
            loops.append((self.new(), self.extent()))
            axes.append(("reduce", loops[-1][1], loops[-1][0]))
        if self.random.random() < 0.15:
            self.random.shuffle(loops)
        return loops, axes, " and ".join(where)

    def nest(self, depth, loops, is_reduced):
        for k, (x, extent) in enumerate(loops):
            kind = "serial" if is_reduced else self.random.choice(["serial"] * 6 + ["parallel", "vectorized", "unroll"])
            if (isinstance(extent, str) and kind != "parallel") or (kind == "vectorized" and k != len(loops) - 1):
                kind = "serial"
            self.put(depth + k, f"for {x} in T.{kind}({self.extent_text(extent)}):")
            self.loops.append((x, extent))
        return depth + len(loops)

    def block(self, depth, name=None):
        """Loops and a block that writes one element of a buffer."""
        name = name or self.random.choice(self.outputs)
        shape, dtype = self.buffers[name]
        kept = list(self.loops)
        loops, axes, where = self.axes(shape)
        is_reduced = axes and axes[-1][0] == "reduce"
        depth = self.nest(depth, loops, is_reduced)
        self.put(depth, f'with T.sblock("{self.new("block")}"):')
        variables = []
        for kind, extent, value in axes:
            variables.append((self.new("v"), extent, kind))
            self.put(depth + 1, f"{variables[-1][0]} = T.axis.{kind}({self.extent_text(extent)}, {value})")
        if where:
            self.put(depth + 1, f"T.where({where})")
        self.loops = [(v, extent) for v, extent, _ in variables]
        target = f"{name}[{', '.join(v for v, _, kind in variables if kind == 'spatial')}]"
        self.block_body(depth + 1, target, dtype, is_reduced)
        self.loops = kept

    def block_body(self, depth, target, dtype, is_reduced):
        kind = self.random.random()
        if is_reduced:
            self.put(depth, "with T.init():")
            self.put(depth + 1, f"{target} = {self.constant(0, dtype)}")
            self.put(depth, f"{target} = {target} + {self.value(dtype, 1)}")
        elif kind < 0.12:
            source, part = self.random.choice(list(self.buffers)), self.new("M")
            shape, element = self.buffers[source]
            region = ", ".join(self.place(size) for size in shape)
            offset = "offset_factor=1" if self.random.random() < 0.8 else "elem_offset=T.int32()"
            self.put(depth, f'{part} = T.match_buffer({source}[{region}], (), "{element}", {offset})')
            self.put(depth, f"{target} = " + (f"{part}[()]" if element == dtype else f'T.Cast("{dtype}", {part}[()])'))
        elif kind < 0.24:
            self.put(depth, f"if {self.condition()}:")
            self.put(depth + 1, f"{target} = {self.value(dtype)}")
            if self.random.random() < 0.5:
                self.put(depth, "else:")
                self.put(depth + 1, f"{target} = {self.value(dtype, 1)}")
        else:
            self.put(depth, f"{target} = {self.value(dtype)}")

    def loop(self, depth, rest):
        x, extent, kind = self.new(), self.extent(), self.random.choice(LOOPS)
        if (extent == "n" and kind in ("T.unroll", "T.vectorized")) or (kind == "T.vectorized" and self.has_blocks):
            kind = "range"
        start = self.random.choice([0, 0, 0, 0, 1, 2]) if isinstance(extent, int) and kind != "T.vectorized" else 0
        if self.wide and kind == "range":
            kind = "T.serial"
        arguments = f"{self.number(start)}, {self.number(extent + start)}" if start else self.extent_text(extent)
        if kind == "T.serial" and self.random.random() < 0.3:
            arguments += f', annotations={{"{self.random.choice(["pragma_unroll_explicit", "my_hint"])}": {self.random.randint(0, 1)}}}'
        self.put(depth, f"for {x} in {kind}({arguments}):")
        self.loops.append((f"({x} - {self.number(start)})" if start else x, extent))
        for _ in range(self.random.choice([1, 1, 2])):
            self.statement(depth + 1, 0 if kind == "T.vectorized" else rest)

    def local(self, depth, rest):
        name, kept = self.new("L"), dict(self.buffers)
        dtype, scope = self.random.choice(["float32", "int32"]), self.random.choice(["", "", ', scope="local"'])
        self.put(depth, f'{name} = T.alloc_buffer(({self.random.choice([1, 4, 8])},), "{dtype}"{scope})')
        self.buffers[name] = ([1], dtype)
        self.store(depth, [name])
        self.statement(depth, rest)
        self.store(depth)
        self.buffers = kept

    def statement(self, depth, rest):
        kind, kept = self.random.random(), list(self.loops)
        if rest == 0 or kind < 0.4:
            self.block(depth) if self.has_blocks else self.store(depth)
        elif kind < 0.7:
            self.loop(depth, rest - 1)
        elif kind < 0.85:
            self.put(depth, f"if {self.condition()}:")
            self.statement(depth + 1, rest - 1)
            if self.random.random() < 0.4:
                self.put(depth, "else:")
                self.statement(depth + 1, rest - 1)
        elif kind < 0.92 and self.loops:
            name, v = self.new("t"), self.random.choice(self.loops)[0]
            self.put(depth, f"{name}: T.{'int64' if self.wide else 'int32'} = {v} * {self.number(self.random.randint(1, 3))} + {self.number(self.random.randint(0, 3))}")
            self.loops.append((name, 1000))
            self.statement(depth, rest - 1)
        elif kind < 0.95:
            self.put(depth, f'assert {self.condition()}, "no"')
            self.statement(depth, rest - 1)
        elif not self.has_blocks:
            self.local(depth, rest - 1)
        else:
            self.statement(depth, rest - 1)
        self.loops = kept

    # ---- The function ----

    def signature(self):
        names = "ABCD"[: self.random.randint(2, 4)]
        for name in names:
            self.buffers[name] = (self.shape([1, 1, 2, 2, 3]), self.random.choice(DTYPES))
        self.outputs = list(names[1:] if len(names) < 4 else names[2:])
        if self.symbolic:
            parameters = [f"{name.lower()}: T.handle" for name in names] + [f"n: T.{'int64' if self.wide else 'int32'}"]
        else:
            parameters = [f'{name}: T.Buffer({self.tuple_text(self.buffers[name][0])}, "{self.buffers[name][1]}")' for name in names]
        self.put(1, f"def main({', '.join(parameters)}):")
        if self.random.random() < 0.5:
            self.put(2, 'T.func_attr({"tirx.noalias": True})')
        for name in names if self.symbolic else "":
            self.put(2, f'{name} = T.match_buffer({name.lower()}, {self.tuple_text(self.buffers[name][0])}, "{self.buffers[name][1]}")')

    def text(self):
        self.signature()
        for _ in range(self.random.choice([0, 1, 1, 2]) if self.has_blocks else 0):
            name, shape, dtype = self.new("W"), self.shape([1, 2]), self.random.choice(DTYPES[:8])
            scope = self.random.choice(["", "", "", ', scope="local"'])
            self.put(2, f'{name} = T.sblock_alloc_buffer({self.tuple_text(shape)}, "{dtype}"{scope})')
            self.buffers[name] = (shape, dtype)
            self.block(2, name)
        for _ in range(self.random.choice([1, 1, 2, 3])):
            self.statement(2, self.random.choice([1, 2, 3]))
        return HEAD + "\n".join(self.lines) + "\n"


def program(number):
    return Program(number).text()
