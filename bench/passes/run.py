#!/usr/bin/env python3
"""The bench of passes: what the CPU pipeline takes over whole models, against stock TVM's own passes in the same run.

    run.py [BUILD] [--out FOLDER] [--python PYTHON] [--runs N]

BUILD is a release build (default: build). The models are those of generate.py: ResNet-50, and decoders of 4 to 64 layers. The
pipeline is Relax's `default` followed by the TIR pipeline for CPUs, in one process on each side, the same passes in the same order.
Of stock TVM 0.27 only its passes are timed (CPU time; not the import, the reading, the printing); of tvms the whole process that
reads the model, runs the passes and prints the result, and for comparison the same without the passes. Medians, in turns.
Writes a table (Markdown) to standard output, and with --out also report.md, report.json and report.svg. Not part of the tests.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
GOAL = 0.2

RELAX = """LegalizeOps AnnotateTIROpPattern FoldConstant FuseOps FuseTIR RewriteDataflowReshape ToNonDataflow RemovePurityChecking CallTIRRewrite
    StaticPlanBlockMemory LowerAllocTensor KillAfterLastUse LowerRuntimeBuiltin ComputePrimValue VMShapeLower AttachGlobalSymbol""".split()
TIR = """BindTarget CanonicalizeLoop LowerCrossThreadReduction LowerInitBlock PlanAndUpdateBufferAllocationLocation ConvertBlocksToOpaque
    CompactBufferAllocation UnifyThreadBinding LowerMatchBuffer StmtSimplify AnnotateIrregularLoop LowerOpaqueBlock FlattenBuffer BF16ComputeLegalize
    NarrowDataType LoopPartition VectorizeLoop StorageRewrite HoistIfThenElse UnrollLoop RenormalizeSplitPattern StmtSimplify RemoveNoOp
    RewriteUnsafeSelect CommonSubexprElim FP8ComputeLegalize AnnotateEntryFunc MergeSharedMemoryAllocations SplitHostDevice MakePackedAPI
    FP8StorageLegalize BF16StorageLegalize LowerTVMBuiltin LowerIntrin""".split()

# What runs in stock TVM's process: reads models' paths from its input, answers with seconds of CPU of each pass.
STOCK = """
import json, sys, time
import tvm
from tvm import relax, s_tir, tirx
llvm = tvm.target.Target("llvm")
arguments = {"BindTarget": (llvm.with_host(llvm),), "NarrowDataType": (32,), "VectorizeLoop": (True,)}
def made(name):
    for home in (relax.transform, s_tir.transform, tirx.transform):
        if hasattr(home, name): return getattr(home, name)(*arguments.get(name, ()))
for line in sys.stdin:
    path, *names = line.split()
    module, seconds = tvm.script.from_source(open(path).read()), []
    for name in names:
        run = made(name)
        begin = time.process_time(); module = run(module); seconds.append(time.process_time() - begin)
    print(json.dumps(seconds), flush=True)
"""


def cpu_of(command):
    """User and system seconds of a process that succeeds."""
    quiet = os.open(os.devnull, os.O_RDWR)
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, quiet, 0), (os.POSIX_SPAWN_DUP2, quiet, 1)])
    _, status, used = os.wait4(child, 0)
    os.close(quiet)
    if status:
        sys.exit(f"{' '.join(command)[:200]} failed: {status}")
    return used.ru_utime + used.ru_stime


def pipeline(names):
    options = {"BindTarget": "{target=llvm,host=llvm}"}
    return ",".join(name + options.get(name, "") for name in names)


def model(folder, *arguments):
    path = os.path.join(folder, "-".join(arguments) + ".tvms")
    with open(path, "w") as f:
        subprocess.run([sys.executable, os.path.join(HERE, "generate.py"), *arguments], stdout=f, check=True)
    return path


def python_with_tvm(given):
    if given:
        return given
    sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "tests", "oracle")]
    from stock import python_of
    return python_of("0.27")


def measure(tvms, stock, path, runs):
    """Medians: seconds of tvms with the passes and without, and of each pass of stock TVM."""
    with_passes, without, theirs = [], [], []
    release = ["--from", "0.27", "--dialect", "0.27"]
    for _ in range(runs):
        with_passes.append(cpu_of([tvms, "opt", *release, "--passes", pipeline(RELAX + TIR), path]))
        without.append(cpu_of([tvms, "print", *release, path]))
        stock.stdin.write(" ".join([path, *RELAX, *TIR]) + "\n")
        stock.stdin.flush()
        theirs.append(json.loads(stock.stdout.readline()))
    return statistics.median(with_passes), statistics.median(without), [statistics.median(column) for column in zip(*theirs)]


def plot(rows):
    """Time of tvms and of stock TVM by model, on one scale."""
    most = max(row["stock"] for row in rows)
    height = 48 * len(rows) + 20
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="{height}" font-family="sans-serif" font-size="13">']
    for i, row in enumerate(rows):
        y = 10 + 48 * i
        out.append(f'<text x="150" y="{y + 22}" text-anchor="end">{row["model"]}</text>')
        for j, (who, color) in enumerate((("tvms", "#2a7"), ("stock", "#89a"))):
            width = row[who] / most * 520
            name = "tvms, whole process" if who == "tvms" else "stock TVM 0.27, passes only"
            out.append(f'<rect x="160" y="{y + 18 * j}" width="{width:.0f}" height="16" fill="{color}"/>')
            out.append(f'<text x="{166 + width:.0f}" y="{y + 13 + 18 * j}">{row[who] * 1e3:.0f} ms, {name}</text>')
    return "\n".join(out + ["</svg>"]) + "\n"


def table(rows):
    lines = ["| model | tvms, whole process (ms) | reading and printing alone (ms) | stock TVM, passes (ms) | ratio, whole process | ratio, passes | goal |",
             "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"]
    for r in rows:
        lines.append(f"| {r['model']} | {r['tvms'] * 1e3:.0f} | {r['rest'] * 1e3:.0f} | {r['stock'] * 1e3:.0f} | {r['tvms'] / r['stock']:.3f} "
                     f"| {(r['tvms'] - r['rest']) / r['stock']:.3f} | {GOAL} |")
    small, large = rows[-2], rows[-1]
    lines += ["", f"From {small['model']} to {large['model']} tvms takes {large['tvms'] / small['tvms']:.2f} times as long."]
    return "\n".join(lines) + "\n"


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("build", nargs="?", default=os.path.join(ROOT, "build"))
    arguments.add_argument("--out")
    arguments.add_argument("--python", default="")
    arguments.add_argument("--runs", type=int, default=5)
    a = arguments.parse_args()
    tvms = os.path.join(a.build, "tvms")
    stock = subprocess.Popen([python_with_tvm(a.python), "-c", STOCK], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, *given in (("ResNet-50", "resnet", "16"), ("4 layers", "decoder", "4"), ("16 layers", "decoder", "16"), ("32 layers", "decoder", "32"),
                             ("64 layers", "decoder", "64")):
            own, rest, theirs = measure(tvms, stock, model(folder, *given), a.runs)
            rows.append({"model": name, "tvms": own, "rest": rest, "stock": sum(theirs), "by pass": dict(zip(RELAX + TIR, theirs))})
    stock.stdin.close()
    stock.wait()
    print(table(rows), end="")
    if a.out:
        os.makedirs(a.out, exist_ok=True)
        for name, text in (("report.md", table(rows)), ("report.svg", plot(rows)), ("report.json", json.dumps(rows, indent=1) + "\n")):
            with open(os.path.join(a.out, name), "w") as f:
                f.write(text)


main()
