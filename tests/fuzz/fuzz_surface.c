// Text to surface tree: never a crash; every node lies inside the text and inside what
// holds it, and a text without a reported error has no ERROR node.
#include "fuzz.h"
#include "grammar/literal_values.h"
#include "grammar/nested.h"
#include "grammar/surface.h"

// Values of literals, and expressions inside strings, must be had whatever they hold.
static void read_literal(tvms_surface *surface, tvms_ref ref) {
  tvms_context *context = surface->context;
  uint64_t number;
  switch ((int)tvms_surface_at(surface, ref)->kind) {
  case TVMS_SURF_INT: (void)tvms_surface_int(surface, ref, &number); return;
  case TVMS_SURF_FLOAT: (void)tvms_surface_float(surface, ref); return;
  case TVMS_SURF_STRING:
  case TVMS_SURF_STRINGS:
    (void)tvms_surface_parse_string(surface, ref);
    (void)tvms_surface_string(surface, ref, &context->scratch);
    return;
  default: return;
  }
}

void fuzz_one(fuzz_input *input) {
  tvms_source *source =
      tvms_source_create(&input->context.memory, "fuzz", input->text, input->size);
  input->context.diags.source = source;
  tvms_surface surface;
  tvms_surface_parse(&surface, &input->context, source);
  bool sound = input->context.diags.errors == 0;
  for (uint32_t i = 1; i < surface.count; i++) {
    const tvms_surf *node = tvms_surface_at(&surface, i);
    FUZZ_CHECK(node->begin <= node->end && node->end <= source->size);
    FUZZ_CHECK(!sound || node->kind != TVMS_SURF_ERROR);
  }
  tvms_surface_own_comments(&surface);
  for (uint32_t i = 0; i < surface.comment_count; i++) {
    const tvms_comment *comment = &surface.comments[i];
    FUZZ_CHECK(comment->begin < comment->end && source->text[comment->begin] == '#');
  }
  for (tvms_diag *diag = input->context.diags.first; diag; diag = diag->next) {
    FUZZ_CHECK(diag->span.begin <= diag->span.end && diag->span.end <= source->size);
  }
  for (uint32_t i = 1, count = surface.count; i < count; i++) {
    read_literal(&surface, i);
  }
  tvms_surface_fini(&surface);
}
