// Reading golden files: header, body, annotations, sections. Nothing here runs anything.
//
// A directive that is almost right is an error, never a comment: a golden file whose
// expectation is misspelt would pass for ever.
#include "cli/golden.h"

#include "cli/golden_run.h"

#include <ctype.h>
#include <strings.h>

typedef enum { RUN, WHY, STATUS, EXPECT, FINDINGS, DIRECTIVE_COUNT } directive;

static const char *const directives[] = {
    [RUN] = "RUN",       [WHY] = "WHY",           [STATUS] = "STATUS",
    [EXPECT] = "EXPECT", [FINDINGS] = "FINDINGS",
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
  tvms_golden *golden;
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
  const tvms_source *source = r->golden->source;
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
  while (at < len && used + 1 < LONGEST_WORD && isalpha((unsigned char)l->text[at])) {
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

static void add_section(reading *r, const line *l, directive d, uint32_t rest) {
  const char *more = text_after(r, l, rest);
  if (*more) tvms_diag_report(r->diags, TVMS_D_golden_directive, span_of(l), more);
  tvms_golden_section section = {
      .stream = d == EXPECT ? TVMS_GOLDEN_STDOUT : TVMS_GOLDEN_FINDINGS,
      .line = l->number,
      .text = {r->next, r->next},
  };
  if (!r->in_section) r->golden->body.end = l->begin;
  r->in_section = true;
  tvms_vec_push(&r->golden->context->memory, &r->golden->sections, section);
}

static void add_status(reading *r, const line *l, uint32_t rest) {
  const char *text = text_after(r, l, rest);
  bool known = strcmp(text, "0") == 0 || strcmp(text, "1") == 0;
  if (known)
    r->golden->status = *text - '0';
  else
    tvms_diag_report(r->diags, TVMS_D_golden_status, span_of(l), text);
}

// Directives of the header may not stand below it.
static void take_directive(reading *r, const line *l, directive d, uint32_t rest) {
  bool header = d == RUN || d == WHY || d == STATUS;
  if (header && !r->in_header) {
    tvms_diag_report(r->diags, TVMS_D_golden_misplaced, span_of(l), directives[d]);
    return;
  }
  if (header) r->golden->body.begin = r->next;
  switch (d) {
  case RUN: add_run(r, l, rest); break;
  case WHY: r->golden->has_why |= *text_after(r, l, rest) != '\0'; break;
  case STATUS: add_status(r, l, rest); break;
  case EXPECT:
  case FINDINGS: add_section(r, l, d, rest); break;
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

static void read_lines(reading *r) {
  for (line l; next_line(r, &l);) {
    uint32_t rest = 0;
    directive d = DIRECTIVE_COUNT;
    // What a section expects is text of its own; only the next section ends it.
    char word[LONGEST_WORD];
    bool section = comment_word(&l, word, &rest)
                   && (strcmp(word, "EXPECT") == 0 || strcmp(word, "FINDINGS") == 0);
    if (!r->in_section || section) d = classify(r, &l, &rest);
    if (r->in_header && d == DIRECTIVE_COUNT && !is_blank_or_comment(&l))
      r->in_header = false;
    if (d != DIRECTIVE_COUNT)
      take_directive(r, &l, d, rest);
    else if (r->in_section)
      r->golden->sections.items[r->golden->sections.len - 1].text.end = r->next;
    else
      take_annotations(r, &l);
  }
}

// A file that expects nothing would always pass.
static void check_whole(reading *r) {
  tvms_golden *golden = r->golden;
  tvms_span start = {0, 0};
  if (!golden->runs.len && !r->diags->errors) {
    tvms_diag_report(r->diags, TVMS_D_golden_missing, start, "# RUN:");
  }
  if (!golden->has_why)
    tvms_diag_report(r->diags, TVMS_D_golden_missing, start, "# WHY:");
  if (!golden->sections.len && !golden->findings.len) {
    tvms_diag_report(r->diags, TVMS_D_golden_missing, start, "# EXPECT:");
  }
  uint32_t expects = 0;
  for (uint32_t i = 0; i < golden->sections.len; i++) {
    expects += golden->sections.items[i].stream == TVMS_GOLDEN_STDOUT;
  }
  if (expects > 1 && expects != golden->runs.len) {
    tvms_diag_report(r->diags, TVMS_D_golden_count, start, expects, golden->runs.len);
  }
}

void tvms_golden_parse(tvms_golden *golden, tvms_context *context,
                       tvms_source *source) {
  *golden = (tvms_golden){.context = context, .source = source, .status = -1};
  golden->body.end = source->size;
  reading r = {.golden = golden, .diags = &context->diags, .in_header = true};
  read_lines(&r);
  check_whole(&r);
}
