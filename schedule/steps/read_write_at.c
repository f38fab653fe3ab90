// read_at, write_at: what a loop reads of a buffer, or writes to it, is copied as a whole, once per step of the loop.
// TVM: src/s_tir/schedule/primitive/read_write_at.cc.
#include "arith/int_set.h"
#include "ir/object.h"
#include "ir/walk.h"
#include "schedule/bindings.h"
#include "schedule/buffer_argument.h"
#include "schedule/buffers.h"
#include "schedule/cache_stage.h"
#include "schedule/declared.h"
#include "schedule/flags.h"
#include "schedule/make.h"
#include "schedule/region.h"
#include "schedule/steps.h"

typedef struct {
  tvms_sched *sched;
  int32_t loop, scope;
  bool write;
  tvms_node *old, *made;  // buffers
  tvms_list stmts;        // of the loop
  uint32_t begin, end;    // those that use the copy
  uint32_t index;         // the copying block stands in front of this one
  tvms_list ranges;       // what is copied
  tvms_list axes, values;
} copying;

// ---- What the statements use ----

// First and last statement that reads, and that writes; -1: none.
typedef struct {
  int64_t first_read, last_read, last_write;
} uses;

static uint32_t index_of(const copying *c, int32_t block) {
  int32_t at = block, parent;
  while ((parent = tvms_sched_parent(c->sched, at)) != c->loop)
    at = parent;
  const tvms_site *site = tvms_sched_at(c->sched, at);
  const tvms_node *stmt = site->realize ? site->realize : site->node;
  for (uint32_t i = 0; i < c->stmts.len; i++)
    if (c->stmts.items[i] == stmt
        || tvms_walk_contains(&c->sched->context->memory, c->stmts.items[i], stmt))
      return i;
  return 0;
}

static uses find_uses(copying *c, const tvms_site_vec *blocks) {
  uses u = {-1, -1, -1};
  for (uint32_t i = 0; i < blocks->len; i++) {
    const tvms_block *block = tvms_sched_block(c->sched, blocks->items[i]);
    uint32_t at = index_of(c, blocks->items[i]);
    if (tvms_sched_touches(block->reads, c->old)) {
      if (u.first_read < 0) u.first_read = at;
      u.last_read = at;
    }
    if (tvms_sched_touches(block->writes, c->old)) u.last_write = at;
  }
  return u;
}

static bool place(copying *c, const uses *u) {
  const char *name = tvms_sched_buffer_name(c->sched, c->old);
  if (!c->write) {
    if (u->first_read < 0)
      return tvms_sched_refuse(c->sched, "nothing in the loop reads '%s'", name);
    if (u->last_write >= u->first_read)
      return tvms_sched_refuse(c->sched, "'%s' is written after it is read", name);
    c->index = c->begin = (uint32_t)u->first_read;
    c->end = c->stmts.len;
    return true;
  }
  if (u->last_write < 0)
    return tvms_sched_refuse(c->sched, "nothing in the loop writes '%s'", name);
  if (u->last_read > u->last_write)
    return tvms_sched_refuse(c->sched, "'%s' is read after it is written", name);
  c->begin = 0;
  c->index = c->end = (uint32_t)u->last_write + 1;
  return true;
}

// ---- What is copied ----

static void widen(copying *c, int32_t site, tvms_node *region, tvms_int_set *sets,
                  bool first) {
  tvms_sched *s = c->sched;
  tvms_domain_vec run = {0};
  tvms_sched_domains(s, tvms_sched_parent(s, site), c->loop, &run);
  tvms_sched_add_threads(s, c->made, c->loop, &run);
  tvms_domains sets_of;
  tvms_domains_init(&sets_of, s->unit);
  for (uint32_t i = 0; i < run.len; i++)
    tvms_domains_set(
        &sets_of, run.items[i].var,
        tvms_int_set_of_range(s->unit, run.items[i].min, run.items[i].extent));
  tvms_node *bound = tvms_sched_bound(s, tvms_sched_realize(s, site), region);
  tvms_list ranges = tvms_as_buffer_region(bound)->region;
  for (uint32_t d = 0; d < ranges.len; d++) {
    const tvms_range *range = tvms_as_range(ranges.items[d]);
    tvms_int_set own = tvms_int_set_of_ranges(&sets_of, range->min, range->extent);
    sets[d] = first ? own : tvms_int_set_union(s->unit, sets[d], own);
  }
  tvms_domains_fini(&sets_of);
  tvms_vec_fini(&s->context->memory, &run);
}

static bool find_ranges(copying *c, const tvms_site_vec *blocks) {
  tvms_sched *s = c->sched;
  uint32_t rank = tvms_as_buffer(c->old)->shape.len;
  tvms_int_set *sets = tvms_arena_array(&s->unit->arena, tvms_int_set, rank + 1);
  bool first = true;
  for (uint32_t i = 0; i < blocks->len; i++) {
    const tvms_block *b = tvms_sched_block(s, blocks->items[i]);
    tvms_node *region = tvms_sched_region_of(c->write ? b->writes : b->reads, c->old);
    if (region) widen(c, blocks->items[i], region, sets, first);
    first = first && !region;
  }
  c->ranges.items = tvms_arena_array(&s->unit->arena, tvms_node *, rank + 1);
  for (uint32_t d = 0; d < rank; d++) {
    if (!sets[d].min || !sets[d].max)
      return tvms_sched_refuse(s, "which part of the buffer is used is not known");
    tvms_node *min = tvms_arith_simplify(s->unit, sets[d].min);
    tvms_node *one = tvms_sched_int(s, sets[d].max->dtype, 1);
    tvms_node *size = tvms_sched_build(
        s, TVMS_NODE_SUB, tvms_sched_build(s, TVMS_NODE_ADD, sets[d].max, one), min);
    c->ranges.items[c->ranges.len++] =
        tvms_range_new(s->unit, min, tvms_arith_simplify(s->unit, size), TVMS_NO_SPAN);
  }
  return true;
}

// Loops whose last step is cut by a condition of the block reach beyond the buffer, and the copy would, too.
static bool check_inside(copying *c) {
  tvms_sched *s = c->sched;
  tvms_list shape = tvms_as_buffer(c->old)->shape;
  tvms_analyzer *analyzer = tvms_sched_analyzer(s, c->loop);
  tvms_sched_mark_sizes(s, analyzer);
  bool fine = true;
  for (uint32_t d = 0; fine && d < shape.len; d++) {
    const tvms_range *range = tvms_as_range(c->ranges.items[d]);
    tvms_node *end = tvms_sched_build(s, TVMS_NODE_ADD, range->min, range->extent);
    fine = tvms_analyzer_can_prove_ge(analyzer, range->min, 0)
           && tvms_analyzer_can_prove(
               analyzer, tvms_sched_build(s, TVMS_NODE_LE, end, shape.items[d]));
  }
  tvms_analyzer_free(analyzer);
  return fine
         || tvms_sched_refuse(s, "what would be copied may lie outside of '%s'",
                              tvms_sched_buffer_name(s, c->old));
}

// Does the condition of the block hold it back for whole steps of the loop, in which everything is copied?
static bool skips_steps(const copying *c, const tvms_block_realize *realize) {
  tvms_sched *s = c->sched;
  for (int32_t at = c->loop; at != TVMS_NO_SITE && tvms_sched_is_loop(s, at);
       at = tvms_sched_parent(s, at))
    if (tvms_sched_uses(s, realize->predicate, tvms_sched_loop(s, at)->var))
      return true;
  return false;
}

static bool writes_all(const copying *c, int32_t site, tvms_node *region) {
  tvms_sched *s = c->sched;
  const tvms_block_realize *realize = tvms_sched_realize(s, site);
  if (!tvms_sched_runs_always(s, site) && skips_steps(c, realize)) return false;
  // The copy is what threads share, not the buffer.
  tvms_node *bound = tvms_node_copy(s->unit, tvms_sched_bound(s, realize, region));
  tvms_as_buffer_region(bound)->buffer = c->made;
  tvms_sched_span span = {.region = bound,
                          .predicate = realize->predicate,
                          .low = tvms_sched_parent(s, site),
                          .high = c->loop};
  tvms_int_set *sets =
      tvms_arena_array(&s->unit->arena, tvms_int_set, c->ranges.len + 1);
  bool fine = tvms_sched_cover(s, &span, false, sets);
  for (uint32_t d = 0; fine && d < c->ranges.len; d++) {
    const tvms_range *range = tvms_as_range(c->ranges.items[d]);
    tvms_node *min, *extent;
    fine = tvms_int_set_cover(s->unit, sets[d], &min, &extent)
           && tvms_arith_prove_equal(s->unit, min, range->min)
           && tvms_arith_prove_equal(s->unit, extent, range->extent);
  }
  return fine;
}

// All that is copied back must have been written. TVM does not ask for it.
static bool check_written(const copying *c, const tvms_site_vec *blocks) {
  if (!c->write) return true;
  for (uint32_t i = 0; i < blocks->len; i++) {
    tvms_list writes = tvms_sched_block(c->sched, blocks->items[i])->writes;
    tvms_node *region = tvms_sched_region_of(writes, c->old);
    if (!region) continue;
    const tvms_block *block = tvms_sched_block(c->sched, blocks->items[i]);
    if (!tvms_sched_check_stores(c->sched, blocks->items[i], c->old)) return false;
    if (writes_all(c, blocks->items[i],
                   tvms_sched_stored_region(c->sched, block, region)))
      return true;
  }
  return tvms_sched_refuse(c->sched, "no block writes all of the part of '%s'",
                           tvms_sched_buffer_name(c->sched, c->old));
}

// Threads that share the copy write a part of it each; where the copy lies in a block inside of their loops, each would copy back what it has not
// written. TVM does not ask.
static bool check_shared(const copying *c) {
  tvms_domain_vec threads = {0};
  if (c->write) tvms_sched_add_threads(c->sched, c->made, c->scope, &threads);
  uint32_t count = threads.len;
  tvms_vec_fini(&c->sched->context->memory, &threads);
  return !count
         || tvms_sched_refuse(c->sched,
                              "threads around block '%s' would share the copy in it",
                              tvms_sched_block_name(c->sched, c->scope));
}

// ---- The copying block ----

static bool is_free(const copying *c, const tvms_node *var) {
  for (uint32_t i = 0; i < c->values.len; i++)
    if (c->values.items[i] == var) return false;
  return true;
}

// Makes an axis of each loop that the ranges mention, in the order in which they do.
static tvms_walk_step see_var(void *self, tvms_node *node, tvms_field_role role) {
  copying *c = self;
  tvms_sched *s = c->sched;
  (void)role;
  if (node->kind != TVMS_NODE_VAR || !is_free(c, node)) return TVMS_WALK_ON;
  for (int32_t at = c->loop; at != TVMS_NO_SITE && tvms_sched_is_loop(s, at);
       at = tvms_sched_parent(s, at)) {
    const tvms_for *loop = tvms_sched_loop(s, at);
    if (loop->var != node) continue;
    tvms_node *var = tvms_sched_numbered(s, "v", c->axes.len, node->dtype);
    tvms_node *axis = tvms_sched_axis(s, var, loop->extent);
    tvms_as_iter_var(axis)->dom =
        tvms_range_new(s->unit, loop->min, loop->extent, TVMS_NO_SPAN);
    c->axes.items[c->axes.len++] = axis;
    c->values.items[c->values.len++] = node;
    return TVMS_WALK_ON;
  }
  return TVMS_WALK_STOP;
}

static bool find_axes(copying *c) {
  tvms_sched *s = c->sched;
  uint32_t depth = s->sites.len;
  c->axes.items = tvms_arena_array(&s->unit->arena, tvms_node *, 2 * depth + 1);
  c->values.items = c->axes.items + depth;
  tvms_visitor visitor = {.self = c, .enter = see_var};
  for (uint32_t d = 0; d < c->ranges.len; d++)
    if (!tvms_walk(&s->context->memory, c->ranges.items[d], &visitor))
      return tvms_sched_refuse(s, "the part that is used depends on more than loops");
  tvms_node_map map;
  tvms_node_map_init(&map, &s->context->memory);
  for (uint32_t i = 0; i < c->axes.len; i++)
    tvms_node_map_put(&map, c->values.items[i],
                      tvms_as_iter_var(c->axes.items[i])->var);
  for (uint32_t d = 0; d < c->ranges.len; d++)
    c->ranges.items[d] = tvms_substitute(s->unit, c->ranges.items[d], &map);
  tvms_node_map_fini(&map);
  return true;
}

static tvms_node *region_of(const copying *c, tvms_node *buffer) {
  return tvms_buffer_region_new(c->sched->unit, buffer, c->ranges.items, c->ranges.len,
                                TVMS_NO_SPAN);
}

static tvms_block *make_block(copying *c, const char *name) {
  tvms_sched *s = c->sched;
  uint32_t rank = c->ranges.len;
  tvms_node *from = c->write ? c->made : c->old, *to = c->write ? c->old : c->made;
  tvms_node **vars = tvms_arena_array(&s->unit->arena, tvms_node *, 2 * rank + 1);
  tvms_node **at = vars + rank;
  for (uint32_t d = 0; d < rank; d++) {
    vars[d] = tvms_sched_numbered(s, "ax", d, TVMS_DTYPE(INT, 32));
    at[d] = tvms_sched_build(s, TVMS_NODE_ADD, tvms_as_range(c->ranges.items[d])->min,
                             vars[d]);
  }
  tvms_node *value = tvms_buffer_load_new(s->unit, from, at, rank, NULL, TVMS_NO_SPAN);
  tvms_node *body = tvms_sched_store(s, to, at, rank, value);
  for (uint32_t d = rank; d-- > 0;)
    body = tvms_sched_for(s, vars[d], tvms_as_range(c->ranges.items[d])->extent, body);
  tvms_node *reads = region_of(c, from), *writes = region_of(c, to);
  tvms_block *block = tvms_sched_block_new(s, name);
  block->iter_vars = c->axes;
  block->reads = tvms_list_copy(s->unit, &reads, 1);
  block->writes = tvms_list_copy(s->unit, &writes, 1);
  block->annotations = tvms_object_map_with(
      s->unit, NULL, "auto_copy", tvms_object_bool_new(s->unit, true, TVMS_NO_SPAN));
  block->body = body;
  return block;
}

static void replace(copying *c, tvms_node *stage) {
  tvms_sched *s = c->sched;
  tvms_sched_swap swap = {c->old, c->made, NULL};
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i <= c->stmts.len; i++) {
    if (i == c->index) tvms_stmt_push(s->unit, &stmts, stage);
    if (i == c->stmts.len) break;
    bool inside = i >= c->begin && i < c->end;
    tvms_stmt_push(s->unit, &stmts,
                   inside ? tvms_sched_swapped(s, c->stmts.items[i], &swap)
                          : c->stmts.items[i]);
  }
  tvms_node *old = tvms_sched_at(s, c->loop)->node;
  tvms_for *loop = tvms_as_for(tvms_node_copy(s->unit, old));
  loop->body = tvms_stmt_seq(s->unit, &stmts, TVMS_NO_SPAN);
  tvms_node *scope = tvms_sched_at(s, c->scope)->node;
  tvms_sched_edit edit = {old, &loop->head};
  tvms_block *made = tvms_as_block(
      tvms_node_copy(s->unit, tvms_sched_edited(s->unit, scope, &edit, 1)));
  tvms_sched_add_alloc(s, made, c->made);
  tvms_sched_replace_one(s, scope, &made->head);
}

static bool run(tvms_step *step, copying *c, const char *scope_name) {
  tvms_sched *s = c->sched;
  const char *name =
      tvms_sched_joined(s, tvms_sched_buffer_name(s, c->old), scope_name);
  c->made = tvms_sched_buffer_like(s, c->old, name, scope_name, NULL);
  tvms_node *body = tvms_sched_loop(s, c->loop)->body;
  c->stmts = body->kind == TVMS_NODE_SEQ ? tvms_as_seq(body)->stmts
                                         : tvms_list_copy(s->unit, &body, 1);
  tvms_site_vec blocks = {0};
  tvms_sched_children(s, c->loop, &blocks);
  uses u = find_uses(c, &blocks);
  bool fine = place(c, &u) && find_ranges(c, &blocks) && check_inside(c)
              && check_written(c, &blocks) && find_axes(c)
              && tvms_sched_check_scope(s, c->loop, true, &c->scope) && check_shared(c);
  tvms_vec_fini(&s->context->memory, &blocks);
  if (!fine) return false;
  tvms_block *block = make_block(c, name);
  replace(c, tvms_sched_realize_new(s, block, c->values.items, c->values.len, NULL));
  int32_t site = tvms_sched_site_of(s, &block->head);
  tvms_sched_flags_give(s, site);
  tvms_sched_flags *flags = tvms_sched_flags_of(s, site);
  if (flags) flags->affine = c->axes.len > 0;
  tvms_step_give(step, site);
  return true;
}

// Both steps have the same parameters in the same places.
static bool copy_at(tvms_step *step, bool write) {
  copying c = {.sched = step->sched, .write = write};
  const char *scope = step->args[TVMS_ARG(ReadAt, storage_scope)].text;
  c.loop = tvms_step_site(step, TVMS_ARG(ReadAt, loop));
  if (c.loop == TVMS_NO_SITE) return false;
  int32_t block = tvms_step_site(step, TVMS_ARG(ReadAt, block));
  if (block == TVMS_NO_SITE || !tvms_cache_check_scope(c.sched, scope)) return false;
  c.old = tvms_step_numbered_buffer(step, TVMS_ARG(ReadAt, read_buffer_index), block,
                                    write);
  return c.old && run(step, &c, scope);
}

bool tvms_step_read_at(tvms_step *step) {
  return copy_at(step, false);
}

bool tvms_step_write_at(tvms_step *step) {
  return copy_at(step, true);
}
