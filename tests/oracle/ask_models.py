"""Runs under a Python that has stock TVM: makes models, builds and runs them (see models.py).

One JSON object a line on standard input, {"job": ...}; one a line on standard output.
"""
import os

import models_of_images, models_of_texts
from ask_native import relative, serve
from ask_vm import flat, info_of

MODELS = {**models_of_images.MODELS, **models_of_texts.MODELS}
SIZE = 5  # of the first symbol; the next are larger by one each


def name_of(param):
    return getattr(param, "name_hint", None) or param.name


def values_of(param, stream, sizes):
    """Weights as large as keep values near one; words below 16; variances are positive, rows of a choice in order."""
    import numpy as np
    info, name = info_of(param), name_of(param)
    shape = [int(d.value) if hasattr(d, "value") else sizes.setdefault(str(d), SIZE + len(sizes)) for d in info.shape]
    dtype = str(getattr(info.dtype, "dtype", info.dtype))
    if dtype == "uint32":
        return stream.integers(0, 2**32, shape, dtype=dtype)
    if not dtype.startswith("float"):
        return (np.arange(np.prod(shape)).reshape(shape) if name == "row" else stream.integers(0, 16, shape)).astype(dtype)
    inputs = int(np.prod(shape[1:]))
    made = stream.standard_normal(shape) * (2 / inputs) ** 0.5
    if name.endswith(("var", "scale")):
        made = np.abs(made) + 0.5
    return (stream.random(shape) if name == "chance" else made).astype(dtype)


def saved(folder, name, values):
    import numpy as np
    paths = [os.path.join(folder, f"{name}{i}.npy") for i in range(len(values))]
    for path, value in zip(paths, values):
        np.save(path, value)
    return paths


def arguments_of(paths):
    import numpy as np
    import tvm
    return [tvm.runtime.tensor(np.load(path)) for path in paths]


def weights_of(function, names, inputs, folder):
    """A file with the parameters behind the inputs of the function, and how many those are; (None, all) if the function does not say."""
    import numpy as np
    if not function.attrs or "num_input" not in function.attrs:
        return None, len(inputs)
    count, path = int(function.attrs["num_input"]), os.path.join(folder, "weights.npz")
    np.savez(path, **{name: np.load(file) for name, file in zip(names[count:], inputs[count:])})
    return path, count


def make_job(question, names):
    """The text of a model, its inputs, and what TVM's machine makes of them; the text of TVM's executable."""
    import numpy as np
    import tvm
    from tvm import relax
    module = MODELS[question["name"]]()
    entry = "main" if "main" in [gv.name_hint for gv in module.functions] else "forward"
    stream, sizes = np.random.default_rng(5), {}
    params = module[entry].params
    inputs = saved(question["folder"], "in", [values_of(p, stream, sizes) for p in params])
    built = relax.build(module, tvm.target.Target("llvm"))
    machine = relax.VirtualMachine(built, tvm.cpu())
    results = flat(machine[entry](*arguments_of(inputs)))
    params = [name_of(p).replace(".", "_") for p in params]
    weights, given = weights_of(module[entry], params, inputs, question["folder"])
    return {"text": module.script(show_meta=True), "as_text": built.as_text(), "entry": entry, "params": params, "weights": weights, "given": given,
            "inputs": inputs, "results": saved(question["folder"], "theirs", results), "half": any(r.dtype == "float16" for r in results)}


def call_job(question, names):
    """A library of ours: a native function, or one of the virtual machine."""
    import numpy as np
    import tvm
    from tvm import relax
    library = tvm.runtime.load_module(question["library"])
    functions = relax.VirtualMachine(library, tvm.cpu()) if question["machine"] else library
    got = flat(functions[question["entry"]](*arguments_of(question["inputs"])))
    wanted = [np.load(path) for path in question["results"]]
    return {"relative": max(map(relative, got, wanted)) if len(got) == len(wanted) else 1e9}


def take_job(question, names):
    """A module that passes of ours have made: TVM reads, builds and runs it."""
    import numpy as np
    import tvm
    from tvm import relax
    machine = relax.VirtualMachine(relax.build(tvm.script.from_source(question["text"]), tvm.target.Target("llvm")), tvm.cpu())
    got = flat(machine[question["entry"]](*arguments_of(question["inputs"])))
    return {"relative": max(relative(a, np.load(b)) for a, b in zip(got, question["results"]))}


def compare_job(question, names):
    import numpy as np
    return {"relative": max(relative(np.load(a), np.load(b)) for a, b in zip(question["ours"], question["theirs"]))}


def list_job(question, names):
    return {"models": list(MODELS)}


if __name__ == "__main__":
    serve({"list": list_job, "make": make_job, "call": call_job, "take": take_job, "compare": compare_job}, longest=600)
