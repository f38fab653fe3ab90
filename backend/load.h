// Finding the plug-in: beside the program in a build tree, in lib/tvms when installed.
#ifndef TVMS_BACKEND_LOAD_H
#define TVMS_BACKEND_LOAD_H

#include "backend/backend.h"

// Loads the plug-in from beside the program. Returns NULL and a reason in `why`. It stays
// loaded to the end of the process: LLVM does not support being unloaded.
const tvms_backend *TVMS_NULLABLE tvms_backend_load(tvms_strbuf *why);

// The archive with the threads of parallel loops (runtime/parallel.h), which is beside the
// plug-in. False and a reason in `why` if it is not there.
TVMS_NODISCARD bool tvms_backend_find_threads(tvms_strbuf *path, tvms_strbuf *why);

// As tvms_backend_load, from a path.
const tvms_backend *TVMS_NULLABLE tvms_backend_open(const char *path, tvms_strbuf *why);

#endif
