// BundleModelParams: the weights of a function come as one tuple.
//
// Before: def main(x, w: A, b: B): y = R.matmul(x, w)          with the attribute num_input 1
// After:  def main(x, model_params: R.Tuple(A, B)): w = model_params[0]; y = R.matmul(x, w)
//
// Weights are the parameters behind the first num_input; functions without that attribute stay. A
// field is taken from the tuple in front of every binding that uses it, as in TVM:
// EliminateCommonSubexpr makes one of them. Scalars among the weights are taken at the beginning,
// and a weight whose shape mentions one gets that shape by a match_cast.
// TVM: relax.transform.BundleModelParams.
#include "passes/relax/params/bundle_model_params.h"

#include "passes/relax/analysis/num_input.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/binder.h"
#include "structinfo/make.h"
#include "structinfo/relate.h"

#include <string.h>

typedef struct {
  tvms_relax_binder binder;
  const char *name;
  tvms_list params;  // of the function at hand
  int64_t inputs;
  tvms_node *tuple;     // the new parameter
  tvms_node_map items;  // weights → the items of the tuple that they become
  tvms_node_map
      scalars;  // weights that are scalars → the variables that stand for them
  tvms_node_map visible;  // sizes that the other parameters tell
} bundler;

// ---- Types ----

static tvms_node *TVMS_NULLABLE told(void *self, tvms_node *var) {
  const bundler *b = self;
  bool lost =
      tvms_node_map_get(&b->scalars, var) && !tvms_node_map_get(&b->visible, var);
  return lost ? NULL : var;
}

// `type` without the sizes that were parameters of their own.
static tvms_node *erased(bundler *b, tvms_unit *unit, tvms_node *type) {
  if (b->scalars.count == 0) return type;
  tvms_prover prover;
  tvms_prover_init(&prover, unit);
  type = tvms_sinfo_erase(&prover, type, told, b);
  tvms_prover_fini(&prover);
  return type;
}

static tvms_node *tuple_parameter(bundler *b, tvms_unit *unit) {
  uint32_t first = (uint32_t)b->inputs, count = b->params.len - first;
  tvms_node **weights = count ? b->params.items + first : NULL;
  tvms_list types = tvms_list_copy(unit, weights, count);
  for (uint32_t i = 0; i < count; i++)
    types.items[i] = erased(b, unit, b->params.items[first + i]->sinfo);
  tvms_node *type = tvms_sinfo_tuple_new(unit, types.items, count);
  tvms_sym name = tvms_symbol_intern(unit->context, b->name, strlen(b->name));
  tvms_node *var = tvms_var_new(unit, name, (tvms_dtype){0}, TVMS_NO_SPAN);
  var->sinfo = type;
  return var;
}

// ---- Values ----

static tvms_node *item(const bundler *b, tvms_unit *unit, uint32_t index) {
  tvms_tuple_get_item *made = tvms_node_make(unit, TUPLE_GET_ITEM, TVMS_NO_SPAN);
  made->tuple = b->tuple;
  made->index = index;
  made->head.sinfo = tvms_as_sinfo_tuple(b->tuple->sinfo)->fields.items[index];
  return &made->head;
}

static tvms_node *TVMS_NULLABLE take(tvms_rewriter *r, tvms_node *node) {
  bundler *b = r->self;
  if (node->kind != TVMS_NODE_VAR || tvms_node_map_get(&b->scalars, node)) return NULL;
  const tvms_node *taken = tvms_node_map_get(&b->items, node);
  if (!taken) return NULL;
  const char *name = tvms_symbol_text(r->unit->context, tvms_as_var(node)->name);
  tvms_node *value = tvms_node_copy(r->unit, taken);
  if (b->scalars.count == 0) return tvms_relax_binder_bind(r, value, name);
  tvms_node *type = tvms_substitute(r->unit, node->sinfo, &b->scalars);
  return type == value->sinfo ? tvms_relax_binder_bind(r, value, name)
                              : tvms_relax_binder_cast(r, value, type, name);
}

// Scalars that come in the tuple get names at the beginning, which stand for them everywhere.
static void take_scalars(bundler *b, tvms_rewriter *r, tvms_node_vec *first) {
  for (uint32_t i = (uint32_t)b->inputs; i < b->params.len; i++) {
    tvms_node *param = b->params.items[i];
    if (!tvms_node_map_get(&b->scalars, param)) continue;
    const char *name = tvms_symbol_text(r->unit->context, tvms_as_var(param)->name);
    tvms_node *value = item(b, r->unit, i - (uint32_t)b->inputs);
    tvms_node *binding = tvms_relax_bind(&b->binder.emitter, value, name, false);
    tvms_node *var = tvms_as_var_binding(binding)->var;
    var->dtype = param->dtype;
    tvms_vec_push(&r->unit->context->memory, first, binding);
    tvms_node_map_put(&b->scalars, param, var);
    tvms_node_map_put(&r->known, param, var);
  }
}

// ---- Functions ----

static void look_at_parameters(bundler *b, const tvms_function *function) {
  b->params = function->params;
  for (uint32_t i = 0; i < b->params.len; i++) {
    tvms_node *param = b->params.items[i];
    if (i < b->inputs)
      tvms_relax_symbols_of_type(&b->visible, param->sinfo);
    else if (tvms_relax_is_symbol(param))
      tvms_node_map_put(&b->scalars, param, param);
  }
}

static tvms_node *rewrite_body(bundler *b, tvms_unit *unit, tvms_node *old) {
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, b);
  tvms_relax_binder_install(&rewriter);
  tvms_node_vec first = {0}, none = {0};
  take_scalars(b, &rewriter, &first);
  tvms_node *body = tvms_rewrite(&rewriter, old);
  if (first.len) {
    body = tvms_node_copy(unit, body);
    tvms_seq_expr *sequence = tvms_as_seq_expr(body);
    sequence->blocks =
        tvms_relax_binder_surround(unit, &first, sequence->blocks, &none);
  }
  tvms_vec_fini(&unit->context->memory, &first);
  tvms_rewriter_fini(&rewriter);
  return body;
}

static tvms_node *bundle(bundler *b, tvms_unit *unit, tvms_node *node) {
  b->inputs = tvms_relax_num_input_checked(unit->context, node);
  if (b->inputs < 0) return node;
  tvms_memory *memory = &unit->context->memory;
  tvms_node *copy = tvms_node_copy(unit, node);
  tvms_function *function = tvms_as_function(copy);
  tvms_node_map_init(&b->scalars, memory);
  tvms_node_map_init(&b->visible, memory);
  look_at_parameters(b, function);
  b->tuple = tuple_parameter(b, unit);
  tvms_node_map_init(&b->items, memory);
  for (uint32_t i = (uint32_t)b->inputs; i < b->params.len; i++)
    tvms_node_map_put(&b->items, b->params.items[i],
                      item(b, unit, i - (uint32_t)b->inputs));
  tvms_relax_binder_enter(&b->binder, unit);
  function->ret = erased(b, unit, function->ret);
  function->body = rewrite_body(b, unit, function->body);
  uint32_t inputs = (uint32_t)b->inputs;
  tvms_node **params = tvms_arena_array(&unit->arena, tvms_node *, inputs + 1);
  for (uint32_t i = 0; i < inputs; i++)
    params[i] = b->params.items[i];
  params[inputs] = b->tuple;
  function->params = (tvms_list){params, inputs + 1};
  copy->sinfo = NULL;
  tvms_node_map_fini(&b->items);
  tvms_node_map_fini(&b->scalars);
  tvms_node_map_fini(&b->visible);
  return copy;
}

tvms_node *tvms_relax_bundle_params(tvms_pass_run *run, tvms_unit *unit,
                                    tvms_node *function, const char *name) {
  bundler b = {.name = name};
  tvms_relax_binder_init(&b.binder, run, take);
  function = bundle(&b, unit, function);
  tvms_relax_binder_fini(&b.binder);
  return function;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  return bundle(run->state, unit, function);
}

void tvms_pass_bundle_model_params(tvms_pass_run *run) {
  const char *name = TVMS_OPTION(run, BundleModelParams, param_tuple_name).text;
  bundler b = {.name = name[0] ? name : "model_params"};
  tvms_relax_binder_init(&b.binder, run, take);
  run->state = &b;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = NULL;
  tvms_relax_binder_fini(&b.binder);
}
