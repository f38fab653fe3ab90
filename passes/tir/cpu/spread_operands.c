// Putting what spreads an operand in the place of the loads of it.
#include "passes/tir/cpu/spread_operands.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/residues.h"
#include "passes/tir/cpu/stage.h"

enum { MOST_PRODUCERS = 4 };

#define NONE UINT32_MAX

typedef struct {
  tvms_distribution *d;
  tvms_list stmts;
  uint32_t at;  // the sum
  // Statements whose values were put into the sum, the last one first.
  uint32_t producers[MOST_PRODUCERS], count;
} joining;

static bool is_allocated(const joining *j, const tvms_node *buffer) {
  for (uint32_t i = 0; i < j->d->allocated.len; i++)
    if (j->d->allocated.items[i] == buffer) return true;
  return false;
}

// Does a stage choose what it stores, or 0, each element at its own axes?
static bool chooses_all(const tvms_stage *stage) {
  tvms_node_choice choice = tvms_node_choice_of(stage->store->value);
  bool seen[TVMS_MOST_STAGE_AXES] = {false};
  if (!choice.condition || stage->init || tvms_stage_has_sums(stage)
      || choice.no->kind != TVMS_NODE_FLOAT_IMM)
    return false;
  for (uint32_t i = 0; i < stage->store->indices.len; i++) {
    tvms_node *index = stage->store->indices.items[i];
    uint32_t axis = tvms_stage_axis_of(stage, index);
    if (axis == TVMS_MOST_STAGE_AXES && tvms_node_is_int(index, 0)) continue;
    if (axis == TVMS_MOST_STAGE_AXES || seen[axis]) return false;
    seen[axis] = true;
  }
  return true;
}

// Does a statement only load a buffer, if at all?
static bool only_loads(const joining *j, tvms_node *stmt, const tvms_node *buffer) {
  tvms_stage stage;
  if (!tvms_cpu_mentions(j->d->unit, stmt, buffer)) return true;
  return !tvms_stage_read(j->d->unit, stmt, &stage) && stage.store->buffer != buffer;
}

typedef struct {
  const joining *j;
  uint32_t from;
} change_search;

// May a buffer that is loaded change between its use by a producer and the sum?
static tvms_walk_step find_change(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const change_search *s = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_node *buffer = tvms_as_buffer_load(node)->buffer;
  for (uint32_t i = s->from + 1; i < s->j->at; i++)
    if (!only_loads(s->j, s->j->stmts.items[i], buffer)) return TVMS_WALK_STOP;
  return TVMS_WALK_ON;
}

// The only statement in front of the sum that stores a buffer, if that chooses; NONE: there is no such one.
static uint32_t find_producer(const joining *j, const tvms_node *buffer,
                              tvms_stage *stage) {
  tvms_unit *unit = j->d->unit;
  uint32_t found = NONE;
  if (!is_allocated(j, buffer)) return NONE;
  for (uint32_t i = 0; i < j->at; i++) {
    if (only_loads(j, j->stmts.items[i], buffer)) continue;
    if (found != NONE) return NONE;
    found = i;
  }
  change_search s = {j, found};
  tvms_visitor visitor = {.self = &s, .enter = find_change};
  bool fits = found != NONE && !tvms_stage_read(unit, j->stmts.items[found], stage)
              && stage->store->buffer == buffer && chooses_all(stage)
              && tvms_walk(&unit->context->memory, stage->store->value, &visitor);
  return fits ? found : NONE;
}

static tvms_node *take_value(tvms_rewriter *r, tvms_node *node) {
  joining *j = r->self;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  tvms_stage stage;
  uint32_t at = j->count < MOST_PRODUCERS && !load->predicate
                    ? find_producer(j, load->buffer, &stage)
                    : NONE;
  if (at == NONE) return node;
  j->producers[j->count++] = at;
  tvms_node_map now;
  tvms_node_map_init(&now, &r->unit->context->memory);
  for (uint32_t i = 0; i < load->indices.len; i++) {
    uint32_t axis = tvms_stage_axis_of(&stage, stage.store->indices.items[i]);
    if (axis != TVMS_MOST_STAGE_AXES)
      tvms_node_map_put(&now, stage.axes[axis].var, load->indices.items[i]);
  }
  tvms_node *value = tvms_stage_value_at(r->unit, stage.store->value, &now);
  tvms_node_map_fini(&now);
  return value;
}

// The sum with producers' values in it, if it is taken apart by residues then; NULL: it stays.
static tvms_node *TVMS_NULLABLE join(joining *j) {
  tvms_unit *unit = j->d->unit;
  tvms_stage stage;
  if (tvms_stage_read(unit, j->stmts.items[j->at], &stage) || !stage.init
      || !tvms_stage_has_sums(&stage))
    return NULL;
  tvms_node *value = stage.store->value;
  for (uint32_t before = 0; before == 0 || j->count > before;) {
    before = j->count;
    tvms_rewriter r;
    tvms_rewriter_init(&r, unit, j);
    r.leave[TVMS_NODE_BUFFER_LOAD] = take_value;
    value = tvms_rewrite(&r, value);
    tvms_rewriter_fini(&r);
    if (j->count == before) break;
  }
  if (!j->count) return NULL;
  const tvms_store *out = stage.store;
  tvms_node *store = tvms_cpu_store(unit, out->buffer, out->indices, value);
  stage.store = tvms_as_store(store);
  if (!tvms_cpu_has_residues(unit, &stage)) return NULL;
  return tvms_stage_write(unit, &stage, stage.name, store,
                          tvms_cpu_store(unit, out->buffer, out->indices, stage.init));
}

// Is what a statement stores used by another one?
static bool is_used(const joining *j, uint32_t producer) {
  tvms_stage stage;
  if (tvms_stage_read(j->d->unit, j->stmts.items[producer], &stage)) return true;
  for (uint32_t i = 0; i < j->stmts.len; i++)
    if (i != producer
        && tvms_cpu_mentions(j->d->unit, j->stmts.items[i], stage.store->buffer))
      return true;
  return false;
}

// Removes a statement whose result nothing uses any more.
static void drop(joining *j, uint32_t producer) {
  tvms_stage stage;
  if (is_used(j, producer)) return;
  (void)tvms_stage_read(j->d->unit, j->stmts.items[producer], &stage);
  tvms_node_map_put(j->d->gone, stage.store->buffer, stage.store->buffer);
  for (uint32_t i = producer; i + 1 < j->stmts.len; i++)
    j->stmts.items[i] = j->stmts.items[i + 1];
  j->stmts.len--;
  for (uint32_t i = 0; i < j->count; i++)
    j->producers[i] -= j->producers[i] > producer;
}

tvms_list tvms_cpu_join_spread(tvms_distribution *d, tvms_list stmts) {
  joining j = {.d = d, .stmts = tvms_list_copy(d->unit, stmts.items, stmts.len)};
  bool changed = false;
  for (j.at = 0; j.at < j.stmts.len; j.at++) {
    j.count = 0;
    tvms_node *made = join(&j);
    if (!made) continue;
    changed = true;
    j.stmts.items[j.at] = made;
    for (uint32_t i = 0; i < j.count; i++) {
      uint32_t before = j.stmts.len;
      drop(&j, j.producers[i]);
      j.at -= before - j.stmts.len;
    }
  }
  return changed ? j.stmts : stmts;
}
