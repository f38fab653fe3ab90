// Places of a buffer's new layout that have no element, and who fills them. TVM: TransformLayoutPlanner of
// src/s_tir/schedule/primitive/layout_transformation.cc.
//
// Nobody writes the buffer: a block in front of all others says what its caller has put there (T.assume). Loops that run over all
// elements in order, and store each: they run over all places, and store the value where there is no element.
// Otherwise a block behind the last store fills the places.
#ifndef TVMS_SCHEDULE_LAYOUT_PADDING_H
#define TVMS_SCHEDULE_LAYOUT_PADDING_H

#include "schedule/state.h"

typedef struct {
  tvms_sched *sched;
  tvms_node *old, *made;          // buffers
  const tvms_index_map *inverse;  // from places to elements
  tvms_node *padding;             // where there are none, in terms of its variables
  const tvms_index_map *value;    // what stands there
  // What is found:
  tvms_node *TVMS_NULLABLE prologue;  // goes in front of the body of the scope
  tvms_node_map loops;                // FOR -> the statement in its place
  tvms_node *TVMS_NULLABLE behind;    // a FOR or BLOCK_REALIZE …
  tvms_node *TVMS_NULLABLE epilogue;  // … and what goes behind it
} tvms_sched_padding;

// Decides how the places of a buffer are filled that the BLOCK `scope` defines, or uses. The map is the caller's to free.
void tvms_sched_padding_plan(tvms_sched_padding *padding, tvms_node *scope);

#endif
