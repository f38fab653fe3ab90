#!/usr/bin/env python3
"""Instructions of the loops that take the time of a kernel, for two processors: hot_loops.py [--write].

Kernels of tests/files/hot_loops.tvms are compiled for each processor of PROCESSORS. Of each one the innermost loop with the most arithmetic of vectors (of those, the
one in the most loops) is looked for in the assembler text, and the loop around it. A row of hot_loops.tsv says, of one kernel on one processor, how many instructions of the loop compute with
vectors (this number is met), how many others it has (not more), how many of these access the stack (not more), and how many
instructions the loop around has apart from it (not more; `-`: no loop around). What a change makes shorter may be written by --write, which is read before it is committed.

Code that is slower by a tenth gives the same results; no other test sees it, and a machine that runs tests measures nothing.
"""
import csv, os, re, subprocess, sys, tempfile

PROCESSORS = ("znver4", "haswell")
COLUMNS = ("kernel", "processor", "arithmetic", "others", "stack", "around")
ARITHMETIC = re.compile(r"v((fn?m|add|sub|mul|div|max|min)\w*p[sd]|p(add|sub|sll|srl)[dq]|pdpbusd)\b")
SOURCE = os.environ.get("TVMS_SOURCE", ".")


def functions(text):
    """Lines of instructions and labels of each kernel: of all functions whose names begin with its own."""
    kernels, name = {}, None
    for line in text.splitlines():
        begin = re.match(r"(\w+)(\.[\w.]+)?:", line)
        if begin:
            name = begin[1]
        elif re.match(r"\.L(tvms\.|func_end)", line):
            name = None
        code = line.split("#")[0].strip()
        if name and code and (not code.startswith(".") or code.endswith(":")):
            kernels.setdefault(name, []).append(code)
    return kernels


def loops(code):
    """(first, last) of each loop: a label, and a jump back to it from the furthest on."""
    labels, found = {}, {}
    for i, line in enumerate(code):
        if line.endswith(":"):
            labels[line[:-1]] = i
        jump = re.match(r"j\w+\s+(\S+)", line)
        if jump and jump[1] in labels:
            found[labels[jump[1]]] = i
    return list(found.items())


def within(inner, outer):
    return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]


def instructions(code, begin, end):
    return [line for line in code[begin:end + 1] if not line.endswith(":")]


def measure(code):
    """What a row says of a kernel."""
    every = loops(code)
    innermost = [a for a in every if not any(within(b, a) for b in every)]
    count = lambda a: sum(bool(ARITHMETIC.match(line)) for line in instructions(code, *a))
    hot = max(innermost, key=lambda a: (count(a), sum(within(a, b) for b in every), a[1] - a[0]))
    own = instructions(code, *hot)
    around = [a for a in every if within(hot, a)]
    outer = "-"
    if around:
        nearest = min(around, key=lambda a: a[1] - a[0])
        nested = [a for a in every if within(a, nearest) and not any(within(a, b) for b in every if within(b, nearest))]
        outer = str(len(instructions(code, *nearest)) - sum(len(instructions(code, *a)) for a in nested))
    arithmetic = count(hot)
    framed = any(re.match(r"movq\s+%rsp, %rbp", line) for line in code)  # else %rbp is a register like any other
    stack = sum(bool(re.search(r"\(%r[sb]p" if framed else r"\(%rsp", line)) for line in own)
    return {"arithmetic": str(arithmetic), "others": str(len(own) - arithmetic), "stack": str(stack), "around": outer}


def rows():
    """A row for each kernel and processor, as it is now."""
    program = os.environ.get("TVMS_PLAIN", os.environ["TVMS_PROGRAM"])
    path = os.path.join(SOURCE, "tests", "files", "hot_loops.tvms")
    for processor in PROCESSORS:
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "kernels.s")
            subprocess.run([program, "build", "-q", "--primfuncs-only", path, "--target", "x86_64-pc-linux-gnu," + processor, "-o", out], check=True)
            with open(out, encoding="utf-8") as f:
                kernels = functions(f.read())
        with open(path, encoding="utf-8") as f:
            names = re.findall(r"^    def (\w+)\(", f.read(), re.M)
        for name in names:
            yield {"kernel": name, "processor": processor} | measure(kernels[name])


def worse(now, row):
    """The columns in which a kernel is not what its row says."""
    more = lambda column: row[column] != now[column] and ("-" in (row[column], now[column]) or int(now[column]) > int(row[column]))
    return [column for column in COLUMNS[2:] if (now[column] != row[column] if column == "arithmetic" else more(column))]


def main():
    table = os.path.join(SOURCE, "tests", "hot_loops.tsv")
    if sys.argv[1:] == ["--write"]:
        with open(table, "w", encoding="utf-8", newline="") as f:
            writer = csv.DictWriter(f, COLUMNS, delimiter="\t", lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows())
        return 0
    with open(table, encoding="utf-8") as f:
        expected = {(row["kernel"], row["processor"]): row for row in csv.DictReader(f, delimiter="\t")}
    passed = failed = 0
    for now in rows():
        row = expected.pop((now["kernel"], now["processor"]), None)
        columns = worse(now, row) if row else ["no row"]
        for column in columns:
            print(f"{now['kernel']} for {now['processor']}: {column}" + (f" is {now[column]}, not {row[column]}" if row else ""))
        failed += bool(columns)
        passed += not columns
    for kernel, processor in expected:
        failed += 1
        print(f"hot_loops.tsv: there is no kernel {kernel} for {processor}")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
