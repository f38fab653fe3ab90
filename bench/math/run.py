#!/usr/bin/env python3
"""The largest errors of VectorMath's functions over all 2^32 floats, in native code of tvms.

    run.py [BUILD] [--every N] [--out FILE] [FUNCTION...]

Each function is written as a loop, lowered by VectorMath, compiled by `tvms build` and judged by judge.c, which needs libmpfr-dev,
libmvec (glibc 2.35, x86-64 with AVX2) and about half a minute of CPU time per function. --every N: only every N-th block
of 65536 floats. Writes a table (Markdown); the exit status says whether all errors are at most 2.
"""
import argparse, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
FUNCTIONS = "exp exp2 exp10 log log2 log10 tanh sigmoid erf sin cos asin acos atan rsqrt".split()
MODULE = """from tvm.script import ir as I, tirx as T

@I.ir_module
class Module:
"""
FUNCTION = """    @T.prim_func(s_tir=True)
    def {0}(A: T.Buffer((65536,), "float32"), B: T.Buffer((65536,), "float32")):
        for i in range(65536):
            B[i] = T.{0}(A[i])

"""


def build(tvms, names, folder):
    """The compiled library and the judge."""
    text, lowered, library = (os.path.join(folder, name) for name in ("module.tvms", "lowered.tvms", "module.so"))
    with open(text, "w", encoding="utf-8") as file:
        file.write(MODULE + "".join(map(FUNCTION.format, names)))
    with open(lowered, "wb") as file:
        subprocess.run([tvms, "opt", "--passes", "VectorMath", text], stdout=file, check=True)
    subprocess.run([tvms, "build", lowered, "-o", library], check=True)
    judge = os.path.join(folder, "judge")
    subprocess.run(["cc", "-O2", "-mavx2", "-mfma", "-I", TOP, "-I", os.path.join(TOP, "include"), os.path.join(HERE, "judge.c"),
                    "-o", judge, "-lmvec", "-lm", "-lmpfr"], check=True)
    return library, judge


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default=os.path.join(TOP, "build-rel"))
    parser.add_argument("functions", nargs="*", default=FUNCTIONS)
    parser.add_argument("--every", default="1")
    parser.add_argument("--out")
    args = parser.parse_args()
    rows, good = [], True
    with tempfile.TemporaryDirectory() as folder:
        library, judge = build(os.path.join(args.build, "tvms"), args.functions, folder)
        for name in args.functions:
            p = subprocess.run([judge, library, name, args.every], stdout=subprocess.PIPE, text=True)
            good = good and p.returncode == 0
            _, worst, at, other, wrong = p.stdout.split()
            rows.append(f"| {name} | {worst} | {at} | {int(other):,} | {wrong} |")
            print(rows[-1], flush=True)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            file.write("| function | largest error, units in the last place | at | not the nearest float | wrong |\n| --- | --- | --- | --- | --- |\n" + "\n".join(rows) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
