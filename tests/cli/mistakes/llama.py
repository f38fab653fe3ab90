"""Parts of a language model in Relax, with the kernels they call."""
import tvm
from tvm import relax, tir
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tir as T

HIDDEN = 256
VOCAB = 1000
EPS = 1e-5


@I.ir_module
class Llama:
    I.module_attrs({"external_mods": []})
    I.module_global_infos({"vdevice": [I.vdevice("llvm")]})

    @T.prim_func(private=True)
    def rms_norm(var_x: T.handle, w: T.Buffer((T.int64(HIDDEN),), "float16"), var_y: T.handle):
        T.func_attr({"op_pattern": 4, "tir.noalias": T.bool(True)})
        n = T.int64()
        x = T.match_buffer(var_x, (n, T.int64(HIDDEN)), "float16")
        y = T.match_buffer(var_y, (n, T.int64(HIDDEN)), "float16")
        total = T.alloc_buffer((n,), "float32")
        for i, k in T.grid(n, T.int64(HIDDEN)):
            with T.block("sum"):
                vi, vk = T.axis.remap("SR", [i, k])
                with T.init():
                    total[vi] = T.float32(0)
                total[vi] = total[vi] + T.Cast("float32", x[vi, vk]) * T.Cast("float32", x[vi, vk])
        for i, j in T.grid(n, T.int64(HIDDEN)):
            with T.block("scale"):
                vi, vj = T.axis.remap("SS", [i, j])
                y[vi, vj] = T.Cast("float16", T.Cast("float32", x[vi, vj]) * T.rsqrt(total[vi] / T.float32(HIDDEN) + T.float32(EPS))) * w[vj]

    @T.prim_func(private=True)
    def take(var_table: T.handle, var_ids: T.handle, var_out: T.handle):
        T.func_attr({"tir.noalias": True})
        seq = T.int64()
        table = T.match_buffer(var_table, (VOCAB, HIDDEN), "float16")
        ids = T.match_buffer(var_ids, (seq,), "int32")
        out = T.match_buffer(var_out, (seq, HIDDEN), "float16")
        for ax0, ax1 in T.grid(seq, HIDDEN):
            with T.block("take"):
                v0, v1 = T.axis.remap("SS", [ax0, ax1])
                out[v0, v1] = table[ids[v0], v1]

    @R.function
    def embed(ids: R.Tensor(("seq",), dtype="int32"), table: R.Tensor((VOCAB, HIDDEN), dtype="float16")) -> R.Tensor(("seq", HIDDEN), dtype="float16"):
        seq = T.int64()
        R.func_attr({"num_input": 1})
        cls = Llama
        with R.dataflow():
            out = R.call_tir(cls.take, (table, ids), out_sinfo=R.Tensor((seq, HIDDEN), dtype="float16"))
            R.output(out)
        return out

    @R.function
    def prefill(
        x: R.Tensor(("seq", HIDDEN), dtype="float16"),
        mask: R.Tensor((1, 1, "seq", "seq"), dtype="float16"),
        params: R.Tuple(R.Tensor((HIDDEN,), "float16"), R.Tensor((HIDDEN, 3 * HIDDEN), "float16"), R.Tensor((HIDDEN, HIDDEN), "float16")),
    ):
        seq = T.int64()
        cls = Llama
        with R.dataflow():
            norm_weight: R.Tensor((HIDDEN,), dtype="float16") = params[0]
            qkv_weight = params[1]
            o_weight = params[2]
            normed = R.call_tir(cls.rms_norm, (x, norm_weight), out_sinfo=R.Tensor((seq, HIDDEN), dtype="float16"))
            qkv = R.matmul(normed, qkv_weight, out_dtype="void")
            parts = R.split(qkv, indices_or_sections=3, axis=-1)
            q = R.reshape(parts[0], R.shape([1, seq, 4, 64]))
            k = R.reshape(parts[1], R.shape([1, seq, 4, 64]))
            v = R.reshape(parts[2], R.shape([1, seq, 4, 64]))
            q_t = R.permute_dims(q, axes=[0, 2, 1, 3])
            k_t = R.permute_dims(k, axes=[0, 2, 3, 1])
            v_t = R.permute_dims(v, axes=[0, 2, 1, 3])
            scores = R.matmul(q_t, k_t)
            scaled = R.multiply(scores, R.const(0.125, "float16"))
            masked = R.minimum(R.maximum(scaled, R.const(-65504.0, "float16")), mask)
            probs = R.astype(R.nn.softmax(R.astype(masked, dtype="float32"), axis=-1), dtype="float16")
            context = R.matmul(probs, v_t)
            merged = R.reshape(R.permute_dims(context, axes=[0, 2, 1, 3]), R.shape([seq, HIDDEN]))
            hidden = R.add(x, R.matmul(merged, o_weight))
            R.output(hidden)
        return hidden

    @R.function(pure=False)
    def sample(logits: R.Tensor((1, VOCAB), dtype="float32"), cache: R.Object):
        R.func_attr({"relax.force_pure": False})
        probs = R.nn.softmax(logits)
        best: R.Tensor((1,), dtype="int64") = R.argmax(probs, axis=1)
        token = R.call_packed("vm.builtin.sample_top_p", probs, R.prim_value(0.9), sinfo_args=(R.Tensor((1,), dtype="int64"),))
        _ = R.call_packed("vm.builtin.cache_popn", cache, R.prim_value(1), sinfo_args=(R.Object,))
        both = R.concat((best, token), axis=0)
        sure = R.match_cast(both, R.Tensor((2,), "int64"))
        return sure


def create_metadata(max_batch_size: int):
    sizes = [Llama, max_batch_size]
    return {"model": sizes[0], "batch": sizes[1]}
