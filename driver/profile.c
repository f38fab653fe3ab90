// Recording calls, and the table of functions.
#define _POSIX_C_SOURCE 200809L
#include "driver/profile.h"

#include "driver/clock.h"
#include "driver/profile_sums.h"
#include "driver/profile_work.h"
#include "ir/target.h"

#include <stdlib.h>

static uint64_t bytes_of(tvms_value value) {
  if (value.kind == TVMS_VALUE_TENSOR) return value.tensor->bytes;
  uint64_t sum = 0;
  for (uint32_t i = 0; value.kind == TVMS_VALUE_TUPLE && i < value.tuple->len; i++)
    sum += bytes_of(value.tuple->items[i]);
  return sum;
}

static void begin_call(tvms_profile *p, const tvms_interp_event *call) {
  uint32_t depth = p->open.len;
  tvms_profile_event event = {
      .member = call->member,
      .outer = depth ? p->open.items[depth - 1] : UINT32_MAX,
      .depth = depth,
      .span = call->span,
  };
  event.work = tvms_profile_work(p->memory, call->member, call->args, call->count);
  for (uint32_t i = 0; i < call->count; i++)
    event.bytes += bytes_of(call->args[i]);
  tvms_vec_push(p->memory, &p->open, p->events.len);
  double time = tvms_clock_now();
  if (!p->events.len) p->origin = time;
  event.begin = time - p->origin;
  tvms_vec_push(p->memory, &p->events, event);
}

static void observe(void *state, const tvms_interp_event *call) {
  tvms_profile *p = state;
  if (call->begins) {
    begin_call(p, call);
    return;
  }
  double time = tvms_clock_now();
  tvms_profile_event *event = &p->events.items[p->open.items[--p->open.len]];
  event->end = time - p->origin;
  event->alive = p->interp->heap->alive;
}

void tvms_profile_init(tvms_profile *profile, tvms_interp *interp) {
  *profile = (tvms_profile){.interp = interp, .memory = &interp->context->memory};
  interp->observe = observe;
  interp->observe_state = profile;
}

void tvms_profile_fini(tvms_profile *profile) {
  tvms_vec_fini(profile->memory, &profile->events);
  tvms_vec_fini(profile->memory, &profile->open);
  profile->interp->observe = NULL;
}

// ---- The peak ----

// Cycles per second: additions that wait for each other take one each.
static double measure_clock(void) {
  enum { ADDITIONS = 1000000, ROUNDS = 5 };
  double best = 0;
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t sum = 0;
    double begin = tvms_clock_now();
    for (uint32_t i = 0; i < ADDITIONS; i++) {
      sum += i;
      __asm__ volatile("" : "+r"(sum));
    }
    double clock = ADDITIONS / (tvms_clock_now() - begin);
    if (clock > best) best = clock;
  }
  return best;
}

double tvms_profile_peak(tvms_context *context) {
  enum { UNITS = 2, FUSED = 2, FLOAT_BITS = 32 };
  tvms_unit unit;
  tvms_unit_init(&unit, context, TVMS_DIALECT_CURRENT);
  tvms_target host;
  tvms_target_from_host(&unit, &host);
  double lanes = host.vector_bits / FLOAT_BITS;
  double each = tvms_target_has_fma(context, &host) ? FUSED : 1;
  tvms_unit_fini(&unit);
  return lanes > 0 ? lanes * each * UNITS * measure_clock() : 0;
}

// ---- By function ----

static const double KIB = 1024;

static int by_time(const void *a, const void *b) {
  const tvms_profile_sum *x = a, *y = b;
  return (x->own < y->own) - (x->own > y->own);
}

uint32_t tvms_profile_sum_up(const tvms_profile *p, tvms_arena *arena,
                             tvms_profile_sum **sums) {
  const tvms_module *module = p->interp->module;
  tvms_profile_sum *all =
      tvms_arena_array(arena, tvms_profile_sum, module->member_count);
  for (uint32_t i = 0; i < p->events.len; i++) {
    const tvms_profile_event *event = &p->events.items[i];
    tvms_profile_sum *sum = &all[event->member - module->members];
    sum->member = event->member;
    sum->calls++;
    sum->own += event->end - event->begin;
    sum->work += event->work;
    sum->bytes += (double)event->bytes;
    if (event->outer == UINT32_MAX) continue;
    const tvms_member *outer = p->events.items[event->outer].member;
    all[outer - module->members].own -= event->end - event->begin;
  }
  uint32_t count = 0;
  for (uint32_t i = 0; i < module->member_count; i++)
    if (all[i].calls) all[count++] = all[i];
  qsort(all, count, sizeof *all, by_time);
  *sums = all;
  return count;
}

static void add_row(const tvms_profile *p, const tvms_profile_sum *sum, double total,
                    double peak, tvms_strbuf *out) {
  const char *name = tvms_symbol_text(p->interp->context, sum->member->name);
  tvms_strbuf_printf(out, "%10.3f %6.1f %7llu", sum->own * 1e3, 100 * sum->own / total,
                     (unsigned long long)sum->calls);
  bool computes = sum->member->function->kind == TVMS_NODE_PRIM_FUNC && sum->own > 0;
  if (computes && sum->work > 0) {
    tvms_strbuf_printf(out, " %9.4g", sum->work / sum->own * 1e-9);
    if (peak > 0)
      tvms_strbuf_printf(out, " %6.1f", 100 * sum->work / sum->own / peak);
    else
      tvms_strbuf_puts(out, "      -");
  } else {
    tvms_strbuf_puts(out, "         -      -");
  }
  if (computes)
    tvms_strbuf_printf(out, " %9.4g", sum->bytes / sum->own * 1e-9);
  else
    tvms_strbuf_puts(out, "         -");
  tvms_strbuf_printf(out, " %9.1f  %s\n", sum->bytes / KIB, name);
}

void tvms_profile_table(const tvms_profile *profile, tvms_strbuf *out) {
  tvms_arena arena;
  tvms_arena_init(&arena, profile->memory);
  tvms_profile_sum *sums;
  uint32_t count = tvms_profile_sum_up(profile, &arena, &sums);
  double total = 0, peak = tvms_profile_peak(profile->interp->context);
  for (uint32_t i = 0; i < count; i++)
    total += sums[i].own;
  tvms_strbuf_puts(
      out,
      "        ms      %   calls   GFLOP/s % peak      GB/s       KiB  function\n");
  for (uint32_t i = 0; i < count; i++)
    add_row(profile, &sums[i], total, peak, out);
  tvms_arena_fini(&arena);
}
