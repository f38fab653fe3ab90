#!/usr/bin/env python3
"""Every pass over programs that were not written for it: it refuses them or changes them, and what it writes is read again.

    every_pass.py [FILE]...     these programs instead of a part of corpus/
"""
import concurrent.futures, os, re, sys, unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from cases import files_under, main, source, tvms

STEP = 12  # of the programs of corpus/ one in so many
PIPELINES = ["zero", "default_build", "default", "lower", "BindTarget,s_tir,finalize-host"]
# What stock TVM writes, too, and is not a program.
KNOWN = {
    ("CommonSubexprElim", "corpus/classic/threads.tvms"): "a sum of a thread that is launched twice stands in front of both",
    ("CommonSubexprElim", "corpus/current/threads.tvms"): "likewise",
}


def passes():
    listed = tvms("opt", "--list").stdout.decode().split("\nPipelines:")[0]
    return re.findall(r"^(\w+) \(", listed, re.M) + PIPELINES


# Texts that were read again without a fault: many passes leave a program as it is.
READ_AGAIN = set()


def judge(path, name):
    """What is wrong; "" if nothing."""
    p = tvms("opt", "--verify-each", "--passes", name, path)
    if p.returncode not in (0, 1):
        return f"exit {p.returncode}: {p.stderr.decode()[-400:]}"
    if p.returncode == 1 and b"error[" not in p.stderr:
        return "it fails without an error"
    if p.returncode == 0 and p.stdout not in READ_AGAIN:
        again = tvms("opt", "--passes", "RemoveNoOp", "--stop-after", "0", "-", stdin=p.stdout)
        if again.returncode not in (0, 1):
            return f"what it writes, read again: exit {again.returncode}: {again.stderr.decode()[-400:]}"
        READ_AGAIN.add(p.stdout)
    return ""


class EveryPass(unittest.TestCase):
    files = None

    def test_every_pass(self):
        paths = self.files or list(files_under("corpus"))[::STEP]
        cases = [(path, name) for path in paths for name in passes()]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for (path, name), wrong in zip(cases, pool.map(lambda case: judge(*case), cases)):
                place = os.path.relpath(path, source())
                with self.subTest(file=place, passes=name):
                    if (name, place) not in KNOWN:
                        self.assertEqual(wrong, "")


if __name__ == "__main__":
    EveryPass.files = [os.path.abspath(name) for name in sys.argv[1:]]
    sys.argv[1:] = []
    main()
