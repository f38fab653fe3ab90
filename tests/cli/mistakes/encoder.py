"""An encoder written in TVMScript of TVM 0.22."""
import numpy as np
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tir as T

DIM, HEADS, SEQ = 64, 4, 16
HEAD_DIM = DIM // HEADS


def make_params(seed=0):
    rng = np.random.default_rng(seed)
    names = ["wq", "wk", "wv", "wo"]
    return {name: rng.standard_normal((DIM, DIM)).astype("float32") for name in names}


@I.ir_module
class Encoder:
    I.module_attrs({"system_lib_prefix": "enc_"})

    @T.prim_func(private=True)
    def layer_norm(x: T.Buffer((SEQ, DIM), "float32"), gamma: T.Buffer((DIM,), "float32"), out: T.Buffer((SEQ, DIM), "float32")):
        T.func_attr({"tir.noalias": T.bool(True), "op_pattern": 4})
        mean = T.alloc_buffer((SEQ,), "float32")
        var = T.alloc_buffer((SEQ,), "float32")
        for i, k in T.grid(SEQ, DIM):
            with T.block("mean"):
                vi = T.axis.spatial(SEQ, i)
                vk = T.axis.reduce(DIM, k)
                T.reads(x[vi, vk])
                T.writes(mean[vi])
                with T.init():
                    mean[vi] = T.float32(0)
                mean[vi] = mean[vi] + x[vi, vk] / T.float32(DIM)
        for i, k in T.grid(SEQ, DIM):
            with T.block("var"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    var[vi] = T.float32(0)
                var[vi] = var[vi] + (x[vi, vk] - mean[vi]) * (x[vi, vk] - mean[vi]) / T.float32(DIM)
        for i, k in T.grid(SEQ, DIM):
            with T.block("norm"):
                vi, vk = T.axis.remap("SS", [i, k])
                out[vi, vk] = (x[vi, vk] - mean[vi]) * T.rsqrt(var[vi] + T.float32(1e-5)) * gamma[vk]

    @T.prim_func(private=True)
    def shift(var_a: T.handle, var_b: T.handle, amount: T.int64):
        m = T.int64()
        A = T.match_buffer(var_a, (m, DIM), "float32")
        B = T.match_buffer(var_b, (m, DIM), "float32")
        for i, j in T.grid(m, DIM):
            with T.block("shift"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = T.if_then_else(vi >= amount, A[vi - amount, vj], T.float32(0), dtype="float32")

    @R.function(private=True)
    def attention(q: R.Tensor((1, SEQ, HEADS, HEAD_DIM), "float32"), k: R.Tensor((1, SEQ, HEADS, HEAD_DIM), "float32"), v: R.Tensor((1, SEQ, HEADS, HEAD_DIM), "float32")) -> R.Tensor((SEQ, DIM), "float32"):
        with R.dataflow():
            attended = R.nn.attention(q, k, v, scale=0.25, causal_mask=None)
            flat = R.reshape(attended, R.shape([SEQ, DIM]))
            R.output(flat)
        return flat

    @R.function
    def main(tokens: R.Tensor((SEQ,), "int32"), table: R.Tensor((100, DIM), "float32"), gamma: R.Tensor((DIM,), "float32"), wqkv: R.Tensor((DIM, 3 * DIM), "float32"), bias: R.Tensor((3 * DIM,), "float32")) -> R.Tensor((SEQ, DIM), "float32"):
        R.func_attr({"num_input": 1})
        cls = Encoder
        with R.dataflow():
            x = R.take(table, tokens, axis=0)
            normed = R.call_tir(cls.layer_norm, (x, gamma), out_sinfo=R.Tensor((SEQ, DIM), "float32"))
            qkv = R.add(R.matmul(normed, wqkv), bias)
            split = R.split(qkv, 3, axis=1)
            q = R.reshape(split[0], (1, SEQ, HEADS, HEAD_DIM))
            k = R.reshape(split[1], (1, SEQ, HEADS, HEAD_DIM))
            v = R.reshape(split[2], (1, SEQ, HEADS, HEAD_DIM))
            context: R.Tensor((SEQ, DIM), "float32") = cls.attention(q, k, v)
            residual = R.add(context, x)
            R.output(residual)
        return residual

    @R.function
    def classify(hidden: R.Tensor(("n", DIM), "float32"), weight: R.Tensor((DIM, 10), "float32"), labels: R.Tensor(("n",), "int64"), training: R.Tensor((), "bool")):
        n = T.int64()
        shifted = R.call_tir(Encoder.shift, (hidden,), out_sinfo=R.Tensor((n, DIM), "float32"), tir_vars=R.shape([1]))
        logits = R.matmul(shifted, weight)
        if training:
            log_probs = R.nn.log_softmax(logits, axis=-1)
            score = R.nn.nll_loss(log_probs, labels, reduction="mean")
        else:
            picked = R.argmax(logits, axis=-1)
            same = R.equal(picked, labels)
            score = R.mean(R.astype(same, "float32"))
        result = (logits, score)
        return result

    @R.function(pure=False)
    def report(value: R.Tensor((), "float32"), sizes: R.Shape(["a", "b"])) -> R.Tuple(R.Object, R.Shape(ndim=2)):
        a = T.int64()
        b = T.int64()
        _ = R.print(value, format="value {}")
        made = R.call_packed("vm.builtin.alloc_shape_heap", R.prim_value(a * b), sinfo_args=(R.Object(),))
        flipped: R.Shape(ndim=2) = R.shape([b, a])
        return (made, flipped)


def build(target="llvm", opt_level=3):
    with tvm.transform.PassContext(opt_level=opt_level):
        executable = relax.build(Encoder, target)
    return executable


def run(executable, params):
    device = tvm.cpu(0)
    machine = relax.VirtualMachine(executable, device)
    inputs = [tvm.nd.array(params[name], device) for name in sorted(params)]
    return machine["main"](*inputs)
