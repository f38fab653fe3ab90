// Scope ids of tile programs: T.cta_id([4]), T.warp_id([8]), T.thread_id([256]) must be
// one hierarchy.
#ifndef TVMS_STRUCTINFO_SCOPE_IDS_H
#define TVMS_STRUCTINFO_SCOPE_IDS_H

#include "ir/node.h"

// Checks the scope ids in the device regions of a function and reports what contradicts.
// Returns the number of reports.
uint32_t tvms_scope_ids_check(tvms_unit *unit, tvms_node *body);

#endif
