// Indices grow or fall with the loop variables in all but strange programs. So the search
// begins at a corner of the iteration space and moves one variable at a time: to the other end
// of its loop if that helps, or as far as the conditions on the path allow, which bisection
// finds. Where remainders make it jagged, the first iterations are tried as well. The rest is for the caller: what it finds is proved, what it does not find may exist.
#include "lint/body_search.h"

#include "lint/body_eval.h"

enum { ROUNDS = 2, MOST_PARTS = 8, MOST_SWEPT = 64 };

typedef struct {
  tvms_lint_path *path;
  uint64_t loops;   // that may help
  uint64_t around;  // of them those that the objective does not depend on
  tvms_lint_objective *objective;
  const void *self;
  bool reached;           // the place, in the chosen iteration
  tvms_lint_value value;  // of the objective there
} search;

static void evaluate(search *s) {
  if (s->path->effort > 0) s->path->effort--;
  s->value = s->objective(s->path, s->self);
  s->reached = s->value.known && tvms_lint_path_is_reached(s->path);
}

static bool is_found(const search *s) {
  return s->reached && tvms_lint_at_least(&s->value, 0);
}

static bool is_in(const search *s, uint32_t slot) {
  return slot < 63 && (s->loops >> slot & 1);
}

// Chooses the first or the last iteration of all loops of the search, or those `steps` inside of
// them where the loop is longer.
static void go_to_corner(search *s, bool end, int64_t steps) {
  tvms_lint_path *path = s->path;
  tvms_lint_path_restart(path);
  for (uint32_t i = 0; i < path->loops.len; i++) {
    if (!is_in(s, i)) continue;
    tvms_lint_value extent = tvms_lint_path_value(path, path->loops.items[i].extent);
    bool longer = steps && tvms_lint_at_least(&extent, steps + 1);
    tvms_lint_path_choose(path, i, end, longer ? steps : 0);
  }
  evaluate(s);
}

// Is the iteration chosen now better than that of `before`?
static bool is_better(const search *s, const search *before) {
  if (s->reached != before->reached) return s->reached;
  if (s->value.known != before->value.known) return s->value.known;
  tvms_lint_value gain = tvms_lint_add(s->value, before->value, -1);
  return tvms_lint_at_least(&gain, 1);
}

// Tries an iteration of loop `slot`; keeps it if it is better.
static bool try_choice(search *s, uint32_t slot, bool from_end, int64_t steps) {
  search before = *s;
  tvms_lint_loop old = s->path->loops.items[slot];
  tvms_lint_path_choose(s->path, slot, from_end, steps);
  evaluate(s);
  if (is_better(s, &before)) return true;
  tvms_lint_path_choose(s->path, slot, old.from_end, old.steps);
  s->reached = before.reached;
  s->value = before.value;
  return false;
}

// The place is reached now, and it is not at the last iteration of the loop: goes as far up
// as it is.
static void climb(search *s, uint32_t slot) {
  const tvms_lint_loop *loop = &s->path->loops.items[slot];
  tvms_lint_value extent = tvms_lint_path_value(s->path, loop->extent);
  if (!s->reached || loop->from_end || !tvms_lint_is_constant(&extent)) return;
  int64_t low = loop->steps, high = extent.constant;
  while (high > low && high - low > 1 && !is_found(s)) {
    int64_t middle = low + (high - low) / 2;
    if (try_choice(s, slot, false, middle))
      low = middle;
    else
      high = middle;
  }
}

// No iteration that was tried is executed: tries some between the ends of the loop.
static void probe(search *s, uint32_t slot) {
  tvms_lint_value extent =
      tvms_lint_path_value(s->path, s->path->loops.items[slot].extent);
  if (!tvms_lint_is_constant(&extent)) return;
  for (int64_t part = 2; part <= MOST_PARTS; part *= 2) {
    for (int64_t i = 1; i < part; i += 2) {
      if (try_choice(s, slot, false, extent.constant / part * i)) return;
    }
  }
}

static void move(search *s, uint32_t slot) {
  // Such a loop can make the place one that is reached, and no more.
  if (s->reached && (s->around >> slot & 1)) return;
  bool at_end = s->path->loops.items[slot].from_end;
  if (try_choice(s, slot, !at_end, 0)) return;
  if (try_choice(s, slot, at_end, 1)) return;
  if (!s->reached && s->value.known) probe(s, slot);
  if (!s->path->loops.items[slot].from_end) climb(s, slot);
}

static bool ascend(search *s) {
  uint32_t count = s->path->loops.len;
  for (uint32_t round = 0; round < ROUNDS; round++) {
    for (uint32_t i = 0; i < count && !is_found(s); i++) {
      uint32_t slot = round % 2 ? count - 1 - i : i;
      if (is_in(s, slot) && s->path->effort > 0) move(s, slot);
    }
  }
  return is_found(s);
}

// Remainders rise and fall again: tries the first iterations of one loop after the other.
static bool sweep(search *s) {
  for (uint32_t slot = 0; slot < s->path->loops.len; slot++) {
    if (!is_in(s, slot) || s->around >> slot & 1) continue;
    tvms_lint_value extent =
        tvms_lint_path_value(s->path, s->path->loops.items[slot].extent);
    int64_t end = tvms_lint_is_constant(&extent) ? extent.constant : 0;
    for (int64_t i = 1; i < end && i < MOST_SWEPT; i++) {
      if (s->path->effort == 0) return false;
      (void)try_choice(s, slot, false, i);
      if (is_found(s)) return true;
    }
  }
  return false;
}

// Conditions on several loops, as those of a border around an image, hold at neither corner, and
// moving one loop is not enough: begins one iteration inside of it.
static bool ascend_inside(search *s) {
  if (!s->around && !s->path->conditions.len) return false;
  for (int end = 0; end < 2; end++) {
    go_to_corner(s, end, 1);
    if (s->reached && (is_found(s) || ascend(s))) return true;
  }
  return false;
}

bool tvms_lint_search(tvms_lint_path *path, uint64_t loops, bool jagged,
                      tvms_lint_objective *objective, const void *self) {
  if (path->uncertain || path->loops.len > 62) return false;
  uint64_t around = tvms_lint_path_loops_of_conditions(path);
  search s = {.path = path,
              .loops = loops | around,
              .around = around & ~loops,
              .objective = objective,
              .self = self};
  tvms_lint_path_restart(path);
  if (path->effort == 0) return false;
  go_to_corner(&s, false, 0);
  if (is_found(&s)) return true;
  bool known = s.value.known;
  go_to_corner(&s, true, 0);
  if (is_found(&s)) return true;
  if (!known && !s.value.known) return false;
  if (ascend(&s)) return true;
  go_to_corner(&s, false, 0);
  if (ascend(&s) || ascend_inside(&s)) return true;
  if (!jagged) return false;
  go_to_corner(&s, false, 0);
  return sweep(&s);
}
