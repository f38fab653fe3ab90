#!/usr/bin/env python3
"""opt --bisect: the pass behind which a command of the user's fails."""
import glob, json, os, sys, tempfile, time, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import main, source, tvms

GOOD = source("corpus", "mlp_module.tvms")


class Bisect(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def bisect(self, command, *options, passes="LowerInitBlock,RemoveNoOp,lower"):
        return tvms("opt", "--passes", passes, "--bisect", command, *options, GOOD, env=dict(os.environ, TMPDIR=self.folder.name))

    def test_first_pass_that_fails(self):
        p = self.bisect("grep -q v_k")
        self.assertEqual((p.returncode, p.stdout), (1, b""))
        self.assertTrue(p.stderr.startswith(b"--passes:1:27: error[E1030]: 'grep -q v_k' fails behind ConvertBlocksToOpaque, pass 4 of 10: exit status 1\n"),
                        p.stderr)

    def test_every_pass_is_tried_in_turn(self):
        """A command that fails at the second pass only, and succeeds again behind it."""
        script = os.path.join(self.folder.name, "check.py")
        with open(script, "w", encoding="utf-8") as f:
            f.write("import sys\ntext = open(sys.argv[1]).read()\nsys.exit('if v_k ==' in text and 'axis.remap' in text)\n")
        p = self.bisect(f"{sys.executable} {script}")
        self.assertIn(b"fails behind LowerInitBlock, pass 1 of 10", p.stderr)

    def test_no_pass_fails(self):
        p = self.bisect("test -s")
        self.assertEqual((p.returncode, p.stdout, p.stderr), (0, b"'test -s' succeeds behind each of 10 passes\n", b""))

    def test_fails_from_the_start(self):
        p = self.bisect("false")
        self.assertEqual((p.returncode, p.stdout), (1, b""))
        self.assertIn(b":1:1: error[E1031]: 'false' fails on the module as it was read: exit status 1\n", p.stderr)

    def test_command_that_cannot_be_run(self):
        for command, says in (("/no/such/command", b"tvms: /no/such/command: No such file or directory\n"), (" ", b"tvms: the command is empty\n")):
            with self.subTest(command=command):
                p = self.bisect(command)
                self.assertEqual((p.returncode, p.stdout), (2, b""))
                self.assertTrue(p.stderr.startswith(says), p.stderr)

    def test_modules_around_the_pass(self):
        prefix = os.path.join(self.folder.name, "found")
        p = self.bisect("grep -q T.init", "--save", prefix)
        self.assertIn(f"the modules are in {prefix}.before.tvms and {prefix}.after.tvms".encode(), p.stderr)
        before, after = (open(f"{prefix}.{part}.tvms", encoding="utf-8").read() for part in ("before", "after"))
        self.assertIn("T.init()", before)
        self.assertEqual(tvms("opt", "--passes", "LowerInitBlock", f"{prefix}.before.tvms").stdout.decode(), after)

    def test_command_that_takes_too_long(self):
        begin = time.monotonic()
        p = self.bisect("sh -c 'sleep 60; exit 0'", "--timeout", "1")
        self.assertLess(time.monotonic() - begin, 20)
        self.assertIn(b"fails on the module as it was read: more than 1 second\n", p.stderr)

    def test_words_are_not_for_a_shell(self):
        mark = os.path.join(self.folder.name, "mark")
        self.bisect(f"true; touch {mark}")
        self.bisect(f"true $(touch {mark})")
        self.assertFalse(os.path.exists(mark))

    def test_document(self):
        p = self.bisect("grep -q v_k", "--format", "json")
        self.assertEqual([f["code"] for f in json.loads(p.stdout)["findings"]], ["E1030"])

    def test_no_file_stays(self):
        self.bisect("grep -q v_k"), self.bisect("false"), self.bisect("true")
        self.assertEqual(glob.glob(os.path.join(self.folder.name, "tvms-*")), [])


if __name__ == "__main__":
    main()
