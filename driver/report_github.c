// Workflow commands of GitHub: one line per finding, which becomes an annotation of a file.
//
// Notes follow in the same message, because a command has one place only. What stands for
// a file as a whole has no line, and what stands for the run no file.
#include "driver/report_ops.h"

// Escapes of workflow commands: data, and in properties also ':' and ','.
static void add_text(tvms_strbuf *out, const char *text, bool property) {
  for (; *text; text++) {
    bool special = *text == '%' || *text == '\r' || *text == '\n'
                   || (property && (*text == ':' || *text == ','));
    if (special)
      tvms_strbuf_printf(out, "%%%02X", (unsigned char)*text);
    else
      tvms_strbuf_putc(out, *text);
  }
}

static void add_place(tvms_strbuf *out, const tvms_report_item *item) {
  const tvms_diag *diag = item->diag;
  tvms_place begin = tvms_source_place(item->places, diag->source, diag->span.begin);
  tvms_place end = tvms_source_place(item->places, diag->source, diag->span.end);
  tvms_strbuf_printf(out, ",line=%u,endLine=%u", begin.line, end.line);
  if (begin.line == end.line)
    tvms_strbuf_printf(out, ",col=%u,endColumn=%u", begin.column, end.column);
}

static void add_note(tvms_strbuf *out, const tvms_report_item *item,
                     const tvms_note *note) {
  tvms_strbuf_puts(out, "%0A");
  if (note->placed) {
    tvms_source *source = tvms_report_item_source(item, note);
    tvms_place place = tvms_source_place(item->places, source, note->span.begin);
    if (source != item->diag->source) {
      add_text(out, source->name, false);
      tvms_strbuf_puts(out, ", ");
    }
    tvms_strbuf_printf(out, "line %u: ", place.line);
  }
  add_text(out, note->text, false);
}

static void add(tvms_report_writer *w, const tvms_report_item *item, bool failure) {
  static const char *const commands[] = {
      [TVMS_SEVERITY_ERROR] = "error",
      [TVMS_SEVERITY_WARNING] = "warning",
      [TVMS_SEVERITY_NOTE] = "notice",
  };
  (void)failure;
  tvms_strbuf *out = &w->text;
  const tvms_diag *diag = item->diag;
  tvms_strbuf_printf(out, "::%s ", commands[diag->severity]);
  if (item->file) {
    tvms_strbuf_puts(out, "file=");
    add_text(out, tvms_report_item_path(item->file), true);
    if (tvms_report_item_is_placed(item)) add_place(out, item);
    tvms_strbuf_putc(out, ',');
  }
  tvms_strbuf_printf(out, "title=%s::", tvms_diag_row_of(diag->id)->label);
  add_text(out, diag->text, false);
  if (diag->origin) tvms_strbuf_printf(out, "%%0A%s: %s", diag->origin, diag->kind);
  for (const tvms_note *note = diag->notes; note; note = note->next) {
    add_note(out, item, note);
  }
  tvms_strbuf_putc(out, '\n');
}

const tvms_report_ops tvms_report_github = {.add = add};
