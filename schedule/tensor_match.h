// Is a block what the description of a tensor intrinsic says? The statements must be the same up to variables, buffers and where the
// elements begin. TVM: src/s_tir/schedule/ir_comparator.cc, TensorizeComparator.
#ifndef TVMS_SCHEDULE_TENSOR_MATCH_H
#define TVMS_SCHEDULE_TENSOR_MATCH_H

#include "schedule/scope.h"

// A buffer of the description, and what stands for it.
typedef struct {
  const tvms_node *described;
  tvms_node *buffer;
  tvms_list base;  // index of the first element, in all dimensions
} tvms_sched_tensor_buffer;

typedef struct {
  tvms_sched *sched;
  tvms_analyzer *analyzer;
  tvms_node_map vars;  // of the block -> of the description
  TVMS_VEC(tvms_sched_tensor_buffer) buffers;
  const char *TVMS_NULLABLE why;  // what differs
} tvms_sched_tensor_match;

// Compares a BLOCK_REALIZE with that of the description. False after a refusal, which says what differs. `match` is the caller's storage,
// to be closed in any case; both live in the unit of `sched`.
TVMS_NODISCARD bool tvms_sched_tensor_match_open(tvms_sched_tensor_match *match,
                                                 tvms_sched *sched, tvms_node *realize,
                                                 tvms_node *described);

// Frees what `match` holds.
void tvms_sched_tensor_match_close(tvms_sched_tensor_match *match);

// What stands for a buffer of the description, or NULL: the block uses nothing like it.
const tvms_sched_tensor_buffer *TVMS_NULLABLE tvms_sched_tensor_match_find(
    const tvms_sched_tensor_match *match, const tvms_node *described);

#endif
