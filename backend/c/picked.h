// Loads of vectors whose lanes lie near each other in C text: whole vectors, and what is picked from them.
#ifndef TVMS_BACKEND_C_PICKED_H
#define TVMS_BACKEND_C_PICKED_H

#include "backend/c/emit.h"
#include "backend/c/windows.h"
#include "backend/core/lanes.h"

// May the elements be loaded so? `lanes` has been read of the index; of every element kind but truths.
bool tvms_c_is_picked(tvms_dtype element, const tvms_lanes *lanes);

// A vector of elements that lie as `lanes` says from the pointer `at` on. Nothing outside of its span is read.
const char *tvms_c_load_picked(c_emitter *e, tvms_dtype dtype, tvms_span span,
                               const char *at, const tvms_lanes *lanes);

// The lanes `bits`, one at least, of every second element from `at` on; others are 0 and not touched. What is read
// with each of them makes no vector longer than two.
const char *tvms_c_load_some_pairs(c_emitter *e, tvms_dtype dtype, tvms_span span,
                                   const char *at, uint64_t bits, tvms_c_around around);

#endif
