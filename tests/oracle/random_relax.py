"""Relax programs, made from a number: the same for the same number, on any machine.

A program is a module in the spelling of 0.27: a main function with tensors, tuples, shapes and symbolic sizes, dataflow blocks and
plain bindings, branches, closures, calls of small PrimFuncs, of private Relax functions and of packed functions, equal and unused
bindings. Every value has a shape and a dtype that the maker keeps track of, so that what it writes is well typed.
"""
import random

HEAD = "@I.ir_module\nclass Module:\n"
DTYPES = ["float32"] * 6 + ["float16", "float64", "int32", "int64"]
UNARY = ["nn.relu", "nn.gelu", "nn.silu", "exp", "tanh", "sigmoid", "sqrt", "rsqrt", "erf", "cos", "negative", "abs"]
BINARY = ["add", "subtract", "multiply", "maximum", "minimum"]
COMPARE = ["less", "greater_equal", "equal"]


def shape_text(shape):
    return "(" + "".join(f"{size}, " for size in shape).rstrip(" " if len(shape) == 1 else ", ") + ")"


def tensor_text(shape, dtype):
    return f'R.Tensor({shape_text(shape)}, dtype="{dtype}")'


def number_text(value, dtype):
    value = f"{value}.0" if "float" in dtype else f"{value != 0}" if dtype == "bool" else str(value)
    return f'R.const({value}, "{dtype}")'


class PrimFuncs:
    """Small PrimFuncs, one for each kind, shape and dtype that a program asks for."""

    def __init__(self):
        self.made, self.lines = {}, []

    def name(self, kind, shape, dtype, outputs=1):
        key = (kind, shape, dtype, outputs)
        if key not in self.made:
            self.made[key] = f"kernel{len(self.made)}"
            self.write(self.made[key], *key)
        return self.made[key]

    def write(self, name, kind, shape, dtype, outputs):
        sizes = [size if isinstance(size, str) else f"T.int64({size})" for size in shape]
        symbols = sorted({size for size in shape if isinstance(size, str)})
        names = ["A", "B"][: 2 if kind == "binary" else 1] + [f"O{k}" for k in range(outputs)]
        put = self.lines.append
        put("    @T.prim_func(private=True, s_tir=True)")
        if symbols:
            put(f"    def {name}({', '.join(f'p{n}: T.handle' for n in names)}):")
            for symbol in symbols:
                put(f"        {symbol} = T.int64()")
            for n in names:
                put(f'        {n} = T.match_buffer(p{n}, ({", ".join(sizes)},), "{dtype}")')
        else:
            kind_of = f'T.Buffer(({", ".join(sizes)},), "{dtype}")'
            put(f"    def {name}({', '.join(f'{n}: {kind_of}' for n in names)}):")
        loops, axes = [f"i{k}" for k in range(len(shape))], [f"v{k}" for k in range(len(shape))]
        for k in range(outputs):
            put(f"        for {', '.join(loops)} in T.grid({', '.join(sizes)}):" if len(shape) > 1 else f"        for {loops[0]} in range({sizes[0]}):")
            put(f'            with T.sblock("{name}_{k}"):')
            for axis, size, loop in zip(axes, sizes, loops):
                put(f"                {axis} = T.axis.spatial({size}, {loop})")
            element = "[" + ", ".join(axes) + "]"
            one = f"T.{dtype}({k + 1})" if "float" not in dtype else f"T.{dtype}({k + 1}.0)"
            value = {"unary": f"A{element} + {one}", "binary": f"A{element} * B{element} + {one}", "clamp": f"T.max(A{element}, {one})"}[kind]
            put(f"                O{k}{element} = {value}")
        put("")


class Program:
    """One module. `values` are the bindings in scope: (name, shape, dtype), and tuples with a list of those in the place of a shape."""

    def __init__(self, number):
        self.random = random.Random(number)
        self.kernels, self.lines, self.functions, self.names = PrimFuncs(), [], [], 0
        self.sizes = [1, 2, 3, 4, 8] + (["n"] * 3 if self.random.random() < 0.35 else []) + (["m"] if self.random.random() < 0.1 else [])

    def new(self):
        self.names += 1
        return f"x{self.names}"

    def shape(self, rank=None):
        return tuple(self.random.choice(self.sizes) for _ in range(rank if rank is not None else self.random.choice([1, 2, 2, 2, 3])))

    def tensors(self, accept=lambda shape, dtype: True):
        return [v for v in self.values if not isinstance(v[1], list) and accept(v[1], v[2])]

    def pick(self, accept=lambda shape, dtype: True):
        """A tensor, more often a late one; None where none is accepted."""
        found = self.tensors(accept)
        if not found:
            return None
        return self.random.choice(found[-3:] if self.random.random() < 0.6 else found)

    def bind(self, depth, text, shape, dtype):
        name = self.new()
        self.lines.append("    " * depth + f"{name} = {text}")
        self.values.append((name, shape, dtype))
        self.said[name] = text
        return self.values[-1]

    # ---- Bindings: each writes one or more, or nothing where no value fits ----

    def unary(self, depth):
        v = self.pick(lambda shape, dtype: "float" in dtype)
        if v:
            self.bind(depth, f"R.{self.random.choice(UNARY)}({v[0]})", v[1], v[2])

    def binary(self, depth):
        v = self.pick()
        if not v or v[2] == "bool":
            return
        same = self.tensors(lambda shape, dtype: dtype == v[2] and shape in (v[1], v[1][1:], tuple(1 for _ in v[1])))
        other = self.random.choice(same)[0] if same and self.random.random() < 0.75 else number_text(self.random.randint(0, 2), v[2])
        self.bind(depth, f"R.{self.random.choice(BINARY)}({v[0]}, {other})", v[1], v[2])

    def select(self, depth):
        v = self.pick(lambda shape, dtype: dtype != "bool")
        if v:
            test = self.bind(depth, f"R.{self.random.choice(COMPARE)}({v[0]}, {number_text(1, v[2])})", v[1], "bool")
            self.bind(depth, f"R.where({test[0]}, {v[0]}, {number_text(0, v[2])})", v[1], v[2])

    def reduce(self, depth):
        v = self.pick(lambda shape, dtype: "float" in dtype and len(shape) > 1)
        if v:
            axis, keep = self.random.randrange(len(v[1])), self.random.random() < 0.5
            shape = tuple(1 if k == axis else size for k, size in enumerate(v[1]) if keep or k != axis)
            self.bind(depth, f"R.{self.random.choice(['sum', 'max', 'mean'])}({v[0]}, axis=[{axis}], keepdims={keep})", shape, v[2])

    def move(self, depth):
        v = self.pick(lambda shape, dtype: len(shape) > 0)
        if not v:
            return
        kind, rank = self.random.randrange(5), len(v[1])
        if kind == 0:
            order = list(range(rank))
            self.random.shuffle(order)
            self.bind(depth, f"R.permute_dims({v[0]}, axes={order})", tuple(v[1][k] for k in order), v[2])
        elif kind == 1:
            axis = self.random.randrange(rank + 1)
            self.bind(depth, f"R.expand_dims({v[0]}, axis=[{axis}])", v[1][:axis] + (1,) + v[1][axis:], v[2])
        elif kind == 2 and rank > 1:
            self.bind(depth, f"R.reshape({v[0]}, R.shape([{', '.join(map(str, v[1][::-1]))}]))", v[1][::-1], v[2])
        elif kind == 3 and isinstance(v[1][0], int) and v[1][0] > 1:
            self.bind(depth, f"R.strided_slice({v[0]}, axes=[0], begin=[1], end=[{v[1][0]}])", (v[1][0] - 1,) + v[1][1:], v[2])
        elif v[2] != "bool":
            dtype = self.random.choice(["float32", "float16", "int32"])
            self.bind(depth, f'R.astype({v[0]}, dtype="{dtype}")', v[1], dtype)

    def multiply(self, depth):
        v = self.pick(lambda shape, dtype: "float" in dtype and len(shape) == 2)
        if v:
            fits = self.tensors(lambda shape, dtype: dtype == v[2] and len(shape) == 2 and shape[0] == v[1][1])
            other = self.random.choice(fits) if fits else self.bind(depth, f"R.permute_dims({v[0]})", v[1][::-1], v[2])
            self.bind(depth, f"R.matmul({v[0]}, {other[0]})", (v[1][0], other[1][1]), v[2])

    def normal(self, depth):
        v = self.pick(lambda shape, dtype: "float" in dtype and len(shape) > 1)
        if v:
            self.bind(depth, f"R.nn.{self.random.choice(['softmax', 'log_softmax'])}({v[0]}, axis=-1)", v[1], v[2])

    def join(self, depth):
        v = self.pick(lambda shape, dtype: len(shape) > 0 and isinstance(shape[0], int))
        if v and self.random.random() < 0.5:
            same = self.random.choice(self.tensors(lambda shape, dtype: (shape, dtype) == v[1:]))
            self.bind(depth, f"R.concat(({v[0]}, {same[0]}), axis=0)", (v[1][0] * 2,) + v[1][1:], v[2])
        elif v and v[1][0] % 2 == 0:
            half = ((v[1][0] // 2,) + v[1][1:], v[2])
            parts = self.bind(depth, f"R.split({v[0]}, 2, axis=0)", [half, half], None)
            self.bind(depth, f"{parts[0]}[{self.random.randrange(2)}]", *half)

    def create(self, depth):
        shape, dtype = self.shape(), self.random.choice(DTYPES)
        if not all(isinstance(size, int) or size in self.symbols for size in shape):
            return
        text = f"R.{self.random.choice(['zeros', 'ones'])}(R.shape([{', '.join(map(str, shape))}]), dtype=\"{dtype}\")"
        self.bind(depth, text, shape, dtype)

    def kernel(self, depth):
        v = self.pick(lambda shape, dtype: dtype != "bool" and len(shape) > 0)
        if not v:
            return
        kind = self.random.choice(["unary", "binary", "clamp"])
        outputs = self.random.choice([1, 1, 1, 2])
        operands = [v[0]]
        if kind == "binary":
            operands.append(self.random.choice(self.tensors(lambda shape, dtype: (shape, dtype) == v[1:]))[0])
        name = self.kernels.name(kind, v[1], v[2], outputs)
        given = "(" + ", ".join(operands) + ("," if len(operands) == 1 else "") + ")"
        types = [tensor_text(v[1], v[2])] * outputs
        out = types[0] if outputs == 1 else "[" + ", ".join(types) + "]"
        made = self.bind(depth, f"R.call_tir(cls.{name}, {given}, out_ty={out})", v[1] if outputs == 1 else [v[1:]] * outputs, v[2] if outputs == 1 else None)
        if outputs > 1:
            for k in self.random.sample(range(outputs), self.random.randint(1, outputs)):
                self.bind(depth, f"{made[0]}[{k}]", *v[1:])

    def tuples(self, depth):
        tuples = [v for v in self.values if isinstance(v[1], list)]
        if tuples and self.random.random() < 0.6:
            name, parts, _ = self.random.choice(tuples)
            k = self.random.randrange(len(parts))
            self.bind(depth, f"{name}[{k}]", *parts[k])
            return
        parts = [v for v in (self.pick() for _ in range(self.random.randint(1, 3))) if v]
        if parts:
            self.bind(depth, "(" + ", ".join(p[0] for p in parts) + ("," if len(parts) == 1 else "") + ")", [p[1:] for p in parts], None)

    def again(self, depth):
        """An equal binding, or another name of a value."""
        v = self.random.choice(self.values)
        if self.random.random() < 0.5 and v[0] in self.said:
            self.bind(depth, self.said[v[0]], *v[1:])
        else:
            self.bind(depth, v[0], *v[1:])

    def packed(self, depth):
        v = self.pick()
        if v:
            self.bind(depth, f'R.call_pure_packed("test.{self.random.choice("ab")}", {v[0]}, ty_args=({tensor_text(*v[1:])},))', *v[1:])

    def subroutine(self, depth):
        """A call of a private function of the module, made for it or there already."""
        fits = [(f, v) for f in self.functions for v in self.tensors(lambda shape, dtype: (shape, dtype) == f[1:])]
        if fits and self.random.random() < 0.6:
            f, v = self.random.choice(fits)
        else:
            v = self.pick(lambda shape, dtype: "float" in dtype and all(isinstance(size, int) for size in shape))
            if not v or len(self.functions) > 2:
                return
            f = (f"sub{len(self.functions)}", *v[1:])
            self.functions.append(f)
        self.bind(depth, f"cls.{f[0]}({v[0]})", *v[1:])

    # ---- Blocks ----

    PLAIN = ["unary"] * 5 + ["binary"] * 6 + ["select", "reduce", "move", "move", "multiply", "normal", "join", "create"]
    PURE = PLAIN + ["kernel"] * 4 + ["tuples", "tuples", "again", "again", "packed", "subroutine"]

    def some(self, depth, count):
        for _ in range(count):
            getattr(self, self.random.choice(self.PURE))(depth)

    def dataflow(self, depth):
        self.lines.append("    " * depth + "with R.dataflow():")
        before, said = len(self.values), dict(self.said)
        self.some(depth + 1, self.random.randint(1, 7))
        made = self.values[before:]
        if not made:
            self.values.append(self.bind(depth + 1, self.values[0][0], *self.values[0][1:]))
            made = self.values[before:]
        kept = [v for v in made if self.random.random() < 0.3] or made[-1:]
        self.lines.append("    " * (depth + 1) + f"R.output({', '.join(dict.fromkeys(v[0] for v in kept))})")
        self.values = self.values[:before] + [v for v in made if v in kept]
        self.said = said

    def branch(self, depth):
        v = self.pick(lambda shape, dtype: "float" in dtype)
        if not v:
            return
        result = self.new()
        for word in ("if c:", "else:"):
            self.lines.append("    " * depth + word)
            values, said = list(self.values), dict(self.said)
            self.some(depth + 1, self.random.randint(0, 3))
            operator = self.random.choice(UNARY)
            self.lines.append("    " * (depth + 1) + f"{result} = R.{operator}({v[0]})")
            self.values, self.said = values, said
        self.values.append((result, *v[1:]))

    def closure(self, depth):
        """A function in the function, that may use a value of the outer one."""
        v = self.pick(lambda shape, dtype: "float" in dtype)
        if not v:
            return
        name, argument, inner, outer = self.new(), self.new(), self.new(), self.random.choice(self.tensors(lambda shape, dtype: (shape, dtype) == v[1:]))
        pad, kind = "    " * depth, tensor_text(*v[1:])
        self.lines += [f"{pad}@R.function", f"{pad}def {name}({argument}: {kind}) -> {kind}:"]
        second = outer[0] if self.random.random() < 0.6 else argument
        self.lines += [f"{pad}    {inner} = R.{self.random.choice(BINARY)}({argument}, {second})", f"{pad}    return {inner}"]
        self.bind(depth, f"{name}({v[0]})", *v[1:])

    def body(self, depth, parts):
        for _ in range(parts):
            kind = self.random.random()
            if kind < 0.6:
                self.dataflow(depth)
            elif kind < 0.7 and self.has_condition:
                self.branch(depth)
            elif kind < 0.75 and self.has_condition:
                self.closure(depth)
            else:
                self.some(depth, self.random.randint(1, 4))

    def open(self, name, parameters, private):
        self.values, self.said = [(n, shape, dtype) for n, shape, dtype in parameters if isinstance(shape, tuple)], {}
        self.symbols = {size for _, shape, _ in self.values for size in shape if isinstance(size, str)}
        quoted = [(n, tuple(f'"{size}"' if isinstance(size, str) else size for size in shape), dtype) for n, shape, dtype in parameters]
        text = ", ".join(f"{n}: {tensor_text(shape, dtype)}" for n, shape, dtype in quoted)
        result = f" -> {tensor_text(*parameters[0][1:])}" if private else ""
        self.lines += ["    @R.function(private=True)" if private else "    @R.function", f"    def {name}({text}){result}:"]
        self.lines += [f"        {symbol} = T.int64()" for symbol in sorted(self.symbols)] + ["        cls = Module"]

    def main(self):
        parameters = [(f"a{k}", self.shape(), self.random.choice(DTYPES)) for k in range(self.random.randint(2, 4))]
        parameters.append(("b", self.random.choice(parameters)[1], "float32"))
        self.has_condition = self.random.random() < 0.5
        if self.has_condition:
            parameters.append(("c", (), "bool"))
        self.open("main", parameters, False)
        self.values = [v for v in self.values if v[0] != "c"]
        self.body(2, self.random.randint(1, 3))
        late = self.values[-1:] if self.random.random() < 0.6 else [self.random.choice(self.values) for _ in range(2)]
        self.lines += [f"        return {late[0][0] if len(late) == 1 else '(' + ', '.join(v[0] for v in late) + ')'}", ""]

    def sub(self, name, shape, dtype):
        self.has_condition = False
        self.open(name, [("p", shape, dtype)], True)
        self.unary(2)
        for _ in range(self.random.randint(0, 2)):
            getattr(self, self.random.choice(["unary", "binary", "kernel"]))(2)
        same = self.tensors(lambda *kind: kind == (shape, dtype))
        self.lines += [f"        return {same[-1][0]}", ""]

    def text(self):
        self.main()
        k = 0
        while k < len(self.functions):
            self.sub(*self.functions[k])
            k += 1
        return HEAD + "\n".join(self.kernels.lines + self.lines)


def program(number):
    return Program(number).text()
