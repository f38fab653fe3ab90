#!/usr/bin/env python3
"""Build-time program: makes a C table of the examples of lint rules.

    gen_examples.py RULES.DEF FOLDER OUT.c DEPENDENCIES

A tvms_lint_example (lint/examples.h) for each row RULE: the programs of the golden files FOLDER/<name>.tvms, which has the fault,
and FOLDER/<name>-right.tvms, which has not; with '-' for '_' and without the lines that are for the test. A rule without
these files ends the build. DEPENDENCIES is written for the build: the files that were read.
"""
import os, re, sys

ROW = re.compile(r"^RULE\((\w+),", re.M)
FOR_THE_TEST = re.compile(r"# (RUN|WHY|EXPECT):")


def program(path):
    with open(path, encoding="utf-8") as f:
        lines = [line.rstrip("\n") for line in f if not FOR_THE_TEST.match(line)]
    return "\n".join(lines).strip("\n") + "\n"


def literal(text):
    quoted = (line.replace("\\", "\\\\").replace('"', '\\"').replace("?", "\\?") for line in text.splitlines())
    return "\n".join(f'     "{line}\\n",' for line in quoted)


def main(rules, folder, out, dependencies):
    with open(rules, encoding="utf-8") as f:
        names = ROW.findall(f.read())
    read, rows = [rules], []
    for name in names:
        paths = [os.path.join(folder, name.replace("_", "-") + end) for end in (".tvms", "-right.tvms")]
        for path in paths:
            if not os.path.exists(path):
                sys.exit(f"{path}: rule '{name}' has no such example")
        read += paths
        wrong, right = (literal(program(path)) for path in paths)
        rows.append(f"    [TVMS_LINT_ROW_{name}] = {{(const char *const[]){{\n{wrong}\n     NULL}},\n    (const char *const[]){{\n{right}\n     NULL}}}},\n")
    with open(out, "w", encoding="utf-8") as f:
        f.write('// Made by tools/gen_examples.py of the golden files of lint rules.\n#include "lint/examples.h"\n\n')
        f.write("enum {\n" + "".join(f"  TVMS_LINT_ROW_{name},\n" for name in names) + "};\n\n")
        f.write("static const tvms_lint_example examples[] = {\n" + "".join(rows) + "};\n\n")
        f.write("const tvms_lint_example *tvms_lint_example_at(uint32_t index) {\n  return &examples[index];\n}\n")
    with open(dependencies, "w", encoding="utf-8") as f:
        f.write(f"{out}: " + " ".join(read) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
