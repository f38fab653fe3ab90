// Contractions: sums of products over two operands, by what moves along which axis.
//
//   C[i, j] += A[i, k] * B[k, j]     j is the column: the result is stored along it, and B moves
//                                    with it. i is the row: A moves with it and B does not, so
//                                    one element of B serves many rows. k is summed over.
//
// Nothing is known by name or by the order of loops: matrix products in any order, batched ones,
// with operands transposed, convolutions and what einsum makes are one family.
#ifndef TVMS_PASSES_TIR_CPU_CONTRACTION_H
#define TVMS_PASSES_TIR_CPU_CONTRACTION_H

#include "passes/tir/cpu/stage.h"

typedef enum {
  TVMS_AXIS_BATCH,  // the moving operand depends on it: a contraction of its own for each step
  TVMS_AXIS_OUTER,   // another one of those that only the resting operand depends on
  TVMS_AXIS_ROW,     // the one of these that is tiled
  TVMS_AXIS_COLUMN,  // the axis of vectors
  TVMS_AXIS_SUM,
} tvms_axis_role;

// How lines are columns.
typedef enum {
  // Those of a length, or of a number, that is not known together where they are neighbours in each operand, others also where copies pay.
  TVMS_LINES_AS_THEY_LIE,
  TVMS_LINES_APART,     // those of which something is not known each for itself
  TVMS_LINES_TOGETHER,  // so that a panel has several of them
} tvms_contraction_lines;

// The longest line of columns that is packed as a whole.
enum { TVMS_LONGEST_LINE = 128 };

// Lines of a window that read something else than padding: step `outer` of the axis `outer` reads line outer_step * outer +
// sum_step * step of a padded operand at each step of the axis `sum`, and lines `low` up to `high` are not padding.
typedef struct {
  bool found;
  uint32_t outer, sum;
  int64_t outer_step, sum_step;
  int64_t low, high;
} tvms_contraction_border;

typedef struct {
  tvms_stage stage;
  tvms_contraction_border border;
  tvms_node *init;  // a constant
  tvms_node *term;  // what each step adds; axes of one step are 0 in it
  tvms_axis_role roles[TVMS_MOST_STAGE_AXES];
  // The axes along which the result is stored one element after the other, the innermost one
  // last: they are counted as one.
  uint32_t columns[TVMS_MOST_STAGE_AXES];
  uint32_t column_count;
  uint32_t column;  // the innermost
  uint32_t row;     // TVMS_MOST_STAGE_AXES: there is none
  // The factor of the term that moves with the columns and not with the rows; NULL: there is none.
  tvms_node *TVMS_NULLABLE moving;
  tvms_node *TVMS_NULLABLE
      resting;  // the first load that moves with the row; NULL: none
  bool
      contiguous;  // every load that moves with the columns takes one element after the other
  int64_t taps;            // steps of a window that slides along the columns
  uint32_t outermost_sum;  // of more than one step; TVMS_MOST_STAGE_AXES: none
  bool one_sum;            // no other axis of the sum has more than one step
  bool along_sum;  // what moves with the columns lies in memory along the sum instead
  bool
      sums_in_order;  // the resting loads take one element after the other along the sum
  bool
      joins;  // the row is two axes: the rows of all lines, and `joined`, whose number is
  uint32_t joined;  // that of the lines,
  tvms_node *line;  // which has so many rows
  tvms_contraction_lines lines;
  bool apart;    // buffers of the function's parameters are, which its caller says
  bool changes;  // there are loops around that sizes may change with
} tvms_contraction;

// Is the stage a contraction? Returns NULL, or why not: a sentence's end.
const char *TVMS_NULLABLE tvms_contraction_find(tvms_unit *unit,
                                                const tvms_stage *stage,
                                                tvms_contraction *found);

// Is the stage one, of which the same is known that callers have said of `like`? Returns NULL, or why not.
const char *TVMS_NULLABLE tvms_contraction_find_like(tvms_unit *unit,
                                                     const tvms_contraction *like,
                                                     const tvms_stage *stage,
                                                     tvms_contraction *found);

// Is the contraction one where `axis` has so many steps, too? Returns NULL, or why not, as tvms_contraction_find does.
const char *TVMS_NULLABLE tvms_contraction_find_for(tvms_unit *unit,
                                                    const tvms_contraction *contraction,
                                                    uint32_t axis, int64_t steps,
                                                    tvms_contraction *found);

// Is the contraction one where lines are taken in that way, too? Returns NULL, or why not, as tvms_contraction_find does.
const char *TVMS_NULLABLE
tvms_contraction_find_lines(tvms_unit *unit, const tvms_contraction *contraction,
                            tvms_contraction_lines lines, tvms_contraction *found);

// Does an expression consist of loads, constants, casts, and sums, products and bits of them?
bool tvms_contraction_is_arithmetic(tvms_memory *memory, tvms_node *expr);

// Columns of the result, or -1 if their number is not known.
int64_t tvms_contraction_column_steps(const tvms_contraction *contraction);

// The number of columns as an expression.
tvms_node *tvms_contraction_columns(tvms_unit *unit,
                                    const tvms_contraction *contraction);

// Steps of the sum, or -1 if their number is not known.
int64_t tvms_contraction_steps(const tvms_contraction *contraction);

#endif
