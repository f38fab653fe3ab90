// Conditions of vectorized loops as masks of accesses: ramp < limit becomes the predicate of
// every load and store under it.
#include "passes/tir/loop/vectorize_mask.h"

#include "ir/equal.h"
#include "ir/fold_ops.h"

typedef struct {
  tvms_vectorizer *vectorizer;
  const tvms_ramp *ramp;  // left side of the condition
  tvms_node *limit;
  uint32_t seen, masked;  // accesses
} masking;

// The predicate of an access with these indices, or NULL if the condition is not about its
// lanes.
static tvms_node *TVMS_NULLABLE mask_of(masking *m, tvms_list indices,
                                        tvms_node *TVMS_NULLABLE given) {
  m->seen++;
  if (indices.len == 0 || indices.items[0]->kind != TVMS_NODE_RAMP) return NULL;
  const tvms_ramp *place = tvms_as_ramp(indices.items[0]);
  bool offsets = m->vectorizer->machine.riscv;
  if (!tvms_node_same_expr(place->stride, m->ramp->stride)) return NULL;
  if (place->head.dtype.lanes != m->ramp->head.dtype.lanes) return NULL;
  if (!offsets && !tvms_node_same_expr(place->base, m->ramp->base)) return NULL;
  m->masked++;
  tvms_unit *unit = m->vectorizer->unit;
  tvms_dtype dtype =
      tvms_dtype_with_lanes(TVMS_DTYPE(UINT, 1), place->head.dtype.lanes);
  tvms_node *args[] = {m->ramp->base, m->limit};
  tvms_node *mask = tvms_call_new_of(unit, dtype, TVMS_TIR_get_active_lane_mask, args,
                                     2, TVMS_NO_SPAN);
  if (!given || !offsets) return mask;
  return tvms_bitwise_new(unit, TVMS_TIR_bitwise_and, given, mask, TVMS_NO_SPAN);
}

static tvms_node *leave_load(tvms_rewriter *r, tvms_node *node) {
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  tvms_node *mask = mask_of(r->self, load->indices, load->predicate);
  if (!mask) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_buffer_load(copy)->predicate = mask;
  return copy;
}

static tvms_node *leave_store(tvms_rewriter *r, tvms_node *node) {
  const tvms_store *store = tvms_as_store(node);
  tvms_node *mask = mask_of(r->self, store->indices, store->predicate);
  if (!mask) return node;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_store(copy)->predicate = mask;
  return copy;
}

tvms_node *tvms_vectorize_mask(tvms_vectorizer *vectorizer, tvms_node *node,
                               tvms_node *condition) {
  if (condition->kind != TVMS_NODE_LT) return NULL;
  const tvms_binary *less = tvms_as_binary(condition);
  if (less->a->kind != TVMS_NODE_RAMP || less->b->kind != TVMS_NODE_BROADCAST)
    return NULL;
  masking m = {.vectorizer = vectorizer,
               .ramp = tvms_as_ramp(less->a),
               .limit = tvms_as_broadcast(less->b)->value};
  tvms_rewriter r;
  tvms_rewriter_init(&r, vectorizer->unit, &m);
  r.roles = TVMS_IN(USE) | TVMS_IN(BODY);
  r.leave[TVMS_NODE_BUFFER_LOAD] = leave_load;
  r.leave[TVMS_NODE_STORE] = leave_store;
  tvms_node *made = tvms_rewrite(&r, node);
  tvms_rewriter_fini(&r);
  return m.seen > 0 && m.seen == m.masked ? made : NULL;
}
