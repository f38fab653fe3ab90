// Expressions in strings: fields of f-strings, and shapes such as "n + 1".
//
// What stands in the source as it is meant is parsed from a copy that ends where the string does, with true
// places. A string with escapes is parsed as it is decoded; its nodes and findings are moved to where
// their characters are written.
#include "grammar/nested.h"

#include "grammar/build.h"
#include "grammar/literal_values.h"
#include "grammar/parse.h"
#include "support/diag_ids.h"

#include <string.h>

tvms_ref tvms_surface_parse_expression(tvms_surface *surface, tvms_span span) {
  tvms_context *context = surface->context;
  size_t size = span.end - span.begin;
  // A copy, so that the text ends where the string does.
  enum { PADDING = 16 };
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  char *copy = tvms_arena_alloc(&context->scratch, size + PADDING);
  const char *text = surface->source->text;
  memcpy(copy, text + span.begin, size);
  tvms_ref result = tvms_surface_parse_nested(surface, copy, size, text, span.begin);
  tvms_arena_reset(&context->scratch, mark);
  return result;
}

/* Expressions in strings with escapes: parsed as they are decoded, and moved then */

static tvms_span moved(tvms_span span, const uint32_t *places) {
  return (tvms_span){places[span.begin], places[span.end]};
}

static void move_findings(tvms_diag *diag, const uint32_t *places) {
  for (; diag; diag = diag->next) {
    diag->span = moved(diag->span, places);
    for (tvms_fix *fix = diag->fixes; fix; fix = fix->next) {
      fix->span = moved(fix->span, places);
    }
  }
}

// Literals keep their decoded text, which the source does not have.
static void move_node(tvms_surface *surface, tvms_surf *node, const char *text,
                      const uint32_t *places) {
  bool literal = node->kind == TVMS_SURF_INT || node->kind == TVMS_SURF_FLOAT
                 || node->kind == TVMS_SURF_STRING;
  if (literal) {
    node->flags |= TVMS_SURF_DECODED;
    node->c = tvms_symbol_intern(surface->context, text + node->begin,
                                 node->end - node->begin);
  }
  node->begin = places[node->begin];
  node->end = places[node->end];
}

static tvms_ref parse_decoded(tvms_surface *surface, tvms_ref string) {
  tvms_context *context = surface->context;
  tvms_diags *diags = &context->diags;
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  const uint32_t *places;
  tvms_surf_text all =
      tvms_surface_placed_string(surface, string, &context->scratch, &places);
  tvms_ref first = surface->count;
  tvms_diag *last = diags->last;
  tvms_ref result = 0;
  if (!all.is_bytes)
    result = tvms_surface_parse_nested(surface, all.text, all.len, all.text, 0);
  move_findings(last ? last->next : diags->first, places);
  for (tvms_ref ref = first; ref < surface->count; ref++) {
    move_node(surface, &surface->nodes[ref], all.text, places);
  }
  for (tvms_ref ref = first; result && ref < surface->count; ref++) {
    if (tvms_surface_is_fstring(surface, ref)) {
      tvms_diag_report(diags, TVMS_D_unsupported, tvms_surface_span(surface, ref),
                       "an f-string inside a string");
      result = 0;
    }
  }
  tvms_arena_reset(&context->scratch, mark);
  return result;
}

tvms_ref tvms_surface_parse_string(tvms_surface *surface, tvms_ref string) {
  tvms_span inside;
  if (tvms_surface_is_fstring(surface, string)) return 0;
  if (tvms_surface_string_inside(surface, string, &inside)) {
    return tvms_surface_parse_expression(surface, inside);
  }
  return parse_decoded(surface, string);
}
