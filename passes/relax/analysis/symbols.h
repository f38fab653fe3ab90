// Symbols: the variables of TIR in shapes and types of Relax functions.
#ifndef TVMS_PASSES_RELAX_ANALYSIS_SYMBOLS_H
#define TVMS_PASSES_RELAX_ANALYSIS_SYMBOLS_H

#include "ir/node_map.h"

// A variable that stands for a number.
bool tvms_relax_is_symbol(const tvms_node *node);

// Adds the symbols that a parameter of this type defines: those that are a dimension
// themselves. Keys of `defined`, as their own values.
void tvms_relax_symbols_of_type(tvms_node_map *defined, const tvms_node *type);

// Appends each symbol that is used below `node`, or in the type of a value there, and is
// neither in `defined` nor defined by a match_cast there; in order, each once. They are
// added to `defined`.
void tvms_relax_symbols_free(tvms_memory *memory, tvms_node *node,
                             tvms_node_map *defined, tvms_node_vec *free);

// Turns a list of symbols that were found around: TVM keeps free symbols in a hash table, which
// puts what is new in front, and lists them from there.
void tvms_relax_symbols_latest_first(tvms_node_vec *symbols);

// What `symbol`, a dimension of `type`, is where a value of the type `given` is handed over
// for it; NULL: not to be seen.
tvms_node *TVMS_NULLABLE tvms_relax_symbol_value(const tvms_node *type,
                                                 const tvms_node *given,
                                                 const tvms_node *symbol);

// `type`, one of the function `callee`, as its caller sees it who passes `args`: symbols of
// the parameters are what is passed. Nodes of `unit`, that of the caller. NULL: it mentions
// a symbol that the arguments do not tell.
tvms_node *TVMS_NULLABLE tvms_relax_type_at_call(tvms_unit *unit,
                                                 const tvms_function *callee,
                                                 tvms_list args, tvms_node *type);

// `type` without the symbols that no parameter of `params` tells: what a function with these
// parameters can say of its result.
tvms_node *tvms_relax_type_told(tvms_unit *unit, tvms_list params, tvms_node *type);

#endif
