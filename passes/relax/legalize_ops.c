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
#include "passes/relax/bindings.h"
#include "te/legalize.h"

#include <string.h>

typedef struct {
  tvms_pass_run *run;
  const char *skip;  // names of operators, ';' between them
} legalizer;

static tvms_node *tuple_of(tvms_unit *unit, tvms_list fields, tvms_span span) {
  tvms_tuple *tuple = tvms_make(unit, TUPLE, span);
  tvms_sinfo_tuple *type = tvms_make(unit, SINFO_TUPLE, TVMS_NO_SPAN);
  tuple->fields = fields;
  type->fields = tvms_list_copy(unit, fields.items, fields.len);
  for (uint32_t i = 0; i < fields.len; i++) {
    type->fields.items[i] = fields.items[i]->sinfo;
  }
  tuple->head.sinfo = &type->head;
  return &tuple->head;
}

// Variables of TIR are wrapped to stand among the values of Relax.
static void wrap_scalars(tvms_unit *unit, tvms_list args) {
  for (uint32_t i = 0; i < args.len; i++) {
    tvms_node *arg = args.items[i];
    if (tvms_dtype_is_void(arg->dtype) || arg->sinfo) continue;
    tvms_sinfo_prim *type = tvms_make(unit, SINFO_PRIM, TVMS_NO_SPAN);
    type->head.dtype = arg->dtype;
    type->value = arg;
    tvms_prim_value *prim = tvms_make(unit, PRIM_VALUE, arg->span);
    prim->value = arg;
    prim->head.sinfo = &type->head;
    args.items[i] = &prim->head;
  }
}

static tvms_node *call_tir(tvms_unit *unit, const tvms_call *call, tvms_sym name,
                           const tvms_legalized *legalized) {
  tvms_global_var *callee = tvms_make(unit, GLOBAL_VAR, call->head.span);
  callee->name = name;
  wrap_scalars(unit, legalized->args);
  tvms_node *args[] = {&callee->head, tuple_of(unit, legalized->args, call->head.span)};
  tvms_node *op = tvms_relax_operator(unit, TVMS_R_call_tir);
  tvms_node *made = tvms_call_raw(unit, (tvms_dtype){0}, op, args, 2, call->head.span);
  tvms_node *type = legalized->types.items[0];
  if (call->head.sinfo->kind == TVMS_NODE_SINFO_TUPLE) {
    tvms_sinfo_tuple *tuple = tvms_make(unit, SINFO_TUPLE, TVMS_NO_SPAN);
    tuple->fields = legalized->types;
    type = &tuple->head;
  }
  tvms_as_call(made)->type_args = tvms_list_copy(unit, &type, 1);
  made->sinfo = type;
  return made;
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
  tvms_binder *binder = rewriter->self;
  legalizer *state = binder->self;
  tvms_opcode opcode = tvms_called_relax_op(node);
  if (opcode == TVMS_R_NONE || stays_silently(opcode)) return node;
  if (is_skipped(state, tvms_op_of(opcode)->name)) return node;
  tvms_unit *unit = tvms_open_unit(state->run);
  tvms_legalized legalized = {0};
  const tvms_call *call = tvms_as_call(node);
  if (!tvms_legalize_call(unit, binder->unit, call, &legalized)) {
    tvms_drop_unit(state->run, unit);
    return node;
  }
  tvms_sym name = tvms_add_unique(state->run, legalized.name, unit, legalized.function);
  return call_tir(binder->unit, call, name, &legalized);
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  legalizer state = {.run = run};
  state.skip = TVMS_OPTION(run, LegalizeOps, skip_ops).text;
  tvms_binder binder;
  tvms_binder_init(&binder, unit, &state);
  binder.rewriter.leave[TVMS_NODE_CALL] = legalize;
  tvms_node *changed = tvms_rewrite(&binder.rewriter, function);
  tvms_binder_fini(&binder);
  return changed;
}

void tvms_pass_legalize_ops(tvms_pass_run *run) {
  tvms_change_functions(run, TVMS_NODE_FUNCTION, change);
}
