// Barriers that only some of the threads reach, which wait for ever.
//
// A condition on the way to the barrier that holds for one thread and fails for another,
// where nothing else keeps the other thread out. What has a barrier in both of its cases may
// be meant, so nothing is said of it. Or a loop around it that one thread goes through more
// often than another.
#include "lint/body_barrier.h"

#include "ir/build.h"
#include "ir/walk.h"
#include "lint/body_eval.h"
#include "support/diag_ids.h"

#include <inttypes.h>
#include <string.h>

// Does the call wait for all threads of a block?
static bool is_barrier(const tvms_node *call, tvms_tir_opcode opcode) {
  switch ((int)opcode) {
  case TVMS_TIR_cuda__cta_sync:
  case TVMS_TIR_cuda_cta_sync:
  case TVMS_TIR_cuda__cluster_sync:
  case TVMS_TIR_cuda_cluster_sync:
  case TVMS_TIR_cuda__grid_sync:
  case TVMS_TIR_cuda_grid_sync:
  case TVMS_TIR_cuda__syncthreads_and:
  case TVMS_TIR_cuda_syncthreads_and:
  case TVMS_TIR_cuda__syncthreads_or:
  case TVMS_TIR_cuda_syncthreads_or: return true;
  case TVMS_TIR_tvm_storage_sync: break;
  default: return false;
  }
  tvms_list args = tvms_as_call(call)->args;
  if (!args.len || args.items[0]->kind != TVMS_NODE_STRING_IMM) return false;
  tvms_bytes scope = tvms_as_string_imm(args.items[0])->value;
  return tvms_bytes_is(scope, "shared") || tvms_bytes_is(scope, "shared.dyn")
         || tvms_bytes_is(scope, "global");
}

// The truth of a condition in the chosen iteration; -1: not known.
static int truth_of(tvms_lint_path *path, const tvms_lint_condition *condition) {
  tvms_lint_value value = tvms_lint_path_value(path, condition->expr);
  if (!tvms_lint_is_constant(&value)) return -1;
  return (value.constant != 0) == (condition->kind == TVMS_LINT_HOLDS);
}

// Is the place reached but for condition `but`?
static bool is_reached_but(tvms_lint_path *path, uint32_t but) {
  uint32_t count = path->conditions.len;
  tvms_lint_condition kept = path->conditions.items[but];
  path->conditions.items[but] = path->conditions.items[count - 1];
  path->conditions.len = count - 1;
  bool reached = tvms_lint_path_is_reached(path);
  path->conditions.items[but] = kept;
  path->conditions.len = count;
  return reached;
}

// Looks for a thread that passes the condition and one that does not, both of which get there
// otherwise.
static bool diverges(tvms_lint_path *path, uint32_t slot, uint32_t condition,
                     const char **passes, const char **fails) {
  *passes = *fails = NULL;
  static const struct {
    bool from_end;
    int64_t steps;
  } tried[] = {{false, 0}, {true, 0}, {false, 1}, {true, 1}, {false, 31}, {false, 32}};
  uint64_t bit = (uint64_t)1 << slot;
  for (uint32_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
    tvms_lint_path_choose(path, slot, tried[i].from_end, tried[i].steps);
    int truth = truth_of(path, &path->conditions.items[condition]);
    if (truth < 0 || !is_reached_but(path, condition)) continue;
    const char **place = truth ? passes : fails;
    if (!*place) *place = tvms_lint_path_text(path, bit);
  }
  return *passes && *fails;
}

typedef struct {
  const tvms_lint_path *path;
  uint32_t slot;
} thread_axis;

// A load whose element is another one for each thread.
static tvms_walk_step find_own_element(void *self, tvms_node *node,
                                       tvms_field_role role) {
  (void)role;
  const thread_axis *axis = self;
  if (node->kind != TVMS_NODE_BUFFER_LOAD) return TVMS_WALK_ON;
  const tvms_list indices = tvms_as_buffer_load(node)->indices;
  for (uint32_t i = 0; i < indices.len; i++) {
    if (tvms_lint_path_loops_of(axis->path, indices.items[i]) >> axis->slot & 1)
      return TVMS_WALK_STOP;
  }
  return TVMS_WALK_SKIP;
}

// Does a branch ask for what each thread finds at a place of its own? Nothing says that it is
// the same for all of them.
static bool asks_own_element(tvms_lint_body *body, uint32_t slot, uint32_t index) {
  tvms_lint_path *path = &body->path;
  const tvms_node *stmt = path->conditions.items[index].stmt;
  if (!stmt || stmt->kind != TVMS_NODE_IF_THEN_ELSE) return false;
  thread_axis axis = {path, slot};
  tvms_visitor visitor = {.self = &axis, .enter = find_own_element};
  return is_reached_but(path, index)
         && !tvms_walk(body->memory, tvms_as_if_then_else(stmt)->condition, &visitor);
}

static tvms_walk_step find_barrier(void *self, tvms_node *node, tvms_field_role role) {
  (void)self;
  (void)role;
  return is_barrier(node, tvms_call_opcode(node)) ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

// Does the other case of the branch wait, too?
static bool has_counterpart(const tvms_lint_body *body,
                            const tvms_lint_condition *condition) {
  if (!condition->stmt || condition->stmt->kind != TVMS_NODE_IF_THEN_ELSE) return false;
  const tvms_if_then_else *branch = tvms_as_if_then_else(condition->stmt);
  bool yes = condition->kind == TVMS_LINT_HOLDS;
  tvms_node *other = yes ? branch->else_case : branch->then_case;
  tvms_visitor visitor = {.enter = find_barrier};
  return other && !tvms_walk(body->memory, other, &visitor);
}

static void check_condition(tvms_lint_body *body, const tvms_node *call,
                            uint32_t index) {
  tvms_lint_path *path = &body->path;
  const tvms_lint_condition *condition = &path->conditions.items[index];
  if (condition->kind != TVMS_LINT_HOLDS && condition->kind != TVMS_LINT_FAILS) return;
  for (uint32_t slot = 0; slot < path->loops.len && slot < 62; slot++) {
    bool thread = path->loops.items[slot].kind == TVMS_LINT_THREAD;
    if (!thread || !(condition->loops >> slot & 1)) continue;
    const char *passes, *fails;
    tvms_lint_path_restart(path);
    bool found = diverges(path, slot, index, &passes, &fails);
    tvms_lint_path_restart(path);
    bool own = !found && asks_own_element(body, slot, index);
    if ((!found && !own) || has_counterpart(body, condition)) continue;
    if (!tvms_lint_is_first(body, call->span)) return;
    tvms_diag *diag =
        tvms_diag_report(body->diags, TVMS_D_divergent_barrier, call->span);
    if (found)
      tvms_diag_note(body->diags, diag, condition->expr->span,
                     "the thread %s reaches the barrier, the thread %s does not",
                     passes, fails);
    else
      tvms_diag_note(body->diags, diag, condition->expr->span,
                     "each thread asks for an element of its own");
    tvms_diag_remark(body->diags, diag, "move the barrier out of the condition");
    return;
  }
}

// ---- Loops around ----

// How often two threads that get to the barrier go through the loop, or false if that is the
// same for all that were tried.
static bool differs(tvms_lint_path *path, uint32_t slot, uint32_t loop,
                    const char *threads[2], int64_t times[2]) {
  static const struct {
    bool from_end;
    int64_t steps;
  } tried[] = {{false, 0}, {false, 1}, {true, 0}, {true, 1}};
  uint32_t count = 0;
  for (uint32_t i = 0; i < sizeof tried / sizeof tried[0] && count < 2; i++) {
    tvms_lint_path_choose(path, slot, tried[i].from_end, tried[i].steps);
    tvms_lint_value extent = tvms_lint_path_value(path, path->loops.items[loop].extent);
    if (!tvms_lint_is_constant(&extent) || !tvms_lint_path_is_reached(path)) continue;
    if (count && times[0] == extent.constant) continue;
    threads[count] = tvms_lint_path_text(path, (uint64_t)1 << slot);
    times[count++] = extent.constant;
  }
  return count == 2;
}

static void check_loop(tvms_lint_body *body, const tvms_node *call, uint32_t index) {
  tvms_lint_path *path = &body->path;
  const tvms_lint_loop *loop = &path->loops.items[index];
  uint64_t depends = tvms_lint_path_loops_of(path, loop->extent);
  for (uint32_t slot = 0; slot < index && slot < 62; slot++) {
    bool thread = path->loops.items[slot].kind == TVMS_LINT_THREAD;
    if (!thread || !(depends >> slot & 1)) continue;
    const char *threads[2];
    int64_t times[2];
    tvms_lint_path_restart(path);
    bool found = differs(path, slot, index, threads, times);
    tvms_lint_path_restart(path);
    if (!found || !tvms_lint_is_first(body, call->span)) continue;
    tvms_diag *diag =
        tvms_diag_report(body->diags, TVMS_D_divergent_barrier, call->span);
    tvms_diag_note(body->diags, diag, loop->extent->span,
                   "the thread %s comes %" PRId64
                   " times to the barrier, the thread %s "
                   "%" PRId64 " times",
                   threads[0], times[0], threads[1], times[1]);
    tvms_diag_remark(body->diags, diag,
                     "let all threads go through the loop equally often");
    return;
  }
}

void tvms_lint_body_barrier_call(tvms_lint_body *body, const tvms_node *call,
                                 tvms_tir_opcode opcode) {
  if (body->path.uncertain || !is_barrier(call, opcode)) return;
  for (uint32_t i = 0; i < body->path.conditions.len; i++)
    check_condition(body, call, i);
  for (uint32_t i = 0; i < body->path.loops.len; i++) {
    if (body->path.loops.items[i].kind == TVMS_LINT_SERIAL) check_loop(body, call, i);
  }
}
