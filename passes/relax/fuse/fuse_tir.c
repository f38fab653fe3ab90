// FuseTIR: the PrimFuncs that a fused function calls become one PrimFunc.
//
// Before: def fused_add_relu: lv = call_tir(add, …); gv = call_tir(relu, (lv,), …)
// After:  a PrimFunc fused_add_relu with the loops of both, the value between them in a
//         buffer T_add_intermediate; callers use call_tir
//
// As in TVM tuples are handed over field by field first, names that stand for others and
// parameters that nobody uses go, and so does what is dead afterwards: in all of the module.
// Functions with other calls, or whose PrimFuncs have no root block, are refused, or with `optional`
// stay what they are.
// Loops are not merged: that is scheduling. TVM: relax.transform.FuseTIR.
#include "ir/build.h"
#include "ir/object.h"
#include "ir/op.h"
#include "passes/functions.h"
#include "passes/relax/analysis/primitive.h"
#include "passes/relax/fuse/merge_prim_funcs.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/graph/expand_tuple_arguments.h"
#include "passes/relax/graph/remove_unused_parameters.h"
#include "passes/relax/make.h"
#include "passes/remarks.h"
#include "structinfo/definitions.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"
#include "support/trial.h"

// A function that became a PrimFunc.
typedef struct {
  tvms_sym name;
  tvms_list inplace;  // see tvms_fuse_merge_prim_funcs; nodes of its unit
} merged;

typedef struct {
  TVMS_VEC(merged) functions;
} callers;

// The place of the last call in a function, since a function that FuseOps has made stands nowhere in
// the text, and how many calls there are.
static tvms_span last_call(const tvms_function *old, uint32_t *count) {
  tvms_list blocks = tvms_as_seq_expr(old->body)->blocks;
  tvms_span last = old->head.span;
  *count = 0;
  for (uint32_t i = 0; i < blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++) {
      const tvms_node *value = tvms_relax_binding_value(bindings.items[k]);
      if (!value || value->kind != TVMS_NODE_CALL) continue;
      last = value->span;
      (*count)++;
    }
  }
  return last;
}

// Remarks that a function became one PrimFunc.
static void say_merged(const tvms_pass_run *run, tvms_sym name,
                       const tvms_function *old) {
  uint32_t calls;
  tvms_span last = last_call(old, &calls);
  tvms_pass_count(run, "functions merged", 1);
  tvms_pass_count(run, "calls merged", calls);
  tvms_pass_remark(run, TVMS_REMARK_PASSED, TVMS_D_function_merged, last, calls,
                   tvms_diag_plural(calls), tvms_symbol_text(run->context, name));
}

// Puts a PrimFunc in the place of a fused function.
static void merge_member(tvms_pass_run *run, callers *state, uint32_t index) {
  const tvms_member *member = &run->module->members[index];
  merged done = {.name = member->name};
  tvms_unit *unit = tvms_functions_open_unit(run);
  uint32_t calls;
  unit->origin = last_call(tvms_as_function(member->function), &calls);
  tvms_trial trial;
  tvms_trial_begin(&trial, &run->context->diags);
  tvms_node *function =
      tvms_fuse_merge_prim_funcs(run, unit, member->function, &done.inplace);
  if (!function && TVMS_OPTION(run, FuseTIR, optional).number)
    tvms_trial_drop(&trial);
  else
    tvms_trial_keep(&trial);
  if (!function) {
    tvms_functions_drop_unit(run, unit);
    return;
  }
  say_merged(run, member->name, tvms_as_function(member->function));
  tvms_functions_replace(run, index, unit, function);
  tvms_vec_push(&run->context->memory, &state->functions, done);
}

// Sizes in a shape are passed one by one; `scalars` may be `args`.
static void push_argument(tvms_memory *memory, tvms_node_vec *args,
                          tvms_node_vec *scalars, tvms_node *arg) {
  tvms_list sizes;
  if (arg->kind == TVMS_NODE_SHAPE_EXPR) {
    sizes = tvms_as_shape_expr(arg)->values;
  } else if (arg->sinfo && arg->sinfo->kind == TVMS_NODE_SINFO_SHAPE) {
    sizes = tvms_as_sinfo_shape(arg->sinfo)->values;
  } else {
    tvms_vec_push(memory, args, arg);
    return;
  }
  for (uint32_t i = 0; i < sizes.len; i++)
    tvms_vec_push(memory, scalars, sizes.items[i]);
}

// The call with scalars as tir_vars.
static void add_tir_vars(tvms_unit *unit, tvms_node *made, tvms_list scalars) {
  tvms_call *call = tvms_as_call(made);
  tvms_node *shape =
      tvms_sinfo_shape_value_new(unit, scalars.items, scalars.len, made->span);
  tvms_node *args[] = {call->args.items[0], call->args.items[1], shape};
  call->args = tvms_list_copy(unit, args, 3);
}

static tvms_node *make_call(tvms_unit *unit, const merged *callee, tvms_list args,
                            const tvms_node *old) {
  tvms_node *made =
      tvms_relax_make_call_tir(unit, callee->name, args, old->sinfo, old->span);
  if (!callee->inplace.len) return made;
  tvms_call *call = tvms_as_call(made);
  call->callee = tvms_op_operator_new(unit, TVMS_R_call_tir_inplace);
  tvms_list places = tvms_list_copy(unit, callee->inplace.items, callee->inplace.len);
  for (uint32_t i = 0; i < places.len; i++) {
    int64_t place = tvms_as_object_int(places.items[i])->value;
    places.items[i] = tvms_object_int_new(unit, place, old->span);
  }
  tvms_node *attr = tvms_object_array_new(unit, places.items, places.len, old->span);
  call->attrs = tvms_list_copy(unit, &attr, 1);
  return made;
}

static tvms_node *call_merged(tvms_rewriter *rewriter, tvms_node *node) {
  const callers *state = rewriter->self;
  const tvms_call *call = tvms_as_call(node);
  if (call->callee->kind != TVMS_NODE_GLOBAL_VAR) return node;
  tvms_sym name = tvms_as_global_var(call->callee)->name;
  uint32_t at = 0;
  while (at < state->functions.len && state->functions.items[at].name != name)
    at++;
  if (at == state->functions.len) return node;
  tvms_memory *memory = &rewriter->unit->context->memory;
  tvms_node_vec args = {0}, scalars = {0};
  bool apart =
      tvms_release_has(rewriter->unit->dialect, TVMS_FACT_call_tir_has_tir_vars);
  for (uint32_t i = 0; i < call->args.len; i++)
    push_argument(memory, &args, apart ? &scalars : &args, call->args.items[i]);
  tvms_list list = {args.items, args.len};
  tvms_node *made = make_call(rewriter->unit, &state->functions.items[at], list, node);
  if (scalars.len)
    add_tir_vars(rewriter->unit, made, (tvms_list){scalars.items, scalars.len});
  tvms_vec_fini(memory, &args);
  tvms_vec_fini(memory, &scalars);
  return made;
}

static tvms_node *change_caller(tvms_pass_run *run, tvms_unit *unit,
                                tvms_node *function) {
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, run->state);
  rewriter.leave[TVMS_NODE_CALL] = call_merged;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return changed;
}

void tvms_pass_fuse_tir(tvms_pass_run *run) {
  bool checks = TVMS_OPTION(run, FuseTIR, keep_checks).number;
  tvms_relax_expand_tuple_arguments(run, checks);
  tvms_relax_remove_unused_parameters(run);
  callers state = {0};
  for (uint32_t i = 0; i < run->module->member_count; i++) {
    if (tvms_relax_is_primitive(run->module->members[i].function))
      merge_member(run, &state, i);
  }
  run->state = &state;
  if (state.functions.len)
    tvms_functions_change(run, TVMS_NODE_FUNCTION, change_caller);
  tvms_vec_fini(&run->context->memory, &state.functions);
  tvms_dead_code_eliminate(run, "");
}
