// What an operator makes of the orders of its arguments: the rows of layout.def.
//
// A rule gets the orders that the arguments have now and says which they shall have. Most
// follow the first argument and move the axes in their attributes; where blocks are in the
// way, they ask for the order of the source. TVM: FRelaxInferLayout of the operators.
#include "passes/relax/graph/layout_rules.h"

#include "ir/object.h"
#include "passes/relax/graph/layout_axes.h"
#include "passes/relax/graph/layout_reshape.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <ctype.h>
#include <string.h>

// ---- Element by element ----

static bool layout_follow(tvms_relax_layout_query *q) {
  tvms_layout order;
  return tvms_relax_layout_query_order(q, 0, &order)
         && tvms_relax_layout_query_answer(q, &order, &order);
}

static bool layout_initial(tvms_relax_layout_query *q) {
  tvms_layout order = tvms_relax_layout_initial(tvms_relax_layout_query_ndim(q, 0));
  return tvms_relax_layout_query_answer(q, &order, &order);
}

// Blocks of one side, if the other can be split like it.
static bool blocked_binary(tvms_relax_layout_query *q, const tvms_layout *a,
                           const tvms_layout *b) {
  if (!tvms_relax_layout_has_blocks(a) && !tvms_relax_layout_has_blocks(b))
    return false;
  uint32_t capitals[2] = {0, 0};
  for (const char *at = a->text; *at; at++)
    capitals[0] += isupper((unsigned char)*at) != 0;
  for (const char *at = b->text; *at; at++)
    capitals[1] += isupper((unsigned char)*at) != 0;
  if (capitals[0] != capitals[1]) return false;
  tvms_list shapes[2] = {{0}, {0}};
  bool known[2];
  for (uint32_t i = 0; i < 2; i++)
    known[i] = tvms_sinfo_tensor_dims(tvms_relax_layout_query_type(q, i), &shapes[i]);
  bool left = tvms_relax_layout_ndim(a) >= tvms_relax_layout_ndim(b) && known[1];
  if (!left && !known[0]) return false;
  const tvms_layout *order = left ? a : b;
  tvms_list shape = shapes[left ? 1 : 0];
  tvms_layout initial = tvms_relax_layout_initial(shape.len);
  return tvms_relax_layout_divides(&initial, order, shape)
         && tvms_relax_layout_query_set_both(q, order);
}

static bool is_initial(const tvms_layout *order) {
  tvms_layout initial = tvms_relax_layout_initial(tvms_relax_layout_ndim(order));
  return tvms_relax_layout_same(order, &initial);
}

// The side that is in the order of the source, if it has no more axes than the other one, is moved:
// TVM moves the side with more axes, or the second one.
static bool moved_binary(tvms_relax_layout_query *q, tvms_layout order[2]) {
  int64_t ndim[2] = {tvms_relax_layout_query_ndim(q, 0),
                     tvms_relax_layout_query_ndim(q, 1)};
  uint32_t still = ndim[0] <= ndim[1] && is_initial(&order[0]) ? 0 : 1;
  if (!q->beyond_tvm || ndim[still] < 1 || ndim[still] > ndim[1 - still]
      || !is_initial(&order[still]) || is_initial(&order[1 - still])
      || !tvms_relax_layout_narrow(&order[1 - still], ndim[still], &order[still]))
    return false;
  tvms_relax_layout_query_answer(q, &order[0], &order[1 - still]);
  tvms_relax_layout_query_set_input(q, 1, &order[1]);
  return true;
}

static bool layout_binary(tvms_relax_layout_query *q) {
  tvms_layout order[2], out;
  if (!tvms_relax_layout_query_order(q, 0, &order[0])
      || !tvms_relax_layout_query_order(q, 1, &order[1]))
    return false;
  if (blocked_binary(q, &order[0], &order[1]) || moved_binary(q, order)) return true;
  uint32_t small =
      tvms_relax_layout_query_ndim(q, 0) <= tvms_relax_layout_query_ndim(q, 1) ? 0 : 1;
  if (tvms_relax_layout_query_ndim(q, small) == 0) {
    out = order[1 - small];
    order[small] = (tvms_layout){{0}};
  } else if (!tvms_relax_layout_widen(
                 &order[small], tvms_relax_layout_query_ndim(q, 1 - small), &out)) {
    return false;
  }
  order[1 - small] = out;
  tvms_relax_layout_query_answer(q, &order[0], &out);
  tvms_relax_layout_query_set_input(q, 1, &order[1]);
  return true;
}

static bool layout_ewise_fma(tvms_relax_layout_query *q) {
  tvms_layout order, second, third;
  if (!tvms_relax_layout_query_order(q, 0, &order)
      || !tvms_relax_layout_query_order(q, 1, &second)
      || !tvms_relax_layout_query_order(q, 2, &third))
    return false;
  if (tvms_relax_layout_same(&second, &third)) order = second;
  tvms_relax_layout_query_set_both(q, &order);
  tvms_relax_layout_query_set_input(q, 2, &order);
  return true;
}

// ---- Tuples ----

// The orders of a tuple's tensors, one after the other.
static bool orders_of_tuple(const tvms_relax_layout_query *q, tvms_list *orders) {
  if (q->orders[0]->kind != TVMS_NODE_OBJECT_ARRAY) return false;
  *orders = tvms_as_object_array(q->orders[0])->items;
  for (uint32_t i = 0; i < orders->len; i++)
    if (orders->items[i]->kind != TVMS_NODE_OBJECT_STR) return false;
  return orders->len > 0;
}

// `count` times the same order.
static tvms_node *repeated(tvms_relax_layout_query *q, const tvms_layout *order,
                           uint32_t count) {
  tvms_node **items = tvms_arena_array(&q->unit->arena, tvms_node *, count);
  for (uint32_t i = 0; i < count; i++)
    items[i] = tvms_relax_layout_node(q->unit, order);
  return tvms_object_array_new(q->unit, items, count, TVMS_NO_SPAN);
}

// Can every tensor of the tuple be split as `order` is?
static bool all_divide(const tvms_relax_layout_query *q, tvms_list orders,
                       const tvms_layout *order) {
  const tvms_node *type = tvms_relax_layout_query_type(q, 0);
  for (uint32_t i = 0; i < orders.len; i++) {
    tvms_layout current;
    tvms_list shape;
    tvms_relax_layout_of_node(orders.items[i], &current);
    if (!tvms_sinfo_tensor_dims(tvms_as_sinfo_tuple(type)->fields.items[i], &shape))
      return false;
    if (!tvms_relax_layout_divides(&current, order, shape)) return false;
  }
  return true;
}

static bool layout_concat(tvms_relax_layout_query *q) {
  tvms_list orders;
  tvms_layout order, other;
  if (!orders_of_tuple(q, &orders)) return false;
  tvms_relax_layout_of_node(orders.items[0], &order);
  bool found = false;
  for (uint32_t i = 0; i < orders.len && !found; i++) {
    tvms_relax_layout_of_node(orders.items[i], &other);
    found = tvms_relax_layout_has_blocks(&other);
  }
  if (found) {
    order = other;
    bool fits = all_divide(q, orders, &order);
    for (uint32_t i = 0; i < orders.len && !fits; i++) {
      tvms_relax_layout_of_node(orders.items[i], &other);
      fits = !tvms_relax_layout_has_blocks(&other);
      if (fits) order = other;
    }
  }
  tvms_relax_layout_query_set_int(
      q, "axis",
      tvms_relax_layout_axis(&order, tvms_relax_layout_query_int(q, "axis", 0)));
  tvms_relax_layout_query_answer(q, &order, &order);
  q->inputs[0] = repeated(q, &order, orders.len);
  return true;
}

static bool layout_stack(tvms_relax_layout_query *q) {
  tvms_list orders;
  tvms_layout order, output = {{0}};
  if (!orders_of_tuple(q, &orders)) return false;
  tvms_relax_layout_of_node(orders.items[0], &order);
  int64_t axis = tvms_relax_layout_query_int(q, "axis", 0);
  size_t len = strlen(order.text);
  if (axis < 0 || (size_t)axis > len || len + 1 >= TVMS_LAYOUT_SIZE) return false;
  memcpy(output.text, order.text, (size_t)axis);
  output.text[axis] = 'S';
  memcpy(output.text + axis + 1, order.text + axis, len - (size_t)axis);
  tvms_relax_layout_query_set_int(q, "axis", tvms_relax_layout_axis(&order, axis));
  tvms_relax_layout_query_answer(q, &order, &output);
  q->inputs[0] = repeated(q, &order, orders.len);
  return true;
}

// All parts of the result have the order of the argument. (TVM's rule gives a single order for the tuple, and its
// pass fails where a part is taken.)
static bool layout_follow_parts(tvms_relax_layout_query *q) {
  tvms_layout order;
  const tvms_node *result = q->call->head.sinfo;
  if (!tvms_relax_layout_query_order(q, 0, &order)
      || result->kind != TVMS_NODE_SINFO_TUPLE)
    return false;
  tvms_relax_layout_query_answer(q, &order, &order);
  q->output = repeated(q, &order, tvms_as_sinfo_tuple(result)->fields.len);
  return true;
}

static bool layout_split(tvms_relax_layout_query *q) {
  tvms_layout order;
  const tvms_node *result = q->call->head.sinfo;
  if (!tvms_relax_layout_query_order(q, 0, &order)
      || result->kind != TVMS_NODE_SINFO_TUPLE)
    return false;
  tvms_list parts = tvms_as_sinfo_tuple(result)->fields;
  tvms_layout initial = tvms_relax_layout_initial(tvms_relax_layout_query_ndim(q, 0));
  for (uint32_t i = 0; i < parts.len && tvms_relax_layout_has_blocks(&order); i++) {
    tvms_list shape;
    if (!tvms_sinfo_tensor_dims(parts.items[i], &shape)) return false;
    if (!tvms_relax_layout_divides(&initial, &order, shape)) order = initial;
  }
  tvms_relax_layout_query_set_int(
      q, "axis",
      tvms_relax_layout_axis(&order, tvms_relax_layout_query_int(q, "axis", 0)));
  tvms_relax_layout_query_answer(q, &order, &order);
  q->output = repeated(q, &order, parts.len);
  return true;
}

// ---- Windows ----

// Layout `i` of those that are asked for; the third is that of the result, like the first.
static bool desired_layout(const tvms_relax_layout_query *q, uint32_t i,
                           tvms_layout *layout) {
  const tvms_literal *list = q->desired;
  if (i == 2 && list->len != 3) i = 0;
  if (list->kind != TVMS_LITERAL_LIST || i >= list->len || !list->items[i].text)
    return false;
  return tvms_relax_layout_parse(list->items[i].text, strlen(list->items[i].text),
                                 layout);
}

static const char *const conv_layouts[] = {"data_layout", "kernel_layout",
                                           "out_layout"};

// The orders for the layouts asked for: axes moved, or split where all lengths divide.
static bool desired_conv(tvms_relax_layout_query *q, tvms_layout orders[3],
                         bool *fits) {
  tvms_layout old[3], wanted[3];
  tvms_layout initial = tvms_relax_layout_initial(tvms_relax_layout_query_ndim(q, 0));
  bool moves = true;
  for (uint32_t i = 0; i < 3; i++) {
    if (!tvms_relax_layout_query_layout(q, conv_layouts[i], &old[i])) return false;
    if (!desired_layout(q, i, &wanted[i])) return false;
    moves &= tvms_relax_layout_ndim(&old[i]) == tvms_relax_layout_ndim(&wanted[i]);
  }
  *fits = true;
  for (uint32_t i = 0; i < 2 && !moves; i++) {
    tvms_list shape;
    if (q->opcode != TVMS_R_nn_conv2d) return false;
    if (!tvms_sinfo_tensor_dims(tvms_relax_layout_query_type(q, i), &shape))
      return false;
    *fits &= tvms_relax_layout_divides(&old[i], &wanted[i], shape);
  }
  for (uint32_t i = 0; i < 3 && *fits; i++) {
    bool fine = moves
                    ? tvms_relax_layout_move(&initial, &old[i], &wanted[i], &orders[i])
                    : tvms_relax_layout_translate(initial.text, &old[i], &wanted[i],
                                                  orders[i].text);
    if (!fine) return false;
    tvms_relax_layout_query_set_text(q, conv_layouts[i], wanted[i].text);
  }
  return true;
}

static bool layout_conv(tvms_relax_layout_query *q) {
  tvms_layout orders[3];
  bool fits = false;
  if (!tvms_relax_layout_query_order(q, 0, &orders[0])
      || !tvms_relax_layout_query_order(q, 1, &orders[1]))
    return false;
  if (q->desired && !desired_conv(q, orders, &fits)) return false;
  if (q->desired && !fits)
    orders[0] = orders[1] =
        tvms_relax_layout_initial(tvms_relax_layout_query_ndim(q, 0));
  if (!fits) {
    orders[2] = orders[0];
    for (uint32_t i = 0; i < 3; i++)
      if (!tvms_relax_layout_query_move_attr(q, conv_layouts[i], &orders[i]))
        return false;
  }
  tvms_relax_layout_query_answer(q, &orders[0], &orders[2]);
  tvms_relax_layout_query_set_input(q, 1, &orders[1]);
  return true;
}

// Pooling of two dimensions goes along with blocks that divide.
static bool layout_pool(tvms_relax_layout_query *q) {
  tvms_layout order, layout, wanted = {{0}};
  tvms_list shape;
  if (!tvms_relax_layout_query_order(q, 0, &order)
      || !tvms_relax_layout_query_layout(q, "layout", &layout))
    return false;
  bool flat = q->opcode == TVMS_R_nn_max_pool2d || q->opcode == TVMS_R_nn_avg_pool2d
              || q->opcode == TVMS_R_nn_adaptive_avg_pool2d;
  if (tvms_relax_layout_has_blocks(&order) && flat) {
    tvms_layout initial = tvms_relax_layout_initial(tvms_relax_layout_query_ndim(q, 0));
    if (!tvms_relax_layout_translate(layout.text, &initial, &order, wanted.text))
      return false;
    if (tvms_sinfo_tensor_dims(tvms_relax_layout_query_type(q, 0), &shape)
        && tvms_relax_layout_divides(&layout, &wanted, shape)) {
      tvms_relax_layout_query_set_text(q, "layout", wanted.text);
      tvms_relax_layout_query_set_text(q, "out_layout", wanted.text);
      return tvms_relax_layout_query_answer(q, &order, &order);
    }
    order = initial;
  }
  if (!tvms_relax_layout_query_move_attr(q, "layout", &order)
      || !tvms_relax_layout_query_move_attr(q, "out_layout", &order))
    return false;
  return tvms_relax_layout_query_answer(q, &order, &order);
}

static bool layout_resize(tvms_relax_layout_query *q) {
  tvms_layout order, layout, wanted;
  tvms_layout initial = tvms_relax_layout_initial(tvms_relax_layout_query_ndim(q, 0));
  if (!tvms_relax_layout_query_layout(q, "layout", &layout)) return false;
  if (q->desired) {
    if (!desired_layout(q, 0, &wanted) || tvms_relax_layout_has_blocks(&wanted))
      return false;
    if (!tvms_relax_layout_move(&initial, &layout, &wanted, &order)) return false;
    tvms_relax_layout_query_set_text(q, "layout", wanted.text);
  } else if (!tvms_relax_layout_query_plain_order(q, 0, &order)
             || !tvms_relax_layout_query_move_attr(q, "layout", &order)) {
    return false;
  }
  tvms_relax_layout_query_answer(q, &order, &order);
  if (q->call->args.len > 1) tvms_relax_layout_query_set_initial(q, 1);
  return true;
}

// ---- The table ----

static tvms_relax_layout_rule *const rules[TVMS_OP_COUNT + 1] = {
#define LAYOUT(operator, rule) [TVMS_R_##operator] = rule,
#include "passes/relax/graph/layout.def"
};

typedef enum { OF_BOTH, OF_BEYOND, OF_TVM } row_owner;

static const uint8_t owners[TVMS_OP_COUNT + 1] = {
#define LAYOUT(operator, rule) [TVMS_R_##operator] = OF_BOTH,
#define LAYOUT_BEYOND(operator, rule) [TVMS_R_##operator] = OF_BEYOND,
#define LAYOUT_TVM(operator, rule) [TVMS_R_##operator] = OF_TVM,
#include "passes/relax/graph/layout.def"
};

bool tvms_relax_layout_has_rule(tvms_opcode opcode, bool beyond_tvm) {
  return rules[opcode] != NULL && owners[opcode] != (beyond_tvm ? OF_TVM : OF_BEYOND);
}

// Only operators with layouts among their attributes can be asked for one.
static bool takes_desired(tvms_opcode opcode) {
  return rules[opcode] == layout_conv || rules[opcode] == layout_resize;
}

bool tvms_relax_layout_ask(tvms_relax_layout_query *query) {
  if (query->desired && !takes_desired(query->opcode)) return false;
  tvms_list old = query->call->attrs;
  query->attrs = tvms_list_copy(query->unit, old.items, old.len);
  return rules[query->opcode](query);
}
