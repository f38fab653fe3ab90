// Which variables of a function can be computed before it is called.
#include "passes/relax/analysis/compile_time.h"

#include "ir/object.h"
#include "ir/walk.h"
#include "structinfo/definitions.h"

static tvms_walk_step find_unknown(void *self, tvms_node *node, tvms_field_role role) {
  const tvms_node_map *known = self;
  (void)role;
  if (node->kind != TVMS_NODE_VAR || tvms_node_map_get(known, node))
    return TVMS_WALK_ON;
  return TVMS_WALK_STOP;
}

// Symbolic dimensions that the types of weights define are known with them.
static tvms_walk_step note_symbol(void *self, tvms_node *node, tvms_field_role role) {
  (void)role;
  if (node->kind == TVMS_NODE_VAR) tvms_node_map_put(self, node, node);
  return TVMS_WALK_ON;
}

void tvms_relax_compile_time(tvms_node_map *known, const tvms_node *node) {
  const tvms_function *function = tvms_as_function(node);
  int64_t inputs;
  if (!tvms_object_as_int(tvms_object_map_get(function->attrs, "num_input"), &inputs))
    return;
  tvms_visitor symbols = {.self = known, .enter = note_symbol};
  for (int64_t i = inputs; i >= 0 && i < function->params.len; i++) {
    tvms_node *param = function->params.items[i];
    tvms_node_map_put(known, param, param);
    if (param->sinfo) tvms_walk(known->memory, param->sinfo, &symbols);
  }
  tvms_visitor unknown = {.self = known, .enter = find_unknown};
  tvms_list blocks = tvms_as_seq_expr(function->body)->blocks;
  for (uint32_t i = 0; i < blocks.len; i++) {
    tvms_list bindings = tvms_as_binding_block(blocks.items[i])->bindings;
    for (uint32_t k = 0; k < bindings.len; k++) {
      tvms_node *var = tvms_relax_binding_var(bindings.items[k]);
      tvms_node *value = tvms_relax_binding_value(bindings.items[k]);
      if (tvms_walk(known->memory, value, &unknown)) tvms_node_map_put(known, var, var);
    }
  }
}
