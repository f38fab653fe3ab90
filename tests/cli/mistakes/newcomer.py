"""First steps with TVMScript: normalise the rows of a matrix and score them."""
import tvm
from tvm.script import ir as I
from tvm.script import relax as R
from tvm.script import tirx as T

ROWS = 24
COLS = 40
CLASSES = 10
EPS = 1e-5


def halves(n):
    return n // 2


@I.ir_module
class RowNorm:
    @T.prim_func(private=True, s_tir=True)
    def row_mean(X: T.Buffer((ROWS, COLS), "float32"), M: T.Buffer((ROWS,), "float32")):
        for r, c in T.grid(ROWS, COLS):
            with T.sblock("mean"):
                vr, vc = T.axis.remap("SR", [r, c])
                with T.init():
                    M[vr] = T.float32(0)
                M[vr] = M[vr] + X[vr, vc] / T.float32(COLS)

    @T.prim_func(private=True)
    def centre(X: T.Buffer((ROWS, COLS), "float32"), M: T.Buffer((ROWS,), "float32"), Y: T.Buffer((ROWS, COLS), "float32")):
        for r in range(ROWS):
            for c in range(COLS):
                if c < halves(COLS):
                    Y[r, c] = X[r, c] - M[r]
                elif c == COLS - 1:
                    Y[r, c] = T.float32(0)
                else:
                    Y[r, c] = T.max(X[r, c] - M[r], T.float32(-1))

    @R.function
    def main(x: R.Tensor((ROWS, COLS), "float32"), weight: R.Tensor((COLS, CLASSES), "float32"), labels: R.Tensor((ROWS,), "int32")) -> R.Tensor((ROWS,), "bool"):
        cls = RowNorm
        with R.dataflow():
            mean = R.call_tir(cls.row_mean, (x,), out_ty=R.Tensor((ROWS,), "float32"))
            centred = R.call_tir(cls.centre, (x, mean), out_ty=R.Tensor((ROWS, COLS), "float32"))
            spread = R.sqrt(R.mean(R.multiply(centred, centred), axis=1, keepdims=True))
            scaled = R.divide(centred, R.add(spread, R.const(EPS, "float32")))
            logits = R.matmul(scaled, weight)
            scores = R.nn.log_softmax(logits, axis=-1)
            guess = R.astype(R.argmax(scores, axis=1), "int32")
            right = R.equal(guess, labels)
            R.output(right)
        return right


@T.prim_func
def histogram(values: T.Buffer((256,), "int32"), counts: T.Buffer((8,), "int32")):
    total: T.int32 = T.int32(0)
    for b in T.serial(8):
        counts[b] = 0
    for i in T.serial(256):
        if values[i] >= 0 and values[i] < 8:
            counts[values[i]] += 1
