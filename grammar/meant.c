// What was meant by text that the grammar refuses.
//
// Habits of C (`&&`, `else if`, `//`), a comma or `with` left out, typographic characters.
// Each is told by the bytes around the token; the parser only says where it stands.
#include "grammar/meant.h"

#include "grammar/meant_line.h"

#include <ctype.h>
#include <string.h>

// ---- Tokens ----

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

// The end of the text before `at`, without blanks.
static uint32_t end_before(const char *text, uint32_t at) {
  while (at > 0 && is_blank(text[at - 1])) {
    at--;
  }
  return at;
}

static bool is_word(const char *text, tvms_token token, const char *const *words,
                    size_t count) {
  uint32_t len = token.end - token.begin;
  for (size_t i = 0; i < count; i++) {
    if (strlen(words[i]) == len && memcmp(text + token.begin, words[i], len) == 0) {
      return true;
    }
  }
  return false;
}

#define IS_ONE_OF(text, token, ...)                                                    \
  is_word((text), (token), (const char *const[]){__VA_ARGS__},                         \
          sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static tvms_token_meaning meaning(tvms_span span, const char *note, tvms_span fix,
                                  const char *TVMS_NULLABLE fixed) {
  return (tvms_token_meaning){span, note, fixed, fix};
}

static tvms_token_meaning replaced(tvms_span span, const char *note,
                                   const char *fixed) {
  return meaning(span, note, span, fixed);
}

// `===`, `!==`, `<>`, and `=>` for the arrow of a result; the token is their last part.
static tvms_token_meaning comparisons(const char *text, tvms_token token,
                                      tvms_token first) {
  uint32_t begin = token.begin;
  if (begin < 2) return (tvms_token_meaning){0};
  const char *before = text + begin - 2;
  bool equals = token.kind == TVMS_TOK_ASSIGN;
  if (equals && (memcmp(before, "==", 2) == 0 || memcmp(before, "!=", 2) == 0)) {
    bool same = before[0] == '=';
    return replaced((tvms_span){begin - 2, token.end},
                    same ? "write '==' to compare" : "write '!=' to compare",
                    same ? "==" : "!=");
  }
  if (token.kind == TVMS_TOK_GT && before[1] == '<')
    return replaced((tvms_span){begin - 1, token.end}, "write '!=' to compare", "!=");
  if (token.kind == TVMS_TOK_LT && before[1] == '=')
    return replaced((tvms_span){begin - 1, token.end}, "write '<=' to compare", "<=");
  if (equals && text[token.end] == '<' && before[1] == ' ')
    return replaced((tvms_span){begin, token.end + 1}, "write '<=' to compare", "<=");
  if (equals && text[token.end] == '!')
    return replaced((tvms_span){begin, token.end + 1}, "write '!=' to compare", "!=");
  if (equals && text[token.end] == '>' && strchr(") ", before[1]))
    return first.kind == TVMS_TOK_DEF
               ? replaced((tvms_span){begin, token.end + 1}, "write '->'", "->")
               : replaced((tvms_span){begin, token.end + 1}, "write '>=' to compare",
                          ">=");
  return (tvms_token_meaning){0};
}

// `&&`, `||`, `++` at the end of a line, `//` and `/*` at its beginning.
static tvms_token_meaning signs(const char *text, tvms_token token, tvms_token first) {
  tvms_span span = {token.begin, token.end};
  uint32_t begin = token.begin;
  bool twice = begin > 0 && text[begin - 1] == text[begin];
  tvms_span both = {begin - twice, token.end};
  if (token.kind == TVMS_TOK_BIT_AND && twice)
    return replaced(both, "write 'and'", "and");
  if (token.kind == TVMS_TOK_BIT_OR && twice) return replaced(both, "write 'or'", "or");
  if (token.kind == TVMS_TOK_SEMICOLON && twice)
    return replaced(both, "one ';' is enough", ";");
  if (token.kind == TVMS_TOK_AT && twice)
    return replaced(span, "one '@' is enough", "");
  if (token.kind == TVMS_TOK_COMMA && twice)
    return replaced(span, "one ',' is enough", "");
  if (token.kind == TVMS_TOK_NEWLINE) {
    uint32_t end = end_before(text, begin);
    tvms_span last = {end - 2, end};
    if (end >= 2 && memcmp(text + end - 2, "++", 2) == 0)
      return replaced(last, "write '+= 1'", " += 1");
    if (end >= 2 && memcmp(text + end - 2, "--", 2) == 0)
      return replaced(last, "write '-= 1'", " -= 1");
  }
  tvms_token_meaning compared = comparisons(text, token, first);
  if (compared.note) return compared;
  if (begin > 0 && text[begin - 1] == '/' && text[begin] == '*')
    return meaning((tvms_span){begin - 1, token.end}, "a comment begins with '#'",
                   (tvms_span){begin - 1, token.end}, "#");
  uint32_t before = end_before(text, begin);
  bool behind = before > 0 && text[before - 1] == ':';
  bool comment = (token.kind == TVMS_TOK_FLOOR_DIV && (begin == first.begin || behind))
                 || (token.kind == TVMS_TOK_SLASH && begin == first.begin
                     && text[token.end] == '*');
  if (comment)
    return meaning(span, "a comment begins with '#'", (tvms_span){begin, begin + 2},
                   "#");
  return (tvms_token_meaning){0};
}

// `for (int i = 0; i < n; i++)`, `for i = 0 to n`: whatever is refused in the header, it is said
// at its begin.
static tvms_token_meaning loops(const char *text, tvms_token token, tvms_token first) {
  uint32_t begin = first.end + (uint32_t)strspn(text + first.end, " ");
  uint32_t end = begin + 1;
  while (text[begin] != '('
         && (text[end] == '_' || isalnum((unsigned char)text[end]))) {
    end++;
  }
  bool counts = token.kind == TVMS_TOK_ASSIGN || token.kind == TVMS_TOK_SEMICOLON
                || token.kind == TVMS_TOK_COLON || token.kind == TVMS_TOK_WALRUS;
  uint32_t at = begin + (uint32_t)strspn(text + begin, "( ");
  bool declares =
      text[begin] == '(' && token.kind == TVMS_TOK_NAME
      && (strncmp(text + at, "int ", 4) == 0 || strncmp(text + at, "size_t ", 7) == 0
          || strncmp(text + at, "auto ", 5) == 0 || strncmp(text + at, "let ", 4) == 0);
  // Behind `in` it is something else.
  for (uint32_t i = first.end; i + 4 < token.begin; i++) {
    if (strncmp(text + i, " in ", 4) == 0) return (tvms_token_meaning){0};
  }
  if (token.begin <= first.end || !(counts || declares)) return (tvms_token_meaning){0};
  uint32_t line = (uint32_t)strcspn(text + begin, "\r\n");
  static const char *const blocks[] = {".sblock(", ".block(", ".dataflow("};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
    const char *found = strstr(text + begin, blocks[i]);
    if (found && found < text + begin + line)
      return replaced((tvms_span){first.begin, first.end}, "a block begins with 'with'",
                      "with");
  }
  return meaning((tvms_span){begin, end}, "write 'for i in range(n):'",
                 (tvms_span){begin, end}, NULL);
}

// `a, b c = …`: only names and commas stand from `begin` on.
static bool lists_targets(const char *text, uint32_t begin, uint32_t end) {
  bool comma = false;
  for (; begin < end; begin++) {
    char c = text[begin];
    comma = comma || c == ',';
    if (c != ',' && c != ' ' && c != '_' && !isalnum((unsigned char)c)) return false;
  }
  return comma;
}

static const char *const c_types[] = {"float", "double", "int",    "half",  "long",
                                      "char",  "bool",   "int32",  "int64", "uint",
                                      "auto",  "const",  "float32"};

// `And`, `mod`: operators that are words elsewhere, or are written small.
static tvms_token_meaning words(const char *text, tvms_token token) {
  static const struct {
    const char *word, *note, *meant;
  } rows[] = {
      {"And", "write 'and'", "and"},
      {"AND", "write 'and'", "and"},
      {"Or", "write 'or'", "or"},
      {"OR", "write 'or'", "or"},
      {"mod", "write '%'", "%"},
      {"div", "write '//'", "//"},
      {"xor", "write '^'", "^"},
      {"shl", "write '<<'", "<<"},
      {"shr", "write '>>'", ">>"},
      {"If", "write 'if'", "if"},
      {"Else", "write 'else'", "else"},
      {"In", "write 'in'", "in"},
      {"then", "leave it out: ':' ends the condition", ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows && token.kind == TVMS_TOK_NAME;
       i++) {
    if (IS_ONE_OF(text, token, rows[i].word))
      return replaced((tvms_span){token.begin, token.end}, rows[i].note, rows[i].meant);
  }
  return (tvms_token_meaning){0};
}

// Whether the text has a '=' outside of brackets.
static bool assigns(const char *text, uint32_t begin, uint32_t end) {
  int depth = 0;
  for (; begin < end; begin++) {
    if (strchr("([{", text[begin])) depth++;
    if (strchr(")]}", text[begin])) depth--;
    if (text[begin] == '=' && depth == 0) return true;
  }
  return false;
}

// `R.divide x, y`: whether a dotted name of a namespace ends at `end`.
static bool ends_callee(const char *text, uint32_t end) {
  uint32_t begin = end;
  bool dotted = false;
  while (begin > 0
         && (isalnum((unsigned char)text[begin - 1]) || strchr("_.", text[begin - 1])))
    dotted = text[--begin] == '.' || dotted;
  return dotted && end - begin > 2 && strchr("RTI", text[begin])
         && text[begin + 1] == '.';
}

// `x T.exp(y)`, `x = a b`, `T.evaluate "f"`: something stands between the two, outside of brackets.
static tvms_token_meaning left_out(const char *text, tvms_token token,
                                   tvms_token first) {
  tvms_span span = {token.begin, token.end};
  uint32_t end = end_before(text, token.begin);
  bool operand = token.kind == TVMS_TOK_NAME || token.kind == TVMS_TOK_STRING;
  char before = end > 0 ? text[end - 1] : '\n';
  bool behind = isalnum((unsigned char)before) || strchr("_)]", before);
  if ((operand || token.kind == TVMS_TOK_INT || token.kind == TVMS_TOK_FLOAT)
      && ends_callee(text, end))
    return meaning(span, "missing '('?", (tvms_span){end, token.begin}, NULL);
  if (first.kind != TVMS_TOK_NAME || !operand || !behind || token.begin <= first.begin)
    return (tvms_token_meaning){0};
  if (assigns(text, first.begin, end))
    return meaning(span, "missing comma or operator?", (tvms_span){end, end}, NULL);
  if (token.kind == TVMS_TOK_STRING && before != ')')
    return meaning(span, "missing '('?", (tvms_span){end, token.begin}, NULL);
  bool value = text[token.end] == '.' && strchr("TRI", text[token.begin])
               && token.end - token.begin == 1;
  if (!value) return (tvms_token_meaning){0};
  return meaning(span, "missing '='?", (tvms_span){end, end}, " =");
}

static bool is_type_of_c(const char *text, uint32_t begin, uint32_t end) {
  for (size_t i = 0; i < sizeof c_types / sizeof *c_types; i++) {
    if (strlen(c_types[i]) == end - begin
        && memcmp(c_types[i], text + begin, end - begin) == 0)
      return true;
  }
  return false;
}

static uint32_t begin_of_word(const char *text, uint32_t end) {
  while (end > 0 && (isalnum((unsigned char)text[end - 1]) || text[end - 1] == '_')) {
    end--;
  }
  return end;
}

// `int n`, `n T.int32` in a signature; the token stands behind the first word.
static tvms_token_meaning parameters(const char *text, tvms_token token) {
  uint32_t end = end_before(text, token.begin);
  uint32_t begin = begin_of_word(text, end);
  if (token.kind != TVMS_TOK_NAME || begin == end) return (tvms_token_meaning){0};
  if (begin > 0 && text[begin - 1] == '.') return (tvms_token_meaning){0};
  if (is_type_of_c(text, begin, end))
    return meaning((tvms_span){begin, end}, "a type stands behind the name: n: T.int32",
                   (tvms_span){begin, end}, NULL);
  bool type = token.end - token.begin == 1 && strchr("TR", text[token.begin])
              && text[token.end] == '.';
  if (!type) return (tvms_token_meaning){0};
  return meaning((tvms_span){token.begin, token.end}, "a name is followed by ':'",
                 (tvms_span){end, end}, ":");
}

// `(float)x`: a cast of C; the token stands behind it.
static tvms_token_meaning casts(const char *text, tvms_token token) {
  uint32_t end = end_before(text, token.begin);
  if (end < 3 || text[end - 1] != ')') return (tvms_token_meaning){0};
  uint32_t begin = begin_of_word(text, end - 1);
  bool cast = begin > 0 && text[begin - 1] == '(' && is_type_of_c(text, begin, end - 1);
  if (!cast) return (tvms_token_meaning){0};
  return meaning((tvms_span){token.begin, token.end},
                 "a value is converted by T.cast(x, \"float32\")",
                 (tvms_span){begin, begin}, NULL);
}

// `else if`, `if a = b`, `float x = …`, `T.sblock(…):`.
static tvms_token_meaning statements(const char *text, tvms_token token,
                                     tvms_token first) {
  tvms_span span = {token.begin, token.end};
  bool tests = first.kind == TVMS_TOK_IF || first.kind == TVMS_TOK_ELIF
               || first.kind == TVMS_TOK_WHILE;
  if (token.kind == TVMS_TOK_IF && first.kind == TVMS_TOK_ELSE)
    return meaning(span, "write 'elif'", (tvms_span){first.begin, token.end}, "elif");
  if (token.kind == TVMS_TOK_ASSIGN && tests)
    return replaced(span, "write '==' to compare", "==");
  if (first.kind != TVMS_TOK_NAME) return (tvms_token_meaning){0};
  bool name = token.kind == TVMS_TOK_NAME && token.begin != first.begin;
  if (name
      && IS_ONE_OF(text, first, "float", "double", "int", "long", "auto", "const",
                   "unsigned", "bool", "char", "let", "var", "half")) {
    return meaning((tvms_span){first.begin, first.end},
                   "Python declares no types: leave this out",
                   (tvms_span){first.begin, token.begin}, "");
  }
  uint32_t end = end_before(text, token.begin);
  uint32_t behind = token.end + (uint32_t)strspn(text + token.end, " ");
  bool binds = text[behind] == '=' && text[behind + 1] != '=' && first.end == end;
  if (name && (binds || lists_targets(text, first.begin, end)))
    return meaning(span, "missing comma?", (tvms_span){end, end}, ",");
  bool colon = token.kind == TVMS_TOK_NEWLINE && end > 0 && text[end - 1] == ':'
               && end - 1 > first.end;
  if (!colon) return (tvms_token_meaning){0};
  bool loop = strncmp(text + first.end, ".grid(", 6) == 0;
  tvms_span place = {first.begin, first.begin};
  return meaning((tvms_span){first.begin, first.end},
                 loop ? "a loop begins with 'for'" : "a block begins with 'with'",
                 place, loop ? NULL : "with ");
}

static bool begins_operand(tvms_token_kind kind) {
  switch ((int)kind) {
  case TVMS_TOK_NAME:
  case TVMS_TOK_WIDE_NAME:
  case TVMS_TOK_INT:
  case TVMS_TOK_FLOAT:
  case TVMS_TOK_STRING:
  case TVMS_TOK_TRUE:
  case TVMS_TOK_FALSE:
  case TVMS_TOK_NONE: return true;
  default: return false;
  }
}

// Whether the innermost bracket that is open at the place is a brace; only its line is looked
// at, and brackets in strings count.
static bool is_in_braces(const char *text, uint32_t at) {
  int closed = 0;
  for (; at > 0 && text[at - 1] != '\n'; at--) {
    char c = text[at - 1];
    if (c == ')' || c == ']' || c == '}') closed++;
    if ((c == '(' || c == '[' || c == '{') && closed-- == 0) return c == '{';
  }
  return false;
}

tvms_token_meaning tvms_token_meant(const char *text, tvms_token token,
                                    tvms_token first, bool inside, bool comma) {
  tvms_span span = {token.begin, token.end};
  tvms_token_meaning found = tvms_token_meant_by_line(text, token, first, inside);
  if (!found.note) found = signs(text, token, first);
  if (!found.note && first.kind == TVMS_TOK_FOR) found = loops(text, token, first);
  if (!found.note && !inside) found = statements(text, token, first);
  if (!found.note) found = words(text, token);
  if (!found.note) found = casts(text, token);
  if (!found.note && !inside) found = left_out(text, token, first);
  if (found.note) return found;
  if (!found.note && first.kind == TVMS_TOK_DEF && inside)
    found = parameters(text, token);
  if (found.note) return found;
  if (token.kind == TVMS_TOK_FLOAT && text[token.begin] == '.')
    return meaning(span, "a part is taken by its number in brackets: [0]", span, NULL);
  if (first.kind == TVMS_TOK_FROM && token.kind == TVMS_TOK_NAME && token.begin > 0
      && isalnum((unsigned char)text[end_before(text, token.begin) - 1])) {
    uint32_t end = end_before(text, token.begin);
    return meaning(span, "missing comma?", (tvms_span){end, end}, ",");
  }
  if (inside && token.kind == TVMS_TOK_COLON
      && strchr("#\r\n", text[token.end + strspn(text + token.end, " ")]))
    return meaning(span, "a ')' is missing", (tvms_span){token.begin, token.begin},
                   ")");
  if (first.kind == TVMS_TOK_ASSERT && !inside && token.kind == TVMS_TOK_STRING) {
    uint32_t end = end_before(text, token.begin);
    return meaning(span, "missing comma?", (tvms_span){end, end}, ",");
  }
  bool lists = inside || first.kind == TVMS_TOK_FOR;
  if (lists && comma && begins_operand((tvms_token_kind)token.kind)) {
    uint32_t end = end_before(text, token.begin);
    bool key = end > 0 && strchr("\"'", text[end - 1]) && is_in_braces(text, end);
    bool named = token.kind == TVMS_TOK_STRING && end == token.begin && end > 0
                 && (isalnum((unsigned char)text[end - 1]) || text[end - 1] == '_');
    if (named)
      return meaning(span, "an argument is named with '='", (tvms_span){end, end}, "=");
    if (key)
      return meaning(span, "a key is followed by ':'", (tvms_span){end, end}, ":");
    return meaning(span, "missing comma?", (tvms_span){end, end}, ",");
  }
  if (inside && token.kind == TVMS_TOK_SEMICOLON) {
    uint32_t next = token.end + (uint32_t)strspn(text + token.end, " ");
    bool type = first.kind == TVMS_TOK_DEF && strchr("TRI", text[next])
                && text[next + 1] == '.';
    return type ? replaced(span, "write ':'", ":") : replaced(span, "write ','", ",");
  }
  if (inside && token.kind == TVMS_TOK_ASSIGN && is_in_braces(text, token.begin))
    return replaced(span, "a key is followed by ':'", ":");
  char before = token.begin > 0 ? text[token.begin - 1] : '\0';
  bool named = (before >= 'a' && before <= 'z') || before == '_';
  if (inside && comma && named && token.kind == TVMS_TOK_COLON)
    return replaced(span, "an argument is named with '='", "=");
  return found;
}

// ---- Characters ----

static const struct {
  uint32_t c;
  const char *fixed;
  const char *note;
} lookalikes[] = {
    {0x00A0, " ", "a blank that does not break; write a plain one"},
    {0x200B, "", "a blank without width; leave it out"},
    {0x3000, " ", "a wide blank; write a plain one"},
    {0x00D7, "*", "write '*'"},
    {0x22C5, "*", "write '*'"},
    {0x00F7, "/", "write '/'"},
    {0x2010, "-", "write '-'"},
    {0x2011, "-", "write '-'"},
    {0x2012, "-", "write '-'"},
    {0x2013, "-", "write '-'"},
    {0x2014, "-", "write '-'"},
    {0x2212, "-", "write '-'"},
    {0x2192, "->", "write '->'"},
    {0x2264, "<=", "write '<='"},
    {0x2265, ">=", "write '>='"},
    {0x2260, "!=", "write '!='"},
    {0x2026, "...", "write '...'"},
    {0xFF08, "(", "write '('"},
    {0xFF09, ")", "write ')'"},
    {0xFF0C, ",", "write ','"},
    {0xFF1A, ":", "write ':'"},
    {'!', "not ", "write 'not'"},
    {'?', NULL, "a choice is T.if_then_else(condition, a, b)"},
    {'$', NULL, "a name has no '$'"},
};

// Quotes that no token begins with, and what closes them.
static const struct {
  uint32_t c;
  const char *open;
  const char *close;
  const char *fixed;
} quotes[] = {
    {0x201C, "\u201C", "\u201D", "\""},
    {0x201D, "\u201D", "\u201D", "\""},
    {0x201E, "\u201E", "\u201C", "\""},
    {0x00AB, "\u00AB", "\u00BB", "\""},
    {0x2018, "\u2018", "\u2019", "'"},
    {0x2019, "\u2019", "\u2019", "'"},
    {'`', "`", "`", "\""},
};

static const char *TVMS_NULLABLE closing(const char *text, const char *close) {
  size_t len = strlen(close);
  for (; *text && *text != '\n' && *text != '\r'; text++) {
    if (strncmp(text, close, len) == 0) return text;
  }
  return NULL;
}

void tvms_lexer_explain_suffix(tvms_lexer *lexer, tvms_diag *diag, const char *end) {
  tvms_diags *diags = &lexer->context->diags;
  if (!strchr("fFhHlLuU", *end)) return;
  uint32_t at = tvms_lexer_offset(lexer, end);
  tvms_diag_remark(diags, diag,
                   "a number has no suffix; with its type it is T.float32(%.*s)",
                   (int)(end - lexer->token), lexer->token);
  tvms_diag_fix(diags, diag, (tvms_span){at, at + 1}, false, "%s", "");
}

void tvms_lexer_explain_numbered(tvms_lexer *lexer, tvms_diag *diag) {
  tvms_diags *diags = &lexer->context->diags;
  tvms_span span = tvms_lexer_span(lexer);
  tvms_diag_remark(diags, diag, "%s", "a name does not begin with a digit");
  tvms_diag_fix(diags, diag, (tvms_span){span.begin, span.begin}, true, "%s", "_");
}

const char *tvms_lexer_explain_stray(tvms_lexer *lexer, tvms_diag *diag, uint32_t c,
                                     const char *after) {
  tvms_diags *diags = &lexer->context->diags;
  for (size_t i = 0; i < sizeof lookalikes / sizeof lookalikes[0]; i++) {
    if (lookalikes[i].c != c) continue;
    tvms_diag_remark(diags, diag, "%s", lookalikes[i].note);
    if (lookalikes[i].fixed)
      tvms_diag_fix(diags, diag, diag->span, false, "%s", lookalikes[i].fixed);
  }
  for (size_t i = 0; i < sizeof quotes / sizeof quotes[0]; i++) {
    if (quotes[i].c != c) continue;
    tvms_diag_remark(diags, diag, "a string is written in plain quotes: %s",
                     quotes[i].fixed);
    const char *close = closing(after, quotes[i].close);
    if (!close) return after;
    const char *end = close + strlen(quotes[i].close);
    tvms_diag_fix(diags, diag, diag->span, true, "%s", quotes[i].fixed);
    tvms_diag_fix(
        diags, diag,
        (tvms_span){tvms_lexer_offset(lexer, close), tvms_lexer_offset(lexer, end)},
        true, "%s", quotes[i].fixed);
    return end;
  }
  return after;
}
