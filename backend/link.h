// Linking with the system's tools: the compiler driver knows where libc and libm are.
#ifndef TVMS_BACKEND_LINK_H
#define TVMS_BACKEND_LINK_H

#include "backend/backend.h"

// Links an object file into a shared library with the system's C compiler driver, and with the
// threads of tvms if the object has parallel loops: `code` is what is in the file. Returns false
// and a reason in `why`.
TVMS_NODISCARD bool tvms_backend_link_library(const char *object,
                                              const tvms_strbuf *code,
                                              const char *library, tvms_strbuf *why);

// Puts an object file into a new archive, in place of an old one. Returns false and a reason in `why`.
TVMS_NODISCARD bool tvms_backend_archive(const char *object, const char *archive,
                                         tvms_strbuf *why);

#endif
