// Choosing vectors, tiles and storage for groups of rows; nothing is timed.
#include "passes/tir/cpu/rows_plan.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/tir/cpu/padding.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/quotient.h"
#include "passes/tir/cpu/rows_fetch.h"
#include "passes/tir/cpu/rows_fused.h"
#include "passes/tir/cpu/rows_index.h"
#include "passes/tir/cpu/rows_mask.h"
#include "passes/tir/cpu/rows_order.h"
#include "passes/tir/cpu/rows_shared.h"
#include "passes/tir/cpu/rows_streams.h"
#include "passes/tir/cpu/rows_turn.h"
#include "passes/tir/cpu/segments.h"
#include "passes/tir/cpu/step_order.h"
#include "passes/tir/cpu/turn.h"

enum {
  NONE = TVMS_MOST_STAGE_AXES,
  MOST_SUMS = 12,       // accumulators of a tile
  MOST_VECTORS = 4,     // side by side
  COSTLY_VECTORS = 2,   // where functions are computed
  COSTLY_TOGETHER = 4,  // where they are computed of several vectors step by step
  LINE = 512,           // elements from which on a line is long enough
  LONG_LINE = 65536,    // the same where vectors are taken together
  MOST_TAPS = 64,       // steps of a sum that are written out
  LAST_CACHE = 32 * 1024 * 1024,  // bytes, where the target does not say
};

// ---- Storage ----

typedef struct {
  const tvms_line_member *from, *to;
  bool same;
} element_use;

static bool check_use(void *self, const tvms_buffer_load *load) {
  element_use *u = self;
  uint32_t links[TVMS_MOST_STAGE_AXES];
  tvms_line_link(&u->from->stage, &u->to->stage, load, links);
  for (uint32_t i = 0; i < u->from->own_count; i++) {
    if (u->from->own_count != u->to->own_count
        || links[u->from->own[i]] != u->to->own[i])
      u->same = false;
  }
  return true;
}

static bool count_use(void *self, const tvms_buffer_load *load) {
  (void)load;
  ++*(uint32_t *)self;
  return true;
}

static uint32_t uses_of(tvms_unit *unit, const tvms_line_member *m,
                        const tvms_node *buffer) {
  uint32_t count = 0;
  tvms_line_loads(unit, m, buffer, count_use, &count);
  return count;
}

// Is the buffer used by members of the group alone?
static bool is_of_group(const tvms_chain *chain, const tvms_line_group *g,
                        const tvms_node *buffer) {
  if (!tvms_chain_is_inner(chain, buffer)) return false;
  for (uint32_t i = 0; i < chain->count; i++) {
    const tvms_stage *stage = &chain->stages[i];
    bool member = false;
    for (uint32_t k = 0; k < g->count; k++)
      member |= g->members[k].stage.nest == stage->nest;
    if (member) continue;
    if (stage->store->buffer == buffer
        || tvms_walk_contains(&chain->unit->context->memory, stage->store->value,
                              buffer)
        || (stage->init
            && tvms_walk_contains(&chain->unit->context->memory, stage->init, buffer)))
      return false;
  }
  return true;
}

// Does every use of the result stand at the same element, and in the member's pass?
static bool is_at_element(tvms_unit *unit, const tvms_line_group *g, uint32_t at,
                          bool in_pass) {
  const tvms_line_member *from = &g->members[at];
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *to = &g->members[i];
    if (!uses_of(unit, to, from->stage.store->buffer)) continue;
    element_use u = {from, to, true};
    tvms_line_loads(unit, to, from->stage.store->buffer, check_use, &u);
    if (!u.same || (in_pass && to->pass != from->pass)) return false;
  }
  return true;
}

// Every axis stands in an index of its own, as in the rows and loops of the group.
static bool has_plain_indices(const tvms_line_group *g, const tvms_line_member *m) {
  uint32_t found = 0;
  for (uint32_t i = 0; i < m->stage.store->indices.len; i++) {
    tvms_node *index = m->stage.store->indices.items[i];
    if (tvms_stage_axis_of(&m->stage, index) < NONE)
      found++;
    else if (!tvms_node_is_int_imm(index))
      return false;
  }
  return found == g->row_count + (m->kind == TVMS_LINE_FOLD ? 0 : m->own_count);
}

static bool same_extents(const tvms_line_member *a, const tvms_line_member *b) {
  if (a->own_count != b->own_count) return false;
  for (uint32_t i = 0; i < a->own_count; i++) {
    if (!tvms_node_same_expr(a->stage.axes[a->own[i]].extent,
                             b->stage.axes[b->own[i]].extent))
      return false;
  }
  return true;
}

// The member whose result can hold the elements until it stores its own: the last one that
// uses them, and the only one that knows the result.
static const tvms_line_member *TVMS_NULLABLE result_for(tvms_unit *unit,
                                                        const tvms_line_group *g,
                                                        uint32_t at) {
  const tvms_line_member *from = &g->members[at], *last = NULL;
  for (uint32_t i = at + 1; i < g->count; i++) {
    if (!uses_of(unit, &g->members[i], from->stage.store->buffer)) continue;
    if (last && g->members[i].pass < last->pass) return NULL;
    last = &g->members[i];
  }
  if (!last || last->kind != TVMS_LINE_MAP || !same_extents(from, last)) return NULL;
  const tvms_node *result = last->stage.store->buffer;
  bool same = tvms_dtype_same(tvms_as_buffer(result)->element,
                              tvms_as_buffer(from->stage.store->buffer)->element);
  if (!same || !has_plain_indices(g, last)) return NULL;
  for (uint32_t i = 0; i < g->count; i++) {
    if (uses_of(unit, &g->members[i], result)) return NULL;
  }
  return last;
}

static bool is_taken(const tvms_line_plan *p, uint32_t count,
                     const tvms_line_member *result) {
  for (uint32_t i = 0; i < count; i++) {
    if (p->places[i].how == TVMS_LINE_IN_RESULT && p->places[i].result == result)
      return true;
  }
  return false;
}

// `bytes` for each element that a member stores; those of sizes that are not known count as none.
static int64_t bytes_in_all(const tvms_line_member *m, int64_t bytes) {
  for (uint32_t i = 0; i < m->stage.count; i++) {
    int64_t extent = tvms_cpu_number(m->stage.axes[i].extent);
    if (m->stage.axes[i].sums) continue;
    if (extent < 0) return 0;
    if (__builtin_mul_overflow(bytes, extent, &bytes)) return INT64_MAX;
  }
  return bytes;
}

// Is the result of a member more than the last cache holds?
static bool goes_to_memory(const tvms_line_member *m, const tvms_target *target) {
  int64_t bytes = (m->stage.store->value->dtype.bits + 7) / 8;
  return bytes_in_all(m, bytes) >= tvms_target_cache(target, 2, LAST_CACHE);
}

static void place_member(const tvms_chain *chain, const tvms_line_group *g, uint32_t at,
                         const tvms_line_options *options, tvms_line_plan *p) {
  const tvms_line_member *m = &g->members[at];
  tvms_line_place *place = &p->places[at];
  tvms_dtype dtype = m->stage.store->value->dtype;
  bool exact = !tvms_dtype_is_real(dtype);
  place->one_by_one = !exact && !options->reorders;
  place->how = TVMS_LINE_KEPT;
  if (!is_of_group(chain, g, m->stage.store->buffer) || !has_plain_indices(g, m))
    return;
  bool element = m->kind != TVMS_LINE_FOLD && m->own_count > 0;
  if (element && is_at_element(chain->unit, g, at, true)) {
    place->how = TVMS_LINE_OF_CHUNK;
    return;
  }
  if (g->row_count == 0) return;
  place->how = TVMS_LINE_OF_ROW;
  if (!element || !options->noalias || !is_at_element(chain->unit, g, at, false))
    return;
  const tvms_line_member *result = result_for(chain->unit, g, at);
  // What the group alone knows of has no place outside of it.
  if (!result || is_taken(p, at, result)
      || is_of_group(chain, g, result->stage.store->buffer))
    return;
  place->how = TVMS_LINE_IN_RESULT;
  place->result = result;
}

// ---- Vectors ----

static uint32_t bits_of(tvms_dtype d) {
  if (tvms_dtype_is_real(d) && d.bits < 32) return 32;
  return d.bits < 8 ? 8 : d.bits;
}

static bool takes_steps(const tvms_line_member *m) {
  return m->kind == TVMS_LINE_FOLD || m->kind == TVMS_LINE_COLUMN;
}

static bool pass_folds(const tvms_line_group *g, uint32_t pass) {
  for (uint32_t i = 0; i < g->count; i++) {
    if (g->members[i].pass == pass && takes_steps(&g->members[i])) return true;
  }
  return false;
}

// Bits of the widest element that the pass computes; indices do not count, and where the pass folds, neither does what
// results are widened to: that is done once for all steps.
static uint32_t pass_bits(const tvms_line_group *g, uint32_t pass) {
  uint32_t bits = 8;
  bool folds = pass_folds(g, pass);
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->pass != pass) continue;
    const tvms_node *value = m->stage.store->value;
    if (folds && !takes_steps(m) && value->kind == TVMS_NODE_CAST)
      value = tvms_as_cast(value)->value;
    uint32_t own = bits_of(value->dtype);
    if (own > bits) bits = own;
  }
  return bits;
}

static const tvms_line_member *first_of(const tvms_line_group *g, uint32_t pass) {
  const tvms_line_member *m = g->members;
  while (m->pass != pass)
    m++;
  return m;
}

static bool calls_functions(tvms_unit *unit, const tvms_line_group *g, uint32_t pass) {
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->pass == pass && tvms_chain_cost_of(unit, m->stage.store->value, NULL).calls)
      return true;
  }
  return false;
}

// Functions keep all units busy with one vector if their constants are in registers; more vectors only need more of these.
// Where constants do not fit, each one is loaded for several vectors, whose steps alternate (a Zen 3 takes a
// fifth less time for exp, tanh and erf).
static bool takes_together(const tvms_target *target) {
  return target->vector_registers < TVMS_MANY_REGISTERS;
}

// As few axes as make a line that is long enough, of those that can be one. What takes vectors together loses
// more at the end of each line.
static uint32_t axes_of_line(tvms_unit *unit, const tvms_line_group *g,
                             const tvms_line_plan *p, uint32_t pass, bool together) {
  const tvms_line_member *m = first_of(g, pass);
  uint32_t most = tvms_line_fused_axes(unit, g, p, pass), fused = 1;
  int64_t length = tvms_cpu_number(m->stage.axes[m->own[m->own_count - 1]].extent);
  while (fused < most && length >= 0 && length < (together ? LONG_LINE : LINE)) {
    int64_t extent = tvms_cpu_number(tvms_line_axis_around(m, fused)->extent);
    length = extent < 0 ? -1 : length * extent;
    fused++;
  }
  return fused;
}

static int64_t line_length(const tvms_line_member *m, uint32_t fused) {
  int64_t length = 1;
  for (uint32_t i = 0; i < fused; i++) {
    int64_t extent =
        tvms_cpu_number(m->stage.axes[m->own[m->own_count - 1 - i]].extent);
    if (extent < 0) return -1;
    length *= extent;
  }
  return length;
}

static bool stores_side_by_side(tvms_unit *unit, const tvms_line_member *m) {
  int64_t step;
  const tvms_store *store = m->stage.store;
  const tvms_node *var = m->stage.axes[m->own[m->own_count - 1]].var;
  return tvms_cpu_step_of(unit, store->buffer, store->indices, var, &step) && step == 1;
}

int64_t tvms_line_taps(const tvms_stage *stage) {
  int64_t taps = 1;
  for (uint32_t i = 0; i < stage->count; i++) {
    int64_t extent = tvms_cpu_number(stage->axes[i].extent);
    if (!stage->axes[i].sums) continue;
    if (extent < 0 || extent > MOST_TAPS) return -1;
    taps *= extent;
    if (taps > MOST_TAPS) return -1;
  }
  return taps;
}

// Steps of an axis that are done together: as many as registers allow, none left over if that leaves
// enough for sums not to wait for each other. Of a length that is not known, just enough: fewer are left over.
static int64_t steps_together(int64_t extent, int64_t vectors) {
  enum { MOST_STEPS = 8, ENOUGH_STEPS = 4 };
  int64_t most = MOST_SUMS / vectors < MOST_STEPS ? MOST_SUMS / vectors : MOST_STEPS;
  if (extent < 0) return ENOUGH_STEPS;
  if (extent <= most) return extent;
  for (int64_t steps = most; steps >= ENOUGH_STEPS; steps--) {
    if (extent % steps == 0) return steps;
  }
  return most < ENOUGH_STEPS ? most : ENOUGH_STEPS;
}

// Windows that slide share what they load with those beside them: tiles of few vectors and several steps of the axis
// around the line. One vector if they slide along that axis only: then more steps share more, or if the length of the
// line is not known: then less is left over.
static void plan_tile(tvms_unit *unit, const tvms_line_group *g, uint32_t pass,
                      tvms_line_pass_plan *p) {
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->pass != pass || m->kind != TVMS_LINE_COLUMN) continue;
    if (tvms_line_taps(&m->stage) < 0 || m->own_count <= p->fused) return;
    int64_t extent = tvms_cpu_number(tvms_line_axis_around(m, p->fused)->extent);
    if (extent == 0) return;
    bool along = tvms_line_slides(unit, m, m->stage.axes[m->own[m->own_count - 1]].var);
    int64_t most = along && line_length(m, p->fused) >= 0 ? 2 : 1;
    if (p->vectors > most) p->vectors = most;
    p->tile = steps_together(extent, p->vectors);
  }
}

typedef struct {
  const tvms_stage *stage;
  uint32_t line;  // its axis
  uint32_t bits;  // of the narrowest element
} narrowest;

static tvms_walk_step note_width(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  narrowest *n = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  tvms_list indices = tvms_as_buffer_load(node)->indices;
  bool streams =
      indices.len
      && tvms_stage_axis_of(n->stage, indices.items[indices.len - 1]) == n->line;
  if (streams && node->dtype.bits < n->bits) n->bits = node->dtype.bits;
  return TVMS_WALK_ON;
}

// Memory is fetched ahead well if each step goes on by one line of a cache or by four, and badly if
// by two, which is what vectors of halves make. (Of rows of bfloat16 from DRAM a Zen 4 was
// given 17 GB/s by two lines, 28 by four.)
static bool steps_by_two_lines(tvms_unit *unit, const tvms_line_member *m,
                               const tvms_line_pass_plan *p) {
  enum { TWO_LINES = 128 };
  if (m->kind != TVMS_LINE_FOLD) return false;
  narrowest n = {&m->stage, m->own[m->own_count - 1], 32};
  tvms_visitor visitor = {.self = &n, .enter = note_width};
  tvms_walk(&unit->context->memory, m->term, &visitor);
  return n.bits < 32 && p->lanes * p->vectors * n.bits / 8 == TWO_LINES;
}

// What is written out gains nothing where each element waits for places that are loaded: it stays short.
static void limit_gathers(tvms_unit *unit, const tvms_line_group *g, uint32_t pass,
                          tvms_line_pass_plan *p) {
  enum { MOST_WRITTEN = 2500 };
  int64_t nodes = 0;
  bool gathers = false;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->pass != pass) continue;
    gathers |= tvms_line_gathers(unit, m->stage.store->value);
    int64_t taps = tvms_line_taps(&m->stage);
    nodes += tvms_chain_cost_of(unit, m->stage.store->value, NULL).nodes
             * (taps > 0 ? taps : 1);
  }
  if (!gathers) return;
  while (p->vectors > 1 && nodes * p->vectors * p->tile > MOST_WRITTEN)
    p->vectors--;
  while (p->tile % 2 == 0 && nodes * p->vectors * p->tile > MOST_WRITTEN)
    p->tile /= 2;
}

// As many vectors together as it takes until quotients in indices go on as they began.
static void plan_period(tvms_unit *unit, const tvms_line_group *g, uint32_t pass,
                        tvms_line_pass_plan *p) {
  enum { MOST_TOGETHER = 8 };
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->pass != pass) continue;
    if (m->kind != TVMS_LINE_MAP || p->fused != 1 || p->lanes < 2) return;
    const tvms_node *line = m->stage.axes[m->own[m->own_count - 1]].var;
    int64_t period = tvms_line_period(unit, &m->stage, line, MOST_TOGETHER * p->lanes);
    int64_t together = 1;
    while (together * p->lanes % period)
      together++;
    int64_t length = line_length(m, 1);
    if (together > MOST_TOGETHER || (length >= 0 && together * p->lanes > length))
      continue;
    if (together > 1) p->vectors = together;
  }
}

// Windows along a line that is shorter than a vector take one vector for all of it.
static void plan_mask(tvms_unit *unit, const tvms_line_group *g,
                      const tvms_line_options *options, uint32_t pass,
                      tvms_line_pass_plan *p) {
  uint32_t mask_bits = options->mask_bits;
  int64_t lanes = 0, length = 0;
  bool along_first = options->reorders;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->pass != pass) continue;
    if (m->kind == TVMS_LINE_FOLD || m->stage.store->value->dtype.bits != 32) return;
    uint32_t line = m->own[m->own_count - 1];
    if (m->kind == TVMS_LINE_COLUMN) {
      lanes = tvms_line_masked_lanes(unit, mask_bits, &m->stage, line);
      along_first &= tvms_line_masked_along(unit, mask_bits, &m->stage, line, lanes);
    }
    length = tvms_cpu_number(m->stage.axes[line].extent);
  }
  if (!lanes || p->fused > 1 || p->lanes == 1) return;
  p->lanes = lanes;
  p->vectors = 1;
  p->active = length;
  p->along_first = along_first;
}

static int64_t vector_lanes(const tvms_line_group *g, const tvms_target *target,
                            uint32_t pass) {
  uint32_t bits = target->vector_bits ? target->vector_bits : 128;
  return bits / pass_bits(g, pass);
}

// Are these the lines of an image that windows of the group go along? They are short: where their length is not known,
// loops over several vectors at a time are mostly left at once.
static bool has_windows(tvms_unit *unit, const tvms_line_group *g) {
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->kind == TVMS_LINE_COLUMN && m->own_count
        && tvms_line_slides(unit, m, m->stage.axes[m->own[m->own_count - 1]].var))
      return true;
  }
  return false;
}

static void plan_pass(tvms_unit *unit, const tvms_line_group *g,
                      const tvms_line_options *options, uint32_t pass,
                      const tvms_line_plan *plan, tvms_line_pass_plan *p) {
  const tvms_line_member *first = first_of(g, pass);
  *p =
      (tvms_line_pass_plan){.lanes = 1, .vectors = 1, .sums = 1, .tile = 1, .fused = 1};
  if (first->own_count == 0) return;
  bool costly = calls_functions(unit, g, pass);
  p->wide = costly && !pass_folds(g, pass) && takes_together(options->target);
  p->fused = axes_of_line(unit, g, plan, pass, p->wide);
  p->lanes = vector_lanes(g, options->target, pass);
  p->vectors = MOST_VECTORS;
  bool folds = false, by_two = false;
  int64_t kept = 0;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->pass != pass) continue;
    kept += m->kind == TVMS_LINE_MAP && plan->places[i].how == TVMS_LINE_KEPT;
    by_two |= steps_by_two_lines(unit, m, p);
    folds |= m->kind == TVMS_LINE_FOLD;
    if (m->kind != TVMS_LINE_FOLD && plan->places[i].how != TVMS_LINE_OF_CHUNK
        && !stores_side_by_side(unit, m))
      p->lanes = 1;
  }
  if (by_two) p->vectors *= 2;
  // What several maps load of a vector is to be in registers for all of them.
  if (g->row_count == 0 && kept > 1)
    p->vectors = kept < MOST_VECTORS ? MOST_VECTORS / kept : 1;
  p->wide &= p->lanes > 1;
  if (costly) p->vectors = p->wide ? COSTLY_TOGETHER : folds ? 1 : COSTLY_VECTORS;
  int64_t length = line_length(first, p->fused);
  if (length < 0 && !pass_folds(g, pass) && has_windows(unit, g)) p->vectors = 1;
  while (length >= 0 && p->lanes > length && p->lanes > 1)
    p->lanes /= 2;
  while (length >= 0 && p->vectors > 1 && p->vectors * p->lanes > length)
    p->vectors--;
  plan_mask(unit, g, options, pass, p);
  plan_tile(unit, g, pass, p);
  limit_gathers(unit, g, pass, p);
  plan_period(unit, g, pass, p);
  p->wide &= p->vectors <= COSTLY_TOGETHER;
  p->sums = p->vectors;
}

// Does a member that maps store, and load as much again, more than the last cache holds?
static bool is_far(const tvms_line_member *m, const tvms_target *target) {
  int64_t bytes = 2 * (int64_t)bits_of(m->stage.store->value->dtype) / 8;
  return m->kind == TVMS_LINE_MAP
         && bytes_in_all(m, bytes) > tvms_target_cache(target, 2, LAST_CACHE);
}

// What streams through memory does so faster in vectors of half a line: on a Zen 4 by a tenth. Functions
// are what takes the time where there are any.
static void plan_stream(tvms_unit *unit, const tvms_line_group *g,
                        const tvms_target *target, uint32_t pass,
                        tvms_line_pass_plan *p) {
  enum { HALF_LINE = 32 };
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->pass != pass) continue;
    if (!is_far(m, target)
        || tvms_chain_cost_of(unit, m->stage.store->value, NULL).calls)
      return;
  }
  if (p->lanes * pass_bits(g, pass) > 8 * HALF_LINE) p->lanes /= 2;
}

// Does a pass store nothing but what the last cache does not hold, and no pass behind it loads again, in lines of whole
// vectors, so that each is at a multiple of its size if the first one is? Whoever loads it finds it in memory in any
// case, and the caches need not fetch lines that are written as a whole (on a Zen 4 copies take two thirds of the time).
static bool stores_past(tvms_unit *unit, const tvms_line_group *g,
                        const tvms_target *target, const tvms_line_plan *plan,
                        uint32_t pass) {
  bool stores = false;
  const tvms_line_pass_plan *p = &plan->passes[pass];
  const tvms_line_member *first = first_of(g, pass);
  if (first->own_count == 0 || line_length(first, p->fused) % p->lanes) return false;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->pass != pass) continue;
    if (m->kind != TVMS_LINE_MAP) return false;
    if (plan->places[i].how == TVMS_LINE_OF_CHUNK) continue;
    if (plan->places[i].how != TVMS_LINE_KEPT || !goes_to_memory(m, target))
      return false;
    for (uint32_t k = 0; k < g->count; k++) {
      bool holds =
          plan->places[k].how == TVMS_LINE_IN_RESULT && plan->places[k].result == m;
      if (holds || uses_of(unit, &g->members[k], m->stage.store->buffer)) return false;
    }
    stores = true;
  }
  return stores;
}

// What a pass stores and has loaded before may not be computed twice.
static bool can_overlap(const tvms_chain *chain, const tvms_line_group *g,
                        const tvms_line_options *options, const tvms_line_plan *plan,
                        uint32_t pass) {
  tvms_unit *unit = chain->unit;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->pass != pass) continue;
    if (m->kind == TVMS_LINE_FOLD && plan->places[i].one_by_one) return false;
    if (m->kind == TVMS_LINE_FOLD) continue;
    if (!options->noalias && m->kind == TVMS_LINE_MAP
        && tvms_cpu_may_be_in_place(unit, m->stage.store, chain->allocated))
      return false;
    // No initial value: the result goes on from what is there.
    if (m->kind == TVMS_LINE_COLUMN && !m->stage.init) return false;
    for (uint32_t k = 0; k <= i; k++) {
      if (g->members[k].pass == pass
          && uses_of(unit, &g->members[k], m->stage.store->buffer))
        return false;
      bool in_result =
          plan->places[k].how == TVMS_LINE_IN_RESULT && plan->places[k].result == m;
      if (in_result && uses_of(unit, m, g->members[k].stage.store->buffer))
        return false;
    }
  }
  return true;
}

// Products by an inverse are worth it along a line of some length.
static void plan_quotient(tvms_unit *unit, const tvms_line_group *g, uint32_t pass,
                          tvms_line_pass_plan *p) {
  const tvms_line_member *first = first_of(g, pass);
  int64_t length = first->own_count ? line_length(first, p->fused) : 0;
  if (length >= 0 && length < 4 * p->lanes * p->vectors) return;
  for (uint32_t i = 0; i < g->count && !p->divisor; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->pass != pass) continue;
    if (m->kind != TVMS_LINE_MAP) return;
    p->divisor = tvms_line_divisor(unit, m);
    p->divides = i;
  }
}

static void plan_padding(tvms_unit *unit, const tvms_line_group *g, uint32_t pass,
                         tvms_line_pass_plan *p) {
  for (uint32_t i = 0; i < g->count && !p->guard; i++) {
    if (g->members[i].pass != pass) continue;
    p->guard = tvms_line_padding_condition(unit, &g->members[i], p->active > 0,
                                           &p->guarded_term);
    p->guarded = i;
  }
}

// Elements of all passes, weighted; sizes that are not known count as 64.
static int64_t work_of(tvms_unit *unit, const tvms_line_group *g) {
  int64_t work = 0;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_stage *stage = &g->members[i].stage;
    bool known;
    int64_t steps = tvms_stage_steps(stage, &known);
    if (steps < 0) return INT64_MAX;
    bool costly = tvms_chain_cost_of(unit, stage->store->value, NULL).calls > 0;
    if (__builtin_mul_overflow(steps, costly ? 8 : 1, &steps)
        || __builtin_add_overflow(work, steps, &work))
      return INT64_MAX;
  }
  return work;
}

bool tvms_line_is_worth_threads(int64_t work, bool joins) {
  enum { WORTH_THREADS = 1 << 18, WORTH_JOINING = 1 << 15 };
  return work >= (joins ? WORTH_JOINING : WORTH_THREADS);
}

tvms_line_plan tvms_line_plan_for(const tvms_chain *chain, tvms_line_group *group,
                                  const tvms_line_options *options) {
  tvms_line_plan plan = {.work = work_of(chain->unit, group),
                         .allocated = chain->allocated,
                         .bounds = options->reorders,
                         .streams = 1,
                         .turns = 1};
  tvms_node *turned = tvms_line_turned_load(chain->unit, group);
  for (uint32_t i = 0; i < group->count; i++)
    place_member(chain, group, i, options, &plan);
  for (uint32_t pass = 0; pass < group->pass_count; pass++) {
    plan_pass(chain->unit, group, options, pass, &plan, &plan.passes[pass]);
    tvms_line_plan_shared(chain->unit, group, pass, options->target,
                          &plan.passes[pass]);
    plan.passes[pass].overlaps = can_overlap(chain, group, options, &plan, pass);
    if (!turned)
      plan_stream(chain->unit, group, options->target, pass, &plan.passes[pass]);
    if (turned)
      tvms_line_plan_turn(chain->unit, &group->members[0], turned, options->target,
                          vector_lanes(group, options->target, pass),
                          &plan.passes[pass]);
    plan.passes[pass].past =
        stores_past(chain->unit, group, options->target, &plan, pass);
    if (options->reorders && group->row_count)
      plan_quotient(chain->unit, group, pass, &plan.passes[pass]);
    if (options->reorders) plan_padding(chain->unit, group, pass, &plan.passes[pass]);
  }
  if (options->reorders && options->noalias)
    tvms_line_plan_streams(chain->unit, group, options->target, &plan);
  tvms_line_plan_order(chain, group, options->target, &plan);
  if (plan.streams * plan.turns == 1 && !plan.last_first) {
    for (uint32_t pass = 0; pass < group->pass_count; pass++)
      tvms_line_plan_fetch(chain->unit, group, pass, &plan);
  }
  return plan;
}
