// Copying module by module: functions refer to each other by name only.
#include "driver/copy.h"

#include "ir/clone.h"
#include "parser/read.h"

tvms_module *tvms_copy_module(const tvms_module *module) {
  tvms_module *copy =
      tvms_module_create(module->context, module->dialect, module->name);
  copy->name_span = module->name_span;
  copy->bare = module->bare;
  copy->rewriter = module->rewriter;
  copy->s_tir = module->s_tir;
  copy->unchecked = module->unchecked;
  copy->source = module->source;
  if (module->attrs) copy->attrs = tvms_clone_fresh(&copy->unit, module->attrs);
  // Types name devices and meshes of their module: those of the copy from now on.
  tvms_node_map infos;
  tvms_node_map_init(&infos, &module->context->memory);
  if (module->global_infos)
    copy->global_infos = tvms_clone(&copy->unit, module->global_infos, &infos);
  for (uint32_t i = 0; i < module->member_count; i++) {
    const tvms_member *member = &module->members[i];
    tvms_member *own = tvms_module_add(copy, member->name, member->name_span);
    if (member->function)
      own->function = tvms_clone(own->unit, member->function, &infos);
  }
  tvms_node_map_fini(&infos);
  return copy;
}

tvms_program *tvms_copy_program(const tvms_program *program) {
  tvms_program *copy = tvms_memory_alloc(&program->context->memory, sizeof *copy);
  copy->context = program->context;
  copy->dialect = program->dialect;
  copy->source = program->source;
  copy->wrong = program->wrong;
  for (uint32_t i = 0; i < program->count; i++) {
    tvms_program_add(copy, tvms_copy_module(program->modules[i]));
  }
  return copy;
}

void tvms_copy_destroy(tvms_program *copy, tvms_module *TVMS_NULLABLE module) {
  bool joined = module;
  for (uint32_t i = 0; i < copy->count; i++) {
    joined = joined && copy->modules[i] != module;
  }
  for (uint32_t i = 0; joined && i < copy->count; i++) {
    copy->modules[i]->member_count = 0;
  }
  if (joined) tvms_module_destroy(module);
  tvms_reader_program_destroy(copy);
}
