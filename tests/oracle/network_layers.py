"""Layers of random networks: each takes a value, binds what it makes of it and returns that, or None where the value does not fit."""

from network_maker import KINDS_OF_8_BITS

SPACE = {1: "W", 2: "HW", 3: "DHW"}
ACTIVATIONS = ["nn.relu", "nn.relu", "nn.gelu", "nn.gelu_tanh", "nn.silu", "nn.selu", "sigmoid", "tanh", "nn.softplus", "erf", "nn.leakyrelu", "nn.prelu", "clip", "hard"]


def is_image(m, v):
    """Has it channels, which are known, and axes of space?"""
    return v.real and 3 <= v.rank <= 5 and v.known(v.rank - 1 if m.last else 1) and v.dtype == m.real


def layout(m, rank, first="NC"):
    space = SPACE[rank - 2]
    return first[0] + space + first[1] if m.last else first + space


def parts(m, v):
    """Channels, and sizes of space."""
    return (v.shape[-1], v.shape[1:-1]) if m.last else (v.shape[1], v.shape[2:])


def image(m, batch, channels, space):
    return (batch, *space, channels) if m.last else (batch, channels, *space)


def paddings(m, space, most):
    """Padding in front and behind, and how it is written: one number, one an axis, or both."""
    kind = m.number(0, 3)
    if kind == 0:
        return [0] * len(space), [0] * len(space), [0] * (2 * len(space))
    if kind == 1:
        both = [m.number(0, most) for _ in space]
        return both, both, both + both
    front, back = [m.number(0, most) for _ in space], [m.number(0, most) for _ in space]
    return front, back, front + back


def words(name, values):
    return f"{name}={list(values)}"


# ---- Convolutions ----

def kernel_layout(m, rank, out, inner, window):
    """A layout of the weights of a convolution, and their shape."""
    space = SPACE[rank - 2]
    name = m.choose(["OI" + space, space + "IO", "O" + space + "I"] if m.last else ["OI" + space] * 3 + [space + "IO"])
    sizes = dict(zip(space, window), O=out, I=inner)
    return name, tuple(sizes[letter] for letter in name)


def conv(m, v):
    if not is_image(m, v):
        return None
    channels, space = parts(m, v)
    kind = m.choose(["plain", "plain", "plain", "one", "grouped", "deep"])
    groups = channels if kind == "deep" else m.factor(channels, 4) if kind == "grouped" else 1
    out = groups * m.choose([1, 1, 2]) if kind == "deep" else groups * m.choose([1, 2, 3, 4, 8])
    if kind in ("plain", "one"):
        out = m.choose(m.widths)
    window = [1 if kind == "one" else m.choose([1, 2, 3, 3, 3, 4, 5]) for _ in space]
    stride, dilation = [m.choose([1, 1, 1, 2, 3]) for _ in space], [m.choose([1, 1, 1, 2, 3]) for _ in space]
    front, back, written = paddings(m, space, 3)
    made = m.windows(space, front, back, window, stride, dilation)
    if m.least(made) < 1 or m.count((v.shape[0], out, *made)) > m.most:
        return None
    name, shape = kernel_layout(m, v.rank, out, channels // groups, window)
    w = m.weight(shape)
    text = (f"R.nn.conv{v.rank - 2}d({v.name}, {w.name}, {words('strides', stride)}, {words('padding', written)}, {words('dilation', dilation)}, groups={groups}, "
            f'data_layout="{layout(m, v.rank)}", kernel_layout="{name}")')
    y = m.bind(text, image(m, v.shape[0], out, made), v.dtype)
    return channel_bias(m, y) if m.chance(0.4) else y


def conv_transpose(m, v):
    if m.last or not is_image(m, v):
        return None
    channels, space = parts(m, v)
    groups = m.factor(channels, 4) if m.chance(0.3) else 1
    out = m.choose([1, 2, 3, 4, 8] + m.widths[-3:] * m.large)
    window, stride = [m.choose([1, 2, 3, 4]) for _ in space], [m.choose([1, 2, 2, 3]) for _ in space]
    dilation = [m.choose([1, 1, 1, 2]) for _ in space]
    front, back, written = paddings(m, space, 1)
    extra = [m.number(0, s - 1) if m.chance(0.3) else 0 for s in stride]
    made = [m.plus(m.times([m.plus(size, -1), s]), d * (k - 1) + e + 1 - a - b) for size, a, b, k, s, d, e in zip(space, front, back, window, stride, dilation, extra)]
    fits = all(a <= d * (k - 1) and b <= d * (k - 1) for a, b, k, d in zip(front, back, window, dilation))
    if not fits or m.least(made) < 1 or m.count((v.shape[0], out * groups, *made)) > m.most:
        return None
    w = m.weight((channels, out, *window))
    text = (f"R.nn.conv{v.rank - 2}d_transpose({v.name}, {w.name}, {words('strides', stride)}, {words('padding', written)}, {words('output_padding', extra)}, "
            f"{words('dilation', dilation)}, groups={groups})")
    return m.bind(text, (v.shape[0], out * groups, *made), v.dtype)


def channel_bias(m, v):
    if not is_image(m, v):
        return None
    shape = (v.shape[-1],) if m.last else (1, v.shape[1], *[1] * (v.rank - 2))
    return m.bind(f"R.{m.choose(['add', 'add', 'multiply', 'subtract'])}({v.name}, {m.weight(shape, v.dtype).name})", v.shape, v.dtype)


# ---- Pools ----

def pool(m, v):
    if not is_image(m, v):
        return None
    channels, space = parts(m, v)
    window, stride = [m.choose([1, 2, 2, 3]) for _ in space], [m.choose([1, 2, 2, 3]) for _ in space]
    most = min(window) - 1
    front, back, written = paddings(m, space, most)
    kind = m.choose(["max", "avg"])
    dilation = [m.choose([1, 1, 1, 2]) for _ in space] if m.chance(0.3) else [1] * len(space)
    ceil = m.chance(0.25)
    made = m.windows(space, front, back, window, stride, dilation, more=ceil)
    if m.least(m.windows(space, front, back, window, stride, dilation)) < 1 or m.count((v.shape[0], channels, *made)) > m.most:
        return None
    text = (f"R.nn.{kind}_pool{v.rank - 2}d({v.name}, {words('pool_size', window)}, {words('strides', stride)}, {words('padding', written)}, {words('dilation', dilation)}, "
            f'ceil_mode={ceil}, count_include_pad={m.chance(0.5)}, layout="{layout(m, v.rank)}")')
    return m.bind(text, image(m, v.shape[0], channels, made), v.dtype)


def adaptive_pool(m, v):
    if not is_image(m, v):
        return None
    channels, space = parts(m, v)
    made = [m.number(1, m.size(size) + 1) for size in space] if m.chance(0.5) else [1] * len(space)
    text = f'R.nn.adaptive_avg_pool{v.rank - 2}d({v.name}, {words("output_size", made)}, layout="{layout(m, v.rank)}")'
    return m.bind(text, image(m, v.shape[0], channels, made), v.dtype)


def packed_pool(m, v):
    """A pool of channels in blocks, which are the last axis."""
    if m.last or not is_image(m, v) or v.rank != 4:
        return None
    channels, space = parts(m, v)
    block = m.factor(channels, 16)
    apart, order = (v.shape[0], channels // block, block, *space), (0, 1, 3, 4, 2)
    y = m.bind(f"R.reshape({v.name}, R.shape([{', '.join(map(str, apart))}]))", apart, v.dtype, v.exact)
    y = m.bind(f"R.permute_dims({y.name}, axes={list(order)})", tuple(apart[k] for k in order), v.dtype, v.exact)
    made = m.windows(space, [1, 1], [1, 1], [3, 3], [2, 1], [1, 1])
    shape = (v.shape[0], channels // block, *made, block)
    y = m.bind(f'R.nn.{m.choose(["max", "avg"])}_pool2d({y.name}, pool_size=[3, 3], strides=[2, 1], padding=[1, 1, 1, 1], layout="NCHW{block}c")', shape, v.dtype)
    y = m.bind(f"R.permute_dims({y.name}, axes=[0, 1, 4, 2, 3])", (*shape[:2], block, *made), v.dtype)
    whole = (v.shape[0], channels, *made)
    return m.bind(f"R.reshape({y.name}, R.shape([{', '.join(map(str, whole))}]))", whole, v.dtype)


def global_pool(m, v):
    if not is_image(m, v):
        return None
    channels, space = parts(m, v)
    axes = list(range(1, v.rank - 1)) if m.last else list(range(2, v.rank))
    keep = m.chance(0.5)
    shape = image(m, v.shape[0], channels, [1] * len(space)) if keep else (v.shape[0], channels)
    return m.bind(f"R.{m.choose(['mean', 'max'])}({v.name}, axis={axes}, keepdims={keep})", shape, v.dtype)


# ---- Norms ----

def batch_norm(m, v):
    if not is_image(m, v):
        return None
    channels, _ = parts(m, v)
    axis = v.rank - 1 if m.last else 1
    names = [m.weight((channels,), kind=kind).name for kind in ("positive", "real", "real", "positive")]
    flags = m.choose(["center=True, scale=True"] * 4 + ["center=False, scale=True", "center=True, scale=False"])
    training = m.chance(0.15)
    made = m.bind_tuple(f"R.nn.batch_norm({v.name}, {', '.join(names)}, axis={axis}, epsilon={m.choose([1e-5, 1e-3])}, {flags}, training={training})")
    if training and m.chance(0.5):
        m.bind(f"{made}[{m.choose([1, 2])}]", (channels,), v.dtype)
    return m.bind(f"{made}[0]", v.shape, v.dtype)


def layer_norm(m, v):
    if not v.real or v.rank < 2 or not v.known(v.rank - 1):
        return None
    many = v.rank > 2 and v.known(v.rank - 2) and m.chance(0.25)
    axes = [-2, -1] if many else [-1]
    shape = v.shape[axes[0]:]
    if m.count(shape) < 2:
        return None
    gamma, beta = m.weight(shape, v.dtype, "positive"), m.weight(shape, v.dtype, "real")
    if m.chance(0.35):
        return m.bind(f"R.nn.rms_norm({v.name}, {gamma.name}, axes={axes}, epsilon=1e-3)", v.shape, v.dtype)
    return m.bind(f"R.nn.layer_norm({v.name}, {gamma.name}, {beta.name}, axes={axes}, epsilon=1e-3)", v.shape, v.dtype)


def group_norm(m, v):
    if not is_image(m, v):
        return None
    channels, space = parts(m, v)
    axis, axes = (v.rank - 1, list(range(1, v.rank - 1))) if m.last else (1, list(range(2, v.rank)))
    if m.count(space) < 2 or m.real == "bfloat16" and not m.chance(0.3):
        return None
    gamma, beta = m.weight((channels,), kind="positive"), m.weight((channels,), kind="real")
    if m.chance(0.3):
        return m.bind(f"R.nn.instance_norm({v.name}, {gamma.name}, {beta.name}, channel_axis={axis}, axes={axes}, epsilon=1e-3)", v.shape, v.dtype)
    if m.real == "bfloat16":  # which TVM's rule does not take
        return None
    return m.bind(f"R.nn.group_norm({v.name}, {gamma.name}, {beta.name}, num_groups={m.factor(channels)}, channel_axis={axis}, axes={axes}, epsilon=1e-3)", v.shape, v.dtype)


def softmax(m, v):
    if not v.real or v.rank < 1:
        return None
    axis = m.choose([-1, -1, m.number(0, v.rank - 1)])
    return m.bind(f"R.nn.{m.choose(['softmax', 'softmax', 'log_softmax'])}({v.name}, axis={axis})", v.shape, v.dtype)


def norm_by_hand(m, v):
    """Of means and squares, as front ends write it."""
    if not v.real or v.rank < 2 or not v.known(v.rank - 1) or v.shape[-1] < 2:
        return None
    shape = (*v.shape[:-1], 1)
    x = v
    if m.chance(0.6):
        mean = m.bind(f"R.mean({v.name}, axis=[-1], keepdims=True)", shape, v.dtype)
        x = m.bind(f"R.subtract({v.name}, {mean.name})", v.shape, v.dtype)
    square = m.bind(m.choose([f"R.multiply({x.name}, {x.name})", f"R.square({x.name})", f"R.power({x.name}, {m.const(2.0, v.dtype)})"]), v.shape, v.dtype)
    mean = m.bind(f"R.mean({square.name}, axis=[-1], keepdims=True)", shape, v.dtype)
    mean = m.bind(f"R.add({mean.name}, {m.const(0.001, v.dtype)})", shape, v.dtype)
    if m.chance(0.5):
        y = m.bind(f"R.multiply({x.name}, R.rsqrt({mean.name}))", v.shape, v.dtype)
    else:
        y = m.bind(f"R.divide({x.name}, R.sqrt({mean.name}))", v.shape, v.dtype)
    return m.bind(f"R.multiply({y.name}, {m.weight((v.shape[-1],), v.dtype, 'positive').name})", v.shape, v.dtype)


# ---- Functions of elements ----

def activation(m, v):
    if not v.real or v.rank < 1:
        return None
    name = m.choose(ACTIVATIONS)
    if name == "nn.leakyrelu":
        text = f"R.nn.leakyrelu({v.name}, alpha={m.choose([0.01, 0.2])})"
    elif name == "nn.prelu":
        axis = v.rank - 1 if m.last or v.rank < 3 else 1
        if not v.known(axis) or v.dtype == "bfloat16":  # which TVM's rule does not take
            return None
        text = f"R.nn.prelu({v.name}, {m.weight((v.shape[axis],), v.dtype, 'real').name}, axis={axis})"
    elif name == "clip":
        text = f"R.clip({v.name}, {m.choose([0, -1, -0.5])}, {m.choose([1, 0.5, 6])})"
    elif name == "hard":
        y = m.bind(f"R.clip(R.add({v.name}, {m.const(3.0, v.dtype)}), 0, 6)", v.shape, v.dtype)
        text = f"R.multiply({v.name}, R.divide({y.name}, {m.const(6.0, v.dtype)}))"
    else:
        text = f"R.{name}({v.name})"
    return m.bind(text, v.shape, v.dtype, v.exact and name in ("nn.relu", "clip"))


def residual(m, v):
    """The value and another one of its type, or one that broadcasts to it."""
    fits = [o for o in m.values if o is not v and o.dtype == v.dtype and (o.shape == v.shape or o.shape == v.shape[1:]) and o.dtype != "bool"]
    if not fits or v.dtype == "bool":
        return None
    other = m.choose(fits)
    operator = m.choose(["add"] * 4 + ["multiply", "subtract", "maximum", "minimum"])
    names = [v.name, other.name] if m.chance(0.7) else [other.name, v.name]
    return m.bind(f"R.{operator}({', '.join(names)})", v.shape, v.dtype, v.exact and other.exact and not v.real)


def broadcast(m, v):
    """The value and another one that broadcasts to it, or it to the other."""
    if v.dtype == "bool":
        return None
    fits = []
    for o in m.values:
        shape = broadcast_shape(o.shape, v.shape) if o.dtype == v.dtype and o is not v and o.shape != v.shape else None
        if shape and m.count(shape) <= m.most:
            fits.append((o, shape))
    if not fits:
        return None
    other, shape = m.choose(fits)
    names = [v.name, other.name] if m.chance(0.5) else [other.name, v.name]
    return m.bind(f"R.{m.choose(['add', 'multiply', 'multiply', 'subtract', 'maximum'])}({', '.join(names)})", shape, v.dtype)


def broadcast_shape(one, other):
    """The shape of both together, or None."""
    rank = max(len(one), len(other))
    one, other = ((1,) * (rank - len(shape)) + shape for shape in (one, other))
    if any(a != b and a != 1 and b != 1 for a, b in zip(one, other)):
        return None
    return tuple(b if a == 1 else a for a, b in zip(one, other))


def squeeze_excite(m, v):
    """Channels that are weighed by what a small network makes of their means."""
    if not is_image(m, v):
        return None
    channels, space = parts(m, v)
    axes = list(range(1, v.rank - 1)) if m.last else list(range(2, v.rank))
    less, one = m.choose([1, 2, 4]), image(m, v.shape[0], channels, [1] * len(space))
    mean = m.bind(f"R.mean({v.name}, axis={axes}, keepdims=True)", one, v.dtype)
    few, more = kernel_layout(m, v.rank, less, channels, [1] * len(space)), kernel_layout(m, v.rank, channels, less, [1] * len(space))
    said = f'data_layout="{layout(m, v.rank)}"'
    y = m.bind(f'R.nn.conv{v.rank - 2}d({mean.name}, {m.weight(few[1]).name}, {said}, kernel_layout="{few[0]}")', image(m, v.shape[0], less, [1] * len(space)), v.dtype)
    y = m.bind(f"R.nn.relu({y.name})", y.shape, v.dtype)
    y = m.bind(f'R.nn.conv{v.rank - 2}d({y.name}, {m.weight(more[1]).name}, {said}, kernel_layout="{more[0]}")', one, v.dtype)
    y = m.bind(f"R.sigmoid({y.name})", one, v.dtype)
    return m.bind(f"R.multiply({v.name}, {y.name})", v.shape, v.dtype)


def shuffle(m, v):
    """Channels of groups, mixed."""
    if m.last or not is_image(m, v):
        return None
    channels, space = parts(m, v)
    groups = m.factor(channels)
    if groups in (1, channels) or v.rank > 4:
        return None
    apart = (v.shape[0], groups, channels // groups, *space)
    y = m.bind(f"R.reshape({v.name}, R.shape([{', '.join(map(str, apart))}]))", apart, v.dtype, v.exact)
    order = [0, 2, 1, *range(3, v.rank + 1)]
    y = m.bind(f"R.permute_dims({y.name}, axes={order})", tuple(apart[k] for k in order), v.dtype, v.exact)
    return m.bind(f"R.reshape({y.name}, R.shape([{', '.join(map(str, v.shape))}]))", v.shape, v.dtype, v.exact)


# ---- Products ----

def linear(m, v):
    """By a matrix, which may be transposed, with a bias and an activation behind it."""
    if not v.real or v.rank < 2 or not v.known(v.rank - 1):
        return None
    inner, out = v.shape[-1], m.choose(m.widths)
    if m.count(v.shape[:-1]) * out > m.most:
        return None
    if m.chance(0.5):
        w = m.weight((out, inner), v.dtype)
        w = m.bind(f"R.permute_dims({w.name}{m.choose(['', ', axes=[1, 0]'])})", (inner, out), v.dtype)
    else:
        w = m.weight((inner, out), v.dtype)
    y = m.bind(f"R.matmul({v.name}, {w.name})", (*v.shape[:-1], out), v.dtype)
    if m.chance(0.5):
        y = m.bind(f"R.add({y.name}, {m.weight((out,), v.dtype, 'real').name})", y.shape, y.dtype)
    return y


def batched(m, v):
    """By a matrix a batch, with axes of the batch that are broadcast on either side."""
    if not v.real or v.rank < 2 or not v.known():
        return None
    batch = [m.choose([size, 1]) for size in v.shape[:-2]][m.number(0, max(v.rank - 2, 0)):]
    if m.chance(0.2) and v.rank < 4:
        batch = [2] + [m.choose([size, 1]) for size in v.shape[:-2]]
    out, whole = m.choose(m.widths), list(v.shape[:-2])
    whole = [2] * (len(batch) - len(whole)) + whole if len(batch) > len(whole) else whole
    if m.count(whole) * v.shape[-2] * out > m.most:
        return None
    w = m.weight((*batch, v.shape[-1], out), v.dtype)
    return m.bind(f"R.matmul({v.name}, {w.name})", (*whole, v.shape[-2], out), v.dtype)


def transposed(m, v):
    """By a matrix, of the value's last axes in turn."""
    if not v.real or v.rank < 2 or not v.known(v.rank - 2):
        return None
    order = [*range(v.rank - 2), v.rank - 1, v.rank - 2]
    x = m.bind(f"R.permute_dims({v.name}, axes={order})", tuple(v.shape[k] for k in order), v.dtype, v.exact)
    return linear(m, x)


def vector(m, v):
    """A product with a vector, on either side."""
    if not v.real or v.rank < 2 or not v.known(v.rank - 1, v.rank - 2):
        return None
    if m.chance(0.5):
        return m.bind(f"R.matmul({v.name}, {m.weight((v.shape[-1],), v.dtype).name})", v.shape[:-1], v.dtype)
    return m.bind(f"R.matmul({m.weight((v.shape[-2],), v.dtype).name}, {v.name})", (*v.shape[:-2], v.shape[-1]), v.dtype)


def own_product(m, v):
    """With itself, transposed: scores of likeness."""
    if not v.real or v.rank < 2:
        return None
    order = list(range(v.rank - 2)) + [v.rank - 1, v.rank - 2]
    if m.count(v.shape[:-1]) * m.size(v.shape[-2]) > m.most:
        return None
    t = m.bind(f"R.permute_dims({v.name}, axes={order})", tuple(v.shape[k] for k in order), v.dtype)
    y = m.bind(f"R.matmul({v.name}, {t.name})", (*v.shape[:-1], v.shape[-2]), v.dtype)
    return m.bind(f"R.multiply({y.name}, {m.const(0.25, v.dtype)})", y.shape, y.dtype)


def recurrent(m, v):
    """Steps of a recurrent layer with the same weights."""
    if not v.real or v.rank != 3 or not v.known(1, 2):
        return None
    width, inner, gates = m.choose([4, 8, 16]), v.shape[2], m.choose([2, 3, 4])
    own, kept, bias = m.weight((inner, gates * width), v.dtype), m.weight((width, gates * width), v.dtype), m.weight((gates * width,), v.dtype, "real")
    state = m.param((v.shape[0], width), v.dtype, "real", "x")
    for k in range(min(v.shape[1], 3)):
        x = m.bind(f"R.squeeze(R.strided_slice({v.name}, axes=[1], begin=[{k}], end=[{k + 1}]), axis=[1])", (v.shape[0], inner), v.dtype)
        y = m.bind(f"R.add(R.matmul({x.name}, {own.name}), R.matmul({state.name}, {kept.name}))", (v.shape[0], gates * width), v.dtype)
        y = m.bind(f"R.add({y.name}, {bias.name})", y.shape, v.dtype)
        parts_of = m.bind_tuple(f"R.split({y.name}, {gates}, axis=1)")
        new = m.bind(f"R.tanh({parts_of}[0])", state.shape, v.dtype)
        gate = m.bind(f"R.sigmoid({parts_of}[1])", state.shape, v.dtype)
        if gates > 2:
            new = m.bind(f"R.multiply({new.name}, R.sigmoid({parts_of}[{gates - 1}]))", state.shape, v.dtype)
        state = m.bind(f"R.add(R.multiply({gate.name}, {state.name}), {new.name})", state.shape, v.dtype)
    return state


def decoded(m, v):
    """A product with weights of 4 bits, two in a byte, that are scaled in groups."""
    if v.dtype not in ("float32", "float16") or v.rank < 2 or not v.known(v.rank - 1) or v.shape[-1] % 2:
        return None
    inner, out = v.shape[-1], m.choose([w for w in m.widths if w > 2])
    if m.count(v.shape[:-1]) * out > m.most:
        return None
    w = m.weight((out, inner // 2), "uint8", 256)
    low = m.bind(f'R.bitwise_and({w.name}, R.const(15, "uint8"))', w.shape, "uint8")
    high = m.bind(f'R.right_shift({w.name}, R.const(4, "uint8"))', w.shape, "uint8")
    both = m.bind(f"R.stack(({low.name}, {high.name}), axis=2)", (out, inner // 2, 2), "uint8")
    q = m.bind(f"R.reshape({both.name}, R.shape([{out}, {inner}]))", (out, inner), "uint8")
    q = m.bind(f'R.subtract(R.astype({q.name}, "{v.dtype}"), {m.const(8.0, v.dtype)})', q.shape, v.dtype)
    groups = m.factor(inner, 8)
    scale = m.weight((out, groups, 1), v.dtype)
    q = m.bind(f"R.reshape({q.name}, R.shape([{out}, {groups}, {inner // groups}]))", (out, groups, inner // groups), v.dtype)
    q = m.bind(f"R.multiply(R.multiply({q.name}, {scale.name}), {m.const(0.125, v.dtype)})", q.shape, v.dtype)
    q = m.bind(f"R.permute_dims(R.reshape({q.name}, R.shape([{out}, {inner}])))", (inner, out), v.dtype)
    return m.bind(f"R.matmul({v.name}, {q.name})", (*v.shape[:-1], out), v.dtype)


def small(m, v):
    """A product with weights of eight bits, scaled for each column."""
    if v.dtype not in ("float32", "float16") or v.rank < 2 or not v.known(v.rank - 1):
        return None
    inner, out = v.shape[-1], m.choose(m.widths)
    if m.count(v.shape[:-1]) * out > m.most:
        return None
    w = m.bind(f'R.astype({m.weight((out, inner), m.choose(KINDS_OF_8_BITS)).name}, "{v.dtype}")', (out, inner), v.dtype)
    if m.chance(0.6):
        w = m.bind(f"R.multiply({w.name}, {m.weight((out, 1), v.dtype).name})", w.shape, v.dtype)
    w = m.bind(f"R.permute_dims({w.name})", (inner, out), v.dtype)
    return m.bind(f"R.matmul({v.name}, {w.name})", (*v.shape[:-1], out), v.dtype)


# ---- Attention ----

def heads_of(m, v, count, width):
    """(batch, length, count * width) to (batch, length, count, width), through a product."""
    w = m.weight((v.shape[2], count * width), v.dtype)
    y = m.bind(f"R.matmul({v.name}, {w.name})", (*v.shape[:2], count * width), v.dtype)
    if m.chance(0.3):
        y = m.bind(f"R.add({y.name}, {m.weight((count * width,), v.dtype, 'real').name})", y.shape, y.dtype)
    shape = (*v.shape[:2], count, width)
    return m.bind(f"R.reshape({y.name}, R.shape([{', '.join(map(str, shape))}]))", shape, v.dtype)


def written_out(m, q, k, v):
    """Attention of matmuls and a softmax."""
    batch, length, count, width = q.shape
    q = m.bind(f"R.permute_dims({q.name}, axes=[0, 2, 1, 3])", (batch, count, length, width), q.dtype)
    k = m.bind(f"R.permute_dims({k.name}, axes=[0, 2, 3, 1])", (batch, count, width, k.shape[1]), q.dtype)
    v = m.bind(f"R.permute_dims({v.name}, axes=[0, 2, 1, 3])", (batch, count, v.shape[1], v.shape[3]), q.dtype)
    s = m.bind(f"R.matmul({q.name}, {k.name})", (batch, count, length, k.shape[3]), q.dtype)
    s = m.bind(f"R.{m.choose(['multiply', 'divide'])}({s.name}, {m.const(m.choose([0.5, 0.25, 2.0]), q.dtype)})", s.shape, q.dtype)
    if m.chance(0.4):
        mask = m.param((batch, 1, length, k.shape[3]), q.dtype, "real", "x")
        s = m.bind(f"R.add({s.name}, {mask.name})", s.shape, q.dtype)
    elif m.chance(0.3):
        seen = m.param((length, k.shape[3]), "bool", "bool", "x")
        least = m.const(m.choose([-10000.0, -60000.0]), q.dtype)
        s = m.bind(f"R.where({seen.name}, {s.name}, {least})", s.shape, q.dtype)
    p = m.bind(f"R.nn.softmax({s.name}, axis=-1)", s.shape, q.dtype)
    y = m.bind(f"R.matmul({p.name}, {v.name})", (batch, count, length, v.shape[3]), q.dtype)
    return m.bind(f"R.permute_dims({y.name}, axes=[0, 2, 1, 3])", (batch, length, count, v.shape[3]), q.dtype)


def operator(m, q, k, v):
    """R.nn.attention. Halves have no scale: TVM's lowering then makes float32 of them, against its own types."""
    batch, length, count, width = q.shape
    said = [f"scale={m.choose([0.25, 0.5])}"] if m.chance(0.5) and q.dtype in ("float32", "float64") else []
    if m.chance(0.4):
        said.append(f'causal_mask="{m.choose(["TopLeft", "BottomRight"])}"')
    if m.chance(0.3):
        bias = m.param((batch, count, length, k.shape[1]), q.dtype, "real", "x")
        said.insert(0, f"bias={bias.name}")
    text = f"R.nn.attention({q.name}, {k.name}, {v.name}{''.join(', ' + word for word in said)})"
    return m.bind(text, (batch, length, count, v.shape[3]), q.dtype)


def attention(m, v):
    if not v.real or v.rank != 3 or not v.known(2) or m.count(v.shape[:2]) * m.size(v.shape[1]) * 4 > m.most:
        return None
    count, width, own = m.choose([1, 2, 4]), m.choose([4, 8, 16, 64 if m.large else 12]), m.choose([4, 8, 32 if m.large else 5])
    others = [o for o in m.values if o.rank == 3 and o.dtype == v.dtype and o.known(2) and o.shape[0] == v.shape[0]]
    source = m.choose(others) if m.chance(0.25) else v
    kept = m.factor(count)
    q = heads_of(m, v, count, width)
    k, x = heads_of(m, source, kept, width), heads_of(m, source, kept, own)
    if kept != count:
        k, x = (m.bind(f"R.repeat({o.name}, {count // kept}, axis=2)", (*o.shape[:2], count, o.shape[3]), v.dtype) for o in (k, x))
    y = m.choose([written_out, operator])(m, q, k, x)
    y = m.bind(f"R.reshape({y.name}, R.shape([{v.shape[0]}, {v.shape[1]}, {count * own}]))", (*v.shape[:2], count * own), v.dtype)
    w = m.weight((count * own, v.shape[2]), v.dtype)
    y = m.bind(f"R.matmul({y.name}, {w.name})", v.shape, v.dtype)
    return m.bind(f"R.add({v.name}, {y.name})", v.shape, v.dtype) if m.chance(0.6) else y


def embedding(m, v):
    """Rows of a table, for integers that are in its range."""
    fits = [o for o in m.values if o.dtype in ("int32", "int64") and o.name.startswith("x") and o.rank <= 2]
    if not fits:
        return None
    ids, width = m.choose(fits), m.choose([4, 8, 16, 24])
    end = next(p[3] for p in m.params if p[0] == ids.name)
    if not isinstance(end, int) or m.count(ids.shape) * width > m.most:
        return None
    table = m.weight((end, width))
    return m.bind(f"R.take({table.name}, {ids.name}, axis=0)", (*ids.shape, width), m.real)


# ---- Integers of 8 bits ----

def quantized(m, v):
    """A value as int8 and a product or convolution of integers, and back."""
    if v.dtype != "float32" or not v.exact or v.rank < 2 or not v.known(*range(1, v.rank)):
        return None
    signed = m.choose(["int8", "int8", "uint8"])
    zero = m.number(-3, 3) if signed == "int8" else 128
    q = m.bind(f'R.quantize({v.name}, R.const({m.choose([0.03125, 0.0625])}, "float32"), R.const({zero}, "{signed}"), axis=-1, out_dtype="{signed}")', v.shape, signed, True)
    out = m.choose([1, 4, 8, 16])
    if is_image(m, v) and not m.last and m.chance(0.5) and min(parts(m, v)[1]) > 2:
        channels, space = parts(m, v)
        w = m.weight((out, channels, *[3] * len(space)), signed, "int")
        made = (v.shape[0], out, *[size - 2 for size in space])
        y = m.bind(f'R.nn.conv{v.rank - 2}d({q.name}, {w.name}, out_dtype="int32")', made, "int32", True)
    else:
        w = m.weight((v.shape[-1], out), signed, "int")
        y = m.bind(f'R.matmul({q.name}, {w.name}, out_dtype="int32")', (*v.shape[:-1], out), "int32", True)
    if m.chance(0.5):
        return m.bind(f'R.multiply(R.astype({y.name}, "float32"), R.const(0.00390625, "float32"))', y.shape, "float32")
    return m.bind(f'R.dequantize({y.name}, R.const(0.00390625, "float32"), R.const(0, "int32"), axis=-1, out_dtype="float32")', y.shape, "float32")
