// Finding the stages that go through the result of a contraction once, tile by tile.
#include "passes/tir/cpu/epilogues.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/tir/cpu/groups.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/step_order.h"

typedef struct {
  const tvms_node *buffer;
  const tvms_buffer_load *TVMS_NULLABLE load;  // the first one
  bool alike;                                  // all loads are of the same place
} uses;

static tvms_walk_step note_use(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  uses *u = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (load->buffer != u->buffer) return TVMS_WALK_ON;
  bool same = u->load && load->indices.len == u->load->indices.len && !load->predicate;
  for (uint32_t i = 0; same && i < load->indices.len; i++)
    same = tvms_node_same_expr(load->indices.items[i], u->load->indices.items[i]);
  if (u->load && !same) u->alike = false;
  if (!u->load) u->load = load;
  return TVMS_WALK_ON;
}

// Is the index `at` of the place that the contraction (or an epilogue before) stores at the axis
// `axis` of the contraction?
static bool axis_at(const tvms_contraction *c,
                    const tvms_epilogue *TVMS_NULLABLE before, tvms_node *index,
                    uint32_t *axis) {
  const tvms_stage *stage = before ? &before->stage : &c->stage;
  uint32_t i = tvms_stage_axis_of(stage, index);
  if (i == TVMS_MOST_STAGE_AXES) return false;
  *axis = before ? before->axis_of[i] : i;
  return true;
}

typedef struct {
  tvms_unit *unit;
  const tvms_contraction *c;
  const tvms_epilogue *TVMS_NULLABLE before;
  tvms_epilogue *e;
  bool seen[TVMS_MOST_STAGE_AXES];  // of the axes of the epilogue
} matching;

// An axis of the epilogue of one step, where the stage before it has 0: any such axis of the contraction is always 0,
// too.
static bool match_single(matching *m, uint32_t own) {
  const tvms_stage *stage = &m->c->stage;
  if (own == TVMS_MOST_STAGE_AXES || m->seen[own]
      || !tvms_stage_axis_is_single(&m->e->stage.axes[own]))
    return false;
  for (uint32_t i = 0; i < stage->count && !m->seen[own]; i++) {
    m->seen[own] = !stage->axes[i].sums && tvms_stage_axis_is_single(&stage->axes[i]);
    if (m->seen[own]) m->e->axis_of[own] = i;
  }
  return m->seen[own];
}

// An axis of the epilogue, or 0 for an axis of one step, where the contraction has this axis.
static bool match_axis(matching *m, tvms_node *stored, tvms_node *loaded) {
  uint32_t axis, own = tvms_stage_axis_of(&m->e->stage, loaded);
  if (tvms_node_is_int(stored, 0))
    return tvms_node_is_int(loaded, 0) || match_single(m, own);
  if (!axis_at(m->c, m->before, stored, &axis)) return false;
  const tvms_stage_axis *of_contraction = &m->c->stage.axes[axis];
  if (own == TVMS_MOST_STAGE_AXES)
    return tvms_node_is_int(loaded, 0) && tvms_stage_axis_is_single(of_contraction);
  if (m->seen[own]) return false;
  tvms_node *a = m->e->stage.axes[own].extent, *b = of_contraction->extent;
  if (!tvms_node_same_expr(a, b) && !tvms_arith_prove_equal(m->unit, a, b))
    return false;
  m->seen[own] = true;
  m->e->axis_of[own] = axis;
  return true;
}

// The place of a group, 8 * g + j, in both of them, or one axis.
static bool match_index(matching *m, tvms_node *stored, tvms_node *loaded) {
  bool group = stored->kind == TVMS_NODE_ADD && loaded->kind == TVMS_NODE_ADD;
  if (!group) return match_axis(m, stored, loaded);
  const tvms_binary *a = tvms_as_binary(stored), *b = tvms_as_binary(loaded);
  if (a->a->kind != TVMS_NODE_MUL || b->a->kind != TVMS_NODE_MUL) return false;
  const tvms_binary *first = tvms_as_binary(a->a), *own_first = tvms_as_binary(b->a);
  return tvms_node_same_expr(first->b, own_first->b)
         && match_axis(m, first->a, own_first->a) && match_axis(m, a->b, b->b);
}

// Each axis of the stage is an axis of the contraction, by the place where the result is loaded.
static bool match_axes(tvms_unit *unit, const tvms_contraction *c,
                       const tvms_epilogue *TVMS_NULLABLE before, tvms_list stored,
                       tvms_list loaded, tvms_epilogue *e) {
  matching m = {.unit = unit, .c = c, .before = before, .e = e};
  for (uint32_t i = 0; i < loaded.len; i++) {
    if (!match_index(&m, stored.items[i], loaded.items[i])) return false;
  }
  for (uint32_t i = 0; i < e->stage.count; i++) {
    if (!m.seen[i]) return false;
  }
  return true;
}

// Where the result is in groups, the stage that reads it is in the same ones. `loaded` is the place
// that it reads.
static bool split_alike(tvms_unit *unit, tvms_list stored, tvms_list loaded,
                        tvms_stage *stage) {
  for (uint32_t i = 0; i < loaded.len && i < stored.len; i++) {
    if (stored.items[i]->kind != TVMS_NODE_ADD) continue;
    const tvms_binary *place = tvms_as_binary(stored.items[i]);
    if (place->a->kind != TVMS_NODE_MUL) continue;
    const tvms_node *size = tvms_as_binary(place->a)->b;
    uint32_t axis = tvms_stage_axis_of(stage, loaded.items[i]);
    if (axis == TVMS_MOST_STAGE_AXES || !tvms_node_is_int_imm(size)) return false;
    const tvms_node *extent = stage->axes[axis].extent;
    if (!tvms_node_is_int_imm(extent)) return false;
    int64_t steps = tvms_as_int_imm(size)->value;
    return steps > 0 && tvms_as_int_imm(extent)->value % steps == 0
           && tvms_cpu_split_axis(unit, stage, axis, steps);
  }
  return false;
}

static const tvms_store *last_store(const tvms_contraction *c,
                                    const tvms_epilogue *epilogues, uint32_t count) {
  return count ? epilogues[count - 1].stage.store : c->stage.store;
}

static bool is_allocated(const tvms_list allocated, const tvms_node *buffer) {
  for (uint32_t i = 0; i < allocated.len; i++) {
    if (allocated.items[i] == buffer) return true;
  }
  return false;
}

// Does the last of these epilogues store where one of them loads, or may it?
static bool updates(tvms_unit *unit, const tvms_epilogue *all, uint32_t count) {
  const tvms_node *stored = all[count - 1].stage.store->buffer;
  for (uint32_t i = 0; i < count; i++) {
    if (all[i].in_place || tvms_cpu_mentions(unit, all[i].stage.store->value, stored))
      return true;
  }
  return false;
}

// May the epilogue behind `count` others store a tile while others are still to be computed?
// What updates a buffer must do that once for each element.
static bool may_store(tvms_unit *unit, const tvms_contraction *c, const tvms_tile *tile,
                      const tvms_epilogue *all, uint32_t count) {
  if (tvms_cpu_mentions(unit, c->term, all[count].stage.store->buffer)) return false;
  return !updates(unit, all, count + 1) || !tvms_tile_repeats(c, tile);
}

static uses uses_of(tvms_unit *unit, const tvms_stage *stage, const tvms_node *buffer) {
  uses u = {buffer, NULL, true};
  tvms_visitor visitor = {.self = &u, .enter = note_use};
  tvms_walk(&unit->context->memory, stage->store->value, &visitor);
  return u;
}

// Is `stmt` the next epilogue? The buffer between must be allocated here and used nowhere else.
static bool read_epilogue(tvms_unit *unit, const tvms_contraction *c,
                          const tvms_tile *tile, tvms_list allocated, tvms_list stmts,
                          uint32_t at, tvms_epilogue *all, uint32_t count) {
  tvms_epilogue *e = &all[count];
  const tvms_store *before = last_store(c, all, count);
  if (!is_allocated(allocated, before->buffer)) return false;
  if (tvms_stage_read(unit, stmts.items[at], &e->stage) || e->stage.init) return false;
  uses u = uses_of(unit, &e->stage, before->buffer);
  if (u.load && split_alike(unit, before->indices, u.load->indices, &e->stage))
    u = uses_of(unit, &e->stage, before->buffer);
  if (!u.load || !u.alike || e->stage.store->buffer == before->buffer) return false;
  bool last_is_float =
      tvms_dtype_same(e->stage.store->value->dtype, before->value->dtype);
  e->from = before->buffer;
  e->in_place = !c->apart && tvms_cpu_loads_there(unit, e->stage.store, allocated);
  const tvms_epilogue *earlier = count ? &all[count - 1] : NULL;
  if (!match_axes(unit, c, earlier, before->indices, u.load->indices, e)) return false;
  for (uint32_t i = at + 1; i < stmts.len; i++) {
    if (tvms_cpu_mentions(unit, stmts.items[i], before->buffer)) return false;
  }
  if (!may_store(unit, c, tile, all, count)) return false;
  // What changes the dtype is stored at once.
  return last_is_float || count + 1 < TVMS_MOST_EPILOGUES;
}

static bool keeps_dtype(const tvms_contraction *c, const tvms_epilogue *e) {
  return tvms_dtype_same(e->stage.store->value->dtype, c->stage.store->value->dtype);
}

uint32_t tvms_cpu_read_epilogues(tvms_unit *unit, const tvms_contraction *c,
                                 const tvms_tile *tile, tvms_list allocated,
                                 tvms_list stmts, uint32_t at, tvms_epilogue *all) {
  uint32_t count = 0;
  while (at + count < stmts.len && count < TVMS_MOST_EPILOGUES
         && (count == 0 || keeps_dtype(c, &all[count - 1]))
         && read_epilogue(unit, c, tile, allocated, stmts, at + count, all, count))
    count++;
  return count;
}

// The axis of the last stage along which the contraction has its columns; NULL: there is none.
static const tvms_node *column_of(const tvms_contraction *c,
                                  const tvms_epilogue *last) {
  for (uint32_t i = 0; i < last->stage.count; i++)
    if (last->axis_of[i] == c->column) return last->stage.axes[i].var;
  return NULL;
}

bool tvms_cpu_may_store_twice(tvms_unit *unit, const tvms_epilogue *all,
                              uint32_t count) {
  return !count || !updates(unit, all, count);
}

bool tvms_cpu_result_has_room(tvms_unit *unit, const tvms_contraction *c,
                              const tvms_epilogue *all, uint32_t count) {
  if (!count || !keeps_dtype(c, &all[count - 1]) || updates(unit, all, count))
    return false;
  const tvms_epilogue *last = &all[count - 1];
  const tvms_store *out = last->stage.store;
  const tvms_node *column = column_of(c, last);
  int64_t step;
  return column && tvms_cpu_is_injective(unit, &last->stage)
         && tvms_cpu_step_of(unit, out->buffer, out->indices, column, &step)
         && step == 1;
}
