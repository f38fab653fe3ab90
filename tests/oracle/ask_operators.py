"""Runs under a Python that has stock TVM: computes every function of a module, and calls what tvms built of it (see operators.py).

One JSON object a line on standard input, {"job": ...}; one a line on standard output.
"""
import os

from ask import read
from ask_native import serve

# Sizes for symbolic dimensions, by turns: different ones, so that an axis taken for another shows.
SIZES = (3, 4, 5, 2, 6, 7)


def name_hint(param):
    return getattr(param, "name_hint", None) or param.name


def random_array(stream, name, dtype, shape):
    import numpy as np
    if dtype == "bool":
        return stream.integers(0, 2, shape).astype(bool)
    if "int" in dtype:
        return stream.integers(0, 2, shape).astype(dtype)  # indices of any axis that has two elements
    least = 0.1 if name.startswith("var") else -1
    return np.asarray(stream.uniform(least, 1, shape)).astype(dtype)


def flat(result):
    if hasattr(result, "numpy"):
        return [result.numpy()]
    return [leaf for item in result for leaf in flat(item)]


def saved(folder, prefix, result):
    """Files with the arrays of a result."""
    import numpy as np
    paths = []
    for i, array in enumerate(flat(result)):
        paths.append(os.path.join(folder, f"{prefix}-{i}.npy"))
        np.save(paths[-1], array)
    return paths


def dtype_of(info):
    return str(getattr(info.dtype, "dtype", info.dtype))


def compute(module, function, name, question):
    import numpy as np
    import tvm
    from tvm import relax
    stream = np.random.default_rng(question["seed"])
    sizes, inputs, files = {}, [], []
    for param in function.params:
        info = getattr(param, "ty", None) or param.struct_info
        shape = []
        for dim in info.shape:
            if hasattr(dim, "value"):
                shape.append(int(dim.value))
                continue
            var = str(dim)
            shape.append(sizes.setdefault(var, SIZES[len(sizes) % len(SIZES)]))
        array = random_array(stream, name_hint(param), dtype_of(info), shape)
        path = os.path.join(question["folder"], f"in-{name}-{name_hint(param)}.npy")
        np.save(path, array)
        files.append([name_hint(param), path])
        inputs.append(tvm.runtime.tensor(array))
    alone = tvm.IRModule({name: function})
    machine = relax.VirtualMachine(tvm.compile(alone, target="llvm"), tvm.cpu())
    return {"inputs": files, "results": saved(question["folder"], f"theirs-{name}", machine[name](*inputs))}


def module_job(question, names):
    import tvm
    module = read(question["text"], names)
    if not isinstance(module, tvm.IRModule):
        return {"error": "no module"}
    said = {}
    for var, function in module.functions_items():
        name = name_hint(var)
        try:
            said[name] = compute(module, function, name, question)
        except Exception as error:  # what TVM cannot compile is not compared
            said[name] = {"error": f"{type(error).__name__}: {error}"[:200]}
    return {"functions": said}


def library_job(question, names):
    """What the function of a library makes of arrays in files."""
    import numpy as np
    import tvm
    function = tvm.runtime.load_module(question["library"])[question["name"]]
    inputs = [tvm.runtime.tensor(np.load(path)) for _, path in question["inputs"]]
    return {"results": saved(question["folder"], f"ours-{question['name']}", function(*inputs))}


if __name__ == "__main__":
    serve({"module": module_job, "library": library_job}, longest=200)
