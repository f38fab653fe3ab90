// Writing groups of rows: rows, passes, lines.
#include "passes/tir/cpu/rows_nest.h"

#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/quotient.h"
#include "passes/tir/cpu/rows_element.h"
#include "passes/tir/cpu/rows_folds.h"
#include "passes/tir/cpu/rows_index.h"
#include "passes/tir/cpu/rows_words.h"
#include "passes/tir/cpu/segments.h"

#include <stdio.h>

#define number tvms_line_number
#define build  tvms_line_build

enum { NONE = TVMS_MOST_STAGE_AXES };

static const tvms_line_pass_plan *pass_plan(const tvms_line_writer *w) {
  return &w->plan->passes[w->pass];
}

static bool is_large(const tvms_line_writer *w) {
  return tvms_line_is_worth_threads(w->plan->work, w->plan->joins);
}

typedef struct {
  tvms_node_vec stmts, allocated;
} written;

static void push(tvms_line_writer *w, tvms_node_vec *stmts, tvms_node *stmt) {
  tvms_stmt_push(w->unit, stmts, stmt);
}

// ---- Lines ----

static void set_chunk(tvms_line_writer *w, tvms_node *begin, int64_t vectors,
                      int64_t lanes, tvms_node *TVMS_NULLABLE fresh) {
  w->chunk.begin = begin;
  w->chunk.vectors = vectors;
  w->chunk.lanes = lanes;
  w->chunk.fresh = fresh;
}

static tvms_node *write_tiles(tvms_line_writer *w, uint8_t kind);

// A chunk at its place in the line; squares that turn go along the axis around from there.
static tvms_node *write_chunk(tvms_line_writer *w) {
  return pass_plan(w)->turned ? write_tiles(w, TVMS_FOR_SERIAL)
                              : tvms_line_write_chunk(w);
}

// `count` chunks one behind the other from `first` on.
static void write_chunks(tvms_line_writer *w, tvms_node *first, tvms_node *count,
                         int64_t vectors, int64_t lanes, const char *name, uint8_t kind,
                         tvms_node_vec *stmts) {
  if (tvms_node_is_int(count, 0)) return;
  if (tvms_node_is_int(count, 1)) {
    set_chunk(w, first, vectors, lanes, NULL);
    push(w, stmts, write_chunk(w));
    return;
  }
  tvms_node *var = tvms_cpu_variable(w->unit, name, w->like);
  tvms_node *at = var;
  if (pass_plan(w)->backwards && lanes > 1) at = tvms_line_from_end(w, count, var);
  tvms_node *step = build(w, TVMS_NODE_MUL, at, number(w, vectors * lanes));
  set_chunk(w, build(w, TVMS_NODE_ADD, first, step), vectors, lanes, NULL);
  tvms_node *body = write_chunk(w);
  tvms_node *made = tvms_cpu_loop(w->unit, var, count, kind, body);
  made->span = tvms_line_first(w)->stage.nest->span;
  push(w, stmts, made);
}

static bool has_fold(const tvms_line_writer *w) {
  for (uint32_t i = 0; i < w->g->count; i++) {
    if (w->g->members[i].pass == w->pass && w->g->members[i].kind == TVMS_LINE_FOLD)
      return true;
  }
  return false;
}

// Less than a vector of the pass. Machines have vectors of powers of two: two of these that overlap take
// fewer instructions than the pieces of one that is odd.
static void write_rest(tvms_line_writer *w, int64_t first, int64_t rest, uint8_t kind,
                       tvms_node_vec *stmts) {
  enum { FEWEST = 4 };
  int64_t lanes = 1;
  while (2 * lanes <= rest)
    lanes *= 2;
  bool two = lanes >= FEWEST && lanes < rest && pass_plan(w)->overlaps && !has_fold(w);
  write_chunks(w, number(w, first), number(w, 1), 1, two ? lanes : rest, "j", kind,
               stmts);
  if (!two) return;
  set_chunk(w, number(w, first + rest - lanes), 1, lanes, number(w, 2 * lanes - rest));
  push(w, stmts, write_chunk(w));
}

// Lanes of the last vector of a line, which begins further left: where each takes many steps of a sum, as few as hold what
// is left over (3 x 3 windows over lines of 20 or 33 take up to a fifth less time, by two over lines of 38 a sixth).
static int64_t last_lanes(const tvms_line_writer *w, int64_t rest) {
  enum { FEWEST = 4 };
  int64_t lanes = pass_plan(w)->lanes;
  bool sums = false;
  for (uint32_t i = 0; i < w->g->count; i++) {
    const tvms_line_member *m = &w->g->members[i];
    sums |= m->pass == w->pass && m->kind == TVMS_LINE_COLUMN;
  }
  while (sums && lanes / 2 >= rest && lanes / 2 >= FEWEST)
    lanes /= 2;
  return lanes;
}

// A part of a line: from `first` on, `length` elements.
static void write_segment(tvms_line_writer *w, int64_t first, int64_t length,
                          uint8_t kind, tvms_node_vec *stmts) {
  const tvms_line_pass_plan *p = pass_plan(w);
  int64_t lanes = p->lanes, step = lanes * p->vectors;
  int64_t full = length / step, done = full * step;
  write_chunks(w, number(w, first), number(w, full), p->vectors, lanes, "j", kind,
               stmts);
  int64_t more = (length - done) / lanes, rest = (length - done) % lanes;
  if (more)
    write_chunks(w, number(w, first + done), number(w, 1), more, lanes, "j", kind,
                 stmts);
  if (!rest) return;
  if (p->overlaps && length >= lanes) {
    lanes = last_lanes(w, rest);
    set_chunk(w, number(w, first + length - lanes), 1, lanes, number(w, lanes - rest));
    push(w, stmts, write_chunk(w));
    return;
  }
  write_rest(w, first + length - rest, rest, kind, stmts);
}

// A line of known length, in pieces where conditions change.
static void write_known_line(tvms_line_writer *w, int64_t length, uint8_t kind,
                             tvms_node_vec *stmts) {
  if (pass_plan(w)->active) {
    set_chunk(w, number(w, 0), 1, pass_plan(w)->lanes, NULL);
    push(w, stmts, write_chunk(w));
    return;
  }
  if (kind == TVMS_FOR_SERIAL && tvms_line_follows_formula(w)) kind = TVMS_FOR_UNROLLED;
  int64_t cuts[TVMS_MOST_SEGMENTS], begin = 0;
  const tvms_line_member *first = tvms_line_first(w);
  uint32_t count = 0, fused = pass_plan(w)->fused;
  // Elements for each step of the outermost axis of the line.
  int64_t steps =
      tvms_cpu_number(first->stage.axes[first->own[first->own_count - fused]].extent);
  int64_t inner = steps ? length / steps : 0;
  const tvms_line_pass_plan *p = pass_plan(w);
  if (p->guard)
    count = tvms_line_padding_cuts(w->unit, &w->g->members[p->guarded], p->guard, cuts,
                                   count);
  for (uint32_t i = 0; i < w->g->count; i++) {
    const tvms_line_member *m = &w->g->members[i];
    if (m->pass == w->pass)
      count = tvms_line_cuts(w->unit, m->term ? m->term : m->stage.store->value,
                             m->stage.axes[m->own[m->own_count - fused]].var, steps,
                             cuts, count);
  }
  for (uint32_t i = 0; i <= count && count > 0; i++) {
    w->segment_begin = begin;
    w->segment_end = i < count ? cuts[i] : steps;
    write_segment(w, begin * inner, (w->segment_end - begin) * inner, kind, stmts);
    begin = w->segment_end;
  }
  w->segment_end = 0;
  if (count == 0) write_segment(w, 0, length, kind, stmts);
}

// Are there several lines?
static bool has_lines(const tvms_line_writer *w) {
  return w->g->row_count > 0 || tvms_line_first(w)->own_count > pass_plan(w)->fused;
}

// A line of less than a vector, as two of half as many lanes that overlap, if it has so many elements; else as `other`. A single line is not
// worth the code.
static tvms_node *write_short_line(tvms_line_writer *w, tvms_node *length,
                                   tvms_node *other) {
  enum { FEWEST = 4 };
  int64_t half = pass_plan(w)->lanes / 2;
  if (half < FEWEST || !has_lines(w)) return other;
  tvms_node *lanes = number(w, half);
  set_chunk(w, number(w, 0), 1, half, NULL);
  tvms_node *first = write_chunk(w);
  set_chunk(w, build(w, TVMS_NODE_SUB, length, lanes), 1, half,
            build(w, TVMS_NODE_SUB, number(w, 2 * half), length));
  tvms_node *more = build(w, TVMS_NODE_GT, length, lanes);
  tvms_node *second = tvms_cpu_choice(w->unit, more, write_chunk(w), NULL);
  tvms_node *fits = build(w, TVMS_NODE_GE, length, lanes);
  return tvms_cpu_choice(w->unit, fits, tvms_stmt_pair(w->unit, first, second), other);
}

// What is left over of a line whose length is not known: a vector that begins further left, if
// the line has as many elements, else less than one.
static tvms_node *write_unknown_rest(tvms_line_writer *w, tvms_node *length) {
  const tvms_line_pass_plan *p = pass_plan(w);
  tvms_node *lanes = number(w, p->lanes);
  tvms_node *rest = build(w, TVMS_NODE_FLOOR_MOD, length, lanes);
  tvms_node_vec single = {0};
  write_chunks(w, build(w, TVMS_NODE_SUB, length, rest), rest, 1, 1, "j",
               TVMS_FOR_SERIAL, &single);
  tvms_node *one_by_one = tvms_stmt_seq(w->unit, &single, TVMS_NO_SPAN);
  if (!p->overlaps) return one_by_one;
  set_chunk(w, build(w, TVMS_NODE_SUB, length, lanes), 1, p->lanes,
            build(w, TVMS_NODE_SUB, lanes, rest));
  tvms_node *fits = build(w, TVMS_NODE_GE, length, lanes);
  tvms_node *last = write_chunk(w);
  tvms_node *chosen =
      tvms_cpu_choice(w->unit, fits, last, write_short_line(w, length, one_by_one));
  tvms_node *any = build(w, TVMS_NODE_NE, rest, number(w, 0));
  return tvms_cpu_choice(w->unit, any, chosen, NULL);
}

static void write_unknown_line(tvms_line_writer *w, tvms_node *length, uint8_t kind,
                               tvms_node_vec *stmts) {
  const tvms_line_pass_plan *p = pass_plan(w);
  tvms_node *lanes = number(w, p->lanes), *step = number(w, p->lanes * p->vectors);
  tvms_node *full = build(w, TVMS_NODE_FLOOR_DIV, length, step);
  write_chunks(w, number(w, 0), full, p->vectors, p->lanes, "j", kind, stmts);
  if (p->vectors > 1) {
    tvms_node *left = build(w, TVMS_NODE_FLOOR_MOD, length, step);
    tvms_node *more = build(w, TVMS_NODE_FLOOR_DIV, left, lanes);
    tvms_node *done = build(w, TVMS_NODE_MUL, full, step);
    write_chunks(w, done, more, 1, p->lanes, "j1", TVMS_FOR_SERIAL, stmts);
  }
  if (p->lanes > 1) push(w, stmts, write_unknown_rest(w, length));
}

static tvms_node *write_line(tvms_line_writer *w, bool threads) {
  const tvms_line_member *m = tvms_line_first(w);
  uint32_t fused = pass_plan(w)->fused;
  tvms_node *length = number(w, 1);
  for (uint32_t i = 0; i < fused; i++)
    length = build(w, TVMS_NODE_MUL,
                   m->stage.axes[m->own[m->own_count - fused + i]].extent, length);
  uint8_t kind = threads && is_large(w) ? TVMS_FOR_PARALLEL : TVMS_FOR_SERIAL;
  tvms_node_vec stmts = {0};
  int64_t known = tvms_cpu_number(length);
  if (known >= 0)
    write_known_line(w, known, kind, &stmts);
  else
    write_unknown_line(w, length, kind, &stmts);
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// ---- Passes ----

static tvms_node *write_tile(tvms_line_writer *w, int64_t tile, tvms_node *begin) {
  w->chunk.tile = tile;
  w->chunk.tile_begin = begin;
  return pass_plan(w)->turned ? tvms_line_write_chunk(w) : write_line(w, false);
}

// A tile at a place that is known.
static tvms_node *write_tile_at(tvms_line_writer *w, int64_t tile, int64_t begin) {
  w->tile_low = begin;
  w->tile_high = begin + tile;
  tvms_node *made = write_tile(w, tile, number(w, begin));
  w->tile_high = 0;
  return made;
}

// What is left over of the axis around the line: a smaller tile, or one that begins earlier.
static void write_tile_rest(tvms_line_writer *w, tvms_node *extent,
                            tvms_node_vec *stmts) {
  const tvms_line_pass_plan *p = pass_plan(w);
  int64_t steps = tvms_cpu_number(extent), rest = steps % p->tile;
  if (rest && p->turned && p->overlaps)
    push(w, stmts, write_tile_at(w, p->tile, steps - p->tile));
  else if (rest)
    push(w, stmts, write_tile_at(w, rest, steps - rest));
}

// Of an axis whose length is not known: squares begin earlier if there are as many steps, else single steps.
static void write_unknown_tile_rest(tvms_line_writer *w, tvms_node *extent,
                                    tvms_node_vec *stmts) {
  const tvms_line_pass_plan *p = pass_plan(w);
  tvms_node *tile = number(w, p->tile);
  tvms_node *rest = build(w, TVMS_NODE_FLOOR_MOD, extent, tile);
  tvms_node *var = tvms_cpu_variable(w->unit, "i", w->like);
  tvms_node *begin = build(w, TVMS_NODE_SUB, extent, rest);
  tvms_node *body = write_tile(w, 1, build(w, TVMS_NODE_ADD, begin, var));
  tvms_node *made = tvms_cpu_loop(w->unit, var, rest, TVMS_FOR_SERIAL, body);
  if (p->turned && p->overlaps) {
    tvms_node *last = write_tile(w, p->tile, build(w, TVMS_NODE_SUB, extent, tile));
    tvms_node *fits = build(w, TVMS_NODE_GE, extent, tile);
    tvms_node *any = build(w, TVMS_NODE_NE, rest, number(w, 0));
    made =
        tvms_cpu_choice(w->unit, any, tvms_cpu_choice(w->unit, fits, last, made), NULL);
  }
  push(w, stmts, made);
}

// Does what a tile at this place loads reach into the padding?
static bool is_at_border(tvms_line_writer *w, int64_t begin) {
  const tvms_line_pass_plan *p = pass_plan(w);
  if (!p->guard) return false;
  const tvms_line_member *m = &w->g->members[p->guarded];
  const tvms_stage_axis *around = &m->stage.axes[m->own[m->own_count - p->fused - 1]];
  tvms_line_part part = {around, begin, begin + p->tile, 0, 0, p->active > 0};
  return tvms_line_padding_split(w->unit, m, p->guard, &part).tile;
}

// Tiles from `first` up to `end` in a loop.
static void write_inner_tiles(tvms_line_writer *w, int64_t first, tvms_node *count,
                              uint8_t kind, tvms_node_vec *stmts) {
  int64_t tile = pass_plan(w)->tile, known = tvms_cpu_number(count);
  if (known == 0) return;
  if (known == 1) {
    push(w, stmts, write_tile_at(w, tile, first * tile));
    return;
  }
  tvms_node *var = tvms_cpu_variable(w->unit, "i", w->like);
  tvms_node *at = first ? build(w, TVMS_NODE_ADD, var, number(w, first)) : var;
  if (known > 0) {
    w->tile_low = first * tile;
    w->tile_high = (first + known) * tile;
  }
  tvms_node *body = write_tile(w, tile, build(w, TVMS_NODE_MUL, at, number(w, tile)));
  w->tile_high = 0;
  push(w, stmts, tvms_cpu_loop(w->unit, var, count, kind, body));
}

// Tiles of the axis around the line, and what is left over. The first and the last one stand alone if
// only they have padding.
static tvms_node *write_tiles(tvms_line_writer *w, uint8_t kind) {
  int64_t tile = pass_plan(w)->tile;
  tvms_node *extent = tvms_line_around(w)->extent;
  tvms_node *count = build(w, TVMS_NODE_FLOOR_DIV, extent, number(w, tile));
  tvms_node_vec stmts = {0};
  int64_t known = tvms_cpu_number(count);
  bool first = known > 1 && is_at_border(w, 0);
  bool last = known > 1 && is_at_border(w, (known - 1) * tile);
  if (first) push(w, &stmts, write_tile_at(w, tile, 0));
  if (first || last) count = number(w, known - first - last);
  write_inner_tiles(w, first, count, kind, &stmts);
  if (last) push(w, &stmts, write_tile_at(w, tile, (known - 1) * tile));
  if (tvms_cpu_number(extent) < 0)
    write_unknown_tile_rest(w, extent, &stmts);
  else
    write_tile_rest(w, extent, &stmts);
  w->chunk.tile = 1;
  w->chunk.tile_begin = NULL;
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// The step of an axis around the line, or of rows, that a loop of `count` steps is at.
static tvms_node *in_order(const tvms_line_writer *w, tvms_node *count,
                           tvms_node *var) {
  return w->plan->last_first ? tvms_line_from_end(w, count, var) : var;
}

// The loops of a pass: axes around the line, from the outermost one.
static tvms_node *write_loops(tvms_line_writer *w) {
  const tvms_line_member *m = tvms_line_first(w);
  const tvms_line_pass_plan *p = pass_plan(w);
  uint32_t around = m->own_count - p->fused;
  bool threads = w->g->row_count == 0 && !has_fold(w);
  w->chunk = (tvms_line_chunk){.tile = 1};
  uint32_t tiled = p->tile > 1 ? around - 1 : around;
  tvms_node *vars[TVMS_MOST_STAGE_AXES];
  for (uint32_t i = 0; i < tiled; i++) {
    char name[16];
    snprintf(name, sizeof name, "i%u", i);
    vars[i] = tvms_cpu_variable(w->unit, name, w->like);
    w->own_now[i] = in_order(w, m->stage.axes[m->own[i]].extent, vars[i]);
  }
  uint8_t outer = threads && is_large(w) ? TVMS_FOR_PARALLEL : TVMS_FOR_SERIAL;
  bool tiles = tiled < around && !p->turned;
  tvms_node *made = tiles ? write_tiles(w, tiled ? TVMS_FOR_SERIAL : outer)
                          : write_line(w, threads && tiled == 0);
  for (uint32_t i = tiled; i-- > 0;)
    made = tvms_cpu_loop(w->unit, vars[i], m->stage.axes[m->own[i]].extent,
                         i ? TVMS_FOR_SERIAL : outer, made);
  made->span = m->stage.nest->span;
  return made;
}

// The loops with products by the inverse of what a member divides by, if that is a normal number, and
// with quotients else.
static tvms_node *write_divided_loops(tvms_line_writer *w) {
  tvms_node *divisor = pass_plan(w)->divisor;
  if (!divisor) return write_loops(w);
  tvms_node *one = number(w, 1), *zero = number(w, 0);
  tvms_node *buffer =
      tvms_cpu_buffer(w->unit, "inverse", divisor->dtype, "local", &one, 1);
  tvms_node *inverse = tvms_line_lane(w, buffer, zero);
  tvms_line_set_axes(w);
  tvms_node *by = tvms_line_as_now(w, divisor);
  tvms_node *unity = tvms_build_float(w->unit, divisor->dtype, 1, TVMS_NO_SPAN);
  tvms_node_vec stmts = {0};
  push(w, &stmts,
       tvms_line_store_lane(
           w, buffer, zero,
           tvms_binary_new(w->unit, TVMS_NODE_DIV, unity, by, TVMS_NO_SPAN)));
  tvms_node *normal = tvms_line_is_normal(w->unit, inverse);
  w->inverse = inverse;
  tvms_node *multiplied = write_loops(w);
  w->inverse = NULL;
  tvms_node *divided = write_loops(w);
  push(w, &stmts, tvms_cpu_choice(w->unit, normal, multiplied, divided));
  return tvms_cpu_block(w->unit, "divided", (tvms_list){&buffer, 1},
                        tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN));
}

// A pass whose members have one element in each row.
static void write_elements(tvms_line_writer *w, tvms_node_vec *stmts) {
  tvms_node_vec own = {0};
  tvms_node *stream = tvms_line_open_row(w);
  w->chunk = (tvms_line_chunk){.tile = 1, .vectors = 1, .lanes = 1};
  for (uint32_t i = 0; i < w->g->count; i++) {
    if (w->g->members[i].pass != w->pass) continue;
    tvms_line_set_axes(w);
    tvms_node *value = tvms_line_as_now(w, w->g->members[i].stage.store->value);
    push(w, &own, tvms_line_store(w, i, value));
  }
  tvms_node *body = tvms_stmt_seq(w->unit, &own, TVMS_NO_SPAN);
  push(w, stmts, tvms_line_close_row(w, stream, body));
}

static void end_folds(tvms_line_writer *w, tvms_node_vec *stmts) {
  tvms_node_vec own = {0};
  tvms_node *stream = tvms_line_open_row(w);
  for (uint32_t i = 0; i < w->g->count; i++) {
    if (w->g->members[i].pass == w->pass && w->g->members[i].kind == TVMS_LINE_FOLD)
      tvms_line_end_fold(w, i, &own);
  }
  if (!own.len) return;
  tvms_node *body = tvms_stmt_seq(w->unit, &own, TVMS_NO_SPAN);
  push(w, stmts, tvms_line_close_row(w, stream, body));
}

static void write_pass(tvms_line_writer *w, tvms_node_vec *stmts) {
  written own = {0};
  if (tvms_line_first(w)->own_count == 0) {
    write_elements(w, stmts);
    return;
  }
  for (uint32_t i = 0; i < w->g->count; i++) {
    if (w->g->members[i].pass == w->pass && w->g->members[i].kind == TVMS_LINE_FOLD)
      tvms_line_begin_fold(w, i, &own.stmts, &own.allocated);
  }
  push(w, &own.stmts, write_divided_loops(w));
  end_folds(w, &own.stmts);
  tvms_node *body = tvms_stmt_seq(w->unit, &own.stmts, TVMS_NO_SPAN);
  if (own.allocated.len)
    body = tvms_cpu_block(w->unit, "fold",
                          (tvms_list){own.allocated.items, own.allocated.len}, body);
  tvms_vec_fini(&w->unit->context->memory, &own.allocated);
  push(w, stmts, body);
}

// ---- Rows ----

// A buffer for the elements of one row in the place of a member's result.
static tvms_node *row_buffer(tvms_line_writer *w, uint32_t at) {
  const tvms_line_member *m = &w->g->members[at];
  const tvms_buffer *old = tvms_as_buffer(m->stage.store->buffer);
  tvms_node *shape[TVMS_MOST_STAGE_AXES];
  uint32_t dims = 0;
  if (w->plan->turns > 1) shape[dims++] = number(w, w->plan->turns);
  for (uint32_t d = 0; d < m->stage.store->indices.len; d++) {
    uint32_t axis = tvms_stage_axis_of(&m->stage, m->stage.store->indices.items[d]);
    bool row = axis == NONE;
    for (uint32_t r = 0; r < w->g->row_count; r++)
      row |= m->rows[r] == axis;
    if (!row && dims < TVMS_MOST_STAGE_AXES) shape[dims++] = old->shape.items[d];
  }
  if (dims == 0) shape[dims++] = number(w, w->streams);
  const char *name = tvms_symbol_text(w->unit->context, old->name);
  return tvms_cpu_buffer(w->unit, name, old->element, "local", shape, dims);
}

static void forget(tvms_line_writer *w, tvms_node_map *gone, uint32_t at) {
  tvms_node *buffer = w->g->members[at].stage.store->buffer;
  tvms_node_map_put(gone, buffer, buffer);
}

// A pass of all the rows that take turns from `turns` times `step` on.
static void write_turns(tvms_line_writer *w, tvms_node *step, tvms_node_vec *stmts) {
  tvms_node *turns = number(w, w->plan->turns);
  uint32_t last = w->g->row_count - 1;
  w->turn = tvms_cpu_variable(w->unit, "r", w->like);
  tvms_node *begin = build(w, TVMS_NODE_MUL, step, turns);
  w->row_now[last] =
      in_order(w, w->g->rows[last], build(w, TVMS_NODE_ADD, begin, w->turn));
  tvms_node_vec own = {0};
  write_pass(w, &own);
  tvms_node *body = tvms_stmt_seq(w->unit, &own, TVMS_NO_SPAN);
  push(w, stmts, tvms_cpu_loop(w->unit, w->turn, turns, TVMS_FOR_SERIAL, body));
  w->turn = NULL;
}

// All passes of a row; `step`: of the loop of the last axis of rows, NULL: there is one row.
static tvms_node *write_rows(tvms_line_writer *w, tvms_node *TVMS_NULLABLE step,
                             tvms_node_map *gone) {
  tvms_node_vec stmts = {0}, allocated = {0};
  tvms_memory *memory = &w->unit->context->memory;
  for (uint32_t i = 0; i < w->g->count; i++) {
    if (w->plan->places[i].how != TVMS_LINE_KEPT) forget(w, gone, i);
    if (w->plan->places[i].how != TVMS_LINE_OF_ROW) continue;
    w->locals[i] = row_buffer(w, i);
    tvms_vec_push(memory, &allocated, w->locals[i]);
  }
  for (w->pass = 0; w->pass < w->g->pass_count; w->pass++) {
    if (step && w->plan->turns > 1)
      write_turns(w, step, &stmts);
    else
      write_pass(w, &stmts);
  }
  tvms_node *body = tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
  if (allocated.len)
    body = tvms_cpu_block(w->unit, "row", (tvms_list){allocated.items, allocated.len},
                          body);
  tvms_vec_fini(memory, &allocated);
  return body;
}

// A node of the dtype of axes; the first members may be single elements.
static tvms_node *like_axes(tvms_unit *unit, const tvms_line_group *group) {
  for (uint32_t i = 0; i < group->count; i++) {
    if (group->members[i].stage.count) return group->members[i].stage.axes[0].var;
  }
  return tvms_build_literal_int(unit, 0, TVMS_NO_SPAN);
}

// The rows that a nest is for, of the last axis of rows: `count` steps from `begin` on; NULL: all from the first one on.
typedef struct {
  tvms_node *TVMS_NULLABLE begin, *TVMS_NULLABLE count;
} row_range;

static tvms_node *write_nest(tvms_unit *unit, const tvms_line_group *group,
                             const tvms_line_plan *plan, row_range range,
                             tvms_node *TVMS_NULLABLE turned, tvms_node_map *gone) {
  tvms_line_writer w = {.unit = unit,
                        .like = like_axes(unit, group),
                        .g = group,
                        .plan = plan,
                        .streams = plan->streams,
                        .turned = turned};
  tvms_node_map_init(&w.now, &unit->context->memory);
  tvms_node *vars[TVMS_MOST_STAGE_AXES] = {0};
  uint32_t rows = group->row_count;
  for (uint32_t r = 0; r < rows; r++) {
    char name[16];
    snprintf(name, sizeof name, "row%u", r);
    vars[r] = tvms_cpu_variable(unit, rows > 1 ? name : "row", w.like);
    tvms_node *at = vars[r];
    if (r + 1 == rows && range.begin) at = build(&w, TVMS_NODE_ADD, at, range.begin);
    w.row_now[r] = in_order(&w, group->rows[r], at);
  }
  if (w.streams > 1) {
    w.first_row = vars[0];
    w.apart = tvms_cpu_number(range.count);
  }
  tvms_node *made = write_rows(&w, rows ? vars[rows - 1] : NULL, gone);
  for (uint32_t r = rows; r-- > 0;) {
    uint8_t kind = r == 0 && is_large(&w) ? TVMS_FOR_PARALLEL : TVMS_FOR_SERIAL;
    tvms_node *steps = r + 1 == rows && range.count ? range.count : group->rows[r];
    made = tvms_cpu_loop(unit, vars[r], steps, kind, made);
    made->span = group->members[0].stage.nest->span;
  }
  tvms_node_map_fini(&w.now);
  return made;
}

// Several rows at a time, and those that are left over one by one.
static tvms_node *write_together(tvms_unit *unit, const tvms_line_group *group,
                                 const tvms_line_plan *plan,
                                 tvms_node *TVMS_NULLABLE turned, tvms_node_map *gone) {
  tvms_node *rows = group->rows[group->row_count - 1];
  tvms_node *together =
      tvms_int_imm_new(unit, rows->dtype, plan->streams * plan->turns, TVMS_NO_SPAN);
  tvms_node *count =
      tvms_build_binary(unit, TVMS_NODE_FLOOR_DIV, rows, together, TVMS_NO_SPAN);
  tvms_node *made =
      write_nest(unit, group, plan, (row_range){NULL, count}, turned, gone);
  tvms_node *rest =
      tvms_build_binary(unit, TVMS_NODE_FLOOR_MOD, rows, together, TVMS_NO_SPAN);
  if (tvms_node_is_int(rest, 0)) return made;
  tvms_line_plan single = *plan;
  single.streams = single.turns = 1;
  tvms_node *begin = tvms_build_binary(unit, TVMS_NODE_SUB, rows, rest, TVMS_NO_SPAN);
  return tvms_stmt_pair(
      unit, made,
      write_nest(unit, group, &single, (row_range){begin, rest}, turned, gone));
}

tvms_node *tvms_line_nest(tvms_unit *unit, const tvms_line_group *group,
                          const tvms_line_plan *plan, tvms_node_map *gone) {
  if (plan->streams * plan->turns == 1)
    return write_nest(unit, group, plan, (row_range){0}, NULL, gone);
  if (!plan->words) return write_together(unit, group, plan, NULL, gone);
  tvms_node *turned = tvms_line_words_buffer(unit, group, plan);
  tvms_node *first = tvms_line_turn_for_words(unit, group, plan, turned);
  tvms_node *rows = write_together(unit, group, plan, turned, gone);
  return tvms_cpu_block(unit, "words", (tvms_list){&turned, 1},
                        tvms_stmt_pair(unit, first, rows));
}
