// `tvms bench FILE`: how long a function takes, what it calls and how much it allocates.
//
// Native code is compiled once and runs without index checks, as a built library would.
#include "cli/files.h"
#include "cli/native.h"
#include "cli/program.h"
#include "driver/bench.h"

static tvms_status bench_source(tvms_run *run, tvms_source *source) {
  tvms_entry_call call;
  if (!tvms_run_find_entry(run, source, &call)) return TVMS_OK;
  if (!tvms_run_open_call(run, "llvm", false, &call)) return run->status;
  uint64_t repeat = run->options.repeat;
  tvms_bench_options options = {.repeat = repeat == UINT64_MAX ? 0 : repeat,
                                .by_function = run->options.profile != NULL};
  tvms_bench(&call.interp, call.entry, call.values, call.count, &options, &run->result);
  tvms_run_close_call(&call);
  return TVMS_OK;
}

tvms_status tvms_verb_bench(tvms_run *run) {
  if (!tvms_run_check_dialects(run, false)) return TVMS_FAILED_IO;
  if (run->options.paths.len != 1)
    return tvms_run_misused(run, "exactly one file must be given");
  return tvms_files_read_one(run, run->options.paths.items[0], bench_source);
}
