// Is another order of axes worth what it takes to get there?
//
// Products of whole channels are done faster if channels come last: a twelfth of the time is saved, and half of
// it where each channel is alone, which takes some eight times as long for each multiply-add. To move one
// element takes as long as some 16 multiply-adds. (Ratios of a Zen 4; they are rates of vector units and
// caches, which grow together.)
#include "passes/relax/graph/layout_cost.h"

#include "structinfo/make.h"

enum {
  SAVED_OF = 12,     // one multiply-add of so many
  PER_ELEMENT = 16,  // multiply-adds in the time of one element moved
  ALONE = 48,        // as many as one where channels are alone, and half of it saved
};

static double elements_of(const tvms_node *type) {
  tvms_list dims;
  double elements = 1;
  if (!tvms_sinfo_dims(type, &dims)) return elements;
  for (uint32_t i = 0; i < dims.len; i++) {
    if (tvms_node_is_int_imm(dims.items[i]))
      elements *= (double)tvms_as_int_imm(dims.items[i])->value;
  }
  return elements;
}

// Multiply-adds: each element of the result takes the weights of its channel.
void tvms_relax_layout_cost_save(tvms_relax_layout_cost *cost,
                                 const tvms_relax_layout_query *query) {
  tvms_layout kernel;
  tvms_list dims;
  const tvms_node *weight = tvms_relax_layout_query_type(query, 1);
  if (!tvms_relax_layout_query_layout(query, "kernel_layout", &kernel)
      || !tvms_sinfo_dims(weight, &dims))
    return;
  int out = tvms_relax_layout_find(&kernel, 'O');
  int in = tvms_relax_layout_find(&kernel, 'I');
  if (out < 0 || in < 0 || (uint32_t)out >= dims.len || (uint32_t)in >= dims.len)
    return;
  double channels = 1;
  if (tvms_node_is_int_imm(dims.items[out]))
    channels = (double)tvms_as_int_imm(dims.items[out])->value;
  double work = elements_of(query->call->head.sinfo) * elements_of(weight) / channels;
  bool alone = tvms_relax_layout_query_int(query, "groups", 1) > 1
               && tvms_node_is_int_imm(dims.items[in])
               && tvms_as_int_imm(dims.items[in])->value == 1;
  cost->saved += (alone ? ALONE : 1) * work / SAVED_OF;
}

void tvms_relax_layout_cost_move(tvms_relax_layout_cost *cost, const tvms_node *type) {
  cost->moved += PER_ELEMENT * elements_of(type);
}

bool tvms_relax_layout_cost_is_worth(const tvms_relax_layout_cost *cost) {
  return cost->saved >= cost->moved;
}
