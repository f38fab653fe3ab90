// The report of GitLab's Code Quality: an array of findings and nothing else, so that what a
// verb gives is left out.
//
// GitLab tells findings that are new from known ones by their fingerprints. A fingerprint is
// made of the file, the code, the message and the text of the line, not of its number: a line
// that moves keeps its findings. Equal ones are counted.
#include "driver/report_ops.h"

#include <stdio.h>

static uint64_t mix(uint64_t hash, const char *text, size_t len) {
  for (size_t i = 0; i < len; i++) {
    hash = (hash ^ (unsigned char)text[i]) * 0x100000001B3u;  // FNV-1a
  }
  return (hash ^ 0xFF) * 0x100000001B3u;  // a byte that ends a text
}

static bool is_taken(const tvms_report_writer *w, uint64_t hash) {
  for (uint32_t i = 0; i < w->fingerprints.len; i++) {
    if (w->fingerprints.items[i] == hash) return true;
  }
  return false;
}

static uint64_t fingerprint(tvms_report_writer *w, const tvms_report_item *item,
                            const char *path) {
  const tvms_diag *diag = item->diag;
  const char *label = tvms_diag_row_of(diag->id)->label;
  uint64_t hash = mix(0xCBF29CE484222325u, path, strlen(path));
  hash = mix(hash, label, strlen(label));
  hash = mix(hash, diag->text, strlen(diag->text));
  if (tvms_report_item_is_placed(item)) {
    tvms_place place = tvms_source_place(item->places, diag->source, diag->span.begin);
    tvms_span line = tvms_source_line(item->places, diag->source, place.line);
    hash = mix(hash, diag->source->text + line.begin, line.end - line.begin);
  }
  while (is_taken(w, hash)) {
    hash = mix(hash, "again", 5);
  }
  tvms_vec_push(w->memory, &w->fingerprints, hash);
  return hash;
}

static const char *severity_of(const tvms_report_item *item, bool failure) {
  static const char *const names[] = {
      [TVMS_SEVERITY_ERROR] = "major",
      [TVMS_SEVERITY_WARNING] = "minor",
      [TVMS_SEVERITY_NOTE] = "info",
  };
  return failure ? "critical" : names[item->diag->severity];
}

static void put_position(tvms_json *json, const char *key, tvms_place place) {
  tvms_json_key(json, key);
  tvms_json_open(json, '{');
  tvms_json_put_int(json, "line", place.line);
  tvms_json_put_int(json, "column", place.column);
  tvms_json_close(json, '}');
}

// What stands for a file as a whole is shown at its first line.
static void put_location(tvms_json *json, const tvms_report_item *item,
                         const char *path) {
  const tvms_diag *diag = item->diag;
  tvms_place begin = {1, 1}, end = {1, 1};
  if (tvms_report_item_is_placed(item)) {
    begin = tvms_source_place(item->places, diag->source, diag->span.begin);
    end = tvms_source_place(item->places, diag->source, diag->span.end);
  }
  tvms_json_key(json, "location");
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "path", path);
  tvms_json_key(json, "positions");
  tvms_json_open(json, '{');
  put_position(json, "begin", begin);
  put_position(json, "end", end);
  tvms_json_close(json, '}');
  tvms_json_close(json, '}');
}

static void add(tvms_report_writer *w, const tvms_report_item *item, bool failure) {
  tvms_json *json = &w->findings;
  // Paths count from the root of the repository, where a run of GitLab starts.
  const char *path = tvms_report_item_path(item->file ? item->file : ".");
  char print[17];
  snprintf(print, sizeof print, "%016llx",
           (unsigned long long)fingerprint(w, item, path));
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "description", item->diag->text);
  tvms_json_put_text(json, "check_name", tvms_diag_row_of(item->diag->id)->label);
  tvms_json_put_text(json, "fingerprint", print);
  tvms_json_put_text(json, "severity", severity_of(item, failure));
  put_location(json, item, path);
  tvms_json_close(json, '}');
}

static void end(tvms_report_writer *w, const tvms_report_totals *totals) {
  (void)totals;
  tvms_strbuf_add(&w->text, w->findings_text.text, w->findings_text.len);
  tvms_strbuf_putc(&w->text, '\n');
}

const tvms_report_ops tvms_report_gitlab = {.add = add, .end = end};
