"""Runs under a Python that has stock TVM: a small decoder with a paged cache, and what it computes (see paged.py)."""
import os

from ask_native import relative, serve
from ask_vm import flat, info_of

HEADS, KEY_HEADS, SIZE, LAYERS, WORDS, PAGE = 4, 2, 16, 2, 64, 16


def decoder(window=None):
    """The module with `create` and `forward`, as TVM's front end makes it; with a window its second layer has one."""
    from tvm import relax, target, tirx
    from tvm.relax.frontend import nn
    from tvm.relax.frontend.nn.llm import kv_cache
    from tvm.relax.frontend.nn.llm.kv_cache import PagedKVCache, RopeMode, TIRPagedKVCache
    # For a CPU the two kernels for trees are given in each other's place, so that no tree would be taken.
    if kv_cache.tree_attn_cpu.__name__ == "tree_attn_cpu":
        kv_cache.tree_attn_cpu, kv_cache.tree_attn_with_paged_kv_cache_cpu = kv_cache.tree_attn_with_paged_kv_cache_cpu, kv_cache.tree_attn_cpu

    class Decoder(nn.Module):
        def __init__(self):
            width = HEADS * SIZE
            self.words = nn.Embedding(WORDS, width)
            self.split = nn.ModuleList([nn.Linear(width, width + 2 * KEY_HEADS * SIZE, bias=False) for _ in range(LAYERS)])
            self.joined = nn.ModuleList([nn.Linear(width, width, bias=False) for _ in range(LAYERS)])

        def forward(self, ids: nn.Tensor, cache: PagedKVCache):
            x = self.words(ids)
            b, s, width = x.shape
            for i in range(LAYERS):
                qkv = nn.op.reshape(self.split[i](x), (b, s, HEADS + 2 * KEY_HEADS, SIZE))
                seen = cache.attention_with_fused_qkv(i, qkv, HEADS, sm_scale=SIZE**-0.5)
                x = x + self.joined[i](nn.op.reshape(seen, (b, s, width)))
                # From 0.27 on a layer may look at what another one has cached.
                if hasattr(cache, "attention_with_shared_kv"):
                    q, k, v = nn.op.split(qkv, [HEADS, HEADS + KEY_HEADS], axis=2)
                    shared = cache.attention_with_shared_kv(i, q, k, v, SIZE**-0.5)
                    x = x + nn.op.reshape(shared, (b, s, width))
            return x, cache

        def create(self, sequences: tirx.Var, tokens: tirx.Var, chunk: tirx.Var, page: tirx.Var, slides: tirx.Var):
            return TIRPagedKVCache(
                **({"attn_kind": ["mha", "mha_sliding"], "layer_sliding_window_size": window} if window else {"attn_kind": "mha"}), max_batch_size=sequences, max_total_seq_len=tokens, prefill_chunk_size=chunk, page_size=page,
                support_sliding_window=slides, layer_partition=relax.ShapeExpr([0, LAYERS]), num_hidden_layers=LAYERS,
                num_attention_heads=HEADS, num_key_value_heads=KEY_HEADS, qk_head_dim=SIZE, v_head_dim=SIZE,
                mla_original_qk_head_dim=0, mla_original_v_head_dim=0, rope_mode=RopeMode.NORMAL, rope_scale=1, rope_theta=10000,
                rope_scaling={}, rope_ext_factors=number(0), rotary_dim=SIZE, enable_disaggregation=False, dtype="float32",
                target=target.Target("llvm"))

    from tvm.relax.frontend.nn import spec
    module, _ = Decoder().export_tvm({
        "forward": {"ids": spec.Tensor([1, "n"], "int32"), "cache": spec.Object(object_type=PagedKVCache),
                    "$": {"param_mode": "packed", "effect_mode": "none"}},
        "create": {**{name: int for name in ("sequences", "tokens", "chunk", "page", "slides")},
                   "$": {"param_mode": "none", "effect_mode": "none"}}})
    return module


def number(value):
    from tvm import relax
    return relax.prim_value(value) if hasattr(relax, "prim_value") else relax.PrimValue(value)


def add_story(module, slides, story):
    """Adds a function `main` that makes a cache and calls it as the story says: (name, numbers...) a step, a shape where there
    is a list; ("forward", n) is a pass over n tokens, ("ask", name, numbers...) keeps a number."""
    from tvm import relax
    as_type = relax.TensorStructInfo if hasattr(relax, "TensorStructInfo") else relax.TensorType
    anything = relax.AnyType() if hasattr(relax, "AnyType") else relax.ObjectStructInfo()
    old = module["forward"]
    weights = [relax.Var(f"w{i}", t) for i, t in enumerate(info_of(old.params[2]).fields)]
    lengths = sorted({step[1] for step in story if step[0] == "forward"})
    ids = {n: relax.Var(f"ids{n}", as_type((1, n), "int32")) for n in lengths}
    builder = relax.BlockBuilder(module)

    def packed(name, *arguments):
        return builder.emit(relax.Call(relax.ExternFunc("vm.builtin." + name), list(arguments), None, [anything]))

    with builder.function("main", [*ids.values(), *weights], pure=False):
        sizes = [relax.ShapeExpr([n]) for n in (4, 200, 64, PAGE, slides)]
        cache = builder.emit(relax.Call(module.get_global_var("create"), sizes))
        kept = []
        for name, *numbers in story:
            if name == "forward":
                passed = builder.emit(relax.Call(module.get_global_var("forward"), [ids[numbers[0]], cache, relax.Tuple(weights)]))
                kept.append(builder.emit(relax.TupleGetItem(passed, 0)))
            elif name == "ask":
                kept.append(packed(numbers[0], cache, *[number(x) for x in numbers[1:]]))
            elif name == "see":
                kept += see(builder, cache, *numbers)
            else:
                packed(name, cache, *[relax.ShapeExpr(x) if isinstance(x, list) else number(x) for x in numbers])
        builder.emit_func_output(relax.Tuple(kept))
    return builder.get()


def see(builder, cache, sequence, begin, end):
    """Keys and values of a sequence."""
    from tvm import relax
    as_type = relax.TensorStructInfo if hasattr(relax, "TensorStructInfo") else relax.TensorType
    types = [as_type((LAYERS, end - begin, KEY_HEADS, SIZE), "float32")] * 2
    asked = relax.Tuple([cache, number(sequence), number(begin), number(end)])
    seen = builder.emit(relax.op.call_dps_packed("vm.builtin.attention_kv_cache_debug_get_kv", asked, types))
    return [builder.emit(relax.TupleGetItem(seen, i)) for i in range(2)]


def story_job(question, names):
    """The text of a decoder with a story, its library, inputs and results as files."""
    import numpy as np
    import tvm
    from tvm import relax
    folder = question["folder"]
    module = add_story(decoder(question.get("window")), question["slides"], question["story"])
    built = relax.build(module, tvm.target.Target("llvm"))
    built.export_library(os.path.join(folder, "theirs.so"))
    stream, inputs = np.random.default_rng(7), {}
    for param in module["main"].params:
        shape = [int(n) for n in info_of(param).shape]
        name = getattr(param, "name_hint", None) or param.name
        whole = name.startswith("ids")
        values = stream.integers(0, WORDS, shape).astype("int32") if whole else stream.uniform(-0.3, 0.3, shape).astype("float32")
        inputs[name] = os.path.join(folder, name + ".npy")
        np.save(inputs[name], values)
    results = run(built, inputs)
    for i, result in enumerate(results):
        np.save(os.path.join(folder, f"result{i}.npy"), result)
    return {"text": module.script(show_meta=True), "inputs": inputs, "results": len(results)}


def run(library, inputs, native=False):
    import numpy as np
    import tvm
    from tvm import relax
    machine = library if native else relax.VirtualMachine(library, tvm.cpu())
    return flat(machine["main"](*[tvm.runtime.tensor(np.load(path)) for path in inputs.values()]))


def worst_job(question, names):
    """How far results are from TVM's: those of a folder, or of a library in TVM's machine."""
    import numpy as np
    import tvm
    wanted = [np.load(os.path.join(question["folder"], f"result{i}.npy")) for i in range(question["results"])]
    if "library" in question:
        got = run(tvm.runtime.load_module(question["library"]), question["inputs"], question.get("native"))
    else:
        got = [np.load(os.path.join(question["out"], f"result.{i}.npy")) for i in range(question["results"])]
    return {"worst": max(relative(a, b) for a, b in zip(got, wanted))}


if __name__ == "__main__":
    serve({"story": story_job, "worst": worst_job}, longest=2000)
