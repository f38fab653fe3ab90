// Leaves of values: tensors, numbers and shapes, without the tuples that hold them. And
// where they shall be made: a tensor that is a result is written there at once, if the
// allocation behind it can be seen; otherwise it is copied at the end.
#include "passes/relax/host/leaves.h"

#include "ir/build.h"
#include "ir/op.h"
#include "passes/relax/host/choices.h"
#include "passes/relax/host/objects.h"
#include "passes/relax/host/values.h"
#include "structinfo/sinfo.h"

uint32_t tvms_host_leaves(const tvms_node *type) {
  if (type->kind != TVMS_NODE_SINFO_TUPLE) return 1;
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  uint32_t count = 0;
  for (uint32_t i = 0; i < fields.len; i++)
    count += tvms_host_leaves(fields.items[i]);
  return count;
}

static uint32_t value_leaves(const tvms_host_value *value) {
  if (value->kind != TVMS_HOST_TUPLE) return 1;
  uint32_t count = 0;
  for (uint32_t i = 0; i < value->count; i++)
    count += value_leaves(value->fields[i]);
  return count;
}

tvms_host_value *tvms_host_leaf(tvms_host_value *value, uint32_t at) {
  if (value->kind != TVMS_HOST_TUPLE) return at ? NULL : value;
  for (uint32_t i = 0; i < value->count; i++) {
    uint32_t count = value_leaves(value->fields[i]);
    if (at < count) return tvms_host_leaf(value->fields[i], at);
    at -= count;
  }
  return NULL;
}

const tvms_node *tvms_host_leaf_type(const tvms_node *type, uint32_t at) {
  while (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    uint32_t i = 0, count;
    for (; at >= (count = tvms_host_leaves(fields.items[i])); i++)
      at -= count;
    type = fields.items[i];
  }
  return type;
}

tvms_host_value *tvms_host_of_leaves(tvms_host *h, const tvms_node *type,
                                     tvms_host_value *const *leaves, uint32_t *next) {
  if (type->kind != TVMS_NODE_SINFO_TUPLE) return leaves[(*next)++];
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  tvms_host_value *tuple = tvms_host_value_of(h, TVMS_HOST_TUPLE, fields.len);
  for (uint32_t i = 0; i < fields.len; i++)
    tuple->fields[i] = tvms_host_of_leaves(h, fields.items[i], leaves, next);
  return tuple;
}

// ---- Where leaves are made ----

static bool keeps_memory(tvms_opcode opcode) {
  return opcode == TVMS_R_reshape || opcode == TVMS_R_memory_ensure_zero_offset;
}

// What makes leaf `*at` of an expression: an allocation, a branch or a call, of which it is
// the leaf `*at` then. NULL: not to be seen.
static const tvms_node *TVMS_NULLABLE maker_of(const tvms_host *h,
                                               const tvms_node *expr, uint32_t *at) {
  while (expr) {
    switch ((int)expr->kind) {
    case TVMS_NODE_VAR:
      expr = tvms_relax_definitions_value(&h->definitions, expr);
      break;
    case TVMS_NODE_TUPLE: {
      tvms_list fields = tvms_as_tuple(expr)->fields;
      uint32_t i = 0;
      for (; i < fields.len; i++) {
        uint32_t count =
            fields.items[i]->sinfo ? tvms_host_leaves(fields.items[i]->sinfo) : 1;
        if (*at < count) break;
        *at -= count;
      }
      expr = i < fields.len ? fields.items[i] : NULL;
      break;
    }
    case TVMS_NODE_TUPLE_GET_ITEM: {
      const tvms_tuple_get_item *item = tvms_as_tuple_get_item(expr);
      const tvms_node *type = item->tuple->sinfo;
      if (!type || type->kind != TVMS_NODE_SINFO_TUPLE) return NULL;
      for (int64_t i = 0; i < item->index; i++)
        *at += tvms_host_leaves(tvms_as_sinfo_tuple(type)->fields.items[i]);
      expr = item->tuple;
      break;
    }
    case TVMS_NODE_CALL:
      if (!keeps_memory(tvms_op_called(expr))) return expr;
      expr = tvms_as_call(expr)->args.items[0];
      break;
    case TVMS_NODE_IF: return expr;
    default: return NULL;
    }
  }
  return NULL;
}

void tvms_host_send(tvms_host *h, const tvms_node *expr, uint32_t at, tvms_node *data) {
  const tvms_node *maker = maker_of(h, expr, &at);
  if (!maker || tvms_host_sent(h, maker, at)) return;
  tvms_host_destination sent = {maker, at, data};
  tvms_vec_push(tvms_host_memory(h), &h->destinations, sent);
}

tvms_node *tvms_host_sent(const tvms_host *h, const tvms_node *node, uint32_t leaf) {
  for (uint32_t i = 0; i < h->destinations.len; i++) {
    const tvms_host_destination *sent = &h->destinations.items[i];
    if (sent->node == node && sent->leaf == leaf) return sent->data;
  }
  return NULL;
}

static void store(tvms_host *h, tvms_node *buffer, tvms_node *value, tvms_node *index) {
  tvms_store *made = tvms_node_make(h->unit, STORE, TVMS_NO_SPAN);
  made->buffer = buffer;
  made->value = value;
  made->indices = tvms_list_copy(h->unit, &index, index ? 1 : 0);
  tvms_host_push(h, &made->head);
}

// Copies all elements, as they lie.
static void copy(tvms_host *h, const tvms_host_value *from, tvms_node *to) {
  tvms_node *count = tvms_host_product(h, from->dims);
  tvms_list dims = tvms_list_copy(h->unit, &count, 1);
  tvms_node *source = tvms_host_declare(h, "source", from->dtype, dims, from->data);
  tvms_node *target = tvms_host_declare(h, "target", from->dtype, dims, to);
  tvms_for *loop = tvms_node_make(h->unit, FOR, TVMS_NO_SPAN);
  tvms_sym name = tvms_symbol_intern(h->run->context, "i", 1);
  loop->var = tvms_var_new(h->unit, name, TVMS_DTYPE(INT, 64), TVMS_NO_SPAN);
  loop->min = tvms_host_int(h, 0);
  loop->extent = count;
  tvms_node_vec around = h->stmts;
  h->stmts = (tvms_node_vec){0};
  store(h, target,
        tvms_buffer_load_new(h->unit, source, &loop->var, 1, NULL, TVMS_NO_SPAN),
        loop->var);
  loop->body = h->stmts.items[0];
  tvms_vec_fini(tvms_host_memory(h), &h->stmts);
  h->stmts = around;
  tvms_host_push(h, &loop->head);
}

void tvms_host_deliver(tvms_host *h, tvms_host_value *leaf, tvms_host_value *to) {
  if (to->kind == TVMS_HOST_OBJECT) {
    tvms_host_box_into(h, leaf, to);
    return;
  }
  if (leaf->kind == TVMS_HOST_TENSOR) {
    if (leaf->data != to->data) copy(h, leaf, to->data);
    return;
  }
  tvms_node *buffer = tvms_host_buffer_of(h, to);
  if (leaf->kind == TVMS_HOST_NUMBER) {
    tvms_node *number = leaf->number;
    if (!tvms_dtype_same(number->dtype, to->dtype))
      number = tvms_cast_new(h->unit, to->dtype, number, TVMS_NO_SPAN);
    store(h, buffer, number, NULL);
    return;
  }
  for (uint32_t i = 0; i < leaf->dims.len; i++)
    store(h, buffer, leaf->dims.items[i], tvms_host_int(h, i));
}

tvms_node *tvms_host_load(tvms_host *h, tvms_node *buffer, tvms_node *index) {
  tvms_node *load =
      tvms_buffer_load_new(h->unit, buffer, &index, index ? 1 : 0, NULL, TVMS_NO_SPAN);
  tvms_sym name = tvms_symbol_intern(h->run->context, "chosen", 6);
  tvms_bind *bind = tvms_node_make(h->unit, BIND, TVMS_NO_SPAN);
  bind->value = load;
  bind->var = tvms_var_new(h->unit, name, load->dtype, TVMS_NO_SPAN);
  tvms_host_push(h, &bind->head);
  return bind->var;
}

tvms_host_value *tvms_host_read(tvms_host *h, const tvms_node *type,
                                tvms_host_value *memory) {
  if (memory->kind == TVMS_HOST_CHOICE) {
    tvms_host_settle(h, memory);
    return memory;
  }
  if (memory->kind == TVMS_HOST_OBJECT)
    return tvms_host_unboxed(h, type, memory, "", TVMS_NO_SPAN);
  if (type->kind == TVMS_NODE_SINFO_PRIM)
    return tvms_host_number(h, tvms_host_load(h, tvms_host_buffer_of(h, memory), NULL));
  if (type->kind == TVMS_NODE_SINFO_SHAPE) {
    tvms_host_value *shape = tvms_host_value_new(h, TVMS_HOST_SHAPE);
    int64_t ndim = tvms_as_sinfo_shape(type)->ndim;
    tvms_node_vec sizes = {0};
    for (int64_t i = 0; i < ndim; i++)
      tvms_vec_push(
          tvms_host_memory(h), &sizes,
          tvms_host_load(h, tvms_host_buffer_of(h, memory), tvms_host_int(h, i)));
    shape->dims = tvms_list_copy(h->unit, sizes.items, sizes.len);
    tvms_vec_fini(tvms_host_memory(h), &sizes);
    return shape;
  }
  return memory;
}
