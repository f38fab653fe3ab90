#!/usr/bin/env python3
"""Build-time program: makes C tables of arith/rewrite.rules.

    gen_rules.py RULES OUT.c

Patterns and results become prefix code over node kinds; see arith/rules.h for the codes
and the head of rewrite.rules for the notation.
"""
import ast
import re
import sys

BINARY = {
    ast.Add: "ADD", ast.Sub: "SUB", ast.Mult: "MUL", ast.FloorDiv: "FLOOR_DIV", ast.Mod: "FLOOR_MOD",
    ast.Lt: "LT", ast.LtE: "LE", ast.Gt: "GT", ast.GtE: "GE", ast.Eq: "EQ", ast.NotEq: "NE",
    ast.And: "AND", ast.Or: "OR",
}
CALLS = {
    "min": ("MIN", 2), "max": ("MAX", 2), "tdiv": ("DIV", 2), "tmod": ("MOD", 2), "select": ("SELECT", 3),
    "ramp": ("RAMP", 3), "broadcast": ("BROADCAST", 2),
}
HEADS = {
    "+": "ADD", "-": "SUB", "*": "MUL", "/": "DIV", "tmod": "MOD", "//": "FLOOR_DIV", "%": "FLOOR_MOD", "min": "MIN",
    "max": "MAX", "==": "EQ", "<": "LT", "not": "NOT", "and": "AND", "or": "OR", "select": "SELECT",
}
GUARDS = ("any", "vector", "index", "other", "unsigned")
WHERE = {"": "SINCE", "=": "ONLY_IN", "!": "NOT_IN", "<": "BEFORE"}
VARIABLES = ("x", "y", "z", "b1", "b2", "s1", "s2", "lanes")
INTEGERS = ("c1", "c2", "c3")
CONDITION = {
    ast.Add: "C_ADD", ast.Sub: "C_SUB", ast.Mult: "C_MUL", ast.FloorDiv: "C_DIV", ast.Mod: "C_MOD", ast.BitAnd: "C_BITS",
    ast.Eq: "C_EQ", ast.NotEq: "C_NE", ast.Lt: "C_LT", ast.LtE: "C_LE", ast.Gt: "C_GT", ast.GtE: "C_GE",
}
PROOFS = {"ge": "C_PROVE_GE", "lt": "C_PROVE_LT", "eq": "C_PROVE_EQ"}
TESTS = {"pure": "C_PURE", "vscale": "C_VSCALE", "proves": "C_PROVES"}


class Bad(Exception):
    pass


def literal(node):
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and -128 <= node.value < 128:
        return f"R_LITERAL, {node.value & 255}"
    return None


def leaf(name):
    if name in VARIABLES:
        return f"R_VAR + {VARIABLES.index(name)}"
    if name in INTEGERS:
        return f"R_INT + {INTEGERS.index(name)}"
    if name == "f1":
        return "R_FLOAT"
    raise Bad(f"unknown name {name}")


def binary(kind, left, right):
    return f"TVMS_NODE_{kind}, {expression(left)}, {expression(right)}"


def expression(node):
    """Prefix code of a pattern or a result."""
    if isinstance(node, ast.Constant):
        return literal(node)
    if isinstance(node, ast.Name):
        return {"true": "R_TRUE", "false": "R_FALSE"}.get(node.id) or leaf(node.id)
    if isinstance(node, ast.BinOp):
        return binary(BINARY[type(node.op)], node.left, node.right)
    if isinstance(node, ast.BoolOp) and len(node.values) == 2:
        return binary(BINARY[type(node.op)], *node.values)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return binary(BINARY[type(node.ops[0])], node.left, node.comparators[0])
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return f"TVMS_NODE_NOT, {expression(node.operand)}"
    if isinstance(node, ast.Call):
        name = node.func.id
        if name in ("zero", "one"):
            return f"R_LIKE, {VARIABLES.index(node.args[0].id)}, {int(name == 'one')}"
        kind, count = CALLS[name]
        if len(node.args) != count:
            raise Bad(f"{name} wants {count} arguments")
        return ", ".join([f"TVMS_NODE_{kind}"] + [expression(a) for a in node.args])
    raise Bad(f"not understood: {ast.dump(node)}")


def end_of(code, at):
    """Where the expression that begins at `at` ends, in prefix code as a list of words."""
    word, at = code[at], at + 1
    if not word.startswith("TVMS_NODE_"):
        return at + {"R_LITERAL": 1, "R_LIKE": 2}.get(word, 0)
    for _ in range({"TVMS_NODE_NOT": 1, "TVMS_NODE_RAMP": 3, "TVMS_NODE_SELECT": 3}.get(word, 2)):
        at = end_of(code, at)
    return at


def kinds_of_operands(pattern):
    """The kinds that the first two operands must have; R_NOTHING: any, or there is none."""
    code, at, kinds = pattern.split(", "), 1, []
    while len(kinds) < 2 and at < len(code):
        integer = code[at].startswith("R_INT")
        kinds.append("TVMS_NODE_INT_IMM" if integer else code[at] if code[at].startswith("TVMS_NODE_") else "R_NOTHING")
        at = end_of(code, at)
    return ", ".join(kinds + ["R_NOTHING"] * (2 - len(kinds)))


def condition(node):
    """Prefix code of a condition."""
    if isinstance(node, ast.Constant):
        return f"C_NUMBER, {node.value & 255}"
    if isinstance(node, ast.Name):
        return "C_FLOAT" if node.id == "f1" else f"C_INT, {INTEGERS.index(node.id)}"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return f"C_SUB, C_NUMBER, 0, {condition(node.operand)}"
    if isinstance(node, ast.BinOp):
        return f"{CONDITION[type(node.op)]}, {condition(node.left)}, {condition(node.right)}"
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return f"{CONDITION[type(node.ops[0])]}, {condition(node.left)}, {condition(node.comparators[0])}"
    if isinstance(node, ast.BoolOp):
        head = "C_AND" if isinstance(node.op, ast.And) else "C_OR"
        code = condition(node.values[-1])
        for value in reversed(node.values[:-1]):
            code = f"{head}, {condition(value)}, {code}"
        return code
    if isinstance(node, ast.Call) and node.func.id in PROOFS:
        return f"{PROOFS[node.func.id]}, {expression(node.args[0])}, {condition(node.args[1])}"
    if isinstance(node, ast.Call) and node.func.id in TESTS:
        return f"{TESTS[node.func.id]}, {expression(node.args[0])}"
    raise Bad(f"not understood: {ast.dump(node)}")


def parse(text):
    return ast.parse(text.strip(), mode="eval").body


class Table:
    def __init__(self):
        self.codes, self.places, self.size = [], {}, 0
        self.rules, self.functions, self.groups = [], [], {}

    def code(self, text):
        """Offset of a piece of code; equal pieces share one place."""
        if text not in self.places:
            self.places[text] = self.size
            self.codes.append(text)
            self.size += text.count(",") + 1
        return self.places[text]

    def add(self, head, guard, pattern, result, given, again, where, release, function):
        group = self.groups.setdefault(head, [])
        kinds, place = kinds_of_operands(pattern), self.code(pattern) if pattern else 0
        group.append(f"    {{{place}, {result}, {given}, GUARD_{guard.upper()}, {again}, {where}, {release}, {{{kinds}}}, {function}}},")


def read_line(table, head, guard, line):
    where, release = "ALWAYS", "TVMS_DIALECT_NONE"
    mark = re.match(r"@([=!<]?)([\d.]+)\s+", line)
    if mark:
        where, release = WHERE[mark.group(1)], "TVMS_DIALECT_" + mark.group(2).split(".")[1]
        line = line[mark.end():]
    if line.startswith("!"):
        name = line[1:].strip()
        if name not in table.functions:
            table.functions.append(name)
        table.add(head, guard, "", 0, 0, 0, where, release, f"tvms_rule_{name}")
        return
    again = "=>>" in line
    left, right = line.split("=>>" if again else "=>")
    right, _, given = right.partition(" if ")
    result = table.code(expression(parse(right)))
    given = table.code(condition(parse(given))) if given else 0
    for pattern in left.split("|"):
        table.add(head, guard, expression(parse(pattern)), result, given, int(again), where, release, "NULL")


def main():
    source, target = sys.argv[1:3]
    table, head, guard = Table(), None, None
    table.code("R_NOTHING")  # so that offset 0 means "no condition"
    with open(source, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            try:
                section = re.fullmatch(r"\[(\S+) (\w+)\]", line)
                if section:
                    head, guard = HEADS[section.group(1)], section.group(2)
                    if guard not in GUARDS:
                        raise Bad(f"unknown guard {guard}")
                else:
                    read_line(table, head, guard, line)
            except (Bad, KeyError, SyntaxError, ValueError) as error:
                sys.exit(f"{source}:{number}: {error}")
    with open(target, "w", encoding="utf-8") as out:
        out.write('// Made by tools/gen_rules.py from arith/rewrite.rules.\n#include "arith/rules.h"\n\n')
        out.write("const uint8_t tvms_rule_code[] = {\n" + "".join(f"    {c},\n" for c in table.codes) + "};\n\n")
        out.write("static const tvms_rewrite_rule rules[] = {\n")
        first, places = 0, []
        for kind, group in table.groups.items():
            places.append((kind, first, first + len(group)))
            first += len(group)
            out.write("\n".join(group) + "\n")
        out.write("};\n\nconst tvms_rules tvms_rules_of[TVMS_NODE_COUNT] = {\n")
        for kind, begin, end in places:
            out.write(f"    [TVMS_NODE_{kind}] = {{rules + {begin}, rules + {end}}},\n")
        out.write("};\n")


if __name__ == "__main__":
    main()
