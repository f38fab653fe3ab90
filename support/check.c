// Implements the abort behind TVMS_CHECK.
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

void tvms_check_failed(const char *file, int line, const char *what) {
  fprintf(stderr, "tvms: internal error at %s:%d: %s\n", file, line, what);
  abort();
}
