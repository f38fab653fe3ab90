// Panels of lines: each is copied in whole vectors, once for all steps of a window that share it.
#include "passes/tir/cpu/contraction_lines.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/stmt.h"
#include "passes/tir/cpu/nodes.h"

typedef tvms_contraction_writer writer;

// Vectors of lines that are copied.
typedef struct {
  tvms_node *line;  // number of the line in the strip
  tvms_node *at;    // column of the line
  int64_t lanes;
  int64_t phase;  // of lines that are shared
} run;

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

static tvms_node *line_extent(const writer *w) {
  const tvms_contraction *c = w->c;
  return c->stage.axes[c->columns[c->column_count - 1]].extent;
}

static int64_t line_length(const writer *w) {
  return tvms_cpu_number(line_extent(w));
}

// ---- Lines that are shared ----

// Columns of the panel from one phase to the next: each begins with a vector.
static int64_t phase_columns(const writer *w) {
  if (w->tile->room) return w->tile->room;
  int64_t length = line_length(w), lines = w->strip->columns / length;
  int64_t columns = tvms_cpu_shared_lines_of_phase(&w->tile->shared, lines, 0) * length;
  int64_t lanes = w->tile->lanes;
  return (columns + lanes - 1) / lanes * lanes;
}

int64_t tvms_contraction_shared_columns(const writer *w) {
  return tvms_cpu_shared_lines_phases(&w->tile->shared) * phase_columns(w);
}

tvms_node *tvms_contraction_shared_place(writer *w) {
  const tvms_shared_lines *shared = &w->tile->shared;
  tvms_node *step = w->c->stage.axes[shared->axis].var;
  tvms_node *line = build(w, TVMS_NODE_MUL, step, number(w, step, shared->apart));
  tvms_node *stride = number(w, step, shared->stride);
  tvms_node *place = build(w, TVMS_NODE_MUL,
                           build(w, TVMS_NODE_FLOOR_DIV, line, stride), line_extent(w));
  tvms_node *phase =
      build(w, TVMS_NODE_MUL, build(w, TVMS_NODE_FLOOR_MOD, line, stride),
            number(w, step, phase_columns(w)));
  return build(w, TVMS_NODE_ADD, build(w, TVMS_NODE_ADD, phase, place), w->place);
}

// What is copied to lines of a phase: the first step of the window, as many lines further on.
static tvms_node *moving_now(writer *w, int64_t phase) {
  if (!w->tile->shares_lines) return tvms_contraction_as_now(w, w->c->moving);
  const tvms_shared_lines *shared = &w->tile->shared;
  tvms_node *step = w->c->stage.axes[shared->axis].var;
  tvms_node_map_put(&w->now, step, number(w, step, 0));
  const tvms_buffer_load *load = tvms_as_buffer_load(w->c->moving);
  tvms_list at = tvms_contraction_all_as_now(w, load->indices);
  tvms_node **index = &at.items[shared->dimension];
  *index = build(w, TVMS_NODE_ADD, *index, number(w, *index, phase));
  *index = tvms_arith_simplify(w->unit, *index);
  return tvms_buffer_load_new(w->unit, load->buffer, at.items, at.len, NULL,
                              TVMS_NO_SPAN);
}

// ---- Copies ----

// Says what the axes of the columns are at column `at` of the line at hand. The line is given as it is: a
// vector must not seem to cross its end.
static void set_columns(writer *w, const run *r, tvms_node *at) {
  const tvms_contraction *c = w->c;
  tvms_node *begun = w->strip_line;
  if (!begun) begun = build(w, TVMS_NODE_FLOOR_DIV, w->strip_begin, line_extent(w));
  begun = tvms_arith_simplify(w->unit, begun);
  tvms_node *flat = build(w, TVMS_NODE_ADD, begun, r->line);
  uint32_t count = c->column_count;
  for (uint32_t n = count - 1; n-- > 0;) {
    const tvms_stage_axis *axis = &c->stage.axes[c->columns[n]];
    tvms_node *digit = n > 0 ? build(w, TVMS_NODE_FLOOR_MOD, flat, axis->extent) : flat;
    if (n > 0) flat = build(w, TVMS_NODE_FLOOR_DIV, flat, axis->extent);
    tvms_node_map_put(&w->now, axis->var, digit);
  }
  tvms_node_map_put(&w->now, c->stage.axes[c->columns[count - 1]].var, at);
}

static tvms_node *copy_run(writer *w, const run *r) {
  const tvms_node *like = tvms_contraction_column_var(w);
  tvms_node *lane = r->lanes > 1 ? tvms_cpu_variable(w->unit, "lane", like) : NULL;
  tvms_node *at = lane ? build(w, TVMS_NODE_ADD, r->at, lane) : r->at;
  tvms_node *place = build(w, TVMS_NODE_MUL, r->line, line_extent(w));
  if (r->phase)
    place =
        build(w, TVMS_NODE_ADD, place, number(w, like, r->phase * phase_columns(w)));
  place = build(w, TVMS_NODE_ADD, place, at);
  set_columns(w, r, at);
  tvms_node *value = moving_now(w, r->phase);
  const tvms_buffer_load *panel = tvms_as_buffer_load(w->panel);
  tvms_list to = tvms_list_copy(w->unit, panel->indices.items, panel->indices.len - 1);
  to = tvms_contraction_all_as_now(w, to);
  tvms_node **items = tvms_arena_array(&w->unit->arena, tvms_node *, to.len + 1);
  for (uint32_t i = 0; i < to.len; i++)
    items[i] = to.items[i];
  items[to.len] = place;
  tvms_node *stored =
      tvms_cpu_store(w->unit, panel->buffer, (tvms_list){items, to.len + 1}, value);
  if (!lane) return stored;
  return tvms_cpu_loop(w->unit, lane, number(w, like, r->lanes), TVMS_FOR_VECTORIZED,
                       stored);
}

// Copies a line whose length is known.
static tvms_node *copy_known_line(writer *w, run *r) {
  const tvms_node *like = tvms_contraction_column_var(w);
  int64_t length = line_length(w), at = 0;
  while (r->lanes > length)
    r->lanes /= 2;
  tvms_node_vec stmts = {0};
  for (; at + r->lanes <= length; at += r->lanes) {
    r->at = number(w, like, at);
    tvms_stmt_push(w->unit, &stmts, copy_run(w, r));
  }
  // What is less than a vector is one that is half as long, or so, and may begin further left.
  int64_t rest = length - at;
  while (rest && r->lanes / 2 >= rest)
    r->lanes /= 2;
  r->at = number(w, like, length - r->lanes);
  if (rest) tvms_stmt_push(w->unit, &stmts, copy_run(w, r));
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// Copies a line that is not known to be as long as a vector: by the most lanes that fit, the last ones of which may have
// been copied.
static tvms_node *copy_unknown_line(writer *w, run *r) {
  enum { LEAST = 4 };
  tvms_node *length = line_extent(w), *lanes = number(w, length, r->lanes);
  tvms_node *j = tvms_cpu_variable(w->unit, "j", length);
  tvms_node *up = build(w, TVMS_NODE_ADD, length, number(w, length, r->lanes - 1));
  r->at = build(w, TVMS_NODE_MUL, j, lanes);
  if (r->lanes > 1)
    r->at = build(w, TVMS_NODE_MIN, r->at, build(w, TVMS_NODE_SUB, length, lanes));
  tvms_node *made = tvms_cpu_loop(w->unit, j, build(w, TVMS_NODE_FLOOR_DIV, up, lanes),
                                  TVMS_FOR_SERIAL, copy_run(w, r));
  if (r->lanes == 1) return made;
  r->lanes = r->lanes / 2 < LEAST ? 1 : r->lanes / 2;
  return tvms_cpu_choice(w->unit, build(w, TVMS_NODE_GE, length, lanes), made,
                         copy_unknown_line(w, r));
}

// Copies `lines` lines, those of one phase.
static tvms_node *copy_lines(writer *w, tvms_node *lines, int64_t phase) {
  const tvms_node *like = tvms_contraction_column_var(w);
  bool one = tvms_node_is_int(lines, 1);
  run r = {.line = one ? number(w, like, 0) : tvms_cpu_variable(w->unit, "y", like),
           .lanes = w->tile->lanes,
           .phase = phase};
  bool known = line_length(w) >= 0;
  tvms_node *body = known ? copy_known_line(w, &r) : copy_unknown_line(w, &r);
  return one ? body : tvms_cpu_loop(w->unit, r.line, lines, TVMS_FOR_SERIAL, body);
}

// Lines of a phase, or all where none are shared.
static tvms_node *lines_of_phase(writer *w, int64_t phase) {
  const tvms_shared_lines *shared = &w->tile->shared;
  const tvms_node *like = tvms_contraction_column_var(w);
  bool shares = w->tile->shares_lines;
  if (!w->tile->room) {
    int64_t lines = w->strip->columns / line_length(w);
    return number(
        w, like, shares ? tvms_cpu_shared_lines_of_phase(shared, lines, phase) : lines);
  }
  return build(w, TVMS_NODE_ADD, w->strip_lines,
               number(w, like, tvms_tile_lines_beyond(w->tile, phase)));
}

tvms_node *tvms_contraction_fill_lines(writer *w) {
  tvms_node *vars[TVMS_MOST_STAGE_AXES] = {0};
  tvms_contraction_open_sums(w, vars);
  if (!w->tile->shares_lines)
    return tvms_contraction_close_sums(w, copy_lines(w, lines_of_phase(w, 0), 0), vars);
  const tvms_shared_lines *shared = &w->tile->shared;
  vars[shared->axis] = NULL;
  tvms_node_vec stmts = {0};
  for (int64_t phase = 0; phase < tvms_cpu_shared_lines_phases(shared); phase++)
    tvms_stmt_push(w->unit, &stmts, copy_lines(w, lines_of_phase(w, phase), phase));
  return tvms_contraction_close_sums(w, tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN),
                                     vars);
}

tvms_node *tvms_contraction_most_lines(writer *w) {
  const tvms_tile *tile = w->tile;
  tvms_node *length = line_extent(w);
  int64_t beyond = tvms_tile_lines_beyond(tile, 0);
  tvms_node *most =
      build(w, TVMS_NODE_FLOOR_DIV, number(w, length, tile->room), length);
  if (!beyond) return most;
  most = build(w, TVMS_NODE_SUB, most, number(w, length, beyond));
  tvms_node *columns =
      build(w, TVMS_NODE_FLOOR_DIV, number(w, length, tile->strip), length);
  return build(w, TVMS_NODE_MIN, most, columns);
}
