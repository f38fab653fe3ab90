// How bytes are made floats faster than memory gives them. An instruction that widens 16 bytes and one that
// makes floats of them keep the same units busy: a Zen 4 does both, and the product, at 31 GB/s from its
// caches, which is what memory gives, so one waits for the other (26 GB/s). Bytes that stay where they are in
// words, all others put to zero, are widened by whatever unit is free (37 GB/s):
//
//   for j, q, lane in T.grid(.., 4, 16):             once: what rows share, in the order of such lanes
//     turned[j * 64 + q * 16 + lane] = X[j * 64 + lane * 4 + q] * 2^-24
//   for j, q in T.grid(.., 4):                       a row
//     lanes[16] += turned[j * 64 + q * 16 ..] * float(reinterpret(W[j * 64 .. j * 64 + 64]) << 24 - 8 * q & 0xff000000)
//
// Byte q of a word is its highest then, and its sign that of the word, which is 2^24 times as much. Code
// that is as fast as memory profits from being told what to fetch; faster code catches up with that and waits.
#include "passes/tir/cpu/rows_words.h"

#include "ir/build.h"
#include "ir/rewrite.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/words.h"

#define number tvms_line_number
#define build  tvms_line_build

enum {
  BYTES = TVMS_CPU_WORD,
  LINE = TVMS_CPU_CACHE_LINE,
  AHEAD = 16 * 1024,  // bytes from what is fetched to what is used
};

// ---- Planning ----

bool tvms_line_plan_words(tvms_unit *unit, const tvms_line_member *fold,
                          const tvms_buffer_load *stream, const tvms_target *target,
                          tvms_line_plan *plan) {
  const tvms_node *line = fold->stage.axes[fold->own[0]].var, *term = fold->term;
  if (!tvms_cpu_words_gain(target) || plan->passes[0].fused != 1
      || fold->combine != TVMS_NODE_ADD || term->kind != TVMS_NODE_MUL)
    return false;
  tvms_node *a = tvms_as_binary(term)->a, *b = tvms_as_binary(term)->b;
  tvms_node *shared = tvms_cpu_byte_of(a) == stream ? b : a;
  if ((tvms_cpu_byte_of(a) != stream && tvms_cpu_byte_of(b) != stream)
      || shared->kind != TVMS_NODE_BUFFER_LOAD || shared->dtype.code != TVMS_FLOAT
      || shared->dtype.bits != 32
      || !tvms_cpu_goes_along(unit, tvms_as_buffer_load(shared)->indices, line)
      || !tvms_cpu_goes_along(unit, stream->indices, line))
    return false;
  plan->words = stream;
  plan->shared = shared;
  return true;
}

// ---- What rows share ----

static int64_t length_of(const tvms_line_group *g) {
  const tvms_stage *stage = &g->members[0].stage;
  return tvms_cpu_number(stage->axes[g->members[0].own[0]].extent);
}

tvms_node *tvms_line_words_buffer(tvms_unit *unit, const tvms_line_group *g,
                                  const tvms_line_plan *plan) {
  int64_t step = BYTES * plan->passes[0].lanes;
  tvms_node *size = tvms_int_imm_new(unit, g->rows[0]->dtype,
                                     length_of(g) / step * step, TVMS_NO_SPAN);
  return tvms_cpu_buffer(unit, "turned", plan->shared->dtype, "global", &size, 1);
}

tvms_node *tvms_line_turn_for_words(tvms_unit *unit, const tvms_line_group *g,
                                    const tvms_line_plan *plan, tvms_node *buffer) {
  tvms_line_writer w = {.unit = unit, .like = g->rows[0]};
  const tvms_stage *stage = &g->members[0].stage;
  int64_t lanes = plan->passes[0].lanes, step = BYTES * lanes;
  tvms_node *word = tvms_cpu_variable(unit, "j", w.like);
  tvms_node *byte = tvms_cpu_variable(unit, "q", w.like);
  tvms_node *lane = tvms_cpu_variable(unit, "lane", w.like);
  tvms_node *begin = build(&w, TVMS_NODE_MUL, word, number(&w, step));
  tvms_node *place = build(&w, TVMS_NODE_MUL, byte, number(&w, lanes));
  place = build(&w, TVMS_NODE_ADD, build(&w, TVMS_NODE_ADD, begin, place), lane);
  tvms_node *from = build(&w, TVMS_NODE_MUL, lane, number(&w, BYTES));
  from = build(&w, TVMS_NODE_ADD, build(&w, TVMS_NODE_ADD, begin, from), byte);
  tvms_node_map now;
  tvms_node_map_init(&now, &unit->context->memory);
  tvms_node_map_put(&now, stage->axes[g->members[0].own[0]].var, from);
  tvms_node *value = tvms_substitute(unit, plan->shared, &now);
  tvms_node_map_fini(&now);
  value = tvms_cpu_for_words(unit, plan->words, value);
  tvms_node *made =
      tvms_cpu_store(unit, buffer, tvms_list_copy(unit, &place, 1), value);
  made = tvms_cpu_loop(unit, lane, number(&w, lanes), TVMS_FOR_VECTORIZED, made);
  made = tvms_cpu_loop(unit, byte, number(&w, BYTES), TVMS_FOR_UNROLLED, made);
  return tvms_cpu_loop(unit, word, number(&w, length_of(g) / step), TVMS_FOR_SERIAL,
                       made);
}

// ---- Chunks ----

bool tvms_line_has_words(const tvms_line_writer *w) {
  return w->plan->words && w->pass == 0 && w->chunk.lanes == w->plan->passes[0].lanes
         && w->chunk.vectors == w->plan->passes[0].vectors && !w->chunk.fresh;
}

static tvms_node *load_vector(tvms_line_writer *w, tvms_node *buffer, tvms_node *begin,
                              int64_t lanes) {
  tvms_node *at = tvms_cpu_vector_at(w->unit, begin, lanes);
  return tvms_buffer_load_new(w->unit, buffer, &at, 1, NULL, TVMS_NO_SPAN);
}

// The element of the row at hand from which on bytes are loaded, `begin` in the line.
static tvms_node *byte_at(tvms_line_writer *w, tvms_node *begin) {
  w->own_now[0] = begin;
  tvms_line_set_axes(w);
  return tvms_line_as_now(w, (tvms_node *)&w->plan->words->head);
}

// Where the lanes are with which bytes `byte` of words are combined.
static tvms_node *place_of(tvms_line_writer *w, tvms_node *byte) {
  int64_t sums = w->plan->passes[0].sums, lanes = w->chunk.lanes;
  tvms_node *place = number(w, 0);
  if (w->stream) place = build(w, TVMS_NODE_MUL, w->stream, number(w, sums * lanes));
  if (sums < BYTES) byte = build(w, TVMS_NODE_FLOOR_MOD, byte, number(w, sums));
  return build(w, TVMS_NODE_ADD, place,
               build(w, TVMS_NODE_MUL, byte, number(w, lanes)));
}

static tvms_node *bytes_of(tvms_line_writer *w, tvms_node *begin, tvms_node *byte) {
  return tvms_cpu_floats_of_words(w->unit, tvms_as_buffer_load(byte_at(w, begin)), byte,
                                  (int)w->chunk.lanes);
}

// The products of one vector of words, which begins at `begin` in the line.
static tvms_node *add_words(tvms_line_writer *w, uint32_t at, tvms_node *begin) {
  int64_t lanes = w->chunk.lanes;
  tvms_node *byte = tvms_cpu_variable(w->unit, "q", w->like);
  tvms_node *shared =
      build(w, TVMS_NODE_ADD, begin, build(w, TVMS_NODE_MUL, byte, number(w, lanes)));
  tvms_node *term = build(w, TVMS_NODE_MUL, load_vector(w, w->turned, shared, lanes),
                          bytes_of(w, begin, byte));
  tvms_node *place = place_of(w, byte);
  tvms_node *to = tvms_cpu_vector_at(w->unit, place, lanes);
  tvms_node *sum =
      build(w, TVMS_NODE_ADD, load_vector(w, w->lanes[at], place, lanes), term);
  tvms_node *made =
      tvms_cpu_store(w->unit, w->lanes[at], tvms_list_copy(w->unit, &to, 1), sum);
  return tvms_cpu_loop(w->unit, byte, number(w, BYTES), TVMS_FOR_UNROLLED, made);
}

// A line of a cache after the other: what is to be fetched, then its words.
tvms_node *tvms_line_words_chunk(tvms_line_writer *w, uint32_t at) {
  int64_t step = BYTES * w->chunk.lanes, words = step < LINE ? LINE / step : 1;
  tvms_node *stream = tvms_line_open_row(w);
  tvms_node *line = tvms_cpu_variable(w->unit, "u", w->like), *word = number(w, 0);
  if (words > 1) word = tvms_cpu_variable(w->unit, "v", w->like);
  tvms_node *first = build(w, TVMS_NODE_MUL, line, number(w, words));
  tvms_node *begin = build(w, TVMS_NODE_ADD, w->chunk.begin,
                           build(w, TVMS_NODE_MUL, first, number(w, step)));
  tvms_node *fetched = tvms_cpu_prefetch(w->unit, byte_at(w, begin), AHEAD);
  begin =
      build(w, TVMS_NODE_ADD, begin, build(w, TVMS_NODE_MUL, word, number(w, step)));
  tvms_node *made = add_words(w, at, begin);
  if (words > 1)
    made = tvms_cpu_loop(w->unit, word, number(w, words), TVMS_FOR_UNROLLED, made);
  made = tvms_stmt_pair(w->unit, fetched, made);
  int64_t lines = w->chunk.vectors / BYTES / words;
  made = tvms_cpu_loop(w->unit, line, number(w, lines), TVMS_FOR_UNROLLED, made);
  return tvms_line_close_row(w, stream, made);
}
