"""Breaks one thing in a sound Python text, outside of its definitions: kinds of mistakes that people make.

`mistakes(text, rng)` yields (kind, changed text, places): where the mistake is, as offsets of the changed text that a finding may begin at.
"""
import io, keyword, tokenize

MISSPELT = {
    "return": "retrun", "import": "improt", "from": "form", "def": "dfe", "class": "calss", "for": "fro", "while": "whlie", "elif": "elfi", "else": "esle", "with": "wiht",
    "except": "exept", "raise": "rasie", "assert": "asert", "lambda": "lamda", "in": "ni", "not": "nto", "and": "adn", "or": "ro", "if": "fi", "try": "tyr", "finally": "finaly",
    "is": "si", "as": "sa", "del": "dle", "yield": "yeild", "global": "gobal",
}
HEADERS = {"def", "class", "if", "for", "while", "with", "try", "except", "else", "elif", "finally"}
SHAPES = (tokenize.NEWLINE, tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.COMMENT, tokenize.ENDMARKER, tokenize.ENCODING)


class Token:
    def __init__(self, raw, starts):
        self.kind, self.text = raw.type, raw.string
        self.begin = starts[raw.start[0] - 1] + raw.start[1]
        self.end = starts[raw.end[0] - 1] + raw.end[1]
        self.op = raw.type == tokenize.OP
        self.word = raw.type == tokenize.NAME


class Text:
    """Tokens of a text by logical lines; offsets count characters of text that is ASCII."""

    def __init__(self, text):
        self.text = text
        starts, at = [], 0
        for line in text.splitlines(keepends=True):
            starts.append(at)
            at += len(line)
        starts += [at, at]
        self.lines, line, self.indents = [], [], []
        depth = 0
        for raw in tokenize.generate_tokens(io.StringIO(text).readline):
            if raw.type == tokenize.INDENT:
                depth += 1
            if raw.type == tokenize.DEDENT:
                depth -= 1
            if raw.type == tokenize.NEWLINE:
                self.lines.append(line)
                self.indents.append(depth)
                line = []
            if raw.type not in SHAPES:
                line.append(Token(raw, starts))

    def put(self, begin, end, new):
        return self.text[:begin] + new + self.text[end:]

    def start(self, line):
        return self.text.rfind("\n", 0, line[0].begin) + 1


def partners(line):
    """Pairs of brackets of a logical line."""
    stack = []
    for token in line:
        if token.op and token.text in "([{":
            stack.append(token)
        elif token.op and token.text in ")]}" and stack:
            yield stack.pop(), token


def depths(line):
    depth = 0
    for token in line:
        if token.op and token.text in ")]}":
            depth -= 1
        yield token, depth
        if token.op and token.text in "([{":
            depth += 1


def of_line(t, number):
    """Mistakes that can be made in one logical line."""
    line, following = t.lines[number], t.lines[number + 1] if number + 1 < len(t.lines) else None
    first, last = line[0], line[-1]
    begin, plain = t.start(line), first.text not in HEADERS and first.text != "@" and last.text != ":"
    blanks = t.text[begin : first.begin]
    header = first.text in HEADERS and last.op and last.text == ":"
    if header:
        yield "colon", t.put(last.begin, last.end, ""), [last.begin]
        if following and t.indents[number + 1] > t.indents[number]:
            at = t.start(following)
            only = number + 2 == len(t.lines) or t.indents[number + 2] < t.indents[number + 1]
            if only:
                yield "block", t.put(at, following[0].begin, blanks), [at + len(blanks), following[0].begin - len(t.text[at : following[0].begin]) + len(blanks)]
            yield "colons", t.put(last.begin, last.end, "::"), [last.begin + 1, last.begin]
        yield "header-brace", t.put(last.begin, last.end, " {"), [last.begin + 1, last.begin]
    for left, right in partners(line):
        what = {"(": "round", "[": "square", "{": "curly"}[left.text]
        yield "unclosed-" + what, t.put(right.begin, right.end, ""), [left.begin]
        yield "wrong-" + what, t.put(right.begin, right.end, {")": "]", "]": "}", "}": ")"}[right.text]), [right.begin]
        if t.text[left.begin - 1].isalnum() and left.text == "(" and right.begin > left.end:
            yield "no-open", t.put(left.begin, left.end, " "), [left.begin + 1, right.begin, left.begin]
    for token, depth in depths(line):
        after = line[line.index(token) + 1] if token is not last else None
        before = line[line.index(token) - 1] if token is not first else None
        if token.op and token.text == "," and depth > 0 and after and after.text not in ")]}":
            yield "comma", t.put(token.begin, token.end, ""), [after.begin - 1]
            yield "commas", t.put(token.begin, token.end, ",,"), [token.begin + 1, token.begin]
        if token.op and token.text == "=" and depth == 0 and plain:
            yield "assign-twice", t.put(token.begin, token.end, "= ="), [token.begin + 2, token.begin]
            yield "assign-nothing", t.text[: token.end] + t.text[last.end :], [token.end, token.begin]
            yield "assign-call", t.put(first.begin, before.end, "size(x)"), [first.begin]
            yield "assign-literal", t.put(first.begin, before.end, "1"), [first.begin]
            yield "assign-colon", t.put(token.begin, token.end, ":=") , [token.begin]
        if token.op and token.text == "==" and first.text in ("if", "while", "elif") and depth == 0:
            yield "condition", t.put(token.begin, token.end, "="), [token.begin]
            yield "equals", t.put(token.begin, token.end, "==="), [token.begin, token.begin + 2]
        if token.op and token.text in ("+", "*", "/", "%", "//") and after and after is not last and before:
            yield "operand", t.put(after.begin, after.end, "") if after.word or after.kind == tokenize.NUMBER else t.text, [after.begin, after.begin + 1, line[line.index(after) + 1].begin - (after.end - after.begin)]
        if token.text == "and" and token.word:
            yield "and", t.put(token.begin, token.end, "&&"), [token.begin, token.begin + 1]
        if token.text == "or" and token.word:
            yield "or", t.put(token.begin, token.end, "||"), [token.begin, token.begin + 1]
        if token.text == "not" and token.word and after and after.text != "in" and before and before.text != "is":
            yield "not", t.put(token.begin, token.end + 1, "!"), [token.begin]
        if token.word and token.text in MISSPELT:
            new = MISSPELT[token.text]
            yield "misspelt", t.put(token.begin, token.end, new), [token.begin] + ([] if token is first else [after.begin + len(new) - len(token.text)] if after else [])
        if token.kind == tokenize.STRING and "\n" not in token.text and not token.text.endswith('"""'):
            yield "quote", t.put(token.end - 1, token.end, ""), [token.begin]
            inside = token.text[-1] + token.text[-1]
            if token.text.startswith(("f", "F")) and "{" in token.text:
                at = token.begin + token.text.index("{")
                if t.text[at + 1] != "{":
                    yield "field-empty", t.put(at + 1, t.text.index("}", at), ""), [at + 1, at]
                    yield "field-two", t.put(at + 1, at + 1, "x y "), [at + 3, at + 1]
                    yield "field-brace", t.put(at, at + 1, ""), [t.text.index("}", at) - 1]
            else:
                yield "stray-quote", t.put(token.begin, token.begin, token.text[-1]), [token.begin, token.end, token.begin + 1, token.begin + 2]
        if token.kind == tokenize.NUMBER and token.text.isdigit() and len(token.text) > 1 and token.text[0] != "0":
            yield "zero", t.put(token.begin, token.begin, "0"), [token.begin]
            yield "suffix", t.put(token.end, token.end, "px"), [token.begin]
        if token.word and not keyword.iskeyword(token.text) and before and before.text == "." and after:
            yield "attribute", t.put(token.begin, token.end, "class"), [token.begin]
        if token.word and token.text == "in" and first.text == "for" and depth == 0:
            yield "no-in", t.put(token.begin, token.end + 1, ""), [token.begin]
            yield "of", t.put(token.begin, token.end, "of"), [token.begin]
        if token.word and token.text == "lambda" and after and after.word:
            yield "lambda", t.put(after.end, after.end, " two"), [after.end + 1]
        if token.op and token.text == "->" and after:
            yield "arrow", t.put(token.begin, token.end, "=>"), [token.begin, token.begin + 1]
        if token.op and token.text == "(" and first.text == "def" and after and after.word and line.index(token) == 2:
            yield "twice", t.put(after.begin, after.begin, after.text + ", "), [after.begin + len(after.text) + 2]
            yield "default", t.put(after.begin, after.begin, "first=1, "), [after.begin + 9]
            yield "type-first", t.put(after.begin, after.begin, "int "), [after.begin, after.begin + 4]
        if token.op and token.text == "(" and before and before.word and first.text not in ("def", "class") and after and (after.word or after.kind == tokenize.NUMBER) and not keyword.iskeyword(before.text):
            comma = line[line.index(after) + 1].text in (",", ")")
            if comma:
                yield "late", t.put(after.begin, after.begin, "k=1, "), [after.begin + 5]
    if first.text == "elif":
        yield "else-if", t.put(first.begin, first.end, "else if"), [first.begin + 5, first.begin]
    if first.text == "from" and "import" in [x.text for x in line] and last.word:
        names = t.text[[x for x in line if x.text == "import"][0].end : last.end].strip()
        module = t.text[line[1].begin : [x for x in line if x.text == "import"][0].begin].strip()
        yield "import-from", t.put(first.begin, last.end, f"import {names} from {module}"), [first.begin + len(f"import {names} ")]
        yield "import-nothing", t.put([x for x in line if x.text == "import"][0].end, last.end, ""), [[x for x in line if x.text == "import"][0].end]
    if first.text == "import" and len(line) == 2:
        yield "import-star", t.put(last.begin, last.end, "*"), [last.begin]
    if first.text == "def" and len(line) > 3 and line[2].text == "(":
        right = [b for a, b in partners(line) if a is line[2]][0]
        yield "no-parens", t.put(line[2].begin, right.end, ""), [line[2].begin]
        yield "keyword-name", t.put(line[1].begin, line[1].end, "class"), [line[1].begin]
    if first.text == "except" and len(line) > 3 and line[-3].text == "as":
        yield "except-comma", t.put(line[-3].begin - 1, line[-3].end, ","), [line[-3].begin - 1]
    if first.text == "raise" and len(line) > 3:
        yield "raise-comma", t.put(last.end, last.end, ', "why"'), [last.end]
    if plain and number and t.indents[number] <= t.indents[number - 1] + 0:
        yield "semicolons", t.put(last.end, last.end, ";;"), [last.end, last.end + 1]
        yield "shut", t.put(last.end, last.end, ")"), [last.end]
        yield "dollar", t.put(first.begin, first.begin, "$"), [first.begin]
        yield "question", t.put(last.end, last.end, " ?"), [last.end + 1]
        yield "increment", t.put(begin, begin, blanks + "count++\n"), [begin + len(blanks) + 5, begin + len(blanks) + 6, begin + len(blanks) + 7]
        yield "print", t.put(begin, begin, blanks + "print count\n"), [begin + len(blanks) + 6, begin + len(blanks)]
        yield "print-text", t.put(begin, begin, blanks + 'print "count"\n'), [begin + len(blanks) + 6, begin + len(blanks)]
        yield "declared", t.put(begin, begin, blanks + "int count = 3\n"), [begin + len(blanks), begin + len(blanks) + 4]
        yield "comment", t.put(begin, begin, blanks + "// a note on this\n"), [begin + len(blanks)]
        yield "lone-else", t.put(begin, begin, blanks + "else:\n" + blanks + "    pass\n"), [begin + len(blanks)]
        yield "lone-try", t.put(begin, begin, blanks + "try:\n" + blanks + "    pass\n"), [begin + 2 * len(blanks) + 14 + len(blanks), begin + len(blanks)]
        yield "keyword-target", t.put(begin, begin, blanks + "class = 3\n"), [begin + len(blanks) + 6, begin + len(blanks)]
        yield "break", t.put(begin, begin, blanks + "async x = 3\n"), [begin + len(blanks) + 6, begin + len(blanks)]
        yield "decorator", t.put(begin, begin, blanks + "@cached\n"), [begin + len(blanks) + 8 + len(blanks), begin + len(blanks)]
        yield "indent", t.put(first.begin, first.begin, "    "), [first.begin, first.begin + 4]
        yield "join", t.put(last.end, last.end, " \\ "), [last.end + 1]
        yield "then", t.put(begin, begin, blanks + "if count then:\n" + blanks + "    pass\n"), [begin + len(blanks) + 9]
        yield "for-c", t.put(begin, begin, blanks + "for (i = 0; i < 3; i++):\n" + blanks + "    pass\n"), [begin + len(blanks) + 4, begin + len(blanks) + 5, begin + len(blanks) + 7]
        yield "true-target", t.put(begin, begin, blanks + "None = 3\n"), [begin + len(blanks)]
        yield "ternary", t.put(begin, begin, blanks + "count = 1 if 2\n"), [begin + len(blanks) + 14, begin + len(blanks) + 10]
        if blanks:
            yield "dedent", t.put(begin, begin + 1, ""), [first.begin - 1]


def mistakes(text, rng, each):
    """At most `each` of every kind, chosen by `rng`."""
    t, kinds = Text(text), {}
    for number, line in enumerate(t.lines):
        if line:
            for kind, changed, places in of_line(t, number):
                if changed != text:
                    kinds.setdefault(kind, []).append((changed, places))
    for kind, found in sorted(kinds.items()):
        for changed, places in rng.sample(found, min(each, len(found))):
            yield kind, changed, places
