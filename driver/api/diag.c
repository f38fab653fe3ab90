// Diagnostics: the list of a context, and texts made of it.
#include "driver/api/api.h"
#include "driver/explain.h"
#include "driver/render.h"
#include "driver/report.h"
#include "support/edits.h"

#include <tvms/diag.h>

// ---- The list ----

const tvms_diag *tvms_diag_first(const tvms_context *context) {
  return context->diags.first;
}

const tvms_diag *tvms_diag_next(const tvms_diag *diag) {
  return diag->next;
}

uint32_t tvms_diag_count(const tvms_context *context, tvms_severity severity) {
  switch (severity) {
  case TVMS_SEVERITY_ERROR: return context->diags.errors;
  case TVMS_SEVERITY_WARNING: return context->diags.warnings;
  case TVMS_SEVERITY_NOTE: break;
  }
  return 0;
}

void tvms_diag_clear(tvms_context *context) {
  tvms_diags_init(&context->diags, &context->arena);
}

// ---- One diagnostic ----

const char *tvms_diag_code(const tvms_diag *diag) {
  return tvms_diag_row_of(diag->id)->label;
}

const char *tvms_diag_name(const tvms_diag *diag) {
  return tvms_diag_row_of(diag->id)->name;
}

tvms_severity tvms_diag_severity(const tvms_diag *diag) {
  return diag->severity;
}

const char *tvms_diag_message(const tvms_diag *diag) {
  return diag->text;
}

tvms_source *tvms_diag_source(const tvms_diag *diag) {
  return diag->source;
}

tvms_span tvms_diag_span(const tvms_diag *diag) {
  return diag->span;
}

const tvms_note *tvms_diag_notes(const tvms_diag *diag) {
  return diag->notes;
}

const tvms_note *tvms_note_next(const tvms_note *note) {
  return note->next;
}

const char *tvms_note_message(const tvms_note *note) {
  return note->text;
}

bool tvms_note_span(const tvms_note *note, tvms_span *span) {
  if (note->placed) *span = note->span;
  return note->placed;
}

tvms_source *tvms_note_source(const tvms_note *note) {
  return note->source;
}

const tvms_fix *tvms_diag_fixes(const tvms_diag *diag) {
  return diag->fixes;
}

const tvms_fix *tvms_fix_next(const tvms_fix *fix) {
  return fix->next;
}

tvms_span tvms_fix_span(const tvms_fix *fix) {
  return fix->span;
}

const char *tvms_fix_text(const tvms_fix *fix) {
  return fix->text;
}

bool tvms_fix_is_safe(const tvms_fix *fix) {
  return fix->safe;
}

// ---- Texts ----

// Work that makes a text of the list as it is before the call.
typedef struct {
  tvms_context *context;
  tvms_diags diags;
  const tvms_diag_render_options *options;
  tvms_source *source;
  const char *word;
  uint32_t mended;
  char *text;
  size_t size;
} writing;

// Lets the renderers see the earlier findings for a while: they look at context->diags.
static void render_machine(const writing *w, tvms_report_format format,
                           tvms_strbuf *out) {
  tvms_report_writer report;
  tvms_report_begin(&report, &w->context->memory, format);
  tvms_report_add(&report, w->context, w->options->errors_only);
  tvms_report_end(&report, w->diags.errors, w->diags.warnings,
                  w->diags.errors ? TVMS_FOUND_ERRORS : TVMS_OK);
  *out = report.text;
}

static tvms_status render(void *argument) {
  writing *w = argument;
  tvms_context *context = w->context;
  tvms_render_options options = {.color = w->options->color,
                                 .errors_only = w->options->errors_only};
  tvms_strbuf out;
  tvms_strbuf_init(&out, &context->memory);
  tvms_diags own = context->diags;
  context->diags = w->diags;
  switch (w->options->format) {
  case TVMS_FORMAT_TEXT: tvms_render_findings(context, &options, &out); break;
#define FORMAT(id, name, word, shape)                                                  \
  case TVMS_FORMAT_##id:                                                               \
    render_machine(w, TVMS_REPORT_##id, &out);                                         \
    break;
#include "driver/report_formats.def"
  }
  context->diags = own;
  tvms_api_give_text(&out, &w->text, &w->size);
  return TVMS_OK;
}

tvms_status tvms_diag_render(tvms_context *context,
                             const tvms_diag_render_options *options, char **text,
                             size_t *size) {
  tvms_diag_render_options own;
  *text = NULL;
  *size = 0;
  if (!tvms_api_take_options(options, &own, sizeof own))
    return tvms_api_bad_options(context);
  if ((unsigned)own.format > TVMS_FORMAT_JUNIT) {
    return tvms_api_fail(context, TVMS_BAD_ARGUMENT, "there is no format %u",
                         (unsigned)own.format);
  }
  writing w = {.context = context, .diags = context->diags, .options = &own};
  tvms_status status = tvms_api_call(context, render, &w);
  if (status != TVMS_OK) return status;
  *text = w.text;
  *size = w.size;
  return TVMS_OK;
}

static tvms_status apply_fixes(void *argument) {
  writing *w = argument;
  tvms_strbuf out;
  tvms_strbuf_init(&out, &w->context->memory);
  tvms_edits edits;
  tvms_edits_init(&edits, &w->context->memory, w->source);
  w->mended = tvms_edits_add_fixes(&edits, &w->diags, false);
  tvms_edits_apply(&edits, &out);
  tvms_edits_fini(&edits);
  tvms_api_give_text(&out, &w->text, &w->size);
  return TVMS_OK;
}

tvms_status tvms_diag_apply_fixes(tvms_context *context, tvms_source *source,
                                  char **text, size_t *size, uint32_t *mended) {
  writing w = {.context = context, .diags = context->diags, .source = source};
  tvms_status status = tvms_api_check_source(context, source);
  if (status == TVMS_OK) status = tvms_api_call(context, apply_fixes, &w);
  bool good = status == TVMS_OK;
  *text = good ? w.text : NULL;
  *size = good ? w.size : 0;
  *mended = good ? w.mended : 0;
  return status;
}

static tvms_status explain(void *argument) {
  writing *w = argument;
  tvms_memory *memory = &w->context->memory;
  tvms_strbuf out, near;
  tvms_strbuf_init(&out, memory);
  tvms_strbuf_init(&near, memory);
  bool known = tvms_explain(memory, w->word, &out, &near);
  if (!known) {
    (void)tvms_api_fail(w->context, TVMS_BAD_ARGUMENT,
                        near.len ? "there is no '%s'; did you mean '%s'?"
                                 : "there is no '%s'",
                        w->word, tvms_strbuf_text(&near));
  }
  tvms_strbuf_fini(&near);
  if (known)
    tvms_api_give_text(&out, &w->text, &w->size);
  else
    tvms_strbuf_fini(&out);
  return known ? TVMS_OK : TVMS_BAD_ARGUMENT;
}

tvms_status tvms_diag_explain(tvms_context *context, const char *word, char **text,
                              size_t *size) {
  writing w = {.context = context, .word = word};
  tvms_status status = tvms_api_call(context, explain, &w);
  bool good = status == TVMS_OK;
  *text = good ? w.text : NULL;
  *size = good ? w.size : 0;
  return status;
}
