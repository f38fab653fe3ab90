// Rules of layout.def for operators with axes among their attributes: the axes are counted in the
// new order. Where blocks are in the way, most ask for the order of the source.
#include "passes/relax/graph/layout_axes.h"

#include "ir/object.h"
#include "ir/rewrite.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <ctype.h>
#include <string.h>

// Softmax, flip: one attribute `axis`.
bool tvms_relax_layout_axes_one_axis(tvms_relax_layout_query *q) {
  tvms_layout order;
  if (!tvms_relax_layout_query_plain_order(q, 0, &order)) return false;
  int64_t axis = tvms_relax_layout_query_int(q, "axis", 0);
  tvms_relax_layout_query_set_int(q, "axis", tvms_relax_layout_axis(&order, axis));
  return tvms_relax_layout_query_answer(q, &order, &order);
}

bool tvms_relax_layout_axes_prelu(tvms_relax_layout_query *q) {
  if (!tvms_relax_layout_axes_one_axis(q)) return false;
  q->inputs[1] = q->orders[1];
  q->input_count = 2;
  return true;
}

bool tvms_relax_layout_axes_batch_norm(tvms_relax_layout_query *q) {
  if (!tvms_relax_layout_axes_one_axis(q)) return false;
  tvms_node *fields[] = {q->output, NULL, NULL};
  for (uint32_t i = 1; i < 5; i++)
    tvms_relax_layout_query_set_initial(q, i);
  fields[1] = q->inputs[3];
  fields[2] = q->inputs[4];
  q->output = tvms_object_array_new(q->unit, fields, 3, TVMS_NO_SPAN);
  return true;
}

// Scales and zeros stay.
bool tvms_relax_layout_axes_quantize(tvms_relax_layout_query *q) {
  if (!tvms_relax_layout_axes_one_axis(q)) return false;
  for (uint32_t i = 1; i < 3; i++)
    tvms_relax_layout_query_set_initial(q, i);
  return true;
}

// Norms with `axes` and, some of them, `channel_axis`; the other arguments stay.
bool tvms_relax_layout_axes_norm(tvms_relax_layout_query *q) {
  tvms_layout order;
  if (!tvms_relax_layout_query_order(q, 0, &order)) return false;
  tvms_list axes = tvms_relax_layout_query_list(q, "axes");
  int64_t moved[TVMS_LAYOUT_SIZE];
  if (axes.len > TVMS_LAYOUT_AXES) return false;
  for (uint32_t i = 0; i < axes.len; i++) {
    int64_t axis = tvms_attr_item_int(axes.items[i]);
    bool counts = q->opcode == TVMS_R_nn_layer_norm && axis < 0;
    moved[i] = tvms_relax_layout_axis(
        &order, counts ? axis + tvms_relax_layout_query_ndim(q, 0) : axis);
  }
  tvms_relax_layout_query_set_ints(q, "axes", moved, axes.len);
  if (tvms_relax_layout_query_attr(q, "channel_axis")) {
    int64_t channel = tvms_relax_layout_query_int(q, "channel_axis", 0);
    tvms_relax_layout_query_set_int(q, "channel_axis",
                                    tvms_relax_layout_axis(&order, channel));
  }
  tvms_relax_layout_query_answer(q, &order, &order);
  for (uint32_t i = 1; i < q->call->args.len && i < TVMS_LAYOUT_ARGUMENTS; i++)
    tvms_relax_layout_query_set_initial(q, i);
  return true;
}

// Letters of the axes that stay, '#' for those that go: in the order of the source.
static bool letters_without(const int64_t *axes, uint32_t count, int64_t ndim,
                            char letters[TVMS_LAYOUT_SIZE]) {
  memset(letters, 0, TVMS_LAYOUT_SIZE);
  if (ndim < 0 || ndim > TVMS_LAYOUT_AXES) return false;
  for (int64_t i = 0; i < ndim; i++)
    letters[i] = '0';
  for (uint32_t i = 0; i < count; i++) {
    int64_t axis = axes[i] < 0 ? axes[i] + ndim : axes[i];
    if (axis < 0 || axis >= ndim) return false;
    letters[axis] = '#';
  }
  char next = 'A';
  for (int64_t i = 0; i < ndim; i++)
    if (letters[i] != '#') letters[i] = next++;
  return true;
}

// The places of '#' among the axes, which go into attribute `name`; `rest` gets what stays.
static void take_marks(tvms_relax_layout_query *q, const char *name, const char *marked,
                       tvms_layout *rest) {
  int64_t axes[TVMS_LAYOUT_SIZE];
  uint32_t count = 0, place = 0;
  size_t len = 0, digits = 0;
  *rest = (tvms_layout){{0}};
  for (const char *at = marked; *at; at++) {
    if (isdigit((unsigned char)*at)) {
      digits++;
      rest->text[len++] = *at;
      continue;
    }
    if (*at == '#') {
      axes[count++] = place;
      len -= digits;
      memset(rest->text + len, 0, digits);
    } else {
      rest->text[len++] = *at;
    }
    digits = 0;
    place++;
  }
  tvms_relax_layout_query_set_ints(q, name, axes, count);
}

// The axes in attribute `name`, or all if it is unset.
static uint32_t axes_or_all(const tvms_relax_layout_query *q, int64_t ndim,
                            int64_t axes[TVMS_LAYOUT_SIZE]) {
  uint32_t count = 0;
  if (!tvms_relax_layout_query_attr(q, "axis")) {
    for (int64_t i = 0; i < ndim; i++)
      axes[count++] = i;
    return count;
  }
  tvms_list list = tvms_relax_layout_query_list(q, "axis");
  for (uint32_t i = 0; i < list.len && i < TVMS_LAYOUT_AXES; i++)
    axes[count++] = tvms_attr_item_int(list.items[i]);
  return count;
}

bool tvms_relax_layout_axes_reduction(tvms_relax_layout_query *q) {
  tvms_layout order, rest;
  int64_t ndim = tvms_relax_layout_query_ndim(q, 0), axes[TVMS_LAYOUT_SIZE];
  char letters[TVMS_LAYOUT_SIZE], marked[TVMS_LAYOUT_SIZE];
  if (!tvms_relax_layout_query_order(q, 0, &order) || ndim > TVMS_LAYOUT_AXES)
    return false;
  uint32_t count = axes_or_all(q, ndim, axes);
  tvms_layout initial = tvms_relax_layout_initial(ndim);
  if (!letters_without(axes, count, ndim, letters)) return false;
  if (!tvms_relax_layout_translate(letters, &initial, &order, marked)) return false;
  take_marks(q, "axis", marked, &rest);
  bool keeps = tvms_attr_bool(q->call, TVMS_ATTR_reduction_keepdims);
  return tvms_relax_layout_query_answer(q, &order, keeps ? &order : &rest);
}

bool tvms_relax_layout_axes_squeeze(tvms_relax_layout_query *q) {
  tvms_layout order, rest;
  tvms_list shape;
  int64_t ndim = tvms_relax_layout_query_ndim(q, 0), axes[TVMS_LAYOUT_SIZE];
  char letters[TVMS_LAYOUT_SIZE], marked[TVMS_LAYOUT_SIZE];
  if (!tvms_relax_layout_query_plain_order(q, 0, &order) || ndim > TVMS_LAYOUT_AXES)
    return false;
  if (!tvms_sinfo_tensor_dims(tvms_relax_layout_query_type(q, 0), &shape)) return false;
  bool named = tvms_relax_layout_query_attr(q, "axis");
  uint32_t count = axes_or_all(q, ndim, axes), ones = 0;
  for (uint32_t i = 0; i < count;
       i++) {  // axes that are longer stay, also if they are named
    int64_t dim, axis = axes[i] < 0 ? axes[i] + ndim : axes[i];
    bool known = tvms_sinfo_dim_int(shape.items[axis], &dim);
    if (known ? dim == 1 : named) axes[ones++] = axis;
  }
  count = ones;
  tvms_layout initial = tvms_relax_layout_initial(ndim);
  if (!letters_without(axes, count, ndim, letters)) return false;
  if (!tvms_relax_layout_move_text(letters, &initial, &order, marked)) return false;
  take_marks(q, "axis", marked, &rest);
  return tvms_relax_layout_query_answer(q, &order, &rest);
}

bool tvms_relax_layout_axes_expand_dims(tvms_relax_layout_query *q) {
  tvms_layout order, output = {{0}};
  tvms_list list = tvms_relax_layout_query_list(q, "axis");
  int64_t ndim = tvms_relax_layout_query_ndim(q, 0), out_ndim = ndim + list.len;
  bool fresh[TVMS_LAYOUT_SIZE] = {false};
  char kept[TVMS_LAYOUT_SIZE] = {0}, moved[TVMS_LAYOUT_SIZE];
  if (!tvms_relax_layout_query_plain_order(q, 0, &order) || out_ndim > TVMS_LAYOUT_AXES)
    return false;
  for (uint32_t i = 0; i < list.len; i++) {
    int64_t axis = tvms_attr_item_int(list.items[i]);
    fresh[(axis % out_ndim + out_ndim) % out_ndim] = true;
  }
  size_t len = 0;
  for (int64_t i = 0; i < out_ndim; i++)
    if (!fresh[i]) kept[len++] = (char)('A' + i);
  tvms_layout initial = tvms_relax_layout_initial(ndim);
  if (!tvms_relax_layout_move_text(kept, &initial, &order, moved)) return false;
  const char *next = moved;
  for (int64_t i = 0; i < out_ndim; i++)
    output.text[i] = fresh[i] ? (char)('A' + i) : *next++;
  return tvms_relax_layout_query_answer(q, &order, &output);
}

bool tvms_relax_layout_axes_permute_dims(tvms_relax_layout_query *q) {
  tvms_layout order;
  int64_t ndim = tvms_relax_layout_query_ndim(q, 0), axes[TVMS_LAYOUT_SIZE];
  if (!tvms_relax_layout_query_plain_order(q, 0, &order) || ndim > TVMS_LAYOUT_AXES)
    return false;
  tvms_list list = tvms_relax_layout_query_list(q, "axes");
  for (int64_t i = 0; i < ndim; i++) {
    bool given = tvms_relax_layout_query_attr(q, "axes") && i < list.len;
    int64_t axis = given ? tvms_attr_item_int(list.items[i]) : ndim - i - 1;
    axes[i] = tvms_relax_layout_axis(&order, axis);
  }
  tvms_relax_layout_query_set_ints(q, "axes", axes, (uint32_t)ndim);
  tvms_layout initial = tvms_relax_layout_initial(ndim);
  return tvms_relax_layout_query_answer(q, &order, &initial);
}

bool tvms_relax_layout_axes_repeat(tvms_relax_layout_query *q) {
  tvms_layout order;
  if (!tvms_relax_layout_query_plain_order(q, 0, &order)) return false;
  tvms_layout flat = tvms_relax_layout_initial(1);
  if (!tvms_relax_layout_query_attr(q, "axis"))
    return tvms_relax_layout_query_answer(q, &order, &flat);
  tvms_relax_layout_query_set_int(
      q, "axis",
      tvms_relax_layout_axis(&order, tvms_relax_layout_query_int(q, "axis", 0)));
  return tvms_relax_layout_query_answer(q, &order, &order);
}

// Two widths per axis, which go where it goes.
bool tvms_relax_layout_axes_pad(tvms_relax_layout_query *q) {
  tvms_layout order;
  tvms_list old = tvms_relax_layout_query_list(q, "pad_width");
  int64_t widths[2 * TVMS_LAYOUT_AXES];
  if (!tvms_relax_layout_query_plain_order(q, 0, &order)) return false;
  uint32_t ndim = tvms_relax_layout_ndim(&order);
  if (ndim > TVMS_LAYOUT_AXES || old.len != 2 * ndim) return false;
  for (uint32_t i = 0; i < ndim; i++) {
    int axis = tvms_relax_layout_letter(&order, i) - 'A';
    widths[2 * i] = tvms_attr_item_int(old.items[2 * axis]);
    widths[2 * i + 1] = tvms_attr_item_int(old.items[2 * axis + 1]);
  }
  tvms_relax_layout_query_set_ints(q, "pad_width", widths, 2 * ndim);
  return tvms_relax_layout_query_answer(q, &order, &order);
}

bool tvms_relax_layout_axes_tile(tvms_relax_layout_query *q) {
  tvms_layout order, output;
  tvms_list old = tvms_relax_layout_query_list(q, "repeats");
  int64_t ndim = tvms_relax_layout_query_ndim(q, 0), count = old.len,
          repeats[TVMS_LAYOUT_SIZE];
  if (!tvms_relax_layout_query_plain_order(q, 0, &order) || count > TVMS_LAYOUT_AXES)
    return false;
  int64_t more = count > ndim ? count - ndim : 0,
          missing = ndim > count ? ndim - count : 0;
  for (int64_t i = 0; i < more; i++)
    repeats[i] = tvms_attr_item_int(old.items[i]);
  for (int64_t i = 0; i < ndim; i++) {
    int64_t from = tvms_relax_layout_letter(&order, (uint32_t)i) - 'A' + more - missing;
    repeats[more + i] = from < 0 ? 1 : tvms_attr_item_int(old.items[from]);
  }
  tvms_relax_layout_query_set_ints(q, "repeats", repeats, (uint32_t)(more + ndim));
  return tvms_relax_layout_widen(&order, more + ndim, &output)
         && tvms_relax_layout_query_answer(q, &order, &output);
}

bool tvms_relax_layout_axes_strided_slice(tvms_relax_layout_query *q) {
  tvms_layout order;
  if (!tvms_relax_layout_query_plain_order(q, 0, &order) || q->call->args.len < 2)
    return false;
  const tvms_node *axes = q->call->args.items[1];
  if (axes->kind != TVMS_NODE_TUPLE) return false;
  tvms_node *made = tvms_node_copy(q->unit, axes);
  tvms_list old = tvms_as_tuple(axes)->fields;
  tvms_list fields = tvms_list_copy(q->unit, old.items, old.len);
  for (uint32_t i = 0; i < old.len; i++) {
    const tvms_node *field = old.items[i];
    bool wrapped = field->kind == TVMS_NODE_PRIM_VALUE;
    const tvms_node *axis = wrapped ? tvms_as_prim_value(field)->value : field;
    if (axis->kind != TVMS_NODE_INT_IMM) return false;
    int place = tvms_relax_layout_axis(&order, tvms_as_int_imm(axis)->value);
    tvms_node *number =
        tvms_int_imm_new(q->unit, TVMS_DTYPE(INT, 64), place, TVMS_NO_SPAN);
    fields.items[i] = wrapped ? tvms_relax_make_prim_value(q->unit, number) : number;
  }
  tvms_as_tuple(made)->fields = fields;
  q->second = made;
  return tvms_relax_layout_query_answer(q, &order, &order);
}

bool tvms_relax_layout_axes_gather_elements(tvms_relax_layout_query *q) {
  tvms_layout order, indices;
  if (!tvms_relax_layout_query_order(q, 0, &order)
      || !tvms_relax_layout_query_order(q, 1, &indices))
    return false;
  tvms_layout of_data = tvms_relax_layout_initial(tvms_relax_layout_ndim(&order));
  tvms_layout of_indices = tvms_relax_layout_initial(tvms_relax_layout_ndim(&indices));
  if (tvms_relax_layout_same(&order, &of_data)
      && !tvms_relax_layout_same(&indices, &of_indices))
    order = indices;
  if (tvms_relax_layout_has_blocks(&order))
    order = tvms_relax_layout_initial(tvms_relax_layout_query_ndim(q, 0));
  tvms_relax_layout_query_set_int(
      q, "axis",
      tvms_relax_layout_axis(&order, tvms_relax_layout_query_int(q, "axis", 0)));
  return tvms_relax_layout_query_set_both(q, &order);
}

bool tvms_relax_layout_axes_scatter_elements(tvms_relax_layout_query *q) {
  tvms_layout order, indices, updates;
  if (!tvms_relax_layout_query_order(q, 0, &order)
      || !tvms_relax_layout_query_order(q, 1, &indices)
      || !tvms_relax_layout_query_order(q, 2, &updates))
    return false;
  if (tvms_relax_layout_same(&indices, &updates)) order = indices;
  if (tvms_relax_layout_has_blocks(&order))
    order = tvms_relax_layout_initial(tvms_relax_layout_query_ndim(q, 0));
  tvms_relax_layout_query_set_int(
      q, "axis",
      tvms_relax_layout_axis(&order, tvms_relax_layout_query_int(q, "axis", 0)));
  tvms_relax_layout_query_set_both(q, &order);
  tvms_relax_layout_query_set_input(q, 2, &order);
  return true;
}

bool tvms_relax_layout_axes_scatter_nd(tvms_relax_layout_query *q) {
  tvms_layout order;
  if (!tvms_relax_layout_query_order(q, 0, &order)) return false;
  bool alike = tvms_relax_layout_query_ndim(q, 0) == tvms_relax_layout_query_ndim(q, 2)
               && !tvms_relax_layout_has_blocks(&order);
  if (!alike) order = tvms_relax_layout_initial(tvms_relax_layout_query_ndim(q, 0));
  tvms_layout updates =
      alike ? order : tvms_relax_layout_initial(tvms_relax_layout_query_ndim(q, 2));
  tvms_relax_layout_query_answer(q, &order, &order);
  q->inputs[1] = q->orders[1];
  tvms_relax_layout_query_set_input(q, 2, &updates);
  return true;
}
