// Bump allocation for objects that die together.
//
// Chunks never move, so pointers stay valid until the arena is reset or closed. Memory is
// zeroed, and the zero value of every type of tvms is valid.
#ifndef TVMS_SUPPORT_ARENA_H
#define TVMS_SUPPORT_ARENA_H

#include "support/memory.h"

typedef struct tvms_chunk tvms_chunk;

typedef struct {
  tvms_memory *memory;
  tvms_chunk *chunk;  // the one being filled, and through it the older ones
  char *next;         // first free byte of it
  char *end;          // one past its last byte
} tvms_arena;

// Where an arena stood; see tvms_arena_reset.
typedef struct {
  tvms_chunk *chunk;
  char *next;
} tvms_mark;

// An empty arena; it takes chunks from `memory` as it fills.
void tvms_arena_init(tvms_arena *arena, tvms_memory *memory);

// Gives all chunks back; the arena is empty then, and may be used again. Pointers into it die.
void tvms_arena_fini(tvms_arena *arena);

// Slow path of tvms_arena_alloc; takes a new chunk.
void *tvms_arena_grow(tvms_arena *arena, size_t size);

// Returns `size` zeroed bytes aligned to 8. Never NULL; failure unwinds.
static inline void *tvms_arena_alloc(tvms_arena *arena, size_t size) {
  size = (size + 7) & ~(size_t)7;
  if (size >= (size_t)(arena->end - arena->next)) return tvms_arena_grow(arena, size);
  void *bytes = arena->next;
  arena->next += size;
  return bytes;
}

#define tvms_arena_new(arena, type) ((type *)tvms_arena_alloc((arena), sizeof(type)))
#define tvms_arena_array(arena, type, count)                                           \
  ((type *)tvms_arena_alloc((arena), sizeof(type) * (size_t)(count)))

// Copies `size` bytes into the arena and ends them with a NUL.
char *tvms_arena_text(tvms_arena *arena, const char *text, size_t size);

// Bytes taken so far, with what was lost at the ends of chunks.
size_t tvms_arena_size(const tvms_arena *arena);

// Does `bytes` lie in the arena?
bool tvms_arena_owns(const tvms_arena *arena, const void *bytes);

// Where the arena stands, for tvms_arena_reset.
tvms_mark tvms_arena_mark(const tvms_arena *arena);

// Frees everything that was taken after the mark. Marks are reset innermost first.
void tvms_arena_reset(tvms_arena *arena, tvms_mark mark);

#endif
