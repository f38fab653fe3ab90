// The table of rules, and the inference of one call.
//
// The column `infer` of ir/ops.def names the rule of each operator: nn.softmax has `softmax`, which
// is tvms_infer_softmax. Rules stand in infer_*.c, by family. A rule returns the type of the call,
// or NULL after a report; what it takes of the scratch arena is given back behind it. A rule knows
// nothing of distributed tensors: structinfo/infer_dist.h is given the rule where there are any.
// Calls of everything that is not an operator are inferred in structinfo/call.c.
#include "structinfo/infer.h"

#include "structinfo/call.h"
#include "structinfo/infer_common.h"
#include "structinfo/infer_dist.h"
#include "structinfo/make.h"
#include "structinfo/omitted.h"
#include "structinfo/purity.h"
#include "support/trial.h"

static tvms_infer_fn *const rules[] = {
#define OP(ident, name, schema, bind, signature, infer, ...)                           \
  [TVMS_R_##ident] = tvms_infer_##infer,
#include "ir/ops.def"
};

bool tvms_infer_is_broadcast(tvms_opcode opcode) {
  tvms_infer_fn *rule = rules[opcode];
  return rule == tvms_infer_arith || rule == tvms_infer_compare
         || rule == tvms_infer_where;
}

static tvms_node *TVMS_NULLABLE infer_operator(tvms_inference *in) {
  tvms_arena *scratch = &in->unit->context->scratch;
  tvms_mark mark = tvms_arena_mark(scratch);
  tvms_infer_fn *rule = rules[in->op];
  tvms_node *result =
      tvms_infer_is_distributed(in) ? tvms_infer_distributed(in, rule) : rule(in);
  tvms_arena_reset(scratch, mark);
  return result;
}

// A rule that the type of a tensor misses is not broken: the result is a value of which nothing
// is known, and annotations say more.
static tvms_node *infer_untold(tvms_inference *in) {
  tvms_trial trial;
  tvms_trial_begin(&trial, &in->unit->context->diags);
  tvms_node *type = infer_operator(in);
  if (type)
    tvms_trial_keep(&trial);
  else
    tvms_trial_drop(&trial);
  return type ? type : tvms_sinfo_object_new(in->unit);
}

static bool has_untold(tvms_list args) {
  for (uint32_t i = 0; i < args.len; i++) {
    if (tvms_sinfo_is_untold(args.items[i])) return true;
  }
  return false;
}

tvms_node *TVMS_NULLABLE tvms_infer_call(tvms_inference *in) {
  in->op = tvms_op_called(&in->call->head);
  if (in->op != TVMS_R_NONE)
    return has_untold(in->call->args) ? infer_untold(in) : infer_operator(in);
  return tvms_infer_function_call(in);
}

// The function itself tells for a name that a pass made, whose type nothing says.
static bool named_is_pure(const tvms_module *TVMS_NULLABLE module,
                          const tvms_node *callee) {
  if (!module || callee->kind != TVMS_NODE_GLOBAL_VAR) return false;
  const tvms_member *member =
      tvms_module_find(module, tvms_as_global_var(callee)->name);
  const tvms_node *function = member ? member->function : NULL;
  return function && function->kind == TVMS_NODE_FUNCTION
         && (function->flags & TVMS_FLAG_PURE);
}

bool tvms_infer_call_is_pure(const tvms_module *module, const tvms_call *call) {
  tvms_opcode op = tvms_op_called(&call->head);
  if (op != TVMS_R_NONE) return tvms_op_of(op)->pure;
  const tvms_prim_func *func = tvms_infer_called_prim_func(module, call->callee);
  if (func) return tvms_purity_of_prim_func(&module->context->memory, func);
  const tvms_node *type = call->callee->sinfo;
  if (!type) return named_is_pure(module, call->callee);
  return type->kind == TVMS_NODE_SINFO_FUNC && (type->flags & TVMS_FLAG_PURE);
}
