// Element-wise stages in front of a sum are computed where a stage behind it reads them.
#ifndef TVMS_PASSES_TIR_CPU_LATE_OPERANDS_H
#define TVMS_PASSES_TIR_CPU_LATE_OPERANDS_H

#include "ir/node_map.h"

// The statements without the stages whose only reader is behind a sum, whose values this reader computes; `*gone` gets the
// buffers that nothing uses any more. Buffers of the function must not overlap.
tvms_list tvms_cpu_late_operands(tvms_unit *unit, tvms_list allocated, tvms_list stmts,
                                 tvms_node_map *gone);

#endif
