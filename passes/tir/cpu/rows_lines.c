// Writing the lines of a pass: whole vectors, what is left over, tiles of several lines.
#include "passes/tir/cpu/rows_lines.h"

#include "ir/walk.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/rows_index.h"
#include "passes/tir/cpu/segments.h"

#define number tvms_line_number
#define build  tvms_line_build

static const tvms_line_pass_plan *pass_plan(const tvms_line_writer *w) {
  return &w->plan->passes[w->pass];
}

bool tvms_line_is_large(const tvms_line_writer *w) {
  return tvms_line_is_worth_threads(w->plan->work, w->plan->joins);
}

static void push(tvms_line_writer *w, tvms_node_vec *stmts, tvms_node *stmt) {
  tvms_stmt_push(w->unit, stmts, stmt);
}

// ---- Lines ----

bool tvms_line_has_fold(const tvms_line_writer *w) {
  for (uint32_t i = 0; i < w->g->count; i++) {
    if (w->g->members[i].pass == w->pass && w->g->members[i].kind == TVMS_LINE_FOLD)
      return true;
  }
  return false;
}

static void set_chunk(tvms_line_writer *w, tvms_node *begin, int64_t vectors,
                      int64_t lanes, tvms_node *TVMS_NULLABLE fresh) {
  bool wide = pass_plan(w)->wide;
  w->chunk.begin = begin;
  w->chunk.vectors = wide ? 1 : vectors;
  w->chunk.lanes = wide ? vectors * lanes : lanes;
  w->chunk.fresh = fresh;
}

// Fetches what the next row loads at the places of the chunk at hand; NULL: nothing.
static tvms_node *TVMS_NULLABLE fetch_next_row(tvms_line_writer *w) {
  enum { LINE = 64 };  // bytes
  const tvms_line_pass_plan *p = pass_plan(w);
  if (!p->fetched) return NULL;
  int64_t step = LINE * 8 / p->fetched->head.dtype.bits;
  int64_t count = w->chunk.vectors * w->chunk.lanes / step;
  if (count == 0) return NULL;
  tvms_node *line = tvms_cpu_variable(w->unit, "f", w->like);
  tvms_node *at = build(w, TVMS_NODE_MUL, line, number(w, step));
  w->own_now[0] = build(w, TVMS_NODE_ADD, w->chunk.begin, at);
  tvms_line_set_axes(w);
  tvms_node *load = tvms_line_as_now(w, (tvms_node *)&p->fetched->head);
  return tvms_cpu_loop(w->unit, line, number(w, count), TVMS_FOR_UNROLLED,
                       tvms_cpu_prefetch(w->unit, load, p->fetched_bytes));
}

// A chunk at its place in the line; squares that turn go along the axis around from there.
static tvms_node *write_chunk(tvms_line_writer *w) {
  if (pass_plan(w)->turned) return tvms_line_write_tiles(w, TVMS_FOR_SERIAL);
  tvms_node *made = tvms_line_write_chunk(w), *fetches = fetch_next_row(w);
  return fetches ? tvms_stmt_pair(w->unit, made, fetches) : made;
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

static tvms_node *plus(const tvms_line_writer *w, tvms_node *place, int64_t steps) {
  bool less = steps < 0;
  return build(w, less ? TVMS_NODE_SUB : TVMS_NODE_ADD, place,
               number(w, less ? -steps : steps));
}

// Less than a vector of the pass. Machines have vectors of powers of two: two of these that overlap take
// fewer instructions than the pieces of one that is odd.
static void write_rest(tvms_line_writer *w, tvms_node *first, int64_t rest,
                       uint8_t kind, tvms_node_vec *stmts) {
  enum { FEWEST = 4 };
  int64_t lanes = 1;
  while (2 * lanes <= rest)
    lanes *= 2;
  bool two = lanes >= FEWEST && lanes < rest && pass_plan(w)->overlaps
             && !tvms_line_has_fold(w);
  write_chunks(w, first, number(w, 1), 1, two ? lanes : rest, "j", kind, stmts);
  if (!two) return;
  set_chunk(w, plus(w, first, rest - lanes), 1, lanes, number(w, 2 * lanes - rest));
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
static void write_known_segment(tvms_line_writer *w, tvms_node *first, int64_t length,
                                uint8_t kind, tvms_node_vec *stmts) {
  const tvms_line_pass_plan *p = pass_plan(w);
  int64_t lanes = p->lanes, step = lanes * p->vectors;
  int64_t full = length / step, done = full * step;
  write_chunks(w, first, number(w, full), p->vectors, lanes, "j", kind, stmts);
  int64_t more = (length - done) / lanes, rest = (length - done) % lanes;
  if (more)
    write_chunks(w, plus(w, first, done), number(w, 1), more, lanes, "j", kind, stmts);
  if (!rest) return;
  if (p->overlaps && length >= lanes) {
    lanes = last_lanes(w, rest);
    set_chunk(w, plus(w, first, length - lanes), 1, lanes, number(w, lanes - rest));
    push(w, stmts, write_chunk(w));
    return;
  }
  write_rest(w, plus(w, first, length - rest), rest, kind, stmts);
}

// Are there several lines?
static bool has_lines(const tvms_line_writer *w) {
  return w->g->row_count > 0 || tvms_line_first(w)->own_count > pass_plan(w)->fused;
}

// A part of a line.
typedef struct {
  tvms_node *first, *length;
} segment;

// A vector of `lanes` at the end of a part, or at its begin.
static tvms_node *write_vector(tvms_line_writer *w, const segment *s, int64_t lanes,
                               tvms_node *TVMS_NULLABLE rest) {
  tvms_node *begin = s->first, *fresh = NULL;
  if (rest) {
    tvms_node *count = number(w, lanes);
    begin = build(w, TVMS_NODE_ADD, begin, build(w, TVMS_NODE_SUB, s->length, count));
    // What is new of it is the rest, or what that is longer by.
    fresh = build(w, TVMS_NODE_FLOOR_MOD,
                  build(w, TVMS_NODE_SUB, number(w, 2 * lanes), rest), count);
  }
  set_chunk(w, begin, 1, lanes, fresh);
  return write_chunk(w);
}

// A rest of less than `2 * lanes` elements, of a part that has as many if it is longer than that many: a vector at the
// end, and one at the begin if it takes two; fewer lanes in a part with less than one vector. A single line is not worth
// the code: `other`.
static tvms_node *write_short_rest(tvms_line_writer *w, const segment *s, int64_t lanes,
                                   tvms_node *rest, tvms_node *other) {
  enum { FEWEST = 4 };
  if (lanes < FEWEST || !has_lines(w)) return other;
  tvms_node *count = number(w, lanes);
  tvms_node *first = tvms_cpu_choice(w->unit, build(w, TVMS_NODE_GT, rest, count),
                                     write_vector(w, s, lanes, NULL), NULL);
  tvms_node *vectors = tvms_stmt_pair(w->unit, first, write_vector(w, s, lanes, rest));
  return tvms_cpu_choice(w->unit, build(w, TVMS_NODE_GE, s->length, count), vectors,
                         write_short_rest(w, s, lanes / 2, rest, other));
}

// What is left over of a part whose length is not known: a vector that begins further left, if
// it has as many elements, else less than one.
static tvms_node *write_unknown_rest(tvms_line_writer *w, const segment *s) {
  const tvms_line_pass_plan *p = pass_plan(w);
  tvms_node *lanes = number(w, p->lanes);
  tvms_node *rest = build(w, TVMS_NODE_FLOOR_MOD, s->length, lanes);
  tvms_node_vec single = {0};
  tvms_node *done = build(w, TVMS_NODE_SUB, s->length, rest);
  write_chunks(w, build(w, TVMS_NODE_ADD, s->first, done), rest, 1, 1, "j",
               TVMS_FOR_SERIAL, &single);
  tvms_node *one_by_one = tvms_stmt_seq(w->unit, &single, TVMS_NO_SPAN);
  // Single steps in the place of tiles are all that there is: they are not worth more code.
  bool is_tiled = p->tile == 1 || p->turned || w->chunk.tile > 1;
  if (!p->overlaps || !is_tiled) return one_by_one;
  tvms_node *fits = build(w, TVMS_NODE_GE, s->length, lanes);
  tvms_node *shorter = write_short_rest(w, s, p->lanes / 2, rest, one_by_one);
  if (shorter != one_by_one)
    fits = build(w, TVMS_NODE_AND,
                 build(w, TVMS_NODE_GT, rest, number(w, p->lanes / 2)), fits);
  tvms_node *chosen =
      tvms_cpu_choice(w->unit, fits, write_vector(w, s, p->lanes, rest), shorter);
  tvms_node *any = build(w, TVMS_NODE_NE, rest, number(w, 0));
  return tvms_cpu_choice(w->unit, any, chosen, NULL);
}

static void write_unknown_segment(tvms_line_writer *w, const segment *s, uint8_t kind,
                                  tvms_node_vec *stmts) {
  const tvms_line_pass_plan *p = pass_plan(w);
  tvms_node *lanes = number(w, p->lanes), *step = number(w, p->lanes * p->vectors);
  tvms_node *full = build(w, TVMS_NODE_FLOOR_DIV, s->length, step);
  write_chunks(w, s->first, full, p->vectors, p->lanes, "j", kind, stmts);
  if (p->vectors > 1) {
    tvms_node *left = build(w, TVMS_NODE_FLOOR_MOD, s->length, step);
    tvms_node *more = build(w, TVMS_NODE_FLOOR_DIV, left, lanes);
    tvms_node *done = build(w, TVMS_NODE_MUL, full, step);
    write_chunks(w, build(w, TVMS_NODE_ADD, s->first, done), more, 1, p->lanes, "j1",
                 TVMS_FOR_SERIAL, stmts);
  }
  if (p->lanes > 1) push(w, stmts, write_unknown_rest(w, s));
}

static void write_segment(tvms_line_writer *w, const segment *s, uint8_t kind,
                          tvms_node_vec *stmts) {
  int64_t known = tvms_cpu_number(s->length);
  if (known >= 0)
    write_known_segment(w, s->first, known, kind, stmts);
  else
    write_unknown_segment(w, s, kind, stmts);
}

static tvms_line_cuts no_cuts(const tvms_line_writer *w, uint32_t own) {
  const tvms_line_member *first = tvms_line_first(w);
  return tvms_line_cuts_new(w->unit, first->stage.axes[first->own[own]].extent);
}

// Where conditions of T.if_then_else change along axis `own` of the pass.
static void find_cuts(const tvms_line_writer *w, uint32_t own, tvms_line_cuts *cuts) {
  for (uint32_t i = 0; i < w->g->count; i++) {
    const tvms_line_member *m = &w->g->members[i];
    if (m->pass == w->pass)
      tvms_line_cuts_find(cuts, m->term ? m->term : m->stage.store->value,
                          m->stage.axes[m->own[own]].var);
  }
}

// The same along the outermost axis of the line, with padding that is left out. It comes first, as there may be no room for
// all: its condition is asked once for each of these pieces, others are asked anew wherever they stand.
static tvms_line_cuts cuts_of(const tvms_line_writer *w) {
  const tvms_line_pass_plan *p = pass_plan(w);
  uint32_t own = tvms_line_first(w)->own_count - p->fused;
  tvms_line_cuts cuts = no_cuts(w, own);
  if (p->guard) tvms_line_padding_cuts(&w->g->members[p->guarded], p->guard, &cuts);
  find_cuts(w, own, &cuts);
  return cuts;
}

typedef struct {
  tvms_analyzer *analyzer;
  tvms_list allocated;
} sizes;

// What a caller gives has no negative size; what is allocated may be of any that a parameter says.
static tvms_walk_step mark_sizes(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const sizes *s = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_node *buffer = tvms_as_buffer_load(node)->buffer;
  for (uint32_t i = 0; i < s->allocated.len; i++)
    if (s->allocated.items[i] == buffer) return TVMS_WALK_ON;
  tvms_list shape = tvms_as_buffer(buffer)->shape;
  for (uint32_t i = 0; i < shape.len; i++)
    if (shape.items[i]->kind == TVMS_NODE_VAR)
      tvms_analyzer_mark_nonnegative(s->analyzer, shape.items[i]);
  return TVMS_WALK_ON;
}

// Does a line have as many steps as its cuts need?
static bool is_long_enough(const tvms_line_writer *w, const tvms_line_cuts *cuts) {
  if (tvms_cpu_number(cuts->length) >= 0) return true;
  tvms_analyzer *analyzer = tvms_analyzer_new(w->unit);
  sizes s = {analyzer, w->plan->allocated};
  tvms_visitor visitor = {.self = &s, .enter = mark_sizes};
  for (uint32_t i = 0; i < w->g->count; i++)
    tvms_walk(&w->unit->context->memory, w->g->members[i].stage.store->value, &visitor);
  bool proved =
      tvms_analyzer_can_prove_ge(analyzer, cuts->length, tvms_line_cuts_least(cuts));
  tvms_analyzer_free(analyzer);
  return proved;
}

// The pieces of a line; `inner`: elements for each step of its outermost axis.
static void write_pieces(tvms_line_writer *w, const tvms_line_cuts *cuts,
                         tvms_node *inner, uint8_t kind, tvms_node_vec *stmts) {
  if (tvms_cpu_number(cuts->length) < 0)
    w->segment_inside = tvms_line_cuts_segment(cuts, cuts->begins);
  for (uint32_t i = 0; i <= cuts->begins + cuts->ends; i++) {
    w->segment = tvms_line_cuts_segment(cuts, i);
    tvms_node *steps = build(w, TVMS_NODE_SUB, w->segment.end, w->segment.begin);
    segment s = {build(w, TVMS_NODE_MUL, w->segment.begin, inner),
                 build(w, TVMS_NODE_MUL, tvms_arith_simplify(w->unit, steps), inner)};
    write_segment(w, &s, kind, stmts);
  }
  w->segment = w->segment_inside = (tvms_line_range){0};
}

// A line in pieces where conditions change; one of unknown length that is too short for them element by element.
static void write_cut_line(tvms_line_writer *w, const tvms_line_cuts *cuts,
                           const segment *line, tvms_node *inner, uint8_t kind,
                           tvms_node_vec *stmts) {
  if (is_long_enough(w, cuts)) {
    write_pieces(w, cuts, inner, kind, stmts);
    return;
  }
  tvms_node_vec pieces = {0}, single = {0};
  write_pieces(w, cuts, inner, kind, &pieces);
  write_chunks(w, line->first, line->length, 1, 1, "j", TVMS_FOR_SERIAL, &single);
  tvms_node *enough =
      build(w, TVMS_NODE_GE, cuts->length, number(w, tvms_line_cuts_least(cuts)));
  push(w, stmts,
       tvms_cpu_choice(w->unit, enough, tvms_stmt_seq(w->unit, &pieces, TVMS_NO_SPAN),
                       tvms_stmt_seq(w->unit, &single, TVMS_NO_SPAN)));
}

tvms_node *tvms_line_write(tvms_line_writer *w, bool threads) {
  const tvms_line_member *m = tvms_line_first(w);
  const tvms_line_pass_plan *p = pass_plan(w);
  tvms_node *inner = number(w, 1);
  for (uint32_t i = 1; i < p->fused; i++)
    inner = build(w, TVMS_NODE_MUL,
                  m->stage.axes[m->own[m->own_count - p->fused + i]].extent, inner);
  segment line = {number(w, 0),
                  build(w, TVMS_NODE_MUL,
                        m->stage.axes[m->own[m->own_count - p->fused]].extent, inner)};
  uint8_t kind = threads && tvms_line_is_large(w) ? TVMS_FOR_PARALLEL : TVMS_FOR_SERIAL;
  tvms_node_vec stmts = {0};
  bool known = tvms_cpu_number(line.length) >= 0;
  if (p->active) {
    set_chunk(w, number(w, 0), 1, p->lanes, NULL);
    return write_chunk(w);
  }
  if (known && kind == TVMS_FOR_SERIAL && tvms_line_follows_formula(w))
    kind = TVMS_FOR_UNROLLED;
  tvms_line_cuts cuts = cuts_of(w);
  if (cuts.begins + cuts.ends)
    write_cut_line(w, &cuts, &line, inner, kind, &stmts);
  else
    write_segment(w, &line, kind, &stmts);
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// ---- Tiles ----

static tvms_node *write_tile(tvms_line_writer *w, int64_t tile, tvms_node *begin) {
  w->chunk.tile = tile;
  w->chunk.tile_begin = begin;
  return pass_plan(w)->turned ? tvms_line_write_chunk(w) : tvms_line_write(w, false);
}

// A tile at a place that is known, of steps of the axis around the line.
static tvms_node *write_tile_from(tvms_line_writer *w, int64_t tile, tvms_node *begin) {
  w->tile = (tvms_line_range){begin, plus(w, begin, tile)};
  tvms_node *made = write_tile(w, tile, begin);
  w->tile = (tvms_line_range){0};
  return made;
}

static tvms_node *write_tile_at(tvms_line_writer *w, int64_t tile, int64_t begin) {
  return write_tile_from(w, tile, number(w, begin));
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
  const tvms_stage_axis *around = tvms_line_axis_around(m, p->fused);
  tvms_line_range tile = {number(w, begin), number(w, begin + p->tile)};
  tvms_line_part part = {.around = around, .tile = tile, .masked = p->active > 0};
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
  if (known > 0)
    w->tile =
        (tvms_line_range){number(w, first * tile), number(w, (first + known) * tile)};
  tvms_node *body = write_tile(w, tile, build(w, TVMS_NODE_MUL, at, number(w, tile)));
  w->tile = (tvms_line_range){0};
  push(w, stmts, tvms_cpu_loop(w->unit, var, count, kind, body));
}

// Tiles of an axis whose length is not known, that cover its steps from `from` on up to `short_of` in front of the end;
// the last one begins as much earlier as it takes to end `high` in front of it.
static tvms_node *write_overlapping_tiles(tvms_line_writer *w, int64_t from,
                                          int64_t short_of, int64_t high,
                                          uint8_t kind) {
  int64_t steps = pass_plan(w)->tile;
  tvms_node *extent = tvms_line_around(w)->extent, *tile = number(w, steps);
  tvms_node *count = tvms_arith_simplify(
      w->unit, build(w, TVMS_NODE_FLOOR_DIV,
                     plus(w, extent, steps - 1 - from - short_of), tile));
  tvms_node *var = tvms_cpu_variable(w->unit, "i", w->like);
  tvms_node *begin =
      build(w, TVMS_NODE_MIN, plus(w, build(w, TVMS_NODE_MUL, var, tile), from),
            plus(w, extent, -high - steps));
  if (from) w->tile = (tvms_line_range){number(w, from - high), plus(w, extent, -high)};
  tvms_node *body = write_tile(w, steps, begin);
  w->tile = (tvms_line_range){0};
  return tvms_cpu_loop(w->unit, var, count, kind, body);
}

// The same where only steps at its begin and its end have padding: the first tile and the last one stand alone, if there are
// `least` steps. False: it is not so.
static bool write_tiles_in_border(tvms_line_writer *w, uint8_t kind,
                                  tvms_node_vec *stmts, int64_t *least) {
  const tvms_line_pass_plan *p = pass_plan(w);
  if (!p->guard) return false;
  int64_t low, high, steps = p->tile;
  const tvms_line_member *m = &w->g->members[p->guarded];
  const tvms_stage_axis *around = tvms_line_axis_around(m, p->fused);
  if (!tvms_line_padding_borders(w->unit, m, p->guard, around, &low, &high)
      || (low == 0 && high == 0) || low + high > steps)
    return false;
  tvms_node *extent = tvms_line_around(w)->extent;
  w->tile_inside = (tvms_line_range){number(w, low), plus(w, extent, -high)};
  push(w, stmts, write_tile_at(w, steps, 0));
  tvms_node *inner = write_overlapping_tiles(w, steps, steps, high, kind);
  tvms_node *more = build(w, TVMS_NODE_GT, extent, number(w, 2 * steps));
  push(w, stmts, tvms_cpu_choice(w->unit, more, inner, NULL));
  push(w, stmts, write_tile_from(w, steps, plus(w, extent, -steps)));
  w->tile_inside = (tvms_line_range){0};
  *least = steps + (low > high ? low : high);
  return true;
}

// Tiles of an axis whose length is not known; single steps if it is shorter than one.
static tvms_node *write_unknown_tiles(tvms_line_writer *w, uint8_t kind) {
  tvms_node *extent = tvms_line_around(w)->extent;
  tvms_node_vec tiles = {0};
  int64_t least = pass_plan(w)->tile;
  if (!write_tiles_in_border(w, kind, &tiles, &least))
    push(w, &tiles, write_overlapping_tiles(w, 0, 0, 0, kind));
  tvms_node *step = tvms_cpu_variable(w->unit, "i", w->like);
  tvms_node *single =
      tvms_cpu_loop(w->unit, step, extent, kind, write_tile(w, 1, step));
  return tvms_cpu_choice(w->unit, build(w, TVMS_NODE_GE, extent, number(w, least)),
                         tvms_stmt_seq(w->unit, &tiles, TVMS_NO_SPAN), single);
}

tvms_node *tvms_line_write_tiles(tvms_line_writer *w, uint8_t kind) {
  int64_t tile = pass_plan(w)->tile;
  tvms_node *extent = tvms_line_around(w)->extent;
  tvms_node *count = build(w, TVMS_NODE_FLOOR_DIV, extent, number(w, tile));
  tvms_node_vec stmts = {0};
  int64_t known = tvms_cpu_number(count);
  bool first = known > 1 && is_at_border(w, 0);
  bool last = known > 1 && is_at_border(w, (known - 1) * tile);
  if (first) push(w, &stmts, write_tile_at(w, tile, 0));
  if (first || last) count = number(w, known - first - last);
  bool overlaps = known < 0 && pass_plan(w)->overlaps && !pass_plan(w)->turned;
  if (overlaps)
    push(w, &stmts, write_unknown_tiles(w, kind));
  else
    write_inner_tiles(w, first, count, kind, &stmts);
  if (last) push(w, &stmts, write_tile_at(w, tile, (known - 1) * tile));
  if (tvms_cpu_number(extent) >= 0)
    write_tile_rest(w, extent, &stmts);
  else if (!overlaps)
    write_unknown_tile_rest(w, extent, &stmts);
  w->chunk.tile = 1;
  w->chunk.tile_begin = NULL;
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

static bool has_only_maps(const tvms_line_writer *w) {
  for (uint32_t i = 0; i < w->g->count; i++) {
    const tvms_line_member *m = &w->g->members[i];
    if (m->pass == w->pass && m->kind != TVMS_LINE_MAP) return false;
  }
  return true;
}

tvms_node *tvms_line_write_all(tvms_line_writer *w, uint32_t own, tvms_node *var,
                               uint8_t kind) {
  const tvms_line_member *m = tvms_line_first(w);
  tvms_node *extent = m->stage.axes[m->own[own]].extent;
  tvms_line_cuts cuts = no_cuts(w, own);
  find_cuts(w, own, &cuts);
  bool cut = tvms_cpu_number(m->stage.axes[m->own[own + 1]].extent) < 0
             && kind == TVMS_FOR_SERIAL && !w->plan->last_first && has_only_maps(w)
             && cuts.begins + cuts.ends > 0 && is_long_enough(w, &cuts);
  if (!cut) return tvms_cpu_loop(w->unit, var, extent, kind, tvms_line_write(w, false));
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i <= cuts.begins + cuts.ends; i++) {
    w->lines = tvms_line_cuts_segment(&cuts, i);
    tvms_node *count = tvms_arith_simplify(
        w->unit, build(w, TVMS_NODE_SUB, w->lines.end, w->lines.begin));
    tvms_node *at = i ? tvms_cpu_variable(w->unit, "i", w->like) : var;
    w->own_now[own] = build(w, TVMS_NODE_ADD, w->lines.begin, at);
    if (tvms_node_is_int(count, 1)) w->own_now[own] = w->lines.begin;
    tvms_node *line = tvms_line_write(w, false);
    push(w, &stmts,
         tvms_node_is_int(count, 1) ? line
                                    : tvms_cpu_loop(w->unit, at, count, kind, line));
  }
  w->lines = (tvms_line_range){0};
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}
