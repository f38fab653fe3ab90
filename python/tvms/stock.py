"""Passes of the TVM that is installed, with the command line of `tvms opt`.

    python3 -m tvms.stock --passes 'LegalizeOps,FuseOps{fuse_opt_level=0}' < module.tvms

`tvms test --opt-with 'python3 -m tvms.stock'` runs the passes of golden files by it, so that golden files test passes of TVM itself or of a
fork. A name is looked up among the passes that this TVM has (of Relax, TIR, its schedules), then among the pipelines of Relax; options in
braces are arguments of the pass, with values as in Python. The module is written as TVM prints it. TVM executes what it reads: this is for
texts that are trusted.
"""
import argparse
import ast
import importlib
import re
import sys

# Where passes of TVM stand. A pass of both languages has one name: TIR's is meant in a module without functions of Relax.
RELAX = ("tvm.relax.transform", "tvm.relax.backend", "tvm.ir.transform")
TIR = ("tvm.tirx.transform", "tvm.tir.transform", "tvm.s_tir.transform")
IMPORT = re.compile(r"(?:#\s*)?(from typing import TypeVar|(?:from\s+tvm[\w.]*\s+)?import\s+.*\btvm\b.*|from\s+(?:tvm|\.)[\w.]*\s+import\s+.+)$")
OPENING, CLOSING = "([{", ")]}"
# Options of passes of tvms that are arguments of TVM's passes, with the same name and meaning.
ARGUMENTS = {"desired_layouts", "out_dtype", "fp16_input_names", "func_name", "promote_dtype", "target_index",
             "param_tuple_name", "shared_transform", "fget_item", "fset_item"}


def split_at(text, separator):
    """The parts of a text between separators that stand outside of brackets and strings."""
    parts, depth, quote, begin = [], 0, "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "'\"":
            quote = c
        elif c in OPENING:
            depth += 1
        elif c in CLOSING:
            depth -= 1
        elif c == separator and not depth:
            parts.append(text[begin:i])
            begin = i + 1
    return [part.strip() for part in parts + [text[begin:]] if part.strip()]


def value_of(text):
    """A value of Python; `true` and `false` too; else the text itself is the string."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text


def texts_of(text):
    """(name, texts of the options) of one step of a pipeline."""
    name, brace, options = text.partition("{")
    if brace and not options.endswith("}"):
        raise SystemExit(f"tvms.stock: '{text}' lacks its closing brace")
    pairs = [option.partition("=") for option in split_at(options[:-1], ",")]
    return name.strip(), {key.strip(): value.strip() for key, _, value in pairs}


def step_of(text):
    """(name, arguments) of one step of a pipeline."""
    name, texts = texts_of(text)
    return name, {key: value_of(value) for key, value in texts.items()}


def names_of_tvm():
    """What a text may use without importing it."""
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
    # from_source does not look at what the decorator says about checking
    checked = not re.search(r"^@[^\n]*check_well_formed\s*=\s*False", text, re.M)
    return tvm.script.from_source("".join(lines), extra_vars=names, check_well_formed=checked)


def places_of(module):
    """The modules of TVM whose passes a module is for, the likelier ones first."""
    from tvm import relax

    is_relax = any(isinstance(function, relax.Function) for function in module.functions.values())
    found = []
    for name in RELAX + TIR if is_relax else TIR + RELAX:
        try:
            found.append(importlib.import_module(name))
        except ImportError:
            pass
    return found


def own_options(arguments):
    """Which of the arguments may be options that only tvms has, such as `with`."""
    own = sorted(set(arguments) - ARGUMENTS)
    return f" ({', '.join(own)}: an option of tvms)" if own else ""


def pass_of(module, name, arguments):
    """The pass or pipeline with this name in the TVM that is installed."""
    import tvm
    from tvm import relax

    for place in places_of(module):
        found = getattr(place, name, None)
        if found is not None:
            # Some of TVM's are passes already, others are made by a call.
            if isinstance(found, tvm.ir.transform.Pass) and not arguments:
                return found
            try:
                return found(**arguments)
            except TypeError as e:
                raise SystemExit(f"tvms.stock: {e}{own_options(arguments)}") from None
    try:
        return relax.get_pipeline(name, **arguments)
    except ValueError:
        raise SystemExit(f"tvms.stock: this TVM has neither a pass nor a pipeline '{name}'") from None


def as_module(read_text):
    """A module of what was read: a function alone becomes one."""
    import tvm

    if isinstance(read_text, tvm.IRModule):
        return read_text
    return tvm.IRModule({str((read_text.attrs or {}).get("global_symbol", "main")): read_text})


def main(words=None):
    parser = argparse.ArgumentParser(prog="python -m tvms.stock", description="Run passes of the TVM that is installed.")
    parser.add_argument("--passes", required=True, help="names, with commas between them and options in braces")
    parser.add_argument("--target", help="the target that is current while the passes run")
    parser.add_argument("--dialect", help="accepted for golden files; the TVM that is installed decides")
    parser.add_argument("file", nargs="?", default="-")
    options = parser.parse_args(words)
    with sys.stdin if options.file == "-" else open(options.file, encoding="utf-8") as f:
        text = f.read()

    import tvm

    module = as_module(read(text, names_of_tvm()))
    with tvm.target.Target(options.target) if options.target else tvm.transform.PassContext():
        for name, arguments in map(step_of, split_at(options.passes, ",")):
            module = pass_of(module, name, arguments)(module)
    print(module.script())


if __name__ == "__main__":
    main()
