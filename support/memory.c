// Blocks in one doubly linked list per tvms_memory, and protected calls on top of it.
#define _DEFAULT_SOURCE
#include "support/memory.h"

#include "support/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

// Stands before the bytes of a block. 32 bytes keep those aligned to 16.
struct tvms_memory_block {
  tvms_memory_block *newer;
  tvms_memory_block *older;
  size_t size;
  size_t padding;
};

enum { DEFAULT_DEPTH_LIMIT = 400 * 1000 };

// Stack bytes per level of depth that the deep stack reserves. Sanitizers need more.
#if defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define ADDRESS_SANITIZED
#  endif
#endif
#ifdef __SANITIZE_ADDRESS__
#  define ADDRESS_SANITIZED
#endif
#ifdef ADDRESS_SANITIZED
enum { BYTES_PER_LEVEL = 8192 };
#else
enum { BYTES_PER_LEVEL = 2560 };
#endif

void tvms_memory_init(tvms_memory *memory) {
  memset(memory, 0, sizeof *memory);
  memory->depth_limit = DEFAULT_DEPTH_LIMIT;
}

// A region of fresh pages; this stands at its beginning.
struct tvms_region {
  tvms_region *older;
  size_t size;
};

static void free_regions(tvms_memory *memory) {
  while (memory->regions) {
    tvms_region *older = memory->regions->older;
    munmap(memory->regions, memory->regions->size);
    memory->regions = older;
  }
  memory->fresh = memory->fresh_end = NULL;
  memset(memory->spare, 0, sizeof memory->spare);
}

void tvms_memory_fini(tvms_memory *memory) {
  while (memory->blocks) {
    tvms_memory_block *older = memory->blocks->older;
    free(memory->blocks);
    memory->blocks = older;
  }
  free_regions(memory);
  memory->used = 0;
}

// Large blocks ask the kernel for huge pages, because a first touch of a small page costs
// as much as parsing what goes into it (see bench/README.md).
static void advise_huge(const void *bytes, size_t size) {
  enum { HUGE_FROM = 4 * 1024 * 1024, HUGE_PAGE = 2 * 1024 * 1024 };
  if (size < HUGE_FROM) return;
  uintptr_t mask = ~(uintptr_t)(HUGE_PAGE - 1);
  uintptr_t begin = ((uintptr_t)bytes + HUGE_PAGE - 1) & mask;
  uintptr_t end = ((uintptr_t)bytes + size) & mask;
  // Failure only means small pages.
  if (begin < end) (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}

static void admit(tvms_memory *memory, size_t more) {
  memory->count++;
  bool refused = memory->count == memory->fail_at
                 || (memory->limit && memory->used + more > memory->limit);
  if (refused) tvms_unwind(memory, TVMS_OVER_LIMIT);
}

static void link_block(tvms_memory *memory, tvms_memory_block *block) {
  block->newer = NULL;
  block->older = memory->blocks;
  if (block->older) block->older->newer = block;
  memory->blocks = block;
  memory->used += block->size;
}

static void unlink_block(tvms_memory *memory, tvms_memory_block *block) {
  if (block->newer)
    block->newer->older = block->older;
  else
    memory->blocks = block->older;
  if (block->older) block->older->newer = block->newer;
  memory->used -= block->size;
}

void *tvms_take(tvms_memory *memory, size_t size) {
  admit(memory, size);
  tvms_memory_block *block = calloc(1, sizeof *block + size);
  if (!block) tvms_unwind(memory, TVMS_OVER_LIMIT);
  block->size = size;
  advise_huge(block, size);
  link_block(memory, block);
  return block + 1;
}

void *tvms_retake(tvms_memory *memory, void *old, size_t size) {
  if (!old) return tvms_take(memory, size);
  tvms_memory_block *block = (tvms_memory_block *)old - 1;
  admit(memory, size > block->size ? size - block->size : 0);
  unlink_block(memory, block);
  tvms_memory_block *grown = realloc(block, sizeof *block + size);
  if (!grown) {
    link_block(memory, block);
    tvms_unwind(memory, TVMS_OVER_LIMIT);
  }
  grown->size = size;
  advise_huge(grown, size);
  link_block(memory, grown);
  return grown + 1;
}

void tvms_give(tvms_memory *memory, void *block) {
  if (!block) return;
  unlink_block(memory, (tvms_memory_block *)block - 1);
  free((tvms_memory_block *)block - 1);
}

#ifdef ADDRESS_SANITIZED

// One block each, so that the sanitizer sees what is used after it was given back.
void *tvms_chunk_take(tvms_memory *memory, uint32_t class) {
  return tvms_take(memory, (size_t)TVMS_CHUNK_SMALLEST << class);
}

void tvms_chunk_give(tvms_memory *memory, void *chunk, uint32_t class, size_t dirty) {
  (void)class;
  (void)dirty;
  tvms_give(memory, chunk);
}

#else

enum {
  FIRST_REGION = 512 * 1024,
  LARGEST_REGION = 32 * 1024 * 1024,
  REGION_HEADER = 4096,  // keeps chunks aligned to pages
};

// Takes a region with room for a chunk of `size` bytes. What is left of the one before is
// lost: less than the chunk that did not fit.
static void grow_fresh(tvms_memory *memory, size_t size) {
  size_t bytes = memory->regions ? memory->regions->size * 2 : FIRST_REGION;
  if (bytes > LARGEST_REGION) bytes = LARGEST_REGION;
  if (bytes < size + REGION_HEADER) bytes = size + REGION_HEADER;
  void *pages =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) tvms_unwind(memory, TVMS_OVER_LIMIT);
  advise_huge(pages, bytes);
  tvms_region *region = pages;
  region->older = memory->regions;
  region->size = bytes;
  memory->regions = region;
  memory->fresh = (char *)pages + REGION_HEADER;
  memory->fresh_end = (char *)pages + bytes;
}

void *tvms_chunk_take(tvms_memory *memory, uint32_t class) {
  size_t size = (size_t)TVMS_CHUNK_SMALLEST << class;
  admit(memory, size);
  void **spare = memory->spare[class];
  if (spare) {
    memory->spare[class] = *spare;
    *spare = NULL;
  } else {
    if (size > (size_t)(memory->fresh_end - memory->fresh)) grow_fresh(memory, size);
    spare = (void **)(void *)memory->fresh;
    memory->fresh += size;
  }
  memory->used += size;
  return spare;
}

void tvms_chunk_give(tvms_memory *memory, void *chunk, uint32_t class, size_t dirty) {
  memset(chunk, 0, dirty);
  *(void **)chunk = memory->spare[class];
  memory->spare[class] = chunk;
  memory->used -= (size_t)TVMS_CHUNK_SMALLEST << class;
}

#endif

void tvms_unwind(tvms_memory *memory, tvms_status status) {
  if (!memory->unwind) TVMS_UNREACHABLE("allocation failed outside a protected call");
  memory->failure = status;
  // Before the jump: resources and what they stand for live in frames that it discards.
  while (memory->resources != memory->kept) {
    tvms_resource *inner = memory->resources;
    memory->resources = inner->outer;
    inner->close(inner->what);
  }
  longjmp(*memory->unwind, 1);
}

tvms_status tvms_protect(tvms_memory *memory, void (*work)(void *), void *argument) {
  jmp_buf here;
  jmp_buf *outer = memory->unwind;
  tvms_resource *kept = memory->kept;
  uint32_t depth = memory->depth;
  memory->unwind = &here;
  memory->kept = memory->resources;
  volatile tvms_status status = TVMS_OK;  // read after longjmp
  if (setjmp(here) == 0) {
    work(argument);
  } else {
    status = memory->failure;
  }
  memory->kept = kept;
  memory->depth = depth;
  memory->unwind = outer;
  return status;
}

typedef struct {
  tvms_memory *memory;
  void (*work)(void *);
  void *argument;
  tvms_status status;
  ucontext_t caller;
  ucontext_t callee;
} deep_call;

#ifdef ADDRESS_SANITIZED
// AddressSanitizer follows threads, and complains about switched stacks.
static void *run_deep(void *argument) {
  deep_call *call = argument;
  call->status = tvms_protect(call->memory, call->work, call->argument);
  return NULL;
}

static bool enter_deep(deep_call *call, size_t size) {
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes) != 0) return false;
  bool started = pthread_attr_setstacksize(&attributes, size) == 0
                 && pthread_create(&thread, &attributes, run_deep, call) == 0;
  pthread_attr_destroy(&attributes);
  return started && pthread_join(thread, NULL) == 0;
}
#else
// makecontext passes ints only: the pointer comes in two halves.
static void run_deep(unsigned high, unsigned low) {
  deep_call *call = (deep_call *)(((uintptr_t)high << 32) | low);
  call->status = tvms_protect(call->memory, call->work, call->argument);
}

// A stack of our own instead of a thread: a thread costs a third of the start-up of the
// program (docs/decisions/001-start-up.md).
static bool enter_deep(deep_call *call, size_t size) {
  enum { GUARD = 64 * 1024 };
  char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return false;
  bool ready = mprotect(stack, GUARD, PROT_NONE) == 0 && getcontext(&call->callee) == 0;
  if (ready) {
    uintptr_t address = (uintptr_t)call;
    call->callee.uc_stack.ss_sp = stack;
    call->callee.uc_stack.ss_size = size;
    call->callee.uc_link = &call->caller;
    makecontext(&call->callee, (void (*)(void))run_deep, 2, (unsigned)(address >> 32),
                (unsigned)address);
    ready = swapcontext(&call->caller, &call->callee) == 0;
  }
  munmap(stack, size);
  return ready;
}
#endif

tvms_status tvms_protect_deep(tvms_memory *memory, void (*work)(void *),
                              void *argument) {
  deep_call call = {.memory = memory, .work = work, .argument = argument};
  size_t size = (size_t)memory->depth_limit * BYTES_PER_LEVEL + (1u << 20);
  return enter_deep(&call, size) ? call.status : TVMS_OVER_LIMIT;
}

void tvms_hold(tvms_memory *memory, tvms_resource *resource, void (*close)(void *),
               void *what) {
  resource->outer = memory->resources;
  resource->close = close;
  resource->what = what;
  memory->resources = resource;
}

void tvms_release(tvms_memory *memory, tvms_resource *resource) {
  TVMS_CHECK(memory->resources == resource);
  memory->resources = resource->outer;
}
