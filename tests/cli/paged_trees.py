#!/usr/bin/env python3
"""Trees of tokens in the cache of attention with pages: random stories of batches, trees that grow, paths that are taken, forks and tokens taken back, computed anew
in Python from the tokens that each one sees, and by tvms interpreted and as native code.

    paged_trees.py [STORIES [FIRST]]
"""
import os, random, shutil, sys, unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import npy
from cases import InFolder, main, source, tvms
from library import Library

GOLDEN = source("tests", "golden", "run", "paged-cache-trees.tvms")
SCALES = (0.25, 0.5)  # of the two layers
BATCH = 12
CREATE = """cache: R.Any = R.call_pure_packed("vm.builtin.paged_attention_kv_cache_create", R.shape([4, 160, 12, 4, 0]), R.shape([0, 2]), R.prim_value(2), R.prim_value(1), R.prim_value(2), R.prim_value(2), R.shape([0, 0]), R.prim_value(False), R.prim_value(1), R.prim_value(T.float64(1)), R.prim_value(T.float64(0.03125)), R.prim_value(0), R.const(0, "float32"), cls.append, R.prim_value(0), (R.str("tirx"), cls.ragged), (R.str("tirx"), cls.prefill), (R.str("tirx"), cls.decode), R.tuple(), R.tuple(), (R.str("tirx"), cls.tree), (R.str("tirx"), cls.ragged_tree), R.tuple(), (cls.merge,), cls.split, cls.copy_page, cls.copy_page, cls.compact, ty_args=(R.Any,))"""


class Story:
    """Sequences as lists of tokens, what they must give, and the text of the program that does the same with a cache.

    A token is [what it sees of its own tree, position, key, value, is a node]; the tree is what was not taken yet."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.inputs = {n: [self.random.randint(-16, 16) / 16 for _ in range(8 * n)] for n in range(1, BATCH + 1)}
        self.sequences, self.lines, self.results, self.wanted, self.ids = {}, [], [], [], 0

    def say(self, name, *arguments):
        self.lines.append(f'_{len(self.lines)} = R.call_packed("vm.builtin.{name}", cache, {", ".join(arguments)}, ty_args=(R.Tuple,))')

    def add(self):
        self.sequences[self.ids] = []
        self.say("kv_state_add_sequence", f"R.prim_value({self.ids})")
        self.ids += 1

    def fork(self, parent):
        at = self.random.randint(1, len(self.sequences[parent]))
        self.sequences[self.ids] = list(self.sequences[parent][:at])
        self.say("kv_state_fork_sequence", f"R.prim_value({parent})", f"R.prim_value({self.ids})", f"R.prim_value({at})")
        self.ids += 1

    def pop(self, which):
        count = self.random.randint(1, min(3, len(self.sequences[which])))
        del self.sequences[which][-count:]
        self.say("kv_state_popn", f"R.prim_value({which})", f"R.prim_value({count})")

    def nodes(self, which):
        return [token for token in self.sequences[which] if token["node"]]

    def commit(self):
        which = [i for i in self.sequences if self.nodes(i)]
        leaves = [self.random.randrange(-1, len(self.nodes(i))) for i in which]
        for i, leaf in zip(which, leaves):
            tokens, nodes = self.sequences[i], self.nodes(i)
            front = tokens[:len(tokens) - len(nodes)]
            path = nodes[leaf]["path"] if leaf >= 0 else []
            self.sequences[i] = front + [{**nodes[n], "node": False} for n in path]
        if which:
            self.say("attention_kv_cache_commit_accepted_token_tree_nodes", f"R.shape({which})", f"R.shape({leaves})")

    def batch(self, which, trees):
        lengths = [self.random.randint(1, BATCH // len(which)) if self.random.random() < 0.6 else 1 for _ in which]
        total, parents, tokens = sum(lengths), [], []
        for i, length in zip(which, lengths):
            for _ in range(length):
                count = len(self.nodes(i))
                parent = self.random.choice([-1, count - 1, self.random.randint(-1, count - 1)]) if trees else None
                parents.append(parent)
                tokens.append((i, self.append(i, parent)))
        shapes = [f"R.shape({which})", f"R.shape({lengths})"] + ([f"R.shape({parents})"] if trees else [])
        self.say("kv_state_begin_forward", *shapes)
        shift = self.random.randint(0, 16) / 16
        values = [v + shift for v in self.inputs[total]]
        for k, (i, token) in enumerate(tokens):
            token["values"] = values[8 * k:8 * k + 8]
        self.forward(total, shift, tokens)

    def append(self, which, parent):
        nodes, before = self.nodes(which), len(self.sequences[which])
        token = {"node": parent is not None, "position": before}
        if parent is not None:
            above = nodes[parent]["path"] if parent >= 0 else []
            token["path"] = above + [len(nodes)]
            token["position"] = before - len(nodes) + len(above)
        self.sequences[which].append(token)
        return token

    def forward(self, total, shift, tokens):
        k = len(self.lines)
        call = 'R.call_dps_packed("vm.builtin.attention_kv_cache_attention_with_fused_qkv"'
        self.lines.append(f'a{k} = R.add(x{total}, R.const({shift}, "float32"))')
        for layer, scale in enumerate(SCALES):
            self.lines.append(f'b{k}_{layer} = {call}, (cache, R.prim_value({layer}), R.prim_value(T.float64({scale})), a{k}), '
                              f'out_ty=R.Tensor(({total}, 2, 2), "float32"))')
        self.lines.append(f"d{k} = R.add(b{k}_0, b{k}_1)")
        self.results.append(f"d{k}")
        self.wanted.append([x for i, token in tokens for x in self.attend(i, token)])

    def attend(self, which, token):
        """What a token sees: all that is not a tree, or is in front of the tree, and its path."""
        tokens = self.sequences[which]
        at = next(k for k, t in enumerate(tokens) if t is token)
        if token["node"]:
            nodes = self.nodes(which)
            seen = [t for t in tokens if not t["node"]] + [nodes[n] for n in token["path"]]
        else:
            seen = tokens[:at + 1]
        result = []
        for h in range(2):
            query = [x + token["position"] / 16 for x in token["values"][2 * h:2 * h + 2]]
            for d in range(2):
                result.append(sum(self.weighed(query, seen, d, scale) for scale in SCALES))
        return result

    def weighed(self, query, seen, d, scale):
        weights = [2 ** (scale * sum(q * (t["values"][4 + e] - t["position"] / 8) for e, q in enumerate(query))) for t in seen]
        return sum(w * t["values"][6 + d] for w, t in zip(weights, seen)) / sum(weights)

    def step(self):
        committed = [i for i in self.sequences if self.sequences[i] and not self.nodes(i)]
        what = self.random.random()
        if len(self.sequences) < 4 and what < 0.15:
            self.add()
        elif len(self.sequences) < 4 and committed and what < 0.25:
            self.fork(self.random.choice(committed))
        elif what < 0.35 and any(self.sequences.values()):
            self.pop(self.random.choice([i for i in self.sequences if self.sequences[i]]))
        elif what < 0.5:
            self.commit()
        elif self.sequences:
            which = self.random.sample(sorted(self.sequences), self.random.randint(1, len(self.sequences)))
            trees = any(self.nodes(i) for i in which) or self.random.random() < 0.6
            if all(len(self.nodes(i)) < 20 for i in which):
                self.batch(which, trees)

    def program(self, kernels):
        parameters = ", ".join(f'x{n}: R.Tensor(({n}, 4, 2), "float32")' for n in self.inputs)
        body = [CREATE, *self.lines, f"return ({', '.join(self.results)},)"]
        return (f"{kernels}    @R.function(pure=False)\n    def main({parameters}):\n        cls = Module\n" + "".join(f"        {line}\n" for line in body))


class PagedTrees(InFolder):
    stories, first = 12, 0

    def test_stories(self):
        with open(GOLDEN, encoding="utf-8") as f:
            kernels = f.read().split("    @R.function(pure=False)\n    def main")[0]
        for seed in range(self.first, self.first + self.stories):
            story = Story(seed)
            story.add()
            while len(story.results) < 8:
                story.step()
            with self.subTest(story=seed):
                self.judge(story, story.program(kernels), f"model{seed}.so")

    def judge(self, story, text, name):
        given, out = [], self.file("out")
        shutil.rmtree(out, ignore_errors=True)
        for n, values in story.inputs.items():
            npy.write(self.file(f"x{n}.npy"), "<f4", [n, 4, 2], values)
            given += ["--in", f"x{n}={self.file(f'x{n}.npy')}"]
        p = tvms("run", "-", "--out", out, *given, stdin=text, timeout=300)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        for i, wanted in enumerate(story.wanted):
            self.close(npy.read(os.path.join(out, f"result.{i}.npy"))[2], wanted, f"interpreted, result {i}")
        p = tvms("build", "-", "-o", self.file(name), stdin=text, timeout=300)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        results = Library(self.file(name))("main", *[("f", [n, 4, 2], values) for n, values in story.inputs.items()])
        self.assertIsInstance(results, tuple, results)
        for i, (result, wanted) in enumerate(zip(results, story.wanted)):
            self.close(result[2], wanted, f"native, result {i}")

    def close(self, got, wanted, where):
        self.assertEqual(len(got), len(wanted), where)
        worst = max(abs(x - y) for x, y in zip(got, wanted))
        self.assertLessEqual(worst, 2e-5 * max(1, *(abs(y) for y in wanted)), where)


if __name__ == "__main__":
    numbers = [int(sys.argv.pop(1)) for _ in sys.argv[1:] if sys.argv[1].isdigit()]
    PagedTrees.stories, PagedTrees.first = (numbers + [PagedTrees.stories, PagedTrees.first][len(numbers):])[:2]
    main()
