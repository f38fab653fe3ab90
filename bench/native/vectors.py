#!/usr/bin/env python3
"""A vector times weights that no cache holds, from naive text, against the memory of this machine and loops written by hand.

    python3 bench/native/vectors.py build-rel [--only NAME...] [--size N] [--out bench/native/results]

Weights are N x K (each row is multiplied with the vector, as nn.Linear has it) or K x N, of float32, bfloat16, int8 with a scale for each row, or 4 bits, eight
in a word, with a scale for each 32 of them. The limit is how fast the same bytes are read, by C that only adds them up; the loops by hand decode, multiply and add
(vectors.c, cc -O3). They are read by one, four and eight streams, and the fastest counts. One thread, CPU time, the least of several turns, all in one process; results are compared with NumPy's in double precision.
"""
import argparse, ctypes, math, os, subprocess, sys, tempfile

import rows, schedules

HERE = os.path.dirname(os.path.abspath(__file__))
GROUP, CODES = 32, 8  # weights that share a scale, weights in a word
STREAMS = (1, 4, 8)  # by which memory is read
HEAD = "from tvm.script import ir as I, tirx as T\n\n@I.ir_module\nclass Module:\n"
TEXT = HEAD + """    @T.prim_func(s_tir=True)
    def main({parameters}, Y: T.Buffer((1, {n}), "float32")):
        T.func_attr({{"tirx.noalias": True}})
{before}        for i, j, k in T.grid(1, {n}, {k}):
            with T.sblock("product"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] = Y[vi, vj] + X[vi, vk] * {weight}
"""
DECODED = """        D = T.sblock_alloc_buffer(({n}, {k}))
        for i, j in T.grid({n}, {k}):
            with T.sblock("decode"):
                vi, vj = T.axis.remap("SS", [i, j])
                D[vi, vj] = {value}
"""
FOUR_BITS = ('(T.Cast("float32", T.bitwise_and(T.shift_right(W[vi, vj // 8], T.Cast("uint32", vj % 8 * 4)), T.uint32(15))) - T.float32(7)) '
             '* S[vi, vj // 32]')


class Weights:
    """One form of weights: their buffers, how the text decodes them, the loop of vectors.c, random values and what these mean."""

    def __init__(self, name, buffers, weight, decoded, loop, make):
        self.name, self.buffers, self.weight, self.decoded, self.loop, self.make = name, buffers, weight, decoded, loop, make

    def text(self, n, k):
        shapes = {name: tuple(s for s in shape(n, k)) for name, (shape, _) in self.buffers.items()}
        parameters = [f'X: T.Buffer((1, {k}), "float32")'] + [f'{name}: T.Buffer({shapes[name]}, "{dtype}")' for name, (_, dtype) in self.buffers.items()]
        before = DECODED.format(n=n, k=k, value=self.decoded) if self.decoded else ""
        return TEXT.format(parameters=", ".join(parameters), before=before, weight=self.weight, n=n, k=k)

    def rows_of(self, columns, megabytes):
        """As many rows as make so many megabytes, whatever the weights are stored as."""
        one = sum(math.prod(shape(1, columns)) * {"float32": 4, "bfloat16": 2, "int8": 1, "uint32": 4}[d] for shape, d in self.buffers.values())
        return megabytes * 10**6 // one // 64 * 64


def forms():
    import numpy
    straight, turned = (lambda n, k: (n, k)), (lambda n, k: (k, n))

    def floats(random, n, k):
        w = random.random((n, k), "f4") - 0.5
        return [w], w

    def halves(random, n, k):
        import ml_dtypes
        w = (random.random((n, k), "f4") - 0.5).astype(ml_dtypes.bfloat16)
        return [w], w.astype("f4")

    def bytes_(random, n, k):
        w, s = random.integers(-127, 128, (n, k), "i1"), random.random(n, "f4") + 0.5
        return [w, s], w.astype("f4") * s[:, None]

    def codes(random, n, k):
        w, s = random.integers(0, 2**32, (n, k // CODES), "u4"), random.random((n, k // GROUP), "f4") + 0.5
        digits = (w[:, :, None] >> (4 * numpy.arange(CODES, dtype="u4"))) & 15
        return [w, s], (digits.reshape(n, k).astype("f4") - 7) * numpy.repeat(s, GROUP, 1)

    def turn(make):
        def made(random, n, k):
            given, meant = make(random, n, k)
            return [numpy.ascontiguousarray(given[0].T), *given[1:]], meant
        return made
    yield Weights("float32, N x K", {"W": (straight, "float32")}, "W[vj, vk]", None, "by_hand_f32", floats)
    yield Weights("float32, K x N", {"W": (turned, "float32")}, "W[vk, vj]", None, None, turn(floats))
    yield Weights("bfloat16, N x K", {"W": (straight, "bfloat16")}, 'T.Cast("float32", W[vj, vk])', None, "by_hand_bf16", halves)
    yield Weights("bfloat16, K x N", {"W": (turned, "bfloat16")}, 'T.Cast("float32", W[vk, vj])', None, None, turn(halves))
    scale = {"S": (lambda n, k: (n,), "float32")}
    yield Weights("int8, N x K", {"W": (straight, "int8")} | scale, "D[vj, vk]", 'T.Cast("float32", W[vi, vj]) * S[vi]', "by_hand_i8", bytes_)
    yield Weights("int8, K x N", {"W": (turned, "int8")} | scale, 'T.Cast("float32", W[vk, vj]) * S[vj]', None, None, turn(bytes_))
    words = {"W": (lambda n, k: (n, k // CODES), "uint32"), "S": (lambda n, k: (n, k // GROUP), "float32")}
    yield Weights("4 bits, N x K", words, "D[vj, vk]", FOUR_BITS, "by_hand_q4", codes)


class ManagedTensor(ctypes.Structure):
    """DLPack's DLManagedTensor on a CPU."""
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int * 2), ("rank", ctypes.c_int), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class Bfloats:
    """An array of bfloat16 for DLPack, which NumPy does not give out."""
    CPU, BFLOAT = 1, 4

    def __init__(self, array):
        self.array = array
        self.shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        self.managed = ManagedTensor(array.ctypes.data, (self.CPU, 0), array.ndim, self.BFLOAT, 16, 1, self.shape)

    def __dlpack_device__(self):
        return self.CPU, 0

    def __dlpack__(self, **_):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self.managed), b"dltensor", None)


def measure(tvms, peers, form, n, k, folder):
    """Bytes of the weights, and seconds of each by name."""
    import numpy, tvm_ffi
    random = numpy.random.default_rng(n)
    given, meant = form.make(random, n, k)
    x = schedules.aligned(random.random((1, k), "f4") - 0.5)
    given = [schedules.aligned(g) for g in given]
    expected = (x.astype("f8") @ meant.T.astype("f8")).ravel()
    results = {name: schedules.aligned(numpy.full((1, n), numpy.nan, "f4")) for name in ("tvms", "by hand")}
    function, _ = schedules.built(tvms, form.text(n, k), folder, form.name.replace(" ", ""))
    held = [Bfloats(a) if a.dtype.name == "bfloat16" else a for a in (x, *given, results["tvms"])]
    tensors = [tvm_ffi.from_dlpack(a) for a in held]
    at = lambda a: a.ctypes.data_as(ctypes.c_void_p)
    size = sum(g.nbytes for g in given)
    calls = {"tvms": lambda: function(*tensors)} | readers(peers, given[0])
    if form.loop:
        arguments = [at(a) for a in (x, *given, results["by hand"])] + [ctypes.c_size_t(n), ctypes.c_size_t(k)]
        calls["by hand"] = lambda: getattr(peers, form.loop)(*arguments)
    times = schedules.least_times(calls)
    times["memory"] = least_of_readers(times) * size / given[0].nbytes
    for name in calls.keys() & results.keys():
        error = float(numpy.abs(results[name].ravel() - expected).max() / numpy.abs(expected).max())
        assert error < 1e-5, f"{form.name}: {name} is wrong by {error}"
    return size, times


def readers(peers, array):
    """Calls that read an array, by how many streams."""
    at, size = array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes)
    return {f"memory{n}": lambda n=n: peers.read_all(at, size, ctypes.c_size_t(n)) for n in STREAMS}


def least_of_readers(times):
    return min(times[f"memory{n}"] for n in STREAMS)


def load_peers(folder):
    """vectors.c as a library."""
    library = os.path.join(folder, "vectors.so")
    subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", os.path.join(HERE, "vectors.c"), "-o", library], check=True)
    return ctypes.CDLL(library)


def inside(given):
    tvms = os.path.join(given.build, "tvms")
    lines = ["| weights | MB | tvms, GB/s | memory, GB/s | by hand, GB/s | of memory | of the lesser |", "| --- | --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        peers = load_peers(folder)
        for form in forms():
            if given.only and not any(o in form.name for o in given.only):
                continue
            columns = 4096
            n = form.rows_of(columns, given.size)
            size, times = measure(tvms, peers, form, n, columns, folder)
            speed = {name: size / t / 1e9 for name, t in times.items()}
            least = min(speed["memory"], speed.get("by hand", speed["memory"]))
            lines.append(f"| {form.name} | {size / 1e6:.0f} | {speed['tvms']:.1f} | {speed['memory']:.1f} | " + (f"{speed['by hand']:.1f}" if "by hand" in speed else "")
                         + f" | {speed['tvms'] / speed['memory']:.2f} | {speed['tvms'] / least:.2f} |")
            print(lines[-1], flush=True)
    if given.out:
        os.makedirs(given.out, exist_ok=True)
        with open(os.path.join(given.out, "vectors.md"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="folder of a release build")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="forms whose names contain one of these")
    parser.add_argument("--size", type=int, default=128, help="megabytes of weights (default: %(default)s)")
    parser.add_argument("--out", help="folder for vectors.md")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        return inside(given)
    environment = os.environ | {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TVMS_NUM_THREADS")}
    sys.exit(subprocess.run([rows.peers_python(), os.path.abspath(__file__), *sys.argv[1:], "--inside"], env=environment).returncode)


if __name__ == "__main__":
    main()
