// Findings and the document of a run as JSON.
#include "driver/report_json.h"

#include "driver/render.h"
#include "driver/report_ops.h"

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

void tvms_report_put_json(tvms_json *json, const tvms_report_item *item) {
  const tvms_diag *diag = item->diag;
  const tvms_diag_row *row = tvms_diag_row_of(diag->id);
  tvms_json_open(json, '{');
  if (item->file) tvms_json_put_text(json, "file", item->file);
  tvms_json_put_text(json, "code", tvms_diag_row_of(diag->id)->label);
  tvms_json_put_text(json, "name", row->name);
  tvms_json_put_text(json, "severity", tvms_render_severity_name(diag->severity));
  tvms_json_put_text(json, "message", diag->text);
  if (diag->origin) tvms_json_put_text(json, "pass", diag->origin);
  if (diag->origin) tvms_json_put_text(json, "kind", diag->kind);
  if (tvms_report_item_is_placed(item)) put_range(json, item, diag->source, diag->span);
  put_notes(json, item);
  put_fixes(json, item);
  tvms_json_close(json, '}');
}

// ---- json ----

static void add(tvms_report_writer *w, const tvms_report_item *item, bool failure) {
  (void)failure;
  tvms_report_put_json(&w->findings, item);
}

static void end(tvms_report_writer *w, const tvms_report_totals *totals) {
  tvms_json json;
  tvms_json_init(&json, &w->text);
  tvms_json_open(&json, '{');
  tvms_json_put_int(&json, "version", 1);
  tvms_json_key(&json, "results");
  tvms_json_value(&json, w->results_text.text, w->results_text.len);
  tvms_json_key(&json, "findings");
  tvms_json_value(&json, w->findings_text.text, w->findings_text.len);
  tvms_json_put_int(&json, "errors", totals->errors);
  tvms_json_put_int(&json, "warnings", totals->warnings);
  tvms_json_close(&json, '}');
  tvms_strbuf_putc(&w->text, '\n');
}

const tvms_report_ops tvms_report_json = {
    .add = add, .add_result = tvms_report_put_result, .end = end};
