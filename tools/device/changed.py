"""ir/device/changed.def: instructions whose arguments changed between releases."""
import re

from device import table
from device.emit import Pool, array

NAMES = {"TIR_CHANGED": 4}
MARKS = {None: "ANY", "&": "ADDRESS", "@": "SHARED", "u:": "UINT32"}
MOST_CAPTURES = 8  # TVMS_CHANGED_CAPTURES of ir/device/changed.h


def item(text, captures):
    """An item of a pattern, and the name that it stands for if it does."""
    quoted = re.fullmatch(r'"([^"\\]*)"', str(text))
    if quoted:
        return '{TVMS_CHANGED_TEXT, 0, 0, "%s"}' % quoted.group(1)
    if str(text) in ("True", "False"):
        return "{TVMS_CHANGED_TRUTH, 0, %d, NULL}" % (text == "True")
    if re.fullmatch(r"\d+", str(text)):
        return "{TVMS_CHANGED_NUMBER, 0, %s, NULL}" % text
    mark, name = text.match(r"(&|@|u:)?([A-Za-z_]\w*)", "'%s' is not an item" % text)
    if str(name) not in captures:
        captures.append(str(name))
    return "{TVMS_CHANGED_%s, %d, 0, NULL}" % (MARKS[str(mark) if mark else None], captures.index(str(name)))


class Tables:
    def __init__(self, opcodes, errors):
        self.opcodes, self.errors = opcodes, errors
        self.items, self.rows = Pool(), []

    def side(self, opcode, pattern, captures):
        if str(opcode) not in self.opcodes:
            raise opcode.bad("unknown operator '%s'" % opcode)
        return "{TVMS_TIR_%s, %d, %d}" % (opcode, *self.items.slice([item(part, captures) for part in pattern.split(", ")]))

    def add(self, older, older_args, newer, newer_args):
        captures = []
        left = self.side(older, older_args, captures)
        names = list(captures)
        right = self.side(newer, newer_args, captures)
        if len(captures) > len(names):
            raise newer_args.bad("'%s' is not an argument of the older call" % captures[len(names)])
        if len(captures) > MOST_CAPTURES:
            raise older_args.bad("more than %d names" % MOST_CAPTURES)
        for name in names:
            for pattern in (older_args, newer_args):
                times = len(re.findall(r'(?<![\w"])%s(?![\w"])' % name, re.sub(r'"[^"]*"', "", str(pattern))))
                if times != 1:
                    raise pattern.bad("'%s' stands %d times, not once" % (name, times))
        self.rows.append("{%s, %s}" % (left, right))

    def write(self):
        return "".join([
            '#include "ir/device/changed.h"\n#include "ir/tir_op.h"\n\n',
            array("const tvms_changed_item", "tvms_changed_items", self.items.items),
            array("const tvms_changed_row", "tvms_changed_rows", self.rows),
            "const uint16_t tvms_changed_count = %d;\n" % len(self.rows),
        ])


def compile_table(path, opcodes, _releases, errors):
    """The C file of the table, or what there is of it if `errors` grow."""
    tables = Tables(opcodes, errors)
    table.compile_rows(table.read(path, NAMES), tables.add, errors)
    return "" if errors else tables.write()
