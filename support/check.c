// What a failed check does: it ends the process, or the call if the host must live on.
#include "support/check.h"

#include "support/memory.h"

#include <stdio.h>
#include <stdlib.h>

void tvms_check_failed(const char *file, int line, const char *what) {
  tvms_memory *memory = tvms_memory_innermost();
  if (memory && memory->catches_checks) {
    snprintf(memory->defect, sizeof memory->defect, "%s:%d: %s", file, line, what);
    tvms_memory_unwind(memory, TVMS_INTERNAL);
  }
  fprintf(stderr, "tvms: internal error at %s:%d: %s\n", file, line, what);
  abort();
}
