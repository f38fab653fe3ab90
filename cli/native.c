// --entry, --backend, --in and --seed of the verbs that run programs.
#include "cli/native.h"

#include "backend/load.h"
#include "cli/program.h"
#include "cli/restart.h"
#include "driver/signature.h"

#include <string.h>

bool tvms_run_find_entry(tvms_run *run, tvms_source *source, bool host,
                         tvms_entry_call *call) {
  *call = (tvms_entry_call){0};
  const tvms_program *program = tvms_run_load_written(run, source, false);
  if (run->context->diags.errors) return false;
  if (host) call->module = tvms_runnable_host(program, run->options.entry);
  if (!call->module) call->module = tvms_runnable_for(program, run->options.entry);
  if (call->module) call->entry = tvms_runnable_entry(call->module, run->options.entry);
  return call->entry != NULL;
}

const tvms_backend *tvms_run_load_backend(tvms_run *run) {
  tvms_strbuf why;
  tvms_strbuf_init(&why, &run->context->memory);
  const tvms_backend *backend = tvms_backend_load(&why);
  if (!backend) tvms_run_complain(run, "no native code: %s", tvms_strbuf_text(&why));
  tvms_strbuf_fini(&why);
  return backend;
}

bool tvms_run_contracts(const tvms_run *run, bool initially) {
  return run->options.fp ? strcmp(run->options.fp, "contract") == 0 : initially;
}

static bool compile(tvms_run *run, const char *backend_name, bool checked,
                    tvms_entry_call *call) {
  const char *asked = run->options.backend ? run->options.backend : backend_name;
  if (strcmp(asked, "llvm") != 0) return true;
  const tvms_backend *backend = tvms_run_load_backend(run);
  if (!backend) {
    tvms_run_worsen(run, TVMS_FAILED_IO);
    return false;
  }
  // What is checked is there to be compared with the interpreter.
  tvms_native_options options = {.checked = checked,
                                 .foreign = tvms_run_foreign(call->plugins),
                                 .contract = tvms_run_contracts(run, !checked)};
  return tvms_compiled_open(&call->compiled, backend, call->module, call->entry,
                            &options);
}

bool tvms_run_check_inputs(tvms_run *run) {
  for (uint32_t i = 0; i < run->options.inputs.len; i++) {
    const char *text = run->options.inputs.items[i];
    if (strchr(text, '=')) continue;
    run->status =
        tvms_run_misused(run, "option '--in' takes NAME=FILE.npy, not '%s'", text);
    return false;
  }
  return true;
}

// A file of an input.
const tvms_source *tvms_run_read_input(void *state, const char *path) {
  tvms_run *run = state;
  const tvms_source *file = tvms_source_read(&run->context->memory, path);
  if (!file) tvms_run_worsen(run, TVMS_FAILED_IO);
  return file;
}

// One --in NAME=FILE, NAME=NUMBER and so on, or NAME.0=FILE.
static void give_input(tvms_run *run, tvms_inputs *inputs, const char *text) {
  const char *equals = strchr(text, '=');
  size_t named = (size_t)(equals - text);
  for (size_t len = named; len; len = tvms_inputs_shorter(text, len)) {
    int64_t index = tvms_inputs_find(inputs, text, len);
    if (index < 0) continue;
    const char *place = tvms_arena_text(&run->context->arena, text + len, named - len);
    tvms_inputs_give(inputs, (uint32_t)index, place, equals + 1);
    return;
  }
  tvms_inputs_unknown(inputs, text, named);
}

static bool make_inputs(tvms_run *run, tvms_entry_call *call) {
  call->count = tvms_inputs_param_count(call->signature);
  call->values = tvms_arena_array(&run->context->arena, tvms_value, call->count);
  tvms_inputs inputs;
  tvms_inputs_init(&inputs, run->context, call->signature, &call->heap, call->values);
  inputs.seed = run->options.seed == UINT64_MAX ? 0 : run->options.seed;
  inputs.files = (tvms_input_files){tvms_run_read_input, run};
  for (uint32_t i = 0; i < run->options.inputs.len; i++) {
    give_input(run, &inputs, run->options.inputs.items[i]);
  }
  bool filled = tvms_inputs_fill(&inputs);
  tvms_inputs_fini(&inputs);
  return filled;
}

tvms_plugins *tvms_run_load_plugins(tvms_run *run, bool *good) {
  *good = true;
  if (!run->options.plugins.len) return NULL;
  // Those of a whole verb are loaded before its first file.
  tvms_memory *memory = run->context ? &run->context->memory : run->memory;
  tvms_plugins *plugins = tvms_backend_plugins_new(memory);
  tvms_strbuf why;
  tvms_strbuf_init(&why, memory);
  for (uint32_t i = 0; i < run->options.plugins.len && *good; i++) {
    const char *path = run->options.plugins.items[i];
    *good = tvms_backend_plugins_open(plugins, path, &why);
    if (!*good)
      tvms_run_worsen(run, tvms_run_complain(run, "plug-in %s cannot be used: %s", path,
                                             tvms_strbuf_text(&why)));
  }
  tvms_strbuf_fini(&why);
  return plugins;
}

const tvms_foreign *tvms_run_foreign(const tvms_plugins *plugins) {
  return plugins ? tvms_backend_plugins_foreign(plugins) : NULL;
}

tvms_status tvms_run_with_plugins(tvms_run *run, tvms_status (*verb)(tvms_run *)) {
  bool good;
  tvms_plugins *plugins = tvms_run_load_plugins(run, &good);
  run->foreign = tvms_run_foreign(plugins);
  tvms_status status = good ? verb(run) : TVMS_FAILED_IO;
  run->foreign = NULL;
  if (plugins) tvms_backend_plugins_free(plugins);
  return status;
}

bool tvms_run_open_call(tvms_run *run, const char *backend, bool checked,
                        tvms_entry_call *call) {
  bool good;
  call->late = (tvms_late){0};
  call->plugins = tvms_run_load_plugins(run, &good);
  if (!good || !compile(run, backend, checked, call)) {
    if (call->plugins) tvms_backend_plugins_free(call->plugins);
    return false;
  }
  call->signature = tvms_inputs_signature(run->context, call->entry);
  tvms_heap_init(&call->heap, &run->context->memory);
  if (!make_inputs(run, call)) {
    tvms_run_close_call(call);
    return false;
  }
  call->interp = (tvms_interp){.context = run->context,
                               .module = call->module,
                               .heap = &call->heap,
                               .foreign = tvms_run_foreign(call->plugins)};
  tvms_compiled_use(&call->compiled, &call->interp);
  tvms_runnable_use_late(&call->late, &call->interp);
  return true;
}

void tvms_run_close_call(tvms_entry_call *call) {
  tvms_runnable_close_late(&call->late);
  tvms_heap_fini(&call->heap);
  tvms_compiled_close(&call->compiled);
  if (call->plugins) tvms_backend_plugins_free(call->plugins);
}
