// `tvms run FILE`: run a function and show what it gives.
#include "cli/call_progress.h"
#include "cli/files.h"
#include "cli/machine.h"
#include "cli/native.h"
#include "cli/profile.h"
#include "cli/program.h"
#include "driver/machine.h"
#include "driver/signature.h"
#include "driver/values.h"
#include "interp/prim.h"
#include "runtime/npy.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
  tvms_run *run;
  tvms_heap *heap;
} showing;

static void save(tvms_run *run, const char *name, const tvms_tensor *tensor) {
  tvms_strbuf path, file;
  tvms_strbuf_init(&path, &run->context->memory);
  tvms_strbuf_init(&file, &run->context->memory);
  tvms_strbuf_printf(&path, "%s/%s.npy", run->options.out, name);
  tvms_npy_write(&file, tensor);
  tvms_run_worsen(run,
                  tvms_files_create(run, tvms_strbuf_text(&path), file.text, file.len));
  tvms_strbuf_fini(&file);
  tvms_strbuf_fini(&path);
}

// One line per value.
static void show(void *self, const char *name, tvms_value value) {
  showing *s = self;
  tvms_strbuf_printf(&s->run->result, "%s: ", name);
  tvms_values_add(&s->run->result, value);
  tvms_strbuf_putc(&s->run->result, '\n');
  tvms_tensor *tensor = s->run->options.out ? tvms_values_box(s->heap, value) : NULL;
  if (tensor) save(s->run, name, tensor);
}

// What R.print writes stands before the results.
static void print_line(void *state, const char *format, const tvms_value *values,
                       uint32_t count) {
  tvms_run *run = state;
  tvms_values_print(&run->result, format, values, count);
}

static void call_and_show(tvms_run *run, tvms_entry_call *call) {
  call->interp.print = print_line;
  call->interp.print_state = run;
  tvms_profile profile;
  if (run->options.profile) tvms_profile_init(&profile, &call->interp);
  tvms_call_progress progress;
  tvms_progress_watch(&progress, run, &call->interp);
  tvms_value result;
  tvms_status status =
      tvms_interp_call(&call->interp, call->entry, call->values, call->count, &result);
  tvms_progress_unwatch(&progress);
  if (status == TVMS_OVER_LIMIT) tvms_memory_unwind(&run->context->memory, status);
  if (status == TVMS_OK) {
    showing s = {run, &call->heap};
    result = tvms_inputs_result(call->entry, call->signature, result);
    tvms_values_each_result(run->context, call->signature, call->values, result, show,
                            &s);
  }
  if (!run->options.profile) return;
  if (status == TVMS_OK)
    tvms_run_worsen(run, tvms_run_show_profile(run, &profile, call->entry));
  tvms_profile_fini(&profile);
}

// Code of the virtual machine.
static tvms_status run_code(tvms_run *run, tvms_source *source) {
  tvms_heap heap;
  tvms_heap_init(&heap, &run->context->memory);
  showing s = {run, &heap};
  tvms_status status = tvms_run_machine(run, source, &heap, show, &s);
  tvms_heap_fini(&heap);
  return status;
}

// --profile instructions is of code, and html of programs.
static bool profile_fits(tvms_run *run, bool is_code) {
  const char *profile = run->options.profile,
             *other = is_code ? "html" : "instructions";
  if (!profile || strcmp(profile, other) != 0) return true;
  run->status = tvms_run_misused(
      run,
      is_code
          ? "--profile html does not go with code of the virtual machine"
          : "--profile instructions goes with code of the virtual machine (.vm, .so)");
  return false;
}

static tvms_status run_source(tvms_run *run, tvms_source *source) {
  bool is_code = tvms_machine_is_code(source);
  if (!profile_fits(run, is_code)) return run->status;
  tvms_entry_call call;
  if (!is_code && !tvms_run_find_entry(run, source, false, &call)) return TVMS_OK;
  if (run->options.out && mkdir(run->options.out, 0777) != 0 && errno != EEXIST) {
    return tvms_run_complain_io(run, run->options.out);
  }
  if (is_code) return run_code(run, source);
  if (!tvms_run_open_call(run, "interp", true, &call)) return run->status;
  call_and_show(run, &call);
  tvms_run_close_call(&call);
  return TVMS_OK;
}

tvms_status tvms_verb_run(tvms_run *run) {
  if (!tvms_run_check_dialects(run, false)) return TVMS_FAILED_IO;
  if (run->options.paths.len != 1)
    return tvms_run_misused(run, "exactly one file must be given");
  if (!tvms_run_check_profile(run) || !tvms_run_check_inputs(run)) return run->status;
  return tvms_files_read_one(run, run->options.paths.items[0], run_source);
}
