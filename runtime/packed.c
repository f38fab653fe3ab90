// Names of packed functions.
#include "runtime/packed.h"

#include <string.h>

static const struct {
  const char *name;
  tvms_packed_function *run;
} functions[] = {
    {"tvm.contrib.sort.argsort", tvms_packed_argsort},
    {"tvm.contrib.sort.argsort_nms", tvms_packed_argsort_nms},
    {"tvm.contrib.sort.sort", tvms_packed_sort},
    {"tvm.contrib.sort.topk", tvms_packed_topk},
};

tvms_packed_function *tvms_packed_find(const char *name, size_t len) {
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    const char *known = functions[i].name;
    if (strlen(known) == len && memcmp(known, name, len) == 0) return functions[i].run;
  }
  return NULL;
}
