// Names are looked up once: a library keeps what it has found, or asks again at each call.
#include "vm/packed.h"

#include "runtime/packed.h"
#include "vm/raise.h"

#include <stdio.h>
#include <string.h>

struct tvms_vm_packed {
  const tvms_vm_host *host;
  tvms_packed_function *TVMS_NULLABLE run;  // of the run time; NULL: of a plug-in
  char name[];
};

void tvms_vm_host_fini(tvms_vm_host *host) {
  for (uint32_t i = 0; i < host->found.len; i++)
    tvms_memory_free(host->memory, host->found.items[i]);
  tvms_vec_fini(host->memory, &host->found);
}

static tvms_vm_packed *add(tvms_vm_host *host, const char *name,
                           tvms_packed_function *run) {
  size_t size = strlen(name) + 1;
  tvms_vm_packed *made = tvms_memory_alloc(host->memory, sizeof *made + size);
  made->host = host;
  made->run = run;
  memcpy(made->name, name, size);
  tvms_vec_push(host->memory, &host->found, made);
  return made;
}

static tvms_vm_packed *TVMS_NULLABLE find(tvms_vm_host *host, const char *name) {
  for (uint32_t i = 0; i < host->found.len; i++) {
    if (strcmp(host->found.items[i]->name, name) == 0) return host->found.items[i];
  }
  tvms_packed_function *run = tvms_packed_find(name, strlen(name));
  bool there = run || tvms_interp_foreign_has(host->foreign, name);
  return there ? add(host, name, run) : NULL;
}

int tvms_vm_find_packed(void *library, const char *name, void **handle) {
  tvms_vm_packed *found = find(library, name);
  *handle = found;
  if (found) return 0;
  char text[256];
  snprintf(text, sizeof text, "there is no packed function '%s'", name);
  tvms_vm_raise("ValueError", text);
  return -1;
}

int tvms_vm_call_packed(void *handle, const tvms_any *args, int32_t count,
                        tvms_any *result) {
  const tvms_vm_packed *function = handle;
  const char *kind = "ValueError", *wrong;
  *result = (tvms_any){0};
  if (function->run)
    wrong = function->run(function->host->memory, args, count);
  else
    wrong = tvms_interp_foreign_object(function->host->foreign, function->name, args,
                                       count, result, &kind);
  if (wrong) tvms_vm_raise(kind, wrong);
  return wrong ? -1 : 0;
}
