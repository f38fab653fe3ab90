#include "schedule/buffers.h"

#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/storage_scope.h"

#include <stdio.h>
#include <string.h>

const char *tvms_sched_joined(tvms_sched *sched, const char *a, const char *b) {
  size_t room = strlen(a) + strlen(b) + 2;
  char *text = tvms_arena_alloc(&sched->unit->arena, room);
  snprintf(text, room, "%s_%s", a, b);
  return text;
}

const char *tvms_sched_buffer_name(const tvms_sched *sched, const tvms_node *buffer) {
  return tvms_symbol_text(sched->context, tvms_as_buffer(buffer)->name);
}

tvms_node *tvms_sched_buffer_like(tvms_sched *sched, const tvms_node *buffer,
                                  const char *name, const char *scope,
                                  const tvms_list *TVMS_NULLABLE shape) {
  tvms_buffer *made = tvms_as_buffer(tvms_node_copy(sched->unit, buffer));
  made->name = tvms_symbol_intern(sched->context, name, strlen(name));
  bool global = strcmp(scope, "global") == 0 || !*scope;
  tvms_sym sym = global ? 0 : tvms_symbol_intern(sched->context, scope, strlen(scope));
  tvms_dtype pointee = made->data->sinfo ? made->data->sinfo->dtype : made->element;
  made->data =
      tvms_pointer_var_new(sched->unit, made->name, pointee, sym, TVMS_NO_SPAN);
  if (shape) made->shape = *shape;
  return &made->head;
}

tvms_node *tvms_sched_buffer_new(tvms_sched *sched, tvms_sym name, tvms_dtype dtype,
                                 const char *scope, const tvms_list *shape) {
  tvms_unit *unit = sched->unit;
  bool global = strcmp(scope, "global") == 0 || !*scope;
  tvms_sym sym = global ? 0 : tvms_symbol_intern(sched->context, scope, strlen(scope));
  tvms_buffer *buffer = tvms_node_make(unit, BUFFER, TVMS_NO_SPAN);
  buffer->name = name;
  buffer->data = tvms_pointer_var_new(unit, name, dtype, sym, TVMS_NO_SPAN);
  buffer->element = dtype;
  buffer->shape = *shape;
  tvms_dtype offset = shape->len ? shape->items[0]->dtype : TVMS_DTYPE(INT, 32);
  buffer->elem_offset = tvms_int_imm_new(unit, offset, 0, TVMS_NO_SPAN);
  buffer->align = 64;
  buffer->offset_factor = 1;
  return &buffer->head;
}

tvms_node *tvms_sched_buffer_renamed(tvms_sched *sched, const tvms_node *buffer,
                                     const char *name) {
  return tvms_sched_buffer_like(sched, buffer, name,
                                tvms_storage_scope_of(sched->context, buffer), NULL);
}

// ---- One buffer for another ----

typedef struct {
  tvms_sched *sched;
  const tvms_sched_swap *swap;
  tvms_analyzer *analyzer;
} swapping;

static tvms_node *moved(swapping *s, tvms_node *index, uint32_t axis) {
  if (!s->swap->offsets) return index;
  tvms_node *min = tvms_as_range(s->swap->offsets->items[axis])->min;
  tvms_node *difference = tvms_sched_build(s->sched, TVMS_NODE_SUB, index, min);
  return tvms_analyzer_simplify(s->analyzer, difference);
}

static tvms_node *swap_access(tvms_rewriter *r, tvms_node *node) {
  swapping *s = r->self;
  if (*tvms_node_element(node).buffer != s->swap->from) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_element element = tvms_node_element(copy);
  *element.buffer = s->swap->to;
  if (!s->swap->offsets) return copy;
  tvms_list indices =
      tvms_list_copy(r->unit, element.indices->items, element.indices->len);
  for (uint32_t i = 0; i < indices.len; i++)
    indices.items[i] = moved(s, indices.items[i], i);
  *element.indices = indices;
  return copy;
}

static tvms_node *swap_region(tvms_rewriter *r, tvms_node *node) {
  swapping *s = r->self;
  const tvms_buffer_region *region = tvms_as_buffer_region(node);
  if (region->buffer != s->swap->from) return node;
  tvms_list ranges = tvms_list_copy(r->unit, region->region.items, region->region.len);
  for (uint32_t i = 0; s->swap->offsets && i < ranges.len; i++) {
    const tvms_range *range = tvms_as_range(ranges.items[i]);
    ranges.items[i] =
        tvms_range_new(r->unit, moved(s, range->min, i), range->extent, TVMS_NO_SPAN);
  }
  return tvms_buffer_region_new(r->unit, s->swap->to, ranges.items, ranges.len,
                                TVMS_NO_SPAN);
}

static tvms_node *keep_buffer(tvms_rewriter *r, tvms_node *node) {
  return r->role == TVMS_ROLE_DEFINE ? TVMS_REWRITE_BELOW : node;
}

static tvms_node *swap_pointer(tvms_rewriter *r, tvms_node *node) {
  const tvms_sched_swap *swap = ((swapping *)r->self)->swap;
  return node == tvms_as_buffer(swap->from)->data ? tvms_as_buffer(swap->to)->data
                                                  : TVMS_REWRITE_BELOW;
}

tvms_node *tvms_sched_swapped(tvms_sched *sched, tvms_node *stmt,
                              const tvms_sched_swap *swap) {
  swapping s = {sched, swap, tvms_analyzer_new(sched->unit)};
  tvms_rewriter r;
  tvms_rewriter_init(&r, sched->unit, &s);
  r.leave[TVMS_NODE_BUFFER_LOAD] = swap_access;
  r.leave[TVMS_NODE_STORE] = swap_access;
  r.leave[TVMS_NODE_BUFFER_REGION] = swap_region;
  r.enter[TVMS_NODE_BUFFER] = keep_buffer;
  r.enter[TVMS_NODE_VAR] = swap_pointer;
  tvms_node *made = tvms_rewrite(&r, stmt);
  tvms_rewriter_fini(&r);
  tvms_analyzer_free(s.analyzer);
  return made;
}

// ---- Views ----

typedef struct {
  const tvms_context *context;
  const tvms_node *found;
} view_search;

static tvms_walk_step see_view(void *self, tvms_node *node, tvms_field_role role) {
  view_search *v = self;
  (void)role;
  if (node->kind != TVMS_NODE_MATCH_BUFFER_REGION) return TVMS_WALK_ON;
  const tvms_match_buffer_region *match = tvms_as_match_buffer_region(node);
  const tvms_node *source = tvms_as_buffer_region(match->source)->buffer;
  if (strcmp(tvms_storage_scope_of(v->context, source),
             tvms_storage_scope_of(v->context, match->buffer))
      == 0)
    return TVMS_WALK_SKIP;
  v->found = match->buffer;
  return TVMS_WALK_STOP;
}

static tvms_walk_step see_source(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  bool view =
      node->kind == TVMS_NODE_MATCH_BUFFER_REGION
      && tvms_as_buffer_region(tvms_as_match_buffer_region(node)->source)->buffer
             == self;
  return view ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_sched_has_view(const tvms_sched *sched, tvms_node *stmt, tvms_node *buffer) {
  tvms_visitor visitor = {.self = buffer, .enter = see_source};
  return !tvms_walk(&sched->context->memory, stmt, &visitor);
}

const tvms_node *TVMS_NULLABLE tvms_sched_view_elsewhere(const tvms_sched *sched,
                                                         tvms_node *stmt) {
  view_search search = {.context = sched->context};
  tvms_visitor visitor = {.self = &search, .enter = see_view};
  (void)tvms_walk(&sched->context->memory, stmt, &visitor);
  return search.found;
}

// ---- Definitions ----

int32_t tvms_sched_definer(const tvms_sched *sched, int32_t site,
                           const tvms_node *buffer, bool *matched) {
  *matched = false;
  for (; site != TVMS_NO_SITE; site = tvms_sched_parent(sched, site)) {
    if (tvms_sched_is_loop(sched, site)) continue;
    const tvms_block *block = tvms_sched_block(sched, site);
    for (uint32_t i = 0; i < block->alloc_buffers.len; i++)
      if (block->alloc_buffers.items[i] == buffer) return site;
    for (uint32_t i = 0; i < block->match_buffers.len; i++)
      if (tvms_as_match_buffer_region(block->match_buffers.items[i])->buffer == buffer)
        *matched = true;
  }
  return TVMS_NO_SITE;
}

int32_t tvms_sched_owner(tvms_sched *sched, int32_t block, const tvms_node *buffer,
                         bool *parameter) {
  bool matched;
  const char *name = tvms_sched_buffer_name(sched, buffer);
  int32_t scope = tvms_sched_definer(sched, block, buffer, &matched);
  *parameter = scope == TVMS_NO_SITE;
  if (!*parameter) return scope;
  if (matched) {
    (void)!tvms_sched_refuse(sched, "'%s' is a part of another buffer", name);
    return TVMS_NO_SITE;
  }
  if (!tvms_sched_check_scope(sched, block, false, &scope)) return TVMS_NO_SITE;
  if (tvms_sched_parent(sched, scope) == TVMS_NO_SITE) return scope;
  (void)!tvms_sched_refuse(
      sched,
      "'%s' is a parameter, and block '%s' around the block is not the outermost one",
      name, tvms_sched_block_name(sched, scope));
  return TVMS_NO_SITE;
}

void tvms_sched_replace_parameter(tvms_sched *sched, const tvms_node *old,
                                  tvms_node *made) {
  tvms_prim_func *function =
      tvms_as_prim_func(tvms_node_copy(sched->unit, sched->function));
  tvms_list buffers =
      tvms_list_copy(sched->unit, function->buffers.items, function->buffers.len);
  for (uint32_t i = 0; i < buffers.len; i++)
    if (buffers.items[i] == old) buffers.items[i] = made;
  function->buffers = buffers;
  sched->function = &function->head;
}

void tvms_sched_add_alloc(tvms_sched *sched, tvms_block *block, tvms_node *buffer) {
  uint32_t len = block->alloc_buffers.len;
  tvms_node **items = tvms_arena_array(&sched->unit->arena, tvms_node *, len + 1);
  if (len) memcpy(items, block->alloc_buffers.items, len * sizeof *items);
  items[len] = buffer;
  block->alloc_buffers = tvms_list_copy(sched->unit, items, len + 1);
}
