// Choices of the greater or the less of two.
//
// T.max(a, b) is a where a > b and else b, also where one is NaN or both are zeros of any sign: so is the choice. What is equal may
// be chosen otherwise if it is an integer.
#include "passes/tir/cpu/extremes.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "passes/tir/cpu/nodes.h"

// `yes` where the condition holds, else `no`; NULL: it is more than the greater or less of the two.
static tvms_node *TVMS_NULLABLE extreme_of(tvms_unit *unit, const tvms_node *condition,
                                           tvms_node *yes, tvms_node *no) {
  if (condition->kind < TVMS_NODE_LT || condition->kind > TVMS_NODE_GE
      || tvms_dtype_is_bool(yes->dtype))
    return NULL;
  const tvms_binary *compared = tvms_as_binary(condition);
  bool strict = condition->kind == TVMS_NODE_LT || condition->kind == TVMS_NODE_GT;
  bool greater = condition->kind == TVMS_NODE_GT || condition->kind == TVMS_NODE_GE;
  if (!strict && tvms_dtype_is_real(yes->dtype)) return NULL;
  bool in_order =
      tvms_node_same_expr(compared->a, yes) && tvms_node_same_expr(compared->b, no);
  bool turned =
      tvms_node_same_expr(compared->a, no) && tvms_node_same_expr(compared->b, yes);
  if (!in_order && !turned) return NULL;
  return tvms_build_binary(unit, greater == in_order ? TVMS_NODE_MAX : TVMS_NODE_MIN,
                           yes, no, condition->span);
}

static tvms_node *leave_choice(tvms_rewriter *r, tvms_node *node) {
  tvms_node_choice choice = tvms_node_choice_of(node);
  tvms_node *made = choice.condition
                        ? extreme_of(r->unit, choice.condition, choice.yes, choice.no)
                        : NULL;
  return made ? made : node;
}

static tvms_node *leave_branch(tvms_rewriter *r, tvms_node *node) {
  const tvms_if_then_else *branch = tvms_as_if_then_else(node);
  if (branch->else_case || branch->then_case->kind != TVMS_NODE_STORE) return node;
  const tvms_store *store = tvms_as_store(branch->then_case);
  if (store->predicate) return node;
  tvms_node *before = tvms_buffer_load_new(r->unit, store->buffer, store->indices.items,
                                           store->indices.len, NULL, node->span);
  tvms_node *value = extreme_of(r->unit, branch->condition, store->value, before);
  return value ? tvms_cpu_store(r->unit, store->buffer, store->indices, value) : node;
}

tvms_node *tvms_cpu_find_extremes(tvms_unit *unit, tvms_node *stmt) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, NULL);
  r.leave[TVMS_NODE_CALL] = r.leave[TVMS_NODE_SELECT] = leave_choice;
  r.leave[TVMS_NODE_IF_THEN_ELSE] = leave_branch;
  tvms_node *made = tvms_rewrite(&r, stmt);
  tvms_rewriter_fini(&r);
  return made;
}
