// Sums of columns of bytes: rows_words.c says why words are faster.
//
//   for kb, j0 in T.grid(.., ..):
//     for k in range(8):                            each row in its part of the sum
//       x = X[k] * 2^-24
//       for j, q in T.grid(4, 4):                   a line, and what comes 2 KiB later is fetched
//         sums[j * 64 + q * 16 ..] += x * float(reinterpret(W[k, j0 * 256 + j * 64 .. + 64]) << 24 - 8 * q & 0xff000000)
//
// A line takes as long as memory needs for it (Zen 4: 7 cycles), so what its row shares is computed in front of all of them.
// Sum j * 64 + q * 16 + lane is that of column j * 64 + lane * 4 + q. Between blocks it stays so; the last one puts sums in order.
#include "passes/tir/cpu/contraction_words.h"

#include "ir/build.h"
#include "ir/fold.h"
#include "ir/stmt.h"
#include "ir/walk.h"
#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/words.h"

typedef tvms_contraction_writer writer;

static tvms_node *build(writer *w, tvms_node_kind kind, tvms_node *a, tvms_node *b) {
  return tvms_build_binary(w->unit, kind, a, b, TVMS_NO_SPAN);
}

static tvms_node *number(writer *w, const tvms_node *like, int64_t value) {
  return tvms_int_imm_new(w->unit, like->dtype, value, TVMS_NO_SPAN);
}

// The byte of a term that is a product; `shared` is the other factor.
static const tvms_buffer_load *TVMS_NULLABLE byte_of_term(const tvms_node *term,
                                                          tvms_node **shared) {
  if (term->kind != TVMS_NODE_MUL) return NULL;
  tvms_node *a = tvms_as_binary(term)->a, *b = tvms_as_binary(term)->b;
  const tvms_buffer_load *byte = tvms_cpu_byte_of(b);
  *shared = byte ? a : b;
  return byte ? byte : tvms_cpu_byte_of(a);
}

bool tvms_contraction_can_words(tvms_unit *unit, const tvms_contraction *c) {
  tvms_node *shared;
  const tvms_buffer_load *byte = byte_of_term(c->term, &shared);
  const tvms_node *column = c->stage.axes[c->column].var;
  tvms_dtype sum = c->stage.store->value->dtype;
  return byte && c->column_count == 1 && c->one_sum && sum.code == TVMS_FLOAT
         && sum.bits == 32 && tvms_cpu_goes_along(unit, byte->indices, column)
         && !tvms_walk_contains(&unit->context->memory, shared, column);
}

bool tvms_contraction_has_words(const writer *w) {
  const tvms_tile_columns *c = w->columns;
  return w->tile->sum_words && w->block && !c->tail && c->width == w->tile->lanes
         && c->vectors % TVMS_CPU_WORD == 0;
}

tvms_node *tvms_contraction_word_column(writer *w, tvms_node *vector, tvms_node *lane) {
  tvms_node *word = number(w, vector, TVMS_CPU_WORD);
  tvms_node *first =
      build(w, TVMS_NODE_MUL, build(w, TVMS_NODE_FLOOR_DIV, vector, word),
            number(w, vector, w->columns->width * TVMS_CPU_WORD));
  tvms_node *column =
      build(w, TVMS_NODE_ADD, first, build(w, TVMS_NODE_MUL, lane, word));
  return build(w, TVMS_NODE_ADD, column, build(w, TVMS_NODE_FLOOR_MOD, vector, word));
}

// The byte of the row at hand at a column.
static const tvms_buffer_load *byte_at(writer *w, tvms_node *column,
                                       tvms_node **shared) {
  tvms_contraction_set_column(w, column);
  return byte_of_term(tvms_contraction_as_now(w, w->term), shared);
}

// The bytes that the row, or the next one in memory, has 2 KiB further are to be fetched.
static tvms_node *fetch_ahead(writer *w, tvms_node *begin) {
  enum { AHEAD = 2048 };
  tvms_node *shared;
  const tvms_buffer_load *byte = byte_at(w, begin, &shared);
  tvms_node *load = tvms_buffer_load_new(w->unit, byte->buffer, byte->indices.items,
                                         byte->indices.len, NULL, TVMS_NO_SPAN);
  return tvms_cpu_prefetch(w->unit, load, AHEAD);
}

// A variable for what the columns of the row at hand share.
static tvms_bind *bind_shared(writer *w) {
  tvms_node *shared;
  const tvms_buffer_load *byte =
      byte_at(w, number(w, tvms_contraction_column_var(w), 0), &shared);
  tvms_bind *bind = tvms_node_make(w->unit, BIND, TVMS_NO_SPAN);
  bind->value = tvms_cpu_for_words(w->unit, byte, shared);
  bind->var = tvms_cpu_variable(w->unit, "x", bind->value);
  return bind;
}

// sums[0, vector] += shared * bytes `byte` of the words from column `begin` on
static tvms_node *add_bytes(writer *w, tvms_node *shared, tvms_node *begin,
                            tvms_node *vector, tvms_node *byte) {
  int64_t lanes = w->tile->lanes;
  tvms_node *of_line;
  const tvms_buffer_load *first = byte_at(w, begin, &of_line);
  shared = tvms_broadcast_new(w->unit, shared, (int)lanes, TVMS_NO_SPAN);
  tvms_node *floats = tvms_cpu_floats_of_words(w->unit, first, byte, (int)lanes);
  tvms_node *place = build(w, TVMS_NODE_MUL, vector, number(w, vector, lanes));
  tvms_node *at[] = {number(w, vector, 0), tvms_cpu_vector_at(w->unit, place, lanes)};
  tvms_node *sum = tvms_buffer_load_new(w->unit, w->sums, at, 2, NULL, TVMS_NO_SPAN);
  sum = build(w, TVMS_NODE_ADD, sum, build(w, TVMS_NODE_MUL, shared, floats));
  return tvms_cpu_store(w->unit, w->sums, tvms_list_copy(w->unit, at, 2), sum);
}

// A line of the caches after the other: what is to be fetched, then its words.
tvms_node *tvms_contraction_add_words(writer *w) {
  const tvms_node *like = tvms_contraction_column_var(w);
  tvms_node *vars[TVMS_MOST_STAGE_AXES] = {0};
  tvms_contraction_open_sums(w, vars);
  if (w->row) tvms_contraction_set_row(w, w->row);
  tvms_node *line = tvms_cpu_variable(w->unit, "j", like);
  tvms_node *byte = tvms_cpu_variable(w->unit, "q", like);
  tvms_node *first =
      build(w, TVMS_NODE_ADD, w->strip_begin, tvms_contraction_tile_column(w, NULL));
  tvms_node *begin =
      build(w, TVMS_NODE_ADD, first,
            build(w, TVMS_NODE_MUL, line, number(w, like, TVMS_CPU_CACHE_LINE)));
  tvms_node *vector =
      build(w, TVMS_NODE_ADD,
            build(w, TVMS_NODE_MUL, line, number(w, like, TVMS_CPU_WORD)), byte);
  tvms_bind *shared = bind_shared(w);
  tvms_node *made = add_bytes(w, shared->var, begin, vector, byte);
  made = tvms_cpu_loop(w->unit, byte, number(w, like, TVMS_CPU_WORD), TVMS_FOR_UNROLLED,
                       made);
  made = tvms_stmt_pair(w->unit, fetch_ahead(w, begin), made);
  tvms_node *lines = number(w, like, w->columns->vectors / TVMS_CPU_WORD);
  made = tvms_cpu_loop(w->unit, line, lines, TVMS_FOR_UNROLLED, made);
  made = tvms_stmt_pair(w->unit, &shared->head, made);
  return tvms_contraction_close_sums(w, made, vars);
}
