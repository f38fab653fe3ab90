// Memory behind pointers, and texts of findings.
#include "lint/body.h"

#include "ir/equal.h"
#include "ir/walk.h"

enum { MOST_SAID = 64 };

static void set_place(tvms_lint_body *body, const tvms_node *pointer, uint32_t place) {
  tvms_vec_reach(body->memory, &body->memory_of, pointer->id);
  body->memory_of.items[pointer->id] = place;
}

tvms_lint_memory *TVMS_NULLABLE tvms_lint_memory_behind(tvms_lint_body *body,
                                                        const tvms_node *pointer) {
  if (pointer->id >= body->memory_of.len) return NULL;
  uint32_t place = body->memory_of.items[pointer->id];
  return place ? &body->memories.items[place - 1] : NULL;
}

tvms_lint_memory *TVMS_NULLABLE tvms_lint_memory_of(tvms_lint_body *body,
                                                    const tvms_node *buffer) {
  return tvms_lint_memory_behind(body, tvms_as_buffer(buffer)->data);
}

static const char *scope_of(const tvms_lint_body *body, const tvms_node *pointer) {
  const tvms_node *type = pointer->sinfo;
  if (!type || type->kind != TVMS_NODE_SINFO_POINTER) return "";
  return tvms_symbol_text(body->lint->context, tvms_as_sinfo_pointer(type)->scope);
}

tvms_lint_memory *tvms_lint_memory_add(tvms_lint_body *body, const tvms_node *pointer,
                                       const tvms_node *TVMS_NULLABLE buffer) {
  tvms_lint_memory added = {.buffer = buffer, .scope = scope_of(body, pointer)};
  added.loops = body->path.loops.len;
  for (uint32_t i = 0; i < TVMS_LINT_MOST_RANK; i++)
    added.hull[i] = (tvms_lint_range){INT64_MAX, INT64_MIN};
  tvms_vec_push(body->memory, &body->memories, added);
  set_place(body, pointer, body->memories.len);
  return &body->memories.items[body->memories.len - 1];
}

void tvms_lint_memory_alias(tvms_lint_body *body, const tvms_node *pointer,
                            const tvms_node *TVMS_NULLABLE other) {
  uint32_t place = 0;
  if (other && other->id < body->memory_of.len)
    place = body->memory_of.items[other->id];
  set_place(body, pointer, place);
}

bool tvms_lint_is_first(tvms_lint_body *body, tvms_span span) {
  for (uint32_t i = 0; i < body->said.len; i++) {
    const tvms_span *old = &body->said.items[i];
    if (old->begin == span.begin && old->end == span.end) return false;
  }
  if (body->said.len < MOST_SAID) tvms_vec_push(body->memory, &body->said, span);
  return true;
}

tvms_span tvms_lint_index_span(const tvms_lint_access *access, uint32_t dimension) {
  const tvms_node *index = access->indices.items[dimension];
  tvms_span outer = access->node->span, own = index->span;
  bool inside = own.begin >= outer.begin && own.end <= outer.end && own.end > own.begin;
  return inside && index->kind != TVMS_NODE_VAR ? own : outer;
}

const char *tvms_lint_name_of(const tvms_lint_body *body, const tvms_node *node) {
  tvms_sym name = node->kind == TVMS_NODE_BUFFER ? tvms_as_buffer(node)->name
                                                 : tvms_as_var(node)->name;
  return tvms_symbol_text(body->lint->context, name);
}

const char *tvms_lint_text_of(const tvms_lint_body *body, tvms_lint_value value) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, body->memory);
  tvms_lint_value_text(body->lint->context, &value, &text);
  const char *kept =
      tvms_arena_text(&body->lint->context->arena, tvms_strbuf_text(&text), text.len);
  tvms_strbuf_fini(&text);
  return kept;
}

// ---- Updates ----

static tvms_walk_step find_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const tvms_store *store = *(const tvms_store *const *)self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  bool same = load->buffer == store->buffer && load->indices.len == store->indices.len;
  for (uint32_t i = 0; same && i < store->indices.len; i++)
    same = tvms_node_same_expr(load->indices.items[i], store->indices.items[i]);
  return same ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_lint_updates(const tvms_lint_body *body, const tvms_store *store) {
  tvms_visitor visitor = {.self = &store, .enter = find_load};
  return !tvms_walk(body->memory, store->value, &visitor);
}
