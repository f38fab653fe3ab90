// Scopes of buffers and axes of threads: who sees what is stored where.
#ifndef TVMS_SCHEDULE_STORAGE_SCOPE_H
#define TVMS_SCHEDULE_STORAGE_SCOPE_H

#include "ir/node.h"

// How far a scope reaches, from all threads of the machine to one of them. TVM has more kinds
// of registers, which are all LOCAL here.
typedef enum {
  TVMS_STORAGE_GLOBAL,
  TVMS_STORAGE_SHARED,
  TVMS_STORAGE_WARP,
  TVMS_STORAGE_LOCAL,
} tvms_storage_rank;

// The scope of a buffer, "global" if none is given.
const char *tvms_storage_scope_of(const tvms_context *context, const tvms_node *buffer);

// The rank of a scope: "shared.dyn" is SHARED.
tvms_storage_rank tvms_storage_rank_of(const char *scope);

// What stands behind the rank of a scope: ".dyn" of "shared.dyn", "" of "local".
const char *tvms_storage_tag_of(const char *scope);

// Do the threads of an axis (`tag`: "threadIdx.x") share what is stored there? Then a buffer of
// this rank that is allocated inside the axis holds the parts of all its threads. TVM:
// CanRelaxStorageUnderThread.
bool tvms_storage_is_shared_by(tvms_storage_rank rank, const char *tag);

// Is it the name of an axis of threads, such as "blockIdx.x" or "vthread"? TVM: ThreadScope::Create.
bool tvms_storage_is_thread_axis(const char *tag);

#endif
