// Stages of tvms in process: lexing (with layout), and text to surface tree.
//
//   stages FILE [RUNS]
//   stages FILE once      parses once and ends, for who measures the process
//
// Prints "stage<TAB>median seconds" of CPU time per pass, with memory as warm as the same
// work in `limit bench` has it.
#define _POSIX_C_SOURCE 200809L
#include "grammar/indentation.h"
#include "support/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
  tvms_context context;
  const char *path;
  int runs;
  tvms_source *source;
} bench;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void lex(bench *b) {
  tvms_surface surface = {.context = &b->context, .source = b->source};
  tvms_indentation layout;
  tvms_indentation_init(&layout, &surface, b->source->text, b->source->size, 0, false);
  while (tvms_indentation_next(&layout).kind != TVMS_TOK_END) {
  }
  tvms_surface_fini(&surface);
}

static void parse(bench *b) {
  tvms_surface surface;
  tvms_surface_parse(&surface, &b->context, b->source);
  tvms_surface_fini(&surface);
}

static void measure(bench *b, const char *name, void (*stage)(bench *)) {
  double *seconds = calloc((size_t)b->runs + 1, sizeof *seconds);
  if (!seconds) abort();
  int inner = b->source->size < 100000 ? (int)(2000000 / (b->source->size + 1)) + 1 : 1;
  for (int run = 0; run <= b->runs; run++) {
    double begin = now();
    for (int i = 0; i < inner; i++) {
      stage(b);
    }
    seconds[run] = (now() - begin) / inner;
  }
  // The first pass warms memory and is not counted.
  qsort(seconds + 1, (size_t)b->runs, sizeof *seconds, by_value);
  printf("%s\t%.9f\n", name, seconds[1 + b->runs / 2]);
  free(seconds);
}

static void run(void *argument) {
  bench *b = argument;
  b->source = tvms_source_read(&b->context.memory, b->path);
  if (!b->source) exit(2);
  b->context.diags.source = b->source;
  if (b->runs == 0) {
    parse(b);
    return;
  }
  measure(b, "lex", lex);
  measure(b, "parse", parse);
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  enum { DEFAULT_RUNS = 15 };
  bench b = {.path = argv[1], .runs = DEFAULT_RUNS};
  if (argc > 2) b.runs = strcmp(argv[2], "once") == 0 ? 0 : atoi(argv[2]);
  tvms_context_init(&b.context, &tvms_names);
  tvms_status status = tvms_memory_protect_deep(&b.context.memory, run, &b);
  tvms_context_fini(&b.context);
  return (int)status;
}
