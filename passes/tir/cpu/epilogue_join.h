// Element-wise stages behind a contraction as one stage.
#ifndef TVMS_PASSES_TIR_CPU_EPILOGUE_JOIN_H
#define TVMS_PASSES_TIR_CPU_EPILOGUE_JOIN_H

#include "ir/node_map.h"
#include "passes/tir/cpu/stage.h"

// The statements with one in the place of those from `at` on, up to the last one that reads `buffer`, in which
// what they compute stands where it is used; `stmts` itself unless they are several element-wise stages that are
// one then, without anything costly computed twice. Buffers between them are among `allocated`; those that
// nothing uses then are put into `gone`. The list lives in the unit's arena.
tvms_list tvms_cpu_join_epilogue(tvms_unit *unit, tvms_list allocated, tvms_list stmts,
                                 uint32_t at, const tvms_node *buffer,
                                 tvms_node_map *gone);

// The same for the statements from `at` on, of which the first one reads `buffer` and each other one what the one in front
// stores, or as many of them as become one.
tvms_list tvms_cpu_join_changed(tvms_unit *unit, tvms_list allocated, tvms_list stmts,
                                uint32_t at, const tvms_node *buffer,
                                tvms_node_map *gone);

#endif
