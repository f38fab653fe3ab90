// Values of a family of floats in a wider dtype: each operand is converted where an operator takes it.
#include "passes/tir/host/compute_values.h"

#include "ir/fold_ops.h"

static bool is_family(const tvms_host_values *l, tvms_dtype dtype) {
  return tvms_host_float_is(l->family, dtype);
}

static tvms_dtype promoted(const tvms_host_values *l, tvms_dtype dtype) {
  return tvms_dtype_with_lanes(l->promoted, dtype.lanes);
}

static tvms_node *promote(const tvms_host_values *l, tvms_node *value) {
  if (!is_family(l, value->dtype)) return value;
  tvms_dtype dtype = promoted(l, value->dtype);
  if (value->kind == TVMS_NODE_FLOAT_IMM)
    return tvms_float_imm_new(l->unit, dtype, tvms_as_float_imm(value)->value,
                              value->span);
  if (!l->casts && value->kind == TVMS_NODE_CAST
      && tvms_dtype_same(tvms_as_cast(value)->value->dtype, dtype))
    return tvms_as_cast(value)->value;
  return l->casts ? tvms_build_cast(l->unit, dtype, value, value->span)
                  : tvms_host_float_convert(l->unit, value, dtype);
}

// Are values only compared and chosen, none of them of the wider dtype by now? That rounds nothing.
static bool stays(const tvms_host_values *l, tvms_node_kind kind, const tvms_node *a,
                  const tvms_node *b) {
  bool arithmetic = kind == TVMS_NODE_ADD || kind == TVMS_NODE_SUB
                    || kind == TVMS_NODE_MUL || kind == TVMS_NODE_DIV;
  return l->casts && !arithmetic && is_family(l, a->dtype) && is_family(l, b->dtype);
}

// Arithmetic and comparisons; other operators have no such operands.
static tvms_node *legalize_binary(tvms_rewriter *r, tvms_node *node) {
  const tvms_host_values *l = r->self;
  const tvms_binary *now = tvms_as_binary(node);
  if (stays(l, (tvms_node_kind)node->kind, now->a, now->b)) return node;
  tvms_node *a = promote(l, tvms_as_binary(node)->a);
  tvms_node *b = promote(l, tvms_as_binary(node)->b);
  const tvms_binary *old = tvms_as_binary(r->old);
  if (a == old->a && b == old->b) return node;
  return tvms_build_binary(r->unit, (tvms_node_kind)node->kind, a, b, node->span);
}

static tvms_node *legalize_cast(tvms_rewriter *r, tvms_node *node) {
  const tvms_host_values *l = r->self;
  tvms_node *value = promote(l, tvms_as_cast(node)->value);
  bool family = is_family(l, node->dtype);
  if (family && l->casts && tvms_dtype_is_real(value->dtype)) return node;
  if (!family && value == tvms_as_cast(r->old)->value) return node;
  tvms_dtype dtype = family ? promoted(l, node->dtype) : node->dtype;
  return tvms_build_cast(r->unit, dtype, value, node->span);
}

static tvms_node *legalize_select(tvms_rewriter *r, tvms_node *node) {
  const tvms_host_values *l = r->self;
  const tvms_select *select = tvms_as_select(node);
  if (stays(l, TVMS_NODE_SELECT, select->true_value, select->false_value)) return node;
  tvms_node *a = promote(l, select->true_value), *b = promote(l, select->false_value);
  if (a == select->true_value && b == select->false_value
      && tvms_dtype_same(a->dtype, node->dtype))
    return node;
  return tvms_select_new(r->unit, select->condition, a, b, node->span);
}

static tvms_node *legalize_broadcast(tvms_rewriter *r, tvms_node *node) {
  const tvms_host_values *l = r->self;
  tvms_node *value = promote(l, tvms_as_broadcast(node)->value);
  if (value == tvms_as_broadcast(r->old)->value) return node;
  tvms_node *new = tvms_node_copy(r->unit, node);
  tvms_as_broadcast(new)->value = value;
  new->dtype = tvms_dtype_with_lanes(value->dtype, node->dtype.lanes);
  return new;
}

static tvms_list promote_all(const tvms_host_values *l, tvms_list old) {
  tvms_list new = tvms_list_copy(l->unit, old.items, old.len);
  for (uint32_t i = 0; i < new.len; i++) {
    if (tvms_node_class_of(new.items[i]) == TVMS_CLASS_EXPR)
      new.items[i] = promote(l, new.items[i]);
  }
  return new;
}

static tvms_node *legalize_shuffle(tvms_rewriter *r, tvms_node *node) {
  const tvms_host_values *l = r->self;
  tvms_node *new = tvms_node_copy(r->unit, node);
  tvms_shuffle *shuffle = tvms_as_shuffle(new);
  shuffle->vectors = promote_all(l, shuffle->vectors);
  tvms_dtype dtype = shuffle->vectors.items[0]->dtype;
  if (node == r->old
      && tvms_dtype_same(tvms_dtype_with_lanes(dtype, node->dtype.lanes), node->dtype))
    return node;
  new->dtype = tvms_dtype_with_lanes(dtype, node->dtype.lanes);
  return new;
}

// A call computes in the wider dtype, unless it only looks at bits or addresses.
static tvms_node *legalize_call(tvms_rewriter *r, tvms_node *node) {
  const tvms_host_values *l = r->self;
  bool scalar = !tvms_dtype_is_handle(node->dtype) && !node->sinfo;
  tvms_tir_opcode opcode = tvms_call_opcode(node);
  if (!scalar || opcode == TVMS_TIR_reinterpret) return node;
  tvms_list old = tvms_as_call(node)->args;
  if (opcode == TVMS_TIR_if_then_else
      && stays(l, TVMS_NODE_CALL, old.items[1], old.items[2]))
    return node;
  tvms_list args = promote_all(l, old);
  bool same = !is_family(l, node->dtype);
  for (uint32_t i = 0; i < old.len; i++)
    same &= args.items[i] == old.items[i];
  if (same) return node;
  tvms_node *new = tvms_node_copy(r->unit, node);
  tvms_as_call(new)->args = args;
  if (is_family(l, node->dtype)) new->dtype = promoted(l, node->dtype);
  return new;
}

static tvms_node *legalize_constant(tvms_rewriter *r, tvms_node *node) {
  const tvms_host_values *l = r->self;
  if (l->casts || !is_family(l, node->dtype)) return node;  // where it is an operand
  return tvms_float_imm_new(r->unit, l->promoted, tvms_as_float_imm(node)->value,
                            node->span);
}

static tvms_node *legalize_load(tvms_rewriter *r, tvms_node *node) {
  (void)r;
  const tvms_buffer_load *load = tvms_as_buffer_load(node);
  tvms_dtype dtype =
      tvms_buffer_access_dtype(load->buffer, load->indices.items, load->indices.len);
  if (node != r->old) node->dtype = dtype;
  return node;
}

void tvms_host_values_install(tvms_rewriter *r) {
  static const tvms_node_kind binaries[] = {
      TVMS_NODE_ADD, TVMS_NODE_SUB, TVMS_NODE_MUL, TVMS_NODE_DIV,
      TVMS_NODE_MIN, TVMS_NODE_MAX, TVMS_NODE_LT,  TVMS_NODE_LE,
      TVMS_NODE_GT,  TVMS_NODE_GE,  TVMS_NODE_EQ,  TVMS_NODE_NE,
  };
  for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++)
    r->leave[binaries[i]] = legalize_binary;
  r->leave[TVMS_NODE_CAST] = legalize_cast;
  r->leave[TVMS_NODE_SELECT] = legalize_select;
  r->leave[TVMS_NODE_BROADCAST] = legalize_broadcast;
  r->leave[TVMS_NODE_SHUFFLE] = legalize_shuffle;
  r->leave[TVMS_NODE_CALL] = legalize_call;
  r->leave[TVMS_NODE_FLOAT_IMM] = legalize_constant;
  r->leave[TVMS_NODE_BUFFER_LOAD] = legalize_load;
}
