// Chunks of growing size.
#include "support/arena.h"

#include <string.h>

struct tvms_chunk {
  tvms_chunk *older;
  size_t size;   // bytes after this header
};

enum {
  FIRST_CHUNK = 16 * 1024,
  LARGEST_CHUNK = 8 * 1024 * 1024,
};

void tvms_arena_init(tvms_arena *arena, tvms_memory *memory) {
  *arena = (tvms_arena){.memory = memory};
}

static char *chunk_bytes(tvms_chunk *chunk) { return (char *)(chunk + 1); }

void *tvms_arena_grow(tvms_arena *arena, size_t size) {
  size_t wanted = arena->chunk ? arena->chunk->size * 2 : FIRST_CHUNK;
  if (wanted > LARGEST_CHUNK) wanted = LARGEST_CHUNK;
  if (wanted < size) wanted = size;
  tvms_chunk *chunk = tvms_take(arena->memory, sizeof *chunk + wanted);
  chunk->older = arena->chunk;
  chunk->size = wanted;
  arena->chunk = chunk;
  arena->next = chunk_bytes(chunk) + size;
  arena->end = chunk_bytes(chunk) + wanted;
  return chunk_bytes(chunk);
}

void tvms_arena_fini(tvms_arena *arena) {
  tvms_arena_reset(arena, (tvms_mark){NULL, NULL});
}

char *tvms_arena_text(tvms_arena *arena, const char *text, size_t size) {
  char *copy = tvms_arena_take(arena, size + 1);
  if (size) memcpy(copy, text, size);
  return copy;
}

tvms_mark tvms_arena_mark(const tvms_arena *arena) {
  return (tvms_mark){arena->chunk, arena->next};
}

void tvms_arena_reset(tvms_arena *arena, tvms_mark mark) {
  char *used_to = arena->next;
  while (arena->chunk != mark.chunk) {
    tvms_chunk *older = arena->chunk->older;
    tvms_give(arena->memory, arena->chunk);
    arena->chunk = older;
    used_to = older ? chunk_bytes(older) + older->size : NULL;
  }
  arena->next = mark.next;
  arena->end = arena->chunk ? chunk_bytes(arena->chunk) + arena->chunk->size : NULL;
  if (mark.next) memset(mark.next, 0, (size_t)(used_to - mark.next));
}
