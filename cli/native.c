// --entry, --backend, --in and --seed of the verbs that run programs.
#include "cli/native.h"

#include "backend/load.h"
#include "cli/program.h"

tvms_module *tvms_run_load_runnable(tvms_run *run, tvms_source *source) {
  const tvms_program *program = tvms_run_load_program(run, source);
  if (run->context->diags.errors) return NULL;
  return tvms_runnable_for(program, run->options.entry);
}

const tvms_backend *tvms_run_load_backend(tvms_run *run) {
  tvms_strbuf why;
  tvms_strbuf_init(&why, &run->context->memory);
  const tvms_backend *backend = tvms_backend_load(&why);
  if (!backend) tvms_run_complain(run, "no native code: %s", tvms_strbuf_text(&why));
  tvms_strbuf_fini(&why);
  return backend;
}

bool tvms_run_open_compiled(tvms_run *run, const tvms_module *module,
                            const tvms_member *entry, const char *backend_name,
                            bool checked, tvms_compiled *compiled) {
  *compiled = (tvms_compiled){0};
  const char *asked = run->options.backend ? run->options.backend : backend_name;
  if (strcmp(asked, "llvm") != 0) return true;
  const tvms_backend *backend = tvms_run_load_backend(run);
  if (!backend) {
    tvms_run_worsen(run, TVMS_FAILED_IO);
    return false;
  }
  return tvms_compiled_open(compiled, backend, module, entry, checked);
}

// One --in NAME=FILE.
static void give_input(tvms_run *run, tvms_inputs *inputs, const char *text) {
  const char *equals = strchr(text, '=');
  size_t len = equals ? (size_t)(equals - text) : strlen(text);
  int64_t index = equals ? tvms_inputs_find(inputs, text, len) : -1;
  if (index < 0) {
    tvms_inputs_unknown(inputs, text, len);
    return;
  }
  const tvms_source *file = tvms_source_read(&run->context->memory, equals + 1);
  if (file) {
    tvms_inputs_give(inputs, (uint32_t)index, file);
    return;
  }
  tvms_run_worsen(run, tvms_run_complain_io(run, equals + 1));
  tvms_inputs_refuse(
      inputs, tvms_inputs_param_name(run->context, inputs->entry, (uint32_t)index),
      "its file cannot be read");
}

bool tvms_run_make_inputs(tvms_run *run, const tvms_member *entry, tvms_heap *heap,
                          tvms_value *values) {
  tvms_inputs inputs;
  tvms_inputs_init(&inputs, run->context, entry, heap, values);
  inputs.seed = run->options.seed == UINT64_MAX ? 0 : run->options.seed;
  for (uint32_t i = 0; i < run->options.inputs.len; i++) {
    give_input(run, &inputs, run->options.inputs.items[i]);
  }
  return tvms_inputs_fill(&inputs);
}
