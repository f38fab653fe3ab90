// The document of a run and findings as JSON. Other formats: driver/report_*.c.
#include "driver/report.h"

#include "driver/render.h"
#include "driver/report_github.h"
#include "driver/report_sarif.h"

// ---- Findings as JSON ----

static void put_point(tvms_json *json, const char *key, tvms_place place,
                      uint32_t offset) {
  tvms_json_key(json, key);
  tvms_json_open(json, '{');
  tvms_json_put_int(json, "line", place.line);
  tvms_json_put_int(json, "column", place.column);
  tvms_json_put_int(json, "offset", offset);
  tvms_json_close(json, '}');
}

// The end is exclusive, as the span's.
static void put_range(tvms_json *json, const tvms_report_item *item,
                      tvms_source *source, tvms_span span) {
  tvms_json_key(json, "range");
  tvms_json_open(json, '{');
  put_point(json, "start", tvms_source_place(item->places, source, span.begin),
            span.begin);
  put_point(json, "end", tvms_source_place(item->places, source, span.end), span.end);
  tvms_json_close(json, '}');
}

static void put_notes(tvms_json *json, const tvms_report_item *item) {
  tvms_json_key(json, "notes");
  tvms_json_open(json, '[');
  for (const tvms_note *note = item->diag->notes; note; note = note->next) {
    tvms_source *source = tvms_report_item_source(item, note);
    tvms_json_open(json, '{');
    tvms_json_put_text(json, "message", note->text);
    if (note->placed) {
      tvms_json_put_text(json, "file", source->name);
      put_range(json, item, source, note->span);
    }
    tvms_json_close(json, '}');
  }
  tvms_json_close(json, ']');
}

static void put_fixes(tvms_json *json, const tvms_report_item *item) {
  tvms_json_key(json, "fixes");
  tvms_json_open(json, '[');
  for (const tvms_fix *fix = item->diag->fixes; fix; fix = fix->next) {
    tvms_json_open(json, '{');
    put_range(json, item, item->diag->source, fix->span);
    tvms_json_put_text(json, "text", fix->text);
    tvms_json_put_bool(json, "safe", fix->safe);
    tvms_json_close(json, '}');
  }
  tvms_json_close(json, ']');
}

static void put_finding(tvms_json *json, const tvms_report_item *item) {
  const tvms_diag *diag = item->diag;
  const tvms_diag_row *row = tvms_diag_row_of(diag->id);
  tvms_json_open(json, '{');
  if (item->file) tvms_json_put_text(json, "file", item->file);
  tvms_json_put_text(json, "code", tvms_diag_row_of(diag->id)->label);
  tvms_json_put_text(json, "name", row->name);
  tvms_json_put_text(json, "severity", tvms_render_severity_name(row->severity));
  tvms_json_put_text(json, "message", diag->text);
  if (tvms_report_item_is_placed(item)) put_range(json, item, diag->source, diag->span);
  put_notes(json, item);
  put_fixes(json, item);
  tvms_json_close(json, '}');
}

// ---- The document ----

static void begin_array(tvms_json *json, tvms_strbuf *text, tvms_memory *memory) {
  tvms_strbuf_init(text, memory);
  tvms_json_init(json, text);
  tvms_json_open(json, '[');
}

void tvms_report_begin(tvms_report_writer *w, tvms_memory *memory,
                       tvms_report_format format) {
  w->format = format;
  w->memory = memory;
  tvms_strbuf_init(&w->text, memory);
  begin_array(&w->results, &w->results_text, memory);
  begin_array(&w->findings, &w->findings_text, memory);
  begin_array(&w->notifications, &w->notifications_text, memory);
  w->used = tvms_memory_alloc(memory, tvms_diag_row_count() * sizeof *w->used);
}

static void add_item(tvms_report_writer *w, const tvms_report_item *item) {
  w->used[item->diag->id] = true;
  switch (w->format) {
  case TVMS_REPORT_JSON: put_finding(&w->findings, item); break;
  case TVMS_REPORT_SARIF: tvms_report_put_sarif(&w->findings, item); break;
  case TVMS_REPORT_GITHUB: tvms_report_put_github(&w->text, item); break;
  }
}

// Counting lines takes memory of the file, which may have a limit; it comes first, because
// half a finding would not be JSON.
static void count_lines(tvms_context *context) {
  for (const tvms_diag *diag = context->diags.first; diag; diag = diag->next) {
    (void)tvms_source_place(&context->memory, diag->source, 0);
    for (const tvms_note *note = diag->notes; note; note = note->next) {
      if (note->source) (void)tvms_source_place(&context->memory, note->source, 0);
    }
  }
}

void tvms_report_add(tvms_report_writer *w, tvms_context *context, bool errors_only) {
  count_lines(context);
  for (const tvms_diag *diag = context->diags.first; diag; diag = diag->next) {
    tvms_report_item item = {diag, diag->source->name, &context->memory};
    if (tvms_render_shows(diag, errors_only)) add_item(w, &item);
  }
}

void tvms_report_add_placeless(tvms_report_writer *w, tvms_diag_id id, const char *file,
                               const char *text, const char *remark) {
  tvms_note note = {.text = remark};
  tvms_diag diag = {.id = id, .text = text, .notes = remark ? &note : NULL};
  tvms_report_item item = {&diag, file, w->memory};
  add_item(w, &item);
}

void tvms_report_add_failure(tvms_report_writer *w, const char *file,
                             const char *text) {
  tvms_diag diag = {.id = TVMS_D_not_done, .text = text};
  tvms_report_item item = {&diag, file, w->memory};
  if (w->format == TVMS_REPORT_SARIF)
    tvms_report_put_sarif_notification(&w->notifications, &item);
  else
    add_item(w, &item);
}

void tvms_report_add_text(tvms_report_writer *w, const char *file, const char *text,
                          size_t len) {
  tvms_json *json = &w->results;
  tvms_json_open(json, '{');
  if (file) tvms_json_put_text(json, "file", file);
  tvms_json_key(json, "text");
  tvms_json_string(json, text, len);
  tvms_json_close(json, '}');
}

void tvms_report_add_object(tvms_report_writer *w, const char *object, size_t len) {
  tvms_json_value(&w->results, object, len);
}

static void write_json(tvms_report_writer *w, tvms_json *json, uint32_t errors,
                       uint32_t warnings) {
  tvms_json_open(json, '{');
  tvms_json_put_int(json, "version", 1);
  tvms_json_key(json, "results");
  tvms_json_value(json, w->results_text.text, w->results_text.len);
  tvms_json_key(json, "findings");
  tvms_json_value(json, w->findings_text.text, w->findings_text.len);
  tvms_json_put_int(json, "errors", errors);
  tvms_json_put_int(json, "warnings", warnings);
  tvms_json_close(json, '}');
}

void tvms_report_end(tvms_report_writer *w, uint32_t errors, uint32_t warnings,
                     int exit_status) {
  if (w->format == TVMS_REPORT_GITHUB) return;
  tvms_sarif_parts parts = {&w->findings_text, &w->notifications_text, &w->results_text,
                            w->used, exit_status};
  tvms_json json;
  tvms_json_init(&json, &w->text);
  tvms_json_close(&w->results, ']');
  tvms_json_close(&w->findings, ']');
  tvms_json_close(&w->notifications, ']');
  if (w->format == TVMS_REPORT_SARIF)
    tvms_report_write_sarif(&json, &parts);
  else
    write_json(w, &json, errors, warnings);
  tvms_strbuf_putc(&w->text, '\n');
}
