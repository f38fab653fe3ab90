// Numbers for expressions: equal ones have equal numbers, wherever they stand.
#ifndef TVMS_PASSES_TIR_SIMPLIFY_VALUE_NUMBERS_H
#define TVMS_PASSES_TIR_SIMPLIFY_VALUE_NUMBERS_H

#include "ir/node_map.h"
#include "support/vec.h"

#define TVMS_NO_VALUE UINT32_MAX

typedef struct {
  uint64_t hash;
  const tvms_node *node;  // the first one
  uint32_t parts[3];      // numbers of its operands
  uint32_t part_count;    // 0: a leaf, or equal only to itself
} tvms_numbered_value;

typedef struct {
  tvms_memory *memory;
  TVMS_VEC(tvms_numbered_value) values;
  uint32_t *TVMS_NULLABLE slots;  // number + 1 by hash; 0: free
  uint32_t slot_count;
  tvms_node_map numbers;  // node -> number + 1
} tvms_value_numbers;

// Prepares an empty table in the caller's storage; `fini` frees it.
void tvms_value_numbers_init(tvms_value_numbers *table, tvms_memory *memory);

// Frees the table.
void tvms_value_numbers_fini(tvms_value_numbers *table);

// The number of an expression whose operands have the numbers `parts`; a new one, the
// next in turn, if no equal one was added. Without parts, variables and constants are
// compared by what they are, and anything else is equal only to itself.
uint32_t tvms_value_numbers_add(tvms_value_numbers *table, const tvms_node *node,
                                const uint32_t *parts, uint32_t count);

// The number that a node was given, or TVMS_NO_VALUE.
uint32_t tvms_value_numbers_of(const tvms_value_numbers *table, const tvms_node *node);

// The first node with that number.
const tvms_node *tvms_value_numbers_get(const tvms_value_numbers *table,
                                        uint32_t number);

#endif
