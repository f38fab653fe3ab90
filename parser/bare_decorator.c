// Decorators that have lost their `@`: `I.ir_module` alone on a line above a class does nothing, and
// nobody writes it.
#include "parser/bare_decorator.h"

#include "parser/eval/reader.h"
#include "support/diag_ids.h"

#include <stdio.h>
#include <string.h>

static bool is_name(const char *text, uint32_t len) {
  static const char *const names[] = {"I.ir_module", "T.prim_func", "R.function",
                                      "I.pyfunc",    "T.macro",     "T.inline"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strlen(names[i]) == len && memcmp(text, names[i], len) == 0) return true;
  }
  return false;
}

bool tvms_decoration_report_bare(tvms_reader *reader, tvms_ref stmt) {
  const tvms_surf node = *tvms_reader_at(reader, stmt);
  if (node.kind != TVMS_SURF_EXPRESSION || !node.next) return false;
  tvms_span span = tvms_reader_span_of(reader, tvms_reader_callee(reader, node.a));
  const char *text = reader->surface->source->text;
  const tvms_surf *next = tvms_reader_at(reader, node.next);
  bool definition = next->kind == TVMS_SURF_DEF || next->kind == TVMS_SURF_CLASS;
  if (!definition || !is_name(text + span.begin, span.end - span.begin)
      || tvms_surface_define(reader->surface, node.next).decorators)
    return false;
  const char *line = memchr(text + span.end, '\n', next->begin - span.end);
  if (!line || memchr(line + 1, '\n', (size_t)(text + next->begin - line - 1)))
    return false;
  tvms_diags *diags = &reader->context->diags;
  char what[32];
  int len = (int)(span.end - span.begin);
  snprintf(what, sizeof what, "'%.*s'", len, text + span.begin);
  uint32_t muted = diags->muted;
  diags->muted = 0;
  tvms_diag *diag = tvms_diag_report(diags, TVMS_D_syntax, span, what, "");
  tvms_diag_remark(diags, diag, "a decorator begins with '@'");
  tvms_diag_fix(diags, diag, (tvms_span){span.begin, span.begin}, true, "@");
  diags->muted = muted;
  return true;
}

bool tvms_decoration_is_bare_above(const tvms_reader *reader, uint32_t place) {
  const char *text = reader->surface->source->text;
  uint32_t end = place;
  while (end > 0 && text[end - 1] != '\n')
    end--;
  uint32_t begin = end ? end - 1 : 0;
  while (begin > 0 && text[begin - 1] != '\n')
    begin--;
  uint32_t first = begin + (uint32_t)strspn(text + begin, " \t");
  return first < end && is_name(text + first, (uint32_t)strcspn(text + first, "(\r\n"))
         && tvms_reader_was_misread(reader, (tvms_span){begin, end});
}
