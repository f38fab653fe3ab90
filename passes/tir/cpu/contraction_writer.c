// Variables of a contraction as they are in the loops around: columns, and the steps of the sum.
#include "passes/tir/cpu/contraction_writer.h"

#include "ir/fold.h"
#include "ir/rewrite.h"
#include "passes/tir/cpu/contraction_border.h"
#include "passes/tir/cpu/nodes.h"

typedef tvms_contraction_writer writer;

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

const tvms_node *tvms_contraction_column_var(const writer *w) {
  return w->c->stage.axes[w->c->column].var;
}

void tvms_contraction_set_row(writer *w, tvms_node *row) {
  const tvms_contraction *c = w->c;
  const tvms_node *axis = c->stage.axes[c->row].var;
  if (!c->joins) {
    tvms_node_map_put(&w->now, axis, row);
    return;
  }
  const tvms_node *outer = c->stage.axes[c->joined].var;
  tvms_node *line = build(w, TVMS_NODE_FLOOR_DIV, row, c->line);
  tvms_node_map_put(&w->now, axis, build(w, TVMS_NODE_FLOOR_MOD, row, c->line));
  tvms_node_map_put(&w->now, outer,
                    tvms_build_cast(w->unit, outer->dtype, line, TVMS_NO_SPAN));
}

tvms_node *tvms_contraction_tile_column(writer *w, tvms_node *at) {
  const tvms_node *like = tvms_contraction_column_var(w);
  tvms_node *column = number(w, like, w->columns->first);
  if (at) column = build(w, TVMS_NODE_ADD, column, at);
  return w->part ? build(w, TVMS_NODE_ADD, w->part, column) : column;
}

// The strip in which a column lies is the same for all lanes of a vector, and to be seen as that.
static tvms_node *simplify_digit(tvms_rewriter *r, tvms_node *node) {
  const writer *w = r->self;
  return node == r->old ? node : tvms_analyzer_simplify(w->lanes, node);
}

tvms_node *tvms_contraction_as_now(writer *w, tvms_node *node) {
  if (!w->tile->beforehand) return tvms_substitute(w->unit, node, &w->now);
  tvms_rewriter r;
  tvms_rewriter_init(&r, w->unit, w);
  for (uint32_t i = 0; i < w->now.cap; i++) {
    if (w->now.pairs[i].key)
      tvms_node_map_put(&r.known, w->now.pairs[i].key, w->now.pairs[i].value);
  }
  r.leave[TVMS_NODE_FLOOR_DIV] = r.leave[TVMS_NODE_FLOOR_MOD] = simplify_digit;
  tvms_node *made = tvms_rewrite(&r, node);
  tvms_rewriter_fini(&r);
  return made;
}

tvms_list tvms_contraction_all_as_now(writer *w, tvms_list list) {
  tvms_list made = tvms_list_copy(w->unit, list.items, list.len);
  for (uint32_t i = 0; i < made.len; i++)
    made.items[i] = tvms_contraction_as_now(w, made.items[i]);
  return made;
}

void tvms_contraction_set_column(writer *w, tvms_node *flat) {
  for (uint32_t n = w->c->column_count; n-- > 0;) {
    const tvms_stage_axis *axis = &w->c->stage.axes[w->c->columns[n]];
    tvms_node *at = flat;
    if (n > 0) {
      at = build(w, TVMS_NODE_FLOOR_MOD, flat, axis->extent);
      flat = build(w, TVMS_NODE_FLOOR_DIV, flat, axis->extent);
    }
    tvms_node_map_put(&w->now, axis->var, at);
  }
}

// ---- Sums ----

const tvms_stage_axis *tvms_contraction_first_sum(const writer *w) {
  uint32_t i = 0;
  while (w->c->roles[i] != TVMS_AXIS_SUM)
    i++;
  return &w->c->stage.axes[i];
}

tvms_node *tvms_contraction_flat_extent(writer *w) {
  int64_t steps = tvms_contraction_steps(w->c);
  return steps < 0 ? w->c->stage.axes[w->c->outermost_sum].extent
                   : number(w, tvms_contraction_first_sum(w)->var, steps);
}

tvms_node *tvms_contraction_flat_steps(writer *w) {
  tvms_node *extent = tvms_contraction_flat_extent(w);
  if (!w->block) return extent;
  tvms_node *most = number(w, w->block, w->tile->sum_block);
  int64_t steps = tvms_contraction_steps(w->c);
  bool even = steps >= 0 && steps % w->tile->sum_block == 0;
  if (even || w->full_block) return most;
  if (w->tile->sum_apart) {
    // Only the last parts are shorter than as many steps as there are blocks.
    tvms_node *up = build(w, TVMS_NODE_ADD, w->blocks, extent);
    up = build(w, TVMS_NODE_SUB, up, w->block);
    up = build(w, TVMS_NODE_SUB, up, number(w, up, 1));
    return build(w, TVMS_NODE_FLOOR_DIV, up, w->blocks);
  }
  tvms_node *done = build(w, TVMS_NODE_MUL, w->block, most);
  tvms_node *left = build(w, TVMS_NODE_SUB, extent, done);
  // What is as long as the steps is allocated: it must not seem to be less than nothing.
  if (steps < 0) left = build(w, TVMS_NODE_MAX, left, number(w, left, 0));
  return build(w, TVMS_NODE_MIN, most, left);
}

// What a variable of the sum counts from the beginning on, if it counts in the block at hand.
static tvms_node *from_beginning(writer *w, tvms_node *var) {
  tvms_node_map_put(&w->now, w->step, var);
  if (!w->block) return var;
  if (w->tile->sum_apart) {
    tvms_node *in_part = w->block;
    if (w->tile->sum_skew) {
      tvms_node *skew = build(w, TVMS_NODE_MUL, var, number(w, var, w->tile->sum_skew));
      in_part = build(w, TVMS_NODE_FLOOR_MOD, build(w, TVMS_NODE_ADD, w->block, skew),
                      w->blocks);
    }
    return build(w, TVMS_NODE_ADD, build(w, TVMS_NODE_MUL, var, w->blocks), in_part);
  }
  tvms_node *done =
      build(w, TVMS_NODE_MUL, w->block, number(w, var, w->tile->sum_block));
  return build(w, TVMS_NODE_ADD, done, var);
}

void tvms_contraction_set_step(writer *w, tvms_node *step) {
  tvms_node *flat = from_beginning(w, step);
  for (uint32_t i = w->c->stage.count; i-- > 0;) {
    const tvms_stage_axis *axis = &w->c->stage.axes[i];
    if (w->c->roles[i] != TVMS_AXIS_SUM || tvms_stage_axis_is_single(axis)) continue;
    bool last = i == w->c->outermost_sum;
    tvms_node_map_put(&w->now, axis->var,
                      last ? flat : build(w, TVMS_NODE_FLOOR_MOD, flat, axis->extent));
    if (!last) flat = build(w, TVMS_NODE_FLOOR_DIV, flat, axis->extent);
  }
}

uint32_t tvms_contraction_inner_sum(const writer *w) {
  uint32_t inner = w->c->outermost_sum;
  for (uint32_t i = 0; i < w->c->stage.count; i++) {
    bool sums = w->c->roles[i] == TVMS_AXIS_SUM;
    if (sums && !tvms_stage_axis_is_single(&w->c->stage.axes[i])) inner = i;
  }
  return inner;
}

int64_t tvms_contraction_inner_steps(writer *w) {
  if (w->tile->flat_sum) return tvms_cpu_number(tvms_contraction_flat_steps(w));
  uint32_t inner = tvms_contraction_inner_sum(w);
  return inner == TVMS_MOST_STAGE_AXES
             ? -1
             : tvms_cpu_number(w->c->stage.axes[inner].extent);
}

void tvms_contraction_set_inner_step(writer *w, tvms_node *step) {
  if (w->tile->flat_sum)
    tvms_contraction_set_step(w, step);
  else
    tvms_node_map_put(&w->now, w->c->stage.axes[tvms_contraction_inner_sum(w)].var,
                      step);
}

void tvms_contraction_open_sums(writer *w, tvms_node **vars) {
  static const char *const names[] = {"k", "k1", "k2", "k3"};
  if (w->tile->flat_sum) {
    vars[0] = tvms_cpu_variable(w->unit, "k", tvms_contraction_first_sum(w)->var);
    tvms_contraction_set_step(w, vars[0]);
    return;
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < w->c->stage.count; i++) {
    const tvms_stage_axis *axis = &w->c->stage.axes[i];
    if (w->c->roles[i] != TVMS_AXIS_SUM || tvms_stage_axis_is_single(axis)) continue;
    vars[i] = tvms_cpu_variable(w->unit, names[count < 3 ? count : 3], axis->var);
    count++;
    tvms_node_map_put(&w->now, axis->var, vars[i]);
  }
}

tvms_node *tvms_contraction_close_sums(writer *w, tvms_node *body,
                                       tvms_node *const *vars) {
  if (w->tile->flat_sum) {
    tvms_node *steps = tvms_contraction_flat_steps(w);
    bool written = w->tile->sum_written && tvms_node_is_int_imm(steps);
    return tvms_cpu_loop(w->unit, vars[0], steps,
                         written ? TVMS_FOR_UNROLLED : TVMS_FOR_SERIAL, body);
  }
  for (uint32_t i = w->c->stage.count; i-- > 0;) {
    if (!vars[i]) continue;
    if (w->c->border.found && w->c->border.sum == i)
      body = tvms_contraction_inside_border(w, vars[i], body);
    body = tvms_cpu_loop(w->unit, vars[i], w->c->stage.axes[i].extent, TVMS_FOR_SERIAL,
                         body);
  }
  return body;
}

void tvms_contraction_enter_loop(writer *w, tvms_node *var, tvms_node *extent,
                                 tvms_tile_threads loops) {
  bool parallel = !w->threads && loops && w->tile->threads == loops;
  uint8_t kind = parallel ? TVMS_FOR_PARALLEL : TVMS_FOR_SERIAL;
  w->threads |= parallel;
  w->around[w->around_count++] = (tvms_loop_around){var, extent, kind};
}

tvms_node *tvms_contraction_leave_loop(writer *w, tvms_node *body) {
  tvms_loop_around *l = &w->around[--w->around_count];
  if (l->kind == TVMS_FOR_PARALLEL) w->threads = false;
  return tvms_cpu_loop(w->unit, l->var, l->extent, l->kind, body);
}

tvms_node *tvms_contraction_bind(writer *w, tvms_node_vec *stmts, const char *name,
                                 tvms_node *value) {
  tvms_bind *made = tvms_node_make(w->unit, BIND, TVMS_NO_SPAN);
  made->value = value;
  made->var = tvms_cpu_variable(w->unit, name, value);
  tvms_stmt_push(w->unit, stmts, &made->head);
  return made->var;
}
