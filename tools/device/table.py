"""Rows of a table in a *.def file, with the place of every letter.

A row is NAME(argument, …) as the C preprocessor reads it; an argument is a word (an identifier or a
number, what stands in brackets behind it is passed over) or one or more string literals, which are joined
and may stand on lines of their own. Comments and lines of the preprocessor are skipped.
"""
import bisect
import re

TOKEN = re.compile(r"""
    (?P<skipped> \s+ | /\*.*?\*/ | //[^\n]* | ^\#(?:[^\n]*\\\n)*[^\n]* )
  | (?P<string> "(?:[^"\\\n]|\\.)*" )
  | (?P<word> -?[\w.]+ )
  | (?P<mark> [(),] )
""", re.X | re.S | re.M)
ESCAPES = {"\\": "\\", '"': '"', "n": "\n"}


class Bad(Exception):
    """What is wrong with a table, and where."""

    def __init__(self, place, reason):
        super().__init__("%s:%d:%d: %s" % (*place, reason))


class Text:
    """Text of a table. Parts of it know where they stand."""

    def __init__(self, letters, places):
        self.text, self.places = letters, places  # one place more than letters

    def __str__(self):
        return self.text

    def __len__(self):
        return len(self.text)

    def __eq__(self, other):
        return self.text == str(other)

    def __hash__(self):
        return hash(self.text)

    def __getitem__(self, where):
        begin, end, _ = where.indices(len(self.text))
        return Text(self.text[begin:end], self.places[begin:max(begin, end) + 1])

    def bad(self, reason):
        return Bad(self.places[0], reason)

    def split(self, separator):
        """The parts between separators; none of an empty text."""
        parts, begin = [], 0
        while self.text:
            end = self.text.find(separator, begin)
            if end < 0:
                parts.append(self[begin:])
                break
            parts.append(self[begin:end])
            begin = end + len(separator)
        return parts

    def words(self):
        """The parts between single spaces: blanks too many are a slip."""
        parts = self.split(" ")
        for part in parts:
            if not part:
                raise part.bad("a blank too many")
        return parts

    def cut(self, separator):
        """What stands before and behind the first separator; nothing behind it if there is none."""
        at = self.text.find(separator)
        return (self, None) if at < 0 else (self[:at], self[at + len(separator):])

    def match(self, pattern, reason):
        """The groups of a pattern that the whole text must match, as texts; None for those that take no part."""
        found = re.fullmatch(pattern, self.text)
        if not found:
            raise self.bad(reason)
        spans = [found.span(i) for i in range(1, len(found.groups()) + 1)]
        return [self[begin:end] if begin >= 0 else None for begin, end in spans]


class Row:
    def __init__(self, name, place):
        self.name, self.place, self.arguments = name, place, []

    def bad(self, reason):
        return Bad(self.place, reason)


class Reader:
    """Rows of one file: those of `names`, with so many arguments each, or any for None."""

    def __init__(self, path, names):
        with open(path, encoding="utf-8") as f:
            self.source = f.read()
        self.path, self.names = path, names
        self.lines = [0] + [m.end() for m in re.finditer("\n", self.source)]
        self.at, self.rows = 0, []

    def place(self, offset):
        line = bisect.bisect_right(self.lines, offset)
        return self.path, line, offset - self.lines[line - 1] + 1

    def bad(self, offset, reason):
        return Bad(self.place(offset), reason)

    def token(self):
        """The next token that counts, or None at the end."""
        while self.at < len(self.source):
            found = TOKEN.match(self.source, self.at)
            if not found:
                raise self.bad(self.at, "unexpected '%s'" % self.source[self.at])
            self.at = found.end()
            if found.lastgroup != "skipped":
                return found
        return None

    def expect(self, mark):
        found = self.token()
        if not found or found.group() != mark:
            raise self.bad(found.start() if found else self.at, "'%s' is missing" % mark)

    def literal(self, found):
        """The letters of a string literal and where each stands."""
        letters, places, at = [], [], found.start() + 1
        while at < found.end() - 1:
            places.append(self.place(at))
            letter = self.source[at]
            if letter == "\\":
                at += 1
                letter = ESCAPES.get(self.source[at])
                if letter is None:
                    raise self.bad(at - 1, "'\\%s' is not an escape of tables" % self.source[at])
            letters.append(letter)
            at += 1
        return "".join(letters), places

    def argument(self, found):
        """One argument that begins with a token, and the token behind it."""
        if found.lastgroup == "word":
            places = [self.place(i) for i in range(found.start(), found.end() + 1)]
            return Text(found.group(), places), self.behind_brackets(self.token())
        letters, places = "", []
        while found and found.lastgroup == "string":
            more, where = self.literal(found)
            letters, places, end = letters + more, places + where, self.place(found.end() - 1)
            found = self.token()
        return Text(letters, places + [end]), found

    def behind_brackets(self, found):
        depth = 0
        while found and (depth or found.group() == "("):
            depth += {"(": 1, ")": -1}.get(found.group(), 0)
            found = self.token()
        return found

    def row(self, found):
        row = Row(found.group(), self.place(found.start()))
        self.expect("(")
        while True:
            found = self.token()
            if not found or found.lastgroup == "mark":
                raise self.bad(found.start() if found else self.at, "an argument is missing")
            argument, found = self.argument(found)
            row.arguments.append(argument)
            if found and found.group() == ")":
                return row
            if not found or found.group() != ",":
                raise self.bad(found.start() if found else self.at, "',' or ')' is missing")

    def read(self):
        """All rows in order; what has another form ends the reading with Bad."""
        while True:
            found = self.token()
            if not found:
                return self.rows
            if found.lastgroup != "word" or (self.names and found.group() not in self.names):
                raise self.bad(found.start(), "unknown row '%s'" % found.group())
            row = self.row(found)
            wanted = self.names[row.name] if self.names else len(row.arguments)
            if wanted != len(row.arguments):
                raise row.bad("%s takes %d arguments, not %d" % (row.name, wanted, len(row.arguments)))
            self.rows.append(row)


def read(path, names):
    return Reader(path, names).read()


def compile_rows(rows, compile_row, errors):
    """What `compile_row` makes of each row; texts of the bad ones are added to `errors`."""
    made = []
    for row in rows:
        try:
            made.append(compile_row(*row.arguments))
        except Bad as bad:
            errors.append(str(bad))
    return made
