// Gathering columns of products.
//
// The axes that only one side of a product moves along, and the result, are counted as one. That side is copied so that they
// lie side by side, the sums are stored so, and a last statement puts them where they belong: two copies, each of which
// many steps of the sum, or rows, pay for.
#include "passes/tir/cpu/gathered_columns.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/contraction.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

enum {
  MOST_LOADS = 8,
  FEWEST_STEPS = 8,  // of the sum, and rows, that pay for a copy
  NONE = TVMS_MOST_STAGE_AXES
};

typedef struct {
  tvms_unit *unit;
  const tvms_stage *stage;
  tvms_node *term;
  tvms_node *loads[MOST_LOADS];   // of other places each
  tvms_node *copies[MOST_LOADS];  // what is loaded in their place; NULL: they stay
  uint32_t load_count;
  bool fits;
  bool moves[MOST_LOADS];  // along columns
  uint32_t
      columns[TVMS_MOST_STAGE_AXES];  // the one with the least steps in the result last
  uint32_t column_count;
  int64_t steps[TVMS_MOST_STAGE_AXES];  // of the result, along each axis
  int64_t width;
} gathering;

// ---- Which columns ----

static tvms_walk_step note_load(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  gathering *g = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  for (uint32_t i = 0; i < g->load_count; i++) {
    if (tvms_node_same_expr(g->loads[i], node)) return TVMS_WALK_SKIP;
  }
  g->fits &= g->load_count < MOST_LOADS && !tvms_as_buffer_load(node)->predicate;
  if (g->fits) g->loads[g->load_count++] = node;
  return TVMS_WALK_SKIP;
}

static bool depends(const gathering *g, uint32_t load, uint32_t axis) {
  return tvms_cpu_depends(g->unit, tvms_as_buffer_load(g->loads[load])->indices,
                          g->stage->axes[axis].var);
}

static bool is_spatial(const gathering *g, uint32_t axis) {
  return !g->stage->axes[axis].sums
         && !tvms_stage_axis_is_single(&g->stage->axes[axis]);
}

// The axis along which neighbours of the result are nearest; NONE: that is not known.
static uint32_t nearest_axis(gathering *g) {
  const tvms_store *store = g->stage->store;
  uint32_t nearest = NONE;
  for (uint32_t i = 0; i < g->stage->count; i++) {
    if (!is_spatial(g, i)) continue;
    if (!tvms_cpu_step_of(g->unit, store->buffer, store->indices, g->stage->axes[i].var,
                          &g->steps[i])
        || g->steps[i] < 1)
      return NONE;
    if (nearest == NONE || g->steps[i] < g->steps[nearest]) nearest = i;
  }
  return nearest;
}

// Do only loads that move along columns depend on an axis? `moving`: is one of them asked for, or one that does not.
static bool only_some_depend(const gathering *g, uint32_t axis, bool moving) {
  bool some = false;
  for (uint32_t i = 0; i < g->load_count; i++) {
    if (!depends(g, i, axis)) continue;
    if (g->moves[i] != moving) return false;
    some = true;
  }
  return some;
}

static void add_column(gathering *g, uint32_t axis) {
  uint32_t at = g->column_count++;
  for (; at > 0 && g->steps[g->columns[at - 1]] < g->steps[axis]; at--)
    g->columns[at] = g->columns[at - 1];
  g->columns[at] = axis;
}

static bool find_columns(gathering *g) {
  uint32_t nearest = nearest_axis(g);
  bool rows = false;
  if (nearest == NONE) return false;
  for (uint32_t i = 0; i < g->load_count; i++)
    g->moves[i] = depends(g, i, nearest);
  g->width = 1;
  for (uint32_t i = 0; i < g->stage->count; i++) {
    if (!is_spatial(g, i)) continue;
    int64_t extent = tvms_cpu_number(g->stage->axes[i].extent);
    rows |= only_some_depend(g, i, false) && (extent < 0 || extent >= FEWEST_STEPS);
    if (!only_some_depend(g, i, true)) continue;
    if (extent < 0 || __builtin_mul_overflow(g->width, extent, &g->width)) return false;
    add_column(g, i);
  }
  return rows && g->column_count > 0;
}

static bool has_many_steps(const gathering *g) {
  int64_t steps = 1;
  for (uint32_t i = 0; i < g->stage->count; i++) {
    int64_t extent = tvms_cpu_number(g->stage->axes[i].extent);
    if (!g->stage->axes[i].sums) continue;
    if (extent < 0 || __builtin_mul_overflow(steps, extent, &steps)) return true;
  }
  return steps >= FEWEST_STEPS;
}

// Are there enough columns for a vector, and not enough as they lie?
static bool is_worth(const gathering *g, const tvms_target *TVMS_NULLABLE target) {
  enum { FEWEST_BITS = 128 };
  int64_t bits = target ? target->vector_bits : FEWEST_BITS;
  int64_t lanes = bits / g->stage->store->value->dtype.bits;
  tvms_contraction c;
  if (lanes < 2 || g->width < lanes || !has_many_steps(g)) return false;
  if (tvms_contraction_find(g->unit, g->stage, &c)) return true;
  return 2 * tvms_contraction_column_steps(&c) <= lanes;
}

// ---- Statements ----

static bool is_column(const gathering *g, uint32_t axis) {
  for (uint32_t i = 0; i < g->column_count; i++) {
    if (g->columns[i] == axis) return true;
  }
  return false;
}

// The columns as one number.
static tvms_node *place_of_columns(const gathering *g) {
  tvms_node *place = NULL;
  for (uint32_t i = 0; i < g->column_count; i++) {
    const tvms_stage_axis *axis = &g->stage->axes[g->columns[i]];
    place = place ? tvms_build_binary(g->unit, TVMS_NODE_ADD,
                                      tvms_build_binary(g->unit, TVMS_NODE_MUL, place,
                                                        axis->extent, TVMS_NO_SPAN),
                                      axis->var, TVMS_NO_SPAN)
                  : axis->var;
  }
  return place;
}

typedef struct {
  tvms_node *shape[TVMS_MOST_STAGE_AXES + 1], *places[TVMS_MOST_STAGE_AXES + 1];
  uint32_t dims;
} place;

static void add_dim(place *p, tvms_node *extent, tvms_node *index) {
  p->shape[p->dims] = extent;
  p->places[p->dims++] = index;
}

static tvms_node *new_buffer(const gathering *g, const char *name, tvms_dtype element,
                             const place *p, tvms_replacement *made) {
  tvms_node *buffer =
      tvms_cpu_buffer(g->unit, name, element, "global", p->shape, p->dims);
  made->buffers = tvms_list_with(g->unit, made->buffers, buffer);
  return buffer;
}

// Copies what is loaded, so that columns lie side by side, and says what is loaded in its place.
static void copy_operand(gathering *g, uint32_t load, const tvms_stage_axis *column,
                         tvms_replacement *made) {
  tvms_stage copy = {.nest = g->stage->nest, .name = "gather"};
  place p = {.dims = 0};
  for (uint32_t i = 0; i < g->stage->count; i++) {
    if (is_column(g, i) || !depends(g, load, i)) continue;
    copy.axes[copy.count] = g->stage->axes[i];
    copy.axes[copy.count++].sums = false;
    add_dim(&p, g->stage->axes[i].extent, g->stage->axes[i].var);
  }
  for (uint32_t i = 0; i < g->column_count; i++)
    copy.axes[copy.count++] = g->stage->axes[g->columns[i]];
  add_dim(&p, column->extent, place_of_columns(g));
  tvms_node *buffer = new_buffer(g, "gathered", g->loads[load]->dtype, &p, made);
  tvms_node *store = tvms_cpu_store(
      g->unit, buffer, tvms_list_copy(g->unit, p.places, p.dims), g->loads[load]);
  made->stmts = tvms_list_with(
      g->unit, made->stmts, tvms_stage_write(g->unit, &copy, copy.name, store, NULL));
  p.places[p.dims - 1] = column->var;
  g->copies[load] =
      tvms_buffer_load_new(g->unit, buffer, p.places, p.dims, NULL, TVMS_NO_SPAN);
}

static tvms_node *take_copy(tvms_rewriter *r, tvms_node *node) {
  const gathering *g = r->self;
  for (uint32_t i = 0; i < g->load_count; i++) {
    if (g->copies[i] && tvms_node_same_expr(g->loads[i], node)) return g->copies[i];
  }
  return node;
}

static tvms_node *term_of_copies(gathering *g) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, g->unit, g);
  r.leave[TVMS_NODE_BUFFER_LOAD] = take_copy;
  tvms_node *term = tvms_rewrite(&r, g->term);
  tvms_rewriter_fini(&r);
  return term;
}

// The sum with one axis for all columns. False: it is no product then either.
static bool write_sum(gathering *g, const tvms_stage_axis *column,
                      tvms_replacement *made) {
  tvms_unit *unit = g->unit;
  tvms_stage sum = *g->stage;
  place p = {.dims = 0};
  sum.count = 0;
  for (uint32_t i = 0; i < g->stage->count; i++) {
    const tvms_stage_axis *axis = &g->stage->axes[i];
    if (is_column(g, i)) continue;
    sum.axes[sum.count++] = *axis;
    if (!axis->sums) add_dim(&p, axis->extent, axis->var);
  }
  sum.axes[sum.count++] = *column;
  tvms_dtype dtype = g->stage->store->value->dtype;
  add_dim(&p, column->extent, place_of_columns(g));
  tvms_node *buffer = new_buffer(g, "columns", dtype, &p, made);
  const tvms_store *out = g->stage->store;
  tvms_node *result =
      tvms_buffer_load_new(unit, buffer, p.places, p.dims, NULL, TVMS_NO_SPAN);
  tvms_node *back = tvms_cpu_store(unit, out->buffer, out->indices, result);
  p.places[p.dims - 1] = column->var;
  tvms_list at = tvms_list_copy(unit, p.places, p.dims);
  result = tvms_buffer_load_new(unit, buffer, p.places, p.dims, NULL, TVMS_NO_SPAN);
  tvms_node *value =
      tvms_binary_new(unit, TVMS_NODE_ADD, result, term_of_copies(g), TVMS_NO_SPAN);
  tvms_node *store = tvms_cpu_store(unit, buffer, at, value);
  tvms_contraction c;
  sum.store = tvms_as_store(store);
  if (tvms_contraction_find(unit, &sum, &c)) return false;
  tvms_node *nest = tvms_stage_write(unit, &sum, sum.name, store,
                                     tvms_cpu_store(unit, buffer, at, sum.init));
  made->stmts = tvms_list_with(unit, made->stmts, nest);
  made->stmts = tvms_list_with(
      unit, made->stmts, tvms_stage_write_each(unit, g->stage, g->stage->name, back));
  return true;
}

bool tvms_cpu_gather_columns(tvms_unit *unit, const tvms_target *TVMS_NULLABLE target,
                             const tvms_stage *stage, tvms_replacement *made) {
  gathering g = {.unit = unit, .stage = stage, .fits = true};
  g.term = tvms_stage_term(stage, TVMS_NODE_ADD);
  if (!g.term || !stage->init
      || !tvms_contraction_is_arithmetic(&unit->context->memory, g.term)
      || tvms_cpu_mentions(unit, g.term, stage->store->buffer)
      || !tvms_cpu_is_injective(unit, stage))
    return false;
  tvms_visitor visitor = {.self = &g, .enter = note_load};
  tvms_walk(&unit->context->memory, g.term, &visitor);
  if (!g.fits || !find_columns(&g) || !is_worth(&g, target)) return false;
  const tvms_node *like = stage->axes[g.columns[0]].var;
  tvms_stage_axis column = {tvms_cpu_variable(unit, "c", like),
                            tvms_int_imm_new(unit, like->dtype, g.width, TVMS_NO_SPAN),
                            false};
  for (uint32_t i = 0; i < g.load_count; i++) {
    if (g.moves[i]) copy_operand(&g, i, &column, made);
  }
  return write_sum(&g, &column, made);
}
