// The name under which a function is visible outside of its module.
#ifndef TVMS_IR_GLOBAL_SYMBOL_H
#define TVMS_IR_GLOBAL_SYMBOL_H

#include "ir/module.h"

// The attribute `global_symbol` as a node, or NULL. `function` may be NULL or an external
// function, which has none.
const tvms_node *TVMS_NULLABLE
tvms_global_symbol_attr(const tvms_node *TVMS_NULLABLE function);

// The name of a member: its attribute, or else, if it is not private, its own name, which TVM
// makes the attribute of every public function that has none. NULL: it is private, or no
// function of TVMScript. Valid as long as the context.
const char *TVMS_NULLABLE tvms_global_symbol_of(const tvms_context *context,
                                                const tvms_member *member);

// `attrs` without `global_symbol`; NULL if nothing is left or nothing was there. A map without
// the key is returned as it is, else the map is new, in `unit`.
tvms_node *TVMS_NULLABLE tvms_global_symbol_drop(tvms_unit *unit,
                                                 tvms_node *TVMS_NULLABLE attrs);

// The same, but only an attribute that is `name` goes: a function that is named after itself
// says nothing new, and has no attribute in the IR.
tvms_node *TVMS_NULLABLE tvms_global_symbol_drop_own(tvms_unit *unit,
                                                     tvms_node *TVMS_NULLABLE attrs,
                                                     tvms_sym name);

#endif
