// Linking with the system's tools: the compiler driver knows where libc and libm are.
#ifndef TVMS_BACKEND_LINK_H
#define TVMS_BACKEND_LINK_H

#include "backend/backend.h"

// Links an object file into a shared library with the system's C compiler driver, with `count` other files, and with the
// threads of tvms if the object has parallel loops: `code` is what is in the file. Returns false
// and a reason in `why`: what the linker has said in English, if it has said anything.
TVMS_NODISCARD bool tvms_backend_link_library(const char *object,
                                              const tvms_strbuf *code,
                                              const char *const *files, uint32_t count,
                                              const char *library, tvms_strbuf *why);

// Makes an object with parallel loops need the threads, which it uses only if they are there: a linker takes nothing out
// of an archive for a weak symbol.
void tvms_backend_ask_for_threads(tvms_strbuf *object);

// Puts an object file into a new archive, in place of an old one, with_run_time: and what libtvms_rt.a has.
// Returns false and a reason in `why`.
TVMS_NODISCARD bool tvms_backend_archive(const char *object, bool with_run_time,
                                         const char *archive, tvms_strbuf *why);

#endif
