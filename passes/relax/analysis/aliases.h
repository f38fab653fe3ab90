// Which memory the values of a dataflow block may lie in.
//
// A *place* is memory that was allocated once, or a tuple that was made once; each has a number. The
// fields of a tuple have places of their own. What stands outside of the block is in no known
// place. What may share memory with an argument stands in aliases.def; a call of a function may
// give any of its arguments, or what they hold. TVM: AliasAnalyzer of dataflow_inplace.cc, which
// knows neither closures nor the operators of aliases.def that only pass a value on.
#ifndef TVMS_PASSES_RELAX_ANALYSIS_ALIASES_H
#define TVMS_PASSES_RELAX_ANALYSIS_ALIASES_H

#include "ir/node.h"
#include "ir/op.h"
#include "support/vec.h"

typedef struct {
  const uint32_t *places;  // in ascending order
  uint32_t count;
  bool unknown;  // or anywhere else
} tvms_alias_set;

typedef struct {
  tvms_alias_set set;
  const tvms_node *TVMS_NULLABLE
      block;  // that binds the variable; NULL: none was looked at
} tvms_alias_entry;

typedef struct {
  const tvms_alias_set *fields;  // of a tuple
  uint32_t count;
  uint32_t seen;  // the last search that came by
} tvms_alias_place;

// What is known of one block.
typedef struct {
  tvms_memory *memory;
  tvms_arena arena;  // of sets
  tvms_mark empty;
  tvms_alias_entry *entries;  // by id of a variable
  uint32_t ids;
  const tvms_node *TVMS_NULLABLE block;
  TVMS_VEC(tvms_alias_place) places;
  uint32_t searches;
  uint64_t room;             // items of all sets; beyond a limit nothing is known
  TVMS_VEC(uint32_t) found;  // by tvms_relax_aliases_reach
} tvms_relax_aliases;

// Prepares an analysis in the caller's storage, for blocks whose nodes lie in `unit` already.
void tvms_relax_aliases_init(tvms_relax_aliases *aliases, const tvms_unit *unit);

// Frees what it holds.
void tvms_relax_aliases_fini(tvms_relax_aliases *aliases);

// Looks at a BINDING_BLOCK; what was known of another is forgotten.
void tvms_relax_aliases_look(tvms_relax_aliases *aliases, const tvms_node *block);

// Where the value of a variable lies; of anything else, and of what the block does not bind,
// nothing is known. Good until the next block.
tvms_alias_set tvms_relax_aliases_of(const tvms_relax_aliases *aliases,
                                     const tvms_node *node);

// May what an operator gives lie in memory of its arguments? Of what is no operator nothing is known.
bool tvms_relax_may_alias(tvms_opcode opcode);

// Have they a place in common, as far as is known?
bool tvms_relax_aliases_meet(tvms_alias_set a, tvms_alias_set b);

// The places of a set and, where they are tuples, of all that these hold: in aliases->found, in no
// order, until the next call. False if something else may be there, too.
TVMS_NODISCARD bool tvms_relax_aliases_reach(tvms_relax_aliases *aliases,
                                             tvms_alias_set set);

#endif
