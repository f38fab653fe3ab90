// Events in the order in which they came, and what follows from them.
#define _POSIX_C_SOURCE 200809L
#include "driver/machine_trace.h"

#include "support/json.h"

#include <stdio.h>
#include <time.h>

enum { MOST_EVENTS = 1 << 24 };

void tvms_machine_trace_init(tvms_machine_trace *trace, tvms_memory *memory,
                             const tvms_vm_executable *code) {
  *trace = (tvms_machine_trace){.memory = memory, .code = code};
}

void tvms_machine_trace_fini(tvms_machine_trace *trace) {
  tvms_vec_fini(trace->memory, &trace->events);
}

void tvms_machine_trace_note(void *state, int64_t instruction, bool begins) {
  tvms_machine_trace *trace = state;
  if (trace->events.len >= MOST_EVENTS) {
    trace->dropped++;
    return;
  }
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  tvms_machine_event event = {
      instruction, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec, begins};
  tvms_vec_push(trace->memory, &trace->events, event);
}

// Calls `visit` for each call that came to its end, in the order of the ends.
typedef void call_visit(void *self, int64_t instruction, uint64_t begin, uint64_t end,
                        uint32_t depth);

static void each_call(const tvms_machine_trace *trace, call_visit *visit, void *self) {
  TVMS_VEC(uint32_t) open = {0};
  for (uint32_t i = 0; i < trace->events.len; i++) {
    const tvms_machine_event *event = &trace->events.items[i];
    if (event->begins) {
      tvms_vec_push(trace->memory, &open, i);
    } else if (open.len) {
      const tvms_machine_event *begin = &trace->events.items[open.items[--open.len]];
      visit(self, begin->instruction, begin->nanoseconds, event->nanoseconds, open.len);
    }
  }
  tvms_vec_fini(trace->memory, &open);
}

static const tvms_vm_function *function_of(const tvms_machine_trace *trace,
                                           int64_t instruction) {
  for (uint32_t i = 0; i < trace->code->functions.len; i++) {
    const tvms_vm_function *function = &trace->code->functions.items[i];
    bool here = function->kind == TVMS_VM_IS_BYTECODE && instruction >= function->begin
                && instruction < function->end;
    if (here) return function;
  }
  return &trace->code->functions.items[0];
}

static tvms_bytes callee_of(const tvms_machine_trace *trace, int64_t instruction) {
  const int64_t *words = tvms_vm_instruction(trace->code, instruction);
  return trace->code->functions.items[words[2]].name;
}

// ---- The table ----

typedef struct {
  uint64_t calls;
  uint64_t nanoseconds;
} instruction_sum;

typedef struct {
  instruction_sum *sums;
  uint64_t all;  // nanoseconds of the outermost calls
} sum_table;

static void add_call(void *self, int64_t instruction, uint64_t begin, uint64_t end,
                     uint32_t depth) {
  sum_table *t = self;
  t->sums[instruction].calls++;
  t->sums[instruction].nanoseconds += end - begin;
  if (!depth) t->all += end - begin;
}

static void put_row(const tvms_machine_trace *trace, int64_t instruction,
                    const sum_table *t, tvms_strbuf *out) {
  const instruction_sum *sum = &t->sums[instruction];
  const tvms_vm_function *function = function_of(trace, instruction);
  tvms_bytes callee = callee_of(trace, instruction);
  double share = t->all ? 100.0 * (double)sum->nanoseconds / (double)t->all : 0;
  tvms_strbuf_printf(out, "%12.3f us %6.2f %%  %6llu  %.*s:%lld  %.*s\n",
                     (double)sum->nanoseconds / 1e3, share,
                     (unsigned long long)sum->calls, (int)function->name.len,
                     function->name.text, (long long)(instruction - function->begin),
                     (int)callee.len, callee.text);
}

void tvms_machine_trace_table(const tvms_machine_trace *trace, tvms_strbuf *out) {
  uint32_t count = trace->code->offsets.len;
  sum_table t = {0};
  t.sums = tvms_memory_alloc(trace->memory, (count + 1) * sizeof *t.sums);
  each_call(trace, add_call, &t);
  tvms_strbuf_puts(out, "        time      share   calls  instruction  callee\n");
  for (uint32_t i = 0; i < count; i++) {
    if (t.sums[i].calls) put_row(trace, i, &t, out);
  }
  if (trace->dropped)
    tvms_strbuf_printf(out, "%llu further events were not kept\n",
                       (unsigned long long)trace->dropped);
  tvms_memory_free(trace->memory, t.sums);
}

// ---- The trace ----

typedef struct {
  const tvms_machine_trace *trace;
  tvms_json json;
  uint64_t start;
} trace_writer;

static void put_time(tvms_json *json, const char *key, uint64_t nanoseconds) {
  tvms_json_key(json, key);
  char text[32];
  int len =
      snprintf(text, sizeof text, "%llu.%03u", (unsigned long long)(nanoseconds / 1000),
               (unsigned)(nanoseconds % 1000));
  tvms_json_value(json, text, (size_t)len);
}

static void put_event(void *self, int64_t instruction, uint64_t begin, uint64_t end,
                      uint32_t depth) {
  trace_writer *w = self;
  (void)depth;
  const tvms_vm_function *function = function_of(w->trace, instruction);
  tvms_bytes callee = callee_of(w->trace, instruction);
  tvms_json_open(&w->json, '{');
  tvms_json_key(&w->json, "name");
  tvms_json_string(&w->json, callee.text, callee.len);
  tvms_json_put_text(&w->json, "ph", "X");
  put_time(&w->json, "ts", begin - w->start);
  put_time(&w->json, "dur", end - begin);
  tvms_json_put_int(&w->json, "pid", 1);
  tvms_json_put_int(&w->json, "tid", 1);
  tvms_json_key(&w->json, "args");
  tvms_json_open(&w->json, '{');
  tvms_json_key(&w->json, "function");
  tvms_json_string(&w->json, function->name.text, function->name.len);
  tvms_json_put_int(&w->json, "instruction", instruction - function->begin);
  tvms_json_close(&w->json, '}');
  tvms_json_close(&w->json, '}');
}

void tvms_machine_trace_json(const tvms_machine_trace *trace, tvms_strbuf *out) {
  trace_writer w = {.trace = trace};
  if (trace->events.len) w.start = trace->events.items[0].nanoseconds;
  tvms_json_init(&w.json, out);
  tvms_json_open(&w.json, '{');
  tvms_json_put_text(&w.json, "displayTimeUnit", "ns");
  tvms_json_key(&w.json, "traceEvents");
  tvms_json_open(&w.json, '[');
  each_call(trace, put_event, &w);
  tvms_json_close(&w.json, ']');
  tvms_json_close(&w.json, '}');
  tvms_strbuf_putc(out, '\n');
}
