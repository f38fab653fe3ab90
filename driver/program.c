// Reading and verifying: what everything that looks at a program begins with.
#include "driver/program.h"

#include "ir/verify.h"
#include "parser/read.h"
#include "printer/print.h"
#include "structinfo/well_formed_relax.h"
#include "structinfo/well_formed_tir.h"

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
  options.python = tvms_source_is_python(source);
  context->describe = describe_node;
  return tvms_reader_read(context, source, &options);
}

// Of Python files: what could not be read, because it uses names that only Python knows.
static void warn_unread(const tvms_module *module) {
  tvms_diags *diags = &module->context->diags;
  if (diags->errors || !tvms_source_is_python(diags->source)) return;
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    if (member->function) continue;
    tvms_diag_report(diags, TVMS_D_known_to_python, member->name_span,
                     tvms_symbol_text(module->context, member->name));
  }
}

tvms_program *tvms_program_load(tvms_context *context, tvms_source *source,
                                const tvms_load_options *options) {
  tvms_program *program = read_source(context, source, options, (tvms_read_options){0});
  for (uint32_t i = 0; i < program->count; i++) {
    if (!options->unverified) {
      tvms_module_verify(program->modules[i]);
      tvms_verify_expect(program->modules[i], "reading");
    }
    warn_unread(program->modules[i]);
  }
  return program;
}

typedef struct {
  const tvms_diags *diags;
  tvms_module_visit *TVMS_NULLABLE visit;
  void *self;
  uint32_t accepted;  // errors that `visit` reported
  uint32_t waiting;   // modules that were kept because something is wrong
} stream;

static bool is_wrong(const stream *s) {
  return s->diags->errors > s->accepted;
}

static bool show_module(stream *s, tvms_module *module) {
  uint32_t errors = s->diags->errors;
  warn_unread(module);
  bool needed = s->visit(s->self, module);
  s->accepted += s->diags->errors - errors;
  return needed;
}

static bool verify_and_show(void *self, tvms_module *module) {
  stream *s = self;
  tvms_module_verify(module);
  tvms_verify_expect(module, "reading");
  if (!s->visit) return false;
  bool waits = s->waiting || is_wrong(s);
  s->waiting += waits;
  return waits || show_module(s, module);
}

tvms_dialect tvms_program_load_each(tvms_context *context, tvms_source *source,
                                    const tvms_load_options *options,
                                    tvms_module_visit *visit, void *self) {
  stream s = {.diags = &context->diags, .visit = visit, .self = self};
  tvms_read_options reading = {.visit = verify_and_show, .self = &s};
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
