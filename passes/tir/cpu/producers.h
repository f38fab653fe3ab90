// Stages whose results a contraction may compute where it reads them.
#ifndef TVMS_PASSES_TIR_CPU_PRODUCERS_H
#define TVMS_PASSES_TIR_CPU_PRODUCERS_H

#include "ir/node_map.h"
#include "passes/tir/cpu/stage.h"

// Puts copies (an image that is padded by nothing) and arithmetic on elements (weights that are
// made floats from integers) into the contraction that alone reads them, by buffers that are
// among `allocated`; those buffers are put into `gone`. Returns the statements that are left, with
// such contractions written anew; they live in the unit's arena.
tvms_list tvms_cpu_producers_join(tvms_unit *unit, tvms_list allocated, tvms_list stmts,
                                  tvms_node_map *gone);

#endif
