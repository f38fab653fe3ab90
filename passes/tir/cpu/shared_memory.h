// Buffers that are views of one memory.
//
// Stages change their order and take vectors as if elements of two buffers were apart. These need not be:
//
//   B = T.decl_buffer((63,), data=A.data, elem_offset=1)    for i in range(63): B[i] = A[i] + C[i]
//
// and neither do parts of one buffer that a block matches.
#ifndef TVMS_PASSES_TIR_CPU_SHARED_MEMORY_H
#define TVMS_PASSES_TIR_CPU_SHARED_MEMORY_H

#include "ir/node_map.h"

// Which memory pointers are of; filled once for a function.
typedef struct {
  tvms_memory *memory;
  bool any;               // else each buffer has memory of its own
  tvms_node_map parents;  // a pointer -> one to the same memory
} tvms_cpu_views;

// Reads what the function declares and matches. tvms_cpu_views_fini must follow.
void tvms_cpu_views_init(tvms_cpu_views *views, tvms_memory *memory, tvms_node *body);

// Frees what it holds.
void tvms_cpu_views_fini(tvms_cpu_views *views);

// Finds the buffers through which `body` stores to memory that it uses through other buffers as well, and
// these; they become keys of `shared`, which is empty. Pointers that are passed on count as such buffers. False: there are none.
bool tvms_cpu_views_share(const tvms_cpu_views *views, tvms_node *body,
                          tvms_node_map *shared);

// Does a statement use one of them?
bool tvms_cpu_uses_shared(const tvms_node_map *shared, tvms_node *stmt);

#endif
