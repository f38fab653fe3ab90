// Loops of C text whose steps are so short that counting them is a good part of their time.
//
// GCC is asked to unroll them. It does so last, and each step then counts an index of its own. Where elements are stored
// at places that are loaded, which no vector does, a number of steps is a loop that GCC writes out at first:
//
//   for (i64 l1 = 0; l1 < 1000; l1 += 8) {
//     UNROLL for (i64 l2 = 0; l2 < 8; l2++) {
//       const i64 l3 = l1 + l2;
//
// Of other steps GCC would make vectors of such a piece, also of a running sum, where each waits for the one before it.
#include "backend/c/short_loops.h"

#include "backend/c/sums.h"
#include "ir/build.h"
#include "ir/walk.h"

enum {
  WORTH = 16,  // steps
  FEW = 64,    // nodes of a step
  SCATTERED =
      200,  // the same, where places are loaded: these are written for each access
  MOST_IN_ROUND = 8
};

// ---- What a step is ----

typedef struct {
  tvms_memory *memory;
  uint32_t count;
  bool scatters;
} step_seen;

static tvms_walk_step see_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  return node->kind == TVMS_NODE_BUFFER_LOAD ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool is_loaded(tvms_memory *memory, tvms_list indices) {
  tvms_visitor visitor = {.enter = see_load};
  for (uint32_t i = 0; i < indices.len; i++)
    if (!tvms_walk(memory, indices.items[i], &visitor)) return true;
  return false;
}

static tvms_walk_step see_step(void *self, tvms_node *node, tvms_field_role role) {
  step_seen *seen = self;
  (void)role;
  switch ((int)node->kind) {
  case TVMS_NODE_BUFFER: return TVMS_WALK_SKIP;
  case TVMS_NODE_FOR:
  case TVMS_NODE_WHILE:
  case TVMS_NODE_IF_THEN_ELSE:
  case TVMS_NODE_ASSERT:
  case TVMS_NODE_SELECT:
  case TVMS_NODE_CALL: return TVMS_WALK_STOP;
  case TVMS_NODE_STORE:
    seen->scatters |= is_loaded(seen->memory, tvms_as_store(node)->indices);
    break;
  default: break;
  }
  bool vector = node->dtype.lanes > 1;
  return vector || ++seen->count > SCATTERED ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Are there many steps of little? What has vectors was written out by the schedule, and where there are branches code is
// not what takes the time.
static bool is_short(c_emitter *e, const tvms_for *loop, step_seen *seen) {
  const tvms_node *extent = loop->extent;
  if (tvms_node_is_int_imm(extent) && tvms_as_int_imm(extent)->value < WORTH)
    return false;
  *seen = (step_seen){.memory = &e->context->memory};
  tvms_visitor visitor = {.self = seen, .enter = see_step};
  return tvms_walk(&e->context->memory, loop->body, &visitor)
         && (seen->scatters || seen->count <= FEW);
}

// ---- Loops ----

// The most steps that divide an extent.
static int64_t steps_of_round(int64_t extent) {
  int64_t steps = MOST_IN_ROUND;
  while (extent % steps)
    steps--;
  return steps;
}

// "i" and a number would be the name of a type at times.
static const char *new_index(c_emitter *e) {
  return tvms_c_text(e, "l%u", e->next++);
}

static const char *open_rounds(c_emitter *e, const char *type, int64_t extent,
                               int64_t steps) {
  const char *round = new_index(e), *step = new_index(e), *i = new_index(e);
  tvms_c_open(e, "for (%s %s = 0; %s < %lld; %s += %lld)", type, round, round,
              (long long)extent, round, (long long)steps);
  tvms_c_open(e, "UNROLL for (%s %s = 0; %s < %lld; %s++)", type, step, step,
              (long long)steps, step);
  tvms_c_line(e, "const %s %s = %s + %s;", type, i, round, step);
  return i;
}

const char *tvms_c_open_steps(c_emitter *e, const tvms_for *loop, const char *extent,
                              uint32_t *depth) {
  const char *type = tvms_c_type(e, loop->var->dtype, loop->var->span);
  step_seen seen;
  int64_t number;
  bool few = is_short(e, loop, &seen);
  *depth = 2;
  if (few && seen.scatters && tvms_c_number(loop->extent, &number)
      && steps_of_round(number) > 1)
    return open_rounds(e, type, number, steps_of_round(number));
  *depth = 1;
  const char *i = new_index(e);
  tvms_c_open(e, "%sfor (%s %s = 0; %s < %s; %s++)", few ? "UNROLL " : "", type, i, i,
              extent, i);
  return i;
}
