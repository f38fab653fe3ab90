"""Runs under a Python that has stock TVM: compiles and calls programs (see native.py).

One JSON object a line on standard input, {"job": ...}; one a line on standard output.
"""
import json, os, sys

from ask import names_of_tvm, read


def name_hint(param):
    return getattr(param, "name_hint", None) or param.name


def relax_job(question, names):
    import numpy as np
    import tvm
    from tvm import relax
    module = read(question["text"], names)
    if not isinstance(module, tvm.IRModule):
        module = tvm.IRModule({question["entry"]: module})
    inputs = {}
    stream = np.random.default_rng(question["n"])
    function = module[question["entry"]]
    for param in function.params:
        info = getattr(param, "ty", None) or param.struct_info
        shape = [int(d.value) if hasattr(d, "value") else question["n"] for d in info.shape]
        inputs[name_hint(param)] = stream.uniform(-1, 1, shape).astype(str(getattr(info.dtype, "dtype", info.dtype)))
    machine = relax.VirtualMachine(tvm.compile(module, target="llvm"), tvm.cpu())
    result = machine[question["entry"]](*[tvm.runtime.tensor(x) for x in inputs.values()])
    paths = {}
    for name, value in inputs.items():
        paths[name] = os.path.join(question["folder"], name + ".npy")
        np.save(paths[name], value)
    theirs = os.path.join(question["folder"], "theirs.npy")
    np.save(theirs, result.numpy())
    return {"inputs": paths, "result": theirs}


def relative(ours, theirs):
    import numpy as np
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return 1e9
    scale = float(np.max(np.abs(theirs))) if theirs.size else 1.0
    return float(np.max(np.abs(ours.astype("float64") - theirs))) / (scale or 1.0) if ours.size else 0.0


def compare_job(question, names):
    import numpy as np
    return {"relative": relative(np.load(question["ours"]), np.load(question["theirs"]))}


def library_job(question, names):
    import numpy as np
    import tvm_ffi
    library = tvm_ffi.load_module(question["path"])
    stream = np.random.default_rng(0)
    x, w, b = (stream.uniform(-1, 1, s).astype("float32") for s in ((5, 33), (33, 17), (17,)))
    z, y = np.zeros((5, 17), "float32"), np.zeros((5, 17), "float32")
    library["linear"](*[tvm_ffi.from_dlpack(a) for a in (x, w, b, z)])
    library["relu"](*[tvm_ffi.from_dlpack(a) for a in (z, y)])
    return {"linear": relative(z, (x.astype("float64") @ w + b).astype("float32")),
            "relu": relative(y, np.maximum(z, np.float32(0)))}


def outcome(function, arguments):
    try:
        function(*arguments)
        return ["returned", ""]
    except Exception as e:
        return [type(e).__name__, str(e)]


def arguments_job(question, names):
    """Calls one function of two builds with arguments that are wrong in one way each."""
    import numpy as np
    import tvm
    import tvm_ffi
    ours = tvm_ffi.load_module(question["path"])["arguments"]
    theirs = tvm.compile(read(question["text"], names), target="llvm")["arguments"]

    def array(shape, dtype="float32"):
        return tvm.runtime.tensor(np.zeros(shape, dtype))

    good = [array((3, 4)), array((3,), "int32"), array((5, 6)), 1.0, 2, True]
    wide = np.zeros((3, 8), "float32")[:, ::2]
    calls = {
        "good": good,
        "too few": good[:5],
        "too many": good + [1],
        "none": [],
        "number for tensor": [1, *good[1:]],
        "None for tensor": [None, *good[1:]],
        "tensor for number": good[:3] + [array((1,)), *good[4:]],
        "string for number": good[:4] + ["x", good[5]],
        "float for int": good[:4] + [2.5, good[5]],
        "bool for int": good[:4] + [True, good[5]],
        "int for float": good[:3] + [3, *good[4:]],
        "int for bool": good[:5] + [7],
        "float for bool": good[:5] + [1.0],
        "rank": [array((3,)), *good[1:]],
        "dtype": [array((3, 4), "float64"), *good[1:]],
        "dtype of the second": [good[0], array((3,), "int64"), *good[2:]],
        "symbolic size": [good[0], array((4,), "int32"), *good[2:]],
        "compound size": [*good[:2], array((4, 6)), *good[3:]],
        "constant size": [*good[:2], array((5, 7)), *good[3:]],
        "strides": [tvm_ffi.from_dlpack(wide), *good[1:]],
        "empty": [array((0, 4)), array((0,), "int32"), array((2, 6)), *good[3:]],
    }
    return {"cases": [{"call": {"name": name}, "ours": outcome(ours, a), "theirs": outcome(theirs, a)}
                      for name, a in calls.items()]}


KINDS = ("float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "bool")


def arguments_of(function, size):
    """Arguments of a PrimFunc whose sizes are constants or `size`; None if it needs more."""
    import numpy as np
    stream = np.random.default_rng(1)
    made = []
    for param in function.params:
        buffer = function.buffer_map.get(param) if hasattr(function, "buffer_map") else None
        buffer = buffer if buffer is not None else (param if hasattr(param, "shape") else None)
        dtype = str(getattr(buffer if buffer is not None else param, "dtype", "") or param.ty.dtype)
        if buffer is None:
            if dtype not in KINDS:
                return None
            made.append(True if dtype == "bool" else 0.75 if dtype.startswith("float") else 3)
            continue
        shape = []
        for d in buffer.shape:
            if hasattr(d, "value"):
                shape.append(int(d.value))
            elif hasattr(d, "name"):
                shape.append(size)
            else:
                return None
        if dtype not in KINDS:
            return None
        values = stream.integers(0, 4, shape) if dtype[0] in "iub" else stream.uniform(0.25, 1, shape)
        made.append(values.astype(dtype))
    return made


def prim_funcs_job(question, names):
    import numpy as np
    import tvm
    import tvm_ffi
    module = read(question["text"], names)
    ours = tvm_ffi.load_module(question["path"])
    if not isinstance(module, tvm.IRModule):
        module = tvm.IRModule.from_expr(module)
    answers = {}
    for gv, function in module.functions.items():
        if type(function).__name__ != "PrimFunc":
            continue
        name = gv.name_hint
        try:
            theirs = tvm.compile(tvm.IRModule.from_expr(function.with_attr("global_symbol", name)), target="llvm")[name]
        except Exception as e:
            answers[name] = {"not": str(e)[:500]}
            continue
        arguments = arguments_of(function, 8)
        if not arguments:
            answers[name] = {"not": "arguments of other kinds"}
            continue
        copies = [[tvm.runtime.tensor(a) if hasattr(a, "shape") else a for a in arguments] for _ in range(2)]
        said = [outcome(theirs, copies[0])]
        try:
            said.append(outcome(ours[name], copies[1]))
        except AttributeError:
            answers[name] = {"not": "private"}
            continue
        tensors = [(a.numpy(), b.numpy()) for a, b in zip(*copies) if hasattr(a, "numpy")]
        worst = max((relative(b, a) for a, b in tensors), default=0.0)
        answers[name] = {"same": said[0] == said[1] and worst < 1e-5, "said": said, "relative": worst}
    return {"functions": answers}


JOBS = {"relax": relax_job, "compare": compare_job, "library": library_job, "arguments": arguments_job,
        "prim_funcs": prim_funcs_job}


def serve(jobs, longest=None):
    """Answers the questions on standard input, a line each; what TVM itself says goes nowhere. Errors are cut to `longest` characters."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    names = names_of_tvm()
    for line in sys.stdin:
        question = json.loads(line)
        try:
            answer = jobs[question["job"]](question, names)
        except Exception as e:
            answer = {"error": f"{type(e).__name__}: {e}"[:longest]}
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    serve(JOBS)
