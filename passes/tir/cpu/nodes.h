// Statements that schedules for CPUs consist of.
#ifndef TVMS_PASSES_TIR_CPU_NODES_H
#define TVMS_PASSES_TIR_CPU_NODES_H

#include "ir/node.h"

// A fresh variable with the dtype of `like`.
tvms_node *tvms_cpu_variable(tvms_unit *unit, const char *name, const tvms_node *like);

// A loop of `var` from 0 on; `kind` is a tvms_for_kind.
tvms_node *tvms_cpu_loop(tvms_unit *unit, tvms_node *var, tvms_node *extent,
                         uint8_t kind, tvms_node *body);

// buffer[indices] = value; the list is not copied.
tvms_node *tvms_cpu_store(tvms_unit *unit, tvms_node *buffer, tvms_list indices,
                          tvms_node *value);

// A fresh compact buffer of at least one dimension, aligned to 64 bytes.
tvms_node *tvms_cpu_buffer(tvms_unit *unit, const char *name, tvms_dtype element,
                           const char *scope, tvms_node *const *shape, uint32_t dims);

// Is a buffer, or its data, mentioned in a node outside of types?
bool tvms_cpu_mentions(tvms_unit *unit, tvms_node *node, const tvms_node *buffer);

// A statement by which the line of the caches that lies so many bytes behind the element that `load` loads is
// fetched into the second one. It may lie behind the buffer: nothing is loaded.
tvms_node *tvms_cpu_prefetch(tvms_unit *unit, tvms_node *load, int64_t bytes);

// The same into the first cache.
tvms_node *tvms_cpu_prefetch_near(tvms_unit *unit, tvms_node *load, int64_t bytes);

// A block around `body` that allocates buffers and says what it reads and writes.
tvms_node *tvms_cpu_block(tvms_unit *unit, const char *name, tvms_list allocated,
                          tvms_node *body);

// if condition: then else: otherwise
tvms_node *tvms_cpu_choice(tvms_unit *unit, tvms_node *condition, tvms_node *then,
                           tvms_node *TVMS_NULLABLE otherwise);

#endif
