"""ir/device/wrappers.def: intrinsics and how their arguments become those of the operator."""
import re

from device import table
from device.emit import Pool, array, dtype, slice_of
from device.signature import NAME, parameters

NAMES = {"WRAPPER": 8, "TOGETHER": 3, "CHOICE": 3}
NO_PARAM = -1
NO_PLACE = "{false, false, 0}"
RAW = {"-": "NO_TEXT", "+": "TEXT", "*": "NO_LIST"}
MARKED = {"*": "ALL", "~": "ALL_BITS", "&": "IS_TRUE", "#": "COUNT", "^": "IS_NONE"}
RESULTS = {"=": "LIKE", "~": "LIKE_ANY", "@": "NAMED", "$": "REGISTER", "#": "BITS"}
# What items that are computed are made of; a parameter that the signature has not is not one.
COMPUTED = {
    "%policy": ("POLICY", "cache_policy", "cache_hint"), "%has": ("HAS_POLICY", "cache_policy", "cache_hint"),
    "%space": ("SPACE", "space", "remote"), "%multicast": ("MULTICAST", "multicast", "cta_mask"),
    "%lanes": ("LANES", "disable_output_lane", "cta_group"), "%ret": ("RESULT_TYPE", "return_dtype", "dps"),
}
VARYING = ("ALL", "ALL_BITS", "PARAM_IF_GIVEN", "LANES")


class Item:
    def __init__(self, written, kind, params=(NO_PARAM, NO_PARAM), when=NO_PARAM, number=0, text=None):
        self.written, self.kind, self.params, self.when = written, kind, params, when
        self.number, self.text = number, text

    def varies(self):
        return self.kind in VARYING or self.when != NO_PARAM

    def write(self):
        text = "NULL" if self.text is None else '"%s"' % self.text
        return "{TVMS_WRAPPER_%s, %d, {%d, %d}, %d, %s}" % (self.kind, self.when, *self.params, self.number, text)


def param(names, text):
    if str(text) not in names:
        raise text.bad("the signature has no parameter '%s'" % text)
    return names.index(str(text))


def item_of(names, text):
    when, rest = NO_PARAM, text
    if str(text)[:1] != "'" and ":" in str(text):
        name, rest = text.cut(":")
        when = param(names, name)
    mark = str(rest)[:1]
    if mark == "%":
        if str(rest) not in COMPUTED:
            raise rest.bad("unknown item '%s'" % rest)
        kind, *parts = COMPUTED[str(rest)]
        if not any(part in names for part in parts):
            raise rest.bad("'%s' needs parameter '%s' or '%s'" % (rest, *parts))
        return Item(str(text), kind, [names.index(p) if p in names else NO_PARAM for p in parts], when)
    if mark == "'":
        inside, = rest.match(r"'([^'\\\"]*)'", "'%s' is not a text" % rest)
        return Item(str(text), "TEXT", when=when, text=str(inside))
    if re.fullmatch(r"-?\d+", str(rest)):
        return Item(str(text), "NUMBER", when=when, number=int(str(rest)))
    if str(rest) == "true":
        return Item(str(text), "TRUE", when=when)
    if mark in MARKED and len(rest):
        return Item(str(text), MARKED[mark], (param(names, rest[1:]), NO_PARAM), when)
    name, end = rest.match(r"(%s)([?!])?" % NAME, "'%s' is not an item" % rest)
    kind = {"?": "PARAM_IF_GIVEN", "!": "IS_GIVEN"}.get(str(end) if end else "", "PARAM")
    return Item(str(text), kind, (param(names, name), NO_PARAM), when)


def place_of(items, written):
    """Where the value of the item that is written so stands among the arguments."""
    at = next((i for i, item in enumerate(items) if item.written == written), None)
    if at is None:
        return NO_PLACE
    varies = any(item.varies() for item in items[:at])
    return "{true, %s, %d}" % (("true", len(items) - 1 - at) if varies else ("false", at))


def result_of(names, items, text):
    """The data type of the result: kind, parameter, place, and what makes it void."""
    mark = str(text)[:1]
    if mark not in RESULTS:
        fixed = dtype(text) if len(text) else "{0, 0, 0}"
        return '{TVMS_WRAPPER_RESULT_FIXED, -1, "", %s, -1, %s, %s}' % (NO_PLACE, NO_PLACE, fixed)
    name, stored = text[1:].cut("/")
    if stored is not None and mark != "@":
        raise stored.bad("'/' belongs to '@' only")
    found = NO_PARAM if str(name) in COMPUTED else param(names, name)
    where, stored_at = place_of(items, str(name)), NO_PLACE
    if where == NO_PLACE and mark != "@":
        raise name.bad("no item '%s' tells the data type" % name)
    if stored is not None:
        stored_at = place_of(items, "#" + str(stored))
    return '{TVMS_WRAPPER_RESULT_%s, %d, "%s", %s, %d, %s, {0, 0, 0}}' % (
        RESULTS[mark], found, name, where, NO_PARAM if stored is None else param(names, stored), stored_at)


def raw_of(names, text):
    if not len(text):
        return "TVMS_WRAPPER_RAW_NEVER, %d" % NO_PARAM
    mark = RAW.get(str(text)[:1])
    if mark is None:
        raise text.bad("'%s' must begin with '-', '+' or '*'" % text)
    return "TVMS_WRAPPER_RAW_%s, %d" % (mark, param(names, text[1:]))


class Term:
    """One term of a row TOGETHER, before it is known whose parameters it speaks of."""

    def __init__(self, text):
        self.place, self.count, self.texts = text, 0, []
        negated, listed, name, _, sign, rest = text.match(r"(!)?(\[)?(%s)(\])?(?:([=#])(.*))?" % NAME,
                                                          "'%s' is not a term" % text)
        if (listed is None) != (_ is None) or sum(part is not None for part in (negated, listed, sign)) > 1:
            raise text.bad("'%s' is not a term" % text)
        self.name, self.kind = str(name), "NOT_GIVEN" if negated else "LIST" if listed else "GIVEN"
        if sign == "=":
            self.kind, self.texts = "ONE_OF", [str(part) for part in rest.split("|")]
            if "" in self.texts or not self.texts:
                raise rest.bad("an empty choice")
        elif sign == "#":
            self.kind = "COUNT"
            self.count = int(str(rest.match(r"(\d)", "'%s' is not a digit" % rest)[0]))


class Tables:
    def __init__(self, opcodes, releases, errors):
        self.opcodes, self.releases, self.errors = opcodes, releases, errors
        self.texts, self.items, self.terms, self.rules, self.choices = Pool(), Pool(), Pool(), Pool(), Pool()
        self.together, self.allowed, self.wrappers = [], [], []
        self.named = {}  # operator: names of all parameters of its rows

    def opcode(self, text):
        if str(text) not in self.opcodes:
            raise text.bad("unknown operator '%s'" % text)
        return str(text)

    def known(self, opcode, text, name):
        if name not in self.named.get(str(opcode), ()):
            raise text.bad("no row of operator '%s' has a parameter '%s'" % (opcode, name))

    def add_together(self, opcode, when, needs):
        sides = [[Term(part) for part in side.words()] for side in (when, needs)]
        for side, terms in zip((when, needs), sides):
            if not terms:
                raise side.bad("no term")
            for term in terms:
                self.known(self.opcode(opcode), term.place, term.name)
        self.together.append((str(opcode), *sides, str(when), str(needs)))

    def add_choice(self, opcode, name, values):
        self.known(self.opcode(opcode), name, str(name))
        texts = [str(part) for part in values.split("|")] or [""]
        if len(set(texts)) < len(texts):
            raise values.bad("a choice stands twice")
        self.allowed.append((str(opcode), str(name), texts, str(values)))

    def slice_of_texts(self, texts):
        return slice_of(self.texts.slice(['"%s"' % text for text in texts]))

    def term(self, names, term):
        at = names.index(term.name) if term.name in names else NO_PARAM
        return "{TVMS_WRAPPER_TERM_%s, %d, %d, %s}" % (term.kind, at, term.count, self.slice_of_texts(term.texts))

    def checks(self, opcode, names):
        rules = ['{%s, %s, "%s", "%s"}' % (*(slice_of(self.terms.slice([self.term(names, t) for t in side])) for side in sides),
                                           *texts)
                 for owner, *sides, when, needs in self.together for texts in [(when, needs)] if owner == opcode]
        choices = ['{%d, %s, "%s"}' % (names.index(name), self.slice_of_texts(texts), text)
                   for owner, name, texts, text in self.allowed if owner == opcode and name in names]
        return slice_of(self.rules.slice(rules)), slice_of(self.choices.slice(choices))

    def add_names(self, path, signature, since, until, opcode, *rest):
        self.named.setdefault(self.opcode(opcode), set()).update(parameters(signature))

    def add_wrapper(self, path, signature, since, until, opcode, result, raw, items):
        path.match(r"%s(\.%s)*" % (NAME, NAME), "'%s' is not a path" % path)
        names = parameters(signature)
        legacy = items == "%legacy"
        made = [] if legacy else [item_of(names, part) for part in items.words()]
        first, last = self.releases.check(since, until)
        for other, begin, end, _ in self.wrappers:
            if other == str(path) and self.releases.overlap(since, until, begin, end):
                raise path.bad("two rows of '%s' hold for one release" % path)
        checks = ("{0, 0}", "{0, 0}") if legacy else self.checks(self.opcode(opcode), names)
        self.wrappers.append((str(path), since, until, '{"%s", "%s", %s, %s, TVMS_TIR_%s, %s, %s, %s, %s, %s, %s}' % (
            path, signature, first, last, self.opcode(opcode), str(legacy).lower(), raw_of(names, raw),
            result_of(names, made, result), slice_of(self.items.slice([item.write() for item in made])), *checks)))

    def read(self, rows):
        """Parameters first: the other rows speak of them."""
        wrappers = [row for row in rows if row.name == "WRAPPER"]
        table.compile_rows(wrappers, self.add_names, self.errors)
        if self.errors:
            return
        table.compile_rows([row for row in rows if row.name == "TOGETHER"], self.add_together, self.errors)
        table.compile_rows([row for row in rows if row.name == "CHOICE"], self.add_choice, self.errors)
        table.compile_rows(wrappers, self.add_wrapper, self.errors)

    def write(self):
        order = self.releases.order
        rows = [text for *_, text in sorted(self.wrappers, key=lambda wrapper: (wrapper[0], order.index(str(wrapper[1]))))]
        return "".join([
            '#include "ir/device/wrappers.h"\n#include "ir/tir_op.h"\n\n',
            array("const char *const", "tvms_wrapper_texts", self.texts.items or ['""']),
            array("const tvms_wrapper_item", "tvms_wrapper_items", self.items.items),
            array("const tvms_wrapper_term", "tvms_wrapper_terms", self.terms.items),
            array("const tvms_wrapper_rule", "tvms_wrapper_rules", self.rules.items),
            array("const tvms_wrapper_choice", "tvms_wrapper_choices", self.choices.items),
            array("const tvms_wrapper", "tvms_wrappers", rows),
            "const uint16_t tvms_wrapper_count = %d;\n" % len(rows),
        ])


def compile_table(path, opcodes, releases, errors):
    """The C file of the table, or what there is of it if `errors` grow."""
    tables = Tables(opcodes, releases, errors)
    tables.read(table.read(path, NAMES))
    return "" if errors else tables.write()
