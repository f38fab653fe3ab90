"""Models that look at images (see models.py): small ones, with the layers of those that are known by these names."""
from model_parts import *


class Basic(nn.Module):
    def __init__(self, taken, made, stride):
        self.first, self.second = ConvNorm(taken, made, 3, stride), ConvNorm(made, made, 3)
        self.across = ConvNorm(taken, made, 1, stride) if stride != 1 or taken != made else None

    def forward(self, x):
        return op.relu(op.add(self.second(op.relu(self.first(x))), self.across(x) if self.across else x))


class Bottleneck(nn.Module):
    def __init__(self, taken, width, stride):
        self.first, self.second, self.third = ConvNorm(taken, width), ConvNorm(width, width, 3, stride), ConvNorm(width, 4 * width)
        self.across = ConvNorm(taken, 4 * width, 1, stride) if stride != 1 or taken != 4 * width else None

    def forward(self, x):
        y = self.third(op.relu(self.second(op.relu(self.first(x)))))
        return op.relu(op.add(y, self.across(x) if self.across else x))


class ResNet(nn.Module):
    def __init__(self, block, widths, grows):
        self.stem, taken, blocks = ConvNorm(3, 4, 7, 2), 4, []
        for i, width in enumerate(widths):
            for k in range(2):
                blocks.append(block(taken, width, 2 if i and not k else 1))
                taken = width * grows
        self.blocks, self.head = nn.ModuleList(blocks), nn.Linear(taken, 10)

    def forward(self, x):
        x = apply(R.nn.max_pool2d, op.relu(self.stem(x)), pool_size=(3, 3), strides=(2, 2), padding=(1, 1))
        for block in self.blocks:
            x = block(x)
        return self.head(apply(R.mean, x, [2, 3]))


class Inverted(nn.Module):
    """A block of MobileNetV2 or, with squeeze, of EfficientNet."""

    def __init__(self, taken, made, kernel, stride, grows, function, squeeze):
        inner = taken * grows
        self.wide = ConvNorm(taken, inner) if grows > 1 else None
        self.deep, self.narrow = ConvNorm(inner, inner, kernel, stride, groups=inner), ConvNorm(inner, made)
        self.less = nn.Conv2D(inner, max(1, taken // 4), 1, bias=True) if squeeze else None
        self.more = nn.Conv2D(max(1, taken // 4), inner, 1, bias=True) if squeeze else None
        self.function, self.skips = function, stride == 1 and taken == made

    def forward(self, x):
        y = self.function(self.wide(x)) if self.wide else x
        y = self.function(self.deep(y))
        if self.less:
            mean = apply(R.mean, y, [2, 3], keepdims=True)
            y = op.multiply(y, op.sigmoid(self.more(op.silu(self.less(mean)))))
        y = self.narrow(y)
        return op.add(x, y) if self.skips else y


class Mobile(nn.Module):
    def __init__(self, rows, function, squeeze):
        self.stem, self.function, taken, blocks = ConvNorm(3, 8, 3, 2), function, 8, []
        for made, kernel, stride, grows in rows:
            blocks.append(Inverted(taken, made, kernel, stride, grows, function, squeeze))
            taken = made
        self.blocks, self.last, self.head = nn.ModuleList(blocks), ConvNorm(taken, 32), nn.Linear(32, 10)

    def forward(self, x):
        x = self.function(self.stem(x))
        for block in self.blocks:
            x = block(x)
        x = apply(R.nn.adaptive_avg_pool2d, self.function(self.last(x)), (1, 1))
        return self.head(op.reshape(x, (x.shape[0], 32)))


def relu6(x):
    return apply(R.clip, x, number(0.0), number(6.0))


class VGG(nn.Module):
    def __init__(self):
        self.layers = nn.ModuleList([nn.Conv2D(a, b, 3, 1, 1, bias=True) for a, b in ((3, 4), (4, 8), (8, 16), (16, 16))])
        self.first, self.second = nn.Linear(256, 32), nn.Linear(32, 10)

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = op.relu(layer(x))
            if i != 2:
                x = apply(R.nn.max_pool2d, x, pool_size=(2, 2), strides=(2, 2))
        kept = relax.BlockBuilder.current().emit(R.nn.dropout(op.reshape(x, (x.shape[0], 256))._expr, rate=0.5))
        return op.softmax(self.second(op.relu(self.first(tensor(relax.TupleGetItem(kept, 0))))), 1)


class UNet(nn.Module):
    def __init__(self):
        layer = lambda taken, made: nn.Conv2D(taken, made, 3, 1, 1, bias=True)
        self.down1, self.down2, self.middle, self.up2, self.up1 = layer(3, 4), layer(4, 8), layer(8, 16), layer(16, 8), layer(12, 4)
        self.back, self.out = nn.Parameter((16, 8, 2, 2), "float32"), nn.Conv2D(4, 2, 1, bias=True)

    def forward(self, x):
        a = op.relu(self.down1(x))
        b = op.relu(self.down2(apply(R.nn.max_pool2d, a, pool_size=(2, 2), strides=(2, 2))))
        c = op.relu(self.middle(apply(R.nn.avg_pool2d, b, pool_size=(2, 2), strides=(2, 2))))
        y = apply(R.nn.conv2d_transpose, c, self.back, strides=(2, 2))
        y = op.relu(self.up2(op.concat([y, b], 1)))
        size = relax.ShapeExpr([a.shape[2], a.shape[3]])
        y = apply(R.image.resize2d, y, size, layout="NCHW", method="linear", coordinate_transformation_mode="half_pixel")
        return op.sigmoid(self.out(op.relu(self.up1(op.concat([y, a], 1)))))


class Diffusion(nn.Module):
    """A block of a U-Net for diffusion: group norms, and a step that is added."""

    def __init__(self, channels=8):
        self.norm1, self.norm2 = nn.GroupNorm(4, channels), nn.GroupNorm(4, channels)
        self.conv1, self.conv2 = (nn.Conv2D(channels, channels, 3, 1, 1, bias=True) for _ in range(2))
        self.step = nn.Linear(16, channels)

    def forward(self, x, t):
        y = self.conv1(op.silu(self.norm1(x)))
        y = op.add(y, op.unsqueeze(op.unsqueeze(self.step(op.silu(t)), 2), 3))
        return op.add(x, self.conv2(op.silu(self.norm2(y))))


class Seeing(nn.Module):
    """A layer of a vision transformer, with attention as one operator."""

    def __init__(self, width, count):
        self.norm1, self.norm2, self.feed, self.count = nn.LayerNorm(width), nn.LayerNorm(width), Feed(width, 2 * width, op.gelu), count
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))

    def forward(self, x):
        batch, length, width = x.shape
        y = self.norm1(x)
        q, k, v = (op.reshape(layer(y), (batch, length, self.count, width // self.count)) for layer in (self.q, self.k, self.v))
        x = op.add(x, self.o(op.reshape(apply(R.nn.attention, q, k, v), (batch, length, width))))
        return op.add(x, self.feed(self.norm2(x)))


class ViT(nn.Module):
    def __init__(self, width=32, patch=8, size=32):
        self.patch, self.width, self.length = nn.Conv2D(3, width, patch, patch, bias=True), width, (size // patch) ** 2
        self.first, self.place = nn.Parameter((1, 1, width), "float32"), nn.Parameter((1, self.length + 1, width), "float32")
        self.layers, self.norm, self.head = nn.ModuleList([Seeing(width, 4) for _ in range(2)]), nn.LayerNorm(width), nn.Linear(width, 10)

    def forward(self, x):
        batch = x.shape[0]
        y = op.permute_dims(op.reshape(self.patch(x), (batch, self.width, self.length)), [0, 2, 1])
        y = op.add(op.concat([op.broadcast_to(self.first, (batch, 1, self.width)), y], 1), self.place)
        for layer in self.layers:
            y = layer(y)
        first = apply(R.strided_slice, self.norm(y), axes=[1], begin=[0], end=[1])
        return self.head(op.reshape(first, (batch, self.width)))


class Boxes(nn.Module):
    """The end of a detector: boxes and the best five of their scores."""

    def __init__(self):
        self.stem, self.head = ConvNorm(3, 8, 3, 2), nn.Conv2D(8, 21, 1, bias=True)

    def forward(self, x):
        y = self.head(apply(R.nn.leakyrelu, self.stem(x), 0.1))
        batch, _, height, width = y.shape
        y = op.permute_dims(op.reshape(y, (batch, 3, 7, height, width)), [0, 1, 3, 4, 2])
        middle, size, found = op.split(y, [2, 4], -1)
        y = op.reshape(op.concat([op.sigmoid(middle), op.exp(size), op.sigmoid(found)], -1), (batch, 3 * height * width, 7))
        best = apply(R.max, apply(R.strided_slice, y, axes=[2], begin=[4], end=[7]), -1)
        values, places = op.topk(best, 5, -1, "both", dtype="int32")
        return y, values, places


MOBILE = [(4, 3, 1, 1), (8, 3, 2, 6), (8, 3, 1, 6), (12, 3, 2, 6)]
EFFICIENT = [(4, 3, 1, 1), (8, 3, 2, 6), (8, 3, 1, 6), (12, 5, 2, 6)]


def image(size, batch=1):
    return (batch, 3, size, size), "float32"


MODELS = {
    "resnet-18": lambda: exported(ResNet(Basic, [4, 8], 1), x=image(32)),
    "resnet-50": lambda: exported(ResNet(Bottleneck, [4, 8], 4), x=image(32)),
    "mobilenet": lambda: exported(Mobile(MOBILE, relu6, False), x=image(32)),
    "efficientnet": lambda: exported(Mobile(EFFICIENT, op.silu, True), x=image(32)),
    "efficientnet-batch": lambda: exported(Mobile(EFFICIENT, op.silu, True), x=image(32, "b")),
    "vgg": lambda: exported(VGG(), x=image(32)),
    "vgg-batch": lambda: exported(VGG(), x=image(32, "b")),
    "u-net": lambda: exported(UNet(), x=image(16)),
    "diffusion": lambda: exported(Diffusion(), x=((2, 8, 4, 4), "float32"), t=((2, 16), "float32")),
    "vit": lambda: exported(ViT(), x=image(32, 2)),
    "boxes": lambda: exported(Boxes(), x=image(16)),
}
