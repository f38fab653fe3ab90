#!/usr/bin/env python3
"""Whole models from plain text: `tvms build --params`, against onnxruntime.

    python3 bench/native/models.py build-rel [--only PATTERN] [--threads N] [--out bench/native/results]

Each model is written twice from one description: as operators of Relax, and as a graph of ONNX; its weights are random, in a file for `tvms build` and in the graph
for onnxruntime. Norms of convolutional networks are batch norms with statistics of their own. Both run in one process, in turns; CPU time with one thread, wall time
with more; the least of several. The results are compared: the largest error over the largest value.
"""
import argparse, os, re, subprocess, sys, tempfile, time

import rows, schedules

HERE = os.path.dirname(os.path.abspath(__file__))


class Model:
    """A graph in the making. Values are names; every layer is added to both forms."""

    def __init__(self, name, *shape):
        import numpy
        self.name, self.input, self.bar = name, shape, None
        self.random = numpy.random.default_rng(0)
        self.shapes, self.weights, self.lines, self.nodes = {"x": shape}, {}, [], []

    def weight(self, *shape, low=-1.0, high=1.0):
        name = f"w{len(self.weights)}"
        values = low + (high - low) * self.random.random(shape, "f4")
        self.weights[name] = values.astype("f4")
        self.shapes[name] = shape
        return name

    def add(self, shape, relax, kind, inputs, **attributes):
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {relax}")
        self.nodes.append((kind, inputs, name, attributes))
        self.shapes[name] = shape
        return name

    def conv(self, x, channels, kernel, stride=1, groups=1, norm=True, activation="", dilation=1):
        n, c, h, w = self.shapes[x]
        pad, size = kernel // 2 * dilation, lambda e: (e + 2 * (kernel // 2) - kernel) // stride + 1
        scale = (3 / (c // groups * kernel**2)) ** 0.5
        weight = self.weight(channels, c // groups, kernel, kernel, low=-scale, high=scale)
        shape = (n, channels, size(h), size(w))
        x = self.add(shape, f"R.nn.conv2d({x}, {weight}, strides=[{stride}, {stride}], padding=[{', '.join([str(pad)] * 4)}], dilation=[{dilation}, {dilation}], groups={groups})",
                     "Conv", [x, weight], strides=[stride] * 2, pads=[pad] * 4, dilations=[dilation] * 2, group=groups, kernel_shape=[kernel] * 2)
        if norm:
            g, b, m, v = (self.weight(channels, low=low, high=1.5) for low in (0.5, -0.5, -0.5, 0.5))
            x = self.add(shape, f"R.nn.batch_norm({x}, {g}, {b}, {m}, {v}, axis=1, epsilon=1e-5, training=False)[0]", "BatchNormalization", [x, g, b, m, v], epsilon=1e-5)
        if activation == "relu":
            x = self.relu(x)
        if activation == "relu6":
            self.bounds = True
            x = self.add(shape, f"R.clip({x}, 0, 6)", "Clip", [x, "zero", "six"])
        return x

    def relu(self, x):
        return self.add(self.shapes[x], f"R.nn.relu({x})", "Relu", [x])

    def plus(self, a, b):
        return self.add(self.shapes[a], f"R.add({a}, {b})", "Add", [a, b])

    def dense(self, x, width):
        *front, k = self.shapes[x]
        scale = (3 / k) ** 0.5
        w, b = self.weight(k, width, low=-scale, high=scale), self.weight(width)
        shape = (*front, width)
        return self.plus(self.add(shape, f"R.matmul({x}, {w})", "MatMul", [x, w]), b)

    def pooled(self, x):
        n, c, _, _ = self.shapes[x]
        x = self.add((n, c, 1, 1), f"R.mean({x}, axis=[2, 3], keepdims=True)", "GlobalAveragePool", [x])
        return self.add((n, c), f"R.reshape({x}, R.shape([{n}, {c}]))", "Flatten", [x])

    def norm(self, x):
        width = self.shapes[x][-1]
        g, b = self.weight(width, low=0.5, high=1.5), self.weight(width)
        return self.add(self.shapes[x], f"R.nn.layer_norm({x}, {g}, {b}, axes=[-1], epsilon=1e-5)", "LayerNormalization", [x, g, b], axis=-1, epsilon=1e-5)

    def text(self):
        tensor = lambda name: f'{name}: R.Tensor({self.shapes[name]}, "float32")'
        last = f"v{len(self.lines) - 1}"
        return "\n".join(["from tvm.script import ir as I, relax as R", "@I.ir_module", "class Module:", "    @R.function",
                          f"    def main({', '.join(map(tensor, ['x', *self.weights]))}):", "        R.func_attr({\"num_input\": 1})", "        with R.dataflow():",
                          *("            " + line for line in self.lines), f"            R.output({last})", f"        return {last}", ""])

    def graph(self):
        import numpy
        from onnx import helper, numpy_helper, TensorProto
        constants = dict(self.weights, zero=numpy.float32(0), six=numpy.float32(6), eight=numpy.float32(8))
        for kind, inputs, _, attributes in self.nodes:
            for name, value in attributes.pop("constants", {}).items():
                constants[name] = numpy.array(value, "i8")
        used = {name for _, inputs, _, _ in self.nodes for name in inputs}
        last = f"v{len(self.lines) - 1}"
        graph = helper.make_graph([helper.make_node(kind, inputs, [out], **attributes) for kind, inputs, out, attributes in self.nodes], "g",
                                  [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.input)], [helper.make_tensor_value_info(last, TensorProto.FLOAT, self.shapes[last])],
                                  [numpy_helper.from_array(numpy.asarray(value), name) for name, value in constants.items() if name in used])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)


def resnet(depth):
    m = Model(f"ResNet-{depth}", 1, 3, 224, 224)
    x = m.conv("x", 64, 7, 2, activation="relu")
    n, c, h, w = m.shapes[x]
    x = m.add((n, c, h // 2, w // 2), f"R.nn.max_pool2d({x}, (3, 3), (2, 2), (1, 1, 1, 1))", "MaxPool", [x], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for stage, blocks in enumerate({18: (2, 2, 2, 2), 50: (3, 4, 6, 3)}[depth]):
        width = 64 << stage
        for block in range(blocks):
            stride, out = 2 if stage and not block else 1, width if depth == 18 else 4 * width
            left = x if m.shapes[x][1] == out and stride == 1 else m.conv(x, out, 1, stride)
            if depth == 18:
                x = m.conv(m.conv(x, width, 3, stride, activation="relu"), width, 3)
            else:
                x = m.conv(m.conv(m.conv(x, width, 1, activation="relu"), width, 3, stride, activation="relu"), out, 1)
            x = m.relu(m.plus(x, left))
    m.dense(m.pooled(x), 1000)
    m.bar = {18: 0.95, 50: 1.0}[depth]
    return m


def mobilenet():
    m = Model("MobileNetV2", 1, 3, 224, 224)
    x = m.conv("x", 32, 3, 2, activation="relu6")
    for t, f, n, s in [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        for i in range(n):
            c, y = m.shapes[x][1], x
            if t > 1:
                y = m.conv(y, c * t, 1, activation="relu6")
            y = m.conv(m.conv(y, c * t, 3, s if i == 0 else 1, groups=c * t, activation="relu6"), f, 1)
            x = m.plus(y, x) if m.shapes[x] == m.shapes[y] else y
    m.dense(m.pooled(m.conv(x, 1280, 1, activation="relu6")), 1000)
    m.bar = 1.1
    return m


def vgg():
    m = Model("VGG-11", 1, 3, 224, 224)
    x = "x"
    for part in ((64,), (128,), (256, 256), (512, 512), (512, 512)):
        for c in part:
            x = m.conv(x, c, 3, activation="relu")
        n, c, h, w = m.shapes[x]
        x = m.add((n, c, h // 2, w // 2), f"R.nn.max_pool2d({x}, (2, 2), (2, 2))", "MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    m.dense(m.pooled(x), 1000)
    return m


def perceptron(batch):
    m = Model(f"MLP, batch {batch}", batch, 784)
    m.dense(m.relu(m.dense("x", 128)), 10)
    m.bar = {1: 0.6, 128: 1.0}[batch]
    return m


def block(name, tokens, width, heads, inner, layers=1):
    m = Model(name, 1, tokens, width)
    each = width // heads

    def moved(x, shape, axes):
        s = f"s{len(m.lines)}"
        y = m.add(shape, f"R.reshape({x}, R.shape({list(shape)}))", "Reshape", [x, s], constants={s: shape})
        return m.add(tuple(shape[a] for a in axes), f"R.permute_dims({y}, {list(axes)})", "Transpose", [y], perm=list(axes))

    x = "x"
    for _ in range(layers):
        y = m.norm(x)
        q, k, v = (m.dense(y, width) for _ in range(3))
        q, k, v = moved(q, (1, tokens, heads, each), (0, 2, 1, 3)), moved(k, (1, tokens, heads, each), (0, 2, 3, 1)), moved(v, (1, tokens, heads, each), (0, 2, 1, 3))
        a = m.add((1, heads, tokens, tokens), f"R.matmul({q}, {k})", "MatMul", [q, k])
        a = m.add(m.shapes[a], f'R.divide({a}, R.const(8.0, "float32"))', "Div", [a, "eight"])
        a = m.add(m.shapes[a], f"R.nn.softmax({a}, axis=-1)", "Softmax", [a], axis=-1)
        a = m.add((1, heads, tokens, each), f"R.matmul({a}, {v})", "MatMul", [a, v])
        a = m.add((1, tokens, heads, each), f"R.permute_dims({a}, [0, 2, 1, 3])", "Transpose", [a], perm=[0, 2, 1, 3])
        s = f"s{len(m.lines)}"
        a = m.add((1, tokens, width), f"R.reshape({a}, R.shape([1, {tokens}, {width}]))", "Reshape", [a, s], constants={s: (1, tokens, width)})
        x = m.plus(x, m.dense(a, width))
        y = m.dense(m.norm(x), inner)
        y = m.add(m.shapes[y], f"R.nn.gelu({y})", "Gelu", [y])
        x = m.plus(x, m.dense(y, width))
    return m


def dilated():
    """What DeepLabV3 has behind its trunk: windows dilated as far as the image is large."""
    m = Model("3x3 dilated by 12, 24, 36 over 2048 x 28 x 28", 1, 2048, 28, 28)
    first, second, third = (m.conv("x", 256, 3, activation="relu", dilation=rate) for rate in (12, 24, 36))
    m.plus(m.plus(first, second), third)
    return m


def models():
    yield perceptron(1)
    yield perceptron(128)
    m = block("transformer block", 128, 512, 8, 2048)
    m.bar = 0.92
    yield m
    yield block("encoder, 4 layers of 256 tokens", 256, 768, 12, 3072, 4)
    yield resnet(18)
    yield resnet(50)
    yield mobilenet()
    yield vgg()
    yield dilated()


def built(tvms, model, folder):
    """The path of the model's library, and how many seconds it took."""
    import numpy
    stem = os.path.join(folder, re.sub(r"\W+", "-", model.name))
    with open(stem + ".tvms", "w", encoding="utf-8") as f:
        f.write(model.text())
    numpy.savez(stem + ".npz", **model.weights)
    weights = ["--params", stem + ".npz"] if model.weights else []
    begin = os.times()
    subprocess.run([tvms, "build", *weights, stem + ".tvms", "-o", stem + ".so"], check=True)
    end = os.times()
    return stem + ".so", end.children_user + end.children_system - begin.children_user - begin.children_system


def measure(tvms, model, threads, folder):
    import numpy, onnxruntime, tvm_ffi
    path, seconds = built(tvms, model, folder)
    library = tvm_ffi.load_module(path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(model.graph().SerializeToString(), options, providers=["CPUExecutionProvider"])
    x = schedules.aligned(model.random.random(model.input, "f4") - 0.5)
    given = tvm_ffi.from_dlpack(x)
    ours, theirs = numpy.from_dlpack(library["main"](given)), session.run(None, {"x": x})[0]
    error = float(numpy.abs(ours - theirs).max() / numpy.abs(theirs).max())
    clock = schedules.least_times if threads == 1 else least_wall_times
    return clock({"tvms": lambda: library["main"](given), "onnxruntime": lambda: session.run(None, {"x": x})}), error, seconds


def least_wall_times(calls, turns=8, runs=4, seconds=0.03):
    """At least so many runs and seconds a turn: threads that sleep take some time to come. Those of the other one may still wait for work in a loop: they get time
    to go to sleep."""
    least = {name: float("inf") for name in calls}
    for _ in range(turns):
        for name, call in calls.items():
            time.sleep(0.1)
            count, end = 0, time.perf_counter() + seconds
            while count < runs or time.perf_counter() < end:
                begin = time.perf_counter()
                call()
                least[name] = min(least[name], time.perf_counter() - begin)
                count += 1
    return least


def inside(tvms, pattern, threads, out):
    lines = [f"{threads} thread{'s' * (threads > 1)}. Ratios are our time over theirs.", "", "| model | tvms, ms | onnxruntime, ms | ratio | bar | error | build, s of CPU |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    with tempfile.TemporaryDirectory() as folder:
        for model in models():
            if not re.search(pattern, model.name):
                continue
            times, error, seconds = measure(tvms, model, threads, folder)
            ours, theirs = times["tvms"], times["onnxruntime"]
            lines.append(f"| {model.name} | {ours * 1e3:.3f} | {theirs * 1e3:.3f} | {ours / theirs:.2f} | {model.bar or ''} | {error:.1e} | {seconds:.2f} |")
            print(lines[-1], flush=True)
            if error > 1e-5:
                sys.exit(f"{model.name}: wrong by {error}")
    keep(lines, "models", threads, out)


def keep(lines, name, threads, out):
    """Writes a table to a file of the folder `out`, if there is one."""
    if out:
        os.makedirs(out, exist_ok=True)
        with open(os.path.join(out, f"{name}.md" if threads == 1 else f"{name}-{threads}.md"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")


def command(script, description, name, inside, python=rows.peers_python):
    """The command line of a bench: `inside` measures in a Python that `python` finds, one with onnxruntime if not said, with the threads that were asked for."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("build", help="folder of a release build")
    parser.add_argument("--only", default="", metavar="PATTERN", help="only what has a name that it matches")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", help=f"folder for {name}.md")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        inside(os.path.join(given.build, "tvms"), given.only, given.threads, given.out)
        return
    environment = dict(os.environ) | {name: str(given.threads) for name in ("OMP_NUM_THREADS", "TVMS_NUM_THREADS")}
    sys.exit(subprocess.run([python(), os.path.abspath(script), "--inside", *sys.argv[1:]], env=environment).returncode)


if __name__ == "__main__":
    command(__file__, __doc__, "models", inside)
