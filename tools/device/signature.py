"""Signatures of callables, as Python writes parameters: "a, *rest, b, c=None, **others"."""

from device.table import Bad

MOST_PARAMETERS = 32  # TVMS_MAX_PARAMS of parser/eval/eval.h
NAME = r"[A-Za-z_]\w*"
DEFAULT = r"None|True|False|'[^']*'|-?\d+(?:\.\d*(?:e[+-]?\d+)?)?"


def parameters(text):
    """Names of the parameters of a signature, in order; raises Bad for what is not one."""
    names, after_star, after_default, ended = [], False, False, False
    for part in text.split(", "):
        if ended:
            raise part.bad("a parameter behind '**'")
        if part == "*":
            if after_star:
                raise part.bad("a second '*'")
            after_star = True
            continue
        stars, name, default = part.match(r"(\*{0,2})(%s)(?:=(%s))?" % (NAME, DEFAULT), "'%s' is not a parameter" % part)
        if len(stars) and default is not None:
            raise default.bad("a parameter with '*' has no default")
        if stars == "*" and after_star:
            raise part.bad("a second '*'")
        if not len(stars) and not after_star and default is None and after_default:
            raise part.bad("a required parameter behind one with a default")
        if str(name) in names:
            raise name.bad("a second parameter '%s'" % name)
        names.append(str(name))
        after_star = after_star or stars == "*"
        after_default = after_default or default is not None
        ended = stars == "**"
    if len(names) > MOST_PARAMETERS:
        raise text.bad("more than %d parameters" % MOST_PARAMETERS)
    return names


class Releases:
    """The releases of ir/releases.def, oldest first."""

    def __init__(self, rows):
        self.order = [str(row.arguments[0]) for row in rows if row.name == "RELEASE"]

    def check(self, since, until):
        """The two columns of a table, as the C constants that they are."""
        for text, more in ((since, []), (until, ["ever"])):
            if str(text) not in self.order + more:
                raise text.bad("there is no release '%s'" % text)
        if until != "ever" and self.order.index(str(until)) < self.order.index(str(since)):
            raise until.bad("it ends before it begins")
        return "TVMS_DIALECT_%s" % since, "TVMS_DIALECT_%s" % until

    def overlap(self, since, until, other_since, other_until):
        order = [*self.order, "ever"]
        return (order.index(str(since)) <= order.index(str(other_until))
                and order.index(str(other_since)) <= order.index(str(until)))


# Rows of ir/calls.def that have releases: where; and which of them have a signature in front of these.
RELEASES_AT = {"CALL": 3, "ALSO": 3, "OP": 3, "OP_ALSO": 3, "VALUE": 2, "VALUE_ALSO": 2, "SUBSPACE": 3, "DTYPE": 4}
FURTHER = {"ALSO": "CALL", "OP_ALSO": "OP", "VALUE_ALSO": "VALUE"}


def check_call(row, name, releases, seen, last):
    at = RELEASES_AT[row.name]
    if row.name in ("CALL", "ALSO", "OP", "OP_ALSO"):
        parameters(row.arguments[2])
    releases.check(*row.arguments[at:at + 2])
    if row.name in FURTHER and last != name:
        raise row.bad("%s must follow the other rows of '%s.%s'" % (row.name, *name))
    if row.name not in FURTHER and name in seen:
        raise row.bad("a second first row of '%s.%s'" % name)
    spans = seen.setdefault(name, [])
    for span in spans:
        if releases.overlap(*row.arguments[at:at + 2], *span):
            raise row.bad("two rows of '%s.%s' hold for one release" % name)
    spans.append(row.arguments[at:at + 2])


def check_calls(rows, releases, errors):
    """Checks ir/calls.def: signatures, releases, and that rows of one name stand together."""
    seen, last = {}, None
    for row in rows:
        if row.name not in RELEASES_AT:
            continue
        name = tuple(str(part) for part in row.arguments[:2])
        try:
            check_call(row, name, releases, seen, last)
        except Bad as bad:
            errors.append(str(bad))
        last = name
