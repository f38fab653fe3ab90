// What static planning would make of the memory of a function that was profiled.
#ifndef TVMS_DRIVER_PROFILE_PLAN_H
#define TVMS_DRIVER_PROFILE_PLAN_H

#include "driver/profile.h"
#include "support/json.h"

// Writes the key "storages" and a list: each storage's size in bytes (0: not known before the
// function runs), the numbers of the bindings that allocate it and use it last, and how many
// tensors lie in it. The list is empty for a PrimFunc, and where no plan can be made.
void tvms_profile_plan(tvms_json *json, const tvms_profile *profile,
                       const tvms_member *entry, tvms_arena *arena);

#endif
