// Splitting an axis of a result at the groups in which operands are indexed.
#include "passes/tir/cpu/groups.h"

#include "arith/analyzer.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

// ---- Splitting an axis ----

// (8 * g + j) // 8 is g. Indices without a division stay as they are, to be known again.
static tvms_node *simplify_quotient(tvms_rewriter *r, tvms_node *node) {
  return node == r->old ? node : tvms_analyzer_simplify(r->self, node);
}

// The store with `value` in the place of a variable.
static const tvms_store *stored_at(tvms_unit *unit, const tvms_stage *stage,
                                   const tvms_node *var, tvms_node *value) {
  tvms_analyzer *analyzer = tvms_stage_analyzer(unit, stage);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, analyzer);
  tvms_node_map_put(&r.known, var, value);
  r.leave[TVMS_NODE_FLOOR_DIV] = r.leave[TVMS_NODE_FLOOR_MOD] = simplify_quotient;
  tvms_store *made = tvms_as_store(tvms_node_copy(unit, &stage->store->head));
  made->value = tvms_rewrite(&r, made->value);
  made->indices = tvms_list_copy(unit, made->indices.items, made->indices.len);
  for (uint32_t i = 0; i < made->indices.len; i++)
    made->indices.items[i] = tvms_rewrite(&r, made->indices.items[i]);
  tvms_rewriter_fini(&r);
  tvms_analyzer_free(analyzer);
  return made;
}

bool tvms_cpu_split_axis(tvms_unit *unit, tvms_stage *stage, uint32_t axis,
                         int64_t size) {
  if (stage->count == TVMS_MOST_STAGE_AXES) return false;
  const tvms_stage_axis whole = stage->axes[axis];
  int64_t groups = tvms_as_int_imm(whole.extent)->value / size;
  tvms_dtype dtype = whole.extent->dtype;
  for (uint32_t i = stage->count++; i > axis; i--)
    stage->axes[i] = stage->axes[i - 1];
  tvms_stage_axis *outer = &stage->axes[axis], *inner = &stage->axes[axis + 1];
  outer->var = tvms_cpu_variable(unit, "g", whole.var);
  outer->extent = tvms_int_imm_new(unit, dtype, groups, TVMS_NO_SPAN);
  inner->var = tvms_cpu_variable(unit, "j", whole.var);
  inner->extent = tvms_int_imm_new(unit, dtype, size, TVMS_NO_SPAN);
  tvms_node *steps = tvms_int_imm_new(unit, whole.var->dtype, size, TVMS_NO_SPAN);
  tvms_node *first =
      tvms_build_binary(unit, TVMS_NODE_MUL, outer->var, steps, TVMS_NO_SPAN);
  tvms_node *value =
      tvms_build_binary(unit, TVMS_NODE_ADD, first, inner->var, TVMS_NO_SPAN);
  stage->store = stored_at(unit, stage, whole.var, value);
  return true;
}

// ---- Finding groups ----

typedef struct {
  tvms_memory *memory;
  const tvms_stage *stage;
  const tvms_node *TVMS_NULLABLE buffer;  // that is loaded; NULL: any
  uint32_t axis;
  int64_t size;
} group;

// o // 8, where 8 is less than the extent of o and divides it.
static tvms_walk_step find_group(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  group *g = self;
  if (node->kind != TVMS_NODE_FLOOR_DIV) return TVMS_WALK_ON;
  const tvms_binary *quotient = tvms_as_binary(node);
  uint32_t axis = tvms_stage_axis_of(g->stage, quotient->a);
  if (axis == TVMS_MOST_STAGE_AXES || !tvms_node_is_int_imm(quotient->b))
    return TVMS_WALK_ON;
  const tvms_node *extent = g->stage->axes[axis].extent;
  if (g->stage->axes[axis].sums || !tvms_node_is_int_imm(extent)) return TVMS_WALK_ON;
  int64_t size = tvms_as_int_imm(quotient->b)->value;
  int64_t steps = tvms_as_int_imm(extent)->value;
  if (size <= 1 || size >= steps || steps % size) return TVMS_WALK_ON;
  g->axis = axis;
  g->size = size;
  return TVMS_WALK_STOP;
}

static bool sums_along(const group *g, tvms_node *index) {
  for (uint32_t i = 0; i < g->stage->count; i++) {
    const tvms_stage_axis *axis = &g->stage->axes[i];
    if (axis->sums && !tvms_stage_axis_is_single(axis)
        && tvms_walk_contains(g->memory, index, axis->var))
      return true;
  }
  return false;
}

// Without a sum within the group, o // 8 is one element for eight results, as of packed words.
static tvms_walk_step find_grouped_load(void *self, tvms_node *node,
                                        tvms_field_role role) {
  (void)role;
  group *g = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  tvms_list indices = tvms_as_buffer_load(node)->indices;
  tvms_visitor visitor = {.self = g, .enter = find_group};
  for (uint32_t i = 0; i < indices.len; i++) {
    if (sums_along(g, indices.items[i])
        && !tvms_walk(g->memory, indices.items[i], &visitor))
      return TVMS_WALK_STOP;
  }
  return TVMS_WALK_SKIP;
}

static tvms_walk_step find_row_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  group *g = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  tvms_visitor visitor = {.self = g, .enter = find_group};
  for (uint32_t i = 0; i < load->indices.len && load->buffer == g->buffer; i++) {
    if (!tvms_walk(g->memory, load->indices.items[i], &visitor)) return TVMS_WALK_STOP;
  }
  return TVMS_WALK_SKIP;
}

bool tvms_cpu_split_rows(tvms_unit *unit, tvms_stage *stage, const tvms_node *buffer) {
  group found = {.memory = &unit->context->memory, .stage = stage, .buffer = buffer};
  tvms_visitor visitor = {.self = &found, .enter = find_row_load};
  if (tvms_walk(&unit->context->memory, stage->store->value, &visitor)) return false;
  return tvms_cpu_split_axis(unit, stage, found.axis, found.size);
}

bool tvms_cpu_split_groups(tvms_unit *unit, tvms_stage *stage) {
  group found = {.memory = &unit->context->memory, .stage = stage};
  tvms_visitor visitor = {.self = &found, .enter = find_grouped_load};
  if (tvms_walk(&unit->context->memory, stage->store->value, &visitor)) return false;
  return tvms_cpu_split_axis(unit, stage, found.axis, found.size);
}

// ---- What a reshape takes apart ----

typedef struct {
  tvms_unit *unit;
  const tvms_stage *stage;
  bool sums;       // the axes are those that the stage sums over, else the others
  bool loaded;     // what is at hand is an index of a load
  bool expands;    // what is chosen lies in fewer places: X[o // 2] where o % 2 is 0
  uint32_t count;  // of remainders
  uint32_t axis;
  int64_t size;  // of the groups of the axis by which one of them may go; 0: none
} remainders;

// (o * 1155 + r) % 9240: steps of o begin anew after 8. Of a condition by so few steps, such as that on even ones, vectors
// choose.
static void note_group(remainders *all, const tvms_binary *remainder) {
  enum { FEWEST_OF_CONDITION = 16 };
  int64_t modulus = tvms_as_int_imm(remainder->b)->value, step;
  for (uint32_t i = 0; i < all->stage->count && !all->size; i++) {
    const tvms_stage_axis *axis = &all->stage->axes[i];
    if (axis->sums != all->sums || !tvms_node_is_int_imm(axis->extent)
        || !tvms_cpu_index_step(all->unit, remainder->a, axis->var, &step) || step < 1
        || modulus % step)
      continue;
    int64_t size = modulus / step, steps = tvms_as_int_imm(axis->extent)->value;
    if (size <= 1 || size >= steps || steps % size
        || (!all->loaded && !all->expands && size < FEWEST_OF_CONDITION))
      continue;
    all->axis = i;
    all->size = size;
  }
}

typedef struct {
  tvms_memory *memory;
  bool loaded;  // what is at hand is an index of a load
} quotient_search;

static tvms_walk_step find_quotient(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const quotient_search *s = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (s->loaded && node->kind == TVMS_NODE_FLOOR_DIV) return TVMS_WALK_STOP;
  if (s->loaded || node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  quotient_search inside = {s->memory, true};
  tvms_visitor visitor = {.self = &inside, .enter = find_quotient};
  tvms_list indices = tvms_as_buffer_load(node)->indices;
  for (uint32_t i = 0; i < indices.len; i++)
    if (!tvms_walk(s->memory, indices.items[i], &visitor)) return TVMS_WALK_STOP;
  return TVMS_WALK_SKIP;
}

// Does a choice load by quotients?
static tvms_walk_step find_expanding(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)role;
  quotient_search inside = {self, false};
  tvms_visitor visitor = {.self = &inside, .enter = find_quotient};
  if (node->kind == TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_SKIP;
  if (!tvms_node_choice_of(node).condition) return TVMS_WALK_ON;
  return tvms_walk(self, node, &visitor) ? TVMS_WALK_SKIP : TVMS_WALK_STOP;
}

static bool expands(tvms_unit *unit, const tvms_stage *stage) {
  tvms_memory *memory = &unit->context->memory;
  tvms_visitor visitor = {.self = memory, .enter = find_expanding};
  return !tvms_walk(memory, stage->store->value, &visitor);
}

static tvms_walk_step note_remainder(void *self, tvms_node *node, tvms_field_role role);

static void note_indices(remainders *all, tvms_list indices) {
  tvms_visitor visitor = {.self = all, .enter = note_remainder};
  bool outer = all->loaded;
  all->loaded = true;
  for (uint32_t i = 0; i < indices.len; i++)
    tvms_walk(&all->unit->context->memory, indices.items[i], &visitor);
  all->loaded = outer;
}

static tvms_walk_step note_remainder(void *self, tvms_node *node,
                                     tvms_field_role role) {
  remainders *all = self;
  (void)role;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_BUFFER_LOAD) {
    note_indices(all, tvms_as_buffer_load(node)->indices);
    return TVMS_WALK_SKIP;
  }
  if (node->kind != TVMS_NODE_FLOOR_MOD) return TVMS_WALK_ON;
  all->count++;
  const tvms_binary *remainder = tvms_as_binary(node);
  if (tvms_node_is_int_imm(remainder->b) && !all->size) note_group(all, remainder);
  return TVMS_WALK_ON;
}

static remainders remainders_of(tvms_unit *unit, const tvms_stage *stage, bool stored) {
  remainders all = {.unit = unit,
                    .stage = stage,
                    .sums = tvms_stage_has_sums(stage),
                    .expands = expands(unit, stage)};
  tvms_visitor visitor = {.self = &all, .enter = note_remainder};
  if (!stored) tvms_walk(&unit->context->memory, stage->store->value, &visitor);
  if (stored) note_indices(&all, stage->store->indices);
  return all;
}

bool tvms_cpu_split_reshaped(tvms_unit *unit, tvms_stage *stage, bool stored) {
  remainders before = remainders_of(unit, stage, stored);
  if (!before.size) return false;
  tvms_stage split = *stage;
  if (!tvms_cpu_split_axis(unit, &split, before.axis, before.size)
      || remainders_of(unit, &split, stored).count >= before.count)
    return false;
  *stage = split;
  return true;
}
