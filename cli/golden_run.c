// Running golden files: this program again, with the body as standard input, its output
// and its findings compared with what the file expects.
//
// Whatever is written must be stable: what `print`, `fmt`, `opt` and `migrate` wrote is run once more and
// must come out the same. Blessing compares nothing and refuses what would not hold: a run
// that crashed, findings that are not expected, text that is not stable.
#define _GNU_SOURCE
#include "cli/golden_run.h"

#include "cli/golden_bless.h"
#include "cli/golden_check.h"
#include "cli/golden_spawn.h"
#include "driver/render.h"
#include "support/textdiff.h"

#include <stdio.h>
#include <stdlib.h>

// What RUN may name. One row per verb that reads one file and writes text.
static const tvms_golden_kind kinds[] = {
    {.name = "check", .verifies = true},
    {.name = "print", .again = "print", .verifies = true},
    {.name = "fmt", .again = "fmt", .keeps_header = true},
    {.name = "infer", .verifies = true},
    {.name = "opt", .again = "opt", .verifies = true},
    {.name = "migrate", .again = "migrate", .keeps_header = true},
    {.name = "run", .verifies = true},
    {.name = "dump", .verifies = true},
};

const tvms_golden_kind *tvms_golden_kind_of(const char *name) {
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    if (strcmp(kinds[i].name, name) == 0) return &kinds[i];
  }
  return NULL;
}

typedef struct {
  tvms_run *run;
  tvms_golden *golden;
  tvms_strbuf *said;
  bool good;
} judging;

static tvms_memory *memory_of(const judging *j) {
  return &j->golden->context->memory;
}

// Says what is wrong with the file, at a line of it.
static void blame(judging *j, uint32_t line, const char *format, const char *text) {
  tvms_strbuf_printf(j->said, "%s:%u: ", j->golden->source->name, line);
  tvms_strbuf_printf(j->said, format, text);
  tvms_strbuf_putc(j->said, '\n');
  j->good = false;
}

// What formats source text keeps the header, which is not part of the expectation.
static void drop_header(const judging *j, tvms_golden_outcome *o) {
  const tvms_golden *golden = j->golden;
  size_t len = golden->body.begin - golden->begin;
  bool kept = o->out_len >= len
              && memcmp(o->out, golden->source->text + golden->begin, len) == 0;
  if (!kept) return;
  o->out += len;
  o->out_len -= len;
}

// A finding as the text renderer writes it: "<stdin>:LINE:COLUMN: error[E0201]: text".
typedef struct {
  uint32_t line;
  const char *severity;
  size_t severity_len;
  const char *code;
  const char *text;
  size_t text_len;
} seen_finding;

static bool read_finding(const char *line, size_t len, seen_finding *seen) {
  static const char head[] = "<stdin>:";
  if (len < sizeof head || memcmp(line, head, sizeof head - 1) != 0) return false;
  const char *end = line + len;
  char *rest;
  seen->line = (uint32_t)strtoul(line + sizeof head - 1, &rest, 10);
  if (*rest != ':') return false;
  (void)strtoul(rest + 1, &rest, 10);
  if (end - rest < 2) return false;
  seen->severity = rest + 2;
  const char *bracket = memchr(seen->severity, '[', (size_t)(end - seen->severity));
  const char *colon = memchr(seen->severity, ':', (size_t)(end - seen->severity));
  if (!bracket || !colon || bracket > colon) return false;
  seen->severity_len = (size_t)(bracket - seen->severity);
  seen->code = bracket + 1;
  seen->text = colon + 2;
  seen->text_len = (size_t)(end - seen->text);
  return true;
}

static bool meets(const tvms_golden_finding *wanted, const seen_finding *seen,
                  uint32_t line) {
  const char *severity = tvms_render_severity_name(wanted->severity);
  size_t len = strlen(wanted->text);
  return !wanted->met && wanted->line == line && strlen(severity) == seen->severity_len
         && memcmp(severity, seen->severity, seen->severity_len) == 0
         && (!wanted->code
             || strncmp(wanted->code, seen->code, strlen(wanted->code)) == 0)
         && (wanted->prefix ? len <= seen->text_len : len == seen->text_len)
         && memcmp(wanted->text, seen->text, len) == 0;
}

// The line of the file that a run's line is.
static uint32_t line_of(const judging *j, uint32_t line) {
  return line + j->golden->first_line - 1;
}

static void match_finding(judging *j, const seen_finding *seen, const char *text,
                          size_t len) {
  for (uint32_t i = 0; i < j->golden->findings.len; i++) {
    tvms_golden_finding *wanted = &j->golden->findings.items[i];
    if (meets(wanted, seen, line_of(j, seen->line))) {
      wanted->met = true;
      return;
    }
  }
  char *line = tvms_arena_text(&j->golden->context->arena, text, len);
  blame(j, line_of(j, seen->line), "nothing expects this finding: %s", line);
}

static const tvms_golden_section *section_of(const tvms_golden *golden,
                                             tvms_golden_stream stream, uint32_t index);

// Every annotated finding must come, and every other must be in a FINDINGS section.
static void compare_findings(judging *j, const tvms_golden_outcome *o, uint32_t index) {
  bool whole = section_of(j->golden, TVMS_GOLDEN_FINDINGS, index) != NULL;
  tvms_golden *golden = j->golden;
  for (uint32_t i = 0; i < golden->findings.len; i++) {
    golden->findings.items[i].met = false;
  }
  const char *at = o->findings, *end = at + o->findings_len;
  while (at < end) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    size_t len = (size_t)((stop ? stop : end) - at);
    seen_finding seen;
    // With a FINDINGS section annotations are optional, but they must be right.
    if (read_finding(at, len, &seen) && !(whole && !golden->findings.len)) {
      match_finding(j, &seen, at, len);
    }
    at += len + (stop != NULL);
  }
  for (uint32_t i = 0; i < golden->findings.len; i++) {
    const tvms_golden_finding *wanted = &golden->findings.items[i];
    if (!wanted->met) blame(j, wanted->line, "not reported: %s", wanted->text);
  }
}

// The section with the expectation of run `index`, or NULL.
static const tvms_golden_section *
section_of(const tvms_golden *golden, tvms_golden_stream stream, uint32_t index) {
  const tvms_golden_section *found = NULL;
  uint32_t count = 0;
  for (uint32_t i = 0; i < golden->sections.len; i++) {
    if (golden->sections.items[i].stream != stream) continue;
    if (count == index || !found) found = &golden->sections.items[i];
    count++;
  }
  return found;
}

// Whether the standard output is a program again, and not a report or a difference.
static bool writes_program(const tvms_golden_run *run) {
  for (uint32_t i = 1; i < run->words.len; i++) {
    if (strcmp(run->words.items[i], "--diff") == 0) return false;
  }
  return run->kind->again != NULL;
}

// What a section must say for `text`: FINDINGS and reports stand behind "# ".
static void add_section_text(tvms_strbuf *out, const char *text, size_t len,
                             bool commented) {
  if (!commented) {
    tvms_strbuf_add(out, text, len);
    return;
  }
  const char *end = text + len;
  while (text < end) {
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    size_t line = (size_t)((stop ? stop : end) - text);
    tvms_strbuf_puts(out, line ? "# " : "#");
    tvms_strbuf_add(out, text, line);
    tvms_strbuf_putc(out, '\n');
    text += line + (stop != NULL);
  }
}

static void compare_section(judging *j, tvms_golden_stream stream, uint32_t index,
                            const char *text, size_t len, bool commented) {
  const tvms_golden_section *section = section_of(j->golden, stream, index);
  if (!section) return;
  tvms_strbuf now;
  tvms_strbuf_init(&now, memory_of(j));
  add_section_text(&now, text, len, commented);
  tvms_version wanted = {"expected", j->golden->source->text + section->text.begin,
                         section->text.end - section->text.begin};
  bool same = wanted.len == now.len
              && (!now.len || memcmp(wanted.text, now.text, now.len) == 0);
  if (same) return;
  blame(j, section->line, "%s", "the run says something else:");
  tvms_textdiff(j->said, wanted, (tvms_version){"now", now.text, now.len},
                j->run->color_result);
}

static int expected_status(const tvms_golden *golden) {
  if (golden->status >= 0) return golden->status;
  for (uint32_t i = 0; i < golden->findings.len; i++) {
    if (golden->findings.items[i].severity == TVMS_SEVERITY_ERROR) return 1;
  }
  for (uint32_t i = 0; i < golden->sections.len; i++) {
    const tvms_golden_section *section = &golden->sections.items[i];
    const char *text = golden->source->text + section->text.begin;
    size_t len = section->text.end - section->text.begin;
    bool findings = section->stream == TVMS_GOLDEN_FINDINGS;
    if (findings && memmem(text, len, ": error[", 8)) return 1;
  }
  return 0;
}

// Says how the run ended, unless it ended as expected.
static bool ended_well(judging *j, const tvms_golden_run *run,
                       const tvms_golden_outcome *o, int expected) {
  if (o->status == expected) return true;
  char text[96];
  if (o->late)
    snprintf(text, sizeof text, "the run took too long");
  else if (o->signal)
    snprintf(text, sizeof text, "the run crashed with signal %d", o->signal);
  else
    snprintf(text, sizeof text, "exit status %d, expected %d", o->status, expected);
  blame(j, run->line, "%s", text);
  tvms_strbuf_add(j->said, o->findings, o->findings_len);
  return false;
}

// Options of RUN that say how the output is spelled hold for reading it again too.
static tvms_texts words_again(judging *j, const tvms_golden_run *run) {
  tvms_texts words = {0};
  tvms_vec_push(memory_of(j), &words, run->kind->again);
  for (uint32_t i = 1; i < run->words.len; i++) {
    const char *word = run->words.items[i];
    bool spelled =
        strncmp(word, "--dialect=", 10) == 0 || strcmp(word, "--no-metadata") == 0;
    bool two = strcmp(word, "--dialect") == 0 && i + 1 < run->words.len;
    if (spelled || two) tvms_vec_push(memory_of(j), &words, word);
    if (two) tvms_vec_push(memory_of(j), &words, run->words.items[++i]);
  }
  // A pipeline that stops before its first pass: it reads what `print` does not.
  static const char *const nothing[] = {"--passes", "RemoveNoOp", "--stop-after", "0"};
  bool opt = strcmp(run->kind->again, "opt") == 0;
  for (size_t i = 0; opt && i < sizeof nothing / sizeof nothing[0]; i++)
    tvms_vec_push(memory_of(j), &words, nothing[i]);
  return words;
}

// What was printed must print to itself, what was formatted format to itself.
static void check_again(judging *j, const tvms_golden_run *run,
                        const tvms_golden_outcome *o) {
  if (!writes_program(run) || o->status != 0 || !o->out_len) return;
  tvms_texts words = words_again(j, run);
  tvms_golden_place place = {j->run, j->golden};
  tvms_golden_outcome again =
      tvms_golden_spawn(&place, &words, tvms_golden_kind_of(run->kind->again)->verifies,
                        o->out, o->out_len);
  bool same = again.status == 0 && again.out_len == o->out_len
              && memcmp(again.out, o->out, o->out_len) == 0;
  if (j->golden->unstable && again.status == 0) {
    if (same)
      blame(j, run->line, "%s of the output is the same, so it is not UNSTABLE",
            run->kind->again);
    return;
  }
  if (same) return;
  blame(j, run->line, "the output is not stable: %s of it differs", run->kind->again);
  tvms_strbuf_add(j->said, again.findings, again.findings_len);
  tvms_textdiff(j->said, (tvms_version){"output", o->out, o->out_len},
                (tvms_version){"again", again.out, again.out_len},
                j->run->color_result);
}

// Appends the program with its sections anew; header, body and lines CHECK stay as they are.
static void rewrite(judging *j, const tvms_golden_outcome *outcomes,
                    tvms_strbuf *anew) {
  const tvms_golden *golden = j->golden;
  const char *text = golden->source->text;
  tvms_strbuf_add(anew, text + golden->begin, golden->body.end - golden->begin);
  uint32_t counts[2] = {0, 0};
  for (uint32_t i = 0; i < golden->sections.len; i++) {
    const tvms_golden_section *section = &golden->sections.items[i];
    if (section->stream == TVMS_GOLDEN_CHECKS) {
      tvms_strbuf_add(anew, text + section->text.begin,
                      section->text.end - section->text.begin);
      continue;
    }
    bool findings = section->stream == TVMS_GOLDEN_FINDINGS;
    uint32_t index = counts[findings]++;
    const tvms_golden_outcome *o = &outcomes[index < golden->runs.len ? index : 0];
    bool commented =
        findings
        || !writes_program(&golden->runs.items[index < golden->runs.len ? index : 0]);
    tvms_strbuf_puts(anew, findings ? "# FINDINGS:\n" : "# EXPECT:\n");
    add_section_text(anew, findings ? o->findings : o->out,
                     findings ? o->findings_len : o->out_len, commented);
  }
}

// The lines CHECK of the file against an output.
static void find_checks(judging *j, const tvms_golden_outcome *o) {
  tvms_golden_miss miss = tvms_golden_find_checks(j->golden, o->out, o->out_len);
  if (!miss.check) return;
  bool forbidden = miss.check->kind == TVMS_CHECK_NOT;
  blame(j, miss.check->line,
        forbidden ? "the output has what must not be there: %s"
        : miss.check->kind == TVMS_CHECK_NEXT ? "the next line is another one than: %s"
                                              : "no line that follows has: %s",
        miss.check->pattern);
  bool searched = miss.check->kind == TVMS_CHECK_LINE;
  tvms_strbuf_printf(j->said, "  %sline %u of the output: %.*s\n",
                     searched ? "looked from " : "", miss.line,
                     (int)(miss.text.end - miss.text.begin),
                     o->out_len ? o->out + miss.text.begin : "");
}

static bool is_other(const judging *j, const tvms_golden_run *run) {
  return j->run->options.opt_with && strcmp(run->kind->name, "opt") == 0;
}

// VALUES: the functions compute what they did before the passes.
static void compare_values(judging *j, const tvms_golden_run *run, tvms_version before,
                           tvms_version now) {
  tvms_golden_place place = {j->run, j->golden};
  tvms_golden_outcome o = tvms_golden_spawn_diff(&place, run, before, now);
  if (o.status == 0 && !o.findings_len) return;
  blame(j, run->line, "%s", "the values are not the same:");
  tvms_strbuf_add(j->said, o.findings, o.findings_len);
}

static void judge_run(judging *j, uint32_t index, tvms_golden_outcome *o,
                      bool compares) {
  const tvms_golden *golden = j->golden;
  const tvms_golden_run *run = &golden->runs.items[index];
  const char *input = golden->source->text + golden->begin;
  size_t len = golden->body.end - golden->begin;
  tvms_golden_place place = {j->run, golden};
  *o = is_other(j, run)
           ? tvms_golden_spawn_other(&place, run, input, len)
           : tvms_golden_spawn(&place, &run->words, run->kind->verifies, input, len);
  if (run->kind->keeps_header) drop_header(j, o);
  bool well = ended_well(j, run, o, expected_status(golden));
  if (!well && o->status != 0 && o->status != 1) return;
  compare_findings(j, o, index);
  if (compares) {
    compare_section(j, TVMS_GOLDEN_STDOUT, index, o->out, o->out_len,
                    !writes_program(run));
    compare_section(j, TVMS_GOLDEN_FINDINGS, index, o->findings, o->findings_len, true);
  }
  find_checks(j, o);
  if (golden->values && o->status == 0)
    compare_values(j, run, (tvms_version){"before", input, len},
                   (tvms_version){"now", o->out, o->out_len});
  check_again(j, run, o);
}

static bool judge_program(judging *j, tvms_golden *golden, tvms_strbuf *anew) {
  bool bless = j->run->options.bless;
  j->golden = golden;
  j->good = true;
  tvms_golden_outcome *outcomes =
      tvms_memory_alloc(memory_of(j), golden->runs.len * sizeof *outcomes);
  for (uint32_t i = 0; i < golden->runs.len; i++) {
    judge_run(j, i, &outcomes[i], !bless);
  }
  if (bless) rewrite(j, outcomes, anew);
  if (!j->good && golden->name)
    tvms_strbuf_printf(j->said, "%s: program '%s' does not hold\n",
                       golden->source->name, golden->name);
  return j->good;
}

bool tvms_golden_judge(tvms_run *run, tvms_golden_file *file, tvms_strbuf *said) {
  judging j = {.run = run, .said = said};
  tvms_strbuf anew;
  tvms_strbuf_init(&anew, &file->context->memory);
  tvms_strbuf_add(&anew, file->source->text, file->header_end);
  bool good = true;
  for (uint32_t i = 0; i < file->programs.len; i++)
    good &= judge_program(&j, &file->programs.items[i], &anew);
  if (!run->options.bless) return good;
  if (good) return tvms_golden_bless(run, file->source, &anew, said);
  tvms_strbuf_printf(said, "%s: not blessed\n", file->source->name);
  return false;
}
