#!/usr/bin/env python3
"""Build-time program: checks the tables of device intrinsics and makes C tables of them.

    gen_device.py RELEASES TIR_OPS CALLS TARGETS TARGET_OPTIONS PTX WRAPPERS CHANGED OUT_PTX.c OUT_WRAPPERS.c OUT_CHANGED.c

Each row is read to its end: operators must be in TIR_OPS, parameters in the signature, types, maps and
rules among the rows. What is wrong is said as FILE:LINE:COLUMN: reason, all of it, and nothing is
written then. CALLS and the tables of targets are only checked: they are read where they are used.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from device import changed, ptx, signature, table, targets, wrappers  # noqa: E402


def main():
    released, tir_ops, calls, kinds, options, *sources, out_ptx, out_wrappers, out_changed = sys.argv[1:]
    errors, made = [], []
    try:
        releases = signature.Releases(table.read(released, None))
        opcodes = {str(row.arguments[0]) for row in table.read(tir_ops, None)}
        signature.check_calls(table.read(calls, None), releases, errors)
        rows = table.read(kinds, targets.TARGETS), table.read(options, targets.OPTIONS)
        targets.Checker(*rows, releases).check(errors)
    except table.Bad as bad:
        sys.exit(str(bad))
    for module, source in zip((ptx, wrappers, changed), sources):
        found = []
        try:
            made.append(module.compile_table(source, opcodes, releases, found))
        except table.Bad as bad:
            found.append(str(bad))
        errors += found
    if errors:
        sys.exit("\n".join(errors))
    for path, text in zip((out_ptx, out_wrappers, out_changed), made):
        with open(path, "w", encoding="utf-8") as f:
            f.write("// Made by tools/gen_device.py.\n" + text)


if __name__ == "__main__":
    main()
