#!/usr/bin/env python3
"""Programs of thousands of parts of one kind: each verb ends, and one of twice the size needs no more than a bit over twice the memory, and where that was otherwise once, no more than a bit over twice the time."""
import os, resource, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, memory_of

HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n@I.ir_module\nclass Module:\n"
TENSOR = 'R.Tensor((4,), "float32")'
PRIM = 'from tvm.script import tirx as T\n\n@T.prim_func\ndef main(A: T.Buffer((16,), "int32"), B: T.Buffer((16,), "int32")):\n'


def relax(params, lines, before=""):
    return HEAD + before + f"    @R.function\n    def main({params}):\n" + "".join(f"        {line}\n" for line in lines)


def chain(n, step):
    """Bindings, each of the one before."""
    return [step.format("x" if i == 0 else f"v{i - 1}", i) for i in range(n)] + [f"return v{n - 1}"]


def parameters(n):
    return relax(", ".join(f"p{i}: {TENSOR}" for i in range(n)), ["v0 = R.add(p0, p0)"] + [f"v{i} = R.add(v{i - 1}, p{i})" for i in range(1, n)] + [f"return v{n - 1}"])


def buffers(n):
    return "from tvm.script import tirx as T\n\n@T.prim_func\ndef main(" + ", ".join(f'p{i}: T.Buffer((4,), "float32")' for i in range(n)) + "):\n" + "".join(f"    p{i}[0] = p{i - 1}[1]\n" for i in range(1, n))


def symbols(n):
    lines = [f"    n{i} = T.int32()\n    A{i} = T.match_buffer(a{i}, (n{i},), \"int32\")\n" for i in range(n)] + [f"    A{i}[0] = n{i}\n" for i in range(n)]
    return "from tvm.script import tirx as T\n\n@T.prim_func\ndef main(" + ", ".join(f"a{i}: T.handle" for i in range(n)) + "):\n" + "".join(lines)


def fields(n):
    return relax(f"t: R.Tuple({', '.join([TENSOR] * n)})", ["w0 = t[0]"] + [f"w{i} = R.add(w{i - 1}, t[{i}])" for i in range(1, n)] + [f"return w{n - 1}"])


def results(n):
    return relax(f"x: {TENSOR}", ["y = R.sin(x)", "return (" + ", ".join(["y"] * n) + ")"])


def functions(n):
    one = f"    @R.function(private=True)\n    def f{{0}}(x: {TENSOR}) -> {TENSOR}:\n        y = R.sin(x)\n        return y\n\n"
    return relax(f"x: {TENSOR}", ["cls = Module"] + chain(n, "v{1}: " + TENSOR + " = cls.f{1}({0})"), "".join(one.format(i) for i in range(n)))


def kernels(n):
    """Operators of the same name, each with a size of its own."""
    params = ", ".join(f'p{i}: R.Tensor(({i + 1},), "float32")' for i in range(n))
    return relax(params, [f"v{i} = R.sin(p{i})" for i in range(n)] + [f"return v{n - 1}"])


def calling(n):
    """Functions that each call the next one."""
    one = f"    @R.function(private=True)\n    def f{{0}}(x: {TENSOR}) -> {TENSOR}:\n        cls = Module\n        y: {TENSOR} = cls.f{{1}}(x)\n        return y\n\n"
    last = f"    @R.function(private=True)\n    def f{n}(x: {TENSOR}) -> {TENSOR}:\n        y = R.sin(x)\n        return y\n\n"
    return relax(f"x: {TENSOR}", ["cls = Module", f"y: {TENSOR} = cls.f0(x)", "return y"], "".join(one.format(i, i + 1) for i in range(n)) + last)


def bindings(n):
    return relax(f"x: {TENSOR}", chain(n, "v{1} = R.sin({0})"))


def casts(n):
    """Sizes that each get another name."""
    lines = [f'    v{i} = R.match_cast({f"v{i - 1}" if i else "x"}, R.Tensor((n{i},), "float32"))' for i in range(n)] + [f"    R.output(v{n - 1})"]
    return relax('x: R.Tensor(ndim=1, dtype="float32")', [f"n{i} = T.int64()" for i in range(n)] + ["with R.dataflow():"] + lines + [f"return v{n - 1}"])


def branches(n):
    lines = ["v0 = R.sin(x)"]
    for i in range(1, n):
        lines += ["if c:", f"    v{i} = R.sin(v{i - 1})", "else:", f"    v{i} = R.cos(v{i - 1})"]
    return relax(f'x: {TENSOR}, c: R.Tensor((), "bool")', lines + [f"return v{n - 1}"])


def nested_branches(n):
    lines = [" " * d + "if c:" for d in range(n)] + [" " * n + "y = R.sin(x)"]
    for d in reversed(range(n)):
        lines += [" " * d + "else:", " " * d + " y = R.cos(x)"]
    return relax(f'x: {TENSOR}, c: R.Tensor((), "bool")', lines + ["return y"])


def nested_calls(n):
    return relax(f"x: {TENSOR}", ["y = " + "R.add(x, " * n + "x" + ")" * n, "return y"])


def nested_tuples(n):
    return relax(f"x: {TENSOR}", ["y = R.sin(x)", "t = " + "(" * n + "y" + ",)" * n, "z = t" + "[0]" * n, "return z"])


def nested_terms(n):
    return PRIM + "    B[0] = " + "A[1] - (" * n + "A[2]" + ")" * n + "\n"


def nested_loads(n):
    return PRIM + "    B[0] = " + "A[" * n + "0" + "]" * n + "\n"


def dimensions(n):
    return HEAD + f"    @R.function\n    def main(x: R.Tensor(({', '.join(['1'] * n)}), \"float32\")):\n        with R.dataflow():\n            y = R.sin(x)\n            R.output(y)\n        return y\n"


def terms(n):
    return PRIM + "    B[0] = A[1]" + "".join(f" + A[{i % 16}]" for i in range(n)) + "\n"


def statements(n):
    return PRIM + "".join(f"    B[{i % 16}] = A[{i * 7 % 16}] + {i}\n" for i in range(n))


def loops(n):
    return PRIM + "".join(f"    for i in range(16):\n        B[i] = A[i] + {i}\n" for i in range(n))


def values(n):
    return PRIM + "    a0: T.let = A[0]\n" + "".join(f"    a{i}: T.let = a{i - 1} + 1\n" for i in range(1, n)) + f"    B[0] = a{n - 1}\n"


def allocations(n):
    return PRIM + "".join(f'    C{i} = T.alloc_buffer((16,), "int32")\n    C{i}[0] = {f"C{i - 1}" if i else "A"}[0] + 1\n' for i in range(n)) + f"    B[0] = C{n - 1}[0]\n"


def large_allocations(n):
    """Memory that no frame has room for: each allocation may fail, and each is freed then."""
    return allocations(n).replace("alloc_buffer((16,)", "alloc_buffer((16384,)")


READ = [["check"], ["fmt"], ["print"]]
LOWER = [["opt", "--passes", "host,native"], ["run"], ["build", "-o", "OUT.c"]]
MACHINE = [["opt", "--passes", "default"], ["build", "-o", "OUT.vm"]]
LIBRARY = ["build", "-o", "OUT.so"]
# The program, how many parts it has, and how many where native code is made: LLVM takes longer the longer a function is.
CASES = [
    (parameters, 1500, 200), (buffers, 1500, 200), (symbols, 1000, 100), (fields, 250, 100), (results, 1000, 200), (functions, 500, 100), (bindings, 2000, 300), (branches, 500, 100),
    (nested_branches, 100, 50), (nested_calls, 1000, 200), (nested_tuples, 500, 200), (nested_terms, 2000, 500), (terms, 2500, 500), (statements, 4000, 200),
    (loops, 500, 100), (values, 2500, 500), (allocations, 500, 100),
]


# By the words of a verb: the MiB that it needs for a small program, whichever.
LEAST = {}


class Sizes(unittest.TestCase):
    def needs(self, words, text, folder):
        path = os.path.join(folder, "a.tvms")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        status, said, memory = memory_of(*[w.replace("OUT", os.path.join(folder, "out")) for w in words], path)
        self.assertEqual(status, 0, said[:500])
        return memory

    def grows(self, words, program, n, folder):
        """The text of nested statements grows with the square of their number, by their indentation."""
        verb = tuple(words)
        if verb not in LEAST:
            LEAST[verb] = self.needs(words, program(8), folder)
        least, once, twice = (LEAST[verb], *(self.needs(words, program(k), folder) for k in (n, 2 * n)))
        # Tables and arenas double: what is added is for them.
        self.assertLess(twice - least, 2.5 * (once - least) + 16, f"MiB: {least}, {once}, {twice}")

    def test_allocations_that_may_fail(self):
        with tempfile.TemporaryDirectory() as folder:
            self.grows(["run", "--backend", "llvm"], large_allocations, 300, folder)


# Verbs whose time would grow with the square of the parts.
TIMES = [(["build", "-o", "OUT.c"], dimensions, 10), (["check"], nested_loads, 2000), (["build", "-o", "OUT.c"], results, 4000), (["run"], buffers, 3000), (["run"], symbols, 2000), (["run", "--backend", "llvm"], symbols, 1000), (["run", "--backend", "llvm"], large_allocations, 800), (["opt", "--passes", "LegalizeOps,NormalizeGlobalVar"], kernels, 2000), (["opt", "--passes", "FoldConstant{keep_written=true}"], calling, 1000), (["opt", "--passes", "default"], branches, 1500), (["opt", "--passes", "RemoveRedundantReshape"], casts, 2000)]


class Times(unittest.TestCase):
    def seconds(self, words, text, folder):
        path = os.path.join(folder, "a.tvms")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        status, said, _ = memory_of(*[w.replace("OUT", os.path.join(folder, "out")) for w in words], path)
        self.assertEqual(status, 0, said[:500])
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    def test_four_times_the_size_is_no_sixteen_times_the_time(self):
        for words, program, n in TIMES:
            with self.subTest(words=words, program=program.__name__), tempfile.TemporaryDirectory() as folder:
                once, more = (self.seconds(words, program(k), folder) for k in (n, 4 * n))
                if more >= 8 * max(once, 0.05):
                    more = min(more, self.seconds(words, program(4 * n), folder))
                self.assertLess(more, 8 * max(once, 0.05))


def add(program, n, native):
    def test(self):
        with tempfile.TemporaryDirectory() as folder:
            is_relax = program(8).startswith(HEAD)
            for words in READ + LOWER + (MACHINE if is_relax and program is not fields else []):
                with self.subTest(words=words):
                    self.grows(words, program, n, folder)
            with self.subTest(words=LIBRARY):
                self.grows(LIBRARY, program, native, folder)

    setattr(Sizes, f"test_{program.__name__}", test)


for case in CASES:
    add(*case)

if __name__ == "__main__":
    main()
