"""Pieces of C that the tables of devices are written as."""
import re

CODES = {"int": "INT", "uint": "UINT", "float": "FLOAT", "bfloat": "BFLOAT"}


def dtype(text):
    """The initializer of a tvms_dtype."""
    if text == "bool":
        return "{TVMS_BOOL, 1, 1}"
    if text == "handle":
        return "{TVMS_HANDLE, 64, 1}"
    found = re.fullmatch(r"(int|uint|float|bfloat)(\d+)(?:x(\d+))?", str(text))
    if not found or int(found.group(2)) not in (8, 16, 32, 64, 128):
        raise text.bad("'%s' is not a data type" % text)
    return "{TVMS_%s, %s, %s}" % (CODES[found.group(1)], found.group(2), found.group(3) or 1)


class Pool:
    """Items of one array that rows point into; equal runs are kept once."""

    def __init__(self):
        self.items, self.known = [], {}

    def slice(self, run):
        """Where a run of items stands: the first one and their number."""
        key = tuple(run)
        if not key:
            return 0, 0
        if key not in self.known:
            self.known[key] = len(self.items)
            self.items.extend(key)
        return self.known[key], len(key)


def slice_of(found):
    return "{%d, %d}" % found


def array(kind, name, items):
    """A definition with an item a line; never empty."""
    lines = "".join("  %s,\n" % item for item in items or ["{0}"])
    return "\n%s %s[] = {\n%s};\n" % (kind, name, lines)
