// A pattern is text that must stand somewhere in a line; blanks of any number match each other,
// and at both ends they do not count. `[[name]]` stands for a word (letters, digits and
// underscores, as many as there are): any where the name stands first, and from the first line on
// that a CHECK or CHECK-NEXT found with it the same. With text of the word in front it is the
// rest of the word. `[[*]]` stands for any text of the line, as
// little as does.
//
// A line is found once: no check is tried again because a later one fails. So what a file means
// can be said check by check.
#include "cli/golden_check.h"

#include <ctype.h>

typedef struct {
  const char *name;
  size_t name_len;
  const char *text;  // in the output
  size_t len;
} binding;

enum { MOST_BINDINGS = 64 };

typedef struct {
  binding items[MOST_BINDINGS];
  uint32_t count;
} bindings;

typedef struct {
  const char *text;
  size_t len;
} line;

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

static binding *find(bindings *b, const char *name, size_t len) {
  for (uint32_t i = 0; i < b->count; i++) {
    if (b->items[i].name_len == len && memcmp(b->items[i].name, name, len) == 0)
      return &b->items[i];
  }
  return NULL;
}

// The length of "[[name]]" at `pattern`, or 0; *name_len gets that of the name.
static size_t variable_at(const char *pattern, size_t *name_len) {
  if (pattern[0] != '[' || pattern[1] != '[') return 0;
  size_t len = 2;
  if (pattern[len] == '*')
    len++;
  else
    while (is_word(pattern[len]))
      len++;
  *name_len = len - 2;
  bool closed = *name_len && pattern[len] == ']' && pattern[len + 1] == ']';
  return closed ? len + 2 : 0;
}

static bool match_here(const char *pattern, line l, size_t at, bindings *b);

// Whether a pattern that begins with a name would begin inside of a word.
static bool is_inside(const char *pattern, line l, size_t at) {
  size_t name_len;
  return at && at < l.len && is_word(l.text[at - 1]) && is_word(l.text[at])
         && variable_at(pattern, &name_len) && pattern[2] != '*';
}

// A word, or the rest of one, begins at `at`: binds it, or compares it with what the name stands for.
static bool match_word(const char *pattern, size_t used, size_t name_len, line l,
                       size_t at, bindings *b) {
  size_t end = at;
  while (end < l.len && is_word(l.text[end])) {
    end++;
  }
  if (end == at) return false;
  uint32_t count = b->count;
  const binding *bound = find(b, pattern + 2, name_len);
  if (bound) {
    if (bound->len != end - at || memcmp(bound->text, l.text + at, bound->len) != 0)
      return false;
  } else if (count < MOST_BINDINGS) {
    b->items[b->count++] = (binding){pattern + 2, name_len, l.text + at, end - at};
  }
  if (match_here(pattern + used, l, end, b)) return true;
  b->count = count;
  return false;
}

static bool match_any(const char *pattern, size_t used, line l, size_t at,
                      bindings *b) {
  for (; at <= l.len; at++) {
    if (!is_inside(pattern + used, l, at) && match_here(pattern + used, l, at, b))
      return true;
  }
  return false;
}

// Whether the rest of a pattern stands at `at`. Names that were bound on the way stay bound
// only if it does.
static bool match_here(const char *pattern, line l, size_t at, bindings *b) {
  while (*pattern) {
    size_t name_len;
    size_t used = variable_at(pattern, &name_len);
    if (used && pattern[2] == '*') return match_any(pattern, used, l, at, b);
    if (used) return match_word(pattern, used, name_len, l, at, b);
    if (at == l.len) return false;
    if (is_blank(*pattern)) {
      if (!is_blank(l.text[at])) return false;
      while (is_blank(*pattern)) {
        pattern++;
      }
      while (at < l.len && is_blank(l.text[at])) {
        at++;
      }
      continue;
    }
    if (*pattern++ != l.text[at++]) return false;
  }
  return true;
}

static bool match_line(const char *pattern, line l, bindings *b) {
  for (size_t at = 0; at <= l.len; at++) {
    if (!is_inside(pattern, l, at) && match_here(pattern, l, at, b)) return true;
  }
  return false;
}

typedef struct {
  const char *output;
  size_t len;
  size_t found;     // offset of the line found last
  size_t next;      // and of the one behind it
  uint32_t number;  // of the line found last
  bindings bound;
} search;

// The line at an offset; false at the end of the output.
static bool line_at(const search *s, size_t at, line *l) {
  if (at >= s->len) return false;
  const char *end = memchr(s->output + at, '\n', s->len - at);
  *l = (line){s->output + at, end ? (size_t)(end - s->output) - at : s->len - at};
  return true;
}

static tvms_golden_miss miss_at(const search *s, const tvms_golden_check *check,
                                uint32_t number, const line *TVMS_NULLABLE l) {
  tvms_golden_miss miss = {.check = check, .line = number};
  if (l) {
    miss.text.begin = (uint32_t)(l->text - s->output);
    miss.text.end = miss.text.begin + (uint32_t)l->len;
  }
  return miss;
}

// Goes on behind the line that a check finds.
static bool go_to(search *s, const tvms_golden_check *check) {
  size_t at = s->next;
  uint32_t number = s->number;
  for (line l; line_at(s, at, &l); at += l.len + 1) {
    number++;
    if (match_line(check->pattern, l, &s->bound)) {
      s->found = at;
      s->next = at + l.len + 1;
      s->number = number;
      return true;
    }
    if (check->kind == TVMS_CHECK_NEXT) return false;
  }
  return false;
}

// Whether no line from `from` to `end` has what the checks [begin, stop) forbid.
static tvms_golden_miss forbid(search *s, const tvms_golden_check *begin,
                               const tvms_golden_check *stop, size_t from,
                               uint32_t number, size_t end) {
  for (line l; from < end && line_at(s, from, &l); from += l.len + 1) {
    number++;
    for (const tvms_golden_check *check = begin; check < stop; check++) {
      uint32_t count = s->bound.count;
      bool found = match_line(check->pattern, l, &s->bound);
      s->bound.count = count;
      if (found) return miss_at(s, check, number, &l);
    }
  }
  return (tvms_golden_miss){0};
}

tvms_golden_miss tvms_golden_find_checks(const tvms_golden *golden, const char *output,
                                         size_t len) {
  search s = {.output = output, .len = len};
  const tvms_golden_check *at = golden->checks.items;
  // No address is reckoned from the null pointer of an empty list.
  const tvms_golden_check *end = golden->checks.len ? at + golden->checks.len : at;
  while (at < end) {
    const tvms_golden_check *forbidden = at;
    while (at < end && at->kind == TVMS_CHECK_NOT) {
      at++;
    }
    size_t from = s.next, stop = len;
    uint32_t number = s.number;
    bindings before = s.bound;
    if (at < end) {
      line last;
      if (!go_to(&s, at))
        return miss_at(&s, at, s.number + 1, line_at(&s, s.next, &last) ? &last : NULL);
      stop = s.found;
    }
    // What the line that was found binds is not bound above it.
    bindings after = s.bound;
    s.bound = before;
    tvms_golden_miss miss = forbid(&s, forbidden, at, from, number, stop);
    s.bound = after;
    if (miss.check) return miss;
    if (at < end) at++;
  }
  return (tvms_golden_miss){0};
}
