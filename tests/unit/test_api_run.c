// The library as a host sees it: passes, running and building.
#include "api_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

API_SUITE;

// ---- Passes ----

Test(api, passes_and_their_options_are_listed) {
  tvms_pass_info info = {.size = sizeof info};
  bool pass = false, pipeline = false;
  for (uint32_t i = 0; tvms_pass_list(i, &info); i++) {
    pass = pass || strcmp(info.name, "LegalizeOps") == 0;
    pipeline = pipeline || info.passes;
    cr_assert_not_null(info.summary);
    cr_assert_not_null(info.since);
  }
  cr_assert(pass && pipeline);
  tvms_pass_option_info option = {.size = sizeof option};
  cr_assert(tvms_pass_list_option("fuse-ops", 0, &option));
  cr_assert_str_eq(option.name, "max_depth");
  cr_assert_str_eq(option.type, "integer");
  cr_assert(tvms_pass_list_option("FuseOps", 1, &option));
  cr_assert_str_eq(option.name, "branches");
  cr_assert_not(tvms_pass_list_option("FuseOps", 3, &option));
  cr_assert_not(tvms_pass_list_option("NoSuchPass", 0, &option));
}

typedef struct {
  tvms_program *program;
  uint32_t passes;
  uint32_t printed;
} observing;

static void observe(void *user, const char *pass, bool changed, double seconds) {
  observing *o = user;
  char *text;
  size_t size;
  (void)pass;
  (void)changed;
  cr_assert_geq(seconds, 0.0);
  o->passes++;
  o->printed += tvms_program_print(o->program, NULL, &text, &size) == TVMS_OK;
  tvms_context_free(context, text);
}

Test(api, a_pipeline_changes_the_program_and_is_observed) {
  observing o = {.program = read_text(model)};
  tvms_program_transform_options options = {
      .size = sizeof options, .verify_each = true, .after = observe, .user = &o};
  cr_assert_eq(tvms_program_transform(o.program, "LegalizeOps,fuse-ops", &options),
               TVMS_OK);
  cr_assert_eq(o.passes, 2u);
  cr_assert_eq(o.printed, 2u);
  cr_assert_not_null(strstr(print_as(o.program, NULL), "R.call_tir(cls.add"));
  cr_assert_neq(tvms_program_find(o.program, "add"), -1);
}

static void read_something_wrong(void *user, const char *pass, bool changed,
                                 double seconds) {
  tvms_program *program;
  (void)pass;
  (void)changed;
  (void)seconds;
  tvms_source *source = source_of("wrong.tvms", misspelt);
  cr_assert_eq(tvms_program_read(context, source, NULL, &program), TVMS_FOUND_ERRORS);
  cr_assert_eq(tvms_diag_count(context, TVMS_SEVERITY_ERROR), 1u);
  ++*(uint32_t *)user;
}

Test(api, what_a_function_of_the_host_finds_does_not_stop_the_pipeline) {
  uint32_t passes = 0;
  tvms_program *program = read_text(model);
  tvms_program_transform_options options = {
      .size = sizeof options, .after = read_something_wrong, .user = &passes};
  cr_assert_eq(tvms_program_transform(program, "LegalizeOps,FuseOps", &options),
               TVMS_OK);
  cr_assert_eq(passes, 2u);
  cr_assert_eq(tvms_diag_count(context, TVMS_SEVERITY_ERROR), 2u);
  cr_assert_str_eq(tvms_diag_code(tvms_diag_next(tvms_diag_first(context))), "E0201");
}

// A function of the host that tries to take away what it is shown.
static void take_away(void *user, const tvms_fact *fact) {
  tvms_program *program = user;
  (void)fact;
  cr_assert_eq(tvms_program_transform(program, "LegalizeOps", NULL), TVMS_BAD_ARGUMENT);
  cr_assert_str_neq(tvms_context_message(context), "");
  tvms_program_destroy(program);
}

Test(api, what_is_shown_stays) {
  tvms_program *program = read_text(model);
  char *before = print_as(program, NULL);
  cr_assert_eq(tvms_program_infer(program, NULL, take_away, program), TVMS_OK);
  cr_assert_str_eq(print_as(program, NULL), before);
  cr_assert_eq(tvms_program_transform(program, "LegalizeOps", NULL), TVMS_OK);
}

static void transform_again(void *user, const char *pass, bool changed,
                            double seconds) {
  (void)pass;
  (void)changed;
  (void)seconds;
  take_away(user, NULL);
}

Test(api, a_pipeline_is_not_run_in_another) {
  tvms_program *program = read_text(model);
  tvms_program_transform_options options = {
      .size = sizeof options, .after = transform_again, .user = program};
  cr_assert_eq(tvms_program_transform(program, "LegalizeOps", &options), TVMS_OK);
  cr_assert_not_null(strstr(print_as(program, NULL), "R.call_tir"));
}

static void use_all_memory(void *user, const tvms_fact *fact) {
  static char large[4 * 1024 * 1024];
  tvms_source *source;
  (void)fact;
  memset(large, ' ', sizeof large);
  tvms_status status = tvms_source_add(context, "large", large, sizeof large, &source);
  cr_assert_eq(status, TVMS_OVER_LIMIT);
  ++*(uint32_t *)user;
}

Test(api, a_function_of_the_host_may_spend_the_context) {
  tvms_context_options options = {.size = sizeof options, .memory = 3 * 1024 * 1024};
  tvms_context_destroy(context);
  cr_assert_eq(tvms_context_create(&options, &context), TVMS_OK);
  uint32_t visits = 0;
  tvms_program *program = read_text(model);
  cr_assert_eq(tvms_program_infer(program, NULL, use_all_memory, &visits),
               TVMS_OVER_LIMIT);
  cr_assert_eq(visits, 1u);
}

Test(api, a_pipeline_that_is_wrong_changes_nothing) {
  tvms_program *program = read_text(model);
  char *before = print_as(program, NULL);
  cr_assert_eq(tvms_program_transform(program, "LegalizeOps,Legalise", NULL),
               TVMS_FOUND_ERRORS);
  tvms_source *source = tvms_diag_source(tvms_diag_first(context));
  cr_assert_str_eq(tvms_source_name(source), "<pipeline>");
  cr_assert_str_eq(print_as(program, NULL), before);
}

Test(api, a_program_on_which_a_pass_failed_is_refused) {
  tvms_program *program = read_text(
      "from tvm.script import tirx as T\n@T.prim_func(s_tir=True)\ndef main(A: "
      "T.Buffer((4,), \"float32\"), B: T.Buffer((1,), \"float32\")):\n    for i in "
      "range(4):\n        with T.sblock(\"b\"):\n            v = T.axis.reduce(4, i)\n     "
      "       with T.init():\n                B[0] = T.float32(0)\n            B[0] = B[0] "
      "+ A[v]\n");
  cr_assert_eq(tvms_program_transform(program, "LowerOpaqueBlock", NULL),
               TVMS_FOUND_ERRORS);
  char *text;
  size_t size;
  cr_assert_eq(tvms_program_print(program, NULL, &text, &size), TVMS_BAD_ARGUMENT);
}

// ---- Running ----

static void set_tensor(tvms_runner *runner, uint32_t index, float *data, int64_t *shape,
                       int64_t *strides) {
  tvms_dl_tensor tensor = {.data = data,
                           .device = {TVMS_DL_CPU, 0},
                           .ndim = 2,
                           .dtype = {TVMS_DL_FLOAT, 32, 1},
                           .shape = shape,
                           .strides = strides};
  cr_assert_eq(tvms_runner_set_tensor(runner, index, &tensor), TVMS_OK, "%s",
               tvms_context_message(context));
}

static void expect_scaled(tvms_runner *runner) {
  // Column by column in memory: the runner takes them row by row.
  float given[] = {1, 4, 2, 5, 3, 6}, zeros[6] = {0};
  int64_t shape[] = {2, 3}, strides[] = {1, 2};
  cr_assert_eq(tvms_runner_param_count(runner), 3u);
  cr_assert_str_eq(tvms_runner_param_name(runner, 0), "A");
  cr_assert_null(tvms_runner_param_name(runner, 3));
  set_tensor(runner, 0, given, shape, strides);
  set_tensor(runner, 1, zeros, shape, NULL);
  cr_assert_eq(tvms_runner_set_float(runner, 2, 0.5), TVMS_OK);
  cr_assert_eq(tvms_runner_set_int(runner, 3, 1), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_runner_run(runner), TVMS_OK);
  cr_assert_eq(tvms_runner_result_count(runner), 1u);
  tvms_result result = {.size = sizeof result};
  cr_assert(tvms_runner_result(runner, 0, &result));
  cr_assert_not(tvms_runner_result(runner, 1, &result));
  cr_assert_str_eq(result.name, "result");
  cr_assert_eq(result.kind, TVMS_RESULT_TENSOR);
  cr_assert_eq(result.tensor.ndim, 2);
  const float *data = result.tensor.data;
  for (int i = 0; i < 6; i++) {
    cr_assert_eq(data[i], 0.5f * (float)(i + 1));
  }
  cr_assert_eq(zeros[0], 0.0f);
}

Test(api, a_function_runs_on_the_tensors_that_it_is_given) {
  tvms_runner *runner;
  tvms_program *program = read_text(scale);
  cr_assert_eq(tvms_runner_create(program, NULL, &runner), TVMS_OK);
  // The runner has a copy.
  tvms_program_destroy(program);
  expect_scaled(runner);
  expect_scaled(runner);
  tvms_runner_destroy(runner);
}

static bool has_native_code(void) {
  return getenv("TVMS_PLUGIN") != NULL;
}

Test(api, native_code_gives_the_same) {
  tvms_runner_options options = {.size = sizeof options, .native = true};
  tvms_runner *runner, *other;
  tvms_status status = tvms_runner_create(read_text(scale), &options, &runner);
  if (!has_native_code()) {
    cr_assert_eq(status, TVMS_NOT_AVAILABLE);
    cr_assert_null(runner);
    return;
  }
  cr_assert_eq(status, TVMS_OK, "%s", tvms_context_message(context));
  cr_assert_eq(tvms_runner_create(read_text(model), &options, &other), TVMS_OK);
  expect_scaled(runner);
  // In the order of making; what is left is closed with the context.
  tvms_runner_destroy(runner);
  cr_assert_eq(tvms_runner_run(other), TVMS_OK);
}

Test(api, inputs_that_do_not_fit_are_reported) {
  tvms_runner *runner;
  cr_assert_eq(tvms_runner_create(read_text(scale), NULL, &runner), TVMS_OK);
  float data[6] = {0};
  int64_t shape[] = {3, 2};
  set_tensor(runner, 0, data, shape, NULL);
  cr_assert_eq(tvms_runner_run(runner), TVMS_FOUND_ERRORS);
  cr_assert_eq(tvms_runner_result_count(runner), 0u);
  tvms_dl_tensor elsewhere = {.data = data,
                              .device = {2, 0},
                              .ndim = 2,
                              .dtype = {TVMS_DL_FLOAT, 32, 1},
                              .shape = shape};
  cr_assert_eq(tvms_runner_set_tensor(runner, 0, &elsewhere), TVMS_BAD_ARGUMENT);
  elsewhere.device.type = TVMS_DL_CPU;
  elsewhere.dtype = (tvms_dl_type){77, 32, 1};
  cr_assert_eq(tvms_runner_set_tensor(runner, 0, &elsewhere), TVMS_BAD_ARGUMENT);
  // All random: sound again.
  cr_assert_eq(tvms_runner_run(runner), TVMS_OK);
}

Test(api, a_function_that_is_not_there_cannot_run) {
  tvms_runner_options options = {.size = sizeof options, .entry = "other"};
  tvms_runner *runner;
  cr_assert_eq(tvms_runner_create(read_text(scale), &options, &runner),
               TVMS_FOUND_ERRORS);
  cr_assert_null(runner);
}

typedef struct {
  char text[2000];
} said;

static void keep_line(void *user, const char *line) {
  snprintf(((said *)user)->text, sizeof((said *)user)->text, "%s", line);
}

Test(api, printing_goes_to_the_host) {
  said line = {""};
  tvms_runner_options options = {
      .size = sizeof options, .print = keep_line, .user = &line};
  tvms_runner *runner;
  tvms_program *program = read_text(
      "from tvm.script import relax as R\n@R.function(pure=False)\ndef main(x: "
      "R.Tensor((2,), \"int32\")):\n    y = R.print(x, format=\"got {}\")\n    return x\n");
  cr_assert_eq(tvms_runner_create(program, &options, &runner), TVMS_OK);
  cr_assert_eq(tvms_runner_run(runner), TVMS_OK);
  cr_assert_eq(strncmp(line.text, "got int32[2]", 12), 0, "%s", line.text);
  cr_assert_null(strchr(line.text, '\n'));
}

static void disturb(void *user, const char *line) {
  tvms_runner *runner = *(tvms_runner **)user;
  (void)line;
  cr_assert_eq(tvms_runner_run(runner), TVMS_BAD_ARGUMENT);
  cr_assert_str_neq(tvms_context_message(context), "");
  cr_assert_eq(tvms_runner_set_int(runner, 0, 1), TVMS_BAD_ARGUMENT);
  tvms_runner_destroy(runner);
}

Test(api, a_function_that_runs_is_not_disturbed) {
  tvms_runner *runner;
  tvms_runner_options options = {
      .size = sizeof options, .print = disturb, .user = &runner};
  tvms_program *program = read_text(
      "from tvm.script import relax as R\n@R.function(pure=False)\ndef main(x: "
      "R.Tensor((2,), \"int32\")):\n    y = R.print(x, format=\"got {}\")\n    return x\n");
  cr_assert_eq(tvms_runner_create(program, &options, &runner), TVMS_OK);
  for (int i = 0; i < 2; i++) {
    cr_assert_eq(tvms_runner_run(runner), TVMS_OK);
    tvms_result result = {.size = sizeof result};
    cr_assert(tvms_runner_result(runner, 0, &result));
    cr_assert_eq(result.tensor.ndim, 1);
  }
  tvms_runner_destroy(runner);
}

Test(api, a_message_is_that_of_the_last_call) {
  tvms_runner *runner;
  cr_assert_eq(tvms_runner_create(read_text(scale), NULL, &runner), TVMS_OK);
  cr_assert_eq(tvms_runner_set_int(runner, 9, 1), TVMS_BAD_ARGUMENT);
  cr_assert_str_neq(tvms_context_message(context), "");
  cr_assert_eq(tvms_runner_set_float(runner, 2, 1.0), TVMS_OK);
  cr_assert_str_eq(tvms_context_message(context), "");
  cr_assert_eq(tvms_runner_set_int(runner, 9, 1), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_runner_set_int(runner, 2, 1), TVMS_OK);
  cr_assert_str_eq(tvms_context_message(context), "");
}

Test(api, a_program_is_built_as_often_as_wanted) {
  tvms_program *program = read_text(scale);
  char *before = print_as(program, NULL);
  for (int i = 0; i < 2; i++) {
    char *bytes;
    size_t size;
    tvms_status status = tvms_program_build(program, NULL, &bytes, &size);
    cr_assert_eq(status, has_native_code() ? TVMS_OK : TVMS_NOT_AVAILABLE);
    if (status == TVMS_OK)
      cr_assert_eq(memcmp(bytes,
                          "\x7F"
                          "ELF",
                          4),
                   0);
  }
  cr_assert_str_eq(print_as(program, NULL), before);
  tvms_program_build_options options = {.size = sizeof options, .target = "no-such,x"};
  char *bytes;
  size_t size;
  cr_assert_eq(tvms_program_build(program, &options, &bytes, &size),
               has_native_code() ? TVMS_BAD_ARGUMENT : TVMS_NOT_AVAILABLE);
  cr_assert_str_neq(tvms_context_message(context), "");
}

// Builds for this machine share LLVM's machine, which a build for another one in between must not touch.
Test(api, builds_give_the_same_code_whatever_was_built_before) {
  if (!has_native_code()) return;
  static const char *const targets[] = {NULL, "aarch64-linux-gnu", NULL, NULL};
  tvms_program *program = read_text(scale);
  char *first = NULL;
  size_t first_size = 0;
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
    tvms_program_build_options options = {.size = sizeof options, .target = targets[i]};
    char *bytes;
    size_t size;
    cr_assert_eq(tvms_program_build(program, &options, &bytes, &size), TVMS_OK);
    if (!first) first = bytes, first_size = size;
    bool same = size == first_size && memcmp(bytes, first, size) == 0;
    cr_assert_eq(same, targets[i] == NULL);
  }
}
