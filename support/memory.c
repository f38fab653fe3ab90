// Blocks and chunks cut from regions of pages, and protected calls on top of them.
#define _DEFAULT_SOURCE
#include "support/memory.h"

#include "support/check.h"
#include "support/pages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

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
  bool refused = memory->count == memory->fail_at
                 || (memory->limit && memory->used + more > memory->limit);
  if (refused) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
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

#ifdef ADDRESS_SANITIZED

// One block of the C library each, so that the sanitizer sees what is used after it was
// given back.
static void *take_bytes(tvms_memory *memory, size_t size, bool zeroed) {
  (void)zeroed;
  tvms_memory_block *block = calloc(1, sizeof *block + size);
  if (!block) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  return link_block(memory, block, size);
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
  unlink_block(memory, block_of(bytes));
  free(block_of(bytes));
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
  while (memory->blocks) {
    tvms_memory_block *older = memory->blocks->older;
    free(memory->blocks);
    memory->blocks = older;
  }
  memory->used = 0;
}

#else

// A region of fresh pages; this stands at its beginning.
struct tvms_region {
  tvms_region *older;
  size_t size;
};

enum { FIRST_REGION = 512 * 1024, LARGEST_REGION = 32 * 1024 * 1024 };

// Takes a region with room for `size` bytes. What is left of the one before is lost: less
// than what did not fit.
static void grow_fresh(tvms_memory *memory, size_t size) {
  size_t bytes = memory->regions ? memory->regions->size * 2 : FIRST_REGION;
  if (bytes > LARGEST_REGION) bytes = LARGEST_REGION;
  if (bytes < size + sizeof(tvms_region)) bytes = size + sizeof(tvms_region);
  tvms_region *region = tvms_pages_alloc(&bytes);
  if (!region) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
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

static void *take_pages(tvms_memory *memory, size_t size) {
  size_t bytes = sizeof(tvms_memory_block) + size;
  tvms_memory_block *block = tvms_pages_alloc(&bytes);
  if (!block) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  block->bytes = bytes;
  return link_block(memory, block, size);
}

static void *take_bytes(tvms_memory *memory, size_t size, bool zeroed) {
  if (size > SIZE_MAX / 2) tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
  uint32_t class = class_of(sizeof(block_head) + size);
  if (class >= TVMS_BLOCK_CLASSES) return take_pages(memory, size);
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

static void *TVMS_NULLABLE grow_pages(tvms_memory *memory, void *bytes, size_t size) {
  if (head_of(bytes)->class != NO_CLASS) return NULL;
  tvms_memory_block *block = block_of(bytes);
  unlink_block(memory, block);
  size_t grown = sizeof *block + size;
  tvms_memory_block *moved = tvms_pages_grow(block, block->bytes, &grown);
  if (moved) moved->bytes = grown;
  bytes = link_block(memory, moved ? moved : block, size);
  return moved ? bytes : NULL;
}

static void give_bytes(tvms_memory *memory, void *bytes) {
  uint32_t class = head_of(bytes)->class;
  if (class == NO_CLASS) {
    tvms_memory_block *block = block_of(bytes);
    unlink_block(memory, block);
    tvms_pages_free(block, block->bytes);
  } else {
    *(void **)bytes = memory->spare_blocks[class];
    memory->spare_blocks[class] = bytes;
  }
}

void *tvms_memory_alloc_chunk(tvms_memory *memory, uint32_t class) {
  size_t size = (size_t)TVMS_CHUNK_SMALLEST << class;
  admit(memory, size);
  void **spare = memory->spare[class];
  if (spare) {
    memory->spare[class] = *spare;
    *spare = NULL;
  } else {
    spare = take_fresh(memory, size);
  }
  memory->used += size;
  return spare;
}

void tvms_memory_free_chunk(tvms_memory *memory, void *chunk, uint32_t class,
                            size_t dirty) {
  memset(chunk, 0, dirty);
  *(void **)chunk = memory->spare[class];
  memory->spare[class] = chunk;
  memory->used -= (size_t)TVMS_CHUNK_SMALLEST << class;
}

void tvms_memory_fini(tvms_memory *memory) {
  while (memory->blocks) {
    tvms_memory_block *older = memory->blocks->older;
    tvms_pages_free(memory->blocks, memory->blocks->bytes);
    memory->blocks = older;
  }
  while (memory->regions) {
    tvms_region *older = memory->regions->older;
    tvms_pages_free(memory->regions, memory->regions->size);
    memory->regions = older;
  }
  memory->fresh = memory->fresh_end = NULL;
  memset(memory->spare, 0, sizeof memory->spare);
  memset(memory->spare_blocks, 0, sizeof memory->spare_blocks);
  memory->used = 0;
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

void tvms_memory_unwind(tvms_memory *memory, tvms_status status) {
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

tvms_status tvms_memory_protect(tvms_memory *memory, void (*work)(void *),
                                void *argument) {
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
  call->status = tvms_memory_protect(call->memory, call->work, call->argument);
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
  call->status = tvms_memory_protect(call->memory, call->work, call->argument);
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

tvms_status tvms_memory_protect_deep(tvms_memory *memory, void (*work)(void *),
                                     void *argument) {
  deep_call call = {.memory = memory, .work = work, .argument = argument};
  size_t size = (size_t)memory->depth_limit * BYTES_PER_LEVEL + (1u << 20);
  return enter_deep(&call, size) ? call.status : TVMS_OVER_LIMIT;
}

void tvms_memory_hold(tvms_memory *memory, tvms_resource *resource,
                      void (*close)(void *), void *what) {
  resource->outer = memory->resources;
  resource->close = close;
  resource->what = what;
  memory->resources = resource;
}

void tvms_memory_release(tvms_memory *memory, tvms_resource *resource) {
  TVMS_CHECK(memory->resources == resource);
  memory->resources = resource->outer;
}
