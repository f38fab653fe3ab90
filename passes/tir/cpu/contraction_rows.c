// The loops over the rows of a contraction: tiles, and what they leave over.
#include "passes/tir/cpu/contraction_rows.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/stmt.h"
#include "passes/tir/cpu/contraction_sizes.h"
#include "passes/tir/cpu/contraction_tile.h"
#include "passes/tir/cpu/nodes.h"

typedef tvms_contraction_writer writer;

// A part of the rows that tiles of one size cover.
typedef struct {
  tvms_node *count;  // of tiles
  int64_t first;     // row of the first one
  int64_t rows;      // of a tile
  tvms_node *TVMS_NULLABLE
      last;  // where the last tile begins at most; NULL: nothing overlaps
  // The first row of as many as a tile has at the end, if that is not known: what the last tile fetches.
  tvms_node *TVMS_NULLABLE end;
  // As many tiles share what is fetched, also where halves, which fetch nothing, replace the last one; NULL: count.
  tvms_node *TVMS_NULLABLE fetchers;
} piece;

enum { MOST_PIECES = 2 };

typedef struct {
  piece items[MOST_PIECES];
  uint32_t count;
} pieces;

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

static tvms_node *variable(writer *w, const char *name, const tvms_node *like) {
  return tvms_cpu_variable(w->unit, name, like);
}

// The number of rows, where it is not known.
static tvms_node *rows_of(const writer *w) {
  return w->row_count;
}

static pieces pieces_of_rows(writer *w, int64_t most) {
  pieces all = {.count = 0};
  const tvms_stage_axis *axis = &w->c->stage.axes[w->c->row];
  int64_t rows = tvms_cpu_number(axis->extent);
  if (rows >= 0) {
    int64_t full = rows / most;
    if (w->tile->rows_overlap && full && rows % most) {
      all.items[all.count++] = (piece){.count = number(w, axis->var, full + 1),
                                       .rows = most,
                                       .last = number(w, axis->var, rows - most)};
      return all;
    }
    if (full)
      all.items[all.count++] =
          (piece){.count = number(w, axis->var, full), .rows = most};
    if (rows % most)
      all.items[all.count++] = (piece){
          .count = number(w, axis->var, 1), .first = full * most, .rows = rows % most};
    return all;
  }
  // Tiles of one row, whose number is not known.
  all.items[all.count++] = (piece){.count = rows_of(w), .rows = most};
  return all;
}

// Rows that tiles of `most` rows leave over.
static tvms_node *rest_of(writer *w, int64_t most) {
  tvms_node *all = rows_of(w);
  return build(w, TVMS_NODE_FLOOR_MOD, all, number(w, all, most));
}

// Do they leave `rows` rows over?
static tvms_node *leave_rows(writer *w, int64_t most, int64_t rows) {
  tvms_node *rest = rest_of(w, most);
  return build(w, TVMS_NODE_EQ, rest, number(w, rest, rows));
}

// Few rows that are left over wait for the moving operand, or for their sums: they and the last whole tile are done as two tiles of about
// as many rows. So it is with 1 up to as many rows; 0: with none.
static int64_t most_halved(const writer *w, int64_t most) {
  int64_t vectors = w->tile->vectors, rest = 1;
  if (w->tile->group == 1) vectors = w->columns->vectors + (w->columns->tail > 0);
  if (most < 4 || most % 2) return 0;
  for (; rest < most / 2; rest++) {
    int64_t more = most + rest + 1, few = more / 2;
    int64_t halves = tvms_tile_cost(few, vectors) + tvms_tile_cost(more - few, vectors);
    if (halves >= tvms_tile_cost(most, vectors) + tvms_tile_cost(rest + 1, vectors))
      break;
  }
  return rest;
}

// The larger one of the two tiles, which comes first, and the other one.
static int64_t first_half(int64_t most, int64_t rest) {
  return (most + rest + 1) / 2;
}

static int64_t second_half(int64_t most, int64_t rest) {
  return (most + rest) / 2;
}

static tvms_node *count_tiles(writer *w, int64_t most) {
  tvms_node *all = rows_of(w);
  return build(w, TVMS_NODE_FLOOR_DIV, all, number(w, all, most));
}

// The number of whole tiles of rows whose number is not known, but the one that halves replace.
static tvms_node *count_whole(writer *w, int64_t most) {
  tvms_node *count = count_tiles(w, most), *rest = rest_of(w, most);
  int64_t halved = most_halved(w, most);
  if (!halved) return count;
  tvms_node *fewer = build(w, TVMS_NODE_SUB, count, number(w, count, 1));
  fewer = build(w, TVMS_NODE_MAX, fewer, number(w, count, 0));
  tvms_node *has = leave_rows(w, most, 1);
  if (halved > 1)
    has = build(w, TVMS_NODE_AND, build(w, TVMS_NODE_LE, number(w, rest, 1), rest),
                build(w, TVMS_NODE_LE, rest, number(w, rest, halved)));
  return tvms_select_new(w->unit, has, fewer, count, TVMS_NO_SPAN);
}

// Whole tiles of rows whose number is not known.
static piece whole_tiles(writer *w, int64_t most) {
  tvms_node *all = rows_of(w);
  return (piece){.count = count_whole(w, most),
                 .rows = most,
                 .end = build(w, TVMS_NODE_SUB, all, number(w, all, most)),
                 .fetchers = count_tiles(w, most)};
}

// Where the tile of rows behind the one at hand begins, as far as there is one.
static tvms_node *next_row(writer *w, const piece *p) {
  const tvms_node *like = w->row;
  int64_t tiles = tvms_cpu_number(p->count);
  tvms_node *next = build(w, TVMS_NODE_ADD, w->row, number(w, like, p->rows));
  tvms_node *last = p->last ? p->last : p->end;
  if (!last && tiles < 0) return NULL;
  if (!last) last = number(w, like, p->first + (tiles - 1) * p->rows);
  return build(w, TVMS_NODE_MIN, next, last);
}

// The tile of a piece that begins at `row`; number `var` of several, NULL if it is the only one.
static tvms_node *tile_of_piece(writer *w, const piece *p, tvms_node *row,
                                tvms_node *TVMS_NULLABLE var) {
  w->rows = p->rows;
  w->row = row;
  w->number = var;
  w->tiles = tvms_cpu_number(p->count);
  w->tile_count = p->fetchers ? p->fetchers : p->count;
  w->next_row = var ? next_row(w, p) : NULL;
  w->left_over = !var && p->first > 0;
  tvms_node *made = w->in_rows(w);
  w->number = w->next_row = NULL;
  return made;
}

// Where tile number `var` of a piece begins.
static tvms_node *row_of(writer *w, const piece *p, tvms_node *var) {
  tvms_node *at = build(w, TVMS_NODE_MUL, var, number(w, var, p->rows));
  tvms_node *row = build(w, TVMS_NODE_ADD, number(w, var, p->first), at);
  return p->last ? build(w, TVMS_NODE_MIN, row, p->last) : row;
}

static tvms_node *over_piece(writer *w, const piece *p) {
  const tvms_node *like = w->c->stage.axes[w->c->row].var;
  if (tvms_node_is_int(p->count, 1))
    return tile_of_piece(w, p, number(w, like, p->first), NULL);
  tvms_node *var = variable(w, "i0", like);
  tvms_contraction_enter_loop(w, var, p->count, TVMS_TILE_ROWS);
  return tvms_contraction_leave_loop(w, tile_of_piece(w, p, row_of(w, p, var), var));
}

// Would a loop over rows run on threads, so that what is left over is one more step for them?
static bool shares_rest(const writer *w, const pieces *all) {
  return !w->threads && w->tile->threads == TVMS_TILE_ROWS && all->count == 2
         && !tvms_node_is_int(all->items[0].count, 1);
}

// Tiles and what they leave over, as steps of one loop.
static tvms_node *over_both(writer *w, const pieces *all) {
  const piece *whole = &all->items[0], *rest = &all->items[1];
  tvms_node *var = variable(w, "i0", w->c->stage.axes[w->c->row].var);
  tvms_node *steps = build(w, TVMS_NODE_ADD, whole->count, number(w, var, 1));
  tvms_contraction_enter_loop(w, var, steps, TVMS_TILE_ROWS);
  tvms_node *row = row_of(w, whole, var);
  tvms_node *tile = tile_of_piece(w, whole, row, var);
  tvms_node *last = tile_of_piece(w, rest, row, NULL);
  tvms_node *is_whole = build(w, TVMS_NODE_LT, var, whole->count);
  return tvms_contraction_leave_loop(w, tvms_cpu_choice(w->unit, is_whole, tile, last));
}

static tvms_node *over_rows(writer *w, int64_t most) {
  if (w->c->row == TVMS_MOST_STAGE_AXES) {
    w->row = NULL;
    w->left_over = false;
    w->rows = 1;
    return tvms_contraction_write_tile(w);
  }
  pieces all = pieces_of_rows(w, most);
  if (shares_rest(w, &all)) return over_both(w, &all);
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < all.count; i++)
    tvms_stmt_push(w->unit, &stmts, over_piece(w, &all.items[i]));
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

static int64_t rows_of_tile(const writer *w) {
  if (w->tile->group > 1) return w->tile->rows;
  bool tail = w->columns->tail > 0 && !w->columns->spare;
  return tvms_tile_rows(w->tile, w->columns->vectors + tail);
}

// What follows the sums of the last `rows` rows, which are stored where the result will be, row by row.
static tvms_node *end_rows(writer *w, tvms_node *rows) {
  tvms_node *var = variable(w, "i1", rows), *all = rows_of(w);
  const piece one = {.count = rows, .rows = 1};
  tvms_contraction_enter_loop(w, var, rows, TVMS_TILE_SERIAL);
  w->ended = true;
  tvms_node *last = build(w, TVMS_NODE_SUB, all, number(w, all, 1));
  tvms_node *made = tile_of_piece(w, &one, build(w, TVMS_NODE_SUB, last, var), NULL);
  w->ended = false;
  return tvms_contraction_leave_loop(w, made);
}

// Where the first tile of `rows` rows begins that follows whole ones: it, or both that there are, end with the rows, but for one
// in front of another half.
static tvms_node *begin_of_rest(writer *w, int64_t most, int64_t rows) {
  tvms_node *all = rows_of(w), *left = number(w, all, rows);
  for (int64_t rest = most_halved(w, most); rest > 0; rest--) {
    if (rows != first_half(most, rest)) continue;
    left = tvms_select_new(w->unit, leave_rows(w, most, rest),
                           number(w, all, most + rest), left, TVMS_NO_SPAN);
  }
  return build(w, TVMS_NODE_SUB, all, left);
}

// Is there a tile of `rows` rows behind whole ones?
static tvms_node *ends_with(writer *w, int64_t most, int64_t rows) {
  tvms_node *all = rows_of(w);
  int64_t halved = most_halved(w, most);
  tvms_node *is_more = build(w, TVMS_NODE_GT, all, number(w, all, most));
  tvms_node *has = rows <= halved ? build(w, TVMS_NODE_EQ, all, number(w, all, rows))
                                  : leave_rows(w, most, rows);
  for (int64_t rest = 1; rest <= halved; rest++) {
    if (rows != first_half(most, rest) && rows != second_half(most, rest)) continue;
    tvms_node *half = build(w, TVMS_NODE_AND, leave_rows(w, most, rest), is_more);
    has = build(w, TVMS_NODE_OR, has, half);
  }
  return has;
}

// The remainder whose halves have `rows` rows both, so that there are two such tiles; 0: none.
static int64_t twice_for(const writer *w, int64_t most, int64_t rows) {
  int64_t rest = 2 * rows - most;
  return 0 < rest && rest <= most_halved(w, most) ? rest : 0;
}

// Adds a tile of `rows` rows that whole tiles leave over, which is there if `condition` holds, or `count` of them.
static void push_tile(writer *w, tvms_node_vec *stmts, int64_t rows, tvms_node *begin,
                      tvms_node *TVMS_NULLABLE count, tvms_node *condition) {
  const piece one = {.count = number(w, begin, 1), .first = rows, .rows = rows};
  tvms_node *var = count ? variable(w, "i1", begin) : NULL;
  tvms_node_vec tile = {0};
  // Several beginnings, among which the run chooses.
  if (begin->kind == TVMS_NODE_SUB
      && tvms_as_binary(begin)->b->kind == TVMS_NODE_SELECT)
    begin = tvms_contraction_bind(w, &tile, "row", begin);
  if (count) {
    begin = build(w, TVMS_NODE_ADD, begin,
                  build(w, TVMS_NODE_MUL, var, number(w, var, rows)));
    tvms_contraction_enter_loop(w, var, count, TVMS_TILE_SERIAL);
  }
  tvms_node *made = tile_of_piece(w, &one, begin, NULL);
  if (count) made = tvms_contraction_leave_loop(w, made);
  tvms_stmt_push(w->unit, &tile, made);
  made = tvms_stmt_seq(w->unit, &tile, TVMS_NO_SPAN);
  tvms_stmt_push(w->unit, stmts, tvms_cpu_choice(w->unit, condition, made, NULL));
}

// What whole tiles leave over of rows whose number is not known: there is a tile for each number of them. What follows the sums
// is there once for all these.
static tvms_node *over_rest(writer *w, int64_t most) {
  tvms_node *all = rows_of(w);
  tvms_node_vec stmts = {0};
  w->unended = w->epilogue_count && w->tile->sum_in_result;
  for (int64_t rows = 1; rows < most; rows++) {
    tvms_node *begin = begin_of_rest(w, most, rows), *count = NULL;
    int64_t twice = twice_for(w, most, rows);
    if (twice) {
      tvms_node *is_more = build(w, TVMS_NODE_LT, number(w, all, most), all);
      tvms_node *both = build(w, TVMS_NODE_AND, leave_rows(w, most, twice), is_more);
      count = tvms_select_new(w->unit, both, number(w, all, 2), number(w, all, 1),
                              TVMS_NO_SPAN);
    }
    push_tile(w, &stmts, rows, begin, count, ends_with(w, most, rows));
  }
  if (w->unended) {
    w->unended = false;
    tvms_node *before =
        build(w, TVMS_NODE_MUL, count_whole(w, most), number(w, all, most));
    tvms_node *rest = build(w, TVMS_NODE_SUB, all, before);
    tvms_stmt_push(w->unit, &stmts, end_rows(w, rest));
  }
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// The number of whole tiles, and one step more for what they leave over.
static tvms_node *count_steps(writer *w, int64_t most) {
  tvms_node *all = rows_of(w);
  int64_t least = most_halved(w, most) + 1;  // rows of a step of their own
  tvms_node *up = build(w, TVMS_NODE_ADD, all, number(w, all, most - least));
  tvms_node *steps = build(w, TVMS_NODE_FLOOR_DIV, up, number(w, all, most));
  return least == 1 ? steps : build(w, TVMS_NODE_MAX, steps, number(w, all, 1));
}

// Rows whose number is not known, each once.
static tvms_node *over_unknown_rows(writer *w, int64_t most) {
  piece whole = whole_tiles(w, most);
  if (w->threads || w->tile->threads != TVMS_TILE_ROWS)
    return tvms_stmt_pair(w->unit, over_piece(w, &whole), over_rest(w, most));
  tvms_node *var = variable(w, "i0", w->c->stage.axes[w->c->row].var);
  tvms_contraction_enter_loop(w, var, count_steps(w, most), TVMS_TILE_ROWS);
  tvms_node *tile = tile_of_piece(w, &whole, row_of(w, &whole, var), var);
  tvms_node *is_whole = build(w, TVMS_NODE_LT, var, whole.count);
  return tvms_contraction_leave_loop(
      w, tvms_cpu_choice(w->unit, is_whole, tile, over_rest(w, most)));
}

// Unknown rows of columns that are fewer than half a vector, by tiles of 8, 4, 2 and 1 of them: few of the work, so that there are not as
// many kinds of tiles as of both, and narrow tiles of up to four rows take equally long.
static tvms_node *over_powers(writer *w, int64_t most) {
  tvms_node *all = rows_of(w);
  tvms_node_vec stmts = {0};
  int64_t rows = 1;
  while (2 * rows <= most)
    rows *= 2;
  const piece whole = {.count = count_tiles(w, rows), .rows = rows};
  tvms_stmt_push(w->unit, &stmts, over_piece(w, &whole));
  while ((rows /= 2) > 0) {
    tvms_node *twice = number(w, all, 2 * rows);
    tvms_node *begin = build(w, TVMS_NODE_FLOOR_DIV, all, twice);
    begin = build(w, TVMS_NODE_MUL, begin, twice);
    tvms_node *rest = build(w, TVMS_NODE_FLOOR_MOD, all, twice);
    push_tile(w, &stmts, rows, begin, NULL,
              build(w, TVMS_NODE_GE, rest, number(w, all, rows)));
  }
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// A number of rows that is not known may be below a tile.
tvms_node *tvms_contraction_over_rows(writer *w) {
  int64_t rows = rows_of_tile(w);
  if (tvms_contraction_knows_rows(w->c) || rows == 1) return over_rows(w, rows);
  bool narrow =
      tvms_contraction_column_steps(w->c) < 0 && 2 * w->strip->columns < w->tile->lanes;
  return narrow ? over_powers(w, rows) : over_unknown_rows(w, rows);
}
