// Calls of functions and of PrimFuncs: which arguments fit, and what type a call has.
//
// The signature of a function names dimensions, and the arguments say what they are. Each
// argument is related to the type of its parameter (structinfo/relate.h), which finds values for
// the variables in it; the type of the result gets those values and loses what no argument
// decides. So a call of
//
//   f(x: R.Tensor((n, 4))) -> R.Tensor((n, 8))
//
// with a R.Tensor((m + 1, 4)) is a R.Tensor((m + 1, 8)). An argument that can never fit is an
// error, and so is one whose type says too little, which needs R.match_cast; a dimension that
// cannot be proved equal is left to run time.
//
// R.call_tir states the type of its result. Where its PrimFunc has been read, that is compared
// with what the PrimFunc writes, and the number of its parameters with the arguments, the outputs
// (those that share the buffer of an argument count once) and the scalars behind them. TVM:
// DeriveCallRetType.
#include "structinfo/call.h"

#include "ir/build.h"
#include "ir/clone.h"
#include "structinfo/infer_common.h"
#include "structinfo/make.h"
#include "structinfo/omitted.h"
#include "support/diag_ids.h"

#include <string.h>

static const char *callee_text(const tvms_inference *in) {
  tvms_context *context = in->unit->context;
  const tvms_node *callee = in->call->callee;
  if (callee->kind == TVMS_NODE_GLOBAL_VAR) {
    return tvms_symbol_text(context, tvms_as_global_var(callee)->name);
  }
  if (callee->kind == TVMS_NODE_VAR) {
    return tvms_symbol_text(context, tvms_as_var(callee)->name);
  }
  return tvms_sinfo_describe(in->unit, callee);
}

static tvms_span span_of(const tvms_inference *in, uint32_t i) {
  return in->arg_spans ? in->arg_spans[i] : in->call->head.span;
}

static tvms_node *TVMS_NULLABLE map_lookup(void *map, tvms_node *var) {
  return tvms_sinfo_dim_map_find(map, var);
}

static void report_argument(tvms_inference *in, tvms_span span, uint32_t i,
                            const char *name, tvms_node *param, tvms_sinfo_fit fit,
                            const tvms_node *sinfo) {
  tvms_context *context = in->unit->context;
  tvms_diag *diag = tvms_diag_report(&context->diags, TVMS_D_call_argument, span, i + 1,
                                     name, tvms_sinfo_describe(in->unit, param),
                                     tvms_sinfo_describe(in->unit, sinfo));
  if (fit == TVMS_FIT_WEAK) {
    tvms_diag_remark(&context->diags, diag,
                     "R.match_cast gives a value a type that says more");
  }
}

// Two arguments that stand in each other's place are one mistake: whether an argument would fit the
// parameter that an earlier one did not. The finding of that is told so.
static bool is_swapped(const tvms_inference *in, tvms_node *param, tvms_node *sinfo) {
  if (tvms_sinfo_relate(in->prover, param, sinfo) == TVMS_FIT_NEVER) return false;
  tvms_diags *diags = &in->unit->context->diags;
  if (diags->last && diags->last->id == TVMS_D_call_argument)
    tvms_diag_remark(diags, diags->last, "two arguments stand in each other's place");
  return true;
}

// Fits the arguments to the parameters; fills `map`. Returns false after a report.
static bool fit_arguments(tvms_inference *in, tvms_list params, tvms_dim_map *map) {
  tvms_context *context = in->unit->context;
  tvms_list args = in->call->args;
  bool fine = true;
  uint32_t wrong = UINT32_MAX;  // the last argument that can never fit
  for (uint32_t i = 0; i < args.len; i++) {
    bool conflict;
    tvms_sinfo_learn(in->unit, args.items[i], params.items[i]);
    tvms_node *sinfo = tvms_sinfo_of(in->unit, args.items[i]);
    tvms_sinfo_fit fit =
        tvms_sinfo_relate_argument(in->prover, map, params.items[i], sinfo, &conflict);
    if (fit == TVMS_FIT_WEAK && tvms_sinfo_is_untold(args.items[i])) continue;
    if (fit == TVMS_FIT_NEVER || fit == TVMS_FIT_WEAK) {
      bool swapped = fit == TVMS_FIT_NEVER && wrong < i
                     && is_swapped(in, params.items[wrong], sinfo);
      if (!swapped)
        report_argument(in, span_of(in, i), i, callee_text(in), params.items[i], fit,
                        sinfo);
      if (fit == TVMS_FIT_NEVER) wrong = i;
      fine = false;
    } else if (conflict) {
      tvms_diag_report(&context->diags, TVMS_D_call_conflict, span_of(in, i), i + 1,
                       callee_text(in), tvms_sinfo_describe(in->unit, params.items[i]),
                       tvms_sinfo_describe(in->unit, sinfo));
    }
  }
  return fine;
}

// Whether an external function says more than that it can be called.
static bool has_own_type(const tvms_node *callee) {
  const tvms_node *type = callee->sinfo;
  if (!type || type->kind != TVMS_NODE_SINFO_FUNC) return false;
  const tvms_sinfo_func *func = tvms_as_sinfo_func(type);
  return type->flags & TVMS_FLAG_KNOWN || func->derive.len
         || (func->ret && func->ret->kind != TVMS_NODE_SINFO_OBJECT);
}

// The type of a name: its own, or, if a pass made it, that of the function of the module.
static const tvms_node *TVMS_NULLABLE type_of_callee(const tvms_inference *in) {
  const tvms_node *callee = in->call->callee;
  if (callee->sinfo || callee->kind != TVMS_NODE_GLOBAL_VAR || !in->module)
    return callee->sinfo;
  const tvms_member *member =
      tvms_module_find(in->module, tvms_as_global_var(callee)->name);
  if (!member || !member->function || member->function->kind != TVMS_NODE_FUNCTION)
    return NULL;
  const tvms_function *function = tvms_as_function(member->function);
  tvms_node *type = tvms_sinfo_func_new_of_vars(
      in->unit, function->params, function->ret, function->head.flags & TVMS_FLAG_PURE);
  return tvms_clone_fresh(in->unit,
                          type);  // the function may go before the caller does
}

tvms_node *TVMS_NULLABLE tvms_infer_function_call(tvms_inference *in) {
  tvms_context *context = in->unit->context;
  if (in->call->callee->kind == TVMS_NODE_EXTERN_FUNC
      && !has_own_type(in->call->callee)) {
    tvms_list types = in->call->type_args;
    if (types.len == 0) return tvms_sinfo_object_new(in->unit);
    if (types.len == 1) return types.items[0];
    return tvms_sinfo_tuple_new(in->unit, types.items, types.len);
  }
  const tvms_node *type = type_of_callee(in);
  if (!type || type->kind != TVMS_NODE_SINFO_FUNC) {
    tvms_diag *diag = tvms_diag_report(
        &context->diags, TVMS_D_not_callable, in->call->head.span, callee_text(in),
        type ? tvms_sinfo_describe(in->unit, type) : "unknown type");
    if (type && type->kind == TVMS_NODE_SINFO_TUPLE)
      tvms_diag_remark(&context->diags, diag, "a part of it is %s[0]", callee_text(in));
    return NULL;
  }
  const tvms_sinfo_func *func = tvms_as_sinfo_func(type);
  // TVM has two of these functions, named by release; both are the rule of memory.view.
  const char *view = "infer_view_";
  if (func->derive.len && strstr(func->derive.text, view)) {
    in->op = TVMS_R_memory_view;  // whose name findings give
    return tvms_infer_view(in);
  }
  if (!(type->flags & TVMS_FLAG_KNOWN)) return func->ret;
  if (func->params.len != in->call->args.len) {
    tvms_diag_report(&context->diags, TVMS_D_call_arity, in->call->head.span,
                     callee_text(in), func->params.len,
                     tvms_diag_plural(func->params.len), in->call->args.len);
    return NULL;
  }
  tvms_dim_map map = {{0}};
  bool fine = fit_arguments(in, func->params, &map);
  tvms_node *ret =
      fine ? tvms_sinfo_erase(in->prover, func->ret, map_lookup, &map) : NULL;
  tvms_vec_fini(&context->memory, &map.bindings);
  return ret;
}

// ---- call_tir ----

// The type of a buffer as StructInfo.
static tvms_node *buffer_type(tvms_unit *unit, const tvms_buffer *buffer) {
  tvms_node *shape = tvms_sinfo_shape_value_new(unit, buffer->shape.items,
                                                buffer->shape.len, TVMS_NO_SPAN);
  return tvms_sinfo_tensor_new(unit, shape, buffer->element, NULL);
}

static tvms_node *param_type(tvms_unit *unit, const tvms_prim_func *callee,
                             uint32_t i) {
  const tvms_node *buffer = callee->buffers.items[i];
  if (buffer) return buffer_type(unit, tvms_as_buffer(buffer));
  tvms_node *param = callee->params.items[i];
  if (param->sinfo || tvms_dtype_is_handle(param->dtype))
    return tvms_sinfo_object_new(unit);
  return tvms_sinfo_prim_new(unit, param->dtype, param);
}

// Gives the scalars at the end of the parameters their values from tir_vars.
static void bind_scalars(tvms_prover *prover, tvms_dim_map *map,
                         const tvms_prim_func *callee, uint32_t first,
                         const tvms_node *scalars) {
  if (scalars->kind != TVMS_NODE_SHAPE_EXPR) return;
  tvms_list values = tvms_as_shape_expr(scalars)->values;
  for (uint32_t i = 0; i < values.len && first + i < callee->params.len; i++) {
    tvms_vec_push(
        &prover->unit->context->memory, &map->bindings,
        ((tvms_dim_binding){callee->params.items[first + i], values.items[i]}));
  }
}

tvms_node *TVMS_NULLABLE tvms_infer_prim_func_outputs(
    tvms_prover *prover, const tvms_prim_func *callee, tvms_list args,
    const tvms_node *TVMS_NULLABLE scalars, uint32_t outputs) {
  tvms_unit *unit = prover->unit;
  if (args.len + outputs > callee->params.len) return NULL;
  tvms_dim_map map = {{0}};
  if (scalars) bind_scalars(prover, &map, callee, args.len + outputs, scalars);
  bool fits = true;
  for (uint32_t i = 0; i < args.len && fits; i++) {
    bool conflict;
    tvms_sinfo_fit fit =
        tvms_sinfo_relate_argument(prover, &map, param_type(unit, callee, i),
                                   tvms_sinfo_of(unit, args.items[i]), &conflict);
    fits = fit != TVMS_FIT_NEVER;
  }
  tvms_node *fields[64], *result = NULL;
  bool room = outputs > 0 && outputs <= sizeof fields / sizeof fields[0];
  for (uint32_t i = 0; i < outputs && room && fits; i++) {
    const tvms_node *buffer = callee->buffers.items[args.len + i];
    fits = buffer;
    if (!buffer) break;
    tvms_node *type = buffer_type(unit, tvms_as_buffer(buffer));
    fields[i] = tvms_sinfo_erase(prover, type, map_lookup, &map);
  }
  if (fits && room) {
    result = outputs == 1 ? fields[0] : tvms_sinfo_tuple_new(unit, fields, outputs);
  }
  tvms_vec_fini(&unit->context->memory, &map.bindings);
  return result;
}

const tvms_prim_func *TVMS_NULLABLE
tvms_infer_called_prim_func(const tvms_module *module, const tvms_node *callee) {
  const tvms_member *member =
      module ? tvms_module_function_named(module, callee, TVMS_NODE_PRIM_FUNC) : NULL;
  return member ? tvms_as_prim_func(member->function) : NULL;
}

// The PrimFunc that the first argument of a call_tir names, if it has been read.
static const tvms_prim_func *TVMS_NULLABLE called_prim_func(const tvms_inference *in) {
  return tvms_infer_called_prim_func(in->module, in->call->args.items[0]);
}

// The number of outputs that share the buffer of an argument.
static uint32_t count_in_place(const tvms_call *call) {
  if (tvms_op_called(&call->head) != TVMS_R_call_tir_inplace) return 0;
  const tvms_node *indices = call->attrs.len ? call->attrs.items[0] : NULL;
  if (!indices || indices->kind != TVMS_NODE_OBJECT_ARRAY) return 0;
  tvms_list items = tvms_as_object_array(indices)->items;
  uint32_t count = 0;
  for (uint32_t i = 0; i < items.len; i++) {
    const tvms_node *item = items.items[i];
    count += item->kind == TVMS_NODE_OBJECT_INT && tvms_as_object_int(item)->value >= 0;
  }
  return count;
}

// What the parameters of the PrimFunc say of arguments whose values the text leaves out.
static void learn_arguments(tvms_inference *in, const tvms_prim_func *callee,
                            tvms_node *tuple) {
  uint32_t count = tvms_as_tuple(tuple)->fields.len;
  if (!tvms_sinfo_is_untold(tuple) || count > callee->params.len) return;
  tvms_list types = tvms_list_copy(in->unit, callee->params.items, count);
  for (uint32_t i = 0; i < count; i++)
    types.items[i] = param_type(in->unit, callee, i);
  tvms_sinfo_learn(in->unit, tuple, tvms_sinfo_tuple_new(in->unit, types.items, count));
}

// Where a part of the call is written, if its node says so: of a type or a tuple that stands
// elsewhere too it does not.
static tvms_span place_of(const tvms_inference *in, const tvms_node *part) {
  tvms_span whole = in->call->head.span;
  bool inside = part->span.begin > whole.begin && part->span.end <= whole.end
                && part->span.begin < part->span.end;
  return inside ? part->span : whole;
}

// TVM: DeriveCallRetType of the parameters that the arguments stand for.
static bool check_tir_arguments(tvms_inference *in, const tvms_prim_func *callee,
                                tvms_list args, const char *name) {
  tvms_context *context = in->unit->context;
  tvms_dim_map map = {{0}};
  bool fine = true;
  uint32_t wrong = UINT32_MAX;  // the last argument that can never fit
  for (uint32_t i = 0; i < args.len; i++) {
    bool conflict;
    tvms_node *param = param_type(in->unit, callee, i);
    tvms_node *sinfo = tvms_sinfo_of(in->unit, args.items[i]);
    if (tvms_sinfo_is_untold(args.items[i])) continue;
    tvms_sinfo_fit fit =
        tvms_sinfo_relate_argument(in->prover, &map, param, sinfo, &conflict);
    if (fit != TVMS_FIT_NEVER && fit != TVMS_FIT_WEAK) continue;
    fine = false;
    if (fit == TVMS_FIT_NEVER && wrong < i
        && is_swapped(in, param_type(in->unit, callee, wrong), sinfo))
      continue;
    report_argument(in, in->call->head.span, i, name, param, fit, sinfo);
    if (fit == TVMS_FIT_NEVER) wrong = i;
  }
  tvms_vec_fini(&context->memory, &map.bindings);
  return fine;
}

bool tvms_infer_check_call_tir(tvms_inference *in) {
  const tvms_prim_func *callee = called_prim_func(in);
  if (!callee && in->module && in->call->args.len
      && tvms_module_function_named(in->module, in->call->args.items[0],
                                    TVMS_NODE_FUNCTION)) {
    in->op = tvms_op_called(&in->call->head);
    tvms_in_expects(in, 0, "a PrimFunc of the module");
    return false;
  }
  if (!callee || in->call->args.len < 2 || in->call->type_args.len != 1) return true;
  tvms_node *tuple = in->call->args.items[1];
  if (tuple->kind != TVMS_NODE_TUPLE) return true;
  learn_arguments(in, callee, tuple);
  tvms_list args = tvms_as_tuple(tuple)->fields;
  // What a PrimFunc gets of distributed tensors is decided later.
  for (uint32_t i = 0; i < args.len; i++) {
    if (tvms_sinfo_of(in->unit, args.items[i])->kind == TVMS_NODE_SINFO_DTENSOR)
      return true;
  }
  tvms_node *stated = in->call->type_args.items[0];
  uint32_t outputs = 1;
  if (stated->kind == TVMS_NODE_SINFO_TUPLE) {
    outputs = tvms_as_sinfo_tuple(stated)->fields.len;
  }
  tvms_context *context = in->unit->context;
  const char *name =
      tvms_symbol_text(context, tvms_as_global_var(in->call->args.items[0])->name);
  const tvms_node *scalars = in->call->args.len > 2 ? in->call->args.items[2] : NULL;
  uint32_t extra = 0;
  if (scalars && scalars->kind == TVMS_NODE_SHAPE_EXPR) {
    extra = tvms_as_shape_expr(scalars)->values.len;
  } else if (scalars && scalars->sinfo
             && scalars->sinfo->kind == TVMS_NODE_SINFO_SHAPE) {
    extra = (uint32_t)tvms_as_sinfo_shape(scalars->sinfo)->ndim;
  }
  uint32_t shared = count_in_place(in->call);
  if (args.len + outputs + extra - shared != callee->params.len) {
    tvms_diag_report(&context->diags, TVMS_D_call_tir_arity, place_of(in, tuple), name,
                     callee->params.len, tvms_diag_plural(callee->params.len), args.len,
                     tvms_diag_plural(args.len), outputs - shared,
                     tvms_diag_plural(outputs - shared));
    return false;
  }
  if (!check_tir_arguments(in, callee, args, name)) return false;
  // The types of shared buffers are those of the arguments.
  if (shared) return true;
  tvms_node *written =
      tvms_infer_prim_func_outputs(in->prover, callee, args, scalars, outputs);
  if (!written || tvms_sinfo_relate(in->prover, written, stated) >= TVMS_FIT_RUNTIME)
    return true;
  tvms_diag_report(&context->diags, TVMS_D_call_tir_output, place_of(in, stated), name,
                   tvms_sinfo_describe(in->unit, written),
                   tvms_sinfo_describe(in->unit, stated));
  return false;
}

void tvms_infer_report_impure(const tvms_module *module, const tvms_call *call,
                              tvms_span span, const char *TVMS_NULLABLE function) {
  tvms_diags *diags = &module->context->diags;
  tvms_diag *diag = function
                        ? tvms_diag_report(diags, TVMS_D_impure_call, span, function)
                        : tvms_diag_report(diags, TVMS_D_impure_in_dataflow, span);
  tvms_tir_opcode op = tvms_call_opcode(&call->head);
  if (op != TVMS_TIR_NONE) {
    tvms_diag_remark(diags, diag,
                     "T has operators of numbers; those of tensors are below R");
    return;
  }
  if (!tvms_infer_called_prim_func(module, call->callee)) {
    if (function)
      tvms_diag_remark(diags, diag,
                       "a function with effects is written @R.function(pure=False)");
    return;
  }
  tvms_diag_remark(diags, diag,
                   "a PrimFunc writes into its arguments and returns nothing; "
                   "R.call_tir makes its outputs and returns them");
}
