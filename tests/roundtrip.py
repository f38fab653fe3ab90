#!/usr/bin/env python3
"""Every program of corpus/ and tests/golden/: what tvms writes, it writes again.

Formatted text formats to itself. Printed text, in every release that is written, prints to itself. What does not yet
stands in roundtrip.tsv, "FILE<TAB>RELEASE<TAB>why"; it is shown and counts neither way.
"""
import concurrent.futures, os, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import files_under, main, source, tvms
from release_tables import written

RELEASES = written(source())


def twice(verb, options, path):
    """Returns what is wrong, or ""."""
    options = (*options, "--verify-each") if verb == "print" else options
    first = tvms(verb, *options, path)
    if first.returncode == 1:
        return ""  # the text has errors, or the release cannot say it: other tests look at that
    if first.returncode:
        return f"exit {first.returncode}: {first.stderr.decode()[:500]}"
    second = tvms(verb, *options, "-", stdin=first.stdout)
    if second.returncode or second.stdout != first.stdout:
        return f"differs the second time: exit {second.returncode}, {second.stderr.decode()[:500]}"
    return ""


def known():
    with open(source("tests", "roundtrip.tsv"), encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f if line.strip() and not line.startswith("#")]
    return {(file, release): why for file, release, why in rows}


class RoundTrip(unittest.TestCase):
    def each(self, verb, options):
        excused = known()
        paths = list(files_under("corpus", "tests/golden"))
        self.assertGreater(len(paths), 20)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for path, wrong in zip(paths, pool.map(lambda p: twice(verb, options, p), paths)):
                excuse = excused.get((os.path.relpath(path, source()), options[-1] if options else ""))
                if excuse:
                    print(f"known: {path} {options}: {excuse}" if wrong else f"superfluous in roundtrip.tsv: {path} {options}")
                    continue
                with self.subTest(path=path, options=options):
                    self.assertEqual(wrong, "")

    def test_fmt(self):
        self.each("fmt", ())

    def test_print(self):
        for release in RELEASES:
            self.each("print", ("--dialect", release))


if __name__ == "__main__":
    main()
