// Finding the plug-in: beside the program in a build tree, in lib/tvms when installed.
#define _GNU_SOURCE
#include "backend/load.h"

#include "backend/backend.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char plugin[] = "libtvms-llvm.so";

const tvms_backend *tvms_backend_open(const char *path, tvms_strbuf *why) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    tvms_strbuf_puts(why, dlerror());
    return NULL;
  }
  const tvms_backend *backend = dlsym(library, TVMS_BACKEND_ENTRY);
  if (backend && backend->version == TVMS_BACKEND_VERSION) return backend;
  tvms_strbuf_printf(why, "%s is of another version of tvms", path);
  return NULL;
}

const tvms_backend *tvms_backend_load(tvms_strbuf *why) {
  static const char *const folders[] = {"backend", ".", "../lib/tvms"};
  char base[4096], path[4200];
  ssize_t len = readlink("/proc/self/exe", base, sizeof base - 1);
  base[len < 0 ? 0 : len] = '\0';
  char *slash = strrchr(base, '/');
  if (slash) *slash = '\0';
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
    snprintf(path, sizeof path, "%s/%s/%s", base, folders[i], plugin);
    if (access(path, R_OK) == 0) return tvms_backend_open(path, why);
  }
  tvms_strbuf_printf(why, "%s is not beside the program", plugin);
  return NULL;
}
