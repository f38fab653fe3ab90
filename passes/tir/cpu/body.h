// The body of a function for CPUs: stages in a row, in a root block or not, and the buffers in front of them.
#ifndef TVMS_PASSES_TIR_CPU_BODY_H
#define TVMS_PASSES_TIR_CPU_BODY_H

#include "ir/node_map.h"

typedef struct {
  tvms_node *whole;                      // the body itself
  const tvms_block *TVMS_NULLABLE root;  // NULL: there is none
  tvms_list allocated;                   // by the block, and by statements in front
  tvms_node *stages;                     // a SEQ, or one statement
} tvms_cpu_body;

// The body is a root block around the stages, or the stages themselves. What allocates buffers in front of them is as
// good as what the block allocates.
tvms_cpu_body tvms_cpu_body_read(tvms_unit *unit, tvms_node *body);

// A body like `old` with other stages and buffers. Blocks and what is allocated stand in a root block.
tvms_node *tvms_cpu_body_write(tvms_unit *unit, const tvms_cpu_body *old,
                               tvms_list allocated, tvms_node *stages);

// Two lists of buffers as one, without those that are `gone`.
tvms_list tvms_cpu_allocations(tvms_unit *unit, tvms_list added, tvms_list allocated,
                               const tvms_node_map *gone);

// Does a statement hold a block?
bool tvms_cpu_holds_block(tvms_unit *unit, tvms_node *body);

#endif
