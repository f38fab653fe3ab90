// `tvms bench FILE`: how long a function takes, what it calls and how much it allocates.
//
// Native code is compiled once and runs without index checks, as a built library would.
#include "cli/files.h"
#include "cli/native.h"
#include "cli/program.h"
#include "driver/bench.h"

static void run_bench(tvms_run *run, const tvms_module *module,
                      const tvms_member *entry, tvms_heap *heap,
                      tvms_compiled *compiled) {
  uint32_t count = tvms_inputs_param_count(entry);
  tvms_value *values = tvms_arena_array(&run->context->arena, tvms_value, count);
  if (!tvms_run_make_inputs(run, entry, heap, values)) return;
  tvms_interp interp = {.context = run->context, .module = module, .heap = heap};
  tvms_compiled_use(compiled, &interp);
  uint64_t repeat = run->options.repeat;
  tvms_bench_options options = {.repeat = repeat == UINT64_MAX ? 0 : repeat,
                                .by_function = run->options.profile != NULL};
  tvms_bench(&interp, entry, values, count, &options, &run->result);
}

static tvms_status bench_source(tvms_run *run, tvms_source *source) {
  tvms_module *module = tvms_run_load_runnable(run, source);
  const tvms_member *entry =
      module ? tvms_runnable_entry(module, run->options.entry) : NULL;
  if (!entry) return TVMS_OK;
  tvms_compiled compiled;
  if (!tvms_run_open_compiled(run, module, entry, "llvm", false, &compiled))
    return run->status;
  tvms_heap heap;
  tvms_heap_init(&heap, &run->context->memory);
  run_bench(run, module, entry, &heap, &compiled);
  tvms_heap_fini(&heap);
  tvms_compiled_close(&compiled);
  return TVMS_OK;
}

tvms_status tvms_verb_bench(tvms_run *run) {
  if (!tvms_run_check_dialects(run, false)) return TVMS_FAILED_IO;
  if (run->options.paths.len != 1)
    return tvms_run_misused(run, "exactly one file must be given");
  return tvms_files_read_one(run, run->options.paths.items[0], bench_source);
}
