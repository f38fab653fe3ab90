// LazyGetInput: a function fetches each weight when it needs it, so that they need not be in memory
// all at once.
//
// Before: def main(x, w: A): y = R.matmul(x, w)                with the attribute num_input 1
// After:  def main(x, fget_param): w_untyped = fget_param(0, R.str("w"))
//                                  w = R.match_cast(w_untyped, A); y = R.matmul(x, w)
//
// The new parameter takes the place of those behind the first num_input, or of all, and num_input
// counts it. A weight is fetched in front of its first use in a block; what is not used is not
// fetched, and what nobody uses in the function goes. The result no longer speaks of sizes that only
// weights told; one that the function uses in front of where they are fetched cannot be known (E0819). Private functions are left alone. TVM: relax.transform.LazyGetInput.
#include "passes/relax/analysis/num_input.h"
#include "passes/relax/analysis/symbols.h"
#include "passes/relax/binder.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/graph/eliminate_common_subexpr.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"
#include "support/vec.h"

#include <stdio.h>
#include <string.h>

typedef struct {
  tvms_relax_binder binder;
  tvms_list params;
  uint32_t inputs;
  tvms_node *fetch;
} fetcher;

static tvms_node *fetch_call(const fetcher *f, tvms_unit *unit, uint32_t index,
                             const char *name) {
  tvms_node *args[] = {tvms_relax_make_int(unit, index),
                       tvms_relax_make_text(unit, name)};
  tvms_node *call =
      tvms_call_new(unit, (tvms_dtype){0}, f->fetch, args, 2, TVMS_NO_SPAN);
  call->sinfo = tvms_sinfo_object_new(unit);
  return call;
}

static tvms_node *TVMS_NULLABLE fetched(tvms_rewriter *r, tvms_node *node) {
  fetcher *f = r->self;
  if (node->kind != TVMS_NODE_VAR) return NULL;
  uint32_t at = f->inputs;
  while (at < f->params.len && f->params.items[at] != node)
    at++;
  if (at == f->params.len) return NULL;
  tvms_context *context = r->unit->context;
  const char *name = tvms_symbol_text(context, tvms_as_var(node)->name);
  tvms_mark mark = tvms_arena_mark(&context->scratch);
  size_t room = strlen(name) + sizeof "_untyped";
  char *untyped = tvms_arena_alloc(&context->scratch, room);
  snprintf(untyped, room, "%s_untyped", name);
  tvms_node *call = fetch_call(f, r->unit, at - f->inputs, name);
  tvms_node *value = tvms_relax_binder_bind(r, call, untyped);
  tvms_arena_reset(&context->scratch, mark);
  tvms_node *made = tvms_relax_binder_cast(r, value, node->sinfo, name);
  made->dtype = node->dtype;
  return made;
}

static tvms_list with_fetch(tvms_unit *unit, tvms_list inputs, tvms_node *fetch) {
  tvms_list made = {tvms_arena_array(&unit->arena, tvms_node *, inputs.len + 1),
                    inputs.len + 1};
  if (inputs.len) memcpy(made.items, inputs.items, inputs.len * sizeof(tvms_node *));
  made.items[inputs.len] = fetch;
  return made;
}

// A size that only a weight tells is known behind where that is fetched. False after a report.
static bool has_sizes(const tvms_pass_run *run, tvms_node *node) {
  const tvms_function *function = tvms_as_function(node);
  tvms_memory *memory = &run->context->memory;
  tvms_node_map defined;
  tvms_node_vec lacking = {0};
  tvms_node_map_init(&defined, memory);
  for (uint32_t i = 0; i < function->params.len; i++)
    tvms_relax_symbols_of_type(&defined, function->params.items[i]->sinfo);
  tvms_relax_symbols_free(memory, function->body, &defined, &lacking);
  for (uint32_t i = 0; i < lacking.len; i++)
    tvms_diag_report(
        &run->context->diags, TVMS_D_size_not_passed, node->span,
        tvms_symbol_text(run->context, tvms_as_var(lacking.items[i])->name),
        tvms_symbol_text(run->context, function->name));
  bool none = lacking.len == 0;
  tvms_vec_fini(memory, &lacking);
  tvms_node_map_fini(&defined);
  return none;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *node) {
  if (node->flags & TVMS_FLAG_PRIVATE) return node;
  int64_t inputs = tvms_relax_num_input_checked(run->context, node);
  if (inputs == -2) return node;
  tvms_node *copy = tvms_node_copy(unit, node);
  tvms_function *function = tvms_as_function(copy);
  fetcher f = {.params = function->params, .inputs = inputs < 0 ? 0 : (uint32_t)inputs};
  f.fetch =
      tvms_relax_make_callback(unit, "fget_param", tvms_sinfo_object_new(unit), true);
  tvms_relax_binder_init(&f.binder, run, fetched);
  tvms_relax_binder_enter(&f.binder, unit);
  tvms_list inputs_only = {f.params.items, f.inputs};
  function->params = with_fetch(unit, inputs_only, f.fetch);
  function->ret = tvms_relax_type_told(unit, inputs_only, function->ret);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &f);
  tvms_relax_binder_install(&rewriter);
  function->body = tvms_rewrite(&rewriter, function->body);
  tvms_rewriter_fini(&rewriter);
  tvms_relax_binder_fini(&f.binder);
  tvms_relax_set_num_input(unit, copy, f.inputs + 1);
  copy->sinfo = NULL;
  copy = tvms_relax_share_values(run, unit, copy, false);
  copy = tvms_dead_code_clean(run, unit, copy);
  return has_sizes(run, copy) ? copy : node;
}

void tvms_pass_lazy_get_input(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
