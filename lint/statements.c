// A walk over the bodies of the surface tree, which meets statements in order of place.
//
// The tree does not say where a header ends: between its last part and the body there are only
// ':', brackets, comments and line ends. What stands in front of the body is taken, but for empty
// lines and comments on lines of their own.
#include "lint/statements.h"

#include <string.h>

uint32_t tvms_lint_line_begin(const tvms_source *source, uint32_t place) {
  return place - tvms_source_indent(source, place);
}

uint32_t tvms_lint_line_end(const tvms_source *source, uint32_t place) {
  while (place < source->size && source->text[place] != '\n')
    place++;
  return place;
}

static bool is_empty_line(const tvms_source *source, uint32_t begin) {
  const char *text = source->text + begin;
  text += strspn(text, " \t\r");
  return *text == '\n' || *text == '#' || *text == '\0';
}

// The end of the header that begins at `begin`, with a body from `body` on.
static uint32_t header_end(const tvms_source *source, uint32_t begin, uint32_t body) {
  uint32_t line = tvms_lint_line_begin(source, body);
  if (line <= begin) return body;
  do {
    line = tvms_lint_line_begin(source, line - 1);
  } while (line > begin && is_empty_line(source, line));
  return tvms_lint_line_end(source, line > begin ? line : begin);
}

static void add(tvms_lint_statements *statements, tvms_span span) {
  tvms_vec_push(&statements->surface->context->memory, &statements->spans, span);
}

static void add_list(tvms_lint_statements *statements, tvms_ref list);

static void add_statement(tvms_lint_statements *statements, tvms_ref ref) {
  const tvms_surface *surface = statements->surface;
  const tvms_surf *stmt = tvms_surface_at(surface, ref);
  tvms_ref bodies[2];
  tvms_surface_bodies(surface, ref, bodies);
  if (!bodies[0]) {
    add(statements, (tvms_span){stmt->begin, stmt->end});
    return;
  }
  uint32_t body = tvms_surface_at(surface, bodies[0])->begin;
  add(statements,
      (tvms_span){stmt->begin, header_end(surface->source, stmt->begin, body)});
  add_list(statements, bodies[0]);
  add_list(statements, bodies[1]);
}

static void add_list(tvms_lint_statements *statements, tvms_ref list) {
  tvms_surface_each(statements->surface, ref, list) {
    add_statement(statements, ref);
  }
}

void tvms_lint_statements_init(tvms_lint_statements *statements,
                               const tvms_surface *surface) {
  *statements = (tvms_lint_statements){.surface = surface};
  add_list(statements, surface->body);
}

void tvms_lint_statements_fini(tvms_lint_statements *statements) {
  tvms_vec_fini(&statements->surface->context->memory, &statements->spans);
}

tvms_span tvms_lint_statements_at(const tvms_lint_statements *statements,
                                  uint32_t place) {
  const tvms_span *spans = statements->spans.items;
  uint32_t low = 0, high = statements->spans.len;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (spans[middle].begin <= place)
      low = middle + 1;
    else
      high = middle;
  }
  if (!low || spans[low - 1].end < place) return (tvms_span){place, place};
  return spans[low - 1];
}
