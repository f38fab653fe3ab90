"""Steps of random networks that move, pick, join, count and compare: as network_layers.py has them."""
from network_maker import KINDS_OF_8_BITS, SIZES


def listed(values):
    return "[" + ", ".join(map(str, values)) + "]"


# ---- Shapes ----

def permute(m, v):
    if v.rank < 2:
        return None
    order = list(range(v.rank))
    m.random.shuffle(order)
    return m.bind(f"R.permute_dims({v.name}, axes={order})", tuple(v.shape[k] for k in order), v.dtype, v.exact)


def reshape(m, v):
    """Joins neighbours, and splits what is known."""
    if v.rank < 1:
        return None
    if v.rank > 1 and m.chance(0.6):
        first = m.number(0, v.rank - 2)
        end = m.number(first + 2, v.rank)
        shape = (*v.shape[:first], m.times(v.shape[first:end]), *v.shape[end:])
    else:
        axis = m.number(0, v.rank - 1)
        if not v.known(axis) or v.rank > 4:
            return None
        inner = m.factor(v.shape[axis])
        shape = (*v.shape[:axis], v.shape[axis] // inner, inner, *v.shape[axis + 1:])
    return m.bind(f"R.reshape({v.name}, R.shape({listed(shape)}))", shape, v.dtype, v.exact)


def flatten(m, v):
    if v.rank < 2:
        return None
    if m.chance(0.5):
        return m.bind(f"R.flatten({v.name})", (m.times(v.shape),), v.dtype, v.exact)
    return m.bind(f"R.nn.batch_flatten({v.name})", (v.shape[0], m.times(v.shape[1:])), v.dtype, v.exact)


def expand(m, v):
    if v.rank > 4:
        return None
    axis = m.number(0, v.rank)
    shape = (*v.shape[:axis], 1, *v.shape[axis:])
    y = m.bind(f"R.expand_dims({v.name}, axis=[{axis}])", shape, v.dtype, v.exact)
    times = m.choose([2, 3])
    if not m.chance(0.5) or m.count(shape) * times > m.most:
        return y
    wide = (*v.shape[:axis], times, *v.shape[axis:])
    return m.bind(f"R.broadcast_to({y.name}, R.shape({listed(wide)}))", wide, v.dtype, v.exact)


def squeeze(m, v):
    ones = [axis for axis, size in enumerate(v.shape) if size == 1]
    if not ones or v.rank < 2:
        return None
    axis = m.choose(ones)
    return m.bind(f"R.squeeze({v.name}, axis=[{axis}])", v.shape[:axis] + v.shape[axis + 1:], v.dtype, v.exact)


# ---- Parts ----

def axis_of(m, v, least=1):
    """An axis that is known, and not smaller; None if there is none."""
    fits = [axis for axis in range(v.rank) if v.known(axis) and v.shape[axis] >= least]
    return m.choose(fits) if fits else None


def changed(v, axis, size):
    return (*v.shape[:axis], size, *v.shape[axis + 1:])


def strided_slice(m, v):
    axis = axis_of(m, v, 2)
    if axis is None:
        return None
    size, step = v.shape[axis], m.choose([1, 1, 2, 3])
    begin = m.number(0, size - 1)
    end = m.number(begin + 1, size)
    made = (end - begin + step - 1) // step
    if m.chance(0.15):
        begin, end, step, made = size - 1, -size - 1, -1, size
    elif m.chance(0.2):
        begin, end = begin - size, end if end < size else size
    return m.bind(f"R.strided_slice({v.name}, axes=[{axis}], begin=[{begin}], end=[{end}], strides=[{step}])", changed(v, axis, made), v.dtype, v.exact)


def split(m, v):
    axis = axis_of(m, v, 2)
    if axis is None:
        return None
    size = v.shape[axis]
    if m.chance(0.5):
        count = m.choose([n for n in range(2, size + 1) if size % n == 0][:3])
        said, sizes = str(count), [size // count] * count
    else:
        cuts = sorted(set(m.number(1, size - 1) for _ in range(m.choose([1, 2]))))
        said, sizes = str(cuts), [b - a for a, b in zip([0] + cuts, cuts + [size])]
    made = m.bind_tuple(f"R.split({v.name}, indices_or_sections={said}, axis={axis})")
    fields = [m.bind(f"{made}[{k}]", changed(v, axis, part), v.dtype, v.exact) for k, part in enumerate(sizes[:4])]
    if m.chance(0.3) and fields[0].shape == fields[1].shape and v.real:  # a gate
        return m.bind(f"R.multiply(R.sigmoid({fields[0].name}), {fields[1].name})", fields[0].shape, v.dtype)
    return m.choose(fields)


def concat(m, v):
    if v.rank < 1:
        return None
    axis = m.number(0, v.rank - 1)
    fits = [o for o in m.values if o.dtype == v.dtype and o.rank == v.rank
            and all(a == b for k, (a, b) in enumerate(zip(o.shape, v.shape)) if k != axis) and o.known(axis) and v.known(axis)]
    if not fits:
        return None
    others = [m.choose(fits) for _ in range(m.choose([1, 1, 2]))]
    size = v.shape[axis] + sum(o.shape[axis] for o in others)
    if m.count(changed(v, axis, size)) > m.most:
        return None
    names = ", ".join([v.name] + [o.name for o in others])
    exact = v.exact and all(o.exact for o in others)
    if len({o.shape for o in others + [v]}) == 1 and m.chance(0.3) and v.rank < 5:
        return m.bind(f"R.stack(({names}), axis={axis})", (*v.shape[:axis], len(others) + 1, *v.shape[axis:]), v.dtype, exact)
    return m.bind(f"R.concat(({names}), axis={axis})", changed(v, axis, size), v.dtype, exact)


def repeat(m, v):
    axis = axis_of(m, v)
    times = m.choose([2, 3])
    if axis is None or m.count(v.shape) * times > m.most:
        return None
    shape = changed(v, axis, v.shape[axis] * times)
    if m.chance(0.5):
        return m.bind(f"R.repeat({v.name}, {times}, axis={axis})", shape, v.dtype, v.exact)
    return m.bind(f"R.tile({v.name}, repeats={[times if k == axis else 1 for k in range(v.rank)]})", shape, v.dtype, v.exact)


def pad(m, v):
    if v.rank < 1 or not v.known() or v.dtype == "bool":
        return None
    mode = m.choose(["constant", "constant", "constant", "reflect", "replicate", "circular"])
    most = 3 if mode == "constant" else max(min(v.shape) - 1, 0)
    wide = [m.number(0, min(most, 2)) if m.chance(0.5) else 0 for _ in range(2 * v.rank)]
    shape = tuple(size + wide[2 * k] + wide[2 * k + 1] for k, size in enumerate(v.shape))
    if m.count(shape) > m.most:
        return None
    said = f", pad_value={m.choose([0, 1, -1]) * 1.0}" if mode == "constant" and v.real else ""
    return m.bind(f'R.nn.pad({v.name}, pad_width={wide}, pad_mode="{mode}"{said})', shape, v.dtype, v.exact)


def pixels(m, v):
    """A finer image of channels that come in squares."""
    if v.rank != 4 or m.last or not v.known(1, 2, 3) or v.shape[1] % 4 or v.shape[1] == 0:
        return None
    return m.bind(f"R.nn.pixel_shuffle({v.name}, upscale_factor=2)", (v.shape[0], v.shape[1] // 4, v.shape[2] * 2, v.shape[3] * 2), v.dtype, v.exact)


def layout(m, v):
    """An axis in two, the inner part last."""
    axis = axis_of(m, v, 2)
    if axis is None or v.rank > 4:
        return None
    inner = m.choose([n for n in range(2, v.shape[axis] + 1) if v.shape[axis] % n == 0])
    names = [f"i{k}" for k in range(v.rank)]
    outer = [f"i{axis} // {inner}" if k == axis else name for k, name in enumerate(names)]
    shape = (*changed(v, axis, v.shape[axis] // inner), inner)
    text = f"R.layout_transform({v.name}, index_map=lambda {', '.join(names)}: ({', '.join(outer)}, i{axis} % {inner}), pad_value=None)"
    return m.bind(text, shape, v.dtype, v.exact)


def created(m, v):
    """With a tensor that is made of nothing."""
    if not v.real or v.rank < 1 or not v.known() or v.dtype == "bfloat16":
        return None
    kind = m.choose(["zeros", "ones", "full", "arange", "like"])
    shape = v.shape[m.number(0, v.rank - 1):]
    said = f"R.shape({listed(shape)})"
    made = {"zeros": f'R.zeros({said}, dtype="{v.dtype}")', "ones": f'R.ones({said}, dtype="{v.dtype}")', "full": f'R.full({said}, {m.const(0.25, v.dtype)}, dtype="{v.dtype}")',
            "arange": f'R.arange({v.shape[-1]}, dtype="{v.dtype}")', "like": f"R.full_like({v.name}, {m.const(0.75, v.dtype)})"}[kind]
    return m.bind(f"R.{m.choose(['add', 'multiply', 'maximum'])}({v.name}, {made})", v.shape, v.dtype)


def flip(m, v):
    if v.rank < 1:
        return None
    return m.bind(f"R.flip({v.name}, axis={m.number(0, v.rank - 1)})", v.shape, v.dtype, v.exact)


def triangle(m, v):
    if v.rank < 2 or v.dtype == "bool":
        return None
    return m.bind(f"R.{m.choose(['tril', 'triu'])}({v.name}, k={m.number(-2, 2)})", v.shape, v.dtype, v.exact)


def resize(m, v):
    if v.rank != 4 or not v.known(1, 2, 3) or not v.real or v.dtype == "float64":
        return None
    space = v.shape[1:3] if m.last else v.shape[2:]
    made = [m.choose([size * 2, size * 3, max(size // 2, 1), size + 1]) for size in space]
    shape = (v.shape[0], *made, v.shape[3]) if m.last else (*v.shape[:2], *made)
    if m.count(shape) > m.most:
        return None
    method = m.choose(["nearest_neighbor", "linear", "cubic"])
    mode = m.choose(["half_pixel", "align_corners", "asymmetric"])
    said = f', rounding_method="{m.choose(["round", "floor"])}"' if method == "nearest_neighbor" else ""
    # The nearest of two that are as near is a matter of rounding, but for steps of powers of two.
    if method == "nearest_neighbor" and (mode == "align_corners" or any(b % a and a % b for a, b in zip(space, made))):
        return None
    text = (f'R.image.resize2d({v.name}, R.shape({listed(made)}), layout="{"NHWC" if m.last else "NCHW"}", method="{method}", '
            f'coordinate_transformation_mode="{mode}"{said})')
    return m.bind(text, shape, v.dtype)


# ---- Picking ----

def index_param(m, shape, end):
    return m.param(shape, m.choose(["int32", "int64", "int64"]), end, "x")


def take(m, v):
    axis = axis_of(m, v)
    if axis is None:
        return None
    shape = m.choose([(), (3,), (5,), (2, 3)])
    if m.count(changed(v, axis, 6)) > m.most:
        return None
    ids = index_param(m, shape, v.shape[axis])
    made = (*v.shape[:axis], *shape, *v.shape[axis + 1:])
    if len(made) > 5:
        return None
    mode = m.choose(["", ', mode="clip"', ', mode="wrap"'])
    return m.bind(f"R.take({v.name}, {ids.name}, axis={axis}{mode})", made, v.dtype, v.exact)


def gather(m, v):
    axis = axis_of(m, v)
    if axis is None or not v.known():
        return None
    ids = m.param(changed(v, axis, m.choose([1, 2, 4])), "int64", v.shape[axis], "x")
    return m.bind(f"R.gather_elements({v.name}, {ids.name}, axis={axis})", ids.shape, v.dtype, v.exact)


def gather_nd(m, v):
    if v.rank < 2 or not v.known(0):
        return None
    ids = m.param((m.choose([1, 3, 4]), 1), "int64", v.shape[0], "x")
    return m.bind(f"R.gather_nd({v.name}, {ids.name})", (ids.shape[0], *v.shape[1:]), v.dtype, v.exact)


def scatter(m, v):
    if v.rank < 1 or not v.known() or v.dtype in ("bool", "float16", "bfloat16"):
        return None
    axis = axis_of(m, v)
    shape = changed(v, axis, 1)
    ids = m.param(shape, "int64", v.shape[axis], "x")
    updates = m.weight(shape, v.dtype, "real" if v.real else "int")
    how = m.choose(["update", "add", "mul", "min", "max"])
    return m.bind(f'R.scatter_elements({v.name}, {ids.name}, {updates.name}, axis={axis}, reduction="{how}")', v.shape, v.dtype, v.exact and how != "mul")


def scatter_nd(m, v):
    if v.rank < 1 or not v.known() or v.dtype in ("bool", "float16", "bfloat16"):
        return None
    ids = m.param((m.choose([1, 2, 3]), 1), "int64", v.shape[0], "x")
    how = m.choose(["add", "min", "max"])
    updates = m.weight((ids.shape[0], *v.shape[1:]), v.dtype, "real" if v.real else "int")
    return m.bind(f'R.scatter_nd({v.name}, {ids.name}, {updates.name}, reduction="{how}")', v.shape, v.dtype)


def slice_scatter(m, v):
    axis = axis_of(m, v, 2)
    if axis is None or v.dtype == "bool":
        return None
    size, step = v.shape[axis], m.choose([1, 1, 2])
    begin = m.number(0, size - 1)
    end = m.number(begin + 1, size)
    part = m.weight(changed(v, axis, (end - begin + step - 1) // step), v.dtype, "real" if v.real else "int")
    numbers = ", ".join(f"R.prim_value({n})" for n in (begin, end, step))
    return m.bind(f"R.slice_scatter({v.name}, {part.name}, {numbers}, axis={axis})", v.shape, v.dtype) if v.known() else None


def index_tensor(m, v):
    if v.rank < 2 or not v.known(0, 1):
        return None
    shape = m.choose([(1,), (3,), (2, 2)])
    ids = [m.param(shape, "int64", v.shape[k], "x") for k in range(m.choose([1, 2]))]
    made = (*shape, *v.shape[len(ids):])
    if len(made) > 5 or m.count(made) > m.most:
        return None
    return m.bind(f"R.index_tensor({v.name}, ({', '.join(i.name for i in ids)},))", made, v.dtype, v.exact)


def one_hot(m, v):
    if v.dtype not in ("int32", "int64") or v.rank > 3 or m.count(v.shape) * 4 > m.most:
        return None
    return m.bind(f'R.one_hot({v.name}, R.prim_value(T.float32(1.0)), R.prim_value(T.float32(0.0)), depth=4, axis=-1)', (*v.shape, 4), "float32", True)


# ---- Folds ----

def reduce(m, v):
    if v.rank < 1 or v.dtype == "bool":
        return None
    axes = sorted(m.random.sample(range(v.rank), m.number(1, min(v.rank, 2))))
    keep = m.chance(0.5)
    if len(axes) == v.rank and not keep and m.chance(0.8):
        return None
    shape = tuple(1 if k in axes else size for k, size in enumerate(v.shape) if keep or k not in axes)
    names = ["sum", "mean", "max", "min", "variance", "std", "prod"] if v.real else ["sum", "max", "min"]
    name = m.choose(names)
    if name == "prod" and m.count([v.shape[k] for k in axes]) > 16 or name in ("std", "variance") and m.count([v.shape[k] for k in axes]) < 2:
        return None
    y = m.bind(f"R.{name}({v.name}, axis={axes}, keepdims={keep})", shape, v.dtype, v.exact and (name in ("max", "min") or not v.real))
    if name == "sum" and v.real:
        y = m.bind(f"R.multiply({y.name}, {m.const(0.125, v.dtype)})", shape, v.dtype)
    return y


def einsum(m, v):
    """Products of more than two axes, sums over one or two, in any order."""
    if not v.real or v.rank < 2 or not v.known() or v.rank > 4:
        return None
    letters = "abcd"[:v.rank]
    summed = m.random.sample(letters, m.number(1, 2))
    kept = [letter for letter in letters if letter not in summed]
    m.random.shuffle(kept)
    other = summed + ["e"]
    m.random.shuffle(other)
    sizes = dict(zip(letters, v.shape), e=m.choose(m.widths[:6]))
    made = kept + ["e"]
    if m.count([sizes[k] for k in other]) > m.most or m.count([sizes[k] for k in made]) > m.most:
        return None
    w = m.weight([sizes[k] for k in other], v.dtype)
    text = f'R.einsum(({v.name}, {w.name}), subscripts="{letters},{"".join(other)}->{"".join(made)}")'
    return m.bind(text, [sizes[k] for k in made], v.dtype)


def scan(m, v):
    if v.rank < 1 or v.dtype not in ("float32", "float64", "int32", "int64"):
        return None
    axis = m.number(0, v.rank - 1)
    name = m.choose(["cumsum", "cumsum", "cumprod"]) if v.real else "cumsum"
    return m.bind(f"R.{name}({v.name}, axis={axis}, exclusive={m.chance(0.3)})", v.shape, v.dtype, v.exact and not v.real)


def order(m, v):
    """Sorting, and the greatest: of values that nothing has rounded."""
    if not v.exact or v.rank < 1 or v.dtype not in ("float32", "float64", "int32", "int64"):
        return None
    axis = m.number(0, v.rank - 1)
    kind, downwards = m.choose(["sort", "argsort", "topk", "argmax"]), m.chance(0.5)
    if kind == "sort":
        return m.bind(f"R.sort({v.name}, axis={axis}, descending={downwards})", v.shape, v.dtype, True)
    if kind == "argsort":
        return m.bind(f'R.argsort({v.name}, axis={axis}, descending={downwards}, dtype="int32")', v.shape, "int32", True)
    if kind == "argmax":
        keep = m.chance(0.5)
        shape = changed(v, axis, 1) if keep else v.shape[:axis] + v.shape[axis + 1:]
        return m.bind(f"R.{m.choose(['argmax', 'argmin'])}({v.name}, axis={axis}, keepdims={keep})", shape, "int64", True)
    if not v.known(axis):
        return None
    k = m.number(1, v.shape[axis])
    made = m.bind_tuple(f'R.topk({v.name}, k={k}, axis={axis}, ret_type="both", largest={downwards}, dtype="int32")')
    ids = m.bind(f"{made}[1]", changed(v, axis, k), "int32", True)
    return m.choose([ids, m.bind(f"{made}[0]", changed(v, axis, k), v.dtype, True)])


# ---- Elements ----

def compare(m, v):
    """A choice between a value and another of its type, by a comparison of what nothing has rounded."""
    if v.dtype == "bool":
        return None
    tests = [o for o in m.values if o.exact and o.shape == v.shape and o.dtype != "bool" and not o.small]
    if not tests:
        return None
    o = m.choose(tests)
    test = m.bind(f"R.{m.choose(['less', 'greater_equal', 'equal', 'not_equal'])}({o.name}, {m.const(0.25 if o.real else 1, o.dtype)})", v.shape, "bool", True)
    other = m.choose([m.const(0, v.dtype) if not v.real else m.const(0.5, v.dtype)] + [x.name for x in m.values if x.shape == v.shape and x.dtype == v.dtype])
    names = [v.name, other] if m.chance(0.5) else [other, v.name]
    return m.bind(f"R.where({test.name}, {', '.join(names)})", v.shape, v.dtype)


def scalar(m, v):
    """With a number, on either side."""
    if v.dtype == "bool":
        return None
    operator = m.choose(["add", "subtract", "multiply", "maximum", "minimum"])
    number = m.const(m.choose([0.5, 0.25, 1.5, -0.5]) if v.real else m.number(0, 2), v.dtype)
    names = [v.name, number] if m.chance(0.7) else [number, v.name]
    return m.bind(f"R.{operator}({', '.join(names)})", v.shape, v.dtype, v.exact and operator in ("maximum", "minimum"))


def function(m, v):
    """Functions that are defined everywhere, or of what makes them so."""
    if not v.real or v.dtype == "bfloat16":
        return None
    kind = m.choose(["sin", "cos", "abs", "negative", "square", "exp", "sqrt", "rsqrt", "log", "divide", "power", "atan"])
    if kind in ("sin", "cos", "abs", "negative", "atan"):
        return m.bind(f"R.{kind}({v.name})", v.shape, v.dtype, v.exact and kind in ("abs", "negative"))
    small = m.bind(f"R.{m.choose(['tanh', 'sigmoid'])}({v.name})", v.shape, v.dtype)
    if kind in ("square", "exp"):
        return m.bind(f"R.{kind}({small.name})", v.shape, v.dtype)
    positive = m.bind(f"R.add({small.name}, {m.const(1.5, v.dtype)})", v.shape, v.dtype)
    if kind in ("sqrt", "rsqrt", "log"):
        return m.bind(f"R.{kind}({positive.name})", v.shape, v.dtype)
    return m.bind(f"R.{kind}({v.name if kind == 'divide' else positive.name}, {positive.name if kind == 'divide' else m.const(1.5, v.dtype)})", v.shape, v.dtype)


def cast(m, v):
    """To another kind of number, and mostly back later by what the next step wants."""
    if v.dtype == "bool" or v.small:
        return m.bind(f'R.astype({v.name}, dtype="{m.real}")', v.shape, m.real, v.dtype == "bool")
    if not v.real:
        return m.bind(f'R.astype({v.name}, dtype="{m.real}")', v.shape, m.real)
    other = m.choose(["float32", "float64"] if m.real in ("float32", "float64") else ["float32", m.real])
    return m.bind(f'R.astype({v.name}, dtype="{other}")', v.shape, other) if other != v.dtype else None


def new_integers(m, v):
    shape = (m.choose(SIZES[:6]),)
    return m.input(shape, m.choose(["int32", "int64"]), m.choose([5, 9, 16]))


def new_small(m, v):
    """Another input, of floats of eight bits, which what follows moves."""
    return m.input(v.shape, m.choose(KINDS_OF_8_BITS)) if v.real else None
