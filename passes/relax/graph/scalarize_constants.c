// ScalarizeConstants: a constant whose elements are all the same becomes a scalar where operands are broadcast.
//
// Before: gv = R.where(lv, zeros, x), zeros being a constant of 64 x 1000 zeros
// After:  gv = R.where(lv, R.const(0, "float32"), x)
//
// LegalizeOps writes a scalar as a number, where the constant would be memory that is read (and of which processors read
// slowly what a choice leaves out, as long as nothing else has touched it). It stays where the result would have another
// type without it, and where its data is left out of the text. TVM has no such pass.
#include "ir/equal.h"
#include "ir/op.h"
#include "passes/relax/mutator.h"
#include "structinfo/infer.h"
#include "structinfo/make.h"

#include <string.h>

enum { MOST_OPERANDS = 3 };

static uint32_t element_size(const tvms_constant *c) {
  return ((uint32_t)c->element.bits * (uint32_t)c->element.lanes + 7) / 8;
}

// Do all elements have the bits of the first one?
static bool is_uniform(const tvms_constant *c) {
  uint32_t size = element_size(c);
  return !c->omitted && c->shape.len > 0 && c->data.len > size
         && memcmp(c->data.text, c->data.text + size, c->data.len - size) == 0;
}

static tvms_node *first_element(tvms_relax_mutator *m, const tvms_constant *c) {
  tvms_constant *made = tvms_node_make(m->unit, CONSTANT, c->head.span);
  made->element = c->element;
  made->data = c->data;
  made->data.len = element_size(c);
  tvms_node *shape = tvms_sinfo_shape_value_new(m->unit, NULL, 0, TVMS_NO_SPAN);
  made->head.sinfo = tvms_sinfo_tensor_new(m->unit, shape, c->element, NULL);
  return &made->head;
}

static tvms_node *leave_call(tvms_rewriter *r, tvms_node *node) {
  tvms_relax_mutator *m = r->self;
  node = tvms_relax_leave_call(r, node);
  if (!tvms_infer_is_broadcast(tvms_op_called(node))) return node;
  tvms_list old = tvms_as_call(node)->args;
  tvms_node *args[MOST_OPERANDS];
  for (uint32_t i = 0; i < old.len; i++) {
    if (old.items[i]->kind != TVMS_NODE_CONSTANT
        || !is_uniform(tvms_as_constant(old.items[i])))
      continue;
    memcpy(args, tvms_as_call(node)->args.items, old.len * sizeof *args);
    args[i] = first_element(m, tvms_as_constant(old.items[i]));
    tvms_node *made = tvms_relax_recall(m, node, args);
    if (tvms_node_equal(m->unit->context, made->sinfo, node->sinfo)) node = made;
  }
  return node;
}

static tvms_node *change(tvms_pass_run *run, tvms_unit *unit, tvms_node *function) {
  return tvms_relax_change_calls(run, unit, function, leave_call);
}

void tvms_pass_scalarize_constants(tvms_pass_run *run) {
  tvms_functions_change(run, TVMS_NODE_FUNCTION, change);
}
