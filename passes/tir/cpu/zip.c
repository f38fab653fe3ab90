// Zipping vectors of stages that store in turns.
//
// Each stage alone would scatter its elements. Together they fill whole vectors: of s stages a vector of each is
// computed, in buffers that become registers, and shuffles put them in turns.
#include "passes/tir/cpu/zip.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/fold_ops.h"
#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/rows.h"
#include "passes/tir/cpu/short_axis.h"

#include <string.h>

enum { MOST_TURNS = TVMS_MOST_TURNS, LEAST_LANES = 4, NONE = TVMS_MOST_STAGE_AXES };

typedef struct {
  tvms_unit *unit;
  const tvms_stage *stages;
  const tvms_stage *of[MOST_TURNS];  // of which stage the first, second ... element is
  int64_t turns, lanes;
  uint32_t line;          // the axis that all move along
  tvms_node *now;         // the step of the line with which a vector begins
  const tvms_node *like;  // has the dtype of indices
} zipping;

// ---- Which stages ----

// The widest of what a value is computed with; 0: something in it is not to be done in lanes.
typedef struct {
  uint32_t bits;
  bool fits;
} widths;

static tvms_walk_step note_width(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  widths *w = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  // What is chosen may not be there to be loaded.
  if (tvms_call_opcode(node) == TVMS_TIR_if_then_else) w->fits = false;
  if (tvms_node_class_of(node) == TVMS_CLASS_EXPR && node->dtype.bits > w->bits)
    w->bits = node->dtype.bits;
  return node->kind == TVMS_NODE_BUFFER_LOAD ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

// As many lanes as a register has of the widest elements, fewer if the line is shorter.
static int64_t lanes_of(const zipping *z, const tvms_target *target) {
  widths w = {8, true};
  tvms_visitor visitor = {.self = &w, .enter = note_width};
  for (int64_t i = 0; i < z->turns; i++)
    tvms_walk(&z->unit->context->memory, z->of[i]->store->value, &visitor);
  int64_t lanes = w.fits ? target->vector_bits / w.bits : 0;
  int64_t steps = tvms_cpu_number(z->stages->axes[z->line].extent);
  while (steps >= 0 && lanes > steps)
    lanes /= 2;
  return lanes;
}

// By how many elements the line moves where that is few, and more than one.
static bool find_line(zipping *z) {
  const tvms_store *store = z->stages->store;
  for (uint32_t i = 0; i < z->stages->count; i++) {
    bool moves = tvms_cpu_step_of(z->unit, store->buffer, store->indices,
                                  z->stages->axes[i].var, &z->turns);
    if (!moves || z->turns < 2 || z->turns > MOST_TURNS) continue;
    z->line = i;
    z->like = z->stages->axes[i].var;
    return true;
  }
  return false;
}

// How far behind the first stage another one stores in the last dimension, in the same step; false: elsewhere.
static bool distance(const zipping *z, const tvms_stage *stage, int64_t *apart) {
  const tvms_store *first = z->stages->store, *store = stage->store;
  uint32_t last = first->indices.len - 1;
  if (store->buffer != first->buffer || stage->count != z->stages->count) return false;
  tvms_node_map now;
  tvms_node_map_init(&now, &z->unit->context->memory);
  bool same = true;
  for (uint32_t i = 0; i < stage->count && same; i++) {
    const tvms_stage_axis *a = &z->stages->axes[i], *b = &stage->axes[i];
    same = tvms_dtype_same(a->var->dtype, b->var->dtype)
           && tvms_arith_prove_equal(z->unit, a->extent, b->extent);
    tvms_node_map_put(&now, b->var, a->var);
  }
  for (uint32_t i = 0; i <= last && same; i++) {
    tvms_node *index = tvms_substitute(z->unit, store->indices.items[i], &now);
    tvms_node *rest = tvms_arith_simplify(
        z->unit, tvms_build_binary(z->unit, TVMS_NODE_SUB, index,
                                   first->indices.items[i], TVMS_NO_SPAN));
    same = tvms_node_is_int_imm(rest) && (i == last || tvms_node_is_int(rest, 0));
    if (i == last && same) *apart = tvms_as_int_imm(rest)->value;
  }
  tvms_node_map_fini(&now);
  return same;
}

// Is the place in the last dimension as many steps further with each one of the line, or the same, and whole lines are that
// long?
static bool fills_lines(const zipping *z) {
  const tvms_store *store = z->of[0]->store;
  tvms_list shape = tvms_as_buffer(store->buffer)->shape;
  tvms_node *last = store->indices.items[store->indices.len - 1];
  int64_t step;
  const tvms_node *var = z->of[0]->axes[z->line].var;
  if (!tvms_cpu_index_step(z->unit, last, var, &step)) return false;
  return step == z->turns
         || (step == 0 && tvms_node_is_int(last, 0)
             && tvms_node_is_int(shape.items[shape.len - 1], z->turns));
}

// Sorts as many stages as take turns by where they store. False: they do not, or one loads what another stores.
static bool sort_stages(zipping *z) {
  int64_t least = 0, apart[MOST_TURNS];
  for (int64_t i = 0; i < z->turns; i++) {
    const tvms_stage *stage = &z->stages[i];
    if (stage->init || !distance(z, stage, &apart[i])
        || tvms_cpu_mentions(z->unit, stage->store->value, stage->store->buffer)
        || tvms_line_refuse(z->unit, stage))
      return false;
    if (apart[i] < least) least = apart[i];
  }
  memset(z->of, 0, sizeof z->of);
  for (int64_t i = 0; i < z->turns; i++) {
    int64_t at = apart[i] - least;
    if (at >= z->turns || z->of[at]) return false;
    z->of[at] = &z->stages[i];
  }
  return true;
}

static bool has_sums(const zipping *z) {
  bool sums = false;
  for (int64_t i = 0; i < z->turns; i++)
    sums |= tvms_stage_has_sums(&z->stages[i]);
  return sums;
}

// ---- Writing ----

static tvms_node *number(const zipping *z, int64_t value) {
  return tvms_int_imm_new(z->unit, z->like->dtype, value, TVMS_NO_SPAN);
}

static tvms_node *build(const zipping *z, tvms_node_kind kind, tvms_node *a,
                        tvms_node *b) {
  return tvms_build_binary(z->unit, kind, a, b, TVMS_NO_SPAN);
}

// A store of a stage in the step `at` of its line, with the variables of the first stage for the others.
static tvms_node *store_of(const zipping *z, const tvms_stage *stage, tvms_node *at,
                           tvms_node *TVMS_NULLABLE buffer, tvms_node *place) {
  tvms_node_map now;
  tvms_node_map_init(&now, &z->unit->context->memory);
  for (uint32_t i = 0; i < stage->count; i++)
    tvms_node_map_put(&now, stage->axes[i].var,
                      i == z->line ? at : z->stages->axes[i].var);
  tvms_node *value = tvms_stage_value_at(z->unit, stage->store->value, &now);
  tvms_list indices = {&place, 1};
  if (!buffer) {
    indices =
        tvms_list_copy(z->unit, stage->store->indices.items, stage->store->indices.len);
    for (uint32_t i = 0; i < indices.len; i++)
      indices.items[i] = tvms_substitute(z->unit, indices.items[i], &now);
    buffer = stage->store->buffer;
  } else {
    indices = tvms_list_copy(z->unit, indices.items, indices.len);
    value =
        tvms_build_cast(z->unit, tvms_as_buffer(buffer)->element, value, TVMS_NO_SPAN);
  }
  tvms_node_map_fini(&now);
  return tvms_cpu_store(z->unit, buffer, indices, value);
}

// A vector of a stage as part `at` of a buffer.
static tvms_node *fill(const zipping *z, tvms_node *buffer, int64_t at) {
  tvms_node *lane = tvms_cpu_variable(z->unit, "lane", z->like);
  tvms_node *place = build(z, TVMS_NODE_ADD, number(z, at * z->lanes), lane);
  tvms_node *step = build(z, TVMS_NODE_ADD, z->now, lane);
  return tvms_cpu_loop(z->unit, lane, number(z, z->lanes), TVMS_FOR_VECTORIZED,
                       store_of(z, z->of[at], step, buffer, place));
}

static tvms_node *vector_at(const zipping *z, tvms_node *buffer, int64_t at) {
  tvms_node *index = tvms_ramp_new(z->unit, number(z, at * z->lanes), number(z, 1),
                                   (int)z->lanes, TVMS_NO_SPAN);
  return tvms_buffer_load_new(z->unit, buffer, &index, 1, NULL, TVMS_NO_SPAN);
}

// Of which lane of two vectors, one behind the other, element `place` of all that are zipped is.
typedef int64_t picked_lane(const zipping *z, int64_t place);

// Vector `part` of what two vectors are together.
static tvms_node *shuffle(const zipping *z, tvms_node *a, tvms_node *b, int64_t part,
                          picked_lane *pick) {
  tvms_node **picked = tvms_arena_array(&z->unit->arena, tvms_node *, (size_t)z->lanes);
  for (int64_t i = 0; i < z->lanes; i++)
    picked[i] =
        tvms_build_literal_int(z->unit, pick(z, part * z->lanes + i), TVMS_NO_SPAN);
  tvms_node *both[] = {a, b};
  return tvms_build_shuffle(z->unit, both, 2, picked, (uint32_t)z->lanes, TVMS_NO_SPAN);
}

// From two vectors in turns.
static int64_t pick_pairs(const zipping *z, int64_t place) {
  return place / 2 + (place % 2 ? z->lanes : 0);
}

// From two vectors, and then anything, in turns.
static int64_t pick_two_of_three(const zipping *z, int64_t place) {
  return place / 3 + (place % 3 == 1 ? z->lanes : 0);
}

// What is missing there.
static int64_t pick_third(const zipping *z, int64_t place) {
  return place % 3 == 2 ? z->lanes + place / 3 : place % z->lanes;
}

// Vector `part` of all vectors of the buffer in turns. Each shuffle is of two registers, as machines have it.
static tvms_node *zipped(const zipping *z, tvms_node *buffer, int64_t part) {
  tvms_node *v[MOST_TURNS];
  for (int64_t i = 0; i < z->turns; i++)
    v[i] = vector_at(z, buffer, i);
  if (z->turns == 2) return shuffle(z, v[0], v[1], part, pick_pairs);
  if (z->turns == 3)
    return shuffle(z, shuffle(z, v[0], v[1], part, pick_two_of_three), v[2], part,
                   pick_third);
  tvms_node *even = shuffle(z, v[0], v[2], part / 2, pick_pairs);
  tvms_node *odd = shuffle(z, v[1], v[3], part / 2, pick_pairs);
  return shuffle(z, even, odd, part % 2, pick_pairs);
}

// The store of the element that is so many behind the first one of the first stage, along the line in memory.
static tvms_node *store_zipped(const zipping *z, tvms_node *buffer, tvms_node *lane) {
  const tvms_stage *stage = z->of[0];
  tvms_node *element = build(
      z, TVMS_NODE_ADD, build(z, TVMS_NODE_MUL, z->now, number(z, z->turns)), lane);
  tvms_node *step = build(z, TVMS_NODE_FLOOR_DIV, element, number(z, z->turns));
  tvms_list indices =
      tvms_list_copy(z->unit, stage->store->indices.items, stage->store->indices.len);
  tvms_node_map now;
  tvms_node_map_init(&now, &z->unit->context->memory);
  for (uint32_t i = 0; i < stage->count; i++)
    tvms_node_map_put(&now, stage->axes[i].var,
                      i == z->line ? step : z->stages->axes[i].var);
  uint32_t last = indices.len - 1;
  const tvms_node *var = stage->axes[z->line].var;
  bool along = tvms_walk_contains(&z->unit->context->memory, indices.items[last], var);
  for (uint32_t i = 0; i <= last; i++) {
    if (i == last && along) tvms_node_map_put(&now, var, number(z, 0));
    indices.items[i] =
        tvms_arith_simplify(z->unit, tvms_substitute(z->unit, indices.items[i], &now));
  }
  tvms_node_map_fini(&now);
  tvms_node *more =
      along ? element : build(z, TVMS_NODE_FLOOR_MOD, element, number(z, z->turns));
  indices.items[last] = build(z, TVMS_NODE_ADD, indices.items[last], more);
  tvms_node *value =
      tvms_buffer_load_new(z->unit, buffer, &lane, 1, NULL, TVMS_NO_SPAN);
  value = tvms_build_cast(z->unit, stage->store->value->dtype, value, TVMS_NO_SPAN);
  return tvms_cpu_store(z->unit, stage->store->buffer, indices, value);
}

// A vector of each stage, from `now` on.
static tvms_node *write_vectors(const zipping *z) {
  tvms_dtype element = tvms_as_buffer(z->of[0]->store->buffer)->element;
  // Processors shuffle bytes, and truths in registers are bits.
  if (tvms_dtype_is_bool(element)) element = TVMS_DTYPE(UINT, 8);
  tvms_node *all = number(z, z->turns * z->lanes), *buffers[2];
  buffers[0] = tvms_cpu_buffer(z->unit, "parts", element, "local", &all, 1);
  buffers[1] = tvms_cpu_buffer(z->unit, "zipped", element, "local", &all, 1);
  tvms_node_vec stmts = {0};
  for (int64_t i = 0; i < z->turns; i++)
    tvms_stmt_push(z->unit, &stmts, fill(z, buffers[0], i));
  for (int64_t i = 0; i < z->turns; i++) {
    tvms_node *index = tvms_ramp_new(z->unit, number(z, i * z->lanes), number(z, 1),
                                     (int)z->lanes, TVMS_NO_SPAN);
    tvms_stmt_push(z->unit, &stmts,
                   tvms_cpu_store(z->unit, buffers[1],
                                  tvms_list_copy(z->unit, &index, 1),
                                  zipped(z, buffers[0], i)));
  }
  for (int64_t i = 0; i < z->turns; i++) {
    tvms_node *lane = tvms_cpu_variable(z->unit, "lane", z->like);
    tvms_node *place = build(z, TVMS_NODE_ADD, number(z, i * z->lanes), lane);
    tvms_stmt_push(z->unit, &stmts,
                   tvms_cpu_loop(z->unit, lane, number(z, z->lanes),
                                 TVMS_FOR_VECTORIZED,
                                 store_zipped(z, buffers[1], place)));
  }
  return tvms_cpu_block(z->unit, "zip", (tvms_list){buffers, 2},
                        tvms_stmt_seq(z->unit, &stmts, TVMS_NO_SPAN));
}

// What vectors leave over of a line of unknown length, one step after the other.
static tvms_node *write_rest(const zipping *z, tvms_node *length) {
  tvms_node *var = tvms_cpu_variable(z->unit, "j", z->like);
  tvms_node *lanes = number(z, z->lanes);
  tvms_node *done =
      build(z, TVMS_NODE_MUL, build(z, TVMS_NODE_FLOOR_DIV, length, lanes), lanes);
  tvms_node *step = build(z, TVMS_NODE_ADD, done, var);
  tvms_node_vec stmts = {0};
  for (int64_t i = 0; i < z->turns; i++)
    tvms_stmt_push(z->unit, &stmts, store_of(z, z->of[i], step, NULL, var));
  return tvms_cpu_loop(z->unit, var, build(z, TVMS_NODE_FLOOR_MOD, length, lanes),
                       TVMS_FOR_SERIAL, tvms_stmt_seq(z->unit, &stmts, TVMS_NO_SPAN));
}

// The line in vectors. The last one of a known length begins further left where it would be shorter.
static tvms_node *write_line(zipping *z, uint8_t kind) {
  tvms_node *length = z->stages->axes[z->line].extent;
  int64_t known = tvms_cpu_number(length);
  tvms_node *lanes = number(z, z->lanes);
  tvms_node *var = tvms_cpu_variable(z->unit, "j", z->like);
  tvms_node *begin = build(z, TVMS_NODE_MUL, var, lanes);
  tvms_node *count = build(z, TVMS_NODE_FLOOR_DIV, length, lanes);
  bool rest = known < 0 || known % z->lanes;
  if (known >= 0 && rest) {
    begin = build(z, TVMS_NODE_MIN, begin, number(z, known - z->lanes));
    count = number(z, known / z->lanes + 1);
  }
  z->now = begin;
  tvms_node *made = tvms_cpu_loop(z->unit, var, count, kind, write_vectors(z));
  return known < 0 ? tvms_stmt_pair(z->unit, made, write_rest(z, length)) : made;
}

tvms_node *TVMS_NULLABLE tvms_cpu_zip(const tvms_chain *chain, uint32_t at,
                                      const tvms_target *target, bool threads,
                                      uint32_t *count) {
  zipping z = {.unit = chain->unit, .stages = &chain->stages[at]};
  if (z.stages->store->predicate || !find_line(&z) || at + z.turns > chain->count
      || has_sums(&z) || !sort_stages(&z) || !fills_lines(&z))
    return NULL;
  z.lanes = lanes_of(&z, target);
  if (z.lanes < LEAST_LANES) return NULL;
  *count = (uint32_t)z.turns;
  uint8_t outer = threads ? TVMS_FOR_PARALLEL : TVMS_FOR_SERIAL;
  bool alone = z.stages->count == 1;
  tvms_node *made = write_line(&z, alone ? outer : TVMS_FOR_SERIAL);
  for (uint32_t i = z.stages->count; i-- > 0;) {
    if (i == z.line) continue;
    bool first = i == (z.line == 0 ? 1 : 0);
    made = tvms_cpu_loop(z.unit, z.stages->axes[i].var, z.stages->axes[i].extent,
                         first ? outer : TVMS_FOR_SERIAL, made);
  }
  made->span = z.stages->nest->span;
  return made;
}
