// In which order the steps of loops around one store may be done, and whether one may be done twice.
#ifndef TVMS_PASSES_TIR_CPU_STEP_ORDER_H
#define TVMS_PASSES_TIR_CPU_STEP_ORDER_H

#include "ir/node.h"

// Does a store load nothing of the memory that it stores to but what lies at its place? Then steps that store
// at different places do not depend on each other.
bool tvms_cpu_steps_are_apart(tvms_unit *unit, const tvms_store *store);

// Does each step add something else to what lies at the place? Then steps that store at one place may be done in any order: those of
// integers always, and if `reorders` allows another rounding, those of floats, and products, greatest and least values.
bool tvms_cpu_steps_add_up(tvms_unit *unit, const tvms_store *store, bool reorders);

// Does a store load, at the place where it stores, from a buffer that is not among `allocated`, of the same type? Who calls a function
// whose parameters need not be apart may give one tensor for this and for what is stored behind it: no step may be done twice then.
bool tvms_cpu_loads_there(tvms_unit *unit, const tvms_store *store,
                          tvms_list allocated);

// The same of a store to such a buffer.
bool tvms_cpu_may_be_in_place(tvms_unit *unit, const tvms_store *store,
                              tvms_list allocated);

#endif
