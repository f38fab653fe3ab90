// BindParams: weights of a file take the place of parameters.
//
// Before: def main(x, w: R.Tensor((n, 4))): y = R.matmul(x, w)     with w of shape 8, 4
// After:  def main(x): y = R.matmul(x, metadata["ir.GenericConst"][0]), and 8 for n
//
// The file `params` is one of numpy.savez or of safetensors; each of its tensors that has the name
// of a parameter of the function `func_name` is bound, the others are not looked at. An empty
// map, {}, binds nothing. FoldConstant then computes what it can.
// TVM: relax.transform.BindParams.
#include "ir/build.h"
#include "ir/node_map.h"
#include "passes/functions.h"
#include "passes/relax/substitute.h"
#include "passes/remarks.h"
#include "passes/weights.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  const tvms_pass_run *run;
  const char *function;
  tvms_relax_weights weights;
} binder;

// Symbols of the parameter's shape are what the weight has. False: it does not fit.
static bool learn_sizes(tvms_unit *unit, tvms_node_map *values, const tvms_node *type,
                        const tvms_node *given) {
  tvms_list sizes, known;
  bool typed = type && type->kind == TVMS_NODE_SINFO_TENSOR
               && (tvms_dtype_is_void(type->dtype)
                   || tvms_dtype_same(type->dtype, given->dtype));
  if (!typed) return !type || type->kind == TVMS_NODE_SINFO_OBJECT;
  if (!tvms_sinfo_dims(type, &sizes) || !tvms_sinfo_dims(given, &known)) return true;
  if (sizes.len != known.len) return false;
  for (uint32_t i = 0; i < sizes.len; i++) {
    int64_t is = tvms_as_int_imm(known.items[i])->value, must;
    tvms_node *size = sizes.items[i];
    const tvms_node *before = tvms_node_map_get(values, size);
    if (before) size = (tvms_node *)(uintptr_t)before;
    if (tvms_sinfo_dim_int(size, &must)) {
      if (is != must) return false;
    } else if (size->kind == TVMS_NODE_VAR) {
      tvms_node_map_put(values, size,
                        tvms_int_imm_new(unit, size->dtype, is, TVMS_NO_SPAN));
    }
  }
  return true;
}

static tvms_node *bind(binder *b, tvms_unit *unit, tvms_node *node,
                       tvms_node_map *values) {
  tvms_context *context = unit->context;
  const tvms_function *old = tvms_as_function(node);
  tvms_node_vec params = {0};
  for (uint32_t i = 0; i < old->params.len; i++) {
    tvms_node *param = old->params.items[i];
    const char *name = tvms_symbol_text(context, tvms_as_var(param)->name);
    const char *why;
    tvms_node *weight = tvms_relax_weights_find(
        &b->weights, unit, name, param->sinfo ? param->sinfo->dtype : (tvms_dtype){0},
        &why);
    if (why) {
      tvms_diag_report(&context->diags, TVMS_D_weights_unread, param->span, name, why);
    } else if (!weight) {
      tvms_vec_push(&context->memory, &params, param);
    } else if (learn_sizes(unit, values, param->sinfo, weight->sinfo)) {
      tvms_node_map_put(values, param, weight);
      if (tvms_pass_wants_remarks(b->run))
        tvms_pass_remark(b->run, TVMS_REMARK_PASSED, TVMS_D_weight_bound, param->span,
                         name, tvms_sinfo_describe(unit, weight->sinfo));
    } else {
      tvms_diag_report(&context->diags, TVMS_D_weight_unfit, param->span, name,
                       tvms_sinfo_describe(unit, weight->sinfo),
                       tvms_sinfo_describe(unit, param->sinfo));
    }
  }
  if (params.len < old->params.len) {
    node = tvms_node_copy(unit, node);
    tvms_as_function(node)->params = tvms_list_copy(unit, params.items, params.len);
    node->sinfo = NULL;
    node = tvms_relax_substitute(unit, node, values);
  }
  tvms_vec_fini(&context->memory, &params);
  return node;
}

// Tells of tensors of the file that are not bound.
static void tell_unused(const binder *b, const tvms_function *function) {
  tvms_context *context = b->run->context;
  for (uint32_t i = 0; i < b->weights.items.len; i++) {
    const tvms_relax_weight *weight = &b->weights.items.items[i];
    bool used = false;
    for (uint32_t k = 0; k < function->params.len && !used; k++)
      used = tvms_relax_weight_is(
          weight,
          tvms_symbol_text(context, tvms_as_var(function->params.items[k])->name));
    if (used) continue;
    tvms_pass_remark(b->run, TVMS_REMARK_MISSED, TVMS_D_weight_unused,
                     function->head.span,
                     tvms_arena_text(&context->arena, weight->name, weight->name_len));
  }
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  binder *b = run->state;
  const char *name = tvms_symbol_text(run->context, tvms_as_function(function)->name);
  if (strcmp(b->function, name) != 0) return function;
  if (tvms_pass_wants_remarks(run)) tell_unused(b, tvms_as_function(function));
  tvms_node_map values;
  tvms_node_map_init(&values, &run->context->memory);
  function = bind(b, unit, function, &values);
  tvms_node_map_fini(&values);
  return function;
}

void tvms_pass_bind_params(tvms_pass_run *run) {
  tvms_context *context = run->context;
  const char *path = TVMS_OPTION(run, BindParams, params).text;
  if (!path[0] || strcmp(path, "{}") == 0) return;
  binder b = {.run = run, .function = TVMS_OPTION(run, BindParams, func_name).text};
  const char *why = tvms_relax_weights_init(&b.weights, context, path);
  if (why) {
    tvms_diag_report(&context->diags, TVMS_D_weights_unread, (tvms_span){0, 0}, path,
                     why);
  } else {
    run->state = &b;
    tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
    run->state = NULL;
  }
  tvms_relax_weights_fini(&b.weights);
}
