#!/usr/bin/env python3
"""Generated Relax modules (tests/run/relax_programs.py), every way there is: the results are the same.

    generated.py [--more STEP]... [--functions N] [--release R] [--only-ours] [--unplanned] [COUNT [FIRST]]

COUNT modules of N functions, from the number FIRST on:

  - interpreted, as native code (from -O0 to -O3, by the number of the module), in tvms's virtual machine, in stock TVM's machine by TVM's own build, there by the library of `tvms build --vm`,
    and in ours by the library that TVM exports
  - with --more also steps that native code refuses or TVM does not build: local, unknown, runtime, callable (functions as values), distinct (sizes that
    follow from the data); how often is counted

TVM crashes where its plan of memory takes memory of one branch for the other; then, or with --unplanned at once, it builds without it. What TVM does not build is compared without it. Floats may differ by 1e-5 of the largest where TVM computes them, else they are the same bits.
"""
import argparse, collections, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "run"))
from stock import Stock
from relax_programs import Module, Shape, Tensor
from relax_programs import NUMBER, SIGNATURE
from relax_ways import Ways, differ

CLOSE = 1e-5
# How a module is built, by its number: without --fp strict, results are rounded otherwise from -O2 on.
LEVELS = [["--fp", "strict"], ["-O0", "--fp", "strict"], ["-O2"], ["-O3"]]


def as_json(t, value):
    if t == NUMBER:
        return value
    if isinstance(t, Shape):
        return {"shape": value}
    if isinstance(t, Tensor):
        return {"tensor": value}
    return {"tuple": [as_json(f, v) for f, v in zip(t, value)]}


class Judge:
    def __init__(self, stock, unplanned):
        self.unplanned = unplanned
        self.stock, self.counts, self.passed, self.failed = stock, collections.Counter(), 0, 0

    def check(self, module, name, how, wrong):
        self.passed, self.failed = self.passed + (not wrong), self.failed + bool(wrong)
        if wrong:
            print(f"FAILED: module {module.seed} {name} {how}: {wrong}", flush=True)

    def native(self, module, ways, wanted, *options):
        library = ways.build("native.so", *options)
        if not library:
            if "[E0944]" in ways.wrong and module.more:
                self.counts["modules that native code refuses"] += 1
                self.counts["native code: " + ways.wrong.split("[E0944]: ")[1].splitlines()[0][:160]] += 1
            else:
                self.check(module, "", "native build", ways.wrong)
            return
        got = ways.call(library, module.mains)
        for name in module.mains:
            self.check(module, name, "native", differ(got[name], wanted[name], 0.0 if "strict" in options else 1e-4))
        self.counts["native"] += len(module.mains)

    def with_stock(self, module, ways, wanted, machine):
        theirs = ways.path("theirs.so")
        question = {"job": "build", "text": module.text, "lift": module.local, "mains": module.mains, "ours": machine, "library": theirs,
                    "arguments": [as_json(t, v) for (_, t), v in zip(SIGNATURE, module.arguments)]}
        answer = self.stock.ask(unplanned=self.unplanned, **question)
        if "crash" in answer:  # it plans memory of one branch for the other
            self.counts["modules where TVM crashes with its plan of memory"] += 1
            answer = self.stock.ask(unplanned=True, **question)
        if "theirs" not in answer:
            self.counts["modules that TVM does not build"] += 1
            self.counts["TVM: " + str(answer)[:160]] += 1
            return
        for name in module.mains:
            stock, ours = answer["theirs"][name], answer["ours"].get(name)
            if isinstance(stock, str):
                self.counts["functions that TVM's machine refuses"] += 1
                self.counts["TVM: " + stock[:160]] += 1
                continue
            self.counts["in TVM"] += 1
            self.check(module, name, "stock TVM", differ(stock, wanted[name], CLOSE))
            if ours is not None:
                self.check(module, name, "our library in TVM's machine", differ(ours, wanted[name], CLOSE))
            self.check(module, name, "TVM's library in our machine", differ(ways.run(theirs, name), wanted[name], CLOSE))

    def judge(self, module):
        ways = Ways(module)
        try:
            wanted = {name: ways.interpret(name) for name in module.mains}
            for name in module.mains:
                self.check(module, name, "interpreted", wanted[name] if isinstance(wanted[name], str) else "")
            self.native(module, ways, wanted, *LEVELS[module.seed % 4])
            machine = ways.build("machine.so", "--vm", "--fp", "strict", *(["-O0"] if module.seed % 2 else []))
            self.check(module, "", "build --vm", ways.wrong)
            for name in module.mains if machine else []:
                self.check(module, name, "our machine", differ(ways.run(machine, name), wanted[name]))
            if self.stock:
                self.with_stock(module, ways, wanted, machine)
            self.counts["functions"] += len(module.mains)
        finally:
            ways.close()


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--more", action="append", default=[])
    arguments.add_argument("--only-ours", action="store_true")
    arguments.add_argument("--release", default="0.27")
    arguments.add_argument("count", type=int, nargs="?", default=6)
    arguments.add_argument("first", type=int, nargs="?", default=1000)
    arguments.add_argument("--functions", type=int, default=4)
    arguments.add_argument("--unplanned", action="store_true")
    a = arguments.parse_args()
    judge = Judge(None if a.only_ours else Stock(a.release, "ask_generated.py", seconds=300), a.unplanned)
    for seed in range(a.first, a.first + a.count):
        judge.judge(Module(seed, a.functions, a.more))
    if judge.stock:
        judge.stock.stop()
    for what, count in sorted(judge.counts.items()):
        print(f"{count:6} {what}")
    print(f"{judge.passed} passed, {judge.failed} failed")
    return judge.failed != 0


if __name__ == "__main__":
    sys.exit(main())
