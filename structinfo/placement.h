// Placements of distributed tensors: "S[0], R" says for each dimension of a mesh which axis of
// the tensor it splits, or that every device along it has all of the tensor.
#ifndef TVMS_STRUCTINFO_PLACEMENT_H
#define TVMS_STRUCTINFO_PLACEMENT_H

#include "ir/node.h"

enum { TVMS_MOST_MESH = 8, TVMS_REPLICATED = -1 };

typedef struct {
  int64_t axes[TVMS_MOST_MESH];  // or TVMS_REPLICATED
  uint32_t count;
} tvms_placement;

// Reads a placement as TVM does; false if the text is not one.
bool tvms_placement_parse(tvms_bytes text, tvms_placement *placement);

// The text that TVM writes, of the unit.
tvms_bytes tvms_placement_text(tvms_unit *unit, const tvms_placement *placement);

// Why a tensor with `ndim` axes cannot be placed on a mesh so; NULL if it can.
const char *TVMS_NULLABLE tvms_placement_misfit(const tvms_placement *placement,
                                                const tvms_node *mesh, int64_t ndim);

#endif
