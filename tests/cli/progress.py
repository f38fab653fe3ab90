#!/usr/bin/env python3
"""The line of progress of a long run: on a terminal only, about the function at hand, and gone at the end."""
import os, pty, select, subprocess, sys, tempfile, time, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import TVMS, main, tvms

LEVELS = 36  # every function calls the next one twice: nobody waits for the end
HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n@I.ir_module\nclass Module:\n"


def function(name, callee):
    return f'''    @R.function
    def {name}(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        cls = Module
        y: R.Tensor((4,), "float32") = cls.{callee}(x)
        z: R.Tensor((4,), "float32") = cls.{callee}(y)
        return z
'''


LEAF = '''    @R.function
    def level0(x: R.Tensor((4,), "float32")) -> R.Tensor((4,), "float32"):
        return x
'''


def program(levels):
    return HEAD + LEAF + "".join(function(f"level{i + 1}", f"level{i}") for i in range(levels)) + function("main", f"level{levels}")


class Progress(unittest.TestCase):
    def file(self, name, levels):
        path = os.path.join(self.folder.name, name)
        with open(path, "w") as f:
            f.write(program(levels))
        return path

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def start(self, *arguments):
        """The program with a terminal for standard error."""
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        process = subprocess.Popen([TVMS, *arguments], stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        return process, ours

    def read(self, terminal, seconds, until=b"\0"):
        """What is written until `until` is, or the program ends, or time is over."""
        text, end = b"", time.monotonic() + seconds
        while until not in text and time.monotonic() < end:
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                text += os.read(terminal, 4096)
            except OSError:  # the other end is closed
                break
        return text

    def stop(self, process):
        process.kill()
        process.wait()

    def test_calls(self):
        process, terminal = self.start("run", "--backend", "interp", self.file("long.tvms", LEVELS))
        text = self.read(terminal, 60, b"'")
        self.stop(process)
        self.assertRegex(text, rb"\r\x1b\[K\d+ s: call \d+, of '")

    def test_machine(self):
        library = os.path.join(self.folder.name, "long.vm")
        self.assertEqual(tvms("build", "--vm", self.file("long.tvms", LEVELS), "-o", library).returncode, 0)
        process, terminal = self.start("run", library)
        text = self.read(terminal, 60, b"'")
        self.stop(process)
        self.assertRegex(text, rb"\r\x1b\[K\d+ s: call \d+, of '")

    def test_quiet(self):
        process, terminal = self.start("run", "--quiet", "--backend", "interp", self.file("long.tvms", LEVELS))
        text = self.read(terminal, 2)
        self.stop(process)
        self.assertEqual(text, b"")

    def test_short(self):
        """A run that is over before anybody wonders."""
        process, terminal = self.start("run", "--backend", "interp", self.file("short.tvms", 2))
        text = self.read(terminal, 60)
        self.assertEqual((process.wait(), text), (0, b""))

    def test_taken_away(self):
        """Nothing of the line is left when the run has ended."""
        process, terminal = self.start("run", "--backend", "interp", self.file("seconds.tvms", 21))
        text = self.read(terminal, 240)
        self.assertEqual(process.wait(), 0)
        if text:  # a machine that needs a second for it
            self.assertTrue(text.endswith(b"\r\x1b[K"), text[-80:])


if __name__ == "__main__":
    main()
