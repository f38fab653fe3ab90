#!/usr/bin/env python3
"""A decoder that makes one token after the other, with a cache for attention, in TVM's virtual machine: how near to the speed of memory?

    python3 bench/native/decoder.py build-rel [--only NAME...] [--layers N] [--out bench/native/results]

The text is what a frontend writes: weights are N x K and transposed in front of each product; those of 8 and 4 bits are decoded by a PrimFunc of their own. `tvms build --vm`
does the rest, and stock TVM's machine runs the library. The limit is how fast the same tensors are read, one after the other, or the loops of vectors.c that decode,
multiply and add, over such tensors, whichever is less: the machine's tensors stand on small pages, which are read a quarter more slowly than large ones (those of NumPy's arrays). One thread, CPU time, the least of several tokens; what comes out is compared with NumPy's.
"""
import argparse, ctypes, os, subprocess, sys, tempfile, time

import schedules, vectors

WIDTH, HEADS, INNER, VOCABULARY, CACHE, TOKENS = 2048, 16, 5632, 1024, 32, 6
HEAD = WIDTH // HEADS
KINDS = ("float32", "int8", "4 bits")
DECODED = """    @T.prim_func(private=True, s_tir=True)
    def decode_{n}_{k}({parameters}, D: T.Buffer(({n}, {k}), "float32")):
        for i, j in T.grid({n}, {k}):
            with T.sblock("decode"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = {value}
"""
VALUES = {"int8": 'T.Cast("float32", W[vi, vj]) * S[vi]', "4 bits": vectors.FOUR_BITS}


def buffers_of(kind, n, k):
    """Shapes and dtypes of what holds n x k weights."""
    return {"float32": [((n, k), "float32")], "int8": [((n, k), "int8"), ((n,), "float32")],
            "4 bits": [((n, k // vectors.CODES), "uint32"), ((n, k // vectors.GROUP), "float32")]}[kind]


class Decoder:
    """The text of a decoder and its weights by the names of its parameters."""

    def __init__(self, kind, layers):
        self.kind, self.layers, self.params, self.lines, self.count = kind, layers, {}, [], 0

    def emit(self, expression, type_=None):
        self.count += 1
        self.lines.append(f"            v{self.count}{': ' + type_ if type_ else ''} = {expression}")
        return f"v{self.count}"

    def parameter(self, name, shape, dtype="float32"):
        self.params[name] = (shape, dtype)
        return name

    def dense(self, x, name, n, k):
        kind = "float32" if name == "head" else self.kind
        parts = [self.parameter(f"{name}_{i}", *buffer) for i, buffer in enumerate(buffers_of(kind, n, k))]
        w = parts[0] if kind == "float32" else self.emit(f'R.call_tir(cls.decode_{n}_{k}, ({", ".join(parts)}), out_ty=R.Tensor(({n}, {k}), "float32"))')
        return self.emit(f"R.matmul({x}, {self.emit(f'R.permute_dims({w})')})")

    def norm(self, x, name):
        return self.emit(f"R.nn.rms_norm({x}, {self.parameter(name, (WIDTH,))}, axes=[-1], epsilon=1e-5)")

    def kept(self, cache, x):
        """All of a cache, with `x` at its end, as (heads, total, head)."""
        flat = self.emit(f"R.reshape({x}, R.shape([1, {HEADS}, {HEAD}]))")
        cache = self.emit(f'R.call_inplace_packed("vm.builtin.attention_kv_cache_append", {cache}, {flat}, inplace_indices=[0], ty_args=(R.Any,))')
        shape = f"[total, {HEADS}, {HEAD}]"
        seen = self.emit(f'R.call_pure_packed("vm.builtin.attention_kv_cache_view", {cache}, R.shape({shape}), ty_args=(R.Tensor(({shape[1:-1]}), "float32"),))',
                         f'R.Tensor(({shape[1:-1]}), "float32")')
        return self.emit(f"R.permute_dims({seen}, axes=[1, 0, 2])")

    def layer(self, x, i):
        y = self.norm(x, f"norm_a_{i}")
        q, k, v = (self.dense(y, f"{name}_{i}", WIDTH, WIDTH) for name in "qkv")
        q = self.emit(f"R.reshape({q}, R.shape([{HEADS}, 1, {HEAD}]))")
        k, v = self.kept(f"keys_{i}", k), self.kept(f"values_{i}", v)
        scores = self.emit(f"R.matmul({q}, {self.emit(f'R.permute_dims({k}, axes=[0, 2, 1])')})")
        weights = self.emit(f"R.nn.softmax({self.emit(f'R.multiply({scores}, R.const({HEAD ** -0.5}, {chr(34)}float32{chr(34)}))')}, axis=-1)")
        seen = self.emit(f"R.reshape({self.emit(f'R.matmul({weights}, {v})')}, R.shape([1, {WIDTH}]))")
        x = self.emit(f"R.add({x}, {self.dense(seen, f'o_{i}', WIDTH, WIDTH)})")
        y = self.norm(x, f"norm_b_{i}")
        gate, up = self.dense(y, f"gate_{i}", INNER, WIDTH), self.dense(y, f"up_{i}", INNER, WIDTH)
        y = self.emit(f"R.multiply({self.emit(f'R.nn.silu({gate})')}, {up})")
        return self.emit(f"R.add({x}, {self.dense(y, f'down_{i}', WIDTH, INNER)})")

    def text(self):
        x = self.emit(f'R.take({self.parameter("embedding", (VOCABULARY, WIDTH))}, token, axis=0)')
        for i in range(self.layers):
            x = self.layer(x, i)
        result = self.dense(self.norm(x, "norm"), "head", VOCABULARY, WIDTH)
        caches = [f"{name}_{i}" for i in range(self.layers) for name in ("keys", "values")]
        given = ['token: R.Tensor((1,), "int32")', 'size: R.Shape(["total"])', *(f"{c}: R.Any" for c in caches),
                 *(f'{name}: R.Tensor({shape}, "{dtype}")' for name, (shape, dtype) in self.params.items())]
        made = [f'            {c} = R.call_pure_packed("vm.builtin.attention_kv_cache_create", zeros_{c}, R.shape([{CACHE}, {HEADS}, {HEAD}]), R.prim_value(0), ty_args=(R.Any,))'
                for c in caches]
        zeros = [f'            zeros_{c} = R.zeros(R.shape([{CACHE}, {HEADS}, {HEAD}]), "float32")' for c in caches]
        parts = lambda n, k: ", ".join(f'{name}: T.Buffer({shape}, "{dtype}")' for name, (shape, dtype) in zip("WS", buffers_of(self.kind, n, k)))
        decoders = [DECODED.format(n=n, k=k, parameters=parts(n, k), value=VALUES[self.kind]) for n, k in ((WIDTH, WIDTH), (INNER, WIDTH), (WIDTH, INNER))] if self.kind in VALUES else []
        return "\n".join(["from tvm.script import ir as I, relax as R, tirx as T\n\n@I.ir_module\nclass Module:", *decoders,
                          "    @R.function\n    def caches() -> R.Tuple(" + ", ".join(["R.Any"] * len(caches)) + "):\n        with R.dataflow():", *zeros, *made,
                          f"            R.output({', '.join(caches)})\n        return ({', '.join(caches)},)\n",
                          f"    @R.function\n    def main({', '.join(given)}):\n        total = T.int64()\n        cls = Module\n        with R.dataflow():", *self.lines,
                          f"            R.output({result})\n        return {result}\n"])


def random_weights(decoder):
    """Arrays by parameter, and the matrix that each group of them means."""
    import numpy
    random, arrays, meant = numpy.random.default_rng(1), {}, {}
    for name, (shape, dtype) in decoder.params.items():
        if name.startswith("norm"):
            arrays[name] = random.random(shape, "f4") + 0.5
        elif dtype == "float32" and name.endswith("_1"):
            arrays[name] = (random.random(shape, "f4") + 0.5) * numpy.float32(0.01 / (100 if decoder.kind == "int8" else 4))
        elif dtype == "float32":
            arrays[name] = (random.random(shape, "f4") - 0.5) * numpy.float32(4 * shape[-1] ** -0.5)
        elif dtype == "int8":
            arrays[name] = random.integers(-127, 128, shape, "i1")
        else:
            arrays[name] = random.integers(0, 2**32, shape, "u4")
    for name in [n[:-2] for n in arrays if n.endswith("_0")]:
        w, s = arrays[name + "_0"], arrays.get(name + "_1")
        if w.dtype == "i1":
            w = w.astype("f4") * s[:, None]
        elif w.dtype == "u4":
            digits = (w[:, :, None] >> (4 * numpy.arange(vectors.CODES, dtype="u4"))) & 15
            w = (digits.reshape(len(w), -1).astype("f4") - 7) * numpy.repeat(s, vectors.GROUP, 1)
        meant[name] = w
    return arrays, meant


def expected(decoder, arrays, meant, tokens):
    """What NumPy makes of the same tokens."""
    import numpy
    keys, values, results = ([[] for _ in range(decoder.layers)] for _ in range(3))
    norm = lambda x, name: x / numpy.sqrt((x * x).mean() + 1e-5) * arrays[name]
    results = []
    for token in tokens:
        x = arrays["embedding"][token].astype("f8")
        for i in range(decoder.layers):
            y = norm(x, f"norm_a_{i}")
            q, k, v = ((meant[f"{name}_{i}"] @ y).reshape(HEADS, HEAD) for name in "qkv")
            keys[i].append(k)
            values[i].append(v)
            scores = numpy.einsum("hd,thd->ht", q, numpy.array(keys[i])) * HEAD ** -0.5
            weights = numpy.exp(scores - scores.max(1, keepdims=True))
            weights /= weights.sum(1, keepdims=True)
            x = x + meant[f"o_{i}"] @ numpy.einsum("ht,thd->hd", weights, numpy.array(values[i])).ravel()
            y = norm(x, f"norm_b_{i}")
            gate = meant[f"gate_{i}"] @ y
            x = x + meant[f"down_{i}"] @ (gate / (1 + numpy.exp(-gate)) * (meant[f"up_{i}"] @ y))
        results.append(meant["head"] @ norm(x, "norm"))
    return results


def loop_speed(peers, kind):
    """Bytes a second of the loop by hand over weights beyond the caches, in tensors of the machine."""
    import numpy
    form = {f.name: f for f in vectors.forms()}[f"{kind}, N x K"]
    k = 4096
    n = form.rows_of(k, 128)
    import tvm
    tensors = [tvm.runtime.tensor(a) for a in form.make(numpy.random.default_rng(1), n, k)[0]]
    given = [numpy.from_dlpack(t) for t in tensors]
    x, y = numpy.ones(k, "f4"), numpy.ones(n, "f4")
    at = lambda a: a.ctypes.data_as(ctypes.c_void_p)
    size = sum(g.nbytes for g in given)
    times = schedules.least_times({"loop": lambda: getattr(peers, form.loop)(at(x), *map(at, given), at(y), ctypes.c_size_t(n), ctypes.c_size_t(k))})
    return size / times["loop"]


def seconds_to_read(peers, arrays):
    """Of each array once, by as many streams as are fastest."""
    def once(streams):
        begin = time.process_time()
        for a in arrays:
            peers.read_all(a.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(a.nbytes), ctypes.c_size_t(streams))
        return time.process_time() - begin
    return min(map(once, vectors.STREAMS))


def measure(tvms, peers, kind, layers, folder):
    import numpy, tvm
    decoder = Decoder(kind, layers)
    path = os.path.join(folder, kind.replace(" ", "_"))
    with open(path + ".tvms", "w", encoding="utf-8") as f:
        f.write(decoder.text())
    subprocess.run([tvms, "build", "--vm", "--dialect", schedules.RELEASE, path + ".tvms", "-o", path + ".so"], check=True)
    arrays, meant = random_weights(decoder)
    machine = tvm.relax.VirtualMachine(tvm.runtime.load_module(path + ".so"), tvm.cpu())
    weights = [tvm.runtime.tensor(arrays[name]) for name in decoder.params]
    read = [numpy.from_dlpack(w) for name, w in zip(decoder.params, weights) if name != "embedding"]
    best, least, worst, tokens = float("inf"), float("inf"), 0.0, list(range(3, 3 + TOKENS))
    wanted = expected(decoder, arrays, meant, tokens)
    for _ in range(3):
        caches = machine["caches"]()
        for i, token in enumerate(tokens):
            begin = time.process_time()
            got = machine["main"](tvm.runtime.tensor(numpy.array([token], "i4")), tvm.runtime.ShapeTuple([i + 1]), *caches, *weights)
            best = min(best, time.process_time() - begin)
            least = min(least, seconds_to_read(peers, read))
            worst = max(worst, float(numpy.abs(got.numpy().ravel() - wanted[i]).max() / numpy.abs(wanted[i]).max()))
    assert worst < 1e-4, f"{kind}: wrong by {worst}"
    return best, least, sum(a.nbytes for a in read), worst


def inside(given):
    lines = ["| weights | MB | a token, ms | GB/s | memory, GB/s | loop by hand, GB/s | of memory | of the lesser | error |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        peers = vectors.load_peers(folder)
        for kind in given.only or KINDS:
            seconds, least, size, worst = measure(os.path.join(given.build, "tvms"), peers, kind, given.layers, folder)
            loop, memory, speed = loop_speed(peers, kind), size / least, size / seconds
            lines.append(f"| {kind} | {size / 1e6:.0f} | {seconds * 1e3:.1f} | {speed / 1e9:.1f} | {memory / 1e9:.1f} | {loop / 1e9:.1f} | {speed / memory:.2f} | {speed / min(loop, memory):.2f} | {worst:.1e} |")
            print(lines[-1], flush=True)
    if given.out:
        os.makedirs(given.out, exist_ok=True)
        with open(os.path.join(given.out, "decoder.md"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="folder of a release build")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=KINDS)
    parser.add_argument("--layers", type=int, default=8, help="(default: %(default)s)")
    parser.add_argument("--out", help="folder for decoder.md")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        return inside(given)
    environment = os.environ | {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TVMS_NUM_THREADS", "TVM_NUM_THREADS")}
    sys.exit(subprocess.run([schedules.stock_python(), os.path.abspath(__file__), *sys.argv[1:], "--inside"], env=environment).returncode)


if __name__ == "__main__":
    main()
