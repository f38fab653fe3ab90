// What is written for each element of a tile: rows and vectors are written out, lanes are one vector.
#include "passes/tir/cpu/contraction_element.h"

#include "ir/fold.h"
#include "ir/stmt.h"
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

// Elements of `vectors` vectors from column `at` of the tile on.
static tvms_node *write_vectors(writer *w, element *e,
                                tvms_contraction_element_writer *write,
                                tvms_node *TVMS_NULLABLE at, int64_t slot,
                                int64_t width, int64_t vectors) {
  const tvms_node *like = tvms_contraction_column_var(w);
  tvms_node *vector = NULL, *lane = NULL, *in_row = number(w, like, 0);
  if (vectors > 1) {
    vector = tvms_cpu_variable(w->unit, "j", like);
    tvms_analyzer_bind_range(w->lanes, vector, number(w, like, 0),
                             number(w, like, vectors));
    in_row = build(w, TVMS_NODE_MUL, vector, number(w, like, width));
  }
  if (width > 1 && !e->first) {
    lane = tvms_cpu_variable(w->unit, "lane", like);
    tvms_analyzer_bind_range(w->lanes, lane, number(w, like, 0),
                             number(w, like, width));
    in_row = build(w, TVMS_NODE_ADD, in_row, lane);
  }
  e->indices[1] = build(w, TVMS_NODE_ADD, in_row, number(w, like, slot));
  if (w->word_order && vector && lane)
    in_row = tvms_contraction_word_column(w, vector, lane);
  tvms_node *place =
      build(w, TVMS_NODE_ADD, in_row, tvms_contraction_tile_column(w, at));
  if (w->place) tvms_node_map_put(&w->now, w->place, place);
  tvms_node *flat = build(w, TVMS_NODE_ADD, w->strip_begin, place);
  tvms_contraction_set_column(w, flat);
  tvms_node *body = write(w, e);
  if (lane)
    body =
        tvms_cpu_loop(w->unit, lane, number(w, like, width), TVMS_FOR_VECTORIZED, body);
  if (vector)
    body = tvms_cpu_loop(w->unit, vector, number(w, like, vectors),
                         e->first && !e->written ? TVMS_FOR_SERIAL : TVMS_FOR_UNROLLED,
                         body);
  return body;
}

tvms_node *tvms_contraction_each(writer *w, tvms_contraction_element_writer *write,
                                 element e) {
  const tvms_node *like = tvms_contraction_column_var(w);
  tvms_node *row = NULL;
  e.indices[0] = number(w, like, 0);
  if (w->rest_row) tvms_node_map_put(&w->now, w->rest_row, number(w, w->rest_row, 0));
  if (w->row) {
    const tvms_node *axis = w->c->stage.axes[w->c->row].var;
    tvms_node *at = w->row;
    if (w->rows > 1) {
      row = e.indices[0] = tvms_cpu_variable(w->unit, "i", axis);
      at = build(w, TVMS_NODE_ADD, at, row);
      if (w->rest_row) tvms_node_map_put(&w->now, w->rest_row, row);
    }
    tvms_contraction_set_row(w, at);
  }
  const tvms_tile_columns *c = w->columns;
  tvms_node_vec stmts = {0};
  if (c->vectors)
    tvms_stmt_push(w->unit, &stmts,
                   write_vectors(w, &e, write, NULL, 0, c->width, c->vectors));
  if (c->tail && !w->without_tail)
    tvms_stmt_push(
        w->unit, &stmts,
        write_vectors(w, &e, write, c->tail_at, c->width * c->vectors, c->tail, 1));
  tvms_node *body = tvms_stmt_seq(w->unit, &stmts, TVMS_NO_SPAN);
  if (!row) return body;
  return tvms_cpu_loop(w->unit, row, number(w, row, w->rows),
                       e.first ? TVMS_FOR_SERIAL : TVMS_FOR_UNROLLED, body);
}

tvms_node *tvms_contraction_sum_of(writer *w, const element *e) {
  return tvms_buffer_load_new(w->unit, w->sums, e->indices, 2, NULL, TVMS_NO_SPAN);
}

tvms_node *tvms_contraction_set_sum(writer *w, const element *e, tvms_node *value) {
  return tvms_cpu_store(w->unit, w->sums, tvms_list_copy(w->unit, e->indices, 2),
                        value);
}

void tvms_contraction_enter_epilogue(writer *w, const tvms_epilogue *epilogue) {
  for (uint32_t i = 0; i < epilogue->stage.count; i++) {
    const tvms_node *axis = w->c->stage.axes[epilogue->axis_of[i]].var;
    tvms_node_map_put(&w->now, epilogue->stage.axes[i].var,
                      tvms_node_map_get(&w->now, axis));
  }
}
