// What the rules on bodies of PrimFuncs share: the path to the place that is looked at, the
// blocks around it, and what is known of the memory that the function uses.
//
// lint/body_walk.c goes through the function once, in the order of execution, and calls the
// rules at what concerns them; each rule is a file of its own.
#ifndef TVMS_LINT_BODY_H
#define TVMS_LINT_BODY_H

#include "lint/body_search.h"
#include "lint/lint.h"

// A block that is open.
typedef struct {
  const tvms_block *block;
  const tvms_block_realize *realize;
  bool in_init;
  uint32_t memories;  // that were known outside of it
} tvms_lint_open_block;

// An element, or a vector of them, that is read or written.
typedef struct {
  const tvms_node *node;  // BUFFER_LOAD or STORE
  const tvms_node *buffer;
  tvms_list indices;
  bool writes;
} tvms_lint_access;

enum { TVMS_LINT_MOST_RANK = 6, TVMS_LINT_MOST_SEEN = 8 };

// An element that is read for certain.
typedef struct {
  const tvms_node *node;
  int64_t at[TVMS_LINT_MOST_RANK];
  const char *text;  // of the iteration
} tvms_lint_element;

// Memory that buffers lie in: what stands behind a pointer.
typedef struct {
  const tvms_node *buffer;  // NULL: only its pointer is known
  const char *scope;
  bool local;    // the function allocates it, without a value
  bool unknown;  // what is done with it is not known: its pointer was used
  bool written;  // something before may have written it
  bool reported;
  uint32_t loops;                          // around its allocation
  const tvms_block *TVMS_NULLABLE writer;  // the one block that writes it
  bool many_writers;                       // more than one, or no block
  bool hull_unknown;
  tvms_lint_range hull[TVMS_LINT_MOST_RANK];  // of all that is written
  uint32_t seen;
  tvms_lint_element reads[TVMS_LINT_MOST_SEEN];
} tvms_lint_memory;

// A block whose axis is not covered, unless another block does the rest.
typedef struct {
  const tvms_iter_var *axis;
  const tvms_block *block;
  tvms_lint_range range;
} tvms_lint_short_axis;

// An axis that reduces and is not said to, unless the memory is set anew in each iteration.
typedef struct {
  const tvms_block *block;
  const tvms_iter_var *axis;
  const tvms_store *store;
  const char *first, *second;  // texts of two iterations
} tvms_lint_kind;

// An index that was reported: where it stands again it has the same cause.
typedef struct {
  const tvms_node *buffer;
  uint32_t dimension;
  tvms_lint_value index;
} tvms_lint_outside;

// An element that the innermost open block has written.
typedef struct {
  const tvms_block *block;
  const tvms_node *buffer;
  tvms_list indices;
} tvms_lint_stored;

// What was reported of a block's lists.
typedef struct {
  const tvms_block *block;
  const tvms_node *buffer;
  bool writes;
} tvms_lint_undeclared;

typedef struct {
  tvms_lint *lint;
  tvms_diags *diags;
  tvms_memory *memory;
  tvms_lint_path path;
  const tvms_prim_func *function;
  TVMS_VEC(tvms_lint_open_block) blocks;
  TVMS_VEC(tvms_lint_memory) memories;
  TVMS_VEC(uint32_t) memory_of;  // one up, by id of the pointer
  TVMS_VEC(tvms_lint_short_axis) short_axes;
  TVMS_VEC(const tvms_block *) names;  // of blocks
  TVMS_VEC(tvms_span) said;            // places of findings
  TVMS_VEC(tvms_lint_outside) outside;
  TVMS_VEC(tvms_lint_undeclared) undeclared;
  TVMS_VEC(tvms_lint_stored) stored;  // the last ones
  TVMS_VEC(tvms_lint_kind) kinds;
  bool store_reads;  // the value of the last store reads the buffer that it writes
  const tvms_store *TVMS_NULLABLE store;  // whose value is looked at
  uint32_t in_index;                      // > 0: in the indices of an access
  bool unused;                            // nothing uses the value of the statement
  bool ids_of_threads;  // scope ids of threads do not contradict each other
} tvms_lint_body;

// The memory that a pointer stands for, or NULL.
tvms_lint_memory *TVMS_NULLABLE tvms_lint_memory_behind(tvms_lint_body *body,
                                                        const tvms_node *pointer);

// The memory of a buffer, or NULL.
tvms_lint_memory *TVMS_NULLABLE tvms_lint_memory_of(tvms_lint_body *body,
                                                    const tvms_node *buffer);

// New memory behind `pointer`. The result is valid until the next one is added.
tvms_lint_memory *tvms_lint_memory_add(tvms_lint_body *body, const tvms_node *pointer,
                                       const tvms_node *TVMS_NULLABLE buffer);

// From here on `pointer` stands for the memory of `other`, or for memory of which nothing is
// known (NULL).
void tvms_lint_memory_alias(tvms_lint_body *body, const tvms_node *pointer,
                            const tvms_node *TVMS_NULLABLE other);

// Is it the first finding of this place? One line of text may be many statements.
bool tvms_lint_is_first(tvms_lint_body *body, tvms_span span);

// Where to show an index: its own text, or if it is a bare variable the access.
tvms_span tvms_lint_index_span(const tvms_lint_access *access, uint32_t dimension);

// The text of a buffer's name.
const char *tvms_lint_name_of(const tvms_lint_body *body, const tvms_node *node);

// The text of a value, in the context's arena.
const char *tvms_lint_text_of(const tvms_lint_body *body, tvms_lint_value value);

// Does `value` read the element that the store writes?
bool tvms_lint_updates(const tvms_lint_body *body, const tvms_store *store);

#endif
