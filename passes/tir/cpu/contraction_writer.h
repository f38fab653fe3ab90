// What the files that write a tiled contraction share: the state of the writer, and what variables
// of the contraction are in the loops that it has opened.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_WRITER_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_WRITER_H

#include "arith/analyzer.h"
#include "ir/node_map.h"
#include "passes/tir/cpu/contraction_nest.h"

// Columns of one tile: vectors side by side, and behind them one that is narrower and ends with
// the last column; it may begin inside of the vector before.
typedef struct {
  int64_t first;  // column of the strip
  int64_t width;  // lanes of a vector
  int64_t vectors;
  int64_t tail;                      // lanes of the last vector; 0: there is none
  tvms_node *TVMS_NULLABLE tail_at;  // its first column, from `first` on
  bool spare;                        // the tail is one column, which is summed in lanes
} tvms_tile_columns;

enum { TVMS_MOST_STRIP_PARTS = 64 };

// Columns that one panel serves.
typedef struct {
  tvms_node *count;                 // of strips like this one
  int64_t first;                    // column of the first one
  tvms_node *TVMS_NULLABLE behind;  // that many columns behind, if it is not known
  tvms_node *TVMS_NULLABLE
      last;         // where the last one begins at most; NULL: nothing overlaps
  int64_t columns;  // of one strip
  tvms_tile_columns parts[TVMS_MOST_STRIP_PARTS];
  uint32_t part_count;
} tvms_strip;

enum { TVMS_MOST_LOOPS_AROUND = TVMS_MOST_STAGE_AXES + 4 };

typedef struct {
  tvms_node *var, *extent;
  uint8_t kind;
} tvms_loop_around;

typedef struct tvms_contraction_writer {
  tvms_unit *unit;
  const tvms_contraction *c;
  const tvms_tile *tile;
  const tvms_epilogue *epilogues;
  uint32_t epilogue_count;
  tvms_node_map now;     // variable of the stage -> what it is in the loops around
  tvms_analyzer *lanes;  // knows the variables of vectors, and of lanes in them
  tvms_nest_columns column_part;
  tvms_node *term;  // with the panel in the place of the moving operand
  tvms_node *TVMS_NULLABLE panel;
  tvms_node *TVMS_NULLABLE spare;  // load: the moving operand at the spare column
  // Load: the resting operand of the tile at hand, converted; its row is a variable.
  tvms_node *TVMS_NULLABLE rest, *TVMS_NULLABLE rest_row;
  bool without_tail;                  // only whole vectors of the tile are written
  tvms_node *place;                   // variable: column of the panel
  tvms_node *TVMS_NULLABLE in_group;  // variable: of panels of a group, which one
  tvms_node *TVMS_NULLABLE step;   // variable: row of the panel, if the sum is one axis
  tvms_node *TVMS_NULLABLE block;  // variable: of the blocks
  tvms_node *TVMS_NULLABLE blocks;  // how many; with `block`
  bool full_block;  // the block at hand is known to have as many steps as any
  bool threads;     // the loop whose steps run on threads is open
  tvms_loop_around
      around[TVMS_MOST_LOOPS_AROUND];  // of the tile at hand, but not inside of it
  uint32_t around_count;
  // Of the tile at hand:
  tvms_node *sums;               // buffer
  tvms_node *TVMS_NULLABLE row;  // where it begins; NULL: there are no rows
  tvms_node *row_count;          // in all; a variable if it is a formula
  tvms_node *TVMS_NULLABLE
      number;     // variable: which of the tiles of rows it is, if there are several
  int64_t tiles;  // how many, or -1
  tvms_node *tile_count;  // the same
  tvms_node *TVMS_NULLABLE
      next_row;  // where the tile of rows behind it begins, or the last one; with `number`
  bool left_over;          // it has the rows that the others leave over
  tvms_node *group_begin;  // column
  int64_t group_columns;
  tvms_node *strip_begin;  // column
  // Of lines of unknown length: the first one of the strip, and how many it has.
  tvms_node *TVMS_NULLABLE strip_line, *TVMS_NULLABLE strip_lines;
  tvms_node *strip_number;  // in the group
  int64_t rows;
  const tvms_strip *strip;
  const tvms_tile_columns *columns;
  tvms_node *TVMS_NULLABLE part;  // columns of such tiles before it
  // Sums of the tile at hand are stored as they are; `ended`: it takes stored ones, and does with them what follows.
  bool unended, ended;
  // What is done for the rows of one tile.
  tvms_node *(*in_rows)(struct tvms_contraction_writer *w);
  bool word_order;  // sums are put in order: they lie as words have their bytes
} tvms_contraction_writer;

// A variable of the columns, for its dtype.
const tvms_node *tvms_contraction_column_var(const tvms_contraction_writer *w);

// Says what the axes of the columns are at column number `flat`.
void tvms_contraction_set_column(tvms_contraction_writer *w, tvms_node *flat);

// Says which row the loops are at.
void tvms_contraction_set_row(tvms_contraction_writer *w, tvms_node *row);

// The column of the strip that lies `at` columns behind the first one of the tile at hand; NULL: 0.
tvms_node *tvms_contraction_tile_column(tvms_contraction_writer *w,
                                        tvms_node *TVMS_NULLABLE at);

// `node` with the variables of the stage as they are now.
tvms_node *tvms_contraction_as_now(tvms_contraction_writer *w, tvms_node *node);

// The same for each item of a list.
tvms_list tvms_contraction_all_as_now(tvms_contraction_writer *w, tvms_list list);

// The first axis that is summed over: there is one.
const tvms_stage_axis *tvms_contraction_first_sum(const tvms_contraction_writer *w);

// Steps of the sum, all of its axes counted as one.
tvms_node *tvms_contraction_flat_extent(tvms_contraction_writer *w);

// The same for the block of the sum at hand, if there are blocks.
tvms_node *tvms_contraction_flat_steps(tvms_contraction_writer *w);

// Says what the summed axes, counted as one, are at this step of the sum, or of its block.
void tvms_contraction_set_step(tvms_contraction_writer *w, tvms_node *step);

// The axis of the innermost loop of the sum, of more than one step, where its axes are not counted as one.
uint32_t tvms_contraction_inner_sum(const tvms_contraction_writer *w);

// Steps of the innermost loop of the sum, or -1.
int64_t tvms_contraction_inner_steps(tvms_contraction_writer *w);

// Says at which step the innermost loop of the sum is.
void tvms_contraction_set_inner_step(tvms_contraction_writer *w, tvms_node *step);

// Makes the variables of the loops of the sum, at most TVMS_MOST_STAGE_AXES (zeroed before), and says
// what the summed axes are in them.
void tvms_contraction_open_sums(tvms_contraction_writer *w, tvms_node **vars);

// The loops of these variables around `body`.
tvms_node *tvms_contraction_close_sums(tvms_contraction_writer *w, tvms_node *body,
                                       tvms_node *const *vars);

// Opens a loop around tiles; what is written until it is closed is its body. It runs on threads if
// it is the first one of those that may.
void tvms_contraction_enter_loop(tvms_contraction_writer *w, tvms_node *var,
                                 tvms_node *extent, tvms_tile_threads loops);

// Adds to `stmts` a variable that has this value from there on, and returns it: accesses through it stay linear.
tvms_node *tvms_contraction_bind(tvms_contraction_writer *w, tvms_node_vec *stmts,
                                 const char *name, tvms_node *value);

// Closes the loop that was opened last around `body`.
tvms_node *tvms_contraction_leave_loop(tvms_contraction_writer *w, tvms_node *body);

#endif
