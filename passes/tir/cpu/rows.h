// Groups of stages that are computed row by row: reductions along rows, and what is done with
// their elements.
//
//   for i:                                    rows
//     m = max over k of X[i, k]               a pass: a fold
//     for j: E[j] = exp(X[i, j] - m), s += E[j]       a pass: a map and a fold
//     for j: Y[i, j] = E[j] / s               a pass: a map
//
// What moves along which axis says which stages belong together; nothing is known by name.
#ifndef TVMS_PASSES_TIR_CPU_ROWS_H
#define TVMS_PASSES_TIR_CPU_ROWS_H

#include "passes/tir/cpu/chain.h"

typedef enum {
  TVMS_LINE_MAP,     // each element on its own
  TVMS_LINE_FOLD,    // one result per row, from all elements of a pass
  TVMS_LINE_COLUMN,  // each element is itself a sum over further axes
} tvms_line_kind;

typedef struct {
  tvms_stage stage;
  tvms_line_kind kind;
  // FOLD, COLUMN: result = result `combine` term, or term `combine` result.
  tvms_node_kind combine;  // ADD, MUL, MIN, MAX
  bool term_first;
  tvms_node *TVMS_NULLABLE term;
  uint32_t rows[TVMS_MOST_STAGE_AXES];  // its axis for each row of the group
  uint32_t
      own[TVMS_MOST_STAGE_AXES];  // its axes in the loops of its pass, the line last
  uint32_t own_count;
  uint32_t pass;
} tvms_line_member;

enum { TVMS_MOST_LINE_MEMBERS = 24 };

typedef struct {
  tvms_node *rows[TVMS_MOST_STAGE_AXES];  // extents
  uint32_t row_count;
  tvms_line_member members[TVMS_MOST_LINE_MEMBERS];
  uint32_t count;
  uint32_t pass_count;
} tvms_line_group;

// The axis in front of the innermost `fused` ones of a member's own, which must be there: that around its line, if they
// are taken as one.
static inline const tvms_stage_axis *
tvms_line_axis_around(const tvms_line_member *member, uint32_t fused) {
  return &member->stage.axes[member->own[member->own_count - fused - 1]];
}

// Why a stage that is settled cannot be in a group: a sentence's end. NULL: it can.
const char *TVMS_NULLABLE tvms_line_refuse(tvms_unit *unit, const tvms_stage *stage);

// The group that begins with stage `at` of a chain of stages that can be in one: as many as belong
// together.
void tvms_line_find(tvms_chain *chain, uint32_t at, tvms_line_group *group);

// For each axis of `from` the axis of `to` that stands in its place where `to` loads, by `load`,
// what `from` stores; TVMS_MOST_STAGE_AXES: none.
void tvms_line_link(const tvms_stage *from, const tvms_stage *to,
                    const tvms_buffer_load *load, uint32_t *links);

// The axis of its sum by which, together with the line, a member that reduces loads an element; TVMS_MOST_STAGE_AXES:
// none.
uint32_t tvms_line_window_along(tvms_unit *unit, const tvms_line_member *member,
                                const tvms_node *line);

// Does a member that reduces slide along a line: is an element loaded by the line and its sum together?
bool tvms_line_slides(tvms_unit *unit, const tvms_line_member *member,
                      const tvms_node *line);

// Is told of a load; false ends the walk.
typedef bool tvms_line_visit(void *self, const tvms_buffer_load *load);

// Calls `visit` for each load of `buffer` that the member's value makes; false if `visit` did
// return it.
bool tvms_line_loads(tvms_unit *unit, const tvms_line_member *member,
                     const tvms_node *buffer, tvms_line_visit *visit, void *self);

#endif
