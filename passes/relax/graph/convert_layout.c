// ConvertLayout: operators compute in the layouts that are asked for.
//
// Before: lv = R.nn.conv2d(x, w, data_layout="NCHW", …); gv = R.nn.relu(lv)
// After, with {'relax.nn.conv2d': ['NHWC', 'OHWI']}:
//         lv = R.permute_dims(x, axes=[0, 2, 3, 1]); lv1 = R.permute_dims(w, axes=[0, 2, 3, 1])
//         lv2 = R.nn.conv2d(lv, lv1, data_layout="NHWC", …); lv3 = R.nn.relu(lv2)
//         gv = R.permute_dims(lv3, axes=[0, 3, 1, 2])
//
// Inside dataflow blocks a value keeps the order of axes that its operator gave it, and
// those behind go along where layout.def has a rule for them. What leaves the block has the
// order of the source, and so has the argument of an operator without a rule. Layouts with
// blocks (NCHW4c) are reached by R.layout_transform. Values are not moved twice to save a
// conversion: the pass goes through a block once, forwards. With beyond_tvm=true values keep their
// order through operators for which TVM has no rule, too: clip, leakyrelu, softplus, log_softmax, pad. Where TVM fails,
// or makes operators that have no PrimFunc (transposed convolutions), the order is that of the source. With
// constant_weights=true operators whose weight is not a constant keep their layouts: moving it would be work of
// each run. With worth=true a function stays as it is if moving its values takes longer than its operators gain.
// TVM: relax.transform.ConvertLayout.
#include "ir/object.h"
#include "passes/relax/graph/layout_cost.h"
#include "passes/relax/graph/layout_rules.h"
#include "passes/relax/mutator.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_relax_mutator m;
  tvms_node_map orders;  // VAR of the source → order of its value
  const tvms_literal *desired;
  bool beyond_tvm;
  bool constant_weights;
  tvms_relax_layout_cost cost;
} converter;

static converter *converter_of(const tvms_rewriter *r) {
  const tvms_relax_mutator *m = r->self;
  return m->self;
}

// The order in which the value of an expression of the source is now.
static tvms_node *order_of(converter *c, const tvms_node *expr) {
  tvms_unit *unit = c->m.unit;
  if (expr->kind == TVMS_NODE_TUPLE) {
    tvms_list fields = tvms_as_tuple(expr)->fields;
    tvms_list items = tvms_list_copy(unit, fields.items, fields.len);
    for (uint32_t i = 0; i < fields.len; i++)
      items.items[i] = order_of(c, fields.items[i]);
    return tvms_object_array_new(unit, items.items, items.len, TVMS_NO_SPAN);
  }
  tvms_node *known = NULL;
  if (expr->kind == TVMS_NODE_VAR) known = tvms_node_map_get(&c->orders, expr);
  bool typed = expr->kind == TVMS_NODE_VAR || expr->kind == TVMS_NODE_CONSTANT;
  return known ? known : tvms_relax_layout_of_type(unit, typed ? expr->sinfo : NULL);
}

static tvms_node *initial_order(converter *c, const tvms_node *expr) {
  return tvms_relax_layout_of_type(c->m.unit, expr->sinfo);
}

// ---- Conversions ----

static bool refuse(converter *c, const tvms_node *where, const char *what) {
  tvms_diag_report(&c->m.unit->context->diags, TVMS_D_layout_unfit, where->span, what);
  return false;
}

static tvms_node *permuted(converter *c, tvms_node *value, const tvms_layout *from,
                           const tvms_layout *to) {
  tvms_unit *unit = c->m.unit;
  tvms_node *axes[TVMS_LAYOUT_SIZE];
  uint32_t ndim = tvms_relax_layout_ndim(to);
  for (uint32_t i = 0; i < ndim; i++) {
    int place = tvms_relax_layout_find(from, tvms_relax_layout_letter(to, i));
    if (place < 0) return NULL;
    axes[i] = tvms_object_int_new(unit, place, TVMS_NO_SPAN);
  }
  tvms_node *attr = tvms_object_array_new(unit, axes, ndim, TVMS_NO_SPAN);
  return tvms_relax_op_with(&c->m, TVMS_R_permute_dims, &value, 1, &attr);
}

static tvms_node *TVMS_NULLABLE transformed(converter *c, tvms_node *value,
                                            const tvms_layout *from,
                                            const tvms_layout *to) {
  tvms_unit *unit = c->m.unit;
  tvms_node *none = tvms_object_array_new(unit, NULL, 0, TVMS_NO_SPAN);
  tvms_node *map = tvms_relax_layout_index_map(unit, from, to);
  tvms_node *attrs[TVMS_ATTR_layout_transform_COUNT] = {map, NULL, none, none};
  if (!map) return NULL;
  return tvms_relax_op_with(&c->m, TVMS_R_layout_transform, &value, 1, attrs);
}

static tvms_node *convert(converter *c, tvms_node *value, const tvms_node *from,
                          const tvms_node *to);

typedef struct {
  converter *converter;
  tvms_list from, to;
} conversion;

static tvms_node *convert_field(void *self, tvms_node *field, uint32_t index) {
  const conversion *c = self;
  return convert(c->converter, field, c->from.items[index], c->to.items[index]);
}

// `value`, a tree over new variables, brought from one order to another. Where an order is
// not known, neither may differ; a report says so.
static tvms_node *convert(converter *c, tvms_node *value, const tvms_node *from,
                          const tvms_node *to) {
  tvms_layout a, b;
  if (tvms_relax_layout_same_node(from, to)) return value;
  bool nested = from->kind == TVMS_NODE_OBJECT_ARRAY && to->kind == from->kind
                && value->sinfo && value->sinfo->kind == TVMS_NODE_SINFO_TUPLE;
  if (nested
      && tvms_as_object_array(from)->items.len == tvms_as_object_array(to)->items.len) {
    conversion each = {c, tvms_as_object_array(from)->items,
                       tvms_as_object_array(to)->items};
    return tvms_relax_change_fields(&c->m, value, convert_field, &each);
  }
  tvms_node *made = NULL;
  if (tvms_relax_layout_of_node(from, &a) && a.text[0] == '\0') return value;
  if (tvms_relax_layout_of_node(from, &a) && tvms_relax_layout_of_node(to, &b)) {
    bool moves = tvms_relax_layout_ndim(&a) == tvms_relax_layout_ndim(&b);
    made = moves ? permuted(c, value, &a, &b) : transformed(c, value, &a, &b);
    if (value->kind != TVMS_NODE_CONSTANT && value->sinfo)
      tvms_relax_layout_cost_move(&c->cost, value->sinfo);
  }
  if (!made) refuse(c, value, "a value that it uses cannot be brought into its order");
  return made ? made : value;
}

// An expression of the source, as it is now, in another order.
static tvms_node *use(converter *c, tvms_node *expr, const tvms_node *to) {
  return convert(c, tvms_rewrite(&c->m.rewriter, expr), order_of(c, expr), to);
}

// ---- Bindings ----

static const tvms_literal *TVMS_NULLABLE desired_of(const converter *c,
                                                    const tvms_call *call,
                                                    tvms_opcode opcode) {
  bool weighs = call->args.len > 1 && call->args.items[1]->kind == TVMS_NODE_CONSTANT;
  if (c->constant_weights && !weighs) return NULL;
  const char *name = tvms_symbol_text(c->m.unit->context, tvms_op_symbol(opcode));
  return tvms_pass_literal_get(c->desired, name);
}

// Asks the operator's rule. False: it has none, or cannot be asked; then the arguments go
// in the order of the source.
static bool ask(converter *c, const tvms_call *call, tvms_relax_layout_query *query) {
  tvms_opcode opcode = tvms_op_called(&call->head);
  if (opcode == TVMS_R_NONE || !tvms_relax_layout_has_rule(opcode, c->beyond_tvm))
    return false;
  tvms_node **orders = tvms_arena_array(&c->m.unit->arena, tvms_node *, call->args.len);
  for (uint32_t i = 0; i < call->args.len; i++) {
    const tvms_node *arg = call->args.items[i];
    orders[i] = order_of(c, arg);
    if (tvms_sinfo_is_nested_tensor(arg->sinfo) && tvms_relax_layout_unknown(orders[i]))
      return false;
  }
  *query = (tvms_relax_layout_query){.unit = c->m.unit,
                                     .call = call,
                                     .opcode = opcode,
                                     .desired = desired_of(c, call, opcode),
                                     .beyond_tvm = c->beyond_tvm,
                                     .orders = orders};
  if (tvms_relax_layout_ask(query)) return true;
  if (c->beyond_tvm) return false;
  return refuse(c, &call->head,
                "the operator cannot take the layouts of its arguments");
}

static tvms_node *settle_call(converter *c, const tvms_call *call,
                              const tvms_relax_layout_query *TVMS_NULLABLE query) {
  tvms_node *made = tvms_node_copy(c->m.unit, &call->head);
  tvms_list args = tvms_list_copy(c->m.unit, call->args.items, call->args.len);
  for (uint32_t i = 0; i < args.len; i++) {
    bool said = query && i < query->input_count;
    if (said || !query) {
      const tvms_node *to = said ? query->inputs[i] : initial_order(c, args.items[i]);
      args.items[i] = use(c, args.items[i], to);
    } else {
      args.items[i] = tvms_rewrite(&c->m.rewriter, args.items[i]);
    }
  }
  if (query && query->second) args.items[1] = query->second;
  tvms_as_call(made)->args = args;
  if (query) tvms_as_call(made)->attrs = query->attrs;
  made = tvms_relax_settle(&c->m, made);
  return tvms_relax_infer(&c->m, made);
}

static tvms_node *bind_call(converter *c, tvms_node *binding) {
  const tvms_var_binding *bound = tvms_as_var_binding(binding);
  const tvms_call *call = tvms_as_call(bound->value);
  bool inner = bound->var->flags & TVMS_FLAG_DATAFLOW;
  tvms_relax_layout_query query;
  bool asked = ask(c, call, &query);
  if (!asked || (!inner && !tvms_sinfo_is_nested_tensor(bound->var->sinfo))) {
    tvms_node_map_put(&c->orders, bound->var, initial_order(c, bound->var));
    return tvms_relax_rebind(&c->m, binding, settle_call(c, call, NULL));
  }
  if (query.desired) tvms_relax_layout_cost_save(&c->cost, &query);
  tvms_node *value = settle_call(c, call, &query);
  tvms_node *initial = initial_order(c, bound->var);
  tvms_node_map_put(&c->orders, bound->var, inner ? query.output : initial);
  if (!inner && !tvms_relax_layout_same_node(query.output, initial)) {
    value = tvms_relax_settle_leaf(&c->m, value);
    value = tvms_relax_settle(&c->m, convert(c, value, query.output, initial));
  }
  return tvms_relax_rebind(&c->m, binding, value);
}

static tvms_node *bind_tuple(converter *c, tvms_node *binding) {
  const tvms_var_binding *bound = tvms_as_var_binding(binding);
  bool inner = bound->var->flags & TVMS_FLAG_DATAFLOW;
  tvms_node *order = inner ? order_of(c, bound->value) : initial_order(c, bound->value);
  tvms_node *value = tvms_relax_settle(&c->m, use(c, bound->value, order));
  tvms_node_map_put(&c->orders, bound->var, order);
  return tvms_relax_rebind(&c->m, binding, value);
}

static tvms_node *bind_item(converter *c, tvms_node *binding) {
  const tvms_var_binding *bound = tvms_as_var_binding(binding);
  const tvms_tuple_get_item *item = tvms_as_tuple_get_item(bound->value);
  bool inner = bound->var->flags & TVMS_FLAG_DATAFLOW;
  tvms_node *order = inner ? order_of(c, item->tuple) : initial_order(c, item->tuple);
  tvms_node *tuple = use(c, item->tuple, order);
  bool nested = order->kind == TVMS_NODE_OBJECT_ARRAY;
  if (!nested) {
    refuse(c, binding, "the parts of the tuple have no order");
    return binding;
  }
  tvms_node_map_put(&c->orders, bound->var,
                    tvms_as_object_array(order)->items.items[item->index]);
  tvms_node *value = tvms_relax_make_item(&c->m, tuple, (uint32_t)item->index);
  return tvms_relax_rebind(&c->m, binding, tvms_relax_settle(&c->m, value));
}

static tvms_node *enter_binding(tvms_rewriter *r, tvms_node *binding) {
  converter *c = converter_of(r);
  const tvms_var_binding *bound = tvms_as_var_binding(binding);
  if (!tvms_relax_in_dataflow(&c->m)) return TVMS_REWRITE_BELOW;
  switch ((int)bound->value->kind) {
  case TVMS_NODE_CALL: return bind_call(c, binding);
  case TVMS_NODE_TUPLE: return bind_tuple(c, binding);
  case TVMS_NODE_TUPLE_GET_ITEM: return bind_item(c, binding);
  case TVMS_NODE_VAR: {
    tvms_node *value = use(c, bound->value, initial_order(c, bound->value));
    return tvms_relax_rebind(&c->m, binding, tvms_relax_settle(&c->m, value));
  }
  default: return TVMS_REWRITE_BELOW;
  }
}

// The type of a match_cast in the new order of its value.
static tvms_node *moved_type(converter *c, const tvms_node *cast, const tvms_node *from,
                             const tvms_node *to) {
  const tvms_sinfo_tensor *type = tvms_as_sinfo_tensor(tvms_as_match_cast(cast)->type);
  tvms_layout a, b;
  tvms_list dims;
  if (!tvms_relax_layout_of_node(from, &a) || !tvms_relax_layout_of_node(to, &b))
    return NULL;
  if (!tvms_sinfo_tensor_dims(&type->head, &dims)) return NULL;
  tvms_list moved = tvms_list_copy(c->m.unit, dims.items, dims.len);
  uint32_t ndim = tvms_relax_layout_ndim(&b);
  for (uint32_t i = 0; i < dims.len; i++) {
    int place = tvms_relax_layout_find(&a, tvms_relax_layout_letter(&b, i));
    if (place < 0 || ndim != dims.len) {
      refuse(c, cast, "match_cast cannot name the lengths of blocks");
      return NULL;
    }
    moved.items[i] = dims.items[place];
  }
  tvms_node *shape =
      tvms_sinfo_shape_value_new(c->m.unit, moved.items, moved.len, cast->span);
  return tvms_sinfo_tensor_new(c->m.unit, shape, type->head.dtype, type->vdevice);
}

static tvms_node *enter_match_cast(tvms_rewriter *r, tvms_node *binding) {
  converter *c = converter_of(r);
  const tvms_match_cast *cast = tvms_as_match_cast(binding);
  if (!tvms_relax_in_dataflow(&c->m)) return TVMS_REWRITE_BELOW;
  const tvms_node *initial = initial_order(c, cast->value);
  tvms_node *order = order_of(c, cast->value);
  bool inner = cast->var->flags & TVMS_FLAG_DATAFLOW;
  if (tvms_relax_layout_same_node(initial, order)) return TVMS_REWRITE_BELOW;
  tvms_node *made = tvms_node_copy(c->m.unit, binding);
  tvms_match_cast *fresh = tvms_as_match_cast(made);
  if (cast->value->kind == TVMS_NODE_CALL) {  // CanonicalizeBindings leaves such
    tvms_node *call = settle_call(c, tvms_as_call(cast->value), NULL);
    fresh->value = tvms_relax_settle_leaf(&c->m, call);
    return made;
  }
  if (!inner) {
    fresh->value = tvms_relax_settle_leaf(&c->m, use(c, cast->value, initial));
    return made;
  }
  bool tensor = tvms_sinfo_is_tensor(cast->type);
  tvms_node *type = tensor ? moved_type(c, binding, initial, order) : NULL;
  if (!type) return TVMS_REWRITE_BELOW;
  fresh->value = tvms_rewrite(r, cast->value);
  fresh->type = type;
  fresh->var = tvms_node_copy(c->m.unit, cast->var);
  fresh->var->sinfo = type;
  tvms_node_map_put(&r->known, cast->var, fresh->var);
  tvms_node_map_put(&c->orders, cast->var, order);
  return made;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  converter c = {.desired = TVMS_OPTION(run, ConvertLayout, desired_layouts).literal,
                 .beyond_tvm = TVMS_OPTION(run, ConvertLayout, beyond_tvm).number != 0,
                 .constant_weights =
                     TVMS_OPTION(run, ConvertLayout, constant_weights).number != 0};
  tvms_relax_mutator_init(&c.m, run, unit, &c);
  tvms_node_map_init(&c.orders, &run->context->memory);
  c.m.rewriter.enter[TVMS_NODE_VAR_BINDING] = enter_binding;
  c.m.rewriter.enter[TVMS_NODE_MATCH_CAST] = enter_match_cast;
  tvms_node *changed = tvms_relax_mutate(&c.m, function);
  tvms_node_map_fini(&c.orders);
  tvms_relax_mutator_fini(&c.m);
  bool worth = !TVMS_OPTION(run, ConvertLayout, worth).number;
  return worth || tvms_relax_layout_cost_is_worth(&c.cost) ? changed : function;
}

void tvms_pass_convert_layout(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
