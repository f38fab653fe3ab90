#!/usr/bin/env python3
"""--profile of run and bench: the table, events for viewers, and the page, which needs nothing but itself."""
import html.parser, json, os, re, shutil, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import main, tvms

# A product of (8, n) and (n, 16) counts 2 * 8 * n * 16 operations, relu one per element.
PROGRAM = """from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @R.function
    def main(x: R.Tensor((8, "n"), "float32"), w: R.Tensor(("n", 16), "float32")) -> R.Tensor((8, 16), "float32"):
        with R.dataflow():
            a = R.matmul(x, w)
            b = R.nn.relu(a)
            c = R.add(b, a)
            R.output(c)
        return c
"""
N = 16  # what a size is that no input decides


class Page(html.parser.HTMLParser):
    """Data of the page, and what it would load from elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.data, self.loads, self.open = "", [], None
        self.feed(text)
        self.content = json.loads(self.data)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.open = given.get("id") if tag == "script" else None
        self.loads += [given[key] for key in ("src", "href") if key in given]

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open == "data":
            self.data += data


class Profile(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.program = os.path.join(place.name, "model.tvms")
        self.out = os.path.join(place.name, "out")
        with open(self.program, "w", encoding="utf-8") as f:
            f.write(PROGRAM)

    def profiled(self, verb, form):
        p = tvms(verb, "--backend", "interp", "--profile", form, "-o", self.out, *(["--repeat", "3"] if verb == "bench" else []), self.program)
        self.assertEqual(p.returncode, 0, p.stderr)
        with open(self.out, encoding="utf-8") as f:
            return f.read()

    def test_a_table_stands_behind_the_results(self):
        p = tvms("run", "--profile", "functions", self.program)
        self.assertEqual(p.returncode, 0, p.stderr)
        lines = p.stdout.decode().splitlines()
        self.assertTrue(lines[0].startswith("result: float32[8, 16]"))
        rows = {line.split()[-1]: line.split()[:-1] for line in lines[2:]}
        self.assertEqual(set(rows), {"main", "matmul", "relu", "add"})
        self.assertEqual([row[2] for row in rows.values()], ["1"] * 4)
        self.assertAlmostEqual(sum(float(row[1]) for row in rows.values()), 100, delta=0.5)
        milliseconds, rate = float(rows["matmul"][0]), float(rows["matmul"][3])
        self.assertAlmostEqual(rate * milliseconds * 1e6, 2 * 8 * N * 16, delta=0.2 * 2 * 8 * N * 16)
        self.assertEqual(lines[1].split()[-2:], ["KiB", "function"])
        self.assertEqual([rows[name][-1] for name in ("matmul", "relu", "add")], [f"{4 * n / 1024:.1f}" for n in (8 * N + N * 16 + 8 * 16, 2 * 8 * 16, 3 * 8 * 16)])

    def test_events_nest_and_say_what_was_done(self):
        for verb in ("run", "bench"):
            events = json.loads(self.profiled(verb, "trace"))["traceEvents"]
            self.assertEqual([event["name"] for event in events], ["main", "matmul", "relu", "add"])
            whole = events[0]
            for event in events[1:]:
                self.assertGreaterEqual(event["ts"], whole["ts"])
                self.assertLessEqual(event["ts"] + event["dur"], whole["ts"] + whole["dur"] + 0.002)
            self.assertEqual([event["args"]["operations"] for event in events[1:]], [2 * 8 * N * 16, 8 * 16, 8 * 16])
            self.assertEqual(events[1]["args"]["bytes"], 4 * (8 * N + N * 16 + 8 * 16))
            self.assertEqual([event["args"]["line"] for event in events[1:]], [8, 9, 10])

    def test_the_page_needs_nothing_else(self):
        text = self.profiled("run", "html")
        page = Page(text)
        self.assertEqual(page.loads, [])
        self.assertEqual(set(re.findall(r"https?://[^\"' ]*", text)), {"http://www.w3.org/2000/svg"})
        content = page.content
        self.assertEqual(content["entry"], "main")
        self.assertEqual(sorted(f["name"] for f in content["functions"]), ["add", "main", "matmul", "relu"])
        self.assertEqual(len(content["events"]), 4)
        does = [node["does"] for node in content["graph"]]
        self.assertEqual(does, ["parameter", "parameter", "matmul", "relu", "add"])
        self.assertEqual([sorted(node["uses"]) for node in content["graph"][2:]], [[0, 1], [2], [2, 3]])
        self.assertEqual([(s["bytes"], s["tensors"]) for s in content["storages"]], [(512, 1), (512, 1)])

    @unittest.skipUnless(shutil.which("chromium"), "there is no chromium")
    def test_a_browser_draws_the_page(self):
        """The scripts of the page run: time line, table, plan and graph are in what a browser makes of it, and nothing was complained of."""
        self.out += ".html"
        self.profiled("run", "html")
        p = subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", f"--user-data-dir={os.path.dirname(self.out)}/chromium",
                            "--virtual-time-budget=2000", "--dump-dom", "file://" + self.out], capture_output=True, text=True, timeout=120)
        self.assertNotIn("CONSOLE", p.stderr)
        text = p.stdout
        self.assertRegex(text, r"<td>(<[^>]*>)?matmul")
        for drawn in ("Time line", "Memory of tensors", "Functions", "Bindings", "<rect", "<svg", "tensors; each from the binding"):
            self.assertIn(drawn, text)

    def test_text_of_the_program_does_not_end_the_script(self):
        with open(self.program, "w", encoding="utf-8") as f:
            f.write(PROGRAM.replace("matmul(x, w)", "call_tir(Module.f, (x, w), out_ty=R.Tensor((8, 16), \"float32\"))").replace(
                "    @R.function", "    @T.prim_func(private=True, s_tir=True)\n    def f(a: T.handle, b: T.handle, C: T.Buffer((8, 16), \"float32\")):\n"
                "        T.func_attr({\"note\": \"</script><b>\"})\n        n = T.int64()\n        A = T.match_buffer(a, (8, n))\n        B = T.match_buffer(b, (n, 16))\n"
                "        for i, j in T.grid(8, 16):\n            C[i, j] = A[i, 0] * B[0, j]\n\n    @R.function", 1))
        self.assertEqual(Page(self.profiled("run", "html")).content["entry"], "main")

    def test_what_does_not_go_together(self):
        for arguments, said in ((["--profile", "html"], "name it with -o"), (["--profile", "functions", "-o", self.out], "-o is for"), (["-o", self.out], "-o is for")):
            p = tvms("run", *arguments, self.program)
            self.assertEqual((p.returncode, p.stdout), (2, b""))
            self.assertIn(said, p.stderr.decode())
        p = tvms("run", "--profile", "html", "-o", os.path.join(self.out, "missing", "page.html"), self.program)
        self.assertEqual(p.returncode, 2)


if __name__ == "__main__":
    main()
