#!/usr/bin/env python3
"""The examples of the documentation, run: what a page shows is what the program says.

A block that begins with ```console holds commands behind "$ " and, below each, what it writes
(standard output and error together). A line "..." stands for any lines. `tvms` is the program under test;
commands run in the root of the repository, or in a scratch copy of it if the block says ```console scratch.
Links to files of the repository must lead somewhere.
"""
import os, re, shutil, subprocess, sys, tempfile, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import TVMS, files_under, main, source

BLOCK = re.compile(r"^```console( scratch)?\n(.*?)^```$", re.M | re.S)
# A file of the project in running text: `folder/name.c`. In bold it is one that the page tells to make.
NAMED_FILE = re.compile(r"(?<!\*\*)`((?:[a-z_]+/)+[\w.-]+\.(?:c|h|def|re|y|py|tvms|md|build))`")
FENCED = re.compile(r"^```.*?^```$", re.M | re.S)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.M | re.S)


def pages():
    yield from (source(n) for n in sorted(os.listdir(source())) if n.endswith(".md"))
    yield from files_under("docs", suffix=".md")


def examples():
    for page in pages():
        with open(page, encoding="utf-8") as f:
            text = f.read()
        for block in BLOCK.finditer(text):
            line = text[: block.start()].count("\n") + 1
            yield os.path.relpath(page, source()), line, bool(block.group(1)), block.group(2)


def commands(block):
    """(command, expected output) of a block."""
    parts = re.split(r"^\$ ", block, flags=re.M)
    for part in parts[1:]:
        command, _, expected = part.partition("\n")
        while command.endswith("\\"):
            more, _, expected = expected.partition("\n")
            command = command[:-1] + more.lstrip("> ")
        yield command, expected


def as_pattern(expected):
    lines = ["(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + "\n" for line in expected.splitlines()]
    return re.compile("".join(lines) + r"\Z")


OPTION = re.compile(r"""^OPTION\(\w+, *"([\w-]+)", *(?:'(.)'|0),""", re.M)


class Docs(unittest.TestCase):
    def test_every_option_is_named(self):
        """By its long or its short name, on some page."""
        text = ""
        for page in pages():
            with open(page, encoding="utf-8") as f:
                text += f.read()
        with open(source("cli", "options.def"), encoding="utf-8") as f:
            options = OPTION.findall(f.read())
        self.assertGreater(len(options), 50)
        for name, letter in options:
            with self.subTest(option=name):
                short = rf"|(?<![\w-])-{letter}(?![a-z-])" if letter else ""
                self.assertRegex(text, rf"--{name}(?![\w-]){short}")

    def run_block(self, block, folder):
        programs = os.path.join(folder, ".programs")
        os.makedirs(programs, exist_ok=True)
        link = os.path.join(programs, "tvms")
        if not os.path.exists(link):
            os.symlink(os.path.abspath(TVMS), link)
        environment = dict(os.environ, PATH=programs + ":" + os.environ["PATH"], NO_COLOR="1")
        for command, expected in commands(block):
            p = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
            said = p.stdout.decode()
            if not as_pattern(expected).match(said):
                self.fail(f"$ {command}\n--- the page says\n{expected}--- the program says\n{said}")

    def test_examples(self):
        for page, line, scratch, block in examples():
            with self.subTest(page=page, line=line), tempfile.TemporaryDirectory() as folder:
                copy = os.path.join(folder, "tvms")
                os.mkdir(copy)
                for name in os.listdir(source()):
                    if name in ("corpus", "docs", "tests") and scratch:
                        shutil.copytree(source(name), os.path.join(copy, name))
                    elif not name.startswith((".", "build")):
                        os.symlink(os.path.abspath(source(name)), os.path.join(copy, name))
                self.run_block(block, copy)

    def test_links(self):
        for page in pages():
            with open(page, encoding="utf-8") as f:
                for target in LINK.findall(CODE.sub("", f.read())):
                    with self.subTest(page=page, target=target):
                        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(page), target)), target)

    def test_files_that_are_named_exist(self):
        for page in pages():
            with open(page, encoding="utf-8") as f:
                for name in NAMED_FILE.findall(FENCED.sub("", f.read())):
                    with self.subTest(page=page, name=name):
                        self.assertTrue(os.path.exists(source(name)), name)

    def test_sections_that_code_names_exist(self):
        """`docs/language.md, "Blocks"` in a comment leads to a heading, with or without its number."""
        folders = [d for d in os.listdir(source()) if not d.startswith((".", "build")) and os.path.isdir(source(d))]
        for suffix in (".c", ".h", ".def", ".re", ".y", ".py"):
            for path in files_under(*folders, suffix=suffix):
                with open(path, encoding="utf-8") as f:
                    text = re.sub(r"\n(?://| \*|#)? *", " ", f.read())
                for page, section in re.findall(r'(docs/[\w-]+\.md), "([^"]+)"', text):
                    with self.subTest(file=os.path.relpath(path, source()), page=page, section=section):
                        with open(source(*page.split("/")), encoding="utf-8") as f:
                            self.assertRegex(f.read(), rf"(?m)^#+ (\d+\. )?{re.escape(section)}( \(|$)")

    def test_every_table_is_named(self):
        with open(source("docs", "architecture.md"), encoding="utf-8") as f:
            architecture = f.read()
        for path in files_under(*(d for d in os.listdir(source()) if not d.startswith((".", "build"))), suffix=".def"):
            with self.subTest(path=path):
                self.assertIn(f"`{os.path.relpath(path, source())}`", architecture)


if __name__ == "__main__":
    main()
