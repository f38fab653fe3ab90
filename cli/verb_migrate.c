// `tvms migrate --dialect D FILE...`: source text in the spelling of another release.
//
// The result is proved before it is written: read as D it must print as the program that
// was read prints in D.
#include "cli/edit.h"
#include "cli/files.h"
#include "cli/program.h"
#include "ir/equal.h"
#include "parser/migrate.h"
#include "parser/read.h"
#include "printer/print.h"

#include <string.h>

static void print_as(tvms_context *context, const tvms_program *program,
                     tvms_dialect dialect, tvms_strbuf *out) {
  tvms_print_options options = {.dialect = dialect};
  tvms_strbuf_init(out, &context->memory);
  tvms_print_program(program, &options, out);
}

static uint32_t line_length(const tvms_strbuf *text, size_t begin) {
  uint32_t len = 0;
  while (begin + len < text->len && text->text[begin + len] != '\n') {
    len++;
  }
  return len;
}

// Tells the first line in which the two texts differ, or why the result is refused.
static void report_difference(tvms_context *context, tvms_dialect to,
                              const tvms_strbuf *wanted, const tvms_strbuf *got,
                              const char *TVMS_NULLABLE refused) {
  size_t begin = 0, at = 0, shorter = wanted->len < got->len ? wanted->len : got->len;
  for (; at < shorter && wanted->text[at] == got->text[at]; at++) {
    if (wanted->text[at] == '\n') begin = at + 1;
  }
  tvms_diag *diag = tvms_report(&context->diags, TVMS_D_not_migrated, (tvms_span){0, 0},
                                tvms_dialect_text(to));
  if (refused) {
    tvms_diag_remark(&context->diags, diag, "TVM %s would say: %s",
                     tvms_dialect_text(to), refused);
    return;
  }
  tvms_diag_remark(&context->diags, diag, "it should mean: %.*s",
                   (int)line_length(wanted, begin), wanted->text + begin);
  tvms_diag_remark(&context->diags, diag, "but would mean: %.*s",
                   (int)line_length(got, begin), got->text + begin);
}

static bool same_module(tvms_context *context, const tvms_module *a,
                        const tvms_module *b) {
  if (a->member_count != b->member_count) return false;
  tvms_equal_options options = {.map_free = true};
  for (uint32_t i = 0; i < a->member_count; i++) {
    const tvms_member *other = tvms_module_find(b, a->members[i].name);
    if (!other || !other->function || !a->members[i].function) return false;
    if (!tvms_equal_with(context, a->members[i].function, other->function, &options)) {
      return false;
    }
  }
  return true;
}

static bool same_program(tvms_context *context, const tvms_program *a,
                         const tvms_program *b) {
  bool same = a->count == b->count;
  for (uint32_t i = 0; same && i < a->count; i++) {
    same = same_module(context, a->modules[i], b->modules[i]);
  }
  return same;
}

static tvms_program *read_as(tvms_context *context, tvms_dialect dialect,
                             const tvms_strbuf *text) {
  tvms_source *source =
      tvms_source_create(&context->memory, "<migrated>", text->text, text->len);
  tvms_read_options options = {.from = dialect, .dialect = dialect};
  return tvms_read(context, source, &options);
}

static const char *TVMS_NULLABLE first_error(const tvms_diags *diags) {
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    if (tvms_diag_row_of(diag->id)->severity == TVMS_SEVERITY_ERROR) return diag->text;
  }
  return NULL;
}

// Does the result, read as `to`, mean what the canonical text of the program means there?
// What may be wrong with either is not reported: their places are not the user's.
static bool is_proved(tvms_run *run, const tvms_program *program, tvms_dialect to) {
  tvms_context *context = run->context;
  tvms_strbuf wanted, got;
  print_as(context, program, to, &wanted);
  if (context->diags.errors) return false;
  tvms_diags kept = context->diags;
  tvms_diags_init(&context->diags, kept.arena);
  tvms_program *meant = read_as(context, to, &wanted);
  tvms_diags_init(&context->diags, kept.arena);
  tvms_program *again = read_as(context, to, &run->result);
  const char *refused = first_error(&context->diags);
  tvms_strbuf_init(&got, &context->memory);
  bool same = false;
  if (!refused) {
    print_as(context, again, to, &got);
    same = wanted.len == got.len
           && (!got.len || memcmp(wanted.text, got.text, got.len) == 0);
    same = same || same_program(context, meant, again);
  }
  context->diags = kept;
  if (!same) report_difference(context, to, &wanted, &got, refused);
  return same;
}

static tvms_status migrate_source(tvms_run *run, tvms_source *source) {
  tvms_context *context = run->context;
  tvms_program *program = tvms_load_program(run, source);
  if (context->diags.errors) return TVMS_OK;
  tvms_dialect to = tvms_written_dialect(run, program->dialect);
  tvms_surface surface;
  tvms_surface_parse(&surface, context, source);
  if (!tvms_migrate(&surface, program, to, &run->result)
      || !is_proved(run, program, to)) {
    tvms_strbuf_fini(&run->result);
  }
  return TVMS_OK;
}

tvms_status tvms_verb_migrate(tvms_run *run) {
  if (!run->options.dialect)
    return tvms_misused(run, "--dialect says which release to write");
  if (!tvms_check_dialects(run, true)) return TVMS_FAILED_IO;
  return tvms_each_file(run, migrate_source);
}
