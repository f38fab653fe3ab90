#!/usr/bin/env python3
"""Attention of plain text: `tvms build`, which fuses it where that pays, against the same without FuseAttention and against onnxruntime.

    python3 bench/native/attention.py build-rel [--only PATTERN] [--threads N] [--out bench/native/results]

Tokens come as [batch, tokens, heads, 64]; the text and the graph of ONNX turn them, multiply, scale, add a mask if there is one, take the softmax, multiply and turn back.
`causal` is R.nn.attention with a causal mask, which the graph of ONNX has as a mask that is added. All run in one process, in turns; CPU time with one thread, wall time
with more; the least of several. Results are compared: the largest error over the largest value.
"""
import os, re, subprocess, sys, tempfile

import models, schedules

DEPTH = 64


class Case:
    def __init__(self, kind, batch, heads, queries, keys):
        self.kind, self.batch, self.heads, self.queries, self.keys = kind, batch, heads, queries, keys
        self.name = f"{kind}, {batch} x {heads} heads, {queries} x {keys}"

    def text(self):
        q, k = ('"m"', '"n"') if self.kind == "symbolic" else (self.queries, self.keys)
        tensors = [f"{name}: R.Tensor(({self.batch}, {size}, {self.heads}, {DEPTH}), \"float32\")" for name, size in (("q", q), ("k", k), ("v", k))]
        if self.kind == "mask":
            tensors.append(f'mask: R.Tensor((1, 1, {q}, {k}), "float32")')
        lines = ["q1 = R.permute_dims(q, [0, 2, 1, 3])", "k1 = R.permute_dims(k, [0, 2, 3, 1])", "v1 = R.permute_dims(v, [0, 2, 1, 3])", "s = R.matmul(q1, k1)",
                 f's1 = R.multiply(s, R.const({DEPTH ** -0.5}, "float32"))', *(["s2 = R.add(s1, mask)"] if self.kind == "mask" else []),
                 f"p = R.nn.softmax({'s2' if self.kind == 'mask' else 's1'}, axis=-1)", "y = R.matmul(p, v1)", "z = R.permute_dims(y, [0, 2, 1, 3])"]
        if self.kind == "causal":
            lines = ['z = R.nn.attention(q, k, v, causal_mask="TopLeft")']
        return "\n".join(["from tvm.script import ir as I, relax as R", "@I.ir_module", "class Module:", "    @R.function", f"    def main({', '.join(tensors)}):",
                          "        with R.dataflow():", *("            " + line for line in lines), "            R.output(z)", "        return z", ""])

    def graph(self):
        import numpy
        from onnx import helper, numpy_helper, TensorProto
        masked = self.kind in ("mask", "causal")
        node, tensor = helper.make_node, lambda name, *shape: helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        nodes = [node("Transpose", ["q"], ["q1"], perm=[0, 2, 1, 3]), node("Transpose", ["k"], ["k1"], perm=[0, 2, 3, 1]), node("Transpose", ["v"], ["v1"], perm=[0, 2, 1, 3]),
                 node("MatMul", ["q1", "k1"], ["s"]), node("Mul", ["s", "scale"], ["s1"])]
        nodes += [node("Add", ["s1", "mask"], ["s2"])] if masked else []
        nodes += [node("Softmax", ["s2" if masked else "s1"], ["p"], axis=-1), node("MatMul", ["p", "v1"], ["y"]), node("Transpose", ["y"], ["z"], perm=[0, 2, 1, 3])]
        moved = [tensor(name, self.batch, size, self.heads, DEPTH) for name, size in (("q", self.queries), ("k", self.keys), ("v", self.keys), ("z", self.queries))]
        inputs = moved[:3] + ([tensor("mask", 1, 1, self.queries, self.keys)] if masked else [])
        graph = helper.make_graph(nodes, "g", inputs, moved[3:], [numpy_helper.from_array(numpy.float32(DEPTH ** -0.5), "scale")])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)

    def inputs(self):
        import numpy
        random = numpy.random.default_rng(0)
        values = [schedules.aligned(random.random((self.batch, size, self.heads, DEPTH), "f4") * 2 - 1) for size in (self.queries, self.keys, self.keys)]
        if self.kind in ("mask", "causal"):
            seen = numpy.arange(self.keys) <= numpy.arange(self.queries)[:, None]
            values.append(schedules.aligned(numpy.where(seen, 0, -1e9).astype("f4")[None, None]))
        return values


def cases():
    for tokens in (128, 256, 384, 512, 1024, 2048):
        yield Case("plain", 1, 12, tokens, tokens)
    for tokens in (512, 2048):
        yield Case("mask", 1, 12, tokens, tokens)
        yield Case("causal", 1, 12, tokens, tokens)
    yield Case("plain", 8, 12, 197, 197)
    yield Case("plain", 1, 12, 577, 577)
    yield Case("plain", 1, 8, 1024, 77)
    yield Case("plain", 1, 12, 1, 2048)
    for tokens in (100, 512):
        yield Case("symbolic", 1, 12, tokens, tokens)
    yield Case("symbolic", 1, 12, 1, 512)


def built(tvms, case, folder, fuses):
    import tvm_ffi
    stem = os.path.join(folder, re.sub(r"\W+", "-", case.name) + ("" if fuses else "-apart"))
    with open(stem + ".tvms", "w", encoding="utf-8") as f:
        f.write(case.text())
    text, level = stem + ".tvms", "-O2"
    if not fuses:
        text, level = stem + "-lowered.tvms", "-O0"
        subprocess.run([tvms, "opt", "--passes", "kernels,ScheduleCPU{target=host,reorder=true},weights", stem + ".tvms", "-o", text], check=True)
    subprocess.run([tvms, "build", level, text, "-o", stem + ".so"], check=True)
    return tvm_ffi.load_module(stem + ".so")


def measure(tvms, case, threads, folder):
    import numpy, onnxruntime, tvm_ffi
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(case.graph().SerializeToString(), options, providers=["CPUExecutionProvider"])
    values = case.inputs()
    fed = dict(zip(("q", "k", "v", "mask"), values))
    given = [tvm_ffi.from_dlpack(value) for value in values[:3 if case.kind == "causal" else len(values)]]
    theirs = session.run(None, fed)[0]
    calls, errors = {"onnxruntime": lambda: session.run(None, fed)}, []
    for name, fuses in (("tvms", True), ("apart", False)):
        library = built(tvms, case, folder, fuses)
        ours = numpy.from_dlpack(library["main"](*given))
        errors.append(float(numpy.abs(ours - theirs).max() / numpy.abs(theirs).max()))
        calls[name] = lambda library=library: library["main"](*given)
    clock = schedules.least_times if threads == 1 else models.least_wall_times
    return clock(calls), max(errors)


def inside(tvms, pattern, threads, out):
    lines = [f"{threads} thread{'s' * (threads > 1)}, heads of {DEPTH}. Ratios are our time over theirs.", "",
             "| attention | tvms, ms | without FuseAttention | ratio | onnxruntime | ratio | error |", "| --- | --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        for case in cases():
            if not re.search(pattern, case.name):
                continue
            times, error = measure(tvms, case, threads, folder)
            ours, apart, theirs = (times[name] for name in ("tvms", "apart", "onnxruntime"))
            lines.append(f"| {case.name} | {ours * 1e3:.3f} | {apart * 1e3:.3f} | {ours / apart:.2f} | {theirs * 1e3:.3f} | {ours / theirs:.2f} | {error:.1e} |")
            print(lines[-1], flush=True)
            if error > 1e-5:
                sys.exit(f"{case.name}: wrong by {error}")
    models.keep(lines, "attention", threads, out)


if __name__ == "__main__":
    models.command(__file__, __doc__, "attention", inside)
