// Scopes of a path, and what its variables depend on. Values are in lint/body_eval.c.
#include "lint/body_path.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "lint/body_eval.h"

enum { MOST_SHOWN = 4, EFFORT = 60000 };

// ---- Life ----

static tvms_walk_step see_size(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  tvms_lint_path *path = self;
  if (node->kind != TVMS_NODE_VAR) return TVMS_WALK_SKIP;
  tvms_vec_reach(path->memory, &path->positive, node->id);
  path->positive.items[node->id] = 1;
  return TVMS_WALK_ON;
}

void tvms_lint_path_init(tvms_lint_path *path, tvms_unit *unit,
                         const tvms_prim_func *function) {
  tvms_memory *memory = &unit->context->memory;
  *path = (tvms_lint_path){
      .unit = unit, .context = unit->context, .memory = memory, .effort = EFFORT};
  path->epoch = path->forgotten = 1;
  tvms_visitor visitor = {.self = path, .enter = see_size};
  for (uint32_t i = 0; i < function->buffers.len; i++) {
    if (!function->buffers.items[i]) continue;
    tvms_list shape = tvms_as_buffer(function->buffers.items[i])->shape;
    for (uint32_t k = 0; k < shape.len; k++)
      (void)tvms_walk(memory, shape.items[k], &visitor);
  }
}

void tvms_lint_path_fini(tvms_lint_path *path) {
  tvms_vec_fini(path->memory, &path->loops);
  tvms_vec_fini(path->memory, &path->conditions);
  tvms_vec_fini(path->memory, &path->definitions);
  tvms_vec_fini(path->memory, &path->places);
  tvms_vec_fini(path->memory, &path->positive);
}

tvms_lint_mark tvms_lint_path_mark(const tvms_lint_path *path) {
  return (tvms_lint_mark){path->loops.len, path->conditions.len, path->definitions.len};
}

void tvms_lint_path_leave(tvms_lint_path *path, tvms_lint_mark mark) {
  path->loops.len = mark.loops;
  path->conditions.len = mark.conditions;
  path->definitions.len = mark.definitions;
}

// ---- What is on the path ----

static void define(tvms_lint_path *path, tvms_lint_definition definition) {
  tvms_vec_push(path->memory, &path->definitions, definition);
  tvms_vec_reach(path->memory, &path->places, definition.var->id);
  path->places.items[definition.var->id] = path->definitions.len;
}

static uint64_t bit_of(uint32_t loop) {
  return (uint64_t)1 << (loop < 63 ? loop : 63);
}

static int64_t plus(int64_t a, int64_t b) {
  int64_t sum;
  if (a == INT64_MAX || b == INT64_MAX || __builtin_add_overflow(a, b, &sum))
    return INT64_MAX;
  return sum;
}

void tvms_lint_path_loop(tvms_lint_path *path, tvms_lint_loop loop) {
  tvms_lint_range first = {0, 0}, extent = tvms_lint_path_range(path, loop.extent);
  uint64_t loops = tvms_lint_path_loops_of(path, loop.extent);
  if (loop.min) {
    first = tvms_lint_path_range(path, loop.min);
    loops |= tvms_lint_path_loops_of(path, loop.min);
  }
  if (loop.step) loops |= tvms_lint_path_loops_of(path, loop.step);
  loop.moved = ++path->epoch;
  loop.depends = loops | bit_of(path->loops.len);
  tvms_lint_definition definition = {.var = loop.var, .loop = path->loops.len};
  definition.loops = loops | bit_of(path->loops.len);
  if (!loop.min || tvms_node_is_int(loop.min, 0)) definition.extent = loop.extent;
  definition.range.min = first.min;
  definition.range.max = plus(first.max, plus(extent.max, -1));
  tvms_vec_push(path->memory, &path->loops, loop);
  define(path, definition);
}

void tvms_lint_path_bind(tvms_lint_path *path, const tvms_node *var,
                         const tvms_node *expr,
                         const tvms_range *TVMS_NULLABLE domain) {
  tvms_lint_definition definition = {.var = var, .expr = expr};
  definition.loops = tvms_lint_path_loops_of(path, expr);
  definition.range = tvms_lint_path_range(path, expr);
  definition.jagged = tvms_lint_path_is_jagged(path, expr);
  if (domain) {
    int64_t min = tvms_lint_path_range(path, domain->min).min;
    int64_t max = tvms_lint_path_range(path, domain->min).max;
    max = plus(max, plus(tvms_lint_path_range(path, domain->extent).max, -1));
    if (tvms_node_is_int(domain->min, 0)) definition.extent = domain->extent;
    if (min > definition.range.min) definition.range.min = min;
    if (max < definition.range.max) definition.range.max = max;
  }
  define(path, definition);
}

void tvms_lint_path_condition(tvms_lint_path *path, tvms_lint_condition_kind kind,
                              const tvms_node *expr, const tvms_node *TVMS_NULLABLE a,
                              const tvms_node *TVMS_NULLABLE b) {
  tvms_lint_condition condition = {.kind = kind, .expr = expr, .a = a, .b = b};
  condition.depends = condition.loops = tvms_lint_path_loops_of(path, expr);
  if (a) condition.depends |= tvms_lint_path_loops_of(path, a);
  if (b) condition.depends |= tvms_lint_path_loops_of(path, b);
  tvms_vec_push(path->memory, &path->conditions, condition);
}

uint64_t tvms_lint_path_loops_of_conditions(const tvms_lint_path *path) {
  uint64_t loops = 0;
  for (uint32_t i = 0; i < path->conditions.len; i++)
    loops |= path->conditions.items[i].loops;
  return loops;
}

// ---- Iterations ----

void tvms_lint_path_choose(tvms_lint_path *path, uint32_t slot, bool from_end,
                           int64_t steps) {
  tvms_lint_loop *loop = &path->loops.items[slot];
  if (loop->from_end == from_end && loop->steps == steps) return;
  loop->from_end = from_end;
  loop->steps = steps;
  loop->moved = ++path->epoch;
}

void tvms_lint_path_choose_lane(tvms_lint_path *path, bool last) {
  if (path->last_lane == last) return;
  path->last_lane = last;
  path->forgotten = ++path->epoch;
}

void tvms_lint_path_restart(tvms_lint_path *path) {
  for (uint32_t i = 0; i < path->loops.len; i++)
    tvms_lint_path_choose(path, i, false, 0);
}

static bool condition_holds(tvms_lint_path *path, const tvms_lint_condition *c) {
  tvms_lint_value value = tvms_lint_path_value(path, c->expr);
  switch (c->kind) {
  case TVMS_LINT_HOLDS: return tvms_lint_is_constant(&value) && value.constant != 0;
  case TVMS_LINT_FAILS: return tvms_lint_is_constant(&value) && value.constant == 0;
  case TVMS_LINT_EQUALS: {
    tvms_lint_value other = tvms_lint_path_value(path, c->a);
    return tvms_lint_same(&value, &other);
  }
  case TVMS_LINT_INSIDE: break;
  }
  value = tvms_lint_add(value, tvms_lint_path_value(path, c->a), -1);
  tvms_lint_value rest = tvms_lint_add(value, tvms_lint_path_value(path, c->b), -1);
  return tvms_lint_at_least(&value, 0) && tvms_lint_at_most(&rest, -1);
}

// The loop has the iteration that is chosen of it.
static bool loop_has_choice(tvms_lint_path *path, const tvms_lint_loop *loop) {
  tvms_lint_value extent = tvms_lint_path_value(path, loop->extent);
  int64_t step = 1, least;
  if (loop->step) {
    tvms_lint_value value = tvms_lint_path_value(path, loop->step);
    if (!tvms_lint_is_constant(&value) || value.constant < 1) return false;
    step = value.constant;
  }
  if (__builtin_mul_overflow(loop->steps, step, &least) || least == INT64_MAX)
    return false;
  return loop->steps >= 0 && tvms_lint_at_least(&extent, least + 1);
}

bool tvms_lint_path_is_reached(tvms_lint_path *path) {
  if (path->uncertain || path->loops.len > 62) return false;
  for (uint32_t i = 0; i < path->conditions.len; i++) {
    tvms_lint_condition *condition = &path->conditions.items[i];
    if (!tvms_lint_path_is_fresh(path, condition->checked, condition->depends)) {
      condition->holds = condition_holds(path, condition);
      condition->checked = path->epoch;
    }
    if (!condition->holds) return false;
  }
  for (uint32_t i = 0; i < path->loops.len; i++) {
    tvms_lint_loop *loop = &path->loops.items[i];
    if (!tvms_lint_path_is_fresh(path, loop->checked, loop->depends)) {
      loop->has_choice = loop_has_choice(path, loop);
      loop->checked = path->epoch;
    }
    if (!loop->has_choice) return false;
  }
  return true;
}

const char *tvms_lint_path_text(tvms_lint_path *path, uint64_t loops) {
  tvms_strbuf text;
  tvms_strbuf_init(&text, path->memory);
  uint32_t shown[MOST_SHOWN], count = 0;
  for (uint32_t i = 0; i < path->loops.len && count < MOST_SHOWN; i++) {
    if (loops & bit_of(i)) shown[count++] = i;
  }
  for (uint32_t i = 0; i < count; i++) {
    const tvms_node *var = path->loops.items[shown[i]].var;
    tvms_lint_value value = tvms_lint_path_value(path, var);
    if (i) tvms_strbuf_puts(&text, i + 1 == count ? " and " : ", ");
    const char *name = tvms_symbol_text(path->context, tvms_as_var(var)->name);
    tvms_strbuf_printf(&text, "%s = ", name);
    tvms_lint_value_text(path->context, &value, &text);
  }
  const char *kept =
      tvms_arena_text(&path->context->arena, tvms_strbuf_text(&text), text.len);
  tvms_strbuf_fini(&text);
  return kept;
}
