// Contexts: where everything lives, what it may use, and how calls end.
//
// A context owns what is made in it: sources, programs, diagnostics, texts. Destroying it
// frees all of them, so nothing leaks after an error, and most programs free nothing else.
// A context is cheap; one per text that is looked at is the usual way.
//
// Threads: a context, with all that it owns, is used by one thread at a time. Different
// contexts share nothing and may be used by different threads at once. Functions that take
// neither a context nor something that belongs to one may be called by any thread.
//
// The library prints nothing, ends no process, installs no signal handler, opens no file but
// the plug-in for native code, and does not depend on the locale (functions of the host that
// it calls run in the C locale). A call needs 64 KiB of the caller's stack; deep recursion
// happens on a stack of its own, which is mapped for the call.
//
// Pointers must not be NULL unless a function says so; a source, a program or a runner that is
// NULL, because making it failed, is TVMS_BAD_ARGUMENT where a status is returned. So is a source
// of another context.
//
// Structs of options begin with their size, so that they can grow: set all bytes to zero,
// `size` to sizeof the struct, and then what should differ from the defaults. Where options
// are taken, NULL means the defaults. A struct that is filled in for the host begins with its
// size, too; the functions that do it return false if that is not set.
#ifndef TVMS_CONTEXT_H
#define TVMS_CONTEXT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// How a call ended. New numbers may be added.
typedef enum {
  TVMS_OK = 0,             // done; warnings and notes may have been reported
  TVMS_FOUND_ERRORS = 1,   // the text or the program is wrong; diagnostics say where
  TVMS_FAILED_IO = 2,      // a file could not be read or written
  TVMS_OVER_LIMIT = 3,     // no memory, or over a limit of the context
  TVMS_INTERNAL = 4,       // a defect of tvms
  TVMS_BAD_ARGUMENT = 5,   // an argument is not one that the function takes
  TVMS_NOT_AVAILABLE = 6,  // this build or installation cannot do that
} tvms_status;

// Everything that belongs together.
typedef struct tvms_context tvms_context;

// Allocates, resizes and frees memory, like realloc: `block` is NULL (then `old_size` is 0)
// or one that it returned with `old_size` bytes. With `new_size` 0 it frees the block and
// its result does not matter. Otherwise it returns `new_size` bytes aligned to 16, the
// content kept, or NULL, the block untouched. It must not call the library.
typedef void *tvms_allocator(void *user, void *block, size_t old_size, size_t new_size);

typedef struct {
  size_t size;  // sizeof(tvms_context_options)
  // Where memory comes from; NULL: pages of the system, which is fastest. The stack for
  // deep recursion is always mapped by the system.
  tvms_allocator *allocate;
  void *user;  // first argument of `allocate`

  // Limits. Over one of them a call ends with TVMS_OVER_LIMIT, except for `depth` and
  // `steps`, which are diagnostics in a text that needs more. 0: the default.
  size_t memory;  // bytes in use at once; default: no limit
  // Nesting of text and program; default 400,000. A call maps 2.5 KiB of address space per
  // level, which cost memory only where they are used.
  uint32_t depth;
  uint64_t steps;  // of evaluation in one call; default 1,000,000,000
  // Of one call, by the clock on the wall; default: no limit. Native code that runs is not
  // interrupted.
  uint64_t milliseconds;

  // For tests of the caller: the allocation with this number, counted from 1, fails.
  uint64_t fail_allocation;
} tvms_context_options;

// Makes a context. `*context` is owned by the caller, who destroys it; NULL on failure.
// TVMS_OVER_LIMIT: no memory. TVMS_BAD_ARGUMENT: options of a newer version. Any thread.
tvms_status tvms_context_create(const tvms_context_options *options,
                                tvms_context **context);

// Frees the context and everything that belongs to it. NULL is allowed.
void tvms_context_destroy(tvms_context *context);

// After TVMS_OVER_LIMIT and TVMS_INTERNAL a context is spent: what belongs to it may still
// be looked at, but functions that return a status return that one again. Returns it, or
// TVMS_OK as long as the context can be used.
tvms_status tvms_context_state(const tvms_context *context);

// Why the last call ended with a status beyond TVMS_FOUND_ERRORS, as a sentence without its
// full stop; "" if it did not. Valid until the next call that returns a status.
const char *tvms_context_message(const tvms_context *context);

// Bytes in use.
size_t tvms_context_memory(const tvms_context *context);

// Frees a text that a function gave its caller, before the context is destroyed. NULL is
// allowed. Texts of a spent context go with it.
void tvms_context_free(tvms_context *context, char *text);

// "found errors" and so on; "unknown status" for other numbers. Static. Any thread.
const char *tvms_status_name(tvms_status status);

// "0.1.0", the version of the library. Static. Any thread.
const char *tvms_library_version(void);

// Releases of TVM whose text is read, oldest first: "rfc", "0.22", … Each stands for all
// releases that spell alike, and where a function takes the name of a release, any of them
// will do ("0.23" means "0.22"). NULL beyond the last. Static. Any thread.
const char *tvms_release_name(uint32_t index);

#ifdef __cplusplus
}
#endif

#endif
