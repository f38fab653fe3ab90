#!/usr/bin/env python3
"""Run one libFuzzer target on the programs of corpus/ and tests/golden/ as seeds, or on what tests/fuzz/seeds.py has for it.

    run.py TARGET [SECONDS [SEED]]

60 seconds by default, with the same random numbers each time unless SEED says others.
What it finds is printed as the input that does it.
"""
import os, re, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
import seeds as made
from cases import files_under

WORDS = """
"@T.prim_func" "@I.ir_module" "@R.function" "T.Buffer(" "T.match_buffer(" "T.handle" "R.Tensor(" "R.call_tir("
"with R.dataflow():" "with T.block(" "with T.sblock(" "T.axis.remap(" "T.grid(" "for " " in range(" "lambda " "def " "class "
"float32" "int64" "T.int64()" "R.output(" "return " "    " "\\x0a    " "[" "]" "(" ")" "{" "}" "\\"\\"\\"" "**" "//" ":="
"""


def programs():
    for path in files_under("corpus", "tests/golden"):
        with open(path, "rb") as source:
            yield source.read()[:8192]


def main():
    target = sys.argv[1]
    seconds = sys.argv[2] if len(sys.argv) > 2 else "60"
    number = sys.argv[3] if len(sys.argv) > 3 else "1"
    with tempfile.TemporaryDirectory() as folder:
        seeds, found = os.path.join(folder, "seeds"), os.path.join(folder, "found")
        os.mkdir(seeds)
        os.mkdir(found)
        for i, text in enumerate(made.of(os.path.basename(target)) or programs()):
            with open(os.path.join(seeds, str(i)), "wb") as seed:
                seed.write(text)
        with open(os.path.join(folder, "words"), "w") as f:
            f.write("\n".join(re.findall(r'"(?:\\.|[^"\\])*"', WORDS)) + "\n")
        command = [target, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-max_len=8192", "-verbosity=0", f"-seed={number}",
                   f"-dict={folder}/words", f"-artifact_prefix={found}/", "-print_final_stats=1", os.path.join(folder, "new"), seeds]
        os.mkdir(os.path.join(folder, "new"))
        p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = p.stdout.decode("utf-8", "replace")
        runs = re.search(r"number_of_executed_units: (\d+)", said)
        print(f"{os.path.basename(target)}: {runs.group(1) if runs else 0} inputs in {seconds} s")
        for name in sorted(os.listdir(found)):
            with open(os.path.join(found, name), "rb") as f:
                print(f"{name}: {f.read()!r}")
        if p.returncode:
            print(said[-5000:])
    good = p.returncode == 0 and runs and int(runs.group(1)) > 0
    print("1 passed, 0 failed" if good else "0 passed, 1 failed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
