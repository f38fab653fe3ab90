// One line for each finding, for `grep` and for lists of places in editors:
// FILE:LINE:COLUMN: error[E0201]: text. Notes and excerpts are left out.
#include "driver/report_concise.h"

#include "driver/render.h"
#include "driver/report_ops.h"

// A line of a list is one line, whatever a name or a text holds.
static void put_line(tvms_strbuf *out, const char *text) {
  for (; *text; text++) {
    unsigned char c = (unsigned char)*text;
    tvms_strbuf_putc(out, c < 0x20 || c == 0x7F ? '?' : *text);
  }
}

void tvms_report_put_concise(tvms_strbuf *out, const tvms_report_item *item) {
  const tvms_diag *diag = item->diag;
  const tvms_diag_row *row = tvms_diag_row_of(diag->id);
  put_line(out, item->file ? item->file : "tvms");
  if (tvms_report_item_is_placed(item)) {
    tvms_place place = tvms_source_place(item->places, diag->source, diag->span.begin);
    tvms_strbuf_printf(out, ":%u:%u", place.line, place.column);
  }
  tvms_strbuf_printf(out, ": %s[%s]: ", tvms_render_severity_name(diag->severity),
                     row->label);
  put_line(out, diag->text);
  tvms_strbuf_putc(out, '\n');
}

static void add(tvms_report_writer *w, const tvms_report_item *item, bool failure) {
  (void)failure;
  tvms_report_put_concise(&w->text, item);
}

const tvms_report_ops tvms_report_concise = {.add = add};
