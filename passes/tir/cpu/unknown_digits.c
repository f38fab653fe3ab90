// Taking numbers of two digits apart, the lower one of which has as many values as an axis has steps.
#include "passes/tir/cpu/unknown_digits.h"

#include "ir/build.h"
#include "ir/equal.h"
#include "ir/rewrite.h"

// Is `node` an axis of `size` steps?
static bool is_digit(const tvms_stage *stage, const tvms_node *node,
                     const tvms_node *size) {
  for (uint32_t i = 0; i < stage->count; i++) {
    if (stage->axes[i].var == node)
      return tvms_node_same_expr(stage->axes[i].extent, size);
  }
  return false;
}

// x of x * size; NULL: it is no such product.
static tvms_node *TVMS_NULLABLE factor_of(tvms_node *node, const tvms_node *size) {
  if (node->kind != TVMS_NODE_MUL) return NULL;
  const tvms_binary *product = tvms_as_binary(node);
  if (tvms_node_same_expr(product->b, size)) return product->a;
  return tvms_node_same_expr(product->a, size) ? product->b : NULL;
}

static tvms_node *take_apart(tvms_rewriter *r, tvms_node *node) {
  const tvms_binary *divided = tvms_as_binary(node);
  if (tvms_node_is_int_imm(divided->b) || divided->a->kind != TVMS_NODE_ADD)
    return node;
  const tvms_binary *sum = tvms_as_binary(divided->a);
  bool behind = is_digit(r->self, sum->b, divided->b);
  tvms_node *low = behind ? sum->b : sum->a;
  tvms_node *high = factor_of(behind ? sum->a : sum->b, divided->b);
  if (!high || !is_digit(r->self, low, divided->b)) return node;
  return node->kind == TVMS_NODE_FLOOR_DIV ? high : low;
}

tvms_node *tvms_stage_settle_digits(tvms_unit *unit, const tvms_stage *stage,
                                    tvms_node *index) {
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, (void *)stage);
  r.leave[TVMS_NODE_FLOOR_DIV] = take_apart;
  r.leave[TVMS_NODE_FLOOR_MOD] = take_apart;
  tvms_node *made = tvms_rewrite(&r, index);
  tvms_rewriter_fini(&r);
  return made;
}
