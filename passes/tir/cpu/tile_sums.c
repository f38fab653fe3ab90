// Choosing the blocks that tiles take a sum in.
#include "passes/tir/cpu/tile_sums.h"

#include "ir/walk.h"
#include "passes/tir/cpu/contraction_sizes.h"
#include "passes/tir/cpu/contraction_words.h"
#include "passes/tir/cpu/words.h"

typedef struct {
  tvms_memory *memory;
  const tvms_node *column;
  uint32_t bits;
} narrowest;

static tvms_walk_step note_width(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  narrowest *n = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  if (tvms_walk_contains(n->memory, node, n->column) && node->dtype.bits < n->bits)
    n->bits = node->dtype.bits;
  return TVMS_WALK_SKIP;
}

// Parts of an operand are a power of two of bytes long as often as not, and would share their places in the caches: each
// is gone through some rows ahead of the one before it (halves 31 GB/s on a Zen 4, 24 without that). Rows that are
// as long as what the first cache has in one way, or several times that, share them anyway (they lose 5 % by it).
static int64_t skew_for(const tvms_target *target, const tvms_contraction *c,
                        uint32_t bits) {
  enum { ROWS = 3, WAY = 4096 };
  const tvms_cpu_cache *first = &target->caches[0];
  int64_t way = first->size && first->ways ? (int64_t)(first->size / first->ways) : WAY;
  return tvms_contraction_column_steps(c) * bits / 8 % way ? ROWS : 0;
}

// Of an operand that memory streams to one row, how many of its rows are read together: of floats four,
// each of which goes through a quarter of the operand (29 GB/s on a Zen 4; 26 by eight that are neighbours),
// of bytes sixteen neighbours, since each time sums are loaded and stored again, four bytes for each (25 and
// 22). These are written out, so that each has loads of its own. Bytes that are taken as words are eight, each
// from its part of the operand, by four lines of the caches at a time (30 GB/s). Halves are eight from the parts of the operand
// (31 GB/s; neighbours 25), in a loop, so that each row is read in order. What the block before stored comes from the
// second cache, behind lines that come from memory: sums that begin with it wait for these (halves 25 GB/s), so it is
// added when they are complete.
void tvms_tile_plan_stream(tvms_unit *unit, const tvms_target *target,
                           const tvms_contraction *c, tvms_tile *tile, bool reorders) {
  enum {
    FAR_STEPS = 4,
    FAR_ROWS = 8,
    LINES_OF_WORDS = 4,
    STEPS_OF_BYTES = 16,
    VECTORS_OF_BYTES = 4
  };
  int64_t steps = tvms_contraction_steps(c);
  if (!tile->sum_block || tile->packs || tile->in_place || tile->rows > 1) return;
  narrowest n = {&unit->context->memory, c->stage.axes[c->column].var,
                 c->term->dtype.bits};
  tvms_visitor visitor = {.self = &n, .enter = note_width};
  tvms_walk(n.memory, c->term, &visitor);
  bool far = reorders && steps >= 0 && steps % FAR_ROWS == 0;
  if (n.bits >= 32 && (steps < 0 || steps % FAR_STEPS == 0) && reorders) {
    tile->sum_block = FAR_STEPS;
    tile->sum_apart = tile->sum_written = true;
  } else if (n.bits == 16 && far) {
    tile->sum_block = FAR_ROWS;
    tile->sum_skew = skew_for(target, c, n.bits);
    tile->sum_apart = true;
  } else if (n.bits == 8 && far && tvms_cpu_words_gain(target)
             && tvms_contraction_can_words(unit, c)
             && tile->lanes * TVMS_CPU_WORD == TVMS_CPU_CACHE_LINE) {
    tile->sum_block = FAR_ROWS;
    tile->sum_skew = skew_for(target, c, n.bits);
    tile->sum_apart = tile->sum_words = true;
    tile->vectors = LINES_OF_WORDS * TVMS_CPU_WORD;
    tile->strip = LINES_OF_WORDS * TVMS_CPU_CACHE_LINE;
  } else if (n.bits == 8 && steps >= 0 && steps % STEPS_OF_BYTES == 0
             && tile->vectors > VECTORS_OF_BYTES) {
    tile->sum_block = STEPS_OF_BYTES;
    tile->sum_written = true;
    tile->vectors = VECTORS_OF_BYTES;
    tile->strip = tile->lanes * tile->vectors;
  }
  tile->sum_afresh =
      tile->sum_apart && n.bits < 32 && tvms_stage_begins_with_zero(&c->stage);
}

// A panel, and a strip that is read in place, may take such a part of the second cache.
enum { PART_OF_CACHE = 8 };

// Steps of the sum that go through all rows and columns together, so that the second cache holds a panel and the next one
// along with the rows: an eighth of it each (128 x 4096 x 4096 takes a quarter less time than without, or with panels
// of half of it); 0: all. Blocks that are even leave no short one behind, which had code of its own.
int64_t tvms_tile_even_block(const tvms_tile_machine *m, const tvms_contraction *c,
                             const tvms_tile *tile) {
  enum { EVEN = 8 };
  int64_t steps = tvms_contraction_steps(c), bytes = c->term->dtype.bits / 8;
  int64_t most = m->cache / PART_OF_CACHE / (tile->strip * bytes);
  if (!tile->flat_sum || !c->one_sum || most < 1 || steps <= most
      || tvms_contraction_uses(c) <= tile->rows || tvms_contraction_has_outer(c))
    return 0;
  int64_t blocks = (steps + most - 1) / most;
  for (int64_t even = EVEN; even > 0; even -= EVEN - 1) {
    for (int64_t b = blocks; b < 2 * blocks; b++) {
      if (steps % (b * even) == 0) return steps / b;
    }
  }
  return 0;
}

// The same of a sum whose number of steps is not known, as a multiple of the lanes, so that rounds leave nothing over but in the last
// block.
static int64_t block_of_unknown(const tvms_tile_machine *m, const tvms_contraction *c,
                                const tvms_tile *tile) {
  int64_t most = m->cache / PART_OF_CACHE / (tile->strip * (c->term->dtype.bits / 8));
  most = most / m->lanes * m->lanes;
  return most && tvms_contraction_uses(c) > tile->rows ? most : 0;
}

// Steps of the sum that go through all rows and columns together; 0: all. A panel that is read once
// per tile of rows is to lie near. Few rows read a large operand once: they take a handful of its
// rows at a time, each from end to end, as memory is fastest.
int64_t tvms_tile_sum_block(const tvms_tile_machine *m, const tvms_contraction *c,
                            const tvms_tile *tile, int64_t rows) {
  enum {
    FEW_ROWS = 32,
    SEVERAL_ROWS = 4,
    FEWEST_BYTES = 256,
    FEW_STEPS = 8,
    SOME_STEPS = 16,
    MORE_STEPS = 32
  };
  int64_t steps = tvms_contraction_steps(c);
  if (!tile->flat_sum || tvms_contraction_has_outer(c)
      || !tvms_contraction_keeps_sizes(c))
    return 0;
  if (steps < 0 && (tile->packs || tile->in_place)) return block_of_unknown(m, c, tile);
  if (rows < 0 && !tile->in_place) return 0;
  int64_t bytes = c->term->dtype.bits / 8;
  if (tile->packs || tile->in_place) {
    int64_t even = tvms_tile_even_block(m, c, tile);
    if (even) return even;
    // Code that reads strips in place takes rounds of a line, and a shorter block behind them.
    int64_t part = tile->in_place ? PART_OF_CACHE : 2;
    int64_t most = m->cache / part / (tile->strip * bytes);
    int64_t blocks = (steps + most - 1) / most, one = (steps + blocks - 1) / blocks;
    if (tile->in_place) one = (one + m->lanes - 1) / m->lanes * m->lanes;
    return blocks > 1 ? one : 0;
  }
  int64_t columns = tvms_contraction_usual_columns(c);
  bool far = c->contiguous && rows <= FEW_ROWS && tvms_contraction_is_far(c, m->cache)
             && columns * bytes >= FEWEST_BYTES;
  // What the last cache holds comes as fast in any order, so that several rows are done with it in longer blocks: their sums are
  // loaded and stored less often (10 rows by 3072 columns of 768 steps: a fifth less time).
  bool near = 2 * tvms_contraction_moving_bytes(c) <= m->last_cache;
  int64_t few = near && rows >= SEVERAL_ROWS ? MORE_STEPS : FEW_STEPS;
  // Of an operand whose size is not known they are a compromise.
  if (few > SOME_STEPS && (steps < 0 || tvms_contraction_column_steps(c) < 0))
    few = SOME_STEPS;
  return far && (steps < 0 || steps > 2 * few) ? few : 0;
}
