// Sequences of statements, and rewriting all PrimFuncs with one set of hooks.
#include "passes/tir/stmts.h"

#include "ir/clone.h"
#include "ir/fold.h"
#include "ir/fold_ops.h"
#include "ir/stmt.h"
#include "ir/tir_op.h"
#include "ir/walk.h"

void tvms_stmt_push_last(tvms_memory *memory, tvms_stmt_vec *stmts, tvms_node *stmt) {
  if (stmt->kind != TVMS_NODE_SEQ) {
    tvms_vec_push(memory, stmts, stmt);
    return;
  }
  tvms_list inner = tvms_as_seq(stmt)->stmts;
  for (uint32_t i = 0; i < inner.len; i++)
    tvms_vec_push(memory, stmts, inner.items[i]);
}

void tvms_stmt_push(tvms_memory *memory, tvms_stmt_vec *stmts, tvms_node *stmt) {
  if (stmt->kind == TVMS_NODE_SEQ) {
    tvms_list inner = tvms_as_seq(stmt)->stmts;
    for (uint32_t i = 0; i < inner.len; i++) {
      if (!tvms_stmt_always_holds_body(inner.items[i])) continue;
      tvms_vec_push(memory, stmts, stmt);
      return;
    }
  }
  tvms_stmt_push_last(memory, stmts, stmt);
}

tvms_node *tvms_stmt_seq(tvms_unit *unit, tvms_stmt_vec *stmts, tvms_span span) {
  tvms_node *result;
  if (stmts->len == 0) {
    result = tvms_stmt_none(unit, span);
  } else if (stmts->len == 1) {
    result = stmts->items[0];
  } else {
    result = tvms_seq_new(unit, stmts->items, stmts->len, span);
  }
  tvms_vec_fini(&unit->context->memory, stmts);
  return result;
}

tvms_node *tvms_stmt_pair(tvms_unit *unit, tvms_node *first, tvms_node *second) {
  tvms_stmt_vec stmts = {0};
  // An attribute that comes first takes in what follows.
  if (tvms_stmt_always_holds_body(first)) {
    tvms_vec_push(&unit->context->memory, &stmts, first);
  } else {
    tvms_stmt_push(&unit->context->memory, &stmts, first);
  }
  tvms_stmt_push_last(&unit->context->memory, &stmts, second);
  return tvms_stmt_seq(unit, &stmts, first->span);
}

tvms_node *tvms_otherwise(tvms_unit *unit, tvms_node *condition) {
  tvms_dtype dtype = condition->dtype;
  if (tvms_dtype_is_bool(dtype)) return tvms_build_not(unit, condition, TVMS_NO_SPAN);
  if (tvms_dtype_is_handle(dtype)) {
    tvms_node *is_null = tvms_tir_operator_new(unit, TVMS_TIR_isnullptr);
    return tvms_call_new(unit, TVMS_DTYPE(BOOL, 1), is_null, &condition, 1,
                         TVMS_NO_SPAN);
  }
  bool whole = dtype.code == TVMS_INT || dtype.code == TVMS_UINT;
  tvms_node *zero = whole ? tvms_int_imm_new(unit, dtype, 0, TVMS_NO_SPAN)
                          : tvms_float_imm_new(unit, dtype, 0.0, TVMS_NO_SPAN);
  return tvms_build_node(unit, TVMS_NODE_EQ, condition, zero, TVMS_NO_SPAN);
}

tvms_node *tvms_stmt_none(tvms_unit *unit, tvms_span span) {
  return tvms_evaluate_new(unit, tvms_int_imm_new(unit, TVMS_DTYPE(INT, 32), 0, span),
                           span);
}

bool tvms_stmt_is_none(const tvms_node *stmt) {
  return stmt->kind == TVMS_NODE_EVALUATE
         && tvms_node_is_int_imm(tvms_as_evaluate(stmt)->value);
}

typedef struct {
  tvms_node_map defined;  // inside
  tvms_node_map shared;   // from outside: themselves
} freshness;

static tvms_walk_step find_outer(void *self, tvms_node *node, tvms_field_role role) {
  freshness *f = self;
  if (node->kind != TVMS_NODE_VAR && node->kind != TVMS_NODE_BUFFER)
    return TVMS_WALK_ON;
  if (role != TVMS_ROLE_USE) {
    tvms_node_map_put(&f->defined, node, node);
    return TVMS_WALK_ON;
  }
  if (tvms_node_map_get(&f->defined, node)) return TVMS_WALK_SKIP;
  tvms_node_map_put(&f->shared, node, node);
  return TVMS_WALK_SKIP;
}

tvms_node *tvms_stmt_copy(tvms_unit *unit, tvms_node *stmt) {
  tvms_memory *memory = &unit->context->memory;
  freshness f;
  tvms_node_map_init(&f.defined, memory);
  tvms_node_map_init(&f.shared, memory);
  tvms_visitor visitor = {.self = &f, .enter = find_outer};
  tvms_walk(memory, stmt, &visitor);
  tvms_node *copy = tvms_clone(unit, stmt, &f.shared);
  tvms_node_map_fini(&f.defined);
  tvms_node_map_fini(&f.shared);
  return copy;
}

void tvms_rewrite_prim_funcs(tvms_pass_run *run, tvms_stmt_setup setup) {
  uint32_t count = run->module->member_count;
  for (uint32_t i = 0; i < count; i++) {
    tvms_node *old = run->module->members[i].function;
    if (!old || old->kind != TVMS_NODE_PRIM_FUNC) continue;
    tvms_unit *unit = tvms_open_unit(run);
    tvms_node *copy = tvms_clone(unit, old, NULL);
    tvms_rewriter rewriter;
    tvms_rewriter_init(&rewriter, unit, NULL);
    setup(&rewriter);
    tvms_node *new = tvms_rewrite(&rewriter, copy);
    tvms_rewriter_fini(&rewriter);
    if (new != copy) {
      tvms_replace_function(run, i, unit, new);
    } else {
      tvms_drop_unit(run, unit);
    }
  }
}
