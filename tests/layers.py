#!/usr/bin/env python3
"""Layering: which folder may include which, and how (docs/architecture.md).

Each row of ROOMS names a folder and the folders directly below it; a folder may include
everything that those may include. A file belongs to the longest folder of the table that it
lies in, so a folder may have rooms of its own. Includes are spelled from the root: "ir/walk.h".

A folder does not name what it may not include either: no type, constant, macro or function that
only headers of other folders define may stand in its code, not even as `struct tvms_tir_state *`.
Rows of BLIND go further: no identifier of such a folder has the name of one of these rooms in it.
"""
import collections, os, re, sys

ROOMS = {
    "support": [],
    "grammar": ["support"],
    "ir": ["support"],
    "config": ["ir"],
    "arith": ["ir"],
    "structinfo": ["arith"],
    "lint": ["grammar", "structinfo"],
    "format": ["grammar"],
    "parser/eval": ["grammar", "ir"],
    "parser/tir": ["parser/eval", "structinfo"],
    "parser/relax": ["parser/tir"],
    "parser/tile": ["parser/tir"],
    "parser/device": ["parser/tir"],
    "parser": ["parser/relax", "parser/tile", "parser/device"],
    "migrate": ["grammar", "ir"],
    "printer": ["arith"],
    "runtime": ["support"],
    "te": ["structinfo"],
    "interp": ["structinfo", "runtime"],
    "schedule": ["grammar", "structinfo"],
    "vm": ["interp"],
    "passes": ["te", "interp", "schedule"],
    "backend": ["passes", "vm"],
    "driver": ["config", "lint", "format", "parser", "migrate", "printer", "passes", "backend", "vm"],
    "cli": ["driver"],
}
# Folders that serve rooms of which they know nothing, and the names of those.
BLIND = {"parser/eval": {"tir", "relax", "tile", "device"}}
# Build-time programs and tests read tables of every folder.
FREE = ("tools", "tests", "bench")
# What public headers may include beside each other.
PUBLIC = ("stdbool.h", "stddef.h", "stdint.h")
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
SOURCES = (".c", ".h", ".def", ".re", ".y")


def reach(room):
    found, todo = {room}, [room]
    while todo:
        for below in ROOMS[todo.pop()]:
            if below not in found:
                found.add(below)
                todo.append(below)
    return found


def room_of(path):
    """The longest row of ROOMS that `path` lies in, or its first folder."""
    folders = path.split("/")[:-1]
    for length in range(len(folders), 0, -1):
        if "/".join(folders[:length]) in ROOMS:
            return "/".join(folders[:length])
    return folders[0] if folders else ""


def complaint(path, kind, name, allowed):
    room = room_of(path)
    if kind == "<":
        llvm = name.startswith(("llvm", "clang"))
        return f"{name}: only backend/ may know LLVM" if llvm and room.split("/")[0] != "backend" else None
    target = room_of(name)
    if target not in ROOMS:
        return f'"{name}" is not spelled from the root'
    if target not in allowed:
        return f"{room}/ may not include {target}/"
    return None


def check_public(root, path):
    """Yields the complaints about a header that is installed: it stands alone."""
    with open(os.path.join(root, path), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            found = INCLUDE.match(line)
            if found and found.group(2) not in PUBLIC and not found.group(2).startswith("tvms/"):
                yield f"{path}:{number}: {found.group(2)}: a public header includes public ones only"


def check(root, path):
    """Yields the complaints about one file."""
    room = room_of(path)
    if room.split("/")[0] == "include":
        yield from check_public(root, path)
    if room.split("/")[0] in FREE or room.split("/")[0] == "include":
        return
    if room not in ROOMS:
        yield f"{path}: folder {room}/ is not in the table of tests/layers.py"
        return
    allowed = reach(room)
    with open(os.path.join(root, path), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            found = INCLUDE.match(line)
            said = found and complaint(path, *found.groups(), allowed)
            if said:
                yield f"{path}:{number}: {said}"


def code_of(text):
    """The text without comments, strings and includes; lines stay."""
    blank = lambda m: re.sub(r"[^\n]", " ", m.group())
    text = re.sub(r'/\*.*?\*/|//[^\n]*|^[ \t]*#[ \t]*include[^\n]*', blank, text, flags=re.S | re.M)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"', blank, text)


NAME = re.compile(r"\b(?:tvms|TVMS)_\w+")
DEFINITIONS = (
    re.compile(r"\b(?:struct|union|enum)\s+(tvms_\w+)\s*\{"),
    re.compile(r"\}\s*(tvms_\w+)\s*;"),
    re.compile(r"^typedef\b[^;{}]*?\b(tvms_\w+)\s*(?:\([^;]*\))?;", re.M),
    re.compile(r"^\s*#\s*define\s+(TVMS_\w+)", re.M),
    re.compile(r"^\s+(TVMS_[A-Z0-9_]+)\s*(?:=[^,;{}()]*)?,", re.M),
    re.compile(r"^(?!typedef|return)[A-Za-z_][^;{}#=]*?\b(tvms_\w+)\s*\(", re.M),
)


def defined_names(sources):
    """{name: rooms whose headers define it}. A typedef of a struct defines it where its members stand."""
    homes = collections.defaultdict(set)
    for path, code in sources.items():
        if not path.endswith(".h"):
            continue
        for pattern in DEFINITIONS:
            for found in pattern.finditer(code):
                forward = pattern is DEFINITIONS[2] and re.match(r"typedef\s+(?:struct|union|enum)\s+(tvms_\w+)\s+(tvms_\w+);", found.group())
                if not (forward and forward.group(1) == forward.group(2)):
                    homes[found.group(1)].add(room_of(path))
    return homes


def foreign_names(path, code, homes):
    """Yields the complaints about names of other rooms in the code of one file."""
    room = room_of(path)
    if room not in ROOMS:
        return
    allowed, blind = reach(room) | {"include"}, BLIND.get(room, set())
    for number, line in enumerate(code.split("\n"), 1):
        for name in NAME.findall(line):
            rooms = homes.get(name)
            if rooms and not rooms & allowed:
                yield f"{path}:{number}: {name} is of {' and '.join(sorted(rooms))}/, which {room}/ may not include"
        for word in re.findall(r"[A-Za-z_]\w*", line) if blind else ():
            if blind & set(word.lower().split("_")):
                yield f"{path}:{number}: {word}: {room}/ knows no such room"


def main():
    root = os.environ.get("TVMS_SOURCE", ".")
    files = []
    for folder, folders, names in os.walk(root):
        folders[:] = [d for d in folders if not d.startswith((".", "build", "__"))]
        files += [os.path.relpath(os.path.join(folder, n), root) for n in names if n.endswith(SOURCES)]
    codes = {}
    for path in files:
        with open(os.path.join(root, path), encoding="utf-8") as f:
            codes[path] = code_of(f.read())
    homes = defined_names(codes)
    failed = 0
    for path in sorted(files):
        said = list(check(root, path)) + list(foreign_names(path, codes[path], homes))
        failed += bool(said)
        for line in said:
            print(line)
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
