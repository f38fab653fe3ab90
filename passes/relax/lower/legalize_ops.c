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
#include "passes/functions.h"
#include "passes/relax/make.h"
#include "passes/relax/retype.h"
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

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  legalizer state = {.run = run};
  state.skip = TVMS_OPTION(run, LegalizeOps, skip_ops).text;
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &state);
  tvms_relax_retype(&rewriter);
  rewriter.leave[TVMS_NODE_CALL] = legalize;
  tvms_node *changed = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return changed;
}

void tvms_pass_legalize_ops(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
