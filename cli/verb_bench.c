// `tvms bench FILE`: how long a function takes, what it calls and how much it allocates.
//
// Native code is compiled once and runs without index checks, as a built library would.
// One run warms caches and is not counted. Times are wall time; the median is what to look
// at, the least what the machine can do.
#define _POSIX_C_SOURCE 200809L
#include "cli/files.h"
#include "cli/native.h"
#include "cli/program.h"
#include "interp/prim.h"
#include "support/vec.h"

#include <stdlib.h>
#include <time.h>

enum { LEAST_RUNS = 3, MOST_RUNS = 100000, DEEPEST = 64 };

typedef struct {
  double total;  // seconds, functions that it calls included
  uint64_t calls;
} function_time;

typedef struct {
  tvms_run *run;
  const tvms_module *module;
  const tvms_member *entry;
  tvms_heap *heap;
  tvms_interp interp;
  tvms_value *values;
  uint32_t count;
  TVMS_VEC(double) times;
  function_time *functions;  // by member
  double begun[DEEPEST];     // of the calls in progress
  uint32_t depth;
  uint64_t made;  // bytes of tensors in one run
} bench;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void observe(void *state, const tvms_member *member, bool begins) {
  bench *b = state;
  if (begins) {
    if (b->depth < DEEPEST) b->begun[b->depth] = now();
    b->depth++;
    return;
  }
  function_time *time = &b->functions[member - b->module->members];
  time->calls++;
  if (--b->depth < DEEPEST) time->total += now() - b->begun[b->depth];
}

// One call; false if it failed, which was reported.
static bool call_once(bench *b) {
  tvms_value result;
  uint64_t before = b->heap->made;
  b->depth = 0;
  tvms_status status =
      tvms_interp_call(&b->interp, b->entry, b->values, b->count, &result);
  if (status == TVMS_OVER_LIMIT) tvms_memory_unwind(&b->run->context->memory, status);
  if (status != TVMS_OK) return false;
  tvms_value_drop(result);
  b->made = b->heap->made - before;
  return true;
}

static bool measure(bench *b) {
  bool given = b->run->options.repeat != UINT64_MAX;
  uint64_t wanted = given ? b->run->options.repeat : MOST_RUNS;
  if (!call_once(b)) return false;
  for (uint32_t i = 0; i < b->module->member_count; i++) {
    b->functions[i] = (function_time){0};
  }
  double begin = now();
  for (uint64_t i = 0; i < wanted; i++) {
    double before = now();
    if (!call_once(b)) return false;
    double after = now();
    tvms_vec_push(&b->run->context->memory, &b->times, after - before);
    if (!given && i + 1 >= LEAST_RUNS && after - begin > 1) break;
  }
  return true;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// "12.3 us" and the like.
static void add_time(tvms_strbuf *out, double seconds) {
  static const char *const units[] = {"s", "ms", "us", "ns"};
  size_t unit = 0;
  while (unit < 3 && seconds < 1) {
    seconds *= 1000;
    unit++;
  }
  tvms_strbuf_printf(out, "%.4g %s", seconds, units[unit]);
}

static void add_functions(bench *b, tvms_strbuf *out, uint64_t runs) {
  for (uint32_t i = 0; i < b->module->member_count; i++) {
    const function_time *time = &b->functions[i];
    if (!time->calls) continue;
    tvms_strbuf_printf(out, "  %-24s %llu calls  ",
                       tvms_symbol_text(b->run->context, b->module->members[i].name),
                       (unsigned long long)(time->calls / runs));
    add_time(out, time->total / (double)runs);
    tvms_strbuf_putc(out, '\n');
  }
}

static void report(bench *b) {
  uint32_t runs = b->times.len;
  if (!runs) return;
  tvms_strbuf *out = &b->run->result;
  uint64_t calls = 0;
  for (uint32_t i = 0; i < b->module->member_count; i++) {
    calls += b->functions[i].calls;
  }
  qsort(b->times.items, runs, sizeof *b->times.items, by_size);
  tvms_strbuf_printf(out, "%s: median ",
                     tvms_symbol_text(b->run->context, b->entry->name));
  add_time(out, b->times.items[runs / 2]);
  tvms_strbuf_puts(out, "  least ");
  add_time(out, b->times.items[0]);
  tvms_strbuf_puts(out, "  most ");
  add_time(out, b->times.items[runs - 1]);
  tvms_strbuf_printf(out, "  (%u runs, %llu calls and %llu bytes of tensors each)\n",
                     runs, (unsigned long long)(calls / runs),
                     (unsigned long long)b->made);
  if (b->run->options.profile) add_functions(b, out, runs);
}

static void run_bench(bench *b, tvms_compiled *compiled) {
  tvms_arena *arena = &b->run->context->arena;
  b->count = tvms_inputs_param_count(b->entry);
  b->values = tvms_arena_array(arena, tvms_value, b->count);
  b->functions = tvms_arena_array(arena, function_time, b->module->member_count);
  if (!tvms_run_make_inputs(b->run, b->entry, b->heap, b->values)) return;
  b->interp =
      (tvms_interp){.context = b->run->context, .module = b->module, .heap = b->heap};
  tvms_compiled_use(compiled, &b->interp);
  b->interp.observe = observe;
  b->interp.observe_state = b;
  if (measure(b)) report(b);
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
  bench b = {.run = run, .module = module, .entry = entry, .heap = &heap};
  run_bench(&b, &compiled);
  tvms_heap_fini(&heap);
  tvms_compiled_close(&compiled);
  return TVMS_OK;
}

tvms_status tvms_verb_bench(tvms_run *run) {
  if (!tvms_run_check_dialects(run, false)) return TVMS_FAILED_IO;
  if (run->options.paths.len != 1) return tvms_run_misused(run, "one file is wanted");
  return tvms_files_read_one(run, run->options.paths.items[0], bench_source);
}
