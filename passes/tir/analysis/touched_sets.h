// What a walk through a function knows of the buffers that it touches, access by access.
#ifndef TVMS_PASSES_TIR_ANALYSIS_TOUCHED_SETS_H
#define TVMS_PASSES_TIR_ANALYSIS_TOUCHED_SETS_H

#include "arith/analyzer.h"
#include "arith/int_set.h"
#include "arith/narrow.h"
#include "ir/node_map.h"
#include "support/vec.h"

// A loop or an axis of threads that is open.
typedef struct {
  tvms_node *var;
  const char *TVMS_NULLABLE tag;  // of threads
} tvms_touched_axis;

// A buffer that is known: where it was allocated, and what was touched of it.
typedef struct {
  tvms_node *buffer;
  uint32_t depth;      // of axes around the allocation
  tvms_int_set *sets;  // NULL: not touched yet
} tvms_touched_buffer;

// A region that a block around declares.
typedef struct {
  const tvms_node *buffer;
  const tvms_node *region;
  uint32_t block;  // which block: the innermost that declares the buffer counts
} tvms_touched_declared;

typedef struct {
  tvms_unit *unit;
  tvms_memory *memory;
  tvms_analyzer *analyzer;  // knows the ranges of all loops that were seen
  bool inside;
  bool whole;  // a dimension is whole where a long formula says which part is touched
  bool failed;
  tvms_domains domains, hints;
  tvms_domains ever;  // all loops that were seen
  TVMS_VEC(tvms_touched_axis) axes;
  tvms_node_vec running;  // variables that may have a domain
  TVMS_VEC(tvms_touched_buffer) buffers;
  tvms_node_map places;   // buffer or its pointer -> place in `buffers`, one up
  tvms_node_vec pending;  // conditions that domains cannot say
  TVMS_VEC(tvms_touched_declared) declarations;
  tvms_node_map given;  // buffer -> region that a block gives for all loads
  tvms_node_map
      owners;  // pointer -> the only BUFFER over it; itself: there are several
  uint32_t blocks;
  TVMS_VEC(uint32_t) flat;  // buffers of statements, until their scope ends
  tvms_node_map *regions;
} tvms_touched_collector;

// A binary operator that folds.
tvms_node *tvms_touched_build(tvms_touched_collector *c, tvms_node_kind kind,
                              tvms_node *a, tvms_node *b);

// A buffer is allocated where the walk is.
void tvms_touched_allocate(tvms_touched_collector *c, tvms_node *buffer);

// What is known of a buffer, or of the pointer of one; NULL if it is not allocated here.
tvms_touched_buffer *TVMS_NULLABLE tvms_touched_known(tvms_touched_collector *c,
                                                      const tvms_node *buffer);

// A load or a store: its place joins what was touched, over the axes between it and the
// allocation. Buffers that are not known, and accesses of another rank, change nothing.
void tvms_touched_element(tvms_touched_collector *c, const tvms_node *buffer,
                          tvms_list indices);

// As tvms_touched_element for a BUFFER_REGION.
void tvms_touched_region(tvms_touched_collector *c, const tvms_node *node);

// The pointer of a buffer stands somewhere: what the blocks around declare is touched, or all
// of it.
void tvms_touched_pointer(tvms_touched_collector *c, const tvms_node *node);

#endif
