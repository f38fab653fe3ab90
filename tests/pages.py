"""Pages of docs/ that a test follows: their steps, and a copy of the sources to apply them to.

A step is a numbered item that begins with its files in bold: **`path`**. What follows up to the ':' says where the
first block of the item goes: "below the line `…`" (which stands in the file once), "at the end" or "a new file".
"""
import os, re, shutil, subprocess, textwrap

from cases import source

ITEM = re.compile(r"^(\d+)\. (\*\*`.*?)(?=^\d+\. |^\S|\Z)", re.M | re.S)
FILES = re.compile(r"\*\*`([^`]+)`\*\*(?: and )?")
BLOCK = re.compile(r"^   ```\w*\n(.*?)^   ```$", re.M | re.S)


class Step:
    def __init__(self, number, text):
        self.number, self.paths, at = int(number), [], 0
        while match := FILES.match(text, at):
            self.paths.append(match.group(1))
            at = match.end()
        where, _, rest = text[at:].partition(":")
        block = BLOCK.search(rest)
        self.where = re.sub(r"\s*\n\s*", " ", where)
        self.block = textwrap.dedent(block.group(1)) if block else None


def steps(name, section=None):
    """The steps of docs/<name>, in order: those in front of its sections, or those of one."""
    with open(source("docs", name), encoding="utf-8") as f:
        sections = re.split(r"^## (.+)\n", "\n" + f.read(), flags=re.M)
    text = sections[sections.index(section) + 1 if section else 0]
    found = [Step(number, item) for number, item in ITEM.findall(text)]
    if [step.number for step in found] != list(range(1, len(found) + 1)):
        raise AssertionError(f"{name}: steps {[step.number for step in found]}")
    return found


def skipped(folder, names):
    """Build folders, whatever they are called, and what begins with a dot."""
    return {n for n in names if n.startswith(".") or os.path.isdir(os.path.join(folder, n, "meson-private"))}


def copy_sources(scratch):
    folder = os.path.join(scratch, "tvms")
    shutil.copytree(source(), folder, symlinks=True, ignore=skipped)
    return folder


def place(text, where, path, new):
    if "below the line" in where:
        anchor = re.search(r"below the line `([^`]+)`", where).group(1) + "\n"
        if text.count("\n" + anchor) != 1:
            raise AssertionError(f"{path} has the line {anchor!r} {text.count(anchor)} times")
        at = text.index("\n" + anchor) + 1 + len(anchor)
        return text[:at] + new + text[at:]
    if "at the end" in where:
        return text + "\n" + new
    raise AssertionError(f"{path}: the page does not say where, but {where!r}")


def apply(folder, step):
    """Puts the block of a step into its file."""
    (path,), new = step.paths, step.block
    if not new:
        raise AssertionError(f"step {step.number} of the page has no block")
    full = os.path.join(folder, path)
    if "a new file" in step.where:
        if os.path.exists(full):
            raise AssertionError(f"{path} exists already")
        text = new
    else:
        with open(full, encoding="utf-8") as f:
            text = place(f.read(), step.where, path, new)
    with open(full, "w", encoding="utf-8") as f:
        f.write(text)


def run(*command, folder):
    """Exit status, and what it writes to both."""
    p = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    return p.returncode, p.stdout.decode(errors="replace")


def build(test, folder):
    """Builds the program of a copy without optimisation; what the compiler says."""
    if not os.path.exists(os.path.join(folder, "build")):
        options = ["--buildtype=plain", "-Dtests=false", "-Dllvm=false", "-Dfuzz=false"]
        status, said = run("meson", "setup", "build", *options, folder=folder)
        test.assertEqual(status, 0, said)
    status, said = run("ninja", "-j2", "-C", "build", "tvms", folder=folder)
    test.assertEqual(status, 0, said[-4000:])
    return said
