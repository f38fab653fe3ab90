#!/usr/bin/env python3
"""Stock TVM 0.27 and tvms run the same programs, and stock tvm-ffi loads what tvms builds.

  - the founding programs in both forms, sizes 1, 7 and 64, and a program with constants: `tvms run` against TVM's
    own compilation of the same program
  - `build -o x.so`: tvm-ffi loads it and calls it; wrong arguments raise what TVM raises
  - programs of corpus/: every PrimFunc that TVM compiles gives the same
"""
import json, os, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import files_under, main, source, tvms
from stock import Stock

RELEASE = "0.27"
# Their results depend on memory that nobody has written.
UNDEFINED = {"allocations"}


class Native(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.stock = Stock(RELEASE, "ask_native.py", seconds=120)
        cls.place = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.stock.stop()
        cls.place.cleanup()

    def file(self, name):
        return os.path.join(self.place.name, name)

    def current(self, path):
        """The program as TVM 0.27 writes it, or None if tvms does not read it."""
        p = tvms("print", "--dialect", RELEASE, path)
        return p.stdout.decode() if p.returncode == 0 else None

    def ask(self, **question):
        answer = self.stock.ask(**question)
        self.assertNotIn("crash", answer)
        return answer

    def build(self, path):
        library = self.file(os.path.basename(path) + ".so")
        p = tvms("build", path, "-o", library, "--primfuncs-only", "--fp", "strict")
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        return library

    def test_relax_functions(self):
        """The founding programs in both forms, and one with constants."""
        for name, entry in (("mlp_module", "main"), ("mlp_ops", "relax_mlp"), ("relax/constants", "other")):
            path = source("corpus", name + ".tvms")
            text = self.current(path)
            for n in (1, 7, 64):
                answer = self.ask(job="relax", text=text, entry=entry, n=n, folder=self.place.name)
                self.assertIn("inputs", answer, answer)
                given = [x for name, path_ in answer["inputs"].items() for x in ("--in", f"{name}={path_}")]
                for backend in ("interp", "llvm"):
                    with self.subTest(name=name, n=n, backend=backend):
                        out = self.file("out")
                        p = tvms("run", path, "--entry", entry, "--backend", backend, "--out", out, *given, timeout=300)
                        self.assertEqual(p.returncode, 0, p.stderr.decode())
                        said = self.ask(job="compare", ours=os.path.join(out, "result.npy"), theirs=answer["result"])
                        self.assertLess(said["relative"], 1e-5)

    def test_library_is_called(self):
        library = self.build(source("corpus", "mlp_module.tvms"))
        said = self.ask(job="library", path=library)
        self.assertLess(said["linear"], 1e-5, said)
        self.assertLess(said["relu"], 1e-5, said)

    def test_wrong_arguments_raise_what_tvm_raises(self):
        path = source("corpus", "native", "arguments.tvms")
        answer = self.ask(job="arguments", path=self.build(path), text=self.current(path))
        self.assertIn("cases", answer, answer)
        for case in answer["cases"]:
            with self.subTest(**case["call"]):
                self.assertEqual(case["ours"], case["theirs"])

    def test_prim_funcs_of_the_corpus(self):
        compared = 0
        for i, path in enumerate(files_under("corpus")):
            text = self.current(path)
            if text is None or "prim_func" not in text:
                continue
            library = self.file(f"corpus{i}.so")  # one that is loaded is not loaded again
            if tvms("build", path, "-o", library, "--primfuncs-only", "--fp", "strict").returncode:
                continue
            answer = self.stock.ask(job="prim_funcs", text=text, path=library)
            for name, said in answer.get("functions", {}).items():
                if "not" in said or name in UNDEFINED:
                    continue
                with self.subTest(path=path, name=name):
                    self.assertTrue(said["same"], json.dumps(said))
                    compared += 1
        self.assertGreater(compared, 10)


if __name__ == "__main__":
    main()
