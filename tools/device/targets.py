"""ir/targets.def and ir/target_options.def: what TVM fills in for a target must be options of its kind.

The rows are only checked; ir/target_config.c reads them where a program names a target.
"""
import re

from device.table import Bad

TARGETS = {"TARGET": 4}
OPTIONS = {"TARGET_OPTION": 4}
VALUES = {"INT": r"\d+", "BOOL": "true|false", "STR": r"[^\[\];=]*", "LIST": r"\[[^\[\];= ]*\]"}
ANY_KIND = "*"


class Checker:
    def __init__(self, targets, options, releases):
        self.targets, self.options, self.releases = targets, options, releases
        self.kinds = {str(row.arguments[0]) for row in targets if "/" not in str(row.arguments[0])}

    def check_option(self, name, kind_of_value, since, kinds):
        if str(kind_of_value) not in (*VALUES, "ANY"):
            raise kind_of_value.bad("'%s' is not one of %s, ANY" % (kind_of_value, ", ".join(VALUES)))
        self.releases.check(since, since)
        for kind in kinds.words():
            if kind != ANY_KIND and str(kind) not in self.kinds:
                raise kind.bad("there is no target '%s'" % kind)

    def type_of(self, kind, key, since):
        """The type of an option that the kind has from a release on."""
        for row in self.options:
            name, kind_of_value, begin, kinds = row.arguments
            own = {ANY_KIND, kind} & {str(word) for word in kinds.words()}
            if name == str(key) and own and self.releases.overlap(begin, "ever", since, since):
                return str(kind_of_value)
        if str(key).startswith("feature."):
            return "ANY"
        raise key.bad("target '%s' has no option '%s'" % (kind, key))

    def check_target(self, name, since, until, values):
        self.releases.check(since, until)
        first, *rest = values.split(";") or [values]
        kind, = first.match(r"kind=([\w-]+)", "the first value is not 'kind=…'")
        if str(kind) not in self.kinds:
            raise kind.bad("there is no target '%s'" % kind)
        if "/" not in str(name) and kind != str(name):
            raise kind.bad("the kind of '%s' is '%s'" % (name, kind))
        for part in rest:
            key, value = part.cut("=")
            if value is None:
                raise part.bad("'=' is missing")
            wanted = self.type_of(str(kind), key, since)
            if wanted != "ANY" and not re.fullmatch(VALUES[wanted], str(value)):
                raise value.bad("option '%s' is not %s" % (key, wanted))

    def check(self, errors):
        for rows, check_row in ((self.options, self.check_option), (self.targets, self.check_target)):
            for row in rows:
                try:
                    check_row(*row.arguments)
                except Bad as bad:
                    errors.append(str(bad))
            if errors:
                return
