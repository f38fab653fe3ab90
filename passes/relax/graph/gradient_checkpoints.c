// What Gradient keeps of a forward function, and what it computes again. TVM: CheckpointCollector.
#include "passes/relax/graph/gradient_checkpoints.h"

#include "ir/walk.h"
#include "structinfo/definitions.h"

typedef struct {
  tvms_relax_mutator m;
  tvms_gradient_checkpoints *checkpoints;
  tvms_node_map ends;  // VAR that an end_checkpoint gives → itself
  bool all_known;
} collector;

void tvms_relax_checkpoints_init(tvms_gradient_checkpoints *checkpoints,
                                 tvms_memory *memory) {
  tvms_node_map_init(&checkpoints->kept, memory);
  tvms_node_map_init(&checkpoints->origin, memory);
}

void tvms_relax_checkpoints_fini(tvms_gradient_checkpoints *checkpoints) {
  tvms_node_map_fini(&checkpoints->kept);
  tvms_node_map_fini(&checkpoints->origin);
}

static void keep(collector *c, tvms_node *var) {
  tvms_node_map_put(&c->checkpoints->kept, var, var);
}

static tvms_walk_step find_unknown(void *self, tvms_node *node, tvms_field_role role) {
  collector *c = self;
  bool value = node->kind == TVMS_NODE_VAR && tvms_dtype_is_void(node->dtype);
  if (!value || role != TVMS_ROLE_USE) return TVMS_WALK_ON;
  bool known = tvms_node_map_get(&c->checkpoints->kept, node)
               || tvms_node_map_get(&c->ends, node);
  c->all_known &= known;
  return TVMS_WALK_ON;
}

// The mark goes, and its variable becomes what it marks; one that is seen outside of the block
// gets a binding of its own.
static tvms_node *TVMS_NULLABLE drop_mark(collector *c, const tvms_var_binding *bound) {
  tvms_node *var = tvms_as_call(bound->value)->args.items[0];
  tvms_node *origin = tvms_rewrite(&c->m.rewriter, var);
  bool starts = tvms_op_called(bound->value) == TVMS_R_grad_start_checkpoint;
  if (starts) {
    keep(c, origin);
  } else {
    tvms_node_map_put(&c->ends, bound->var, bound->var);
  }
  tvms_node_map_put(&c->checkpoints->origin, bound->var, origin);
  bool output =
      !(bound->var->flags & TVMS_FLAG_DATAFLOW) && origin->flags & TVMS_FLAG_DATAFLOW;
  if (output) return tvms_relax_rebind(&c->m, &bound->head, origin);
  tvms_node_map_put(&c->m.rewriter.known, bound->var, origin);
  return NULL;
}

static tvms_node *TVMS_NULLABLE enter_binding(tvms_rewriter *r, tvms_node *binding) {
  const tvms_relax_mutator *m = r->self;
  collector *c = m->self;
  const tvms_var_binding *bound = tvms_as_var_binding(binding);
  tvms_opcode opcode = tvms_op_called(bound->value);
  bool mark =
      opcode == TVMS_R_grad_start_checkpoint || opcode == TVMS_R_grad_end_checkpoint;
  if (mark && tvms_as_call(bound->value)->args.items[0]->kind == TVMS_NODE_VAR)
    return drop_mark(c, bound);
  tvms_visitor visitor = {.self = c, .enter = find_unknown};
  c->all_known = true;
  tvms_walk(&m->unit->context->memory, bound->value, &visitor);
  if (c->all_known) keep(c, bound->var);
  return TVMS_REWRITE_BELOW;
}

tvms_node *tvms_relax_checkpoints_collect(tvms_pass_run *run, tvms_unit *unit,
                                          tvms_node *function,
                                          tvms_gradient_checkpoints *checkpoints) {
  collector c = {.checkpoints = checkpoints};
  tvms_relax_mutator_init(&c.m, run, unit, &c);
  tvms_node_map_init(&c.ends, &run->context->memory);
  tvms_list params = tvms_as_function(function)->params;
  for (uint32_t i = 0; i < params.len; i++)
    keep(&c, params.items[i]);
  c.m.rewriter.enter[TVMS_NODE_VAR_BINDING] = enter_binding;
  tvms_node *changed = tvms_relax_mutate(&c.m, function);
  tvms_node_map_fini(&c.ends);
  tvms_relax_mutator_fini(&c.m);
  return changed;
}
