// Accesses of one buffer in a statement: where they are, and the same statement with another buffer and other places.
#ifndef TVMS_SCHEDULE_ACCESSES_H
#define TVMS_SCHEDULE_ACCESSES_H

#include "schedule/scope.h"

// What is found of a buffer in a statement.
typedef struct {
  tvms_list indices;  // of the first access
  uint32_t count;     // of accesses
  bool differ;        // others have other indices
  bool opaque;        // the buffer's pointer is used
  bool nested;        // there are blocks in it
} tvms_sched_accesses;

// Looks at all loads and stores of a buffer in `stmt`.
tvms_sched_accesses tvms_sched_accesses_find(tvms_sched *sched, tvms_node *stmt,
                                             const tvms_node *buffer);

// Does an expression load from a buffer?
bool tvms_sched_loads(const tvms_sched *sched, tvms_node *expr);

// What takes the place of accesses: another buffer, at these indices wherever the accesses were.
typedef struct {
  const tvms_node *from;
  tvms_node *to;
  tvms_list indices;
  bool inner;  // accesses of blocks in `stmt` change, too; else those blocks stay
} tvms_sched_moved_access;

// `stmt` with all accesses, declared regions and matched parts of the buffer replaced; regions are one element.
tvms_node *tvms_sched_accesses_moved(tvms_sched *sched, tvms_node *stmt,
                                     const tvms_sched_moved_access *moved);

#endif
