// Sums of iterators and how several become one; what arith/iter_map.c is made of.
#ifndef TVMS_ARITH_ITER_SUM_H
#define TVMS_ARITH_ITER_SUM_H

#include "arith/analyzer.h"
#include "ir/node_map.h"
#include "support/vec.h"

typedef struct tvms_iter_sum tvms_iter_sum;
typedef struct tvms_iter_split tvms_iter_split;

// What splits are parts of: a variable less its minimum, a sum that became one iterator, or a split. It takes the
// values of [0, extent).
typedef struct {
  tvms_node *TVMS_NULLABLE expr;
  const tvms_iter_sum *TVMS_NULLABLE sum;
  const tvms_iter_split *TVMS_NULLABLE split;
  tvms_node *extent;
} tvms_iter_mark;

// (source // lower_factor) % extent * scale
struct tvms_iter_split {
  tvms_iter_mark *source;
  tvms_node *lower_factor, *extent, *scale;
};

struct tvms_iter_sum {
  tvms_iter_split *args;
  uint32_t len;
  tvms_node *base;
};

// A sum that became one iterator: `flat` as it was, `mark` what stands for it, behind `offset`.
typedef struct {
  tvms_iter_sum flat;
  tvms_iter_mark *mark;
  tvms_node *offset;
} tvms_iter_fused;

// How far a source is padded so that all its divisors divide it.
typedef struct {
  tvms_iter_mark *mark;
  tvms_node *factor, *left;
  tvms_iter_mark *TVMS_NULLABLE padded;
} tvms_iter_padding;

typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_analyzer *analyzer;
  tvms_node_map vars;  // VAR -> tvms_iter_sum *
  TVMS_VEC(tvms_iter_fused) fused;
  TVMS_VEC(tvms_iter_sum) constrained;  // flat forms with a condition of their own
  TVMS_VEC(tvms_iter_padding) paddings;
  bool collects;                     // first round: paddings are collected
  bool needs_padding;                // a second round is needed
  bool failed;                       // something is not an iterator
  bool inverts;                      // `padding` is wanted
  bool keeps_units;                  // axes of one step stay
  tvms_node *TVMS_NULLABLE padding;  // where an iterator stands on what was added to it
} tvms_iter_mapper;

// ---- Expressions ----

// a KIND b, folded.
tvms_node *tvms_iter_build(tvms_iter_mapper *m, tvms_node_kind kind, tvms_node *a,
                           tvms_node *b);

// The constant `value` of the dtype of `like`.
tvms_node *tvms_iter_number(tvms_iter_mapper *m, const tvms_node *like, int64_t value);

// a * b as (x * y) * constant.
tvms_node *tvms_iter_multiply(tvms_iter_mapper *m, tvms_node *a, tvms_node *b);

// Does `b` divide `a` for sure?
bool tvms_iter_divides(tvms_iter_mapper *m, tvms_node *a, tvms_node *b);

// ---- Splits and sums ----

// The whole of a source.
tvms_iter_split tvms_iter_split_of(tvms_iter_mapper *m, tvms_iter_mark *mark,
                                   tvms_node *scale);

// A sum of `len` splits, which are copied.
tvms_iter_sum *tvms_iter_sum_new(tvms_iter_mapper *m, const tvms_iter_split *args,
                                 uint32_t len, tvms_node *base);

// a + b, or a - b.
tvms_iter_sum *tvms_iter_sum_add(tvms_iter_mapper *m, const tvms_iter_sum *a,
                                 const tvms_iter_sum *b, bool subtract);

// Are two sources the same?
bool tvms_iter_mark_same(const tvms_iter_mark *a, const tvms_iter_mark *b);

// Are two splits the same; with their scales?
bool tvms_iter_split_same(const tvms_iter_split *a, const tvms_iter_split *b,
                          bool scales);

// The sum as one iterator behind a base. NULL: it is none. With `early`, a sum whose parts of
// one source become one is left so. TVM: TryFuseIters.
tvms_iter_sum *TVMS_NULLABLE tvms_iter_sum_fuse(tvms_iter_mapper *m,
                                                const tvms_iter_sum *sum, bool early);

// The sum as an expression: the way back.
tvms_node *tvms_iter_sum_write(tvms_iter_mapper *m, const tvms_iter_sum *sum);

#endif
