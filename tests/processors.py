#!/usr/bin/env python3
"""Vectors of the processors of ir/cpus.def, against what the C compiler says of each.

    processors.py CC [ARGUMENT...]

The compiler knows a processor by the same name, and defines a macro for each of its features.
Processors that it does not know, or that are of another architecture, are left out; on a machine
whose compiler knows none of them there is nothing to compare.
"""
import os, platform, re, subprocess, sys

ROW = re.compile(r'^CPU\("([^"]+)",\s*"([^"]+)",\s*(\d+),\s*(\d+),\s*([01]),\s*([01])', re.M)


def macros_of(compiler, name):
    """The macros that the compiler defines for a processor, or None if it does not know it."""
    command = [*compiler, "-march=" + name, "-dM", "-E", "-x", "c", "/dev/null"]
    said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return set(re.findall(r"^#define (\w+) ", said.stdout, re.M)) if said.returncode == 0 else None


def expected(macros):
    fma, quads = int("__FMA__" in macros), int(bool(macros & {"__AVX512VNNI__", "__AVXVNNI__"}))
    if "__AVX512F__" in macros:
        return 512, 32, fma, quads
    return (256 if "__AVX__" in macros else 128), 16, fma, quads


def main():
    with open(os.path.join(os.environ.get("TVMS_SOURCE", "."), "ir", "cpus.def"), encoding="utf-8") as f:
        rows = [(name, int(bits), int(registers), int(fma), int(quads)) for name, architecture, bits, registers, fma, quads in ROW.findall(f.read())
                if architecture == "x86_64"]
    if platform.machine() != "x86_64":
        return 77
    compared = failed = 0
    for name, *vectors in rows:
        macros = macros_of(sys.argv[1:], name)
        if macros is None:
            continue
        compared += 1
        if tuple(vectors) != expected(macros):
            failed += 1
            print(f"ir/cpus.def: {name} has bits, registers, fma and quads {tuple(vectors)}, not {expected(macros)}")
    if not compared:
        print("the compiler knows no processor of ir/cpus.def")
        failed = 1
    print(f"{compared - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
