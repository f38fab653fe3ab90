// Finding quotients of one expression, and writing them by one of them: n // a // b is n // (a * b).
#include "arith/quotients.h"

#include "ir/equal.h"
#include "ir/fold.h"
#include "ir/rewrite.h"
#include "ir/walk.h"

enum { MOST = 8 };  // expressions that are divided

// An expression, the least number that it is divided by, and the variable in the place of that quotient.
typedef struct {
  tvms_node *of;
  int64_t by;
  bool several;  // it is divided by others, too
  bool apart;    // one of which is no multiple
  tvms_node *TVMS_NULLABLE var;
} quotient;

typedef struct {
  quotient items[MOST];
  uint32_t count;
} quotients;

static bool is_quotient(const tvms_node *node) {
  if (node->kind != TVMS_NODE_FLOOR_DIV) return false;
  const tvms_binary *binary = tvms_as_binary(node);
  return tvms_node_is_int_imm(binary->b) && tvms_as_int_imm(binary->b)->value > 0
         && !tvms_node_is_int_imm(binary->a);
}

static quotient *TVMS_NULLABLE find(quotients *q, const tvms_node *of) {
  for (uint32_t i = 0; i < q->count; i++) {
    if (tvms_node_same_expr(q->items[i].of, of)) return &q->items[i];
  }
  return NULL;
}

static tvms_walk_step note_quotient(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  quotients *q = self;
  if (!is_quotient(node)) return TVMS_WALK_ON;
  const tvms_binary *binary = tvms_as_binary(node);
  int64_t by = tvms_as_int_imm(binary->b)->value;
  quotient *known = find(q, binary->a);
  if (!known && q->count < MOST) {
    q->items[q->count++] = (quotient){.of = binary->a, .by = by};
  } else if (known && known->by != by) {
    int64_t least = by < known->by ? by : known->by;
    known->apart |= by % least != 0 || known->by % least != 0;
    known->several = true;
    known->by = least;
  }
  return TVMS_WALK_ON;
}

static tvms_node *join(tvms_rewriter *r, tvms_node *node) {
  quotient *known = is_quotient(node) ? find(r->self, tvms_as_binary(node)->a) : NULL;
  if (!known || !known->several || known->apart) return node;
  if (!known->var)
    known->var = tvms_var_new(r->unit, tvms_symbol_intern(r->unit->context, "v", 1),
                              node->dtype, TVMS_NO_SPAN);
  int64_t by = tvms_as_int_imm(tvms_as_binary(node)->b)->value / known->by;
  if (by == 1) return known->var;
  return tvms_build_binary(r->unit, TVMS_NODE_FLOOR_DIV, known->var,
                           tvms_int_imm_new(r->unit, node->dtype, by, TVMS_NO_SPAN),
                           TVMS_NO_SPAN);
}

tvms_node *tvms_arith_join_quotients(tvms_unit *unit, tvms_node *expr) {
  quotients q = {.count = 0};
  tvms_visitor visitor = {.self = &q, .enter = note_quotient};
  tvms_walk(&unit->context->memory, expr, &visitor);
  bool any = false;
  for (uint32_t i = 0; i < q.count; i++)
    any |= q.items[i].several && !q.items[i].apart;
  if (!any) return expr;
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &q);
  r.leave[TVMS_NODE_FLOOR_DIV] = join;
  tvms_node *made = tvms_rewrite(&r, expr);
  tvms_rewriter_fini(&r);
  return made;
}
