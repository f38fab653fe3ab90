// Choosing register tiles.
#include "passes/tir/cpu/tile.h"

#include "ir/walk.h"
#include "passes/tir/cpu/contraction_rest.h"
#include "passes/tir/cpu/contraction_sizes.h"
#include "passes/tir/cpu/contraction_spare.h"
#include "passes/tir/cpu/quad_operand.h"
#include "passes/tir/cpu/tile_fetch.h"
#include "passes/tir/cpu/tile_sums.h"
#include "passes/tir/cpu/words.h"

// Accumulators that keep two multiply-add units busy: four steps until a sum is ready.
enum { FEWEST_SUMS = 8 };

// Steps of a sum that strips read a large operand for where it lies, by rows of an unknown number, before that is copied.
enum { MOST_STEPS_IN_STRIPS = 1024 };

// Vectors of a wide tile.
enum { WIDE = 4 };

// Fewer rows than these are no reason to copy what they are multiplied by.
enum { ROWS_OF_COPIES = 24 };

static tvms_tile_machine machine_of(const tvms_target *target, tvms_dtype dtype) {
  uint32_t bits = target->vector_bits ? target->vector_bits : 128;
  tvms_tile_machine m = {.lanes = bits / dtype.bits,
                         .registers = 16,
                         .cache = tvms_target_cache(target, 1, 256 * 1024),
                         .last_cache = tvms_target_cache(target, 2, 32 * 1024 * 1024),
                         .ways = 8,
                         .period = 4096};
  if (target->vector_registers) m.registers = target->vector_registers;
  const tvms_cpu_cache *first = &target->caches[0];
  if (first->size && first->ways) {
    m.ways = first->ways;
    m.period = (int64_t)(first->size / first->ways);
  }
  return m;
}

// Bytes between neighbouring rows of the resting operand, or 0 if that is not known.
static int64_t row_stride(tvms_unit *unit, const tvms_contraction *c) {
  if (c->row == TVMS_MOST_STAGE_AXES || !c->resting) return 0;
  const tvms_buffer_load *load = tvms_as_buffer_load(c->resting);
  const tvms_buffer *buffer = tvms_as_buffer(load->buffer);
  int64_t stride = buffer->element.bits / 8;
  for (uint32_t i = load->indices.len; i-- > 0;) {
    if (tvms_walk_contains(&unit->context->memory, load->indices.items[i],
                           c->stage.axes[c->row].var))
      return stride;
    int64_t size = tvms_cpu_number(buffer->shape.items[i]);
    if (size < 0) return 0;
    stride *= size;
  }
  return 0;
}

static int64_t most_rows(const tvms_tile_machine *m, int64_t vectors) {
  // More rows would save no time, but share the places of the first cache.
  enum { MOST_ROWS = 14 };
  int64_t rows = (m->registers - vectors - 1) / vectors;
  if (rows > MOST_ROWS) rows = MOST_ROWS;
  return rows < m->most_rows ? rows : m->most_rows;
}

int64_t tvms_tile_cost(int64_t rows, int64_t vectors) {
  int64_t sums = rows * vectors;
  return sums < FEWEST_SUMS ? FEWEST_SUMS : sums;
}

// Time of all rows in tiles of `r`: loads of the moving operand come once per tile, two in the time of a sum.
static int64_t rows_time(int64_t rows, int64_t r, int64_t vectors) {
  int64_t rest = rows % r;
  int64_t time = rows / r * tvms_tile_cost(r, vectors)
                 + (rest ? tvms_tile_cost(rest, vectors) : 0);
  return 2 * time + (rows + r - 1) / r * vectors;
}

// Rows of a tile: those that cover all rows in the least time, the fewest of these: rows that lie a
// power of two apart share the places of the first cache.
static int64_t rows_for(const tvms_tile_machine *m, int64_t rows, int64_t vectors) {
  int64_t most = most_rows(m, vectors), best = 0, least = 0;
  if (rows < 0) return most < 8 ? most : 8;
  if (rows <= most) return rows;
  for (int64_t r = (FEWEST_SUMS + vectors - 1) / vectors; r <= most; r++) {
    int64_t time = rows_time(rows, r, vectors);
    if (best && time >= least) continue;
    best = r;
    least = time;
  }
  // Rows that are left over have a tile of their own, which takes as long to compile as the first one: tiles
  // that leave none are taken if they keep all units busy and take about as long (4 rows rather than 6 of
  // four vectors: 2 to 4 % more; of 64 x 64, which the first cache holds, 1 % less).
  for (int64_t r = most; r * vectors >= 2 * FEWEST_SUMS; r--) {
    bool slow = rows_time(rows, r, vectors) > least + least / (m->near ? 16 : 32);
    if (rows % r == 0 && !slow) return r;
  }
  return best ? best : most;
}

static int64_t vectors_for(const tvms_tile_machine *m, int64_t rows,
                           int64_t vectors_wanted) {
  int64_t vectors = 2;
  while (rows >= 0 && rows * vectors < FEWEST_SUMS && vectors < TVMS_MOST_TILE_VECTORS
         && most_rows(m, vectors * 2) >= rows)
    vectors *= 2;
  while (vectors > 1 && vectors_wanted > 0 && vectors > vectors_wanted)
    vectors--;
  return vectors;
}

// Of columns that leave half of their second vector empty, vectors of half the size are faster: half as
// many lanes take half the time, or there are twice as many units for them. All are in one tile.
static bool half_vectors(const tvms_tile_machine *m, int64_t lanes, int64_t columns) {
  enum { FEWEST_LANES = 8 };
  int64_t rest = columns - lanes;
  return m->registers >= TVMS_MANY_REGISTERS && lanes >= 2 * FEWEST_LANES && rest > 0
         && rest <= lanes / 2;
}

int64_t tvms_tile_rows(const tvms_tile *tile, int64_t vectors) {
  return tile
      ->rows_with[vectors < TVMS_MOST_TILE_VECTORS ? vectors : TVMS_MOST_TILE_VECTORS];
}

bool tvms_tile_blocks_in_strip(const tvms_tile *tile) {
  return tile->lines || (tile->beforehand && tile->group == 1);
}

void tvms_tile_sum_at_once(tvms_tile *tile) {
  tile->sum_block = 0;
  tile->sum_apart = tile->sum_written = tile->sum_words = tile->sum_afresh = false;
  tile->sum_skew = 0;
}

void tvms_tile_take_strips(tvms_tile *tile, const tvms_tile *other) {
  tile->vectors = other->vectors;
  tile->strip = other->strip;
  tile->rows = tile->rows_with[tile->vectors];
  tile->sum_words = false;  // they have vectors of their own
  tile->last_strip = tile->last_takes_whole = false;
}

int64_t tvms_tile_least_lanes(const tvms_tile *tile) {
  enum { LEAST = 4 };
  int64_t lanes = tile->lanes;
  while (lanes / 2 >= LEAST)
    lanes /= 2;
  return lanes;
}

int64_t tvms_tile_vectors(const tvms_tile *tile, int64_t columns) {
  int64_t vectors = (columns + tile->lanes - 1) / tile->lanes;
  bool spare = tile->spares && vectors > 1 && columns % tile->lanes == 1;
  return spare ? vectors - 1 : vectors;
}

static int64_t panel_of_lines(const tvms_tile *tile, const tvms_contraction *c,
                              int64_t lines, int64_t length) {
  int64_t bytes = c->term->dtype.bits / 8 * tvms_contraction_steps(c) * length;
  if (!tile->shares_lines) return bytes * lines;
  return bytes / tile->shared.steps * tvms_cpu_shared_lines_count(&tile->shared, lines);
}

// Columns of a strip that consists of lines: those that waste the fewest vectors, and of these the
// most whose panel stays near.
static int64_t strip_of_lines(const tvms_tile_machine *m, const tvms_tile *tile,
                              const tvms_contraction *c, int64_t length) {
  int64_t lines = tvms_contraction_column_steps(c) / length;
  int64_t best = 1, least = 0;
  // Longer strips share more.
  int64_t most = tile->shares_lines ? 2 * TVMS_LONGEST_LINE : TVMS_LONGEST_LINE;
  for (int64_t r = 1; r <= lines && r * length <= most; r++) {
    int64_t cost = lines / r * tvms_tile_vectors(tile, r * length)
                   + tvms_tile_vectors(tile, lines % r * length);
    bool near = panel_of_lines(tile, c, r, length) <= m->cache / 2
                || best * length < 2 * tile->lanes;
    if (least && (cost > least || (cost == least && !near))) continue;
    best = r;
    least = cost;
  }
  return best * length;
}

static int64_t columns_in_line(const tvms_contraction *c) {
  return tvms_cpu_number(c->stage.axes[c->columns[c->column_count - 1]].extent);
}

// Do steps of a window share lines in the panel? It has all steps of the sum, must be near, and save a
// third of the copies.
static bool share_lines(tvms_unit *unit, const tvms_tile_machine *m, tvms_tile *tile,
                        const tvms_contraction *c, int64_t length) {
  if (!tvms_cpu_shared_lines_find(unit, c, &tile->shared)) return false;
  tile->shares_lines = true;
  int64_t strip = strip_of_lines(m, tile, c, length), lines = strip / length;
  int64_t copies = tvms_cpu_shared_lines_count(&tile->shared, lines);
  tile->shares_lines = 3 * copies <= 2 * lines * tile->shared.steps
                       && panel_of_lines(tile, c, lines, length) <= m->cache / 2;
  return tile->shares_lines;
}

static int64_t vectors_of_lines(const tvms_tile_machine *m) {
  return m->registers >= TVMS_MANY_REGISTERS ? 4 : 2;
}

static void choose_rows(const tvms_tile_machine *m, tvms_tile *tile, int64_t rows) {
  for (int64_t v = 1; v <= TVMS_MOST_TILE_VECTORS; v++)
    tile->rows_with[v] = most_rows(m, v) > 0 ? rows_for(m, rows, v) : 1;
  tile->rows = tile->rows_with[tile->vectors];
}

static void choose_strip(tvms_unit *unit, const tvms_tile_machine *m, tvms_tile *tile,
                         const tvms_contraction *c, int64_t rows) {
  tile->lines = tile->packs && c->column_count > 1 && !c->contiguous;
  tile->flat_sum = c->one_sum || (tile->packs && c->sums_in_order);
  tile->strip = tile->lanes * tile->vectors;
  if (tile->lines) {
    int64_t length = columns_in_line(c);
    if (share_lines(unit, m, tile, c, length)) tile->flat_sum = false;
    tile->strip = strip_of_lines(m, tile, c, length);
    tile->vectors = vectors_of_lines(m);
  }
  choose_rows(m, tile, rows);
}

static int64_t steps_of(const tvms_contraction *c, tvms_axis_role role) {
  int64_t steps = 1;
  for (uint32_t i = 0; i < c->stage.count; i++) {
    if (c->roles[i] != role) continue;
    int64_t size = tvms_cpu_number(c->stage.axes[i].extent);
    steps *= size < 0 ? 64 : size;
  }
  return steps;
}

// Do few rows go through the moving operand from end to end, a handful of its rows at a time?
static bool streams(const tvms_tile *tile) {
  return tile->sum_block && !tile->packs && !tile->beforehand && !tile->in_place;
}

// The outermost loop that has enough steps for each core to be busy until the end, if there is
// enough to do at all.
static tvms_tile_threads threads_for(const tvms_target *target, const tvms_tile *tile,
                                     const tvms_contraction *c) {
  enum { WORTH_THREADS = 1 << 20, STEPS = 4 };
  int64_t cores = target->cores ? target->cores : 2, enough = cores * STEPS;
  int64_t batches = steps_of(c, TVMS_AXIS_BATCH), rows = tvms_contraction_uses(c);
  int64_t columns = tvms_contraction_usual_columns(c),
          steps = tvms_contraction_steps(c);
  double work = (double)batches * (double)rows * (double)columns
                * (double)(steps < 0 ? 64 : steps);
  // Where few rows go through a large operand once, line by line, a step is too short.
  if (cores == 1 || work < WORTH_THREADS || streams(tile)) return TVMS_TILE_SERIAL;
  int64_t strips = columns / tile->strip, tiles = rows / tile->rows;
  if (batches >= enough || (batches > 1 && batches % cores == 0))
    return TVMS_TILE_BATCHES;
  if (strips >= enough) return TVMS_TILE_STRIPS;
  if (tiles >= enough || tiles > strips)
    return tiles > 1 ? TVMS_TILE_ROWS : TVMS_TILE_SERIAL;
  return strips > 1 ? TVMS_TILE_STRIPS : TVMS_TILE_SERIAL;
}

// Where elements are computed several times anyway, the last tile of rows may begin earlier instead of
// being smaller: tiles that take the least time, of those with few rows that are computed twice.
static void overlap_rows(const tvms_tile_machine *m, tvms_tile *tile,
                         const tvms_contraction *c, int64_t rows) {
  enum { MOST_TWICE = 32 };  // one row of so many
  if (tile->sum_block || !tvms_tile_repeats(c, tile)) return;
  for (int64_t v = 1; v <= TVMS_MOST_TILE_VECTORS; v++) {
    int64_t most = most_rows(m, v), best = 0, least = 0;
    if (rows <= most || rows % tile->rows_with[v] == 0) continue;
    for (int64_t r = most; r * v >= FEWEST_SUMS + FEWEST_SUMS / 2; r--) {
      int64_t tiles = (rows + r - 1) / r, time = rows_time(tiles * r, r, v);
      if (tiles * r - rows > rows / MOST_TWICE || (best && time >= least)) continue;
      best = r;
      least = time;
    }
    if (!best) continue;
    tile->rows_with[v] = best;
    tile->rows_overlap = true;
  }
  tile->rows = tile->rows_with[tile->vectors];
}

void tvms_tile_join_rest(const tvms_contraction *c, tvms_tile *tile) {
  enum { TOLERATED = 128 };
  if (tile->sum_block || c->row == TVMS_MOST_STAGE_AXES) return;
  int64_t rows = tvms_cpu_number(c->stage.axes[c->row].extent), one = tile->rows;
  if (rows <= one || rows % one == 0) return;
  int64_t apart = rows_time(rows, one, tile->vectors);
  int64_t joined = rows_time((rows + one - 1) / one * one, one, tile->vectors);
  tile->rows_overlap |= joined <= apart + apart / TOLERATED;
}

// Six rows by four vectors load ten times for 24 sums, eight by two, which have half the registers, ten
// times for 16. Few rows that fit into the narrow tile and not into the wide one lose more than that
// gains: 3 % of a window of 512 channels over 7 by 7. So do the columns of one wide tile that the first cache
// does not hold: 1 % of 7 by 7 windows to 64 channels.
static bool is_wide(const tvms_tile_machine *m, int64_t rows, int64_t vectors,
                    int64_t wanted) {
  enum { TOLERATED = 16 };
  bool many = m->near || wanted >= 2 * WIDE;
  if (m->registers < TVMS_MANY_REGISTERS || !many || vectors >= WIDE) return false;
  if (rows <= 0) return true;
  int64_t narrow = rows_time(rows, rows_for(m, rows, vectors), vectors) * WIDE;
  int64_t wide = rows_time(rows, rows_for(m, rows, WIDE), WIDE) * vectors;
  return wide <= narrow + narrow / TOLERATED;
}

// Is the moving operand converted from halves, by more tiles of rows than it costs to do that once?
static bool converts_often(const tvms_contraction *c) {
  enum { WORTH_CONVERTING = 24 };
  return c->moving && c->moving->kind == TVMS_NODE_CAST
         && tvms_as_cast(c->moving)->value->dtype.bits == 16
         && tvms_contraction_uses(c) >= WORTH_CONVERTING;
}

// Is the moving operand words that are joined from bytes, by more tiles of rows than one?
static bool joins_often(const tvms_contraction *c) {
  enum { WORTH_JOINING = 2 };
  return tvms_cpu_quad_factors(c->term) && c->moving->kind != TVMS_NODE_BUFFER_LOAD
         && tvms_contraction_uses(c) >= WORTH_JOINING;
}

// Is there more than one strip that a tile of rows could go through before the next one?
static bool can_group(const tvms_contraction *c, const tvms_tile *tile) {
  return !tile->lines && !tile->spares && !streams(tile)
         && c->row < TVMS_MOST_STAGE_AXES && tvms_contraction_knows_rows(c)
         && tvms_contraction_column_steps(c) > tile->strip;
}

// Rows, and what becomes of them, come from afar or go there where the second cache does not hold them: they should do so
// once, and line by line, which each tile of rows does that goes through all strips at once. The second cache then
// holds the panels of all strips. Windows of 1 x 1 over 56 x 56 take up to 20 % less time (64 or 256 channels to 64 or
// 256). What the caches hold anyway is faster with one panel at a time in the first one. Where the panels of all strips are
// too many, and rows more than half of the cache, groups of strips take turns, whose panels are a quarter of it: products
// with 1024 or 2048 rows take 3 to 6 % less time; with half of it they gain less, or lose.
static int64_t group_for(const tvms_tile_machine *m, const tvms_contraction *c,
                         const tvms_tile *tile) {
  enum { USUAL_STEPS = 512 };
  int64_t columns = tvms_contraction_column_steps(c);
  if (!can_group(c, tile)) return 1;
  int64_t all = tvms_contraction_steps(c);
  int64_t steps = tile->sum_block ? tile->sum_block : all < 0 ? USUAL_STEPS : all;
  int64_t bytes = c->term->dtype.bits / 8;
  double rows = all < 0
                    ? (double)tvms_contraction_uses(c) * (double)(steps * bytes)
                    : tvms_contraction_resting_bytes(c) * (double)steps / (double)all;
  if (2 * (rows + tvms_contraction_result_bytes(c)) <= (double)m->cache) return 1;
  int64_t strips = (columns + tile->strip - 1) / tile->strip;
  if (3 * tvms_contraction_moving_bytes(c) <= m->cache) return strips;
  int64_t most = m->cache / 4 / (steps * tile->strip * bytes);
  if (most < 2 || 2 * rows <= (double)m->cache) return 1;
  int64_t groups = (strips + most - 1) / most;
  return (strips + groups - 1) / groups;
}

// Time of all strips of `wanted` vectors for tiles of as many rows as those of `vectors` have.
static int64_t strips_time(const tvms_tile_machine *m, int64_t rows, int64_t vectors,
                           int64_t wanted) {
  int64_t r = rows_for(m, rows, vectors), rest = wanted % vectors;
  return wanted / vectors * rows_time(rows, r, vectors)
         + (rest ? rows_time(rows, r, rest) : 0);
}

// Where tiles of rows go through all strips, the last one has no rows of its own: few rows of one vector would wait for their
// sums. Three vectors, or three and two, leave none (24 columns: a quarter less time).
static bool takes_threes(const tvms_tile_machine *m, const tvms_contraction *c,
                         const tvms_tile *tile, int64_t rows, int64_t wanted) {
  enum { WORTH = 20 };
  if (m->registers >= TVMS_MANY_REGISTERS || tile->vectors != 2 || rows <= 0
      || !can_group(c, tile) || 3 * tvms_contraction_moving_bytes(c) > m->cache
      || 2 * (tvms_contraction_resting_bytes(c) + tvms_contraction_result_bytes(c))
             <= (double)m->cache)
    return false;
  int64_t twos = strips_time(m, rows, 2, wanted);
  return twos - strips_time(m, rows, 3, wanted) > twos / WORTH;
}

// Should threads go through all strips at once for each tile of rows? What comes before and behind has rows on threads, mostly: so each
// goes on with what it has written itself, and is called once instead of once for each strip. The second cache must hold all
// panels, and tiles be so many that all threads have the same.
static bool shares_rows(const tvms_tile_machine *m, const tvms_contraction *c,
                        const tvms_tile *tile) {
  enum { MANY_TILES = 12 };
  bool threads = tile->threads == TVMS_TILE_STRIPS || tile->threads == TVMS_TILE_ROWS;
  return threads && tile->beforehand && !tile->sum_block
         && c->row < TVMS_MOST_STAGE_AXES
         && tvms_contraction_uses(c) >= MANY_TILES * tile->rows
         && 3 * tvms_contraction_moving_bytes(c) <= m->cache;
}

// Have few rows, whose number is not known, nests of their own? Where the sum has many steps, or an unknown number of them, and more
// rows copy the operand, they have them also for one that the cache may hold: they copy nothing.
static bool has_few_rows(const tvms_tile_machine *m, const tvms_contraction *c) {
  int64_t steps = tvms_contraction_steps(c);
  int64_t cache = steps < 0 || steps > MOST_STEPS_IN_STRIPS ? m->cache / 2 : m->cache;
  return c->moving && c->moving->kind == TVMS_NODE_BUFFER_LOAD
         && !tvms_contraction_knows_rows(c) && !c->joins
         && !tvms_contraction_has_outer(c) && tvms_contraction_keeps_sizes(c)
         && tvms_contraction_is_far(c, cache);
}

// Of columns whose number is not known: few rows would wait for their sums in each narrow strip that whole ones leave over. These have
// all of it at once, and a whole one, too, where it is one vector: unless they go through blocks of the sum.
static void plan_last_strip(const tvms_contraction *c, tvms_tile *tile) {
  bool few = tvms_contraction_knows_rows(c)
             && tvms_contraction_uses(c) < TVMS_FEWEST_ROWS_IN_PLACE;
  tile->last_strip = few && tvms_contraction_column_steps(c) < 0
                     && tile->vectors <= TVMS_MOST_TILE_VECTORS;
  tile->last_takes_whole = tile->last_strip && !tile->sum_block;
}

// May strips of a large moving operand be read where they lie? Those of several lines are as fast there as in a panel, by
// blocks of the sum that the second cache holds, if the tiles fetch the next one meanwhile: 64 rows of 3072 x 768 take 7 %
// less time than with copies, 16 of 1024 x 1024 a fifth less than end to end. Of more rows the copies cost less than vectors
// that lie across two lines, or pages.
static bool reads_in_place(tvms_unit *unit, const tvms_tile_machine *m,
                           const tvms_contraction *c) {
  enum { MOST_ROWS = 384, MOST_ROWS_IN_LINES = 640 };
  int64_t bytes = c->term->dtype.bits / 8, uses = tvms_contraction_uses(c);
  if (!c->moving || c->moving->kind != TVMS_NODE_BUFFER_LOAD
      || m->lanes * bytes < TVMS_CPU_CACHE_LINE || !c->contiguous || !c->one_sum
      || tvms_contraction_has_outer(c) || !tvms_contraction_keeps_sizes(c)
      || uses < TVMS_FEWEST_ROWS_IN_PLACE)
    return false;
  if (!tvms_contraction_knows_rows(c)) return has_few_rows(m, c);
  bool lines = tvms_contraction_begins_lines(unit, c);
  return uses < (lines ? MOST_ROWS_IN_LINES : MOST_ROWS);
}

// Is a large moving operand copied? Of rows whose number is not known, and sums that do not go through more pages than the
// machine knows, only for many.
static bool is_worth_packing(const tvms_tile_machine *m, const tvms_contraction *c) {
  enum { UNKNOWN_ROWS = 192 };
  int64_t bytes = c->term->dtype.bits / 8, steps = tvms_contraction_steps(c);
  bool strips = m->lanes * bytes >= TVMS_CPU_CACHE_LINE && c->contiguous && c->one_sum;
  bool stays = strips && steps > 0 && steps <= MOST_STEPS_IN_STRIPS;
  return tvms_contraction_uses(c) >= (stays ? UNKNOWN_ROWS : ROWS_OF_COPIES);
}

static void choose_order(const tvms_tile_machine *m, const tvms_contraction *c,
                         tvms_tile *tile) {
  tile->group = group_for(m, c, tile);
  if (tile->group == 1 && shares_rows(m, c, tile))
    tile->group = (tvms_contraction_column_steps(c) + tile->strip - 1) / tile->strip;
  if (tile->group > 1 && tile->threads == TVMS_TILE_STRIPS)
    tile->threads = TVMS_TILE_ROWS;
}

// Rows of the resting operand share the ways of the first cache. A third of these is left to the moving operand, or one of
// them if all rows are in one tile then.
static void crowd(tvms_tile_machine *m, const tvms_contraction *c, int64_t rows) {
  m->most_rows = m->ways - m->ways / 3;
  if (rows > m->most_rows && rows < m->ways) m->most_rows = rows;
  m->shares_ways = m->lanes * (c->term->dtype.bits / 8) < TVMS_CPU_CACHE_LINE;
}

// The rows that are tiled, or -1 if their number is not known.
static int64_t tiled_rows(const tvms_contraction *c) {
  return c->row < TVMS_MOST_STAGE_AXES ? tvms_cpu_number(c->stage.axes[c->row].extent)
                                       : 1;
}

static tvms_tile_machine machine_for(tvms_unit *unit, const tvms_target *target,
                                     const tvms_contraction *c) {
  tvms_tile_machine m = machine_of(target, c->stage.store->value->dtype);
  int64_t stride = row_stride(unit, c);
  m.most_rows = m.registers;
  if (stride && stride % m.period == 0) crowd(&m, c, tiled_rows(c));
  return m;
}

tvms_tile tvms_tile_choose(tvms_unit *unit, const tvms_target *target,
                           const tvms_contraction *c, bool reorders) {
  tvms_tile_machine m = machine_for(unit, target, c);
  int64_t columns = tvms_contraction_column_steps(c), rows = tiled_rows(c);
  tvms_tile tile = {.lanes = m.lanes};
  if (columns > 0 && columns < tile.lanes) tile.lanes = columns;
  bool half = half_vectors(&m, tile.lanes, columns);
  if (half) tile.lanes /= 2;
  int64_t wanted = (tvms_contraction_usual_columns(c) + tile.lanes - 1) / tile.lanes;
  m.near = wanted == WIDE && tvms_contraction_moving_bytes(c) <= m.ways * m.period / 2;
  tile.vectors = half ? wanted : vectors_for(&m, rows, wanted);
  // It takes code of its own, which is worth an eighth of the time and no less.
  enum { MOST_WITH_SPARE = 8 };
  tile.spares = reorders && columns > tile.lanes && columns % tile.lanes == 1
                && wanted <= MOST_WITH_SPARE
                && tvms_contraction_can_spare(unit, c, tile.lanes);
  // All whole vectors in one tile, so that the resting operand is read once.
  enum { MOST_VECTORS = 4 };
  if (tile.spares && wanted <= MOST_VECTORS + 1 && m.registers >= TVMS_MANY_REGISTERS)
    tile.vectors = wanted - 1;
  // Steps of a window that go along the columns read the same elements, where these lie.
  int64_t taps = c->contiguous ? c->taps : 1;
  bool large = tvms_contraction_moving_bytes(c) / taps >= m.cache / 2;
  tile.few_rows = has_few_rows(&m, c);
  tile.in_place = large && reads_in_place(unit, &m, c);
  bool copied = large && !tile.in_place && is_worth_packing(&m, c);
  tile.packs =
      c->moving && (!c->contiguous || copied || converts_often(c) || joins_often(c));
  tile.in_place &= !tile.packs;
  if (!half && is_wide(&m, rows, tile.vectors, wanted)) tile.vectors = WIDE;
  choose_strip(unit, &m, &tile, c, rows);
  if (takes_threes(&m, c, &tile, rows, wanted)) {
    tile.vectors = 3;
    choose_strip(unit, &m, &tile, c, rows);
  }
  tile.sum_block = tvms_tile_sum_block(&m, c, &tile, rows);
  if (m.registers >= TVMS_MANY_REGISTERS)
    tvms_tile_plan_stream(unit, target, c, &tile, reorders);
  plan_last_strip(c, &tile);
  overlap_rows(&m, &tile, c, rows);
  tile.rests = tvms_contraction_rests(unit, c, &tile, m.cache);
  tile.threads = threads_for(target, &tile, c);
  tile.from_memory = !tile.in_place && tvms_contraction_moving_bytes(c) > m.cache
                     && tvms_contraction_uses(c) < ROWS_OF_COPIES;
  tvms_tile_plan_fetches(unit, &m, c, rows, &tile);
  choose_order(&m, c, &tile);
  return tile;
}

int64_t tvms_tile_lines_beyond(const tvms_tile *tile, int64_t phase) {
  return tile->shares_lines ? tvms_cpu_shared_lines_of_phase(&tile->shared, 0, phase)
                            : 0;
}

int64_t tvms_tile_longest_line(const tvms_tile *tile) {
  int64_t longest = tile->room / (1 + tvms_tile_lines_beyond(tile, 0));
  return longest < TVMS_LONGEST_LINE ? longest : TVMS_LONGEST_LINE;
}

// As many columns as half of the second cache has room for, or three quarters if that is few, in whole vectors, and no more than the
// longest lines take.
static int64_t room_for_lines(const tvms_tile_machine *m, const tvms_tile *tile,
                              const tvms_contraction *c, int64_t fewest) {
  int64_t bytes = c->term->dtype.bits / 8 * tvms_contraction_steps(c);
  if (tile->shares_lines)
    bytes = bytes / tile->shared.steps * tvms_cpu_shared_lines_phases(&tile->shared);
  int64_t room = m->cache / 2 / bytes;
  if (room < fewest) room = m->cache * 3 / 4 / bytes;
  int64_t most = tile->strip + tvms_tile_lines_beyond(tile, 0) * TVMS_LONGEST_LINE;
  return (room < most ? room : most) / m->lanes * m->lanes;
}

// Strips are on threads where there are any, each with a panel of its own: an image has several but where so many channels are summed over
// that their panels are small, as of 7 by 7.
static tvms_tile_threads threads_of_lines(const tvms_target *target,
                                          const tvms_tile *tile,
                                          const tvms_contraction *c) {
  enum { SEVERAL_STRIPS = 128 };
  tvms_tile_threads threads = threads_for(target, tile, c);
  if (threads == TVMS_TILE_SERIAL || threads == TVMS_TILE_BATCHES) return threads;
  return tile->room >= SEVERAL_STRIPS ? TVMS_TILE_STRIPS : TVMS_TILE_ROWS;
}

bool tvms_tile_choose_lines(tvms_unit *unit, const tvms_target *target,
                            const tvms_contraction *c, tvms_tile *tile) {
  enum { FEWEST_VECTORS = 5, MOST_STEPS = 1 << 20 };
  int64_t rows = tiled_rows(c), steps = tvms_contraction_steps(c);
  if (c->column_count != 2 || (c->contiguous && c->taps <= 1) || !c->moving || steps < 1
      || steps > MOST_STEPS || tvms_contraction_column_steps(c) >= 0)
    return false;
  tvms_tile_machine m = machine_for(unit, target, c);
  *tile = (tvms_tile){.lanes = m.lanes,
                      .vectors = vectors_of_lines(&m),
                      .strip = 2 * TVMS_LONGEST_LINE,
                      .group = 1,
                      .packs = true,
                      .lines = true};
  tile->shares_lines = tvms_cpu_shared_lines_find(unit, c, &tile->shared);
  tile->flat_sum = !tile->shares_lines && (c->one_sum || c->sums_in_order);
  // A strip of lines that are shorter than a vector must still have the columns of one.
  int64_t fewest = (FEWEST_VECTORS + tvms_tile_lines_beyond(tile, 0)) * m.lanes;
  tile->room = room_for_lines(&m, tile, c, fewest);
  if (tile->room < fewest || columns_in_line(c) > tvms_tile_longest_line(tile))
    return false;
  choose_rows(&m, tile, rows);
  overlap_rows(&m, tile, c, rows);
  tile->rests = tvms_contraction_rests(unit, c, tile, m.cache);
  tile->threads = threads_of_lines(target, tile, c);
  tvms_tile_plan_fetches(unit, &m, c, rows, tile);
  return true;
}

int64_t tvms_tile_rows_time(const tvms_contraction *c, const tvms_tile *tile) {
  int64_t rows = tvms_cpu_number(c->stage.axes[c->row].extent);
  return tvms_contraction_uses(c) / rows * rows_time(rows, tile->rows, tile->vectors);
}

bool tvms_tile_repeats(const tvms_contraction *c, const tvms_tile *tile) {
  return tvms_contraction_column_steps(c) % tile->lanes != 0
         || (tile->lines && tile->strip % tile->lanes != 0);
}

void tvms_tile_lay_out(const tvms_target *target, const tvms_contraction *c,
                       tvms_tile *tile) {
  tile->packs = tile->in_place = tile->few_rows = false;
  tile->lines = false;
  tile->shares_lines = false;
  tile->spares = false;
  tile->beforehand = true;
  tvms_tile_sum_at_once(tile);
  tile->panel_fetch = 0;
  tile->threads = threads_for(target, tile, c);
  tvms_tile_machine m = machine_of(target, c->stage.store->value->dtype);
  bool all_near = 3 * tvms_contraction_moving_bytes(c) <= m.cache;
  if (!all_near && !tile->rests) tile->sum_block = tvms_tile_even_block(&m, c, tile);
  choose_order(&m, c, tile);
  tile->panel_ahead = tvms_tile_fetches_ahead(&m, c, tile);
}
