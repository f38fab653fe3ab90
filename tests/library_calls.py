"""Calling functions of a library that `tvms build` made, without TVM."""
import ctypes

CODES = {"<f4": (2, 32), "<f8": (2, 64), "<f2": (2, 16), "<i8": (0, 64), "<i4": (0, 32), "<i2": (0, 16), "|i1": (0, 8),
         "|u1": (1, 8), "<u2": (1, 16), "<u4": (1, 32), "<u8": (1, 64), "|b1": (6, 8)}
KINDS = {"float32": "<f4", "float64": "<f8", "float16": "<f2", "int64": "<i8", "int32": "<i4", "int16": "<i2",
         "int8": "|i1", "uint8": "|u1", "uint16": "<u2", "uint32": "<u4", "uint64": "<u8", "bool": "|b1"}


class Tensor(ctypes.Structure):
    """DLTensor"""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64)]


class Any(ctypes.Structure):
    """TVMFFIAny"""
    _fields_ = [("kind", ctypes.c_int32), ("padding", ctypes.c_uint32), ("value", ctypes.c_void_p)]


def call(library, tensors, name="f"):
    """Calls a function of a library; tensors are (kind, shape, bytearray)."""
    args, keep = (Any * len(tensors))(), []
    for i, (kind, shape, memory) in enumerate(tensors):
        sizes = (ctypes.c_int64 * max(1, len(shape)))(*shape)
        memory = (ctypes.c_char * len(memory)).from_buffer(memory)
        tensor = Tensor(ctypes.addressof(memory), 1, 0, len(shape), *CODES[kind], 1, sizes, None, 0)
        keep += [sizes, memory, tensor]
        args[i] = Any(7, 0, ctypes.addressof(tensor))
    result = Any()
    return getattr(library, "__tvm_ffi_" + name)(None, ctypes.byref(args), len(tensors), ctypes.byref(result))


def listen(library, said):
    """Appends to `said` what the library raises from here on: (kind, text)."""
    kind = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_char_p)
    library.listener = kind(lambda *texts: said.append(tuple(x.decode() for x in texts)))
    slot = ctypes.c_void_p.in_dll(library, "__TVMFFIErrorSetRaisedFromCStr")
    slot.value = ctypes.cast(library.listener, ctypes.c_void_p).value
