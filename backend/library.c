// dlopen, and the variables of tvm-ffi's interface that a library may have.
#define _GNU_SOURCE
#include "backend/library.h"

#include "vm/packed.h"
#include "vm/raise.h"

#include <dlfcn.h>
#include <string.h>

struct tvms_library {
  tvms_memory *memory;
  void *handle;
  tvms_vm_host host;
  tvms_resource resource;
};

static void close_handle(void *what) {
  dlclose(what);
}

tvms_library *tvms_backend_open_library(tvms_memory *memory, const char *path,
                                        const tvms_foreign *foreign, tvms_strbuf *why) {
  tvms_strbuf file;
  tvms_strbuf_init(&file, memory);
  // A name without a slash would be looked for in the system's folders.
  if (!strchr(path, '/')) tvms_strbuf_puts(&file, "./");
  tvms_strbuf_puts(&file, path);
  void *handle = dlopen(tvms_strbuf_text(&file), RTLD_LAZY | RTLD_LOCAL);
  tvms_strbuf_fini(&file);
  if (!handle) {
    tvms_strbuf_puts(why, dlerror());
    return NULL;
  }
  tvms_library *library = tvms_memory_alloc(memory, sizeof *library);
  *library = (tvms_library){.memory = memory,
                            .handle = handle,
                            .host = {.memory = memory, .foreign = foreign}};
  tvms_memory_hold(memory, &library->resource, close_handle, handle);
  for (size_t i = 0; tvms_vm_slots[i]; i++) {
    void **slot = dlsym(handle, tvms_vm_slots[i]);
    if (slot) tvms_vm_fill_slot(tvms_vm_slots[i], slot, &library->host);
  }
  return library;
}

tvms_safe_call tvms_backend_find_in_library(void *state, const char *name) {
  tvms_library *library = state;
  tvms_strbuf symbol;
  tvms_strbuf_init(&symbol, library->memory);
  tvms_strbuf_puts(&symbol, TVMS_SAFE_CALL_PREFIX);
  tvms_strbuf_puts(&symbol, name);
  void *address = dlsym(library->handle, tvms_strbuf_text(&symbol));
  tvms_strbuf_fini(&symbol);
  tvms_safe_call function;
  memcpy(&function, &address, sizeof function);
  return function;
}

void tvms_backend_close_library(tvms_library *library) {
  tvms_memory_release(library->memory, &library->resource);
  close_handle(library->handle);
  tvms_vm_host_fini(&library->host);
  tvms_memory_free(library->memory, library);
}
