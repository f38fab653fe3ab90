// What stands at the begin of a line by mistake: a misspelt keyword, a prompt of Python.
//
// A line that begins with a name goes on with an operator, a bracket, a dot or an end. A name with
// another name, a number or a string behind it was meant as a keyword, or is a declaration of C;
// so was one with only ':' behind it, or with a bracket and ':' at the end of the line. Read as the keyword, the line and its block are whole, and
// nothing follows from the mistake.
#include "grammar/misspelt.h"

#include "support/diag_ids.h"

#include <ctype.h>
#include <string.h>

static const struct {
  const char *word;
  tvms_token_kind kind;
  // Not of other languages: this is what Python has, and what is near to it is meant.
  bool own;
} words[] = {
    {"for", TVMS_TOK_FOR, true},         {"while", TVMS_TOK_WHILE, true},
    {"if", TVMS_TOK_IF, true},           {"elif", TVMS_TOK_ELIF, true},
    {"else", TVMS_TOK_ELSE, true},       {"with", TVMS_TOK_WITH, true},
    {"def", TVMS_TOK_DEF, true},         {"class", TVMS_TOK_CLASS, true},
    {"return", TVMS_TOK_RETURN, true},   {"import", TVMS_TOK_IMPORT, true},
    {"from", TVMS_TOK_FROM, true},       {"assert", TVMS_TOK_ASSERT, true},
    {"foreach", TVMS_TOK_FOR, false},    {"elseif", TVMS_TOK_ELIF, false},
    {"elsif", TVMS_TOK_ELIF, false},     {"elsf", TVMS_TOK_ELIF, false},
    {"otherwise", TVMS_TOK_ELSE, false}, {"void", TVMS_TOK_DEF, false},
    {"function", TVMS_TOK_DEF, false},   {"func", TVMS_TOK_DEF, false},
    {"fun", TVMS_TOK_DEF, false},        {"fn", TVMS_TOK_DEF, false},
    {"define", TVMS_TOK_DEF, false},     {"struct", TVMS_TOK_CLASS, false},
    {"module", TVMS_TOK_CLASS, false},   {"ret", TVMS_TOK_RETURN, false},
    {"include", TVMS_TOK_IMPORT, false}, {"require", TVMS_TOK_ASSERT, false},
    {"until", TVMS_TOK_WHILE, false},
};
enum { WORDS = sizeof words / sizeof *words, LONGEST = 12 };

static bool is_word_byte(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

// `x in y`, `x if y else z` and soft keywords are Python.
static bool is_python(const char *name, size_t len, const char *next) {
  static const char *const soft[] = {"match", "case", "type", "print", "exec"};
  static const char *const operators[] = {"in", "is", "if", "and", "or", "not", "as"};
  for (size_t i = 0; i < sizeof soft / sizeof *soft; i++) {
    if (strlen(soft[i]) == len && memcmp(soft[i], name, len) == 0) return true;
  }
  size_t next_len = 0;
  while (is_word_byte(next[next_len])) {
    next_len++;
  }
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
    if (strlen(operators[i]) == next_len && memcmp(operators[i], next, next_len) == 0)
      return true;
  }
  return false;
}

// Whether the line ends as that of a header does.
static bool opens_block(const char *line) {
  size_t len = strcspn(line, "#\r\n");
  while (len > 0 && line[len - 1] == ' ') {
    len--;
  }
  return len > 0 && (line[len - 1] == ':' || line[len - 1] == '{');
}

// The keyword that takes what stands behind the name: `alone` is only a ':'.
static bool takes(tvms_token_kind kind, bool alone) {
  return alone == (kind == TVMS_TOK_ELSE);
}

static const char *TVMS_NULLABLE meant_by(const char *name, bool alone,
                                          tvms_token_kind *kind) {
  const char *near[WORDS];
  uint32_t count = 0;
  for (size_t i = 0; i < WORDS; i++) {
    if (!takes(words[i].kind, alone)) continue;
    if (strcmp(words[i].word, name) == 0) {
      *kind = words[i].kind;
      for (size_t k = 0; k < WORDS; k++) {
        if (words[k].own && words[k].kind == words[i].kind) return words[k].word;
      }
    }
    if (words[i].own) near[count++] = words[i].word;
  }
  const char *found = tvms_diag_nearest_name(name, near, count);
  for (size_t i = 0; i < WORDS && found; i++) {
    if (words[i].own && words[i].word == found) *kind = words[i].kind;
  }
  return found;
}

static void report(tvms_lexer *lexer, tvms_token token, const char *name,
                   const char *meant) {
  tvms_diags *diags = &lexer->context->diags;
  tvms_span span = {token.begin, token.end};
  // Recovery reads lines again.
  const tvms_diag *last = diags->last;
  if (last && last->id == TVMS_D_syntax && last->span.begin == span.begin) return;
  char what[LONGEST + 3] = "'";
  strncat(what, name, LONGEST);
  strncat(what, "'", 2);
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_syntax, span, what, "");
  tvms_diag_remark(diags, diag, "write '%s'", meant);
  tvms_diag_fix(diags, diag, span, false, "%s", meant);
}

tvms_token_kind tvms_token_misspelt(tvms_lexer *lexer, tvms_token token) {
  const char *text = (const char *)lexer->base;
  const char *next = text + token.end;
  size_t len = token.end - token.begin;
  if (len < 2 || len >= LONGEST || (*next != ' ' && *next != ':')) return token.kind;
  bool alone = *next == ':';
  next += strspn(next, " :");
  bool operand = is_word_byte(*next) || strchr("\"'", *next)
                 || (*next == '(' && opens_block(next));
  if (alone ? !strchr("\r\n#", *next) : !operand) return token.kind;
  char name[LONGEST];
  memcpy(name, text + token.begin, len);
  name[len] = '\0';
  if (!*next || is_python(name, len, next)) return token.kind;
  tvms_token_kind kind = token.kind;
  const char *meant = meant_by(name, alone, &kind);
  // `cls Module` lacks a '='.
  if (!meant || (kind == TVMS_TOK_CLASS && !opens_block(next))) return token.kind;
  report(lexer, token, name, meant);
  return kind;
}

// ---- Prompts --------------------------------------------------------------------------------

bool tvms_lexer_is_prompt(const char *at) {
  if (memcmp(at, ">>> ", TVMS_PROMPT) == 0) return true;
  if (memcmp(at, "... ", TVMS_PROMPT) != 0) return false;
  char next = at[TVMS_PROMPT + strspn(at + TVMS_PROMPT, " ")];
  return is_word_byte(next) || next == '@';
}

tvms_diag *tvms_lexer_report_prompt(tvms_lexer *lexer, tvms_diag *diag,
                                    const char *at) {
  tvms_diags *diags = &lexer->context->diags;
  uint32_t begin = tvms_lexer_offset(lexer, at);
  if (!diag) {
    char what[] = "'>>>'";
    memcpy(what + 1, at, 3);
    diag =
        tvms_diag_report(diags, TVMS_D_syntax, (tvms_span){begin, begin + 3}, what, "");
    tvms_diag_remark(diags, diag, "this is a prompt of Python's shell; leave it out");
  }
  tvms_diag_fix(diags, diag, (tvms_span){begin, begin + TVMS_PROMPT}, false, "%s", "");
  return diag;
}
