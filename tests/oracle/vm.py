#!/usr/bin/env python3
"""The virtual machine: what tvms makes for it, stock TVM's runs; and the other way round.

    vm.py [--all] [--release R]... [FILE]...

Each definition with Relax functions of corpus/, and of the golden files of caches with pages and of states of recurrent layers, that stock TVM of the release builds (relax.build); the files of corpus/
in the newest release and in one of the others, which have as many each, `--all`: in every one:

  - `tvms dump` writes what TVM's as_text gives, byte for byte, and writes the same of the library that TVM exports
  - the library of `tvms build --vm` runs in TVM's machine, and gives what TVM's own build gives
  - the library that TVM exports runs in `tvms run`, and gives the same

known.tsv lists what does not agree yet, with "vm" in front of the file and the number of the definition behind it.
"""
import argparse, os, shutil, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import PLAIN, TVMS, files_under, source, tvms
from stock import Stock, definitions_of, difference, known

PAGED = ["tests/golden/run/paged-cache.tvms", "tests/golden/run/paged-cache-window.tvms", "tests/golden/run/paged-cache-latent.tvms", "tests/golden/run/rnn-state.tvms"]
LATE = ["tests/golden/run/paged-cache-checkpoint.tvms", "tests/golden/run/paged-cache-layer-windows.tvms"]  # from 0.27 on
SORTED = ["tests/golden/vm/sorted.tvms"]  # kernels that call packed functions
RELEASES = ["0.25", "0.26", "0.27"]
CLOSE = 1e-5


class Judge:
    def __init__(self, release, folder):
        self.release, self.folder = release, folder
        self.program = TVMS if release == RELEASES[-1] else PLAIN
        self.stock = Stock(release, "ask_vm.py", seconds=300)
        self.passed = self.failed = self.functions = self.libraries = 0
        self.excused = {what for what, r in known() if r == release}

    def check(self, what, wrong):
        if wrong:
            print(f"FAILED: {self.release} {what}: {wrong}")
        self.passed, self.failed = self.passed + (not wrong), self.failed + bool(wrong)
        return not wrong

    def text_of(self, *arguments, stdin=""):
        p = tvms("dump", *arguments, program=self.program, stdin=stdin, timeout=600)
        return p.stdout.decode() if p.returncode == 0 else f"exit {p.returncode}: {p.stderr.decode()[:400]}\n"

    def compare_text(self, what, wanted, ours):
        return self.check(what, "" if wanted == ours else difference(wanted, ours))

    def run_theirs(self, what, library, name, said):
        """A function of TVM's library in our machine."""
        out = os.path.join(self.folder, "out")
        shutil.rmtree(out, ignore_errors=True)
        given = [x for param, path in said["inputs"] for x in ("--in", f"{param}={path}")]
        p = tvms("run", library, "--entry", name, "--out", out, *given, program=self.program, timeout=600)
        if not self.check(what, p.returncode and p.stderr.decode()[:400]):
            return
        for i, theirs in enumerate(said["results"]):
            ours = os.path.join(out, "result.npy" if len(said["results"]) == 1 else f"result.{i}.npy")
            got = self.stock.ask(job="compare", ours=ours, theirs=theirs) if os.path.exists(ours) else {}
            self.check(f"{what} result {i}", got if got.get("relative", 1) > CLOSE else "")

    def judge_case(self, what, text):
        """What known.tsv lists must still disagree."""
        before = self.failed
        self.judge(what, text)
        if f"vm {what}" not in self.excused:
            return
        if self.failed == before:
            self.check(what, "known.tsv lists it, and it agrees")
        else:
            print(f"known: {self.release} {what}")
            self.failed = before

    def judge(self, what, text):
        ours, theirs = (os.path.join(self.folder, f"{self.libraries}.{x}.so") for x in ("ours", "theirs"))
        self.libraries += 1
        p = tvms("build", "--vm", "--dialect", self.release, "-o", ours, "-", program=self.program, stdin=text, timeout=600)
        answer = self.stock.ask(job="build", text=text, ours=ours if p.returncode == 0 else None, library=theirs,
                                folder=self.folder)
        if "text" not in answer:
            return  # TVM does not build it
        self.compare_text(f"{what} as_text", answer["text"], self.text_of("--dialect", self.release, "-", stdin=text))
        self.check(f"{what} build", p.returncode and p.stderr.decode()[:400])
        self.compare_text(f"{what} as_text of TVM's library", answer["text"], self.text_of(theirs))
        for name, said in answer["functions"].items():
            if "not" in said:
                continue
            self.functions += 1
            self.check(f"{what} {name} in TVM's machine", said if said.get("relative", 1) > CLOSE else "")
            if "inputs" in said:
                self.run_theirs(f"{what} {name} in our machine", theirs, name, said)
        for path in (ours, theirs):
            if os.path.exists(path):
                os.unlink(path)


def builtins_missing(registered):
    """Functions of TVM's machine that neither we have nor docs/vm.md gives a reason for."""
    said = ""
    for path in ("interp/builtins.def", "docs/vm.md"):
        with open(os.path.join(source(), path), encoding="utf-8") as f:
            said += f.read()
    return [name for name in registered if f'"{name}"' not in said and f"`{name}`" not in said]


def files_of(release, everything, excused):
    """Paths of the files that are judged in a release."""
    corpus, turn = list(files_under("corpus")), RELEASES.index(release)
    if not everything and release != RELEASES[-1]:
        known_here = {what.split("#")[0].removeprefix("vm ") for what in excused}
        corpus = [path for at, path in enumerate(corpus) if at % (len(RELEASES) - 1) == turn or os.path.relpath(path, source()) in known_here]
    return [*corpus, *(os.path.join(source(), path) for path in [*PAGED, *(LATE if release == "0.27" else []), *SORTED])]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--all", action="store_true")
    arguments.add_argument("--release", action="append")
    arguments.add_argument("files", nargs="*")
    a = arguments.parse_args()
    passed = failed = 0
    for release in a.release or RELEASES:
        with tempfile.TemporaryDirectory() as folder:
            judge = Judge(release, folder)
            registered = judge.stock.ask(job="builtins")["names"]
            judge.check("number of built-in functions", len(registered) < 80 and len(registered))
            judge.check("built-in functions", builtins_missing(registered))
            for path in a.files or files_of(release, a.all, judge.excused):
                with open(path, encoding="utf-8") as f:
                    for i, text in enumerate(definitions_of(f.read())):
                        p = tvms("print", "--dialect", release, "-", stdin=text)
                        if p.returncode == 0 and b"@R.function" in p.stdout:
                            judge.judge_case(f"{os.path.relpath(path, source())}#{i}", p.stdout.decode())
            judge.stock.stop()
            print(f"{release}: {judge.functions} functions ran in both machines")
            passed, failed = passed + judge.passed, failed + judge.failed
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
