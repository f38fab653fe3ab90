#!/usr/bin/env python3
"""Every operator computes what it computes in stock TVM.

The programs are the golden files of LegalizeOps, DispatchSortScan and DispatchSampling, and the calls of operator_calls.py: each function of them runs on random
inputs, interpreted and native, and stock TVM 0.27 compiles and runs the same function. Every operator that tvms lowers must be among those that were compared. Results agree to 1e-5 of the largest value (1e-2 where float16 is
involved, whose operations are rounded at other places).

    operators.py [FILE]...
"""
import os, re, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import npy
import operator_calls
from cases import files_under, main, source, tvms
from stock import Stock

RELEASE = "0.27"
CLOSE, CLOSE_HALF = 1e-5, 1e-2
RUN = re.compile(r"# RUN: opt --passes '?(LegalizeOps|DispatchSortScan|DispatchSampling)'?\n")


def programs():
    """Path and text of the golden files of one of these passes, for the default release."""
    for path in sorted(files_under("tests/golden/passes")):
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if RUN.match(text):
            yield path, re.split(r"^# (?:EXPECT|FINDINGS)", text, maxsplit=1, flags=re.M)[0]
    yield "operator_calls.tvms", operator_calls.program()


def lowered():
    """Names of the operators that LegalizeOps and the passes of te/dispatch.def lower."""
    with open(os.path.join(source(), "ir/ops.def"), encoding="utf-8") as f:
        rows = re.findall(r'^OP\((\w+), "([^"]+)",.*?, (\w+), \d+,$', f.read(), re.M)
    with open(os.path.join(source(), "te/dispatch.def"), encoding="utf-8") as f:
        dispatched = set(re.findall(r"^DISPATCH\((\w+),", f.read(), re.M))
    return {name for ident, name, legalize in rows if legalize != "none" or ident in dispatched}


def operators_of(text, function):
    """Operators that a function of a module calls."""
    body = re.split(rf"^(?:    )?def {function}\(", text, maxsplit=1, flags=re.M)[1]
    body = re.split(r"^(?:    )?(?:@|def )", body, maxsplit=1, flags=re.M)[0]
    return set(re.findall(r"\bR\.([\w.]+)\(", body))


def results_in(folder):
    def place(name):
        return [int(n) for n in re.findall(r"\d+", name)]
    return [npy.read(os.path.join(folder, name)) for name in sorted(os.listdir(folder), key=place)]


class Operators(unittest.TestCase):
    def setUp(self):
        self.stock = Stock(RELEASE, "ask_operators.py", seconds=120)
        self.addCleanup(self.stock.stop)
        self.place = tempfile.TemporaryDirectory()
        self.addCleanup(self.place.cleanup)

    def check(self, path, name, said, close):
        given = [word for param, file in said["inputs"] for word in ("--in", f"{param}={file}")]
        theirs = [npy.read(file) for file in said["results"]]
        for backend in ("interp", "llvm"):
            out = tempfile.mkdtemp(dir=self.place.name)
            p = tvms("run", path, "--entry", name, "--backend", backend, "--out", out, *given, timeout=300)
            with self.subTest(path=os.path.relpath(path, source()), name=name, backend=backend):
                self.assertEqual(p.returncode, 0, p.stderr.decode())
                ours = results_in(out)
                self.assertEqual(len(ours), len(theirs))
                for one, other in zip(ours, theirs):
                    self.assertIsNone(npy.differ(one, other, close))

    def test_operators(self):
        wanted = {os.path.abspath(path) for path in FILES}
        compared, operators = 0, set(operator_calls.ELSEWHERE)
        for path, text in programs():
            if wanted and os.path.abspath(path) not in wanted:
                continue
            program = os.path.join(self.place.name, os.path.basename(path))
            with open(program, "w", encoding="utf-8") as f:
                f.write(text)
            p = tvms("print", "--dialect", RELEASE, program)
            answer = self.stock.ask(text=p.stdout.decode(), folder=self.place.name, seed=7)
            text = p.stdout.decode()
            for name, said in answer.get("functions", {}).items():
                if "error" in said:
                    print(f"not compared: {os.path.basename(path)} {name}: {said['error']}")
                    continue
                self.check(program, name, said, CLOSE_HALF if "float16" in text else CLOSE)
                compared += 1
                operators |= operators_of(text, name)
        print(f"{compared} functions compared")
        self.assertGreater(compared, 0 if wanted else 30)
        if not wanted:
            self.assertEqual(sorted(lowered() - operators), [], "lowered and not compared")


FILES = [a for a in sys.argv[1:] if os.path.exists(a)]
if __name__ == "__main__":
    sys.argv = [a for a in sys.argv if a not in FILES]
    main()
