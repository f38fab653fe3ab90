// How much a PrimFunc computes.
#ifndef TVMS_DRIVER_PROFILE_WORK_H
#define TVMS_DRIVER_PROFILE_WORK_H

#include "ir/module.h"
#include "runtime/value.h"

// Operations on floating-point numbers in one call with these arguments, as the text has them: a
// fused product and sum are two, a function such as T.exp is one, both sides of a condition
// count. 0 where a length is not known before the function runs.
double tvms_profile_work(tvms_memory *memory, const tvms_member *member,
                         const tvms_value *args, uint32_t count);

#endif
