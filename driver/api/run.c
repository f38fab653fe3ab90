// Runners and native code.
//
// A runner works on a copy of the program, because lowering changes it. Its compiled code
// belongs to the plug-in, so it is closed by hand, also when the context goes.
#include "backend/load.h"
#include "driver/api/api.h"
#include "driver/build.h"
#include "driver/copy.h"
#include "driver/inputs.h"
#include "driver/late.h"
#include "driver/native.h"
#include "driver/runnable.h"
#include "driver/signature.h"
#include "driver/values.h"
#include "interp/prim.h"
#include "support/vec.h"

#include <tvms/run.h>

struct tvms_runner {
  tvms_runner *newer;
  tvms_runner *older;
  tvms_context *context;
  tvms_runner_options options;  // `entry` is not kept
  tvms_program *program;        // the copy
  tvms_module *module;          // of the copy, or of all its modules
  const tvms_member *entry;
  const tvms_member *signature;  // of the entry
  tvms_compiled compiled;
  tvms_heap heap;
  tvms_value *inputs;  // given for the next run; NONE: not given
  tvms_value *values;  // the arguments of the last run
  TVMS_VEC(tvms_result) results;
  TVMS_VEC(tvms_value) shown;  // values of the results
  tvms_arena names;            // of the results
  bool running;                // the function runs: nothing may be changed
};

// ---- Making and freeing ----

static void link_runner(tvms_runner *runner) {
  tvms_api *api = tvms_api_of(runner->context);
  runner->older = api->runners;
  if (runner->older) runner->older->newer = runner;
  api->runners = runner;
}

static void unlink_runner(tvms_runner *runner) {
  if (runner->newer)
    runner->newer->older = runner->older;
  else
    tvms_api_of(runner->context)->runners = runner->older;
  if (runner->older) runner->older->newer = runner->newer;
}

typedef struct {
  tvms_program *program;
  const tvms_runner_options *options;
  tvms_runner *runner;
} making;

// The plug-in for native code; NULL after saying why it is not there, which ends the call
// with TVMS_NOT_AVAILABLE.
static const tvms_backend *TVMS_NULLABLE load_backend(tvms_context *context) {
  tvms_strbuf why;
  tvms_strbuf_init(&why, &context->memory);
  const tvms_backend *backend = tvms_backend_load(&why);
  if (!backend) {
    tvms_api_fail(context, TVMS_NOT_AVAILABLE, "no native code: %s",
                  tvms_strbuf_text(&why));
  }
  tvms_strbuf_fini(&why);
  return backend;
}

static tvms_status compile(tvms_runner *runner) {
  const tvms_backend *backend = load_backend(runner->context);
  if (!backend) return TVMS_NOT_AVAILABLE;
  tvms_native_options options = {.checked = !runner->options.unchecked};
  if (!tvms_compiled_open(&runner->compiled, backend, runner->module, runner->entry,
                          &options)) {
    return TVMS_FOUND_ERRORS;
  }
  return TVMS_OK;
}

static void free_runner(tvms_runner *runner) {
  tvms_memory *memory = &runner->context->memory;
  tvms_heap_fini(&runner->heap);
  tvms_arena_fini(&runner->names);
  tvms_copy_destroy(runner->program, runner->module);
  tvms_vec_fini(memory, &runner->results);
  tvms_vec_fini(memory, &runner->shown);
  tvms_memory_free(memory, runner->inputs);
  tvms_memory_free(memory, runner->values);
  tvms_memory_free(memory, runner);
}

// Finds the function, makes room for its arguments, and compiles it if that is wanted.
static tvms_status prepare(tvms_runner *runner, const char *TVMS_NULLABLE entry) {
  tvms_context *context = runner->context;
  runner->module = tvms_runnable_for(runner->program, entry);
  if (!runner->module) return TVMS_FOUND_ERRORS;
  runner->entry = tvms_runnable_entry(runner->module, entry);
  if (!runner->entry) return TVMS_FOUND_ERRORS;
  if (runner->options.native) {
    tvms_status status = compile(runner);
    if (status != TVMS_OK) return status;
  }
  runner->signature = tvms_inputs_signature(runner->context, runner->entry);
  uint32_t count = tvms_inputs_param_count(runner->signature);
  size_t size = (count ? count : 1) * sizeof(tvms_value);
  runner->inputs = tvms_memory_alloc(&context->memory, size);
  runner->values = tvms_memory_alloc(&context->memory, size);
  tvms_compiled_keep(&runner->compiled);
  return TVMS_OK;
}

static tvms_status make_runner(void *argument) {
  making *m = argument;
  tvms_context *context = m->program->context;
  context->diags.source = m->program->source;
  tvms_runner *runner = tvms_memory_alloc(&context->memory, sizeof *runner);
  runner->context = context;
  runner->options = *m->options;
  tvms_heap_init(&runner->heap, &context->memory);
  tvms_arena_init(&runner->names, &context->memory);
  runner->program = tvms_copy_program(m->program);
  tvms_status status = prepare(runner, m->options->entry);
  if (status == TVMS_OK)
    m->runner = runner;
  else
    free_runner(runner);
  return status;
}

tvms_status tvms_runner_create(tvms_program *program,
                               const tvms_runner_options *options,
                               tvms_runner **runner) {
  tvms_runner_options own;
  *runner = NULL;
  tvms_status status = tvms_api_check_program(program);
  if (status != TVMS_OK) return status;
  if (!tvms_api_take_options(options, &own, sizeof own))
    return tvms_api_bad_options(program->context);
  making m = {program, &own, NULL};
  status = tvms_api_call(program->context, make_runner, &m);
  if (m.runner) link_runner(m.runner);
  if (status == TVMS_OK) *runner = m.runner;
  return status;
}

void tvms_runner_destroy(tvms_runner *runner) {
  if (!runner || runner->running) return;
  unlink_runner(runner);
  tvms_compiled_close(&runner->compiled);
  if (!tvms_api_of(runner->context)->spent) free_runner(runner);
}

void tvms_api_close_runners(tvms_context *context) {
  while (tvms_api_of(context)->runners) {
    tvms_compiled_close(&tvms_api_of(context)->runners->compiled);
    tvms_api_of(context)->runners = tvms_api_of(context)->runners->older;
  }
}

// ---- Inputs ----

uint32_t tvms_runner_param_count(const tvms_runner *runner) {
  return tvms_inputs_param_count(runner->signature);
}

const char *tvms_runner_param_name(const tvms_runner *runner, uint32_t index) {
  if (index >= tvms_runner_param_count(runner)) return NULL;
  return tvms_inputs_param_name(runner->context, runner->signature, index);
}

// Copies the elements of one dimension after the other.
static char *copy_elements(const tvms_dl_tensor *from, const int64_t *strides,
                           int32_t dimension, const char *at, char *to, size_t size) {
  if (dimension == from->ndim) {
    memcpy(to, at, size);
    return to + size;
  }
  for (int64_t i = 0; i < from->shape[dimension]; i++) {
    const char *item = at + i * strides[dimension] * (int64_t)size;
    to = copy_elements(from, strides, dimension + 1, item, to, size);
  }
  return to;
}

typedef struct {
  tvms_runner *runner;
  uint32_t index;
  const tvms_dl_tensor *tensor;
  tvms_value value;  // without a tensor
} giving;

static const char *copy_tensor(giving *g, tvms_tensor **copy) {
  const tvms_dl_tensor *given = g->tensor;
  size_t size = (size_t)tvms_dl_element_size(given->dtype) * given->dtype.lanes;
  if (given->device.type != TVMS_DL_CPU) return "a tensor that is not on the CPU";
  if (!size) return "elements of this data type are not known";
  if (given->ndim < 0) return "a negative number of dimensions";
  *copy = tvms_tensor_new(&g->runner->heap, given->dtype, given->ndim, given->shape);
  if (!*copy) return "a tensor that is too large";
  if (!tvms_tensor_len(*copy)) return NULL;
  if (!given->data) return "a tensor without data";
  const char *data = (const char *)given->data + given->byte_offset;
  if (!given->strides) {
    memcpy((*copy)->view.data, data, (size_t)(*copy)->bytes);
    return NULL;
  }
  (void)copy_elements(given, given->strides, 0, data, (*copy)->view.data, size);
  return NULL;
}

static void set_input(tvms_runner *runner, uint32_t index, tvms_value value) {
  tvms_value_drop(runner->inputs[index]);
  runner->inputs[index] = value;
}

// TVMS_OK if the function does not run.
static tvms_status check_idle(const tvms_runner *runner) {
  if (!runner->running) return TVMS_OK;
  return tvms_api_fail(runner->context, TVMS_BAD_ARGUMENT,
                       "the function of the runner is running");
}

// TVMS_OK if there is such a parameter and it may be given something.
static tvms_status check_param(const tvms_runner *runner, uint32_t index) {
  tvms_status status = check_idle(runner);
  if (status != TVMS_OK) return status;
  if (index < tvms_runner_param_count(runner)) return TVMS_OK;
  return tvms_api_fail(runner->context, TVMS_BAD_ARGUMENT, "there is no parameter %u",
                       index);
}

static tvms_status give_tensor(void *argument) {
  giving *g = argument;
  tvms_status status = check_param(g->runner, g->index);
  if (status != TVMS_OK) return status;
  tvms_tensor *copy = NULL;
  const char *wrong = copy_tensor(g, &copy);
  if (wrong) {
    return tvms_api_fail(g->runner->context, TVMS_BAD_ARGUMENT, "input '%s': %s",
                         tvms_runner_param_name(g->runner, g->index), wrong);
  }
  set_input(g->runner, g->index, tvms_value_of_tensor(copy));
  return TVMS_OK;
}

tvms_status tvms_runner_set_tensor(tvms_runner *runner, uint32_t index,
                                   const tvms_dl_tensor *tensor) {
  if (!runner) return TVMS_BAD_ARGUMENT;
  giving g = {.runner = runner, .index = index, .tensor = tensor};
  return tvms_api_call(runner->context, give_tensor, &g);
}

static tvms_status give_value(void *argument) {
  giving *g = argument;
  tvms_status status = check_param(g->runner, g->index);
  if (status == TVMS_OK) set_input(g->runner, g->index, g->value);
  return status;
}

tvms_status tvms_runner_set_int(tvms_runner *runner, uint32_t index, int64_t value) {
  if (!runner) return TVMS_BAD_ARGUMENT;
  giving g = {
      .runner = runner, .index = index, .value = {.kind = TVMS_VALUE_INT, .i = value}};
  return tvms_api_call(runner->context, give_value, &g);
}

tvms_status tvms_runner_set_float(tvms_runner *runner, uint32_t index, double value) {
  if (!runner) return TVMS_BAD_ARGUMENT;
  giving g = {.runner = runner,
              .index = index,
              .value = {.kind = TVMS_VALUE_FLOAT, .f = value}};
  return tvms_api_call(runner->context, give_value, &g);
}

// ---- Running ----

static void print_line(void *state, const char *format, const tvms_value *values,
                       uint32_t count) {
  tvms_runner *runner = state;
  tvms_strbuf line;
  tvms_strbuf_init(&line, &runner->context->memory);
  tvms_values_print(&line, format, values, count);
  if (line.len) line.len--;  // without its end
  const char *text = tvms_strbuf_text(&line);
  tvms_trial trial;
  tvms_api_leave(runner->context, &trial);
  runner->options.print(runner->options.user, text);
  tvms_api_resume(runner->context, &trial);
  tvms_strbuf_fini(&line);
}

static void add_result(void *self, const char *name, tvms_value value) {
  tvms_runner *runner = self;
  tvms_context *context = runner->context;
  tvms_result result = {.size = sizeof result};
  result.name = tvms_arena_text(&runner->names, name, strlen(name));
  switch (value.kind) {
  case TVMS_VALUE_INT: result.kind = TVMS_RESULT_INT, result.integer = value.i; break;
  case TVMS_VALUE_BOOL: result.kind = TVMS_RESULT_BOOL, result.integer = value.i; break;
  case TVMS_VALUE_FLOAT: result.kind = TVMS_RESULT_FLOAT, result.real = value.f; break;
  case TVMS_VALUE_STR: result.kind = TVMS_RESULT_TEXT, result.text = value.text; break;
  case TVMS_VALUE_SHAPE:
    result.kind = TVMS_RESULT_SHAPE;
    result.tensor = value.tensor->view;
    break;
  case TVMS_VALUE_TENSOR:
    result.kind = TVMS_RESULT_TENSOR;
    result.tensor = value.tensor->view;
    break;
  default: break;
  }
  tvms_vec_push(&context->memory, &runner->results, result);
  tvms_vec_push(&context->memory, &runner->shown, tvms_value_keep(value));
}

// What the last run left goes.
static void drop_results(tvms_runner *runner) {
  for (uint32_t i = 0; i < runner->shown.len; i++) {
    tvms_value_drop(runner->shown.items[i]);
  }
  runner->shown.len = runner->results.len = 0;
  tvms_arena_fini(&runner->names);
}

// The inputs become the arguments; none is given after that.
static bool make_arguments(tvms_runner *runner) {
  tvms_inputs inputs;
  tvms_inputs_init(&inputs, runner->context, runner->signature, &runner->heap,
                   runner->values);
  inputs.seed = runner->options.seed;
  for (uint32_t i = 0; i < tvms_runner_param_count(runner); i++) {
    runner->values[i] = runner->inputs[i];
    runner->inputs[i] = (tvms_value){.kind = TVMS_VALUE_NONE};
  }
  bool filled = tvms_inputs_fill(&inputs);
  tvms_inputs_fini(&inputs);
  return filled;
}

static tvms_status run_entry(tvms_runner *runner) {
  tvms_context *context = runner->context;
  uint32_t count = tvms_runner_param_count(runner);
  tvms_interp interp = {.context = context,
                        .module = runner->module,
                        .heap = &runner->heap,
                        .step_limit = runner->options.steps,
                        .print = runner->options.print ? print_line : NULL,
                        .print_state = runner};
  tvms_compiled_use(&runner->compiled, &interp);
  tvms_late late = {0};
  tvms_runnable_use_late(&late, &interp);
  tvms_value result;
  tvms_status status =
      tvms_interp_call(&interp, runner->entry, runner->values, count, &result);
  tvms_runnable_close_late(&late);
  if (status == TVMS_OVER_LIMIT) tvms_memory_unwind(&context->memory, status);
  if (status != TVMS_OK) return status;
  result = tvms_inputs_result(runner->entry, runner->signature, result);
  tvms_values_each_result(context, runner->signature, runner->values, result,
                          add_result, runner);
  tvms_value_drop(result);
  return TVMS_OK;
}

static tvms_status run(void *argument) {
  tvms_runner *runner = argument;
  tvms_status idle = check_idle(runner);
  if (idle != TVMS_OK) return idle;
  runner->running = true;
  runner->context->diags.source = runner->program->source;
  drop_results(runner);
  tvms_status status = make_arguments(runner) ? run_entry(runner) : TVMS_FOUND_ERRORS;
  for (uint32_t i = 0; i < tvms_runner_param_count(runner); i++) {
    tvms_value_drop(runner->values[i]);
    runner->values[i] = (tvms_value){.kind = TVMS_VALUE_NONE};
  }
  runner->running = false;
  return status;
}

tvms_status tvms_runner_run(tvms_runner *runner) {
  if (!runner) return TVMS_BAD_ARGUMENT;
  return tvms_api_call(runner->context, run, runner);
}

uint32_t tvms_runner_result_count(const tvms_runner *runner) {
  return runner->results.len;
}

bool tvms_runner_result(const tvms_runner *runner, uint32_t index,
                        tvms_result *result) {
  if (index >= runner->results.len) return false;
  return tvms_api_give_struct(result, &runner->results.items[index], sizeof *result);
}

// ---- Building ----

typedef struct {
  tvms_program *program;
  const tvms_program_build_options *options;
  char *bytes;
  size_t size;
} building;

static tvms_status emit(building *b, const tvms_backend *backend,
                        const tvms_native_options *options) {
  static const tvms_native_form forms[] = {
      [TVMS_BUILD_OBJECT] = TVMS_NATIVE_OBJECT,
      [TVMS_BUILD_ASSEMBLY] = TVMS_NATIVE_ASSEMBLY,
      [TVMS_BUILD_LLVM] = TVMS_NATIVE_IR,
  };
  tvms_library_options library = {.prim_funcs_only = b->options->primfuncs_only,
                                  .level = 2};
  tvms_strbuf code;
  tvms_strbuf_init(&code, &b->program->context->memory);
  if (!tvms_build_code(tvms_copy_program(b->program), backend, options,
                       forms[b->options->form], &library, &code, NULL)) {
    return TVMS_FOUND_ERRORS;
  }
  tvms_api_give_text(&code, &b->bytes, &b->size);
  return TVMS_OK;
}

static tvms_status build(void *argument) {
  building *b = argument;
  tvms_context *context = b->program->context;
  context->diags.source = b->program->source;
  const tvms_backend *backend = load_backend(context);
  if (!backend) return TVMS_NOT_AVAILABLE;
  tvms_strbuf why;
  tvms_strbuf_init(&why, &context->memory);
  tvms_unit unit;
  tvms_unit_init(&unit, context, TVMS_DIALECT_CURRENT);
  tvms_target target;
  tvms_native_options options = {.contract = !b->options->strict_fp};
  bool known = tvms_build_find_target(backend, b->options->target, &unit, &target,
                                      &options, &why);
  tvms_status status =
      known ? emit(b, backend, &options)
            : tvms_api_fail(context, TVMS_BAD_ARGUMENT, "%s", tvms_strbuf_text(&why));
  tvms_unit_fini(&unit);
  tvms_strbuf_fini(&why);
  return status;
}

tvms_status tvms_program_build(tvms_program *program,
                               const tvms_program_build_options *options, char **bytes,
                               size_t *size) {
  tvms_program_build_options own;
  *bytes = NULL;
  *size = 0;
  tvms_status status = tvms_api_check_program(program);
  if (status != TVMS_OK) return status;
  if (!tvms_api_take_options(options, &own, sizeof own))
    return tvms_api_bad_options(program->context);
  if ((unsigned)own.form > TVMS_BUILD_LLVM) {
    return tvms_api_fail(program->context, TVMS_BAD_ARGUMENT, "there is no form %u",
                         (unsigned)own.form);
  }
  building b = {.program = program, .options = &own};
  status = tvms_api_call(program->context, build, &b);
  if (status != TVMS_OK) return status;
  *bytes = b.bytes;
  *size = b.size;
  return TVMS_OK;
}
