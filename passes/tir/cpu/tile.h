// The register tile of a contraction, from six numbers of the machine; nothing is timed.
//
// A tile holds `rows` x `vectors` accumulators in registers. For each step of the sum it loads
// `vectors` vectors of the moving operand, which serve all rows, and one element of the resting
// one per row. It must leave registers for those (rows * vectors + vectors + 1 of them in all),
// and be large enough that additions need not wait for each other.
#ifndef TVMS_PASSES_TIR_CPU_TILE_H
#define TVMS_PASSES_TIR_CPU_TILE_H

#include "ir/target.h"
#include "passes/tir/cpu/contraction.h"
#include "passes/tir/cpu/places.h"
#include "passes/tir/cpu/shared_lines.h"

enum {
  TVMS_MOST_TILE_VECTORS = 8,
  TVMS_FEWEST_ROWS_IN_PLACE = 8,  // read a large operand by strips
  TVMS_MOST_TILES_AHEAD =
      128,  // tiles of rows that share the fetches of the next panel
};

// The loop whose steps may run on threads.
typedef enum {
  TVMS_TILE_SERIAL,
  TVMS_TILE_BATCHES,
  TVMS_TILE_STRIPS,
  TVMS_TILE_ROWS,  // the outermost loop over what only the resting operand depends on
} tvms_tile_threads;

typedef struct {
  int64_t lanes;                                  // elements of a vector
  int64_t rows;                                   // of a tile
  int64_t vectors;                                // of a tile, side by side
  int64_t rows_with[TVMS_MOST_TILE_VECTORS + 1];  // of a tile with so many vectors
  bool
      rows_overlap;  // the last tile of rows begins earlier where one would be left over
  bool packs;        // the moving operand is copied, so that a tile reads it in one go
  // The number of rows is not known, and few of them read a large operand in another way: in nests of their own.
  bool few_rows;
  bool
      in_place;  // strips of a large moving operand are read where they lie, by many rows
  bool rests;    // the resting operand of a tile is converted once, in front of it
  bool flat_sum;  // the axes of the sum are counted as one
  int64_t strip;  // columns that one panel serves
  // Strips that a tile of rows goes through, one after the other, before the next one; 1: each strip goes through all rows.
  int64_t group;
  bool spares;  // one column that vectors leave over is summed in lanes
  // Of columns whose number is not known: what whole strips leave over is one strip, rather than narrow ones; it takes a whole strip with
  // it where it would be one vector.
  bool last_strip, last_takes_whole;
  bool beforehand;    // the moving operand is laid out in strips already
  bool lines;         // a strip is some steps of the outermost axis of the columns
  bool shares_lines;  // of its panel, by the steps of a window
  tvms_shared_lines shared;
  // Lines of a length or number that is not known: the panel has room for as many columns (for each phase, where lines are shared),
  // and a strip is as many lines as find room there, of `strip` columns at most. 0: these are known.
  int64_t room;
  // Steps of the sum that go through all rows and columns together (of a strip, if tvms_tile_blocks_in_strip); 0: all.
  int64_t sum_block;
  bool
      sum_apart;  // they lie as far apart as there are blocks, rather than side by side
  // Apart: each is so many steps further in its part of the sum than the one before it.
  int64_t sum_skew;
  bool sum_written;  // they are written out
  // Each block begins its sums with 0, and adds what the one before stored when they are complete.
  bool sum_afresh;
  // Between blocks sums lie where the last stage behind the contraction stores, rather than where it does.
  bool sum_in_result;
  bool sum_words;  // bytes of the moving operand are taken four at a time
  tvms_tile_threads threads;
  bool from_memory;  // few rows go through an operand that no cache holds
  bool result_far;   // the near caches do not hold the result: its lines are fetched
  // As many steps before the end of the sum; 0: when it begins.
  int64_t result_lead;
  bool
      resting_far;  // a tile of rows fetches what the next one reads of the resting operand
  bool
      resting_apart;  // and in front of each round what it reads in the one half of them away
  bool resting_across;  // which lies across the sum: a line at each step
  // A panel in strips is fetched so many steps before it is read, line by line; 0: it is not.
  int64_t moving_lead;
  // Steps of the sum for which a tile of rows fetches what the next panel is made of when it begins; 0: none.
  int64_t panel_fetch;
  // Tiles of rows fetch the next panel (of the next block, or strip), or what it is made of, a part of it each, in front of each round of the sum.
  bool panel_ahead;
} tvms_tile;

// Chooses the tile of a contraction for a machine; what the target does not say is taken as of
// a machine with vectors of 16 bytes, 16 registers and a second cache of 256 KiB. With `reorders` sums
// may be taken in another order than that of the text.
tvms_tile tvms_tile_choose(tvms_unit *unit, const tvms_target *target,
                           const tvms_contraction *contraction, bool reorders);

// Chooses the tile of a contraction whose columns are lines of a length or number that is not known (TVMS_LINES_TOGETHER), by
// panels of several lines. false: these would be too small, or lines are neighbours that are read where they lie.
bool tvms_tile_choose_lines(tvms_unit *unit, const tvms_target *target,
                            const tvms_contraction *contraction, tvms_tile *tile);

// Lines that steps of a window read beyond those of the strip, of one phase: none where lines are not shared.
int64_t tvms_tile_lines_beyond(const tvms_tile *tile, int64_t phase);

// The longest lines for which such panels have room.
int64_t tvms_tile_longest_line(const tvms_tile *tile);

// Are there elements that several tiles or vectors compute?
bool tvms_tile_repeats(const tvms_contraction *contraction, const tvms_tile *tile);

// Lets the last tile of rows overlap the one before it, rather than that rows are left over, where that takes about as
// long: these had a tile of their own, which takes as long to compile as the other one. For results that may be stored twice.
void tvms_tile_join_rest(const tvms_contraction *contraction, tvms_tile *tile);

// The same tile for a moving operand that is laid out beforehand: strips lie side by side then, also where
// few rows go through them once.
void tvms_tile_lay_out(const tvms_target *target, const tvms_contraction *contraction,
                       tvms_tile *tile);

// Rows of a tile of so many vectors.
int64_t tvms_tile_rows(const tvms_tile *tile, int64_t vectors);

// Do blocks of the sum follow one another strip by strip, rather than all strips for each block? A strip that is laid out
// beforehand is read from end to end then.
bool tvms_tile_blocks_in_strip(const tvms_tile *tile);

// Lets the sum be taken from its beginning to its end for each tile.
void tvms_tile_sum_at_once(tvms_tile *tile);

// Lets whole strips be those of another tile, and leaves no last strip to this one.
void tvms_tile_take_strips(tvms_tile *tile, const tvms_tile *other);

// Lanes of the narrowest vectors that columns of unknown number are taken by; fewer columns are not tiled.
int64_t tvms_tile_least_lanes(const tvms_tile *tile);

// Vectors of so many columns, whole or not, without one column that is summed in lanes.
int64_t tvms_tile_vectors(const tvms_tile *tile, int64_t columns);

// Time of a tile for one step of the sum, in accumulators: a small one waits for its sums.
int64_t tvms_tile_cost(int64_t rows, int64_t vectors);

// Time of all rows, whose number is known, for one strip and step of the sum, in half accumulators.
int64_t tvms_tile_rows_time(const tvms_contraction *contraction, const tvms_tile *tile);

#endif
