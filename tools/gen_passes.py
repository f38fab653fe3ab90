#!/usr/bin/env python3
"""Build-time program: makes a C table of the head comments of passes.

    gen_passes.py PASSES.DEF SOURCE.c... OUT.c

A tvms_pass_page (passes/pages.h) for each row PASS. The head of the file that defines its
function has, in this order:

    // Name[, Name]: what it does, a sentence.
    //
    // Before: text        what stands behind "After" may follow on the same line
    // After:  text        lines in front of "Before" belong to the example
    //
    // What else there is to know, and what it does not do.
    // TVM: names of the passes of TVM, or "TVM has no such pass."

A head that lacks a part, or has it elsewhere, ends the build with its place.
"""
import os, re, sys

ROW = re.compile(r"^PASS\((\w+), (\w+),", re.M)
DEFINITION = re.compile(r"^void tvms_pass_(\w+)\(tvms_pass_run \*", re.M)
TITLE = re.compile(r"(\w+(?:, \w+)*): (\S.*)", re.S)
BEFORE, AFTER = re.compile(r"^Before\b", re.M), re.compile(r"(?:^|   )After\b", re.M)
COUNTERPART = re.compile(r"\bTVM:\s|\bTVM has no such pass\b")

HEAD = '// Made by tools/gen_passes.py of the heads of passes.\n#include "passes/pages.h"\n\n'


class Slip(Exception):
    pass


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def head_of(text):
    """The comment that a file opens with, without slashes."""
    return re.sub(r"^// ?", "", re.match(r"(?://.*\n)*", text).group(0), flags=re.M)


def joined(text):
    """Paragraphs with single spaces, empty lines between them."""
    return "\n\n".join(" ".join(p.split()) for p in text.strip().split("\n\n"))


def page(head):
    """The names of a head, and its four parts."""
    first, _, rest = head.partition("\n\n")
    title = TITLE.fullmatch(first.strip())
    if not title:
        raise Slip("the head begins with the names of its passes, ':' and what they do")
    marks = [mark.search(rest) for mark in (BEFORE, AFTER, COUNTERPART)]
    for mark, name in zip(marks, ("'Before'", "'After'", "'TVM:' or 'TVM has no such pass'")):
        if not mark:
            raise Slip(f"the head has no {name}")
    if not marks[0].start() < marks[1].start() < marks[2].start():
        raise Slip("'Before', 'After' and 'TVM:' stand in this order")
    # The example may have several paragraphs; it ends with that of 'After'.
    rest, counterpart = rest[: marks[2].start()], rest[marks[2].start() :]
    end = rest.find("\n\n", marks[1].start())
    example, more = (rest[:end], rest[end:]) if end >= 0 else (rest, "")
    if not more.strip():
        raise Slip("nothing stands between the example and 'TVM:': what else it does, and what not")
    if "\n\n" in counterpart.strip():
        raise Slip("'TVM:' is the last part of the head")
    names = title.group(1).split(", ")
    return names, joined(title.group(2)), example.strip("\n"), joined(more), joined(counterpart)


def quoted(text):
    lines = text.replace("\\", "\\\\").replace('"', '\\"').split("\n")
    return "\n     ".join(f'"{line}\\n"' for line in lines[:-1]) + ("\n     " if lines[1:] else "") + f'"{lines[-1]}"'


def pages(table, sources):
    heads = {}
    for path in sources:
        text = read(path)
        for function in DEFINITION.findall(text):
            heads[function] = (path, head_of(text))
    for name, function in ROW.findall(read(table)):
        if function not in heads:
            raise Slip(f"{table}: no file defines tvms_pass_{function}, the function of {name}")
        path, head = heads[function]
        try:
            names, *parts = page(head)
            if name not in names:
                raise Slip(f"the head does not name {name}")
        except Slip as slip:
            raise Slip(f"{path}:1: {slip}") from None
        yield f'    {{"{name}",\n     ' + ",\n     ".join(quoted(part) for part in parts) + "},\n"


def main():
    table, *sources, out = sys.argv[1:]
    try:
        text = "".join(pages(table, sources))
    except Slip as slip:
        sys.exit(f"gen_passes.py: {slip}")
    text = f'{HEAD}const tvms_pass_page tvms_pass_pages[] = {{\n{text}}};\n'
    # An old file that says the same stays as it is, so that nothing is built again for it.
    if os.path.exists(out) and read(out) == text:
        return
    with open(out, "w", encoding="utf-8") as f:
        f.write(text)


if __name__ == "__main__":
    main()
