// What every fuzz target shares: a context with limits, and a protected call of the work.
#ifndef TVMS_TESTS_FUZZ_H
#define TVMS_TESTS_FUZZ_H

#include "support/context.h"

#include <stdlib.h>

typedef struct {
  tvms_context context;
  const char *text;
  size_t size;
} fuzz_input;

// The work of a target. It aborts where a promise of tvms does not hold.
void fuzz_one(fuzz_input *input);

#define FUZZ_CHECK(condition)                                                          \
  do {                                                                                 \
    if (!(condition)) abort();                                                         \
  } while (0)

#endif
