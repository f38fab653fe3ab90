// Blocks and chunks cut from regions of pages. Protected calls: support/protect.c.
//
// Most of what is asked for is small, written once and dropped with everything else, so the
// common case is a pointer that moves through fresh pages, which the kernel has zeroed. A
// region is followed by one of twice its size; none is given back before the memory is
// closed. What is freed early goes to a list of its class and serves again:
//
//   blocks  four classes per doubling, with a head that says which; at most a fifth is lost
//   chunks  of arenas, powers of two; given back with how much of them was written, so that
//           only that is zeroed. Where there is none of a class, a larger one is halved
//   pages   of their own for blocks beyond the classes; they grow by moving pages, not bytes
//
// Every live block is reachable from its memory, or lies in a region that is, so closing a
// memory frees all of it in time that depends on the number of regions and large blocks only.
// Under AddressSanitizer every block is one of the C library, so that a use after a free shows.
#define _POSIX_C_SOURCE 200809L
#include "support/memory.h"

#include "support/pages.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEFAULT_DEPTH_LIMIT = 400 * 1000 };

static const char out_of_memory[] = "there is no memory left";

#if defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define ADDRESS_SANITIZED
#  endif
#endif
#ifdef __SANITIZE_ADDRESS__
#  define ADDRESS_SANITIZED
#endif

void tvms_memory_init(tvms_memory *memory) {
  memset(memory, 0, sizeof *memory);
  memory->depth_limit = DEFAULT_DEPTH_LIMIT;
}

/* Blocks */

// Stands before the bytes of a block.
typedef struct {
  size_t size;     // as asked for
  uint32_t class;  // NO_CLASS: a block of its own
  uint32_t padding;
} block_head;

// A block that is not cut from a region.
struct tvms_memory_block {
  tvms_memory_block *newer;
  tvms_memory_block *older;
  size_t bytes;  // with this
  size_t padding;
  block_head head;
};

_Static_assert(sizeof(block_head) == 16 && sizeof(tvms_memory_block) % 16 == 0,
               "bytes of blocks are aligned to 16");

enum { NO_CLASS = TVMS_BLOCK_CLASSES };

static block_head *head_of(void *bytes) {
  return (block_head *)bytes - 1;
}

static tvms_memory_block *block_of(void *bytes) {
  return (tvms_memory_block *)bytes - 1;
}

static void admit(tvms_memory *memory, size_t more) {
  memory->count++;
  if (memory->count == memory->fail_at)
    tvms_memory_refuse(memory, "the allocation that shall fail was reached");
  if (memory->limit && memory->used + more > memory->limit)
    tvms_memory_refuse(memory, "the limit of memory was reached");
  if (memory->deadline && memory->count % 64 == 0) tvms_memory_check_time(memory);
}

void tvms_memory_check_time(tvms_memory *memory) {
  if (!memory->deadline) return;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  uint64_t nanoseconds = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
  if (nanoseconds > memory->deadline)
    tvms_memory_refuse(memory, "the limit of time was reached");
}

static void *link_block(tvms_memory *memory, tvms_memory_block *block, size_t size) {
  block->head = (block_head){.size = size, .class = NO_CLASS};
  block->newer = NULL;
  block->older = memory->blocks;
  if (block->older) block->older->newer = block;
  memory->blocks = block;
  return block + 1;
}

static void unlink_block(tvms_memory *memory, tvms_memory_block *block) {
  if (block->newer)
    block->newer->older = block->older;
  else
    memory->blocks = block->older;
  if (block->older) block->older->newer = block->newer;
}

/* Pages, from the system or from the allocator of a host */

#ifdef ADDRESS_SANITIZED
// From the C library, so that the sanitizer sees what is used after it was given back.
static void *system_alloc(size_t *size) {
  return calloc(1, *size);
}
static void system_free(void *pages, size_t size) {
  (void)size;
  free(pages);
}
#else
#  define system_alloc tvms_pages_alloc
#  define system_free  tvms_pages_free
#endif

// At least `*size` zeroed bytes, and how many in `*size`.
static void *take_pages(tvms_memory *memory, size_t *size) {
  void *pages = memory->allocate ? memory->allocate(memory->user, NULL, 0, *size)
                                 : system_alloc(size);
  if (!pages) tvms_memory_refuse(memory, out_of_memory);
  if (memory->allocate) memset(pages, 0, *size);
  return pages;
}

static void give_pages(tvms_memory *memory, void *pages, size_t size) {
  if (memory->allocate)
    (void)memory->allocate(memory->user, pages, size, 0);
  else
    system_free(pages, size);
}

static void *take_large(tvms_memory *memory, size_t size) {
  if (size > SIZE_MAX / 2) tvms_memory_refuse(memory, out_of_memory);
  size_t bytes = sizeof(tvms_memory_block) + size;
  tvms_memory_block *block = take_pages(memory, &bytes);
  block->bytes = bytes;
  return link_block(memory, block, size);
}

static void give_large(tvms_memory *memory, void *bytes) {
  tvms_memory_block *block = block_of(bytes);
  unlink_block(memory, block);
  give_pages(memory, block, block->bytes);
}

static void give_all_large(tvms_memory *memory) {
  while (memory->blocks) {
    tvms_memory_block *older = memory->blocks->older;
    give_pages(memory, memory->blocks, memory->blocks->bytes);
    memory->blocks = older;
  }
}

#ifdef ADDRESS_SANITIZED

// Every block is one of its own.
static void *take_bytes(tvms_memory *memory, size_t size, bool zeroed) {
  (void)zeroed;
  return take_large(memory, size);
}

static bool grow_in_place(void *bytes, size_t size) {
  (void)bytes;
  (void)size;
  return false;
}

static void *TVMS_NULLABLE grow_pages(tvms_memory *memory, void *bytes, size_t size) {
  (void)memory;
  (void)bytes;
  (void)size;
  return NULL;
}

static void give_bytes(tvms_memory *memory, void *bytes) {
  give_large(memory, bytes);
}

void *tvms_memory_alloc_chunk(tvms_memory *memory, uint32_t class) {
  return tvms_memory_alloc(memory, (size_t)TVMS_CHUNK_SMALLEST << class);
}

void tvms_memory_free_chunk(tvms_memory *memory, void *chunk, uint32_t class,
                            size_t dirty) {
  (void)class;
  (void)dirty;
  tvms_memory_free(memory, chunk);
}

void tvms_memory_fini(tvms_memory *memory) {
  give_all_large(memory);
  memory->used = 0;
}

void tvms_memory_fini_leaving(tvms_memory *memory, tvms_region **region) {
  (void)region;
  tvms_memory_fini(memory);
}

void tvms_memory_init_with(tvms_memory *memory, tvms_region **region) {
  (void)region;
  tvms_memory_init(memory);
}

void tvms_memory_free_left(tvms_region *region) {
  (void)region;
}

#else

// A region of fresh pages; this stands at its beginning.
struct tvms_region {
  tvms_region *older;
  size_t size;
};

enum {
  FIRST_REGION = 512 * 1024,
  LARGEST_REGION = 32 * 1024 * 1024,
  // The same of a host's allocator, whose memory costs as soon as it is there.
  FIRST_REGION_OF_HOST = 64 * 1024,
  LARGEST_REGION_OF_HOST = 1024 * 1024,
};

// Takes a region with room for `size` bytes. What is left of the one before is lost: less
// than what did not fit.
static void grow_fresh(tvms_memory *memory, size_t size) {
  size_t first = memory->allocate ? FIRST_REGION_OF_HOST : FIRST_REGION;
  size_t largest = memory->allocate ? LARGEST_REGION_OF_HOST : LARGEST_REGION;
  size_t bytes = memory->regions ? memory->regions->size * 2 : first;
  if (bytes > largest) bytes = largest;
  if (bytes < size + sizeof(tvms_region)) bytes = size + sizeof(tvms_region);
  tvms_region *region = take_pages(memory, &bytes);
  region->older = memory->regions;
  region->size = bytes;
  memory->regions = region;
  memory->fresh = (char *)(region + 1);
  memory->fresh_end = (char *)region + bytes;
}

// Zeroed bytes that were never used; `size` is a multiple of 16.
static void *take_fresh(tvms_memory *memory, size_t size) {
  if (size > (size_t)(memory->fresh_end - memory->fresh)) grow_fresh(memory, size);
  void *bytes = memory->fresh;
  memory->fresh += size;
  return bytes;
}

// Blocks come in four sizes per doubling: 64 bytes, 80, 96, 112, 128, 160 and so on, each
// with its head.
static uint32_t class_of(size_t bytes) {
  if (bytes <= TVMS_BLOCK_SMALLEST) return 0;
  uint32_t log = 63 - (uint32_t)__builtin_clzll(bytes - 1);
  return (log - 6) * 4 + (uint32_t)((bytes - 1) >> (log - 2)) - 3;
}

static size_t class_bytes(uint32_t class) {
  if (class == 0) return TVMS_BLOCK_SMALLEST;
  return (size_t)(5 + (class - 1) % 4) << (4 + (class - 1) / 4);
}

static void *take_bytes(tvms_memory *memory, size_t size, bool zeroed) {
  if (size > SIZE_MAX / 2) tvms_memory_refuse(memory, out_of_memory);
  uint32_t class = class_of(sizeof(block_head) + size);
  if (class >= TVMS_BLOCK_CLASSES) return take_large(memory, size);
  void *bytes = memory->spare_blocks[class];
  if (bytes) {
    memory->spare_blocks[class] = *(void **)bytes;
    if (zeroed) memset(bytes, 0, size);
  } else {
    bytes = (block_head *)take_fresh(memory, class_bytes(class)) + 1;
  }
  *head_of(bytes) = (block_head){.size = size, .class = class};
  return bytes;
}

static bool grow_in_place(void *bytes, size_t size) {
  const block_head *head = head_of(bytes);
  if (head->class == NO_CLASS) {
    return sizeof(tvms_memory_block) + size <= block_of(bytes)->bytes;
  }
  return sizeof *head + size <= class_bytes(head->class);
}

// As tvms_pages_grow: what is new is not zeroed, and NULL leaves the old pages.
static void *TVMS_NULLABLE move_pages(tvms_memory *memory, void *pages, size_t size,
                                      size_t *grown) {
  if (!memory->allocate) return tvms_pages_grow(pages, size, grown);
  return memory->allocate(memory->user, pages, size, *grown);
}

static void *TVMS_NULLABLE grow_pages(tvms_memory *memory, void *bytes, size_t size) {
  if (head_of(bytes)->class != NO_CLASS) return NULL;
  tvms_memory_block *block = block_of(bytes);
  unlink_block(memory, block);
  size_t grown = sizeof *block + size;
  tvms_memory_block *moved = move_pages(memory, block, block->bytes, &grown);
  if (moved) moved->bytes = grown;
  // Blocks that stay keep their size, too: it is subtracted when they are freed.
  size_t linked = moved ? size : head_of(bytes)->size;
  bytes = link_block(memory, moved ? moved : block, linked);
  return moved ? bytes : NULL;
}

static void give_bytes(tvms_memory *memory, void *bytes) {
  uint32_t class = head_of(bytes)->class;
  if (class == NO_CLASS) {
    give_large(memory, bytes);
  } else {
    *(void **)bytes = memory->spare_blocks[class];
    memory->spare_blocks[class] = bytes;
  }
}

static void keep_chunk(tvms_memory *memory, void *chunk, uint32_t class) {
  *(void **)chunk = memory->spare[class];
  memory->spare[class] = chunk;
}

// A chunk that was given back, or half of a larger one, or NULL.
static void *TVMS_NULLABLE take_spare_chunk(tvms_memory *memory, uint32_t class) {
  uint32_t from = class;
  while (from < TVMS_CHUNK_CLASSES && !memory->spare[from])
    from++;
  if (from == TVMS_CHUNK_CLASSES) return NULL;
  void **chunk = memory->spare[from];
  memory->spare[from] = *chunk;
  *chunk = NULL;
  while (from > class) {
    from--;
    keep_chunk(memory, (char *)chunk + ((size_t)TVMS_CHUNK_SMALLEST << from), from);
  }
  return chunk;
}

void *tvms_memory_alloc_chunk(tvms_memory *memory, uint32_t class) {
  size_t size = (size_t)TVMS_CHUNK_SMALLEST << class;
  admit(memory, size);
  void *chunk = take_spare_chunk(memory, class);
  if (!chunk) chunk = take_fresh(memory, size);
  memory->used += size;
  return chunk;
}

void tvms_memory_free_chunk(tvms_memory *memory, void *chunk, uint32_t class,
                            size_t dirty) {
  memset(chunk, 0, dirty);
  keep_chunk(memory, chunk, class);
  memory->used -= (size_t)TVMS_CHUNK_SMALLEST << class;
}

void tvms_memory_fini(tvms_memory *memory) {
  give_all_large(memory);
  while (memory->regions) {
    tvms_region *older = memory->regions->older;
    give_pages(memory, memory->regions, memory->regions->size);
    memory->regions = older;
  }
  memory->fresh = memory->fresh_end = NULL;
  memset(memory->spare, 0, sizeof memory->spare);
  memset(memory->spare_blocks, 0, sizeof memory->spare_blocks);
  memory->used = 0;
}

// The newest region is the largest: a few texts of a kind need no second one.
void tvms_memory_fini_leaving(tvms_memory *memory, tvms_region **region) {
  enum { LARGEST_LEFT = 8 * 1024 * 1024 };
  tvms_region *newest = memory->regions;
  if (newest && newest->size <= LARGEST_LEFT) {
    memset(newest + 1, 0, (size_t)(memory->fresh - (char *)(newest + 1)));
    memory->regions = newest->older;
    newest->older = NULL;
    *region = newest;
  }
  tvms_memory_fini(memory);
}

void tvms_memory_init_with(tvms_memory *memory, tvms_region **region) {
  tvms_memory_init(memory);
  memory->regions = *region;
  if (!*region) return;
  memory->fresh = (char *)(*region + 1);
  memory->fresh_end = (char *)*region + (*region)->size;
  *region = NULL;
}

void tvms_memory_free_left(tvms_region *region) {
  if (region) system_free(region, region->size);
}

#endif

void *tvms_memory_alloc(tvms_memory *memory, size_t size) {
  admit(memory, size);
  void *bytes = take_bytes(memory, size, true);
  memory->used += size;
  return bytes;
}

void *tvms_memory_realloc(tvms_memory *memory, void *old, size_t size) {
  size_t before = old ? head_of(old)->size : 0;
  admit(memory, size > before ? size - before : 0);
  void *bytes = old;
  if (!old) {
    bytes = take_bytes(memory, size, false);
  } else if (grow_in_place(old, size)) {
    head_of(old)->size = size;
  } else {
    bytes = grow_pages(memory, old, size);
    if (!bytes) {
      bytes = take_bytes(memory, size, false);
      memcpy(bytes, old, before < size ? before : size);
      give_bytes(memory, old);
    }
  }
  memory->used += size - before;
  return bytes;
}

void tvms_memory_free(tvms_memory *memory, void *block) {
  if (!block) return;
  memory->used -= head_of(block)->size;
  give_bytes(memory, block);
}
