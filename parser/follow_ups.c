// See follow_ups.h. The grammar says which statements it refused; those count of which a mistake is
// still in the list, since Python takes more than it does.
#include "parser/follow_ups.h"

#include "support/diag_ids.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// A statement with a mistake.
typedef struct {
  tvms_span span;
  tvms_span whole;  // with the definition that it is the header or a decorator of
  const tvms_diag *first;  // of its findings
} mistake;

typedef struct {
  const char *text;
  size_t len;
} word;

typedef TVMS_VEC(word) words;

typedef struct {
  const tvms_surface *surface;
  const char *text;
  TVMS_VEC(const tvms_diag *) found;  // mistakes of syntax of the file, by place
  TVMS_VEC(mistake) mistakes;         // by place
  TVMS_VEC(uint32_t) reach;           // how far those up to each one go
  words mentioned, defined, lost;     // sorted
  bool header;                        // one of them is the header of a definition
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

static bool begins(const char *text, uint32_t line, const char *with) {
  return strncmp(text + line + column_of(text, line), with, strlen(with)) == 0;
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

static int by_place(const void *a, const void *b) {
  const tvms_diag *x = *(const tvms_diag *const *)a, *y = *(const tvms_diag *const *)b;
  return (x->span.begin > y->span.begin) - (x->span.begin < y->span.begin);
}

static int by_begin(const void *a, const void *b) {
  const mistake *x = a, *y = b;
  if (x->span.begin != y->span.begin) return x->span.begin < y->span.begin ? -1 : 1;
  return (x->span.end > y->span.end) - (x->span.end < y->span.end);
}

static void find_findings(follow_ups *f) {
  const tvms_diag *diag = f->surface->context->diags.first;
  for (; diag; diag = diag->next) {
    if (diag->source == f->surface->source && is_mistake(diag))
      tvms_vec_push(&f->surface->context->memory, &f->found, diag);
  }
  if (f->found.len)
    qsort(f->found.items, f->found.len, sizeof *f->found.items, by_place);
}

// The finding that the statement has, and of several one that is not about its tree.
static const tvms_diag *TVMS_NULLABLE find_first(const follow_ups *f, tvms_span span) {
  uint32_t low = 0, high = f->found.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (f->found.items[middle]->span.begin < span.begin)
      low = middle + 1;
    else
      high = middle;
  }
  const tvms_diag *first = NULL;
  for (; low < f->found.len && f->found.items[low]->span.begin <= span.end; low++) {
    const tvms_diag *diag = f->found.items[low];
    if (!is_about_tree(diag)) return diag;
    if (!first) first = diag;
  }
  return first;
}

static void find_mistakes(follow_ups *f) {
  const tvms_surface *surface = f->surface;
  tvms_memory *memory = &surface->context->memory;
  for (uint32_t i = 0; i < surface->refused.len; i++) {
    tvms_span span = surface->refused.items[i];
    const tvms_diag *first = find_first(f, span);
    if (!first) continue;
    mistake found = {span, definition_of(f->text, span), first};
    tvms_vec_push(memory, &f->mistakes, found);
  }
  if (f->mistakes.len)
    qsort(f->mistakes.items, f->mistakes.len, sizeof *f->mistakes.items, by_begin);
  uint32_t reach = 0;
  for (uint32_t i = 0; i < f->mistakes.len; i++) {
    const mistake *wrong = &f->mistakes.items[i];
    if (wrong->whole.end > reach) reach = wrong->whole.end;
    tvms_vec_push(memory, &f->reach, reach);
  }
}

/* Words of these statements */

static bool is_part_of_name(char c) {
  return c == '_' || isalnum((unsigned char)c) || (unsigned char)c >= 0x80;
}

static word word_at(const char *at) {
  word found = {at, 0};
  while (is_part_of_name(at[found.len])) {
    found.len++;
  }
  return found;
}

static int compare(const void *a, const void *b) {
  const word *x = a, *y = b;
  int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);
  return order ? order : (x->len > y->len) - (x->len < y->len);
}

static void sort(words *list) {
  if (list->len) qsort(list->items, list->len, sizeof *list->items, compare);
}

static void gather_words(follow_ups *f, const mistake *wrong) {
  tvms_memory *memory = &f->surface->context->memory;
  uint32_t end =
      wrong->whole.end > wrong->span.end ? wrong->whole.end : wrong->span.end;
  bool lost = false;
  for (uint32_t at = wrong->span.begin; at < end;) {
    word found = word_at(f->text + at);
    bool def = at >= 4 && memcmp(f->text + at - 4, "def ", 4) == 0;
    if (found.len && at < wrong->span.end) tvms_vec_push(memory, &f->mentioned, found);
    if (found.len && def) tvms_vec_push(memory, &f->defined, found);
    if (def && !lost && at >= wrong->whole.begin + 4) {
      lost = true;
      if (found.len && wrong->whole.end != wrong->span.end)
        tvms_vec_push(memory, &f->lost, found);
    }
    at += (uint32_t)found.len + !found.len;
  }
  f->header |= begins(f->text, line_of(f->text, wrong->span.begin), "def ");
}

static void find_words(follow_ups *f) {
  for (uint32_t i = 0; i < f->mistakes.len; i++)
    gather_words(f, &f->mistakes.items[i]);
  sort(&f->mentioned);
  sort(&f->defined);
  sort(&f->lost);
}

static bool has_word(const words *list, word wanted) {
  return list->len
         && bsearch(&wanted, list->items, list->len, sizeof *list->items, compare);
}

// Does a word of the list begin so?
static bool has_begin(const words *list, word wanted) {
  uint32_t low = 0, high = list->len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (compare(&list->items[middle], &wanted) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low < list->len && list->items[low].len >= wanted.len
         && memcmp(list->items[low].text, wanted.text, wanted.len) == 0;
}

/* Findings */

// How many mistakes begin at a place or in front of it.
static uint32_t count_up_to(const follow_ups *f, uint32_t place) {
  uint32_t low = 0, high = f->mistakes.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (f->mistakes.items[middle].span.begin <= place)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool is_in_mistake(const follow_ups *f, tvms_span span) {
  uint32_t count = count_up_to(f, span.begin);
  return count > 0 && f->reach.items[count - 1] > span.begin;
}

// Whether the name is a word of the statements with mistakes, or the begin of what one of them defines:
// `def twicex: T.int32)`.
static bool is_mentioned(const follow_ups *f, word name) {
  return has_word(&f->mentioned, name) || has_begin(&f->defined, name);
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
  if (diag->id == TVMS_D_no_member && f->header) return true;
  word name;
  name.text = quoted(diag, &name.len);
  return name.text && is_mentioned(f, name);
}

static bool calls_lost(const follow_ups *f, tvms_span span) {
  uint32_t end = end_of_line(f->text, span.begin);
  for (uint32_t at = line_of(f->text, span.begin); at < end && f->lost.len;) {
    word found = word_at(f->text + at);
    if (found.len && has_word(&f->lost, found)) return true;
    at += (uint32_t)found.len + !found.len;
  }
  return false;
}

// Of a statement with another mistake.
static bool is_misread(const follow_ups *f, const tvms_diag *diag) {
  if (!is_about_tree(diag)) return false;
  uint32_t place = diag->span.begin;
  for (uint32_t i = count_up_to(f, place); i > 0 && f->reach.items[i - 1] > place;
       i--) {
    const mistake *wrong = &f->mistakes.items[i - 1];
    if (place < wrong->span.end && diag != wrong->first) return true;
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
  tvms_memory *memory = &surface->context->memory;
  follow_ups f = {.surface = surface, .text = surface->source->text};
  find_findings(&f);
  find_mistakes(&f);
  find_words(&f);
  if (f.mistakes.len) tvms_diags_keep_if(&surface->context->diags, stands_alone, &f);
  tvms_vec_fini(memory, &f.found);
  tvms_vec_fini(memory, &f.mistakes);
  tvms_vec_fini(memory, &f.reach);
  tvms_vec_fini(memory, &f.mentioned);
  tvms_vec_fini(memory, &f.defined);
  tvms_vec_fini(memory, &f.lost);
}
