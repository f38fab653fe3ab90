// LegalizeOps: operators become calls of PrimFuncs that compute them.
//
// Before: lv = R.nn.relu(x)
// After:  lv = R.call_tir(cls.relu, (x,), out_ty=R.Tensor((n,), "float32")), and a private
//         PrimFunc relu in the module
//
// What an operator computes stands in te/. Equal PrimFuncs are made once. Calls with
// unknown shapes and operators without a description stay as they are.
// TVM: relax.transform.LegalizeOps.
#include "ir/build.h"
#include "ir/equal.h"
#include "passes/functions.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"
#include "structinfo/sinfo.h"
#include "te/legalize.h"

#include <string.h>

typedef struct {
  tvms_pass_run *run;
  const char *skip;  // names of operators, ';' between them
} legalizer;

static tvms_node *call_tir(tvms_unit *unit, const tvms_call *call, tvms_sym name,
                           const tvms_legalized *legalized) {
  tvms_node *type = legalized->types.items[0];
  if (call->head.sinfo->kind == TVMS_NODE_SINFO_TUPLE) {
    type = tvms_sinfo_tuple_new(unit, legalized->types.items, legalized->types.len);
  }
  return tvms_relax_make_call_tir(unit, name, legalized->args, type, call->head.span);
}

static bool is_skipped(const legalizer *state, const char *name) {
  size_t len = strlen(name);
  for (const char *at = state->skip; (at = strstr(at, name)); at += len) {
    bool begins = at == state->skip || at[-1] == ';' || at[-1] == '.';
    if (begins && (at[len] == '\0' || at[len] == ';')) return true;
  }
  return false;
}

static bool stays_silently(tvms_opcode opcode) {
  return opcode == TVMS_R_call_tir || opcode == TVMS_R_call_dps_packed
         || opcode == TVMS_R_call_pure_packed;
}

static tvms_node *legalize(tvms_rewriter *rewriter, tvms_node *node) {
  legalizer *state = rewriter->self;
  tvms_opcode opcode = tvms_op_called(node);
  if (opcode == TVMS_R_NONE || stays_silently(opcode)) return node;
  if (is_skipped(state, tvms_op_of(opcode)->name)) return node;
  tvms_unit *unit = tvms_functions_open_unit(state->run);
  tvms_legalized legalized = {0};
  const tvms_call *call = tvms_as_call(node);
  if (!tvms_legalize_call(unit, rewriter->unit, call, &legalized)) {
    tvms_functions_drop_unit(state->run, unit);
    return node;
  }
  tvms_sym name =
      tvms_functions_add_unique(state->run, legalized.name, unit, legalized.function);
  return call_tir(rewriter->unit, call, name, &legalized);
}

// A variable has the type of its new value, which may be written differently.
static tvms_node *retype_binding(tvms_rewriter *rewriter, tvms_node *node) {
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  tvms_node *type = binding->value->sinfo, *old = binding->var->sinfo;
  if (!type || !old || type == old) return node;
  if (tvms_node_equal(rewriter->unit->context, type, old)) return node;
  tvms_node *var = tvms_node_copy(rewriter->unit, binding->var);
  var->sinfo = type;
  tvms_node_map_put(&rewriter->known, binding->var, var);
  tvms_node *copy = tvms_node_copy(rewriter->unit, node);
  tvms_as_var_binding(copy)->var = var;
  return copy;
}

static tvms_node *retype_tuple(tvms_rewriter *rewriter, tvms_node *node) {
  tvms_list fields = tvms_as_tuple(node)->fields;
  tvms_list types = tvms_list_copy(rewriter->unit, fields.items, fields.len);
  for (uint32_t i = 0; i < fields.len; i++) {
    types.items[i] = fields.items[i]->sinfo;
    if (!types.items[i]) return node;
  }
  tvms_node *type = tvms_sinfo_tuple_new(rewriter->unit, types.items, types.len);
  if (node->sinfo && tvms_node_equal(rewriter->unit->context, type, node->sinfo)) {
    return node;
  }
  tvms_node *copy = tvms_node_copy(rewriter->unit, node);
  copy->sinfo = type;
  return copy;
}

// The type of the result follows that of the body.
static tvms_node *retype_function(tvms_rewriter *rewriter, tvms_node *node) {
  const tvms_function *function = tvms_as_function(node);
  const tvms_node *body = tvms_as_seq_expr(function->body)->body;
  tvms_context *context = rewriter->unit->context;
  if (!body->sinfo || tvms_node_equal(context, body->sinfo, function->ret)) return node;
  if (tvms_node_equal(context, function->body->sinfo, body->sinfo)) return node;
  tvms_node *copy = tvms_node_copy(rewriter->unit, node);
  tvms_as_function(copy)->ret = body->sinfo;
  return copy;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  legalizer state = {.run = run};
  state.skip = TVMS_OPTION(run, LegalizeOps, skip_ops).text;
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &state);
  rewriter.leave[TVMS_NODE_CALL] = legalize;
  rewriter.leave[TVMS_NODE_VAR_BINDING] = retype_binding;
  rewriter.leave[TVMS_NODE_TUPLE] = retype_tuple;
  rewriter.leave[TVMS_NODE_FUNCTION] = retype_function;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return changed;
}

void tvms_pass_legalize_ops(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
