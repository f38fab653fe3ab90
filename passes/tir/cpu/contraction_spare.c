// Summing the column that is left over.
#include "passes/tir/cpu/contraction_spare.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"

typedef tvms_contraction_writer writer;

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

bool tvms_contraction_can_spare(tvms_unit *unit, const tvms_contraction *c,
                                int64_t lanes) {
  enum { FEWEST_VECTORS = 4 };
  if (c->row == TVMS_MOST_STAGE_AXES || !c->moving || !c->resting
      || c->term->kind != TVMS_NODE_MUL || c->term->dtype.code != TVMS_FLOAT
      || c->term->dtype.bits < 32)
    return false;
  const tvms_binary *product = tvms_as_binary(c->term);
  bool both = (product->a == c->moving && product->b == c->resting)
              || (product->b == c->moving && product->a == c->resting);
  if (!both || tvms_contraction_steps(c) < FEWEST_VECTORS * lanes) return false;
  if (!c->one_sum) return c->sums_in_order;
  const tvms_buffer_load *load = tvms_as_buffer_load(c->resting);
  int64_t step;
  return c->outermost_sum < TVMS_MOST_STAGE_AXES
         && tvms_cpu_step_of(unit, load->buffer, load->indices,
                             c->stage.axes[c->outermost_sum].var, &step)
         && step == 1;
}

tvms_node *TVMS_NULLABLE tvms_contraction_make_spare(writer *w) {
  bool any = false;
  for (uint32_t i = 0; i < w->strip->part_count; i++)
    any |= w->strip->parts[i].spare;
  if (!any) return NULL;
  tvms_node *size = w->tile->sum_block ? number(w, w->step, w->tile->sum_block)
                                       : tvms_contraction_flat_extent(w);
  tvms_node *buffer =
      tvms_cpu_buffer(w->unit, "spare", w->c->moving->dtype, "global", &size, 1);
  return tvms_buffer_load_new(w->unit, buffer, &w->step, 1, NULL, TVMS_NO_SPAN);
}

tvms_node *tvms_contraction_fill_spare(writer *w) {
  const tvms_node *like = tvms_contraction_column_var(w);
  const tvms_buffer_load *spare = tvms_as_buffer_load(w->spare);
  tvms_node *step = tvms_cpu_variable(w->unit, "k", w->step);
  tvms_contraction_set_step(w, step);
  int64_t last = w->strip->columns - 1;
  tvms_contraction_set_column(
      w, build(w, TVMS_NODE_ADD, w->strip_begin, number(w, like, last)));
  tvms_node *value = tvms_contraction_as_now(w, w->c->moving);
  tvms_node *stored = tvms_cpu_store(
      w->unit, spare->buffer, tvms_contraction_all_as_now(w, spare->indices), value);
  return tvms_cpu_loop(w->unit, step, tvms_contraction_flat_steps(w), TVMS_FOR_SERIAL,
                       stored);
}

// ---- Lanes ----

typedef struct {
  writer *w;
  tvms_node *buffer;  // lanes of all rows
  tvms_node *row;     // of the tile
  int64_t count;      // lanes
} laned;

static tvms_node *place_of(const laned *l, tvms_node *lane) {
  tvms_node *first = build(l->w, TVMS_NODE_MUL, l->row, number(l->w, l->row, l->count));
  return build(l->w, TVMS_NODE_ADD, first, lane);
}

static tvms_node *load(const laned *l, tvms_node *lane) {
  tvms_node *place = place_of(l, lane);
  return tvms_buffer_load_new(l->w->unit, l->buffer, &place, 1, NULL, TVMS_NO_SPAN);
}

static tvms_node *store(const laned *l, tvms_node *lane, tvms_node *value) {
  tvms_node *place = place_of(l, lane);
  return tvms_cpu_store(l->w->unit, l->buffer, tvms_list_copy(l->w->unit, &place, 1),
                        value);
}

static tvms_node *vector(const laned *l, tvms_node *lane, int64_t lanes,
                         tvms_node *body) {
  return tvms_cpu_loop(l->w->unit, lane, number(l->w, lane, lanes), TVMS_FOR_VECTORIZED,
                       body);
}

// Begins what is done for each row of the tile.
static void open_rows(laned *l) {
  writer *w = l->w;
  const tvms_node *axis = w->c->stage.axes[w->c->row].var;
  tvms_node *at = w->row;
  l->row = number(w, axis, 0);
  if (w->rows > 1) {
    l->row = tvms_cpu_variable(w->unit, "i", axis);
    at = build(w, TVMS_NODE_ADD, at, l->row);
  }
  tvms_contraction_set_row(w, at);
}

static tvms_node *close_rows(const laned *l, tvms_node *body) {
  if (l->w->rows == 1) return body;
  return tvms_cpu_loop(l->w->unit, l->row, number(l->w, l->row, l->w->rows),
                       TVMS_FOR_UNROLLED, body);
}

static tvms_node *fresh_lane(const laned *l) {
  return tvms_cpu_variable(l->w->unit, "lane", l->w->step);
}

static tvms_node *replace_moving(tvms_rewriter *r, tvms_node *node) {
  const writer *w = r->self;
  return r->old == w->c->moving ? w->spare : node;
}

// The product of one step, as it is now.
static tvms_node *product(writer *w) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, w->unit, w);
  r.leave[w->c->moving->kind] = replace_moving;
  tvms_node *term = tvms_rewrite(&r, w->c->term);
  tvms_rewriter_fini(&r);
  return tvms_contraction_as_now(w, term);
}

static tvms_node *begin_lanes(laned *l) {
  open_rows(l);
  tvms_node *lane = fresh_lane(l);
  tvms_node *zero = tvms_build_float(l->w->unit, l->w->c->term->dtype, 0, TVMS_NO_SPAN);
  return close_rows(l, vector(l, lane, l->count, store(l, lane, zero)));
}

static tvms_node *add_lanes(laned *l) {
  open_rows(l);
  writer *w = l->w;
  tvms_node *var = tvms_cpu_variable(w->unit, "k", w->step), *lane = fresh_lane(l);
  tvms_node *many = number(w, var, l->count);
  tvms_contraction_set_step(
      w, build(w, TVMS_NODE_ADD, build(w, TVMS_NODE_MUL, var, many), lane));
  tvms_node *sum = build(w, TVMS_NODE_ADD, load(l, lane), product(w));
  tvms_node *body = close_rows(l, vector(l, lane, l->count, store(l, lane, sum)));
  tvms_node *steps =
      build(w, TVMS_NODE_FLOOR_DIV, tvms_contraction_flat_steps(w), many);
  return tvms_cpu_loop(w->unit, var, steps, TVMS_FOR_SERIAL, body);
}

// The last place of a row of sums, with more added to it.
static tvms_node *add_to_sum(const laned *l, tvms_node *more) {
  writer *w = l->w;
  const tvms_tile_columns *c = w->columns;
  tvms_node *at[] = {l->row,
                     number(w, tvms_contraction_column_var(w), c->width * c->vectors)};
  tvms_node *before = tvms_buffer_load_new(w->unit, w->sums, at, 2, NULL, TVMS_NO_SPAN);
  return tvms_cpu_store(w->unit, w->sums, tvms_list_copy(w->unit, at, 2),
                        build(w, TVMS_NODE_ADD, before, more));
}

// Halves of the lanes together, until one is left.
static tvms_node *end_lanes(laned *l) {
  open_rows(l);
  writer *w = l->w;
  tvms_node_vec stmts = {0};
  for (int64_t half = l->count / 2; half > 0; half /= 2) {
    tvms_node *lane = half > 1 ? fresh_lane(l) : number(w, w->step, 0);
    tvms_node *other = build(w, TVMS_NODE_ADD, lane, number(w, w->step, half));
    tvms_node *sum = build(w, TVMS_NODE_ADD, load(l, lane), load(l, other));
    tvms_node *stored = store(l, lane, sum);
    tvms_stmt_push(w->unit, &stmts, half > 1 ? vector(l, lane, half, stored) : stored);
  }
  tvms_stmt_push(w->unit, &stmts, add_to_sum(l, load(l, number(w, w->step, 0))));
  return close_rows(l, tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN));
}

// Steps that are less than a vector.
static tvms_node *TVMS_NULLABLE add_rest(laned *l) {
  open_rows(l);
  writer *w = l->w;
  tvms_node *steps = tvms_contraction_flat_steps(w), *many = number(w, steps, l->count);
  tvms_node *rest = build(w, TVMS_NODE_FLOOR_MOD, steps, many);
  if (tvms_node_is_int(rest, 0)) return NULL;
  tvms_node *var = tvms_cpu_variable(w->unit, "k", w->step);
  tvms_contraction_set_step(
      w, build(w, TVMS_NODE_ADD, build(w, TVMS_NODE_SUB, steps, rest), var));
  return tvms_cpu_loop(w->unit, var, rest, TVMS_FOR_SERIAL,
                       close_rows(l, add_to_sum(l, product(w))));
}

tvms_node *tvms_contraction_add_spare(writer *w) {
  laned l = {.w = w, .count = w->tile->lanes};
  tvms_node *size = number(w, w->step, w->rows * l.count);
  l.buffer = tvms_cpu_buffer(w->unit, "lanes", w->c->term->dtype, "local", &size, 1);
  tvms_node_vec stmts = {0};
  tvms_stmt_push(w->unit, &stmts, begin_lanes(&l));
  tvms_stmt_push(w->unit, &stmts, add_lanes(&l));
  tvms_stmt_push(w->unit, &stmts, end_lanes(&l));
  tvms_node *rest = add_rest(&l);
  if (rest) tvms_stmt_push(w->unit, &stmts, rest);
  return tvms_cpu_block(w->unit, "spare", (tvms_list){&l.buffer, 1},
                        tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN));
}
