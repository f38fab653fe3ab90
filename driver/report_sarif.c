// SARIF 2.1.0: one log with one run.
//
// A finding is a result, with its rule among those of the tool; rules that no result names
// are left out. What kept tvms from its work (a file that cannot be read) is no result but
// a notification of the invocation. What a verb gives beside findings has no place in the
// format and stands in the property bag of the run. Names of files become URI references.
#include "driver/render.h"
#include "driver/report_ops.h"

#include <ctype.h>

static void put_message(tvms_json *json, const char *key, const char *text) {
  tvms_json_key(json, key);
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "text", text);
  tvms_json_close(json, '}');
}

// A message holds the notes that have no place of their own, one a line.
static void put_message_of(tvms_json *json, const tvms_diag *diag) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, json->out->memory);
  tvms_strbuf_puts(&text, diag->text);
  for (const tvms_note *note = diag->notes; note; note = note->next) {
    if (!note->placed) tvms_strbuf_printf(&text, "\n%s", note->text);
  }
  put_message(json, "message", tvms_strbuf_text(&text));
  tvms_strbuf_fini(&text);
}

// RFC 3986: what may not stand in a path is escaped, and ':' too, which would make a scheme
// of what comes before it.
static void put_artifact(tvms_json *json, const char *file) {
  static const char plain[] = "/-._~!$&'()*+,;=@";
  tvms_strbuf uri;
  tvms_strbuf_init(&uri, json->out->memory);
  for (const char *at = tvms_report_item_path(file); *at; at++) {
    unsigned char c = (unsigned char)*at;
    if (c < 0x80 && (isalnum(c) || strchr(plain, c)))
      tvms_strbuf_putc(&uri, *at);
    else
      tvms_strbuf_printf(&uri, "%%%02X", c);
  }
  tvms_json_key(json, "artifactLocation");
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "uri", tvms_strbuf_text(&uri));
  tvms_json_close(json, '}');
  tvms_strbuf_fini(&uri);
}

static void put_region(tvms_json *json, const tvms_report_item *item, const char *key,
                       tvms_source *source, tvms_span span) {
  tvms_place begin = tvms_source_place(item->places, source, span.begin);
  tvms_place end = tvms_source_place(item->places, source, span.end);
  tvms_json_key(json, key);
  tvms_json_open(json, '{');
  tvms_json_put_int(json, "startLine", begin.line);
  tvms_json_put_int(json, "startColumn", begin.column);
  tvms_json_put_int(json, "endLine", end.line);
  tvms_json_put_int(json, "endColumn", end.column);
  tvms_json_close(json, '}');
}

// A location object; `source` NULL: the file as a whole; `message` NULL: none.
static void put_location(tvms_json *json, const tvms_report_item *item,
                         const char *file, tvms_source *TVMS_NULLABLE source,
                         tvms_span span, const char *TVMS_NULLABLE message) {
  tvms_json_open(json, '{');
  tvms_json_key(json, "physicalLocation");
  tvms_json_open(json, '{');
  put_artifact(json, file);
  if (source) put_region(json, item, "region", source, span);
  tvms_json_close(json, '}');
  if (message) put_message(json, "message", message);
  tvms_json_close(json, '}');
}

// Where the finding is, unless it stands for the run.
static void put_locations(tvms_json *json, const tvms_report_item *item) {
  if (!item->file) return;
  tvms_json_key(json, "locations");
  tvms_json_open(json, '[');
  put_location(json, item, item->file, item->diag->source, item->diag->span, NULL);
  tvms_json_close(json, ']');
}

static void put_related(tvms_json *json, const tvms_report_item *item) {
  tvms_json_key(json, "relatedLocations");
  tvms_json_open(json, '[');
  for (const tvms_note *note = item->diag->notes; note; note = note->next) {
    tvms_source *source = tvms_report_item_source(item, note);
    if (note->placed)
      put_location(json, item, source->name, source, note->span, note->text);
  }
  tvms_json_close(json, ']');
}

// All fixes of one diagnostic together mend it: one SARIF fix.
static void put_fix(tvms_json *json, const tvms_report_item *item) {
  if (!item->diag->fixes) return;
  tvms_json_key(json, "fixes");
  tvms_json_open(json, '[');
  tvms_json_open(json, '{');
  tvms_json_key(json, "artifactChanges");
  tvms_json_open(json, '[');
  tvms_json_open(json, '{');
  put_artifact(json, item->file);
  tvms_json_key(json, "replacements");
  tvms_json_open(json, '[');
  for (const tvms_fix *fix = item->diag->fixes; fix; fix = fix->next) {
    tvms_json_open(json, '{');
    put_region(json, item, "deletedRegion", item->diag->source, fix->span);
    put_message(json, "insertedContent", fix->text);
    tvms_json_close(json, '}');
  }
  tvms_json_close(json, ']');
  tvms_json_close(json, '}');
  tvms_json_close(json, ']');
  tvms_json_close(json, '}');
  tvms_json_close(json, ']');
}

// A remark of a pass: whose, and what it is.
static void put_properties(tvms_json *json, const tvms_diag *diag) {
  if (!diag->origin) return;
  tvms_json_key(json, "properties");
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "pass", diag->origin);
  tvms_json_put_text(json, "kind", diag->kind);
  tvms_json_close(json, '}');
}

static void put_result(tvms_json *json, const tvms_report_item *item) {
  const tvms_diag *diag = item->diag;
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "ruleId", tvms_diag_row_of(diag->id)->label);
  tvms_json_put_text(json, "level", tvms_render_severity_name(diag->severity));
  put_message_of(json, diag);
  put_locations(json, item);
  put_related(json, item);
  put_fix(json, item);
  put_properties(json, diag);
  tvms_json_close(json, '}');
}

static void put_notification(tvms_json *json, const tvms_report_item *item) {
  tvms_json_open(json, '{');
  tvms_json_key(json, "descriptor");
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "id", tvms_diag_row_of(item->diag->id)->label);
  tvms_json_close(json, '}');
  tvms_json_put_text(json, "level", "error");
  put_message_of(json, item->diag);
  put_locations(json, item);
  tvms_json_close(json, '}');
}

// The diagnostics that results name, with what `tvms explain` says of them.
static void put_rules(tvms_json *json, const bool *used) {
  tvms_json_key(json, "rules");
  tvms_json_open(json, '[');
  for (uint32_t i = 0; i < tvms_diag_row_count(); i++) {
    if (!used[i]) continue;
    const tvms_diag_row *row = tvms_diag_row_of((tvms_diag_id)i);
    tvms_json_open(json, '{');
    tvms_json_put_text(json, "id", row->label);
    tvms_json_put_text(json, "name", row->name);
    put_message(json, "fullDescription", row->explanation);
    tvms_json_close(json, '}');
  }
  tvms_json_close(json, ']');
}

static void put_tool(tvms_json *json, const bool *used) {
  tvms_json_key(json, "tool");
  tvms_json_open(json, '{');
  tvms_json_key(json, "driver");
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "name", "tvms");
  tvms_json_put_text(json, "version", TVMS_VERSION);
  put_rules(json, used);
  tvms_json_close(json, '}');
  tvms_json_close(json, '}');
}

static void put_part(tvms_json *json, const char *key, const tvms_strbuf *text) {
  tvms_json_key(json, key);
  tvms_json_value(json, text->text, text->len);
}

static void put_invocation(tvms_json *json, const tvms_report_writer *w,
                           int exit_status) {
  tvms_json_key(json, "invocations");
  tvms_json_open(json, '[');
  tvms_json_open(json, '{');
  tvms_json_put_bool(json, "executionSuccessful", exit_status <= 1);
  tvms_json_put_int(json, "exitCode", exit_status);
  put_part(json, "toolExecutionNotifications", &w->notifications_text);
  tvms_json_close(json, '}');
  tvms_json_close(json, ']');
}

static void add(tvms_report_writer *w, const tvms_report_item *item, bool failure) {
  if (failure)
    put_notification(&w->notifications, item);
  else
    put_result(&w->findings, item);
}

static void end(tvms_report_writer *w, const tvms_report_totals *totals) {
  tvms_json json;
  tvms_json_init(&json, &w->text);
  tvms_json_open(&json, '{');
  tvms_json_put_text(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  tvms_json_put_text(&json, "version", "2.1.0");
  tvms_json_key(&json, "runs");
  tvms_json_open(&json, '[');
  tvms_json_open(&json, '{');
  put_tool(&json, w->used);
  put_invocation(&json, w, totals->exit_status);
  tvms_json_put_text(&json, "columnKind", "unicodeCodePoints");
  put_part(&json, "results", &w->findings_text);
  tvms_json_key(&json, "properties");
  tvms_json_open(&json, '{');
  put_part(&json, "results", &w->results_text);
  tvms_json_close(&json, '}');
  tvms_json_close(&json, '}');
  tvms_json_close(&json, ']');
  tvms_json_close(&json, '}');
  tvms_strbuf_putc(&w->text, '\n');
}

const tvms_report_ops tvms_report_sarif = {
    .add = add, .add_result = tvms_report_put_result, .end = end};
