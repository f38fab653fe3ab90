"""What random networks are made with: values with shape and data type, parameters, and the text of a function.

A number makes the same network on any machine. The steps are in network_layers.py (what learns: convolutions, products, norms, attention) and
network_moves.py (what moves, picks, joins, counts and compares).
"""
import dataclasses, random

HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
FLOATS = ["float32"] * 14 + ["float16"] * 2 + ["bfloat16", "float64"]
SIZES = [1, 2, 3, 5, 6, 7, 16, 17, 33]  # of symbols, and of what has no other use
# Channels, widths and lengths of what learns, and the most elements of a value: of small networks and of large ones, which fill tiles and caches.
SMALL = ([1, 2, 3, 4, 8, 16, 17, 32], 1 << 14)
LARGE = ([3, 8, 16, 24, 31, 32, 48, 64, 65, 96, 130], 1 << 18)
HUGE = ([16, 32, 48, 64, 128], 1 << 22)
KINDS_OF_8_BITS = ["float8_e4m3fn", "float8_e4m3fn", "float8_e5m2", "float8_e5m2", "float8_e4m3", "float8_e3m4", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]
SPACE = [4, 5, 7, 8, 12]  # of an axis of an image that is a symbol
LONG = [31, 64, 65, 100, 130, 256]  # of symbols, too, in large ones


@dataclasses.dataclass(frozen=True)
class Value:
    """`exact`: no sum or function has rounded it, so that it may be compared, sorted and counted."""
    name: str
    shape: tuple
    dtype: str
    exact: bool = False

    @property
    def rank(self):
        return len(self.shape)

    @property
    def real(self):
        return "float" in self.dtype and not self.small

    @property
    def small(self):
        """Eight bits: moved and converted only."""
        return "float8" in self.dtype

    def known(self, *axes):
        return all(isinstance(self.shape[axis], int) for axis in axes or range(self.rank))


def shape_text(shape):
    return "(" + "".join(f"{size}, " for size in shape).rstrip(" " if len(shape) == 1 else ", ") + ")"


def tensor_text(shape, dtype):
    named = [f'"{size}"' if isinstance(size, str) else size for size in shape]
    return f'R.Tensor({shape_text(named)}, dtype="{dtype}")'


class Maker:
    """One function `main`. Parameters have a kind, by which values are made: real, weight, positive, bool, int, or the end of a range of indices."""

    def __init__(self, number):
        self.random = random.Random(number)
        self.lines, self.params, self.values, self.names = [], [], [], 0
        self.sizes = {}  # of symbols, in a run
        self.real = self.choose(FLOATS)
        self.huge = self.chance(0.03)
        self.large = self.huge or self.chance(0.3)
        self.widths, self.most = HUGE if self.huge else LARGE if self.large else SMALL
        self.last = self.random.random() < 0.35  # channels of images are the last axis

    # ---- Chance ----

    def choose(self, items):
        return self.random.choice(items)

    def chance(self, share):
        return self.random.random() < share

    def number(self, low, high):
        return self.random.randint(low, high)

    def factor(self, size, most=1 << 30):
        return self.choose([n for n in range(1, size + 1) if size % n == 0 and n <= most])

    # ---- Sizes ----

    def symbol(self, name, sizes=()):
        """A size that only the run tells."""
        self.sizes.setdefault(name, self.choose(sizes or (SIZES + LONG if self.large else SIZES)))
        return name

    def size(self, dim):
        """Of a dimension, in a run."""
        return eval(dim, {}, self.sizes) if isinstance(dim, str) else dim

    def count(self, shape):
        product = 1
        for dim in shape:
            product *= self.size(dim)
        return product

    def plus(self, dim, number):
        return dim + number if isinstance(dim, int) else dim if number == 0 else f"{dim} + {number}"

    def over(self, dim, number):
        """Rounded down."""
        return dim // number if isinstance(dim, int) else dim if number == 1 else f"({dim}) // {number}"

    def windows(self, dims, fronts, backs, kernels, strides, dilations, more=0):
        """How many windows fit; `more` is added to what is divided."""
        rows = zip(dims, fronts, backs, kernels, strides, dilations)
        return [self.plus(self.over(self.plus(size, a + b - d * (k - 1) - 1 + more * (s - 1)), s), 1) for size, a, b, k, s, d in rows]

    def least(self, dims):
        return min(self.size(dim) for dim in dims)

    def times(self, dims):
        """The product of dimensions, as a dimension."""
        number, words = 1, []
        for dim in dims:
            if isinstance(dim, int):
                number *= dim
            else:
                words.append(dim if dim.isidentifier() else f"({dim})")
        if not words:
            return number
        return " * ".join(words + ([str(number)] if number != 1 else []))

    # ---- Values ----

    def param(self, shape, dtype, kind, prefix="w"):
        name = f"{prefix}{len(self.params)}"
        self.params.append((name, tuple(shape), dtype, kind))
        return Value(name, tuple(shape), dtype, kind != "weight")

    def input(self, shape, dtype=None, kind="real"):
        self.values.append(self.param(shape, dtype or self.real, kind, "x"))
        return self.values[-1]

    def weight(self, shape, dtype=None, kind="weight"):
        """A parameter, now and then one that is there already."""
        key = (tuple(shape), dtype or self.real, kind)
        same = [p for p in self.params if p[1:] == key and p[0].startswith("w")]
        if same and self.chance(0.3):
            return Value(self.choose(same)[0], tuple(shape), dtype or self.real)
        return self.param(shape, dtype or self.real, kind)

    def bind(self, text, shape, dtype, exact=False):
        self.names += 1
        self.lines.append(f"lv{self.names} = {text}")
        self.values.append(Value(f"lv{self.names}", tuple(shape), dtype, exact))
        return self.values[-1]

    def bind_tuple(self, text):
        """The name of a tuple, whose fields the caller binds."""
        self.names += 1
        self.lines.append(f"lv{self.names} = {text}")
        return f"lv{self.names}"

    def const(self, number, dtype):
        return f'R.const({number}, "{dtype}")'

    def recent(self, accept=lambda v: True):
        """A value that fits, more often a late one; None if there is none."""
        found = [v for v in self.values if accept(v)]
        if not found:
            return None
        return self.choose(found[-2:] if self.chance(0.7) else found)

    # ---- The text ----

    def results(self):
        """The last value, often with others, some of them in a tuple of their own."""
        others = [v for v in self.values[:-1] if v.name.startswith("lv")]
        picked = self.random.sample(others, min(len(others), self.choose([0, 0, 1, 2])))
        names = [self.values[-1].name] + [v.name for v in picked]
        if len(names) == 1:
            return names[0] if self.chance(0.8) else f"({names[0]},)"
        if len(names) == 3 and self.chance(0.4):
            return f"({names[0]}, ({names[1]}, {names[2]}))"
        return "(" + ", ".join(names) + ")"

    def text(self):
        words = ", ".join(f"{name}: {tensor_text(shape, dtype)}" for name, shape, dtype, _ in self.params)
        symbols = [f"        {name} = T.int64()\n" for name in self.sizes]
        results, lines = self.results(), list(self.lines)
        if self.chance(0.8):
            lines.append(f"gv = {results}")
            lines = ["with R.dataflow():"] + ["    " + line for line in lines + ["R.output(gv)"]]
            results = "gv"
        body = "".join(f"        {line}\n" for line in lines + [f"return {results}"])
        return f"{HEAD}    @R.function\n    def main({words}):\n{''.join(symbols)}{body}"
