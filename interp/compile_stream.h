// What code knows ahead of a loop: streams of elements, and variables that are always the same.
#ifndef TVMS_INTERP_COMPILE_STREAM_H
#define TVMS_INTERP_COMPILE_STREAM_H

#include "interp/compile_access.h"

// Can the integer be computed at any time, any number of times, and is it always the same while
// its variables are? Nothing large is.
bool tvms_interp_is_without_effects(tvms_interp_maker *m, const tvms_node *node);

// Binds a variable ahead of the innermost loop if what it means is the same in all iterations.
bool tvms_interp_hoist(tvms_interp_maker *m, const tvms_node *var);

// The first slot of a stream of the innermost loop for one lane of an access; 0 if it is none.
uint32_t tvms_interp_stream_of(tvms_interp_maker *m, const tvms_interp_access *x);

// Appends what stands ahead of the innermost loop: its hoisted variables and its streams. False
// if there are none.
bool tvms_interp_make_ahead(tvms_interp_maker *m);

#endif
