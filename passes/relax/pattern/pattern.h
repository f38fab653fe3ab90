// Patterns of dataflow: what a value looks like, through the variables that its parts are bound to.
//
//   tvms_pattern *w = tvms_relax_pattern_any(&set), *x = tvms_relax_pattern_any(&set);
//   tvms_pattern *t = tvms_relax_pattern_op(&set, TVMS_R_permute_dims, 1, w);
//   tvms_pattern *root = tvms_relax_pattern_op(&set, TVMS_R_matmul, 2, x, t);
//   if (tvms_relax_pattern_match(&set, root, value, &lookup, &match))
//     … tvms_relax_pattern_value(&match, t) …
//
// A pattern that stands in two places matches the same value in both. The arguments of add and
// multiply are tried in both orders. Of two alternatives the first that matches is taken, and not
// given up later. TVM: relax.dpl, DFPatternMatcher.
#ifndef TVMS_PASSES_RELAX_PATTERN_PATTERN_H
#define TVMS_PASSES_RELAX_PATTERN_PATTERN_H

#include "ir/node_map.h"
#include "ir/op.h"
#include "structinfo/relate.h"

typedef enum {
  TVMS_PATTERN_ANY,
  TVMS_PATTERN_CONSTANT,  // a tensor that is written out
  TVMS_PATTERN_OP,        // a call of an operator
  TVMS_PATTERN_CALL,      // a call of what the first part matches
  TVMS_PATTERN_TUPLE,
  TVMS_PATTERN_ITEM,    // item `index` of a tuple
  TVMS_PATTERN_EITHER,  // one of its parts
  TVMS_PATTERN_SAME,    // a value equal to `value`
} tvms_pattern_kind;

typedef struct tvms_pattern tvms_pattern;

struct tvms_pattern {
  tvms_pattern_kind kind;
  uint32_t id;  // in its set, from 0
  tvms_opcode opcode;
  int64_t index;  // -1: any item
  const tvms_node *TVMS_NULLABLE value;
  const tvms_node *TVMS_NULLABLE attrs;  // OP: a call whose attributes it must have
  bool more_args;                        // OP: others may follow those with patterns
  tvms_node *TVMS_NULLABLE type;         // that the value must fit, by proof
  tvms_pattern **parts;
  uint32_t count;
};

// The patterns that belong together.
typedef struct {
  tvms_context *context;
  tvms_arena *arena;
  tvms_memory *memory;
  TVMS_VEC(tvms_pattern *) all;
} tvms_pattern_set;

// Prepares a set in the caller's storage; patterns lie in the arena.
void tvms_relax_pattern_set_init(tvms_pattern_set *set, tvms_context *context,
                                 tvms_arena *arena);

// Frees what the set holds.
void tvms_relax_pattern_set_fini(tvms_pattern_set *set);

// Any value.
tvms_pattern *tvms_relax_pattern_any(tvms_pattern_set *set);

// A tensor that is written out.
tvms_pattern *tvms_relax_pattern_constant(tvms_pattern_set *set);

// A call of an operator with `count` arguments: patterns, that many.
tvms_pattern *tvms_relax_pattern_op(tvms_pattern_set *set, tvms_opcode opcode,
                                    uint32_t count, ...);

// The first or, if that does not match, the second.
tvms_pattern *tvms_relax_pattern_either(tvms_pattern_set *set, tvms_pattern *a,
                                        tvms_pattern *b);

// A tuple of exactly these fields.
tvms_pattern *tvms_relax_pattern_tuple(tvms_pattern_set *set, tvms_pattern **fields,
                                       uint32_t count);

// Item `index` of a tuple, any if that is -1.
tvms_pattern *tvms_relax_pattern_item(tvms_pattern_set *set, tvms_pattern *tuple,
                                      int64_t index);

// A pattern of a kind with these parts, to be filled in further by the caller.
tvms_pattern *tvms_relax_pattern_new(tvms_pattern_set *set, tvms_pattern_kind kind,
                                     tvms_pattern *const *parts, uint32_t count);

// What a match found, by id of the patterns: the expressions as they are written, which are
// variables for all but the root, and the values behind them.
typedef struct {
  const tvms_pattern_set *set;
  tvms_node **exprs;
  tvms_node **values;
  TVMS_VEC(uint32_t) found;  // ids in the order in which they matched
  // For patterns with types, set by the caller; symbolic dimensions of the types take the values
  // that they are first compared with.
  tvms_prover *TVMS_NULLABLE prover;
  tvms_dim_map dims;
} tvms_pattern_match;

// Prepares a match for patterns of `set` in the caller's storage.
void tvms_relax_pattern_match_init(tvms_pattern_match *match,
                                   const tvms_pattern_set *set);

// Frees what the match holds.
void tvms_relax_pattern_match_fini(tvms_pattern_match *match);

// Does `expr` look like `root`? Variables stand for the values that `lookup` (VAR → value) has.
bool tvms_relax_pattern_match(tvms_pattern_match *match, const tvms_pattern *root,
                              tvms_node *expr, const tvms_node_map *lookup);

// The expression that a pattern matched, or NULL.
tvms_node *TVMS_NULLABLE tvms_relax_pattern_expr(const tvms_pattern_match *match,
                                                 const tvms_pattern *pattern);

// The value behind it, which is not a variable of `lookup`, or NULL.
tvms_node *TVMS_NULLABLE tvms_relax_pattern_value(const tvms_pattern_match *match,
                                                  const tvms_pattern *pattern);

// `node` or, where it is a variable that `lookup` has, the first value behind it that is none.
tvms_node *tvms_relax_pattern_unwrap(const tvms_node_map *lookup, tvms_node *node);

#endif
