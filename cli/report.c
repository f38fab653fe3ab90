// Findings for machines: one document for the whole run, on standard output.
//
//   json    { "version", "findings": [...], "errors", "warnings" }
//   github  workflow commands, one line each: ::error file=...,line=...::text
//   sarif   SARIF 2.1.0
#include "cli/render.h"

#include <unistd.h>

static bool is_format(const tvms_run *run, const char *name) {
  return run->options.format && strcmp(run->options.format, name) == 0;
}

static bool is_document(const tvms_run *run) {
  return is_format(run, "json") || is_format(run, "sarif");
}

static tvms_place place_of(tvms_run *run, const tvms_diag *diag, uint32_t offset) {
  return tvms_source_place(&run->context->memory, diag->source, offset);
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
static void put_range(tvms_run *run, const tvms_diag *diag, tvms_span span) {
  tvms_json *json = &run->report_json;
  tvms_json_key(json, "range");
  tvms_json_open(json, '{');
  put_point(json, "start", place_of(run, diag, span.begin), span.begin);
  put_point(json, "end", place_of(run, diag, span.end), span.end);
  tvms_json_close(json, '}');
}

static void put_notes(tvms_run *run, const tvms_diag *diag) {
  tvms_json *json = &run->report_json;
  tvms_json_key(json, "notes");
  tvms_json_open(json, '[');
  for (const tvms_note *note = diag->notes; note; note = note->next) {
    tvms_json_open(json, '{');
    tvms_json_put_text(json, "message", note->text);
    if (note->placed) put_range(run, diag, note->span);
    tvms_json_close(json, '}');
  }
  tvms_json_close(json, ']');
}

static void put_fixes(tvms_run *run, const tvms_diag *diag) {
  tvms_json *json = &run->report_json;
  tvms_json_key(json, "fixes");
  tvms_json_open(json, '[');
  for (const tvms_fix *fix = diag->fixes; fix; fix = fix->next) {
    tvms_json_open(json, '{');
    put_range(run, diag, fix->span);
    tvms_json_put_text(json, "text", fix->text);
    tvms_json_put_bool(json, "safe", fix->safe);
    tvms_json_close(json, '}');
  }
  tvms_json_close(json, ']');
}

static void add_json(tvms_run *run, const tvms_diag *diag) {
  tvms_json *json = &run->report_json;
  const tvms_diag_row *row = tvms_diag_row_of(diag->id);
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "file", diag->source->name);
  tvms_json_put_text(json, "code", tvms_report_code_of(diag->id).text);
  tvms_json_put_text(json, "name", row->name);
  tvms_json_put_text(json, "severity", tvms_report_severity_name(row->severity));
  tvms_json_put_text(json, "message", diag->text);
  put_range(run, diag, diag->span);
  put_notes(run, diag);
  put_fixes(run, diag);
  tvms_json_close(json, '}');
}

static void put_region(tvms_run *run, const tvms_diag *diag, const char *key,
                       tvms_span span) {
  tvms_json *json = &run->report_json;
  tvms_place begin = place_of(run, diag, span.begin),
             end = place_of(run, diag, span.end);
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
static void put_location(tvms_run *run, const tvms_diag *diag, tvms_span span,
                         const char *TVMS_NULLABLE message) {
  tvms_json *json = &run->report_json;
  tvms_json_open(json, '{');
  tvms_json_key(json, "physicalLocation");
  tvms_json_open(json, '{');
  put_artifact(json, diag->source->name);
  put_region(run, diag, "region", span);
  tvms_json_close(json, '}');
  if (message) put_message(json, message);
  tvms_json_close(json, '}');
}

static void put_related(tvms_run *run, const tvms_diag *diag) {
  tvms_json *json = &run->report_json;
  tvms_json_key(json, "relatedLocations");
  tvms_json_open(json, '[');
  for (const tvms_note *note = diag->notes; note; note = note->next) {
    if (note->placed) put_location(run, diag, note->span, note->text);
  }
  tvms_json_close(json, ']');
}

// All fixes of one diagnostic together mend it: one SARIF fix.
static void put_sarif_fix(tvms_run *run, const tvms_diag *diag) {
  tvms_json *json = &run->report_json;
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
    put_region(run, diag, "deletedRegion", fix->span);
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

static void add_sarif(tvms_run *run, const tvms_diag *diag) {
  tvms_json *json = &run->report_json;
  const tvms_diag_row *row = tvms_diag_row_of(diag->id);
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "ruleId", tvms_report_code_of(diag->id).text);
  tvms_json_put_text(json, "level", tvms_report_severity_name(row->severity));
  put_message(json, diag->text);
  tvms_json_key(json, "locations");
  tvms_json_open(json, '[');
  put_location(run, diag, diag->span, NULL);
  tvms_json_close(json, ']');
  put_related(run, diag);
  put_sarif_fix(run, diag);
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

static void add_github(tvms_run *run, const tvms_diag *diag) {
  static const char *const commands[] = {
      [TVMS_SEVERITY_ERROR] = "error",
      [TVMS_SEVERITY_WARNING] = "warning",
      [TVMS_SEVERITY_NOTE] = "notice",
  };
  tvms_strbuf *out = &run->report;
  tvms_place begin = place_of(run, diag, diag->span.begin);
  tvms_place end = place_of(run, diag, diag->span.end);
  tvms_strbuf_printf(out, "::%s file=", commands[tvms_diag_row_of(diag->id)->severity]);
  add_command_text(out, diag->source->name, true);
  tvms_strbuf_printf(out, ",line=%u,endLine=%u", begin.line, end.line);
  if (begin.line == end.line) {
    tvms_strbuf_printf(out, ",col=%u,endColumn=%u", begin.column, end.column);
  }
  tvms_strbuf_printf(out, ",title=%s::", tvms_report_code_of(diag->id).text);
  add_command_text(out, diag->text, false);
  for (const tvms_note *note = diag->notes; note; note = note->next) {
    tvms_strbuf_puts(out, "%0A");
    if (note->placed) {
      tvms_strbuf_printf(out, "line %u: ", place_of(run, diag, note->span.begin).line);
    }
    add_command_text(out, note->text, false);
  }
  tvms_strbuf_putc(out, '\n');
}

void tvms_report_add(tvms_run *run, const tvms_diag *diag) {
  if (is_format(run, "json"))
    add_json(run, diag);
  else if (is_format(run, "sarif"))
    add_sarif(run, diag);
  else
    add_github(run, diag);
}

// Every diagnostic that a result may name, with what `tvms explain` says of it.
static void put_sarif_rules(tvms_json *json) {
  tvms_json_key(json, "rules");
  tvms_json_open(json, '[');
  for (uint32_t i = 0; i < tvms_diag_row_count(); i++) {
    const tvms_diag_row *row = tvms_diag_row_of((tvms_diag_id)i);
    tvms_json_open(json, '{');
    tvms_json_put_text(json, "id", tvms_report_code_of((tvms_diag_id)i).text);
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

void tvms_report_begin(tvms_run *run) {
  tvms_strbuf_init(&run->report, run->memory);
  tvms_json_init(&run->report_json, &run->report);
  if (!is_document(run)) return;
  tvms_json_open(&run->report_json, '{');
  if (is_format(run, "sarif")) {
    begin_sarif(&run->report_json);
  } else {
    tvms_json_put_int(&run->report_json, "version", 1);
    tvms_json_key(&run->report_json, "findings");
    tvms_json_open(&run->report_json, '[');
  }
}

static void end_document(tvms_run *run) {
  tvms_json *json = &run->report_json;
  tvms_json_close(json, ']');
  if (is_format(run, "sarif")) {
    tvms_json_close(json, '}');
    tvms_json_close(json, ']');
  } else {
    tvms_json_put_int(json, "errors", run->errors);
    tvms_json_put_int(json, "warnings", run->warnings);
  }
  tvms_json_close(json, '}');
  tvms_strbuf_putc(&run->report, '\n');
}

tvms_status tvms_report_end(tvms_run *run) {
  if (is_document(run)) end_document(run);
  bool written = tvms_run_write(run, STDOUT_FILENO, "standard output", run->report.text,
                                run->report.len);
  return written ? TVMS_OK : TVMS_FAILED_IO;
}
