// Finding groups of stages with common rows, and the passes over each row.
#include "passes/tir/cpu/rows.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/equal.h"
#include "ir/walk.h"
#include "passes/tir/cpu/places.h"

#include <string.h>

enum {
  NONE = TVMS_MOST_STAGE_AXES,
  FEWEST_FOLDED = 8,  // elements for which lanes are added up across
  FEWEST_LANES = 4,   // elements side by side that are worth a vector
  FARTHEST_STEP = 16  // elements between neighbours that windows share something at
};

// ---- Loads ----

typedef struct {
  const tvms_node *buffer;
  tvms_line_visit *visit;
  void *self;
  bool fine;
} load_walk;

static tvms_walk_step enter_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  load_walk *w = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (load->buffer == w->buffer && !w->visit(w->self, load)) w->fine = false;
  return w->fine ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

bool tvms_line_loads(tvms_unit *unit, const tvms_line_member *member,
                     const tvms_node *buffer, tvms_line_visit *visit, void *self) {
  load_walk w = {buffer, visit, self, true};
  tvms_visitor visitor = {.self = &w, .enter = enter_load};
  tvms_memory *memory = &unit->context->memory;
  const tvms_stage *stage = &member->stage;
  tvms_walk(memory, member->term ? member->term : stage->store->value, &visitor);
  if (w.fine && stage->init) tvms_walk(memory, stage->init, &visitor);
  return w.fine;
}

static bool found_load(void *self, const tvms_buffer_load *load) {
  (void)self;
  (void)load;
  return false;
}

static bool loads(tvms_unit *unit, const tvms_line_member *m, const tvms_node *buffer) {
  return !tvms_line_loads(unit, m, buffer, found_load, NULL);
}

void tvms_line_link(const tvms_stage *from, const tvms_stage *to,
                    const tvms_buffer_load *load, uint32_t *links) {
  for (uint32_t i = 0; i < from->count; i++)
    links[i] = NONE;
  tvms_list stored = from->store->indices;
  for (uint32_t d = 0; d < stored.len && d < load->indices.len; d++) {
    uint32_t axis = tvms_stage_axis_of(from, stored.items[d]);
    if (axis != NONE) links[axis] = tvms_stage_axis_of(to, load->indices.items[d]);
  }
}

static bool same_extent(tvms_unit *unit, tvms_node *a, tvms_node *b) {
  return a->dtype.bits == b->dtype.bits
         && (tvms_node_same_expr(a, b) || tvms_arith_prove_equal(unit, a, b));
}

// ---- One member ----

static bool is_place(const tvms_stage *stage, const tvms_node *node) {
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return false;
  return tvms_as_buffer_load(node)->buffer == stage->store->buffer;
}

static bool combines(tvms_node_kind kind) {
  return kind == TVMS_NODE_ADD || kind == TVMS_NODE_MUL || kind == TVMS_NODE_MIN
         || kind == TVMS_NODE_MAX;
}

// What a reducing stage combines with its result.
static bool read_term(tvms_unit *unit, tvms_line_member *m) {
  const tvms_node *value = m->stage.store->value;
  m->combine = (tvms_node_kind)value->kind;
  if (!combines(m->combine)) return false;
  const tvms_binary *b = tvms_as_binary(value);
  m->term_first = !is_place(&m->stage, b->a);
  m->term = m->term_first ? b->a : b->b;
  bool other = is_place(&m->stage, m->term_first ? b->b : b->a);
  return other && !tvms_chain_cost_of(unit, m->term, m->stage.store->buffer).loads;
}

typedef struct {
  tvms_unit *unit;
  const tvms_node *var;
  uint32_t next;  // loads of elements side by side along the variable
  uint32_t far;   // loads that move otherwise
  uint32_t wide;  // those of them that leave a line of the cache with each step
  uint32_t
      apart;  // those of them between whose elements there is room for a vector of others
  uint32_t unknown;  // those of them that do not move by one constant
} movement;

static tvms_walk_step note_movement(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  movement *m = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  int64_t step;
  bool known = tvms_cpu_step_of(m->unit, load->buffer, load->indices, m->var, &step);
  if (known && step == 1) m->next++;
  if (!known || (step != 0 && step != 1)) m->far++;
  if (known && (step < 0 || step > FARTHEST_STEP)) m->wide++;
  if (!known || step < 0 || step > FEWEST_LANES) m->apart++;
  if (!known) m->unknown++;
  return TVMS_WALK_ON;
}

static movement movement_along(tvms_unit *unit, tvms_node *expr, const tvms_node *var) {
  movement m = {.unit = unit, .var = var};
  tvms_visitor visitor = {.self = &m, .enter = note_movement};
  tvms_walk(&unit->context->memory, expr, &visitor);
  return m;
}

// The spatial axis along which the result is stored side by side; rows do not count.
static uint32_t stored_line(tvms_unit *unit, const tvms_line_member *m,
                            uint32_t row_count) {
  const tvms_stage *stage = &m->stage;
  for (uint32_t i = stage->count; i-- > 0;) {
    bool row = false;
    for (uint32_t r = 0; r < row_count; r++)
      row |= m->rows[r] == i;
    int64_t step;
    if (row || stage->axes[i].sums) continue;
    if (tvms_cpu_step_of(unit, stage->store->buffer, stage->store->indices,
                         stage->axes[i].var, &step)
        && step == 1)
      return i;
  }
  return NONE;
}

// The axes of the loops of a member's pass: of its sum, or the spatial ones that are not rows.
static void set_own(tvms_line_member *m, uint32_t row_count, bool sums, uint32_t line) {
  m->own_count = 0;
  for (uint32_t i = 0; i < m->stage.count; i++) {
    bool row = false;
    for (uint32_t r = 0; r < row_count; r++)
      row |= m->rows[r] == i;
    if (!row && m->stage.axes[i].sums == sums && i != line) m->own[m->own_count++] = i;
  }
  if (line != NONE) m->own[m->own_count++] = line;
}

static bool has_sums(const tvms_stage *stage) {
  for (uint32_t i = 0; i < stage->count; i++) {
    if (stage->axes[i].sums) return true;
  }
  return false;
}

// Steps of all axes that are summed over, symbolic ones as 64.
static int64_t folded(const tvms_stage *stage) {
  int64_t size = 1;
  for (uint32_t i = 0; i < stage->count; i++) {
    int64_t extent = tvms_cpu_number(stage->axes[i].extent);
    if (stage->axes[i].sums
        && __builtin_mul_overflow(size, extent < 0 ? 64 : extent, &size))
      return INT64_MAX;
  }
  return size;
}

typedef struct {
  tvms_memory *memory;
  const tvms_line_member *member;
  const tvms_node *line;
  uint32_t found;
} window_search;

static tvms_walk_step find_window(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  window_search *s = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  tvms_list indices = tvms_as_buffer_load(node)->indices;
  for (uint32_t i = 0; i < indices.len; i++) {
    tvms_node *index = indices.items[i];
    if (!tvms_walk_contains(s->memory, index, s->line)) continue;
    for (uint32_t k = 0; k < s->member->stage.count; k++) {
      const tvms_stage_axis *axis = &s->member->stage.axes[k];
      if (axis->sums && tvms_walk_contains(s->memory, index, axis->var)) s->found = k;
    }
  }
  return TVMS_WALK_ON;
}

uint32_t tvms_line_window_along(tvms_unit *unit, const tvms_line_member *m,
                                const tvms_node *line) {
  window_search s = {&unit->context->memory, m, line, NONE};
  tvms_visitor visitor = {.self = &s, .enter = find_window};
  tvms_walk(s.memory, m->term, &visitor);
  return s.found;
}

bool tvms_line_slides(tvms_unit *unit, const tvms_line_member *m,
                      const tvms_node *line) {
  return tvms_line_window_along(unit, m, line) != NONE;
}

// Is a reduction done across lanes, because its elements lie side by side along a summed axis,
// rather than for many results at once?
static bool folds(tvms_unit *unit, const tvms_line_member *m) {
  const tvms_stage *stage = &m->stage;
  bool across = false;
  for (uint32_t i = 0; i < stage->count; i++) {
    if (stage->axes[i].sums)
      across |= movement_along(unit, m->term, stage->axes[i].var).next > 0;
  }
  uint32_t line = stored_line(unit, m, 0);
  if (line == NONE) return across;
  int64_t extent = tvms_cpu_number(stage->axes[line].extent);
  movement along = movement_along(unit, m->term, stage->axes[line].var);
  bool side_by_side = along.next > 0 && along.far == 0;
  bool many = extent < 0 || extent >= FEWEST_LANES;
  bool slides = tvms_line_slides(unit, m, stage->axes[line].var) && along.wide == 0;
  // Few elements of each sum stand between those of the next one, as channels of a group do.
  bool interleaved = along.far > 0 && along.apart == 0;
  if (many && (side_by_side || slides || interleaved)) return false;
  return across && folded(stage) >= FEWEST_FOLDED;
}

static bool dtype_fits(tvms_dtype d) {
  return d.lanes == 1
         && (d.code == TVMS_FLOAT || d.code == TVMS_BFLOAT || d.code == TVMS_INT
             || d.code == TVMS_UINT || d.code == TVMS_BOOL)
         && d.bits >= 1 && d.bits <= 64;
}

static const char *TVMS_NULLABLE read_member(tvms_unit *unit, const tvms_stage *stage,
                                             tvms_line_member *m) {
  *m = (tvms_line_member){.stage = *stage};
  for (uint32_t i = 0; i < TVMS_MOST_STAGE_AXES; i++)
    m->rows[i] = NONE;
  if (!dtype_fits(stage->store->value->dtype))
    return "its elements have an unsuitable dtype";
  for (uint32_t i = 0; i < stage->count; i++) {
    if (!tvms_dtype_same(stage->axes[i].var->dtype, stage->axes[0].var->dtype))
      return "its loops have variables of several dtypes";
  }
  if (!tvms_chain_is_free_but_itself(unit, stage))
    return "the order of its steps may matter";
  if (!has_sums(stage)) return stage->init ? "it has an initial value" : NULL;
  if (!read_term(unit, m))
    return "its result is not a plain sum, product, minimum or maximum";
  return NULL;
}

const char *TVMS_NULLABLE tvms_line_refuse(tvms_unit *unit, const tvms_stage *stage) {
  tvms_line_member m;
  return read_member(unit, stage, &m);
}

// ---- Joining ----

typedef struct {
  tvms_unit *unit;
  const tvms_line_group *group;
  const tvms_line_member *from;
  tvms_line_member *to;
  bool back;  // the rows of `to` are known and those of `from` are looked for
  tvms_line_member *target;
} matching;

static bool set_row(matching *m, uint32_t row, uint32_t axis) {
  tvms_line_member *t = m->target;
  if (axis == NONE || t->stage.axes[axis].sums) return false;
  if (t->rows[row] != NONE) return t->rows[row] == axis;
  for (uint32_t r = 0; r < m->group->row_count; r++) {
    if (t->rows[r] == axis) return false;
  }
  t->rows[row] = axis;
  return same_extent(m->unit, m->group->rows[row], t->stage.axes[axis].extent);
}

static bool match_load(void *self, const tvms_buffer_load *load) {
  matching *m = self;
  uint32_t links[TVMS_MOST_STAGE_AXES];
  tvms_line_link(&m->from->stage, &m->to->stage, load, links);
  for (uint32_t r = 0; r < m->group->row_count; r++) {
    uint32_t axis = NONE;
    if (!m->back) {
      axis = links[m->from->rows[r]];
    } else {
      for (uint32_t i = 0; i < m->from->stage.count; i++) {
        if (links[i] == m->to->rows[r]) axis = i;
      }
    }
    if (!set_row(m, r, axis)) return false;
  }
  return true;
}

static bool has_all_rows(const tvms_line_group *g, const tvms_line_member *m) {
  for (uint32_t r = 0; r < g->row_count; r++) {
    if (m->rows[r] == NONE) return false;
  }
  return true;
}

// Nothing that one member stores is stored or loaded by another one in the wrong order.
static bool is_apart(tvms_unit *unit, const tvms_line_member *earlier,
                     const tvms_line_member *later) {
  const tvms_node *a = earlier->stage.store->buffer, *b = later->stage.store->buffer;
  return tvms_as_buffer(a)->data != tvms_as_buffer(b)->data && !loads(unit, earlier, b);
}

typedef struct {
  tvms_unit *unit;
  const tvms_line_member *other;
  bool shared;
} sharing;

static tvms_walk_step find_shared(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  sharing *s = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind == TVMS_NODE_BUFFER_LOAD)
    s->shared |= loads(s->unit, s->other, tvms_as_buffer_load(node)->buffer);
  return TVMS_WALK_ON;
}

// Does a member load what an expression loads?
static bool shares_operands(tvms_unit *unit, const tvms_line_member *m,
                            tvms_node *expr) {
  sharing s = {unit, m, false};
  tvms_visitor visitor = {.self = &s, .enter = find_shared};
  tvms_walk(&unit->context->memory, expr, &visitor);
  return s.shared;
}

// Reductions along the same rows of the same operand need nothing of each other to share a pass.
static bool match_alike(tvms_unit *unit, const tvms_line_group *g,
                        tvms_line_member *later) {
  if (!has_sums(&later->stage) || !folds(unit, later)) return false;
  bool shared = false;
  for (uint32_t i = 0; i < g->count; i++) {
    if (g->members[i].kind == TVMS_LINE_FOLD)
      shared |= shares_operands(unit, later, g->members[i].term);
  }
  if (!shared) return false;
  uint32_t rows = 0;
  for (uint32_t i = 0; i < later->stage.count; i++) {
    const tvms_stage_axis *axis = &later->stage.axes[i];
    if (axis->sums) continue;
    if (rows == g->row_count || !same_extent(unit, g->rows[rows], axis->extent))
      return false;
    later->rows[rows++] = i;
  }
  return rows == g->row_count;
}

// Does the later member take part in the rows of the group? It must load what the group stores,
// in the row at hand.
static bool match_rows(tvms_chain *chain, const tvms_line_group *g,
                       tvms_line_member *later) {
  bool met = false;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *from = &g->members[i];
    if (!is_apart(chain->unit, from, later)) return false;
    if (!loads(chain->unit, later, from->stage.store->buffer)) continue;
    met = true;
    matching m = {chain->unit, g, from, later, false, later};
    if (!tvms_line_loads(chain->unit, later, from->stage.store->buffer, match_load, &m))
      return false;
  }
  return met ? has_all_rows(g, later) : match_alike(chain->unit, g, later);
}

static bool match_rows_back(tvms_chain *chain, const tvms_line_group *g,
                            tvms_line_member *earlier) {
  bool met = false;
  for (uint32_t i = 0; i < g->count; i++) {
    tvms_line_member to = g->members[i];
    if (!is_apart(chain->unit, earlier, &to)) return false;
    const tvms_node *buffer = earlier->stage.store->buffer;
    if (!loads(chain->unit, &to, buffer)) continue;
    met = true;
    matching m = {chain->unit, g, earlier, &to, true, earlier};
    if (!tvms_line_loads(chain->unit, &to, buffer, match_load, &m)) return false;
  }
  return met && has_all_rows(g, earlier);
}

// ---- Passes ----

// The loops of a member that is not the first one: its line is where it stores side by side.
static void set_loops(tvms_unit *unit, const tvms_line_group *g, tvms_line_member *m) {
  bool sums = has_sums(&m->stage);
  uint32_t line = stored_line(unit, m, g->row_count);
  set_own(m, g->row_count, false, line);
  m->kind = sums ? TVMS_LINE_COLUMN : TVMS_LINE_MAP;
  if (!sums || m->own_count > 0) return;
  m->kind = TVMS_LINE_FOLD;
  set_own(m, g->row_count, true, NONE);
}

static bool same_loops(tvms_unit *unit, const tvms_line_member *a,
                       const tvms_line_member *b) {
  if (a->own_count != b->own_count) return false;
  for (uint32_t i = 0; i < a->own_count; i++) {
    if (!same_extent(unit, a->stage.axes[a->own[i]].extent,
                     b->stage.axes[b->own[i]].extent))
      return false;
  }
  return true;
}

typedef struct {
  const tvms_line_member *from, *to;
} element_match;

static bool is_same_element(void *self, const tvms_buffer_load *load) {
  const element_match *e = self;
  uint32_t links[TVMS_MOST_STAGE_AXES];
  tvms_line_link(&e->from->stage, &e->to->stage, load, links);
  for (uint32_t i = 0; i < e->from->own_count; i++) {
    if (links[e->from->own[i]] != e->to->own[i]) return false;
  }
  return true;
}

// The first pass in which all that the member loads is ready.
static uint32_t earliest_pass(tvms_unit *unit, const tvms_line_group *g,
                              const tvms_line_member *m) {
  uint32_t pass = 0;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *from = &g->members[i];
    const tvms_node *buffer = from->stage.store->buffer;
    if (!loads(unit, m, buffer)) continue;
    element_match e = {from, m};
    bool along = from->kind != TVMS_LINE_FOLD && from->own_count > 0
                 && same_loops(unit, from, m)
                 && tvms_line_loads(unit, m, buffer, is_same_element, &e);
    uint32_t ready = along ? from->pass : from->pass + 1;
    if (ready > pass) pass = ready;
  }
  return pass;
}

static const tvms_line_member *TVMS_NULLABLE any_of_pass(const tvms_line_group *g,
                                                         uint32_t pass) {
  for (uint32_t i = 0; i < g->count; i++) {
    if (g->members[i].pass == pass) return &g->members[i];
  }
  return NULL;
}

static void choose_pass(tvms_unit *unit, tvms_line_group *g, tvms_line_member *m) {
  uint32_t pass = earliest_pass(unit, g, m);
  for (; pass < g->pass_count; pass++) {
    const tvms_line_member *other = any_of_pass(g, pass);
    if (other && same_loops(unit, other, m)) break;
  }
  m->pass = pass;
  if (pass >= g->pass_count) g->pass_count = pass + 1;
}

static void add_member(tvms_unit *unit, tvms_line_group *g, const tvms_line_member *m) {
  tvms_line_member *added = &g->members[g->count];
  *added = *m;
  choose_pass(unit, g, added);
  g->count++;
}

// ---- Maps side by side ----

// May a pass do both in one step after the other? Neither needs anything of the other.
static bool may_alternate(tvms_unit *unit, const tvms_line_member *a,
                          const tvms_line_member *b) {
  const tvms_node *x = a->stage.store->buffer, *y = b->stage.store->buffer;
  if (loads(unit, a, y) || loads(unit, b, x)) return false;
  return tvms_as_buffer(x)->data != tvms_as_buffer(y)->data
         || tvms_cpu_store_apart(unit, &a->stage, &b->stage);
}

// Does a map go along its line in vectors, with all that it loads?
static bool goes_along(tvms_unit *unit, const tvms_line_member *m) {
  uint32_t line = stored_line(unit, m, 0);
  return m->kind == TVMS_LINE_MAP && line != NONE
         && !movement_along(unit, m->stage.store->value, m->stage.axes[line].var)
                 .unknown;
}

// Maps along lines of one length that load the same operands need nothing of each other to share a pass: what one loads is
// there for the other one.
static bool match_maps(tvms_unit *unit, const tvms_line_group *g,
                       const tvms_line_member *later) {
  tvms_line_member m = *later;
  bool shared = false;
  if (g->row_count || has_sums(&m.stage)) return false;
  set_loops(unit, g, &m);
  if (!goes_along(unit, &m)) return false;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *other = &g->members[i];
    bool alike =
        other->stage.store->value->dtype.bits == m.stage.store->value->dtype.bits
        && same_loops(unit, other, &m);
    if (!alike || !goes_along(unit, other) || !may_alternate(unit, other, &m))
      return false;
    shared |= shares_operands(unit, &m, other->stage.store->value);
  }
  return shared;
}

// ---- Groups ----

// The rows of a group are all axes that its leading reduction does not sum over.
static void lead_fold(tvms_line_group *g, tvms_line_member *m) {
  for (uint32_t i = 0; i < m->stage.count; i++) {
    if (m->stage.axes[i].sums) continue;
    m->rows[g->row_count] = i;
    g->rows[g->row_count++] = m->stage.axes[i].extent;
  }
  m->kind = TVMS_LINE_FOLD;
  set_own(m, g->row_count, true, NONE);
}

// The stages from `at` on up to the first one that reduces along rows, which leads the group.
static bool find_lead(tvms_chain *chain, uint32_t at, tvms_line_member *all,
                      uint32_t *lead) {
  for (uint32_t i = at; i < chain->count && i - at < TVMS_MOST_LINE_MEMBERS; i++) {
    read_member(chain->unit, &chain->stages[i], &all[i - at]);
    *lead = i;
    if (has_sums(&all[i - at].stage)) return folds(chain->unit, &all[i - at]);
  }
  return false;
}

static bool begin_with_fold(tvms_chain *chain, uint32_t at, tvms_line_group *g) {
  tvms_line_member *all =
      tvms_arena_array(&chain->unit->arena, tvms_line_member, TVMS_MOST_LINE_MEMBERS);
  uint32_t lead;
  if (!find_lead(chain, at, all, &lead)) return false;
  tvms_line_group *back = tvms_arena_new(&chain->unit->arena, tvms_line_group);
  *back = (tvms_line_group){.count = 0};
  lead_fold(back, &all[lead - at]);
  back->members[back->count++] = all[lead - at];
  for (uint32_t i = lead; i-- > at;) {
    if (!match_rows_back(chain, back, &all[i - at])) return false;
    back->members[back->count++] = all[i - at];
  }
  memcpy(g->rows, back->rows, sizeof g->rows);
  g->row_count = back->row_count;
  for (uint32_t i = at; i <= lead; i++) {
    tvms_line_member *m = &all[i - at];
    if (i < lead) set_loops(chain->unit, g, m);
    add_member(chain->unit, g, m);
  }
  return true;
}

static void begin_alone(tvms_chain *chain, uint32_t at, tvms_line_group *g) {
  tvms_line_member m;
  read_member(chain->unit, &chain->stages[at], &m);
  set_loops(chain->unit, g, &m);
  add_member(chain->unit, g, &m);
}

static bool keep_load(void *self, const tvms_buffer_load *load) {
  const tvms_buffer_load **kept = self;
  *kept = load;
  return false;
}

// Bytes of what a map stores in one row; sizes that are not known count as 64. -1: too many.
static int64_t row_bytes(const tvms_line_member *m) {
  enum { UNKNOWN = 64 };
  int64_t bytes = (m->stage.store->value->dtype.bits + 7) / 8;
  for (uint32_t i = 0; i < m->own_count; i++) {
    int64_t extent = tvms_cpu_number(m->stage.axes[m->own[i]].extent);
    if (__builtin_mul_overflow(bytes, extent < 0 ? UNKNOWN : extent, &bytes)) return -1;
  }
  return bytes;
}

// A map that windows slide over (an image that is padded) is done together with them, image by
// image: rows are the axes in front of the line that both have.
static bool begin_with_window(tvms_chain *chain, uint32_t at, tvms_line_group *g) {
  enum { FEW = 1024, NEAR = 128 * 1024 };
  tvms_unit *unit = chain->unit;
  tvms_line_member map, window;
  if (at + 1 >= chain->count) return false;
  read_member(unit, &chain->stages[at], &map);
  read_member(unit, &chain->stages[at + 1], &window);
  const tvms_node *buffer = map.stage.store->buffer;
  const tvms_buffer_load *load = NULL;
  if (has_sums(&map.stage) || !has_sums(&window.stage)
      || !tvms_chain_is_inner(chain, buffer))
    return false;
  tvms_line_loads(unit, &window, buffer, keep_load, &load);
  if (!load) return false;
  uint32_t links[TVMS_MOST_STAGE_AXES];
  tvms_line_link(&map.stage, &window.stage, load, links);
  uint32_t line = stored_line(unit, &map, 0), to_line = stored_line(unit, &window, 0);
  for (uint32_t i = 0; i < map.stage.count; i++) {
    uint32_t to = links[i];
    if (to == NONE || i == line || to == to_line || window.stage.axes[to].sums)
      continue;
    map.rows[g->row_count] = i;
    g->rows[g->row_count++] = map.stage.axes[i].extent;
  }
  if (g->row_count == 0) return false;
  set_loops(unit, g, &map);
  int64_t bytes = row_bytes(&map);
  // What is loaded right behind its store waits for it, in a small image for all of it.
  if (map.own_count == 0 || bytes < FEW || bytes > NEAR) return false;
  add_member(unit, g, &map);
  return match_rows(chain, g, &window);
}

void tvms_line_find(tvms_chain *chain, uint32_t at, tvms_line_group *group) {
  *group = (tvms_line_group){.count = 0};
  if (!begin_with_fold(chain, at, group)) {
    *group = (tvms_line_group){.count = 0};
    if (!begin_with_window(chain, at, group)) {
      *group = (tvms_line_group){.count = 0};
      begin_alone(chain, at, group);
    }
  }
  uint32_t most = at + TVMS_MOST_LINE_MEMBERS;
  for (uint32_t i = at + group->count; i < chain->count && i < most; i++) {
    tvms_line_member m;
    read_member(chain->unit, &chain->stages[i], &m);
    if (!match_rows(chain, group, &m) && !match_maps(chain->unit, group, &m)) return;
    set_loops(chain->unit, group, &m);
    uint32_t passes = group->pass_count;
    add_member(chain->unit, group, &m);
    // Without rows only what is done in the same pass gains.
    if (group->row_count > 0 || group->pass_count == passes) continue;
    group->count--;
    group->pass_count = passes;
    return;
  }
}
