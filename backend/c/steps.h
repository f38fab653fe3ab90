// Steps of an entry in C (backend/core/entry.h).
#ifndef TVMS_BACKEND_C_STEPS_H
#define TVMS_BACKEND_C_STEPS_H

#include "backend/c/emit.h"
#include "backend/core/entry.h"

typedef struct {
  const tvms_entry *entry;
  const char *name;
  uint32_t parts;  // functions that have the steps; 1: they stand in the entry itself
  uint32_t *TVMS_NULLABLE
      places;  // of each step: one more than its place in `kept`, 0 for none
  uint32_t kept;
} c_steps;

// Plans how the steps of a member's entry are written, and writes the functions that come in front of it if they
// are many. Works in the scratch arena.
c_steps tvms_c_steps_open(c_emitter *e, const tvms_entry *entry,
                          const tvms_member *member);

// Writes the steps into the entry, which is open; the values that it uses are known as s0, s1 …
void tvms_c_steps_take(c_emitter *e, const c_steps *s);

#endif
