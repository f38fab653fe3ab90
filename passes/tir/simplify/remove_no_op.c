// RemoveNoOp: statements without any effect.
//
// Before: for i in range(n): T.evaluate(0)   After: T.evaluate(0)
//
// Loops that never run, branches that hold nothing, values computed for nothing and stores
// of what a buffer holds already go; calls with effects stay, and since 0.26 T.evaluate of the data
// of a buffer, too. TVM: tirx.transform.RemoveNoOp.
#include "passes/tir/simplify/remove_no_op.h"

#include "arith/int_set.h"
#include "arith/scopes.h"
#include "ir/fold.h"
#include "ir/fold_ops.h"
#include "ir/node_map.h"
#include "ir/walk.h"
#include "passes/functions.h"

#include <string.h>

typedef struct {
  tvms_scopes scopes;
  tvms_domains loops;  // what their variables run over
  tvms_node_map
      data;  // since 0.26: variables of the data of buffers, which TVM gets by a call
  bool ignores_profiler;
} remover;

static bool has_effect(tvms_scopes *scopes, tvms_node *value) {
  return tvms_arith_effect_of(&scopes->unit->context->memory, value) > TVMS_EFFECT_READ;
}

// What remains of values whose use is gone: those with effects.
static tvms_node *only_effects(tvms_scopes *scopes, tvms_node *const *values,
                               uint32_t count) {
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < count; i++) {
    if (!has_effect(scopes, values[i])) continue;
    tvms_vec_push(&scopes->unit->context->memory, &stmts,
                  tvms_evaluate_new(scopes->unit, values[i], values[i]->span));
  }
  return tvms_stmt_seq(scopes->unit, &stmts, TVMS_NO_SPAN);
}

// A loop that never runs, whatever the loops around it do.
static tvms_node *enter_loop(tvms_rewriter *rewriter, tvms_node *node) {
  remover *r = rewriter->self;
  const tvms_for *loop = tvms_as_for(node);
  tvms_unit *unit = rewriter->unit;
  tvms_int_set extent = tvms_int_set_of_expr(&r->loops, loop->extent);
  if (extent.max) {
    tvms_node *zero = tvms_int_imm_new(unit, extent.max->dtype, 0, TVMS_NO_SPAN);
    tvms_node *empty =
        tvms_build_binary(unit, TVMS_NODE_LE, extent.max, zero, TVMS_NO_SPAN);
    if (tvms_analyzer_can_prove(r->scopes.analyzer, empty))
      return tvms_stmt_none(unit, node->span);
  }
  tvms_domains_set(&r->loops, loop->var,
                   tvms_int_set_of_range(unit, loop->min, loop->extent));
  return TVMS_REWRITE_BELOW;
}

static tvms_node *leave_loop(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scopes *scopes = rewriter->self;
  const tvms_for *loop = tvms_as_for(node);
  remover *r = rewriter->self;
  tvms_domains_drop(&r->loops, tvms_as_for(rewriter->old)->var);
  if (tvms_node_is_int(loop->extent, 0)) {
    return tvms_stmt_none(scopes->unit, node->span);
  }
  if (!tvms_stmt_is_none(loop->body)) return node;
  tvms_node *values[] = {loop->min, loop->extent};
  return only_effects(scopes, values, 2);
}

static tvms_node *leave_if(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scopes *scopes = rewriter->self;
  tvms_node *chosen = tvms_scopes_choose(rewriter, node);
  if (chosen != node) return chosen;
  tvms_if_then_else *branch = tvms_as_if_then_else(node);
  bool no_then = tvms_stmt_is_none(branch->then_case);
  bool no_else = !branch->else_case || tvms_stmt_is_none(branch->else_case);
  if (no_then && no_else) return only_effects(scopes, &branch->condition, 1);
  if (!no_then && !(no_else && branch->else_case)) return node;
  tvms_node *copy = tvms_node_copy(scopes->unit, node);
  tvms_if_then_else *changed = tvms_as_if_then_else(copy);
  if (no_then) {
    changed->condition = tvms_build_negation(scopes->unit, branch->condition);
    changed->then_case = branch->else_case;
  }
  changed->else_case = NULL;
  return copy;
}

static bool is_timer(const tvms_node *value) {
  switch ((int)tvms_call_opcode(value)) {
  case TVMS_TIR_timer_init_cuda:
  case TVMS_TIR_timer_start_cuda:
  case TVMS_TIR_timer_end_cuda:
  case TVMS_TIR_timer_finalize_cuda: return true;
  default: return false;
  }
}

static tvms_node *enter_evaluate(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scopes *scopes = rewriter->self;
  tvms_node *value = tvms_as_evaluate(node)->value;
  if (tvms_stmt_is_none(node)) return node;
  const remover *r = rewriter->self;
  // Calls that return no scalar are kept; T.void is one, and from 0.26 on a pointer is none.
  bool opaque =
      (tvms_dtype_is_void(value->dtype) && value->sinfo)
      || (tvms_dtype_is_handle(value->dtype)
          && tvms_release_has(scopes->unit->dialect, TVMS_FACT_dtypes_are_types));
  bool called = value->kind == TVMS_NODE_CALL || tvms_node_map_get(&r->data, value);
  bool keeps = opaque ? called : has_effect(scopes, value);
  if (r->ignores_profiler && is_timer(value)) keeps = false;
  return keeps ? node : tvms_stmt_none(scopes->unit, node->span);
}

static bool same_element(tvms_scopes *scopes, const tvms_store *store) {
  if (!tvms_stmt_is_plain_load(scopes->unit, store->value)) return false;
  const tvms_buffer_load *load = tvms_as_buffer_load(store->value);
  if (load->buffer != store->buffer || load->indices.len != store->indices.len) {
    return false;
  }
  for (uint32_t i = 0; i < load->indices.len; i++) {
    tvms_node *a = load->indices.items[i], *b = store->indices.items[i];
    if (!tvms_analyzer_can_prove_equal(scopes->analyzer, a, b)) return false;
  }
  return true;
}

static bool is_place(tvms_scopes *scopes, const tvms_store *store, tvms_node *value) {
  tvms_store same = *store;
  same.value = value;
  return same_element(scopes, &same);
}

// Is the value what the place holds already, as the simplifier sees it?
static bool holds_already(tvms_scopes *scopes, const tvms_store *store) {
  tvms_dtype dtype = store->value->dtype;
  if (is_place(scopes, store, store->value)) return true;
  if (store->predicate || tvms_dtype_is_bool(dtype)) return false;
  if (!tvms_dtype_same(dtype, tvms_as_buffer(store->buffer)->element)) return false;
  if (!tvms_dtype_is_index(dtype)) {
    tvms_node *value = tvms_analyzer_simplify(scopes->analyzer, store->value);
    return is_place(scopes, store, value);
  }
  tvms_node *load =
      tvms_buffer_load_new(scopes->unit, store->buffer, store->indices.items,
                           store->indices.len, NULL, TVMS_NO_SPAN);
  return tvms_analyzer_can_prove_equal(scopes->analyzer, store->value, load);
}

// As an evaluation, a store is not looked into.
static tvms_node *enter_store(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scopes *scopes = rewriter->self;
  const tvms_store *store = tvms_as_store(node);
  if (!holds_already(scopes, store)) return node;
  return only_effects(scopes, store->indices.items, store->indices.len);
}

static tvms_node *enter_attr(tvms_rewriter *rewriter, tvms_node *node) {
  (void)rewriter;
  return tvms_bytes_is(tvms_as_attr_stmt(node)->key, "pragma_debug_skip_region")
             ? NULL
             : TVMS_REWRITE_BELOW;
}

// A wait for a negative number of steps, as unrolled loops may leave one.
static bool is_idle_wait(tvms_scopes *scopes, tvms_list list, uint32_t at) {
  const tvms_node *wait = list.items[at];
  if (at + 1 >= list.len || wait->kind != TVMS_NODE_ATTR_STMT) return false;
  if (!tvms_bytes_is(tvms_as_attr_stmt(wait)->key, "async_wait_queue_scope"))
    return false;
  const tvms_node *count = list.items[at + 1];
  return count->kind == TVMS_NODE_ATTR_STMT
         && tvms_analyzer_can_prove_lt(scopes->analyzer,
                                       tvms_as_attr_stmt(count)->value, 0);
}

typedef struct {
  const tvms_node *wanted;  // VAR or BUFFER
} search;

static tvms_walk_step find_use(void *self, tvms_node *node, tvms_field_role role) {
  const search *s = self;
  (void)role;
  return node == s->wanted ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

static bool is_used(tvms_memory *memory, const tvms_node_vec *stmts, uint32_t from,
                    const tvms_node *wanted) {
  search s = {wanted};
  tvms_visitor visitor = {.self = &s, .enter = find_use};
  for (uint32_t i = from; i < stmts->len; i++) {
    if (!tvms_walk(memory, stmts->items[i], &visitor)) return true;
  }
  return false;
}

// What a statement defines for those behind it, if it may go where they do not use it.
static const tvms_node *TVMS_NULLABLE defined_by(const tvms_node *stmt) {
  switch ((int)stmt->kind) {
  case TVMS_NODE_BIND: return tvms_as_bind(stmt)->var;
  case TVMS_NODE_DECL_BUFFER: return tvms_as_decl_buffer(stmt)->buffer;
  default: return NULL;
  }
}

// Definitions that hold a body go if the body does not use them, or if there is none left.
static void drop_unused(tvms_scopes *scopes, tvms_node_vec *stmts) {
  tvms_memory *memory = &scopes->unit->context->memory;
  for (uint32_t i = stmts->len; i-- > 0;) {
    tvms_node *stmt = stmts->items[i];
    const tvms_node *defined = defined_by(stmt);
    bool idle = defined ? !is_used(memory, stmts, i + 1, defined)
                        : stmt->kind == TVMS_NODE_ALLOCATE && i + 1 == stmts->len;
    if (!idle) continue;
    tvms_node *value = stmt->kind == TVMS_NODE_BIND ? tvms_as_bind(stmt)->value : NULL;
    if (value && has_effect(scopes, value)) {
      stmts->items[i] = tvms_evaluate_new(scopes->unit, value, value->span);
      continue;
    }
    memmove(stmts->items + i, stmts->items + i + 1,
            (stmts->len - i - 1) * sizeof *stmts->items);
    stmts->len--;
  }
}

// Attributes hold for what follows them; before nothing they say nothing.
static tvms_node *leave_seq(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scopes *scopes = rewriter->self;
  tvms_memory *memory = &scopes->unit->context->memory;
  tvms_list list = tvms_as_seq(node)->stmts;
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < list.len; i++) {
    if (is_idle_wait(scopes, list, i))
      i++;
    else if (!tvms_stmt_is_none(list.items[i]))
      tvms_vec_push(memory, &stmts, list.items[i]);
  }
  while (stmts.len && stmts.items[stmts.len - 1]->kind == TVMS_NODE_ATTR_STMT) {
    tvms_node *value = tvms_as_attr_stmt(stmts.items[stmts.len - 1])->value;
    stmts.len--;
    if (!has_effect(scopes, value)) continue;
    tvms_vec_push(memory, &stmts, tvms_evaluate_new(scopes->unit, value, value->span));
  }
  if (tvms_release_has(scopes->unit->dialect, TVMS_FACT_definitions_hold_bodies))
    drop_unused(scopes, &stmts);
  bool same = stmts.len == list.len;
  for (uint32_t i = 0; i < stmts.len && same; i++) {
    same = stmts.items[i] == list.items[i];
  }
  if (!same) return tvms_stmt_seq(scopes->unit, &stmts, node->span);
  tvms_vec_fini(memory, &stmts);
  return node;
}

static tvms_walk_step note_data(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind != TVMS_NODE_BUFFER) return TVMS_WALK_ON;
  const tvms_node *data = tvms_as_buffer(node)->data;
  bool known = tvms_node_map_get(self, data) == node;
  if (!known) tvms_node_map_put(self, data, node);
  return known ? TVMS_WALK_SKIP : TVMS_WALK_ON;
}

static tvms_node *remove_all(tvms_unit *unit, tvms_node *function,
                             bool ignores_profiler) {
  remover self = {.ignores_profiler = ignores_profiler};
  tvms_node_map_init(&self.data, &unit->context->memory);
  tvms_visitor visitor = {.self = &self.data, .enter = note_data};
  if (tvms_release_has(unit->dialect, TVMS_FACT_buffers_are_variables))
    tvms_walk(&unit->context->memory, function, &visitor);
  tvms_scopes_init(&self.scopes, unit);
  tvms_domains_init(&self.loops, unit);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &self);
  rewriter.watch = &self.scopes.watch;
  tvms_scopes_choose_all(&rewriter);
  rewriter.enter[TVMS_NODE_FOR] = enter_loop;
  rewriter.leave[TVMS_NODE_FOR] = leave_loop;
  rewriter.leave[TVMS_NODE_IF_THEN_ELSE] = leave_if;
  rewriter.enter[TVMS_NODE_EVALUATE] = enter_evaluate;
  rewriter.enter[TVMS_NODE_STORE] = enter_store;
  rewriter.enter[TVMS_NODE_ATTR_STMT] = enter_attr;
  rewriter.leave[TVMS_NODE_SEQ] = leave_seq;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_domains_fini(&self.loops);
  tvms_scopes_fini(&self.scopes);
  tvms_node_map_fini(&self.data);
  return changed;
}

tvms_node *tvms_stmt_remove_no_op(tvms_unit *unit, tvms_node *function) {
  return remove_all(unit, function, false);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  return remove_all(unit, function,
                    TVMS_OPTION(run, RemoveNoOp, ignore_profiler_call).number != 0);
}

void tvms_pass_remove_no_op(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
