// What happens when allocation fails: a jump to the innermost protected call.
//
// See support/memory.h, which includes this header, for what may be jumped across.
#ifndef TVMS_SUPPORT_PROTECT_H
#define TVMS_SUPPORT_PROTECT_H

#include "support/base.h"

typedef struct tvms_memory tvms_memory;

// Something that must be closed when a failure unwinds past it, such as an open file.
typedef struct tvms_resource {
  struct tvms_resource *outer;
  void (*close)(void *what);
  void *what;
} tvms_resource;

// Runs `work(argument)`. Returns TVMS_OK, or why it was left by tvms_memory_unwind.
TVMS_NODISCARD tvms_status tvms_memory_protect(tvms_memory *memory,
                                               void (*work)(void *), void *argument);

// As tvms_memory_protect, on a stack large enough for `depth_limit` nested calls of work.
TVMS_NODISCARD tvms_status tvms_memory_protect_deep(tvms_memory *memory,
                                                    void (*work)(void *),
                                                    void *argument);

// Leaves the innermost protected call with `status`; aborts if there is none.
TVMS_NORETURN void tvms_memory_unwind(tvms_memory *memory, tvms_status status);

// As tvms_memory_unwind with TVMS_OVER_LIMIT; `reason` is static.
TVMS_NORETURN void tvms_memory_refuse(tvms_memory *memory, const char *reason);

// The memory of the innermost protected call of this thread, or NULL: for failed checks,
// which know nothing else. The one thing that is kept outside of contexts.
tvms_memory *TVMS_NULLABLE tvms_memory_innermost(void);

// Registers a resource until tvms_memory_release; the struct lives in the caller's frame.
void tvms_memory_hold(tvms_memory *memory, tvms_resource *resource,
                      void (*close)(void *), void *what);

// Forgets the resource that was held last, without closing it.
void tvms_memory_release(tvms_memory *memory, tvms_resource *resource);

#endif
