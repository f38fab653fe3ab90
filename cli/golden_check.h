// Lines CHECK of golden files: parts of an output that must be there, or must not, in order.
#ifndef TVMS_CLI_GOLDEN_CHECK_H
#define TVMS_CLI_GOLDEN_CHECK_H

#include "cli/golden.h"

// The first check that does not hold.
typedef struct {
  const tvms_golden_check *TVMS_NULLABLE check;  // NULL: all hold
  uint32_t line;   // of the output: where the search began, or what CHECK-NOT found
  tvms_span text;  // of that line; {0, 0} if there is none
} tvms_golden_miss;

// Looks for the checks in `len` bytes of output. A name that a check binds lives as long as
// the call.
tvms_golden_miss tvms_golden_find_checks(const tvms_golden *golden, const char *output,
                                         size_t len);

#endif
