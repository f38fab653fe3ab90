// Attention in tiles: the PrimFunc that computes softmax(f(q k^T)) v without the matrix of scores.
//
// For each tile of queries it goes through the keys tile by tile, and keeps for each query the greatest score so
// far, the sum of the powers, and the sum of the values weighed by them. A score that is greater than all
// before makes these two shrink by exp(old - new). Everything is added up in float32 (float64 for
// float64). What it stores is rounded once.
#ifndef TVMS_TE_ATTENTION_TILES_H
#define TVMS_TE_ATTENTION_TILES_H

#include "te/legalize.h"

enum {
  TVMS_MOST_ATTENTION_AXES = 6,
  TVMS_MOST_ATTENTION_MOVES = 8,
  TVMS_MOST_ATTENTION_STEPS = 8,
  TVMS_ATTENTION_FEW = 16,  // queries: fewer are no tile
};

// An operator that moves elements: where the element at an index of its result lies in its operand.
typedef struct {
  enum {
    TVMS_MOVE_PERMUTE,  // result axis i is operand axis axes[i]
    TVMS_MOVE_REPEAT,   // index `axis` counts each step `times` times
    TVMS_MOVE_EXPAND,   // result axes with a flag in axes[i] are new
    TVMS_MOVE_BROADCAST,  // operand axes with a flag in axes[i] have one step; `rank` of them
    TVMS_MOVE_JOIN,  // index `axis` is two of the operand, the inner one of `times` steps
  } kind;
  uint32_t rank;  // of the operand
  uint32_t axis;
  int64_t times;
  int64_t axes[TVMS_MOST_ATTENTION_AXES];
} tvms_attention_move;

// A tensor as the pattern has it: `value`, a leaf of the caller, behind operators that move elements,
// the outermost one first. `dims` is the shape in front of them all.
typedef struct {
  const tvms_node *value;
  tvms_list dims;
  uint32_t move_count;
  tvms_attention_move moves[TVMS_MOST_ATTENTION_MOVES];
} tvms_attention_operand;

// What is done with a score before the softmax.
typedef struct {
  tvms_opcode op;  // R.add, subtract, multiply, divide, maximum, minimum, where
  uint32_t place;  // of the score among the arguments
  tvms_attention_operand
      others[2];  // the other ones in order; of where the condition first
} tvms_attention_step;

// What a query gives whose scores are all -infinity.
typedef enum {
  TVMS_EMPTY_NAN,           // NaN, what 0 / 0 is
  TVMS_EMPTY_ZERO,          // 0
  TVMS_EMPTY_ZERO_AND_NAN,  // 0, and so does one with a score that is NaN
} tvms_attention_empty;

typedef struct {
  // [batch axes, query, depth], [batch axes, depth, key] and [batch axes, key, width]
  tvms_attention_operand q, k, v;
  double scale;  // of the product
  tvms_attention_empty empty;
  uint32_t step_count;
  tvms_attention_step steps[TVMS_MOST_ATTENTION_STEPS];
  const char *TVMS_NULLABLE
      causal;     // "TopLeft" or "BottomRight": keys behind the query do not count
  uint32_t rank;  // of the scores
  tvms_node *dims[TVMS_MOST_ATTENTION_AXES];  // of the scores, in the caller
  tvms_node *depth, *width;
  int64_t
      order[TVMS_MOST_ATTENTION_AXES];  // result axis i is axis order[i] of the product
  tvms_dtype dtype;                     // of the result
  int64_t query_tile, key_tile;         // of queries and keys that are taken together
} tvms_attention;

// Makes the PrimFunc, as tvms_legalize_call does; `call` is what it takes the place of.
TVMS_NODISCARD bool tvms_legalize_attention_tiles(tvms_unit *unit, tvms_unit *caller,
                                                  const tvms_call *call,
                                                  const tvms_attention *attention,
                                                  tvms_legalized *result);

#endif
