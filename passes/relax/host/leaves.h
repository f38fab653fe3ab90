// Leaves of values and types: what they have that is not a tuple, and where that is made.
#ifndef TVMS_PASSES_RELAX_HOST_LEAVES_H
#define TVMS_PASSES_RELAX_HOST_LEAVES_H

#include "passes/relax/host/host.h"

// The number of leaves.
uint32_t tvms_host_leaves(const tvms_node *type);

// The leaf `at` of a value; NULL: it has none.
tvms_host_value *TVMS_NULLABLE tvms_host_leaf(tvms_host_value *value, uint32_t at);

// The type of a leaf.
const tvms_node *tvms_host_leaf_type(const tvms_node *type, uint32_t at);

// A value of tuples as the type has them, over leaves.
tvms_host_value *tvms_host_of_leaves(tvms_host *h, const tvms_node *type,
                                     tvms_host_value *const *leaves, uint32_t *next);

// Says that leaf `at` of `expr` shall be made at `data`, if what makes it can be seen.
void tvms_host_send(tvms_host *h, const tvms_node *expr, uint32_t at, tvms_node *data);

// Where a leaf of what `node` makes shall be; NULL: anywhere.
tvms_node *TVMS_NULLABLE tvms_host_sent(const tvms_host *h, const tvms_node *node,
                                        uint32_t leaf);

// Writes a leaf, a tensor, a number or a shape, to the tensor `to`, unless it is there; any leaf to an object.
void tvms_host_deliver(tvms_host *h, tvms_host_value *leaf, tvms_host_value *to);

// A variable with an element of a buffer: number `index`, or the only one.
tvms_node *tvms_host_load(tvms_host *h, tvms_node *buffer,
                          tvms_node *TVMS_NULLABLE index);

// What a leaf of this type is whose numbers, or elements, are in `memory`: a tensor is that itself.
tvms_host_value *TVMS_NULLABLE tvms_host_read(tvms_host *h, const tvms_node *type,
                                              tvms_host_value *memory);

#endif
