"""What models of the suite models.py are made of: relax.frontend.nn, and operators that it lacks."""
import math

import tvm
from tvm import relax
from tvm.relax.frontend import nn
from tvm.relax.frontend.nn import op

R = relax.op
Spec = nn.spec.Tensor


def tensor(expr, name="value"):
    return nn.core.wrap_nested(expr, name)


def apply(operator, *arguments, **attributes):
    """An operator of Relax on tensors of nn."""
    return tensor(operator(*[getattr(a, "_expr", a) for a in arguments], **attributes))


def scalar(value, dtype="float32"):
    return tensor(relax.const(value, dtype), "scalar")


def number(value):
    return relax.prim_value(value) if hasattr(relax, "prim_value") else relax.PrimValue(value)


def exported(module, **inputs):
    """The module whose `forward` takes these tensors: name=(shape, dtype)."""
    return module.export_tvm({"forward": {name: Spec(list(shape), dtype) for name, (shape, dtype) in inputs.items()}})[0]


class BatchNorm(nn.Module):
    def __init__(self, channels):
        self.gamma, self.beta, self.mean, self.var = (nn.Parameter((channels,), "float32") for _ in range(4))

    def forward(self, x):
        call = R.nn.batch_norm(*(t._expr for t in (x, self.gamma, self.beta, self.mean, self.var)), axis=1, epsilon=1e-3, training=False)
        return tensor(relax.TupleGetItem(relax.BlockBuilder.current().emit(call), 0))


class ConvNorm(nn.Module):
    def __init__(self, taken, made, kernel=1, stride=1, groups=1):
        self.conv = nn.Conv2D(taken, made, kernel, stride, kernel // 2, groups=groups, bias=False)
        self.norm = BatchNorm(made)

    def forward(self, x):
        return self.norm(self.conv(x))


def heads(x, count):
    """[batch, length, width] as [batch, heads, length, width of a head]."""
    batch, length, width = x.shape
    return op.permute_dims(op.reshape(x, (batch, length, count, width // count)), [0, 2, 1, 3])


def joined(x):
    batch, count, length, width = x.shape
    return op.reshape(op.permute_dims(x, [0, 2, 1, 3]), (batch, length, count * width))


def scores(q, k, scale=True):
    product = op.matmul(q, op.permute_dims(k, [0, 1, 3, 2]))
    return product / math.sqrt(q.shape[3]) if scale else product


class Feed(nn.Module):
    """The two layers behind attention."""

    def __init__(self, width, inner, function):
        self.up, self.down, self.function = nn.Linear(width, inner), nn.Linear(inner, width), function

    def forward(self, x):
        return self.down(self.function(self.up(x)))


def te_tensor(compute, name, *arguments):
    return op.tensor_expr_op(compute, name, list(arguments))


__all__ = ["BatchNorm", "ConvNorm", "Feed", "R", "Spec", "apply", "exported", "heads", "joined", "math", "nn", "number", "op", "relax", "scalar",
           "scores", "te_tensor", "tensor", "tvm"]
