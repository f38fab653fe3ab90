// What the calls of one run took: by function, in the order of time, and as a page.
//
// Calls are recorded as the interpreter makes them, of native code and of PrimFuncs that it
// interprets; so functions of Relax are interpreted. Times are wall time.
#ifndef TVMS_DRIVER_PROFILE_H
#define TVMS_DRIVER_PROFILE_H

#include "interp/interp.h"
#include "support/strbuf.h"
#include "support/vec.h"

// One call.
typedef struct {
  const tvms_member *member;
  uint32_t outer;  // the call that made it; UINT32_MAX: none
  uint32_t depth;  // calls around it
  tvms_span span;  // where it is called; {0, 0}: from outside
  double begin;    // seconds since the first call began
  double end;
  uint64_t bytes;  // of the tensors that it was given, results included
  double work;     // floating-point operations (driver/profile_work.h); 0: not known
  uint64_t alive;  // bytes of all tensors when it ended
} tvms_profile_event;

typedef struct {
  tvms_interp *interp;
  tvms_memory *memory;
  double origin;
  TVMS_VEC(tvms_profile_event) events;  // in the order in which they begin
  TVMS_VEC(uint32_t) open;              // calls in progress, innermost last
} tvms_profile;

// Calls of `interp` are recorded from here on. The profile lives in the caller's storage, and
// as long as the interpreter is used.
void tvms_profile_init(tvms_profile *profile, tvms_interp *interp);

// Frees what was recorded; calls are no more recorded.
void tvms_profile_fini(tvms_profile *profile);

// Floating-point operations per second that one core of this machine can do at most: two
// vectors per cycle, at the clock that is measured here (a few milliseconds). 0: the width of
// its vectors is not known.
double tvms_profile_peak(tvms_context *context);

// Appends a table: a line for each function, the one that takes longest first, with its calls,
// its own time (without that of functions that it calls), operations and bytes per second,
// and its share of the peak.
void tvms_profile_table(const tvms_profile *profile, tvms_strbuf *out);

#endif
