#!/usr/bin/env python3
"""Convolutions of ResNet-50, MobileNetV2 and some of other networks from the text that LegalizeOps, FuseOps and FuseTIR make of them, against oneDNN.

    python3 bench/native/convolutions.py build-rel [--only PATTERN] [--out bench/native/results]

Images and weights of the text are channels first (NCHW, OIHW) and packed by nobody; oneDNN (Debian's libdnnl-dev) has channels last and its own layout of the
weights, and its reordering is not counted. Bias, residual and relu are in both. `channels last` is the same layer as `tvms build --params` makes it within a model,
weights laid out beforehand: there, too, changes of the layout are not counted. One thread, CPU time, the least of several turns; results are compared with oneDNN's.
"""
import argparse, ctypes, math, os, re, subprocess, sys, tempfile

import peers, schedules

HERE = os.path.dirname(os.path.abspath(__file__))
PIPELINE = "LegalizeOps,AnnotateTIROpPattern,FoldConstant,FuseOps,FuseTIR"


def pair(sizes):
    return sizes if isinstance(sizes, tuple) else (sizes, sizes)


class Layer:
    """c -> f channels of `batch` h x h images, window k (one size, or high and wide), stride s; `after`: r relu, a residual; d: each channel alone. `count` times in the network."""

    def __init__(self, network, h, c, f, k, s, after, count=1, padded=True, dilation=1, groups=1, batch=1):
        self.network, self.h, self.c, self.f, self.k, self.s, self.count = network, h, c, f, pair(k), s, count
        self.dilation, self.batch = dilation, batch
        self.depthwise = "d" in after
        self.relu, self.add, self.groups = "r" in after, "a" in after, c if self.depthwise else groups
        reach = [dilation * (n - 1) for n in self.k]
        self.pad = tuple(n // 2 if padded else 0 for n in reach)
        self.out = tuple((h + 2 * p - r - 1) // s + 1 for p, r in zip(self.pad, reach))
        kind = "depthwise " if self.depthwise else f"{groups} groups " if groups > 1 else ""
        more = ["unpadded"] * (not padded) + [f"dilated by {dilation}"] * (dilation > 1) + [f"batch of {batch}"] * (batch > 1) + ["residual"] * self.add
        self.name = " ".join([f"{network} {kind}{self.k[0]}x{self.k[1]}/{s} {c}->{f} {h}", *more])

    def flops(self):
        return 2 * self.batch * math.prod(self.out) * self.f * (self.c // self.groups) * math.prod(self.k)

    def text(self, last=False):
        layout = ', data_layout="NHWC", kernel_layout="HWIO"' if last else ""
        lines = [f"            v = R.nn.conv2d(x, w, strides=[{self.s}, {self.s}], padding={list(self.pad * 2)}, dilation=[{self.dilation}, {self.dilation}], groups={self.groups}{layout})",
                 "            v = R.add(v, b)"]
        if self.add:
            lines.append("            v = R.add(v, r)")
        if self.relu:
            lines.append("            v = R.clip(v, 0, 6)" if self.network == "MobileNetV2" else "            v = R.nn.relu(v)")
        lines = [re.sub(r"\bv = ", f"v{i} = ", line).replace("(v,", f"(v{i - 1},").replace("(v)", f"(v{i - 1})") for i, line in enumerate(lines)]
        tensor = lambda name, *shape: f'{name}: R.Tensor({shape}, "float32")'
        image = lambda name, c, sizes: tensor(name, self.batch, *sizes, c) if last else tensor(name, self.batch, c, *sizes)
        inner = self.c // self.groups
        weights = [tensor("w", *self.k, inner, self.f), tensor("b", 1, 1, 1, self.f)] if last else [tensor("w", self.f, inner, *self.k), tensor("b", 1, self.f, 1, 1)]
        inputs, added = [image("x", self.c, (self.h, self.h))], [image("r", self.f, self.out)] if self.add else []
        given = inputs + added + weights if last else inputs + weights + added
        marks = [f'        R.func_attr({{"num_input": {len(inputs + added)}}})'] if last else []
        return "\n".join(["from tvm.script import ir as I, relax as R", "@I.ir_module", "class Module:", "    @R.function", f"    def main({', '.join(given)}):",
                          *marks, "        with R.dataflow():", *lines, f"            R.output(v{len(lines) - 1})", f"        return v{len(lines) - 1}", ""])


def resnet50():
    yield Layer("ResNet-50", 224, 3, 64, 7, 2, "r")
    h, c = 56, 64
    for stage, (width, blocks) in enumerate([(64, 3), (128, 4), (256, 6), (512, 3)]):
        s = 1 if stage == 0 else 2
        o = h // s
        yield Layer("ResNet-50", h, c, width, 1, 1, "r")
        yield Layer("ResNet-50", h, width, width, 3, s, "r", blocks if s == 1 else 1)
        yield Layer("ResNet-50", h, c, 4 * width, 1, s, "")
        yield Layer("ResNet-50", o, width, 4 * width, 1, 1, "ar", blocks)
        yield Layer("ResNet-50", o, 4 * width, width, 1, 1, "r", blocks - 1)
        if s == 2:
            yield Layer("ResNet-50", o, width, width, 3, 1, "r", blocks - 1)
        h, c = o, 4 * width


def mobilenet_v2():
    yield Layer("MobileNetV2", 224, 3, 32, 3, 2, "r")
    yield Layer("MobileNetV2", 112, 32, 32, 3, 1, "rd")
    yield Layer("MobileNetV2", 112, 32, 16, 1, 1, "")
    h, c = 112, 16
    for t, f, n, s in [(6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]:
        yield Layer("MobileNetV2", h, c, c * t, 1, 1, "r")
        yield Layer("MobileNetV2", h, c * t, c * t, 3, s, "rd")
        h //= s
        yield Layer("MobileNetV2", h, c * t, f, 1, 1, "")
        if n > 1:
            yield Layer("MobileNetV2", h, f, f * t, 1, 1, "r", n - 1)
            yield Layer("MobileNetV2", h, f * t, f * t, 3, 1, "rd", n - 1)
            yield Layer("MobileNetV2", h, f * t, f, 1, 1, "a", n - 1)
        c = f
    yield Layer("MobileNetV2", 7, 320, 1280, 1, 1, "r")


def others():
    for h, c, k, s in [(112, 32, 3, 1), (56, 144, 5, 2), (28, 240, 5, 1), (14, 672, 5, 1), (14, 672, 5, 2), (7, 1152, 5, 1)]:
        yield Layer("EfficientNet-B0", h, c, c, k, s, "d")
    for c, f in [(1152, 48), (48, 1152)]:
        yield Layer("EfficientNet-B0", 1, c, f, 1, 1, "")
    for h, c in [(56, 96), (28, 192), (14, 384), (7, 768)]:
        yield Layer("ConvNeXt", h, c, c, 7, 1, "d")
    yield Layer("ConvNeXt", 224, 3, 96, 4, 4, "", padded=False)
    yield Layer("Xception", 19, 728, 728, 3, 1, "d")
    for h, c, f, k, s in [(299, 3, 32, 3, 2), (73, 80, 192, 3, 1), (17, 192, 320, 3, 2)]:
        yield Layer("Inception v3", h, c, f, k, s, "r", padded=False)
    for h, c, f, k in [(147, 32, 64, 3), (35, 48, 64, 5), (17, 128, 128, (1, 7)), (17, 160, 160, (7, 1)), (8, 384, 384, (1, 3))]:
        yield Layer("Inception v3", h, c, f, k, 1, "r")
    for h in (56, 28, 14):
        yield Layer("DenseNet", h, 128, 32, 3, 1, "")
    for h, c, f in [(224, 64, 64), (112, 64, 128), (56, 256, 256)]:
        yield Layer("VGG", h, c, f, 3, 1, "r")
    for h, c, f in [(256, 64, 32), (128, 64, 64), (64, 128, 128), (32, 256, 256)]:
        yield Layer("U-Net", h, c, f, 3, 1, "r")
    for h, c, f in [(160, 32, 64), (80, 64, 128)]:
        yield Layer("YOLO", h, c, f, 3, 2, "r")
    yield Layer("YOLO", 80, 80, 80, 3, 1, "r")
    for h, c, s in [(56, 128, 1), (14, 512, 1), (14, 1024, 2), (7, 1024, 1)]:
        yield Layer("ResNeXt-50", h, c, c, 3, s, "r", groups=32)
    yield Layer("DeepLab", 33, 512, 256, 3, 1, "r", dilation=6)
    yield Layer("DeepLab", 33, 728, 728, 3, 1, "d", dilation=2)
    yield Layer("ViT", 224, 3, 768, 16, 16, "", padded=False)
    for h, c, n in [(28, 128, 4), (7, 512, 8)]:
        yield Layer("ResNet-50", h, c, c, 3, 1, "r", batch=n)


NETWORKS = {"ResNet-50": resnet50, "MobileNetV2": mobilenet_v2, "other networks": others}


def built(tvms, layer, folder, name):
    p = subprocess.run([tvms, "opt", "--passes", PIPELINE, "-"], input=layer.text(), capture_output=True, text=True)
    if p.returncode:
        sys.exit(p.stderr)
    text = p.stdout[:p.stdout.index("    @R.function")].replace("private=True, ", "")
    entry = re.search(r"def (\w+)\(", text).group(1)
    return schedules.built(tvms, text.replace(f"def {entry}(", "def main("), folder, name)


def built_last(tvms, layer, folder, name, w, b):
    import numpy, tvm_ffi
    stem = os.path.join(folder, name + "-last")
    with open(stem + ".tvms", "w", encoding="utf-8") as f:
        f.write(layer.text(True))
    numpy.savez(stem + ".npz", w=w.transpose(2, 3, 1, 0), b=b.transpose(0, 2, 3, 1))
    subprocess.run([tvms, "build", "--params", stem + ".npz", stem + ".tvms", "-o", stem + ".so"], check=True)
    return tvm_ffi.load_module(stem + ".so")["main"]


def measure(tvms, peer, layer, folder, name):
    import numpy, tvm_ffi
    random = numpy.random.default_rng(1)
    fresh = lambda *shape: schedules.aligned(random.random(shape, "f4") - 0.5)
    x, w, b = fresh(layer.batch, layer.c, layer.h, layer.h), fresh(layer.f, layer.c // layer.groups, *layer.k), fresh(1, layer.f, 1, 1)
    shape = (layer.batch, layer.f, *layer.out)
    r = [fresh(*shape)] if layer.add else []
    y = schedules.aligned(numpy.full(shape, numpy.nan, "f4"))
    function, seconds = built(tvms, layer, folder, name)
    tensors = [tvm_ffi.from_dlpack(t) for t in (x, w, b, *r, y)]
    last = lambda t: schedules.aligned(t.transpose(0, 2, 3, 1))
    their_x, theirs = last(x), last(r[0] if r else y)
    pointer = lambda t: t.ctypes.data_as(ctypes.c_void_p)
    number = ctypes.c_long
    relu = layer.relu and layer.network != "MobileNetV2"
    work = peer.peer_convolution(*map(number, (layer.batch, layer.c, layer.f, layer.h, *layer.k, layer.s, *layer.pad, layer.dilation, layer.groups)), int(layer.add), int(relu),
                                 *map(pointer, (their_x, w, b, theirs)))
    function(*tensors)
    peer.peer_run(ctypes.c_void_p(work))
    expected = theirs.transpose(0, 3, 1, 2)
    if layer.relu and not relu:
        expected = expected.clip(0, 6)
    error = float(numpy.abs(y - expected).max() / numpy.abs(expected).max())
    assert error < 1e-5, f"{layer.name}: wrong by {error}"
    from_last = built_last(tvms, layer, folder, name, w, b)
    lasts = [tvm_ffi.from_dlpack(last(t)) for t in (x, *r)]
    error = float(numpy.abs(numpy.from_dlpack(from_last(*lasts)).transpose(0, 3, 1, 2) - y).max() / numpy.abs(y).max())
    assert error < 1e-5, f"{layer.name}, channels last: wrong by {error}"
    # What is added to the result at each call stays finite: nothing is added any more.
    calls = {"tvms": lambda: function(*tensors), "last": lambda: from_last(*lasts), "oneDNN": lambda: peer.peer_run(ctypes.c_void_p(work))}
    return schedules.least_times(calls), seconds


def summary(ours, theirs, ratios):
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    return f"{theirs / ours:.2f} in total, geometric mean {mean:.2f}, least {min(ratios):.2f}"


def inside(tvms, pattern, out):
    lines = ["| convolution | times | tvms, ms | GFLOP/s | oneDNN, ms | GFLOP/s | ratio | channels last, ms | ratio |", "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    sums = {}
    with tempfile.TemporaryDirectory() as folder:
        peer = peers.load(folder)
        for i, (network, layer) in enumerate((network, layer) for network, layers in NETWORKS.items() for layer in layers()):
            if not re.search(pattern, layer.name):
                continue
            times, _ = measure(tvms, peer, layer, folder, f"layer{i}")
            ours, theirs, last = times["tvms"], times["oneDNN"], times["last"]
            speed = lambda t: layer.flops() / t / 1e9
            lines.append(f"| {layer.name} | {layer.count} | {ours * 1e3:.3f} | {speed(ours):.0f} | {theirs * 1e3:.3f} | {speed(theirs):.0f} | {theirs / ours:.2f} | {last * 1e3:.3f} | {theirs / last:.2f} |")
            print(lines[-1], flush=True)
            kind = network + (", depthwise" if layer.depthwise else "")
            sums.setdefault(kind, []).append([t * layer.count for t in (ours, theirs, last)])
    for kind, rows in sums.items():
        ours, theirs, last = map(sum, zip(*rows))
        lines.append(f"| {kind}, all | | {ours * 1e3:.2f} | | {theirs * 1e3:.2f} | | {summary(ours, theirs, [t / o for o, t, _ in rows])} "
                     f"| {last * 1e3:.2f} | {summary(last, theirs, [t / l for _, t, l in rows])} |")
        print(lines[-1])
    if out:
        os.makedirs(out, exist_ok=True)
        with open(os.path.join(out, "convolutions.md"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="folder of a release build")
    parser.add_argument("--only", default="", metavar="PATTERN", help="layers whose names it matches")
    parser.add_argument("--out", help="folder for convolutions.md")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        inside(os.path.join(given.build, "tvms"), given.only, given.out)
        return
    environment = dict(os.environ) | {name: "1" for name in ("OMP_NUM_THREADS", "TVMS_NUM_THREADS")}
    sys.exit(subprocess.run([schedules.stock_python(), os.path.abspath(__file__), "--inside", *sys.argv[1:]], env=environment).returncode)


if __name__ == "__main__":
    main()
