#!/usr/bin/env python3
"""Schedules change how kernels run, not what they compute.

    results.py [--wide] [--odd] [--symbolic] [FROM TO]

The kernels and schedules of the numbers FROM to TO (generate.py), 40 of them by default: each is run by the interpreter before and
behind its schedule, on random integers, and the results must be the same. --wide: more kinds of kernels, and longer schedules. --odd: rarer kinds (odd_kernels.py), and steps in groups (odd_steps.py). --symbolic: sizes that are not
known before the kernel runs. Steps that change the layout of a
parameter are left out.
"""
import os, sys, tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import generate
from cases import tvms

FIRST, LAST = 0, 40


class Judge:
    def __init__(self, folder, flags):
        self.more = flags | ({"length": 12} if flags["wide"] else {})
        self.kernel, self.steps = os.path.join(folder, "kernel.tvms"), os.path.join(folder, "steps.py")
        self.broken = None

    def run(self, program, lines, *options):
        with open(self.kernel, "w", encoding="utf-8") as f:
            f.write(program)
        with open(self.steps, "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n" if lines else "pass\n")
        done = tvms("opt", "--verify-each", *options, "--passes", f"ApplyTrace{{file={self.steps}}}", self.kernel)
        if done.returncode not in (0, 1):
            self.broken = f"status {done.returncode}: {done.stderr.decode().strip()[:300]}"
        return done

    def ask(self, program, lines):
        done = self.run(program, lines)
        return done.stdout.decode() if done.returncode == 0 else None

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
        return ("unknown" if b"note" in found.stderr else "same"), len(done)


def first_difference(judge, program, done):
    for count in range(1, len(done) + 1):
        found = judge.run(program, done[:count], "--check-semantics")
        if found.returncode == 1:
            return f"{done[count - 1]}: {found.stderr.decode().strip().splitlines()[0][-200:]}"
    return "the results differ"


def main():
    flags = {flag: f"--{flag}" in sys.argv for flag in ("wide", "odd", "symbolic")}
    numbers = [int(n) for n in sys.argv[1:] if not n.startswith("--")]
    first, last = numbers if len(numbers) == 2 else (FIRST, LAST)
    same = unknown = steps = 0
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(folder, flags)
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
