// Questions about the call for which a rule of layout.def is asked, and parts of the answer.
#include "passes/relax/graph/layout_query.h"

#include "ir/object.h"
#include "structinfo/sinfo.h"

#include <string.h>

// ---- Questions and answers ----

const tvms_node *tvms_relax_layout_query_type(const tvms_relax_layout_query *q,
                                              uint32_t i) {
  return q->call->args.items[i]->sinfo;
}

int64_t tvms_relax_layout_query_ndim(const tvms_relax_layout_query *q, uint32_t i) {
  const tvms_node *type = tvms_relax_layout_query_type(q, i);
  return tvms_sinfo_is_tensor(type) ? tvms_as_sinfo_tensor(type)->ndim : -1;
}

// The order of argument `i`, which is a tensor.
bool tvms_relax_layout_query_order(const tvms_relax_layout_query *q, uint32_t i,
                                   tvms_layout *layout) {
  return i < q->call->args.len && tvms_relax_layout_of_node(q->orders[i], layout);
}

// The same, or that of the source where an axis is split.
bool tvms_relax_layout_query_plain_order(const tvms_relax_layout_query *q, uint32_t i,
                                         tvms_layout *layout) {
  if (!tvms_relax_layout_query_order(q, i, layout)) return false;
  if (tvms_relax_layout_has_blocks(layout))
    *layout = tvms_relax_layout_initial(tvms_relax_layout_query_ndim(q, i));
  return true;
}

bool tvms_relax_layout_query_answer(tvms_relax_layout_query *q,
                                    const tvms_layout *input,
                                    const tvms_layout *output) {
  q->inputs[0] = tvms_relax_layout_node(q->unit, input);
  q->input_count = 1;
  q->output = tvms_relax_layout_node(q->unit, output);
  return true;
}

void tvms_relax_layout_query_set_input(tvms_relax_layout_query *q, uint32_t i,
                                       const tvms_layout *layout) {
  q->inputs[i] = tvms_relax_layout_node(q->unit, layout);
  q->input_count = i + 1;
}

void tvms_relax_layout_query_set_initial(tvms_relax_layout_query *q, uint32_t i) {
  q->inputs[i] = tvms_relax_layout_of_type(q->unit, tvms_relax_layout_query_type(q, i));
  q->input_count = i + 1;
}

// ---- Attributes by name ----

static int place_of(const tvms_relax_layout_query *q, const char *name) {
  return tvms_attr_find(tvms_op_schema(q->opcode), name, strlen(name));
}

tvms_node *TVMS_NULLABLE tvms_relax_layout_query_attr(const tvms_relax_layout_query *q,
                                                      const char *name) {
  int place = place_of(q, name);
  return place < 0 ? NULL : tvms_attr(q->call, (uint32_t)place);
}

void tvms_relax_layout_query_set_attr(tvms_relax_layout_query *q, const char *name,
                                      tvms_node *value) {
  int place = place_of(q, name);
  if (place >= 0 && (uint32_t)place < q->attrs.len) q->attrs.items[place] = value;
}

void tvms_relax_layout_query_set_int(tvms_relax_layout_query *q, const char *name,
                                     int64_t value) {
  tvms_relax_layout_query_set_attr(q, name,
                                   tvms_object_int_new(q->unit, value, TVMS_NO_SPAN));
}

void tvms_relax_layout_query_set_text(tvms_relax_layout_query *q, const char *name,
                                      const char *text) {
  tvms_relax_layout_query_set_attr(
      q, name, tvms_object_str_new(q->unit, text, strlen(text), TVMS_NO_SPAN));
}

void tvms_relax_layout_query_set_ints(tvms_relax_layout_query *q, const char *name,
                                      const int64_t *values, uint32_t count) {
  tvms_node *items[TVMS_LAYOUT_SIZE];
  for (uint32_t i = 0; i < count; i++)
    items[i] = tvms_object_int_new(q->unit, values[i], TVMS_NO_SPAN);
  tvms_relax_layout_query_set_attr(
      q, name, tvms_object_array_new(q->unit, items, count, TVMS_NO_SPAN));
}

int64_t tvms_relax_layout_query_int(const tvms_relax_layout_query *q, const char *name,
                                    int64_t otherwise) {
  int place = place_of(q, name);
  return place < 0 ? otherwise : tvms_attr_int(q->call, (uint32_t)place, otherwise);
}

tvms_list tvms_relax_layout_query_list(const tvms_relax_layout_query *q,
                                       const char *name) {
  int place = place_of(q, name);
  return place < 0 ? (tvms_list){0} : tvms_attr_list(q->call, (uint32_t)place);
}

bool tvms_relax_layout_query_layout(const tvms_relax_layout_query *q, const char *name,
                                    tvms_layout *layout) {
  int place = place_of(q, name);
  if (place < 0) return false;
  tvms_bytes text = tvms_attr_text(q->call, (uint32_t)place);
  return text.text && tvms_relax_layout_parse(text.text, text.len, layout);
}

// The layout in attribute `name` with its axes in the new order.
bool tvms_relax_layout_query_move_attr(tvms_relax_layout_query *q, const char *name,
                                       const tvms_layout *order) {
  tvms_layout old, moved;
  tvms_layout initial = tvms_relax_layout_initial(tvms_relax_layout_ndim(order));
  if (!tvms_relax_layout_query_layout(q, name, &old)) return false;
  if (!tvms_relax_layout_move(&old, &initial, order, &moved)) return false;
  tvms_relax_layout_query_set_text(q, name, moved.text);
  return true;
}

bool tvms_relax_layout_query_set_both(tvms_relax_layout_query *q,
                                      const tvms_layout *order) {
  tvms_relax_layout_query_answer(q, order, order);
  tvms_relax_layout_query_set_input(q, 1, order);
  return true;
}
