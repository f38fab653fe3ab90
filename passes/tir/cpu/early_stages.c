// Moving stages that do not need the result of a sum in front of it.
//
// Before: C = A * B; r = sqrt(v); D = C / r     After: r = sqrt(v); C = A * B; D = C / r
//
// D is behind C then, and can be computed tile by tile with it.
#include "passes/tir/cpu/early_stages.h"

#include "passes/tir/cpu/nodes.h"
#include "passes/tir/cpu/stage.h"

typedef struct {
  tvms_unit *unit;
  tvms_list stmts;
  bool *late;  // needs the sum, or something that does
} sorting;

static const tvms_node *stored_by(sorting *s, uint32_t i) {
  tvms_stage stage;
  return tvms_stage_read(s->unit, s->stmts.items[i], &stage) ? NULL
                                                             : stage.store->buffer;
}

// Must statement `i` stay behind statement `before`, which is late?
static bool must_follow(sorting *s, uint32_t before, uint32_t i) {
  return tvms_cpu_mentions(s->unit, s->stmts.items[i], stored_by(s, before))
         || tvms_cpu_mentions(s->unit, s->stmts.items[before], stored_by(s, i));
}

// Finds what is late among the element-wise stages behind the sum `at`, and returns the last one of those; `at`: none
// is.
static uint32_t find_late(sorting *s, uint32_t at) {
  uint32_t last = at;
  s->late[at] = true;
  for (uint32_t i = at + 1; i < s->stmts.len; i++) {
    tvms_stage stage;
    if (tvms_stage_read(s->unit, s->stmts.items[i], &stage)
        || tvms_stage_has_sums(&stage))
      break;
    s->late[i] = false;
    for (uint32_t k = at; k < i && !s->late[i]; k++)
      s->late[i] = s->late[k] && must_follow(s, k, i);
    if (s->late[i]) last = i;
  }
  return last;
}

// Puts what is not late among the statements from `at` to `last` in front, both in their order.
static bool sort(sorting *s, uint32_t at, uint32_t last) {
  tvms_list from = tvms_list_copy(s->unit, s->stmts.items, s->stmts.len);
  uint32_t to = at;
  for (uint32_t i = at; i <= last; i++)
    if (!s->late[i]) s->stmts.items[to++] = from.items[i];
  bool moved = to > at;
  for (uint32_t i = at; i <= last; i++)
    if (s->late[i]) s->stmts.items[to++] = from.items[i];
  return moved;
}

tvms_list tvms_cpu_early_stages(tvms_unit *unit, tvms_list stmts) {
  sorting s = {.unit = unit, .stmts = tvms_list_copy(unit, stmts.items, stmts.len)};
  s.late = tvms_arena_array(&unit->arena, bool, stmts.len + 1);
  bool moved = false;
  for (uint32_t at = 0; at + 2 < stmts.len; at++) {
    tvms_stage stage;
    if (tvms_stage_read(unit, s.stmts.items[at], &stage)
        || !tvms_stage_has_sums(&stage))
      continue;
    uint32_t last = find_late(&s, at);
    bool now = sort(&s, at, last);
    moved |= now;
    if (now) at = last;
  }
  return moved ? s.stmts : stmts;
}
