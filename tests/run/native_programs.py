#!/usr/bin/env python3
"""Generated Relax programs (branches, tuples, symbolic sizes, calls, recursion): native code computes what the interpreter does.

    native_programs.py [COUNT [FIRST]]      COUNT programs, from the seed FIRST on

main returns its arguments behind its result, so the interpreter says what random ones it took.
"""
import os, random, re, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import npy
from cases import main, tvms
from native_main import Library

COUNT, FIRST = 12, 0
if __name__ == "__main__" and len(sys.argv) > 1 and sys.argv[1].isdigit():
    COUNT, FIRST = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    del sys.argv[1:]


def tensor(dims):
    return f"R.Tensor(({', '.join(dims)}{',' if len(dims) == 1 else ''}), \"float32\")"


class Program:
    """One function at a time: statements over values, which are tensors by their sizes, numbers, or tuples of types."""

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.helpers = []
        self.text = ""

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def say(self, line):
        self.lines.append("    " * self.depth + line)

    def tensors(self, wanted=lambda dims: True):
        return [(v, t) for v, t in self.values if isinstance(t, list) and wanted(t)]

    def bind(self, text, type_):
        v = self.name()
        self.say(f"{v} = {text}")
        self.values.append((v, type_))
        return v

    def pick(self):
        return self.r.choice(self.tensors())

    # ---- Steps ----

    def unary(self):
        v, t = self.pick()
        self.bind(f"R.{self.r.choice(['nn.relu', 'abs', 'negative'])}({v})", t)

    def scaled(self):
        v, t = self.pick()
        self.bind(f"R.{self.r.choice(['add', 'multiply'])}({v}, R.const({self.r.choice(['0.5', '2.0', '-1.25'])}, \"float32\"))", t)

    def binary(self):
        v, t = self.pick()
        w, _ = self.r.choice(self.tensors(lambda u: u == t or (len(u) == 1 and len(t) > 1 and u[0] == t[-1])))
        self.bind(f"R.{self.r.choice(['add', 'subtract', 'maximum', 'minimum'])}({v}, {w})", t)

    def flat(self):
        v, t = self.pick()
        if len(t) == 2:
            self.bind(f"R.reshape({v}, R.shape([{t[0]} * {t[1]}]))", [f"{t[0]} * {t[1]}"])

    def turned(self):
        v, t = self.pick()
        if len(t) == 2:
            self.bind(f"R.permute_dims({v})", t[::-1])

    def summed(self):
        v, t = self.pick()
        axis = self.r.randrange(len(t))
        if len(t) == 2:
            self.bind(f"R.sum({v}, axis={axis})", [t[1 - axis]])

    def product(self):
        found = [(a, t, b, u) for a, t in self.tensors(lambda t: len(t) == 2) for b, u in self.tensors(lambda u: len(u) == 2) if t[1] == u[0]]
        if found:
            a, t, b, u = self.r.choice(found)
            self.bind(f"R.matmul({a}, {b})", [t[0], u[1]])

    def packed(self):
        items = [self.r.choice(self.values) for _ in range(self.r.randrange(1, 4))]
        self.bind(f"({', '.join(v for v, _ in items)},)", tuple(t for _, t in items))

    def taken(self):
        tuples = [(v, t) for v, t in self.values if isinstance(t, tuple)]
        if tuples:
            v, t = self.r.choice(tuples)
            i = self.r.randrange(len(t))
            self.bind(f"{v}[{i}]", t[i])

    def halves(self):
        v, t = self.pick()
        if t[-1] == "4":
            self.bind(f"R.split({v}, 2, axis={len(t) - 1})", (t[:-1] + ["2"],) * 2)

    def branch(self):
        if self.depth > 4:
            return
        _, t = self.pick()
        condition = self.r.choice(self.conditions)
        v, saved, ends = self.name(), list(self.values), []
        lines = self.lines
        for _ in range(2):
            self.lines, self.values = [], list(saved)
            self.depth += 1
            self.steps(self.r.randrange(0, 3))
            w = self.r.choice(self.tensors(lambda u: u == t))[0]
            self.say(f"{v} = R.{self.r.choice(['add', 'maximum'])}({w}, {w})" if self.r.random() < 0.7 else f"{v} = {w}")
            self.depth -= 1
            ends.append(self.lines)
        self.lines, self.values = lines, saved
        self.say(f"if {condition}:")
        self.lines += ends[0]
        self.say("else:")
        self.lines += ends[1]
        self.values.append((v, t))

    def helper(self):
        """A call of a private function, which may call itself, or know nothing of the sizes."""
        v, t = self.pick()
        kind = self.r.choice(["plain", "again", "cast"])
        name, rank = f"{kind}{len(t)}", len(t)
        if name not in self.helpers:
            self.helpers.append(name)
        if kind == "again":
            self.bind(f"cls.{name}({v}, R.prim_value({self.r.randrange(0, 4)}))", t)
            v = self.values.pop()[0]
            self.lines[-1] = self.lines[-1].replace(f"{v} = ", f"{v}: {tensor(t)} = ")
            self.values.append((v, t))
        else:
            self.bind(f"cls.{name}({v})", t)
            if kind == "cast":
                v = self.values.pop()[0]
                w = self.name()
                self.say(f"{w} = R.match_cast({v}, {tensor(t)})")
                self.values.append((w, t))

    def helper_text(self, name):
        rank = int(name[-1])
        sizes = ["i", "j"][:rank]
        quoted = tensor([f'"{s}"' for s in sizes])
        head = "".join(f"        {s} = T.int64()\n" for s in sizes) + "        cls = Module\n"
        if name.startswith("plain"):
            return f"    @R.function(private=True)\n    def {name}(x: {quoted}) -> {quoted}:\n{head}        y = R.add(x, x)\n        z = R.nn.relu(y)\n        w = R.maximum(z, R.negative(x))\n        return w\n"
        if name.startswith("cast"):
            unknown = f'R.Tensor("float32", ndim={rank})'
            return (f"    @R.function(private=True)\n    def {name}(x: {unknown}) -> {unknown}:\n{head}        y = R.match_cast(x, {tensor(sizes)})\n"
                    f"        z = R.add(y, y)\n        return z\n")
        return (f"    @R.function(private=True)\n    def {name}(x: {quoted}, k: R.Prim(\"int64\")) -> {quoted}:\n{head}        if R.prim_value(k > 0):\n            y = R.add(x, x)\n"
                f"            z: {tensor(sizes)} = cls.{name}(y, R.prim_value(k - 1))\n            r = R.negative(z)\n        else:\n            r = x\n        return r\n")

    def steps(self, count):
        kinds = [self.unary, self.scaled, self.binary, self.binary, self.flat, self.turned, self.summed, self.product, self.packed, self.taken, self.halves,
                 self.branch, self.helper]
        for _ in range(count):
            self.r.choice(kinds)()

    def make(self):
        self.count, self.depth, self.lines = 0, 2, []
        arguments = [("x", ["n", "4"]), ("y", ["n", "4"]), ("w", ["4", "m"]), ("b", ["4"]), ("u", (["m"], "n"))]
        self.values = list(arguments)
        self.conditions = ["R.prim_value(k > 3)", "c", "R.prim_value(n > k)"]
        self.steps(self.r.randrange(4, 14))
        results = [v for v, _ in self.r.sample(self.values, min(3, len(self.values)))]
        signature = ", ".join([f'x: R.Tensor(("n", 4), "float32")', f'y: R.Tensor(("n", 4), "float32")', f'w: R.Tensor((4, "m"), "float32")', 'b: R.Tensor((4,), "float32")',
                               'u: R.Tuple(R.Tensor(("m",), "float32"), R.Prim("int64"))', 'k: R.Prim("int64")', 'c: R.Tensor((), "bool")', 's: R.Shape(["n", "p"])'])
        body = "\n".join(self.lines)
        back = "x, y, w, b, u, k, c, s"
        text = "from tvm.script import ir as I, relax as R, tirx as T\n\n@I.ir_module\nclass Module:\n"
        for h in self.helpers:
            text += self.helper_text(h) + "\n"
        text += (f"    @R.function\n    def main({signature}):\n        n, m, p = T.int64(), T.int64(), T.int64()\n        cls = Module\n{body}\n"
                 f"        return (({', '.join(results)},), ({back}), R.shape([p, n * m]), R.prim_value(n + k))\n")
        return text


FORMS = {"<f4": "f", "<i8": "q", "|b1": "?"}


def flattened(value, name="result"):
    """(name, format, sizes, elements) of everything in a value of the library."""
    if isinstance(value, tuple) and not (value and isinstance(value[0], str)):
        for i, v in enumerate(value):
            yield from flattened(v, f"{name}.{i}")
    elif isinstance(value, tuple):
        yield (name, *value)
    elif isinstance(value, list):
        yield name, "q", [len(value)], value
    else:
        yield name, "q", [], [value]


class NativePrograms(unittest.TestCase):
    def one(self, seed, folder):
        text = Program(seed).make()
        library, out = os.path.join(folder, "p.so"), os.path.join(folder, "out")
        p = tvms("run", "-", "--seed", str(seed), "--out", out, stdin=text)
        self.assertEqual(p.returncode, 0, text + p.stderr.decode())
        shapes = dict(re.findall(r"^(\S+): \((.*)\)$", p.stdout.decode(), re.M))
        p = tvms("build", "-", "-o", library, "--fp", "strict", stdin=text)
        self.assertEqual(p.returncode, 0, text + p.stderr.decode())
        files = {}
        for f in os.listdir(out):
            kind, shape, values = npy.read(os.path.join(out, f))
            files[f[:-4]] = (FORMS[kind], list(shape), values)
        for name, sizes in shapes.items():
            sizes = [int(size) for size in sizes.replace(",", " ").split()]
            files[name] = ("q", [len(sizes)], sizes)
        taken = [files[f"result.1.{i}"] for i in range(4)]
        taken += [(files["result.1.4.0"], files["result.1.4.1"][2][0]), files["result.1.5"][2][0], files["result.1.6"], files["result.1.7"][2]]
        said = Library(library)("main", *taken)
        self.assertIsInstance(said, tuple, f"{said}\n{text}")
        told = {name: (form, shape, values) for name, form, shape, values in flattened(said)}
        self.assertEqual(sorted(told), sorted(files), text)
        for name, value in told.items():
            self.assertIsNone(npy.differ(value, files[name]), f"{name}\n{text}")

    def test_programs(self):
        for seed in range(FIRST, FIRST + COUNT):
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                self.one(seed, folder)


if __name__ == "__main__":
    main()
