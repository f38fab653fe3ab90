// Writing groups of rows: rows, and passes over them.
#include "passes/tir/cpu/rows_nest.h"

#include "ir/nontemporal.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/quotient.h"
#include "passes/tir/cpu/rows_element.h"
#include "passes/tir/cpu/rows_folds.h"
#include "passes/tir/cpu/rows_lines.h"
#include "passes/tir/cpu/rows_words.h"

#include <stdio.h>

#define number tvms_line_number
#define build  tvms_line_build

enum { NONE = TVMS_MOST_STAGE_AXES };

static const tvms_line_pass_plan *pass_plan(const tvms_line_writer *w) {
  return &w->plan->passes[w->pass];
}

typedef struct {
  tvms_node_vec stmts, allocated;
} written;

static void push(tvms_line_writer *w, tvms_node_vec *stmts, tvms_node *stmt) {
  tvms_stmt_push(w->unit, stmts, stmt);
}

// ---- Passes ----

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
  bool threads = w->g->row_count == 0 && !tvms_line_has_fold(w);
  w->chunk = (tvms_line_chunk){.tile = 1};
  uint32_t tiled = p->tile > 1 ? around - 1 : around;
  tvms_node *vars[TVMS_MOST_STAGE_AXES];
  for (uint32_t i = 0; i < tiled; i++) {
    char name[16];
    snprintf(name, sizeof name, "i%u", i);
    vars[i] = tvms_cpu_variable(w->unit, name, w->like);
    w->own_now[i] = in_order(w, m->stage.axes[m->own[i]].extent, vars[i]);
  }
  uint8_t outer =
      threads && tvms_line_is_large(w) ? TVMS_FOR_PARALLEL : TVMS_FOR_SERIAL;
  bool tiles = tiled < around && !p->turned, lines = tiled == around && tiled > 0;
  tvms_node *made = tiles   ? tvms_line_write_tiles(w, tiled ? TVMS_FOR_SERIAL : outer)
                    : lines ? tvms_line_write_all(w, tiled - 1, vars[tiled - 1],
                                                  tiled > 1 ? TVMS_FOR_SERIAL : outer)
                            : tvms_line_write(w, threads && tiled == 0);
  for (uint32_t i = lines ? tiled - 1 : tiled; i-- > 0;)
    made = tvms_cpu_loop(w->unit, vars[i], m->stage.axes[m->own[i]].extent,
                         i ? TVMS_FOR_SERIAL : outer, made);
  made->span = m->stage.nest->span;
  if (p->past) tvms_stmt_set_nontemporal(w->unit, made);
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
    uint8_t kind =
        r == 0 && tvms_line_is_large(&w) ? TVMS_FOR_PARALLEL : TVMS_FOR_SERIAL;
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
