// The report of a run: what every format does alike. The formats are driver/report_*.c.
#include "driver/report.h"

#include "driver/render.h"
#include "driver/report_ops.h"
#include "support/diag_ids.h"

static const struct {
  const char *word;
  const tvms_report_ops *ops;
  enum { LINES, DOCUMENT, OBJECTS } shape;
} formats[] = {
#define FORMAT(id, name, word, shape)                                                  \
  [TVMS_REPORT_##id] = {word, &tvms_report_##name, shape},
#include "driver/report_formats.def"
};

static const tvms_report_ops *ops_of(const tvms_report_writer *w) {
  return formats[w->format].ops;
}

bool tvms_report_find(const char *word, tvms_report_format *format) {
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    if (strcmp(formats[i].word, word) != 0) continue;
    *format = (tvms_report_format)i;
    return true;
  }
  return false;
}

bool tvms_report_is_document(const tvms_report_writer *w) {
  return formats[w->format].shape != LINES;
}

bool tvms_report_takes_objects(const tvms_report_writer *w) {
  return formats[w->format].shape == OBJECTS;
}

static void begin_array(tvms_json *json, tvms_strbuf *text, tvms_memory *memory) {
  tvms_strbuf_init(text, memory);
  tvms_json_init(json, text);
  tvms_json_open(json, '[');
}

void tvms_report_begin(tvms_report_writer *w, tvms_memory *memory,
                       tvms_report_format format) {
  *w = (tvms_report_writer){.format = format, .memory = memory};
  tvms_strbuf_init(&w->text, memory);
  begin_array(&w->results, &w->results_text, memory);
  begin_array(&w->findings, &w->findings_text, memory);
  begin_array(&w->notifications, &w->notifications_text, memory);
  w->used = tvms_memory_alloc(memory, tvms_diag_row_count() * sizeof *w->used);
}

static void add_item(tvms_report_writer *w, const tvms_report_item *item,
                     bool failure) {
  if (!failure) w->used[item->diag->id] = true;
  ops_of(w)->add(w, item, failure);
}

// Counting lines takes memory of the file, which may have a limit; it comes first, because
// half a finding would be no document.
static void count_lines(tvms_context *context) {
  for (const tvms_diag *diag = context->diags.first; diag; diag = diag->next) {
    (void)tvms_source_place(&context->memory, diag->source, 0);
    for (const tvms_note *note = diag->notes; note; note = note->next) {
      if (note->source) (void)tvms_source_place(&context->memory, note->source, 0);
    }
  }
}

void tvms_report_add_time(tvms_report_writer *w, const char *file, double seconds) {
  if (ops_of(w)->add_file) ops_of(w)->add_file(w, file, seconds);
}

void tvms_report_add(tvms_report_writer *w, tvms_context *context, bool errors_only) {
  count_lines(context);
  if (context->diags.source) tvms_report_add_time(w, context->diags.source->name, -1);
  for (const tvms_diag *diag = context->diags.first; diag; diag = diag->next) {
    tvms_report_item item = {diag, diag->source->name, &context->memory};
    if (tvms_render_shows(diag, errors_only)) add_item(w, &item, false);
  }
}

void tvms_report_add_placeless(tvms_report_writer *w, tvms_diag_id id, const char *file,
                               const char *text, const char *remark) {
  tvms_note note = {.text = remark};
  tvms_diag diag = {.id = id,
                    .severity = tvms_diag_row_of(id)->severity,
                    .text = text,
                    .notes = remark ? &note : NULL};
  tvms_report_item item = {&diag, file, w->memory};
  add_item(w, &item, false);
}

void tvms_report_add_failure(tvms_report_writer *w, const char *file,
                             const char *text) {
  tvms_diag diag = {.id = TVMS_D_not_done, .text = text};
  tvms_report_item item = {&diag, file, w->memory};
  add_item(w, &item, true);
}

void tvms_report_add_text(tvms_report_writer *w, const char *file, const char *text,
                          size_t len) {
  if (ops_of(w)->add_result) ops_of(w)->add_result(w, file, text, len, false);
}

void tvms_report_add_object(tvms_report_writer *w, const char *object, size_t len) {
  if (tvms_report_takes_objects(w)) ops_of(w)->add_result(w, NULL, object, len, true);
}

void tvms_report_put_result(tvms_report_writer *w, const char *file, const char *text,
                            size_t len, bool object) {
  tvms_report_put_result_to(&w->results, file, text, len, object);
}

void tvms_report_put_result_to(tvms_json *json, const char *file, const char *text,
                               size_t len, bool object) {
  if (object) {
    tvms_json_value(json, text, len);
    return;
  }
  tvms_json_open(json, '{');
  if (file) tvms_json_put_text(json, "file", file);
  tvms_json_key(json, "text");
  tvms_json_string(json, text, len);
  tvms_json_close(json, '}');
}

void tvms_report_end(tvms_report_writer *w, uint32_t errors, uint32_t warnings,
                     int exit_status) {
  tvms_report_totals totals = {errors, warnings, exit_status};
  tvms_json_close(&w->results, ']');
  tvms_json_close(&w->findings, ']');
  tvms_json_close(&w->notifications, ']');
  if (ops_of(w)->end) ops_of(w)->end(w, &totals);
}
