// Choosing what tiles fetch into the caches beforehand.
#include "passes/tir/cpu/tile_fetch.h"

#include "passes/tir/cpu/contraction_sizes.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/words.h"

// Does the second cache not hold the result along with the operands, and is it worth while to fetch its lines
// while a tile adds up? Very few steps leave no time for it. Lines that are fetched shortly before the sums
// are ready are still in the first cache then: stores that wait for their lines hold back loads of the
// next tile that seem to be from the same places, 2 % of a product of 512 or 1024. Where there is no single
// loop of the sum they are fetched when it begins, which many steps do not profit from.
static void fetch_result(const tvms_tile_machine *m, const tvms_contraction *c,
                         tvms_tile *tile) {
  enum { FEWEST_STEPS = 16, MOST_STEPS = 512, LEAD = 32 };
  int64_t steps = tvms_contraction_steps(c);
  double bytes = tvms_contraction_result_bytes(c);
  int64_t at_once = tile->sum_block ? tile->sum_block : steps;
  if (tile->flat_sum && at_once >= 2 * LEAD) {
    tile->result_far = 2 * bytes > (double)m->cache;
    tile->result_lead = LEAD;
  } else {
    tile->result_far = bytes > (double)m->cache && steps >= FEWEST_STEPS
                       && steps <= MOST_STEPS && !tile->sum_block;
  }
}

// What panels are made of comes from afar, row by row, and a copy of it waits for each row: it takes a third
// of the time if tiles of rows have fetched their shares of the next panel while they added up. The shares of few tiles
// are large: these take them in front of each round of their sums (64 rows of 3072 x 768 take 11 % less time than without,
// 24 of 4096 x 4096 a third), many all at once when they begin, which has one loop less.
static void plan_panel(const tvms_tile_machine *m, const tvms_contraction *c,
                       tvms_tile *tile, int64_t rows) {
  enum { USUAL_STEPS = 8, MOST_STEPS = 16 };
  int64_t steps = tile->sum_block ? tile->sum_block : tvms_contraction_steps(c);
  bool in_rows = (tile->packs || tile->in_place) && !tile->lines && tile->flat_sum
                 && c->one_sum && c->contiguous
                 && c->moving->kind == TVMS_NODE_BUFFER_LOAD;
  if (!in_rows || steps < 2 || tvms_contraction_has_outer(c)
      || tvms_contraction_moving_bytes(c) <= m->cache / 2)
    return;
  // The last block of the sum must have as many, where that is known.
  int64_t all = tvms_contraction_steps(c);
  if (all >= 0 && all % steps && all % steps < MOST_STEPS) return;
  int64_t tiles = rows / tile->rows;
  int64_t line = TVMS_CPU_CACHE_LINE * 8 / c->moving->dtype.bits;
  bool several = tiles > 1 && tiles <= TVMS_MOST_TILES_AHEAD;
  tile->panel_ahead = (rows < 0 || several) && tvms_contraction_round_of(steps, line);
  int64_t each = rows < 0    ? USUAL_STEPS
                 : tiles > 0 ? (steps + tiles - 1) / tiles
                             : steps;
  if (!tile->panel_ahead && each <= MOST_STEPS) tile->panel_fetch = each;
}

// Rows of the resting operand that the second cache does not hold along with a panel are read from afar once
// for each panel. A tile reads a piece of each of its rows, from page to page, so nothing but the tile before
// it knows what comes next: 2 % of a product of 1024, 4 % of 2048, 6 to 9 % of an image of 56 x 56 x 256. Of an operand
// that lies across the sum it reads a piece of a line at each step. Rows that share the ways of the first cache would drive those at
// hand out of it, if the same part of both was wanted at the same time (a Zen 3 takes a quarter more time for 48 x 512 x 2048).
static void fetch_resting(tvms_unit *unit, const tvms_tile_machine *m,
                          const tvms_contraction *c, tvms_tile *tile) {
  int64_t steps = tvms_contraction_steps(c), step, across;
  bool in_rows = !tile->lines && tile->flat_sum && c->one_sum && c->resting
                 && c->resting->kind == TVMS_NODE_BUFFER_LOAD;
  if (!in_rows || steps < 0 || c->outermost_sum == TVMS_MOST_STAGE_AXES) return;
  const tvms_buffer_load *load = tvms_as_buffer_load(c->resting);
  int64_t bytes = load->head.dtype.bits / 8;
  bool far = (tile->packs && !tvms_contraction_knows_rows(c))
             || tvms_contraction_uses(c) * steps * bytes > m->cache / 2;
  if (!bytes || !far
      || !tvms_cpu_step_of(unit, load->buffer, load->indices,
                           c->stage.axes[c->outermost_sum].var, &step))
    return;
  tile->resting_across = step > 1 && c->row != TVMS_MOST_STAGE_AXES
                         && tvms_cpu_step_of(unit, load->buffer, load->indices,
                                             c->stage.axes[c->row].var, &across)
                         && across == 1;
  tile->resting_far = step == 1 || tile->resting_across;
  tile->resting_apart = tile->resting_far && step == 1 && m->shares_ways;
}

// A panel that the first cache does not hold comes from the second one or from afar at each step, which the machine
// does not foresee. Narrow tiles have time to fetch the lines of some steps ahead: it takes 10 % less time for
// windows of 256 channels over 14 by 14 (a Xeon with vectors of 64 bytes), 20 % less for 512 over 7 by 7. Wide
// ones load four lines in each step as it is, and lose 4 %. Shorter vectors have not been measured.
static int64_t moving_lead_for(const tvms_tile_machine *m, const tvms_contraction *c,
                               const tvms_tile *tile) {
  enum { LEAD = 48, USUAL_ROWS = 14, NARROW = 2, FEWEST_ROWS = 4 };
  int64_t steps = tile->sum_block ? tile->sum_block : tvms_contraction_steps(c);
  int64_t bytes = c->term->dtype.bits / 8;
  bool lines = m->lanes * bytes == TVMS_CPU_CACHE_LINE && tile->lanes == m->lanes;
  if (!lines || tile->lines || tile->vectors > NARROW || tile->rows < FEWEST_ROWS)
    return 0;
  int64_t lead = LEAD * USUAL_ROWS / tile->rows;
  if (lead > 2 * LEAD) lead = 2 * LEAD;
  return steps * tile->strip * bytes > m->ways * m->period ? lead : 0;
}

// Weights come from afar: what a model has of them no cache holds from one run to the next. The first tile of rows that goes
// through a panel would wait for each line of it; the tiles that go through the one before fetch it. Of a few that share a
// panel the first one takes a good part of the time: windows of 512 channels over 7 by 7 take a fifth less without it.
bool tvms_tile_fetches_ahead(const tvms_tile_machine *m, const tvms_contraction *c,
                             const tvms_tile *tile) {
  return tvms_contraction_moving_bytes(c) >= m->cache / 8
         && tvms_contraction_column_steps(c) > tile->strip * tile->group
         && tvms_contraction_uses(c) > tile->rows
         && tvms_contraction_uses(c) <= TVMS_MOST_TILES_AHEAD * tile->rows;
}

void tvms_tile_plan_fetches(tvms_unit *unit, const tvms_tile_machine *m,
                            const tvms_contraction *c, int64_t rows, tvms_tile *tile) {
  fetch_result(m, c, tile);
  plan_panel(m, c, tile, rows);
  fetch_resting(unit, m, c, tile);
  tile->moving_lead = moving_lead_for(m, c, tile);
}
