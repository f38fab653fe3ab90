// Time for measurements. Who includes this defines _POSIX_C_SOURCE.
#ifndef TVMS_DRIVER_CLOCK_H
#define TVMS_DRIVER_CLOCK_H

#include <time.h>

// Seconds on a clock that is never set, from some moment on.
static inline double tvms_clock_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

#endif
