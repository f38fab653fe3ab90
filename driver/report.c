// Findings for machines, of one file or of many, as one document:
//
//   json    { "version", "findings": [...], "errors", "warnings" }
//   github  workflow commands, one line each: ::error file=...,line=...::text
//   sarif   SARIF 2.1.0
#include "driver/report.h"

#include "driver/render.h"

static tvms_place place_of(const tvms_report_writer *w, const tvms_diag *diag,
                           uint32_t offset) {
  return tvms_source_place(w->places, diag->source, offset);
}

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
static void put_range(tvms_report_writer *w, const tvms_diag *diag, tvms_span span) {
  tvms_json *json = &w->json;
  tvms_json_key(json, "range");
  tvms_json_open(json, '{');
  put_point(json, "start", place_of(w, diag, span.begin), span.begin);
  put_point(json, "end", place_of(w, diag, span.end), span.end);
  tvms_json_close(json, '}');
}

static void put_notes(tvms_report_writer *w, const tvms_diag *diag) {
  tvms_json *json = &w->json;
  tvms_json_key(json, "notes");
  tvms_json_open(json, '[');
  for (const tvms_note *note = diag->notes; note; note = note->next) {
    tvms_json_open(json, '{');
    tvms_json_put_text(json, "message", note->text);
    if (note->placed) put_range(w, diag, note->span);
    tvms_json_close(json, '}');
  }
  tvms_json_close(json, ']');
}

static void put_fixes(tvms_report_writer *w, const tvms_diag *diag) {
  tvms_json *json = &w->json;
  tvms_json_key(json, "fixes");
  tvms_json_open(json, '[');
  for (const tvms_fix *fix = diag->fixes; fix; fix = fix->next) {
    tvms_json_open(json, '{');
    put_range(w, diag, fix->span);
    tvms_json_put_text(json, "text", fix->text);
    tvms_json_put_bool(json, "safe", fix->safe);
    tvms_json_close(json, '}');
  }
  tvms_json_close(json, ']');
}

static void add_json(tvms_report_writer *w, const tvms_diag *diag) {
  tvms_json *json = &w->json;
  const tvms_diag_row *row = tvms_diag_row_of(diag->id);
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "file", diag->source->name);
  tvms_json_put_text(json, "code", tvms_render_code_of(diag->id).text);
  tvms_json_put_text(json, "name", row->name);
  tvms_json_put_text(json, "severity", tvms_render_severity_name(row->severity));
  tvms_json_put_text(json, "message", diag->text);
  put_range(w, diag, diag->span);
  put_notes(w, diag);
  put_fixes(w, diag);
  tvms_json_close(json, '}');
}

static void put_region(tvms_report_writer *w, const tvms_diag *diag, const char *key,
                       tvms_span span) {
  tvms_json *json = &w->json;
  tvms_place begin = place_of(w, diag, span.begin), end = place_of(w, diag, span.end);
  tvms_json_key(json, key);
  tvms_json_open(json, '{');
  tvms_json_put_int(json, "startLine", begin.line);
  tvms_json_put_int(json, "startColumn", begin.column);
  tvms_json_put_int(json, "endLine", end.line);
  tvms_json_put_int(json, "endColumn", end.column);
  tvms_json_close(json, '}');
}

static void put_message(tvms_json *json, const char *text) {
  tvms_json_key(json, "message");
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "text", text);
  tvms_json_close(json, '}');
}

static void put_artifact(tvms_json *json, const char *name) {
  tvms_json_key(json, "artifactLocation");
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "uri", name);
  tvms_json_close(json, '}');
}

// A location object; `message` NULL: none.
static void put_location(tvms_report_writer *w, const tvms_diag *diag, tvms_span span,
                         const char *TVMS_NULLABLE message) {
  tvms_json *json = &w->json;
  tvms_json_open(json, '{');
  tvms_json_key(json, "physicalLocation");
  tvms_json_open(json, '{');
  put_artifact(json, diag->source->name);
  put_region(w, diag, "region", span);
  tvms_json_close(json, '}');
  if (message) put_message(json, message);
  tvms_json_close(json, '}');
}

static void put_related(tvms_report_writer *w, const tvms_diag *diag) {
  tvms_json *json = &w->json;
  tvms_json_key(json, "relatedLocations");
  tvms_json_open(json, '[');
  for (const tvms_note *note = diag->notes; note; note = note->next) {
    if (note->placed) put_location(w, diag, note->span, note->text);
  }
  tvms_json_close(json, ']');
}

// All fixes of one diagnostic together mend it: one SARIF fix.
static void put_sarif_fix(tvms_report_writer *w, const tvms_diag *diag) {
  tvms_json *json = &w->json;
  if (!diag->fixes) return;
  tvms_json_key(json, "fixes");
  tvms_json_open(json, '[');
  tvms_json_open(json, '{');
  tvms_json_key(json, "artifactChanges");
  tvms_json_open(json, '[');
  tvms_json_open(json, '{');
  put_artifact(json, diag->source->name);
  tvms_json_key(json, "replacements");
  tvms_json_open(json, '[');
  for (const tvms_fix *fix = diag->fixes; fix; fix = fix->next) {
    tvms_json_open(json, '{');
    put_region(w, diag, "deletedRegion", fix->span);
    tvms_json_key(json, "insertedContent");
    tvms_json_open(json, '{');
    tvms_json_put_text(json, "text", fix->text);
    tvms_json_close(json, '}');
    tvms_json_close(json, '}');
  }
  tvms_json_close(json, ']');
  tvms_json_close(json, '}');
  tvms_json_close(json, ']');
  tvms_json_close(json, '}');
  tvms_json_close(json, ']');
}

static void add_sarif(tvms_report_writer *w, const tvms_diag *diag) {
  tvms_json *json = &w->json;
  const tvms_diag_row *row = tvms_diag_row_of(diag->id);
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "ruleId", tvms_render_code_of(diag->id).text);
  tvms_json_put_text(json, "level", tvms_render_severity_name(row->severity));
  put_message(json, diag->text);
  tvms_json_key(json, "locations");
  tvms_json_open(json, '[');
  put_location(w, diag, diag->span, NULL);
  tvms_json_close(json, ']');
  put_related(w, diag);
  put_sarif_fix(w, diag);
  tvms_json_close(json, '}');
}

// Escapes of workflow commands: data, and in properties also ':' and ','.
static void add_command_text(tvms_strbuf *out, const char *text, bool property) {
  for (; *text; text++) {
    bool special = *text == '%' || *text == '\r' || *text == '\n'
                   || (property && (*text == ':' || *text == ','));
    if (special)
      tvms_strbuf_printf(out, "%%%02X", (unsigned char)*text);
    else
      tvms_strbuf_putc(out, *text);
  }
}

static void add_github(tvms_report_writer *w, const tvms_diag *diag) {
  static const char *const commands[] = {
      [TVMS_SEVERITY_ERROR] = "error",
      [TVMS_SEVERITY_WARNING] = "warning",
      [TVMS_SEVERITY_NOTE] = "notice",
  };
  tvms_strbuf *out = &w->text;
  tvms_place begin = place_of(w, diag, diag->span.begin);
  tvms_place end = place_of(w, diag, diag->span.end);
  tvms_strbuf_printf(out, "::%s file=", commands[tvms_diag_row_of(diag->id)->severity]);
  add_command_text(out, diag->source->name, true);
  tvms_strbuf_printf(out, ",line=%u,endLine=%u", begin.line, end.line);
  if (begin.line == end.line) {
    tvms_strbuf_printf(out, ",col=%u,endColumn=%u", begin.column, end.column);
  }
  tvms_strbuf_printf(out, ",title=%s::", tvms_render_code_of(diag->id).text);
  add_command_text(out, diag->text, false);
  for (const tvms_note *note = diag->notes; note; note = note->next) {
    tvms_strbuf_puts(out, "%0A");
    if (note->placed) {
      tvms_strbuf_printf(out, "line %u: ", place_of(w, diag, note->span.begin).line);
    }
    add_command_text(out, note->text, false);
  }
  tvms_strbuf_putc(out, '\n');
}

static void add_finding(tvms_report_writer *w, const tvms_diag *diag) {
  switch (w->format) {
  case TVMS_REPORT_JSON: add_json(w, diag); break;
  case TVMS_REPORT_SARIF: add_sarif(w, diag); break;
  case TVMS_REPORT_GITHUB: add_github(w, diag); break;
  }
}

void tvms_report_add(tvms_report_writer *w, tvms_context *context, bool errors_only) {
  w->places = &context->memory;
  for (const tvms_diag *diag = context->diags.first; diag; diag = diag->next) {
    if (tvms_render_shows(diag, errors_only)) add_finding(w, diag);
  }
}

// Every diagnostic that a result may name, with what `tvms explain` says of it.
static void put_sarif_rules(tvms_json *json) {
  tvms_json_key(json, "rules");
  tvms_json_open(json, '[');
  for (uint32_t i = 0; i < tvms_diag_row_count(); i++) {
    const tvms_diag_row *row = tvms_diag_row_of((tvms_diag_id)i);
    tvms_json_open(json, '{');
    tvms_json_put_text(json, "id", tvms_render_code_of((tvms_diag_id)i).text);
    tvms_json_put_text(json, "name", row->name);
    tvms_json_key(json, "fullDescription");
    tvms_json_open(json, '{');
    tvms_json_put_text(json, "text", row->explanation);
    tvms_json_close(json, '}');
    tvms_json_close(json, '}');
  }
  tvms_json_close(json, ']');
}

static void begin_sarif(tvms_json *json) {
  tvms_json_put_text(json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
  tvms_json_put_text(json, "version", "2.1.0");
  tvms_json_key(json, "runs");
  tvms_json_open(json, '[');
  tvms_json_open(json, '{');
  tvms_json_key(json, "tool");
  tvms_json_open(json, '{');
  tvms_json_key(json, "driver");
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "name", "tvms");
  tvms_json_put_text(json, "version", TVMS_VERSION);
  put_sarif_rules(json);
  tvms_json_close(json, '}');
  tvms_json_close(json, '}');
  tvms_json_put_text(json, "columnKind", "unicodeCodePoints");
  tvms_json_key(json, "results");
  tvms_json_open(json, '[');
}

void tvms_report_begin(tvms_report_writer *w, tvms_memory *memory,
                       tvms_report_format format) {
  w->format = format;
  tvms_strbuf_init(&w->text, memory);
  tvms_json_init(&w->json, &w->text);
  if (format == TVMS_REPORT_GITHUB) return;
  tvms_json_open(&w->json, '{');
  if (format == TVMS_REPORT_SARIF) {
    begin_sarif(&w->json);
  } else {
    tvms_json_put_int(&w->json, "version", 1);
    tvms_json_key(&w->json, "findings");
    tvms_json_open(&w->json, '[');
  }
}

void tvms_report_end(tvms_report_writer *w, uint32_t errors, uint32_t warnings) {
  tvms_json *json = &w->json;
  if (w->format == TVMS_REPORT_GITHUB) return;
  tvms_json_close(json, ']');
  if (w->format == TVMS_REPORT_SARIF) {
    tvms_json_close(json, '}');
    tvms_json_close(json, ']');
  } else {
    tvms_json_put_int(json, "errors", errors);
    tvms_json_put_int(json, "warnings", warnings);
  }
  tvms_json_close(json, '}');
  tvms_strbuf_putc(&w->text, '\n');
}
