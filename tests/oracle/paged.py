#!/usr/bin/env python3
"""A decoder with the paged cache of TVM's own front end and kernels: text, libraries and results of stock TVM against tvms.

Each story of sequences is run by TVM's machine, interpreted, by both builds in both machines, and as native code. New tokens behind tokens of the cache come one
by one: TVM's kernel for several of them (tir_attention_prefill_cpu) reads beyond an array.
"""
import os, shutil, sys, tempfile, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cases import main, tvms
from stock import Stock

RELEASES = ["0.25", "0.26", "0.27"]
CLOSE = 1e-5


def batch(*pairs, tree=None):
    """One pass: (sequence, new tokens) each, and the parents of all tokens if they are trees."""
    ids, lengths = ([pair[i] for pair in pairs] for i in range(2))
    return [("kv_state_begin_forward", ids, lengths, *([tree] if tree else [])), ("forward", sum(lengths)), ("kv_state_end_forward",)]


COUNTS = [("ask", "attention_kv_cache_get_num_available_pages"), ("ask", "attention_kv_cache_get_total_sequence_length")]
SEQUENCES = [
    ("kv_state_add_sequence", 0), *batch((0, 20)), *batch((0, 1)), *batch((0, 1)),
    ("kv_state_add_sequence", 7), ("kv_state_add_sequence", 8), *batch((7, 3)), *batch((8, 2)), *batch((0, 1), (7, 1), (8, 1)), *COUNTS,
    ("kv_state_fork_sequence", 0, 1, 20), ("kv_state_fork_sequence", 0, 2, -1), *COUNTS, ("see", 1, 3, 18), *batch((1, 1), (0, 1), (2, 1)), *batch((1, 1), (0, 1), (2, 1)),
    ("kv_state_popn", 2, 9), ("kv_state_popn", 0, 2), *batch((2, 1), (0, 1), (1, 1)), *COUNTS,
    ("kv_state_remove_sequence", 0), *batch((2, 1), (1, 1), (8, 1)), *COUNTS,
    ("kv_state_clear",), *COUNTS, ("kv_state_add_sequence", 3), *batch((3, 20)), *batch((3, 1)),
]
# Lengths of single sequences, which 0.27 has.
LENGTH = "attention_kv_cache_get_sequence_length"
LENGTHS = [
    ("kv_state_add_sequence", 0), ("ask", LENGTH, 0), *batch((0, 20)), ("kv_state_fork_sequence", 0, 1, 17), ("kv_state_add_sequence", 4), *batch((4, 3)), *batch((1, 1), (4, 1)),
    ("ask", LENGTH, 0), ("ask", LENGTH, 1), ("ask", LENGTH, 4), ("kv_state_popn", 0, 5), ("ask", LENGTH, 0), *COUNTS,
]
WINDOWS = [
    ("kv_state_add_sequence", 0), ("attention_kv_cache_enable_sliding_window_for_seq", 0, 21, 3), *batch((0, 20)),
    *[step for _ in range(14) for step in batch((0, 1))], ("see", 0, 0, 21),
    ("kv_state_add_sequence", 4), *batch((4, 1)), *batch((4, 1)), ("kv_state_popn", 4, 1), *batch((4, 1)), *COUNTS,
]
# A layer whose window is shorter than the first batch, and one that begins within a page; a fork has a window in each of its blocks.
LAYER_WINDOWS = [
    ("kv_state_add_sequence", 0), *batch((0, 30)), *[step for _ in range(20) for step in batch((0, 1))],
    ("kv_state_add_sequence", 1), *batch((1, 1)), *batch((1, 1), (0, 1)), ("attention_kv_cache_enable_sliding_window_for_seq", 1, 20, 2), *batch((1, 1)),
    ("kv_state_fork_sequence", 0, 5, 44), *batch((5, 1)), *batch((5, 1), (0, 1), (1, 1)), ("kv_state_popn", 0, 3), *batch((0, 1), (5, 1)), *COUNTS,
]
# TVM's kernel for trees in the pages reads beyond an array as well, and trees of several batches are not committed as they are: a tree is the beginning of its sequence here.
COMMIT = "attention_kv_cache_commit_accepted_token_tree_nodes"
TREES = [
    ("kv_state_add_sequence", 0), *batch((0, 6), tree=[-1, 0, 0, 1, 1, 2]), (COMMIT, [0], [4]), *COUNTS, *batch((0, 1)), ("see", 0, 0, 4),
    ("kv_state_add_sequence", 7), ("kv_state_add_sequence", 2), *batch((7, 4), (2, 20), tree=[-1, 0, -1, 2, *range(-1, 15), 3, 3, 16, 17]),
    (COMMIT, [7, 2], [3, 15]), *COUNTS, *batch((2, 1), (0, 1), (7, 1)), ("see", 2, 2, 15),
    ("kv_state_add_sequence", 9), *batch((9, 3), tree=[-1, 0, 1]), (COMMIT, [9], [-1]), *COUNTS, *batch((9, 1), (0, 1)),
]


class Paged(unittest.TestCase):
    def judge(self, stock, release, slides, story, window=None):
        with tempfile.TemporaryDirectory() as folder:
            said = stock.ask(job="story", folder=folder, slides=slides, story=story, window=window)
            self.assertIn("text", said, said)
            text, ours, out = (os.path.join(folder, name) for name in ("model.tvms", "ours.so", "out"))
            with open(text, "w", encoding="utf-8") as f:
                f.write(said["text"])
            p = tvms("build", "--vm", "--dialect", release, text, "-o", ours, timeout=300)
            self.assertEqual(p.returncode, 0, p.stderr.decode()[:2000])
            given = [x for name, path in said["inputs"].items() for x in ("--in", f"{name}={path}")]
            asked = {"job": "worst", "folder": folder, "results": said["results"]}
            for path in (text, os.path.join(folder, "theirs.so"), ours):
                shutil.rmtree(out, ignore_errors=True)
                p = tvms("run", path, "--entry", "main", "--out", out, *given, timeout=300)
                self.assertEqual(p.returncode, 0, f"{path}: {p.stderr.decode()[:2000]}")
                self.check(path, stock.ask(out=out, **asked))
            self.check("ours in TVM's machine", stock.ask(library=ours, inputs=said["inputs"], **asked))
            native = os.path.join(folder, "native.so")
            p = tvms("build", "--dialect", release, text, "-o", native, timeout=300)
            self.assertEqual(p.returncode, 0, p.stderr.decode()[:2000])
            self.check("native code", stock.ask(library=native, inputs=said["inputs"], native=True, **asked))

    def check(self, what, said):
        self.assertLess(said.get("worst", 1), CLOSE, f"{what}: {said}")

    def test_stories(self):
        for release in RELEASES:
            stock = Stock(release, "ask_paged.py", seconds=300)
            stories = [("sequences", 0, SEQUENCES), ("windows", 1, WINDOWS), ("trees", 0, TREES)]
            if release not in ("0.25", "0.26"):
                stories += [("lengths", 0, LENGTHS), *((f"window of {n}", slides, LAYER_WINDOWS, n) for slides, n in ((0, 21), (0, 16), (1, 7)))]
            for name, *how in stories:
                with self.subTest(release=release, story=name):
                    self.judge(stock, release, *how)
            stock.stop()


if __name__ == "__main__":
    main()
