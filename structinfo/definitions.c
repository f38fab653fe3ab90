// One walk with a table by id: bindings are noted before what they bind is looked at, so that
// a local function that calls itself is found, too.
#include "structinfo/definitions.h"

#include "ir/walk.h"

#include <string.h>

typedef struct {
  tvms_relax_definitions *definitions;
  TVMS_VEC(tvms_node *) blocks;  // open ones, innermost last
} search;

tvms_node *tvms_relax_binding_var(const tvms_node *binding) {
  return binding->kind == TVMS_NODE_VAR_BINDING ? tvms_as_var_binding(binding)->var
                                                : tvms_as_match_cast(binding)->var;
}

tvms_node *tvms_relax_binding_value(const tvms_node *binding) {
  return binding->kind == TVMS_NODE_VAR_BINDING ? tvms_as_var_binding(binding)->value
                                                : tvms_as_match_cast(binding)->value;
}

static void note_definition(search *s, tvms_node *binding) {
  tvms_relax_definition *found =
      &s->definitions->items[tvms_relax_binding_var(binding)->id];
  found->binding = binding;
  found->block = s->blocks.len ? s->blocks.items[s->blocks.len - 1] : NULL;
}

static void note_use(search *s, const tvms_node *var) {
  if (var->id >= s->definitions->len) return;
  tvms_relax_definition *found = &s->definitions->items[var->id];
  const tvms_node *block = s->blocks.len ? s->blocks.items[s->blocks.len - 1] : NULL;
  found->uses++;
  if (found->block != block) found->elsewhere = true;
}

static tvms_walk_step enter(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  switch (node->kind) {
  case TVMS_NODE_BINDING_BLOCK:
    tvms_vec_push(s->definitions->memory, &s->blocks, node);
    break;
  case TVMS_NODE_VAR_BINDING:
  case TVMS_NODE_MATCH_CAST: note_definition(s, node); break;
  case TVMS_NODE_VAR:
    if (role == TVMS_ROLE_USE) note_use(s, node);
    break;
  default: break;
  }
  return TVMS_WALK_ON;
}

static void leave(void *self, tvms_node *node, tvms_field_role role) {
  search *s = self;
  (void)role;
  if (node->kind == TVMS_NODE_BINDING_BLOCK) s->blocks.len--;
}

void tvms_relax_definitions_init(tvms_relax_definitions *definitions,
                                 const tvms_unit *unit, tvms_node *node) {
  tvms_memory *memory = &unit->context->memory;
  size_t size = unit->next_id * sizeof *definitions->items;
  *definitions = (tvms_relax_definitions){
      .memory = memory, .items = tvms_memory_alloc(memory, size), .len = unit->next_id};
  memset(definitions->items, 0, size);
  search s = {.definitions = definitions};
  tvms_visitor visitor = {.self = &s, .enter = enter, .leave = leave};
  tvms_walk(memory, node, &visitor);
  tvms_vec_fini(memory, &s.blocks);
}

void tvms_relax_definitions_fini(tvms_relax_definitions *definitions) {
  tvms_memory_free(definitions->memory, definitions->items);
  definitions->items = NULL;
  definitions->len = 0;
}

tvms_relax_definition
tvms_relax_definitions_of(const tvms_relax_definitions *definitions,
                          const tvms_node *var) {
  return var->id < definitions->len ? definitions->items[var->id]
                                    : (tvms_relax_definition){0};
}

tvms_node *tvms_relax_definitions_value(const tvms_relax_definitions *definitions,
                                        const tvms_node *node) {
  if (node->kind != TVMS_NODE_VAR) return NULL;
  const tvms_node *binding = tvms_relax_definitions_of(definitions, node).binding;
  bool bound = binding && binding->kind == TVMS_NODE_VAR_BINDING;
  return bound ? tvms_as_var_binding(binding)->value : NULL;
}

tvms_node *tvms_relax_definitions_unwrap(const tvms_relax_definitions *definitions,
                                         tvms_node *node) {
  tvms_node *value;
  while ((value = tvms_relax_definitions_value(definitions, node)))
    node = value;
  return node;
}

const tvms_call *tvms_relax_definitions_call(const tvms_relax_definitions *definitions,
                                             const tvms_node *node,
                                             tvms_opcode opcode) {
  const tvms_node *value =
      tvms_relax_definitions_unwrap(definitions, (tvms_node *)(uintptr_t)node);
  return tvms_op_called(value) == opcode ? tvms_as_call(value) : NULL;
}
