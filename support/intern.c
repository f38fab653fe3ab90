// Two open-addressing tables: the fixed one of the build, and one that grows.
//
// A name is looked up in the fixed table first, which is read-only and shared by all contexts;
// ids of names that it has not follow its own. Texts live in the arena and never move; the
// tables of ids are blocks that are replaced when they are half full. Names are not forgotten:
// an id stays good as long as its interner.
#include "support/intern.h"

#include <string.h>

enum { FIRST_SLOTS = 256 };

void tvms_interner_init(tvms_interner *interner, tvms_arena *arena,
                        const tvms_static_names *fixed) {
  *interner = (tvms_interner){.arena = arena, .memory = arena->memory, .fixed = fixed};
}

static bool is_name(const tvms_name *name, const char *text, size_t len,
                    uint32_t hash) {
  return name->hash == hash && name->len == len && memcmp(name->text, text, len) == 0;
}

static tvms_sym find_fixed(const tvms_static_names *fixed, const char *text, size_t len,
                           uint32_t hash) {
  for (uint32_t at = hash & fixed->slot_mask; fixed->slots[at];
       at = (at + 1) & fixed->slot_mask) {
    if (is_name(&fixed->names[fixed->slots[at]], text, len, hash))
      return fixed->slots[at];
  }
  return 0;
}

// Returns the slot that holds the name, or the free slot where it belongs.
static uint32_t find_slot(const tvms_interner *interner, const char *text, size_t len,
                          uint32_t hash) {
  uint32_t at = hash & interner->slot_mask;
  while (interner->slots[at]
         && !is_name(&interner->names[interner->slots[at] - 1], text, len, hash)) {
    at = (at + 1) & interner->slot_mask;
  }
  return at;
}

static void grow_slots(tvms_interner *interner) {
  uint32_t wanted = interner->slots ? (interner->slot_mask + 1) * 2 : FIRST_SLOTS;
  uint32_t *slots = tvms_memory_alloc(interner->memory, wanted * sizeof *slots);
  uint32_t *old = interner->slots;
  interner->slots = slots;
  interner->slot_mask = wanted - 1;
  for (uint32_t i = 0; i < interner->count; i++) {
    const tvms_name *name = &interner->names[i];
    slots[find_slot(interner, name->text, name->len, name->hash)] = i + 1;
  }
  tvms_memory_free(interner->memory, old);
}

static void grow_names(tvms_interner *interner) {
  uint32_t cap = interner->cap ? interner->cap * 2 : FIRST_SLOTS / 2;
  interner->names = tvms_memory_realloc(interner->memory, interner->names,
                                        cap * sizeof *interner->names);
  interner->cap = cap;
}

tvms_sym tvms_interner_add_hashed(tvms_interner *interner, const char *text, size_t len,
                                  uint32_t hash) {
  tvms_sym sym = find_fixed(interner->fixed, text, len, hash);
  if (sym) return sym;
  if (!interner->slots || interner->count * 2 > interner->slot_mask)
    grow_slots(interner);
  uint32_t slot = find_slot(interner, text, len, hash);
  if (!interner->slots[slot]) {
    if (interner->count == interner->cap) grow_names(interner);
    char *copy = tvms_arena_text(interner->arena, text, len);
    interner->names[interner->count] = (tvms_name){copy, (uint32_t)len, hash};
    interner->slots[slot] = ++interner->count;
  }
  return interner->fixed->count + interner->slots[slot];
}

tvms_sym tvms_interner_add(tvms_interner *interner, const char *text, size_t len) {
  return tvms_interner_add_hashed(interner, text, len, tvms_interner_hash(text, len));
}

tvms_sym tvms_interner_find(const tvms_interner *interner, const char *text,
                            size_t len) {
  uint32_t hash = tvms_interner_hash(text, len);
  tvms_sym sym = find_fixed(interner->fixed, text, len, hash);
  if (sym || !interner->slots) return sym;
  uint32_t slot = find_slot(interner, text, len, hash);
  return interner->slots[slot] ? interner->fixed->count + interner->slots[slot] : 0;
}
