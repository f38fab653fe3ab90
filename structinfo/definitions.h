// Where the variables of a Relax function are defined, and what they are bound to.
#ifndef TVMS_STRUCTINFO_DEFINITIONS_H
#define TVMS_STRUCTINFO_DEFINITIONS_H

#include "ir/op.h"

// What is known of one variable.
typedef struct {
  tvms_node *TVMS_NULLABLE binding;  // VAR_BINDING or MATCH_CAST; NULL: none
  tvms_node *TVMS_NULLABLE block;    // the BINDING_BLOCK in which that stands
  uint32_t uses;                     // places where its value is used
  bool elsewhere;                    // one of them is outside of `block`
} tvms_relax_definition;

// By id of the variable. Good as long as the function is.
typedef struct {
  tvms_memory *memory;
  tvms_relax_definition *items;
  uint32_t len;
} tvms_relax_definitions;

// Looks at all bindings below `node`, a function or a part of one whose nodes lie in
// `unit`; local functions and branches count. What stands in types is no use.
void tvms_relax_definitions_init(tvms_relax_definitions *definitions,
                                 const tvms_unit *unit, tvms_node *node);

// Frees what was found.
void tvms_relax_definitions_fini(tvms_relax_definitions *definitions);

// What is known of `var`; zeros for one that was not there.
tvms_relax_definition
tvms_relax_definitions_of(const tvms_relax_definitions *definitions,
                          const tvms_node *var);

// The value that a VAR_BINDING gives to `node`, or NULL: `node` is not a variable, a parameter,
// or the result of a match_cast.
tvms_node *TVMS_NULLABLE tvms_relax_definitions_value(
    const tvms_relax_definitions *definitions, const tvms_node *node);

// `node` itself or, where that is a variable, the first value behind it, through copies of
// variables, that is none; the last variable if there is no such value.
tvms_node *tvms_relax_definitions_unwrap(const tvms_relax_definitions *definitions,
                                         tvms_node *node);

// The call of an operator that `node` is, by whatever name; NULL: it is none.
const tvms_call *TVMS_NULLABLE
tvms_relax_definitions_call(const tvms_relax_definitions *definitions,
                            const tvms_node *node, tvms_opcode opcode);

// The variable of a VAR_BINDING or MATCH_CAST.
tvms_node *tvms_relax_binding_var(const tvms_node *binding);

// The value of a VAR_BINDING or MATCH_CAST.
tvms_node *tvms_relax_binding_value(const tvms_node *binding);

#endif
