// Squares of a panel: loaded along the sum, turned in registers, stored along the columns.
#include "passes/tir/cpu/contraction_turn.h"

#include "ir/fold.h"
#include "ir/rewrite.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/turn.h"

typedef tvms_contraction_writer writer;

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

// Steps of the sum, or of its shortest block; -1: not known.
static int64_t fewest_steps(const writer *w) {
  int64_t steps = tvms_contraction_steps(w->c), block = w->tile->sum_block;
  if (!block || steps < 0) return steps;
  return steps % block ? steps % block : block;
}

bool tvms_contraction_can_turn(const writer *w) {
  const tvms_contraction *c = w->c;
  int64_t lanes = w->columns->width, steps = fewest_steps(w);
  return c->along_sum && c->one_sum && c->column_count == 1 && w->columns->vectors
         && lanes >= 4 && !(lanes & (lanes - 1)) && (steps < 0 || steps >= lanes);
}

tvms_node *tvms_contraction_holds_square(writer *w) {
  if (fewest_steps(w) >= 0) return NULL;
  tvms_node *steps = tvms_contraction_flat_steps(w);
  return build(w, TVMS_NODE_GE, steps, number(w, steps, w->columns->width));
}

// lane or row of a square, as a loop around `body`
static tvms_node *around(writer *w, tvms_node *var, uint8_t kind, tvms_node *body) {
  return tvms_cpu_loop(w->unit, var, number(w, var, w->columns->width), kind, body);
}

// buffer[row * lanes + lane]
static tvms_list place_in(writer *w, tvms_node *row, tvms_node *lane) {
  tvms_node *at = build(w, TVMS_NODE_MUL, row, number(w, row, w->columns->width));
  at = build(w, TVMS_NODE_ADD, at, lane);
  return tvms_list_copy(w->unit, &at, 1);
}

static tvms_node *load_rows(writer *w, tvms_node *square, tvms_node *step,
                            tvms_node *column) {
  const tvms_node *like = tvms_contraction_column_var(w);
  tvms_node *row = tvms_cpu_variable(w->unit, "row", like);
  tvms_node *lane = tvms_cpu_variable(w->unit, "lane", like);
  tvms_node *flat =
      build(w, TVMS_NODE_ADD, build(w, TVMS_NODE_ADD, w->strip_begin, column), row);
  tvms_contraction_set_column(w, flat);
  tvms_contraction_set_step(w, build(w, TVMS_NODE_ADD, step, lane));
  tvms_node *stored = tvms_cpu_store(w->unit, square, place_in(w, row, lane),
                                     tvms_contraction_as_now(w, w->c->moving));
  return around(w, row, TVMS_FOR_UNROLLED,
                around(w, lane, TVMS_FOR_VECTORIZED, stored));
}

static tvms_node *store_columns(writer *w, tvms_node *turned, tvms_node *step,
                                tvms_node *column) {
  const tvms_node *like = tvms_contraction_column_var(w);
  tvms_node *t = tvms_cpu_variable(w->unit, "t", like);
  tvms_node *lane = tvms_cpu_variable(w->unit, "lane", like);
  tvms_contraction_set_step(w, build(w, TVMS_NODE_ADD, step, t));
  tvms_node_map_put(&w->now, w->place, build(w, TVMS_NODE_ADD, column, lane));
  const tvms_buffer_load *panel = tvms_as_buffer_load(w->panel);
  tvms_list from = place_in(w, t, lane);
  tvms_node *value =
      tvms_buffer_load_new(w->unit, turned, from.items, 1, NULL, TVMS_NO_SPAN);
  tvms_node *stored = tvms_cpu_store(
      w->unit, panel->buffer, tvms_contraction_all_as_now(w, panel->indices), value);
  return around(w, t, TVMS_FOR_UNROLLED, around(w, lane, TVMS_FOR_VECTORIZED, stored));
}

static tvms_node *write_square(writer *w, tvms_node *step, tvms_node *column) {
  const tvms_node *like = tvms_contraction_column_var(w);
  int64_t lanes = w->columns->width;
  tvms_node *size = number(w, like, lanes * lanes), *buffers[2], *turned;
  for (uint32_t i = 0; i < 2; i++)
    buffers[i] =
        tvms_cpu_buffer(w->unit, "square", w->c->moving->dtype, "local", &size, 1);
  tvms_node_vec stmts = {0};
  tvms_stmt_push(w->unit, &stmts, load_rows(w, buffers[0], step, column));
  tvms_stmt_push(w->unit, &stmts,
                 tvms_line_turn(w->unit, like, lanes, lanes, buffers, &turned));
  tvms_stmt_push(w->unit, &stmts, store_columns(w, turned, step, column));
  return tvms_cpu_block(w->unit, "square", (tvms_list){buffers, 2},
                        tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN));
}

// The squares of some columns along the whole sum, one behind the other: so few lines of memory are read
// at a time that they are fetched ahead (else a product of 512 takes 6 % longer).
static tvms_node *write_squares(writer *w, tvms_node *column) {
  tvms_node *steps = tvms_contraction_flat_steps(w);
  tvms_node *lanes = number(w, steps, w->columns->width);
  tvms_node *k = tvms_cpu_variable(w->unit, "k0", steps);
  tvms_node *step = build(w, TVMS_NODE_MIN, build(w, TVMS_NODE_MUL, k, lanes),
                          build(w, TVMS_NODE_SUB, steps, lanes));
  // Where a square may not fit nothing is turned, but a region that is read is not to seem to begin before the operand.
  if (fewest_steps(w) < 0) step = build(w, TVMS_NODE_MAX, step, number(w, steps, 0));
  tvms_node *up =
      build(w, TVMS_NODE_ADD, steps, number(w, steps, w->columns->width - 1));
  return tvms_cpu_loop(w->unit, k, build(w, TVMS_NODE_FLOOR_DIV, up, lanes),
                       TVMS_FOR_SERIAL, write_square(w, step, column));
}

tvms_node *tvms_contraction_fill_turned(writer *w) {
  const tvms_tile_columns *c = w->columns;
  const tvms_node *like = tvms_contraction_column_var(w);
  tvms_node_vec stmts = {0};
  tvms_node *j =
      c->vectors > 1 ? tvms_cpu_variable(w->unit, "j", like) : number(w, like, 0);
  tvms_node *column = build(w, TVMS_NODE_ADD, number(w, like, c->first),
                            build(w, TVMS_NODE_MUL, j, number(w, like, c->width)));
  tvms_node *squares = write_squares(w, column);
  if (c->vectors > 1)
    squares = tvms_cpu_loop(w->unit, j, number(w, like, c->vectors), TVMS_FOR_SERIAL,
                            squares);
  tvms_stmt_push(w->unit, &stmts, squares);
  if (c->tail) {
    tvms_node *last = number(w, like, c->first + c->tail - c->width);
    last = build(w, TVMS_NODE_ADD, last, c->tail_at);
    tvms_stmt_push(w->unit, &stmts, write_squares(w, last));
  }
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}
