// transform_layout: a buffer is laid out in another order or in tiles; places without an element are filled (schedule/layout_padding.h).
// TVM: src/s_tir/schedule/primitive/layout_transformation.cc.
#include "arith/index_map.h"
#include "ir/fold.h"
#include "schedule/bindings.h"
#include "schedule/buffer_argument.h"
#include "schedule/buffers.h"
#include "schedule/flags.h"
#include "schedule/injective.h"
#include "schedule/iter_scope.h"
#include "schedule/layout_padding.h"
#include "schedule/make.h"
#include "schedule/steps.h"
#include "structinfo/regions.h"

#include <string.h>

typedef struct {
  tvms_sched *sched;
  tvms_node *old, *made;  // buffers
  const tvms_index_map *map;
  tvms_analyzer *analyzer;
  tvms_sched_iter scope;
  tvms_node_map buffers;  // the new one, for regions
  tvms_sched_padding padding;
} transforming;

// ---- Accesses ----

static tvms_node *map_access(tvms_rewriter *r, tvms_node *node) {
  transforming *t = r->self;
  if (*tvms_node_element(node).buffer != t->old) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_element element = tvms_node_element(copy);
  *element.buffer = t->made;
  *element.indices = tvms_sched_iter_simplify(
      &t->scope, tvms_sched_mapped(t->sched, t->map, *element.indices));
  return copy;
}

static tvms_node *keep_buffer(tvms_rewriter *r, tvms_node *node) {
  return r->role == TVMS_ROLE_DEFINE ? TVMS_REWRITE_BELOW : node;
}

// ---- Scopes ----

// What fills places without an element stands behind this statement.
static tvms_node *add_epilogue(tvms_rewriter *r, tvms_node *node) {
  const transforming *t = r->self;
  return r->old == t->padding.behind
             ? tvms_stmt_pair(r->unit, node, t->padding.epilogue)
             : node;
}

static tvms_node *enter_loop(tvms_rewriter *r, tvms_node *node) {
  transforming *t = r->self;
  tvms_node *other = tvms_node_map_get(&t->padding.loops, node);
  if (other) return tvms_rewrite(r, other);
  tvms_node *made = tvms_sched_iter_loop(&t->scope, r, node);
  return node == t->padding.behind ? tvms_stmt_pair(r->unit, made, t->padding.epilogue)
                                   : made;
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
  tvms_list matches =
      tvms_list_copy(unit, block->match_buffers.items, block->match_buffers.len);
  for (uint32_t i = 0; i < matches.len; i++) {
    tvms_match_buffer_region *match =
        tvms_as_match_buffer_region(tvms_node_copy(unit, matches.items[i]));
    const tvms_buffer_region *source = tvms_as_buffer_region(match->source);
    if (source->buffer != t->old) continue;
    match->source = tvms_buffer_region_new(unit, t->made, source->region.items,
                                           source->region.len, TVMS_NO_SPAN);
    matches.items[i] = &match->head;
  }
  block->match_buffers = matches;
}

static tvms_node *enter_block(tvms_rewriter *r, tvms_node *node) {
  transforming *t = r->self;
  uint32_t mark = tvms_sched_iter_axes(&t->scope, tvms_as_block(node));
  tvms_block *copy =
      tvms_as_block(tvms_node_copy(r->unit, tvms_rewrite_below(r, node)));
  tvms_sched_iter_leave(&t->scope, mark);
  renew_lists(t, copy);
  renew_regions(t, copy);
  return &copy->head;
}

static tvms_node *transformed(transforming *t, tvms_node *scope) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, t->sched->unit, t);
  tvms_sched_iter_init(&t->scope, t->sched, &r);
  r.roles = TVMS_IN(BODY) | TVMS_IN(USE);
  r.enter[TVMS_NODE_FOR] = enter_loop;
  r.enter[TVMS_NODE_BLOCK] = enter_block;
  r.enter[TVMS_NODE_BUFFER] = keep_buffer;
  r.leave[TVMS_NODE_BUFFER_LOAD] = map_access;
  r.leave[TVMS_NODE_STORE] = map_access;
  r.leave[TVMS_NODE_BLOCK_REALIZE] = add_epilogue;
  tvms_node *made = tvms_rewrite(&r, scope);
  tvms_rewriter_fini(&r);
  tvms_sched_iter_fini(&t->scope);
  if (!t->padding.prologue) return made;
  tvms_block *block = tvms_as_block(tvms_node_copy(t->sched->unit, made));
  block->body = tvms_stmt_pair(t->sched->unit, t->padding.prologue, block->body);
  return &block->head;
}

// ---- The map ----

// Is there a place for each element? Finds the inverse and where there are places without one, unless `injective`.
static bool check_map(transforming *t, bool injective, tvms_list *shape) {
  tvms_sched *s = t->sched;
  tvms_list old = tvms_as_buffer(t->old)->shape;
  tvms_index_inverse inverse;
  t->padding.padding = tvms_bool_imm_new(s->unit, false, TVMS_NO_SPAN);
  if (!injective) {
    if (!tvms_arith_map_inverse(s->unit, t->analyzer, &t->map->head, old, &inverse))
      return tvms_sched_refuse(s, "the map cannot be undone");
    if (!t->map->inverse
        && !tvms_sched_is_injective(s, t->map->initial_indices, old,
                                    t->map->final_indices))
      return tvms_sched_refuse(s, "the map may put several elements to one place");
    t->padding.inverse = tvms_as_index_map(inverse.map);
    t->padding.padding = inverse.padding;
  } else if (t->padding.value) {
    return tvms_sched_refuse(
        s, "places are filled only where the map may not be assumed to have none");
  }
  if (!tvms_node_is_int(t->padding.padding, 0) && !t->padding.value)
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

// ---- The value of places without an element ----

// A number as a function of indices. It has the buffer's type if it is of that kind.
static tvms_node *constant_map(transforming *t, const tvms_sched_value *value) {
  tvms_unit *unit = t->sched->unit;
  tvms_dtype element = tvms_as_buffer(t->old)->element;
  bool whole = element.code == TVMS_INT || element.code == TVMS_UINT;
  bool real = value->kind == TVMS_VALUE_FLOAT;
  tvms_node *number =
      real ? tvms_build_float(
          unit, whole || element.code == TVMS_BOOL ? TVMS_DTYPE(FLOAT, 32) : element,
          value->real, TVMS_NO_SPAN)
           : tvms_build_int(unit, whole ? element : TVMS_DTYPE(INT, 32), value->number,
                            TVMS_NO_SPAN);
  if (!number) return NULL;
  tvms_index_map *map = tvms_node_make(unit, INDEX_MAP, TVMS_NO_SPAN);
  map->initial_indices =
      tvms_list_copy(unit, t->map->final_indices.items, t->map->final_indices.len);
  for (uint32_t i = 0; i < map->initial_indices.len; i++)
    map->initial_indices.items[i] = tvms_sched_numbered(
        t->sched, "indices_", i, t->map->final_indices.items[i]->dtype);
  map->final_indices = tvms_list_copy(unit, &number, 1);
  return &map->head;
}

static bool find_value(tvms_step *step, transforming *t) {
  tvms_sched *s = t->sched;
  uint32_t index = TVMS_ARG(TransformLayout, pad_value);
  const tvms_sched_value *value = &step->args[index];
  tvms_list places = t->map->final_indices;
  if (value->kind == TVMS_VALUE_NONE) return true;
  tvms_dtype *types = tvms_arena_array(&s->unit->arena, tvms_dtype, places.len + 1);
  for (uint32_t i = 0; i < places.len; i++)
    types[i] = places.items[i]->dtype;
  tvms_node *map = value->kind == TVMS_VALUE_LAMBDA
                       ? tvms_step_map(step, index, types, places.len)
                       : constant_map(t, value);
  if (!map) return false;
  step->args[index].map = map;
  t->padding.value = tvms_as_index_map(map);
  tvms_list finals = t->padding.value->final_indices;
  if (finals.len != 1)
    return tvms_sched_refuse(s, "the function that fills places gives %u values",
                             finals.len);
  return tvms_dtype_same(finals.items[0]->dtype, tvms_as_buffer(t->old)->element)
         || tvms_sched_refuse(
             s, "what fills places is not of the type of the elements of '%s'",
             tvms_sched_buffer_name(s, t->old));
}

// ---- The buffer ----

static bool is_identity(const tvms_index_map *map) {
  tvms_list from = map->initial_indices, to = map->final_indices;
  bool same = from.len == to.len;
  for (uint32_t i = 0; same && i < from.len; i++)
    same = from.items[i] == to.items[i];
  return same;
}

static bool run(transforming *t, int32_t block, bool injective) {
  tvms_sched *s = t->sched;
  bool parameter;
  int32_t scope = tvms_sched_owner(s, block, t->old, &parameter);
  if (scope == TVMS_NO_SITE) return false;
  // TVM keeps the region of the part.
  if (tvms_sched_has_view(s, tvms_sched_at(s, scope)->node, t->old)
      && !is_identity(t->map))
    return tvms_sched_refuse(s, "a block matches a part of '%s'",
                             tvms_sched_buffer_name(s, t->old));
  tvms_list shape;
  tvms_sched_mark_sizes(s, t->analyzer);
  if (!check_map(t, injective, &shape)) return false;
  tvms_buffer *made = tvms_as_buffer(tvms_node_copy(s->unit, t->old));
  made->shape = shape;
  t->made = &made->head;
  tvms_regions_put_buffer(&t->buffers, s->unit, t->made, t->made);
  tvms_node *old = tvms_sched_at(s, scope)->node;
  t->padding.old = t->old;
  t->padding.made = t->made;
  if (t->padding.value && !tvms_node_is_int(t->padding.padding, 0))
    tvms_sched_padding_plan(&t->padding, old);
  tvms_node *stmt = transformed(t, old);
  if (parameter) tvms_sched_replace_parameter(s, t->old, t->made);
  tvms_sched_replace_one(s, old, stmt);
  // What is assumed is new to the scope, of which TVM knows nothing any more.
  tvms_sched_flags *flags = tvms_sched_flags_of(s, scope);
  if (flags && t->padding.prologue) *flags = (tvms_sched_flags){0};
  return true;
}

bool tvms_step_transform_layout(tvms_step *step) {
  tvms_sched *s = step->sched;
  int32_t block = tvms_step_site(step, TVMS_ARG(TransformLayout, block));
  if (block == TVMS_NO_SITE) return false;
  transforming t = {.sched = s, .padding = {.sched = s}};
  bool write;
  t.old = tvms_step_buffer(step, TVMS_ARG(TransformLayout, buffer), block, &write);
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
  tvms_node_map_init(&t.padding.loops, &s->context->memory);
  bool fine = find_value(step, &t) && run(&t, block, injective);
  tvms_analyzer_free(t.analyzer);
  tvms_node_map_fini(&t.buffers);
  tvms_node_map_fini(&t.padding.loops);
  return fine;
}
