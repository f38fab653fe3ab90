// Beginning and end of the evaluation of a file.
#include "parser/eval/reader.h"

#include "parser/eval/budget.h"
#include "parser/eval/scope.h"

void tvms_reader_init(tvms_reader *reader, tvms_context *context, tvms_surface *surface,
                      tvms_dialect dialect, const struct tvms_eval_tables *tables) {
  tvms_memory *memory = &context->memory;
  *reader = (tvms_reader){
      .context = context,
      .tables = tables,
      .surface = surface,
      .dialect = dialect,
      .everything = {NULL, 0, UINT32_MAX},
      .visible = &reader->everything,
      .budget.most_bytes = tvms_budget_of_values(surface->source),
  };
  tvms_arena_init(&reader->values, memory);
  tvms_arena_init(&reader->bindings, memory);
  tvms_arena_init(&reader->kept, memory);
  tvms_node_map_init(&reader->outer_copies, memory);
  tvms_vec_push(memory, &reader->scopes, (tvms_scope){0});
  tvms_scope_push(reader);
}

void tvms_reader_set_dialect(tvms_reader *reader, tvms_dialect dialect) {
  reader->dialect = dialect;
  reader->context->spelling = (uint32_t)dialect;
  for (int room = 0; room < TVMS_EVAL_ROOMS; room++) {
    reader->made[room] = NULL;
  }
}

void tvms_reader_fini(tvms_reader *reader) {
  tvms_memory *memory = &reader->context->memory;
  tvms_scope_pop(reader);
  tvms_arena_fini(&reader->values);
  tvms_arena_fini(&reader->bindings);
  tvms_arena_fini(&reader->kept);
  tvms_node_map_fini(&reader->outer_copies);
  tvms_memory_free(memory, reader->names);
  tvms_vec_fini(memory, &reader->scopes);
  tvms_vec_fini(memory, &reader->methods);
  tvms_vec_fini(memory, &reader->undefined);
  tvms_vec_fini(memory, &reader->defs);
  tvms_vec_fini(memory, &reader->assumptions.items);
}

tvms_span tvms_reader_keyword(const tvms_reader *reader, tvms_ref stmt) {
  tvms_span span = tvms_reader_span_of(reader, stmt);
  const char *text = reader->surface->source->text;
  uint32_t end = span.begin;
  while (end < span.end && text[end] >= 'a' && text[end] <= 'z') {
    end++;
  }
  return (tvms_span){span.begin, end > span.begin ? end : span.end};
}

tvms_ref tvms_reader_callee(const tvms_reader *reader, tvms_ref ref) {
  const tvms_surf *node = tvms_reader_at(reader, ref);
  return node->kind == TVMS_SURF_CALL ? node->a : ref;
}

static bool is_error_in(const tvms_diags *diags, const tvms_diag *diag,
                        tvms_span span) {
  return diag->severity == TVMS_SEVERITY_ERROR && diag->source == diags->source
         && diag->span.begin >= span.begin && diag->span.begin <= span.end;
}

bool tvms_reader_was_misread(const tvms_reader *reader, tvms_span span) {
  const tvms_diags *diags = &reader->context->diags;
  // In a text with thousands of errors most places are behind all, or at the last one.
  if (!diags->last || span.begin > diags->furthest) return false;
  if (is_error_in(diags, diags->last, span)) return true;
  for (const tvms_diag *diag = diags->first; diag; diag = diag->next) {
    if (is_error_in(diags, diag, span)) return true;
  }
  return false;
}
