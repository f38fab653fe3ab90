"""Runs under a Python that has stock TVM: builds generated Relax modules and calls their functions in TVM's virtual machine (see generated.py).

One JSON object a line on standard input; one a line on standard output.
"""
import json

from ask import read
from ask_native import serve

DTYPES = {"f": "float32", "i": "int32", "?": "bool"}
FORMS = {"float16": "e", "float32": "f", "float64": "d", "int8": "b", "uint8": "B", "int32": "i", "int64": "q", "bool": "?"}


def argument(value):
    """Of JSON: {"tensor": [format, sizes, elements]}, {"shape": sizes}, {"tuple": values}, a number."""
    import numpy as np
    import tvm
    import tvm_ffi
    if not isinstance(value, dict):
        return value
    if "tuple" in value:
        return tvm_ffi.convert([argument(v) for v in value["tuple"]])
    if "shape" in value:
        return tvm_ffi.Shape(value["shape"])
    form, sizes, elements = value["tensor"]
    return tvm.runtime.tensor(np.asarray(elements, DTYPES[form]).reshape(sizes))


def flattened(value, name="result"):
    if hasattr(value, "numpy"):
        array = value.numpy()
        return {name: [FORMS[str(array.dtype)], list(array.shape), array.reshape(-1).tolist()]}
    if isinstance(value, (bool, int)):
        return {name: ["q", [], [int(value)]]}
    if "Shape" in type(value).__name__:
        return {name: ["shape", [len(value)], [int(v) for v in value]]}
    found = {}
    for i, v in enumerate(value):
        found.update(flattened(v, f"{name}.{i}"))
    return found


def call(machine, name, arguments):
    try:
        return flattened(machine[name](*[argument(a) for a in arguments]))
    except Exception as e:
        return f"{type(e).__name__}: {e}"[:600]


def unplanned(target):
    """TVM's pipeline for CPUs without its plan of memory."""
    from tvm import transform
    from tvm.relax.backend.cpu_generic import pipeline as cpu_generic
    steps = [*cpu_generic.legalize_passes(target), *cpu_generic.dataflow_lower_passes(target), *cpu_generic.finalize_passes(target)]
    return transform.Sequential([step for step in steps if step.info.name != "StaticPlanBlockMemory"])


def build_job(question, names):
    """What TVM's own build gives in its machine, and what a library of tvms does."""
    import tvm
    from tvm import relax
    module = read(question["text"], names)
    if question.get("lift"):
        module = relax.transform.LambdaLift()(module)
    target = tvm.target.Target("llvm")
    built = relax.build(module, target, relax_pipeline=unplanned(target)) if question.get("unplanned") else relax.build(module, target)
    built.export_library(question["library"])
    answer = {"theirs": {}, "ours": {}}
    # Of what was built itself, the machine would export another library.
    machines = {"theirs": relax.VirtualMachine(tvm.runtime.load_module(question["library"]), tvm.cpu())}
    if question.get("ours"):
        machines["ours"] = relax.VirtualMachine(tvm.runtime.load_module(question["ours"]), tvm.cpu())
    for kind, machine in machines.items():
        for name in question["mains"]:
            answer[kind][name] = call(machine, name, question["arguments"])
    return answer


if __name__ == "__main__":
    serve({"build": build_job}, longest=2000)
