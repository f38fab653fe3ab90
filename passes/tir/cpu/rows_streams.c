// How rows that no cache holds are read as fast as memory gives them: measured on a Zen 4, whose one core
// reads 31 GB/s from large pages and 17 from small ones by one stream, 23 from these by four.
//
//   for row in T.parallel(n // 4):                  each of the four goes through a quarter of the rows
//     for j, r in T.grid(.., 4):
//       lanes[r] += X[j] * W[row + r * (n // 4), j]    from end to end, and what rows share is loaded once
//
// Rows that are neighbours are no such streams: each ends soon, and fetching ahead begins anew.
#include "passes/tir/cpu/rows_streams.h"

#include "ir/walk.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/rows_words.h"

// What is read of one row before the next one, by the width of its elements. Floats of a matrix times a
// vector came at 30 GB/s so, at 26 row by row (small pages: 23 and 14); bytes, whose conversion takes as
// long as memory does, at 27 and 25. Halves come at 30 GB/s by 256 bytes of each row, at 28 by 128, at 25 by 512; on a Sapphire
// Rapids at 26 GB/s by eight rows, 22 row by row (times a vector of halves 13 and 9). Of what all rows share there are
// several bytes for each one of narrow rows: if it leaves the first cache no room, eight rows have to share
// what is loaded (halves 33 GB/s instead of 12, bytes 21 instead of 9).
typedef struct {
  int64_t bits;  // of an element at least
  int64_t rows;
  int64_t bytes;  // 0: row by row
} shape;

static const shape shapes[] = {{32, 4, 512}, {16, 8, 256}, {8, 2, 256}};
static const shape of_long_rows[] = {{32, 4, 512}, {16, 8, 256}, {8, 8, 64}};

// Bytes that are taken four at a time come at 31 GB/s, however long rows are (small pages: 23). Where registers
// are few (a Zen 3, whose units make floats of them at 25 GB/s at most) they hold the steps of half a line of two
// rows: 23 GB/s, by four rows 19.
static const shape of_words = {8, 4, 128}, of_words_in_few = {8, 2, 64};

typedef struct {
  tvms_unit *unit;
  const tvms_node *row, *line;
  const tvms_buffer_load *TVMS_NULLABLE stream;  // what moves along the rows
  uint32_t count;
  int64_t shared;  // bits of what rows share, for each step of the line
} stream_search;

static int64_t bits_of(const tvms_buffer_load *load) {
  return tvms_as_buffer(load->buffer)->element.bits;
}

static tvms_walk_step find_stream(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  stream_search *s = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  tvms_memory *memory = &s->unit->context->memory;
  if (!tvms_walk_contains(memory, node, s->row)) {
    if (tvms_walk_contains(memory, node, s->line)) s->shared += bits_of(load);
    return TVMS_WALK_SKIP;
  }
  int64_t step;
  s->count++;
  if (tvms_cpu_step_of(s->unit, load->buffer, load->indices, s->line, &step)
      && step == 1)
    s->stream = load;
  return TVMS_WALK_SKIP;
}

// The first pass folds, and nothing else is done with elements.
static bool only_folds(tvms_unit *unit, const tvms_line_group *g,
                       const tvms_line_plan *plan) {
  const tvms_line_pass_plan *p = &plan->passes[0];
  if (g->row_count != 1 || p->tile > 1 || p->divisor || p->guard || p->turned)
    return false;
  uint32_t folds = 0;
  for (uint32_t i = 0; i < g->count; i++) {
    const tvms_line_member *m = &g->members[i];
    const tvms_line_place *place = &plan->places[i];
    if (m->pass > 0 && m->own_count > 0) return false;
    if (place->how != TVMS_LINE_KEPT && place->how != TVMS_LINE_OF_ROW) return false;
    if (m->pass > 0) continue;
    if (m->kind != TVMS_LINE_FOLD || m->own_count != 1 || place->one_by_one
        || tvms_chain_cost_of(unit, m->stage.store->value, NULL).calls)
      return false;
    folds++;
  }
  return folds == 1;
}

static const tvms_line_member *fold_of(const tvms_line_group *g) {
  const tvms_line_member *m = g->members;
  while (m->pass > 0)
    m++;
  return m;
}

// The only load of the fold that depends on the row, if it streams, and what rows share.
static stream_search stream_of(tvms_unit *unit, const tvms_line_member *fold) {
  stream_search s = {.unit = unit,
                     .row = fold->stage.axes[fold->rows[0]].var,
                     .line = fold->stage.axes[fold->own[0]].var};
  tvms_visitor visitor = {.self = &s, .enter = find_stream};
  tvms_walk(&unit->context->memory, fold->term, &visitor);
  if (s.count != 1) s.stream = NULL;
  return s;
}

// NULL: row by row, as what the second cache holds. Of a model's weights the last one holds no more, be
// each matrix as small as it may.
static const shape *TVMS_NULLABLE shape_for(const stream_search *s,
                                            const tvms_target *target, int64_t rows,
                                            int64_t length) {
  enum { FIRST_CACHE = 32 * 1024, SECOND_CACHE = 1024 * 1024 };
  int64_t first = tvms_target_cache(target, 0, FIRST_CACHE);
  int64_t second = tvms_target_cache(target, 1, SECOND_CACHE);
  int64_t bits = bits_of(s->stream), least = second / bits * 8;
  if (bits < 8 || length < 1 || rows <= least / length) return NULL;
  bool is_long = s->shared && length > first / 2 * 8 / s->shared;
  const shape *found = is_long ? of_long_rows : shapes;
  while (found->bits > bits)
    found++;
  return found->bytes ? found : NULL;
}

void tvms_line_plan_streams(tvms_unit *unit, const tvms_line_group *g,
                            const tvms_target *target, tvms_line_plan *plan) {
  enum { MOST_SUMS = 4, SUMS_OF_ALL = 16 };
  bool few = target->vector_registers < TVMS_MANY_REGISTERS;
  if (!only_folds(unit, g, plan)) return;
  const tvms_line_member *fold = fold_of(g);
  tvms_line_pass_plan *p = &plan->passes[0];
  int64_t rows = tvms_cpu_number(g->rows[0]);
  int64_t length = tvms_cpu_number(fold->stage.axes[fold->own[0]].extent);
  stream_search stream = stream_of(unit, fold);
  if (rows < 0 || length < 0 || !stream.stream) return;
  const shape *s = shape_for(&stream, target, rows, length);
  if (!s) return;
  if (tvms_line_plan_words(unit, fold, stream.stream, target, plan))
    s = few ? &of_words_in_few : &of_words;
  int64_t vectors = s->bytes * 8 / bits_of(stream.stream) / p->lanes;
  if (vectors < 1 || 2 * vectors * p->lanes > length || rows < 2 * s->rows) {
    plan->words = NULL;
    return;
  }
  int64_t most = SUMS_OF_ALL / s->rows;
  if (few) most /= 2;
  p->vectors = vectors;
  p->sums = most > MOST_SUMS ? MOST_SUMS : most;
  if (p->sums > vectors) p->sums = vectors;
  plan->streams = s->rows;
}
