#!/usr/bin/env python3
"""Every program of corpus/ and tests/golden/: what tvms writes, it writes again.

    roundtrip.py [--all]

Formatted text formats to itself. Printed text prints to itself: corpus/ in every release that is written, each golden file in the
newest one and in one of the others, which have as many files each; `--all`: in every release. What does not yet
stands in roundtrip.tsv, "FILE<TAB>RELEASE<TAB>why"; it is shown and counts neither way.
"""
import concurrent.futures, itertools, os, sys, tempfile, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import PLAIN, files_under, main, source, tvms
from release_tables import written

RELEASES = written(source())


TOGETHER = 24  # texts that one run of the program reads

# What one run writes for a file ends where this begins: a file of its own, read behind each of them.
MARK = "from tvm.script import tir as T\n\n\n@T.prim_func\ndef {name}(a: T.int32):\n    T.evaluate(a)\n"
MARK_NAME = "end_of_one_text"


def write_files(folder, texts):
    paths = [os.path.join(folder, f"{number}.tvms") for number in range(len(texts))]
    for path, text in zip(paths, texts):
        with open(path, "wb") as f:
            f.write(text)
    return paths


def alone(verb, options, path):
    """Returns what the program writes, None if the text is not to be written, and what is wrong, or ""."""
    done = tvms(verb, *options, path)
    if done.returncode == 1:
        return None, ""  # the text has errors, or the release cannot say it: other tests look at that
    return (done.stdout, "") if done.returncode == 0 else (None, f"exit {done.returncode}: {done.stderr.decode()[:500]}")


def once(verb, options, paths, folder):
    """Returns for each path what `alone` does. One run writes all of them, unless it is not known where each ends."""
    mark, = write_files(folder, [MARK.format(name=MARK_NAME).encode()])
    written = tvms(verb, *options, mark).stdout
    assert MARK_NAME.encode() in written
    done = tvms(verb, *options, *[file for path in paths for file in (path, mark)])
    parts = done.stdout.split(written)
    if done.returncode > 1 or len(parts) != len(paths) + 1 or parts[-1]:
        return [alone(verb, options, path) for path in paths]
    return [(part or None, "") for part in parts[:-1]]


def again(verb, options, folder, texts):
    """Returns for each of the texts what is wrong with the second time, or ""; one run reads all of them if nothing is.
    Sanitizers have looked at the programs the first time."""
    second = tvms(verb, *options, *write_files(folder, texts), program=PLAIN)
    if second.returncode == 0 and second.stdout == b"".join(texts):
        return [""] * len(texts)
    if len(texts) > 1:
        return [again(verb, options, folder, [text])[0] for text in texts]
    return [f"differs the second time: exit {second.returncode}, {second.stderr.decode()[:500]}"]


def twice(verb, options, paths):
    """Returns for each path what is wrong, or ""."""
    with tempfile.TemporaryDirectory() as folder:
        first = once(verb, options, paths, folder)
        texts = [text for text, _ in first if text is not None]
        second = iter(again(verb, options, folder, texts) if texts else [])
    return [wrong if text is None else next(second) for text, wrong in first]


def printed(paths, release, excused):
    """The paths that are printed in a release."""
    if RoundTrip.all or release == RELEASES[-1]:
        return paths
    turn = RELEASES.index(release)
    golden = source("tests", "golden", "")
    return [path for at, path in enumerate(paths) if not path.startswith(golden) or at % (len(RELEASES) - 1) == turn or (os.path.relpath(path, source()), release) in excused]


def known():
    with open(source("tests", "roundtrip.tsv"), encoding="utf-8") as f:
        rows = [line.rstrip("\n").split("\t") for line in f if line.strip() and not line.startswith("#")]
    return {(file, release): why for file, release, why in rows}


class RoundTrip(unittest.TestCase):
    all = False

    def each(self, verb, options):
        excused = known()
        paths = list(files_under("corpus", "tests/golden"))
        self.assertGreater(len(paths), 20)
        if options:
            paths = printed(paths, options[-1], excused)
        groups = [paths[at:at + TOGETHER] for at in range(0, len(paths), TOGETHER)]
        verified = (*options, "--verify-each") if verb == "print" else options
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = itertools.chain.from_iterable(pool.map(lambda group: twice(verb, verified, group), groups))
            for path, wrong in zip(paths, results):
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
    if "--all" in sys.argv:
        sys.argv.remove("--all")
        RoundTrip.all = True
    main()
