#!/usr/bin/env python3
"""Single operators of Relax, some three hundred, through `tvms build` alone, against onnxruntime on the same operator, and NumPy where that has none.

    python3 bench/native/operators.py build-rel [--only PATTERN] [--above RATIO] [--out bench/native/results]

One thread, CPU time, the least of several turns, all in one process. Each is a whole function, which allocates its result; results are compared with the peer's. What TVM's run time
computes (sort, argsort, topk) is not here. Products of bfloat16 are compared with onnxruntime's of float16, which knows none of bfloat16.
"""
import argparse, ctypes, os, re, subprocess, sys, tempfile

import rows, schedules

TYPES = {"f2": "float16", "b2": "bfloat16", "f4": "float32", "f8": "float64", "i1": "int8", "u1": "uint8", "i4": "int32", "i8": "int64", "?": "bool"}
TOLERANCE = {"float16": 2e-3, "bfloat16": 8e-3, "float32": 1e-5, "float64": 1e-12}


class Operator:
    """Parameters, as `f4 64 1024` or `i8 32 < 64` (integers below), the expression in Relax, the nodes of ONNX or None, and NumPy's function where there are none."""

    def __init__(self, name, given, expression, nodes=None, numpy=None, **constants):
        self.name, self.expression, self.numpy, self.constants = name, expression, numpy, constants
        self.given = {n: (TYPES[w[0]], [int(d) for d in w[1:] if d.isdigit()][:w.index("<") - 1 if "<" in w else None], int(w[-1]) if "<" in w else 0)
                      for n, w in ((n, text.split()) for n, text in given.items())}
        self.nodes = [nodes] if isinstance(nodes, tuple) else nodes

    def text(self):
        parameters = ", ".join(f'{n}: R.Tensor(({", ".join(map(str, s))}{"," * (len(s) == 1)}), "{d}")' for n, (d, s, _) in self.given.items())
        return "\n".join(["from tvm.script import ir as I, relax as R", "@I.ir_module", "class Module:", "    @R.function", f"    def main({parameters}):", "        with R.dataflow():",
                          *(f"            {line}" for line in ("y = " + self.expression if " = " not in self.expression.split("; ")[-1] else self.expression).split("; ")),
                          "            R.output(y)", "        return y", ""])

    def whole(self):
        """The text with what its expression needs."""
        return self.text().replace("import ir as I, ", "import ir as I, tirx as T, ") if "T." in self.expression else self.text()

    @property
    def short(self):
        """Names of parameters of bfloat16."""
        return {n for n, (dtype, _, _) in self.given.items() if dtype == "bfloat16"}


def op(kind, inputs="x", **attributes):
    """One node, whose inputs are single letters or a list of names."""
    return kind, list(inputs), attributes


def elementwise():
    x, small = "f4 64 4096", "f4 64 1000"
    for name, kind in (("abs", "Abs"), ("ceil", "Ceil"), ("floor", "Floor"), ("round", "Round"), ("sign", "Sign"), ("negative", "Neg"), ("sqrt", "Sqrt"), ("exp", "Exp"), ("sin", "Sin"),
                       ("cos", "Cos"), ("tan", "Tan"), ("sinh", "Sinh"), ("cosh", "Cosh"), ("tanh", "Tanh"), ("asin", "Asin"), ("acos", "Acos"), ("atan", "Atan"), ("asinh", "Asinh"),
                       ("atanh", "Atanh"), ("sigmoid", "Sigmoid"), ("erf", "Erf"), ("isnan", "IsNaN"), ("isinf", "IsInf")):
        # The inverse functions are asked where they are defined.
        inner = "R.tanh(x)" if name in ("asin", "acos", "atanh") else "x"
        nodes = [op("Tanh")[:2] + ({"to": "t"},), (kind, ["t"], {})] if inner != "x" else op(kind)
        yield Operator(name, dict(x=x), f"R.{name}({inner})", nodes)
    yield Operator("log", dict(x=x), "R.log(R.abs(x))", [("Abs", ["x"], {"to": "t"}), ("Log", ["t"], {})])
    yield Operator("rsqrt", dict(x=x), "R.rsqrt(R.abs(x))", [("Abs", ["x"], {"to": "t"}), ("Sqrt", ["t"], {"to": "s"}), ("Reciprocal", ["s"], {})])
    yield Operator("square", dict(x=x), "R.square(x)", op("Mul", "xx"))
    yield Operator("trunc", dict(x=x), "R.trunc(x)", None, lambda np, x: np.trunc(x))
    yield Operator("isfinite", dict(x=x), "R.isfinite(x)", None, lambda np, x: np.isfinite(x))
    yield Operator("clip", dict(x=x), "R.clip(x, R.prim_value(-1.0), R.prim_value(1.0))", None, lambda np, x: np.clip(x, -1, 1))
    for name, kind in (("relu", "Relu"), ("selu", "Selu"), ("softplus", "Softplus"), ("gelu", "Gelu")):
        yield Operator(name, dict(x=x), f"R.nn.{name}(x)", op(kind))
    yield Operator("gelu_tanh", dict(x=x), "R.nn.gelu_tanh(x)", op("Gelu", approximate="tanh"))
    yield Operator("silu", dict(x=x), "R.nn.silu(x)", [("Sigmoid", ["x"], {"to": "t"}), op("Mul", "xt")])
    yield Operator("leakyrelu", dict(x=x), "R.nn.leakyrelu(x, 0.1)", op("LeakyRelu", alpha=0.1))
    yield Operator("prelu", dict(x="f4 4 64 32 32", s="f4 64"), "R.nn.prelu(x, s, axis=1)", None, lambda np, x, s: np.where(x > 0, x, x * s[:, None, None]))
    for name, kind in (("add", "Add"), ("multiply", "Mul"), ("divide", "Div"), ("maximum", "Max"), ("power", "Pow"), ("mod", None), ("floor_mod", None), ("floor_divide", None)):
        a = "R.abs(x)" if name == "power" else "x"
        nodes = [("Abs", ["x"], {"to": "t"}), op("Pow", "tc")] if name == "power" else op(kind, "xc") if kind else op("Mod", "xc", fmod=1) if name == "mod" else None
        theirs = {"floor_mod": lambda np, x, c: np.mod(x, c), "floor_divide": lambda np, x, c: np.floor_divide(x, c)}.get(name)
        yield Operator(name, dict(x=x, c=x), f"R.{name}({a}, c)", nodes, theirs)
    yield Operator("atan2", dict(x=x, c=x), "R.atan2(x, c)", None, lambda np, x, c: np.arctan2(x, c))
    yield Operator("log_add_exp", dict(x=x, c=x), "R.log_add_exp(x, c)", None, lambda np, x, c: np.logaddexp(x, c))
    yield Operator("add row", dict(x=x, c="f4 4096"), "R.add(x, c)", op("Add", "xc"))
    yield Operator("add column", dict(x=x, c="f4 64 1"), "R.add(x, c)", op("Add", "xc"))
    yield Operator("add outer", dict(x="f4 512 1", c="f4 1 777"), "R.add(x, c)", op("Add", "xc"))
    yield Operator("add channel of 7x7", dict(x="f4 1 512 7 7", c="f4 1 512 1 1"), "R.add(x, c)", op("Add", "xc"))
    for name, kind in (("greater", "Greater"), ("equal", "Equal"), ("less_equal", "LessOrEqual")):
        yield Operator(name, dict(x=x, c=x), f"R.{name}(x, c)", op(kind, "xc"))
    for name, kind in (("logical_and", "And"), ("logical_or", "Or"), ("logical_xor", "Xor"), ("equal", "Equal")):
        yield Operator(name + " bool", dict(x="? 64 4096", c="? 64 4096"), f"R.{name}(x, c)", op(kind, "xc"))
    yield Operator("logical_not", dict(x="? 64 4096"), "R.logical_not(x)", op("Not"))
    yield Operator("where", dict(x=x, c=x, b="? 64 4096"), "R.where(b, x, c)", op("Where", "bxc"))
    yield Operator("where broadcast", dict(x=x, c="f4 1 1", b="? 64 4096"), "R.where(b, x, c)", op("Where", "bxc"))
    yield Operator("nan to zero", dict(x=x), 'R.where(R.isnan(x), R.zeros((64, 4096), "float32"), x)', [("IsNaN", ["x"], {"to": "b"}), op("Where", "bzx")], z=("f4", 0.0))
    for d in ("i1", "u1", "i4", "i8"):
        s = f"{d} 64 4096 < 100"
        for name, kind in (("add", "Add"), ("multiply", "Mul"), ("maximum", "Max")):
            only = d in ("i4", "i8") or name == "maximum"
            yield Operator(f"{name} {TYPES[d]}", dict(x=s, c=s), f"R.{name}(x, c)", op(kind, "xc") if only else None, None if only else {"add": lambda np, x, c: x + c, "multiply": lambda np, x, c: x * c}[name])
    for d in ("i4", "i8"):
        s = f"{d} 64 4096 < 1000"
        for name, theirs in (("floor_divide", lambda np, x, c: x // (c + 1)), ("floor_mod", lambda np, x, c: x % (c + 1))):
            yield Operator(f"{name} {TYPES[d]}", dict(x=s, c=s), f'R.{name}(x, R.add(c, R.const(1, "{TYPES[d]}")))', None, theirs)
        yield Operator(f"floor_divide by 7 {TYPES[d]}", dict(x=s), f'R.floor_divide(x, R.const(7, "{TYPES[d]}"))', None, lambda np, x: x // 7)
        yield Operator(f"abs {TYPES[d]}", dict(x=s), "R.abs(x)", op("Abs"))
        yield Operator(f"greater {TYPES[d]}", dict(x=s, c=s), "R.greater(x, c)", op("Greater", "xc"))
        yield Operator(f"bitwise_xor {TYPES[d]}", dict(x=s, c=s), "R.bitwise_xor(x, c)", op("BitwiseXor", "xc"))
    names = {"f4": 1, "f2": 10, "f8": 11, "i1": 3, "u1": 2, "i4": 6, "i8": 7, "?": 9}
    for pair in ("f4 f2", "f2 f4", "f4 f8", "f8 f4", "f4 i4", "i4 f4", "i8 f4", "f4 i8", "i8 i4", "i4 i8", "u1 f4", "f4 u1", "i1 f4", "? f4", "f4 ?", "i8 ?", "f4 i1", "i1 i4"):
        a, b = pair.split()
        yield Operator(f"cast {TYPES[a]} to {TYPES[b]}", dict(x=f"{a} 64 4096 < 100"), f'R.astype(x, "{TYPES[b]}")', op("Cast", to_type=names[b]))
    for name, kind in (("exp", "Exp"), ("log", "Log"), ("sqrt", "Sqrt"), ("sin", "Sin"), ("cos", "Cos"), ("tanh", "Tanh"), ("sigmoid", "Sigmoid")):
        inner, first = ("R.abs(x)", [("Abs", ["x"], {"to": "t"})]) if name in ("log", "sqrt") else ("x", [])
        lacks = {"cos": lambda np, x: np.cos(x)}.get(name)
        yield Operator(f"{name} float64", dict(x="f8 64 1024"), f"R.{name}({inner})", None if lacks else first + [(kind, ["t" if first else "x"], {})], lacks)
    yield Operator("power float64", dict(x="f8 64 1024", c="f8 64 1024"), "R.power(R.abs(x), c)", [("Abs", ["x"], {"to": "t"}), op("Pow", "tc")])
    for name, theirs in (("tan", "tan"), ("sinh", "sinh"), ("cosh", "cosh"), ("asinh", "arcsinh"), ("atan", "arctan")):
        yield Operator(f"{name} float64", dict(x="f8 64 1024"), f"R.{name}(x)", None, lambda np, x, theirs=theirs: getattr(np, theirs)(x))
    yield Operator("softmax float64", dict(x="f8 64 1024"), "R.nn.softmax(x)", op("Softmax"))
    yield Operator("add float16", dict(x="f2 64 4096", c="f2 64 4096"), "R.add(x, c)", None, lambda np, x, c: x + c)
    for n in (1, 3, 7, 17, 1000):
        yield Operator(f"exp 1000 x {n}", dict(x=f"f4 1000 {n}"), "R.exp(x)", op("Exp"))


def reductions():
    shapes = {"f4 64 4096": (0, 1), "f4 32 64 100": (0, 1, 2), "f4 1000 17": (0, 1), "f4 1000 3": (0, 1), "f4 7 5 1000": (0, 1)}
    for shape, axes in shapes.items():
        for axis in axes:
            for name, kind in (("sum", "ReduceSum"), ("max", "ReduceMax"), ("mean", "ReduceMean"), ("prod", "ReduceProd")):
                if name in ("mean", "prod") and shape != "f4 64 4096":
                    continue
                yield Operator(f"{name} {shape[3:]} axis {axis}", dict(x=shape), f"R.{name}(x, axis=[{axis}])", op(kind, ["x", "a"], keepdims=0), a=("i8", [axis]))
            yield Operator(f"argmax {shape[3:]} axis {axis}", dict(x=shape), f"R.argmax(x, axis={axis})", op("ArgMax", axis=axis, keepdims=0))
    yield Operator("sum all", dict(x="f4 512 777"), "R.sum(x)", op("ReduceSum", keepdims=0))
    yield Operator("max all", dict(x="f4 512 777"), "R.max(x)", op("ReduceMax", keepdims=0))
    yield Operator("argmin rows", dict(x="f4 64 4096"), "R.argmin(x, axis=1)", op("ArgMin", axis=1, keepdims=0))
    yield Operator("sum of axes 0, 2", dict(x="f4 32 64 100"), "R.sum(x, axis=[0, 2])", op("ReduceSum", ["x", "a"], keepdims=0), a=("i8", [0, 2]))
    yield Operator("sum of axes 0, 2, 3", dict(x="f4 8 64 28 28"), "R.sum(x, axis=[0, 2, 3])", op("ReduceSum", ["x", "a"], keepdims=0), a=("i8", [0, 2, 3]))
    for d in ("i4", "i8", "f8"):
        for axis in (0, 1):
            yield Operator(f"sum {TYPES[d]} axis {axis}", dict(x=f"{d} 64 4096 < 100"), f"R.sum(x, axis=[{axis}])", op("ReduceSum", ["x", "a"], keepdims=0), a=("i8", [axis]))
        yield Operator(f"max {TYPES[d]}", dict(x=f"{d} 64 4096 < 100"), "R.max(x, axis=[1])", op("ReduceMax", ["x", "a"], keepdims=0), a=("i8", [1]))
        yield Operator(f"argmax {TYPES[d]}", dict(x=f"{d} 64 4096 < 30000"), "R.argmax(x, axis=1)", op("ArgMax", axis=1, keepdims=0))
    for name in ("std", "variance"):
        yield Operator(name, dict(x="f4 64 4096"), f"R.{name}(x, axis=[1])", None, lambda np, x, f={"std": "std", "variance": "var"}[name]: getattr(np, f)(x, axis=1))
    for axis in (0, 1):
        yield Operator(f"cumsum axis {axis}", dict(x="f4 64 4096"), f"R.cumsum(x, axis={axis})", op("CumSum", "xa"), a=("i8", axis))
        yield Operator(f"cumprod axis {axis}", dict(x="f4 64 4096"), f"R.cumprod(R.cos(x), axis={axis})", None, lambda np, x, axis=axis: np.cumprod(np.cos(x), axis))
        yield Operator(f"softmax axis {axis}", dict(x="f4 64 4096"), f"R.nn.softmax(x, axis={axis})", op("Softmax", axis=axis))
    yield Operator("cumsum int64", dict(x="i8 64 4096 < 100"), "R.cumsum(x, axis=1)", op("CumSum", "xa"), a=("i8", 1))
    yield Operator("softmax channels", dict(x="f4 1 21 64 64"), "R.nn.softmax(x, axis=1)", op("Softmax", axis=1))
    for n in (3, 10, 17):
        yield Operator(f"softmax 1000 x {n}", dict(x=f"f4 1000 {n}"), "R.nn.softmax(x)", op("Softmax"))
    yield Operator("log_softmax 64 x 1000", dict(x="f4 64 1000"), "R.nn.log_softmax(x)", op("LogSoftmax"))


def norms():
    image, channels = "f4 1 64 56 56", dict(s="f4 64", b="f4 64")
    yield Operator("instance_norm", dict(x=image, **channels), "R.nn.instance_norm(x, s, b, channel_axis=1, axes=[2, 3])", op("InstanceNormalization", "xsb"))
    yield Operator("group_norm", dict(x=image, **channels), "R.nn.group_norm(x, s, b, num_groups=8, channel_axis=1, axes=[2, 3])", op("GroupNormalization", "xsb", num_groups=8))
    yield Operator("layer_norm 197 x 768", dict(x="f4 197 768", s="f4 768", b="f4 768"), "R.nn.layer_norm(x, s, b, axes=[-1])", op("LayerNormalization", "xsb"))
    yield Operator("layer_norm 1000 x 17", dict(x="f4 1000 17", s="f4 17", b="f4 17"), "R.nn.layer_norm(x, s, b, axes=[-1])", op("LayerNormalization", "xsb"))
    yield Operator("rms_norm", dict(x="f4 128 1000", s="f4 1000"), "R.nn.rms_norm(x, s, axes=[-1])", None, lambda np, x, s: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * s)
    yield Operator("batch_norm", dict(x=image, s="f4 64", b="f4 64", m="f4 64", v="f4 64"), "R.nn.batch_norm(x, s, b, m, R.abs(v), axis=1, training=False)[0]",
                   [("Abs", ["v"], {"to": "t"}), op("BatchNormalization", "xsbmt")])
    yield Operator("dropout", dict(x=image), "R.nn.dropout(x, 0.5)[0]", op("Identity"))
    yield Operator("cross_entropy", dict(x="f4 64 1000", t="f4 64 1000"), "R.nn.cross_entropy_with_logits(x, t)", None, lambda np, x, t: -(x * t).sum() / 64)
    yield Operator("nll_loss", dict(x="f4 64 1000", t="i8 64 < 1000"), "R.nn.nll_loss(x, t)", op("NegativeLogLikelihoodLoss", "xt"))


def copies():
    x = "f4 64 64 56"
    yield Operator("flip last", dict(x=x), "R.flip(x, axis=2)", op("Slice", "xbeas"), b=("i8", [-1]), e=("i8", [-2**62]), a=("i8", [2]), s=("i8", [-1]))
    yield Operator("flip first", dict(x=x), "R.flip(x, axis=0)", op("Slice", "xbeas"), b=("i8", [-1]), e=("i8", [-2**62]), a=("i8", [0]), s=("i8", [-1]))
    yield Operator("tile", dict(x="f4 64 100"), "R.tile(x, (4, 3))", op("Tile", "xr"), r=("i8", [4, 3]))
    yield Operator("tile of 3", dict(x="f4 1000 3"), "R.tile(x, (1, 50))", op("Tile", "xr"), r=("i8", [1, 50]))
    for axis in (0, 1):
        yield Operator(f"repeat axis {axis}", dict(x="f4 64 1000"), f"R.repeat(x, 3, axis={axis})", None, lambda np, x, axis=axis: np.repeat(x, 3, axis))
    yield Operator("broadcast_to", dict(x="f4 1000 1"), "R.broadcast_to(x, (1000, 200))", op("Expand", "xt"), t=("i8", [1000, 200]))
    yield Operator("slice", dict(x=x), "R.strided_slice(x, axes=[2], begin=[3], end=[50])", op("Slice", "xbea"), b=("i8", [3]), e=("i8", [50]), a=("i8", [2]))
    yield Operator("slice step 2", dict(x=x), "R.strided_slice(x, axes=[2], begin=[0], end=[56], strides=[2])", op("Slice", "xbeas"), b=("i8", [0]), e=("i8", [56]), a=("i8", [2]), s=("i8", [2]))
    yield Operator("slice step 3 of rows", dict(x=x), "R.strided_slice(x, axes=[1], begin=[0], end=[64], strides=[3])", op("Slice", "xbeas"), b=("i8", [0]), e=("i8", [64]), a=("i8", [1]), s=("i8", [3]))
    for perm in ([0, 2, 1], [2, 1, 0], [1, 0, 2], [2, 0, 1], [1, 2, 0]):
        yield Operator(f"permute {perm}", dict(x=x), f"R.permute_dims(x, {perm})", op("Transpose", perm=perm))
    yield Operator("permute int8", dict(x="i1 512 777 < 100"), "R.permute_dims(x)", op("Transpose"))
    yield Operator("permute 1000 x 3", dict(x="f4 10000 3"), "R.permute_dims(x)", op("Transpose"))
    yield Operator("permute heads", dict(x="f4 4 128 8 64"), "R.permute_dims(x, [0, 2, 3, 1])", op("Transpose", perm=[0, 2, 3, 1]))
    yield Operator("concat columns", dict(x="f4 64 100", c="f4 64 777"), "R.concat((x, c), axis=1)", op("Concat", "xc", axis=1))
    yield Operator("concat columns of 3", dict(x="f4 10000 3", c="f4 10000 4"), "R.concat((x, c), axis=1)", op("Concat", "xc", axis=1))
    yield Operator("stack last", dict(x="f4 64 1000", c="f4 64 1000"), "R.stack((x, c), axis=2)", None, lambda np, x, c: np.stack((x, c), 2))
    yield Operator("split", dict(x="f4 64 3000"), "R.split(x, 3, axis=1)", ("Split", ["x"], {"axis": 1, "num_outputs": 3, "more": ["y1", "y2"]}))
    for mode in ("constant", "reflect", "replicate", "circular"):
        theirs = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode]
        yield Operator(f"pad {mode}", dict(x="f4 1 64 56 56"), f'R.nn.pad(x, [0, 0, 0, 0, 2, 3, 2, 3], pad_mode="{mode}")', op("Pad", "xp", mode=theirs), p=("i8", [0, 0, 2, 2, 0, 0, 3, 3]))
    yield Operator("one_hot", dict(x="i8 1000 < 100"), 'R.one_hot(x, R.prim_value(T.float32(1)), R.prim_value(T.float32(0)), depth=100, axis=-1)', op("OneHot", "xdv"), d=("i8", [100]), v=("f4", [0., 1.]))
    yield Operator("take rows", dict(x="f4 1000 256", i="i8 512 < 1000"), "R.take(x, i, axis=0)", op("Gather", "xi", axis=0))
    yield Operator("take rows of 7", dict(x="f4 1000 7", i="i8 5000 < 1000"), "R.take(x, i, axis=0)", op("Gather", "xi", axis=0))
    yield Operator("take columns", dict(x="f4 256 1000", i="i8 512 < 1000"), "R.take(x, i, axis=1)", op("Gather", "xi", axis=1))
    yield Operator("take int32", dict(x="f4 1000 256", i="i4 512 < 1000"), "R.take(x, i, axis=0)", op("Gather", "xi", axis=0))
    for axis in (0, 1):
        yield Operator(f"gather_elements axis {axis}", dict(x="f4 100 1000", i="i8 100 1000 < 100"), f"R.gather_elements(x, i, axis={axis})", op("GatherElements", "xi", axis=axis))
        yield Operator(f"scatter_elements axis {axis}", dict(x="f4 100 1000", i="i8 100 1000 < 100", u="f4 100 1000"), f'R.scatter_elements(x, i, u, axis={axis}, reduction="add")',
                       op("ScatterElements", "xiu", axis=axis, reduction="add"))
    yield Operator("gather_nd rows", dict(x="f4 50 50 64", i="i8 1000 2 < 50"), "R.gather_nd(x, i)", op("GatherND", "xi"))
    yield Operator("gather_nd elements", dict(x="f4 50 50", i="i8 10000 2 < 50"), "R.gather_nd(x, i)", op("GatherND", "xi"))
    yield Operator("scatter_nd rows", dict(x="f4 50 50 64", i="i8 1000 2 < 50", u="f4 1000 64"), 'R.scatter_nd(x, i, u, reduction="add")', op("ScatterND", "xiu", reduction="add"))
    yield Operator("scatter_nd elements", dict(x="f4 500 500", i="i8 10000 2 < 500", u="f4 10000"), 'R.scatter_nd(x, i, u, reduction="add")', op("ScatterND", "xiu", reduction="add"))
    for name, kind in (("tril", 0), ("triu", 1)):
        yield Operator(name, dict(x="f4 512 512"), f"R.{name}(x)", op("Trilu", upper=kind))
    yield Operator("batch_flatten", dict(x="f4 8 64 14 14"), "R.nn.batch_flatten(x)", op("Flatten"))
    yield Operator("meshgrid", dict(x="f4 500", c="f4 400"), 'R.meshgrid((x, c), indexing="ij")', None, lambda np, x, c: [np.ascontiguousarray(v) for v in np.meshgrid(x, c, indexing="ij")])
    yield Operator("reverse_sequence", dict(x="f4 100 64 64", l="i8 64 < 100"), "R.reverse_sequence(x, l, seq_axis=0, batch_axis=1)", op("ReverseSequence", "xl", batch_axis=1, time_axis=0))
    yield Operator("quantize", dict(x="f4 64 4096"), 'R.quantize(x, R.const(0.05, "float32"), R.const(3, "int8"), axis=-1, out_dtype="int8")', op("QuantizeLinear", "xsz"), s=("f4", 0.05), z=("i1", 3))
    yield Operator("dequantize", dict(x="i1 64 4096 < 100"), 'R.dequantize(x, R.const(0.05, "float32"), R.const(3, "int8"), axis=-1)', op("DequantizeLinear", "xsz"), s=("f4", 0.05), z=("i1", 3))
    yield Operator("quantize channels", dict(x="f4 64 4096", s="f4 64", z="i1 64 < 10"), 'R.quantize(x, R.exp(s), z, axis=0, out_dtype="int8")', [("Exp", ["s"], {"to": "e"}), op("QuantizeLinear", "xez", axis=0)])
    yield Operator("dequantize channels", dict(x="i1 64 4096 < 100", s="f4 64", z="i1 64 < 10"), "R.dequantize(x, s, z, axis=0)", op("DequantizeLinear", "xsz", axis=0))


def images():
    x = "f4 1 32 56 56"
    for method, theirs in (("nearest_neighbor", "nearest"), ("linear", "linear"), ("cubic", "cubic")):
        for mode in ("half_pixel", "align_corners", "asymmetric"):
            for size in (112, 28, 100):
                rounding = {} if method != "nearest_neighbor" else {"nearest_mode": "round_prefer_ceil"}
                more = {"cubic_coeff_a": -0.75} if method == "cubic" else {}
                yield Operator(f"resize2d {method} {mode} {size}", dict(x=x), f'R.image.resize2d(x, size=({size}, {size}), layout="NCHW", method="{method}", coordinate_transformation_mode="{mode}"'
                               f'{", rounding_method=" + chr(34) + "round_prefer_ceil" + chr(34) if rounding else ""}{", cubic_alpha=-0.75" if more else ""})',
                               op("Resize", ["x", "", "", "t"], mode=theirs, coordinate_transformation_mode=mode, **rounding, **more), t=("i8", [1, 32, size, size]))
    for mode in ("nearest", "bilinear"):
        yield Operator(f"grid_sample {mode}", dict(x=x, g="f4 1 40 40 2"), f'R.image.grid_sample(x, R.permute_dims(g, [0, 3, 1, 2]), method="{mode}", padding_mode="zeros", align_corners=True)',
                       op("GridSample", "xg", mode="linear" if mode == "bilinear" else mode, padding_mode="zeros", align_corners=1))
    for kind, name in (("max", "MaxPool"), ("avg", "AveragePool")):
        counted = ", count_include_pad=False" if kind == "avg" else ""
        for size, stride, pad, h in ((2, 2, 0, 56), (3, 2, 1, 56), (3, 1, 1, 56), (3, 1, 1, 17), (5, 3, 2, 56)):
            yield Operator(f"{kind}_pool2d {size}/{stride} {h}", dict(x=f"f4 1 64 {h} {h}"), f"R.nn.{kind}_pool2d(x, pool_size=[{size}, {size}], strides={stride}, padding={pad})",
                           op(name, kernel_shape=[size] * 2, pads=[pad] * 4, strides=[stride] * 2))
        yield Operator(f"{kind}_pool1d", dict(x="f4 8 64 1000"), f"R.nn.{kind}_pool1d(x, pool_size=[3], strides=2, padding=1{counted})", op(name, kernel_shape=[3], pads=[1, 1], strides=[2]))
        yield Operator(f"{kind}_pool3d", dict(x="f4 1 32 16 28 28"), f"R.nn.{kind}_pool3d(x, pool_size=[2, 2, 2], strides=2)", op(name, kernel_shape=[2] * 3, strides=[2] * 3))
        yield Operator(f"{kind}_pool3d 3/2", dict(x="f4 1 32 16 28 28"), f"R.nn.{kind}_pool3d(x, pool_size=[3, 3, 3], strides=2, padding=1{counted})", op(name, kernel_shape=[3] * 3, strides=[2] * 3, pads=[1] * 6))
    yield Operator("max_pool2d dilated", dict(x="f4 1 64 56 56"), "R.nn.max_pool2d(x, pool_size=[3, 3], strides=1, dilation=[2, 2])", op("MaxPool", kernel_shape=[3, 3], dilations=[2, 2]))
    yield Operator("max_pool2d ceil", dict(x="f4 1 64 56 56"), "R.nn.max_pool2d(x, pool_size=[3, 3], strides=2, ceil_mode=True)", op("MaxPool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1))
    yield Operator("avg_pool2d include pad", dict(x="f4 1 64 56 56"), "R.nn.avg_pool2d(x, pool_size=[3, 3], padding=1, count_include_pad=True)",
                   op("AveragePool", kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=1))
    yield Operator("max_pool2d NHWC", dict(x="f4 1 56 56 64"), 'R.nn.max_pool2d(x, pool_size=[2, 2], strides=2, layout="NHWC")', None,
                   lambda np, x: x.reshape(1, 28, 2, 28, 2, 64).max((2, 4)))
    yield Operator("adaptive_avg_pool2d 1", dict(x="f4 1 512 7 7"), "R.nn.adaptive_avg_pool2d(x, [1, 1])", op("GlobalAveragePool"))
    yield Operator("adaptive_avg_pool2d 7", dict(x="f4 1 64 28 28"), "R.nn.adaptive_avg_pool2d(x, [7, 7])", op("AveragePool", kernel_shape=[4, 4], strides=[4, 4]))


def contractions():
    for name, x, w, given, attributes in (
            ("conv1d", "f4 1 64 1000", "f4 64 64 3", "padding=1", dict(pads=[1, 1])),
            ("conv1d 7/2", "f4 1 32 4000", "f4 64 32 7", "strides=2, padding=3", dict(pads=[3, 3], strides=[2])),
            ("conv1d dilated", "f4 1 64 1000", "f4 64 64 3", "padding=4, dilation=4", dict(pads=[4, 4], dilations=[4])),
            ("conv1d depthwise", "f4 1 64 4000", "f4 64 1 5", "padding=2, groups=64", dict(pads=[2, 2], group=64)),
            ("conv2d 3x3", "f4 1 64 28 28", "f4 64 64 3 3", "padding=1", dict(pads=[1] * 4)),
            ("conv2d 3x3 of 3", "f4 1 3 112 112", "f4 16 3 3 3", "padding=1", dict(pads=[1] * 4)),
            ("conv2d 5x5", "f4 1 32 28 28", "f4 64 32 5 5", "padding=2", dict(pads=[2] * 4)),
            ("conv2d dilated", "f4 1 64 28 28", "f4 64 64 3 3", "padding=2, dilation=2", dict(pads=[2] * 4, dilations=[2, 2])),
            ("conv2d groups 4", "f4 1 64 28 28", "f4 64 16 3 3", "padding=1, groups=4", dict(pads=[1] * 4, group=4)),
            ("conv2d groups 32", "f4 1 128 28 28", "f4 128 4 3 3", "padding=1, groups=32", dict(pads=[1] * 4, group=32)),
            ("conv2d depthwise 5x5", "f4 1 96 28 28", "f4 96 1 5 5", "padding=2, groups=96", dict(pads=[2] * 4, group=96)),
            ("conv2d 17 x 17 of 17", "f4 1 17 17 17", "f4 17 17 3 3", "padding=1", dict(pads=[1] * 4)),
            ("conv2d 1x7", "f4 1 64 17 17", "f4 64 64 1 7", "padding=[0, 3, 0, 3]", dict(pads=[0, 3, 0, 3])),
            ("conv3d", "f4 1 16 8 28 28", "f4 32 16 3 3 3", "padding=1", dict(pads=[1] * 6)),
            ("conv3d 1x1", "f4 1 64 4 14 14", "f4 64 64 1 1 1", "padding=0", {})):
        yield Operator(name, dict(x=x, w=w), f"R.nn.{name.split()[0]}(x, w, {given})", op("Conv", "xw", **attributes))
    for name, x, w, given, attributes in (
            ("conv1d_transpose", "f4 1 64 500", "f4 64 32 4", "strides=2, padding=1", dict(pads=[1, 1], strides=[2])),
            ("conv2d_transpose 2/2", "f4 1 64 28 28", "f4 64 32 2 2", "strides=2", dict(strides=[2, 2])),
            ("conv2d_transpose 3/2", "f4 1 64 28 28", "f4 64 32 3 3", "strides=2, padding=1, output_padding=1", dict(pads=[1] * 4, strides=[2, 2], output_padding=[1, 1])),
            ("conv2d_transpose 4/2", "f4 1 64 28 28", "f4 64 32 4 4", "strides=2, padding=1", dict(pads=[1] * 4, strides=[2, 2])),
            ("conv2d_transpose 3/1", "f4 1 64 28 28", "f4 64 32 3 3", "padding=1", dict(pads=[1] * 4)),
            ("conv2d_transpose 5/3", "f4 1 64 28 28", "f4 64 32 5 5", "strides=3, padding=1", dict(pads=[1] * 4, strides=[3, 3])),
            ("conv3d_transpose", "f4 1 16 8 14 14", "f4 16 16 2 2 2", "strides=2", dict(strides=[2] * 3))):
        yield Operator(name, dict(x=x, w=w), f"R.nn.{name.split()[0]}(x, w, {given})", op("ConvTranspose", "xw", **attributes))
    yield Operator("conv2d NHWC", dict(x="f4 1 28 28 64", w="f4 64 3 3 64"), 'R.nn.conv2d(x, w, padding=1, data_layout="NHWC", kernel_layout="OHWI")',
                   [("Transpose", ["x"], {"perm": [0, 3, 1, 2], "to": "a"}), ("Transpose", ["w"], {"perm": [0, 3, 1, 2], "to": "b"}), ("Conv", ["a", "b"], {"pads": [1] * 4, "to": "c"}),
                    ("Transpose", ["c"], {"perm": [0, 2, 3, 1]})])
    yield Operator("conv2d float16", dict(x="f2 1 64 28 28", w="f2 64 64 3 3"), "R.nn.conv2d(x, w, padding=1)", op("Conv", "xw", pads=[1] * 4))
    yield Operator("matmul float16", dict(x="f2 256 256", w="f2 256 256"), "R.matmul(x, w)", op("MatMul", "xw"))
    yield Operator("matmul float16 to float32", dict(x="f2 256 256", w="f2 256 256"), 'R.matmul(x, w, out_dtype="float32")', None, lambda np, x, w: x.astype("f4") @ w.astype("f4"))
    yield Operator("matmul float64", dict(x="f8 256 256", w="f8 256 256"), "R.matmul(x, w)", op("MatMul", "xw"))
    yield Operator("matmul int8", dict(x="i1 256 256 < 100", w="i1 256 256 < 100"), 'R.matmul(x, w, out_dtype="int32")', op("MatMulInteger", "xw"))
    yield Operator("matmul int32", dict(x="i4 128 128 < 100", w="i4 128 128 < 100"), "R.matmul(x, w)", op("MatMul", "xw"))
    for m, k, n in ((1, 1000, 1000), (7, 17, 1000), (1000, 3, 17), (17, 1000, 3), (1, 768, 3072), (3, 1000, 1000), (1000, 1000, 1), (64, 64, 10)):
        yield Operator(f"matmul {m} x {k} x {n}", dict(x=f"f4 {m} {k}", w=f"f4 {k} {n}"), "R.matmul(x, w)", op("MatMul", "xw"))
    yield Operator("outer", dict(x="f4 500", w="f4 400"), "R.outer(x, w)", op("Einsum", "xw", equation="i,j->ij"))
    for equation, x, w in (("bij,bjk->bik", "f4 8 64 64", "f4 8 64 64"), ("bhid,bhjd->bhij", "f4 2 4 64 64", "f4 2 4 64 64"), ("ij,kj->ik", "f4 200 300", "f4 100 300"), ("ij,ij->i", "f4 200 1000", "f4 200 1000"),
                           ("bic,bjc->bij", "f4 2 100 64", "f4 2 100 64"), ("ij,j->i", "f4 1000 500", "f4 500"), ("bihd,bjhd->bhij", "f4 2 64 4 32", "f4 2 64 4 32")):
        yield Operator(f"einsum {equation}", dict(x=x, w=w), f'R.einsum((x, w), "{equation}")', op("Einsum", "xw", equation=equation))


def halves():
    """Sums of halves, by the parameters, the expression and the nodes of ONNX."""
    scores, shifted = [("MatMul", ["q", "k"], {"to": "s"}), ("Softmax", ["s"], {"axis": -1, "to": "p"}), ("MatMul", ["p", "v"], {})], [("MatMul", ["x", "w"], {"to": "p"}), ("Add", ["p", "b"], {"to": "a"}), ("Relu", ["a"], {})]
    turned = [("Transpose", ["w"], {"perm": [1, 0], "to": "t"}), ("MatMul", ["x", "t"], {})]
    rows = [
        ("matmul", dict(x="256 256", w="256 256"), "R.matmul(x, w)", op("MatMul", "xw")),
        ("matmul bias relu", dict(x="128 768", w="768 768", b="768"), "R.nn.relu(R.add(R.matmul(x, w), b))", shifted),
        ("matmul large", dict(x="768 768", w="768 768"), "R.matmul(x, w)", op("MatMul", "xw")),
        ("matmul transposed", dict(x="128 768", w="768 768"), "R.matmul(x, R.permute_dims(w))", turned),
        ("matmul batched", dict(x="12 128 64", w="12 64 128"), "R.matmul(x, w)", op("MatMul", "xw")),
        ("matmul of 16 rows", dict(x="16 1024", w="1024 1024"), "R.matmul(x, w)", op("MatMul", "xw")),
        ("vector, K x N", dict(x="1 2048", w="2048 2048"), "R.matmul(x, w)", op("MatMul", "xw")),
        ("vector, N x K", dict(x="1 2048", w="2048 2048"), "R.matmul(x, R.permute_dims(w))", turned),
        ("conv2d 3x3", dict(x="1 64 28 28", w="64 64 3 3"), "R.nn.conv2d(x, w, padding=1)", op("Conv", "xw", pads=[1] * 4)),
        ("conv2d 1x1", dict(x="1 256 28 28", w="64 256 1 1"), "R.nn.conv2d(x, w)", op("Conv", "xw")),
        ("conv2d 7x7/2", dict(x="1 3 224 224", w="64 3 7 7"), "R.nn.conv2d(x, w, padding=3, strides=2)", op("Conv", "xw", pads=[3] * 4, strides=[2, 2])),
        ("conv2d depthwise", dict(x="1 96 56 56", w="96 1 3 3"), "R.nn.conv2d(x, w, padding=1, groups=96)", op("Conv", "xw", pads=[1] * 4, group=96)),
        ("attention", dict(q="12 128 64", k="12 64 128", v="12 128 64"), "s = R.matmul(q, k); p = R.nn.softmax(s, axis=-1); y = R.matmul(p, v)", scores),
        ("softmax", dict(x="256 1024"), "R.nn.softmax(x, axis=-1)", op("Softmax", axis=-1)),
        ("sum", dict(x="256 1024"), "R.sum(x, axis=1)", op("ReduceSum", ["x", "a"], keepdims=0)),
        ("mean", dict(x="256 1024"), "R.mean(x, axis=1)", op("ReduceMean", ["x", "a"], keepdims=0)),
        ("sum of columns", dict(x="1024 256"), "R.sum(x, axis=0)", op("ReduceSum", ["x", "a"], keepdims=0))]
    for dtype, name in (("f2", "float16"), ("b2", "bfloat16"), ("f4", "float32")):
        for what, given, expression, nodes in rows:
            constants = dict(a=("i8", [0 if "columns" in what else 1])) if what in ("sum", "mean", "sum of columns") else {}
            yield Operator(f"{name} {what}", {n: f"{dtype} {s}" for n, s in given.items()}, expression, nodes, **constants)


def operators():
    for group in (elementwise, reductions, norms, copies, images, contractions, halves):
        yield from group()


def session(operator, values):
    import numpy, onnx, onnxruntime
    from onnx import helper, numpy_helper
    nodes, outputs = [], ["y"]
    for kind, inputs, attributes in operator.nodes:
        attributes = dict(attributes)
        more = attributes.pop("more", [])
        to = attributes.pop("to", "y")
        if "to_type" in attributes:
            attributes["to"] = attributes.pop("to_type")
        outputs += [m for m in more if len(m) > 1]
        nodes.append(helper.make_node(kind, inputs, [to, *more], **attributes))
    constants = [numpy_helper.from_array(numpy.array(v, d), n) for n, (d, v) in operator.constants.items()]
    kinds = {n: helper.np_dtype_to_tensor_dtype(v.dtype) for n, v in values.items()}
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info(n, kinds[n], v.shape) for n, v in values.items()], [helper.make_empty_tensor_value_info(o) for o in outputs], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    model = onnx.shape_inference.infer_shapes(model)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    made = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    first = made.run(None, values)
    binding = made.io_binding()
    for name, value in values.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(value))
    for name, value in zip(outputs, first):
        binding.bind_ortvalue_output(name, onnxruntime.OrtValue.ortvalue_from_numpy(numpy.empty_like(value)))
    return lambda: made.run_with_iobinding(binding), first


def inputs_of(operator):
    import numpy
    random = numpy.random.default_rng(1)
    values = {}
    for name, (dtype, shape, below) in operator.given.items():
        if dtype == "bool":
            value = random.random(shape) < 0.5
        elif below:
            value = random.integers(0, below, shape)
        else:
            value = random.standard_normal(shape)
        if dtype == "bfloat16":  # as bits, which NumPy has no type for
            value = (value.astype("f4").view("u4") + 0x8000 >> 16).astype("u2")
        values[name] = schedules.aligned(value.astype("u2" if dtype == "bfloat16" else dtype))
    return values


class Retyped:
    """What a tensor of DLPack is with another code of its data type."""
    UNSIGNED, BFLOAT = 1, 4

    def __init__(self, tensor, code):
        self.tensor, self.code = tensor, code

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **asked):
        capsule = self.tensor.__dlpack__(**asked)
        api, of = ctypes.pythonapi, ctypes.py_object
        api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [of]
        api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = ctypes.c_void_p, [of, ctypes.c_char_p]
        name = api.PyCapsule_GetName(capsule)
        # Behind data, device and the number of dimensions; a version, two pointers and flags may come in front.
        at = api.PyCapsule_GetPointer(capsule, name) + 20 + (32 if name.endswith(b"versioned") else 0)
        ctypes.c_uint8.from_address(at).value = self.code
        return capsule


def floats(bits):
    return (bits.astype("u4") << 16).view("f4")


def difference(ours, theirs):
    """The largest error over the largest value."""
    import numpy
    ours, theirs = ours.astype("f8"), numpy.asarray(theirs).astype("f8").reshape(ours.shape)
    same = (ours == theirs) | (numpy.isnan(ours) & numpy.isnan(theirs))
    least = numpy.abs(theirs[numpy.isfinite(theirs)]).max(initial=1e-30)
    return float(numpy.where(same, 0, numpy.abs(ours - theirs)).max(initial=0) / least)


def arguments(operator):
    """The tensors that the function of an operator is called with, and the values."""
    import tvm_ffi
    values = inputs_of(operator)
    return [tvm_ffi.from_dlpack(Retyped(v, Retyped.BFLOAT) if n in operator.short else v) for n, v in values.items()], values


def results(operator, result):
    """What the function gave, as arrays; bfloat16 as bits."""
    import numpy, tvm_ffi
    return [numpy.from_dlpack(Retyped(r, Retyped.UNSIGNED) if operator.short else r) for r in (result if isinstance(result, tvm_ffi.Array) else [result])]


def measure(tvms, operator, folder, name):
    import numpy
    short = operator.short
    function, _ = schedules.built(tvms, operator.whole(), folder, name)
    given, values = arguments(operator)
    ours = results(operator, function(*given))
    dtype = "bfloat16" if short else str(ours[0].dtype)
    ours = [floats(o) if short else o for o in ours]
    values = {n: schedules.aligned(floats(v).astype("f2")) if n in short else v for n, v in values.items()}
    calls = {"tvms": lambda: function(*given)}
    if operator.nodes:
        calls["onnxruntime"], theirs = session(operator, values)
    else:
        calls["NumPy"] = lambda: operator.numpy(numpy, *values.values())
        theirs = calls["NumPy"]()
        theirs = theirs if isinstance(theirs, list) else [theirs]
    error = max(difference(o, t) for o, t in zip(ours, theirs))
    times = schedules.least_times(calls)
    return times, error, error <= TOLERANCE.get(dtype, 0)


def inside(tvms, pattern, above, out):
    lines = ["| operator | tvms, us | onnxruntime | NumPy | ratio | difference |", "| --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    schedules.BUDGET = 0.25
    with tempfile.TemporaryDirectory() as folder:
        for i, operator in enumerate(operators()):
            if not re.search(pattern, operator.name):
                continue
            try:
                times, error, near = measure(tvms, operator, folder, f"operator{i}")
            except Exception as e:
                print(f"| {operator.name} | {str(e)[:200]!r} |", flush=True)
                continue
            peer = "onnxruntime" if operator.nodes else "NumPy"
            ratio = times["tvms"] / times[peer]
            if ratio < above and near:
                continue
            shown = " | ".join(f"{times[p] * 1e6:.1f}" if p in times else "" for p in ("tvms", "onnxruntime", "NumPy"))
            lines.append(f"| {operator.name} | {shown} | {ratio:.2f} | {error:.1e}{'' if near else ' !'} |")
            print(lines[-1], flush=True)
    if out:
        os.makedirs(out, exist_ok=True)
        with open(os.path.join(out, "operators.md"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", help="folder of a release build")
    parser.add_argument("--only", default="", metavar="PATTERN", help="operators whose names it matches")
    parser.add_argument("--above", type=float, default=0, metavar="RATIO", help="only those that take more than so many times what the peer takes, and those that differ from it")
    parser.add_argument("--out", help="folder for operators.md")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inside:
        inside(os.path.join(given.build, "tvms"), given.only, given.above, given.out)
        return
    environment = dict(os.environ) | {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "TVMS_NUM_THREADS")}
    sys.exit(subprocess.run([rows.peers_python(), os.path.abspath(__file__), "--inside", *sys.argv[1:]], env=environment).returncode)


if __name__ == "__main__":
    main()
