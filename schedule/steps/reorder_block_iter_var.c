// reorder_block_iter_var: the axes of a block in another order.
// TVM: src/s_tir/schedule/primitive/reorder_block_iter_var.cc.
#include "schedule/scope.h"
#include "schedule/steps.h"

static bool is_permutation(const tvms_sched_value *order, uint32_t count) {
  if (order->len != count) return false;
  for (uint32_t i = 0; i < count; i++) {
    int64_t place = order->items[i].number;
    if (place < 0 || place >= count) return false;
    for (uint32_t k = 0; k < i; k++)
      if (order->items[k].number == place) return false;
  }
  return true;
}

static tvms_list reordered(tvms_unit *unit, tvms_list list,
                           const tvms_sched_value *order) {
  tvms_list made = tvms_list_copy(unit, list.items, list.len);
  for (uint32_t i = 0; i < list.len; i++)
    made.items[i] = list.items[order->items[i].number];
  return made;
}

bool tvms_step_reorder_block_iter_var(tvms_step *step) {
  tvms_sched *s = step->sched;
  int32_t site = tvms_step_site(step, TVMS_ARG(ReorderBlockIterVar, block));
  if (site == TVMS_NO_SITE) return false;
  const tvms_sched_value *order = &step->args[TVMS_ARG(ReorderBlockIterVar, new_order)];
  tvms_block_realize *old = tvms_sched_realize(s, site);
  if (!is_permutation(order, old->iter_values.len))
    return tvms_sched_refuse(s, "the order is not one of all axes of block '%s'",
                             tvms_sched_block_name(s, site));
  tvms_block_realize *realize =
      tvms_as_block_realize(tvms_node_copy(s->unit, &old->head));
  tvms_block *block = tvms_as_block(tvms_node_copy(s->unit, old->block));
  block->iter_vars = reordered(s->unit, block->iter_vars, order);
  realize->iter_values = reordered(s->unit, realize->iter_values, order);
  realize->block = &block->head;
  tvms_sched_replace_one(s, &old->head, &realize->head);
  return true;
}
