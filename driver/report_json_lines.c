// JSON Lines: an object on a line of its own for each result and finding, and one that ends
// the report. A reader that stops early, or a run that dies, leaves whole lines.
//
// The object of a line has one key, which says what it is.
#include "driver/report_json.h"
#include "driver/report_ops.h"

static tvms_json begin_line(tvms_report_writer *w, const char *key) {
  tvms_json json;
  tvms_json_init(&json, &w->text);
  json.compact = true;
  tvms_json_open(&json, '{');
  tvms_json_key(&json, key);
  return json;
}

static void end_line(tvms_report_writer *w, tvms_json *json) {
  tvms_json_close(json, '}');
  tvms_strbuf_putc(&w->text, '\n');
}

static void add(tvms_report_writer *w, const tvms_report_item *item, bool failure) {
  (void)failure;
  tvms_json json = begin_line(w, "finding");
  tvms_report_put_json(&json, item);
  end_line(w, &json);
}

static void add_result(tvms_report_writer *w, const char *file, const char *text,
                       size_t len, bool object) {
  tvms_json json = begin_line(w, "result");
  tvms_report_put_result_to(&json, file, text, len, object);
  end_line(w, &json);
}

static void end(tvms_report_writer *w, const tvms_report_totals *totals) {
  tvms_json json = begin_line(w, "end");
  tvms_json_open(&json, '{');
  tvms_json_put_int(&json, "version", 1);
  tvms_json_put_int(&json, "errors", totals->errors);
  tvms_json_put_int(&json, "warnings", totals->warnings);
  tvms_json_put_int(&json, "status", totals->exit_status);
  tvms_json_close(&json, '}');
  end_line(w, &json);
}

const tvms_report_ops tvms_report_json_lines = {
    .add = add, .add_result = add_result, .end = end};
