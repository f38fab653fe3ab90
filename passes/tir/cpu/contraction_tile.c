// One tile of a contraction: its sums in registers, and what is done with them there.
#include "passes/tir/cpu/contraction_tile.h"

#include "ir/fold.h"
#include "ir/rewrite.h"
#include "passes/tir/cpu/contraction_element.h"
#include "passes/tir/cpu/contraction_fetch.h"
#include "passes/tir/cpu/contraction_rest.h"
#include "passes/tir/cpu/contraction_sums.h"
#include "passes/tir/cpu/contraction_turn.h"
#include "passes/tir/cpu/contraction_words.h"
#include "passes/tir/cpu/nodes.h"

typedef tvms_contraction_writer writer;
typedef tvms_contraction_element element;

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

// ---- Sums ----

static tvms_node *set_to_init(writer *w, const element *e) {
  return tvms_contraction_set_sum(w, e, w->c->init);
}

// Where sums are to be stored that are not ready.
static const tvms_store *between_blocks(writer *w) {
  if (!w->tile->sum_in_result) return w->c->stage.store;
  const tvms_epilogue *last = &w->epilogues[w->epilogue_count - 1];
  tvms_contraction_enter_epilogue(w, last);
  return last->stage.store;
}

static tvms_node *stored(writer *w) {
  const tvms_store *out = between_blocks(w);
  tvms_list at = tvms_contraction_all_as_now(w, out->indices);
  return tvms_buffer_load_new(w->unit, out->buffer, at.items, at.len, NULL,
                              TVMS_NO_SPAN);
}

static tvms_node *set_to_stored(writer *w, const element *e) {
  return tvms_contraction_set_sum(w, e, stored(w));
}

static tvms_node *add_stored(writer *w, const element *e) {
  tvms_node *sum = tvms_contraction_sum_of(w, e);
  return tvms_contraction_set_sum(w, e, build(w, TVMS_NODE_ADD, sum, stored(w)));
}

static tvms_node *in_first_block(writer *w, tvms_node_kind kind, tvms_node *then_case,
                                 tvms_node *TVMS_NULLABLE else_case) {
  tvms_node *condition = build(w, kind, w->block, number(w, w->block, 0));
  return tvms_cpu_choice(w->unit, condition, then_case, else_case);
}

static tvms_node *in_last_block(writer *w, tvms_node *then_case,
                                tvms_node *TVMS_NULLABLE else_case) {
  tvms_node *last = build(w, TVMS_NODE_SUB, w->blocks, number(w, w->block, 1));
  tvms_node *condition = build(w, TVMS_NODE_EQ, w->block, last);
  return tvms_cpu_choice(w->unit, condition, then_case, else_case);
}

// Blocks of the sum behind the first go on with what the one before stored, or add it at the end.
static tvms_node *begin_sums(writer *w) {
  tvms_node *first = tvms_contraction_each_element(w, set_to_init, NULL);
  if (!w->block || w->tile->sum_afresh) return first;
  return in_first_block(w, TVMS_NODE_EQ, first,
                        tvms_contraction_each_element(w, set_to_stored, NULL));
}

static tvms_node *add_blocks_before(writer *w) {
  return in_first_block(w, TVMS_NODE_NE,
                        tvms_contraction_each_element(w, add_stored, NULL), NULL);
}

static tvms_node *copy_moving(writer *w, const element *e) {
  (void)e;
  const tvms_buffer_load *panel = tvms_as_buffer_load(w->panel);
  tvms_node *value = tvms_contraction_as_now(w, w->c->moving);
  return tvms_cpu_store(w->unit, panel->buffer,
                        tvms_contraction_all_as_now(w, panel->indices), value);
}

static tvms_node *fill_step_by_step(writer *w) {
  tvms_node *vars[TVMS_MOST_STAGE_AXES] = {0};
  tvms_contraction_open_sums(w, vars);
  tvms_node *row = w->row;
  w->row = NULL;
  tvms_node *filled = tvms_contraction_each_element(w, copy_moving, NULL);
  w->row = row;
  return tvms_contraction_close_sums(w, filled, vars);
}

tvms_node *tvms_contraction_fill_tile(writer *w) {
  if (!tvms_contraction_can_turn(w)) return fill_step_by_step(w);
  tvms_node *turned = tvms_contraction_fill_turned(w);
  tvms_node *holds = tvms_contraction_holds_square(w);
  return holds ? tvms_cpu_choice(w->unit, holds, turned, fill_step_by_step(w)) : turned;
}

// ---- What follows ----

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

// What an epilogue makes of the sums, which stay where they are.
static tvms_node *keep(writer *w, const element *e) {
  const tvms_epilogue *epilogue = e->data;
  tvms_contraction_enter_epilogue(w, epilogue);
  tvms_node *value = tvms_contraction_as_now(w, epilogue->stage.store->value);
  return tvms_contraction_set_sum(
      w, e, with_value(w, value, epilogue->from, tvms_contraction_sum_of(w, e)));
}

static tvms_node *finish(writer *w, const element *e) {
  const tvms_epilogue *epilogue = e->data;
  const tvms_store *out = epilogue ? NULL : between_blocks(w);
  tvms_node *value = tvms_contraction_sum_of(w, e);
  if (epilogue) {
    tvms_contraction_enter_epilogue(w, epilogue);
    out = epilogue->stage.store;
    value =
        with_value(w, tvms_contraction_as_now(w, out->value), epilogue->from, value);
  }
  return tvms_cpu_store(w->unit, out->buffer,
                        tvms_contraction_all_as_now(w, out->indices), value);
}

// All that follows the sums, and the result is stored.
static tvms_node *end_all_sums(writer *w) {
  uint32_t count = w->epilogue_count;
  tvms_node_vec stmts = {0};
  w->word_order = tvms_contraction_has_words(w);
  for (uint32_t i = 0; i + 1 < count; i++)
    tvms_stmt_push(w->unit, &stmts,
                   tvms_contraction_each_element(w, keep, &w->epilogues[i]));
  tvms_stmt_push(w->unit, &stmts,
                 tvms_contraction_each_element(
                     w, finish, count ? &w->epilogues[count - 1] : NULL));
  w->word_order = false;
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

static tvms_node *end_sums(writer *w) {
  if (w->unended) return tvms_contraction_each_element(w, finish, NULL);
  tvms_node *last = end_all_sums(w);
  if (!w->block || (!w->epilogue_count && !tvms_contraction_has_words(w))) return last;
  return in_last_block(w, last, tvms_contraction_each_element(w, finish, NULL));
}

// What the tile keeps is allocated around it.
static tvms_node *tile_block(writer *w, tvms_node *body) {
  tvms_node *allocated[2] = {w->sums};
  if (w->rest) allocated[1] = tvms_as_buffer_load(w->rest)->buffer;
  return tvms_cpu_block(w->unit, "tile", (tvms_list){allocated, w->rest ? 2 : 1}, body);
}

// Blocks of the sum are steps of a reduction, and a block of TIR says so with its axes: then what
// they hand on to each other is known to live as long as their loop.
static tvms_node *over_blocks(writer *w, tvms_node *body) {
  tvms_node *iters[TVMS_MOST_LOOPS_AROUND], *values[TVMS_MOST_LOOPS_AROUND];
  tvms_node_map axes;
  tvms_node_map_init(&axes, &w->unit->context->memory);
  for (uint32_t i = 0; i < w->around_count; i++) {
    tvms_iter_var *iter = tvms_node_make(w->unit, ITER_VAR, TVMS_NO_SPAN);
    values[i] = w->around[i].var;
    iter->dom = tvms_range_new(w->unit, number(w, values[i], 0), w->around[i].extent,
                               TVMS_NO_SPAN);
    iter->var =
        tvms_cpu_variable(w->unit, values[i] == w->block ? "vb" : "v", values[i]);
    iter->iter_type =
        values[i] == w->block ? TVMS_ITER_COMM_REDUCE : TVMS_ITER_DATA_PAR;
    tvms_node_map_put(&axes, values[i], iter->var);
    iters[i] = &iter->head;
  }
  body = tvms_substitute(w->unit, body, &axes);
  tvms_node_map_fini(&axes);
  tvms_node *made = tile_block(w, body);
  tvms_block_realize *realize = tvms_as_block_realize(made);
  tvms_as_block(realize->block)->iter_vars =
      tvms_list_copy(w->unit, iters, w->around_count);
  realize->iter_values = tvms_list_copy(w->unit, values, w->around_count);
  return made;
}

static tvms_node *sum_up(writer *w) {
  tvms_node_vec stmts = {0};
  tvms_contraction_make_rest(w);
  tvms_contraction_fetch_next(w, &stmts);
  if (tvms_contraction_fetches_far(w, false)) tvms_contraction_fetch_far(w, &stmts);
  tvms_stmt_push(w->unit, &stmts, begin_sums(w));
  if (w->rest) tvms_stmt_push(w->unit, &stmts, tvms_contraction_fill_rest(w));
  tvms_stmt_push(w->unit, &stmts, tvms_contraction_add_up(w));
  if (w->block && w->tile->sum_afresh)
    tvms_stmt_push(w->unit, &stmts, add_blocks_before(w));
  tvms_stmt_push(w->unit, &stmts, end_sums(w));
  return tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
}

// What follows the sums of a tile that has stored them: behind the last block.
static tvms_node *end_stored_sums(writer *w) {
  w->rest = NULL;
  tvms_node *begin = tvms_contraction_each_element(w, set_to_stored, NULL);
  tvms_node *end = tvms_stmt_pair(w->unit, begin, end_all_sums(w));
  return w->block ? in_last_block(w, end, NULL) : end;
}

tvms_node *tvms_contraction_write_tile(writer *w) {
  const tvms_node *like = tvms_contraction_column_var(w);
  int64_t columns = w->columns->width * w->columns->vectors + w->columns->tail;
  tvms_node *shape[] = {number(w, like, w->rows), number(w, like, columns)};
  w->sums = tvms_cpu_buffer(w->unit, "sums", w->c->stage.store->value->dtype, "local",
                            shape, 2);
  tvms_node *body = w->ended ? end_stored_sums(w) : sum_up(w);
  if (w->block) return over_blocks(w, body);
  return tile_block(w, body);
}
