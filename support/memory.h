// The only allocator of tvms, and what happens when it fails.
//
// A tvms_memory owns every block that was taken from it: closing it frees them all, so
// a jump out of the middle of work leaks nothing. Allocation never returns NULL to the
// caller: on failure it jumps to the innermost tvms_memory_protect, which closes the resources
// that were opened inside and reports the failure as a status (see docs/architecture.md,
// "Memory"). Nothing that holds foreign state (LLVM, a callback) may be jumped across.
#ifndef TVMS_SUPPORT_MEMORY_H
#define TVMS_SUPPORT_MEMORY_H

#include "support/base.h"
#include "support/protect.h"

#include <setjmp.h>

typedef struct tvms_memory_block tvms_memory_block;

typedef struct tvms_region tvms_region;

enum {
  TVMS_CHUNK_SMALLEST = 1024,  // bytes of a chunk of class 0; each next class doubles
  TVMS_CHUNK_CLASSES = 14,     // up to 8 MiB
  TVMS_BLOCK_SMALLEST = 64,    // bytes of a block of class 0, with its head
  TVMS_BLOCK_CLASSES = 57,     // four per doubling, up to 1 MiB; larger ones are pages
};

struct tvms_memory {
  jmp_buf *unwind;           // innermost protected call; NULL: failure aborts
  tvms_resource *resources;  // open ones, innermost first
  tvms_resource *kept;       // those opened before the innermost protected call
  tvms_memory_block
      *blocks;           // live blocks that are too large for a class, newest first
  tvms_region *regions;  // of fresh pages that all else is cut from, newest first
  char *fresh;           // first byte of the newest region that was never used
  char *fresh_end;
  void *spare[TVMS_CHUNK_CLASSES];         // chunks that were given back, by class
  void *spare_blocks[TVMS_BLOCK_CLASSES];  // the same of blocks; not zeroed
  size_t used;                             // bytes in live blocks and chunks
  size_t limit;                            // most bytes allowed at once; 0: no limit
  uint64_t count;                          // allocations asked for so far
  uint64_t fail_at;     // testing: the allocation with this number fails; 0: none
  tvms_status failure;  // why the last protected call was left
  const char *reason;   // the same as a sentence, if `failure` is TVMS_OVER_LIMIT
  uint64_t deadline;    // in nanoseconds of the monotonic clock; 0: none
  // Where pages come from; NULL: from the system (see tvms_allocator).
  tvms_allocator *TVMS_NULLABLE allocate;
  void *TVMS_NULLABLE user;
  // A failed check leaves the innermost protected call with TVMS_INTERNAL instead of
  // aborting, its text in `defect`: for hosts that must live on.
  bool catches_checks;
  char defect[200];
  uint32_t depth;  // nesting of the work in progress, see tvms_memory_enter
  uint32_t depth_limit;
};

// Starts with no block, no limit and the default depth limit.
void tvms_memory_init(tvms_memory *memory);

// Frees every block. Pointers into them die.
void tvms_memory_fini(tvms_memory *memory);

// As tvms_memory_fini, but leaves pages in `*region`, which is NULL before, for the memory that
// comes next: the kernel needs neither to take them back nor to clear others. Not for a memory
// whose pages are a host's.
void tvms_memory_fini_leaving(tvms_memory *memory, tvms_region *TVMS_NULLABLE *region);

// Starts with the pages that another one has left, if any.
void tvms_memory_init_with(tvms_memory *memory, tvms_region *TVMS_NULLABLE *region);

// Frees pages that were left.
void tvms_memory_free_left(tvms_region *TVMS_NULLABLE region);

// Returns `size` zeroed bytes aligned to 16. Never NULL; failure unwinds.
void *tvms_memory_alloc(tvms_memory *memory, size_t size);

// Grows or shrinks a block that tvms_memory_alloc returned; `old` may be NULL. New bytes of a
// grown block are not zeroed. Never NULL; failure unwinds and leaves `old` valid.
void *tvms_memory_realloc(tvms_memory *memory, void *TVMS_NULLABLE old, size_t size);

// Frees one block early; NULL is allowed.
void tvms_memory_free(tvms_memory *memory, void *TVMS_NULLABLE block);

// Returns a zeroed chunk of the class, for arenas. Chunks are cut from large regions of
// fresh pages, and one that was given back serves again: so memory that is never written
// costs nothing, and neither does memory that is used in turns. Never NULL; failure unwinds.
void *tvms_memory_alloc_chunk(tvms_memory *memory, uint32_t class);

// Gives a chunk back, of which the first `dirty` bytes may have been written.
void tvms_memory_free_chunk(tvms_memory *memory, void *chunk, uint32_t class,
                            size_t dirty);

// Unwinds if the deadline has passed. Allocations look at the clock themselves now and
// then; long work without any calls this every few thousand steps.
void tvms_memory_check_time(tvms_memory *memory);

// Enters one level of recursion. Returns false at the limit: the caller reports that the
// text is nested too deeply and does not recurse. A level may use up to 2 KiB of stack.
static inline bool tvms_memory_enter(tvms_memory *memory) {
  return ++memory->depth < memory->depth_limit;
}
static inline void tvms_memory_leave(tvms_memory *memory) {
  memory->depth--;
}

#endif
