// Functions of C that a program calls and does not have.
#include "driver/externs.h"

#include "interp/meaning.h"
#include "ir/op.h"
#include "ir/walk.h"

#include <string.h>

typedef struct {
  const tvms_module *module;
  tvms_externs *externs;
} collector;

static bool is_known(const tvms_externs *externs, const char *name) {
  for (uint32_t i = 0; i < externs->len; i++) {
    if (!strcmp(externs->items[i].name, name)) return true;
  }
  return false;
}

static tvms_walk_step look(void *self, tvms_node *node, tvms_field_role role) {
  collector *c = self;
  (void)role;
  const tvms_tir_opcode op = tvms_call_opcode(node);
  if (op != TVMS_TIR_call_extern && op != TVMS_TIR_call_pure_extern)
    return TVMS_WALK_ON;
  const tvms_call *call = tvms_as_call(node);
  const char *name;
  bool own =
      tvms_meaning_of_extern(call, &name)
      || (call->args.len && tvms_meaning_of_named(c->module, call->args.items[0]));
  if (own || is_known(c->externs, name)) return TVMS_WALK_ON;
  tvms_context *context = c->module->context;
  tvms_extern found = {tvms_arena_text(&context->arena, name, strlen(name)),
                       node->span};
  tvms_vec_push(&context->memory, c->externs, found);
  return TVMS_WALK_ON;
}

void tvms_build_collect_externs(const tvms_module *module, tvms_externs *externs) {
  collector c = {module, externs};
  tvms_visitor visitor = {.self = &c, .enter = look};
  for (uint32_t i = 0; i < module->member_count; i++) {
    tvms_node *function = module->members[i].function;
    if (function && function->kind == TVMS_NODE_PRIM_FUNC)
      tvms_walk(&module->context->memory, function, &visitor);
  }
}
