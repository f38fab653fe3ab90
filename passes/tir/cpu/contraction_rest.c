// Converting the resting operand of a tile.
#include "passes/tir/cpu/contraction_rest.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

typedef tvms_contraction_writer writer;

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

static bool converts(const tvms_node *node, const tvms_node *operand) {
  return node->kind == TVMS_NODE_CAST && tvms_as_cast(node)->value == operand;
}

static tvms_walk_step find_conversion(void *self, tvms_node *node,
                                      tvms_field_role role) {
  (void)role;
  return converts(node, self) ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool is_converted(tvms_unit *unit, const tvms_contraction *c) {
  if (c->row == TVMS_MOST_STAGE_AXES || !c->resting || c->resting->dtype.bits != 16
      || c->term->dtype.bits != 32 || c->outermost_sum == TVMS_MOST_STAGE_AXES)
    return false;
  tvms_visitor visitor = {.self = c->resting, .enter = find_conversion};
  if (tvms_walk(&unit->context->memory, c->term, &visitor)) return false;
  if (!c->one_sum) return c->sums_in_order;
  const tvms_buffer_load *load = tvms_as_buffer_load(c->resting);
  int64_t step;
  return tvms_cpu_step_of(unit, load->buffer, load->indices,
                          c->stage.axes[c->outermost_sum].var, &step)
         && step == 1;
}

bool tvms_contraction_rests(tvms_unit *unit, const tvms_contraction *c,
                            const tvms_tile *tile, int64_t cache) {
  int64_t steps = tile->sum_block ? tile->sum_block : tvms_contraction_steps(c);
  bool in_order = !tile->sum_block || tile->packs || tile->in_place;
  int64_t bytes = steps < 0 ? 0 : steps * tile->rows * (c->term->dtype.bits / 8);
  return in_order && !tile->sum_apart && !tile->sum_words && bytes <= cache / 4
         && is_converted(unit, c);
}

// The step of the sum, all of its axes counted as one.
static tvms_node *flat_step(writer *w) {
  if (w->tile->flat_sum) return w->step;
  tvms_node *flat = NULL;
  for (uint32_t i = 0; i < w->c->stage.count; i++) {
    const tvms_stage_axis *axis = &w->c->stage.axes[i];
    if (w->c->roles[i] != TVMS_AXIS_SUM || tvms_stage_axis_is_single(axis)) continue;
    flat = flat ? build(w, TVMS_NODE_ADD, build(w, TVMS_NODE_MUL, flat, axis->extent),
                        axis->var)
                : axis->var;
  }
  return flat;
}

void tvms_contraction_make_rest(writer *w) {
  w->rest = w->rest_row = NULL;
  if (!w->tile->rests || !w->row) return;
  w->rest_row = tvms_cpu_variable(w->unit, "i", w->c->stage.axes[w->c->row].var);
  tvms_node *steps = w->tile->sum_block ? number(w, w->step, w->tile->sum_block)
                                        : tvms_contraction_flat_extent(w);
  tvms_node *shape[] = {number(w, w->rest_row, w->rows), steps};
  tvms_node *buffer =
      tvms_cpu_buffer(w->unit, "rest", w->c->term->dtype, "global", shape, 2);
  tvms_node *indices[] = {w->rest_row, flat_step(w)};
  w->rest = tvms_buffer_load_new(w->unit, buffer, indices, 2, NULL, TVMS_NO_SPAN);
}

static tvms_node *convert(writer *w, tvms_node *row, tvms_node *step) {
  tvms_contraction_set_step(w, step);
  tvms_node *at[] = {row, step};
  tvms_node *value =
      tvms_build_cast(w->unit, w->c->term->dtype,
                      tvms_contraction_as_now(w, w->c->resting), TVMS_NO_SPAN);
  return tvms_cpu_store(w->unit, tvms_as_buffer_load(w->rest)->buffer,
                        tvms_list_copy(w->unit, at, 2), value);
}

tvms_node *tvms_contraction_fill_rest(writer *w) {
  const tvms_node *axis = w->c->stage.axes[w->c->row].var;
  int64_t lanes = w->tile->lanes;
  tvms_node *row = tvms_cpu_variable(w->unit, "i", axis);
  tvms_contraction_set_row(w, build(w, TVMS_NODE_ADD, w->row, row));
  tvms_node *steps = tvms_contraction_flat_steps(w), *width = number(w, w->step, lanes);
  tvms_node *whole = build(w, TVMS_NODE_FLOOR_DIV, steps, width);
  tvms_node *k = tvms_cpu_variable(w->unit, "k", w->step);
  tvms_node *lane = tvms_cpu_variable(w->unit, "lane", w->step);
  tvms_node *first = build(w, TVMS_NODE_MUL, k, width);
  tvms_node *vector = convert(w, row, build(w, TVMS_NODE_ADD, first, lane));
  vector = tvms_cpu_loop(w->unit, lane, width, TVMS_FOR_VECTORIZED, vector);
  tvms_node *made = tvms_cpu_loop(w->unit, k, whole, TVMS_FOR_SERIAL, vector);
  tvms_node *rest = build(w, TVMS_NODE_FLOOR_MOD, steps, width);
  if (!tvms_node_is_int(rest, 0)) {
    tvms_node *last = tvms_cpu_variable(w->unit, "k", w->step);
    tvms_node *done = build(w, TVMS_NODE_MUL, whole, width);
    tvms_node *single = convert(w, row, build(w, TVMS_NODE_ADD, done, last));
    made = tvms_stmt_pair(w->unit, made,
                          tvms_cpu_loop(w->unit, last, rest, TVMS_FOR_SERIAL, single));
  }
  return tvms_cpu_loop(w->unit, row, number(w, row, w->rows), TVMS_FOR_SERIAL, made);
}

static tvms_node *replace_conversion(tvms_rewriter *r, tvms_node *node) {
  const writer *w = r->self;
  return converts(node, w->c->resting) ? w->rest : node;
}

tvms_node *tvms_contraction_with_rest(writer *w, tvms_node *term) {
  if (!w->rest) return term;
  tvms_rewriter r;
  tvms_rewriter_init(&r, w->unit, w);
  r.leave[TVMS_NODE_CAST] = replace_conversion;
  term = tvms_rewrite(&r, term);
  tvms_rewriter_fini(&r);
  return term;
}
