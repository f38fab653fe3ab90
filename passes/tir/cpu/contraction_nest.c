// The loops around the tiles of a contraction: strips of columns, pieces of rows, panels.
#include "passes/tir/cpu/contraction_nest.h"

#include "ir/fold.h"
#include "ir/rewrite.h"
#include "passes/tir/cpu/contraction_lines.h"
#include "passes/tir/cpu/contraction_rows.h"
#include "passes/tir/cpu/contraction_spare.h"
#include "passes/tir/cpu/contraction_strips.h"
#include "passes/tir/cpu/contraction_tile.h"
#include "passes/tir/cpu/nodes.h"

typedef tvms_contraction_writer writer;

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

static tvms_node *variable(writer *w, const char *name, const tvms_node *like) {
  return tvms_cpu_variable(w->unit, name, like);
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
    tvms_contraction_enter_loop(w, vars[i], axis->extent,
                                role == TVMS_AXIS_BATCH ? TVMS_TILE_BATCHES
                                                        : TVMS_TILE_ROWS);
  }
  tvms_node *made = body(w);
  for (uint32_t i = w->c->stage.count; i-- > 0;) {
    if (vars[i]) made = tvms_contraction_leave_loop(w, made);
  }
  return made;
}

static tvms_node *over_outer(writer *w) {
  return over_axes(w, TVMS_AXIS_OUTER, tvms_contraction_over_rows);
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

// Lets the steps of a loop run on threads, also where it is chosen by how many steps a block has.
static void run_on_threads(tvms_node *filled) {
  if (filled->kind == TVMS_NODE_IF_THEN_ELSE)
    filled = tvms_as_if_then_else(filled)->then_case;
  if (filled->kind == TVMS_NODE_FOR) tvms_as_for(filled)->for_kind = TVMS_FOR_PARALLEL;
}

static tvms_node *fill_panel(writer *w) {
  tvms_node_vec stmts = {0};
  if (w->tile->lines) tvms_stmt_push(w->unit, &stmts, tvms_contraction_fill_lines(w));
  for (uint32_t i = 0; i < w->strip->part_count && !w->tile->lines; i++) {
    w->columns = &w->strip->parts[i];
    tvms_stmt_push(w->unit, &stmts, tvms_contraction_fill_tile(w));
  }
  for (uint32_t i = 0; i < stmts.len && fills_on_threads(w); i++)
    run_on_threads(stmts.items[i]);
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
  tvms_contraction_enter_loop(w, var, tiles, TVMS_TILE_SERIAL);
  tvms_node *made = tvms_contraction_leave_loop(w, body(w));
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

// Blocks of the sum. There is one also where it has no steps: it stores what sums begin with.
static tvms_node *count_blocks(writer *w) {
  tvms_node *steps = tvms_contraction_flat_extent(w);
  int64_t most = w->tile->sum_block;
  tvms_node *up = build(w, TVMS_NODE_ADD, steps, number(w, steps, most - 1));
  tvms_node *blocks = build(w, TVMS_NODE_FLOOR_DIV, up, number(w, steps, most));
  return build(w, TVMS_NODE_MAX, blocks, number(w, steps, 1));
}

static tvms_node *over_sum_blocks(writer *w, body_writer *body) {
  if (!w->tile->sum_block) return body(w);
  w->blocks = count_blocks(w);
  w->block = variable(w, "kb", w->blocks);
  tvms_contraction_enter_loop(w, w->block, w->blocks, TVMS_TILE_SERIAL);
  tvms_node *made = tvms_contraction_leave_loop(w, body(w));
  w->block = w->blocks = NULL;
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
  bool blocks = tvms_tile_blocks_in_strip(w->tile);
  tvms_node *made = blocks ? over_sum_blocks(w, over_parts) : over_parts(w);
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
  if (var) tvms_contraction_enter_loop(w, var, s->count, loops);
  tvms_node *made = body(w);
  return var ? tvms_contraction_leave_loop(w, made) : made;
}

// What is done for each strip of a group.
static tvms_node *over_strips(writer *w, body_writer *body, tvms_tile_threads loops) {
  tvms_strips all = tvms_contraction_strips(w);
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < all.count; i++)
    tvms_stmt_push(w->unit, &stmts, over_alike_strips(w, &all.items[i], body, loops));
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// What whole strips leave over, by vectors of so many lanes and of fewer.
static tvms_node *over_narrow(writer *w, int64_t lanes) {
  tvms_node_vec stmts = {0};
  // Two of them have columns in common, where one must not find what the other one has not ended.
  bool ends_later = w->epilogue_count && w->tile->sum_in_result;
  tvms_tile_threads loops = ends_later ? TVMS_TILE_SERIAL : TVMS_TILE_STRIPS;
  for (; lanes >= tvms_tile_least_lanes(w->tile); lanes /= 2) {
    tvms_strip strip = tvms_contraction_narrow_strips(w, lanes);
    tvms_node *made = over_alike_strips(w, &strip, over_strip, loops);
    tvms_node *has = tvms_contraction_has_narrow_strips(w, lanes);
    tvms_stmt_push(w->unit, &stmts, tvms_cpu_choice(w->unit, has, made, NULL));
  }
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// What whole strips leave over, as one strip of so many vectors, or narrow ones if there are not enough columns for a vector.
static tvms_node *over_last_strip(writer *w) {
  tvms_node_vec stmts = {0};
  for (int64_t v = 1; v <= tvms_contraction_most_last_vectors(w); v++) {
    tvms_strip strip = tvms_contraction_last_strip(w, v);
    tvms_node *made = over_alike_strips(w, &strip, over_strip, TVMS_TILE_STRIPS);
    tvms_node *has = tvms_contraction_last_strip_has(w, v);
    tvms_stmt_push(w->unit, &stmts, tvms_cpu_choice(w->unit, has, made, NULL));
  }
  tvms_node *made = tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
  int64_t lanes = w->tile->lanes;
  if (lanes / 2 < tvms_tile_least_lanes(w->tile)) return made;
  tvms_node *columns = tvms_contraction_columns(w->unit, w->c);
  tvms_node *fits = build(w, TVMS_NODE_GE, columns, number(w, columns, lanes));
  return tvms_cpu_choice(w->unit, fits, made, over_narrow(w, lanes / 2));
}

// The last strip has columns of the one before it, whose sums would not be ready where they are taken in blocks.
static tvms_node *over_rest_of_columns(writer *w) {
  const tvms_tile *tile = w->tile;
  tvms_tile narrow = *tile;
  tvms_tile_sum_at_once(&narrow);
  narrow.panel_fetch = 0;
  // Converted rows would be as long as the sum, not as a block of it.
  narrow.rests &= tvms_contraction_steps(w->c) >= 0;
  w->tile = &narrow;
  tvms_node *made =
      narrow.last_strip ? over_last_strip(w) : over_narrow(w, narrow.lanes);
  w->tile = tile;
  return made;
}

static tvms_node *over_whole_strips(writer *w) {
  tvms_strip strip = tvms_contraction_whole_strips(w);
  return over_alike_strips(w, &strip, over_strip, TVMS_TILE_STRIPS);
}

static tvms_node *over_columns(writer *w) {
  return over_strips(w, over_strip, TVMS_TILE_STRIPS);
}

// The panels of a group are filled before its strips serve the tiles of rows, on the same threads.
static tvms_node *over_group(writer *w) {
  if (!w->tile->packs) return over_outer(w);
  tvms_strips all = tvms_contraction_strips(w);
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
  tvms_contraction_enter_loop(w, var, number(w, var, count), TVMS_TILE_SERIAL);
  return tvms_contraction_leave_loop(w, over_group(w));
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

// ---- Lines of unknown length ----

// The tiles of a strip of `columns` columns: whole ones, and one of fewer vectors for what these leave over. Its last vector may begin
// further left.
static tvms_node *over_tiles_of_lines(writer *w, tvms_node *columns) {
  int64_t lanes = w->tile->lanes, one = w->tile->vectors * lanes;
  tvms_node *width = number(w, columns, one), *vector = number(w, columns, lanes);
  tvms_node *rest = build(w, TVMS_NODE_FLOOR_MOD, columns, width);
  tvms_node *var = variable(w, "j1", columns);
  tvms_tile_columns whole = {.width = lanes, .vectors = w->tile->vectors};
  w->columns = &whole;
  w->part = build(w, TVMS_NODE_MUL, var, width);
  tvms_contraction_enter_loop(w, var, build(w, TVMS_NODE_FLOOR_DIV, columns, width),
                              TVMS_TILE_SERIAL);
  tvms_node_vec stmts = {0};
  tvms_stmt_push(w->unit, &stmts, tvms_contraction_leave_loop(w, over_outer(w)));
  tvms_node *up = build(w, TVMS_NODE_ADD, rest, number(w, rest, lanes - 1));
  tvms_node *vectors = build(w, TVMS_NODE_FLOOR_DIV, up, vector);
  for (int64_t v = 1; v <= w->tile->vectors; v++) {
    tvms_tile_columns last = {.width = lanes, .vectors = v > 1 ? v - 1 : 1};
    w->columns = &last;
    w->part = build(w, TVMS_NODE_SUB, columns, v > 1 ? rest : vector);
    if (v > 1) last.tail = lanes, last.tail_at = build(w, TVMS_NODE_SUB, rest, vector);
    tvms_node *has = build(w, TVMS_NODE_EQ, vectors, number(w, vectors, v));
    tvms_stmt_push(w->unit, &stmts, tvms_cpu_choice(w->unit, has, over_outer(w), NULL));
  }
  w->part = NULL;
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// The line at which strip number `at` of so many begins: each has `least` lines, and the first ones, as many as are left over, one more.
static tvms_node *begin_of_strip(writer *w, tvms_node *at, tvms_node *least,
                                 tvms_node *over) {
  return build(w, TVMS_NODE_ADD, build(w, TVMS_NODE_MUL, at, least),
               build(w, TVMS_NODE_MIN, at, over));
}

// The strip at hand, of about as many lines as all others have.
static tvms_node *over_strip_of_lines(writer *w, tvms_node *var, tvms_node *strips) {
  const tvms_contraction *c = w->c;
  tvms_node *all = c->stage.axes[c->columns[0]].extent;
  tvms_node_vec stmts = {0};
  tvms_node *least = build(w, TVMS_NODE_FLOOR_DIV, all, strips);
  tvms_node *over = build(w, TVMS_NODE_FLOOR_MOD, all, strips);
  tvms_node *next = build(w, TVMS_NODE_ADD, var, number(w, var, 1));
  w->strip_line =
      tvms_contraction_bind(w, &stmts, "line", begin_of_strip(w, var, least, over));
  tvms_node *lines =
      build(w, TVMS_NODE_SUB, begin_of_strip(w, next, least, over), w->strip_line);
  w->strip_lines = tvms_contraction_bind(w, &stmts, "lines", lines);
  tvms_node *length = c->stage.axes[c->column].extent;
  w->strip_begin = build(w, TVMS_NODE_MUL, w->strip_line, length);
  make_panel(w, 1, w->tile->room);
  tvms_node *filled = tvms_contraction_fill_lines(w);
  tvms_node *tiles =
      over_tiles_of_lines(w, build(w, TVMS_NODE_MUL, w->strip_lines, length));
  tvms_node *panel = tvms_as_buffer_load(w->panel)->buffer;
  tvms_node *made = tvms_cpu_block(w->unit, "packed", (tvms_list){&panel, 1},
                                   tvms_stmt_pair(w->unit, filled, tiles));
  tvms_stmt_push(w->unit, &stmts, made);
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// Strips of as many lines as the panel has room for.
static tvms_node *over_unknown_lines(writer *w) {
  tvms_node *all = w->c->stage.axes[w->c->columns[0]].extent;
  tvms_node_vec stmts = {0};
  tvms_node *most =
      tvms_contraction_bind(w, &stmts, "most", tvms_contraction_most_lines(w));
  tvms_node *up =
      build(w, TVMS_NODE_ADD, all, build(w, TVMS_NODE_SUB, most, number(w, most, 1)));
  tvms_node *strips = tvms_contraction_bind(w, &stmts, "strips",
                                            build(w, TVMS_NODE_FLOOR_DIV, up, most));
  tvms_strip strip = {.count = strips, .columns = w->tile->strip};
  w->strip = &strip;
  w->strip_number = variable(w, "j0", strips);
  tvms_contraction_enter_loop(w, w->strip_number, strips, TVMS_TILE_STRIPS);
  tvms_node *made = over_strip_of_lines(w, w->strip_number, strips);
  tvms_stmt_push(w->unit, &stmts, tvms_contraction_leave_loop(w, made));
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

static tvms_node *over_all(writer *w) {
  if (w->tile->room) return over_unknown_lines(w);
  if (tvms_tile_blocks_in_strip(w->tile)) return over_groups(w);
  if (tvms_contraction_column_steps(w->c) >= 0) return over_sum_blocks(w, over_groups);
  w->group_begin = number(w, tvms_contraction_column_var(w), 0);
  if (w->column_part == TVMS_NEST_REST) return over_rest_of_columns(w);
  tvms_node *whole = over_sum_blocks(w, over_whole_strips);
  if (w->column_part == TVMS_NEST_STRIPS) return whole;
  return tvms_stmt_pair(w->unit, whole, over_rest_of_columns(w));
}

// The number of rows, which is mentioned often.
static void count_rows(writer *w, tvms_node_vec *stmts) {
  if (w->c->row == TVMS_MOST_STAGE_AXES) return;
  w->row_count = w->c->stage.axes[w->c->row].extent;
  if (w->row_count->kind != TVMS_NODE_VAR && !tvms_node_is_int_imm(w->row_count))
    w->row_count = tvms_contraction_bind(w, stmts, "rows", w->row_count);
}

tvms_node *tvms_contraction_nest(tvms_unit *unit, const tvms_contraction *contraction,
                                 const tvms_tile *tile, const tvms_epilogue *epilogues,
                                 uint32_t epilogue_count, tvms_nest_part part,
                                 tvms_nest_columns columns) {
  writer w = {.unit = unit,
              .c = contraction,
              .tile = tile,
              .epilogues = epilogues,
              .epilogue_count = epilogue_count,
              .term = contraction->term,
              .column_part = columns,
              .unended = part == TVMS_NEST_SUMS,
              .ended = part == TVMS_NEST_END,
              .in_rows = tile->group > 1 ? over_columns : tvms_contraction_write_tile};

  tvms_node_map_init(&w.now, &unit->context->memory);
  w.lanes = tvms_analyzer_new(unit);
  w.step = variable(&w, "step", tvms_contraction_first_sum(&w)->var);
  tvms_node_vec stmts = {0};
  count_rows(&w, &stmts);
  tvms_stmt_push(unit, &stmts, over_axes(&w, TVMS_AXIS_BATCH, over_all));
  tvms_analyzer_free(w.lanes);
  tvms_node_map_fini(&w.now);
  return tvms_stmt_seq(unit, &stmts, TVMS_NO_SPAN);
}
