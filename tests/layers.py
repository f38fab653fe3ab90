#!/usr/bin/env python3
"""Layering: which folder may include which, and how (docs/architecture.md).

Each row of ROOMS names a folder and the folders directly below it; a folder may include
everything that those may include. Includes are spelled from the root: "ir/walk.h".
"""
import os, re, subprocess, sys

ROOMS = {
    "support": [],
    "grammar": ["support"],
    "ir": ["support"],
    "arith": ["ir"],
    "structinfo": ["arith"],
    "parser": ["grammar", "structinfo"],
    "printer": ["arith", "grammar"],
    "runtime": ["support"],
    "te": ["structinfo"],
    "interp": ["structinfo", "runtime"],
    "passes": ["te", "interp"],
    "backend": ["passes"],
    "cli": ["grammar", "parser", "printer", "passes", "backend", "runtime"],
}
# In the printer only the formatter sees the surface tree.
ONLY = {("printer", "grammar"): re.compile(r"printer/format")}
# Build-time programs and tests read tables of every folder.
FREE = ("tools", "tests", "bench")
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


def complaint(path, kind, name, allowed):
    room = path.split("/")[0]
    if kind == "<":
        llvm = name.startswith(("llvm", "clang"))
        return f"{name}: only backend/ may know LLVM" if llvm and room != "backend" else None
    target = name.split("/")[0]
    if "/" not in name or target not in ROOMS:
        return f'"{name}" is not spelled from the root'
    if target not in allowed:
        return f"{room}/ may not include {target}/"
    if (room, target) in ONLY and not ONLY[room, target].match(path):
        return f"{path} may not include {target}/"
    return None


def check(root, path):
    """Yields the complaints about one file."""
    room = path.split("/")[0]
    if room in FREE or room == "include":
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
