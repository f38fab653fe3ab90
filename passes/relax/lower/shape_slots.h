// Slots of the shape heap: one number for every size that a Relax function speaks of.
//
//   x: R.Tensor((n, n + 1)), R.shape([n, m * 2])      0: n   1: n + 1   2: m * 2   3: m
#ifndef TVMS_PASSES_RELAX_LOWER_SHAPE_SLOTS_H
#define TVMS_PASSES_RELAX_LOWER_SHAPE_SLOTS_H

#include "ir/node_map.h"

typedef struct {
  tvms_node *expr;  // a variable, or what is computed of variables
  uint64_t hash;
  bool computed;             // the heap has it by now
  uint32_t waiting;          // variables of it that are not known yet
  TVMS_VEC(uint32_t) users;  // of a variable: slots that are computed of it
} tvms_relax_slot;

typedef struct {
  tvms_unit *unit;
  struct {
    tvms_relax_slot *items;
    uint32_t len;
    uint32_t cap;
  } slots;
  uint32_t buckets;     // of TVM's table, which decides the order of users
  tvms_node_map live;   // variables that the result depends on
  tvms_node_map bound;  // VAR -> what a binding gave it
} tvms_relax_slots;

// Finds the slots of a FUNCTION, whose nodes lie in `unit`, in TVM's order: parameters, body,
// result; of a compound size first itself and then its variables. A scalar that no shape speaks
// of gets one if the result of the function depends on it. `fini` frees them; `buckets` is what
// the function before has left there, 1 for the first.
void tvms_relax_slots_init(tvms_relax_slots *slots, tvms_unit *unit, uint32_t buckets,
                           tvms_node *function);

// Frees what the slots hold.
void tvms_relax_slots_fini(tvms_relax_slots *slots);

// The slot of an expression, or NULL. Valid until `fini`.
tvms_relax_slot *TVMS_NULLABLE tvms_relax_slots_find(const tvms_relax_slots *slots,
                                                     const tvms_node *expr);

// Its place in the heap.
static inline uint32_t tvms_relax_slot_index(const tvms_relax_slots *slots,
                                             const tvms_relax_slot *slot) {
  return (uint32_t)(slot - slots->slots.items);
}

#endif
