// AttachAttrLayoutFreeBuffers: PrimFuncs say which of their parameters are weights, whose layout may
// be chosen.
//
// Before: def main(x, w): y = R.call_tir(cls.f, (x, w), …)     with the attribute num_input 1
// After:  y = R.call_tir(cls.f1, (x, w), …), and f1 has T.func_attr({"layout_free_buffers": [1]})
//
// Weights are the parameters behind the first num_input, and constants. Every call_tir gets a
// PrimFunc of its own that says it, or shares one that is the same; PrimFuncs that nothing calls any
// more go, and so does other dead code. TVM: relax.transform.AttachAttrLayoutFreeBuffers.
#include "ir/clone.h"
#include "ir/object.h"
#include "ir/op.h"
#include "passes/functions.h"
#include "passes/relax/analysis/num_input.h"
#include "passes/relax/graph/dead_code_elimination.h"
#include "passes/relax/make.h"

typedef struct {
  tvms_pass_run *run;
  tvms_list weights;
  bool constants_only;
} attacher;

static bool is_free(const attacher *a, const tvms_node *arg) {
  bool found = arg->kind == TVMS_NODE_CONSTANT;
  for (uint32_t i = 0; i < a->weights.len && !found; i++)
    found = a->weights.items[i] == arg;
  return found;
}

static bool has_free(const attacher *a, tvms_list args) {
  bool found = false;
  for (uint32_t i = 0; i < args.len && !found; i++)
    found = is_free(a, args.items[i]);
  return found;
}

// The places of the weights among the arguments.
static tvms_node *free_places(const attacher *a, tvms_unit *unit, tvms_list args) {
  tvms_memory *memory = &unit->context->memory;
  tvms_node_vec places = {0};
  for (uint32_t i = 0; i < args.len; i++) {
    if (is_free(a, args.items[i]))
      tvms_vec_push(memory, &places, tvms_object_int_new(unit, i, TVMS_NO_SPAN));
  }
  tvms_node *made = tvms_object_array_new(unit, places.items, places.len, TVMS_NO_SPAN);
  tvms_vec_fini(memory, &places);
  return made;
}

static tvms_node *attach(tvms_rewriter *r, tvms_node *node) {
  attacher *a = r->self;
  const tvms_call *call = tvms_as_call(node);
  bool taken = tvms_op_called(node) == TVMS_R_call_tir
               && call->args.items[0]->kind == TVMS_NODE_GLOBAL_VAR
               && call->args.items[1]->kind == TVMS_NODE_TUPLE;
  if (!taken) return node;
  tvms_sym name = tvms_as_global_var(call->args.items[0])->name;
  const tvms_member *member = tvms_module_find(a->run->module, name);
  if (!member || !member->function || member->function->kind != TVMS_NODE_PRIM_FUNC)
    return node;
  tvms_list args = tvms_as_tuple(call->args.items[1])->fields;
  if (a->constants_only && !has_free(a, args)) return node;
  tvms_unit *unit = tvms_functions_open_unit(a->run);
  tvms_node *function = tvms_clone(unit, member->function, NULL);
  tvms_prim_func *made = tvms_as_prim_func(function);
  made->attrs = tvms_object_map_with(unit, made->attrs, "layout_free_buffers",
                                     free_places(a, unit, args));
  const char *text = tvms_symbol_text(r->unit->context, name);
  tvms_sym given = tvms_functions_add_unique(a->run, text, unit, function);
  tvms_node *copy = node == r->old ? tvms_node_copy(r->unit, node) : node;
  tvms_list items = tvms_list_copy(r->unit, call->args.items, call->args.len);
  items.items[0] = tvms_relax_make_global_var(r->unit, given);
  tvms_as_call(copy)->args = items;
  return copy;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *node) {
  tvms_list params = tvms_as_function(node)->params;
  int64_t inputs = tvms_relax_num_input_checked(run->context, node);
  bool only =
      TVMS_OPTION(run, AttachAttrLayoutFreeBuffers, constant_weights).number != 0;
  attacher a = {.run = run, .constants_only = only};
  if (inputs >= 0 && !only)
    a.weights = (tvms_list){params.items + inputs, params.len - (uint32_t)inputs};
  tvms_rewriter rewriter;
  tvms_rewriter_init(&rewriter, unit, &a);
  rewriter.leave[TVMS_NODE_CALL] = attach;
  node = tvms_rewrite(&rewriter, node);
  tvms_rewriter_fini(&rewriter);
  return node;
}

void tvms_pass_attach_attr_layout_free_buffers(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
  tvms_dead_code_eliminate(run, "");
}
