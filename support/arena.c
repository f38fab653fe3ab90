// Chunks of growing size: each is a quarter of what the arena has, so one for little takes 1 KiB,
// one for much takes few chunks, and no more than a fifth of any is empty. What does not fit into
// the largest class is a block of its own. Only what was written is zeroed again when chunks are
// given back.
#include "support/arena.h"

#include <string.h>

struct tvms_chunk {
  tvms_chunk *older;
  size_t size;     // bytes after this header
  size_t total;    // the same with those of older chunks
  uint32_t class;  // of the chunk; NO_CLASS: a block of its own
};

enum { NO_CLASS = TVMS_CHUNK_CLASSES };

void tvms_arena_init(tvms_arena *arena, tvms_memory *memory) {
  *arena = (tvms_arena){.memory = memory};
}

static char *chunk_bytes(tvms_chunk *chunk) {
  return (char *)(chunk + 1);
}

static size_t class_size(uint32_t class) {
  return ((size_t)TVMS_CHUNK_SMALLEST << class) - sizeof(tvms_chunk);
}

// The class of the next chunk: a quarter of what there is, and large enough for `size` bytes.
static uint32_t next_class(const tvms_arena *arena, size_t size) {
  size_t quarter = arena->chunk ? arena->chunk->total / 4 : 0;
  uint32_t class = 0;
  while (class + 1 < TVMS_CHUNK_CLASSES && class_size(class + 1) <= quarter)
    class ++;
  while (class < TVMS_CHUNK_CLASSES && class_size(class) < size) {
    class ++;
  }
  return class;
}

void *tvms_arena_grow(tvms_arena *arena, size_t size) {
  uint32_t class = next_class(arena, size);
  tvms_chunk *chunk = class == NO_CLASS
                          ? tvms_memory_alloc(arena->memory, sizeof *chunk + size)
                          : tvms_memory_alloc_chunk(arena->memory, class);
  chunk->older = arena->chunk;
  chunk->size = class == NO_CLASS ? size : class_size(class);
  chunk->total = chunk->size + (chunk->older ? chunk->older->total : 0);
  chunk->class = class;
  arena->chunk = chunk;
  arena->next = chunk_bytes(chunk) + size;
  arena->end = chunk_bytes(chunk) + chunk->size;
  return chunk_bytes(chunk);
}

size_t tvms_arena_size(const tvms_arena *arena) {
  return arena->chunk ? arena->chunk->total - (size_t)(arena->end - arena->next) : 0;
}

bool tvms_arena_owns(const tvms_arena *arena, const void *bytes) {
  const char *at = bytes;
  for (tvms_chunk *chunk = arena->chunk; chunk; chunk = chunk->older) {
    const char *begin = chunk_bytes(chunk);
    if (at >= begin && at < begin + chunk->size) return true;
  }
  return false;
}

void tvms_arena_fini(tvms_arena *arena) {
  tvms_arena_reset(arena, (tvms_mark){NULL, NULL});
}

char *tvms_arena_text(tvms_arena *arena, const char *text, size_t size) {
  char *copy = tvms_arena_alloc(arena, size + 1);
  if (size) memcpy(copy, text, size);
  return copy;
}

tvms_mark tvms_arena_mark(const tvms_arena *arena) {
  return (tvms_mark){arena->chunk, arena->next};
}

// Gives the newest chunk back, which was used up to `used_to`.
static void drop_chunk(tvms_arena *arena, const char *used_to) {
  tvms_chunk *chunk = arena->chunk;
  arena->chunk = chunk->older;
  if (chunk->class == NO_CLASS) {
    tvms_memory_free(arena->memory, chunk);
  } else {
    tvms_memory_free_chunk(arena->memory, chunk, chunk->class,
                           (size_t)(used_to - (char *)chunk));
  }
}

void tvms_arena_reset(tvms_arena *arena, tvms_mark mark) {
  char *used_to = arena->next;
  while (arena->chunk != mark.chunk) {
    tvms_chunk *older = arena->chunk->older;
    drop_chunk(arena, used_to);
    used_to = older ? chunk_bytes(older) + older->size : NULL;
  }
  arena->next = mark.next;
  arena->end = arena->chunk ? chunk_bytes(arena->chunk) + arena->chunk->size : NULL;
  if (mark.next) memset(mark.next, 0, (size_t)(used_to - mark.next));
}
