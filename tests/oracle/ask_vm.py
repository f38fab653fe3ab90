"""Runs under a Python that has stock TVM: builds programs for its virtual machine and runs them (see vm.py).

One JSON object a line on standard input; one a line on standard output.
"""
import os

from ask import read
from ask_native import relative, serve

SIZE = 5  # of what is symbolic


def info_of(param):
    return getattr(param, "ty", None) or param.struct_info


def size_of(dim, sizes):
    if hasattr(dim, "value"):
        return int(dim.value)
    return sizes.setdefault(dim, SIZE + len(sizes)) if hasattr(dim, "name") else None


def argument(info, stream, sizes):
    """An array for a tensor whose sizes are known or free, a number for an integer; None for others."""
    import numpy as np
    kind = type(info).__name__
    if kind in ("PrimStructInfo", "PrimType"):
        return 3 if str(info.dtype).startswith("int") else None
    shape = getattr(info, "shape", None)
    if not kind.startswith("Tensor") or shape is None or not hasattr(shape, "values") and not hasattr(shape, "__iter__"):
        return None
    dims = [size_of(d, sizes) for d in shape]
    dtype = str(getattr(info.dtype, "dtype", info.dtype))
    if None in dims or dtype not in ("float32", "float64", "float16", "int32", "int64", "int8", "uint8", "bool"):
        return None
    values = stream.integers(0, 2, dims) if dtype[0] in "iub" else stream.uniform(-1, 1, dims)
    return np.asarray(values).astype(dtype)


def arguments_of(function):
    import numpy as np
    stream, sizes = np.random.default_rng(3), {}
    made = [argument(info_of(p), stream, sizes) for p in function.params]
    return None if any(a is None for a in made) else made


def flat(value):
    """The tensors of a result as arrays, in order; None if it has anything else."""
    if hasattr(value, "numpy"):
        return [value.numpy()]
    if isinstance(value, (int, float)):
        import numpy as np
        return [np.asarray(value)]
    if hasattr(value, "__iter__") and not isinstance(value, str) and "Shape" not in type(value).__name__:
        parts = [flat(v) for v in value]
        return None if None in parts else [a for p in parts for a in p]
    return None


def call(machine, name, arguments):
    import tvm
    given = [tvm.runtime.tensor(a) if hasattr(a, "shape") else a for a in arguments]
    try:
        return flat(machine[name](*given)), ""
    except Exception as e:
        return None, type(e).__name__


def run_function(theirs, ours, name, function, folder):
    import numpy as np
    arguments = arguments_of(function)
    if arguments is None:
        return {"not": "arguments of other kinds"}
    expected, error = call(theirs, name, arguments)
    if expected is None:
        return {"not": error or "results of other kinds"}
    got, error = call(ours, name, arguments)
    if got is None:
        return {"ours": error}
    worst = max((relative(a, b) for a, b in zip(got, expected)), default=0.0) if len(got) == len(expected) else 1e9
    paths = []
    for i, a in enumerate(arguments):
        paths.append(os.path.join(folder, f"in{i}.npy"))
        np.save(paths[-1], a)
    results = [os.path.join(folder, f"result{i}.npy") for i in range(len(expected))]
    for path, value in zip(results, expected):
        np.save(path, value)
    names = [getattr(p, "name_hint", None) or p.name for p in function.params]
    return {"relative": worst, "inputs": [list(x) for x in zip(names, paths)], "results": results}


def build_job(question, names):
    import tvm
    from tvm import relax
    module = read(question["text"], names)
    if not isinstance(module, tvm.IRModule):
        return {"not": "no module"}
    built = relax.build(module, tvm.target.Target("llvm"))
    answer = {"text": built.as_text(), "functions": {}}
    if question.get("library"):
        built.export_library(question["library"])
    if question.get("ours") is None:
        return answer
    theirs = relax.VirtualMachine(built, tvm.cpu())
    ours = relax.VirtualMachine(tvm.runtime.load_module(question["ours"]), tvm.cpu())
    for gv, function in module.functions.items():
        if type(function).__name__ == "Function" and built.mod["has_function"](gv.name_hint):
            folder = os.path.join(question["folder"], gv.name_hint)
            os.makedirs(folder, exist_ok=True)
            answer["functions"][gv.name_hint] = run_function(theirs, ours, gv.name_hint, function, folder)
    return answer


def compare_job(question, names):
    import numpy as np
    return {"relative": relative(np.load(question["ours"]), np.load(question["theirs"]))}


def builtins_job(question, names):
    """The names of the functions that TVM's machine has."""
    import tvm  # noqa: F401
    import tvm_ffi
    return {"names": sorted(name for name in tvm_ffi.registry.list_global_func_names() if name.startswith("vm.builtin."))}


if __name__ == "__main__":
    serve({"build": build_job, "builtins": builtins_job, "compare": compare_job}, longest=2000)
