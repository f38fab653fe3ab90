// How long a function takes, what it calls and how much it allocates.
//
// One run warms caches and is not counted. Times are wall time; the median is what to look
// at, the least what the machine can do.
#ifndef TVMS_DRIVER_BENCH_H
#define TVMS_DRIVER_BENCH_H

#include "interp/interp.h"
#include "support/strbuf.h"

typedef struct {
  uint64_t repeat;   // runs to time; 0: as many as fit in a second, at least 3
  bool by_function;  // also the time of each function
} tvms_bench_options;

// Times calls of `entry` by the interpreter, which may have compiled code, and appends
// what they took. False if a call failed, which was reported.
bool tvms_bench(const tvms_interp *interp, const tvms_member *entry,
                const tvms_value *values, uint32_t count,
                const tvms_bench_options *options, tvms_strbuf *out);

#endif
