// Squares of elements that turn.
//
//   Y[h, w, c] = X[c, h, w]     becomes     Y[f // W, f % W, c] = X[c, f // W, f % W]
//
// so that squares lie along f, which is longer than w.
#include "passes/tir/cpu/rows_turn.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

// ---- Axes that are one ----

// Places among the axes of the member's pass, innermost first; `extent`: steps of all.
typedef struct {
  uint32_t count, places[TVMS_MOST_STAGE_AXES];
  int64_t extent;
} joined_axes;

typedef struct {
  tvms_unit *unit;
  const tvms_node *inner, *outer;
  int64_t steps;  // of the inner axis and those inside of it that are one with it
  bool joined;
} joint_check;

static const tvms_stage_axis *axis_at(const tvms_line_member *m, uint32_t place) {
  return &m->stage.axes[m->own[place]];
}

// Does a step of the outer axis move as far as all steps of the inner one?
static bool moves_on(const joint_check *j, const tvms_node *buffer, tvms_list indices) {
  int64_t inner, outer, all;
  return tvms_cpu_step_of(j->unit, buffer, indices, j->inner, &inner)
         && tvms_cpu_step_of(j->unit, buffer, indices, j->outer, &outer)
         && !__builtin_mul_overflow(inner, j->steps, &all) && outer == all;
}

static tvms_walk_step check_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  joint_check *j = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  j->joined &= moves_on(j, load->buffer, load->indices);
  return TVMS_WALK_SKIP;
}

static bool are_joined(tvms_unit *unit, const tvms_line_member *m, uint32_t inner,
                       int64_t steps, uint32_t outer) {
  const tvms_store *store = m->stage.store;
  joint_check j = {unit, axis_at(m, inner)->var, axis_at(m, outer)->var, steps, true};
  if (!moves_on(&j, store->buffer, store->indices)) return false;
  tvms_visitor visitor = {.self = &j, .enter = check_load};
  tvms_walk(&unit->context->memory, store->value, &visitor);
  return j.joined;
}

// The axis at a place, and those around it that are one with it, as few as have room for squares.
static joined_axes joined_with(tvms_unit *unit, const tvms_line_member *m,
                               uint32_t place, int64_t room) {
  joined_axes made = {1, {place}, tvms_cpu_number(axis_at(m, place)->extent)};
  uint32_t around = m->own_count - 2;
  for (uint32_t i = 0; i < around && made.extent > 0 && made.extent < room; i++) {
    int64_t steps = tvms_cpu_number(axis_at(m, i)->extent), all;
    bool taken = false;
    for (uint32_t k = 0; k < made.count; k++)
      taken |= made.places[k] == i;
    if (taken || steps < 1 || __builtin_mul_overflow(made.extent, steps, &all)
        || !are_joined(unit, m, place, made.extent, i))
      continue;
    made.places[made.count++] = i;
    made.extent = all;
    i = UINT32_MAX;  // others may be around that one
  }
  return made;
}

// Puts the digits of a new axis in the place of the joined ones.
static void put_digits(tvms_unit *unit, tvms_line_member *m, const joined_axes *joined,
                       tvms_node_map *now) {
  tvms_stage_axis *axis = &m->stage.axes[m->own[joined->places[0]]];
  tvms_node *like = axis->var, *rest = tvms_cpu_variable(unit, "f", like);
  axis->var = rest;
  for (uint32_t i = 0; i < joined->count; i++) {
    const tvms_stage_axis *old = axis_at(m, joined->places[i]);
    const tvms_node *var = i ? old->var : like;
    bool last = i + 1 == joined->count;
    tvms_node *digit = last ? rest
                            : tvms_build_binary(unit, TVMS_NODE_FLOOR_MOD, rest,
                                                old->extent, TVMS_NO_SPAN);
    tvms_node_map_put(now, var, digit);
    if (!last)
      rest =
          tvms_build_binary(unit, TVMS_NODE_FLOOR_DIV, rest, old->extent, TVMS_NO_SPAN);
  }
  axis->extent = tvms_int_imm_new(unit, like->dtype, joined->extent, TVMS_NO_SPAN);
}

// An axis of the stage that no store depends on any more goes.
static void remove_axis(tvms_line_member *m, uint32_t place) {
  uint32_t axis = m->own[place];
  for (uint32_t i = axis; i + 1 < m->stage.count; i++)
    m->stage.axes[i] = m->stage.axes[i + 1];
  m->stage.count--;
  for (uint32_t i = place; i + 1 < m->own_count; i++)
    m->own[i] = m->own[i + 1];
  m->own_count--;
  for (uint32_t i = 0; i < m->own_count; i++)
    m->own[i] -= m->own[i] > axis;
}

// The load as it is then.
static tvms_node *join_axes(tvms_unit *unit, tvms_line_member *m,
                            const joined_axes *joined, uint32_t count,
                            tvms_node *load) {
  tvms_node_map now;
  tvms_node_map_init(&now, &unit->context->memory);
  bool gone[TVMS_MOST_STAGE_AXES] = {false};
  for (uint32_t i = 0; i < count; i++) {
    if (joined[i].count == 1) continue;
    put_digits(unit, m, &joined[i], &now);
    for (uint32_t k = 1; k < joined[i].count; k++)
      gone[joined[i].places[k]] = true;
  }
  const tvms_store *store = m->stage.store;
  tvms_list indices = tvms_list_copy(unit, store->indices.items, store->indices.len);
  for (uint32_t i = 0; i < indices.len; i++)
    indices.items[i] = tvms_substitute(unit, indices.items[i], &now);
  m->stage.store = tvms_as_store(tvms_cpu_store(
      unit, store->buffer, indices, tvms_substitute(unit, store->value, &now)));
  load = tvms_substitute(unit, load, &now);
  tvms_node_map_fini(&now);
  for (uint32_t i = m->own_count; i-- > 0;) {
    if (gone[i]) remove_axis(m, i);
  }
  return load;
}

// ---- Squares ----

// Bytes between rows of a square, if that is known.
static int64_t row_distance(tvms_unit *unit, const tvms_node *buffer, tvms_list indices,
                            const tvms_node *var) {
  int64_t step;
  if (!tvms_cpu_step_of(unit, buffer, indices, var, &step)) return 0;
  return step * ((tvms_as_buffer(buffer)->element.bits + 7) / 8);
}

// Do squares that begin earlier do so much again that those of half the size are worth it?
static bool squares_waste(int64_t length, int64_t steps, int64_t lanes) {
  enum { NINE_EIGHTHS = 9 };
  if (length < lanes || steps < lanes) return false;
  int64_t half = lanes / 2;
  double whole = (double)((length + lanes - 1) / lanes * lanes)
                 * (double)((steps + lanes - 1) / lanes * lanes);
  double halves = (double)((length + half - 1) / half * half)
                  * (double)((steps + half - 1) / half * half);
  return 8 * whole > NINE_EIGHTHS * halves;
}

// Do rows that are so many bytes apart share their places in the cache?
static bool is_crowded(int64_t distance) {
  enum { SHARED = 2048 };
  return distance % SHARED == 0;
}

// Whole lines of the cache are stored at once, but where half of them do less in vain, and rows do not share their places in
// the cache: then two squares make a line. The rows of two squares must leave registers free: others are kept in memory
// between the shuffles.
void tvms_line_plan_turn(tvms_unit *unit, tvms_line_member *m, tvms_node *load,
                         const tvms_target *target, int64_t most,
                         tvms_line_pass_plan *p) {
  enum { MOST_LANES = 16, FEWEST = 4, TURNED_AXES = 2, ROOM = 32 };
  const tvms_store *store = m->stage.store;
  const tvms_buffer_load *from = tvms_as_buffer_load(load);
  uint32_t line = m->own_count - 1, around = line - 1;
  int64_t stored =
      row_distance(unit, store->buffer, store->indices, axis_at(m, around)->var);
  int64_t loaded =
      row_distance(unit, from->buffer, from->indices, axis_at(m, line)->var);
  bool crowded = is_crowded(stored) || is_crowded(loaded);
  // More rows that share their places gain nothing.
  joined_axes joined[TURNED_AXES] = {
      joined_with(unit, m, line, ROOM),
      joined_with(unit, m, around, is_crowded(2 * stored) ? 0 : ROOM)};
  int64_t length = joined[0].extent, steps = joined[1].extent;
  if (joined[0].count == 1 && p->lanes < most) most = p->lanes;
  int64_t lanes = most < MOST_LANES ? most : MOST_LANES;
  bool halves = !crowded && lanes == most && lanes > 2 * FEWEST
                && squares_waste(length, steps, lanes);
  if (halves) lanes /= 2;
  while (lanes > 1
         && ((length >= 0 && lanes > length) || (steps >= 0 && lanes > steps)))
    lanes /= 2;
  if (lanes < FEWEST || !p->overlaps) return;
  bool fits = 2 * lanes < (int64_t)target->vector_registers;
  bool two = fits && !crowded && (steps < 0 || steps >= 2 * lanes);
  *p = (tvms_line_pass_plan){
      .lanes = lanes, .vectors = 1, .sums = 1, .fused = 1, .overlaps = true};
  p->tile = two ? 2 * lanes : lanes;
  p->turned = join_axes(unit, m, joined, TURNED_AXES, load);
}
