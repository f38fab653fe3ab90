// UpdateParamType, UpdateParamStructInfo: parameters get other types, and what is computed from them its types anew.
//
// Before: def main(x: R.Tensor((16,)), w: R.Tensor((32, 16))): y: R.Tensor((32,)) = R.matmul(w, x)
// After, with types={'w': [64, 16, 'float32']}:
//         def main(x: R.Tensor((16,)), w: R.Tensor((64, 16))): y: R.Tensor((64,)) = R.matmul(w, x)
//
// The option gives tensors by the names of parameters, in all functions that have such: sizes, which
// are numbers or sizes of the function by name, and at the end the data type. In TVM a function of
// Python decides, also on other types. Calls of functions whose parameters changed stay as they are.
// TVM: relax.transform.UpdateParamType, UpdateParamStructInfo up to 0.25.
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/mutator.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <string.h>

// The size of the function that has this name, or NULL.
static tvms_node *TVMS_NULLABLE size_of(tvms_unit *unit, tvms_list params,
                                        const char *name) {
  tvms_node_map defined;
  tvms_node_map_init(&defined, &unit->context->memory);
  tvms_node *found = NULL;
  for (uint32_t i = 0; i < params.len; i++)
    tvms_relax_symbols_of_type(&defined, params.items[i]->sinfo);
  for (uint32_t i = 0; i < defined.cap; i++) {
    tvms_node *symbol = defined.pairs[i].key ? defined.pairs[i].value : NULL;
    bool same =
        symbol
        && strcmp(tvms_symbol_text(unit->context, tvms_as_var(symbol)->name), name)
               == 0;
    if (same) found = symbol;
  }
  tvms_node_map_fini(&defined);
  return found;
}

static tvms_node *TVMS_NULLABLE type_of(tvms_unit *unit, tvms_list params,
                                        const tvms_literal *list) {
  tvms_dtype dtype;
  if (list->kind != TVMS_LITERAL_LIST || list->len == 0) return NULL;
  const tvms_literal *last = &list->items[list->len - 1];
  bool known = last->kind == TVMS_LITERAL_TEXT
               && tvms_dtype_parse(last->text, strlen(last->text), &dtype);
  if (!known) return NULL;
  uint32_t count = list->len - 1;
  tvms_node **dims = tvms_arena_array(&unit->arena, tvms_node *, count);
  for (uint32_t i = 0; i < count; i++) {
    const tvms_literal *item = &list->items[i];
    if (item->kind == TVMS_LITERAL_INT && item->number >= 0)
      dims[i] = tvms_sinfo_dim_new(unit, item->number);
    else
      dims[i] =
          item->kind == TVMS_LITERAL_TEXT ? size_of(unit, params, item->text) : NULL;
    if (!dims[i]) return NULL;
  }
  tvms_node *shape = tvms_sinfo_shape_value_new(unit, dims, count, TVMS_NO_SPAN);
  return tvms_sinfo_tensor_new(unit, shape, dtype, NULL);
}

static tvms_node *enter_function(tvms_rewriter *r, tvms_node *node) {
  const tvms_relax_mutator *m = r->self;
  const tvms_literal *types = m->self;
  tvms_context *context = r->unit->context;
  tvms_list params = tvms_as_function(node)->params;
  for (uint32_t i = 0; i < params.len; i++) {
    tvms_node *param = params.items[i];
    const char *name = tvms_symbol_text(context, tvms_as_var(param)->name);
    const tvms_literal *given = tvms_pass_literal_get(types, name);
    if (!given) continue;
    tvms_node *type = type_of(r->unit, params, given);
    if (!type) {
      tvms_diag_report(&context->diags, TVMS_D_param_type, param->span, name);
      continue;
    }
    tvms_node *made = tvms_node_copy(r->unit, param);
    made->sinfo = type;
    tvms_node_map_put(&r->known, param, made);
  }
  return TVMS_REWRITE_BELOW;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  tvms_relax_mutator m;
  tvms_relax_mutator_init(&m, run, unit, run->state);
  m.rewriter.enter[TVMS_NODE_FUNCTION] = enter_function;
  function = tvms_relax_mutate(&m, function);
  tvms_relax_mutator_fini(&m);
  return function;
}

void tvms_pass_update_param_type(tvms_pass_run *run) {
  run->state = (void *)(uintptr_t)TVMS_OPTION(run, UpdateParamType, types).literal;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = NULL;
}
