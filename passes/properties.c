// Looking for what a module must not have.
//
// Every property is the absence of something, so one walk that stops at the first finding
// answers it; nothing is cached here, the manager remembers what it asked. Properties of
// statements are not looked for in expressions, which are most of a function.
#include "passes/properties.h"

#include "ir/op.h"
#include "ir/walk.h"

typedef tvms_walk_step (*finder)(void *self, tvms_node *node, tvms_field_role role);

static bool lacks(tvms_context *context, const tvms_node *function, finder find) {
  tvms_visitor visitor = {.enter = find};
  return tvms_walk(&context->memory, (tvms_node *)(uintptr_t)function, &visitor);
}

static bool is_stmt_or_top(const tvms_node *node) {
  tvms_node_class class = tvms_node_class_of(node);
  return class == TVMS_CLASS_STMT || class == TVMS_CLASS_TOP;
}

// holds_<name>: true if no node of the function has `unwanted`. What is below a node for
// which `inside` is false cannot have it.
#define LACKS(name, KIND, unwanted, inside)                                            \
  static tvms_walk_step find_##name(void *self, tvms_node *node,                       \
                                    tvms_field_role role) {                            \
    (void)self;                                                                        \
    (void)role;                                                                        \
    if (node->kind == TVMS_NODE_##KIND && (unwanted)) return TVMS_WALK_STOP;           \
    return inside ? TVMS_WALK_ON : TVMS_WALK_SKIP;                                     \
  }                                                                                    \
  static bool holds_##name(tvms_context *context, const tvms_member *member) {         \
    return !tvms_unit_has(member->unit, TVMS_NODE_##KIND)                              \
           || lacks(context, member->function, find_##name);                           \
  }

static bool is_of_relax(const tvms_node *node) {
  return node->kind != TVMS_NODE_PRIM_FUNC;
}

LACKS(no_dataflow, BINDING_BLOCK, node->flags &TVMS_FLAG_DATAFLOW, is_of_relax(node))
LACKS(no_init, BLOCK, tvms_as_block(node)->init != NULL, is_stmt_or_top(node))
LACKS(opaque, BLOCK, tvms_as_block(node)->iter_vars.len > 0, is_stmt_or_top(node))
LACKS(no_match, BLOCK, tvms_as_block(node)->match_buffers.len > 0, is_stmt_or_top(node))
LACKS(no_local, VAR_BINDING,
      tvms_as_var_binding(node)->value->kind == TVMS_NODE_FUNCTION, is_of_relax(node))
LACKS(placed, CALL, tvms_op_called(node) == TVMS_R_builtin_alloc_tensor,
      is_of_relax(node))

static const tvms_property properties[] = {
#define PROPERTY(NAME, holds, text, passes) {holds_##holds, text, passes},
#include "passes/properties.def"
};

const tvms_property *tvms_pass_property_of(uint32_t bit) {
  uint32_t i = 0;
  while (bit != 1u << i)
    i++;
  return &properties[i];
}

const tvms_node *tvms_pass_find_without(const tvms_module *module,
                                        const tvms_property *property) {
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_node *function = module->members[i].function;
    if (function && !property->holds(module->context, &module->members[i]))
      return function;
  }
  return NULL;
}
