// Calling a function until enough runs are timed, and telling what they took.
#define _POSIX_C_SOURCE 200809L
#include "driver/bench.h"

#include "driver/clock.h"
#include "interp/prim.h"
#include "support/vec.h"

#include <stdlib.h>

enum { LEAST_RUNS = 3, MOST_RUNS = 100000, DEEPEST = 64 };

typedef struct {
  double total;  // seconds, functions that it calls included
  uint64_t calls;
} function_time;

typedef struct {
  tvms_interp interp;
  const tvms_module *module;
  const tvms_member *entry;
  const tvms_value *values;
  uint32_t count;
  tvms_memory *memory;
  TVMS_VEC(double) times;
  function_time *functions;  // by member
  double begun[DEEPEST];     // of the calls in progress
  uint32_t depth;
  uint64_t made;  // bytes of tensors in one run
} bench;

static void observe(void *state, const tvms_interp_event *event) {
  bench *b = state;
  if (event->begins) {
    if (b->depth < DEEPEST) b->begun[b->depth] = tvms_clock_now();
    b->depth++;
    return;
  }
  function_time *time = &b->functions[event->member - b->module->members];
  time->calls++;
  if (--b->depth < DEEPEST) time->total += tvms_clock_now() - b->begun[b->depth];
}

// One call; false if it failed, which was reported.
static bool call_once(bench *b) {
  tvms_value result;
  uint64_t before = b->interp.heap->made;
  b->depth = 0;
  tvms_status status =
      tvms_interp_call(&b->interp, b->entry, b->values, b->count, &result);
  if (status == TVMS_OVER_LIMIT) tvms_memory_unwind(b->memory, status);
  if (status != TVMS_OK) return false;
  tvms_value_drop(result);
  b->made = b->interp.heap->made - before;
  return true;
}

static bool measure(bench *b, uint64_t repeat) {
  uint64_t wanted = repeat ? repeat : MOST_RUNS;
  if (!call_once(b)) return false;
  for (uint32_t i = 0; i < b->module->member_count; i++) {
    b->functions[i] = (function_time){0};
  }
  double begin = tvms_clock_now();
  for (uint64_t i = 0; i < wanted; i++) {
    double before = tvms_clock_now();
    if (!call_once(b)) return false;
    double after = tvms_clock_now();
    tvms_vec_push(b->memory, &b->times, after - before);
    if (!repeat && i + 1 >= LEAST_RUNS && after - begin > 1) break;
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
                       tvms_symbol_text(b->interp.context, b->module->members[i].name),
                       (unsigned long long)(time->calls / runs));
    add_time(out, time->total / (double)runs);
    tvms_strbuf_putc(out, '\n');
  }
}

static void report(bench *b, bool by_function, tvms_strbuf *out) {
  uint32_t runs = b->times.len;
  if (!runs) return;
  uint64_t calls = 0;
  for (uint32_t i = 0; i < b->module->member_count; i++) {
    calls += b->functions[i].calls;
  }
  qsort(b->times.items, runs, sizeof *b->times.items, by_size);
  tvms_strbuf_printf(out, "%s: median ",
                     tvms_symbol_text(b->interp.context, b->entry->name));
  add_time(out, b->times.items[runs / 2]);
  tvms_strbuf_puts(out, "  least ");
  add_time(out, b->times.items[0]);
  tvms_strbuf_puts(out, "  most ");
  add_time(out, b->times.items[runs - 1]);
  tvms_strbuf_printf(out, "  (%u runs, %llu calls and %llu bytes of tensors each)\n",
                     runs, (unsigned long long)(calls / runs),
                     (unsigned long long)b->made);
  if (by_function) add_functions(b, out, runs);
}

bool tvms_bench(const tvms_interp *interp, const tvms_member *entry,
                const tvms_value *values, uint32_t count,
                const tvms_bench_options *options, tvms_strbuf *out) {
  bench b = {
      .interp = *interp,
      .module = interp->module,
      .entry = entry,
      .values = values,
      .count = count,
      .memory = &interp->context->memory,
  };
  b.functions = tvms_arena_array(&interp->context->arena, function_time,
                                 interp->module->member_count);
  b.interp.observe = observe;
  b.interp.observe_state = &b;
  bool measured = measure(&b, options->repeat);
  if (measured) report(&b, options->by_function, out);
  tvms_vec_fini(b.memory, &b.times);
  return measured;
}
