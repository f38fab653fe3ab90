// What was meant by a refused token, where the shape of its line tells it.
//
// `for i of …`, `a x b`, `def f(…) - > R.Tensor`, `if x {`, `from m import a at b`: words and signs
// that nothing but the mistake puts there. Each rule looks at the bytes around the token.
#include "grammar/meant_line.h"

#include <ctype.h>
#include <string.h>

// The refused token, the first one of its logical line, and whether a bracket is open.
typedef struct {
  const char *text;
  tvms_token token, first;
  bool inside;
} place;

typedef tvms_token_meaning (*rule)(const place *at);

static const tvms_token_meaning none = {0};

static tvms_token_meaning meaning(tvms_span span, const char *note, tvms_span fix,
                                  const char *TVMS_NULLABLE fixed) {
  return (tvms_token_meaning){span, note, fixed, fix};
}

static tvms_span span_of(tvms_token token) {
  return (tvms_span){token.begin, token.end};
}

static tvms_token_meaning replaced(tvms_span span, const char *note,
                                   const char *fixed) {
  return meaning(span, note, span, fixed);
}

static uint32_t end_before(const char *text, uint32_t at) {
  while (at > 0 && (text[at - 1] == ' ' || text[at - 1] == '\t'))
    at--;
  return at;
}

static uint32_t after_blanks(const char *text, uint32_t at) {
  return at + (uint32_t)strspn(text + at, " \t");
}

static bool is_word_byte(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

static uint32_t end_of_word(const char *text, uint32_t at) {
  while (is_word_byte(text[at]))
    at++;
  return at;
}

static bool is_word(const char *text, tvms_token token, const char *word) {
  size_t len = token.end - token.begin;
  return strlen(word) == len && memcmp(text + token.begin, word, len) == 0;
}

// The byte before the token, blanks left out; 0 at the begin of the text.
static char before(const place *at) {
  uint32_t end = end_before(at->text, at->token.begin);
  return end > 0 ? at->text[end - 1] : '\0';
}

static bool ends_operand(char c) {
  return is_word_byte(c) || c == ')' || c == ']' || c == '"' || c == '\'';
}

static bool ends_line(const char *text, uint32_t at) {
  return strchr("#\r\n", text[after_blanks(text, at)]) != NULL;
}

// `for i of range(n)`, `for i, j T.grid(n, m)`.
static tvms_token_meaning loop_without_in(const place *at) {
  if (at->first.kind != TVMS_TOK_FOR || at->inside || at->token.kind != TVMS_TOK_NAME)
    return none;
  const char *text = at->text;
  uint32_t end = end_before(text, at->token.begin);
  for (uint32_t i = at->first.end; i + 4 <= end; i++) {
    if (memcmp(text + i, " in ", 4) == 0) return none;
  }
  static const char *const words[] = {"of", "on", "im", "ni", "over", "from", "inn"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    if (is_word(text, at->token, words[i]))
      return replaced(span_of(at->token), "write 'in'", "in");
  }
  char next = text[at->token.end];
  if (next != '.' && next != '(') return none;
  return meaning(span_of(at->token), "missing 'in'?", (tvms_span){end, end}, " in");
}

// `a x b`; `a an b`.
static tvms_token_meaning operator_as_word(const place *at) {
  static const struct {
    const char *word, *note, *meant;
  } rows[] = {
      {"x", "write '*'", "*"},
      {"an", "write 'and'", "and"},
      {"adn", "write 'and'", "and"},
      {"nad", "write 'and'", "and"},
      {"ro", "write 'or'", "or"},
      {"plus", "write '+'", "+"},
      {"minus", "write '-'", "-"},
      {"times", "write '*'", "*"},
      {"do", "leave it out: ':' ends the condition", ""},
  };
  if (at->token.kind != TVMS_TOK_NAME || !ends_operand(before(at))) return none;
  const char *text = at->text;
  uint32_t next = after_blanks(text, at->token.end);
  bool operand =
      next > at->token.end && (is_word_byte(text[next]) || text[next] == '(');
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (!is_word(text, at->token, rows[i].word)) continue;
    bool fits = *rows[i].meant ? operand : text[next] == ':' && !at->inside;
    if (fits) return replaced(span_of(at->token), rows[i].note, rows[i].meant);
  }
  return none;
}

// `if x {`: a block of C.
static tvms_token_meaning brace(const place *at) {
  switch ((int)at->first.kind) {
  case TVMS_TOK_DEF:
  case TVMS_TOK_CLASS:
  case TVMS_TOK_FOR:
  case TVMS_TOK_IF:
  case TVMS_TOK_ELIF:
  case TVMS_TOK_ELSE:
  case TVMS_TOK_WHILE:
  case TVMS_TOK_WITH: break;
  default: return none;
  }
  if (at->token.kind != TVMS_TOK_OPEN_CURLY || !ends_line(at->text, at->token.end))
    return none;
  uint32_t end = end_before(at->text, at->token.begin);
  return meaning(span_of(at->token), "a block begins with ':'",
                 (tvms_span){end, at->token.end}, ":");
}

// `x: R.Tensor(…): value`, `x: T.int32, value`.
static tvms_token_meaning second_sign(const place *at) {
  bool sign = at->token.kind == TVMS_TOK_COLON || at->token.kind == TVMS_TOK_COMMA;
  if (!sign || at->inside || at->first.kind != TVMS_TOK_NAME) return none;
  const char *text = at->text;
  uint32_t colon = after_blanks(text, at->first.end);
  bool typed = text[colon] == ':' && colon < at->token.begin
               && strchr("TR", text[after_blanks(text, colon + 1)]);
  if (!typed || ends_line(text, at->token.end)) return none;
  return meaning(span_of(at->token), "a value stands behind '='", span_of(at->token),
                 " =");
}

// `def f(…) - > R.Tensor(…):`, `def f(…) R.Tensor(…):`.
static tvms_token_meaning arrow(const place *at) {
  if (at->first.kind != TVMS_TOK_DEF || at->inside || before(at) != ')') return none;
  const char *text = at->text;
  uint32_t next = after_blanks(text, at->token.end);
  if (at->token.kind == TVMS_TOK_MINUS && text[next] == '>')
    return replaced((tvms_span){at->token.begin, next + 1}, "write '->'", "->");
  if (at->token.kind == TVMS_TOK_MINUS || at->token.kind == TVMS_TOK_GT)
    return replaced(span_of(at->token), "write '->'", "->");
  if (at->token.kind != TVMS_TOK_NAME && at->token.kind != TVMS_TOK_NONE) return none;
  return meaning(span_of(at->token), "a result stands behind '->'",
                 (tvms_span){at->token.begin, at->token.begin}, "-> ");
}

// `from m import a at b`, `from m import a,`.
static tvms_token_meaning import(const place *at) {
  if (at->first.kind != TVMS_TOK_FROM && at->first.kind != TVMS_TOK_IMPORT) return none;
  const char *text = at->text;
  uint32_t end = end_before(text, at->token.begin);
  if (at->token.kind == TVMS_TOK_NEWLINE && before(at) == ',' && !at->inside)
    return replaced((tvms_span){end - 1, end}, "leave it out", "");
  static const char *const words[] = {"at", "sa", "az", "ass", "a", "like", "is"};
  uint32_t next = after_blanks(text, at->token.end);
  uint32_t last = end_of_word(text, next);
  bool named =
      last > next && (text[after_blanks(text, last)] == ',' || ends_line(text, last));
  for (size_t i = 0; i < sizeof words / sizeof *words && named; i++) {
    if (is_word(text, at->token, words[i]))
      return replaced(span_of(at->token), "write 'as'", "as");
  }
  return none;
}

static bool follows_decorator(const place *at) {
  const char *text = at->text;
  uint32_t begin = at->first.begin, line;
  while (begin > 0 && text[begin - 1] != '\n')
    begin--;
  if (begin == 0) return false;
  for (line = begin - 1; line > 0 && text[line - 1] != '\n';)
    line--;
  return text[after_blanks(text, line)] == '@';
}

// `name(x: …):` and `Name:` below a decorator; `parallel i in range(n):`.
static tvms_token_meaning missing_keyword(const place *at) {
  if (at->first.kind != TVMS_TOK_NAME || at->inside) return none;
  const char *text = at->text;
  tvms_span begin = {at->first.begin, at->first.begin};
  if (at->token.begin == at->first.begin && follows_decorator(at)) {
    char next = text[at->token.end];
    if (next == '(')
      return meaning(span_of(at->token), "a function begins with 'def'", begin, "def ");
    if (next == ':')
      return meaning(span_of(at->token), "a module begins with 'class'", begin,
                     "class ");
  }
  if (at->token.kind != TVMS_TOK_NAME || at->token.begin == at->first.begin
      || end_before(text, at->token.begin) != at->first.end)
    return none;
  uint32_t next = after_blanks(text, at->token.end);
  if (next == at->token.end || strncmp(text + next, "in ", 3) != 0) return none;
  return meaning(span_of(at->first), "a loop begins with 'for'", span_of(at->first),
                 "for");
}

// `if x:;`, `@R.function:`.
static tvms_token_meaning one_sign_more(const place *at) {
  if (at->inside) return none;
  bool semicolon = at->token.kind == TVMS_TOK_SEMICOLON && before(at) == ':';
  bool colon = at->token.kind == TVMS_TOK_COLON && at->first.kind == TVMS_TOK_AT;
  if ((!semicolon && !colon) || !ends_line(at->text, at->token.end)) return none;
  return replaced(span_of(at->token), "leave it out", "");
}

// `else x > 2:`.
static tvms_token_meaning other_condition(const place *at) {
  bool condition = at->first.kind == TVMS_TOK_ELSE && !at->inside
                   && (at->token.kind == TVMS_TOK_NAME || at->token.kind == TVMS_TOK_NOT
                       || at->token.kind == TVMS_TOK_OPEN_ROUND);
  if (!condition) return none;
  return meaning(span_of(at->token), "write 'elif'", span_of(at->first), "elif");
}

// `f(x[i] = 1, …)`, `f(relax.key=1)`, `f(axis=axis=1)`.
static tvms_token_meaning argument(const place *at) {
  if (!at->inside || at->token.kind != TVMS_TOK_ASSIGN
      || strchr("<>!=", at->text[at->token.end]))
    return none;
  const char *text = at->text;
  uint32_t end = end_before(text, at->token.begin);
  if (end > 0 && (text[end - 1] == ']' || text[end - 1] == ')'))
    return replaced(span_of(at->token), "write '==' to compare", "==");
  uint32_t begin = end;
  while (begin > 0 && is_word_byte(text[begin - 1]))
    begin--;
  uint32_t len = end - begin;
  if (len && begin > len && text[begin - 1] == '='
      && memcmp(text + begin - 1 - len, text + begin, len) == 0)
    return meaning(span_of(at->token), "it is there twice",
                   (tvms_span){begin, at->token.end}, "");
  if (len && begin > 1 && text[begin - 1] == '.')
    return meaning(span_of(at->token),
                   "a key with a dot is a string in a dict: {\"key\": value}",
                   span_of(at->token), NULL);
  return none;
}

// `a >>> b`, `x = &y[0]`.
static tvms_token_meaning sign_of_c(const place *at) {
  const char *text = at->text;
  uint32_t begin = at->token.begin;
  bool shift = at->token.kind == TVMS_TOK_GT && begin > 1
               && memcmp(text + begin - 2, ">>", 2) == 0;
  if (shift) return replaced(span_of(at->token), "write '>>' to shift", "");
  if (at->token.kind == TVMS_TOK_GT && begin > 0 && text[begin - 1] == '='
      && at->inside)
    return replaced((tvms_span){begin - 1, at->token.end}, "write '>=' to compare",
                    ">=");
  bool address = at->token.kind == TVMS_TOK_BIT_AND && strchr("=(,", before(at));
  if (!address) return none;
  return meaning(span_of(at->token), "an address is T.address_of(x[i])",
                 span_of(at->token), NULL);
}

// `a b, c = …`.
static tvms_token_meaning first_comma(const place *at) {
  const char *text = at->text;
  uint32_t end = end_before(text, at->token.begin);
  bool names = at->first.kind == TVMS_TOK_NAME && at->token.kind == TVMS_TOK_NAME
               && !at->inside && end == at->first.end;
  if (!names) return none;
  uint32_t next = at->token.end + (uint32_t)strcspn(text + at->token.end, "=(\r\n");
  if (text[at->token.end] != ',' || text[next] != '=' || text[next + 1] == '=')
    return none;
  return meaning(span_of(at->token), "missing comma?", (tvms_span){end, end}, ",");
}

// `T.int64 step = …`, `int32 step = …`.
static tvms_token_meaning declaration(const place *at) {
  const char *text = at->text;
  if (at->first.kind != TVMS_TOK_NAME || at->inside || at->token.kind != TVMS_TOK_NAME)
    return none;
  uint32_t type = at->first.begin;
  if (text[type] == 'T' && text[type + 1] == '.') type += 2;
  static const char *const types[] = {"int", "uint", "float", "bfloat", "bool"};
  bool known = false;
  uint32_t end = end_of_word(text, type);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    size_t len = strlen(types[i]);
    known = known
            || (strncmp(text + type, types[i], len) == 0
                && type + len + strspn(text + type + len, "0123456789") == end);
  }
  bool bare = type == at->first.begin;
  if (!known || after_blanks(text, end) != at->token.begin
      || (bare && !isdigit((unsigned char)text[end - 1])))
    return none;
  uint32_t next = after_blanks(text, at->token.end);
  if (text[next] != '=' || text[next + 1] == '=') return none;
  return meaning(span_of(at->token), "a type stands behind the name: n: T.int32",
                 span_of(at->token), NULL);
}

tvms_token_meaning tvms_token_meant_by_line(const char *text, tvms_token token,
                                            tvms_token first, bool inside) {
  static const rule rules[] = {
      loop_without_in, operator_as_word, brace,         second_sign,     arrow,
      import,          missing_keyword,  one_sign_more, other_condition, argument,
      sign_of_c,       first_comma,      declaration,
  };
  const place at = {text, token, first, inside};
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    tvms_token_meaning found = rules[i](&at);
    if (found.note) return found;
  }
  return none;
}
