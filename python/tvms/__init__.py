"""TVMScript read, checked, formatted and printed without TVM.

    >>> import tvms
    >>> for found in tvms.check(text, name="model.py"):
    ...     print(found)

The functions call libtvms in this process. Nothing in a text is executed, so it may come from anywhere. Each call has a
context of its own: different threads may call them at once.
"""
from ctypes import byref, c_uint32
from dataclasses import dataclass
from typing import List, Optional, Tuple

from . import _library
from ._library import C, Context, FOUND_ERRORS, OK, sized

__all__ = ["Definition", "Diagnostic", "Error", "Fix", "Note", "Program", "check", "explain", "fix", "format", "migrate", "parse", "releases"]

SEVERITIES = ("error", "warning", "note")
KINDS = ("function", "prim_func", "extern", "broken")


@dataclass(frozen=True)
class Place:
    """Lines and columns from 1, columns in characters; offsets from 0, in bytes of the text as UTF-8. The end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int
    begin: int
    end: int


@dataclass(frozen=True)
class Note:
    """Evidence for a diagnostic; `place` is None for a remark about no place."""

    message: str
    place: Optional[Place]


@dataclass(frozen=True)
class Fix:
    """A replacement. Those of one diagnostic belong together. A safe one may be applied without asking."""

    place: Place
    text: str
    safe: bool


@dataclass(frozen=True)
class Diagnostic:
    """What is wrong with a text, and where. `name` is the code as a word; `file` the name that the text was given."""

    file: str
    code: str
    name: str
    severity: str
    message: str
    place: Place
    notes: Tuple[Note, ...] = ()
    fixes: Tuple[Fix, ...] = ()

    def __str__(self):
        return f"{self.file}:{self.place.line}:{self.place.column}: {self.severity}[{self.code}]: {self.message}"


class Error(Exception):
    """A text that cannot be read, or something that cannot be done with it. `diagnostics` says what is wrong, if it is the text."""

    def __init__(self, message, diagnostics=()):
        errors = [str(d) for d in diagnostics if d.severity == "error"]
        super().__init__("\n".join([message] + errors) if message else "\n".join(errors))
        self.diagnostics = list(diagnostics)


@dataclass(frozen=True)
class Definition:
    """A function of a program. `kind` is "function" (of Relax), "prim_func", "extern" or "broken"; `module` the class that it stands in, "" for none."""

    name: str
    module: str
    kind: str


class Program:
    """A text that was read, with all that was found. A text with errors has a program, too, of what could be read."""

    def __init__(self, text, name, release, verify):
        self._context = Context()
        self._status, self._source = self._context.source(name, text)
        self._pointer = _library.c_void_p()
        if self._status == OK:
            options = sized(_library.ReadOptions, from_=release, unverified=not verify)
            self._status = C.tvms_program_read(self._context.pointer, self._source, byref(options), byref(self._pointer))
        if self._status > FOUND_ERRORS:
            raise Error(self._context.message())

    @property
    def diagnostics(self) -> List[Diagnostic]:
        """Everything that was found, in reading and by passes since."""
        return _diagnostics(self._context)

    @property
    def ok(self) -> bool:
        """Whether it has no errors, and can be printed and transformed."""
        return self._status == OK

    @property
    def release(self) -> str:
        """The release of TVM that it was read as."""
        return C.tvms_program_release(self._pointer).decode()

    @property
    def definitions(self) -> List[Definition]:
        result = []
        for index in range(C.tvms_program_count(self._pointer)):
            info = sized(_library.DefinitionInfo)
            C.tvms_program_definition(self._pointer, index, byref(info))
            result.append(Definition(info.name.decode(), info.module.decode(), KINDS[info.kind]))
        return result

    def script(self, release: Optional[str] = None, metadata: bool = True) -> str:
        """The canonical text, as TVM prints it; `release`: in the words of that one. Error: it has errors, or the release cannot say it."""
        options = sized(_library.PrintOptions, release=release, no_metadata=not metadata)
        status, text = self._context.text(C.tvms_program_print, self._pointer, byref(options))
        return self._done(status, text)

    def transform(self, pipeline: str) -> "Program":
        """Runs passes, as `tvms opt --passes` names them, on this program, and returns it. Error: the pipeline is wrong or a pass failed."""
        status = C.tvms_program_transform(self._pointer, pipeline.encode(), None)
        self._status = max(self._status, status if status <= FOUND_ERRORS else OK)
        return self._done(status, self)

    def _done(self, status, result):
        if status == OK:
            return result
        raise Error(self._context.message(), self.diagnostics if status == FOUND_ERRORS or self._status != OK else ())


def parse(text: str, *, name: str = "<text>", release: Optional[str] = None, verify: bool = True) -> Program:
    """Reads a text. A `name` that ends in ".py" is a Python file, of which only TVMScript is read. `release`: read as that one, not as the text
    shows. Error: no such release, or a limit; mistakes of the text are diagnostics of the program."""
    return Program(text, name, release, verify)


def check(text: str, *, name: str = "<text>", release: Optional[str] = None) -> List[Diagnostic]:
    """What is wrong with a text: syntax, names, types, and what TVM verifies."""
    return parse(text, name=name, release=release).diagnostics


def format(text: str, *, name: str = "<text>") -> str:
    """The text in the one layout, comments kept. Error: it cannot be read."""
    return _rewritten(text, name, lambda context, source: context.text(C.tvms_source_format, context.pointer, source))


def migrate(text: str, to: Optional[str] = None, *, name: str = "<text>", release: Optional[str] = None) -> str:
    """The text in the words of another release, the newest by default, comments kept. Error: it is wrong, or the release has no words for it."""
    options = sized(_library.MigrateOptions, from_=release, to=to)
    return _rewritten(text, name, lambda context, source: context.text(C.tvms_source_migrate, context.pointer, source, byref(options)))


def fix(text: str, *, name: str = "<text>") -> Tuple[str, int]:
    """The text with all safe fixes applied, and how many diagnostics that mends."""
    program, count = parse(text, name=name), c_uint32()
    context, data = program._context, (_library.c_void_p(), _library.c_size_t())
    status = C.tvms_diag_apply_fixes(context.pointer, program._source, byref(data[0]), byref(data[1]), byref(count))
    if status != OK:
        raise Error(context.message())
    return _library.ctypes.string_at(data[0], data[1].value).decode("utf-8", "surrogatepass"), count.value


def explain(word: str) -> str:
    """What a code ("E0201") or a name of the language ("T.grid") means. Error: there is no such thing."""
    context = Context()
    status, text = context.text(C.tvms_diag_explain, context.pointer, word.encode())
    if status != OK:
        raise Error(context.message())
    return text


def releases() -> List[str]:
    """The releases of TVM whose text is read, oldest first."""
    result = []
    while (name := C.tvms_release_name(len(result))) is not None:
        result.append(name.decode())
    return result


def __getattr__(name):
    if name == "__version__":
        return C.tvms_library_version().decode()
    raise AttributeError(f"module 'tvms' has no attribute '{name}'")


def _rewritten(text, name, write):
    context = Context()
    status, source = context.source(name, text)
    if status == OK:
        status, text = write(context, source)
    if status != OK:
        raise Error(context.message(), _diagnostics(context) if status == FOUND_ERRORS else ())
    return text


def _place(source, span):
    begin, end = (C.tvms_source_locate(source, offset) for offset in (span.begin, span.end))
    return Place(begin.line, begin.column, end.line, end.column, span.begin, span.end)


def _note(note, source):
    span = _library.Span()
    placed = C.tvms_note_span(note, byref(span))
    return Note(C.tvms_note_message(note).decode(), _place(C.tvms_note_source(note) or source, span) if placed else None)


def _diagnostic(diag):
    source = C.tvms_diag_source(diag)
    notes = tuple(_note(note, source) for note in _library.items(C.tvms_diag_notes(diag), C.tvms_note_next))
    fixes = tuple(
        Fix(_place(source, C.tvms_fix_span(fix)), C.tvms_fix_text(fix).decode(), C.tvms_fix_is_safe(fix))
        for fix in _library.items(C.tvms_diag_fixes(diag), C.tvms_fix_next)
    )
    return Diagnostic(
        _library.os.fsdecode(C.tvms_source_name(source)),
        C.tvms_diag_code(diag).decode(),
        C.tvms_diag_name(diag).decode(),
        SEVERITIES[C.tvms_diag_severity(diag)],
        C.tvms_diag_message(diag).decode("utf-8", "replace"),
        _place(source, C.tvms_diag_span(diag)),
        notes,
        fixes,
    )


def _diagnostics(context):
    return [_diagnostic(diag) for diag in _library.items(C.tvms_diag_first(context.pointer), C.tvms_diag_next)]
