// Functions of the run time that code calls by their symbols in libtvms_rt.a (runtime/boxes.def).
#ifndef TVMS_BACKEND_CORE_BOXES_H
#define TVMS_BACKEND_CORE_BOXES_H

#include "ir/module.h"

// What a symbol of these files begins with: an object that has it is linked with libtvms_rt.a.
#define TVMS_BOX_PREFIX "tvms_box_"

// The symbol of the function that has this name for T.call_packed, or NULL.
const char *TVMS_NULLABLE tvms_boxes_symbol(const char *name);

// The function of the module whose entry argument `at` of a packed call is, of which argument `first` is the
// name: vm.builtin.make_closure takes one by its name. NULL: it is not such an argument.
const tvms_member *TVMS_NULLABLE tvms_boxes_entry_of(const tvms_module *module,
                                                     tvms_list args, uint32_t first,
                                                     uint32_t at);

// The same of a function that the module has not: its name, by which whoever loads the library finds it.
const char *TVMS_NULLABLE tvms_boxes_external_of(const tvms_module *module,
                                                 tvms_list args, uint32_t first,
                                                 uint32_t at);

// The number of objects that a T.tvm_stack_alloca is a list of, which owns them; -1: it is no list.
int64_t tvms_boxes_of(const tvms_call *call);

#endif
