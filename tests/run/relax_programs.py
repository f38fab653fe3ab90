"""Random Relax modules: branches, recursion, local functions, nested tuples, symbolic sizes, numbers and shapes as values, match_cast,
calls of PrimFuncs with several outputs and in place, packed functions, dataflow blocks, tensors of many data types. A number is a module, and its arguments.
More steps are in relax_steps.py."""
import random

from relax_steps import NUMBER, Shape, Steps, Tensor, is_tuple, type_text

HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n\n@I.ir_module\nclass Module:\n"
SIGNATURE = [
    ("x", Tensor(("n", "4"))), ("y", Tensor(("n", "4"))), ("w", Tensor(("4", "m"))), ("b", Tensor(("4",))), ("j", Tensor(("n", "4"), "int32")),
    ("u", (Tensor(("m",)), NUMBER)), ("t", (Tensor(("n", "m")), (Tensor(("m",), "int32"), Shape(("n", "q"))), Tensor(("2",)))),
    ("k", NUMBER), ("c", Tensor((), "bool")), ("s", Shape(("n", "p"))),
]
SYMBOLS = "n, m, p, q = T.int64(), T.int64(), T.int64(), T.int64()"

# PrimFuncs: name, their text, sizes of the arguments and of the results. Sizes n and m are those of the arguments.
KERNELS = {
    "halved": """    @T.prim_func(private=True, s_tir=True)
    def halved(a: T.handle, b: T.handle):
        n, m = T.int64(), T.int64()
        A = T.match_buffer(a, (n, m))
        B = T.match_buffer(b, (n, m))
        for i, j in T.grid(n, m):
            with T.sblock("halved"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] * T.float32(0.5)
""",
    "sums": """    @T.prim_func(private=True, s_tir=True)
    def sums(a: T.handle, r: T.handle, c: T.handle):
        n, m = T.int64(), T.int64()
        A = T.match_buffer(a, (n, m))
        R_ = T.match_buffer(r, (n,))
        C = T.match_buffer(c, (m,))
        for i, j in T.grid(n, m):
            with T.sblock("rows"):
                vi, vj = T.axis.remap("SR", [i, j])
                with T.init():
                    R_[vi] = T.float32(0)
                R_[vi] = R_[vi] + A[vi, vj]
        for j, i in T.grid(m, n):
            with T.sblock("columns"):
                vj, vi = T.axis.remap("SR", [j, i])
                with T.init():
                    C[vj] = T.float32(0)
                C[vj] = C[vj] + A[vi, vj]
""",
    "grown": """    @T.prim_func(private=True, s_tir=True)
    def grown(a: T.handle):
        n, m = T.int64(), T.int64()
        A = T.match_buffer(a, (n, m))
        for i, j in T.grid(n, m):
            with T.sblock("grown"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = A[vi, vj] + T.float32(1)
""",
    "shifted": """    @T.prim_func(private=True, s_tir=True)
    def shifted(a: T.handle, k: T.int64, b: T.handle):
        n, m = T.int64(), T.int64()
        A = T.match_buffer(a, (n, m))
        B = T.match_buffer(b, (n, m))
        for i, j in T.grid(n, m):
            with T.sblock("shifted"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj] + T.Cast("float32", k)
""",
}


class Function(Steps):
    """One function in the making: its statements, and the values that there are so far."""

    def __init__(self, module, name, params, depth=2):
        self.module, self.r, self.name = module, module.r, name
        self.values, self.lines, self.depth, self.flows = list(params), [], depth, False
        self.conditions = ["c", "R.prim_value(k > 3)", "R.prim_value(n > k)"] if name.startswith("main") else []

    def new_name(self):
        self.module.names += 1
        return f"v{self.module.names}"

    def say(self, line):
        self.lines.append("    " * self.depth + line)

    def bind(self, text, t, name=None):
        v = name or self.new_name()
        self.say(f"{v} = {text}")
        self.values.append((v, t))
        return v

    def some(self, wanted):
        return [(v, t) for v, t in self.values if wanted(t)]

    def tensors(self, dtype="float32", rank=None):
        return self.some(lambda t: isinstance(t, Tensor) and t.dtype == dtype and rank in (None, len(t.dims)))

    def pick(self, rank=None):
        found = self.tensors(rank=rank)
        return self.r.choice(found) if found else (None, None)

    def number(self):
        """An expression of sizes and numbers."""
        names = [v for v, t in self.values if t == NUMBER] + ["n", "m"]
        return self.r.choice(["{a} + {b}", "{a} * 2", "{a} * {b} + 1", "{a} - {b}", "{a}", "T.max({a}, {b})"]).format(a=self.r.choice(names), b=self.r.choice(names))

    # ---- Steps: each says something, or nothing where the values do not fit ----

    def unary(self):
        v, t = self.pick()
        self.bind(f"R.{self.r.choice(['nn.relu', 'abs', 'negative', 'square'])}({v})", t)

    def scaled(self):
        v, t = self.pick()
        self.bind(f"R.{self.r.choice(['add', 'multiply'])}({v}, R.const({self.r.choice(['0.5', '2.0', '-1.25'])}, \"float32\"))", t)

    def binary(self):
        v, t = self.pick()
        w, _ = self.r.choice([(w, u) for w, u in self.tensors() if u == t or (len(u.dims) == 1 and len(t.dims) > 1 and u.dims[0] == t.dims[-1])])
        self.bind(f"R.{self.r.choice(['add', 'subtract', 'maximum', 'minimum', 'multiply'])}({v}, {w})", t)

    def chosen(self):
        v, t = self.pick()
        w, _ = self.r.choice([(w, u) for w, u in self.tensors() if u == t])
        b = self.bind(f"R.greater({v}, {w})", Tensor(t.dims, "bool"))
        self.bind(f"R.where({b}, {w}, {v})", t)

    def whole(self):
        found = self.tensors("int32")
        v, t = self.r.choice(found) if found else (None, None)
        if not v:
            return
        if self.r.random() < 0.5:
            self.bind(f"R.astype({v}, \"float32\")", Tensor(t.dims))
        else:
            w, _ = self.r.choice([(w, u) for w, u in found if u == t])
            self.bind(f"R.{self.r.choice(['add', 'multiply', 'maximum'])}({v}, {w})", t)

    def flat(self):
        v, t = self.pick(2)
        if v and all(d.isalnum() for d in t.dims):
            self.bind(f"R.reshape({v}, R.shape([{t.dims[0]} * {t.dims[1]}]))", Tensor((f"{t.dims[0]} * {t.dims[1]}",)))

    def turned(self):
        v, t = self.pick(2)
        if v:
            self.bind(f"R.permute_dims({v})", Tensor(t.dims[::-1]))

    def summed(self):
        v, t = self.pick(2)
        if v:
            axis = self.r.randrange(2)
            self.bind(f"R.sum({v}, axis={axis})", Tensor((t.dims[1 - axis],)))

    def product(self):
        found = [(a, t, b, u) for a, t in self.tensors(rank=2) for b, u in self.tensors(rank=2) if t.dims[1] == u.dims[0]]
        if found:
            a, t, b, u = self.r.choice(found)
            self.bind(f"R.matmul({a}, {b})", Tensor((t.dims[0], u.dims[1])))

    def joined(self):
        v, t = self.pick(2)
        if v and t.dims[0].isidentifier():
            w, _ = self.r.choice([(w, u) for w, u in self.tensors() if u == t])
            self.bind(f"R.concat(({v}, {w}), axis=0)", Tensor((f"{t.dims[0]} * 2", t.dims[1])))

    def halves(self):
        v, t = self.pick()
        if t.dims and t.dims[-1] == "4":
            self.bind(f"R.split({v}, 2, axis={len(t.dims) - 1})", (Tensor(t.dims[:-1] + ("2",)),) * 2)

    def packed(self):
        items = [self.r.choice(self.values) for _ in range(self.r.randrange(1, 4))]
        if self.r.random() < 0.3:
            a, b = self.r.choice(self.values), self.r.choice(self.values)
            items.append((f"({a[0]}, {b[0]})", (a[1], b[1])))
        self.bind(f"({', '.join(v for v, _ in items)},)", tuple(t for _, t in items))

    def taken(self):
        tuples = self.some(is_tuple)
        if tuples:
            v, t = self.r.choice(tuples)
            i = self.r.randrange(len(t))
            self.bind(f"{v}[{i}]", t[i])

    def sized(self):
        v, t = self.pick()
        self.bind(f"R.shape_of({v})", Shape(t.dims))

    def shape(self):
        v, t = self.pick(2)
        if v and self.r.random() < 0.5:
            self.bind(f"R.shape([{t.dims[1]}, {t.dims[0]}])", Shape((t.dims[1], t.dims[0])))
        else:
            self.bind(f"R.shape([n + 1, m])", Shape(("n + 1", "m")))

    def filled(self):
        v, t = self.pick()
        if all(d.isdigit() for d in t.dims):  # TVM's FuseOps fails where a constant is cast
            return
        shape = f"R.shape([{', '.join(t.dims)}])"
        kind = self.r.choice(["ones", "zeros"])
        self.bind(f"R.{kind}({shape}, \"float32\")" if self.r.random() < 0.5 else f"R.full({shape}, R.const(1.5, \"float32\"), \"float32\")", Tensor(t.dims))

    def counted(self):
        self.bind(f"R.prim_value({self.number()})", NUMBER)

    def cast(self):
        v, t = self.pick()
        self.bind(f"R.match_cast({v}, {type_text(t)})", t)

    # ---- Calls ----

    def kernel(self):
        v, t = self.pick(2)
        if not v:
            return
        kind = self.r.choice(["halved", "sums"] if self.flows else list(KERNELS))  # TVM's FuseTIR fails on the others
        self.module.kernels.add(kind)
        if kind == "halved":
            self.bind(f"R.call_tir(cls.halved, ({v},), {type_text(t)})", t)
        elif kind == "sums":
            r, c = Tensor((t.dims[0],)), Tensor((t.dims[1],))
            self.bind(f"R.call_tir(cls.sums, ({v},), [{type_text(r)}, {type_text(c)}])", (r, c))
        elif kind == "shifted":
            self.bind(f"R.call_tir(cls.shifted, ({v}, {self.r.choice(['n', 'm', 'n + m'])}), {type_text(t)})", t)
        else:  # nobody else may look at what is written over
            shape = f"R.shape([{', '.join(t.dims)}])"
            w = self.bind(self.r.choice([f"R.add({v}, {v})", f"R.zeros({shape}, \"float32\")", f"R.ones({shape}, \"float32\")"]), t)
            self.values.pop()
            self.bind(f"R.call_tir_inplace(cls.grown, ({w},), [0], {type_text(t)})", t)

    def helper(self):
        """A call of a private function, which may call itself, give several values, or know nothing of the sizes."""
        v, t = self.pick()
        if len(t.dims) not in (1, 2):
            return
        kind = self.r.choice(["plain", "again", "cast", "pair", "nest"])
        name = f"{kind}{len(t.dims)}"
        self.module.helpers.add(name)
        if kind == "again":
            w = self.new_name()
            self.say(f"{w}: {type_text(t)} = cls.{name}({v}, R.prim_value({self.r.randrange(0, 4)}))")
            self.values.append((w, t))
        elif kind == "cast":
            w = self.bind(f"cls.{name}({v})", None)
            self.values.pop()
            self.bind(f"R.match_cast({w}, {type_text(t)})", t)
        elif kind == "nest":
            w, u = self.pick(len(t.dims))
            self.bind(f"cls.{name}({v}, ({w}, R.shape([{', '.join(t.dims)}])))", ((u, Shape(t.dims)), (t, (NUMBER, Shape(u.dims)))))
        else:
            self.bind(f"cls.{name}({v})", (t, NUMBER) if kind == "pair" else t)

    def local(self):
        """A local function that holds values of the one around it, called directly."""
        v, t = self.pick()
        if self.depth > 2 or not all(d.isalnum() for d in t.dims):
            return
        w, _ = self.r.choice([(w, u) for w, u in self.tensors() if u == t])
        name, a, b = f"f{self.new_name()}", self.new_name(), self.new_name()
        self.say("@R.function")
        self.say(f"def {name}({a}: {type_text(t)}) -> {type_text(t)}:")
        self.say(f"    {b} = R.{self.r.choice(['add', 'maximum'])}({a}, {w})")
        self.say(f"    return {b}")
        for given in (v, w)[:self.r.randrange(1, 3)]:  # TVM's LowerRuntimeBuiltin forgets the type
            self.bind(f"{name}({given})", None)
            made = self.values.pop()[0]
            self.bind(f"R.match_cast({made}, {type_text(t)})", t)
        self.module.local = True

    def distinct(self):
        """A size that follows from the data."""
        found = self.tensors() + self.tensors("int32")
        if self.depth > 3 or not found:
            return
        v, t = self.r.choice(found)
        u, i = self.new_name(), self.new_name()
        if self.r.random() < 0.6 or not t.dims:
            made = Tensor((i,), t.dtype)
            self.say(f"{u} = R.unique({v}, sorted=True, axis=None)")
        else:
            made = Tensor((str(len(t.dims)), i), "int64")
            self.say(f"{u} = R.nonzero({v})")
        self.say(f"{i} = T.int64()")
        self.bind(f"R.match_cast({u}, {type_text(made)})", made)

    def callable(self):
        """A function as an argument: one of the module, chosen by a branch, a field of a tuple, or a local one that holds a value."""
        v, t = self.pick()
        rank = len(t.dims)
        if rank not in (1, 2) or self.depth > 3:
            return
        names = [f"cls.{self.r.choice(['plain', 'cast'])}{rank}" for _ in range(2)]
        self.module.helpers |= {name[4:] for name in names} | {f"apply{rank}"}
        kind = self.r.choice(["given", "given", "chosen", "field", "called"] + (["held"] if self.module.local and self.depth == 2 and all(d.isalnum() for d in t.dims) else []))
        f = names[0]
        if kind == "chosen" and self.conditions:
            f, g = self.new_name(), self.new_name()
            self.say(f"if {self.r.choice(self.conditions)}:")
            self.say(f"    {g} = {names[0]}")
            self.say("else:")
            self.say(f"    {g} = {names[1]}")
            self.say(f"{f} = R.match_cast({g}, {callable_text(rank)})")
        elif kind in ("field", "called"):
            u, f = self.new_name(), self.new_name()
            self.say(f"{u} = ({', '.join(names)}, {v})")
            self.say(f"{f} = {u}[{self.r.randrange(2)}]")
        elif kind == "held":
            g, a, b, f = (self.new_name() for _ in range(4))
            w, _ = self.r.choice([(w, u) for w, u in self.tensors() if u == t])
            self.say("@R.function")
            self.say(f"def {g}({a}: {type_text(t)}) -> {type_text(t)}:")
            self.say(f"    {b} = R.{self.r.choice(['add', 'maximum'])}({a}, {w})")
            self.say(f"    return {b}")
            self.say(f"{f} = R.match_cast({g}, {callable_text(rank)})")
        if kind == "called":
            w = self.bind(f"{f}({v})", None)
            self.values.pop()
            self.bind(f"R.match_cast({w}, {type_text(t)})", t)
        else:
            self.bind(f"cls.apply{rank}({f}, {v})", t)

    def runtime(self):
        """Functions of the run time by their names."""
        v, t = self.pick()
        if self.r.random() < 0.5 and len(t.dims) == 2:
            to = Tensor(t.dims[::-1])
            self.bind(f"R.call_pure_packed(\"vm.builtin.reshape\", {v}, R.shape([{', '.join(to.dims)}]), ty_args=({type_text(to)},))", to)
        else:
            self.bind(f"R.call_pure_packed(\"vm.builtin.copy\", {v}, ty_args=({type_text(t)},))", t)

    def unknown(self):
        """Branches that give different sizes, which a match_cast names."""
        if not self.conditions or self.depth > 3:
            return
        found = [(a, b) for a in self.tensors(rank=2) for b in self.tensors(rank=2) if a[1] != b[1]]
        if not found:
            return
        (a, _), (b, _) = self.r.choice(found)
        v, w, i, j = self.new_name(), self.new_name(), self.new_name(), self.new_name()
        self.say(f"if {self.r.choice(self.conditions)}:")
        self.say(f"    {v} = R.add({a}, {a})")
        self.say("else:")
        self.say(f"    {v} = R.negative({b})")
        self.say(f"{i}, {j} = T.int64(), T.int64()")
        self.bind(f"R.match_cast({v}, R.Tensor(({i}, {j}), \"float32\"))", Tensor((i, j)))

    def ending(self, t):
        """What a branch ends with, of a type."""
        if t == NUMBER:
            return f"R.prim_value({self.number()})"
        if is_tuple(t):
            return f"({', '.join(self.ending(f) for f in t)},)"
        if isinstance(t, Shape):
            return f"R.shape([{', '.join(t.dims)}])"
        w = self.r.choice([w for w, u in self.values if u == t])
        return w

    def branch(self):
        if self.depth > 4 or not self.conditions:
            return
        t = self.r.choice([self.pick()[1], self.pick()[1], (self.pick()[1], self.pick()[1]), NUMBER, (NUMBER, self.pick()[1])])
        v, saved, ends, lines = self.new_name(), list(self.values), [], self.lines
        self_condition = self.r.choice(self.conditions)
        for _ in range(2):
            self.lines, self.values = [], list(saved)
            self.depth += 1
            self.steps(self.r.randrange(0, 3))
            if isinstance(t, Tensor) and self.r.random() < 0.7:
                w = self.ending(t)
                self.say(f"{v} = R.{self.r.choice(['add', 'maximum'])}({w}, {w})")
            else:
                self.say(f"{v} = {self.ending(t)}")
            self.depth -= 1
            ends.append(self.lines)
        self.lines, self.values = lines, saved
        self.say(f"if {self_condition}:")
        self.lines += ends[0]
        self.say("else:")
        self.lines += ends[1]
        self.values.append((v, t))

    def steps(self, count):
        for _ in range(count):
            getattr(self, self.r.choice(PLAIN + WHOLE + self.module.more))()


# Steps that may stand in a dataflow block, and others.
PLAIN = ["unary", "scaled", "binary", "binary", "chosen", "whole", "flat", "turned", "summed", "product", "joined", "halves", "packed", "taken", "taken",
         "sized", "shape", "filled", "counted", "cast", "kernel", "kernel", "helper", "helper", "typed", "typed", "mixed", "named", "part", "fixed", "judged"]
WHOLE = ["branch", "branch", "branch", "dataflow", "dataflow"]


def callable_text(rank):
    unknown = f'R.Tensor("float32", ndim={rank})'
    return f"R.Callable(({unknown},), {unknown}, True)"


def helper_text(name):
    """A private function by its name: what it does, and the rank of its argument."""
    kind, rank = name[:-1], int(name[-1])
    sizes = ("i", "j")[:rank]
    plain, quoted = type_text(Tensor(sizes)), type_text(Tensor(sizes), quoted=True)
    head = "".join(f"        {s} = T.int64()\n" for s in sizes) + "        cls = Module\n"
    start = f"    @R.function(private=True)\n    def {name}"
    if kind == "plain":
        return f"{start}(x: {quoted}) -> {quoted}:\n{head}        y = R.add(x, x)\n        z = R.nn.relu(y)\n        w = R.maximum(z, R.negative(x))\n        return w\n"
    if kind == "nest":
        others = ("p", "q")[:rank]
        other, said = type_text(Tensor(others)), type_text(Tensor(others), quoted=True)
        head = head.replace("        cls", "".join(f"        {s} = T.int64()\n" for s in others) + "        cls")
        given = f"R.Tuple({said}, {type_text(Shape(sizes), quoted=True)})"
        result = f"R.Tuple({given}, R.Tuple({quoted}, R.Tuple(R.Prim(\"int64\"), {type_text(Shape(others), quoted=True)})))"
        return (f"{start}(x: {quoted}, t: {given}) -> {result}:\n{head}        a = t[0]\n        b = R.negative(a)\n        s = t[1]\n        y = R.multiply(x, x)\n"
                f"        z = R.add(y, x)\n        return ((b, s), (z, (R.prim_value({' + '.join(sizes + others)}), R.shape([{', '.join(others)}]))))\n")
    if kind == "pair":
        return f"{start}(x: {quoted}) -> R.Tuple({quoted}, R.Prim(\"int64\")):\n{head}        y = R.multiply(x, x)\n        return (y, R.prim_value({' * '.join(sizes)} + 1))\n"
    if kind == "cast":
        unknown = f'R.Tensor("float32", ndim={rank})'
        return f"{start}(x: {unknown}) -> {unknown}:\n{head}        y = R.match_cast(x, {plain})\n        z = R.add(y, y)\n        return z\n"
    if kind == "apply":
        return (f"{start}(f: {callable_text(rank)}, x: {quoted}) -> {quoted}:\n{head}        y = f(x)\n        z = R.match_cast(y, {plain})\n"
                f"        w = f(z)\n        v = R.match_cast(w, {plain})\n        return v\n")
    return (f"{start}(x: {quoted}, k: R.Prim(\"int64\")) -> {quoted}:\n{head}        if R.prim_value(k > 0):\n            y = R.add(x, x)\n"
            f"            z: {plain} = cls.{name}(y, R.prim_value(k - 1))\n            r = R.negative(z)\n        else:\n            r = x\n        return r\n")


class Module:
    """Several functions main0, main1 and so on. `more` names steps that not everything can do."""

    def __init__(self, seed, mains=4, more=()):
        self.r, self.seed, self.more = random.Random(seed), seed, list(more)
        self.helpers, self.kernels, self.names, self.local, self.plain = set(), set(), 0, False, PLAIN
        self.mains = [f"main{i}" for i in range(mains)]
        bodies = [self.main(name) for name in self.mains]
        self.text = HEAD + "\n".join([KERNELS[k] for k in sorted(self.kernels)] + [helper_text(h) for h in sorted(self.helpers)] + bodies)
        self.sizes = {s: self.r.randrange(1, 5) for s in "nmpq"}
        self.arguments = [self.argument(t) for _, t in SIGNATURE]

    def main(self, name):
        f = Function(self, name, SIGNATURE)
        f.steps(self.r.randrange(4, 14))
        results = [v for v, _ in self.r.sample(f.values, min(3, len(f.values)))] + [f.values[-1][0]]
        signature = ", ".join(f"{v}: {type_text(t, quoted=True)}" for v, t in SIGNATURE)
        return (f"    @R.function\n    def {name}({signature}):\n        {SYMBOLS}\n        cls = Module\n" + "\n".join(f.lines) +
                f"\n        return (({', '.join(results)},), x, R.shape([p, n * m]), R.prim_value(n + k))\n")

    def argument(self, t):
        """A tensor as (format, sizes, elements), a shape as a list, a number, or a tuple of these."""
        if t == NUMBER:
            return self.r.randrange(0, 7)
        if isinstance(t, Shape):
            return [self.sizes.get(d) or int(d) for d in t.dims]
        if not isinstance(t, Tensor):
            return tuple(self.argument(f) for f in t)
        sizes, count = [self.sizes.get(d) or int(d) for d in t.dims], 1
        for size in sizes:
            count *= size
        made = {"float32": lambda: self.r.randrange(-64, 65) / 32, "int32": lambda: self.r.randrange(-9, 10), "bool": lambda: self.r.random() < 0.5}[t.dtype]
        return {"float32": "f", "int32": "i", "bool": "?"}[t.dtype], sizes, [made() for _ in range(count)]
