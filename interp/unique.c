// The tensors of a call of relax.run.unique; runtime/groups.h finds what is equal.
#include "interp/unique.h"

#include "runtime/groups.h"

#include <string.h>

static tvms_value vector_of(tvms_heap *heap, const int64_t *items, int64_t len) {
  tvms_dl_type type = {TVMS_DL_INT, 64, 1};
  tvms_tensor *made = tvms_tensor_new(heap, type, 1, &len);
  if (!made) return (tvms_value){0};
  for (int64_t i = 0; i < len; i++)
    tvms_tensor_set(made, i, (tvms_scalar){.i = items[i]});
  return tvms_value_of_tensor(made);
}

static tvms_value values_of(tvms_heap *heap, tvms_arena *scratch,
                            const tvms_groups_parts *p, const tvms_groups *g,
                            const tvms_interp_unique *how) {
  const tvms_dl_tensor *x = p->tensor;
  int32_t ndim = how->by_axis ? x->ndim : 1;
  int64_t *shape = tvms_arena_array(scratch, int64_t, ndim + 1);
  if (how->by_axis) memcpy(shape, x->shape, (size_t)ndim * sizeof *shape);
  shape[how->by_axis ? how->axis : 0] = g->len;
  tvms_tensor *made = tvms_tensor_new(heap, x->dtype, ndim, shape);
  if (!made) return (tvms_value){0};
  tvms_groups_values(p, g, made->view.data);
  return tvms_value_of_tensor(made);
}

tvms_value tvms_interp_unique_of(tvms_heap *heap, tvms_arena *scratch,
                                 const tvms_tensor *x, const tvms_interp_unique *how) {
  int32_t axis = how->by_axis ? (int32_t)how->axis : -1;
  tvms_groups_parts p = tvms_groups_parts_of(&x->view, x->view.data, axis);
  size_t room = tvms_groups_room(&p);
  if (!room) return (tvms_value){0};
  tvms_groups g =
      tvms_groups_make(&p, how->sorted, tvms_arena_array(scratch, int64_t, room));
  tvms_value values = values_of(heap, scratch, &p, &g, how);
  if (!how->index && !how->inverse && !how->counts) return values;
  tvms_items *tuple = tvms_tuple_new(
      heap, 1u + (uint32_t)how->index + (uint32_t)how->inverse + (uint32_t)how->counts);
  uint32_t at = 0;
  tuple->items[at++] = values;
  if (how->index) tuple->items[at++] = vector_of(heap, g.first, g.len);
  if (how->inverse) tuple->items[at++] = vector_of(heap, g.of, p.count);
  if (how->counts) tuple->items[at++] = vector_of(heap, g.counts, g.len);
  return (tvms_value){.kind = TVMS_VALUE_TUPLE, .tuple = tuple};
}
