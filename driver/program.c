// Reading and verifying: what everything that looks at a program begins with.
#include "driver/program.h"

#include "ir/verify.h"
#include "lint/lint.h"
#include "parser/read.h"
#include "printer/print.h"
#include "structinfo/well_formed_relax.h"
#include "structinfo/well_formed_tir.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

// Messages speak the words of the text, but without TypeVars, which belong to a whole
// program.
static tvms_dialect dialect_of_messages(const tvms_context *context) {
  tvms_dialect dialect = tvms_release_written((tvms_dialect)context->spelling);
  return tvms_release_without(dialect, TVMS_FACT_dims_are_type_vars);
}

// Text of a node in messages: as it is printed, on one line.
static const char *describe_node(const void *of, const void *node) {
  const tvms_unit *unit = of;
  tvms_context *context = unit->context;
  tvms_strbuf text;
  tvms_strbuf_init(&text, &context->memory);
  tvms_print_node(context, unit, node, dialect_of_messages(context), &text);
  char *kept = tvms_arena_alloc(&context->arena, text.len + 1);
  for (size_t i = 0; i < text.len; i++) {
    kept[i] = text.text[i] == '\n' ? ' ' : text.text[i];
  }
  kept[text.len] = '\0';
  tvms_strbuf_fini(&text);
  return kept;
}

void tvms_module_verify(tvms_module *module) {
  (void)tvms_well_formed_check_tir(module);
  (void)tvms_well_formed_check_relax(module);
}

static tvms_program *read_source(tvms_context *context, tvms_source *source,
                                 const tvms_load_options *wanted,
                                 tvms_read_options options) {
  options.from = wanted->from;
  options.dialect = wanted->dialect;
  options.as_written = wanted->as_written;
  options.omitted = wanted->omitted;
  options.python = tvms_source_is_python(source);
  context->describe = describe_node;
  return tvms_reader_read(context, source, &options);
}

enum { LONGEST_NAME = 48 };

// What a member waits for, in quotes: the name as it stands in the text.
static const char *unknown_name(const tvms_module *module, const tvms_member *member) {
  const tvms_source *source = module->context->diags.source;
  tvms_span span = member->unknown;
  uint32_t len = span.end - span.begin;
  const char *text = span.end ? source->text + span.begin : "";
  bool plain = span.end && len <= LONGEST_NAME && !memchr(text, '\n', len);
  if (!plain) return "what it is built on";
  char *quoted = tvms_arena_alloc(&module->context->arena, len + 3);
  snprintf(quoted, len + 3, "'%.*s'", (int)len, text);
  return quoted;
}

static void tell_assumed(tvms_diags *diags, const tvms_member *member,
                         const char *name) {
  tvms_diag_id id =
      member->general ? TVMS_D_checked_for_any : TVMS_D_checked_with_assumptions;
  tvms_diag *diag =
      tvms_diag_report(diags, id, member->name_span, name, member->assumed);
  if (!member->unknown.end) return;
  tvms_diag_note(diags, diag, member->unknown, "only Python knows what this is");
}

// Of Python files: what could not be read, because it uses names that only Python knows.
// What it lacks is said as a warning where the definition will be missing from a result.
static void tell_unread(const tvms_module *module, tvms_diag_id id) {
  tvms_diags *diags = &module->context->diags;
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    if (!member->unread && !member->assumed) continue;
    const char *name = tvms_symbol_text(module->context, member->name);
    bool enough = member->general || id != TVMS_D_not_checked_whole;
    if (member->assumed && enough) {
      tell_assumed(diags, member, name);
      continue;
    }
    const char *what = unknown_name(module, member);
    tvms_diag *diag = tvms_diag_report(diags, id, member->name_span, name, what);
    if (!member->unknown.end) continue;
    tvms_diag_note(diags, diag, member->unknown, "only Python knows what this is");
  }
}

static void report_no_definition(const tvms_program *program, const char *wanted) {
  tvms_context *context = program->context;
  tvms_diags *diags = &context->diags;
  const char **names = tvms_arena_array(&context->arena, const char *, program->count);
  for (uint32_t i = 0; i < program->count; i++) {
    names[i] = tvms_symbol_text(context, program->modules[i]->name);
  }
  tvms_diag *diag =
      tvms_diag_report(diags, TVMS_D_no_such_definition, (tvms_span){0, 0}, wanted);
  const char *near = tvms_diag_nearest_name(wanted, names, program->count);
  if (near) tvms_diag_remark(diags, diag, "did you mean '%s'?", near);
  for (uint32_t i = 0; i < program->count && !near; i++) {
    const tvms_module *module = program->modules[i];
    tvms_span span = module->bare ? module->members[0].name_span : module->name_span;
    tvms_diag_note(diags, diag, span, "there is '%s'", names[i]);
  }
}

// Of several definitions of one name the last one stays, which is what Python knows by it.
static void keep_definition(tvms_program *program, const char *wanted) {
  tvms_module *kept = NULL;
  for (uint32_t i = program->count; i-- > 0 && !kept;) {
    tvms_module *module = program->modules[i];
    bool named = strcmp(tvms_symbol_text(program->context, module->name), wanted) == 0;
    if (named) kept = module;
  }
  if (!kept) report_no_definition(program, wanted);
  for (uint32_t i = 0; i < program->count; i++) {
    if (program->modules[i] != kept) tvms_module_destroy(program->modules[i]);
  }
  program->count = kept != NULL;
  if (kept) program->modules[0] = kept;
}

// How a definition is named that is not read whole. `shown`: it is to go into a result, and
// is missing there.
static tvms_diag_id id_of_unread(const tvms_load_options *options, bool shown) {
  if (options->strict) return TVMS_D_not_checked_whole;
  return shown ? TVMS_D_known_to_python : TVMS_D_checked_in_part;
}

static void count(tvms_load_counts *TVMS_NULLABLE counts, const tvms_module *module) {
  for (uint32_t i = 0; i < module->member_count && counts; i++) {
    const tvms_member *member = &module->members[i];
    bool named = member->function && member->function->kind == TVMS_NODE_EXTERN_FUNC;
    counts->definitions += !named;
    counts->in_part += member->unread;
    counts->assumed += member->assumed && !member->general;
    counts->general += member->assumed && member->general;
  }
}

static tvms_program *load(tvms_context *context, tvms_source *source,
                          const tvms_load_options *options, bool shown) {
  tvms_program *program = read_source(context, source, options, (tvms_read_options){0});
  if (options->definition) keep_definition(program, options->definition);
  for (uint32_t i = 0; i < program->count; i++) {
    if (!options->unverified) {
      tvms_module_verify(program->modules[i]);
      tvms_verify_expect(program->modules[i], "reading");
    }
    tell_unread(program->modules[i], id_of_unread(options, shown));
    count(options->counts, program->modules[i]);
  }
  return program;
}

tvms_program *tvms_program_load(tvms_context *context, tvms_source *source,
                                const tvms_load_options *options) {
  return load(context, source, options, true);
}

typedef struct {
  const tvms_load_options *options;
  tvms_lint lint;  // if the options say so
  const tvms_diags *diags;
  tvms_module_visit *TVMS_NULLABLE visit;
  void *self;
  uint32_t accepted;  // errors that `visit` reported
  uint32_t waiting;   // modules that were kept because something is wrong
} stream;

static bool is_wrong(const stream *s) {
  return s->diags->errors > s->accepted;
}

// Has it a function of which a part is missing? What is wrong there may be said of what follows.
static bool is_partial(const tvms_module *module) {
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    if (member->partial && !member->unread) return true;
  }
  return false;
}

static bool show_module(stream *s, tvms_module *module) {
  uint32_t errors = s->diags->errors;
  bool needed = s->visit(s->self, module);
  s->accepted += s->diags->errors - errors;
  return needed;
}

static bool verify_and_show(void *self, tvms_module *module) {
  stream *s = self;
  tvms_module_verify(module);
  tvms_verify_expect(module, "reading");
  tell_unread(module, id_of_unread(s->options, s->visit != NULL));
  count(s->options->counts, module);
  if (s->options->lints) tvms_lint_module(&s->lint, module);
  if (!s->visit) return false;
  bool waits = s->waiting || is_wrong(s) || is_partial(module);
  s->waiting += waits;
  return waits || show_module(s, module);
}

static void begin_lint(void *self, const tvms_surface *surface) {
  stream *s = self;
  tvms_lint_init(&s->lint, surface->context, surface);
}

static void end_lint(void *self) {
  stream *s = self;
  tvms_lint_file(&s->lint);
  tvms_lint_fini(&s->lint);
}

tvms_dialect tvms_program_load_each(tvms_context *context, tvms_source *source,
                                    const tvms_load_options *options,
                                    tvms_module_visit *visit, void *self) {
  if (options->definition) {
    const tvms_program *one = load(context, source, options, visit != NULL);
    if (visit && one->count && !context->diags.errors) visit(self, one->modules[0]);
    return one->dialect;
  }
  stream s = {
      .options = options, .diags = &context->diags, .visit = visit, .self = self};
  tvms_read_options reading = {.visit = verify_and_show, .assumes = !visit, .self = &s};
  if (options->lints) {
    reading.begin = begin_lint;
    reading.end = end_lint;
  }
  const tvms_program *program = read_source(context, source, options, reading);
  for (uint32_t i = program->count - s.waiting; i < program->count; i++) {
    if (is_wrong(&s)) break;
    (void)show_module(&s, program->modules[i]);
  }
  return program->dialect;
}

tvms_dialect tvms_dialect_to_write(tvms_dialect asked, tvms_dialect read) {
  if (asked != TVMS_DIALECT_NONE) return asked;
  return tvms_release_written(read);
}
