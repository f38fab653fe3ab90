// Only dimensions that changed are simplified: what the source says stays as it is written.
#include "passes/relax/substitute.h"

#include "structinfo/intern.h"

static tvms_list simplified(tvms_rewriter *r, tvms_prover *prover, tvms_list dims,
                            tvms_list old) {
  if (dims.items == old.items) return dims;
  tvms_list list = tvms_list_copy(r->unit, dims.items, dims.len);
  for (uint32_t i = 0; i < list.len; i++) {
    if (i >= old.len || list.items[i] != old.items[i])
      list.items[i] = tvms_dim_simplify(prover, list.items[i]);
  }
  return list;
}

tvms_node *tvms_relax_substituted_shape(tvms_rewriter *r, tvms_prover *prover,
                                        tvms_node *node, const tvms_node *old) {
  if (node == old) return node;
  tvms_shape_expr *shape = tvms_as_shape_expr(node);
  shape->values = simplified(r, prover, shape->values, tvms_as_shape_expr(old)->values);
  return node;
}

tvms_node *tvms_relax_substituted_type(tvms_rewriter *r, tvms_prover *prover,
                                       tvms_node *node, const tvms_node *old) {
  if (node == old) return node;
  if (node->kind == TVMS_NODE_SINFO_SHAPE) {
    tvms_sinfo_shape *shape = tvms_as_sinfo_shape(node);
    shape->values =
        simplified(r, prover, shape->values, tvms_as_sinfo_shape(old)->values);
  }
  tvms_node *closed = tvms_types_intern(r->unit->context, node);
  return closed ? closed : node;
}

static tvms_node *leave_shape(tvms_rewriter *r, tvms_node *node) {
  return tvms_relax_substituted_shape(r, r->self, node, r->old);
}

static tvms_node *leave_type(tvms_rewriter *r, tvms_node *node) {
  return tvms_relax_substituted_type(r, r->self, node, r->old);
}

tvms_node *tvms_relax_substitute(tvms_unit *unit, tvms_node *node,
                                 const tvms_node_map *map) {
  tvms_prover prover;
  tvms_prover_init(&prover, unit);
  tvms_rewriter r;
  tvms_rewriter_init(&r, unit, &prover);
  for (uint32_t i = 0; i < map->cap; i++) {
    const tvms_node_pair *pair = &map->pairs[i];
    if (pair->key && pair->value) tvms_node_map_put(&r.known, pair->key, pair->value);
  }
  r.leave[TVMS_NODE_SHAPE_EXPR] = leave_shape;
  r.leave[TVMS_NODE_SINFO_TENSOR] = leave_type;
  r.leave[TVMS_NODE_SINFO_SHAPE] = leave_type;
  r.leave[TVMS_NODE_SINFO_PRIM] = leave_type;
  r.leave[TVMS_NODE_SINFO_TUPLE] = leave_type;
  r.leave[TVMS_NODE_SINFO_FUNC] = leave_type;
  tvms_node *result = tvms_rewrite(&r, node);
  tvms_rewriter_fini(&r);
  tvms_prover_fini(&prover);
  return result;
}
