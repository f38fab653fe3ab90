// Putting what a stage computes in the place of a contraction's loads of it.
#include "passes/tir/cpu/producers.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/contraction.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/rows.h"

typedef struct {
  tvms_unit *unit;
  tvms_list allocated, stmts;
  bool *joined;                             // a contraction with producers in it
  const tvms_node *TVMS_NULLABLE *dropped;  // the buffer of a producer that was inlined
} search;

static bool contains(search *s, tvms_node *node, const tvms_node *what) {
  return tvms_walk_contains(&s->unit->context->memory, node, what);
}

// ---- What can be put in the place of a load ----

// Every element of the buffer is stored once, at its own axes.
static bool stores_all(const tvms_stage *stage) {
  const tvms_store *out = stage->store;
  tvms_list shape = tvms_as_buffer(out->buffer)->shape;
  if (stage->init || out->indices.len != shape.len) return false;
  uint32_t seen = 0;
  for (uint32_t i = 0; i < shape.len; i++) {
    uint32_t axis = tvms_stage_axis_of(stage, out->indices.items[i]);
    bool constant = tvms_node_is_int(out->indices.items[i], 0);
    if (axis == TVMS_MOST_STAGE_AXES && !constant) return false;
    if (axis == TVMS_MOST_STAGE_AXES) continue;
    if (seen & (1u << axis)) return false;
    seen |= 1u << axis;
  }
  for (uint32_t i = 0; i < stage->count; i++) {
    if (!(seen & (1u << i)) && !tvms_stage_axis_is_single(&stage->axes[i]))
      return false;
  }
  return true;
}

static bool is_allocated(const search *s, const tvms_node *buffer) {
  for (uint32_t i = 0; i < s->allocated.len; i++) {
    if (s->allocated.items[i] == buffer) return true;
  }
  return false;
}

typedef struct {
  search *search;
  tvms_node *value;
  bool changes;
} change_check;

static tvms_walk_step note_store(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  change_check *c = self;
  if (node->kind == TVMS_NODE_STORE)
    c->changes |=
        tvms_cpu_mentions(c->search->unit, c->value, tvms_as_store(node)->buffer);
  return TVMS_WALK_ON;
}

// Is something stored to what `value` reads?
static bool changes(search *s, tvms_node *stmt, tvms_node *value) {
  change_check c = {s, value, false};
  tvms_visitor visitor = {.self = &c, .enter = note_store};
  tvms_walk(&s->unit->context->memory, stmt, &visitor);
  return c.changes;
}

// Is an index used otherwise than in sums, products and quotients, so that it must keep its width?
static tvms_walk_step find_narrow(void *self, tvms_node *node, tvms_field_role role) {
  const tvms_stage *stage = self;
  (void)role;
  if (node->kind == TVMS_NODE_CAST || node->kind == TVMS_NODE_BUFFER_LOAD
      || tvms_node_is_binary(node))
    return TVMS_WALK_ON;
  tvms_child_at at = {0};
  for (const tvms_node *part; (part = tvms_walk_next_child(node, &at));)
    if (tvms_stage_axis_of(stage, part) != TVMS_MOST_STAGE_AXES) return TVMS_WALK_STOP;
  return TVMS_WALK_ON;
}

static bool keeps_widths(search *s, const tvms_stage *stage) {
  tvms_visitor visitor = {.self = (void *)(uintptr_t)stage, .enter = find_narrow};
  return !tvms_walk(&s->unit->context->memory, stage->store->value, &visitor);
}

// The stage among the statements before `at` that makes the buffer, if it may be computed at
// statement `at` instead, which alone reads it; *from is its number.
static bool find_producer(search *s, const tvms_node *buffer, uint32_t at,
                          tvms_stage *stage, uint32_t *from) {
  if (!is_allocated(s, buffer)) return false;
  uint32_t found = at;
  for (uint32_t i = 0; i < s->stmts.len; i++) {
    if (i == at || s->dropped[i]
        || !tvms_cpu_mentions(s->unit, s->stmts.items[i], buffer))
      continue;
    if (found != at || i > at) return false;
    found = i;
  }
  if (found == at || s->joined[found]) return false;
  if (tvms_stage_read(s->unit, s->stmts.items[found], stage) || !stores_all(stage))
    return false;
  if (stage->store->buffer != buffer || contains(s, stage->store->value, buffer))
    return false;
  for (uint32_t i = found + 1; i < at; i++) {
    if (!s->dropped[i] && changes(s, s->stmts.items[i], stage->store->value))
      return false;
  }
  *from = found;
  return !keeps_widths(s, stage)
         && tvms_contraction_is_arithmetic(&s->unit->context->memory,
                                           stage->store->value);
}

// ---- Putting it there ----

typedef struct {
  search *search;
  const tvms_stage *producer;
} replacement;

static tvms_node *put_value(tvms_rewriter *r, tvms_node *node) {
  const replacement *with = r->self;
  tvms_unit *unit = with->search->unit;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  const tvms_store *out = with->producer->store;
  if (load->buffer != out->buffer) return node;
  tvms_node_map at;
  tvms_node_map_init(&at, &unit->context->memory);
  for (uint32_t i = 0; i < with->producer->count; i++) {
    tvms_node *var = with->producer->axes[i].var;
    tvms_node_map_put(&at, var, tvms_int_imm_new(unit, var->dtype, 0, TVMS_NO_SPAN));
  }
  for (uint32_t i = 0; i < load->indices.len; i++) {
    tvms_node *var = out->indices.items[i];
    if (var->kind == TVMS_NODE_VAR) tvms_node_map_put(&at, var, load->indices.items[i]);
  }
  tvms_node *value = tvms_stage_value_at(unit, out->value, &at);
  tvms_node_map_fini(&at);
  return value;
}

static tvms_node *with_producer(search *s, tvms_node *expr,
                                const tvms_stage *producer) {
  replacement with = {s, producer};
  tvms_rewriter r;
  tvms_rewriter_init(&r, s->unit, &with);
  r.leave[TVMS_NODE_BUFFER_LOAD] = put_value;
  tvms_node *made = tvms_rewrite(&r, expr);
  tvms_rewriter_fini(&r);
  return made;
}

enum { MOST_LOADED = 8 };

typedef struct {
  const tvms_node *buffers[MOST_LOADED];
  uint32_t count;
} loaded;

static tvms_walk_step note_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  loaded *l = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  if (tvms_as_buffer_load(node)->predicate) return TVMS_WALK_ON;
  if (l->count < MOST_LOADED)
    l->buffers[l->count++] = tvms_as_buffer_load(node)->buffer;
  return TVMS_WALK_ON;
}

// Steps of all axes, or -1 if their number is not known.
static int64_t steps_of(const tvms_stage *stage) {
  int64_t steps = 1;
  for (uint32_t i = 0; i < stage->count; i++) {
    int64_t extent = tvms_cpu_number(stage->axes[i].extent);
    if (extent < 0 || __builtin_mul_overflow(steps, extent, &steps)) return -1;
  }
  return steps;
}

// Is the stage a sum along rows, such as a vector times the rows of weights?
static bool is_fold(search *s, const tvms_stage *stage) {
  tvms_stage settled = *stage;
  tvms_chain_settle(s->unit, &settled);
  return !tvms_line_refuse(s->unit, &settled);
}

// The stage at statement `at` with as many producers in it as there are; true if it is a contraction
// then, or a sum along rows that uses each element of theirs once.
static bool join_into(search *s, uint32_t at, tvms_stage *stage, bool *used) {
  bool any = false, once = true;
  for (uint32_t round = 0; round < MOST_LOADED; round++) {
    loaded l = {.count = 0};
    tvms_visitor visitor = {.self = &l, .enter = note_load};
    tvms_walk(&s->unit->context->memory, stage->store->value, &visitor);
    bool more = false;
    for (uint32_t i = 0; i < l.count && !more; i++) {
      tvms_stage producer;
      uint32_t from;
      more = l.buffers[i] != stage->store->buffer
             && find_producer(s, l.buffers[i], at, &producer, &from);
      if (!more) continue;
      tvms_node *store = tvms_node_copy(s->unit, &stage->store->head);
      tvms_as_store(store)->value = with_producer(s, stage->store->value, &producer);
      stage->store = tvms_as_store(store);
      s->dropped[from] = producer.store->buffer;
      used[from] = any = true;
      once &= steps_of(&producer) > 0 && steps_of(&producer) == steps_of(stage);
    }
    if (!more) break;
  }
  tvms_contraction c;
  if (!any) return false;
  return !tvms_contraction_find(s->unit, stage, &c) || (once && is_fold(s, stage));
}

static tvms_list what_stays(search *s, tvms_node_map *gone) {
  tvms_list made = tvms_list_copy(s->unit, s->stmts.items, s->stmts.len);
  made.len = 0;
  for (uint32_t i = 0; i < s->stmts.len; i++) {
    tvms_node *buffer = (tvms_node *)(uintptr_t)s->dropped[i];
    if (buffer)
      tvms_node_map_put(gone, buffer, buffer);
    else
      made.items[made.len++] = s->stmts.items[i];
  }
  return made;
}

// The statement of a contraction as it is now: who asks what reads a buffer must see it.
static tvms_node *written(search *s, const tvms_stage *stage) {
  const tvms_store *out = stage->store;
  tvms_node *init = NULL;
  if (stage->init)
    init = tvms_cpu_store(s->unit, out->buffer, out->indices, stage->init);
  return tvms_stage_write(s->unit, stage, stage->name, (tvms_node *)&out->head, init);
}

tvms_list tvms_cpu_producers_join(tvms_unit *unit, tvms_list allocated, tvms_list stmts,
                                  tvms_node_map *gone) {
  search s = {.unit = unit, .allocated = allocated};
  s.stmts = tvms_list_copy(unit, stmts.items, stmts.len);
  s.joined = tvms_arena_array(&unit->arena, bool, stmts.len);
  s.dropped = tvms_arena_array(&unit->arena, const tvms_node *, stmts.len);
  bool *used = tvms_arena_array(&unit->arena, bool, stmts.len);
  for (uint32_t i = 0; i < stmts.len; i++) {
    s.joined[i] = used[i] = false;
    s.dropped[i] = NULL;
  }
  for (uint32_t at = 1; at < stmts.len; at++) {
    tvms_stage stage;
    if (tvms_stage_read(unit, stmts.items[at], &stage) || !tvms_stage_has_sums(&stage))
      continue;
    s.joined[at] = join_into(&s, at, &stage, used);
    if (s.joined[at]) s.stmts.items[at] = written(&s, &stage);
    for (uint32_t i = 0; i < at; i++) {
      if (used[i] && !s.joined[at]) s.dropped[i] = NULL;
      used[i] = false;
    }
  }
  return what_stays(&s, gone);
}
