// The tree of what took time.
//
// Modules of one text run the same passes one after the other: what comes at the same place
// again is added to the node that is there.
#include "driver/timing.h"

#include "support/json.h"

#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  timespec_get(&time, TIME_UTC);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void adopt(tvms_timing_node *parent, tvms_timing_node *node) {
  node->parent = parent;
  if (parent->last)
    parent->last->next = node;
  else
    parent->first = node;
  parent->last = node;
}

void tvms_timing_init(tvms_timing *timing, tvms_arena *arena) {
  *timing = (tvms_timing){.arena = arena,
                          .all = {.name = "all", .is_group = true},
                          .reading = {.name = "reading"},
                          .passes = {.name = "passes", .is_group = true},
                          .verification = {.name = "verification"},
                          .printing = {.name = "printing"}};
  adopt(&timing->all, &timing->reading);
  adopt(&timing->all, &timing->passes);
  adopt(&timing->all, &timing->verification);
  adopt(&timing->all, &timing->printing);
  timing->at = &timing->all;
}

static void enter(tvms_timing *timing, tvms_timing_node *node) {
  node->due = node->first;
  node->began = now();
  timing->at = node;
}

static void leave(tvms_timing *timing, tvms_timing_node *node) {
  node->seconds += now() - node->began;
  timing->at = node->parent;
}

void tvms_timing_start(tvms_timing *timing, tvms_timing_node *node) {
  enter(timing, node);
}

void tvms_timing_stop(tvms_timing *timing, tvms_timing_node *node) {
  leave(timing, node);
}

void tvms_timing_begin(void *self, tvms_pass_phase phase, const char *name) {
  tvms_timing *timing = self;
  if (phase == TVMS_PHASE_VERIFICATION) {
    tvms_timing_node *at = timing->at;
    enter(timing, &timing->verification);
    timing->verification.parent = at;
    return;
  }
  tvms_timing_node *parent = timing->at, *node = parent->due;
  if (!node || strcmp(node->name, name) != 0) {
    node = tvms_arena_new(timing->arena, tvms_timing_node);
    node->name = name;
    node->is_group = phase == TVMS_PHASE_PIPELINE;
    adopt(parent, node);
  }
  parent->due = node->next;
  enter(timing, node);
}

void tvms_timing_end(void *self) {
  tvms_timing *timing = self;
  leave(timing, timing->at);
}

static double seconds_of(const tvms_timing_node *node) {
  if (!node->is_group) return node->seconds;
  double sum = 0;
  for (const tvms_timing_node *part = node->first; part; part = part->next)
    sum += seconds_of(part);
  return sum;
}

static void show(const tvms_timing_node *node, uint32_t depth, double whole,
                 tvms_strbuf *out) {
  double seconds = seconds_of(node);
  tvms_strbuf_printf(out, "%9.3f ms %5.1f %%  ", seconds * 1e3,
                     whole > 0 ? 100 * seconds / whole : 0.0);
  tvms_strbuf_fill(out, ' ', 2 * depth);
  tvms_strbuf_printf(out, "%s\n", node->name);
  for (const tvms_timing_node *part = node->first; part; part = part->next)
    show(part, depth + 1, whole, out);
}

void tvms_timing_show(const tvms_timing *timing, tvms_strbuf *out) {
  show(&timing->all, 0, seconds_of(&timing->all), out);
}

static void put(const tvms_timing_node *node, tvms_json *json) {
  tvms_json_open(json, '{');
  tvms_json_put_text(json, "name", node->name);
  tvms_json_put_int(json, "microseconds", (int64_t)(seconds_of(node) * 1e6));
  tvms_json_key(json, "parts");
  tvms_json_open(json, '[');
  for (const tvms_timing_node *part = node->first; part; part = part->next)
    put(part, json);
  tvms_json_close(json, ']');
  tvms_json_close(json, '}');
}

void tvms_timing_json(const tvms_timing *timing, const char *file, tvms_strbuf *out) {
  tvms_json json;
  tvms_json_init(&json, out);
  tvms_json_open(&json, '{');
  tvms_json_put_text(&json, "file", file);
  tvms_json_key(&json, "timing");
  put(&timing->all, &json);
  tvms_json_close(&json, '}');
}
