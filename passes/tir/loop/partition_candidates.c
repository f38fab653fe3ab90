// One walk with a stack of the loops around. A loop is a candidate if its variable stands in
// T.likely, or if the attribute pragma_loop_partition_hint names the variable; none that
// holds a reduction across threads is. TVM: CandidateSelector of loop_partition.cc.
#include "passes/tir/loop/partition_candidates.h"

#include "arith/analyzer.h"
#include "ir/build.h"
#include "ir/walk.h"
#include "passes/remarks.h"
#include "support/diag_ids.h"

#include <string.h>

static tvms_memory *memory_of(const tvms_partition_candidates *p) {
  return &p->unit->context->memory;
}

bool tvms_stmt_is_grid(tvms_context *context, const tvms_node *node) {
  const tvms_iter_var *axis = tvms_attr_stmt_threads(node);
  const char *tag = axis ? tvms_symbol_text(context, axis->thread_tag) : "";
  return strncmp(tag, "blockIdx", 8) == 0;
}

static void note_hint(tvms_partition_candidates *p, const tvms_attr_stmt *attr) {
  if (!tvms_bytes_is(attr->key, "pragma_loop_partition_hint")) return;
  if (!tvms_analyzer_can_prove(p->analyzer, attr->value)) return;
  const tvms_node *var = attr->node;
  if (var->kind == TVMS_NODE_ITER_VAR) var = tvms_as_iter_var(var)->var;
  tvms_node_map_put(&p->hinted, var, attr->node);
}

static void note_loop(tvms_partition_candidates *p, tvms_node *node) {
  const tvms_for *loop = tvms_as_for(node);
  tvms_active_loop active = {.loop = node, .var = loop->var};
  bool constant = tvms_node_is_int_imm(loop->min) && tvms_node_is_int_imm(loop->extent);
  if (tvms_node_map_get(&p->hinted, loop->var))
    tvms_node_map_put(&p->loops, node, node);
  // What is not recorded is not used, either.
  if (constant && !p->constant) {
    active.no_split = true;
    active.why = "its bounds are constant, and partition_const_loop is off";
  }
  tvms_vec_push(memory_of(p), &p->active, active);
}

// A grid of threads is a loop, too; what follows in its sequence is its body.
static void note_threads(tvms_partition_candidates *p, tvms_node *node) {
  const tvms_iter_var *axis = tvms_attr_stmt_threads(node);
  if (!axis) return;
  tvms_active_loop active = {.loop = node, .var = axis->var};
  bool constant = tvms_node_is_int_imm(tvms_as_attr_stmt(node)->value);
  active.no_split =
      !tvms_stmt_is_grid(p->unit->context, node) || (constant && !p->constant);
  if (tvms_node_map_get(&p->hinted, axis->var))
    tvms_node_map_put(&p->loops, node, node);
  tvms_vec_push(memory_of(p), &p->active, active);
}

static bool list_has(tvms_list list, const tvms_node *node) {
  uint32_t i = 0;
  while (i < list.len && list.items[i] != node)
    i++;
  return i < list.len;
}

static void end_loop(tvms_partition_candidates *p) {
  const tvms_active_loop *active = &p->active.items[--p->active.len];
  tvms_node *loop = (tvms_node *)(uintptr_t)active->loop;
  if (active->used && !active->no_split) tvms_node_map_put(&p->loops, loop, loop);
  if (!p->run || tvms_node_map_get(&p->loops, loop)) return;
  const char *why = active->used ? active->why : NULL;
  if (!active->used && active->compared)
    why = "no condition on it stands in T.likely, and no hint names it";
  if (why) tvms_node_map_put(&p->reasons, loop, (tvms_node *)(uintptr_t)why);
}

// Notes which loops the condition of a branch depends on.
static void note_compared(tvms_partition_candidates *p, const tvms_node *node) {
  tvms_node *condition = NULL;
  if (node->kind == TVMS_NODE_IF_THEN_ELSE)
    condition = tvms_as_if_then_else(node)->condition;
  else if (tvms_call_opcode(node) == TVMS_TIR_if_then_else)
    condition = tvms_as_call(node)->args.items[0];
  for (uint32_t i = 0; condition && i < p->active.len; i++) {
    tvms_active_loop *active = &p->active.items[i];
    active->compared |= tvms_walk_contains(memory_of(p), condition, active->var);
  }
}

static tvms_walk_step select_enter(void *self, tvms_node *node, tvms_field_role role) {
  tvms_partition_candidates *p = self;
  if (node->kind == TVMS_NODE_FOR) note_loop(p, node);
  if (node->kind == TVMS_NODE_ATTR_STMT) {
    note_hint(p, tvms_as_attr_stmt(node));
    note_threads(p, node);
  }
  tvms_tir_opcode op = tvms_call_opcode(node);
  if (op == TVMS_TIR_likely) p->likely++;
  if (p->run) note_compared(p, node);
  for (uint32_t i = 0; i < p->active.len; i++) {
    tvms_active_loop *active = &p->active.items[i];
    if (op == TVMS_TIR_tvm_thread_allreduce) {
      active->no_split = true;
      active->why = "it holds a reduction across threads";
    }
    if (p->likely && node == active->var) active->used = true;
  }
  bool below = role == TVMS_ROLE_USE || role == TVMS_ROLE_BODY;
  return below && node->kind != TVMS_NODE_BUFFER ? TVMS_WALK_ON : TVMS_WALK_SKIP;
}

static void select_leave(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  tvms_partition_candidates *p = self;
  if (tvms_call_opcode(node) == TVMS_TIR_likely) p->likely--;
  if (node->kind == TVMS_NODE_FOR) end_loop(p);
  if (node->kind != TVMS_NODE_SEQ) return;
  tvms_list list = tvms_as_seq(node)->stmts;
  while (p->active.len && list_has(list, p->active.items[p->active.len - 1].loop))
    end_loop(p);
}

void tvms_stmt_find_partitions(tvms_partition_candidates *p, tvms_node *stmt) {
  tvms_visitor visitor = {.self = p, .enter = select_enter, .leave = select_leave};
  tvms_walk(memory_of(p), stmt, &visitor);
}

// ---- Remarks ----

// Whether a loop has its remark, which it has from now on.
static bool is_told(tvms_partition_candidates *p, tvms_span span) {
  for (uint32_t i = 0; i < p->told.len; i++) {
    if (p->told.items[i].begin == span.begin && p->told.items[i].end == span.end)
      return true;
  }
  tvms_vec_push(memory_of(p), &p->told, span);
  return false;
}

void tvms_partition_say_cut(tvms_partition_candidates *p, const tvms_node *loop,
                            uint32_t parts) {
  if (!p->run || is_told(p, loop->span)) return;
  tvms_pass_remark(p->run, TVMS_REMARK_PASSED, TVMS_D_loop_cut, loop->span, parts,
                   tvms_diag_plural(parts));
}

void tvms_partition_say_whole(tvms_partition_candidates *p, const tvms_node *loop,
                              const char *why) {
  if (!why) why = (const char *)(void *)tvms_node_map_get(&p->reasons, loop);
  if (!p->run || !why || is_told(p, loop->span)) return;
  tvms_pass_remark(p->run, TVMS_REMARK_MISSED, TVMS_D_loop_whole, loop->span, why);
}

void tvms_partition_candidates_init(tvms_partition_candidates *p, tvms_unit *unit,
                                    bool constant) {
  *p = (tvms_partition_candidates){.unit = unit, .constant = constant};
  p->analyzer = tvms_analyzer_new(unit);
  tvms_node_map_init(&p->loops, memory_of(p));
  tvms_node_map_init(&p->hinted, memory_of(p));
  tvms_node_map_init(&p->reasons, memory_of(p));
}

void tvms_partition_candidates_fini(tvms_partition_candidates *p) {
  tvms_node_map_fini(&p->loops);
  tvms_node_map_fini(&p->hinted);
  tvms_node_map_fini(&p->reasons);
  tvms_vec_fini(memory_of(p), &p->told);
  tvms_vec_fini(memory_of(p), &p->active);
  tvms_analyzer_free(p->analyzer);
}
