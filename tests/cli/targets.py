#!/usr/bin/env python3
"""Code for other machines, run by qemu: objects and C of the same programs compute the bits of the interpreter there."""
import ctypes, os, platform, random, shutil, struct, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import npy
from cases import main, source, tvms
from library_calls import CODES, KINDS

MACHINES = {
    "aarch64-linux-gnu": ("aarch64-linux-gnu", "aarch64-linux-gnu,cortex-a72"),
    "riscv64-linux-gnu": ("riscv64-linux-gnu", "riscv64-linux-gnu,,+v"),
    "arm-linux-gnueabihf": ("armv7-linux-gnueabihf", "thumbv7-linux-gnueabihf"),
    "i686-linux-gnu": (),  # C text only
}
QEMU = {
    "aarch64-linux-gnu": ["qemu-aarch64"],
    "riscv64-linux-gnu": ["qemu-riscv64", "-cpu", "rv64,v=true,vlen=128"],
    "arm-linux-gnueabihf": ["qemu-arm"],
    "i686-linux-gnu": ["qemu-i386"],
}
HEAD = "from tvm.script import tirx as T\n\n"
ELEMENTS = HEAD + """@T.prim_func
def f(A: T.Buffer((16, 40), "{dtype}"), B: T.Buffer((16, 40), "{dtype}"), C: T.Buffer((16, 40), "{dtype}")):
    for i, j in T.grid(16, 40):
        C[i, j] = {expression}
"""
PRODUCT = HEAD + """@T.prim_func(s_tir=True)
def f(A: T.Buffer((24, 40), "float32"), B: T.Buffer((40, 35), "float32"), C: T.Buffer((24, 35), "float32")):
    T.func_attr({"tirx.noalias": True})
    Y = T.alloc_buffer((24, 35))
    for i, j, k in T.grid(24, 35, 40):
        with T.sblock("product"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                Y[vi, vj] = T.float32(0)
            Y[vi, vj] = Y[vi, vj] + A[vi, vk] * B[vk, vj]
    for i, j in T.grid(24, 35):
        with T.sblock("relu"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(Y[vi, vj], T.float32(0.5))
"""
PARALLEL = HEAD + """@T.prim_func
def f(A: T.Buffer((16, 40), "int32"), B: T.Buffer((16, 40), "int32"), C: T.Buffer((16, 40), "int32")):
    for i in T.parallel(16):
        for j in range(40):
            C[i, j] = A[i, j] * B[i, j] - T.floordiv(A[i, j], T.max(B[i, j], 1))
"""


MODEL = """from tvm.script import ir as I, relax as R

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((4, 8), "float32"), w: R.Tensor((8, 6), "float32")) -> R.Tuple(R.Tensor((4, 6), "float32"), R.Shape([2, 3])):
        a = R.matmul(x, w)
        b = R.nn.relu(a)
        return (b, R.shape([2, 3]))
"""
# Machines without a system here: qemu and options of clang.
ALONE = {
    "hexagon-unknown-linux-musl": ("qemu-hexagon", []),
    "riscv32-linux-gnu": ("qemu-riscv32", ["-march=rv32gc", "-mabi=ilp32d"]),
}


def programs():
    """(name, text, kinds and shapes of the tensors)"""
    for dtype in ("int8", "uint16", "int64", "float16", "float32", "float64"):
        real = dtype.startswith("float")
        expression = "A[i, j] * B[i, j] + T.max(A[i, j], B[i, j]) - " + ("A[i, j] / B[i, j]" if real else "(A[i, j] & B[i, j])")
        yield dtype, ELEMENTS.format(dtype=dtype, expression=expression), [(KINDS[dtype], (16, 40))] * 3
    yield "integers of reals", ELEMENTS.format(dtype="float32", expression='T.Cast("float32", T.Cast("int32", A[i, j] * T.float32(1e9))) - B[i, j]'), \
        [("<f4", (16, 40))] * 3
    yield "product", PRODUCT, [("<f4", (24, 40)), ("<f4", (40, 35)), ("<f4", (24, 35))]
    yield "parallel", PARALLEL, [("<i4", (16, 40))] * 3


class Targets(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)
        self.random = random.Random(3)

    def file(self, name):
        return os.path.join(self.place.name, name)

    def data(self, kind, count):
        if CODES[kind][0] == 2:
            return [self.random.uniform(-4, 4) for _ in range(count)]
        return [self.random.randint(1 if CODES[kind][0] else -9, 9) or 1 for _ in range(count)]

    def inputs(self, tensors):
        """Options of `tvms run` for random tensors, and arguments of targets.c for the same."""
        options, arguments = [], []
        for name, (kind, (rows, columns)) in zip("ABC", tensors):
            path, size = self.file(name + ".npy"), rows * columns * CODES[kind][1] // 8
            npy.write(path, kind, (rows, columns), self.data(kind, rows * columns))
            options += ["--in", f"{name}={path}"]
            with open(path, "rb") as f, open(self.file(name), "wb") as raw:
                raw.write(f.read()[-size:])
            arguments.append("%d:%d:%dx%d:%s" % (*CODES[kind], rows, columns, self.file(name)))
        return options, arguments, size

    def caller(self, machine):
        """targets.c as an object, which is made once."""
        path = self.file(machine + ".o")
        if not os.path.exists(path):
            self.run_quietly(machine + "-gcc", "-O2", "-std=c11", "-c", source("tests", "cli", "targets.c"), "-o", path)
        return path

    def run_on(self, machine, code, arguments):
        """What the last tensor is after a call of `f`."""
        with open(self.file("C"), "rb") as f:
            before = f.read()
        c = subprocess.run([machine + "-gcc", "-O1", "-std=c11", "-static", self.caller(machine), code, "-o", self.file("program"), "-lm"], capture_output=True)
        self.assertEqual(c.returncode, 0, c.stderr.decode())
        p = subprocess.run([*QEMU[machine], self.file("program"), *arguments], capture_output=True, timeout=120)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        with open(self.file("C"), "rb") as f:
            after = f.read()
        with open(self.file("C"), "wb") as f:
            f.write(before)
        return after

    def test_programs_compute_the_same(self):
        for name, text, tensors in programs():
            options, arguments, size = self.inputs(tensors)
            p = tvms("run", "-", "--out", self.place.name, *options, stdin=text)
            self.assertEqual(p.returncode, 0, p.stderr.decode())
            with open(self.file("result.npy"), "rb") as f:
                wanted = f.read()[-size:]
            p = tvms("build", "-", "-o", self.file("x.c"), "--fp", "strict", stdin=text)
            self.assertEqual(p.returncode, 0, p.stderr.decode())
            for machine, targets in MACHINES.items():
                with self.subTest(program=name, machine=machine, form="C"):
                    self.assertEqual(self.run_on(machine, self.file("x.c"), arguments), wanted)
                for target in targets:
                    with self.subTest(program=name, target=target):
                        p = tvms("build", "-", "-o", self.file("x.o"), "--fp", "strict", "--target", target, stdin=text)
                        self.assertEqual(p.returncode, 0, p.stderr.decode())
                        self.assertEqual(self.run_on(machine, self.file("x.o"), arguments), wanted)

    def built(self, *options, text, name):
        p = tvms("build", "-", "-o", self.file(name), *options, stdin=text)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        return self.file(name)

    def run_quietly(self, *command):
        p = subprocess.run(command, capture_output=True, timeout=120)
        self.assertEqual(p.returncode, 0, p.stderr.decode())

    def test_objects_have_the_layout_of_the_machine(self):
        files = []
        for name, shape in (("x", (4, 8)), ("w", (8, 6))):
            files.append(self.file(name))
            with open(files[-1], "wb") as f:
                f.write(struct.pack(f"<{shape[0] * shape[1]}f", *self.data("<f4", shape[0] * shape[1])))
        results = []
        forms = {machine: ["x.c"] + [f"x.o --target {t}" for t in targets] for machine, targets in MACHINES.items()}
        for machine, form in ((m, f) for m in forms for f in forms[m]):
            with self.subTest(machine=machine, form=form):
                name, *target = form.split()
                code = self.built("--fp", "strict", *target, text=MODEL, name=name)
                self.run_quietly(machine + "-gcc", "-O1", "-std=c11", "-static", source("tests", "cli", "targets_objects.c"), code,
                                 "-o", self.file("program"), "-lm")
                self.run_quietly(*QEMU[machine], self.file("program"), *files, self.file("result"))
                with open(self.file("result"), "rb") as f:
                    results.append(f.read())
        self.assertEqual(set(results), {results[0]})
        with open(files[0], "rb") as x, open(files[1], "rb") as w:
            xs, ws = struct.unpack("<32f", x.read()), struct.unpack("<48f", w.read())
        for at, value in enumerate(struct.unpack("<24f", results[0])):
            wanted = max(0.0, sum(xs[at // 6 * 8 + k] * ws[k * 6 + at % 6] for k in range(8)))
            self.assertAlmostEqual(value, wanted, delta=1e-4)

    def test_machines_without_a_system(self):
        for target, (qemu, options) in ALONE.items():
            for fp in ("strict", "contract"):
                with self.subTest(target=target, fp=fp):
                    code = self.built("--fp", fp, "--target", target, text=PRODUCT, name="x.o")
                    self.run_quietly("clang", "--target=" + target, *options, "-O1", "-ffreestanding", "-fno-builtin", "-c",
                                     source("tests", "cli", "targets_alone.c"), "-o", self.file("start.o"))
                    self.run_quietly("ld.lld", "-static", self.file("start.o"), code, "-o", self.file("program"))
                    self.run_quietly(qemu, self.file("program"))

    def test_other_layouts_and_orders_of_bytes_are_refused(self):
        for target in ("i686-linux-gnu", "armebv7-linux-gnueabihf", "powerpc64-linux-gnu"):
            p = tvms("build", "-", "-o", self.file("x.o"), "--target", target, stdin=PARALLEL)
            self.assertEqual(p.returncode, 2, p.stderr.decode())

    def test_libraries_are_for_any_processor_of_this_architecture(self):
        own = platform.machine()
        with self.subTest(target=own):
            library = self.built("--target", own + "-linux-gnu", text=PRODUCT, name="x.so")
            self.assertTrue(hasattr(ctypes.CDLL(library), "__tvm_ffi_f"))
        for target in ("riscv64-linux-gnu", own + "-unknown-freebsd"):
            with self.subTest(target=target):
                p = tvms("build", "-", "-o", self.file("x.so"), "--target", target, stdin=PRODUCT)
                self.assertEqual(p.returncode, 2)
                self.assertIn(b"can be linked for Linux on this machine's architecture only", p.stderr)


if __name__ == "__main__":
    tools = [tool for machine in MACHINES for tool in (machine + "-gcc", QEMU[machine][0])]
    tools += ["clang", "ld.lld"] + [qemu for qemu, _ in ALONE.values()]
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        print("no cross compiler or emulator: " + ", ".join(missing) + " (./setup test installs them)")
        sys.exit(77)
    main()
