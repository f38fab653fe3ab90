"""What the tests of Python files share: how such files begin, a definition, and a class of tests."""
from cases import InFolder

HEAD = """import os , sys
from somewhere import elsewhere , what , X
from tvm.script import ir as I, relax as R, tirx as T

try:
    import numpy
except ImportError:
    numpy = None

N   =  16
"""
SCRIPT = "\n@T.prim_func\ndef f(A: T.Buffer((N,), \"float32\")):\n    A[0] = T.float32(0)\n"


class PythonTests(InFolder):
    def file(self, text, name="a.py"):
        path = super().file(name)
        with open(path, "wb") as f:
            f.write(text.encode())
        return path
