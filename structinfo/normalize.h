// Building the body of a Relax function in A-normal form, as TVM's BlockBuilder does.
//
// Values come as trees; emitting one binds every part that is not a leaf to a temporary
// variable first. Names of temporaries are gv, gv1 …, inside a dataflow block lv, lv1 …;
// every emitted binding draws one, also when the user's name replaces it afterwards.
//
// Blocks nest in sequences: a function body or a branch. Ending a sequence gives its
// SEQ_EXPR with empty blocks dropped and neighbours of one kind merged.
#ifndef TVMS_STRUCTINFO_NORMALIZE_H
#define TVMS_STRUCTINFO_NORMALIZE_H

#include "ir/node_map.h"
#include "structinfo/relate.h"

// An open block. Finished ones wait in the builder until their sequence ends.
typedef struct {
  tvms_node_vec bindings;
  tvms_node_map bound;  // parts that have a temporary already
  bool dataflow;
  bool ended;  // R.output has been seen
} tvms_open_block;

typedef struct {
  uint32_t first_block;   // of the finished blocks
  uint32_t first_symbol;  // of the symbolic variables in scope
} tvms_open_seq;

typedef struct tvms_builder {
  tvms_unit *unit;
  tvms_prover *prover;
  uint32_t gv;  // names drawn so far
  uint32_t lv;
  TVMS_VEC(tvms_open_block) open;  // one per open sequence; empty: none
  TVMS_VEC(tvms_open_seq) seqs;
  tvms_node_vec blocks;  // finished BINDING_BLOCKs of all open sequences
  const tvms_node *TVMS_NULLABLE void_var;  // of void type, and mentioned as it is
  tvms_node_vec symbols;   // symbolic variables that types in scope define …
  tvms_node_map in_scope;  // … and the same as a set
} tvms_builder;

// Prepares a builder of the prover's unit in the storage of the caller; no sequence is
// open.
void tvms_builder_init(tvms_builder *builder, tvms_prover *prover);

// Frees what the builder holds. What it built stays with the unit.
void tvms_builder_fini(tvms_builder *builder);

// Symbolic variables that stand bare in `sinfo` are in scope from now on.
void tvms_builder_define(tvms_builder *builder, const tvms_node *sinfo);

// Opens a sequence with an ordinary block.
void tvms_builder_begin_seq(tvms_builder *builder);

// Ends it: `body` is normalized (a leaf that is not a variable stays as it is). The
// SEQ_EXPR has the type of the body, erased to what is in scope.
tvms_node *tvms_builder_end_seq(tvms_builder *builder, tvms_node *body, tvms_span span);

// Ends a branch of an If: its last binding gives the branch its value and the If its name.
// `suffix` ("_then") is added to the name of the variable that stays in the branch.
// Returns NULL if there is no last binding or its variable belongs to a dataflow block.
tvms_node *TVMS_NULLABLE tvms_builder_end_branch(tvms_builder *builder,
                                                 const char *suffix, tvms_sym *name,
                                                 tvms_span span);

// Ends the current block and opens one of another kind.
void tvms_builder_switch(tvms_builder *builder, bool dataflow);

// The block that is open in the innermost sequence.
static inline tvms_open_block *tvms_builder_block(tvms_builder *builder) {
  return &builder->open.items[builder->open.len - 1];
}

// The value that an ordinary binding of an open sequence gives `var`, or NULL.
tvms_node *TVMS_NULLABLE tvms_builder_value_of(const tvms_builder *builder,
                                               const tvms_node *var);

// A value whose parts are leaves. A call keeps the StructInfo that it has.
tvms_node *tvms_builder_normalize(tvms_builder *builder, tvms_node *value);

// Binds a value; `name` 0: the temporary name stays. Returns the variable, whose type is
// that of the value.
tvms_node *tvms_builder_emit(tvms_builder *builder, tvms_node *value, tvms_sym name,
                             tvms_span span, bool annotated);

// As emit for a match_cast to `type`.
tvms_node *tvms_builder_match_cast(tvms_builder *builder, tvms_node *value,
                                   tvms_node *type, tvms_sym name, tvms_span span);

// Binds `value` to a variable that exists (a local function that calls itself).
void tvms_builder_bind(tvms_builder *builder, tvms_node *var, tvms_node *value,
                       tvms_span span);

// Draws the next temporary name without using it.
tvms_sym tvms_builder_draw(tvms_builder *builder);

// True for nodes that may stand as an argument: variables, constants, immediates, names.
bool tvms_relax_is_leaf(const tvms_node *node);

// The same, or a TUPLE.
bool tvms_relax_is_leaf_or_tuple(const tvms_node *node);

// `sinfo` without the symbolic variables that are not in scope.
tvms_node *tvms_builder_erase(tvms_builder *builder, tvms_node *sinfo);

#endif
