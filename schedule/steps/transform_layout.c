// transform_layout: a buffer is laid out in another order or in tiles. Padding, of which TVM fills in the values, is refused.
// TVM: src/s_tir/schedule/primitive/layout_transformation.cc.
#include "arith/index_map.h"
#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/buffers.h"
#include "schedule/cache_stage.h"
#include "schedule/steps.h"
#include "structinfo/regions.h"

#include <string.h>

typedef struct {
  tvms_sched *sched;
  tvms_node *old, *made;  // buffers
  const tvms_index_map *map;
  tvms_analyzer *analyzer;
  tvms_domain_vec domains;  // of loops and axes around
  tvms_node_map buffers;    // the new one, for regions
} transforming;

// ---- Accesses ----

// The indices in the new layout, as sums of the iterators around where they are such.
static tvms_list mapped(transforming *t, tvms_list indices) {
  tvms_sched *s = t->sched;
  tvms_node_map vars;
  tvms_node_map_init(&vars, &s->context->memory);
  for (uint32_t i = 0; i < indices.len; i++)
    tvms_node_map_put(
        &vars, t->map->initial_indices.items[i],
        tvms_sched_cast(s, t->map->initial_indices.items[i]->dtype, indices.items[i]));
  uint32_t count = t->map->final_indices.len;
  tvms_list made = tvms_list_copy(s->unit, t->map->final_indices.items, count);
  for (uint32_t i = 0; i < count; i++)
    made.items[i] =
        tvms_arith_simplify(s->unit, tvms_substitute(s->unit, made.items[i], &vars));
  tvms_node_map_fini(&vars);
  tvms_node **simple = tvms_arena_array(&s->unit->arena, tvms_node *, count + 1);
  tvms_node *yes = tvms_bool_imm_new(s->unit, true, TVMS_NO_SPAN);
  bool found =
      tvms_iter_map_simplify(s->unit, t->analyzer, t->domains.items, t->domains.len,
                             made.items, count, yes, false, simple);
  for (uint32_t i = 0; found && i < count; i++)
    if (simple[i]->kind != TVMS_NODE_INT_IMM || made.items[i]->kind != TVMS_NODE_VAR)
      made.items[i] = simple[i];
  return made;
}

static tvms_node *map_access(tvms_rewriter *r, tvms_node *node) {
  transforming *t = r->self;
  if (*tvms_node_element(node).buffer != t->old) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_element element = tvms_node_element(copy);
  *element.buffer = t->made;
  *element.indices = mapped(t, *element.indices);
  return copy;
}

static tvms_node *keep_buffer(tvms_rewriter *r, tvms_node *node) {
  return r->role == TVMS_ROLE_DEFINE ? TVMS_REWRITE_BELOW : node;
}

// ---- Scopes ----

static void push(transforming *t, tvms_node *var, tvms_node *min, tvms_node *extent) {
  tvms_iter_domain domain = {var, min, extent};
  tvms_vec_push(&t->sched->context->memory, &t->domains, domain);
  tvms_analyzer_bind_range(t->analyzer, var, min, extent);
}

static tvms_node *enter_loop(tvms_rewriter *r, tvms_node *node) {
  transforming *t = r->self;
  const tvms_for *loop = tvms_as_for(node);
  push(t, loop->var, loop->min, loop->extent);
  tvms_node *made = tvms_rewrite_below(r, node);
  t->domains.len--;
  return made;
}

static tvms_list with_regions(transforming *t, tvms_list old, tvms_list found) {
  tvms_list made = old;
  for (uint32_t i = 0; i < old.len; i++) {
    if (tvms_sched_region_buffer(old, i) != t->old || !found.len) continue;
    if (made.items == old.items)
      made = tvms_list_copy(t->sched->unit, old.items, old.len);
    made.items[i] = found.items[0];
  }
  return made;
}

// What the block declares of the buffer is found anew from what it does.
static void renew_regions(transforming *t, tvms_block *block) {
  tvms_block *own = tvms_as_block(tvms_node_copy(t->sched->unit, &block->head));
  own->init = NULL;
  tvms_regions_infer_all(t->sched->unit, &t->buffers, own);
  block->reads = with_regions(t, block->reads, own->reads);
  block->writes = with_regions(t, block->writes, own->writes);
}

static void renew_lists(transforming *t, tvms_block *block) {
  tvms_unit *unit = t->sched->unit;
  tvms_list allocs =
      tvms_list_copy(unit, block->alloc_buffers.items, block->alloc_buffers.len);
  for (uint32_t i = 0; i < allocs.len; i++)
    if (allocs.items[i] == t->old) allocs.items[i] = t->made;
  block->alloc_buffers = allocs;
}

static tvms_node *enter_block(tvms_rewriter *r, tvms_node *node) {
  transforming *t = r->self;
  const tvms_block *block = tvms_as_block(node);
  uint32_t depth = t->domains.len;
  for (uint32_t i = 0; i < block->iter_vars.len; i++) {
    const tvms_iter_var *axis = tvms_as_iter_var(block->iter_vars.items[i]);
    const tvms_range *dom = tvms_as_range(axis->dom);
    push(t, axis->var, dom->min, dom->extent);
  }
  tvms_block *copy =
      tvms_as_block(tvms_node_copy(r->unit, tvms_rewrite_below(r, node)));
  t->domains.len = depth;
  renew_regions(t, copy);
  renew_lists(t, copy);
  return &copy->head;
}

static tvms_node *transformed(transforming *t, tvms_node *scope) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, t->sched->unit, t);
  r.roles = TVMS_IN(BODY) | TVMS_IN(USE);
  r.enter[TVMS_NODE_FOR] = enter_loop;
  r.enter[TVMS_NODE_BLOCK] = enter_block;
  r.enter[TVMS_NODE_BUFFER] = keep_buffer;
  r.leave[TVMS_NODE_BUFFER_LOAD] = map_access;
  r.leave[TVMS_NODE_STORE] = map_access;
  tvms_node *made = tvms_rewrite(&r, scope);
  tvms_rewriter_fini(&r);
  return made;
}

// ---- The buffer ----

// ("read", n), ("write", n) or a name.
static tvms_node *TVMS_NULLABLE find_buffer(tvms_step *step, uint32_t argument,
                                            int32_t block) {
  const tvms_sched_value *value = &step->args[argument];
  tvms_sched *s = step->sched;
  const tvms_block *b = tvms_sched_block(s, block);
  bool pair = value->kind == TVMS_VALUE_LIST && value->len == 2
              && value->items[0].kind == TVMS_VALUE_TEXT;
  if (pair)
    return tvms_cache_buffer(s, block, value->items[1].number,
                             strcmp(value->items[0].text, "write") == 0);
  for (uint32_t i = 0; value->kind == TVMS_VALUE_TEXT && i < b->writes.len; i++)
    if (strcmp(tvms_sched_buffer_name(s, tvms_sched_region_buffer(b->writes, i)),
               value->text)
        == 0)
      return tvms_sched_region_buffer(b->writes, i);
  for (uint32_t i = 0; value->kind == TVMS_VALUE_TEXT && i < b->reads.len; i++)
    if (strcmp(tvms_sched_buffer_name(s, tvms_sched_region_buffer(b->reads, i)),
               value->text)
        == 0)
      return tvms_sched_region_buffer(b->reads, i);
  (void)!tvms_sched_refuse(s, "the block has no such buffer");
  return NULL;
}

// Does the map tell all places apart and leave none empty? Finds the new shape.
static bool check_map(transforming *t, bool injective, tvms_list *shape) {
  tvms_sched *s = t->sched;
  tvms_list old = tvms_as_buffer(t->old)->shape;
  tvms_index_inverse inverse;
  if (!injective
      && !tvms_arith_map_inverse(s->unit, t->analyzer, &t->map->head, old, &inverse))
    return tvms_sched_refuse(s, "the map cannot be undone");
  if (!injective && !tvms_node_is_int(inverse.padding, 0))
    return tvms_sched_refuse(
        s, "the map leaves places without an element, which must be filled");
  uint32_t count = t->map->final_indices.len;
  tvms_node **extents = tvms_arena_array(&s->unit->arena, tvms_node *, count + 1);
  bool at_zero;
  if (!tvms_arith_map_shape(s->unit, t->analyzer, &t->map->head, old, extents,
                            &at_zero))
    return tvms_sched_refuse(s, "the shape behind the map is not known");
  *shape = tvms_list_copy(s->unit, extents, count);
  return true;
}

static void replace_parameter(transforming *t) {
  tvms_sched *s = t->sched;
  tvms_prim_func *function = tvms_as_prim_func(tvms_node_copy(s->unit, s->function));
  tvms_list buffers =
      tvms_list_copy(s->unit, function->buffers.items, function->buffers.len);
  for (uint32_t i = 0; i < buffers.len; i++)
    if (buffers.items[i] == t->old) buffers.items[i] = t->made;
  function->buffers = buffers;
  s->function = &function->head;
}

static bool run(transforming *t, int32_t block, bool injective) {
  tvms_sched *s = t->sched;
  bool matched;
  int32_t site = tvms_sched_definer(s, block, t->old, &matched), scope = site;
  if (matched && site == TVMS_NO_SITE)
    return tvms_sched_refuse(s, "'%s' is a part of another buffer",
                             tvms_sched_buffer_name(s, t->old));
  if (site == TVMS_NO_SITE && !tvms_sched_check_scope(s, block, false, &scope))
    return false;
  tvms_list shape;
  tvms_sched_mark_sizes(s, t->analyzer);
  if (!check_map(t, injective, &shape)) return false;
  tvms_buffer *made = tvms_as_buffer(tvms_node_copy(s->unit, t->old));
  made->shape = shape;
  t->made = &made->head;
  tvms_regions_put_buffer(&t->buffers, s->unit, t->made, t->made);
  tvms_node *old = tvms_sched_at(s, scope)->node;
  tvms_node *stmt = transformed(t, old);
  if (site == TVMS_NO_SITE) replace_parameter(t);
  tvms_sched_replace_one(s, old, stmt);
  return true;
}

bool tvms_step_transform_layout(tvms_step *step) {
  tvms_sched *s = step->sched;
  int32_t block = tvms_step_site(step, TVMS_ARG(TransformLayout, block));
  if (block == TVMS_NO_SITE) return false;
  transforming t = {.sched = s};
  t.old = find_buffer(step, TVMS_ARG(TransformLayout, buffer), block);
  if (!t.old) return false;
  tvms_list shape = tvms_as_buffer(t.old)->shape;
  tvms_dtype *types = tvms_arena_array(&s->unit->arena, tvms_dtype, shape.len + 1);
  for (uint32_t i = 0; i < shape.len; i++)
    types[i] = shape.items[i]->dtype;
  tvms_node *map =
      tvms_step_map(step, TVMS_ARG(TransformLayout, index_map), types, shape.len);
  if (!map) return false;
  t.map = tvms_as_index_map(map);
  t.analyzer = tvms_analyzer_new(s->unit);
  tvms_node_map_init(&t.buffers, &s->context->memory);
  bool injective =
      step->args[TVMS_ARG(TransformLayout, assume_injective_transform)].number != 0;
  bool fine = run(&t, block, injective);
  tvms_analyzer_free(t.analyzer);
  tvms_node_map_fini(&t.buffers);
  tvms_vec_fini(&s->context->memory, &t.domains);
  return fine;
}
