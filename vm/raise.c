// The functions have the names and the forms of tvm-ffi's C interface
// (include/tvm/ffi/c_api.h and extra/c_env_api.h): libraries that stock TVM has made refer to
// them by name, or through variables that who loads them fills in.
//
// An error has no place but the thread to wait in until the call has returned: the interface
// has no argument for one.
#include "vm/raise.h"

#include "support/memory.h"
#include "vm/packed.h"

#include <stdio.h>
#include <string.h>

enum { MOST_TEXT = 2048, MOST_KIND = 64 };

static _Thread_local struct {
  char kind[MOST_KIND];
  char text[MOST_TEXT];
} pending;

void tvms_vm_take_raised(tvms_vm_raised *raised) {
  *raised = (tvms_vm_raised){pending.kind[0] ? pending.kind : "RuntimeError",
                             pending.text[0] ? pending.text : "no reason given"};
}

void tvms_vm_raise(const char *kind, const char *text) {
  snprintf(pending.kind, sizeof pending.kind, "%s", kind);
  snprintf(pending.text, sizeof pending.text, "%s", text);
}

void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts,
                                       int32_t count) {
  size_t len = 0;
  tvms_vm_raise(kind, "");
  for (int32_t i = 0; i < count && len < sizeof pending.text - 1; i++) {
    if (!parts[i]) continue;
    snprintf(pending.text + len, sizeof pending.text - len, "%s", parts[i]);
    len += strlen(pending.text + len);
  }
}

// A library looks its packed functions up when it calls them first, on the one thread that there is.
static int init_once(void **handle, int (*init)(void **result)) {
  return *handle ? 0 : init(handle);
}

// ---- Threads and memory of kernels ----

typedef struct {
  void *sync;
  int32_t tasks;
} task_group;

typedef int (*task)(int id, task_group *group, void *data);

// As one thread: tasks of a group that wait for each other are not among what TVM's CPU code has.
static int launch(task run, void *data, int count) {
  task_group group = {NULL, count > 0 ? count : 1};
  for (int i = 0; i < group.tasks; i++) {
    int failed = run(i, &group, data);
    if (failed) return failed;
  }
  return 0;
}

static int wait_for_others(int id, task_group *group) {
  (void)id, (void)group;
  return 0;
}

static void *allocate(int device, int id, uint64_t size, int code, int bits) {
  (void)device, (void)id, (void)code, (void)bits;
  tvms_memory *memory = tvms_memory_innermost();
  if (!memory || size > SIZE_MAX / 2) return NULL;
  // In front of the block, which is aligned to 64 bytes, stands what was allocated.
  char *block = tvms_memory_alloc(memory, (size_t)size + 128);
  char *aligned = block + 128 - ((uintptr_t)block & 63);
  memcpy(aligned - sizeof block, &block, sizeof block);
  return aligned;
}

static int release(int device, int id, void *aligned) {
  (void)device, (void)id;
  tvms_memory *memory = tvms_memory_innermost();
  if (!memory || !aligned) return 0;
  void *block;
  memcpy(&block, (char *)aligned - sizeof block, sizeof block);
  tvms_memory_free(memory, block);
  return 0;
}

typedef void (*any_function)(void);

static const struct {
  const char *name;
  any_function function;
} provided[] = {
    {TVMS_RAISE_SLOT, (any_function)tvms_vm_raise},
    {"__TVMFFIErrorSetRaisedFromCStrParts",
     (any_function)TVMFFIErrorSetRaisedFromCStrParts},
    {TVMS_FIND_SLOT, (any_function)tvms_vm_find_packed},
    {"__TVMBackendGetFuncFromEnv", (any_function)tvms_vm_find_packed},  // up to 0.25
    {TVMS_CALL_SLOT, (any_function)tvms_vm_call_packed},
    {"__TVMFFIHandleInitOnce", (any_function)init_once},
    {"__TVMBackendParallelLaunch", (any_function)launch},
    {"__TVMBackendParallelBarrier", (any_function)wait_for_others},
    {"__TVMBackendAllocWorkspace", (any_function)allocate},
    {"__TVMBackendFreeWorkspace", (any_function)release},
};

const char *const tvms_vm_slots[] = {
    TVMS_LIBRARY_SLOT,
    TVMS_RAISE_SLOT,
    "__TVMFFIErrorSetRaisedFromCStrParts",
    TVMS_FIND_SLOT,
    "__TVMBackendGetFuncFromEnv",
    TVMS_CALL_SLOT,
    "__TVMFFIHandleInitOnce",
    "__TVMBackendParallelLaunch",
    "__TVMBackendParallelBarrier",
    "__TVMBackendAllocWorkspace",
    "__TVMBackendFreeWorkspace",
    NULL,
};

void tvms_vm_fill_slot(const char *name, void **slot, void *host) {
  if (strcmp(name, TVMS_LIBRARY_SLOT) == 0) *slot = host;
  for (size_t i = 0; i < sizeof provided / sizeof provided[0]; i++) {
    if (strcmp(provided[i].name, name) != 0) continue;
    any_function function = provided[i].function;
    memcpy(slot, &function, sizeof function);
  }
}
