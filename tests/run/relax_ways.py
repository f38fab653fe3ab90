"""The ways to run a module of relax_programs.py: what each gives, by the names of the values ("result.0.1")."""
import os, pickle, re, shutil, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import npy
from cases import tvms
from library import Library
from relax_programs import NUMBER, SIGNATURE, Shape, Tensor

RELEASE = "0.27"
CODES = {"f": "<f4", "i": "<i4", "?": "|b1"}
FORMS = {"<f2": "e", "<f4": "f", "<f8": "d", "|i1": "b", "|u1": "B", "<i8": "q", "<i4": "i", "|b1": "?"}
HALF = 1e-3  # float16 differs by so much where float32 differs at all


def flattened(value, name="result"):
    """(name, (format, sizes, elements)) of everything in a value of a library."""
    if isinstance(value, tuple) and not (value and isinstance(value[0], str)):
        for i, v in enumerate(value):
            yield from flattened(v, f"{name}.{i}")
    elif isinstance(value, tuple):
        yield name, value
    elif isinstance(value, list):
        yield name, ("shape", [len(value)], value)
    else:
        yield name, ("q", [], [value])


class Ways:
    """One module in a folder of its own; close() removes it."""

    def __init__(self, module):
        self.module, self.folder = module, tempfile.mkdtemp()
        self.source = os.path.join(self.folder, "module.tvms")
        with open(self.source, "w", encoding="utf-8") as f:
            f.write(module.text)
        self.given = [x for (name, t), value in zip(SIGNATURE, module.arguments) for x in ("--in", f"{name}={self.said(name, t, value)}")]

    def close(self):
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def said(self, name, t, value):
        """An argument as --in has it."""
        if t == NUMBER:
            return str(value)
        if isinstance(t, Shape):
            return f"({', '.join(map(str, value))})"
        if not isinstance(t, Tensor):
            return f"({', '.join(self.said(f'{name}.{i}', f, v) for i, (f, v) in enumerate(zip(t, value)))})"
        path = self.path(name + ".npy")
        npy.write(path, CODES[value[0]], value[1], value[2])
        return path

    def run(self, what, main, *options):
        """`tvms run` of a program or a library; a text if it fails."""
        out = self.path("out")
        shutil.rmtree(out, ignore_errors=True)
        p = tvms("run", what, "--entry", main, "--out", out, *self.given, *options)
        if p.returncode:
            return p.stderr.decode()[:1500] or f"exit {p.returncode}"
        values = {}
        for f in os.listdir(out):
            kind, shape, items = npy.read(os.path.join(out, f))
            values[f[:-4]] = (FORMS[kind], list(shape), items)
        for name, sizes in re.findall(r"^(\S+): \((.*)\)$", p.stdout.decode(), re.M):
            sizes = [int(size) for size in sizes.replace(",", " ").split()]
            values[name] = ("shape", [len(sizes)], sizes)
        return values

    def interpret(self, main):
        return self.run(self.source, main, "--dialect", RELEASE)

    def build(self, name, *options):
        """A library, or None with self.wrong set."""
        library = self.path(name)
        p = tvms("build", self.source, "--dialect", RELEASE, "-o", library, *options, timeout=600)
        self.wrong = "" if p.returncode == 0 else p.stderr.decode()[:3000] or f"exit {p.returncode}"
        return None if self.wrong else library

    def call(self, library, mains):
        """Functions of a native library, in a process of its own: one that crashes is a text, too."""
        code = "import pickle, sys; sys.path[:0] = sys.argv[3:]; from relax_ways import call_all; call_all(*sys.argv[1:3])"
        question = self.path("question")
        with open(question, "wb") as f:
            pickle.dump((mains, self.module.arguments), f)
        p = subprocess.run([sys.executable, "-c", code, library, question, *sys.path], capture_output=True, timeout=120)
        if p.returncode:
            return {main: f"exit {p.returncode}: {p.stderr.decode()[-500:]}" for main in mains}
        return pickle.loads(p.stdout)


def call_all(path, question):
    with open(question, "rb") as f:
        mains, arguments = pickle.load(f)
    library, answer = Library(path), {}
    for main in mains:
        said = library(main, *arguments)
        answer[main] = said if isinstance(said, str) else dict(flattened(said))
    sys.stdout.buffer.write(pickle.dumps(answer))


def differ(got, wanted, relative=0.0):
    """What is different, or ""."""
    for said in (got, wanted):
        if isinstance(said, str):
            return said
    if sorted(got) != sorted(wanted):
        return f"{sorted(got)} and {sorted(wanted)}"
    for name in wanted:
        a, b = ([v[0], list(v[1]), list(v[2])] for v in (got[name], wanted[name]))
        wrong = npy.differ(a, b, max(relative, HALF) if relative and a[0] == "e" else relative)
        if wrong:
            return f"{name}: {wrong}"
    return ""
