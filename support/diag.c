// The list of diagnostics and the table behind it. Rendering is in driver/.
#include "support/diag.h"

#include "support/diag_ids.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LETTER_ERROR   "E"
#define LETTER_WARNING "W"
#define LETTER_NOTE    "N"

static const tvms_diag_row rows[] = {
#define DIAG(id, number, level, text, explained)                                       \
  [TVMS_D_##id] = {.name = #id,                                                        \
                   .label = LETTER_##level #number,                                    \
                   .code = 1##number - 10000,                                          \
                   .severity = TVMS_SEVERITY_##level,                                  \
                   .format = text,                                                     \
                   .explanation = explained},
#include "support/diag.def"
};

const tvms_diag_row *tvms_diag_row_of(tvms_diag_id id) {
  return &rows[id];
}

uint32_t tvms_diag_row_count(void) {
  return sizeof rows / sizeof rows[0];
}

void tvms_diags_init(tvms_diags *diags, tvms_arena *arena) {
  *diags = (tvms_diags){.arena = arena};
}

static const char *format_text(tvms_arena *arena, const char *format,
                               va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int len = vsnprintf(NULL, 0, format, arguments);
  char *text = tvms_arena_alloc(arena, (size_t)(len < 0 ? 0 : len) + 1);
  if (len > 0) vsnprintf(text, (size_t)len + 1, format, again);
  va_end(again);
  return text;
}

static void append(tvms_diags *diags, tvms_diag *diag) {
  if (diags->last)
    diags->last->next = diag;
  else
    diags->first = diag;
  diags->last = diag;
  diags->errors += diag->severity == TVMS_SEVERITY_ERROR;
  diags->warnings += diag->severity == TVMS_SEVERITY_WARNING;
}

static tvms_severity severity_of(const tvms_diags *diags, tvms_diag_id id) {
  uint8_t level = diags->levels ? diags->levels[id] : TVMS_LEVEL_DEFAULT;
  switch (level) {
  case TVMS_LEVEL_ERROR: return TVMS_SEVERITY_ERROR;
  case TVMS_LEVEL_WARNING: return TVMS_SEVERITY_WARNING;
  case TVMS_LEVEL_NOTE: return TVMS_SEVERITY_NOTE;
  default: return rows[id].severity;
  }
}

enum { LONGEST_LINE = 2000 };

// Findings of the lexer and the grammar.
static bool is_of_text(tvms_diag_id id) {
  return rows[id].code >= 100 && rows[id].code < 200;
}

// Whether a finding about the text as such stands on the line: what else is wrong with the line may
// follow from it. Those findings come before all others, and only some are asked. A bracket that is
// closed at the end of its line leaves what is in it as it was meant.
static bool follows_from_syntax(const tvms_diags *diags, tvms_diag_id id,
                                tvms_span span) {
  enum { MOST = 64 };
  const tvms_diag *diag = diags->first;
  if (!diag || is_of_text(id) || rows[id].severity != TVMS_SEVERITY_ERROR) return false;
  for (uint32_t i = 0; diag && i < MOST && is_of_text(diag->id);
       i++, diag = diag->next) {
    if (diag->source != diags->source || !diags->source) continue;
    const char *text = diags->source->text;
    uint32_t from = diag->span.begin, to = span.begin;
    if (from > to) {
      from = span.begin;
      to = diag->span.begin;
    }
    if (diag->id == TVMS_D_unclosed_bracket) continue;
    bool same = to <= diags->source->size && to - from < LONGEST_LINE
                && !memchr(text + from, '\n', to - from);
    if (same && diag->severity == TVMS_SEVERITY_ERROR) return true;
  }
  return false;
}

tvms_diag *tvms_diag_vreport(tvms_diags *diags, tvms_diag_id id, tvms_span span,
                             va_list arguments) {
  tvms_diag *diag = tvms_arena_new(diags->arena, tvms_diag);
  diag->id = id;
  diag->severity = severity_of(diags, id);
  diag->source = diags->source;
  diag->span = span;
  diag->text = "";
  if (diags->muted || tvms_diags_are_off(diags, id)
      || follows_from_syntax(diags, id, span))
    return diag;
  diag->text = format_text(diags->arena, rows[id].format, arguments);
  append(diags, diag);
  if (span.end > diags->furthest) diags->furthest = span.end;
  return diag;
}

tvms_diag *tvms_diag_report(tvms_diags *diags, tvms_diag_id id, tvms_span span, ...) {
  va_list arguments;
  va_start(arguments, span);
  tvms_diag *diag = tvms_diag_vreport(diags, id, span, arguments);
  va_end(arguments);
  return diag;
}

// Adds a copy of `note` with its text behind the notes so far.
static void add_note(tvms_diags *diags, tvms_diag *diag, tvms_note note,
                     const char *format, va_list arguments) {
  if (diags->muted) return;
  note.text = format_text(diags->arena, format, arguments);
  tvms_note **end = &diag->notes;
  while (*end) {
    end = &(*end)->next;
  }
  *end = tvms_arena_new(diags->arena, tvms_note);
  **end = note;
}

void tvms_diag_note(tvms_diags *diags, tvms_diag *diag, tvms_span span,
                    const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_note(diags, diag, (tvms_note){.placed = true, .span = span}, format, arguments);
  va_end(arguments);
}

void tvms_diag_note_in(tvms_diags *diags, tvms_diag *diag, tvms_source *source,
                       tvms_span span, const char *format, ...) {
  tvms_note note = {.placed = true, .source = source, .span = span};
  va_list arguments;
  va_start(arguments, format);
  add_note(diags, diag, note, format, arguments);
  va_end(arguments);
}

void tvms_diag_remark(tvms_diags *diags, tvms_diag *diag, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  add_note(diags, diag, (tvms_note){0}, format, arguments);
  va_end(arguments);
}

void tvms_diag_fix(tvms_diags *diags, tvms_diag *diag, tvms_span span, bool safe,
                   const char *format, ...) {
  if (diags->muted) return;
  tvms_fix *fix = tvms_arena_new(diags->arena, tvms_fix);
  fix->span = span;
  fix->safe = safe;
  va_list arguments;
  va_start(arguments, format);
  fix->text = format_text(diags->arena, format, arguments);
  va_end(arguments);
  tvms_fix **end = &diag->fixes;
  while (*end) {
    end = &(*end)->next;
  }
  *end = fix;
}

// Merges two lists that are sorted by place; the left one wins ties.
static tvms_diag *merge(tvms_diag *left, tvms_diag *right) {
  tvms_diag *first = NULL;
  tvms_diag **end = &first;
  while (left && right) {
    bool take_right =
        left->source == right->source && right->span.begin < left->span.begin;
    tvms_diag **from = take_right ? &right : &left;
    *end = *from;
    end = &(*from)->next;
    *from = *end;
  }
  *end = left ? left : right;
  return first;
}

static tvms_diag *sort(tvms_diag *list, uint32_t count) {
  if (count < 2) return list;
  tvms_diag *half = list;
  for (uint32_t i = 1; i < count / 2; i++) {
    half = half->next;
  }
  tvms_diag *rest = half->next;
  half->next = NULL;
  tvms_diag *left = sort(list, count / 2);
  tvms_diag *right = sort(rest, count - count / 2);
  return merge(left, right);
}

// A text that is evaluated twice (a parameter, the body of a macro) says the same twice.
static bool is_repeated(const tvms_diag *a, const tvms_diag *b) {
  return a->id == b->id && a->source == b->source && a->span.begin == b->span.begin
         && a->span.end == b->span.end && strcmp(a->text, b->text) == 0;
}

void tvms_diags_sort(tvms_diags *diags) {
  uint32_t count = 0;
  for (tvms_diag *diag = diags->first; diag; diag = diag->next) {
    count++;
  }
  diags->first = sort(diags->first, count);
  for (tvms_diag *diag = diags->first; diag; diag = diag->next) {
    while (diag->next && is_repeated(diag, diag->next)) {
      diag->next = diag->next->next;
    }
    diags->last = diag;
  }
}

enum { MOST_COMPARED = 1 << 20 };

bool tvms_diags_may_compare_names(tvms_diags *diags, uint32_t count) {
  if (diags->compared >= MOST_COMPARED) return false;
  diags->compared += count < MOST_COMPARED ? count : MOST_COMPARED;
  return true;
}

static bool begins_in(const tvms_diag *diag, const tvms_span *spans, uint32_t count) {
  uint32_t low = 0, high = count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (spans[middle].end <= diag->span.begin)
      low = middle + 1;
    else
      high = middle;
  }
  return low < count && spans[low].begin <= diag->span.begin;
}

// Empties the list and returns what was in it.
static tvms_diag *TVMS_NULLABLE take_all(tvms_diags *diags) {
  tvms_diag *list = diags->first;
  diags->first = diags->last = NULL;
  diags->errors = diags->warnings = 0;
  return list;
}

void tvms_diags_keep_in(tvms_diags *diags, const tvms_span *spans, uint32_t count) {
  for (tvms_diag *diag = take_all(diags), *next; diag; diag = next) {
    next = diag->next;
    diag->next = NULL;
    bool other = diag->source != diags->source;
    if (other || begins_in(diag, spans, count)) append(diags, diag);
  }
}

void tvms_diags_keep_if(tvms_diags *diags,
                        bool (*keeps)(void *self, const tvms_diag *diag), void *self) {
  for (tvms_diag *diag = take_all(diags), *next; diag; diag = next) {
    next = diag->next;
    diag->next = NULL;
    if (keeps(self, diag)) append(diags, diag);
  }
}

void tvms_diags_forget(tvms_diags *diags, tvms_diag_id id, tvms_span span) {
  for (tvms_diag *diag = take_all(diags), *next; diag; diag = next) {
    next = diag->next;
    diag->next = NULL;
    bool inside = diag->source == diags->source && diag->span.begin >= span.begin
                  && diag->span.end <= span.end;
    if (diag->id != id || !inside) append(diags, diag);
  }
}

enum { LONGEST_NAME = 64 };

// Levenshtein distance, in which two letters that changed places count once, or `limit` if it is at least that; names past
// LONGEST_NAME are never near.
static uint32_t distance(const char *a, size_t a_len, const char *b, uint32_t limit) {
  size_t b_len = strlen(b);
  size_t apart = a_len < b_len ? b_len - a_len : a_len - b_len;
  if (apart >= limit || a_len > LONGEST_NAME || b_len > LONGEST_NAME) return limit;
  uint32_t row[LONGEST_NAME + 1], above[LONGEST_NAME + 1] = {0};
  for (uint32_t j = 0; j <= b_len; j++) {
    row[j] = j;
  }
  for (uint32_t i = 1; i <= a_len; i++) {
    uint32_t diagonal = row[0], least = i, corner = 0;
    row[0] = i;
    for (uint32_t j = 1; j <= b_len; j++) {
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      uint32_t two_above = above[j - 1];
      uint32_t replaced = diagonal + (a[i - 1] != b[j - 1]);
      uint32_t shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      above[j - 1] = diagonal;
      diagonal = row[j];
      row[j] = replaced < shorter ? replaced : shorter;
      if (swapped && corner + 1 < row[j]) row[j] = corner + 1;
      corner = two_above;
      if (row[j] < least) least = row[j];
    }
    if (least >= limit) return limit;
  }
  return row[b_len] < limit ? row[b_len] : limit;
}

// Equal but for cases, and letters that one of them has twice: "AA" for "A".
static bool is_same_but_doubled(const char *a, const char *b) {
  while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) {
    char letter = *a;
    bool more_a = a[1] == letter && b[1] != letter;
    bool more_b = b[1] == letter && a[1] != letter && a[1] != '\0';
    a += more_a ? 2 : 1;
    b += more_b ? 2 : 1;
  }
  return *a == '\0' && *b == '\0';
}

// Whether a part of `b` between underscores, or all of it, is the word.
static bool has_word(const char *b, const char *word, size_t len) {
  for (;; b++) {
    size_t own = strcspn(b, "_");
    if (own == len && memcmp(b, word, len) == 0) return true;
    b += own;
    if (!*b) return false;
  }
}

// The same words, between underscores, in another order: "right_shift" for "shift_right".
static bool has_same_words(const char *a, const char *b) {
  if (!strchr(a, '_') || strlen(a) != strlen(b)) return false;
  for (;; a++) {
    size_t len = strcspn(a, "_");
    if (!len || !has_word(b, a, len)) return false;
    a += len;
    if (!*a) return true;
  }
}

// The same letters in another order: "inti" for "init".
static bool has_same_letters(const char *a, size_t len, const char *b) {
  int8_t counts[128] = {0};
  if (len < 4 || strlen(b) != len || a[0] != b[0]) return false;
  for (size_t i = 0; i < len; i++) {
    counts[(unsigned char)a[i] & 127]++;
    counts[(unsigned char)b[i] & 127]--;
  }
  for (size_t i = 0; i < 128; i++) {
    if (counts[i]) return false;
  }
  return true;
}

// A long name whose end is missing: "thread_bind" for "thread_binding". NULL if several are.
static const char *TVMS_NULLABLE completed(const char *name, size_t len,
                                           const char *const *candidates,
                                           uint32_t count) {
  enum { SHORTEST = 4 };
  const char *found = NULL;
  for (uint32_t i = 0; i < count && len >= SHORTEST; i++) {
    bool longer =
        strncmp(candidates[i], name, len) == 0 && strlen(candidates[i]) <= 2 * len;
    if (!longer || (found && strcmp(found, candidates[i]) == 0)) continue;
    if (found) return NULL;
    found = candidates[i];
  }
  return found;
}

// A name of which letters were left out: "img" for "image". NULL if several are.
static const char *TVMS_NULLABLE abbreviated(const char *name, size_t len,
                                             const char *const *candidates,
                                             uint32_t count) {
  enum { SHORTEST = 3 };
  const char *found = NULL;
  for (uint32_t i = 0; i < count && len >= SHORTEST; i++) {
    const char *at = candidates[i];
    if (*at != *name || strlen(at) > 2 * len) continue;
    size_t letter = 0;
    for (; *at && letter < len; at++)
      letter += *at == name[letter];
    if (letter < len || (found && strcmp(found, candidates[i]) == 0)) continue;
    if (found) return NULL;
    found = candidates[i];
  }
  return found;
}

// A name of which the end is too much, or missing behind three letters: "EPSILON" for "EPS". NULL if
// several are.
static const char *TVMS_NULLABLE begun(const char *name, size_t len,
                                       const char *const *candidates, uint32_t count) {
  enum { SHORTEST = 3 };
  const char *found = NULL;
  for (uint32_t i = 0; i < count; i++) {
    size_t own = strlen(candidates[i]);
    size_t both = own < len ? own : len;
    char next = own < len ? name[own] : candidates[i][both];
    if (both < SHORTEST || strncmp(name, candidates[i], both) != 0 || next == '_')
      continue;
    if (own > 3 * len || len > 3 * own || (found && strcmp(found, candidates[i]) == 0))
      continue;
    if (found) return NULL;
    found = candidates[i];
  }
  return found;
}

static bool is_swapped(const char *a, const char *b) {
  return strlen(b) == 2 && a[0] == b[1] && a[1] == b[0];
}

const char *tvms_diag_nearest_name(const char *name, const char *const *candidates,
                                   uint32_t count) {
  const char *best = NULL;
  size_t len = strlen(name);
  uint32_t best_distance = (uint32_t)len / 3 + 1;
  for (uint32_t i = 0; i < count; i++) {
    if (is_same_but_doubled(name, candidates[i])) return candidates[i];
    if (has_same_words(name, candidates[i])) return candidates[i];
    if (has_same_letters(name, len, candidates[i])) return candidates[i];
  }
  const char *whole = completed(name, len, candidates, count);
  if (whole) return whole;
  // Of two letters the first one must be right.
  if (len == 2) best_distance = 2;
  for (uint32_t i = 0; i < count; i++) {
    if (len == 2 && is_swapped(name, candidates[i])) return candidates[i];
    if (len == 2 && (strlen(candidates[i]) != 2 || candidates[i][0] != *name)) continue;
    uint32_t away = distance(name, len, candidates[i], best_distance);
    if (away < best_distance) {
      best = candidates[i];
      best_distance = away;
    }
  }
  if (!best) best = abbreviated(name, len, candidates, count);
  return best ? best : begun(name, len, candidates, count);
}
