"""Models that read sequences (see models.py): small ones, with the layers of those that are known by these names."""
from tvm import te, tirx
from model_parts import *


class Perceptron(nn.Module):
    def __init__(self):
        self.first, self.second = nn.Linear(784, 128), nn.Linear(128, 10)

    def forward(self, x):
        return self.second(op.relu(self.first(x)))


class Encoding(nn.Module):
    """A layer of BERT, norms behind the layers."""

    def __init__(self, width, count):
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.norm1, self.norm2, self.feed, self.count = nn.LayerNorm(width), nn.LayerNorm(width), Feed(width, 2 * width, op.gelu), count

    def forward(self, x, mask):
        q, k, v = (heads(layer(x), self.count) for layer in (self.q, self.k, self.v))
        weights = op.softmax(op.add(scores(q, k), mask), -1)
        x = self.norm1(op.add(self.o(joined(op.matmul(weights, v))), x))
        return self.norm2(op.add(self.feed(x), x))


class Bert(nn.Module):
    def __init__(self, width=32):
        self.words, self.places, self.kinds = nn.Embedding(100, width), nn.Embedding(64, width), nn.Embedding(16, width)
        self.norm, self.layers = nn.LayerNorm(width), nn.ModuleList([Encoding(width, 4) for _ in range(2)])
        self.pool, self.classes = nn.Linear(width, width), nn.Linear(width, 3)

    def forward(self, words, kinds, mask):
        batch, length = words.shape
        places = self.places(apply(R.arange, 0, length, 1, dtype="int32"))
        x = self.norm(op.add(op.add(self.words(words), self.kinds(kinds)), op.unsqueeze(places, 0)))
        mask = op.astype(op.reshape(mask, (batch, 1, 1, length)), "float32")
        mask = op.multiply(op.subtract(scalar(1.0), mask), scalar(-1e4))
        for layer in self.layers:
            x = layer(x, mask)
        first = op.squeeze(apply(R.strided_slice, x, axes=[1], begin=[0], end=[1]), 1)
        return x, op.softmax(self.classes(op.tanh(self.pool(first))), -1)


def gelu_by_tanh(x):
    cube = op.multiply(scalar(0.044715), op.multiply(x, op.multiply(x, x)))
    inner = op.tanh(op.multiply(scalar(0.79788), op.add(x, cube)))
    return op.multiply(op.multiply(scalar(0.5), x), op.add(inner, scalar(1.0)))


class Generating(nn.Module):
    """A layer of GPT-2. What was computed for earlier words comes in and goes out with `past`."""

    def __init__(self, width, count):
        self.qkv, self.o, self.count = nn.Linear(width, 3 * width), nn.Linear(width, width), count
        self.norm1, self.norm2, self.feed = nn.LayerNorm(width), nn.LayerNorm(width), Feed(width, 4 * width, gelu_by_tanh)

    def forward(self, x, mask, past=None):
        q, k, v = (heads(part, self.count) for part in op.split(self.qkv(self.norm1(x)), 3, -1))
        if past:
            k, v = op.concat([past[0], k], 2), op.concat([past[1], v], 2)
        weights = scores(q, k)
        if mask:
            weights = apply(R.where, apply(R.astype, mask, "bool"), weights, relax.const(-1e9))
        x = op.add(x, self.o(joined(op.matmul(op.softmax(weights, -1), v))))
        return op.add(x, self.feed(self.norm2(x))), k, v


class GPT2(nn.Module):
    def __init__(self, width=32, count=4, layers=2):
        self.words, self.places, self.norm = nn.Embedding(96, width), nn.Embedding(128, width), nn.LayerNorm(width)
        self.layers, self.head = nn.ModuleList([Generating(width, count) for _ in range(layers)]), nn.Linear(width, 96, bias=False)

    def forward(self, words):
        _, length = words.shape
        x = op.add(self.words(words), self.places(apply(R.arange, 0, length, 1, dtype="int32")))
        mask = apply(R.tril, op.full((length, length), scalar(1.0), "float32"))
        for layer in self.layers:
            x, _, _ = layer(x, mask)
        return self.head(self.norm(x))


class GPT2Step(GPT2):
    """One more word; keys and values of those before are tensors."""

    def forward(self, words, place, k0, v0, k1, v1):
        x, made = op.add(self.words(words), self.places(place)), []
        for layer, past in zip(self.layers, ((k0, v0), (k1, v1))):
            x, k, v = layer(x, None, past)
            made += [k, v]
        return (self.head(self.norm(x)), *made)


class T5(nn.Module):
    """A layer that attends to another sequence, with a bias by distance."""

    def __init__(self, width=32, count=4):
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.norm1, self.norm2 = (nn.RMSNorm(width, -1, 1e-6, bias=False) for _ in range(2))
        self.far, self.up, self.down, self.count = nn.Embedding(32, count), nn.Linear(width, 64, bias=False), nn.Linear(64, width, bias=False), count

    def forward(self, x, other):
        length, given = x.shape[1], other.shape[1]
        row, column = (apply(R.arange, 0, size, 1, dtype="int64") for size in (length, given))
        far = op.minimum(apply(R.abs, op.subtract(op.unsqueeze(column, 0), op.unsqueeze(row, 1))), scalar(31, "int64"))
        bias = op.reshape(self.far(op.reshape(far, (length * given,))), (length, given, self.count))
        bias = op.unsqueeze(op.permute_dims(bias, [2, 0, 1]), 0)
        q, k, v = heads(self.q(self.norm1(x)), self.count), heads(self.k(other), self.count), heads(self.v(other), self.count)
        weights = op.softmax(op.add(scores(q, k, scale=False), bias), -1)
        x = op.add(x, self.o(joined(op.matmul(weights, v))))
        return op.add(x, self.down(op.relu(self.up(self.norm2(x)))))


class LSTM(nn.Module):
    def __init__(self, width=8, inner=16, steps=4):
        self.of_input, self.of_state, self.inner, self.steps = nn.Linear(width, 4 * inner), nn.Linear(inner, 4 * inner, bias=False), inner, steps

    def forward(self, x):
        state, memory, made = op.zeros((x.shape[1], self.inner), "float32"), op.zeros((x.shape[1], self.inner), "float32"), []
        for t in range(self.steps):
            step = op.squeeze(apply(R.strided_slice, x, axes=[0], begin=[t], end=[t + 1]), 0)
            taken, kept, new, out = op.split(op.add(self.of_input(step), self.of_state(state)), 4, 1)
            memory = op.add(op.multiply(op.sigmoid(kept), memory), op.multiply(op.sigmoid(taken), op.tanh(new)))
            state = op.multiply(op.sigmoid(out), op.tanh(memory))
            made.append(op.unsqueeze(state, 0))
        return op.concat(made, 0), state, memory


class Quantised(nn.Module):
    """A layer with weights of 4 bits, 8 in a word, one scale for 32 of them."""

    def __init__(self, width, made):
        self.weight, self.scale = nn.Parameter((made, width // 8), "uint32"), nn.Parameter((made, width // 32), "float32")
        self.width, self.made = width, made

    def forward(self, x):
        def dequantize(words, scales):
            def at(i, k):
                bits = tirx.bitwise_and(tirx.shift_right(words[i, k // 8], (k % 8 * 4).astype("uint32")), tirx.const(15, "uint32"))
                return (bits.astype("float32") - tirx.const(7, "float32")) * scales[i, k // 32]
            return te.compute((self.made, self.width), at, name="dequantize")
        return op.matmul(x, op.permute_dims(te_tensor(dequantize, "dequantize", self.weight, self.scale)))


def turned(x, first):
    """Pairs of [batch, length, heads, width] turned by an angle that grows with the place; `first` is the place of the first."""
    width = x.shape[3]

    def compute(x, first=first):
        def at(b, n, h, d):
            angle = (n + first).astype("float32") * tirx.power(tirx.const(1e4, "float32"), -(d % (width // 2) * 2).astype("float32") / width)
            other = tirx.if_then_else(d < width // 2, -x[b, n, h, d + width // 2], x[b, n, h, d - width // 2])
            return tirx.cos(angle).astype(x.dtype) * x[b, n, h, d] + tirx.sin(angle).astype(x.dtype) * other
        return te.compute(x.shape, at, name="turned")
    return te_tensor(compute, "turned", *([x] if isinstance(first, int) else [x, first]))


class Llama(nn.Module):
    """One layer with heads in groups. With a cache, `total` words are known behind this call."""

    def __init__(self, width=64, count=4, groups=2, linear=None, cached=False):
        linear = linear or (lambda a, b: nn.Linear(a, b, bias=False))
        self.words, self.head = nn.Embedding(96, width), nn.Linear(width, 96, bias=False)
        self.norm1, self.norm2, self.norm3 = (nn.RMSNorm(width, -1, 1e-5, bias=False) for _ in range(3))
        self.count, self.groups, self.each = count, groups, width // count
        self.q, self.o = linear(width, width), linear(width, width)
        self.k, self.v = linear(width, groups * self.each), linear(width, groups * self.each)
        self.gate, self.up, self.down = linear(width, 128), linear(width, 128), linear(128, width)
        self.keys, self.values = (nn.KVCache(64, [groups, self.each]) for _ in range(2)) if cached else (None, None)

    def run(self, words, total):
        batch, length = words.shape
        x = self.words(words)
        y, first = self.norm1(x), total - length if self.keys else 0
        q = turned(op.reshape(self.q(y), (batch, length, self.count, self.each)), first)
        k = turned(op.reshape(self.k(y), (batch, length, self.groups, self.each)), first)
        v = op.reshape(self.v(y), (batch, length, self.groups, self.each))
        if self.keys:
            self.keys.append(op.squeeze(k, 0)), self.values.append(op.squeeze(v, 0))
            k, v = (op.reshape(cache.view(total), (batch, total, self.groups, self.each)) for cache in (self.keys, self.values))
        k, v = (op.repeat(t, self.count // self.groups, 2) for t in (k, v))
        q, k, v = (op.permute_dims(t, [0, 2, 1, 3]) for t in (q, k, v))
        weights = scores(q, k)
        weights = op.softmax(op.add(weights, self.mask(length, total, weights.dtype)), -1)
        x = op.add(x, self.o(joined(op.matmul(weights, v))))
        y = self.norm2(x)
        x = op.add(x, self.down(op.multiply(op.silu(self.gate(y)), self.up(y))))
        return self.head(self.norm3(x))

    def mask(self, length, total, dtype):
        def compute(*given):
            known = given[0] if given else total
            later = lambda a, b, i, j: tirx.Select(j > i + (known - length), tirx.const(-6e4, dtype), tirx.const(0, dtype))
            return te.compute((1, 1, length, known), later, name="mask")
        return te_tensor(compute, "mask", *([total] if self.keys else []))

    def forward(self, words):
        return self.run(words, words.shape[1])

    def step(self, words, total: tirx.Var):
        return self.run(words, total)


class Mixture(nn.Module):
    """Experts, of which each word takes two."""

    def __init__(self, width=16, experts=4, inner=32):
        self.gate, self.experts = nn.Linear(width, experts, bias=False), experts
        self.up, self.down = nn.Parameter((experts, inner, width), "float32"), nn.Parameter((experts, width, inner), "float32")

    def forward(self, x):
        weight, which = op.topk(op.softmax(self.gate(x), -1), 2, -1, "both")
        weight = op.divide(weight, op.sum(weight, -1, True))
        y = op.matmul(op.unsqueeze(x, 0), op.permute_dims(self.up, [0, 2, 1]))
        y = op.permute_dims(op.matmul(op.silu(y), op.permute_dims(self.down, [0, 2, 1])), [1, 0, 2])
        chosen = op.astype(apply(R.one_hot, which, number(1.0), number(0.0), self.experts), "float32")
        weight = op.sum(op.multiply(op.unsqueeze(weight, -1), chosen), 1)
        return op.sum(op.multiply(y, op.unsqueeze(weight, -1)), 1)


class Sampler(nn.Module):
    """The next word, by chance."""

    def __init__(self, width=16):
        self.head = nn.Linear(width, 24, bias=False)

    def forward(self, x, chance, row):
        likely = op.softmax(self.head(x), -1)
        order = apply(R.argsort, likely, axis=-1, descending=True, dtype="int32")
        total = op.cumsum(apply(R.sort, likely, axis=-1, descending=True), -1, dtype="float32")
        return op.multinomial_from_uniform(likely, chance, row, "int64"), total, order


def with_cache(module):
    """`main` reads five words into an empty cache and goes on by one: what a program does with the functions that nn writes."""
    builder, step = relax.BlockBuilder(module), module["step"]
    words, more = (relax.Var(name, relax.TensorType([1, length], "int32")) for name, length in (("words", 5), ("more", 1)))
    weights = [relax.Var(p.name, p.ty) for p in step.params[4:]]
    with builder.function("main", [words, more, *weights]):
        cache, results = builder.emit(relax.Call(module.get_global_var("_initialize_effect"), [])), []
        for given, total in ((words, 5), (more, 6)):
            parts = [builder.emit(relax.TupleGetItem(cache, i)) for i in range(2)]
            made = builder.emit(relax.Call(module.get_global_var("step"), [given, relax.ShapeExpr([total]), *parts, *weights]))
            results.append(builder.emit(relax.TupleGetItem(made, 0)))
            cache = builder.emit(relax.TupleGetItem(made, 1))
        builder.emit_func_output(relax.Tuple(results))
    return builder.get()


def llama_with_cache():
    return with_cache(Llama(cached=True).export_tvm({"step": {"words": Spec([1, "n"], "int32"), "total": int}})[0])


def half():
    module = Llama()
    module.to("float16")
    return exported(module, words=words())


def words(length=8, batch=1):
    return (batch, length), "int32"


def floats(*shape):
    return shape, "float32"


def four_bits(width, made):
    return Quantised(width, made)


PAST = {f"{kind}{layer}": floats(1, 4, "n", 8) for layer in range(2) for kind in "kv"}
MODELS = {
    "mlp": lambda: exported(Perceptron(), x=floats(1, 784)),
    "mlp-symbolic": lambda: exported(Perceptron(), x=floats("n", 784)),
    "bert": lambda: exported(Bert(), words=words(), kinds=words(), mask=words()),
    "bert-symbolic": lambda: exported(Bert(), words=words("n", "b"), kinds=words("n", "b"), mask=words("n", "b")),
    "gpt-2": lambda: exported(GPT2(), words=words()),
    "gpt-2-symbolic": lambda: exported(GPT2(), words=words("n")),
    "gpt-2-step": lambda: exported(GPT2Step(), words=words(1), place=((1,), "int32"), **PAST),
    "t5": lambda: exported(T5(), x=floats(1, 5, 32), other=floats(1, 7, 32)),
    "t5-symbolic": lambda: exported(T5(), x=floats(1, "n", 32), other=floats(1, "m", 32)),
    "lstm": lambda: exported(LSTM(), x=floats(4, 2, 8)),
    "llama": lambda: exported(Llama(), words=words()),
    "llama-symbolic": lambda: exported(Llama(), words=words("n")),
    "llama-half": half,
    "llama-4-bit": lambda: exported(Llama(linear=four_bits), words=words()),
    "llama-4-bit-symbolic": lambda: exported(Llama(linear=four_bits), words=words("n")),
    "llama-cache": llama_with_cache,
    "mixture": lambda: exported(Mixture(), x=floats(6, 16)),
    "mixture-symbolic": lambda: exported(Mixture(), x=floats("n", 16)),
    "sampler": lambda: exported(Sampler(), x=floats(3, 16), chance=floats(3, 1), row=((3, 1), "int64")),
}
