#!/usr/bin/env python3
"""How long does compiling take? PrimFuncs to machine code, by tvms and by stock TVM, in milliseconds of CPU; loading LLVM is not counted.

    python3 bench/native/compile.py build-rel [--only NAME...] [--out bench/native/results]

Both have their program read before the clock starts, have compiled something before, and take turns; the least of several counts. tvms is called through its
library, in a process of its own, and makes an object file of the text as it is, with everything that `tvms build` does; TVM makes a module in memory. Neither
links. `ResNet-50` is the PrimFuncs that TVM's LegalizeOps, FuseOps and FuseTIR make of a network with 53 convolutions.
"""
import argparse, ctypes, os, subprocess, sys, tempfile, time

import products, schedules

TURNS = 7
HEAD = "\n@I.ir_module\nclass Module:\n    @T.prim_func(s_tir=True)\n"
SMALL = {
    "add one": HEAD + """    def main(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i in range(64):
            with T.sblock("add"):
                v = T.axis.spatial(64, i)
                B[v] = A[v] + T.float32(1)
""", "add and relu": HEAD + """    def main(A: T.Buffer((128, 512), "float32"), B: T.Buffer((512,), "float32"), C: T.Buffer((128, 512), "float32")):
        T.func_attr({"tirx.noalias": True})
        Y = T.alloc_buffer((128, 512))
        for i, j in T.grid(128, 512):
            with T.sblock("add"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = A[vi, vj] + B[vj]
        for i, j in T.grid(128, 512):
            with T.sblock("relu"):
                vi, vj = T.axis.remap("SS", [i, j])
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
""", "symbolic scale": HEAD + """    def main(a: T.handle, b: T.handle, factor: T.float32):
        T.func_attr({"tirx.noalias": True})
        n = T.int64()
        A = T.match_buffer(a, (n,))
        B = T.match_buffer(b, (n,))
        for i in range(n):
            with T.sblock("scale"):
                v = T.axis.spatial(n, i)
                B[v] = A[v] * factor
""", "row sum": HEAD + """    def main(A: T.Buffer((64, 1024), "float32"), B: T.Buffer((64,), "float32")):
        T.func_attr({"tirx.noalias": True})
        for i, k in T.grid(64, 1024):
            with T.sblock("sum"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    B[vi] = T.float32(0)
                B[vi] = B[vi] + A[vi, vk]
"""}
# channels of the first convolutions of a stage, blocks, stride
STAGES = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))


def resnet50():
    """The PrimFuncs of ResNet-50 with batch norms folded, as text."""
    import tvm
    from tvm import relax
    builder, weights, params = relax.BlockBuilder(), 0, []

    def param(*shape):
        params.append(relax.Var(f"w{len(params)}", relax.TensorType(shape, "float32")))
        return params[-1]

    def conv(x, inner, channels, size, stride, relu):
        y = relax.op.nn.conv2d(x, param(channels, inner, size, size), strides=stride, padding=size // 2)
        y = builder.emit(y)
        y = builder.emit(relax.op.add(y, param(1, channels, 1, 1)))
        return builder.emit(relax.op.nn.relu(y)) if relu else y

    x = relax.Var("x", relax.TensorType((1, 3, 224, 224), "float32"))
    # The parameters are known at the end only.
    def body():
        y = conv(x, 3, 64, 7, 2, True)
        y, inner = builder.emit(relax.op.nn.max_pool2d(y, (3, 3), strides=2, padding=1)), 64
        for channels, blocks, first in STAGES:
            for i in range(blocks):
                stride = first if i == 0 else 1
                short = y if i else conv(y, inner, 4 * channels, 1, stride, False)
                z = conv(conv(y, inner, channels, 1, 1, True), channels, channels, 3, stride, True)
                z = conv(z, channels, 4 * channels, 1, 1, False)
                y, inner = builder.emit(relax.op.nn.relu(builder.emit(relax.op.add(z, short)))), 4 * channels
        y = builder.emit(relax.op.mean(y, axis=(2, 3)))
        return builder.emit(relax.op.matmul(y, param(2048, 1000)))

    with builder.function("main"):
        with builder.dataflow():
            out = builder.emit_output(body())
        builder.emit_func_output(out, params=[x, *params])
    module = tvm.ir.transform.Sequential([relax.transform.LegalizeOps(), relax.transform.AnnotateTIROpPattern(), relax.transform.FuseOps(),
                                          relax.transform.FuseTIR(), relax.transform.DeadCodeElimination()])(builder.get())
    return tvm.IRModule({name: f.with_attr("global_symbol", name.name_hint) for name, f in module.functions.items() if isinstance(f, tvm.tirx.PrimFunc)})


def read(text):
    import tvm
    from tvm.script import ir as I, tirx as T
    text = "\n".join(line for line in text.splitlines() if not line.startswith("from "))  # stock TVM reads no imports
    return tvm.script.from_source(text, extra_vars={"I": I, "T": T})


# ---- tvms, in a process of its own ----

class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("form", ctypes.c_int), ("target", ctypes.c_char_p), ("primfuncs_only", ctypes.c_bool), ("strict", ctypes.c_bool)]


def compile_once(library, path):
    """Seconds of reading and of compiling, and bytes."""
    with open(path, "rb") as f:
        text = f.read()
    context, source, program = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    code, size = ctypes.c_void_p(), ctypes.c_size_t()
    def check(status):
        assert status == 0, status
    check(library.tvms_context_create(None, ctypes.byref(context)))
    check(library.tvms_source_add(context, path.encode(), text, ctypes.c_size_t(len(text)), ctypes.byref(source)))
    begin = time.process_time()
    check(library.tvms_program_read(context, source, None, ctypes.byref(program)))
    middle = time.process_time()
    check(library.tvms_program_build(program, ctypes.byref(Options(ctypes.sizeof(Options), 0, None, False, False)), ctypes.byref(code), ctypes.byref(size)))
    end = time.process_time()
    library.tvms_context_destroy(context)
    return middle - begin, end - middle, size.value


def serve(build):
    library = ctypes.CDLL(os.path.join(build, "lib", "libtvms.so.0"))
    library.tvms_context_destroy.argtypes = [ctypes.c_void_p]
    for line in sys.stdin:
        print(*compile_once(library, line.strip()), flush=True)


class Tvms:
    def __init__(self, build):
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), build, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def compile(self, path):
        self.process.stdin.write(path + "\n")
        self.process.stdin.flush()
        return tuple(map(float, self.process.stdout.readline().split()))


# ---- Both ----

def measure(tvms, name, module, folder):
    import tvm
    path = os.path.join(folder, name.replace(" ", "_") + ".tvms")
    with open(path, "w", encoding="utf-8") as f:
        f.write(module.script())
    cpu = tvm.get_global_func("target.llvm_get_system_cpu")()
    target = tvm.target.Target({"kind": "llvm", "mcpu": cpu})
    times = {"tvms": [], "TVM": [], "read": []}
    for turn in range(TURNS + 1):
        reading, building, _ = tvms.compile(path)
        begin = time.process_time()
        tvm.compile(module, target=target)
        if turn:
            times["read"].append(reading)
            times["tvms"].append(building)
            times["TVM"].append(time.process_time() - begin)
        if turn > 2 and times["TVM"][-1] > 1:
            break
    return {peer: 1e3 * min(t) for peer, t in times.items()}


def inside(build, only, out):
    lines = ["| what | tvms, ms | TVM, ms | ratio | tvms reads, ms |", "| --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    work = {name: lambda text=text: read(text) for name, text in SMALL.items()}
    for shape in ("64x64x64", "512x512x512", "127x129x131"):
        work["matmul " + shape] = lambda shape=shape: read(products.Shape(shape).text())
    work["scheduled 512, 8 x 32"] = lambda: schedules.scheduled(512, 8, 32)
    work["ResNet-50"] = resnet50
    tvms = Tvms(build)
    with tempfile.TemporaryDirectory() as folder:
        for name, make in work.items():
            if only and name not in only:
                continue
            ms = measure(tvms, name, make(), folder)
            lines.append(f"| {name} | {ms['tvms']:.1f} | {ms['TVM']:.1f} | {ms['tvms'] / ms['TVM']:.2f} | {ms['read']:.1f} |")
            print(lines[-1], flush=True)
    if out:
        os.makedirs(out, exist_ok=True)
        with open(os.path.join(out, "compile.md"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="folder of a release build")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--out", help="folder for compile.md")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.build)
    elif given.inside:
        inside(given.build, given.only, given.out)
    else:
        sys.exit(subprocess.run([schedules.stock_python(), os.path.abspath(__file__), "--inside", *sys.argv[1:]]).returncode)


if __name__ == "__main__":
    main()
