// Making and searching modules.
#include "ir/module.h"

tvms_module *tvms_module_create(tvms_context *context, tvms_dialect dialect,
                                tvms_sym name) {
  tvms_module *module = tvms_take(&context->memory, sizeof *module);
  module->context = context;
  module->dialect = dialect;
  module->name = name;
  module->source = context->diags.source;
  tvms_unit_init(&module->unit, context, dialect);
  return module;
}

void tvms_module_destroy(tvms_module *module) {
  tvms_memory *memory = &module->context->memory;
  for (uint32_t i = 0; i < module->member_count; i++) {
    tvms_unit_fini(module->members[i].unit);
    tvms_give(memory, module->members[i].unit);
  }
  tvms_unit_fini(&module->unit);
  tvms_give(memory, module->members);
  tvms_give(memory, module);
}

tvms_member *tvms_module_add(tvms_module *module, tvms_sym name, tvms_span name_span) {
  tvms_memory *memory = &module->context->memory;
  if (module->member_count == module->member_cap) {
    uint32_t cap = module->member_cap ? module->member_cap * 2 : 8;
    module->members =
        tvms_retake(memory, module->members, cap * sizeof *module->members);
    module->member_cap = cap;
  }
  tvms_unit *unit = tvms_take(memory, sizeof *unit);
  tvms_unit_init(unit, module->context, module->dialect);
  tvms_member *member = &module->members[module->member_count++];
  *member = (tvms_member){.name = name, .name_span = name_span, .unit = unit};
  return member;
}

tvms_member *tvms_module_find(const tvms_module *module, tvms_sym name) {
  for (uint32_t i = module->member_count; i > 0; i--) {
    if (module->members[i - 1].name == name) return &module->members[i - 1];
  }
  return NULL;
}

void tvms_program_add(tvms_program *program, tvms_module *module) {
  tvms_memory *memory = &program->context->memory;
  if (program->count == program->cap) {
    uint32_t cap = program->cap ? program->cap * 2 : 4;
    program->modules =
        tvms_retake(memory, program->modules, cap * sizeof *program->modules);
    program->cap = cap;
  }
  program->modules[program->count++] = module;
}
