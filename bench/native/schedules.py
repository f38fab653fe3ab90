#!/usr/bin/env python3
"""Does native code keep what a schedule gives? Products of matrices, scheduled by stock TVM and printed, built by tvms and by TVM.

    python3 bench/native/schedules.py build-rel [--sizes N...] [--out bench/native/results]

One thread, CPU time, the least of several turns; both are called through tvm-ffi in the same process, in turns. Results are compared with NumPy's.
The forms of one schedule: `loops`, with T.vectorized and T.unroll as the primitives leave them, and `lowered`, behind TVM's own passes, where vectors and
straight-line code stand in the text.
"""
import argparse, os, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
RELEASE = "0.27"
TILES = ((8, 32), (4, 64), (8, 64))
LOWERING = ("LowerInitBlock", "PlanAndUpdateBufferAllocationLocation", "ConvertBlocksToOpaque", "CompactBufferAllocation", "LowerMatchBuffer",
            "LowerOpaqueBlock", "FlattenBuffer", "StmtSimplify", "VectorizeLoop", "UnrollLoop", "StmtSimplify", "RemoveNoOp")
TURNS, BUDGET = 30, 0.5  # seconds of all turns

PRODUCT = """
@I.ir_module
class Module:
    @T.prim_func(s_tir=True)
    def main(A: T.Buffer(({n}, {n}), "float32"), B: T.Buffer(({n}, {n}), "float32"), C: T.Buffer(({n}, {n}), "float32")):
        T.func_attr({{"tirx.noalias": True}})
        for i, j, k in T.grid({n}, {n}, {n}):
            with T.sblock("product"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


def stock_python():
    tool = os.path.join(HERE, "..", "..", "tests", "oracle", "stock-tvm")
    return subprocess.run([tool, RELEASE], check=True, capture_output=True, text=True).stdout.split()[-1]


def scheduled(n, rows, columns):
    """A register tile with its sums in a local buffer."""
    import tvm, tvm.s_tir
    from tvm.script import ir as I, tirx as T
    schedule = tvm.s_tir.Schedule(tvm.script.from_source(PRODUCT.format(n=n), extra_vars={"I": I, "T": T}))
    block = schedule.get_sblock("product")
    i, j, k = schedule.get_loops(block)
    written = schedule.cache_write(block, 0, "local")
    i0, i1 = schedule.split(i, [None, rows])
    j0, j1 = schedule.split(j, [None, columns])
    k0, k1 = schedule.split(k, [None, 4])
    schedule.reorder(i0, j0, k0, k1, i1, j1)
    schedule.reverse_compute_at(written, j0)
    schedule.vectorize(schedule.get_loops(written)[-1])
    for loop in (k1, i1):
        schedule.unroll(loop)
    schedule.vectorize(j1)
    schedule.decompose_reduction(block, k0)
    return schedule.mod


def lowered(module):
    import tvm, tvm.s_tir
    for name in LOWERING:
        make = getattr(tvm.s_tir.transform, name, None) or getattr(tvm.tirx.transform, name)
        module = make()(module)
    return module


def built(tvms, text, folder, name):
    import tvm_ffi
    path = os.path.join(folder, name)
    with open(path + ".tvms", "w", encoding="utf-8") as f:
        f.write(text)
    before = os.times()
    subprocess.run([tvms, "build", path + ".tvms", "-o", path + ".so"], check=True)
    after = os.times()
    seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return tvm_ffi.load_module(path + ".so")["main"], seconds


def aligned(array):
    """A copy that begins at a multiple of 64 bytes, as TVM wants it."""
    import numpy
    raw = numpy.empty(array.nbytes + 64, "u1")
    begin = -raw.ctypes.data % 64
    copy = raw[begin:begin + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def least_times(calls):
    """Seconds of each call, in turns."""
    least = {}
    for name, call in calls.items():
        call()
        begin = time.process_time()
        call()
        least[name] = max(time.process_time() - begin, 1e-6)
    counts = {name: max(1, int(BUDGET / TURNS / seconds)) for name, seconds in least.items()}
    for _ in range(TURNS):
        for name, call in calls.items():
            begin = time.process_time()
            for _ in range(counts[name]):
                call()
            least[name] = min(least[name], (time.process_time() - begin) / counts[name])
    return least


def measure(tvms, n, rows, columns, folder):
    import numpy, tvm, tvm_ffi
    random = numpy.random.default_rng(n)
    a, b = (aligned(random.random((n, n), "f4")) for _ in range(2))
    module = scheduled(n, rows, columns)
    cpu = tvm.get_global_func("target.llvm_get_system_cpu")()
    target = tvm.target.Target({"kind": "llvm", "mcpu": cpu})
    seconds, functions = {}, {}
    begin = time.process_time()
    functions["TVM"] = tvm.compile(module, target=target)["main"]
    seconds["TVM"] = time.process_time() - begin
    for form, text in (("loops", module.script()), ("lowered", lowered(module).script())):
        functions[form], seconds[form] = built(tvms, text, folder, f"{form}{n}_{rows}_{columns}")
    # All write to one place: at 512, where a result lies decides on 3 % of the time.
    c = aligned(numpy.zeros((n, n), "f4"))
    given = [tvm_ffi.from_dlpack(x) for x in (a, b, c)]
    expected = a @ b
    for name, function in functions.items():
        c[...] = numpy.nan
        function(*given)
        error = float(numpy.abs(c - expected).max() / numpy.abs(expected).max())
        assert error < 1e-5, f"{name}: wrong by {error}"
    times = least_times({name: lambda function=function: function(*given) for name, function in functions.items()})
    return times, seconds


def inside(tvms, sizes, out):
    lines = ["| size, tile | TVM, GFLOP/s | tvms, loops | of TVM | tvms, lowered | of TVM | TVM compiles, ms | tvms, the process |",
             "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            for rows, columns in TILES:
                times, seconds = measure(tvms, n, rows, columns, folder)
                speed = {name: 2 * n**3 / t / 1e9 for name, t in times.items()}
                lines.append(f"| {n}, {rows} x {columns} | {speed['TVM']:.0f} | {speed['loops']:.0f} | {speed['loops'] / speed['TVM']:.3f} | "
                             f"{speed['lowered']:.0f} | {speed['lowered'] / speed['TVM']:.3f} | {seconds['TVM'] * 1e3:.0f} | {seconds['loops'] * 1e3:.0f} |")
                print(lines[-1], flush=True)
    if out:
        os.makedirs(out, exist_ok=True)
        with open(os.path.join(out, "schedules.md"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="folder of a release build")
    parser.add_argument("--sizes", nargs="+", type=int, default=[256, 512], metavar="N")
    parser.add_argument("--out", help="folder for schedules.md")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        inside(os.path.join(given.build, "tvms"), given.sizes, given.out)
        return
    # Threads are not compared here, and no setting of another library counts.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    environment |= {name: "1" for name in ("TVM_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TVMS_NUM_THREADS")}
    sys.exit(subprocess.run([stock_python(), os.path.abspath(__file__), "--inside", *sys.argv[1:]], env=environment).returncode)


if __name__ == "__main__":
    main()
