// Which member of a module is the same function as another.
//
// Passes that add many functions to a module that has many ask so for each: a table by hash, in the module, has
// the few to compare it with.
#ifndef TVMS_IR_MODULE_ALIKE_H
#define TVMS_IR_MODULE_ALIKE_H

#include "ir/module.h"

// The first member that is the same function, with the same flags; UINT32_MAX: none is. Each
// member is hashed once, until tvms_module_member_changed says that it has another function.
uint32_t tvms_module_find_same(tvms_module *module, const tvms_node *function);

// To be called for a member whose function is another one from now on.
void tvms_module_member_changed(tvms_module *module, uint32_t index);

// Frees the table, but not what is known of each member: it is made again when it is needed. To be called after
// members were removed or moved.
void tvms_module_forget_alike(tvms_module *module);

#endif
