#!/usr/bin/env python3
"""Whole models: stock TVM 0.27 makes them, small and with random weights, and tvms does with the text what a user would.

    models.py [--all] [MODEL]...

For each model of models_of_images.py and models_of_texts.py:

  - `check` and `opt --passes default` accept the text; `dump` writes what TVM's as_text gives
  - `run`, `build` at each level and with strict arithmetic, with weights inside of the library, and `build --vm` in TVM's machine give what
    TVM's own build gives; TVM builds what the passes of -O2 make of it, or what ScheduleCPU makes behind TVM's fusion, and that gives the same. Each model at -O2, -O3 and
    one more level, with weights inside at one, and every second one in TVM, by turns; `--all`, and models that are named: every one
"""
import argparse, os, shutil, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import PLAIN, TVMS, tvms
from stock import Stock, difference, known

RELEASE = "0.27"
CLOSE, CLOSE_HALF = 1e-5, 3e-2  # halves have ten bits, and sums of them are taken in another order
LEVELS = {"-O2": [], "-O3": ["-O3"]}
MORE_LEVELS = {"-O0": ["-O0"], "-O1": ["-O1"], "strict": ["--fp", "strict"]}
PASSES = {"scheduled": "SimplifyMatmul,FuseAttention,kernels,ScheduleCPU{target=host,reorder=true},weights",
          "scheduled-fused": "LegalizeOps,AnnotateTIROpPattern,FuseOps,FuseTIR,ScheduleCPU"}
CONSTANTS = {"constants": [], "constants-O3": ["-O3"]}


def one_of(ways, turn):
    """The one whose turn it is; all if it is nobody's."""
    return dict([list(ways.items())[turn % len(ways)]]) if turn is not None else ways


class Judge:
    def __init__(self, folder):
        self.folder, self.passed, self.failed = folder, 0, 0
        self.stock = Stock(RELEASE, "ask_models.py", seconds=300)
        self.excused = {what for what, release in known() if release == RELEASE}

    def check(self, what, wrong):
        """What known.tsv lists must still be wrong."""
        if f"model {what}" in self.excused:
            print(f"known: {what}")
            wrong = "" if wrong else "known.tsv lists it, and it agrees"
        if wrong:
            print(f"FAILED: {what}: {wrong}")
        self.passed, self.failed = self.passed + (not wrong), self.failed + bool(wrong)

    def tvms(self, verb, *arguments, program=TVMS):
        p = tvms(verb, self.path, "--from", RELEASE, *arguments, program=program, timeout=600)
        return p.stdout.decode(), p.stderr.decode()[:500] if p.returncode else ""

    def compare(self, what, said):
        self.check(what, "" if said.get("relative", 1e9) <= self.close else said)

    def judge_run(self, name, model):
        out = os.path.join(self.folder, "out")
        shutil.rmtree(out, ignore_errors=True)
        given = [x for param, path in zip(model["params"], model["inputs"]) for x in ("--in", f"{param}={path}")]
        _, wrong = self.tvms("run", "--entry", model["entry"], "--out", out, *given)
        if wrong:
            return self.check(f"{name} run", wrong)
        count = len(model["results"])
        ours = [os.path.join(out, name) for name in (["result.npy"] if count == 1 else [f"result.{i}.npy" for i in range(count)])]
        self.compare(f"{name} run", self.stock.ask(job="compare", ours=ours, theirs=model["results"]))

    def judge_build(self, name, label, model, arguments, count=None):
        """Of the inputs a library gets `count`; None: all. Sanitizers look at one build of a model."""
        library = os.path.join(self.folder, f"{name}.{label}.so")
        _, wrong = self.tvms("build", "-o", library, *arguments, program=TVMS if label == "-O2" else PLAIN)
        if wrong:
            return self.check(f"{name} {label}", wrong)
        said = self.stock.ask(job="call", library=library, machine=label == "vm", entry=model["entry"], inputs=model["inputs"][:count], results=model["results"])
        self.compare(f"{name} {label}", said)

    def judge_passes(self, name, label, model, passes):
        text, wrong = self.tvms("opt", "--dialect", RELEASE, "--passes", passes)
        if wrong:
            return self.check(f"{name} {label}", wrong)
        said = self.stock.ask(job="take", text=text, entry=model["entry"], inputs=model["inputs"], results=model["results"])
        self.compare(f"{name} {label}", said)

    def judge(self, name, turn):
        model = self.stock.ask(job="make", name=name, folder=self.folder)
        if "text" not in model:
            return self.check(name, model)
        self.close = CLOSE_HALF if model["half"] else CLOSE
        self.path = os.path.join(self.folder, name + ".tvms")
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(model["text"] + "\n")
        self.check(f"{name} check", self.tvms("check")[1])
        self.check(f"{name} opt", self.tvms("opt", "--passes", "default")[1])
        text, wrong = self.tvms("dump", "--dialect", RELEASE)
        self.check(f"{name} as_text", wrong or (difference(model["as_text"], text) if text != model["as_text"] else ""))
        self.judge_run(name, model)
        for label, arguments in {**LEVELS, **one_of(MORE_LEVELS, turn)}.items():
            self.judge_build(name, label, model, arguments)
        if turn is None or turn % 2 == 0:
            for label, passes in one_of(PASSES, turn and turn // 2).items():
                self.judge_passes(name, label, model, passes)
        self.judge_build(name, "vm", model, ["--vm", "--dialect", RELEASE])
        if model["weights"]:
            constants = ["--params", model["weights"], "--entry", model["entry"]]
            for label, arguments in one_of(CONSTANTS, turn).items():
                self.judge_build(name, label, model, [*arguments, *constants], model["given"])


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--all", action="store_true")
    arguments.add_argument("models", nargs="*")
    a = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(folder)
        for turn, name in enumerate(judge.stock.ask(job="list")["models"]):
            if name in (a.models or [name]):
                judge.judge(name, None if a.all or a.models else turn)
        judge.stock.stop()
    print(f"{judge.passed} passed, {judge.failed} failed")
    return judge.failed != 0 or not judge.passed


if __name__ == "__main__":
    sys.exit(main())
