"""A recurrent cell with a reduction on the device, for several widths."""
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

STEPS = 12
THREADS = 64


class Sizes:
    hidden = 256
    inputs = 32
    depth = 2


def ceildiv(total, part):
    return (total + part - 1) // part


def make_sum(length, dtype="float32"):
    chunks = ceildiv(length, THREADS)

    @T.prim_func(s_tir=True)
    def row_sum(data: T.Buffer((STEPS, length), dtype), total: T.Buffer((STEPS,), dtype)):
        block = T.launch_thread("blockIdx.x", STEPS)
        thread = T.launch_thread("threadIdx.x", THREADS)
        shared = T.alloc_buffer((THREADS,), dtype, scope="shared")
        local = T.alloc_buffer((1,), dtype, scope="local")
        local[0] = T.Cast(dtype, 0)
        for chunk in range(chunks):
            if chunk * THREADS + thread < length:
                local[0] = local[0] + data[block, chunk * THREADS + thread]
        shared[thread] = local[0]
        T.tvm_storage_sync("shared")
        if thread == 0:
            for other in T.serial(1, THREADS):
                shared[0] = shared[0] + shared[other]
            total[block] = shared[0]

    return row_sum


row_sum_256 = make_sum(Sizes.hidden)
row_sum_100 = make_sum(100, dtype="float16")


@I.ir_module
class Recurrent:
    @T.prim_func(private=True)
    def gate(old: T.Buffer((1, Sizes.hidden), "float32"), fresh: T.Buffer((1, Sizes.hidden), "float32"), out: T.Buffer((1, Sizes.hidden), "float32")):
        for unit in T.vectorized(Sizes.hidden):
            weight = T.sigmoid(fresh[0, unit])
            out[0, unit] = weight * old[0, unit] + (T.float32(1) - weight) * fresh[0, unit]

    @R.function(private=True)
    def cell(x: R.Tensor((1, Sizes.inputs), "float32"), h: R.Tensor((1, Sizes.hidden), "float32"), w: R.Tensor((Sizes.inputs, Sizes.hidden), "float32"), u: R.Tensor((Sizes.hidden, Sizes.hidden), "float32")) -> R.Tensor((1, Sizes.hidden), "float32"):
        cls = Recurrent
        with R.dataflow():
            from_input = R.matmul(x, w)
            from_state = R.matmul(h, u)
            both = R.add(from_input, from_state)
            active = R.tanh(both)
            mixed = R.call_tir(cls.gate, (h, active), out_ty=R.Tensor((1, Sizes.hidden), "float32"))
            R.output(mixed)
        return mixed

    @R.function
    def step(x: R.Tensor((1, Sizes.inputs), "float32"), h: R.Tensor((1, Sizes.hidden), "float32"), w: R.Tensor((Sizes.inputs, Sizes.hidden), "float32"), u: R.Tensor((Sizes.hidden, Sizes.hidden), "float32"), skip: R.Tensor((), "bool")) -> R.Tensor((1, Sizes.hidden), "float32"):
        cls = Recurrent
        if skip:
            state = R.multiply(h, R.const(0.5, "float32"))
        else:
            state = cls.cell(x, h, w, u)
        return state

    @R.function
    def rollout(xs: R.Tensor((STEPS, Sizes.inputs), "float32"), h: R.Tensor((1, Sizes.hidden), "float32"), w: R.Tensor((Sizes.inputs, Sizes.hidden), "float32"), u: R.Tensor((Sizes.hidden, Sizes.hidden), "float32")) -> R.Tuple(R.Tensor((1, Sizes.hidden), "float32"), R.Tensor((1,), "float32")):
        cls = Recurrent
        first = R.strided_slice(xs, axes=[0], begin=[0], end=[1])
        second = R.strided_slice(xs, axes=[0], begin=[1], end=[2])
        go = R.const(False, "bool")
        h1 = cls.step(first, h, w, u, go)
        h2 = cls.cell(second, h1, w, u)
        with R.dataflow():
            norm = R.sum(R.abs(h2), axis=1)
            result = (h2, norm)
            R.output(result)
        return result
