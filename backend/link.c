// Linking with the system's tools: the compiler driver knows where libc and libm are.
//
// Nothing may stay undefined (-z defs) but weak symbols, which are tvm-ffi's and may be
// missing; so a library can be loaded by a program that knows nothing of TVM.
#define _GNU_SOURCE
#include "backend/link.h"

#include "backend/backend.h"
#include "backend/core/parallel.h"
#include "backend/load.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// Does the object ask for the threads? It names the symbol if so, and nothing else has this name.
static bool has_parallel_loops(const tvms_strbuf *code) {
  return memmem(code->text, code->len, TVMS_PARALLEL_LAUNCH,
                sizeof TVMS_PARALLEL_LAUNCH)
         != NULL;
}

static bool run_driver(const char *const *arguments, tvms_strbuf *why) {
  pid_t child;
  int error = posix_spawnp(&child, arguments[0], NULL, NULL,
                           (char *const *)(uintptr_t)arguments, environ);
  if (error == ENOENT) {
    tvms_strbuf_printf(
        why,
        "libraries and archives need the tools of a C compiler, and '%s' was not found "
        "(on Debian, install gcc); an object file (.o) can be written without them",
        arguments[0]);
    return false;
  }
  if (error) {
    tvms_strbuf_printf(why, "cannot start '%s': %s", arguments[0], strerror(error));
    return false;
  }
  int status;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  tvms_strbuf_printf(why, "'%s' failed", arguments[0]);
  return false;
}

bool tvms_backend_link_library(const char *object, const tvms_strbuf *code,
                               const char *library, tvms_strbuf *why) {
  tvms_strbuf threads;
  tvms_strbuf_init(&threads, why->memory);
  bool parallel = has_parallel_loops(code);
  bool linked = !parallel || tvms_backend_find_threads(&threads, why);
  // libm is needed even though its functions are weak; nothing else may be missing. What is
  // weak takes nothing out of an archive by itself.
  const char *arguments[] = {"cc",
                             "-shared",
                             "-o",
                             library,
                             object,
                             "-Wl,-z,defs",
                             "-Wl,--no-as-needed",
                             "-lm",
                             parallel ? "-Wl,-u," TVMS_PARALLEL_LAUNCH : NULL,
                             parallel ? tvms_strbuf_text(&threads) : NULL,
                             "-pthread",
                             NULL};
  if (linked) linked = run_driver(arguments, why);
  tvms_strbuf_fini(&threads);
  return linked;
}

bool tvms_backend_archive(const char *object, const char *archive, tvms_strbuf *why) {
  const char *arguments[] = {"ar", "rcs", archive, object, NULL};
  unlink(archive);
  return run_driver(arguments, why);
}
