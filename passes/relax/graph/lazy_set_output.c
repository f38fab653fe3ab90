// LazySetOutput: a function hands each result over as soon as it has it, so that weights which
// are transformed need not be in memory all at once.
//
// Before: def f(a, b): c = R.add(a, b); d = R.exp(c); return (d, c)
// After:  def f(a, b, fset_output): c = R.add(a, b); fset_output(1, c); d = R.exp(c)
//         fset_output(0, d); return ()
//
// The new parameter follows the first `num_input` ones (an attribute of the function), or all.
// Private functions are left alone. TVM: relax.transform.LazySetOutput.
#include "passes/functions.h"
#include "passes/relax/analysis/num_input.h"
#include "passes/relax/binder.h"
#include "passes/relax/make.h"
#include "structinfo/definitions.h"
#include "structinfo/make.h"

// The list with `node` at this place.
static tvms_list inserted(tvms_unit *unit, tvms_list list, uint32_t at,
                          tvms_node *node) {
  tvms_memory *memory = &unit->context->memory;
  tvms_node_vec items = {0};
  for (uint32_t i = 0; i <= list.len; i++) {
    if (i == at) tvms_vec_push(memory, &items, node);
    if (i < list.len) tvms_vec_push(memory, &items, list.items[i]);
  }
  list = tvms_list_copy(unit, items.items, items.len);
  tvms_vec_fini(memory, &items);
  return list;
}

// ---- Results ----

typedef struct {
  tvms_relax_emitter emitter;
  tvms_unit *unit;
  tvms_list results;
  tvms_node *set;
} setter;

static tvms_node *set_call(setter *s, uint32_t index) {
  tvms_node *args[] = {tvms_relax_make_int(s->unit, index), s->results.items[index]};
  tvms_node *call =
      tvms_call_new(s->unit, (tvms_dtype){0}, s->set, args, 2, TVMS_NO_SPAN);
  call->sinfo = tvms_sinfo_tuple_new(s->unit, NULL, 0);
  return call;
}

static tvms_node *TVMS_NULLABLE set_behind(tvms_rewriter *r, tvms_node *binding) {
  setter *s = r->self;
  const tvms_node *var = tvms_relax_binding_var(binding);
  bool emitted = false;
  for (uint32_t i = 0; i < s->results.len; i++) {
    if (s->results.items[i] != var) continue;
    if (!emitted) tvms_rewrite_emit(r, binding);
    emitted = true;
    tvms_relax_emit(&s->emitter, r, set_call(s, i), "_void");
  }
  return emitted ? NULL : binding;
}

// Parameters that are results are handed over first, what has no name last.
static tvms_list with_ends(setter *s, const tvms_function *function, tvms_list blocks) {
  tvms_memory *memory = &s->unit->context->memory;
  tvms_node_vec first = {0}, last = {0};
  for (uint32_t i = 0; i < function->params.len; i++) {
    for (uint32_t j = 0; j < s->results.len; j++) {
      if (s->results.items[j] != function->params.items[i]) continue;
      tvms_node *set = tvms_relax_bind(&s->emitter, set_call(s, j), "_void", false);
      tvms_vec_push(memory, &first, set);
    }
  }
  for (uint32_t j = 0; j < s->results.len; j++) {
    if (s->results.items[j]->kind == TVMS_NODE_VAR) continue;
    tvms_node *set = tvms_relax_bind(&s->emitter, set_call(s, j), "_void", false);
    tvms_vec_push(memory, &last, set);
  }
  tvms_list list = tvms_relax_binder_surround(s->unit, &first, blocks, &last);
  tvms_vec_fini(memory, &first);
  tvms_vec_fini(memory, &last);
  return list;
}

static tvms_node *set_outputs(tvms_pass_run *run, tvms_unit *unit, tvms_node *node) {
  (void)run;
  if (node->flags & TVMS_FLAG_PRIVATE) return node;
  tvms_node *copy = tvms_node_copy(unit, node);
  tvms_function *function = tvms_as_function(copy);
  tvms_seq_expr *body = tvms_as_seq_expr(tvms_node_copy(unit, function->body));
  tvms_node *nothing = tvms_sinfo_tuple_new(unit, NULL, 0);
  setter s = {.unit = unit, .results = {&body->body, 1}};
  if (body->body->kind == TVMS_NODE_TUPLE)
    s.results = tvms_as_tuple(body->body)->fields;
  s.results = tvms_list_copy(unit, s.results.items, s.results.len);
  s.set = tvms_relax_make_callback(unit, "fset_output", nothing, false);
  tvms_relax_emitter_init(&s.emitter, unit);
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &s);
  rewriter.leave[TVMS_NODE_VAR_BINDING] = set_behind;
  rewriter.leave[TVMS_NODE_MATCH_CAST] = set_behind;
  body->blocks = with_ends(&s, function, tvms_rewrite_list(&rewriter, body->blocks));
  tvms_rewriter_fini(&rewriter);
  tvms_relax_emitter_fini(&s.emitter);
  tvms_tuple *empty = tvms_node_make(unit, TUPLE, TVMS_NO_SPAN);
  empty->head.sinfo = body->head.sinfo = nothing;
  body->body = &empty->head;
  int64_t inputs = tvms_relax_num_input(node);
  uint32_t place = inputs < 0 ? function->params.len : (uint32_t)inputs;
  function->params = inserted(unit, function->params, place, s.set);
  function->body = &body->head;
  function->ret = nothing;
  function->head.flags &= (uint8_t)~TVMS_FLAG_PURE;
  function->head.sinfo = NULL;
  if (inputs >= 0) tvms_relax_set_num_input(unit, copy, inputs + 1);
  return copy;
}

void tvms_pass_lazy_set_output(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, set_outputs);
}
