"""The tables with releases in them, as text: which releases there are, and what is left when one is taken out.

A release stands in a table as its second number (`since`, `until`, FROM(25, …)) or, in the rules of arith/, as
`@0.25`. Taking one out leaves what the releases around it have: rows of that release alone go, and the ends of the
others move to its neighbours. Facts that held in no other release stay and never hold, because code asks for them.
"""
import os, re

# The head of a table names the columns of its rows: "FACT(name, since, until, …)".
HEAD = re.compile(r"^(?: \*   |# *define )(\w+)\((.*\b(?:since|until)\b.*?|.*FROM\(release.*)\)", re.M)
# Further rows of a name, and what its first row is called.
FIRST = {"ALSO": "CALL", "ALSO_AS": "CALL_AS", "OP_ALSO": "OP", "VALUE_ALSO": "VALUE"}
RULES = "arith/rewrite.rules"
RELEASE = re.compile(r'^RELEASE\((\w+), *(READ|WRITTEN), *"([^"]+)"', re.M)


def releases(folder="."):
    """(ident, written, name) of each release, oldest first."""
    with open(os.path.join(folder, "ir/releases.def"), encoding="utf-8") as f:
        return [(ident, use == "WRITTEN", name) for ident, use, name in RELEASE.findall(f.read())]


def written(folder="."):
    """Names of the releases that are written: 0.22, 0.25, …"""
    return tuple(name for _, is_written, name in releases(folder) if is_written)


def columns_of(text):
    """Of each macro of a table: where its rows have `since` and `until` (None: there is no last release), or "FROM"."""
    found = {}
    for macro, parameters in HEAD.findall(text):
        names = [name.strip() for name in parameters.split(",")]
        if "since" in names:
            found[macro] = (names.index("since"), names.index("until") if "until" in names else None)
        elif "FROM(" in parameters:
            found[macro] = "FROM"
    return found


def tables(folder):
    """Paths of the tables with releases in them, and their columns."""
    for where, folders, names in sorted(os.walk(folder)):
        folders[:] = [f for f in folders if not f.startswith(".") and f != "build"]
        for name in sorted(n for n in names if n.endswith(".def")):
            full = os.path.join(where, name)
            with open(full, encoding="utf-8") as f:
                columns = columns_of(f.read())
            if columns:
                yield os.path.relpath(full, folder), columns


def row_end(text, at):
    """Behind the parenthesis that closes the one before `at`, and where its arguments end."""
    ends, depth = [], 1
    while depth:
        if text[at] == '"':
            at = re.compile(r'"(?:[^"\\]|\\.)*"', re.S).match(text, at).end()
            continue
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0 or (depth == 1 and text[at] == ","):
            ends.append(at)
        at += 1
    return at, ends


class Row:
    """A row of a table: its macro, and the texts of its arguments with the blanks around them."""

    def __init__(self, text, match):
        self.macro, self.begin = match.group(1), match.start()
        self.end, ends = row_end(text, match.end())
        starts = [match.end()] + [end + 1 for end in ends[:-1]]
        self.args = [text[a:b] for a, b in zip(starts, ends)]

    def get(self, at):
        return self.args[at].strip()

    def set(self, at, value):
        old = self.args[at]
        self.args[at] = old.replace(old.strip(), value)

    def text(self):
        return f"{self.macro}({','.join(self.args)})"


class Forgetting:
    """Takes one release out of the tables below a folder."""

    def __init__(self, folder, ident):
        self.folder, self.ident = folder, ident
        idents = [row[0] for row in releases(folder)]
        at = idents.index(ident)
        self.before, self.after = idents[at - 1], idents[at + 1]
        self.changed = {}  # path -> its text before

    def edit(self, path, change):
        full = os.path.join(self.folder, path)
        with open(full, encoding="utf-8") as f:
            old = f.read()
        new = change(old)
        if new == old:
            return
        self.changed.setdefault(path, old)
        with open(full, "w", encoding="utf-8") as f:
            f.write(new)

    def row(self, row, columns):
        """Changes a row; False if it goes."""
        if columns == "FROM":
            return self.row_of_spellings(row)
        since, until = columns
        only = until is not None and row.get(since) == row.get(until) == self.ident
        if only and row.macro != "FACT":
            return False
        if row.get(since) == self.ident:
            row.set(since, self.after)
        if until is not None and row.get(until) == self.ident:
            row.set(until, self.before)
        return True

    def row_of_spellings(self, row):
        froms = [i for i, arg in enumerate(row.args) if arg.strip().startswith("FROM(")]
        begins = {row.get(i)[5:].split(",")[0]: i for i in froms}
        at = begins.get(self.ident)
        if at is None:
            return True
        if self.after in begins:
            del row.args[at]
        else:
            row.args[at] = row.args[at].replace(f"FROM({self.ident},", f"FROM({self.after},")
        return True

    def table(self, columns):
        def change(text):
            out, last, lost = [], 0, None
            for match in re.compile(r"^(%s)\(" % "|".join(columns), re.M).finditer(text):
                row = Row(text, match)
                out.append(text[last:row.begin])
                last, name, kind = row.end, row.args[:2], columns[row.macro]
                if lost == name:
                    row.macro = FIRST.get(row.macro, row.macro)
                if self.row(row, kind):
                    out.append(row.text())
                    lost = None
                else:
                    last = text.index("\n", last) + 1
                    lost = name if lost == name or row.macro not in FIRST else None
            return "".join(out) + text[last:]
        return change

    def rules(self, text):
        own, after = (f"0.{ident}" for ident in (self.ident, self.after))
        text = re.sub(rf"^@={re.escape(own)} .*\n", "", text, flags=re.M)
        text = re.sub(rf"^@!{re.escape(own)} ", "", text, flags=re.M)
        return re.sub(rf"^@(<?){re.escape(own)} ", rf"@\g<1>{after} ", text, flags=re.M)

    def run(self):
        for path, columns in list(tables(self.folder)):
            self.edit(path, self.table(columns))
        self.edit(RULES, self.rules)
        own = re.compile(rf"^RELEASE\({self.ident},.*\n", re.M)
        self.edit("ir/releases.def", lambda text: own.sub("", text))
