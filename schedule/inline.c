#include "schedule/inline.h"

#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "structinfo/regions.h"

#include <stdio.h>
#include <string.h>

// ---- Checks ----

static tvms_walk_step find_opaque(void *self, tvms_node *node, tvms_field_role role) {
  const tvms_node *buffer = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node == tvms_as_buffer(buffer)->data) return TVMS_WALK_STOP;
  bool matched =
      node->kind == TVMS_NODE_MATCH_BUFFER_REGION
      && tvms_as_buffer_region(tvms_as_match_buffer_region(node)->source)->buffer
             == buffer;
  return matched ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_inline_check_opaque(tvms_sched *sched, int32_t scope,
                              const tvms_node *buffer) {
  tvms_visitor visitor = {.self = (void *)(uintptr_t)buffer, .enter = find_opaque};
  if (tvms_walk(&sched->context->memory, tvms_sched_at(sched, scope)->node, &visitor))
    return true;
  return tvms_sched_refuse(sched,
                           "the pointer of '%s' is used, or a part of it is matched",
                           tvms_sched_buffer_name(sched, buffer));
}

const tvms_node *TVMS_NULLABLE tvms_inline_leaf(tvms_sched *sched, int32_t block) {
  const tvms_node *leaf = tvms_sched_at(sched, block)->realize;
  for (int32_t at = tvms_sched_parent(sched, block);;
       at = tvms_sched_parent(sched, at)) {
    bool loop = tvms_sched_is_loop(sched, at);
    const tvms_node *body =
        loop ? tvms_sched_loop(sched, at)->body : tvms_sched_block(sched, at)->body;
    if (body->kind == TVMS_NODE_SEQ) return leaf;
    if (!loop) break;
    leaf = tvms_sched_at(sched, at)->node;
  }
  (void)!tvms_sched_refuse(sched, "block '%s' is the only one in its scope",
                           tvms_sched_block_name(sched, block));
  return NULL;
}

// ---- Rewriting ----

typedef struct {
  const tvms_node *leaf, *scope;
  tvms_node *buffer;
  tvms_node_map buffers;  // that are known, for regions
  tvms_sched *sched;
  void *self;
  tvms_rewrite_hook *hook;
} inlining;

static void know(inlining *w, tvms_list regions) {
  for (uint32_t i = 0; i < regions.len; i++) {
    tvms_node *buffer = tvms_sched_region_buffer(regions, i);
    tvms_regions_put_buffer(&w->buffers, w->sched->unit, buffer, buffer);
  }
}

static void know_block(inlining *w, const tvms_block *block) {
  know(w, block->reads);
  know(w, block->writes);
  for (uint32_t i = 0; i < block->alloc_buffers.len; i++)
    tvms_regions_put_buffer(&w->buffers, w->sched->unit, block->alloc_buffers.items[i],
                            block->alloc_buffers.items[i]);
}

static tvms_node *TVMS_NULLABLE enter_stmt(tvms_rewriter *r, tvms_node *node) {
  inlining *w = r->self;
  if (node == w->leaf) return NULL;
  if (node->kind == TVMS_NODE_BLOCK) know_block(w, tvms_as_block(node));
  return TVMS_REWRITE_BELOW;
}

static tvms_list without(tvms_unit *unit, tvms_list list, const tvms_node *item) {
  tvms_list made = tvms_list_copy(unit, list.items, list.len);
  made.len = 0;
  for (uint32_t i = 0; i < list.len; i++)
    if (list.items[i] != item) made.items[made.len++] = list.items[i];
  return made;
}

static tvms_node *leave_block(tvms_rewriter *r, tvms_node *node) {
  inlining *w = r->self;
  const tvms_block *block = tvms_as_block(node);
  if (r->old == w->scope) {
    tvms_block *copy = tvms_as_block(tvms_node_copy(r->unit, node));
    copy->alloc_buffers = without(r->unit, copy->alloc_buffers, w->buffer);
    return &copy->head;
  }
  if (!tvms_sched_touches(block->reads, w->buffer)
      && !tvms_sched_touches(block->writes, w->buffer))
    return node;
  tvms_block *copy = tvms_as_block(tvms_node_copy(r->unit, node));
  if (copy->init) {
    copy->head.flags |= TVMS_FLAG_READS_MISSING | TVMS_FLAG_WRITES_MISSING;
    copy->reads = copy->writes = (tvms_list){0};
    (void)tvms_regions_infer(r->unit, &w->buffers, copy, false);
    copy->head.flags &= (uint8_t) ~(TVMS_FLAG_READS_MISSING | TVMS_FLAG_WRITES_MISSING);
  } else {
    tvms_regions_infer_all(r->unit, &w->buffers, copy);
  }
  return &copy->head;
}

static tvms_node *leave_access(tvms_rewriter *r, tvms_node *node) {
  inlining *w = r->self;
  if (*tvms_node_element(node).buffer != w->buffer) return node;
  void *self = r->self;
  r->self = w->self;
  tvms_node *made = w->hook(r, node);
  r->self = self;
  return made;
}

void tvms_inline_rewrite(tvms_sched *sched, int32_t scope, const tvms_node *leaf,
                         tvms_node *buffer, tvms_node_kind kind,
                         tvms_rewrite_hook *hook, void *self) {
  tvms_node *old = tvms_sched_at(sched, scope)->node;
  inlining w = {.leaf = leaf,
                .scope = old,
                .buffer = buffer,
                .sched = sched,
                .self = self,
                .hook = hook};
  tvms_node_map_init(&w.buffers, &sched->context->memory);
  for (uint32_t i = 0; i < sched->sites.len; i++)
    if (!tvms_sched_is_loop(sched, (int32_t)i))
      know_block(&w, tvms_sched_block(sched, (int32_t)i));
  tvms_rewriter r;
  tvms_rewriter_init(&r, sched->unit, &w);
  r.roles = TVMS_IN(BODY) | TVMS_IN(USE);
  tvms_rewriter_enter_class(&r, TVMS_CLASS_STMT, enter_stmt);
  r.leave[kind] = leave_access;
  r.leave[TVMS_NODE_BLOCK] = leave_block;
  tvms_node *made = tvms_rewrite(&r, old);
  tvms_rewriter_fini(&r);
  tvms_node_map_fini(&w.buffers);
  tvms_sched_replace_one(sched, old, made);
}

// ---- Indices ----

tvms_node **tvms_inline_places(tvms_sched *sched, tvms_list indices) {
  tvms_node **places =
      tvms_arena_array(&sched->unit->arena, tvms_node *, indices.len + 1);
  for (uint32_t i = 0; i < indices.len; i++) {
    char name[16];
    int len = snprintf(name, sizeof name, "ph_%u", i);
    places[i] =
        tvms_var_new(sched->unit, tvms_symbol_intern(sched->context, name, (size_t)len),
                     indices.items[i]->dtype, TVMS_NO_SPAN);
  }
  return places;
}

// Do the indices have as many values as the axes together?
static bool is_bijective(tvms_sched *s, tvms_analyzer *analyzer,
                         const tvms_domain_vec *domains, tvms_list indices) {
  tvms_iter_image *images =
      tvms_arena_array(&s->unit->arena, tvms_iter_image, indices.len + 1);
  tvms_node *yes = tvms_bool_imm_new(s->unit, true, TVMS_NO_SPAN);
  if (!tvms_iter_map_detect(s->unit, analyzer, domains->items, domains->len,
                            indices.items, indices.len, yes, true, images))
    return false;
  tvms_node *all = tvms_sched_int(s, TVMS_DTYPE(INT, 32), 1), *told = all;
  for (uint32_t i = 0; i < domains->len; i++)
    all = tvms_sched_build(s, TVMS_NODE_MUL, all, domains->items[i].extent);
  for (uint32_t i = 0; i < indices.len; i++)
    if (images[i].extent)
      told = tvms_sched_build(s, TVMS_NODE_MUL, told, images[i].extent);
  return tvms_analyzer_can_prove_equal(analyzer, all, told);
}

bool tvms_inline_inverse(tvms_sched *sched, const tvms_block *block, tvms_list indices,
                         bool exact, tvms_node *const *places, tvms_node_map *found) {
  tvms_domain_vec domains = {0};
  tvms_memory *memory = &sched->context->memory;
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    tvms_iter_domain domain = {axis->var, dom->min, dom->extent};
    tvms_vec_push(memory, &domains, domain);
  }
  tvms_node **inverse =
      tvms_arena_array(&sched->unit->arena, tvms_node *, domains.len + 1);
  tvms_analyzer *analyzer = tvms_analyzer_new(sched->unit);
  bool fine =
      (!exact || is_bijective(sched, analyzer, &domains, indices))
      && tvms_iter_map_inverse(sched->unit, analyzer, domains.items, domains.len,
                               indices.items, indices.len, places, inverse, NULL);
  for (uint32_t i = 0; fine && i < domains.len; i++)
    tvms_node_map_put(found, domains.items[i].var, inverse[i]);
  tvms_analyzer_free(analyzer);
  tvms_vec_fini(memory, &domains);
  return fine;
}
