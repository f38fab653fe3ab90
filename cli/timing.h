// What each pass of a pipeline took.
#ifndef TVMS_CLI_TIMING_H
#define TVMS_CLI_TIMING_H

#include "cli/run.h"
#include "support/vec.h"

typedef struct {
  const char *pass;
  double seconds;
} tvms_timing;

typedef TVMS_VEC(tvms_timing) tvms_timings;

// Shows the passes in their order, with their share of the whole, on standard error.
void tvms_timing_show(tvms_run *run, const tvms_timings *timings);

#endif
