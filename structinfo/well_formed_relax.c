// Well-formedness of Relax. The rules, in the order in which they are met:
//
//   - a function of the module that is used is defined in it
//   - variables and symbolic variables are defined before they are used, and once
//   - variables of a dataflow block are not used outside of it
//   - arguments, fields and conditions are leaves
//   - no `if` and no impure call stands in a dataflow block
//   - a pure function without relax.force_pure makes no impure call; force_pure is pure
//   - a call has the type that its operator or callee gives it, or one that fits
//   - call_tir agrees with the PrimFunc that it calls
#include "structinfo/well_formed_relax.h"

#include "ir/equal.h"
#include "ir/object.h"
#include "ir/op.h"
#include "structinfo/call.h"
#include "structinfo/infer_common.h"
#include "structinfo/intern.h"
#include "structinfo/make.h"
#include "structinfo/normalize.h"
#include "support/diag_ids.h"
#include "support/trial.h"

#include <string.h>

// Where a variable is, by node id.
enum { VAR_UNSEEN, VAR_IN_SCOPE, VAR_ENDED };

typedef struct {
  tvms_module *module;
  tvms_context *context;
  tvms_unit *unit;
  tvms_prover prover;
  uint8_t *vars;        // state by id
  uint32_t limit;       // ids below this
  tvms_node_vec scope;  // variables in scope, innermost last
  bool pure;            // the function may make no impure call
  bool said_impure;     // of the function: one impure call of it was reported
  bool dataflow;
  bool partial;          // bindings are missing, because they could not be read
  const char *function;  // its name
} checker;

static const char *name_of(const checker *check, const tvms_node *var) {
  return tvms_symbol_text(check->context, tvms_as_var(var)->name);
}

static void define(checker *check, const tvms_node *var, tvms_span span) {
  if (var->id >= check->limit) return;
  if (check->vars[var->id] != VAR_UNSEEN && check->partial) return;
  if (check->vars[var->id] != VAR_UNSEEN) {
    tvms_diag_report(&check->context->diags, TVMS_D_var_twice, span,
                     name_of(check, var));
    return;
  }
  check->vars[var->id] = VAR_IN_SCOPE;
  tvms_vec_push(&check->context->memory, &check->scope, (tvms_node *)(uintptr_t)var);
}

static void close_scope(checker *check, uint32_t begin) {
  for (uint32_t i = begin; i < check->scope.len; i++) {
    check->vars[check->scope.items[i]->id] = VAR_ENDED;
  }
  check->scope.len = begin;
}

static void use(checker *check, const tvms_node *var, tvms_span span) {
  if (var->id >= check->limit || check->vars[var->id] == VAR_IN_SCOPE) return;
  if (check->partial || var->flags & TVMS_FLAG_ASSUMED) return;
  tvms_diags *diags = &check->context->diags;
  if (check->vars[var->id] == VAR_ENDED) {
    tvms_diag_report(diags, TVMS_D_var_ended, span, name_of(check, var));
  } else {
    const char *name = name_of(check, var);
    tvms_diag *diag =
        tvms_diag_report(diags, TVMS_D_var_undefined, span, *name ? name : "_");
    if (!*name)
      tvms_diag_remark(
          diags, diag,
          "a symbolic variable is declared by a line of its own, n = T.int64()");
  }
  // One report per variable.
  check->vars[var->id] = VAR_IN_SCOPE;
}

// ---- Types and dimensions ----

static void check_dim(checker *check, const tvms_node *dim, tvms_span span) {
  if (dim->kind == TVMS_NODE_VAR) {
    use(check, dim, span);
    return;
  }
  const tvms_node_schema *schema = tvms_node_schema_of((tvms_node_kind)dim->kind);
  for (uint32_t i = 0; i < schema->field_count; i++) {
    const tvms_field *field = &schema->fields[i];
    const char *place = (const char *)dim + field->offset;
    if (field->type == TVMS_TYPE_NODE) {
      const tvms_node *part = *(tvms_node *const *)(const void *)place;
      if (part) check_dim(check, part, span);
    } else if (field->type == TVMS_TYPE_LIST) {
      const tvms_list *list = (const tvms_list *)(const void *)place;
      for (uint32_t k = 0; k < list->len; k++) {
        check_dim(check, list->items[k], span);
      }
    }
  }
}

// Bare variables of a type that is being defined come into scope.
static void define_dims(checker *check, const tvms_node *sinfo, tvms_span span) {
  tvms_list dims = {NULL, 0};
  if (sinfo->kind == TVMS_NODE_SINFO_TENSOR) {
    if (!tvms_sinfo_tensor_dims(sinfo, &dims)) return;
  } else if (sinfo->kind == TVMS_NODE_SINFO_SHAPE) {
    dims = tvms_as_sinfo_shape(sinfo)->values;
  } else if (sinfo->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_list fields = tvms_as_sinfo_tuple(sinfo)->fields;
    for (uint32_t i = 0; i < fields.len; i++) {
      define_dims(check, fields.items[i], span);
    }
  } else if (sinfo->kind == TVMS_NODE_SINFO_DTENSOR) {
    define_dims(check, tvms_as_sinfo_dtensor(sinfo)->tensor, span);
  }
  for (uint32_t i = 0; i < dims.len; i++) {
    const tvms_node *dim = dims.items[i];
    bool fresh = dim->kind == TVMS_NODE_VAR && dim->id < check->limit
                 && check->vars[dim->id] == VAR_UNSEEN;
    if (fresh) define(check, dim, span);
  }
  if (sinfo->kind == TVMS_NODE_SINFO_PRIM && tvms_as_sinfo_prim(sinfo)->value) {
    const tvms_node *value = tvms_as_sinfo_prim(sinfo)->value;
    bool fresh = value->kind == TVMS_NODE_VAR && value->id < check->limit
                 && check->vars[value->id] == VAR_UNSEEN;
    if (fresh) define(check, value, span);
  }
}

static void check_type(checker *check, const tvms_node *sinfo, tvms_span span) {
  if (tvms_types_is_interned(sinfo)) return;
  tvms_list dims = {NULL, 0};
  switch ((int)sinfo->kind) {
  case TVMS_NODE_SINFO_TENSOR: {
    const tvms_node *shape = tvms_as_sinfo_tensor(sinfo)->shape;
    if (shape && shape->kind == TVMS_NODE_VAR) use(check, shape, span);
    if (!tvms_sinfo_tensor_dims(sinfo, &dims)) return;
    break;
  }
  case TVMS_NODE_SINFO_SHAPE: dims = tvms_as_sinfo_shape(sinfo)->values; break;
  case TVMS_NODE_SINFO_TUPLE: {
    tvms_list fields = tvms_as_sinfo_tuple(sinfo)->fields;
    for (uint32_t i = 0; i < fields.len; i++) {
      check_type(check, fields.items[i], span);
    }
    return;
  }
  case TVMS_NODE_SINFO_PRIM:
    if (tvms_as_sinfo_prim(sinfo)->value) {
      check_dim(check, tvms_as_sinfo_prim(sinfo)->value, span);
    }
    return;
  default: return;
  }
  for (uint32_t i = 0; i < dims.len; i++) {
    check_dim(check, dims.items[i], span);
  }
}

// ---- Values ----

static void check_value(checker *check, const tvms_node *value, tvms_span span);
static void check_seq(checker *check, const tvms_node *seq);
static void check_function(checker *check, const tvms_node *node);

// An argument, field or condition.
static void check_leaf(checker *check, const tvms_node *part, tvms_span span) {
  if (!tvms_relax_is_leaf_or_tuple(part) && tvms_dtype_is_void(part->dtype)) {
    tvms_diag_report(&check->context->diags, TVMS_D_not_a_leaf, span,
                     tvms_node_schema_of((tvms_node_kind)part->kind)->name);
    return;
  }
  check_value(check, part, span);
}

static void check_list(checker *check, tvms_list list, tvms_span span) {
  for (uint32_t i = 0; i < list.len; i++) {
    check_leaf(check, list.items[i], span);
  }
}

// Whether the function has effects, or the call is not what was meant.
static bool is_meant(const checker *check, const tvms_call *call) {
  return tvms_call_opcode(&call->head) == TVMS_TIR_NONE
         && !tvms_infer_called_prim_func(check->module, call->callee);
}

static void check_purity(checker *check, const tvms_call *call, tvms_span span) {
  if (tvms_infer_call_is_pure(check->module, call)) return;
  if (call->callee->kind == TVMS_NODE_GLOBAL_VAR && !call->callee->sinfo) return;
  if (!check->dataflow && !check->pure) return;
  const char *function = check->dataflow ? NULL : check->function;
  if (function && is_meant(check, call)) {
    if (check->said_impure) return;
    check->said_impure = true;
  }
  tvms_infer_report_impure(check->module, call, span, function);
}

// At the callee, if that has a place of its own.
static void report_callee(checker *check, tvms_inference *in) {
  const tvms_node *callee = in->call->args.items[0];
  tvms_span whole = in->call->head.span, own = callee->span;
  in->op = TVMS_R_call_tir;
  if (own.begin > whole.begin && own.end < whole.end) in->arg_spans = &own;
  (void)tvms_in_expects(in, 0, "a PrimFunc of the module");
  in->arg_spans = NULL;
  tvms_diag *last = check->context->diags.last;
  if (!last || callee->kind == TVMS_NODE_VAR) return;
  tvms_diag_remark(
      &check->context->diags, last,
      "a function of the module is cls.name; one that is registered by its name is "
      "called by R.call_dps_packed");
}

static void check_inferred(checker *check, const tvms_node *value, tvms_span span) {
  const tvms_call *call = tvms_as_call(value);
  tvms_inference in = {.prover = &check->prover,
                       .unit = check->unit,
                       .module = check->module,
                       .call = call};
  uint32_t op = tvms_op_called(value);
  if (op == TVMS_R_call_tir || op == TVMS_R_call_tir_inplace
      || op == TVMS_R_call_tir_with_grad) {
    if (op == TVMS_R_call_tir && call->args.len
        && call->args.items[0]->kind != TVMS_NODE_GLOBAL_VAR)
      report_callee(check, &in);
    (void)tvms_infer_check_call_tir(&in);
    return;
  }
  // A call is inferred when it is read; what is wrong with it is said already.
  tvms_trial_mute(&check->context->diags);
  tvms_node *found = tvms_infer_call(&in);
  tvms_trial_unmute(&check->context->diags);
  bool fits =
      !found || !value->sinfo || value->sinfo->kind == TVMS_NODE_SINFO_DTENSOR
      || tvms_sinfo_relate(&check->prover, value->sinfo, found) != TVMS_FIT_NEVER;
  if (fits) return;
  tvms_diag_report(&check->context->diags, TVMS_D_annotation_contradicts, span,
                   tvms_sinfo_describe(check->unit, found),
                   tvms_sinfo_describe(check->unit, value->sinfo));
}

static void check_call(checker *check, const tvms_node *value, tvms_span span) {
  const tvms_call *call = tvms_as_call(value);
  if (value->span.end) span = value->span;
  if (call->callee->kind != TVMS_NODE_OPERATOR) check_leaf(check, call->callee, span);
  check_list(check, call->args, span);
  for (uint32_t i = 0; i < call->type_args.len; i++) {
    check_type(check, call->type_args.items[i], span);
  }
  check_purity(check, call, span);
  check_inferred(check, value, span);
}

static void check_global(checker *check, const tvms_node *var, tvms_span span) {
  tvms_sym name = tvms_as_global_var(var)->name;
  if (check->module->bare || tvms_module_find(check->module, name)) return;
  tvms_diag_report(&check->context->diags, TVMS_D_global_undefined, span,
                   tvms_symbol_text(check->context, name));
}

static void check_if(checker *check, const tvms_node *value, tvms_span span) {
  const tvms_if *branch = tvms_as_if(value);
  if (check->dataflow) {
    tvms_diag_report(&check->context->diags, TVMS_D_if_in_dataflow, span);
  }
  check_leaf(check, branch->condition, span);
  check_seq(check, branch->true_branch);
  check_seq(check, branch->false_branch);
}

static void check_value(checker *check, const tvms_node *value, tvms_span span) {
  if (value->span.end) span = value->span;
  switch ((int)value->kind) {
  case TVMS_NODE_VAR: use(check, value, span); break;
  case TVMS_NODE_GLOBAL_VAR: check_global(check, value, span); break;
  case TVMS_NODE_CALL: check_call(check, value, span); break;
  case TVMS_NODE_TUPLE: check_list(check, tvms_as_tuple(value)->fields, span); break;
  case TVMS_NODE_TUPLE_GET_ITEM:
    check_leaf(check, tvms_as_tuple_get_item(value)->tuple, span);
    break;
  case TVMS_NODE_SHAPE_EXPR: {
    tvms_list dims = tvms_as_shape_expr(value)->values;
    for (uint32_t i = 0; i < dims.len; i++) {
      check_dim(check, dims.items[i], span);
    }
    break;
  }
  case TVMS_NODE_PRIM_VALUE:
    check_dim(check, tvms_as_prim_value(value)->value, span);
    break;
  case TVMS_NODE_IF: check_if(check, value, span); break;
  case TVMS_NODE_FUNCTION: check_function(check, value); break;
  case TVMS_NODE_SEQ_EXPR: check_seq(check, value); break;
  default: break;
  }
}

// ---- Bindings ----

static void check_binding(checker *check, const tvms_node *binding) {
  tvms_span span = binding->span;
  if (binding->kind == TVMS_NODE_MATCH_CAST) {
    const tvms_match_cast *cast = tvms_as_match_cast(binding);
    check_value(check, cast->value, span);
    define_dims(check, cast->type, span);
    check_type(check, cast->type, span);
    define(check, cast->var, span);
    return;
  }
  const tvms_var_binding *bound = tvms_as_var_binding(binding);
  bool local = bound->value->kind == TVMS_NODE_FUNCTION;
  // A local function may call itself.
  if (local) define(check, bound->var, span);
  check_value(check, bound->value, span);
  if (bound->var->sinfo) check_type(check, bound->var->sinfo, span);
  if (!local) define(check, bound->var, span);
}

// Variables of a dataflow block end with it; its outputs do not.
static void end_dataflow(checker *check, uint32_t begin) {
  uint32_t kept = begin;
  for (uint32_t i = begin; i < check->scope.len; i++) {
    tvms_node *var = check->scope.items[i];
    if (var->flags & TVMS_FLAG_DATAFLOW && var->sinfo) {
      check->vars[var->id] = VAR_ENDED;
    } else {
      check->scope.items[kept++] = var;
    }
  }
  check->scope.len = kept;
}

static void check_seq(checker *check, const tvms_node *node) {
  tvms_memory *memory = &check->context->memory;
  if (tvms_memory_enter(memory)) {
    const tvms_seq_expr *seq = tvms_as_seq_expr(node);
    uint32_t scope = check->scope.len;
    bool dataflow = check->dataflow;
    for (uint32_t i = 0; i < seq->blocks.len; i++) {
      const tvms_node *block = seq->blocks.items[i];
      tvms_list bindings = tvms_as_binding_block(block)->bindings;
      uint32_t begin = check->scope.len;
      check->dataflow = block->flags & TVMS_FLAG_DATAFLOW;
      for (uint32_t k = 0; k < bindings.len; k++) {
        check_binding(check, bindings.items[k]);
      }
      if (check->dataflow) end_dataflow(check, begin);
    }
    check->dataflow = false;
    check_leaf(check, seq->body, node->span);
    check->dataflow = dataflow;
    close_scope(check, scope);
  }
  tvms_memory_leave(memory);
}

// ---- Functions ----

static bool forces_pure(const tvms_function *function) {
  const tvms_node *value = tvms_object_map_get(function->attrs, "relax.force_pure");
  int64_t flag;
  return value && tvms_object_as_int(value, &flag) && flag;
}

static void check_function(checker *check, const tvms_node *node) {
  const tvms_function *function = tvms_as_function(node);
  if (!function->body) return;
  bool pure = check->pure, dataflow = check->dataflow, said = check->said_impure;
  const char *outer = check->function;
  uint32_t scope = check->scope.len;
  bool forced = forces_pure(function);
  check->function = tvms_symbol_text(check->context, function->name);
  if (forced && !(node->flags & TVMS_FLAG_PURE)) {
    tvms_diag_report(&check->context->diags, TVMS_D_forced_impure, node->span,
                     check->function);
  }
  check->pure = node->flags & TVMS_FLAG_PURE && !forced;
  check->dataflow = check->said_impure = false;
  for (uint32_t i = 0; i < function->params.len; i++) {
    const tvms_node *param = function->params.items[i];
    if (param->sinfo) define_dims(check, param->sinfo, param->span);
    define(check, param, param->span);
  }
  for (uint32_t i = 0; i < function->params.len; i++) {
    const tvms_node *param = function->params.items[i];
    if (param->sinfo) check_type(check, param->sinfo, param->span);
  }
  check_seq(check, function->body);
  if (function->ret) check_type(check, function->ret, node->span);
  close_scope(check, scope);
  check->pure = pure;
  check->dataflow = dataflow;
  check->said_impure = said;
  check->function = outer;
}

static void check_member(tvms_module *module, const tvms_member *member) {
  tvms_context *context = module->context;
  const tvms_node *function = member->function;
  // A function with mistakes may be declared all the same.
  bool partial = member->partial && member->partial->kind == TVMS_NODE_FUNCTION
                 && !(function && tvms_as_function(function)->body);
  if (partial) function = member->partial;
  if (!function || function->kind != TVMS_NODE_FUNCTION) return;
  if (function->flags & TVMS_FLAG_UNCHECKED) return;
  checker check = {
      .module = module, .context = context, .unit = member->unit, .partial = partial};
  tvms_prover_init(&check.prover, member->unit);
  // Inference makes new nodes; only those of the function are checked.
  check.limit = member->unit->next_id + 1;
  check.vars = tvms_memory_alloc(&context->memory, check.limit);
  check_function(&check, function);
  tvms_memory_free(&context->memory, check.vars);
  tvms_vec_fini(&context->memory, &check.scope);
  tvms_prover_fini(&check.prover);
}

// A part of a rewriter, or NULL after a report.
static const tvms_member *TVMS_NULLABLE part_of_rewriter(const tvms_module *module,
                                                         const char *name) {
  tvms_sym sym = tvms_symbol_intern(module->context, name, strlen(name));
  const tvms_member *member = tvms_module_find(module, sym);
  const tvms_node *function = member ? member->function : NULL;
  if (!member || (function && function->kind != TVMS_NODE_FUNCTION)) {
    tvms_diag_report(&module->context->diags, TVMS_D_rewriter_part,
                     member ? member->name_span : module->name_span, name);
  }
  return member;
}

static void check_same_type(const tvms_member *one, const tvms_member *other) {
  tvms_context *context = one->unit->context;
  const tvms_node *pattern = one->function, *replacement = other->function;
  if (!pattern || !replacement || !pattern->sinfo || !replacement->sinfo) return;
  tvms_equal_options options = {.map_free = true};
  if (tvms_node_equal_with(context, pattern->sinfo, replacement->sinfo, &options))
    return;
  tvms_diag *diag =
      tvms_diag_report(&context->diags, TVMS_D_rewriter_signature, replacement->span,
                       tvms_sinfo_describe(other->unit, replacement->sinfo));
  tvms_diag_note(&context->diags, diag, pattern->span, "the pattern has %s",
                 tvms_sinfo_describe(one->unit, pattern->sinfo));
}

// PatternMatchingRewriter::FromModule of TVM. Types are compared if all else is sound.
static void check_rewriter(const tvms_module *module) {
  tvms_context *context = module->context;
  const tvms_member *pattern = part_of_rewriter(module, "pattern");
  const tvms_member *replacement = part_of_rewriter(module, "replacement");
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    if (member == pattern || member == replacement || !member->function) continue;
    if (member->function->flags & TVMS_FLAG_PRIVATE) continue;
    tvms_diag_report(&context->diags, TVMS_D_rewriter_public, member->name_span,
                     tvms_symbol_text(context, member->name));
  }
  if (context->diags.errors == 0) {
    check_same_type(pattern, replacement);
  }
}

bool tvms_well_formed_check_relax(tvms_module *module) {
  uint32_t errors = module->context->diags.errors;
  if (module->unchecked) return true;
  for (uint32_t i = 0; i < module->member_count; i++) {
    check_member(module, &module->members[i]);
  }
  if (module->rewriter) check_rewriter(module);
  return module->context->diags.errors == errors;
}
