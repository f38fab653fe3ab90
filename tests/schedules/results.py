#!/usr/bin/env python3
"""Schedules change how kernels run, not what they compute.

    results.py [--wide | --odd | --shaped] [--symbolic] [--native] [FROM TO]

The kernels and schedules of the numbers FROM to TO (generate.py), 40 of them by default: each is run by the interpreter before and
behind its schedule, on random integers, and the results must be the same. --wide: more kinds of kernels, and longer schedules. --odd: rarer kinds (odd_kernels.py), and steps in groups
(odd_steps.py). --shaped: those of models (shaped_kernels.py), with these steps. --symbolic: sizes that are not known before the kernel runs. --native: what is scheduled also runs as native code, whose results must be the interpreter's.
Steps that change the layout of a parameter are left out.
"""
import os, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import generate
from cases import tvms

FIRST, LAST = 0, 40
LENGTHS = {"wide": 12}


class Judge:
    def __init__(self, folder, kernels, symbolic, native):
        self.more = {"kernels": kernels, "symbolic": symbolic, "length": LENGTHS.get(kernels, 7)}
        self.native = native
        self.folder = folder
        self.kernel, self.steps = self.path("kernel.tvms"), self.path("steps.py")
        self.broken = None

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, program, lines, *options):
        write(self.kernel, program)
        write(self.steps, "\n".join(lines) + "\n" if lines else "pass\n")
        done = tvms("opt", "--verify-each", *options, "--passes", f"ApplyTrace{{file={self.steps}}}", self.kernel)
        if done.returncode not in (0, 1):
            self.broken = f"status {done.returncode}: {done.stderr.decode().strip()[:300]}"
        return done

    def ask(self, program, lines):
        done = self.run(program, lines)
        return done.stdout.decode() if done.returncode == 0 else None

    def results(self, program, backend):
        """What the program computes from the random inputs of one seed: {file: bytes}, or what is wrong."""
        write(self.kernel, program)
        with tempfile.TemporaryDirectory(dir=self.folder) as out:
            done = tvms("run", "--entry", "main", "--seed", "1", "--backend", backend, "--out", out, self.kernel)
            if done.returncode:
                return f"{backend}: status {done.returncode}: {done.stderr.decode().strip()[:300]}"
            return {name: read(os.path.join(out, name)) for name in os.listdir(out)}

    def compiled(self, scheduled):
        """What is wrong with native code of what is scheduled; None: nothing."""
        interpreted, native = self.results(scheduled, "interp"), self.results(scheduled, "llvm")
        if interpreted == native and isinstance(native, dict):
            return None
        said = [found for found in (interpreted, native) if isinstance(found, str)]
        return said[0] if said else "native code computes something else"

    def judge(self, seed):
        """("same" | "unknown" | what is wrong, number of steps)."""
        self.broken = None
        program, lines = generate.make(seed, self.ask, private=True, **self.more)
        if self.broken or lines is None:
            return self.broken or "the kernel cannot be read", 0
        done = [line for line, accepted in lines if accepted]
        found = self.run(program, done, "--check-semantics")
        if self.broken or found.returncode == 1:
            return self.broken or first_difference(self, program, done), len(done)
        wrong = self.compiled(found.stdout.decode()) if self.native else None
        return wrong or ("unknown" if b"note" in found.stderr else "same"), len(done)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def first_difference(judge, program, done):
    for count in range(1, len(done) + 1):
        found = judge.run(program, done[:count], "--check-semantics")
        if found.returncode == 1:
            return f"{done[count - 1]}: {found.stderr.decode().strip().splitlines()[0][-200:]}"
    return "the results differ"


def main():
    if "--help" in sys.argv:
        return print(__doc__.strip())
    kernels = next((name for name in generate.SETS if f"--{name}" in sys.argv), "plain")
    numbers = [int(n) for n in sys.argv[1:] if not n.startswith("--")]
    first, last = numbers if len(numbers) == 2 else (FIRST, LAST)
    same = unknown = steps = 0
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(folder, kernels, "--symbolic" in sys.argv, "--native" in sys.argv)
        for seed in range(first, last):
            found, count = judge.judge(seed)
            steps += count
            same += found == "same"
            unknown += found == "unknown"
            if found not in ("same", "unknown"):
                wrong.append(seed)
                print(f"{seed}: {found}", flush=True)
    print(f"{same} schedules with the same results, {unknown} that cannot be compared, {steps} steps")
    print(f"{same + unknown} passed, {len(wrong)} failed")
    sys.exit(bool(wrong))


main()
