#!/usr/bin/env python3
"""Writes a model as TVMScript of TVM 0.27, for the bench of passes and for whoever needs a program of a real model's size.

    generate.py resnet BLOCKS [WIDTH]     convolutions in bottleneck blocks; 16 blocks and a width of 64 are ResNet-50
    generate.py decoder LAYERS [WIDTH]    a decoder of language models for n tokens: root mean square norms, attention, gated product

Weights are parameters. Always the same text for the same arguments.
"""
import sys


class Function:
    """A Relax function as it grows: parameters, and bindings of one dataflow block."""

    def __init__(self, parameters, symbols=()):
        self.parameters, self.bindings, self.count = list(parameters), [], 0
        self.symbols = [f"        {name} = T.int64()" for name in symbols]

    def weight(self, *shape):
        name = f"w{len(self.parameters)}"
        self.parameters.append(f'{name}: R.Tensor(({", ".join(map(str, shape))}{"," if len(shape) == 1 else ""}), dtype="float32")')
        return name

    def bind(self, call):
        name = f"lv{self.count}"
        self.count += 1
        self.bindings.append(f"{name} = {call}")
        return name

    def text(self, result):
        lines = ["# from tvm.script import ir as I", "# from tvm.script import tirx as T", "# from tvm.script import relax as R", "", "@I.ir_module", "class Module:", "    @R.function",
                 f'    def main({", ".join(self.parameters)}):', *self.symbols, f'        R.func_attr({{"num_input": 1}})', "        with R.dataflow():"]
        lines += ["            " + binding for binding in self.bindings]
        lines += [f"            gv = {result}", "            R.output(gv)", "        return gv"]
        return "\n".join(lines) + "\n"


def convolution(f, x, outputs, inputs, size, stride=1, relu=True):
    """A convolution without bias, its batch_norm, and relu."""
    x = f.bind(f"R.nn.conv2d({x}, {f.weight(outputs, inputs, size, size)}, strides=[{stride}, {stride}], padding=[{size // 2}, {size // 2}, {size // 2}, {size // 2}])")
    statistics = ", ".join(f.weight(outputs) for _ in range(4))
    x = f.bind(f"R.nn.batch_norm({x}, {statistics}, axis=1)")
    x = f.bind(f"{x}[0]")
    return f.bind(f"R.nn.relu({x})") if relu else x


def bottleneck(f, x, inputs, width, stride):
    y = convolution(f, x, width, inputs, 1)
    y = convolution(f, y, width, width, 3, stride)
    y = convolution(f, y, 4 * width, width, 1, relu=False)
    if inputs != 4 * width or stride != 1:
        x = convolution(f, x, 4 * width, inputs, 1, stride, relu=False)
    return f.bind(f"R.nn.relu({f.bind(f'R.add({y}, {x})')})")


def resnet(blocks, width):
    """Stages in the proportions of ResNet-50 (3, 4, 6, 3)."""
    f = Function(['x: R.Tensor((1, 3, 224, 224), dtype="float32")'])
    x = f.bind(f"R.nn.max_pool2d({convolution(f, 'x', width, 3, 7, 2)}, pool_size=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1])")
    inputs, done = width, 0
    for stage, part in enumerate((3, 7, 13, 16)):
        until, first = max(done + 1, blocks * part // 16), True
        for _ in range(done, until):
            x = bottleneck(f, x, inputs, width << stage, 2 if first and stage else 1)
            inputs, first = 4 * width << stage, False
        done = until
    x = f.bind(f"R.reshape({f.bind(f'R.nn.adaptive_avg_pool2d({x}, output_size=[1, 1])')}, R.shape([1, {inputs}]))")
    x = f.bind(f"R.matmul({x}, {f.weight(inputs, 1000)})")
    return f.text(f"R.add({x}, {f.weight(1000)})")


def attention(f, x, width, head=64):
    heads = width // head
    rows = []
    for _ in range(3):
        y = f.bind(f"R.matmul({x}, {f.weight(width, width)})")
        y = f.bind(f"R.reshape({y}, R.shape([1, n, {heads}, {head}]))")
        rows.append(f.bind(f"R.permute_dims({y}, axes=[0, 2, 1, 3])"))
    query, key, value = rows
    key = f.bind(f"R.permute_dims({key}, axes=[0, 1, 3, 2])")
    scores = f.bind(f"R.multiply({f.bind(f'R.matmul({query}, {key})')}, R.const(0.125, \"float32\"))")
    scores = f.bind(f"R.nn.softmax({f.bind(f'R.add({scores}, mask)')}, axis=-1)")
    y = f.bind(f"R.permute_dims({f.bind(f'R.matmul({scores}, {value})')}, axes=[0, 2, 1, 3])")
    y = f.bind(f"R.reshape({y}, R.shape([1, n, {width}]))")
    return f.bind(f"R.matmul({y}, {f.weight(width, width)})")


def gated(f, x, width):
    gate = f.bind(f"R.nn.silu({f.bind(f'R.matmul({x}, {f.weight(width, 3 * width)})')})")
    up = f.bind(f"R.matmul({x}, {f.weight(width, 3 * width)})")
    return f.bind(f"R.matmul({f.bind(f'R.multiply({gate}, {up})')}, {f.weight(3 * width, width)})")


def decoder(layers, width):
    f = Function([f'x: R.Tensor((1, "n", {width}), dtype="float32")', 'mask: R.Tensor((1, 1, "n", "n"), dtype="float32")'], ["n"])
    x = "x"
    for _ in range(layers):
        y = f.bind(f"R.nn.rms_norm({x}, {f.weight(width)}, axes=[-1], epsilon=1e-05)")
        x = f.bind(f"R.add({x}, {attention(f, y, width)})")
        y = f.bind(f"R.nn.rms_norm({x}, {f.weight(width)}, axes=[-1], epsilon=1e-05)")
        x = f.bind(f"R.add({x}, {gated(f, y, width)})")
    return f.text(f"R.matmul({x}, {f.weight(width, 1000)})")


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("resnet", "decoder"):
        sys.exit(__doc__)
    make, width = {"resnet": (resnet, 64), "decoder": (decoder, 512)}[sys.argv[1]]
    print(make(int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) == 4 else width), end="")


main()
