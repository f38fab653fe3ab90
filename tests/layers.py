#!/usr/bin/env python3
"""Layering: which folder may include which, and how (docs/architecture.md).

Each row of ROOMS names a folder and the folders directly below it; a folder may include
everything that those may include. A file belongs to the longest folder of the table that it
lies in, so a folder may have rooms of its own. Includes are spelled from the root: "ir/walk.h".
"""
import os, re, sys

ROOMS = {
    "support": [],
    "grammar": ["support"],
    "ir": ["support"],
    "arith": ["ir"],
    "structinfo": ["arith"],
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
    "passes": ["te", "interp"],
    "backend": ["passes"],
    "driver": ["format", "parser", "migrate", "printer", "passes", "backend"],
    "cli": ["driver"],
}
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


def main():
    root = os.environ.get("TVMS_SOURCE", ".")
    files = []
    for folder, folders, names in os.walk(root):
        folders[:] = [d for d in folders if not d.startswith((".", "build", "__"))]
        files += [os.path.relpath(os.path.join(folder, n), root) for n in names if n.endswith(SOURCES)]
    failed = 0
    for path in sorted(files):
        said = list(check(root, path))
        failed += bool(said)
        for line in said:
            print(line)
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
