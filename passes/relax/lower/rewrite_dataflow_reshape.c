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

typedef enum { UNKNOWN = 0, RESHAPES, COMPUTES } verdict;

// The first two of a function's buffers that its body uses; UINT32_MAX: none.
typedef struct {
  uint32_t first, second;
  bool known;
} used_buffers;

typedef struct {
  tvms_pass_run *run;
  uint8_t *verdicts;  // of members of the module
  used_buffers *used;
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

typedef struct {
  tvms_list buffers;
  used_buffers *used;
} use_search;

static tvms_walk_step note_use(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  use_search *search = self;
  if (node->kind != TVMS_NODE_BUFFER) return TVMS_WALK_ON;
  used_buffers *used = search->used;
  uint32_t i = 0;
  while (i < search->buffers.len && search->buffers.items[i] != node)
    i++;
  if (i == search->buffers.len || i == used->first || i == used->second)
    return TVMS_WALK_ON;
  if (i > used->first) {
    used->second = i < used->second ? i : used->second;
  } else {
    used->second = used->first;
    used->first = i;
  }
  return TVMS_WALK_ON;
}

static const used_buffers *used_of(reshaper *state, const tvms_member *member) {
  used_buffers *used = &state->used[member - state->run->module->members];
  if (used->known) return used;
  const tvms_prim_func *callee = tvms_as_prim_func(member->function);
  *used = (used_buffers){.known = true, .first = UINT32_MAX, .second = UINT32_MAX};
  use_search search = {callee->buffers, used};
  tvms_visitor visitor = {.self = &search, .enter = note_use};
  tvms_walk(&state->run->context->memory, callee->body, &visitor);
  return used;
}

// The only argument that the function looks at: fusion leaves some that it does not.
static tvms_node *TVMS_NULLABLE used_argument(reshaper *state,
                                              const tvms_member *callee,
                                              tvms_list args) {
  const used_buffers *used = used_of(state, callee);
  return used->first < args.len && used->second >= args.len ? args.items[used->first]
                                                            : NULL;
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
  tvms_node *arg = used_argument(state, member, tvms_as_tuple(tuple)->fields);
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
  state.used =
      tvms_memory_alloc(memory, (run->module->member_count + 1) * sizeof *state.used);
  run->state = &state;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = NULL;
  tvms_memory_free(memory, state.used);
  tvms_memory_free(memory, state.verdicts);
}
