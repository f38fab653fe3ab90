// RunCodegen: functions that are marked for a back end are called as what the back end makes of them.
//
// Before: gv = cls.fused_relu_dnnl(x), a function with the attribute Codegen: "dnnl"
// After:  gv = R.call_dps_packed("fused_relu_dnnl", (x,), out_ty=…), and the function is gone
//
// Nothing is compiled: tvms has none of TVM's back ends, so the module gets neither external_mods nor
// the constants of such functions (const_name_to_constant). With keep=true the functions stay, public
// and with their attribute, for whoever makes what the calls name. Without it they go, and so does
// what nothing reaches from the public functions and entry_functions.
// TVM: relax.transform.RunCodegen.
#include "ir/object.h"
#include "ir/op.h"
#include "passes/functions.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/make.h"

typedef struct {
  tvms_pass_run *run;
  bool *called;  // by member
} caller;

static bool is_marked(const tvms_node *TVMS_NULLABLE function) {
  return function && function->kind == TVMS_NODE_FUNCTION
         && tvms_object_map_get(tvms_as_function(function)->attrs, "Codegen");
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  caller *c = r->self;
  const tvms_call *call = tvms_as_call(node);
  const tvms_module *module = c->run->module;
  if (call->callee->kind != TVMS_NODE_GLOBAL_VAR) return node;
  tvms_sym name = tvms_as_global_var(call->callee)->name;
  const tvms_member *member = tvms_module_find(module, name);
  if (!member || !is_marked(member->function)) return node;
  c->called[member - module->members] = true;
  const tvms_node *named =
      tvms_relax_make_packed_call(r->unit, tvms_symbol_text(r->unit->context, name),
                                  NULL, 0, node->sinfo, node->span);
  tvms_node *made =
      tvms_relax_make_call_tir(r->unit, name, call->args, node->sinfo, node->span);
  tvms_as_call(made)->callee = tvms_op_operator_new(r->unit, TVMS_R_call_dps_packed);
  tvms_as_call(made)->args.items[0] = tvms_as_call(named)->callee;
  return made;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  if (is_marked(function)) return function;
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, run->state);
  rewriter.leave[TVMS_NODE_CALL] = leave_call;
  function = tvms_rewrite(&rewriter, function);
  tvms_rewriter_fini(&rewriter);
  return function;
}

void tvms_pass_run_codegen(tvms_pass_run *run) {
  tvms_arena arena;
  tvms_arena_init(&arena, &run->context->memory);
  caller c = {run, tvms_arena_array(&arena, bool, run->module->member_count)};
  run->state = &c;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  run->state = NULL;
  if (!TVMS_OPTION(run, RunCodegen, keep).number) {
    tvms_functions_remove(run, c.called);
    tvms_dead_code_eliminate(run, TVMS_OPTION(run, RunCodegen, entry_functions).text);
  }
  tvms_arena_fini(&arena);
}
