#!/usr/bin/env python3
"""reduce: a program that fails becomes as small as it gets while it fails."""
import glob, os, sys, tempfile, time, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, tvms

HEAD = "from tvm.script import ir as I\nfrom tvm.script import relax as R\nfrom tvm.script import tirx as T\n\n@I.ir_module\nclass Module:\n"
KERNEL = """    @T.prim_func(private=True, s_tir=True)
    def f{k}(a: T.Buffer((16, 32), "float32"), b: T.Buffer((16, 32), "float32"), n: T.int32):
        T.func_attr({{"op_pattern": 2, "tirx.noalias": True}})
        c = T.alloc_buffer((16, 32), "float32")
        for i in range(16):
            for j in {loop}:
                if i < n:
                    c[i, j] = a[i, j] * T.float32({k}.5) + T.exp(a[i, j])
        for i in range(16):
            for j in range(32):
                b[i, j] = c[i, j]{more}

"""
MAIN = """    @R.function
    def main(x: R.Tensor((16, 32), "float32")):
        with R.dataflow():
            a = R.exp(x)
            b = R.add(a, x)
            c = R.multiply(b, a)
            d = R.tanh(c)
            R.output(d)
        return d
"""
SMALL = """    @R.function
    def main(x: R.Tensor((16, 32), "float32")):
        a = R.exp(x)
        b = R.tanh(a)
        return b
"""


def program(count=10, **special):
    """Many functions, one of which is special."""
    plain = {"loop": "range(32)", "more": ""}
    return HEAD + "".join(KERNEL.format(k=k, **(dict(plain, **special) if k == count - 3 else plain)) for k in range(count)) + MAIN


class Reduce(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "check.py")

    def command(self, condition):
        """A command that fails if the text has a property."""
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(f"import sys\ntext = open(sys.argv[1]).read()\nsys.exit({condition})\n")
        return f"{sys.executable} {self.path}"

    def reduce(self, text, *options):
        return tvms("reduce", *options, "-", stdin=text, timeout=300, env=dict(os.environ, TMPDIR=self.folder.name))

    def test_a_planted_trigger(self):
        text = program(more=" + T.sqrt(c[i, j])")
        self.assertGreater(len(text.splitlines()), 130)
        p = self.reduce(text, "--command", self.command("'T.sqrt' in text"))
        self.assertEqual(p.returncode, 0, p.stderr)
        body = [line for line in p.stdout.decode().splitlines() if line and line[0] != "#"]
        self.assertLessEqual(len(body), 7, p.stdout.decode())
        self.assertIn("T.sqrt(", p.stdout.decode())
        # What comes out is sound, and canonical.
        self.assertEqual(tvms("print", "-", stdin=p.stdout).stdout, p.stdout)
        self.assertRegex(p.stderr, rb"^tvms: \d+ bytes became \d+ in \d+ runs of \d+ candidates\n\Z")

    def test_bindings_of_relax(self):
        p = self.reduce(HEAD + MAIN, "--command", self.command("'R.multiply' in text"))
        body = [line.strip() for line in p.stdout.decode().splitlines() if line and line[0] != "#"]
        self.assertLessEqual(len(body), 6, p.stdout.decode())

    def test_a_pass_that_fails(self):
        p = self.reduce(program(4, loop="T.unroll(n)"), "--passes", "StmtSimplify,UnrollLoop")
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertIn(b"T.unroll(", p.stdout)
        self.assertLessEqual(len(p.stdout.splitlines()), 14, p.stdout.decode())
        # It fails in the same way.
        self.assertIn(b"E0807", tvms("opt", "--passes", "UnrollLoop", "-", stdin=p.stdout).stderr)

    def test_releases(self):
        text = tvms("opt", "--passes", "LegalizeOps", "--dialect", "0.25", "-", stdin=HEAD + KERNEL.format(k=0, loop="T.unroll(n)", more="") + SMALL).stdout
        self.assertIn(b"out_sinfo=", text)
        # Read as 0.25, and every candidate, too; the newest release has no out_sinfo.
        p = self.reduce(text, "--from", "0.25", "--command", self.command("'out_sinfo' in text"))
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertLess(len(p.stdout), len(text) // 3)
        self.assertEqual(tvms("print", "--from", "0.25", "-", stdin=p.stdout).stdout, p.stdout)
        # Read as one release and written as another.
        p = self.reduce(text, "--from", "0.25", "--dialect", "0.26", "--command", self.command("'out_ty' in text"))
        self.assertIn(b"out_ty=", p.stdout, p.stderr)
        self.assertLess(len(p.stdout), len(text) // 3)
        # A pass runs in the release in which the text is written.
        p = self.reduce(text, "--from", "0.25", "--passes", "UnrollLoop")
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertIn(b"E0807", tvms("opt", "--from", "0.25", "--passes", "UnrollLoop", "-", stdin=p.stdout).stderr)
        p = self.reduce(text, "--from", "1.19", "--command", "false")
        self.assertEqual((p.returncode, p.stdout), (2, b""))

    def test_limits(self):
        text = program(more=" + T.sqrt(c[i, j])")
        p = self.reduce(text, "--command", self.command("'T.sqrt' in text"), "--max-runs", "3")
        self.assertEqual(p.returncode, 0)
        self.assertRegex(p.stderr, rb"in 3 runs of \d+ candidates; a limit ended it\n")
        begin = time.monotonic()
        p = self.reduce(text, "--command", f"sh -c 'sleep 0.3; exit 1'", "--time", "2")
        self.assertLess(time.monotonic() - begin, 20)
        self.assertIn(b"; a limit ended it\n", p.stderr)

    def test_output(self):
        path = os.path.join(self.folder.name, "small.tvms")
        p = self.reduce(HEAD + MAIN, "--command", "false", "-o", path)
        self.assertEqual((p.returncode, p.stdout), (0, b""))
        self.assertEqual(tvms("check", path).returncode, 0)

    def test_nothing_fails(self):
        p = self.reduce(HEAD + MAIN, "--command", "true")
        self.assertEqual((p.returncode, p.stdout), (1, b""))
        self.assertIn(b"error[E1032]: 'true' does not fail on this program\n", p.stderr)

    def test_misuse(self):
        for options in ([], ["--command", "true", "--passes", "zero"]):
            with self.subTest(options=options):
                p = self.reduce(HEAD + MAIN, *options)
                self.assertEqual((p.returncode, p.stdout), (2, b""))
                self.assertIn(b"one of --command and --passes must be given", p.stderr)
        self.assertEqual(self.reduce(HEAD + MAIN, "--command", "/no/such/command").returncode, 2)

    def test_no_file_stays(self):
        self.reduce(HEAD + MAIN, "--command", "false")
        self.assertEqual(glob.glob(os.path.join(self.folder.name, "tvms-*")), [])


if __name__ == "__main__":
    main()
