"""Runs under a Python that has stock TVM: functions in Python that a library calls (see callables.py)."""
from ask_native import serve

SEEN = []


def register():
    import numpy as np
    import tvm
    import tvm_ffi

    def scaled(x, factor):
        return tvm.runtime.tensor(x.numpy() * factor)

    def add_into(x, y, out):
        out.copyfrom(x.numpy() + y.numpy())

    def seen(x, *others):
        SEEN.append([x.numpy().tolist(), *[list(v) if isinstance(v, tvm_ffi.Shape) else v if isinstance(v, (int, float)) else str(v) for v in others]])

    def fails(x):
        raise ValueError("not on a day like this")

    functions = {"scaled": scaled, "add_into": add_into, "seen": seen, "count": lambda x: int(np.prod(x.shape)),
                 "thrice": lambda x: tvm.runtime.tensor(x.numpy() * 3), "number": lambda x: 3,
                 "note": lambda data, *others: SEEN.append(list(others)), "fails": fails}
    for name, function in functions.items():
        tvm_ffi.register_global_func("mine." + name, function, override=True)


def plain(value):
    return value.numpy().tolist() if hasattr(value, "numpy") else value


def call_job(question, names):
    """Calls functions of a library, or of a module for the virtual machine; what they give, or the error."""
    import numpy as np
    import tvm
    import tvm_ffi
    from tvm import relax
    register()
    library = tvm_ffi.load_module(question["path"])
    if question["machine"]:
        library = relax.VirtualMachine(library, tvm.cpu())
    made = {"tensor": lambda a: tvm.runtime.tensor(np.array(a, "float32")), "shape": tvm_ffi.Shape, "number": int, "real": float,
            "int32": lambda a: tvm.runtime.tensor(np.array(a, "int32")),
            "int64": lambda a: tvm.runtime.tensor(np.array(a, "int64")), "truth": bool,
            "function": lambda name: tvm_ffi.get_global_func("mine." + name)}
    def value_of(kind, value):
        if kind == "made":  # by another function
            name, *arguments = value
            return library[name](*[value_of(*a) for a in arguments])
        return made[kind](value)

    answers = []
    for name, *arguments in question["calls"]:
        SEEN.clear()
        values = [value_of(*a) for a in arguments]
        function = values.pop(0) if name == "call" else library[name]
        try:
            answers.append({"result": plain(function(*values)), "last": plain(values[-1]), "seen": list(SEEN)})
        except Exception as e:
            answers.append({"error": type(e).__name__, "text": str(e)})
    return {"answers": answers}


if __name__ == "__main__":
    serve({"call": call_job})
