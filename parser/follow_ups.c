// See follow_ups.h. The grammar says which statements it refused; those count of which a mistake is
// still in the list, since Python takes more than it does.
#define _GNU_SOURCE  // memmem
#include "parser/follow_ups.h"

#include "support/diag_ids.h"

#include <ctype.h>
#include <string.h>

// A statement with a mistake.
typedef struct {
  tvms_span span;
  tvms_span whole;  // with the definition that it is the header or a decorator of
  const tvms_diag *first;  // of its findings
} mistake;

typedef struct {
  const tvms_surface *surface;
  const char *text;
  TVMS_VEC(mistake) mistakes;
} follow_ups;

/* Lines */

static uint32_t line_of(const char *text, uint32_t at) {
  while (at > 0 && text[at - 1] != '\n') {
    at--;
  }
  return at;
}

static uint32_t end_of_line(const char *text, uint32_t at) {
  return at + (uint32_t)strcspn(text + at, "\r\n");
}

static uint32_t column_of(const char *text, uint32_t line) {
  return (uint32_t)strspn(text + line, " \t");
}

// Begin of the next line that is not blank; the end of the text if there is none.
static uint32_t next_line(const char *text, uint32_t at) {
  at = end_of_line(text, at);
  at += (uint32_t)strspn(text + at, " \t\r\n");
  return text[at] ? line_of(text, at) : at;
}

static bool begins(const char *text, uint32_t line, const char *word) {
  return strncmp(text + line + column_of(text, line), word, strlen(word)) == 0;
}

// A definition whose header or decorator is wrong, up to the end of its body.
static tvms_span definition_of(const char *text, tvms_span statement) {
  uint32_t line = line_of(text, statement.begin), column = column_of(text, line);
  uint32_t at = statement.end;
  bool header = begins(text, line, "def ");
  while (!header) {
    at = next_line(text, at);
    if (!text[at] || column_of(text, at) != column) return statement;
    header = begins(text, at, "def ");
    if (!header && !begins(text, at, "@")) return statement;
  }
  // The header may have lines that begin where it does: those that close a bracket.
  for (at = next_line(text, at); text[at]; at = next_line(text, at)) {
    uint32_t first = column_of(text, at);
    if (first <= column && !strchr(")]}#", text[at + first])) break;
  }
  return (tvms_span){statement.begin, at};
}

/* Statements with a mistake */

static bool is_mistake(const tvms_diag *diag) {
  return diag->id < TVMS_D_undefined_name && diag->severity == TVMS_SEVERITY_ERROR;
}

// What the tree is not allowed to be: as often as not it is not what was meant.
static bool is_about_tree(const tvms_diag *diag) {
  switch ((int)diag->id) {
  case TVMS_D_bad_target:
  case TVMS_D_late_argument:
  case TVMS_D_needs_parens:
  case TVMS_D_bad_parameter:
  case TVMS_D_bad_with:
  case TVMS_D_mixed_strings: return true;
  default: return false;
  }
}

// The finding that the statement has, and of several one that is not about its tree.
static const tvms_diag *TVMS_NULLABLE find_first(const follow_ups *f, tvms_span span) {
  const tvms_diag *first = NULL;
  const tvms_diag *diag = f->surface->context->diags.first;
  for (; diag; diag = diag->next) {
    bool within = diag->source == f->surface->source && is_mistake(diag)
                  && diag->span.begin >= span.begin && diag->span.begin <= span.end;
    if (!within) continue;
    if (!is_about_tree(diag)) return diag;
    if (!first) first = diag;
  }
  return first;
}

static void find_mistakes(follow_ups *f) {
  const tvms_surface *surface = f->surface;
  for (uint32_t i = 0; i < surface->refused.len; i++) {
    tvms_span span = surface->refused.items[i];
    const tvms_diag *first = find_first(f, span);
    if (!first) continue;
    mistake found = {span, definition_of(f->text, span), first};
    tvms_vec_push(&surface->context->memory, &f->mistakes, found);
  }
}

/* Findings */

static bool is_in_mistake(const follow_ups *f, tvms_span span) {
  for (uint32_t i = 0; i < f->mistakes.len; i++) {
    tvms_span whole = f->mistakes.items[i].whole;
    if (span.begin >= whole.begin && span.begin < whole.end) return true;
  }
  return false;
}

static bool is_part_of_name(char c) {
  return c == '_' || isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

// Whether the name is a word of the statements with mistakes, or the begin of what one of them defines:
// `def twicex: T.int32)`.
static bool is_mentioned(const follow_ups *f, const char *name, size_t len) {
  for (uint32_t i = 0; i < f->mistakes.len; i++) {
    const mistake *wrong = &f->mistakes.items[i];
    const char *at = f->text + wrong->span.begin, *end = f->text + wrong->span.end;
    if (wrong->whole.end > wrong->span.end) end = f->text + wrong->whole.end;
    while ((at = memmem(at, (size_t)(end - at), name, len))) {
      uint32_t place = (uint32_t)(at - f->text);
      bool begin = place == 0 || !is_part_of_name(at[-1]);
      bool defined = place >= 4 && memcmp(at - 4, "def ", 4) == 0;
      bool header = place < wrong->span.end;
      if (begin && (defined || (header && !is_part_of_name(at[len])))) return true;
      at++;
    }
  }
  return false;
}

// The name in quotes that a finding is about.
static const char *TVMS_NULLABLE quoted(const tvms_diag *diag, size_t *len) {
  const char *begin = strchr(diag->text, '\'');
  const char *end = begin ? strchr(begin + 1, '\'') : NULL;
  if (!end || end == begin + 1) return NULL;
  *len = (size_t)(end - begin - 1);
  return begin + 1;
}

// A definition that could not be read is not there, and what it gives is not known where it is called.
static bool is_about_lost(const follow_ups *f, const tvms_diag *diag) {
  bool missing = diag->id == TVMS_D_undefined_name || diag->id == TVMS_D_no_member
                 || diag->id == TVMS_D_rewriter_part;
  if (!missing) return false;
  // The name of a definition itself may be lost.
  for (uint32_t i = 0; i < f->mistakes.len && diag->id == TVMS_D_no_member; i++) {
    if (begins(f->text, line_of(f->text, f->mistakes.items[i].span.begin), "def "))
      return true;
  }
  size_t len;
  const char *name = quoted(diag, &len);
  return name && is_mentioned(f, name, len);
}

static bool calls_lost(const follow_ups *f, tvms_span span) {
  uint32_t line = line_of(f->text, span.begin), end = end_of_line(f->text, span.begin);
  for (uint32_t i = 0; i < f->mistakes.len; i++) {
    tvms_span whole = f->mistakes.items[i].whole;
    const char *def = memmem(f->text + whole.begin, whole.end - whole.begin, "def ", 4);
    if (!def || whole.end == f->mistakes.items[i].span.end) continue;
    size_t len = 0;
    while (is_part_of_name(def[4 + len])) {
      len++;
    }
    const char *at = len ? memmem(f->text + line, end - line, def + 4, len) : NULL;
    if (at && !is_part_of_name(at[len]) && !is_part_of_name(at[-1])) return true;
  }
  return false;
}

// Of a statement with another mistake.
static bool is_misread(const follow_ups *f, const tvms_diag *diag) {
  for (uint32_t i = 0; i < f->mistakes.len && is_about_tree(diag); i++) {
    const mistake *wrong = &f->mistakes.items[i];
    if (diag->span.begin >= wrong->span.begin && diag->span.begin < wrong->span.end
        && diag != wrong->first)
      return true;
  }
  return false;
}

static bool stands_alone(void *self, const tvms_diag *diag) {
  const follow_ups *f = self;
  if (diag->source != f->surface->source) return true;
  if (diag->id < TVMS_D_undefined_name) return !is_misread(f, diag);
  if (is_in_mistake(f, diag->span)) return false;
  for (const tvms_note *note = diag->notes; note; note = note->next) {
    bool here = note->placed && (!note->source || note->source == diag->source);
    if (here && is_in_mistake(f, note->span)) return false;
  }
  return !is_about_lost(f, diag) && !calls_lost(f, diag->span);
}

void tvms_reader_drop_follow_ups(const tvms_surface *surface) {
  if (!surface->refused.len) return;
  follow_ups f = {.surface = surface, .text = surface->source->text};
  find_mistakes(&f);
  if (f.mistakes.len) tvms_diags_keep_if(&surface->context->diags, stands_alone, &f);
  tvms_vec_fini(&surface->context->memory, &f.mistakes);
}
