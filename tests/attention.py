#!/usr/bin/env python3
"""Generated attention: FuseAttention takes it, and neither it nor what ScheduleCPU makes of its tiles changes a result.

Layouts, masks, scales, shared heads, causal masks and sizes are drawn: odd ones, one query, more keys than queries, symbolic ones. Values are compared with the
operators of Relax as the interpreter defines them, by `tvms diff --values`.
"""
import os, sys

from generated import TARGETS, judge_many, run

HEAD = "from tvm.script import ir as I, relax as R\n\n@I.ir_module\nclass Module:\n    @R.function\n"


class Program:
    def __init__(self, r):
        self.r, self.lines, self.args = r, [], []
        self.batch, self.shared, self.groups = r.choice([1, 1, 2]), r.choice([1, 2]), r.choice([1, 1, 3])
        self.heads = self.shared * self.groups
        self.queries, self.keys = r.choice([1, 5, 16, 33, 70, 129, 131]), r.choice([1, 7, 16, 63, 64, 65, 100, 150])
        self.depth, self.width = r.choice([4, 8, 17]), r.choice([4, 16, 20])
        self.dtype = "float16" if r.random() < 0.1 else "float32"
        self.symbolic = r.random() < 0.2
        self.q, self.k = ('"m"', '"n"') if self.symbolic else (self.queries, self.keys)

    def add(self, value):
        self.lines.append(f"v{len(self.lines)} = {value}")
        return f"v{len(self.lines) - 1}"

    def arg(self, *shape, dtype=None):
        name = f"x{len(self.args)}"
        self.args.append(f'{name}: R.Tensor(({", ".join(map(str, shape))}), "{dtype or self.dtype}")')
        return name

    def permuted(self, x, *axes):
        return self.add(f"R.permute_dims({x}, {list(axes)})")

    def matrix(self, tokens, width, heads, groups, turned):
        """[batch, heads, tokens, width] or the last two turned, of which `groups` heads share one."""
        inner = self.r.random() < 0.5
        order = (0, 2, 1, 3) if inner else (0, 1, 2, 3)
        x = self.arg(self.batch, *((tokens, heads) if inner else (heads, tokens)), width)
        if groups > 1 and (inner or self.symbolic or self.r.random() < 0.5):
            x = self.add(f"R.repeat({x}, {groups}, {2 if inner else 1})")
        elif groups > 1:
            x = self.add(f"R.expand_dims({x}, 2)")
            x = self.add(f"R.broadcast_to({x}, ({self.batch}, {heads}, {groups}, {tokens}, {width}))")
            x = self.add(f"R.reshape({x}, ({self.batch}, {heads * groups}, {tokens}, {width}))")
        if turned:
            order = (*order[:2], order[3], order[2])
        return x if order == (0, 1, 2, 3) else self.permuted(x, *order)

    def steps(self, s):
        r = self.r
        if r.random() < 0.7:
            c = f'R.const({r.choice([0.25, 0.5])}, "{self.dtype}")'
            s = self.add(r.choice([f"R.multiply({s}, {c})", f"R.multiply({c}, {s})", f"R.divide({s}, {c})"]))
        for _ in range(r.choice([0, 0, 1, 2])):
            shape = r.choice([(self.q, self.k), (1, 1, self.q, self.k), (self.batch, 1, 1, self.k), (self.heads, 1, 1), (self.q, 1)])
            kind = r.choice(["add", "subtract", "where", "maximum", "minimum"])
            if kind == "where":
                s = self.add(f'R.where({self.arg(*shape, dtype="bool")}, {s}, R.const(-2.0, "{self.dtype}"))')
            else:
                both = [s, self.arg(*shape)]
                r.shuffle(both)
                s = self.add(f"R.{kind}({both[0]}, {both[1]})")
        return s

    def written_out(self):
        q = self.matrix(self.q, self.depth, self.heads, 1, False)
        k = self.matrix(self.k, self.depth, self.shared, self.groups, True)
        s = self.steps(self.add(f"R.matmul({q}, {k})"))
        p = self.add(f"R.nn.softmax({s}, axis={self.r.choice([-1, 3])})")
        y = self.add(f"R.matmul({p}, {self.matrix(self.k, self.width, self.shared, self.groups, False)})")
        return self.permuted(y, 0, 2, 1, 3) if self.r.random() < 0.6 else y

    def operator(self):
        # LegalizeOps makes float32 of the product of halves and a scale, which is not its type.
        self.width, self.dtype = self.depth, "float32"
        if self.r.random() < 0.3:
            self.k = self.q
        tensors = [self.arg(self.batch, size, self.heads, self.depth) for size in (self.q, self.k, self.k)]
        options = [f", scale={self.r.choice([0.25, 0.5])}"] if self.r.random() < 0.5 else []
        options += [f', causal_mask="{self.r.choice(["TopLeft", "BottomRight"])}"'] if self.r.random() < 0.6 else []
        if self.r.random() < 0.3:
            tensors.append(self.arg(self.batch, self.heads, self.q, self.k))
            return self.add(f"R.nn.attention_bias({', '.join(tensors)}{''.join(options)})")
        return self.add(f"R.nn.attention({', '.join(tensors)}{''.join(options)})")

    def text(self):
        y = self.operator() if self.r.random() < 0.3 else self.written_out()
        body = "".join(f"            {line}\n" for line in self.lines)
        return HEAD + f"    def main({', '.join(self.args)}):\n        with R.dataflow():\n{body}            R.output({y})\n        return {y}\n"


def misfused(folder, program, written, target):
    """Returns what is wrong when attention of a program, whose text is `written`, is fused for the target."""
    text, before, after = (os.path.join(folder, name) for name in ("text.tvms", "before.tvms", "after.tvms"))
    with open(text, "w") as f:
        f.write(written)
    tolerance = "4e-3" if program.dtype == "float16" else "1e-5"
    # Sizes that are not known get values in the Relax function behind the passes, while PrimFuncs keep them open.
    sizes = {name: size for name, size in (("m", program.queries), ("n", program.keys)) if f'"{name}"' in written}
    bind = f",BindSymbolicVars{{binding_map={sizes}}}" if sizes else ""
    p = run("opt", "--passes", "ToNonDataflow" + bind, text, "-o", before)
    if p.returncode:
        return p.stderr.strip()
    fuse = f"FuseAttention{{always=true,target='{target}'}}"
    for passes in (fuse, f"{fuse},kernels,ScheduleCPU{{target='{target}',reorder=true}}"):
        p = run("opt", "--passes", passes + bind, "--verify-each", "--statistics", text, "-o", after)
        if p.returncode or "1  FuseAttention: attention fused" not in p.stderr:
            return f"{passes}: not fused: {p.stderr.strip()}"
        q = run("diff", "--values", "--tolerance", tolerance, before, after)
        if q.returncode:
            return f"{passes}: {q.stdout.strip()}{q.stderr.strip()}"
    return ""


def judge(r, folder):
    program, target = Program(r), r.choice(TARGETS)
    written = program.text()
    return written, target, misfused(folder, program, written, target), True


if __name__ == "__main__":
    sys.exit(judge_many(__doc__, 60, judge))
