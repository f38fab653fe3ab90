// Eight threads with a context each do all kinds of work on the same programs, and each gets
// what one thread alone gets. They begin: nothing has been used before.
//
//   threads [--native] FILE...
//
// With --native, functions that can be called are also run as native code, and the first lines
// say whether there is any.
#include <tvms/tvms.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, LARGEST = 1 << 20 };

typedef struct {
  const char *name;
  char *text;
  size_t size;
} input;

// All that the work on one file says.
typedef struct {
  char *text;
  size_t len;
} transcript;

typedef struct {
  const input *inputs;
  int count;
  bool native;
  transcript *said;  // one per input
} job;

static void die(const char *what) {
  fprintf(stderr, "threads: %s\n", what);
  exit(2);
}

static void say(transcript *said, const char *text, size_t len) {
  said->text = realloc(said->text, said->len + len + 1);
  if (!said->text) die("no memory");
  memcpy(said->text + said->len, text, len);
  said->len += len;
  said->text[said->len] = '\0';
}

static void say_status(transcript *said, const char *what, tvms_status status) {
  char line[64];
  int len = snprintf(line, sizeof line, "-- %s: %d\n", what, (int)status);
  say(said, line, (size_t)len);
}

static void say_fact(void *user, const tvms_fact *fact) {
  say(user, fact->name, strlen(fact->name));
  say(user, fact->type, strlen(fact->type));
}

static void say_results(transcript *said, const tvms_runner *runner) {
  tvms_result result = {.size = sizeof result};
  for (uint32_t i = 0; tvms_runner_result(runner, i, &result); i++) {
    if (result.kind != TVMS_RESULT_TENSOR) continue;
    size_t bytes = (result.tensor.dtype.bits + 7u) / 8u * result.tensor.dtype.lanes;
    for (int32_t k = 0; k < result.tensor.ndim; k++) {
      bytes *= (size_t)result.tensor.shape[k];
    }
    say(said, result.tensor.data, bytes);
  }
}

static void call(transcript *said, tvms_program *program, bool native) {
  tvms_runner_options options = {
      .size = sizeof options, .native = native, .steps = 20 * 1000};
  tvms_runner *runner;
  tvms_status status = tvms_runner_create(program, &options, &runner);
  if (status == TVMS_OK) status = tvms_runner_run(runner);
  say_status(said, "run", status);
  if (status == TVMS_OK) say_results(said, runner);
}

static void print(transcript *said, tvms_context *context, tvms_program *program,
                  const char *release) {
  tvms_program_print_options options = {.size = sizeof options, .release = release};
  char *text;
  size_t size;
  tvms_status status = tvms_program_print(program, &options, &text, &size);
  say_status(said, "print", status);
  if (status == TVMS_OK) say(said, text, size);
  tvms_context_free(context, text);
}

static void use_program(transcript *said, tvms_context *context, tvms_program *program,
                        bool native) {
  print(said, context, program, "0.22");
  print(said, context, program, NULL);
  say_status(said, "infer", tvms_program_infer(program, NULL, say_fact, said));
  call(said, program, false);
  if (native) call(said, program, true);
  say_status(said, "transform",
             tvms_program_transform(program, "LegalizeOps,FuseOps,FuseTIR", NULL));
  print(said, context, program, "0.26");
}

static void use_file(const input *file, bool native, transcript *said) {
  // Sanitizers need more stack for a level than the default leaves room for.
  tvms_context_options options = {.size = sizeof options, .depth = 20 * 1000};
  tvms_context *context;
  tvms_source *source;
  tvms_program *program;
  char *text;
  size_t size;
  if (tvms_context_create(&options, &context) != TVMS_OK) die("no context");
  if (tvms_source_add(context, file->name, file->text, file->size, &source) != TVMS_OK)
    die("no source");
  tvms_status status = tvms_program_read(context, source, NULL, &program);
  say_status(said, "read", status);
  if (status == TVMS_OK) use_program(said, context, program, native);
  if (tvms_source_format(context, source, &text, &size) == TVMS_OK)
    say(said, text, size);
  if (tvms_diag_render(context, NULL, &text, &size) != TVMS_OK) die("no findings");
  say(said, text, size);
  tvms_context_destroy(context);
}

static void *work(void *argument) {
  job *j = argument;
  for (int i = 0; i < j->count; i++) {
    use_file(&j->inputs[i], j->native, &j->said[i]);
  }
  return NULL;
}

static input load(const char *path) {
  input file = {path, malloc(LARGEST), 0};
  FILE *open = fopen(path, "rb");
  if (!open || !file.text) die(path);
  file.size = fread(file.text, 1, LARGEST, open);
  fclose(open);
  return file;
}

static void forget(job *j) {
  for (int i = 0; i < j->count; i++) {
    free(j->said[i].text);
  }
  free(j->said);
  j->said = NULL;
}

static job make_job(const input *inputs, int count, bool native) {
  job j = {inputs, count, native, calloc((size_t)count, sizeof(transcript))};
  if (!j.said) die("no memory");
  return j;
}

static int compare(const job *wanted, const job *got) {
  int different = 0;
  for (int i = 0; i < wanted->count; i++) {
    const transcript *a = &wanted->said[i], *b = &got->said[i];
    if (a->len == b->len && memcmp(a->text, b->text, a->len) == 0) continue;
    printf("%s: another thread gets something else\n", wanted->inputs[i].name);
    different++;
  }
  return different;
}

// One job for each thread, all at once.
static void run_together(job *jobs, const input *inputs, int count, bool native) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) {
    jobs[i] = make_job(inputs, count, native);
    if (pthread_create(&threads[i], NULL, work, &jobs[i]) != 0) die("no thread");
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
  }
}

static void tell_native(const input *file) {
  tvms_context *context;
  tvms_source *source;
  tvms_program *program = NULL;
  tvms_runner_options options = {.size = sizeof options, .native = true};
  tvms_runner *runner;
  if (tvms_context_create(NULL, &context) != TVMS_OK) die("no context");
  tvms_status status =
      tvms_source_add(context, file->name, file->text, file->size, &source);
  if (status == TVMS_OK) status = tvms_program_read(context, source, NULL, &program);
  if (status != TVMS_OK) die("no program");
  status = tvms_runner_create(program, &options, &runner);
  printf("native code: %s%s%s\n", tvms_status_name(status), status ? ": " : "",
         tvms_context_message(context));
  tvms_program_build_options build = {.size = sizeof build, .primfuncs_only = true};
  char *bytes;
  size_t size;
  status = tvms_program_build(program, &build, &bytes, &size);
  printf("object file: %s\n", tvms_status_name(status));
  tvms_context_destroy(context);
}

int main(int argc, char **argv) {
  bool native = argc > 1 && strcmp(argv[1], "--native") == 0;
  int count = argc - 1 - native, different = 0;
  if (count < 1) die("no file");
  input *inputs = calloc((size_t)count, sizeof *inputs);
  if (!inputs) die("no memory");
  for (int i = 0; i < count; i++) {
    inputs[i] = load(argv[argc - count + i]);
  }
  if (native) tell_native(&inputs[0]);
  job jobs[THREADS];
  run_together(jobs, inputs, count, native);
  job alone = make_job(inputs, count, native);
  work(&alone);
  size_t said = 0;
  for (int i = 0; i < count; i++) {
    said += alone.said[i].len;
  }
  for (int i = 0; i < THREADS; i++) {
    different += compare(&alone, &jobs[i]);
    forget(&jobs[i]);
  }
  printf("%d files, %zu bytes, %d differences\n", count, said, different);
  forget(&alone);
  for (int i = 0; i < count; i++) {
    free(inputs[i].text);
  }
  free(inputs);
  return different ? 1 : 0;
}
