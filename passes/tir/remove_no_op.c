// RemoveNoOp: statements without any effect.
//
// Before: for i in range(n): T.evaluate(0)   After: T.evaluate(0)
//
// Loops that never run, branches that hold nothing, values computed for nothing and stores
// of what a buffer holds already go; calls with effects stay. TVM: tirx.transform.RemoveNoOp.
#include "arith/bound.h"
#include "ir/equal.h"
#include "passes/tir/scoped.h"

static bool has_effect(tvms_scoped *scoped, tvms_node *value) {
  return tvms_arith_effect_of(&scoped->unit->context->memory, value) > TVMS_EFFECT_READ;
}

// What remains of values whose use is gone: those with effects.
static tvms_node *only_effects(tvms_scoped *scoped, tvms_node *const *values,
                               uint32_t count) {
  tvms_stmt_vec stmts = {0};
  for (uint32_t i = 0; i < count; i++) {
    if (!has_effect(scoped, values[i])) continue;
    tvms_vec_push(&scoped->unit->context->memory, &stmts,
                  tvms_evaluate_new(scoped->unit, values[i], values[i]->span));
  }
  return tvms_stmt_seq(scoped->unit, &stmts, TVMS_NO_SPAN);
}

static tvms_node *leave_loop(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scoped *scoped = rewriter->self;
  const tvms_for *loop = tvms_as_for(node);
  if (tvms_analyzer_const_int_bound(scoped->analyzer, loop->extent).max <= 0) {
    return tvms_stmt_none(scoped->unit, node->span);
  }
  if (!tvms_stmt_is_none(loop->body)) return node;
  tvms_node *values[] = {loop->min, loop->extent};
  return only_effects(scoped, values, 2);
}

static tvms_node *leave_if(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scoped *scoped = rewriter->self;
  tvms_if_then_else *branch = tvms_as_if_then_else(node);
  bool no_then = tvms_stmt_is_none(branch->then_case);
  bool no_else = !branch->else_case || tvms_stmt_is_none(branch->else_case);
  if (no_then && no_else) return only_effects(scoped, &branch->condition, 1);
  if (!no_then && !(no_else && branch->else_case)) return node;
  tvms_node *copy = tvms_node_copy(scoped->unit, node);
  tvms_if_then_else *changed = tvms_as_if_then_else(copy);
  if (no_then) {
    changed->condition = tvms_otherwise(scoped->unit, branch->condition);
    changed->then_case = branch->else_case;
  }
  changed->else_case = NULL;
  return copy;
}

static tvms_node *leave_evaluate(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scoped *scoped = rewriter->self;
  tvms_node *value = tvms_as_evaluate(node)->value;
  if (tvms_stmt_is_none(node)) return node;
  bool keeps = tvms_dtype_is_void(value->dtype) ? value->kind == TVMS_NODE_CALL
                                                : has_effect(scoped, value);
  return keeps ? node : tvms_stmt_none(scoped->unit, node->span);
}

static bool same_element(tvms_scoped *scoped, const tvms_store *store) {
  if (store->value->kind != TVMS_NODE_BUFFER_LOAD) return false;
  const tvms_buffer_load *load = tvms_as_buffer_load(store->value);
  if (load->buffer != store->buffer || load->indices.len != store->indices.len) {
    return false;
  }
  for (uint32_t i = 0; i < load->indices.len; i++) {
    tvms_node *a = load->indices.items[i], *b = store->indices.items[i];
    if (!tvms_analyzer_can_prove_equal(scoped->analyzer, a, b)) return false;
  }
  return true;
}

static tvms_node *leave_store(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scoped *scoped = rewriter->self;
  const tvms_store *store = tvms_as_store(node);
  if (!same_element(scoped, store)) return node;
  return only_effects(scoped, store->indices.items, store->indices.len);
}

static tvms_node *enter_attr(tvms_rewriter *rewriter, tvms_node *node) {
  (void)rewriter;
  return tvms_bytes_is(tvms_as_attr_stmt(node)->key, "pragma_debug_skip_region")
             ? NULL
             : TVMS_REWRITE_BELOW;
}

// Attributes hold for what follows them; before nothing they say nothing.
static tvms_node *leave_seq(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_scoped *scoped = rewriter->self;
  tvms_memory *memory = &scoped->unit->context->memory;
  tvms_list old = tvms_as_seq(node)->stmts;
  tvms_stmt_vec stmts = {0};
  for (uint32_t i = 0; i < old.len; i++) {
    if (tvms_stmt_is_none(old.items[i])) continue;
    if (i + 1 == old.len) {
      tvms_stmt_push_last(memory, &stmts, old.items[i]);
    } else {
      tvms_stmt_push(memory, &stmts, old.items[i]);
    }
  }
  while (stmts.len && stmts.items[stmts.len - 1]->kind == TVMS_NODE_ATTR_STMT) {
    tvms_node *value = tvms_as_attr_stmt(stmts.items[stmts.len - 1])->value;
    stmts.len--;
    if (!has_effect(scoped, value)) continue;
    tvms_vec_push(memory, &stmts, tvms_evaluate_new(scoped->unit, value, value->span));
  }
  if (stmts.len != old.len) return tvms_stmt_seq(scoped->unit, &stmts, node->span);
  tvms_vec_fini(memory, &stmts);
  return node;
}

static void setup(tvms_scoped *scoped) {
  tvms_rewriter *rewriter = &scoped->rewriter;
  rewriter->leave[TVMS_NODE_FOR] = leave_loop;
  rewriter->leave[TVMS_NODE_IF_THEN_ELSE] = leave_if;
  rewriter->leave[TVMS_NODE_EVALUATE] = leave_evaluate;
  rewriter->leave[TVMS_NODE_STORE] = leave_store;
  rewriter->enter[TVMS_NODE_ATTR_STMT] = enter_attr;
  rewriter->leave[TVMS_NODE_SEQ] = leave_seq;
}

void tvms_pass_remove_no_op(tvms_pass_run *run) {
  static const tvms_scoped_pass pass = {setup, NULL, NULL};
  tvms_rewrite_scoped(run, &pass);
}
