// What evaluation may cost in work and memory.
//
// Constants are evaluated when the text is read, and one line can ask for anything:
// `[0] * 10 ** 9`, or a text that a loop makes twice as long each time. Work is counted in
// steps: a call, an item of a comprehension, an item that a search looks at. Memory is what
// reader->values holds, which is what all values point to. Functions whose result is much
// larger than what they get (range, join, `*`, str, split) ask before they make it; all
// others are caught by the next step. At a limit the value is unknown and the file has an
// error, but for Python's own constants, which are just unknown.
#include "parser/eval/budget.h"

#include "ir/walk.h"

enum { MEGABYTE = 1 << 20 };
enum {
  MOST_BYTES = 32 * MEGABYTE,  // of values, and in addition …
  MOST_PER_SOURCE_BYTE = 4,    // … for long functions; usual ones take less than one
  MOST_REPEATED = 1 << 16,     // nodes of an expression that is written several times
};

static bool refuse(tvms_reader *reader, tvms_ref ref) {
  if (!reader->budget.too_long) tvms_reader_report(reader, endless, ref);
  reader->budget.too_long = true;
  reader->failed = true;
  return false;
}

uint64_t tvms_budget_of_values(const tvms_source *source) {
  return MOST_BYTES + (uint64_t)MOST_PER_SOURCE_BYTE * source->size;
}

uint64_t tvms_eval_room(const tvms_reader *reader) {
  uint64_t most = reader->budget.most_bytes, taken = tvms_arena_size(&reader->values);
  return taken < most ? most - taken : 0;
}

bool tvms_eval_may_take(tvms_reader *reader, uint64_t bytes, tvms_ref ref) {
  return bytes < tvms_eval_room(reader) || refuse(reader, ref);
}

bool tvms_eval_may_hold(tvms_reader *reader, tvms_eval_value value, tvms_ref ref) {
  uint64_t most = reader->budget.most_bytes / sizeof value;
  return tvms_eval_value_parts(value) <= most || refuse(reader, ref);
}

static tvms_walk_step count_node(void *self, tvms_node *node, tvms_field_role role) {
  (void)node;
  (void)role;
  uint32_t *left = self;
  return --*left ? TVMS_WALK_ON : TVMS_WALK_STOP;
}

bool tvms_eval_may_repeat(tvms_reader *reader, tvms_node *expr, tvms_ref ref) {
  uint32_t left = MOST_REPEATED;
  tvms_visitor visitor = {.self = &left, .enter = count_node};
  return tvms_walk(&reader->context->memory, expr, &visitor) || refuse(reader, ref);
}

bool tvms_eval_count_steps(tvms_reader *reader, uint64_t steps, tvms_ref ref) {
  tvms_context *context = reader->context;
  context->steps += steps;
  tvms_memory_check_time(&context->memory);
  if (context->steps >= context->step_limit) return refuse(reader, ref);
  return tvms_eval_may_take(reader, 0, ref);
}

bool tvms_eval_count_step(tvms_reader *reader, tvms_ref ref) {
  return tvms_eval_count_steps(reader, 1, ref);
}
