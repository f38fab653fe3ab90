"""libtvms through ctypes: where it is, its functions with their types, and contexts.

The types are those of include/tvms; nothing here decides anything about TVMScript.
"""
import ctypes
import glob
import os
from ctypes import POINTER, Structure, byref, c_bool, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

OK, FOUND_ERRORS = 0, 1


class Span(Structure):
    _fields_ = [("begin", c_uint32), ("end", c_uint32)]


class Place(Structure):
    _fields_ = [("line", c_uint32), ("column", c_uint32)]


class ContextOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("allocate", c_void_p),
        ("user", c_void_p),
        ("memory", c_size_t),
        ("depth", c_uint32),
        ("steps", c_uint64),
        ("milliseconds", c_uint64),
        ("fail_allocation", c_uint64),
    ]


class ReadOptions(Structure):
    _fields_ = [("size", c_size_t), ("from_", c_char_p), ("release", c_char_p), ("unverified", c_bool)]


class PrintOptions(Structure):
    _fields_ = [("size", c_size_t), ("release", c_char_p), ("no_metadata", c_bool)]


class MigrateOptions(Structure):
    _fields_ = [("size", c_size_t), ("from_", c_char_p), ("to", c_char_p)]


class DefinitionInfo(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("module", c_char_p),
        ("kind", c_int),
        ("name_span", Span),
        ("span", Span),
    ]


TEXT = POINTER(c_char_p)
SIGNATURES = {
    "tvms_context_create": (c_int, [POINTER(ContextOptions), POINTER(c_void_p)]),
    "tvms_context_destroy": (None, [c_void_p]),
    "tvms_context_message": (c_char_p, [c_void_p]),
    "tvms_context_free": (None, [c_void_p, c_void_p]),
    "tvms_status_name": (c_char_p, [c_int]),
    "tvms_library_version": (c_char_p, []),
    "tvms_release_name": (c_char_p, [c_uint32]),
    "tvms_source_add": (c_int, [c_void_p, c_char_p, c_char_p, c_size_t, POINTER(c_void_p)]),
    "tvms_source_name": (c_char_p, [c_void_p]),
    "tvms_source_locate": (Place, [c_void_p, c_uint32]),
    "tvms_source_format": (c_int, [c_void_p, c_void_p, POINTER(c_void_p), POINTER(c_size_t)]),
    "tvms_source_migrate": (c_int, [c_void_p, c_void_p, POINTER(MigrateOptions), POINTER(c_void_p), POINTER(c_size_t)]),
    "tvms_program_read": (c_int, [c_void_p, c_void_p, POINTER(ReadOptions), POINTER(c_void_p)]),
    "tvms_program_release": (c_char_p, [c_void_p]),
    "tvms_program_count": (c_uint32, [c_void_p]),
    "tvms_program_definition": (c_bool, [c_void_p, c_uint32, POINTER(DefinitionInfo)]),
    "tvms_program_print": (c_int, [c_void_p, POINTER(PrintOptions), POINTER(c_void_p), POINTER(c_size_t)]),
    "tvms_program_transform": (c_int, [c_void_p, c_char_p, c_void_p]),
    "tvms_diag_first": (c_void_p, [c_void_p]),
    "tvms_diag_next": (c_void_p, [c_void_p]),
    "tvms_diag_code": (c_char_p, [c_void_p]),
    "tvms_diag_name": (c_char_p, [c_void_p]),
    "tvms_diag_severity": (c_int, [c_void_p]),
    "tvms_diag_message": (c_char_p, [c_void_p]),
    "tvms_diag_source": (c_void_p, [c_void_p]),
    "tvms_diag_span": (Span, [c_void_p]),
    "tvms_diag_notes": (c_void_p, [c_void_p]),
    "tvms_diag_apply_fixes": (c_int, [c_void_p, c_void_p, POINTER(c_void_p), POINTER(c_size_t), POINTER(c_uint32)]),
    "tvms_diag_explain": (c_int, [c_void_p, c_char_p, POINTER(c_void_p), POINTER(c_size_t)]),
    "tvms_note_next": (c_void_p, [c_void_p]),
    "tvms_note_message": (c_char_p, [c_void_p]),
    "tvms_note_span": (c_bool, [c_void_p, POINTER(Span)]),
    "tvms_note_source": (c_void_p, [c_void_p]),
    "tvms_diag_fixes": (c_void_p, [c_void_p]),
    "tvms_fix_next": (c_void_p, [c_void_p]),
    "tvms_fix_span": (Span, [c_void_p]),
    "tvms_fix_text": (c_char_p, [c_void_p]),
    "tvms_fix_is_safe": (c_bool, [c_void_p]),
}


def load():
    """The library of the wheel, else the one that $TVMS_LIBRARY names, else the system's."""
    here = os.path.dirname(os.path.abspath(__file__))
    own = os.path.join(here, "libtvms.so.0")
    path = os.environ.get("TVMS_LIBRARY") or (own if os.path.exists(own) else "libtvms.so.0")
    if path == own:
        # What it needs beside the C library lies beside it, and is found once it is loaded.
        for needed in glob.glob(os.path.join(here, "libutf8proc.so.*")):
            ctypes.CDLL(needed)
    library = ctypes.CDLL(path)
    for name, (result, arguments) in SIGNATURES.items():
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class Library:
    """The functions of the library, which is loaded when the first of them is asked for: `python -m tvms` never does."""

    def __getattr__(self, name):
        self.__dict__.update({known: getattr(library, known) for library in [load()] for known in SIGNATURES})
        return self.__dict__[name]


C = Library()


def items(first, following):
    """The members of a list of the library."""
    while first:
        yield first
        first = following(first)


def sized(kind, **values):
    """A struct of options with its size set; None stays NULL."""
    options = kind(size=ctypes.sizeof(kind))
    for name, value in values.items():
        if value is not None:
            setattr(options, name, value.encode() if isinstance(value, str) else value)
    return options


class Context:
    """A context of the library, destroyed with the object."""

    def __init__(self, memory=0, milliseconds=0):
        self.pointer = c_void_p()
        options = sized(ContextOptions, memory=memory, milliseconds=milliseconds)
        status = C.tvms_context_create(byref(options), byref(self.pointer))
        if status != OK:
            raise MemoryError(C.tvms_status_name(status).decode())

    def __del__(self):
        if self.pointer:
            C.tvms_context_destroy(self.pointer)

    def message(self):
        return C.tvms_context_message(self.pointer).decode()

    def source(self, name, text):
        source, data = c_void_p(), text.encode("utf-8", "surrogatepass")
        status = C.tvms_source_add(self.pointer, os.fsencode(name), data, len(data), byref(source))
        return status, source

    def text(self, function, *arguments):
        """(status, text or None) of a function that writes a text; its last arguments are added."""
        text, size = c_void_p(), c_size_t()
        status = function(*arguments, byref(text), byref(size))
        if not text:
            return status, None
        result = ctypes.string_at(text, size.value).decode("utf-8", "surrogatepass")
        C.tvms_context_free(self.pointer, text)
        return status, result
