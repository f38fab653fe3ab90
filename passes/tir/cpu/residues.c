// Taking sums apart by what axes leave when they are divided.
//
// A condition (y + c - a) % s == 0 on an axis of the result and one of the sum leaves one residue of the latter for each of
// the former. Of each a sum of its own is made, which has all of its steps. What stands side by side in the result is s apart
// then, so sums whose columns that is are stored in buffers of their own first.
#include "passes/tir/cpu/residues.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

enum { MOST_PAIRS = 3, MOST_SUMS = 16, NONE = TVMS_MOST_STAGE_AXES };

// An axis of the result and one of the sum that a condition ties to each other.
typedef struct {
  uint32_t kept, summed;
  int64_t modulus;
  int64_t kept_sign, summed_sign;  // of the axes in what is divided: 1 or -1
  int64_t rest;  // what is divided leaves where both are 0, less what it is to leave
} pair;

typedef struct {
  tvms_unit *unit;
  const tvms_stage *stage;
  pair pairs[MOST_PAIRS];
  uint32_t count;
  int64_t all;  // sums that are made
} residues;

static int64_t positive(int64_t value, int64_t modulus) {
  return ((value % modulus) + modulus) % modulus;
}

// ---- Which axes ----

static int64_t extent_of(const residues *r, uint32_t axis) {
  return tvms_cpu_number(r->stage->axes[axis].extent);
}

static bool is_taken(const residues *r, uint32_t axis) {
  for (uint32_t i = 0; i < r->count; i++)
    if (r->pairs[i].kept == axis || r->pairs[i].summed == axis) return true;
  return false;
}

// What an index is where all axes are 0; false: no number.
static bool value_at_zero(const residues *r, tvms_node *index, int64_t *value) {
  tvms_node_map zeros;
  tvms_node_map_init(&zeros, &r->unit->context->memory);
  for (uint32_t i = 0; i < r->stage->count; i++) {
    tvms_node *var = r->stage->axes[i].var;
    tvms_node_map_put(&zeros, var,
                      tvms_int_imm_new(r->unit, var->dtype, 0, TVMS_NO_SPAN));
  }
  tvms_node *made =
      tvms_arith_simplify(r->unit, tvms_substitute(r->unit, index, &zeros));
  tvms_node_map_fini(&zeros);
  if (!tvms_node_is_int_imm(made)) return false;
  *value = tvms_as_int_imm(made)->value;
  return true;
}

static bool read_pair(const residues *r, const tvms_binary *equal, pair *p) {
  const tvms_node *mod = equal->a;
  if (mod->kind != TVMS_NODE_FLOOR_MOD || !tvms_node_is_int_imm(equal->b)) return false;
  tvms_node *index = tvms_as_binary(mod)->a;
  p->modulus = tvms_cpu_number(tvms_as_binary(mod)->b);
  p->kept = p->summed = NONE;
  if (p->modulus < 2 || !value_at_zero(r, index, &p->rest)) return false;
  p->rest -= tvms_as_int_imm(equal->b)->value;
  for (uint32_t i = 0; i < r->stage->count; i++) {
    int64_t step;
    if (!tvms_cpu_index_step(r->unit, index, r->stage->axes[i].var, &step))
      return false;
    if (step == 0) continue;
    bool sums = r->stage->axes[i].sums;
    uint32_t *axis = sums ? &p->summed : &p->kept;
    if ((step != 1 && step != -1) || *axis != NONE) return false;
    *axis = i;
    *(sums ? &p->summed_sign : &p->kept_sign) = step;
  }
  return p->kept != NONE && p->summed != NONE && extent_of(r, p->kept) > 0
         && extent_of(r, p->summed) > 0;
}

static tvms_walk_step find_pair(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  residues *r = self;
  pair p;
  if (node->kind == TVMS_NODE_BUFFER || node->kind == TVMS_NODE_BUFFER_LOAD)
    return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_EQ || r->count == MOST_PAIRS
      || !read_pair(r, tvms_as_binary(node), &p) || is_taken(r, p.kept)
      || is_taken(r, p.summed) || __builtin_mul_overflow(r->all, p.modulus, &r->all)
      || r->all > MOST_SUMS)
    return TVMS_WALK_ON;
  r->pairs[r->count++] = p;
  return TVMS_WALK_SKIP;
}

// Is the condition one of those that must all hold, or else nothing is added?
static bool asks_for_all(const tvms_node *node) {
  tvms_node_choice choice = tvms_node_choice_of(node);
  if (choice.condition)
    return choice.no->kind == TVMS_NODE_FLOAT_IMM
           && tvms_as_float_imm(choice.no)->value == 0.0;
  return node->kind == TVMS_NODE_AND;
}

static void find_pairs(residues *r, tvms_node *node) {
  tvms_visitor visitor = {.self = r, .enter = find_pair};
  if (node->kind == TVMS_NODE_MUL) {
    find_pairs(r, tvms_as_binary(node)->a);
    find_pairs(r, tvms_as_binary(node)->b);
  } else if (node->kind == TVMS_NODE_EQ) {
    tvms_walk(&r->unit->context->memory, node, &visitor);
  } else if (node->kind == TVMS_NODE_AND) {
    find_pairs(r, tvms_as_binary(node)->a);
    find_pairs(r, tvms_as_binary(node)->b);
  } else if (asks_for_all(node)) {
    tvms_node_choice choice = tvms_node_choice_of(node);
    find_pairs(r, choice.condition);
    find_pairs(r, choice.yes);
  }
}

// ---- Writing ----

typedef struct {
  const residues *r;
  tvms_analyzer *analyzer;
  tvms_stage stage;   // with the axes of one combination of residues
  tvms_node_map now;  // axes of the sum at hand -> what they were
} writer;

static tvms_node *simplify(tvms_rewriter *r, tvms_node *node) {
  const writer *w = r->self;
  return tvms_analyzer_simplify(w->analyzer, node);
}

static tvms_node *simplify_load(tvms_rewriter *r, tvms_node *node) {
  const writer *w = r->self;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  tvms_list made = tvms_list_copy(r->unit, load->indices.items, load->indices.len);
  for (uint32_t i = 0; i < made.len; i++)
    made.items[i] = tvms_analyzer_simplify(w->analyzer, made.items[i]);
  return tvms_buffer_load_new(r->unit, load->buffer, made.items, made.len,
                              load->predicate, node->span);
}

static tvms_node *join_conditions(tvms_rewriter *r, tvms_node *node) {
  const tvms_binary *both = tvms_as_binary(node);
  (void)r;
  if (tvms_node_is_true(both->a)) return both->b;
  return tvms_node_is_true(both->b) ? both->a : node;
}

static tvms_node *choose(tvms_rewriter *r, tvms_node *node) {
  tvms_node_choice choice = tvms_node_choice_of(node);
  (void)r;
  return choice.condition && tvms_node_is_true(choice.condition) ? choice.yes : node;
}

static tvms_node *rewritten(writer *w, tvms_node *node) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, w->r->unit, w);
  for (uint32_t i = 0; i < w->now.cap; i++)
    if (w->now.pairs[i].key && w->now.pairs[i].value)
      tvms_node_map_put(&r.known, w->now.pairs[i].key, w->now.pairs[i].value);
  for (int kind = TVMS_NODE_EQ; kind <= TVMS_NODE_GE; kind++)
    r.leave[kind] = simplify;
  r.leave[TVMS_NODE_AND] = join_conditions;
  r.leave[TVMS_NODE_BUFFER_LOAD] = simplify_load;
  r.leave[TVMS_NODE_CALL] = r.leave[TVMS_NODE_SELECT] = choose;
  tvms_node *made = tvms_rewrite(&r, node);
  tvms_rewriter_fini(&r);
  return made;
}

static tvms_node *number(const writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->r->unit, like->dtype, value, TVMS_NO_SPAN);
}

// Every `modulus`-th step of an axis, from `first` on. False: there is none.
static bool divide_axis(writer *w, uint32_t at, int64_t first, int64_t modulus) {
  tvms_unit *unit = w->r->unit;
  tvms_stage_axis *axis = &w->stage.axes[at];
  int64_t steps = tvms_cpu_number(axis->extent);
  const tvms_node *like = axis->var;
  if (first >= steps) return false;
  axis->extent = number(w, like, (steps - first + modulus - 1) / modulus);
  axis->var = tvms_var_new(unit, tvms_as_var(like)->name, like->dtype, TVMS_NO_SPAN);
  tvms_node *was = tvms_build_binary(unit, TVMS_NODE_MUL, axis->var,
                                     number(w, like, modulus), TVMS_NO_SPAN);
  was =
      tvms_build_binary(unit, TVMS_NODE_ADD, was, number(w, like, first), TVMS_NO_SPAN);
  tvms_node_map_put(&w->now, w->r->stage->axes[at].var, was);
  return true;
}

// The axes of combination `which`. `*adds`: the sum has steps; false: it has no results.
static bool set_axes(writer *w, int64_t which, bool *adds) {
  const residues *r = w->r;
  *adds = true;
  w->stage = *r->stage;
  for (uint32_t i = r->count; i-- > 0;) {
    const pair *p = &r->pairs[i];
    int64_t kept = which % p->modulus;
    int64_t summed =
        positive(-p->summed_sign * (p->rest + p->kept_sign * kept), p->modulus);
    which /= p->modulus;
    if (!divide_axis(w, p->kept, kept, p->modulus)) return false;
    *adds &= divide_axis(w, p->summed, summed, p->modulus);
  }
  for (uint32_t i = 0; i < w->stage.count; i++) {
    const tvms_stage_axis *axis = &w->stage.axes[i];
    tvms_analyzer_bind_range(w->analyzer, axis->var, number(w, axis->var, 0),
                             axis->extent);
  }
  return true;
}

static tvms_list indices_now(writer *w) {
  tvms_list old = w->r->stage->store->indices;
  tvms_list made = tvms_list_copy(w->r->unit, old.items, old.len);
  for (uint32_t i = 0; i < made.len; i++)
    made.items[i] = tvms_analyzer_simplify(
        w->analyzer, tvms_substitute(w->r->unit, made.items[i], &w->now));
  return made;
}

// A buffer for the results of this combination, and where they are in it.
static tvms_node *own_buffer(const writer *w, tvms_list *places) {
  tvms_node *shape[TVMS_MOST_STAGE_AXES], *at[TVMS_MOST_STAGE_AXES];
  uint32_t dims = 0;
  for (uint32_t i = 0; i < w->stage.count; i++) {
    if (w->stage.axes[i].sums) continue;
    shape[dims] = w->stage.axes[i].extent;
    at[dims++] = w->stage.axes[i].var;
  }
  *places = tvms_list_copy(w->r->unit, at, dims);
  return tvms_cpu_buffer(w->r->unit, "residue", w->stage.store->value->dtype, "global",
                         shape, dims);
}

static void push(const writer *w, tvms_list *list, tvms_node *node) {
  *list = tvms_list_with(w->r->unit, *list, node);
}

// The sum of one combination; `behind` gets what copies its results to their places, if they wait elsewhere.
static void write_sum(writer *w, tvms_node *term, bool apart, bool adds,
                      tvms_replacement *made, tvms_list *behind) {
  tvms_unit *unit = w->r->unit;
  const tvms_store *out = w->r->stage->store;
  tvms_node *init = w->r->stage->init, *buffer = out->buffer;
  tvms_list indices = indices_now(w), at = indices;
  const char *name = w->r->stage->name;
  if (!adds) {
    push(w, &made->stmts,
         tvms_stage_write_each(unit, &w->stage, name,
                               tvms_cpu_store(unit, buffer, indices, init)));
    return;
  }
  if (apart) {
    buffer = own_buffer(w, &at);
    push(w, &made->buffers, buffer);
  }
  tvms_node *result =
      tvms_buffer_load_new(unit, buffer, at.items, at.len, NULL, TVMS_NO_SPAN);
  tvms_node *value =
      tvms_binary_new(unit, TVMS_NODE_ADD, result, rewritten(w, term), TVMS_NO_SPAN);
  push(w, &made->stmts,
       tvms_stage_write(unit, &w->stage, name, tvms_cpu_store(unit, buffer, at, value),
                        tvms_cpu_store(unit, buffer, at, init)));
  if (apart)
    push(w, behind,
         tvms_stage_write_each(unit, &w->stage, name,
                               tvms_cpu_store(unit, out->buffer, indices, result)));
}

// Does what lies side by side in the result fall apart?
static bool falls_apart(const residues *r) {
  const tvms_store *out = r->stage->store;
  for (uint32_t i = 0; i < r->count; i++) {
    int64_t step;
    if (!tvms_cpu_step_of(r->unit, out->buffer, out->indices,
                          r->stage->axes[r->pairs[i].kept].var, &step)
        || step == 1)
      return true;
  }
  return false;
}

// The pairs of axes that conditions on what a sum adds up tie to each other; what it adds up, or NULL: there are none.
static tvms_node *TVMS_NULLABLE read_sum(residues *r) {
  const tvms_stage *stage = r->stage;
  tvms_node *term = tvms_stage_term(stage, TVMS_NODE_ADD);
  if (!term || !stage->init || stage->init->kind != TVMS_NODE_FLOAT_IMM
      || tvms_cpu_mentions(r->unit, term, stage->store->buffer)
      || !tvms_cpu_is_injective(r->unit, stage))
    return NULL;
  find_pairs(r, term);
  return r->count ? term : NULL;
}

bool tvms_cpu_has_residues(tvms_unit *unit, const tvms_stage *stage) {
  residues r = {.unit = unit, .stage = stage, .all = 1};
  return read_sum(&r) != NULL;
}

bool tvms_cpu_split_residues(tvms_unit *unit, const tvms_stage *stage,
                             tvms_replacement *made) {
  residues r = {.unit = unit, .stage = stage, .all = 1};
  tvms_node *term = read_sum(&r);
  if (!term) return false;
  bool apart = falls_apart(&r);
  tvms_list behind = {NULL, 0};
  for (int64_t which = 0; which < r.all; which++) {
    writer w = {.r = &r, .analyzer = tvms_analyzer_new(unit)};
    bool adds;
    tvms_node_map_init(&w.now, &unit->context->memory);
    if (set_axes(&w, which, &adds)) write_sum(&w, term, apart, adds, made, &behind);
    tvms_node_map_fini(&w.now);
    tvms_analyzer_free(w.analyzer);
  }
  for (uint32_t i = 0; i < behind.len; i++)
    made->stmts = tvms_list_with(unit, made->stmts, behind.items[i]);
  return true;
}
