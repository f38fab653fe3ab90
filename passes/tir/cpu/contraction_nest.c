// Writing tiled contractions: pieces of rows and columns, panels, tiles, epilogues.
#include "passes/tir/cpu/contraction_nest.h"

#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"

// A part of the rows or columns that tiles of one size cover.
typedef struct {
  tvms_node *count;  // of tiles
  int64_t first;     // row or column of the first one
  int64_t width;     // rows, or lanes of a vector
  int64_t vectors;   // of columns; 1 of rows
  tvms_node *TVMS_NULLABLE
      last;  // where the last tile begins at most; NULL: nothing overlaps
} piece;

enum { MOST_PIECES = 3 };

typedef struct {
  piece items[MOST_PIECES];
  uint32_t count;
} pieces;

typedef struct {
  tvms_unit *unit;
  const tvms_contraction *c;
  const tvms_tile *tile;
  const tvms_epilogue *epilogues;
  uint32_t epilogue_count;
  tvms_node_map now;  // variable of the stage -> what it is in the loops around
  tvms_node *term;    // with the panel in the place of the moving operand
  tvms_node *TVMS_NULLABLE panel;
  tvms_node *place;               // variable: column of the panel
  tvms_node *TVMS_NULLABLE step;  // variable: row of the panel, if the sum is in blocks
  uint32_t split;  // axis that is summed over in blocks; TVMS_MOST_STAGE_AXES: none
  tvms_node *TVMS_NULLABLE block;  // variable: of the blocks
  // Of the tile at hand:
  tvms_node *sums;          // buffer
  tvms_node *row, *column;  // where it begins; row: NULL if there is none
  int64_t rows;
  const piece *columns;
} writer;

// ---- Nodes ----

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

static tvms_node *variable(writer *w, const char *name, const tvms_node *like) {
  return tvms_cpu_variable(w->unit, name, like);
}

static tvms_node *loop(writer *w, tvms_node *var, tvms_node *extent, uint8_t kind,
                       tvms_node *body) {
  return tvms_cpu_loop(w->unit, var, extent, kind, body);
}

static tvms_node *store(writer *w, tvms_node *buffer, tvms_list indices,
                        tvms_node *value) {
  return tvms_cpu_store(w->unit, buffer, indices, value);
}

static tvms_node *buffer(writer *w, const char *name, tvms_dtype element,
                         const char *scope, tvms_node *const *shape, uint32_t dims) {
  return tvms_cpu_buffer(w->unit, name, element, scope, shape, dims);
}

static tvms_node *block_with(writer *w, const char *name, tvms_node *allocated,
                             tvms_node *body) {
  return tvms_cpu_block(w->unit, name, (tvms_list){&allocated, 1}, body);
}

static tvms_node *as_now(writer *w, tvms_node *node) {
  return tvms_substitute(w->unit, node, &w->now);
}

static tvms_list all_as_now(writer *w, tvms_list list) {
  tvms_list made = tvms_list_copy(w->unit, list.items, list.len);
  for (uint32_t i = 0; i < made.len; i++)
    made.items[i] = as_now(w, made.items[i]);
  return made;
}

// ---- Elements of a tile ----

// Loops over the elements of the tile: rows and vectors written out, lanes as one vector.
typedef struct {
  tvms_node *TVMS_NULLABLE row, *TVMS_NULLABLE vector, *TVMS_NULLABLE lane;
  tvms_node *indices[2];  // in the buffer of sums
} element;

static const tvms_node *column_var(const writer *w) {
  return w->c->stage.axes[w->c->column].var;
}

static element open_element(writer *w) {
  const tvms_node *like = column_var(w);
  element e = {0};
  tvms_node *in_row = number(w, like, 0);
  if (w->columns->vectors > 1) {
    e.vector = variable(w, "j", like);
    in_row = build(w, TVMS_NODE_MUL, e.vector, number(w, like, w->columns->width));
  }
  if (w->columns->width > 1) {
    e.lane = variable(w, "lane", like);
    in_row = build(w, TVMS_NODE_ADD, in_row, e.lane);
  }
  e.indices[0] = number(w, like, 0);
  e.indices[1] = in_row;
  tvms_node_map_put(&w->now, like, build(w, TVMS_NODE_ADD, w->column, in_row));
  if (w->place) tvms_node_map_put(&w->now, w->place, in_row);
  if (!w->row) return e;
  const tvms_node *row = w->c->stage.axes[w->c->row].var;
  tvms_node *at = w->row;
  if (w->rows > 1) {
    e.row = variable(w, "i", row);
    e.indices[0] = e.row;
    at = build(w, TVMS_NODE_ADD, at, e.row);
  }
  tvms_node_map_put(&w->now, row, at);
  return e;
}

static tvms_node *close_element(writer *w, const element *e, tvms_node *body) {
  if (e->lane)
    body = loop(w, e->lane, number(w, e->lane, w->columns->width), TVMS_FOR_VECTORIZED,
                body);
  if (e->vector)
    body = loop(w, e->vector, number(w, e->vector, w->columns->vectors),
                TVMS_FOR_UNROLLED, body);
  if (e->row)
    body = loop(w, e->row, number(w, e->row, w->rows), TVMS_FOR_UNROLLED, body);
  return body;
}

static tvms_node *sum_of(writer *w, const element *e) {
  return tvms_buffer_load_new(w->unit, w->sums, e->indices, 2, NULL, TVMS_NO_SPAN);
}

static tvms_node *set_sum(writer *w, const element *e, tvms_node *value) {
  return store(w, w->sums, tvms_list_copy(w->unit, e->indices, 2), value);
}

// ---- A tile ----

static tvms_node *set_sums(writer *w, bool stored) {
  element e = open_element(w);
  const tvms_store *out = w->c->stage.store;
  tvms_node *value = w->c->init;
  if (stored) {
    tvms_list indices = all_as_now(w, out->indices);
    value = tvms_buffer_load_new(w->unit, out->buffer, indices.items, indices.len, NULL,
                                 TVMS_NO_SPAN);
  }
  return close_element(w, &e, set_sum(w, &e, value));
}

// Blocks of the sum behind the first go on with what the one before stored.
static tvms_node *begin_sums(writer *w) {
  if (!w->block) return set_sums(w, false);
  tvms_if_then_else *choice = tvms_node_make(w->unit, IF_THEN_ELSE, TVMS_NO_SPAN);
  choice->condition = build(w, TVMS_NODE_EQ, w->block, number(w, w->block, 0));
  choice->then_case = set_sums(w, false);
  choice->else_case = set_sums(w, true);
  return &choice->head;
}

// Steps of a summed axis: all, or those of the block at hand.
static tvms_node *steps_of(writer *w, uint32_t axis) {
  tvms_node *extent = w->c->stage.axes[axis].extent;
  if (axis != w->split) return extent;
  tvms_node *most = number(w, w->block, w->tile->sum_block);
  if (tvms_tile_size_of(extent) % w->tile->sum_block == 0) return most;
  tvms_node *done = build(w, TVMS_NODE_MUL, w->block, most);
  return build(w, TVMS_NODE_MIN, most, build(w, TVMS_NODE_SUB, extent, done));
}

static tvms_node *around_sums(writer *w, tvms_node *body, tvms_node *const *vars) {
  for (uint32_t i = w->c->stage.count; i-- > 0;) {
    if (w->c->roles[i] != TVMS_AXIS_SUM) continue;
    body = loop(w, vars[i], steps_of(w, i), TVMS_FOR_SERIAL, body);
  }
  return body;
}

static void open_sums(writer *w, tvms_node **vars) {
  static const char *const names[] = {"k", "k1", "k2", "k3"};
  uint32_t count = 0;
  for (uint32_t i = 0; i < w->c->stage.count; i++) {
    if (w->c->roles[i] != TVMS_AXIS_SUM) continue;
    const tvms_node *axis = w->c->stage.axes[i].var;
    vars[i] = variable(w, names[count < 3 ? count : 3], axis);
    count++;
    tvms_node *at = vars[i];
    if (i == w->split) {
      if (w->step) tvms_node_map_put(&w->now, w->step, at);
      tvms_node *done =
          build(w, TVMS_NODE_MUL, w->block, number(w, axis, w->tile->sum_block));
      at = build(w, TVMS_NODE_ADD, done, at);
    }
    tvms_node_map_put(&w->now, axis, at);
  }
}

static tvms_node *add_up(writer *w) {
  tvms_node *vars[TVMS_MOST_STAGE_AXES];
  open_sums(w, vars);
  element e = open_element(w);
  tvms_node *sum = build(w, TVMS_NODE_ADD, sum_of(w, &e), as_now(w, w->term));
  return around_sums(w, close_element(w, &e, set_sum(w, &e, sum)), vars);
}

// Puts `value` in the place of what is loaded from a buffer.
typedef struct {
  const tvms_node *from;
  tvms_node *value;
} replacement;

static tvms_node *replace_load(tvms_rewriter *r, tvms_node *node) {
  const replacement *with = r->self;
  return tvms_as_buffer_load(node)->buffer == with->from ? with->value : node;
}

static tvms_node *with_value(writer *w, tvms_node *expr, const tvms_node *from,
                             tvms_node *value) {
  replacement with = {from, value};
  tvms_rewriter r;
  tvms_rewriter_init(&r, w->unit, &with);
  r.leave[TVMS_NODE_BUFFER_LOAD] = replace_load;
  tvms_node *made = tvms_rewrite(&r, expr);
  tvms_rewriter_fini(&r);
  return made;
}

static void enter_epilogue(writer *w, const tvms_epilogue *epilogue) {
  for (uint32_t i = 0; i < epilogue->stage.count; i++) {
    const tvms_node *axis = w->c->stage.axes[epilogue->axis_of[i]].var;
    tvms_node_map_put(&w->now, epilogue->stage.axes[i].var,
                      tvms_node_map_get(&w->now, axis));
  }
}

// What an epilogue makes of the sums, which stay where they are.
static tvms_node *keep(writer *w, const tvms_epilogue *epilogue) {
  element e = open_element(w);
  enter_epilogue(w, epilogue);
  tvms_node *value = as_now(w, epilogue->stage.store->value);
  value = with_value(w, value, epilogue->from, sum_of(w, &e));
  return close_element(w, &e, set_sum(w, &e, value));
}

static tvms_node *finish(writer *w, const tvms_epilogue *TVMS_NULLABLE epilogue) {
  element e = open_element(w);
  const tvms_store *out = w->c->stage.store;
  tvms_node *value = sum_of(w, &e);
  if (epilogue) {
    enter_epilogue(w, epilogue);
    out = epilogue->stage.store;
    value = with_value(w, as_now(w, out->value), epilogue->from, value);
  }
  tvms_node *stored = store(w, out->buffer, all_as_now(w, out->indices), value);
  return close_element(w, &e, stored);
}

static tvms_node *write_tile(writer *w) {
  const tvms_node *like = column_var(w);
  tvms_node *shape[] = {number(w, like, w->rows),
                        number(w, like, w->columns->width * w->columns->vectors)};
  w->sums = buffer(w, "sums", w->c->stage.store->value->dtype, "local", shape, 2);
  tvms_node_vec stmts = {0};
  tvms_stmt_push(w->unit, &stmts, begin_sums(w));
  tvms_stmt_push(w->unit, &stmts, add_up(w));
  for (uint32_t i = 0; i + 1 < w->epilogue_count; i++)
    tvms_stmt_push(w->unit, &stmts, keep(w, &w->epilogues[i]));
  bool plain = w->epilogue_count == 0;
  tvms_stmt_push(w->unit, &stmts,
                 finish(w, plain ? NULL : &w->epilogues[w->epilogue_count - 1]));
  return block_with(w, "tile", w->sums, tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN));
}

// ---- Pieces ----

static void add_piece(writer *w, pieces *all, const tvms_node *like, int64_t count,
                      piece made) {
  made.count = number(w, like, count);
  all->items[all->count++] = made;
}

static pieces pieces_of_rows(writer *w, int64_t most) {
  pieces all = {.count = 0};
  const tvms_stage_axis *axis = &w->c->stage.axes[w->c->row];
  int64_t rows = tvms_tile_size_of(axis->extent);
  if (rows >= 0) {
    int64_t full = rows / most;
    if (full) add_piece(w, &all, axis->var, full, (piece){.width = most, .vectors = 1});
    piece rest = {.first = full * most, .width = rows % most, .vectors = 1};
    if (rest.width) add_piece(w, &all, axis->var, 1, rest);
    return all;
  }
  piece one = {.width = most, .vectors = 1};
  tvms_node *up = build(w, TVMS_NODE_ADD, axis->extent, number(w, axis->var, most - 1));
  one.count = build(w, TVMS_NODE_FLOOR_DIV, up, number(w, axis->var, most));
  if (most > 1)
    one.last = build(w, TVMS_NODE_SUB, axis->extent, number(w, axis->var, most));
  all.items[all.count++] = one;
  return all;
}

// Lanes for the last columns: a power of two, if a vector of that many can begin further left.
static int64_t lanes_for(int64_t rest, int64_t columns) {
  int64_t lanes = 4;
  while (lanes < rest)
    lanes *= 2;
  return lanes <= columns ? lanes : rest;
}

static pieces pieces_of_columns(writer *w) {
  pieces all = {.count = 0};
  const tvms_stage_axis *axis = &w->c->stage.axes[w->c->column];
  int64_t columns = tvms_tile_size_of(axis->extent);
  int64_t width = w->tile->lanes, vectors = w->tile->vectors;
  int64_t full = columns / (width * vectors), done = full * width * vectors;
  if (full)
    add_piece(w, &all, axis->var, full, (piece){.width = width, .vectors = vectors});
  piece whole = {.first = done, .width = width, .vectors = (columns - done) / width};
  if (whole.vectors) add_piece(w, &all, axis->var, 1, whole);
  done += whole.vectors * width;
  if (done == columns) return all;
  // What is added up in blocks is loaded again, so no tile may store what another one has.
  int64_t left = columns - done;
  piece rest = {.width = w->block ? left : lanes_for(left, columns), .vectors = 1};
  rest.first = columns - rest.width;
  add_piece(w, &all, axis->var, 1, rest);
  return all;
}

// Where a tile of the piece begins; `var` counts tiles, or is NULL if there is one.
static tvms_node *begin_of(writer *w, const piece *p, const tvms_node *like,
                           tvms_node *TVMS_NULLABLE var) {
  tvms_node *at = number(w, like, p->first);
  if (!var) return at;
  tvms_node *step = number(w, like, p->width * p->vectors);
  at = build(w, TVMS_NODE_ADD, at, build(w, TVMS_NODE_MUL, var, step));
  return p->last ? build(w, TVMS_NODE_MIN, at, p->last) : at;
}

static tvms_node *over_piece(writer *w, const piece *p) {
  const tvms_node *like = w->c->stage.axes[w->c->row].var;
  tvms_node *var = tvms_node_is_int(p->count, 1) ? NULL : variable(w, "i0", like);
  w->rows = p->width;
  w->row = begin_of(w, p, like, var);
  tvms_node *made = write_tile(w);
  return var ? loop(w, var, p->count, TVMS_FOR_SERIAL, made) : made;
}

static tvms_node *over_rows(writer *w, int64_t most) {
  if (w->c->row == TVMS_MOST_STAGE_AXES) {
    w->row = NULL;
    w->rows = 1;
    return write_tile(w);
  }
  pieces all = pieces_of_rows(w, most);
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < all.count; i++)
    tvms_stmt_push(w->unit, &stmts, over_piece(w, &all.items[i]));
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// A number of rows that is not known may be below a tile.
static tvms_node *over_any_rows(writer *w) {
  bool known = w->c->row == TVMS_MOST_STAGE_AXES
               || tvms_tile_size_of(w->c->stage.axes[w->c->row].extent) >= 0;
  tvms_node *tiled = over_rows(w, w->tile->rows);
  if (known) return tiled;
  const tvms_stage_axis *axis = &w->c->stage.axes[w->c->row];
  tvms_if_then_else *choice = tvms_node_make(w->unit, IF_THEN_ELSE, TVMS_NO_SPAN);
  tvms_node *least = number(w, axis->var, w->tile->rows);
  choice->condition = build(w, TVMS_NODE_GE, axis->extent, least);
  choice->then_case = tiled;
  choice->else_case = over_rows(w, 1);
  return &choice->head;
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
  }
  tvms_node *made = body(w);
  for (uint32_t i = w->c->stage.count; i-- > 0;) {
    if (vars[i])
      made = loop(w, vars[i], w->c->stage.axes[i].extent, TVMS_FOR_SERIAL, made);
  }
  return made;
}

// ---- Panels ----

static tvms_node *fill_panel(writer *w) {
  tvms_node *vars[TVMS_MOST_STAGE_AXES];
  open_sums(w, vars);
  int64_t rows = w->rows;
  tvms_node *row = w->row;
  w->rows = 1;
  w->row = NULL;
  element e = open_element(w);
  tvms_node *value = as_now(w, w->c->moving);
  tvms_list indices = all_as_now(w, tvms_as_buffer_load(w->panel)->indices);
  tvms_node *stored = store(w, tvms_as_buffer_load(w->panel)->buffer, indices, value);
  w->rows = rows;
  w->row = row;
  return around_sums(w, close_element(w, &e, stored), vars);
}

static tvms_node *over_outer(writer *w) {
  return over_axes(w, TVMS_AXIS_OUTER, over_any_rows);
}

// What is done for the columns of one tile.
static tvms_node *with_own_panel(writer *w) {
  if (!w->panel) return over_outer(w);
  tvms_node *filled = fill_panel(w);
  return tvms_stmt_pair(w->unit, filled, over_outer(w));
}

static tvms_node *over_columns(writer *w) {
  const tvms_node *like = column_var(w);
  pieces all = pieces_of_columns(w);
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < all.count; i++) {
    const piece *p = &all.items[i];
    tvms_node *var = tvms_node_is_int(p->count, 1) ? NULL : variable(w, "j0", like);
    w->columns = p;
    w->column = begin_of(w, p, like, var);
    tvms_node *made = with_own_panel(w);
    if (var) made = loop(w, var, p->count, TVMS_FOR_SERIAL, made);
    tvms_stmt_push(w->unit, &stmts, made);
  }
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

static tvms_node *over_sum_blocks(writer *w) {
  if (!w->tile->sum_block) return over_columns(w);
  const tvms_stage_axis *axis = &w->c->stage.axes[w->split];
  w->block = variable(w, "kb", axis->var);
  int64_t most = w->tile->sum_block;
  int64_t count = (tvms_tile_size_of(axis->extent) + most - 1) / most;
  tvms_node *body = over_columns(w);
  return loop(w, w->block, number(w, axis->var, count), TVMS_FOR_SERIAL, body);
}

static tvms_node *replace_moving(tvms_rewriter *r, tvms_node *node) {
  const writer *w = r->self;
  return r->old == w->c->moving ? w->panel : node;
}

// The load from the panel that takes the place of the moving operand.
static void make_panel(writer *w) {
  const tvms_stage *stage = &w->c->stage;
  const tvms_node *like = column_var(w);
  tvms_node *shape[TVMS_MOST_STAGE_AXES + 1], *indices[TVMS_MOST_STAGE_AXES + 1];
  uint32_t dims = 0;
  for (uint32_t i = 0; i < stage->count; i++) {
    if (w->c->roles[i] != TVMS_AXIS_SUM) continue;
    bool split = i == w->split;
    if (split) w->step = variable(w, "step", stage->axes[i].var);
    shape[dims] =
        split ? number(w, w->step, w->tile->sum_block) : stage->axes[i].extent;
    indices[dims++] = split ? w->step : stage->axes[i].var;
  }
  w->place = variable(w, "place", like);
  shape[dims] = number(w, like, w->tile->lanes * w->tile->vectors);
  indices[dims++] = w->place;
  const tvms_buffer *old = tvms_as_buffer(tvms_as_buffer_load(w->c->moving)->buffer);
  tvms_node *panel = buffer(w, "panel", old->element, "global", shape, dims);
  w->panel = tvms_buffer_load_new(w->unit, panel, indices, dims, NULL, TVMS_NO_SPAN);
  tvms_rewriter r;
  tvms_rewriter_init(&r, w->unit, w);
  r.leave[TVMS_NODE_BUFFER_LOAD] = replace_moving;
  w->term = tvms_rewrite(&r, w->term);
  tvms_rewriter_fini(&r);
}

tvms_node *tvms_contraction_nest(tvms_unit *unit, const tvms_contraction *contraction,
                                 const tvms_tile *tile, const tvms_epilogue *epilogues,
                                 uint32_t epilogue_count) {
  writer w = {.unit = unit,
              .c = contraction,
              .tile = tile,
              .epilogues = epilogues,
              .epilogue_count = epilogue_count,
              .term = contraction->term,
              .split = tile->sum_block ? tvms_tile_split_axis(contraction)
                                       : TVMS_MOST_STAGE_AXES};
  tvms_node_map_init(&w.now, &unit->context->memory);
  if (tile->packs) make_panel(&w);
  tvms_node *made = over_axes(&w, TVMS_AXIS_BATCH, over_sum_blocks);
  if (w.panel)
    made = block_with(&w, "packed", tvms_as_buffer_load(w.panel)->buffer, made);
  tvms_node_map_fini(&w.now);
  return made;
}
