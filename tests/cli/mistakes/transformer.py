from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

HIDDEN, HEADS, VOCAB = 64, 4, 100
HEAD_DIM = HIDDEN // HEADS


@I.ir_module
class Decoder:
    @R.function
    def embed(ids: R.Tensor(("b", "s"), "int32"), table: R.Tensor((VOCAB, HIDDEN), "float16")) -> R.Tensor(("b", "s", HIDDEN), "float16"):
        b = T.int64()
        s = T.int64()
        with R.dataflow():
            flat = R.reshape(ids, (b * s,))
            rows = R.take(table, flat, axis=0)
            out = R.reshape(rows, (b, s, HIDDEN))
            R.output(out)
        return out

    @R.function(private=True)
    def attention(x: R.Tensor(("b", "s", HIDDEN), "float16"), wqkv: R.Tensor((HIDDEN, 3 * HIDDEN), "float16"), wo: R.Tensor((HIDDEN, HIDDEN), "float16"), mask: R.Tensor(("b", 1, "s", "s"), "float16")) -> R.Tensor(("b", "s", HIDDEN), "float16"):
        b, s = T.int64(), T.int64()
        with R.dataflow():
            qkv = R.matmul(x, wqkv)
            parts = R.split(qkv, indices_or_sections=3, axis=-1)
            q = R.permute_dims(R.reshape(parts[0], (b, s, HEADS, HEAD_DIM)), axes=[0, 2, 1, 3])
            k = R.permute_dims(R.reshape(parts[1], (b, s, HEADS, HEAD_DIM)), axes=[0, 2, 3, 1])
            v = R.permute_dims(R.reshape(parts[2], (b, s, HEADS, HEAD_DIM)), axes=[0, 2, 1, 3])
            logits = R.divide(R.matmul(q, k), R.const(4.0, "float16"))
            masked = R.add(logits, mask)
            probs = R.nn.softmax(masked, axis=-1)
            mixed = R.matmul(probs, v)
            merged = R.reshape(R.permute_dims(mixed, axes=[0, 2, 1, 3]), (b, s, HIDDEN))
            out = R.matmul(merged, wo)
            R.output(out)
        return out

    @R.function
    def layer(x: R.Tensor(("b", "s", HIDDEN), "float16"), wqkv: R.Tensor((HIDDEN, 3 * HIDDEN), "float16"), wo: R.Tensor((HIDDEN, HIDDEN), "float16"), norm: R.Tensor((HIDDEN,), "float16"), gate: R.Tensor((HIDDEN, 4 * HIDDEN), "float16"), down: R.Tensor((4 * HIDDEN, HIDDEN), "float16"), mask: R.Tensor(("b", 1, "s", "s"), "float16")) -> R.Tuple(R.Tensor(("b", "s", HIDDEN), "float16"), R.Tensor(("b", HIDDEN), "float32")):
        R.func_attr({"num_input": 1})
        cls = Decoder
        normed = R.nn.rms_norm(x, norm, axes=[-1], epsilon=1e-5)
        mixed = cls.attention(normed, wqkv, wo, mask)
        residual = R.add(x, mixed)
        with R.dataflow():
            hidden = R.nn.silu(R.matmul(R.nn.layer_norm(residual, norm, norm, axes=[-1]), gate))
            out = R.add(residual, R.matmul(hidden, down))
            last = R.max(R.astype(out, "float32"), axis=1)
            padded = R.nn.pad(last, pad_width=[0, 0, 1, 1], pad_value=0.0)
            trimmed = R.strided_slice(padded, axes=[1], begin=[1], end=[HIDDEN + 1])
            R.output(out, trimmed)
        result = (out, trimmed)
        return result

    @R.function
    def classify(image: R.Tensor((1, 3, 32, 32), "float32"), kernel: R.Tensor((8, 3, 3, 3), "float32"), scale: R.Tensor((8,), "float32"), fc: R.Tensor((8, 10), "float32")) -> R.Tensor((1, 10), "float32"):
        with R.dataflow():
            conv = R.nn.conv2d(image, kernel, strides=[2, 2], padding=[1, 1, 1, 1], data_layout="NCHW", kernel_layout="OIHW")
            normal = R.nn.batch_norm(conv, scale, scale, scale, scale, axis=1)
            act = R.nn.relu(normal[0])
            pool = R.nn.avg_pool2d(act, pool_size=[16, 16])
            flat = R.flatten(R.squeeze(pool, axis=[0, 2, 3]))
            row = R.expand_dims(flat, axis=0)
            out = R.matmul(row, fc)
            R.output(out)
        return out
