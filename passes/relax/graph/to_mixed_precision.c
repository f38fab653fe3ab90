// ToMixedPrecision: float32 programs compute in float16 where that is faster and safe enough.
//
// Before: lv = R.nn.conv2d(x, w); gv = R.nn.relu(lv)
// After:  lv = R.astype(x, dtype="float16"); lv1 = R.astype(w, dtype="float16")
//         lv2 = R.nn.conv2d(lv, lv1, out_dtype="float32"); lv3 = R.astype(lv2, dtype="float16")
//         lv4 = R.nn.relu(lv3); gv = R.astype(lv4, dtype="float32")
//
// precision.def says of each operator whether its arguments are always cast, follow those
// that are half precision already, or keep theirs. What leaves a dataflow block has the type
// of the source; parameters named by `fp16_input_names` come in half precision. `out_dtype`
// is what operators of the first kind accumulate in. Values of other types than float32 and
// float16 are never cast. Unlike TVM, attention keeps its bias and its attributes.
// TVM: relax.transform.ToMixedPrecision.
#include "ir/object.h"
#include "ir/omitted.h"
#include "passes/relax/mutator.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

#include <math.h>
#include <string.h>

typedef enum { NEVER, ALWAYS, FOLLOW } precision_policy;

static const uint8_t policies[TVMS_OP_COUNT + 1] = {
#define PRECISION(operator, policy) [TVMS_R_##operator] = policy,
#include "passes/relax/graph/precision.def"
};

// Element types of a value are kept as OBJECT_DTYPE, those of a tuple as OBJECT_ARRAY. Void:
// nothing is known.
typedef struct {
  tvms_relax_mutator m;
  tvms_node_map needs;  // VAR of the source → element types that its users ask for
  tvms_dtype out_dtype;
  const tvms_literal *half_inputs;
  tvms_list params;
  tvms_node_map
      half_params;  // parameter → the same in half precision, if it is named so
  const tvms_node *TVMS_NULLABLE block;  // the dataflow block at hand
} converter;

static tvms_dtype half_type(void) {
  return TVMS_DTYPE(FLOAT, 16);
}

static tvms_dtype single_type(void) {
  return TVMS_DTYPE(FLOAT, 32);
}

static converter *converter_of(const tvms_rewriter *r) {
  const tvms_relax_mutator *m = r->self;
  return m->self;
}

// ---- Element types of values ----

// The element types in `type`; with `uniform` not void that one everywhere.
static tvms_node *elements_of(converter *c, const tvms_node *type, tvms_dtype uniform) {
  tvms_unit *unit = c->m.unit;
  if (type->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
    tvms_list items = tvms_list_copy(unit, fields.items, fields.len);
    for (uint32_t i = 0; i < fields.len; i++)
      items.items[i] = elements_of(c, fields.items[i], uniform);
    return tvms_object_array_new(unit, items.items, items.len, TVMS_NO_SPAN);
  }
  tvms_dtype dtype = tvms_dtype_is_void(uniform) ? type->dtype : uniform;
  return tvms_object_dtype_new(unit, dtype, TVMS_NO_SPAN);
}

static tvms_node *unknown_elements(converter *c, const tvms_node *type) {
  if (type->kind != TVMS_NODE_SINFO_TUPLE)
    return tvms_object_dtype_new(c->m.unit, (tvms_dtype){0}, TVMS_NO_SPAN);
  tvms_list fields = tvms_as_sinfo_tuple(type)->fields;
  tvms_list items = tvms_list_copy(c->m.unit, fields.items, fields.len);
  for (uint32_t i = 0; i < fields.len; i++)
    items.items[i] = unknown_elements(c, fields.items[i]);
  return tvms_object_array_new(c->m.unit, items.items, items.len, TVMS_NO_SPAN);
}

static tvms_dtype element(const tvms_node *elements) {
  return tvms_as_object_dtype(elements)->value;
}

static tvms_node *item_of(const tvms_node *elements, uint32_t i) {
  return tvms_as_object_array(elements)->items.items[i];
}

// Of two demands the wider; with `halved`, `b` where it asks for half precision and else `a`.
static tvms_node *merge(converter *c, tvms_node *a, tvms_node *b, bool halved) {
  if (a->kind == TVMS_NODE_OBJECT_ARRAY) {
    tvms_list old = tvms_as_object_array(a)->items;
    tvms_list items = tvms_list_copy(c->m.unit, old.items, old.len);
    for (uint32_t i = 0; i < old.len; i++)
      items.items[i] = merge(c, old.items[i], item_of(b, i), halved);
    return tvms_object_array_new(c->m.unit, items.items, items.len, TVMS_NO_SPAN);
  }
  if (halved) return tvms_dtype_same(element(b), half_type()) ? b : a;
  return element(a).bits > element(b).bits ? a : b;
}

// ---- What the users of a value ask for, found backwards ----

static void demand(converter *c, const tvms_node *expr, tvms_node *elements) {
  if (expr->kind == TVMS_NODE_TUPLE) {
    tvms_list fields = tvms_as_tuple(expr)->fields;
    for (uint32_t i = 0; i < fields.len; i++)
      demand(c, fields.items[i], item_of(elements, i));
  } else if (expr->kind == TVMS_NODE_VAR) {
    tvms_node *old = tvms_node_map_get(&c->needs, expr);
    tvms_node_map_put(&c->needs, expr, old ? merge(c, old, elements, false) : elements);
  }
}

static void demand_uniform(converter *c, const tvms_node *expr, tvms_dtype dtype) {
  if (expr->sinfo && tvms_sinfo_is_nested_tensor(expr->sinfo))
    demand(c, expr, elements_of(c, expr->sinfo, dtype));
}

static void demand_item(converter *c, const tvms_node *value, tvms_node *elements) {
  const tvms_tuple_get_item *item = tvms_as_tuple_get_item(value);
  tvms_node *all = unknown_elements(c, item->tuple->sinfo);
  tvms_as_object_array(all)->items.items[item->index] = elements;
  demand(c, item->tuple, all);
}

static void collect_value(converter *c, const tvms_node *var, const tvms_node *value) {
  if (value->kind == TVMS_NODE_TUPLE || value->kind == TVMS_NODE_TUPLE_GET_ITEM) {
    if (!tvms_sinfo_is_nested_tensor(var->sinfo)) return;
    tvms_node *known = tvms_node_map_get(&c->needs, var);
    if (!known) known = unknown_elements(c, var->sinfo);
    if (value->kind == TVMS_NODE_TUPLE) {
      demand(c, value, known);
    } else if (tvms_sinfo_is_nested_tensor(
                   tvms_as_tuple_get_item(value)->tuple->sinfo)) {
      demand_item(c, value, known);
    }
    return;
  }
  if (value->kind != TVMS_NODE_CALL) {
    demand_uniform(c, value, single_type());
    return;
  }
  tvms_opcode opcode = tvms_op_called(value);
  bool half = policies[opcode] == ALWAYS;
  tvms_list args = tvms_as_call(value)->args;
  for (uint32_t i = 0; i < args.len; i++)
    demand_uniform(c, args.items[i], half ? half_type() : single_type());
}

static void collect(converter *c, const tvms_node *body) {
  const tvms_seq_expr *sequence = tvms_as_seq_expr(body);
  demand_uniform(c, sequence->body, single_type());
  for (uint32_t i = sequence->blocks.len; i > 0; i--) {
    const tvms_node *block = sequence->blocks.items[i - 1];
    tvms_list bindings = tvms_as_binding_block(block)->bindings;
    for (uint32_t k = bindings.len; k > 0 && block->flags & TVMS_FLAG_DATAFLOW; k--) {
      const tvms_node *binding = bindings.items[k - 1];
      if (binding->kind == TVMS_NODE_MATCH_CAST) {
        demand_uniform(c, tvms_as_match_cast(binding)->value, single_type());
      } else {
        const tvms_var_binding *bound = tvms_as_var_binding(binding);
        collect_value(c, bound->var, bound->value);
      }
    }
  }
}

// ---- Casts ----

static tvms_node *cast(converter *c, tvms_node *value, const tvms_node *to);

typedef struct {
  converter *converter;
  const tvms_node *to;
} field_types;

static tvms_node *cast_field(void *self, tvms_node *field, uint32_t index) {
  const field_types *types = self;
  return cast(types->converter, field, item_of(types->to, index));
}

// `value`, a tree over new variables, with these element types.
static tvms_node *cast(converter *c, tvms_node *value, const tvms_node *to) {
  if (to->kind == TVMS_NODE_OBJECT_ARRAY) {
    field_types types = {c, to};
    return tvms_relax_change_fields(&c->m, value, cast_field, &types);
  }
  tvms_dtype dtype = value->sinfo->dtype;
  bool real =
      tvms_dtype_same(dtype, half_type()) || tvms_dtype_same(dtype, single_type());
  if (!real || tvms_dtype_same(dtype, element(to)) || tvms_dtype_is_void(element(to)))
    return value;
  tvms_node *attr = tvms_object_dtype_new(c->m.unit, element(to), TVMS_NO_SPAN);
  return tvms_relax_op_with(&c->m, TVMS_R_astype, &value, 1, &attr);
}

static tvms_node *cast_uniform(converter *c, tvms_node *value, tvms_dtype dtype) {
  if (!value->sinfo || !tvms_sinfo_is_nested_tensor(value->sinfo)) return value;
  return cast(c, value, elements_of(c, value->sinfo, dtype));
}

// `value` with the element types that `old` has.
static tvms_node *cast_like(converter *c, tvms_node *value, const tvms_node *old) {
  if (!old->sinfo || !tvms_sinfo_is_nested_tensor(old->sinfo)) return value;
  if (!value->sinfo || !tvms_sinfo_is_nested_tensor(value->sinfo)) return value;
  return cast(c, value, elements_of(c, old->sinfo, (tvms_dtype){0}));
}

static double constant_at(const tvms_constant *constant, size_t i) {
  const char *at = constant->data.text + i * (constant->element.bits / 8u);
  int64_t integer = 0;
  float single;
  double real;
  if (constant->element.code == TVMS_FLOAT && constant->element.bits == 32) {
    memcpy(&single, at, sizeof single);
    return single;
  }
  if (constant->element.code == TVMS_FLOAT) {
    memcpy(&real, at, sizeof real);
    return real;
  }
  memcpy(&integer, at, constant->element.bits / 8u);
  uint32_t unused = 64u - constant->element.bits;
  return (double)((int64_t)((uint64_t)integer << unused) >> unused);
}

// Can every element be a float16 that is not an infinity?
static bool fits_half(const tvms_node *node) {
  static const double greatest = 65504;
  const tvms_constant *constant = tvms_as_constant(node);
  tvms_dtype dtype = constant->element;
  if (tvms_dtype_same(dtype, half_type())) return true;
  bool real = dtype.code == TVMS_FLOAT && (dtype.bits == 32 || dtype.bits == 64);
  bool integer = dtype.code == TVMS_INT && dtype.bits >= 8;
  if (dtype.lanes != 1 || (!real && !integer)) return false;
  size_t count = constant->data.len / (dtype.bits / 8u);
  for (size_t i = 0; i < count; i++)
    if (fabs(constant_at(constant, i)) > greatest) return false;
  return true;
}

static bool all_half(tvms_context *context, tvms_list args) {
  for (uint32_t i = 0; i < args.len; i++) {
    const tvms_node *arg = args.items[i];
    if (!arg->sinfo || !tvms_sinfo_is_nested_tensor(arg->sinfo)) continue;
    bool half = tvms_sinfo_is_tensor(arg->sinfo)
                && tvms_dtype_same(arg->sinfo->dtype, half_type());
    if (arg->kind == TVMS_NODE_CONSTANT) {
      if (!half && !tvms_node_refuse_omitted(context, arg, "ToMixedPrecision"))
        return false;
      half |= fits_half(arg);
    }
    if (arg->kind == TVMS_NODE_TUPLE)
      half |= all_half(context, tvms_as_tuple(arg)->fields);
    if (!half) return false;
  }
  return true;
}

// ---- Bindings ----

static void set_out_dtype(converter *c, tvms_node *call) {
  tvms_call *made = tvms_as_call(call);
  int place = tvms_attr_find(tvms_op_schema(tvms_op_called(call)), "out_dtype", 9);
  if (place < 0) return;
  made->attrs = tvms_list_copy(c->m.unit, made->attrs.items, made->attrs.len);
  made->attrs.items[place] =
      tvms_object_dtype_new(c->m.unit, c->out_dtype, TVMS_NO_SPAN);
}

static tvms_node *convert_call(converter *c, const tvms_var_binding *bound) {
  const tvms_call *old = tvms_as_call(bound->value);
  tvms_opcode opcode = tvms_op_called(bound->value);
  precision_policy policy = (precision_policy)policies[opcode];
  tvms_list args = tvms_rewrite_list(&c->m.rewriter, old->args);
  if (opcode == TVMS_R_wrap_param) return args.items[0];
  bool changed = args.items != old->args.items;
  if (policy == NEVER && !changed) return bound->value;
  bool half = policy == ALWAYS || all_half(c->m.unit->context, args);
  tvms_dtype dtype = half ? half_type() : single_type();
  tvms_list made = tvms_list_copy(c->m.unit, args.items, args.len);
  for (uint32_t i = 0; i < args.len; i++) {
    made.items[i] = policy == NEVER || opcode == TVMS_R_NONE
                        ? cast_like(c, args.items[i], old->args.items[i])
                        : cast_uniform(c, args.items[i], dtype);
  }
  tvms_node *value = tvms_node_copy(c->m.unit, bound->value);
  tvms_as_call(value)->args = made;
  if (policy == ALWAYS) set_out_dtype(c, value);
  value = tvms_relax_infer(&c->m, tvms_relax_settle(&c->m, value));
  bool inner = bound->var->flags & TVMS_FLAG_DATAFLOW;
  if (policy != NEVER && !inner) return cast_like(c, value, bound->var);
  return policy == ALWAYS ? cast_uniform(c, value, half_type()) : value;
}

static tvms_node *convert_value(converter *c, const tvms_var_binding *bound) {
  tvms_node *value = bound->value;
  bool inner = bound->var->flags & TVMS_FLAG_DATAFLOW;
  if (value->kind == TVMS_NODE_CALL) return convert_call(c, bound);
  tvms_node *now = tvms_rewrite(&c->m.rewriter, value);
  bool parts =
      value->kind == TVMS_NODE_TUPLE || value->kind == TVMS_NODE_TUPLE_GET_ITEM;
  return parts && inner ? now : cast_like(c, now, value);
}

// Where all users of a variable take half precision, it is cast once, behind its binding.
static void cast_once(converter *c, tvms_node *var) {
  tvms_node *need = tvms_node_map_get(&c->needs, var);
  tvms_node *now = tvms_rewrite(&c->m.rewriter, var);
  if (!need || !now->sinfo || !tvms_sinfo_is_nested_tensor(now->sinfo)) return;
  tvms_node *old = elements_of(c, now->sinfo, (tvms_dtype){0});
  tvms_node *made = cast(c, now, merge(c, old, need, true));
  if (made == now) return;
  made = tvms_relax_settle(&c->m, made);
  made = tvms_relax_emit(&c->m.emitter, &c->m.rewriter, made, "lv");
  tvms_node_map_put(&c->m.rewriter.known, var, made);
}

// The parameters that only half precision is asked of are cast where a block begins.
static void begin_block(converter *c) {
  c->block = c->m.rewriter.sequence;
  for (uint32_t i = 0; i < c->params.len; i++)
    cast_once(c, c->params.items[i]);
}

static tvms_node *TVMS_NULLABLE enter_binding(tvms_rewriter *r, tvms_node *binding) {
  converter *c = converter_of(r);
  if (!tvms_relax_in_dataflow(&c->m)) return TVMS_REWRITE_BELOW;
  if (c->block != r->sequence) begin_block(c);
  tvms_node *var, *made;
  if (binding->kind == TVMS_NODE_MATCH_CAST) {
    const tvms_match_cast *old = tvms_as_match_cast(binding);
    tvms_node *value = cast_like(c, tvms_rewrite(r, old->value), old->value);
    made = tvms_node_copy(c->m.unit, binding);
    tvms_as_match_cast(made)->value = tvms_relax_settle_leaf(&c->m, value);
    var = old->var;
  } else {
    const tvms_var_binding *bound = tvms_as_var_binding(binding);
    tvms_node *value = tvms_relax_settle(&c->m, convert_value(c, bound));
    made = value == bound->value ? binding : tvms_relax_rebind(&c->m, binding, value);
    var = bound->var;
  }
  tvms_rewrite_emit(r, made);
  cast_once(c, var);
  return NULL;
}

// What was cast for a block is not seen outside of it.
static tvms_node *leave_block(tvms_rewriter *r, tvms_node *block) {
  converter *c = converter_of(r);
  for (uint32_t i = 0; i < c->params.len && r->old->flags & TVMS_FLAG_DATAFLOW; i++) {
    const tvms_node *param = c->params.items[i];
    tvms_node_map_put(&r->known, param, tvms_node_map_get(&c->half_params, param));
  }
  return block;
}

static bool is_half_input(const converter *c, const tvms_node *param) {
  const char *name = tvms_symbol_text(c->m.unit->context, tvms_as_var(param)->name);
  for (uint32_t i = 0; i < c->half_inputs->len; i++)
    if (strcmp(c->half_inputs->items[i].text, name) == 0) return true;
  return false;
}

static void halve_params(converter *c) {
  for (uint32_t i = 0; i < c->params.len; i++) {
    tvms_node *param = c->params.items[i];
    if (!is_half_input(c, param) || !tvms_sinfo_is_tensor(param->sinfo)) continue;
    const tvms_sinfo_tensor *type = tvms_as_sinfo_tensor(param->sinfo);
    if (!type->shape) continue;
    tvms_node *half = tvms_node_copy(c->m.unit, param);
    half->sinfo =
        tvms_sinfo_tensor_new(c->m.unit, type->shape, half_type(), type->vdevice);
    tvms_node_map_put(&c->half_params, param, half);
    tvms_node_map_put(&c->m.rewriter.known, param, half);
  }
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  const tvms_function *old = tvms_as_function(function);
  converter c = {.half_inputs =
                     TVMS_OPTION(run, ToMixedPrecision, fp16_input_names).literal,
                 .params = old->params};
  const char *out = TVMS_OPTION(run, ToMixedPrecision, out_dtype).text;
  if (!tvms_dtype_parse(out, strlen(out), &c.out_dtype)) c.out_dtype = single_type();
  tvms_relax_mutator_init(&c.m, run, unit, &c);
  tvms_node_map_init(&c.needs, &run->context->memory);
  tvms_node_map_init(&c.half_params, &run->context->memory);
  collect(&c, old->body);
  halve_params(&c);
  c.m.rewriter.enter[TVMS_NODE_VAR_BINDING] = enter_binding;
  c.m.rewriter.enter[TVMS_NODE_MATCH_CAST] = enter_binding;
  c.m.rewriter.leave[TVMS_NODE_BINDING_BLOCK] = leave_block;
  tvms_node *changed = tvms_relax_mutate(&c.m, function);
  tvms_node_map_fini(&c.half_params);
  tvms_node_map_fini(&c.needs);
  tvms_relax_mutator_fini(&c.m);
  return changed;
}

void tvms_pass_to_mixed_precision(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
