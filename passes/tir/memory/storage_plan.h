// Which allocations of a function share memory.
#ifndef TVMS_PASSES_TIR_MEMORY_STORAGE_PLAN_H
#define TVMS_PASSES_TIR_MEMORY_STORAGE_PLAN_H

#include "passes/tir/analysis/linear_access.h"

// Memory that one or several allocations use, one after the other.
typedef struct {
  const tvms_node *TVMS_NULLABLE
      attach;  // scope that begins with it; NULL: the function
  const char *scope;
  tvms_dtype element;  // one lane
  uint64_t bits;       // 0: not constant
  TVMS_VEC(uint32_t) allocs;
  bool is_volatile;
  uint64_t offset;     // in bits, where it is a part of a larger one
  tvms_node *backing;  // BUFFER; of the whole
  tvms_node *TVMS_NULLABLE
      renamed;           // BUFFER as written that is `backing` by another name
  tvms_node *statement;  // that allocates the backing; NULL: a part of another
  tvms_node *TVMS_NULLABLE
      declared;  // BUFFER as written that is declared right behind an ALLOCATE
} tvms_storage_entry;

typedef struct {
  tvms_unit *unit;
  TVMS_VEC(tvms_storage_entry) entries;
  uint32_t *entry_of;  // by number of allocation; UINT32_MAX: never touched
  const char *
      *why;  // by number of allocation: why it took no free memory; NULL: it did
} tvms_storage_plan;

typedef struct {
  bool reuse;           // memory that is free serves again
  bool exact_elements;  // only for elements of the same dtype
} tvms_storage_options;

// Plans the memory of the allocations of `access`: a buffer that is dead gives its memory to a
// later one of the same scope, a statement may write over what it reads, and what has a special
// scope of its own becomes one allocation. Everything moves to the beginning of the function,
// of its outermost axis of threads or of its parallel loop. TVM: StoragePlanRewriter.
void tvms_storage_plan_init(tvms_storage_plan *plan, tvms_unit *unit,
                            const tvms_linear_access *access,
                            tvms_storage_options options);

// Frees what it holds.
void tvms_storage_plan_fini(tvms_storage_plan *plan);

#endif
