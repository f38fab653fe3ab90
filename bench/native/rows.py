#!/usr/bin/env python3
"""Everything that is not a contraction, from plain text: rows, element-wise functions, copies and windows, against onnxruntime and NumPy.

    python3 bench/native/rows.py build-rel [--only PATTERN] [--out bench/native/results]

The text is what LegalizeOps, FuseOps and FuseTIR make of operators of Relax; `tvms build` does the rest. onnxruntime and NumPy come from PyPI, into a folder of
the user's cache. One thread, CPU time, the least of several turns; all are called in one process, in turns. Results are compared with NumPy's: the largest error
over the largest value. `symbolic` is the same text with a first size that is not known, compared with the one where it is. The triad is a[i] = b[i] + s * c[i] by
NumPy-free C (cc -O3), of as many bytes as the kernel moves.
"""
import argparse, ctypes, os, re, subprocess, sys, tempfile

import schedules

PACKAGES = ["numpy==2.4.6", "onnx==1.23.2", "onnxruntime==1.32.0", "apache-tvm-ffi==0.1.14.post0"]
PIPELINE = "LegalizeOps,AnnotateTIROpPattern,FoldConstant,FuseOps,FuseTIR"
ROWS, LINE = 64, 1024
TRIAD = """
#include <stddef.h>
void triad(float *restrict a, const float *restrict b, const float *restrict c, float s, size_t n) {
  for (size_t i = 0; i < n; i++) a[i] = b[i] + s * c[i];
}
"""


class Kernel:
    """One operator or chain: parameters and their shapes, the expression, the node of ONNX, what NumPy makes of it, and the bar."""

    def __init__(self, name, shapes, expression, numpy, node=None, bar=None, symbolic=False, triad=False):
        self.name, self.shapes, self.expression, self.numpy, self.node = name, shapes, expression, numpy, node
        self.bar, self.symbolic, self.triad = bar, symbolic, triad

    def text(self, symbolic=False):
        def tensor(name, shape):
            first = name == "x" and symbolic
            return f'{name}: R.Tensor(({", ".join(chr(34) + "n" + chr(34) if first and i == 0 else str(e) for i, e in enumerate(shape))},), "float32")'
        lines = self.expression.split("; ")
        body = [f"            v{i} = " + re.sub(r"\bv\b", f"v{i - 1}", line) for i, line in enumerate(lines)]
        return "\n".join(["from tvm.script import ir as I, relax as R", "@I.ir_module", "class Module:", "    @R.function",
                          f"    def main({', '.join(tensor(n, s) for n, s in self.shapes.items())}):", "        with R.dataflow():", *body,
                          f"            R.output(v{len(lines) - 1})", f"        return v{len(lines) - 1}", ""])


def kernels():
    import numpy as np
    x, line = (ROWS, LINE), (LINE,)
    node = lambda kind, inputs=("x",), **attributes: (kind, list(inputs), attributes)
    erf = np.vectorize(__import__("math").erf, otypes=["f8"])
    exp = lambda v: np.exp(v - v.max(-1, keepdims=True))
    soft = lambda v: exp(v) / exp(v).sum(-1, keepdims=True)
    norm = lambda v: (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + 1e-5)
    yield Kernel("softmax", dict(x=x), "R.nn.softmax(x)", soft, node("Softmax", axis=-1), 1.0, symbolic=True)
    yield Kernel("log_softmax", dict(x=x), "R.nn.log_softmax(x)", lambda v: np.log(soft(v)), node("LogSoftmax", axis=-1), 1.0)
    yield Kernel("softmax 128 x 128 x 128", dict(x=(128, 128, 128)), "R.nn.softmax(x)", soft, node("Softmax", axis=-1), 1.0)
    yield Kernel("layer_norm", dict(x=x, b=line, c=line), "R.nn.layer_norm(x, b, c, axes=[-1])", lambda v, b, c: norm(v) * b + c,
                 node("LayerNormalization", "xbc", axis=-1), 0.5, symbolic=True)
    yield Kernel("rms_norm", dict(x=x, b=line), "R.nn.rms_norm(x, b, axes=[-1])", lambda v, b: v / np.sqrt((v * v).mean(-1, keepdims=True) + 1e-5) * b)
    yield Kernel("group_norm 64 x 28 x 28, 8 groups", dict(x=(1, 64, 28, 28), b=(64,), c=(64,)), "R.nn.group_norm(x, b, c, num_groups=8, channel_axis=1, axes=[2, 3])",
                 lambda v, b, c: norm(v.reshape(8, -1)).reshape(v.shape) * b[:, None, None] + c[:, None, None], node("GroupNormalization", "xbc", num_groups=8))
    yield Kernel("row sum", dict(x=x), "R.sum(x, axis=[1])", lambda v: v.sum(1), node("ReduceSum", ["x", "axes"], keepdims=0), 1.2, symbolic=True)
    yield Kernel("row max", dict(x=x), "R.max(x, axis=[1])", lambda v: v.max(1), node("ReduceMax", axes=[1], keepdims=0), 1.2)
    yield Kernel("column sum", dict(x=x), "R.sum(x, axis=[0])", lambda v: v.sum(0), node("ReduceSum", ["x", "axes"], keepdims=0))
    for name, f in (("exp", np.exp), ("tanh", np.tanh), ("sigmoid", lambda v: 1 / (1 + np.exp(-v))), ("erf", erf)):
        yield Kernel(name, dict(x=x), f"R.{name}(x)", f, node(name.capitalize()), 1.2, symbolic=name == "exp")
    gelu = lambda v: v * 0.5 * (1 + erf(v / np.sqrt(2)))
    yield Kernel("gelu", dict(x=x), "R.nn.gelu(x)", gelu, node("Gelu"))
    yield Kernel("silu", dict(x=x), "R.nn.silu(x)", lambda v: v / (1 + np.exp(-v)))
    yield Kernel("add, scale, relu", dict(x=x, b=line, c=x), "R.add(x, b); R.multiply(v, c); R.nn.relu(v)", lambda v, b, c: np.maximum((v + b) * c, 0), triad=True)
    big = (2048, 4096)
    yield Kernel("add, scale, relu 2048 x 4096", dict(x=big, b=(4096,), c=big), "R.add(x, b); R.multiply(v, c); R.nn.relu(v)",
                 lambda v, b, c: np.maximum((v + b) * c, 0), triad=True)
    far = (4096, 4096)  # no cache holds it
    yield Kernel("softmax 4096 x 4096", dict(x=far), "R.nn.softmax(x)", soft, node("Softmax", axis=-1), 1.0)
    yield Kernel("layer_norm 4096 x 4096", dict(x=far, b=(4096,), c=(4096,)), "R.nn.layer_norm(x, b, c, axes=[-1])", lambda v, b, c: norm(v) * b + c, node("LayerNormalization", "xbc", axis=-1), 0.5)
    yield Kernel("exp 4096 x 4096", dict(x=far), "R.exp(x)", np.exp, node("Exp"), 1.2)
    yield Kernel("transpose 4096 x 4096", dict(x=far), "R.permute_dims(x)", lambda v: np.ascontiguousarray(v.T), node("Transpose"), 1.0)
    square = (1024, 1024)
    yield Kernel("transpose 1024 x 1024", dict(x=square), "R.permute_dims(x)", lambda v: np.ascontiguousarray(v.T), node("Transpose"), 1.0, symbolic=True)
    yield Kernel("transpose 1000 x 777", dict(x=(1000, 777)), "R.permute_dims(x)", lambda v: np.ascontiguousarray(v.T), node("Transpose"), 1.0)
    yield Kernel("NCHW to NHWC 64 x 56 x 56", dict(x=(1, 64, 56, 56)), "R.permute_dims(x, [0, 2, 3, 1])", lambda v: np.ascontiguousarray(v.transpose(0, 2, 3, 1)),
                 node("Transpose", perm=[0, 2, 3, 1]), 1.0)
    yield Kernel("heads 128 x 8 x 64", dict(x=(1, 128, 8, 64)), "R.permute_dims(x, [0, 2, 1, 3])", lambda v: np.ascontiguousarray(v.transpose(0, 2, 1, 3)),
                 node("Transpose", perm=[0, 2, 1, 3]), 1.0)
    yield Kernel("concat", dict(x=x, c=x), "R.concat((x, c), axis=1)", lambda v, c: np.concatenate([v, c], 1), node("Concat", "xc", axis=1))
    yield Kernel("pad", dict(x=(64, 56, 56)), "R.nn.pad(x, [0, 0, 1, 1, 1, 1])", lambda v: np.pad(v, ((0, 0), (1, 1), (1, 1))))
    for c, h, s in ((32, 112, 1), (96, 112, 2), (144, 56, 1), (192, 28, 1), (384, 14, 1), (576, 14, 2), (960, 7, 1)):
        yield Kernel(f"depthwise 3x3/{s} {c} x {h} x {h}", dict(x=(1, c, h, h), w=(c, 1, 3, 3)), f"R.nn.conv2d(x, w, strides={s}, padding=1, groups={c})",
                     lambda v, w, s=s: depthwise(v, w, s), node("Conv", "xw", group=c, kernel_shape=[3, 3], pads=[1] * 4, strides=[s, s]), 1.25)
    image = (1, 64, 112, 112)
    yield Kernel("max pool 3x3/2", dict(x=image), "R.nn.max_pool2d(x, pool_size=[3, 3], strides=2, padding=1)", lambda v: windows(v, 3, 2, 1, -np.inf).max((-1, -2)),
                 node("MaxPool", kernel_shape=[3, 3], pads=[1] * 4, strides=[2, 2]))
    yield Kernel("average pool 2x2/2", dict(x=image), "R.nn.avg_pool2d(x, pool_size=[2, 2], strides=2)", lambda v: windows(v, 2, 2, 0, 0).mean((-1, -2)),
                 node("AveragePool", kernel_shape=[2, 2], strides=[2, 2]))
    for size, stride, pad, h in ((5, 1, 2, 56), (7, 7, 0, 98)):
        yield Kernel(f"max pool {size}x{size}/{stride} 64 x {h} x {h}", dict(x=(1, 64, h, h)), f"R.nn.max_pool2d(x, pool_size=[{size}, {size}], strides={stride}, padding={pad})",
                     lambda v, size=size, stride=stride, pad=pad: windows(v, size, stride, pad, -np.inf).max((-1, -2)), node("MaxPool", kernel_shape=[size] * 2, pads=[pad] * 4, strides=[stride] * 2))
    yield Kernel("global average 512 x 7 x 7", dict(x=(1, 512, 7, 7)), "R.mean(x, axis=[2, 3], keepdims=True)", lambda v: v.mean((2, 3), keepdims=True), node("GlobalAveragePool"))


def windows(x, size, stride, pad, value):
    import numpy as np
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=value)
    return np.lib.stride_tricks.sliding_window_view(x, (size, size), (2, 3))[:, :, ::stride, ::stride]


def depthwise(x, w, stride):
    import numpy as np
    return np.einsum("nchwpq,cpq->nchw", windows(x, 3, stride, 1, 0), w[:, 0], optimize=True)


def built(tvms, text, folder, name):
    """The function that a Relax function is lowered to, and its seconds of CPU."""
    p = subprocess.run([tvms, "opt", "--passes", PIPELINE, "-"], input=text, capture_output=True, text=True)
    if p.returncode:
        sys.exit(p.stderr)
    text = p.stdout[:p.stdout.index("    @R.function")].replace("private=True, ", "")
    entry = re.search(r"def (\w+)\(", text).group(1)
    return schedules.built(tvms, text.replace(f"def {entry}(", "def main("), folder, name)


def session(kernel, values, out):
    import numpy, onnx, onnxruntime
    from onnx import helper, TensorProto
    kind, inputs, attributes = kernel.node
    axes = [helper.make_tensor("axes", TensorProto.INT64, [1], [0 if "column" in kernel.name else 1])] if "axes" in inputs else []
    graph = helper.make_graph([helper.make_node(kind, inputs, ["y"], **attributes)], "g", [helper.make_tensor_value_info(n, TensorProto.FLOAT, v.shape) for n, v in values.items()],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, out.shape)], axes)
    opset = 21 if kind == "GroupNormalization" else 20 if kind == "Gelu" else 17
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    made = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    binding = made.io_binding()
    for name, value in values.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(value))
    result = onnxruntime.OrtValue.ortvalue_from_numpy(numpy.empty_like(out))
    binding.bind_ortvalue_output("y", result)
    return lambda: made.run_with_iobinding(binding), result


def measure(tvms, triad, kernel, folder, name):
    import numpy, tvm_ffi
    random = numpy.random.default_rng(1)
    values = {n: schedules.aligned(random.standard_normal(s).astype("f4")) for n, s in kernel.shapes.items()}
    expected = kernel.numpy(*(v.astype("f8") for v in values.values()))
    calls, results = {}, {}
    for form in ["tvms"] + ["symbolic"] * kernel.symbolic:
        function, _ = built(tvms, kernel.text(form == "symbolic"), folder, name + form)
        out = results[form] = schedules.aligned(numpy.full(expected.shape, numpy.nan, "f4"))
        given = [tvm_ffi.from_dlpack(v) for v in (*values.values(), out)]
        calls[form] = lambda function=function, given=given: function(*given)
    if kernel.node:
        calls["onnxruntime"], theirs = session(kernel, values, results["tvms"])
    calls["NumPy"] = lambda: kernel.numpy(*values.values())
    if kernel.triad:
        a, b, c = (schedules.aligned(numpy.ones(expected.shape, "f4")) for _ in range(3))
        at = lambda v: v.ctypes.data_as(ctypes.c_void_p)
        calls["triad"] = lambda: triad.triad(at(a), at(b), at(c), ctypes.c_float(2), ctypes.c_size_t(a.size))
    if kernel.name in ("erf", "gelu"):
        del calls["NumPy"]  # it has neither
    times = schedules.least_times(calls)
    for form, out in results.items():
        error = float(numpy.abs(out - expected).max() / numpy.abs(expected).max())
        assert error < 1e-5, f"{kernel.name}, {form}: wrong by {error}"
    return times, max(v.size for v in (*values.values(), results["tvms"]))


def bars(path, rows):
    """An SVG: for each kernel the time of tvms over that of onnxruntime."""
    height, left, scale = 18, 260, 220
    shown = [(name, ratio, bar) for name, ratio, bar in rows if ratio]
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + 2 * scale}" height="{height * len(shown) + 40}" font-family="sans-serif" font-size="12">',
             f'<text x="4" y="16">time of tvms / time of onnxruntime (less is better)</text>']
    for i, (name, ratio, bar) in enumerate(shown):
        y = 28 + i * height
        parts.append(f'<text x="4" y="{y + 11}">{name}</text><rect x="{left}" y="{y}" width="{min(ratio, 1.9) * scale:.0f}" height="12" fill="#4878a8"/>')
        parts.append(f'<text x="{left + min(ratio, 1.9) * scale + 4:.0f}" y="{y + 11}">{ratio:.2f}</text>')
        if bar:
            parts.append(f'<line x1="{left + bar * scale:.0f}" x2="{left + bar * scale:.0f}" y1="{y - 2}" y2="{y + 14}" stroke="#c04040"/>')
    with open(path, "w", encoding="utf-8") as f:
        f.write("\n".join(parts + ["</svg>"]) + "\n")


def load_triad(folder):
    source, library = os.path.join(folder, "triad.c"), os.path.join(folder, "triad.so")
    with open(source, "w", encoding="utf-8") as f:
        f.write(TRIAD)
    subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", source, "-o", library], check=True)
    return ctypes.CDLL(library)


def inside(tvms, pattern, out):
    lines = ["| kernel | elements | tvms, ns per element | onnxruntime | tvms / onnxruntime | bar | NumPy | symbolic / static | speed / triad |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        triad = load_triad(folder)
        for i, kernel in enumerate(kernels()):
            if not re.search(pattern, kernel.name):
                continue
            times, size = measure(tvms, triad, kernel, folder, f"kernel{i}")
            per = lambda peer: f"{times[peer] / size * 1e9:.3f}" if peer in times else ""
            ratio = times["tvms"] / times["onnxruntime"] if "onnxruntime" in times else None
            symbolic = f"{times['symbolic'] / times['tvms']:.2f}" if "symbolic" in times else ""
            # Both move three arrays.
            bandwidth = f"{times['triad'] / times['tvms']:.2f}" if "triad" in times else ""
            lines.append(f"| {kernel.name} | {size} | {per('tvms')} | {per('onnxruntime')} | {f'{ratio:.2f}' if ratio else ''} | {kernel.bar or ''} | {per('NumPy')} | "
                         f"{symbolic} | {bandwidth} |")
            rows.append((kernel.name, ratio, kernel.bar))
            print(lines[-1], flush=True)
    if out:
        os.makedirs(out, exist_ok=True)
        with open(os.path.join(out, "rows.md"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")
        bars(os.path.join(out, "rows.svg"), rows)


def peers_python():
    """A Python with the peers, made once."""
    cache = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "tvms")
    place = os.path.join(cache, "peers-" + "-".join(re.sub(r"[^0-9a-z.]", "", p) for p in PACKAGES))
    python = os.path.join(place, "bin", "python")
    if not os.path.exists(os.path.join(place, "ready")):
        subprocess.run([sys.executable, "-m", "venv", "--clear", place], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], check=True)
        open(os.path.join(place, "ready"), "w", encoding="utf-8").close()
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="folder of a release build")
    parser.add_argument("--only", default="", metavar="PATTERN", help="kernels whose names it matches")
    parser.add_argument("--out", help="folder for rows.md and rows.svg")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        inside(os.path.join(given.build, "tvms"), given.only, given.out)
        return
    environment = dict(os.environ) | {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TVMS_NUM_THREADS")}
    sys.exit(subprocess.run([peers_python(), os.path.abspath(__file__), "--inside", *sys.argv[1:]], env=environment).returncode)


if __name__ == "__main__":
    main()
