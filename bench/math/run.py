#!/usr/bin/env python3
"""The largest errors of VectorMath's functions over all 2^32 floats, in native code of tvms; of those of float64, or of two arguments, over many random arguments.

    run.py [--every N] [--blocks N] [--out FILE] [BUILD [FUNCTION...]]

Each function is written as a loop, lowered by VectorMath, compiled by `tvms build` and judged by judge.c, which needs libmpfr-dev,
libmvec (glibc 2.35, x86-64 with AVX2) and about half a minute of CPU time per function. --every N: only every N-th block
of 65536 floats. Functions of two arguments and those with `float64 ` in front are judged by samples.c, MPFR computing each result anew:
--blocks N: of N blocks of 65536 arguments (default 64). Writes a table (Markdown); the exit status says whether all errors are at most 2.
"""
import argparse, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
FUNCTIONS = "exp exp2 exp10 log log2 log10 log1p tanh sinh cosh asinh acosh atanh sigmoid erf sin cos tan asin acos atan rsqrt".split()
PAIRS = "pow atan2 fmod".split()
DOUBLES = [f"float64 {name}" for name in "exp exp2 exp10 log log2 log10 log1p tanh sinh cosh asinh acosh atanh sigmoid sin cos tan asin acos atan pow atan2".split()]
MODULE = """from tvm.script import ir as I, tirx as T

@I.ir_module
class Module:
"""
FUNCTION = """    @T.prim_func(s_tir=True)
    def {0}_{1}({2}B: T.Buffer((65536,), "{1}")):
        for i in range(65536):
            B[i] = T.{0}({3})

"""


def parts(function):
    """The name and the type."""
    *kind, name = function.split()
    return name, kind[0] if kind else "float32"


def text(function):
    name, kind = parts(function)
    letters = "AC" if name in PAIRS else "A"
    return FUNCTION.format(name, kind, "".join(f'{x}: T.Buffer((65536,), "{kind}"), ' for x in letters), ", ".join(f"{x}[i]" for x in letters))


def build(tvms, functions, folder):
    """The compiled library and the two judges."""
    source, lowered, library = (os.path.join(folder, name) for name in ("module.tvms", "lowered.tvms", "module.so"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(MODULE + "".join(map(text, functions)))
    with open(lowered, "wb") as file:
        subprocess.run([tvms, "opt", "--passes", "VectorMath", source], stdout=file, check=True)
    subprocess.run([tvms, "build", lowered, "-o", library], check=True)
    judges = [os.path.join(folder, name) for name in ("judge", "samples")]
    for judge in judges:
        subprocess.run(["cc", "-O2", "-mavx2", "-mfma", "-I", TOP, "-I", os.path.join(TOP, "include"), os.path.join(HERE, os.path.basename(judge) + ".c"),
                        "-o", judge, "-lmvec", "-lm", "-lmpfr"], check=True)
    return library, *judges


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", nargs="?", default=os.path.join(TOP, "build-rel"))
    parser.add_argument("functions", nargs="*", default=FUNCTIONS + PAIRS + DOUBLES)
    parser.add_argument("--every", default="1")
    parser.add_argument("--blocks", default="64")
    parser.add_argument("--out")
    args = parser.parse_args()
    rows, good = [], True
    with tempfile.TemporaryDirectory() as folder:
        library, judge, samples = build(os.path.join(args.build, "tvms"), args.functions, folder)
        for function in args.functions:
            name, kind = parts(function)
            every = name not in PAIRS and kind == "float32"
            command = [judge, library, name, args.every] if every else [samples, library, name, kind, args.blocks]
            p = subprocess.run(command, stdout=subprocess.PIPE, text=True)
            good = good and p.returncode == 0
            _, worst, at, other, wrong = p.stdout.split()
            count = f"{int(other):,}" if every else ""
            rows.append(f"| {function} | {worst} | {at if every or name not in PAIRS else f'{at}, {other}'} | {count} | {wrong} |")
            print(rows[-1], flush=True)
    if args.out:
        with open(args.out, "w", encoding="utf-8") as file:
            file.write("| function | largest error, units in the last place | at | not the nearest float | wrong |\n| --- | --- | --- | --- | --- |\n" + "\n".join(rows) + "\n")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
