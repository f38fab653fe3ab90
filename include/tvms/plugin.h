// Functions of your own for `tvms run --plugin FILE`: what programs call by name with R.call_packed,
// R.call_pure_packed, R.call_dps_packed, T.call_packed and T.call_extern.
//
//   int tvms_plugin_open(tvms_plugin *plugin) {
//     plugin->define(plugin, "my.scale", scale, plugin);
//     return 0;
//   }
//
// Functions of C that a library exports are reached by T.call_extern as they are, with or without this header.
//
// A function has TVM's calling convention, with the layouts of tvm-ffi 0.1 and later. This header is all
// that a plug-in needs; it links to nothing of tvms.
#ifndef TVMS_PLUGIN_H
#define TVMS_PLUGIN_H

#include <tvms/run.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a tvms_any holds.
enum {
  TVMS_ANY_NONE = 0,
  TVMS_ANY_INT = 1,
  TVMS_ANY_BOOL = 2,
  TVMS_ANY_FLOAT = 3,
  TVMS_ANY_POINTER = 4,
  TVMS_ANY_DL_TENSOR = 7,  // a borrowed tvms_dl_tensor *
  TVMS_ANY_TEXT = 8,       // a borrowed const char *
  TVMS_ANY_OBJECT = 64,    // the first kind that is an object with a reference count
  TVMS_ANY_FUNCTION =
      68,  // an object: a tvms_safe_call after its head, whose `self` it is
  TVMS_ANY_SHAPE = 69,   // an object: {int64_t *sizes, size_t count} after its head
  TVMS_ANY_TENSOR = 70,  // an object: a tvms_dl_tensor after its head
  TVMS_ANY_ARRAY = 71  // an object: {tvms_any *items, int64_t count, …} after its head
};

// One argument or result.
typedef struct {
  int32_t type_index;
  uint32_t padding;  // zero
  union {
    int64_t i;
    double f;
    void *p;
  } v;
} tvms_any;

// Head of an object. `deleter` frees it; flags: 3.
typedef struct tvms_any_object tvms_any_object;
struct tvms_any_object {
  uint64_t references;  // 0x100000001: one
  int32_t type_index;
  uint32_t padding;
  void (*deleter)(void *object, int flags);  // NULL: it belongs to somebody else
};

// A function. Arguments are borrowed for the call: numbers, texts, tensors (TVMS_ANY_DL_TENSOR), shapes
// and tuples (TVMS_ANY_ARRAY). *result comes in as TVMS_ANY_NONE; it may become a number, one of the
// arguments, or an object that the caller gets. Returns 0, or -1 after tvms_plugin.raise.
typedef int (*tvms_safe_call)(void *self, const tvms_any *args, int32_t count,
                              tvms_any *result);

typedef struct tvms_plugin tvms_plugin;

// What a plug-in may call, as long as it is loaded; on the thread that calls its functions.
struct tvms_plugin {
  uint32_t version;  // TVMS_PLUGIN_VERSION
  // Gives a function a name, which is copied; an earlier one of that name is forgotten.
  void (*define)(tvms_plugin *plugin, const char *name, tvms_safe_call function,
                 void *self);
  // Says why a function fails: a kind such as "ValueError", and a text; both are copied.
  void (*raise)(tvms_plugin *plugin, const char *kind, const char *text);
};

enum { TVMS_PLUGIN_VERSION = 1 };

// What a plug-in exports. Returns 0, or -1 after plugin->raise.
int tvms_plugin_open(tvms_plugin *plugin);

#ifdef __cplusplus
}
#endif

#endif
