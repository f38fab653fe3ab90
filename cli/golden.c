// Reading golden files: header, body, annotations, sections. Nothing here runs anything.
//
// A directive that is almost right is an error, never a comment: a golden file whose
// expectation is misspelt would pass for ever.
#include "cli/golden.h"

#include "cli/golden_run.h"
#include "support/diag_ids.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <strings.h>

typedef enum {
  RUN,
  WHY,
  STATUS,
  UNSTABLE,
  VALUES,
  EXPECT,
  FINDINGS,
  CHECK,
  CHECK_NEXT,
  CHECK_NOT,
  PROGRAM,
  DIRECTIVE_COUNT
} directive;

static const char *const directives[] = {
    [RUN] = "RUN",
    [WHY] = "WHY",
    [STATUS] = "STATUS",
    [UNSTABLE] = "UNSTABLE",
    [VALUES] = "VALUES",
    [EXPECT] = "EXPECT",
    [FINDINGS] = "FINDINGS",
    [CHECK] = "CHECK",
    [CHECK_NEXT] = "CHECK-NEXT",
    [CHECK_NOT] = "CHECK-NOT",
    [PROGRAM] = "PROGRAM",
};
static const char *const severities[] = {
    [TVMS_SEVERITY_ERROR] = "error",
    [TVMS_SEVERITY_WARNING] = "warning",
    [TVMS_SEVERITY_NOTE] = "note",
};
enum { SEVERITY_COUNT = sizeof severities / sizeof severities[0], LONGEST_WORD = 24 };

// A line of the file, without its end.
typedef struct {
  const char *text;
  uint32_t begin;
  uint32_t end;
  uint32_t number;
} line;

typedef struct {
  tvms_golden_file *file;
  tvms_golden at_hand;  // becomes part of `file` when it is whole
  tvms_golden *golden;  // at_hand
  tvms_golden shared;   // the header in front of all programs
  tvms_diags *diags;
  uint32_t next;    // offset of the next line
  uint32_t number;  // of the line read last
  bool in_header;
  bool in_section;
} reading;

static tvms_span span_of(const line *l) {
  return (tvms_span){l->begin, l->end};
}

static bool next_line(reading *r, line *l) {
  const tvms_source *source = r->file->source;
  if (r->next >= source->size) return false;
  const char *stop = memchr(source->text + r->next, '\n', source->size - r->next);
  uint32_t end = stop ? (uint32_t)(stop - source->text) : source->size;
  *l = (line){source->text + r->next, r->next, end, ++r->number};
  r->next = stop ? end + 1 : end;
  return true;
}

// The word before the ':' of a comment at the start of the line: "# WORD: rest".
static bool comment_word(const line *l, char *word, uint32_t *rest) {
  uint32_t len = l->end - l->begin, at = 1, used = 0;
  if (len < 2 || l->text[0] != '#') return false;
  while (at < len && l->text[at] == ' ') {
    at++;
  }
  while (at < len && used + 1 < LONGEST_WORD
         && (isalpha((unsigned char)l->text[at]) || (used && l->text[at] == '-'))) {
    word[used++] = l->text[at++];
  }
  word[used] = '\0';
  while (at < len && l->text[at] == ' ') {
    at++;
  }
  *rest = l->begin + at + 1;
  return used && at < len && l->text[at] == ':';
}

static void upper(char *to, const char *from) {
  while ((*to++ = (char)toupper((unsigned char)*from++))) {
  }
}

// A directive, DIRECTIVE_COUNT for an ordinary comment; a misspelt one is reported.
static directive classify(reading *r, const line *l, uint32_t *rest) {
  char word[LONGEST_WORD], shouted[LONGEST_WORD];
  if (!comment_word(l, word, rest)) return DIRECTIVE_COUNT;
  for (directive d = 0; d < DIRECTIVE_COUNT; d++) {
    if (strcmp(word, directives[d]) == 0) return d;
  }
  if (strcmp(word, "SCHEDULE") == 0) return DIRECTIVE_COUNT;  // ApplyTrace reads it
  upper(shouted, word);
  const char *near = tvms_diag_nearest_name(shouted, directives, DIRECTIVE_COUNT);
  bool shouts = strlen(word) > 1 && strcmp(word, shouted) == 0;
  if (near || shouts) {
    tvms_diag *diag =
        tvms_diag_report(r->diags, TVMS_D_golden_directive, span_of(l), word);
    if (near) tvms_diag_remark(r->diags, diag, "did you mean '# %s:'?", near);
  }
  return DIRECTIVE_COUNT;
}

static char *text_after(reading *r, const line *l, uint32_t begin) {
  const char *text = r->golden->source->text;
  uint32_t end = l->end;
  while (begin < end && text[begin] == ' ') {
    begin++;
  }
  while (end > begin && isspace((unsigned char)text[end - 1])) {
    end--;
  }
  return tvms_arena_text(&r->golden->context->arena, text + begin, end - begin);
}

static void add_run(reading *r, const line *l, uint32_t rest) {
  tvms_memory *memory = &r->golden->context->memory;
  tvms_golden_run run = {.line = l->number};
  tvms_options_split_words(&run.words, memory, text_after(r, l, rest));
  if (run.words.len) run.kind = tvms_golden_kind_of(run.words.items[0]);
  if (!run.kind) {
    const char *word = run.words.len ? run.words.items[0] : "";
    tvms_diag_report(r->diags, TVMS_D_golden_run, span_of(l), word);
    return;
  }
  tvms_vec_push(memory, &r->golden->runs, run);
}

// VALUES says something of what opt made, and opt only.
static void check_values(reading *r) {
  const tvms_golden *golden = r->golden;
  for (uint32_t i = 0; golden->values && i < golden->runs.len; i++) {
    if (strcmp(golden->runs.items[i].kind->name, "opt") != 0)
      tvms_diag_report(r->diags, TVMS_D_golden_values,
                       (tvms_span){golden->begin, golden->begin},
                       golden->runs.items[i].kind->name);
  }
}

// A program that expects nothing would always pass.
static void check_whole(reading *r) {
  tvms_golden *golden = r->golden;
  tvms_span start = {golden->begin, golden->begin};
  if (!golden->runs.len && !r->diags->errors) {
    tvms_diag_report(r->diags, TVMS_D_golden_missing, start, "# RUN:");
  }
  if (!golden->has_why)
    tvms_diag_report(r->diags, TVMS_D_golden_missing, start, "# WHY:");
  if (!golden->sections.len && !golden->findings.len && !golden->values) {
    tvms_diag_report(r->diags, TVMS_D_golden_missing, start, "# EXPECT:");
  }
  uint32_t expects = 0;
  for (uint32_t i = 0; i < golden->sections.len; i++) {
    expects += golden->sections.items[i].stream == TVMS_GOLDEN_STDOUT;
  }
  if (expects > 1 && expects != golden->runs.len) {
    tvms_diag_report(r->diags, TVMS_D_golden_count, start, expects, golden->runs.len);
  }
  check_values(r);
}

static void begin_program(reading *r, uint32_t number, uint32_t begin) {
  *r->golden = (tvms_golden){.context = r->file->context,
                             .source = r->file->source,
                             .first_line = number,
                             .begin = begin,
                             .status = -1};
  r->in_header = true;
  r->in_section = false;
}

// What is run, and how its result is judged, come together.
static void take_shared(tvms_golden *golden, const tvms_golden *shared) {
  golden->runs = shared->runs;
  if (golden->values) return;
  golden->values = shared->values;
  golden->tolerance = shared->tolerance;
}

// Ends the program at hand where the next one begins.
static void end_program(reading *r, uint32_t end) {
  tvms_golden *golden = r->golden;
  if (!r->in_section) golden->body.end = end;
  if (golden->name) {
    golden->has_why |= r->shared.has_why;
    if (!golden->runs.len) take_shared(golden, &r->shared);
  }
  check_whole(r);
  tvms_vec_push(&r->file->context->memory, &r->file->programs, *golden);
}

// Keeps what stands in front of the first program.
static void end_header(reading *r, const line *l) {
  const tvms_golden *golden = r->golden;
  bool header = r->in_header && !golden->findings.len && golden->status < 0;
  if (!header) tvms_diag_report(r->diags, TVMS_D_golden_header, span_of(l));
  r->shared = *golden;
  r->file->header_end = l->begin;
}

static void next_program(reading *r, const line *l, uint32_t rest) {
  const char *name = text_after(r, l, rest);
  bool taken = !*name || (r->golden->name && strcmp(name, r->golden->name) == 0);
  for (uint32_t i = 0; i < r->file->programs.len; i++)
    taken |= strcmp(name, r->file->programs.items[i].name) == 0;
  if (taken) tvms_diag_report(r->diags, TVMS_D_golden_program, span_of(l), name);
  if (r->golden->name)
    end_program(r, l->begin);
  else
    end_header(r, l);
  begin_program(r, l->number, l->begin);
  r->golden->name = name;
  r->golden->body.begin = r->next;
}

static void push_section(reading *r, const line *l, tvms_golden_section section) {
  if (!r->in_section) r->golden->body.end = l->begin;
  r->in_section = true;
  tvms_vec_push(&r->golden->context->memory, &r->golden->sections, section);
}

// Whether the last section is lines CHECK.
static bool in_checks(const reading *r) {
  const tvms_golden *golden = r->golden;
  return r->in_section
         && golden->sections.items[golden->sections.len - 1].stream
                == TVMS_GOLDEN_CHECKS;
}

static void add_section(reading *r, const line *l, directive d, uint32_t rest) {
  const char *more = text_after(r, l, rest);
  if (*more) tvms_diag_report(r->diags, TVMS_D_golden_directive, span_of(l), more);
  tvms_golden_section section = {
      .stream = d == EXPECT ? TVMS_GOLDEN_STDOUT : TVMS_GOLDEN_FINDINGS,
      .line = l->number,
      .text = {r->next, r->next},
  };
  push_section(r, l, section);
}

// Lines CHECK that follow each other are one section, which blessing leaves as it is.
static void add_check(reading *r, const line *l, directive d, uint32_t rest) {
  static const tvms_golden_check_kind kinds[] = {[CHECK] = TVMS_CHECK_LINE,
                                                 [CHECK_NEXT] = TVMS_CHECK_NEXT,
                                                 [CHECK_NOT] = TVMS_CHECK_NOT};
  tvms_golden *golden = r->golden;
  tvms_golden_check check = {kinds[d], text_after(r, l, rest), l->number};
  bool first = true;
  for (uint32_t i = 0; i < golden->checks.len; i++)
    first &= golden->checks.items[i].kind == TVMS_CHECK_NOT;
  if (!*check.pattern || (first && d == CHECK_NEXT))
    tvms_diag_report(r->diags, TVMS_D_golden_check, span_of(l), directives[d],
                     *check.pattern ? "there is no line before it that CHECK finds"
                                    : "there is no text behind it");
  tvms_vec_push(&golden->context->memory, &golden->checks, check);
  if (in_checks(r)) {
    golden->sections.items[golden->sections.len - 1].text.end = r->next;
    return;
  }
  push_section(r, l,
               (tvms_golden_section){.stream = TVMS_GOLDEN_CHECKS,
                                     .line = l->number,
                                     .text = {l->begin, r->next}});
}

static void add_status(reading *r, const line *l, uint32_t rest) {
  const char *text = text_after(r, l, rest);
  bool known = strcmp(text, "0") == 0 || strcmp(text, "1") == 0;
  if (known)
    r->golden->status = *text - '0';
  else
    tvms_diag_report(r->diags, TVMS_D_golden_status, span_of(l), text);
}

static void add_values(reading *r, const line *l, uint32_t rest) {
  const char *text = text_after(r, l, rest);
  char *end;
  double tolerance = strtod(text, &end);
  r->golden->values = true;
  r->golden->tolerance = *text ? text : NULL;
  bool good = !*text || (!*end && isfinite(tolerance) && tolerance >= 0);
  if (!good) tvms_diag_report(r->diags, TVMS_D_golden_values, span_of(l), text);
}

// Directives of the header may not stand below it.
static void take_directive(reading *r, const line *l, directive d, uint32_t rest) {
  bool header = d < EXPECT;
  if (header && !r->in_header) {
    tvms_diag_report(r->diags, TVMS_D_golden_misplaced, span_of(l), directives[d]);
    return;
  }
  if (header) r->golden->body.begin = r->next;
  switch (d) {
  case RUN: add_run(r, l, rest); break;
  case WHY: r->golden->has_why |= *text_after(r, l, rest) != '\0'; break;
  case STATUS: add_status(r, l, rest); break;
  case UNSTABLE: r->golden->unstable |= *text_after(r, l, rest) != '\0'; break;
  case VALUES: add_values(r, l, rest); break;
  case EXPECT:
  case FINDINGS: add_section(r, l, d, rest); break;
  case CHECK:
  case CHECK_NEXT:
  case CHECK_NOT: add_check(r, l, d, rest); break;
  case PROGRAM: next_program(r, l, rest); break;
  case DIRECTIVE_COUNT: break;
  }
}

// Whether a word before a ':' is meant for a severity: one of them, in any case, cut short
// or misspelt; behind code also what other tools call an expectation.
static bool resembles_severity(const char *word, bool behind_code) {
  char lower[LONGEST_WORD];
  size_t len = 0;
  for (; word[len]; len++) {
    lower[len] = (char)tolower((unsigned char)word[len]);
  }
  lower[len] = '\0';
  for (size_t i = 0; i < SEVERITY_COUNT; i++) {
    if (len >= 3 && strncmp(lower, severities[i], len) == 0) return true;
  }
  return (behind_code && strncmp(lower, "expect", strlen("expect")) == 0)
         || tvms_diag_nearest_name(lower, severities, SEVERITY_COUNT);
}

// The first "# word" at or after `from` whose word is or resembles a severity; returns
// the offset of the '#', or the end of the line.
static uint32_t find_annotation(const line *l, uint32_t from, char *word,
                                uint32_t *rest) {
  for (uint32_t at = from; at < l->end; at++) {
    line tail = {l->text + (at - l->begin), at, l->end, l->number};
    if (*tail.text != '#' || tail.end - at < 3) continue;
    char buffer[LONGEST_WORD];
    uint32_t i = 1, used = 0;
    while (at + i < l->end && tail.text[i] == ' ') {
      i++;
    }
    while (at + i < l->end && used + 1 < LONGEST_WORD
           && isalpha((unsigned char)tail.text[i])) {
      buffer[used++] = tail.text[i++];
    }
    buffer[used] = '\0';
    while (at + i < l->end && tail.text[i] == ' ') {
      i++;
    }
    bool ends = at + i < l->end && (tail.text[i] == ':' || tail.text[i] == '[');
    if (!ends || !resembles_severity(buffer, at > l->begin)) continue;
    strcpy(word, buffer);
    *rest = at + i;
    return at;
  }
  return l->end;
}

// "[E0201]: text" or ": text" up to the next annotation of the line.
static void add_finding(reading *r, const line *l, tvms_severity severity,
                        uint32_t rest, uint32_t end) {
  tvms_golden_finding finding = {.line = l->number, .severity = severity};
  const char *text = r->golden->source->text;
  if (text[rest] == '[') {
    uint32_t close = rest;
    while (close < end && text[close] != ']') {
      close++;
    }
    finding.code =
        tvms_arena_text(&r->golden->context->arena, text + rest + 1, close - rest - 1);
    rest = close + 1;
  }
  line part = {l->text, l->begin, end, l->number};
  char *said = text_after(r, &part, rest + 1);
  size_t len = strlen(said);
  finding.prefix = len >= 3 && strcmp(said + len - 3, "...") == 0;
  if (finding.prefix) said[len - 3] = '\0';
  finding.text = said;
  tvms_vec_push(&r->golden->context->memory, &r->golden->findings, finding);
}

static void take_annotations(reading *r, const line *l) {
  char word[LONGEST_WORD];
  uint32_t rest;
  uint32_t at = find_annotation(l, l->begin, word, &rest);
  while (at < l->end) {
    char next_word[LONGEST_WORD] = "";
    uint32_t next_rest = 0;
    uint32_t next = find_annotation(l, rest, next_word, &next_rest);
    uint32_t severity = 0;
    while (severity < SEVERITY_COUNT && strcmp(word, severities[severity]) != 0) {
      severity++;
    }
    if (severity < SEVERITY_COUNT) {
      add_finding(r, l, (tvms_severity)severity, rest, next);
    } else {
      tvms_span span = {at, rest};
      tvms_diag_report(r->diags, TVMS_D_golden_directive, span, word);
    }
    at = next;
    rest = next_rest;
    strcpy(word, next_word);
  }
}

static bool is_blank_or_comment(const line *l) {
  uint32_t at = 0;
  while (l->begin + at < l->end && isspace((unsigned char)l->text[at])) {
    at++;
  }
  return l->begin + at == l->end || l->text[at] == '#';
}

// What ends the text of a section.
static bool ends_section(const char *word) {
  for (directive d = EXPECT; d < DIRECTIVE_COUNT; d++) {
    if (strcmp(word, directives[d]) == 0) return true;
  }
  return false;
}

// A line without a directive.
static void take_text(reading *r, const line *l) {
  if (in_checks(r) && !is_blank_or_comment(l))
    tvms_diag_report(r->diags, TVMS_D_golden_behind, span_of(l));
  else if (r->in_section)
    r->golden->sections.items[r->golden->sections.len - 1].text.end = r->next;
  else
    take_annotations(r, l);
}

static void read_lines(reading *r) {
  for (line l; next_line(r, &l);) {
    uint32_t rest = 0;
    directive d = DIRECTIVE_COUNT;
    // What a section expects is text of its own; only the next section ends it.
    char word[LONGEST_WORD];
    bool section = comment_word(&l, word, &rest) && ends_section(word);
    if (!r->in_section || section || in_checks(r)) d = classify(r, &l, &rest);
    if (r->in_header && d == DIRECTIVE_COUNT && !is_blank_or_comment(&l))
      r->in_header = false;
    if (d != DIRECTIVE_COUNT)
      take_directive(r, &l, d, rest);
    else
      take_text(r, &l);
  }
}

void tvms_golden_parse(tvms_golden_file *file, tvms_context *context,
                       tvms_source *source) {
  *file = (tvms_golden_file){.context = context, .source = source};
  reading r = {.file = file, .diags = &context->diags};
  r.golden = &r.at_hand;
  begin_program(&r, 1, 0);
  read_lines(&r);
  end_program(&r, source->size);
}
