// Plug-ins of `run --plugin`: shared libraries that define functions (include/tvms/plugin.h), register
// them with tvm-ffi, or export functions of C.
//
// Opening one runs its code: only what a user names is opened.
#ifndef TVMS_BACKEND_PLUGIN_H
#define TVMS_BACKEND_PLUGIN_H

#include "interp/foreign.h"
#include "support/strbuf.h"

typedef struct tvms_plugins tvms_plugins;

// No plug-in yet, in `memory`.
tvms_plugins *tvms_backend_plugins_new(tvms_memory *memory);

// Loads a shared library and lets it define its functions. False, and a reason in `why`, if the system or the
// plug-in refuses.
bool tvms_backend_plugins_open(tvms_plugins *plugins, const char *path,
                               tvms_strbuf *why);

// Their functions; valid as long as they are.
const tvms_foreign *tvms_backend_plugins_foreign(const tvms_plugins *plugins);

// Forgets the functions. The libraries stay loaded until the process ends: they may have started threads.
void tvms_backend_plugins_free(tvms_plugins *plugins);

#endif
