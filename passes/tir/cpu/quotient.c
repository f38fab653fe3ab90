// Finding divisors of whole rows, and multiplying by their inverses.
#include "passes/tir/cpu/quotient.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/fold_ops.h"
#include "ir/rewrite.h"
#include "ir/walk.h"

#include <math.h>

typedef struct {
  tvms_memory *memory;
  const tvms_line_member *member;
  tvms_node *TVMS_NULLABLE found;
} search;

static bool is_still(const search *s, tvms_node *node) {
  if (node->kind == TVMS_NODE_FLOAT_IMM) return false;
  const tvms_line_member *m = s->member;
  for (uint32_t i = 0; i < m->own_count; i++) {
    if (tvms_walk_contains(s->memory, node, m->stage.axes[m->own[i]].var)) return false;
  }
  return true;
}

static tvms_walk_step find_quotient(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  search *s = self;
  if (node->kind == TVMS_NODE_BUFFER) return TVMS_WALK_SKIP;
  if (node->kind != TVMS_NODE_DIV || node->dtype.code != TVMS_FLOAT
      || node->dtype.bits < 32)
    return TVMS_WALK_ON;
  tvms_node *divisor = tvms_as_binary(node)->b;
  bool moves = !is_still(s, tvms_as_binary(node)->a);
  if (!moves || !is_still(s, divisor)) return TVMS_WALK_ON;
  s->found = divisor;
  return TVMS_WALK_STOP;
}

tvms_node *TVMS_NULLABLE tvms_line_divisor(tvms_unit *unit,
                                           const tvms_line_member *member) {
  search s = {&unit->context->memory, member, NULL};
  tvms_visitor visitor = {.self = &s, .enter = find_quotient};
  tvms_walk(s.memory, member->stage.store->value, &visitor);
  return s.found;
}

typedef struct {
  const tvms_node *divisor;
  tvms_node *inverse;
} inversion;

static tvms_node *multiply(tvms_rewriter *r, tvms_node *node) {
  const inversion *i = r->self;
  const tvms_binary *old = tvms_as_binary(r->old);
  if (!tvms_node_same_expr(old->b, i->divisor)) return node;
  return tvms_binary_new(r->unit, TVMS_NODE_MUL, tvms_as_binary(node)->a, i->inverse,
                         TVMS_NO_SPAN);
}

tvms_node *tvms_line_multiplied(tvms_unit *unit, tvms_node *expr,
                                const tvms_node *divisor, tvms_node *inverse) {
  inversion i = {divisor, inverse};
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &i);
  r.leave[TVMS_NODE_DIV] = multiply;
  tvms_node *made = tvms_rewrite(&r, expr);
  tvms_rewriter_fini(&r);
  return made;
}

tvms_node *tvms_line_is_normal(tvms_unit *unit, tvms_node *inverse) {
  double most = ldexp(1, inverse->dtype.bits == 64 ? 1022 : 126);
  tvms_node *size = tvms_build_abs(unit, inverse, TVMS_NO_SPAN);
  tvms_node *high = tvms_float_imm_new(unit, inverse->dtype, most, TVMS_NO_SPAN);
  tvms_node *low = tvms_float_imm_new(unit, inverse->dtype, 1 / most, TVMS_NO_SPAN);
  return tvms_binary_new(
      unit, TVMS_NODE_AND, tvms_binary_new(unit, TVMS_NODE_GE, size, low, TVMS_NO_SPAN),
      tvms_binary_new(unit, TVMS_NODE_LE, size, high, TVMS_NO_SPAN), TVMS_NO_SPAN);
}
