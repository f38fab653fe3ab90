#!/usr/bin/env python3
"""Whole models of bytes: what onnxruntime's quantizer makes of those of models.py, read by stock TVM, against onnxruntime.

    PYTHON bench/native/quantized.py build-rel [--only PATTERN] [--threads N] [--out bench/native/results]

PYTHON has stock TVM, onnx and onnxruntime.

Norms are folded, activations are uint8 or int8 and weights int8, with a scale for each channel, and a QuantizeLinear and a DequantizeLinear stand around each operator (QDQ), or products are
MatMulInteger of what is quantized when the model runs (dynamic). Statistics come from random images. Stock TVM's front end makes Relax of the graph, `tvms build --params` a library of
that. Both run in one process, in turns; CPU time with one thread, wall time with more; the least of several. Results are steps of the last scale, which sums
of floats and of integers may round to two neighbours: the table has the largest error over the largest value, and the share of elements that differ by more than a hundredth of that.
"""
import os, re, sys, tempfile

import models, schedules


def prepared(model, path):
    """The graph with its norms folded, as a file."""
    import onnx, onnxruntime
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = path
    onnxruntime.InferenceSession(model.graph().SerializeToString(), options, providers=["CPUExecutionProvider"])
    return onnx.load(path)


def quantized(model, how, folder):
    import onnx
    from onnxruntime import quantization
    path, out = os.path.join(folder, "prepared.onnx"), os.path.join(folder, "quantized.onnx")
    prepared(model, path)
    if how == "dynamic":
        quantization.quantize_dynamic(path, out, weight_type=quantization.QuantType.QInt8)
        return onnx.load(out)

    class Images(quantization.CalibrationDataReader):
        def __init__(self):
            self.left = 4

        def get_next(self):
            self.left -= 1
            return {"x": model.random.random(model.input, "f4") - 0.5} if self.left >= 0 else None

    kind = quantization.QuantType.QUInt8 if how == "uint8" else quantization.QuantType.QInt8
    quantization.quantize_static(path, out, Images(), quant_format=quantization.QuantFormat.QDQ, per_channel=True, activation_type=kind, weight_type=quantization.QuantType.QInt8)
    return onnx.load(out)


def built(tvms, graph, folder):
    """The path of the library, and how many seconds it took."""
    import numpy, subprocess, tvm
    from tvm.relax.frontend.onnx import from_onnx
    module, weights = tvm.relax.frontend.detach_params(from_onnx(graph, keep_params_in_input=True))
    function, stem = module["main"], os.path.join(folder, "model")
    names = [p.name for p in function.params][int(function.attrs["num_input"]):]
    with open(stem + ".tvms", "w", encoding="utf-8") as f:
        f.write(module.script())
    numpy.savez(stem + ".npz", **{name: weight.numpy() for name, weight in zip(names, weights["main"])})
    begin = os.times()
    subprocess.run([tvms, "build", "--params", stem + ".npz", stem + ".tvms", "-o", stem + ".so"], check=True)
    end = os.times()
    return stem + ".so", end.children_user + end.children_system - begin.children_user - begin.children_system


def measure(tvms, model, how, threads, folder):
    import numpy, onnxruntime, tvm_ffi
    graph = quantized(model, how, folder)
    path, seconds = built(tvms, graph, folder)
    library = tvm_ffi.load_module(path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])
    x = schedules.aligned(model.random.random(model.input, "f4") - 0.5)
    given = tvm_ffi.from_dlpack(x)
    result = lambda: library["main"](given)
    ours, theirs = numpy.from_dlpack(result()), session.run(None, {"x": x})[0]
    apart = numpy.abs(ours - theirs) / numpy.abs(theirs).max()
    clock = schedules.least_times if threads == 1 else models.least_wall_times
    return clock({"tvms": result, "onnxruntime": lambda: session.run(None, {"x": x})}), float(apart.max()), float((apart > 1e-2).mean()), seconds


def cases():
    for make in (lambda: models.resnet(18), lambda: models.resnet(50), models.vgg, models.mobilenet):
        for how in ("uint8", "int8"):
            yield make(), how
    for make in (lambda: models.perceptron(128), lambda: models.block("transformer block", 128, 512, 8, 2048)):
        for how in ("uint8", "dynamic"):
            yield make(), how


def inside(tvms, pattern, threads, out):
    lines = [f"{threads} thread{'s' * (threads > 1)}. Ratios are our time over theirs.", "", "| model | quantized | tvms, ms | onnxruntime, ms | ratio | error | share beyond 0.01 | build, s of CPU |",
             "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines))
    for model, how in cases():
        if not re.search(pattern, f"{model.name} {how}"):
            continue
        with tempfile.TemporaryDirectory() as folder:
            times, error, share, seconds = measure(tvms, model, how, threads, folder)
        ours, theirs = times["tvms"], times["onnxruntime"]
        lines.append(f"| {model.name} | {how} | {ours * 1e3:.3f} | {theirs * 1e3:.3f} | {ours / theirs:.2f} | {error:.1e} | {share:.1e} | {seconds:.2f} |")
        print(lines[-1], flush=True)
        if share > 0.05:
            sys.exit(f"{model.name}: wrong")
    models.keep(lines, "quantized", threads, out)


if __name__ == "__main__":
    models.command(__file__, __doc__, "quantized", inside, lambda: sys.executable)
