#!/usr/bin/env python3
"""The cache of attention with pages in libraries: results and errors are those of the interpreter, and programs in C keep one between calls."""
import ctypes, json, math, os, re, shutil, subprocess, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import npy
from allocations import COUNTER
from cases import InFolder, main, source, tvms
from library import Any, Library, Object, RT, line_of

GOLDEN = source("tests", "golden", "run")

# A cache of one function, and what is done with it, one function each.
STEPS = """    @R.function(pure=False)
    def create() -> R.Any:
        cls = Module
        {create}
        return cache

    @R.function(pure=False)
    def add(cache: R.Any, id: R.Prim("int64")):
        return R.call_packed("vm.builtin.kv_state_add_sequence", cache, id, ty_args=(R.Tuple,))

    @R.function(pure=False)
    def fork(cache: R.Any, id: R.Prim("int64"), child: R.Prim("int64")):
        return R.call_packed("vm.builtin.kv_state_fork_sequence", cache, id, child, ty_args=(R.Tuple,))

    @R.function(pure=False)
    def step(cache: R.Any, ids: R.Shape(["a"]), x: R.Tensor((1, 4, 2), "float32")) -> R.Tensor((1, 2, 2), "float32"):
        a = T.int64()
        _ = R.call_packed("vm.builtin.kv_state_begin_forward", cache, ids, R.shape([1]), ty_args=(R.Tuple,))
        y = R.call_dps_packed("vm.builtin.attention_kv_cache_attention_with_fused_qkv", (cache, R.prim_value(0), R.prim_value(T.float64(0.25)), x), out_ty=R.Tensor((1, 2, 2), "float32"))
        _1 = R.call_packed("vm.builtin.kv_state_end_forward", cache, ty_args=(R.Tuple,))
        return y

    @R.function(pure=False)
    def length(cache: R.Any, id: R.Prim("int64")) -> R.Prim("int64"):
        n: R.Prim("int64") = R.call_packed("vm.builtin.attention_kv_cache_get_sequence_length", cache, id, ty_args=(R.Prim("int64"),))
        return n

    @R.function(pure=False)
    def seen(cache: R.Any, id: R.Prim("int64"), span: R.Shape(["b", "e"])) -> R.Tuple(R.Tensor((2, "e - b", 1, 2), "float32"), R.Prim("int64"), R.Prim("int64")):
        b, e = T.int64(), T.int64()
        t = R.call_dps_packed("vm.builtin.attention_kv_cache_debug_get_kv", (cache, id, R.prim_value(b), R.prim_value(e)), out_ty=[R.Tensor((2, e - b, 1, 2), "float32"), R.Tensor((2, e - b, 1, 2), "float32")])
        k = t[0]
        v = t[1]
        n: R.Prim("int64") = R.call_packed("vm.builtin.attention_kv_cache_get_num_available_pages", cache, ty_args=(R.Prim("int64"),))
        m: R.Prim("int64") = R.call_packed("vm.builtin.attention_kv_cache_get_total_sequence_length", cache, ty_args=(R.Prim("int64"),))
        s = R.add(k, v)
        return (s, n, m)
"""

# A sequence that goes out of a cache, and into one.
CHECKPOINT = """
    @R.function(pure=False)
    def text(cache: R.Any) -> R.Any:
        t: R.Any = R.call_packed("vm.builtin.attention_kv_cache_get_checkpoint_metadata", cache, R.prim_value(0), ty_args=(R.Any,))
        return t

    @R.function(pure=False)
    def prepare(cache: R.Any, text: R.Any):
        return R.call_packed("vm.builtin.attention_kv_cache_prepare_import", cache, R.prim_value(0), text, ty_args=(R.Tuple,))

    @R.function(pure=False)
    def group(cache: R.Any, layer: R.Prim("int64"), pages: R.Tensor("float32", ndim=6)):
        return R.call_packed("vm.builtin.attention_kv_cache_import_page_group", cache, R.prim_value(0), layer, pages, ty_args=(R.Tuple,))

    @R.function(pure=False)
    def finish(cache: R.Any):
        return R.call_packed("vm.builtin.attention_kv_cache_finish_import", cache, R.prim_value(0), ty_args=(R.Tuple,))

    @R.function(pure=False)
    def export(cache: R.Any, layer: R.Prim("int64")) -> R.Tensor((1, 2, 2, 1, 4, 2), "float32"):
        y = R.call_dps_packed("vm.builtin.attention_kv_cache_export_page_group", (cache, R.prim_value(0), layer), out_ty=R.Tensor((1, 2, 2, 1, 4, 2), "float32"))
        return y

    @R.function(pure=False)
    def send(cache: R.Any):
        return R.call_packed("vm.builtin.kv_cache_disagg_mark_send", cache, R.prim_value(0), R.prim_value(0), R.shape([0]), R.prim_value(0), ty_args=(R.Tuple,))
"""

# Where a text of a checkpoint is changed, to what, and what TVM 0.27 says of it.
WRONG = [
    ("page_size", None, 'metadata missing field "page_size".'), ("page_size", 8, 'field "page_size" mismatch: expected 4, got 8.'), ("page_size", "4", 'field "page_size" is not an integer'),
    ("page_size", 4.0, 'field "page_size" is not an integer'), ("format_version", 2, 'field "format_version" mismatch: expected 1, got 2.'), ("format_version", 2**63 - 1, "expected 1, got 9223372036854775807."),
    ("format_version", 2**64 + 1, 'field "format_version" is not an integer'), ("format_version", -(2**63), "got -9223372036854775808."),
    ("cache_type", "x", 'field "cache_type" mismatch: expected relax.vm.PagedAttentionKVCache, got x.'), ("layout_hash", "q", "layout hash mismatch: expected ab6096e98484d3ed"),
    ("rotary_theta", 3.0, 'field "rotary_theta" mismatch: expected 0.03125, got 3.'), ("has_rope_ext_factors", True, 'field "has_rope_ext_factors" mismatch: expected 0, got 1.'),
    ("has_rope_ext_factors", 0, None), ("attn_kinds", ["mha"], 'field "attn_kinds" size mismatch.'), ("attn_kinds", ["mha", "mla"], 'field "attn_kinds" mismatch at local layer 1: expected mha'),
    ("seq_id", 3, 'field "seq_id" mismatch: expected 0, got 3.'), ("seq_length", 40, "sequence length mismatch: seq_length 40 requires 10 logical pages, but metadata has 2."), ("seq_length", -1, "seq_length cannot be negative."),
    ("seq_length", 2**40, "seq_length exceeds int32 range."), ("reserved_num_seqs", 0, 'field "reserved_num_seqs" must be positive.'),
    ("num_total_pages", 1, "metadata requires 2 pages, but reports a source cache with only 1 pages."), ("seq_length", 68, "metadata requires 17 pages, but reports a source cache with only 16 pages."),
    ("dtype", "float16", 'field "dtype" mismatch: expected float32, got float16.'), ("rope_mode", "none", 'field "rope_mode" mismatch: expected normal, got none.'), ("more", [1, {"a": None}], None),
    ("logical_pages.1.start_pos", 3, 'field "start_pos" mismatch: expected 4, got 3.'), ("logical_pages.1.length", 4, 'field "length" mismatch: expected 1, got 4.'),
    ("logical_pages.1", 7, "has something that is not an object"), ("logical_pages", 7, 'field "logical_pages" is not a list'),
    ("groups", [], "group metadata size mismatch: expected 2, got 0."), ("groups.0.shape", [1, 2, 2, 1, 4, 2, 1], 'field "shape" rank mismatch.'), ("groups.0.shape.3", 9, 'field "shape" mismatch at dim 3: expected 1, got 9.'),
    ("groups.1.nbytes", 9, 'field "nbytes" mismatch: expected 128, got 9.'), ("groups.1.group_index", 0, 'field "group_index" mismatch: expected 1, got 0.'),
]


def changed(text, path, value):
    """The JSON with something else at a place."""
    whole = at = json.loads(text)
    *outer, last = [int(word) if word.isdigit() else word for word in path.split(".")]
    for word in outer:
        at = at[word]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return json.dumps(whole)


# A state of recurrent layers, and what is done with its sequences.
RECURRENT = """from tvm.script import ir as I, relax as R, tirx as T

@I.ir_module
class Module:
    @T.prim_func(private=True, s_tir=True)
    def move(state: T.Buffer((2, 2, 2), "float32"), slots: T.Buffer((1,), "int32"), places: T.Buffer((1,), "int32"), values: T.Buffer((1, 2), "float32")):
        for j in range(2):
            values[0, j] = state[slots[0], places[0], j]

    @R.function(pure=False)
    def create() -> R.Any:
        cls = Module
        state: R.Any = R.call_packed("vm.builtin.rnn_state_create", R.prim_value(1), R.prim_value(2), R.prim_value(2), (cls.move,), (cls.move,), (R.const([0.5, 0.25], "float32"),), ty_args=(R.Any,))
        return state

    @R.function(pure=False)
    def add(state: R.Any, id: R.Prim("int64")):
        return R.call_packed("vm.builtin.kv_state_add_sequence", state, id, ty_args=(R.Tuple,))

    @R.function(pure=False)
    def remove(state: R.Any, id: R.Prim("int64")):
        return R.call_packed("vm.builtin.kv_state_remove_sequence", state, id, ty_args=(R.Tuple,))

    @R.function(pure=False)
    def pop(state: R.Any, id: R.Prim("int64")):
        return R.call_packed("vm.builtin.kv_state_popn", state, id, R.prim_value(1), ty_args=(R.Tuple,))

    @R.function(pure=False)
    def begin(state: R.Any, ids: R.Shape(["a", "b"])):
        return R.call_packed("vm.builtin.kv_state_begin_forward", state, ids, R.shape([1, 1]), ty_args=(R.Tuple,))

    @R.function(pure=False)
    def end(state: R.Any):
        return R.call_packed("vm.builtin.kv_state_end_forward", state, ty_args=(R.Tuple,))
"""

SHOW = """    @T.prim_func(private=True, s_tir=True)
    def show(p: T.handle, at: T.handle, k: T.handle, v: T.handle, layer: T.int64):
        pages, n = T.int32(), T.int32()
        P = T.match_buffer(p, (pages, 2, 1, 4, 2), "float32")
        At = T.match_buffer(at, (n,), "int32", offset_factor=1)
        K = T.match_buffer(k, (2, n, 1, 2), "float32")
        V = T.match_buffer(v, (2, n, 1, 2), "float32")
        for i, d in T.grid(n, 2):
            K[layer, i, 0, d] = P[At[i] // 4, 0, 0, At[i] % 4, d]
            V[layer, i, 0, d] = P[At[i] // 4, 1, 0, At[i] % 4, d]

"""

SERVE = r"""
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
long count_calls(void);
static void tell(const char *kind, const char *text) { printf("%s: %s\n", kind, text); }
int main(void) {
  __TVMFFIErrorSetRaisedFromCStr = tell;
  tvms_object cache = {0};
  _Alignas(64) float x[8] = {0, 0, 0, 0, 0, 0, 1, 2}, y[4];
  model_create_inputs nothing = {0};
  model_create_results made = {.result = &cache};
  if (model_create(&nothing, &made, 0)) return 1;
  model_add_inputs first = {.cache = cache, .id = 3};
  model_add_results none = {0};
  if (model_add(&first, &none, 0)) return 1;
  model_step_inputs in = {.cache = cache, .a = 3, .x = x};
  model_step_results out = {.result = y};
  int64_t bytes = model_step_workspace(&in);
  void *workspace = bytes ? aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64) : NULL;
  long before = 0;
  for (int i = 0; i < 24; i++) {
    if (i == 20) before = count_calls();
    x[6] = (float)(i + 1);
    if (model_step(&in, &out, workspace)) return 1;
  }
  long calls = count_calls() - before;
  printf("%g %g, %ld calls of the allocator\n", (double)y[0], (double)y[1], calls);
  printf("%d\n", model_add(&first, &none, 0));
  free(workspace);
  tvms_object_drop(&cache);
  return 0;
}
"""


def read(name):
    with open(os.path.join(GOLDEN, name), encoding="utf-8") as f:
        return f.read()


def steps():
    """The functions of the first golden program with a cache of their own."""
    text = read("paged-cache.tvms").split("# EXPECT")[0]
    kernels, main_function = text.split("    @R.function(pure=False)\n    def main")
    create = re.search(r"cache: R\.Any = .*", main_function).group(0)
    create = create.replace("cls.copy_page, cls.copy_page, cls.copy_page", "cls.copy_page, cls.show, cls.copy_page")
    return kernels + SHOW + STEPS.format(create=create)


class Paged(InFolder):
    built = 0

    def libraries(self, text):
        for suffix in (".so", ".c"):
            self.built += 1  # a library of the same name would be taken for the one that is loaded
            output = self.file(f"model{self.built}{suffix}")
            p = tvms("build", "-", "-o", output, stdin=text, timeout=300)
            self.assertEqual(p.returncode, 0, p.stderr.decode())
            if suffix == ".c":
                library = output + ".so"
                subprocess.run(["cc", "-O1", "-std=c11", "-w", "-shared", "-fPIC", output, RT, "-o", library, "-lm", "-pthread"], check=True)
                output = library
            yield Library(output)

    def test_results_are_those_of_the_interpreter(self):
        for name in ("paged-cache.tvms", "paged-cache-window.tvms", "paged-cache-layer-windows.tvms", "paged-cache-latent.tvms"):
            text, inputs, given = read(name), [], []
            for param, shape in re.findall(r"(\w\d+): R\.Tensor\(\(([\d, ]+)\)", text.split("def main", 1)[1].split("\n")[0]):
                sizes = [int(n) for n in shape.split(", ")]
                values = [((7 * i + len(inputs)) % 16 - 8) / 8 for i in range(math.prod(sizes))]
                inputs.append(("f", sizes, values))
                npy.write(self.file(param + ".npy"), "<f4", sizes, values)
                given += ["--in", f"{param}={self.file(param + '.npy')}"]
            out = self.file("out")
            shutil.rmtree(out, ignore_errors=True)
            p = tvms("run", "-", "--out", out, *given, stdin=text, timeout=300)
            self.assertEqual(p.returncode, 0, p.stderr.decode())
            for library in self.libraries(text):
                results = library("main", *inputs)
                self.assertIsInstance(results, tuple, results)
                self.assertGreater(len(results), 12)
                for i, result in enumerate(results):
                    with self.subTest(file=name, result=i):
                        self.compare(result, os.path.join(out, f"result.{i}.npy"))

    def compare(self, result, path):
        kind, shape, values = npy.read(path)
        if not isinstance(result, tuple):
            result = (npy.CODES[kind], [], [result])
        self.assertEqual(result[:2], (npy.CODES[kind], list(shape)))
        for x, y in zip(result[2], values):
            self.assertAlmostEqual(x, y, delta=1e-5)

    def test_errors_are_those_of_the_interpreter(self):
        names = sorted(n for n in os.listdir(GOLDEN) if n.startswith("paged-cache-") and "# error" in read(n) and "no-batch" not in n)  # whose result is not used
        self.assertGreater(len(names), 5)
        for name in names:
            text = read(name)
            said = tvms("run", "-", stdin=text).stderr.decode()
            expected = re.search(r"error\[E\d+\]: .*?: (.*)", said).group(1)
            for library in self.libraries(text):
                with self.subTest(file=name):
                    inputs = [("f", [int(n) for n in s.split(", ")], [0.5] * 8 * int(s.split(", ")[0]))
                              for s in re.findall(r"x\d*: R\.Tensor\(\(([\d, ]+)\)", text.split("def main", 1)[1].split("\n")[0])]
                    self.assertIn(expected, str(library("main", *inputs)))

    def test_a_cache_is_kept_between_calls(self):
        for f in self.libraries(steps()):
            cache = f("create")
            f("add", cache, 3)
            for i in range(5):
                y = f("step", cache, [3], ("f", [1, 4, 2], [0, 0, 0, 0, 0, 0, i + 1, 2]))
            self.assertEqual(y[1], [1, 2, 2])
            f("fork", cache, 3, 4)
            f("step", cache, [4], ("f", [1, 4, 2], [0, 0, 0, 0, 1, 0, 9, 2]))
            sums, pages, tokens = f("seen", cache, 4, [3, 6])
            self.assertEqual(sums[1], [2, 3, 1, 2])
            self.assertEqual([round(v - w, 4) for v, w in zip(sums[2][4:6], f("seen", cache, 4, [5, 6])[0][2])], [0, 0])
            self.assertEqual(tokens, 11)
            self.assertEqual([f("length", cache, name) for name in (3, 4)], [5, 6])
            self.assertIn('The sequence "5" cannot be found in KV cache.', f("length", cache, 5))
            self.assertEqual(f("seen", cache, 3, [0, 5])[1:], (pages, 11))
            self.assertIn("DebugGetKV does not accept out-of-range end_pos", f("seen", cache, 3, [0, 6]))
            self.assertIn('The sequence "3" is already in the KV cache.', f("add", cache, 3))
            self.assertIn("a cache with pages or a state of recurrent layers is expected", f("add", None, 3))
            self.assertEqual(Object.from_address(cache.value).references & 0xFFFFFFFF, 1)

    def lend(self, text):
        self.kept = ctypes.create_string_buffer(text.encode())
        return Any(8, 0, ctypes.addressof(self.kept))

    def test_checkpoints_say_what_they_are_of(self):
        """Texts that are not of this cache are refused in TVM's words, and leave it as it was."""
        for f in self.libraries(steps() + CHECKPOINT):
            cache, other = f("create"), f("create")
            f("add", cache, 0)
            f("add", other, 3)
            for i in range(5):
                f("step", cache, [0], ("f", [1, 4, 2], [i, 1, 0, 0, 0, 2, i + 1, 2]))
            content = f("text", cache)
            for path, value, expected in [*WRONG, ("seq_length", 4, "requires 1 logical pages")]:
                with self.subTest(path=path, value=value):
                    said = f("prepare", other, self.lend(changed(content, path, value)))
                    if expected:
                        self.assertIn(expected, str(said))
                        self.assertEqual(f("length", other, 3), 0)
                    else:
                        self.assertEqual(said, ())
                        other = f("create")
                        f("add", other, 3)
            nested = "[" * 100 + "]" * 100
            for wrong in ("", "{", content + " x", content[:-1] + ',"z":01}', content[:-1] + ',"z":"\x01"}', '{"a" 1}', '[1,]', '{"a":tru}', '"\\x"', nested):
                self.assertIn("Failed to parse PagedAttentionKVCache checkpoint metadata JSON", str(f("prepare", other, self.lend(wrong))), wrong)
            self.assertIn("should be a JSON object", f("prepare", other, self.lend(" [1, {}, []] ")))
            for kept in (content.replace('"page_size"', '"p\\u0061ge_size"', 1), content[:-1] + ',"z":[1.5e-3,"\\u00e9\\n",[],{}]}', "\n" + json.dumps(json.loads(content), indent=2, sort_keys=True)):
                self.assertEqual(f("prepare", other, self.lend(kept)), (), kept)
            self.assertEqual(f("prepare", other, self.lend(content)), ())
            pages = [f("export", cache, layer) for layer in (0, 1)]
            self.assertIn("has not been prepared", f("group", cache, 0, pages[0]))
            self.assertIn("must be finished before exporting", f("text", other))
            self.assertIn("sequence length is unavailable until", f("length", other, 0))
            self.assertIn("cannot begin a forward pass before checkpoint import is finished", f("step", other, [0], ("f", [1, 4, 2], [0] * 8)))
            self.assertIn("is missing group 0", f("finish", other))
            self.assertIn("got invalid group id 2, but only 2 groups are available", f("group", other, 2, pages[1]))
            self.assertIn("got invalid group id -1.", f("group", other, -1, pages[1]))
            self.assertIn("The number of logical pages mismatches.", f("group", other, 1, ("f", [1, 1, 2, 1, 4, 2], [0] * 16)))
            for layer in (1, 0):
                self.assertEqual(f("group", other, layer, pages[layer]), ())
                self.assertIn(f"group {layer} was already imported", f("group", other, layer, pages[layer]))
            self.assertEqual(f("finish", other), ())
            self.assertIn("has not been prepared", f("finish", other))
            self.assertEqual([f("length", c, 0) for c in (cache, other)], [5, 5])
            self.assertEqual([f("export", other, layer) for layer in (0, 1)], pages)
            x = ("f", [1, 4, 2], [1, 0, 2, 0, 0, 1, 5, 2])
            self.assertEqual(f("step", cache, [0], x), f("step", other, [0], x))
            self.assertIn("NVSHMEM", f("send", cache))

    def test_a_batch_that_cannot_end_changes_no_sequence(self):
        for f in self.libraries(RECURRENT):
            state = f("create")
            for name in (1, 2):
                f("add", state, name)
            f("begin", state, [1, 2])
            f("remove", state, 2)
            self.assertIn('The sequence "2" cannot be found in the space state storage.', f("end", state))
            self.assertIn("The sequence only has 0 available history", f("pop", state, 1))
            self.assertIn("a cache with pages or a state of recurrent layers is expected", f("end", None))

    def test_c_keeps_a_cache_and_allocates_nothing(self):
        serve, counter = self.file("serve.c", SERVE), self.file("counter.c", COUNTER)
        for suffix in (".o", ".c"):
            with self.subTest(suffix=suffix):
                output = self.file("model" + suffix)
                p = tvms("build", "-", "-o", output, "--emit-headers", stdin=steps())
                self.assertEqual(p.returncode, 0, p.stderr.decode())
                subprocess.run(["cc", "-O1", "-std=c11", "-w", serve, counter, output, RT, "-o", self.file("serve"), "-lm", "-ldl"], check=True)
                said = subprocess.run([self.file("serve")], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
                self.assertEqual(said[1:], ['ValueError: vm.builtin.kv_state_add_sequence: The sequence "3" is already in the KV cache.', f"  in 'add' (line {line_of(steps(), 'kv_state_add_sequence')})", "-1"])
                self.assertIn(", 0 calls of the allocator", said[0])


if __name__ == "__main__":
    main()
