// dlopen, and a list of names. Where a library has tvm-ffi with it, that is asked for names that nothing defines.
#define _GNU_SOURCE
#include "backend/plugin.h"

#include "support/vec.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

// A text of tvm-ffi's.
typedef struct {
  const char *data;
  size_t size;
} ffi_bytes;

typedef int (*ffi_find)(const ffi_bytes *name, void **function);
typedef int (*ffi_call)(void *function, const tvms_any *args, int32_t count,
                        tvms_any *result);
typedef void (*ffi_take)(void **error);
typedef int (*open_plugin)(tvms_plugin *plugin);

typedef struct {
  char *name;
  tvms_safe_call call;
  void *self;
} definition;

struct tvms_plugins {
  tvms_plugin interface;  // the first member: plug-ins hand its address back
  tvms_memory *memory;
  tvms_foreign foreign;
  TVMS_VEC(definition) definitions;
  TVMS_VEC(void *) handles;  // of the libraries
  ffi_find find;             // of tvm-ffi; NULL: it is not there
  ffi_call call;
  ffi_take take;
  bool raised;  // the texts are of an error that nobody has asked for
  char kind[64];
  char text[1024];
};

// ---- What plug-ins call ----

static void define(tvms_plugin *plugin, const char *name, tvms_safe_call function,
                   void *self) {
  tvms_plugins *all = (tvms_plugins *)plugin;
  size_t size = strlen(name) + 1;
  definition made = {tvms_memory_alloc(all->memory, size), function, self};
  memcpy(made.name, name, size);
  tvms_vec_push(all->memory, &all->definitions, made);
}

static void raise_error(tvms_plugin *plugin, const char *kind, const char *text) {
  tvms_plugins *all = (tvms_plugins *)plugin;
  all->raised = true;
  snprintf(all->kind, sizeof all->kind, "%s", kind);
  snprintf(all->text, sizeof all->text, "%s", text);
}

// ---- What is asked of them ----

// The last one of a name counts.
static bool find(void *state, const char *name, tvms_safe_call *call, void **self) {
  tvms_plugins *all = state;
  for (uint32_t i = all->definitions.len; i-- > 0;) {
    if (strcmp(all->definitions.items[i].name, name) != 0) continue;
    *call = all->definitions.items[i].call;
    *self = all->definitions.items[i].self;
    return true;
  }
  ffi_bytes bytes = {name, strlen(name)};
  void *function = NULL;
  if (!all->find || all->find(&bytes, &function) != 0 || !function) return false;
  *call = all->call;
  *self = function;
  return true;
}

// The library that was loaded last counts, as for definitions.
static void *symbol(void *state, const char *name) {
  tvms_plugins *all = state;
  void *address = NULL;
  for (uint32_t i = all->handles.len; i-- > 0 && !address;)
    address = dlsym(all->handles.items[i], name);
  return address;
}

// An error of tvm-ffi begins with its kind and its text.
static void take_error(tvms_plugins *all) {
  void *error = NULL;
  if (all->take) all->take(&error);
  if (!error) return;
  const ffi_bytes *texts = (const void *)((char *)error + TVMS_OBJECT_HEAD);
  all->raised = true;
  snprintf(all->kind, sizeof all->kind, "%.*s", (int)texts[0].size, texts[0].data);
  snprintf(all->text, sizeof all->text, "%.*s", (int)texts[1].size, texts[1].data);
}

static const char *last_error(void *state, const char **kind) {
  tvms_plugins *all = state;
  if (!all->raised) take_error(all);
  if (!all->raised) raise_error(&all->interface, "RuntimeError", "it failed");
  all->raised = false;
  *kind = all->kind;
  return all->text;
}

// ---- Loading ----

tvms_plugins *tvms_backend_plugins_new(tvms_memory *memory) {
  tvms_plugins *all = tvms_memory_alloc(memory, sizeof *all);
  *all = (tvms_plugins){.interface = {TVMS_PLUGIN_VERSION, define, raise_error},
                        .memory = memory};
  all->foreign = (tvms_foreign){all, find, symbol, last_error};
  return all;
}

// The address of a function of a library, as a pointer to a function.
static bool take_function(void *handle, const char *name, void *function) {
  void *address = dlsym(handle, name);
  memcpy(function, &address, sizeof address);
  return address != NULL;
}

static bool open_in(tvms_plugins *all, void *handle, tvms_strbuf *why) {
  open_plugin open;
  bool has_ffi = take_function(handle, "TVMFFIFunctionGetGlobal", &all->find)
                 && take_function(handle, "TVMFFIFunctionCall", &all->call);
  take_function(handle, "TVMFFIErrorMoveFromRaised", &all->take);
  if (!has_ffi) all->find = NULL;
  tvms_vec_push(all->memory, &all->handles, handle);
  // One of functions of C defines nothing.
  if (!take_function(handle, "tvms_plugin_open", &open)) return true;
  if (open(&all->interface) == 0) return true;
  tvms_strbuf_printf(why, "%s: %s", all->kind, all->text);
  return false;
}

bool tvms_backend_plugins_open(tvms_plugins *plugins, const char *path,
                               tvms_strbuf *why) {
  tvms_strbuf file;
  tvms_strbuf_init(&file, plugins->memory);
  // A name without a slash would be looked for in the system's folders.
  if (!strchr(path, '/')) tvms_strbuf_puts(&file, "./");
  tvms_strbuf_puts(&file, path);
  void *handle = dlopen(tvms_strbuf_text(&file), RTLD_NOW | RTLD_GLOBAL);
  tvms_strbuf_fini(&file);
  if (handle) return open_in(plugins, handle, why);
  tvms_strbuf_puts(why, dlerror());
  return false;
}

const tvms_foreign *tvms_backend_plugins_foreign(const tvms_plugins *plugins) {
  return &plugins->foreign;
}

void tvms_backend_plugins_free(tvms_plugins *plugins) {
  for (uint32_t i = 0; i < plugins->definitions.len; i++)
    tvms_memory_free(plugins->memory, plugins->definitions.items[i].name);
  tvms_vec_fini(plugins->memory, &plugins->definitions);
  tvms_vec_fini(plugins->memory, &plugins->handles);
  tvms_memory_free(plugins->memory, plugins);
}
