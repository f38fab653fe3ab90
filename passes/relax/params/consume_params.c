// A weight that was taken from the tuple is reset there, so that its memory is free after its last
// use, and not only when the function returns.
#include "passes/relax/params/consume_params.h"

#include "passes/functions.h"
#include "passes/relax/analysis/num_input.h"
#include "passes/relax/emit.h"
#include "passes/relax/make.h"
#include "structinfo/make.h"
#include "support/diag_ids.h"

#include <string.h>

typedef struct {
  tvms_relax_emitter emitter;
  const tvms_node *tuple;  // of weights
  tvms_node **taken;       // by place: the variable that took the weight first
} consumer;

static tvms_node *reset_call(tvms_unit *unit, const tvms_node *tuple, int64_t index) {
  tvms_node *nothing = tvms_sinfo_tuple_new(unit, NULL, 0);
  tvms_node *args[] = {NULL, (tvms_node *)(uintptr_t)tuple,
                       tvms_relax_make_int(unit, index)};
  tvms_node *plain = tvms_relax_make_packed_call(unit, "vm.builtin.tuple_reset_item",
                                                 args + 1, 2, nothing, TVMS_NO_SPAN);
  args[0] = tvms_as_call(plain)->callee;
  tvms_node *op = tvms_op_operator_new(unit, TVMS_R_call_pure_packed);
  tvms_node *call = tvms_call_new(unit, (tvms_dtype){0}, op, args, 3, TVMS_NO_SPAN);
  tvms_as_call(call)->type_args = tvms_list_copy(unit, &nothing, 1);
  call->sinfo = nothing;
  return call;
}

static tvms_node *TVMS_NULLABLE take(tvms_rewriter *r, tvms_node *node) {
  consumer *c = r->self;
  const tvms_var_binding *binding = tvms_as_var_binding(node);
  if (binding->value->kind != TVMS_NODE_TUPLE_GET_ITEM) return node;
  const tvms_tuple_get_item *item = tvms_as_tuple_get_item(binding->value);
  if (item->tuple != c->tuple) return node;
  tvms_node **first = &c->taken[item->index];
  if (*first) {
    tvms_node *copy = tvms_node_copy(r->unit, node);
    tvms_as_var_binding(copy)->value = *first;
    return copy;
  }
  *first = binding->var;
  tvms_rewrite_emit(r, node);
  tvms_node *reset = reset_call(r->unit, c->tuple, item->index);
  tvms_relax_emit(&c->emitter, r, reset, "_");
  return NULL;
}

static bool transforms(const tvms_context *context, const tvms_node *function) {
  static const char ending[] = "transform_params";
  const char *name = tvms_symbol_text(context, tvms_as_function(function)->name);
  size_t len = strlen(name), tail = sizeof ending - 1;
  return len >= tail && strcmp(name + len - tail, ending) == 0;
}

static tvms_node *release(tvms_pass_run *run, tvms_unit *unit, tvms_node *node) {
  tvms_list params = tvms_as_function(node)->params;
  int64_t inputs = tvms_relax_num_input(node);
  bool bundled = inputs >= 0 && params.len == inputs + 1
                 && params.items[inputs]->sinfo->kind == TVMS_NODE_SINFO_TUPLE;
  if (!bundled) {
    tvms_diag_report(&run->context->diags, TVMS_D_cannot_lift, node->span,
                     tvms_symbol_text(run->context, tvms_as_function(node)->name),
                     "its weights are no tuple, from which they can be released");
    return node;
  }
  consumer c = {.tuple = params.items[inputs]};
  c.taken = tvms_arena_array(&unit->arena, tvms_node *,
                             tvms_as_sinfo_tuple(c.tuple->sinfo)->fields.len);
  tvms_relax_emitter_init(&c.emitter, unit);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &c);
  rewriter.leave[TVMS_NODE_VAR_BINDING] = take;
  node = tvms_rewrite(&rewriter, node);
  tvms_rewriter_fini(&rewriter);
  tvms_relax_emitter_fini(&c.emitter);
  return node;
}

static tvms_node *publish(tvms_pass_run *run, tvms_unit *unit, tvms_node *node) {
  if (!transforms(run->context, node)) return node;
  if (*(const bool *)run->state) node = release(run, unit, node);
  if (!(node->flags & TVMS_FLAG_PRIVATE)) return node;
  node = tvms_node_copy(unit, node);
  node->flags &= (uint8_t)~TVMS_FLAG_PRIVATE;
  return node;
}

void tvms_relax_consume_params(tvms_pass_run *run, bool consume) {
  run->state = &consume;
  tvms_functions_change(run, TVMS_NODE_FUNCTION, publish);
  run->state = NULL;
}
