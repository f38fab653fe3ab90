#!/usr/bin/env python3
"""Every symbol that a static library of the project gives the linker starts with tvms_.

    symbols.py LIBRARY...
"""
import subprocess, sys

# What the fuzzing engine asks a target to define.
FOREIGN = {"LLVMFuzzerTestOneInput", "LLVMFuzzerInitialize"}


def main():
    passed = failed = 0
    for library in sys.argv[1:]:
        text = subprocess.run(["nm", "--extern-only", "--defined-only", library], capture_output=True, text=True, check=True).stdout
        for line in text.splitlines():
            fields = line.split()
            if len(fields) != 3:
                continue
            good = fields[2].startswith(("tvms_", "__asan_", "__odr_asan")) or fields[2] in FOREIGN
            passed, failed = passed + good, failed + (not good)
            if not good:
                print(f"{library}: {fields[2]} does not start with tvms_")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
