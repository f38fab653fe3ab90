// Blocks in one doubly linked list per tvms_memory, and protected calls on top of it.
#include "support/memory.h"

#include "support/check.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

// Stands before the bytes of a block. 32 bytes keep those aligned to 16.
struct tvms_memory_block {
  tvms_memory_block *newer;
  tvms_memory_block *older;
  size_t size;
  size_t padding;
};

enum { DEFAULT_DEPTH_LIMIT = 400 * 1000 };

// Stack bytes per level of depth that the deep stack reserves. Sanitizers need more.
#if defined(__SANITIZE_ADDRESS__)
enum { BYTES_PER_LEVEL = 8192 };
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer)
enum { BYTES_PER_LEVEL = 8192 };
#  else
enum { BYTES_PER_LEVEL = 2560 };
#  endif
#else
enum { BYTES_PER_LEVEL = 2560 };
#endif

void tvms_memory_init(tvms_memory *memory) {
  memset(memory, 0, sizeof *memory);
  memory->depth_limit = DEFAULT_DEPTH_LIMIT;
}

void tvms_memory_fini(tvms_memory *memory) {
  while (memory->blocks) {
    tvms_memory_block *older = memory->blocks->older;
    free(memory->blocks);
    memory->blocks = older;
  }
  memory->used = 0;
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
  if (block->newer) block->newer->older = block->older;
  else memory->blocks = block->older;
  if (block->older) block->older->newer = block->newer;
  memory->used -= block->size;
}

void *tvms_take(tvms_memory *memory, size_t size) {
  admit(memory, size);
  tvms_memory_block *block = calloc(1, sizeof *block + size);
  if (!block) tvms_unwind(memory, TVMS_OVER_LIMIT);
  block->size = size;
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
  link_block(memory, grown);
  return grown + 1;
}

void tvms_give(tvms_memory *memory, void *block) {
  if (!block) return;
  unlink_block(memory, (tvms_memory_block *)block - 1);
  free((tvms_memory_block *)block - 1);
}

void tvms_unwind(tvms_memory *memory, tvms_status status) {
  if (!memory->unwind) TVMS_UNREACHABLE("allocation failed outside a protected call");
  memory->failure = status;
  longjmp(*memory->unwind, 1);
}

tvms_status tvms_protect(tvms_memory *memory, void (*work)(void *), void *argument) {
  jmp_buf here;
  jmp_buf *outer = memory->unwind;
  tvms_resource *open = memory->resources;
  uint32_t depth = memory->depth;
  memory->unwind = &here;
  volatile tvms_status status = TVMS_OK;  // read after longjmp
  if (setjmp(here) == 0) {
    work(argument);
  } else {
    status = memory->failure;
    while (memory->resources != open) {
      tvms_resource *inner = memory->resources;
      memory->resources = inner->outer;
      inner->close(inner->what);
    }
  }
  memory->depth = depth;
  memory->unwind = outer;
  return status;
}

typedef struct {
  tvms_memory *memory;
  void (*work)(void *);
  void *argument;
  tvms_status status;
} deep_call;

static void *run_deep(void *argument) {
  deep_call *call = argument;
  call->status = tvms_protect(call->memory, call->work, call->argument);
  return NULL;
}

tvms_status tvms_protect_deep(tvms_memory *memory, void (*work)(void *),
                              void *argument) {
  deep_call call = {memory, work, argument, TVMS_OK};
  size_t bytes = (size_t)memory->depth_limit * BYTES_PER_LEVEL + (1u << 20);
  pthread_attr_t attributes;
  pthread_t thread;
  if (pthread_attr_init(&attributes) != 0) return TVMS_OVER_LIMIT;
  bool started = pthread_attr_setstacksize(&attributes, bytes) == 0
                 && pthread_create(&thread, &attributes, run_deep, &call) == 0;
  pthread_attr_destroy(&attributes);
  if (!started) return TVMS_OVER_LIMIT;
  pthread_join(thread, NULL);
  return call.status;
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
