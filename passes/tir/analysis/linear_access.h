// The statements of a function in a row, with the allocated buffers that each touches.
//
// A loop, branch, assertion or axis of threads stands twice: where it begins and where it ends.
// What is touched inside of it counts at its end, unless the buffer is allocated inside, too: so
// between the allocation and the last entry that touches it a buffer lives in one scope.
// An allocation whose size uses a variable that a statement binds cannot move: it is left out.
// Where definitions hold bodies, what binds a variable and what asserts are scopes as well.
#ifndef TVMS_PASSES_TIR_ANALYSIS_LINEAR_ACCESS_H
#define TVMS_PASSES_TIR_ANALYSIS_LINEAR_ACCESS_H

#include "ir/node_map.h"

typedef struct {
  const tvms_node *stmt;
  // To the other end of a scope: positive where it begins, negative where it ends. 0: the
  // statement is not a scope.
  int64_t pair;
  // Numbers of allocations, in order of access; they may repeat.
  TVMS_VEC(uint32_t) touched;
} tvms_access_entry;

typedef struct {
  tvms_node *stmt;    // ALLOC_BUFFER or ALLOCATE
  tvms_node *buffer;  // its memory; of an ALLOCATE one that is made of its extents
  tvms_node *TVMS_NULLABLE declared;  // BUFFER that stands right behind an ALLOCATE
  uint32_t level;                     // of scopes around it
} tvms_access_alloc;

// Allocations that begin and end to live at a statement.
typedef struct {
  TVMS_VEC(uint32_t) born;
  TVMS_VEC(uint32_t) dead;
} tvms_access_event;

typedef struct {
  tvms_unit *unit;
  TVMS_VEC(tvms_access_entry) entries;
  tvms_access_event
      *events;  // of each entry; both ends of a scope have those of its beginning
  TVMS_VEC(tvms_access_alloc) allocs;
  tvms_node_map roots;   // data pointer -> that of the buffer whose memory it is
  tvms_node_map places;  // data pointer of an allocated buffer -> its number, one up
  tvms_node_map used;    // BUFFER that is loaded or stored -> itself
} tvms_linear_access;

// Reads `body`; the fields are in the caller's storage until `fini`. With `addresses` an element
// whose address is taken is accessed. False after a report: a buffer of several dimensions is
// not flat. TVM: LinearAccessPatternFinder and LivenessAnalysis.
TVMS_NODISCARD bool tvms_linear_access_init(tvms_linear_access *access, tvms_unit *unit,
                                            tvms_node *body, bool addresses);

// The events at entry `i`.
const tvms_access_event *tvms_linear_access_event(const tvms_linear_access *access,
                                                  uint32_t i);

// Frees what it holds.
void tvms_linear_access_fini(tvms_linear_access *access);

// The number of the allocation whose memory the buffer or pointer names; UINT32_MAX: none.
uint32_t tvms_linear_access_alloc_of(const tvms_linear_access *access,
                                     const tvms_node *node);

// The pointer that an expression is: a variable, or the data of a buffer. NULL: another.
const tvms_node *TVMS_NULLABLE tvms_linear_access_pointer(const tvms_node *node);

#endif
