"""What the test scripts share: the program under test, and the closing line."""
import os, subprocess, sys, tempfile, unittest

TVMS = os.environ.get("TVMS_PROGRAM", "build/tvms")
# The program without sanitizers, if there is one, for what a suite does again and again.
PLAIN = os.environ.get("TVMS_PLAIN", TVMS)
SOURCE = os.environ.get("TVMS_SOURCE", ".")


def source(*parts):
    return os.path.join(SOURCE, *parts)


def tvms(*arguments, program=TVMS, stdin=b"", stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, **more):
    """Runs the program; returns the completed process with bytes."""
    if isinstance(stdin, str):
        stdin = stdin.encode()
    return subprocess.run([program, *arguments], input=stdin, stdout=stdout, stderr=stderr, timeout=timeout, **more)


def memory_of(*arguments):
    """Runs the program; its exit status, all it said, and the MiB that it touched."""
    with tempfile.TemporaryFile() as out:
        child = os.fork()
        if child == 0:
            try:
                os.dup2(out.fileno(), 1), os.dup2(out.fileno(), 2)
                # AddressSanitizer would keep what was freed.
                options = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
                os.execve(TVMS, [TVMS, *arguments], dict(os.environ, ASAN_OPTIONS=options))
            finally:
                os._exit(127)
        _, status, usage = os.wait4(child, 0)
        out.seek(0)
        return os.waitstatus_to_exitcode(status), out.read().decode(), usage.ru_maxrss / 1024


class InFolder(unittest.TestCase):
    """Each test has a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def file(self, name, content=None):
        """The path of a file of the folder, which gets the content if there is one."""
        path = os.path.join(self.folder, name)
        if content is not None:
            with open(path, "w", encoding="utf-8") as f:
                f.write(content)
        return path


def files_under(*folders, suffix=".tvms"):
    for folder in folders:
        for where, _, names in sorted(os.walk(source(folder))):
            for name in sorted(names):
                if name.endswith(suffix):
                    yield os.path.join(where, name)


def verbs():
    """The verbs that this build of the program has."""
    text = tvms("--help").stdout.decode()
    block = text.split("\n\n")[2]
    return {line.split()[0] for line in block.splitlines() if line.startswith("  ") and line[2] != " "}


class Scratch(unittest.TestCase):
    """Tests that write one program into a folder of their own."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "a.tvms")

    def tearDown(self):
        self.folder.cleanup()

    def text(self):
        with open(self.path, encoding="utf-8") as f:
            return f.read()


class Count(unittest.TextTestResult):
    """Counts cases: every subtest, and every test that has none."""

    passed = failed = 0

    def startTest(self, test):
        super().startTest(test)
        self.parts = 0

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        self.parts += 1
        self.passed, self.failed = self.passed + (error is None), self.failed + (error is not None)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += self.parts == 0

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.failed += 1

    def addError(self, test, error):
        super().addError(test, error)
        self.failed += 1


def main():
    """Runs the unittest cases of the script and ends with "N passed, N failed"."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"])
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=0, resultclass=Count).run(suite)
    for case, reason in result.skipped:
        print(f"SKIPPED {case}: {reason}")
    print(f"{result.passed} passed, {result.failed} failed")
    sys.exit(1 if result.failed or not result.passed else 0)
