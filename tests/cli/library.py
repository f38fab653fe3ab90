"""What the tests of libraries share: how one is built by both back ends, and called through the convention of tvm-ffi."""
import ctypes, os, re, shutil, struct, subprocess

import npy
from cases import InFolder, tvms

HEAD = "from tvm.script import ir as I, relax as R, tirx as T\n\n@I.ir_module\nclass Module:\n"
RT = os.path.join(os.path.dirname(os.environ.get("TVMS_PROGRAM", "")), "backend", "libtvms_rt.a")
# A header may be included in old C and in C++.
C_AND_CPP = [["cc", "-std=c89"], ["cc", "-std=c99"], ["cc", "-std=c11"], ["c++", "-std=c++98", "-x", "c++"], ["c++", "-x", "c++"]]
TYPES = {"f": ("float32", 2, 32), "i": ("int32", 0, 32), "q": ("int64", 0, 64), "d": ("float64", 2, 64), "?": ("bool", 6, 8), "e": ("float16", 2, 16), "b": ("int8", 0, 8),
         "B": ("uint8", 1, 8)}


def line_of(text, what):
    """The first line of a text with this in it."""
    return 1 + next(i for i, row in enumerate(text.splitlines()) if what in row)


class Any(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("zero", ctypes.c_uint32), ("value", ctypes.c_int64)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


class Object(ctypes.Structure):
    _fields_ = [("references", ctypes.c_uint64), ("kind", ctypes.c_int32), ("zero", ctypes.c_uint32), ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32))]


class Library:
    """Calls the functions of a library with Python's numbers, tuples, and (format, shape, values) for tensors. Objects of other kinds are kept as they are."""

    def __init__(self, path):
        self.handle = ctypes.CDLL(path)
        self.error = None
        self.raised = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p)(self.keep)
        slot = ctypes.c_void_p.in_dll(self.handle, "__TVMFFIErrorSetRaisedFromCStr")
        slot.value = ctypes.cast(self.raised, ctypes.c_void_p).value

    def keep(self, kind, text):
        self.error = f"{kind.decode()}: {text.decode()}"

    def argument(self, value, kept):
        if value is None:
            return Any()
        if isinstance(value, Any):
            return Any(value.kind, 0, value.value)
        if isinstance(value, (bool, int, float)):
            kind = 2 if isinstance(value, bool) else 1 if isinstance(value, int) else 3
            bits = struct.unpack("q", struct.pack("d", value))[0] if kind == 3 else int(value)
            return Any(kind, 0, bits)
        if isinstance(value, list):  # a shape
            sizes = (ctypes.c_int64 * len(value))(*value)
            content = (ctypes.c_int64 * 5)((1 << 32) + 1, 69, 0, ctypes.addressof(sizes), len(value))
            kept += [sizes, content]
            return Any(69, 0, ctypes.addressof(content))
        if isinstance(value, tuple) and not (value and isinstance(value[0], str)):
            items = (Any * len(value))(*[self.argument(v, kept) for v in value])
            content = (ctypes.c_int64 * 7)((1 << 32) + 1, 71, 0, ctypes.addressof(items), len(value), len(value), 0)
            kept += [items, content]
            return Any(71, 0, ctypes.addressof(content))
        form, shape, values = value
        data = ctypes.create_string_buffer(struct.pack(f"<{len(values)}{form}", *values), max(1, struct.calcsize(form) * len(values)))
        sizes = (ctypes.c_int64 * len(shape))(*shape)
        tensor = Tensor(ctypes.addressof(data), (1, 0), len(shape), TYPES[form][1], TYPES[form][2], 1, sizes, None, 0)
        kept += [data, sizes, tensor]
        return Any(7, 0, ctypes.addressof(tensor))

    def taken(self, any_):
        """The value of a result; its reference is given back."""
        if any_.kind == 3:
            return struct.unpack("d", struct.pack("q", any_.value))[0]
        if any_.kind == 11:
            return struct.pack("q", any_.value)[:any_.zero].decode()
        if any_.kind < 64:
            return None if any_.kind == 0 else bool(any_.value) if any_.kind == 2 else any_.value
        if any_.kind in (64, 68):
            return Any(any_.kind, 0, any_.value)
        head = Object.from_address(any_.value)
        assert head.references >> 32 == 1 and head.kind == any_.kind
        value = self.content(any_)
        if head.references & 0xFFFFFFFF > 1:  # somebody else has it, too
            head.references -= 1
        else:
            head.deleter(any_.value, 3)
        return value

    def content(self, any_):
        if any_.kind < 64:
            return self.taken(any_)
        if any_.kind in (64, 68):  # the tuple around it will drop it
            Object.from_address(any_.value).references += 1
            return self.taken(any_)
        at = any_.value + 24
        if any_.kind == 65:
            data, count = (ctypes.c_int64 * 2).from_address(at)
            return ctypes.string_at(data, count).decode()
        if any_.kind == 69:
            data, count = (ctypes.c_int64 * 2).from_address(at)
            return list((ctypes.c_int64 * count).from_address(data))
        if any_.kind == 71:
            data, count = (ctypes.c_int64 * 2).from_address(at)
            return tuple(self.content(Any.from_address(data + 16 * i)) for i in range(count))
        tensor = Tensor.from_address(at)
        form = next(f for f, t in TYPES.items() if t[1:] == (tensor.code, tensor.bits))
        shape = tensor.shape[:tensor.ndim]
        count = 1
        for i in reversed(range(tensor.ndim)):
            assert tensor.strides[i] == count
            count *= shape[i]
        assert tensor.data % 64 == 0 and tensor.offset == 0
        return form, shape, list(struct.unpack(f"<{count}{form}", ctypes.string_at(tensor.data, count * struct.calcsize(form))))

    def __call__(self, name, *values):
        kept, result = [], Any()
        args = (Any * max(1, len(values)))(*[self.argument(v, kept) for v in values])
        if self.handle[f"__tvm_ffi_{name}"](None, args, len(values), ctypes.byref(result)):
            return self.error
        return self.taken(result)


class LibraryTests(InFolder):
    def build(self, text, name="model", options=("--fp", "strict")):
        """The library of both back ends."""
        libraries = []
        for suffix in (".so", ".c"):
            output = self.file(name + suffix)
            p = tvms("build", "-", "-o", output, *options, stdin=text)
            self.assertEqual(p.returncode, 0, p.stderr.decode())
            if suffix == ".c":
                library = self.file(name + "_c.so")
                subprocess.run(["cc", "-O1", "-std=c11", "-Wall", "-Werror", "-shared", "-fPIC", output, "-o", library, RT, "-lm", "-pthread"], check=True)
                output = library
            libraries.append(Library(output))
        return libraries

    def interpreted(self, program, text, entry, inputs):
        """What the interpreter gives."""
        names = re.search(rf"def {entry}\((.*?)\) ->", text).group(1)
        options = []
        for name, (form, shape, values) in zip(re.findall(r"(\w+): R", names), inputs):
            npy.write(self.file(name + ".npy"), {"f": "<f4", "i": "<i4", "q": "<i8", "?": "|b1"}[form], shape, values)
            options += ["--in", f"{name}={self.file(name + '.npy')}"]
        out = self.file("out")
        shutil.rmtree(out, ignore_errors=True)
        p = tvms("run", "--entry", entry, "--out", out, *options, program)
        self.assertEqual(p.returncode, 0, p.stderr.decode())
        results = []
        for name in sorted(os.listdir(out)):
            kind, shape, values = npy.read(os.path.join(out, name))
            results.append(({"<f4": "f", "<i4": "i", "<i8": "q"}[kind], list(shape), list(values)))
        return results[0] if len(results) == 1 else tuple(results)
