// Counts by row of the table of diagnostics, and how many of the findings --fix would mend.
#include "cli/counts.h"

#include "cli/findings.h"

#include <stdlib.h>

static bool is_mended(const tvms_diag *diag, bool unsafe) {
  bool mended = diag->fixes != NULL;
  for (const tvms_fix *fix = diag->fixes; fix; fix = fix->next) {
    mended = mended && (fix->safe || unsafe);
  }
  return mended;
}

void tvms_run_count_findings(tvms_run *run) {
  tvms_diags *diags = &run->context->diags;
  if (!run->found)
    run->found =
        tvms_memory_alloc(run->memory, tvms_diag_row_count() * sizeof *run->found);
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    run->found[diag->id].count++;
    run->found[diag->id].mended += is_mended(diag, run->options.unsafe_fixes);
  }
  if (tvms_findings_are_text(run)) diags->first = diags->last = NULL;
}

typedef struct {
  tvms_diag_id id;
  tvms_found found;
} row;

static int by_count(const void *a, const void *b) {
  const row *left = a, *right = b;
  if (left->found.count != right->found.count)
    return left->found.count > right->found.count ? -1 : 1;
  return left->id < right->id ? -1 : 1;
}

static void put_row(tvms_json *json, const row *r) {
  const tvms_diag_row *about = tvms_diag_row_of(r->id);
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "code", about->label);
  tvms_json_put_text(json, "name", about->name);
  tvms_json_put_int(json, "count", r->found.count);
  tvms_json_put_int(json, "fixable", r->found.mended);
  tvms_json_close(json, '}');
}

static void put_rows(tvms_strbuf *out, const row *rows, uint32_t count) {
  tvms_json json;
  tvms_json_init(&json, out);
  tvms_json_open(&json, '{');
  tvms_json_key(&json, "statistics");
  tvms_json_open(&json, '[');
  for (uint32_t i = 0; i < count; i++)
    put_row(&json, &rows[i]);
  tvms_json_close(&json, ']');
  tvms_json_close(&json, '}');
}

static void write_rows(tvms_strbuf *out, const row *rows, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    const tvms_diag_row *about = tvms_diag_row_of(rows[i].id);
    tvms_strbuf_printf(out, "%6u  %s  %s  %s\n", rows[i].found.count, about->label,
                       rows[i].found.mended == rows[i].found.count ? "[*]"
                       : rows[i].found.mended                      ? "[-]"
                                                                   : "[ ]",
                       about->name);
  }
}

bool tvms_run_show_counts(tvms_run *run) {
  row *rows = tvms_memory_alloc(run->memory, tvms_diag_row_count() * sizeof *rows);
  uint32_t count = 0;
  for (uint32_t i = 0; run->found && i < tvms_diag_row_count(); i++) {
    if (run->found[i].count) rows[count++] = (row){(tvms_diag_id)i, run->found[i]};
  }
  if (count) qsort(rows, count, sizeof *rows, by_count);
  tvms_strbuf text;
  tvms_strbuf_init(&text, run->memory);
  bool shown = true;
  if (run->reports && tvms_report_is_document(&run->report)) {
    put_rows(&text, rows, count);
    tvms_report_add_object(&run->report, text.text, text.len);
  } else {
    write_rows(&text, rows, count);
    shown = tvms_findings_show_result(run, NULL, &text);
  }
  tvms_strbuf_fini(&text);
  tvms_memory_free(run->memory, rows);
  return shown;
}
