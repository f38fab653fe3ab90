// The table of rules, and the inference of one call.
#include "structinfo/infer.h"

#include "structinfo/call.h"
#include "structinfo/infer_common.h"
#include "structinfo/infer_dist.h"
#include "structinfo/purity.h"

static tvms_infer_fn *const rules[] = {
#define OP(ident, name, schema, bind, signature, infer, ...)                           \
  [TVMS_R_##ident] = tvms_infer_##infer,
#include "ir/ops.def"
};

static tvms_node *TVMS_NULLABLE infer_operator(tvms_inference *in) {
  tvms_arena *scratch = &in->unit->context->scratch;
  tvms_mark mark = tvms_arena_mark(scratch);
  tvms_infer_fn *rule = rules[in->op];
  tvms_node *result =
      tvms_infer_is_distributed(in) ? tvms_infer_distributed(in, rule) : rule(in);
  tvms_arena_reset(scratch, mark);
  return result;
}

tvms_node *TVMS_NULLABLE tvms_infer_call(tvms_inference *in) {
  in->op = tvms_op_called(&in->call->head);
  if (in->op != TVMS_R_NONE) return infer_operator(in);
  return tvms_infer_function_call(in);
}

bool tvms_infer_call_is_pure(const tvms_module *module, const tvms_call *call) {
  tvms_opcode op = tvms_op_called(&call->head);
  if (op != TVMS_R_NONE) return tvms_op_of(op)->pure;
  const tvms_prim_func *func = tvms_infer_called_prim_func(module, call->callee);
  if (func) return tvms_purity_of_prim_func(&module->context->memory, func);
  const tvms_node *type = call->callee->sinfo;
  return type && type->kind == TVMS_NODE_SINFO_FUNC && (type->flags & TVMS_FLAG_PURE);
}
