// relax.run.unique, nonzero and shape_to_tensor: results whose sizes depend on the data.
//
// Both give what numpy gives.
#include "runtime/box_object.h"
#include "runtime/groups.h"

#include <stdlib.h>
#include <string.h>

static const tvms_dl_type int64_type = {TVMS_DL_INT, 64, 1};

static bool give_vector(tvms_box_args *a, const int64_t *items, int64_t len,
                        tvms_any *box) {
  tvms_box_tensor *made = tvms_box_tensor_new(a, int64_type, 1, &len, NULL, NULL);
  if (!made) return false;
  if (len) memcpy(made->tensor.data, items, (size_t)len * sizeof *items);
  return !tvms_box_give(box, TVMS_ANY_TENSOR, made);
}

static bool give_values(tvms_box_args *a, const tvms_groups_parts *p,
                        const tvms_groups *g, int32_t axis, tvms_any *box) {
  enum { MOST = 32 };
  const tvms_dl_tensor *x = p->tensor;
  int64_t sizes[MOST];
  int32_t ndim = axis < 0 ? 1 : x->ndim;
  if (ndim > MOST) return !tvms_box_refuse(a, "a tensor of fewer dimensions");
  if (axis >= 0) memcpy(sizes, x->shape, (size_t)ndim * sizeof *sizes);
  sizes[axis < 0 ? 0 : axis] = g->len;
  tvms_box_tensor *made = tvms_box_tensor_new(a, x->dtype, ndim, sizes, NULL, NULL);
  if (!made) return false;
  tvms_groups_values(p, g, made->tensor.data);
  return !tvms_box_give(box, TVMS_ANY_TENSOR, made);
}

static bool flag_at(const tvms_box_args *a, int32_t i) {
  int32_t kind = i < a->count ? a->args[i].type_index : TVMS_ANY_NONE;
  return (kind == TVMS_ANY_INT || kind == TVMS_ANY_BOOL) && a->args[i].v.i != 0;
}

// What is asked for beside the values.
static bool give_all(tvms_box_args *a, const tvms_groups_parts *p, const tvms_groups *g,
                     int32_t axis, tvms_any *boxes, int32_t *count) {
  bool good = give_values(a, p, g, axis, &boxes[(*count)++]);
  if (good && flag_at(a, 2))
    good = give_vector(a, g->first, g->len, &boxes[(*count)++]);
  if (good && flag_at(a, 3)) good = give_vector(a, g->of, p->count, &boxes[(*count)++]);
  if (good && flag_at(a, 4))
    good = give_vector(a, g->counts, g->len, &boxes[(*count)++]);
  return good;
}

static bool open_parts(tvms_box_args *a, tvms_groups_parts *p, int32_t *axis) {
  const tvms_dl_tensor *x = tvms_box_tensor_at(a, 0);
  if (!x) return false;
  *axis = -1;
  if (x->dtype.lanes != 1 || x->dtype.bits > 64)
    return !tvms_box_refuse(a, "a tensor of numbers");
  if (a->count > 5 && a->args[5].type_index == TVMS_ANY_INT) {
    int64_t wanted = a->args[5].v.i < 0 ? a->args[5].v.i + x->ndim : a->args[5].v.i;
    if (wanted < 0 || wanted >= x->ndim)
      return !tvms_box_refuse(a, "an axis of the tensor");
    *axis = (int32_t)wanted;
  }
  *p = tvms_groups_parts_of(x, tvms_box_data(x), *axis);
  return true;
}

// unique(x, sorted, return_index, return_inverse, return_counts, axis)
int32_t tvms_box_unique(void *raise, const tvms_any *args, int32_t count,
                        tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "relax.run.unique", args, count);
  tvms_groups_parts p;
  int32_t axis, made = 0, status = -1;
  tvms_any boxes[4] = {0};
  if (!open_parts(&a, &p, &axis)) return -1;
  size_t room = tvms_groups_room(&p);
  int64_t *memory = room ? malloc(room * sizeof *memory) : NULL;
  if (!memory) return tvms_box_no_memory(&a);
  tvms_groups g = tvms_groups_make(&p, flag_at(&a, 1), memory);
  bool good = give_all(&a, &p, &g, axis, boxes, &made);
  free(memory);
  if (good && made > 1) {
    status = tvms_box_make_tuple(raise, boxes, made, result);
  } else if (good) {
    *result = boxes[0];
    return 0;
  }
  tvms_box_drop(boxes, made);
  return status;
}

// The places of the elements that are not zero: one row per dimension, a scalar has one.
int32_t tvms_box_nonzero(void *raise, const tvms_any *args, int32_t count,
                         tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "relax.run.nonzero", args, count);
  tvms_groups_parts p;
  int32_t axis;
  if (!open_parts(&a, &p, &axis)) return -1;
  int64_t found = 0, at = 0, ndim = p.tensor->ndim ? p.tensor->ndim : 1;
  for (int64_t i = -1; (i = tvms_groups_next(&p, i + 1)) < p.count;)
    found++;
  int64_t sizes[] = {ndim, found};
  tvms_box_tensor *made = tvms_box_tensor_new(&a, int64_type, 2, sizes, NULL, NULL);
  if (!made) return -1;
  int64_t *rows = made->tensor.data;
  for (int64_t i = -1; (i = tvms_groups_next(&p, i + 1)) < p.count;) {
    int64_t rest = i;
    for (int64_t d = ndim; d > 0; d--) {
      int64_t size = p.tensor->ndim ? p.tensor->shape[d - 1] : 1;
      rows[(d - 1) * found + at] = rest % size;
      rest /= size;
    }
    at++;
  }
  return tvms_box_give(result, TVMS_ANY_TENSOR, made);
}

int32_t tvms_box_shape_to_tensor(void *raise, const tvms_any *args, int32_t count,
                                 tvms_any *result) {
  tvms_box_args a = tvms_box_open(raise, "relax.run.shape_to_tensor", args, count);
  int64_t len;
  const int64_t *sizes = tvms_box_sizes_at(&a, 0, &len);
  return sizes && give_vector(&a, sizes, len, result) ? 0 : -1;
}
