// Nests of a contraction for few rows.
//
//   if m >= 8: strips of the moving operand, by tiles of rows
//   if m == 1: the operand from end to end, four rows of it at a time
//   if m == 2: ...
//   if m < 8: what follows the sums
//   what whole strips leave over, for any m, where the number of columns is not known
//
// An operand that the second cache does not hold is read once for few rows, and how it is read decides how fast they are: as
// memory is fastest, or strip by strip. What follows the sums is there once for all of them.
#include "passes/tir/cpu/contraction_few_rows.h"

#include "ir/fold.h"
#include "ir/stmt.h"
#include "passes/tir/cpu/nodes.h"

static tvms_node *number(tvms_unit *unit, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(unit, like->dtype, value, TVMS_NO_SPAN);
}

// The contraction for a known number of rows, and its tile; false: it is none then. Strips of an unknown number of columns are those of
// the tile for more rows.
static bool choose_for(tvms_unit *unit, const tvms_target *target,
                       const tvms_contraction *c, const tvms_tile *many, int64_t rows,
                       bool reorders, tvms_contraction *made, tvms_tile *tile) {
  if (tvms_contraction_find_for(unit, c, c->row, rows, made)) return false;
  *tile = tvms_tile_choose(unit, target, made, reorders);
  if (tvms_contraction_column_steps(c) < 0) tvms_tile_take_strips(tile, many);
  return true;
}

tvms_few_rows tvms_contraction_plan_few_rows(tvms_unit *unit, const tvms_target *target,
                                             const tvms_contraction *c,
                                             const tvms_tile *tile, bool reorders) {
  tvms_few_rows few = {.wanted = tile->few_rows};
  if (!few.wanted) return few;
  few.items = tvms_arena_array(&unit->arena, tvms_contraction, TVMS_FEW_ROWS);
  few.tiles = tvms_arena_array(&unit->arena, tvms_tile, TVMS_FEW_ROWS);
  for (uint32_t i = 0; i < TVMS_FEW_ROWS && few.wanted; i++) {
    few.wanted = choose_for(unit, target, c, tile, i + 1, reorders, &few.items[i],
                            &few.tiles[i]);
    few.blocks |= few.tiles[i].sum_block != 0;
  }
  return few;
}

static tvms_node *where(tvms_unit *unit, const tvms_contraction *c, tvms_node_kind kind,
                        int64_t rows, tvms_node *nest) {
  tvms_node *all = c->stage.axes[c->row].extent;
  tvms_node *test =
      tvms_build_binary(unit, kind, all, number(unit, all, rows), TVMS_NO_SPAN);
  return tvms_cpu_choice(unit, test, nest, NULL);
}

// What is written for some rows.
typedef struct {
  tvms_unit *unit;
  const tvms_contraction *c;
  const tvms_epilogue *epilogues;
  uint32_t epilogue_count;
  // Whole strips where the number of columns is not known: what they leave over is there once for any number of rows.
  tvms_nest_columns columns;
} nest_writer;

static tvms_node *nest(const nest_writer *n, const tvms_contraction *c,
                       const tvms_tile *tile, tvms_nest_part part,
                       tvms_nest_columns columns) {
  return tvms_contraction_nest(n->unit, c, tile, n->epilogues, n->epilogue_count, part,
                               columns);
}

// What follows the sums of few rows, which are stored where the result will be.
static tvms_node *end_few(const nest_writer *n, const tvms_tile *one) {
  tvms_tile row = *one;
  tvms_tile_sum_at_once(&row);
  return nest(n, n->c, &row, TVMS_NEST_END, n->columns);
}

tvms_node *tvms_contraction_few_rows_nest(tvms_unit *unit, const tvms_few_rows *few,
                                          const tvms_contraction *c,
                                          const tvms_tile *tile,
                                          const tvms_epilogue *epilogues,
                                          uint32_t epilogue_count, bool room) {
  bool known = tvms_contraction_column_steps(c) >= 0;
  nest_writer n = {unit, c, epilogues, epilogue_count,
                   known ? TVMS_NEST_ALL_COLUMNS : TVMS_NEST_STRIPS};
  if (!few->wanted) return nest(&n, c, tile, TVMS_NEST_WHOLE, TVMS_NEST_ALL_COLUMNS);
  tvms_nest_part part = room ? TVMS_NEST_SUMS : TVMS_NEST_WHOLE;
  tvms_node_vec stmts = {0};
  tvms_node *many = nest(&n, c, tile, TVMS_NEST_WHOLE, n.columns);
  tvms_stmt_push(unit, &stmts, where(unit, c, TVMS_NODE_GT, TVMS_FEW_ROWS, many));
  for (uint32_t i = 0; i < TVMS_FEW_ROWS; i++) {
    few->tiles[i].sum_in_result = room;
    tvms_node *made = nest(&n, &few->items[i], &few->tiles[i], part, n.columns);
    tvms_stmt_push(unit, &stmts, where(unit, c, TVMS_NODE_EQ, i + 1, made));
  }
  if (room) {
    tvms_node *end = end_few(&n, &few->tiles[0]);
    tvms_stmt_push(unit, &stmts, where(unit, c, TVMS_NODE_LE, TVMS_FEW_ROWS, end));
  }
  if (!known)
    tvms_stmt_push(unit, &stmts, nest(&n, c, tile, TVMS_NEST_WHOLE, TVMS_NEST_REST));
  return tvms_stmt_seq(unit, &stmts, TVMS_NO_SPAN);
}
