#!/usr/bin/env python3
"""Sizes that are not known when a program is compiled, against the same ones known: `tvms build` of both, called with the same tensors.

    python3 bench/native/symbols.py build-rel [--only PATTERN] [--threads N] [--out bench/native/results]

Operators with each of their sizes as a symbol and with all of them, and whole models over images of any height and width. A ratio is the time with symbols over that without; those
of one row run in one process, in turns; CPU time, the least of several. Results are compared: the largest error over the largest value.
"""
import os, re, subprocess, sys, tempfile

import models, schedules

BAR = 1.1


class Operator:
    """Tensors as "b m 64": sizes by name, and numbers."""

    def __init__(self, name, sizes, inputs, body):
        self.name, self.sizes, self.inputs, self.body = name, sizes, inputs, body
        self.weights = {}

    def sets(self):
        yield from self.sizes
        if len(self.sizes) > 1:
            yield " ".join(self.sizes)

    def text(self, symbols):
        size = lambda s: f'"{s}"' if s in symbols.split() else str(self.sizes.get(s, s))
        tensors = [f'{name}: R.Tensor(({"".join(size(s) + ", " for s in shape.split())}), "float32")' for name, shape in self.inputs.items()]
        return "\n".join(["from tvm.script import ir as I, relax as R", "@I.ir_module", "class Module:", "    @R.function", f"    def main({', '.join(tensors)}):",
                          "        with R.dataflow():", f"            v = {self.body}", "            R.output(v)", "        return v", ""])

    def given(self, random):
        return [random.random([self.sizes.get(s) or int(s) for s in shape.split()], "f4") - 0.5 for shape in self.inputs.values()]


class Network:
    """A model of bench/native/models.py over an image."""

    def __init__(self, model):
        self.model, self.name, self.weights = model, model.name, model.weights

    def sets(self):
        yield "h w"

    def text(self, symbols):
        batch, channels, *_ = self.model.input
        known = f"x: R.Tensor({self.model.input}"
        return self.model.text().replace(known, f'x: R.Tensor(({batch}, {channels}, "h", "w")') if symbols else self.model.text()

    def given(self, random):
        return [random.random(self.model.input, "f4") - 0.5]


def operators():
    image, square = dict(b=2, h=56, w=56), "padding=[1, 1, 1, 1]"
    for m, k, n in ((1, 4096, 4096), (7, 1024, 1024), (128, 512, 2048), (127, 129, 131), (513, 513, 513)):
        yield Operator(f"matmul {m} x {k} x {n}", dict(m=m, n=n, k=k), dict(x="m k", y="k n"), "R.matmul(x, y)")
    yield Operator("matmul 8 x 77 x 64, batches", dict(b=8, m=77), dict(x="b m m", y="b m 64"), "R.matmul(x, y)")
    for m, n in ((64, 1024), (512, 128)):
        yield Operator(f"softmax {m} x {n}", dict(m=m, n=n), dict(x="m n"), "R.nn.softmax(x, axis=-1)")
        yield Operator(f"layer norm {m} x {n}", dict(m=m, n=n), dict(x="m n", y="n", z="n"), "R.nn.layer_norm(x, y, z, axes=[-1])")
        yield Operator(f"row sum {m} x {n}", dict(m=m, n=n), dict(x="m n"), "R.sum(x, axis=[1])")
    yield Operator("exp 512 x 1000", dict(m=512, n=1000), dict(x="m n"), "R.exp(x)")
    yield Operator("add 128 x 777", dict(m=128, n=777), dict(x="m n", y="n"), "R.add(x, y)")
    yield Operator("transpose 500 x 700", dict(m=500, n=700), dict(x="m n"), "R.permute_dims(x, [1, 0])")
    yield Operator("convolution 3 x 3", dict(b=2, h=28, w=30), dict(x="b 64 h w", k="64 64 3 3"), f"R.nn.conv2d(x, k, {square})")
    yield Operator("convolution 3 x 3, channels last", dict(b=2, h=28, w=30), dict(x="b h w 64", k="3 3 64 64"),
                   f'R.nn.conv2d(x, k, {square}, data_layout="NHWC", kernel_layout="HWIO")')
    yield Operator("convolution 1 x 1", dict(b=2, h=28, w=30), dict(x="b 64 h w", k="128 64 1 1"), "R.nn.conv2d(x, k)")
    yield Operator("convolution 3 x 3 by 2", image, dict(x="b 64 h w", k="64 64 3 3"), f"R.nn.conv2d(x, k, strides=[2, 2], {square})")
    yield Operator("depthwise 3 x 3", image, dict(x="b 64 h w", k="64 1 3 3"), f"R.nn.conv2d(x, k, {square}, groups=64)")
    yield Operator("depthwise 3 x 3, channels last", image, dict(x="b h w 64", k="3 3 1 64"),
                   f'R.nn.conv2d(x, k, {square}, groups=64, data_layout="NHWC", kernel_layout="HWIO")')
    yield Operator("max pool 3 x 3 by 2", image, dict(x="b 64 h w"), f"R.nn.max_pool2d(x, pool_size=[3, 3], strides=[2, 2], {square})")
    for m in (1, 24, 128, 512):
        heads = dict(x="b m 8 64", y="b m 8 64", z="b m 8 64") if m > 1 else dict(x="b 1 8 64", y="b m 8 64", z="b m 8 64")
        yield Operator(f"attention of {m}" if m > 1 else "attention of 1 to 300", dict(b=2, m=m if m > 1 else 300), heads, "R.nn.attention(x, y, z)")
    for model in (models.mobilenet(), models.resnet(18), models.resnet(50)):
        yield Network(model)


def built(tvms, program, symbols, folder, number):
    import numpy, tvm_ffi
    stem = os.path.join(folder, f"{number}-{symbols.replace(' ', '')}")
    weights = []
    if program.weights:
        numpy.savez(stem + ".npz", **program.weights)
        weights = ["--params", stem + ".npz"]
    subprocess.run([tvms, "build", *weights, "-", "-o", stem + ".so"], input=program.text(symbols), text=True, check=True)
    return tvm_ffi.load_module(stem + ".so")["main"]


def measure(tvms, program, folder, number):
    import numpy, tvm_ffi
    functions = {symbols: built(tvms, program, symbols, folder, number) for symbols in ("", *program.sets())}
    given = [tvm_ffi.from_dlpack(schedules.aligned(x)) for x in program.given(numpy.random.default_rng(1))]
    results = {symbols: numpy.from_dlpack(function(*given)).copy() for symbols, function in functions.items()}
    error = max(float(numpy.abs(result - results[""]).max() / numpy.abs(results[""]).max()) for result in results.values())
    assert error < 1e-5, f"{program.name}: wrong by {error}"
    return schedules.least_times({symbols: lambda function=function: function(*given) for symbols, function in functions.items()})


def inside(tvms, pattern, threads, out):
    lines = [f"{threads} thread{'s' * (threads > 1)}. Ratios are the time with these sizes as symbols over that with numbers; the bar is {BAR}.", "", "| program | numbers, us | symbols: ratio |", "| --- | --- | --- |"]
    print("\n".join(lines))
    most, within = 0.0, [0, 0]
    with tempfile.TemporaryDirectory() as folder:
        for number, program in enumerate(operators()):
            if not re.search(pattern, program.name):
                continue
            times = measure(tvms, program, folder, number)
            ratios = {symbols: seconds / times[""] for symbols, seconds in times.items() if symbols}
            most, within = max(most, *ratios.values()), [within[0] + sum(r <= BAR for r in ratios.values()), within[1] + len(ratios)]
            shown = ", ".join(f"{symbols}: {'**' * (ratio > BAR)}{ratio:.2f}{'**' * (ratio > BAR)}" for symbols, ratio in ratios.items())
            lines.append(f"| {program.name} | {times[''] * 1e6:.1f} | {shown} |")
            print(lines[-1], flush=True)
    lines += ["", f"{within[0]} of {within[1]} are at most {BAR}, the largest is {most:.2f}."]
    print("\n".join(lines[-2:]))
    models.keep(lines, "symbols", threads, out)


if __name__ == "__main__":
    models.command(__file__, __doc__, "symbols", inside)
