// RemoveNoOp: statements without any effect.
//
// Before: for i in range(n): T.evaluate(0)   After: T.evaluate(0)
//
// Loops that never run, branches that hold nothing, values computed for nothing and stores
// of what a buffer holds already go; calls with effects stay. TVM: tirx.transform.RemoveNoOp.
#include "passes/tir/simplify/remove_no_op.h"

#include "arith/bound.h"
#include "arith/scopes.h"
#include "ir/fold_ops.h"
#include "passes/functions.h"

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

static tvms_node *leave_loop(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scopes *scopes = rewriter->self;
  const tvms_for *loop = tvms_as_for(node);
  if (tvms_analyzer_const_int_bound(scopes->analyzer, loop->extent).max <= 0) {
    return tvms_stmt_none(scopes->unit, node->span);
  }
  if (!tvms_stmt_is_none(loop->body)) return node;
  tvms_node *values[] = {loop->min, loop->extent};
  return only_effects(scopes, values, 2);
}

static tvms_node *leave_if(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scopes *scopes = rewriter->self;
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

static tvms_node *leave_evaluate(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scopes *scopes = rewriter->self;
  tvms_node *value = tvms_as_evaluate(node)->value;
  if (tvms_stmt_is_none(node)) return node;
  bool keeps = tvms_dtype_is_void(value->dtype) ? value->kind == TVMS_NODE_CALL
                                                : has_effect(scopes, value);
  return keeps ? node : tvms_stmt_none(scopes->unit, node->span);
}

static bool same_element(tvms_scopes *scopes, const tvms_store *store) {
  if (store->value->kind != TVMS_NODE_BUFFER_LOAD) return false;
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

static tvms_node *leave_store(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scopes *scopes = rewriter->self;
  const tvms_store *store = tvms_as_store(node);
  if (!same_element(scopes, store)) return node;
  return only_effects(scopes, store->indices.items, store->indices.len);
}

static tvms_node *enter_attr(tvms_rewriter *rewriter, tvms_node *node) {
  (void)rewriter;
  return tvms_bytes_is(tvms_as_attr_stmt(node)->key, "pragma_debug_skip_region")
             ? NULL
             : TVMS_REWRITE_BELOW;
}

// Attributes hold for what follows them; before nothing they say nothing.
static tvms_node *leave_seq(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scopes *scopes = rewriter->self;
  tvms_memory *memory = &scopes->unit->context->memory;
  tvms_list list = tvms_as_seq(node)->stmts;
  tvms_node_vec stmts = {0};
  for (uint32_t i = 0; i < list.len; i++) {
    if (!tvms_stmt_is_none(list.items[i])) tvms_vec_push(memory, &stmts, list.items[i]);
  }
  while (stmts.len && stmts.items[stmts.len - 1]->kind == TVMS_NODE_ATTR_STMT) {
    tvms_node *value = tvms_as_attr_stmt(stmts.items[stmts.len - 1])->value;
    stmts.len--;
    if (!has_effect(scopes, value)) continue;
    tvms_vec_push(memory, &stmts, tvms_evaluate_new(scopes->unit, value, value->span));
  }
  if (stmts.len != list.len) return tvms_stmt_seq(scopes->unit, &stmts, node->span);
  tvms_vec_fini(memory, &stmts);
  return node;
}

tvms_node *tvms_stmt_remove_no_op(tvms_unit *unit, tvms_node *function) {
  tvms_scopes scopes;
  tvms_scopes_init(&scopes, unit);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &scopes);
  rewriter.watch = &scopes.watch;
  rewriter.leave[TVMS_NODE_FOR] = leave_loop;
  rewriter.leave[TVMS_NODE_IF_THEN_ELSE] = leave_if;
  rewriter.leave[TVMS_NODE_EVALUATE] = leave_evaluate;
  rewriter.leave[TVMS_NODE_STORE] = leave_store;
  rewriter.enter[TVMS_NODE_ATTR_STMT] = enter_attr;
  rewriter.leave[TVMS_NODE_SEQ] = leave_seq;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  tvms_scopes_fini(&scopes);
  return changed;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  (void)run;
  return tvms_stmt_remove_no_op(unit, function);
}

void tvms_pass_remove_no_op(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_PRIM_FUNC, change);
}
