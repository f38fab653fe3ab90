// The order of elements and rows; nothing that is computed depends on it but how sums are rounded.
//
//   for row in T.parallel(n // 2):
//     for r in range(2): m[r] = max of X[2 * row + r, :]           two rows take turns: while the lanes of one
//     for r in range(2):                                           become one value, there is the other one
//       for j in range(64): E[.., (63 - j) * 16 + lane] = exp(..)  from the end
//
// From the end: a load waits for a store that is under way and has the same place in its page (of 4 KiB), as far
// as the processor can tell. What is allocated later lies behind, often by whole pages and a line of the cache or
// two (the header of a block of the C library): what is loaded next is then at the place of what has just been
// stored, if both go upwards. On a Zen 4 that made exp up to 2.5 times as slow and a softmax 3.6 times.
//
// Where nobody knows how many rows there are, the last one comes first: rows that went upwards, with lines that go
// downwards, would have memory fetched ahead the wrong way at the end of each (half the speed).
#include "passes/tir/cpu/rows_order.h"

#include "ir/walk.h"
#include "passes/tir/cpu/places.h"

typedef struct {
  tvms_unit *unit;
  const tvms_line_group *g;
  const tvms_line_plan *plan;
  const tvms_node *line, *stored;
  bool found;
  bool plain;  // so far all go along the line step by step, or not at all
} load_search;

// Is it a buffer that the text alone has: its elements are in registers, or where results are?
static bool is_replaced(const load_search *s, const tvms_node *buffer) {
  for (uint32_t i = 0; i < s->g->count; i++) {
    if (s->g->members[i].stage.store->buffer == buffer)
      return s->plan->places[i].how != TVMS_LINE_KEPT;
  }
  return false;
}

static tvms_walk_step find_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  load_search *s = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  int64_t step;
  if (!tvms_cpu_step_of(s->unit, load->buffer, load->indices, s->line, &step))
    s->plain = false;
  else if (step == 1 && load->buffer != s->stored && !is_replaced(s, load->buffer))
    s->found = true;
  return s->plain ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

static const tvms_node *line_of(const tvms_line_member *m) {
  return m->stage.axes[m->own[m->own_count - 1]].var;
}

// Does a member store where callers see it? Who calls has allocated that, and what it is made from.
static bool stores_outside(const tvms_chain *chain, const tvms_line_member *m,
                           const tvms_line_place *place) {
  if (place->how == TVMS_LINE_IN_RESULT) m = place->result;
  bool stores = place->how == TVMS_LINE_KEPT || place->how == TVMS_LINE_IN_RESULT;
  return stores && !tvms_chain_is_inner(chain, m->stage.store->buffer);
}

// Does a pass load along the line what lies elsewhere than what member `at` of it stores, and nothing by formulas and
// tables? These are simpler upwards.
static bool loads_elsewhere(tvms_unit *unit, const tvms_line_group *g, uint32_t pass,
                            uint32_t at, const tvms_line_plan *plan) {
  bool found = false;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->pass != pass) continue;
    load_search s = {unit,  g,   plan, line_of(m), g->members[at].stage.store->buffer,
                     false, true};
    tvms_visitor visitor = {.self = &s, .enter = find_load};
    tvms_walk(&unit->context->memory, m->stage.store->value, &visitor);
    if (!s.plain) return false;
    found |= s.found;
  }
  return found;
}

// One axis of known length. (Quotients and remainders that several axes make of one line fall away upwards only.)
static bool has_known_line(const tvms_line_member *m, const tvms_line_pass_plan *p) {
  return p->fused == 1 && m->own_count
         && tvms_cpu_number(m->stage.axes[m->own[m->own_count - 1]].extent) >= 0;
}

static bool goes_backwards(const tvms_chain *chain, const tvms_line_group *g,
                           uint32_t pass, const tvms_line_plan *plan) {
  const tvms_line_pass_plan *p = &plan->passes[pass];
  if (p->tile > 1 || p->active || p->guard || p->turned) return false;
  bool found = false;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->pass != pass) continue;
    if (m->kind == TVMS_LINE_COLUMN || !has_known_line(m, p)) return false;
    if (m->kind == TVMS_LINE_FOLD && plan->places[i].one_by_one) return false;
    found |= m->kind == TVMS_LINE_MAP && stores_outside(chain, m, &plan->places[i])
             && loads_elsewhere(chain->unit, g, pass, i, plan);
  }
  return found;
}

static int64_t element_bytes(const tvms_line_member *m) {
  return (m->stage.store->value->dtype.bits + 7) / 8;
}

typedef struct {
  bool large;  // more than the second cache has
  bool known;
} stored_size;

// What the group stores. What comes from memory is fetched ahead better upwards.
static stored_size size_of(const tvms_line_group *g, const tvms_target *target) {
  enum { SECOND_CACHE = 1024 * 1024 };
  int64_t most = tvms_target_cache(target, 1, SECOND_CACHE);
  stored_size size = {false, true};
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    bool known;
    int64_t steps = tvms_stage_steps(&m->stage, &known);
    if (m->kind != TVMS_LINE_MAP) continue;
    size.large |= steps < 0 || steps > most / element_bytes(m);
    size.known &= known;
  }
  return size;
}

// Does a line wait for what another one folds?
static bool waits(const tvms_line_group *g) {
  uint32_t first = g->pass_count;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    if (m->kind == TVMS_LINE_FOLD && m->pass < first) first = m->pass;
  }
  for (uint32_t i = 0; i < g->count; i++) {
    if (g->members[i].pass > first && g->members[i].own_count) return true;
  }
  return false;
}

// Bytes of a row: its longest line, what is loaded and what is stored of it; -1: not known.
static int64_t row_bytes(const tvms_line_group *g) {
  int64_t most = 0;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    int64_t bytes = 2 * element_bytes(m);
    for (uint32_t k = 0; k < m->own_count; k++) {
      int64_t extent = tvms_cpu_number(m->stage.axes[m->own[k]].extent);
      if (extent < 0 || __builtin_mul_overflow(bytes, extent, &bytes)) return -1;
    }
    if (bytes > most) most = bytes;
  }
  return most;
}

// Are functions added up along a line? They take longer than what memory brings, whatever cache that is.
static bool folds_functions(tvms_unit *unit, const tvms_line_group *g) {
  bool folds[TVMS_MOST_LINE_MEMBERS] = {false}, functions = false;
  for (uint32_t i = 0; i < g->count; i++)
    folds[g->members[i].pass] |= g->members[i].kind == TVMS_LINE_FOLD;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    functions |= folds[m->pass] && m->own_count
                 && tvms_chain_cost_of(unit, m->stage.store->value, NULL).calls > 0;
  }
  return functions;
}

// As many rows as the first cache holds beside others, none left over if that can be, and where there may be threads
// several times for each of them. Of unknown length two, where functions are added up.
static int64_t turns_of(tvms_unit *unit, const tvms_line_group *g,
                        const tvms_target *target, const tvms_line_plan *plan) {
  enum { FIRST_CACHE = 32 * 1024, MOST_TURNS = 4, MANY_ROWS = 8, TIMES = 2 };
  enum { MAY_HAVE_THREADS = 1 << 15 };  // weighted elements
  if (g->row_count == 0 || plan->streams > 1 || !waits(g)) return 1;
  int64_t bytes = row_bytes(g), rows = tvms_cpu_number(g->rows[g->row_count - 1]);
  int64_t room = tvms_target_cache(target, 0, FIRST_CACHE) / 2, most = MOST_TURNS;
  if (bytes < 0 && !folds_functions(unit, g)) return 1;
  if (bytes < 0) bytes = room / 2;
  int64_t cores = plan->work < MAY_HAVE_THREADS ? 1 : target->cores;
  while (most > 1
         && (bytes > room / most
             || (rows >= 0 && cores > 1 && rows / most < TIMES * cores)))
    most--;
  int64_t turns = most;
  while (rows >= 0 && rows % turns)
    turns--;
  return turns == 1 && rows >= MANY_ROWS ? most : turns;
}

void tvms_line_plan_order(const tvms_chain *chain, const tvms_line_group *g,
                          const tvms_target *target, tvms_line_plan *plan) {
  plan->turns = turns_of(chain->unit, g, target, plan);
  stored_size size = size_of(g, target);
  if (size.large) return;
  for (uint32_t pass = 0; pass < g->pass_count; pass++) {
    plan->passes[pass].backwards = goes_backwards(chain, g, pass, plan);
    // Then memory goes one way from end to end, if it is memory. (Folds read upwards nevertheless: that is fetched ahead better.)
    plan->last_first |=
        plan->passes[pass].backwards && !size.known && plan->streams == 1;
  }
}
