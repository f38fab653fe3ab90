// The loops around the tiles of a contraction: strips of columns, pieces of rows, panels.
#include "passes/tir/cpu/contraction_nest.h"

#include "arith/analyzer.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/stmt.h"
#include "passes/tir/cpu/contraction_lines.h"
#include "passes/tir/cpu/contraction_sizes.h"
#include "passes/tir/cpu/contraction_spare.h"
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
} piece;

enum { MOST_PIECES = 3 };

typedef struct {
  piece items[MOST_PIECES];
  uint32_t count;
} pieces;

typedef struct {
  tvms_strip items[MOST_PIECES];
  uint32_t count;
} strips;

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

static tvms_node *variable(writer *w, const char *name, const tvms_node *like) {
  return tvms_cpu_variable(w->unit, name, like);
}

// Opens a loop around tiles; what is written until it is closed is its body. It runs on threads if
// it is the first one of those that may.
static void enter_loop(writer *w, tvms_node *var, tvms_node *extent,
                       tvms_tile_threads loops) {
  bool parallel = !w->threads && loops && w->tile->threads == loops;
  uint8_t kind = parallel ? TVMS_FOR_PARALLEL : TVMS_FOR_SERIAL;
  w->threads |= parallel;
  w->around[w->around_count++] = (tvms_loop_around){var, extent, kind};
}

static tvms_node *leave_loop(writer *w, tvms_node *body) {
  tvms_loop_around *l = &w->around[--w->around_count];
  if (l->kind == TVMS_FOR_PARALLEL) w->threads = false;
  return tvms_cpu_loop(w->unit, l->var, l->extent, l->kind, body);
}

// ---- Rows ----

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
  piece one = {.rows = most};
  tvms_node *up = build(w, TVMS_NODE_ADD, axis->extent, number(w, axis->var, most - 1));
  one.count = build(w, TVMS_NODE_FLOOR_DIV, up, number(w, axis->var, most));
  if (most > 1)
    one.last = build(w, TVMS_NODE_SUB, axis->extent, number(w, axis->var, most));
  all.items[all.count++] = one;
  return all;
}

// Whole tiles of rows whose number is not known.
static piece whole_tiles(writer *w, int64_t most) {
  const tvms_stage_axis *axis = &w->c->stage.axes[w->c->row];
  tvms_node *size = number(w, axis->var, most);
  return (piece){.count = build(w, TVMS_NODE_FLOOR_DIV, axis->extent, size),
                 .rows = most,
                 .end = build(w, TVMS_NODE_SUB, axis->extent, size)};
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

static tvms_node *over_columns(writer *w);

// What is done for the rows of one tile.
static tvms_node *in_rows(writer *w) {
  return w->tile->group > 1 ? over_columns(w) : tvms_contraction_write_tile(w);
}

// The tile of a piece that begins at `row`; number `var` of several, NULL if it is the only one.
static tvms_node *tile_of_piece(writer *w, const piece *p, tvms_node *row,
                                tvms_node *TVMS_NULLABLE var) {
  w->rows = p->rows;
  w->row = row;
  w->number = var;
  w->tiles = tvms_cpu_number(p->count);
  w->tile_count = p->count;
  w->next_row = var ? next_row(w, p) : NULL;
  w->left_over = !var && p->first > 0;
  tvms_node *made = in_rows(w);
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
  enter_loop(w, var, p->count, TVMS_TILE_ROWS);
  return leave_loop(w, tile_of_piece(w, p, row_of(w, p, var), var));
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
  enter_loop(w, var, steps, TVMS_TILE_ROWS);
  tvms_node *row = row_of(w, whole, var);
  tvms_node *tile = tile_of_piece(w, whole, row, var);
  tvms_node *last = tile_of_piece(w, rest, row, NULL);
  tvms_node *is_whole = build(w, TVMS_NODE_LT, var, whole->count);
  return leave_loop(w, tvms_cpu_choice(w->unit, is_whole, tile, last));
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

// What follows the sums of `rows` rows from `begin` on, which are stored where the result will be, row by row.
static tvms_node *end_rows(writer *w, tvms_node *begin, tvms_node *rows) {
  tvms_node *var = variable(w, "i1", begin);
  const piece one = {.count = rows, .rows = 1};
  enter_loop(w, var, rows, TVMS_TILE_SERIAL);
  w->ended = true;
  tvms_node *row = build(w, TVMS_NODE_ADD, begin, var);
  tvms_node *made = tile_of_piece(w, &one, row, NULL);
  w->ended = false;
  return leave_loop(w, made);
}

// What whole tiles leave over of rows whose number is not known: there is a tile for each number of them. What follows the sums
// is there once for all these.
static tvms_node *over_rest(writer *w, int64_t most) {
  const tvms_stage_axis *axis = &w->c->stage.axes[w->c->row];
  tvms_node *size = number(w, axis->var, most);
  tvms_node *rest = build(w, TVMS_NODE_FLOOR_MOD, axis->extent, size);
  tvms_node *begin = build(w, TVMS_NODE_SUB, axis->extent, rest);
  tvms_node_vec stmts = {0};
  w->unended = w->epilogue_count && w->tile->sum_in_result;
  for (int64_t rows = 1; rows < most; rows++) {
    const piece one = {.count = number(w, axis->var, 1), .first = most, .rows = rows};
    tvms_node *is_that = build(w, TVMS_NODE_EQ, rest, number(w, axis->var, rows));
    tvms_node *tile = tile_of_piece(w, &one, begin, NULL);
    tvms_stmt_push(w->unit, &stmts, tvms_cpu_choice(w->unit, is_that, tile, NULL));
  }
  if (w->unended) {
    w->unended = false;
    tvms_stmt_push(w->unit, &stmts, end_rows(w, begin, rest));
  }
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// Rows whose number is not known, each once.
static tvms_node *over_unknown_rows(writer *w, int64_t most) {
  const tvms_stage_axis *axis = &w->c->stage.axes[w->c->row];
  piece whole = whole_tiles(w, most);
  if (w->threads || w->tile->threads != TVMS_TILE_ROWS)
    return tvms_stmt_pair(w->unit, over_piece(w, &whole), over_rest(w, most));
  tvms_node *var = variable(w, "i0", axis->var);
  tvms_node *up = build(w, TVMS_NODE_ADD, axis->extent, number(w, var, most - 1));
  enter_loop(w, var, build(w, TVMS_NODE_FLOOR_DIV, up, number(w, var, most)),
             TVMS_TILE_ROWS);
  tvms_node *tile = tile_of_piece(w, &whole, row_of(w, &whole, var), var);
  tvms_node *is_whole = build(w, TVMS_NODE_LT, var, whole.count);
  return leave_loop(w, tvms_cpu_choice(w->unit, is_whole, tile, over_rest(w, most)));
}

// A number of rows that is not known may be below a tile.
static tvms_node *over_any_rows(writer *w) {
  bool known = w->c->row == TVMS_MOST_STAGE_AXES
               || tvms_cpu_number(w->c->stage.axes[w->c->row].extent) >= 0;
  int64_t rows = rows_of_tile(w);
  if (!known && rows > 1 && tvms_contraction_rows_once(w->c))
    return over_unknown_rows(w, rows);
  tvms_node *tiled = over_rows(w, rows);
  if (known || rows == 1) return tiled;
  const tvms_stage_axis *axis = &w->c->stage.axes[w->c->row];
  tvms_node *least = number(w, axis->var, rows);
  return tvms_cpu_choice(w->unit, build(w, TVMS_NODE_GE, axis->extent, least), tiled,
                         over_rows(w, 1));
}

// ---- Axes around ----

// Loops over the axes of a role, whose variables are set before `body` is written.
typedef tvms_node *body_writer(writer *w);

static tvms_node *over_axes(writer *w, tvms_axis_role role, body_writer *body) {
  tvms_node *vars[TVMS_MOST_STAGE_AXES] = {0};
  for (uint32_t i = 0; i < w->c->stage.count; i++) {
    const tvms_stage_axis *axis = &w->c->stage.axes[i];
    if (w->c->roles[i] != role) continue;
    bool single = tvms_stage_axis_is_single(axis);
    if (!single) vars[i] = variable(w, role == TVMS_AXIS_BATCH ? "b" : "o", axis->var);
    tvms_node_map_put(&w->now, axis->var, single ? number(w, axis->var, 0) : vars[i]);
    if (single) continue;
    enter_loop(w, vars[i], axis->extent,
               role == TVMS_AXIS_BATCH ? TVMS_TILE_BATCHES : TVMS_TILE_ROWS);
  }
  tvms_node *made = body(w);
  for (uint32_t i = w->c->stage.count; i-- > 0;) {
    if (vars[i]) made = leave_loop(w, made);
  }
  return made;
}

static tvms_node *over_outer(writer *w) {
  return over_axes(w, TVMS_AXIS_OUTER, over_any_rows);
}

// ---- Columns ----

// Lanes for the last columns: a power of two, if a vector of that many can begin further left.
static int64_t lanes_for(int64_t rest, int64_t columns) {
  int64_t lanes = 4;
  while (lanes < rest)
    lanes *= 2;
  return lanes <= columns ? lanes : rest;
}

// `columns` columns from `first` on as one tile.
static tvms_tile_columns columns_at(const writer *w, int64_t first, int64_t columns) {
  int64_t lanes = w->tile->lanes;
  tvms_tile_columns made = {.first = first, .width = lanes, .vectors = columns / lanes};
  int64_t rest = columns % lanes;
  if (!rest) return made;
  made.spare = rest == 1 && w->tile->spares && made.vectors > 0;
  made.tail = made.spare ? 1 : lanes_for(rest, columns);
  made.tail_at = columns - made.tail;
  return made;
}

static tvms_strip *add_strip(writer *w, strips *all, tvms_node *count, int64_t first,
                             int64_t columns) {
  tvms_strip *s = &all->items[all->count++];
  *s = (tvms_strip){.count = count, .first = first, .columns = columns};
  int64_t lanes = w->tile->lanes, left = (columns + lanes - 1) / lanes, done = 0;
  int64_t parts = (columns / lanes + w->tile->vectors - 1) / w->tile->vectors;
  if (!parts) parts = 1;
  for (; parts > 0; parts--) {
    int64_t vectors = (left + parts - 1) / parts, width = vectors * lanes;
    if (width > columns - done) width = columns - done;
    s->parts[s->part_count++] = columns_at(w, done, width);
    left -= vectors;
    done += width;
  }
  return s;
}

// What is less than a vector goes into the last strip.
static strips strips_of_columns(writer *w) {
  strips all = {.count = 0};
  int64_t columns = w->group_columns, one = w->tile->strip;
  int64_t full = columns / one, rest = columns % one;
  if (full && rest && rest < w->tile->lanes && !w->tile->lines
      && !w->tile->beforehand) {
    full--;
    rest += one;
  }
  const tvms_node *like = tvms_contraction_column_var(w);
  if (full) add_strip(w, &all, number(w, like, full), 0, one);
  if (rest) add_strip(w, &all, number(w, like, 1), full * one, rest);
  return all;
}

// Of columns whose number is not known: whole strips.
static tvms_strip whole_strips(writer *w) {
  strips all = {.count = 0};
  tvms_node *columns = w->c->stage.axes[w->c->column].extent;
  tvms_node *one = number(w, columns, w->tile->strip);
  return *add_strip(w, &all, build(w, TVMS_NODE_FLOOR_DIV, columns, one), 0,
                    w->tile->strip);
}

// And strips of one vector of so many lanes for what they leave over, of which the last one begins further left.
static tvms_strip narrow_strips(writer *w, int64_t lanes) {
  strips all = {.count = 0};
  tvms_node *columns = w->c->stage.axes[w->c->column].extent;
  tvms_node *rest =
      build(w, TVMS_NODE_FLOOR_MOD, columns, number(w, columns, w->tile->strip));
  tvms_node *up = build(w, TVMS_NODE_ADD, rest, number(w, columns, lanes - 1));
  tvms_node *width = number(w, columns, lanes);
  tvms_strip *made =
      add_strip(w, &all, build(w, TVMS_NODE_FLOOR_DIV, up, width), 0, lanes);
  made->parts[0] = (tvms_tile_columns){.width = lanes, .vectors = 1};
  made->behind = build(w, TVMS_NODE_SUB, columns, rest);
  made->last = build(w, TVMS_NODE_SUB, columns, width);
  return *made;
}

// ---- Panels ----

// Is a panel so large that the threads of the rows should fill it together?
static bool fills_on_threads(const writer *w) {
  enum { WORTH_THREADS = 1 << 14 };
  int64_t steps =
      w->tile->sum_block ? w->tile->sum_block : tvms_contraction_steps(w->c);
  return !w->threads && w->tile->threads == TVMS_TILE_ROWS && w->tile->group == 1
         && steps * w->strip->columns >= WORTH_THREADS;
}

static tvms_node *fill_panel(writer *w) {
  tvms_node_vec stmts = {0};
  if (w->tile->lines) tvms_stmt_push(w->unit, &stmts, tvms_contraction_fill_lines(w));
  for (uint32_t i = 0; i < w->strip->part_count && !w->tile->lines; i++) {
    w->columns = &w->strip->parts[i];
    tvms_stmt_push(w->unit, &stmts, tvms_contraction_fill_tile(w));
  }
  for (uint32_t i = 0; i < stmts.len && fills_on_threads(w); i++) {
    if (stmts.items[i]->kind == TVMS_NODE_FOR)
      tvms_as_for(stmts.items[i])->for_kind = TVMS_FOR_PARALLEL;
  }
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// How many tiles of one size stand side by side from part `i` of the strip on.
static uint32_t tiles_alike(const tvms_strip *strip, uint32_t i) {
  const tvms_tile_columns *one = &strip->parts[i], *next = one + 1;
  const tvms_tile_columns *end = strip->parts + strip->part_count;
  while (next < end && !one->tail && !next->tail && next->vectors == one->vectors)
    next++;
  return (uint32_t)(next - one);
}

// Tiles of one size are one loop: their code is there once.
static tvms_node *over_alike(writer *w, uint32_t count) {
  body_writer *body = w->tile->group > 1 ? tvms_contraction_write_tile : over_outer;
  if (count == 1) return body(w);
  const tvms_node *like = tvms_contraction_column_var(w);
  tvms_node *var = variable(w, "j1", like), *tiles = number(w, like, count);
  tvms_analyzer_bind_range(w->lanes, var, number(w, like, 0), tiles);
  int64_t columns = w->columns->vectors * w->columns->width;
  w->part = build(w, TVMS_NODE_MUL, var, number(w, like, columns));
  enter_loop(w, var, tiles, TVMS_TILE_SERIAL);
  tvms_node *made = leave_loop(w, body(w));
  w->part = NULL;
  return made;
}

// What is done for the columns of one strip.
static tvms_node *over_parts(writer *w) {
  tvms_node_vec stmts = {0};
  if (w->panel && w->tile->group == 1) tvms_stmt_push(w->unit, &stmts, fill_panel(w));
  if (w->spare) tvms_stmt_push(w->unit, &stmts, tvms_contraction_fill_spare(w));
  for (uint32_t i = 0, count; i < w->strip->part_count; i += count) {
    w->columns = &w->strip->parts[i];
    count = tiles_alike(w->strip, i);
    tvms_stmt_push(w->unit, &stmts, over_alike(w, count));
  }
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

static tvms_node *over_sum_blocks(writer *w, body_writer *body) {
  if (!w->tile->sum_block) return body(w);
  w->block = variable(w, "kb", tvms_contraction_first_sum(w)->var);
  int64_t most = w->tile->sum_block;
  w->blocks = (tvms_contraction_steps(w->c) + most - 1) / most;
  enter_loop(w, w->block, number(w, w->block, w->blocks), TVMS_TILE_SERIAL);
  tvms_node *made = leave_loop(w, body(w));
  w->block = NULL;
  return made;
}

static tvms_node *replace_moving(tvms_rewriter *r, tvms_node *node) {
  const writer *w = r->self;
  return r->old == w->c->moving ? w->panel : node;
}

static void put_panel_in_term(writer *w) {
  w->term = w->c->term;
  if (w->term == w->c->moving) {
    w->term = w->panel;
    return;
  }
  tvms_rewriter r;
  tvms_rewriter_init(&r, w->unit, w);
  r.leave[w->c->moving->kind] = replace_moving;
  w->term = tvms_rewrite(&r, w->term);
  tvms_rewriter_fini(&r);
}

// The load from the panel that takes the place of the moving operand, one of so many, of as many columns.
static void make_panel(writer *w, int64_t panels, int64_t columns) {
  const tvms_stage *stage = &w->c->stage;
  const tvms_node *like = tvms_contraction_column_var(w);
  tvms_node *shape[TVMS_MOST_STAGE_AXES + 2], *indices[TVMS_MOST_STAGE_AXES + 2];
  uint32_t dims = 0;
  if (w->tile->group > 1) {
    w->in_group = variable(w, "strip", like);
    shape[dims] = number(w, like, panels);
    indices[dims++] = w->in_group;
  }
  if (w->tile->flat_sum) {
    shape[dims] = w->tile->sum_block ? number(w, w->step, w->tile->sum_block)
                                     : tvms_contraction_flat_extent(w);
    indices[dims++] = w->step;
  }
  for (uint32_t i = 0; i < stage->count && !w->tile->flat_sum; i++) {
    const tvms_stage_axis *axis = &stage->axes[i];
    if (w->c->roles[i] != TVMS_AXIS_SUM || tvms_stage_axis_is_single(axis)) continue;
    if (w->tile->shares_lines && i == w->tile->shared.axis) continue;
    shape[dims] = axis->extent;
    indices[dims++] = axis->var;
  }
  w->place = variable(w, "place", like);
  int64_t lanes = w->tile->lanes;
  if (w->tile->shares_lines) {
    shape[dims] = number(w, like, tvms_contraction_shared_columns(w));
    indices[dims++] = tvms_contraction_shared_place(w);
  } else {
    shape[dims] = number(w, like, (columns + lanes - 1) / lanes * lanes);
    indices[dims++] = w->place;
  }
  tvms_dtype element = w->c->moving->dtype;
  tvms_node *panel = tvms_cpu_buffer(w->unit, "panel", element, "global", shape, dims);
  w->panel = tvms_buffer_load_new(w->unit, panel, indices, dims, NULL, TVMS_NO_SPAN);
  put_panel_in_term(w);
}

// A strip has a panel of its own, so strips can be on threads.
static tvms_node *over_strip(writer *w) {
  if (w->tile->group > 1) return over_parts(w);
  if (w->tile->packs) make_panel(w, 1, w->strip->columns);
  w->spare = tvms_contraction_make_spare(w);
  tvms_node *made = w->tile->lines ? over_sum_blocks(w, over_parts) : over_parts(w);
  tvms_node *allocated[2];
  uint32_t count = 0;
  if (w->tile->packs) allocated[count++] = tvms_as_buffer_load(w->panel)->buffer;
  if (w->spare) allocated[count++] = tvms_as_buffer_load(w->spare)->buffer;
  if (!count) return made;
  return tvms_cpu_block(w->unit, "packed", (tvms_list){allocated, count}, made);
}

// What is done for each strip of one size.
static tvms_node *over_alike_strips(writer *w, const tvms_strip *s, body_writer *body,
                                    tvms_tile_threads loops) {
  const tvms_node *like = tvms_contraction_column_var(w);
  tvms_node *var = tvms_node_is_int(s->count, 1) ? NULL : variable(w, "j0", like);
  w->strip = s;
  w->strip_begin = build(w, TVMS_NODE_ADD, w->group_begin, number(w, like, s->first));
  w->strip_number = number(w, like, s->first / w->tile->strip);
  if (s->behind) w->strip_begin = build(w, TVMS_NODE_ADD, w->strip_begin, s->behind);
  if (var) {
    tvms_node *at = build(w, TVMS_NODE_MUL, var, number(w, like, s->columns));
    w->strip_begin = build(w, TVMS_NODE_ADD, w->strip_begin, at);
    w->strip_number = build(w, TVMS_NODE_ADD, w->strip_number, var);
  }
  if (s->last) w->strip_begin = build(w, TVMS_NODE_MIN, w->strip_begin, s->last);
  if (w->in_group) tvms_node_map_put(&w->now, w->in_group, w->strip_number);
  if (var) enter_loop(w, var, s->count, loops);
  tvms_node *made = body(w);
  return var ? leave_loop(w, made) : made;
}

// What is done for each strip of a group.
static tvms_node *over_strips(writer *w, body_writer *body, tvms_tile_threads loops) {
  strips all = strips_of_columns(w);
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < all.count; i++)
    tvms_stmt_push(w->unit, &stmts, over_alike_strips(w, &all.items[i], body, loops));
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// What whole strips leave over, by vectors of so many lanes, or of fewer if there are not that many columns.
static tvms_node *over_narrow(writer *w, int64_t lanes) {
  tvms_node *columns = w->c->stage.axes[w->c->column].extent;
  tvms_strip strip = narrow_strips(w, lanes);
  tvms_node *made = over_alike_strips(w, &strip, over_strip, TVMS_TILE_STRIPS);
  if (lanes / 2 < tvms_tile_least_lanes(w->tile)) return made;
  tvms_node *fits = build(w, TVMS_NODE_GE, columns, number(w, columns, lanes));
  return tvms_cpu_choice(w->unit, fits, made, over_narrow(w, lanes / 2));
}

static tvms_node *over_columns(writer *w) {
  if (w->group_columns >= 0) return over_strips(w, over_strip, TVMS_TILE_STRIPS);
  tvms_strip strip = whole_strips(w);
  tvms_node *whole = over_alike_strips(w, &strip, over_strip, TVMS_TILE_STRIPS);
  return tvms_stmt_pair(w->unit, whole, over_narrow(w, w->tile->lanes));
}

// The panels of a group are filled before its strips serve the tiles of rows, on the same threads.
static tvms_node *over_group(writer *w) {
  if (!w->tile->packs) return over_outer(w);
  strips all = strips_of_columns(w);
  int64_t widest = 0;
  for (uint32_t i = 0; i < all.count; i++) {
    if (all.items[i].columns > widest) widest = all.items[i].columns;
  }
  make_panel(w, (w->group_columns + w->tile->strip - 1) / w->tile->strip, widest);
  tvms_node *filled = over_strips(w, fill_panel, TVMS_TILE_ROWS);
  tvms_node *made = tvms_stmt_pair(w->unit, filled, over_outer(w));
  tvms_node *panels = tvms_as_buffer_load(w->panel)->buffer;
  return tvms_cpu_block(w->unit, "packed", (tvms_list){&panels, 1}, made);
}

static tvms_node *over_full_groups(writer *w, int64_t count) {
  if (count == 1) return over_group(w);
  tvms_node *var = variable(w, "g0", w->group_begin);
  w->group_begin = build(w, TVMS_NODE_MUL, var, number(w, var, w->group_columns));
  enter_loop(w, var, number(w, var, count), TVMS_TILE_SERIAL);
  return leave_loop(w, over_group(w));
}

// Groups of strips that each tile of rows goes through; one loop for those that are full, then the last one.
static tvms_node *over_groups(writer *w) {
  const tvms_node *like = tvms_contraction_column_var(w);
  int64_t columns = tvms_contraction_column_steps(w->c);
  int64_t one = w->tile->group * w->tile->strip;
  w->group_begin = number(w, like, 0);
  w->group_columns = columns;
  if (w->tile->group == 1) return over_columns(w);
  if (one >= columns) return over_group(w);
  w->group_columns = one;
  tvms_node *made = over_full_groups(w, columns / one);
  if (columns % one == 0) return made;
  w->group_begin = number(w, like, columns / one * one);
  w->group_columns = columns % one;
  return tvms_stmt_pair(w->unit, made, over_group(w));
}

// Blocks of the sum go through all columns, unless the panel of a strip serves for all rows at once.
static tvms_node *over_all(writer *w) {
  return w->tile->lines ? over_groups(w) : over_sum_blocks(w, over_groups);
}

tvms_node *tvms_contraction_nest(tvms_unit *unit, const tvms_contraction *contraction,
                                 const tvms_tile *tile, const tvms_epilogue *epilogues,
                                 uint32_t epilogue_count, tvms_nest_part part) {
  writer w = {.unit = unit,
              .c = contraction,
              .tile = tile,
              .epilogues = epilogues,
              .epilogue_count = epilogue_count,
              .term = contraction->term,
              .unended = part == TVMS_NEST_SUMS,
              .ended = part == TVMS_NEST_END};

  tvms_node_map_init(&w.now, &unit->context->memory);
  w.lanes = tvms_analyzer_new(unit);
  w.step = variable(&w, "step", tvms_contraction_first_sum(&w)->var);
  tvms_node *made = over_axes(&w, TVMS_AXIS_BATCH, over_all);
  tvms_analyzer_free(w.lanes);
  tvms_node_map_fini(&w.now);
  return made;
}
