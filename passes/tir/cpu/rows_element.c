// Elements of rows: what stands for an axis, where a result lies, what is done in a chunk.
#include "passes/tir/cpu/rows_element.h"

#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/quotient.h"
#include "passes/tir/cpu/rows_folds.h"
#include "passes/tir/cpu/rows_index.h"
#include "passes/tir/cpu/rows_mask.h"
#include "passes/tir/cpu/rows_words.h"
#include "passes/tir/cpu/segments.h"
#include "passes/tir/cpu/turn.h"

#define number tvms_line_number
#define build  tvms_line_build

enum { NONE = TVMS_MOST_STAGE_AXES };

// ---- Axes ----

const tvms_line_member *tvms_line_first(const tvms_line_writer *w) {
  const tvms_line_member *m = w->g->members;
  while (m->pass != w->pass)
    m++;
  return m;
}

static uint32_t own_count(const tvms_line_writer *w) {
  return tvms_line_first(w)->own_count;
}

static const tvms_line_pass_plan *pass_plan(const tvms_line_writer *w) {
  return &w->plan->passes[w->pass];
}

static bool has_loops_of(const tvms_line_member *m, const tvms_line_member *first) {
  if (m->own_count != first->own_count) return false;
  for (uint32_t i = 0; i < m->own_count; i++) {
    int64_t a = tvms_cpu_number(m->stage.axes[m->own[i]].extent);
    int64_t b = tvms_cpu_number(first->stage.axes[first->own[i]].extent);
    if (a != b) return false;
  }
  return true;
}

void tvms_line_set_axes(tvms_line_writer *w) {
  const tvms_line_member *first = tvms_line_first(w);
  for (uint32_t i = 0; i < w->g->count; i++) {
    const tvms_line_member *m = &w->g->members[i];
    for (uint32_t r = 0; r < w->g->row_count; r++)
      tvms_node_map_put(&w->now, m->stage.axes[m->rows[r]].var, w->row_now[r]);
    if (!has_loops_of(m, first)) continue;
    for (uint32_t k = 0; k < m->own_count; k++)
      tvms_node_map_put(&w->now, m->stage.axes[m->own[k]].var, w->own_now[k]);
  }
}

tvms_node *tvms_line_from_end(const tvms_line_writer *w, tvms_node *count,
                              tvms_node *step) {
  tvms_node *last = build(w, TVMS_NODE_SUB, count, number(w, 1));
  return build(w, TVMS_NODE_SUB, last, step);
}

// The axes that make up the line, from the place in it.
static void split_line(tvms_line_writer *w, tvms_node *at) {
  const tvms_line_member *m = tvms_line_first(w);
  uint32_t count = m->own_count, fused = pass_plan(w)->fused;
  int64_t inner = 1;
  for (uint32_t i = 0; i < fused; i++) {
    uint32_t axis = count - 1 - i;
    int64_t extent = tvms_cpu_number(m->stage.axes[m->own[axis]].extent);
    tvms_node *index = at;
    if (inner > 1) index = build(w, TVMS_NODE_FLOOR_DIV, index, number(w, inner));
    if (i + 1 < fused) index = build(w, TVMS_NODE_FLOOR_MOD, index, number(w, extent));
    w->own_now[axis] = index;
    inner *= extent;
  }
}

tvms_node *TVMS_NULLABLE tvms_line_open_row(tvms_line_writer *w) {
  if (w->streams <= 1) return NULL;
  w->stream = tvms_cpu_variable(w->unit, "r", w->like);
  tvms_node *away = build(w, TVMS_NODE_MUL, w->stream, number(w, w->apart));
  w->row_now[0] = build(w, TVMS_NODE_ADD, w->first_row, away);
  tvms_line_set_axes(w);
  return w->stream;
}

tvms_node *tvms_line_close_row(tvms_line_writer *w, tvms_node *TVMS_NULLABLE stream,
                               tvms_node *body) {
  if (!stream) return body;
  return tvms_cpu_loop(w->unit, stream, number(w, w->streams), TVMS_FOR_UNROLLED, body);
}

// Where the lanes are that a vector of the chunk is combined with.
static tvms_node *place_of(tvms_line_writer *w, const tvms_line_element *e) {
  const tvms_line_chunk *c = &w->chunk;
  int64_t sums = pass_plan(w)->sums;
  tvms_node *place = number(w, 0), *vector = e->vector;
  if (vector && sums < c->vectors)
    vector = build(w, TVMS_NODE_FLOOR_MOD, vector, number(w, sums));
  if (e->stream)
    place = build(w, TVMS_NODE_MUL, e->stream, number(w, sums * pass_plan(w)->lanes));
  if (vector)
    place = build(w, TVMS_NODE_ADD, place,
                  build(w, TVMS_NODE_MUL, vector, number(w, c->lanes)));
  return e->lane ? build(w, TVMS_NODE_ADD, place, e->lane) : place;
}

tvms_line_element tvms_line_open(tvms_line_writer *w) {
  const tvms_line_chunk *c = &w->chunk;
  tvms_line_element e = {.stream = tvms_line_open_row(w)};
  tvms_node *in_line = number(w, 0);
  w->place = number(w, 0);
  if (c->tile > 1) {
    e.step = tvms_cpu_variable(w->unit, "t", w->like);
    w->place = build(w, TVMS_NODE_MUL, e.step, number(w, c->vectors * c->lanes));
  }
  if (c->vectors > 1) {
    e.vector = tvms_cpu_variable(w->unit, "u", w->like);
    tvms_node *at = e.vector;
    if (pass_plan(w)->backwards) at = tvms_line_from_end(w, number(w, c->vectors), at);
    in_line = build(w, TVMS_NODE_MUL, at, number(w, c->lanes));
  }
  if (c->lanes > 1) {
    e.lane = tvms_cpu_variable(w->unit, "lane", w->like);
    in_line = build(w, TVMS_NODE_ADD, in_line, e.lane);
  }
  w->lane = e.lane;
  bool turns = e.stream || c->vectors > pass_plan(w)->sums;
  w->place = turns ? place_of(w, &e) : build(w, TVMS_NODE_ADD, w->place, in_line);
  split_line(w, build(w, TVMS_NODE_ADD, c->begin, in_line));
  if (c->tile_begin) {
    tvms_node *at = c->tile_begin;
    if (e.step) at = build(w, TVMS_NODE_ADD, at, e.step);
    w->own_now[own_count(w) - pass_plan(w)->fused - 1] = at;
  }
  tvms_line_set_axes(w);
  return e;
}

tvms_node *tvms_line_close(tvms_line_writer *w, const tvms_line_element *element,
                           bool serial, tvms_node *body) {
  const tvms_line_chunk *c = &w->chunk;
  uint8_t lanes = serial ? TVMS_FOR_SERIAL : TVMS_FOR_VECTORIZED;
  uint8_t steps = serial ? TVMS_FOR_SERIAL : TVMS_FOR_UNROLLED;
  if (element->lane)
    body = tvms_cpu_loop(w->unit, element->lane, number(w, c->lanes), lanes, body);
  if (element->vector)
    body = tvms_cpu_loop(w->unit, element->vector, number(w, c->vectors), steps, body);
  if (w->guard) body = tvms_cpu_choice(w->unit, w->guard, body, NULL);
  if (element->step)
    body = tvms_cpu_loop(w->unit, element->step, number(w, c->tile), steps, body);
  return tvms_line_close_row(w, element->stream, body);
}

// ---- Results ----

// The indices of a result in the buffer for one row: those that are no rows.
static uint32_t row_indices(const tvms_line_writer *w, const tvms_line_member *m,
                            tvms_list indices, tvms_node **kept) {
  tvms_list stored = m->stage.store->indices;
  uint32_t count = 0;
  if (w->turn) kept[count++] = w->turn;
  for (uint32_t d = 0; d < stored.len; d++) {
    uint32_t axis = tvms_stage_axis_of(&m->stage, stored.items[d]);
    bool row = axis == NONE;
    for (uint32_t r = 0; r < w->g->row_count; r++)
      row |= m->rows[r] == axis;
    if (!row) kept[count++] = indices.items[d];
  }
  if (count == 0) kept[count++] = w->stream ? w->stream : number(w, 0);
  return count;
}

static tvms_list substituted(tvms_line_writer *w, tvms_list indices) {
  tvms_list made = tvms_list_copy(w->unit, indices.items, indices.len);
  for (uint32_t i = 0; i < made.len; i++)
    made.items[i] = tvms_line_as_now(w, made.items[i]);
  return made;
}

// Where the element of member `at` lies that the text accesses by `indices`, which are as now.
static tvms_list placed(tvms_line_writer *w, uint32_t at, tvms_list indices,
                        tvms_node **buffer) {
  const tvms_line_member *m = &w->g->members[at];
  const tvms_line_place *place = &w->plan->places[at];
  *buffer = m->stage.store->buffer;
  switch (place->how) {
  case TVMS_LINE_OF_CHUNK: {
    *buffer = w->locals[at];
    return tvms_list_copy(w->unit, &w->place, 1);
  }
  case TVMS_LINE_OF_ROW: {
    tvms_node *kept[TVMS_MOST_STAGE_AXES];
    uint32_t count = row_indices(w, m, indices, kept);
    *buffer = w->locals[at];
    return tvms_list_copy(w->unit, kept, count);
  }
  case TVMS_LINE_IN_RESULT:
    *buffer = place->result->stage.store->buffer;
    return substituted(w, place->result->stage.store->indices);
  case TVMS_LINE_KEPT:
  default: return indices;
  }
}

static tvms_node *place_load(tvms_rewriter *r, tvms_node *node) {
  tvms_line_writer *w = r->self;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  if (w->square && tvms_node_same_expr(r->old, pass_plan(w)->turned))
    return tvms_build_cast(w->unit, node->dtype, tvms_line_lane(w, w->square, w->place),
                           TVMS_NO_SPAN);
  for (uint32_t i = 0; i < w->g->count; i++) {
    if (w->g->members[i].stage.store->buffer != load->buffer) continue;
    if (w->plan->places[i].how == TVMS_LINE_KEPT) break;
    tvms_node *buffer;
    tvms_list indices = placed(w, i, load->indices, &buffer);
    return tvms_buffer_load_new(w->unit, buffer, indices.items, indices.len, NULL,
                                TVMS_NO_SPAN);
  }
  return tvms_line_settle_load(w, r->old, node);
}

tvms_node *tvms_line_as_now(tvms_line_writer *w, tvms_node *expr) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, w->unit, w);
  for (uint32_t i = 0; i < w->now.cap; i++) {
    if (w->now.pairs[i].key)
      tvms_node_map_put(&r.known, w->now.pairs[i].key, w->now.pairs[i].value);
  }
  r.leave[TVMS_NODE_BUFFER_LOAD] = place_load;
  tvms_node *made = tvms_rewrite(&r, expr);
  tvms_rewriter_fini(&r);
  return made;
}

static tvms_list own_place(tvms_line_writer *w, uint32_t at, tvms_node **buffer) {
  tvms_list indices = substituted(w, w->g->members[at].stage.store->indices);
  return placed(w, at, indices, buffer);
}

tvms_node *tvms_line_store(tvms_line_writer *w, uint32_t at, tvms_node *value) {
  tvms_node *buffer;
  tvms_list indices = own_place(w, at, &buffer);
  tvms_node *made = tvms_cpu_store(w->unit, buffer, indices, value);
  made->span = w->g->members[at].stage.store->head.span;
  return made;
}

tvms_node *tvms_line_load(tvms_line_writer *w, uint32_t at) {
  tvms_node *buffer;
  tvms_list indices = own_place(w, at, &buffer);
  return tvms_buffer_load_new(w->unit, buffer, indices.items, indices.len, NULL,
                              TVMS_NO_SPAN);
}

// ---- Members in a chunk ----

static tvms_node *combined(tvms_line_writer *w, const tvms_line_member *m, tvms_node *a,
                           tvms_node *term) {
  return m->term_first ? build(w, m->combine, term, a) : build(w, m->combine, a, term);
}

// Does `node` load, of the row at hand, the greatest of what `element` is along it?
static bool is_greatest(tvms_line_writer *w, tvms_node *node, tvms_node *element) {
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return false;
  for (uint32_t i = 0; i < w->g->count; i++) {
    const tvms_line_member *m = &w->g->members[i];
    if (m->kind != TVMS_LINE_FOLD || m->combine != TVMS_NODE_MAX
        || m->stage.store->buffer != tvms_as_buffer_load(node)->buffer
        || !has_loops_of(m, tvms_line_first(w)))
      continue;
    return tvms_node_same_expr(tvms_line_as_now(w, m->term),
                               tvms_line_as_now(w, element))
           && tvms_node_same_expr(tvms_line_load(w, i), tvms_line_as_now(w, node));
  }
  return false;
}

// T.exp(x - greatest): at most 0, which saves steps where the exponential is written out.
static tvms_node *bound_exponent(tvms_rewriter *r, tvms_node *node) {
  if (tvms_call_opcode(node) != TVMS_TIR_exp) return node;
  tvms_node *exponent = tvms_as_call(node)->args.items[0];
  if (exponent->kind != TVMS_NODE_SUB || exponent->dtype.code != TVMS_FLOAT)
    return node;
  const tvms_binary *difference = tvms_as_binary(exponent);
  if (!is_greatest(r->self, difference->b, difference->a)) return node;
  tvms_node *zero = tvms_build_float(r->unit, exponent->dtype, 0, TVMS_NO_SPAN);
  exponent = tvms_binary_new(r->unit, TVMS_NODE_MIN, zero, exponent, TVMS_NO_SPAN);
  return tvms_call_new_of(r->unit, node->dtype, TVMS_TIR_exp, &exponent, 1, node->span);
}

static tvms_node *bounded(tvms_line_writer *w, tvms_node *expr) {
  if (!w->plan->bounds) return expr;
  tvms_rewriter r;
  tvms_rewriter_init(&r, w->unit, w);
  r.leave[TVMS_NODE_CALL] = bound_exponent;
  tvms_node *made = tvms_rewrite(&r, expr);
  tvms_rewriter_fini(&r);
  return made;
}

// An expression of member `at` in the segment of the line at hand, as it is at the element.
static tvms_node *now_in_segment(tvms_line_writer *w, uint32_t at, tvms_node *expr) {
  const tvms_line_member *m = &w->g->members[at];
  uint32_t outermost = m->own_count - pass_plan(w)->fused;
  if (w->segment.end)
    expr = tvms_line_between(w->unit, expr, m->stage.axes[m->own[outermost]].var,
                             &w->segment);
  if (w->lines.end)
    expr = tvms_line_between(w->unit, expr, m->stage.axes[m->own[outermost - 1]].var,
                             &w->lines);
  return tvms_line_as_now(w, bounded(w, expr));
}

static tvms_node *map_chunk(tvms_line_writer *w, uint32_t at) {
  tvms_line_element e = tvms_line_open(w);
  tvms_node *value = w->g->members[at].stage.store->value;
  if (w->inverse && pass_plan(w)->divides == at)
    value = tvms_line_multiplied(w->unit, value, pass_plan(w)->divisor, w->inverse);
  bool inside = w->plan->places[at].how == TVMS_LINE_OF_CHUNK;
  if (inside) value = tvms_line_mask_loads(w, at, value, NULL);
  value = now_in_segment(w, at, value);
  tvms_node *stored = tvms_line_store(w, at, value);
  return tvms_line_close(w, &e, false,
                         inside ? stored : tvms_line_mask_store(w, stored));
}

// Lanes that were combined before count for nothing; of the least or greatest they may come again.
static tvms_node *fresh_term(tvms_line_writer *w, const tvms_line_member *m,
                             tvms_node *term) {
  bool again = m->combine == TVMS_NODE_MIN || m->combine == TVMS_NODE_MAX;
  if (!w->chunk.fresh || again) return term;
  double neutral = m->combine == TVMS_NODE_MUL;
  tvms_node *none = tvms_build_float(w->unit, term->dtype, neutral, TVMS_NO_SPAN);
  tvms_node *is_fresh =
      tvms_binary_new(w->unit, TVMS_NODE_GE, w->lane, w->chunk.fresh, TVMS_NO_SPAN);
  return tvms_select_new(w->unit, is_fresh, term, none, TVMS_NO_SPAN);
}

static tvms_node *fold_chunk(tvms_line_writer *w, uint32_t at) {
  if (tvms_line_has_words(w)) return tvms_line_words_chunk(w, at);
  const tvms_line_member *m = &w->g->members[at];
  bool one_by_one = w->plan->places[at].one_by_one;
  tvms_line_element e = tvms_line_open(w);
  tvms_node *place = one_by_one ? number(w, 0) : w->place;
  tvms_node *before =
      tvms_buffer_load_new(w->unit, w->lanes[at], &place, 1, NULL, TVMS_NO_SPAN);
  tvms_node *term = fresh_term(w, m, now_in_segment(w, at, m->term));
  tvms_node *stored =
      tvms_cpu_store(w->unit, w->lanes[at], tvms_list_copy(w->unit, &place, 1),
                     combined(w, m, before, term));
  return tvms_line_close(w, &e, one_by_one, stored);
}

// Does a guard depend on the axes of the sum alone?
static bool is_static(tvms_line_writer *w, const tvms_line_member *m,
                      tvms_node *guard) {
  for (uint32_t i = 0; i < m->stage.count; i++) {
    const tvms_stage_axis *axis = &m->stage.axes[i];
    if (!axis->sums && tvms_walk_contains(&w->unit->context->memory, guard, axis->var))
      return false;
  }
  return true;
}

static tvms_walk_step see_choice(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  return node->kind == TVMS_NODE_SELECT ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool chooses(const tvms_line_writer *w, tvms_node *term) {
  tvms_visitor visitor = {.enter = see_choice};
  return !tvms_walk(&w->unit->context->memory, term, &visitor);
}

// Are the steps of the sum few enough to be written out? Those of windows are that share what they load; others
// where that makes no long code, which takes LLVM its time, and where truths of all of them need no more registers than
// there are.
static bool writes_sums_out(tvms_line_writer *w, const tvms_line_member *m) {
  enum { MOST_WRITTEN = 128 };
  int64_t taps = tvms_line_taps(&m->stage);
  if (taps < 0) return false;
  int64_t written = taps * w->chunk.tile * w->chunk.vectors;
  if (written * (chooses(w, m->term) ? 2 : 1) <= MOST_WRITTEN) return true;
  for (uint32_t i = 0; i < m->own_count; i++) {
    if (tvms_line_slides(w->unit, m, m->stage.axes[m->own[i]].var)) return true;
  }
  return false;
}

// The axes of the sum, from the outermost loop on; `first` comes first.
static uint32_t order_sums(const tvms_line_member *m, uint32_t first, uint32_t *axes) {
  uint32_t count = 0;
  if (first != NONE) axes[count++] = first;
  for (uint32_t i = 0; i < m->stage.count; i++) {
    if (m->stage.axes[i].sums && i != first) axes[count++] = i;
  }
  return count;
}

static bool is_single(const tvms_line_writer *w, const tvms_line_range *range) {
  tvms_node *steps = build(w, TVMS_NODE_SUB, range->end, range->begin);
  return tvms_node_is_int(tvms_arith_simplify(w->unit, steps), 1);
}

// Where a condition is not known before the program runs, the loops around it stay loops.
static tvms_node *around_sums(tvms_line_writer *w, const tvms_line_member *m,
                              const tvms_line_padding_guards *guards, uint32_t first,
                              tvms_node *const *vars, tvms_node *body) {
  bool border = w->segment.end && is_single(w, &w->segment) && w->chunk.tile > 1;
  bool few = writes_sums_out(w, m) && (w->chunk.lanes > 1 || border);
  uint32_t axes[TVMS_MOST_STAGE_AXES];
  for (uint32_t n = order_sums(m, first, axes); n-- > 0;) {
    uint32_t i = axes[n];
    if (guards->levels[i]) {
      body =
          tvms_cpu_choice(w->unit, tvms_line_as_now(w, guards->levels[i]), body, NULL);
      few &= is_static(w, m, guards->levels[i]);
    }
    body = tvms_cpu_loop(w->unit, vars[i], m->stage.axes[i].extent,
                         few ? TVMS_FOR_UNROLLED : TVMS_FOR_SERIAL, body);
  }
  return guards->always
             ? tvms_cpu_choice(w->unit, tvms_line_as_now(w, guards->always), body, NULL)
             : body;
}

const tvms_stage_axis *TVMS_NULLABLE tvms_line_around(const tvms_line_writer *w) {
  const tvms_line_pass_plan *p = pass_plan(w);
  return p->tile > 1 ? tvms_line_axis_around(tvms_line_first(w), p->fused) : NULL;
}

// What member `at` combines at each step, and when.
static tvms_node *term_of(tvms_line_writer *w, uint32_t at,
                          tvms_line_padding_guards *guards) {
  const tvms_line_pass_plan *p = pass_plan(w);
  const tvms_line_member *m = &w->g->members[at];
  *guards = (tvms_line_padding_guards){.always = NULL};
  if (!p->guard || p->guarded != at) return m->term;
  // The axis of the member that stands where that of the first one does.
  const tvms_stage_axis *around = tvms_line_around(w);
  if (around) around = tvms_line_axis_around(m, p->fused);
  tvms_line_part part = {around,         w->tile,           w->segment,
                         w->tile_inside, w->segment_inside, p->active > 0};
  *guards = tvms_line_padding_split(w->unit, m, p->guard, &part);
  return guards->lanes ? tvms_line_padding_chosen(w->unit, m, guards->lanes)
                       : p->guarded_term;
}

typedef struct {
  tvms_unit *unit;
  const tvms_node *line;
} striding;

static tvms_walk_step find_stride(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  const striding *s = self;
  int64_t step;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  bool strides = tvms_cpu_step_of(s->unit, load->buffer, load->indices, s->line, &step)
                 && step > 1;
  return strides ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// The axis of the sum whose steps come in front of the others; NONE: they have the order of the text.
static uint32_t first_of_sum(tvms_line_writer *w, const tvms_line_member *m,
                             const tvms_line_padding_guards *guards) {
  if (!pass_plan(w)->along_first || w->chunk.tile <= 1) return NONE;
  const tvms_node *line = m->stage.axes[m->own[m->own_count - 1]].var;
  uint32_t found = tvms_line_window_along(w->unit, m, line);
  return found != NONE && guards->levels[found] ? NONE : found;
}

// Are all steps of the sum written out for one step of the tile after the other? Where lanes are picked
// from what is loaded, only then is it needed for a short time, though neighbours use it, too.
static bool goes_step_by_step(tvms_line_writer *w, const tvms_line_member *m) {
  if (w->chunk.tile <= 1 || w->chunk.lanes <= 1 || tvms_line_taps(&m->stage) < 0)
    return false;
  if (pass_plan(w)->active) return true;
  striding s = {w->unit, m->stage.axes[m->own[m->own_count - 1]].var};
  tvms_visitor visitor = {.self = &s, .enter = find_stride};
  return !tvms_walk(&w->unit->context->memory, m->term, &visitor);
}

// What the elements of the chunk begin with. Lanes that are left out load nothing behind the buffer.
static tvms_node *column_begin(tvms_line_writer *w, uint32_t at) {
  const tvms_stage *stage = &w->g->members[at].stage;
  if (stage->init) return tvms_line_as_now(w, stage->init);
  if (!pass_plan(w)->active) return tvms_line_load(w, at);
  const tvms_store *store = stage->store;
  tvms_node *load = tvms_buffer_load_new(w->unit, store->buffer, store->indices.items,
                                         store->indices.len, NULL, TVMS_NO_SPAN);
  return tvms_line_as_now(w, tvms_line_mask_loads(w, at, load, NULL));
}

// Sums of all elements of the chunk in registers, step by step in the order of the text.
static tvms_node *column_chunk(tvms_line_writer *w, uint32_t at) {
  static const char *const names[] = {"k", "k1", "k2", "k3"};
  const tvms_line_member *m = &w->g->members[at];
  tvms_node *sums = w->lanes[at], *vars[TVMS_MOST_STAGE_AXES];
  tvms_node_vec stmts = {0};
  tvms_line_element e = tvms_line_open(w);
  tvms_node *stored = tvms_cpu_store(
      w->unit, sums, tvms_list_copy(w->unit, &w->place, 1), column_begin(w, at));
  tvms_stmt_push(w->unit, &stmts, tvms_line_close(w, &e, false, stored));
  uint32_t count = 0;
  for (uint32_t i = 0; i < m->stage.count; i++) {
    if (!m->stage.axes[i].sums) continue;
    vars[i] = tvms_cpu_variable(w->unit, names[count < 3 ? count : 3], w->like);
    count++;
    tvms_node_map_put(&w->now, m->stage.axes[i].var, vars[i]);
  }
  e = tvms_line_open(w);
  tvms_node *before =
      tvms_buffer_load_new(w->unit, sums, &w->place, 1, NULL, TVMS_NO_SPAN);
  tvms_line_padding_guards guards;
  tvms_node *term = term_of(w, at, &guards);
  term = tvms_line_mask_loads(w, at, term, guards.lanes);
  tvms_node *value = combined(w, m, before, now_in_segment(w, at, term));
  if (guards.tile) w->guard = tvms_line_as_now(w, guards.tile);
  stored = tvms_cpu_store(w->unit, sums, tvms_list_copy(w->unit, &w->place, 1), value);
  uint32_t first = first_of_sum(w, m, &guards);
  tvms_node *step = first == NONE && goes_step_by_step(w, m) ? e.step : NULL;
  if (step) e.step = NULL;
  stored = tvms_line_close(w, &e, false, stored);
  w->guard = NULL;
  stored = around_sums(w, m, &guards, first, vars, stored);
  if (step)
    stored = tvms_cpu_loop(w->unit, step, number(w, w->chunk.tile), TVMS_FOR_UNROLLED,
                           stored);
  tvms_stmt_push(w->unit, &stmts, stored);
  if (w->plan->places[at].how != TVMS_LINE_OF_CHUNK) {
    e = tvms_line_open(w);
    value = tvms_buffer_load_new(w->unit, sums, &w->place, 1, NULL, TVMS_NO_SPAN);
    stored = tvms_line_mask_store(w, tvms_line_store(w, at, value));
    tvms_stmt_push(w->unit, &stmts, tvms_line_close(w, &e, false, stored));
  }
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// Loads the rows of squares along the axis around the line, and turns them.
static tvms_node *turn_chunk(tvms_line_writer *w, tvms_node **buffers) {
  int64_t lanes = w->chunk.lanes, rows = w->chunk.tile;
  tvms_node *row = tvms_cpu_variable(w->unit, "row", w->like);
  tvms_node *lane = tvms_cpu_variable(w->unit, "lane", w->like);
  tvms_node *in_square = row, *in_row = lane;
  if (rows > lanes) {
    tvms_node *square = build(w, TVMS_NODE_FLOOR_DIV, row, number(w, lanes));
    in_square = build(w, TVMS_NODE_FLOOR_MOD, row, number(w, lanes));
    in_row = build(w, TVMS_NODE_ADD, build(w, TVMS_NODE_MUL, square, number(w, lanes)),
                   lane);
  }
  uint32_t line = own_count(w) - 1;
  w->own_now[line] = build(w, TVMS_NODE_ADD, w->chunk.begin, in_square);
  w->own_now[line - 1] = build(w, TVMS_NODE_ADD, w->chunk.tile_begin, in_row);
  tvms_line_set_axes(w);
  tvms_node *value = tvms_line_as_now(w, pass_plan(w)->turned);
  // Processors shuffle bytes, and truths in registers are bits.
  if (tvms_dtype_is_bool(value->dtype))
    value = tvms_build_cast(w->unit, TVMS_DTYPE(UINT, 8), value, TVMS_NO_SPAN);
  tvms_node *size = number(w, rows * lanes);
  for (uint32_t i = 0; i < 2; i++)
    buffers[i] = tvms_cpu_buffer(w->unit, "square", value->dtype, "local", &size, 1);
  tvms_node *place =
      build(w, TVMS_NODE_ADD, build(w, TVMS_NODE_MUL, row, number(w, lanes)), lane);
  tvms_node *body =
      tvms_cpu_store(w->unit, buffers[0], tvms_list_copy(w->unit, &place, 1), value);
  body = tvms_cpu_loop(w->unit, lane, number(w, lanes), TVMS_FOR_VECTORIZED, body);
  body = tvms_cpu_loop(w->unit, row, number(w, rows), TVMS_FOR_UNROLLED, body);
  tvms_node *turn = tvms_line_turn(w->unit, w->like, rows, lanes, buffers, &w->square);
  return tvms_stmt_pair(w->unit, body, turn);
}

// Is the chunk a whole square of elements that turn?
static bool is_square(const tvms_line_writer *w) {
  return pass_plan(w)->turned && w->chunk.lanes == pass_plan(w)->lanes
         && w->chunk.tile == pass_plan(w)->tile;
}

// A buffer for as many elements as the chunk has.
static tvms_node *chunk_buffer(tvms_line_writer *w, const char *name,
                               const tvms_line_member *m) {
  const tvms_line_chunk *c = &w->chunk;
  tvms_node *size = number(w, c->tile * c->vectors * c->lanes);
  return tvms_cpu_buffer(w->unit, name, m->stage.store->value->dtype, "local", &size,
                         1);
}

tvms_node *tvms_line_write_chunk(tvms_line_writer *w) {
  tvms_node_vec stmts = {0}, allocated = {0};
  tvms_memory *memory = &w->unit->context->memory;
  if (is_square(w)) {
    tvms_node *buffers[2];
    tvms_stmt_push(w->unit, &stmts, turn_chunk(w, buffers));
    tvms_vec_push(memory, &allocated, buffers[0]);
    tvms_vec_push(memory, &allocated, buffers[1]);
  }
  for (uint32_t i = 0; i < w->g->count; i++) {
    const tvms_line_member *m = &w->g->members[i];
    if (m->pass != w->pass) continue;
    bool column = m->kind == TVMS_LINE_COLUMN;
    bool inside = w->plan->places[i].how == TVMS_LINE_OF_CHUNK;
    if (column || inside) {
      tvms_node *made = chunk_buffer(w, column ? "sums" : "elements", m);
      tvms_vec_push(memory, &allocated, made);
      if (column) w->lanes[i] = made;
      if (inside) w->locals[i] = made;
    }
    tvms_node *done = column                      ? column_chunk(w, i)
                      : m->kind == TVMS_LINE_FOLD ? fold_chunk(w, i)
                                                  : map_chunk(w, i);
    tvms_stmt_push(w->unit, &stmts, done);
  }
  w->square = NULL;
  tvms_node *body = tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
  if (allocated.len)
    body = tvms_cpu_block(w->unit, "chunk", (tvms_list){allocated.items, allocated.len},
                          body);
  tvms_vec_fini(memory, &allocated);
  return body;
}
