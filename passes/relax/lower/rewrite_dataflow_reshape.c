// RewriteDataflowReshape: what only gives a tensor another shape copies nothing.
//
// Before: lv = R.call_tir(cls.reshape, (x,), out_ty=R.Tensor((6,), "float32"))
// After:  lv = R.reshape(x, R.shape([6]))
//
// Only bindings of dataflow blocks that stay inside them: a result must not share the memory of
// an argument. The PrimFunc itself is left for DeadCodeElimination.
// TVM: relax.transform.RewriteDataflowReshape.
#include "ir/walk.h"
#include "passes/functions.h"
#include "passes/relax/lower/reshape_pattern.h"
#include "passes/relax/make.h"
#include "passes/relax/retype.h"
#include "structinfo/dims.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"

typedef enum { UNKNOWN, RESHAPES, COMPUTES } verdict;

typedef struct {
  tvms_pass_run *run;
  uint8_t *verdicts;  // of members of the module
} reshaper;

static bool reshapes(reshaper *state, const tvms_member *member) {
  uint8_t *known = &state->verdicts[member - state->run->module->members];
  if (*known == UNKNOWN) {
    bool found = tvms_relax_reshapes(state->run->context, state->run->module->dialect,
                                     member->function);
    *known = found ? RESHAPES : COMPUTES;
  }
  return *known == RESHAPES;
}

// The only argument that the function looks at: fusion leaves some that it does not.
static tvms_node *TVMS_NULLABLE used_argument(reshaper *state,
                                              const tvms_prim_func *callee,
                                              tvms_list args) {
  tvms_memory *memory = &state->run->context->memory;
  tvms_node *used = NULL;
  for (uint32_t i = 0; i < args.len && i < callee->buffers.len; i++) {
    const tvms_node *buffer = callee->buffers.items[i];
    if (!buffer || !tvms_walk_contains(memory, callee->body, buffer)) continue;
    if (used) return NULL;
    used = args.items[i];
  }
  return used;
}

// Both have known shapes with as many elements, and one dtype.
static bool keeps_elements(tvms_unit *unit, const tvms_node *from,
                           const tvms_node *to) {
  tvms_list old, new;
  bool tensors = tvms_sinfo_is_tensor(from) && tvms_sinfo_is_tensor(to)
                 && !tvms_dtype_is_void(from->dtype)
                 && tvms_dtype_same(from->dtype, to->dtype);
  if (!tensors || !tvms_sinfo_dims(from, &old) || !tvms_sinfo_tensor_dims(to, &new))
    return false;
  tvms_prover prover;
  tvms_prover_init(&prover, unit);
  tvms_node *before = tvms_dim_product(&prover, old);
  tvms_node *after = tvms_dim_product(&prover, new);
  bool same = before && after && tvms_dim_equal(&prover, before, after);
  tvms_prover_fini(&prover);
  return same;
}

static tvms_node *rewrite_call(reshaper *state, tvms_unit *unit, tvms_node *node) {
  const tvms_call *call = tvms_as_call(node);
  if (tvms_op_called(node) != TVMS_R_call_tir || call->args.len < 2) return node;
  const tvms_node *callee = call->args.items[0], *tuple = call->args.items[1];
  const tvms_member *member =
      tvms_module_function_named(state->run->module, callee, TVMS_NODE_PRIM_FUNC);
  if (!member || tuple->kind != TVMS_NODE_TUPLE) return node;
  tvms_node *arg = used_argument(state, tvms_as_prim_func(member->function),
                                 tvms_as_tuple(tuple)->fields);
  if (!arg || !arg->sinfo || !keeps_elements(unit, arg->sinfo, node->sinfo))
    return node;
  if (!reshapes(state, member)) return node;
  tvms_node *args[] = {arg, tvms_as_sinfo_tensor(node->sinfo)->shape};
  return tvms_relax_make_operator_call(unit, TVMS_R_reshape, args, 2, node->span);
}

static tvms_node *rewrite_binding(tvms_rewriter *r, tvms_node *node) {
  tvms_var_binding *binding = tvms_as_var_binding(node);
  bool inside = r->sequence && r->sequence->flags & TVMS_FLAG_DATAFLOW
                && binding->var->flags & TVMS_FLAG_DATAFLOW
                && binding->value->kind == TVMS_NODE_CALL;
  if (!inside) return TVMS_REWRITE_BELOW;
  tvms_node *value = rewrite_call(r->self, r->unit, binding->value);
  if (value == binding->value) return TVMS_REWRITE_BELOW;
  tvms_node *copy = tvms_node_copy(r->unit, node);
  tvms_as_var_binding(copy)->value = tvms_rewrite(r, value);
  return copy;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, run->state);
  rewriter.enter[TVMS_NODE_VAR_BINDING] = rewrite_binding;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return changed;
}

void tvms_pass_rewrite_dataflow_reshape(tvms_pass_run *run) {
  tvms_memory *memory = &run->context->memory;
  reshaper state = {.run = run};
  state.verdicts = tvms_memory_alloc(memory, run->module->member_count + 1);
  for (uint32_t i = 0; i < run->module->member_count; i++)
    state.verdicts[i] = UNKNOWN;
  run->state = &state;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = NULL;
  tvms_memory_free(memory, state.verdicts);
}
