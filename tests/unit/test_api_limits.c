// The library as a host sees it: limits, misuse, and the memory that calls take.
#include "api_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

API_SUITE;

// The loop is evaluated when the text is read: 40,000 steps.
static const char unrolled[] =
    "from tvm.script import tirx as T\n"
    "@T.prim_func\n"
    "def main(A: T.Buffer((1,), \"int64\")):\n"
    "    A[0] = T.int64(len([i for i in range(200) for j in range(200)]))\n";

// ---- Limits ----

static tvms_status read_under(const tvms_context_options *options, const char *text,
                              tvms_context **made) {
  tvms_source *source;
  tvms_program *program;
  cr_assert_eq(tvms_context_create(options, made), TVMS_OK);
  tvms_status status = tvms_source_add(*made, "a.tvms", text, strlen(text), &source);
  return status == TVMS_OK ? tvms_program_read(*made, source, NULL, &program) : status;
}

static void expect_spent(tvms_context *spent, const char *message) {
  tvms_source *source;
  cr_assert_eq(tvms_context_state(spent), TVMS_OVER_LIMIT);
  cr_assert_str_eq(tvms_context_message(spent), message);
  cr_assert_eq(tvms_source_add(spent, "b", "", 0, &source), TVMS_OVER_LIMIT);
  cr_assert_null(source);
  tvms_context_destroy(spent);
}

Test(api, memory_is_limited) {
  tvms_context_options options = {.size = sizeof options, .memory = 24 * 1024};
  tvms_context *small;
  cr_assert_eq(read_under(&options, model, &small), TVMS_OVER_LIMIT);
  expect_spent(small, "the limit of memory was reached");
}

Test(api, time_is_limited) {
  static char text[2 * 1024 * 1024];
  size_t len = (size_t)sprintf(text, "%s", scale);
  while (len < sizeof text - 100) {
    len += (size_t)sprintf(text + len, "        B[i, j] = B[i, j] + factor\n");
  }
  tvms_context_options options = {.size = sizeof options, .milliseconds = 1};
  tvms_context *late;
  cr_assert_eq(read_under(&options, text, &late), TVMS_OVER_LIMIT);
  expect_spent(late, "the limit of time was reached");
}

Test(api, time_is_limited_while_a_program_runs) {
  tvms_context_options options = {.size = sizeof options, .milliseconds = 50};
  tvms_context *late;
  cr_assert_eq(tvms_context_create(&options, &late), TVMS_OK);
  tvms_context_destroy(context);
  context = late;
  tvms_runner *runner;
  tvms_program *program = read_text(
      "from tvm.script import tirx as T\n@T.prim_func\ndef main(A: T.Buffer((1,), "
      "\"int64\")):\n    for i in range(100000000000):\n        A[0] = A[0] + i\n");
  cr_assert_eq(tvms_runner_create(program, NULL, &runner), TVMS_OK);
  cr_assert_eq(tvms_runner_run(runner), TVMS_OVER_LIMIT);
  cr_assert_str_eq(tvms_context_message(context), "the limit of time was reached");
}

Test(api, steps_are_limited_call_by_call) {
  tvms_context_options options = {.size = sizeof options, .steps = 1000};
  tvms_context *other;
  cr_assert_eq(read_under(&options, unrolled, &other), TVMS_FOUND_ERRORS);
  cr_assert_str_eq(tvms_diag_name(tvms_diag_first(other)), "endless");
  cr_assert_eq(tvms_context_state(other), TVMS_OK);
  tvms_context_destroy(other);
  options.steps = 70 * 1000;
  cr_assert_eq(read_under(&options, unrolled, &other), TVMS_OK);
  tvms_source *source;
  tvms_program *program;
  cr_assert_eq(tvms_source_add(other, "b", unrolled, sizeof unrolled - 1, &source),
               TVMS_OK);
  cr_assert_eq(tvms_program_read(other, source, NULL, &program), TVMS_OK);
  tvms_context_destroy(other);
}

Test(api, depth_is_limited) {
  tvms_context_options options = {.size = sizeof options, .depth = 200};
  static char deep[4000];
  int len = snprintf(deep, sizeof deep,
                     "from tvm.script import tirx as T\n@T.prim_func\ndef main(A: "
                     "T.Buffer((1,), \"int64\")):\n    A[0] = ");
  memset(deep + len, '-', 1000);
  strcpy(deep + len + 1000, "A[0]\n");
  tvms_context *other;
  cr_assert_eq(read_under(&options, deep, &other), TVMS_FOUND_ERRORS);
  cr_assert_str_eq(tvms_diag_name(tvms_diag_first(other)), "too_deep");
  tvms_context_destroy(other);
  cr_assert_eq(read_under(NULL, deep, &other), TVMS_OK);
  tvms_context_destroy(other);
}

// ---- Misuse ----

static void ignore_fact(void *user, const tvms_fact *fact) {
  (void)user;
  (void)fact;
}

Test(api, what_is_not_given_is_not_read) {
  tvms_runner *runner;
  tvms_program *program = read_text(scale);
  cr_assert_eq(tvms_runner_create(program, NULL, &runner), TVMS_OK);
  int64_t shape[] = {2, 3};
  tvms_dl_tensor nothing = {.device = {TVMS_DL_CPU, 0},
                            .ndim = 2,
                            .dtype = {TVMS_DL_FLOAT, 32, 1},
                            .shape = shape};
  cr_assert_eq(tvms_runner_set_tensor(runner, 0, &nothing), TVMS_BAD_ARGUMENT);
  cr_assert_not_null(strstr(tvms_context_message(context), "without data"));
  cr_assert_eq(tvms_runner_run(runner), TVMS_OK);
  tvms_result result = {.size = 0};
  cr_assert_not(tvms_runner_result(runner, 0, &result));
  tvms_definition definition = {.size = 0};
  cr_assert_not(tvms_program_definition(program, 0, &definition));
  tvms_pass_info info = {.size = 0};
  cr_assert_not(tvms_pass_list(0, &info));
  tvms_program_build_options options = {.size = sizeof options,
                                        .form = (tvms_build_form)99};
  char *bytes;
  size_t size;
  cr_assert_eq(tvms_program_build(program, &options, &bytes, &size), TVMS_BAD_ARGUMENT);
  cr_assert_str_eq(tvms_context_message(context), "there is no form 99");
}

Test(api, what_was_not_made_is_refused) {
  char *text;
  size_t size;
  uint32_t count;
  tvms_span span;
  tvms_program *program;
  tvms_runner *runner;
  tvms_context *other;
  cr_assert_eq(tvms_context_create(NULL, &other), TVMS_OK);
  tvms_source *sources[] = {NULL, source_of("a.tvms", model)};
  for (size_t i = 0; i < 2; i++) {
    cr_assert_eq(tvms_program_read(other, sources[i], NULL, &program),
                 TVMS_BAD_ARGUMENT);
    cr_assert_null(program);
    cr_assert_eq(tvms_source_format(other, sources[i], &text, &size),
                 TVMS_BAD_ARGUMENT);
    cr_assert_eq(tvms_source_migrate(other, sources[i], NULL, &text, &size),
                 TVMS_BAD_ARGUMENT);
    cr_assert_eq(tvms_diag_apply_fixes(other, sources[i], &text, &size, &count),
                 TVMS_BAD_ARGUMENT);
  }
  cr_assert_str_eq(tvms_context_message(other), "the source is of another context");
  tvms_context_destroy(other);
  cr_assert_eq(tvms_program_print(NULL, NULL, &text, &size), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_program_verify(NULL), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_program_transform(NULL, "LegalizeOps", NULL), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_program_infer(NULL, NULL, ignore_fact, NULL), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_program_type_at(NULL, 0, NULL, &span, &text, &size),
               TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_program_build(NULL, NULL, &text, &size), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_runner_create(NULL, NULL, &runner), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_runner_run(NULL), TVMS_BAD_ARGUMENT);
  cr_assert_eq(tvms_runner_set_int(NULL, 0, 1), TVMS_BAD_ARGUMENT);
}

// ---- Memory ----

Test(api, a_text_that_is_too_large_is_refused_before_it_is_read) {
  tvms_source *source;
  cr_assert_eq(tvms_source_add(context, "a", "x", SIZE_MAX - 4, &source),
               TVMS_OVER_LIMIT);
  cr_assert_null(source);
}

// What the calls below work with; made once.
static struct {
  tvms_source *source;
  tvms_program *program;
  tvms_runner *runner;
} common;

static void free_text(tvms_status status, tvms_status wanted, char **text) {
  cr_assert_eq(status, wanted, "%s", tvms_context_message(context));
  tvms_context_free(context, *text);
}
static void repeat_read(void) {
  tvms_program *program;
  cr_assert_eq(tvms_program_read(context, common.source, NULL, &program), TVMS_OK);
  tvms_program_destroy(program);
}
static void repeat_print(void) {
  char *text;
  size_t size;
  free_text(tvms_program_print(common.program, NULL, &text, &size), TVMS_OK, &text);
}
static void repeat_format(void) {
  char *text;
  size_t size;
  free_text(tvms_source_format(context, common.source, &text, &size), TVMS_OK, &text);
}
static void repeat_migrate(void) {
  char *text;
  size_t size;
  tvms_source_migrate_options options = {.size = sizeof options, .to = "0.25"};
  free_text(tvms_source_migrate(context, common.source, &options, &text, &size),
            TVMS_OK, &text);
}
static void repeat_diff(void) {
  char *text;
  size_t size;
  uint32_t count;
  free_text(
      tvms_program_diff(common.program, common.program, NULL, &text, &size, &count),
      TVMS_OK, &text);
}
static void repeat_explain(void) {
  char *text;
  size_t size;
  free_text(tvms_diag_explain(context, "E0401", &text, &size), TVMS_OK, &text);
  free_text(tvms_diag_explain(context, "T.gird", &text, &size), TVMS_BAD_ARGUMENT,
            &text);
}
static void repeat_infer(void) {
  cr_assert_eq(tvms_program_infer(common.program, NULL, ignore_fact, NULL), TVMS_OK);
}
static void repeat_transform(void) {
  tvms_program *program;
  cr_assert_eq(tvms_program_read(context, common.source, NULL, &program), TVMS_OK);
  cr_assert_eq(
      tvms_program_transform(program, "LegalizeOps,FuseOps{max_depth=4}", NULL),
      TVMS_OK);
  tvms_program_destroy(program);
}
static void repeat_run(void) {
  cr_assert_eq(tvms_runner_run(common.runner), TVMS_OK);
}
static void repeat_runner(void) {
  tvms_runner *runner;
  cr_assert_eq(tvms_runner_create(common.program, NULL, &runner), TVMS_OK);
  tvms_runner_destroy(runner);
}
static void repeat_refused_release(void) {
  char *text;
  size_t size;
  tvms_program_print_options options = {.size = sizeof options, .release = "9"};
  free_text(tvms_program_print(common.program, &options, &text, &size),
            TVMS_BAD_ARGUMENT, &text);
}

// More than enough for a table that doubles to show.
enum { CALLS = 200 };

Test(api, calls_leave_nothing_behind) {
  static const struct {
    const char *name;
    void (*call)(void);
  } calls[] = {
      {"read", repeat_read},
      {"print", repeat_print},
      {"format", repeat_format},
      {"migrate", repeat_migrate},
      {"diff", repeat_diff},
      {"explain", repeat_explain},
      {"infer", repeat_infer},
      {"transform", repeat_transform},
      {"run", repeat_run},
      {"create a runner", repeat_runner},
      {"refuse a release", repeat_refused_release},
  };
  common.source = source_of("a.tvms", model);
  common.program = read_text(model);
  cr_assert_eq(tvms_runner_create(common.program, NULL, &common.runner), TVMS_OK);
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    calls[i].call();
    calls[i].call();
    size_t before = tvms_context_memory(context);
    for (int k = 0; k < CALLS; k++) {
      calls[i].call();
    }
    size_t after = tvms_context_memory(context);
    cr_expect_eq(after, before, "%s: %zu bytes a call", calls[i].name,
                 (after - before) / CALLS);
  }
}

// A call that finds something wrong keeps the finding and its text, and nothing else.
static size_t cost_of_failure(void (*call)(void)) {
  call();
  size_t before = tvms_context_memory(context);
  for (int k = 0; k < CALLS; k++) {
    call();
  }
  return (tvms_context_memory(context) - before) / CALLS;
}
static void fail_to_transform(void) {
  cr_assert_eq(tvms_program_transform(common.program, "LegalizeOp", NULL),
               TVMS_FOUND_ERRORS);
}
static void fail_to_make_a_runner(void) {
  tvms_runner_options options = {.size = sizeof options, .entry = "other"};
  tvms_runner *runner;
  cr_assert_eq(tvms_runner_create(common.program, &options, &runner),
               TVMS_FOUND_ERRORS);
}

Test(api, calls_that_fail_leave_their_findings_only) {
  common.program = read_text(model);
  cr_expect_leq(cost_of_failure(fail_to_transform), 500);
  cr_expect_leq(cost_of_failure(fail_to_make_a_runner), 500);
}

// An allocator that counts what is out, and fails when its budget is used up.
typedef struct {
  size_t out;
  uint64_t calls;
  uint64_t fails_at;  // 0: never
} counting;

static void *count_allocation(void *user, void *block, size_t old_size,
                              size_t new_size) {
  counting *c = user;
  cr_assert_eq(block == NULL, old_size == 0);
  if (!new_size) {
    c->out -= old_size;
    free(block);
    return NULL;
  }
  if (++c->calls == c->fails_at) return NULL;
  void *moved = realloc(block, new_size);
  cr_assert_not_null(moved);
  // What comes from here is not zero.
  if (new_size > old_size) memset((char *)moved + old_size, 0xA5, new_size - old_size);
  c->out += new_size - old_size;
  return moved;
}

// Everything that a host may do with a program, until something fails.
static tvms_status do_all(const tvms_context_options *options) {
  tvms_context *made;
  tvms_status status = tvms_context_create(options, &made);
  if (status != TVMS_OK) return status;
  tvms_source *source;
  tvms_program *program;
  tvms_runner *runner = NULL;
  char *text;
  size_t size;
  status = tvms_source_add(made, "a.tvms", model, strlen(model), &source);
  if (status == TVMS_OK) status = tvms_program_read(made, source, NULL, &program);
  if (status == TVMS_OK) status = tvms_source_format(made, source, &text, &size);
  if (status == TVMS_OK) status = tvms_runner_create(program, NULL, &runner);
  if (status == TVMS_OK) status = tvms_runner_run(runner);
  if (status == TVMS_OK) status = tvms_program_transform(program, "LegalizeOps", NULL);
  if (status == TVMS_OK) status = tvms_program_print(program, NULL, &text, &size);
  if (status == TVMS_OK) status = tvms_diag_render(made, NULL, &text, &size);
  if (status != TVMS_OK) cr_assert_eq(tvms_context_state(made), status);
  tvms_context_destroy(made);
  return status;
}

Test(api, every_allocation_may_fail) {
  tvms_context_options options = {.size = sizeof options};
  tvms_status status = TVMS_OVER_LIMIT;
  uint64_t n = 1;
  for (; status == TVMS_OVER_LIMIT; n++) {
    options.fail_allocation = n;
    status = do_all(&options);
  }
  cr_assert_eq(status, TVMS_OK);
  cr_assert_gt(n, 60u);
}

Test(api, memory_comes_from_the_allocator_of_the_host_and_goes_back) {
  counting memory = {0};
  tvms_context_options options = {
      .size = sizeof options, .allocate = count_allocation, .user = &memory};
  cr_assert_eq(do_all(&options), TVMS_OK);
  cr_assert_eq(memory.out, 0u);
  uint64_t calls = memory.calls;
  cr_assert_gt(calls, 1u);
  for (uint64_t n = 1; n <= calls; n++) {
    memory = (counting){.fails_at = n};
    cr_assert_eq(do_all(&options), TVMS_OVER_LIMIT, "call %u", (unsigned)n);
    cr_assert_eq(memory.out, 0u);
  }
}

Test(api, what_is_freed_serves_again) {
  tvms_program *program = read_text(model);
  size_t most = 0;
  for (int i = 0; i < 50; i++) {
    char *text = print_as(program, "0.27");
    size_t used = tvms_context_memory(context);
    if (i == 5) most = used;
    if (i > 5) cr_assert_leq(used, most);
    tvms_context_free(context, text);
  }
}

Test(api, spent_contexts_and_null_are_destroyed) {
  tvms_context_destroy(NULL);
  tvms_program_destroy(NULL);
  tvms_runner_destroy(NULL);
  tvms_context_free(context, NULL);
  tvms_program_destroy(read_text(model));
}
