"""Runs under a Python that has stock TVM: answers what it makes of programs.

One JSON object a line on standard input, {"text": ...}, with "passes": [[name, {option: text}]] to run them first, with
"metadata": true to have that section printed; one a line on standard output: {"print": text} or {"error": message}. With "each": true the answer is
{"steps": [[text, text with the metadata section]]}: of the program as it was read and behind each pass, up to one that fails. TVM may crash; then the caller starts another one.
"""
import ast, json, os, sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
from tvms.stock import names_of_tvm, read


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


def homes_of_passes():
    """The modules that have passes for Relax, and those for TIR."""
    import tvm
    from tvm import relax
    try:
        from tvm import tirx
    except ImportError:
        from tvm import tir
        return [relax.transform], [tir.transform], [relax.backend]
    return [relax.transform], [tirx.transform, tvm.s_tir.transform], [relax.backend]


def pipeline_of(name):
    """The pipeline of this name that TVM builds Relax modules or PrimFuncs with for a CPU, or None."""
    import tvm
    from tvm import relax
    if name == "default":
        return relax.backend.cpu_generic.get_default_pipeline(tvm.target.Target("llvm"))
    if name in ("s_tir", "finalize-host"):
        from tvm import tirx
    if name in ("s_tir", "finalize-host"):
        lower, finalize_host, _ = tirx.get_tir_pipeline("s_tir")
        return lower if name == "s_tir" else finalize_host()
    return relax.get_pipeline(name) if name in ("zero", "default_build") else None


def schedule(module, steps):
    """The module behind the steps of a schedule, which are Python."""
    try:
        from tvm.s_tir import Schedule, TensorIntrin
        from tvm.script import tirx as T
    except ImportError:
        from tvm.tir import Schedule, TensorIntrin
        from tvm.script import tir as T
    for name in [variable.name_hint for variable in module.get_global_vars()]:
        stem, described, _ = name.rpartition("_desc")
        if described:
            TensorIntrin.register(stem, module[name], module[stem + "_impl"], override=True)
    names = {"sch": Schedule(module), "T": T, "Module": module}
    exec(steps, names)  # which may begin with a Schedule of its own
    return names["sch"].mod


def run_passes(module, steps):
    """The module after these passes [name, {option: text}], as Relax, TIR or its schedule part has them; a name may be that of
    a pipeline."""
    import tvm
    from tvm import relax
    on_relax, on_tir, on_device = homes_of_passes()
    # A pass of both languages has one name: in a module without Relax functions TIR's is meant.
    functions = module.functions.values() if hasattr(module, "functions") else [module]  # a program may be one function
    has_relax = any(isinstance(function, relax.Function) for function in functions)
    places = on_relax + on_tir + on_device if has_relax else on_tir + on_device + on_relax
    for name, options in steps:
        pipeline = pipeline_of(name)
        if pipeline:
            module = pipeline(module)
            continue
        if name == "ApplyTrace":
            module = schedule(module, options["steps"])
            continue
        if name == "BindTarget" and not options:
            options = {"target": tvm.target.Target("llvm").with_host("llvm")}
        made = next(getattr(place, name) for place in places if hasattr(place, name))
        step = made(**{option: value_of(value) if isinstance(value, str) else value for option, value in options.items()})
        if hasattr(relax.backend, name):  # what chooses kernels asks for the target
            with tvm.target.Target("llvm"):
                module = step(module)
        else:
            module = step(module)
    return module


def texts_of(module, steps):
    """What the program is at first and behind each pass, without and with its constants."""
    texts = [[module.script(), module.script(show_meta=True)]]
    try:
        for step in steps:
            module = run_passes(module, [step])
            texts.append([module.script(), module.script(show_meta=True)])
    except BaseException:  # what is there already is asked for
        pass
    return texts


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
            if question.get("each"):
                answer = {"steps": texts_of(module, question["passes"])}
            else:
                module = run_passes(module, question.get("passes", []))
                answer = {"print": module.script(show_meta=question.get("metadata", False))}
        except BaseException as e:  # TVM raises many kinds
            answer = {"error": "; ".join(said)[:2000] or f"{type(e).__name__}: {e}"[:2000]}
        answers.write(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
