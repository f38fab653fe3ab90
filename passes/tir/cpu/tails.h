// Loops that are tiled by hand, with tails.
#ifndef TVMS_PASSES_TIR_CPU_TAILS_H
#define TVMS_PASSES_TIR_CPU_TAILS_H

#include "ir/node.h"

// A nest of plain loops around one statement with one loop for what several loops are the digits of, and without
// conditions that only say where loops end: `if i * 16 + j < n`, loops of T.min(16, n - i * 16) steps or from i * 16 on. Other conditions on
// variables stand around the statement then. `reorders`: floats may be added up in another order. The nest itself if
// that changes nothing, or the order of what is stored could matter.
tvms_node *tvms_cpu_straighten_tails(tvms_unit *unit, tvms_node *nest, bool reorders);

#endif
