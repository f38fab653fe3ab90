// Kernels come from the library that is run; an executable alone has none.
#include "cli/machine.h"

#include "backend/library.h"
#include "cli/call_progress.h"
#include "cli/files.h"
#include "cli/native.h"
#include "driver/machine.h"
#include "driver/machine_inputs.h"
#include "driver/machine_trace.h"
#include "vm/machine.h"

#include <string.h>

static void give_input(tvms_run *run, tvms_machine_inputs *inputs, const char *text) {
  tvms_arena *arena = &run->context->arena;
  const char *equals = strchr(text, '=');
  size_t named = (size_t)(equals - text);
  for (size_t len = named; len; len = tvms_inputs_shorter(text, len)) {
    int64_t index = tvms_machine_inputs_find(inputs, text, len);
    if (index < 0) continue;
    tvms_machine_inputs_give(inputs, (uint32_t)index,
                             tvms_arena_text(arena, text + len, named - len),
                             equals + 1);
    return;
  }
  tvms_machine_inputs_refuse(inputs, tvms_arena_text(arena, text, named),
                             "the function has no such parameter");
}

static bool make_inputs(tvms_run *run, tvms_machine_inputs *inputs) {
  inputs->seed = run->options.seed == UINT64_MAX ? 0 : run->options.seed;
  inputs->files = (tvms_input_files){tvms_run_read_input, run};
  for (uint32_t i = 0; i < run->options.inputs.len; i++)
    give_input(run, inputs, run->options.inputs.items[i]);
  return tvms_machine_inputs_fill(inputs);
}

// What R.print writes stands before the results.
static void print_line(void *state, const char *format, const tvms_value *values,
                       uint32_t count) {
  tvms_run *run = state;
  tvms_values_print(&run->result, format, values, count);
}

// --profile.
static tvms_status show_trace(tvms_run *run, const tvms_machine_trace *trace) {
  if (!run->options.profile) return TVMS_OK;
  if (!run->options.output) {
    tvms_machine_trace_table(trace, &run->result);
    return TVMS_OK;
  }
  tvms_strbuf text;
  tvms_strbuf_init(&text, &run->context->memory);
  tvms_machine_trace_json(trace, &text);
  return tvms_files_create(run, run->options.output, text.text, text.len);
}

static tvms_status call_entry(tvms_run *run, tvms_vm_machine *machine, int64_t entry,
                              const tvms_machine_inputs *inputs, tvms_value_visit *show,
                              void *self) {
  tvms_machine_trace trace;
  tvms_machine_trace_init(&trace, &run->context->memory, machine->code);
  if (run->options.profile) {
    machine->observe = tvms_machine_trace_note;
    machine->observe_state = &trace;
  }
  tvms_call_progress progress;
  tvms_progress_watch_machine(&progress, run, machine);
  tvms_value result;
  tvms_status status = tvms_vm_call(machine, entry, inputs->values,
                                    (uint32_t)inputs->function->arity, &result);
  tvms_progress_unwatch(&progress);
  if (status == TVMS_OVER_LIMIT) tvms_memory_unwind(&run->context->memory, status);
  if (status == TVMS_OK) {
    tvms_values_each("result", result, show, self);
    status = show_trace(run, &trace);
  } else {
    status = TVMS_OK;  // reported
  }
  tvms_machine_trace_fini(&trace);
  return status;
}

static tvms_status run_inputs(tvms_run *run, tvms_vm_machine *machine, int64_t entry,
                              tvms_value_visit *show, void *self) {
  const tvms_vm_function *function = &machine->code->functions.items[entry];
  tvms_machine_inputs inputs = {
      .context = run->context,
      .executable = machine->code,
      .function = function,
      .heap = machine->interp->heap,
      .values = tvms_arena_array(&run->context->arena, tvms_value, function->arity + 1),
  };
  if (!make_inputs(run, &inputs)) return TVMS_OK;
  return call_entry(run, machine, entry, &inputs, show, self);
}

// Plug-ins come first: a library may look for what they export.
static tvms_status run_library(tvms_run *run, const tvms_source *source,
                               tvms_vm_machine *machine, int64_t entry,
                               tvms_value_visit *show, void *self) {
  tvms_strbuf why;
  tvms_strbuf_init(&why, &run->context->memory);
  tvms_library *library = tvms_backend_open_library(&run->context->memory, source->name,
                                                    machine->interp->foreign, &why);
  if (!library)
    return tvms_run_complain_about(run, source->name, "%s", tvms_strbuf_text(&why));
  machine->find = tvms_backend_find_in_library;
  machine->find_state = library;
  tvms_status status = run_inputs(run, machine, entry, show, self);
  tvms_backend_close_library(library);
  return status;
}

tvms_status tvms_run_machine(tvms_run *run, tvms_source *source, tvms_heap *heap,
                             tvms_value_visit *show, void *self) {
  tvms_context *context = run->context;
  tvms_vm_executable executable;
  tvms_vm_executable_init(&executable, &context->memory);
  if (!tvms_machine_read(context, source, &executable)) return TVMS_OK;
  int64_t entry = tvms_machine_entry(context, &executable, run->options.entry);
  if (entry < 0) return TVMS_OK;
  bool good;
  tvms_plugins *plugins = tvms_run_load_plugins(run, &good);
  tvms_interp interp = {.context = context,
                        .heap = heap,
                        .print = print_line,
                        .print_state = run,
                        .foreign = tvms_run_foreign(plugins)};
  tvms_vm_machine machine = {.code = &executable, .interp = &interp};
  tvms_status status = TVMS_OK;
  if (good)
    status = tvms_machine_is_library(source)
                 ? run_library(run, source, &machine, entry, show, self)
                 : run_inputs(run, &machine, entry, show, self);
  if (plugins) tvms_backend_plugins_free(plugins);
  return status;
}
