"""Types of the values in random Relax modules (relax_programs.py), and steps that are about data types, sizes and dataflow blocks."""
import collections

Tensor = collections.namedtuple("Tensor", "dims dtype", defaults=["float32"])
Shape = collections.namedtuple("Shape", "dims")
NUMBER = "number"  # int64
DTYPES = ["float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool"]


def type_text(t, quoted=False):
    """The type in a function, or in its signature."""
    def dims(of):
        said = [f'"{d}"' if quoted and not d.isdigit() else d for d in of]
        return ", ".join(said)
    if t == NUMBER:
        return 'R.Prim("int64")'
    if isinstance(t, Shape):
        return f"R.Shape([{dims(t.dims)}])"
    if isinstance(t, Tensor):
        return f"R.Tensor(({dims(t.dims)}{',' if len(t.dims) == 1 else ''}), \"{t.dtype}\")"
    return f"R.Tuple({', '.join(type_text(f, quoted) for f in t)})"


def is_tuple(t):
    return isinstance(t, tuple) and not isinstance(t, (Tensor, Shape))


class Steps:
    """What the functions in the making have besides the steps of relax_programs.py."""

    def any_tensor(self, accept=lambda t: True):
        found = self.some(lambda t: isinstance(t, Tensor) and accept(t))
        return self.r.choice(found) if found else (None, None)

    def typed(self):
        """Another data type. Floats become integers by way of a range that has a place in each."""
        v, t = self.any_tensor()
        dtype = self.r.choice(DTYPES)
        if t.dtype.startswith("float") and "int" in dtype:
            v = self.bind(f"R.clip({v}, R.prim_value({0 if dtype[0] == 'u' else -9}), R.prim_value(9))", t)
        self.bind(f"R.astype({v}, \"{dtype}\")", Tensor(t.dims, dtype))

    def mixed(self):
        """Arithmetic of other data types than float32."""
        v, t = self.any_tensor(lambda t: t.dtype != "float32")
        if not v:
            return
        w, _ = self.any_tensor(lambda u: u == t)
        if t.dtype == "bool":
            self.bind(self.r.choice([f"R.logical_{self.r.choice(['and', 'or', 'xor'])}({v}, {w})", f"R.logical_not({v})"]), t)
        elif "int" in t.dtype and self.r.random() < 0.4:
            kind = self.r.choice(["floor_divide", "bitwise_and", "bitwise_xor", "minimum"])
            self.bind(f"R.{kind}({v}, R.const({self.r.randrange(1, 5)}, \"{t.dtype}\"))", t)
        else:
            self.bind(f"R.{self.r.choice(['add', 'multiply', 'subtract', 'maximum'])}({v}, {w})", t)

    def judged(self):
        """Tensors of bool, and choices by them."""
        v, t = self.any_tensor(lambda t: t.dtype != "bool")
        w, _ = self.any_tensor(lambda u: u == t)
        b = self.bind(f"R.{self.r.choice(['less', 'equal', 'greater_equal', 'not_equal'])}({v}, {w})", Tensor(t.dims, "bool"))
        if self.r.random() < 0.5:
            self.bind(f"R.where({b}, {w}, {v})", t)

    def named(self):
        """Sizes under new names."""
        v, t = self.r.choice(self.some(lambda t: isinstance(t, (Tensor, Shape)) and len(t.dims) > 0 and (isinstance(t, Shape) or t.dtype == "float32")))
        i = [self.new_name() for _ in t.dims]
        self.say(f"{', '.join(i)} = {', '.join(['T.int64()'] * len(i))}")
        to = Shape(tuple(i)) if isinstance(t, Shape) else Tensor(tuple(i))
        self.bind(f"R.match_cast({v}, {type_text(to)})", to)
        if self.r.random() < 0.6:
            dims = tuple(self.r.choice([d, d, f"({d} + 1)"]) for d in i)
            self.bind(f"R.{self.r.choice(['ones', 'zeros'])}(R.shape([{', '.join(dims)}]), \"float32\")", Tensor(dims))

    def part(self):
        """A part of a tensor, or one with another axis."""
        v, t = self.any_tensor(lambda t: len(t.dims) in (1, 2))
        if t.dims[-1] == "4" and self.r.random() < 0.5:
            begin = self.r.randrange(3)
            end = self.r.randrange(begin + 1, 5)
            self.bind(f"R.strided_slice({v}, axes=[{len(t.dims) - 1}], begin=[{begin}], end=[{end}])", Tensor(t.dims[:-1] + (str(end - begin),), t.dtype))
        elif self.r.random() < 0.5:
            axis = self.r.randrange(len(t.dims) + 1)
            self.bind(f"R.expand_dims({v}, axis=[{axis}])", Tensor(t.dims[:axis] + ("1",) + t.dims[axis:], t.dtype))
        else:
            self.bind(f"R.broadcast_to({v}, R.shape([{', '.join(('3',) + t.dims)}]))", Tensor(("3",) + t.dims, t.dtype))

    def fixed(self):
        """A constant, and what is computed with it."""
        numbers = ", ".join(str(self.r.randrange(-8, 9) / 4) for _ in range(4))
        v = self.bind(f"R.add(R.const([{numbers}], \"float32\"), R.const(1.0, \"float32\"))", Tensor(("4",)))
        self.values.pop()
        found = self.some(lambda t: isinstance(t, Tensor) and t.dtype == "float32" and t.dims[-1:] == ("4",))
        w, t = self.r.choice(found)
        self.bind(f"R.{self.r.choice(['add', 'multiply'])}({w}, {v})", t)

    def dataflow(self):
        """A block that gives some of its values."""
        if self.depth > 4:
            return
        saved, lines, self.lines, self.flows = list(self.values), self.lines, [], True
        # Names of sizes end with the block, and in a branch TVM's FuseOps fails on casts.
        kinds = [kind for kind in self.module.plain if kind not in (("named",) if self.depth == 2 else ("named", "cast", "helper"))]
        self.depth += 1
        for _ in range(self.r.randrange(1, 6)):
            getattr(self, self.r.choice(kinds))()
        if len(self.values) == len(saved):
            self.unary()
        made = self.values[len(saved):]
        kept = [value for value in made if self.r.random() < 0.4] or made[-1:]
        self.say(f"R.output({', '.join(v for v, _ in kept)})")
        self.depth, self.flows = self.depth - 1, False
        self.lines, self.values = lines + ["    " * self.depth + "with R.dataflow():"] + self.lines, saved + kept
