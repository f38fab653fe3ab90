// Reading the text of a pipeline: 'LegalizeOps,call-tir-rewrite{key=value},zero'.
//
// In a file a new line separates passes as a comma does, and '#' begins a comment.
// Names of pipelines.def stand for their passes; what is wrong inside one is reported at
// the name that the user wrote.
#include "passes/pipeline.h"

#include "passes/manager.h"
#include "passes/tables.h"
#include "passes/value.h"
#include "support/diag_ids.h"
#include "support/vec.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

// Pipelines name others only above them in the table, so nesting is bounded.
enum { MOST_NESTED = 8 };

enum { MOST_OPTIONS = 16 };  // of one pass

typedef TVMS_VEC(tvms_pass_step) step_list;

typedef struct {
  tvms_context *context;
  const char *text;
  uint32_t at;
  uint32_t nested;
  bool lines;       // the text is a file: new lines and comments
  tvms_span outer;  // if nested: the name of the pipeline being expanded
  const tvms_pass_group *TVMS_NULLABLE group;  // the same
  tvms_arena *arena;                           // of the pipeline
  step_list *steps;
} reader;

static tvms_span place(const reader *r, uint32_t begin, uint32_t end) {
  return r->nested ? r->outer : (tvms_span){begin, end};
}

// Skips blanks, and in a file comments; `new_lines`: and the ends of lines.
static void skip_within(reader *r, bool new_lines) {
  for (char c; (c = r->text[r->at]) != '\0'; r->at++) {
    if (c == '#' && r->lines) {
      r->at += (uint32_t)strcspn(r->text + r->at, "\n");
      c = r->text[r->at];
    }
    if (c == '\n' ? !new_lines : !isspace((unsigned char)c)) return;
  }
}

static void skip_blanks(reader *r) {
  skip_within(r, true);
}

static tvms_span word(reader *r) {
  skip_blanks(r);
  uint32_t begin = r->at;
  while (isalnum((unsigned char)r->text[r->at])
         || (r->text[r->at] && strchr("_-.", r->text[r->at]))) {
    r->at++;
  }
  return (tvms_span){begin, r->at};
}

static bool accept(reader *r, char c) {
  skip_blanks(r);
  if (r->text[r->at] != c) return false;
  r->at++;
  return true;
}

static bool expected(reader *r, const char *what) {
  uint32_t end = r->text[r->at] ? r->at + 1 : r->at;
  tvms_diag_report(&r->context->diags, TVMS_D_pass_syntax, place(r, r->at, end), what);
  return false;
}

// TVM has it, tvms does not.
static bool is_missing(const reader *r, tvms_span name) {
  const tvms_missing_pass *pass =
      tvms_pass_find_missing(r->text + name.begin, name.end - name.begin);
  if (!pass) return false;
  char releases[TVMS_RELEASES_SIZE];
  tvms_pass_releases(pass->since, pass->until, releases);
  tvms_diag_report(&r->context->diags, TVMS_D_missing_pass,
                   place(r, name.begin, name.end), pass->name, releases);
  return true;
}

// The name itself, one that begins with it, or a near one.
static const char *TVMS_NULLABLE named_like(const char *text, const char *const *known,
                                            uint32_t count) {
  enum { LEAST = 4 };
  size_t len = strlen(text);
  const char *begun = NULL;
  for (uint32_t i = 0; i < count; i++) {
    if (strcmp(known[i], text) == 0) return known[i];
    bool begins = len >= LEAST && strncasecmp(known[i], text, len) == 0;
    if (begins && (!begun || strlen(known[i]) < strlen(begun))) begun = known[i];
  }
  const char *near = tvms_diag_nearest_name(text, known, count);
  return near ? near : begun;
}

static void unknown_pass(reader *r, tvms_span name) {
  tvms_arena *arena = r->arena;
  const char *text =
      tvms_arena_text(arena, r->text + name.begin, name.end - name.begin);
  uint32_t pass_count, pipeline_count;
  const tvms_pass *passes = tvms_pass_rows(&pass_count);
  const tvms_pipeline_row *pipelines = tvms_pipeline_rows(&pipeline_count);
  const char **known =
      tvms_arena_array(arena, const char *, 2 * pass_count + pipeline_count);
  uint32_t count = 0;
  for (uint32_t i = 0; i < pass_count; i++) {
    char *kebab = tvms_arena_alloc(arena, TVMS_KEBAB_SIZE);
    tvms_pass_kebab(passes[i].name, kebab);
    known[count++] = passes[i].name;
    known[count++] = kebab;
  }
  for (uint32_t i = 0; i < pipeline_count; i++)
    known[count++] = pipelines[i].name;
  tvms_diag *diag = tvms_diag_report(&r->context->diags, TVMS_D_unknown_pass,
                                     place(r, name.begin, name.end), text);
  const char *dot = strrchr(text, '.');  // relax.transform.LegalizeOps
  const char *near = named_like(dot ? dot + 1 : text, known, count);
  if (near) tvms_diag_remark(&r->context->diags, diag, "did you mean '%s'?", near);
}

// The first option of a pass, and how many it has.
static const tvms_pass_option *options_of(const tvms_pass *pass, uint32_t *count) {
  uint32_t all;
  const tvms_pass_option *options = tvms_pass_option_rows(&all);
  uint32_t first = 0;
  while (first < all && strcmp(options[first].pass, pass->name) != 0)
    first++;
  *count = 0;
  while (first + *count < all
         && strcmp(options[first + *count].pass, pass->name) == 0) {
    ++*count;
  }
  return options + first;
}

static tvms_pass_value *default_values(const reader *r, const tvms_pass *pass) {
  uint32_t count;
  const tvms_pass_option *options = options_of(pass, &count);
  if (count == 0) return NULL;
  tvms_pass_value *values = tvms_arena_array(r->arena, tvms_pass_value, count);
  for (uint32_t i = 0; i < count; i++) {
    const char *text = options[i].initial;
    bool fine = tvms_pass_value_read(r->context, r->arena, &options[i], text,
                                     strlen(text), &values[i]);
    TVMS_CHECK(fine);
  }
  return values;
}

// What options stand behind: a pass, or a pipeline, which has none.
typedef struct {
  const tvms_pass *TVMS_NULLABLE pass;  // NULL: a pipeline, or a pass that is unknown
  tvms_pass_value *TVMS_NULLABLE values;
  const char *TVMS_NULLABLE pipeline;
  bool given[MOST_OPTIONS];  // by the place of the option
} owner;

// What the options are called, or a near name.
static void unknown_option(reader *r, const owner *o, tvms_span name,
                           const char *text) {
  uint32_t count = 0;
  const tvms_pass_option *options = o->pass ? options_of(o->pass, &count) : NULL;
  const char *known[MOST_OPTIONS];
  tvms_diags *diags = &r->context->diags;
  tvms_strbuf all;
  tvms_strbuf_init(&all, &r->context->memory);
  for (uint32_t i = 0; i < count; i++) {
    known[i] = options[i].name;
    tvms_strbuf_printf(&all, i ? ", %s" : "%s", known[i]);
  }
  tvms_diag *diag = tvms_diag_report(
      diags, TVMS_D_pass_option, place(r, name.begin, name.end),
      o->pass ? "pass" : "pipeline", o->pass ? o->pass->name : o->pipeline, text);
  const char *near = named_like(text, known, count);
  if (near)
    tvms_diag_remark(diags, diag, "did you mean '%s'?", near);
  else if (count)
    tvms_diag_remark(diags, diag, "its options are: %s", tvms_strbuf_text(&all));
  else
    tvms_diag_remark(diags, diag, "it has no options");
  tvms_strbuf_fini(&all);
}

static void set_option(reader *r, owner *o, tvms_span name, tvms_span value) {
  uint32_t count = 0, i = 0;
  const tvms_pass_option *options = o->pass ? options_of(o->pass, &count) : NULL;
  TVMS_CHECK(count <= MOST_OPTIONS);
  tvms_diags *diags = &r->context->diags;
  const char *text =
      tvms_arena_text(r->arena, r->text + name.begin, name.end - name.begin);
  while (i < count && strcmp(options[i].name, text) != 0)
    i++;
  if (i == count) {
    unknown_option(r, o, name, text);
    return;
  }
  if (o->given[i])
    tvms_diag_report(diags, TVMS_D_pass_option_twice, place(r, name.begin, name.end),
                     text);
  o->given[i] = true;
  if (tvms_pass_value_read(r->context, r->arena, &options[i], r->text + value.begin,
                           value.end - value.begin, &o->values[i]))
    return;
  char wants[TVMS_WANTS_SIZE];
  tvms_diag_report(diags, TVMS_D_pass_value, place(r, value.begin, value.end), text,
                   tvms_pass_option_wants(&options[i], wants));
}

// Behind the value of an option: at the ',' or '}' that ends it. Those inside of brackets
// and quotes are parts of it, as in {layouts={'nn.conv2d': ['NHWC', 'OHWI']}}.
static void skip_value(reader *r) {
  uint32_t depth = 0;
  char quote = '\0';
  for (char c; (c = r->text[r->at]) != '\0'; r->at++) {
    if (quote || c == '\'' || c == '"') {
      quote = !quote ? c : c == quote ? '\0' : quote;
    } else if (strchr("([{", c)) {
      depth++;
    } else if (depth > 0) {
      depth -= strchr(")]}", c) != NULL;
    } else if (c == ',' || c == '}') {
      return;
    }
  }
}

static bool read_option(reader *r, owner *o) {
  tvms_span name = word(r);
  if (name.begin == name.end) return expected(r, "the name of an option");
  if (!accept(r, '=')) return expected(r, "'='");
  skip_blanks(r);
  tvms_span value = {r->at, r->at};
  skip_value(r);
  value.end = r->at;
  if (o->pass || o->pipeline) set_option(r, o, name, value);
  return true;
}

static bool read_list(reader *r);

static bool read_nested(reader *r, const char *passes, tvms_span name) {
  TVMS_CHECK(r->nested < MOST_NESTED);
  reader inner = *r;
  tvms_pass_group *group = tvms_arena_new(r->arena, tvms_pass_group);
  group->name = tvms_arena_text(r->arena, r->text + name.begin, name.end - name.begin);
  group->parent = r->group;
  inner.group = group;
  inner.text = passes;
  inner.at = 0;
  inner.nested = r->nested + 1;
  inner.lines = false;
  inner.outer = place(r, name.begin, name.end);
  return read_list(&inner);
}

static bool read_options(reader *r, owner *o) {
  uint32_t end = r->at;  // what follows may be a new line, which separates
  if (!accept(r, '{')) r->at = end;
  if (r->at == end || accept(r, '}')) return true;
  do {
    if (!read_option(r, o)) return false;
  } while (accept(r, ','));
  return accept(r, '}') || expected(r, "',' or '}'");
}

static bool read_item(reader *r) {
  tvms_span name = word(r);
  size_t len = name.end - name.begin;
  if (len == 0) return expected(r, "the name of a pass");
  const tvms_pipeline_row *pipeline =
      tvms_pass_find_pipeline(r->text + name.begin, len);
  if (pipeline) {
    owner o = {.pipeline = pipeline->name};
    return read_nested(r, pipeline->passes, name) && read_options(r, &o);
  }
  tvms_pass_step step = {.pass = tvms_pass_find(r->text + name.begin, len),
                         .span = place(r, name.begin, name.end),
                         .group = r->group};
  if (step.pass) {
    step.values = default_values(r, step.pass);
  } else if (!is_missing(r, name)) {
    unknown_pass(r, name);
  }
  owner o = {.pass = step.pass, .values = step.values};
  if (!read_options(r, &o)) return false;
  if (step.pass) tvms_vec_push(&r->context->memory, r->steps, step);
  return true;
}

static bool read_list(reader *r) {
  do {
    if (!read_item(r)) return false;
  } while (accept(r, ','));
  return !r->text[r->at] || expected(r, "','");
}

// The items of a file; commas and new lines may be many, and may be missing at the end.
static bool read_lines(reader *r, uint32_t size) {
  for (;;) {
    while (accept(r, ',')) {
    }
    if (r->at == size) return true;
    if (!read_item(r)) return false;
    skip_within(r, false);
    char next = r->text[r->at];
    if (r->at < size && next != ',' && next != '\n')
      return expected(r, "',' or a new line");
  }
}

static bool parse(tvms_context *context, tvms_source *source, bool is_file,
                  tvms_pipeline *pipeline) {
  tvms_source *outer = context->diags.source;
  context->diags.source = source;
  uint32_t errors = context->diags.errors;
  step_list steps = {0};
  *pipeline = (tvms_pipeline){.source = source};
  tvms_arena_init(&pipeline->arena, &context->memory);
  reader r = {.context = context,
              .text = source->text,
              .lines = is_file,
              .arena = &pipeline->arena,
              .steps = &steps};
  bool fine = is_file ? read_lines(&r, source->size) : read_list(&r);
  context->diags.source = outer;
  pipeline->steps = steps.items;
  pipeline->count = steps.len;
  return fine && context->diags.errors == errors;
}

bool tvms_pipeline_parse(tvms_context *context, const char *name, const char *text,
                         tvms_pipeline *pipeline) {
  tvms_source *source = tvms_source_create(&context->memory, name, text, strlen(text));
  return parse(context, source, false, pipeline);
}

bool tvms_pipeline_parse_file(tvms_context *context, tvms_source *source,
                              tvms_pipeline *pipeline) {
  return parse(context, source, true, pipeline);
}

// Options that have their initial value are not written. Lists and maps take both kinds of
// quotes; those that are written here may stand inside of single ones.
void tvms_pipeline_write_step(const tvms_pass_step *step, tvms_strbuf *out) {
  uint32_t count;
  const tvms_pass_option *options = options_of(step->pass, &count);
  const char *before = "{";
  tvms_strbuf_puts(out, step->pass->name);
  for (uint32_t i = 0; i < count; i++) {
    const char *text = step->values[i].text;
    if (strcmp(text, options[i].initial) == 0) continue;
    tvms_strbuf_printf(out, "%s%s=", before, options[i].name);
    before = ",";
    for (; *text; text++)
      tvms_strbuf_putc(out, (char)(*text == '\'' ? '"' : *text == '\n' ? ' ' : *text));
  }
  if (*before == ',') tvms_strbuf_putc(out, '}');
}

static bool is_source_of_finding(const tvms_diags *diags, const tvms_source *source) {
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    if (diag->source == source) return true;
  }
  return false;
}

void tvms_pipeline_fini(tvms_context *context, tvms_pipeline *pipeline) {
  if (!is_source_of_finding(&context->diags, pipeline->source))
    tvms_source_destroy(&context->memory, pipeline->source);
  tvms_memory_free(&context->memory, pipeline->steps);
  tvms_arena_fini(&pipeline->arena);
}
