"""ir/device/ptx.def: forms of the instructions of PTX. The table says what its columns mean."""
import re

from device import table
from device.emit import Pool, array, dtype, slice_of

NAMES = {"PTX": 5, "PTX_TYPE": 2, "PTX_MAP": 3, "PTX_RULE": 2}
NAME = r"[A-Za-z_]\w*"
CHOICE = r"[A-Za-z0-9_][\w.:]*"
MOST_MODIFIERS = 14   # TVMS_PTX_MODIFIERS of parser/device/ptx_form.h
MOST_CHOICES = 127    # a choice is an int8_t
NOTHING = "-"         # stands for a modifier that is left out
KINDS = {":": "REGISTER", "@": "ADDRESS", "*": "POINTER", "#": "NUMBER"}


class Modifier:
    def __init__(self, name, choices, optional):
        self.name, self.choices, self.optional = name, choices, optional


class Form:
    def __init__(self, opcode, family, modifiers):
        self.opcode, self.family, self.modifiers = opcode, family, modifiers
        self.operands, self.rule = [], None

    def index(self, name):
        """The number of the modifier of this name."""
        for i, modifier in enumerate(self.modifiers):
            if modifier.name == str(name):
                return i
        raise name.bad("the form has no modifier '%s'" % name)


class Tables:
    """The rows of ptx.def, by name where they have one."""

    def __init__(self, opcodes, errors):
        self.opcodes, self.errors = opcodes, errors
        self.types, self.maps, self.rules, self.forms = {}, {}, {}, []
        self.used = set()

    def once(self, rows, name, value):
        if str(name) in rows:
            raise name.bad("a second row '%s'" % name)
        rows[str(name)] = value

    # ---- Types, maps, rules ----

    def add_type(self, name, dtypes):
        name.match(NAME, "'%s' is not a name" % name)
        if not len(dtypes):
            raise dtypes.bad("a type without data types")
        parts = dtypes.words()
        self.once(self.types, name, (str(dtypes), [dtype(part) for part in parts]))

    def choices(self, text):
        found = []
        for part in text.split("|") or [text]:
            if str(part) != NOTHING:
                part.match(CHOICE, "'%s' is not a choice" % part)
            if str(part) in found:
                raise part.bad("choice '%s' stands twice" % part)
            found.append(str(part))
        return found

    def add_map(self, name, modifiers, values):
        names = [str(part.match("(%s)" % NAME, "'%s' is not a name" % part)[0]) for part in modifiers.words()]
        cases = []
        for part in values.words():
            keys, value = part.cut("=")
            if value is None:
                raise part.bad("'=' is missing")
            lists = keys.split(",")
            if len(lists) != len(names):
                raise keys.bad("choices of %d modifiers, not of %d" % (len(lists), len(names)))
            cases.append(([(n, self.choices(l)) for n, l in zip(names, lists)], value))
        if not cases:
            raise values.bad("no value")
        numbers = [re.fullmatch(r"\d+", str(value)) is not None for _, value in cases]
        if any(numbers) and not all(numbers):
            raise cases[numbers.index(not numbers[0])][1].bad("numbers and types in one map")
        self.once(self.maps, name, (names, cases, all(numbers)))
        if not all(numbers):
            for _, value in cases:
                self.check_type(value)

    def check_type(self, text):
        if str(text) not in self.types:
            raise text.bad("unknown type '%s'" % text)

    def term(self, text, never=False):
        """`never`: no choice at all, so that the term never holds, is one, too."""
        name, choices = text.cut("=")
        if choices is None:
            raise text.bad("'=' is missing")
        name.match(NAME, "'%s' is not a name" % name)
        return name, [] if never and not len(choices) else self.choices(choices)

    def add_rule(self, name, text):
        """Choices may hold ':' themselves: the one that counts is followed by a name and '='."""
        rules = []
        for part in text.words():
            found = re.match(r"(.*):(%s=.*)$" % NAME, str(part))
            if not found:
                raise part.bad("':' and what must hold are missing")
            when, then = part[:found.end(1)], part[found.start(2):]
            rules.append(([self.term(one) for one in when.split("&")], self.term(then, never=True)))
        if not rules:
            raise text.bad("no rule")
        self.once(self.rules, name, rules)

    # ---- Forms ----

    def modifier(self, text):
        name, choices, optional = text.match(r"(%s)=([^?]*)(\?)?" % NAME, "'%s' is not name=choice|choice" % text)
        found = self.choices(choices)
        if NOTHING in found:
            raise choices.bad("'-' is not a choice; '?' says that it may be left out")
        if len(found) > MOST_CHOICES:
            raise choices.bad("more than %d choices" % MOST_CHOICES)
        return Modifier(str(name), found, optional is not None), name

    def modifiers(self, text):
        found = []
        for part in text.words():
            modifier, name = self.modifier(part)
            if any(modifier.name == other.name for other in found):
                raise name.bad("a second modifier '%s'" % name)
            found.append(modifier)
        if len(found) > MOST_MODIFIERS:
            raise text.bad("more than %d modifiers" % MOST_MODIFIERS)
        return found

    def map_of(self, form, name, numbers):
        if str(name) not in self.maps:
            raise name.bad("unknown map '%s'" % name)
        names, cases, has_numbers = self.maps[str(name)]
        if has_numbers != numbers:
            raise name.bad("map '%s' has %s" % (name, "numbers, not types" if has_numbers else "types, not numbers"))
        self.used.add(("PTX_MAP", str(name)))
        for when, value in cases:
            for modifier, choices in when:
                self.check_term(form, name, "map", modifier, choices, value)
        return ("BY_TABLE", str(name))

    def check_term(self, form, owner, kind, modifier, choices, place):
        """A term of a map or rule that a form names must speak of what the form has."""
        own = next((m for m in form.modifiers if m.name == str(modifier)), None)
        if own is None:
            raise owner.bad("%s '%s' asks for modifier '%s', which the form has not" % (kind, owner, modifier))
        for choice in choices:
            if not (own.optional if choice == NOTHING else choice in own.choices):
                raise place.bad("modifier '%s' of operator '%s' has no choice '%s'" % (modifier, form.opcode, choice))

    def count(self, form, text):
        if text is None:
            return ("FIXED", 1)
        if str(text)[:1] == "?":
            modifier = form.index(text[1:])
            if not form.modifiers[modifier].optional:
                raise text.bad("modifier '%s' is always given" % text[1:])
            return ("GIVEN", modifier)
        if re.fullmatch(r"\d+", str(text)):
            if not 0 < int(str(text)) < 1 << 16:
                raise text.bad("'%s' is not a number of registers" % text)
            return ("FIXED", int(str(text)))
        return self.map_of(form, text, True)

    def register(self, form, text):
        if str(text)[:1] == "%":
            return self.map_of(form, text[1:], False)
        if str(text)[:1] != "=":
            self.check_type(text)
            return ("FIXED", str(text))
        modifier = form.index(text[1:])
        optional = form.modifiers[modifier].optional
        otherwise = form.index(Unplaced("type", text)) if optional else -1
        for choice in form.modifiers[modifier].choices:
            if choice not in self.types:
                raise text.bad("modifier '%s' has choice '%s', which is not a type" % (text[1:], choice))
        return ("CHOSEN", modifier, otherwise)

    def what(self, form, kind, text):
        """Type of a register, space of an address; offset of an address; numbers of a number."""
        if kind == "REGISTER":
            return self.register(form, text), False, []
        if kind == "NUMBER":
            for part in text.split("|"):
                part.match(r"-?\d+", "'%s' is not a number" % part)
            return ("FIXED", ""), False, [int(str(part)) for part in text.split("|")]
        if kind == "POINTER":
            if len(text):
                raise text.bad("'%s' behind '*'" % text)
            return ("FIXED", ""), False, []
        offset = str(text)[-1:] == "+"
        space = text[:len(text) - offset]
        if len(space):
            space.match(CHOICE, "'%s' is not a space" % space)
            return ("FIXED", str(space)), offset, []
        spaces = [i for i, modifier in enumerate(form.modifiers) if modifier.name == "space"]
        return ("CHOSEN", spaces[0], -1) if spaces else ("FIXED", ""), offset, []

    def operand(self, form, text):
        name, access, sinks, _, count, kind, what = text.match(
            r"(%s)([<>])?(~)?(\[([^\]]+)\])?([:@*#])(.*)" % NAME, "'%s' is not an operand" % text)
        kind = KINDS[str(kind)]
        if sinks is not None and kind != "REGISTER":
            raise sinks.bad("only a register can be sunk")
        if access is not None and kind != "REGISTER":
            raise access.bad("only a register is written")
        what, offset, numbers = self.what(form, kind, what)
        access = str(access) if access else ""
        return {"name": str(name), "kind": kind, "read": access != ">", "written": access != "", "sinks": sinks is not None,
                "offset": offset, "count": self.count(form, count), "what": what, "numbers": numbers}

    def add_form(self, opcode, family, modifiers, operands, rule):
        if str(opcode) not in self.opcodes:
            raise opcode.bad("unknown operator '%s'" % opcode)
        family.match(NAME, "'%s' is not a name" % family)
        if any(form.family == str(family) for form in self.forms[:-1]) and self.forms[-1].family != str(family):
            raise family.bad("forms of family '%s' do not stand together" % family)
        form = Form(str(opcode), str(family), self.modifiers(modifiers))
        form.operands = [self.operand(form, part) for part in operands.words()]
        names = [operand["name"] for operand in form.operands]
        if len(set(names)) < len(names):
            raise operands.bad("two operands have one name")
        if len(rule):
            self.check_rule(form, rule)
            form.rule = str(rule)
        self.forms.append(form)

    def check_rule(self, form, name):
        if str(name) not in self.rules:
            raise name.bad("unknown rule '%s'" % name)
        self.used.add(("PTX_RULE", str(name)))
        for when, then in self.rules[str(name)]:
            for modifier, choices in [*when, then]:
                self.check_term(form, name, "rule", modifier, choices, modifier)

    def read(self, rows):
        """Types first, forms last: what names a row with an error is not an error of its own."""
        for stage in ([("PTX_TYPE", self.add_type)], [("PTX_MAP", self.add_map), ("PTX_RULE", self.add_rule)],
                      [("PTX", self.add_form)]):
            for name, add in stage:
                table.compile_rows([row for row in rows if row.name == name], add, self.errors)
            if self.errors:
                return
        for row in rows:
            if row.name in ("PTX_MAP", "PTX_RULE") and (row.name, str(row.arguments[0])) not in self.used:
                self.errors.append(str(row.arguments[0].bad("'%s' is used by no form" % row.arguments[0])))


class Unplaced:
    """A name that a notation stands for, with the place of the notation."""

    def __init__(self, name, text):
        self.name, self.bad = name, text.bad

    def __str__(self):
        return self.name


# ---- C ----

class Output:
    def __init__(self, tables):
        self.tables = tables
        self.words = {"": 0}
        self.lists, self.numbers, self.terms = Pool(), Pool(), Pool()
        self.modifiers, self.operands, self.rules, self.cases = Pool(), Pool(), Pool(), Pool()
        self.maps = {}
        for word in sorted(set(self.all_words())):
            self.words[word] = len(self.words)

    def all_words(self):
        for form in self.tables.forms:
            yield form.family
            for modifier in form.modifiers:
                yield modifier.name
                yield from modifier.choices
            for operand in form.operands:
                yield operand["name"]
                if operand["what"][0] == "FIXED" and operand["what"][1]:
                    yield operand["what"][1]
        yield from self.tables.types

    def word(self, text):
        return self.words["" if text == NOTHING else text]

    def choices(self, choices):
        return self.lists.slice([self.words.get(choice, 0) for choice in choices if choice == NOTHING or choice in self.words])

    def term(self, name, choices):
        return "{%d, %s}" % (self.word(str(name)), slice_of(self.choices(choices)))

    def source(self, source):
        origin, value = source[0], source[1]
        if origin == "BY_TABLE":
            value = self.map(value)
        elif isinstance(value, str):
            value = self.word(value)
        return "{TVMS_PTX_%s, %d, %d}" % (origin, source[2] if len(source) > 2 else -1, value)

    def map(self, name):
        if name not in self.maps:
            _, cases, numbers = self.tables.maps[name]
            made = []
            for terms, value in cases:
                when = self.terms.slice([self.term(*term) for term in terms])
                made.append("{%s, %d}" % (slice_of(when), int(str(value)) if numbers else self.word(str(value))))
            self.maps[name] = (len(self.maps), self.cases.slice(made))
        return self.maps[name][0]

    def operand(self, o):
        flags = ", ".join(str(o[flag]).lower() for flag in ("read", "written", "sinks", "offset"))
        return "{%d, TVMS_PTX_%s, %s, %s, %s, %s}" % (
            self.word(o["name"]), o["kind"], flags, self.source(o["count"]), self.source(o["what"]),
            slice_of(self.numbers.slice(o["numbers"])))

    def rule(self, when, then):
        return "{%s, %d}" % (slice_of(self.terms.slice([self.term(*term) for term in when])),
                             self.terms.slice([self.term(*then)])[0])

    def form(self, form):
        modifiers = ["{%d, %s, %s}" % (self.word(m.name), str(m.optional).lower(), slice_of(self.choices(m.choices)))
                     for m in form.modifiers]
        rules = [self.rule(*rule) for rule in self.tables.rules.get(form.rule, [])]
        return "{TVMS_TIR_%s, %d, %s, %s, %s}" % (
            form.opcode, self.word(form.family), slice_of(self.modifiers.slice(modifiers)),
            slice_of(self.operands.slice([self.operand(o) for o in form.operands])), slice_of(self.rules.slice(rules)))

    def families(self):
        found = {}
        for i, form in enumerate(self.tables.forms):
            first, count = found.get(form.family, (i, 0))
            found[form.family] = (first, count + 1)
        return ["{%d, %s}" % (self.word(family), slice_of(found[family])) for family in sorted(found)]

    def types(self):
        rows, dtypes = [], Pool()
        for name in sorted(self.tables.types):
            text, items = self.tables.types[name]
            rows.append('{%d, "%s", %d, dtypes + %d}' % (self.word(name), text, len(items), dtypes.slice(items)[0]))
        return rows, dtypes.items

    def write(self):
        forms = [self.form(form) for form in self.tables.forms]
        types, dtypes = self.types()
        maps = ["{%s}" % slice_of(cases) for _, cases in self.maps.values()]
        families = self.families()
        return "".join([
            '#include "ir/device/ptx.h"\n#include "ir/tir_op.h"\n\n',
            array("const char *const", "tvms_ptx_words", ['"%s"' % word for word in self.words]),
            "const uint16_t tvms_ptx_word_count = %d;\n" % len(self.words),
            array("const uint16_t", "tvms_ptx_lists", self.lists.items),
            array("const int32_t", "tvms_ptx_numbers", self.numbers.items),
            array("const tvms_ptx_modifier", "tvms_ptx_modifiers", self.modifiers.items),
            array("const tvms_ptx_operand_row", "tvms_ptx_operands", self.operands.items),
            array("const tvms_ptx_term", "tvms_ptx_terms", self.terms.items),
            array("const tvms_ptx_rule", "tvms_ptx_rules", self.rules.items),
            array("const tvms_ptx_case", "tvms_ptx_cases", self.cases.items),
            array("const tvms_ptx_map", "tvms_ptx_maps", maps),
            array("const tvms_ptx_form_row", "tvms_ptx_forms", forms),
            array("const tvms_ptx_family", "tvms_ptx_families", families),
            "const uint16_t tvms_ptx_family_count = %d;\n" % len(families),
            array("static const tvms_dtype", "dtypes", dtypes),
            array("const tvms_ptx_type", "tvms_ptx_types", types),
            "const uint16_t tvms_ptx_type_count = %d;\n" % len(types),
        ])


def compile_table(path, opcodes, _releases, errors):
    """The C file of the table, or what there is of it if `errors` grow."""
    tables = Tables(opcodes, errors)
    tables.read(table.read(path, NAMES))
    return "" if errors else Output(tables).write()
