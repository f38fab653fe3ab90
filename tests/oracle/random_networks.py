#!/usr/bin/env python3
"""Random neural networks: what tvms makes of them at each level is what stock TVM computes.

    random_networks.py [FIRST END] [--failures FOLDER] [--quick]
    random_networks.py NUMBER          shows the network

A network is made from a number (network_maker.py): convolutions of all kinds, pools, norms, products, attention, embeddings, what moves, joins, picks, sorts and counts, of
several data types, with sizes that may be symbols, over shared weights. Of each

  - `print` writes what stock TVM prints
  - `run` interpreted (large ones as native code), and libraries of -O2 and -O3, one of them with the weights inside and now and then one for the virtual machine, compute what stock TVM's build does

Results agree to 1e-5 of the largest (halves to 2e-2, bfloat16 to 1e-1), or to some times what a change of the inputs in their last bit does in stock TVM. Networks of halves are compared
with TVM's build of the same one of float32, and what differs with that of float64: from it they may differ as TVM's own does. What TVM does not build is compared with the first of our own that is. --failures keeps the text of what differs. --quick compares one library with the interpreter, and asks TVM to build only what differs then.
"""
import argparse, collections, os, shutil, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import network_layers as layers
import network_moves as moves
from cases import tvms
from network_maker import SPACE, Maker
from stock import Stock, difference

RELEASE, COUNT = "0.27", 8
IMAGE = [(layers.conv, 16), (layers.conv_transpose, 3), (layers.pool, 3), (layers.adaptive_pool, 1), (layers.packed_pool, 1), (layers.global_pool, 1), (layers.batch_norm, 3), (layers.group_norm, 2),
         (layers.activation, 5), (layers.residual, 4), (moves.resize, 1), (moves.concat, 2), (layers.channel_bias, 1), (layers.squeeze_excite, 2), (layers.shuffle, 1), (layers.broadcast, 2)]
TEXT = [(layers.linear, 5), (layers.transposed, 1), (layers.attention, 4), (layers.layer_norm, 4), (layers.activation, 4), (layers.residual, 4), (layers.embedding, 2), (layers.batched, 2), (layers.softmax, 1),
        (layers.own_product, 1), (layers.norm_by_hand, 2), (layers.recurrent, 1), (layers.decoded, 2), (layers.small, 2), (layers.broadcast, 1), (moves.concat, 1), (moves.split, 1)]
OTHER = [(moves.permute, 2), (moves.reshape, 3), (moves.flatten, 1), (moves.expand, 1), (moves.squeeze, 1), (moves.strided_slice, 2), (moves.split, 2), (moves.concat, 2), (moves.repeat, 1),
         (moves.pad, 2), (moves.flip, 1), (moves.triangle, 1), (moves.take, 1), (moves.gather, 1), (moves.gather_nd, 1), (moves.scatter, 1), (moves.one_hot, 1), (moves.reduce, 3),
         (moves.scan, 1), (moves.order, 3), (moves.index_tensor, 1), (moves.scatter_nd, 1), (moves.slice_scatter, 1), (moves.einsum, 1), (moves.pixels, 1),
         (moves.created, 1), (moves.layout, 1), (moves.compare, 2), (moves.scalar, 2), (moves.function, 2), (moves.cast, 1), (moves.new_integers, 1), (moves.new_small, 1), (layers.quantized, 2), (layers.vector, 1), (layers.softmax, 1)]
SMALL = [(moves.permute, 2), (moves.reshape, 2), (moves.flatten, 1), (moves.expand, 1), (moves.strided_slice, 2), (moves.split, 1), (moves.concat, 2), (moves.repeat, 1), (moves.flip, 1),
         (moves.take, 1), (moves.gather_nd, 1), (moves.cast, 4)]
FAMILIES = {"image": (IMAGE, OTHER, 0.2), "text": (TEXT, OTHER, 0.25), "other": (OTHER, TEXT, 0.25)}


def first_values(m, family):
    batch = m.symbol("n") if m.chance(0.3) else m.choose([1, 1, 2, 3])
    if family == "image":
        rank, channels = m.choose([1, 2, 2, 2, 2, 3]), m.choose([1, 3, 4, 6, 8, 16] if not m.large else m.widths)
        space = [m.number(4, (30 if m.large else 12) if rank < 3 else 8 if m.large else 6) for _ in range(rank)]
        if m.chance(0.25):
            space[m.number(0, rank - 1)] = m.symbol("h", SPACE)
        m.input((batch, *space, channels) if m.last else (batch, channels, *space))
    elif family == "text":
        length = m.symbol("s") if m.chance(0.4) else m.choose([1, 4, 7, 16, 18] if not m.large else [17, 64, 100, 128] if not m.huge else [300, 512])
        if m.chance(0.5):
            m.input((batch, length), m.choose(["int32", "int64"]), m.choose([5, 16, 33]))
            layers.embedding(m, m.values[-1])
        if m.values[-1:] == [] or m.values[-1].rank != 3:
            m.input((batch, length, m.choose([4, 8, 16, 24] if not m.large else m.widths)))
    else:
        shape = [m.choose([1, 2, 3, 4, 6, 8, 16] + [33, 50] * m.large) for _ in range(m.number(1, 4))]
        m.input([batch, *shape[1:]])
        if m.chance(0.5):
            m.input([batch, *shape[1:]], m.choose(["int32", "int64", "int8", "uint8"]), "int")


def network(number):
    m = Maker(number)
    family = m.choose(["image", "image", "text", "text", "other"])
    first_values(m, family)
    own, others, share = FAMILIES[family]
    wanted, taken = m.number(2, 12), 0
    for _ in range(6 * wanted):
        v = m.values[-1] if m.chance(0.85) else m.choose(m.values)
        steps = SMALL if v.small else others if m.chance(share) else own
        step = m.random.choices([step for step, _ in steps], [weight for _, weight in steps])[0]
        made = step(m, v)
        if made:
            m.values.append(m.values.pop(m.values.index(made)))  # what goes on is the last one
            taken += 1
        if taken == wanted:
            break
    return m


class Judge:
    def __init__(self, folder, failures, quick):
        self.folder, self.failures, self.quick, self.passed, self.failed, self.counts = folder, failures, quick, 0, 0, collections.Counter()
        self.stock = Stock(RELEASE, "ask_networks.py", seconds=120)

    def check(self, what, wrong):
        if wrong:
            self.right = False
        final = self.build == "exact" or not wrong
        self.passed, self.failed = self.passed + (not wrong), self.failed + (final and bool(wrong))
        if wrong and final:
            print(f"FAILED: network {what}: {str(wrong)[:1500]}", flush=True)

    def file(self, name):
        return os.path.join(self.folder, name)

    def tvms(self, verb, *arguments):
        p = tvms(verb, self.path, *arguments, timeout=300)
        return p.stdout.decode(), f"exit {p.returncode}: {p.stderr.decode()[:1000]}" if p.returncode else ""

    def compare(self, what, said):
        self.check(what, "" if said.get("wrong") == "" else said)

    def refused(self, what, made, wrong):
        """A program that TVM does not build either may be refused, with a place in the text."""
        both = made.get("error") and f"{self.path}:" in wrong
        self.counts["refused by both"] += bool(both)
        self.check(what, "" if both else wrong)

    def judge_run(self, number, made):
        out = self.file("out")
        shutil.rmtree(out, ignore_errors=True)
        given = [word for name, path in made["inputs"] for word in ("--in", f"{name}={path}")]
        backend = "llvm" if self.large else "interp"
        _, wrong = self.tvms("run", "--backend", backend, "--out", out, *given)
        if wrong:
            return self.refused(f"{number} run", made, wrong)
        if not made["results"] and self.build:
            return None
        return self.compare(f"{number} run", self.stock.ask(job="compare", out=out))

    def judge_build(self, number, label, made, arguments, constants=False, machine=False):
        library = self.file(f"{number}{label}.so")
        if constants and made["weights"]:
            arguments = [*arguments, "--params", made["weights"]]
            label += " constants"
        _, wrong = self.tvms("build", "-o", library, *arguments)
        if wrong:
            return self.refused(f"{number} {label}", made, wrong)
        said = self.stock.ask(job="call", library=library, machine=machine, constants=constants and bool(made["weights"]))
        os.remove(library)
        if "crash" in said:
            self.check(f"{number} {label}", said)
            self.stock.ask(**self.question)
            return None
        return self.compare(f"{number} {label}", said)

    def keep(self, number, text):
        if self.failures and not self.right:
            os.makedirs(self.failures, exist_ok=True)
            with open(os.path.join(self.failures, f"{number}.tvms"), "w", encoding="utf-8") as f:
                f.write(text)

    def judge(self, number):
        """With TVM's own results, or where TVM is to build only what differs, with those of the interpreter first."""
        self.counts["networks"] += 1
        m = network(number)
        text, self.large = m.text(), m.large
        for self.build in ["" if self.quick else "own", "exact"]:
            self.right = True
            self.judge_network(number, m, text)
            if self.right:
                break
        self.keep(number, text)

    def judge_network(self, number, m, text):
        self.path = self.file(f"{number}.tvms")
        with open(self.path, "w", encoding="utf-8") as f:
            f.write(text)
        self.question = {"job": "make", "text": text, "folder": self.folder, "params": m.params, "sizes": m.sizes, "seed": number, "build": self.build}
        made = self.stock.ask(**self.question)
        if "inputs" not in made:
            self.counts[f"not read by TVM: {str(made)[:200]}"] += 1
            return self.check(number, "tvms takes what TVM refuses" if not self.tvms("check")[1] and "crash" not in made else "")
        if made.get("error"):
            self.counts[f"not built by TVM: {made['error'][:120]}"] += 1
        printed, wrong = self.tvms("print", "--no-metadata", "--dialect", RELEASE)
        self.check(f"{number} print", wrong or (printed.rstrip("\n") != made["print"].rstrip("\n") and difference(made["print"], printed)))
        self.judge_run(number, made)
        for k, level in enumerate(["-O2", "-O3"]):
            if self.build or k == (number % 4 == 3):
                self.judge_build(number, level, made, [level], constants=number % 2 == k)
        if number % 5 == 0:
            self.judge_build(number, "vm", made, ["--vm", "--dialect", RELEASE], machine=True)
        return None


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("numbers", nargs="*", type=int)
    arguments.add_argument("--failures")
    arguments.add_argument("--quick", action="store_true")
    a = arguments.parse_args()
    if len(a.numbers) == 1:
        print(network(a.numbers[0]).text(), end="")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        judge = Judge(folder, a.failures, a.quick)
        for number in range(*(a.numbers or (0, COUNT))):
            judge.judge(number)
        judge.stock.stop()
    for what, count in sorted(judge.counts.items()):
        print(f"{count:6} {what}")
    print(f"{judge.passed} passed, {judge.failed} failed")
    return judge.failed != 0 or not judge.passed


if __name__ == "__main__":
    sys.exit(main())
