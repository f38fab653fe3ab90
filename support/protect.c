// Protected calls: jumps out of the middle of work, and stacks for deep recursion.
//
// A jump must leave nothing open, so what holds foreign state is registered as a resource and
// closed before the jump, innermost first. The deep stack is mapped for one call: its pages
// cost memory only where they are touched, and all of it goes back at the end.
#define _DEFAULT_SOURCE
#include "support/protect.h"

#include "support/check.h"
#include "support/memory.h"

#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

// Stack bytes per level of depth that the deep stack reserves. Sanitizers need more.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#  define SANITIZED
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#    define SANITIZED
#  endif
#endif
#ifdef SANITIZED
enum { BYTES_PER_LEVEL = 8192 };
#else
enum { BYTES_PER_LEVEL = 2560 };
#endif

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

void tvms_memory_refuse(tvms_memory *memory, const char *reason) {
  memory->reason = reason;
  tvms_memory_unwind(memory, TVMS_OVER_LIMIT);
}

static _Thread_local tvms_memory *innermost;

tvms_memory *tvms_memory_innermost(void) {
  return innermost;
}

tvms_status tvms_memory_protect(tvms_memory *memory, void (*work)(void *),
                                void *argument) {
  jmp_buf here;
  jmp_buf *outer = memory->unwind;
  tvms_resource *kept = memory->kept;
  uint32_t depth = memory->depth;
  tvms_memory *around = innermost;
  innermost = memory;
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
  innermost = around;
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

#ifdef SANITIZED
// Sanitizers follow threads, and complain about switched stacks.
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
  if (enter_deep(&call, size)) return call.status;
  memory->reason = "there is no address space left for the stack of a call";
  return TVMS_OVER_LIMIT;
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
