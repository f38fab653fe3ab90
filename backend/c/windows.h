// Loads in steps that are beside each other: they read the same whole vectors.
#ifndef TVMS_BACKEND_C_WINDOWS_H
#define TVMS_BACKEND_C_WINDOWS_H

#include "backend/c/emit.h"
#include "backend/core/lanes.h"

// Finds the loads in the body of a function that windows along a line do in steps, and stand in code without branches: those from
// elements o, o + 1 … on are picked from the same vectors. Nothing is read that none of them wants.
void tvms_c_windows_find(c_emitter *e, tvms_node *body);

// Elements in front of and behind each one that a load reads, which loads beside it want.
typedef struct {
  int before, behind;
} tvms_c_around;

// What the loads beside a load want; nothing, if there are none.
tvms_c_around tvms_c_windows_around(const c_emitter *e, const tvms_node *load);

// Widens the span of a load's lanes to that of all loads beside it.
void tvms_c_windows_widen(const c_emitter *e, const tvms_node *load, tvms_lanes *lanes);

#endif
