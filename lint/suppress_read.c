// Reading `# noqa: W1112, W1150`, `# tvms: ignore[W1112]` and `# tvms: noqa`.
//
// A comment may hold more than one remark, each behind a '#' of its own, as in
// `# type: ignore  # noqa`. What a remark of others means is not asked.
#include "lint/suppress_read.h"

#include "lint/statements.h"
#include "support/diag_ids.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

typedef struct {
  tvms_suppressions *found;
  const char *text;  // of the source
  uint32_t at, end;  // what is left of the comment
} reading;

static void skip_blanks(reading *r) {
  while (r->at < r->end && (r->text[r->at] == ' ' || r->text[r->at] == '\t'))
    r->at++;
}

static bool is_word(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

// Takes a whole word, in whatever case.
static bool take_word(reading *r, const char *word) {
  size_t len = strlen(word);
  if (r->end - r->at < len || strncasecmp(r->text + r->at, word, len) != 0)
    return false;
  if (r->at + len < r->end && is_word(r->text[r->at + len])) return false;
  r->at += (uint32_t)len;
  return true;
}

// Takes a sign and the blanks around it.
static bool take_sign(reading *r, char sign) {
  uint32_t begin = r->at;
  skip_blanks(r);
  if (r->at < r->end && r->text[r->at] == sign) {
    r->at++;
    skip_blanks(r);
    return true;
  }
  r->at = begin;
  return false;
}

// Codes of other linters of Python that say the same as one of ours.
static const struct {
  const char *label;
  tvms_diag_id id;
} others[] = {{"F821", TVMS_D_undefined_name}};

static void take_other(tvms_suppressed_code *code, const char *text, size_t len) {
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    if (strlen(others[i].label) != len || strncasecmp(others[i].label, text, len) != 0)
      continue;
    code->known = true;
    code->id = others[i].id;
  }
}

static void add_code(reading *r, tvms_span span) {
  tvms_suppressed_code code = {.span = span};
  const char *text = r->text + span.begin;
  size_t len = span.end - span.begin;
  for (uint32_t i = 0; i < tvms_diag_row_count() && !code.known; i++) {
    const tvms_diag_row *row = tvms_diag_row_of((tvms_diag_id)i);
    bool label = strlen(row->label) == len && strncasecmp(row->label, text, len) == 0;
    bool name = strlen(row->name) == len && strncmp(row->name, text, len) == 0;
    if (!label && !name) continue;
    code.known = true;
    code.id = (tvms_diag_id)i;
  }
  if (tvms_source_is_python(r->found->surface->source)) take_other(&code, text, len);
  tvms_vec_push(&r->found->surface->context->memory, &r->found->codes, code);
}

// Letters and digits behind them, as all linters of Python write codes.
static bool is_code(const char *text, size_t len) {
  size_t letters = 0;
  while (letters < len && isalpha((unsigned char)text[letters]))
    letters++;
  size_t digits = letters;
  while (digits < len && isdigit((unsigned char)text[digits]))
    digits++;
  return letters && digits > letters && digits == len;
}

// Codes with commas or blanks between them, up to something else: a reason may follow.
// Returns how many there are.
static uint32_t take_codes(reading *r, bool names) {
  uint32_t count = 0, end = r->at;
  for (;;) {
    while (r->at < r->end && strchr(" \t,", r->text[r->at]))
      r->at++;
    uint32_t begin = r->at;
    while (r->at < r->end && is_word(r->text[r->at]))
      r->at++;
    bool code = is_code(r->text + begin, r->at - begin);
    if (r->at == begin || (!code && !names)) break;
    add_code(r, (tvms_span){begin, r->at});
    end = r->at;
    count++;
  }
  r->at = end;
  return count;
}

// What stands behind `tvms:`.
static bool read_ours(reading *r, tvms_suppression *s) {
  s->ours = true;
  if (take_word(r, "noqa")) {
    s->whole_file = true;
    if (!take_sign(r, ':')) return true;
    s->count = take_codes(r, false);
    return s->count;
  }
  if (!take_word(r, "ignore")) return false;
  if (!take_sign(r, '[')) return true;
  s->count = take_codes(r, true);
  return s->count && take_sign(r, ']');
}

// `ruff: noqa`, `flake8: noqa: F821`, on a line of its own: what they do not report of a Python file.
static bool read_theirs(reading *r, tvms_suppression *s) {
  if (!tvms_source_is_python(r->found->surface->source)) return false;
  if (!take_word(r, "ruff") && !take_word(r, "flake8")) return false;
  if (!take_sign(r, ':')) return false;
  uint32_t begin = r->at;
  if (!take_word(r, "noqa")) return false;
  s->whole_file = true;
  if (take_sign(r, ':')) {
    s->count = take_codes(r, false);
    return s->count;
  }
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    tvms_suppressed_code code = {
        .span = {begin, r->at}, .known = true, .id = others[i].id};
    tvms_vec_push(&r->found->surface->context->memory, &r->found->codes, code);
    s->count++;
  }
  return true;
}

// Reads what stands behind a '#'. Returns false if it is no suppression.
static bool read_remark(reading *r, tvms_suppression *s) {
  skip_blanks(r);
  uint32_t begin = r->at;
  if (read_theirs(r, s)) return true;
  r->at = begin;
  if (take_word(r, "tvms")) return take_sign(r, ':') && read_ours(r, s);
  if (!take_word(r, "noqa")) return false;
  if (!take_sign(r, ':')) return true;
  s->count = take_codes(r, false);
  return s->count;
}

static uint32_t trimmed_end(const char *text, uint32_t begin, uint32_t end) {
  while (end > begin && strchr(" \t\r", text[end - 1]))
    end--;
  return end;
}

static void read_comment(tvms_suppressions *found, const tvms_comment *comment) {
  const tvms_source *source = found->surface->source;
  tvms_memory *memory = &found->surface->context->memory;
  uint32_t end = trimmed_end(source->text, comment->begin, comment->end);
  for (uint32_t begin = comment->begin; begin < end;) {
    reading r = {found, source->text, begin + 1, end};
    tvms_suppression s = {.first = found->codes.len,
                          .comment_end = end,
                          .own_line = comment->own_line,
                          .line = tvms_lint_line_begin(source, begin)};
    if (read_remark(&r, &s)) {
      s.span = (tvms_span){begin, trimmed_end(source->text, begin, r.at)};
      s.only = begin == comment->begin && s.span.end == end;
      tvms_vec_push(memory, &found->list, s);
    } else {
      found->codes.len = s.first;
    }
    begin = r.at;
    while (begin < end && source->text[begin] != '#')
      begin++;
  }
}

// Few comments say anything of the kind: these four letters are in all that do.
static bool may_suppress(const char *text, uint32_t begin, uint32_t end) {
  for (uint32_t i = begin; i + 4 <= end; i++) {
    char c = text[i] | ' ';
    if (c == 'n' && strncasecmp(text + i, "noqa", 4) == 0) return true;
    if (c == 't' && strncasecmp(text + i, "tvms", 4) == 0) return true;
  }
  return false;
}

void tvms_lint_suppressions_read(tvms_suppressions *found,
                                 const tvms_surface *surface) {
  *found = (tvms_suppressions){.surface = surface};
  for (uint32_t i = 0; i < surface->comment_count; i++) {
    const tvms_comment *comment = &surface->comments[i];
    if (may_suppress(surface->source->text, comment->begin, comment->end))
      read_comment(found, comment);
  }
}

void tvms_lint_suppressions_fini(tvms_suppressions *found) {
  tvms_vec_fini(&found->surface->context->memory, &found->list);
  tvms_vec_fini(&found->surface->context->memory, &found->codes);
}
