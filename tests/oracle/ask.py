"""Runs under a Python that has stock TVM: answers what it makes of programs.

One JSON object a line on standard input, {"text": ...}, with "passes": [[name, {option: text}]] to run them first, with
"metadata": true to have that section printed; one a line on standard output: {"print": text} or {"error": message}. TVM may crash; then the caller starts another one.
"""
import ast, json, os, re, sys

IMPORT = re.compile(r"(?:#\s*)?(from typing import TypeVar|(?:from\s+tvm[\w.]*\s+)?import\s+.*\btvm\b.*|from\s+(?:tvm|\.)[\w.]*\s+import\s+.+)$")


def names_of_tvm():
    """What a TVMScript text may use without importing it."""
    import typing
    import tvm
    from tvm import relax
    from tvm.script import ir as I, relax as R
    names = {"tvm": tvm, "relax": relax, "I": I, "R": R, "TypeVar": typing.TypeVar}
    try:
        from tvm import tirx
        from tvm.script import tirx as T
        names.update(tirx=tirx, T=T)
    except ImportError:
        from tvm import tir
        from tvm.script import tir as T
        names.update(tir=tir, T=T)
    from tvm.script.parser.core.entry import _default_globals
    for name, value in _default_globals().items():
        names.setdefault(name, value)
    return names


def read(text, names):
    """TVM's reader of text takes no import lines: they are executed here, and commented."""
    import tvm
    names, lines = dict(names), text.splitlines(keepends=True)
    for i, line in enumerate(lines):
        found = IMPORT.match(line)
        if found:
            try:
                exec(found.group(1), names)
            except Exception:
                pass
            lines[i] = line if line.startswith("#") else "# " + line
    names = {name: value for name, value in names.items() if not name.startswith("__")}
    text = "".join(lines)
    # from_source does not look at what the decorator says about checking
    checked = not re.search(r"^@[^\n]*check_well_formed\s*=\s*False", text, re.M)
    return tvm.script.from_source(text, extra_vars=names, check_well_formed=checked)


def forget_places():
    """From 0.27 on the reader notes in constants where they are read, which a metadata section then shows."""
    from tvm.script.parser.core.parser import Parser
    if hasattr(Parser, "annotate_current_source_span"):
        Parser.annotate_current_source_span = lambda self, value: value


def listen():
    """Classic TVM renders its diagnostics instead of raising them: take them on the way."""
    said = []
    try:
        from tvm.ir import diagnostics
        diagnostics.override_renderer(lambda context: said.extend(
            f"line {getattr(d.span, 'line', '?')}: {d.message}" for d in context.diagnostics))
    except Exception:
        pass
    return said


def value_of(text):
    """What an option says in Python's notation; a word is itself."""
    try:
        return {"true": True, "false": False}.get(text, None) if text in ("true", "false") else ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text.split(";") if ";" in text else text


def pipeline_of(name):
    """The pipeline of this name that TVM builds Relax modules with for a CPU, or None."""
    import tvm
    from tvm import relax
    if name == "default":
        return relax.backend.cpu_generic.get_default_pipeline(tvm.target.Target("llvm"))
    return relax.get_pipeline(name) if name in ("zero", "default_build") else None


def run_passes(module, steps):
    """The module after these passes [name, {option: text}], as Relax, TIR or its schedule part has them; a name may be that of
    a pipeline."""
    import tvm
    from tvm import relax, tirx
    places = [relax.transform, tirx.transform, tvm.s_tir.transform, relax.backend]
    # A pass of both languages has one name: in a module without Relax functions TIR's is meant.
    if not any(isinstance(function, relax.Function) for function in module.functions.values()):
        places = places[1:] + places[:1]
    for name, options in steps:
        pipeline = pipeline_of(name)
        if pipeline:
            module = pipeline(module)
            continue
        made = next(getattr(place, name) for place in places if hasattr(place, name))
        step = made(**{option: value_of(text) for option, text in options.items()})
        if hasattr(relax.backend, name):  # what chooses kernels asks for the target
            with tvm.target.Target("llvm"):
                module = step(module)
        else:
            module = step(module)
    return module


def main():
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    names, said = names_of_tvm(), listen()
    forget_places()
    for line in sys.stdin:
        said.clear()
        try:
            question = json.loads(line)
            module = read(question["text"], names)
            if "passes" in question:
                module = run_passes(module, question["passes"])
            answer = {"print": module.script(show_meta=question.get("metadata", False))}
        except BaseException as e:  # TVM raises many kinds
            answer = {"error": "; ".join(said)[:2000] or f"{type(e).__name__}: {e}"[:2000]}
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
