"""Runs under a Python that has stock TVM: builds and runs random networks (see random_networks.py).

One JSON object a line on standard input, {"job": ...}; one a line on standard output.
"""
import os

from ask import read
from ask_native import serve
from ask_vm import flat

# Of the largest value, and the last bit of a number.
CLOSE = {"float16": (2e-2, 2**-11), "bfloat16": (1e-1, 2**-8), "float32": (1e-5, 2**-23), "float64": (1e-5, 2**-23)}
HALVES = {"float16", "bfloat16"}
WIDER = {half: "float32" for half in HALVES}  # TVM's lowering makes float32 of some operators of halves, against its own types
SMALL = "float8"  # TVM's conversions of these give something else for 0 and the least numbers: it computes their values in a wider type
ROUGH = 10  # times as far may results be from TVM's own float32 where there is no float64
TIMES = 16  # so much more than what the last bit of the inputs does may be what operations are rounded

made = {}  # of the network that was asked for last


def dtype_of(name):
    import ml_dtypes, numpy as np
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def values_of(shape, dtype, kind, stream):
    import numpy as np
    if dtype == "bool":
        return stream.integers(0, 2, shape).astype(bool)
    if isinstance(kind, int):
        return stream.integers(0, kind, shape).astype(dtype)
    if kind == "int" or "float" not in dtype:
        return stream.integers(0 if dtype.startswith("u") else -3, 4, shape).astype(dtype)
    values = stream.uniform(-1, 1, shape)
    if kind == "weight":
        values *= min(1.0, (3 / max(np.prod(shape[1:]) if len(shape) > 2 else shape[0] if shape else 1, 1)) ** 0.5)
    return np.asarray(np.abs(values) + 0.5 if kind == "positive" else values).astype(dtype_of(dtype))


def nudged(array, stream, bit):
    """Another array: each number in its last bit."""
    import numpy as np
    if array.dtype.kind in "iub":
        return array
    return (array.astype("float64") * (1 + bit * stream.choice([-1, 1], array.shape))).astype("float32" if array.dtype != np.float64 else "float64").astype(array.dtype)


def run(function, arrays):
    import tvm
    return flat(function(*[tvm.runtime.tensor(array) for array in arrays]))


def distance(one, other):
    """How far two results are from each other, as a share of the largest value; infinite where one has a NaN or an infinity that the other has not."""
    import numpy as np
    a, b = (np.asarray(x).astype("float64") for x in (one, other))
    finite = np.isfinite(b)
    if a.shape != b.shape or not np.array_equal(np.where(finite, 0, a), np.where(finite, 0, b), equal_nan=True):
        return float("inf")
    if not finite.any():
        return 0.0
    return float(np.max(np.abs(a - b)[finite])) / (float(np.max(np.abs(b)[finite])) or 1.0)


def declared(info):
    """Data types of a result, as the text says."""
    if hasattr(info, "fields"):
        return [dtype for field in info.fields for dtype in declared(field)]
    return [str(getattr(info.dtype, "dtype", info.dtype))]


def function_of(text, names):
    import tvm
    from tvm import relax
    return relax.VirtualMachine(tvm.compile(read(text, names), target="llvm"), tvm.cpu())["main"]


def widened(text, arrays, dtype, names):
    """What a network computes in a wider data type, on the same values: TVM's own sums are rough, of halves above all."""
    narrow = [name for name in CLOSE if dtype_of(name).itemsize < dtype_of(dtype).itemsize]
    narrow += {str(a.dtype) for a in arrays if SMALL in str(a.dtype)}
    for name in narrow:
        text = text.replace(f'"{name}"', f'"{dtype}"')
    return function_of(text, names), [a.astype(dtype) if str(a.dtype) in narrow else a for a in arrays]


def judged(question, arrays, dtypes, stream, names):
    """Results to compare with, what each may differ by, TVM's own results, and why there are none."""
    error, own, rough = "", None, False
    try:
        function, inputs = function_of(question["text"], names), arrays
        own = run(function, inputs)
    except Exception as e:
        error = f"{type(e).__name__}: {e}"[:400]
    small = any(SMALL in dtype for dtype in dtypes)
    if small:
        own = None
    if error or small or dtypes & HALVES or question["build"] == "exact":
        try:
            function, inputs = widened(question["text"], arrays, "float64" if question["build"] == "exact" else "float32", names)
        except Exception:  # some operators are lowered for float32 only: how rough TVM's own sums are is not known
            if error:
                raise
            rough = question["build"] == "exact"
    results = run(function, inputs)
    close, bit = max((CLOSE[dtype] for dtype in dtypes if dtype in CLOSE), default=(0, 0))
    close *= ROUGH if rough else 1
    far = [[distance(a, b) for a, b in zip(run(function, [nudged(x, stream, bit) for x in inputs]), results)] for _ in range(2)]
    far.append([distance(a, b) for a, b in zip(own or results, results)])
    far = [max(column) for column in zip(*far)]
    return results, [0.0 if r.dtype.kind in "iub" else max(close, TIMES * m if m < 1 else m) for r, m in zip(results, far)], own, error


def saved(question, arrays):
    import numpy as np
    names, inputs = [name for name, *_ in question["params"]], []
    for name, array in zip(names, arrays):
        inputs.append([name, os.path.join(question["folder"], f"in-{name}.npy")])
        np.save(inputs[-1][1], array)
    weights = {name: array for name, array in zip(names, arrays) if name.startswith("w")}
    path = os.path.join(question["folder"], "weights.npz")
    np.savez(path, **weights)
    return inputs, path if weights else None


def make_job(question, names):
    """The text as TVM prints it, files of inputs, and what TVM computes of them, which the next questions compare with."""
    import numpy as np
    import tvm
    from tvm import relax
    module = read(question["text"], names)
    stream = np.random.default_rng(question["seed"])
    sized = [([eval(d, {}, question["sizes"]) if isinstance(d, str) else d for d in shape], dtype, kind) for _, shape, dtype, kind in question["params"]]
    arrays = [values_of(*param, stream) for param in sized]
    inputs, weights = saved(question, arrays)
    made.update(arrays=arrays, results=None, own=None, given=[a for a, param in zip(arrays, question["params"]) if not param[0].startswith("w")])
    made["declared"] = declared(getattr(module["main"], "ret_ty", None) or module["main"].ret_struct_info)
    answer = {"print": module.script(), "inputs": inputs, "weights": weights, "results": False}
    if not question["build"]:
        return answer
    try:
        made["results"], made["bounds"], made["own"], answer["error"] = judged(question, arrays, {param[1] for param in sized}, stream, names)
        answer["results"] = True
    except Exception as error:
        answer["error"] = f"{type(error).__name__}: {error}"[:400]
    return answer


def wrong_of(results):
    """Where results differ from TVM's, "" if nowhere; the first ones that are asked about stand in for TVM's where it has none."""
    if made["results"] is None:
        made["results"], made["bounds"] = results, [0.0 if r.dtype.kind in "iub" else max(CLOSE.get(str(r.dtype), (0,))[0], 1e-5) for r in results]
    if len(results) != len(made["results"]):
        return f"{len(results)} results"
    for k, (one, other, bound) in enumerate(zip(results, made["results"], made["bounds"])):
        far, dtypes = distance(one, other), {made["declared"][k], str(made["own"][k].dtype) if made["own"] else WIDER.get(made["declared"][k], "")}
        if not far <= bound or str(one.dtype) not in dtypes:
            return f"result {k} {one.dtype} {one.shape} differs by {far:.3g}, allowed {bound:.3g}; wanted {' or '.join(dtypes)} {other.shape}"
    return ""


def call_job(question, names):
    """A library of tvms: native, or for the virtual machine."""
    import tvm
    from tvm import relax
    library = tvm.runtime.load_module(question["library"])
    functions = relax.VirtualMachine(library, tvm.cpu()) if question["machine"] else library
    return {"wrong": wrong_of(run(functions["main"], made["given"] if question["constants"] else made["arrays"]))}


def compare_job(question, names):
    """What tvms has written."""
    import numpy as np
    names = sorted(os.listdir(question["out"]), key=lambda name: [int(n) for n in name.split(".")[1:-1]])
    arrays = [np.load(os.path.join(question["out"], name)) for name in names]
    kinds = made["own"] or made["declared"]
    return {"wrong": wrong_of([a.view(dtype_of(str(getattr(kind, "dtype", kind)))) if a.dtype.kind == "V" else a for a, kind in zip(arrays, kinds)])}


if __name__ == "__main__":
    serve({"make": make_job, "call": call_job, "compare": compare_job}, longest=600)
