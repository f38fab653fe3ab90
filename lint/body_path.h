// The way from the begin of a function to a place in it: the loops around, the variables that
// are bound, the conditions that must hold. With an iteration chosen for every loop it tells
// what expressions are there, and whether the place is reached at all.
//
// That is how the rules on bodies prove what they say: not by what may be, but by one
// iteration that is executed and does the wrong thing (lint/body_search.h finds it). What a
// condition or an index is made of may be unknown (it was loaded, it is a parameter): then
// nothing follows, and the rules stay silent.
#ifndef TVMS_LINT_BODY_PATH_H
#define TVMS_LINT_BODY_PATH_H

#include "lint/body_value.h"
#include "support/vec.h"

typedef enum {
  TVMS_LINT_SERIAL,
  TVMS_LINT_PARALLEL,
  TVMS_LINT_VECTOR,
  TVMS_LINT_VTHREAD,
  TVMS_LINT_BLOCK,   // blockIdx.*, and what counts blocks otherwise
  TVMS_LINT_THREAD,  // threadIdx.*
} tvms_lint_loop_kind;

// A loop or an axis of threads, and the iteration that is chosen.
typedef struct {
  const tvms_node *var;
  const tvms_node *TVMS_NULLABLE min;  // NULL: 0
  const tvms_node *extent;
  const tvms_node *TVMS_NULLABLE step;  // NULL: 1
  tvms_lint_loop_kind kind;
  const tvms_node *stmt;
  bool from_end;  // `steps` before the last iteration, else behind the first
  int64_t steps;
  uint32_t moved;    // epoch of the choice
  uint32_t checked;  // epoch of `has_choice`
  bool has_choice;   // there is the iteration that is chosen
  uint64_t depends;  // loops that `has_choice` depends on
} tvms_lint_loop;

typedef enum {
  TVMS_LINT_HOLDS,   // expr
  TVMS_LINT_FAILS,   // not expr
  TVMS_LINT_EQUALS,  // expr == a
  TVMS_LINT_INSIDE,  // expr in [a, a + b)
} tvms_lint_condition_kind;

typedef struct {
  tvms_lint_condition_kind kind;
  const tvms_node *expr;
  const tvms_node *TVMS_NULLABLE a, *TVMS_NULLABLE b;
  const tvms_node *TVMS_NULLABLE stmt;  // the branch that makes it
  uint64_t loops;                       // that `expr` depends on
  uint64_t depends;                     // that `holds` depends on
  uint32_t checked;                     // epoch of `holds`
  bool holds;                           // in the chosen iteration, for certain
} tvms_lint_condition;

// All values lie in [min, max]; INT64_MIN and INT64_MAX are infinite.
typedef struct {
  int64_t min, max;
} tvms_lint_range;

// What a variable is on the path.
typedef struct {
  const tvms_node *var;
  const tvms_node *TVMS_NULLABLE expr;    // its value; NULL: of a loop
  const tvms_node *TVMS_NULLABLE extent;  // it is in [0, extent)
  uint32_t loop;
  uint32_t epoch;  // of `value`
  uint64_t loops;  // that it depends on
  bool jagged;     // as tvms_lint_path_is_jagged says of `expr`
  tvms_lint_range range;
  tvms_lint_value value;
} tvms_lint_definition;

typedef struct {
  tvms_unit *unit;
  tvms_context *context;
  tvms_memory *memory;
  TVMS_VEC(tvms_lint_loop) loops;
  TVMS_VEC(tvms_lint_condition) conditions;
  TVMS_VEC(tvms_lint_definition) definitions;
  TVMS_VEC(uint32_t) places;   // of definitions, one up, by id of the variable
  TVMS_VEC(uint8_t) positive;  // by id: a dimension of a parameter
  uint32_t uncertain;          // > 0: whether the place is reached is not known
  // What is found out about the chosen iteration is kept with the epoch in which it was: it
  // holds until a loop that it depends on moves.
  uint32_t epoch;      // counts choices
  uint32_t forgotten;  // what is older holds no more
  bool last_lane;      // of vectors, else the first
  uint64_t effort;     // evaluations that searches may still make
} tvms_lint_path;

typedef struct {
  uint32_t loops, conditions, definitions;
} tvms_lint_mark;

// The begin of a function, whose buffers' shapes tell which symbols are sizes.
void tvms_lint_path_init(tvms_lint_path *path, tvms_unit *unit,
                         const tvms_prim_func *function);

// Frees what the path holds.
void tvms_lint_path_fini(tvms_lint_path *path);

// Where the path is, to go back to.
tvms_lint_mark tvms_lint_path_mark(const tvms_lint_path *path);

// Leaves all scopes that were entered behind the mark.
void tvms_lint_path_leave(tvms_lint_path *path, tvms_lint_mark mark);

// Enters a loop; the iteration chosen is the first.
void tvms_lint_path_loop(tvms_lint_path *path, tvms_lint_loop loop);

// From here on `var` is `expr`. With a domain its range is cut to that.
void tvms_lint_path_bind(tvms_lint_path *path, const tvms_node *var,
                         const tvms_node *expr, const tvms_range *TVMS_NULLABLE domain);

// What follows is reached under a condition only; `a` and `b` as the kind says.
void tvms_lint_path_condition(tvms_lint_path *path, tvms_lint_condition_kind kind,
                              const tvms_node *expr, const tvms_node *TVMS_NULLABLE a,
                              const tvms_node *TVMS_NULLABLE b);

// The loops that the conditions depend on.
uint64_t tvms_lint_path_loops_of_conditions(const tvms_lint_path *path);

// Chooses another iteration of loop `slot`.
void tvms_lint_path_choose(tvms_lint_path *path, uint32_t slot, bool from_end,
                           int64_t steps);

// Chooses the last lane of vectors, or the first.
void tvms_lint_path_choose_lane(tvms_lint_path *path, bool last);

// Whether what was found out in the epoch `seen` (0: nothing was) and depends on a set of loops
// holds in the chosen iteration.
static inline bool tvms_lint_path_is_fresh(const tvms_lint_path *path, uint32_t seen,
                                           uint64_t loops) {
  if (seen < path->forgotten) return false;
  for (; loops; loops &= loops - 1) {
    uint32_t slot = (uint32_t)__builtin_ctzll(loops);
    if (slot == 63 || path->loops.items[slot].moved > seen) return false;
  }
  return true;
}

// Chooses the first iteration of every loop.
void tvms_lint_path_restart(tvms_lint_path *path);

// Is the chosen iteration one that is executed, for certain? Every loop has it and every
// condition holds.
bool tvms_lint_path_is_reached(tvms_lint_path *path);

// "i = 3 and j = n - 1": the choice, for the loops of the set that are variables of the
// source; "" if there are none. In the context's arena.
const char *tvms_lint_path_text(tvms_lint_path *path, uint64_t loops);

#endif
