// Finding the functions of the user, and what of them goes into other modules.
#include "passes/relax/own_functions.h"

#include "ir/clone.h"
#include "ir/object.h"
#include "ir/walk.h"

#include <string.h>

static void visit_module(const tvms_module *module, tvms_relax_own_visit *visit,
                         void *self) {
  for (uint32_t i = 0; i < module->member_count; i++) {
    if (module->members[i].function) visit(self, module->context, &module->members[i]);
  }
}

// Reads the file as the program was read.
static tvms_source *TVMS_NULLABLE visit_file(tvms_pass_run *run, const char *path,
                                             tvms_relax_own_visit *visit, void *self) {
  tvms_context *context = run->context;
  tvms_source *current = context->diags.source;
  const tvms_program *program = run->read ? run->read(run->data, path) : NULL;
  if (!program || !program->count) return NULL;
  tvms_source *source = program->modules[0]->source;
  context->diags.source = source;
  for (uint32_t i = 0; i < program->count && !context->diags.errors; i++)
    visit_module(program->modules[i], visit, self);
  context->diags.source = current;
  return source;
}

tvms_source *tvms_relax_own_functions_each(tvms_pass_run *run, const char *name,
                                           tvms_relax_own_visit *visit, void *self) {
  tvms_source *source = NULL;
  for (uint32_t i = 0; run->program && i < run->program->count; i++) {
    const tvms_module *module = run->program->modules[i];
    if (strcmp(tvms_symbol_text(run->context, module->name), name) != 0) continue;
    source = module->source;
    visit_module(module, visit, self);
  }
  return source ? source : visit_file(run, name, visit, self);
}

static tvms_walk_step stop_at_global(void *self, tvms_node *node,
                                     tvms_field_role role) {
  (void)self;
  (void)role;
  return node->kind == TVMS_NODE_GLOBAL_VAR ? TVMS_WALK_STOP : TVMS_WALK_ON;
}

bool tvms_relax_own_function_stands_alone(tvms_context *context,
                                          const tvms_member *member) {
  tvms_visitor visitor = {.enter = stop_at_global};
  return tvms_walk(&context->memory, member->function, &visitor);
}

static bool is_among(const char *name, const char *const *names) {
  for (; *names; names++) {
    if (strcmp(name, *names) == 0) return true;
  }
  return false;
}

tvms_node *tvms_relax_own_function_attrs(tvms_unit *unit, const tvms_node *attrs,
                                         const char *const *left_out) {
  const tvms_object_map *map = attrs ? tvms_as_object_map(attrs) : NULL;
  tvms_node *made = NULL;
  for (uint32_t i = 0; map && i < map->keys.len; i++) {
    const char *name = tvms_object_as_text(map->keys.items[i]);
    if (!name || !strcmp(name, "global_symbol") || is_among(name, left_out)) continue;
    made = tvms_object_map_with(unit, made, name,
                                tvms_clone(unit, map->values.items[i], NULL));
  }
  return made;
}
