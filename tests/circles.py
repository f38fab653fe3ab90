#!/usr/bin/env python3
"""Circles of files that call each other, and calls upwards (docs/architecture.md, "Circles").

    circles.py LIBRARY...                 checks what the object files of the libraries call
    circles.py --calls FROM TO LIBRARY... lists the calls from one room (or file) to another
    circles.py --circles LIBRARY...       lists all circles of three and more files

The graph has a node per source file and an edge where an object file leaves a symbol undefined
that another one defines: functions and tables alike. Handlers in a table count for the file that
holds the table, not for the one that calls through it, so a table is what opens a circle. Rooms
are those of tests/layers.py.
"""
import json, os, re, subprocess, sys
from collections import defaultdict

import layers

# Files that a circle inside one room may have without being named here.
MOST = 12
# Circles that stay, each by one of its files: the recursion of their subject.
# docs/architecture.md has the same list.
STAY = {
    "arith/canonical.c": "what proves a fact about a part of an expression asks the simplifier, which asks it",
    "printer/expr.c": "expressions hold buffers, regions, types and functions, which hold expressions",
    "interp/expr.c": "statements hold expressions, and an expression calls functions",
    "backend/llvm/expr.c": "statements hold expressions and blocks, which hold statements",
}


def compiled(library):
    """Pairs of an object file and its source for what `library` was made of."""
    folder = os.path.dirname(library)
    while not os.path.exists(os.path.join(folder, "compile_commands.json")):
        folder = os.path.dirname(folder)
    root = os.path.realpath(os.environ.get("TVMS_SOURCE", "."))
    objects = os.path.relpath(library, folder) + ".p/"
    with open(os.path.join(folder, "compile_commands.json"), encoding="utf-8") as f:
        for command in json.load(f):
            if command["output"].startswith(objects):
                source = os.path.realpath(os.path.join(folder, command["file"]))
                base = root if source.startswith(root + "/") and not source.startswith(os.path.realpath(folder) + "/") else os.path.realpath(folder)
                yield os.path.join(folder, command["output"]), os.path.relpath(source, base)


def symbols(objects):
    """Defined and undefined tvms_ symbols: {object: (set, set)}, by one call of nm."""
    found = {o: (set(), set()) for o in objects}
    run = subprocess.run(["nm", "-A", "--extern-only", *objects], capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    for line in run.stdout.splitlines():
        path, _, rest = line.rpartition(":")
        fields = rest.split()
        if fields[-1].startswith("tvms_"):
            found[path][fields[-2] == "U"].add(fields[-1])
    return found


def graph_of(libraries):
    """{file: {file: symbols that the first takes from the second}}."""
    sources = {o: s for library in libraries for o, s in compiled(os.path.abspath(library))}
    found = symbols(list(sources))
    home = {}
    for o, (defined, _) in found.items():
        for name in defined:
            if home.setdefault(name, sources[o]) != sources[o]:
                sys.exit(f"{name} is defined by {home[name]} and {sources[o]}: the linker takes the first it finds")
    graph = {source: defaultdict(set) for source in sources.values()}
    for o, (_, undefined) in found.items():
        for name in undefined:
            if home.get(name, sources[o]) != sources[o]:
                graph[sources[o]][home[name]].add(name)
    return graph


def order_of(graph):
    """The files so that each stands behind those it calls (first pass of Kosaraju), without recursion."""
    seen, order = set(), []
    for start in sorted(graph):
        todo = [(start, False)]
        while todo:
            file, left = todo.pop()
            if left:
                order.append(file)
            elif file not in seen:
                seen.add(file)
                todo.append((file, True))
                todo += [(below, False) for below in graph[file]]
    return order


def circles_of(graph):
    """Strongly connected components of two and more files, each sorted."""
    callers = defaultdict(set)
    for file, below in graph.items():
        for other in below:
            callers[other].add(file)
    seen, found = set(), []
    for start in reversed(order_of(graph)):
        circle, todo = [], [start]
        while todo:
            file = todo.pop()
            if file not in seen:
                seen.add(file)
                circle.append(file)
                todo += callers[file]
        if len(circle) > 1:
            found.append(sorted(circle))
    return found


def rooms_of(circle):
    return sorted({layers.room_of(f) for f in circle})


def check_circles(graph):
    """Yields a complaint, or None, for each circle and for each name of one."""
    circles = circles_of(graph)
    for circle in circles:
        one_room = len(rooms_of(circle)) == 1
        good = one_room and (len(circle) <= MOST or any(f in STAY for f in circle))
        yield None if good else f"circle of {len(circle)} files in {', '.join(rooms_of(circle))}: {' '.join(circle)}"
    for file in STAY:
        good = any(file in c for c in circles)
        yield None if good else f"{file} is in no circle: take it out of tests/circles.py"


def check_calls(graph):
    """Yields a complaint, or None, for each file: calls into rooms that its own may not include."""
    for file, below in sorted(graph.items()):
        room = layers.room_of(file)
        allowed = layers.reach(room) if room in layers.ROOMS else ()
        bad = [f for f in sorted(below) if layers.room_of(f) in layers.ROOMS and layers.room_of(f) not in allowed]
        yield "\n".join(f"{file} calls {f}: {' '.join(sorted(below[f]))}" for f in bad) or None


def check_document():
    path = os.path.join(os.environ.get("TVMS_SOURCE", "."), "docs", "architecture.md")
    with open(path, encoding="utf-8") as f:
        section = f.read().partition("\n## Circles\n")[2].partition("\n## ")[0]
    listed = set(re.findall(r"^\| `([^`]+\.c)` \|", section, re.M))
    for file in sorted(listed | set(STAY)):
        good = file in listed and file in STAY
        yield None if good else f"{file}: docs/architecture.md and tests/circles.py name different circles"


def show_calls(graph, origin, target):
    for file, below in sorted(graph.items()):
        for other, names in sorted(below.items()):
            if origin in (file, layers.room_of(file)) and target in (other, layers.room_of(other)):
                print(f"{file} -> {other}: {' '.join(sorted(names))}")


def main():
    args = sys.argv[1:]
    if args and args[0] == "--calls":
        return show_calls(graph_of(args[3:]), args[1], args[2])
    if args and args[0] == "--circles":
        for circle in circles_of(graph_of(args[1:])):
            if len(circle) > 2:
                print(len(circle), " ".join(circle))
        return 0
    graph = graph_of(args)
    said = [*check_circles(graph), *check_calls(graph), *check_document()]
    wrong = [s for s in said if s]
    print("\n".join(wrong + [f"{len(said) - len(wrong)} passed, {len(wrong)} failed"]))
    return 1 if wrong or not graph else 0


if __name__ == "__main__":
    sys.exit(main())
