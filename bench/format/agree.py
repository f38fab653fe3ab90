#!/usr/bin/env python3
"""How far `tvms fmt` agrees with ruff on the TVMScript of checked-out projects.

    agree.py [--tvms PROGRAM] [--ruff PROGRAM] [--seed N] [--times N] [--most N] [--keep FOLDER] PROJECT...

PROJECT is a work tree with its configuration of ruff. For each project:

  files     of the files that ruff is content with: those that `tvms fmt --check` is content with, too
  disturbed each definition, alone in a file that ruff has laid out: its line breaks, quotes, spaces, parentheses and trailing commas
            are changed at random (its `ast` is not), `tvms fmt -i` mends it, and ruff then changes nothing. The `ast` and the comments
            must be the same, and a second run of tvms must change nothing

Without --ruff, ruff 0.17.6 is installed from PyPI into a folder of the user's cache. --keep leaves the definitions on which the two
disagree, and ruff's diff, in FOLDER. Nothing of the projects is part of this repository.
"""
import argparse, ast, io, os, random, re, subprocess, sys, tempfile, tokenize, tomllib, venv, warnings

RUFF = "0.17.6"
DECORATORS = {"prim_func", "ir_module", "function", "macro", "inline", "jit"}
HEADER = "import tvm\nfrom tvm.script import ir as I, relax as R, tirx as T\n"
OPEN, SHUT = "([{", ")]}"


def install_ruff():
    folder = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "tvms-bench", "ruff-" + RUFF)
    program = os.path.join(folder, "bin", "ruff")
    if not os.path.exists(program):
        venv.create(folder, with_pip=True)
        subprocess.run([os.path.join(folder, "bin", "pip"), "install", "-q", "ruff==" + RUFF], check=True)
    return program


# ---- definitions ------------------------------------------------------------------------


def is_script(node):
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call):
            decorator = decorator.func
        parts = ast.unparse(decorator).split(".")
        if parts[-1] in DECORATORS and (parts[:-1] in (["T"], ["R"], ["I"]) or parts[:2] == ["tvm", "script"]):
            return True
    return False


def definitions(node):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.ClassDef)) and is_script(child):
            yield child
        else:
            yield from definitions(child)


def cut_out(text, node):
    """The definition as a file of its own, indented as it was."""
    lines = text.splitlines(keepends=True)[node.decorator_list[0].lineno - 1 : node.end_lineno]
    indent = len(lines[0]) - len(lines[0].lstrip(" "))
    levels = "".join(" " * i + "if 1:\n" for i in range(0, indent, 4))
    return HEADER + ("\n" if levels else "\n\n") + levels + "".join(lines).rstrip() + "\n"


# ---- disturbing -------------------------------------------------------------------------

WRAPPED = (ast.BinOp, ast.Call, ast.Subscript, ast.Name, ast.Constant, ast.Attribute, ast.Compare, ast.UnaryOp, ast.BoolOp)


def values(node):
    """Expressions that may be put in parentheses."""
    for child in ast.walk(node):
        if isinstance(child, (ast.Assign, ast.Return, ast.Expr, ast.AnnAssign)) and child.value is not None:
            if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):
                yield child.value
        elif isinstance(child, (ast.If, ast.While)):
            yield child.test
        elif isinstance(child, ast.For):
            yield child.iter
        elif isinstance(child, ast.Assert):
            yield child.test


def add_parentheses(text, rng):
    tree, lines, edits = ast.parse(text), text.split("\n"), []
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()) + 1)
    data = text.encode()
    for value in values(tree):
        if isinstance(value, WRAPPED) and rng.random() < 0.15:
            edits.append((starts[value.lineno - 1] + value.col_offset, starts[value.end_lineno - 1] + value.end_col_offset))
    for begin, end in sorted(edits, reverse=True):
        data = data[:begin] + b"(" + data[begin:end] + b")" + data[end:]
    return data.decode()


def tokens_of(text):
    return [t for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type not in (tokenize.INDENT, tokenize.DEDENT)]


def other_quotes(string, rng):
    m = re.fullmatch(r"""([a-zA-Z]*)(["'])((?:(?!["'\\]).)*)\2""", string)
    if not m or "f" in m[1].lower() or rng.random() < 0.5:
        return string
    quote = "'" if m[2] == '"' else '"'
    return m[1] + quote + m[3] + quote


def needs_blank(a, b):
    word = (tokenize.NAME, tokenize.NUMBER, tokenize.STRING)
    return a.type in word and b.type in word or a.type == tokenize.NUMBER and b.string.startswith(".") or a.string == "." and b.type == tokenize.NUMBER


def is_call(tokens, i):
    """Does the bracket open the arguments of a call or a list?"""
    t = tokens[i]
    before = tokens[i - 1] if i else None
    if t.string == "(":
        return before is not None and (before.type == tokenize.NAME and before.string not in KEYWORDS or before.string in (")", "]"))
    return t.string == "[" and not (before.type in (tokenize.NAME, tokenize.STRING) and before.string not in KEYWORDS or before.string in (")", "]"))


KEYWORDS = {"in", "if", "else", "elif", "and", "or", "not", "return", "is", "for", "while", "assert", "with", "as", "lambda", "def", "class", "import", "from", "yield"}


def disturb(text, rng):
    text = add_parentheses(text, rng)
    tokens, out, stack = tokens_of(text), [], []
    line_begin, skip = True, False
    for i, t in enumerate(tokens):
        following = tokens[i + 1] if i + 1 < len(tokens) else t
        if t.type in (tokenize.ENDMARKER,):
            break
        if t.type in (tokenize.NEWLINE, tokenize.NL):
            if t.type == tokenize.NL and stack and tokens[i - 1].type != tokenize.COMMENT and rng.random() < 0.6:
                if out and out[-1].strip():
                    out.append(" ")
                continue
            out.append("\n")
            line_begin = True
            continue
        if line_begin:
            out.append(t.line[: t.start[1]] if not stack else " " * rng.randrange(9))
            line_begin = False
        string = other_quotes(t.string, rng) if t.type == tokenize.STRING else t.string
        if string in OPEN and t.type == tokenize.OP:
            stack.append((is_call(tokens, i), len(out), following.string in SHUT))
        if string in SHUT and t.type == tokenize.OP:
            call, at, empty = stack.pop()
            inside = tokens[i - 1]
            plain = call and not empty and inside.string not in (",", "*") and not generator(tokens, i)
            if plain and inside.type != tokenize.COMMENT and inside.type != tokenize.NL and rng.random() < 0.08:
                out.append(",")
        if string == "," and stack and stack[-1][0] and closes(tokens, i) and rng.random() < 0.5:
            continue
        out.append(string)
        if t.type == tokenize.COMMENT:
            continue
        if following.type in (tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT):
            out.append("  " if following.type == tokenize.COMMENT else "")
            continue
        gap = following.start[1] - t.end[1] if following.start[0] == t.end[0] else 0
        if stack and string not in OPEN and rng.random() < 0.06 and following.string not in SHUT:
            out.append("\n" + " " * rng.randrange(9))
        elif needs_blank(t, following):
            out.append(" " * rng.choice((1, 1, 2)))
        else:
            out.append(" " * rng.choice((gap, gap, gap, 0, 1)))
    return "".join(out)


def generator(tokens, i):
    """Does a comprehension end at token `i`?"""
    depth = 0
    while i > 0:
        i -= 1
        depth += (tokens[i].string in SHUT) - (tokens[i].string in OPEN)
        if depth < 0:
            return False
        if depth == 0 and tokens[i].string == "for":
            return True
    return False


def closes(tokens, i):
    """Does a bracket close behind token `i`?"""
    i += 1
    while tokens[i].type in (tokenize.NL, tokenize.COMMENT):
        i += 1
    return tokens[i].string in SHUT


def shape(text):
    return ast.dump(ast.parse(text))


def comments(text):
    return [re.sub(r"^#+[ \t]*", "", t.string).rstrip() for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.COMMENT]


def outside(text):
    """What stands in front of the definition, which tvms leaves as it is."""
    return text[: re.search(r"^ *@", text, re.M).start()]


def disturbed(text, rng):
    """The text changed; itself if no change keeps its meaning."""
    for _ in range(5):
        try:
            changed = outside(text) + disturb(text, rng).split("\n", outside(text).count("\n"))[-1]
            if shape(changed) == shape(text) and comments(changed) == comments(text):
                return changed
        except (SyntaxError, tokenize.TokenError, IndentationError):
            pass
    return None


# ---- measuring --------------------------------------------------------------------------


def run(arguments, folder):
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True)


def python_files(project):
    for where, folders, names in os.walk(project):
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        yield from (os.path.relpath(os.path.join(where, n), project) for n in sorted(names) if n.endswith(".py"))


def whole_files(options, project):
    found = list(python_files(project))
    ruff = run([options.ruff, "format", "--check", "--no-cache", "--output-format", "concise", "."], project)
    unhappy = set(re.findall(r"^(.*?):\d+:\d+: unformatted: ", ruff.stdout, re.M))
    assert (ruff.returncode == 0) == (not unhappy), ruff.stdout[:300] + ruff.stderr[:300]
    broken = set(re.findall(r"Failed to parse (.*?\.py)", ruff.stderr))
    listed = set(run([options.ruff, "check", "--show-files", "."], project).stdout.split("\n"))
    seen = [f for f in found if os.path.join(os.path.abspath(project), f) in listed]
    content = [f for f in seen if f not in unhappy and f not in broken]
    tvms = run([options.tvms, "fmt", "--check", "."], project)
    wants = set(re.findall(r"^tvms: (?:\./)?(.*): not formatted$", tvms.stderr, re.M))
    script = [f for f in content if scripted(os.path.join(project, f))]
    differ = [f for f in content if f in wants]
    share = 100 * (1 - len(differ) / max(1, len(content)))
    share_script = 100 * (1 - len(differ) / max(1, len(script)))
    print(f"  files: ruff is content with {len(content)}, tvms wants {len(differ)} of them otherwise: {share:.2f} %; {share_script:.2f} % of {len(script)} with TVMScript")
    for name in differ[:40]:
        print(f"    {name}")


def scripted(path):
    try:
        with open(path, encoding="utf-8") as f:
            return any(definitions(ast.parse(f.read())))
    except (SyntaxError, ValueError):
        return False


def settings_of(project):
    """What of the project's configuration a lone file needs."""
    with open(os.path.join(project, "pyproject.toml"), "rb") as f:
        ruff = tomllib.load(f)["tool"]["ruff"]
    lines = [f'{key} = {ruff[key] if isinstance(ruff[key], int) else repr(ruff[key])}' for key in ("line-length", "target-version") if key in ruff]
    lines.append("[format]")
    for key, value in ruff.get("format", {}).items():
        lines.append(f"{key} = {str(value).lower() if isinstance(value, bool) else repr(value)}")
    return "\n".join(lines) + "\n"


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)


def read_all(folder):
    texts = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py"):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                texts[name] = f.read()
    return texts


def lay_out_definitions(options, project, folder):
    """One file per definition, as ruff lays it out."""
    warnings.simplefilter("ignore")
    count = 0
    for path in python_files(project):
        if count >= options.most:
            break
        try:
            with open(os.path.join(project, path), encoding="utf-8") as f:
                text = f.read()
            for node in definitions(ast.parse(text)):
                one = cut_out(text, node)
                ast.parse(one)
                write(os.path.join(folder, f"d{count:05}.py"), one)
                count += 1
        except (SyntaxError, ValueError):
            pass
    run([options.ruff, "format", "--no-cache", "."], folder)


def judge(options, project, folder, seed):
    rng = random.Random(seed)
    write(os.path.join(folder, "ruff.toml"), settings_of(project))
    lay_out_definitions(options, project, folder)
    meant = {}
    for name, text in read_all(folder).items():
        changed = disturbed(text, rng)
        if changed is None or run_skips(text):
            os.remove(os.path.join(folder, name))
            continue
        meant[name] = text
        write(os.path.join(folder, name), changed)
    before = read_all(folder)
    said = run([options.tvms, "fmt", "-i", "."], folder)
    after = read_all(folder)
    again = run([options.tvms, "fmt", "--check", "."], folder)
    diff = run([options.ruff, "format", "--no-cache", "--diff", "."], folder).stdout
    differ = set(re.findall(r"^--- (\S+\.py)", diff, re.M))
    refused = set(re.findall(r"^(?:\./)?(\S+?\.py):\d+:\d+: error", said.stderr, re.M))
    for name in refused:
        after.pop(name, None)
        differ.discard(name)
    wrong = [n for n in after if shape(after[n]) != shape(before[n]) or comments(after[n]) != comments(before[n])]
    unstable = re.findall(r"^tvms: (.*): not formatted$", again.stderr, re.M)
    share = 100 * (1 - len(differ) / max(1, len(after)))
    print(f"  disturbed: {len(after)} definitions, ruff changes {len(differ)}: {share:.2f} % agree; {len(refused)} cannot be read;"
          f" {len(wrong)} with another ast or comments, {len(unstable)} changed by a second run")
    if options.keep:
        os.makedirs(options.keep, exist_ok=True)
        write(os.path.join(options.keep, os.path.basename(os.path.abspath(project)) + f"-{seed}.diff"), diff)
        write(os.path.join(options.keep, os.path.basename(os.path.abspath(project)) + f"-{seed}.err"), said.stderr)
    return len(wrong) + len(unstable)


def run_skips(text):
    """What is not laid out: text that is protected, and functions of Python in modules."""
    return re.search(r"#\s*(fmt|yapf):|\bpyfunc\b", text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tvms", default="build/tvms")
    parser.add_argument("--ruff")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--times", type=int, default=1)
    parser.add_argument("--most", type=int, default=1 << 30, help="definitions of each project")
    parser.add_argument("--keep")
    parser.add_argument("projects", nargs="+")
    options = parser.parse_args()
    options.tvms = os.path.abspath(options.tvms)
    options.ruff = os.path.abspath(options.ruff) if options.ruff else install_ruff()
    wrong = 0
    for project in options.projects:
        print(os.path.basename(os.path.abspath(project)))
        whole_files(options, project)
        for seed in range(options.seed, options.seed + options.times):
            with tempfile.TemporaryDirectory() as folder:
                wrong += judge(options, project, folder, seed)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
