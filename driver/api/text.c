// Printing, formatting and migrating.
#include "driver/api/api.h"
#include "driver/format.h"
#include "driver/migrate.h"
#include "driver/program.h"
#include "parser/read.h"
#include "printer/print.h"

#include <tvms/text.h>

typedef struct {
  tvms_context *context;
  tvms_program *program;
  tvms_source *source;
  const tvms_program_print_options *print;
  const tvms_source_migrate_options *migrate;
  char *text;
  size_t size;
} writing;

static tvms_status finish(const writing *w, tvms_status status, char **text,
                          size_t *size) {
  *text = status == TVMS_OK ? w->text : NULL;
  *size = status == TVMS_OK ? w->size : 0;
  return status;
}

static tvms_status print(void *argument) {
  writing *w = argument;
  tvms_print_options options = {.no_metadata = w->print->no_metadata};
  if (!tvms_api_find_written(w->context, w->print->release, w->program->dialect,
                             &options.dialect)) {
    return TVMS_BAD_ARGUMENT;
  }
  w->context->diags.source = w->program->source;
  tvms_strbuf out;
  tvms_strbuf_init(&out, &w->context->memory);
  tvms_print_program(w->program, &options, &out);
  if (w->context->diags.errors)
    tvms_strbuf_fini(&out);
  else
    tvms_api_give_text(&out, &w->text, &w->size);
  return TVMS_OK;
}

tvms_status tvms_program_print(tvms_program *program,
                               const tvms_program_print_options *options, char **text,
                               size_t *size) {
  tvms_program_print_options own;
  writing w = {.program = program, .print = &own};
  tvms_status status = tvms_api_check_program(program);
  if (status != TVMS_OK) return finish(&w, status, text, size);
  tvms_context *context = w.context = program->context;
  if (!tvms_api_take_options(options, &own, sizeof own))
    return finish(&w, tvms_api_bad_options(context), text, size);
  return finish(&w, tvms_api_call(context, print, &w), text, size);
}

static tvms_status format(void *argument) {
  writing *w = argument;
  tvms_strbuf out;
  tvms_strbuf_init(&out, &w->context->memory);
  w->context->diags.source = w->source;
  tvms_status status =
      tvms_format_source(w->context, w->source, (tvms_format_options){0}, &out);
  if (status == TVMS_OK)
    tvms_api_give_text(&out, &w->text, &w->size);
  else
    tvms_strbuf_fini(&out);
  if (status == TVMS_INTERNAL)
    (void)tvms_api_fail(w->context, status, "formatting would change the meaning");
  return status;
}

tvms_status tvms_source_format(tvms_context *context, tvms_source *source, char **text,
                               size_t *size) {
  writing w = {.context = context, .source = source};
  tvms_status known = tvms_api_check_source(context, source);
  if (known != TVMS_OK) return finish(&w, known, text, size);
  return finish(&w, tvms_api_call(context, format, &w), text, size);
}

static tvms_status migrate(void *argument) {
  writing *w = argument;
  tvms_context *context = w->context;
  tvms_dialect to;
  tvms_load_options load = {.dialect = TVMS_DIALECT_NONE};
  if (!tvms_api_find_release(context, w->migrate->from, &load.from)
      || !tvms_api_find_written(context, w->migrate->to, TVMS_DIALECT_CURRENT, &to)) {
    return TVMS_BAD_ARGUMENT;
  }
  load.dialect = to;
  tvms_program *program = tvms_program_load(context, w->source, &load);
  tvms_strbuf out;
  tvms_strbuf_init(&out, &context->memory);
  if (!context->diags.errors && tvms_migrate_source(w->source, program, to, &out))
    tvms_api_give_text(&out, &w->text, &w->size);
  else
    tvms_strbuf_fini(&out);
  tvms_reader_program_destroy(program);
  return context->diags.errors ? TVMS_FOUND_ERRORS : TVMS_OK;
}

tvms_status tvms_source_migrate(tvms_context *context, tvms_source *source,
                                const tvms_source_migrate_options *options, char **text,
                                size_t *size) {
  tvms_source_migrate_options own;
  writing w = {.context = context, .source = source, .migrate = &own};
  tvms_status known = tvms_api_check_source(context, source);
  if (known != TVMS_OK) return finish(&w, known, text, size);
  if (!tvms_api_take_options(options, &own, sizeof own))
    return finish(&w, tvms_api_bad_options(context), text, size);
  return finish(&w, tvms_api_call(context, migrate, &w), text, size);
}
