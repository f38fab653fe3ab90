#!/usr/bin/env python3
"""Every operator computes what it computes in stock TVM.

The programs are the golden files of LegalizeOps, DispatchSortScan and DispatchSampling, and the calls of operator_calls.py: each function of them runs on random
inputs, interpreted and as a library that is built at each level of LEVELS, and stock TVM 0.27 compiles and runs the same function. Every operator that tvms lowers must be among those that were compared. Results agree to 1e-5 of the largest value (1e-2 where float16 is
involved, whose operations are rounded at other places).

    operators.py [FILE]...
"""
import os, re, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import npy
import operator_calls
from cases import PLAIN, TVMS, files_under, main, source, tvms
from stock import Stock

RELEASE = "0.27"
CLOSE, CLOSE_HALF = 1e-5, 1e-2
LEVELS = ("-O0", "-O2", "-O3")
# Functions whose result TVM's lowering makes of another data type than the text says; libraries of higher levels go by the text.
RETYPED = {("legalize-attention.tvms", "plain")}
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


def without(text, names):
    """A printed module without some of its functions."""
    for name in names:
        text = re.sub(rf"^    @R\.function[^\n]*\n    def {name}\(.*?(?=^    @|^\S|\Z)", "", text, flags=re.M | re.S)
    return text


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

    def compare(self, ours, said, close):
        theirs = [npy.read(file) for file in said["results"]]
        self.assertEqual(len(ours), len(theirs))
        for one, other in zip(ours, theirs):
            self.assertIsNone(npy.differ(one, other, close))

    def check_run(self, path, name, said, close):
        given = [word for param, file in said["inputs"] for word in ("--in", f"{param}={file}")]
        out = tempfile.mkdtemp(dir=self.place.name)
        p = tvms("run", path, "--entry", name, "--backend", "interp", "--out", out, *given, timeout=300)
        with self.subTest(path=os.path.relpath(path, source()), name=name):
            self.assertEqual(p.returncode, 0, p.stderr.decode())
            self.compare(results_in(out), said, close)

    def check_libraries(self, program, path, functions, close):
        """One library of all functions for each level; sanitizers look at the last one."""
        for level in LEVELS if functions else ():
            library = f"{path}{level}.so"
            p = tvms("build", path, level, "-o", library, program=TVMS if level == LEVELS[-1] else PLAIN, timeout=300)
            for name, said in functions.items():
                with self.subTest(path=program, name=name, level=level):
                    self.assertEqual(p.returncode, 0, p.stderr.decode())
                    answer = self.stock.ask(job="library", library=library, name=name, inputs=said["inputs"], folder=self.place.name)
                    self.assertIn("results", answer, answer)
                    ours = [npy.read(file) for file in answer["results"]]
                    if (program, name) in RETYPED:
                        ours = [(npy.read(file)[0], *one[1:]) for one, file in zip(ours, said["results"])]
                    self.compare(ours, said, close)

    def check_program(self, name, text):
        """How many functions of a program were compared, and the operators that they call."""
        program, rest = (os.path.join(self.place.name, prefix + name) for prefix in ("", "compared-"))
        with open(program, "w", encoding="utf-8") as f:
            f.write(text)
        text = tvms("print", "--dialect", RELEASE, program).stdout.decode()
        functions = self.stock.ask(job="module", text=text, folder=self.place.name, seed=7).get("functions", {})
        refused = {function: functions.pop(function)["error"] for function in list(functions) if "error" in functions[function]}
        for function, error in refused.items():
            print(f"not compared: {name} {function}: {error}")
        close = CLOSE_HALF if "float16" in text else CLOSE
        for function, said in functions.items():
            self.check_run(program, function, said, close)
        with open(rest, "w", encoding="utf-8") as f:
            f.write(without(text, refused))
        self.check_libraries(name, rest, functions, close)
        return len(functions), {operator for function in functions for operator in operators_of(text, function)}

    def test_operators(self):
        wanted = {os.path.abspath(path) for path in FILES}
        compared, operators = 0, set(operator_calls.ELSEWHERE)
        for path, text in programs():
            if not wanted or os.path.abspath(path) in wanted:
                count, called = self.check_program(os.path.basename(path), text)
                compared, operators = compared + count, operators | called
        print(f"{compared} functions compared")
        self.assertGreater(compared, 0 if wanted else 30)
        if not wanted:
            self.assertEqual(sorted(lowered() - operators), [], "lowered and not compared")


FILES = [a for a in sys.argv[1:] if os.path.exists(a)]
if __name__ == "__main__":
    sys.argv = [a for a in sys.argv if a not in FILES]
    main()
