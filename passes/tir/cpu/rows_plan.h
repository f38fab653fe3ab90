// How a group of rows is computed on a machine: vectors, and where results between stages lie.
#ifndef TVMS_PASSES_TIR_CPU_ROWS_PLAN_H
#define TVMS_PASSES_TIR_CPU_ROWS_PLAN_H

#include "ir/target.h"
#include "passes/tir/cpu/rows.h"

typedef enum {
  TVMS_LINE_KEPT,      // in the buffer that the text has
  TVMS_LINE_OF_ROW,    // in a buffer for one row
  TVMS_LINE_OF_CHUNK,  // in registers: every use is in the same pass at the same element
  TVMS_LINE_IN_RESULT  // in the buffer of the result that it becomes
} tvms_line_storage;

typedef struct {
  tvms_line_storage how;
  const tvms_line_member *TVMS_NULLABLE result;  // IN_RESULT: which stores the result
  bool one_by_one;  // FOLD: elements are combined in the order of the text
} tvms_line_place;

typedef struct {
  int64_t lanes;    // elements of a vector
  int64_t vectors;  // side by side
  bool wide;        // which are written as one that is as long as all of them
  int64_t sums;     // FOLD: vectors of lanes; vectors side by side take turns with them
  int64_t tile;     // steps of the axis around the line that are computed together
  uint32_t fused;   // axes that make up the line
  bool overlaps;    // the last vector may compute elements again
  bool backwards;   // vectors are taken from the end of the line
  bool past;        // what it stores goes past the caches
  int64_t
      active;  // lanes that count of the only vector of a line; 0: vectors are whole
  // Steps of a sum along the line come in front of the others, and those of the tile behind them all.
  bool along_first;
  // What a member divides by all along the line: products with its inverse will do. NULL: nothing.
  tvms_node *TVMS_NULLABLE divisor;
  uint32_t divides;  // that member
  // The condition under which a step of a window counts, and what it then combines; NULL: all count.
  tvms_node *TVMS_NULLABLE guard, *TVMS_NULLABLE guarded_term;
  uint32_t guarded;  // that member
  // What is loaded of a row, and bytes from it to that of the next one, which is fetched; NULL: nothing.
  const tvms_buffer_load *TVMS_NULLABLE fetched;
  int64_t fetched_bytes;
  // What the only member loads along the axis around the line; NULL: nothing.
  tvms_node *TVMS_NULLABLE turned;
} tvms_line_pass_plan;

typedef struct {
  tvms_line_place places[TVMS_MOST_LINE_MEMBERS];
  tvms_line_pass_plan passes[TVMS_MOST_LINE_MEMBERS];
  int64_t work;  // elements of all passes, weighted
  tvms_list
      allocated;  // buffers of the function: others have sizes that are not below 0
  bool joins;     // other statements of the function run on threads
  bool bounds;    // what is known of the argument of T.exp is written there
  int64_t
      streams;    // rows that are done together, each in a part of the rows of its own
  int64_t turns;  // neighbouring rows that take turns, pass by pass
  bool last_first;  // rows are taken from the last one on
  // Bytes along the line of which four are taken at a time, and what they are multiplied with; NULL: none.
  const tvms_buffer_load *TVMS_NULLABLE words;
  tvms_node *TVMS_NULLABLE shared;
} tvms_line_plan;

typedef struct {
  const tvms_target *target;
  uint32_t mask_bits;  // as in tvms_chain
  bool reorders;       // sums of floats may be taken in lanes
  bool noalias;        // buffers of the function's parameters are apart
} tvms_line_options;

// Chooses for a group, and the order of loops that turn elements; what the target does not say is taken as of vectors of 16 bytes.
tvms_line_plan tvms_line_plan_for(const tvms_chain *chain, tvms_line_group *group,
                                  const tvms_line_options *options);

// Do threads pay for so many weighted elements? `joins`: the threads do other things before or behind.
bool tvms_line_is_worth_threads(int64_t work, bool joins);

// Steps of a stage's sum, if they are few enough to be written out; else -1.
int64_t tvms_line_taps(const tvms_stage *stage);

#endif
