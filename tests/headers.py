#!/usr/bin/env python3
"""What headers promise: each exporting file has its own, and each function a contract.

For every file FOLDER/NAME.c that gives the linker a function:

  - FOLDER/NAME.h exists and is the first header that NAME.c includes;
  - each of its exported functions is declared exactly once: in NAME.h, in a header that
    includes NAME.h (what a room keeps to itself), or where an inline function needs it;
  - a comment of its own stands directly above each declaration, and no other comment of the header says the same;
  - what says what a function does ("Returns", "Writes", ...) does not stand above a struct or an enum.

A header opens with its job.
"""
import os, re, subprocess, sys

ROOT = os.environ.get("TVMS_SOURCE", ".")
FREE = ("tests/", "bench/", "tools/")
DECLARATION = re.compile(r"^(?!typedef|enum|return|#|static)[A-Za-z_][^;{}#=]*?\b(tvms_\w+)\s*\([^;{}]*\)[^;{}]*([;{])", re.M)
INCLUDE = re.compile(r'^#include ["<]((?:tvms/)?[^">]+\.h)[">]', re.M)


def own_header(path):
    """The header of a source file: that beside it, of driver/api/ a public one."""
    public = re.fullmatch(r"driver/api/(\w+)\.c", path)
    return f"include/tvms/{public.group(1)}.h" if public and public.group(1) != "api" else path[:-2] + ".h"


def includes(text):
    """The headers of the project that a text includes, as paths."""
    names = INCLUDE.findall(text)
    return ["include/" + n if n.startswith("tvms/") else n for n in names if "/" in n]


def blank(text):
    """The text with its comments and strings of macros as spaces; places stay."""
    text = re.sub(r"//[^\n]*", lambda m: " " * len(m.group()), text)
    return re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def sources():
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [d for d in folders if not d.startswith((".", "build", "__"))]
        found += [os.path.relpath(os.path.join(folder, n), ROOT) for n in names if n.endswith((".c", ".h"))]
    return sorted(f for f in found if not f.startswith(FREE))


def has_contract(text, start):
    """Is the line above the declaration a comment that is not the title of a section?"""
    above = text[:start].rstrip("\n").rsplit("\n", 1)[-1] if text[start - 2 : start] != "\n\n" else ""
    return above.startswith("//") and not above.startswith("// ----") or above.rstrip().endswith("*/")


# A comment with the line below it.
COMMENT = re.compile(r"((?:^[ ]*//[^\n]*\n)+)([^\n]*)", re.M)
OF_A_FUNCTION = re.compile(r"// (?:Appends|Finds|Frees|Makes|Reads|Reports|Returns|Runs|Writes) ")
OF_NO_FUNCTION = re.compile(r"(?:typedef )?(?:struct|enum)\b")


def misplaced(path, text):
    """Complaints about comments that stand twice or above something else."""
    found, seen = [], {}
    for match in COMMENT.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        said = " ".join(match.group(1).replace("//", " ").split())[:60]
        if len(said) == 60 and said in seen:
            found.append(f"{path}:{line}: the comment of line {seen[said]} stands here again")
        seen.setdefault(said, line)
        last = match.group(1).rstrip("\n").split("\n")[0].lstrip()
        if OF_A_FUNCTION.match(last) and OF_NO_FUNCTION.match(match.group(2)):
            found.append(f"{path}:{line}: the contract of a function stands above '{match.group(2)}'")
    return found


def reach(header, texts, seen):
    for name in includes(texts.get(header, "")):
        if name not in seen:
            seen.add(name)
            reach(name, texts, seen)
    return seen


def main():
    texts = {path: read(path) for path in sources()}
    declared, complaints, checked = {}, [], 0
    for path in (p for p in texts if p.endswith(".h")):
        if not texts[path].startswith(("//", "/*")):
            complaints.append(f"{path}:1: the header does not open with its job")
        complaints += misplaced(path, texts[path])
        for match in DECLARATION.finditer(blank(texts[path])):
            if match.group(2) != ";":
                continue
            line = texts[path].count("\n", 0, match.start()) + 1
            declared.setdefault(match.group(1), []).append((path, line, has_contract(texts[path], match.start())))
    for path in (p for p in texts if p.endswith(".c")):
        own = own_header(path)
        functions = [m.group(1) for m in DECLARATION.finditer(blank(texts[path])) if m.group(2) == "{"]
        functions = [f for f in functions if f in declared]
        if functions and own not in texts:
            complaints.append(f"{path}: exports functions and has no header {own}")
        elif functions and own not in includes(texts[path])[: None if own.startswith("include/") else 1]:
            complaints.append(f"{path}: the first header that it includes is not {own}")
        for function in functions:
            checked += 1
            places = declared[function]
            for header, line, contract in places:
                inlined = len(re.findall(rf"\b{function}\b", blank(texts[header]))) > 1
                if header != own and not inlined and own not in reach(header, texts, set()):
                    complaints.append(f"{header}:{line}: {function} is defined in {path} and declared outside its header")
                if not contract:
                    complaints.append(f"{header}:{line}: {function} has no contract of its own")
            if len(places) > 1:
                complaints.append(f"{places[1][0]}:{places[1][1]}: {function} is declared twice")
    for complaint in complaints:
        print(complaint)
    print(f"{max(checked - len(complaints), 0)} passed, {len(complaints)} failed")
    return 1 if complaints or not checked else 0


if __name__ == "__main__":
    sys.exit(main())
