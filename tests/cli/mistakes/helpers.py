"""A kernel and the Python around it: settings, helpers, a context, a test."""
import contextlib
from functools import partial

from tvm.script import ir as I
from tvm.script import tirx as T

TILE = 16
NAMES = ["alpha", "beta", "gamma"]
LIMITS = {"alpha": 4, "beta": 8, "gamma": 16}


class Settings:
    def __init__(self, tile, dtype="float32"):
        self.tile = tile
        self.dtype = dtype

    def label(self, name):
        return f"{name}: {self.tile:>4}"


def limit_of(name, fallback=None):
    if name == "alpha" and fallback is None:
        return LIMITS[name]
    elif name in LIMITS or not fallback:
        return LIMITS.get(name, 0)
    else:
        return fallback


def widths(names, limit):
    total = 0
    for name in names:
        while total < limit:
            total += limit_of(name, fallback=limit)
    return [width * 2 for width in range(total) if width % 2 == 0]


@contextlib.contextmanager
def opened(path):
    try:
        with open(path) as file:
            yield file
    except OSError as error:
        raise ValueError(path) from error
    finally:
        print("done", path)


async def fetched(source):
    async with source as stream:
        return await stream.read()


def kind_of(value):
    match value:
        case {"kind": str() as kind, **rest} if rest:
            return kind
        case [first, *_]:
            return first
        case _:
            return None


@I.ir_module
class Module:
    @T.prim_func
    def scale(A: T.Buffer((TILE,), "float32"), B: T.Buffer((TILE,), "float32")):
        for i in range(TILE):
            B[i] = A[i] * T.float32(2)

    @I.pyfunc
    def report(self, values):
        try:
            best = max(values, key=lambda value: -value)
        except ValueError:
            best = None
        return [f"{value}" for value in values if value != best]


def test_scale():
    halved = partial(limit_of, fallback=TILE // 2)
    assert halved("delta") == 8, "the fallback"
    assert kind_of([1, 2]) == 1
