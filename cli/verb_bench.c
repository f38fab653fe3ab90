// `tvms bench FILE`: how long a function takes, what it calls and how much it allocates.
//
// Native code is compiled once and runs without index checks, as a built library would: Relax
// functions are compiled, too, unless each function shall be timed, or they cannot be.
#include "cli/files.h"
#include "cli/native.h"
#include "cli/profile.h"
#include "cli/program.h"
#include "driver/bench.h"
#include "interp/prim.h"

#include <string.h>

// One more call, which is recorded.
static void record(tvms_run *run, tvms_entry_call *call) {
  tvms_profile profile;
  tvms_value result;
  tvms_profile_init(&profile, &call->interp);
  tvms_status status =
      tvms_interp_call(&call->interp, call->entry, call->values, call->count, &result);
  if (status == TVMS_OK) {
    tvms_value_drop(result);
    tvms_run_worsen(run, tvms_run_show_profile(run, &profile, call->entry));
  }
  tvms_profile_fini(&profile);
}

static tvms_status bench_source(tvms_run *run, tvms_source *source) {
  tvms_entry_call call;
  const char *backend = run->options.backend;
  bool whole = !run->options.profile && !tvms_run_writes_profile(run)
               && (!backend || strcmp(backend, "llvm") == 0);
  if (!tvms_run_find_entry(run, source, whole, &call)) return TVMS_OK;
  if (!tvms_run_open_call(run, "llvm", false, &call)) return run->status;
  uint64_t repeat = run->options.repeat;
  tvms_bench_options options = {.repeat = repeat == UINT64_MAX ? 0 : repeat,
                                .by_function = run->options.profile != NULL};
  bool done = tvms_bench(&call.interp, call.entry, call.values, call.count, &options,
                         &run->result);
  if (done && tvms_run_writes_profile(run)) record(run, &call);
  tvms_run_close_call(&call);
  return TVMS_OK;
}

tvms_status tvms_verb_bench(tvms_run *run) {
  const char *profile = run->options.profile;
  if (profile && strcmp(profile, "instructions") == 0)
    return tvms_run_misused(run, "--profile instructions goes with run");
  if (!tvms_run_check_dialects(run, false)) return TVMS_FAILED_IO;
  if (run->options.paths.len != 1)
    return tvms_run_misused(run, "exactly one file must be given");
  if (!tvms_run_check_profile(run) || !tvms_run_check_inputs(run)) return run->status;
  return tvms_files_read_one(run, run->options.paths.items[0], bench_source);
}
