// Linking with the system's tools: the compiler driver knows where libc and libm are.
//
// Nothing may stay undefined (-z defs) but weak symbols, which are tvm-ffi's and may be
// missing; so a library can be loaded by a program that knows nothing of TVM.
#define _GNU_SOURCE
#include "backend/link.h"

#include "backend/backend.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool tvms_backend_link_library(const char *object, const char *library,
                               tvms_strbuf *why) {
  // libm is needed even though its functions are weak; nothing else may be missing.
  const char *arguments[] = {
      "cc",  "-shared", "-o", library, object, "-Wl,-z,defs", "-Wl,--no-as-needed",
      "-lm", NULL};
  pid_t child;
  int error = posix_spawnp(&child, arguments[0], NULL, NULL,
                           (char *const *)(uintptr_t)arguments, environ);
  if (error == ENOENT) {
    tvms_strbuf_puts(
        why,
        "linking needs a C compiler, and 'cc' was not found "
        "(on Debian, install gcc); an object file (.o) can be written without one");
    return false;
  }
  if (error) {
    tvms_strbuf_printf(why, "cannot start 'cc': %s", strerror(error));
    return false;
  }
  int status;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return true;
  tvms_strbuf_puts(why, "'cc' could not link the library");
  return false;
}
