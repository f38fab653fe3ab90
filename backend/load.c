// Finding the plug-in: in the folder of the build tree, or where it is installed, also when
// the installed tree was moved as a whole.
//
// What looks for it is a program or the shared library; the places are seen from its folder.
// The static library cannot load anything and says so.
#define _GNU_SOURCE
#include "backend/load.h"

#ifdef TVMS_WITHOUT_PLUGIN

const tvms_backend *tvms_backend_load(tvms_strbuf *why) {
  tvms_strbuf_puts(why, "the static library cannot load it; link to libtvms.so");
  return NULL;
}

#else

#  include "backend/backend.h"

#  include <dlfcn.h>
#  include <stdlib.h>
#  include <string.h>
#  include <unistd.h>

static const char plugin[] = "libtvms-llvm.so";
static const char threads[] = "libtvms_rt.a";

const tvms_backend *tvms_backend_open(const char *path, tvms_strbuf *why) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    tvms_strbuf_puts(why, dlerror());
    return NULL;
  }
  const tvms_backend *backend = dlsym(library, TVMS_BACKEND_ENTRY);
  if (backend && backend->version == TVMS_BACKEND_VERSION) return backend;
  tvms_strbuf_printf(why, "%s belongs to a different version of tvms", path);
  return NULL;
}

// The file that this code is in, and whether it is the shared library and not the program.
static bool add_own_path(tvms_strbuf *path) {
  Dl_info info;
  char program[4096];
  void *here = (void *)(uintptr_t)add_own_path;
  if (dladdr(here, &info) && info.dli_fname && strstr(info.dli_fname, ".so")) {
    tvms_strbuf_puts(path, info.dli_fname);
    return true;
  }
  ssize_t len = readlink("/proc/self/exe", program, sizeof program);
  if (len > 0) tvms_strbuf_add(path, program, (size_t)len);
  return false;
}

// Takes `tail`, some folders, off the end of a path; false if it does not end so.
static bool cut(tvms_strbuf *path, const char *tail) {
  size_t len = strlen(tail);
  if (path->len <= len || memcmp(path->text + path->len - len, tail, len) != 0)
    return false;
  if (path->text[path->len - len - 1] != '/') return false;
  path->len -= len + 1;
  return true;
}

// The places to try, from the folder `base`; the last one is absolute.
static bool make_path(tvms_strbuf *path, const tvms_strbuf *base, uint32_t index) {
  path->len = 0;
  if (index < 4) tvms_strbuf_add(path, base->text, base->len);
  switch (index) {
  case 0: tvms_strbuf_puts(path, "/backend"); return true;     // the program when built
  case 1: tvms_strbuf_puts(path, "/../backend"); return true;  // the library when built
  case 2:
    if (cut(path, TVMS_BINDIR)) tvms_strbuf_puts(path, "/" TVMS_LIBDIR);
    tvms_strbuf_puts(path, "/tvms");
    return true;
  case 3: return true;  // beside it
  case 4:
    tvms_strbuf_puts(path, TVMS_LIBDIR[0] == '/' ? "" : TVMS_PREFIX "/");
    tvms_strbuf_puts(path, TVMS_LIBDIR "/tvms");
    return true;
  default: return false;
  }
}

// The path of a file that belongs to this one; false, and a reason in `why`, if there is none.
static bool find_beside(const char *name, tvms_strbuf *path, tvms_strbuf *why) {
  tvms_strbuf base;
  tvms_strbuf_init(&base, why->memory);
  bool library = add_own_path(&base);
  while (base.len && base.text[base.len - 1] != '/') {
    base.len--;
  }
  if (base.len) base.len--;
  bool seen = false;
  for (uint32_t i = 0; !seen && make_path(path, &base, i); i++) {
    tvms_strbuf_printf(path, "/%s", name);
    seen = access(tvms_strbuf_text(path), R_OK) == 0;
  }
  if (!seen) {
    tvms_strbuf_printf(why, "%s is not beside the %s", name,
                       library ? "library" : "program");
  }
  tvms_strbuf_fini(&base);
  return seen;
}

const tvms_backend *tvms_backend_load(tvms_strbuf *why) {
  tvms_strbuf path;
  tvms_strbuf_init(&path, why->memory);
  bool found = find_beside(plugin, &path, why);
  const tvms_backend *backend = found ? tvms_backend_open(path.text, why) : NULL;
  tvms_strbuf_fini(&path);
  return backend;
}

bool tvms_backend_find_threads(tvms_strbuf *path, tvms_strbuf *why) {
  return find_beside(threads, path, why);
}

#endif
